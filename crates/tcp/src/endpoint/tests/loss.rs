//! Fast retransmit and fast recovery: RFC 5681 section 3.2, RFC 6582, RFC 3042.

use super::*;
use crate::{DuplicateAck, FastRetransmitTimer, FullAck, LossRecovery, PartialAckTimer, RecoveryPhase};

/// A configuration without limited transmit, for simpler arithmetic.
fn newreno() -> Config {
    plain().with(|c| c.recovery.limited_transmit = false)
}

/// Ten segments in flight from an endless stream, the log empty.
fn ten_in_flight(config: &Config) -> Script {
    let mut t = Script::connected(config);
    t.send_endless();
    assert_eq!(t.sent(), full_segments(0, 0, 10));
    t
}

#[test]
fn the_third_duplicate_retransmits_and_inflates() {
    // Segment 0 of 10 is lost. ssthresh = 10/2 = 5; cwnd = 5 + 3 = 8; each further duplicate adds one. 10 are in
    // flight, so duplicates 4 and 5 (9, 10) send nothing, 6 to 9 (11 ... 14) send 10 ... 13.
    let mut t = ten_in_flight(&newreno());
    t.acks(100, 0, 2);
    assert_eq!((t.sent(), t.tcp.cwnd()), (vec![], 10_000));
    t.ack(100, 0);
    assert_eq!((t.sent(), t.tcp.cwnd(), t.tcp.ssthresh()), (full_segments(100, 0, 1), 8_000, 5_000));
    assert_eq!(t.tcp.recovery_phase(), RecoveryPhase::FastRecovery);
    t.acks(101, 0, 2);
    assert_eq!((t.sent(), t.tcp.cwnd()), (vec![], 10_000));
    t.acks(102, 0, 4);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(102, 10, 4), 14_000));
    // The full acknowledgement, 10: 4 are in flight: cwnd = min(5, max(4, 1) + 1) = 5, which sends one.
    t.ack(200, 10_000);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(200, 14, 1), 5_000));
    assert_eq!(t.tcp.recovery_phase(), RecoveryPhase::Open);
    let counters = t.tcp.counters();
    assert_eq!((counters.fast_retransmits, counters.duplicate_acks, counters.timeouts), (1, 9, 0));
    assert_eq!((counters.retransmitted_segments, counters.retransmitted_bytes), (1, 1000));
}

#[test]
fn limited_transmit_sends_on_the_first_two_and_does_not_count_as_flight() {
    // Duplicates 1 and 2 send 10 and 11. At the third 12 are in flight, 10 without those two: ssthresh = 5.
    let mut t = ten_in_flight(&plain());
    t.ack(100, 0);
    assert_eq!(t.sent(), full_segments(100, 10, 1));
    t.ack(101, 0);
    assert_eq!(t.sent(), full_segments(101, 11, 1));
    t.ack(102, 0);
    assert_eq!((t.sent(), t.tcp.ssthresh(), t.tcp.cwnd()), (full_segments(102, 0, 1), 5_000, 8_000));
    // `recover` covers the two as well.
    t.ack(200, 10_000);
    assert_eq!(t.tcp.recovery_phase(), RecoveryPhase::FastRecovery);
    t.ack(201, 12_000);
    assert_eq!(t.tcp.recovery_phase(), RecoveryPhase::Open);
}

#[test]
fn limited_transmit_ends_when_the_duplicates_do() {
    // Reordering: two duplicates, then everything is acknowledged: only slow start has changed cwnd.
    let mut t = ten_in_flight(&plain());
    t.acks(100, 0, 2);
    t.ack(101, 3000);
    assert_eq!(t.tcp.cwnd(), 11_000);
    // 12 were sent, 9 are in flight, 11 are allowed.
    assert_eq!(t.sent(), [full_segments(100, 10, 2), full_segments(101, 12, 2)].concat());
}

#[test]
fn a_partial_acknowledgement_retransmits_the_next_hole_and_deflates() {
    // Segments 0 and 5 are lost, so 8 duplicates come: cwnd = 5 + 8 = 13, sending 10, 11, 12. The retransmission of 0
    // brings 5: cwnd = 13 - 5 + 1 = 9 with 8 in flight: segment 5 again, and 13.
    let mut t = ten_in_flight(&newreno());
    t.acks(100, 0, 8);
    assert_eq!(t.tcp.cwnd(), 13_000);
    assert_eq!(t.sent(), [full_segments(100, 0, 1), full_segments(100, 10, 3)].concat());
    t.ack(200, 5000);
    assert_eq!(t.tcp.cwnd(), 9_000);
    assert_eq!(t.sent(), [full_segments(200, 5, 1), full_segments(200, 13, 1)].concat());
    assert_eq!(t.tcp.counters().partial_acks, 1);
    // Three more duplicates (10, 11, 12): 12 in all; then 13 acknowledged in full: 1 in flight.
    t.acks(201, 5000, 3);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(201, 14, 3), 12_000));
    t.ack(300, 13_000);
    assert_eq!(t.tcp.cwnd(), 5_000);
    assert_eq!(t.tcp.ssthresh(), 5_000);
}

