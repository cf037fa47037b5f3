//! From counters read once in a period to the events that a machine knows, and from its actions to what the period's end asks for.
//!
//! The machines are told of packets; here the queue's counters are read every few milliseconds. Between two readings as many
//! packets arrived and left as the counters say, and what is not known is when. So they are taken as evenly spread:
//!
//! ```text
//!   reading ──┬──a──d──a──d──a──d──a──d──┬── reading      arrivals and departures at even distances, the queue after each as
//!             q                          q                bytes are conserved; segments that were seen at the times they were
//! ```
//!
//! Every byte that came or went is in an event of its own kind, so sums over events (AWM's queue term, a forecast's samples, what
//! C-EARTH adds up at every event) are those of the packets; what differs is the order within a period. A machine's timeouts are
//! delivered at the instants that it asked for, and each period ends with one that shows the queue as it was read.

use super::segment::{Direction, Sighting};
use crate::error::{LiveError, Result};
use crate::tape::{LinkSetup, OnTape};
use netlull_mechanism::Machine;
use netlull_mechanism::link::{Estimates, LinkController, LinkEvent};
use netlull_mechanism::machines::LinkMachine;
use netlull_mechanism::rate::{Admission, QueueView};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::path::Path;

/// The counters of a queue since it was made, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Bytes that have left it.
    pub sent_bytes: u64,
    /// Packets that have left it.
    pub sent_packets: u64,
    /// Packets that found it full.
    pub drops: u64,
    /// Bytes in it.
    pub backlog: u64,
    /// Packets in it.
    pub packets: u64,
}

/// What the end of a period asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The link's rate in bit/s from now on, and how long the change takes, if it has changed.
    pub rate: Option<(BitRate, Duration)>,
    /// swnd in bytes, never below its floor; `None` for a mechanism that does not steer.
    pub window: Option<Bytes>,
}

/// Between two readings at most so many arrivals are told apart, and as many departures: more go in bundles.
const MOST_EVENTS: u64 = 64;
/// The size of a packet in bytes before any has been counted.
const FIRST_PACKET: u64 = 1514;

/// A machine that is fed from readings.
#[derive(Debug)]
pub struct Driver {
    machine: OnTape<LinkMachine>,
    last: Reading,
    at: Instant,
    /// The mean size in bytes of the packets of the last period that had any.
    packet: u64,
}

/// Something that happened in a period.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// So many bytes came, and as many more found no room.
    Arrival { accepted: u64, dropped: u64 },
    /// So many bytes left.
    Departure { bytes: u64 },
    /// A segment was seen.
    Seen(Sighting),
}

impl Driver {
    /// A driver of a machine that begins at `start` before a queue with the counters `reading`; recorded if there is a tape.
    ///
    /// # Errors
    /// If a value of `setup` is out of range, or the tape cannot be written.
    pub fn new(setup: &LinkSetup, start: Instant, reading: Reading, name: &str, tape: Option<&Path>) -> Result<Self> {
        let machine = match tape {
            None => OnTape::blank(setup, start).map_err(|error| LiveError::system(name, error))?,
            Some(file) => OnTape::recorded(setup, start, name, file)?,
        };
        Ok(Self { machine, last: reading, at: start, packet: FIRST_PACKET })
    }

