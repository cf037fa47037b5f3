//! The network state of a run: links, routes, the schedule and the time, and capacities of links that vary independently
//! of the traffic.

use super::error::RunError;
use super::event_order::EventOrder;
use crate::net::flight::{Packet, PacketStore};
use crate::net::ids::{CapacityId, ControllerId, LinkId};
use crate::net::link::Link;
use crate::net::routing::Routes;
use crate::net::transmitter::RateChange;
use crate::scenario::{Capacity, Scenario};
use netlull_network::random::Stream;
use netlull_network::schedule::{Schedule, Slot};
use netlull_units::{BitRate, Duration, Instant};

/// Links, routes, the schedule and the time. All other parts of a run access the network through it.
pub(super) struct Net {
    pub now: Instant,
    pub end: Instant,
    /// Events handled so far.
    pub events: u64,
    pub schedule: Schedule,
    pub order: EventOrder,
    pub routes: Routes,
    pub links: Vec<Link>,
    /// The packets on links until their arrival.
    pub store: PacketStore,
    /// Links that schedule their departures, in the order of their departure slots.
    pub scheduled_links: Vec<LinkId>,
    /// The time between two beats, at which datagrams are drawn.
    pub beat: Duration,
    /// A nanosecond after the horizon; 0 if nothing runs ahead. Packets that arrive at this time or later wait until
    /// it moves on.
    pub horizon: u64,
    /// The first error that ends the run.
    pub failure: Option<RunError>,
}

impl Net {
    /// Ends the run with an error.
    #[cold]
    pub fn fail(&mut self, error: RunError) {
        self.failure.get_or_insert(error);
        self.end = Instant::ZERO;
    }

    /// Sets the event of a slot if its time differs.
    #[inline]
    pub fn set_event(&mut self, slot: Slot, at: Instant) {
        if self.schedule.at(slot) != at {
            self.schedule.set(slot, at);
        }
    }

    /// Sets the event of the next timeout of a controller, unless an earlier event will set it.
    #[inline]
    pub fn set_timeout(&mut self, controller: ControllerId, at: Instant) {
        self.schedule.set_if_earlier(self.order.controller(controller), at.max(self.now));
    }

    /// Changes the rate of a link.
    #[inline]
    pub fn change_rate(&mut self, link: LinkId, change: RateChange) {
        self.links[link].change_rate(self.now, change, &mut self.schedule);
    }

    /// Every packet on a link, with the link.
    pub fn packets(&self) -> impl Iterator<Item = (LinkId, Packet)> + '_ {
        let links = LinkId::all(self.links.len()).zip(&self.links);
        links.flat_map(|(id, link)| link.packets(&self.store).map(move |packet| (id, packet)))
    }
}

/// Links with a varying capacity.
pub(super) struct Capacities {
    varying: Vec<VaryingCapacity>,
}

struct VaryingCapacity {
    link: LinkId,
    capacity: Capacity,
    stream: Stream,
}

impl VaryingCapacity {
    /// The rate from `now` on, if it changes.
    fn rate(&mut self, now: Instant) -> Option<BitRate> {
        match &self.capacity {
            Capacity::Redraws { min, max, .. } => {
                Some(BitRate::from_bps(self.stream.between(min.as_bps(), max.as_bps() + 1)))
            }
            Capacity::Trace(_) => None,
            Capacity::Steps(steps) => steps.binary_search_by_key(&now, |&(at, _)| at).ok().map(|place| steps[place].1),
        }
    }

    /// The time of the next change.
    fn next(&mut self, now: Instant) -> Instant {
        match &self.capacity {
            Capacity::Trace(_) => Instant::NEVER,
            Capacity::Redraws { mean_interval, .. } => now + self.stream.exponential(*mean_interval),
            Capacity::Steps(steps) => {
                steps.get(steps.partition_point(|&(at, _)| at <= now)).map_or(Instant::NEVER, |&(at, _)| at)
            }
        }
    }
}

impl Capacities {
    /// The varying capacities of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let varying = LinkId::all(scenario.links.len()).zip(scenario.links.iter()).filter_map(|(link, spec)| {
            let stream = Stream::new(scenario.seed, &format!("capacity.{}", spec.name));
            // The link knows its trace.
            if spec.trace().is_some() {
                return None;
            }
            Some(VaryingCapacity { link, capacity: spec.capacity.clone()?, stream })
        });
        Self { varying: varying.collect() }
    }

    /// Schedules the first change of each capacity.
    pub fn start(&mut self, net: &mut Net) {
        for (id, varying) in CapacityId::all(self.varying.len()).zip(&mut self.varying) {
            net.schedule.set(net.order.redraw(id), varying.next(Instant::ZERO));
        }
    }

    /// Performs the due change, and schedules the next.
    pub fn change(&mut self, id: CapacityId, net: &mut Net) {
        let varying = &mut self.varying[id.index()];
        if let Some(rate) = varying.rate(net.now) {
            net.links[varying.link].set_capacity(net.now, rate, &mut net.schedule);
        }
        net.schedule.set(net.order.redraw(id), varying.next(net.now));
    }
}
