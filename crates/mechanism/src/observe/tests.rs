#![allow(clippy::unwrap_used)]

use super::*;
use crate::Machine;
use crate::link::{self, Controller as _};
use crate::view::{Admission, HeadVerdict, SegmentKind, SegmentView};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Reports each observation and answers with the next decision of a list.
#[derive(Debug)]
struct Listed {
    decisions: Vec<Result<Option<Decision>, ConfigError>>,
    seen: Sender<Observation>,
}

impl Subscriber for Listed {
    fn observe(&mut self, seen: &Observation) -> Result<Option<Decision>, ConfigError> {
        self.seen.send(*seen).unwrap();
        self.decisions.pop().unwrap_or(Ok(None))
    }
}

const MBPS: fn(u64) -> BitRate = BitRate::from_mbps;

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

fn bytes(count: u64) -> Bytes {
    Bytes::new(count)
}

/// A link of 12 Mb/s: a packet of 1500 B takes 1 ms.
fn link() -> link::Context {
    link::Context::new(MBPS(12), bytes(1500))
}

/// An adapter with a transition of 100 us, and its observations. The last decision of the list comes first.
fn adapter(
    subscription: Subscription,
    decisions: Vec<Result<Option<Decision>, ConfigError>>,
) -> (Adapter<Listed>, Receiver<Observation>) {
    let (seen, observations) = channel();
    let plug = Plug { subscription, initial_rate: None, transition: Duration::from_micros(100) };
    (Adapter::new(plug, Listed { decisions, seen }, link(), Instant::ZERO).unwrap(), observations)
}

fn every_event() -> Subscription {
    Subscription { every_event: true, ..Subscription::default() }
}

fn view(waiting: u64, in_service: u64) -> QueueView {
    QueueView { waiting: bytes(waiting), in_service: bytes(in_service) }
}

fn arrival(size: u64, admission: Admission, queue: QueueView) -> LinkEvent {
    LinkEvent::Arrival { size: bytes(size), admission, queue, segment: None }
}

fn amount(packets: u64, count: u64) -> Amount {
    Amount { packets, bytes: bytes(count) }
}

#[test]
fn without_a_subscription_nothing_happens() {
    let run = |subscription| {
        let decisions = [2, 1].map(|mbps| Ok(Some(Decision::Rate(MBPS(mbps))))).to_vec();
        let (mut adapter, observations) = adapter(subscription, decisions);
        let mut actions = 0;
        for (micros, event) in [
            (10, arrival(1500, Admission::Accepted, view(0, 1500))),
            (1010, LinkEvent::Departure { queue: QueueView::EMPTY }),
            (2000, LinkEvent::Timeout { queue: QueueView::EMPTY }),
        ] {
            adapter.handle(at(micros), event);
            actions += std::iter::from_fn(|| adapter.poll_action()).count();
            assert_eq!(adapter.next_timeout(), None);
        }
        (actions, observations.try_iter().count())
    };
    assert_eq!(run(Subscription::default()), (0, 0));
    // The same plug-in acts on the same events with a subscription.
    assert_eq!(run(every_event()), (2, 2));
}

#[test]
fn an_observation_sums_up_the_events_since_the_last_one() {
    let (mut adapter, observations) = adapter(Subscription::ticks(Duration::from_millis(4)), Vec::new());
    let events = [
        (0, arrival(1500, Admission::Accepted, view(0, 1500))),
        (500, arrival(1000, Admission::Marked, view(1000, 1500))),
        (600, arrival(1500, Admission::Dropped, view(1000, 1500))),
        (700, arrival(500, Admission::Accepted, view(1500, 1500))),
        // CoDel drops the packet of 1000 B and marks that of 500 B, which enters service.
        (1000, LinkEvent::Managed { size: bytes(1000), verdict: HeadVerdict::Dropped, queue: view(0, 500) }),
        (1000, LinkEvent::Managed { size: bytes(500), verdict: HeadVerdict::Marked, queue: view(0, 500) }),
        (1000, LinkEvent::Departure { queue: view(0, 500) }),
        (1100, arrival(1500, Admission::Accepted, view(1500, 500))),
        (4000, LinkEvent::Timeout { queue: view(1500, 500) }),
    ];
    for (micros, event) in events {
        adapter.handle(at(micros), event);
    }
    let seen = observations.try_recv().unwrap();
    assert_eq!((seen.now, seen.span, seen.reason), (at(4000), Duration::from_millis(4), Reason::Tick));
    assert_eq!((seen.arrived, seen.departed), (amount(5, 6000), amount(1, 1500)));
    assert_eq!((seen.dropped, seen.marked), (amount(2, 2500), amount(2, 1500)));
    assert_eq!((seen.queue, seen.waiting_packets), (view(1500, 500), 1));
    // 12,000 bits of the 48,000 that 12 Mb/s send in 4 ms.
    assert!((seen.utilisation - 0.25).abs() < 1e-12);
    assert_eq!((seen.round_trip, seen.flows), (None, None));
    adapter.handle(at(8000), LinkEvent::Timeout { queue: view(1500, 500) });
    let next = observations.try_recv().unwrap();
    assert_eq!([next.arrived, next.departed, next.dropped, next.marked], [Amount::default(); 4]);
}

