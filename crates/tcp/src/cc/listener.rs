//! A congestion control as a listener: every event reaches it through one method. Plug-ins are listeners.
//! The answers of a custom congestion control are checked.

use super::{
    Ack, CongestionControl, CongestionControlFactory, Delivery, Idle, Loss, PlugInControl, Recovered, Spurious, Start,
    TimeoutKind, Transmission, Variable,
};
use crate::config::Config;
use crate::delivery::{DeliveryRate, LostSegment};
use netlull_document::ConfigError;
use netlull_units::{BitRate, Instant};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema as schema};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// An event of a TCP endpoint: a call of a method of [`CongestionControl`], with its arguments.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ControlEvent {
    /// The start of data transmission.
    OnEstablished(Start),
    /// An acknowledgement of new data.
    OnAck(Ack),
    /// An acknowledgement that does not advance SND.UNA.
    OnDuplicateAck(Ack),
    /// A loss detected by duplicate acknowledgements, SACK or RACK: fast recovery begins.
    OnLoss(Loss),
    /// A loss as `on_loss`, from a recovery that knows the last transmission of the lost segment.
    OnSegmentLost {
        /// The loss.
        loss: Loss,
        /// The last transmission of the segment.
        sent: Transmission,
    },
    /// An ECN echo that asks for a reduction, once per window of data.
    OnCongestionEcho(Loss),
    /// An expiration of the retransmission timer.
    OnTimeout {
        /// The data in flight and the window.
        loss: Loss,
        /// Earlier retransmissions of the segment by the timer.
        kind: TimeoutKind,
    },
    /// The end of fast recovery.
    OnRecovered(Recovered),
    /// The proof that a recovery was needless.
    OnSpurious(Spurious),
    /// Data after a pause of more than an RTO.
    OnIdleRestart(Idle),
    /// The transmission of new data with nothing in flight, after a pause of any length.
    OnFlight(Idle),
    /// A sample of the delivery rate, as the last event of an acknowledgement. Only for a listener that wants deliveries.
    OnDelivery(Delivery),
    /// A segment marked as lost. Only for a listener that wants deliveries.
    OnMarkedLost {
        /// Now.
        now: Instant,
        /// The segment.
        lost: LostSegment,
    },
    /// A transmission with nothing in flight. Only for a listener that wants deliveries.
    OnRestart {
        /// Now.
        now: Instant,
    },
}

impl ControlEvent {
    /// The name of the method of [`CongestionControl`].
    #[must_use]
    pub const fn method(&self) -> &'static str {
        match self {
            Self::OnEstablished(_) => "on_established",
            Self::OnAck(_) => "on_ack",
            Self::OnDuplicateAck(_) => "on_duplicate_ack",
            Self::OnLoss(_) => "on_loss",
            Self::OnSegmentLost { .. } => "on_segment_lost",
            Self::OnCongestionEcho(_) => "on_congestion_echo",
            Self::OnTimeout { .. } => "on_timeout",
            Self::OnRecovered(_) => "on_recovered",
            Self::OnSpurious(_) => "on_spurious",
            Self::OnIdleRestart(_) => "on_idle_restart",
            Self::OnFlight(_) => "on_flight",
            Self::OnDelivery(_) => "on_delivery",
            Self::OnMarkedLost { .. } => "on_marked_lost",
            Self::OnRestart { .. } => "on_restart",
        }
    }
}

/// An answer to an event. A value that is `None` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// The congestion window in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd: Option<u64>,
    /// The slow-start threshold in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<u64>,
    /// The pacing rate. Without any, only the window limits transmission. For a listener that wants deliveries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_rate: Option<BitRate>,
}

/// A congestion control that gets every event through one method.
pub trait Listener: Debug + Send + Sync {
    /// Answers an event.
    ///
    /// # Errors
    /// If the algorithm cannot go on. It is not called again.
    fn hear(&mut self, event: &ControlEvent) -> Result<Answer, ConfigError>;

    /// True if the endpoint must record deliveries and losses, and pace its transmissions.
    fn wants_deliveries(&self) -> bool {
        false
    }

    /// Reports its variables to an observer.
    ///
    /// # Errors
    /// If the report fails. It ends the run.
    fn variables(&self, _each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        Ok(())
    }

    /// True if its window also holds in recovery.
    fn owns_window(&self) -> bool {
        false
    }

    /// Takes the seed of random decisions, before the first event.
    fn reseed(&mut self, _seed: u32) {}
}

