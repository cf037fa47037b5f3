//! Explicit congestion notification: RFC 3168 section 6.1, RFC 8257 section 3.2.

use super::*;
use crate::{Algorithm, Ecn, RecoveryPhase};

fn ecn(mode: Ecn) -> Config {
    plain().with(|c| {
        c.ecn = mode;
        c.recovery.limited_transmit = false;
    })
}

/// A SYN, or a SYN+ACK with [`Flags::ACK`].
fn syn(flags: Flags) -> Segment {
    let flags = Flags::SYN | Flags::HAS_MSS | flags;
    Segment { seq: IRS, ack: ISS.advanced_by(1), mss: 1000, window: u16::MAX, flags, ..Segment::default() }
}

/// Both ends agree, and the log is empty.
fn agreed(config: &Config) -> Script {
    let mut t = Script::client(config);
    t.open();
    t.sent();
    t.takes(0, &syn(Flags::ACK | Flags::ECE));
    assert_eq!(t.sent(), ["0 ms ack 0"]);
    t
}

fn ect_segments(ms: u64, first: u64, count: u64) -> Vec<String> {
    full_segments(ms, first, count).iter().map(|line| format!("{line} ECT")).collect()
}

impl Script {
    fn peer_sends(&mut self, ms: u64, offset: u64, flags: Flags) {
        let data = Segment { len: 1000, flags: Flags::ACK | Flags::ECT | flags, ..self.peer_segment(offset, 0) };
        self.takes(ms, &data);
    }

    fn echo(&mut self, ms: u64, offset: u64) {
        let ack = Segment { flags: Flags::ACK | Flags::ECE, ..self.peer_segment(0, offset) };
        self.takes(ms, &ack);
    }
}

#[test]
fn a_client_offers_and_a_server_accepts() {
    // RFC 3168 section 6.1.1: ECE and CWR in the SYN, ECE alone in the SYN+ACK, both without ECT.
    let mut t = Script::client(&ecn(Ecn::Classic));
    t.open();
    assert_eq!(t.sent(), ["0 ms SYN ECE CWR"]);
    for (mode, answer) in
        [(Ecn::Classic, "0 ms SYN+ACK ECE"), (Ecn::Dctcp, "0 ms SYN+ACK ECE"), (Ecn::Off, "0 ms SYN+ACK")]
    {
        let mut t = Script::server(&ecn(mode));
        t.takes(0, &syn(Flags::ECE | Flags::CWR));
        assert_eq!(t.sent(), [answer]);
        t.ack(10, 0);
        t.send(1000);
        let ect = if mode == Ecn::Off { "" } else { " ECT" };
        assert_eq!(t.sent(), [format!("10 ms 0+1000{ect}")]);
    }
    // A SYN with one of the two does not offer.
    for flags in [Flags::ECE, Flags::CWR] {
        let mut t = Script::server(&ecn(Ecn::Classic));
        t.takes(0, &syn(flags));
        assert_eq!(t.sent(), ["0 ms SYN+ACK"]);
    }
}

#[test]
fn an_answer_that_reflects_the_offer_does_not_accept_it() {
    // RFC 3168 section 6.1.1.2.
    let both = Flags::ECE | Flags::CWR;
    for (flags, line) in [(Flags::ECE, "0 ms 0+1000 ECT"), (both, "0 ms 0+1000"), (Flags::NONE, "0 ms 0+1000")] {
        let mut t = Script::client(&ecn(Ecn::Classic));
        t.open();
        t.takes(0, &syn(Flags::ACK | flags));
        t.sent();
        t.send(1000);
        assert_eq!(t.sent(), [line], "{flags:?}");
    }
}

#[test]
fn a_syn_without_an_answer_is_sent_again_without_an_offer() {
    // RFC 3168 section 6.1.1.1; a late answer to the first SYN is no agreement (6.1.1).
    let mut t = Script::client(&ecn(Ecn::Classic));
    t.open();
    t.until(1000);
    assert_eq!(t.sent(), ["0 ms SYN ECE CWR", "1000 ms SYN"]);
    t.takes(1100, &syn(Flags::ACK | Flags::ECE));
    t.send(1000);
    assert_eq!(t.sent(), ["1100 ms ack 0", "1100 ms 0+1000"]);
    // The other side: the second SYN counts.
    let mut t = Script::server(&ecn(Ecn::Classic));
    t.takes(0, &syn(Flags::ECE | Flags::CWR));
    t.takes(500, &syn(Flags::NONE));
    assert_eq!(t.sent(), ["0 ms SYN+ACK ECE", "500 ms SYN+ACK"]);
}

