//! CUBIC as in Linux 6 (`tcp_cubic.c`), with HyStart.
//!
//! Windows are in segments, times in jiffies, or in 2^-10 s for the cubic function. All numbers are integers.

use super::super::cubic_2_6_22::{CUBIC_FACTOR, CUBIC_SCALE, TIME_BITS, cubic_root};
use super::super::{Ack, Idle, Loss, Start};
use super::hystart::{HyStart, Round, Verdict};
use super::window::Window;
use super::{Linux6, Ops};
use crate::config::Config;
use netlull_units::{Duration, Instant};

/// HZ: jiffies per second, as distributions build kernels (`CONFIG_HZ_250`).
const HZ: u64 = 250;
/// A jiffy in nanoseconds.
const JIFFY: u64 = 1_000_000_000 / HZ;
/// beta: 717/1024 of the window remain after a loss.
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;
/// A decision is valid for HZ / 32 jiffies, or until the window changes.
const DECISION_LIFETIME: u64 = HZ / 32;
/// Before any loss, the window grows by at least one segment for 20.
const LONGEST_COUNT_BEFORE_LOSS: u64 = 20;
/// `beta_scale`, 8/3 (1 + beta) / (1 - beta): eighths of windows acknowledged per segment of Reno's growth; 15.
const FRIENDLY_SCALE: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);

/// A stage of growth, from a reduction to the next.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Its start, jiffies.
    start: u64,
    /// The plateau of the cubic function.
    origin: u64,
    /// K: from the start to the plateau, 2^-10 s.
    k: u64,
    /// Segments acknowledged that Reno's window has not used yet.
    friendly_acks: u64,
    /// Reno's window, for the TCP-friendly region.
    friendly_window: u64,
}

/// CUBIC's congestion window.
pub type Cubic6 = Linux6<CubicOps>;

/// `struct bictcp`.
#[derive(Clone, Debug)]
pub struct CubicOps {
    /// Segments acknowledged per segment of growth.
    count: u64,
    /// W_max; 0: unknown.
    wmax: u64,
    /// The window and the jiffy of the last computation of `count`.
    decided_for: u64,
    decided_at: u64,
    epoch: Option<Epoch>,
    /// `delay_min`: the shortest round trip.
    shortest: Option<Duration>,
    hystart: Option<HyStart>,
}

impl CubicOps {
    #[inline]
    fn jiffies(now: Instant) -> u64 {
        now.as_nanos() / JIFFY
    }

    /// `bictcp_update`.
    fn decide(&mut self, cwnd: u64, now: u64, segments: u64) {
        if let Some(epoch) = &mut self.epoch {
            epoch.friendly_acks += segments;
        }
        if self.decided_for == cwnd && now - self.decided_at <= DECISION_LIFETIME {
            return;
        }
        // The cubic function is evaluated once per jiffy, Reno's window always.
        if self.epoch.is_none() || now != self.decided_at {
            (self.decided_for, self.decided_at) = (cwnd, now);
            let epoch = *self.epoch.get_or_insert_with(|| Self::begin(now, cwnd, self.wmax, segments));
            self.count = self.cubic_count(&epoch, cwnd, now);
        }
        if let Some(epoch) = &mut self.epoch {
            self.count = friendly_count(epoch, cwnd, self.count).max(2);
        }
    }

    fn begin(now: u64, cwnd: u64, wmax: u64, segments: u64) -> Epoch {
        // K = cbrt((W_max - cwnd) / C).
        let (k, origin) = if wmax <= cwnd { (0, cwnd) } else { (cubic_root(CUBIC_FACTOR * (wmax - cwnd)), wmax) };
        Epoch { start: now, origin, k, friendly_acks: segments, friendly_window: cwnd }
    }

