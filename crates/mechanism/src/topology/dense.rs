//! Symmetric matrices: factorisation, inverse and reduction of dense ones to tridiagonal form, and the smallest
//! eigenvalue and linear systems of tridiagonal ones.
//!
//! Plain loops in a fixed order give the same bits on every machine. Libraries choose instructions, and so
//! rounding, by the processor. Rows are contiguous, and all inner loops run along rows.

/// A square matrix, row by row.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    size: usize,
    values: Vec<f64>,
}

/// The error for a matrix that is not positive definite.
#[derive(Debug)]
pub(super) struct NotPositive;

/// The number of lanes of a sum, small enough for the wide registers of a processor.
const LANES: usize = 8;

/// The dot product x . y
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (x_parts, y_parts) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest: f64 = x_parts.remainder().iter().zip(y_parts.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in x_parts.zip(y_parts) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// Computes y += factor x.
pub(super) fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    for (a, b) in y.iter_mut().zip(x) {
        *a += factor * b;
    }
}

impl Matrix {
    pub(super) fn zero(size: usize) -> Self {
        Self { size, values: vec![0.0; size * size] }
    }

    /// A matrix whose elements all equal `value`.
    pub(super) fn filled(size: usize, value: f64) -> Self {
        Self { size, values: vec![value; size * size] }
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.size..(row + 1) * self.size]
    }

    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.size..(row + 1) * self.size]
    }

    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.size + column] += value;
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.size)
    }

    /// Computes result = A x, for a symmetric A.
    pub(super) fn times(&self, x: &[f64], result: &mut [f64]) {
        for (value, row) in result.iter_mut().zip(self.rows()) {
            *value = dot(row, x);
        }
    }

    /// Computes A += factor x x^T.
    pub(super) fn add_square(&mut self, factor: f64, x: &[f64]) {
        for (row, &value) in self.values.chunks_exact_mut(self.size).zip(x) {
            add_scaled(row, factor * value, x);
        }
    }

    /// Replaces the lower triangle by L of A = L L^T (Cholesky, row by row). The upper triangle is unchanged.
    ///
    /// # Errors
    /// If a pivot is not positive: A has an eigenvalue of zero or below.
    pub(super) fn factorise(&mut self) -> Result<(), NotPositive> {
        for i in 0..self.size {
            let (above, below) = self.values.split_at_mut(i * self.size);
            let row = &mut below[..self.size];
            for (j, other) in above.chunks_exact(self.size).enumerate() {
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let pivot = row[i] - dot(&row[..i], &row[..i]);
            if pivot <= 0.0 || pivot.is_nan() {
                return Err(NotPositive);
            }
            row[i] = pivot.sqrt();
        }
        Ok(())
    }

    /// The inverse of a symmetric positive definite matrix: W^T W with W = L^-1.
    ///
    /// # Errors
    /// If the matrix is not positive definite.
    pub(super) fn inverse(mut self) -> Result<Self, NotPositive> {
        self.factorise()?;
        let size = self.size;
        let mut w = Self::zero(size);
        for i in 0..size {
            let (above, below) = w.values.split_at_mut(i * size);
            let (row, factors) = (&mut below[..=i], self.row(i));
            for (j, other) in above.chunks_exact(size).enumerate() {
                add_scaled(&mut row[..=j], -factors[j], &other[..=j]);
            }
            row[i] = 1.0;
            row.iter_mut().for_each(|value| *value /= factors[i]);
        }
        // The factor is no longer needed; its memory holds the result.
        let mut inverse = self;
        inverse.values.fill(0.0);
        for k in 0..size {
            let source = &w.row(k)[..=k];
            for (i, &factor) in source.iter().enumerate() {
                add_scaled(&mut inverse.values[i * size..=i * size + i], factor, &source[..=i]);
            }
        }
        for i in 0..size {
            for j in 0..i {
                inverse.values[j * size + i] = inverse.values[i * size + j];
            }
        }
        Ok(inverse)
    }

    /// T = Q^T A Q of a symmetric A by Householder reflections (Golub and Van Loan, Matrix Computations, 8.3.1).
    /// The matrix then holds the reflections, for [`Matrix::basis`].
    pub(super) fn reduce(&mut self) -> Tridiagonal {
        let size = self.size;
        let (mut diagonal, mut beside) = (vec![0.0; size], vec![0.0; size.saturating_sub(1)]);
        let (mut p, mut v) = (vec![0.0; size], vec![0.0; size]);
        for k in 0..size {
            diagonal[k] = self.values[k * size + k];
            if k + 1 >= size {
                break;
            }
            beside[k] = reflection(&mut self.row_mut(k)[k + 1..]);
            let v = &mut v[k + 1..];
            v.copy_from_slice(&self.row(k)[k + 1..]);
            let rest = &mut self.values[(k + 1) * size..];
            let p = &mut p[k + 1..];
            for (value, row) in p.iter_mut().zip(rest.chunks_exact(size)) {
                *value = dot(&row[k + 1..], v);
            }
            let half = dot(p, v) / 2.0;
            add_scaled(p, -half, v);
            for (i, row) in rest.chunks_exact_mut(size).enumerate() {
                let (a, b) = (v[i], p[i]);
                for ((value, x), y) in row[k + 1..].iter_mut().zip(&*p).zip(&*v) {
                    *value -= a * x + b * y;
                }
            }
        }
        Tridiagonal { diagonal, beside }
    }

    /// The matrix Q of the reduction whose reflections this matrix holds.
    pub(super) fn basis(&self) -> Self {
        let size = self.size;
        let mut q = Self::zero(size);
        (0..size).for_each(|i| q.add(i, i, 1.0));
        let mut z = vec![0.0; size];
        for k in (0..size.saturating_sub(1)).rev() {
            let v = &self.row(k)[k + 1..];
            z.fill(0.0);
            for (&factor, row) in v.iter().zip(q.values[(k + 1) * size..].chunks_exact(size)) {
                add_scaled(&mut z[k + 1..], factor, &row[k + 1..]);
            }
            for (&factor, row) in v.iter().zip(q.values[(k + 1) * size..].chunks_exact_mut(size)) {
                add_scaled(&mut row[k + 1..], -factor, &z[k + 1..]);
            }
        }
        q
    }
}

