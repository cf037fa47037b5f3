//! The connections of requests: all pools of a run, and the agents at the ends of their connections.
//!
//! The agents of these connections have the numbers after those of flows. Each slot of a pool has two, sender before
//! receiver. They count with the two agents of their flow.

use super::gateway_probe::FlowKeys;
use super::net::Net;
use super::observers::Observers;
use super::pool::{Place, Pool, Progress, Role};
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, FlowId};
use crate::probe::{RequestRow, RequestTable, Table};
use crate::scenario::Scenario;
use netlull_network::random::Stream;
use netlull_tcp::{SeqNr, State};
use netlull_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// All request flows.
pub(super) struct Requests {
    pub pools: Vec<Pool>,
    /// The first request flow: the number of flows before it.
    pub first_flow: FlowId,
    /// The first connection. The numbers of connections follow those of the flows.
    pub first_connection: FlowId,
    /// Dropped packets of connections, with their times.
    dropped: BinaryHeap<Reverse<(Instant, AgentId)>>,
    /// The table `request`, and the flows in it.
    table: Option<(RequestTable, Vec<bool>)>,
}

/// An end of a pool's connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pool: u32,
    place: u32,
    agent: AgentId,
}

impl End {
    fn role(self) -> Role {
        if self.agent.is_sender() { Role::Sender } else { Role::Receiver }
    }
}

// Forced inlines here, by `make counts`: without them and those of `hosts`, `control`, `fixed` and `transmitter`
// practRA takes 3.8 % more instructions, web 2.4 %.
impl Requests {
    /// The request flows of a scenario, without connections.
    pub fn new(scenario: &Scenario) -> Self {
        let mut first_place = 0;
        let mut pools = Vec::with_capacity(scenario.request_flows.len());
        for flow in &scenario.request_flows {
            let mut stream = Stream::new(scenario.seed, &format!("iss.{}", flow.path.name));
            let mut origin = || SeqNr::new(0).advanced_by(stream.between(0, 1 << 32));
            pools.push(Pool::new(flow, scenario.seed, first_place, [origin(), origin()]));
            first_place += flow.most_open;
        }
        let flows = scenario.flow_paths().count();
        let first_flow = FlowId::new(flows - pools.len());
        let chosen = |flow: usize| scenario.probe.flows.as_ref().is_none_or(|flows| flows.contains(&flow));
        let table = scenario
            .probe
            .requests
            .then(|| (RequestTable::default(), (first_flow.index()..flows).map(chosen).collect()));
        let first_connection = FlowId::new(flows);
        Self { pools, first_flow, first_connection, dropped: BinaryHeap::new(), table }
    }

    /// Returns true for the number of a flow, or of a slot of a request connection.
    pub fn knows(&self, flow: FlowId) -> bool {
        let slots: u32 = self.pools.iter().map(Pool::slots).sum();
        flow.number() < self.first_connection.number() + slots
    }

    /// Schedules the first request of each flow.
    pub fn start(&self, net: &mut Net) {
        for (number, pool) in (0..).zip(&self.pools) {
            let flow = FlowId::numbered(self.first_flow.number() + number);
            net.schedule.set(net.order.source(flow), pool.source.next());
        }
    }

    /// The pool of a request flow.
    #[inline]
    pub fn pool_of(&self, flow: FlowId) -> Option<usize> {
        flow.index().checked_sub(self.first_flow.index())
    }

    /// The flow of a pool.
    #[inline]
    fn flow_of(&self, pool: u32) -> FlowId {
        FlowId::numbered(self.first_flow.number() + pool)
    }

    /// The slot of an agent among the slots of all pools, if it is an end of a connection.
    #[inline]
    fn place_of(&self, agent: AgentId) -> Option<u32> {
        agent.flow().number().checked_sub(self.first_connection.number())
    }

    /// The end of a connection for an agent.
    #[inline]
    pub fn end(&self, agent: AgentId) -> End {
        self.end_at(agent.flow().number() - self.first_connection.number(), agent)
    }

    #[inline]
    fn end_at(&self, place: u32, agent: AgentId) -> End {
        let mut pool = 0;
        while self.pools.get(pool as usize + 1).is_some_and(|next| next.first_place <= place) {
            pool += 1;
        }
        End { pool, place: place - self.pools[pool as usize].first_place, agent }
    }

    /// The agent that counts for an agent: that of its flow.
    pub fn flow_agent(&self, agent: AgentId) -> AgentId {
        match self.place_of(agent) {
            None => agent,
            Some(place) => self.counts_as(self.end_at(place, agent)),
        }
    }

    /// The shift of an end's advertised windows.
    pub fn window_shift(&self, agent: AgentId) -> u8 {
        let end = self.end(agent);
        let place = &self.pools[end.pool as usize].places[end.place as usize];
        match end.role() {
            Role::Sender => place.sender.window_shift(),
            Role::Receiver => place.receiver.window_shift(),
        }
    }

    /// Returns true if an agent belongs to a connection of this pool.
    pub fn owns(&self, pool: &Pool, agent: AgentId) -> bool {
        let first = pool.first_place as usize;
        let places = first..first + pool.places.len();
        self.place_of(agent).is_some_and(|place| places.contains(&(place as usize)))
    }

    /// The agent that counts for an end: that of its flow.
    #[inline]
    pub fn counts_as(&self, end: End) -> AgentId {
        end.agent.of(self.flow_of(end.pool))
    }

    #[inline]
    fn place(&mut self, end: End) -> &mut Place {
        &mut self.pools[end.pool as usize].places[end.place as usize]
    }

