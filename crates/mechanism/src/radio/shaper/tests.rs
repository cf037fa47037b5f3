//! Scripts for the shaper's rules, one each. Packets of a flight arrive 1 ms apart on a path of 60 ms; the host
//! acknowledges every second packet.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod options;
mod paced;

use super::*;
use crate::gateway::Timestamps;
use crate::station::StationAction as Act;
use crate::station::{PacketView, StationEvent, TcpView};
use netlull_units::BitRate;

const CLOSE: Act = Act::SetWindow(Bytes::new(0));
const ACKNOWLEDGE: Act = Act::Acknowledge { connection: 7 };
const DATA: u32 = 1000;
/// The first sequence number, chosen for a wrap within the first flight.
const FIRST: u32 = u32::MAX - 1499;

const STATION: station::Context =
    station::Context { air_rate: BitRate::from_mbps(20), wake: Duration::from_millis(2), mtu: Bytes::new(1500) };

fn config() -> ShaperConfig {
    ShaperConfig::default()
}

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A segment of the download, or a bare acknowledgement of the host if it has no data. TSvals are in ms.
fn segment(number: u32, len: u32, stamp: u64) -> TcpView {
    TcpView {
        connection: 7,
        kind: SegmentKind::Other,
        fin: false,
        seq: number,
        len,
        acknowledged: Some(number),
        window: Bytes::new(65_535),
        timestamps: Some(Timestamps { value: stamp as u32, echo: stamp as u32 }),
    }
}

struct Script {
    shaper: Shaper,
    /// The next sequence number that the host expects.
    next: u32,
    /// The rate of the air in bit/s.
    rate: u64,
    /// True if segments have no timestamps.
    plain: bool,
}

impl Script {
    fn new(config: &ShaperConfig) -> Self {
        Self::at(STATION, config)
    }

    fn at(station: station::Context, config: &ShaperConfig) -> Self {
        let shaper = Shaper::new(config, station, Instant::ZERO).unwrap();
        let mut script = Self { shaper, next: FIRST, rate: station.air_rate.as_bps(), plain: false };
        let handshake = TcpView { kind: SegmentKind::SynAck, ..segment(FIRST, 0, 0) };
        assert_eq!(script.sending(0, handshake), [], "a SYN is never closed");
        script
    }

    /// A script in Saving after the first burst: two flights of four packets in Initial, the second without
    /// growth, and a third. The open ACK after it was sent at 188 ms.
    fn saving(config: &ShaperConfig) -> Self {
        Self::saving_at(STATION, config)
    }

    fn saving_at(station: station::Context, config: &ShaperConfig) -> Self {
        let mut script = Self::at(station, config);
        script.flight(60, 4, 0);
        script.flight(121, 4, 61);
        assert_eq!(script.shaper.state(), ShaperState::Initial);
        script.flight(182, 4, 122);
        assert_eq!(script.shaper.state(), ShaperState::Saving);
        assert_eq!(script.timeout(188), [ACKNOWLEDGE, Act::Sleep]);
        script.opened(188);
        script
    }

    fn event(&mut self, now: Instant, event: StationEvent) -> Vec<Act> {
        self.shaper.handle(now, event);
        std::iter::from_fn(|| self.shaper.poll_action()).collect()
    }

    fn bare(&self, segment: TcpView) -> TcpView {
        TcpView { timestamps: segment.timestamps.filter(|_| !self.plain), ..segment }
    }

    fn receive(&mut self, millis: u64, segment: TcpView) -> Vec<Act> {
        let segment = self.bare(segment);
        let packet = PacketView { size: segment.len + 52, segment: Some(segment) };
        self.event(ms(millis), StationEvent::Received { packet, more: false })
    }

    fn sending(&mut self, millis: u64, segment: TcpView) -> Vec<Act> {
        let segment = self.bare(segment);
        self.event(ms(millis), StationEvent::Sending { packet: PacketView { size: 52, segment: Some(segment) } })
    }

