//! What is due when: each component has a slot with at most one instant, as in the simulator's schedule.

use netlull_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of a component.
pub type Slot = u32;

/// Instants of slots. What is due at one instant happens in the order of slots.
#[derive(Debug)]
pub struct Agenda {
    at: Vec<Instant>,
    /// Entries that no longer say what `at` says are passed over.
    heap: BinaryHeap<Reverse<(Instant, Slot)>>,
}

impl Agenda {
    /// So many slots, nothing due.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Self { at: vec![Instant::NEVER; slots], heap: BinaryHeap::with_capacity(4 * slots) }
    }

    /// From now on the slot is due at `at`, and at no other instant; `NEVER` if it is not due at all.
    pub fn set(&mut self, slot: Slot, at: Instant) {
        let old = std::mem::replace(&mut self.at[slot as usize], at);
        if old != at && at != Instant::NEVER {
            self.heap.push(Reverse((at, slot)));
        }
    }

    /// When something is due next.
    pub fn next(&mut self) -> Instant {
        while let Some(&Reverse((at, slot))) = self.heap.peek() {
            if self.at[slot as usize] == at {
                return at;
            }
            self.heap.pop();
        }
        Instant::NEVER
    }

    /// Takes what is due next.
    pub fn pop(&mut self) -> Option<(Instant, Slot)> {
        let at = self.next();
        if at == Instant::NEVER {
            return None;
        }
        let Reverse((_, slot)) = self.heap.pop()?;
        self.at[slot as usize] = Instant::NEVER;
        Some((at, slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn one_instant_per_slot_in_order_of_time_then_slot() {
        let mut agenda = Agenda::new(3);
        agenda.set(2, at(5));
        agenda.set(1, at(5));
        agenda.set(0, at(9));
        agenda.set(0, at(7));
        agenda.set(2, Instant::NEVER);
        agenda.set(2, at(5));
        assert_eq!(std::iter::from_fn(|| agenda.pop()).collect::<Vec<_>>(), [(at(5), 1), (at(5), 2), (at(7), 0)]);
        assert_eq!(agenda.next(), Instant::NEVER);
    }

    proptest! {
        #[test]
        fn as_a_list_that_is_searched(changes in proptest::collection::vec((0_u32..4, 0_u64..9, any::<bool>()), 0..200)) {
            let (mut agenda, mut list) = (Agenda::new(4), [Instant::NEVER; 4]);
            for (slot, nanos, takes) in changes {
                if takes {
                    let least = (0..4_u32).filter(|&s| list[s as usize] != Instant::NEVER).min_by_key(|&s| (list[s as usize], s));
                    let expected = least.map(|s| (std::mem::replace(&mut list[s as usize], Instant::NEVER), s));
                    prop_assert_eq!(agenda.pop(), expected);
                } else {
                    let to = if nanos == 0 { Instant::NEVER } else { at(nanos) };
                    list[slot as usize] = to;
                    agenda.set(slot, to);
                }
                prop_assert_eq!(agenda.next(), list.into_iter().min().unwrap_or(Instant::NEVER));
            }
        }
    }
}
