//! CUBIC (Rhee, Xu 2005) of Linux 2.6.22 (version 2.1); `cubic.rs` has RFC 9438's version.
//!
//! Symbols are those of I. Rhee, L. Xu, CUBIC: a new TCP-friendly high-speed TCP variant, PFLDnet 2005.
//! Windows are in segments, times in milliseconds, or in 2^-10 s for the cubic function. All numbers are integers as
//! in the kernel: products are modulo 2^64 where the kernel does not guard them.

use super::Ack;
use super::bic::{AckRatio, BETA, BETA_SCALE, beta, wmax_after_loss};
use super::info::{AlgorithmInfo, KnownWith, ParameterInfo, constant};
use super::linux::{CaState, Floor, Linux, LinuxWindow, Ops};
use crate::config::{Algorithm, Config};
use crate::number::float;
use netlull_units::{Duration, Instant};

/// The algorithm's entry of the catalogue.
pub(super) static INFO: AlgorithmInfo = AlgorithmInfo {
    name: "cubic_2_6_22",
    summary: "a cubic function of the time since the last loss, at least as fast as Reno",
    source: "Rhee, Xu 2005; Linux 2.6.22 tcp_cubic.c",
    algorithm: Algorithm::Cubic2622,
    known_with: KnownWith::LINUX_2_6,
    ns2_agent: None,
    linux: Some("cubic"),
    parameters,
    build: |config, _| Box::new(Cubic2622::new(config)).into(),
};

fn parameters() -> Vec<ParameterInfo> {
    let source = "Linux 2.6.22 tcp_cubic.c";
    let c = float(CUBIC_SCALE) / 1024.0;
    vec![
        constant("C", "segments/s^3", format!("{c:.3}"), "steepness of the cubic function", source),
        constant("beta", "", beta(), "share of the window left after a loss (819/1024)", source),
        constant("S_max", "segments", MAX_INCREMENT, "growth per 100 ms at most", source),
    ]
}

/// HZ: milliseconds per second.
const HZ: u64 = 1000;
/// The cubic function's time is in 2^-10 s (`BICTCP_HZ`).
pub(super) const TIME_BITS: u32 = 10;
/// C = 41/1024, with 100 ms in place of a round trip: C / RTT = 410/1024 segments per s^3.
pub(super) const CUBIC_SCALE: u64 = 41 * 10;
/// 1/(C / RTT) in the units of K^3, 2^(10 + 3 * 10) / 410.
pub(super) const CUBIC_FACTOR: u64 = (1 << (10 + 3 * TIME_BITS)) / CUBIC_SCALE;
/// S_max: the most segments per 100 ms.
const MAX_INCREMENT: u64 = 16;
/// Acknowledgements per increment before the first loss.
const COUNT_BEFORE_LOSS: u64 = 50;
/// A decision is valid for HZ / 32 milliseconds, or until the window changes.
const DECISION_LIFETIME: u64 = HZ / 32;
/// 8/3 (1 + beta) / (1 - beta): eighths of windows that Reno with beta must acknowledge for a segment of growth; 23.
const FRIENDLY_SCALE: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);

/// floor(cbrt(x 2^18)) - 10 or so for x below 64, refined for the iteration that follows (`cubic_root`).
const ROOTS: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173, 176, 179,
    181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224, 225, 227,
    229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
];

/// The kernel's cube root, 0.2 % off on average: a table for the leading bits, and one Newton-Raphson step.
pub(super) fn cubic_root(a: u64) -> u64 {
    let bits = u64::BITS - a.leading_zeros();
    let entry = |index: u64| u64::from(ROOTS[usize::try_from(index).unwrap_or(0) % ROOTS.len()]);
    if bits < 7 {
        return (entry(a) + 35) >> 6;
    }
    // A third of the bits; the rest of `a` has at most six.
    let third = ((bits * 84) >> 8) - 1;
    let guess = ((entry(a >> (3 * third)) + 10) << third) >> 6;
    // x <- (2 x + a / (x (x - 1))) / 3; 341/1024 is a third.
    ((2 * guess + a / (guess * (guess - 1))) * 341) >> 10
}

/// CUBIC's congestion window.
pub type Cubic2622 = Linux<CubicOps>;

