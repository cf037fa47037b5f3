//! Compound TCP (Tan, Song, Zhang, Sridharan 2006), from `tcp_compound.c` of ns-2.35's TCP/Linux.
//!
//! Symbols are those of K. Tan, J. Song, Q. Zhang, M. Sridharan, A compound TCP approach for
//! high-speed and long distance networks, INFOCOM 2006. Windows are in segments.

use super::delay::{DelayMeter, Round, nearest_microseconds};
use super::info::{AlgorithmInfo, KnownWith, ParameterInfo, constant};
use super::linux::{Linux, LinuxWindow, Ops};
use super::{Ack, Loss};
use crate::config::{Algorithm, Config};

/// The algorithm's entry of the catalogue.
pub(super) static INFO: AlgorithmInfo = AlgorithmInfo {
    name: "compound",
    summary: "Reno's window plus a second window that grows while few segments are queued",
    source: "Tan, Song, Zhang, Sridharan 2006; ns-2.35 tcp_compound.c",
    algorithm: Algorithm::Compound,
    known_with: KnownWith::LINUX_2_6,
    ns2_agent: None,
    linux: None,
    parameters,
    build: |config, _| Box::new(Compound::new(config)).into(),
};

fn parameters() -> Vec<ParameterInfo> {
    let source = "ns-2.35 tcp_compound.c";
    vec![
        constant("alpha", "", format!("1/{}", 1 << ALPHA_SHIFT), "dwnd grows by alpha win^(3/4)", source),
        constant("gamma", "segments", GAMMA, "more queued segments are early congestion", source),
        constant("zeta", "", ZETA, "segments that dwnd gives back for each queued segment", source),
    ]
}

/// alpha = 1/8, as a shift.
const ALPHA_SHIFT: u32 = 3;
/// gamma: more queued segments than this are early congestion.
const GAMMA: u64 = 30;
/// zeta: the segments that dwnd gives back for each queued segment.
const ZETA: u64 = 1;

/// Compound TCP's congestion window: win = cwnd + dwnd.
pub type Compound = Linux<CompoundOps>;

/// The two parts of the window; [`LinuxWindow`] has win, their sum.
#[derive(Clone, Debug)]
pub struct CompoundOps {
    /// cwnd: the loss-based part.
    cwnd: u64,
    /// dwnd: the delay-based part.
    dwnd: u64,
    meter: DelayMeter,
    /// True from the first acknowledgement on.
    started: bool,
    /// Stream offset up to which data has been sent.
    nxt: u64,
}

impl CompoundOps {
    /// `tcp_compound_init`.
    fn start(&mut self, win: u64) {
        self.meter.start(self.nxt);
        self.dwnd = 0;
        self.cwnd = win;
        self.started = true;
    }

