//! Reno as in Linux 2.6.22 (`tcp_cong.c`): the window of RFC 5681 in whole segments.
//!
//! What it adds to [`Reno`](super::Reno) is the kernel's arithmetic: a segment after a window's worth of acknowledgements
//! instead of a fraction of one for each. It is what the other algorithms of Linux fall back to.

use super::linux::{Floor, LinuxWindow};
use super::{Ack, CongestionControl, Loss, Recovered, Start, TimeoutKind};
use crate::config::Config;
use netlull_units::Instant;

/// Reno of Linux 2.6.22.
#[derive(Clone, Debug)]
pub struct Reno2622 {
    window: LinuxWindow,
}

impl Reno2622 {
    /// Reno with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self { window: LinuxWindow::new(config) }
    }
}

impl CongestionControl for Reno2622 {
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
        if self.window.may_raise(ack) {
            self.window.reno(ack);
        }
        self.window.finish(ack);
    }

    fn on_loss(&mut self, _loss: &Loss) {
        let half = self.window.half();
        self.window.enter_recovery(half, Floor::HalfSsthresh);
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        if self.window.takes_threshold(kind) {
            self.window.ssthresh = self.window.half();
        }
        self.window.enter_loss(loss);
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.window.recovered(recovered);
    }

    fn on_idle_restart(&mut self, _now: Instant) {
        self.window.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::super::linux::tests::{SMSS, ack, config, loss, start};
    use super::*;

    #[test]
    fn a_window_of_acknowledgements_adds_a_segment_and_a_loss_halves() {
        // ns-2's byte counting: at 10 segments and the threshold below, ten acknowledgements of one segment add one.
        let mut cc = Reno2622::new(&config(1000, 5));
        cc.on_established(&start(10));
        for una in 1..=10 {
            assert_eq!(cc.cwnd(), 10 * SMSS);
            cc.on_ack(&ack(una, una, 10));
        }
        assert_eq!(cc.cwnd(), 11 * SMSS);
        // ssthresh = 11 / 2 = 5; rate halving may go on to half of it, 2.
        cc.on_loss(&loss(11, 30));
        assert_eq!((cc.ssthresh(), cc.cwnd()), (5 * SMSS, 2 * SMSS));
    }
}