/// `struct bictcp`.
#[derive(Clone, Debug)]
pub struct CubicOps {
    ratio: AckRatio,
    /// Acknowledgements per segment of growth.
    count: u64,
    /// `W_max`; 0: unknown.
    wmax: u64,
    /// True from a loss until a timeout.
    lost: bool,
    /// The window and the time of the last computation of `count`.
    decided_for: u64,
    decided_at: u64,
    /// The plateau of the cubic function.
    origin: u64,
    /// K: from the start of the epoch to the plateau, 2^-10 s.
    k: u64,
    /// The shortest round trip in eighths of milliseconds; 0: unknown.
    shortest_delay: u64,
    /// The start of the epoch; 0: none.
    epoch_start: u64,
    /// Acknowledgements that Reno's window has not used yet.
    friendly_acks: u64,
    /// Reno's window, for the TCP-friendly region.
    friendly_window: u64,
}

impl CubicOps {
    /// `bictcp_reset`: erases the knowledge about the path.
    const fn unknown() -> Self {
        Self {
            ratio: AckRatio::new(),
            count: 0,
            wmax: 0,
            lost: false,
            decided_for: 0,
            decided_at: 0,
            origin: 0,
            k: 0,
            shortest_delay: 0,
            epoch_start: 0,
            friendly_acks: 0,
            friendly_window: 0,
        }
    }

    /// `measure_delay`: from timestamps; the echoed one is rounded to a millisecond as in ns-2.
    #[inline]
    fn measure_delay(&mut self, now: Instant, rtt: Duration) {
        let jiffies = LinuxWindow::jiffies(now);
        // Discards samples right after a loss; without an epoch, those of the first second of the run.
        if jiffies - self.epoch_start < HZ {
            return;
        }
        let sent = now.as_nanos().saturating_sub(rtt.as_nanos());
        let delay = (8 * jiffies.saturating_sub((sent + 500_000) / 1_000_000)).max(1);
        if self.shortest_delay == 0 || delay < self.shortest_delay {
            self.shortest_delay = delay;
        }
    }

    /// `bictcp_update`.
    #[inline]
    fn decide(&mut self, cwnd: u64, now: u64) {
        self.friendly_acks += 1;
        if self.decided_for == cwnd && now - self.decided_at <= DECISION_LIFETIME {
            return;
        }
        self.decided_for = cwnd;
        self.decided_at = now;
        if self.epoch_start == 0 {
            self.begin_epoch(cwnd, now);
        }
        let mut segments = self.cubic_count(cwnd, now);
        if !self.lost {
            segments = COUNT_BEFORE_LOSS;
        }
        self.count = self.ratio.acks(self.friendly_count(cwnd, segments));
    }

    fn begin_epoch(&mut self, cwnd: u64, now: u64) {
        self.epoch_start = now;
        self.friendly_acks = 1;
        self.friendly_window = cwnd;
        if self.wmax <= cwnd {
            self.k = 0;
            self.origin = cwnd;
        } else {
            // K = cbrt((W_max - cwnd) RTT / C).
            self.k = cubic_root(CUBIC_FACTOR * (self.wmax - cwnd));
            self.origin = self.wmax;
        }
    }

    /// Segments acknowledged per segment of growth, by the cubic function
    /// W(t) = C / RTT (t - K)^3 + W_max a round trip from now.
    fn cubic_count(&self, cwnd: u64, now: u64) -> u64 {
        let t = ((now + (self.shortest_delay >> 3) - self.epoch_start) << TIME_BITS) / HZ;
        let distance = t.abs_diff(self.k);
        let cube = CUBIC_SCALE.wrapping_mul(distance).wrapping_mul(distance).wrapping_mul(distance);
        let delta = cube >> (10 + 3 * TIME_BITS);
        let target = if t < self.k { self.origin.wrapping_sub(delta) } else { self.origin + delta };
        // cwnd (W(t) - cwnd) acknowledgements; nearly none at the target.
        let count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.shortest_delay == 0 || t < self.k {
            return count;
        }
        // Above the plateau only: at most S_max RTT / 100 ms segments per round trip.
        count.max(cwnd * HZ * 8 / (10 * MAX_INCREMENT * self.shortest_delay))
    }

