//! The schedule: one pending event per component.
//!
//! Each component owns a *slot*. A slot holds the time of the component's next event, or never. The next event of
//! the run is the earliest. **Events at the same nanosecond are handled in the order of their slots**, whatever
//! the order in which they were set. The code that assigns the slots fixes this order, and it does not depend on
//! history. It is therefore total, repeatable, and cheap to state.
//!
//! A key is a time with its slot in the low bits, so the order of keys is the order of events. Time is divided
//! into ticks. The keys of the current tick and earlier ones are in a sorted line. The keys of later ticks are
//! unsorted, in a hierarchical timing wheel (Varghese and Lauck, SOSP 1987, scheme 7):
//!
//! ```text
//!                          level 0: 256 ticks   level 1: 256 times 256 ticks   ...
//!   next event ◄── [17 20] ◄─── [ ][35 31][ ]... ◄────── [ ][90 88 95][ ]...
//! ```
//!
//! When the line is empty, the next bucket of level 0 is sorted into it. When a level is empty, the next bucket
//! of the level above is spread over it. The cost of an event does not depend on the number of pending events, as
//! long as a tick holds only a few. The tick's width therefore follows the run, as a multiple of the mean time
//! between events. The order of events does not depend on it.

use netlull_units::{Duration, Instant};

/// The slot of a component in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(u32);

impl Slot {
    /// Creates the slot with this index, counted from zero.
    ///
    /// # Panics
    /// If the index needs more than 32 bits.
    #[inline]
    #[must_use]
    pub fn new(place: usize) -> Self {
        Self(u32::try_from(place).expect("at most 2^32 slots"))
    }

    /// The n-th slot after this one.
    #[inline]
    #[must_use]
    pub const fn nth(self, n: u32) -> Self {
        Self(self.0 + n)
    }

    /// The distance from `first`, which must not lie after this slot.
    #[inline]
    #[must_use]
    pub const fn behind(self, first: Self) -> u32 {
        self.0 - first.0
    }

    /// The slot's index, counted from zero.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of buckets in a level, as a power of two: a digit is a byte.
const LEVEL_BITS: u32 = 8;
const BUCKETS: usize = 1 << LEVEL_BITS;
/// The number of words in a level's map of buckets.
const WORDS: usize = BUCKETS / 64;
/// The key without an event, later than every other key.
const NEVER: u64 = u64::MAX;
/// The number of events between two adjustments of the tick's width.
const EVENTS_PER_LOOK: usize = 1024;
/// The initial width of a tick, as a power of two in nanoseconds.
const FIRST_TICK_BITS: u32 = 16;
/// The number of keys above which the library sorts a bucket.
const FEW: usize = 16;

/// The next event of every component.
#[derive(Debug)]
pub struct Schedule {
    /// The keys of the current tick and earlier ones, ascending: `line[head..]`.
    line: Vec<u64>,
    head: usize,
    wheel: Wheel,
    /// The key of every slot. A key in the line or in the wheel that differs from its slot's key is stale, and is
    /// skipped.
    keys: Vec<u64>,
    slot_bits: u32,
    /// The latest time that has a key, in nanoseconds.
    latest: u64,
    /// The remaining events until the next adjustment of the tick's width, and the time of the last adjustment.
    until_look: usize,
    looked_at: u64,
}

impl Schedule {
    /// Creates a schedule of `slots` components without events.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        let slot_bits = slot_bits(slots);
        Self {
            line: Vec::with_capacity(BUCKETS),
            head: 0,
            wheel: Wheel::new(slot_bits + FIRST_TICK_BITS),
            keys: vec![NEVER; slots],
            slot_bits,
            latest: Self::longest_run(slots).as_nanos(),
            until_look: EVENTS_PER_LOOK,
            looked_at: 0,
        }
    }

    /// The longest run of a schedule with `slots` components: 2^(64 - bits of a slot) ns, less two.
    #[must_use]
    pub fn longest_run(slots: usize) -> Duration {
        Duration::from_nanos((NEVER >> slot_bits(slots)) - 1)
    }

