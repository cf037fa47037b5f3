//! Echoes: the rates that the next rounds will need, on a ring of short intervals of time (bins).

use super::counterfactual::larger;

/// The number of bins.
const BINS: usize = 4096;
/// The bins that share one summary.
const BLOCK: usize = 64;
/// The shortest bin in seconds. Round-trip times are not known better.
const SHORTEST: f64 = 250e-6;
/// Forecasts are not used if the link would be ready for them during more than the first share of the time. They are used
/// again below the second.
const NO_LULLS: f64 = 0.9;
const LULLS: f64 = 0.8;

/// The forecast of needed rates.
#[derive(Clone, Debug)]
pub(super) struct Echoes {
    bins: Box<[Bin]>,
    /// The highest need that was marked in each block of bins.
    blocks: Box<[Block]>,
    /// The latest bin that was marked.
    latest: u64,
    leave_no_lulls: bool,
    /// The length of a bin in seconds, and its inverse.
    width: f64,
    per_second: f64,
}

/// The need of one interval.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    /// The number of the interval since time zero, plus 1; 0 for none.
    number: u64,
    /// The level that the link needs.
    needed: u8,
    /// The slot of the connection that asks for it.
    owner: u16,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    number: u64,
    needed: u8,
}

impl Echoes {
    pub(super) fn new(transition: f64) -> Self {
        let width = (transition / 4.0).max(SHORTEST);
        let (bins, blocks) = (vec![Bin::default(); BINS], vec![Block::default(); BINS / BLOCK]);
        Self {
            bins: bins.into(),
            blocks: blocks.into(),
            latest: 0,
            leave_no_lulls: false,
            width,
            per_second: 1.0 / width,
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn number(&self, at: f64) -> u64 {
        // A cast to a signed number is a single instruction.
        larger(at * self.per_second, 0.0) as i64 as u64 + 1
    }

    #[allow(clippy::cast_possible_truncation)]
    fn place(number: u64) -> usize {
        (number % BINS as u64) as usize
    }

    /// Records that the link needs at least `needed` at a time. Returns the number of the bin.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn mark(&mut self, at: f64, needed: usize, owner: usize) -> u64 {
        let number = self.number(at);
        let bin = &mut self.bins[Self::place(number)];
        if bin.number != number {
            *bin = Bin { number, ..Bin::default() };
        } else if usize::from(bin.needed) >= needed {
            return number;
        }
        (bin.needed, bin.owner) = (needed as u8, owner as u16);
        let (block, summary) = (number / BLOCK as u64, &mut self.blocks[Self::place(number) / BLOCK]);
        if summary.number != block {
            *summary = Block { number: block, needed: 0 };
        }
        summary.needed = summary.needed.max(needed as u8);
        self.latest = self.latest.max(number);
        number
    }

    /// Withdraws a connection's forecast in a range of bins.
    pub(super) fn cancel(&mut self, range: std::ops::RangeInclusive<u64>, owner: usize) {
        for number in range.take(BINS) {
            let bin = &mut self.bins[Self::place(number)];
            if bin.number == number && usize::from(bin.owner) == owner {
                bin.needed = 0;
            }
        }
    }

    /// The highest need between two times.
    #[inline]
    pub(super) fn needed(&self, from: f64, to: f64) -> usize {
        if self.leave_no_lulls {
            return 0;
        }
        let bins = self.number(from)..self.number(to).min(self.latest) + 1;
        bins.map(|number| self.in_bin(number)).max().unwrap_or(0)
    }

    /// The highest need before a time whose owner still waits for its round, and the end of this wait in seconds. At most
    /// one block of bins is looked at.
    pub(super) fn overdue(&self, before: f64, waits_until: impl Fn(usize) -> Option<f64>) -> Option<(usize, f64)> {
        if self.leave_no_lulls {
            return None;
        }
        let last = self.number(before);
        let bins = (last.saturating_sub(BLOCK as u64)..last).map(|number| (number, self.in_bin(number)));
        let owner = |number| usize::from(self.bins[Self::place(number)].owner);
        let waits = |(number, needed)| Some((needed, waits_until(owner(number))?));
        bins.filter(|&(_, needed)| needed > 0).filter_map(waits).max_by_key(|&(needed, _)| needed)
    }

    /// The end of the last bin between two times that needs at least `level`; `None` if there is none.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn last(&self, from: f64, to: f64, level: usize) -> Option<f64> {
        if self.leave_no_lulls {
            return None;
        }
        let last = (self.number(from)..=self.number(to)).rev().find(|&number| self.in_bin(number) >= level);
        last.map(|number| number as f64 * self.width)
    }

