//! The mean change of a queue over the last round trip, from a bounded record of its lengths.

use netlull_units::{Duration, Instant};
use std::collections::VecDeque;

/// The number of records per round trip. Events closer together share a record.
const RECORDS: u64 = 64;
/// The capacity of the record: more than [`RECORDS`], so that a round trip may grow by half at once.
const CAPACITY: usize = 96;

/// The lengths of a queue during the last round trip, in bytes.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    /// Times, and the lengths from then on; the oldest first.
    records: VecDeque<(Instant, f64)>,
    /// The time of the previous event, t_{k-1}.
    last: Option<Instant>,
    /// The mean decrease of the queue over the round trip before t_{k-1}, in bytes per second.
    slope: f64,
}

impl Default for Recent {
    fn default() -> Self {
        Self { records: VecDeque::with_capacity(CAPACITY), last: None, slope: 0.0 }
    }
}

impl Recent {
    /// The change of the queue from event k - 1 to event k, averaged over the round trip before event k - 1, in
    /// bytes: dq_k = (q(t_{k-1} - RTT) - q_{k-1}) (t_k - t_{k-1}) / RTT. An interval longer than a round trip counts
    /// as one.
    pub(super) fn change(&mut self, now: Instant, queue: f64, round_trip: Duration) -> f64 {
        let passed = self.last.map_or(Duration::ZERO, |last| now - last).min(round_trip);
        let change = self.slope * passed.as_secs_f64();
        self.last = Some(now);
        self.record(now, queue, round_trip);
        change
    }

    fn record(&mut self, now: Instant, queue: f64, round_trip: Duration) {
        while self.records.get(1).is_some_and(|&(at, _)| now - at >= round_trip) {
            self.records.pop_front();
        }
        if self.records.back().is_none_or(|&(at, _)| now - at >= round_trip / RECORDS) {
            if self.records.len() == CAPACITY {
                self.records.pop_front();
            }
            self.records.push_back((now, queue));
        }
        // A length holds until the next record, so an old one is the length of a round trip ago.
        let (since, before) = self.records.front().copied().unwrap_or((now, queue));
        let span = (now - since).min(round_trip).as_secs_f64();
        self.slope = if span > 0.0 { (before - queue) / span } else { 0.0 };
    }
}
