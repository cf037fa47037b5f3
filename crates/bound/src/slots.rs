//! Dynamic programme over slots of time, for `suspend`.
//!
//! The pause is a whole number of slots. The state at a slot's start is the rate and the backlog above that of the link at its
//! highest rate; its value is the least energy above that of the lowest rate. Under `suspend` less backlog is never
//! worse: the same rates keep it below. So every rounding of the backlog has a known direction.
//!
//! On the side `Below`, packets arrive at the start of their slot, bounds on lateness apply at the end of their slot, and
//! backlog is rounded down. A schedule that changes its rate within a slot costs no less than one that raises the rate at the slot's
//! start or lowers it at the slot's end, minus the difference of powers times a slot. A change is therefore cheaper by that
//! amount. On the side `Above` all roundings go the other way, and changes have their full price.

use crate::clairvoyant::Side;
use crate::problem::{Item, Problem};

/// A rounding error of floating point, in cells or slots.
const FUZZ: f64 = 1e-6;
/// Cells of backlog for the bits that the highest rate sends in a slot.
const CELLS_OF_A_SLOT: f64 = 4.0;

/// The bits that have arrived, were sent and must have been sent, at each slot's boundaries.
pub(crate) struct Timeline {
    /// The bits sent at the highest rate before each boundary.
    pub top: Vec<f64>,
    /// The most bits that may wait above those of the highest rate, at each boundary.
    pub cap: Vec<f64>,
}

/// The number of slots in a time.
pub(crate) fn slots_in(time: f64, slot: f64, side: Side) -> usize {
    let slots = match side {
        Side::Below => (time / slot + FUZZ).floor(),
        Side::Above => (time / slot - FUZZ).ceil(),
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let slots = slots.max(0.0) as usize;
    slots
}

impl Timeline {
    pub fn new(items: &[Item], top_rate: f64, late: f64, slot: f64, count: usize, side: Side) -> Self {
        let other = if side == Side::Below { Side::Above } else { Side::Below };
        let mut arrived = vec![0.0; count + 1];
        let mut required = vec![0.0; count + 1];
        let mut sum = 0.0;
        for item in items {
            sum += item.bits;
            // Bits that arrive in the last slots are not required.
            if let Some(bits) = arrived.get_mut(slots_in(item.ready, slot, side)) {
                *bits = sum;
            }
            if let Some(bits) = required.get_mut(slots_in(item.due + late, slot, other)) {
                *bits = sum;
            }
        }
        let (mut have, mut need, mut sent) = (0.0_f64, 0.0_f64, 0.0_f64);
        let (mut top, mut cap) = (Vec::with_capacity(count + 1), Vec::with_capacity(count + 1));
        for (arrived, required) in arrived.into_iter().zip(required) {
            need = need.max(required);
            top.push(sent);
            cap.push(sent - need);
            have = have.max(arrived);
            sent = have.min(sent + top_rate * slot);
        }
        Self { top, cap }
    }
}

/// The values at a rate.
#[derive(Clone)]
struct Row {
    /// The value without backlog above that of the highest rate.
    zero: f64,
    /// The values with more: cell i is a backlog of i width + phase above that of the highest rate.
    cells: Vec<f64>,
    phase: f64,
}

impl Row {
    const EMPTY: Self = Self { zero: f64::INFINITY, cells: Vec::new(), phase: 0.0 };

    /// Lowers the value of a cell; a cell below the first is no backlog.
    fn lower(&mut self, cell: isize, value: f64) {
        let Ok(cell) = usize::try_from(cell) else {
            self.zero = self.zero.min(value);
            return;
        };
        if cell >= self.cells.len() {
            self.cells.resize(cell + 1, f64::INFINITY);
        }
        self.cells[cell] = self.cells[cell].min(value);
    }

    /// Moves all backlogs by `bits`, but not below zero.
    fn shift(&mut self, bits: f64, width: f64, side: Side) {
        let moved = (self.phase + bits) / width;
        let whole = (moved + FUZZ).floor();
        self.phase = ((moved - whole) * width).max(0.0);
        #[allow(clippy::cast_possible_truncation)]
        let whole = whole as isize;
        if whole > 0 {
            self.cells.splice(..0, std::iter::repeat_n(f64::INFINITY, whole.unsigned_abs()));
        } else {
            let gone = self.cells.drain(..whole.unsigned_abs().min(self.cells.len()));
            self.zero = gone.fold(self.zero, f64::min);
        }
        if bits > 0.0 && self.zero.is_finite() {
            let value = std::mem::replace(&mut self.zero, f64::INFINITY);
            self.lower(rounded((bits - self.phase) / width, side), value);
        }
    }

    /// Removes backlogs above `cap`.
    fn trim(&mut self, cap: f64, width: f64) {
        let count = rounded((cap - self.phase) / width, Side::Below) + 1;
        self.cells.truncate(usize::try_from(count).unwrap_or(0));
    }

    /// Lowers this row to the values of another at the same time.
    fn merge(&mut self, other: &Self, width: f64, side: Side) {
        self.zero = self.zero.min(other.zero);
        let apart = rounded((other.phase - self.phase) / width, side);
        for (cell, &value) in (apart..).zip(&other.cells) {
            if value.is_finite() {
                self.lower(cell, value);
            }
        }
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().copied().chain([self.zero])
    }

    fn least(&self) -> f64 {
        self.values().fold(f64::INFINITY, f64::min)
    }
}

/// A backlog in whole cells.
fn rounded(cells: f64, side: Side) -> isize {
    let whole = if side == Side::Below { (cells + FUZZ).floor() } else { (cells - FUZZ).ceil() };
    #[allow(clippy::cast_possible_truncation)]
    let whole = whole as isize;
    whole
}

/// The least energy above that of the lowest rate, in joules. Infinite if no schedule was found.
pub(crate) fn excess(problem: &Problem, late: f64, step: f64, side: Side) -> f64 {
    let slots_of_a_pause = ((problem.pause / step - FUZZ).ceil()).max(1.0);
    let slot = problem.pause / slots_of_a_pause;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let pause = slots_of_a_pause as usize;
    let count = slots_in(problem.length, slot, side);
    let line = Timeline::new(problem.due(late), problem.top(), late, slot, count, side);
    if line.cap.iter().any(|&cap| cap < -1e-6) {
        return f64::INFINITY;
    }
    Slots::new(problem, slot, pause, side).run(&line)
}

struct Slots<'a> {
    problem: &'a Problem,
    slot: f64,
    pause: usize,
    side: Side,
    /// The bits of a cell.
    width: f64,
    rows: Vec<Row>,
    /// The rows in a pause: the pauses that begin at slot i are at i modulo the pause.
    pending: Vec<Vec<Row>>,
}

