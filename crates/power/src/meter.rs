//! The time of a link at each rate, an exact record with updates at rate changes only, and its energy by cause.

use netlull_units::{BitRate, Duration, Instant, Joules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::Add;

/// Records the time of a link at each rate and in each transition, in whole nanoseconds.
///
/// ```text
///            rate_changed(old -> new, pause)            pause over
///   in service at old  ----------->  transition old->new  ----->  in service at new
///                                          |
///                                          | rate_changed: the rest of the pause is dropped
///                                          v
///                                    transition new->newer
/// ```
/// The next call finds the state after a pause, so a pause needs no event of its own.
///
/// `Times` holds the times: a link with tens of thousands of rates has hardly a higher cost per change than one with
/// a few.
#[derive(Clone, Debug)]
pub struct EnergyMeter {
    rate: BitRate,
    /// The instant up to which the times are complete.
    settled: Instant,
    pause: Option<Pause>,
    in_service: Times<BitRate>,
    in_transition: Times<(BitRate, BitRate)>,
    changes: u64,
}

/// Times in nanoseconds by key.
///
/// Among few keys each time is added at its place. Later, new times are appended, then sorted and summed all at once:
/// this costs less than a search for each of them.
#[derive(Clone, Debug)]
struct Times<K> {
    /// In the order of keys, each once.
    summed: Vec<(K, u64)>,
    recent: Vec<(K, u64)>,
}

impl<K: Copy + Ord> Times<K> {
    /// From so many keys on, new times are appended.
    const MANY: usize = 64;
    /// The number of recent times at which they are summed, if there are fewer sums.
    const LEAST_RECENT: usize = 256;

    const fn new() -> Self {
        Self { summed: Vec::new(), recent: Vec::new() }
    }

    fn clear(&mut self) {
        self.summed.clear();
        self.recent.clear();
    }

    fn add(&mut self, key: K, nanos: u64) {
        if self.summed.len() < Self::MANY {
            match self.summed.binary_search_by_key(&key, |&(known, _)| known) {
                Ok(place) => self.summed[place].1 += nanos,
                Err(place) => self.summed.insert(place, (key, nanos)),
            }
            return;
        }
        self.recent.push((key, nanos));
        if self.recent.len() >= self.summed.len().max(Self::LEAST_RECENT) {
            self.sum();
        }
    }

    fn sum(&mut self) {
        self.summed.append(&mut self.recent);
        // A stable sort merges the part that is in order already.
        self.summed.sort_by_key(|&(key, _)| key);
        self.summed.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 += later.1;
            }
            same
        });
    }

    fn into_sums(mut self) -> impl Iterator<Item = (K, u64)> {
        self.sum();
        self.summed.into_iter()
    }
}

#[derive(Clone, Copy, Debug)]
struct Pause {
    old: BitRate,
    end: Instant,
}

/// Time spent serving at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateTime {
    /// The service rate in bit/s.
    pub rate: BitRate,
    /// The time in service at the rate, busy or idle, without transitions.
    pub time: Duration,
}

/// Time in transition from one rate to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransitionTime {
    /// The rate before the change, in bit/s.
    pub old: BitRate,
    /// The rate after the change, in bit/s.
    pub new: BitRate,
    /// The total time in pauses of this change.
    pub time: Duration,
}

/// The time of a link at each rate and in each transition: the result of a run, from which power models compute
/// energy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    in_service: Vec<RateTime>,
    in_transition: Vec<TransitionTime>,
    asleep: Duration,
    changes: u64,
}

impl EnergyMeter {
    /// Creates a meter of a link that serves at `rate` from `start` on.
    #[must_use]
    pub fn new(start: Instant, rate: BitRate) -> Self {
        Self { rate, settled: start, pause: None, in_service: Times::new(), in_transition: Times::new(), changes: 0 }
    }

    /// Records that the link changes to `rate` at `now`, with a transition of length `pause` in which it sends
    /// nothing.
    ///
    /// `now` must not be earlier than in a previous call. If a packet in service first finishes at the old rate,
    /// call this when the packet has left.
    pub fn rate_changed(&mut self, now: Instant, rate: BitRate, pause: Duration) {
        self.settle(now);
        self.pause = (!pause.is_zero()).then_some(Pause { old: self.rate, end: now + pause });
        self.rate = rate;
        self.changes += 1;
    }

    /// Starts the measurement again: the residency starts at `now`, with the present rate and pause.
    pub fn restart(&mut self, now: Instant) {
        self.settle(now);
        self.in_service.clear();
        self.in_transition.clear();
        self.changes = 0;
    }

