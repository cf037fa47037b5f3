//! A station's turn: everything that it does at one instant.

use super::station::{Due, Frame, Heard, Station};
use super::{Demand, Entry, Given, Hearing, Sent, arm, coming, view};
use crate::net::flight::Packet;
use crate::net::ids::{LinkId, StationId};
use crate::probe::{AirRow, AirTime};
use crate::run::net::Net;
use crate::run::observers::Observers;
use netlull_mechanism::radio::{AccessAction, AccessEvent, answer};
use netlull_mechanism::station::{PacketView, Policy as _, StationAction, StationEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_network::radio::Carried;
use netlull_units::Instant;
use std::collections::VecDeque;

/// A PS-Poll frame in bytes (IEEE 802.11 section 9.3.1.5): frame control, AID, two addresses, FCS.
const POLL_BYTES: u32 = 20;
/// A null data frame in bytes (IEEE 802.11 section 9.3.2): a header of 24 and the FCS.
const NULL_BYTES: u32 = 28;

/// A station that acts at this instant.
pub(in crate::run) struct Turn<'a> {
    pub(super) id: StationId,
    pub(super) station: &'a mut Station,
    pub(super) sent: &'a mut VecDeque<Sent>,
    pub(super) net: &'a mut Net,
    pub(super) observers: &'a mut Observers,
}

