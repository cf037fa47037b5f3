//! CUBIC (RFC 9438), with optional HyStart++ (RFC 9406) in the first slow start.
//!
//! The cube root has the same bits on every platform: `f64::cbrt` depends on the platform's mathematics library.

use super::hystart::{HyStart, Verdict};
use super::info::{AlgorithmInfo, KnownWith, ParameterInfo, constant, option};
use super::{Ack, CongestionControl, Cubic6, Idle, Loss, Recovered, Spurious, Start, TimeoutKind, Variable, hystart};
use crate::config::{Algorithm, Config, CwndUnit, Increase, RepeatedTimeout, SsthreshFrom};
use crate::number::{float, whole};
use crate::recovery::RecoveryPhase;
use netlull_document::ConfigError;
use netlull_units::{Bytes, Duration, Instant};

/// The algorithm's entry of the catalogue.
pub(super) static INFO: AlgorithmInfo = AlgorithmInfo {
    name: "cubic",
    summary: "a window that is a cubic function of the time since the last loss; HyStart++ on or off",
    source: "RFC 9438, RFC 9406",
    algorithm: Algorithm::Cubic,
    known_with: KnownWith::RACK,
    ns2_agent: None,
    linux: Some("cubic"),
    parameters,
    build: |config, _| match config.cwnd.cwnd_unit {
        CwndUnit::Bytes => Box::new(Cubic::new(config)).into(),
        CwndUnit::Segments => Box::new(Cubic6::new(config)).into(),
    },
};

fn parameters() -> Vec<ParameterInfo> {
    vec![
        option(
            "hystart",
            Config::default().cwnd.hystart,
            "HyStart++: leaves slow start when round trips grow",
            "RFC 9406",
        ),
        constant("C", "segments/s^3", C, "steepness of the cubic function", "RFC 9438 section 5"),
        constant("beta_cubic", "", BETA, "share of the window left after a loss", "RFC 9438 section 4.6"),
        constant(
            "fast_convergence",
            "",
            format!("{:.2}", FAST_CONVERGENCE),
            "W_max after a loss below the last W_max, over the window",
            "RFC 9438 section 4.7",
        ),
        constant(
            "MIN_RTT_THRESH",
            "ms",
            hystart::LEAST_THRESHOLD.as_secs_f64() * 1e3,
            "least growth of round trips that counts",
            "RFC 9406 section 4.3",
        ),
        constant(
            "MAX_RTT_THRESH",
            "ms",
            hystart::LARGEST_THRESHOLD.as_secs_f64() * 1e3,
            "growth that always counts",
            "RFC 9406 section 4.3",
        ),
    ]
}

/// C in segments per cubic second (RFC 9438 section 5).
const C: f64 = 0.4;
/// beta_cubic (section 4.6).
const BETA: f64 = 0.7;
/// alpha_cubic = 3 (1 - beta) / (1 + beta) (section 4.3): the Reno-friendly increase, segments per round trip.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// W_max after a loss below the last W_max, as a part of cwnd (section 4.7).
const FAST_CONVERGENCE: f64 = (1.0 + BETA) / 2.0;
/// The target is at most this multiple of the window (section 4.2).
const STEEPEST: f64 = 1.5;
/// Windows are at most 2^30 bytes (RFC 7323 section 2.3), so cwnd needs no more.
const LARGEST_CWND: f64 = 1_073_741_824.0;

/// A stage of congestion avoidance: from a reduction, or the end of slow start, to the next reduction.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// t: the time of cwnd updates in this stage, without periods that the application or the receiver limited.
    elapsed: Duration,
    /// K in seconds.
    k: f64,
    /// The plateau of W_cubic in bytes.
    plateau: f64,
    /// W_est in bytes.
    w_est: f64,
    /// alpha_cubic, or 1.
    alpha: f64,
}

impl Stage {
    /// RFC 9438 section 4.2 equation 1: W_cubic(t) = C (t - K)^3 + W_max, in bytes, for C in bytes per cubic second.
    #[inline]
    fn w_cubic(&self, c: f64, t: f64) -> f64 {
        let x = t - self.k;
        c * x * x * x + self.plateau
    }
}

/// The variables before a reduction that may prove needless (RFC 9438 section 4.9).
#[derive(Clone, Copy, Debug)]
struct Saved {
    w_max: f64,
    cwnd_prior: f64,
    stage: Option<Stage>,
}

