//! Scripts for the options beyond the paper's mechanism: resumption, the bound of the slowdown, round trips without
//! timestamps, the window of open ACKs, and withheld acknowledgements.

use super::*;

/// Saturated after the open ACK at 320 ms: 4 x 1052 B are 33.7 kbit, and 0.9 x 600 kb/s x 60 ms are 32.4 kbit.
fn saturated(config: &ShaperConfig) -> Script {
    let narrow = station::Context { air_rate: BitRate::from_bps(600_000), ..STATION };
    let mut script = Script::saving_at(narrow, config);
    script.flight_after(188, 4);
    assert_eq!(script.timeout(254), [ACKNOWLEDGE, Act::Sleep]);
    script.opened(254);
    script.flight_after(254, 4);
    assert_eq!(script.timeout(320), [ACKNOWLEDGE]);
    assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::Saturated));
    script.opened(320);
    script
}

#[test]
fn a_saturated_shaper_resumes_after_small_rounds_in_a_row() {
    // 0.5 x 36 kbit = 18 kbit: two packets are 16.8 kbit, four 33.7 kbit.
    let config = ShaperConfig { resume: Some(0.5), ..config() };
    let mut script = saturated(&config);
    // The first flight answers the open ACK, the second one has no known beginning. The rounds of two packets that
    // begin at 504, 565 and 687 ms are small; the one of four at 626 ms is not.
    let flights = [(380, 4), (441, 4), (504, 2), (565, 2), (626, 4), (687, 2), (748, 2), (809, 2)];
    let mut echo = 320;
    for (from, packets) in flights {
        script.flight(from, packets, echo);
        assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::Saturated), "at {from}");
        assert_eq!(script.shaper.fallback(), Some(Fallback::Saturated));
        echo = from + 1;
    }
    // The round of 809 ms ends with the next packet: the third small one in a row.
    script.data(870, echo);
    assert_eq!((script.shaper.state(), script.shaper.fallback()), (ShaperState::Saving, None));
    assert_eq!(script.shaper.expected(), 3);
    script.data(871, echo);
    assert_eq!(script.acknowledge(871), [CLOSE]);
    // The last acknowledgement with a window left at 810 ms; its data may arrive until 873 ms.
    assert_eq!(script.timeout(874), [ACKNOWLEDGE, Act::Sleep]);
}

#[test]
fn without_resume_a_saturated_shaper_stays_standard() {
    let mut script = saturated(&config());
    let mut echo = 320;
    for from in (380..2000).step_by(61) {
        script.flight(from, 2, echo);
        assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::Saturated));
        echo = from + 1;
    }
}

#[test]
fn shaping_ends_at_the_greatest_slowdown() {
    // Data from 60 ms on. The first burst lasts from 182 to 188 ms, 6 ms of 128: 6 / 122 = 4.9 %. With the second
    // burst, 248 to 254 ms, 12 / 182 = 6.6 %. With the third, 314 to 320 ms, 18 / 242 = 7.4 %.
    let config = ShaperConfig { most_slowdown: Some(0.07), ..config() };
    let mut script = Script::saving(&config);
    script.flight_after(188, 4);
    assert_eq!(script.timeout(254), [ACKNOWLEDGE, Act::Sleep]);
    script.opened(254);
    script.flight_after(254, 4);
    assert_eq!(script.timeout(320), [ACKNOWLEDGE], "no sleep");
    assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::Slowdown));
    assert_eq!(Fallback::Slowdown.name(), "slowdown");
}

/// A handshake of 60 ms on a connection without timestamps.
fn without_timestamps(rtt_from: RttFrom) -> Script {
    let mut script = Script { plain: true, ..Script::new(&ShaperConfig { rtt_from, ..config() }) };
    assert_eq!(script.receive(60, TcpView { acknowledged: Some(FIRST.wrapping_add(1)), ..segment(FIRST, 0, 0) }), []);
    assert_eq!(script.shaper.rtt(), Some(us(60_000)));
    script
}

#[test]
fn the_handshake_gives_a_round_trip_without_timestamps() {
    for rtt_from in [RttFrom::Handshake, RttFrom::Answers] {
        let mut script = without_timestamps(rtt_from);
        // Rounds end 60 ms after their first acknowledgement. The second round, of 4 packets, does not double.
        script.flight(60, 4, 0);
        script.flight(121, 4, 0);
        script.flight(182, 4, 0);
        assert_eq!(script.shaper.state(), ShaperState::Saving);
        assert_eq!(script.timeout(188), [ACKNOWLEDGE, Act::Sleep]);
        script.opened(188);
        assert_eq!(script.wakes(246), [Act::Wake]);
        // Half of 60 ms after the open ACK data becomes an answer; before, it is a straggler.
        script.data(217, 0);
        assert_eq!((script.shaper.bursts(), script.shaper.expected()), (1, 6));
        script.flight(244, 4, 0);
        let least = if rtt_from == RttFrom::Answers { 56_000 } else { 60_000 };
        assert_eq!(script.shaper.rtt(), Some(us(least)));
    }
}