    /// The rate in bit/s that the machine wants now.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.machine.machine().rate()
    }

    /// swnd, N and RTT, where there are such.
    #[must_use]
    pub fn estimates(&self) -> Estimates {
        self.machine.machine().estimates()
    }

    /// How many times the machine has changed the rate.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.machine.machine().changes()
    }

    /// The recording ends.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn finish(&mut self) -> Result<()> {
        self.machine.finish()
    }

    /// A period ends at `now` with `reading`; `seen` are the segments that passed in it, with the instants at which they did, in
    /// any order. Instants outside the period are taken for its nearer end.
    pub fn period(&mut self, now: Instant, reading: Reading, seen: &[(Instant, Sighting)]) -> Decision {
        let now = now.max(self.at);
        let mut list = self.happenings(now, reading);
        list.extend(seen.iter().map(|&(at, sighting)| (at.clamp(self.at, now), Happening::Seen(sighting))));
        // Stable: what has the same instant stays in the order in which it was told.
        list.sort_by_key(|&(at, _)| at);
        let mut rate = None;
        let mut queue = self.last.backlog;
        for (at, happening) in list {
            self.timeouts_until(at, queue, &mut rate);
            self.happens(at, happening, &mut queue, &mut rate);
        }
        self.timeouts_until(now, queue, &mut rate);
        let end = self.view(reading.backlog, reading);
        self.tell(now, LinkEvent::Timeout { queue: end }, &mut rate);
        (self.last, self.at) = (reading, now);
        Decision { rate, window: self.window() }
    }

    /// What came and went since the last reading, evenly spread. A counter that has gone back, as that of a new queue, tells of nothing.
    fn happenings(&mut self, now: Instant, reading: Reading) -> Vec<(Instant, Happening)> {
        let (last, from) = (self.last, self.at);
        let sent_bytes = reading.sent_bytes.saturating_sub(last.sent_bytes);
        let sent_packets = reading.sent_packets.saturating_sub(last.sent_packets);
        let accepted_bytes = (reading.backlog + sent_bytes).saturating_sub(last.backlog);
        let accepted_packets = (reading.packets + sent_packets).saturating_sub(last.packets);
        let dropped = reading.drops.saturating_sub(last.drops);
        let mean = sent_bytes.checked_div(sent_packets).or(reading.backlog.checked_div(reading.packets));
        self.packet = mean.unwrap_or(self.packet);
        let arrivals = pieces(accepted_packets + dropped, accepted_bytes + dropped);
        let departures = pieces(sent_packets, sent_bytes);
        let mut list = Vec::with_capacity(usize::try_from(arrivals + departures).unwrap_or(0));
        let place = |n: u64, of: u64| from + (now - from).saturating_mul(2 * n + 1) / (2 * of);
        for n in 0..arrivals {
            let (accepted, dropped) = (share(accepted_bytes, n, arrivals), share(dropped, n, arrivals) * self.packet);
            list.push((place(n, arrivals), Happening::Arrival { accepted, dropped }));
        }
        for n in 0..departures {
            list.push((place(n, departures), Happening::Departure { bytes: share(sent_bytes, n, departures) }));
        }
        list
    }

    fn happens(&mut self, at: Instant, happening: Happening, queue: &mut u64, rate: &mut Option<(BitRate, Duration)>) {
        match happening {
            Happening::Arrival { accepted, dropped } => {
                *queue += accepted;
                let view = self.between(*queue);
                for (size, admission) in [(accepted, Admission::Accepted), (dropped, Admission::Dropped)] {
                    if size > 0 {
                        let size = Bytes::new(size);
                        self.tell(at, LinkEvent::Arrival { size, admission, queue: view, segment: None }, rate);
                    }
                }
            }
            Happening::Departure { bytes } => {
                *queue = queue.saturating_sub(bytes);
                let queue = self.between(*queue);
                self.tell(at, LinkEvent::Departure { queue }, rate);
            }
            Happening::Seen(sighting) => {
                let queue = self.between(*queue);
                if !self.machine.machine().reads_segments() {
                    return;
                }
                let segment = sighting.segment;
                let event = match sighting.direction {
                    // Its bytes are among those that are spread.
                    Direction::Forward => {
                        let (size, admission) = (Bytes::ZERO, Admission::Accepted);
                        LinkEvent::Arrival { size, admission, queue, segment: Some(segment) }
                    }
                    // A window whose scale is not known is not rewritten: it is as good as none.
                    Direction::Backward => {
                        LinkEvent::Acknowledgement { segment, window: sighting.window.unwrap_or(Bytes::ZERO) }
                    }
                };
                self.tell(at, event, rate);
            }
        }
    }

    /// Tells the machine an event; `rate` takes the last rate that it asks for.
    fn tell(&mut self, at: Instant, event: LinkEvent, rate: &mut Option<(BitRate, Duration)>) {
        self.machine.handle(at, event);
        while let Some(action) = self.machine.poll_action() {
            // The eBPF program, which is where the packet is, carries a new window out: it has had swnd since the last period.
            *rate = action.new_rate().or(*rate);
        }
    }

    /// Delivers the timeouts that are due before `until`, each at its instant.
    fn timeouts_until(&mut self, until: Instant, queue: u64, rate: &mut Option<(BitRate, Duration)>) {
        let mut last = None;
        while let Some(due) = self.machine.next_timeout().filter(|&due| due < until && Some(due) != last) {
            let view = self.between(queue);
            self.tell(due, LinkEvent::Timeout { queue: view }, rate);
            last = Some(due);
        }
    }

    /// A queue between two readings.
    fn between(&self, queue: u64) -> QueueView {
        split(queue, self.packet)
    }

    /// A queue as it was read: the packet at its head waits for tokens, which is what a transmitter does while it sends.
    fn view(&self, queue: u64, reading: Reading) -> QueueView {
        split(queue, reading.backlog.checked_div(reading.packets).unwrap_or(self.packet))
    }

    /// The window that a gateway suggests now, from an MTU to 2^30 bytes.
    pub(super) fn window(&self) -> Option<Bytes> {
        self.estimates().windows.map(|windows| Bytes::new(windows.window as u64))
    }
}

/// How many events stand for so many packets; at least one where there are bytes, whatever the count says.
fn pieces(packets: u64, bytes: u64) -> u64 {
    packets.clamp(u64::from(bytes > 0), MOST_EVENTS)
}

/// The n-th of `of` parts of a whole that add up to it.
fn share(whole: u64, n: u64, of: u64) -> u64 {
    let until = |n: u64| u128::from(whole) * u128::from(n) / u128::from(of);
    u64::try_from(until(n + 1) - until(n)).unwrap_or(u64::MAX)
}

fn split(queue: u64, packet: u64) -> QueueView {
    let in_service = queue.min(packet);
    QueueView { waiting: Bytes::new(queue - in_service), in_service: Bytes::new(in_service) }
}

#[cfg(test)]
mod tests;
