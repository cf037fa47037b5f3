//! The load-aware plan: idle links sleep first, and no link may exceed a load bound. Our own plan.
//!
//! The plan tries the untried link with the smallest load in its busier direction next, with ties by (lower end,
//! higher end). The link sleeps under three conditions. The graph stays connected, and lambda_2 stays at or above
//! `threshold` x initial. With all demands on shortest paths over the remaining links, no direction of a link
//! carries more than `bound` x capacity. With `failure_bound`, the last two conditions also hold after the failure of
//! any one link that is awake. Among equal paths the plan takes the one over the lowest-numbered link.
//! Link i has the directions 2 i (as given) and 2 i + 1 (reverse), as in the simulator.

mod failures;
mod routing;

use super::guard::Guard;
use super::{Graph, Rank, SleepPlan, SleepPlanConfig, Traffic, Trial, Verdict};
use crate::ConfigError;
use failures::Failures;
use netlull_document::check_ranges;
use netlull_units::BitRate;
use routing::{Routing, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The link with the smallest load sleeps first, as long as no load exceeds a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "netlull's own"))]
pub struct LoadAwareConfig {
    /// The upper bound of a link's load, as a share of its rate.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0, "x-source" = "own"))]
    pub bound: f64,
    /// The upper bound of a load after the failure of any single link, as a share of the rate; default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0, "x-source" = "own"))]
    pub failure_bound: Option<f64>,
    /// The share of the algebraic connectivity that must remain; default 0: connected.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-source" = "greened-network-2012 uses 0.5..0.9"))]
    pub threshold: f64,
}

impl SleepPlanConfig for LoadAwareConfig {
    const READS_TRAFFIC: bool = true;
    const RANK: Rank = Rank { name: "load", unit: Some("b/s") };

    /// # Errors
    /// If a value is unusable, or the graph is not connected or has more than 5000 nodes.
    /// If a load exceeds a bound before any link sleeps.
    fn plan(&self, graph: &Graph, traffic: &Traffic) -> Result<SleepPlan, ConfigError> {
        check_ranges(self)?;
        traffic.check(graph)?;
        let mut guard = Guard::new(graph, self.threshold)?;
        let mut routing = Routing::new(graph, traffic);
        let limits = limits(&traffic.capacities, self.bound);
        if let Some(link) = routing.overloaded(&limits) {
            return Err(too_loaded(("bound", self.bound), graph.link_name(link), routing.load(link), limits[link], ""));
        }
        let mut failures = match self.failure_bound {
            None => None,
            Some(bound) => Some(Failures::new(graph, &traffic.capacities, bound, &mut routing)?),
        };
        let initial_connectivity = guard.connectivity();
        let (mut off, mut steps) = (Vec::new(), Vec::with_capacity(graph.links().len()));
        let mut untried: Vec<usize> = (0..graph.links().len()).collect();
        while let Some(link) = take_least(&mut untried, |link| (routing.load(link), graph.ordered_ends(link))) {
            #[allow(clippy::cast_precision_loss)]
            let rank = routing.load(link) as f64;
            let mut verdict = guard.judge(link);
            if verdict == Verdict::Off {
                let on = |other: usize| other != link && guard.is_on(other);
                let before = routing.remove(link, on);
                if routing.overloaded(&limits).is_some() {
                    verdict = Verdict::TooLoaded;
                } else if failures.as_mut().is_some_and(|failures| failures.first(&mut routing, on).is_some()) {
                    verdict = Verdict::Fragile;
                }
                if verdict != Verdict::Off {
                    routing.restore(before);
                }
            }
            if verdict == Verdict::Off {
                guard.put_to_sleep(link);
                off.push(link);
            }
            steps.push(Trial { link, rank, verdict, connectivity: guard.connectivity() });
        }
        Ok(SleepPlan { initial_connectivity, off, steps })
    }
}

/// The load of each direction in bit/s (link i: 2 i as given, 2 i + 1 reverse) while some links are off: all demands
/// on shortest paths. Demands without a path count nowhere. The traffic must be checked.
#[must_use]
pub fn loads(graph: &Graph, traffic: &Traffic, off: &[usize]) -> Vec<u64> {
    without(graph, traffic, off).into_loads()
}

/// The routes of all demands while some links are off.
fn without<'a>(graph: &'a Graph, traffic: &'a Traffic, off: &[usize]) -> Routing<'a> {
    let mut routing = Routing::new(graph, traffic);
    for (place, &link) in off.iter().enumerate() {
        routing.remove(link, |other| !off[..place].contains(&other));
    }
    routing
}

/// The largest utilisation after the failure of a single link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstFailure {
    /// The failed link.
    pub failure: usize,
    /// The busiest link after the failure.
    pub link: usize,
    /// The load of its busier direction, in bit/s.
    pub load: u64,
}

/// The failure that leaves the largest utilisation while some links are off; `None` if each failure disconnects the
/// graph. Failures that disconnect it do not count. Of equal ones it is the first. The traffic must be checked.
#[must_use]
pub fn worst_failure(graph: &Graph, traffic: &Traffic, off: &[usize]) -> Option<WorstFailure> {
    let mut routing = without(graph, traffic, off);
    let links = graph.links().len();
    let on = |link: usize| !off.contains(&link);
    let stays = |failure: &usize| graph.unreached(0, |link| link != *failure && on(link)).is_none();
    let worst = (0..links).filter(|&link| on(link)).filter(stays).filter_map(|failure| {
        let before = routing.remove(failure, on);
        #[allow(clippy::cast_precision_loss)]
        let share = |link: usize| routing.load(link) as f64 / traffic.capacities[link].as_f64();
        let busiest = (0..links).min_by(|&one, &other| share(other).total_cmp(&share(one)))?;
        let found = (share(busiest), WorstFailure { failure, link: busiest, load: routing.load(busiest) });
        routing.restore(before);
        Some(found)
    });
    worst.min_by(|one, other| other.0.total_cmp(&one.0)).map(|(_, worst)| worst)
}

/// The error of a load that exceeds a bound before any link sleeps.
fn too_loaded((field, bound): (&'static str, f64), link: String, load: u64, limit: u64, when: &str) -> ConfigError {
    let value = format!("{bound}, and link {link} carries {}{when} before anything sleeps", BitRate::from_bps(load));
    let limit = BitRate::from_bps(limit);
    ConfigError::new(field, value, format!("at most {limit}, {field} x capacity"))
}

/// Removes the link with the smallest key from the list.
fn take_least<K: Ord>(links: &mut Vec<usize>, key: impl Fn(usize) -> K) -> Option<usize> {
    let (place, _) = links.iter().enumerate().min_by_key(|&(_, &link)| key(link))?;
    Some(links.swap_remove(place))
}

#[cfg(test)]
mod tests;