    /// Decides whether the forecasts are used (rule 9), from the time between two times during which the link is ready for one: from
    /// `lead` before each need to `slack` behind it. At most half the ring is looked at, the latest part.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn look_for_lulls(&mut self, from: f64, to: f64, lead: f64, slack: f64) {
        let last = self.number(to);
        let first = self.number(from).max((last + 1).saturating_sub(BINS as u64 / 2));
        let [lead, slack] = [lead, slack].map(|time| self.number(time) - 1);
        // Ready up to bin `until`, without it.
        let (mut ready, mut until) = (0, first);
        for number in first.saturating_sub(slack)..=last + lead {
            if self.in_bin(number) > 0 {
                let end = (number + slack).min(last) + 1;
                ready += end.saturating_sub(until.max(number.saturating_sub(lead)));
                until = until.max(end);
            }
        }
        let share = ready as f64 / (last + 1 - first) as f64;
        self.leave_no_lulls = share > if self.leave_no_lulls { LULLS } else { NO_LULLS };
    }

    /// Returns true if there are so many forecasts that the link would always be ready. Then they are not used.
    #[inline]
    pub(super) fn leave_no_lulls(&self) -> bool {
        self.leave_no_lulls
    }

    #[inline]
    fn in_bin(&self, number: u64) -> usize {
        let bin = self.bins[Self::place(number)];
        if bin.number == number { usize::from(bin.needed) } else { 0 }
    }

    /// The start of the first bin after a time that needs more than `level`; infinity if there is none.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn next_above(&self, from: f64, level: usize) -> f64 {
        let first = self.number(from) + 1;
        let last = if self.leave_no_lulls { first } else { (first + (BINS - BLOCK) as u64).min(self.latest + 1) };
        let mut number = first;
        while number < last {
            let end = (number / BLOCK as u64 + 1) * BLOCK as u64;
            let block = self.blocks[Self::place(number) / BLOCK];
            if block.number == number / BLOCK as u64 && usize::from(block.needed) > level {
                while number < end {
                    if self.in_bin(number) > level {
                        return (number - 1) as f64 * self.width;
                    }
                    number += 1;
                }
            }
            number = end;
        }
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The middle of a bin of 1 ms, in seconds. The first bin has number 1.
    fn middle(number: u64) -> f64 {
        (number as f64 - 0.5) / 1e3
    }

    fn echoes() -> Echoes {
        Echoes::new(0.004)
    }

    proptest! {
        /// A plain list of the bins that need a rate, with their owners.
        #[test]
        fn agrees_with_a_list_of_bins(
            marks in prop::collection::vec((1_u64..700, 1_usize..4, 0_usize..3), 0..40),
            cancels in prop::collection::vec((1_u64..700, 0_u64..300, 0_usize..3), 0..4),
            queries in prop::collection::vec((1_u64..700, 0_u64..300, 0_usize..4), 1..20),
        ) {
            let (mut ring, mut list) = (echoes(), BTreeMap::<u64, (usize, usize)>::new());
            for (number, needed, owner) in marks {
                prop_assert_eq!(ring.mark(middle(number), needed, owner), number);
                if list.get(&number).is_none_or(|bin| bin.0 < needed) {
                    list.insert(number, (needed, owner));
                }
            }
            for (first, length, owner) in cancels {
                ring.cancel(first..=first + length, owner);
                list.retain(|number, bin| !(first..=first + length).contains(number) || bin.1 != owner);
            }
            for (first, length, level) in queries {
                let (from, to, last) = (middle(first), middle(first + length), first + length);
                let highest = list.range(first..=last).map(|(_, bin)| bin.0).max();
                prop_assert_eq!(ring.needed(from, to), highest.unwrap_or(0));
                let time = |number: u64| number as f64 * ring.width;
                if level > 0 {
                    let end = list.range(first..=last).rfind(|(_, bin)| bin.0 >= level).map(|(&number, _)| time(number));
                    prop_assert_eq!(ring.last(from, to, level), end);
                }
                let above = list.range(first + 1..).find(|(_, bin)| bin.0 > level);
                let start = above.map_or(f64::INFINITY, |(&number, _)| time(number - 1));
                prop_assert_eq!(ring.next_above(from, level), start);
            }
        }
    }

    #[test]
    fn the_highest_need_of_a_connection_that_waits_counts() {
        let mut ring = echoes();
        for (number, needed, owner) in [(1000, 9, 4), (1010, 2, 5), (1020, 3, 6), (1050, 8, 6)] {
            ring.mark(middle(number), needed, owner);
        }
        let waits_until = |slot: usize| (slot > 4).then_some(slot as f64);
        let overdue = |ring: &Echoes, before: u64| ring.overdue(middle(before), waits_until);
        assert_eq!(
            [1005, 1015, 1030, 1050].map(|at| overdue(&ring, at)),
            [None, Some((2, 5.0)), Some((3, 6.0)), Some((3, 6.0))]
        );
        assert_eq!(overdue(&ring, 1080), Some((8, 6.0)));
        assert_eq!(overdue(&ring, 1115), None, "only a block is looked at");
        ring.leave_no_lulls = true;
        assert_eq!(overdue(&ring, 1030), None);
    }

    #[test]
    fn needs_that_are_close_leave_no_lulls() {
        // Of 1000 bins, the link is ready from 2 before each need to 3 behind it.
        let leaves_no_lulls = |ring: &mut Echoes, distance: usize| {
            (1000..2000).step_by(distance).for_each(|number| {
                ring.mark(middle(number), 1, 0);
            });
            ring.look_for_lulls(middle(1000), middle(1999), 0.002, 0.003);
            ring.leave_no_lulls()
        };
        // 6 of 6 bins, 6 of 7, 6 of 8.
        assert_eq!([6, 7, 8].map(|distance| leaves_no_lulls(&mut echoes(), distance)), [true, false, false]);
        let mut ring = echoes();
        assert!(leaves_no_lulls(&mut ring, 6));
        assert_eq!(ring.needed(middle(1500), middle(1510)), 0);
        assert_eq!(ring.last(middle(1500), middle(1510), 1), None);
        assert_eq!(ring.next_above(middle(1500), 0), f64::INFINITY);
        // Without the needs behind 1.5 s half of the time is left.
        ring.cancel(1500..=1999, 0);
        ring.look_for_lulls(middle(1000), middle(1999), 0.002, 0.003);
        assert!(!ring.leave_no_lulls());
        assert_eq!(ring.needed(middle(1490), middle(1500)), 1);
    }

    #[test]
    fn once_without_lulls_a_little_more_time_is_wanted() {
        let mut ring = echoes();
        ring.leave_no_lulls = true;
        (1000..2000).step_by(7).for_each(|number| {
            ring.mark(middle(number), 1, 0);
        });
        ring.look_for_lulls(middle(1000), middle(1999), 0.002, 0.003);
        assert!(ring.leave_no_lulls(), "6 of 7 bins are more than 0.8");
    }

    #[test]
    fn a_bin_of_the_last_turn_of_the_ring_counts_no_more() {
        let mut ring = echoes();
        ring.mark(middle(10), 3, 0);
        let later = 10 + BINS as u64;
        assert_eq!(ring.needed(middle(later), middle(later)), 0);
        ring.cancel(later..=later, 0);
        assert_eq!(ring.needed(middle(10), middle(10)), 3, "the bin keeps its own round");
        ring.mark(middle(later), 1, 1);
        assert_eq!(ring.needed(middle(later), middle(later)), 1);
        assert_eq!(ring.next_above(middle(later - 5), 0), (later - 1) as f64 * ring.width);
    }
}
