//! Single steps by hand.

use super::super::loss::{FlightLoss, inflight_at_loss};
use super::*;
use crate::delivery::{DeliveryRate, LostSegment, RateSample, Sent};

fn established(initial_window: u64, rtt: Option<Duration>) -> Bbr {
    let mut bbr = Bbr::new(&Config::default(), 7);
    bbr.on_established(&Start { now: Instant::ZERO, smss: 1000, initial_window, rtt });
    bbr
}

fn delivery(sample: RateSample) -> Delivery {
    Delivery {
        now: Instant::ZERO + ms(100),
        sample,
        inflight: 20_000,
        is_cwnd_limited: false,
        selective: true,
        phase: RecoveryPhase::Open,
    }
}

#[test]
fn the_first_rate_is_the_initial_window_per_round_trip() {
    // 2.77 * 10,000 B / 40 ms = 692,500 B/s = 5.54 Mb/s; in a ms less than two segments.
    let bbr = established(10_000, Some(RTT));
    assert_eq!(bbr.pacing_rate(), Some(BitRate::from_bps(5_540_000)));
    assert_eq!((bbr.cwnd(), bbr.send_quantum()), (10_000, 2000));
    // Without a round trip, 1 ms is assumed: 27.7 MB/s, 27,700 B per ms; the first sample corrects that.
    let mut bbr = established(10_000, None);
    assert_eq!((bbr.pacing_rate(), bbr.send_quantum()), (Some(BitRate::from_bps(221_600_000)), 27_700));
    let sample = RateSample { rtt: Some(RTT), delivered: 1000, newly_acked: 1000, ..RateSample::default() };
    bbr.on_delivery(&delivery(sample), &mut DeliveryRate::new());
    assert_eq!(bbr.pacing_rate(), Some(BitRate::from_bps(5_540_000)));
}

#[test]
fn losses_cross_two_percent_within_a_segment() {
    // 100 segments in flight; the segment at hand is the third lost: 99,000 B before it, 2000 lost:
    // (0.02 * 99,000 - 2000) / 0.98 = -20.4 B.
    let flight = FlightLoss { lost: 3000, tx_in_flight: 100_000, is_app_limited: false };
    assert_eq!(inflight_at_loss(&flight, 1000), 98_979);
    // All of a small flight: (0.02 * 4000 - 4000) / 0.98 = -4000 B.
    let flight = FlightLoss { lost: 5000, tx_in_flight: 5000, is_app_limited: false };
    assert_eq!(inflight_at_loss(&flight, 1000), 0);
    // With 1500 lost before: (1980 - 1500) / 0.98 = 489.8 of the segment.
    let flight = FlightLoss { lost: 2500, tx_in_flight: 100_000, is_app_limited: false };
    assert_eq!(inflight_at_loss(&flight, 1000), 99_489);
}

/// A path of 1 MB/s and 40 ms, known and full, in `state`.
fn knowing(state: State) -> Bbr {
    let mut bbr = established(10_000, Some(RTT));
    bbr.max_bw.update(1e6);
    bbr.bw = 1e6;
    bbr.full_bw_reached = true;
    bbr.state = state;
    bbr.cwnd = 80_000;
    bbr.bw_probe_wait = PROBE_WAIT;
    bbr
}

fn lost(start: u64, tx_in_flight: u64, lost: u64) -> LostSegment {
    LostSegment { start, end: start + 1000, tx_in_flight, lost, is_app_limited: false }
}

