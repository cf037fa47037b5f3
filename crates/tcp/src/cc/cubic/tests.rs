//! CUBIC by worked numbers, and its properties.

use super::*;
use proptest::prelude::*;

const SMSS: u64 = 1000;
const RTT: Duration = Duration::from_millis(100);

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

fn seconds(secs: f64) -> Duration {
    Duration::from_secs_f64(secs).unwrap()
}

/// An acknowledgement of a segment with a full window and round trips of 100 ms.
fn ack(now: Instant) -> Ack {
    Ack {
        now,
        acked: SMSS,
        delivered: SMSS,
        una: 0,
        nxt: 1,
        flight_before: u64::MAX / 4,
        flight: u64::MAX / 4,
        rtt: Some(RTT),
        srtt: Some(RTT),
        ece: false,
        phase: RecoveryPhase::Open,
    }
}

fn loss(segments: u64) -> Loss {
    Loss { now: Instant::ZERO, flight: segments * SMSS, window: segments * SMSS, nxt: 0 }
}

/// A pause of 4 s with an RTO of 1 s.
fn idle_since(now: Instant) -> Idle {
    Idle { now: now + seconds(4.0), last_sent: now, rto: seconds(1.0) }
}

/// Slow start has brought the window to `segments`.
fn established(segments: u64) -> Cubic {
    let mut cc = Cubic::new(&Config::default().with(|c| c.cwnd.hystart = false));
    let initial_window = segments * SMSS;
    cc.on_established(&Start { now: Instant::ZERO, smss: 1000, initial_window, rtt: None });
    cc
}

/// A loss at 100 segments: cwnd 70, W_max 100, K = cbrt(30 / 0.4) = cbrt(75) = 4.21716 s.
fn reduced() -> Cubic {
    let mut cc = established(100);
    cc.on_loss(&loss(100));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (70 * SMSS, 70 * SMSS));
    cc
}

impl Cubic {
    fn stage(&mut self) -> Stage {
        self.begin_stage();
        self.stage.unwrap()
    }
}

fn close(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() <= 1e-3 * theirs
}

/// A window's worth of acknowledgements evenly over each round trip of `rtt`, until `end` in seconds.
fn run(cc: &mut Cubic, rtt: Duration, from: f64, end: f64) {
    let mut now = from;
    while now < end {
        cc.on_ack(&Ack { rtt: Some(rtt), srtt: Some(rtt), ..ack(Instant::ZERO + seconds(now)) });
        now += rtt.as_secs_f64() * 1000.0 / cc.cwnd;
    }
}

#[test]
fn equation_1() {
    // 0.4 (t - 4.21716)^3 + 100: 70 at 0; 86.6811 at 1 s; 100 at K; 130 at 2 K.
    let mut cc = reduced();
    let stage = cc.stage();
    assert!((stage.k - 4.217_163_3).abs() < 1e-6, "{}", stage.k);
    for (t, segments) in [(0.0, 70.0), (1.0, 86.680_93), (stage.k, 100.0), (2.0 * stage.k, 130.0)] {
        assert!(close(stage.w_cubic(cc.c, t), segments * 1000.0), "{t}: {}", stage.w_cubic(cc.c, t));
    }
}

#[test]
fn each_acknowledgement_goes_the_windows_part_of_the_way_to_the_target() {
    // At t = 0, W_cubic = 70 is below W_est = 70 + (9/17) / 70 = 70.00756: Reno-friendly.
    let mut cc = reduced();
    cc.on_ack(&ack(at(0)));
    assert_eq!(cc.cwnd(), 70_007);
    // At t = 0.1 s: W_cubic(0.1) = 72.0839 is above W_est; target = W_cubic(0.2) = 74.0696;
    // cwnd = 70.00756 + (74.0696 - 70.00756) / 70.00756 = 70.06559.
    cc.on_ack(&ack(at(100_000_000)));
    assert_eq!(cc.cwnd(), 70_065);
}

