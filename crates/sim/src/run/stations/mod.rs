//! Stations: radios that sleep, machines that control them, and access points that buffer packets.
//!
//! ```text
//!              AP buffers?                  awake? else missed
//!   network ──► [gate] ──► link down ──► [radio] ──► host's TCP
//!   network ◄──────────────  link up ◄── [radio] ◄── host's TCP
//!                                wakes for transmissions
//! ```
//!
//! Frames that are not packets (beacons, polls, null frames) take transmission time and energy, but no room in a
//! link's queue.
//!
//! Actions due at the same instant have this order:
//!
//! 1. The radio is awake.
//! 2. The machine's timeout.
//! 3. The access point's timeout.
//! 4. The end of a beacon.
//! 5. The arrival of a poll at the access point.
//! 6. The start of an announcement.
//! 7. The access point's next packet.
//! 8. The radio falls asleep.
//!
//! At the end of a turn, the world processes the packets sent by the radio and by the access point
//! (`World::follow_sent`).

mod station;
mod summary;

pub(super) use station::Station;
pub use summary::StationSummary;
pub(super) use summary::summaries;

use super::control::header;
use super::error::RunError;
use super::net::Net;
use super::observers::Observers;
use crate::net::ids::{FlowId, LinkId, NodeId, StationId};
use crate::net::link::{Admission, Offered};
use crate::net::packet::Packet;
use crate::probe::{AirRow, AirTime};
use crate::scenario::Scenario;
use netlull_mechanism::gateway::SegmentKind;
use netlull_mechanism::radio::{AccessAction, AccessEvent};
use netlull_mechanism::station::{PacketView, StationAction, StationEvent, TcpView};
use netlull_mechanism::{ConfigError, Machine};
use netlull_network::outcome::StationOutcome;
use netlull_network::radio::{Carried, Coming};
use netlull_network::station::Snapshot;
use netlull_tcp::Flags;
use netlull_units::{Bytes, Instant};
use station::{Acknowledging, Due, Frame, Heard};
use std::collections::VecDeque;
use summary::outcome;

/// A PS-Poll frame in bytes (IEEE 802.11 section 9.3.1.5): frame control, AID, two addresses, FCS.
const POLL_BYTES: u32 = 20;
/// A null data frame in bytes (IEEE 802.11 section 9.3.2): a header of 24 and the FCS.
const NULL_BYTES: u32 = 28;

/// All stations of a run.
pub(super) struct Stations {
    each: Vec<Station>,
    /// Packets that their links have decided on, for the world to process.
    sent: VecDeque<Sent>,
}

/// A packet sent by a radio or an access point.
pub(super) struct Sent {
    pub link: LinkId,
    pub packet: Packet,
    pub given: Given,
}

/// The result of passing a packet to a link.
#[derive(Clone, Copy)]
pub(super) enum Given {
    /// The link has decided. It does not store a packet whose arrival time it returns.
    Queued(Offered),
    /// The link has decided and stores an accepted packet, because every packet is watched.
    Watched(Admission),
}

impl Given {
    fn is_taken(self) -> bool {
        matches!(self, Self::Queued(Offered::Arrives(_) | Offered::Held) | Self::Watched(Admission::Accepted))
    }

    /// Returns true if the packet was transmitted and lost.
    fn is_lost(self) -> bool {
        matches!(self, Self::Queued(Offered::Refused(Admission::Lost)) | Self::Watched(Admission::Lost))
    }
}

/// A request of a station's machine to its host.
pub(super) enum Demand {
    /// A new window in the packet shown to the machine, or the largest window of the next acknowledgement.
    Window(Bytes),
    /// The packet shown to the machine is not sent.
    Withhold,
    /// An acknowledgement of all data received by a connection.
    Acknowledge {
        /// The connection's number, unchecked.
        connection: u32,
    },
}

/// A machine's decision on the packet shown to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outgoing {
    AsItIs,
    Within(Bytes),
    Withheld,
}

/// The result of inspecting a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attended {
    /// The packet continues.
    GoesOn,
    /// The packet is held, refused or missed.
    Taken,
}