    /// Segments acknowledged per segment of growth by W(t) = C (t - K)^3 + W_max, a round trip from now.
    fn cubic_count(&self, epoch: &Epoch, cwnd: u64, now: u64) -> u64 {
        let ahead = self.shortest.map_or(0, |shortest| shortest.as_nanos().div_ceil(JIFFY));
        let t = ((now - epoch.start + ahead) << TIME_BITS) / HZ;
        let distance = t.abs_diff(epoch.k);
        let cube = CUBIC_SCALE.wrapping_mul(distance).wrapping_mul(distance).wrapping_mul(distance);
        let delta = cube >> (10 + 3 * TIME_BITS);
        let target = if t < epoch.k { epoch.origin.saturating_sub(delta) } else { epoch.origin + delta };
        let count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.wmax == 0 { count.min(LONGEST_COUNT_BEFORE_LOSS) } else { count }
    }
}

/// The TCP-friendly region: at least as fast as Reno with beta.
fn friendly_count(epoch: &mut Epoch, cwnd: u64, count: u64) -> u64 {
    let step = (cwnd * FRIENDLY_SCALE) >> 3;
    if step > 0 && epoch.friendly_acks > step {
        // As many steps as fit, with a remainder above zero.
        let steps = (epoch.friendly_acks - 1) / step;
        epoch.friendly_acks -= steps * step;
        epoch.friendly_window += steps;
    }
    if epoch.friendly_window > cwnd { count.min(cwnd / (epoch.friendly_window - cwnd)) } else { count }
}

impl Ops for CubicOps {
    fn new(config: &Config) -> Self {
        Self {
            count: 0,
            wmax: 0,
            decided_for: 0,
            decided_at: 0,
            epoch: None,
            shortest: None,
            hystart: config.cwnd.hystart.then(HyStart::new),
        }
    }

    fn established(&mut self, start: &Start) {
        if let Some(hystart) = &mut self.hystart {
            hystart.restart(start.now, 0);
        }
    }

    /// `cubictcp_acked`: handles a measured round trip.
    #[inline]
    fn acked(&mut self, window: &mut Window, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        // Samples right after a loss are discarded.
        if self.epoch.is_some_and(|epoch| Self::jiffies(ack.now) - epoch.start < HZ) {
            return;
        }
        let shortest = self.shortest.map_or(rtt, |shortest| shortest.min(rtt));
        self.shortest = Some(shortest);
        let round = Round { now: ack.now, una: ack.una, nxt: ack.nxt, cwnd: window.cwnd };
        if window.in_slow_start()
            && let Some(hystart) = &mut self.hystart
            && hystart.update(&round, rtt, shortest) == Verdict::Leave
        {
            window.ssthresh = window.cwnd;
        }
    }

    /// `cubictcp_cong_avoid`.
    fn per_increment(&mut self, window: &Window, now: Instant, segments: u64) -> u64 {
        self.decide(window.cwnd, Self::jiffies(now), segments);
        self.count
    }

