//! The lateness of packets: their departure, minus their departure from a link that is always at its highest rate.
//!
//! Both links accept the same packets. The measurement knows neither the controller nor its rates, so it can judge a
//! controller's guarantee.

use crate::ring::Ring;
use netlull_units::{BitRate, Duration, Instant, Serialiser};

/// The queued packets on a link that is always at its highest rate.
#[derive(Debug)]
pub(crate) struct Lateness {
    reference: Serialiser,
    /// The time at which a link at the highest rate has sent everything.
    free_at: Instant,
    /// The departures of the queued packets from that link.
    due: Ring<Instant>,
}

impl Lateness {
    /// Starts the measurement of an idle link of the given highest rate.
    pub(crate) fn new(highest: BitRate) -> Self {
        let reference = Serialiser::new(highest);
        Self { reference, free_at: Instant::ZERO, due: Ring::new() }
    }

    /// Records the arrival of an accepted packet of `size` bytes.
    #[inline]
    pub(crate) fn arrived(&mut self, now: Instant, size: u32) {
        if now > self.free_at {
            self.reference.idle();
        }
        self.free_at = self.free_at.max(now) + self.reference.next(size);
        self.due.push(self.free_at);
    }

    /// Records the departure of the first queued packet, and returns its lateness.
    #[inline]
    pub(crate) fn departed(&mut self, now: Instant) -> Duration {
        self.due.pop().map_or(Duration::ZERO, |due| now.saturating_since(due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_the_distance_to_a_link_at_the_highest_rate() {
        // 1500 B at 10 Mb/s take 1.2 ms: due at 1.2 and 2.4 ms, and after a pause at 11.2 ms.
        let at = |micros: u64| Instant::ZERO + Duration::from_micros(micros);
        let mut lateness = Lateness::new(BitRate::from_mbps(10));
        lateness.arrived(at(0), 1500);
        lateness.arrived(at(0), 1500);
        assert_eq!(lateness.departed(at(1200)), Duration::ZERO);
        assert_eq!(lateness.departed(at(7000)), Duration::from_micros(4600));
        lateness.arrived(at(10_000), 1500);
        assert_eq!(lateness.departed(at(12_000)), Duration::from_micros(800));
    }
}