#[test]
fn a_packet_that_enters_service_after_a_pause_departs_with_its_size() {
    let (mut adapter, observations) = adapter(Subscription::ticks(Duration::from_millis(5)), Vec::new());
    // The link pauses: the packet waits. It enters service without an event.
    adapter.handle(at(0), arrival(1500, Admission::Accepted, view(1500, 0)));
    adapter.handle(at(3000), LinkEvent::Departure { queue: QueueView::EMPTY });
    adapter.handle(at(5000), LinkEvent::Timeout { queue: QueueView::EMPTY });
    assert_eq!(observations.try_recv().unwrap().departed, amount(1, 1500));
}

#[test]
fn ticks_stay_on_their_grid_however_late_the_driver_is() {
    let (mut adapter, observations) = adapter(Subscription::ticks(Duration::from_millis(1)), Vec::new());
    let queue = QueueView::EMPTY;
    assert_eq!(adapter.next_timeout(), Some(at(1000)));
    adapter.handle(at(1000), LinkEvent::Timeout { queue });
    // 0.4 ms late, then an uncalled timeout, then 2.5 intervals late.
    adapter.handle(at(2400), LinkEvent::Timeout { queue });
    adapter.handle(at(2900), LinkEvent::Timeout { queue });
    assert_eq!(adapter.next_timeout(), Some(at(3000)));
    adapter.handle(at(5500), LinkEvent::Timeout { queue });
    assert_eq!(adapter.next_timeout(), Some(at(6000)));
    let found: Vec<_> = observations.try_iter().map(|seen| (seen.now, seen.span.as_nanos() / 1000)).collect();
    assert_eq!(found, [(at(1000), 1000), (at(2400), 1400), (at(5500), 3100)]);
}

#[test]
fn a_tick_precedes_the_events_of_its_instant() {
    let ticks = Subscription { every_event: true, ..Subscription::ticks(Duration::from_millis(1)) };
    let timeout = LinkEvent::Timeout { queue: QueueView::EMPTY };
    let arrival = arrival(1500, Admission::Accepted, view(0, 1500));
    let reasons = |events: &[LinkEvent]| {
        let (mut adapter, observations) = adapter(ticks.clone(), Vec::new());
        events.iter().for_each(|&event| adapter.handle(at(1000), event));
        observations.try_iter().map(|seen| (seen.reason, seen.arrived.packets)).collect::<Vec<_>>()
    };
    let expected = [(Reason::Tick, 0), (Reason::Event(arrival), 1)];
    assert_eq!(reasons(&[timeout, arrival]), expected);
    assert_eq!(reasons(&[arrival, timeout]), expected);
}

#[test]
fn crossings_of_thresholds_are_seen_in_both_directions() {
    let thresholds = vec![bytes(4500), bytes(1500), bytes(3000), bytes(1500)];
    let (mut adapter, observations) = adapter(Subscription { thresholds, ..Subscription::default() }, Vec::new());
    for (micros, waiting) in [(1, 1499), (2, 1500), (3, 2999), (4, 9000), (5, 3000), (6, 1000), (7, 0)] {
        adapter.handle(at(micros), LinkEvent::Departure { queue: view(waiting, 1500) });
    }
    let crossing = |seen: Observation| match seen.reason {
        Reason::Threshold { length, reached } => (seen.now, length.as_u64(), reached),
        other => panic!("{other:?}"),
    };
    let found: Vec<_> = observations.try_iter().map(crossing).collect();
    // From 3000 to 1000 B it crosses 3000 and 1500 B; the second is nearer to the new backlog.
    assert_eq!(found, [(at(2), 1500, true), (at(4), 4500, true), (at(5), 4500, false), (at(6), 1500, false)]);
}

#[test]
fn rates_have_the_transition_as_their_pause_and_actions_their_own() {
    let own = LinkAction::SetRate { rate: MBPS(3), pause: Duration::from_millis(2) };
    let decisions = vec![
        Ok(Some(Decision::Rate(MBPS(3)))),
        Ok(Some(Decision::Action(own))),
        Ok(None),
        Ok(Some(Decision::Rate(MBPS(6)))),
    ];
    let (mut adapter, observations) = adapter(every_event(), decisions);
    let mut actions = |micros| {
        adapter.handle(at(micros), LinkEvent::Departure { queue: QueueView::EMPTY });
        std::iter::from_fn(|| adapter.poll_action()).collect::<Vec<_>>()
    };
    assert_eq!(actions(1), [LinkAction::SetRate { rate: MBPS(6), pause: Duration::from_micros(100) }]);
    assert_eq!(actions(2), []);
    assert_eq!(actions(3), [own]);
    assert_eq!(actions(4), [], "the present rate is no change");
    assert_eq!((adapter.rate(), adapter.changes()), (MBPS(3), 2));
    let rates: Vec<_> = observations.try_iter().map(|seen| seen.rate).collect();
    assert_eq!(rates, [MBPS(12), MBPS(6), MBPS(6), MBPS(3)]);
}

