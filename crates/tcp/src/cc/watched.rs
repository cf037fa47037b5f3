//! A custom congestion control whose answers are checked.

use super::{
    Ack, CongestionControl, CongestionControlFactory, Delivery, ForeignControl, Idle, Loss, Recovered, Start,
    TimeoutKind, Transmission,
};
use crate::config::Config;
use crate::delivery::{DeliveryRate, LostSegment};
use netlull_document::ConfigError;
use netlull_units::{BitRate, Instant};

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
    control: Box<dyn ForeignControl>,
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
}
