//! Stations in the world: radios that sleep, the machines that let them, access points that buffer for them.
//!
//! ```text
//!              AP buffers?                  awake? else missed
//!   network ──► [gate] ──► link down ──► [radio] ──► host's TCP
//!   network ◄──────────────  link up ◄── [radio] ◄── host's TCP
//!                                wakes for what is sent
//! ```
//!
//! Frames that are not packets (beacons, polls, null frames) take time on the air and energy, but no room in a link's queue. What is due
//! at one instant happens in this order: the radio is awake; the machine's timeout; the access point's; a beacon has been heard; a poll has
//! reached the access point; an announcement begins; the access point sends the next of its packets; the radio falls asleep.

mod parts;
mod summary;

pub(super) use parts::Station;
pub use summary::StationSummary;
pub(super) use summary::{stations, summaries};

use super::control::{header, window_field};
use super::world::World;
use crate::net::counters::Fate;
use crate::net::ids::{AgentId, FlowId, LinkId, StationId};
use crate::net::packet::Packet;
use crate::probe::AirRow;
use netlull_mechanism::Machine;
use netlull_mechanism::gateway::SegmentKind;
use netlull_mechanism::radio::{AccessAction, AccessEvent, PacketView, StationAction, StationEvent, TcpView};
use netlull_network::probe::CLOSED;
use netlull_network::station::Snapshot;
use netlull_tcp::{Flags, State};
use netlull_units::{Bytes, Duration, Instant};
use parts::{Air, Frame, Heard, Then};

/// A PS-Poll frame in bytes (IEEE 802.11 section 9.3.1.5): frame control, AID, two addresses, FCS.
const POLL_BYTES: u32 = 20;
/// A null data frame in bytes (IEEE 802.11 section 9.3.2): a header of 24 and the FCS.
const NULL_BYTES: u32 = 28;

/// What became of a packet that somebody attends to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attended {
    /// It goes on.
    GoesOn,
    /// It is taken: held, refused or missed.
    Taken,
}

impl World {
    /// The station's slot: something of it is due.
    pub(super) fn station(&mut self, index: StationId) {
        let now = self.now;
        // Each turn does one thing that is due and finds what is due after it.
        while let Some(due) = self.stations[index.index()].due(now) {
            match due {
                parts::Due::Awake => self.radio_awake(index),
                parts::Due::Machine => {
                    self.tell_station(index, StationEvent::Timeout);
                }
                parts::Due::AccessPoint => self.tell_access_point(index, AccessEvent::Timeout),
                parts::Due::Beacon(heard) => self.hear_beacon(index, heard),
                parts::Due::Poll => {
                    self.stations[index.index()].polled_at.pop_front();
                    self.tell_access_point(index, AccessEvent::Polled);
                }
                parts::Due::Announcement(mode) => {
                    self.stations[index.index()].announcements.pop_front();
                    self.tell_access_point(index, AccessEvent::Announced(mode));
                }
                parts::Due::Packet => self.send_next(index),
                parts::Due::Sleep => self.radio_sleeps(index),
            }
        }
        self.arm_station(index);
    }

    /// Sets the station's slot.
    pub(super) fn arm_station(&mut self, index: StationId) {
        let (slot, next) = (self.slots.station(index), self.stations[index.index()].next(self.now));
        if self.schedule.at(slot) != next {
            self.schedule.set(slot, next);
        }
    }

    /// Tells a station's machine what happens, and does what it asks for; the window to be written, if it asks for that.
    fn tell_station(&mut self, index: StationId, event: StationEvent) -> Option<Bytes> {
        let mut window = None;
        let mut next = Some(event);
        while let Some(event) = next.take() {
            self.stations[index.index()].machine.handle(self.now, event);
            while let Some(action) = self.stations[index.index()].machine.poll_action() {
                match action {
                    StationAction::Sleep => self.stations[index.index()].air.then(Then::Sleep),
                    StationAction::Wake => self.wake_radio(index),
                    StationAction::SetWindow(bytes) => window = Some(bytes),
                    StationAction::Acknowledge { connection } => next = self.acknowledge(index, connection).or(next),
                    StationAction::Poll => self.hand_to_radio(index, Frame::Poll),
                    StationAction::Announce(mode) => self.hand_to_radio(index, Frame::Null(mode)),
                }
            }
            self.record_burst(index);
        }
        self.arm_station(index);
        window
    }

