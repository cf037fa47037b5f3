//! Stations with the packets of a small sender and a small host, and with packets that nobody should send.

use super::*;
use netlull_mechanism::ConfigError;
use netlull_mechanism::radio::{AccessPointConfig, BurstAcks, EagerConfig, PsmConfig, RttFrom, ShaperConfig};
use netlull_mechanism::station::{self, PowerMode, StationAction};
use netlull_units::{BitRate, Bytes, Duration};
use netlull_wire::{Connection, Endpoint, Flags, TcpOption, TcpSpec, build_tcp, seq_le, seq_lt, verify_checksums};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

mod downloads;

const MSS: u32 = 1448;
const SHIFT: u8 = 7;
/// A window field of 65,536 bytes.
const WINDOW: u16 = 512;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

fn ends(port: u16) -> Connection {
    let end = |host: [u8; 4], port| Endpoint::new(host.into(), port);
    Connection { from: end([10, 0, 0, 1], port), to: end([10, 0, 0, 2], 80) }
}

fn shaped() -> StationConfig {
    let air = BitRate::from_mbps(20);
    StationConfig::new(Some(station::Config::ClientShaper(live_shaper())), ms(2), [air, air])
}

fn eager() -> StationConfig {
    let mechanism = Some(station::Config::Eager(EagerConfig::default()));
    StationConfig { mechanism, ..shaped() }
}

/// A segment; `stamps` of 0 give no timestamps option.
fn segment(connection: Connection, (seq, ack): (u32, u32), flags: Flags, len: u32, stamps: (u32, u32)) -> Vec<u8> {
    let mut options = Vec::new();
    if flags.syn {
        options.push(TcpOption::WindowScale(SHIFT));
    }
    if stamps.0 != 0 {
        options.push(TcpOption::Timestamps(stamps.0, stamps.1));
    }
    let spec = TcpSpec { seq, ack, flags, window: WINDOW, options, ..TcpSpec::new(connection) };
    let mut bytes = Vec::new();
    build_tcp(&spec, &vec![7; len as usize], &mut bytes).unwrap();
    bytes
}

const SYN: Flags = Flags { syn: true, ..NONE };
const ACK: Flags = Flags { ack: true, ..NONE };
const FIN: Flags = Flags { fin: true, ack: true, ..NONE };
const RST: Flags = Flags { rst: true, ack: true, ..NONE };
const SYN_ACK: Flags = Flags { syn: true, ack: true, ..NONE };
const NONE: Flags =
    Flags { cwr: false, ece: false, urg: false, ack: false, psh: false, rst: false, syn: false, fin: false };

/// The content of an acknowledgement on the host's behalf.
struct Said {
    seq: u32,
    ack: u32,
    window: u32,
    stamps: Option<(u32, u32)>,
}

fn said(output: &Output) -> Option<Said> {
    let Sent::Packet(bytes) = &output.what else { return None };
    let checks = verify_checksums(bytes).unwrap();
    assert!(checks.ip && checks.tcp, "checksums");
    let Ok(Packet::Tcp(tcp)) = parse(bytes) else { panic!("no segment") };
    assert_eq!((tcp.flags(), tcp.payload_len()), (ACK, 0));
    let window = u32::from(tcp.window_field()) << SHIFT;
    Some(Said { seq: tcp.seq(), ack: tcp.ack().unwrap(), window, stamps: tcp.options().timestamps })
}

/// A connection by hand: the host's numbers start at `host`, the peer's at `peer`.
struct Script {
    station: LiveStation,
    connection: Connection,
    host: u32,
    peer: u32,
}

impl Script {
    fn new(config: StationConfig, host: u32, peer: u32) -> Self {
        let mut script =
            Self { station: LiveStation::new(config, at(0), None).unwrap(), connection: ends(5000), host, peer };
        script.host_sends(at(0), (host, 0), SYN, 0, (1000, 0));
        script.peer_sends(at(60), (peer, host.wrapping_add(1)), SYN_ACK, 0, (50, 1000));
        script.host_sends(at(60), (host.wrapping_add(1), peer.wrapping_add(1)), ACK, 0, (1060, 50));
        script.host_sends(at(61), (host.wrapping_add(1), peer.wrapping_add(1)), ACK, 100, (1061, 50));
        script
    }

    fn host_sends(&mut self, now: Instant, numbers: (u32, u32), flags: Flags, len: u32, stamps: (u32, u32)) -> u16 {
        let mut bytes = segment(self.connection, numbers, flags, len, stamps);
        self.station.sends(now, &mut bytes);
        let Ok(Packet::Tcp(tcp)) = parse(&bytes) else { panic!("no segment") };
        tcp.window_field()
    }