/// Replaces x by the v with (I - v v^T) x = alpha e_1, |v|^2 = 2 (or 0 if x is already a multiple of e_1).
/// Returns alpha.
fn reflection(x: &mut [f64]) -> f64 {
    let tail = dot(&x[1..], &x[1..]);
    if tail == 0.0 {
        let alpha = x[0];
        x.fill(0.0);
        return alpha;
    }
    let alpha = -(x[0] * x[0] + tail).sqrt().copysign(x[0]);
    x[0] -= alpha;
    let scale = (2.0 / (x[0] * x[0] + tail)).sqrt();
    x.iter_mut().for_each(|value| *value *= scale);
    alpha
}

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

    /// True if all eigenvalues are above `shift`: the pivots of T - shift I are positive (Sylvester's law of
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

    /// A = [[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 2]], extended to `size` by a diagonal of 5, 6, ...
    fn sample(size: usize) -> Matrix {
        let mut a = Matrix::zero(size);
        let entries = [(0, 0, 4.0), (1, 1, 3.0), (2, 2, 2.0), (0, 1, 1.0), (0, 2, 0.5), (1, 2, 0.25)];
        for (i, j, value) in entries {
            a.add(i, j, value);
            if i != j {
                a.add(j, i, value);
            }
        }
        (3..size).for_each(|i| {
            a.add(i, i, 2.0 + i as f64);
            a.add(i, i - 1, 0.125);
            a.add(i - 1, i, 0.125);
        });
        a
    }

    fn product(a: &Matrix, b: &Matrix) -> Matrix {
        let mut c = Matrix::zero(a.size);
        for i in 0..a.size {
            for k in 0..a.size {
                let factor = a.row(i)[k];
                add_scaled(c.row_mut(i), factor, b.row(k));
            }
        }
        c
    }

    fn assert_near(a: &Matrix, b: &Matrix) {
        assert!(a.values.iter().zip(&b.values).all(|(x, y)| (x - y).abs() < 1e-13), "{a:?} {b:?}");
    }

    fn identity(size: usize) -> Matrix {
        let mut one = Matrix::zero(size);
        (0..size).for_each(|i| one.add(i, i, 1.0));
        one
    }

    #[test]
    fn the_inverse_undoes_the_matrix() {
        let a = sample(19);
        assert_near(&product(&a, &a.clone().inverse().unwrap()), &identity(19));
    }

    #[test]
    fn an_indefinite_matrix_has_no_factor() {
        // [[1, 2], [2, 1]] has the eigenvalues 3 and -1.
        let mut a = Matrix::filled(2, 2.0);
        a.add(0, 0, -1.0);
        a.add(1, 1, -1.0);
        assert!(a.factorise().is_err());
    }

    #[test]
    fn the_reduction_is_tridiagonal_in_its_basis() {
        let a = sample(11);
        let mut reduced = a.clone();
        let t = reduced.reduce();
        let q = reduced.basis();
        let mut tridiagonal = Matrix::zero(11);
        for i in 0..11 {
            tridiagonal.add(i, i, t.diagonal[i]);
            if i < 10 {
                tridiagonal.add(i, i + 1, t.beside[i]);
                tridiagonal.add(i + 1, i, t.beside[i]);
            }
        }
        assert_near(&product(&a, &q), &product(&q, &tridiagonal));
        let mut transposed = Matrix::zero(11);
        (0..11).for_each(|i| (0..11).for_each(|j| transposed.add(i, j, q.row(j)[i])));
        assert_near(&product(&q, &transposed), &identity(11));
    }

    #[test]
    fn sums_in_lanes_count_every_element_once() {
        // 1 + 2 + ... + 21 = 231: two full sets of lanes and a rest of five.
        let x: Vec<f64> = (1..=21).map(f64::from).collect();
        assert_eq!(dot(&x, &[1.0; 21]), 231.0);
    }

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
