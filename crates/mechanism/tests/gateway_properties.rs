//! What holds for a gateway whatever passes it and whatever it is configured to.

use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{
    AwmConfig, CEarthConfig, FlowCountConfig, Gateway, GatewayAction, GatewayConfig, GatewayEvent, Pace,
    RoundTripConfig, SegmentKind, SegmentView, Timestamps,
};
use netlull_mechanism::rate::{Admission, QueueCount, QueueView};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use proptest::prelude::*;

const MIN: u64 = 1_000_000;
const MAX: u64 = 40_000_000;

fn configs() -> impl Strategy<Value = GatewayConfig> {
    let flows = prop_oneof![
        (1.0_f64..1e4).prop_map(FlowCountConfig::Fixed),
        (1.0_f64..1e4).prop_map(FlowCountConfig::Printed),
        (1_u64..3000, 6_u32..13).prop_map(|(millis, bits)| FlowCountConfig::LinearCounting {
            interval: Duration::from_millis(millis),
            bits: 1 << bits
        }),
    ];
    let some = (1_u64..1_000_000).prop_map(Duration::from_micros);
    let round_trip = prop_oneof![
        some.clone().prop_map(RoundTripConfig::Fixed),
        Just(RoundTripConfig::Printed),
        some.clone().prop_map(|initial| RoundTripConfig::Handshake { initial }),
        some.prop_map(|initial| RoundTripConfig::Timestamps { initial }),
    ];
    let c_earth = prop::option::of((0.01_f64..0.99, any::<bool>()).prop_map(|(gamma, each)| CEarthConfig {
        gamma,
        pace: if each { Pace::Event } else { Pace::RoundTrip },
        ..CEarthConfig::new(BitRate::from_bps(MIN), BitRate::from_bps(MAX))
    }));
    let awm =
        (1_u64..1_000_000, 1_u64..10_000_000, 1_u64..9000, 0_u64..1_000_000).prop_map(|(target, beta, mtu, more)| {
            AwmConfig {
                target: Bytes::new(target),
                beta: BitRate::from_bps(beta),
                floor: Bytes::new(mtu),
                initial_window: Bytes::new(mtu + more),
            }
        });
    (awm, c_earth, flows, round_trip, any::<bool>()).prop_map(|(awm, c_earth, flows, round_trip, both)| GatewayConfig {
        awm,
        c_earth,
        flows,
        round_trip,
        queue: if both { QueueCount::WaitingAndInService } else { QueueCount::Waiting },
        steers: true,
        link_rate: BitRate::from_mbps(10),
    })
}

fn segments() -> impl Strategy<Value = SegmentView> {
    let kind = prop_oneof![1 => Just(SegmentKind::Syn), 1 => Just(SegmentKind::SynAck), 6 => Just(SegmentKind::Other)];
    let stamps = prop::option::of((any::<u32>(), any::<u32>()).prop_map(|(value, echo)| Timestamps { value, echo }));
    // Few numbers, so that some acknowledge others.
    let numbers = (prop_oneof![0_u32..20, any::<u32>()], prop_oneof![0_u32..20, any::<u32>()], any::<bool>());
    (0_u64..40, kind, numbers, stamps).prop_map(|(flow, kind, (end, acknowledged, data), timestamps)| SegmentView {
        flow,
        kind,
        end,
        acknowledged,
        data,
        timestamps,
    })
}

