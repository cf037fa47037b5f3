//! Properties of practRA for any arrivals and any configuration.

use crate::common::{Link, at_us};
use netlull_mechanism::Machine;
use netlull_mechanism::link::{Controller as _, LinkAction, LinkEvent};
use netlull_mechanism::rate::{
    Admission, ArrivalCount, ForecastStart, PractRa, PractRaConfig, QueueCount, QueueView, RateSet, Reach,
};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use proptest::prelude::*;

fn configs() -> impl Strategy<Value = PractRaConfig> {
    let micros = |range: std::ops::Range<u64>| range.prop_map(Duration::from_micros);
    let rates = prop::collection::btree_set(100_u64..20_000, 1..8)
        .prop_map(|kbps| kbps.into_iter().map(|k| BitRate::from_bps(k * 1000)).collect::<Vec<_>>());
    let tick = prop::option::of(micros(300..40_000));
    let start = prop_oneof![Just(ForecastStart::Zero), Just(ForecastStart::FirstSample)];
    let queue = prop_oneof![Just(QueueCount::Waiting), Just(QueueCount::WaitingAndInService)];
    let arrivals = prop_oneof![Just(ArrivalCount::Offered), Just(ArrivalCount::Accepted)];
    let spans = (micros(0..3000), micros(1..30_000), micros(1..60_000), prop::option::of(micros(500..50_000)));
    let reach = prop_oneof![Just(Reach::Adjacent), Just(Reach::Any)];
    let readings = (0.01_f64..=1.0, start, tick, queue, arrivals, reach, any::<prop::sample::Index>());
    (rates, spans, readings).prop_map(
        |(
            rates,
            (transition, hold, bound, forecast_interval),
            (weight, start, tick, queue, arrival, steps, initial),
        )| {
            PractRaConfig {
                rates: RateSet::from_list(&rates).unwrap(),
                transition,
                min_interval: transition + hold,
                delay_bound: transition + bound,
                forecast_weight: weight,
                forecast_interval,
                forecast_start: start,
                tick,
                queue,
                arrivals: arrival,
                steps,
                initial_rate: Some(rates[initial.index(rates.len())]),
            }
        },
    )
}

/// Packets (time, size): dense bursts and long gaps.
fn packets() -> impl Strategy<Value = Vec<(Instant, u64)>> {
    let gap = prop_oneof![5 => 0_u64..2000, 2 => 2000_u64..20_000, 1 => 20_000_u64..500_000];
    prop::collection::vec((gap, prop_oneof![Just(40_u64), Just(1500), 40_u64..1500]), 0..120).prop_map(|packets| {
        let mut now = 0;
        packets
            .into_iter()
            .map(|(gap, size)| {
                now += gap;
                (at_us(now), size)
            })
            .collect()
    })
}

fn run(config: &PractRaConfig, packets: &[(Instant, u64)]) -> Link {
    let mut link = Link::new(PractRa::new(config, Instant::ZERO).unwrap(), 40_000);
    link.run(packets, at_us(10_000_000_000));
    link
}

/// Events with queue contents in an order that no real link would produce. The controller must handle any order.
fn wild_events() -> impl Strategy<Value = Vec<(u64, LinkEvent)>> {
    let queue = prop_oneof![2 => Just(0_u64), 3 => 1_u64..100_000];
    prop::collection::vec((0_u64..30_000, queue, 0_u64..1501, 0_u8..3), 0..80).prop_map(|events| {
        let mut now = 0;
        events
            .into_iter()
            .map(|(gap, waiting, size, kind)| {
                now += gap;
                let queue = QueueView { waiting: Bytes::new(waiting), in_service: Bytes::new(size) };
                let event = match kind {
                    0 => LinkEvent::Departure { queue },
                    1 => LinkEvent::Arrival {
                        size: Bytes::new(size),
                        admission: Admission::Accepted,
                        queue,
                        segment: None,
                    },
                    _ => LinkEvent::Arrival {
                        size: Bytes::new(size),
                        admission: Admission::Dropped,
                        queue,
                        segment: None,
                    },
                };
                (now, event)
            })
            .collect()
    })
}

/// The changes if the driver delivers the events, the requested timeouts, and additional `uncalled` ones (in us).
fn changes(config: &PractRaConfig, events: &[(u64, LinkEvent)], uncalled: &[u64]) -> Vec<(Instant, LinkAction)> {
    let mut machine = PractRa::new(config, Instant::ZERO).unwrap();
    let (mut found, mut queue, mut handled) = (Vec::new(), QueueView::EMPTY, 0);
    let (mut events, mut uncalled) = (events.iter().copied().peekable(), uncalled.iter().copied().peekable());
    loop {
        let next = events.peek().map_or(Instant::NEVER, |&(t, _)| at_us(t));
        let extra = uncalled.peek().map_or(Instant::NEVER, |&t| at_us(t));
        let asked = machine.next_timeout().unwrap_or(Instant::NEVER);
        let now = next.min(extra).min(asked);
        if now == Instant::NEVER {
            return found;
        }
        if next == now {
            let (_, event) = events.next().unwrap();
            queue = event.queue().unwrap();
            machine.handle(now, event);
        } else {
            uncalled.next_if(|&t| at_us(t) == now);
            machine.handle(now, LinkEvent::Timeout { queue });
        }
        found.extend(machine.poll_action().map(|action| (now, action)));
        handled += 1;
        assert!(handled < 1_000_000, "the controller asks for a timeout without end at {now}");
        if events.peek().is_none() && now > at_us(60_000_000) {
            return found; // a queue that never empties never ends
        }
    }
}

