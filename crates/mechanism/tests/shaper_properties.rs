//! Properties of the shaper for any losses and delays on the path and any configuration.

use crate::download::{Download, Probe, Setting, reading, station};
use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{SegmentKind, Timestamps};
use netlull_mechanism::radio::{BurstAcks, Eager, EagerConfig, PacedFrom, Shaper, ShaperConfig, ShaperState};
use netlull_mechanism::station::{self, PacketView, StationAction, StationEvent, TcpView};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use proptest::prelude::*;

fn configs() -> impl Strategy<Value = ShaperConfig> {
    let from = prop_oneof![Just(PacedFrom::Bursts), Just(PacedFrom::SlowStart)];
    let guard = prop::option::of((0.1_f64..1.0, 1.0_f64..3.0, 1_u32..4, from));
    let counts = (1_u32..6, 0.3_f64..50.0, 1_u32..5);
    let window = prop::option::of((1500_u64..70_000).prop_map(Bytes::new));
    let future = (window, prop::option::of(0.1_f64..1.0), prop::option::of(0.01_f64..3.0));
    (1_u64..10, 1.0_f64..2.0, counts, any::<u8>(), guard, future).prop_map(
        |(least, growth, (patience, saturation, saturated_bursts), bits, guard, future)| {
            let (open_window, resume, most_slowdown) = future;
            let config = ShaperConfig {
                least_wait: Duration::from_millis(least),
                growth,
                patience,
                saturation,
                saturated_bursts,
                open_window,
                resume: resume.map(|share| share * saturation),
                most_slowdown,
                ..reading(bits)
            };
            let Some((share, paced_stretch, paced_bursts, paced_from)) = guard else { return config };
            ShaperConfig { paced_share: Some(share), paced_stretch, paced_bursts, paced_from, ..config }
        },
    )
}

fn stations() -> impl Strategy<Value = station::Context> {
    (1_u64..100, 0_u64..20).prop_map(|(mbps, wake)| station(mbps, wake))
}

fn settings() -> impl Strategy<Value = Setting> {
    let loss = || prop_oneof![Just(0.0), 0.0_f64..0.05, 0.05_f64..0.3];
    let path = (0_u64..150, prop_oneof![Just(0_u64), 0_u64..40], any::<bool>(), 500_u64..40_000);
    let stream = (1_u64..300_000, 500_u64..1461, prop_oneof![any::<u32>(), (u32::MAX - 100_000)..u32::MAX]);
    let rest = (prop_oneof![Just(1_u64), Just(10), Just(100)], any::<bool>(), prop::option::of(1_u64..9));
    ((configs(), stations()), any::<u64>(), path, stream, loss(), loss(), rest).prop_map(
        |(
            (config, station),
            seed,
            path,
            (size, mss, initial_sequence),
            data_loss,
            ack_loss,
            (tick, byte, uncalled),
        )| {
            let (delay, jitter, reorders, kbps) = path;
            Setting {
                config,
                station,
                seed,
                size,
                mss,
                initial_sequence,
                delay: Duration::from_millis(delay),
                jitter: Duration::from_millis(jitter),
                reorders,
                data_loss,
                ack_loss,
                rate: BitRate::from_bps(kbps * 1000),
                tick: Duration::from_millis(tick),
                probe: if byte { Probe::Byte } else { Probe::Empty },
                uncalled,
            }
        },
    )
}

fn kind() -> impl Strategy<Value = SegmentKind> {
    prop_oneof![1 => Just(SegmentKind::Syn), 1 => Just(SegmentKind::SynAck), 8 => Just(SegmentKind::Other)]
}

/// Segments in an order that no TCP would send.
fn segments() -> impl Strategy<Value = TcpView> {
    let number = || prop_oneof![3 => 0_u32..9000, 1 => (u32::MAX - 9000)..=u32::MAX, 1 => any::<u32>()];
    let stamps =
        prop::option::weighted(0.9, (0_u32..60, 0_u32..60).prop_map(|(value, echo)| Timestamps { value, echo }));
    let len = prop_oneof![3 => Just(0_u32), 1 => Just(1), 4 => 1_u32..3000, 1 => any::<u32>()];
    let flags = (0_u32..3, kind(), prop::bool::weighted(0.02), any::<bool>());
    (flags, number(), len, number(), stamps, prop_oneof![Just(0_u64), any::<u64>()]).prop_map(
        |((connection, kind, fin, ack), seq, len, number, timestamps, window)| TcpView {
            connection: connection / 2,
            kind,
            fin,
            seq,
            len,
            acknowledged: ack.then_some(number),
            window: Bytes::new(window),
            timestamps,
        },
    )
}

fn events() -> impl Strategy<Value = Vec<(u64, StationEvent)>> {
    let packet = || {
        (any::<u32>(), prop::option::weighted(0.95, segments()))
            .prop_map(|(size, segment)| PacketView { size, segment })
    };
    let event = prop_oneof![
        5 => packet().prop_map(|packet| StationEvent::Received { packet, more: false }),
        3 => packet().prop_map(|packet| StationEvent::Sending { packet }),
        2 => packet().prop_map(|packet| StationEvent::Acknowledged { packet }),
        1 => any::<bool>().prop_map(|buffered| StationEvent::Beacon { buffered }),
        3 => Just(StationEvent::Timeout),
    ];
    let gap = prop_oneof![3 => Just(0_u64), 6 => 0_u64..9_000_000, 2 => 0_u64..400_000_000, 1 => any::<u64>()];
    prop::collection::vec((gap, event), 1..300)
}

