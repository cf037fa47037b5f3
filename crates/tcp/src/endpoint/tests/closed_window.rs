//! Windows that close over data in flight and open again. A client that shapes a smooth stream into bursts closes
//! them with an ACK with window 0 for every packet of a burst but the last (a closed ACK). The last packet gets an
//! ACK with the whole window (an open ACK).

use super::*;
use crate::{Algorithm, Growth, LossRecovery, RecoveryPhase, SackBlock, ShrunkWindow, WindowUpdate};
use netlull_units::Bytes;

/// Ten segments in flight from an endless stream, the log empty.
fn ten_in_flight(config: &Config) -> Script {
    let mut t = Script::connected(config);
    // From here on SND.WL1 is the number of all the peer's acknowledgements.
    t.ack(0, 0);
    t.send_endless();
    assert_eq!(t.sent(), full_segments(0, 0, 10));
    t
}

/// 4.4BSD, without limited transmit, for simpler arithmetic.
fn bsd() -> Config {
    plain().with(|c| {
        c.flow_control.shrunk_window = ShrunkWindow::PullBack;
        c.recovery.limited_transmit = false;
    })
}

impl Script {
    /// An acknowledgement of everything before `offset` that closes the window.
    fn closed(&mut self, ms: u64, offset: u64) {
        let ack = Segment { window: 0, ..self.peer_segment(0, offset) };
        self.takes(ms, &ack);
    }

    /// The same `count` times.
    fn closed_times(&mut self, ms: u64, offset: u64, count: usize) {
        for _ in 0..count {
            self.closed(ms, offset);
        }
    }

    /// The same with a SACK block.
    fn closed_sack(&mut self, ms: u64, offset: u64, (left, right): (u64, u64)) {
        let at = |offset: u64| self.iss.advanced_by(1 + offset);
        let mut ack = Segment { window: 0, ..self.peer_segment(0, offset) };
        ack.sack_count = 1;
        ack.sack[0] = SackBlock { left: at(left), right: at(right) };
        self.takes(ms, &ack);
    }
}

#[test]
fn closed_acks_hold_what_they_open_and_the_open_one_releases_it_at_once() {
    for config in [plain(), bsd(), plain().with_algorithm(Algorithm::Sack)] {
        let mut t = ten_in_flight(&config);
        for n in 1..10 {
            t.closed(100 + n, n * 1000);
        }
        // Slow start: one more segment for each of nine acknowledgements, and no room for it.
        assert_eq!((t.sent(), t.tcp.cwnd(), t.tcp.send_window()), (vec![], 19_000, 0));
        t.ack(110, 10_000);
        assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(110, 10, 20), 20_000));
        assert_eq!((t.tcp.counters().zero_window_probes, t.tcp.counters().timeouts), (0, 0));
    }
}

#[test]
fn the_window_opens_with_the_number_that_closed_it() {
    for config in [plain(), bsd(), plain().with_algorithm(Algorithm::Sack), plain().with_algorithm(Algorithm::Cubic)] {
        let mut t = ten_in_flight(&config);
        // All data is acknowledged, and the persist timer runs: RTO is 1 s.
        t.closed(100, 10_000);
        assert_eq!((t.sent(), t.tcp.next_timeout()), (vec![], at_ms(1100)));
        // At once, not at the next probe; from here on it is the retransmission timer.
        t.ack(150, 10_000);
        assert!(t.tcp.cwnd() >= 11_000);
        assert_eq!(t.sent(), full_segments(150, 10, t.tcp.cwnd() / 1000));
        t.until(1149);
        assert_eq!(t.tcp.counters().zero_window_probes, 0);
    }
}

#[test]
fn an_open_ack_is_no_duplicate() {
    // RFC 5681 section 2 (e): two duplicates, then another window, then two more: no loss. Closed windows count like
    // others.
    let mut t = ten_in_flight(&plain().with(|c| c.recovery.limited_transmit = false));
    t.closed(100, 1000);
    t.closed_times(101, 1000, 2);
    t.ack(102, 1000);
    assert_eq!((t.tcp.counters().duplicate_acks, t.tcp.counters().fast_retransmits), (2, 0));
    t.ack(103, 1000);
    // The third with the window of the previous one. The count continues across the update, as in Linux and unlike
    // BSD.
    assert_eq!((t.tcp.counters().duplicate_acks, t.tcp.counters().fast_retransmits), (3, 1));
}

