//! Mechanisms: what one event of their link costs them.
#![allow(missing_docs)]

// The smallest link that can drive a controller, which the mechanism's own tests have.
#[path = "../../../crates/mechanism/tests/common/mod.rs"]
mod common;

use common::{Line, Link};
use gungraun::{library_benchmark, library_benchmark_group, main};
use netlull_components::{OPERATIONS, Spread};
use netlull_mechanism::Machine;
use netlull_mechanism::rate::{PractRa, PractRaConfig, RateSet};
use netlull_units::{BitRate, Duration, Instant};

/// A controller, and what its link has told it.
struct Recorded {
    controller: PractRa,
    lines: Vec<Line>,
}

/// practRA of 1 to 10 Mb/s.
fn practra() -> PractRa {
    let m = BitRate::from_mbps;
    let rates = RateSet::from_range(m(1), m(10), m(1)).expect("rates that ascend");
    PractRa::new(&PractRaConfig::new(rates), Instant::ZERO).expect("a sound configuration")
}

/// Packets of 1500 bytes at intervals of up to 4.1 ms, 6 Mb/s on average, in a buffer of 33: arrivals, departures and
/// timeouts as the link has them.
fn recorded() -> Recorded {
    let (mut spread, mut now) = (Spread::new(), Instant::ZERO);
    let packets: Vec<_> = (0..OPERATIONS)
        .map(|_| {
            now = now + Duration::from_nanos(spread.next(1 << 22));
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

library_benchmark_group!(name = mechanism; benchmarks = event);
main!(library_benchmark_groups = mechanism);
