//! The links of a network that may sleep: pure functions of its graph. [`algorithms`] has their list.
//!
//! ```text
//!   Graph ─► an order of the links ─► one by one: asleep, if what is left is connected and connected well enough ─► SleepPlan
//!            estop       edge betweenness, static (greened-network-2012 section II; Cuomo et al., Computer Networks 56(10), 2012)
//!            esacon      algebraic connectivity without the link, static (Cuomo et al., INFOCOM workshops 2011)
//!            load_aware  load at that time, and every load must stay below a bound (our own)
//! ```
//!
//! "Well enough" is measured by the algebraic connectivity lambda_2: the second smallest eigenvalue of the Laplacian (Fiedler, 1973).
//! No randomness and no library that picks instructions by the machine: the same graph gives the same plan, to the bit, everywhere.

pub mod algorithms;
mod betweenness;
mod connectivity;
mod dense;
mod esacon;
mod estop;
mod graph;
mod guard;
mod load_aware;
mod plan;
mod traffic;
mod tridiagonal;

pub use algorithms::{SleepAlgorithm, SleepKind};
pub use betweenness::edge_betweenness;
pub use connectivity::algebraic_connectivity;
pub use esacon::{EsaconConfig, connectivity_without_each};
pub use estop::EstopConfig;
pub use graph::{Graph, GraphError};
pub use load_aware::LoadAwareConfig;
pub use plan::{ForeignPlanner, Rank, SleepPlanConfig, SleepPlanner};
pub use traffic::{Demand, Traffic};

use crate::ConfigError;
use guard::Guard;

/// The links that sleep, and the verdict on every link.
#[derive(Clone, Debug, PartialEq)]
pub struct SleepPlan {
    /// lambda_2 of the whole graph (no unit).
    pub initial_connectivity: f64,
    /// The links that sleep, in the order of switching off.
    pub off: Vec<usize>,
    /// Every link once, in the order in which they were tried.
    pub steps: Vec<Step>,
}

/// The verdict on one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The link's index in the graph.
    pub link: usize,
    /// The value by which the plan ordered it: betweenness (pairs of nodes), lambda_2 without it, or load (bit/s).
    pub rank: f64,
    /// Sleep, or the reason to stay on.
    pub verdict: Verdict,
    /// lambda_2 after the step: of the links that are still on.
    pub connectivity: f64,
}

/// A link sleeps or stays on, with the reason. Tested in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It sleeps.
    Off,
    /// Without it the graph falls apart.
    Disconnects,
    /// Without it lambda_2 is below threshold x initial.
    TooWeak,
    /// Without it a link would carry more than the bound allows.
    TooLoaded,
}

/// The part of an order's value within which two links are equal, and their ends decide: sums of fractions differ in the
/// last bits when the same numbers come in another order.
const TIE: f64 = 1e-9;

/// Tries the links in the order given (link, rank).
fn prune(mut guard: Guard<'_>, order: &[(usize, f64)]) -> SleepPlan {
    let initial_connectivity = guard.connectivity();
    let (mut off, mut steps) = (Vec::new(), Vec::with_capacity(order.len()));
    for &(link, rank) in order {
        let verdict = guard.judge(link);
        if verdict == Verdict::Off {
            guard.put_to_sleep(link);
            off.push(link);
        }
        steps.push(Step { link, rank, verdict, connectivity: guard.connectivity() });
    }
    SleepPlan { initial_connectivity, off, steps }
}

/// Links in ascending order of `values`, those within `width(value)` of the first of their group equal, equal ones by (lower
/// end, higher end). The values come back as they were.
fn ascending(graph: &Graph, values: &[f64], width: impl Fn(f64) -> f64) -> Vec<(usize, f64)> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut group = vec![0; values.len()];
    let (mut groups, mut first) = (0, f64::NEG_INFINITY);
    for &link in &order {
        if values[link] > first + width(first) {
            (groups, first) = (groups + 1, values[link]);
        }
        group[link] = groups;
    }
    order.sort_by_key(|&link| (group[link], graph.ordered_ends(link)));
    order.into_iter().map(|link| (link, values[link])).collect()
}

/// A threshold of connectivity: a part of the initial one.
fn check_threshold(threshold: f64) -> Result<(), ConfigError> {
    if (0.0..=1.0).contains(&threshold) {
        return Ok(());
    }
    Err(ConfigError::new("threshold", threshold, "a part of the initial connectivity, from 0 to 1"))
}

#[cfg(test)]
mod tests;
