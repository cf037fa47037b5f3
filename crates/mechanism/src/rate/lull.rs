//! Lull: a link that lowers its rate in the lulls of TCP, and is back at speed when TCP's next round arrives.
//!
//! TCP is self-clocked: the packets of a round leave the sender when the acknowledgements of the last round arrive. So
//! what a connection does to this link now, it does again one round-trip time later. Lull follows from that:
//!
//! ```text
//!   arrival ──► counterfactual queues: which rates would have made this packet late?   "violated now"
//!                    │                                   │
//!                    │ rate in use violated              │ round-trip time known: violated again one RTT later
//!                    ▼                                   ▼
//!               r_n, at once                   echoes: the link is ready before each echo,
//!                                              and at the lowest rate that no echo forbids between them
//! ```
//!
//! `docs/models/lull.md` has the rules, the bound on lateness and its proof. Rule numbers below refer to it.

mod budget;
mod counterfactual;
mod echoes;
mod round_trips;

use super::{Admission, QueueView, RateSet};
use crate::link::{self, LinkAction, LinkEvent, NeededQueue};
use crate::view::SegmentView;
use crate::{ConfigError, Machine};
use budget::{Budget, PERIOD};
use counterfactual::{Counterfactual, Forbidden, larger, smaller};
use echoes::Echoes;
use netlull_document::check_ranges;
use netlull_power::PowerModel;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use round_trips::RoundTrips;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of Lull. `rates` and `transition` describe the link, and `slowdown` is the one choice of its user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "docs/models/lull.md"))]
pub struct LullConfig {
    /// The possible rates, r_1 < ... < r_n; the highest is the link's.
    #[schemars(extend("x-unit" = "bit rates", "x-source" = "the link"))]
    pub rates: RateSet,
    /// delta: the time without transmission after a change.
    #[schemars(extend("x-source" = "the link"))]
    pub transition: Duration,
    /// s: the growth of completion times that users accept, as a fraction.
    #[serde(default = "default_slowdown")]
    #[schemars(range(max = 1.0), extend("x-exclusiveMinimum" = 0.0, "x-source" = "own"))]
    pub slowdown: f64,
    /// x: the longest lateness before the link goes up; default 7 delta, at least 2 packets at r_n.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-default" = "7 transition", "x-source" = "own"))]
    pub lateness: Option<Duration>,
    /// H: a violated rate stays forbidden for this time if no echo is forecast; default 30 delta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "30 transition", "x-source" = "own"))]
    pub hold: Option<Duration>,
    /// h: the share of each rate that the counterfactual queues do not use.
    #[serde(default = "default_headroom")]
    #[schemars(range(min = 0.0, max = 0.9), extend("x-source" = "own"))]
    pub headroom: f64,
    /// Forecasts from the round-trip times of connections. Without them, Lull is counterfactual queues with a hold.
    #[serde(default = "default_forecast")]
    #[schemars(extend("x-source" = "own"))]
    pub forecast: bool,
    /// The link's power model (`netlull list power`): rates that save no power are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = PowerModel::names(" | "), "x-default" = "each lower rate takes less", "x-source" = "the link"))]
    pub power: Option<String>,
}

fn default_slowdown() -> f64 {
    0.05
}

fn default_headroom() -> f64 {
    0.1
}

fn default_forecast() -> bool {
    true
}

/// The largest number of rates that Lull uses. It picks them evenly from a larger set, so work per packet is bounded.
const MOST_RATES: usize = 16;
/// The largest exponent of the hold after surprises.
const MOST_DOUBT: u32 = 8;
/// The packets that a new connection sends at once (RFC 6928 section 2).
const INITIAL_WINDOW: f64 = 10.0;

impl LullConfig {
    /// Lull with the default knob.
    #[must_use]
    pub fn new(rates: RateSet, transition: Duration) -> Self {
        let (slowdown, headroom, forecast) = (default_slowdown(), default_headroom(), default_forecast());
        Self { rates, transition, slowdown, lateness: None, hold: None, headroom, forecast, power: None }
    }

