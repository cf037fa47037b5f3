//! practRA: the service rate follows a forecast of the arrivals, one step at a time, within a delay bound.
//!
//! The source is Nedevschi et al., NSDI'08, as restated in troubled-marriage-2016 section II. Each point that the
//! papers leave open is an option with a stated default; `docs/models/practra.md` lists them.
//!
//! ```text
//!            up: q/r_i > d  or  (delta rf + q)/r_{i+1} > d - delta
//!          ------------------------------------------------------->
//!   r_i                                                             r_{i+1}
//!          <-------------------------------------------------------
//!            down: q = 0  and  rf < r_i
//!
//!   after either: nothing is sent for delta, and no further change for mRCI
//! ```

use super::forecast::Forecast;
use super::{Admission, QueueCount, QueueView, RateSet};
use crate::link::{self, Controller as _, LinkAction, LinkEvent, NeededQueue};
use crate::{ConfigError, Machine};
use netlull_document::check_ranges;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arrivals that a forecast counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalCount {
    /// Every arriving packet, including those that the full buffer drops.
    #[default]
    Offered,
    /// Only packets that enter the queue.
    Accepted,
}

/// The forecast before its first sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForecastStart {
    /// Unknown until the first sample, which becomes the forecast; the rate does not go down before.
    #[default]
    FirstSample,
    /// Zero.
    Zero,
}

/// The distance of practRA's rate changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// To the next rate, as printed.
    #[default]
    Adjacent,
    /// To the lowest rate that meets the rules, in one change.
    Any,
}

/// Steps a link's rate up to hold a delay bound, and down when its queue is empty and its forecast low.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "Nedevschi et al., NSDI'08; intertwining-2012; troubled-marriage-2016 section II"))]
pub struct PractRaConfig {
    /// The possible rates, r_1 < ... < r_n; the highest is the link's.
    #[schemars(extend("x-unit" = "bit rates", "x-source" = "intertwining-2012 uses 1..10 Mb/s"))]
    pub rates: RateSet,
    /// delta: the time without transmission after a change.
    #[schemars(extend("x-source" = "intertwining-2012 uses 2 ms; not printed in 2016"))]
    pub transition: Duration,
    /// mRCI: the shortest time between two changes; above `transition`.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-source" = "intertwining-2012 uses 16 ms (its Delta); troubled-marriage-2016 10 ms to 1 s"))]
    pub min_interval: Duration,
    /// d: the bound on the queueing delay.
    #[schemars(extend("x-source" = "intertwining-2012 uses 40 ms; not printed in 2016"))]
    pub delay_bound: Duration,
    /// w: the weight of the newest sample in the forecast.
    #[serde(default = "default_weight")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0, "x-source" = "reading: no paper prints it"))]
    pub forecast_weight: f64,
    /// The interval over which arrivals are averaged into a sample; default `min_interval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-default" = "min_interval", "x-source" = "troubled-marriage-2016 section IV-A"))]
    pub forecast_interval: Option<Duration>,
    /// The forecast before the first sample.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub forecast_start: ForecastStart,
    /// The arrivals that the forecast counts.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub arrivals: ArrivalCount,
    /// The packets that q counts.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub queue: QueueCount,
    /// The tick on which the rules are tested; default at every arrival and departure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-default" = "every event", "x-source" = "reading: the rules are printed with no clock"))]
    pub tick: Option<Duration>,
    /// The distance of a change.
    #[serde(default)]
    #[schemars(extend("x-source" = "adjacent as printed; intertwining-2012 section 4 asks for any"))]
    pub steps: Reach,
    /// The rate at the start; default the highest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the highest", "x-source" = "reading"))]
    pub initial_rate: Option<BitRate>,
}

fn default_weight() -> f64 {
    0.25
}

impl PractRaConfig {
    /// Creates the settings of intertwining-2012 for the given rates: delta 2 ms, mRCI 16 ms, d 40 ms.
    #[must_use]
    pub fn intertwining_2012(rates: RateSet) -> Self {
        Self {
            rates,
            transition: Duration::from_millis(2),
            min_interval: Duration::from_millis(16),
            delay_bound: Duration::from_millis(40),
            forecast_weight: default_weight(),
            forecast_interval: None,
            forecast_start: ForecastStart::default(),
            tick: None,
            queue: QueueCount::default(),
            arrivals: ArrivalCount::default(),
            steps: Reach::default(),
            initial_rate: None,
        }
    }