    /// Takes the earliest event, unless it is later than `end`, which is at most [`Self::longest_run`]. Its slot
    /// then has no event.
    #[inline]
    pub fn take_until(&mut self, end: Instant) -> Option<(Instant, Slot)> {
        loop {
            let Some(&key) = self.line.get(self.head) else {
                if self.refill() {
                    continue;
                }
                return None;
            };
            let slot = self.slot(key);
            let current = &mut self.keys[slot.index()];
            if *current != key {
                self.head += 1;
                continue;
            }
            let at = Instant::from_nanos(key >> self.slot_bits);
            if at > end {
                return None;
            }
            *current = NEVER;
            self.head += 1;
            return Some((at, slot));
        }
    }

    /// The time of the earliest event; [`Instant::NEVER`] if there is none.
    pub fn earliest(&mut self) -> Instant {
        loop {
            let Some(&key) = self.line.get(self.head) else {
                if self.refill() {
                    continue;
                }
                return Instant::NEVER;
            };
            if self.keys[self.slot(key).index()] == key {
                return Instant::from_nanos(key >> self.slot_bits);
            }
            self.head += 1;
        }
    }

    /// The time of the component's event.
    #[inline]
    #[must_use]
    pub fn at(&self, slot: Slot) -> Instant {
        let key = self.keys[slot.index()];
        if key == NEVER { Instant::NEVER } else { Instant::from_nanos(key >> self.slot_bits) }
    }

    /// Sets or replaces the component's event. [`Instant::NEVER`] removes it, and so does a time beyond
    /// [`Self::longest_run`].
    #[inline]
    pub fn set(&mut self, slot: Slot, at: Instant) {
        self.keys[slot.index()] = NEVER;
        self.add(slot, at);
    }

    /// Sets the event of a component that has none.
    #[inline]
    pub fn add(&mut self, slot: Slot, at: Instant) {
        debug_assert!(self.keys[slot.index()] == NEVER, "{slot:?} has an event");
        if at.as_nanos() > self.latest {
            return;
        }
        let key = at.as_nanos() << self.slot_bits | u64::from(slot.0);
        self.keys[slot.index()] = key;
        if !self.wheel.add(key) {
            self.insert(key);
        }
    }

    /// Sets the component's event unless an earlier one is due. For lazy timers: an early event sets the timer
    /// again.
    #[inline]
    pub fn set_if_earlier(&mut self, slot: Slot, at: Instant) {
        if at < self.at(slot) {
            self.set(slot, at);
        }
    }

    /// Inserts a key into the line, from its end.
    fn insert(&mut self, key: u64) {
        let mut place = self.line.len();
        self.line.push(key);
        while place > self.head && self.line[place - 1] > key {
            self.line[place] = self.line[place - 1];
            place -= 1;
        }
        self.line[place] = key;
    }

    /// Refills the empty line from the next tick that has keys. Returns false if there is none.
    fn refill(&mut self) -> bool {
        self.line.clear();
        self.head = 0;
        if !self.wheel.next(&mut self.line) {
            return false;
        }
        if self.line.len() > FEW {
            self.line.sort_unstable();
        } else {
            sort_few(&mut self.line);
        }
        self.until_look = self.until_look.saturating_sub(self.line.len());
        if self.until_look == 0 {
            self.look();
        }
        true
    }

    /// Adjusts the width of a tick to two to four times the mean time between events. Events set within the
    /// present tick do not count.
    #[cold]
    fn look(&mut self) {
        let now = self.line.first().map_or(self.looked_at, |key| key >> self.slot_bits);
        let gap = (now - self.looked_at) / EVENTS_PER_LOOK as u64;
        let bits = (self.slot_bits + gap.max(1).ilog2() + 2).min(u64::BITS - LEVEL_BITS);
        self.until_look = EVENTS_PER_LOOK;
        self.looked_at = now;
        if bits.abs_diff(self.wheel.tick_bits) < 2 {
            return;
        }
        let mut pending: Vec<u64> = self.line.drain(..).collect();
        pending.extend(self.wheel.buckets.iter().flatten());
        let mut wheel = Wheel::new(bits);
        wheel.now = now << self.slot_bits >> bits;
        self.wheel = wheel;
        // Stale keys are dropped.
        pending.retain(|&key| self.keys[self.slot(key).index()] == key);
        pending.sort_unstable();
        pending.dedup();
        for key in pending {
            if !self.wheel.add(key) {
                self.line.push(key);
            }
        }
    }

