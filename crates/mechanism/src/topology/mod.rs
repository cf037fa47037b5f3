//! Sleep plans: pure functions from a network's graph to the links that may sleep. [`algorithms`] has their list.
//!
//! ```text
//!   Graph ─► an order of the links ─► one by one: asleep, if the rest is connected and connected well enough ─► SleepPlan
//!            estop       edge betweenness, static (greened-network-2012 section II; Cuomo et al., Computer Networks 56(10), 2012)
//!            esacon      algebraic connectivity without the link, static (Cuomo et al., INFOCOM workshops 2011)
//!            load_aware  present load, and every load must stay below a bound (our own)
//! ```
//!
//! The measure of "well enough" is the algebraic connectivity lambda_2: the second smallest eigenvalue of the
//! Laplacian (Fiedler, 1973). The plans use neither randomness nor libraries that choose instructions by the
//! machine. The same graph therefore gives the same plan, bit for bit, everywhere.

pub mod algorithms;
mod connectivity;
mod dense;
mod esacon;
mod estop;
mod graph;
mod guard;
mod load_aware;
mod plan;

pub use algorithms::{SleepAlgorithm, SleepKind, SleepProperties};
pub use connectivity::algebraic_connectivity;
pub use esacon::{EsaconConfig, connectivity_without_each};
pub use estop::EstopConfig;
pub use graph::{Graph, GraphError, edge_betweenness};
pub use load_aware::{LoadAwareConfig, WorstFailure, loads, worst_failure};
pub use plan::{Demand, PLUG_INS, PlugIn, Rank, SleepPlanConfig, SleepPlanner, Traffic};

use guard::Guard;

/// The links that sleep, and the verdict on every link.
#[derive(Clone, Debug, PartialEq)]
pub struct SleepPlan {
    /// lambda_2 of the whole graph (no unit).
    pub initial_connectivity: f64,
    /// The links that sleep, in the order of switching off.
    pub off: Vec<usize>,
    /// Every link once, in the order of the trials.
    pub steps: Vec<Trial>,
}

/// The verdict on one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The link's index in the graph.
    pub link: usize,
    /// The value by which the plan ordered the link: betweenness (pairs of nodes), lambda_2 without it, or load
    /// (bit/s).
    pub rank: f64,
    /// The verdict: sleep, or the reason to stay on.
    pub verdict: Verdict,
    /// lambda_2 of the remaining links after the step.
    pub connectivity: f64,
}

/// The verdict on a link: sleep, or the reason to stay on. The tests follow the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The link sleeps.
    Off,
    /// Without the link the graph is not connected.
    Disconnects,
    /// Without the link lambda_2 is below threshold x initial.
    TooWeak,
    /// Without the link a load would exceed the bound.
    TooLoaded,
    /// Without the link a failure of another would disconnect the graph, or a load would exceed the bound.
    Fragile,
}

/// The relative distance within which two values are ties, decided by the links' ends. Sums of fractions in
/// another order differ in the last bits.
const TIE: f64 = 1e-9;

/// Tries the links in the order of the list of (link, rank).
fn prune(mut guard: Guard<'_>, order: &[(usize, f64)]) -> SleepPlan {
    let initial_connectivity = guard.connectivity();
    let (mut off, mut steps) = (Vec::new(), Vec::with_capacity(order.len()));
    for &(link, rank) in order {
        let verdict = guard.judge(link);
        if verdict == Verdict::Off {
            guard.put_to_sleep(link);
            off.push(link);
        }
        steps.push(Trial { link, rank, verdict, connectivity: guard.connectivity() });
    }
    SleepPlan { initial_connectivity, off, steps }
}

/// Links in ascending order of `values`. Values within `width(value)` of the first of their group are equal, and
/// ties are ordered by (lower end, higher end). The returned values are unchanged.
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

#[cfg(test)]
mod tests;
