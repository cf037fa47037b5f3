//! Who owns which slot of the schedule: the written order of simultaneous events.
//!
//! At the same nanosecond, in this order: (1) departures from links that schedule them, (2) arrivals at the far ends of
//! links, each in the order of the links; (3) rate controllers' wake-ups; (4) redraws of capacities; (5) links that fall asleep or
//! wake, then new tables of routers; (6) stations, in the order of the scenario, each as `run/stations` says; (7) TCP timers, in the order of the flows, sender before
//! receiver, then those of requests' connections, in the order of their flows and
//! of their places (`run/pool.rs`), sender before receiver; (8) requests' connections that learn of dropped packets, in
//! the order of their agents; (9) traffic sources, connections that open, their applications and requests, in the order
//! of the flows; (10) the start of measurement; (11) the ends of probe bins; (12) a beat, at which nothing happens that was
//! not due before. So a packet that leaves a full buffer at t makes room for one that arrives at t, and a probe sees the
//! state after everything else.

use crate::engine::schedule::Slot;
use crate::net::ids::{AgentId, CapacityId, ControllerId, FlowId, LinkId, StationId};

/// What a slot stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The n-th link that schedules its departures: a departure.
    Departure(usize),
    /// A link: an arrival at its far end.
    Delivery(LinkId),
    /// The n-th controller.
    Controller(ControllerId),
    /// The n-th varying capacity.
    Redraw(CapacityId),
    /// Links fall asleep or wake, or routers have new tables.
    Reroute,
    /// A station: its radio, its machine or its access point.
    Station(StationId),
    /// The timer of a TCP flow's endpoint.
    Timer(AgentId),
    /// The timer of an end of a request's connection.
    RequestTimer(AgentId),
    /// Packets of requests that were dropped: their connections learn of it.
    Settlement,
    /// A flow: its start, what its application does next, its next datagram or its next request.
    Source(FlowId),
    /// Measurement starts.
    WarmUp,
    /// A phase begins or ends.
    Mark,
    /// A probe's bin ends.
    Probe,
    /// Datagrams that are drawn and that nothing else has asked for.
    Beat,
}

/// The first slot of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    deliveries: Slot,
    controllers: Slot,
    redraws: Slot,
    reroute: Slot,
    stations: Slot,
    timers: Slot,
    request_timers: Slot,
    settlement: Slot,
    sources: Slot,
    warm_up: Slot,
    /// The first agent behind those of flows: an end of a request's connection.
    first_end: AgentId,
}

/// How many of each kind there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Population {
    pub departures: usize,
    pub links: usize,
    pub controllers: usize,
    pub redraws: usize,
    pub stations: usize,
    /// TCP endpoints of flows.
    pub endpoints: usize,
    /// Ends of the connections of requests that may be open at once.
    pub request_ends: usize,
    pub flows: usize,
}

impl Slots {
    pub fn new(population: Population) -> Self {
        let behind = |slot: Slot, components: usize| Slot::new(slot.index() + components);
        let deliveries = Slot::new(population.departures);
        let controllers = behind(deliveries, population.links);
        let redraws = behind(controllers, population.controllers);
        let reroute = behind(redraws, population.redraws);
        let stations = reroute.nth(1);
        let timers = behind(stations, population.stations);
        let request_timers = behind(timers, population.endpoints);
        let settlement = behind(request_timers, population.request_ends);
        let sources = settlement.nth(1);
        let warm_up = behind(sources, population.flows);
        Self {
            deliveries,
            controllers,
            redraws,
            reroute,
            stations,
            timers,
            request_timers,
            settlement,
            sources,
            warm_up,
            first_end: AgentId::new(2 * population.flows),
        }
    }

    pub fn count(&self) -> usize {
        self.warm_up.index() + 4
    }

    pub fn departure(index: usize) -> Slot {
        Slot::new(index)
    }

    pub fn delivery(&self, link: LinkId) -> Slot {
        self.deliveries.nth(link.number())
    }

    pub fn controller(&self, controller: ControllerId) -> Slot {
        self.controllers.nth(controller.number())
    }

    pub fn redraw(&self, capacity: CapacityId) -> Slot {
        self.redraws.nth(capacity.number())
    }