impl<'a> Slots<'a> {
    fn new(problem: &'a Problem, slot: f64, pause: usize, side: Side) -> Self {
        let rates = problem.levels.rates.len();
        let row = Row { zero: 0.0, ..Row::EMPTY };
        let pending = vec![vec![Row::EMPTY; rates]; pause];
        let width = problem.top() * slot / CELLS_OF_A_SLOT;
        Self { problem, slot, pause, side, width, rows: vec![row; rates], pending }
    }

    /// The price of a change, in joules.
    fn price(&self, old: usize, new: usize) -> f64 {
        let levels = &self.problem.levels;
        let saved = match self.side {
            Side::Below => (levels.excess[old] - levels.excess[new]).abs() * self.slot,
            Side::Above => 0.0,
        };
        levels.change(old, new) * self.problem.pause - saved
    }

    fn run(mut self, line: &Timeline) -> f64 {
        let count = line.top.len() - 1;
        let mut least = f64::INFINITY;
        for slot in 0..count {
            self.resume(line, slot);
            least = least.min(self.begin_pauses(slot, count - slot));
            self.serve(line.top[slot + 1] - line.top[slot], line.cap[slot + 1]);
        }
        self.rows.iter().map(Row::least).fold(least, f64::min)
    }

    /// Ends the pauses that began a pause ago.
    fn resume(&mut self, line: &Timeline, slot: usize) {
        if slot < self.pause {
            return;
        }
        let bits = line.top[slot] - line.top[slot - self.pause];
        for (row, paused) in self.rows.iter_mut().zip(&mut self.pending[slot % self.pause]) {
            paused.shift(bits, self.width, self.side);
            paused.trim(line.cap[slot], self.width);
            row.merge(paused, self.width, self.side);
        }
    }

    /// Begins pauses at a slot. Returns the least energy of a pause that the window's end cuts.
    fn begin_pauses(&mut self, slot: usize, left: usize) -> f64 {
        let mut cut = f64::INFINITY;
        let at = slot % self.pause;
        let mut common: Vec<Row> = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let mut rounded = Row::EMPTY;
            rounded.merge(row, self.width, self.side);
            common.push(rounded);
        }
        #[allow(clippy::cast_precision_loss)]
        let share = left as f64 / self.pause as f64;
        for new in 0..self.rows.len() {
            let mut paused = Row { cells: std::mem::take(&mut self.pending[at][new].cells), ..Row::EMPTY };
            paused.cells.clear();
            for (old, row) in common.iter().enumerate().filter(|&(old, _)| old != new) {
                let price = self.price(old, new);
                paused.zero = paused.zero.min(row.zero + price);
                if paused.cells.len() < row.cells.len() {
                    paused.cells.resize(row.cells.len(), f64::INFINITY);
                }
                for (target, value) in paused.cells.iter_mut().zip(&row.cells) {
                    *target = target.min(value + price);
                }
                if left < self.pause {
                    cut = cut.min(row.least() + price * share);
                }
            }
            self.pending[at][new] = paused;
        }
        cut
    }

    /// Serves for a slot in which the highest rate sends `top` bits.
    fn serve(&mut self, top: f64, cap: f64) {
        for (rate, row) in self.rows.iter_mut().enumerate() {
            row.shift(top - self.problem.levels.rates[rate] * self.slot, self.width, self.side);
            row.trim(cap, self.width);
            let energy = self.problem.levels.excess[rate] * self.slot;
            row.zero += energy;
            row.cells.iter_mut().for_each(|value| *value += energy);
        }
    }
}
