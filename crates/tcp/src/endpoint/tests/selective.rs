//! Recovery with SACK and with RACK-TLP.

use super::{Script, full_segments, plain};
use crate::segment::SackBlock;
use crate::{Config, LossRecovery, Segment, WindowReduction};

fn sack() -> Config {
    plain().with(|c| c.recovery.loss_recovery = LossRecovery::Sack)
}

fn rack() -> Config {
    plain().with(|c| c.recovery.loss_recovery = LossRecovery::Rack)
}

impl Script {
    /// Receives an acknowledgement of everything before `offset`, with blocks of segments of 1000 bytes: (first,
    /// after the last).
    fn sacks(&mut self, ms: u64, offset: u64, blocks: &[(u64, u64)]) {
        let mut ack = self.peer_segment(0, offset);
        for (place, &(first, behind)) in ack.sack.iter_mut().zip(blocks) {
            let seq = |segment: u64| self.iss.advanced_by(1 + segment * 1000);
            *place = SackBlock { left: seq(first), right: seq(behind) };
            ack.sack_count += 1;
        }
        self.takes(ms, &ack);
    }
}

/// Ten segments in flight at 0 ms, the first lost: SACKs of 1, 2, ... arrive from 100 ms, one per millisecond.
fn first_of_ten_lost(config: &Config) -> Script {
    let mut script = Script::connected(config);
    script.send_endless();
    assert_eq!(script.sent(), full_segments(0, 0, 10));
    script
}

#[test]
fn two_sacks_let_new_segments_out_and_the_third_is_a_loss() {
    // RFC 6675 section 5: cwnd 10, pipe 9 after the first SACK, so one segment of new data (step 3.3); three segments
    // SACKed are more than two: the first is lost (step 4), ssthresh = cwnd = FlightSize / 2 = 10 / 2 = 5 segments.
    let mut script = first_of_ten_lost(&sack().with(|c| c.recovery.window_reduction = WindowReduction::Immediate));
    script.sacks(100, 0, &[(1, 2)]);
    script.sacks(101, 0, &[(1, 3)]);
    assert_eq!(script.sent(), ["100 ms 10000+1000", "101 ms 11000+1000"]);
    script.sacks(102, 0, &[(1, 4)]);
    assert_eq!(script.sent(), ["102 ms 0+1000"]);
    assert_eq!((script.tcp.cwnd(), script.tcp.ssthresh()), (5000, 5000));
    // 12 sent, 3 SACKED, the first lost and sent again: pipe 12 - 3 - 1 + 1 = 9.
    assert_eq!(script.tcp.flight(), 9000);
}

#[test]
fn without_reduction_over_time_nothing_goes_out_until_half_has_left() {
    // Pipe 9 after the retransmission, cwnd 5: the SACKs of 4 to 8 bring pipe to 4, and only then is there room.
    let mut script = first_of_ten_lost(&sack().with(|c| c.recovery.window_reduction = WindowReduction::Immediate));
    for n in 1..=3 {
        script.sacks(99 + n, 0, &[(1, n + 1)]);
    }
    script.sent();
    for n in 4..=7 {
        script.sacks(99 + n, 0, &[(1, n + 1)]);
    }
    assert_eq!((script.sent(), script.tcp.flight()), (Vec::<String>::new(), 5000));
    script.sacks(107, 0, &[(1, 9)]);
    assert_eq!(script.sent(), ["107 ms 12000+1000"]);
}

#[test]
fn proportional_reduction_sends_one_for_two() {
    // RFC 6937: RecoverFS 12, ssthresh 5. DeliveredData counts from the third SACK on: after n of them
    // sndcnt = ceil(n 5 / 12) - prr_out. n = 1: 1 - 0, the retransmission. n = 2: 1 - 1. n = 3: 2 - 1. n = 4: 2 - 2.
    // n = 5: ceil(25 / 12) = 3 - 2.
    let mut script = first_of_ten_lost(&sack());
    for n in 1..=7 {
        script.sacks(99 + n, 0, &[(1, n + 1)]);
    }
    let expected =
        ["100 ms 10000+1000", "101 ms 11000+1000", "102 ms 0+1000", "104 ms 12000+1000", "106 ms 13000+1000"];
    assert_eq!(script.sent(), expected);
    // All data but that sent in recovery: RecoveryPoint is 12000. cwnd = ssthresh.
    script.sacks(200, 12_000, &[]);
    assert_eq!((script.tcp.cwnd(), script.tcp.counters().fast_retransmits), (5000, 1));
}

