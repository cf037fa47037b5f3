//! ESTOP: links with small betweenness sleep first.
//!
//! Cuomo et al., Network pruning for energy saving in the Internet, Computer Networks 56(10), 2012;
//! greened-network-2012 section II.
//!
//! Edge betweenness by hops is computed once. The links are tried in ascending order of (betweenness, lower end,
//! higher end). A link is switched off if the graph stays connected and lambda_2 stays at or above `threshold` x
//! initial. Otherwise it stays on, and the next one is tried. Betweenness values within 1e-9 are equal.

use super::guard::Guard;
use super::{Graph, Rank, SleepPlan, SleepPlanConfig, TIE, Traffic, ascending, edge_betweenness, prune};
use crate::ConfigError;
use netlull_document::check_ranges;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ESTOP: sleep in the order of betweenness, as long as the algebraic connectivity stays above a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "Cuomo et al., Computer Networks 56(10), 2012; greened-network-2012 section II"))]
pub struct EstopConfig {
    /// The share of the algebraic connectivity that must remain.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-source" = "greened-network-2012 uses 0.5..0.9"))]
    pub threshold: f64,
}

impl SleepPlanConfig for EstopConfig {
    const RANK: Rank = Rank { name: "betweenness", unit: None };

    /// # Errors
    /// If the threshold is outside [0, 1], the graph is not connected, or it has more than 5000 nodes.
    fn plan(&self, graph: &Graph, _traffic: &Traffic) -> Result<SleepPlan, ConfigError> {
        check_ranges(self)?;
        let guard = Guard::new(graph, self.threshold)?;
        let order = ascending(graph, &edge_betweenness(graph), |betweenness| TIE * betweenness);
        Ok(prune(guard, &order))
    }
}