#[test]
fn closed_duplicates_repair_a_loss() {
    // Segment 1 is lost; the window is always closed. Its retransmission needs no window (RFC 9293 section 3.8.6,
    // MAY-7).
    let mut t = ten_in_flight(&plain().with(|c| c.recovery.limited_transmit = false));
    t.closed(100, 1000);
    t.closed_times(101, 1000, 3);
    assert_eq!((t.sent(), t.tcp.recovery_phase()), (full_segments(101, 1, 1), RecoveryPhase::FastRecovery));
    t.closed_times(102, 1000, 5);
    assert_eq!(t.sent(), Vec::<String>::new());
    t.ack(200, 10_000);
    assert_eq!((t.tcp.recovery_phase(), t.tcp.counters().timeouts), (RecoveryPhase::Open, 0));
    assert!(!t.sent().is_empty());
}

#[test]
fn closed_sacks_repair_a_loss() {
    for loss_recovery in [LossRecovery::Sack, LossRecovery::Rack] {
        let mut t = ten_in_flight(&plain().with(|c| c.recovery.loss_recovery = loss_recovery));
        t.closed(100, 1000);
        for n in 3..=10 {
            t.closed_sack(100 + n, 1000, (2000, n * 1000));
        }
        // Segment 1 alone: it is not acknowledged, so RFC 6675 rescues nothing (section 5 step 4.3).
        assert_eq!(t.sent(), full_segments(105, 1, 1));
        assert_eq!(t.tcp.counters().fast_retransmits, 1);
        t.ack(250, 10_000);
        assert_eq!((t.tcp.recovery_phase(), t.tcp.counters().timeouts), (RecoveryPhase::Open, 0));
        assert!(!t.sent().is_empty());
    }
}

#[test]
fn a_lost_segment_behind_a_closed_window_is_sent_again_by_the_timer_and_serves_as_a_probe() {
    for config in [plain(), plain().with_algorithm(Algorithm::Sack), plain().with_algorithm(Algorithm::Reno2622)] {
        let mut t = ten_in_flight(&config);
        t.closed(100, 9000);
        // RTO 1 s from there, then 2 and 4 s: one segment each, for ever.
        t.until(8000);
        assert_eq!(t.sent(), [1100, 3100, 7100].map(|ms| format!("{ms} ms 9000+1000")));
        assert_eq!(t.tcp.counters().zero_window_probes, 0);
        t.ack(8010, 10_000);
        assert_eq!(t.sent().len(), t.tcp.cwnd() as usize / 1000);
    }
}

#[test]
fn a_window_that_nothing_fills_grows_or_does_not() {
    // `WhenLimited`: in slow start cwnd grows while it is less than twice the flight: at 10 with 10, 11 with 9, 12
    // with 8 and 13 with 7 it is, at 14 with 6 not.
    let grown = |growth| {
        let mut t = ten_in_flight(&plain().with(|c| c.cwnd.growth = growth));
        (1..10).for_each(|n| t.closed(100 + n, n * 1000));
        t.tcp.cwnd()
    };
    assert_eq!((grown(Growth::Always), grown(Growth::WhenLimited)), (19_000, 14_000));
}

#[test]
fn bsd_sends_again_from_where_the_window_closed() {
    // Segment 3 of 10 is lost. The first closed acknowledgement pulls SND.NXT back. The six duplicates do not count,
    // since nothing is in flight.
    let mut t = ten_in_flight(&bsd());
    for n in 1..=3 {
        t.closed(100 + n, n * 1000);
        assert_eq!((t.tcp.flight(), t.tcp.snd_nxt()), (0, n * 1000));
    }
    t.closed_times(110, 3000, 6);
    let counters = *t.tcp.counters();
    assert_eq!((counters.duplicate_acks, counters.fast_retransmits, t.sent()), (0, 0, vec![]));
    // Go-back-N with all of cwnd, 10 + 3: seven retransmissions, six new segments.
    t.ack(150, 3000);
    assert_eq!((t.sent(), t.tcp.cwnd(), t.tcp.ssthresh()), (full_segments(150, 3, 13), 13_000, u64::MAX));
    assert_eq!(t.tcp.counters().retransmitted_segments, 7);
    // Segment 3 fills the hole.
    t.ack(250, 10_000);
    assert_eq!((t.tcp.cwnd(), t.tcp.flight(), t.tcp.counters().timeouts), (14_000, 14_000, 0));
}

#[test]
fn bsd_probes_the_window_that_has_closed() {
    let mut t = ten_in_flight(&bsd());
    t.closed(100, 1000);
    // RTO 1 s, then twice that; with a closed window, acknowledgements of new data leave the timer unchanged.
    t.closed(600, 2000);
    t.until(3200);
    assert_eq!(t.sent(), ["1100 ms 2000+1", "3100 ms 2000+1"]);
    assert_eq!((t.tcp.counters().zero_window_probes, t.tcp.counters().timeouts), (2, 0));
    let counters = t.tcp.counters();
    assert_eq!(
        counters.bytes_sent - counters.retransmitted_bytes,
        10_000,
        "they repeat what the window has closed over"
    );
    t.ack(3300, 2000);
    assert_eq!(t.sent().len(), 12);
    // Now it is the retransmission timer.
    t.until(4300);
    assert_eq!(t.tcp.counters().timeouts, 1);
}

