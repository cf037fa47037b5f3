//! Given times of sleep, in place of a hysteresis (docs/models/sleep.md).

use netlull_units::{Duration, Instant};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The times at which a link sleeps and holds packets. It falls asleep in a nap as soon as it is empty, and at most once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Naps {
    /// The begin of each nap, and its end, when the link begins to wake; in the order of time. `NEVER` is no end.
    pub times: VecDeque<(Instant, Instant)>,
    /// True if the first held packet wakes the link, if it comes before the end of the nap.
    pub wake_on_arrival: bool,
}

impl Naps {
    /// The time from which a link that is idle since `now` may sleep. Naps that are over are forgotten.
    pub(super) fn next(&mut self, now: Instant) -> Instant {
        while self.times.front().is_some_and(|&(_, to)| to <= now) {
            self.times.pop_front();
        }
        self.times.front().map_or(Instant::NEVER, |&(from, _)| from.max(now))
    }

    /// Takes the present nap, and returns its end; `None` between two naps.
    pub(super) fn take(&mut self, now: Instant) -> Option<Instant> {
        if self.next(now) > now {
            return None;
        }
        self.times.pop_front().map(|(_, to)| to)
    }

    /// The longest lateness of a packet, from that of a link that its first packet wakes at once. The link is empty when it
    /// falls asleep, so the first held packet is the latest.
    #[must_use]
    pub fn lateness_bound(&self, woken_at_once: Duration) -> Option<Duration> {
        if self.wake_on_arrival {
            return Some(woken_at_once);
        }
        let longest = self.times.iter().map(|&(from, to)| to - from).max().unwrap_or_default();
        let has_no_end = self.times.iter().any(|&(_, to)| to == Instant::NEVER);
        (!has_no_end).then_some(longest + woken_at_once)
    }
}
