//! The gateway as one machine: AWM, C-EARTH or both, with their estimators (g-router section 2).

use super::{
    Awm, AwmConfig, CEarth, CEarthConfig, FlowCount, FlowCountConfig, GatewayAction, GatewayEvent, RoundTrip,
    RoundTripConfig, SegmentView,
};
use crate::rate::{QueueCount, QueueView};
use crate::{ConfigError, Machine};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde::{Deserialize, Serialize};

/// What a gateway consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatewayConfig {
    /// AWM, which also has the target of C-EARTH.
    pub awm: AwmConfig,
    /// Whether AWM steers: without, windows pass as they are, and C-EARTH is alone.
    pub steers: bool,
    /// C-EARTH; `None`: the link keeps its rate.
    pub c_earth: Option<CEarthConfig>,
    /// N.
    pub flows: FlowCountConfig,
    /// RTT; only C-EARTH needs it.
    pub round_trip: RoundTripConfig,
    /// What q counts. Default [`QueueCount::Waiting`] (reading).
    pub queue: QueueCount,
    /// The link's rate at the start, in bit/s, where C-EARTH does not choose it.
    pub link_rate: BitRate,
}

/// The G-Router: AWM and C-EARTH, or either alone. Its rate is C, its window swnd.
#[derive(Clone, Debug)]
pub struct Gateway {
    awm: Awm,
    steers: bool,
    c_earth: Option<CEarth>,
    flows: FlowCount,
    round_trip: RoundTrip,
    count: QueueCount,
    /// q in bytes, as of the last event.
    queue: f64,
    rate: BitRate,
    changes: u64,
    /// What the last event asks for: an acknowledgement another window, any other event another rate.
    action: Option<GatewayAction>,
}

impl Gateway {
    /// A gateway before an empty queue.
    ///
    /// # Errors
    /// If a value of `config` is out of range or contradicts another.
    pub fn new(config: &GatewayConfig, start: Instant) -> Result<Self, ConfigError> {
        let c_earth = config.c_earth.as_ref().map(CEarth::new).transpose()?;
        let rate = c_earth.as_ref().map_or(config.link_rate, CEarth::rate);
        if rate.is_zero() {
            return Err(ConfigError::new("link_rate", rate, "a rate above zero"));
        }
        let mut gateway = Self {
            awm: Awm::new(&config.awm, start)?,
            steers: config.steers,
            c_earth,
            flows: FlowCount::new(&config.flows, start)?,
            round_trip: RoundTrip::new(&config.round_trip)?,
            count: config.queue,
            queue: 0.0,
            rate,
            changes: 0,
            action: None,
        };
        gateway.round_trip.update(gateway.flows.value(), gateway.awm.window(), rate.as_f64());
        Ok(gateway)
    }

    /// C in bit/s.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// swnd in bytes.
    #[must_use]
    pub fn window(&self) -> f64 {
        self.awm.window()
    }

    /// Whether swnd is at its floor: with more flows nothing is controlled any more.
    #[must_use]
    pub fn is_at_floor(&self) -> bool {
        self.awm.is_at_floor()
    }

    /// N.
    #[must_use]
    pub fn flows(&self) -> f64 {
        self.flows.value()
    }

    /// RTT.
    #[must_use]
    pub fn round_trip(&self) -> Duration {
        self.round_trip.value()
    }

    /// Whether windows are steered: C-EARTH alone has neither swnd nor N.
    #[must_use]
    pub fn steers(&self) -> bool {
        self.steers
    }

    /// Whether anything is made of RTT: AWM alone needs none, and has no estimate of it.
    #[must_use]
    pub fn needs_round_trip(&self) -> bool {
        self.c_earth.is_some()
    }

    /// How many rate changes there have been.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    #[inline]
    fn see(&mut self, queue: QueueView) {
        let bytes = match self.count {
            QueueCount::Waiting => queue.waiting,
            QueueCount::WaitingAndInService => queue.waiting + queue.in_service,
        };
        self.queue = bytes.as_f64();
    }

    /// Event k, in the order of the paper's indices: RTT_k from what was at k - 1 (7), C_k (4), beta_k, swnd_k (1), N_k (5).
    #[inline(always)]
    fn update(&mut self, now: Instant) {
        let (flows, window, rate) = (self.flows.value(), self.awm.window(), self.rate);
        self.round_trip.update(flows, window, rate.as_f64());
        if let Some(c_earth) = &mut self.c_earth
            && c_earth.update(now, self.queue, self.awm.target(), self.round_trip.value())
        {
            self.follow_c_earth();
        }
        self.awm.update(now, self.queue, flows);
        self.flows.update((window, self.awm.window()), (rate.as_f64(), self.rate.as_f64()));
    }

    /// C_k has been computed, and may be C_{k-1} again.
    fn follow_c_earth(&mut self) {
        let Some(c_earth) = &self.c_earth else { return };
        let (next, pause) = (c_earth.rate(), c_earth.transition());
        if next != self.rate {
            self.awm.rescale(self.rate, next);
            self.rate = next;
            self.changes += 1;
            self.action = Some(GatewayAction::SetRate { rate: next, pause });
        }
    }

    #[inline(always)]
    fn forward(&mut self, now: Instant, segment: &SegmentView) {
        // Acknowledgements on their way to a sender load nobody's window.
        if segment.data {
            self.flows.saw(now, segment.flow);
        }
        self.round_trip.forward(now, segment);
    }

    #[inline(always)]
    fn rewrite(&mut self, now: Instant, segment: &SegmentView, window: Bytes) {
        self.round_trip.backward(now, segment);
        if self.steers {
            self.action = self.awm.instead_of(window).map(GatewayAction::SetWindow);
        }
    }
}

impl Machine for Gateway {
    type Event = GatewayEvent;
    type Action = GatewayAction;

    #[inline(always)]
    fn handle(&mut self, now: Instant, event: GatewayEvent) {
        let queue = match event {
            GatewayEvent::Acknowledgement { segment, window } => return self.rewrite(now, &segment, window),
            GatewayEvent::Arrival { queue, segment, .. } => {
                if let Some(segment) = &segment {
                    self.forward(now, segment);
                }
                queue
            }
            GatewayEvent::Departure { queue } | GatewayEvent::Timeout { queue } => queue,
        };
        self.see(queue);
        self.update(now);
    }

    #[inline]
    fn poll_action(&mut self) -> Option<GatewayAction> {
        self.action.take()
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        self.c_earth.as_ref().and_then(|c_earth| c_earth.next_timeout(self.queue))
    }
}
