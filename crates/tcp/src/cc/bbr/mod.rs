//! BBRv3 (draft-ietf-ccwg-bbr-06). A model of the path, with its bandwidth and round trip, sets the pacing rate and
//! the limit of data in flight.
//!
//! Section numbers without a document refer to the draft, and variables have the draft's names. Volumes are bytes of
//! data, rates bytes of data per second.
//!
//! ```text
//!     Startup -> Drain -> ProbeBW_DOWN -> CRUISE -> REFILL -> UP      any -> ProbeRTT -> ProbeBW_CRUISE or Startup
//!                              ^                              |
//!                              +------------------------------+
//! ```

mod control;
mod filter;
mod loss;
mod probe_bw;
#[cfg(test)]
mod tests;
mod variables;

use super::info::{AlgorithmInfo, KnownWith, ParameterInfo, constant};
use super::{Ack, CongestionControl, Delivery, Idle, Loss, Recovered, Spurious, Start, TimeoutKind, Variable};
use crate::config::{Algorithm, Config};
use crate::delivery::{DeliveryRate, LostSegment};
use crate::number::whole;
use crate::recovery::RecoveryPhase;
use filter::{EXTRA_ACKED_ROUNDS, MaxBandwidth, MaxOverRounds, Random};
use netlull_document::ConfigError;
use netlull_units::{BitRate, Duration, Instant};

/// The algorithm's entry of the catalogue.
pub(super) static INFO: AlgorithmInfo = AlgorithmInfo {
    name: "bbr",
    summary: "BBRv3: paces at the bandwidth it measures, with about two bandwidth-delay products at most in flight",
    source: "draft-ietf-ccwg-bbr-06",
    algorithm: Algorithm::Bbr,
    known_with: KnownWith::RACK,
    ns2_agent: None,
    linux: Some("bbr"),
    parameters,
    build: |config, seed| Box::new(Bbr::new(config, seed)).into(),
};

fn parameters() -> Vec<ParameterInfo> {
    let section = "draft-ietf-ccwg-bbr-06 section 2";
    vec![
        constant("StartupPacingGain", "", STARTUP_PACING_GAIN, "rate over the bandwidth measured, in Startup", section),
        constant("DrainPacingGain", "", DRAIN_PACING_GAIN, "the same in Drain", section),
        constant("DefaultCwndGain", "", DEFAULT_CWND_GAIN, "cwnd over the bandwidth-delay product", section),
        constant("LossThresh", "", LOSS_THRESHOLD, "part of a round trip's data whose loss is too much", section),
        constant("Beta", "", BETA, "share of the bounds left after a round trip with too much loss", section),
        constant("Headroom", "", HEADROOM, "part of the highest safe inflight that cruising leaves to others", section),
        constant(
            "MinRTTFilterLen",
            "s",
            MIN_RTT_FILTER.as_secs_f64(),
            "age of a least round trip that counts",
            section,
        ),
        constant("ProbeRTTInterval", "s", PROBE_RTT_INTERVAL.as_secs_f64(), "between looks for a lesser one", section),
    ]
}