#[test]
fn samples_without_timestamps_are_whole_milliseconds() {
    let mut script = Script::new(&ShaperConfig { rtt_from: RttFrom::Handshake, ..config() });
    let answer = TcpView { acknowledged: Some(FIRST.wrapping_add(1)), ..segment(FIRST, 0, 0) };
    let packet = PacketView { size: 52, segment: Some(answer) };
    script.event(Instant::ZERO + us(60_749), StationEvent::Received { packet, more: false });
    assert_eq!(script.shaper.rtt(), Some(us(60_000)));
}

#[test]
fn a_repeated_open_ack_gives_no_sample() {
    let mut script = without_timestamps(RttFrom::Answers);
    script.flight(60, 4, 0);
    script.flight(121, 4, 0);
    script.flight(182, 4, 0);
    script.timeout(188);
    script.opened(188);
    script.wakes(246);
    assert_eq!(script.timeout(308), [ACKNOWLEDGE]);
    script.opened(308);
    script.flight(320, 4, 0);
    assert_eq!(script.shaper.rtt(), Some(us(60_000)), "neither 132 nor 12 ms");
}

#[test]
fn without_a_handshake_and_timestamps_windows_are_left_alone() {
    let mut script = Script { plain: true, ..Script::new(&ShaperConfig { rtt_from: RttFrom::Answers, ..config() }) };
    script.data(60, 0);
    assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::NoTimestamps));
}

#[test]
fn an_open_ack_advertises_its_window_while_it_shapes() {
    let window = Bytes::new(20_000);
    let opens = [Act::SetWindow(window), ACKNOWLEDGE];
    let mut script = Script::new(&ShaperConfig { open_window: Some(window), patience: 1, ..config() });
    script.flight(60, 3, 0);
    assert_eq!(script.timeout(65), [ACKNOWLEDGE], "an eager acknowledgement has the host's window");
    script.opened(65);
    script.flight(121, 3, 61);
    script.flight(182, 4, 122);
    assert_eq!(script.timeout(188), [opens[0], opens[1], Act::Sleep]);
    script.opened(188);
    assert_eq!(script.wakes(246), [Act::Wake]);
    assert_eq!(script.timeout(308), opens, "repeated");
    script.opened(308);
    // The bad burst ends shaping, and the window is the host's again.
    script.data(368, 308);
    script.data_behind_a_hole(369, 308);
    let due = script.shaper.next_timeout().unwrap();
    assert_eq!(script.event(due, StationEvent::Timeout), [ACKNOWLEDGE]);
    assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::BadBursts));
}

#[test]
fn a_burst_has_one_acknowledgement_where_the_others_are_withheld() {
    let withheld = ShaperConfig { burst_acks: BurstAcks::Withheld, ..config() };
    let mut script = Script::new(&withheld);
    script.flight(60, 4, 0);
    script.flight(121, 4, 61);
    script.data(182, 122);
    script.data(183, 122);
    assert_eq!(script.acknowledge(183), [Act::Withhold]);
    script.data(184, 122);
    script.data(185, 122);
    assert_eq!(script.acknowledge(185), [Act::Withhold]);
    let other = TcpView { connection: 8, ..segment(1, 0, 185) };
    assert_eq!(script.sending(185, other), []);
    assert_eq!(script.timeout(188), [ACKNOWLEDGE, Act::Sleep]);
    script.opened(188);
    // Nobody has sent 185: its echo is no sample of 1 ms.
    script.receive(186, TcpView { seq: FIRST, ..segment(FIRST, DATA, 185) });
    assert_eq!(script.shaper.rtt(), Some(us(60_000)));
}

#[test]
fn wrong_values_of_options_are_named() {
    let field = |config: ShaperConfig| Shaper::new(&config, STATION, Instant::ZERO).unwrap_err().field;
    let window = |bytes| ShaperConfig { open_window: Some(Bytes::new(bytes)), ..config() };
    assert_eq!(field(window(1499)), "open_window");
    assert!(Shaper::new(&window(1500), STATION, Instant::ZERO).is_ok());
    assert_eq!(field(ShaperConfig { resume: Some(0.91), ..config() }), "resume");
    assert_eq!(field(ShaperConfig { resume: Some(0.0), ..config() }), "resume");
    assert_eq!(field(ShaperConfig { most_slowdown: Some(0.0), ..config() }), "most_slowdown");
}