    /// Checks every range and pair of values. Returns the initial rate's position in the set.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value and the expectation.
    pub fn validate(&self) -> Result<usize, ConfigError> {
        check_ranges(self)?;
        // troubled-marriage-2016 section II: the interval is greater than delta.
        if self.transition >= self.min_interval {
            let expected = format!("more than transition ({})", self.transition);
            return Err(ConfigError::new("min_interval", self.min_interval, expected));
        }
        // The second half of 1.1 leaves d - delta for the queue.
        if self.transition >= self.delay_bound {
            let expected = format!("more than transition ({})", self.transition);
            return Err(ConfigError::new("delay_bound", self.delay_bound, expected));
        }
        let initial = self.initial_rate.unwrap_or(self.rates.highest());
        self.rates.position(initial).ok_or_else(|| {
            let expected = format!("one of the rates, {} to {}", self.rates.lowest(), self.rates.highest());
            ConfigError::new("initial_rate", initial, expected)
        })
    }
}

/// The practRA controller of a link.
#[derive(Clone, Debug)]
pub struct PractRa {
    steps: Box<[Level]>,
    transition: Duration,
    min_interval: Duration,
    /// The grid on which the rules are tested; `None` for a test at every event.
    tick: Option<Duration>,
    queue: QueueCount,
    arrivals: ArrivalCount,
    reach: Reach,
    start: Instant,
    forecast: Forecast,
    /// The index i of the rate, counted from zero.
    level: usize,
    /// The queue q in bits at the last event.
    queue_bits: u64,
    /// The end of mRCI after the last change; the start of the run before the first.
    hold_until: Instant,
    /// The time of the next step; `NEVER` while no rule requires one.
    due: Instant,
    wake: Instant,
    action: Option<LinkAction>,
    changes: u64,
    last: Instant,
}

/// A rate with the precomputed values for the rules.
#[derive(Clone, Debug)]
struct Level {
    rate: BitRate,
    /// floor(d r_i) in bits, see [`waits_too_long`].
    delay_bits: u64,
    /// delta in ns, and (d - delta) r_{i+1} in bit ns; `None` at r_n.
    above: Option<NextUp>,
    /// The forecast bound r_{i-1} in bit/s; zero at r_1, below which no forecast falls.
    below: f64,
}

#[derive(Clone, Copy, Debug)]
struct NextUp {
    transition_ns: f64,
    slack_bit_ns: f64,
}

/// The step that the rules require.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Up,
    Stay,
    Down,
}

impl PractRa {
    /// Creates a controller for a run that begins at `start`, the origin of the sampling and tick grids.
    ///
    /// # Errors
    /// If a value of `config` is out of range or contradicts another: see [`PractRaConfig::validate`].
    pub fn new(config: &PractRaConfig, start: Instant) -> Result<Self, ConfigError> {
        let level = config.validate()?;
        let interval = config.forecast_interval.unwrap_or(config.min_interval);
        let mut machine = Self {
            steps: Level::ladder(config),
            transition: config.transition,
            min_interval: config.min_interval,
            tick: config.tick,
            queue: config.queue,
            arrivals: config.arrivals,
            reach: config.steps,
            start,
            forecast: Forecast::new(start, interval, config.forecast_weight, config.forecast_start),
            level,
            queue_bits: 0,
            hold_until: start,
            due: Instant::NEVER,
            wake: Instant::NEVER,
            action: None,
            changes: 0,
            last: start,
        };
        machine.arm(start, machine.wanted());
        Ok(machine)
    }

    /// rf, the forecast of the arrival rate in bit/s, at the last event.
    #[must_use]
    pub fn forecast(&self) -> f64 {
        self.forecast.value()
    }

    /// rf in bit/s at `now`, including the samples since the last event. Intended for probes of an idle link.
    #[must_use]
    pub fn forecast_at(&self, now: Instant) -> f64 {
        let mut forecast = self.forecast.clone();
        forecast.advance(now);
        forecast.value()
    }

    #[inline]
    fn see(&mut self, queue: QueueView) {
        self.queue_bits = self.queue.of(queue).as_bits();
    }

    #[inline]
    fn count(&mut self, size: Bytes, admission: Admission) {
        if admission.is_accepted() || self.arrivals == ArrivalCount::Offered {
            self.forecast.arrived(size);
        }
    }

    /// Rule 1.1, which asks for a higher rate.
    #[inline]
    fn is_too_slow(&self) -> bool {
        let step = &self.steps[self.level];
        step.above.is_some_and(|next| {
            waits_too_long(self.queue_bits, step.delay_bits)
                || would_wait_too_long(self.queue_bits, self.forecast.value(), next)
        })
    }

    /// Returns true if a packet queues, so that rule 1.2 does not apply, and no rule has asked for another rate since the
    /// last sample. Then the wake-up stays the next sample.
    #[inline]
    fn is_busy_at_its_rate(&self) -> bool {
        self.queue_bits > 0 && self.due == Instant::NEVER && self.wake == self.forecast.boundary()
    }

