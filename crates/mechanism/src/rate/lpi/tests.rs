//! The controller alone: its timers, its refreshes, and the messages of coupled directions.

use super::config::Target;
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

/// A target of 1060 ns, and a cycle of 4000 ns with 10 frames of 25 B, which take 2000 ns at 1 Gb/s.
fn tuned(adapts: LpiThreshold) -> Coalescing {
    let target = Target { delay: Duration::from_nanos(1060), adapts };
    let mut tuner = Tuner::new(target, RATE, at(1000));
    for _ in 0..10 {
        tuner.count(Bytes::new(25));
    }
    tuner.end_cycle(at(5000));
    // A cycle without a packet changes nothing.
    tuner.end_cycle(at(9000));
    tuner.tuned(Coalescing::default(), Duration::from_nanos(10))
}

#[test]
fn a_threshold_follows_the_last_cycle() {
    // lambda = 1/400 per ns, rho = 0.5. The wait without sleep is 0.25 / (2/400 x 0.5) = 100 ns, so D = 960 ns and
    // lambda D = 2.4. V = 960 + 960 x 2.4 / (1 + 2.6) - 10 = 1590 ns.
    // DualModeEeeSimulator: w0 = (1 + 0.25) / (2/400 x 0.5) = 500 ns, and V = 560 + 400 sqrt(1 + 2.4^2) - 10 = 1590 ns.
    let time = Coalescing { time: Some(Duration::from_nanos(1590)), ..Coalescing::default() };
    assert_eq!(tuned(LpiThreshold::Time), time);
    // N = floor(1 + 2/400 x (960 - 5)) = floor(5.775). DualModeEeeSimulator: floor(2/400 x (1060 - 500 - 5) + 3).
    assert_eq!(tuned(LpiThreshold::Frames), Coalescing { frames: Some(5), ..Coalescing::default() });
}

#[test]
fn a_threshold_has_limits() {
    for (adapts, before, overloaded) in [
        (LpiThreshold::Time, (Some(at(1055)), None), (Some(at(5005)), None)),
        (LpiThreshold::Frames, (None, Some(1)), (None, Some(1))),
    ] {
        let target = Target { delay: Duration::from_nanos(1060), adapts };
        let mut tuner = Tuner::new(target, RATE, at(0));
        let times = |tuner: &Tuner, now: u64| {
            let Coalescing { time, frames, .. } = tuner.tuned(Coalescing::default(), Duration::from_nanos(10));
            (time.map(|time| at(now) + time), frames)
        };
        // Without an estimate a lone packet waits for 1060 ns, T_w included, or wakes the link.
        assert_eq!(times(&tuner, 5), before);
        // 1000 B take 8000 ns, more than the cycle.
        tuner.count(Bytes::new(1000));
        tuner.end_cycle(at(4000));
        assert_eq!(times(&tuner, 5005), overloaded);
    }
}

#[test]
fn a_target_sets_the_timer_and_bounds_the_lateness() {
    let ns = |nanos| Some(Duration::from_nanos(nanos));
    let config = LpiConfig { target_delay: ns(1000), ..config() };
    let mut lpi = machine(&config);
    assert_eq!(after(&mut lpi, 5, arrival(100, 0)), []);
    assert_eq!(lpi.next_timeout(), Some(at(5 + 1000 - 10)));
    let bound = |config: &LpiConfig| config.lateness_bound(link::Context::new(RATE, Bytes::new(1500)));
    // Twice the target, and a nanosecond for rounding.
    assert_eq!(bound(&config), ns(2001));
    let frames = LpiConfig { adapts: Some(LpiThreshold::Frames), ..config };
    assert_eq!(bound(&frames), None);
    assert_eq!(bound(&LpiConfig { coalesce_time: ns(500), ..frames }), ns(511));
}
