//! The schedule: one pending event per component.
//!
//! Each component owns a *slot*. A slot holds the time of the component's next event, or never. The next event of the
//! run is the earliest; **events at the same nanosecond are handled in the order of their slots**, whatever the order
//! in which they were set. That order is written where slots are given out (`run::slots`) and does not depend on
//! history, so it is total, repeatable, and cheap to state.
//!
//! A key is a time with its slot in the low bits, so that the order of keys is the order of events. The earliest events
//! stand in a short sorted line, the others in a tournament tree whose nodes have sixteen children:
//!
//! ```text
//!   next event ◄── [ 17 | 20 | 21 | 35 ]  <  every key of the tree
//! ```
//!
//! Where there are few components, all stand in the line and the tree stays empty. Taking the next event then depends
//! on nothing that was computed just before, which lets the processor run ahead; a minimum over all slots, however few
//! instructions it takes, does not.

use netlull_units::{Duration, Instant};

/// Names a component's place in the schedule.
pub type Slot = u32;

/// Children of a node of the tree.
const WIDTH: usize = 16;
/// Room of the line, its sentinel and what it has moved past included.
const ROOM: usize = 64;
/// What is later than every key.
const NEVER: u64 = u64::MAX;

/// The next event of every component.
pub struct Schedule {
    /// The earliest keys in ascending order, `line[head..tail]`; all before every key of the tree. What stands before
    /// them, `line[head - 1]`, is zero: a sentinel that no key is less than.
    line: [u64; ROOM],
    head: usize,
    tail: usize,
    tree: Tree,
    /// The key of every slot, wherever it is.
    keys: Vec<u64>,
    slot_bits: u32,
    /// The latest time that has a key, in nanoseconds.
    latest: u64,
}

