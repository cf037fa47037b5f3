//! Controlled delay (RFC 8289): drops packets at the queue's head if the queueing delay is too long for too long.

use super::Verdict;
use netlull_units::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// The parameters of CoDel, checked by the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoDelConfig {
    /// TARGET: the acceptable standing queueing delay.
    pub target: Duration,
    /// INTERVAL: the time for which the delay must exceed TARGET before a drop.
    pub interval: Duration,
    /// The largest packet in bytes: with no larger backlog after a packet, it is not dropped.
    pub largest_packet: u64,
    /// True if ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

/// A packet at the head of the queue.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// The packet's queueing delay.
    pub waited: Duration,
    /// The backlog after the packet, in bytes.
    pub behind: u64,
    /// True if the packet can be marked.
    pub can_be_marked: bool,
}

/// The state of CoDel, with the names of RFC 8289 section 5.2.
#[derive(Clone, Debug)]
pub struct CoDel {
    config: CoDelConfig,
    first_above_time: Option<Instant>,
    drop_next: Instant,
    count: u64,
    last_count: u64,
    dropping: bool,
    /// True if a packet was just dropped in the dropping state. If the next one has waited too long as well,
    /// `drop_next` moves.
    dropped: bool,
}

impl CoDel {
    /// Creates the state of an empty queue.
    #[must_use]
    pub fn new(config: CoDelConfig) -> Self {
        Self {
            config,
            first_above_time: None,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            dropped: false,
        }
    }

    /// The parameters.
    #[must_use]
    pub fn config(&self) -> CoDelConfig {
        self.config
    }

    /// Decides about the packet at the head of the queue (section 5.5). After a drop, the caller asks at once
    /// about the next.
    pub fn leaves(&mut self, now: Instant, packet: Leaving) -> Verdict {
        let ok_to_drop = self.ok_to_drop(now, packet);
        let verdict = if packet.can_be_marked && self.config.ecn { Verdict::Mark } else { Verdict::Drop };
        if !self.dropping {
            if !ok_to_drop {
                return Verdict::Pass;
            }
            self.start_dropping(now);
            return verdict;
        }
        if !ok_to_drop {
            self.stop_dropping();
            return Verdict::Pass;
        }
        if std::mem::take(&mut self.dropped) {
            self.drop_next = self.control_law(self.drop_next);
        }
        if now < self.drop_next {
            return Verdict::Pass;
        }
        self.count += 1;
        if verdict == Verdict::Mark {
            // No other packet leaves in its place.
            self.drop_next = self.control_law(self.drop_next);
        } else {
            self.dropped = true;
        }
        verdict
    }

    /// Handles an empty queue.
    pub fn empty(&mut self) {
        self.first_above_time = None;
        self.stop_dropping();
    }

    /// Returns true if the delay has exceeded TARGET for an INTERVAL (section 5.6).
    fn ok_to_drop(&mut self, now: Instant, packet: Leaving) -> bool {
        if packet.waited < self.config.target || packet.behind <= self.config.largest_packet {
            self.first_above_time = None;
            return false;
        }
        let first = *self.first_above_time.get_or_insert(now + self.config.interval);
        now >= first
    }

    fn start_dropping(&mut self, now: Instant) {
        // If the last dropping state ended recently, its final drop rate is a good start.
        let delta = self.count - self.last_count;
        let recent = now.saturating_since(self.drop_next) < self.config.interval.saturating_mul(16);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        self.dropping = true;
    }

    fn stop_dropping(&mut self) {
        self.dropping = false;
        self.dropped = false;
    }