#[test]
fn bsd_leaves_fast_recovery_when_the_window_closes() {
    let mut t = ten_in_flight(&bsd());
    t.acks(100, 0, 3);
    assert_eq!((t.sent(), t.tcp.ssthresh()), (full_segments(100, 0, 1), 5000));
    t.closed(110, 0);
    assert_eq!((t.tcp.recovery_phase(), t.tcp.flight(), t.tcp.cwnd()), (RecoveryPhase::Open, 0, 5000));
    t.ack(120, 0);
    assert_eq!(t.sent(), full_segments(120, 0, 5));
}

#[test]
fn bsd_sends_its_fin_once_into_a_closed_window() {
    let mut t = Script::connected(&bsd());
    t.send(2000);
    t.close();
    assert_eq!(t.sent(), ["0 ms 0+1000", "0 ms 1000+1000", "0 ms 2000+0 FIN"]);
    t.closed(100, 2000);
    assert_eq!(t.sent(), Vec::<String>::new());
    t.until(1200);
    assert_eq!(t.sent(), ["1100 ms 2000+0 FIN"]);
}

#[test]
fn bsd_takes_no_smaller_window_from_a_duplicate() {
    // The first segment of the burst is lost: all of its acknowledgements have the number of the open one before it.
    let config = bsd().with(|c| c.flow_control.window_update = WindowUpdate::Larger);
    let mut t = ten_in_flight(&config);
    t.closed_times(100, 0, 9);
    assert_eq!((t.tcp.send_window(), t.tcp.flight(), t.tcp.counters().duplicate_acks), (65_535, 10_000, 0));
    // The open one is a duplicate, and so are those that repeat it: the third means a loss.
    t.acks(110, 0, 2);
    assert_eq!(t.sent(), Vec::<String>::new());
    t.ack(120, 0);
    assert_eq!(t.sent(), full_segments(120, 0, 1));
    // With a new number the window is accepted.
    t.closed(200, 1000);
    assert_eq!(t.tcp.send_window(), 0);
}

#[test]
fn linux_takes_a_window_of_none_from_a_duplicate_and_no_other_smaller_one() {
    let mut t = ten_in_flight(&plain().with(|c| c.flow_control.window_update = WindowUpdate::LargerOrZero));
    t.window = 4000;
    t.ack(100, 0);
    assert_eq!(t.tcp.send_window(), 65_535);
    t.closed(101, 0);
    assert_eq!(t.tcp.send_window(), 0);
    t.ack(102, 0);
    assert_eq!(t.tcp.send_window(), 4000);
}

#[test]
fn the_send_buffer_limits_what_is_in_flight() {
    // 3500 B are four segments, rounded up as in BSD.
    for config in [plain(), plain().with_algorithm(Algorithm::Cubic)] {
        let mut t = Script::connected(&config.with(|c| c.flow_control.send_buffer = Some(Bytes::new(3500))));
        t.send_endless();
        assert_eq!(t.sent(), full_segments(0, 0, 4));
        t.ack(100, 2000);
        assert_eq!((t.sent(), t.tcp.flight()), (full_segments(100, 4, 2), 4000));
        // The peer's window when that is smaller.
        t.window = 1000;
        t.ack(200, 6000);
        assert_eq!(t.sent(), full_segments(200, 6, 1));
    }
}

#[test]
fn ends_that_have_probed_each_other_take_each_others_acknowledgements() {
    // Both windows were closed and both ends have sent a byte; both bytes arrived after the windows had opened. Each
    // end acknowledges from the start of its own probe, a byte before the number that the other expects.
    let mut t = Script::connected(&plain());
    t.closed(0, 0);
    t.send(1);
    t.until(1000);
    assert_eq!(t.sent(), ["1000 ms 0+1"]);
    let byte = Segment { len: 1, window: 0, ..t.peer_segment(0, 0) };
    t.takes(1010, &byte);
    assert_eq!((t.sent(), t.last.seq.distance_from(t.iss)), (vec!["1010 ms ack 1".to_owned()], 1));
    t.closed(1020, 1);
    assert_eq!((t.tcp.snd_una(), t.tcp.next_timeout()), (1, Instant::NEVER));
    // The answer begins after the probe: the other end takes it, and the exchange ends.
    assert_eq!((t.sent(), t.last.seq.distance_from(t.iss)), (vec!["1020 ms ack 1".to_owned()], 2));
}
