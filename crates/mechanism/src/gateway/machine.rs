//! The gateway as one machine: AWM, C-EARTH or both, with their estimators (g-router section 2); or AWM with EARTH.

use super::awm::Awm;
use super::c_earth::CEarth;
use super::config::{AwmConfig, AwmEarthConfig, CEarthConfig, GRouterConfig, HeldQueue, RateRule, WindowRule};
use super::flow_count::FlowCount;
use super::round_trip::{RoundTrip, RoundTripConfig};
use crate::link::{Estimates, LinkAction, LinkConfig, LinkContext, LinkController, LinkEvent, WindowEstimates};
use crate::rate::Earth;
use crate::view::{QueueCount, SegmentView};
use crate::{ConfigError, Machine};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// The G-Router: AWM and C-EARTH, or one of them alone, or AWM and EARTH. Its rate is C, its window swnd.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// The queue target T in bytes.
    target: f64,
    count: QueueCount,
    windows: Option<Windows>,
    rating: Rating,
    /// The queue q in bytes at the last event.
    queue: f64,
    rate: BitRate,
    changes: u64,
    /// The request of the last event: a new window after an acknowledgement, a new rate after any other event.
    action: Option<LinkAction>,
}

/// AWM and its estimate of N.
#[derive(Clone, Debug)]
struct Windows {
    awm: Awm,
    flows: FlowCount,
}

/// The rule for C.
#[derive(Clone, Debug)]
enum Rating {
    /// The link's rate.
    Fixed,
    /// C-EARTH and its estimate of RTT.
    Follows { c_earth: CEarth, round_trip: RoundTrip },
    /// EARTH, which needs no estimate.
    Steps(Earth),
}

impl Rating {
    /// Creates C-EARTH on an empty queue.
    fn follows(rule: &RateRule, link: LinkContext) -> Result<Self, ConfigError> {
        Ok(Self::Follows { c_earth: CEarth::new(rule, link.rate)?, round_trip: RoundTrip::new(&rule.round_trip)? })
    }
}

impl Gateway {
    /// Creates a gateway with an empty queue.
    fn new(
        held: HeldQueue,
        windows: Option<&WindowRule>,
        rating: Rating,
        link: LinkContext,
        start: Instant,
    ) -> Result<Self, ConfigError> {
        let target = held.bytes(link.mtu)?;
        if link.rate.is_zero() {
            return Err(ConfigError::new("rate", link.rate, "a rate above zero"));
        }
        let windows = windows.map(|rule| -> Result<Windows, ConfigError> {
            let awm = Awm::new(target, rule, link.mtu, start)?;
            Ok(Windows { awm, flows: FlowCount::new(&rule.flows, start)? })
        });
        let windows = windows.transpose()?;
        let rate = match &rating {
            Rating::Fixed => link.rate,
            Rating::Follows { c_earth, .. } => c_earth.rate(),
            Rating::Steps(earth) => earth.rate(),
        };
        let mut gateway = Self {
            target: target.as_f64(),
            count: held.queue,
            windows,
            rating,
            queue: 0.0,
            rate,
            changes: 0,
            action: None,
        };
        gateway.update_round_trip();
        Ok(gateway)
    }

    /// Computes RTT_k from the values of event k - 1 if equation (7) is the source of RTT.
    #[inline(always)]
    fn update_round_trip(&mut self) {
        if let (Rating::Follows { round_trip, .. }, Some(windows)) = (&mut self.rating, &self.windows) {
            round_trip.update(windows.flows.value(), windows.awm.window(), self.rate.as_f64());
        }
    }

    /// Event k, in the order of the paper's indices: RTT_k from event k - 1 (7), C_k (4), beta_k, swnd_k (1), N_k
    /// (5).
    #[inline(always)]
    fn update(&mut self, now: Instant, queue: Bytes) {
        self.queue = queue.as_f64();
        self.update_round_trip();
        let before = self.rate;
        match &mut self.rating {
            Rating::Fixed => {}
            Rating::Follows { c_earth, round_trip } => {
                if c_earth.update(now, self.queue, self.target, round_trip.value()) {
                    let (next, pause) = (c_earth.rate(), c_earth.transition());
                    self.follow(next, pause);
                }
            }
            Rating::Steps(earth) => {
                if earth.update(now, queue) {
                    let (next, pause) = (earth.rate(), earth.transition());
                    self.follow(next, pause);
                }
            }
        }
        if let Some(Windows { awm, flows }) = &mut self.windows {
            let window = awm.window();
            awm.update(now, self.queue, flows.value());
            flows.update((window, awm.window()), (before.as_f64(), self.rate.as_f64()));
        }
    }

    /// Applies C_k, which may equal C_{k-1}.
    fn follow(&mut self, next: BitRate, pause: Duration) {
        if next != self.rate {
            if let Some(Windows { awm, .. }) = &mut self.windows {
                awm.rescale(self.rate, next);
            }
            self.rate = next;
            self.changes += 1;
            self.action = Some(LinkAction::SetRate { rate: next, pause });
        }
    }