    /// The slot of a key.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    fn slot(&self, key: u64) -> Slot {
        Slot((key & ((1 << self.slot_bits) - 1)) as u32)
    }
}

/// The number of bits that distinguish the slots.
fn slot_bits(slots: usize) -> u32 {
    (slots as u64).next_power_of_two().trailing_zeros()
}

/// Sorts a small number of keys.
fn sort_few(keys: &mut [u64]) {
    for end in 1..keys.len() {
        let (key, mut place) = (keys[end], end);
        while place > 0 && keys[place - 1] > key {
            keys[place] = keys[place - 1];
            place -= 1;
        }
        keys[place] = key;
    }
}

/// The keys of later ticks.
#[derive(Debug)]
struct Wheel {
    /// Bucket b of level l is `buckets[l * BUCKETS + b]`. Its keys have ticks that equal the current one above
    /// digit l (of base 256). Their digit l is b, which is greater than the current one.
    buckets: Vec<Vec<u64>>,
    /// The non-empty buckets of each level.
    maps: Vec<[u64; WORDS]>,
    /// The current tick: all keys are later.
    now: u64,
    /// The shift that turns a key into its tick.
    tick_bits: u32,
}

impl Wheel {
    fn new(tick_bits: u32) -> Self {
        let levels = (64 - tick_bits).div_ceil(LEVEL_BITS) as usize;
        Self { buckets: vec![Vec::new(); levels * BUCKETS], maps: vec![[0; WORDS]; levels], now: 0, tick_bits }
    }

    /// Adds a key. Returns false if it belongs to the current tick or an earlier one.
    #[inline]
    fn add(&mut self, key: u64) -> bool {
        let tick = key >> self.tick_bits;
        if tick <= self.now {
            return false;
        }
        let level = (tick ^ self.now).ilog2() / LEVEL_BITS;
        let bucket = usize::from((tick >> (level * LEVEL_BITS)).to_le_bytes()[0]);
        let level = level as usize;
        self.maps[level][bucket / 64] |= 1 << (bucket % 64);
        self.buckets[level * BUCKETS + bucket].push(key);
        true
    }

