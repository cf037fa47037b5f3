//! The order of simultaneous events: the owner of each slot of the schedule.
//!
//! Events of the same nanosecond have this order:
//!
//! 1. departures from links that schedule them, in the order of the links,
//! 2. arrivals at the far ends of links, in the order of the links,
//! 3. rate controllers' wake-ups,
//! 4. redraws of capacities,
//! 5. links that fall asleep or wake, then new tables of routers,
//! 6. stations, in the order of the scenario, each as described in `run/stations`,
//! 7. TCP timers, in the order of the flows, sender before receiver; then those of request connections, in the order
//!    of their flows and of their slots (`run/pool.rs`), sender before receiver,
//! 8. notices of dropped packets to request connections, in the order of their agents,
//! 9. traffic sources, connections that open, their applications and requests, in the order of the flows,
//! 10. the start of the measured time,
//! 11. the boundaries of phases,
//! 12. the ends of probe bins,
//! 13. a beat, at which only earlier datagrams are drawn.
//!
//! A packet that leaves a full buffer at t makes room for an arrival at t. A probe sees the state after all other
//! events.

use crate::net::ids::{AgentId, CapacityId, ControllerId, FlowId, LinkId, StationId};
use crate::scenario::Components;
use netlull_network::schedule::Slot;

/// The owner of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A departure from the n-th link that schedules its departures.
    Departure(usize),
    /// An arrival at the far end of a link.
    Delivery(LinkId),
    /// A wake-up of the n-th controller.
    Controller(ControllerId),
    /// A change of the n-th varying capacity.
    Redraw(CapacityId),
    /// Links that fall asleep or wake, or new tables of routers.
    Reroute,
    /// A station: its radio, its machine or its access point.
    Station(StationId),
    /// The timer of a TCP flow's endpoint.
    Timer(AgentId),
    /// The timer of an end of a request's connection.
    RequestTimer(AgentId),
    /// Notices of dropped packets to request connections.
    Settlement,
    /// A flow: its start, its application's next action, its next datagram or its next request.
    Source(FlowId),
    /// The start of the measured time.
    WarmUp,
    /// The start or end of a phase.
    PhaseEdge,
    /// The end of a probe's bin.
    Probe,
    /// Drawn datagrams that no other event has requested.
    Beat,
}

/// The first slot of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventOrder {
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
    /// The first agent after those of flows: an end of a request connection.
    first_end: AgentId,
}

impl EventOrder {
    pub fn new(components: &Components) -> Self {
        let behind = |slot: Slot, count: usize| Slot::new(slot.index() + count);
        let deliveries = Slot::new(components.departures);
        let controllers = behind(deliveries, components.links);
        let redraws = behind(controllers, components.controllers);
        let reroute = behind(redraws, components.redraws);
        let stations = reroute.nth(1);
        let timers = behind(stations, components.stations);
        let request_timers = behind(timers, components.endpoints);
        let settlement = behind(request_timers, components.request_ends);
        let sources = settlement.nth(1);
        let warm_up = behind(sources, components.flows);
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
            first_end: AgentId::new(2 * components.flows),
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

    /// The timer of an end of a request connection.
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

    pub fn phase_edge(&self) -> Slot {
        self.warm_up.nth(1)
    }

    pub fn probe(&self) -> Slot {
        self.warm_up.nth(2)
    }

    pub fn beat(&self) -> Slot {
        self.warm_up.nth(3)
    }

    /// The owner of a slot. The common owners are found first.
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
        } else if slot == self.phase_edge() {
            Owner::PhaseEdge
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
        let components = Components {
            departures: 1,
            links: 2,
            controllers: 1,
            redraws: 1,
            stations: 2,
            endpoints: 2,
            request_ends: 4,
            flows: 2,
        };
        let order = EventOrder::new(&components);
        assert_eq!(order.count(), components.slots());
        let owners: Vec<Owner> = (0..order.count()).map(|slot| order.owner(Slot::new(slot))).collect();
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
            Owner::PhaseEdge,
            Owner::Probe,
            Owner::Beat,
        ];
        assert_eq!(owners, written);
        assert_eq!(order.owner(order.timer(AgentId::new(1))), Owner::Timer(AgentId::new(1)));
        assert_eq!(order.owner(order.request_timer(AgentId::new(5))), Owner::RequestTimer(AgentId::new(5)));
        assert_eq!(order.owner(order.probe()), Owner::Probe);
    }
}
