//! A schedule in the middle of a run.

use crate::Spread;
use netlull_network::schedule::{Schedule, Slot};
use netlull_units::{Duration, Instant};

/// The mean time between events in nanoseconds, a power of two.
pub const GAP: u64 = 1024;
/// The number of events before the count, in which the schedule adapts to the run.
const WARM_UP: usize = 50_000;

/// Components with events in random order, each taken and set again.
pub struct Running {
    schedule: Schedule,
    spread: Spread,
    /// The largest distance of a new event in nanoseconds, a power of two.
    ahead: u64,
    pending: u32,
}

impl Running {
    /// Creates a run with `pending` events, about one every [`GAP`] nanoseconds.
    #[must_use]
    pub fn new(pending: u32) -> Self {
        let mut running = Self {
            schedule: Schedule::new(pending as usize),
            spread: Spread::new(),
            ahead: (u64::from(pending) * GAP * 2).next_power_of_two(),
            pending,
        };
        for component in 0..pending {
            running.set(Instant::ZERO, Slot::new(0).nth(component));
        }
        running.run(WARM_UP);
        running
    }

    /// Takes and sets `events` events.
    #[inline(never)]
    pub fn run(&mut self, events: usize) {
        for _ in 0..events {
            if let Some((now, slot)) = self.schedule.take_until(END) {
                self.set(now, slot);
            }
        }
    }

    /// Runs the loop and the draws of times without the schedule.
    #[inline(never)]
    pub fn run_without(&mut self, events: usize) {
        let mut now = 0;
        for _ in 0..events {
            now += self.spread.next(self.ahead);
            std::hint::black_box(now);
        }
    }

    /// Moves `events` events before they are due, one component after another.
    #[inline(never)]
    pub fn run_moving(&mut self, events: usize) {
        for component in (0..self.pending).cycle().take(events) {
            let slot = Slot::new(0).nth(component);
            let at = self.schedule.at(slot);
            self.schedule.set(slot, at + Duration::from_nanos(self.spread.next(GAP)));
        }
    }

    #[inline(always)]
    fn set(&mut self, now: Instant, slot: Slot) {
        self.schedule.add(slot, now + Duration::from_nanos(self.spread.next(self.ahead)));
    }
}

/// An instant later than every event here.
const END: Instant = Instant::from_nanos(1 << 45);
