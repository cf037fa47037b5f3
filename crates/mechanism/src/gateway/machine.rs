//! The gateway as one machine: AWM, C-EARTH or both, with their estimators (g-router section 2); or AWM with EARTH.

use super::awm::Awm;
use super::c_earth::CEarth;
use super::config::{AwmConfig, AwmEarthConfig, CEarthConfig, GRouterConfig, HeldQueue, RateRule, WindowRule};
use super::flow_count::FlowCount;
use super::round_trip::{RoundTrip, RoundTripConfig};
use crate::link::{self, Controller as _, Estimates, LinkAction, LinkEvent, NeededQueue, WindowEstimates};
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
    fn follows(rule: &RateRule, link: link::Context) -> Result<Self, ConfigError> {
        Ok(Self::Follows { c_earth: CEarth::new(rule, link.rate)?, round_trip: RoundTrip::new(&rule.round_trip)? })
    }
}

// Without the forced inlines of gateways, practRA and `Machine`: AWM +2.3 %, practRA +2.2 %.
impl Gateway {
    /// Creates a gateway with an empty queue. `rating` comes last: errors name the queue and the windows before the rate.
    fn new(
        held: HeldQueue,
        windows: Option<&WindowRule>,
        rating: impl FnOnce() -> Result<Rating, ConfigError>,
        link: link::Context,
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
        let rating = rating()?;
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
            LinkEvent::Managed { .. } => return,
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

impl link::Controller for Gateway {
    fn rate(&self) -> BitRate {
        self.rate
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn reads_segments(&self) -> bool {
        true
    }

    #[inline]
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

impl link::Parameters for AwmConfig {
    type Machine = Gateway;
    const CHANGES_RATE: bool = false;
    const READS_SEGMENTS: bool = true;

    fn build(&self, link: link::Context, start: Instant) -> Result<Gateway, ConfigError> {
        Gateway::new(self.held, Some(&self.windows), || Ok(Rating::Fixed), link, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        None
    }

    fn initial_rate(&self) -> Option<BitRate> {
        None
    }

    fn needed_queue(&self, link: link::Context) -> Option<NeededQueue> {
        Some(self.held.needed(link.mtu))
    }
}

impl link::Parameters for CEarthConfig {
    type Machine = Gateway;
    const READS_SEGMENTS: bool = true;

    fn build(&self, link: link::Context, start: Instant) -> Result<Gateway, ConfigError> {
        if matches!(self.rate.round_trip, RoundTripConfig::Printed(_)) {
            let expected = "fixed, handshake or timestamps: equation (7) needs AWM's window";
            return Err(ConfigError::new("round_trip.kind", "\"printed\"", expected));
        }
        Gateway::new(self.held, None, || Rating::follows(&self.rate, link), link, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        Some(("min_rate", self.rate.min_rate))
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.rate.initial_rate
    }

    fn needed_queue(&self, link: link::Context) -> Option<NeededQueue> {
        let target = self.held.target.bytes(link.mtu).as_f64();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let queue = Bytes::new((self.rate.gamma * target) as u64);
        Some(NeededQueue { field: "target", queue, otherwise: "the rate stays too low".to_owned() })
    }
}

impl AwmEarthConfig {
    /// The target, with EARTH's count of packets.
    fn held(&self) -> HeldQueue {
        HeldQueue { target: self.aim.target, queue: self.earth.queue }
    }
}

impl link::Parameters for AwmEarthConfig {
    type Machine = Gateway;
    const READS_SEGMENTS: bool = true;

    fn build(&self, link: link::Context, start: Instant) -> Result<Gateway, ConfigError> {
        let earth = || self.earth.build(link, start).map(Rating::Steps);
        Gateway::new(self.held(), Some(&self.windows), earth, link, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        self.earth.lowest_rate()
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.earth.initial_rate
    }

    fn needed_queue(&self, link: link::Context) -> Option<NeededQueue> {
        let (aim, threshold) = (self.held().needed(link.mtu), self.earth.needed_queue(link)?);
        Some(if threshold.queue > aim.queue { threshold } else { aim })
    }
}

impl link::Parameters for GRouterConfig {
    type Machine = Gateway;
    const READS_SEGMENTS: bool = true;

    fn build(&self, link: link::Context, start: Instant) -> Result<Gateway, ConfigError> {
        Gateway::new(self.held, Some(&self.windows), || Rating::follows(&self.rate, link), link, start)
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        Some(("min_rate", self.rate.min_rate))
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.rate.initial_rate
    }

    fn needed_queue(&self, link: link::Context) -> Option<NeededQueue> {
        Some(self.held.needed(link.mtu))
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, clippy::unwrap_used)]
mod tests {
    use super::super::round_trip::PrintedRoundTrip;
    use super::super::{FlowCountConfig, QueueTarget};
    use super::*;
    use crate::link::Parameters as _;
    use crate::rate::{EarthConfig, QueueLength, QueueView, RateSet};

    /// AWM with T = 50 kB, beta = 1 Mb/s, swnd_0 = 20 kB and N = 5; EARTH from 4 Mb/s in steps of 1 Mb/s, up at 90 kB.
    fn config() -> AwmEarthConfig {
        let mbps = BitRate::from_mbps;
        let (rates, bytes) =
            (RateSet::from_range(mbps(1), mbps(4), mbps(1)), |count| QueueLength::Bytes(Bytes::new(count)));
        AwmEarthConfig {
            aim: QueueTarget { target: bytes(50_000) },
            windows: WindowRule {
                beta: mbps(1),
                initial_window: Bytes::new(20_000),
                flows: FlowCountConfig::fixed(5.0),
                ..WindowRule::default()
            },
            earth: EarthConfig::new(rates.unwrap(), bytes(90_000)),
        }
    }

    fn link() -> link::Context {
        link::Context::new(BitRate::from_mbps(4), Bytes::new(1000))
    }

    fn waiting(bytes: u64) -> LinkEvent {
        LinkEvent::Departure { queue: QueueView { waiting: Bytes::new(bytes), in_service: Bytes::new(1000) } }
    }

    #[test]
    fn wrong_values_of_c_earth_are_named_before_it_is_built() {
        let with = |held, min_rate, round_trip| CEarthConfig {
            held: HeldQueue::new(QueueLength::Bytes(Bytes::new(held))),
            rate: RateRule::new(min_rate, round_trip),
        };
        let (mbps, fixed) = (BitRate::from_mbps, || RoundTripConfig::fixed(Duration::from_millis(100)));
        assert!(with(50_000, mbps(1), fixed()).build(link(), Instant::ZERO).is_ok());
        for (config, field) in [
            (with(50_000, mbps(1), RoundTripConfig::Printed(PrintedRoundTrip {})), "round_trip.kind"),
            (with(50_000, mbps(5), fixed()), "min_rate"),
            (with(0, mbps(1), fixed()), "target"),
        ] {
            assert_eq!(config.build(link(), Instant::ZERO).unwrap_err().field, field);
        }
    }

    #[test]
    fn with_earth_windows_are_awms_and_beta_follows_the_steps() {
        let mut gateway = config().build(link(), Instant::ZERO).unwrap();
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let window = |gateway: &Gateway| gateway.estimates().windows.unwrap().window;
        // An empty queue steps down to 3 Mb/s, and beta to 750 kb/s = 93,750 B/s. 40 ms of it: 3750 B / 5 flows.
        gateway.handle(at(40), waiting(0));
        let down = LinkAction::SetRate { rate: BitRate::from_mbps(3), pause: Duration::ZERO };
        assert_eq!(gateway.poll_action(), Some(down));
        assert_eq!(window(&gateway), 20_750.0);
        // 90 kB, 160 ms later: up to 4 Mb/s, beta 125,000 B/s. DQ = -90,000 / 5; DT = 20,000 x (-40/50) / 5 = -3200 B,
        // which would leave -450 B: the floor is 1000 B.
        gateway.handle(at(200), waiting(90_000));
        assert_eq!(
            gateway.poll_action(),
            Some(LinkAction::SetRate { rate: BitRate::from_mbps(4), pause: Duration::ZERO })
        );
        assert_eq!(window(&gateway), 1000.0);
        assert_eq!((gateway.rate(), gateway.changes()), (BitRate::from_mbps(4), 2));
        assert_eq!(gateway.estimates().round_trip, None, "EARTH needs no round trip");
    }

    #[test]
    fn wrong_values_of_awm_and_of_earth_are_named() {
        let wrong = |config: AwmEarthConfig| config.build(link(), Instant::ZERO).unwrap_err().field;
        let none = QueueLength::Bytes(Bytes::ZERO);
        assert_eq!(wrong(AwmEarthConfig { aim: QueueTarget { target: none }, ..config() }), "target");
        let windows = WindowRule { beta: BitRate::from_bps(0), ..config().windows };
        assert_eq!(wrong(AwmEarthConfig { windows, ..config() }), "beta");
        let earth = EarthConfig { threshold: none, ..config().earth };
        assert_eq!(wrong(AwmEarthConfig { earth, ..config() }), "threshold");
    }
}
