//! Algebraic connectivity, a measure of a graph's connectedness.

use super::Graph;
use super::dense::{Matrix, Tridiagonal};

/// The algebraic connectivity lambda_2: the second smallest eigenvalue of the Laplacian D - A (Fiedler, 1973).
///
/// It is 0 iff the graph is not connected; the complete graph of n nodes has n. A single node counts as 0. The
/// computation is a dense reduction: O(nodes^3).
#[must_use]
pub fn algebraic_connectivity(graph: &Graph) -> f64 {
    if graph.nodes() < 2 || graph.unreached(0, |_| true).is_some() {
        return 0.0;
    }
    reduction(graph).1.smallest()
}

/// The reduction of the Laplacian after its eigenvalue 0 is lifted: the reflections, and T, whose smallest
/// eigenvalue is lambda_2.
pub(super) fn reduction(graph: &Graph) -> (Matrix, Tridiagonal) {
    let mut matrix = shifted_laplacian(graph, 0.0, |_| true);
    let tridiagonal = matrix.reduce();
    (matrix, tridiagonal)
}

/// A number above every eigenvalue of the graph's Laplacian. They are at most twice the highest degree.
pub(super) fn lift(graph: &Graph) -> f64 {
    let degrees = (0..graph.nodes()).map(|node| graph.adjacent(node).len());
    #[allow(clippy::cast_precision_loss)]
    let highest = degrees.max().unwrap_or(0) as f64;
    2.0 * highest + 1.0
}

/// L + lift 1 1^T / n - shift I, over the links that are on. Its eigenvalues are those of L less the shift,
/// except the 0 of the vector 1, which is lifted above all others. It is positive definite iff lambda_2 > shift.
#[allow(clippy::cast_precision_loss)]
pub(super) fn shifted_laplacian(graph: &Graph, shift: f64, on: impl Fn(usize) -> bool) -> Matrix {
    let mut matrix = Matrix::filled(graph.nodes(), lift(graph) / graph.nodes() as f64);
    (0..graph.nodes()).for_each(|node| matrix.add(node, node, -shift));
    for (link, &(a, b)) in graph.links().iter().enumerate() {
        if on(link) {
            matrix.add(a, a, 1.0);
            matrix.add(b, b, 1.0);
            matrix.add(a, b, -1.0);
            matrix.add(b, a, -1.0);
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn connectivity(nodes: usize, links: Vec<(usize, usize)>) -> f64 {
        algebraic_connectivity(&Graph::new(nodes, links).unwrap())
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-13 * expected.max(1.0), "{value} is not {expected}");
    }

    #[test]
    fn graphs_whose_connectivity_is_known() {
        // Fiedler 1973: path 2 (1 - cos(pi / n)), ring 2 (1 - cos(2 pi / n)), complete n, star 1.
        let path = (0..11).map(|i| (i, i + 1)).collect();
        assert_near(connectivity(12, path), 2.0 * (1.0 - libm::cos(PI / 12.0)));
        let ring = (0..12).map(|i| (i, (i + 1) % 12)).collect();
        assert_near(connectivity(12, ring), 2.0 * (1.0 - libm::cos(PI / 6.0)));
        let complete = (0..9).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
        assert_near(connectivity(9, complete), 9.0);
        assert_near(connectivity(9, (1..9).map(|i| (0, i)).collect()), 1.0);
        assert_near(connectivity(2, vec![(0, 1)]), 2.0);
    }

    #[test]
    fn what_is_not_connected_has_none() {
        assert_eq!(connectivity(4, vec![(0, 1), (2, 3)]), 0.0);
        assert_eq!(connectivity(1, vec![]), 0.0);
    }
}
