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
use crate::tape::OnTape;
use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{Gateway, GatewayAction, GatewayConfig, GatewayEvent};
use netlull_mechanism::rate::{
    Admission, Earth, EarthConfig, PractRa, PractRaConfig, QueueView, RateAction, RateEvent,
};
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

/// A mechanism with its parameters, checked.
#[derive(Clone, Debug, PartialEq)]
pub enum MechanismConfig {
    /// AWM, C-EARTH or both.
    Gateway(Box<GatewayConfig>),
    /// practRA.
    PractRa(PractRaConfig),
    /// EARTH.
    Earth(EarthConfig),
}

/// The machine of a link.
#[derive(Debug)]
enum Controller {
    Gateway(OnTape<Gateway>),
    PractRa(OnTape<PractRa>),
    Earth(OnTape<Earth>),
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
    controller: Controller,
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

impl MechanismConfig {
    /// The lowest rate in bit/s that it chooses, and the parameter that says it; `None` for a mechanism that leaves the rate alone.
    #[must_use]
    pub fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        match self {
            Self::Gateway(config) => config.c_earth.as_ref().map(|c_earth| ("min_rate", c_earth.min)),
            Self::PractRa(config) => Some(("the lowest of rates", config.rates.lowest())),
            Self::Earth(config) => Some(("the lowest of rates", config.rates.lowest())),
        }
    }

    fn build(&self, start: Instant, name: &str, tape: Option<&Path>) -> Result<Controller> {
        let refused = |error| LiveError::system(name, error);
        Ok(match (self, tape) {
            (Self::Gateway(config), None) => Controller::Gateway(OnTape::blank(&**config, start).map_err(refused)?),
            (Self::PractRa(config), None) => Controller::PractRa(OnTape::blank(config, start).map_err(refused)?),
            (Self::Earth(config), None) => Controller::Earth(OnTape::blank(config, start).map_err(refused)?),
            (Self::Gateway(config), Some(file)) => Controller::Gateway(OnTape::recorded(&**config, start, name, file)?),
            (Self::PractRa(config), Some(file)) => Controller::PractRa(OnTape::recorded(config, start, name, file)?),
            (Self::Earth(config), Some(file)) => Controller::Earth(OnTape::recorded(config, start, name, file)?),
        })
    }
}

impl Driver {
    /// A driver of a machine that begins at `start` before a queue with the counters `reading`; recorded if there is a tape.
    ///
    /// # Errors
    /// If a value of `config` is out of range, or the tape cannot be written.
    pub fn new(
        config: &MechanismConfig,
        start: Instant,
        reading: Reading,
        name: &str,
        tape: Option<&Path>,
    ) -> Result<Self> {
        let controller = config.build(start, name, tape)?;
        Ok(Self { controller, last: reading, at: start, packet: FIRST_PACKET })
    }

