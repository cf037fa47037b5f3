//! Properties of a gateway for any traffic and any configuration.

use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{
    AwmConfig, AwmEarthConfig, CountedFlows, FlowCountConfig, GRouterConfig, HeldQueue, Pace, PrintedFlows,
    PrintedRoundTrip, QueueTarget, RateRule, RoundTripConfig, SegmentKind, SegmentView, Timestamps, WindowRule,
};
use netlull_mechanism::link::{self, Controller as _, LinkAction, LinkEvent, WindowEstimates};
use netlull_mechanism::rate::{Admission, EarthConfig, QueueCount, QueueLength, QueueView, RateSet};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use proptest::prelude::*;

const MIN: u64 = 1_000_000;
const LINK: link::Context = link::Context::new(BitRate::from_mbps(40), Bytes::new(1500));

/// AWM alone, with C-EARTH or with EARTH.
#[derive(Clone, Debug)]
struct Config {
    held: HeldQueue,
    windows: WindowRule,
    rate: Option<RateRule>,
    earth: Option<EarthConfig>,
}

impl Config {
    fn build(&self) -> link::Running {
        let (held, windows) = (self.held, self.windows.clone());
        let mechanism = match (self.rate.clone(), self.earth.clone()) {
            (Some(rate), _) => link::Config::GRouter(GRouterConfig { held, windows, rate }),
            (None, Some(earth)) => {
                link::Config::AwmEarth(AwmEarthConfig { aim: QueueTarget { target: held.target }, windows, earth })
            }
            (None, None) => link::Config::Awm(AwmConfig { held, windows }),
        };
        mechanism.build(LINK, Instant::ZERO).unwrap()
    }

    fn floor(&self) -> Bytes {
        self.windows.floor.unwrap()
    }
}

fn configs() -> impl Strategy<Value = Config> {
    let flows = prop_oneof![
        (1.0_f64..1e4).prop_map(FlowCountConfig::fixed),
        (1.0_f64..1e4).prop_map(|initial| FlowCountConfig::Printed(PrintedFlows { initial })),
        (1_u64..3000, 6_u32..13).prop_map(|(millis, bits)| {
            FlowCountConfig::LinearCounting(CountedFlows { interval: Duration::from_millis(millis), bits: 1 << bits })
        }),
    ];
    let some = (1_u64..1_000_000).prop_map(Duration::from_micros);
    let round_trip = prop_oneof![
        some.clone().prop_map(RoundTripConfig::fixed),
        Just(RoundTripConfig::Printed(PrintedRoundTrip {})),
        some.clone().prop_map(RoundTripConfig::handshake),
        some.prop_map(RoundTripConfig::timestamps),
    ];
    let pace = prop_oneof![Just(Pace::Event), Just(Pace::RoundTrip), Just(Pace::Sliding)];
    let rate = (0.01_f64..0.99, pace, round_trip).prop_map(|(gamma, pace, round_trip)| RateRule {
        gamma,
        pace,
        ..RateRule::new(BitRate::from_bps(MIN), round_trip)
    });
    let windows =
        (1_u64..10_000_000, 1_u64..9000, 0_u64..1_000_000, flows).prop_map(|(beta, floor, more, flows)| WindowRule {
            beta: BitRate::from_bps(beta),
            floor: Some(Bytes::new(floor)),
            initial_window: Bytes::new(floor + more),
            flows,
        });
    let followed = (prop::option::of(rate), prop::option::of((1_u64..1_000_000, 0_u64..3_000_000)));
    (1_u64..1_000_000, any::<bool>(), windows, followed).prop_map(|(target, both, windows, (rate, earth))| {
        let queue = if both { QueueCount::WaitingAndInService } else { QueueCount::Waiting };
        let earth = earth.map(|(threshold, nanos)| EarthConfig {
            queue,
            min_interval: Duration::from_nanos(1 + nanos),
            ..EarthConfig::new(rates(), QueueLength::Bytes(Bytes::new(threshold)))
        });
        Config { held: HeldQueue { target: QueueLength::Bytes(Bytes::new(target)), queue }, windows, rate, earth }
    })
}

/// EARTH's rates: 1 to 40 Mb/s.
fn rates() -> RateSet {
    RateSet::from_range(BitRate::from_bps(MIN), LINK.rate, BitRate::from_bps(MIN)).unwrap()
}

fn windows(gateway: &link::Running) -> WindowEstimates {
    gateway.estimates().windows.unwrap()
}

