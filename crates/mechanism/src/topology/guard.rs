//! Guards a graph while its links go to sleep: it stays connected, and lambda_2 stays above a share of its
//! initial value.
//!
//! M = L - tau I (with the vector 1 lifted), and b = e_u - e_v for a link u-v. The graph without the link keeps
//! lambda_2 > tau iff M - b b^T is positive definite, or b^T M^-1 b < 1. The guard stores M^-1. It judges a link
//! in O(1), and puts it to sleep in O(nodes^2) by Sherman and Morrison's formula. A factorisation decides cases
//! within the rounding error. Lanczos' method on M^-1 updates lambda_2, starting from the previous eigenvector.

use super::connectivity::{lift, reduction, shifted_laplacian};
use super::dense::{Matrix, Tridiagonal, add_scaled, dot};
use super::{Graph, TIE, Verdict};
use crate::ConfigError;
use crate::gateway::spread;

/// The largest number of nodes. Larger matrices take gigabytes and hours.
const MOST_NODES: usize = 5000;
/// The number of updates after which M^-1 is recomputed.
const MOST_UPDATES: usize = 1000;
/// The value of 1 - b^T M^-1 b below which a single update requires a recomputation.
const LEAST_MARGIN: f64 = 1e-4;
/// The rounding error of the factorisation, relative to the largest eigenvalue.
const ROUNDING: f64 = 1e-13;
/// The accepted residual of the eigenvector, relative to the eigenvalue of M^-1. The eigenvalue's error is its
/// square.
const RESIDUAL: f64 = 1e-7;
/// The number of Lanczos steps before a restart from the current estimate, and the largest number of restarts.
const STEPS: usize = 16;
const RESTARTS: usize = 60;
/// The largest number of start vectors for the first eigenvector.
const STARTS: u64 = 8;

/// The links that are on, and the data to judge them.
#[derive(Debug)]
pub(super) struct Guard<'a> {
    graph: &'a Graph,
    on: Vec<bool>,
    /// lambda_2 of the links that are on.
    connectivity: f64,
    /// The lower bound of lambda_2, minus the margin for rounding and ties.
    shift: f64,
    /// True if the graph only has to stay connected.
    connected_is_enough: bool,
    /// An upper bound of the eigenvalues of L.
    largest: f64,
    /// M^-1, once there are links.
    inverse: Matrix,
    /// The eigenvector of lambda_2, of length 1.
    fiedler: Vec<f64>,
    updates: usize,
}

impl<'a> Guard<'a> {
    /// Guards `threshold` x lambda_2 of the whole graph; values within 1e-9 of each other are equal.
    ///
    /// # Errors
    /// If the graph is not connected, or has more than 5000 nodes.
    pub(super) fn new(graph: &'a Graph, threshold: f64) -> Result<Self, ConfigError> {
        check_graph(graph)?;
        let (nodes, largest) = (graph.nodes(), lift(graph));
        let initial = if nodes < 2 { 0.0 } else { reduction(graph).1.smallest() };
        let least = threshold * initial;
        let mut guard = Self {
            graph,
            on: vec![true; graph.links().len()],
            connectivity: initial,
            shift: least - (TIE * least).max(ROUNDING * largest),
            connected_is_enough: threshold == 0.0,
            largest,
            inverse: Matrix::zero(0),
            fiedler: Vec::new(),
            updates: 0,
        };
        if nodes >= 2 {
            guard.refresh();
            guard.begin(initial);
        }
        Ok(guard)
    }

    /// Finds the first eigenvector for the known lambda_2. A start vector orthogonal to it leads to another
    /// eigenvector, and the next start vector is tried.
    fn begin(&mut self, initial: f64) {
        for seed in 0..STARTS {
            self.fiedler = scattered(self.graph.nodes(), seed);
            self.find_fiedler();
            if (self.connectivity - initial).abs() <= (TIE * initial).max(ROUNDING * self.largest) {
                break;
            }
        }
        self.connectivity = initial;
    }

    /// lambda_2 of the links that are on.
    pub(super) fn connectivity(&self) -> f64 {
        self.connectivity
    }

    /// Returns true if a link is on.
    pub(super) fn is_on(&self, link: usize) -> bool {
        self.on[link]
    }

    /// The verdict on the removal of one more link.
    pub(super) fn judge(&self, link: usize) -> Verdict {
        let (u, _) = self.graph.links()[link];
        if self.graph.unreached(u, |other| other != link && self.on[other]).is_some() {
            return Verdict::Disconnects;
        }
        if self.connected_is_enough || self.stays_above(link) { Verdict::Off } else { Verdict::TooWeak }
    }

