//! ESTOP: links of little betweenness sleep first.
//!
//! Cuomo et al., Network pruning for energy saving in the Internet, Computer Networks 56(10), 2012; greened-network-2012 section II.
//!
//! Edge betweenness by hops is computed once. In ascending order of (betweenness, lower end, higher end), a link is switched off
//! if the graph stays connected and lambda_2 at or above `threshold` x initial; otherwise it stays on, and the next one is tried.
//! Betweenness within 1e-9 is equal.

use super::guard::Guard;
use super::{Graph, Rank, SleepPlan, SleepPlanConfig, TIE, Traffic, ascending, edge_betweenness, prune};
use crate::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ESTOP: by betweenness, as long as the algebraic connectivity holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "Cuomo et al., Computer Networks 56(10), 2012; greened-network-2012 section II"))]
pub struct EstopConfig {
    /// The share of the algebraic connectivity that must be left, in [0, 1].
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-unit" = "0 to 1", "x-source" = "greened-network-2012 uses 0.5..0.9"))]
    pub threshold: f64,
}

impl SleepPlanConfig for EstopConfig {
    const RANK: Rank = Rank { name: "betweenness", unit: None };

    /// # Errors
    /// If the threshold is no part from 0 to 1, the graph is not connected, or it has more than 5000 nodes.
    fn plan(&self, graph: &Graph, _traffic: &Traffic) -> Result<SleepPlan, ConfigError> {
        let guard = Guard::new(graph, self.threshold)?;
        let order = ascending(graph, &edge_betweenness(graph), |betweenness| TIE * betweenness);
        Ok(prune(guard, &order))
    }
}