#[test]
fn too_much_loss_in_a_probe_sets_the_long_term_bound_once() {
    let mut bbr = knowing(State::ProbeBw(Phase::Up));
    bbr.is_bw_probe_sample = true;
    let rate = DeliveryRate::new();
    // One of 50: exactly 2 %, which is allowed.
    bbr.on_marked_lost(Instant::ZERO, &lost(0, 50_000, 1000), &rate);
    assert_eq!((bbr.inflight_longterm, bbr.state), (INFINITE, State::ProbeBw(Phase::Up)));
    // Two: 49,000 before the segment, and (0.02 * 49,000 - 1000) / 0.98 = -20.4; more than 0.7 * 40,000.
    bbr.on_marked_lost(Instant::ZERO, &lost(1000, 50_000, 2000), &rate);
    assert_eq!((bbr.inflight_longterm, bbr.state), (48_979, State::ProbeBw(Phase::Down)));
    // Headroom: 48,979 - 0.15 * 48,979 = 41,633.
    assert_eq!(bbr.inflight_with_headroom(), 41_633);
    // Further losses of the same probe change nothing.
    bbr.on_marked_lost(Instant::ZERO, &lost(2000, 50_000, 30_000), &rate);
    assert_eq!(bbr.inflight_longterm, 48_979);
    // Losses of a small flight: not below 0.7 of the target.
    let mut bbr = knowing(State::ProbeBw(Phase::Up));
    bbr.is_bw_probe_sample = true;
    bbr.on_marked_lost(Instant::ZERO, &lost(0, 5000, 5000), &rate);
    assert_eq!(bbr.inflight_longterm, 28_000);
    // The application limited it: the probe ends without a result.
    let mut bbr = knowing(State::ProbeBw(Phase::Up));
    bbr.is_bw_probe_sample = true;
    let limited = LostSegment { is_app_limited: true, ..lost(0, 5000, 5000) };
    bbr.on_marked_lost(Instant::ZERO, &limited, &rate);
    assert_eq!((bbr.inflight_longterm, bbr.state), (INFINITE, State::ProbeBw(Phase::Down)));
}

/// A round with losses that delivered 600 kB/s and 30,000 B.
fn lossy_round(state: State) -> Bbr {
    let mut bbr = knowing(state);
    bbr.on_marked_lost(Instant::ZERO, &lost(0, 50_000, 1000), &DeliveryRate::new());
    bbr.latest.bandwidth = 6e5;
    bbr.latest.inflight = 30_000;
    bbr.latest.round_start = true;
    let sample = RateSample { delivery_rate: 6e5, prior_delivered: 0, ..RateSample::default() };
    bbr.update_congestion_signals(&delivery(sample), &DeliveryRate::new());
    bbr
}

#[test]
fn losses_while_cruising_lower_the_short_term_model() {
    // max(600, 0.7 * 1000) kB/s; max(30, 0.7 * 80) kB.
    let bbr = lossy_round(State::ProbeBw(Phase::Cruise));
    assert!((bbr.bw_shortterm - 7e5).abs() < 1e-3, "{}", bbr.bw_shortterm);
    assert_eq!(bbr.inflight_shortterm, 56_000);
    assert!(!bbr.latest.loss_in_round);
    // Not while probing.
    let bbr = lossy_round(State::ProbeBw(Phase::Refill));
    assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (f64::INFINITY, INFINITE));
}

#[test]
fn the_window_follows_the_model() {
    let bbr = |state| {
        let mut bbr = knowing(state);
        let sample = RateSample { newly_acked: 100_000, delivered: 100_000, ..RateSample::default() };
        bbr.update_control_parameters(&delivery(sample), &DeliveryRate::new());
        bbr.cwnd
    };
    // Gains times a BDP of 40,000 B; in UP two segments more.
    assert_eq!(bbr(State::ProbeBw(Phase::Cruise)), 80_000);
    assert_eq!(bbr(State::ProbeBw(Phase::Up)), 92_000);
    assert_eq!(bbr(State::ProbeRtt { until: None, round_done: false }), 20_000);
}

#[test]
fn the_window_grows_by_what_is_delivered() {
    let mut bbr = knowing(State::ProbeBw(Phase::Cruise));
    bbr.cwnd = 10_000;
    let sample = RateSample { newly_acked: 3000, delivered: 3000, ..RateSample::default() };
    bbr.update_control_parameters(&delivery(sample), &DeliveryRate::new());
    assert_eq!(bbr.cwnd, 13_000);
    // A volume that caused losses caps it, less 15 % while cruising.
    (bbr.cwnd, bbr.inflight_longterm) = (80_000, 50_000);
    bbr.update_control_parameters(&delivery(sample), &DeliveryRate::new());
    assert_eq!(bbr.cwnd, 42_500);
    // The short-term bound, too; never below four segments.
    bbr.inflight_shortterm = 1000;
    bbr.update_control_parameters(&delivery(sample), &DeliveryRate::new());
    assert_eq!(bbr.cwnd, 4000);
}

