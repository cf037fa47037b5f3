//! Stations in the emulated network: their radios and machines, and access points that hold packets for them.
//!
//! ```text
//!              access point holds?          hears? else missed
//!   network ──► [proxy] ──► link down ──► [station] ──► host's TCP
//!   network ◄─────────────── link up ◄─── [station] ◄── host's TCP
//!                                  wakes for packets to send
//! ```

use super::frame::Frame;
use super::ids::{ById, Id, LinkId, NodeId, StationId};
use super::net::Net;
use super::timetable::Due;
use crate::error::Result;
use crate::station::{
    Asleep, Beacon, LiveStation, Output, Proxy, ProxyOutput, SendVerdict, Sent, StationConfig, Verdict,
};
use netlull_mechanism::ConfigError;
use netlull_network::outcome::StationOutcome;
use netlull_network::plan::Plan;
use netlull_network::radio::Coming;
use netlull_units::{Duration, Instant};
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};
use std::path::Path;

/// A station, its access point, and everything between its host and the air.
#[derive(Debug)]
pub struct Member {
    id: StationId,
    /// The node.
    pub node: NodeId,
    /// The link to it.
    pub down: LinkId,
    /// The link from it.
    pub up: LinkId,
    /// The radio and the machine.
    pub station: LiveStation,
    /// The access point, if it buffers packets.
    pub proxy: Option<Proxy<Frame>>,
    beacon_time: Duration,
    /// The packets waiting for the radio to wake, with the end of their waits.
    waiting: VecDeque<(Instant, Frame)>,
    /// The station's own packets and frames that are still to be sent.
    outputs: Vec<Output>,
    /// The More Data bits of the packets on the link down.
    more: VecDeque<bool>,
    /// The instant at which the air is free for the next packet of the access point.
    leaves_at: Instant,
    /// The numbers of packets held and refused by the access point at the last restart.
    base: (u64, u64),
    /// The beacon on the air.
    beacon: Option<Beacon>,
}

