//! CUBIC (RFC 9438), with HyStart++ (RFC 9406) in the first slow start if that is wanted.

use super::cube_root::cube_root;
use super::hystart::{HyStart, Verdict};
use super::{Ack, CongestionControl, Loss, Recovered, Start, TimeoutKind};
use crate::config::{Config, Increase, RepeatedTimeout, SsthreshFrom};
use crate::recovery::RecoveryPhase;
use netlull_units::{Bytes, Duration, Instant};

/// C in segments per cubic second (RFC 9438 section 5).
pub(super) const C: f64 = 0.4;
/// beta_cubic (section 4.6).
pub(super) const BETA: f64 = 0.7;
/// alpha_cubic = 3 (1 - beta) / (1 + beta) (section 4.3): the Reno-friendly increase, segments per round trip.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// W_max after a loss below the last W_max, as a part of cwnd (section 4.7).
pub(super) const FAST_CONVERGENCE: f64 = (1.0 + BETA) / 2.0;
/// The target is at most so many windows (section 4.2).
const STEEPEST: f64 = 1.5;
/// No window can be advertised beyond 2^30 bytes (RFC 7323 section 2.3), so cwnd has no use for more.
const LARGEST_CWND: f64 = 1_073_741_824.0;

/// A stage of congestion avoidance: from a reduction, or the end of slow start, to the next reduction.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// t: how long cwnd has been updated in it, without periods that the application or the receiver limited.
    elapsed: Duration,
    /// K in seconds.
    k: f64,
    /// The plateau of W_cubic in bytes.
    plateau: f64,
    /// W_est in bytes.
    w_est: f64,
    /// alpha_cubic, or 1.
    alpha: f64,
}

impl Stage {
    /// RFC 9438 section 4.2 equation 1: W_cubic(t) = C (t - K)^3 + W_max, in bytes, for C in bytes per cubic second.
    #[inline]
    fn w_cubic(&self, c: f64, t: f64) -> f64 {
        let x = t - self.k;
        c * x * x * x + self.plateau
    }
}

/// The congestion window of RFC 9438. Windows are in bytes, fractions included; the arithmetic is + - * / alone, and so
/// the same to the bit everywhere.
#[derive(Clone, Debug)]
pub struct Cubic {
    cwnd: f64,
    /// cwnd in whole bytes.
    window: u64,
    ssthresh: u64,
    smss: f64,
    /// C in bytes per cubic second.
    c: f64,
    /// W_max; 0 while it is undefined: before the first loss, and after a timeout.
    w_max: f64,
    /// cwnd_prior: cwnd when ssthresh was set last; 0 before.
    cwnd_prior: f64,
    stage: Option<Stage>,
    /// When the last acknowledgement of new data came.
    last_ack: Instant,
    /// Whether it left nothing in flight: what follows may be a pause.
    drained: bool,
    hystart: Option<HyStart>,
    initial_window: u64,
    increase: Increase,
    ssthresh_from: SsthreshFrom,
    repeated_timeout: RepeatedTimeout,
}