    /// The TCP-friendly region: at least as fast as Reno with beta, whose window grows by
    /// 3 (1 - beta) / (1 + beta) segments per round trip.
    fn friendly_count(&mut self, cwnd: u64, count: u64) -> u64 {
        let step = (cwnd * FRIENDLY_SCALE) >> 3;
        while self.friendly_acks > step {
            self.friendly_acks -= step;
            self.friendly_window += 1;
        }
        if self.friendly_window > cwnd { count.min(cwnd / (self.friendly_window - cwnd)) } else { count }
    }
}

impl Ops for CubicOps {
    const FLOOR: Floor = Floor::Ssthresh;

    fn new(_config: &Config) -> Self {
        Self::unknown()
    }

    /// `bictcp_acked`, and `data_acked` of `bictcp_cong_avoid`.
    #[inline]
    fn acked(&mut self, window: &LinuxWindow, ack: &Ack) {
        if window.state == CaState::Open {
            self.ratio.sample(window.segments(ack.acked));
            if let Some(rtt) = ack.rtt {
                self.measure_delay(ack.now, rtt);
            }
        }
    }

    /// `bictcp_cong_avoid`.
    #[inline]
    fn open(&mut self, window: &mut LinuxWindow, ack: &Ack) {
        window.grow(ack, |cwnd, now| {
            self.decide(cwnd, now);
            self.count
        });
    }

    /// `bictcp_recalc_ssthresh`.
    fn threshold(&mut self, window: &LinuxWindow) -> u64 {
        self.epoch_start = 0;
        self.wmax = wmax_after_loss(window.cwnd, self.wmax);
        self.lost = true;
        (window.cwnd * BETA / BETA_SCALE).max(2)
    }

    fn timed_out(&mut self) {
        *self = Self::unknown();
    }
}

#[cfg(test)]
mod tests {
    use super::super::linux::tests::{SMSS, ack, config, loss, start};
    use super::*;
    use crate::cc::{CongestionControl, TimeoutKind};

    fn established(cwnd: u64, ssthresh: u64) -> Cubic2622 {
        let mut cc = Cubic2622::new(&config(1000, ssthresh));
        cc.on_established(&start(cwnd));
        cc
    }

    /// A loss at 100 segments, then growth from 79.
    fn after_loss() -> Cubic2622 {
        let mut cc = established(100, 200);
        cc.on_loss(&loss(100, 100));
        cc.window.state = CaState::Open;
        cc
    }

    #[test]
    fn cube_roots_are_within_a_hundredth() {
        assert_eq!([cubic_root(0), cubic_root(27), cubic_root(64), cubic_root(1_000_000_000)], [0, 3, 4, 1000]);
        // Measured over random numbers beyond 2^20: at most 0.9 % off.
        let mut a = 1_u64 << 20;
        while a < 1 << 60 {
            let root = cubic_root(a);
            let (low, high) = (root * 99 / 100, root * 101 / 100 + 1);
            assert!(low.pow(3) < a && a < high.pow(3), "{a}: {root}");
            a += a / 37;
        }
    }

    #[test]
    fn the_epoch_begins_with_the_time_to_the_plateau() {
        // 79 819/1024 of 100; K = cbrt(21 / (410 / 1024)) s = 3.743 s = 3833 2^-10 s; the root gives 3832.
        let mut cc = after_loss();
        cc.algorithm.begin_epoch(cc.window.cwnd, 5000);
        assert_eq!(
            (cc.window.cwnd, cc.algorithm.k, cc.algorithm.origin, cc.algorithm.friendly_window),
            (79, 3832, 100, 79)
        );
        // Beyond the old maximum the plateau is the window.
        cc.window.cwnd = 101;
        cc.algorithm.begin_epoch(cc.window.cwnd, 5000);
        assert_eq!((cc.algorithm.k, cc.algorithm.origin), (0, 101));
    }

