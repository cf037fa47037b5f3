//! Active Window Management: a window that keeps a queue at its target (g-router section 2.1).

use super::config::{LARGEST_WINDOW, WindowRule};
use crate::ConfigError;
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// The suggested window swnd and the terms of its equations.
#[derive(Clone, Debug)]
pub struct Awm {
    /// The suggested window swnd in bytes, at least the MTU.
    window: f64,
    /// The queue target T in bytes.
    target: f64,
    /// The gain beta in bytes/s.
    beta: f64,
    floor: f64,
    /// The queue at the previous event, q_{k-1}, in bytes.
    queue: f64,
    /// The time of the previous event, t_{k-1}.
    at: Instant,
}

impl Awm {
    /// Creates AWM on an empty queue with the target T = `target`.
    ///
    /// # Errors
    /// If a value of `rule` is out of range.
    pub fn new(target: Bytes, rule: &WindowRule, mtu: Bytes, start: Instant) -> Result<Self, ConfigError> {
        rule.check(mtu)?;
        Ok(Self {
            window: rule.initial_window.as_f64().min(LARGEST_WINDOW),
            target: target.as_f64(),
            beta: rule.beta.as_f64() / 8.0,
            floor: rule.floor(mtu).as_f64(),
            queue: 0.0,
            at: start,
        })
    }

    /// The suggested window swnd in bytes.
    #[inline]
    #[must_use]
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Returns true if the window is at its floor, the smallest window ever suggested.
    #[inline]
    #[must_use]
    pub fn is_at_floor(&self) -> bool {
        self.window <= self.floor
    }

    /// The queue target T in bytes.
    #[inline]
    #[must_use]
    pub fn target(&self) -> f64 {
        self.target
    }

    /// Event k with a queue of `queue` bytes and `flows` flows (N, at least 1). Equations (1) and (2): swnd_k =
    /// max(swnd_{k-1} + DQ_k + DT_k, MTU).
    #[inline]
    pub fn update(&mut self, now: Instant, queue: f64, flows: f64) {
        let change =
            queue_term(self.queue, queue, flows) + target_term(self.beta, now - self.at, self.target, queue, flows);
        self.window = (self.window + change).max(self.floor).min(LARGEST_WINDOW);
        (self.queue, self.at) = (queue, now);
    }

    /// Scales beta when the link's rate changes: beta_k = beta_{k-1} C_k / C_{k-1} (g-router section 2.1).
    pub fn rescale(&mut self, before: BitRate, after: BitRate) {
        self.beta *= after.as_f64() / before.as_f64();
    }

    /// The replacement for the advertised window, awnd <- min(awnd, swnd). `None` if `advertised` is small
    /// enough.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn instead_of(&self, advertised: Bytes) -> Option<Bytes> {
        // swnd lies between the MTU and the largest window, so the cast loses only the fraction.
        let suggested = Bytes::new(u64::from(self.window as u32));
        (advertised > suggested).then_some(suggested)
    }
}

/// DQ_k = (q_{k-1} - q_k) / N in bytes.
#[inline]
fn queue_term(before: f64, queue: f64, flows: f64) -> f64 {
    (before - queue) / flows
}

/// DT_k = beta (t_k - t_{k-1}) (T - q_k) / (N T) in bytes.
#[inline]
fn target_term(beta: f64, passed: Duration, target: f64, queue: f64, flows: f64) -> f64 {
    beta * passed.as_secs_f64() * (target - queue) / (flows * target)
}

#[cfg(test)]
#[allow(clippy::float_cmp, clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// The example values: T = 50 kB, beta = 10 kb/s = 1250 B/s, MTU 1000 B, swnd_0 = 20 kB.
    fn awm() -> Awm {
        let rule = WindowRule { initial_window: Bytes::new(20_000), ..WindowRule::default() };
        Awm::new(Bytes::new(50_000), &rule, Bytes::new(1000), Instant::ZERO).unwrap()
    }

    #[test]
    fn a_queue_that_grows_takes_its_share_from_every_window() {
        // N = 10, q from 0 to 5000 B in 8 ms. DQ = -5000/10 = -500 B;
        // DT = 1250 x 0.008 x (50,000 - 5000) / (10 x 50,000) = 0.9 B.
        let mut awm = awm();
        awm.update(at(8), 5000.0, 10.0);
        assert_eq!(awm.window(), 20_000.0 - 500.0 + 0.9);
        // Back to 3000 B at once: DQ = 200 B, and DT = 0 because no time passed.
        awm.update(at(8), 3000.0, 10.0);
        assert!((awm.window() - 19_700.9).abs() < 1e-9);
    }

    #[test]
    fn a_queue_at_its_target_leaves_the_window_alone_and_one_above_shrinks_it() {
        let mut awm = awm();
        awm.update(at(0), 50_000.0, 5.0);
        let settled = awm.window();
        assert_eq!(settled, 10_000.0, "20,000 - 50,000/5");
        awm.update(at(1000), 50_000.0, 5.0);
        assert_eq!(awm.window(), settled);
        // One second at 1.5 T: DQ = -25,000/5, DT = 1250 x 1 x (-25,000) / (5 x 50,000) = -125 B.
        awm.update(at(2000), 75_000.0, 5.0);
        assert_eq!(awm.window(), settled - 5000.0 - 125.0);
    }

    #[test]
    fn the_window_never_falls_below_an_mtu_nor_grows_beyond_tcps_largest() {
        let mut awm = awm();
        awm.update(at(1), 1e9, 1.0);
        assert_eq!(awm.window(), 1000.0);
        awm.update(Instant::ZERO + Duration::from_secs(u64::MAX / 2_000_000_000), 0.0, 1.0);
        assert_eq!(awm.window(), LARGEST_WINDOW);
    }

    #[test]
    fn beta_follows_the_rate_of_the_link() {
        // From 10 to 25 Mb/s: 1250 x 2.5 = 3125 B/s. One second with an empty queue and N = 5: 3125 / 5 = 625 B.
        let mut awm = awm();
        awm.rescale(BitRate::from_mbps(10), BitRate::from_mbps(25));
        awm.update(at(1000), 0.0, 5.0);
        assert_eq!(awm.window(), 20_625.0);
    }

    #[test]
    fn only_larger_windows_are_written_over() {
        let awm = awm();
        assert_eq!(awm.instead_of(Bytes::new(65_535)), Some(Bytes::new(20_000)));
        assert_eq!(awm.instead_of(Bytes::new(20_000)), None);
        assert_eq!(awm.instead_of(Bytes::ZERO), None);
    }

    #[test]
    fn wrong_values_are_named() {
        let mtu = Bytes::new(1500);
        let wrong = |rule: WindowRule| Awm::new(Bytes::new(50_000), &rule, mtu, Instant::ZERO).unwrap_err().field;
        let good = WindowRule::default();
        assert_eq!(wrong(WindowRule { beta: BitRate::from_bps(0), ..good.clone() }), "beta");
        assert_eq!(wrong(WindowRule { floor: Some(Bytes::ZERO), ..good.clone() }), "floor");
        let above_tcps_largest = Bytes::new(1_073_725_441);
        assert_eq!(
            wrong(WindowRule { floor: Some(above_tcps_largest), initial_window: above_tcps_largest, ..good.clone() }),
            "floor"
        );
        assert_eq!(wrong(WindowRule { initial_window: Bytes::new(1499), ..good }), "initial_window");
    }
}
