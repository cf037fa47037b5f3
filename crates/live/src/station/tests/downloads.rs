//! Whole downloads.

use super::*;
use netlull_network::probe::{Column, StationProbe, Table};
use std::collections::BTreeMap;

/// A sender that sends at once up to its window, over a path of 60 ms, to a host that acknowledges every second
/// segment.
struct Download {
    station: LiveStation,
    connection: Connection,
    total: u32,
    sent: u32,
    acknowledged: u32,
    edge: u32,
    cwnd: u32,
    /// The bytes that the host has received, and has acknowledged.
    has: u32,
    answered: u32,
    host_stamp: u32,
    /// The packets in flight: to the host (offset, length), and to the sender (acknowledged, window, TSval).
    down: BTreeMap<(Instant, u32), (u32, u32)>,
    up: Vec<(Instant, u32, u32, u32)>,
    free_at: Instant,
    missed: u64,
}

const RTT: u64 = 60;

impl Download {
    fn new(config: StationConfig, total: u32, port: u16) -> Self {
        let mut download = Self {
            station: LiveStation::new(config, at(0), None).unwrap(),
            connection: ends(port),
            total,
            sent: 0,
            acknowledged: 0,
            edge: 65_536,
            cwnd: 10 * MSS,
            has: 0,
            answered: 0,
            host_stamp: 1061,
            down: BTreeMap::new(),
            up: Vec::new(),
            free_at: at(0),
            missed: 0,
        };
        for (now, side, numbers, flags, stamps) in [
            (0, Side::Host, (0, 0), SYN, (1000, 0)),
            (60, Side::Peer, (0, 1), SYN_ACK, (50, 1000)),
            (60, Side::Host, (1, 1), ACK, (1060, 50)),
        ] {
            download.pass(at(now), side, numbers, flags, stamps);
        }
        download.up.push((at(90), 0, 65_536, 1060));
        download
    }

    fn pass(&mut self, now: Instant, side: Side, numbers: (u32, u32), flags: Flags, stamps: (u32, u32)) {
        let connection = if side == Side::Host { self.connection } else { self.connection.reversed() };
        let mut bytes = segment(connection, numbers, flags, 0, stamps);
        match side {
            Side::Host => {
                self.station.sends(now, &mut bytes);
            }
            Side::Peer => {
                self.station.receives(now, &bytes, false);
            }
        }
    }

    /// The instant of the next event.
    fn next(&self) -> Option<Instant> {
        let down = self.down.first_key_value().map(|((when, _), _)| *when);
        let up = self.up.iter().map(|(when, ..)| *when).min();
        [down, up, self.station.next_timeout()].into_iter().flatten().min()
    }

    fn run(&mut self, limit: Instant) -> Instant {
        let mut last = at(60);
        while let Some(now) = self.next().filter(|now| *now < limit) {
            assert!(now >= last, "a timeout in the past: {now:?} after {last:?}");
            last = now;
            self.step(now);
            if self.has == self.total {
                return now;
            }
        }
        last
    }

    fn step(&mut self, now: Instant) {
        while let Some(entry) = self.down.first_entry().filter(|entry| entry.key().0 <= now) {
            let (offset, len) = entry.remove();
            self.arrive(now, offset, len);
        }
        if let Some(index) = self.up.iter().position(|(when, ..)| *when <= now) {
            let (_, acknowledged, window, stamp) = self.up.remove(index);
            self.answer(now, acknowledged, window, stamp);
        }
        if self.station.next_timeout().is_some_and(|due| due <= now) {
            self.station.handle_timeout(now);
        }
        while let Some(output) = self.station.poll_output() {
            let Said { ack, window, stamps, .. } = said(&output).unwrap();
            assert!(ack - 1 <= self.has, "{ack} acknowledged, {} there", self.has);
            assert!(ack - 1 + window <= self.answered + 65_536, "more than the host has offered");
            assert!(output.at >= now);
            self.up.push((output.at + ms(RTT / 2), ack - 1, window, stamps.unwrap().0));
        }
    }

