//! ESACON: links with the smallest effect on the algebraic connectivity sleep first.
//!
//! Cuomo, Abbagnale, Cianfrani and Polverini, Keeping the connectivity and saving the energy in the Internet,
//! INFOCOM workshops 2011.
//!
//! The links are ordered once, by the lambda_2 of the graph without each link alone, the largest first. Values
//! within 1e-9 of the initial lambda_2 are ties, ordered by the links' ends. In that order, the test of
//! [`super::EstopConfig`] decides about each link. Reading: the paper's abstract gives the measure. A later
//! chapter by its authors gives the two steps, an ordered list and then the links to switch off. The direction of
//! the order, its static nature, the ties and the test of ESTOP are our assumptions.

use super::connectivity::reduction;
use super::dense::{Tridiagonal, add_scaled, dot};
use super::guard::Guard;
use super::{Graph, Rank, SleepPlan, SleepPlanConfig, TIE, Traffic, ascending, prune};
use crate::ConfigError;
use netlull_document::check_ranges;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ESACON: sleep in the order of the loss of algebraic connectivity, the smallest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "Cuomo et al., INFOCOM workshops 2011; the order's direction and ties are readings"))]
pub struct EsaconConfig {
    /// The share of the algebraic connectivity that must remain.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-source" = "greened-network-2012 uses 0.5..0.9"))]
    pub threshold: f64,
}

impl SleepPlanConfig for EsaconConfig {
    const RANK: Rank = Rank { name: "λ₂ without it", unit: None };

    /// # Errors
    /// If the threshold is outside [0, 1], the graph is not connected, or it has more than 5000 nodes.
    fn plan(&self, graph: &Graph, _traffic: &Traffic) -> Result<SleepPlan, ConfigError> {
        check_ranges(self)?;
        let guard = Guard::new(graph, self.threshold)?;
        let kept = connectivity_without_each(graph);
        let width = TIE * guard.connectivity();
        let missed: Vec<f64> = kept.iter().map(|value| -value).collect();
        let order = ascending(graph, &missed, |_| width);
        let order: Vec<_> = order.into_iter().map(|(link, _)| (link, kept[link])).collect();
        Ok(prune(guard, &order))
    }
}

/// The lambda_2 of the graph without each of its links in turn; 0 if the link is a bridge.
///
/// In the basis that makes L tridiagonal, the removal of a link gives L - c c^T, where c is the difference of two
/// rows. The new lambda_2 is the point at which the secular function c^T (T - lambda)^-1 c reaches 1 (Golub and
/// Van Loan, Matrix Computations, 8.4.3). The cost is O(nodes) for each link, after O(nodes^3) for all.
#[must_use]
pub fn connectivity_without_each(graph: &Graph) -> Vec<f64> {
    if graph.nodes() < 2 || graph.unreached(0, |_| true).is_some() {
        return vec![0.0; graph.links().len()];
    }
    let (reflections, tridiagonal) = reduction(graph);
    let basis = reflections.basis();
    drop(reflections);
    let mut secular = Secular::new(&tridiagonal);
    let links = graph.links().iter().zip(graph.bridges());
    links
        .map(|(&(u, v), bridge)| {
            if bridge {
                return 0.0;
            }
            let mut c = basis.row(u).to_vec();
            add_scaled(&mut c, -1.0, basis.row(v));
            secular.root(&c)
        })
        .collect()
}

/// The smallest eigenvalue of T - c c^T for a sequence of vectors c.
struct Secular<'a> {
    tridiagonal: &'a Tridiagonal,
    /// The smallest eigenvalue of T.
    smallest: f64,
    pivots: Vec<f64>,
    solution: Vec<f64>,
}

impl<'a> Secular<'a> {
    fn new(tridiagonal: &'a Tridiagonal) -> Self {
        Self { tridiagonal, smallest: tridiagonal.smallest(), pivots: Vec::new(), solution: Vec::new() }
    }

    /// g = c^T (T - lambda)^-1 c and its derivative; `None` beyond the smallest eigenvalue.
    fn value(&mut self, lambda: f64, c: &[f64]) -> Option<(f64, f64)> {
        let Self { tridiagonal, pivots, solution, .. } = self;
        tridiagonal.solve(lambda, c, pivots, solution).then(|| (dot(c, solution), dot(solution, solution)))
    }

    /// The root of g = 1. 1 / g is decreasing and concave, so Newton's method approaches the root from above. If
    /// a step would leave the bracket, bisection replaces it.
    fn root(&mut self, c: &[f64]) -> f64 {
        let (mut low, mut high) = (0.0, self.smallest);
        let width = 1e-13 * self.smallest;
        let mut lambda = self.smallest * (1.0 - 1e-12);
        while high - low > width {
            let step = match self.value(lambda, c) {
                Some((g, slope)) => {
                    if g < 1.0 {
                        low = lambda
                    } else {
                        high = lambda
                    }
                    // F = 1 / g - 1, F' = -g' / g^2
                    lambda + (1.0 - g) * g / slope
                }
                None => {
                    high = lambda;
                    f64::NAN
                }
            };
            if (step - lambda).abs() <= width {
                return step.clamp(low, high);
            }
            lambda = if step > low && step < high { step } else { low + (high - low) / 2.0 };
        }
        low + (high - low) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebraic_connectivity;
    use super::*;

    #[test]
    fn without_each_link_as_the_graph_without_it_has() {
        // A ring with chords, a triangle and a tail: bridges, equal eigenvalues, and links with equal ends in
        // the eigenvector.
        let mut links: Vec<(usize, usize)> = (0..12).map(|i| (i, (i + 1) % 12)).collect();
        links.extend([(0, 6), (3, 9), (2, 7), (5, 12), (12, 13), (13, 14), (14, 12), (14, 15)]);
        let graph = Graph::new(16, links.clone()).unwrap();
        for (link, value) in connectivity_without_each(&graph).into_iter().enumerate() {
            let mut rest = links.clone();
            rest.remove(link);
            let expected = algebraic_connectivity(&Graph::new(16, rest).unwrap());
            assert!((value - expected).abs() < 1e-12, "{link}: {value} {expected}");
        }
    }

    #[test]
    fn a_complete_graph_keeps_all_but_two() {
        // K_n without a link has lambda_2 = n - 2.
        let links = (0..7).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
        let kept = connectivity_without_each(&Graph::new(7, links).unwrap());
        assert!(kept.iter().all(|value| (value - 5.0).abs() < 1e-12), "{kept:?}");
    }
}
