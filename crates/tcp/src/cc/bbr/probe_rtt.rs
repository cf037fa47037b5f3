//! The round-trip time of the empty path (draft-ietf-ccwg-bbr-06 section 5.3.4), and restarting from idle (section 5.4).

use super::{AckPhase, Bbr, Delivery, MIN_RTT_FILTER, PROBE_RTT_DURATION, PROBE_RTT_INTERVAL, Phase, State};
use crate::delivery::DeliveryRate;
use netlull_units::Instant;

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
            self.save_cwnd();
            self.state = State::ProbeRtt { until: None, round_done: false };
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
    fn exit_probe_rtt(&mut self, now: Instant, rate: &DeliveryRate) {
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
