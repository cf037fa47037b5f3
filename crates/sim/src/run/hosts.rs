//! The ends of flows: agents and their counters, TCP endpoints with their applications, and sources of datagrams.

use super::application::{self, Application};
use super::net::Net;
use super::observers::Observers;
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, FlowId, LinkId, NodeId, SourceId};
use crate::net::routing::NextHop;
use crate::scenario::{FlowPath, Scenario, TcpFlow, TransferSize};
use crate::traffic::DatagramSource;
use netlull_network::random::Stream;
use netlull_tcp::{Endpoint, Segment, SeqNr, State};
use netlull_units::{Duration, Instant};

/// The ends of flows.
pub(super) struct Hosts {
    pub agents: Vec<Agent>,
    /// The endpoint of each TCP agent.
    pub endpoints: Vec<Endpoint>,
    pub connections: Vec<Connection>,
    pub sources: Vec<DatagramSource>,
}

/// A sender or receiver of packets, TCP flows first. The ends of request connections have the numbers after these, and
/// share the two agents of their flow ([`Requests`](super::requests::Requests)).
#[derive(Clone, Debug)]
pub(super) struct Agent {
    /// The agent's node.
    pub node: NodeId,
    /// The first link to its peer. `None` if routes may change: then the node's table determines it.
    pub out: Option<LinkId>,
    /// The peer's node.
    pub peer_node: NodeId,
    /// Acceptance of packets as soon as their arrival is computed.
    pub ahead: AgentAhead,
    pub counters: AgentCounters,
}

/// The acceptance of packets before the run reaches their arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentAhead {
    No,
    /// A TCP endpoint that is the only sender on its first link.
    Endpoint,
    /// Such an endpoint, with an application that acts at its own times.
    Writer,
    /// A receiver of datagrams. It counts them and never answers.
    Sink,
}

impl AgentAhead {
    pub fn endpoint_if(alone: bool) -> Self {
        if alone { Self::Endpoint } else { Self::No }
    }

    pub fn is_endpoint(self) -> bool {
        matches!(self, Self::Endpoint | Self::Writer)
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AgentCounters {
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes sent, on the wire.
    pub sent_bytes: u64,
    /// Packets received.
    pub received_packets: u64,
    /// Bytes received, on the wire.
    pub received_bytes: u64,
    /// Received packets with a mark from a link.
    pub received_marked: u64,
    /// Packets to it that queues dropped or links lost.
    pub dropped_packets: u64,
}

impl AgentCounters {
    /// Counts a received packet.
    #[inline]
    pub fn receive(&mut self, packet: &Packet) {
        self.received_packets += 1;
        self.received_bytes += u64::from(packet.size);
        self.received_marked += u64::from(packet.is_marked());
    }

    /// Counts a sent packet.
    #[inline]
    pub fn send(&mut self, packet: &Packet) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(packet.size);
    }
}

/// The run's state of a TCP connection, in addition to its endpoints.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub size: TransferSize,
    /// The application, if it acts after the opening.
    pub application: Option<Box<Application>>,
    /// True if the application will not write again.
    pub all_written: bool,
    pub opened: Option<Instant>,
    pub completed: Option<Instant>,
    /// The congestion window in bytes, and the time of its last change.
    pub cwnd: u64,
    pub cwnd_since: Instant,
    /// Integral of the congestion window over time, byte seconds.
    pub cwnd_area: f64,
}

impl Connection {
    fn new(flow: &TcpFlow) -> Self {
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

    /// The time of the application's next action.
    pub fn next_action(&self) -> Instant {
        self.application.as_ref().map_or(Instant::NEVER, |application| application.next())
    }

    /// Hands over the application's available data when the connection opens.
    fn hand_over(&mut self, now: Instant, endpoint: &mut Endpoint) {
        self.all_written = application::hand_over(self.application.as_deref_mut(), self.size, now, endpoint);
    }

    /// Performs the application's due action.
    fn act(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if let Some(application) = &mut self.application {
            self.all_written = application.act(now, endpoint);
        }
    }

    /// Adds the time since the last change, multiplied by the window in that time.
    #[allow(clippy::cast_precision_loss)]
    pub fn settle_cwnd(&mut self, now: Instant) {
        self.cwnd_area += self.cwnd as f64 * (now - self.cwnd_since).as_secs_f64();
        self.cwnd_since = now;
    }
}

/// The end that takes a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Taker {
    /// A receiver of datagrams. It never answers.
    Sink,
    /// A TCP endpoint. It may have a segment to send.
    Endpoint,
    /// An end of a request connection.
    Request,
}