#[test]
fn the_timer_restarts_for_the_first_partial_acknowledgement_or_for_each() {
    // Sent at 0: RTO at 1000. Partial acknowledgements at 200 and 300 (no sample: retransmitted data, Karn).
    for (variant, expires) in [(PartialAckTimer::Impatient, 1200), (PartialAckTimer::SlowButSteady, 1300)] {
        let mut t = ten_in_flight(&newreno().with(|c| c.recovery.partial_ack_timer = variant));
        t.acks(100, 0, 3);
        assert_eq!(t.tcp.next_timeout(), at_ms(1000));
        t.ack(200, 2000);
        assert_eq!(t.tcp.next_timeout(), at_ms(1200));
        t.ack(300, 4000);
        assert_eq!(t.tcp.next_timeout(), at_ms(expires));
    }
}

#[test]
fn a_fast_retransmission_may_restart_the_timer() {
    for (timer, expires) in [(FastRetransmitTimer::Keep, 1000), (FastRetransmitTimer::Restart, 1100)] {
        let mut t = ten_in_flight(&newreno().with(|c| c.recovery.fast_retransmit_timer = timer));
        t.acks(100, 0, 3);
        assert_eq!(t.tcp.next_timeout(), at_ms(expires));
    }
}

#[test]
fn three_windows_to_leave_recovery_with() {
    // Segment 0 of 10 lost, 3 duplicates, nothing new sent; everything acknowledged: 0 in flight, ssthresh 5.
    // RFC 6582 option 1: min(5, max(0, 1) + 1) = 2. Option 2: 5. ns-2: the 5 of the entry, and the acknowledgement
    // adds 1/5 in congestion avoidance.
    for (full_ack, cwnd) in [(FullAck::FlightLimited, 2_000), (FullAck::Ssthresh, 5_000), (FullAck::Deflated, 5_200)] {
        let mut t = Script::connected(&newreno().with(|c| c.recovery.full_ack = full_ack));
        t.send(10_000);
        t.acks(100, 0, 3);
        t.ack(200, 10_000);
        assert_eq!(t.tcp.cwnd(), cwnd, "{full_ack:?}");
    }
}

#[test]
fn what_partial_acknowledgements_take_beyond_the_inflation_stays_taken_in_ns2() {
    // 10 in flight, 0 and 8 lost, but only 3 duplicates arrive: cwnd 5 + 3. The partial acknowledgement of 8 segments
    // takes 8 - 3 = 5 from cwnd beyond the inflation, and adds 1: window max(5 - 5 + 1, 1) = 1. Leaving: cwnd would be
    // 0, is 1, and opens by 1 in slow start: 2.
    let mut t = Script::connected(&newreno().with(|c| c.recovery.full_ack = FullAck::Deflated));
    t.send(10_000);
    t.acks(100, 0, 3);
    t.ack(200, 8_000);
    assert_eq!(t.tcp.cwnd(), 1_000);
    t.ack(300, 10_000);
    assert_eq!(t.tcp.cwnd(), 2_000);
}

#[test]
fn duplicates_below_recover_do_not_start_a_second_recovery() {
    // RFC 6582 section 3.2 step 1 after a timeout: needless retransmissions cause duplicates of 10, which does not
    // cover more than `recover`.
    let mut t = ten_in_flight(&newreno());
    t.until(1000);
    assert_eq!(t.tcp.recovery_phase(), RecoveryPhase::Loss);
    t.ack(1100, 10_000);
    assert_eq!(t.tcp.recovery_phase(), RecoveryPhase::Open);
    t.sent();
    t.acks(1101, 10_000, 3);
    assert_eq!((t.sent(), t.tcp.counters().fast_retransmits), (vec![], 0));
    // With progress beyond it, duplicates count again.
    t.ack(1200, 11_000);
    t.acks(1201, 11_000, 3);
    assert_eq!(t.tcp.counters().fast_retransmits, 1);
}