    fn peer_sends(&mut self, now: Instant, numbers: (u32, u32), flags: Flags, len: u32, stamps: (u32, u32)) {
        let bytes = segment(self.connection.reversed(), numbers, flags, len, stamps);
        assert_eq!(self.station.receives(now, &bytes, false), Verdict::Deliver);
    }

    /// Data from `from` on, counted from the first byte.
    fn data(&mut self, now: Instant, from: u32, len: u32, stamp: u32) {
        let numbers = (self.peer.wrapping_add(1 + from), self.host.wrapping_add(101));
        self.peer_sends(now, numbers, ACK, len, (stamp, 1061));
    }

    /// The host's acknowledgement of `bytes` bytes of data.
    fn acknowledges(&mut self, now: Instant, bytes: u32, stamps: (u32, u32)) -> u16 {
        let numbers = (self.host.wrapping_add(101), self.peer.wrapping_add(1 + bytes));
        self.host_sends(now, numbers, ACK, 0, stamps)
    }

    fn timeout(&mut self) -> Instant {
        let due = self.station.next_timeout().unwrap();
        self.station.handle_timeout(due);
        due
    }
}

#[test]
fn an_eager_acknowledgement_says_what_the_host_would() {
    // Near the wraparound; the host acknowledges the first two segments but not the third.
    let (host, peer) = (u32::MAX - 50, u32::MAX - 1000);
    let mut script = Script::new(eager(), host, peer);
    for (i, millis) in [(0, 121), (1, 122), (2, 123)] {
        script.data(at(millis), i * MSS, MSS, 110 + i);
        if i == 1 {
            script.acknowledges(at(122), 2 * MSS, (1122, 110));
        }
    }
    let due = script.timeout();
    assert!(due > at(125) && due < at(170), "{due:?}");
    let said = said(&script.station.poll_output().unwrap()).unwrap();
    assert_eq!(said.seq, host.wrapping_add(101));
    assert_eq!(said.ack, peer.wrapping_add(1 + 3 * MSS));
    // The host's window ended at 2 MSS + 65,536; it is 1448 smaller from here, rounded down to 128.
    assert_eq!(said.window, (65_536 - 1448) / 128 * 128);
    // TSval: 1122 at 122 ms, plus the elapsed ms. TSecr: of the segment at Last.ACK.sent, 2 MSS.
    let since = u32::try_from((due - at(122)).as_nanos() / 1_000_000).unwrap();
    assert_eq!(said.stamps, Some((1122 + since, 112)));
    assert_eq!(script.station.poll_output(), None);
}

#[test]
fn what_was_acknowledged_in_the_hosts_name_does_not_wake_the_radio_again() {
    // The host has acknowledged two segments itself, all three were acknowledged on its behalf, and the radio sleeps.
    let verdict = |numbers: (u32, u32), flags: Flags, len: u32, window: u16, sack: bool| {
        let mut script = Script::new(eager(), 7, 9);
        (0..2).for_each(|i| script.data(at(121), i * MSS, MSS, 110));
        script.acknowledges(at(121), 2 * MSS, (1121, 110));
        script.data(at(122), 2 * MSS, MSS, 110);
        let due = script.timeout();
        assert_eq!(said(&script.station.poll_output().unwrap()).unwrap().ack, 10 + 3 * MSS);
        script.station.radio.sleep(due);
        script.station.radio.settle(due + ms(1));
        assert!(script.station.is_asleep());
        let mut options = vec![TcpOption::Timestamps(1170, 110)];
        if sack {
            options.push(TcpOption::Sack(vec![(10 + 4 * MSS, 10 + 5 * MSS)]));
        }
        let spec =
            TcpSpec { seq: numbers.0, ack: numbers.1, flags, window, options, ..TcpSpec::new(script.connection) };
        let mut bytes = Vec::new();
        build_tcp(&spec, &vec![7; len as usize], &mut bytes).unwrap();
        let verdict = script.station.sends(due + ms(2), &mut bytes);
        let is_redundant = verdict == SendVerdict::Redundant;
        assert_eq!(script.station.is_asleep(), is_redundant);
        assert_eq!(script.station.summary(due + ms(2)).redundant_acks, u64::from(is_redundant));
        is_redundant
    };
    let last = (108, 10 + 3 * MSS);
    assert!(verdict(last, ACK, 0, WINDOW, false));
    assert!(!verdict((108, 10 + 2 * MSS), ACK, 0, WINDOW, false), "a duplicate");
    assert!(!verdict((108, 10 + 4 * MSS), ACK, 0, WINDOW, false), "more");
    assert!(!verdict(last, ACK, 0, 2 * WINDOW, false), "a window that was waited for");
    assert!(!verdict(last, ACK, 0, WINDOW, true), "a segment is missing");
    assert!(!verdict(last, ACK, 10, WINDOW, false), "data");
    assert!(!verdict(last, FIN, 0, WINDOW, false) && !verdict(last, RST, 0, WINDOW, false));
    assert!(!verdict(last, Flags { ece: true, ..ACK }, 0, WINDOW, false), "congestion");
}