#[test]
fn lost_segments_go_before_new_ones() {
    // 0, 2 and 4 lost; SACKs of 1, 3, 5 are three discontiguous blocks above 0; 6 and 7 make three segments above 4.
    let mut script = first_of_ten_lost(&sack().with(|c| c.recovery.window_reduction = WindowReduction::Immediate));
    script.sacks(100, 0, &[(1, 2)]);
    script.sacks(101, 0, &[(3, 4), (1, 2)]);
    script.sacks(102, 0, &[(5, 6), (3, 4), (1, 2)]);
    assert_eq!(script.sent(), ["100 ms 10000+1000", "101 ms 11000+1000", "102 ms 0+1000"]);
    script.sacks(103, 0, &[(5, 7), (3, 4), (1, 2)]);
    script.sacks(104, 0, &[(5, 8), (3, 4), (1, 2)]);
    // 12 sent, 5 SACKed, 0, 2, 4 lost, 0 sent again: pipe 5, no room in cwnd 5.
    assert_eq!((script.sent(), script.tcp.flight()), (Vec::<String>::new(), 5000));
    script.sacks(105, 0, &[(5, 9), (3, 4), (1, 2)]);
    script.sacks(106, 0, &[(5, 10), (3, 4), (1, 2)]);
    assert_eq!(script.sent(), ["105 ms 2000+1000", "106 ms 4000+1000"]);
}

#[test]
fn a_timeout_sends_what_was_not_sacked() {
    // 1, 2 of five SACKed: not a loss by SACK. At the RTO of 1 s: cwnd 1, 0 again; its acknowledgement covers 1 and 2.
    let mut script = Script::connected(&sack());
    script.send(5000);
    script.sent();
    script.sacks(100, 0, &[(1, 3)]);
    script.until(1000);
    assert_eq!(script.sent(), ["1000 ms 0+1000"]);
    // Slow start from one segment: cwnd 2.
    script.sacks(1100, 3000, &[]);
    assert_eq!(script.sent(), ["1100 ms 3000+1000", "1100 ms 4000+1000"]);
}

#[test]
fn a_receiver_that_takes_sacks_back_gets_everything_again() {
    // RFC 2018 section 8: 1, 2 were SACKed; the cumulative acknowledgement then stays before 1 until the timeout.
    let mut script = Script::connected(&sack());
    script.send(5000);
    script.sacks(100, 0, &[(1, 3)]);
    script.ack(110, 1000);
    script.sent();
    // The RTO after a handshake with a round trip of 0: 1 s, restarted at 110 ms.
    script.until(1110);
    assert_eq!(script.sent(), ["1110 ms 1000+1000"]);
}

#[test]
fn without_the_peers_consent_duplicates_are_counted() {
    let mut script = Script::client(&sack());
    script.open();
    let syn = script.last;
    let flags = crate::Flags::SYN | crate::Flags::ACK | crate::Flags::HAS_MSS;
    let refused = Segment { flags, ..syn };
    script.takes(0, &Segment { seq: script.irs, ack: script.iss.advanced_by(1), window: u16::MAX, ..refused });
    script.send_endless();
    script.sent();
    script.acks(100, 0, 3);
    // RFC 3042, RFC 5681: two new ones, then the retransmission.
    assert_eq!(script.sent(), ["100 ms 10000+1000", "100 ms 11000+1000", "100 ms 0+1000"]);
    assert_eq!(script.tcp.counters().fast_retransmits, 1);
}

#[test]
fn rack_waits_a_quarter_of_a_round_trip_for_a_segment_that_may_be_late() {
    // Segment 0 (100 ms old) is overtaken by 1, at 100 ms: RACK.rtt = min_RTT = 100 ms, reo_wnd 25 ms, so 0 is lost
    // at 0 + 125 ms, unless three are SACKed by then (RFC 8985 section 6.2 step 4).
    let mut script = first_of_ten_lost(&rack());
    script.sacks(100, 0, &[(1, 2)]);
    script.until(124);
    assert_eq!(script.sent(), ["100 ms 10000+1000"]);
    script.until(125);
    assert_eq!(script.sent(), ["125 ms 0+1000"]);
    assert_eq!(script.tcp.counters().fast_retransmits, 1);
}

