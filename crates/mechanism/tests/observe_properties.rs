//! Properties of the adapter of plug-ins, for any traffic and any subscription.

use crate::common::at_us;
use netlull_mechanism::link::{self, Controller as _, LinkAction, LinkEvent};
use netlull_mechanism::observe::{Adapter, Amount, Decision, Observation, Plug, Reason, Subscriber, Subscription};
use netlull_mechanism::rate::{Admission, HeadVerdict, QueueView};
use netlull_mechanism::{ConfigError, Machine};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};

/// Reports each observation, and takes a rate that depends on the traffic.
#[derive(Debug)]
struct Reporter(Sender<Observation>);

impl Subscriber for Reporter {
    fn observe(&mut self, seen: &Observation) -> Result<Option<Decision>, ConfigError> {
        self.0.send(*seen).unwrap();
        Ok(Some(Decision::Rate(BitRate::from_mbps(1 + (seen.arrived.packets + seen.departed.packets) % 10))))
    }
}

/// A queue with a transmitter that pauses at will, and with queue management.
#[derive(Default)]
struct Line {
    waiting: VecDeque<u64>,
    in_service: u64,
    paused: bool,
}

impl Line {
    fn view(&self) -> QueueView {
        QueueView { waiting: Bytes::new(self.waiting.iter().sum()), in_service: Bytes::new(self.in_service) }
    }

    fn serve(&mut self) {
        if self.in_service == 0 && !self.paused {
            self.in_service = self.waiting.pop_front().unwrap_or(0);
        }
    }

    /// The events of a step. Steps 0 to 2 are arrivals, 3 a departure, 4 a drop at the head; 5 and 6 switch the pause,
    /// which has no event.
    fn step(&mut self, step: u8, size: u64) -> Option<LinkEvent> {
        match step {
            0..=2 => {
                let admission = [Admission::Accepted, Admission::Marked, Admission::Dropped][usize::from(step)];
                if admission.is_accepted() {
                    self.waiting.push_back(size);
                    self.serve();
                }
                Some(LinkEvent::Arrival { size: Bytes::new(size), admission, queue: self.view(), segment: None })
            }
            3 if self.in_service > 0 => {
                self.in_service = 0;
                self.serve();
                Some(LinkEvent::Departure { queue: self.view() })
            }
            4 => {
                let size = Bytes::new(self.waiting.pop_front()?);
                Some(LinkEvent::Managed { size, verdict: HeadVerdict::Dropped, queue: self.view() })
            }
            _ => {
                self.paused = step == 5;
                self.serve();
                None
            }
        }
    }
}

/// Steps (gap in us, step, size).
fn steps() -> impl Strategy<Value = Vec<(u64, u8, u64)>> {
    prop::collection::vec((prop_oneof![Just(0_u64), 1_u64..3000], 0_u8..7, 40_u64..1501), 0..150)
}

fn subscriptions() -> impl Strategy<Value = Subscription> {
    let tick = prop::option::of((1_u64..5000).prop_map(Duration::from_micros));
    let thresholds = prop::collection::vec((1_u64..6000).prop_map(Bytes::new), 0..4);
    (tick, thresholds, any::<bool>()).prop_map(|(tick, thresholds, every_event)| Subscription {
        tick,
        thresholds,
        every_event,
        segments: false,
    })
}

/// The result of a run: events, observations and actions.
#[derive(Debug, Default, PartialEq)]
struct Run {
    events: Vec<(Instant, LinkEvent)>,
    observations: Vec<Observation>,
    actions: Vec<(Instant, LinkAction)>,
}

/// The order of a timeout and other events at one instant.
#[derive(Clone, Copy, PartialEq)]
enum Timeouts {
    First,
    Last,
}

/// Runs the steps and, at the end, a last tick after everything else. With `uncalled`, timeouts come at every step.
fn run(subscription: &Subscription, steps: &[(u64, u8, u64)], order: Timeouts, uncalled: bool) -> Run {
    let (sender, observations) = channel();
    let plug = Plug { subscription: subscription.clone(), initial_rate: None, transition: Duration::from_micros(50) };
    let link = link::Context::new(BitRate::from_mbps(12), Bytes::new(1500));
    let mut adapter = Adapter::new(plug, Reporter(sender), link, Instant::ZERO).unwrap();
    let (mut line, mut found, mut micros) = (Line::default(), Run::default(), 0);
    let mut tell = |adapter: &mut Adapter<Reporter>, now, event| {
        adapter.handle(now, event);
        found.actions.extend(std::iter::from_fn(|| adapter.poll_action()).map(|action| (now, action)));
        assert!(adapter.next_timeout().is_none_or(|due| due > now));
    };
    for &(gap, step, size) in steps {
        micros += gap;
        let is_due = |due: Instant| due < at_us(micros) || order == Timeouts::First && due == at_us(micros);
        while let Some(due) = adapter.next_timeout().filter(|&due| is_due(due)) {
            tell(&mut adapter, due, LinkEvent::Timeout { queue: line.view() });
        }
        if let Some(event) = line.step(step, size) {
            found.events.push((at_us(micros), event));
            tell(&mut adapter, at_us(micros), event);
        }
        if uncalled {
            tell(&mut adapter, at_us(micros), LinkEvent::Timeout { queue: line.view() });
        }
    }
    // A tick at the last step may still be due.
    while let Some(due) = adapter.next_timeout() {
        tell(&mut adapter, due, LinkEvent::Timeout { queue: line.view() });
        if due > at_us(micros) {
            break;
        }
    }
    assert_eq!(adapter.changes() as usize, found.actions.len());
    found.observations = observations.try_iter().collect();
    found
}

