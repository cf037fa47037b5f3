//! A station's radio and its numbers, by hand.

use netlull_network::outcome::{
    DownloadOutcome, DownloadSummary, NamedRadio, RadioSeconds, RadioSummary, Snapshot, StationCounts,
};
use netlull_network::radio::{Carried, Coming, Radio};
use netlull_power::{RadioPower, RadioTime};
use netlull_units::{BitRate, Duration, Instant};

const WAKE: Duration = Duration::from_millis(2);

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

/// 1250 B take 1 ms to the radio (10 Mb/s) and 2 ms from it (5 Mb/s).
fn radio() -> Radio {
    Radio::new(Instant::ZERO, WAKE, [BitRate::from_mbps(10), BitRate::from_mbps(5)])
}

/// Sleeps 1 s, wakes 2 s, is idle 3 s, receives 4 s and transmits 5 s.
fn times() -> RadioTime {
    RadioTime {
        asleep: Duration::from_secs(1),
        waking: Duration::from_secs(2),
        idle: Duration::from_secs(3),
        receiving: Duration::from_secs(4),
        transmitting: Duration::from_secs(5),
        wakes: 6,
    }
}

/// The radio of the catalogue with other powers: 1 W asleep, 20 W waking, 2 W idle, 3 W receiving, 4 W transmitting.
fn models() -> [NamedRadio; 1] {
    let watts = |value: f64| netlull_units::Watts::new(value);
    let known = RadioPower::by_name("wavelan-dsss").expect("a radio");
    let power = RadioPower {
        asleep: watts(1.0),
        waking: watts(20.0),
        idle: watts(2.0),
        receive: watts(3.0),
        transmit: watts(4.0),
        ..known
    };
    [NamedRadio { name: "test".into(), power }]
}

#[test]
fn a_radio_sleeps_after_its_last_frame_and_wakes_in_its_wake_time() {
    let mut radio = radio();
    assert_eq!((radio.is_awake(), radio.is_asleep()), (true, false));
    assert_eq!((radio.awake_since(), radio.sleeps_at(), radio.wakes_at()), (Some(at(0)), None, None));
    // Two frames of 2 ms: until 4 ms. Sleep asked for at 1 ms waits for them.
    assert_eq!(radio.transmits(at(0), 1250, None), (at(0), at(2000)));
    assert_eq!(radio.transmits(at(500), 1250, None), (at(2000), at(4000)));
    radio.wants_sleep(at(1000));
    assert_eq!(radio.sleeps_at(), Some(at(4000)));
    radio.postpones_sleep(at(6000));
    radio.postpones_sleep(at(5000));
    assert_eq!(radio.sleeps_at(), Some(at(6000)));
    radio.stay();
    assert_eq!(radio.sleeps_at(), None);
    // Without an intended sleep there is nothing to postpone.
    radio.postpones_sleep(at(9000));
    assert_eq!(radio.sleeps_at(), None);

    radio.sleep(at(7000));
    assert_eq!((radio.is_awake(), radio.is_asleep(), radio.awake_since()), (false, true, None));
    assert!(radio.wake(at(10_000)), "it slept");
    assert!(!radio.wake(at(10_500)), "it is waking");
    assert_eq!((radio.wakes_at(), radio.is_awake(), radio.is_asleep()), (Some(at(12_000)), false, false));
    // A frame waits for the end of the wake time.
    assert_eq!(radio.transmits(at(11_000), 1250, None), (at(12_000), at(14_000)));
    radio.wants_sleep(at(11_500));
    assert_eq!(radio.sleeps_at(), None, "a waking radio does not sleep yet");
    radio.awake(at(12_000));
    assert_eq!((radio.awake_since(), radio.sleeps_at()), (Some(at(12_000)), Some(at(14_000))));
    // Times to 15 ms: asleep 7 to 10, waking to 12, transmitting 0 to 4 and 12 to 14, idle 3 + 1 ms.
    let ms = Duration::from_millis;
    let expected = RadioTime {
        asleep: ms(3),
        waking: ms(2),
        idle: ms(4),
        receiving: Duration::ZERO,
        transmitting: ms(6),
        wakes: 1,
    };
    assert_eq!(radio.times(at(15_000), None), expected);
}

