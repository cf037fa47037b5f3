//! CUBIC (Rhee, Xu 2005) as in Linux 2.6.22 (version 2.1), beside RFC 9438's in `cubic.rs`.
//!
//! Sections and symbols are those of I. Rhee, L. Xu, CUBIC: a new TCP-friendly high-speed TCP variant, PFLDnet 2005.
//! Windows are in segments, times in milliseconds or, where the cubic function is computed, in 2^-10 s. Integers
//! throughout, as the kernel has them: products are taken modulo 2^64 where the kernel does not guard them.

use super::bic::{AckRatio, BETA, BETA_SCALE, wmax_after_loss};
use super::linux::{CaState, Floor, LinuxWindow};
use super::{Ack, CongestionControl, Loss, Recovered, Start, TimeoutKind};
use crate::config::Config;
use netlull_units::{Duration, Instant};

/// HZ: milliseconds per second.
const HZ: u64 = 1000;
/// The cubic function's time is in 2^-10 s (`BICTCP_HZ`).
const TIME_BITS: u32 = 10;
/// C = 41/1024, by the 100 ms that stand for a round trip: C / RTT = 410/1024 segments per s^3.
const CUBIC_SCALE: u64 = 41 * 10;
/// 1/(C / RTT) in the units of K^3, 2^(10 + 3 * 10) / 410.
const CUBIC_FACTOR: u64 = (1 << (10 + 3 * TIME_BITS)) / CUBIC_SCALE;
/// S_max: segments per 100 ms at most.
const MAX_INCREMENT: u64 = 16;
/// Acknowledgements per increment while nothing was lost.
const COUNT_BEFORE_LOSS: u64 = 50;
/// A decision holds for HZ / 32 milliseconds, unless the window changes.
const DECISION_LIFETIME: u64 = HZ / 32;
/// 8/3 (1 + beta) / (1 - beta): eighths of windows that Reno with beta must acknowledge for a segment of growth; 23.
const FRIENDLY_SCALE: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);

/// floor(cbrt(x 2^18)) - 10 or so for x below 64, refined for the iteration that follows (`cubic_root`).
const ROOTS: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173, 176, 179,
    181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224, 225, 227,
    229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
];

/// The cube root as the kernel has it, 0.2 % off on average: the leading bits from a table, and one Newton-Raphson step.
fn cubic_root(a: u64) -> u64 {
    let bits = u64::BITS - a.leading_zeros();
    let entry = |index: u64| u64::from(ROOTS[usize::try_from(index).unwrap_or(0) % ROOTS.len()]);
    if bits < 7 {
        return (entry(a) + 35) >> 6;
    }
    // A third of the bits; what is left of `a` has at most six.
    let third = ((bits * 84) >> 8) - 1;
    let guess = ((entry(a >> (3 * third)) + 10) << third) >> 6;
    // x <- (2 x + a / (x (x - 1))) / 3; 341/1024 is a third.
    ((2 * guess + a / (guess * (guess - 1))) * 341) >> 10
}

/// CUBIC's congestion window.
#[derive(Clone, Debug)]
pub struct Cubic2622 {
    window: LinuxWindow,
    ratio: AckRatio,
    /// Acknowledgements per segment of growth.
    count: u64,
    /// `W_max`; 0: unknown.
    wmax: u64,
    /// True once a loss was seen, until a timeout.
    lost: bool,
    /// The window and the time that `count` was computed for.
    decided_for: u64,
    decided_at: u64,
    /// The plateau of the cubic function.
    origin: u64,
    /// K: from the start of the epoch to the plateau, 2^-10 s.
    k: u64,
    /// The shortest round trip in eighths of milliseconds; 0: unknown.
    shortest_delay: u64,
    /// When the epoch began; 0: it has not.
    epoch_start: u64,
    /// Acknowledgements that the Reno window has not grown for yet.
    friendly_acks: u64,
    /// What Reno's window would be (section 3.3 TCP-friendly region).
    friendly_window: u64,
}

impl Cubic2622 {
    /// CUBIC with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            window: LinuxWindow::new(config),
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

    /// `bictcp_reset`: nothing is known about the path.
    fn forget(&mut self) {
        self.ratio = AckRatio::new();
        self.count = 0;
        self.wmax = 0;
        self.lost = false;
        self.decided_for = 0;
        self.decided_at = 0;
        self.origin = 0;
        self.k = 0;
        self.shortest_delay = 0;
        self.epoch_start = 0;
        self.friendly_acks = 0;
        self.friendly_window = 0;
    }