    fn acknowledge(&mut self, millis: u64) -> Vec<Act> {
        self.sending(millis, segment(self.next, 0, millis))
    }

    fn opened(&mut self, millis: u64) {
        let packet = PacketView { size: 52, segment: Some(self.bare(segment(self.next, 0, millis))) };
        assert_eq!(self.event(ms(millis), StationEvent::Acknowledged { packet }), []);
    }

    /// Delivers the requested timeout, which must be due at this time.
    fn timeout(&mut self, millis: u64) -> Vec<Act> {
        assert_eq!(self.shaper.next_timeout(), Some(ms(millis)));
        self.event(ms(millis), StationEvent::Timeout)
    }

    /// Delivers the requested timeout. It is due before this time by the air time of a packet: 1052 B = 8416 bit,
    /// 420.8 us at 20 Mb/s.
    fn wakes(&mut self, millis: u64) -> Vec<Act> {
        let due = ms(0) + (Duration::from_millis(millis) - Duration::from_nanos(8416 * 1_000_000_000 / self.rate));
        assert_eq!(self.shaper.next_timeout(), Some(due));
        self.event(due, StationEvent::Timeout)
    }

    /// Receives the next data.
    fn data(&mut self, millis: u64, echo: u64) -> Vec<Act> {
        let segment = segment(self.next, DATA, echo);
        self.next = self.next.wrapping_add(DATA);
        self.receive(millis, segment)
    }

    /// Loses the next data, and acknowledges the data after it.
    fn data_behind_a_hole(&mut self, millis: u64, echo: u64) -> Vec<Act> {
        self.receive(millis, segment(self.next.wrapping_add(DATA), DATA, echo));
        self.acknowledge(millis)
    }

    /// Receives a flight of packets, whose acknowledgements are closed in the shaping states.
    fn flight(&mut self, from: u64, packets: u64, echo: u64) {
        for millis in from..from + packets {
            self.data(millis, echo);
            if (millis - from) % 2 == 1 {
                let shapes = matches!(self.shaper.state(), ShaperState::Saving | ShaperState::Recovery);
                assert_eq!(self.acknowledge(millis), if shapes { vec![CLOSE] } else { vec![] });
            }
        }
    }

    /// Sleeps from an open ACK until 58 ms later, then receives a flight 60 ms after it.
    fn flight_after(&mut self, opened: u64, packets: u64) {
        assert_eq!(self.wakes(opened + 58), [Act::Wake]);
        self.flight(opened + 60, packets, opened);
    }
}

#[test]
fn windows_pass_in_slow_start_and_the_odd_packet_is_acknowledged_eagerly() {
    let mut script = Script::new(&config());
    script.flight(60, 3, 0);
    // I_A = 1 ms, I_D = 0.375 ms: 2.5 ms, less than the least wait.
    assert_eq!(script.timeout(65), [ACKNOWLEDGE]);
    script.opened(65);
    assert_eq!(script.shaper.next_timeout(), None);
    assert_eq!(script.shaper.rtt(), Some(us(60_000)));
    let lazy = ShaperConfig { eager: false, ..config() };
    let mut script = Script::new(&lazy);
    script.flight(60, 3, 0);
    assert_eq!(script.shaper.next_timeout(), None);
}

#[test]
fn the_first_burst_is_what_slow_start_left_under_way() {
    let script = Script::saving(&config());
    let burst = script.shaper.last_burst().unwrap();
    assert_eq!((burst.opened, burst.first, burst.last, burst.ended), (ms(182), ms(182), ms(185), ms(188)));
    assert_eq!((burst.packets, burst.bytes, burst.expected), (4, 4 * 1052, 5));
    // W - P = 1, I_A = 1 ms and I_D = 0.5 x 0.75^8 = 0.05 ms: 1.2 ms, less than the least wait.
    assert_eq!((burst.interarrival, burst.threshold), (us(1000), us(3000)));
    assert!(burst.intact && burst.deviation < us(51) && burst.deviation > us(49));
    assert_eq!((script.shaper.bursts(), script.shaper.expected()), (1, 5));
}

