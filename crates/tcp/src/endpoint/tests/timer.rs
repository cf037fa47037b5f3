//! The retransmission timer: RFC 6298 section 5, RFC 5681 section 3.1.

use super::*;
use crate::{RecoveryPhase, RepeatedTimeout, RttSampling, TimeoutFlight};

#[test]
fn the_timer_runs_while_data_is_outstanding() {
    // 5.1: starts with the first segment; 5.3: restarts with each acknowledgement of new data; 5.2: stops when all is
    // acknowledged. The first sample is 100 ms: RTO = max(1 s, 300 ms).
    let mut t = Script::connected(&plain());
    assert_eq!(t.tcp.next_timeout(), Instant::NEVER);
    t.send(3000);
    assert_eq!(t.tcp.next_timeout(), at_ms(1000));
    t.ack(100, 1000);
    assert_eq!(t.tcp.next_timeout(), at_ms(1100));
    t.ack(150, 1000);
    assert_eq!(t.tcp.next_timeout(), at_ms(1100));
    t.ack(200, 3000);
    assert_eq!(t.tcp.next_timeout(), Instant::NEVER);
}

#[test]
fn a_timeout_sends_the_first_segment_again_and_slow_start_the_rest() {
    // 10 in flight, all lost. At 1 s: ssthresh 5, cwnd 1, segment 0 again; each acknowledgement opens slow start,
    // and at ssthresh congestion avoidance: 2, 3, 4, 5, 5.2.
    let mut t = Script::connected(&plain());
    t.send(10_000);
    t.sent();
    t.until(1000);
    assert_eq!((t.sent(), t.tcp.cwnd(), t.tcp.ssthresh()), (full_segments(1000, 0, 1), 1000, 5000));
    assert_eq!((t.tcp.flight(), t.tcp.recovery_phase()), (1000, RecoveryPhase::Loss));
    t.ack(1100, 1000);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(1100, 1, 2), 2000));
    t.ack(1200, 2000);
    t.ack(1201, 3000);
    assert_eq!(t.sent(), [full_segments(1200, 3, 2), full_segments(1201, 5, 2)].concat());
    t.ack(1300, 4000);
    t.ack(1301, 5000);
    assert_eq!(t.tcp.cwnd(), 5200);
    // Data that arrived before the loss is skipped.
    t.ack(1400, 10_000);
    assert!(t.tcp.all_acked());
    assert_eq!(t.tcp.recovery_phase(), RecoveryPhase::Open);
}

#[test]
fn the_rto_doubles_and_karn_waits_for_a_segment_sent_once() {
    // Lost at 0, again at 1, 3 and 7 s. The acknowledgement at 7.2 s is for a retransmission: no sample, the RTO stays
    // at 8 s (RFC 6298 section 3 and section 5). The next segment is sent once: its sample (100 ms) ends the back-off.
    let mut t = Script::connected(&plain());
    t.send(2000);
    t.until(7000);
    let expected = ["0 ms 0+1000", "0 ms 1000+1000", "1000 ms 0+1000", "3000 ms 0+1000", "7000 ms 0+1000"];
    assert_eq!(t.sent(), expected);
    t.ack(7200, 2000);
    assert_eq!((t.tcp.srtt(), t.tcp.rto()), (None, Duration::from_secs(8)));
    t.send(1000);
    t.ack(7300, 3000);
    assert_eq!((t.tcp.srtt(), t.tcp.rto()), (Some(Duration::from_millis(100)), Duration::from_secs(1)));
    assert_eq!(t.tcp.counters().timeouts, 3);
}

#[test]
fn a_segment_timed_is_forgotten_when_one_is_retransmitted() {
    // Segment 0 is timed from 0; the fast retransmission at 100 forbids a sample at 200.
    let mut t = Script::connected(&plain());
    t.send(10_000);
    t.acks(100, 0, 3);
    t.ack(200, 10_000);
    assert_eq!(t.tcp.srtt(), None);
}

#[test]
fn one_segment_at_a_time_is_timed_without_timestamps() {
    // Segment 0 (0 to 100 ms) is; the acknowledgements of 1 to 9 up to 190 ms are not; the segment sent at 100 is.
    let mut t = Script::connected(&plain());
    t.send_endless();
    t.ack(100, 1000);
    for n in 2..=10 {
        t.ack(90 + n * 10, n * 1000);
        assert_eq!(t.tcp.srtt(), Some(Duration::from_millis(100)));
    }
    // 7/8 * 100 + 1/8 * 180 = 110.
    t.ack(280, 11_000);
    assert_eq!(t.tcp.srtt(), Some(Duration::from_millis(110)));
}

