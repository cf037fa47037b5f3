//! Capacities of links that vary independently of the traffic.

use super::net::Net;
use crate::net::ids::{CapacityId, LinkId};
use crate::net::transmitter::{InService, RateChange};
use crate::scenario::{Capacity, Scenario};
use netlull_network::random::Stream;
use netlull_units::{BitRate, Duration, Instant};

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
            Capacity::Steps(steps) => steps.iter().find(|(at, _)| *at == now).map(|&(_, rate)| rate),
        }
    }

    /// The time of the next change.
    fn next(&mut self, now: Instant) -> Instant {
        match &self.capacity {
            Capacity::Redraws { mean_interval, .. } => now + self.stream.exponential(*mean_interval),
            Capacity::Steps(steps) => steps.iter().map(|&(at, _)| at).find(|&at| at > now).unwrap_or(Instant::NEVER),
        }
    }
}

impl Capacities {
    /// The varying capacities of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let varying = LinkId::all(scenario.links.len()).zip(scenario.links.iter()).filter_map(|(link, spec)| {
            let stream = Stream::new(scenario.seed, &format!("capacity.{}", spec.name));
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
            let change = RateChange { rate, pause: Duration::ZERO, in_service: InService::FinishThenPause };
            net.change_rate(varying.link, change);
        }
        net.schedule.set(net.order.redraw(id), varying.next(net.now));
    }
}
