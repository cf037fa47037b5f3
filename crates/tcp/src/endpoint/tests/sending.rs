//! Windows: slow start, congestion avoidance, the peer's window, silly windows, probes, idling.

use super::*;
use crate::{Increase, ShrunkWindow};
use netlull_units::Bytes;

#[test]
fn slow_start_adds_a_segment_for_each_acknowledgement() {
    // IW 2: each acknowledgement of one segment sends two.
    let mut t = Script::connected(&plain().with(|c| c.cwnd.initial_window = InitialWindow::Segments(2)));
    t.send_endless();
    assert_eq!(t.sent(), full_segments(0, 0, 2));
    t.ack(100, 1000);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(100, 2, 2), 3000));
    t.ack(101, 2000);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(101, 4, 2), 4000));
    // A delayed acknowledgement of two adds one: min(N, SMSS).
    t.ack(200, 4000);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(200, 6, 3), 5000));
}

#[test]
fn congestion_avoidance_adds_a_segment_per_round_trip() {
    // ssthresh = cwnd = 4: acknowledgements add 1/4, 1/4.25, 1/4.485, 1/4.708: 4.920 segments, so four of them send
    // one segment each, and only a fifth sends two: 5.123.
    let config = plain().with(|c| {
        c.cwnd.initial_ssthresh = Some(Bytes::new(4000));
        c.cwnd.initial_window = InitialWindow::Segments(4);
    });
    let mut t = Script::connected(&config);
    t.send_endless();
    t.sent();
    for (n, cwnd) in [(1, 4250), (2, 4485), (3, 4708), (4, 4920)] {
        t.ack(100 + n, n * 1000);
        assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(100 + n, 3 + n, 1), cwnd));
    }
    t.ack(105, 5000);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(105, 8, 2), 5123));
}

#[test]
fn byte_counting_makes_up_for_delayed_acknowledgements() {
    let config = plain().with(|c| c.cwnd.increase = Increase::ByteCounting { limit: 2 });
    let mut t = Script::connected(&config);
    t.send_endless();
    t.ack(100, 2000);
    assert_eq!(t.tcp.cwnd(), 12_000);
}

#[test]
fn offsets_of_segments_go_on_where_sequence_numbers_begin_again() {
    // The stream begins 1500 bytes below 2^32.
    let config = plain().with(|c| c.cwnd.initial_window = InitialWindow::Segments(2));
    let mut t = Script::connected_with(&config, SeqNr::new(u32::MAX - 1500), IRS);
    t.send(4000);
    assert_eq!(t.tcp.offset_of(&t.last), 1000);
    t.ack(100, 1000);
    assert_eq!((t.tcp.offset_of(&t.last), t.last.seq), (3000, SeqNr::new(1500)));
}

#[test]
fn the_peers_window_limits_the_sender() {
    let mut t = Script::connected(&plain());
    t.window = 3000;
    t.ack(0, 0);
    t.send_endless();
    assert_eq!(t.sent(), full_segments(0, 0, 3));
    t.ack(10, 1000);
    assert_eq!(t.sent(), full_segments(10, 3, 1));
    // The window shrinks by two segments: nothing goes out until its edge moves on (RFC 9293 section 3.8.6, MUST-34).
    t.window = 1000;
    t.ack(11, 1000);
    t.ack(12, 2000);
    t.ack(13, 3000);
    assert_eq!(t.sent(), [""; 0]);
    t.ack(14, 4000);
    assert_eq!(t.sent(), full_segments(14, 4, 1));
}

#[test]
fn an_older_segment_does_not_move_the_window() {
    // RFC 9293 section 3.10.7.4: SND.WL1 and SND.WL2 prevent window updates from old segments.
    let mut t = Script::connected(&plain());
    t.data(1, 0, 100);
    let newer = Segment { window: 9000, ..t.peer_segment(100, 0) };
    let older = Segment { window: 2000, ..t.peer_segment(0, 0) };
    t.takes(2, &newer);
    assert_eq!(t.tcp.send_window(), 9000);
    t.takes(3, &Segment { len: 200, ..older });
    assert_eq!((t.tcp.send_window(), t.tcp.bytes_delivered()), (9000, 200));
}

