//! Vegas of Linux 2.6.22.
//!
//! Sections are those of L. Brakmo, L. Peterson, TCP Vegas: end to end congestion avoidance on a global internet,
//! JSAC 13(8), 1995. Three points differ from the paper: the window doubles in every round trip of slow start, losses
//! are found as in any other Linux TCP, and the shortest round trip of the last window counts. Windows are in
//! segments.

use crate::cc::delay::{DelayMeter, Delays, Round, microseconds};
use crate::cc::linux::{Linux, LinuxWindow, Ops};
use crate::cc::{Ack, Loss};
use crate::config::{Config, VegasBounds};

/// Linux's Vegas.
pub type VegasLinux = Linux<VegasOps>;

/// `struct vegas`.
#[derive(Clone, Debug)]
pub struct VegasOps {
    meter: DelayMeter,
    bounds: VegasBounds,
    /// True from the first acknowledgement on.
    started: bool,
    /// Stream offset up to which data has been sent.
    nxt: u64,
}

impl VegasOps {
    /// Judges the path, once per round trip.
    fn adjust(&self, window: &mut LinuxWindow, round: &Round, delays: Delays) {
        let (target, queued) = round.expected_and_queued(delays);
        if window.in_slow_start() {
            self.leave_slow_start(window, target, queued);
            window.slow_start();
        } else {
            self.avoid_congestion(window, round.cwnd, queued);
        }
        window.cwnd = window.cwnd.min(window.clamp).max(2);
    }

    /// Section 3.3: slow start ends with more than gamma segments queued.
    fn leave_slow_start(&self, window: &mut LinuxWindow, target: u64, queued: u64) {
        if queued > u64::from(self.bounds.gamma) << 1 {
            window.ssthresh = 2;
            // The path's capacity, plus one segment for the remainder of the division.
            window.cwnd = window.cwnd.min((target >> 1) + 1);
        }
    }

    /// Section 3.2: the target is between alpha and beta segments queued. The window moves one segment from its start
    /// in the round trip.
    fn avoid_congestion(&self, window: &mut LinuxWindow, before: u64, queued: u64) {
        let wanted = if queued > u64::from(self.bounds.beta) << 1 {
            before.saturating_sub(1)
        } else if queued < u64::from(self.bounds.alpha) << 1 {
            before + 1
        } else {
            before
        };
        let cwnd = window.cwnd;
        // One step towards the target.
        if wanted > cwnd {
            window.cwnd += 1;
        } else if wanted < cwnd {
            window.cwnd -= 1;
        }
    }
}

impl Ops for VegasOps {
    fn new(config: &Config) -> Self {
        Self { meter: DelayMeter::new(), bounds: config.cwnd.vegas, started: false, nxt: 0 }
    }

    #[inline]
    fn acked(&mut self, _window: &LinuxWindow, ack: &Ack) {
        self.nxt = ack.nxt;
        if !self.started {
            // As in ns-2, it starts with the first acknowledgement.
            self.meter.start(ack.nxt);
            self.started = true;
        }
        if let Some(rtt) = ack.rtt {
            self.meter.sample(microseconds(rtt));
        }
    }

