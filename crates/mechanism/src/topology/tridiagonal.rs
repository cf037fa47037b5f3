//! Symmetric tridiagonal matrices: their smallest eigenvalue and linear systems.

/// A symmetric tridiagonal matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct Tridiagonal {
    pub(super) diagonal: Vec<f64>,
    /// The off-diagonal. Element i is at (i, i + 1) and (i + 1, i).
    pub(super) beside: Vec<f64>,
}

impl Tridiagonal {
    /// The smallest eigenvalue, to the last bits, by bisection.
    pub(super) fn smallest(&self) -> f64 {
        // Gershgorin: every eigenvalue is at least a row's diagonal minus the rest of the row, for some row. The
        // smallest eigenvalue is at most the smallest diagonal element.
        let beside = |i: usize| self.beside.get(i).map_or(0.0, |value| value.abs());
        let radius = |i: usize| beside(i) + if i > 0 { beside(i - 1) } else { 0.0 };
        let lows = self.diagonal.iter().enumerate().map(|(i, value)| value - radius(i));
        let mut low = lows.fold(f64::INFINITY, f64::min);
        let mut high = self.diagonal.iter().copied().fold(f64::INFINITY, f64::min);
        loop {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                return high;
            }
            if self.is_positive_below(middle) { low = middle } else { high = middle }
        }
    }

    /// Whether all eigenvalues are above `shift`: the pivots of T - shift I are positive (Sylvester's law of
    /// inertia).
    fn is_positive_below(&self, shift: f64) -> bool {
        let mut pivot = f64::INFINITY;
        let mut last = 0.0;
        for (i, value) in self.diagonal.iter().enumerate() {
            pivot = value - shift - last * last / pivot;
            if pivot <= 0.0 {
                return false;
            }
            last = self.beside.get(i).copied().unwrap_or(0.0);
        }
        true
    }

    /// Solves x = (T - shift I)^-1 c if that matrix is positive definite, or returns false. `pivots` is working
    /// memory.
    pub(super) fn solve(&self, shift: f64, c: &[f64], pivots: &mut Vec<f64>, x: &mut Vec<f64>) -> bool {
        pivots.clear();
        x.clear();
        let (mut pivot, mut value, mut last) = (1.0, 0.0, 0.0);
        for (i, (diagonal, right)) in self.diagonal.iter().zip(c).enumerate() {
            let factor = last / pivot;
            pivot = diagonal - shift - factor * last;
            if pivot <= 0.0 {
                return false;
            }
            value = right - factor * value;
            pivots.push(pivot);
            x.push(value);
            last = self.beside.get(i).copied().unwrap_or(0.0);
        }
        let mut behind = 0.0;
        for i in (0..x.len()).rev() {
            let beside = self.beside.get(i).copied().unwrap_or(0.0);
            behind = (x[i] - beside * behind) / pivots[i];
            x[i] = behind;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_eigenvalue_of_a_chain() {
        // diagonal 2, beside -1, n = 9: eigenvalues 2 - 2 cos(pi k / 10).
        let chain = Tridiagonal { diagonal: vec![2.0; 9], beside: vec![-1.0; 8] };
        let expected = 2.0 - 2.0 * libm::cos(std::f64::consts::PI / 10.0);
        assert!((chain.smallest() - expected).abs() < 1e-15);
        let single = Tridiagonal { diagonal: vec![7.0], beside: vec![] };
        assert_eq!(single.smallest(), 7.0);
    }

    #[test]
    fn solving_undoes_multiplying() {
        // [[2, -1, 0], [-1, 2, -1], [0, -1, 2]] (1, 2, 4) = (0, -1, 6).
        let chain = Tridiagonal { diagonal: vec![2.5; 3], beside: vec![-1.0; 2] };
        let (mut pivots, mut x) = (Vec::new(), Vec::new());
        assert!(chain.solve(0.5, &[0.0, -1.0, 6.0], &mut pivots, &mut x));
        assert!(x.iter().zip([1.0, 2.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-14), "{x:?}");
        // The smallest eigenvalue is 2.5 - sqrt(2) = 1.086: the matrix is not positive definite beyond it.
        assert!(!chain.solve(1.09, &[0.0, -1.0, 6.0], &mut pivots, &mut x));
    }
}