    /// `measure_delay`: from timestamps, the echoed one rounded to a millisecond as ns-2 does.
    #[inline]
    fn measure_delay(&mut self, now: Instant, rtt: Duration) {
        let jiffies = LinuxWindow::jiffies(now);
        // Samples right after a loss are discarded; without an epoch, those of the first second of all.
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
    fn decide(&mut self, now: u64) {
        self.friendly_acks += 1;
        let cwnd = self.window.cwnd;
        if self.decided_for == cwnd && now - self.decided_at <= DECISION_LIFETIME {
            return;
        }
        self.decided_for = cwnd;
        self.decided_at = now;
        if self.epoch_start == 0 {
            self.begin_epoch(now);
        }
        let mut segments = self.cubic_count(now);
        if !self.lost {
            segments = COUNT_BEFORE_LOSS;
        }
        self.count = self.ratio.acks(self.friendly_count(segments));
    }

    fn begin_epoch(&mut self, now: u64) {
        let cwnd = self.window.cwnd;
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
    /// W(t) = C / RTT (t - K)^3 + W_max (equation 1) a round trip from now.
    fn cubic_count(&self, now: u64) -> u64 {
        let cwnd = self.window.cwnd;
        let t = ((now + (self.shortest_delay >> 3) - self.epoch_start) << TIME_BITS) / HZ;
        let distance = t.abs_diff(self.k);
        let cube = CUBIC_SCALE.wrapping_mul(distance).wrapping_mul(distance).wrapping_mul(distance);
        let delta = cube >> (10 + 3 * TIME_BITS);
        let target = if t < self.k { self.origin.wrapping_sub(delta) } else { self.origin + delta };
        // cwnd (W(t) - cwnd) acknowledgements; at the target nearly none.
        let count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.shortest_delay == 0 || t < self.k {
            return count;
        }
        // Section 3.2, above the plateau only: at most S_max RTT / 100 ms segments per round trip.
        count.max(cwnd * HZ * 8 / (10 * MAX_INCREMENT * self.shortest_delay))
    }

    /// Section 3.3: at least as fast as Reno with beta, whose window grows by
    /// 3 (1 - beta) / (1 + beta) segments per round trip.
    fn friendly_count(&mut self, count: u64) -> u64 {
        let cwnd = self.window.cwnd;
        let step = (cwnd * FRIENDLY_SCALE) >> 3;
        while self.friendly_acks > step {
            self.friendly_acks -= step;
            self.friendly_window += 1;
        }
        if self.friendly_window > cwnd { count.min(cwnd / (self.friendly_window - cwnd)) } else { count }
    }

    /// `bictcp_recalc_ssthresh`.
    fn ssthresh_after_loss(&mut self) -> u64 {
        let cwnd = self.window.cwnd;
        self.epoch_start = 0;
        self.wmax = wmax_after_loss(cwnd, self.wmax);
        self.lost = true;
        (cwnd * BETA / BETA_SCALE).max(2)
    }
}

impl CongestionControl for Cubic2622 {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.window.bytes()
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.window.ssthresh_bytes()
    }

    fn on_established(&mut self, start: &Start) {
        self.window.establish(start);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.window.note(ack);
        if self.window.state == CaState::Open {
            // `bictcp_acked`, and `data_acked` of `bictcp_cong_avoid`.
            self.ratio.sample(self.window.segments(ack.acked));
            if let Some(rtt) = ack.rtt {
                self.measure_delay(ack.now, rtt);
            }
        }
        if self.window.may_raise(ack) && self.window.is_limited(ack) {
            if self.window.in_slow_start() {
                self.window.slow_start();
            } else {
                self.decide(LinuxWindow::jiffies(ack.now));
                self.window.avoid(self.count);
            }
        }
        self.window.finish(ack);
    }

    fn on_loss(&mut self, _loss: &Loss) {
        let ssthresh = self.ssthresh_after_loss();
        self.window.enter_recovery(ssthresh, Floor::Ssthresh);
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        if self.window.takes_threshold(kind) {
            self.window.ssthresh = self.ssthresh_after_loss();
        }
        self.window.enter_loss(loss);
        // `bictcp_state(TCP_CA_Loss)`.
        self.forget();
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.window.recovered(recovered);
    }

    fn on_idle_restart(&mut self, _now: Instant) {
        self.window.restart();
    }
}
