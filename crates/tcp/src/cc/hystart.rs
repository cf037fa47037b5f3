//! HyStart++ (RFC 9406): the end of slow start before a loss.

use super::Ack;
use netlull_units::Duration;

/// RFC 9406 section 4.3, `MIN_RTT_THRESH` and `MAX_RTT_THRESH`: bounds on the growth of the round trip that ends slow
/// start.
pub(super) const LEAST_THRESHOLD: Duration = Duration::from_millis(4);
pub(super) const LARGEST_THRESHOLD: Duration = Duration::from_millis(16);
/// `MIN_RTT_DIVISOR`: between the bounds, the round trip must grow by this share of itself.
const RTT_DIVISOR: u64 = 8;
/// `N_RTT_SAMPLE`: the number of samples needed to judge a round.
const SAMPLES: u32 = 8;
/// `CSS_GROWTH_DIVISOR`: conservative slow start has this share of the growth of slow start.
const CONSERVATIVE_DIVISOR: u64 = 4;
/// `CSS_ROUNDS`: the number of rounds of conservative slow start, including the partial first one.
const CONSERVATIVE_ROUNDS: u32 = 5;
/// L without pacing: the most segments per acknowledgement. (With pacing L would be infinite.)
const LIMIT: u64 = 8;

/// ```text
///              round trips grow                 5 rounds
///   SlowStart -----------------> Conservative ----------> congestion avoidance
///       ^                             |
///       +-----------------------------+
///          they shrink below what they had grown to
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    Conservative {
        /// `cssBaselineMinRtt`.
        baseline: Duration,
        /// Number of rounds begun.
        rounds: u32,
    },
}

/// The verdict on slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Continue,
    /// Congestion avoidance begins: ssthresh = cwnd.
    Exit,
}

/// Watches the round trips of the first slow start (RFC 9406 section 4.2).
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    /// `windowEnd`: the round ends at the acknowledgement of this stream offset.
    window_end: u64,
    /// `lastRoundMinRTT`; [`Duration::MAX`] is infinity, here and below.
    last_round: Duration,
    /// `currentRoundMinRTT`.
    current_round: Duration,
    samples: u32,
    phase: Phase,
}

impl HyStart {
    pub fn new() -> Self {
        Self {
            window_end: 0,
            last_round: Duration::MAX,
            current_round: Duration::MAX,
            samples: 0,
            phase: Phase::SlowStart,
        }
    }

    /// The growth of the window, in bytes, for an acknowledgement of `acked` bytes.
    #[inline]
    pub fn growth(&self, acked: u64, smss: u64) -> u64 {
        let most = acked.min(LIMIT * smss);
        match self.phase {
            Phase::SlowStart => most,
            Phase::Conservative { .. } => most / CONSERVATIVE_DIVISOR,
        }
    }

