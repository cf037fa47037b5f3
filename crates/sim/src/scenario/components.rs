//! The components of a run that have events, by kind.

use super::{LinkSpec, Scenario};
use crate::engine::schedule::Schedule;
use crate::net::queue::QueueModel;
use netlull_units::{BitRate, Duration};

/// How many components of each kind a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Components {
    /// Links that schedule their departures.
    pub departures: usize,
    /// Links.
    pub links: usize,
    /// Rate controllers.
    pub controllers: usize,
    /// Varying capacities.
    pub redraws: usize,
    /// Stations.
    pub stations: usize,
    /// TCP endpoints of flows.
    pub endpoints: usize,
    /// Ends of the connections of requests that may be open at once.
    pub request_ends: usize,
    /// Flows.
    pub flows: usize,
}

/// Components of which a run has one each: changes of routes, settlement of dropped packets, the start of measurement, the
/// edges of phases, probe bins, beats.
const SINGLE: usize = 6;

impl Components {
    /// The slots that they take in the schedule.
    #[must_use]
    pub fn slots(&self) -> usize {
        let Self { departures, links, controllers, redraws, stations, endpoints, request_ends, flows } = *self;
        departures + links + controllers + redraws + stations + endpoints + request_ends + flows + SINGLE
    }
}

impl Scenario {
    /// The components of its run.
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

    /// The longest run that the schedule can hold for so many components.
    pub(super) fn longest_run(&self) -> Duration {
        Schedule::longest_run(self.components().slots())
    }
}

impl LinkSpec {
    /// Whether its rate can change.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.control.is_some() || self.capacity.is_some()
    }

    /// Whether its departures are scheduled, not computed ahead.
    #[must_use]
    pub fn schedules_departures(&self) -> bool {
        self.varies() || matches!(self.queue, QueueModel::CoDel(_))
    }

    /// The rate it starts at.
    #[must_use]
    pub fn first_rate(&self) -> BitRate {
        self.control.as_ref().and_then(|control| control.mechanism.initial_rate()).unwrap_or(self.rate)
    }
}
