//! Slow start and congestion avoidance (RFC 5681): the window of Tahoe, Reno, NewReno and SACK, which differ in loss
//! recovery only; and the same window in whole segments, as in Linux 2.6.22 (`tcp_cong.c`).

use super::info::{AlgorithmInfo, KnownWith, ParameterInfo, option};
use super::linux::{Linux, LinuxWindow, Ops};
use super::{Ack, CongestionControl, Controller, Idle, Loss, Recovered, Reno6, Spurious, Start, TimeoutKind};
use crate::config::{
    Algorithm, Config, CwndUnit, Growth, Increase, InitialWindow, LossRecovery, RepeatedTimeout, SackDetection,
    SsthreshFrom,
};
use crate::recovery::RecoveryPhase;
use netlull_units::Bytes;

/// Tahoe in the catalogue.
pub(super) static TAHOE: AlgorithmInfo = AlgorithmInfo {
    name: "tahoe",
    summary: "the same window; a loss ends in slow start from one segment",
    source: "Jacobson 1988, RFC 3042",
    algorithm: Algorithm::Tahoe,
    known_with: KnownWith::recovery(LossRecovery::Tahoe),
    ns2_agent: None,
    linux: None,
    parameters,
    build,
};

/// Reno in the catalogue.
pub(super) static RENO: AlgorithmInfo = AlgorithmInfo {
    name: "reno",
    summary: "the same window; the first acknowledgement of new data ends fast recovery",
    source: "RFC 2581, RFC 3042",
    algorithm: Algorithm::Reno,
    known_with: KnownWith::recovery(LossRecovery::Reno),
    ns2_agent: None,
    linux: Some("reno"),
    parameters,
    build,
};

/// NewReno in the catalogue.
pub(super) static NEW_RENO: AlgorithmInfo = AlgorithmInfo {
    name: "new_reno",
    summary: "slow start, congestion avoidance and fast recovery with partial acknowledgements, without SACK",
    source: "RFC 5681, RFC 6582, RFC 3042",
    algorithm: Algorithm::NewReno,
    known_with: KnownWith::recovery(LossRecovery::NewReno),
    ns2_agent: None,
    linux: Some("reno"),
    parameters,
    build,
};

/// The window of RFC 5681 with SACK in the catalogue.
pub(super) static SACK: AlgorithmInfo = AlgorithmInfo {
    name: "sack",
    summary: "the same window; selective acknowledgements reveal losses",
    source: "RFC 5681, RFC 2018, RFC 6675, RFC 6937",
    algorithm: Algorithm::Sack,
    known_with: KnownWith::SACK,
    ns2_agent: Some(KnownWith { sack_detection: SackDetection::Counting, ..KnownWith::SACK }),
    linux: Some("reno"),
    parameters,
    build,
};

fn build(config: &Config, _seed: u32) -> Controller {
    match config.cwnd.cwnd_unit {
        CwndUnit::Bytes => Reno::new(config).into(),
        CwndUnit::Segments => Box::new(Reno6::new(config)).into(),
    }
}

fn parameters() -> Vec<ParameterInfo> {
    let meaning = "quantity that a loss halves: the data in flight, or the window";
    vec![initial_window(), option("ssthresh_from", "flight", meaning, "RFC 5681 eq. 4")]
}

/// The default initial window.
pub(super) fn initial_window() -> ParameterInfo {
    let segments = match Config::default().cwnd.initial_window {
        InitialWindow::Rfc6928 => "10".to_owned(),
        InitialWindow::Segments(segments) => segments.to_string(),
    };
    option("initial_window", segments, "segments at the start of a connection, at most 14600 bytes", "RFC 6928")
}

/// cwnd is kept in 2^-16 bytes, so congestion avoidance has no rounding loss.
const FRACTION_BITS: u32 = 16;
/// Windows are at most 2^30 bytes (RFC 7323 section 2.3), so cwnd needs no more.
const LARGEST_CWND: u64 = 1 << 30 << FRACTION_BITS;