#[test]
fn the_radio_sleeps_until_it_has_to_hear() {
    let mut script = Script::saving(&config());
    // Open ACK at 188 ms, 60 ms RTT, 2 ms wake time: 188 + 60 - 2.
    assert_eq!(script.wakes(246), [Act::Wake]);
    assert_eq!(script.shaper.next_timeout(), Some(ms(308)), "2 RTT after the open ACK");
    script.flight(248, 5, 188);
    assert_eq!(script.timeout(255), [ACKNOWLEDGE, Act::Sleep]);
    let burst = script.shaper.last_burst().unwrap();
    assert_eq!((burst.opened, burst.first, burst.packets, burst.expected), (ms(188), ms(248), 5, 5));
    assert_eq!(script.shaper.expected(), 6);
}

#[test]
fn it_counts_from_the_instant_at_which_the_open_ack_was_sent() {
    let mut script = Script::saving(&config());
    script.flight_after(188, 4);
    assert_eq!(script.timeout(254), [ACKNOWLEDGE, Act::Sleep]);
    // The radio was still sending a frame.
    script.opened(257);
    assert_eq!(script.wakes(315), [Act::Wake]);
}

#[test]
fn no_sleep_where_waking_takes_as_long() {
    let slow = station::Context { wake: us(60_000), ..STATION };
    let mut script = Script::at(slow, &config());
    script.flight(60, 4, 0);
    script.flight(121, 4, 61);
    script.flight(182, 4, 122);
    assert_eq!(script.timeout(188), [ACKNOWLEDGE]);
    assert_eq!(script.shaper.state(), ShaperState::Saving);
}

#[test]
fn with_a_margin_the_radio_wakes_earlier_by_that() {
    let mut script = Script::saving(&ShaperConfig { margin: Duration::from_millis(5), ..config() });
    assert_eq!(script.wakes(241), [Act::Wake]);
}

#[test]
fn a_burst_with_fewer_packets_is_waited_for_longer() {
    let mut script = Script::saving(&config());
    script.flight_after(188, 2);
    // W - P = 3, one sample more: 3 I_A + 4 I_D with I_D = 0.5 x 0.75^9 = 0.0375 ms: 3.15 ms after 249.
    let due = script.shaper.next_timeout().unwrap() - ms(249);
    assert!(due > us(3149) && due < us(3151), "{due}");
}

#[test]
fn no_wait_is_longer_than_half_a_round_trip() {
    let mut script = Script::new(&config());
    // Flights of 44 packets: W = 45. After two packets of the third burst the threshold would be 43 ms more, but
    // half of 60 ms is 30.
    script.flight(60, 44, 0);
    script.flight(121, 44, 61);
    script.flight(182, 2, 122);
    assert_eq!(script.timeout(183 + 30), [ACKNOWLEDGE]);
    // No sleep: the last acknowledgement with a window, at 164 ms, may release packets until 164 + 60 + 3 ms.
    assert_eq!(script.shaper.state(), ShaperState::Saving);
}

#[test]
fn what_slow_start_has_released_is_awaited_awake() {
    // Two flights of 4 packets and one of 2. The last acknowledgement with a window leaves at 129 ms, eagerly or
    // late. The data it releases arrives at 189 ms: later than the 3 ms of silence that end the third flight.
    let mut script = Script::new(&config());
    script.flight(60, 4, 0);
    script.flight(121, 3, 61);
    assert_eq!(script.acknowledge(129), []);
    script.flight(182, 2, 122);
    assert_eq!(script.timeout(186), [ACKNOWLEDGE], "129 + 60 + 3 ms are not over");
    script.opened(186);
    // The radio hears the straggler, its acknowledgement is closed, and the radio sleeps after the next burst.
    script.data(189, 129);
    assert_eq!(script.acknowledge(189), [CLOSE]);
    script.flight(246, 4, 186);
    let due = script.shaper.next_timeout().unwrap();
    assert_eq!(script.event(due, StationEvent::Timeout), [ACKNOWLEDGE, Act::Sleep]);
}