    /// x: the longest lateness before the link goes up. The buffer must hold such a queue: x <= B / (2 r_n) - delta
    /// (rule 4).
    #[must_use]
    pub fn longest_lateness(&self, link: link::Context) -> Duration {
        let packet = link.rate.time_for(link.mtu);
        let wanted = self.lateness.unwrap_or((self.transition * 7).max(packet * 2));
        link.buffer.map_or(wanted, |buffer| {
            let half = link.rate.time_for(buffer) / 2;
            wanted.min(half.saturating_sub(self.transition))
        })
    }

    /// The longest time that a packet leaves later than it would leave a link at r_n: max(x, L/r_1) + 2 delta
    /// (docs/models/lull.md, theorem 1).
    #[must_use]
    pub fn lateness_bound(&self, link: link::Context) -> Duration {
        self.longest_lateness(link).max(self.used_rates(link)[0].time_for(link.mtu)) + self.transition * 2
    }

    /// The time without service that a packet may meet when it needs r_n: the rest of a packet at `rate` or of a pause, and
    /// a pause.
    fn outage(&self, rate: BitRate, link: link::Context) -> Duration {
        let packet = if link.suspends { Duration::ZERO } else { rate.time_for(link.mtu) };
        packet.max(self.transition) + self.transition
    }

    /// The rates, in ascending order, that take less power than every higher rate (rule 0): all of them without a power
    /// model.
    fn saving_rates(&self, link: link::Context) -> Vec<BitRate> {
        let rates = self.rates.as_slice();
        let Some(model) = self.power.as_deref().and_then(PowerModel::by_name) else { return rates.to_vec() };
        let model = model.of_speed(link.rate);
        let mut least = f64::INFINITY;
        let mut saving: Vec<BitRate> = rates
            .iter()
            .rev()
            .copied()
            .filter(|&rate| {
                let power = model.power(rate, link.rate).as_f64();
                let saves = power < least;
                least = least.min(power);
                saves
            })
            .collect();
        saving.reverse();
        saving
    }

    /// At most `MOST_RATES` of the rates, with the highest: those that save power and whose outage the buffer survives
    /// (rule 0).
    #[must_use]
    pub fn used_rates(&self, link: link::Context) -> Box<[BitRate]> {
        let saving = self.saving_rates(link);
        let [lower @ .., highest] = saving.as_slice() else { return Box::default() };
        let survives =
            |&rate: &BitRate| link.buffer.is_none_or(|buffer| self.outage(rate, link) <= link.rate.time_for(buffer));
        let lower = &lower[lower.iter().take_while(|&rate| !survives(rate)).count()..];
        let rates: Vec<_> = lower.iter().chain([highest]).copied().collect();
        let used = rates.len().min(MOST_RATES);
        (0..used).map(|n| rates[n * (rates.len() - 1) / (used - 1).max(1)]).collect()
    }
}

impl link::Parameters for LullConfig {
    type Machine = Box<Lull>;
    const SEES_SEGMENTS: bool = true;

    fn build(&self, link: link::Context, start: Instant) -> Result<Box<Lull>, ConfigError> {
        self.rates.end_at(link.rate)?;
        if let Some(name) = self.power.as_deref().filter(|name| PowerModel::by_name(name).is_none()) {
            return Err(ConfigError::new(
                "power",
                format!("\"{name}\""),
                format!("one of {}", PowerModel::names(", ")),
            ));
        }
        check_ranges(self)?;
        Ok(Box::new(Lull::new(self, link, start)))
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        Some(("the lowest of rates", self.rates.lowest()))
    }

    fn initial_rate(&self) -> Option<BitRate> {
        None
    }

    fn lateness_bound(&self, link: link::Context) -> Option<Duration> {
        Some(LullConfig::lateness_bound(self, link))
    }

