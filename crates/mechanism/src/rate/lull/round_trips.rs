//! The round-trip times of connections, from one direction of their packets.
//!
//! The handshake gives the first value: the first data follow the sender's SYN (or SYN-ACK) by one round trip. Later
//! rounds correct it: a burst after a silence answers the burst one round trip before.

use super::Times;
use super::budget::Budget;
use super::counterfactual::{larger, smaller};
use crate::view::{FlowKey, SegmentKind, SegmentView, Timestamps};
use std::ops::RangeInclusive;

/// The number of connections that are remembered. A new connection replaces the one in its slot.
const SLOTS: usize = 1024;
/// A round may be this share of the round-trip time early or late.
const TOLERANCE: f64 = 0.25;
/// The tick of the senders' timestamps in seconds (RFC 7323 section 5.4 recommends 1 ms to 1 s; common stacks take 1 ms).
const TICK: f64 = 1e-3;
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
    /// The level that the next round needs, as known since the latest began.
    needed: usize,
    /// The first and last bin of the forecast since the latest round began.
    bins: (u64, u64),
    /// The lateness of the packets since the latest round began, in seconds, and their number.
    late: f64,
    packets: f64,
    /// The first packet's arrival and timestamp; `None` without timestamps.
    stamped: Option<(f64, u32)>,
    /// The least of arrival minus timestamp, from the first packet on.
    fastest: f64,
    /// The excess of the latest round's first packet over `fastest`: what links on its way have delayed it.
    upstream: f64,
    /// The packets of an overdue round are no surprise until then.
    announced: f64,
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

    /// Sees a packet that arrives at `now` and leaves at `leaves`. Returns the round-trip time in seconds, if known. The
    /// budget takes the round that the packet ends.
    pub(super) fn see(
        &mut self,
        now: f64,
        leaves: f64,
        segment: &SegmentView,
        times: &Times,
        budget: &mut Budget,
    ) -> Option<f64> {
        let connection = &mut self.slots[Self::slot(segment.flow)];
        if connection.key != segment.flow {
            *connection = Connection::new(segment.flow);
        }
        let excess = connection.excess(now, segment);
        if connection.waits_until(now, times).is_some() {
            connection.announced = now + times.slack;
        }
        if segment.opens() {
            connection.opened = leaves;
            (connection.time, connection.handshake) = (self.usual, self.usual);
            (connection.expected, connection.needed) = (leaves + self.usual, 0);
        } else if segment.data {
            if connection.opened > 0.0 {
                let time = now - connection.opened;
                connection.opened = 0.0;
                connection.first_data(leaves, time, excess, budget);
                let is_new_least = self.usual == 0.0 || time < self.usual;
                self.usual = if is_new_least { time } else { self.usual + 0.02 * (time - self.usual) };
            } else if connection.time > 0.0 {
                connection.later_data(now, leaves, excess, times, budget);
            }
            connection.last = now;
        }
        (connection.time > 0.0).then_some(connection.time)
    }

    /// Takes the lateness of a packet in seconds.
    #[inline]
    pub(super) fn is_late(&mut self, slot: usize, lateness: f64) {
        let connection = &mut self.slots[slot];
        connection.late += larger(lateness, 0.0);
        connection.packets += 1.0;
    }

    /// Ends a connection's last round.
    pub(super) fn end(&mut self, slot: usize, budget: &mut Budget) {
        self.slots[slot].end_round(budget);
    }

    /// The time in seconds until which an overdue round of a connection may still come; `None` if none is overdue.
    pub(super) fn waits_until(&self, slot: usize, now: f64, times: &Times) -> Option<f64> {
        self.slots[slot].waits_until(now, times)
    }

    /// Returns true if a packet of a connection belongs to a round that was overdue.
    pub(super) fn is_announced(&self, slot: usize, now: f64) -> bool {
        now <= self.slots[slot].announced
    }

    /// The expected start of a connection's next round in seconds, if the round needs more than known before.
    #[inline]
    pub(super) fn next_round(&mut self, slot: usize, needed: usize) -> Option<f64> {
        let connection = &mut self.slots[slot];
        (needed > connection.needed).then(|| {
            connection.needed = needed;
            connection.expected
        })
    }

    /// Remembers a bin of a connection's forecast.
    #[inline]
    pub(super) fn forecasts(&mut self, slot: usize, bin: u64) {
        let (first, last) = &mut self.slots[slot].bins;
        *first = bin.min(*first);
        *last = bin.max(*last);
    }

    /// The bins of a connection's forecast for its latest round.
    pub(super) fn forecast(&self, slot: usize) -> RangeInclusive<u64> {
        let (first, last) = self.slots[slot].bins;
        first..=last
    }
}