impl Schedule {
    /// A schedule of `slots` components, none of which has an event.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Self {
            line: [0; ROOM],
            head: 1,
            tail: 1,
            tree: Tree::new(slots),
            keys: vec![NEVER; slots],
            slot_bits: slot_bits(slots),
            latest: Self::longest_run(slots).as_nanos(),
        }
    }

    /// The longest run that a schedule of `slots` components can hold: 2^(64 - bits of a slot) ns, less two.
    #[must_use]
    pub fn longest_run(slots: usize) -> Duration {
        Duration::from_nanos((NEVER >> slot_bits(slots)) - 1)
    }

    /// Takes the earliest event, unless it is later than `end`, which is at most [`Self::longest_run`]; its slot then
    /// has none.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    pub fn take_until(&mut self, end: Instant) -> Option<(Instant, Slot)> {
        let in_line = self.head < self.tail;
        let key = if in_line { self.line[self.head % ROOM] } else { self.tree.least };
        // Of no event at all this is later than any end.
        let at = Instant::from_nanos(key >> self.slot_bits);
        if at > end {
            return None;
        }
        let slot = self.slot(key);
        if in_line {
            self.line[self.head % ROOM] = 0;
            self.head += 1;
        } else {
            self.tree.set(slot, NEVER);
        }
        self.keys[slot as usize] = NEVER;
        Some((at, slot))
    }

    /// When the component's event is due.
    #[inline]
    #[must_use]
    pub fn at(&self, slot: Slot) -> Instant {
        let key = self.keys[slot as usize];
        if key == NEVER { Instant::NEVER } else { Instant::from_nanos(key >> self.slot_bits) }
    }

    /// Sets the component's event, replacing what was set; [`Instant::NEVER`] removes it, and so does a time beyond
    /// [`Self::longest_run`].
    #[inline]
    pub fn set(&mut self, slot: Slot, at: Instant) {
        if self.keys[slot as usize] != NEVER {
            self.remove(slot);
        }
        self.add(slot, at);
    }

    /// Sets the event of a component that has none.
    #[inline(always)]
    pub fn add(&mut self, slot: Slot, at: Instant) {
        debug_assert!(self.keys[slot as usize] == NEVER, "slot {slot} has an event");
        if at.as_nanos() > self.latest {
            return;
        }
        let key = at.as_nanos() << self.slot_bits | u64::from(slot);
        self.keys[slot as usize] = key;
        // What comes after the whole line belongs into the tree, unless that is empty: then the line grows.
        let last = self.line[(self.tail - 1) % ROOM];
        if (key > last && self.tree.least != NEVER) || self.tail == ROOM {
            self.add_behind(slot, key);
        } else {
            self.insert(key);
        }
    }

    /// Puts a key in line, from behind; there is room.
    #[inline(always)]
    fn insert(&mut self, key: u64) {
        let mut place = self.tail;
        self.tail += 1;
        loop {
            let before = self.line[(place - 1) % ROOM];
            if before <= key {
                break;
            }
            self.line[place % ROOM] = before;
            place -= 1;
        }
        self.line[place % ROOM] = key;
    }

    /// Sets the component's event unless an earlier one is due. For lazy timers: an event that fires early re-arms.
    #[inline]
    pub fn set_if_earlier(&mut self, slot: Slot, at: Instant) {
        if at < self.at(slot) {
            self.set(slot, at);
        }
    }

    /// The key comes after the line, or the line has come to its end.
    #[cold]
    #[inline(never)]
    fn add_behind(&mut self, slot: Slot, key: u64) {
        if key > self.line[self.tail - 1] && self.tree.least != NEVER {
            self.tree.set(slot, key);
            return;
        }
        // Back to the start; the last one gives way if that makes no room.
        self.line.copy_within(self.head..self.tail, 1);
        self.tail -= self.head - 1;
        self.head = 1;
        if self.tail == ROOM {
            let last = self.line[self.tail - 1].max(key);
            self.tree.set(self.slot(last), last);
            if last == key {
                return;
            }
            self.tail -= 1;
        }
        self.insert(key);
    }

    /// Takes away an event that is pending: rare, since most are set anew only after they came.
    #[cold]
    fn remove(&mut self, slot: Slot) {
        let key = std::mem::replace(&mut self.keys[slot as usize], NEVER);
        match self.line[self.head..self.tail].binary_search(&key) {
            Ok(place) => {
                self.line.copy_within(self.head + place + 1..self.tail, self.head + place);
                self.tail -= 1;
            }
            Err(_) => self.tree.set(slot, NEVER),
        }
    }

    /// The slot of a key.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn slot(&self, key: u64) -> Slot {
        (key & ((1 << self.slot_bits) - 1)) as Slot
    }
}

/// Bits that tell the slots apart.
fn slot_bits(slots: usize) -> u32 {
    (slots as u64).next_power_of_two().trailing_zeros()
}

/// The events that do not stand in line.
struct Tree {
    /// Groups of keys, breadth first: the children of entry `place` of group g are group 16 g + place + 1. An entry holds
    /// the least key of its group of children; those of the deepest groups are the slots'.
    groups: Vec<[u64; WIDTH]>,
    /// The first of the deepest groups.
    leaves: usize,
    /// The least key of all.
    least: u64,
}

impl Tree {
    fn new(slots: usize) -> Self {
        let (mut leaves, mut deepest) = (0, 1);
        while deepest * WIDTH < slots {
            leaves += deepest;
            deepest *= WIDTH;
        }
        Self { groups: vec![[NEVER; WIDTH]; leaves + slots.div_ceil(WIDTH).max(1)], leaves, least: NEVER }
    }

    /// Sets a slot's key and the least keys above it.
    fn set(&mut self, slot: Slot, key: u64) {
        let mut least = key;
        let (mut group, mut place) = (self.leaves + slot as usize / WIDTH, slot as usize % WIDTH);
        loop {
            let above = (group.wrapping_sub(1) / WIDTH, group.wrapping_sub(1) % WIDTH);
            let current = if group == 0 { self.least } else { self.groups[above.0][above.1] };
            let keys = &mut self.groups[group];
            let before = std::mem::replace(&mut keys[place], least);
            if least >= current {
                if before != current {
                    return; // another one is the group's least, and stays it
                }
                least = minimum(keys);
                if least == current {
                    return;
                }
            }
            if group == 0 {
                self.least = least;
                return;
            }
            (group, place) = above;
        }
    }
}

