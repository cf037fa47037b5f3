//! HyStart (Ha, Rhee 2011) of Linux 6 `tcp_cubic.c`. Slow start ends when a train of acknowledgements is as long as
//! half of the shortest round trip, or when round trips grow.

use netlull_units::{Duration, Instant};

/// `hystart_low_window`: below this number of segments slow start continues.
const LOW_WINDOW: u64 = 16;
/// `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`: the growth of round trips that ends slow start.
const LEAST_THRESHOLD: Duration = Duration::from_millis(4);
const LARGEST_THRESHOLD: Duration = Duration::from_millis(16);
/// `hystart_ack_delta_us`: the longest gap between the acknowledgements of a train.
const SPACING: Duration = Duration::from_millis(2);
/// `hystart_ack_delay`, at most 1 ms; less if segmentation offload sends 256 KiB in less time, beyond 2 Gb/s.
const ACK_DELAY: Duration = Duration::from_millis(1);
/// `HYSTART_MIN_SAMPLES`: the number of round trips needed for a verdict.
const SAMPLES: u32 = 8;

/// The verdict of a round trip's acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Continue,
    /// The path is full: slow start is over.
    Leave,
}

/// The connection at an acknowledgement: `una` and `nxt` are stream offsets, `cwnd` is in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub now: Instant,
    pub una: u64,
    pub nxt: u64,
    pub cwnd: u64,
}

/// A round trip of slow start.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    round_start: Instant,
    last_ack: Instant,
    /// `end_seq`: SND.NXT at the start of the round trip.
    end: u64,
    /// `curr_rtt`: the shortest of this round trip.
    shortest: Option<Duration>,
    samples: u32,
    found: bool,
}

impl HyStart {
    pub fn new() -> Self {
        Self { round_start: Instant::ZERO, last_ack: Instant::ZERO, end: 0, shortest: None, samples: 0, found: false }
    }

    /// `bictcp_hystart_reset`: erases the verdict as well.
    pub fn restart(&mut self, now: Instant, nxt: u64) {
        self.begin_round(now, nxt);
        self.found = false;
    }

    fn begin_round(&mut self, now: Instant, nxt: u64) {
        (self.round_start, self.last_ack, self.end) = (now, now, nxt);
        (self.shortest, self.samples) = (None, 0);
    }

    /// `hystart_update`: handles an acknowledgement of a segment that took `rtt`; `least` is the shortest round trip
    /// so far. Round trips also begin below the lowest window (since 6.14).
    pub fn update(&mut self, at: &Round, rtt: Duration, least: Duration) -> Verdict {
        if self.found {
            return Verdict::Continue;
        }
        let now = at.now;
        if at.una > self.end {
            self.begin_round(now, at.nxt);
        }
        if at.cwnd < LOW_WINDOW {
            return Verdict::Continue;
        }
        if now.saturating_since(self.last_ack) <= SPACING {
            self.last_ack = now;
            // Without pacing the limit is half of it.
            let threshold = Duration::from_nanos((least + ACK_DELAY).as_nanos() / 2);
            self.found = now.saturating_since(self.round_start) > threshold;
        }
        let shortest = self.shortest.map_or(rtt, |shortest| shortest.min(rtt));
        self.shortest = Some(shortest);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let growth = Duration::from_nanos(least.as_nanos() / 8).clamp(LEAST_THRESHOLD, LARGEST_THRESHOLD);
            self.found |= shortest > least + growth;
        }
        if self.found { Verdict::Leave } else { Verdict::Continue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    const fn at(millis: u64, una: u64) -> Round {
        Round { now: Instant::from_nanos(millis * 1_000_000), una, nxt: 100_000, cwnd: 16 }
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        // Round trips of 40 ms: (40 + 1) / 2 = 20.5 ms from the first acknowledgement of the round trip.
        let mut hystart = HyStart::new();
        let verdicts: Vec<_> = (0..=21).map(|now| hystart.update(&at(now, now + 1), ms(40), ms(40))).collect();
        assert_eq!(verdicts.iter().position(|&verdict| verdict == Verdict::Leave), Some(21));
    }

    #[test]
    fn a_gap_breaks_the_train_for_the_round_trip() {
        let mut hystart = HyStart::new();
        hystart.update(&at(0, 1), ms(40), ms(40));
        // 3 ms after the previous one: the train of this round trip is over.
        for now in 3..30 {
            assert_eq!(hystart.update(&at(now, now), ms(40), ms(40)), Verdict::Continue);
        }
    }

    #[test]
    fn round_trips_that_grow_by_an_eighth_end_slow_start_after_eight() {
        // 60 / 8 = 7.5 ms; the gaps are too long for a train.
        for (rtt, last) in [(ms(68), Verdict::Leave), (ms(67), Verdict::Continue)] {
            let mut hystart = HyStart::new();
            for sample in 0..9 {
                let verdict = hystart.update(&at(100 + 3 * sample, 1), rtt, ms(60));
                assert_eq!(verdict, if sample < 8 { Verdict::Continue } else { last });
            }
        }
    }

    #[test]
    fn below_sixteen_segments_rounds_begin_and_nothing_is_judged() {
        let mut hystart = HyStart::new();
        for sample in 0..20 {
            let small = Round { cwnd: 15, ..at(100 + sample, 1) };
            assert_eq!(hystart.update(&small, ms(90), ms(60)), Verdict::Continue);
        }
        assert_eq!((hystart.end, hystart.round_start, hystart.samples), (100_000, at(100, 1).now, 0));
    }

    #[test]
    fn what_was_found_is_found_once() {
        let mut hystart = HyStart::new();
        for sample in 0..9 {
            hystart.update(&at(100 + 3 * sample, 1), ms(90), ms(60));
        }
        assert_eq!(hystart.update(&at(200, 1), ms(90), ms(60)), Verdict::Continue);
        hystart.restart(at(300, 1).now, 100_000);
        let again = (0..9).map(|sample| hystart.update(&at(310 + 3 * sample, 100_000), ms(90), ms(60)));
        assert_eq!(again.last(), Some(Verdict::Leave));
    }
}
