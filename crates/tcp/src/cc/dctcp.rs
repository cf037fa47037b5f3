//! DCTCP (RFC 8257): the window of RFC 5681, reduced in proportion to the marked share of the data.

use super::info::{AlgorithmInfo, KnownWith, ParameterInfo, constant};
use super::{Ack, CongestionControl, Idle, Loss, Recovered, Reno, Spurious, Start, TimeoutKind};
use crate::config::{Algorithm, Config, Ecn};
use crate::number::{float, whole};

/// The algorithm's entry of the catalogue.
pub(super) static INFO: AlgorithmInfo = AlgorithmInfo {
    name: "dctcp",
    summary: "the same window, reduced in proportion to the part of the bytes that ECN has marked",
    source: "RFC 8257, RFC 3168",
    algorithm: Algorithm::Dctcp,
    known_with: KnownWith { ecn: Ecn::Dctcp, ..KnownWith::RACK },
    ns2_agent: None,
    linux: Some("dctcp"),
    parameters,
    build: |config, _| Box::new(Dctcp::new(config)).into(),
};

fn parameters() -> Vec<ParameterInfo> {
    vec![constant("g", "", G, "weight of the last window in the estimate of marked bytes", "RFC 8257 section 4.2")]
}

/// g, the weight of the last observation window (RFC 8257 section 4.2).
const G: f64 = 1.0 / 16.0;
/// The smallest window after an echo, in segments, as after a loss (RFC 5681 equation 4).
const LEAST_SEGMENTS: u64 = 2;

/// The congestion window of RFC 8257.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: Reno,
    /// `DCTCP.Alpha`: the estimated share of marked bytes.
    alpha: f64,
    /// `DCTCP.BytesAcked` and `DCTCP.BytesMarked` of this observation window.
    acked: u64,
    marked: u64,
    /// `DCTCP.WindowEnd`: the observation window ends at an acknowledgement beyond this stream offset.
    window_end: u64,
    smss: u64,
}

