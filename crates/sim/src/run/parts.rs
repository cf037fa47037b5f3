//! The parts of a world that are not links: agents, connections, what varies rates, who observes.

use super::ahead::AgentAhead;
use super::application::{self, Application};
use super::control::{Controller, FlowKeys};
use super::truth::GatewayProbe;
use crate::engine::random::Stream;
use crate::net::ids::{AgentId, FlowId, LinkId, NodeId};
use crate::net::link::{Admission, LinkCounters};
use crate::net::packet::Packet;
use crate::net::transmitter::InService;
use crate::probe::{ArrivalProbe, CaptureError, CaptureWriter, Recorder, SenderProbe, StationProbe};
use crate::scenario::{Capacity, TcpFlow, TransferSize};
use crate::verify::replay::Replay;
use netlull_tcp::{Endpoint, Segment};
use netlull_units::{BitRate, Instant};

/// A sender or receiver of packets: flow f has the agents 2f (sender) and 2f + 1 (receiver), TCP flows first. The ends of
/// requests' connections have numbers behind these, and share their flow's two (see [`Requests`]).
#[derive(Clone, Debug)]
pub(super) struct Agent {
    /// Its node.
    pub node: NodeId,
    /// The link on which it reaches its peer; `None` where routes may change: then the node's table tells.
    pub out: Option<LinkId>,
    /// Its peer's node.
    pub peer_node: NodeId,
    /// Whether it takes packets as soon as their arrival is computed.
    pub ahead: AgentAhead,
    pub counters: AgentCounters,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AgentCounters {
    /// Packets it sent.
    pub sent_packets: u64,
    /// Their bytes on the wire.
    pub sent_bytes: u64,
    /// Packets it received.
    pub received_packets: u64,
    /// Their bytes on the wire.
    pub received_bytes: u64,
    /// Packets it received that a link had marked.
    pub received_marked: u64,
    /// Packets to it that queues dropped or links lost.
    pub dropped_packets: u64,
}

impl AgentCounters {
    /// A packet has come.
    #[inline]
    pub fn receive(&mut self, packet: &Packet) {
        self.received_packets += 1;
        self.received_bytes += u64::from(packet.size);
        self.received_marked += u64::from(packet.is_marked());
    }
}

/// What the run knows of a TCP connection beside its endpoints.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub size: TransferSize,
    /// If it does something after the opening.
    pub application: Option<Box<Application>>,
    /// Whether all that will ever be written has been.
    pub all_written: bool,
    pub opened: Option<Instant>,
    pub completed: Option<Instant>,
    /// The congestion window in bytes, and since when.
    pub cwnd: u64,
    pub cwnd_since: Instant,
    /// Integral of the congestion window over time, byte seconds.
    pub cwnd_area: f64,
}

pub(super) struct Controlled {
    pub link: LinkId,
    pub machine: Controller,
    pub in_service: InService,
    /// The link that brings a gateway its acknowledgements.
    pub acknowledgements: Option<LinkId>,
}

pub(super) struct Redrawn {
    pub link: LinkId,
    pub capacity: Capacity,
    pub stream: Stream,
}

impl Redrawn {
    /// The rate from `now` on, if it changes.
    pub fn rate(&mut self, now: Instant) -> Option<BitRate> {
        match &self.capacity {
            Capacity::Redraws { min, max, .. } => {
                Some(BitRate::from_bps(self.stream.between(min.as_bps(), max.as_bps() + 1)))
            }
            Capacity::Steps(steps) => steps.iter().find(|(at, _)| *at == now).map(|&(_, rate)| rate),
        }
    }

    /// When it changes next.
    pub fn next(&mut self, now: Instant) -> Instant {
        match &self.capacity {
            Capacity::Redraws { mean_interval, .. } => now + self.stream.exponential(*mean_interval),
            Capacity::Steps(steps) => steps.iter().map(|&(at, _)| at).find(|&at| at > now).unwrap_or(Instant::NEVER),
        }
    }
}

/// Counters at the start of measurement.
#[derive(Clone, Debug)]
pub(super) struct Baseline {
    pub at: Instant,
    pub links: Vec<LinkCounters>,
    pub agents: Vec<AgentCounters>,
    pub tcp: Vec<netlull_tcp::Counters>,
    pub delivered: Vec<u64>,
    pub rate_changes: Vec<u64>,
}

