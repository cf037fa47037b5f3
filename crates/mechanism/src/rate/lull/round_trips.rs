//! The round-trip times of connections, from one direction of their packets.
//!
//! The handshake gives the first value: the first data follow the sender's SYN (or SYN-ACK) by one round trip. Later
//! rounds correct it: a burst after a silence answers the burst one round trip before.

use super::Times;
use crate::view::{FlowKey, SegmentKind, SegmentView};
use std::ops::RangeInclusive;

/// The number of connections that are remembered. A new connection replaces the one in its slot.
const SLOTS: usize = 1024;
/// A round may be this share of the round-trip time early or late.
const TOLERANCE: f64 = 0.25;
/// The range of round-trip times around the handshake's.
const RANGE: RangeInclusive<f64> = 0.75..=2.0;
/// No bins.
const NO_BINS: (u64, u64) = (u64::MAX, 0);

/// A connection. Times are in seconds.
#[derive(Clone, Copy, Debug)]
struct Connection {
    key: FlowKey,
    /// The round-trip time; zero if unknown.
    time: f64,
    /// The handshake's round-trip time.
    handshake: f64,
    /// The departure of the SYN; zero after the first data.
    opened: f64,
    last: f64,
    /// The expected start of the next round, and the departure of the packet that it answers.
    expected: f64,
    answers: f64,
    /// The first and last bin of the forecast since the latest round began.
    bins: (u64, u64),
}

/// The connections across a link.
#[derive(Clone, Debug)]
pub(super) struct RoundTrips {
    slots: Box<[Connection]>,
    /// A guess for a new connection: the least of recent handshakes, which rises slowly.
    usual: f64,
}

impl SegmentView {
    /// Returns true for the first packet of a direction.
    pub(super) fn opens(&self) -> bool {
        self.kind != SegmentKind::Other
    }
}

impl RoundTrips {
    pub(super) fn new() -> Self {
        Self { slots: vec![Connection::new(0); SLOTS].into(), usual: 0.0 }
    }

    /// The slot of a connection.
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn slot(key: FlowKey) -> usize {
        (key % SLOTS as u64) as usize
    }

    /// Sees a packet that arrives at `now` and leaves at `leaves`. Returns the round-trip time in seconds, if known.
    pub(super) fn see(&mut self, now: f64, leaves: f64, segment: &SegmentView, times: &Times) -> Option<f64> {
        let connection = &mut self.slots[Self::slot(segment.flow)];
        if connection.key != segment.flow {
            *connection = Connection::new(segment.flow);
        }
        if segment.opens() {
            connection.opened = leaves;
            (connection.time, connection.handshake) = (self.usual, self.usual);
        } else if segment.data {
            if connection.opened > 0.0 {
                let time = now - connection.opened;
                connection.opened = 0.0;
                connection.first_data(leaves, time);
                let is_new_least = self.usual == 0.0 || time < self.usual;
                self.usual = if is_new_least { time } else { self.usual + 0.02 * (time - self.usual) };
            } else if connection.time > 0.0 {
                connection.later_data(now, leaves, times);
            }
            connection.last = now;
        }
        (connection.time > 0.0).then_some(connection.time)
    }

    /// The expected start of a connection's next round, in seconds.
    pub(super) fn next_round(&self, slot: usize) -> f64 {
        self.slots[slot].expected
    }

    /// Remembers a bin of a connection's forecast.
    pub(super) fn forecasts(&mut self, slot: usize, bin: u64) {
        let (first, last) = &mut self.slots[slot].bins;
        (*first, *last) = ((*first).min(bin), (*last).max(bin));
    }

    /// The bins of a connection's forecast for its latest round.
    pub(super) fn forecast(&self, slot: usize) -> RangeInclusive<u64> {
        let (first, last) = self.slots[slot].bins;
        first..=last
    }
}

impl Connection {
    fn new(key: FlowKey) -> Self {
        let (time, handshake, opened, last) = (0.0, 0.0, 0.0, f64::NEG_INFINITY);
        Self { key, time, handshake, opened, last, expected: 0.0, answers: 0.0, bins: NO_BINS }
    }

    fn first_data(&mut self, leaves: f64, time: f64) {
        (self.time, self.handshake) = (time, time);
        self.expect(leaves);
    }

    /// Begins a round with a packet that leaves at `leaves`.
    fn expect(&mut self, leaves: f64) {
        (self.expected, self.answers, self.bins) = (leaves + self.time, leaves, NO_BINS);
    }

