//! Properties of Lull for any events and any configuration. `crates/sim/tests/lull.rs` checks its bound on lateness.

use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{SegmentKind, SegmentView};
use netlull_mechanism::link::{self, Controller as _, LinkAction, LinkEvent, Parameters as _};
use netlull_mechanism::rate::{Admission, Lull, LullConfig, QueueView, RateSet};
use netlull_power::PowerModel;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use proptest::prelude::*;

const HIGHEST: BitRate = BitRate::from_mbps(10);

fn link() -> link::Context {
    link::Context { buffer: Some(Bytes::new(60_000)), ..link::Context::new(HIGHEST, Bytes::new(1500)) }
}

fn configs() -> impl Strategy<Value = LullConfig> {
    let rates = prop::collection::btree_set(100_u64..10_000, 0..30);
    let millis = |range: std::ops::Range<u64>| prop::option::of(range.prop_map(Duration::from_millis));
    let models: Vec<&str> = PowerModel::catalogue().iter().map(|model| model.name).collect();
    let power = prop::option::of(prop::sample::select(models).prop_map(str::to_owned));
    (rates, 0_u64..8000, 0.01_f64..1.0, 0.0_f64..0.5, millis(0..200), any::<bool>(), power).prop_map(
        |(rates, transition, slowdown, headroom, hold, forecast, power)| {
            let rates = rates.into_iter().map(|kbps| BitRate::from_bps(kbps * 1000)).chain([HIGHEST]);
            let rates = RateSet::from_list(&rates.collect::<Vec<_>>()).unwrap();
            let plain = LullConfig::new(rates, Duration::from_micros(transition));
            LullConfig { slowdown, headroom, hold, forecast, power, ..plain }
        },
    )
}

fn segments() -> impl Strategy<Value = Option<SegmentView>> {
    let kind = prop_oneof![1 => Just(SegmentKind::Syn), 1 => Just(SegmentKind::SynAck), 8 => Just(SegmentKind::Other)];
    let view = (0_u64..5, kind, any::<bool>(), prop::bool::weighted(0.1)).prop_map(|(flow, kind, data, fin)| {
        SegmentView { flow, kind, end: 1, acknowledged: 1, data, fin, timestamps: None }
    });
    prop::option::weighted(0.8, view)
}

/// Events with queue contents in an order that no real link would produce, and the gaps between them.
fn events() -> impl Strategy<Value = Vec<(Duration, LinkEvent)>> {
    let gap = prop_oneof![5 => 0_u64..2_000, 3 => 2_000_u64..60_000, 1 => 60_000_u64..3_000_000];
    let view = (prop_oneof![1 => Just(0_u64), 1 => 0_u64..60_000], prop_oneof![Just(0_u64), Just(1500)]);
    prop::collection::vec((gap, view, segments(), 0_u8..6), 0..150).prop_map(|events| {
        let event = |(gap, (waiting, in_service), segment, kind)| {
            let queue = QueueView { waiting: Bytes::new(waiting), in_service: Bytes::new(in_service) };
            let arrival = |admission| LinkEvent::Arrival { size: Bytes::new(1500), admission, queue, segment };
            let event = match kind {
                0 | 1 => arrival(Admission::Accepted),
                2 => arrival(Admission::Dropped),
                3 => arrival(Admission::Marked),
                4 => LinkEvent::Departure { queue },
                _ => LinkEvent::Timeout { queue },
            };
            (Duration::from_micros(gap), event)
        };
        events.into_iter().map(event).collect()
    })
}

/// Handles an event, and checks the contract of machines. Returns the requested rate.
fn handle(lull: &mut Lull, now: Instant, event: LinkEvent) -> Option<BitRate> {
    let before = lull.rate();
    lull.handle(now, event);
    let action = lull.poll_action();
    assert!(lull.poll_action().is_none(), "at most one change per event");
    assert!(lull.next_timeout().is_none_or(|at| at >= now), "a timeout in the past");
    let rate = action.and_then(LinkAction::new_rate).map(|(rate, _)| rate);
    assert_eq!(rate.unwrap_or(before), lull.rate());
    assert!(rate != Some(before), "a change to the same rate");
    rate
}

/// The changes: time, old rate, new rate.
fn changes(config: &LullConfig, events: &[(Duration, LinkEvent)]) -> Vec<(Instant, BitRate, BitRate)> {
    let mut lull = config.build(link(), Instant::ZERO).unwrap();
    let (mut now, mut changes) = (Instant::ZERO, Vec::new());
    for &(gap, event) in events {
        now += gap;
        let before = lull.rate();
        changes.extend(handle(&mut lull, now, event).map(|rate| (now, before, rate)));
    }
    assert_eq!(changes.len() as u64, lull.changes());
    changes
}

