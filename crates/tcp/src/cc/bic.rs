//! BIC (Xu, Harfoush, Rhee 2004) of Linux 2.6.22.
//!
//! Symbols and the names of phases are those of L. Xu, K. Harfoush, I. Rhee, Binary increase congestion control for fast
//! long-distance networks, INFOCOM 2004. Windows are in segments, times in milliseconds.

use super::Ack;
use super::info::{AlgorithmInfo, KnownWith, ParameterInfo, constant};
use super::linux::{CaState, Floor, Linux, LinuxWindow, Ops};
use crate::config::{Algorithm, Config};
use crate::number::float;

/// The algorithm's entry of the catalogue.
pub(super) static INFO: AlgorithmInfo = AlgorithmInfo {
    name: "bic",
    summary: "binary search for the window of the last loss, then slow and faster probing beyond it",
    source: "Xu, Harfoush, Rhee 2004; Linux 2.6.22 tcp_bic.c",
    algorithm: Algorithm::Bic,
    known_with: KnownWith::LINUX_2_6,
    ns2_agent: None,
    linux: Some("bic"),
    parameters,
    build: |config, _| Box::new(Bic::new(config)).into(),
};

fn parameters() -> Vec<ParameterInfo> {
    let source = "Linux 2.6.22 tcp_bic.c";
    vec![
        constant("beta", "", beta(), "share of the window left after a loss (819/1024)", source),
        constant("S_max", "segments", MAX_INCREMENT, "growth per round trip at most", source),
        constant("B", "", SEARCH_STEP, "a round trip goes one part in B of the way to W_max", source),
        constant("smooth_part", "", SMOOTH_PART, "round trips that the last B segments before W_max take", source),
        constant("low_window", "segments", LOW_WINDOW, "below it the window is Reno's", source),
    ]
}

/// beta with three digits.
pub(super) fn beta() -> String {
    let part = float(BETA) / float(BETA_SCALE);
    format!("{part:.3}")
}

/// beta: 819/1024 of the window remain after a loss.
pub(super) const BETA: u64 = 819;
/// The scale of beta.
pub(super) const BETA_SCALE: u64 = 1024;
/// B: binary search covers a quarter of the distance (half in the paper's algorithm).
const SEARCH_STEP: u64 = 4;
/// S_max: the most segments per round trip.
const MAX_INCREMENT: u64 = 16;
/// Below this window BIC is Reno.
const LOW_WINDOW: u64 = 14;
/// Round trips from W_max - B to W_max: the increment is B / 20 segments there.
const SMOOTH_PART: u64 = 20;
/// Before the first loss: at least a segment for every 20 acknowledgements, 5 % per round trip.
const LONGEST_COUNT_BEFORE_LOSS: u64 = 20;
/// A decision is valid for HZ / 32 milliseconds, or until the window changes.
const DECISION_LIFETIME: u64 = 1000 / 32;

/// Segments per acknowledgement, as a moving average: ratio <- (15 ratio + sample) / 16.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckRatio {
    /// In sixteenths of a segment.
    sixteenths: u64,
}

impl AckRatio {
    const SHIFT: u32 = 4;

    /// Every second segment acknowledged.
    pub const fn new() -> Self {
        Self { sixteenths: 2 << Self::SHIFT }
    }

    #[inline]
    pub fn sample(&mut self, segments: u64) {
        self.sixteenths = self.sixteenths + segments - (self.sixteenths >> Self::SHIFT);
    }

    /// Converts segments to acknowledgements, at least one.
    #[inline]
    pub fn acks(self, segments: u64) -> u64 {
        // A ratio is at least 1/16 after the first sample, and 2 before.
        ((segments << Self::SHIFT) / self.sixteenths.max(1)).max(1)
    }
}

/// W_max after a loss: the window, or less if it was already below the last W_max (fast convergence).
pub(super) fn wmax_after_loss(cwnd: u64, wmax: u64) -> u64 {
    if cwnd < wmax { cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE) } else { cwnd }
}

/// BIC's congestion window.
pub type Bic = Linux<BicOps>;

/// `struct bictcp`.
#[derive(Clone, Debug)]
pub struct BicOps {
    ratio: AckRatio,
    /// Acknowledgements per segment of growth.
    count: u64,
    /// W_max; 0: unknown.
    wmax: u64,
    /// True from a loss until a timeout.
    lost: bool,
    /// The window and the time of the last computation of `count`.
    decided_for: u64,
    decided_at: u64,
}

impl BicOps {
    /// `bictcp_reset`: erases the knowledge about the path.
    const fn unknown() -> Self {
        Self { ratio: AckRatio::new(), count: 0, wmax: 0, lost: false, decided_for: 0, decided_at: 0 }
    }

    /// `bictcp_update`.
    #[inline]
    fn decide(&mut self, cwnd: u64, now: u64) {
        if self.decided_for == cwnd && now - self.decided_at <= DECISION_LIFETIME {
            return;
        }
        self.decided_for = cwnd;
        self.decided_at = now;
        if cwnd <= LOW_WINDOW {
            // Reno, without an allowance for delayed acknowledgements.
            self.count = cwnd;
            return;
        }
        let mut segments = acked_segments_per_increment(cwnd, self.wmax);
        if !self.lost {
            segments = segments.min(LONGEST_COUNT_BEFORE_LOSS);
        }
        self.count = self.ratio.acks(segments);
    }
}