    /// Takes recovery's reduction of win from cwnd first.
    #[inline]
    fn follow_window(&mut self, win: u64) {
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

    /// The loss-based part: cwnd grows by one segment per win acknowledgements; in slow start by one for each.
    #[inline]
    fn open_cwnd(&mut self, window: &mut LinuxWindow) {
        let win = window.cwnd;
        let mut increment = self.cwnd <= window.ssthresh;
        if !increment && window.count < win {
            window.count += 1;
        }
        if window.count >= win {
            increment = true;
            window.count = 0;
        }
        if increment && win < window.clamp {
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
}

/// win^k with k = 3/4, the fourth root of win^3 (for HSTCP's response it would be 0.8). It uses the kernel's
/// iteration, which ends when two successive values differ by at most one.
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

/// The kernel's division of 64-bit numbers: beyond 32 bits, only the leading 32 bits of the divisor count.
fn divide(a: u64, divisor: u64) -> u64 {
    let shift = (u64::BITS - divisor.leading_zeros()).saturating_sub(32);
    (a >> shift) / (divisor >> shift).max(1)
}

/// The threshold after a loss is Reno's; [`CompoundOps::follow_window`] splits the window of the recovery.
impl Ops for CompoundOps {
    fn new(_config: &Config) -> Self {
        Self { cwnd: 0, dwnd: 0, meter: DelayMeter::new(), started: false, nxt: 0 }
    }

    #[inline]
    fn acked(&mut self, window: &LinuxWindow, ack: &Ack) {
        self.nxt = ack.nxt;
        if self.started {
            if let Some(rtt) = ack.rtt {
                self.meter.sample(nearest_microseconds(rtt));
            }
        } else {
            // As in ns-2, the first acknowledgement starts the algorithm without a measurement.
            self.start(window.cwnd);
        }
    }

    /// `tcp_compound_cong_avoid`.
    #[inline]
    fn open(&mut self, window: &mut LinuxWindow, ack: &Ack) {
        self.follow_window(window.cwnd);
        if !window.is_limited(ack) {
            return;
        }
        self.open_cwnd(window);
        if let Some(round) = self.meter.end_round(ack, window.cwnd, window.smss) {
            self.adjust_dwnd(&round);
        }
        window.cwnd = self.cwnd + self.dwnd;
    }

    fn duplicate(&mut self, ack: &Ack) {
        self.nxt = ack.nxt;
        if let Some(rtt) = ack.rtt
            && self.started
        {
            self.meter.sample(nearest_microseconds(rtt));
        }
    }

    fn lost(&mut self, loss: &Loss) {
        self.nxt = loss.nxt;
        self.meter.disable();
    }

    fn timed_out(&mut self) {
        self.meter.disable();
    }

    fn reopened(&mut self) {
        self.meter.enable(self.nxt);
    }

    fn restarted(&mut self, window: &LinuxWindow) {
        self.start(window.cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::super::delay::Delays;
    use super::super::linux::tests::{SMSS, ack, config, loss, start};
    use super::*;
    use crate::cc::CongestionControl;

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
        // 256^.75 / 8 - 1 = 7; 30 queued segments exceed gamma: 300 (1 - 0.9).
        let mut cc = established(256, 5);
        cc.algorithm.adjust_dwnd(&round(256, 100_000, 100_000));
        assert_eq!(cc.algorithm.dwnd, 7);
        cc.algorithm.adjust_dwnd(&round(256, 100_000, 110_000));
        assert_eq!(cc.algorithm.dwnd, 14);
        // 16^.75 / 8 = 1: no growth beyond Reno.
        cc.algorithm.adjust_dwnd(&round(16, 100_000, 100_000));
        assert_eq!(cc.algorithm.dwnd, 14);
    }

    #[test]
    fn dwnd_gives_way_to_a_queue() {
        // 300 segments, 20 % queued: 60 of them, 50 in the next.
        let mut cc = established(300, 5);
        cc.algorithm.dwnd = 100;
        cc.algorithm.adjust_dwnd(&round(300, 100_000, 125_000));
        assert_eq!(cc.algorithm.dwnd, 40);
        cc.algorithm.adjust_dwnd(&round(300, 100_000, 125_000));
        assert_eq!(cc.algorithm.dwnd, 0);
    }

    #[test]
    fn too_few_samples_say_nothing() {
        let mut cc = established(256, 5);
        cc.algorithm.adjust_dwnd(&Round { sent: 256, cwnd: 256, delays: None });
        assert_eq!(cc.algorithm.dwnd, 0);
    }

    #[test]
    fn a_smaller_window_is_taken_from_cwnd_first() {
        for (win, cwnd, dwnd, expected) in
            [(50, 30, 20, (30, 20)), (45, 30, 20, (25, 20)), (25, 30, 20, (25, 0)), (15, 10, 20, (15, 0))]
        {
            let mut cc = established(win, 5);
            (cc.algorithm.cwnd, cc.algorithm.dwnd) = (cwnd, dwnd);
            cc.algorithm.follow_window(cc.window.cwnd);
            assert_eq!((cc.algorithm.cwnd, cc.algorithm.dwnd), expected, "{win} {cwnd} {dwnd}");
        }
    }

    #[test]
    fn slow_start_adds_to_cwnd_and_a_loss_halves_the_sum() {
        let mut cc = established(10, 100);
        for expected in [11, 12] {
            cc.on_ack(&ack(1000, 5, cc.window.cwnd));
            assert_eq!(cc.cwnd() / SMSS, expected);
        }
        // 12: threshold 6, rate halving continues to 3.
        cc.on_loss(&loss(12, 20));
        assert_eq!((cc.cwnd() / SMSS, cc.ssthresh() / SMSS), (3, 6));
    }
}
