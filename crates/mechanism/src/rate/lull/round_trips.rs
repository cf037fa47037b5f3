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
