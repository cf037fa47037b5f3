//! A tape records the machine's actions, and its replay repeats them.

use super::{LinkSetup, OnTape, StationSetup, Taped, replay};
use netlull_mechanism::Machine;
use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps};
use netlull_mechanism::link::{self, LinkEvent};
use netlull_mechanism::radio::PsmConfig;
use netlull_mechanism::rate::{Admission, EarthConfig, LullConfig, PractRaConfig, QueueLength, QueueView, RateSet};
use netlull_mechanism::station::{self, StationEvent};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("netlull-{}-{name}.tape", std::process::id()))
}

fn rates() -> RateSet {
    let mbps = BitRate::from_mbps;
    RateSet::from_range(mbps(1), mbps(10), mbps(1)).unwrap()
}

fn practra() -> LinkSetup {
    let config = PractRaConfig { min_interval: Duration::from_millis(10), ..PractRaConfig::intertwining_2012(rates()) };
    setup(link::Config::PractRa(config))
}

fn setup(mechanism: link::Config) -> LinkSetup {
    LinkSetup { mechanism, link: link::Context::new(BitRate::from_mbps(10), Bytes::new(1500)), naps: None }
}

/// 400 packets, 3 ms apart at first and then 1 ms, each gone before the next: the rate falls, then rises.
fn drive<M: Machine<Event = LinkEvent>>(machine: &mut M) {
    for packet in 0..400_u64 {
        let at = if packet < 200 { 3 * packet } else { 400 + packet };
        let now = Instant::ZERO + Duration::from_millis(at);
        let queue = QueueView { waiting: Bytes::ZERO, in_service: Bytes::new(1500) };
        machine.handle(
            now,
            LinkEvent::Arrival { size: Bytes::new(1500), admission: Admission::Accepted, queue, segment: None },
        );
        while machine.poll_action().is_some() {}
        // One poll more than the contract requires.
        assert!(machine.poll_action().is_none());
        machine.handle(now, LinkEvent::Departure { queue: QueueView::EMPTY });
        while machine.poll_action().is_some() {}
    }
}

#[test]
fn a_recorded_machine_replays_byte_for_byte() {
    let path = file("practra");
    let mut machine = OnTape::<link::Running>::recorded(&practra(), Instant::ZERO, "N1-N2", &path).unwrap();
    drive(&mut machine);
    machine.finish().unwrap();
    let replayed = replay(&path).unwrap();
    assert_eq!((replayed.kind.as_str(), replayed.name.as_str(), replayed.events), ("practra", "N1-N2", 800));
    assert!(replayed.actions > 5, "{replayed:?}");
    assert_eq!(replayed.difference, None);
    std::fs::remove_file(path).unwrap();
}

/// A connection over Lull's link: a SYN, then 8 rounds of 1 to 8 packets, 40 ms apart, and a FIN. The link sends a packet
/// in 1.2 ms, and runs each timeout at its instant.
fn drive_rounds(machine: &mut OnTape<link::Running>) {
    let until = |machine: &mut OnTape<link::Running>, at: Instant| {
        while let Some(due) = machine.next_timeout().filter(|due| *due < at) {
            machine.handle(due, LinkEvent::Timeout { queue: QueueView::EMPTY });
            while machine.poll_action().is_some() {}
        }
    };
    let segment = |kind, end: u32, data, fin| {
        let timestamps = Some(Timestamps { value: end, echo: 0 });
        SegmentView { flow: 7, kind, end, acknowledged: 0, data, fin, timestamps }
    };
    let mut packets = vec![(0, segment(SegmentKind::Syn, 1, false, false), 60)];
    for round in 1..=8_u64 {
        for number in 0..round {
            let end = (1500 * (10 * round + number)) as u32;
            packets.push((40_000 * round + 1200 * number, segment(SegmentKind::Other, end, true, false), 1500));
        }
    }
    packets.push((400_000, segment(SegmentKind::Other, 1_000_000, false, true), 60));
    for (micros, segment, size) in packets {
        let (now, size) = (Instant::ZERO + Duration::from_micros(micros), Bytes::new(size));
        until(machine, now);
        let queue = QueueView { waiting: Bytes::ZERO, in_service: size };
        let admission = Admission::Accepted;
        machine.handle(now, LinkEvent::Arrival { size, admission, queue, segment: Some(segment) });
        while machine.poll_action().is_some() {}
        let left = now + Duration::from_micros(1100);
        until(machine, left);
        machine.handle(left, LinkEvent::Departure { queue: QueueView::EMPTY });
        while machine.poll_action().is_some() {}
    }
    until(machine, Instant::ZERO + Duration::from_secs(2));
}

