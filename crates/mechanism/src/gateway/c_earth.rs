//! C-EARTH: a service rate that keeps a queue between two targets (g-router section 2.2). It follows the queue's
//! mean change over the last round trip.

use super::config::{Pace, RateRule};
use crate::ConfigError;
use netlull_units::{BitRate, Duration, Instant};
use std::collections::VecDeque;

/// The lower bound of the round trip after which the rate is computed again. A round trip of zero would end for
/// ever at the same instant.
const SHORTEST: Duration = Duration::from_micros(1);

/// The service rate C and the terms of its equations.
#[derive(Clone, Debug)]
pub struct CEarth {
    /// The service rate C in bit/s.
    rate: f64,
    min: f64,
    max: f64,
    gamma: f64,
    pace: Pace,
    granularity: f64,
    transition: Duration,
    /// The last rounded value of C. C_0 is not rounded.
    rounded: f64,
    /// The queue at the previous event, q_{k-1}, in bytes.
    queue: f64,
    /// The end of the round trip in progress, which began when the previous one ended. `None` before the first
    /// event.
    due: Option<Instant>,
    /// The queue's recent lengths, for `Pace::Sliding` only.
    recent: Option<Box<Recent>>,
}

impl CEarth {
    /// Creates C-EARTH on an empty queue with C_max = `max`.
    ///
    /// # Errors
    /// If a value of `rule` is out of range.
    pub fn new(rule: &RateRule, max: BitRate) -> Result<Self, ConfigError> {
        rule.check(max)?;
        let initial = rule.initial(max);
        Ok(Self {
            rate: initial.as_f64(),
            min: rule.min_rate.as_f64(),
            max: max.as_f64(),
            gamma: rule.gamma,
            pace: rule.pace,
            granularity: rule.granularity.as_f64(),
            transition: rule.transition,
            rounded: initial.as_f64(),
            queue: 0.0,
            due: None,
            recent: (rule.pace == Pace::Sliding).then(Box::default),
        })
    }

    /// The service rate C in bit/s, rounded to the granularity within the clamps.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn rate(&self) -> BitRate {
        // C_min and C_max are whole numbers of bits.
        BitRate::from_bps(self.rounded.clamp(self.min, self.max) as u64)
    }

    /// The transition time: the link sends nothing for this long after a rate change.
    #[must_use]
    pub fn transition(&self) -> Duration {
        self.transition
    }

    /// Event with a queue of `queue` bytes, AWM's target of `target` bytes and the current round-trip time.
    /// Returns true if the rate may have changed.
    #[inline]
    pub fn update(&mut self, now: Instant, queue: f64, target: f64, round_trip: Duration) -> bool {
        if let Some(recent) = &mut self.recent {
            let change = recent.change(now, queue, round_trip.max(SHORTEST));
            return self.compute(change, queue, target, round_trip);
        }
        if self.pace == Pace::RoundTrip {
            let round_trip = round_trip.max(SHORTEST);
            let ends = *self.due.get_or_insert(now + round_trip);
            if now < ends {
                return false;
            }
            self.due = Some(now + round_trip);
        }
        self.compute(self.queue - queue, queue, target, round_trip)
    }

    /// Applies the rate change for a queue that changed by `queue_change` bytes.
    fn compute(&mut self, queue_change: f64, queue: f64, target: f64, round_trip: Duration) -> bool {
        let change = rate_change(queue_change, queue, target, self.gamma, round_trip);
        self.rate = (self.rate + change).clamp(self.min, self.max);
        self.queue = queue;
        // A change well within half a step rounds to the same rate.
        if (self.rate - self.rounded).abs() < 0.49 * self.granularity {
            return false;
        }
        self.rounded = to_granularity(self.rate, self.granularity);
        true
    }

    /// The next instant at which the rate is due without an event: the end of a round trip. `None` if the queue
    /// is empty now and was empty at the start of the round trip, because the rate cannot change then.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self, queue: f64) -> Option<Instant> {
        if queue > 0.0 || self.queue > 0.0 { self.due } else { None }
    }
}