    fn arrive(&mut self, now: Instant, offset: u32, len: u32) {
        let bytes = segment(self.connection.reversed(), (1 + offset, 1), ACK, len, (51, self.host_stamp));
        if self.station.receives(now, &bytes, false) == Verdict::Missed {
            self.missed += 1;
            return;
        }
        if offset == self.has {
            self.has += len;
        }
        if self.has - self.answered >= 2 * MSS || offset + len != self.has {
            self.answered = self.has;
            let stamp = 1000 + u32::try_from((now - at(0)).as_nanos() / 1_000_000).unwrap();
            let mut bytes = segment(self.connection, (1, 1 + self.has), ACK, 0, (stamp, 51));
            let verdict = self.station.sends(now, &mut bytes);
            let Ok(Packet::Tcp(tcp)) = parse(&bytes) else { panic!("no segment") };
            let window = u32::from(tcp.window_field()) << SHIFT;
            assert!(window <= 65_536);
            let leaves = match verdict {
                SendVerdict::Send => now,
                SendVerdict::HoldUntil(until) => until,
                SendVerdict::Redundant => return,
            };
            self.up.push((leaves + ms(RTT / 2), self.has, window, stamp));
        }
    }

    /// Delivers an acknowledgement to the sender, which sends up to its window over a link of 100 Mb/s.
    fn answer(&mut self, now: Instant, acknowledged: u32, window: u32, stamp: u32) {
        self.host_stamp = stamp;
        self.cwnd += acknowledged.saturating_sub(self.acknowledged);
        self.acknowledged = self.acknowledged.max(acknowledged);
        self.edge = acknowledged + window;
        let allowed = self.edge.min(self.acknowledged + self.cwnd).min(self.total);
        while self.sent < allowed && allowed - self.sent >= MSS.min(self.total - self.sent) {
            let len = MSS.min(self.total - self.sent);
            self.free_at = self.free_at.max(now) + BitRate::from_mbps(100).time_for(Bytes::new(1500));
            self.down.insert((self.free_at + ms(RTT / 2), self.sent), (self.sent, len));
            self.sent += len;
        }
    }
}

#[test]
fn a_download_is_slept_through_and_nothing_is_missed() {
    let total = 5_000_000;
    let mut plain = Download::new(StationConfig { mechanism: None, ..shaped() }, total, 1);
    let plain_end = plain.run(at(60_000));
    let mut shaped_one = Download::new(StationConfig { asleep: Asleep::Drop, ..shaped() }, total, 1);
    let end = shaped_one.run(at(60_000));
    assert_eq!((plain.has, shaped_one.has, shaped_one.missed), (total, total, 0));
    let report = shaped_one.station.summary(end);
    assert_eq!(report.state, Some("saving"));
    assert!(report.radio.asleep_s > 0.5 * report.seconds, "{report:?}");
    assert!(report.counts.closed_acks > 1000 && report.own_acks > 60, "{report:?}");
    let slower = (end - at(0)).as_secs_f64() / (plain_end - at(0)).as_secs_f64();
    assert!(slower < 1.3, "{slower}");
    let states = report.radio.asleep_s
        + report.radio.waking_s
        + report.radio.idle_s
        + report.radio.receiving_s
        + report.radio.transmitting_s;
    assert!((states - report.seconds).abs() < 1e-9);
    let saving = report.energy.0.iter().map(|(_, energy)| energy.saving).fold(f64::INFINITY, f64::min);
    assert!(saving > 0.3, "{saving}");
}