#[test]
fn byte_counting_goes_it_for_each_segment() {
    // As above, but two segments are acknowledged at 0.1 s: 70.01512 after the first (twice alpha / 70),
    // then + 2 (74.0696 - 70.01512) / 70.01512 = 70.13094.
    let mut cc = reduced();
    cc.increase = Increase::ByteCounting { limit: 2 };
    cc.on_ack(&Ack { acked: 2 * SMSS, ..ack(at(0)) });
    assert_eq!(cc.cwnd(), 70_015);
    cc.on_ack(&Ack { acked: 2 * SMSS, ..ack(at(100_000_000)) });
    assert_eq!(cc.cwnd(), 70_130);
}

#[test]
fn the_window_follows_the_curve_through_its_plateau() {
    // 100 ms round trips at 1000 segments: W_max 1000, cwnd 700, K = cbrt(300 / 0.4) = 9.0856 s. The target is a round
    // trip ahead and is approached over one, so that the window stays on the curve to first order.
    let mut cc = established(1000);
    cc.on_loss(&loss(1000));
    let k = 9.085_603;
    for (from, end, segments) in [(0.0, k / 2.0, 962.5), (k / 2.0, k, 1000.0), (k, 2.0 * k, 1300.0)] {
        run(&mut cc, RTT, from, end);
        assert!((cc.cwnd / 1000.0 - segments).abs() < 0.01 * segments, "{end}: {}", cc.cwnd);
    }
}

#[test]
fn the_target_is_at_most_half_a_window_away() {
    // 100 s into the curve W_cubic is 351 000 segments: (1.5 cwnd - cwnd) / cwnd = half a segment.
    let mut cc = reduced();
    cc.on_ack(&ack(at(0)));
    let before = cc.cwnd;
    cc.on_ack(&ack(at(100_000_000_000)));
    assert!((cc.cwnd - before - 500.0).abs() < 1e-6, "{}", cc.cwnd - before);
}

#[test]
fn reno_friendly_until_the_prior_window_and_then_reno() {
    // Round trips of 1 ms: after 100 of them W_cubic(0.1 s) = 72.1 segments, but W_est = 70 + 0.529 100 would be 123:
    // beyond cwnd_prior = 100, which it meets after 30 / 0.529 = 56.7 round trips, it grows by 1: 100 + 43.3 = 143.3.
    let mut cc = reduced();
    run(&mut cc, Duration::from_millis(1), 0.0, 0.056);
    assert!((cc.cwnd / 1000.0 - 99.6).abs() < 0.2, "{}", cc.cwnd);
    run(&mut cc, Duration::from_millis(1), 0.056, 0.1);
    assert!((cc.cwnd / 1000.0 - 143.3).abs() < 0.5, "{}", cc.cwnd);
}

/// A loss, and the `segments` until the next: the average window over time, in segments.
fn average_window(cc: &mut Cubic, segments: u64, rtt: f64) -> f64 {
    cc.on_loss(&Loss { flight: cc.cwnd(), window: cc.cwnd(), ..loss(0) });
    let rtt = seconds(rtt);
    let start = cc.last_ack.as_secs_f64();
    let (mut now, mut area) = (start, 0.0);
    for _ in 0..segments {
        cc.on_ack(&Ack { rtt: Some(rtt), srtt: Some(rtt), ..ack(Instant::ZERO + seconds(now)) });
        let step = rtt.as_secs_f64() * 1000.0 / cc.cwnd;
        now += step;
        area += cc.cwnd / 1000.0 * step;
    }
    area / (now - start)
}

#[test]
fn the_reno_friendly_region_averages_what_reno_would() {
    // Sections 4.3 and 5.1: sqrt(alpha (1 + beta) / (2 (1 - beta) p)) = sqrt(3 / (2 p)): 38.7 for p = 1e-3, from any
    // start (each stage leaves 0.7 of the deviation of the last one).
    for segments in [20, 100] {
        let mut cc = established(segments);
        let averages: Vec<f64> = (0..30).map(|_| average_window(&mut cc, 1000, 0.01)).collect();
        assert!((averages[29] - 38.73).abs() < 0.02 * 38.73, "{averages:?}");
    }
}