impl Dctcp {
    /// DCTCP with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        // RFC 8257 section 4.2: alpha begins at 1, so the first mark halves the window.
        Self { reno: Reno::new(config), alpha: 1.0, acked: 0, marked: 0, window_end: 0, smss: u64::from(config.mss) }
    }

    /// RFC 8257 section 3.3 steps 1 to 8, without the reduction.
    #[inline]
    fn observe(&mut self, ack: &Ack) {
        self.acked += ack.acked;
        if ack.ece {
            self.marked += ack.acked;
        }
        // Step 4: SEG.ACK <= WindowEnd is within the observation window.
        if ack.una <= self.window_end {
            return;
        }
        // Steps 5 and 6: M = marked / acked, alpha = alpha (1 - g) + g M.
        let fraction = float(self.marked) / float(self.acked);
        self.alpha = self.alpha * (1.0 - G) + G * fraction;
        self.window_end = ack.nxt;
        (self.acked, self.marked) = (0, 0);
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.reno.cwnd()
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn on_established(&mut self, start: &Start) {
        self.smss = u64::from(start.smss);
        self.reno.on_established(start);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.observe(ack);
        self.reno.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        // RFC 8257 section 3.4: the response to losses is that of conventional TCP.
        self.reno.on_loss(loss);
    }

    fn on_congestion_echo(&mut self, _loss: &Loss) {
        // RFC 8257 section 3.3 step 9: cwnd = cwnd (1 - alpha / 2).
        let window = whole(float(self.reno.cwnd()) * (1.0 - self.alpha / 2.0));
        self.reno.reduce_to(window.max(LEAST_SEGMENTS * self.smss));
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        self.reno.on_timeout(loss, kind);
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.reno.on_recovered(recovered);
    }

    fn on_spurious(&mut self, spurious: &Spurious) {
        self.reno.on_spurious(spurious);
    }

    fn on_idle_restart(&mut self, idle: &Idle) {
        self.reno.on_idle_restart(idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::RecoveryPhase;
    use netlull_units::Instant;

    const SMSS: u64 = 1000;

    fn established(segments: u64) -> Dctcp {
        let mut cc = Dctcp::new(&Config::default());
        let initial_window = segments * SMSS;
        cc.on_established(&Start { now: Instant::ZERO, smss: 1000, initial_window, rtt: None });
        cc
    }

    /// Acknowledges `acked` more bytes, with `ahead` bytes sent beyond.
    struct Path {
        cc: Dctcp,
        una: u64,
        ahead: u64,
    }

    impl Path {
        fn ack(&mut self, acked: u64, ece: bool) {
            self.una += acked;
            self.cc.on_ack(&Ack {
                now: Instant::ZERO,
                acked,
                delivered: acked,
                una: self.una,
                nxt: self.una + self.ahead,
                flight_before: u64::MAX / 4,
                flight: u64::MAX / 4,
                rtt: None,
                srtt: None,
                ece,
                phase: RecoveryPhase::Open,
            });
        }
    }

    fn loss(segments: u64) -> Loss {
        Loss { now: Instant::ZERO, flight: segments * SMSS, window: segments * SMSS, nxt: 0 }
    }

    #[test]
    fn alpha_approaches_the_part_of_the_bytes_that_is_marked() {
        // WindowEnd starts at SND.UNA: the first acknowledgement, 4000 bytes without a mark, ends a window: alpha =
        // 15/16. Then each window has 4 acknowledgements; the last one ends it, with 3000 bytes sent beyond. Of 2000
        // + 1000 + 500 + 500 bytes the 1000 are marked, a quarter: alpha - 1/4 falls by 15/16 each time.
        let mut path = Path { cc: established(10), una: 0, ahead: 3999 };
        path.ack(4000, false);
        assert_eq!(path.cc.alpha, 0.9375);
        let mut distance = 0.9375 - 0.25;
        for _ in 0..200 {
            for (acked, ece) in [(2000, false), (1000, true), (500, false), (500, false)] {
                path.ack(acked, ece);
            }
            distance *= 15.0 / 16.0;
            assert!((path.cc.alpha - 0.25 - distance).abs() < 1e-12, "{}", path.cc.alpha);
        }
        // (15/16)^200 is 2.5e-6.
        assert!((path.cc.alpha - 0.25).abs() < 1e-5);
    }

    #[test]
    fn without_marks_alpha_decays_and_with_all_of_them_it_stays() {
        // (15/16)^16 = 0.3561.
        for (ece, alpha) in [(false, 0.356_1), (true, 1.0)] {
            let mut path = Path { cc: established(10), una: 0, ahead: 999 };
            for _ in 0..16 {
                path.ack(SMSS, ece);
            }
            assert!((path.cc.alpha - alpha).abs() < 1e-4, "{}", path.cc.alpha);
        }
    }

    #[test]
    fn the_observation_window_ends_behind_its_end() {
        // SEG.ACK = WindowEnd is within it: the first acknowledgement sets it to 1000 + 2000; that of 3000 adds its bytes,
        // that of 4000 ends it.
        let mut path = Path { cc: established(10), una: 0, ahead: 2000 };
        path.ack(1000, false);
        let alpha = path.cc.alpha;
        path.ack(2000, true);
        assert_eq!(path.cc.alpha, alpha);
        path.ack(1000, false);
        // M = 2000 / 3000.
        assert!((path.cc.alpha - (alpha * 15.0 / 16.0 + 2.0 / 48.0)).abs() < 1e-12);
    }

    #[test]
    fn an_echo_takes_half_of_alpha_and_a_loss_takes_half() {
        // alpha 1: 100 to 50. alpha 1/4: 80 to 70. A loss: half of the flight.
        let mut cc = established(100);
        cc.on_congestion_echo(&loss(100));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (50 * SMSS, 50 * SMSS));
        let mut cc = established(80);
        cc.alpha = 0.25;
        cc.on_congestion_echo(&loss(80));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (70 * SMSS, 70 * SMSS));
        cc.on_loss(&loss(60));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (30 * SMSS, 30 * SMSS));
        cc.on_timeout(&loss(30), TimeoutKind::First);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (SMSS, 15 * SMSS));
    }

    #[test]
    fn an_echo_leaves_two_segments() {
        let mut cc = established(3);
        cc.on_congestion_echo(&loss(3));
        assert_eq!(cc.cwnd(), 2 * SMSS);
    }

    #[test]
    fn acknowledgements_with_an_echo_do_not_open_the_window() {
        let mut path = Path { cc: established(10), una: 0, ahead: 10_000 };
        path.ack(SMSS, true);
        assert_eq!(path.cc.cwnd(), 10 * SMSS);
        path.ack(SMSS, false);
        assert_eq!(path.cc.cwnd(), 11 * SMSS);
    }
}
