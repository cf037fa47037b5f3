//! Compound TCP (Tan, Song, Zhang, Sridharan 2006) as in the `tcp_compound.c` of ns-2.35's TCP/Linux.
//!
//! Symbols are those of K. Tan, J. Song, Q. Zhang, M. Sridharan, A compound TCP approach for
//! high-speed and long distance networks, INFOCOM 2006. Windows are in segments.

use super::delay::{DelayMeter, Round, nearest_microseconds};
use super::linux::{Finished, Floor, LinuxWindow};
use super::{Ack, CongestionControl, Loss, Recovered, Start, TimeoutKind};
use crate::config::Config;
use netlull_units::Instant;

/// alpha = 1/8, as a shift.
pub(super) const ALPHA_SHIFT: u32 = 3;
/// gamma: more segments queued are early congestion.
pub(super) const GAMMA: u64 = 30;
/// zeta: how many of the segments queued beyond it dwnd gives back.
pub(super) const ZETA: u64 = 1;

/// Compound TCP's congestion window: win = cwnd + dwnd.
#[derive(Clone, Debug)]
pub struct Compound {
    /// win, the sum.
    window: LinuxWindow,
    /// cwnd: the loss-based part.
    cwnd: u64,
    /// dwnd: the delay-based part.
    dwnd: u64,
    meter: DelayMeter,
    /// True once the first acknowledgement has come.
    started: bool,
    /// Stream offset up to which data has been sent.
    nxt: u64,
}

impl Compound {
    /// Compound TCP with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self { window: LinuxWindow::new(config), cwnd: 0, dwnd: 0, meter: DelayMeter::new(), started: false, nxt: 0 }
    }

    /// `tcp_compound_init`.
    fn start(&mut self, nxt: u64) {
        self.meter.start(nxt);
        self.dwnd = 0;
        self.cwnd = self.window.cwnd;
        self.started = true;
    }

    /// What recovery took from win is taken from cwnd first.
    #[inline]
    fn follow_window(&mut self) {
        let win = self.window.cwnd;
        if self.cwnd + self.dwnd <= win {
            return;
        }
        if self.cwnd > win || self.dwnd > win {
            self.cwnd = win;
            self.dwnd = 0;
        } else {
            self.cwnd = win - self.dwnd;
        }
    }

    /// `tcp_compound_cong_avoid`.
    #[inline]
    fn open(&mut self, ack: &Ack) {
        self.follow_window();
        if !self.window.is_limited(ack) {
            return;
        }
        self.open_cwnd();
        if let Some(round) = self.meter.end_round(ack, self.window.cwnd, self.window.smss) {
            self.adjust_dwnd(&round);
        }
        self.window.cwnd = self.cwnd + self.dwnd;
    }

    /// The loss-based part: cwnd grows by a segment per win acknowledgements; in slow start by one for each.
    #[inline]
    fn open_cwnd(&mut self) {
        let win = self.window.cwnd;
        let mut increment = self.cwnd <= self.window.ssthresh;
        if !increment && self.window.count < win {
            self.window.count += 1;
        }
        if self.window.count >= win {
            increment = true;
            self.window.count = 0;
        }
        if increment && win < self.window.clamp {
            self.cwnd += 1;
        }
    }

    /// The delay-based part, once per round trip: dwnd + (alpha win^k - 1)^+ while diff < gamma, (dwnd - zeta diff)^+ beyond.
    fn adjust_dwnd(&mut self, round: &Round) {
        let Some(delays) = round.delays else { return };
        let (_, queued) = round.expected_and_queued(delays);
        if queued < GAMMA << 1 {
            let step = quartic_root(round.sent.saturating_pow(3)) >> ALPHA_SHIFT;
            self.dwnd += step.saturating_sub(1);
        } else {
            self.dwnd = (self.dwnd << 1).saturating_sub(queued * ZETA) >> 1;
        }
    }

    /// A loss: the algorithm's threshold is Reno's; what recovery leaves, [`Self::follow_window`] shares out.
    fn halve(&self) -> u64 {
        self.window.half()
    }
}

/// win^k with k = 3/4 as the fourth root of win^3 (for HSTCP's response it would be 0.8). The kernel's
/// iteration, which ends when two successive values differ by one at most.
fn quartic_root(a: u64) -> u64 {
    let mut x = 1_u64 << ((u64::BITS - a.leading_zeros()) >> 2);
    loop {
        let before = x;
        // x <- (3 x + a / x^3) / 4
        x = (3 * x + divide(a, x.saturating_pow(3))) / 4;
        if before.abs_diff(x) <= 1 {
            return x;
        }
    }
}

/// The kernel's division of 64-bit numbers: of a divisor beyond 32 bits only the leading 32 count.
fn divide(a: u64, divisor: u64) -> u64 {
    let shift = (u64::BITS - divisor.leading_zeros()).saturating_sub(32);
    (a >> shift) / (divisor >> shift).max(1)
}

