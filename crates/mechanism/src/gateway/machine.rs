//! The gateway as one machine: AWM, C-EARTH or both, with their estimators (g-router section 2).

use super::awm::Awm;
use super::c_earth::CEarth;
use super::config::{AwmConfig, CEarthConfig, GRouterConfig, HeldQueue, RateRule, WindowRule};
use super::flow_count::FlowCount;
use super::round_trip::{RoundTrip, RoundTripConfig};
use crate::link::{Estimates, LinkAction, LinkConfig, LinkContext, LinkController, LinkEvent, WindowEstimates};
use crate::view::{QueueCount, SegmentView};
use crate::{ConfigError, Machine};
use netlull_units::{BitRate, Bytes, Instant};

/// The G-Router: AWM and C-EARTH, or one of them alone. Its rate is C, its window swnd.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// The queue target T in bytes.
    target: f64,
    count: QueueCount,
    windows: Option<Windows>,
    following: Option<Following>,
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

/// C-EARTH and its estimate of RTT.
#[derive(Clone, Debug)]
struct Following {
    c_earth: CEarth,
    round_trip: RoundTrip,
}

impl Gateway {
    /// Creates a gateway with an empty queue.
    fn new(
        held: HeldQueue,
        windows: Option<&WindowRule>,
        rate: Option<&RateRule>,
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
        let following = rate.map(|rule| -> Result<Following, ConfigError> {
            let c_earth = CEarth::new(rule, link.rate)?;
            Ok(Following { c_earth, round_trip: RoundTrip::new(&rule.round_trip)? })
        });
        let (windows, following) = (windows.transpose()?, following.transpose()?);
        let rate = following.as_ref().map_or(link.rate, |following| following.c_earth.rate());
        let mut gateway = Self {
            target: target.as_f64(),
            count: held.queue,
            windows,
            following,
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
        if let (Some(following), Some(windows)) = (&mut self.following, &self.windows) {
            following.round_trip.update(windows.flows.value(), windows.awm.window(), self.rate.as_f64());
        }
    }

    /// Event k, in the order of the paper's indices: RTT_k from event k - 1 (7), C_k (4), beta_k, swnd_k (1), N_k
    /// (5).
    #[inline(always)]
    fn update(&mut self, now: Instant) {
        self.update_round_trip();
        let before = self.rate;
        if let Some(following) = &mut self.following
            && following.c_earth.update(now, self.queue, self.target, following.round_trip.value())
        {
            self.follow_c_earth();
        }
        if let Some(Windows { awm, flows }) = &mut self.windows {
            let window = awm.window();
            awm.update(now, self.queue, flows.value());
            flows.update((window, awm.window()), (before.as_f64(), self.rate.as_f64()));
        }
    }

    /// Applies C_k, which may equal C_{k-1}.
    fn follow_c_earth(&mut self) {
        let Some(Following { c_earth, .. }) = &self.following else { return };
        let (next, pause) = (c_earth.rate(), c_earth.transition());
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
        if let Some(Following { round_trip, .. }) = &mut self.following {
            round_trip.forward(now, segment);
        }
    }

    #[inline(always)]
    fn rewrite(&mut self, now: Instant, segment: &SegmentView, window: Bytes) {
        if let Some(Following { round_trip, .. }) = &mut self.following {
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
        self.queue = self.count.of(queue).as_f64();
        self.update(now);
    }

    #[inline]
    fn poll_action(&mut self) -> Option<LinkAction> {
        self.action.take()
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        self.following.as_ref().and_then(|following| following.c_earth.next_timeout(self.queue))
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
            round_trip: self.following.as_ref().map(|following| following.round_trip.value()),
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
        Gateway::new(self.held, Some(&self.windows), None, link, start)
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
        Gateway::new(self.held, None, Some(&self.rate), link, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        Some(("min_rate", self.rate.min_rate))
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.rate.initial_rate
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
        Gateway::new(self.held, Some(&self.windows), Some(&self.rate), link, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        Some(("min_rate", self.rate.min_rate))
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.rate.initial_rate
    }
}