    fn later_data(&mut self, now: f64, leaves: f64, times: &Times) {
        let starts = now - self.last > times.linger;
        let is_near = (now - self.expected).abs() < times.slack.max(TOLERANCE * self.time);
        if starts && is_near {
            let sample = now - self.answers;
            // Early is cheap and late is not: the estimate falls at once and rises slowly.
            let time = if sample < self.time { sample } else { self.time + (sample - self.time) / 4.0 };
            self.time = time.clamp(RANGE.start() * self.handshake, RANGE.end() * self.handshake);
            self.expect(leaves);
        } else if now > self.expected {
            if starts {
                self.time = self.handshake;
            }
            self.expect(leaves);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lull's times for a pause of 2 ms, in seconds.
    const TIMES: Times =
        Times { transition: 0.002, lateness: 0.014, hold: 0.06, linger: 0.003, lead: 0.0025, slack: 0.004, gap: 0.006 };
    /// The time from the arrival of a packet to its departure.
    const STAY: f64 = 0.001;

    /// Sees a packet at `now` in seconds. The round-trip time is in microseconds.
    fn see(trips: &mut RoundTrips, flow: FlowKey, now: f64, kind: SegmentKind) -> Option<f64> {
        let data = kind == SegmentKind::Other;
        let segment = SegmentView { flow, kind, end: 1, acknowledged: 1, data, fin: false, timestamps: None };
        trips.see(now, now + STAY, &segment, &TIMES).map(|time| (1e6 * time).round())
    }

    fn syn(trips: &mut RoundTrips, flow: FlowKey, now: f64) -> Option<f64> {
        see(trips, flow, now, SegmentKind::Syn)
    }

    fn data(trips: &mut RoundTrips, flow: FlowKey, now: f64) -> Option<f64> {
        see(trips, flow, now, SegmentKind::Other)
    }

    fn next_round(trips: &RoundTrips, flow: FlowKey) -> f64 {
        (1e6 * trips.next_round(RoundTrips::slot(flow))).round() / 1e6
    }

    /// A connection whose handshake took 50 ms. Its first data arrive at 1.05 s, so it expects a round at 1.101 s.
    fn opened() -> RoundTrips {
        let mut trips = RoundTrips::new();
        assert_eq!(syn(&mut trips, 5, 1.0 - STAY), None);
        assert_eq!(data(&mut trips, 5, 1.05), Some(50_000.0));
        assert_eq!(next_round(&trips, 5), 1.101);
        trips
    }

    #[test]
    fn a_new_connection_takes_its_slot_and_guesses_the_least_of_recent_handshakes() {
        let places = [5, 6, 5 + SLOTS as u64].map(RoundTrips::slot);
        assert_eq!(places, [5, 6, 5]);
        let mut trips = opened();
        assert_eq!(data(&mut trips, 5 + SLOTS as u64, 2.0), None, "it has had no handshake");
        assert_eq!(data(&mut trips, 5, 2.1), None, "its place is taken");
        // 50 ms, then a fiftieth of the way to 100 ms, then a new least.
        assert_eq!(syn(&mut trips, 7, 3.0 - STAY), Some(50_000.0));
        assert_eq!(data(&mut trips, 7, 3.1), Some(100_000.0));
        assert_eq!(syn(&mut trips, 8, 4.0 - STAY), Some(51_000.0));
        assert_eq!(data(&mut trips, 8, 4.03), Some(30_000.0));
        assert_eq!(syn(&mut trips, 9, 5.0), Some(30_000.0));
    }

    #[test]
    fn a_round_near_its_time_corrects_the_estimate() {
        let mut trips = opened();
        // 3 ms early: 1.098 - 1.051 = 47 ms at once. The next is expected at 1.099 + 0.047 s.
        assert_eq!(data(&mut trips, 5, 1.098), Some(47_000.0));
        assert_eq!(next_round(&trips, 5), 1.146);
        // 8 ms late: a quarter of 8 ms more.
        assert_eq!(data(&mut trips, 5, 1.154), Some(49_000.0));
        assert_eq!(next_round(&trips, 5), 1.204);
    }

    #[test]
    fn the_estimate_stays_within_three_quarters_and_twice_the_handshake() {
        let mut trips = opened();
        let after = |trips: &mut RoundTrips, shift: f64| {
            (0..40).fold(0.0, |time, _| {
                let now = trips.next_round(5) + shift * time;
                1e-6 * data(trips, 5, now).expect("a known connection")
            })
        };
        assert!((after(&mut trips, 0.2) - 0.1).abs() < 1e-9);
        assert!((after(&mut trips, -0.2) - 0.0375).abs() < 1e-9);
    }

    #[test]
    fn a_packet_far_from_the_round_begins_one_only_if_it_is_late() {
        let mut trips = opened();
        assert_eq!(data(&mut trips, 5, 1.098), Some(47_000.0));
        // Expected at 1.146 s, within a quarter of 47 ms: 20 ms early is another burst.
        assert_eq!(data(&mut trips, 5, 1.126), Some(47_000.0));
        assert_eq!(next_round(&trips, 5), 1.146);
        // 20 ms late, after a pause: the handshake's value counts again.
        assert_eq!(data(&mut trips, 5, 1.166), Some(50_000.0));
        assert_eq!(next_round(&trips, 5), 1.217);
    }

    #[test]
    fn a_burst_without_a_pause_keeps_the_estimate_and_moves_the_round() {
        let mut trips = opened();
        assert_eq!(data(&mut trips, 5, 1.098), Some(47_000.0));
        for millis in 1..=50 {
            assert_eq!(data(&mut trips, 5, 1.098 + 1e-3 * f64::from(millis)), Some(47_000.0));
        }
        // The packet at 1.147 s was the first after 1.146 s. It leaves at 1.148 s.
        assert_eq!(next_round(&trips, 5), 1.195);
    }
}