#[test]
fn rack_does_not_wait_once_three_are_sacked() {
    let mut script = first_of_ten_lost(&rack());
    script.sacks(100, 0, &[(1, 4)]);
    assert_eq!(script.sent()[0], "100 ms 0+1000");
}

#[test]
fn rack_finds_a_retransmission_lost() {
    // 0 is sent again at 100 ms; 10, sent after it at 100 ms too, is SACKed at 201 ms: RACK.rtt 101 ms, and 0 was sent
    // before 10 (same time, lower number): lost again at 100 + 101 ms + 0 (in recovery).
    let mut script = first_of_ten_lost(&rack().with(|c| c.recovery.window_reduction = WindowReduction::Immediate));
    script.sacks(100, 0, &[(1, 10)]);
    assert_eq!(script.sent()[..2], ["100 ms 0+1000", "100 ms 10000+1000"]);
    script.sacks(201, 0, &[(1, 11)]);
    assert_eq!(script.sent()[0], "201 ms 0+1000");
}

#[test]
fn a_tail_probe_repeats_the_last_segment_after_two_round_trips() {
    // SRTT 100 ms after the first acknowledgement at 100 ms; 1 and 2 of three are lost: PTO = 2 SRTT = 200 ms (two
    // segments are in flight).
    let mut script = Script::connected(&rack());
    script.send(3000);
    script.sent();
    script.ack(100, 1000);
    script.until(299);
    assert_eq!(script.sent(), Vec::<String>::new());
    script.until(300);
    assert_eq!(script.sent(), ["300 ms 2000+1000"]);
    // The probe's SACK shows that 1 is lost: RFC 8985 section 7.4. min_RTT / 4 later, since only one is SACKed.
    script.sacks(400, 1000, &[(2, 3)]);
    script.until(425);
    assert_eq!(script.sent().len(), 1);
    assert_eq!((script.tcp.counters().tail_probes, script.tcp.counters().timeouts), (1, 0));
}

#[test]
fn a_probe_that_repairs_the_only_loss_counts_as_one() {
    // Section 7.4.2: the retransmitted probe is acknowledged together with a later segment, and no D-SACK reports an
    // arrival of the original.
    let mut script = Script::connected(&rack());
    script.send(2000);
    script.ack(100, 1000);
    script.until(500);
    script.send(1000);
    assert_eq!(script.sent()[2..], ["500 ms 1000+1000", "500 ms 2000+1000"]);
    script.ack(600, 3000);
    assert!(script.tcp.ssthresh() < u64::MAX, "congestion control heard of the loss");
}

#[test]
fn the_receiver_reports_the_latest_gap_first() {
    // RFC 2018 section 4: segments 1, 3, 5 of 1000 bytes arrive, then 3 bytes behind 1.
    let mut script = Script::connected(&sack());
    for (ms, offset) in [(1, 1000), (2, 3000), (3, 5000)] {
        script.data(ms, offset, 1000);
    }
    assert_eq!(script.blocks(), [(5000, 6000), (3000, 4000), (1000, 2000)]);
    script.data(4, 2000, 3);
    assert_eq!(script.blocks(), [(1000, 2003), (5000, 6000), (3000, 4000)]);
    // A fourth range pushes out the one that grew longest ago.
    script.data(5, 7000, 1000);
    assert_eq!(script.blocks(), [(7000, 8000), (1000, 2003), (5000, 6000)]);
}

#[test]
fn what_arrives_twice_is_reported_once() {
    // RFC 2883 section 4: the repeated segment first; below the cumulative acknowledgement, or within a later block.
    let mut script = Script::connected(&sack());
    script.data(1, 0, 1000);
    script.data(2, 0, 1000);
    assert_eq!(script.blocks(), [(0, 1000)]);
    script.data(3, 2000, 1000);
    script.data(4, 2000, 1000);
    assert_eq!(script.blocks(), [(2000, 3000), (2000, 3000)]);
    script.data(5, 4000, 1000);
    assert_eq!(script.blocks(), [(4000, 5000), (2000, 3000)]);
}

impl Script {
    /// The SACK blocks of the last sent segment, as offsets.
    fn blocks(&self) -> Vec<(i32, i32)> {
        let offset = |seq: crate::SeqNr| seq.distance_from(self.irs.advanced_by(1));
        self.last.sack_blocks().iter().map(|block| (offset(block.left), offset(block.right))).collect()
    }
}