#[test]
fn the_cubic_region_averages_what_section_5_1_says() {
    // (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4) = 1.0538 (RTT / p)^(3/4) segments, 0.925 of the window that
    // each loss finds: at 100 ms 187.4 of 202.6 for p = 1e-4, 1053.8 of 1139.2 for 1e-5. One stage from there ends
    // there, on the plateau. (Many do not get there from elsewhere: the plateau is flat.)
    for (packets, loss_at, average) in [(10_000, 202.6, 187.4), (100_000, 1139.2, 1053.8)] {
        let mut cc = established(1);
        (cc.ssthresh, cc.cwnd) = (0, loss_at * 1000.0);
        cc.set_cwnd(cc.cwnd);
        let ours = average_window(&mut cc, packets, 0.1);
        assert!((ours - average).abs() < 0.01 * average, "{packets}: {ours}");
        assert!((cc.cwnd / 1000.0 - loss_at).abs() < 1.0, "{packets}: {}", cc.cwnd);
    }
}

#[test]
fn a_loss_below_the_last_one_makes_room() {
    // At 100: W_max 100. At 80 < 100: W_max = 80 (1 + 0.7) / 2 = 68, cwnd 56, K = cbrt(12 / 0.4) = 3.10723 s.
    let mut cc = reduced();
    assert!(close(cc.w_max, 100_000.0));
    cc.set_cwnd(80_000.0);
    cc.on_loss(&loss(80));
    assert!(close(cc.w_max, 68_000.0) && close(cc.cwnd_prior, 80_000.0));
    assert_eq!(cc.cwnd(), 56_000);
    assert!((cc.stage().k - 3.107_232_5).abs() < 1e-6);
    // At 70 > 68: W_max = 70.
    cc.set_cwnd(70_000.0);
    cc.on_loss(&loss(70));
    assert!(close(cc.w_max, 70_000.0));
}

#[test]
fn a_loss_takes_from_the_flight_or_from_the_window_and_leaves_two_segments() {
    // 0.7 of 50 in flight, or of the window of 100; never less than 2, and 1 for an echo.
    let mut cc = established(100);
    cc.on_loss(&Loss { flight: 50_000, ..loss(100) });
    assert_eq!((cc.cwnd(), cc.ssthresh()), (35_000, 35_000));
    let mut cc = established(100);
    cc.ssthresh_from = SsthreshFrom::Window;
    cc.on_loss(&Loss { flight: 50_000, ..loss(100) });
    assert_eq!((cc.cwnd(), cc.ssthresh()), (70_000, 70_000));
    cc.on_loss(&loss(2));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (2_000, 2_000));
    cc.on_congestion_echo(&loss(1));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000, 2_000));
}

#[test]
fn after_a_timeout_the_curve_begins_where_slow_start_ends() {
    // ssthresh 0.7 100 = 70, cwnd 1; a repeated timeout changes nothing. 69 acknowledgements double it up to 70.
    let mut cc = reduced();
    cc.set_cwnd(100_000.0);
    cc.on_timeout(&loss(100), TimeoutKind::First);
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000, 70_000));
    cc.on_timeout(&loss(1), TimeoutKind::Repeated);
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000, 70_000));
    for _ in 0..69 {
        cc.on_ack(&ack(at(0)));
    }
    assert_eq!(cc.cwnd(), 70_000);
    let stage = cc.stage();
    assert!(stage.k == 0.0 && close(stage.plateau, 70_000.0) && close(stage.w_est, 70_000.0));
    // W_est grows by alpha until the 100 from before the timeout.
    assert!(close(cc.cwnd_prior, 100_000.0));
}