    /// The residency from the start to `now`. A running pause counts up to `now`.
    ///
    /// The meter can continue afterwards, so a probe may read it during the run.
    #[must_use]
    pub fn finish(&self, now: Instant) -> Residency {
        let mut settled = self.clone();
        settled.settle(now);
        let rate_time = |(rate, nanos)| RateTime { rate, time: Duration::from_nanos(nanos) };
        let transition_time = |((old, new), nanos)| TransitionTime { old, new, time: Duration::from_nanos(nanos) };
        Residency {
            in_service: settled.in_service.into_sums().map(rate_time).collect(),
            in_transition: settled.in_transition.into_sums().map(transition_time).collect(),
            asleep: Duration::ZERO,
            changes: self.changes,
        }
    }

    /// Adds the time up to `now`: first the part in the pause, then the rest.
    fn settle(&mut self, now: Instant) {
        if let Some(Pause { old, end }) = self.pause {
            let until = end.min(now);
            if until > self.settled {
                self.in_transition.add((old, self.rate), (until - self.settled).as_nanos());
                self.settled = until;
            }
            if end <= now {
                self.pause = None;
            }
        }
        if now > self.settled {
            self.in_service.add(self.rate, (now - self.settled).as_nanos());
            self.settled = now;
        }
    }
}

impl Residency {
    /// The residency of a link that stayed at `rate` for `time`: the reference without scaling.
    #[must_use]
    pub fn constant(rate: BitRate, time: Duration) -> Self {
        Self {
            in_service: vec![RateTime { rate, time }],
            in_transition: Vec::new(),
            asleep: Duration::ZERO,
            changes: 0,
        }
    }

    /// Creates a residency from given times in service at each rate and in transition, and the number of changes.
    #[must_use]
    pub fn from_parts(mut in_service: Vec<RateTime>, mut in_transition: Vec<TransitionTime>, changes: u64) -> Self {
        in_service.sort_unstable_by_key(|part| part.rate);
        in_transition.sort_unstable_by_key(|part| (part.old, part.new));
        Self { in_service, in_transition, asleep: Duration::ZERO, changes }
    }

    /// The same residency with a part `asleep` of the time in service at its only rate.
    ///
    /// A meter does not record sleep: links with a variable rate do not sleep.
    #[must_use]
    pub fn with_sleep(mut self, asleep: Duration) -> Self {
        debug_assert!(self.in_service.len() <= 1, "a link of many rates slept");
        if let Some(only) = self.in_service.first_mut() {
            self.asleep = asleep.min(only.time);
            only.time = only.time - self.asleep;
        }
        self
    }

    /// The time in service at each rate, ascending.
    #[must_use]
    pub fn in_service(&self) -> &[RateTime] {
        &self.in_service
    }

    /// The time in transition for each pair of rates, ascending.
    #[must_use]
    pub fn in_transition(&self) -> &[TransitionTime] {
        &self.in_transition
    }

    /// The number of rate changes, changes without a pause included.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The total time.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.awake() + self.asleep
    }

    /// The time in service and in transitions.
    #[must_use]
    pub fn awake(&self) -> Duration {
        self.in_service.iter().map(|s| s.time).sum::<Duration>() + self.transition_total()
    }

    /// The time asleep.
    #[must_use]
    pub fn asleep(&self) -> Duration {
        self.asleep
    }

    /// The time in transitions.
    #[must_use]
    pub fn transition_total(&self) -> Duration {
        self.in_transition.iter().map(|t| t.time).sum()
    }

    /// The part after `earlier`, a previous residency of the same meter.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |rate: BitRate| {
            let found = earlier.in_service.binary_search_by_key(&rate, |part| part.rate);
            found.map_or(Duration::ZERO, |at| earlier.in_service[at].time)
        };
        let pause_before = |pair: (BitRate, BitRate)| {
            let found = earlier.in_transition.binary_search_by_key(&pair, |part| (part.old, part.new));
            found.map_or(Duration::ZERO, |at| earlier.in_transition[at].time)
        };
        let service = self.in_service.iter().map(|part| RateTime { time: part.time - before(part.rate), ..*part });
        let transition = self.in_transition.iter();
        let transition =
            transition.map(|part| TransitionTime { time: part.time - pause_before((part.old, part.new)), ..*part });
        Self {
            in_service: service.filter(|part| !part.time.is_zero()).collect(),
            in_transition: transition.filter(|part| !part.time.is_zero()).collect(),
            asleep: self.asleep - earlier.asleep,
            changes: self.changes - earlier.changes,
        }
    }

    /// The mean rate in bit/s; a transition counts at its new rate, sleep at zero. Zero for no time.
    ///
    /// The sum is exact in whole bit nanoseconds; only the division rounds.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn mean_rate(&self) -> f64 {
        let area = |rate: BitRate, time: Duration| u128::from(rate.as_bps()) * u128::from(time.as_nanos());
        let service: u128 = self.in_service.iter().map(|s| area(s.rate, s.time)).sum();
        let transition: u128 = self.in_transition.iter().map(|t| area(t.new, t.time)).sum();
        let total = self.total();
        if total.is_zero() { 0.0 } else { (service + transition) as f64 / total.as_nanos() as f64 }
    }
}

