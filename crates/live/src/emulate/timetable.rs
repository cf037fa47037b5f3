//! The scheduled events of the emulated network.

use super::ids::{FlowId, Id, LinkId, StationId};
use netlull_network::plan::Plan;
use netlull_network::schedule::{Schedule, Slot};
use netlull_units::{Duration, Instant};

/// An event. Simultaneous events happen in the order of these variants, as in the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The end of a transmission or of a link's pause, or the start of a packet on a trace.
    Departure(LinkId),
    /// The arrival of a packet at the far end of a link.
    Arrival(LinkId),
    /// The timeout of a link's controller.
    Controller(LinkId),
    /// A step of a link's time-varying capacity.
    Capacity(LinkId),
    /// A change of sleeping links or routing tables.
    Routing,
    /// An event of a station.
    Station(StationId),
    /// The next datagram of a flow.
    Datagram(FlowId),
    /// The end of the probe's bin.
    Bin,
    /// A snapshot of the counters.
    Mark,
}

/// The schedule, with at most one instant for each event.
#[derive(Debug)]
pub(super) struct Timetable {
    schedule: Schedule,
    /// The next instants at which a packet may reach a host, by link, then by station.
    outward: Schedule,
    /// The permitted delay for processing an event inside the network.
    slack: Duration,
    links: usize,
    stations: usize,
    flows: usize,
}

/// The upper limit of that delay.
const SLACK: Duration = Duration::from_micros(100);

impl Timetable {
    /// Creates an empty timetable.
    pub(super) fn new(plan: &Plan) -> Self {
        let (links, stations, flows) = (plan.links.len(), plan.stations.len(), plan.flows.len());
        Self {
            schedule: Schedule::new(4 * links + stations + flows + 3),
            outward: Schedule::new(links + stations),
            // At most the shortest propagation delay, so a packet still reaches its host in time.
            slack: plan.links.iter().map(|link| link.delay).fold(SLACK, Duration::min),
            links,
            stations,
            flows,
        }
    }

    /// Schedules an event at `at` in place of its earlier instant; `NEVER` cancels it.
    pub(super) fn set(&mut self, due: Due, at: Instant) {
        let place = self.place(due);
        set(&mut self.schedule, place, at);
    }

    /// Sets the next instant at which a packet for a host may leave a link.
    pub(super) fn set_outward_link(&mut self, link: LinkId, at: Instant) {
        set(&mut self.outward, link.index(), at);
    }

    /// Sets the next instant at which a station may have a packet for its host.
    pub(super) fn set_outward_station(&mut self, station: StationId, at: Instant) {
        set(&mut self.outward, self.links + station.index(), at);
    }

    /// The instant of the next event; `NEVER` if there is none.
    pub(super) fn next(&mut self) -> Instant {
        self.schedule.earliest()
    }

    /// The latest instant for the next processing. It is exact where a host can notice, and later for all other events,
    /// so they are processed in batches.
    pub(super) fn wakes(&mut self) -> Instant {
        self.outward.earliest().min(self.schedule.earliest() + self.slack)
    }

    /// Takes the next event.
    pub(super) fn pop(&mut self) -> Option<(Instant, Due)> {
        let (at, slot) = self.schedule.take_until(Instant::NEVER)?;
        Some((at, self.due(slot.index())))
    }

    fn place(&self, due: Due) -> usize {
        let routing = 4 * self.links;
        let datagrams = routing + 1 + self.stations;
        match due {
            Due::Departure(link) => link.index(),
            Due::Arrival(link) => self.links + link.index(),
            Due::Controller(link) => 2 * self.links + link.index(),
            Due::Capacity(link) => 3 * self.links + link.index(),
            Due::Routing => routing,
            Due::Station(station) => routing + 1 + station.index(),
            Due::Datagram(flow) => datagrams + flow.index(),
            Due::Bin => datagrams + self.flows,
            Due::Mark => datagrams + self.flows + 1,
        }
    }

    fn due(&self, place: usize) -> Due {
        let mut rest = place;
        for kind in [Due::Departure, Due::Arrival, Due::Controller, Due::Capacity] {
            if rest < self.links {
                return kind(LinkId::new(rest));
            }
            rest -= self.links;
        }
        let Some(rest) = rest.checked_sub(1) else { return Due::Routing };
        if rest < self.stations {
            return Due::Station(StationId::new(rest));
        }
        let rest = rest - self.stations;
        if rest < self.flows {
            return Due::Datagram(FlowId::new(rest));
        }
        if rest == self.flows { Due::Bin } else { Due::Mark }
    }
}

fn set(schedule: &mut Schedule, place: usize, at: Instant) {
    let slot = Slot::new(place);
    // Fast path: most instants are set again without change.
    if schedule.at(slot) != at {
        schedule.set(slot, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_instant_come_in_the_written_order() {
        let mut timetable = Timetable {
            schedule: Schedule::new(4 * 2 + 1 + 2 + 3),
            outward: Schedule::new(3),
            slack: SLACK,
            links: 2,
            stations: 1,
            flows: 2,
        };
        let link = LinkId::new;
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
            Due::Station(StationId::new(0)),
            Due::Datagram(FlowId::new(0)),
            Due::Datagram(FlowId::new(1)),
            Due::Bin,
            Due::Mark,
        ];
        let at = Instant::from_nanos(7);
        written.iter().rev().for_each(|&due| timetable.set(due, at));
        let taken: Vec<_> = std::iter::from_fn(|| timetable.pop()).collect();
        assert_eq!(taken, written.map(|due| (at, due)));
    }
}