fn replay(
    config: &ShaperConfig,
    station: station::Context,
    events: &[(Instant, StationEvent)],
) -> Vec<Vec<StationAction>> {
    let mut shaper = Shaper::new(config, station, Instant::ZERO).unwrap();
    let actions = |&(now, event): &(Instant, StationEvent)| {
        shaper.handle(now, event);
        std::iter::from_fn(|| shaper.poll_action()).collect()
    };
    events.iter().map(actions).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Every download completes, whatever the losses. At every event (see `Download`), these hold: the radio
    /// hears from open ACK + least round trip on. Windows change only in Saving and Recovery, where a timeout is
    /// always pending. States follow the diagram. Timeouts are never in the past and never repeated, and an
    /// unrequested one does no harm.
    #[test]
    fn every_download_completes(setting in settings()) {
        let outcome = Download::run(&setting);
        prop_assert!(outcome.completed.is_some(), "{:?} after {} events", outcome.states, outcome.log.len());
    }

    /// The same events give the same actions.
    #[test]
    fn nothing_is_random(setting in settings()) {
        let setting = Setting { uncalled: None, ..setting };
        let outcome = Download::run(&setting);
        let events: Vec<_> = outcome.log.iter().map(|&(now, event, _)| (now, event)).collect();
        let actions: Vec<_> = outcome.log.into_iter().map(|(.., actions)| actions).collect();
        prop_assert_eq!(replay(&setting.config, setting.station, &events), actions);
    }

    /// The initial sequence number and timestamp do not change the result.
    #[test]
    fn numbers_may_wrap_anywhere(setting in settings(), initial_sequence in (u32::MAX - 300_000)..=u32::MAX) {
        let (here, there) = (Download::run(&Setting { initial_sequence: 0, ..setting.clone() }), Download::run(&Setting { initial_sequence, ..setting }));
        prop_assert_eq!((here.completed, here.states, here.bursts, here.asleep), (there.completed, there.states, there.bursts, there.asleep));
    }

    /// Any segments in any order cause no panic and no timeout in the past. Windows change only in shaping states
    /// and only in bare acknowledgements, the radio sleeps only in Saving, and a repetition gives the same
    /// actions.
    #[test]
    fn whatever_comes(config in configs(), station in stations(), events in events()) {
        let mut shaper = Shaper::new(&config, station, Instant::ZERO).unwrap();
        let (mut now, mut log, mut found) = (Instant::ZERO, Vec::new(), Vec::new());
        for (gap, event) in events {
            now += Duration::from_nanos(gap);
            shaper.handle(now, event);
            let actions: Vec<_> = std::iter::from_fn(|| shaper.poll_action()).collect();
            let shapes = matches!(shaper.state(), ShaperState::Saving | ShaperState::Recovery);
            for action in &actions {
                match (action, event) {
                    (StationAction::SetWindow(window), StationEvent::Timeout) => {
                        prop_assert!(shapes && Some(*window) == config.open_window);
                    }
                    (StationAction::Withhold, StationEvent::Sending { packet }) => {
                        prop_assert!(shapes && config.burst_acks == BurstAcks::Withheld && packet.is_acknowledgement());
                    }
                    (StationAction::SetWindow(window), StationEvent::Sending { packet }) => {
                        let segment = packet.segment.unwrap();
                        prop_assert!(shapes && *window < segment.window);
                        prop_assert!(segment.len == 0 && !segment.fin && segment.kind == SegmentKind::Other);
                    }
                    (StationAction::Sleep, StationEvent::Timeout) => prop_assert_eq!(shaper.state(), ShaperState::Saving),
                    (StationAction::Wake, _) => {}
                    (StationAction::Acknowledge { .. }, StationEvent::Timeout) => {}
                    _ => prop_assert!(false, "{:?} for {:?}", action, event),
                }
            }
            let next = shaper.next_timeout();
            prop_assert!(next.is_none_or(|at| at >= now));
            prop_assert!(!shapes || next.is_some());
            log.push((now, event));
            found.push(actions);
        }
        prop_assert_eq!(replay(&config, station, &log), found);
    }
}

proptest! {
    /// The baseline requests only acknowledgements, at requested timeouts, and then needs no timer.
    #[test]
    fn eager_acknowledgements_whatever_comes(events in events()) {
        let mut eager = Eager::new(&EagerConfig::default(), Instant::ZERO).unwrap();
        let mut now = Instant::ZERO;
        for (gap, event) in events {
            now += Duration::from_nanos(gap);
            let due = eager.next_timeout();
            eager.handle(now, event);
            if let Some(action) = eager.poll_action() {
                let asked = matches!(action, StationAction::Acknowledge { .. }) && event == StationEvent::Timeout;
                prop_assert!(asked, "{:?} for {:?}", action, event);
                prop_assert!(due.unwrap() <= now);
                prop_assert_eq!(eager.next_timeout(), None);
            }
            prop_assert_eq!(eager.poll_action(), None);
            prop_assert!(eager.next_timeout().is_none_or(|at| at >= now));
        }
    }
}

/// On a clean path of 60 ms the shaper works as designed. It saves from the end of slow start to the FIN, misses
/// no packet, and the radio sleeps for most of the time.
#[test]
fn a_clean_download_is_slept_through() {
    let outcome = Download::run(&Setting::clean(4_000_000));
    let seconds = outcome.completed.unwrap().as_secs_f64();
    assert_eq!(outcome.states, [ShaperState::Initial, ShaperState::Saving, ShaperState::Ended]);
    assert_eq!((outcome.missed, outcome.resent_opens), (0, 0));
    assert!(outcome.asleep.as_secs_f64() > 0.5 * seconds, "{} of {seconds} s", outcome.asleep.as_secs_f64());
}
