//! Dynamic programme over slots, for `suspend` without a pause.
//!
//! Changes are free, so the rate is no part of the state. On the side `Below`, a schedule mixes rates within a slot: it
//! takes at least the power of the lower convex hull of (rate, power) at its mean rate. The mean rate lies between two
//! of the points on the hull; the slot sends the bits of the higher one at the power of the lower one.

use crate::problem::{Levels, Problem};
use crate::side::Side;
use crate::slots::{Timeline, slots_in};

/// Points on the hull.
const POINTS: usize = 128;
/// Cells of backlog for the bits that the highest rate sends in a slot.
const CELLS_OF_A_SLOT: f64 = 80.0;

/// A choice for a slot: a rate in bit/s and a power in watts.
type Choice = (f64, f64);

/// The choices for a slot.
fn choices(levels: &Levels, side: Side) -> Vec<Choice> {
    let points: Vec<Choice> = levels.rates.iter().copied().zip(levels.excess.iter().copied()).collect();
    if side == Side::Above {
        return points;
    }
    let hull = hull(&points);
    let mut mixed = vec![hull[0]];
    let points = POINTS.div_ceil(hull.len());
    for pair in hull.windows(2) {
        let [(slow, low), (fast, high)] = [pair[0], pair[1]];
        for point in 1..=points {
            #[allow(clippy::cast_precision_loss)]
            let [before, after] = [point - 1, point].map(|point| point as f64 / points as f64);
            mixed.push((slow + (fast - slow) * after, low + (high - low) * before));
        }
    }
    mixed
}

/// The lower convex hull of points in the order of their rates.
fn hull(points: &[Choice]) -> Vec<Choice> {
    let mut hull: Vec<Choice> = Vec::new();
    for &(rate, power) in points {
        while let [.., (rate_0, power_0), (rate_1, power_1)] = hull[..] {
            if (power_1 - power_0) * (rate - rate_0) < (power - power_0) * (rate_1 - rate_0) {
                break;
            }
            hull.pop();
        }
        hull.push((rate, power));
    }
    hull
}

/// The least energy above that of the lowest rate, in joules. Infinite if no schedule was found.
pub(crate) fn excess(problem: &Problem, late: f64, slot: f64, side: Side) -> f64 {
    let count = slots_in(problem.length, slot, side);
    let line = Timeline::new(problem.due(late), problem.top(), late, slot, count, side);
    if line.cap.iter().any(|&cap| cap < -1e-6) {
        return f64::INFINITY;
    }
    let width = problem.top() * slot / CELLS_OF_A_SLOT;
    let choices = choices(&problem.levels, side);
    // Cell i is a backlog of i cells above that of the highest rate.
    let mut cells = vec![0.0];
    for (bits, cap) in line.top.windows(2).zip(&line.cap[1..]) {
        let most = cell(cap / width, Side::Below);
        let mut next = vec![f64::INFINITY; most + 1];
        for &(rate, power) in &choices {
            let shift = (bits[1] - bits[0] - rate * slot) / width;
            for (backlog, value) in cells.iter().enumerate() {
                #[allow(clippy::cast_precision_loss)]
                let target = cell(backlog as f64 + shift, side);
                if let Some(least) = next.get_mut(target) {
                    *least = least.min(value + power * slot);
                }
            }
        }
        cells = next;
    }
    cells.into_iter().fold(f64::INFINITY, f64::min)
}

/// A backlog in whole cells, at least zero.
fn cell(cells: f64, side: Side) -> usize {
    let whole = match side {
        Side::Below => (cells + 1e-6).floor(),
        Side::Above => (cells - 1e-6).ceil(),
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = whole.max(0.0) as usize;
    whole
}
