//! Who owns which slot of the schedule: the written order of simultaneous events.
//!
//! At the same nanosecond, in this order:
//!
//! 1. departures from links that schedule them, in the order of the links,
//! 2. arrivals at the far ends of links, in the order of the links,
//! 3. rate controllers' wake-ups,
//! 4. redraws of capacities,
//! 5. links that fall asleep or wake, then new tables of routers,
//! 6. stations, in the order of the scenario, each as `run/stations` says,
//! 7. TCP timers, in the order of the flows, sender before receiver; then those of requests' connections, in the order of
//!    their flows and of their slots in the pool (`run/pool.rs`), sender before receiver,
//! 8. requests' connections that learn of dropped packets, in the order of their agents,
//! 9. traffic sources, connections that open, their applications and requests, in the order of the flows,
//! 10. the start of measurement,
//! 11. the beginnings and ends of phases,
//! 12. the ends of probe bins,
//! 13. a beat, at which nothing happens that was not due before.
//!
//! A packet that leaves a full buffer at t makes room for one that arrives at t. A probe sees the state after all else.

use crate::engine::schedule::Slot;

/// What a slot stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The n-th link that schedules its departures: a departure.
    Departure(usize),
    /// A link: an arrival at its far end.
    Delivery(usize),
    /// The n-th controller.
    Controller(usize),
    /// The n-th varying capacity.
    Redraw(usize),
    /// Links fall asleep or wake, or routers have new tables.
    Reroute,
    /// A station: its radio, its machine or its access point.
    Station(usize),
    /// A TCP endpoint's timer: a flow's, or behind those that of an end of a request's connection.
    Timer(usize),
    /// Packets of requests that were dropped: their connections learn of it.
    Settlement,
    /// A flow: its start, what its application does next, its next datagram or its next request.
    Source(usize),
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
    settlement: Slot,
    sources: Slot,
    warm_up: Slot,
}

/// How many of each kind there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Population {
    pub departures: usize,
    pub links: usize,
    pub controllers: usize,
    pub redraws: usize,
    pub stations: usize,
    pub endpoints: usize,
    pub flows: usize,
}

#[allow(clippy::cast_possible_truncation)]
impl Slots {
    pub fn new(population: Population) -> Self {
        let deliveries = population.departures as Slot;
        let controllers = deliveries + population.links as Slot;
        let redraws = controllers + population.controllers as Slot;
        let reroute = redraws + population.redraws as Slot;
        let stations = reroute + 1;
        let timers = stations + population.stations as Slot;
        let settlement = timers + population.endpoints as Slot;
        let sources = settlement + 1;
        let warm_up = sources + population.flows as Slot;
        Self { deliveries, controllers, redraws, reroute, stations, timers, settlement, sources, warm_up }
    }

    pub fn count(&self) -> usize {
        self.warm_up as usize + 4
    }

    pub fn departure(index: usize) -> Slot {
        index as Slot
    }

    pub fn delivery(&self, link: usize) -> Slot {
        self.deliveries + link as Slot
    }

    pub fn controller(&self, index: usize) -> Slot {
        self.controllers + index as Slot
    }

    pub fn redraw(&self, index: usize) -> Slot {
        self.redraws + index as Slot
    }

    pub fn reroute(&self) -> Slot {
        self.reroute
    }

    pub fn station(&self, index: usize) -> Slot {
        self.stations + index as Slot
    }

    #[inline]
    pub fn timer(&self, endpoint: usize) -> Slot {
        self.timers + endpoint as Slot
    }

    pub fn settlement(&self) -> Slot {
        self.settlement
    }

    pub fn source(&self, flow: usize) -> Slot {
        self.sources + flow as Slot
    }

    pub fn warm_up(&self) -> Slot {
        self.warm_up
    }

    pub fn mark(&self) -> Slot {
        self.warm_up + 1
    }

    pub fn probe(&self) -> Slot {
        self.warm_up + 2
    }

    pub fn beat(&self) -> Slot {
        self.warm_up + 3
    }

    /// Whose slot it is; the common ones are found first.
    #[inline]
    pub fn owner(&self, slot: Slot) -> Owner {
        let from = |first: Slot| (slot - first) as usize;
        if slot < self.controllers {
            if slot < self.deliveries {
                Owner::Departure(slot as usize)
            } else {
                Owner::Delivery(from(self.deliveries))
            }
        } else if slot < self.redraws {
            Owner::Controller(from(self.controllers))
        } else if slot < self.reroute {
            Owner::Redraw(from(self.redraws))
        } else if slot == self.reroute {
            Owner::Reroute
        } else if slot < self.timers {
            Owner::Station(from(self.stations))
        } else if slot < self.settlement {
            Owner::Timer(from(self.timers))
        } else if slot == self.settlement {
            Owner::Settlement
        } else if slot < self.warm_up {
            Owner::Source(from(self.sources))
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
            flows: 2,
        });
        let owners: Vec<Owner> = (0..slots.count()).map(|slot| slots.owner(slot as Slot)).collect();
        let written = [
            Owner::Departure(0),
            Owner::Delivery(0),
            Owner::Delivery(1),
            Owner::Controller(0),
            Owner::Redraw(0),
            Owner::Reroute,
            Owner::Station(0),
            Owner::Station(1),
            Owner::Timer(0),
            Owner::Timer(1),
            Owner::Settlement,
            Owner::Source(0),
            Owner::Source(1),
            Owner::WarmUp,
            Owner::Mark,
            Owner::Probe,
            Owner::Beat,
        ];
        assert_eq!(owners, written);
        assert_eq!(slots.owner(slots.timer(1)), Owner::Timer(1));
        assert_eq!(slots.owner(slots.probe()), Owner::Probe);
    }
}