#[test]
fn what_the_host_has_not_taken_is_not_acknowledged() {
    let next = |script: &mut Script| {
        script.timeout();
        said(&script.station.poll_output().unwrap()).unwrap().ack.wrapping_sub(script.peer.wrapping_add(1))
    };
    // A hole: only the data before it.
    let mut script = Script::new(eager(), 7, 9);
    script.data(at(121), 0, MSS, 110);
    script.data(at(122), 2 * MSS, MSS, 110);
    assert_eq!(next(&mut script), MSS);
    // More than a host leaves unacknowledged: it has dropped the data.
    let mut script = Script::new(eager(), 7, 9);
    (0..4).for_each(|i| script.data(at(121), i * MSS, MSS, 110));
    assert_eq!(next(&mut script), 0);
    // The host acknowledges less 5 ms later: it has not received the second segment.
    let mut script = Script::new(eager(), 7, 9);
    script.data(at(121), 0, MSS, 110);
    script.data(at(122), MSS, MSS, 110);
    script.acknowledges(at(127), MSS, (1127, 110));
    script.data(at(128), 5 * MSS, MSS, 110);
    assert_eq!(next(&mut script), MSS);
    // A wrong checksum, and a segment older than received ones (PAWS).
    let mut script = Script::new(eager(), 7, 9);
    script.data(at(121), 0, MSS, 110);
    let mut broken = segment(script.connection.reversed(), (10 + MSS, 108), ACK, MSS, (111, 1061));
    *broken.last_mut().unwrap() ^= 1;
    script.station.receives(at(122), &broken, false);
    script.data(at(122), MSS, MSS, 40);
    assert_eq!(next(&mut script), MSS);
    // Data beyond the host's window.
    let mut script = Script::new(eager(), 7, 9);
    script.data(at(121), 0, MSS, 110);
    script.data(at(122), MSS, 65_000, 110);
    assert_eq!(next(&mut script), MSS);
}

#[test]
fn a_clock_that_is_slower_than_a_millisecond_is_not_run_ahead_of() {
    // Ticks of 10 ms: 100 at 0 ms, 106 at 60 and 61 ms.
    let mut script =
        Script { station: LiveStation::new(eager(), at(0), None).unwrap(), connection: ends(5000), host: 7, peer: 9 };
    script.host_sends(at(0), (7, 0), SYN, 0, (100, 0));
    script.peer_sends(at(60), (9, 8), SYN_ACK, 0, (50, 100));
    script.host_sends(at(60), (8, 10), ACK, 0, (106, 50));
    script.data(at(121), 0, MSS, 110);
    script.timeout();
    assert_eq!(said(&script.station.poll_output().unwrap()).unwrap().stamps, Some((106, 110)));
}

#[test]
fn a_connection_whose_syn_was_not_seen_is_left_alone() {
    let mut station = LiveStation::new(shaped(), at(0), None).unwrap();
    let mut bytes = segment(ends(5000), (1, 1), ACK, 0, (5, 5));
    let before = bytes.clone();
    for i in 0..200_u32 {
        let now = at(u64::from(i));
        let data = segment(ends(5000).reversed(), (1 + i * MSS, 1), ACK, MSS, (10 + i, 5));
        assert_eq!(station.receives(now, &data, false), Verdict::Deliver);
        assert_eq!(station.sends(now, &mut bytes), SendVerdict::Send);
        assert_eq!(bytes, before);
    }
    assert_eq!((station.next_timeout(), station.poll_output()), (None, None));
    assert_eq!(station.summary(at(200)).unknown_packets, 400);
}

