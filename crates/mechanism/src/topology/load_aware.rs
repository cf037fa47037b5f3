//! The load-aware plan: idle links sleep first, and no link may exceed a load bound. Our own plan.
//!
//! The plan tries the untried link with the smallest load in its busier direction next, with ties by (lower end,
//! higher end). The link sleeps under three conditions. The graph stays connected, and lambda_2 stays at or above
//! `threshold` x initial. With all demands on shortest paths over the remaining links, no direction of a link
//! carries more than `bound` x capacity. Among equal paths the plan takes the one over the lowest-numbered link.
//! Link i has the directions 2 i (as given) and 2 i + 1 (reverse), as in the simulator.

mod routing;

use super::guard::Guard;
use super::{Graph, Rank, SleepPlan, SleepPlanConfig, Traffic, Trial, Verdict};
use crate::ConfigError;
use netlull_document::check_ranges;
use netlull_units::BitRate;
use routing::Routing;
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
    /// If a load exceeds the bound before any link sleeps.
    fn plan(&self, graph: &Graph, traffic: &Traffic) -> Result<SleepPlan, ConfigError> {
        check_ranges(self)?;
        traffic.check(graph)?;
        let mut guard = Guard::new(graph, self.threshold)?;
        let mut routing = Routing::new(graph, traffic, self.bound);
        if let Some(link) = routing.overloaded() {
            let (load, limit) = (BitRate::from_bps(routing.load(link)), BitRate::from_bps(routing.limit(link)));
            let name = graph.link_name(link);
            let value = format!("{}, and link {name} carries {load} before anything sleeps", self.bound);
            return Err(ConfigError::new("bound", value, format!("at most {limit}, bound x capacity")));
        }
        let initial_connectivity = guard.connectivity();
        let (mut off, mut steps) = (Vec::new(), Vec::with_capacity(graph.links().len()));
        let mut untried: Vec<usize> = (0..graph.links().len()).collect();
        while let Some(link) = take_least(&mut untried, |link| (routing.load(link), graph.ordered_ends(link))) {
            #[allow(clippy::cast_precision_loss)]
            let rank = routing.load(link) as f64;
            let mut verdict = guard.judge(link);
            if verdict == Verdict::Off && !routing.do_without(link, |other| guard.is_on(other)) {
                verdict = Verdict::TooLoaded;
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

/// Removes the link with the smallest key from the list.
fn take_least<K: Ord>(links: &mut Vec<usize>, key: impl Fn(usize) -> K) -> Option<usize> {
    let (place, _) = links.iter().enumerate().min_by_key(|&(_, &link)| key(link))?;
    Some(links.swap_remove(place))
}

#[cfg(test)]
mod tests;