/// BBR.StartupPacingGain: 4 ln 2, the smallest gain that doubles the rate in each round (section 2.5).
const STARTUP_PACING_GAIN: f64 = 2.77;
/// BBR.DrainPacingGain (section 2.5).
const DRAIN_PACING_GAIN: f64 = 0.5;
/// Pacing gain of `ProbeBW_DOWN` (section 5.3.3.1).
const DOWN_PACING_GAIN: f64 = 0.90;
/// Pacing gain of `ProbeBW_UP` (section 5.3.3.5).
const UP_PACING_GAIN: f64 = 1.25;
/// BBR.DefaultCwndGain (section 2.6).
const DEFAULT_CWND_GAIN: f64 = 2.0;
/// cwnd gain of `ProbeBW_UP` (section 5.3.3.5).
const UP_CWND_GAIN: f64 = 2.25;
/// BBR.ProbeRTTCwndGain (section 2.16.2).
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// BBR.PacingMarginPercent = 1 (section 2.5), as a factor.
const PACING_MARGIN: f64 = 0.99;
/// BBR.LossThresh (section 2.8).
const LOSS_THRESHOLD: f64 = 0.02;
/// BBR.Beta (section 2.8).
const BETA: f64 = 0.7;
/// BBR.Headroom (section 2.8).
const HEADROOM: f64 = 0.15;
/// BBR.MinPipeCwnd in segments (section 2.8).
const MIN_PIPE_SEGMENTS: u64 = 4;
/// Growth of a round that counts as no plateau (section 5.3.1.2).
const FULL_BW_GROWTH: f64 = 1.25;
/// Rounds without such growth that fill the pipe (section 5.3.1.2).
const FULL_BW_ROUNDS: u8 = 3;
/// BBRStartupFullLossCnt: discontiguous ranges lost in a round that end Startup (section 5.3.1.3).
const STARTUP_FULL_LOSS_COUNT: u8 = 6;
/// Rounds after which Drain ends in any case (section 5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// BBR.MinRTTFilterLen (section 2.16.1).
const MIN_RTT_FILTER: Duration = Duration::from_secs(10);
/// BBR.ProbeRTTDuration (section 2.16.2).
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// BBR.ProbeRTTInterval (section 2.16.2).
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// The shortest wall-clock time between probes; up to a second is added (section 5.3.3.8.2: T_bbr).
const PROBE_WAIT: Duration = Duration::from_secs(2);
/// The largest random addition, in nanoseconds.
const PROBE_WAIT_SPREAD: u64 = 1_000_000_000;
/// The most rounds between probes, for coexistence with Reno (section 5.3.3.8.2: T_reno_bound).
const RENO_ROUNDS: u64 = 63;
/// The largest quantum in bytes (section 5.6.3).
const LARGEST_QUANTUM: u64 = 64 << 10;
/// The round trip assumed before the first measurement (section 5.6.2).
const ASSUMED_RTT: Duration = Duration::from_millis(1);
/// No window can be advertised beyond 2^30 bytes (RFC 7323 section 2.3).
const LARGEST_CWND: u64 = 1 << 30;
/// No bound.
const INFINITE: u64 = u64::MAX;

/// BBR.state (section 5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain { start_round: u64 },
    ProbeBw(Phase),
    ProbeRtt { until: Option<Instant>, round_done: bool },
}

/// The phases of `ProbeBW` (section 5.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Down,
    Cruise,
    Refill,
    Up,
}

impl State {
    /// The pacing gain of the state (section 5.6.1).
    const fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => STARTUP_PACING_GAIN,
            Self::Drain { .. } => DRAIN_PACING_GAIN,
            Self::ProbeBw(Phase::Down) => DOWN_PACING_GAIN,
            Self::ProbeBw(Phase::Up) => UP_PACING_GAIN,
            Self::ProbeBw(Phase::Cruise | Phase::Refill) | Self::ProbeRtt { .. } => 1.0,
        }
    }

    /// The cwnd gain of the state (section 5.6.1).
    const fn cwnd_gain(self) -> f64 {
        match self {
            Self::ProbeBw(Phase::Up) => UP_CWND_GAIN,
            Self::ProbeRtt { .. } => PROBE_RTT_CWND_GAIN,
            _ => DEFAULT_CWND_GAIN,
        }
    }

    /// IsProbingBW (section 5.3.3.9).
    const fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::ProbeBw(Phase::Refill | Phase::Up))
    }
}

/// BBR.ack_phase: the phase of a probe that acknowledgements report on (section 2.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The result of the last bandwidth probe (section 5.3.3.6).
#[derive(Clone, Copy, Debug, Default)]
struct LastProbe {
    /// BBR.prev_probe_too_high.
    too_high: bool,
    /// BBR.prev_probe_precautionary.
    precautionary: bool,
}

/// The estimator of a plateau (section 5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
struct FullBandwidth {
    /// BBR.full_bw.
    baseline: f64,
    /// BBR.full_bw_count.
    rounds: u8,
    /// BBR.full_bw_now.
    now: bool,
}

