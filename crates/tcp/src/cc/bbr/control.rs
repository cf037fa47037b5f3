//! Pacing rate, quantum and window (draft-ietf-ccwg-bbr-06 section 5.6), the round-trip time of the empty path (section
//! 5.3.4), and restarting from idle (section 5.4).

use super::{
    ASSUMED_RTT, AckPhase, Bbr, Delivery, INFINITE, LARGEST_CWND, LARGEST_QUANTUM, MIN_PIPE_SEGMENTS, MIN_RTT_FILTER,
    PACING_MARGIN, PROBE_RTT_CWND_GAIN, PROBE_RTT_DURATION, PROBE_RTT_INTERVAL, Phase, RecoveryPhase,
    STARTUP_PACING_GAIN, State,
};
use crate::delivery::DeliveryRate;
use crate::number::{float, whole};
use netlull_units::{Duration, Instant};

impl Bbr {
    /// UpdateControlParameters (section 5.2.3).
    pub(super) fn update_control_parameters(&mut self, ack: &Delivery, rate: &DeliveryRate) {
        if !self.has_rtt && ack.sample.rtt.is_some() {
            // Section 5.6.2: the initial rate comes from the first measured round trip.
            self.init_pacing_rate(self.min_rtt);
        }
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_send_quantum();
        self.set_cwnd(ack, rate);
    }

    /// InitPacingRate (section 5.6.2).
    pub(super) fn init_pacing_rate(&mut self, rtt: Option<Duration>) {
        let rtt = rtt.filter(|rtt| !rtt.is_zero());
        self.has_rtt = rtt.is_some();
        let nominal = float(self.initial_cwnd) / rtt.unwrap_or(ASSUMED_RTT).as_secs_f64();
        self.pacing_rate = STARTUP_PACING_GAIN * nominal;
    }

    /// SetPacingRateWithGain (section 5.6.2): the rate never falls before the pipe was full.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * PACING_MARGIN;
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// SetSendQuantum (section 5.6.3): the volume of one millisecond.
    pub(super) fn set_send_quantum(&mut self) {
        self.send_quantum = whole(self.pacing_rate * 1e-3).min(LARGEST_QUANTUM).max(2 * self.smss);
    }

    /// SetCwnd (section 5.6.4.6).
    fn set_cwnd(&mut self, ack: &Delivery, rate: &DeliveryRate) {
        let max_inflight = self.max_inflight();
        let opened = self.cwnd + ack.sample.newly_acked;
        if self.full_bw_reached {
            self.cwnd = opened.min(max_inflight);
        } else if self.cwnd < max_inflight || rate.delivered() < self.initial_cwnd {
            self.cwnd = opened;
        }
        self.cwnd = self.cwnd.max(self.min_pipe_cwnd()).min(LARGEST_CWND);
        // BoundCwndForProbeRTT (section 5.6.4.5).
        if matches!(self.state, State::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.cwnd = self.cwnd.min(self.volume_cap());
    }

    /// BoundCwndForModel (section 5.6.4.7).
    fn volume_cap(&self) -> u64 {
        let cap = match self.state {
            State::ProbeBw(Phase::Cruise) | State::ProbeRtt { .. } => self.inflight_with_headroom(),
            State::ProbeBw(_) => self.inflight_longterm,
            State::Startup | State::Drain { .. } => INFINITE,
        };
        cap.min(self.inflight_shortterm).max(self.min_pipe_cwnd())
    }

    /// BBR.bdp = BBR.bw * BBR.min_rtt; the initial window before the first round trip (BDPMultiple, section 5.6.4.2).
    pub(super) fn bdp(&self) -> u64 {
        self.bdp_multiple(self.bw, 1.0)
    }

    fn bdp_multiple(&self, bw: f64, gain: f64) -> u64 {
        match self.min_rtt {
            None => self.initial_cwnd,
            Some(min_rtt) => whole(gain * bw * min_rtt.as_secs_f64()),
        }
    }

    /// Inflight (section 5.6.4.2): the volume for a gain and a bandwidth.
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> u64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// UpdateMaxInflight (section 5.6.4.2).
    fn max_inflight(&self) -> u64 {
        self.quantization_budget(self.bdp_multiple(self.bw, self.state.cwnd_gain()) + self.extra_acked)
    }

    /// QuantizationBudget (section 5.6.4.2), with TCP's offload budget of three quanta (section 5.5.8.1).
    fn quantization_budget(&self, inflight: u64) -> u64 {
        let inflight = inflight.max(3 * self.send_quantum).max(self.min_pipe_cwnd());
        if self.state == State::ProbeBw(Phase::Up) { inflight + 2 * self.smss } else { inflight }
    }

    /// BBR.MinPipeCwnd (section 5.6.4.3).
    pub(super) fn min_pipe_cwnd(&self) -> u64 {
        MIN_PIPE_SEGMENTS * self.smss
    }

    /// ProbeRTTCwnd (section 5.6.4.5).
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp_multiple(self.bw, PROBE_RTT_CWND_GAIN).max(self.min_pipe_cwnd())
    }