#[test]
fn a_download_is_slept_through_with_each_option_of_the_shaper() {
    let total = 3_000_000;
    let run = |shaper: ShaperConfig| {
        let mechanism = Some(station::Config::ClientShaper(shaper));
        let mut download = Download::new(StationConfig { mechanism, asleep: Asleep::Drop, ..shaped() }, total, 1);
        let end = download.run(at(60_000));
        assert_eq!((download.has, download.missed), (total, 0), "{shaper:?}");
        let report = download.station.summary(end);
        assert!(report.radio.asleep_s > 0.4 * report.seconds, "{shaper:?}: {report:?}");
        report
    };
    let plain = run(live_shaper());
    // An open ACK releases 30,080 of 65,536 bytes, a multiple of the scale's 128: more and smaller bursts.
    let small = run(ShaperConfig { open_window: Some(Bytes::new(30_100)), ..live_shaper() });
    assert!(small.counts.bursts > 3 * plain.counts.bursts / 2, "{} and {}", small.counts.bursts, plain.counts.bursts);
    let withheld = run(ShaperConfig { burst_acks: BurstAcks::Withheld, ..live_shaper() });
    assert_eq!(withheld.counts.closed_acks, 0);
    assert!(withheld.redundant_acks > plain.counts.closed_acks / 2, "{}", withheld.redundant_acks);
    for rtt_from in [RttFrom::Handshake, RttFrom::Answers] {
        let timed = run(ShaperConfig { rtt_from, ..live_shaper() });
        assert!((timed.round_trip_s.unwrap() - 0.06).abs() < 0.001, "{:?}", timed.round_trip_s);
    }
}

#[test]
fn traffic_that_is_not_shaped_keeps_the_radio_awake() {
    let config = StationConfig { asleep: Asleep::Drop, ..shaped() };
    let slept = |quiet: Duration| {
        let mut download = Download::new(StationConfig { quiet, ..config.clone() }, 5_000_000, 1);
        // A packet of another connection every 100 ms.
        let other = segment(ends(9).reversed(), (1, 1), ACK, 10, (0, 0));
        for i in 1..50 {
            download.run(at(100 * i));
            download.station.receives(at(100 * i), &other, false);
        }
        download.station.summary(at(4900)).radio.asleep_s
    };
    assert_eq!(slept(ms(1000)), 0.0);
    assert!(slept(Duration::ZERO) > 1.0);
}

#[test]
fn a_connection_that_is_forgotten_is_not_left_closed() {
    let config = StationConfig { connections: 1, ..shaped() };
    let mut download = Download::new(config, 5_000_000, 1);
    let now = download.run(at(1000));
    assert_eq!(download.station.summary(now).state, Some("saving"));
    let mut syn = segment(ends(2), (0, 0), SYN, 0, (1, 0));
    download.station.sends(now, &mut syn);
    let opened = said(&download.station.poll_output().unwrap()).unwrap();
    assert!(opened.window > 0);
    assert_eq!(download.station.summary(now).forgotten_connections, 1);
    // Released as a whole.
    let mut download = Download::new(shaped(), 5_000_000, 1);
    let now = download.run(at(1000));
    download.station.release(now);
    assert!(said(&download.station.poll_output().unwrap()).unwrap().window > 0);
}