    /// Applies rules 1.1 and 1.2 to the present queue and forecast, without mRCI.
    #[inline]
    fn wanted(&self) -> Wanted {
        let step = &self.steps[self.level];
        if self.is_too_slow() {
            return Wanted::Up;
        }
        if self.forecast.is_known() && may_slow_down(self.queue_bits, self.forecast.value(), step.below) {
            return Wanted::Down;
        }
        Wanted::Stay
    }

    /// Tests the rules, changes the rate if required, and sets the next wake-up.
    #[inline]
    fn follow_rules(&mut self, now: Instant, event: EventKind) {
        let mut wanted = self.wanted();
        if wanted != Wanted::Stay && self.are_rules_tested(now, event) {
            self.change(now, wanted);
            wanted = self.wanted();
        }
        self.arm(now, wanted);
    }

    /// Returns true if the rules are tested at this event (reading "every event or on a tick"), after the end of mRCI
    /// (1.3).
    #[inline]
    fn are_rules_tested(&self, now: Instant, event: EventKind) -> bool {
        match self.tick {
            None => now >= self.hold_until,
            Some(tick) => {
                event == EventKind::Timeout && now >= self.due.min(self.first_tick(tick, now.max(self.hold_until)))
            }
        }
    }

    /// The level after the change: one step (1.1, 1.2), or as many as the rules require.
    fn target(&self, wanted: Wanted) -> usize {
        match (wanted, self.reach) {
            (Wanted::Stay, _) => self.level,
            (Wanted::Up, Reach::Adjacent) => self.level + 1,
            (Wanted::Down, Reach::Adjacent) => self.level - 1,
            (Wanted::Up, Reach::Any) => self.least_within_bound(),
            (Wanted::Down, Reach::Any) => self.least_above_forecast(),
        }
    }

    /// The lowest rate above r_i at which neither half of 1.1 holds: q/r <= d and (delta rf + q)/r <= d - delta.
    /// r_n if there is no such rate.
    fn least_within_bound(&self) -> usize {
        let (queue, forecast) = (self.queue_bits, self.forecast.value());
        let mut level = self.level;
        while let Some(next) = self.steps[level].above {
            level += 1;
            if !waits_too_long(queue, self.steps[level].delay_bits) && !would_wait_too_long(queue, forecast, next) {
                break;
            }
        }
        level
    }

    /// The rate to which 1.2 leads step by step: the lowest rate above the forecast.
    fn least_above_forecast(&self) -> usize {
        let mut level = self.level;
        while may_slow_down(self.queue_bits, self.forecast.value(), self.steps[level].below) {
            level -= 1;
        }
        level
    }

    /// Changes the level, starts the silence of delta and mRCI (1.3).
    #[cold]
    fn change(&mut self, now: Instant, wanted: Wanted) {
        self.level = self.target(wanted);
        self.hold_until = now + self.min_interval;
        self.due = Instant::NEVER;
        self.changes += 1;
        self.action = Some(LinkAction::SetRate { rate: self.rate(), pause: self.transition });
    }

    /// Sets the wake-up to the first instant at which a rule could apply without another event.
    ///
    /// Two things change without an event: mRCI ends, and the forecast takes a sample. A sample matters in two
    /// cases: packets arrived in its interval, or only the forecast keeps an empty link from a step down. An
    /// empty sample lowers the forecast, which never requires a higher rate. At r_1 without arrivals no wake-up
    /// is needed.
    #[inline]
    fn arm(&mut self, now: Instant, wanted: Wanted) {
        self.due = match (wanted, self.tick) {
            (Wanted::Stay, _) => Instant::NEVER,
            (_, None) => self.hold_until.max(now),
            // If the timeout is late, a due tick stays due.
            (_, Some(_)) if self.due <= now => now,
            (_, Some(tick)) => self.first_tick(tick, now.max(self.hold_until)),
        };
        let waits_for_forecast = wanted == Wanted::Stay && self.queue_bits == 0 && self.level > 0;
        let sample_matters = self.forecast.has_arrivals() || waits_for_forecast;
        self.wake = if sample_matters { self.due.min(self.forecast.boundary()) } else { self.due };
    }