fn sum(amounts: impl Iterator<Item = Amount>) -> Amount {
    amounts.fold(Amount::default(), |sum, each| Amount {
        packets: sum.packets + each.packets,
        bytes: sum.bytes + each.bytes,
    })
}

proptest! {
    #[test]
    fn observations_add_up_to_the_events(subscription in subscriptions(), steps in steps()) {
        let Run { events, observations, .. } = run(&subscription, &steps, Timeouts::First, false);
        // Events after the last observation are not seen yet.
        let last = observations.last().map_or(Instant::ZERO, |seen| seen.now);
        let is_seen = subscription.tick.is_some() || subscription.every_event;
        prop_assume!(is_seen && !observations.is_empty());
        let (mut arrived, mut dropped, mut marked, mut departures) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for &(at, event) in &events {
            prop_assert!(at <= last);
            match event {
                LinkEvent::Arrival { size, admission, .. } => {
                    arrived.push(size);
                    match admission {
                        Admission::Accepted => {}
                        Admission::Marked => marked.push(size),
                        Admission::Dropped => dropped.push(size),
                    }
                }
                LinkEvent::Managed { size, .. } => dropped.push(size),
                LinkEvent::Departure { .. } => departures += 1,
                LinkEvent::Timeout { .. } | LinkEvent::Acknowledgement { .. } => {}
            }
        }
        let total = |sizes: &[Bytes]| sum(sizes.iter().map(|&bytes| Amount { packets: 1, bytes }));
        let seen = |part: fn(&Observation) -> Amount| sum(observations.iter().map(part));
        prop_assert_eq!(seen(|seen| seen.arrived), total(&arrived));
        prop_assert_eq!(seen(|seen| seen.dropped), total(&dropped));
        prop_assert_eq!(seen(|seen| seen.marked), total(&marked));
        // Every byte that arrived has left, is lost, or is still there.
        let (departed, rest) = (seen(|seen| seen.departed), observations.last().unwrap());
        let content = rest.queue.waiting + rest.queue.in_service;
        prop_assert_eq!(departed.packets, departures);
        prop_assert_eq!(total(&arrived).bytes, departed.bytes + total(&dropped).bytes + content);
        let left = total(&arrived).packets - departed.packets - total(&dropped).packets;
        prop_assert_eq!(rest.waiting_packets, left - u64::from(rest.queue.in_service > Bytes::ZERO));
        let spans = observations.iter().fold(Duration::ZERO, |sum, seen| sum + seen.span);
        prop_assert_eq!(Instant::ZERO + spans, last);
    }

    #[test]
    fn ticks_are_at_every_multiple_and_at_no_other_time(subscription in subscriptions(), steps in steps()) {
        let Some(interval) = subscription.tick else { return Ok(()) };
        let found = run(&subscription, &steps, Timeouts::First, false);
        let ticks = found.observations.iter().filter(|seen| seen.reason == Reason::Tick);
        let mut number = 0;
        for tick in ticks {
            number += 1;
            prop_assert_eq!(tick.now, Instant::ZERO + interval * number);
        }
        // Every tick that was due has come, and a last one after the steps.
        let end = Instant::ZERO + Duration::from_micros(steps.iter().map(|(gap, ..)| gap).sum());
        prop_assert!(number >= 1);
        prop_assert!(Instant::ZERO + interval * number > end);
    }

    #[test]
    fn neither_the_driver_s_order_nor_uncalled_timeouts_matter(subscription in subscriptions(), steps in steps()) {
        let found = run(&subscription, &steps, Timeouts::First, false);
        let later = run(&subscription, &steps, Timeouts::Last, false);
        // The content that a tick shows may be older if an event precedes its timeout: a pause ends without an event.
        let counts = |run: &Run| run.observations.iter().map(|seen| (seen.now, seen.reason, seen.arrived, seen.departed)).collect::<Vec<_>>();
        prop_assert_eq!(counts(&found), counts(&later));
        prop_assert_eq!(&found.actions, &later.actions);
        let uncalled = run(&subscription, &steps, Timeouts::First, true);
        prop_assert_eq!(counts(&found), counts(&uncalled));
        prop_assert_eq!(&found.actions, &uncalled.actions);
    }

    #[test]
    fn without_a_subscription_there_is_no_action(steps in steps()) {
        let found = run(&Subscription::default(), &steps, Timeouts::First, true);
        prop_assert_eq!((found.observations.len(), found.actions.len()), (0, 0));
        // The same steps have an observation per event with a subscription, and a first action if there is an event.
        let every = Subscription { every_event: true, ..Subscription::default() };
        let heard = run(&every, &steps, Timeouts::First, true);
        prop_assert_eq!(heard.observations.len(), heard.events.len());
        prop_assert_eq!(heard.actions.is_empty(), heard.events.is_empty());
    }
}
