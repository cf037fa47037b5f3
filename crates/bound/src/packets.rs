//! Dynamic programme over packets, for `finish_then_pause`.
//!
//! The rate changes between packets only. A state after packet k is a rate and a lateness; its value is the least energy
//! above that of the lowest rate. The base of lateness is the departure of packet k at the highest rate, so service
//! at that rate moves no state.
//!
//! Lateness is in cells of width `step`. On the side `Below`, a cell holds every schedule whose lateness is in the
//! cell. A change that ends between two cells is written to both, and waiting costs what the shortest wait costs.
//! On the side `Above`, a cell holds a schedule that is this late at most. Each rounding up costs the
//! rounded time at the highest power, which is what the schedule spends if it is early and waits.

use crate::problem::{Levels, Problem, Side};

/// A rounding error of floating point, in cells.
const FUZZ: f64 = 1e-6;

/// The values at a rate. Cell i is the lateness from (i - 1) step + phase to i step + phase.
#[derive(Clone)]
struct Row {
    cells: Vec<f64>,
    phase: f64,
}

struct Solver<'a> {
    levels: &'a Levels,
    pause: f64,
    late: f64,
    step: f64,
    side: Side,
    /// The cells of a row.
    width: usize,
    rows: Vec<Row>,
}

/// The least energy above that of the lowest rate, in joules. Infinite if no schedule was found.
pub(crate) fn excess(problem: &Problem, late: f64, step: f64, side: Side) -> f64 {
    let mut solver = Solver::new(problem, late, step, side);
    let mut last = 0.0;
    for item in problem.due(late) {
        let gap = item.due - item.bits / problem.top() - last;
        if gap > 0.0 {
            solver.idle(gap);
        }
        solver.change();
        solver.serve(item.bits);
        last = item.due;
    }
    solver.end(problem.length - last)
}

/// The whole cells of a shift and the rest, from 0 to below 1.
fn split(cells: f64) -> (isize, f64) {
    let whole = (cells + FUZZ).floor();
    let rest = cells - whole;
    #[allow(clippy::cast_possible_truncation)]
    let whole = whole as isize;
    (whole, if rest < FUZZ { 0.0 } else { rest })
}

/// Lowers `target[i + shift]` to `source[i] + cost`.
fn lower(target: &mut [f64], source: &[f64], shift: isize, cost: f64) {
    let (from, to) = if shift < 0 { (shift.unsigned_abs(), 0) } else { (0, shift.unsigned_abs()) };
    if from >= source.len() || to >= target.len() {
        return;
    }
    for (new, old) in target[to..].iter_mut().zip(&source[from..]) {
        *new = new.min(old + cost);
    }
}

impl<'a> Solver<'a> {
    fn new(problem: &'a Problem, late: f64, step: f64, side: Side) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let width = (late / step + FUZZ).floor() as usize + 2;
        let mut row = Row { cells: vec![f64::INFINITY; width], phase: 0.0 };
        row.cells[1] = 0.0;
        let rows = vec![row; problem.levels.rates.len()];
        Self { levels: &problem.levels, pause: problem.pause, late, step, side, width, rows }
    }

    fn empty(&self) -> Vec<Row> {
        vec![Row { cells: vec![f64::INFINITY; self.width], phase: 0.0 }; self.rows.len()]
    }

    /// The earliest lateness of a cell.
    #[allow(clippy::cast_precision_loss)]
    fn lateness(&self, row: &Row, cell: usize) -> f64 {
        (cell as f64 - 1.0) * self.step + row.phase
    }

    /// The slack of a wait: the width of a cell on the side `Below`.
    fn slack(&self) -> f64 {
        if self.side == Side::Below { self.step } else { 0.0 }
    }

    /// Lowers the cells of `target` to those of `source`, later by `delay`, at a cost.
    fn moved(&self, target: &mut Row, source: &Row, delay: f64, cost: f64) {
        let (whole, rest) = split((source.phase + delay - target.phase) / self.step);
        if rest == 0.0 {
            lower(&mut target.cells, &source.cells, whole, cost);
        } else if self.side == Side::Below {
            lower(&mut target.cells, &source.cells, whole, cost);
            lower(&mut target.cells, &source.cells, whole + 1, cost);
        } else {
            let waits = (1.0 - rest) * self.step * self.levels.most();
            lower(&mut target.cells, &source.cells, whole + 1, cost + waits);
        }
    }

    /// The energy of a change above that of the lowest rate.
    fn cost(&self, old: usize, new: usize) -> f64 {
        self.levels.change(old, new) * self.pause
    }

    /// Changes the rate at the departure of a packet, or not.
    fn change(&mut self) {
        let mut rows = self.rows.clone();
        for (new, target) in rows.iter_mut().enumerate() {
            for (old, source) in self.rows.iter().enumerate().filter(|&(old, _)| old != new) {
                self.moved(target, source, self.pause, self.cost(old, new));
            }
        }
        if self.side == Side::Below && self.pause > 0.0 {
            self.chains(&mut rows);
        }
        self.rows = rows;
    }

    /// Further changes at the same departure: each takes a pause, and at least the power of the cheapest change.
    fn chains(&self, rows: &mut [Row]) {
        let rates = 0..self.rows.len();
        let pairs =
            rates.clone().flat_map(|old| rates.clone().map(move |new| (old, new))).filter(|(old, new)| old != new);
        let cheapest = pairs.map(|(old, new)| self.levels.change(old, new)).fold(f64::INFINITY, f64::min);
        if !cheapest.is_finite() {
            return;
        }
        let (pause, _) = split(self.pause / self.step);
        let first = pause.unsigned_abs();
        for row in rows {
            let before = row.cells.clone();
            let mut waiting = f64::INFINITY;
            for cell in first..self.width {
                // A lateness anywhere in its cell may reach two more cells without a longer wait.
                let start = before[(cell - first).saturating_sub(2)..=cell - first].iter().copied();
                waiting =
                    (waiting + cheapest * self.step).min(start.fold(f64::INFINITY, f64::min) + cheapest * self.pause);
                row.cells[cell] = row.cells[cell].min(waiting);
            }
        }
    }