    /// Returns true if lambda_2 without the link is above the shift.
    fn stays_above(&self, link: usize) -> bool {
        let (u, v) = self.graph.links()[link];
        // The Rayleigh quotient of the previous eigenvector, lambda_2 - (b . x)^2, is an upper bound of the new
        // lambda_2.
        let seen = self.fiedler[u] - self.fiedler[v];
        if self.connectivity - seen * seen < self.shift - ROUNDING * self.largest {
            return false;
        }
        let pulled = self.pulled(link);
        let taken = pulled[u] - pulled[v];
        // An error E of M changes b^T M^-1 b by (M^-1 b)^T E (M^-1 b).
        let doubt = TIE + ROUNDING * self.largest * dot(&pulled, &pulled);
        if (taken - 1.0).abs() > doubt {
            return taken < 1.0;
        }
        shifted_laplacian(self.graph, self.shift, |other| other != link && self.on[other]).factorise().is_ok()
    }

    /// The vector M^-1 b.
    fn pulled(&self, link: usize) -> Vec<f64> {
        let (u, v) = self.graph.links()[link];
        self.inverse.row(u).iter().zip(self.inverse.row(v)).map(|(a, b)| a - b).collect()
    }

    /// Puts a link to sleep after the approval of [`Guard::judge`].
    pub(super) fn put_to_sleep(&mut self, link: usize) {
        let (u, v) = self.graph.links()[link];
        let pulled = self.pulled(link);
        let margin = 1.0 - (pulled[u] - pulled[v]);
        self.on[link] = false;
        self.updates += 1;
        if margin < LEAST_MARGIN || self.updates >= MOST_UPDATES {
            self.refresh();
        } else {
            self.inverse.add_square(1.0 / margin, &pulled);
        }
        // The new eigenvector is the old one, or (L - lambda)^-1 b. The search begins with both, and the sign of
        // b . x avoids a cancellation.
        let seen = self.fiedler[u] - self.fiedler[v];
        let length = dot(&pulled, &pulled).sqrt();
        add_scaled(&mut self.fiedler, (1.0 / length).copysign(seen), &pulled);
        self.find_fiedler();
    }

    /// Recomputes M^-1. If rounding makes M not positive definite, the updated inverse stays.
    fn refresh(&mut self) {
        if let Ok(inverse) = shifted_laplacian(self.graph, self.shift, |link| self.on[link]).inverse() {
            (self.inverse, self.updates) = (inverse, 0);
        }
    }

    /// Computes lambda_2 and its eigenvector: the largest eigenvalue mu of M^-1 is 1 / (lambda_2 - tau).
    fn find_fiedler(&mut self) {
        let mut largest = 0.0;
        for _ in 0..RESTARTS {
            let (mu, residual) = lanczos(&self.inverse, &mut self.fiedler);
            largest = mu;
            if residual <= RESIDUAL * mu {
                break;
            }
        }
        self.connectivity = self.shift + 1.0 / largest;
    }
}

/// Checks that the graph is connected and not too large for dense matrices.
fn check_graph(graph: &Graph) -> Result<(), ConfigError> {
    if graph.nodes() > MOST_NODES {
        let expected = format!("at most {MOST_NODES}: plans are made with dense matrices");
        return Err(ConfigError::new("nodes", graph.nodes(), expected));
    }
    graph.unreached(0, |_| true).map_or(Ok(()), |node| {
        let (first, node) = (graph.node_name(0), graph.node_name(node));
        Err(ConfigError::new(
            "links",
            format!("a graph without a path from node {first} to node {node}"),
            "a connected graph",
        ))
    })
}

/// A pseudorandom vector orthogonal to 1, which misses no eigenvector by symmetry.
#[allow(clippy::cast_precision_loss)]
fn scattered(nodes: usize, seed: u64) -> Vec<f64> {
    let numbers = (0..nodes as u64).map(|node| spread(seed.wrapping_add(node << 8)));
    let mut x: Vec<f64> = numbers.map(|number| (number >> 11) as f64).collect();
    let mean = x.iter().sum::<f64>() / nodes as f64;
    x.iter_mut().for_each(|value| *value -= mean);
    x
}

/// The largest eigenvalue of a symmetric positive definite A in the Krylov space of `start`, and its residual
/// (Lanczos, with full orthogonalisation). `start` becomes its eigenvector.
fn lanczos(a: &Matrix, start: &mut [f64]) -> (f64, f64) {
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(STEPS);
    let mut small = Tridiagonal::default();
    let mut next = start.to_vec();
    let mut length = dot(&next, &next).sqrt();
    loop {
        next.iter_mut().for_each(|value| *value /= length);
        basis.push(next);
        let last = &basis[basis.len() - 1];
        next = vec![0.0; last.len()];
        a.times(last, &mut next);
        // -A, whose smallest eigenvalue is the negative of the largest of A.
        small.diagonal.push(-dot(&next, last));
        for _ in 0..2 {
            for vector in &basis {
                let part = dot(&next, vector);
                add_scaled(&mut next, -part, vector);
            }
        }
        length = dot(&next, &next).sqrt();
        let done = basis.len() == STEPS || basis.len() >= start.len() - 1;
        if basis.len() >= 3 || done || length == 0.0 {
            let (mu, weights) = largest_pair(&small);
            let residual = length * weights.last().map_or(0.0, |weight| weight.abs());
            if residual <= RESIDUAL * mu || done {
                start.fill(0.0);
                basis.iter().zip(&weights).for_each(|(vector, &weight)| add_scaled(start, weight, vector));
                return (mu, residual);
            }
        }
        small.beside.push(-length);
    }
}