    /// Opens a connection for a request of a pool. Returns its sender, unless too many connections are open.
    pub fn open(&mut self, pool: usize, net: &mut Net, keys: &mut FlowKeys) -> Option<AgentId> {
        let slot = net.order.source(FlowId::new(self.first_flow.index() + pool));
        let opening = &mut self.pools[pool];
        let opened = opening.open(net.now);
        net.schedule.set(slot, opening.source.next());
        match opened {
            Ok(place) => {
                let connection = FlowId::new(self.first_connection.index() + opening.first_place as usize + place);
                keys.opened(connection, opening.opened().0);
                opening.places[place].on_way += 1;
                Some(AgentId::sender(connection))
            }
            Err(failure) => {
                net.fail(failure);
                None
            }
        }
    }

    /// Passes a packet to an end of a connection. It stays counted as on its way until all resulting packets are sent,
    /// so the slot is not freed too early.
    #[inline(always)]
    pub fn receive(&mut self, now: Instant, end: End, packet: &Packet) {
        let endpoint = self.place(end).end(end.role());
        endpoint.handle_segment(now, &packet.segment);
        // The receiving application sends no data. It closes after the sender.
        if endpoint.state() == State::CloseWait {
            endpoint.close();
        }
    }

    /// Handles the event of a connection's timer, which may belong to an earlier connection. Returns the end if it may
    /// have a packet to send.
    pub fn timer(&mut self, agent: AgentId, net: &mut Net) -> Option<End> {
        let end = self.end(agent);
        let place = self.place(end);
        if place.state == Progress::Free {
            net.events -= 1;
            return None;
        }
        let endpoint = place.end(end.role());
        let due = endpoint.next_timeout();
        if due > net.now {
            // An early event re-arms itself.
            net.events -= 1;
            net.schedule.set(net.order.request_timer(agent), due);
            return None;
        }
        endpoint.handle_timeout(net.now);
        place.on_way += 1;
        Some(end)
    }

    /// The next packet of an end, which then counts as on its way. Returns false if there is none, and settles the
    /// end. Observers of gateways see the sent packets.
    #[inline(always)]
    pub fn next_packet(
        &mut self,
        end: End,
        packet: &mut Packet,
        net: &mut Net,
        observers: &mut Observers,
        keys: &FlowKeys,
    ) -> bool {
        let place = self.place(end);
        if !place.end(end.role()).poll_transmit_into(net.now, &mut packet.segment) {
            let over = settle(place, end, net, observers);
            if over.completed {
                self.complete(end, net.now);
            }
            if over.connection {
                self.pools[end.pool as usize].retire(end.place as usize);
            }
            return false;
        }
        place.on_way += 1;
        packet.size = packet.segment.wire_len();
        if observers.follows && end.agent.is_sender() {
            observers.timed(net.now, end.agent.flow(), &packet.segment, &place.sender, keys);
        }
        true
    }

    /// Records that all data of a request is acknowledged.
    #[cold]
    fn complete(&mut self, end: End, now: Instant) {
        let flow = self.flow_of(end.pool);
        let pool = &mut self.pools[end.pool as usize];
        pool.complete(end.place as usize, now);
        if let Some((table, chosen)) = &mut self.table
            && chosen[end.pool as usize]
        {
            let place = &pool.places[end.place as usize];
            table.push(&row(place, flow.number(), Some(now - place.opened)));
        }
    }

    /// Records a dropped or lost packet at `now`, which may be ahead of the run's time. The connection learns of it at
    /// that time.
    #[cold]
    pub fn drop(&mut self, now: Instant, agent: AgentId, net: &mut Net) {
        self.dropped.push(Reverse((now, agent)));
        net.schedule.set_if_earlier(net.order.settlement(), now);
    }

    /// Notifies connections of packets dropped by now. This is bookkeeping and does not count as an event.
    #[cold]
    pub fn settle_drops(&mut self, net: &mut Net) {
        net.events -= 1;
        while let Some(&Reverse((at, agent))) = self.dropped.peek() {
            if at > net.now {
                net.schedule.set(net.order.settlement(), at);
                return;
            }
            self.dropped.pop();
            let end = self.end(agent);
            let pool = &mut self.pools[end.pool as usize];
            let place = &mut pool.places[end.place as usize];
            place.on_way -= 1;
            if place.is_over() {
                pool.retire(end.place as usize);
            }
        }
    }

    /// The table of requests in the order of completion, then the incomplete ones in the order of arrival.
    pub fn into_table(self) -> Option<Table> {
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

/// The completion of a request, and the end of its connection.
struct Over {
    /// True if all data of the request is acknowledged and the completion is not yet recorded.
    completed: bool,
    /// True if the connection needs no further processing.
    connection: bool,
}

/// Sets the timer of an end that has sent its packets. The caller has counted an extra packet on its way, which is
/// subtracted here.
#[inline(always)]
fn settle(place: &mut Place, end: End, net: &mut Net, observers: &mut Observers) -> Over {
    place.on_way -= 1;
    if let Some(gateways) = &mut observers.gateways
        && end.agent.is_sender()
    {
        gateways.turned(net.now, end.agent.flow(), &place.sender);
    }
    // Lazy: an event that fires too early re-arms itself.
    net.schedule.set_if_earlier(net.order.request_timer(end.agent), place.end(end.role()).next_timeout());
    Over { completed: end.agent.is_sender() && place.has_completed(), connection: place.is_over() }
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