/// The traffic of a link during a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Sent bits.
    pub bits: u64,
    /// Sent packets.
    pub packets: u64,
}

/// A link's energy over a run, by cause. The parts do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyLedger {
    /// The static energy at any rate, transitions included.
    pub static_: Joules,
    /// The rate-dependent energy in service.
    pub rate_dependent: Joules,
    /// The energy of the bits and packets.
    pub traffic: Joules,
    /// The rate-dependent energy in transition.
    pub transitions: Joules,
    /// The energy while the link sleeps.
    pub asleep: Joules,
}

impl EnergyLedger {
    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> Joules {
        self.static_ + self.rate_dependent + self.traffic + self.transitions + self.asleep
    }
}

/// Adds links up to a network.
impl Add for EnergyLedger {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            static_: self.static_ + other.static_,
            rate_dependent: self.rate_dependent + other.rate_dependent,
            traffic: self.traffic + other.traffic,
            transitions: self.transitions + other.transitions,
            asleep: self.asleep + other.asleep,
        }
    }
}

impl Sum for EnergyLedger {
    fn sum<I: Iterator<Item = Self>>(links: I) -> Self {
        links.fold(Self::default(), Add::add)
    }
}

/// The energy saving ES = 1 - E/E_ref as a fraction; times 100 it is the papers' percentage. Zero if the
/// reference has no energy.
#[must_use]
pub fn saving(energy: &EnergyLedger, reference: &EnergyLedger) -> f64 {
    let (energy, reference) = (energy.total().as_f64(), reference.total().as_f64());
    if reference > 0.0 { 1.0 - energy / reference } else { 0.0 }
}

/// The power during a transition; the papers are silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransitionPower {
    /// The higher of the two rates' powers: hardware in transition is not asleep.
    #[default]
    Higher,
    /// The new rate's power.
    New,
    /// The old rate's power.
    Old,
}

