//! A station and its parts.

use crate::net::flight::Packet;
use crate::net::ids::{FlowId, LinkId, NodeId};
use crate::run::error::{MachineName, RunError};
use crate::scenario::{Scenario, StationSpec};
use netlull_mechanism::Machine;
use netlull_mechanism::radio::{AccessPoint, AccessPointConfig, Burst};
use netlull_mechanism::station::{self, PacketView, Policy as _, PowerMode, Shaping};
use netlull_network::driver::AtOnce;
use netlull_network::outcome::{Snapshot, StationCounts, Waits};
use netlull_network::radio::{Coming, Radio};
use netlull_units::{Bytes, Duration, Instant};
use std::collections::VecDeque;

/// A frame for a radio to send.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    Packet {
        packet: Packet,
        /// Its name in table `air`.
        name: &'static str,
        /// The shift of its advertised window.
        shift: u8,
    },
    /// A PS-Poll.
    Poll,
    /// A null frame with the power-management bit.
    Null(PowerMode),
}

/// A beacon in transmission that the radio receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    pub from: Instant,
    pub until: Instant,
    pub buffered: bool,
}

/// An acknowledgement that the machine has requested.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acknowledging {
    /// The largest window, if it is bounded.
    pub window: Option<Bytes>,
    /// The packet, once it is sent.
    pub shown: Option<PacketView>,
}

/// The next due action of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Awake,
    Machine,
    AccessPoint,
    Beacon(Heard),
    Poll,
    Announcement(PowerMode),
    Packet,
    Sleep,
}

/// Counts since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct StationCounters {
    /// The counts in summaries.
    pub counts: StationCounts,
    /// Bytes of the packets that the radio received.
    pub received_bytes: u64,
    /// Acknowledgements of the host that the machine withheld.
    pub withheld_acks: u64,
    /// Polls and null frames transmitted.
    pub frames: u64,
    /// Bytes of polls and null frames.
    pub frame_bytes: u64,
    /// Total idle times around bursts.
    pub waits: Waits,
}

/// The downloads of a station, from the first opening until all are delivered.
#[derive(Clone, Debug, Default)]
pub(in crate::run) struct Downloads {
    /// Unfinished TCP flows to the station.
    open: Vec<FlowId>,
    pub begun: Option<Snapshot>,
    pub over: Option<Snapshot>,
}

/// A wireless station.
pub(in crate::run) struct Station {
    pub node: NodeId,
    pub access_node: NodeId,
    pub down: LinkId,
    pub up: LinkId,
    pub(super) beacon_time: Duration,
    pub(super) poll_time: Duration,
    /// The machine of its radio; `None` for a radio that is always on.
    pub(super) machine: Option<station::Running>,
    /// The machine's name in errors.
    pub(super) name: MachineName,
    pub(super) at_once: AtOnce,
    /// The access point, if it buffers packets.
    pub(super) access: Option<AccessPoint>,
    pub radio: Radio,
    /// Frames that wait for the radio to wake up.
    pub(super) waiting: VecDeque<Frame>,
    /// Packets that the access point holds.
    pub held: VecDeque<Packet>,
    /// Packets for consecutive transmissions by the access point, with their More Data bits.
    pub(super) leaving: VecDeque<(Packet, bool)>,
    /// The time at which the link to the station is free for the first of them.
    pub(super) leaves_at: Instant,
    /// More Data bits of the packets on the link to the station.
    pub(super) more: VecDeque<bool>,
    /// The beacon in reception.
    pub(super) heard: Option<Heard>,
    /// The times at which polls given to the radio take effect.
    pub(super) polled_at: VecDeque<Instant>,
    /// Announcements that wait for earlier frames of the radio, and their start times.
    pub(super) announcements: VecDeque<(Instant, PowerMode)>,
    /// An acknowledgement requested by the machine, while it is in progress.
    pub(super) acknowledging: Option<Acknowledging>,
    pub counters: StationCounters,
    pub base: StationCounters,
    pub base_at: Snapshot,
    pub downloads: Downloads,
}

impl Station {
    /// The station of a scenario at time zero.
    ///
    /// # Errors
    /// If its machine or its access point cannot be built.
    pub fn new(spec: &StationSpec, scenario: &Scenario) -> Result<Self, RunError> {
        let place = format!("station.{}.mechanism", scenario.nodes[spec.node]);
        let name = MachineName::new(place, spec.kind());
        let refused = |error| name.error(Instant::ZERO, error);
        let machine = spec.mechanism.as_ref().map(|mechanism| mechanism.build(spec.context, Instant::ZERO));
        let machine = machine.transpose().map_err(refused)?;
        let access = spec.mechanism.as_ref().and_then(station::Config::access_point);
        let to_it = |flow: &FlowId| scenario.tcp_flows[flow.index()].path.to == spec.node;
        let access_point = access.map(|access| AccessPoint::new(access, Instant::ZERO)).transpose().map_err(refused)?;
        Ok(Self {
            node: NodeId::new(spec.node),
            access_node: NodeId::new(spec.access),
            down: LinkId::new(spec.down),
            up: LinkId::new(spec.up),
            beacon_time: access.map_or(Duration::ZERO, AccessPointConfig::beacon_time),
            poll_time: access.map_or(Duration::ZERO, |access| access.poll_time),
            machine,
            name,
            at_once: AtOnce::default(),
            access: access_point,
            radio: Radio::new(
                Instant::ZERO,
                spec.context.wake,
                [spec.down, spec.up].map(|link| scenario.links[link].rate),
            ),
            waiting: VecDeque::new(),
            held: VecDeque::new(),
            leaving: VecDeque::new(),
            leaves_at: Instant::NEVER,
            more: VecDeque::new(),
            heard: None,
            polled_at: VecDeque::new(),
            announcements: VecDeque::new(),
            acknowledging: None,
            counters: StationCounters::default(),
            base: StationCounters::default(),
            base_at: Snapshot::default(),
            downloads: Downloads {
                open: FlowId::all(scenario.tcp_flows.len()).filter(to_it).collect(),
                begun: None,
                over: None,
            },
        })
    }

