//! What holds for a gateway whatever passes it and whatever it is configured to.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a test may panic")]

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
            prop_assert!(gateway.round_trip_seconds().is_finite() && gateway.round_trip_seconds() >= 0.0);
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
}
