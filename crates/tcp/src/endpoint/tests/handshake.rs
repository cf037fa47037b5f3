//! Opening: RFC 9293 sections 3.5 and 3.10.7, the options of the SYN, the loss of a SYN.

use super::*;

fn syn_ack(mss: u16) -> Segment {
    Segment {
        seq: IRS,
        ack: ISS.advanced_by(1),
        mss,
        window: 5000,
        flags: Flags::SYN | Flags::ACK | Flags::HAS_MSS,
        ..Segment::default()
    }
}

#[test]
fn a_client_negotiates_every_option() {
    // Offered: MSS 1460, a shift of 7 (65535 * 2^7 is the first to cover 6 MiB), timestamps. Agreed with a peer of
    // MSS 1400 and a shift of 3: segments of 1400 - 12 = 1388 bytes, an initial window of 10 of them.
    let mut t = Script::client(&Config::default());
    t.open();
    assert_eq!(t.sent(), ["0 ms SYN"]);
    let syn = t.last;
    assert_eq!(syn.flags, Flags::SYN | Flags::HAS_MSS | Flags::HAS_WINDOW_SCALE | Flags::HAS_TIMESTAMPS);
    assert_eq!((syn.seq, syn.mss, syn.window_scale, syn.window), (ISS, 1460, 7, 65_535));
    assert_eq!(t.tcp.state(), State::SynSent);

    let answer = Segment { flags: syn.flags | Flags::ACK, window_scale: 3, ts_val: 77, ts_ecr: 0, ..syn_ack(1400) };
    t.takes(40, &answer);
    assert_eq!(t.sent(), ["40 ms ack 0"]);
    assert_eq!(t.tcp.state(), State::Established);
    assert_eq!((t.tcp.smss(), t.tcp.cwnd()), (1388, 13_880));
    // The window of a SYN is not scaled, that of the acknowledgement is: 6 MiB / 128 = 49152.
    assert_eq!(t.tcp.send_window(), 5000);
    assert_eq!((t.last.window, t.last.ts_val, t.last.ts_ecr), (49_152, 40, 77));
    assert_eq!((t.tcp.srtt(), t.tcp.established_at()), (Some(Duration::from_millis(40)), Some(at_ms(40))));
    t.takes(
        50,
        &Segment { window: 100, flags: Flags::ACK | Flags::HAS_TIMESTAMPS, ts_val: 80, ..t.peer_segment(0, 0) },
    );
    assert_eq!(t.tcp.send_window(), 800);
}

#[test]
fn a_server_answers_and_counts_the_third_segment_as_the_round_trip() {
    let mut t = Script::server(&plain());
    t.takes(10, &Segment { seq: IRS, mss: 500, flags: Flags::SYN | Flags::HAS_MSS, ..Segment::default() });
    assert_eq!(t.sent(), ["10 ms SYN+ACK"]);
    assert_eq!((t.tcp.state(), t.last.ack), (State::SynReceived, IRS.advanced_by(1)));
    assert_eq!(t.last.flags, Flags::SYN | Flags::ACK | Flags::HAS_MSS);
    t.ack(60, 0);
    assert_eq!((t.tcp.state(), t.tcp.smss()), (State::Established, 500));
    assert_eq!(t.sent(), [""; 0]);
}

#[test]
fn what_the_peer_does_not_offer_is_not_used() {
    // No MSS option: 536 bytes (RFC 9293 section 3.7.1). No scaling, no timestamps.
    let mut t = Script::client(&Config::default());
    t.open();
    t.takes(5, &Segment { flags: Flags::SYN | Flags::ACK, ..syn_ack(0) });
    assert_eq!((t.tcp.smss(), t.last.flags, t.last.window), (536, Flags::ACK, 65_535));
}

#[test]
fn a_lost_syn_is_sent_again_at_doubling_intervals() {
    // RFC 6298: 1 s, then 2 s, then 4 s: at 1, 3 and 7 s.
    let mut t = Script::client(&plain());
    t.open();
    t.until(7500);
    assert_eq!(t.sent(), ["0 ms SYN", "1000 ms SYN", "3000 ms SYN", "7000 ms SYN"]);
    // Section 5.7: with an RTO below 3 s, it is 3 s when data transmission begins. RFC 6928 section 2: more than one
    // retransmission leaves an initial window of one segment.
    t.send(20_000);
    t.takes(7600, &syn_ack(1000));
    assert_eq!(t.sent(), ["7600 ms 0+1000"]);
    assert_eq!((t.tcp.rto(), t.tcp.cwnd()), (Duration::from_secs(3), 1000));
    assert_eq!(t.tcp.counters().timeouts, 3);
}