#[test]
fn periods_that_the_application_limits_do_not_count() {
    // Two windows: one is used throughout, the other rests from 1 s to 11 s: with 10 segments in flight, acknowledged
    // every 100 ms, or with none and then data sent at 11 s that is acknowledged at 11.1 s.
    let mut always = reduced();
    run(&mut always, RTT, 0.0, 1.0);
    let last = always.last_ack;
    let (mut little, mut none) = (always.clone(), always.clone());
    always.on_ack(&ack(last + RTT));
    for n in 1..=100 {
        little.on_ack(&Ack { flight_before: 10_000, flight: 9_000, ..ack(last + Duration::from_millis(100 * n)) });
    }
    little.on_ack(&ack(last + seconds(10.1)));
    assert_eq!(little.cwnd(), always.cwnd());
    none.drained = true;
    none.on_ack(&ack(last + seconds(10.1)));
    assert_eq!(none.cwnd(), always.cwnd());
}

#[test]
fn an_unused_window_does_not_grow() {
    let mut cc = reduced();
    for n in 0..100 {
        cc.on_ack(&Ack { flight_before: 69_000, ..ack(at(n * 100_000_000)) });
    }
    assert_eq!(cc.cwnd(), 70_000);
    // 69.001 in flight leave less than a segment of the window.
    cc.on_ack(&Ack { flight_before: 69_001, ..ack(at(0)) });
    assert_eq!(cc.cwnd(), 70_007);
}

#[test]
fn growth_stops_for_echoes_and_in_recovery() {
    let mut cc = reduced();
    cc.on_ack(&Ack { ece: true, ..ack(at(0)) });
    cc.on_ack(&Ack { phase: RecoveryPhase::FastRecovery, ..ack(at(0)) });
    assert_eq!(cc.cwnd(), 70_000);
}

#[test]
fn hystart_leaves_slow_start_without_a_loss() {
    // Ten segments in flight throughout, acknowledged one by one: 10 at 80 ms, then 90 ms. The eighth of these, the
    // eighteenth in all, slows the start (an eighth longer): cwnd 10 + 18; then a quarter of a segment for each of 37
    // acknowledgements (hystart.rs): 28 + 9.25 = 37.25, where W_max is and the curve begins.
    let mut cc = Cubic::new(&Config::default());
    cc.on_established(&Start { now: Instant::ZERO, smss: 1000, initial_window: 10_000, rtt: None });
    for n in 1..=55 {
        let rtt = Some(Duration::from_millis(if n <= 10 { 80 } else { 90 }));
        assert_eq!(cc.ssthresh(), u64::MAX);
        cc.on_ack(&Ack { una: n * SMSS, nxt: (n + 9) * SMSS, rtt, srtt: rtt, ..ack(at(n * 10_000_000)) });
    }
    assert_eq!((cc.cwnd(), cc.ssthresh()), (37_250, 37_250));
    let stage = cc.stage();
    assert!(stage.k == 0.0 && close(stage.plateau, 37_250.0) && close(cc.cwnd_prior, 37_250.0));
    // Without HyStart++ it would be 10 + 55.
    let mut cc = established(10);
    for n in 1..=55 {
        cc.on_ack(&ack(at(n * 10_000_000)));
    }
    assert_eq!(cc.cwnd(), 65_000);
}