    /// `tcp_vegas_cong_avoid`.
    #[inline]
    fn open(&mut self, window: &mut LinuxWindow, ack: &Ack) {
        if !self.meter.is_enabled() {
            window.reno(ack);
            return;
        }
        match self.meter.end_round(ack, window.cwnd, window.smss) {
            None => {
                if window.in_slow_start() {
                    window.slow_start();
                }
            }
            Some(Round { delays: None, .. }) => window.reno(ack),
            Some(round @ Round { delays: Some(delays), .. }) => self.adjust(window, &round, delays),
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

    fn restarted(&mut self, _window: &LinuxWindow) {
        self.meter.start(self.nxt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::linux::tests::{SMSS, ack, config, loss, start};
    use crate::cc::{CongestionControl, TimeoutKind};
    use netlull_units::Duration;

    fn established(cwnd: u64, ssthresh: u64) -> VegasLinux {
        let mut cc = VegasLinux::new(&config(1000, ssthresh).with(|c| c.cwnd.vegas = VegasBounds::LINUX));
        cc.on_established(&start(cwnd));
        cc
    }

    fn round(sent: u64, base: u64, recent: u64) -> (Round, Delays) {
        let delays = Delays { base, recent };
        (Round { sent, cwnd: sent, delays: Some(delays) }, delays)
    }

    #[test]
    fn two_to_four_segments_stay_queued() {
        // 40 segments, 100 ms at least. 105 ms: 40 - 38.0 = 2 queued, in halves 80 - 76 = 4: not below alpha.
        // 104 ms: 80 - 76.9 = 4 in integers; 102 ms: 80 - 78.4 = 2 < 4; 112 ms: 80 - 71.4 = 9 > 8.
        for (recent, expected) in [(102_000, 41), (104_000, 40), (105_000, 40), (111_000, 40), (112_000, 39)] {
            let mut cc = established(40, 5);
            let (round, delays) = round(40, 100_000, recent);
            cc.algorithm.adjust(&mut cc.window, &round, delays);
            assert_eq!(cc.cwnd() / SMSS, expected, "{recent}");
        }
    }

    #[test]
    fn slow_start_ends_at_the_rate_that_the_path_had() {
        // 40 segments at 125 ms of 100: 32 went through, 8 > 1 queued. 32 + 1, and one of slow start.
        let mut cc = established(40, 100);
        let (queued, delays) = round(40, 100_000, 125_000);
        cc.window.note(&ack(0, 10, 40));
        cc.algorithm.adjust(&mut cc.window, &queued, delays);
        assert_eq!((cc.cwnd() / SMSS, cc.ssthresh() / SMSS), (34, 2));
        // One segment queued is allowed: 40 at 102.5 ms, 80 - 78 = 2.
        let mut cc = established(40, 100);
        let (round, delays) = round(40, 100_000, 102_500);
        cc.window.note(&ack(0, 10, 40));
        cc.algorithm.adjust(&mut cc.window, &round, delays);
        assert_eq!((cc.cwnd() / SMSS, cc.ssthresh() / SMSS), (41, 100));
    }

    #[test]
    fn a_round_trip_is_judged_by_its_shortest_sample() {
        // Window 4, above ssthresh 2. The first acknowledgement starts the round trip, which ends beyond segment 4.
        let mut cc = established(4, 2);
        let acked = |una, rtt| Ack { rtt: Some(Duration::from_millis(rtt)), ..ack(1000, una, 4) };
        cc.on_ack(&acked(1, 100));
        for (una, rtt) in [(2, 300), (3, 300), (4, 300)] {
            cc.on_ack(&acked(una, rtt));
            assert_eq!(cc.cwnd() / SMSS, 4);
        }
        // Five samples, the shortest 100 ms: nothing is queued. The window at the start of the round trip is unknown,
        // 0, so growth moves towards 1: a step down.
        cc.on_ack(&acked(5, 300));
        assert_eq!(cc.cwnd() / SMSS, 3);
    }

    #[test]
    fn round_trips_with_few_samples_and_after_losses_are_renos() {
        // Without samples, the end of the round trip counts as an acknowledgement of slow start.
        let mut cc = established(4, 50);
        cc.on_ack(&ack(1000, 1, 4));
        cc.on_loss(&loss(5, 10));
        assert!(!cc.algorithm.meter.is_enabled());
        cc.on_timeout(&loss(5, 10), TimeoutKind::First);
        assert_eq!((cc.cwnd() / SMSS, cc.ssthresh() / SMSS), (1, 2));
        let after = |una, cwnd| Ack { phase: crate::recovery::RecoveryPhase::Loss, ..ack(1000, una, cwnd) };
        for expected in [2, 3] {
            cc.on_ack(&after(5, cc.window.cwnd));
            assert_eq!(cc.cwnd() / SMSS, expected);
        }
        // All data sent before the timeout is acknowledged: Vegas resumes.
        cc.on_ack(&after(10, 3));
        assert!(cc.algorithm.meter.is_enabled());
    }
}
