//! The schedule: one pending event per component.
//!
//! Each component owns a *slot*. A slot holds the time of the component's next event, or never. The next event of the
//! run is the earliest; **events at the same nanosecond are handled in the order of their slots**, whatever the order
//! in which they were set. That order is written where slots are given out (`run::slots`) and does not depend on
//! history, so it is total, repeatable, and cheap to state.
//!
//! The slots are the leaves of a winner tree: setting a slot costs at most log2(slots) comparisons and stops at the
//! first ancestor whose winner stays the same; looking at the next event costs nothing.

use netlull_units::Instant;

/// Names a component's place in the schedule.
pub type Slot = u32;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Winner {
    at: u64,
    slot: Slot,
}

/// The next event of every component.
pub struct Schedule {
    /// `tree[1]` is the root; the leaves start at `leaves`.
    tree: Vec<Winner>,
    leaves: usize,
}

const NEVER: u64 = Instant::NEVER.as_nanos();

impl Schedule {
    /// A schedule of `slots` components, none of which has an event.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two().max(2);
        let mut tree = vec![Winner { at: NEVER, slot: 0 }; 2 * leaves];
        for (slot, leaf) in tree[leaves..].iter_mut().enumerate() {
            leaf.slot = slot as Slot;
        }
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node];
        }
        Self { tree, leaves }
    }

    /// The earliest event, [`Instant::NEVER`] if there is none.
    #[inline]
    #[must_use]
    pub fn next(&self) -> (Instant, Slot) {
        let root = self.tree[1];
        (Instant::from_nanos(root.at), root.slot)
    }

    /// When the component's event is due.
    #[inline]
    #[must_use]
    pub fn at(&self, slot: Slot) -> Instant {
        Instant::from_nanos(self.tree[self.leaves + slot as usize].at)
    }

    /// Sets the component's event, replacing what was set; [`Instant::NEVER`] removes it.
    #[inline]
    pub fn set(&mut self, slot: Slot, at: Instant) {
        let mut node = self.leaves + slot as usize;
        self.tree[node].at = at.as_nanos();
        while node > 1 {
            node /= 2;
            let (left, right) = (self.tree[2 * node], self.tree[2 * node + 1]);
            // A tie goes left, which holds the lower slots.
            let winner = if right.at < left.at { right } else { left };
            if self.tree[node] == winner {
                break;
            }
            self.tree[node] = winner;
        }
    }

    /// Sets the component's event unless an earlier one is due. For lazy timers: an event that fires early re-arms.
    #[inline]
    pub fn set_if_earlier(&mut self, slot: Slot, at: Instant) {
        if at < self.at(slot) {
            self.set(slot, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn simultaneous_events_come_in_the_order_of_their_slots() {
        let mut schedule = Schedule::new(5);
        for slot in [3, 1, 4, 0, 2] {
            schedule.set(slot, Instant::from_nanos(7));
        }
        let mut order = vec![];
        while schedule.next().0 < Instant::NEVER {
            let (_, slot) = schedule.next();
            order.push(slot);
            schedule.set(slot, Instant::NEVER);
        }
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_lazy_timer_moves_only_forward_in_urgency() {
        let mut schedule = Schedule::new(1);
        schedule.set_if_earlier(0, Instant::from_nanos(9));
        schedule.set_if_earlier(0, Instant::from_nanos(12));
        assert_eq!(schedule.at(0), Instant::from_nanos(9));
        schedule.set_if_earlier(0, Instant::from_nanos(4));
        assert_eq!(schedule.next(), (Instant::from_nanos(4), 0));
    }

    proptest! {
        /// Against the obvious model: an array of times, searched for its first minimum.
        #[test]
        fn the_next_event_is_the_first_minimum(
            slots in 1_usize..40,
            sets in proptest::collection::vec((0_usize..40, prop_oneof![0_u64..20, Just(NEVER)]), 0..200),
        ) {
            let mut schedule = Schedule::new(slots);
            let mut model = vec![NEVER; slots];
            for (slot, at) in sets {
                let slot = slot % slots;
                schedule.set(slot as Slot, Instant::from_nanos(at));
                model[slot] = at;
                let least = *model.iter().min().expect("one slot at least");
                let (next, winner) = schedule.next();
                prop_assert_eq!(next.as_nanos(), least);
                if least < NEVER {
                    prop_assert_eq!(winner as usize, model.iter().position(|at| *at == least).expect("present"));
                }
            }
        }
    }
}