impl Hosts {
    /// The ends of a scenario's flows. Each agent sends over the first link of its route.
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            agents: scenario.flow_paths().flat_map(|path| agents(scenario, path)).collect(),
            endpoints: scenario.tcp_flows.iter().flat_map(|flow| endpoints(scenario.seed, flow)).collect(),
            connections: scenario.tcp_flows.iter().map(Connection::new).collect(),
            sources: scenario.datagram_flows.iter().map(|flow| DatagramSource::new(flow, scenario.seed)).collect(),
        }
    }

    /// The flows.
    pub fn flows(&self) -> impl DoubleEndedIterator<Item = FlowId> + Clone + use<> {
        FlowId::all(self.agents.len() / 2)
    }

    /// The flow of a source of datagrams.
    pub fn flow_of(&self, source: SourceId) -> FlowId {
        FlowId::new(self.connections.len() + source.index())
    }

    /// The source of a flow of datagrams.
    pub fn source_of(&self, flow: FlowId) -> SourceId {
        SourceId::new(flow.index() - self.connections.len())
    }

    /// Passes a packet to its end.
    #[inline]
    pub fn receive(&mut self, now: Instant, packet: &Packet) -> Taker {
        let agent = packet.agent.index();
        let Some(Agent { counters, .. }) = self.agents.get_mut(agent) else { return Taker::Request };
        counters.receive(packet);
        let Some(endpoint) = self.endpoints.get_mut(agent) else { return Taker::Sink };
        endpoint.handle_segment(now, &packet.segment);
        // The receiving application sends no data. It closes after the sender.
        if endpoint.state() == State::CloseWait {
            endpoint.close();
        }
        Taker::Endpoint
    }

    /// Sets an endpoint's timer after it has sent its segments. Follows a sender's window and its transfer.
    #[inline]
    pub fn settle(&mut self, now: Instant, agent: AgentId, net: &mut Net, observers: &mut Observers) {
        let endpoint = &self.endpoints[agent.index()];
        // Lazy: an event that fires too early re-arms itself.
        net.schedule.set_if_earlier(net.order.timer(agent), endpoint.next_timeout());
        if agent.is_sender() {
            self.watch_sender(now, agent, observers);
            if observers.follows && observers.have_failed() {
                net.end = Instant::ZERO;
            }
        }
    }

    /// Follows a sender's window, and records the completion of its transfer.
    #[inline]
    fn watch_sender(&mut self, now: Instant, sender: AgentId, observers: &mut Observers) {
        let flow = sender.flow();
        let (endpoint, connection) = (&self.endpoints[sender.index()], &mut self.connections[flow.index()]);
        let cwnd = endpoint.cwnd();
        if cwnd != connection.cwnd {
            connection.settle_cwnd(now);
            connection.cwnd = cwnd;
            if observers.recorder.records_windows() {
                observers.window(now, flow, cwnd, endpoint.ssthresh());
            }
        }
        if observers.follows {
            observers.turned(now, flow, endpoint);
        }
        if connection.completed.is_none() && connection.all_written && endpoint.all_acked() {
            connection.completed = Some(now);
        }
    }

    /// Handles the event of an endpoint's timer. Returns true if the timer is due. An early event does not count, and
    /// re-arms the timer.
    #[inline]
    pub fn timer(&self, agent: AgentId, net: &mut Net) -> bool {
        let due = self.endpoints[agent.index()].next_timeout();
        if due > net.now {
            net.events -= 1;
            net.schedule.set(net.order.timer(agent), due);
        }
        due <= net.now
    }

    /// Opens a connection. Its application hands over the available data.
    pub fn open(&mut self, flow: FlowId, net: &mut Net) {
        let (connection, endpoint) =
            (&mut self.connections[flow.index()], &mut self.endpoints[AgentId::sender(flow).index()]);
        connection.opened = Some(net.now);
        connection.cwnd_since = net.now;
        connection.cwnd = endpoint.cwnd();
        endpoint.open(net.now);
        connection.hand_over(net.now, endpoint);
        net.schedule.set(net.order.source(flow), connection.next_action());
    }

    /// Performs the due action of a connection's application.
    pub fn act(&mut self, now: Instant, flow: FlowId) {
        self.connections[flow.index()].act(now, &mut self.endpoints[AgentId::sender(flow).index()]);
    }

    /// The due datagram of a source.
    #[inline]
    pub fn datagram(&mut self, now: Instant, source: SourceId, sender: AgentId) -> Packet {
        let number = self.agents[sender.index()].counters.sent_packets;
        let source = &mut self.sources[source.index()];
        let size = source.size();
        source.sent(now);
        // A number takes the place of a header that no component reads.
        let segment = Segment { seq: SeqNr::new(0).advanced_by(number), ..Segment::default() };
        Packet { segment, size, ..Packet::default() }
    }

    /// The opening time of a flow: its start plus its jitter.
    pub fn start(scenario: &Scenario, flow: &TcpFlow) -> Instant {
        let mut stream = Stream::new(scenario.seed, &format!("start.{}", flow.path.name));
        let jitter = match flow.jitter.as_nanos() {
            0 => Duration::ZERO,
            below => Duration::from_nanos(stream.between(0, below)),
        };
        flow.start + jitter
    }

    /// Starts the measured time.
    pub fn start_measuring(&mut self, now: Instant) {
        for connection in &mut self.connections {
            connection.settle_cwnd(now);
            connection.cwnd_area = 0.0;
        }
    }
}

/// The sender and receiver of a flow. A receiver of datagrams sends nothing, so its first link is never used.
fn agents(scenario: &Scenario, path: &FlowPath) -> [Agent; 2] {
    let agent = |from: usize, to: usize| {
        let [from, to] = [from, to].map(NodeId::new);
        let out = match scenario.routes.next_hop(from, to) {
            NextHop::Link(link) | NextHop::Ahead(link) => link,
            NextHop::Here | NextHop::Unreachable | NextHop::Changeable(_) => LinkId::default(),
        };
        Agent { node: from, out: Some(out), peer_node: to, ahead: AgentAhead::No, counters: AgentCounters::default() }
    };
    [agent(path.from, path.to), agent(path.to, path.from)]
}

/// Client and server of a connection, with initial sequence numbers from the flow's own stream.
fn endpoints(seed: u64, flow: &TcpFlow) -> [Endpoint; 2] {
    let mut stream = Stream::new(seed, &format!("iss.{}", flow.path.name));
    let mut iss = || SeqNr::new(0).advanced_by(stream.between(0, 1 << 32));
    [Endpoint::client(&flow.config, iss()), Endpoint::server(&flow.config, iss())]
}