impl TransitionPower {
    pub(crate) fn of(self, old: BitRate, new: BitRate) -> BitRate {
        match self {
            Self::Old => old,
            Self::New => new,
            Self::Higher => old.max(new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_keeps_the_rate_and_what_is_left_of_a_pause() {
        // From 10 to 5 Mb/s at 100 ms with a pause of 4 ms; a restart 1 ms later leaves 3 ms of the pause.
        let at = |millis: u64| Instant::ZERO + MS(millis);
        let mut meter = EnergyMeter::new(Instant::ZERO, M(10));
        meter.rate_changed(at(100), M(5), MS(4));
        meter.restart(at(101));
        let residency = meter.finish(at(110));
        assert_eq!(residency.in_transition(), [TransitionTime { old: M(10), new: M(5), time: MS(3) }]);
        assert_eq!(residency.in_service(), [RateTime { rate: M(5), time: MS(6) }]);
        assert_eq!(residency.changes(), 0);
    }

    const M: fn(u64) -> BitRate = BitRate::from_mbps;
    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + MS(millis)
    }

    #[test]
    fn time_goes_to_service_and_to_transitions() {
        // 0..100 ms at 10, pause 100..102 ms, 102..150 ms at 9, pause 150..152 ms, 152..200 ms at 10.
        let mut meter = EnergyMeter::new(at(0), M(10));
        meter.rate_changed(at(100), M(9), MS(2));
        meter.rate_changed(at(150), M(10), MS(2));
        let spent = meter.finish(at(200));
        assert_eq!(
            spent.in_service(),
            [RateTime { rate: M(9), time: MS(48) }, RateTime { rate: M(10), time: MS(148) }]
        );
        assert_eq!(
            spent.in_transition(),
            [
                TransitionTime { old: M(9), new: M(10), time: MS(2) },
                TransitionTime { old: M(10), new: M(9), time: MS(2) }
            ]
        );
        assert_eq!((spent.total(), spent.transition_total(), spent.changes()), (MS(200), MS(4), 2));
        // (148 + 2) ms at 10 and (48 + 2) ms at 9 Mb/s: (1500 + 450)/200 = 9.75 Mb/s.
        assert!((spent.mean_rate() - 9.75e6).abs() < 1e-9);
    }

    #[test]
    fn times_at_a_thousand_rates_add_up_rate_by_rate() {
        // Change n is to 1 + n 7919 mod 1000 Mb/s for n ms: 10 passes over all 1,000 rates, in another order.
        let mut meter = EnergyMeter::new(at(0), M(2000));
        let (mut now, mut expected) = (0, vec![0; 1001]);
        for n in 1..=10_000_u64 {
            let rate = 1 + n * 7919 % 1000;
            meter.rate_changed(at(now), M(rate), Duration::ZERO);
            expected[usize::try_from(rate).unwrap()] += n;
            now += n;
        }
        let spent = meter.finish(at(now));
        let found: Vec<(BitRate, Duration)> = spent.in_service().iter().map(|part| (part.rate, part.time)).collect();
        let wanted: Vec<_> = (1..).zip(&expected[1..]).map(|(rate, &millis)| (M(rate), MS(millis))).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_pause_is_cut_by_the_end_of_the_run() {
        let mut meter = EnergyMeter::new(at(0), M(10));
        meter.rate_changed(at(10), M(9), MS(5));
        let spent = meter.finish(at(12));
        assert_eq!(spent.transition_total(), MS(2));
        assert_eq!(spent.total(), MS(12));
    }

    #[test]
    fn a_pause_that_begins_with_the_end_is_no_time_in_transition() {
        let mut meter = EnergyMeter::new(at(0), M(10));
        meter.rate_changed(at(10), M(9), MS(5));
        assert!(meter.finish(at(10)).in_transition().is_empty());
    }

    #[test]
    fn a_pause_is_cut_by_the_next_change() {
        // The pause from 10 to 9 Mb/s would last to 15 ms. At 13 ms the link changes to 8 Mb/s, with a pause to
        // 18 ms.
        let mut meter = EnergyMeter::new(at(0), M(10));
        meter.rate_changed(at(10), M(9), MS(5));
        meter.rate_changed(at(13), M(8), MS(5));
        let spent = meter.finish(at(20));
        assert_eq!(
            spent.in_transition(),
            [
                TransitionTime { old: M(9), new: M(8), time: MS(5) },
                TransitionTime { old: M(10), new: M(9), time: MS(3) }
            ]
        );
        assert_eq!(spent.total(), MS(20));
        assert!(spent.in_service().iter().all(|s| s.rate != M(9)), "9 Mb/s never came into service");
    }

    #[test]
    fn a_change_without_a_pause_is_no_transition() {
        let mut meter = EnergyMeter::new(at(0), M(10));
        meter.rate_changed(at(10), M(3), Duration::ZERO);
        let spent = meter.finish(at(20));
        assert_eq!((spent.in_transition().len(), spent.changes()), (0, 1));
        assert!((spent.mean_rate() - 6.5e6).abs() < 1e-9);
    }

    #[test]
    fn reading_the_meter_in_mid_run_changes_nothing() {
        let mut meter = EnergyMeter::new(at(0), M(10));
        meter.rate_changed(at(10), M(9), MS(5));
        let before = meter.finish(at(12));
        assert_eq!(meter.finish(at(12)), before);
        assert_eq!(meter.finish(at(30)).total(), MS(30));
    }

    #[test]
    fn a_link_that_sleeps_serves_at_no_rate() {
        // 60 s at 40 Mb/s, 45 s of them asleep: (15 x 40)/60 = 10 Mb/s.
        let slept = Residency::constant(M(40), MS(60_000)).with_sleep(MS(45_000));
        assert_eq!((slept.total(), slept.awake(), slept.asleep()), (MS(60_000), MS(15_000), MS(45_000)));
        assert!((slept.mean_rate() - 10e6).abs() < 1e-9);
    }

    #[test]
    fn no_time_at_all_has_no_mean_rate() {
        let spent = EnergyMeter::new(at(5), M(10)).finish(at(5));
        assert_eq!(spent.total(), Duration::ZERO);
        assert!(spent.mean_rate().abs() < f64::EPSILON);
    }

    #[test]
    fn the_parts_add_up() {
        let part = |n: f64| Joules::new(n);
        let link = EnergyLedger {
            static_: part(1.0),
            rate_dependent: part(2.0),
            traffic: part(4.0),
            transitions: part(8.0),
            asleep: part(16.0),
        };
        assert_eq!(link.total(), Joules::new(31.0));
        assert_eq!([link, link].into_iter().sum::<EnergyLedger>().total(), Joules::new(62.0));
    }

    #[test]
    fn saving_is_one_less_the_ratio() {
        let of = |joules| EnergyLedger { static_: Joules::new(joules), ..EnergyLedger::default() };
        assert!((saving(&of(3.0), &of(4.0)) - 0.25).abs() < 1e-15);
        assert!(
            (saving(&of(5.0), &of(4.0)) + 0.25).abs() < 1e-15,
            "more energy than the reference is a negative saving"
        );
        assert!(saving(&of(0.0), &of(0.0)).abs() < 1e-15);
    }
}
