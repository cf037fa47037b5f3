//! Translates periodic counter readings into a machine's events, and its actions into a decision per period.
//!
//! In the simulator, machines receive every packet. Here the queue's counters are read every few milliseconds. The
//! counters give the number of arrivals and departures between two readings, but not their times. They are spread
//! evenly:
//!
//! ```text
//!   reading ──┬──a──d──a──d──a──d──a──d──┬── reading      arrivals and departures at equal distances, the queue after each;
//!             q                          q                bytes are conserved; reported segments keep their own times
//! ```
//!
//! Every byte that arrives or leaves is in an event of its kind. Sums over events (AWM's queue term, a forecast's
//! samples, C-EARTH's accumulation) therefore equal those over packets. Only the order within a period differs. A
//! machine's timeouts are delivered at the requested instants. Each period ends with a timeout event that shows the
//! queue as read.

use super::segment::{Direction, Sighting};
use crate::error::{LiveError, Result};
use crate::tape::{LinkSetup, OnTape};
use netlull_mechanism::Machine;
use netlull_mechanism::link::{self, Controller as _, Estimates, LinkEvent};
use netlull_mechanism::rate::{Admission, QueueView};
use netlull_network::driver::{Driver, Line};
use netlull_network::plan::InService;
use netlull_network::transmission::RateChange;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::path::Path;

/// The counters of a queue since its creation, and its backlog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The bytes that have left the queue.
    pub sent_bytes: u64,
    /// The packets that have left the queue.
    pub sent_packets: u64,
    /// The packets dropped because the queue was full.
    pub drops: u64,
    /// The backlog in bytes.
    pub backlog: u64,
    /// The backlog in packets.
    pub packets: u64,
}

/// The decision at the end of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The new rate of the link and the duration of the change; `None` if the rate stays the same.
    pub rate: Option<(BitRate, Duration)>,
    /// swnd, never below its floor; `None` for a mechanism that does not control windows.
    pub window: Option<Bytes>,
}

/// The maximum number of arrival events between two readings, and of departure events; beyond it, packets are merged.
const MOST_EVENTS: u64 = 64;
/// The assumed size of a packet in bytes before the first measurement.
const FIRST_PACKET: u64 = 1514;

/// A machine that counter readings drive.
#[derive(Debug)]
pub struct Readings {
    driver: Driver<OnTape<link::Running>>,
    last: Reading,
    at: Instant,
    /// The mean packet size in bytes of the last period with packets.
    packet: u64,
}

/// The link in a period: it takes the last rate at the period's end. The machine is asked for its timeouts.
#[derive(Debug, Default)]
struct Period {
    rate: Option<(BitRate, Duration)>,
}

impl Line for Period {
    fn change_rate(&mut self, _: Instant, change: RateChange) {
        self.rate = Some((change.rate, change.pause));
    }

    fn set_timer(&mut self, _: Instant) {}
}

/// An event within a period.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// The arrival of accepted and dropped bytes.
    Arrival { accepted: u64, dropped: u64 },
    /// The departure of bytes.
    Departure { bytes: u64 },
    /// The passage of a reported segment.
    Seen(Sighting),
}

impl Readings {
    /// Creates the machine, which starts at `start`, with the queue's counters at that time. With a tape,
    /// events are recorded.
    ///
    /// # Errors
    /// If a value of `setup` is out of range, or the tape cannot be written.
    pub fn new(setup: &LinkSetup, start: Instant, reading: Reading, name: &str, tape: Option<&Path>) -> Result<Self> {
        let machine = match tape {
            None => OnTape::blank(setup, start).map_err(|error| LiveError::system(name, error))?,
            Some(file) => OnTape::recorded(setup, start, name, file)?,
        };
        let driver = Driver::new(machine, setup.link, InService::default());
        Ok(Self { driver, last: reading, at: start, packet: FIRST_PACKET })
    }

    fn machine(&self) -> &OnTape<link::Running> {
        self.driver.machine()
    }

