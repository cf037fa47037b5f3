//! Echoes: the rates that the next rounds will need, on a ring of short intervals of time (bins).

/// The number of bins.
const BINS: usize = 4096;
/// The bins that share one summary.
const BLOCK: usize = 64;
/// The shortest bin in seconds. Round-trip times are not known better.
const SHORTEST: f64 = 250e-6;

/// The forecast of needed rates.
#[derive(Clone, Debug)]
pub(super) struct Echoes {
    bins: Box<[Bin]>,
    /// The highest need that was marked in each block of bins.
    blocks: Box<[Block]>,
    /// The latest bin that was marked.
    latest: u64,
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
        Self { bins: bins.into(), blocks: blocks.into(), latest: 0, width, per_second: 1.0 / width }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn number(&self, at: f64) -> u64 {
        // A cast to a signed number is a single instruction.
        (at * self.per_second).max(0.0) as i64 as u64 + 1
    }

    #[allow(clippy::cast_possible_truncation)]
    fn place(number: u64) -> usize {
        (number % BINS as u64) as usize
    }

    /// Records that the link needs at least `needed` at a time. Returns the number of the bin.
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
        let bins = self.number(from)..self.number(to).min(self.latest) + 1;
        bins.map(|number| self.in_bin(number)).max().unwrap_or(0)
    }

    /// The end of the last bin between two times that needs at least `level`; `None` if there is none.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn last(&self, from: f64, to: f64, level: usize) -> Option<f64> {
        let last = (self.number(from)..=self.number(to)).rev().find(|&number| self.in_bin(number) >= level);
        last.map(|number| number as f64 * self.width)
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
        let last = (first + (BINS - BLOCK) as u64).min(self.latest + 1);
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