#[test]
fn small_segments_wait_for_room_and_with_nagle_for_acknowledgements() {
    // Silly-window avoidance: 1500 bytes into a window of 1200: a full segment, but not the 200 bytes more that the
    // window has room for.
    let mut t = Script::connected(&plain());
    t.window = 1200;
    t.ack(0, 0);
    t.send(1500);
    assert_eq!(t.sent(), ["0 ms 0+1000"]);
    t.ack(10, 1000);
    assert_eq!(t.sent(), ["10 ms 1000+500"]);
    // Without Nagle, queued data goes out at once; with it, only when nothing is in flight.
    t.send(10);
    assert_eq!(t.sent(), ["10 ms 1500+10"]);
    let mut t = Script::connected(&Config { nagle: true, ..plain() });
    t.send(10);
    t.send(10);
    t.send(10);
    assert_eq!(t.sent(), ["0 ms 0+10"]);
    t.ack(10, 10);
    assert_eq!(t.sent(), ["10 ms 10+20"]);
}

#[test]
fn half_of_the_largest_window_is_worth_a_segment() {
    // RFC 9293 section 3.8.6.2.1 rule 3: a peer whose largest window is 600 gets 300 or more at a time.
    let mut t = Script::connected(&plain());
    let config = plain();
    t.tcp = Endpoint::client(&config, ISS);
    t.open();
    let syn_ack =
        Segment { window: 600, flags: Flags::SYN | Flags::ACK | Flags::HAS_MSS, mss: 1000, ..t.peer_segment(0, 0) };
    t.takes(0, &Segment { seq: IRS, ..syn_ack });
    t.sent();
    t.send(5000);
    assert_eq!(t.sent(), ["0 ms 0+600"]);
    t.window = 200;
    t.ack(10, 600);
    assert_eq!(t.sent(), [""; 0]);
    t.window = 400;
    t.ack(20, 600);
    assert_eq!(t.sent(), ["20 ms 600+400"]);
}

#[test]
fn a_closed_window_is_probed_at_doubling_intervals() {
    // RFC 9293 section 3.8.6.1: first after an RTO (1 s), then after 2, 4, ... s. The window opens: data goes on from
    // the byte that the probes repeated.
    let mut t = Script::connected(&plain());
    t.send(3000);
    t.window = 0;
    t.ack(100, 3000);
    t.send(2000);
    t.sent();
    // The sample of 100 ms makes the RTO max(1 s, 100 + 4 * 50 ms).
    for probe in [1100, 3100, 7100] {
        t.until(probe);
        assert_eq!(t.sent(), [format!("{probe} ms 3000+1")]);
        t.ack(probe + 50, 3000);
    }
    assert_eq!((t.tcp.counters().zero_window_probes, t.tcp.counters().duplicate_acks), (3, 0));
    assert_eq!(t.tcp.flight(), 0);
    t.window = 5000;
    t.ack(8000, 3000);
    assert_eq!(t.sent(), full_segments(8000, 3, 2));
    t.ack(8100, 5000);
    assert!(t.tcp.all_acked());
    assert_eq!(t.tcp.next_timeout(), Instant::NEVER);
    // 5000 B and three probes of the same byte, of which only the first was new.
    let counters = t.tcp.counters();
    assert_eq!((counters.bytes_sent, counters.bytes_sent - counters.retransmitted_bytes), (5003, 5000));
}

#[test]
fn acknowledgements_are_acceptable_after_timeouts_and_probes() {
    // RFC 9293 section 3.10.7.4 drops segments that start before RCV.NXT, and at a closed window those that do not
    // start at it. After a timeout, SND.NXT is 1000 of 10000 sent: an acknowledgement starts at 10000.
    let mut t = Script::connected(&plain());
    t.send(10_000);
    t.until(1000);
    t.data(1010, 0, 100);
    assert_eq!(t.last.seq, ISS.advanced_by(1 + 10_000));
    // After a probe of byte 0, which the peer did not keep: at 0.
    let mut t = Script::connected(&plain());
    t.window = 0;
    t.ack(0, 0);
    t.send(2000);
    t.data(1010, 0, 100);
    assert_eq!(t.sent(), ["1000 ms 0+1", "1010 ms ack 100"]);
    assert_eq!(t.last.seq, ISS.advanced_by(1));
}

#[test]
fn a_probe_that_is_accepted_counts() {
    let mut t = Script::connected(&plain());
    t.window = 0;
    t.ack(0, 0);
    t.send(2000);
    t.until(1000);
    assert_eq!(t.sent(), ["1000 ms 0+1"]);
    t.window = 2000;
    t.ack(1050, 1);
    assert_eq!(t.sent(), ["1050 ms 1+1000", "1050 ms 1001+999"]);
    assert_eq!(t.tcp.counters().retransmitted_segments, 0);
}