    /// The rate in bit/s that the machine wants now.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        match &self.controller {
            Controller::Gateway(gateway) => gateway.machine().rate(),
            Controller::PractRa(practra) => practra.machine().rate(),
            Controller::Earth(earth) => earth.machine().rate(),
        }
    }

    /// swnd in bytes, N and RTT, where there are such.
    #[must_use]
    pub fn gateway(&self) -> Option<&Gateway> {
        match &self.controller {
            Controller::Gateway(gateway) => Some(gateway.machine()),
            Controller::PractRa(_) | Controller::Earth(_) => None,
        }
    }

    /// How many times the machine has changed the rate.
    #[must_use]
    pub fn changes(&self) -> u64 {
        match &self.controller {
            Controller::Gateway(gateway) => gateway.machine().changes(),
            Controller::PractRa(practra) => practra.machine().changes(),
            Controller::Earth(earth) => earth.machine().changes(),
        }
    }

    /// The recording ends.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn finish(&mut self) -> Result<()> {
        match &mut self.controller {
            Controller::Gateway(gateway) => gateway.finish(),
            Controller::PractRa(practra) => practra.finish(),
            Controller::Earth(earth) => earth.finish(),
        }
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
        self.tell_time(now, end, &mut rate);
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
                        self.arrival(at, Bytes::new(size), admission, view, rate);
                    }
                }
            }
            Happening::Departure { bytes } => {
                *queue = queue.saturating_sub(bytes);
                let queue = self.between(*queue);
                match &mut self.controller {
                    Controller::Gateway(machine) => gateway(machine, at, GatewayEvent::Departure { queue }, rate),
                    Controller::PractRa(machine) => link(machine, at, RateEvent::Departure { queue }, rate),
                    Controller::Earth(machine) => link(machine, at, RateEvent::Departure { queue }, rate),
                }
            }
            Happening::Seen(sighting) => {
                let queue = self.between(*queue);
                let Controller::Gateway(machine) = &mut self.controller else { return };
                let segment = sighting.segment;
                let event = match sighting.direction {
                    // Its bytes are among those that are spread.
                    Direction::Forward => {
                        GatewayEvent::Arrival { admission: Admission::Accepted, queue, segment: Some(segment) }
                    }
                    // A window whose scale is not known is not rewritten: it is as good as none.
                    Direction::Backward => {
                        GatewayEvent::Acknowledgement { segment, window: sighting.window.unwrap_or(Bytes::ZERO) }
                    }
                };
                gateway(machine, at, event, rate);
            }
        }
    }

    fn arrival(
        &mut self,
        at: Instant,
        size: Bytes,
        admission: Admission,
        queue: QueueView,
        rate: &mut Option<(BitRate, Duration)>,
    ) {
        let of_link = RateEvent::Arrival { size, admission, queue };
        match &mut self.controller {
            Controller::Gateway(machine) => {
                gateway(machine, at, GatewayEvent::Arrival { admission, queue, segment: None }, rate);
            }
            Controller::PractRa(machine) => link(machine, at, of_link, rate),
            Controller::Earth(machine) => link(machine, at, of_link, rate),
        }
    }

    /// Delivers the timeouts that are due before `until`, each at its instant.
    fn timeouts_until(&mut self, until: Instant, queue: u64, rate: &mut Option<(BitRate, Duration)>) {
        let mut last = None;
        while let Some(due) = self.next_timeout().filter(|&due| due < until && Some(due) != last) {
            let view = self.between(queue);
            self.tell_time(due, view, rate);
            last = Some(due);
        }
    }

    fn tell_time(&mut self, at: Instant, queue: QueueView, rate: &mut Option<(BitRate, Duration)>) {
        match &mut self.controller {
            Controller::Gateway(machine) => gateway(machine, at, GatewayEvent::Timeout { queue }, rate),
            Controller::PractRa(machine) => link(machine, at, RateEvent::Timeout { queue }, rate),
            Controller::Earth(machine) => link(machine, at, RateEvent::Timeout { queue }, rate),
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        match &self.controller {
            Controller::Gateway(machine) => machine.next_timeout(),
            Controller::PractRa(machine) => machine.next_timeout(),
            Controller::Earth(machine) => machine.next_timeout(),
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
        self.gateway().filter(|gateway| gateway.steers()).map(|gateway| Bytes::new(gateway.window() as u64))
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

fn gateway(machine: &mut OnTape<Gateway>, at: Instant, event: GatewayEvent, asked: &mut Option<(BitRate, Duration)>) {
    machine.handle(at, event);
    while let Some(action) = machine.poll_action() {
        match action {
            GatewayAction::SetRate { rate, pause } => *asked = Some((rate, pause)),
            // Carried out where the packet is: the eBPF program has had swnd since the last period.
            GatewayAction::SetWindow(_) => {}
        }
    }
}

fn link<M>(machine: &mut OnTape<M>, at: Instant, event: RateEvent, asked: &mut Option<(BitRate, Duration)>)
where
    M: crate::tape::Taped + Machine<Event = RateEvent, Action = RateAction>,
{
    machine.handle(at, event);
    while let Some(RateAction::SetRate { rate, pause }) = machine.poll_action() {
        *asked = Some((rate, pause));
    }
}

#[cfg(test)]
mod tests;