    /// `cubictcp_recalc_ssthresh`, with fast convergence.
    fn threshold(&mut self, window: &Window) -> u64 {
        let cwnd = window.cwnd;
        self.epoch = None;
        self.wmax = if cwnd < self.wmax { cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE) } else { cwnd };
        (cwnd * BETA / BETA_SCALE).max(2)
    }

    /// `cubictcp_cwnd_event`: a pause is no part of the stage, whose start moves by its length.
    fn transmits(&mut self, idle: &Idle) {
        let now = Self::jiffies(idle.now);
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + (now - Self::jiffies(idle.last_sent))).min(now);
        }
    }

    /// `bictcp_reset`: erases the knowledge about the path.
    fn timed_out(&mut self, loss: &Loss) {
        (self.count, self.wmax, self.decided_for, self.decided_at) = (0, 0, 0, 0);
        (self.epoch, self.shortest) = (None, None);
        if let Some(hystart) = &mut self.hystart {
            hystart.restart(loss.now, loss.nxt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::{SMSS, idle, loss, start};
    use super::*;
    use crate::cc::{CongestionControl, TimeoutKind};

    fn after_loss(cwnd: u64) -> Cubic6 {
        let mut cubic = Cubic6::new(&Config::linux_6());
        cubic.on_established(&start(cwnd));
        cubic.on_loss(&loss(cwnd));
        cubic
    }

    #[test]
    fn a_loss_leaves_717_of_1024_and_fast_convergence_gives_way() {
        let mut cubic = after_loss(100);
        // 100 717 / 1024 = 70.02.
        assert_eq!((cubic.cwnd() / SMSS, cubic.algorithm.wmax), (70, 100));
        // Below W_max: 70 1741 / 2048 = 59.5; 70 717 / 1024 = 49.01.
        cubic.on_loss(&loss(70));
        assert_eq!((cubic.cwnd() / SMSS, cubic.algorithm.wmax), (49, 59));
    }

    #[test]
    fn the_first_growth_after_a_loss_is_of_the_cubic_function() {
        // K = cbrt(30 2^40 / 410) 2^-10 s: cbrt(30 / 0.4004) = 4.215 s = 4316 2^-10 s, give or take the root's 0.2 %.
        let mut cubic = after_loss(100);
        cubic.algorithm.decide(cubic.window.cwnd, 1000, 1);
        let epoch = cubic.algorithm.epoch.expect("an epoch");
        assert!(epoch.k.abs_diff(4316) < 15, "{}", epoch.k);
        assert_eq!((epoch.start, epoch.origin, epoch.friendly_window), (1000, 100, 70));
        // At t = 0: 100 - 0.4 K^3 = 70: nothing to gain; a segment in 100 windows, 7000.
        assert!(cubic.algorithm.count >= 70 / 2, "{}", cubic.algorithm.count);
    }

    #[test]
    fn the_friendly_region_counts_fifteen_eighths_of_a_window() {
        assert_eq!(FRIENDLY_SCALE, 15);
        // 70 15 / 8 = 131 acknowledged per segment: 132 are more than that, one segment above: 70 / 1.
        let mut epoch = Epoch { start: 0, origin: 100, k: 4316, friendly_acks: 132, friendly_window: 70 };
        assert_eq!(friendly_count(&mut epoch, 70, 7000), 70);
        assert_eq!((epoch.friendly_acks, epoch.friendly_window), (1, 71));
        // 131 are not.
        let mut epoch = Epoch { friendly_acks: 131, friendly_window: 70, ..epoch };
        assert_eq!(friendly_count(&mut epoch, 70, 7000), 7000);
    }

    #[test]
    fn before_any_loss_twenty_acknowledged_are_a_segment_at_most() {
        let mut cubic = Cubic6::new(&Config::linux_6());
        cubic.on_established(&start(100));
        // At the plateau: 100 cwnd, but 20 without a W_max.
        cubic.algorithm.decide(cubic.window.cwnd, 1000, 1);
        assert_eq!(cubic.algorithm.count, 20);
    }

    #[test]
    fn a_pause_moves_the_start_of_the_stage() {
        let mut cubic = after_loss(100);
        cubic.algorithm.decide(cubic.window.cwnd, 1000, 1);
        // 4 s are 1000 jiffies.
        let pause = Idle { last_sent: Instant::from_nanos(5_000_000_000), ..idle(9000, 300) };
        cubic.on_flight(&pause);
        assert_eq!(cubic.algorithm.epoch.expect("an epoch").start, 2000);
        // Never into the future: a stage that began during the pause.
        cubic.on_flight(&pause);
        assert_eq!(cubic.algorithm.epoch.expect("an epoch").start, 2250);
    }

    #[test]
    fn a_timeout_forgets_the_path() {
        let mut cubic = after_loss(100);
        cubic.on_timeout(&loss(70), TimeoutKind::First);
        // The previous reduction is not over: its threshold stays.
        assert_eq!((cubic.cwnd() / SMSS, cubic.ssthresh() / SMSS, cubic.algorithm.wmax), (1, 70, 0));
    }
}