/// Deliveries and losses of the last round trip (section 5.5.10.3).
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    /// BBR.bw_latest.
    bandwidth: f64,
    /// BBR.inflight_latest.
    inflight: u64,
    /// BBR.is_loss_in_round.
    loss_in_round: bool,
    /// BBR.loss_round_delivered.
    round_delivered: u64,
    /// BBR.loss_round_start.
    round_start: bool,
    /// Discontiguous ranges lost in this round.
    ranges_lost: u8,
    /// Offset after the last lost segment.
    lost_end: u64,
}

/// The model before a recovery, which may turn out to be needless (section 2.15).
#[derive(Clone, Copy, Debug)]
struct Undo {
    /// BBR.undo_state: the state that a loss has ended.
    state: Option<State>,
    /// BBR.undo_bw_shortterm.
    bw_shortterm: f64,
    /// BBR.undo_inflight_shortterm.
    inflight_shortterm: u64,
    /// BBR.undo_inflight_longterm.
    inflight_longterm: u64,
}

/// BBRv3.
#[derive(Clone, Debug)]
pub struct Bbr {
    // Control parameters (section 2.4).
    cwnd: u64,
    pacing_rate: f64,
    send_quantum: u64,
    state: State,
    // Rounds (section 5.5.1).
    round_count: u64,
    round_start: bool,
    next_round_delivered: u64,
    // Bandwidth.
    max_bw: MaxBandwidth,
    bw: f64,
    bw_shortterm: f64,
    full: FullBandwidth,
    full_bw_reached: bool,
    // Volume.
    inflight_shortterm: u64,
    inflight_longterm: u64,
    extra_acked: u64,
    extra_acked_filter: MaxOverRounds,
    extra_acked_delivered: u64,
    extra_acked_start: Instant,
    latest: Latest,
    // Round trips (section 5.3.4).
    min_rtt: Option<Duration>,
    min_rtt_stamp: Instant,
    probe_rtt_min_delay: Option<Duration>,
    probe_rtt_min_stamp: Instant,
    probe_rtt_expired: bool,
    has_rtt: bool,
    // ProbeBW (section 2.14).
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    last_probe: LastProbe,
    bw_probe_up_acked: u64,
    bw_probe_up_rounds: u32,
    probe_up_acked_per_inc: u64,
    rounds_since_probe_up: u64,
    bw_probe_wait: Duration,
    cycle_stamp: Instant,
    // Recovery and idling.
    prior_cwnd: u64,
    phase: RecoveryPhase,
    /// C.delivered at the start of the recovery; [`INFINITE`] until the first delivery in it.
    recovery_delivered: u64,
    /// The time of the last expiration of the retransmission timer.
    timed_out_at: Option<Instant>,
    undo: Undo,
    idle_restart: bool,
    congestion_echo: bool,
    /// C.has_selective_acks.
    selective: bool,
    smss: u64,
    initial_cwnd: u64,
    random: Random,
}

impl Bbr {
    /// BBR before the handshake. `seed` determines its random decisions (section 5.3.3.8: the times of probes). Flows
    /// that share a bottleneck should have different seeds.
    #[must_use]
    pub fn new(config: &Config, seed: u32) -> Self {
        let smss = u64::from(config.mss);
        Self {
            cwnd: smss,
            pacing_rate: 0.0,
            send_quantum: 2 * smss,
            state: State::Startup,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            max_bw: MaxBandwidth::default(),
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            full: FullBandwidth::default(),
            full_bw_reached: false,
            inflight_shortterm: INFINITE,
            inflight_longterm: INFINITE,
            extra_acked: 0,
            extra_acked_filter: MaxOverRounds::default(),
            extra_acked_delivered: 0,
            extra_acked_start: Instant::ZERO,
            latest: Latest::default(),
            min_rtt: None,
            min_rtt_stamp: Instant::ZERO,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: Instant::ZERO,
            probe_rtt_expired: false,
            has_rtt: false,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            last_probe: LastProbe::default(),
            bw_probe_up_acked: 0,
            bw_probe_up_rounds: 0,
            probe_up_acked_per_inc: INFINITE,
            rounds_since_probe_up: 0,
            bw_probe_wait: Duration::ZERO,
            cycle_stamp: Instant::ZERO,
            prior_cwnd: 0,
            phase: RecoveryPhase::Open,
            recovery_delivered: INFINITE,
            timed_out_at: None,
            undo: Undo { state: None, bw_shortterm: 0.0, inflight_shortterm: 0, inflight_longterm: 0 },
            idle_restart: false,
            congestion_echo: false,
            selective: true,
            smss,
            initial_cwnd: smss,
            random: Random::new(seed),
        }
    }

