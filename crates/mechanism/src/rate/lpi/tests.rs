//! The controller alone: its timers, its refreshes, and the messages of coupled directions.

use super::*;
use crate::link::{Controller, Parameters};
use crate::view::QueueView;

const RATE: BitRate = BitRate::from_mbps(1000);

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// T_s = 100 ns, T_w = 10 ns, hysteresis 50 ns.
fn config() -> LpiConfig {
    let ns = |nanos| Some(Duration::from_nanos(nanos));
    LpiConfig { sleep: ns(100), wake: ns(10), hysteresis: ns(50), ..LpiConfig::default() }
}

fn machine(config: &LpiConfig) -> Lpi {
    config.build(link::Context::new(RATE, Bytes::new(1500)), Instant::ZERO).expect("valid parameters")
}

fn arrival(waiting: u64, in_service: u64) -> LinkEvent {
    let queue = QueueView { waiting: Bytes::new(waiting), in_service: Bytes::new(in_service) };
    LinkEvent::Arrival { size: Bytes::new(100), admission: Admission::Accepted, queue, segment: None }
}

const DEPARTURE: LinkEvent = LinkEvent::Departure { queue: QueueView::EMPTY };
const TIMEOUT: LinkEvent = LinkEvent::Timeout { queue: QueueView::EMPTY };

/// The actions after an event, as rate in Mb/s and pause in ns.
fn after(machine: &mut Lpi, now: u64, event: LinkEvent) -> Vec<(u64, u64)> {
    machine.handle(at(now), event);
    actions(machine)
}

fn actions(machine: &mut Lpi) -> Vec<(u64, u64)> {
    let of = |action: LinkAction| {
        let (rate, pause) = action.new_rate().expect("no windows");
        (rate.as_bps() / 1_000_000, pause.as_nanos())
    };
    std::iter::from_fn(|| machine.poll_action()).map(of).collect()
}

#[test]
fn an_idle_link_needs_no_timer_and_extra_timeouts_do_no_harm() {
    let mut lpi = machine(&config());
    assert_eq!((lpi.next_timeout(), lpi.rate()), (None, BitRate::default()));
    assert_eq!(after(&mut lpi, 5, TIMEOUT), []);
    // The first packet wakes the link. It leaves at 1 us, and the link sleeps 50 ns later.
    assert_eq!(after(&mut lpi, 10, arrival(100, 0)), [(1000, 10)]);
    assert_eq!(lpi.next_timeout(), None);
    assert_eq!(after(&mut lpi, 1000, DEPARTURE), []);
    assert_eq!(lpi.next_timeout(), Some(at(1050)));
    assert_eq!(after(&mut lpi, 1049, TIMEOUT), []);
    assert_eq!(after(&mut lpi, 1050, TIMEOUT), [(0, 100)]);
    assert_eq!(lpi.next_timeout(), None);
    // A packet in the transition waits for its end.
    assert_eq!(after(&mut lpi, 1060, arrival(100, 0)), []);
    assert_eq!(lpi.next_timeout(), Some(at(1150)));
    assert_eq!(after(&mut lpi, 1150, TIMEOUT), [(1000, 10)]);
    let times = lpi.low_power(at(1155)).expect("it stops its link");
    assert_eq!((times.asleep_ns, times.awake_ns, times.entering_ns, times.waking_ns), (10, 1030, 100, 15));
}

#[test]
fn a_coupled_link_waits_for_the_other_direction() {
    let mut lpi = machine(&config());
    lpi.on_other_direction(at(5), false);
    assert_eq!(actions(&mut lpi), [(1000, 10)]);
    // No packet came, so the hysteresis begins at the end of the waking.
    assert_eq!(lpi.next_timeout(), Some(at(15)));
    assert_eq!(after(&mut lpi, 15, TIMEOUT), []);
    assert_eq!(after(&mut lpi, 65, TIMEOUT), []);
    assert!(lpi.is_ready_to_stop() && lpi.next_timeout().is_none());
    lpi.on_other_direction(at(80), true);
    assert_eq!(actions(&mut lpi), [(0, 100)]);
}

#[test]
fn refreshes_are_cut_by_the_wake() {
    let ns = |nanos| Some(Duration::from_nanos(nanos));
    let config = LpiConfig { quiet: ns(90), refresh: ns(10), ..config() };
    let lpi = machine(&config);
    for (low, refresh) in [(0, 0), (90, 0), (95, 5), (100, 10), (190, 10), (199, 19), (1000, 100)] {
        let times = lpi.low_power(at(low)).expect("it stops its link");
        assert_eq!((times.refresh_ns, times.low_ns()), (refresh, low));
    }
}