#[test]
fn idling_falls_back_to_the_initial_window() {
    let mut cc = established(10);
    cc.set_cwnd(70_000.0);
    cc.on_idle_restart(&idle_since(at(0)));
    assert_eq!(cc.cwnd(), 10_000);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn acknowledgements_never_close_the_window_nor_open_it_by_more_than_slow_start(
        events in proptest::collection::vec((0_u8..24, 1_u64..20_000, 0_u64..3_000_000_000), 1..400),
        hystart in any::<bool>(),
        counting in any::<bool>(),
    ) {
        let increase = if counting { Increase::ByteCounting { limit: 2 } } else { Increase::PerAck };
        let mut cc = Cubic::new(&Config::default().with(|c| {
            c.cwnd.hystart = hystart;
            c.cwnd.increase = increase;
        }));
        cc.on_established(&Start { now: Instant::ZERO, smss: 1000, initial_window: 10_000, rtt: None });
        let (mut now, mut una) = (Instant::ZERO, 0);
        for (kind, bytes, pause) in events {
            now += Duration::from_nanos(pause);
            let before = cc.cwnd();
            match kind {
                0 => cc.on_loss(&Loss { flight: bytes, ..loss(20) }),
                1 => cc.on_congestion_echo(&Loss { flight: bytes, ..loss(20) }),
                2 => cc.on_timeout(&loss(bytes / 1000), TimeoutKind::First),
                3 => cc.on_idle_restart(&idle_since(now)),
                _ => {
                    una += bytes;
                    let rtt = Some(Duration::from_nanos(pause / 8));
                    cc.on_ack(&Ack { acked: bytes, una, nxt: una + before, rtt, srtt: rtt, ..ack(now) });
                    prop_assert!(cc.cwnd() >= before);
                    prop_assert!(cc.cwnd() <= before + (8 * SMSS).max(bytes));
                }
            }
            prop_assert!((SMSS..=1 << 30).contains(&cc.cwnd()), "{}", cc.cwnd());
            prop_assert!(cc.ssthresh() >= 2 * SMSS);
        }
    }
}

#[test]
fn the_bias_is_what_it_says() {
    // (1023 2/3 - 0.0331) 2^52, to 20 significant bits.
    let bias = (1023.0 * 2.0 / 3.0 - 0.0331) * 4_503_599_627_370_496.0;
    let bias = crate::number::whole(bias);
    assert!(bias.abs_diff(BIAS) < 1 << 32, "{bias:#x}");
}

#[test]
fn cubes_have_their_roots() {
    for n in 0..2000_u32 {
        let n = f64::from(n);
        assert!((cube_root(n * n * n) - n).abs() <= 4.0 * f64::EPSILON * n, "{n}");
    }
}

#[test]
fn it_agrees_with_the_library() {
    // 20000 values over 36 orders of magnitude, with all mantissas: x grows by 0.42 % each time.
    let mut x = 1e-18;
    for _ in 0..20_000 {
        let (ours, theirs) = (cube_root(x), f64::cbrt(x));
        assert!((ours - theirs).abs() <= 4.0 * f64::EPSILON * theirs, "{x}: {ours} {theirs}");
        x *= 1.0042;
    }
    assert!(x > 1e18, "{x}");
}

#[test]
fn after_a_needless_loss_the_cubic_function_goes_on_where_it_was() {
    // RFC 9438 section 4.9. A first loss at 100 segments leaves 70, and the stage after it has W_max = 100.
    let mut cubic = Cubic::new(&Config::default());
    let start = Start { now: Instant::ZERO, smss: 1000, initial_window: 100 * SMSS, rtt: None };
    cubic.on_established(&start);
    cubic.on_loss(&loss(100));
    cubic.on_recovered(&Recovered { now: Instant::ZERO, flight: 70 * SMSS, window: 70 * SMSS });
    for n in 1..50 {
        cubic.on_ack(&ack(at(n * 1_000_000)));
    }
    let before = cubic.clone();
    // Fast convergence: W_max = 0.85 of a window below 100.
    cubic.on_loss(&loss(cubic.cwnd() / SMSS));
    assert!(cubic.w_max < 0.86 * before.cwnd && cubic.stage.is_none());
    let spurious = Spurious {
        now: at(60_000_000),
        flight: 70 * SMSS,
        cwnd: before.cwnd(),
        ssthresh: before.ssthresh(),
        timed_out: false,
    };
    cubic.on_spurious(&spurious);
    assert_eq!((cubic.cwnd(), cubic.ssthresh()), (before.cwnd(), before.ssthresh()));
    let stage = |cubic: &Cubic| format!("{:?} {} {}", cubic.stage, cubic.w_max, cubic.cwnd_prior);
    assert_eq!(stage(&cubic), stage(&before));
}
