//! Reno of Linux 2.6.22 (`tcp_cong.c`): the window of RFC 5681 in whole segments.
//!
//! Unlike [`Reno`](super::Reno), the kernel adds a segment after a window of acknowledgements, instead of a fraction
//! for each. The other algorithms of Linux also use this growth.

use super::Ack;
use super::info::{AlgorithmInfo, KnownWith};
use super::linux::{Linux, LinuxWindow, Ops};
use super::reno::initial_window;
use crate::config::Algorithm;
use crate::config::Config;

/// The algorithm's entry of the catalogue.
pub(super) static INFO: AlgorithmInfo = AlgorithmInfo {
    name: "reno_2_6_22",
    summary: "Reno of Linux 2.6.22: the same window in whole segments",
    source: "Linux 2.6.22 tcp_cong.c, RFC 5681",
    algorithm: Algorithm::Reno2622,
    known_with: KnownWith::LINUX_2_6,
    ns2_agent: None,
    linux: Some("reno"),
    parameters: || vec![initial_window()],
    build: |config, _| Box::new(Reno2622::new(config)).into(),
};

/// Reno of Linux 2.6.22.
pub type Reno2622 = Linux<RenoOps>;

/// `tcp_reno`: the window alone.
#[derive(Clone, Debug)]
pub struct RenoOps;

impl Ops for RenoOps {
    fn new(_config: &Config) -> Self {
        Self
    }

    #[inline]
    fn open(&mut self, window: &mut LinuxWindow, ack: &Ack) {
        window.reno(ack);
    }
}

#[cfg(test)]
mod tests {
    use super::super::linux::tests::{SMSS, ack, config, loss, start};
    use super::*;
    use crate::cc::CongestionControl;

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
        // ssthresh = 11 / 2 = 5; rate halving may continue to half of it, 2.
        cc.on_loss(&loss(11, 30));
        assert_eq!((cc.ssthresh(), cc.cwnd()), (5 * SMSS, 2 * SMSS));
    }
}