/// The rate after these events, when the link is empty and no timeout is due.
fn rate_when_quiet(config: &LullConfig, events: Vec<(Duration, LinkEvent)>) -> BitRate {
    let mut lull = config.build(link(), Instant::ZERO).unwrap();
    let mut now = Instant::ZERO;
    for (gap, event) in events {
        now += gap;
        handle(&mut lull, now, event);
    }
    handle(&mut lull, now, LinkEvent::Departure { queue: QueueView::EMPTY });
    let mut timeouts = 0;
    while let Some(due) = lull.next_timeout() {
        now = now.max(due);
        handle(&mut lull, now, LinkEvent::Timeout { queue: QueueView::EMPTY });
        timeouts += 1;
        assert!(timeouts < 20_000, "timeouts without end at {now}");
    }
    lull.rate()
}

#[test]
fn a_link_without_pauses_goes_down_after_an_echo_that_stays_away() {
    let rates = RateSet::from_list(&[BitRate::from_bps(250_000), HIGHEST]).unwrap();
    let config = LullConfig { slowdown: 0.01, headroom: 0.0, ..LullConfig::new(rates, Duration::ZERO) };
    let arrival = |gap, kind, data| {
        let segment = SegmentView { flow: 0, kind, end: 1, acknowledged: 1, data, fin: false, timestamps: None };
        let queue = QueueView { waiting: Bytes::ZERO, in_service: Bytes::new(1500) };
        let (size, admission, segment) = (Bytes::new(1500), Admission::Accepted, Some(segment));
        (Duration::from_micros(gap), LinkEvent::Arrival { size, admission, queue, segment })
    };
    // The round trip of the handshake is 40 ms, so the data have an echo 40 ms later.
    let events = vec![arrival(0, SegmentKind::Syn, false), arrival(40_000, SegmentKind::Other, true)];
    assert_eq!(rate_when_quiet(&config, events), BitRate::from_bps(250_000));
}

proptest! {
    #[test]
    fn the_same_events_give_the_same_actions(config in configs(), events in events()) {
        prop_assert_eq!(changes(&config, &events), changes(&config, &events));
    }

    #[test]
    fn rates_are_of_the_set_and_a_higher_rate_stays(config in configs(), events in events()) {
        let mut raised: Option<Instant> = None;
        for (at, before, rate) in changes(&config, &events) {
            prop_assert!(config.rates.position(rate).is_some());
            if rate > before {
                raised = Some(at);
            } else if let Some(raised) = raised {
                // A nanosecond for the rounding of seconds.
                let stay = config.transition.as_nanos() * 3 / 2;
                prop_assert!((at - raised).as_nanos() + 1 >= stay, "down at {at}, after up at {raised}");
            }
        }
    }

    #[test]
    fn an_emptied_link_ends_at_its_lowest_rate_and_is_quiet(config in configs(), events in events()) {
        prop_assert_eq!(rate_when_quiet(&config, events), config.used_rates(link())[0]);
    }

    #[test]
    fn additional_timeouts_change_no_rate(config in configs(), gaps in prop::collection::vec(1_u64..50, 1..40)) {
        // On an idle link after a burst: the requested timeouts are enough.
        let mut lulls = [(); 2].map(|()| config.build(link(), Instant::ZERO).unwrap());
        let queue = QueueView { waiting: Bytes::new(6000), in_service: Bytes::new(1500) };
        let burst = LinkEvent::Arrival { size: Bytes::new(1500), admission: Admission::Accepted, queue, segment: None };
        let idle = LinkEvent::Timeout { queue: QueueView::EMPTY };
        let mut logs = [Vec::new(), Vec::new()];
        for (lull, (log, is_extra)) in lulls.iter_mut().zip(logs.iter_mut().zip([false, true])) {
            handle(lull, Instant::ZERO, burst);
            handle(lull, Instant::from_nanos(8_000_000), LinkEvent::Departure { queue: QueueView::EMPTY });
            let mut now = Instant::from_nanos(8_000_000);
            let mut extra = gaps.iter().map(|&gap| Duration::from_millis(gap));
            for _ in 0..2000 {
                let Some(due) = lull.next_timeout() else { break };
                if is_extra && let Some(gap) = extra.next() && now + gap < due {
                    now += gap;
                } else {
                    now = now.max(due);
                }
                log.extend(handle(lull, now, idle).map(|rate| (now, rate)));
            }
        }
        // Lull asks for the first whole nanosecond after a time; an additional timeout may come just before.
        prop_assert_eq!(logs[0].len(), logs[1].len());
        for (asked, extra) in logs[0].iter().zip(&logs[1]) {
            prop_assert_eq!(asked.1, extra.1);
            prop_assert!(asked.0.as_nanos().abs_diff(extra.0.as_nanos()) <= 1);
        }
    }
}