/// Segments acknowledged per segment of growth, above the low window: cwnd / (increment per round trip).
#[inline]
fn acked_segments_per_increment(cwnd: u64, wmax: u64) -> u64 {
    if cwnd < wmax {
        // Binary search increase towards W_max.
        let distance = (wmax - cwnd) / SEARCH_STEP;
        return if distance > MAX_INCREMENT {
            // Additive increase.
            cwnd / MAX_INCREMENT
        } else if distance <= 1 {
            cwnd * SMOOTH_PART / SEARCH_STEP
        } else {
            cwnd / distance
        };
    }
    // The paper's slow start: first as slow as the end of binary search, then faster, up to S_max.
    if cwnd < wmax + SEARCH_STEP {
        cwnd * SMOOTH_PART / SEARCH_STEP
    } else if cwnd < wmax + MAX_INCREMENT * (SEARCH_STEP - 1) {
        cwnd * (SEARCH_STEP - 1) / (cwnd - wmax)
    } else {
        cwnd / MAX_INCREMENT
    }
}

impl Ops for BicOps {
    const FLOOR: Floor = Floor::Ssthresh;

    fn new(_config: &Config) -> Self {
        Self::unknown()
    }

    /// `bictcp_acked`.
    #[inline]
    fn acked(&mut self, window: &LinuxWindow, ack: &Ack) {
        if window.state == CaState::Open {
            self.ratio.sample(window.segments(ack.acked));
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
        let cwnd = window.cwnd;
        self.wmax = wmax_after_loss(cwnd, self.wmax);
        self.lost = true;
        if cwnd <= LOW_WINDOW { window.half() } else { (cwnd * BETA / BETA_SCALE).max(2) }
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

    fn established(cwnd: u64, ssthresh: u64) -> Bic {
        let mut cc = Bic::new(&config(1000, ssthresh));
        cc.on_established(&start(cwnd));
        cc
    }

    #[test]
    fn growth_towards_and_beyond_the_last_maximum() {
        // W_max = 300. 200 below it: a quarter is 50 > 16, so 16 per round trip, 100 / 16 = 6.
        assert_eq!(acked_segments_per_increment(100, 300), 6);
        // 16 below: a quarter is 4 per round trip, 284 / 4 = 71. 5 below: a quarter is 1, 295 20 / 4 = 1475.
        assert_eq!(acked_segments_per_increment(284, 300), 71);
        assert_eq!(acked_segments_per_increment(295, 300), 1475);
        // Up to 3 above: 303 20 / 4 = 1515; up to 47 above: 310 3 / 10 = 93; then 348 / 16 = 21.
        assert_eq!(acked_segments_per_increment(303, 300), 1515);
        assert_eq!(acked_segments_per_increment(310, 300), 93);
        assert_eq!(acked_segments_per_increment(348, 300), 21);
    }

    #[test]
    fn the_ratio_of_segments_to_acknowledgements() {
        // Every second segment acknowledged: 32/16 stays, 100 segments are 50 acknowledgements.
        let mut ratio = AckRatio::new();
        ratio.sample(2);
        assert_eq!(ratio.acks(100), 50);
        // Every segment: 32 + 1 - 2 = 31, 31 + 1 - 1 = 31. Integers keep it there: 100 16 / 31 = 51.
        for _ in 0..100 {
            ratio.sample(1);
        }
        assert_eq!(ratio.acks(100), 51);
        assert_eq!(ratio.acks(0), 1);
    }

    #[test]
    fn a_loss_takes_a_fifth_and_fast_convergence_more_of_the_maximum() {
        // 100 819 / 1024 = 79.98.
        let mut cc = established(100, 200);
        cc.on_loss(&loss(100, 100));
        assert_eq!((cc.cwnd() / SMSS, cc.ssthresh() / SMSS, cc.algorithm.wmax), (79, 79, 100));
        // 79 < 100: W_max = 79 1843 / 2048 = 71.09; 79 819 / 1024 = 63.2.
        cc.on_loss(&loss(79, 200));
        assert_eq!((cc.cwnd() / SMSS, cc.algorithm.wmax), (63, 71));
    }

    #[test]
    fn a_small_window_is_halved_and_grows_as_renos() {
        for (cwnd, expected) in [(14, 7), (15, 11), (3, 2)] {
            let mut cc = established(cwnd, 200);
            cc.on_loss(&loss(cwnd, 100));
            assert_eq!(cc.cwnd() / SMSS, expected);
        }
        let mut cc = established(10, 5);
        cc.on_ack(&ack(1000, 10, 10));
        assert_eq!(cc.algorithm.count, 10);
    }

    #[test]
    fn before_any_loss_the_window_grows_by_a_twentieth() {
        // W_max unknown: 400 / 16 = 25, held to 20; the ratio is 31/16 after the acknowledgement: 20 16 / 31 = 10.
        let mut cc = established(400, 5);
        cc.on_ack(&ack(1000, 10, 400));
        assert_eq!(cc.algorithm.count, 10);
    }

    #[test]
    fn a_decision_holds_for_31_ms() {
        let mut cc = established(100, 5);
        cc.on_loss(&loss(100, 100));
        cc.window.state = CaState::Open;
        cc.window.ssthresh = 5;
        for (now, wmax, expected) in [(1000, 100, 79 / 5), (1031, 300, 79 / 5), (1032, 300, 79 / 16)] {
            cc.algorithm.wmax = wmax;
            cc.on_ack(&ack(now, 200, 79));
            // Increments of 5 (a quarter of 21) and of 16; the ratio is 31/16.
            assert_eq!(cc.algorithm.count, expected * 16 / 31);
        }
    }

    #[test]
    fn a_timeout_forgets() {
        let mut cc = established(100, 200);
        cc.on_timeout(&loss(100, 100), TimeoutKind::First);
        assert_eq!((cc.cwnd() / SMSS, cc.ssthresh() / SMSS, cc.algorithm.wmax, cc.algorithm.lost), (1, 79, 0, false));
    }
}