    /// The control law t + INTERVAL / sqrt(count) of section 5.6, rounded down to a nanosecond. IEEE square roots
    /// do not depend on the platform.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn control_law(&self, from: Instant) -> Instant {
        from + Duration::from_nanos((self.config.interval.as_nanos() as f64 / (self.count as f64).sqrt()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn config(ecn: bool) -> CoDelConfig {
        CoDelConfig {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            largest_packet: 1500,
            ecn,
        }
    }

    fn at(millis: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(millis * 1e-3).expect("a time")
    }

    fn packet(waited_ms: u64) -> Leaving {
        Leaving { waited: Duration::from_millis(waited_ms), behind: 100_000, can_be_marked: false }
    }

    /// Dequeues a packet per millisecond from `from` to `to`, each with a delay of `waited_ms`. Returns the times of
    /// the drops.
    fn drops(codel: &mut CoDel, from: u64, to: u64, waited_ms: u64) -> Vec<u64> {
        let mut times = Vec::new();
        for millis in from..to {
            while codel.leaves(at(millis as f64), packet(waited_ms)) == Verdict::Drop {
                times.push(millis);
            }
        }
        times
    }

    #[test]
    fn drops_follow_the_control_law() {
        let mut codel = CoDel::new(config(false));
        // Above target from 0: the first drop at 100 ms, then after 100 ms / sqrt(1), / sqrt(2), / sqrt(3), ...:
        // 200, 270.7, 328.4, 378.4, 423.2, 464.0. Packets leave every millisecond, so the drop is at the next
        // whole one.
        assert_eq!(drops(&mut codel, 0, 465, 20), [100, 200, 271, 329, 379, 424, 464]);
    }

    #[test]
    fn nothing_is_dropped_before_an_interval_above_target() {
        let mut codel = CoDel::new(config(false));
        assert!(drops(&mut codel, 0, 100, 20).is_empty());
        // A packet below target restarts the interval: it ends at 101 + 100 ms.
        assert_eq!(codel.leaves(at(100.0), packet(4)), Verdict::Pass);
        assert_eq!(drops(&mut codel, 101, 202, 20), [201]);
    }

    #[test]
    fn waiting_of_exactly_the_target_counts_as_above() {
        let mut codel = CoDel::new(config(false));
        assert_eq!(drops(&mut codel, 0, 101, 5), [100]);
        let mut codel = CoDel::new(config(false));
        assert!(drops(&mut codel, 0, 1000, 4).is_empty());
    }

    #[test]
    fn the_last_packets_of_a_queue_are_never_dropped() {
        let mut codel = CoDel::new(config(false));
        for millis in 0..1000 {
            let last = Leaving { behind: 1500, ..packet(50) };
            assert_eq!(codel.leaves(at(f64::from(millis)), last), Verdict::Pass);
        }
    }

    #[test]
    fn a_dropping_state_soon_after_another_starts_where_that_one_was() {
        let mut codel = CoDel::new(config(false));
        // Drops at 100, 200, 271, 329: count is 4 and the next is due at 378.4 ms. Then the queue empties.
        assert_eq!(drops(&mut codel, 0, 330, 20).len(), 4);
        codel.empty();
        // Above target again from 400: a drop at 500 with count = 4 - 1 = 3, the next after 100 / sqrt(3) = 57.7
        // ms, then 100 / sqrt(4) = 50 ms.
        assert_eq!(drops(&mut codel, 400, 609, 20), [500, 558, 608]);
        // Much later it starts from 1 again: 100 ms between the first two drops.
        let late = 10_000;
        codel.empty();
        assert_eq!(drops(&mut codel, late, late + 201, 20), [late + 100, late + 200]);
    }

    #[test]
    fn several_packets_are_dropped_at_once_if_drops_are_overdue() {
        let mut codel = CoDel::new(config(false));
        assert_eq!(drops(&mut codel, 0, 101, 20), [100]);
        // No packet leaves until 300 ms: drops were due at 200 and 270.7; the next is due at 328.4.
        assert_eq!(drops(&mut codel, 300, 329, 250), [300, 300]);
    }

    #[test]
    fn packets_that_can_be_marked_are_marked_at_the_same_times_one_at_each() {
        let mut codel = CoDel::new(config(true));
        let mut marks = Vec::new();
        for millis in 0..380 {
            match codel.leaves(at(f64::from(millis)), Leaving { can_be_marked: true, ..packet(20) }) {
                Verdict::Mark => marks.push(millis),
                verdict => assert_eq!(verdict, Verdict::Pass),
            }
        }
        assert_eq!(marks, [100, 200, 271, 329, 379]);
        let mut off = CoDel::new(config(false));
        let unmarked = Leaving { can_be_marked: true, ..packet(20) };
        let dropped = (0..101).any(|millis| off.leaves(at(f64::from(millis)), unmarked) == Verdict::Drop);
        assert!(dropped);
    }

    proptest! {
        #[test]
        fn what_waited_less_than_the_target_or_is_last_passes(
            packets in prop::collection::vec((0..50_u64, 0..40_u64, 0..10_000_u64, any::<bool>()), 1..400),
        ) {
            let mut codel = CoDel::new(config(true));
            let mut now = Instant::ZERO;
            for (gap_ms, waited_ms, behind, can_be_marked) in packets {
                now += Duration::from_millis(gap_ms);
                let verdict = codel.leaves(now, Leaving { waited: Duration::from_millis(waited_ms), behind, can_be_marked });
                prop_assert!(verdict == Verdict::Pass || (waited_ms >= 5 && behind > 1500));
                prop_assert!(verdict != Verdict::Mark || can_be_marked);
            }
        }
    }
}