impl Cubic {
    /// CUBIC with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let smss = f64::from(config.mss);
        Self {
            cwnd: smss,
            window: u64::from(config.mss),
            // RFC 5681 section 3.1: the initial ssthresh should be arbitrarily high.
            ssthresh: config.initial_ssthresh.map_or(u64::MAX, Bytes::as_u64),
            smss,
            c: C * smss,
            w_max: 0.0,
            cwnd_prior: 0.0,
            stage: None,
            last_ack: Instant::ZERO,
            drained: false,
            hystart: config.hystart.then(HyStart::new),
            initial_window: u64::from(config.mss),
            increase: config.increase,
            ssthresh_from: config.ssthresh_from,
            repeated_timeout: config.repeated_timeout,
        }
    }

    #[inline]
    fn set_cwnd(&mut self, bytes: f64) {
        self.cwnd = bytes.clamp(1.0, LARGEST_CWND);
        self.window = whole(self.cwnd);
    }

    /// RFC 9438 section 5.8: cwnd does not grow if it is not what limits the sender. Linux `tcp_is_cwnd_limited`: in slow
    /// start half of the window used is enough.
    #[inline]
    fn is_limiting(&self, flight_before: u64) -> bool {
        if self.window < self.ssthresh {
            self.window < 2 * flight_before
        } else {
            exact(flight_before) + self.smss > self.cwnd
        }
    }

    /// How long it is since the last acknowledgement, without the pause if nothing was in flight: what this one
    /// acknowledges was sent a round trip ago (RFC 9438 section 4.2: t must not include idle periods).
    #[inline]
    fn time_in_use(&mut self, ack: &Ack) -> Duration {
        let mut since = self.last_ack;
        if self.drained
            && let Some(rtt) = ack.rtt.or(ack.srtt)
        {
            let sent = Instant::from_nanos(ack.now.as_nanos().saturating_sub(rtt.as_nanos()));
            since = since.max(sent);
        }
        self.last_ack = ack.now;
        self.drained = ack.flight == 0;
        ack.now.saturating_since(since)
    }

    /// RFC 9438 section 4.10.
    fn open_slow_start(&mut self, ack: &Ack) {
        let smss = whole(self.smss);
        let growth = match (&self.hystart, self.increase) {
            (Some(hystart), _) => hystart.growth(ack.acked, smss),
            // RFC 5681 equation 2: cwnd += min(N, SMSS).
            (None, Increase::PerAck) => ack.acked.min(smss),
            // RFC 3465 sections 2.2 and 2.3: cwnd += min(N, L SMSS), L = 1 after a timeout.
            (None, Increase::ByteCounting { .. }) if ack.phase == RecoveryPhase::Loss => ack.acked.min(smss),
            (None, Increase::ByteCounting { limit }) => ack.acked.min(u64::from(limit) * smss),
        };
        self.set_cwnd(self.cwnd + exact(growth));
    }

    /// RFC 9406 section 4.2, after the window has grown.
    #[inline]
    fn watch_round_trips(&mut self, ack: &Ack) {
        if let Some(hystart) = &mut self.hystart
            && hystart.on_ack(ack) == Verdict::Exit
        {
            self.ssthresh = self.window;
            self.hystart = None;
        }
    }

    /// The first acknowledgement of a stage: t = 0.
    #[cold]
    fn begin_stage(&mut self) {
        // RFC 9406 section 4.3: HyStart++ is for the first slow start.
        self.hystart = None;
        // RFC 9438 section 4.1.2: cwnd_prior is also set on leaving the first slow start.
        if self.cwnd_prior == 0.0 {
            self.cwnd_prior = self.cwnd;
        }
        // Sections 4.8 and 4.10: after a timeout, or a slow start left without loss, W_max = cwnd.
        if self.w_max == 0.0 {
            self.w_max = self.cwnd;
        }
        // Section 4.2 equation 2: K = cbrt((W_max - cwnd_epoch) / C). At or above W_max it is 0, and the curve begins
        // where the window is (sections 4.8 and 4.10).
        let (plateau, k) = if self.w_max > self.cwnd {
            (self.w_max, cube_root((self.w_max - self.cwnd) / self.c))
        } else {
            (self.cwnd, 0.0)
        };
        // Section 4.3: W_est begins at cwnd_epoch.
        self.stage = Some(Stage { elapsed: Duration::ZERO, k, plateau, w_est: self.cwnd, alpha: ALPHA });
    }

    /// RFC 9438 sections 4.2 to 4.5; `in_use` is how much later than the last acknowledgement of the stage this one is.
    #[inline]
    fn open_congestion_avoidance(&mut self, ack: &Ack, in_use: Duration) {
        if self.stage.is_none() {
            self.begin_stage();
        } else if let Some(stage) = &mut self.stage {
            stage.elapsed += in_use;
        }
        let Some(stage) = &mut self.stage else { return };
        let segment_of_window = self.smss / self.cwnd;
        // Section 4.3 figure 4: W_est += alpha_cubic segments_acked / cwnd, here all in bytes.
        stage.w_est += stage.alpha * exact(ack.acked) * segment_of_window;
        // From cwnd_prior on, as Reno.
        if stage.w_est >= self.cwnd_prior {
            stage.alpha = 1.0;
        }
        let t = stage.elapsed.as_secs_f64();
        let cwnd = if stage.w_cubic(self.c, t) < stage.w_est {
            // Section 4.3: the Reno-friendly region. An acknowledgement never takes from cwnd.
            self.cwnd.max(stage.w_est)
        } else {
            let rtt = ack.srtt.map_or(0.0, Duration::as_secs_f64);
            // Section 4.2: target = W_cubic(t + RTT), within [cwnd, 1.5 cwnd].
            let target = stage.w_cubic(self.c, t + rtt).clamp(self.cwnd, STEEPEST * self.cwnd);
            let growth = (target - self.cwnd) * segment_of_window;
            // Sections 4.4 and 4.5: cwnd += (target - cwnd) / cwnd for each acknowledgement; or for each segment.
            match self.increase {
                Increase::PerAck => self.cwnd + growth,
                Increase::ByteCounting { .. } => (self.cwnd + growth * exact(ack.acked) / self.smss).min(target),
            }
        };
        self.set_cwnd(cwnd);
    }

    /// RFC 9438 section 4.6: ssthresh in bytes, before its lower bounds.
    fn reduced(&self, loss: &Loss) -> f64 {
        BETA * match self.ssthresh_from {
            SsthreshFrom::Flight => exact(loss.flight),
            SsthreshFrom::Window => exact(loss.window),
        }
    }

    /// RFC 9438 sections 4.6 and 4.7: to `least` segments at least.
    fn reduce(&mut self, loss: &Loss, least: f64) {
        // Section 4.7: below the last W_max, room is made for others.
        self.w_max = if self.cwnd < self.w_max { self.cwnd * FAST_CONVERGENCE } else { self.cwnd };
        self.cwnd_prior = self.cwnd;
        let ssthresh = self.reduced(loss);
        self.ssthresh = whole(ssthresh.max(2.0 * self.smss));
        self.set_cwnd(ssthresh.max(least * self.smss));
        self.stage = None;
        self.hystart = None;
    }
}

