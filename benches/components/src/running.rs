//! A schedule in the midst of a run.

use crate::Spread;
use netlull_sim::engine::schedule::{Schedule, Slot};
use netlull_units::{Duration, Instant};

/// Mean time between events, in nanoseconds, a power of two.
pub const GAP: u64 = 1024;
/// Events before anything is counted: the schedule has fitted itself to the run.
const WARM_UP: usize = 50_000;

/// Components whose events come in random order, each taken and set again.
pub struct Running {
    schedule: Schedule,
    spread: Spread,
    /// An event is set at most so many nanoseconds ahead, a power of two.
    ahead: u64,
    pending: u32,
}

impl Running {
    /// With so many pending events, one every [`GAP`] nanoseconds or so.
    #[must_use]
    pub fn new(pending: u32) -> Self {
        let mut running = Self {
            schedule: Schedule::new(pending as usize),
            spread: Spread::new(),
            ahead: (u64::from(pending) * GAP * 2).next_power_of_two(),
            pending,
        };
        for component in 0..pending {
            running.set(Instant::ZERO, Slot::FIRST.nth(component));
        }
        running.run(WARM_UP);
        running
    }

    /// Takes and sets so many events.
    #[inline(never)]
    pub fn run(&mut self, events: usize) {
        for _ in 0..events {
            if let Some((now, slot)) = self.schedule.take_until(END) {
                self.set(now, slot);
            }
        }
    }

    /// Everything but the schedule: times and the loop.
    #[inline(never)]
    pub fn run_without(&mut self, events: usize) {
        let mut now = 0;
        for _ in 0..events {
            now += self.spread.next(self.ahead);
            std::hint::black_box(now);
        }
    }

    /// Moves so many events before they are due, one component after the other.
    #[inline(never)]
    pub fn run_moving(&mut self, events: usize) {
        for component in (0..self.pending).cycle().take(events) {
            let slot = Slot::FIRST.nth(component);
            let at = self.schedule.at(slot);
            self.schedule.set(slot, at + Duration::from_nanos(self.spread.next(GAP)));
        }
    }

    #[inline(always)]
    fn set(&mut self, now: Instant, slot: Slot) {
        self.schedule.add(slot, now + Duration::from_nanos(self.spread.next(self.ahead)));
    }
}

/// Later than any event here.
const END: Instant = Instant::from_nanos(1 << 45);
