//! The events of the emulated network: what is due, and when.

use super::agenda::{Agenda, Slot};
use super::ids::{FlowId, Id, LinkId, StationId};
use netlull_network::plan::Plan;
use netlull_units::{Duration, Instant};

/// An event. Events of one instant happen in the order of these variants, as in the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A link has sent a packet's last bit, or its pause is over.
    Departure(LinkId),
    /// A packet is at the far end of a link.
    Arrival(LinkId),
    /// The controller of a link wants to be woken.
    Controller(LinkId),
    /// The capacity of a link changes by itself.
    Capacity(LinkId),
    /// Links fall asleep or wake, or routers have new tables.
    Routing,
    /// Something of a station.
    Station(StationId),
    /// A flow sends its next datagram.
    Datagram(FlowId),
    /// A bin of the probe ends.
    Bin,
    /// Counters are read.
    Mark,
}

/// At most one instant for each event.
#[derive(Debug)]
pub(super) struct Timetable {
    agenda: Agenda,
    /// By link, then by station: the next instant at which something may reach a host.
    outward: Agenda,
    /// The time for which an event inside the network may be left undone.
    slack: Duration,
    links: Slot,
    stations: Slot,
    flows: Slot,
}

/// The longest time for which an event inside the network is left undone.
const SLACK: Duration = Duration::from_micros(100);

impl Timetable {
    /// A timetable without events.
    pub(super) fn new(plan: &Plan) -> Self {
        let count = |things: usize| LinkId::new(things).number();
        let (links, stations, flows) = (plan.links.len(), plan.stations.len(), plan.flows.len());
        Self {
            agenda: Agenda::new(4 * links + stations + flows + 3),
            outward: Agenda::new(links + stations),
            // Less than a packet is on its way: it still reaches its host in time.
            slack: plan.links.iter().map(|link| link.delay).fold(SLACK, Duration::min),
            links: count(links),
            stations: count(stations),
            flows: count(flows),
        }
    }

    /// From now on the event is due at `at` alone; not at all, if that is `NEVER`.
    pub(super) fn set(&mut self, due: Due, at: Instant) {
        self.agenda.set(self.slot(due), at);
    }

    /// The next instant at which something may come off a link for a host.
    pub(super) fn set_outward_link(&mut self, link: LinkId, at: Instant) {
        self.outward.set(link.number(), at);
    }

    /// The next instant at which a station may have something for its host.
    pub(super) fn set_outward_station(&mut self, station: StationId, at: Instant) {
        self.outward.set(self.links + station.number(), at);
    }

    /// The instant of the next event; `NEVER` if there is none.
    pub(super) fn next(&mut self) -> Instant {
        self.agenda.next()
    }

    /// The latest instant at which the network is to be looked at again: exact where a host may notice, later for all else, so that much of
    /// it is done at once.
    pub(super) fn wakes(&mut self) -> Instant {
        self.outward.next().min(self.agenda.next() + self.slack)
    }

    /// Takes the next event.
    pub(super) fn pop(&mut self) -> Option<(Instant, Due)> {
        let (at, slot) = self.agenda.pop()?;
        Some((at, self.due(slot)))
    }

    fn slot(&self, due: Due) -> Slot {
        let routing = 4 * self.links;
        let datagrams = routing + 1 + self.stations;
        match due {
            Due::Departure(link) => link.number(),
            Due::Arrival(link) => self.links + link.number(),
            Due::Controller(link) => 2 * self.links + link.number(),
            Due::Capacity(link) => 3 * self.links + link.number(),
            Due::Routing => routing,
            Due::Station(station) => routing + 1 + station.number(),
            Due::Datagram(flow) => datagrams + flow.number(),
            Due::Bin => datagrams + self.flows,
            Due::Mark => datagrams + self.flows + 1,
        }
    }

    fn due(&self, slot: Slot) -> Due {
        let mut rest = slot;
        for kind in [Due::Departure, Due::Arrival, Due::Controller, Due::Capacity] {
            if rest < self.links {
                return kind(LinkId::numbered(rest));
            }
            rest -= self.links;
        }
        let Some(rest) = rest.checked_sub(1) else { return Due::Routing };
        if rest < self.stations {
            return Due::Station(StationId::numbered(rest));
        }
        let rest = rest - self.stations;
        if rest < self.flows {
            return Due::Datagram(FlowId::numbered(rest));
        }
        if rest == self.flows { Due::Bin } else { Due::Mark }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_instant_come_in_the_written_order() {
        let mut timetable = Timetable {
            agenda: Agenda::new(4 * 2 + 1 + 2 + 3),
            outward: Agenda::new(3),
            slack: SLACK,
            links: 2,
            stations: 1,
            flows: 2,
        };
        let link = LinkId::numbered;
        let written = [
            Due::Departure(link(0)),
            Due::Departure(link(1)),
            Due::Arrival(link(0)),
            Due::Arrival(link(1)),
            Due::Controller(link(0)),
            Due::Controller(link(1)),
            Due::Capacity(link(0)),
            Due::Capacity(link(1)),
            Due::Routing,
            Due::Station(StationId::numbered(0)),
            Due::Datagram(FlowId::numbered(0)),
            Due::Datagram(FlowId::numbered(1)),
            Due::Bin,
            Due::Mark,
        ];
        let at = Instant::from_nanos(7);
        written.iter().rev().for_each(|&due| timetable.set(due, at));
        let taken: Vec<_> = std::iter::from_fn(|| timetable.pop()).collect();
        assert_eq!(taken, written.map(|due| (at, due)));
    }
}