    /// The queue of a burst at r_n while the link at r_1 comes back to r_n.
    fn needed_queue(&self, link: link::Context) -> Option<NeededQueue> {
        let lowest = self.saving_rates(link).first().copied()?;
        let queue = link.rate.bytes_in(self.outage(lowest, link));
        let lowest = self.used_rates(link)[0];
        Some(NeededQueue { field: "rates", queue, otherwise: format!("the link uses no rate below {lowest}") })
    }
}

/// Lull's times in seconds, derived from the link and the knob.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// delta.
    transition: f64,
    /// x.
    lateness: f64,
    /// H.
    hold: f64,
    /// A violated rate stays forbidden for this time although its next violation is forecast: 1.5 delta.
    linger: f64,
    /// The link is ready this long before an echo: delta and the margin.
    lead: f64,
    /// The link waits this long for a late echo: 2 delta.
    slack: f64,
    /// The shortest stay at a lower rate that saves energy: 3 delta.
    gap: f64,
}

/// Lull, the controller of a link.
#[derive(Debug)]
pub struct Lull {
    rates: Box<[BitRate]>,
    times: Times,
    /// s: the accepted slowdown.
    slowdown: f64,
    budget: Budget,
    /// True if a packet in service stops for a change of rate.
    suspends: bool,
    has_forecast: bool,
    packet_bits: f64,
    queues: Counterfactual,
    echoes: Echoes,
    round_trips: RoundTrips,
    /// The times until which levels are forbidden.
    forbidden: Forbidden,
    /// The number of recent surprises: packets that were late and not forecast.
    doubt: u32,
    level: usize,
    changes: u64,
    queue: QueueView,
    /// The last bit of the packet in service, in seconds. It finishes at the rate at which it began.
    serving_until: f64,
    /// The end of the pauses of all changes so far, in seconds.
    paused_until: f64,
    wake: Option<Instant>,
    action: Option<LinkAction>,
}

/// An arrival in Lull's view.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    now: f64,
    admission: Admission,
    segment: Option<SegmentView>,
    /// The time in seconds at which the link is empty, at r_n from now on.
    leaves: f64,
    /// The lateness in seconds at the present rate.
    lateness: f64,
}

impl Lull {
    fn new(config: &LullConfig, link: link::Context, start: Instant) -> Self {
        let rates = config.used_rates(link);
        let transition = config.transition.as_secs_f64();
        let packet_bits = bits(link.mtu);
        let times = Times {
            transition,
            lateness: config.longest_lateness(link).as_secs_f64(),
            hold: config.hold.unwrap_or(config.transition * 30).as_secs_f64(),
            linger: 1.5 * transition,
            lead: 1.25 * transition,
            slack: 2.0 * transition,
            gap: 3.0 * transition,
        };
        let level = rates.len() - 1;
        Self {
            times,
            slowdown: config.slowdown,
            budget: Budget::new(config.slowdown, start.as_secs_f64()),
            suspends: link.suspends,
            has_forecast: config.forecast,
            packet_bits,
            queues: Counterfactual::new(&rates, config.headroom, packet_bits, times.lateness, start.as_secs_f64()),
            echoes: Echoes::new(transition),
            round_trips: RoundTrips::new(),
            forbidden: Forbidden::new(rates.len()),
            doubt: 0,
            level,
            changes: 0,
            queue: QueueView::EMPTY,
            serving_until: start.as_secs_f64(),
            paused_until: start.as_secs_f64(),
            wake: Some(start),
            action: None,
            rates,
        }
    }

    fn top(&self) -> usize {
        self.rates.len() - 1
    }

    fn is_empty(&self) -> bool {
        self.queue == QueueView::EMPTY
    }

    /// Takes the link's content at an event, and notes when the packet in service will have left.
    fn look(&mut self, now: f64, queue: QueueView, has_departed: bool) {
        let begins = if queue.in_service == Bytes::ZERO {
            None
        } else if has_departed {
            Some(now)
        } else if self.queue.in_service == Bytes::ZERO {
            // After a pause a waiting packet enters service without an event.
            Some(if self.queue.waiting > Bytes::ZERO { self.paused_until.min(now) } else { now })
        } else {
            None
        };
        if let Some(begins) = begins {
            self.serving_until = begins + bits(queue.in_service) / self.rates[self.level].as_f64();
        }
        self.queue = queue;
    }