#[test]
fn only_new_data_is_ecn_capable() {
    // RFC 3168 sections 6.1.4 to 6.1.6: not retransmissions (fast, or after a timeout), acknowledgements, probes.
    let mut t = agreed(&ecn(Ecn::Classic));
    t.send(10_000);
    assert_eq!(t.sent(), ect_segments(0, 0, 10));
    t.acks(100, 0, 3);
    assert_eq!(t.sent(), ["100 ms 0+1000"]);
    t.until(1000);
    assert_eq!(t.sent(), ["1000 ms 0+1000"]);
    t.ack(1050, 1000);
    assert_eq!(t.sent(), full_segments(1050, 1, 2));
    t.window = 0;
    t.ack(1100, 10_000);
    t.send(1000);
    t.until(5000);
    let probes = t.sent();
    assert!(!probes.is_empty() && probes.iter().all(|line| line.ends_with("10000+1")), "{probes:?}");
}

#[test]
fn a_receiver_echoes_marks_until_the_sender_says_that_it_has_reduced() {
    // RFC 3168 section 6.1.3, every segment acknowledged.
    let mut t = agreed(&ecn(Ecn::Classic));
    for (n, flags) in [Flags::NONE, Flags::CE, Flags::NONE, Flags::CWR, Flags::NONE].into_iter().enumerate() {
        t.peer_sends(n as u64, n as u64 * 1000, flags);
    }
    let expected = ["0 ms ack 1000", "1 ms ack 2000 ECE", "2 ms ack 3000 ECE", "3 ms ack 4000", "4 ms ack 5000"];
    assert_eq!(t.sent(), expected);
    // Own data carries the echo too; a marked segment with CWR continues it.
    t.peer_sends(10, 5000, Flags::CE);
    t.peer_sends(11, 6000, Flags::CE | Flags::CWR);
    t.send(500);
    assert_eq!(t.sent(), ["10 ms ack 6000 ECE", "11 ms ack 7000 ECE", "11 ms 0+500 ECT ECE"]);
    assert_eq!(t.tcp.counters().marks_received, 3);
}

#[test]
fn marks_outside_the_window_or_the_agreement_do_not_count() {
    // RFC 3168 section 6.1.5.
    let mut t = agreed(&ecn(Ecn::Classic));
    t.peer_sends(1, 0, Flags::NONE);
    t.peer_sends(2, 0, Flags::CE);
    t.peer_sends(3, 10_000_000, Flags::CE);
    assert_eq!(t.sent(), ["1 ms ack 1000", "2 ms ack 1000", "3 ms ack 1000"]);
    let mut t = Script::connected(&plain());
    t.peer_sends(1, 0, Flags::CE);
    assert_eq!((t.sent(), t.tcp.counters().marks_received), (vec!["1 ms ack 1000".to_owned()], 0));
}

#[test]
fn an_echo_halves_the_window_once_per_window_of_data() {
    // 10 in flight; the echo: ssthresh = cwnd = 5, and no growth. 9 are in flight then, so five more acknowledgements go by
    // before the window sends; the first new segment (10) says CWR.
    let mut t = agreed(&ecn(Ecn::Classic));
    t.send_endless();
    t.sent();
    t.echo(100, 1000);
    assert_eq!((t.sent(), t.tcp.cwnd(), t.tcp.ssthresh()), (vec![], 5000, 5000));
    // Further echoes of that window: up to and with the acknowledgement of segment 9.
    for n in 2..=5 {
        t.echo(100, n * 1000);
    }
    assert_eq!((t.sent(), t.tcp.cwnd()), (vec![], 5000));
    t.echo(101, 6000);
    t.echo(101, 7000);
    assert_eq!(t.sent(), ["101 ms 10000+1000 ECT CWR", "101 ms 11000+1000 ECT"]);
    t.echo(102, 10_000);
    assert_eq!((t.tcp.cwnd(), t.tcp.counters().echo_reductions), (5000, 1));
    // The segment with CWR is acknowledged with an echo: congestion again. 12 000 to 14 999 went out at 102; 5 in
    // flight: half is 2.5.
    t.sent();
    t.echo(200, 11_000);
    assert_eq!((t.tcp.cwnd(), t.tcp.ssthresh(), t.tcp.counters().echo_reductions), (2500, 2500, 2));
    assert_eq!(t.tcp.recovery_phase(), RecoveryPhase::Open);
    assert_eq!(t.tcp.counters().retransmitted_segments, 0);
}