impl Connection {
    fn new(key: FlowKey) -> Self {
        Self {
            key,
            time: 0.0,
            handshake: 0.0,
            opened: 0.0,
            last: f64::NEG_INFINITY,
            expected: f64::NEG_INFINITY,
            answers: 0.0,
            needed: 0,
            bins: NO_BINS,
            late: 0.0,
            packets: 0.0,
            stamped: None,
            fastest: 0.0,
            upstream: 0.0,
            announced: 0.0,
        }
    }

    /// The time by which a round may miss its expected start.
    fn tolerance(&self, times: &Times) -> f64 {
        larger(times.slack, TOLERANCE * self.time)
    }

    fn waits_until(&self, now: f64, times: &Times) -> Option<f64> {
        let until = self.expected + self.tolerance(times);
        (now > self.expected && now < until).then_some(until)
    }

    /// The delay of a packet on its way to this link, over the least of its connection. Zero without timestamps.
    fn excess(&mut self, now: f64, segment: &SegmentView) -> f64 {
        let Some(Timestamps { value, .. }) = segment.timestamps else { return 0.0 };
        let (arrival, first) = *self.stamped.get_or_insert((now, value));
        let delay = (now - arrival) - TICK * f64::from(value.wrapping_sub(first).cast_signed());
        self.fastest = smaller(self.fastest, delay);
        delay - self.fastest
    }

    fn first_data(&mut self, leaves: f64, time: f64, excess: f64, budget: &mut Budget) {
        (self.time, self.handshake) = (time, time);
        self.expect(leaves, excess, budget);
    }

    /// Pays for the latest round.
    fn end_round(&mut self, budget: &mut Budget) {
        if self.packets > 0.0 && self.time > 0.0 {
            // Less is not seen, and more is a queue or another clock.
            let upstream =
                if self.upstream < TICK || self.upstream > TOLERANCE * self.time { 0.0 } else { self.upstream };
            budget.pay(self.late / (self.packets * self.time), upstream / self.time);
        }
        (self.late, self.packets) = (0.0, 0.0);
    }

    /// Begins a round with a packet that leaves at `leaves`.
    fn expect(&mut self, leaves: f64, excess: f64, budget: &mut Budget) {
        self.end_round(budget);
        self.upstream = excess;
        (self.expected, self.answers) = (leaves + self.time, leaves);
        (self.needed, self.bins) = (0, NO_BINS);
    }

