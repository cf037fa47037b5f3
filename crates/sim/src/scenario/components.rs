//! The components of a run that have events, by kind.

use super::{Capacity, LinkSpec, Scenario};
use netlull_network::queue::QueueModel;
use netlull_network::schedule::Schedule;
use netlull_units::{BitRate, Duration, Instant};

/// The number of components of each kind in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Components {
    /// Links that schedule their departures.
    pub departures: usize,
    /// Links.
    pub links: usize,
    /// Links with a rate controller.
    pub controllers: usize,
    /// Links with a varying capacity.
    pub redraws: usize,
    /// Stations.
    pub stations: usize,
    /// TCP endpoints of flows.
    pub endpoints: usize,
    /// The ends of all request connections that may be open at once.
    pub request_ends: usize,
    /// Flows.
    pub flows: usize,
}

/// Components that exist once per run: changes of routes, settlement of dropped packets, the start of the measurement,
/// the boundaries of phases, probe bins, and beats.
const SINGLE: usize = 6;

impl Components {
    /// The number of slots in the schedule.
    #[must_use]
    pub fn slots(&self) -> usize {
        let Self { departures, links, controllers, redraws, stations, endpoints, request_ends, flows } = *self;
        departures + links + controllers + redraws + stations + endpoints + request_ends + flows + SINGLE
    }
}

impl Scenario {
    /// The components of a run of this scenario.
    #[must_use]
    pub fn components(&self) -> Components {
        let count = |has: &dyn Fn(&LinkSpec) -> bool| self.links.iter().filter(|link| has(link)).count();
        Components {
            departures: count(&LinkSpec::schedules_departures),
            links: self.links.len(),
            controllers: count(&|link| link.control.is_some()),
            redraws: count(&|link| link.capacity.is_some()),
            stations: self.stations.len(),
            endpoints: 2 * self.tcp_flows.len(),
            request_ends: 2 * self.most_open(),
            flows: self.flow_paths().count(),
        }
    }

    /// The longest run that the schedule can hold with this number of components.
    pub(super) fn longest_run(&self) -> Duration {
        Schedule::longest_run(self.components().slots())
    }
}

impl LinkSpec {
    /// Returns true if the rate can change.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.control.is_some() || self.capacity.is_some()
    }

    /// Returns true if departures are scheduled instead of computed ahead.
    #[must_use]
    pub fn schedules_departures(&self) -> bool {
        self.varies() || matches!(self.queue, QueueModel::CoDel(_))
    }

    /// The longest lateness that its controller guarantees. A queue that drops packets at departures, CoDel, voids the
    /// guarantee.
    #[must_use]
    pub fn lateness_bound(&self) -> Option<Duration> {
        let control = self.control.as_ref().filter(|_| !matches!(self.queue, QueueModel::CoDel(_)))?;
        control.mechanism.lateness_bound(control.link)
    }

    /// The initial rate.
    #[must_use]
    pub fn first_rate(&self) -> BitRate {
        match &self.capacity {
            Some(Capacity::Steps(steps)) => {
                steps.first().filter(|(at, _)| *at == Instant::ZERO).map_or(self.rate, |&(_, rate)| rate)
            }
            _ => self.control.as_ref().and_then(|control| control.mechanism.initial_rate()).unwrap_or(self.rate),
        }
    }
}