/// An access point's decision on a packet for its station.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Kept,
    Refused,
}

/// A radio's result for a packet that arrives over the air.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearing {
    Missed,
    /// `more` is true if its More Data bit is set.
    Heard {
        more: bool,
    },
}

impl Stations {
    /// The stations of a scenario.
    ///
    /// # Errors
    /// If a station's machine or access point cannot be built.
    pub fn new(scenario: &Scenario) -> Result<Self, RunError> {
        let each = scenario.stations.iter().map(|spec| Station::new(spec, scenario));
        Ok(Self { each: each.collect::<Result<_, _>>()?, sent: VecDeque::new() })
    }

    /// Sets the first event of each.
    pub fn start(&mut self, net: &mut Net) {
        for (id, station) in StationId::all(self.each.len()).zip(&self.each) {
            arm(id, station, net);
        }
    }

    /// All stations.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Station> {
        self.each.iter()
    }

    /// The station at a node.
    pub fn at_node(&self, node: NodeId) -> Option<StationId> {
        let place = self.each.iter().position(|station| station.node == node)?;
        Some(StationId::new(place))
    }

    /// The node of a station.
    pub fn node(&self, id: StationId) -> NodeId {
        self.each[id.index()].node
    }

    /// The link to a station.
    pub fn down(&self, id: StationId) -> LinkId {
        self.each[id.index()].down
    }

    /// The next sent packet for the world to process.
    pub fn next_sent(&mut self) -> Option<Sent> {
        self.sent.pop_front()
    }

    /// A station's turn at this instant.
    pub fn turn<'a>(&'a mut self, id: StationId, net: &'a mut Net, observers: &'a mut Observers) -> Turn<'a> {
        Turn { id, station: &mut self.each[id.index()], sent: &mut self.sent, net, observers }
    }

    /// The name on the air and the largest window if a packet is the acknowledgement that a station's machine has
    /// requested.
    pub fn asked_for(&mut self, id: StationId, view: &PacketView) -> Option<(&'static str, Option<Bytes>)> {
        let station = &mut self.each[id.index()];
        match &mut station.acknowledging {
            Some(Acknowledging { window, shown }) if shown.is_none() && view.is_acknowledgement() => {
                *shown = Some(*view);
                let window = *window;
                Some((station.acknowledgement(), window))
            }
            _ => None,
        }
    }

    /// Starts an acknowledgement that the machine has requested, with a window of at most `window`.
    pub fn begin_acknowledging(&mut self, id: StationId, window: Option<Bytes>) {
        self.each[id.index()].acknowledging = Some(Acknowledging { window, shown: None });
    }

    /// Ends the acknowledgement. Returns the sent packet, or `None` if there was nothing to acknowledge.
    pub fn end_acknowledging(&mut self, id: StationId) -> Option<PacketView> {
        self.each[id.index()].acknowledging.take()?.shown
    }

    /// Counts an acknowledgement that closes the window.
    pub fn count_closed(&mut self, id: StationId) {
        self.each[id.index()].counters.counts.closed_acks += 1;
    }

    /// Counts an acknowledgement that the machine withholds.
    pub fn count_withheld(&mut self, id: StationId) {
        self.each[id.index()].counters.withheld_acks += 1;
    }

    /// The download of a station begins.
    pub fn download_begins(&mut self, id: StationId, net: &Net) {
        let snapshot = self.snapshot(id, net);
        self.each[id.index()].download_begins(snapshot);
    }

    /// A flow of a download is delivered.
    pub fn download_over(&mut self, id: StationId, flow: FlowId, net: &Net) {
        let snapshot = self.snapshot(id, net);
        self.each[id.index()].download_over(snapshot, flow);
    }

    /// Starts the measured time of stations.
    pub fn start_measuring(&mut self, net: &Net) {
        for id in StationId::all(self.each.len()) {
            let snapshot = self.snapshot(id, net);
            self.each[id.index()].restart(snapshot);
        }
    }

    /// The counts of the stations up to now.
    pub fn outcomes(&self, net: &Net) -> Vec<StationOutcome> {
        let ids = StationId::all(self.each.len());
        ids.zip(&self.each).map(|(id, station)| outcome(station, self.snapshot(id, net))).collect()
    }

    /// The current counters of a station, including the received part of a packet in transmission.
    fn snapshot(&self, id: StationId, net: &Net) -> Snapshot {
        let station = &self.each[id.index()];
        station.snapshot(net.now, coming(station, net))
    }
}