impl Turn<'_> {
    /// Performs all due actions up to the next event for the machine, and returns that event. Each iteration performs
    /// a single action, after which others may be due.
    pub fn next_event(&mut self) -> Option<StationEvent> {
        let now = self.net.now;
        while let Some(due) = self.station.due(now) {
            match due {
                Due::Awake => self.radio_awake(),
                Due::Machine if self.is_over_limit() => return None,
                Due::Machine => return Some(StationEvent::Timeout),
                Due::AccessPoint => self.tell_access_point(AccessEvent::Timeout),
                Due::Beacon(heard) => return Some(self.hear_beacon(heard)),
                Due::Poll => {
                    self.station.polled_at.pop_front();
                    self.tell_access_point(AccessEvent::Polled);
                }
                Due::Announcement(mode) => {
                    self.station.announcements.pop_front();
                    self.tell_access_point(AccessEvent::Announced(mode));
                }
                Due::Packet => self.send_next(),
                Due::Sleep => self.radio_sleeps(),
            }
        }
        self.arm();
        None
    }

    /// Sets the station's event.
    pub fn arm(&mut self) {
        arm(self.id, self.station, self.net);
    }

    /// Passes an event to the machine. [`Self::next_demand`] returns its requests.
    pub fn tell(&mut self, event: StationEvent) {
        if let Some(machine) = &mut self.station.machine {
            machine.handle(self.net.now, event);
            if let Some(fault) = machine.fault() {
                self.net.fail(self.station.name.error(self.net.now, fault.clone()));
            }
        }
    }

    /// Performs the machine's actions up to its next request to the host; `None` if there are no more.
    ///
    /// It polls the machine itself, because the host acts on a request before the machine's next action.
    pub fn next_demand(&mut self) -> Option<Demand> {
        while let Some(action) = self.station.machine.as_mut().and_then(Machine::poll_action) {
            if self.is_over_limit() {
                return None;
            }
            match action {
                StationAction::Sleep => self.station.radio.wants_sleep(self.net.now),
                StationAction::Wake => self.wake_radio(),
                StationAction::SetWindow(bytes) => return Some(Demand::Window(bytes)),
                StationAction::Withhold => return Some(Demand::Withhold),
                StationAction::Acknowledge { connection } => {
                    return Some(Demand::Acknowledge { connection });
                }
                StationAction::Poll => self.hand_to_radio(Frame::Poll),
                StationAction::Announce(mode) => self.hand_to_radio(Frame::Null(mode)),
            }
        }
        self.record_burst();
        None
    }

    /// Ends the run, because the machine wants an acknowledgement of a connection that does not exist.
    #[cold]
    pub fn refuse_connection(&mut self, connection: u32) {
        let error = ConfigError::new("connection", connection, "the number of a connection in an event");
        self.net.fail(self.station.name.error(self.net.now, error));
    }

    /// Counts an action or a timeout of the machine. Ends the run if there are too many at this instant.
    fn is_over_limit(&mut self) -> bool {
        let now = self.net.now;
        let counted = self.station.at_once.count(now);
        counted.map_err(|error| self.net.fail(self.station.name.error(now, error))).is_err()
    }

    /// Wakes a sleeping radio for a packet of its host.
    pub fn wake_to_send(&mut self) {
        if self.station.radio.is_asleep() {
            self.wake_radio();
        }
    }

    /// Sends a packet of the host, at once or when the radio is awake. `name` is its name on the air, `shift` the
    /// shift of its window.
    pub fn send(&mut self, packet: Packet, name: &'static str, shift: u8) {
        self.hand_to_radio(Frame::Packet { packet, name, shift });
    }

    /// Sends a frame over the radio, at once or when it is awake.
    fn hand_to_radio(&mut self, frame: Frame) {
        if self.station.radio.is_awake() {
            self.transmit(frame);
        } else {
            self.station.waiting.push_back(frame);
            self.wake_to_send();
        }
        self.arm();
    }

    /// Transmits a frame.
    fn transmit(&mut self, frame: Frame) {
        let now = self.net.now;
        match frame {
            Frame::Packet { mut packet, name, shift } => {
                let up = self.station.up;
                let given = self.give(up, &mut packet);
                let ends = match given {
                    _ if given.is_taken() => Some(self.net.links[up].free_at()),
                    // A packet lost on the air was still transmitted.
                    _ if given.is_lost() => None,
                    _ => return,
                };
                let carried = |to| Carried { from: self.net.links[up].air_begins(to, packet.size), to };
                let (from, to) = self.station.radio.transmits(now, packet.size, ends.map(carried));
                self.record(|| AirRow::packet(name, AirTime { from, to }, &view(&packet, shift)));
            }
            Frame::Poll => {
                let (from, to) = self.frame_on_air(POLL_BYTES);
                self.station.counters.counts.polls += 1;
                self.station.polled_at.push_back((from + self.station.poll_time).max(to));
                self.record(|| AirRow::frame("poll", AirTime { from, to }, POLL_BYTES));
            }
            Frame::Null(mode) => {
                let (from, to) = self.frame_on_air(NULL_BYTES);
                self.record(|| AirRow::frame("null", AirTime { from, to }, NULL_BYTES));
                if from <= now {
                    self.tell_access_point(AccessEvent::Announced(mode));
                } else {
                    self.station.announcements.push_back((from, mode));
                }
            }
        }
    }

    /// Passes a packet to one of the station's links, for the world to process.
    fn give(&mut self, link: LinkId, packet: &mut Packet) -> Given {
        let (now, queue) = (self.net.now, &mut self.net.links[link]);
        // A watched packet is followed without the link's mark.
        let given = if self.observers.watching {
            Given::Watched(queue.offer(now, *packet, &mut self.net.schedule, &mut self.net.store))
        } else {
            Given::Queued(queue.queue(now, packet, &mut self.net.schedule))
        };
        self.sent.push_back(Sent { link, packet: *packet, given });
        given
    }

    /// Transmits a frame that is not a packet.
    fn frame_on_air(&mut self, size: u32) -> (Instant, Instant) {
        self.station.counters.frames += 1;
        self.station.counters.frame_bytes += u64::from(size);
        self.station.radio.transmits(self.net.now, size, None)
    }

    /// Wakes the radio if it sleeps, and keeps it awake.
    fn wake_radio(&mut self) {
        let now = self.net.now;
        if self.station.radio.wake(now) {
            self.record_radio("waking");
            if self.station.radio.wakes_at() == Some(now) {
                self.radio_awake();
            }
        }
    }

    /// Completes the wake-up of the radio, and sends the frames that waited for it.
    fn radio_awake(&mut self) {
        self.station.radio.awake(self.net.now);
        self.record_radio("awake");
        while let Some(frame) = self.station.waiting.pop_front() {
            self.transmit(frame);
        }
    }

    /// Puts the radio to sleep after it has sent all its frames.
    fn radio_sleeps(&mut self) {
        self.station.radio.sleep(self.net.now);
        self.station.heard = None;
        self.record_radio("asleep");
    }

    /// Passes an event to an access point's machine.
    fn tell_access_point(&mut self, event: AccessEvent) {
        let now = self.net.now;
        let Some(access) = &mut self.station.access else { return };
        match answer(access, now, event) {
            Some(AccessAction::Release { packets, more }) => self.release(packets, more),
            Some(AccessAction::Beacon { buffered }) => self.beacon(buffered),
            // These actions answer the arrival of a packet, in `enter_air`.
            Some(AccessAction::Forward | AccessAction::Hold | AccessAction::Refuse) | None => {}
        }
        self.arm();
    }

    /// Handles a packet for the station at its access point.
    pub fn enter_air(&mut self, packet: &mut Packet) -> Entry {
        let (now, station) = (self.net.now, &mut *self.station);
        let answer = station.access.as_mut().and_then(|access| answer(access, now, AccessEvent::Arrival));
        match answer.unwrap_or(AccessAction::Forward) {
            AccessAction::Hold => {
                station.held.push_back(*packet);
                station.counters.counts.held_packets += 1;
            }
            AccessAction::Refuse => {
                station.counters.counts.refused_packets += 1;
                return Entry::Refused;
            }
            _ if station.leaving.is_empty() => self.send_down(packet, false),
            _ => station.leaving.push_back((*packet, false)),
        }
        Entry::Kept
    }

    /// Sends a packet from the access point to its station. `more` is the More Data bit.
    fn send_down(&mut self, packet: &mut Packet, more: bool) {
        let given = self.give(self.station.down, packet);
        if self.station.access.is_some() && given.is_taken() {
            self.station.more.push_back(more);
        }
    }

    /// Releases held packets of the access point. The first is sent at once, each other when the channel is free. Thus
    /// none waits in the link's queue.
    fn release(&mut self, packets: u32, more: bool) {
        for left in (0..packets).rev() {
            let Some(packet) = self.station.held.pop_front() else { break };
            self.station.leaving.push_back((packet, left > 0 || more));
        }
        self.send_next();
    }

    /// Sends the access point's next packet if the channel is free.
    fn send_next(&mut self) {
        let now = self.net.now;
        loop {
            let free_at = self.net.links[self.station.down].free_at();
            let station = &mut *self.station;
            station.leaves_at = if station.leaving.is_empty() { Instant::NEVER } else { free_at.max(now) };
            if station.leaves_at > now {
                return;
            }
            let Some((mut packet, more)) = station.leaving.pop_front() else { return };
            self.send_down(&mut packet, more);
        }
    }

    /// Starts a beacon. A radio receives it if it is awake from the first bit on.
    fn beacon(&mut self, buffered: bool) {
        let (now, station) = (self.net.now, &mut *self.station);
        if station.radio.is_awake() {
            station.heard = Some(Heard { from: now, until: now + station.beacon_time, buffered });
        }
    }

    /// Ends a beacon's transmission.
    fn hear_beacon(&mut self, heard: Heard) -> StationEvent {
        let coming = coming(self.station, self.net);
        let station = &mut *self.station;
        station.heard = None;
        station.counters.counts.beacons += 1;
        station.radio.hears(heard.from, heard.until, coming);
        self.record(|| AirRow::frame("beacon", AirTime { from: heard.from, to: heard.until }, 0));
        StationEvent::Beacon { buffered: heard.buffered }
    }

    /// Handles a packet that arrives over the air. The radio receives it if it was awake from the first bit on.
    pub fn hear(&mut self, view: &PacketView) -> Hearing {
        let (now, station) = (self.net.now, &mut *self.station);
        let more = station.more.pop_front().unwrap_or(false);
        let from = station.radio.began(now, view.size);
        if !station.radio.hears(from, now, None) {
            station.counters.counts.missed_packets += 1;
            station.counters.counts.missed_bytes += u64::from(view.size);
            self.record(|| AirRow::packet("missed", AirTime { from, to: now }, view));
            // The radio may have delayed its sleep for the packet.
            self.arm();
            return Hearing::Missed;
        }
        station.counters.counts.received_packets += 1;
        station.counters.received_bytes += u64::from(view.size);
        self.record(|| AirRow::packet("data", AirTime { from, to: now }, view));
        Hearing::Heard { more }
    }

    fn record_radio(&mut self, state: &'static str) {
        if let Some(probe) = &mut self.observers.stations {
            probe.radio(self.net.now, self.id.number(), state);
        }
    }

    fn record(&mut self, row: impl FnOnce() -> AirRow) {
        if let Some(probe) = &mut self.observers.stations {
            probe.air(self.id.number(), &row());
        }
    }

    /// Counts and records a burst whose end the shaper has detected since the last event.
    fn record_burst(&mut self) {
        let Some(burst) = self.station.take_burst() else { return };
        if let Some(probe) = &mut self.observers.stations {
            probe.burst(self.id.number(), &burst);
        }
    }
}