    #[test]
    fn the_cubic_function_a_round_trip_ahead() {
        let mut cc = after_loss();
        cc.algorithm.begin_epoch(cc.window.cwnd, 5000);
        // At 1 s, t = 1024: 410 (3832 - 1024)^3 / 2^40 = 8.26; target 92, 13 above: 79 / 13 = 6.
        assert_eq!(cc.algorithm.cubic_count(cc.window.cwnd, 6000), 6);
        // A round trip of 1 s moves the target a second ahead: t = 2048, 410 1784^3 / 2^40 = 2.1; target 98: 79 / 19
        // = 4.
        cc.algorithm.shortest_delay = 8 * 1000;
        assert_eq!(cc.algorithm.cubic_count(cc.window.cwnd, 6000), 4);
        // At the plateau, 3.743 s: no gain from 100.
        cc.algorithm.shortest_delay = 0;
        cc.window.cwnd = 100;
        assert_eq!(cc.algorithm.cubic_count(cc.window.cwnd, 8743), 10_000);
    }

    #[test]
    fn above_the_plateau_growth_is_bounded() {
        // t = 10 s: 410 (10240 - 3832)^3 / 2^40 = 98.1: target 198, 100 / 98 = 1. With a round trip of 100 ms at most
        // 16 segments per round trip: 100 / 16 = 6.
        let mut cc = after_loss();
        cc.algorithm.begin_epoch(cc.window.cwnd, 5000);
        cc.window.cwnd = 100;
        assert_eq!(cc.algorithm.cubic_count(cc.window.cwnd, 15_000), 1);
        cc.algorithm.shortest_delay = 8 * 100;
        assert_eq!(cc.algorithm.cubic_count(cc.window.cwnd, 14_900), 6);
    }

    #[test]
    fn as_fast_as_reno_with_beta() {
        // 8 1843 / 3 / 205 = 23: one segment for each 79 23 / 8 = 227 acknowledgements.
        assert_eq!(FRIENDLY_SCALE, 23);
        let mut cc = after_loss();
        cc.algorithm.begin_epoch(cc.window.cwnd, 5000);
        cc.algorithm.friendly_acks = 227;
        assert_eq!((cc.algorithm.friendly_count(cc.window.cwnd, 1000), cc.algorithm.friendly_window), (1000, 79));
        // 227 5 + 1: five segments, and 79 / 5 = 15 acknowledgements for the next.
        cc.algorithm.friendly_acks = 227 * 5 + 1;
        assert_eq!(
            (
                cc.algorithm.friendly_count(cc.window.cwnd, 1000),
                cc.algorithm.friendly_window,
                cc.algorithm.friendly_acks
            ),
            (15, 84, 1)
        );
        assert_eq!(cc.algorithm.friendly_count(cc.window.cwnd, 10), 10);
    }

    #[test]
    fn delays_count_from_a_second_after_the_epoch_began() {
        let mut cc = established(100, 5);
        let rtt = Duration::from_millis(40);
        cc.algorithm.measure_delay(Instant::from_nanos(999_000_000), rtt);
        assert_eq!(cc.algorithm.shortest_delay, 0);
        cc.algorithm.measure_delay(Instant::from_nanos(1_000_000_000), rtt);
        assert_eq!(cc.algorithm.shortest_delay, 320);
        cc.algorithm.epoch_start = 1000;
        cc.algorithm.measure_delay(Instant::from_nanos(1_999_000_000), Duration::from_millis(10));
        assert_eq!(cc.algorithm.shortest_delay, 320);
        // Sent at 1990.4 ms, which rounds to 1990; now 2000.
        cc.algorithm.measure_delay(Instant::from_nanos(2_000_400_000), Duration::from_millis(10));
        assert_eq!(cc.algorithm.shortest_delay, 80);
    }

    #[test]
    fn before_any_loss_fifty_segments_are_acknowledged_for_one() {
        // 50 16 / 31 = 25.
        let mut cc = established(400, 5);
        cc.on_ack(&ack(1000, 10, 400));
        assert_eq!(cc.algorithm.count, 25);
    }

    #[test]
    fn a_loss_takes_a_fifth_at_any_window_and_a_timeout_forgets() {
        let mut cc = established(10, 200);
        cc.on_loss(&loss(10, 10));
        assert_eq!((cc.cwnd() / SMSS, cc.algorithm.wmax), (7, 10));
        cc.on_timeout(&loss(7, 20), TimeoutKind::First);
        // 7 819 / 1024 = 5.6.
        assert_eq!((cc.cwnd() / SMSS, cc.ssthresh() / SMSS, cc.algorithm.wmax, cc.algorithm.lost), (1, 5, 0, false));
    }
}