    /// UpdateModelAndState (section 5.2.3).
    fn update_model_and_state(&mut self, ack: &Delivery, rate: &mut DeliveryRate) {
        self.update_latest_delivery_signals(ack, rate);
        self.update_congestion_signals(ack, rate);
        self.update_ack_aggregation(ack);
        self.check_full_bw_reached(ack);
        self.check_startup_done(ack);
        self.check_drain_done(ack, rate);
        self.update_probe_bw_cycle_phase(ack, rate);
        self.update_min_rtt(ack);
        self.check_probe_rtt(ack, rate);
        self.advance_latest_delivery_signals(ack);
        // BoundBWForModel (section 5.5.10.3).
        self.bw = self.max_bw.get().min(self.bw_shortterm);
    }

    /// UpdateRound (section 5.5.1).
    fn update_round(&mut self, ack: &Delivery, rate: &DeliveryRate) {
        if self.next_round_delivered == INFINITE {
            self.start_round(rate);
        }
        self.round_start = ack.sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round(rate);
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
        }
    }

    fn start_round(&mut self, rate: &DeliveryRate) {
        self.next_round_delivered = rate.delivered();
    }

    /// UpdateMaxBw (section 5.5.5): a sample limited by the application counts only if it raises the maximum.
    fn update_max_bw(&mut self, ack: &Delivery, rate: &DeliveryRate) {
        self.update_round(ack, rate);
        let sample = &ack.sample;
        if sample.delivery_rate > 0.0 && (sample.delivery_rate >= self.max_bw.get() || !sample.is_app_limited) {
            self.max_bw.update(sample.delivery_rate);
        }
    }

    /// UpdateACKAggregation (section 5.5.9).
    fn update_ack_aggregation(&mut self, ack: &Delivery) {
        let interval = ack.now.saturating_since(self.extra_acked_start);
        let mut expected = whole(self.bw * interval.as_secs_f64());
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0;
            self.extra_acked_start = ack.now;
            expected = 0;
        }
        self.extra_acked_delivered += ack.sample.newly_acked;
        let extra = (self.extra_acked_delivered - expected).min(self.cwnd);
        let rounds = if self.full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked = self.extra_acked_filter.update(self.round_count, extra, rounds);
    }

    /// CheckFullBWReached (section 5.3.1.2).
    fn check_full_bw_reached(&mut self, ack: &Delivery) {
        if self.full.now || !self.round_start || ack.sample.is_app_limited {
            return;
        }
        let rate = ack.sample.delivery_rate;
        if rate >= self.full.baseline * FULL_BW_GROWTH {
            self.full = FullBandwidth { baseline: rate, ..FullBandwidth::default() };
            return;
        }
        self.full.rounds += 1;
        if self.full.rounds >= FULL_BW_ROUNDS {
            self.full.now = true;
            self.full_bw_reached = true;
        }
    }

    /// CheckStartupDone (section 5.3.1.1).
    fn check_startup_done(&mut self, ack: &Delivery) {
        self.check_startup_high_loss(ack);
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain { start_round: self.round_count };
        }
    }

    /// CheckDrainDone (section 5.3.2).
    fn check_drain_done(&mut self, ack: &Delivery, rate: &DeliveryRate) {
        let State::Drain { start_round } = self.state else {
            return;
        };
        if ack.inflight <= self.inflight(self.bw, 1.0) || self.round_count > start_round + DRAIN_ROUNDS {
            self.start_probe_bw_down(ack.now, rate);
        }
    }
}

