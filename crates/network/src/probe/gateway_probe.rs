//! The true values of N and RTT for the table `gateway`: the connections across a link, and the round-trip times
//! at their senders.

use super::tables::GatewayTruth;
use netlull_mechanism::gateway::FlowKey;
use netlull_units::Instant;
use std::collections::VecDeque;

/// The round trips of the connections at one slot.
#[derive(Clone, Debug, Default)]
pub struct Timed {
    key: FlowKey,
    /// The highest offset of data sent so far.
    highest: u64,
    /// Segments in flight: the offset after each, and its time of sending.
    under_way: VecDeque<(u64, Instant)>,
    /// The sum of the round trips in the current bin, in nanoseconds, and their number.
    sum: u128,
    count: u32,
}

impl Timed {
    /// Records a data segment of this connection; `next` is the offset after all data sent so far.
    pub fn sent(&mut self, now: Instant, key: FlowKey, next: u64) {
        if self.key != key {
            (self.key, self.highest) = (key, 0);
            self.under_way.clear();
        }
        if next > self.highest {
            self.highest = next;
            self.under_way.push_back((next, now));
        } else {
            // A retransmission: later acknowledgements include the delay of loss detection.
            self.under_way.clear();
        }
    }

    /// Records the acknowledgement of everything below an offset.
    pub fn acknowledged(&mut self, now: Instant, offset: u64) {
        while let Some(&(end, sent)) = self.under_way.front()
            && end <= offset
        {
            self.under_way.pop_front();
            self.sum += u128::from((now - sent).as_nanos());
            self.count += 1;
        }
    }

    /// Starts a new bin.
    pub fn restart(&mut self) {
        (self.sum, self.count) = (0, 0);
    }
}

/// The connections that have offered data in the current bin.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    bin: u64,
    count: u32,
    /// The last bin of each slot, and its connection.
    last: Vec<(u64, FlowKey)>,
}

impl Seen {
    /// Records data of a connection at a slot. Connections at one slot are consecutive, so the last one is
    /// enough.
    pub fn saw(&mut self, place: usize, key: FlowKey) {
        if place >= self.last.len() {
            self.last.resize(place + 1, (0, 0));
        }
        let now = (self.bin + 1, key);
        self.count += u32::from(self.last[place] != now);
        self.last[place] = now;
    }

    /// Returns the number of connections and starts a new bin.
    pub fn take(&mut self) -> u32 {
        self.bin += 1;
        std::mem::take(&mut self.count)
    }
}

/// The unacknowledged data of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// All data is acknowledged.
    Idle,
    /// Some data is in flight.
    UnderWay,
}

impl Load {
    /// The load of a connection with these sent and acknowledged offsets.
    #[must_use]
    pub fn of(sent: u64, acknowledged: u64) -> Self {
        if sent > acknowledged { Self::UnderWay } else { Self::Idle }
    }
}

/// The sums over the connections of a link at the end of a bin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    active: u32,
    /// The sum of the round trips that ended in the bin, in seconds, and their number.
    seconds: f64,
    segments: f64,
    /// The sum of the flows' mean round trips, in seconds, and the number of flows with a round trip.
    means: f64,
    flows: f64,
}

impl Sums {
    /// Adds a connection with its load and round trips.
    #[allow(clippy::cast_precision_loss)]
    pub fn add(&mut self, load: Load, timed: Option<&Timed>) {
        self.active += u32::from(load == Load::UnderWay);
        let Some(timed) = timed.filter(|timed| timed.count > 0) else { return };
        let (seconds, segments) = (timed.sum as f64 / 1e9, f64::from(timed.count));
        self.seconds += seconds;
        self.segments += segments;
        self.means += seconds / segments;
        self.flows += 1.0;
    }

    /// The true values of a gateway's link for `seen` connections. Both means are missing (NaN) without a
    /// completed round trip.
    #[must_use]
    pub fn truth(&self, seen: u32) -> GatewayTruth {
        GatewayTruth {
            active: self.active,
            seen,
            round_trip: self.seconds / self.segments,
            mean_flow_round_trip: self.means / self.flows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_units::Duration;

    #[test]
    fn connections_are_seen_once_a_bin_also_where_they_follow_each_other() {
        let mut seen = Seen::default();
        // Slots 0 and 5; at slot 5 one connection follows another: three connections.
        for (place, key) in [(0, 77), (5, 88), (5, 88), (0, 77), (5, 99), (5, 99)] {
            seen.saw(place, key);
        }
        assert_eq!(seen.take(), 3);
        seen.saw(5, 99);
        assert_eq!((seen.take(), seen.take()), (1, 0));
    }

    #[test]
    fn without_anybody_there_is_no_round_trip() {
        let truth = Sums::default().truth(0);
        assert!(truth.active == 0 && truth.round_trip.is_nan() && truth.mean_flow_round_trip.is_nan());
        // Connections without one change no mean: 40 ms and 80 ms of one connection.
        let mut sums = Sums::default();
        for (sum, count) in [(0, 0), (120_000_000, 2), (0, 0)] {
            sums.add(Load::UnderWay, Some(&Timed { sum, count, ..Timed::default() }));
        }
        let truth = sums.truth(3);
        assert_eq!((truth.active, truth.round_trip, truth.mean_flow_round_trip), (3, 0.06, 0.06));
    }

    #[test]
    fn every_segment_is_timed_but_those_about_a_loss() {
        let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
        let mut timed = Timed::default();
        timed.sent(at(0), 5, 1000);
        timed.sent(at(10), 5, 2000);
        // One acknowledgement of both segments: 100 and 90 ms.
        timed.acknowledged(at(100), 2000);
        assert_eq!((timed.sum, timed.count), (190_000_000, 2));
        timed.sent(at(100), 5, 3000);
        timed.sent(at(110), 5, 4000);
        timed.sent(at(300), 5, 4000);
        timed.acknowledged(at(400), 4000);
        assert_eq!(timed.count, 2, "the second was sent again");
        // Another connection at the same slot starts from zero.
        timed.sent(at(500), 6, 1000);
        timed.acknowledged(at(550), 1000);
        assert_eq!((timed.sum, timed.count), (240_000_000, 3));
    }

    #[test]
    fn segments_and_flows_weigh_differently() {
        // Three segments of 100 ms and one of 300 ms: 150 ms. Two flows of 100 and 300 ms: 200 ms.
        let timed = |sum, count| Timed { sum, count, ..Timed::default() };
        let mut sums = Sums::default();
        sums.add(Load::of(2000, 1000), Some(&timed(300_000_000, 3)));
        sums.add(Load::of(1000, 1000), Some(&timed(300_000_000, 1)));
        sums.add(Load::of(1000, 0), None);
        let truth = sums.truth(2);
        assert_eq!((truth.active, truth.seen), (2, 2));
        assert!((truth.round_trip - 0.15).abs() < 1e-12 && (truth.mean_flow_round_trip - 0.2).abs() < 1e-12);
    }
}
