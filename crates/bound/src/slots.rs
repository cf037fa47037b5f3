//! Dynamic programmes over slots of time, for `suspend`: [`excess`] with a pause, and [`free_excess`] without.
//!
//! # With a pause
//!
//! The pause is a whole number of slots. The state at a slot's start is the rate and the backlog above that of the link at its
//! highest rate; its value is the least energy above that of the lowest rate. Under `suspend` less backlog is never
//! worse: the same rates keep it below. So every rounding of the backlog has a known direction.
//!
//! On the side `Below`, packets arrive at the start of their slot, bounds on lateness apply at the end of their slot, and
//! backlog is rounded down. A schedule that changes its rate within a slot costs no less than one that raises the rate at the slot's
//! start or lowers it at the slot's end, minus the difference of powers times a slot. A change is therefore cheaper by that
//! amount. On the side `Above` all roundings go the other way, and changes have their full price.
//!
//! # Without a pause
//!
//! Changes are free, so the rate is no part of the state. On the side `Below`, a schedule mixes rates within a slot: it
//! takes at least the power of the lower convex hull of (rate, power) at its mean rate. The mean rate lies between two
//! of the points on the hull; the slot sends the bits of the higher one at the power of the lower one.

use crate::problem::{Item, Levels, Problem, Side};

/// A rounding error of floating point, in cells or slots.
const FUZZ: f64 = 1e-6;
/// Cells of backlog for the bits that the highest rate sends in a slot.
const CELLS_OF_A_SLOT: f64 = 5.0;

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

/// The values at a rate, in joules above `base`.
#[derive(Clone)]
struct Row {
    base: f64,
    /// The value without backlog above that of the highest rate.
    zero: f32,
    /// The values with more: cell i is a backlog of i width + phase above that of the highest rate.
    cells: Vec<f32>,
    phase: f64,
}

impl Row {
    const EMPTY: Self = Self { base: 0.0, zero: f32::INFINITY, cells: Vec::new(), phase: 0.0 };

    /// Lowers the value of a cell; a cell below the first is no backlog.
    fn lower(&mut self, cell: isize, value: f32) {
        let Ok(cell) = usize::try_from(cell) else {
            self.zero = self.zero.min(value);
            return;
        };
        if cell >= self.cells.len() {
            self.cells.resize(cell + 1, f32::INFINITY);
        }
        self.cells[cell] = self.cells[cell].min(value);
    }

    /// Lowers the values from `first` on to these, at a cost.
    fn lower_all(&mut self, first: usize, values: &[f32], cost: f32) {
        if self.cells.len() < first + values.len() {
            self.cells.resize(first + values.len(), f32::INFINITY);
        }
        for (target, value) in self.cells[first..].iter_mut().zip(values) {
            *target = least(*target, value + cost);
        }
    }

    fn clear(&mut self) {
        self.base = 0.0;
        self.zero = f32::INFINITY;
        self.cells.clear();
        self.phase = 0.0;
    }

    /// Moves all backlogs by `bits`, but not below zero.
    fn shift(&mut self, bits: f64, width: f64, side: Side) {
        let moved = (self.phase + bits) / width;
        let whole = (moved + FUZZ).floor();
        self.phase = ((moved - whole) * width).max(0.0);
        #[allow(clippy::cast_possible_truncation)]
        let whole = whole as isize;
        if whole > 0 && !self.cells.is_empty() {
            self.cells.splice(..0, std::iter::repeat_n(f32::INFINITY, whole.unsigned_abs()));
        } else if whole < 0 && !self.cells.is_empty() {
            let gone = self.cells.drain(..whole.unsigned_abs().min(self.cells.len()));
            self.zero = gone.fold(self.zero, least);
        }
        if bits > 0.0 && self.zero.is_finite() {
            let value = std::mem::replace(&mut self.zero, f32::INFINITY);
            self.lower(rounded((bits - self.phase) / width, side), value);
        }
    }

    /// Removes backlogs above `cap`, and the largest ones that no backlog at all beats.
    fn trim(&mut self, cap: f64, width: f64) {
        let count = rounded((cap - self.phase) / width, Side::Below) + 1;
        self.cells.truncate(usize::try_from(count).unwrap_or(0));
        while self.cells.last().is_some_and(|&last| last >= self.zero || last.is_infinite()) {
            self.cells.pop();
        }
    }

    /// Removes the cells after the least value, which are never better.
    fn forget(&mut self) {
        let best = (0..self.cells.len()).min_by(|&a, &b| self.cells[a].total_cmp(&self.cells[b]));
        self.cells.truncate(best.map_or(0, |best| best + 1));
    }