/// The congestion control of a listener. Its window is the initial window until the first answer.
#[derive(Clone, Debug)]
pub struct Heard<L> {
    listener: L,
    cwnd: u64,
    ssthresh: u64,
    pacing_rate: Option<BitRate>,
    smss: u64,
    failure: Option<Box<ConfigError>>,
}

impl<L: Listener> Heard<L> {
    /// The congestion control of a connection before its handshake.
    pub fn new(listener: L, config: &Config) -> Self {
        let smss = u64::from(config.mss);
        Self { listener, cwnd: smss, ssthresh: u64::MAX, pacing_rate: None, smss, failure: None }
    }

    fn tell(&mut self, event: ControlEvent) {
        if self.failure.is_some() {
            return;
        }
        match self.listener.hear(&event) {
            Ok(Answer { cwnd, ssthresh, pacing_rate }) => {
                self.cwnd = cwnd.unwrap_or(self.cwnd);
                self.ssthresh = ssthresh.unwrap_or(self.ssthresh);
                self.pacing_rate = pacing_rate.or(self.pacing_rate);
            }
            Err(error) => self.failure = Some(Box::new(error)),
        }
    }
}

impl<L: Listener> CongestionControl for Heard<L> {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn reseed(&mut self, seed: u32) {
        self.listener.reseed(seed);
    }

    fn on_established(&mut self, start: &Start) {
        (self.cwnd, self.smss) = (start.initial_window, u64::from(start.smss));
        self.tell(ControlEvent::OnEstablished(*start));
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.tell(ControlEvent::OnAck(*ack));
    }

    fn on_duplicate_ack(&mut self, ack: &Ack) {
        self.tell(ControlEvent::OnDuplicateAck(*ack));
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.tell(ControlEvent::OnLoss(*loss));
    }

    fn on_segment_lost(&mut self, loss: &Loss, sent: &Transmission) {
        self.tell(ControlEvent::OnSegmentLost { loss: *loss, sent: *sent });
    }

    fn on_congestion_echo(&mut self, loss: &Loss) {
        self.tell(ControlEvent::OnCongestionEcho(*loss));
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        self.tell(ControlEvent::OnTimeout { loss: *loss, kind });
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.tell(ControlEvent::OnRecovered(*recovered));
    }

    fn on_spurious(&mut self, spurious: &Spurious) {
        self.tell(ControlEvent::OnSpurious(*spurious));
    }

    fn on_idle_restart(&mut self, idle: &Idle) {
        self.tell(ControlEvent::OnIdleRestart(*idle));
    }

    fn on_flight(&mut self, idle: &Idle) {
        self.tell(ControlEvent::OnFlight(*idle));
    }

    fn wants_deliveries(&self) -> bool {
        self.listener.wants_deliveries()
    }

    fn on_delivery(&mut self, delivery: &Delivery, _rate: &mut DeliveryRate) {
        self.tell(ControlEvent::OnDelivery(*delivery));
    }

    fn on_marked_lost(&mut self, now: Instant, lost: &LostSegment, _rate: &DeliveryRate) {
        self.tell(ControlEvent::OnMarkedLost { now, lost: *lost });
    }

    fn on_restart(&mut self, now: Instant, _rate: &DeliveryRate) {
        self.tell(ControlEvent::OnRestart { now });
    }

    fn failure(&self) -> Option<&ConfigError> {
        self.failure.as_deref()
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.pacing_rate
    }

    fn send_quantum(&self) -> u64 {
        2 * self.smss
    }

    fn variables(&self, each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        self.listener.variables(each)
    }

    fn owns_window(&self) -> bool {
        self.listener.owns_window()
    }
}

/// The JSON Schema of the events and answers of congestion controls.
#[must_use]
pub fn json_schema() -> Schema {
    let mut generator = SchemaGenerator::default();
    let roots = [generator.subschema_for::<ControlEvent>(), generator.subschema_for::<Answer>()];
    schema!({ "anyOf": roots, "$defs": generator.take_definitions(true) })
}

/// The first answer of a congestion control that stops its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The time of the event that led to the answer.
    pub at: Instant,
    /// The answer, and the expectation.
    pub error: ConfigError,
}

/// A custom congestion control, and its first fault.
#[derive(Clone, Debug)]
pub struct Watched {
    control: Box<dyn PlugInControl>,
    fault: Option<Fault>,
}

impl Watched {
    /// The congestion control of a factory.
    pub(super) fn new(factory: &dyn CongestionControlFactory, config: &Config, seed: u32) -> Self {
        Self { control: factory.build(config, seed), fault: None }
    }

