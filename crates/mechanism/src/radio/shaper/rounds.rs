//! Whether slow start is over (client-centered-2004 section III-B.5).

use super::sequence::is_after;

/// Rounds of packets, told apart by the timestamps that they echo.
///
/// A round ends with the first packet that echoes an acknowledgement sent after the round began: the sender has heard of the round then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    growth: f64,
    /// Packets of this round.
    packets: u32,
    /// Packets of the round before.
    before: Option<u32>,
    mark: Mark,
}

#[derive(Clone, Copy, Debug)]
enum Mark {
    /// No data yet.
    NoRound,
    /// Since the round began nothing later than this TSval was sent.
    Awaited { behind: Option<u32> },
    /// The first TSval of the round: a clock that is coarse may have shown the one before in the last round too.
    Sent(u32),
}

/// What a packet says of slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlowStart {
    GoesOn,
    /// It is over: so many packets came in the last round.
    Over {
        packets: u32,
    },
}

impl Rounds {
    pub(super) fn new(growth: f64) -> Self {
        Self { growth, packets: 0, before: None, mark: Mark::NoRound }
    }

    /// The host acknowledges, with this TSval.
    pub(super) fn sent(&mut self, value: u32) {
        if let Mark::Awaited { behind } = self.mark
            && behind.is_none_or(|behind| is_after(value, behind))
        {
            self.mark = Mark::Sent(value);
        }
    }

    /// A packet of data has come that echoes this; `newest` is the latest TSval sent.
    pub(super) fn received(&mut self, echo: u32, newest: Option<u32>) -> SlowStart {
        match self.mark {
            Mark::NoRound => self.mark = Mark::Awaited { behind: newest },
            Mark::Sent(mark) if !is_after(mark, echo) => {
                let packets = self.packets;
                let grown = self.before.is_none_or(|before| f64::from(packets) >= self.growth * f64::from(before));
                (self.before, self.packets, self.mark) = (Some(packets), 1, Mark::Awaited { behind: newest });
                return if grown { SlowStart::GoesOn } else { SlowStart::Over { packets } };
            }
            Mark::Awaited { .. } | Mark::Sent(_) => {}
        }
        self.packets = self.packets.saturating_add(1);
        SlowStart::GoesOn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of these sizes, an acknowledgement for every second packet; the round at whose end slow start is over.
    fn over_after(growth: f64, sizes: &[u32]) -> Option<usize> {
        let mut rounds = Rounds::new(growth);
        let (mut clock, mut echo) = (u32::MAX - 3, u32::MAX - 3);
        for (index, &size) in sizes.iter().enumerate() {
            let first_of_round = clock;
            for packet in 0..size {
                if rounds.received(echo, Some(clock)) != SlowStart::GoesOn {
                    return Some(index - 1);
                }
                if packet % 2 == 1 || packet + 1 == size {
                    clock = clock.wrapping_add(1);
                    rounds.sent(clock);
                }
            }
            echo = first_of_round.wrapping_add(1);
        }
        None
    }

    #[test]
    fn a_value_sent_before_the_round_does_not_end_it() {
        // A clock of 10 ms: an acknowledgement of the round has the value of one before it, which data echoes already.
        let mut rounds = Rounds::new(1.5);
        rounds.received(1, Some(2));
        rounds.sent(2);
        rounds.received(2, Some(2));
        rounds.sent(3);
        rounds.received(2, Some(3));
        // That were 3 packets; the next round has as many, less than 4.5.
        assert_eq!(rounds.received(3, Some(3)), SlowStart::GoesOn);
        rounds.sent(4);
        rounds.received(3, Some(4));
        rounds.received(3, Some(4));
        assert_eq!(rounds.received(4, Some(4)), SlowStart::Over { packets: 3 });
    }

    #[test]
    fn slow_start_is_over_when_a_round_has_not_grown_enough() {
        // 3/2, 5/3, 8/5 and 12/8 are 1.5 or more, 13/12 is not; 2 would have stopped at the first.
        assert_eq!(over_after(1.5, &[2, 3, 5, 8, 12, 13, 14]), Some(5));
        assert_eq!(over_after(2.0, &[2, 3, 5, 8]), Some(1));
        assert_eq!(over_after(2.0, &[2, 4, 8, 16]), None);
    }
}