#[test]
fn only_acknowledgements_that_repeat_everything_are_duplicates() {
    // RFC 5681 section 2: not with data, not with another window, not with nothing in flight.
    let mut t = ten_in_flight(&newreno());
    for n in 0..3 {
        t.data(100, n * 10, 10);
    }
    for window in [30_000, 31_000, 32_000] {
        let update = Segment { window, ..t.peer_segment(30, 0) };
        t.takes(101, &update);
    }
    assert_eq!(t.tcp.counters().duplicate_acks, 0);
    let mut t = ten_in_flight(&newreno().with(|c| c.recovery.duplicate_ack = DuplicateAck::AnyWindow));
    for window in [30_000, 31_000, 32_000] {
        let update = Segment { window, ..t.peer_segment(0, 0) };
        t.takes(101, &update);
    }
    assert_eq!(t.tcp.counters().fast_retransmits, 1);
    let mut t = Script::connected(&newreno());
    t.acks(1, 0, 3);
    assert_eq!(t.tcp.counters().duplicate_acks, 0);
}

#[test]
fn the_number_of_duplicates_can_be_chosen() {
    // 5 instead of 3: cwnd = 5 + 5.
    let mut t = ten_in_flight(&newreno().with(|c| c.recovery.duplicate_ack_threshold = 5));
    t.acks(100, 0, 4);
    assert_eq!(t.sent(), [""; 0]);
    t.ack(100, 0);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(100, 0, 1), 10_000));
}

#[test]
fn tahoe_sends_everything_again_in_slow_start() {
    // Segment 0 of 10 is lost: ssthresh = 10 / 2 = 5, cwnd = 1. Further duplicates change nothing. The
    // acknowledgement of all ten skips the data that the receiver held: cwnd 2, so 10 and 11 go out.
    let mut t = ten_in_flight(&newreno().with(|c| c.recovery.loss_recovery = LossRecovery::Tahoe));
    t.acks(100, 0, 3);
    assert_eq!((t.sent(), t.tcp.cwnd(), t.tcp.ssthresh()), (full_segments(100, 0, 1), 1_000, 5_000));
    t.acks(101, 0, 6);
    assert_eq!((t.sent(), t.tcp.cwnd()), (vec![], 1_000));
    t.ack(200, 10_000);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(200, 10, 2), 2_000));
    assert_eq!((t.tcp.counters().fast_retransmits, t.tcp.counters().timeouts), (1, 0));
}

#[test]
fn tahoe_goes_back_to_the_second_loss_too() {
    // 0 and 3 lost: the acknowledgement of 0 covers 1 and 2 as well; 3 and 4 follow, though 4 has arrived.
    let mut t = ten_in_flight(&newreno().with(|c| c.recovery.loss_recovery = LossRecovery::Tahoe));
    t.acks(100, 0, 3);
    t.sent();
    t.ack(200, 3_000);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(200, 3, 2), 2_000));
}

#[test]
fn reno_leaves_recovery_at_the_first_new_acknowledgement() {
    // 0 and 3 of 10 lost: the acknowledgement of 0 to 2 ends recovery with cwnd = ssthresh = 5 (RFC 2581 section 3.2
    // step 5); 7 are in flight. Three more duplicates do not cover `recover`: the timer has to find 3.
    let mut t = ten_in_flight(&newreno().with(|c| c.recovery.loss_recovery = LossRecovery::Reno));
    t.acks(100, 0, 3);
    assert_eq!((t.sent(), t.tcp.cwnd()), (full_segments(100, 0, 1), 8_000));
    t.ack(200, 3_000);
    assert_eq!((t.sent(), t.tcp.cwnd(), t.tcp.recovery_phase()), (vec![], 5_000, RecoveryPhase::Open));
    t.acks(201, 3_000, 3);
    assert_eq!((t.sent(), t.tcp.counters().fast_retransmits), (vec![], 1));
    t.until(1_200);
    assert_eq!((t.sent(), t.tcp.counters().timeouts), (full_segments(1_200, 3, 1), 1));
}

#[test]
fn limited_repeats_go_on_after_a_timeout() {
    // ns-2's `singledup_`: after the timeout 0 is sent again with cwnd 1; a duplicate then sends 1 again.
    let mut t = ten_in_flight(&plain().with(|c| c.recovery.limited_repeats = true));
    t.until(1_000);
    assert_eq!(t.sent(), full_segments(1_000, 0, 1));
    t.acks(1_100, 0, 2);
    assert_eq!(t.sent(), full_segments(1_100, 1, 2));
}