    fn later_data(&mut self, now: f64, leaves: f64, excess: f64, times: &Times, budget: &mut Budget) {
        let starts = now - self.last > times.linger;
        let is_near = (now - self.expected).abs() < self.tolerance(times);
        if starts && is_near {
            let sample = now - self.answers;
            // Early is cheap and late is not: the estimate falls at once and rises slowly.
            let time = if sample < self.time { sample } else { self.time + (sample - self.time) / 4.0 };
            self.time = time.clamp(RANGE.start() * self.handshake, RANGE.end() * self.handshake);
            self.expect(leaves, excess, budget);
        } else if now > self.expected {
            if starts {
                self.time = self.handshake;
            }
            self.expect(leaves, excess, budget);
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
        trips.see(now, now + STAY, &segment, &TIMES, &mut Budget::new(0.05, 0.0)).map(|time| (1e6 * time).round())
    }

    fn syn(trips: &mut RoundTrips, flow: FlowKey, now: f64) -> Option<f64> {
        see(trips, flow, now, SegmentKind::Syn)
    }

    fn data(trips: &mut RoundTrips, flow: FlowKey, now: f64) -> Option<f64> {
        see(trips, flow, now, SegmentKind::Other)
    }

    fn next_round(trips: &RoundTrips, flow: FlowKey) -> f64 {
        (1e6 * trips.slots[RoundTrips::slot(flow)].expected).round() / 1e6
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
                let now = trips.slots[5].expected + shift * time;
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
    fn a_round_pays_its_mean_lateness_when_the_next_one_begins() {
        let (mut trips, mut budget) = (RoundTrips::new(), Budget::new(0.05, 0.0));
        let see = |trips: &mut RoundTrips, budget: &mut Budget, now: f64, kind: SegmentKind, late: f64| {
            let data = kind == SegmentKind::Other;
            let segment = SegmentView { flow: 5, kind, end: 1, acknowledged: 1, data, fin: false, timestamps: None };
            trips.see(now, now, &segment, &TIMES, budget);
            trips.is_late(5, late);
            (1e6 * budget.paid()).round() / 1e6
        };
        // The handshake is a round of 50 ms.
        assert_eq!(see(&mut trips, &mut budget, 1.0, SegmentKind::Syn, 0.002), 0.0);
        assert_eq!(see(&mut trips, &mut budget, 1.05, SegmentKind::Other, 0.005), 0.04);
        assert_eq!(see(&mut trips, &mut budget, 1.051, SegmentKind::Other, 0.004), 0.04);
        // 4.5 of 50 ms.
        assert_eq!(see(&mut trips, &mut budget, 1.1, SegmentKind::Other, -0.001), 0.13);
        trips.end(5, &mut budget);
        trips.end(5, &mut budget);
        assert_eq!((1e6 * budget.paid()).round() / 1e6, 0.13, "a packet is never early");
    }

    #[test]
    fn timestamps_show_the_delay_before_this_link() {
        let (mut trips, mut budget) = (RoundTrips::new(), Budget::new(0.05, 0.0));
        // The sender's clock begins shortly before it wraps around.
        let mut see = |now: f64, kind: SegmentKind, sent: u32| {
            let timestamps = Some(Timestamps { value: sent.wrapping_sub(1010), echo: 0 });
            let data = kind == SegmentKind::Other;
            let segment = SegmentView { flow: 5, kind, end: 1, acknowledged: 1, data, fin: false, timestamps };
            trips.see(now, now, &segment, &TIMES, &mut budget);
            trips.is_late(5, 0.0);
            (1e6 * budget.paid()).round() / 1e6
        };
        let data = SegmentKind::Other;
        assert_eq!(see(1.0, SegmentKind::Syn, 1000), 0.0);
        // 5 ms after the delay of the SYN; only the first packet of the round counts.
        assert_eq!(see(1.05, data, 1045), 0.0);
        assert_eq!(see(1.055, data, 1045), 0.0);
        assert_eq!(see(1.1, data, 1101), 0.1);
        // The last was 1 ms faster than the SYN. This one is 2 ms slower than that.
        assert_eq!(see(1.15, data, 1149), 0.1);
        assert_eq!(see(1.2, data, 1180), 0.14);
        // 21 ms are more than a quarter of the round trip, and 0.5 ms less than a tick.
        assert_eq!(see(1.25, data, 1250), 0.14);
        assert_eq!(see(1.2995, data, 1300), 0.14);
        assert_eq!(see(1.35, data, 1350), 0.14);
    }

    #[test]
    fn the_need_of_the_next_round_is_told_when_it_grows() {
        let mut trips = opened();
        let needs = [2, 2, 1, 3].map(|needed| trips.next_round(5, needed).is_some());
        assert_eq!(needs, [true, false, false, true]);
        data(&mut trips, 5, 1.105);
        assert!(trips.next_round(5, 1).is_some());
    }

    #[test]
    fn an_overdue_round_may_come_until_a_quarter_of_the_round_trip_has_passed() {
        let mut trips = opened();
        let until = |trips: &RoundTrips, now: f64| trips.waits_until(5, now, &TIMES).map(|at| (1e6 * at).round() / 1e6);
        assert_eq!([1.1, 1.102, 1.113, 1.114].map(|now| until(&trips, now)), [None, Some(1.1135), Some(1.1135), None]);
        data(&mut trips, 5, 1.105);
        assert_eq!(until(&trips, 1.105), None);
        assert_eq!([1.105, 1.1089, 1.1091].map(|now| trips.is_announced(5, now)), [true, true, false]);
        assert_eq!(next_round(&trips, 5), 1.157);
        // A new connection waits for its first data, too.
        syn(&mut trips, 7, 2.0);
        assert!(trips.waits_until(7, 2.052, &TIMES).is_some());
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