/// The least of a group, in four rounds of pairs.
#[inline]
fn minimum(group: &[u64; WIDTH]) -> u64 {
    let two = |place: usize| group[place].min(group[place + 1]);
    let four = |place: usize| two(place).min(two(place + 2));
    four(0).min(four(4)).min(four(8).min(four(12)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn take(schedule: &mut Schedule) -> Option<(Instant, Slot)> {
        schedule.take_until(Instant::from_nanos(schedule.latest))
    }

    #[test]
    fn simultaneous_events_come_in_the_order_of_their_slots() {
        let mut schedule = Schedule::new(5);
        for slot in [3, 1, 4, 0, 2] {
            schedule.set(slot, Instant::from_nanos(7));
        }
        let order: Vec<Slot> = std::iter::from_fn(|| take(&mut schedule)).map(|(_, slot)| slot).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn an_event_later_than_the_end_stays() {
        let mut schedule = Schedule::new(2);
        schedule.set(1, Instant::from_nanos(10));
        assert_eq!(schedule.take_until(Instant::from_nanos(9)), None);
        assert_eq!(schedule.take_until(Instant::from_nanos(10)), Some((Instant::from_nanos(10), 1)));
        assert_eq!(schedule.at(1), Instant::NEVER);
    }

    #[test]
    fn times_beyond_the_longest_run_never_come() {
        // Three slots take two bits of a key.
        let longest = Schedule::longest_run(3);
        assert_eq!(longest.as_nanos(), (1 << 62) - 2);
        let mut schedule = Schedule::new(3);
        schedule.set(2, Instant::ZERO + longest);
        assert_eq!(schedule.at(2), Instant::ZERO + longest);
        schedule.set(2, Instant::from_nanos(1 << 62));
        assert_eq!(take(&mut schedule), None);
    }

    #[test]
    fn a_lazy_timer_moves_only_forward_in_urgency() {
        let mut schedule = Schedule::new(1);
        schedule.set_if_earlier(0, Instant::from_nanos(9));
        schedule.set_if_earlier(0, Instant::from_nanos(12));
        assert_eq!(schedule.at(0), Instant::from_nanos(9));
        schedule.set_if_earlier(0, Instant::from_nanos(4));
        assert_eq!(take(&mut schedule), Some((Instant::from_nanos(4), 0)));
    }

    proptest! {
        /// Against the obvious model: an array of times, searched for its first minimum. Few slots stay in line; many
        /// overflow into the tree and come back.
        #[test]
        fn the_next_event_is_the_first_minimum(
            slots in prop_oneof![1_usize..40, 200_usize..300],
            steps in proptest::collection::vec((0_usize..300, prop_oneof![4 => 0_u64..40, 1 => Just(u64::MAX)], 0_u8..4), 0..600),
        ) {
            let mut schedule = Schedule::new(slots);
            let mut model = vec![u64::MAX; slots];
            for (slot, at, takes) in steps {
                let slot = slot % slots;
                schedule.set(slot as Slot, Instant::from_nanos(at));
                model[slot] = at;
                prop_assert_eq!(schedule.at(slot as Slot).as_nanos(), at);
                // Every fourth step takes the next event, so that the schedule fills.
                if takes == 0 {
                    let least = *model.iter().min().expect("one slot at least");
                    let first = model.iter().position(|at| *at == least).expect("present");
                    let taken = take(&mut schedule);
                    prop_assert_eq!(taken.map(|(at, slot)| (at.as_nanos(), slot as usize)), (least < u64::MAX).then_some((least, first)));
                    model[first] = u64::MAX;
                }
            }
        }
    }
}