#[test]
fn a_failure_opens_the_link_and_silences_the_plug_in() {
    let broken = ConfigError::new("tick", "broken", "a rate");
    for (decision, field) in [
        (Err(broken), "tick"),
        (Ok(Some(Decision::Rate(MBPS(13)))), "rate"),
        (Ok(Some(Decision::Rate(MBPS(0)))), "rate"),
        (Ok(Some(Decision::Action(LinkAction::SetWindow(bytes(1500))))), "window"),
    ] {
        let ticks = Subscription { every_event: true, ..Subscription::ticks(Duration::from_millis(1)) };
        let (mut adapter, observations) = adapter(ticks, vec![decision, Ok(Some(Decision::Rate(MBPS(6))))]);
        adapter.handle(at(1), LinkEvent::Departure { queue: QueueView::EMPTY });
        assert!(adapter.poll_action().is_some());
        assert_eq!(adapter.fault(), None);
        adapter.handle(at(1000), LinkEvent::Departure { queue: QueueView::EMPTY });
        let open = LinkAction::SetRate { rate: MBPS(12), pause: Duration::ZERO };
        assert_eq!((adapter.poll_action(), adapter.poll_action()), (Some(open), None));
        assert_eq!(adapter.fault().unwrap().field, field);
        assert_eq!((adapter.rate(), adapter.next_timeout()), (MBPS(12), None));
        adapter.handle(at(2000), LinkEvent::Departure { queue: QueueView::EMPTY });
        assert_eq!(adapter.poll_action(), None);
        assert_eq!(observations.try_iter().count(), 2);
    }
}

#[test]
fn segments_give_estimates_and_windows() {
    let subscription = Subscription { segments: true, ..every_event() };
    let window = |count| Ok(Some(Decision::Action(LinkAction::SetWindow(bytes(count)))));
    let (mut adapter, observations) = adapter(subscription, vec![window(9000), window(3000)]);
    assert!(adapter.reads_segments());
    let segment = SegmentView {
        flow: 7,
        kind: SegmentKind::Other,
        end: 1,
        acknowledged: 1,
        data: false,
        fin: false,
        timestamps: None,
    };
    for expected in [Some(LinkAction::SetWindow(bytes(3000))), None] {
        adapter.handle(at(1), LinkEvent::Acknowledgement { segment, window: bytes(9000) });
        assert_eq!(adapter.poll_action(), expected, "a window is only lowered");
    }
    let event = arrival(1500, Admission::Accepted, view(0, 1500));
    let LinkEvent::Arrival { size, admission, queue, .. } = event else { unreachable!() };
    let segment = Some(SegmentView { data: true, ..segment });
    adapter.handle(at(2), LinkEvent::Arrival { size, admission, queue, segment });
    let flows: Vec<_> = observations.try_iter().map(|seen| seen.flows.map(f64::round)).collect();
    assert_eq!(flows, [None, None, Some(1.0)]);
}

#[test]
fn impossible_subscriptions_are_refused() {
    let refused = |subscription| {
        let plug = Plug { subscription, ..Plug::default() };
        let listed = Listed { decisions: Vec::new(), seen: channel().0 };
        Adapter::new(plug, listed, link(), Instant::ZERO).unwrap_err().field
    };
    assert_eq!(refused(Subscription::ticks(Duration::ZERO)), "tick");
    assert_eq!(refused(Subscription { thresholds: vec![bytes(0)], ..Subscription::default() }), "thresholds");
    let plug = Plug { initial_rate: Some(MBPS(13)), ..Plug::default() };
    let listed = Listed { decisions: Vec::new(), seen: channel().0 };
    assert_eq!(Adapter::new(plug, listed, link(), Instant::ZERO).unwrap_err().field, "initial_rate");
}

#[test]
fn the_schema_has_every_event_and_action() {
    let schema = serde_json::to_value(json_schema()).unwrap();
    assert_eq!(schema["x-version"], VOCABULARY);
    let kinds = |name: &str| schema["$defs"][name]["oneOf"].as_array().map_or(0, Vec::len);
    assert_eq!([kinds("LinkEvent"), kinds("LinkAction"), kinds("Reason")], [5, 2, 3]);
    assert!(kinds("StationEvent") >= 4 && kinds("StationAction") >= 4, "{schema}");
}