#[test]
fn six_ranges_lost_in_a_round_of_recovery_end_startup() {
    let startup = |ranges: u64| {
        let mut bbr = knowing(State::Startup);
        bbr.full_bw_reached = false;
        bbr.phase = RecoveryPhase::FastRecovery;
        for range in 0..ranges {
            // Pairs of adjacent segments, with gaps between.
            for segment in 0..2 {
                bbr.on_marked_lost(
                    Instant::ZERO,
                    &lost(4000 * range + 1000 * segment, 50_000, 1000),
                    &DeliveryRate::new(),
                );
            }
        }
        bbr.latest.round_start = true;
        bbr.latest.inflight = 45_000;
        bbr.recovery_delivered = 0;
        let sample = RateSample { lost: 12_000, tx_in_flight: 60_000, ..RateSample::default() };
        bbr.check_startup_done(&delivery(sample));
        bbr
    };
    let bbr = startup(5);
    assert_eq!((bbr.state, bbr.full_bw_reached), (State::Startup, false));
    let bbr = startup(6);
    // max(BDP, delivery of the round) is safe.
    assert_eq!((bbr.full_bw_reached, bbr.inflight_longterm), (true, 45_000));
    assert!(matches!(bbr.state, State::Drain { .. }));
}

#[test]
fn a_careful_probe_follows_one_that_went_too_high() {
    let mut bbr = knowing(State::ProbeBw(Phase::Up));
    bbr.last_probe.too_high = true;
    bbr.inflight_longterm = 50_000;
    let mut rate = DeliveryRate::new();
    let sample = RateSample { delivered: 1000, delivery_rate: 1e6, prior_delivered: 1, ..RateSample::default() };
    bbr.next_round_delivered = 1000;
    // 20,000 B in flight: the phase continues. 50,000: it ends at once.
    bbr.update_probe_bw_cycle_phase(&delivery(sample), &rate);
    assert_eq!(bbr.state, State::ProbeBw(Phase::Up));
    let full = Delivery { inflight: 50_000, ..delivery(sample) };
    bbr.update_probe_bw_cycle_phase(&full, &rate);
    assert_eq!(bbr.state, State::ProbeBw(Phase::Down));
    assert!(bbr.last_probe.precautionary && !bbr.last_probe.too_high);
    // A round later, without loss: it refills at once, for a probe without that caution.
    bbr.update_round(&full, &rate);
    assert!(bbr.round_start);
    bbr.update_probe_bw_cycle_phase(&full, &rate);
    assert_eq!(bbr.state, State::ProbeBw(Phase::Refill));
    assert!(!bbr.last_probe.precautionary);
    rate.mark_app_limited(0);
}

#[test]
fn a_bound_that_limits_is_raised_by_one_two_four_segments_a_round() {
    let mut bbr = knowing(State::ProbeBw(Phase::Up));
    (bbr.cwnd, bbr.inflight_longterm) = (50_000, 50_000);
    let mut raised = Vec::new();
    for _ in 0..4 {
        bbr.raise_inflight_longterm_slope();
        bbr.round_start = false;
        let before = bbr.inflight_longterm;
        // A window's worth of acknowledgements.
        for _ in 0..50 {
            bbr.cwnd = bbr.inflight_longterm;
            let sample = RateSample { newly_acked: 1000, ..RateSample::default() };
            let ack = Delivery { is_cwnd_limited: true, ..delivery(sample) };
            bbr.probe_inflight_longterm_upward(&ack);
        }
        raised.push((bbr.inflight_longterm - before) / 1000);
    }
    // 50,000 B acknowledged per round, one more segment for every cwnd / 2^k of them. The window is that before the
    // round's last acknowledgement: 50,000 -> 1; 25,000 -> 2; 51,000 / 4 = 12,750 -> 3, and 11,750 are left; 55,000 /
    // 8 = 6875 -> (11,750 + 50,000) / 6875 = 8.98.
    assert_eq!(raised, [1, 2, 3, 8]);
}