#[test]
fn a_missing_packet_keeps_the_radio_awake_until_a_burst_is_intact() {
    let mut script = Script::saving(&config());
    script.flight_after(188, 2);
    assert_eq!(script.data_behind_a_hole(251, 188), [CLOSE]);
    let due = script.shaper.next_timeout().unwrap();
    let deviation = script.shaper.spacing.deviation();
    assert_eq!(script.event(due, StationEvent::Timeout), [ACKNOWLEDGE], "no sleep");
    assert_eq!(script.shaper.state(), ShaperState::Recovery);
    assert!(!script.shaper.last_burst().unwrap().intact);
    assert_eq!(script.shaper.spacing.deviation(), deviation + deviation);
    script.opened(256);
    // The sender repairs, and the host acknowledges all bytes. The next burst is intact.
    script.data(316, 256);
    script.next = script.next.wrapping_add(DATA);
    assert_eq!(script.acknowledge(316), [CLOSE]);
    script.flight(317, 4, 256);
    let due = script.shaper.next_timeout().unwrap();
    assert_eq!(script.event(due, StationEvent::Timeout), [ACKNOWLEDGE, Act::Sleep]);
    assert_eq!(script.shaper.last_burst().unwrap().state, ShaperState::Recovery);
    assert_eq!(script.shaper.state(), ShaperState::Saving);
}

#[test]
fn what_stays_missing_makes_the_next_burst_bad_too() {
    let mut script = Script::saving(&config());
    script.flight_after(188, 2);
    script.data_behind_a_hole(251, 188);
    let due = script.shaper.next_timeout().unwrap();
    assert_eq!(script.event(due, StationEvent::Timeout), [ACKNOWLEDGE]);
    script.opened(256);
    // The sender continues after the last packet of the host, without a repair and without a gap.
    script.receive(316, segment(script.next.wrapping_add(2 * DATA), DATA, 256));
    assert_eq!(script.acknowledge(316), [CLOSE]);
    let due = script.shaper.next_timeout().unwrap();
    assert_eq!(script.event(due, StationEvent::Timeout), [ACKNOWLEDGE], "no sleep");
    assert_eq!(script.shaper.state(), ShaperState::Recovery);
}

#[test]
fn the_handshake_says_where_the_stream_begins() {
    let mut script = Script::new(&config());
    script.data_behind_a_hole(60, 0);
    assert!(script.shaper.stream.has_hole(), "the first data is lost");
    // The host last acknowledged another connection: the start of this one is unknown.
    let mut script = Script::new(&config());
    script.sending(1, TcpView { connection: 8, ..segment(FIRST, 0, 1) });
    script.receive(60, segment(FIRST.wrapping_add(DATA), DATA, 0));
    assert!(!script.shaper.stream.has_hole());
}

#[test]
fn nothing_answers_an_open_ack_that_has_not_been_sent() {
    let mut script = Script::saving(&config());
    script.flight_after(188, 4);
    assert_eq!(script.timeout(254), [ACKNOWLEDGE, Act::Sleep]);
    // The radio is still busy when a straggler arrives.
    script.data(254, 188);
    assert_eq!(script.shaper.expected(), 6);
    script.opened(255);
    assert_eq!(script.wakes(313), [Act::Wake], "no burst has begun");
}

#[test]
fn packets_out_of_order_are_as_bad_as_missing_ones() {
    let mut script = Script::saving(&config());
    script.flight_after(188, 2);
    script.data_behind_a_hole(250, 188);
    script.data(251, 188);
    script.next = script.next.wrapping_add(DATA);
    assert_eq!(script.acknowledge(251), [CLOSE]);
    let due = script.shaper.next_timeout().unwrap();
    assert_eq!(script.event(due, StationEvent::Timeout), [ACKNOWLEDGE]);
    assert_eq!(script.shaper.state(), ShaperState::Recovery);
}