/// Observers; none of them changes the run.
pub(super) struct Observers {
    pub recorder: Recorder,
    pub links: Vec<LinkId>,
    pub flows: Vec<FlowId>,
    pub drops: bool,
    /// Looks at gateways and at what they estimate, if there are any.
    pub gateways: Option<Box<GatewayProbe>>,
    /// Looks at packets that are offered to some links.
    pub arrivals: Option<Box<ArrivalProbe>>,
    /// Looks at TCP's senders.
    pub senders: Option<Box<SenderProbe>>,
    /// Looks at stations.
    pub stations: Option<Box<StationProbe>>,
    /// Whether somebody follows what TCP's senders send.
    pub follows: bool,
    /// Whether there is a capture or a replay, which see every packet.
    pub watching: bool,
    pub capture: Option<CaptureWriter>,
    pub capture_error: Option<CaptureError>,
    pub replay: Option<Box<Replay>>,
}

impl Connection {
    pub fn new(flow: &TcpFlow) -> Self {
        Self {
            size: flow.size,
            application: Application::new(flow),
            all_written: false,
            opened: None,
            completed: None,
            cwnd: 0,
            cwnd_since: Instant::ZERO,
            cwnd_area: 0.0,
        }
    }

    /// When its application does something next.
    pub fn next_action(&self) -> Instant {
        self.application.as_ref().map_or(Instant::NEVER, |application| application.next())
    }

    /// Its application hands over what there is as it opens.
    pub fn hand_over(&mut self, now: Instant, endpoint: &mut Endpoint) {
        self.all_written = application::hand_over(self.application.as_deref_mut(), self.size, now, endpoint);
    }

    /// Its application does what is due.
    pub fn act(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if let Some(application) = &mut self.application {
            self.all_written = application.act(now, endpoint);
        }
    }

    /// Adds the time since the last change at the window it had.
    #[allow(clippy::cast_precision_loss)]
    pub fn settle_cwnd(&mut self, now: Instant) {
        self.cwnd_area += self.cwnd as f64 * (now - self.cwnd_since).as_secs_f64();
        self.cwnd_since = now;
    }
}

impl Observers {
    #[cold]
    pub fn offered(&mut self, now: Instant, link: LinkId, packet: &Packet, admission: Admission) {
        if let Some(replay) = &mut self.replay {
            replay.offered(now, link, packet, admission);
        }
    }

    #[cold]
    pub fn delivered(&mut self, now: Instant, link: LinkId, packet: &Packet) {
        if let Some(replay) = &mut self.replay {
            replay.delivered(now, link, packet);
        }
        if let Some(capture) = &mut self.capture
            && self.capture_error.is_none()
        {
            self.capture_error = capture.packet(now, link, packet).err();
        }
    }

    #[cold]
    pub fn sent(&mut self, now: Instant, agent: AgentId, segment: &Segment, endpoint: &Endpoint, keys: &FlowKeys) {
        if !agent.is_sender() {
            return;
        }
        if let Some(senders) = &mut self.senders {
            senders.sent(now, agent.flow(), segment, endpoint);
        }
        self.timed(now, agent.flow(), segment, endpoint, keys);
    }

    /// A connection, of requests or not, sends a segment.
    #[cold]
    pub fn timed(&mut self, now: Instant, connection: FlowId, segment: &Segment, sender: &Endpoint, keys: &FlowKeys) {
        if let Some(gateways) = &mut self.gateways
            && segment.len > 0
        {
            gateways.sent(now, connection, keys.of(connection), sender);
        }
    }

    /// A flow's sender has heard of its peer.
    #[cold]
    pub fn turned(&mut self, now: Instant, flow: FlowId, sender: &Endpoint) {
        if let Some(senders) = &mut self.senders {
            senders.turned(now, flow, sender);
        }
        if let Some(gateways) = &mut self.gateways {
            gateways.turned(now, flow, sender);
        }
    }

    #[cold]
    pub fn dropped(&mut self, now: Instant, link: LinkId, flow: FlowId) {
        self.recorder.drop(now, link.number(), flow.number());
    }

    pub fn window(&mut self, now: Instant, flow: FlowId, cwnd: u64, ssthresh: u64) {
        self.recorder.window(now, flow.number(), cwnd, ssthresh);
    }
}