#[test]
fn acknowledgements_that_come_together_widen_the_window() {
    let mut bbr = knowing(State::ProbeBw(Phase::Cruise));
    let mut acked = |millis, newly_acked| {
        let sample = RateSample { newly_acked, ..RateSample::default() };
        bbr.update_ack_aggregation(&Delivery { now: Instant::ZERO + ms(millis), ..delivery(sample) });
        bbr.extra_acked
    };
    // At 100 ms nothing is left of the interval before: 10,000 B more than expected of no time.
    assert_eq!(acked(100, 10_000), 10_000);
    // 5 ms at 1 MB/s are 5000 B: 20,000 - 5000.
    assert_eq!(acked(105, 10_000), 15_000);
    // 20 ms: 21,000 - 20,000 = 1000, and the round's maximum stays.
    assert_eq!(acked(120, 1000), 15_000);
    // 22 ms: 22,000 are expected and 21,000 were delivered: the interval restarts.
    assert_eq!(acked(122, 3000), 15_000);
    assert_eq!((bbr.extra_acked_delivered, bbr.extra_acked_start), (3000, Instant::ZERO + ms(122)));
    // Never more than the window.
    bbr.cwnd = 12_000;
    let sample = RateSample { newly_acked: 50_000, ..RateSample::default() };
    bbr.round_count = 20;
    bbr.update_ack_aggregation(&Delivery { now: Instant::ZERO + ms(122), ..delivery(sample) });
    assert_eq!(bbr.extra_acked, 12_000);
}

#[test]
fn an_ecn_echo_is_a_loss() {
    let mut bbr = knowing(State::ProbeBw(Phase::Cruise));
    let loss = Loss { now: Instant::ZERO, flight: 40_000, window: 80_000, nxt: 0 };
    bbr.on_congestion_echo(&loss);
    let sample = RateSample { delivery_rate: 6e5, delivered: 1000, newly_acked: 1000, ..RateSample::default() };
    bbr.on_delivery(&delivery(sample), &mut DeliveryRate::new());
    // The round ends with this acknowledgement: 0.7 of 1 MB/s, more than the 0.6 delivered.
    assert!((bbr.bw - 7e5).abs() < 1e-3, "{}", bbr.bw);
}

/// A recovery at 80,000 B of window, by the retransmission timer or by acknowledgements.
fn recovering(mut bbr: Bbr, timed_out: bool) -> Bbr {
    let loss = Loss { now: Instant::ZERO, flight: 50_000, window: bbr.cwnd, nxt: 0 };
    if timed_out {
        bbr.on_timeout(&loss, TimeoutKind::First);
    } else {
        bbr.on_loss(&loss);
    }
    bbr
}

fn spurious(timed_out: bool) -> Spurious {
    Spurious { now: Instant::ZERO + ms(100), flight: 20_000, cwnd: 80_000, ssthresh: u64::MAX, timed_out }
}