/// The congestion window of RFC 5681.
#[derive(Clone, Debug)]
pub struct Reno {
    /// cwnd in 2^-16 bytes.
    cwnd: u64,
    ssthresh: u64,
    /// RFC 3465's `bytes_acked` of congestion avoidance.
    bytes_acked: u64,
    smss: u32,
    /// At most 10,000 segments (`Config::validate`) of less than 2^16 bytes.
    initial_window: u32,
    increase: Increase,
    growth: Growth,
    ssthresh_from: SsthreshFrom,
    repeated_timeout: RepeatedTimeout,
}

impl Reno {
    /// Reno with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let smss = u32::from(config.mss);
        Self {
            cwnd: u64::from(smss) << FRACTION_BITS,
            // RFC 5681 section 3.1: the initial ssthresh should be arbitrarily high.
            ssthresh: config.cwnd.initial_ssthresh.map_or(u64::MAX, Bytes::as_u64),
            bytes_acked: 0,
            smss,
            initial_window: smss,
            increase: config.cwnd.increase,
            growth: config.cwnd.growth,
            ssthresh_from: config.cwnd.ssthresh_from,
            repeated_timeout: config.cwnd.repeated_timeout,
        }
    }

    #[inline]
    fn smss(&self) -> u64 {
        u64::from(self.smss)
    }

    #[inline]
    fn set_cwnd(&mut self, bytes: u64) {
        self.cwnd = (bytes << FRACTION_BITS).min(LARGEST_CWND);
        self.bytes_acked = 0;
    }

    /// Sets ssthresh and the window to the decision of an algorithm built on this one.
    pub(super) fn reduce_to(&mut self, window: u64) {
        self.ssthresh = window;
        self.set_cwnd(window);
    }

    /// Sets cwnd exactly: with ns-2's fractional windows, halving and recovery keep the fraction.
    fn set_exact(&mut self, fractions: u64) {
        self.cwnd = fractions.min(LARGEST_CWND);
        self.bytes_acked = 0;
    }

    #[inline]
    fn slow_start(&self) -> bool {
        // RFC 5681 section 3.1: slow start when cwnd < ssthresh; when they are equal, either may be used.
        self.cwnd() < self.ssthresh
    }

    /// Linux `tcp_is_cwnd_limited`: in slow start, half of the window in use is enough.
    #[inline]
    fn is_limiting(&self, flight_before: u64) -> bool {
        if self.slow_start() { self.cwnd() < 2 * flight_before } else { flight_before + self.smss() > self.cwnd() }
    }

    /// Opens the window for `acked` newly acknowledged bytes, with `flight_before` in flight before.
    #[inline]
    pub(super) fn open(&mut self, acked: u64, flight_before: u64, phase: RecoveryPhase) {
        if self.growth == Growth::WhenLimited && !self.is_limiting(flight_before) {
            return;
        }
        if self.slow_start() {
            self.open_slow_start(acked, phase);
        } else {
            self.open_congestion_avoidance(acked);
        }
        self.cwnd = self.cwnd.min(LARGEST_CWND);
    }

    #[inline]
    fn open_slow_start(&mut self, acked: u64, phase: RecoveryPhase) {
        let most = match self.increase {
            // RFC 5681 equation 2: cwnd += min(N, SMSS).
            Increase::PerAck => self.smss(),
            // RFC 3465 sections 2.2 and 2.3: cwnd += min(N, L SMSS), L = 1 after a timeout.
            Increase::ByteCounting { .. } if phase == RecoveryPhase::Loss => self.smss(),
            Increase::ByteCounting { limit } => u64::from(limit) * self.smss(),
        };
        self.cwnd += acked.min(most) << FRACTION_BITS;
    }

    #[inline]
    fn open_congestion_avoidance(&mut self, acked: u64) {
        match self.increase {
            // RFC 5681 equation 3: cwnd += SMSS * SMSS / cwnd. SMSS < 2^16, so the dividend fits.
            Increase::PerAck => self.cwnd += ((self.smss() * self.smss()) << (2 * FRACTION_BITS)) / self.cwnd,
            // RFC 3465 section 2.1: one SMSS for every cwnd bytes acknowledged.
            Increase::ByteCounting { .. } => {
                self.bytes_acked += acked;
                let cwnd = self.cwnd();
                if self.bytes_acked >= cwnd {
                    self.bytes_acked -= cwnd;
                    self.cwnd += self.smss() << FRACTION_BITS;
                }
            }
        }
    }

    /// The slow-start threshold after a loss, and the new window in 2^-16 bytes.
    fn halved(&self, loss: &Loss) -> (u64, u64) {
        let least = 2 * self.smss();
        match self.ssthresh_from {
            // RFC 5681 equation 4: ssthresh = max(FlightSize / 2, 2 SMSS).
            SsthreshFrom::Flight => {
                let ssthresh = (loss.flight / 2).max(least);
                (ssthresh, ssthresh << FRACTION_BITS)
            }
            // ns-2 `slowdown`: cwnd = window / 2, ssthresh = the same in whole packets, at least 2.
            SsthreshFrom::Window => {
                let window = if loss.window < self.cwnd() { loss.window << FRACTION_BITS } else { self.cwnd };
                let half = (window / 2).max(self.smss() << FRACTION_BITS);
                (((half >> FRACTION_BITS) / self.smss() * self.smss()).max(least), half)
            }
        }
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.cwnd >> FRACTION_BITS
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn on_established(&mut self, start: &Start) {
        self.smss = start.smss;
        self.initial_window = u32::try_from(start.initial_window).unwrap_or(u32::MAX);
        self.set_cwnd(start.initial_window);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        // RFC 6582 section 3.2: in fast recovery, the recovery sets the window.
        // RFC 3168 section 6.1.2: no growth for an acknowledgement with an ECN echo.
        if ack.phase == RecoveryPhase::FastRecovery || ack.ece {
            return;
        }
        self.open(ack.acked, ack.flight_before, ack.phase);
    }

    fn on_loss(&mut self, loss: &Loss) {
        // RFC 6582 section 3.2 step 2: ssthresh as above; recovery inflates cwnd by the segments that have left.
        let (ssthresh, cwnd) = self.halved(loss);
        self.ssthresh = ssthresh;
        self.set_exact(cwnd);
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        // RFC 5681 section 3.1: ssthresh is held when the segment has been retransmitted by the timer before.
        if kind == TimeoutKind::First || self.repeated_timeout == RepeatedTimeout::Recompute {
            self.ssthresh = self.halved(loss).0;
        }
        // RFC 5681 section 3.1: cwnd must be no more than the loss window LW = 1 full-sized segment.
        self.set_cwnd(self.smss());
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        match self.ssthresh_from {
            SsthreshFrom::Window if recovered.window <= self.cwnd() => {
                self.set_exact(self.cwnd - ((self.cwnd() - recovered.window) << FRACTION_BITS));
            }
            SsthreshFrom::Window | SsthreshFrom::Flight => self.set_cwnd(recovered.window),
        }
    }

    fn on_spurious(&mut self, spurious: &Spurious) {
        self.ssthresh = self.ssthresh.max(spurious.ssthresh);
        if spurious.cwnd > self.cwnd() {
            self.set_cwnd(spurious.cwnd);
        }
    }

    fn on_idle_restart(&mut self, _idle: &Idle) {
        // RFC 5681 section 4.1: RW = min(IW, cwnd).
        if self.cwnd() > u64::from(self.initial_window) {
            self.set_cwnd(u64::from(self.initial_window));
        }
    }
}