/// The congestion window of RFC 9438, in bytes with fractions. The arithmetic uses only + - * /, so every platform
/// gives the same bits.
#[derive(Clone, Debug)]
pub struct Cubic {
    cwnd: f64,
    /// cwnd in whole bytes.
    window: u64,
    ssthresh: u64,
    smss: f64,
    /// C in bytes per cubic second.
    c: f64,
    /// W_max; 0 while undefined: before the first loss, and after a timeout.
    w_max: f64,
    /// cwnd_prior: cwnd at the last change of ssthresh; 0 before.
    cwnd_prior: f64,
    stage: Option<Stage>,
    saved: Option<Saved>,
    /// Time of the last acknowledgement of new data.
    last_ack: Instant,
    /// True if it left nothing in flight: a pause may follow.
    drained: bool,
    hystart: Option<HyStart>,
    initial_window: u64,
    increase: Increase,
    ssthresh_from: SsthreshFrom,
    repeated_timeout: RepeatedTimeout,
}

impl Cubic {
    /// CUBIC with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let smss = f64::from(config.mss);
        Self {
            cwnd: smss,
            window: u64::from(config.mss),
            // RFC 5681 section 3.1: the initial ssthresh should be arbitrarily high.
            ssthresh: config.cwnd.initial_ssthresh.map_or(u64::MAX, Bytes::as_u64),
            smss,
            c: C * smss,
            w_max: 0.0,
            cwnd_prior: 0.0,
            stage: None,
            saved: None,
            last_ack: Instant::ZERO,
            drained: false,
            hystart: config.cwnd.hystart.then(HyStart::new),
            initial_window: u64::from(config.mss),
            increase: config.cwnd.increase,
            ssthresh_from: config.cwnd.ssthresh_from,
            repeated_timeout: config.cwnd.repeated_timeout,
        }
    }

    #[inline]
    fn set_cwnd(&mut self, bytes: f64) {
        self.cwnd = bytes.clamp(1.0, LARGEST_CWND);
        self.window = whole(self.cwnd);
    }

    /// RFC 9438 section 5.8: cwnd grows only if it limits the sender. In slow start half of the window in use is
    /// enough (Linux `tcp_is_cwnd_limited`).
    #[inline]
    fn is_limiting(&self, flight_before: u64) -> bool {
        if self.window < self.ssthresh {
            self.window < 2 * flight_before
        } else {
            float(flight_before) + self.smss > self.cwnd
        }
    }

    /// The time since the last acknowledgement, without any pause with nothing in flight. The data acknowledged now
    /// was sent one round trip ago (RFC 9438 section 4.2: t must not include idle periods).
    #[inline]
    fn time_in_use(&mut self, ack: &Ack) -> Duration {
        let mut since = self.last_ack;
        if self.drained
            && let Some(rtt) = ack.rtt.or(ack.srtt)
        {
            let sent = Instant::from_nanos(ack.now.as_nanos().saturating_sub(rtt.as_nanos()));
            since = since.max(sent);
        }
        self.last_ack = ack.now;
        self.drained = ack.flight == 0;
        ack.now.saturating_since(since)
    }

    /// RFC 9438 section 4.10.
    fn open_slow_start(&mut self, ack: &Ack) {
        let smss = whole(self.smss);
        let growth = match (&self.hystart, self.increase) {
            (Some(hystart), _) => hystart.growth(ack.acked, smss),
            // RFC 5681 equation 2: cwnd += min(N, SMSS).
            (None, Increase::PerAck) => ack.acked.min(smss),
            // RFC 3465 sections 2.2 and 2.3: cwnd += min(N, L SMSS), L = 1 after a timeout.
            (None, Increase::ByteCounting { .. }) if ack.phase == RecoveryPhase::Loss => ack.acked.min(smss),
            (None, Increase::ByteCounting { limit }) => ack.acked.min(u64::from(limit) * smss),
        };
        self.set_cwnd(self.cwnd + float(growth));
    }

    /// RFC 9406 section 4.2, after the window has grown.
    #[inline]
    fn watch_round_trips(&mut self, ack: &Ack) {
        if let Some(hystart) = &mut self.hystart
            && hystart.on_ack(ack) == Verdict::Exit
        {
            self.ssthresh = self.window;
            self.hystart = None;
        }
    }

    /// Handles the first acknowledgement of a stage: t = 0.
    #[cold]
    fn begin_stage(&mut self) {
        // RFC 9406 section 4.3: HyStart++ is for the first slow start.
        self.hystart = None;
        // RFC 9438 section 4.1.2: cwnd_prior is also set on leaving the first slow start.
        if self.cwnd_prior == 0.0 {
            self.cwnd_prior = self.cwnd;
        }
        // Sections 4.8 and 4.10: after a timeout, or a slow start left without loss, W_max = cwnd.
        if self.w_max == 0.0 {
            self.w_max = self.cwnd;
        }
        // Section 4.2 equation 2: K = cbrt((W_max - cwnd_epoch) / C). At or above W_max it is 0, and the curve begins
        // at the window (sections 4.8 and 4.10).
        let (plateau, k) = if self.w_max > self.cwnd {
            (self.w_max, cube_root((self.w_max - self.cwnd) / self.c))
        } else {
            (self.cwnd, 0.0)
        };
        // Section 4.3: W_est begins at cwnd_epoch.
        self.stage = Some(Stage { elapsed: Duration::ZERO, k, plateau, w_est: self.cwnd, alpha: ALPHA });
    }

    /// RFC 9438 sections 4.2 to 4.5; `in_use` is the time from the last acknowledgement of the stage to this one.
    #[inline]
    fn open_congestion_avoidance(&mut self, ack: &Ack, in_use: Duration) {
        if self.stage.is_none() {
            self.begin_stage();
        } else if let Some(stage) = &mut self.stage {
            stage.elapsed += in_use;
        }
        let Some(stage) = &mut self.stage else { return };
        let segment_of_window = self.smss / self.cwnd;
        // Section 4.3 figure 4: W_est += alpha_cubic segments_acked / cwnd, here all in bytes.
        stage.w_est += stage.alpha * float(ack.acked) * segment_of_window;
        // From cwnd_prior on, as Reno.
        if stage.w_est >= self.cwnd_prior {
            stage.alpha = 1.0;
        }
        let t = stage.elapsed.as_secs_f64();
        let cwnd = if stage.w_cubic(self.c, t) < stage.w_est {
            // Section 4.3: the Reno-friendly region. An acknowledgement never reduces cwnd.
            self.cwnd.max(stage.w_est)
        } else {
            let rtt = ack.srtt.map_or(0.0, Duration::as_secs_f64);
            // Section 4.2: target = W_cubic(t + RTT), within [cwnd, 1.5 cwnd].
            let target = stage.w_cubic(self.c, t + rtt).clamp(self.cwnd, STEEPEST * self.cwnd);
            let growth = (target - self.cwnd) * segment_of_window;
            // Sections 4.4 and 4.5: cwnd += (target - cwnd) / cwnd for each acknowledgement; or for each segment.
            match self.increase {
                Increase::PerAck => self.cwnd + growth,
                Increase::ByteCounting { .. } => (self.cwnd + growth * float(ack.acked) / self.smss).min(target),
            }
        };
        self.set_cwnd(cwnd);
    }

    /// RFC 9438 section 4.6: ssthresh in bytes, before its lower bounds.
    fn reduced(&self, loss: &Loss) -> f64 {
        BETA * match self.ssthresh_from {
            SsthreshFrom::Flight => float(loss.flight),
            SsthreshFrom::Window => float(loss.window),
        }
    }

    fn save(&mut self) {
        self.saved = Some(Saved { w_max: self.w_max, cwnd_prior: self.cwnd_prior, stage: self.stage });
    }

    /// RFC 9438 sections 4.6 and 4.7: reduces to at least `least` segments.
    fn reduce(&mut self, loss: &Loss, least: f64) {
        self.save();
        // Section 4.7: below the last W_max, the flow makes room for others.
        self.w_max = if self.cwnd < self.w_max { self.cwnd * FAST_CONVERGENCE } else { self.cwnd };
        self.cwnd_prior = self.cwnd;
        let ssthresh = self.reduced(loss);
        self.ssthresh = whole(ssthresh.max(2.0 * self.smss));
        self.set_cwnd(ssthresh.max(least * self.smss));
        self.stage = None;
        self.hystart = None;
    }
}