#[test]
fn a_needless_recovery_gives_the_probe_back() {
    for timed_out in [false, true] {
        let mut bbr = knowing(State::ProbeBw(Phase::Up));
        (bbr.is_bw_probe_sample, bbr.inflight_longterm) = (true, 70_000);
        let mut bbr = recovering(bbr, timed_out);
        // The second of 50 segments ends the probe (48,979 B); the third is lost in DOWN.
        for (start, count) in [(0, 1000), (1000, 2000), (2000, 3000)] {
            bbr.on_marked_lost(Instant::ZERO, &lost(start, 50_000, count), &DeliveryRate::new());
        }
        assert_eq!((bbr.state, bbr.inflight_longterm), (State::ProbeBw(Phase::Down), 48_979));
        assert_eq!(bbr.undo.state, Some(State::ProbeBw(Phase::Up)));
        // A round with loss in DOWN: 0.7 of 1 MB/s, and 0.7 of the window (80,000 B, or 1000 B after a timeout).
        bbr.latest.round_start = true;
        let sample = RateSample { delivery_rate: 1.0, delivered: 1, ..RateSample::default() };
        bbr.update_congestion_signals(&delivery(sample), &DeliveryRate::new());
        assert!((bbr.bw_shortterm - 7e5).abs() < 1e-3, "{}", bbr.bw_shortterm);
        assert_eq!(bbr.inflight_shortterm, if timed_out { 700 } else { 56_000 });
        bbr.cwnd = 20_000;
        bbr.full.rounds = 2;
        bbr.on_spurious(&spurious(timed_out));
        assert_eq!((bbr.cwnd, bbr.inflight_longterm), (80_000, 70_000));
        assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (f64::INFINITY, INFINITE));
        assert_eq!((bbr.latest.loss_in_round, bbr.full.rounds), (false, 0));
        // The probe begins again, with a round of refilling.
        assert_eq!((bbr.state, bbr.ack_phase), (State::ProbeBw(Phase::Refill), AckPhase::Refilling));
        assert_eq!(bbr.undo.state, None);
        let mut rate = DeliveryRate::apart(9000, 0);
        let sample = RateSample { delivered: 1000, newly_acked: 1000, prior_delivered: 8000, ..RateSample::default() };
        bbr.on_delivery(&delivery(sample), &mut rate);
        assert_eq!((bbr.state, bbr.next_round_delivered), (State::ProbeBw(Phase::Refill), 9000));
        let sample = RateSample { prior_delivered: 9000, ..sample };
        bbr.on_delivery(&delivery(sample), &mut rate);
        assert_eq!(bbr.state, State::ProbeBw(Phase::Up));
    }
}

#[test]
fn a_needless_recovery_gives_startup_back() {
    let mut bbr = knowing(State::Startup);
    bbr.full_bw_reached = false;
    let mut bbr = recovering(bbr, false);
    for range in 0..6 {
        bbr.on_marked_lost(Instant::ZERO, &lost(4000 * range, 50_000, 1000), &DeliveryRate::new());
    }
    (bbr.latest.round_start, bbr.recovery_delivered) = (true, 0);
    let sample = RateSample { lost: 6000, tx_in_flight: 60_000, ..RateSample::default() };
    bbr.check_startup_done(&delivery(sample));
    assert!(matches!(bbr.state, State::Drain { .. }));
    assert_eq!((bbr.undo.state, bbr.full_bw_reached), (Some(State::Startup), true));
    let in_drain = bbr.clone();
    bbr.on_spurious(&spurious(false));
    assert_eq!((bbr.state, bbr.full_bw_reached, bbr.full.now), (State::Startup, false, false));
    assert_eq!(bbr.inflight_longterm, INFINITE);
    // In ProbeRTT the state stays; Startup follows it.
    let mut bbr = in_drain;
    bbr.state = State::ProbeRtt { until: None, round_done: false };
    bbr.on_spurious(&spurious(false));
    assert!(matches!(bbr.state, State::ProbeRtt { .. }));
    assert!(!bbr.full_bw_reached);
    bbr.exit_probe_rtt(Instant::ZERO, &DeliveryRate::new());
    assert_eq!(bbr.state, State::Startup);
}

#[test]
fn a_needless_recovery_changes_no_other_state_and_forgets_nothing_learnt_since() {
    let mut bbr = recovering(knowing(State::ProbeBw(Phase::Cruise)), false);
    (bbr.cwnd, bbr.inflight_longterm) = (90_000, 60_000);
    bbr.undo.inflight_longterm = 50_000;
    bbr.on_spurious(&spurious(false));
    assert_eq!((bbr.state, bbr.cwnd, bbr.inflight_longterm), (State::ProbeBw(Phase::Cruise), 90_000, 60_000));
}

#[test]
fn a_timer_in_recovery_keeps_the_model_from_before() {
    let mut bbr = recovering(knowing(State::ProbeBw(Phase::Cruise)), false);
    (bbr.bw_shortterm, bbr.inflight_shortterm, bbr.cwnd) = (7e5, 56_000, 56_000);
    let mut bbr = recovering(bbr, true);
    assert_eq!((bbr.cwnd, bbr.prior_cwnd), (1000, 80_000));
    bbr.on_spurious(&spurious(true));
    assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm, bbr.cwnd), (f64::INFINITY, INFINITE, 80_000));
}

