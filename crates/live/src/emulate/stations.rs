//! Stations in the emulated network: their radios and machines, and access points that hold packets for them.
//!
//! ```text
//!              access point holds?          hears? else missed
//!   network ──► [proxy] ──► link down ──► [station] ──► host's TCP
//!   network ◄─────────────── link up ◄─── [station] ◄── host's TCP
//!                                  wakes for what is sent
//! ```

use super::frame::Frame;
use super::world::World;
use crate::error::Result;
use crate::station::{
    Asleep, Output, Proxy, ProxyOutput, SendVerdict, Sent, Station, StationConfig, StationMechanism, Verdict,
};
use netlull_network::outcome::StationOutcome;
use netlull_network::plan::{AccessPlan, Plan, StationMechanismPlan, StationPlan};
use netlull_units::{Duration, Instant};
use std::collections::VecDeque;
use std::path::Path;

/// A station, its access point, and what is between its host and the air.
#[derive(Debug)]
pub struct Member {
    /// Its node.
    pub node: u32,
    /// The link to it.
    pub down: usize,
    /// The link from it.
    pub up: usize,
    /// Radio and machine.
    pub station: Station,
    /// Its access point, if that buffers.
    pub proxy: Option<Proxy<Frame>>,
    beacon_time: Duration,
    /// Packets that wait for the radio to wake, and until when.
    waiting: VecDeque<(Instant, Frame)>,
    /// What it sends beside its host's packets, and when.
    outputs: Vec<Output>,
    /// More Data bits of the packets on the link down.
    more: VecDeque<bool>,
    /// When the air to it is free for the next of what its access point has to send.
    leaves_at: Instant,
    /// What its access point had held and refused when it was restarted.
    base: (u64, u64),
    /// Beacons on the air: from when, until when, whether packets are held.
    beacon: Option<(Instant, Instant, bool)>,
}

impl Member {
    fn new(plan: &Plan, spec: &StationPlan, tapes: Option<&Path>) -> Result<Self> {
        let mechanism = match spec.mechanism {
            StationMechanismPlan::AlwaysOn => StationMechanism::AlwaysOn,
            StationMechanismPlan::Eager(config) => StationMechanism::Eager(config),
            StationMechanismPlan::ClientShaper(config) => StationMechanism::ClientShaper(config),
            StationMechanismPlan::Psm(config) => StationMechanism::Psm(config),
            StationMechanismPlan::Bsd(config) => StationMechanism::Bsd(config),
        };
        let rates = [spec.down, spec.up].map(|link| plan.links[link as usize].rate);
        let mut config = StationConfig::new(mechanism, spec.wake, rates);
        // As in the simulator: what comes while the radio sleeps is lost, and nothing but the machine keeps it awake.
        (config.asleep, config.quiet) = (Asleep::Drop, Duration::ZERO);
        let AccessPlan { config: access, beacon_time, poll_time } = match spec.access_point {
            Some(access) => access,
            None => AccessPlan { config: Default::default(), beacon_time: Duration::ZERO, poll_time: Duration::ZERO },
        };
        config.poll_time = poll_time;
        let name = &plan.nodes[spec.node as usize];
        let file = |what: &str| tapes.map(|folder| folder.join(format!("{name}{what}.tape")));
        let mut station = Station::new(config, Instant::ZERO, file("").as_deref())?;
        if plan.probe.stations {
            station.watch();
        }
        let proxy = spec.access_point.map(|_| Proxy::new(&access, Instant::ZERO, file(".access-point").as_deref()));
        Ok(Self {
            node: spec.node,
            down: spec.down as usize,
            up: spec.up as usize,
            station,
            proxy: proxy.transpose()?,
            beacon_time,
            waiting: VecDeque::new(),
            outputs: Vec::new(),
            more: VecDeque::new(),
            leaves_at: Instant::NEVER,
            base: (0, 0),
            beacon: None,
        })
    }

    fn access_counts(&self) -> (u64, u64) {
        self.proxy.as_ref().map_or((0, 0), Proxy::counts)
    }

    /// It counts from here on; `coming` is the first packet on its link down.
    pub fn restart(&mut self, at: Instant, coming: Option<(Instant, u32)>) {
        self.base = self.access_counts();
        self.station.restart(at, coming);
    }