fn events() -> impl Strategy<Value = Vec<(u64, GatewayEvent)>> {
    let queue = || {
        (prop_oneof![Just(0_u64), 0_u64..200_000, Just(1 << 40)], 0_u64..9000).prop_map(|(waiting, in_service)| {
            QueueView { waiting: Bytes::new(waiting), in_service: Bytes::new(in_service) }
        })
    };
    let admission = prop_oneof![Just(Admission::Accepted), Just(Admission::Dropped)];
    let event = prop_oneof![
        4 => (admission, queue(), prop::option::of(segments()))
            .prop_map(|(admission, queue, segment)| GatewayEvent::Arrival { admission, queue, segment }),
        4 => queue().prop_map(|queue| GatewayEvent::Departure { queue }),
        1 => queue().prop_map(|queue| GatewayEvent::Timeout { queue }),
        4 => (segments(), prop_oneof![Just(0_u64), 0_u64..70_000, Just(1 << 30)])
            .prop_map(|(segment, window)| GatewayEvent::Acknowledgement { segment, window: Bytes::new(window) }),
    ];
    let gap = prop_oneof![3 => Just(0_u64), 6 => 0_u64..3_000_000, 1 => 0_u64..100_000_000_000];
    prop::collection::vec((gap, event), 1..200)
}

proptest! {
    /// The window is never under the floor, a rewrite never raises one, the rate stays within its clamps, nothing is ever no number, and a
    /// timeout is never asked for in the past.
    #[test]
    fn whatever_passes(config in configs(), events in events()) {
        let mut gateway = Gateway::new(&config, Instant::ZERO).unwrap();
        let mut now = Instant::ZERO;
        for (gap, event) in events {
            now += Duration::from_nanos(gap);
            gateway.handle(now, event);
            while let Some(action) = gateway.poll_action() {
                match (action, event) {
                    (GatewayAction::SetWindow(window), GatewayEvent::Acknowledgement { window: advertised, .. }) => {
                        prop_assert!(window < advertised);
                        prop_assert!(window >= config.awm.floor);
                    }
                    (GatewayAction::SetWindow(_), _) => prop_assert!(false, "there is no acknowledgement to write to"),
                    (GatewayAction::SetRate { rate, .. }, _) => {
                        prop_assert!(config.c_earth.is_some());
                        prop_assert!((MIN..=MAX).contains(&rate.as_bps()), "{rate}");
                    }
                }
            }
            prop_assert!(gateway.window().is_finite() && gateway.window() >= config.awm.floor.as_u64() as f64);
            prop_assert!(gateway.flows().is_finite() && gateway.flows() >= 1.0, "{}", gateway.flows());
        }
    }

    /// Once its queue is empty and nobody comes a gateway falls quiet: after at most two timeouts it asks for none.
    #[test]
    fn an_idle_link_falls_quiet(config in configs(), events in events()) {
        let mut gateway = Gateway::new(&config, Instant::ZERO).unwrap();
        let mut now = Instant::ZERO;
        for (gap, event) in events {
            now += Duration::from_nanos(gap);
            gateway.handle(now, event);
            while gateway.poll_action().is_some() {}
        }
        gateway.handle(now, GatewayEvent::Departure { queue: QueueView::EMPTY });
        while gateway.poll_action().is_some() {}
        for _ in 0..2 {
            let Some(due) = gateway.next_timeout() else { break };
            now = now.max(due);
            gateway.handle(now, GatewayEvent::Timeout { queue: QueueView::EMPTY });
            while gateway.poll_action().is_some() {}
        }
        prop_assert_eq!(gateway.next_timeout(), None);
    }

    /// The same events give the same window and the same rate, to the bit.
    #[test]
    fn nothing_is_random(config in configs(), events in events()) {
        let run = || {
            let mut gateway = Gateway::new(&config, Instant::ZERO).unwrap();
            let mut now = Instant::ZERO;
            for (gap, event) in &events {
                now += Duration::from_nanos(*gap);
                gateway.handle(now, *event);
                while gateway.poll_action().is_some() {}
            }
            (gateway.window().to_bits(), gateway.flows().to_bits(), gateway.rate(), gateway.round_trip(), gateway.next_timeout())
        };
        prop_assert_eq!(run(), run());
    }

    /// The machine, which computes only what has changed since the event before, against equations (1) to (4) of g-router section 2
    /// as they are printed, in full at every arrival and departure.
    #[test]
    fn the_machine_follows_the_printed_equations(config in configs(), events in events()) {
        let fixed = GatewayConfig {
            flows: FlowCountConfig::Fixed(7.0),
            round_trip: RoundTripConfig::Fixed(Duration::from_millis(80)),
            c_earth: config.c_earth.clone().map(|c_earth| CEarthConfig { pace: Pace::Event, ..c_earth }),
            ..config
        };
        let mut gateway = Gateway::new(&fixed, Instant::ZERO).unwrap();
        let mut printed = Printed::new(&fixed);
        let (mut now, mut rate) = (Instant::ZERO, gateway.rate());
        for (gap, event) in events {
            now += Duration::from_nanos(gap);
            gateway.handle(now, event);
            while let Some(action) = gateway.poll_action() {
                if let GatewayAction::SetRate { rate: next, .. } = action {
                    prop_assert_ne!(next, rate);
                    rate = next;
                }
            }
            match event {
                GatewayEvent::Arrival { queue, .. } | GatewayEvent::Departure { queue } | GatewayEvent::Timeout { queue } => {
                    printed.event(now, queue);
                }
                GatewayEvent::Acknowledgement { .. } => {}
            }
            prop_assert_eq!(gateway.window().to_bits(), printed.window.to_bits());
            prop_assert_eq!(gateway.rate(), printed.rounded());
            prop_assert_eq!(rate, gateway.rate(), "what it told the link");
        }
    }
}