#[test]
fn a_reset_and_the_end_of_the_data_stop_all_sending() {
    for (flags, seq) in [(RST, 1 + MSS), (FIN, 1 + MSS)] {
        let mut script = Script::new(eager(), 7, 9);
        script.data(at(121), 0, MSS, 110);
        script.peer_sends(at(122), (9 + seq, 108), flags, 0, (111, 1061));
        script.acknowledges(at(123), MSS + u32::from(flags.fin), (1123, 110));
        script.station.handle_timeout(at(5000));
        assert_eq!((script.station.next_timeout(), script.station.poll_output()), (None, None), "{flags:?}");
        let report = script.station.summary(at(5000));
        assert!(report.downloads[0].complete && report.download.is_some(), "{flags:?}");
        assert_eq!(report.downloads[0].bytes, 1448);
        assert!((report.downloads[0].span.seconds - 0.122).abs() < 1e-9);
    }
    // A reset out of sequence is ignored (RFC 5961).
    let mut script = Script::new(eager(), 7, 9);
    script.data(at(121), 0, MSS, 110);
    script.peer_sends(at(122), (5000, 108), RST, 0, (0, 0));
    assert!(script.station.next_timeout().is_some());
}

/// A machine that requests two acknowledgements for each data segment, and counts the answers.
#[derive(Clone, Debug, Default)]
struct Insistent {
    requests: Vec<StationAction>,
    answers: Arc<AtomicU32>,
}

impl Machine for Insistent {
    type Event = StationEvent;
    type Action = StationAction;