/// Rounds `rate` in bit/s to a whole multiple of `granularity`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn to_granularity(rate: f64, granularity: f64) -> f64 {
    // The cast truncates like floor: rates are above zero and below 2^64.
    let steps = (rate / granularity + 0.5) as u64 as f64;
    steps * granularity
}

/// The rate change dC_k = |dr_k| sgn(q_k - T_C-EARTH) g_k in bit/s; queues and T are in bytes. Equation (3):
/// |dr_k| = |dq_k| / RTT, with dq_k = q_{k-1} - q_k or its mean over a round trip. Equation (4): g_k = |q_k - T| / T.
/// A round trip of zero gives no change.
fn rate_change(queue_change: f64, queue: f64, target: f64, gamma: f64, round_trip: Duration) -> f64 {
    let seconds = round_trip.as_secs_f64();
    let distance = queue - gamma * target;
    if seconds <= 0.0 || distance == 0.0 {
        return 0.0;
    }
    let arrivals = 8.0 * queue_change.abs() / seconds;
    arrivals * distance.signum() * (queue - target).abs() / target
}

/// The number of records per round trip. Events closer together share a record.
const RECORDS: u64 = 64;
/// The capacity of the record: more than [`RECORDS`], so that a round trip may grow by half at once.
const CAPACITY: usize = 96;

/// The lengths of a queue during the last round trip, in bytes.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    /// Times, and the lengths from then on; the oldest first.
    records: VecDeque<(Instant, f64)>,
    /// The time of the previous event, t_{k-1}.
    last: Option<Instant>,
    /// The mean decrease of the queue over the round trip before t_{k-1}, in bytes per second.
    slope: f64,
}

impl Default for Recent {
    fn default() -> Self {
        Self { records: VecDeque::with_capacity(CAPACITY), last: None, slope: 0.0 }
    }
}

impl Recent {
    /// The change of the queue from event k - 1 to event k, averaged over the round trip before event k - 1, in
    /// bytes: dq_k = (q(t_{k-1} - RTT) - q_{k-1}) (t_k - t_{k-1}) / RTT. An interval longer than a round trip counts
    /// as one.
    pub(super) fn change(&mut self, now: Instant, queue: f64, round_trip: Duration) -> f64 {
        let passed = self.last.map_or(Duration::ZERO, |last| now - last).min(round_trip);
        let change = self.slope * passed.as_secs_f64();
        self.last = Some(now);
        self.record(now, queue, round_trip);
        change
    }

    fn record(&mut self, now: Instant, queue: f64, round_trip: Duration) {
        while self.records.get(1).is_some_and(|&(at, _)| now - at >= round_trip) {
            self.records.pop_front();
        }
        if self.records.back().is_none_or(|&(at, _)| now - at >= round_trip / RECORDS) {
            if self.records.len() == CAPACITY {
                self.records.pop_front();
            }
            self.records.push_back((now, queue));
        }
        // A length holds until the next record, so an old one is the length of a round trip ago.
        let (since, before) = self.records.front().copied().unwrap_or((now, queue));
        let span = (now - since).min(round_trip).as_secs_f64();
        self.slope = if span > 0.0 { (before - queue) / span } else { 0.0 };
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, clippy::unwrap_used)]
mod tests {
    use super::super::RoundTripConfig;
    use super::*;

    const TARGET: f64 = 50_000.0;
    const RTT: Duration = Duration::from_millis(200);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn c_earth(pace: Pace) -> CEarth {
        let rule = RateRule { pace, initial_rate: Some(BitRate::from_mbps(10)), ..rule() };
        CEarth::new(&rule, BitRate::from_mbps(20)).unwrap()
    }

    /// C_min = 1 Mb/s.
    fn rule() -> RateRule {
        RateRule::new(BitRate::from_mbps(1), RoundTripConfig::fixed(RTT))
    }

