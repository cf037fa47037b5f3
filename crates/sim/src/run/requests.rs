//! Requests in the world: packets to and from the connections of pools.
//!
//! Agents of these connections are numbered behind those of the flows, two for each place of each pool, sender before
//! receiver; what they count, they count at the two agents of their flow.

use super::outcome::RunError;
use super::parts::Agent;
use super::pool::{Place, Pool, Progress, Role};
use super::world::World;
use crate::engine::random::Stream;
use crate::net::ids::{AgentId, FlowId};
use crate::net::packet::Packet;
use crate::probe::{RequestRow, RequestTable};
use crate::scenario::Scenario;
use netlull_tcp::{SeqNr, State};
use netlull_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// All flows of requests.
pub(super) struct Requests {
    pub pools: Vec<Pool>,
    /// Agents and flows before theirs.
    pub first_agent: AgentId,
    pub first_flow: FlowId,
    /// Packets of connections that were dropped, and when.
    dropped: BinaryHeap<Reverse<(Instant, AgentId)>>,
    /// Why the run cannot go on.
    pub failure: Option<RunError>,
    /// Table `request`, and the flows that are in it.
    pub table: Option<(RequestTable, Vec<bool>)>,
}

/// An end of a connection of a pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct PooledAgent {
    pool: usize,
    place: usize,
    role: Role,
}

impl Requests {
    pub fn new(scenario: &Scenario) -> Self {
        let mut first_place = 0;
        let mut pools = Vec::with_capacity(scenario.request_flows.len());
        for flow in &scenario.request_flows {
            let mut stream = Stream::new(scenario.seed, &format!("iss.{}", flow.path.name));
            let mut origin = || SeqNr::new(0).advanced_by(stream.between(0, 1 << 32));
            pools.push(Pool::new(flow, scenario.seed, first_place, [origin(), origin()]));
            first_place += flow.most_open as usize;
        }
        let flows = scenario.flow_paths().count();
        let first_flow = FlowId::new(flows - pools.len());
        let chosen = |flow: usize| scenario.probe.flows.as_ref().is_none_or(|flows| flows.contains(&flow));
        let table = scenario
            .probe
            .requests
            .then(|| (RequestTable::default(), (first_flow.index()..flows).map(chosen).collect()));
        Self {
            pools,
            first_agent: AgentId::sender(FlowId::new(flows)),
            first_flow,
            dropped: BinaryHeap::new(),
            failure: None,
            table,
        }
    }

    /// The pool of a flow of requests.
    #[inline]
    pub fn pool_of(&self, flow: FlowId) -> Option<usize> {
        flow.index().checked_sub(self.first_flow.index())
    }

    /// The place of an agent among those of all pools, if it is an end of a connection.
    #[inline]
    fn place_of(&self, agent: AgentId) -> Option<usize> {
        agent.flow().index().checked_sub(self.first_agent.flow().index())
    }

    /// The end of a connection that an agent is.
    #[inline]
    fn end(&self, agent: AgentId) -> PooledAgent {
        self.end_at(self.place_of(agent).unwrap_or_default(), agent)
    }

    #[inline]
    fn end_at(&self, place: usize, agent: AgentId) -> PooledAgent {
        let mut pool = 0;
        while self.pools.get(pool + 1).is_some_and(|next| next.first_place <= place) {
            pool += 1;
        }
        let role = if agent.is_sender() { Role::Sender } else { Role::Receiver };
        PooledAgent { pool, place: place - self.pools[pool].first_place, role }
    }

    /// The agent with which an end counts: its flow's.
    pub fn flow_agent(&self, agent: AgentId) -> AgentId {
        match self.place_of(agent) {
            None => agent,
            Some(place) => self.agent_of(self.end_at(place, agent)),
        }
    }

    /// The shift of the windows that an end of a connection advertises.
    pub fn window_shift(&self, agent: AgentId) -> u8 {
        let end = self.end(agent);
        let place = &self.pools[end.pool].places[end.place];
        match end.role {
            Role::Sender => place.sender.window_shift(),
            Role::Receiver => place.receiver.window_shift(),
        }
    }

    /// The agent with which this end counts.
    #[inline]
    fn agent_of(&self, end: PooledAgent) -> AgentId {
        let flow = FlowId::new(self.first_flow.index() + end.pool);
        match end.role {
            Role::Sender => AgentId::sender(flow),
            Role::Receiver => AgentId::receiver(flow),
        }
    }

    /// Whether a packet belongs to a connection of this pool.
    pub fn owns(&self, pool: &Pool, agent: AgentId) -> bool {
        let places = pool.first_place..pool.first_place + pool.places.len();
        self.place_of(agent).is_some_and(|place| places.contains(&place))
    }

    /// The table of requests, those that are not complete last, in the order in which they came.
    pub fn into_table(self) -> Option<crate::probe::Table> {
        let (mut table, chosen) = self.table?;
        let mut rows: Vec<RequestRow> = Vec::new();
        for ((flow, pool), _) in (self.first_flow.number()..).zip(&self.pools).zip(chosen).filter(|(_, chosen)| *chosen)
        {
            let under = pool.open_places().filter(|(_, place)| place.state != Progress::Complete);
            rows.extend(under.map(|(_, place)| row(place, flow, None)));
        }
        rows.sort_by_key(|row| (row.start, row.flow));
        rows.iter().for_each(|row| table.push(row));
        Some(table.into_table())
    }
}

fn row(place: &Place, flow: u32, completion: Option<Duration>) -> RequestRow {
    let counters = place.sender.counters();
    RequestRow {
        flow,
        start: place.opened,
        size: place.size,
        completion,
        retransmissions: counters.retransmitted_segments,
        timeouts: counters.timeouts,
    }
}