#[test]
fn a_timeout_allows_one_segment_more_than_in_flight() {
    let mut rate = DeliveryRate::new();
    for number in 0..5 {
        let start = 1000 * number;
        rate.on_sent(&Sent { now: Instant::ZERO, start, end: start + 1000, inflight: start });
    }
    let mut bbr = recovering(knowing(State::ProbeBw(Phase::Cruise)), true);
    assert_eq!(bbr.cwnd, 1000);
    // Three of five are marked lost; RACK leaves the last two.
    for number in 0..3 {
        let lost = rate.mark_lost(1000 * number, 3000).expect("in flight");
        bbr.on_marked_lost(Instant::ZERO, &lost, &rate);
    }
    assert_eq!((rate.inflight(), bbr.cwnd), (2000, 3000));
    // Later losses do not change the window.
    let lost = rate.mark_lost(3000, 4000).expect("in flight");
    bbr.on_marked_lost(Instant::ZERO + ms(1), &lost, &rate);
    assert_eq!(bbr.cwnd, 3000);
}

#[test]
fn without_selective_acknowledgements_any_loss_of_recovery_ends_startup() {
    let mut bbr = knowing(State::Startup);
    bbr.full_bw_reached = false;
    let mut bbr = recovering(bbr, false);
    let ack = Delivery { selective: false, ..delivery(RateSample::default()) };
    bbr.check_startup_done(&ack);
    assert_eq!(bbr.state, State::Startup);
    bbr.on_marked_lost(Instant::ZERO, &lost(0, 50_000, 1000), &DeliveryRate::new());
    bbr.check_startup_done(&ack);
    assert!(matches!(bbr.state, State::Drain { .. }));
}

#[test]
fn losses_of_the_first_round_of_recovery_do_not_end_startup_before_its_end() {
    let mut bbr = knowing(State::Startup);
    bbr.full_bw_reached = false;
    // A round that began before the recovery ends in it: packets sent at 40,000 B delivered, recovery from 50,000 B on.
    let mut bbr = recovering(bbr, false);
    bbr.recovery_delivered = 50_000;
    let mut ends_round = |prior_delivered| {
        (bbr.latest.round_start, bbr.latest.ranges_lost) = (true, 6);
        let sample = RateSample { lost: 6000, tx_in_flight: 60_000, prior_delivered, ..RateSample::default() };
        bbr.check_startup_done(&delivery(sample));
        bbr.full_bw_reached
    };
    assert!(!ends_round(49_000));
    assert!(ends_round(50_000));
}

#[test]
fn a_part_of_a_segment_counts_for_reno_time() {
    // A BDP of 10,400 B: 11 rounds, and 63 at most.
    let mut bbr = knowing(State::ProbeBw(Phase::Cruise));
    let mut refills = |rounds, bw| {
        (bbr.state, bbr.bw, bbr.rounds_since_probe_up) = (State::ProbeBw(Phase::Cruise), bw, rounds);
        bbr.cycle_stamp = Instant::ZERO + ms(100);
        bbr.update_probe_bw_cycle_phase(&delivery(RateSample::default()), &DeliveryRate::new());
        bbr.state == State::ProbeBw(Phase::Refill)
    };
    assert!(!refills(10, 2.6e5));
    assert!(refills(11, 2.6e5));
    assert!(!refills(62, 1e9));
    assert!(refills(63, 1e9));
}

#[test]
fn probe_rtt_gives_back_the_largest_window_since_the_last_recovery() {
    let mut bbr = knowing(State::ProbeBw(Phase::Cruise));
    let mut rate = DeliveryRate::new();
    (bbr.prior_cwnd, bbr.probe_rtt_expired) = (90_000, true);
    bbr.check_probe_rtt(&delivery(RateSample::default()), &mut rate);
    assert!(matches!(bbr.state, State::ProbeRtt { .. }));
    // EnterProbeRTT, then SaveCwnd (section 5.3.4.3).
    assert_eq!(bbr.prior_cwnd, 90_000);
}