    /// The rest of the packet in service in seconds: at its own rate, or in full at the present rate if it stops for
    /// changes.
    fn service_left(&self, now: f64) -> f64 {
        if self.suspends {
            bits(self.queue.in_service) / self.rates[self.level].as_f64()
        } else if self.queue.in_service == Bytes::ZERO {
            0.0
        } else {
            larger(self.serving_until - now, 0.0)
        }
    }

    fn pause_left(&self, now: f64) -> f64 {
        larger(self.paused_until - now, 0.0)
    }

    /// The time in seconds until all packets have left, if the link serves at a level.
    fn time_to_empty(&self, now: f64, level: usize) -> f64 {
        let service = self.service_left(now);
        let pause = if self.suspends { self.pause_left(now) } else { larger(self.pause_left(now) - service, 0.0) };
        service + pause + bits(self.queue.waiting) / self.rates[level].as_f64()
    }

    /// The lateness in seconds of the last packet on the link, at the present rate.
    fn lateness(&self, now: f64) -> f64 {
        now + self.time_to_empty(now, self.level) - self.queues.reference_until()
    }

    /// Changes the rate. Each change costs its pause. After a change up the link stays there for a while (theorem 3).
    fn change(&mut self, now: f64, level: usize) {
        if level == self.level {
            return;
        }
        if level > self.level {
            self.forbidden.below(level, now + self.times.linger);
        }
        self.level = level;
        self.changes += 1;
        let begins = if self.suspends { now } else { now + self.service_left(now) };
        self.paused_until = self.paused_until.max(begins) + self.times.transition;
        let pause = Duration::from_secs_f64(self.times.transition).unwrap_or(Duration::ZERO);
        self.action = Some(LinkAction::SetRate { rate: self.rates[level], pause });
    }

    /// Rules 1 to 3: judges every rate for this packet, and goes up if the rate in use is violated.
    fn arrived(&mut self, now: f64, bits: f64, admission: Admission, segment: Option<SegmentView>) {
        self.queues.arrive(now, bits, admission);
        let content = self::bits(self.queue.waiting) + self::bits(self.queue.in_service);
        let before = if admission.is_accepted() { content - bits } else { content };
        if self.queues.signals_needlessly(bits, before, admission) {
            self.budget.pay_signal();
        }
        let leaves = now + self.time_to_empty(now, self.top());
        let empty = if self.level == self.top() { leaves } else { now + self.time_to_empty(now, self.level) };
        let arrival = Arrival { now, admission, segment, leaves, lateness: empty - self.queues.reference_until() };
        let Some(segment) = segment.filter(|_| self.has_forecast) else {
            return self.judge(arrival, None);
        };
        let slot = RoundTrips::slot(segment.flow);
        let round_trip = self.round_trips.see(now, leaves, &segment, &self.times, &mut self.budget);
        if let Some(time) = round_trip.filter(|_| segment.opens()) {
            let window = INITIAL_WINDOW * self.packet_bits;
            self.forecast(leaves + time, self.queues.violated_by(window, self.burst_bound(time)), slot);
        }
        self.judge(arrival, round_trip);
        if round_trip.is_some() {
            let lateness = if self.action.is_none() { arrival.lateness } else { self.lateness(now) };
            self.round_trips.is_late(slot, lateness);
        }
        if segment.fin {
            // The stream ends here: the last round has no echo (rule 6).
            self.round_trips.end(slot, &mut self.budget);
            self.echoes.cancel(self.round_trips.forecast(slot), slot);
        }
        if self.budget.is_over(now) {
            self.echoes.look_for_lulls(now - PERIOD, now, self.times.lead, self.times.slack);
        }
    }

    /// The lateness in seconds that a round of this round-trip time may have (rule 8).
    fn accepted(&self, round_trip: f64) -> f64 {
        self.budget.scale() * self.slowdown * round_trip
    }