/// The algorithm's entry of the catalogue.
pub(super) static RENO_2_6_22: AlgorithmInfo = AlgorithmInfo {
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

/// Reno of Linux 2.6.22: the window of RFC 5681 in whole segments.
///
/// Unlike [`Reno`], the kernel adds a segment after a window of acknowledgements, instead of a fraction for each. The
/// other algorithms of Linux also use this growth.
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
    use super::super::linux::tests as linux;
    use super::*;
    use netlull_units::Instant;

    const SMSS: u64 = 1000;
    const PAUSE: Idle =
        Idle { now: Instant::from_nanos(4), last_sent: Instant::ZERO, rto: netlull_units::Duration::from_nanos(1) };

    fn established(config: &Config, initial_window: u64) -> Reno {
        let mut cc = Reno::new(config);
        cc.on_established(&Start { now: Instant::ZERO, smss: 1000, initial_window, rtt: None });
        cc
    }

    fn ack(acked: u64) -> Ack {
        let now = Instant::ZERO;
        Ack {
            now,
            acked,
            delivered: acked,
            una: 0,
            nxt: 0,
            flight_before: u64::MAX / 4,
            flight: u64::MAX / 4,
            rtt: None,
            srtt: None,
            ece: false,
            phase: RecoveryPhase::Open,
        }
    }

    fn loss(flight: u64, window: u64) -> Loss {
        Loss { now: Instant::ZERO, flight, window, nxt: 0 }
    }

    #[test]
    fn a_needless_reduction_is_restored_and_a_larger_window_stays() {
        let spurious = |cwnd, ssthresh| Spurious { now: Instant::ZERO, flight: 0, cwnd, ssthresh, timed_out: false };
        let mut cc = established(&Config::default(), 10 * SMSS);
        cc.on_loss(&loss(10 * SMSS, 10 * SMSS));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (5 * SMSS, 5 * SMSS));
        cc.on_spurious(&spurious(10 * SMSS, u64::MAX));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (10 * SMSS, u64::MAX));
        cc.on_spurious(&spurious(4 * SMSS, 4 * SMSS));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (10 * SMSS, u64::MAX));
    }

    #[test]
    fn slow_start_adds_what_was_acknowledged_up_to_a_segment() {
        // 10000 + 1000, + min(2000, 1000), + 300.
        let mut cc = established(&Config::default(), 10 * SMSS);
        for acked in [1000, 2000, 300] {
            cc.on_ack(&ack(acked));
        }
        assert_eq!(cc.cwnd(), 12_300);
    }

    #[test]
    fn congestion_avoidance_adds_about_a_segment_per_window() {
        // From 10 segments: 10 acknowledgements add 1/10 + 1/10.1 + ... = 0.9549 segments; exactly, in f64 below.
        let mut cc = established(&Config::default().with(|c| c.cwnd.initial_ssthresh = Some(Bytes::new(1))), 10 * SMSS);
        let mut exact = 10_000.0_f64;
        for _ in 0..10_000 {
            cc.on_ack(&ack(1000));
            exact += 1_000_000.0 / exact;
        }
        // Rounding down 10000 times by less than 2^-16 byte each: less than a byte.
        let error = exact - crate::number::float(cc.cwnd());
        assert!((0.0..2.0).contains(&error), "{error}");
    }

    #[test]
    fn byte_counting_adds_a_segment_per_window_of_bytes() {
        // ssthresh 10: at 10 segments, 10 segments acknowledged by 5 delayed acknowledgements add one.
        let config = Config::default().with(|c| {
            c.cwnd.increase = Increase::ByteCounting { limit: 2 };
            c.cwnd.initial_ssthresh = Some(Bytes::new(10 * SMSS));
        });
        let mut cc = established(&config, 4 * SMSS);
        // Slow start, L = 2: 4 + 2 + 2 + 2.
        for _ in 0..3 {
            cc.on_ack(&ack(2000));
        }
        assert_eq!(cc.cwnd(), 10 * SMSS);
        for expected in [10, 10, 10, 10, 11] {
            cc.on_ack(&ack(2000));
            assert_eq!(cc.cwnd(), expected * SMSS);
        }
    }

    #[test]
    fn byte_counting_is_careful_after_a_timeout() {
        let config = Config::default().with(|c| c.cwnd.increase = Increase::ByteCounting { limit: 2 });
        let mut cc = established(&config, 10 * SMSS);
        cc.on_timeout(&loss(10_000, 10_000), TimeoutKind::First);
        cc.on_ack(&Ack { phase: RecoveryPhase::Loss, ..ack(2000) });
        assert_eq!(cc.cwnd(), 2 * SMSS);
    }

    #[test]
    fn a_loss_halves_the_flight() {
        let mut cc = established(&Config::default(), 20 * SMSS);
        cc.on_loss(&loss(15_000, 20_000));
        assert_eq!((cc.ssthresh(), cc.cwnd()), (7_500, 7_500));
        cc.on_loss(&loss(3_000, 7_500));
        assert_eq!((cc.ssthresh(), cc.cwnd()), (2_000, 2_000));
    }

    #[test]
    fn ns2_halves_the_window() {
        // 15.3 segments: cwnd 7.65, ssthresh 7.
        let mut cc = established(&Config::ns2(), 20 * SMSS);
        cc.on_loss(&loss(9_000, 15_300));
        assert_eq!((cc.ssthresh(), cc.cwnd()), (7_000, 7_650));
        cc.on_loss(&loss(1_000, 1_000));
        assert_eq!((cc.ssthresh(), cc.cwnd()), (2_000, 1_000));
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_holds_ssthresh_when_repeated() {
        let mut cc = established(&Config::default(), 20 * SMSS);
        cc.on_timeout(&loss(20_000, 20_000), TimeoutKind::First);
        assert_eq!((cc.ssthresh(), cc.cwnd()), (10_000, 1_000));
        cc.on_timeout(&loss(1_000, 1_000), TimeoutKind::Repeated);
        assert_eq!((cc.ssthresh(), cc.cwnd()), (10_000, 1_000));
        let mut cc = established(&Config::ns2(), 20 * SMSS);
        cc.on_timeout(&loss(20_000, 20_000), TimeoutKind::First);
        cc.on_timeout(&loss(1_000, 1_000), TimeoutKind::Repeated);
        assert_eq!(cc.ssthresh(), 2_000);
    }

    #[test]
    fn an_unused_window_grows_only_if_asked_to() {
        // 10 segments, 4 in flight: in slow start less than half is used.
        let idle = Ack { flight_before: 4_000, ..ack(1000) };
        let mut cc = established(&Config::default(), 10 * SMSS);
        cc.on_ack(&idle);
        assert_eq!(cc.cwnd(), 11_000);
        let mut cc = established(&Config::default().with(|c| c.cwnd.growth = Growth::WhenLimited), 10 * SMSS);
        cc.on_ack(&idle);
        assert_eq!(cc.cwnd(), 10_000);
        cc.on_ack(&Ack { flight_before: 6_000, ..ack(1000) });
        assert_eq!(cc.cwnd(), 11_000);
    }

    #[test]
    fn idling_falls_back_to_the_initial_window() {
        let mut cc = established(&Config::default(), 4 * SMSS);
        cc.on_idle_restart(&PAUSE);
        assert_eq!(cc.cwnd(), 4 * SMSS);
        cc.on_ack(&ack(1000));
        cc.on_idle_restart(&PAUSE);
        assert_eq!(cc.cwnd(), 4 * SMSS);
    }

    #[test]
    fn the_window_stops_at_what_can_be_advertised() {
        let mut cc = established(&Config::default(), (1 << 30) - 500);
        cc.on_ack(&ack(1000));
        assert_eq!(cc.cwnd(), 1 << 30);
    }

    #[test]
    fn a_window_of_acknowledgements_adds_a_segment_and_a_loss_halves() {
        // ns-2's byte counting: at 10 segments and the threshold below, ten acknowledgements of one segment add one.
        let mut cc = Reno2622::new(&linux::config(1000, 5));
        cc.on_established(&linux::start(10));
        for una in 1..=10 {
            assert_eq!(cc.cwnd(), 10 * linux::SMSS);
            cc.on_ack(&linux::ack(una, una, 10));
        }
        assert_eq!(cc.cwnd(), 11 * linux::SMSS);
        // ssthresh = 11 / 2 = 5; rate halving may continue to half of it, 2.
        cc.on_loss(&linux::loss(11, 30));
        assert_eq!((cc.ssthresh(), cc.cwnd()), (5 * linux::SMSS, 2 * linux::SMSS));
    }
}
