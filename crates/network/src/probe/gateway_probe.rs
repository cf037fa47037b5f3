//! What N and RTT are, for the table `gateway`: connections that load a link, and their round-trip times as their senders see them.

use super::gateways::GatewayTruth;
use netlull_mechanism::gateway::FlowKey;
use netlull_units::Instant;
use std::collections::VecDeque;

/// The round trips of the connections at one place.
#[derive(Clone, Debug, Default)]
pub struct Timed {
    key: FlowKey,
    /// Up to where data has been sent at least once.
    highest: u64,
    /// Segments on their way: the offset behind each, and when it was sent.
    under_way: VecDeque<(u64, Instant)>,
    /// In the bin in progress: of round trips, in nanoseconds, and how many.
    sum: u64,
    count: u32,
}

impl Timed {
    /// A segment with data is sent by the connection of this key; `next` is the offset behind all that it has ever sent.
    pub fn sent(&mut self, now: Instant, key: FlowKey, next: u64) {
        if self.key != key {
            (self.key, self.highest) = (key, 0);
            self.under_way.clear();
        }
        if next > self.highest {
            self.highest = next;
            self.under_way.push_back((next, now));
        } else {
            // Sent again: what is acknowledged from here on waited for a loss to be found.
            self.under_way.clear();
        }
    }

    /// Everything below an offset has been acknowledged.
    pub fn acknowledged(&mut self, now: Instant, offset: u64) {
        while let Some(&(end, sent)) = self.under_way.front()
            && end <= offset
        {
            self.under_way.pop_front();
            self.sum += (now - sent).as_nanos();
            self.count += 1;
        }
    }

    /// Another bin begins.
    pub fn restart(&mut self) {
        (self.sum, self.count) = (0, 0);
    }
}

/// The connections that have offered data in the bin in progress.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    bin: u64,
    count: u32,
    /// The bin in which a place was last seen, and the connection that was there.
    last: Vec<(u64, FlowKey)>,
}

impl Seen {
    /// A connection at a place has offered data. Connections at one place follow each other, so the last one is enough.
    pub fn saw(&mut self, place: usize, key: FlowKey) {
        if place >= self.last.len() {
            self.last.resize(place + 1, (0, 0));
        }
        let now = (self.bin + 1, key);
        self.count += u32::from(self.last[place] != now);
        self.last[place] = now;
    }

    /// How many there were; a new bin begins.
    pub fn take(&mut self) -> u32 {
        self.bin += 1;
        std::mem::take(&mut self.count)
    }
}

/// Whether a connection has data that is not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// It has none.
    Idle,
    /// It has.
    UnderWay,
}

impl Load {
    /// Of a connection that has sent up to one offset, and of which another is acknowledged.
    #[must_use]
    pub fn of(sent: u64, acknowledged: u64) -> Self {
        if sent > acknowledged { Self::UnderWay } else { Self::Idle }
    }
}

/// Sums over the connections of a link, at the end of a bin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    active: u32,
    /// Round trips that ended in the bin, in seconds, and how many.
    seconds: f64,
    segments: f64,
    /// The mean round trips of the flows, in seconds, and how many flows had any.
    means: f64,
    flows: f64,
}

impl Sums {
    /// One connection more; whether it has data under way.
    #[allow(clippy::cast_precision_loss)]
    pub fn add(&mut self, load: Load, timed: Option<&Timed>) {
        self.active += u32::from(load == Load::UnderWay);
        let Some(timed) = timed.filter(|timed| timed.count > 0) else { return };
        let (seconds, segments) = (timed.sum as f64 * 1e-9, f64::from(timed.count));
        self.seconds += seconds;
        self.segments += segments;
        self.means += seconds / segments;
        self.flows += 1.0;
    }

    /// What is true of a gateway's link that has seen so many connections. Without a round trip that ended both means are missing (NaN).
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
        // Places 0 and 5; at 5 one connection follows another: three connections.
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
    }

    #[test]
    fn every_segment_is_timed_but_those_about_a_loss() {
        let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
        let mut timed = Timed::default();
        timed.sent(at(0), 5, 1000);
        timed.sent(at(10), 5, 2000);
        // One acknowledgement for both: 100 and 90 ms.
        timed.acknowledged(at(100), 2000);
        assert_eq!((timed.sum, timed.count), (190_000_000, 2));
        timed.sent(at(100), 5, 3000);
        timed.sent(at(110), 5, 4000);
        timed.sent(at(300), 5, 4000);
        timed.acknowledged(at(400), 4000);
        assert_eq!(timed.count, 2, "the second was sent again");
        // Another connection at the same place begins from nothing.
        timed.sent(at(500), 6, 1000);
        timed.acknowledged(at(550), 1000);
        assert_eq!((timed.sum, timed.count), (240_000_000, 3));
    }

    #[test]
    fn segments_and_flows_weigh_differently() {
        // Three segments of 100 ms and one of 300 ms: 150 ms; two flows of 100 and 300 ms: 200 ms.
        let sums = Sums { active: 2, seconds: 0.6, segments: 4.0, means: 0.4, flows: 2.0 };
        let truth = sums.truth(2);
        assert!((truth.round_trip - 0.15).abs() < 1e-12 && (truth.mean_flow_round_trip - 0.2).abs() < 1e-12);
    }
}