/// Equations (1) to (4) with N and RTT given, C at every event.
struct Printed {
    config: GatewayConfig,
    window: f64,
    beta: f64,
    rate: f64,
    queue: f64,
    at: Instant,
}

impl Printed {
    const FLOWS: f64 = 7.0;
    const ROUND_TRIP_S: f64 = 80_000_000.0 * 1e-9;

    fn new(config: &GatewayConfig) -> Self {
        let rate = config.c_earth.as_ref().map_or(config.link_rate, |c_earth| c_earth.max).as_f64();
        let awm = &config.awm;
        let (window, beta) = (awm.initial_window.as_u64() as f64, awm.beta.as_f64() / 8.0);
        Self { config: config.clone(), window, beta, rate, queue: 0.0, at: Instant::ZERO }
    }

    fn event(&mut self, now: Instant, queue: QueueView) {
        let both = self.config.queue == QueueCount::WaitingAndInService;
        let queue = (queue.waiting.as_u64() + if both { queue.in_service.as_u64() } else { 0 }) as f64;
        let target = self.config.awm.target.as_u64() as f64;
        if let Some(CEarthConfig { gamma, min, max, .. }) = self.config.c_earth {
            let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
            let arrivals = 8.0 * (self.queue - queue).abs() / Self::ROUND_TRIP_S;
            let change = arrivals * sign(queue - gamma * target) * (queue - target).abs() / target;
            let before = self.rounded();
            self.rate = (self.rate + change).clamp(min.as_f64(), max.as_f64());
            if self.rounded() != before {
                self.beta *= self.rounded().as_f64() / before.as_f64();
            }
        }
        let seconds = (now - self.at).as_nanos() as f64 * 1e-9;
        let queue_term = (self.queue - queue) / Self::FLOWS;
        let target_term = self.beta * seconds * (target - queue) / (Self::FLOWS * target);
        let floor = self.config.awm.floor.as_u64() as f64;
        self.window = (self.window + (queue_term + target_term)).max(floor).min(65_535.0 * 16_384.0);
        (self.queue, self.at) = (queue, now);
    }

    /// To the granularity, 1 kb/s here.
    fn rounded(&self) -> BitRate {
        let Some(CEarthConfig { granularity, min, max, .. }) = self.config.c_earth else {
            return self.config.link_rate;
        };
        let steps = (self.rate / granularity.as_f64() + 0.5).floor();
        BitRate::from_bps((steps * granularity.as_f64()).clamp(min.as_f64(), max.as_f64()) as u64)
    }
}