    /// Lowers this row, whose base is the same, to the values of another at the same time.
    fn merge(&mut self, other: &Self, cost: f32, width: f64, side: Side) {
        self.zero = least(self.zero, other.zero + cost);
        let apart = rounded((other.phase - self.phase) / width, side);
        let Ok(first) = usize::try_from(apart) else {
            // Rounded down by a cell: the first cell is no backlog.
            if let Some((head, tail)) = other.cells.split_first() {
                self.zero = least(self.zero, head + cost);
                self.lower_all(0, tail, cost);
            }
            return;
        };
        self.lower_all(first, &other.cells, cost);
    }

    fn least(&self) -> f64 {
        self.base + f64::from(self.cells.iter().copied().fold(self.zero, least))
    }
}

/// The lower of two values, none of which is NaN.
fn least(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

/// A difference of energies as a value of a cell.
#[allow(clippy::cast_possible_truncation)]
fn value(joules: f64) -> f32 {
    joules as f32
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
    /// The least of some rows, without a phase.
    envelope: Row,
    /// The joules that were taken off all values.
    base: f64,
}

/// Slots between two reductions of all values, which keep them small.
const REDUCED: usize = 256;
const REDUCED_F: f64 = 256.0;

impl<'a> Slots<'a> {
    fn new(problem: &'a Problem, slot: f64, pause: usize, side: Side) -> Self {
        let rates = problem.levels.rates.len();
        let row = Row { zero: 0.0, ..Row::EMPTY };
        let width = problem.top() * slot / CELLS_OF_A_SLOT;
        Self {
            problem,
            slot,
            pause,
            side,
            width,
            rows: vec![row; rates],
            pending: vec![vec![Row::EMPTY; rates]; pause],
            envelope: Row::EMPTY,
            base: 0.0,
        }
    }

    fn run(mut self, line: &Timeline) -> f64 {
        let count = line.top.len() - 1;
        let mut least = f64::INFINITY;
        let (mut slot, mut reduced) = (0, 0);
        while slot < count {
            let idle = line.top[slot..].partition_point(|&sent| sent <= line.top[slot]) - 1;
            if idle > self.pause && slot + idle < count && self.is_settled(line, slot) {
                self.idle(slot, idle);
                slot += idle;
                continue;
            }
            if slot >= reduced + REDUCED {
                reduced = slot;
                self.reduce();
                self.rows.iter_mut().for_each(Row::forget);
            }
            self.resume(line, slot);
            if count - slot < self.pause {
                least = least.min(self.cut(count - slot));
            }
            self.begin_pauses(slot % self.pause);
            self.serve(line.top[slot + 1] - line.top[slot], line.cap[slot + 1]);
            slot += 1;
        }
        let rounding = match self.side {
            // Two roundings of the values in a slot, at most.
            #[allow(clippy::cast_precision_loss)]
            Side::Below => count as f64 * 2.0 * f64::from(f32::EPSILON) * self.spread(),
            Side::Above => 0.0,
        };
        self.base + self.rows.iter().map(Row::least).fold(least, f64::min) - rounding
    }

    /// The largest value of a cell, about: the reductions leave the least at zero.
    fn spread(&self) -> f64 {
        self.problem.levels.most() * (self.slot * REDUCED_F + self.problem.pause)
    }

    /// Takes the least value off all.
    fn reduce(&mut self) {
        let least = self.rows.iter().map(Row::least).fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            self.base += least;
            self.rows.iter_mut().chain(self.pending.iter_mut().flatten()).for_each(|row| {
                let taken = value(row.base - least);
                row.zero += taken;
                row.cells.iter_mut().for_each(|cell| *cell += taken);
                row.base = 0.0;
            });
        }
    }

    /// True if no schedule has more backlog than the highest rate, in service or in a pause.
    fn is_settled(&self, line: &Timeline, slot: usize) -> bool {
        let paused = slot >= self.pause && line.top[slot - self.pause] >= line.top[slot];
        paused && self.rows.iter().chain(self.pending.iter().flatten()).all(|row| row.cells.is_empty())
    }

    /// Passes `count` slots without packets, from a settled slot on. The values become constant after some slots.
    fn idle(&mut self, slot: usize, count: usize) {
        let levels = &self.problem.levels;
        let rates = 0..self.rows.len();
        let of = |row: &Row| row.base + f64::from(row.zero);
        let mut values: Vec<f64> = self.rows.iter().map(of).collect();
        let mut pending: Vec<Vec<f64>> = self.pending.iter().map(|rows| rows.iter().map(of).collect()).collect();
        let prices: Vec<Vec<f64>> =
            rates.clone().map(|old| rates.clone().map(|new| self.price(old, new)).collect()).collect();
        let mut constant = 0;
        for slot in slot..slot + count {
            let before = values.clone();
            let paused = &mut pending[slot % self.pause];
            for (value, paused) in values.iter_mut().zip(paused.iter()) {
                *value = value.min(*paused);
            }
            for new in rates.clone() {
                let others = rates.clone().filter(|&old| old != new).map(|old| values[old] + prices[old][new]);
                paused[new] = others.fold(f64::INFINITY, f64::min);
            }
            for (value, power) in values.iter_mut().zip(&levels.excess) {
                *value += power * self.slot;
            }
            // The slots of a whole pause then hold the same values.
            constant = if values == before { constant + 1 } else { 0 };
            if constant > self.pause {
                break;
            }
        }
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        self.base += least;
        let all = self.rows.iter_mut().zip(&values);
        let all = all.chain(self.pending.iter_mut().flatten().zip(pending.iter().flatten()));
        for (row, found) in all {
            row.base = 0.0;
            row.zero = value(found - least);
        }
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
            row.merge(paused, value(paused.base - row.base), self.width, self.side);
        }
    }

    /// The least energy of a pause that the window's end cuts, `left` slots after its start.
    fn cut(&self, left: usize) -> f64 {
        let levels = &self.problem.levels;
        #[allow(clippy::cast_precision_loss)]
        let time = left as f64 * self.slot;
        let pairs = self.rows.iter().enumerate().flat_map(|(old, row)| {
            let least = row.least();
            (0..self.rows.len()).filter(move |&new| new != old).map(move |new| least + levels.change(old, new) * time)
        });
        pairs.fold(f64::INFINITY, f64::min)
    }

    /// The price of a change, in joules.
    fn price(&self, old: usize, new: usize) -> f64 {
        let excess = &self.problem.levels.excess;
        let [old_part, new_part] = self.problem.levels.parts(new > old).map(|part| part * self.problem.pause);
        let earlier = self.earlier(new > old);
        (old_part + earlier) * excess[old] + (new_part - earlier) * excess[new]
    }

    /// The time by which a change on the grid may be early, or late if negative.
    fn earlier(&self, up: bool) -> f64 {
        match (self.side, up) {
            (Side::Above, _) => 0.0,
            (Side::Below, true) => self.slot,
            (Side::Below, false) => -self.slot,
        }
    }

    /// Begins pauses. A change from an old to a new rate costs a part for each.
    fn begin_pauses(&mut self, at: usize) {
        let earlier = [true, false].map(|up| self.earlier(up));
        let Self { rows, pending, envelope, width, side, .. } = self;
        pending[at].iter_mut().for_each(Row::clear);
        let levels = &self.problem.levels;
        // To a higher rate, then to a lower one.
        let rates = rows.len();
        for (up, earlier) in [true, false].into_iter().zip(earlier) {
            envelope.clear();
            let [old_part, new_part] = levels.parts(up).map(|part| part * self.problem.pause);
            for step in 1..rates {
                let (old, new) = if up { (step - 1, step) } else { (rates - step, rates - step - 1) };
                let cost = rows[old].base + (old_part + earlier) * levels.excess[old];
                envelope.merge(&rows[old], value(cost), *width, *side);
                pending[at][new].merge(envelope, value((new_part - earlier) * levels.excess[new]), *width, *side);
            }
        }
    }

    /// Serves for a slot in which the highest rate sends `top` bits.
    fn serve(&mut self, top: f64, cap: f64) {
        for (rate, row) in self.rows.iter_mut().enumerate() {
            row.shift(top - self.problem.levels.rates[rate] * self.slot, self.width, self.side);
            row.trim(cap, self.width);
            row.base += self.problem.levels.excess[rate] * self.slot;
        }
    }
}

/// Points on the hull.
const POINTS: usize = 128;
/// Cells of backlog for the bits that the highest rate sends in a slot.
const FREE_CELLS_OF_A_SLOT: f64 = 80.0;

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

/// The least energy above that of the lowest rate, in joules, without a pause. Infinite if no schedule was found.
pub(crate) fn free_excess(problem: &Problem, late: f64, slot: f64, side: Side) -> f64 {
    let count = slots_in(problem.length, slot, side);
    let line = Timeline::new(problem.due(late), problem.top(), late, slot, count, side);
    if line.cap.iter().any(|&cap| cap < -1e-6) {
        return f64::INFINITY;
    }
    let width = problem.top() * slot / FREE_CELLS_OF_A_SLOT;
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