    fn handle(&mut self, _now: Instant, event: StationEvent) {
        match event {
            StationEvent::Received { packet, .. } => {
                let data = packet.segment.filter(|segment| segment.len > 0);
                let request = data.map(|segment| StationAction::Acknowledge { connection: segment.connection });
                self.requests.extend(request.into_iter().cycle().take(2));
            }
            StationEvent::Acknowledged { .. } => {
                self.answers.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    fn poll_action(&mut self) -> Option<StationAction> {
        self.requests.pop()
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }
}

impl station::Policy for Insistent {}

impl station::Factory for Insistent {
    fn name(&self) -> &'static str {
        "insistent"
    }

    fn build(&self, _: station::Context, _: Instant) -> std::result::Result<Box<dyn station::Policy>, ConfigError> {
        Ok(Box::new(self.clone()))
    }
}

#[test]
fn each_requested_acknowledgement_is_answered() {
    let machine = Insistent::default();
    let answers = Arc::clone(&machine.answers);
    let mechanism = Some(station::Config::PlugIn(station::PlugIn(Arc::new(machine))));
    let mut script = Script::new(StationConfig { mechanism, ..shaped() }, 7, 9);
    script.data(at(121), 0, MSS, 110);
    assert_eq!(answers.load(Ordering::Relaxed), 2);
}

#[test]
fn a_station_with_psm_and_its_proxy() {
    let config = StationConfig { mechanism: Some(station::Config::Psm(PsmConfig::default())), ..shaped() };
    let mut station = LiveStation::new(config, at(0), None).unwrap();
    let mut proxy = Proxy::new(&AccessPointConfig::default(), at(0), None).unwrap();
    station.handle_timeout(at(0));
    while station.next_timeout().is_some_and(|due| due < at(1)) {
        station.handle_timeout(at(1));
    }
    assert_eq!(station.next_timeout(), Some(at(98)));
    assert_eq!(station.poll_output(), Some(Output { at: at(0), what: Sent::Announce(PowerMode::Dozing) }));
    proxy.announced(at(0), PowerMode::Dozing);
    let packet = segment(ends(1).reversed(), (1, 1), ACK, 100, (0, 0));
    proxy.arrives(at(50), packet.clone());
    proxy.arrives(at(51), packet);
    assert_eq!((proxy.held(), proxy.next_packet()), (2, None));
    // It wakes for the beacon, polls, and receives both; it sleeps after the last.
    station.handle_timeout(at(98));
    proxy.handle_timeout(at(100));
    station.handle_timeout(at(100));
    assert_eq!(proxy.poll_output(), Some(ProxyOutput::Beacon { buffered: true }));
    station.hears_beacon(Beacon { from: at(100), until: at(101), buffered: true }, None);
    let poll = station.poll_output().unwrap();
    assert_eq!(poll, Output { at: at(101) + Duration::from_micros(500), what: Sent::Poll });
    proxy.polled(poll.at);
    for (millis, last) in [(102, false), (103, true)] {
        let (packet, more) = proxy.next_packet().unwrap();
        assert_eq!(more, !last);
        station.expects_packet();
        assert_eq!(station.receives(at(millis), &packet, more), Verdict::Deliver);
    }
    station.handle_timeout(at(103));
    let report = station.summary(at(150));
    assert_eq!(
        (report.counts.beacons, report.counts.polls, report.counts.received_packets, report.counts.missed_packets),
        (1, 1, 2, 0)
    );
    assert!(report.radio.asleep_s > 0.14, "{report:?}");
}

#[test]
fn what_cannot_work_is_refused() {
    let error = |config| LiveStation::new(config, at(0), None).unwrap_err().to_string();
    assert_eq!(error(StationConfig { connections: 0, ..shaped() }), "connections: is 0; expected 1 or more");
    let none = BitRate::from_bps(0);
    assert!(error(StationConfig { rates: [none, none], ..shaped() }).contains("air rate"));
    let growth = ShaperConfig { growth: 3.0, ..live_shaper() };
    let mechanism = Some(station::Config::ClientShaper(growth));
    assert!(error(StationConfig { mechanism, ..shaped() }).contains("growth"));
}

/// An action on a station, possibly malicious.
#[derive(Clone, Debug)]
enum StationStep {
    Data { offset: u32, len: u32, stamp: u32 },
    HostAcknowledges,
    Wait(u64),
    Bytes(Vec<u8>),
}

fn step() -> impl Strategy<Value = StationStep> {
    prop_oneof![
        6 => (0u32..60, 1u32..3, 0u32..5).prop_map(|(i, n, stamp)| StationStep::Data { offset: i * 700, len: n * 700, stamp }),
        3 => Just(StationStep::HostAcknowledges),
        3 => (0u64..30).prop_map(StationStep::Wait),
        1 => proptest::collection::vec(any::<u8>(), 0..120).prop_map(StationStep::Bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Segments in any order, repeated or missing, around the wraparound. The station never acknowledges data that has
    /// not arrived, never offers more than the host's window, and never uses a TSval later than the host's clock. No
    /// timeout lies in the past, and a due timeout has an effect.
    #[test]
    fn nothing_is_acknowledged_that_has_not_come(
        peer: u32, host: u32, base in 1000u32..u32::MAX, eagerly: bool, steps in proptest::collection::vec(step(), 1..150),
    ) {
        let config = if eagerly { eager() } else { shaped() };
        let mut script = Script { station: LiveStation::new(config, at(0), None).unwrap(), connection: ends(5000), host, peer };
        let clock = |now: Instant| base.wrapping_add(u32::try_from((now - at(0)).as_nanos() / 1_000_000).unwrap());
        script.host_sends(at(0), (host, 0), SYN, 0, (clock(at(0)), 0));
        script.peer_sends(at(60), (peer, host.wrapping_add(1)), SYN_ACK, 0, (50, clock(at(0))));
        script.host_sends(at(60), (host.wrapping_add(1), peer.wrapping_add(1)), ACK, 0, (clock(at(60)), 50));
        let mut now = at(60);
        let mut came = vec![false; 70 * 700];
        let mut edge = peer.wrapping_add(1).wrapping_add(65_536);
        let mut newest = clock(at(60));
        for step in steps {
            match step {
                StationStep::Data { offset, len, stamp } => {
                    let numbers = (peer.wrapping_add(1 + offset), host.wrapping_add(1));
                    script.peer_sends(now, numbers, ACK, len, (50 + stamp, newest));
                    came[offset as usize..(offset + len) as usize].fill(true);
                }
                StationStep::HostAcknowledges => {
                    // The host's PAWS may have dropped data: it acknowledges at most the station's number.
                    let has = u32::try_from(came.iter().position(|came| !came).unwrap()).unwrap() / 2;
                    newest = clock(now);
                    let number = peer.wrapping_add(1 + has);
                    let field = script.host_sends(now, (host.wrapping_add(1), number), ACK, 0, (newest, 50));
                    prop_assert!(field <= WINDOW);
                    let end = number.wrapping_add(65_536);
                    edge = if seq_lt(edge, end) { end } else { edge };
                }
                StationStep::Wait(millis) => {
                    now += ms(millis);
                    for _ in 0..1000 {
                        let Some(due) = script.station.next_timeout().filter(|due| *due <= now) else { break };
                        script.station.handle_timeout(due);
                    }
                    prop_assert!(script.station.next_timeout().is_none_or(|due| due > now), "an endless timeout");
                }
                StationStep::Bytes(mut bytes) => {
                    script.station.receives(now, &bytes, false);
                    let before = bytes.clone();
                    script.station.sends(now, &mut bytes);
                    prop_assert_eq!(before, bytes);
                }
            }
            while let Some(output) = script.station.poll_output() {
                let said = said(&output).unwrap();
                let has = u32::try_from(came.iter().position(|came| !came).unwrap()).unwrap();
                prop_assert!(seq_le(said.ack, peer.wrapping_add(1 + has)));
                prop_assert!(seq_le(said.ack.wrapping_add(said.window), edge));
                prop_assert_eq!(said.seq, host.wrapping_add(1));
                prop_assert!(seq_le(said.stamps.unwrap().0, clock(now)), "ahead of the host's clock");
            }
        }
    }
}