/// The value mu and the unit eigenvector of the smallest eigenvalue -mu, by inverse iteration.
fn largest_pair(small: &Tridiagonal) -> (f64, Vec<f64>) {
    let smallest = small.smallest();
    let (mut pivots, mut x) = (Vec::new(), Vec::new());
    let mut weights: Vec<f64> = vec![1.0; small.diagonal.len()];
    // Just below the eigenvalue, where the matrix is still positive definite.
    let shift = smallest - 1e-13 * smallest.abs();
    for _ in 0..3 {
        if !small.solve(shift, &weights, &mut pivots, &mut x) {
            break;
        }
        let length = dot(&x, &x).sqrt();
        weights.iter_mut().zip(&x).for_each(|(weight, value)| *weight = value / length);
    }
    (-smallest, weights)
}

#[cfg(test)]
mod tests {
    use super::super::algebraic_connectivity;
    use super::*;

    /// A ring of `nodes` with chords to every second, third ... node.
    fn ring_with_chords(nodes: usize, chords: usize) -> Graph {
        let links = (1..=chords).flat_map(|step| (0..nodes).map(move |i| (i, (i + step) % nodes))).collect();
        Graph::new(nodes, links).unwrap()
    }

    /// lambda_2 of the links that are on, by the reduction.
    fn dense(guard: &Guard<'_>) -> f64 {
        let links = guard.graph.links().iter().zip(&guard.on).filter(|&(_, &on)| on).map(|(&link, _)| link).collect();
        algebraic_connectivity(&Graph::new(guard.graph.nodes(), links).unwrap())
    }

    #[test]
    fn lambda_2_is_followed_while_links_go() {
        // Many eigenvalues are equal at the start, and the eigenvector moves as links go to sleep.
        let graph = ring_with_chords(40, 3);
        let mut guard = Guard::new(&graph, 0.0).unwrap();
        for link in (0..120).rev() {
            if guard.judge(link) == Verdict::Off {
                guard.put_to_sleep(link);
                let expected = dense(&guard);
                assert!((guard.connectivity() - expected).abs() < 1e-11, "{link}: {} {expected}", guard.connectivity());
            }
        }
        assert_eq!(guard.on.iter().filter(|&&on| on).count(), 39, "a tree is left");
    }

    #[test]
    fn an_eigenvector_that_a_regular_start_would_miss_is_found() {
        // The path 3-1-0-2-4: its eigenvector contains the golden ratio, and multiples of that ratio, mod 1, are
        // orthogonal to it.
        let graph = Graph::new(5, vec![(0, 1), (0, 2), (1, 3), (2, 4)]).unwrap();
        let guard = Guard::new(&graph, 0.0).unwrap();
        let ratio = guard.fiedler[3] / guard.fiedler[1];
        assert!((ratio - f64::midpoint(1.0, 5.0_f64.sqrt())).abs() < 1e-7, "{ratio}");
    }

    #[test]
    fn a_tie_with_the_threshold_is_settled_for_sleeping() {
        // K4 without a link has lambda_2 = 2 = 0.5 x 4 (K4 without a matching of one is two joined cones: 2).
        let graph = Graph::new(4, vec![(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]).unwrap();
        let guard = Guard::new(&graph, 0.5).unwrap();
        assert_eq!(guard.judge(0), Verdict::Off);
        assert_eq!(Guard::new(&graph, 0.5 + 1e-6).unwrap().judge(0), Verdict::TooWeak);
    }

    #[test]
    fn what_cannot_be_guarded_is_refused_by_name() {
        let said = |graph: &Graph, threshold| Guard::new(graph, threshold).unwrap_err().to_string();
        let parts = Graph::new(3, vec![(0, 1)]).unwrap().with_names(vec!["A".into(), "B".into(), "C".into()]);
        let expected = "links is a graph without a path from node A to node C; expected a connected graph";
        assert_eq!(said(&parts, 0.5), expected);
        let many = Graph::new(5001, vec![]).unwrap();
        assert_eq!(said(&many, 0.5), "nodes is 5001; expected at most 5000: plans are made with dense matrices");
    }
}