impl CongestionControl for Compound {
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
        self.nxt = ack.nxt;
        if self.started {
            if let Some(rtt) = ack.rtt {
                self.meter.sample(nearest_microseconds(rtt));
            }
        } else {
            // As in ns-2, the first acknowledgement starts the algorithm and is not measured.
            self.start(ack.nxt);
        }
        if self.window.may_raise(ack) {
            self.open(ack);
        }
        if self.window.finish(ack) == Finished::Reopened {
            self.meter.enable(ack.nxt);
        }
    }

    fn on_duplicate_ack(&mut self, ack: &Ack) {
        self.nxt = ack.nxt;
        if let Some(rtt) = ack.rtt
            && self.started
        {
            self.meter.sample(nearest_microseconds(rtt));
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.nxt = loss.nxt;
        self.window.enter_recovery(self.halve(), Floor::HalfSsthresh);
        self.meter.disable();
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        if self.window.takes_threshold(kind) {
            self.window.ssthresh = self.halve();
        }
        self.window.enter_loss(loss);
        self.meter.disable();
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.window.recovered(recovered);
        self.meter.enable(self.nxt);
    }

    fn on_idle_restart(&mut self, _now: Instant) {
        self.window.restart();
        self.start(self.nxt);
    }
}

#[cfg(test)]
mod tests {
    use super::super::delay::Delays;
    use super::super::linux::tests::{SMSS, ack, config, loss, start};
    use super::*;

    fn established(cwnd: u64, ssthresh: u64) -> Compound {
        let mut cc = Compound::new(&config(1000, ssthresh));
        cc.on_established(&start(cwnd));
        cc
    }

    fn round(sent: u64, base: u64, recent: u64) -> Round {
        Round { sent, cwnd: sent, delays: Some(Delays { base, recent }) }
    }

    #[test]
    fn the_power_of_three_quarters() {
        // 16^.75 = 8, 81^.75 = 27, 256^.75 = 64, 10000^.75 = 1000, 100^.75 = 31.6; the iteration stops early for 2.
        for (win, root) in [(1_u64, 1), (2, 1), (16, 8), (81, 27), (100, 31), (256, 64), (10_000, 1000)] {
            assert_eq!(quartic_root(win.pow(3)), root, "{win}");
        }
    }

    #[test]
    fn dwnd_grows_while_little_is_queued() {
        // 256^.75 / 8 - 1 = 7; 30 segments queued are no longer little: 300 (1 - 0.9).
        let mut cc = established(256, 5);
        cc.adjust_dwnd(&round(256, 100_000, 100_000));
        assert_eq!(cc.dwnd, 7);
        cc.adjust_dwnd(&round(256, 100_000, 110_000));
        assert_eq!(cc.dwnd, 14);
        // 16^.75 / 8 = 1: nothing beyond Reno.
        cc.adjust_dwnd(&round(16, 100_000, 100_000));
        assert_eq!(cc.dwnd, 14);
    }

    #[test]
    fn dwnd_gives_way_to_a_queue() {
        // 300 segments, 20 % queued: 60 of them, 50 in the next.
        let mut cc = established(300, 5);
        cc.dwnd = 100;
        cc.adjust_dwnd(&round(300, 100_000, 125_000));
        assert_eq!(cc.dwnd, 40);
        cc.adjust_dwnd(&round(300, 100_000, 125_000));
        assert_eq!(cc.dwnd, 0);
    }

    #[test]
    fn too_few_samples_say_nothing() {
        let mut cc = established(256, 5);
        cc.adjust_dwnd(&Round { sent: 256, cwnd: 256, delays: None });
        assert_eq!(cc.dwnd, 0);
    }

    #[test]
    fn a_smaller_window_is_taken_from_cwnd_first() {
        for (win, cwnd, dwnd, expected) in
            [(50, 30, 20, (30, 20)), (45, 30, 20, (25, 20)), (25, 30, 20, (25, 0)), (15, 10, 20, (15, 0))]
        {
            let mut cc = established(win, 5);
            (cc.cwnd, cc.dwnd) = (cwnd, dwnd);
            cc.follow_window();
            assert_eq!((cc.cwnd, cc.dwnd), expected, "{win} {cwnd} {dwnd}");
        }
    }

    #[test]
    fn slow_start_adds_to_cwnd_and_a_loss_halves_the_sum() {
        let mut cc = established(10, 100);
        for expected in [11, 12] {
            cc.on_ack(&ack(1000, 5, cc.window.cwnd));
            assert_eq!(cc.cwnd() / SMSS, expected);
        }
        // 12: threshold 6, rate halving on to 3.
        cc.on_loss(&loss(12, 20));
        assert_eq!((cc.cwnd() / SMSS, cc.ssthresh() / SMSS), (3, 6));
    }
}