    #[test]
    fn a_queue_above_its_target_speeds_the_link_up() {
        // From 0 to 75 kB in an RTT of 200 ms: |dr| = 8 x 75,000 / 0.2 = 3 Mb/s, g = 25/50 = 0.5: + 1.5 Mb/s.
        let mut c_earth = c_earth(Pace::RoundTrip);
        c_earth.update(at(0), 1500.0, TARGET, RTT);
        c_earth.update(at(200), 75_000.0, TARGET, RTT);
        assert_eq!(c_earth.rate(), BitRate::from_bps(11_500_000));
        // From 75 to 40 kB, below 0.95 T = 47.5 kB: |dr| = 1.4 Mb/s, g = 0.2: - 0.28 Mb/s.
        c_earth.update(at(400), 40_000.0, TARGET, RTT);
        assert_eq!(c_earth.rate(), BitRate::from_bps(11_220_000));
    }

    #[test]
    fn between_the_two_targets_the_link_still_speeds_up() {
        // 49 kB lies above 47.5 kB, so the rate rises by g = 1/50. AWM gets room to raise its windows.
        let mut c_earth = c_earth(Pace::Event);
        c_earth.update(at(1), 49_000.0, TARGET, RTT);
        // 8 x 49,000 / 0.2 / 50 = 39,200, rounded to whole kb/s.
        assert_eq!(c_earth.rate(), BitRate::from_bps(10_039_000));
    }

    #[test]
    fn a_sliding_mean_ignores_packets_that_come_and_go() {
        // 100 packets of 1000 B come and go, one every 2 ms, while the queue stays at 30 to 31 kB. Per event each
        // takes off 8 x 1000 / 0.2 x 0.4 = 16 kb/s, twice. The mean over a round trip of 200 ms is at most 1000 B.
        let (mut each, mut sliding) = (c_earth(Pace::Event), c_earth(Pace::Sliding));
        for c_earth in [&mut each, &mut sliding] {
            c_earth.update(at(0), 30_000.0, TARGET, RTT);
            c_earth.update(at(1000), 30_000.0, TARGET, RTT);
        }
        let (before, settled) = (each.rate(), sliding.rate());
        for packet in 0..100 {
            for c_earth in [&mut each, &mut sliding] {
                c_earth.update(at(1000 + 2 * packet), 31_000.0, TARGET, RTT);
                c_earth.update(at(1001 + 2 * packet), 30_000.0, TARGET, RTT);
            }
        }
        let lost = |from: BitRate, c_earth: &CEarth| from.as_f64() - c_earth.rate().as_f64();
        assert!(lost(before, &each) > 2e6, "{}", each.rate());
        assert!(lost(settled, &sliding) < 20e3, "{}", sliding.rate());
    }

    #[test]
    fn a_sliding_mean_spreads_a_change_over_a_round_trip() {
        // From 0 to 75 kB at once, then an event every 10 ms. In an RTT of 200 ms each takes a twentieth of
        // |dr| g = 8 x 75,000 / 0.2 x 0.5 = 1.5 Mb/s; afterwards the queue no longer changes.
        let mut c_earth = c_earth(Pace::Sliding);
        c_earth.update(at(0), 0.0, TARGET, RTT);
        c_earth.update(at(1000), 75_000.0, TARGET, RTT);
        let first = c_earth.rate();
        for event in 1..=10 {
            c_earth.update(at(1000 + 10 * event), 75_000.0, TARGET, RTT);
        }
        let half = c_earth.rate();
        assert!((half.as_f64() - first.as_f64() - 750_000.0).abs() < 2000.0, "{half} from {first}");
        for event in 11..=40 {
            c_earth.update(at(1000 + 10 * event), 75_000.0, TARGET, RTT);
        }
        let end = c_earth.rate();
        assert!((end.as_f64() - first.as_f64() - 1_500_000.0).abs() < 2000.0, "{end} from {first}");
        assert_eq!(c_earth.next_timeout(75_000.0), None, "as at every event");
    }

    #[test]
    fn nothing_happens_before_a_round_trip_has_passed() {
        let mut c_earth = c_earth(Pace::RoundTrip);
        c_earth.update(at(0), 1500.0, TARGET, RTT);
        c_earth.update(at(199), 75_000.0, TARGET, RTT);
        assert_eq!(c_earth.rate(), BitRate::from_mbps(10));
        assert_eq!(c_earth.next_timeout(75_000.0), Some(at(200)));
    }