    /// The first action due at `now`, if any.
    pub(super) fn due(&self, now: Instant) -> Option<Due> {
        let is = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if is(self.radio.wakes_at()) {
            return Some(Due::Awake);
        }
        if is(self.machine.as_ref().and_then(Machine::next_timeout)) {
            return Some(Due::Machine);
        }
        if is(self.access.as_ref().and_then(Machine::next_timeout)) {
            return Some(Due::AccessPoint);
        }
        if let Some(heard) = self.heard.filter(|heard| heard.until <= now) {
            return Some(Due::Beacon(heard));
        }
        if is(self.polled_at.front().copied()) {
            return Some(Due::Poll);
        }
        if let Some(&(_, mode)) = self.announcements.front().filter(|(at, _)| *at <= now) {
            return Some(Due::Announcement(mode));
        }
        if self.leaves_at <= now {
            return Some(Due::Packet);
        }
        self.sleeps_at(now).is_some_and(|at| at <= now).then_some(Due::Sleep)
    }

    /// The time of the next due action.
    pub(super) fn next(&self, now: Instant) -> Instant {
        let or_never = |at: Option<Instant>| at.unwrap_or(Instant::NEVER);
        or_never(self.radio.wakes_at())
            .min(or_never(self.machine.as_ref().and_then(Machine::next_timeout)))
            .min(or_never(self.access.as_ref().and_then(Machine::next_timeout)))
            .min(or_never(self.heard.map(|heard| heard.until)))
            .min(or_never(self.polled_at.front().copied()))
            .min(or_never(self.announcements.front().map(|(at, _)| *at)))
            .min(self.leaves_at)
            .min(or_never(self.sleeps_at(now)))
            .max(now)
    }

    /// The time at which the radio falls asleep: its frames are sent, and its access point has no started transmission
    /// to it.
    fn sleeps_at(&self, now: Instant) -> Option<Instant> {
        let is_drained = self.more.is_empty() && self.leaving.is_empty();
        self.radio.sleeps_at().filter(|_| is_drained).map(|at| at.max(now))
    }

    /// The state of shaping, if its machine shapes.
    pub fn shaping(&self) -> Option<Shaping> {
        self.machine.as_ref()?.shaping()
    }

    /// The name in table `air` of an acknowledgement requested by the machine.
    pub fn acknowledgement(&self) -> &'static str {
        if self.shaping().is_some_and(|shaping| shaping.opens) { "open" } else { "eager" }
    }

    /// A burst whose end the shaper has detected since the last call.
    pub(super) fn take_burst(&mut self) -> Option<Burst> {
        let Shaping { bursts, last_burst, .. } = self.shaping()?;
        if bursts <= self.counters.counts.bursts {
            return None;
        }
        let burst = last_burst?;
        self.counters.counts.bursts = bursts;
        self.counters.waits.count(&burst, self.radio.awake_since());
        Some(burst)
    }

    /// The counters now, including the received part of a packet in transmission.
    pub fn snapshot(&self, now: Instant, coming: Option<Coming>) -> Snapshot {
        let times = self.radio.times(now, coming);
        Snapshot { at: now, times, missed_packets: self.counters.counts.missed_packets }
    }

    pub(super) fn download_begins(&mut self, snapshot: Snapshot) {
        self.downloads.begun.get_or_insert(snapshot);
    }

    pub(super) fn download_over(&mut self, snapshot: Snapshot, flow: FlowId) {
        let open = &mut self.downloads.open;
        let before = open.len();
        open.retain(|&other| other != flow);
        if before > 0 && open.is_empty() {
            self.downloads.over = Some(snapshot);
        }
    }

    pub(super) fn restart(&mut self, snapshot: Snapshot) {
        self.base = self.counters;
        self.base_at = snapshot;
    }

    /// The total reception time of beacons.
    pub fn beacons_heard(&self) -> Duration {
        self.beacon_time.saturating_mul(self.counters.counts.beacons)
    }

    /// Packets held by the station's radio or by its access point, which are on no link.
    pub fn kept(&self) -> impl Iterator<Item = (NodeId, &Packet)> {
        let waiting = self.waiting.iter().filter_map(|frame| match frame {
            Frame::Packet { packet, .. } => Some((self.node, packet)),
            Frame::Poll | Frame::Null(_) => None,
        });
        let held = self.held.iter().chain(self.leaving.iter().map(|(packet, _)| packet));
        waiting.chain(held.map(|packet| (self.access_node, packet)))
    }
}