    /// SaveCwnd (section 5.6.4.4).
    pub(super) fn save_cwnd(&mut self) {
        let is_modulated = self.phase != RecoveryPhase::Open || matches!(self.state, State::ProbeRtt { .. });
        self.prior_cwnd = if is_modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// RestoreCwnd (section 5.6.4.4).
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}

impl Bbr {
    /// UpdateMinRTT (section 5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, ack: &Delivery) {
        let now = ack.now;
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = ack.sample.rtt
            && (self.probe_rtt_expired || self.probe_rtt_min_delay.is_none_or(|least| rtt < least))
        {
            self.probe_rtt_min_delay = Some(rtt);
            self.probe_rtt_min_stamp = now;
        }
        let expired = now > self.min_rtt_stamp + MIN_RTT_FILTER;
        let lower = match (self.probe_rtt_min_delay, self.min_rtt) {
            (Some(delay), Some(least)) => delay < least,
            (delay, _) => delay.is_some(),
        };
        if expired || lower {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    /// CheckProbeRTT (section 5.3.4.3).
    pub(super) fn check_probe_rtt(&mut self, ack: &Delivery, rate: &mut DeliveryRate) {
        let is_probing = matches!(self.state, State::ProbeRtt { .. });
        if !is_probing && self.probe_rtt_expired && !self.idle_restart {
            // EnterProbeRTT comes before SaveCwnd, which then keeps an earlier, larger window.
            self.state = State::ProbeRtt { until: None, round_done: false };
            self.save_cwnd();
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round(rate);
        }
        if let State::ProbeRtt { until, round_done } = self.state {
            self.handle_probe_rtt(ack, rate, until, round_done);
        }
        if ack.sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// HandleProbeRTT (section 5.3.4.3).
    fn handle_probe_rtt(&mut self, ack: &Delivery, rate: &mut DeliveryRate, until: Option<Instant>, round_done: bool) {
        // The rates of such a small window have no information about the path.
        rate.mark_app_limited(ack.inflight);
        if until.is_some() {
            let round_done = round_done || self.round_start;
            self.state = State::ProbeRtt { until, round_done };
            if round_done {
                self.check_probe_rtt_done(ack.now, rate);
            }
        } else if ack.inflight <= self.probe_rtt_cwnd() {
            // Lasts at least 200 ms and one round from here.
            self.state = State::ProbeRtt { until: Some(ack.now + PROBE_RTT_DURATION), round_done: false };
            self.start_round(rate);
        }
    }

    /// CheckProbeRTTDone (section 5.3.4.3).
    fn check_probe_rtt_done(&mut self, now: Instant, rate: &DeliveryRate) {
        if let State::ProbeRtt { until: Some(until), .. } = self.state
            && now > until
        {
            // The next probe is due one interval from now.
            self.probe_rtt_min_stamp = now;
            self.restore_cwnd();
            self.exit_probe_rtt(now, rate);
        }
    }

    /// ExitProbeRTT (section 5.3.4.4).
    pub(super) fn exit_probe_rtt(&mut self, now: Instant, rate: &DeliveryRate) {
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_probe_bw_down(now, rate);
            self.state = State::ProbeBw(Phase::Cruise);
        } else {
            self.state = State::Startup;
        }
    }

    /// HandleRestartFromIdle (section 5.4.1): a transmission with nothing in flight.
    pub(super) fn handle_restart_from_idle(&mut self, now: Instant, rate: &DeliveryRate) {
        if !rate.is_app_limited() {
            return;
        }
        self.idle_restart = true;
        // The draft moves the start alone. Then each burst after a pause would add to `extra_acked`, and the window would
        // grow without end. Linux clears both (`bbr_cwnd_event`).
        (self.extra_acked_start, self.extra_acked_delivered) = (now, 0);
        if self.is_in_probe_bw() {
            self.set_pacing_rate(1.0);
        } else {
            self.check_probe_rtt_done(now, rate);
        }
    }
}