impl Member {
    fn new(plan: &Plan, id: StationId, tapes: Option<&Path>) -> Result<Self> {
        let spec = &plan.stations[id.index()];
        let rates = [spec.down, spec.up].map(|link| plan.links[link as usize].rate);
        let mut config = StationConfig::new(spec.mechanism.clone(), spec.context.wake, rates);
        config.mtu = spec.context.mtu;
        // As in the simulator: a sleeping radio misses packets, and only the machine keeps it awake.
        (config.asleep, config.quiet) = (Asleep::Drop, Duration::ZERO);
        let access = config.access_point().copied();
        let name = &plan.nodes[spec.node as usize];
        let file = |what: &str| tapes.map(|folder| folder.join(format!("{name}{what}.tape")));
        let mut station = LiveStation::new(config, Instant::ZERO, file("").as_deref())?;
        if plan.probe.stations {
            station.watch();
        }
        let proxy = access.map(|access| Proxy::new(&access, Instant::ZERO, file(".access-point").as_deref()));
        Ok(Self {
            id,
            node: NodeId::numbered(spec.node),
            down: LinkId::numbered(spec.down),
            up: LinkId::numbered(spec.up),
            station,
            proxy: proxy.transpose()?,
            beacon_time: access.map_or(Duration::ZERO, |access| access.beacon_time()),
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

    /// Restarts the counters; `coming` is the first packet on the link down.
    pub fn restart(&mut self, at: Instant, coming: Option<Coming>) {
        self.base = self.access_counts();
        self.station.restart(at, coming);
    }

    /// The node and the error of a machine that works no more.
    pub fn failure(&self) -> Option<(NodeId, &ConfigError)> {
        Some((self.node, self.station.failure()?))
    }

    /// Ends the recordings and returns the outcome; `coming` is the first packet on the link down.
    ///
    /// # Errors
    /// If a recording could not be written.
    pub fn outcome(&mut self, at: Instant, coming: Option<Coming>) -> Result<StationOutcome> {
        let (held, refused) = self.access_counts();
        let mut outcome = self.station.outcome(at, coming);
        outcome.counts.held_packets = held - self.base.0;
        outcome.counts.refused_packets = refused - self.base.1;
        self.proxy.iter_mut().try_for_each(Proxy::finish)?;
        self.station.finish()?;
        Ok(outcome)
    }

    /// The instant of the next event.
    #[must_use]
    pub fn next(&self) -> Instant {
        let times = [
            self.station.next_timeout(),
            self.proxy.as_ref().and_then(Proxy::next_timeout),
            self.waiting.front().map(|(at, _)| *at),
            self.outputs.iter().map(|output| output.at).min(),
            self.beacon.map(|beacon| beacon.until),
            Some(self.leaves_at),
        ];
        times.into_iter().flatten().min().unwrap_or(Instant::NEVER)
    }

    /// Schedules the next event.
    pub(super) fn arm(&self, net: &mut Net) {
        let at = self.next().max(net.now);
        net.timetable.set(Due::Station(self.id), at);
        net.timetable.set_outward_station(self.id, at);
    }

    /// Processes a packet from the station's host.
    pub(super) fn send(&mut self, mut frame: Frame, net: &mut Net) {
        match self.station.sends(net.now, &mut frame.bytes) {
            SendVerdict::Send if self.waiting.is_empty() => {
                net.queue(self.up, frame);
            }
            SendVerdict::Send => self.waiting.push_back((net.now, frame)),
            // The queue of the link then sends them one after the other.
            SendVerdict::HoldUntil(begins) => {
                let at = self.station.wakes_at().unwrap_or(begins);
                self.waiting.push_back((at, frame));
            }
            SendVerdict::Redundant => {}
        }
        self.follow(net);
    }

    /// Notes the opening of a connection to the station's host.
    pub(super) fn asks(&mut self, net: &mut Net) {
        self.station.asks(net.now);
        self.follow(net);
    }

    /// Processes a packet from the air: the host receives it if the radio has heard it.
    pub(super) fn arrive(&mut self, frame: Frame, net: &mut Net) {
        let more = self.more.pop_front().unwrap_or(false);
        let verdict = self.station.receives(net.now, &frame.bytes, more);
        self.follow(net);
        match verdict {
            Verdict::Deliver => net.deliver(frame.to, frame),
            Verdict::Missed => net.drop(self.down, &frame),
        }
    }

    /// Processes a packet at the access point, which holds, refuses or forwards it.
    pub(super) fn hold(&mut self, frame: Frame, net: &mut Net) {
        let Some(proxy) = &mut self.proxy else {
            net.queue(self.down, frame);
            return;
        };
        let is_first = !proxy.has_packet();
        proxy.arrives(net.now, frame);
        // A forwarded packet waits in the queue of the air, unless released packets precede it.
        if let Some((frame, more)) = is_first.then(|| proxy.next_packet()).flatten() {
            self.send_down(frame, more, net);
        }
        self.follow(net);
    }

    /// Processes all due events in the simulator's order: a radio that has just woken first sends the waiting packets,
    /// and falls asleep last.
    pub(super) fn due(&mut self, net: &mut Net) {
        let now = net.now;
        if self.station.is_awake_from(now) {
            while self.hands_over(net) {}
        }
        self.station.handle_machines(now);
        if let Some(proxy) = self.proxy.as_mut().filter(|proxy| proxy.next_timeout().is_some_and(|at| at <= now)) {
            proxy.handle_timeout(now);
        }
        if let Some(beacon) = self.beacon.take_if(|beacon| beacon.until <= now) {
            self.station.hears_beacon(beacon, net.links[self.down].head());
        }
        self.settle(net);
        self.station.handle_timeout(now);
        self.settle(net);
    }

    /// Performs what a packet causes. Frames that were due before it wait for the station's event of this instant, which
    /// comes after all arrivals, as in the simulator.
    fn follow(&mut self, net: &mut Net) {
        let earlier = std::mem::take(&mut self.outputs);
        self.act(net);
        self.outputs.splice(0..0, earlier);
        self.arm(net);
    }

    /// Performs the due actions of the station and its access point, and schedules the next event.
    fn settle(&mut self, net: &mut Net) {
        self.act(net);
        self.arm(net);
    }

    /// Performs the due actions of the station and its access point.
    fn act(&mut self, net: &mut Net) {
        while self.hands_over(net) || self.access_point_acts(net) {}
        if let Some(probe) = &mut net.observers.stations {
            self.station.tell_probe(self.id.number(), probe);
        }
    }

    /// Sends the next due packet or frame; false if there is none.
    fn hands_over(&mut self, net: &mut Net) -> bool {
        while let Some(output) = self.station.poll_output() {
            self.outputs.push(output);
        }
        let due = self.outputs.iter().position(|output| output.at <= net.now);
        if let Some(output) = due.map(|at| self.outputs.remove(at)) {
            self.output(output.what, net);
            return true;
        }
        let due = self.waiting.front().is_some_and(|(at, _)| *at <= net.now);
        let Some((_, frame)) = due.then(|| self.waiting.pop_front()).flatten() else { return false };
        net.queue(self.up, frame);
        true
    }

    fn output(&mut self, what: Sent, net: &mut Net) {
        match what {
            Sent::Packet(bytes) => {
                if let Some(frame) = net.frame(self.node, bytes) {
                    net.queue(self.up, frame);
                }
            }
            Sent::Poll => self.proxy.iter_mut().for_each(|proxy| proxy.polled(net.now)),
            Sent::Announce(mode) => self.proxy.iter_mut().for_each(|proxy| proxy.announced(net.now, mode)),
        }
    }

    /// Performs an action of the access point; false if there is none.
    fn access_point_acts(&mut self, net: &mut Net) -> bool {
        let (now, down) = (net.now, self.down);
        let Some(proxy) = &mut self.proxy else { return false };
        match proxy.poll_output() {
            Some(ProxyOutput::Beacon { buffered }) => {
                self.beacon = Some(Beacon { from: now, until: now + self.beacon_time, buffered });
                return true;
            }
            Some(ProxyOutput::Refused(frame)) => {
                net.drop(down, &frame);
                return true;
            }
            None => {}
        }
        self.leaves_at = Instant::NEVER;
        if !proxy.has_packet() {
            return false;
        }
        let free_at = net.links[down].busy_until(now);
        if free_at > now {
            self.leaves_at = free_at;
            return false;
        }
        let Some((frame, more)) = proxy.next_packet() else { return false };
        self.send_down(frame, more, net);
        true
    }

    /// Sends a packet of the access point. The radio does not wait for a packet that the air loses.
    fn send_down(&mut self, frame: Frame, more: bool, net: &mut Net) {
        if net.queue(self.down, frame) {
            self.station.expects_packet();
            self.more.push_back(more);
        }
    }
}

/// The stations of the network.
#[derive(Debug)]
pub struct Stations {
    members: ById<StationId, Member>,
    at: ById<NodeId, Option<StationId>>,
    below: ById<LinkId, Option<StationId>>,
}

impl Stations {
    /// Creates the plan's stations.
    ///
    /// # Errors
    /// If a machine refuses its configuration, or a recording cannot be started.
    pub fn new(plan: &Plan, tapes: Option<&Path>) -> Result<Self> {
        let ids = || (0..plan.stations.len()).map(StationId::new);
        let members = ids().map(|id| Member::new(plan, id, tapes)).collect::<Result<Vec<Member>>>()?;
        let (mut at, mut below) = (ById::filled(None, plan.nodes.len()), ById::filled(None, plan.links.len()));
        for (id, member) in ids().zip(&members) {
            at[member.node] = Some(id);
            below[member.down] = Some(id);
        }
        Ok(Self { members: members.into(), at, below })
    }

    /// The station of a node.
    #[must_use]
    pub fn at(&self, node: NodeId) -> Option<StationId> {
        self.at[node]
    }

    /// The station at the end of a link.
    #[must_use]
    pub fn below(&self, link: LinkId) -> Option<StationId> {
        self.below[link]
    }

    /// All stations.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.iter()
    }

    /// All stations.
    pub fn members_mut(&mut self) -> impl Iterator<Item = &mut Member> {
        self.members.iter_mut()
    }
}

impl Index<StationId> for Stations {
    type Output = Member;

    fn index(&self, id: StationId) -> &Member {
        &self.members[id]
    }
}

impl IndexMut<StationId> for Stations {
    fn index_mut(&mut self, id: StationId) -> &mut Member {
        &mut self.members[id]
    }
}
