//! The adapter: a link controller whose decisions come from a subscriber.

use super::{Amount, Decision, Observation, Plug, Reason, Subscriber, Subscription};
use crate::gateway::{FlowCount, FlowCountConfig, RoundTrip, RoundTripConfig, SegmentView};
use crate::link::{self, Estimates, LinkAction, LinkEvent};
use crate::view::{Admission, HeadVerdict, QueueView};
use crate::{ConfigError, Machine};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::collections::VecDeque;

/// A link controller that lets a subscriber decide. Without a subscription it does nothing and needs no timer.
#[derive(Debug)]
pub struct Adapter<S> {
    subscriber: S,
    subscription: Subscription,
    link: link::Context,
    transition: Duration,
    changes: u64,
    start: Instant,
    /// The next tick; [`Instant::NEVER`] without ticks.
    tick: Instant,
    /// The thresholds at or below the backlog.
    level: usize,
    /// Packets in the backlog and in service.
    packets: u64,
    /// Bytes in the backlog and in service.
    content: Bytes,
    /// The next observation so far. `now` is the time of the previous one.
    seen: Observation,
    estimators: Option<Box<Estimators>>,
    actions: VecDeque<LinkAction>,
    failure: Option<Box<ConfigError>>,
}

/// The estimators of a plug-in that reads segments.
#[derive(Debug)]
struct Estimators {
    round_trip: RoundTrip,
    flows: FlowCount,
    has_flows: bool,
}

impl Estimators {
    fn new(start: Instant) -> Result<Self, ConfigError> {
        // The initial value never shows: without a sample there is no estimate.
        let round_trip = RoundTrip::new(&RoundTripConfig::timestamps(Duration::from_secs(1)))?;
        Ok(Self { round_trip, flows: FlowCount::new(&FlowCountConfig::default(), start)?, has_flows: false })
    }

    fn forward(&mut self, now: Instant, segment: &SegmentView) {
        self.round_trip.forward(now, segment);
        if segment.data {
            self.flows.saw(now, segment.flow);
            self.has_flows = true;
        }
    }
}

/// The most actions of one event: for a tick, a threshold and the event itself.
const MOST_ACTIONS: usize = 3;

impl<S: Subscriber> Adapter<S> {
    /// An adapter for a link whose run begins at `start`.
    ///
    /// # Errors
    /// If the subscription has an impossible value, or the link cannot have the initial rate.
    pub fn new(plug: Plug, subscriber: S, link: link::Context, start: Instant) -> Result<Self, ConfigError> {
        let Plug { mut subscription, initial_rate, transition } = plug;
        subscription.check()?;
        subscription.thresholds.sort_unstable();
        subscription.thresholds.dedup();
        initial_rate.map_or(Ok(()), |rate| link.check_rate("initial_rate", rate))?;
        let estimators = if subscription.segments { Some(Box::new(Estimators::new(start)?)) } else { None };
        Ok(Self {
            tick: subscription.tick.map_or(Instant::NEVER, |interval| start + interval),
            seen: Observation::new(initial_rate.unwrap_or(link.rate), start),
            level: 0,
            packets: 0,
            content: Bytes::ZERO,
            actions: VecDeque::with_capacity(MOST_ACTIONS),
            changes: 0,
            failure: None,
            subscriber,
            subscription,
            link,
            transition,
            start,
            estimators,
        })
    }

    /// The subscriber.
    #[must_use]
    pub fn subscriber(&self) -> &S {
        &self.subscriber
    }

    /// Carries out a decision that the subscriber did not give with its answer. Its time is the time of the last event.
    ///
    /// An impossible decision ends the plug-in, like an impossible answer.
    pub fn decide(&mut self, decision: Decision) {
        if self.failure.is_some() {
            return;
        }
        if let Err(error) = self.act(Some(decision), Reason::Tick) {
            self.fail(error);
        }
    }

    /// Observes a tick if it is due, and sets the next one.
    fn tick(&mut self, now: Instant, event: &LinkEvent) {
        let Some(interval) = self.subscription.tick else { return };
        if let LinkEvent::Timeout { queue } = *event {
            self.seen.queue = queue;
        }
        self.tick += interval;
        if self.tick <= now {
            let passed = (now - self.start).as_nanos() / interval.as_nanos();
            self.tick = self.start + interval.saturating_mul(passed) + interval;
        }
        self.observe(now, Reason::Tick);
    }

    /// Counts an event.
    fn count(&mut self, now: Instant, event: &LinkEvent) {
        let seen = &mut self.seen;
        match *event {
            LinkEvent::Arrival { size, admission, segment, .. } => {
                if let (Some(estimators), Some(segment)) = (&mut self.estimators, &segment) {
                    estimators.forward(now, segment);
                }
                // A driver that reads counters shows segments without size, next to arrivals without segments.
                if size > Bytes::ZERO {
                    seen.arrived.add(size);
                    match admission {
                        Admission::Accepted => {}
                        Admission::Marked => seen.marked.add(size),
                        Admission::Dropped => seen.dropped.add(size),
                    }
                    self.packets += u64::from(admission.is_accepted());
                }
            }
            LinkEvent::Departure { queue } => {
                // A packet enters service without an event when a pause ends, so its size is the difference.
                seen.departed.add(self.content.saturating_sub(content(queue)));
                self.packets = self.packets.saturating_sub(1);
            }
            LinkEvent::Managed { size, verdict: HeadVerdict::Dropped, .. } => {
                seen.dropped.add(size);
                self.packets = self.packets.saturating_sub(1);
                self.content = self.content.saturating_sub(size);
                return;
            }
            LinkEvent::Managed { size, verdict: HeadVerdict::Marked, .. } => return seen.marked.add(size),
            LinkEvent::Acknowledgement { segment, .. } => {
                if let Some(estimators) = &mut self.estimators {
                    estimators.round_trip.backward(now, &segment);
                }
                return;
            }
            LinkEvent::Timeout { .. } => {}
        }
        if let Some(queue) = event.queue() {
            self.content = content(queue);
            if self.content == Bytes::ZERO {
                self.packets = 0;
            }
        }
    }