#[test]
fn a_recorded_download_replays() {
    let path = std::env::temp_dir().join(format!("netlull-{}-station.tape", std::process::id()));
    let mut download = Download::new(shaped(), 500_000, 1);
    download.station = LiveStation::new(shaped(), at(0), Some(&path)).unwrap();
    for (now, side, numbers, flags, stamps) in [
        (0, Side::Host, (0, 0), SYN, (1000, 0)),
        (60, Side::Peer, (0, 1), SYN_ACK, (50, 1000)),
        (60, Side::Host, (1, 1), ACK, (1060, 50)),
    ] {
        download.pass(at(now), side, numbers, flags, stamps);
    }
    download.run(at(10_000));
    download.station.finish().unwrap();
    let replayed = crate::tape::replay(&path).unwrap();
    assert!(replayed.events > 500 && replayed.difference.is_none(), "{replayed:?}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_connection_that_cannot_be_imitated_is_left_alone() {
    let mut download = Download::new(shaped(), 5_000_000, 1);
    // Another connection with signed segments (RFC 5925).
    let connection = ends(2);
    let signed = |numbers: (u32, u32), flags, stamp| {
        let signature = TcpOption::Other { kind: 29, data: vec![0; 14] };
        let options = vec![signature, TcpOption::Timestamps(stamp, 50)];
        let (seq, ack) = numbers;
        let spec = TcpSpec { seq, ack, flags, window: WINDOW, options, ..TcpSpec::new(connection) };
        let mut bytes = Vec::new();
        build_tcp(&spec, &[], &mut bytes).unwrap();
        bytes
    };
    let station = &mut download.station;
    station.sends(at(61), &mut signed((0, 0), SYN, 1000));
    station.receives(at(62), &segment(connection.reversed(), (0, 1), SYN_ACK, 0, (50, 1000)), false);
    for i in 0..2000_u32 {
        let now = at(63) + Duration::from_micros(100 * u64::from(i));
        let mut bytes = signed((1, 1 + i * MSS), ACK, 1063 + i / 10);
        let before = bytes.clone();
        station.sends(now, &mut bytes);
        assert_eq!(bytes, before);
        let data = segment(connection.reversed(), (1 + i * MSS, 1), ACK, MSS, (51, 1063));
        assert_eq!(station.receives(now, &data, false), Verdict::Deliver);
    }
    assert_eq!((station.next_timeout(), station.poll_output()), (None, None));
}

/// A column of a table.
fn column(tables: &[Table], table: &str, name: &str) -> Column {
    let table = tables.iter().find(|known| known.name == table).unwrap();
    table.columns.iter().find(|(known, _)| known == name).unwrap().1.clone()
}

fn floats(tables: &[Table], table: &str, name: &str) -> Vec<f64> {
    let Column::Float(values) = column(tables, table, name) else { panic!("{table}.{name}") };
    values
}

fn words(tables: &[Table], table: &str, name: &str) -> Vec<String> {
    let Column::Text(values) = column(tables, table, name) else { panic!("{table}.{name}") };
    values.iter().map(|word| word.to_string()).collect()
}

#[test]
fn what_is_told_while_it_is_watched_is_what_is_counted() {
    let mut watched = Download::new(StationConfig { asleep: Asleep::Drop, ..shaped() }, 2_000_000, 1);
    watched.station.watch();
    let unwatched = watched.station.outcome(at(60), None);
    watched.station.restart(at(60), None);
    let end = watched.run(at(60_000));
    let (mut probe, outcome) = (StationProbe::new(end), watched.station.outcome(end, None));
    watched.station.tell_probe(0, &mut probe);
    let tables = probe.into_tables();
    // Asleep and waking: the sums of the times between the changes.
    let (times, states) = (floats(&tables, "radio", "time_s"), words(&tables, "radio", "state"));
    let spent = |state: &str| -> f64 {
        let ends = times.iter().skip(1).copied().chain([end.as_secs_f64()]);
        times.iter().zip(ends).zip(&states).filter(|(_, known)| *known == state).map(|((from, to), _)| to - from).sum()
    };
    assert!((spent("asleep") - outcome.radio.asleep.as_secs_f64()).abs() < 1e-9);
    assert!((spent("waking") - outcome.radio.waking.as_secs_f64()).abs() < 1e-9);
    assert_eq!(states.iter().filter(|state| *state == "waking").count() as u64, outcome.radio.wakes);
    // Received: the transmissions on the air, none of which overlap.
    let kinds = words(&tables, "air", "kind");
    let count = |kind: &str| kinds.iter().filter(|known| *known == kind).count() as u64;
    assert_eq!((count("data"), count("missed")), (outcome.counts.received_packets, outcome.counts.missed_packets));
    assert_eq!(count("closed"), outcome.counts.closed_acks);
    assert!(count("open") > 20, "{kinds:?}");
    let (from, to) = (floats(&tables, "air", "time_s"), floats(&tables, "air", "end_s"));
    assert!(from.iter().zip(&to).all(|(from, to)| from < to));
    let Column::Count(seqs) = column(&tables, "air", "seq") else { panic!("seq") };
    let last = kinds.iter().zip(&seqs).filter(|(kind, _)| *kind == "data").map(|(_, seq)| *seq).max();
    assert_eq!(last, Some(u64::from(1 + 2_000_000 - 2_000_000 % MSS)), "the peer's numbers, raw");
    assert_eq!(floats(&tables, "burst", "time_s").len() as u64, outcome.counts.bursts);
    // The counts start at the restart, and both halves add up to the whole.
    let whole = watched.station.summary(end);
    assert_eq!(unwatched.counts.received_packets + outcome.counts.received_packets, whole.counts.received_packets);
    assert_eq!(unwatched.radio.total() + outcome.radio.total(), end - at(0));
}