    fn judge(&mut self, arrival: Arrival, round_trip: Option<f64>) {
        let Arrival { now, admission, segment, leaves, lateness } = arrival;
        // Packets without data, such as acknowledgements, repeat nothing one round trip later.
        let next_round = round_trip.filter(|_| segment.is_none_or(|segment| segment.data));
        let bounds = self.bounds(next_round);
        // A packet without data of a connection that is forecast says nothing about the rates: only its own lateness
        // counts.
        let says_nothing = round_trip.is_some() && next_round.is_none();
        let mut needed = if says_nothing { 0 } else { self.queues.violated(bounds.now) };
        if admission == Admission::Dropped || lateness > bounds.now {
            needed = needed.max(self.level + 1);
        }
        let needed = needed.min(self.top());
        let is_late = needed > self.level;
        if let (Some(time), Some(segment)) = (next_round, segment) {
            // The forecast for this packet matters to a late packet, and to the first of a burst if there is doubt.
            let matters = is_late || self.doubt > 0 && self.queue.waiting == Bytes::ZERO;
            if matters && !self.echoes.leave_no_lulls() {
                let is_due = self.echoes.needed(now - self.times.slack, now + self.times.lead) > 0
                    || self.round_trips.is_announced(RoundTrips::slot(segment.flow), now);
                self.learn(is_late, is_due, bounds.now);
            }
            let echo = self.queues.violated(bounds.echo).max(needed);
            let slot = RoundTrips::slot(segment.flow);
            if !self.echoes.leave_no_lulls() {
                self.forbidden.below(echo, now + self.times.linger);
            }
            // A burst needs its rate from its first packet on: a change within it would cost a pause.
            if let Some(at) = self.round_trips.next_round(slot, echo) {
                self.forecast(at, echo, slot);
            }
            self.forecast(leaves + time, echo, slot);
        }
        let hold = match (round_trip, self.doubt) {
            (None, _) => self.times.hold,
            (Some(_), _) if self.echoes.leave_no_lulls() => self.times.hold,
            (Some(_), 0) => self.times.linger,
            (Some(_), doubt) => self.times.hold * f64::from(1_u32 << (doubt - 1)),
        };
        self.forbidden.below(needed, now + hold);
        if is_late {
            self.change(now, self.top());
        }
    }

    /// The longest lateness now and in the next round, in seconds.
    fn bounds(&self, round_trip: Option<f64>) -> Bounds {
        let Some(time) = round_trip else {
            return Bounds { now: self.times.lateness, echo: self.times.lateness };
        };
        let accepted = self.accepted(time);
        let now = smaller(self.times.lateness, accepted + self.slowdown * time);
        // One or two packets that no others follow delay their round once.
        let echo = if self.queues.is_in_burst() { smaller(now, self.burst_bound(time)) } else { now };
        Bounds { now, echo }
    }

    /// The longest lateness in seconds of a burst that is forecast. A burst doubles in slow start, and every round pays. Half
    /// of x is left to packets that no forecast knows.
    fn burst_bound(&self, round_trip: f64) -> f64 {
        smaller(self.times.lateness / 2.0, self.accepted(round_trip) / 4.0)
    }

    /// Rule 7: a late packet that no echo announced is a surprise. Surprises lengthen the hold, correct forecasts
    /// shorten it.
    fn learn(&mut self, is_late: bool, is_due: bool, bound: f64) {
        let unavoidable = if self.suspends { 0.0 } else { self.packet_bits / self.rates[self.level].as_f64() };
        if is_late && !is_due && unavoidable + self.times.transition > bound {
            self.doubt = (self.doubt + 1).min(MOST_DOUBT);
        } else if !is_late && is_due && self.queue.waiting == Bytes::ZERO {
            self.doubt = self.doubt.saturating_sub(1);
        }
    }

    fn forecast(&mut self, at: f64, needed: usize, slot: usize) {
        if needed > 0 {
            let bin = self.echoes.mark(at, needed, slot);
            self.round_trips.forecasts(slot, bin);
        }
    }