    /// Handles an acknowledgement of new data in slow start.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) -> Verdict {
        if self.window_end == 0 {
            // The first round is the initial window.
            self.window_end = ack.nxt;
        }
        if let Some(rtt) = ack.rtt {
            self.current_round = self.current_round.min(rtt);
            self.samples = self.samples.saturating_add(1);
            if self.samples >= SAMPLES {
                self.judge();
            }
        }
        if ack.una >= self.window_end { self.end_round(ack.nxt) } else { Verdict::Continue }
    }

    /// Judges a round with enough samples: enters conservative slow start, or returns from it.
    fn judge(&mut self) {
        match self.phase {
            Phase::SlowStart if self.last_round != Duration::MAX => {
                // RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH)).
                let part = Duration::from_nanos(self.last_round.as_nanos() / RTT_DIVISOR);
                let threshold = LEAST_THRESHOLD.max(part.min(LARGEST_THRESHOLD));
                let bound = Duration::from_nanos(self.last_round.as_nanos().saturating_add(threshold.as_nanos()));
                if self.current_round >= bound {
                    self.phase = Phase::Conservative { baseline: self.current_round, rounds: 1 };
                }
            }
            // The exit was spurious.
            Phase::Conservative { baseline, .. } if self.current_round < baseline => self.phase = Phase::SlowStart,
            _ => {}
        }
    }

    fn end_round(&mut self, nxt: u64) -> Verdict {
        self.window_end = nxt;
        self.last_round = self.current_round;
        self.current_round = Duration::MAX;
        self.samples = 0;
        match &mut self.phase {
            Phase::Conservative { rounds, .. } if *rounds == CONSERVATIVE_ROUNDS => return Verdict::Exit,
            Phase::Conservative { rounds, .. } => *rounds += 1,
            Phase::SlowStart => {}
        }
        Verdict::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::RecoveryPhase;
    use netlull_units::Instant;

    const SMSS: u64 = 1000;

    /// Sends rounds of `per_round` acknowledgements of one segment each.
    struct Rounds {
        hystart: HyStart,
        una: u64,
        per_round: u64,
    }

    impl Rounds {
        fn new(per_round: u64) -> Self {
            Self { hystart: HyStart::new(), una: 0, per_round }
        }

        /// Sends an acknowledgement with a round trip of `micros`, with `per_round` segments always in flight.
        fn ack(&mut self, micros: u64) -> Verdict {
            let nxt = self.una + self.per_round * SMSS;
            self.una += SMSS;
            self.hystart.on_ack(&Ack {
                now: Instant::ZERO,
                acked: SMSS,
                delivered: SMSS,
                una: self.una,
                nxt,
                flight_before: self.per_round * SMSS,
                flight: nxt - self.una,
                rtt: Some(Duration::from_micros(micros)),
                srtt: None,
                ece: false,
                phase: RecoveryPhase::Open,
            })
        }

        fn acks(&mut self, micros: u64, count: u64) -> Vec<Verdict> {
            (0..count).map(|_| self.ack(micros)).collect()
        }

        fn conservative(&self) -> bool {
            matches!(self.hystart.phase, Phase::Conservative { .. })
        }
    }

    #[test]
    fn the_eighth_sample_of_a_round_that_is_an_eighth_longer_slows_the_start() {
        // 80 ms, an eighth of which is 10 ms: 90 ms ends slow start, a microsecond less does not.
        for (micros, slowed) in [(89_999, false), (90_000, true)] {
            let mut t = Rounds::new(10);
            // With 10 in flight, the acknowledgement of segment n finds SND.NXT at n + 9: rounds of 10, 9, 9, ...
            t.acks(80_000, 10);
            t.acks(micros, 7);
            assert!(!t.conservative());
            t.ack(micros);
            assert_eq!(t.conservative(), slowed, "{micros}");
        }
    }

    #[test]
    fn the_threshold_is_at_least_4_ms_and_at_most_16() {
        // 1/8 of 10 ms is 1.25 ms: 14 ms. 1/8 of 400 ms is 50 ms: 416 ms.
        for (base, below, at) in [(10_000, 13_999, 14_000), (400_000, 415_999, 416_000)] {
            for (micros, slowed) in [(below, false), (at, true)] {
                let mut t = Rounds::new(10);
                t.acks(base, 10);
                t.acks(micros, 8);
                assert_eq!(t.conservative(), slowed, "{micros}");
            }
        }
    }

    #[test]
    fn the_smallest_round_trip_of_a_round_counts() {
        let mut t = Rounds::new(10);
        t.acks(80_000, 10);
        t.acks(95_000, 4);
        t.ack(85_000);
        t.acks(95_000, 3);
        assert!(!t.conservative());
    }

    #[test]
    fn conservative_slow_start_grows_by_a_quarter_and_ends_after_five_rounds() {
        let mut t = Rounds::new(10);
        t.acks(80_000, 10);
        t.acks(90_000, 8);
        // L = 8 segments at most; a quarter of them now.
        assert_eq!((t.hystart.growth(1000, SMSS), t.hystart.growth(20_000, SMSS)), (250, 2000));
        // The round of the change has one acknowledgement left (9 in all); four more of 9 follow: 37 to the exit.
        let verdicts = t.acks(90_000, 37);
        assert_eq!(verdicts.iter().position(|&verdict| verdict == Verdict::Exit), Some(36));
    }

    #[test]
    fn slow_start_resumes_when_the_round_trip_falls_below_where_it_rose_to() {
        let mut t = Rounds::new(10);
        t.acks(80_000, 10);
        t.acks(90_000, 9);
        // Eight samples at the baseline have no effect, eight below it have.
        t.acks(90_000, 9);
        assert!(t.conservative());
        t.acks(89_999, 7);
        assert!(t.conservative());
        t.ack(89_999);
        assert!(!t.conservative());
        assert_eq!(t.hystart.growth(20_000, SMSS), 8_000);
    }

    #[test]
    fn rounds_of_less_than_eight_samples_are_not_judged() {
        // 8 in flight: rounds of 8, then of 7.
        let mut t = Rounds::new(8);
        t.acks(10_000, 8);
        t.acks(100_000, 70);
        assert!(!t.conservative());
    }
}