    /// The rate that the machine currently requests.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.machine().rate()
    }

    /// The current estimates: swnd, N and RTT, as far as the mechanism has them.
    #[must_use]
    pub fn estimates(&self) -> Estimates {
        self.machine().estimates()
    }

    /// The number of rate changes by the machine.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.machine().changes()
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// If the recording could not be written.
    pub fn finish(&mut self) -> Result<()> {
        self.driver.machine_mut().finish()
    }

    /// Processes a period that ends at `now` with `reading`. `seen` contains the segments reported in the period with
    /// their instants, in any order. Instants outside the period move to its nearer end.
    pub fn period(&mut self, now: Instant, reading: Reading, seen: &[(Instant, Sighting)]) -> Decision {
        let now = now.max(self.at);
        let mut list = self.happenings(now, reading);
        list.extend(seen.iter().map(|&(at, sighting)| (at.clamp(self.at, now), Happening::Seen(sighting))));
        // Stable: events at the same instant stay in the order in which they were reported.
        list.sort_by_key(|&(at, _)| at);
        let mut period = Period::default();
        let mut queue = self.last.backlog;
        for (at, happening) in list {
            self.timeouts_until(at, queue, &mut period);
            self.happens(at, happening, &mut queue, &mut period);
        }
        self.timeouts_until(now, queue, &mut period);
        let end = self.view(reading.backlog, reading);
        self.tell(now, LinkEvent::Timeout { queue: end }, &mut period);
        (self.last, self.at) = (reading, now);
        Decision { rate: period.rate, window: self.window() }
    }

    /// The arrivals and departures since the last reading, evenly spread. A counter that has decreased, as that of a
    /// new queue, gives no events.
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

    fn happens(&mut self, at: Instant, happening: Happening, queue: &mut u64, period: &mut Period) {
        match happening {
            Happening::Arrival { accepted, dropped } => {
                *queue += accepted;
                let view = self.between(*queue);
                for (size, admission) in [(accepted, Admission::Accepted), (dropped, Admission::Dropped)] {
                    if size > 0 {
                        let size = Bytes::new(size);
                        self.tell(at, LinkEvent::Arrival { size, admission, queue: view, segment: None }, period);
                    }
                }
            }
            Happening::Departure { bytes } => {
                *queue = queue.saturating_sub(bytes);
                let queue = self.between(*queue);
                self.tell(at, LinkEvent::Departure { queue }, period);
            }
            Happening::Seen(sighting) => {
                let queue = self.between(*queue);
                if !self.machine().reads_segments() {
                    return;
                }
                let segment = sighting.segment;
                let event = match sighting.direction {
                    // Its bytes are already among the evenly spread ones.
                    Direction::Forward => {
                        let (size, admission) = (Bytes::ZERO, Admission::Accepted);
                        LinkEvent::Arrival { size, admission, queue, segment: Some(segment) }
                    }
                    // A window with an unknown scale is not rewritten, so it counts as zero.
                    Direction::Backward => {
                        LinkEvent::Acknowledgement { segment, window: sighting.window.unwrap_or(Bytes::ZERO) }
                    }
                };
                self.tell(at, event, period);
            }
        }
    }

    /// Delivers an event to the machine. The eBPF program has the packet and applies the window: it has known swnd since
    /// the last period. A machine that fails says so, and gets no more events.
    fn tell(&mut self, at: Instant, event: LinkEvent, period: &mut Period) {
        if let Err(error) = self.driver.tell(at, event, period) {
            self.machine().given_up(&error);
        }
    }

    /// Delivers the timeouts due before `until`, each at its instant.
    fn timeouts_until(&mut self, until: Instant, queue: u64, period: &mut Period) {
        let mut last = None;
        while let Some(due) = self.machine().next_timeout().filter(|&due| due < until && Some(due) != last) {
            let view = self.between(queue);
            self.tell(due, LinkEvent::Timeout { queue: view }, period);
            last = Some(due);
        }
    }

    /// The view of a queue between two readings.
    fn between(&self, queue: u64) -> QueueView {
        split(queue, self.packet)
    }

    /// The view of a queue at a reading. The packet at its head waits for tokens, like a packet in transmission.
    fn view(&self, queue: u64, reading: Reading) -> QueueView {
        split(queue, reading.backlog.checked_div(reading.packets).unwrap_or(self.packet))
    }

    /// The window that the gateway currently imposes, from an MTU to 2^30 bytes.
    pub(super) fn window(&self) -> Option<Bytes> {
        self.estimates().windows.map(|windows| Bytes::new(windows.window as u64))
    }
}

/// The number of events for a number of packets; at least one if there are bytes.
fn pieces(packets: u64, bytes: u64) -> u64 {
    packets.clamp(u64::from(bytes > 0), MOST_EVENTS)
}

/// The n-th of `of` integer parts whose sum is the whole.
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
