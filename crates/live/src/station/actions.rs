//! A machine's events and actions: sleep, windows, acknowledgements on behalf of the host, frames.

use super::flows::Entry;
use super::{LiveStation, Who};
use crate::tape::OnTape;
use netlull_mechanism::station::{self, PacketView, PowerMode, StationAction, StationEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_network::probe::AirTime;
use netlull_units::{Bytes, Instant};
use std::collections::VecDeque;

/// The decision on a packet received over the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The host receives it.
    Deliver,
    /// The radio did not hear it, and it is lost.
    Missed,
}

/// The state of a received packet's TCP checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Unknown; the station verifies it.
    Unknown,
    /// Verified by the device or the kernel.
    Verified,
}

/// A beacon on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacon {
    /// The instant of its first bit.
    pub from: Instant,
    /// The instant of its last bit.
    pub until: Instant,
    /// Its traffic indication for the station: packets are held.
    pub buffered: bool,
}

/// The decision on a packet that the host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendVerdict {
    /// Sends it.
    Send,
    /// Holds it until the radio has woken. Packets leave in the order of their calls.
    HoldUntil(Instant),
    /// Drops it. The radio sleeps and the peer has already received its content on behalf of the host, or the machine
    /// withholds it for a later acknowledgement.
    Redundant,
}

/// A packet or frame of the station's own, and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The departure, or the instant at which a poll takes effect; not before the radio is awake.
    pub at: Instant,
    /// Its content.
    pub what: Sent,
}

/// A packet or frame of the station's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A whole IP packet: an acknowledgement on behalf of the host.
    Packet(Vec<u8>),
    /// A poll for packets that the access point has buffered.
    Poll,
    /// An announcement that the station hears from now on, or that it does not.
    Announce(PowerMode),
}

/// A PS-Poll frame in bytes (IEEE 802.11 section 9.3.1.5).
const POLL_BYTES: u32 = 20;
/// A null data frame in bytes (IEEE 802.11 section 9.3.2).
const NULL_BYTES: u32 = 28;

/// A machine's change of a packet of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rewrite<W> {
    Nothing,
    Window(W),
    Withheld,
}

impl<W> Rewrite<W> {
    fn window(self) -> Option<W> {
        match self {
            Self::Window(window) => Some(window),
            Self::Nothing | Self::Withheld => None,
        }
    }
}

impl LiveStation {
    /// Delivers an event to a machine now.
    pub(super) fn tell(&mut self, now: Instant, who: Who, event: StationEvent) -> Rewrite<Bytes> {
        self.tell_at(now, now, who, event)
    }

    /// Delivers an event at `at` to a machine and performs its actions; packets are sent `now`. Returns the change of the
    /// event's packet.
    pub(super) fn tell_at(&mut self, mut at: Instant, now: Instant, who: Who, event: StationEvent) -> Rewrite<Bytes> {
        let (mut rewrite, mut next) = (Rewrite::Nothing, Some(event));
        let mut acknowledged = VecDeque::new();
        while let Some(event) = next {
            let Some(machine) = self.machine(who) else { return Rewrite::Nothing };
            machine.handle(at, event);
            let failure = machine.failure().cloned();
            self.failure = self.failure.take().or(failure.map(Box::new));
            // Polled here, because an action may need the rest of the station.
            while let Some(action) = self.machine(who).and_then(Machine::poll_action) {
                match action {
                    StationAction::Sleep => self.wants_sleep(at, who),
                    StationAction::Wake => self.wants_wake(at, who),
                    StationAction::SetWindow(bytes) => rewrite = Rewrite::Window(bytes),
                    StationAction::Withhold => rewrite = Rewrite::Withheld,
                    StationAction::Acknowledge { connection } => {
                        let limit = std::mem::replace(&mut rewrite, Rewrite::Nothing).window();
                        let packet = self.acknowledge(now, connection, limit);
                        acknowledged.extend(packet.map(|packet| StationEvent::Acknowledged { packet }));
                    }
                    StationAction::Poll => self.polls(now),
                    StationAction::Announce(mode) => self.announces(now, mode),
                }
            }
            // An acknowledgement takes effect when it is sent.
            at = now;
            self.count_burst(who);
            next = acknowledged.pop_front();
        }
        if let Who::Connection(number) = who {
            self.flows.arm(number);
        }
        rewrite
    }

    /// The reason of the first machine that works no more.
    #[must_use]
    pub fn failure(&self) -> Option<&ConfigError> {
        self.failure.as_deref()
    }

    fn machine(&mut self, who: Who) -> Option<&mut OnTape<station::Running>> {
        match who {
            Who::All => self.machine.as_mut(),
            Who::Connection(number) => self.flows.get(number)?.machine.as_mut(),
        }
    }

    fn wants_sleep(&mut self, at: Instant, who: Who) {
        if let Who::Connection(number) = who {
            if let Some(entry) = self.flows.get(number) {
                entry.consents = true;
            }
            if !self.all_consent(at) {
                return;
            }
        }
        self.radio.sleep(at);
    }

    fn wants_wake(&mut self, at: Instant, who: Who) {
        if let Who::Connection(number) = who
            && let Some(entry) = self.flows.get(number)
        {
            entry.consents = false;
        }
        self.radio.wake(at);
    }

    fn all_consent(&self, at: Instant) -> bool {
        let quiet = |active: Instant| at.saturating_since(active) >= self.config.quiet;
        self.others.is_none_or(quiet) && self.flows.entries().all(|entry| entry.consents || quiet(entry.flow.active))
    }

    /// Sends an acknowledgement on the host's behalf, with a window of at most `limit`, and returns its view.
    pub(super) fn acknowledge(&mut self, now: Instant, number: u32, limit: Option<Bytes>) -> Option<PacketView> {
        let entry = self.flows.get(number)?;
        let kind = if entry.shaping().is_some_and(|shaping| shaping.opens) { "open" } else { "eager" };
        let (bytes, packet) = entry.flow.acknowledgement(now, limit)?;
        let (at, to) = self.radio.transmits(now, packet.size);
        self.records.packet(kind, AirTime { from: at, to }, || packet);
        self.counters.own_acks += 1;
        self.counters.sent_packets += 1;
        self.outputs.push_back(Output { at: self.leaves(now, at), what: Sent::Packet(bytes) });
        Some(packet)
    }

    /// The instant at which a packet leaves the host: at once, but not before the radio is awake at `on_air`.
    fn leaves(&self, now: Instant, on_air: Instant) -> Instant {
        if self.radio.is_awake() { now } else { on_air }
    }

    fn polls(&mut self, now: Instant) {
        let Some(poll_time) = self.config.access_point().map(|access| access.poll_time) else { return };
        let (from, to) = self.radio.transmits(now, POLL_BYTES);
        self.counters.counts.polls += 1;
        self.records.frame("poll", AirTime { from, to }, POLL_BYTES);
        self.outputs.push_back(Output { at: (from + poll_time).max(to), what: Sent::Poll });
    }

    fn announces(&mut self, now: Instant, mode: PowerMode) {
        let (from, to) = self.radio.transmits(now, NULL_BYTES);
        self.records.frame("null", AirTime { from, to }, NULL_BYTES);
        self.outputs.push_back(Output { at: from, what: Sent::Announce(mode) });
    }

    /// Counts a burst that ended since the last call.
    fn count_burst(&mut self, who: Who) {
        let Who::Connection(number) = who else { return };
        let Some(burst) = self.flows.get(number).and_then(Entry::take_burst) else { return };
        self.records.burst(burst);
        self.counters.counts.bursts += 1;
        self.counters.waits.count(&burst, self.radio.awake_since());
    }
}