#[test]
fn lull_replays_byte_for_byte_with_its_forecasts() {
    let path = file("lull");
    let config = setup(link::Config::Lull(LullConfig::new(rates(), Duration::from_millis(2))));
    let mut machine = OnTape::<link::Running>::recorded(&config, Instant::ZERO, "N1-N2", &path).unwrap();
    drive_rounds(&mut machine);
    machine.finish().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let replayed = replay(&path).unwrap();
    assert_eq!((replayed.kind.as_str(), replayed.difference), ("lull", None));
    assert!(replayed.actions >= 6, "down and up, round after round: {}", replayed.actions);
    let rises = |text: &str| {
        let up = |line: &&str| line.contains("\"timeout\"") && line.contains("\"rate\":\"10 Mb/s\",\"pause\"");
        text.lines().filter(up).count()
    };
    assert!(rises(&text) > 0, "a rise before its packets, by forecast");
    // Without the segments there is no forecast, so the replay decides otherwise.
    let blind: Vec<_> = text.lines().map(without_segment).collect();
    std::fs::write(&path, blind.join("\n")).unwrap();
    assert!(replay(&path).unwrap().difference.is_some());
    std::fs::remove_file(path).unwrap();
}

/// A line of a tape without its segment, else byte for byte the same.
fn without_segment(line: &str) -> String {
    let Some(start) = line.find("\"segment\":{").map(|at| at + "\"segment\":".len()) else { return line.to_owned() };
    let mut depth = 0;
    let end = line[start..].find(|letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        depth == 0
    });
    format!("{}null{}", &line[..start], &line[start + end.unwrap() + 1..])
}

#[test]
fn a_changed_decision_is_found_where_it_is() {
    let path = file("changed");
    let mut machine = OnTape::<link::Running>::recorded(&practra(), Instant::ZERO, "N1-N2", &path).unwrap();
    drive(&mut machine);
    machine.finish().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let line = 1 + text.lines().position(|line| line.contains("set_rate")).unwrap();
    // The first change was to another rate than the machine would choose.
    std::fs::write(&path, text.replacen("\"rate\":\"9 Mb/s\"", "\"rate\":\"8 Mb/s\"", 1)).unwrap();
    let difference = replay(&path).unwrap().difference.unwrap();
    assert_eq!(difference.line, line as u64);
    assert!(difference.replayed.contains("9 Mb/s"));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_is_no_tape_is_refused_and_a_cut_one_is_read_as_far_as_it_goes() {
    let path = file("cut");
    let mut machine = OnTape::<link::Running>::recorded(&practra(), Instant::ZERO, "N1-N2", &path).unwrap();
    drive(&mut machine);
    machine.finish().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 20]).unwrap();
    assert_eq!(replay(&path).unwrap().events, 799);
    for (content, message) in [
        ("", "is not a tape"),
        ("{\"name\":1}\n", "is not a tape"),
        (&text.replacen("\"format\":3", "\"format\":9", 1), "expected a tape, format 3"),
        (&text.replacen("practra", "practrb", 1), "is not a machine that can be replayed"),
        (&text.replacen("\"from\":\"", "\"from\":\"x", 1), "line 1: mechanism.rates.from: \"x"),
        (&text.replacen("\"at\":0", "\"at\":-1", 1), "line 2"),
        (&text.replacen("\"waiting\":\"0 B\"", "\"waiting\":x", 1), "line 2"),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = replay(&path).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    // A sparse file has one endless line.
    std::fs::write(&path, &text[..=text.find('\n').unwrap()]).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 36).unwrap();
    let error = replay(&path).unwrap_err().to_string();
    assert!(error.ends_with("line 2: is longer than 16 MiB"), "{error}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn observing_changes_nothing() {
    let path = file("observed");
    let config = setup(link::Config::Earth(EarthConfig::new(rates(), QueueLength::Bytes(Bytes::new(15_000)))));
    let mut watched = OnTape::<link::Running>::recorded(&config, Instant::ZERO, "x", &path).unwrap();
    let mut alone = link::Running::build(&config, Instant::ZERO).unwrap();
    drive(&mut watched);
    drive(&mut alone);
    assert_eq!(format!("{:?}", watched.machine()), format!("{alone:?}"));
    watched.finish().unwrap();
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_stations_machine_replays_byte_for_byte() {
    let path = file("psm");
    let (air_rate, wake, mtu) = (BitRate::from_mbps(11), Duration::from_millis(2), Bytes::new(1500));
    let mechanism = station::Config::Psm(PsmConfig::default());
    let setup = StationSetup { mechanism, station: station::Context { air_rate, wake, mtu } };
    let mut machine = OnTape::<station::Running>::recorded(&setup, Instant::ZERO, "client", &path).unwrap();
    for beacon in 1..=50_u64 {
        while let Some(due) = machine.next_timeout().filter(|due| *due < Instant::ZERO + BEACONS * beacon) {
            machine.handle(due, StationEvent::Timeout);
            while machine.poll_action().is_some() {}
        }
        machine.handle(Instant::ZERO + BEACONS * beacon, StationEvent::Beacon { buffered: false });
        while machine.poll_action().is_some() {}
    }
    machine.finish().unwrap();
    let replayed = replay(&path).unwrap();
    assert_eq!((replayed.kind.as_str(), replayed.difference), ("psm", None));
    // It announces that it dozes, and sleeps; then it wakes for each beacon and sleeps again.
    assert_eq!((replayed.events, replayed.actions), (101, 102));
    std::fs::remove_file(path).unwrap();
}

const BEACONS: Duration = Duration::from_millis(100);