    #[inline(always)]
    fn forward(&mut self, now: Instant, segment: &SegmentView) {
        // Bare acknowledgements on their way to a sender do not count as load of a flow.
        if segment.data
            && let Some(Windows { flows, .. }) = &mut self.windows
        {
            flows.saw(now, segment.flow);
        }
        if let Rating::Follows { round_trip, .. } = &mut self.rating {
            round_trip.forward(now, segment);
        }
    }

    #[inline(always)]
    fn rewrite(&mut self, now: Instant, segment: &SegmentView, window: Bytes) {
        if let Rating::Follows { round_trip, .. } = &mut self.rating {
            round_trip.backward(now, segment);
        }
        if let Some(Windows { awm, .. }) = &self.windows {
            self.action = awm.instead_of(window).map(LinkAction::SetWindow);
        }
    }
}

impl Machine for Gateway {
    type Event = LinkEvent;
    type Action = LinkAction;

    #[inline(always)]
    fn handle(&mut self, now: Instant, event: LinkEvent) {
        let queue = match event {
            LinkEvent::Acknowledgement { segment, window } => return self.rewrite(now, &segment, window),
            LinkEvent::Arrival { queue, segment, .. } => {
                if let Some(segment) = &segment {
                    self.forward(now, segment);
                }
                queue
            }
            LinkEvent::Departure { queue } | LinkEvent::Timeout { queue } => queue,
        };
        self.update(now, self.count.of(queue));
    }

    #[inline]
    fn poll_action(&mut self) -> Option<LinkAction> {
        self.action.take()
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        match &self.rating {
            Rating::Fixed => None,
            Rating::Follows { c_earth, .. } => c_earth.next_timeout(self.queue),
            Rating::Steps(earth) => earth.next_timeout(),
        }
    }
}

impl LinkController for Gateway {
    fn rate(&self) -> BitRate {
        self.rate
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn reads_segments(&self) -> bool {
        true
    }

    #[inline(always)]
    fn estimates(&self) -> Estimates {
        Estimates {
            windows: self.windows.as_ref().map(|Windows { awm, flows }| WindowEstimates {
                window: awm.window(),
                is_at_floor: awm.is_at_floor(),
                flows: flows.value(),
            }),
            round_trip: match &self.rating {
                Rating::Follows { round_trip, .. } => Some(round_trip.value()),
                Rating::Fixed | Rating::Steps(_) => None,
            },
        }
    }
}

impl LinkConfig for AwmConfig {
    type Machine = Gateway;
    const CHANGES_RATE: bool = false;
    const READS_SEGMENTS: bool = true;

    fn check(&self, link: LinkContext) -> Result<(), ConfigError> {
        self.held.bytes(link.mtu)?;
        self.windows.check(link.mtu)
    }

    fn build(&self, link: LinkContext, start: Instant) -> Result<Gateway, ConfigError> {
        Gateway::new(self.held, Some(&self.windows), Rating::Fixed, link, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        None
    }

    fn initial_rate(&self) -> Option<BitRate> {
        None
    }
}

impl LinkConfig for CEarthConfig {
    type Machine = Gateway;
    const READS_SEGMENTS: bool = true;

    fn check(&self, link: LinkContext) -> Result<(), ConfigError> {
        if matches!(self.rate.round_trip, RoundTripConfig::Printed(_)) {
            let expected = "fixed, handshake or timestamps: equation (7) needs AWM's window";
            return Err(ConfigError::new("round_trip.kind", "\"printed\"", expected));
        }
        self.held.bytes(link.mtu)?;
        self.rate.check(link.rate)
    }

    fn build(&self, link: LinkContext, start: Instant) -> Result<Gateway, ConfigError> {
        self.check(link)?;
        Gateway::new(self.held, None, Rating::follows(&self.rate, link)?, link, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        Some(("min_rate", self.rate.min_rate))
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.rate.initial_rate
    }
}

impl AwmEarthConfig {
    /// The target, with EARTH's count of packets.
    fn held(&self) -> HeldQueue {
        HeldQueue { target: self.aim.target, queue: self.earth.queue }
    }
}

impl LinkConfig for AwmEarthConfig {
    type Machine = Gateway;
    const READS_SEGMENTS: bool = true;

    fn check(&self, link: LinkContext) -> Result<(), ConfigError> {
        self.held().bytes(link.mtu)?;
        self.windows.check(link.mtu)?;
        self.earth.check(link)
    }

    fn build(&self, link: LinkContext, start: Instant) -> Result<Gateway, ConfigError> {
        let earth = self.earth.build(link, start)?;
        Gateway::new(self.held(), Some(&self.windows), Rating::Steps(earth), link, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        self.earth.lowest_rate()
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.earth.initial_rate
    }
}

impl LinkConfig for GRouterConfig {
    type Machine = Gateway;
    const READS_SEGMENTS: bool = true;

    fn check(&self, link: LinkContext) -> Result<(), ConfigError> {
        self.held.bytes(link.mtu)?;
        self.windows.check(link.mtu)?;
        self.rate.check(link.rate)
    }

    fn build(&self, link: LinkContext, start: Instant) -> Result<Gateway, ConfigError> {
        self.check(link)?;
        Gateway::new(self.held, Some(&self.windows), Rating::follows(&self.rate, link)?, link, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        Some(("min_rate", self.rate.min_rate))
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.rate.initial_rate
    }
}
