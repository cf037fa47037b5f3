//! Congestion control of Linux 6: whole segments, integers, and the arithmetic of `net/ipv4/tcp_cong.c` and
//! `net/ipv4/tcp_cubic.c`, for runs comparable with a current kernel. Names in backquotes are the kernel's.

mod cubic;
mod hystart;
mod window;

pub use cubic::Cubic6;

use super::{Ack, CongestionControl, Idle, Loss, Recovered, Spurious, Start, TimeoutKind};
use crate::config::Config;
use netlull_units::Instant;
use std::fmt;
use window::Window;

/// `tcp_congestion_ops`: the rules that an algorithm adds to the stack's.
pub trait Ops: Clone + fmt::Debug {
    /// The algorithm with the options of `config`, before the handshake (`init`).
    fn new(config: &Config) -> Self;

    /// Handles the start of data transmission.
    fn established(&mut self, _start: &Start) {}

    /// Handles an acknowledgement (`pkts_acked`).
    #[inline]
    fn acked(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// Congestion avoidance: returns the segments acknowledged per segment of growth, when `segments` more are
    /// acknowledged.
    fn per_increment(&mut self, window: &Window, now: Instant, segments: u64) -> u64;

    /// The threshold after a loss (`ssthresh`).
    fn threshold(&mut self, window: &Window) -> u64;

    /// Handles a transmission with nothing in flight (`CA_EVENT_TX_START`).
    #[inline]
    fn transmits(&mut self, _idle: &Idle) {}

    /// Handles the start of the state after a timeout (`set_state(TCP_CA_Loss)`).
    fn timed_out(&mut self, _loss: &Loss) {}
}

/// An algorithm of Linux 6.
#[derive(Clone, Debug)]
pub struct Linux6<A> {
    window: Window,
    algorithm: A,
}

impl<A: Ops> Linux6<A> {
    /// The algorithm with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self { window: Window::new(config), algorithm: A::new(config) }
    }

    /// `cong_avoid`: one segment per acknowledged segment in slow start, then the algorithm's rule.
    fn open(&mut self, now: Instant, segments: u64) {
        if !self.window.is_limited() {
            return;
        }
        let rest = self.window.slow_start(segments);
        if rest > 0 {
            let every = self.algorithm.per_increment(&self.window, now, rest);
            self.window.avoid(every, rest);
        }
    }
}

impl<A: Ops> CongestionControl for Linux6<A> {
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
        self.algorithm.established(start);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.algorithm.acked(&mut self.window, ack);
        if let Some(segments) = self.window.take(ack) {
            self.open(ack.now, segments);
        }
    }

    fn on_duplicate_ack(&mut self, ack: &Ack) {
        self.algorithm.acked(&mut self.window, ack);
        self.window.repeat(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        let ssthresh = self.algorithm.threshold(&self.window);
        self.window.enter_recovery(loss, ssthresh);
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        let ssthresh = self.window.takes_threshold(kind).then(|| self.algorithm.threshold(&self.window));
        self.window.enter_loss(loss, ssthresh);
        self.algorithm.timed_out(loss);
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        let segments = self.window.leave_recovery(recovered);
        self.open(recovered.now, segments);
    }

    fn on_spurious(&mut self, spurious: &Spurious) {
        self.window.restore(spurious);
    }

    fn on_idle_restart(&mut self, idle: &Idle) {
        self.window.restart(idle);
    }

    fn on_flight(&mut self, idle: &Idle) {
        self.algorithm.transmits(idle);
    }
}

/// Reno's congestion window.
pub type Reno6 = Linux6<RenoOps>;

/// `tcp_reno`: the window alone.
#[derive(Clone, Debug)]
pub struct RenoOps;

impl Ops for RenoOps {
    fn new(_config: &Config) -> Self {
        Self
    }

    /// `tcp_reno_cong_avoid`: a segment per window.
    #[inline]
    fn per_increment(&mut self, window: &Window, _now: Instant, _segments: u64) -> u64 {
        window.cwnd
    }

    /// `tcp_reno_ssthresh`: half of the window, at least two segments.
    fn threshold(&mut self, window: &Window) -> u64 {
        (window.cwnd / 2).max(2)
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
        // A stretch acknowledgement of 8: there is no limit such as RFC 3465's L.
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
        // In recovery the window does not open. The segment that ended it counts afterwards: 1 of 10.
        reno.on_ack(&Ack { phase: RecoveryPhase::FastRecovery, ..ack(1, 10) });
        assert_eq!(cwnd(&reno), 10);
        reno.on_recovered(&Recovered { now: Instant::ZERO, flight: 9 * SMSS, window: 10 * SMSS });
        assert_eq!((cwnd(&reno), reno.window.count), (10, 1));
    }

    #[test]
    fn the_segment_that_proves_a_loss_needless_opens_the_restored_window() {
        let mut reno = established(21);
        reno.on_loss(&loss(21));
        reno.on_ack(&Ack { phase: RecoveryPhase::FastRecovery, ..ack(1, 21) });
        let (now, flight) = (Instant::ZERO, 20 * SMSS);
        // 21 segments, and a threshold of 30: slow start.
        reno.on_spurious(&Spurious { now, flight, cwnd: 21 * SMSS, ssthresh: 30 * SMSS, timed_out: false });
        assert_eq!((cwnd(&reno), reno.ssthresh()), (21, 30 * SMSS));
        reno.on_recovered(&Recovered { now, flight, window: reno.cwnd() });
        assert_eq!(cwnd(&reno), 22);
    }

    #[test]
    fn a_timeout_in_recovery_keeps_the_threshold_of_the_recovery() {
        let mut reno = established(40);
        reno.on_loss(&loss(40));
        reno.on_timeout(&loss(40), TimeoutKind::First);
        assert_eq!((cwnd(&reno), reno.ssthresh()), (1, 20 * SMSS));
        // All data of that time (40 segments) is acknowledged: the next timeout is another congestion event.
        reno.on_ack(&Ack { una: 40 * SMSS, nxt: 60 * SMSS, phase: RecoveryPhase::Loss, ..ack(1, 1) });
        let before = cwnd(&reno);
        reno.on_timeout(&Loss { nxt: 60 * SMSS, ..loss(20) }, TimeoutKind::First);
        assert_eq!(reno.ssthresh(), (before / 2).max(2) * SMSS);
    }
}