    /// A host's TCP acknowledges all that it has received; the event that tells the machine of it.
    fn acknowledge(&mut self, index: StationId, connection: u32) -> Option<StationEvent> {
        let node = self.stations[index.index()].node;
        let flow = FlowId::numbered(connection);
        let mut ends = [AgentId::receiver(flow), AgentId::sender(flow)].into_iter();
        let is_here = |agent: &AgentId| agent.index() < self.endpoints.len() && self.agents[agent.index()].node == node;
        let agent = ends.find(is_here)?;
        self.stations[index.index()].acknowledging = Some(None);
        self.endpoints[agent.index()].acknowledge();
        self.pump(self.now, agent);
        let packet = self.stations[index.index()].acknowledging.take().flatten()?;
        Some(StationEvent::Acknowledged { packet })
    }

    /// The host of a station sends a packet: its machine may rewrite the window, its radio wakes for it.
    fn station_sends(&mut self, index: StationId, packet: &mut Packet) {
        let view = self.view(packet);
        let Station { acknowledging, machine, .. } = &mut self.stations[index.index()];
        let kind = match acknowledging {
            Some(shown) if shown.is_none() && view.is_acknowledgement() => {
                *shown = Some(view);
                machine.acknowledgement()
            }
            _ => {
                // It wakes before its machine says what comes after.
                if self.stations[index.index()].air == Air::Asleep {
                    self.wake_radio(index);
                }
                self.shape(index, packet, &view)
            }
        };
        self.hand_to_radio(index, Frame::Packet(*packet, kind));
    }