#[test]
fn ssthresh_is_held_when_the_same_segment_times_out_again() {
    for (repeated_timeout, ssthresh) in [(RepeatedTimeout::Hold, 5000), (RepeatedTimeout::Recompute, 2000)] {
        let mut t = Script::connected(&plain().with(|c| c.cwnd.repeated_timeout = repeated_timeout));
        t.send(10_000);
        t.until(1000);
        assert_eq!(t.tcp.ssthresh(), 5000);
        t.until(3000);
        assert_eq!(t.tcp.ssthresh(), ssthresh, "{repeated_timeout:?}");
    }
}

#[test]
fn a_timeout_ends_fast_recovery() {
    let mut t = Script::connected(&plain());
    t.send(10_000);
    t.acks(100, 0, 3);
    t.sent();
    t.until(1000);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(1000, 0, 1), 1000));
    assert_eq!(t.tcp.recovery_phase(), RecoveryPhase::Loss);
}

#[test]
fn a_timeout_that_comes_early_does_nothing() {
    let mut t = Script::connected(&plain());
    t.send(1000);
    t.sent();
    t.tcp.handle_timeout(at_ms(999));
    t.drain();
    assert_eq!((t.sent(), t.tcp.next_timeout()), (vec![], at_ms(1000)));
}

#[test]
fn ns2_begins_with_three_seconds_and_counts_ticks_of_ten_milliseconds() {
    // Sent in tick 0 (0 ms), acknowledged in tick 10 (103 ms): SRTT 10 ticks, RTTVAR 5, RTO 10 + 20 = 30 ticks.
    // The handshake would be a sample; here it takes no time and is none.
    let mut t = Script::connected(&Config::ns2().with(|c| c.timer.handshake_rtt = HandshakeRtt::Ignored));
    t.send_endless();
    assert_eq!(t.sent(), full_segments(0, 0, 2));
    assert_eq!(t.tcp.next_timeout(), at_ms(3000));
    t.ack(103, 1000);
    assert_eq!(t.tcp.rto(), Duration::from_millis(300));
    assert_eq!(t.tcp.next_timeout(), at_ms(403));
}

#[test]
fn timestamps_sample_once_per_window_or_every_acknowledgement() {
    // Echoes of 0 at 100, 110, 120 ms: R = 100, 110, 120. Once per window: SRTT 100. Each: (7 * 100 + 110) / 8 =
    // 101.25, (7 * 101.25 + 120) / 8 = 103.59375.
    for (rtt_sampling, nanos) in [(RttSampling::OncePerWindow, 100_000_000), (RttSampling::EveryAck, 103_593_750)] {
        let mut t = Script::connected(&plain().with(|c| {
            c.timestamps = true;
            c.mss = 1012;
            c.timer.rtt_sampling = rtt_sampling;
        }));
        t.send(10_000);
        for n in 1..=3 {
            let stamped = Flags::ACK | Flags::HAS_TIMESTAMPS;
            let ack = Segment { flags: stamped, ts_val: 50, ts_ecr: 0, ..t.peer_segment(0, n * 1000) };
            t.takes(90 + n * 10, &ack);
        }
        assert_eq!(t.tcp.srtt(), Some(Duration::from_nanos(nanos)), "{rtt_sampling:?}");
    }
}

#[test]
fn a_timeout_in_a_long_recovery_does_not_halve_what_has_left_the_network() {
    // Ten segments in flight, the first lost: ssthresh = 5000. Twenty duplicates say that as much has arrived again and
    // again; each sends a segment once cwnd = 5000 + 3000 + 17 * 1000 covers it. SND.NXT - SND.UNA is then 25,000, of
    // which the letter of RFC 5681 would make an ssthresh of 12,500; the deflated window is 5000, and gives 2500.
    for (timeout_flight, ssthresh) in [(TimeoutFlight::Deflated, 2500), (TimeoutFlight::Cumulative, 12_500)] {
        let mut t = Script::connected(&plain().with(|c| c.recovery.timeout_flight = timeout_flight));
        t.send_endless();
        t.acks(100, 0, 20);
        assert_eq!((t.tcp.flight(), t.tcp.ssthresh()), (25_000, 5000));
        t.until(1000);
        assert_eq!((t.tcp.ssthresh(), t.tcp.cwnd()), (ssthresh, 1000), "{timeout_flight:?}");
    }
}