#[test]
fn a_frame_on_shared_air_has_the_times_of_its_link() {
    let mut radio = radio();
    // The link has the air from 3 ms on, and its last bit at 6 ms: later than 3 + 2 ms.
    let link = Carried { from: Some(at(3000)), to: at(6000) };
    assert_eq!(radio.transmits(at(1000), 1250, Some(link)), (at(3000), at(6000)));
    // Without a time of the first bit the frame follows the queued ones.
    let link = Carried { from: None, to: at(7000) };
    assert_eq!(radio.transmits(at(2000), 1250, Some(link)), (at(6000), at(8000)));
}

#[test]
fn a_radio_hears_what_begins_while_it_is_awake() {
    let mut radio = radio();
    // 1250 B to the radio take 1 ms.
    assert_eq!((radio.began(at(5000), 1250), radio.began(at(500), 1250)), (at(4000), at(0)));
    radio.sleep(at(0));
    radio.wake(at(1000));
    assert!(!radio.hears_from(at(2000)), "still waking");
    radio.awake(at(3000));
    assert_eq!([2999, 3000, 3001].map(|micros| radio.hears_from(at(micros))), [false, true, true]);
    assert!(!radio.hears(at(2500), at(3500), None), "it began before the radio was awake");
    assert!(radio.hears(at(4000), at(5000), None));
    assert_eq!(radio.times(at(6000), None).receiving, Duration::from_millis(1));
    // A packet that arrives at 6.4 ms began at 5.4: 0.6 ms of it are heard at 6. One that begins at 6 is not.
    let coming = |micros| Some(Coming { arrives: at(micros), size: 1250 });
    assert_eq!(radio.times(at(6000), coming(6400)).receiving, Duration::from_micros(1600));
    assert_eq!(radio.times(at(6000), coming(7000)).receiving, Duration::from_millis(1));
}

#[test]
fn the_energy_of_a_radio_is_power_times_time() {
    let radios = models();
    let summary = RadioSummary::of(&radios, &times());
    let radio = summary.get("test").expect("the radio");
    // 1 x 1, 20 x 2, 2 x 3, 3 x 4 and 4 x 5 J: 79 J. Never asleep: 2 W for 1 + 2 + 3 s, and 32 J: 44 J.
    let parts = [radio.asleep_j, radio.waking_j, radio.idle_j, radio.receiving_j, radio.transmitting_j];
    assert_eq!(parts, [1.0, 40.0, 6.0, 12.0, 20.0]);
    assert_eq!((radio.total_j, radio.awake_j), (79.0, 44.0));
    // In 1 + 2 + 3 + 4 + 5 s.
    assert!((radio.mean_w - 79.0 / 15.0).abs() < 1e-12);
    assert!((radio.saving - (1.0 - 79.0 / 44.0)).abs() < 1e-12);
    // No time at all saves nothing.
    assert_eq!(RadioSummary::of(&radios, &RadioTime::default()).get("test").map(|none| none.saving), Some(0.0));
    let seconds = RadioSeconds::from(&times());
    let states = [seconds.asleep_s, seconds.waking_s, seconds.idle_s, seconds.receiving_s, seconds.transmitting_s];
    assert_eq!((states, seconds.wakes), ([1.0, 2.0, 3.0, 4.0, 5.0], 6));
}

#[test]
fn a_download_has_the_energy_and_the_delay_between_its_snapshots() {
    let begun = Snapshot { at: at(2_000_000), times: RadioTime::default(), missed_packets: 3 };
    let over = Snapshot { at: at(5_000_000), times: times(), missed_packets: 7 };
    let outcome = over.since(&begun);
    let expected = DownloadOutcome { begun: begun.at, over: over.at, radio: times(), missed_packets: 4 };
    assert_eq!(outcome, expected);
    let summary = DownloadSummary::of(&models(), &outcome);
    assert_eq!((summary.start_s, summary.seconds, summary.missed_packets), (2.0, 3.0, 4));
    assert_eq!((summary.asleep_s, summary.wakes), (1.0, 6));
    // 79 J for 3 s.
    let under = (summary.energy_j.get("test"), summary.energy_delay_js.get("test"));
    assert_eq!(under, (Some(&79.0), Some(&237.0)));
}

#[test]
fn the_counts_of_a_station_are_subtracted_one_by_one() {
    let counts = |base: u64| StationCounts {
        received_packets: base,
        missed_packets: 2 * base,
        missed_bytes: 3 * base,
        held_packets: 4 * base,
        refused_packets: 5 * base,
        beacons: 6 * base,
        polls: 7 * base,
        closed_acks: 8 * base,
        bursts: 9 * base,
    };
    assert_eq!(counts(9).since(&counts(2)), counts(7));
}