    /// Moves to the next tick that has keys, and moves its keys to the line. Returns false if there is none.
    fn next(&mut self, line: &mut Vec<u64>) -> bool {
        'again: loop {
            for (level, digits) in (0..self.maps.len()).zip(0..) {
                let Some(bucket) = self.first_after(level) else { continue };
                self.maps[level][bucket / 64] &= !(1 << (bucket % 64));
                let shift = digits * LEVEL_BITS;
                // Digits below this level become zero.
                self.now = ((self.now >> shift) & !(BUCKETS as u64 - 1) | bucket as u64) << shift;
                if level == 0 {
                    // The line is empty: the two vectors are swapped, with their memory.
                    std::mem::swap(line, &mut self.buckets[bucket]);
                    return true;
                }
                let mut keys = std::mem::take(&mut self.buckets[level * BUCKETS + bucket]);
                for &key in &keys {
                    if !self.add(key) {
                        line.push(key);
                    }
                }
                keys.clear();
                self.buckets[level * BUCKETS + bucket] = keys;
                if line.is_empty() {
                    continue 'again;
                }
                return true;
            }
            return false;
        }
    }

    /// The first non-empty bucket of a level. All non-empty buckets lie after the current digit.
    #[inline]
    fn first_after(&self, level: usize) -> Option<usize> {
        let map = &self.maps[level];
        let word = map.iter().position(|word| *word != 0)?;
        Some(word * 64 + map[word].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn take(schedule: &mut Schedule) -> Option<(Instant, Slot)> {
        schedule.take_until(Instant::from_nanos(schedule.latest))
    }

    #[test]
    fn slots_are_counted_from_zero() {
        let fifth = Slot::new(0).nth(2).nth(3);
        assert_eq!((fifth, fifth.index(), fifth.behind(Slot::new(1))), (Slot::new(5), 5, 4));
    }

    #[test]
    fn simultaneous_events_come_in_the_order_of_their_slots() {
        let mut schedule = Schedule::new(5);
        for slot in [3, 1, 4, 0, 2] {
            schedule.set(Slot(slot), Instant::from_nanos(7));
        }
        let order: Vec<u32> = std::iter::from_fn(|| take(&mut schedule)).map(|(_, slot)| slot.0).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn an_event_later_than_the_end_stays() {
        let mut schedule = Schedule::new(2);
        schedule.set(Slot(1), Instant::from_nanos(10));
        assert_eq!(schedule.take_until(Instant::from_nanos(9)), None);
        assert_eq!(schedule.take_until(Instant::from_nanos(10)), Some((Instant::from_nanos(10), Slot(1))));
        assert_eq!(schedule.at(Slot(1)), Instant::NEVER);
    }

    #[test]
    fn times_beyond_the_longest_run_never_come() {
        // Three slots take two bits of a key.
        let longest = Schedule::longest_run(3);
        assert_eq!(longest.as_nanos(), (1 << 62) - 2);
        let mut schedule = Schedule::new(3);
        schedule.set(Slot(2), Instant::ZERO + longest);
        assert_eq!(schedule.at(Slot(2)), Instant::ZERO + longest);
        schedule.set(Slot(2), Instant::from_nanos(1 << 62));
        assert_eq!(take(&mut schedule), None);
    }

    #[test]
    fn a_lazy_timer_moves_only_forward_in_urgency() {
        let mut schedule = Schedule::new(1);
        schedule.set_if_earlier(Slot(0), Instant::from_nanos(9));
        schedule.set_if_earlier(Slot(0), Instant::from_nanos(12));
        assert_eq!(schedule.at(Slot(0)), Instant::from_nanos(9));
        schedule.set_if_earlier(Slot(0), Instant::from_nanos(4));
        assert_eq!(take(&mut schedule), Some((Instant::from_nanos(4), Slot(0))));
    }

    #[test]
    fn a_tick_becomes_two_to_four_times_as_long_as_the_gap_between_events() {
        for gap in [300, 1500, 100_000] {
            let mut schedule = Schedule::new(4 * EVENTS_PER_LOOK);
            let at = |slot: usize| Instant::from_nanos(gap * (1 + slot as u64));
            for slot in 0..4 * EVENTS_PER_LOOK {
                schedule.set(Slot::new(slot), at(slot));
            }
            for slot in 0..4 * EVENTS_PER_LOOK {
                assert_eq!(take(&mut schedule), Some((at(slot), Slot::new(slot))));
            }
            let tick = 1_u64 << (schedule.wheel.tick_bits - schedule.slot_bits);
            assert!((2 * gap..=4 * gap).contains(&tick), "{tick} ns for gaps of {gap} ns");
        }
    }

    proptest! {
        /// Compares the schedule with a simple model: an array of times, searched for its first minimum. Near and
        /// far times fall into the line and into every level of the wheel.
        #[test]
        fn the_next_event_is_the_first_minimum(
            slots in prop_oneof![1_usize..40, 200_usize..300],
            steps in proptest::collection::vec((0_usize..300, prop_oneof![4 => 0_u64..40, 4 => (0_u32..45, 0_u64..9).prop_map(|(bits, low)| (1 << bits) + low), 1 => Just(u64::MAX)], 0_u8..4), 0..600),
        ) {
            let mut schedule = Schedule::new(slots);
            let mut model = vec![u64::MAX; slots];
            for (slot, at, takes) in steps {
                let slot = slot % slots;
                schedule.set(Slot::new(slot), Instant::from_nanos(at));
                model[slot] = at;
                prop_assert_eq!(schedule.at(Slot::new(slot)).as_nanos(), at);
                let least = *model.iter().min().expect("one slot at least");
                // Reading the next event does not change the schedule.
                if takes == 1 {
                    prop_assert_eq!(schedule.earliest().as_nanos(), least);
                }
                // Every fourth step takes the next event, so the schedule grows.
                if takes == 0 {
                    let first = model.iter().position(|at| *at == least).expect("present");
                    let taken = take(&mut schedule);
                    prop_assert_eq!(taken.map(|(at, slot)| (at.as_nanos(), slot.index())), (least < u64::MAX).then_some((least, first)));
                    model[first] = u64::MAX;
                }
            }
        }
    }
}
