//! ESTOP: links of little betweenness sleep first.

use super::guard::Guard;
use super::{Graph, SleepPlan, TIE, ascending, edge_betweenness, prune};
use crate::ConfigError;

/// ESTOP (Cuomo et al., Network pruning for energy saving in the Internet, Computer Networks 56(10), 2012; greened-network-2012 section II).
///
/// Edge betweenness by hops is computed once. In ascending order of (betweenness, lower end, higher end), a link is switched off
/// if the graph stays connected and lambda_2 at or above `threshold` x initial; otherwise it stays on, and the next one is tried.
/// Betweenness within 1e-9 is equal.
///
/// # Errors
/// If the threshold is no part from 0 to 1, the graph is not connected, or it has more than 5000 nodes.
pub fn estop(graph: &Graph, threshold: f64) -> Result<SleepPlan, ConfigError> {
    let guard = Guard::new(graph, threshold)?;
    let order = ascending(graph, &edge_betweenness(graph), |betweenness| TIE * betweenness);
    Ok(prune(guard, &order))
}