    /// Shows a packet to the machine and writes the window that it wants; what the packet is called on the air.
    fn shape(&mut self, index: StationId, packet: &mut Packet, view: &PacketView) -> &'static str {
        let window = self.tell_station(index, StationEvent::Sending { packet: *view });
        let Some(window) = window else {
            return if view.is_acknowledgement() { "ack" } else { "sent" };
        };
        let shift = self.window_shift(packet.agent.peer());
        packet.segment.window = window_field(window, shift, packet.segment.window);
        self.stations[index.index()].counters.counts.closed_acks += u64::from(packet.segment.window == 0);
        if packet.segment.window == 0 { CLOSED } else { "ack" }
    }

    /// A frame for the radio to send: at once, or when it is awake.
    fn hand_to_radio(&mut self, index: StationId, frame: Frame) {
        match self.stations[index.index()].air {
            Air::Awake { .. } => self.transmit(index, frame),
            Air::Waking { .. } => self.stations[index.index()].waiting.push_back(frame),
            Air::Asleep => {
                self.stations[index.index()].waiting.push_back(frame);
                self.wake_radio(index);
            }
        }
        self.arm_station(index);
    }

    /// The radio sends a frame.
    fn transmit(&mut self, index: StationId, frame: Frame) {
        let now = self.now;
        match frame {
            Frame::Packet(mut packet, kind) => {
                let up = self.stations[index.index()].up;
                let view = self.view(&packet);
                let before = self.links[up].fates();
                self.offer_to_link(now, up, &mut packet);
                let link = &self.links[up];
                let ends = match link.fates().since(before) {
                    Fate::Taken => Some(link.free_at()),
                    // What the air loses has been sent all the same.
                    Fate::Lost => None,
                    Fate::Dropped => return,
                };
                let times = self.on_air(index, packet.size, ends);
                self.record_air(index, kind, times, &view);
            }
            Frame::Poll => {
                let (from, to) = self.frame_on_air(index, POLL_BYTES);
                let station = &mut self.stations[index.index()];
                station.counters.counts.polls += 1;
                station.polled_at.push_back((from + station.poll_time).max(to));
                self.record_frame(index, "poll", (from, to), POLL_BYTES);
            }
            Frame::Null(mode) => {
                let times = self.frame_on_air(index, NULL_BYTES);
                self.record_frame(index, "null", times, NULL_BYTES);
                if times.0 <= now {
                    self.tell_access_point(index, AccessEvent::Announced(mode));
                } else {
                    self.stations[index.index()].announcements.push_back((times.0, mode));
                }
            }
        }
    }

    /// The radio transmits a frame that is no packet.
    fn frame_on_air(&mut self, index: StationId, size: u32) -> (Instant, Instant) {
        let counters = &mut self.stations[index.index()].counters;
        counters.frames += 1;
        counters.frame_bytes += u64::from(size);
        self.on_air(index, size, None)
    }

    /// The radio transmits `size` bytes, behind what it transmits already: from when to when. `ends` is when a link has sent them.
    fn on_air(&mut self, index: StationId, size: u32, ends: Option<Instant>) -> (Instant, Instant) {
        let (now, station) = (self.now, &mut self.stations[index.index()]);
        let from = station.sends_until.max(now);
        let to = ends.map_or(from, |ends| ends.max(from)).max(from + station.time_up(size));
        station.sends_until = to;
        station.meter.transmits(from, to);
        (from, to)
    }

    /// The radio begins to wake, if it sleeps; it stays awake.
    fn wake_radio(&mut self, index: StationId) {
        let now = self.now;
        let station = &mut self.stations[index.index()];
        match station.air {
            Air::Asleep => {
                station.meter.wake(now);
                station.air = Air::Waking { until: now + station.wake, then: Then::Stay };
                self.record_radio(index, "waking");
                if self.stations[index.index()].wake.is_zero() {
                    self.radio_awake(index);
                }
            }
            Air::Waking { .. } | Air::Awake { .. } => station.air.then(Then::Stay),
        }
    }

    /// The radio is awake, and sends what has waited for it.
    fn radio_awake(&mut self, index: StationId) {
        let now = self.now;
        let station = &mut self.stations[index.index()];
        let Air::Waking { then, .. } = station.air else { return };
        station.meter.awake(now);
        station.air = Air::Awake { since: now, then };
        station.sends_until = station.sends_until.max(now);
        self.record_radio(index, "awake");
        while let Some(frame) = self.stations[index.index()].waiting.pop_front() {
            self.transmit(index, frame);
        }
    }

    /// The radio falls asleep: it has sent what it was given.
    fn radio_sleeps(&mut self, index: StationId) {
        let station = &mut self.stations[index.index()];
        station.meter.sleep(self.now);
        station.air = Air::Asleep;
        station.heard = None;
        self.record_radio(index, "asleep");
    }

    /// An access point's machine hears of something.
    fn tell_access_point(&mut self, index: StationId, event: AccessEvent) {
        let now = self.now;
        let Some(access) = &mut self.stations[index.index()].access else { return };
        access.handle(now, event);
        while let Some(action) = self.stations[index.index()].access.as_mut().and_then(Machine::poll_action) {
            match action {
                AccessAction::Release { packets, more } => self.release(index, packets, more),
                AccessAction::Beacon { buffered } => self.beacon(index, buffered),
                // Answers to a packet that has come, which `enter_air` asks for.
                AccessAction::Forward | AccessAction::Hold | AccessAction::Refuse => {}
            }
        }
        self.arm_station(index);
    }

    /// A packet for a station has come to its access point.
    fn enter_air(&mut self, index: StationId, packet: &mut Packet) {
        let now = self.now;
        let answer = match &mut self.stations[index.index()].access {
            None => AccessAction::Forward,
            Some(access) => {
                access.handle(now, AccessEvent::Arrival);
                access.poll_action().unwrap_or(AccessAction::Forward)
            }
        };
        match answer {
            AccessAction::Hold => {
                let station = &mut self.stations[index.index()];
                station.held.push_back(*packet);
                station.counters.counts.held_packets += 1;
            }
            AccessAction::Refuse => {
                let station = &mut self.stations[index.index()];
                station.counters.counts.refused_packets += 1;
                let down = station.down;
                self.count_drop(now, down, packet);
            }
            _ if self.stations[index.index()].leaving.is_empty() => self.send_down(index, packet, false),
            _ => self.stations[index.index()].leaving.push_back((*packet, false)),
        }
    }

    /// The access point sends a packet to its station; `more` is the More Data bit.
    fn send_down(&mut self, index: StationId, packet: &mut Packet, more: bool) {
        let down = self.stations[index.index()].down;
        let before = self.links[down].fates();
        self.offer_to_link(self.now, down, packet);
        let taken = self.links[down].fates().since(before) == Fate::Taken;
        if self.stations[index.index()].access.is_some() && taken {
            self.stations[index.index()].more.push_back(more);
        }
    }

    /// The access point sends what it has held: the first at once, each other when the air is free, so that none waits in the link's queue.
    fn release(&mut self, index: StationId, packets: u32, more: bool) {
        for left in (0..packets).rev() {
            let Some(packet) = self.stations[index.index()].held.pop_front() else { break };
            self.stations[index.index()].leaving.push_back((packet, left > 0 || more));
        }
        self.send_next(index);
    }

    /// The access point sends the next of its packets, if the air is free.
    fn send_next(&mut self, index: StationId) {
        let now = self.now;
        loop {
            let free_at = self.links[self.stations[index.index()].down].free_at();
            let station = &mut self.stations[index.index()];
            station.leaves_at = if station.leaving.is_empty() { Instant::NEVER } else { free_at.max(now) };
            if station.leaves_at > now {
                return;
            }
            let Some((mut packet, more)) = station.leaving.pop_front() else { return };
            self.send_down(index, &mut packet, more);
        }
    }

    /// A beacon goes out: heard by a radio that is awake from its first bit on.
    fn beacon(&mut self, index: StationId, buffered: bool) {
        let now = self.now;
        let station = &mut self.stations[index.index()];
        if let Air::Awake { .. } = station.air {
            station.heard = Some(Heard { from: now, until: now + station.beacon_time, buffered });
        }
    }

    /// A beacon's last bit is on the air.
    fn hear_beacon(&mut self, index: StationId, heard: Heard) {
        // Receptions are told one after the other: what has come so far of a packet is told now, the rest when it has.
        let coming = self.coming_since(index).filter(|&from| self.stations[index.index()].hears_from(from));
        let station = &mut self.stations[index.index()];
        station.heard = None;
        station.counters.counts.beacons += 1;
        station.meter.received(coming.map_or(heard.from, |from| from.min(heard.from)), heard.until);
        self.record_frame(index, "beacon", (heard.from, heard.until), 0);
        self.tell_station(index, StationEvent::Beacon { buffered: heard.buffered });
    }

    /// A packet has come over the air: the radio hears it if it was awake from its first bit on.
    fn leave_air(&mut self, index: StationId, packet: &Packet) -> Attended {
        let now = self.now;
        let view = self.view(packet);
        let station = &mut self.stations[index.index()];
        let more = station.more.pop_front().unwrap_or(false);
        let from = began(now, station.time_down(packet.size));
        if !station.hears_from(from) {
            station.counters.counts.missed_packets += 1;
            station.counters.counts.missed_bytes += u64::from(packet.size);
            let down = station.down;
            self.record_air(index, "missed", (from, now), &view);
            self.count_drop(now, down, packet);
            // A radio that is to sleep may have waited for it.
            self.arm_station(index);
            return Attended::Taken;
        }
        station.counters.counts.received_packets += 1;
        station.counters.received_bytes += u64::from(packet.size);
        station.meter.received(from, now);
        self.record_air(index, "data", (from, now), &view);
        self.tell_station(index, StationEvent::Received { packet: view, more });
        Attended::GoesOn
    }

    /// A link at whose ends stations or gateways are is offered a packet.
    pub(super) fn attend_offer(&mut self, link: LinkId, packet: &mut Packet) -> Attended {
        let Some(index) = self.links[link].station else { return Attended::GoesOn };
        if self.stations[index.index()].up == link {
            self.station_sends(index, packet);
        } else {
            self.enter_air(index, packet);
        }
        Attended::Taken
    }

    /// A packet has come off a link at whose end somebody attends to it.
    pub(super) fn attend_delivery(&mut self, link: LinkId, packet: &mut Packet) -> Attended {
        if self.links[link].is_steered {
            self.steer(link, packet);
        }
        match self.links[link].station {
            Some(index) if self.stations[index.index()].down == link => self.leave_air(index, packet),
            _ => Attended::GoesOn,
        }
    }

    /// A host has taken a packet: whether its downloads are complete.
    pub(super) fn note_downloads(&mut self, link: LinkId, agent: AgentId) {
        let Some(index) = self.links[link].station else { return };
        let is_over = |endpoint: &netlull_tcp::Endpoint| {
            matches!(endpoint.state(), State::LastAck | State::CloseWait | State::TimeWait)
                || (endpoint.state() == State::Closed && endpoint.bytes_delivered() > 0)
        };
        if agent.is_sender() || !self.endpoints.get(agent.index()).is_some_and(is_over) {
            return;
        }
        let snapshot = self.snapshot(index);
        self.stations[index.index()].download_over(snapshot, agent.flow());
    }

    /// A connection opens: the download of its station, if it is one, begins.
    pub(super) fn note_opening(&mut self, flow: FlowId) {
        let node = self.agents[AgentId::receiver(flow).index()].node;
        let mut stations = StationId::all(self.stations.len());
        let Some(index) = stations.find(|index| self.stations[index.index()].node == node) else { return };
        let snapshot = self.snapshot(index);
        self.stations[index.index()].download_begins(snapshot);
        // The request that the download answers is no packet here; the machine hears of it as if it had just been sent.
        self.tell_station(index, StationEvent::Sending { packet: PacketView { size: 0, segment: None } });
    }

    /// Stations are measured from here on.
    pub(super) fn restart_stations(&mut self) {
        for index in StationId::all(self.stations.len()) {
            let snapshot = self.snapshot(index);
            self.stations[index.index()].restart(snapshot);
        }
    }

    /// What is so at a station now; of a packet that is on the air to it what has come so far.
    pub(super) fn snapshot(&self, index: StationId) -> Snapshot {
        self.stations[index.index()].snapshot(self.now, self.coming_since(index))
    }

    /// Since when a packet has been coming over the air to a station, if one is.
    fn coming_since(&self, index: StationId) -> Option<Instant> {
        let station = &self.stations[index.index()];
        let head = self.links[station.down].head_arrives();
        head.map(|(arrives, size)| began(arrives, station.time_down(size))).filter(|&from| from < self.now)
    }

    /// A packet as one of its ends reads it.
    fn view(&self, packet: &Packet) -> PacketView {
        let segment = &packet.segment;
        // Not of a datagram, or of a reset without an acknowledgement.
        let Some((kind, timestamps)) = header(segment) else {
            return PacketView { size: packet.size, segment: None };
        };
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        let shift = if kind == SegmentKind::Other { self.window_shift(packet.agent.peer()) } else { 0 };
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

    fn record_radio(&mut self, index: StationId, state: &'static str) {
        let now = self.now;
        if let Some(probe) = &mut self.observers.stations {
            probe.radio(now, index.number(), state);
        }
    }

    fn record_air(&mut self, index: StationId, kind: &'static str, times: (Instant, Instant), view: &PacketView) {
        self.record(index, || AirRow::packet(kind, times, view));
    }

    fn record_frame(&mut self, index: StationId, kind: &'static str, times: (Instant, Instant), size: u32) {
        self.record(index, || AirRow::frame(kind, times, size));
    }

    fn record(&mut self, index: StationId, row: impl FnOnce() -> AirRow) {
        if let Some(probe) = &mut self.observers.stations {
            probe.air(index.number(), &row());
        }
    }

    /// A burst that the shaper has judged over since the last event is counted, and recorded.
    fn record_burst(&mut self, index: StationId) {
        let Some(burst) = self.stations[index.index()].take_burst() else { return };
        if let Some(probe) = &mut self.observers.stations {
            probe.burst(index.number(), &burst);
        }
    }
}

/// When the first bit of a packet is on the air whose last bit is at `ends`, `took` later.
fn began(ends: Instant, took: Duration) -> Instant {
    Instant::ZERO + (ends - Instant::ZERO).saturating_sub(took)
}