impl CongestionControl for Bbr {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// BBR has no threshold.
    #[inline]
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn reseed(&mut self, seed: u32) {
        self.random = Random::new(seed);
    }

    /// OnInit (section 5.2.1).
    fn on_established(&mut self, start: &Start) {
        self.smss = u64::from(start.smss);
        self.initial_cwnd = start.initial_window;
        self.cwnd = start.initial_window;
        self.min_rtt = start.rtt;
        self.min_rtt_stamp = start.now;
        self.probe_rtt_min_delay = start.rtt;
        self.probe_rtt_min_stamp = start.now;
        self.extra_acked_start = start.now;
        self.init_pacing_rate(start.rtt);
        self.set_send_quantum();
    }

    /// Does nothing: the model follows deliveries, not acknowledgement numbers.
    #[inline]
    fn on_ack(&mut self, _ack: &Ack) {}

    /// OnEnterFastRecovery (section 5.6.4.4).
    fn on_loss(&mut self, _loss: &Loss) {
        self.save_state_upon_loss();
        self.recovery_delivered = INFINITE;
        self.phase = RecoveryPhase::FastRecovery;
    }

    /// Handles an ECN echo like one lost segment. Section 3.7 requires a response to congestion, and leaves its form
    /// open.
    fn on_congestion_echo(&mut self, _loss: &Loss) {
        self.congestion_echo = true;
    }

    /// OnEnterRTO (section 5.6.4.4): the window allows one segment, in addition to the data that stays in flight when
    /// the lost data has been marked. A timer that expires in recovery begins no other one.
    fn on_timeout(&mut self, loss: &Loss, _kind: TimeoutKind) {
        if self.phase == RecoveryPhase::Open {
            self.save_state_upon_loss();
        } else {
            self.save_cwnd();
        }
        self.phase = RecoveryPhase::Loss;
        self.timed_out_at = Some(loss.now);
        self.cwnd = self.smss;
    }

    /// Does nothing: the next delivery has the information.
    fn on_recovered(&mut self, _recovered: &Recovered) {}

    fn on_spurious(&mut self, _spurious: &Spurious) {
        self.handle_spurious_loss_detection();
    }

    /// Does nothing: pacing makes a smaller window unnecessary (section 5.4.2).
    fn on_idle_restart(&mut self, _idle: &Idle) {}

    fn wants_deliveries(&self) -> bool {
        true
    }

    /// UpdateOnACK (section 5.2.3).
    fn on_delivery(&mut self, ack: &Delivery, rate: &mut DeliveryRate) {
        self.selective = ack.selective;
        if std::mem::take(&mut self.congestion_echo) {
            self.on_mark(ack, rate);
        }
        self.update_model_and_state(ack, rate);
        match (self.phase, ack.phase) {
            (RecoveryPhase::Open, RecoveryPhase::Open) => {}
            (_, RecoveryPhase::Open) => self.restore_cwnd(),
            // The losses of this recovery follow a mark that already caused a reduction.
            (RecoveryPhase::Open, _) => self.save_state_upon_loss(),
            _ => {}
        }
        self.phase = ack.phase;
        if self.recovery_delivered == INFINITE {
            self.recovery_delivered = rate.delivered();
        }
        self.update_control_parameters(ack, rate);
    }

    fn on_marked_lost(&mut self, now: Instant, lost: &LostSegment, rate: &DeliveryRate) {
        self.handle_lost_segment(now, lost, rate);
    }

    fn on_restart(&mut self, now: Instant, rate: &DeliveryRate) {
        self.handle_restart_from_idle(now, rate);
    }

    #[inline]
    fn pacing_rate(&self) -> Option<BitRate> {
        // A rate of zero would stop transmission for ever.
        Some(BitRate::from_bps(whole(self.pacing_rate * 8.0).max(1)))
    }

    #[inline]
    fn send_quantum(&self) -> u64 {
        self.send_quantum
    }

    fn variables(&self, each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        self.each_variable(each);
        Ok(())
    }

    #[inline]
    fn owns_window(&self) -> bool {
        true
    }
}