/// A station that acts at this instant.
pub(super) struct Turn<'a> {
    id: StationId,
    station: &'a mut Station,
    sent: &'a mut VecDeque<Sent>,
    net: &'a mut Net,
    observers: &'a mut Observers,
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
        }
    }

    /// Performs the machine's actions up to its next request to the host; `None` if there are no more.
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
        self.net.fail(self.station.conduct.error(self.net.now, error));
    }

    /// Counts an action or a timeout of the machine. Ends the run if there are too many at this instant.
    fn is_over_limit(&mut self) -> bool {
        let counted = self.station.conduct.count(self.net.now);
        counted.map_err(|error| self.net.fail(error)).is_err()
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
                let (view, given) = (view(&packet, shift), self.give(up, &mut packet));
                let ends = match given {
                    _ if given.is_taken() => Some(self.net.links[up].free_at()),
                    // A packet lost on the air was still transmitted.
                    _ if given.is_lost() => None,
                    _ => return,
                };
                let carried = |to| Carried { from: self.net.links[up].air_begins(to, packet.size), to };
                let (from, to) = self.station.radio.transmits(now, packet.size, ends.map(carried));
                self.record(|| AirRow::packet(name, AirTime { from, to }, &view));
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
            Given::Watched(queue.offer(now, *packet, &mut self.net.schedule))
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
        access.handle(now, event);
        while let Some(action) = self.station.access.as_mut().and_then(Machine::poll_action) {
            match action {
                AccessAction::Release { packets, more } => self.release(packets, more),
                AccessAction::Beacon { buffered } => self.beacon(buffered),
                // These actions answer the arrival of a packet, in `enter_air`.
                AccessAction::Forward | AccessAction::Hold | AccessAction::Refuse => {}
            }
        }
        self.arm();
    }

    /// Handles a packet for the station at its access point.
    pub fn enter_air(&mut self, packet: &mut Packet) -> Entry {
        let (now, station) = (self.net.now, &mut *self.station);
        let answer = match &mut station.access {
            None => AccessAction::Forward,
            Some(access) => {
                access.handle(now, AccessEvent::Arrival);
                access.poll_action().unwrap_or(AccessAction::Forward)
            }
        };
        match answer {
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

/// Sets a station's event.
fn arm(id: StationId, station: &Station, net: &mut Net) {
    let next = station.next(net.now);
    net.set_event(net.order.station(id), next);
}

/// The packet in transmission to a station, if there is one.
fn coming(station: &Station, net: &Net) -> Option<Coming> {
    net.links[station.down].head_arrives().map(|(arrives, size)| Coming { arrives, size })
}

/// The view of a packet at one of its ends. `shift` is the shift of its window.
pub(super) fn view(packet: &Packet, shift: u8) -> PacketView {
    let segment = &packet.segment;
    // A datagram, or a reset without an acknowledgement, has no TCP view.
    let Some((kind, timestamps)) = header(segment) else {
        return PacketView { size: packet.size, segment: None };
    };
    // RFC 7323 section 2.2: the window of a SYN is never scaled.
    let shift = if kind == SegmentKind::Other { shift } else { 0 };
    let tcp = TcpView {
        connection: packet.agent.flow().number(),
        kind,
        fin: segment.flags.contains(Flags::FIN),
        seq: segment.seq.as_u32(),
        len: u32::from(segment.len),
        acknowledged: segment.flags.contains(Flags::ACK).then(|| segment.ack.as_u32()),
        window: Bytes::new(u64::from(segment.window) << shift),
        timestamps,
    };
    PacketView { size: packet.size, segment: Some(tcp) }
}