impl World {
    /// A request of a pool comes: a connection opens.
    pub(super) fn request(&mut self, index: usize) {
        let slot = self.slots.source(FlowId::new(self.requests.first_flow.index() + index));
        let pool = &mut self.requests.pools[index];
        let opened = pool.open(self.now);
        self.schedule.set(slot, pool.source.next());
        match opened {
            Ok(place) => {
                let connection = FlowId::new(self.requests.first_agent.flow().index() + pool.first_place + place);
                self.flow_keys.opened(connection, pool.opened().0);
                pool.places[place].on_way += 1;
                self.attend(PooledAgent { pool: index, place, role: Role::Sender }, AgentId::sender(connection));
            }
            Err(failure) => {
                self.requests.failure = Some(failure);
                // Nothing else happens.
                self.end = Instant::ZERO;
            }
        }
    }

    /// A packet has reached an end of a connection.
    pub(super) fn receive_request(&mut self, packet: &Packet) {
        let end = self.requests.end(packet.agent);
        self.agents[self.requests.agent_of(end).index()].counters.receive(packet);
        let place = &mut self.requests.pools[end.pool].places[end.place];
        let endpoint = place.end(end.role);
        endpoint.handle_segment(self.now, &packet.segment);
        // The receiving application has nothing to say: it closes when the sender has.
        if endpoint.state() == State::CloseWait {
            endpoint.close();
        }
        // It counts as on its way until all that it leads to is sent: the place is not freed under its feet.
        self.attend(end, packet.agent);
    }

    /// The time of a connection's timer has come, or it was set for a connection that was there before.
    pub(super) fn request_timer(&mut self, agent: AgentId) {
        let end = self.requests.end(agent);
        let place = &mut self.requests.pools[end.pool].places[end.place];
        if place.state == Progress::Free {
            self.events -= 1;
            return;
        }
        let endpoint = place.end(end.role);
        let due = endpoint.next_timeout();
        if due > self.now {
            // It came too early, and re-arms itself.
            self.events -= 1;
            self.schedule.set(self.slots.request_timer(agent), due);
            return;
        }
        endpoint.handle_timeout(self.now);
        place.on_way += 1;
        self.attend(end, agent);
    }

    /// Sends what an end has to send, looks after its timer and after the end of the connection. Whoever calls has counted
    /// one more packet on its way, which this takes off.
    fn attend(&mut self, end: PooledAgent, agent: AgentId) {
        let from = self.requests.agent_of(end);
        let Agent { node, out, peer_node, .. } = self.agents[from.index()];
        // Written where it stays until a link takes it, as in `World::pump`.
        let mut packet = Packet { destination: peer_node, ..Packet::default() };
        packet.agent = agent.peer();
        let place = loop {
            let place = &mut self.requests.pools[end.pool].places[end.place];
            if !place.end(end.role).poll_transmit_into(self.now, &mut packet.segment) {
                break place;
            }
            place.on_way += 1;
            packet.size = packet.segment.wire_len();
            let counters = &mut self.agents[from.index()].counters;
            counters.sent_packets += 1;
            counters.sent_bytes += u64::from(packet.size);
            if self.observers.follows && end.role == Role::Sender {
                self.observers.timed(self.now, agent.flow(), &packet.segment, &place.sender, &self.flow_keys);
            }
            self.originate(self.now, node, out, &mut packet);
        };
        place.on_way -= 1;
        if let Some(gateways) = &mut self.observers.gateways
            && end.role == Role::Sender
        {
            gateways.turned(self.now, agent.flow(), &place.sender);
        }
        // Lazy: an event that fires too early re-arms itself.
        let timer = self.slots.request_timer(agent);
        self.schedule.set_if_earlier(timer, place.end(end.role).next_timeout());
        let is_over = place.is_over();
        if end.role == Role::Sender && place.has_completed() {
            self.complete_request(end);
        }
        if is_over {
            self.requests.pools[end.pool].retire(end.place);
        }
    }

    /// All data of a request has been acknowledged.
    #[cold]
    fn complete_request(&mut self, end: PooledAgent) {
        let flow = self.requests.agent_of(end).flow();
        let pool = &mut self.requests.pools[end.pool];
        pool.complete(end.place, self.now);
        if let Some((table, chosen)) = &mut self.requests.table
            && chosen[end.pool]
        {
            let place = &pool.places[end.place];
            table.push(&row(place, flow.number(), Some(self.now - place.opened)));
        }
    }

    /// A packet of a connection is dropped or lost at `now`, which may be ahead of the run's time: the connection learns
    /// of it then.
    #[cold]
    pub(super) fn request_dropped(&mut self, now: Instant, agent: AgentId) {
        self.requests.dropped.push(Reverse((now, agent)));
        self.schedule.set_if_earlier(self.slots.settlement(), now);
    }

    /// Connections learn of packets that were dropped by now. Bookkeeping, not counted as an event.
    #[cold]
    pub(super) fn settle_drops(&mut self) {
        self.events -= 1;
        while let Some(&Reverse((at, agent))) = self.requests.dropped.peek() {
            if at > self.now {
                self.schedule.set(self.slots.settlement(), at);
                return;
            }
            self.requests.dropped.pop();
            let end = self.requests.end(agent);
            let pool = &mut self.requests.pools[end.pool];
            let place = &mut pool.places[end.place];
            place.on_way -= 1;
            if place.is_over() {
                pool.retire(end.place);
            }
        }
    }
}