    #[test]
    fn a_round_trip_of_nothing_ends_later_than_it_begins() {
        let mut c_earth = c_earth(Pace::RoundTrip);
        c_earth.update(at(0), 1500.0, TARGET, Duration::ZERO);
        let due = c_earth.next_timeout(1500.0).unwrap();
        assert!(due > at(0), "{due}");
        c_earth.update(due, 1500.0, TARGET, Duration::ZERO);
        assert!(c_earth.next_timeout(1500.0).unwrap() > due);
        assert_eq!(c_earth.rate(), BitRate::from_mbps(10), "and changes nothing");
    }

    #[test]
    fn an_idle_link_falls_quiet() {
        let mut c_earth = c_earth(Pace::RoundTrip);
        assert_eq!(c_earth.next_timeout(0.0), None);
        c_earth.update(at(0), 1500.0, TARGET, RTT);
        c_earth.update(at(200), 10_000.0, TARGET, RTT);
        assert_eq!(c_earth.next_timeout(0.0), Some(at(400)));
        c_earth.update(at(400), 0.0, TARGET, RTT);
        assert_eq!(c_earth.next_timeout(0.0), None);
    }

    #[test]
    fn the_rate_stays_between_its_clamps() {
        let mut c_earth = c_earth(Pace::Event);
        c_earth.update(at(1), 1e9, TARGET, RTT);
        assert_eq!(c_earth.rate(), BitRate::from_mbps(20));
        for k in 0..10 {
            c_earth.update(at(2 + k), if k % 2 == 0 { 0.0 } else { 45_000.0 }, TARGET, RTT);
        }
        // Each fall from 45 kB to an empty queue takes off 8 x 45,000 / 0.2 = 1.8 Mb/s, each rise to 45 kB a tenth
        // of that. The first fall, from 1 GB, takes off the whole rate above the minimum.
        assert!(c_earth.rate() < BitRate::from_mbps(12), "{}", c_earth.rate());
    }

    #[test]
    fn the_run_starts_at_the_rate_given_whatever_the_granularity() {
        // 10 Mb/s is no multiple of 3 Mb/s. The link starts at 10 Mb/s, so C does too.
        let rule = RateRule { granularity: BitRate::from_mbps(3), pace: Pace::Event, ..rule() };
        let mut c_earth = CEarth::new(&rule, BitRate::from_mbps(10)).unwrap();
        assert_eq!(c_earth.rate(), BitRate::from_mbps(10));
        // 45 kB lies below 47.5 kB: 8 x 45,000 / 0.2 = 1.8 Mb/s, g = 0.1: 9.82 Mb/s. Then an empty queue: 1.8
        // Mb/s, g = 1: 8.02 Mb/s, or 9 Mb/s in steps.
        c_earth.update(at(1), 45_000.0, TARGET, RTT);
        assert_eq!(c_earth.rate(), BitRate::from_mbps(10));
        c_earth.update(at(2), 0.0, TARGET, RTT);
        assert_eq!(c_earth.rate(), BitRate::from_mbps(9));
    }

    #[test]
    fn wrong_values_are_named() {
        let wrong = |rule: RateRule, max: u64| CEarth::new(&rule, BitRate::from_bps(max)).unwrap_err().field;
        let max = 20_000_000;
        assert_eq!(wrong(RateRule { min_rate: BitRate::from_bps(0), ..rule() }, max), "min_rate");
        assert_eq!(wrong(rule(), 5), "min_rate");
        assert_eq!(wrong(RateRule { gamma: f64::NAN, ..rule() }, max), "gamma");
        assert_eq!(wrong(RateRule { granularity: BitRate::from_mbps(20), ..rule() }, max), "granularity");
        assert_eq!(wrong(RateRule { initial_rate: Some(BitRate::from_mbps(21)), ..rule() }, max), "initial_rate");
        let nothing = RoundTripConfig::timestamps(Duration::ZERO);
        assert_eq!(wrong(RateRule { round_trip: nothing, ..rule() }, max), "round_trip.initial");
    }
}