    /// Observes the crossing of a threshold.
    fn cross(&mut self, now: Instant) {
        let thresholds = &self.subscription.thresholds;
        let level = thresholds.partition_point(|&threshold| threshold <= self.seen.queue.waiting);
        if level == self.level {
            return;
        }
        let reached = level > self.level;
        let length = thresholds[if reached { level - 1 } else { level }];
        self.level = level;
        self.observe(now, Reason::Threshold { length, reached });
    }

    /// Shows the observation to the subscriber, carries out its decision and begins the next observation.
    fn observe(&mut self, now: Instant, reason: Reason) {
        if self.failure.is_some() {
            return;
        }
        let seen = &mut self.seen;
        (seen.span, seen.now, seen.reason) = (now - seen.now, now, reason);
        seen.waiting_packets = self.packets.saturating_sub(u64::from(seen.queue.in_service > Bytes::ZERO));
        let possible = self.link.rate.as_f64() * seen.span.as_secs_f64();
        seen.utilisation = if possible > 0.0 { 8.0 * seen.departed.bytes.as_f64() / possible } else { 0.0 };
        if let Some(estimators) = &self.estimators {
            seen.round_trip = estimators.round_trip.measured();
            seen.flows = estimators.has_flows.then(|| estimators.flows.value());
        }
        let decision = self.subscriber.observe(seen).and_then(|decision| self.act(decision, reason));
        if let Err(error) = decision {
            self.fail(error);
        }
        let seen = &mut self.seen;
        [seen.arrived, seen.departed, seen.dropped, seen.marked] = [Amount::default(); 4];
    }

    /// Carries out a decision.
    fn act(&mut self, decision: Option<Decision>, reason: Reason) -> Result<(), ConfigError> {
        let Some(decision) = decision else { return Ok(()) };
        match decision {
            Decision::Rate(rate) => self.set_rate(rate, self.transition),
            Decision::Action(LinkAction::SetRate { rate, pause }) => self.set_rate(rate, pause),
            Decision::Action(LinkAction::SetWindow(window)) => {
                let Reason::Event(LinkEvent::Acknowledgement { window: advertised, .. }) = reason else {
                    let expected = "a window only in answer to an acknowledgement";
                    return Err(ConfigError::new("window", format!("{} B", window.as_u64()), expected));
                };
                if window < advertised {
                    self.actions.push_back(LinkAction::SetWindow(window));
                }
                Ok(())
            }
        }
    }

    fn set_rate(&mut self, rate: BitRate, pause: Duration) -> Result<(), ConfigError> {
        self.link.check_rate("rate", rate)?;
        if rate != self.seen.rate {
            self.seen.rate = rate;
            self.changes += 1;
            self.actions.push_back(LinkAction::SetRate { rate, pause });
        }
        Ok(())
    }

    /// Opens the link and gives up.
    #[cold]
    fn fail(&mut self, error: ConfigError) {
        self.failure = Some(Box::new(error));
        self.tick = Instant::NEVER;
        self.seen.rate = self.link.rate;
        self.actions.push_back(LinkAction::SetRate { rate: self.link.rate, pause: Duration::ZERO });
    }
}

/// Bytes in the backlog and in service.
fn content(queue: QueueView) -> Bytes {
    queue.waiting + queue.in_service
}

impl<S: Subscriber> Machine for Adapter<S> {
    type Event = LinkEvent;
    type Action = LinkAction;

    fn handle(&mut self, now: Instant, event: LinkEvent) {
        if self.tick <= now {
            self.tick(now, &event);
        }
        self.count(now, &event);
        if let Some(queue) = event.queue() {
            self.seen.queue = queue;
        }
        // A timeout is no event of the link: the driver may deliver any number of them.
        if matches!(event, LinkEvent::Timeout { .. }) {
            return;
        }
        if !self.subscription.thresholds.is_empty() {
            self.cross(now);
        }
        if self.subscription.every_event {
            self.observe(now, Reason::Event(event));
        }
    }

    #[inline]
    fn poll_action(&mut self) -> Option<LinkAction> {
        self.actions.pop_front()
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        (self.tick != Instant::NEVER).then_some(self.tick)
    }
}

impl<S: Subscriber> link::Controller for Adapter<S> {
    fn rate(&self) -> BitRate {
        self.seen.rate
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn reads_segments(&self) -> bool {
        self.estimators.is_some()
    }

    fn estimates(&self) -> Estimates {
        let round_trip = self.estimators.as_ref().and_then(|estimators| estimators.round_trip.measured());
        Estimates { windows: None, round_trip }
    }

    fn fault(&self) -> Option<&ConfigError> {
        self.failure.as_deref()
    }
}
