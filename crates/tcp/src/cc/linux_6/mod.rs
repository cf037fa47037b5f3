//! Congestion control as in Linux 6: whole segments, integers, and the arithmetic of `net/ipv4/tcp_cong.c` and
//! `net/ipv4/tcp_cubic.c`, for runs that are to agree with today's kernel. Names in backquotes are the kernel's.

mod cubic;
mod hystart;
mod window;

pub use cubic::Cubic6;

use super::{Ack, CongestionControl, Loss, Recovered, Start, TimeoutKind};
use crate::config::Config;
use netlull_units::Instant;
use window::Window;

/// Reno's congestion window (`tcp_reno_cong_avoid`).
#[derive(Clone, Debug)]
pub struct Reno6 {
    window: Window,
}

impl Reno6 {
    /// Reno with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self { window: Window::new(config) }
    }

    /// `tcp_reno_cong_avoid`: a segment for every one acknowledged in slow start, then one per window.
    fn open(&mut self, segments: u64) {
        if self.window.is_limited() {
            let rest = self.window.slow_start(segments);
            if rest > 0 {
                self.window.avoid(self.window.cwnd, rest);
            }
        }
    }

    /// `tcp_reno_ssthresh`: half of the window, at least two segments.
    fn threshold(&self) -> u64 {
        (self.window.cwnd / 2).max(2)
    }
}

impl CongestionControl for Reno6 {
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
        if let Some(segments) = self.window.take(ack) {
            self.open(segments);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let ssthresh = self.threshold();
        self.window.enter_recovery(loss, ssthresh);
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        let ssthresh = self.window.takes_threshold(kind).then(|| self.threshold());
        self.window.enter_loss(loss, ssthresh);
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        let segments = self.window.leave_recovery(recovered);
        self.open(segments);
    }

    fn on_idle_restart(&mut self, _now: Instant) {
        self.window.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::window::tests::{SMSS, ack, loss, start};
    use super::*;
    use crate::recovery::RecoveryPhase;

    fn established(segments: u64) -> Reno6 {
        let mut reno = Reno6::new(&Config::linux_6());
        reno.on_established(&start(segments));
        reno
    }

    fn cwnd(reno: &Reno6) -> u64 {
        reno.cwnd() / SMSS
    }

    #[test]
    fn slow_start_counts_segments_and_not_acknowledgements() {
        let mut reno = established(10);
        // Two segments acknowledged at once: 10 + 2.
        reno.on_ack(&ack(2, 10));
        assert_eq!(cwnd(&reno), 12);
        // A stretch acknowledgement of 8: no limit as RFC 3465's L has.
        reno.on_ack(&Ack { nxt: 22 * SMSS, una: 10 * SMSS, ..ack(8, 12) });
        assert_eq!(cwnd(&reno), 20);
    }

    #[test]
    fn what_slow_start_leaves_counts_in_congestion_avoidance() {
        let mut reno = established(10);
        reno.window.ssthresh = 12;
        // 10 + 2 reach the threshold; 3 more count towards the 13th, which needs 12.
        reno.on_ack(&ack(5, 10));
        assert_eq!((cwnd(&reno), reno.window.count), (12, 3));
        // 3 + 9 = 12: the 13th.
        reno.on_ack(&Ack { una: 14 * SMSS, nxt: 22 * SMSS, ..ack(9, 12) });
        assert_eq!((cwnd(&reno), reno.window.count), (13, 0));
    }

    #[test]
    fn a_loss_halves_the_window_and_not_the_flight() {
        let mut reno = established(21);
        reno.on_loss(&loss(15));
        // floor(21 / 2).
        assert_eq!((cwnd(&reno), reno.ssthresh()), (10, 10 * SMSS));
        // In recovery nothing opens the window; what ended it counts after it: 1 of 10.
        reno.on_ack(&Ack { phase: RecoveryPhase::FastRecovery, ..ack(1, 10) });
        assert_eq!(cwnd(&reno), 10);
        reno.on_recovered(&Recovered { now: Instant::ZERO, flight: 9 * SMSS, window: 10 * SMSS });
        assert_eq!((cwnd(&reno), reno.window.count), (10, 1));
    }

    #[test]
    fn a_timeout_in_recovery_keeps_the_threshold_of_the_recovery() {
        let mut reno = established(40);
        reno.on_loss(&loss(40));
        reno.on_timeout(&loss(40), TimeoutKind::First);
        assert_eq!((cwnd(&reno), reno.ssthresh()), (1, 20 * SMSS));
        // Everything of then (40 segments) is acknowledged: the next timeout is another congestion event.
        reno.on_ack(&Ack { una: 40 * SMSS, nxt: 60 * SMSS, phase: RecoveryPhase::Loss, ..ack(1, 1) });
        let before = cwnd(&reno);
        reno.on_timeout(&Loss { nxt: 60 * SMSS, ..loss(20) }, TimeoutKind::First);
        assert_eq!(reno.ssthresh(), (before / 2).max(2) * SMSS);
    }
}
