//! The schedule: one pending event per component.
//!
//! Each component owns a *slot*. A slot holds the time of the component's next event, or never. The next event of the
//! run is the earliest; **events at the same nanosecond are handled in the order of their slots**, whatever the order
//! in which they were set. That order is written where slots are given out (`run::slots`) and does not depend on
//! history, so it is total, repeatable, and cheap to state.
//!
//! The slots are the leaves of a tournament tree whose nodes have eight children, one cache line of keys. A key is a time
//! with its slot in the low bits, so that the order of keys is the order of events and a group's winner is a plain
//! minimum. Setting a slot stops at the first ancestor that does not change; looking at the next event costs nothing.

use netlull_units::{Duration, Instant};

/// Names a component's place in the schedule.
pub type Slot = u32;

/// Children of a node.
const WIDTH: usize = 8;
/// The key of a slot without an event.
const NEVER: u64 = u64::MAX;

/// The next event of every component.
pub struct Schedule {
    /// From the leaves to the group below the root; each entry is the least key of a group of the level before.
    levels: Vec<Vec<[u64; WIDTH]>>,
    root: u64,
    slot_bits: u32,
}

impl Schedule {
    /// A schedule of `slots` components, none of which has an event.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        let mut groups = slots.div_ceil(WIDTH).max(1);
        let mut levels = vec![vec![[NEVER; WIDTH]; groups]];
        while groups > 1 {
            groups = groups.div_ceil(WIDTH);
            levels.push(vec![[NEVER; WIDTH]; groups]);
        }
        Self { levels, root: NEVER, slot_bits: slot_bits(slots) }
    }

    /// The longest run that a schedule of `slots` components can hold: 2^(64 - bits of a slot) ns.
    #[must_use]
    pub fn longest_run(slots: usize) -> Duration {
        Duration::from_nanos((NEVER >> slot_bits(slots)) - 1)
    }

    /// The earliest event, [`Instant::NEVER`] if there is none.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn next(&self) -> (Instant, Slot) {
        let slot = self.root & ((1 << self.slot_bits) - 1);
        (self.instant(self.root), slot as Slot)
    }

    /// When the component's event is due.
    #[inline]
    #[must_use]
    pub fn at(&self, slot: Slot) -> Instant {
        let leaf = slot as usize;
        self.instant(self.levels[0][leaf / WIDTH][leaf % WIDTH])
    }

    /// Sets the component's event, replacing what was set; [`Instant::NEVER`] removes it, and so does a time beyond
    /// [`Self::longest_run`].
    #[inline]
    pub fn set(&mut self, slot: Slot, at: Instant) {
        let mut least = self.key(slot, at);
        let mut child = slot as usize;
        for level in &mut self.levels {
            let group = &mut level[child / WIDTH];
            let entry = &mut group[child % WIDTH];
            if *entry == least {
                return;
            }
            *entry = least;
            least = minimum(group);
            child /= WIDTH;
        }
        self.root = least;
    }

    /// Sets the component's event unless an earlier one is due. For lazy timers: an event that fires early re-arms.
    #[inline]
    pub fn set_if_earlier(&mut self, slot: Slot, at: Instant) {
        if at < self.at(slot) {
            self.set(slot, at);
        }
    }

    #[inline]
    fn key(&self, slot: Slot, at: Instant) -> u64 {
        if at.as_nanos() > NEVER >> self.slot_bits {
            return NEVER;
        }
        at.as_nanos() << self.slot_bits | u64::from(slot)
    }

    #[inline]
    fn instant(&self, key: u64) -> Instant {
        if key == NEVER { Instant::NEVER } else { Instant::from_nanos(key >> self.slot_bits) }
    }
}

/// Bits that tell the slots apart, with one number to spare so that no key is [`NEVER`].
fn slot_bits(slots: usize) -> u32 {
    (slots as u64 + 1).next_power_of_two().trailing_zeros()
}

/// The least of a group, in three rounds of pairs.
#[inline]
fn minimum(group: &[u64; WIDTH]) -> u64 {
    let quarter = |place: usize| group[place].min(group[place + 1]);
    quarter(0).min(quarter(2)).min(quarter(4).min(quarter(6)))
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
    fn times_beyond_the_longest_run_never_come() {
        // Three slots take two bits of a key.
        let longest = Schedule::longest_run(3);
        assert_eq!(longest.as_nanos(), (1 << 62) - 2);
        let mut schedule = Schedule::new(3);
        schedule.set(2, Instant::ZERO + longest);
        assert_eq!(schedule.next(), (Instant::ZERO + longest, 2));
        schedule.set(2, Instant::from_nanos(1 << 62));
        assert_eq!(schedule.next().0, Instant::NEVER);
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