    /// The need of a round that is overdue and may still come, and the end of the wait in seconds.
    fn overdue(&self, now: f64) -> Option<(usize, f64)> {
        let waits_until = |slot| self.round_trips.waits_until(slot, now, &self.times);
        self.echoes.overdue(now - self.times.slack, waits_until)
    }

    /// Rules 4 and 5: goes up before an echo, and down when nothing waits and no echo comes soon. Sets the next timeout.
    fn settle(&mut self, now: f64) {
        if self.level == self.top() && !self.is_empty() {
            self.wake = None;
            return;
        }
        let Times { lead, slack, gap, .. } = self.times;
        let paused = self.pause_left(now) > 0.0;
        let due = self.echoes.needed(now - slack, now + lead);
        let mut wake = f64::INFINITY;
        if due > self.level {
            if !paused {
                // The change itself must not make a queued packet too late.
                let is_tight = !self.is_empty() && self.lateness(now) + self.times.transition > self.times.lateness;
                self.change(now, if is_tight { self.top() } else { due });
            }
        } else if self.is_empty() && !paused && self.level > 0 {
            let allowed = self.forbidden.lowest_allowed(now);
            let soon = now + lead + gap;
            let free = allowed.max(due).max(self.echoes.needed(now, soon));
            let overdue = (free < self.level).then(|| self.overdue(now)).flatten();
            if let Some((_, until)) = overdue.filter(|&(needed, _)| needed >= self.level) {
                wake = until;
            } else if free < self.level {
                self.change(now, free.max(overdue.map_or(0, |(needed, _)| needed)));
            } else {
                wake = self.forbidden.next_end(now, self.level);
                if let Some(last) = self.echoes.last(now - slack, soon, self.level) {
                    wake = wake.min(last + slack);
                }
            }
        }
        if self.level < self.top() {
            wake = wake.min(self.echoes.next_above(now + lead, self.level) - lead);
        }
        // A change needs another look when its pause is over, also without a pause.
        let has_changed = self.action.is_some() || self.pause_left(now) > 0.0;
        if has_changed && (self.is_empty() || due > self.level) {
            wake = wake.min(self.paused_until);
        }
        self.wake = wake.is_finite().then(|| after(wake.max(now)));
    }
}

/// The longest lateness of a packet and of its echo, in seconds.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    now: f64,
    echo: f64,
}

#[inline]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)]
fn bits(bytes: Bytes) -> f64 {
    // The cast of a signed number is a single instruction.
    bytes.as_bits() as i64 as f64
}

/// The first whole nanosecond after a time in seconds.
fn after(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds).unwrap_or(Duration::MAX) + Duration::from_nanos(1)
}

impl Machine for Lull {
    type Event = LinkEvent;
    type Action = LinkAction;

    fn handle(&mut self, now: Instant, event: LinkEvent) {
        if let LinkEvent::Managed { .. } = event {
            return;
        }
        let now = now.as_secs_f64();
        if let Some(queue) = event.queue() {
            self.look(now, queue, matches!(event, LinkEvent::Departure { .. }));
        }
        match event {
            LinkEvent::Arrival { size, admission, segment, .. } => {
                self.arrived(now, bits(size), admission, segment);
            }
            // The queues are served up to an arrival when it comes.
            LinkEvent::Departure { .. } | LinkEvent::Timeout { .. } if self.level == self.top() => {}
            LinkEvent::Departure { .. } | LinkEvent::Timeout { .. } => self.queues.serve(now),
            LinkEvent::Acknowledgement { .. } | LinkEvent::Managed { .. } => return,
        }
        if self.action.is_none() {
            self.settle(now);
        } else {
            self.wake = Some(after(self.paused_until));
        }
    }

    fn poll_action(&mut self) -> Option<LinkAction> {
        self.action.take()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.wake
    }
}

impl link::Controller for Lull {
    fn rate(&self) -> BitRate {
        self.rates[self.level]
    }

    fn changes(&self) -> u64 {
        self.changes
    }
}

#[cfg(test)]
mod tests;