fn segments() -> impl Strategy<Value = SegmentView> {
    let kind = prop_oneof![1 => Just(SegmentKind::Syn), 1 => Just(SegmentKind::SynAck), 6 => Just(SegmentKind::Other)];
    let stamps = prop::option::of((any::<u32>(), any::<u32>()).prop_map(|(value, echo)| Timestamps { value, echo }));
    // A small range of numbers, so some acknowledge others.
    let numbers = (prop_oneof![0_u32..20, any::<u32>()], prop_oneof![0_u32..20, any::<u32>()], any::<bool>());
    (0_u64..40, kind, numbers, stamps).prop_map(|(flow, kind, (end, acknowledged, data), timestamps)| SegmentView {
        flow,
        kind,
        end,
        acknowledged,
        data,
        fin: false,
        timestamps,
    })
}

fn events() -> impl Strategy<Value = Vec<(u64, LinkEvent)>> {
    let queue = || {
        (prop_oneof![Just(0_u64), 0_u64..200_000, Just(1 << 40)], 0_u64..9000).prop_map(|(waiting, in_service)| {
            QueueView { waiting: Bytes::new(waiting), in_service: Bytes::new(in_service) }
        })
    };
    let admission = prop_oneof![Just(Admission::Accepted), Just(Admission::Dropped)];
    let event = prop_oneof![
        4 => (admission, queue(), prop::option::of(segments()))
            .prop_map(|(admission, queue, segment)| LinkEvent::Arrival { size: Bytes::new(1500), admission, queue, segment }),
        4 => queue().prop_map(|queue| LinkEvent::Departure { queue }),
        1 => queue().prop_map(|queue| LinkEvent::Timeout { queue }),
        4 => (segments(), prop_oneof![Just(0_u64), 0_u64..70_000, Just(1 << 30)])
            .prop_map(|(segment, window)| LinkEvent::Acknowledgement { segment, window: Bytes::new(window) }),
    ];
    let gap = prop_oneof![3 => Just(0_u64), 6 => 0_u64..3_000_000, 1 => 0_u64..100_000_000_000];
    prop::collection::vec((gap, event), 1..200)
}

proptest! {
    /// The window is never below the floor, and a rewrite never raises one. The rate stays within its clamps, no
    /// value is NaN, and no timeout lies in the past.
    #[test]
    fn whatever_passes(config in configs(), events in events()) {
        let mut gateway = config.build();
        let mut now = Instant::ZERO;
        for (gap, event) in events {
            now += Duration::from_nanos(gap);
            gateway.handle(now, event);
            while let Some(action) = gateway.poll_action() {
                match (action, event) {
                    (LinkAction::SetWindow(window), LinkEvent::Acknowledgement { window: advertised, .. }) => {
                        prop_assert!(window < advertised);
                        prop_assert!(window >= config.floor());
                    }
                    (LinkAction::SetWindow(_), _) => prop_assert!(false, "there is no acknowledgement to write to"),
                    (LinkAction::SetRate { rate, .. }, _) => {
                        prop_assert!(config.rate.is_some() || config.earth.is_some());
                        prop_assert!((MIN..=LINK.rate.as_bps()).contains(&rate.as_bps()), "{rate}");
                    }
                }
            }
            let WindowEstimates { window, flows, .. } = windows(&gateway);
            prop_assert!(window.is_finite() && window >= config.floor().as_u64() as f64);
            prop_assert!(flows.is_finite() && flows >= 1.0, "{flows}");
        }
    }

    /// AWM next to EARTH changes none of its rates, and asks for its timeouts.
    #[test]
    fn earth_steps_as_if_alone(config in configs(), events in events()) {
        let Some(earth) = config.earth.clone() else { return Ok(()) };
        let mut both = Config { rate: None, ..config }.build();
        let mut alone = link::Config::Earth(earth).build(LINK, Instant::ZERO).unwrap();
        let mut now = Instant::ZERO;
        for (gap, event) in events {
            now += Duration::from_nanos(gap);
            both.handle(now, event);
            while both.poll_action().is_some() {}
            // A link shows no acknowledgements to EARTH alone.
            if event.queue().is_some() {
                alone.handle(now, event);
                while alone.poll_action().is_some() {}
            }
            prop_assert_eq!(both.rate(), alone.rate());
            prop_assert_eq!(both.changes(), alone.changes());
            prop_assert_eq!(both.next_timeout(), alone.next_timeout());
        }
    }

    /// A gateway with an empty queue and no arrivals needs no timer: it requests at most two more timeouts, and EARTH
    /// one for each of its rates.
    #[test]
    fn an_idle_link_falls_quiet(config in configs(), events in events()) {
        let mut gateway = config.build();
        let mut now = Instant::ZERO;
        for (gap, event) in events {
            now += Duration::from_nanos(gap);
            gateway.handle(now, event);
            while gateway.poll_action().is_some() {}
        }
        gateway.handle(now, LinkEvent::Departure { queue: QueueView::EMPTY });
        while gateway.poll_action().is_some() {}
        for _ in 0..2.max(rates().as_slice().len()) {
            let Some(due) = gateway.next_timeout() else { break };
            now = now.max(due);
            gateway.handle(now, LinkEvent::Timeout { queue: QueueView::EMPTY });
            while gateway.poll_action().is_some() {}
        }
        prop_assert_eq!(gateway.next_timeout(), None);
    }

    /// The same events give the same window and the same rate, bit for bit.
    #[test]
    fn nothing_is_random(config in configs(), events in events()) {
        let run = || {
            let mut gateway = config.build();
            let mut now = Instant::ZERO;
            for (gap, event) in &events {
                now += Duration::from_nanos(*gap);
                gateway.handle(now, *event);
                while gateway.poll_action().is_some() {}
            }
            let WindowEstimates { window, flows, .. } = windows(&gateway);
            let round_trip = gateway.estimates().round_trip;
            (window.to_bits(), flows.to_bits(), gateway.rate(), round_trip, gateway.next_timeout())
        };
        prop_assert_eq!(run(), run());
    }

    /// The machine computes only the changes since the last event. The test compares it with equations (1) to (4)
    /// of g-router section 2 as printed, computed in full at every arrival and departure.
    #[test]
    fn the_machine_follows_the_printed_equations(config in configs(), events in events()) {
        let round_trip = RoundTripConfig::fixed(Duration::from_millis(80));
        let fixed = Config {
            windows: WindowRule { flows: FlowCountConfig::fixed(7.0), ..config.windows },
            rate: config.rate.map(|rate| RateRule { pace: Pace::Event, round_trip, ..rate }),
            held: config.held,
            earth: None,
        };
        let mut gateway = fixed.build();
        let mut printed = Printed::new(&fixed);
        let (mut now, mut rate) = (Instant::ZERO, gateway.rate());
        for (gap, event) in events {
            now += Duration::from_nanos(gap);
            gateway.handle(now, event);
            while let Some(action) = gateway.poll_action() {
                if let LinkAction::SetRate { rate: next, .. } = action {
                    prop_assert_ne!(next, rate);
                    rate = next;
                }
            }
            if let Some(queue) = event.queue() {
                printed.event(now, queue);
            }
            prop_assert_eq!(windows(&gateway).window.to_bits(), printed.window.to_bits());
            prop_assert_eq!(gateway.rate(), printed.rounded());
            prop_assert_eq!(rate, gateway.rate(), "what it told the link");
        }
    }
}