impl CongestionControl for Cubic {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.window
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn on_established(&mut self, start: &Start) {
        self.smss = f64::from(start.smss);
        self.c = C * self.smss;
        self.initial_window = start.initial_window;
        self.last_ack = start.now;
        self.set_cwnd(float(start.initial_window));
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        let in_use = self.time_in_use(ack);
        if ack.phase == RecoveryPhase::FastRecovery {
            return;
        }
        let slow_start = self.window < self.ssthresh;
        // RFC 3168 section 6.1.2: no growth for an acknowledgement that carries an echo.
        if !ack.ece && self.is_limiting(ack.flight_before) {
            if slow_start {
                self.open_slow_start(ack);
            } else {
                self.open_congestion_avoidance(ack, in_use);
            }
        }
        if slow_start {
            self.watch_round_trips(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reduce(loss, 2.0);
    }

    fn on_congestion_echo(&mut self, loss: &Loss) {
        // RFC 9438 section 4.6: without loss, cwnd may fall to one segment.
        self.reduce(loss, 1.0);
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        // RFC 9438 section 4.8: ssthresh as for a loss; RFC 5681 section 3.1: held if the segment has timed out before.
        if kind == TimeoutKind::First {
            self.save();
        }
        if kind == TimeoutKind::First || self.repeated_timeout == RepeatedTimeout::Recompute {
            self.cwnd_prior = self.cwnd;
            self.ssthresh = whole(self.reduced(loss).max(2.0 * self.smss));
        }
        self.w_max = 0.0;
        self.stage = None;
        self.hystart = None;
        // RFC 5681 section 3.1: the loss window is one segment.
        self.set_cwnd(self.smss);
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.set_cwnd(float(recovered.window));
    }

    fn on_spurious(&mut self, spurious: &Spurious) {
        // RFC 9438 section 4.9: the cubic function goes on where it was.
        if let Some(saved) = self.saved.take() {
            (self.w_max, self.cwnd_prior, self.stage) = (saved.w_max, saved.cwnd_prior, saved.stage);
        }
        self.ssthresh = self.ssthresh.max(spurious.ssthresh);
        if spurious.cwnd > self.window {
            self.set_cwnd(float(spurious.cwnd));
        }
    }

    fn on_idle_restart(&mut self, _idle: &Idle) {
        // RFC 5681 section 4.1: RW = min(IW, cwnd). Slow start follows, and another stage.
        if self.window > self.initial_window {
            self.set_cwnd(float(self.initial_window));
            self.stage = None;
        }
    }

    fn variables(&self, each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        self.each_variable(each);
        Ok(())
    }
}

impl Cubic {
    /// Reports the variables of RFC 9438 section 4.1.2: windows in segments, times in seconds. Before congestion avoidance,
    /// those of a stage are infinite.
    #[cold]
    fn each_variable(&self, each: &mut dyn FnMut(&str, Variable<'_>)) {
        let of_stage = |value: &dyn Fn(&Stage) -> f64| self.stage.as_ref().map_or(f64::INFINITY, value);
        let ssthresh = if self.ssthresh == u64::MAX { f64::INFINITY } else { float(self.ssthresh) / self.smss };
        for (name, value) in [
            ("cwnd", self.cwnd / self.smss),
            ("ssthresh", ssthresh),
            ("W_max", self.w_max / self.smss),
            ("cwnd_prior", self.cwnd_prior / self.smss),
            ("K", of_stage(&|stage| stage.k)),
            ("t", of_stage(&|stage| stage.elapsed.as_secs_f64())),
            ("W_est", of_stage(&|stage| stage.w_est / self.smss)),
            ("alpha_cubic", of_stage(&|stage| stage.alpha)),
        ] {
            each(name, Variable::Number(value));
        }
    }
}

/// The term to add after dividing the bits by three: 2/3 of the exponent's bias 1023, less 0.0331, in units of 2^52.
/// The subtraction balances the error of the first guess.
const BIAS: u64 = 0x2a9f_786c_2268_09d4;

/// The cube root of `x`, with an error of a few units in the last place; `x` is 0, or positive, normal and finite.
///
/// Dividing the bits by three gives a third of the exponent, and nearly the root of the mantissa: at most 3.2 % off.
/// Halley's step y (y^3 + 2 x) / (2 y^3 + x) leaves 2/3 of the cube of an error: 2e-5, 6e-15, then rounding alone.
pub(super) fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut y = f64::from_bits(x.to_bits() / 3 + BIAS);
    for _ in 0..3 {
        let cube = y * y * y;
        y = y * (cube + 2.0 * x) / (2.0 * cube + x);
    }
    y
}

#[cfg(test)]
mod tests;