    /// Sends a packet at the rate of each row.
    fn serve(&mut self, bits: f64) {
        let top = self.levels.rates.last().copied().unwrap_or(1.0);
        for (rate, row) in self.rows.iter_mut().enumerate() {
            let time = bits / self.levels.rates[rate];
            let (whole, rest) = split((row.phase + time - bits / top) / self.step);
            let shift = whole.unsigned_abs().min(self.width);
            row.phase = rest * self.step;
            row.cells.copy_within(..self.width - shift, shift);
            row.cells[..shift].fill(f64::INFINITY);
            let energy = self.levels.excess[rate] * time;
            for (cell, value) in row.cells.iter_mut().enumerate() {
                #[allow(clippy::cast_precision_loss)]
                let lateness = (cell as f64 - 1.0) * self.step + row.phase;
                *value = if lateness > self.late + FUZZ * self.step { f64::INFINITY } else { *value + energy };
            }
        }
    }

    /// Passes a time without packets of the link at its highest rate.
    fn idle(&mut self, gap: f64) {
        let mut next = self.empty();
        let after = self.changed();
        self.arrive(&self.rows, gap, &mut next);
        self.arrive(&after, gap - self.pause, &mut next);
        self.rows = next;
    }

    /// The rows after a change that began at the departure. Their base is later by the pause.
    fn changed(&self) -> Vec<Row> {
        let mut rows = self.empty();
        for (new, target) in rows.iter_mut().enumerate() {
            for (old, source) in self.rows.iter().enumerate().filter(|&(old, _)| old != new) {
                self.moved(target, source, 0.0, self.cost(old, new));
            }
        }
        rows
    }

    /// Lowers `next`, the rows at an arrival `gap` after the base of `rows`. The rate may change on the way.
    fn arrive(&self, rows: &[Row], gap: f64, next: &mut [Row]) {
        let reach = self.slack();
        for (rate, row) in rows.iter().enumerate() {
            // The packets before are still in service at the arrival.
            let mut busy = Row { cells: row.cells.clone(), phase: row.phase };
            // Those that wait for the packet at their rate, and with a change that ends after the arrival.
            let mut ready = f64::INFINITY;
            for (cell, value) in row.cells.iter().enumerate() {
                let lateness = self.lateness(row, cell);
                if lateness <= gap {
                    ready = ready.min(value + self.levels.excess[rate] * (gap - lateness - reach).max(0.0));
                }
                if lateness + reach <= gap {
                    busy.cells[cell] = f64::INFINITY;
                }
            }
            let mut shifted = Row { cells: vec![f64::INFINITY; self.width], phase: 0.0 };
            self.moved(&mut shifted, &busy, -gap, 0.0);
            lower(&mut next[rate].cells, &shifted.cells, 0, 0.0);
            // No packet leaves early: a cell before lateness zero stands for zero.
            next[rate].cells[1] = next[rate].cells[1].min(next[rate].cells[0]).min(ready);
            next[rate].cells[0] = f64::INFINITY;
            self.wake(rate, row, gap, next);
        }
    }

    /// Changes from `rate` whose pause begins before an arrival and ends at or after it.
    fn wake(&self, rate: usize, row: &Row, gap: f64, next: &mut [Row]) {
        if gap < 0.0 {
            return;
        }
        let reach = self.slack();
        let power = self.levels.excess[rate];
        // The cells before `settled` have waited; those up to `seen` may be idle when the pause begins.
        let (mut settled, mut seen, mut waiting) = (0, 0, f64::INFINITY);
        let mut begins = gap - self.pause;
        let mut cell = 1;
        while cell < self.width && begins <= gap {
            while seen < self.width && self.lateness(row, seen) <= begins + reach {
                seen += 1;
            }
            while settled < seen && self.lateness(row, settled) + reach <= begins {
                waiting = waiting.min(row.cells[settled] - power * (self.lateness(row, settled) + reach));
                settled += 1;
            }
            let fresh = row.cells[settled..seen].iter().copied().fold(f64::INFINITY, f64::min);
            let value = fresh.min(waiting + power * begins);
            if value.is_finite() {
                for new in (0..next.len()).filter(|&new| new != rate) {
                    next[new].cells[cell] = next[new].cells[cell].min(value + self.cost(rate, new));
                }
            }
            begins += self.step;
            cell += 1;
        }
    }

    /// The least energy until the end of the window, `left` after the last departure at the highest rate.
    fn end(&self, left: f64) -> f64 {
        let mut least = f64::INFINITY;
        for (rate, row) in self.rows.iter().enumerate() {
            for (cell, value) in row.cells.iter().enumerate() {
                let wait = (left - self.lateness(row, cell) - self.slack()).max(0.0);
                least = least.min(value + self.tail(rate, wait));
            }
        }
        least
    }

    /// The least energy of an idle link for a time.
    fn tail(&self, rate: usize, time: f64) -> f64 {
        let paused = time.min(self.pause);
        let changed = (0..self.rows.len()).filter(|&new| new != rate);
        let changed =
            changed.map(|new| self.levels.change(rate, new) * paused + self.levels.excess[new] * (time - paused));
        changed.fold(self.levels.excess[rate] * time, f64::min)
    }
}