    /// What it counted; recordings end. `coming` is the first packet on its link down.
    ///
    /// # Errors
    /// If a recording could not be written.
    pub fn outcome(&mut self, at: Instant, coming: Option<(Instant, u32)>) -> Result<StationOutcome> {
        let (held, refused) = self.access_counts();
        let mut outcome = self.station.outcome(at, coming);
        outcome.counts.held_packets = held - self.base.0;
        outcome.counts.refused_packets = refused - self.base.1;
        self.proxy.iter_mut().try_for_each(Proxy::finish)?;
        self.station.finish()?;
        Ok(outcome)
    }

    /// When something is due.
    #[must_use]
    pub fn next(&self) -> Instant {
        let times = [
            self.station.next_timeout(),
            self.proxy.as_ref().and_then(Proxy::next_timeout),
            self.waiting.front().map(|(at, _)| *at),
            self.outputs.iter().map(|output| output.at).min(),
            self.beacon.map(|(_, until, _)| until),
            Some(self.leaves_at),
        ];
        times.into_iter().flatten().min().unwrap_or(Instant::NEVER)
    }
}

/// All stations.
#[derive(Debug)]
pub struct Stations {
    members: Vec<Member>,
    /// By node, and by link down.
    at: Vec<Option<usize>>,
    below: Vec<Option<usize>>,
}

impl Stations {
    /// The plan's.
    ///
    /// # Errors
    /// If a machine refuses its configuration, or a recording cannot be begun.
    pub fn new(plan: &Plan, tapes: Option<&Path>) -> Result<Self> {
        let members: Result<Vec<Member>> = plan.stations.iter().map(|spec| Member::new(plan, spec, tapes)).collect();
        let (mut at, mut below) = (vec![None; plan.nodes.len()], vec![None; plan.links.len()]);
        for (index, spec) in plan.stations.iter().enumerate() {
            at[spec.node as usize] = Some(index);
            below[spec.down as usize] = Some(index);
        }
        Ok(Self { members: members?, at, below })
    }

    /// The station of a node.
    #[must_use]
    pub fn at(&self, node: u32) -> Option<usize> {
        self.at[node as usize]
    }

    /// The station to which a link leads.
    #[must_use]
    pub fn below(&self, link: usize) -> Option<usize> {
        self.below[link]
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, index: usize) -> &Member {
        &self.members[index]
    }

    /// One of them, to be driven.
    pub fn get_mut(&mut self, index: usize) -> &mut Member {
        &mut self.members[index]
    }

    /// All of them.
    pub fn members_mut(&mut self) -> &mut [Member] {
        &mut self.members
    }
}

impl World {
    /// A station's host sends a packet.
    pub(super) fn station_sends(&mut self, index: usize, mut frame: Frame) {
        let member = self.stations.get_mut(index);
        match member.station.sends(self.now, &mut frame.bytes) {
            SendVerdict::Send if member.waiting.is_empty() => {
                let up = member.up;
                self.offer_to_link(up, frame);
            }
            SendVerdict::Send => member.waiting.push_back((self.now, frame)),
            // In the queue of its link they go one after the other.
            SendVerdict::HoldUntil(begins) => {
                let at = member.station.wakes_at().unwrap_or(begins);
                member.waiting.push_back((at, frame));
            }
            SendVerdict::Redundant => drop(frame),
        }
        self.settle_station(index);
    }

    /// A connection to a station's host opens, if this is the first SYN of one.
    pub(super) fn note_opening(&mut self, frame: &Frame) {
        let Some(index) = self.stations.at(frame.to) else { return };
        if self.opens(frame) {
            self.stations.get_mut(index).station.asks(self.now);
            self.settle_station(index);
        }
    }

    /// A packet has come over the air.
    pub(super) fn station_receives(&mut self, index: usize, frame: Frame) {
        let member = self.stations.get_mut(index);
        let more = member.more.pop_front().unwrap_or(false);
        let (verdict, down) = (member.station.receives(self.now, &frame.bytes, more), member.down);
        self.settle_station(index);
        match verdict {
            Verdict::Deliver => self.forward(frame.to, frame),
            Verdict::Missed => self.dropped(down, &frame),
        }
    }