/// Bytes as a number: windows, flights and acknowledgements are far below 2^53.
#[inline]
#[allow(clippy::cast_precision_loss)]
fn exact(bytes: u64) -> f64 {
    bytes as f64
}

/// Whole bytes of a window.
#[inline]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}

impl CongestionControl for Cubic {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.window
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn on_established(&mut self, start: &Start) {
        self.smss = f64::from(start.smss);
        self.c = C * self.smss;
        self.initial_window = start.initial_window;
        self.last_ack = start.now;
        self.set_cwnd(exact(start.initial_window));
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        let in_use = self.time_in_use(ack);
        if ack.phase == RecoveryPhase::FastRecovery {
            return;
        }
        let slow_start = self.window < self.ssthresh;
        // RFC 3168 section 6.1.2: no growth for an acknowledgement that carries an echo.
        if !ack.ece && self.is_limiting(ack.flight_before) {
            if slow_start {
                self.open_slow_start(ack);
            } else {
                self.open_congestion_avoidance(ack, in_use);
            }
        }
        if slow_start {
            self.watch_round_trips(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reduce(loss, 2.0);
    }

    fn on_congestion_echo(&mut self, loss: &Loss) {
        // RFC 9438 section 4.6: without loss, cwnd may fall to one segment.
        self.reduce(loss, 1.0);
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        // RFC 9438 section 4.8: ssthresh as for a loss; RFC 5681 section 3.1: held if the segment has timed out before.
        if kind == TimeoutKind::First || self.repeated_timeout == RepeatedTimeout::Recompute {
            self.cwnd_prior = self.cwnd;
            self.ssthresh = whole(self.reduced(loss).max(2.0 * self.smss));
        }
        self.w_max = 0.0;
        self.stage = None;
        self.hystart = None;
        // RFC 5681 section 3.1: the loss window is one segment.
        self.set_cwnd(self.smss);
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.set_cwnd(exact(recovered.window));
    }

    fn on_idle_restart(&mut self, _now: Instant) {
        // RFC 5681 section 4.1: RW = min(IW, cwnd). Slow start follows, and another stage.
        if self.window > self.initial_window {
            self.set_cwnd(exact(self.initial_window));
            self.stage = None;
        }
    }
}

#[cfg(test)]
mod tests {
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

    /// An acknowledgement of a segment, the window being full, with round trips of 100 ms.
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

    /// Slow start has brought the window to `segments`.
    fn established(segments: u64) -> Cubic {
        let mut cc = Cubic::new(&Config { hystart: false, ..Config::default() });
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
        // Sections 4.3 and 5.1: sqrt(alpha (1 + beta) / (2 (1 - beta) p)) = sqrt(3 / (2 p)): 38.7 for p = 1e-3, wherever it
        // begins (each stage leaves 0.7 of what the last one was off by).
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
        cc.on_idle_restart(at(0));
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
            let mut cc = Cubic::new(&Config { hystart, increase, ..Config::default() });
            cc.on_established(&Start { now: Instant::ZERO, smss: 1000, initial_window: 10_000, rtt: None });
            let (mut now, mut una) = (Instant::ZERO, 0);
            for (kind, bytes, pause) in events {
                now += Duration::from_nanos(pause);
                let before = cc.cwnd();
                match kind {
                    0 => cc.on_loss(&Loss { flight: bytes, ..loss(20) }),
                    1 => cc.on_congestion_echo(&Loss { flight: bytes, ..loss(20) }),
                    2 => cc.on_timeout(&loss(bytes / 1000), TimeoutKind::First),
                    3 => cc.on_idle_restart(now),
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
}