/// Equations (1) to (4) for given N and RTT, with C at every event.
struct Printed {
    config: Config,
    window: f64,
    beta: f64,
    rate: f64,
    queue: f64,
    at: Instant,
}

impl Printed {
    const FLOWS: f64 = 7.0;
    const ROUND_TRIP_S: f64 = 0.08;

    fn new(config: &Config) -> Self {
        let rate = LINK.rate.as_f64();
        let (window, beta) = (config.windows.initial_window.as_u64() as f64, config.windows.beta.as_f64() / 8.0);
        Self { config: config.clone(), window, beta, rate, queue: 0.0, at: Instant::ZERO }
    }

    fn event(&mut self, now: Instant, queue: QueueView) {
        let both = self.config.held.queue == QueueCount::WaitingAndInService;
        let queue = (queue.waiting.as_u64() + if both { queue.in_service.as_u64() } else { 0 }) as f64;
        let target = self.config.held.target.bytes(LINK.mtu).as_u64() as f64;
        if let Some(RateRule { gamma, min_rate: min, .. }) = self.config.rate {
            let max = LINK.rate;
            let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
            let arrivals = 8.0 * (self.queue - queue).abs() / Self::ROUND_TRIP_S;
            let change = arrivals * sign(queue - gamma * target) * (queue - target).abs() / target;
            let before = self.rounded();
            self.rate = (self.rate + change).clamp(min.as_f64(), max.as_f64());
            if self.rounded() != before {
                self.beta *= self.rounded().as_f64() / before.as_f64();
            }
        }
        let seconds = (now - self.at).as_secs_f64();
        let queue_term = (self.queue - queue) / Self::FLOWS;
        let target_term = self.beta * seconds * (target - queue) / (Self::FLOWS * target);
        let floor = self.config.floor().as_u64() as f64;
        self.window = (self.window + (queue_term + target_term)).max(floor).min(65_535.0 * 16_384.0);
        (self.queue, self.at) = (queue, now);
    }

    /// C rounded to the granularity, here 1 kb/s.
    fn rounded(&self) -> BitRate {
        let Some(RateRule { granularity, min_rate: min, .. }) = self.config.rate else {
            return LINK.rate;
        };
        let max = LINK.rate;
        let steps = (self.rate / granularity.as_f64() + 0.5).floor();
        BitRate::from_bps((steps * granularity.as_f64()).clamp(min.as_f64(), max.as_f64()) as u64)
    }
}