    /// A packet for a station has come to its access point.
    pub(super) fn access_point(&mut self, index: usize, frame: Frame) {
        let (now, member) = (self.now, self.stations.get_mut(index));
        match &mut member.proxy {
            Some(proxy) => {
                let is_first = !proxy.has_packet();
                proxy.arrives(now, frame);
                // What it does not hold waits in the queue of the air, unless what it has released is to go before.
                if let Some((frame, more)) = is_first.then(|| proxy.next_packet()).flatten() {
                    self.send_down(index, frame, more);
                }
                self.settle_station(index);
            }
            None => {
                let down = member.down;
                self.offer_to_link(down, frame);
            }
        }
    }

    /// Something of a station is due.
    pub(super) fn station_timeout(&mut self, index: usize) {
        // In the simulator's order: a radio that is awake now sends what has waited for it first, and falls asleep last.
        let now = self.now;
        if self.stations.get_mut(index).station.is_awake_from(now) {
            while self.hands_over(index) {}
        }
        let member = self.stations.get_mut(index);
        member.station.handle_machines(now);
        if let Some(proxy) = member.proxy.as_mut().filter(|proxy| proxy.next_timeout().is_some_and(|at| at <= now)) {
            proxy.handle_timeout(now);
        }
        if let Some((from, until, buffered)) = member.beacon.filter(|(_, until, _)| *until <= now) {
            member.beacon = None;
            member.station.hears_beacon((from, until), buffered, self.links[member.down].head());
        }
        self.settle_station(index);
        self.stations.get_mut(index).station.handle_timeout(now);
        self.settle_station(index);
    }

    /// What a station and its access point have asked for is done, as far as it is due.
    fn settle_station(&mut self, index: usize) {
        while self.hands_over(index) || self.access_point_acts(index) {}
        if let Some(probe) = &mut self.probe {
            self.stations.get_mut(index).station.tell_probe(u32::try_from(index).unwrap_or(u32::MAX), probe);
        }
        self.arm_station(index);
    }

    /// A station hands the next thing that is due to the air, if there is one.
    fn hands_over(&mut self, index: usize) -> bool {
        let (now, member) = (self.now, self.stations.get_mut(index));
        while let Some(output) = member.station.poll_output() {
            member.outputs.push(output);
        }
        let due = member.outputs.iter().position(|output| output.at <= now);
        if let Some(output) = due.map(|at| member.outputs.remove(at)) {
            self.station_output(index, output.what);
            return true;
        }
        let Some((_, frame)) = member.waiting.pop_front_if(|(at, _)| *at <= now) else { return false };
        let up = member.up;
        self.offer_to_link(up, frame);
        true
    }

    fn station_output(&mut self, index: usize, what: Sent) {
        let (now, member) = (self.now, self.stations.get_mut(index));
        let (node, up) = (member.node, member.up);
        match what {
            Sent::Packet(bytes) => {
                if let Some(frame) = self.frame(node, bytes) {
                    self.offer_to_link(up, frame);
                }
            }
            Sent::Poll => member.proxy.iter_mut().for_each(|proxy| proxy.polled(now)),
            Sent::Announce(mode) => member.proxy.iter_mut().for_each(|proxy| proxy.announced(now, mode)),
        }
    }

    /// An access point does one thing, if it has one to do.
    fn access_point_acts(&mut self, index: usize) -> bool {
        let (now, member) = (self.now, self.stations.get_mut(index));
        let Some(proxy) = &mut member.proxy else { return false };
        let down = member.down;
        match proxy.poll_output() {
            Some(ProxyOutput::Beacon { buffered }) => {
                member.beacon = Some((now, now + member.beacon_time, buffered));
                return true;
            }
            Some(ProxyOutput::Refused(frame)) => {
                self.dropped(down, &frame);
                return true;
            }
            None => {}
        }
        if !proxy.has_packet() {
            member.leaves_at = Instant::NEVER;
            return false;
        }
        let free_at = self.links[down].transmitter.busy_until(now);
        let member = self.stations.get_mut(index);
        member.leaves_at = if free_at > now { free_at } else { Instant::NEVER };
        if free_at > now {
            return false;
        }
        let Some((frame, more)) = member.proxy.as_mut().and_then(Proxy::next_packet) else { return false };
        self.send_down(index, frame, more);
        true
    }

    /// An access point sends a packet; what the air loses the radio does not wait for.
    fn send_down(&mut self, index: usize, frame: Frame, more: bool) {
        let down = self.stations.get(index).down;
        if self.offer_to_link(down, frame) {
            let member = self.stations.get_mut(index);
            member.station.expects_packet();
            member.more.push_back(more);
        }
    }
}