proptest! {
    #[test]
    fn changes_are_at_least_mrci_apart(config in configs(), packets in packets()) {
        let changes = run(&config, &packets).changes();
        for pair in changes.windows(2) {
            prop_assert!(pair[1].0 - pair[0].0 >= config.min_interval);
        }
    }

    #[test]
    fn a_change_is_within_the_set_and_one_step_if_so_configured(config in configs(), packets in packets()) {
        let link = run(&config, &packets);
        let mut level = config.rates.position(config.initial_rate.unwrap()).unwrap();
        for (_, rate) in link.changes() {
            let next = config.rates.position(rate).expect("a rate of the set");
            match config.steps {
                Reach::Adjacent => prop_assert_eq!(next.abs_diff(level), 1),
                Reach::Any => prop_assert_ne!(next, level),
            }
            level = next;
        }
        prop_assert_eq!(link.controller.changes() as usize, link.changes().len());
        prop_assert_eq!(link.controller.rate(), config.rates.as_slice()[level]);
    }

    #[test]
    fn with_two_rates_there_is_nowhere_to_jump(config in configs(), packets in packets()) {
        let ends = [config.rates.lowest(), config.rates.highest()];
        prop_assume!(ends[0] < ends[1]);
        let config = PractRaConfig { rates: RateSet::from_list(&ends).unwrap(), initial_rate: None, ..config };
        let changes = |steps| run(&PractRaConfig { steps, ..config.clone() }, &packets).changes();
        prop_assert_eq!(changes(Reach::Adjacent), changes(Reach::Any));
    }

    #[test]
    fn a_jump_ends_where_its_rule_asks_for_no_more(config in configs(), events in wild_events()) {
        let config = PractRaConfig { steps: Reach::Any, ..config };
        let mut machine = PractRa::new(&config, Instant::ZERO).unwrap();
        let (rates, seconds) = (config.rates.as_slice(), |span: Duration| span.as_secs_f64());
        for (at, event) in events {
            let before = config.rates.position(machine.rate()).unwrap();
            machine.handle(at_us(at), event);
            let Some(LinkAction::SetRate { rate, .. }) = machine.poll_action() else { continue };
            let queue = match config.queue {
                QueueCount::Waiting => event.queue().unwrap().waiting,
                QueueCount::WaitingAndInService => event.queue().unwrap().waiting + event.queue().unwrap().in_service,
            };
            let (q, rf, now) = (queue.as_bits() as f64, machine.forecast(), config.rates.position(rate).unwrap());
            let (d, delta) = (seconds(config.delay_bound), seconds(config.transition));
            // The margin in seconds by which rate r meets both halves of 1.1; near 0 the rounding decides.
            let room = |r: BitRate| (d - q / r.as_f64()).min(d - delta - (delta * rf + q) / r.as_f64());
            if now > before {
                prop_assert!(now == rates.len() - 1 || room(rate) > -1e-9, "too low: {} at {}", room(rate), rate);
                prop_assert!((before + 1..now).all(|level| room(rates[level]) < 1e-9), "a lower rate would do");
            } else {
                prop_assert!(q == 0.0 && rf < rate.as_f64());
                prop_assert!(now == 0 || rf >= rates[now - 1].as_f64(), "a lower rate is above the forecast");
            }
        }
    }

    #[test]
    fn a_timeout_is_never_in_the_past_and_never_asked_for_twice(config in configs(), packets in packets()) {
        for line in run(&config, &packets).lines {
            let Some(next) = line.next_timeout else { continue };
            prop_assert!(next >= line.now);
            if matches!(line.event, LinkEvent::Timeout { .. }) {
                prop_assert!(next > line.now, "would loop at {}", line.now);
            }
        }
    }

    #[test]
    fn the_same_events_give_the_same_actions(config in configs(), packets in packets()) {
        prop_assert_eq!(run(&config, &packets).lines, run(&config, &packets).lines);
    }

    #[test]
    fn an_idle_link_falls_quiet_at_its_lowest_rate(config in configs(), packets in packets()) {
        let link = run(&config, &packets);
        prop_assert_eq!(link.controller.next_timeout(), None);
        prop_assert_eq!(link.controller.rate(), config.rates.lowest());
    }

    #[test]
    fn the_timeouts_asked_for_are_enough(
        config in configs(), events in wild_events(), uncalled in prop::collection::btree_set(0_u64..3_000_000, 0..300),
    ) {
        let uncalled: Vec<u64> = uncalled.into_iter().collect();
        prop_assert_eq!(changes(&config, &events, &uncalled), changes(&config, &events, &[]));
    }

    #[test]
    fn the_forecast_is_the_same_however_often_it_is_looked_at(config in configs(), packets in packets(), later in 0_u64..90_000_000) {
        let link = run(&config, &packets);
        let end = link.lines.last().map_or(Instant::ZERO, |line| line.now) + Duration::from_micros(later);
        let (mut looked_at, mut left_alone) = (link.controller.clone(), link.controller.clone());
        let ahead = left_alone.forecast_at(end);
        let start = link.lines.last().map_or(Instant::ZERO, |line| line.now);
        for n in 1..=50 {
            let now = start + (end - start) * n / 50;
            looked_at.handle(now, LinkEvent::Timeout { queue: QueueView::EMPTY });
            looked_at.poll_action();
        }
        left_alone.handle(end, LinkEvent::Timeout { queue: QueueView::EMPTY });
        prop_assert_eq!(looked_at.forecast().to_bits(), left_alone.forecast().to_bits());
        prop_assert_eq!(ahead.to_bits(), left_alone.forecast().to_bits());
    }
}