/// A burst with one missing packet, from `from` on. Returns the time of the open ACK after it.
fn bad_burst(script: &mut Script, from: u64, echo: u64) -> u64 {
    script.data(from, echo);
    script.data_behind_a_hole(from + 1, echo);
    let due = script.shaper.next_timeout().unwrap();
    script.event(due, StationEvent::Timeout);
    let opened = from + 40;
    script.opened(opened);
    // The repair arrives late, with an old echo.
    script.data(opened + 1, echo);
    script.next = script.next.wrapping_add(DATA);
    script.acknowledge(opened + 1);
    opened
}

#[test]
fn after_three_bad_bursts_windows_are_left_alone() {
    let mut script = Script::saving(&config());
    script.wakes(246);
    let mut opened = 188;
    for _ in 0..2 {
        opened = bad_burst(&mut script, opened + 60, opened);
        assert_eq!(script.shaper.state(), ShaperState::Recovery);
    }
    opened = bad_burst(&mut script, opened + 60, opened);
    assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::BadBursts));
    assert_eq!(script.acknowledge(opened + 2), []);
    // The window is still closed if the open ACK is lost: the shaper repeats it.
    assert_eq!(script.timeout(opened + 120), [ACKNOWLEDGE]);
    script.opened(opened + 120);
    script.data(opened + 180, opened + 120);
    assert_eq!(script.acknowledge(opened + 180), []);
    assert_eq!(script.shaper.next_timeout(), None);
}

#[test]
fn an_intact_burst_between_bad_ones_starts_the_count_again() {
    let mut script = Script::saving(&config());
    script.wakes(246);
    let mut opened = 188;
    for _ in 0..4 {
        opened = bad_burst(&mut script, opened + 60, opened);
        script.flight(opened + 60, 4, opened);
        let due = script.shaper.next_timeout().unwrap();
        script.event(due, StationEvent::Timeout);
        assert_eq!(script.shaper.state(), ShaperState::Saving);
        opened += 100;
        script.opened(opened);
    }
}

#[test]
fn a_saturated_wireless_link_is_left_alone() {
    // A burst of 4 x 1052 B is 33.7 kbit; 0.9 x 600 kb/s x 60 ms = 32.4 kbit.
    let narrow = station::Context { air_rate: BitRate::from_bps(600_000), ..STATION };
    let mut script = Script::saving_at(narrow, &config());
    script.flight_after(188, 4);
    assert_eq!(script.timeout(254), [ACKNOWLEDGE, Act::Sleep]);
    script.opened(254);
    script.flight_after(254, 4);
    assert_eq!(script.timeout(320), [ACKNOWLEDGE]);
    assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::Saturated));
    // 700 kb/s: 37.8 kbit.
    let wide = station::Context { air_rate: BitRate::from_bps(700_000), ..STATION };
    let mut script = Script::saving_at(wide, &config());
    for opened in [188, 254, 320, 386] {
        script.flight_after(opened, 4);
        assert_eq!(script.timeout(opened + 66), [ACKNOWLEDGE, Act::Sleep]);
        script.opened(opened + 66);
    }
}

#[test]
fn an_open_ack_that_is_lost_is_sent_again() {
    let mut script = Script::saving(&config());
    assert_eq!(script.wakes(246), [Act::Wake]);
    for millis in [308, 368, 428, 488] {
        assert_eq!(script.timeout(millis), [ACKNOWLEDGE], "awake");
        script.opened(millis);
    }
    assert_eq!(script.shaper.resent_opens(), 4);
    // The answer to the third. The data released by the fourth arrives at 548 ms: the radio stays awake for it.
    script.flight(491, 4, 428);
    assert_eq!(script.shaper.next_timeout(), Some(ms(497)));
    assert_eq!(script.timeout(497), [ACKNOWLEDGE]);
    script.opened(497);
    script.data(548, 488);
    assert_eq!(script.acknowledge(548), [CLOSE], "a straggler");
    script.flight(557, 4, 497);
    assert_eq!(script.timeout(563), [ACKNOWLEDGE, Act::Sleep], "488 + 60 + 3 ms are over");
}