    pub fn reroute(&self) -> Slot {
        self.reroute
    }

    pub fn station(&self, station: StationId) -> Slot {
        self.stations.nth(station.number())
    }

    #[inline]
    pub fn timer(&self, agent: AgentId) -> Slot {
        self.timers.nth(agent.number())
    }

    /// The timer of an end of a request's connection.
    #[inline]
    pub fn request_timer(&self, agent: AgentId) -> Slot {
        self.request_timers.nth(agent.number() - self.first_end.number())
    }

    pub fn settlement(&self) -> Slot {
        self.settlement
    }

    pub fn source(&self, flow: FlowId) -> Slot {
        self.sources.nth(flow.number())
    }

    pub fn warm_up(&self) -> Slot {
        self.warm_up
    }

    pub fn mark(&self) -> Slot {
        self.warm_up.nth(1)
    }

    pub fn probe(&self) -> Slot {
        self.warm_up.nth(2)
    }

    pub fn beat(&self) -> Slot {
        self.warm_up.nth(3)
    }

    /// Whose slot it is; the common ones are found first.
    #[inline]
    pub fn owner(&self, slot: Slot) -> Owner {
        if slot < self.controllers {
            if slot < self.deliveries {
                Owner::Departure(slot.index())
            } else {
                Owner::Delivery(LinkId::numbered(slot.behind(self.deliveries)))
            }
        } else if slot < self.redraws {
            Owner::Controller(ControllerId::numbered(slot.behind(self.controllers)))
        } else if slot < self.reroute {
            Owner::Redraw(CapacityId::numbered(slot.behind(self.redraws)))
        } else if slot == self.reroute {
            Owner::Reroute
        } else if slot < self.timers {
            Owner::Station(StationId::numbered(slot.behind(self.stations)))
        } else if slot < self.request_timers {
            Owner::Timer(AgentId::numbered(slot.behind(self.timers)))
        } else if slot < self.settlement {
            Owner::RequestTimer(AgentId::numbered(self.first_end.number() + slot.behind(self.request_timers)))
        } else if slot == self.settlement {
            Owner::Settlement
        } else if slot < self.warm_up {
            Owner::Source(FlowId::numbered(slot.behind(self.sources)))
        } else if slot == self.warm_up {
            Owner::WarmUp
        } else if slot == self.mark() {
            Owner::Mark
        } else if slot == self.probe() {
            Owner::Probe
        } else {
            Owner::Beat
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_its_owner_in_the_written_order() {
        let slots = Slots::new(Population {
            departures: 1,
            links: 2,
            controllers: 1,
            redraws: 1,
            stations: 2,
            endpoints: 2,
            request_ends: 4,
            flows: 2,
        });
        let owners: Vec<Owner> = (0..slots.count()).map(|slot| slots.owner(Slot::new(slot))).collect();
        let written = [
            Owner::Departure(0),
            Owner::Delivery(LinkId::new(0)),
            Owner::Delivery(LinkId::new(1)),
            Owner::Controller(ControllerId::new(0)),
            Owner::Redraw(CapacityId::new(0)),
            Owner::Reroute,
            Owner::Station(StationId::new(0)),
            Owner::Station(StationId::new(1)),
            Owner::Timer(AgentId::new(0)),
            Owner::Timer(AgentId::new(1)),
            // Two flows have the agents 0 to 3.
            Owner::RequestTimer(AgentId::new(4)),
            Owner::RequestTimer(AgentId::new(5)),
            Owner::RequestTimer(AgentId::new(6)),
            Owner::RequestTimer(AgentId::new(7)),
            Owner::Settlement,
            Owner::Source(FlowId::new(0)),
            Owner::Source(FlowId::new(1)),
            Owner::WarmUp,
            Owner::Mark,
            Owner::Probe,
            Owner::Beat,
        ];
        assert_eq!(owners, written);
        assert_eq!(slots.owner(slots.timer(AgentId::new(1))), Owner::Timer(AgentId::new(1)));
        assert_eq!(slots.owner(slots.request_timer(AgentId::new(5))), Owner::RequestTimer(AgentId::new(5)));
        assert_eq!(slots.owner(slots.probe()), Owner::Probe);
    }
}
