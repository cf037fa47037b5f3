//! The cost of a link event in a mechanism.
#![allow(missing_docs)]

// The smallest link that can drive a controller, from the mechanism's own tests.
#[allow(dead_code)]
#[path = "../../../crates/mechanism/tests/common/mod.rs"]
mod common;

use common::{Line, Link};
use gungraun::{library_benchmark, library_benchmark_group, main};
use netlull_components::{OPERATIONS, Spread};
use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{
    AwmConfig, FlowCountConfig, GRouterConfig, HeldQueue, Pace, RateRule, RoundTripConfig, SegmentKind, SegmentView,
    Timestamps, WindowRule,
};
use netlull_mechanism::link::{self, LinkEvent};
use netlull_mechanism::rate::{PractRa, PractRaConfig, QueueLength, RateSet};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// A controller and its recorded events.
struct Recorded {
    controller: PractRa,
    lines: Vec<Line>,
}

/// practRA from 1 to 10 Mb/s.
fn practra() -> PractRa {
    let m = BitRate::from_mbps;
    let rates = RateSet::from_range(m(1), m(10), m(1)).expect("rates that ascend");
    PractRa::new(&PractRaConfig::intertwining_2012(rates), Instant::ZERO).expect("a sound configuration")
}

/// Packets of 1500 bytes at intervals of up to 4.1 ms, 6 Mb/s on average, in a buffer of 33 packets. The events
/// are arrivals, departures and timeouts in the link's order.
fn recorded() -> Recorded {
    let (mut spread, mut now) = (Spread::new(), Instant::ZERO);
    let packets: Vec<_> = (0..OPERATIONS)
        .map(|_| {
            now += Duration::from_nanos(spread.next(1 << 22));
            (now, 1500)
        })
        .collect();
    let mut link = Link::new(practra(), 33 * 1500);
    link.run(&packets, Instant::NEVER);
    link.lines.truncate(OPERATIONS);
    Recorded { controller: practra(), lines: link.lines }
}

#[library_benchmark]
#[bench::practra(setup = recorded)]
fn event(mut recorded: Recorded) -> Recorded {
    for line in &recorded.lines {
        recorded.controller.handle(line.now, line.event);
        while let Some(action) = recorded.controller.poll_action() {
            std::hint::black_box(action);
        }
        std::hint::black_box(recorded.controller.next_timeout());
    }
    recorded
}

/// A gateway and its events.
struct Passing {
    gateway: link::Running,
    events: Vec<(Instant, LinkEvent)>,
}

/// A fixed N.
fn awm() -> Passing {
    let windows = WindowRule { flows: FlowCountConfig::fixed(20.0), ..WindowRule::default() };
    passing(&link::Config::Awm(AwmConfig { held: held(), windows }))
}

fn g_router() -> Passing {
    measuring(Pace::RoundTrip)
}

fn g_router_each_event() -> Passing {
    measuring(Pace::Event)
}

/// N by linear counting, RTT from timestamps.
fn measuring(pace: Pace) -> Passing {
    let round_trip = RoundTripConfig::timestamps(Duration::from_millis(100));
    let rate = RateRule { pace, ..RateRule::new(BitRate::from_mbps(1), round_trip) };
    passing(&link::Config::GRouter(GRouterConfig { held: held(), windows: WindowRule::default(), rate }))
}

/// A target of 20 packets.
fn held() -> HeldQueue {
    HeldQueue::new(QueueLength::Bytes(Bytes::new(20 * 1500)))
}

/// The packets of practRA's link, from 20 flows in turn, with a returning acknowledgement per departure. Two of
/// three events are arrivals and departures.
fn passing(mechanism: &link::Config) -> Passing {
    let link = link::Context::new(BitRate::from_mbps(10), Bytes::new(1500));
    let mut events = Vec::new();
    for (count, line) in (0..).zip(recorded().lines) {
        let stamps = Timestamps { value: count, echo: count.saturating_sub(50) };
        let segment = SegmentView {
            flow: u64::from(count % 20),
            kind: SegmentKind::Other,
            end: 1460 * count,
            acknowledged: 1460 * count.saturating_sub(50),
            data: true,
            fin: false,
            timestamps: Some(stamps),
        };
        match line.event {
            LinkEvent::Arrival { size, admission, queue, .. } => {
                events.push((line.now, LinkEvent::Arrival { size, admission, queue, segment: Some(segment) }));
            }
            LinkEvent::Departure { queue } => {
                events.push((line.now, LinkEvent::Departure { queue }));
                events.push((line.now, LinkEvent::Acknowledgement { segment, window: Bytes::new(65_535) }));
            }
            LinkEvent::Managed { .. } | LinkEvent::Timeout { .. } | LinkEvent::Acknowledgement { .. } => {}
        }
    }
    events.truncate(OPERATIONS);
    Passing { gateway: mechanism.build(link, Instant::ZERO).expect("a sound configuration"), events }
}

#[library_benchmark]
#[bench::awm(setup = awm)]
#[bench::g_router(setup = g_router)]
#[bench::g_router_each_event(setup = g_router_each_event)]
fn gateway_event(mut passing: Passing) -> Passing {
    for &(now, event) in &passing.events {
        passing.gateway.handle(now, event);
        while let Some(action) = passing.gateway.poll_action() {
            std::hint::black_box(action);
        }
        std::hint::black_box(passing.gateway.next_timeout());
    }
    passing
}

library_benchmark_group!(name = mechanism; benchmarks = event, gateway_event);
main!(library_benchmark_groups = mechanism);