#[test]
fn it_goes_on_to_ask_though_nobody_answers() {
    let mut script = Script::saving(&config());
    assert_eq!(script.wakes(246), [Act::Wake]);
    for millis in [308, 368, 428] {
        assert_eq!(script.timeout(millis), [ACKNOWLEDGE]);
    }
    // The radio sent this one late.
    script.opened(430);
    assert_eq!(script.timeout(490), [ACKNOWLEDGE]);
}

#[test]
fn an_answer_before_its_time_wakes_the_radio_for_the_rest() {
    // The host sent a packet, so the radio was awake.
    let mut script = Script::saving(&config());
    assert_eq!(script.data(240, 188), [Act::Wake]);
    assert_eq!(script.shaper.rtt(), Some(us(52_000)));
}

#[test]
fn only_bare_acknowledgements_are_closed() {
    let mut script = Script::saving(&config());
    script.flight_after(188, 3);
    let next = script.next;
    assert_eq!(script.sending(250, segment(next, 10, 250)), []);
    assert_eq!(script.sending(250, TcpView { fin: true, ..segment(next, 0, 250) }), []);
    assert_eq!(script.sending(250, TcpView { acknowledged: None, ..segment(next, 0, 250) }), []);
    assert_eq!(script.sending(250, TcpView { window: Bytes::new(0), ..segment(next, 0, 250) }), [], "it is closed");
    assert_eq!(script.acknowledge(250), [CLOSE]);
}

#[test]
fn probes_and_copies_neither_begin_nor_prolong_a_burst() {
    let mut script = Script::saving(&config());
    script.wakes(246);
    let copy = |script: &Script| segment(script.next.wrapping_sub(DATA), DATA, 188);
    // The open ACK is lost. A probe of one byte, an empty one and a copy get closed acknowledgements, and the
    // open ACK is due as before.
    for (millis, probe) in
        [(251, segment(script.next, 1, 185)), (252, segment(script.next, 0, 185)), (253, copy(&script))]
    {
        assert_eq!(script.receive(millis, probe), []);
        assert_eq!(script.acknowledge(millis), [CLOSE]);
        assert_eq!(script.shaper.next_timeout(), Some(ms(308)));
    }
    assert_eq!(script.timeout(308), [ACKNOWLEDGE]);
    script.opened(308);
    script.flight(368, 4, 308);
    for (millis, probe) in [(372, segment(script.next, 1, 308)), (373, copy(&script))] {
        script.receive(millis, probe);
        assert_eq!(script.shaper.next_timeout(), Some(ms(374)));
    }
    script.timeout(374);
    assert_eq!(script.shaper.last_burst().unwrap().packets, 4);
}

#[test]
fn a_straggler_is_of_the_burst_before() {
    let awake = station::Context { wake: us(60_000), ..STATION };
    let mut script = Script::at(awake, &config());
    script.flight(60, 4, 0);
    script.flight(121, 4, 61);
    script.flight(182, 4, 122);
    script.timeout(188);
    script.opened(188);
    script.data(201, 122);
    assert_eq!((script.shaper.bursts(), script.shaper.expected()), (1, 6));
    assert_eq!(script.acknowledge(201), [CLOSE]);
    assert_eq!(script.shaper.next_timeout(), Some(ms(308)), "no burst has begun");
}

#[test]
fn without_timestamps_windows_are_left_alone() {
    let mut script = Script::new(&config());
    script.receive(60, TcpView { timestamps: None, ..segment(FIRST, DATA, 0) });
    assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::NoTimestamps));
    assert_eq!(script.timeout(100), [ACKNOWLEDGE], "eagerly: 40 ms where nothing is known of gaps");
}

