//! The end of slow start (client-centered-2004 section III-B.5).

use super::burst::{Arriving, Order};
use super::sequence::is_after;
use netlull_units::Instant;

/// Rounds of packets, separated by the timestamps that they echo.
///
/// A round ends with the first packet that echoes an acknowledgement sent after the round began. The sender has
/// received feedback from the round by then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    growth: f64,
    /// The current round; `None` before the first data.
    round: Option<Arriving>,
    /// The packets of the previous round.
    before: Option<u32>,
    mark: Mark,
}

#[derive(Clone, Copy, Debug)]
enum Mark {
    /// No data yet.
    NoRound,
    /// Since the round began, the host has sent no TSval later than this one.
    Awaited { behind: Option<u32> },
    /// The first TSval of the round. With a coarse clock, the TSval before it may belong to the previous round
    /// too.
    Sent(u32),
}

/// The effect of a packet on slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlowStart {
    /// The packet belongs to a round, or ends the first one, which has no predecessor.
    GoesOn,
    /// The packet ends a round that has grown.
    Grown(Arriving),
    /// The packet ends a round that has not grown enough: slow start is over.
    Over(Arriving),
}

impl Rounds {
    pub(super) fn new(growth: f64) -> Self {
        Self { growth, round: None, before: None, mark: Mark::NoRound }
    }

    /// Records an acknowledgement of the host with this TSval.
    pub(super) fn sent(&mut self, value: u32) {
        if let Mark::Awaited { behind } = self.mark
            && behind.is_none_or(|behind| is_after(value, behind))
        {
            self.mark = Mark::Sent(value);
        }
    }

    /// Handles a data packet of `bytes` with this echo; `newest` is the latest TSval sent.
    pub(super) fn received(&mut self, now: Instant, bytes: u32, echo: u32, newest: Option<u32>) -> SlowStart {
        let ends = match self.mark {
            Mark::NoRound => true,
            Mark::Awaited { .. } => false,
            Mark::Sent(mark) => !is_after(mark, echo),
        };
        if let Some(round) = self.round.as_mut().filter(|_| !ends) {
            round.add(now, bytes, Order::Kept);
            return SlowStart::GoesOn;
        }
        self.mark = Mark::Awaited { behind: newest };
        let Some(round) = self.round.replace(Arriving::begin(now, now, bytes, Order::Kept)) else {
            return SlowStart::GoesOn;
        };
        match self.before.replace(round.packets) {
            None => SlowStart::GoesOn,
            Some(before) if f64::from(round.packets) >= self.growth * f64::from(before) => SlowStart::Grown(round),
            Some(_) => SlowStart::Over(round),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_units::Duration;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Runs rounds of these sizes with an acknowledgement per two packets. Returns the round that ends slow
    /// start.
    fn over_after(growth: f64, sizes: &[u32]) -> Option<usize> {
        let mut rounds = Rounds::new(growth);
        let (mut clock, mut echo) = (u32::MAX - 3, u32::MAX - 3);
        for (index, &size) in sizes.iter().enumerate() {
            let first_of_round = clock;
            for packet in 0..size {
                if let SlowStart::Over(round) = rounds.received(at(0), 1500, echo, Some(clock)) {
                    assert_eq!((round.packets, round.bytes), (sizes[index - 1], 1500 * u64::from(sizes[index - 1])));
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
        // A clock with a tick of 10 ms: an acknowledgement of the round has the value of an earlier one, which
        // data echoes already.
        let mut rounds = Rounds::new(1.5);
        let received = |rounds: &mut Rounds, millis, echo, newest| rounds.received(at(millis), 1500, echo, newest);
        received(&mut rounds, 1, 1, Some(2));
        rounds.sent(2);
        received(&mut rounds, 2, 2, Some(2));
        rounds.sent(3);
        received(&mut rounds, 3, 2, Some(3));
        // That makes 3 packets. The next round has as many, fewer than 4.5.
        assert_eq!(received(&mut rounds, 11, 3, Some(3)), SlowStart::GoesOn);
        rounds.sent(4);
        received(&mut rounds, 12, 3, Some(4));
        received(&mut rounds, 13, 3, Some(4));
        let over = received(&mut rounds, 21, 4, Some(4));
        let SlowStart::Over(Arriving { first, last, packets, bytes, .. }) = over else { panic!("{over:?}") };
        assert_eq!((first, last, packets, bytes), (at(11), at(13), 3, 4500));
    }

    #[test]
    fn a_round_that_has_grown_is_told_when_it_is_over() {
        let mut rounds = Rounds::new(1.5);
        let mut told = Vec::new();
        for (round, packets) in (0_u32..).zip([2, 4, 6, 6, 1]) {
            for packet in 0..packets {
                let now = at(100 * u64::from(round) + packet);
                match rounds.received(now, 1000, round, Some(round)) {
                    SlowStart::GoesOn => {}
                    SlowStart::Grown(of) => told.push((true, of.packets, of.last)),
                    SlowStart::Over(of) => told.push((false, of.packets, of.last)),
                }
            }
            rounds.sent(round + 1);
        }
        assert_eq!(told, [(true, 4, at(103)), (true, 6, at(205)), (false, 6, at(305))], "of the first nothing is told");
    }

    #[test]
    fn slow_start_is_over_when_a_round_has_not_grown_enough() {
        // 3/2, 5/3, 8/5 and 12/8 are at least 1.5, 13/12 is not. A factor of 2 would have stopped at the first.
        assert_eq!(over_after(1.5, &[2, 3, 5, 8, 12, 13, 14]), Some(5));
        assert_eq!(over_after(2.0, &[2, 3, 5, 8]), Some(1));
        assert_eq!(over_after(2.0, &[2, 4, 8, 16]), None);
    }
}