#[test]
fn acknowledgements_without_an_echo_open_the_window_as_ever() {
    // From 5 in congestion avoidance: + 1/5.
    let mut t = agreed(&ecn(Ecn::Classic));
    t.send_endless();
    t.echo(100, 1000);
    t.ack(100, 2000);
    assert_eq!(t.tcp.cwnd(), 5200);
}

#[test]
fn a_loss_in_the_window_of_an_echo_reduces_nothing_more() {
    // RFC 3168 section 6.1.2. The echo arrives with the acknowledgement of 0: 5. Then 1 is found lost and
    // retransmitted; the window is that of recovery (5 + 3).
    let mut t = agreed(&ecn(Ecn::Classic));
    t.send_endless();
    t.echo(100, 1000);
    t.sent();
    t.acks(101, 1000, 3);
    assert_eq!((t.sent(), t.tcp.ssthresh()), (vec!["101 ms 1000+1000".to_owned()], 5000));
    assert_eq!((t.tcp.cwnd(), t.tcp.counters().fast_retransmits), (8000, 1));
    // Recovery ends with everything acknowledged and nothing in flight: min(5, 0 + 1 + 1) = 2: 10 and 11 go out, then two
    // more for each that is acknowledged in slow start. 12 ... 15 are another window: 12 is lost: half of 4.
    t.ack(200, 10_000);
    assert_eq!(t.tcp.cwnd(), 2000);
    t.ack(201, 11_000);
    t.ack(202, 12_000);
    assert_eq!(t.tcp.flight(), 4000);
    t.acks(203, 12_000, 3);
    assert_eq!((t.tcp.ssthresh(), t.tcp.counters().fast_retransmits), (2000, 2));
}

#[test]
fn the_loss_of_the_segment_that_says_so_reduces_again() {
    // RFC 3168 section 6.1.2. The echo with the acknowledgement of 0 leaves 5; when 6 is acknowledged 10 goes out with CWR and
    // is lost; 5 in flight (10 ... 14) when three duplicates of it come: max(5 / 2, 2).
    let mut t = agreed(&ecn(Ecn::Classic));
    t.send_endless();
    t.sent();
    for n in 1..=10 {
        t.echo(100, n * 1000);
    }
    assert_eq!(t.sent()[0], "100 ms 10000+1000 ECT CWR");
    assert_eq!((t.tcp.flight(), t.tcp.ssthresh()), (5000, 5000));
    t.acks(200, 10_000, 3);
    assert_eq!((t.sent(), t.tcp.ssthresh()), (vec!["200 ms 10000+1000".to_owned()], 2500));
}

#[test]
fn cwr_follows_every_reduction() {
    // RFC 3168 section 6.1.2: CWR also reports a loss, but not on the retransmission itself (6.1.5).
    let mut t = agreed(&ecn(Ecn::Classic));
    t.send_endless();
    t.sent();
    t.acks(100, 0, 3);
    assert_eq!(t.sent(), ["100 ms 0+1000"]);
    t.acks(101, 0, 3);
    assert_eq!(t.sent(), ["101 ms 10000+1000 ECT CWR"]);
    // Tahoe's response to a loss: the sent data goes out again, and the first new data after it carries CWR.
    let mut t = agreed(&ecn(Ecn::Classic).with(|c| c.recovery.loss_recovery = crate::LossRecovery::Tahoe));
    t.send_endless();
    t.sent();
    t.acks(100, 0, 3);
    assert_eq!(t.sent(), ["100 ms 0+1000"]);
    t.ack(200, 10_000);
    assert_eq!(t.sent(), ["200 ms 10000+1000 ECT CWR", "200 ms 11000+1000 ECT"]);
    // After a timeout (RTO 1 s): 0 again. Its acknowledgement releases the others, which are retransmissions; the
    // first new one has CWR.
    let mut t = agreed(&ecn(Ecn::Classic));
    t.send_endless();
    t.sent();
    t.until(1000);
    t.ack(1100, 10_000);
    assert_eq!(t.sent(), ["1000 ms 0+1000", "1100 ms 10000+1000 ECT CWR", "1100 ms 11000+1000 ECT"]);
}