    /// Its first fault.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Checks the answers after an event.
    fn check(&mut self, at: Instant) {
        if self.fault.is_some() {
            return;
        }
        let error = if let Some(failure) = self.control.failure() {
            failure.clone()
        } else if self.control.cwnd() == 0 {
            ConfigError::new("cwnd", "0 B", "more than 0 B")
        } else if let Some(rate) = self.control.pacing_rate().filter(|rate| rate.is_zero()) {
            ConfigError::new("pacing_rate", rate, "more than 0 b/s")
        } else {
            return;
        };
        self.fault = Some(Fault { at, error });
    }
}

/// Passes events on and checks the answers after each. The expression is the time of the event.
macro_rules! watched_events {
    ($($event:ident($($argument:ident: $type:ty),*) at $now:expr;)*) => {
        $(fn $event(&mut self, $($argument: $type),*) {
            self.control.$event($($argument),*);
            self.check($now);
        })*
    };
}

impl CongestionControl for Watched {
    watched_events! {
        on_established(start: &Start) at start.now;
        on_ack(ack: &Ack) at ack.now;
        on_duplicate_ack(ack: &Ack) at ack.now;
        on_loss(loss: &Loss) at loss.now;
        on_segment_lost(loss: &Loss, sent: &Transmission) at loss.now;
        on_congestion_echo(loss: &Loss) at loss.now;
        on_timeout(loss: &Loss, kind: TimeoutKind) at loss.now;
        on_recovered(recovered: &Recovered) at recovered.now;
        on_spurious(spurious: &Spurious) at spurious.now;
        on_idle_restart(idle: &Idle) at idle.now;
        on_flight(idle: &Idle) at idle.now;
        on_delivery(delivery: &Delivery, rate: &mut DeliveryRate) at delivery.now;
        on_marked_lost(now: Instant, lost: &LostSegment, rate: &DeliveryRate) at now;
        on_restart(now: Instant, rate: &DeliveryRate) at now;
    }

    fn reseed(&mut self, seed: u32) {
        self.control.reseed(seed);
    }

    fn cwnd(&self) -> u64 {
        self.control.cwnd()
    }

    fn ssthresh(&self) -> u64 {
        self.control.ssthresh()
    }

    fn wants_deliveries(&self) -> bool {
        self.control.wants_deliveries()
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.control.pacing_rate()
    }

    fn send_quantum(&self) -> u64 {
        self.control.send_quantum()
    }

    fn failure(&self) -> Option<&ConfigError> {
        self.control.failure()
    }

    fn owns_window(&self) -> bool {
        self.control.owns_window()
    }

    fn variables(&self, each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        self.control.variables(each)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Answers each event with the number of events so far as the window, and fails at the given event.
    #[derive(Clone, Debug)]
    struct Counting {
        heard: u64,
        fails_at: u64,
    }

    impl Listener for Counting {
        fn hear(&mut self, _event: &ControlEvent) -> Result<Answer, ConfigError> {
            self.heard += 1;
            if self.heard == self.fails_at {
                return Err(ConfigError::new("on_loss", "broken", "an answer"));
            }
            Ok(Answer { cwnd: Some(self.heard * 1000), ..Answer::default() })
        }
    }

    fn loss() -> Loss {
        Loss { now: Instant::ZERO, flight: 5000, window: 9000, nxt: 9000 }
    }

    #[test]
    fn every_event_of_the_trait_is_an_event_of_a_listener() {
        let methods = include_str!("control.rs").lines().filter_map(|line| line.trim().strip_prefix("fn on_"));
        let methods: Vec<_> = methods.map(|rest| format!("on_{}", rest.split('(').next().unwrap())).collect();
        let schema = serde_json::to_value(json_schema()).unwrap();
        let events: Vec<_> = schema["$defs"]["ControlEvent"]["oneOf"].as_array().unwrap().iter().collect();
        let events: Vec<_> = events.iter().map(|event| event["required"][0].as_str().unwrap()).collect();
        assert_eq!(events, methods);
    }

    #[test]
    fn answers_set_the_window_until_a_failure() {
        let mut heard = Heard::new(Counting { heard: 0, fails_at: 3 }, &Config::default());
        let start = Start { now: Instant::ZERO, smss: 1000, initial_window: 4000, rtt: None };
        heard.on_established(&start);
        assert_eq!((heard.cwnd(), heard.ssthresh(), heard.pacing_rate()), (1000, u64::MAX, None));
        heard.on_congestion_echo(&loss());
        assert_eq!((heard.cwnd(), heard.failure()), (2000, None));
        heard.on_loss(&loss());
        heard.on_loss(&loss());
        assert_eq!((heard.cwnd(), heard.failure().unwrap().field.as_str()), (2000, "on_loss"));
    }
}