#[test]
fn a_window_too_small_for_a_segment_is_used_when_the_timer_overrides() {
    // Rule 4 of silly-window avoidance: after an RTO, all data that fits.
    let mut t = Script::connected(&plain());
    t.window = 300;
    t.ack(0, 0);
    t.send(1000);
    assert_eq!(t.sent(), [""; 0]);
    t.until(1000);
    assert_eq!(t.sent(), ["1000 ms 0+300"]);
}

#[test]
fn idling_for_an_rto_restarts_slow_start() {
    // RFC 5681 section 4.1: 10 segments grew to 20; after more than the RTO of 1 s, RW = min(IW, cwnd) = 10.
    for (idle_restart, window) in [(true, 10), (false, 20)] {
        let mut t = Script::connected(&plain().with(|c| c.cwnd.idle_restart = idle_restart));
        t.send(10_000);
        for n in 1..=10 {
            t.ack(100, n * 1000);
        }
        assert_eq!(t.tcp.cwnd(), 20_000);
        t.sent();
        t.until(1001);
        t.send(30_000);
        assert_eq!(t.sent(), full_segments(1001, 10, window));
        assert_eq!(t.tcp.counters().idle_restarts, u64::from(idle_restart));
    }
}

#[test]
fn the_byte_of_a_probe_is_in_flight_only_in_bsd() {
    // Closed at 100 ms, probed at 1100 ms, opened at 2000 ms, with an RTO of 1 s. 4.4BSD's tcp_output compares
    // SND.UNA with SND.MAX, so it does not see a pause.
    for (shrunk_window, restarts) in [(ShrunkWindow::Keep, 1), (ShrunkWindow::PullBack, 0)] {
        let mut t = Script::connected(&plain().with(|c| c.flow_control.shrunk_window = shrunk_window));
        t.send(10_000);
        for n in 1..10 {
            t.ack(99, n * 1000);
        }
        let closed = Segment { window: 0, ..t.peer_segment(0, 10_000) };
        t.takes(100, &closed);
        t.send(30_000);
        t.until(1999);
        assert_eq!((t.tcp.cwnd(), t.tcp.counters().zero_window_probes), (20_000, 1));
        t.ack(2000, 10_000);
        assert_eq!(t.tcp.counters().idle_restarts, restarts);
        assert_eq!(t.tcp.cwnd(), if restarts == 1 { 10_000 } else { 20_000 });
    }
}

#[test]
fn sequence_numbers_wrap() {
    // ISS and IRS just below 2^32: data, acknowledgements and a loss across the wrap.
    let near = SeqNr::new(u32::MAX - 1500);
    let mut t = Script::connected_with(&plain(), near, near);
    t.send(5000);
    assert_eq!(t.sent(), full_segments(0, 0, 4).into_iter().chain(["0 ms 4000+1000".to_owned()]).collect::<Vec<_>>());
    t.ack(10, 1000);
    t.acks(11, 1000, 3);
    assert_eq!(t.sent(), ["11 ms 1000+1000"]);
    t.ack(12, 5000);
    assert!(t.tcp.all_acked());
    t.data(20, 0, 1000);
    t.data(21, 2000, 1000);
    t.data(22, 1000, 1000);
    assert_eq!(t.sent(), ["20 ms ack 1000", "21 ms ack 1000", "22 ms ack 3000"]);
}

#[test]
fn acknowledgements_of_what_was_not_sent_are_answered_and_ignored() {
    let mut t = Script::connected(&plain());
    t.send(1000);
    t.ack(5, 1001);
    assert_eq!(t.sent(), ["0 ms 0+1000", "5 ms ack 0"]);
    assert_eq!(t.tcp.snd_una(), 0);
}

#[test]
fn closing_an_endless_stream_ends_it_behind_what_was_sent() {
    let mut t = Script::connected(&plain());
    t.send_endless();
    t.close();
    assert_eq!(t.sent().last().map(String::as_str), Some("0 ms 10000+0 FIN"));
}

#[test]
fn data_of_any_size_is_finite() {
    // Whatever the size, more data is queued than is sent, so no FIN follows and the data is not acknowledged.
    for bytes in [(1 << 62) - 1, 1 << 62, 1 << 63, u64::MAX] {
        let mut t = Script::connected(&plain());
        t.send(bytes);
        t.send(bytes);
        t.close();
        let sent = t.sent();
        assert!(!sent.iter().any(|line| line.contains("FIN")), "{bytes}: {sent:?}");
        assert!(!t.tcp.all_acked(), "{bytes}");
    }
}