#[test]
fn dctcp_acknowledges_at_once_when_the_marks_begin_or_end() {
    // RFC 8257 section 3.2 with delayed acknowledgements, marks on 3, 4, 5: 0 and 1 together; 2 waits, and is acknowledged
    // unmarked (figure 1 there) before 3, with which the marks begin; 4 and 5 together; 6, with which they end, at once;
    // 7 and 8 together.
    let delayed_ack = DelayedAck::EverySecond { timeout: Duration::from_millis(200) };
    let mut t = agreed(&ecn(Ecn::Dctcp).with(|c| c.acks.delayed_ack = delayed_ack));
    for n in 0..9 {
        t.peer_sends(n, n * 1000, if (3..6).contains(&n) { Flags::CE } else { Flags::NONE });
    }
    let expected =
        ["1 ms ack 2000", "3 ms ack 3000", "3 ms ack 4000 ECE", "5 ms ack 6000 ECE", "6 ms ack 7000", "8 ms ack 9000"];
    assert_eq!(t.sent(), expected);
    // CWR has no meaning for it.
    t.peer_sends(10, 9000, Flags::CE);
    t.peer_sends(11, 10_000, Flags::CE | Flags::CWR);
    t.peer_sends(12, 11_000, Flags::CE);
    assert_eq!(t.sent(), ["10 ms ack 10000 ECE", "12 ms ack 12000 ECE"]);
}

#[test]
fn dctcp_reduces_by_half_of_alpha() {
    // alpha 1, and the first acknowledgement ends the first observation window unmarked: 15/16. The window is 11 then; the
    // echo with the next acknowledgement leaves 11 (1 - 15/32) = 5.84375.
    let config = Config { congestion_control: Algorithm::Dctcp, ..ecn(Ecn::Dctcp) };
    let mut t = agreed(&config);
    t.send_endless();
    t.ack(100, 1000);
    assert_eq!(t.tcp.cwnd(), 11_000);
    t.echo(100, 2000);
    assert_eq!((t.tcp.cwnd(), t.tcp.ssthresh()), (5843, 5843));
}

#[test]
fn an_echo_reduces_with_a_scoreboard_too() {
    let config = ecn(Ecn::Classic).with(|c| c.recovery.loss_recovery = crate::LossRecovery::Sack);
    let mut t = Script::client(&config);
    t.open();
    t.takes(0, &syn(Flags::ACK | Flags::ECE | Flags::HAS_SACK_PERMITTED));
    t.send_endless();
    t.sent();
    t.echo(100, 1000);
    assert_eq!((t.sent(), t.tcp.cwnd(), t.tcp.ssthresh()), (vec![], 5000, 5000));
    for n in 2..=6 {
        t.echo(101, n * 1000);
    }
    assert_eq!((t.sent(), t.tcp.cwnd()), (vec!["101 ms 10000+1000 ECT CWR".to_owned()], 5000));
    // Segment 6 is lost: SACK reports it, it is retransmitted without ECT, and the window stays.
    for right in 8..=10 {
        let seq = |n: u64| ISS.advanced_by(1 + n * 1000);
        let mut ack = Segment { sack_count: 1, ..t.peer_segment(0, 6000) };
        ack.sack[0] = crate::SackBlock { left: seq(7), right: seq(right) };
        t.takes(102, &ack);
    }
    assert_eq!((t.tcp.ssthresh(), t.tcp.counters().fast_retransmits), (5000, 1));
    assert!(t.sent().contains(&"102 ms 6000+1000".to_owned()));
}