#[test]
fn the_fin_ends_it() {
    let mut script = Script::saving(&config());
    script.flight_after(188, 2);
    let last = TcpView { fin: true, ..segment(script.next, 500, 188) };
    assert_eq!(script.receive(250, last), []);
    assert_eq!(script.shaper.state(), ShaperState::Ended);
    assert_eq!(script.acknowledge(250), []);
    assert_eq!(script.shaper.next_timeout(), None);
    let burst = script.shaper.last_burst().unwrap();
    assert_eq!((burst.packets, burst.ended, burst.threshold), (3, ms(250), Duration::ZERO));
    // A FIN alone, which arrives although the radio should be asleep.
    let mut script = Script::saving(&config());
    let fin = TcpView { fin: true, ..segment(script.next, 0, 188) };
    assert_eq!(script.receive(201, fin), [Act::Wake]);
    assert_eq!(script.shaper.next_timeout(), None);
}

#[test]
fn while_the_sender_repairs_windows_may_be_left_as_they_are() {
    let kind = ShaperConfig { repair: RepairAcks::AsTheyAre, ..config() };
    let mut script = Script::saving(&kind);
    script.flight_after(188, 2);
    assert_eq!(script.data_behind_a_hole(251, 188), []);
    script.data(252, 188);
    script.next = script.next.wrapping_add(DATA);
    assert_eq!(script.acknowledge(252), [], "the hole is filled, which ends the repair");
    script.data(253, 188);
    assert_eq!(script.acknowledge(253), [CLOSE]);
    // The data it releases may arrive until 252 + 60 + 3 ms, so the radio does not sleep before.
    assert_eq!(script.timeout(256), [ACKNOWLEDGE]);
}

#[test]
fn other_connections_pass_untouched() {
    let mut script = Script::saving(&config());
    script.flight_after(188, 3);
    let other = |segment| TcpView { connection: 8, ..segment };
    assert_eq!(script.sending(251, other(segment(1, 0, 251))), []);
    assert_eq!(script.receive(252, other(segment(1, DATA, 188))), []);
    assert_eq!(script.receive(252, TcpView { fin: true, ..other(segment(1, DATA, 188)) }), []);
    // W - P = 2 and I_D = 0.5 x 0.75^10 = 0.03 ms: 2.1 ms, less than the least wait.
    assert_eq!(script.timeout(253), [ACKNOWLEDGE, Act::Sleep]);
}

#[test]
fn wrong_values_are_named() {
    let field = |config: ShaperConfig| Shaper::new(&config, STATION, Instant::ZERO).unwrap_err().field;
    let silent = station::Context { air_rate: BitRate::from_bps(0), ..STATION };
    assert_eq!(Shaper::new(&config(), silent, Instant::ZERO).unwrap_err().field, "air_rate");
    assert_eq!(field(ShaperConfig { least_wait: Duration::ZERO, ..config() }), "least_wait");
    assert_eq!(field(ShaperConfig { growth: 0.9, ..config() }), "growth");
    assert_eq!(field(ShaperConfig { growth: f64::NAN, ..config() }), "growth");
    assert_eq!(field(ShaperConfig { patience: 0, ..config() }), "patience");
    assert_eq!(field(ShaperConfig { saturation: 0.0, ..config() }), "saturation");
    assert_eq!(field(ShaperConfig { saturated_bursts: 0, ..config() }), "saturated_bursts");
    let paced = |share, stretch, bursts| ShaperConfig {
        paced_share: Some(share),
        paced_stretch: stretch,
        paced_bursts: bursts,
        ..config()
    };
    assert_eq!(field(paced(f64::INFINITY, 2.0, 1)), "paced_share");
    assert_eq!(field(paced(0.5, 0.0, 1)), "paced_stretch");
    assert_eq!(field(paced(0.5, 2.0, 0)), "paced_bursts");
    assert_eq!(field(ShaperConfig { paced_share: None, ..paced(0.5, 1.5, 1) }), "paced_stretch");
    assert_eq!(field(ShaperConfig { paced_from: PacedFrom::SlowStart, ..config() }), "paced_from");
}