    /// The first tick of the grid at or after `earliest`.
    fn first_tick(&self, tick: Duration, earliest: Instant) -> Instant {
        let past = (earliest - self.start) % tick;
        if past.is_zero() { earliest } else { earliest + (tick - past) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EventKind {
    Packet,
    Timeout,
}

impl Machine for PractRa {
    type Event = LinkEvent;
    type Action = LinkAction;

    // Without the forced inlines of gateways, practRA and `Machine`: AWM +2.3 %, practRA +2.2 %.
    #[inline(always)]
    fn handle(&mut self, now: Instant, event: LinkEvent) {
        debug_assert!(now >= self.last, "time went back: {now} after {}", self.last);
        debug_assert!(self.action.is_none(), "an action was left when the next event came");
        self.last = now;
        if let LinkEvent::Managed { .. } = event {
            return;
        }
        // Samples end before an event at the boundary counts, because the intervals are half-open.
        self.forecast.advance(now);
        let kind = match event {
            LinkEvent::Arrival { size, admission, queue, .. } => {
                let has_arrivals = self.forecast.has_arrivals();
                self.count(size, admission);
                self.see(queue);
                if has_arrivals && self.is_busy_at_its_rate() && !self.is_too_slow() {
                    return;
                }
                EventKind::Packet
            }
            LinkEvent::Departure { queue } => {
                let before = self.queue_bits;
                self.see(queue);
                // A rate that was high enough is high enough for a shorter queue.
                if self.queue_bits <= before && self.is_busy_at_its_rate() {
                    return;
                }
                EventKind::Packet
            }
            LinkEvent::Timeout { queue } => {
                self.see(queue);
                EventKind::Timeout
            }
            LinkEvent::Acknowledgement { .. } | LinkEvent::Managed { .. } => EventKind::Packet,
        };
        self.follow_rules(now, kind);
    }

    #[inline]
    fn poll_action(&mut self) -> Option<LinkAction> {
        self.action.take()
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        (self.wake != Instant::NEVER).then_some(self.wake)
    }
}

impl link::Controller for PractRa {
    fn rate(&self) -> BitRate {
        self.steps[self.level].rate
    }

    fn changes(&self) -> u64 {
        self.changes
    }
}

impl link::Parameters for PractRaConfig {
    type Machine = PractRa;

    fn build(&self, link: link::Context, start: Instant) -> Result<PractRa, ConfigError> {
        self.rates.end_at(link.rate)?;
        PractRa::new(self, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        Some(("the lowest of rates", self.rates.lowest()))
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.initial_rate
    }

    /// The last step up needs a queue of d r_(n-1) (docs/models/practra.md).
    fn needed_queue(&self, _link: link::Context) -> Option<NeededQueue> {
        let [.., last_but_one, highest] = self.rates.as_slice() else { return None };
        Some(NeededQueue {
            field: "delay_bound",
            queue: last_but_one.bytes_in(self.delay_bound),
            otherwise: format!("the rate hardly reaches {highest}"),
        })
    }
}

impl Level {
    fn ladder(config: &PractRaConfig) -> Box<[Self]> {
        let rates = config.rates.as_slice();
        let step = |(i, &rate): (usize, &BitRate)| Self {
            rate,
            delay_bits: delay_in_bits(config.delay_bound, rate),
            above: rates.get(i + 1).map(|&next| NextUp::new(config, next)),
            below: if i == 0 { 0.0 } else { rates[i - 1].as_f64() },
        };
        rates.iter().enumerate().map(step).collect()
    }
}

impl NextUp {
    #[allow(clippy::cast_precision_loss)]
    fn new(config: &PractRaConfig, next: BitRate) -> Self {
        let slack = config.delay_bound - config.transition;
        Self {
            transition_ns: config.transition.as_nanos() as f64,
            slack_bit_ns: (u128::from(slack.as_nanos()) * u128::from(next.as_bps())) as f64,
        }
    }
}

/// floor(d r_i) in bits: the longest queue within the bound d at rate r_i.
#[allow(clippy::cast_possible_truncation)]
fn delay_in_bits(delay_bound: Duration, rate: BitRate) -> u64 {
    let bits = u128::from(delay_bound.as_nanos()) * u128::from(rate.as_bps()) / 1_000_000_000;
    bits.min(u128::from(u64::MAX)) as u64
}

/// q/r_i > d (troubled-marriage-2016 section II, first condition to go up).
///
/// The comparison is exact: q is a whole number, so q > d r_i iff q > floor(d r_i).
#[inline]
fn waits_too_long(queue_bits: u64, delay_bits: u64) -> bool {
    queue_bits > delay_bits
}

/// (delta rf + q)/r_{i+1} > d - delta (troubled-marriage-2016 section II, second condition to go up).
///
/// Both sides are multiplied to bit nanoseconds. Whole numbers of ns, bits and bit/s then compare exactly up to
/// 2^53.
#[inline]
#[allow(clippy::cast_precision_loss)]
fn would_wait_too_long(queue_bits: u64, forecast: f64, next: NextUp) -> bool {
    next.transition_ns * forecast + queue_bits as f64 * 1e9 > next.slack_bit_ns
}

/// q = 0 and rf < r_{i-1} (troubled-marriage-2016 section II, condition to go down); `rate_below` is zero at r_1.
#[inline]
fn may_slow_down(queue_bits: u64, forecast: f64, rate_below: f64) -> bool {
    queue_bits == 0 && forecast < rate_below
}

#[cfg(test)]
mod tests;