#[test]
fn one_lost_syn_keeps_the_initial_window_and_makes_no_sample() {
    let config = plain().with(|c| c.timer.handshake_rtt = HandshakeRtt::Sampled);
    let mut t = Script::client(&config);
    t.open();
    t.takes(1100, &syn_ack(1000));
    assert_eq!((t.tcp.cwnd(), t.tcp.srtt()), (10_000, None));
    assert_eq!(t.tcp.rto(), Duration::from_secs(3));
}

#[test]
fn a_lost_syn_ack_is_sent_again_by_the_timer_and_for_a_repeated_syn() {
    let mut t = Script::server(&plain());
    let syn = Segment { seq: IRS, mss: 500, flags: Flags::SYN | Flags::HAS_MSS, ..Segment::default() };
    t.takes(0, &syn);
    t.takes(1000, &syn);
    t.until(2999);
    assert_eq!(t.sent(), ["0 ms SYN+ACK", "1000 ms SYN+ACK", "1000 ms SYN+ACK"]);
    t.ack(3100, 0);
    assert_eq!(t.tcp.state(), State::Established);
}

#[test]
fn a_repeated_syn_ack_is_acknowledged_again() {
    let mut t = Script::client(&plain());
    t.open();
    t.takes(1, &syn_ack(1000));
    t.takes(2, &syn_ack(1000));
    assert_eq!(t.sent(), ["0 ms SYN", "1 ms ack 0", "2 ms ack 0"]);
}

#[test]
fn both_may_open_at_once() {
    // RFC 9293 figure 8.
    let mut t = Script::client(&plain());
    t.open();
    t.takes(1, &Segment { flags: Flags::SYN | Flags::HAS_MSS, ..syn_ack(1000) });
    assert_eq!(t.tcp.state(), State::SynReceived);
    t.takes(2, &syn_ack(1000));
    assert_eq!(t.tcp.state(), State::Established);
    assert_eq!(t.sent(), ["0 ms SYN", "1 ms SYN+ACK", "2 ms ack 0"]);
}

#[test]
fn what_belongs_to_no_connection_is_reset() {
    let mut t = Script::client(&plain());
    t.open();
    // An acknowledgement of another number than our SYN.
    t.takes(1, &Segment { ack: ISS.advanced_by(9), ..syn_ack(1000) });
    assert_eq!(t.sent(), ["0 ms SYN", "1 ms RST"]);
    assert_eq!((t.last.seq, t.tcp.state()), (ISS.advanced_by(9), State::SynSent));
    // A reset that does not acknowledge the SYN is ignored; one that does refuses the connection.
    t.takes(2, &Segment { flags: Flags::RST, ..Segment::default() });
    assert_eq!(t.tcp.state(), State::SynSent);
    t.takes(3, &Segment { flags: Flags::RST | Flags::ACK, ..syn_ack(0) });
    assert!(t.tcp.is_closed());
    // CLOSED answers everything but resets.
    t.data(4, 0, 10);
    assert_eq!(t.sent(), ["4 ms RST"]);
    let mut t = Script::server(&plain());
    t.ack(5, 0);
    assert_eq!((t.sent(), t.tcp.state()), (vec!["5 ms RST".to_owned()], State::Listen));
}

#[test]
fn a_challenge_answers_a_syn_and_an_inexact_reset() {
    // RFC 9293 section 3.10.7.4 (RFC 5961): both get an acknowledgement; the exact reset ends the connection.
    let mut t = Script::connected(&plain());
    t.takes(1, &Segment { flags: Flags::SYN, ..t.peer_segment(5, 0) });
    t.takes(2, &Segment { flags: Flags::RST, ..t.peer_segment(5, 0) });
    assert_eq!(t.sent(), ["1 ms ack 0", "2 ms ack 0"]);
    t.takes(3, &Segment { flags: Flags::RST, ..t.peer_segment(0, 0) });
    assert!(t.tcp.is_closed());
    assert_eq!(t.sent(), [""; 0]);
}
