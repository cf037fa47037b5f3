//! The response to losses (draft-ietf-ccwg-bbr-06 section 5.5.10).

use super::{
    BETA, Bbr, Delivery, FullBandwidth, INFINITE, LOSS_THRESHOLD, Latest, Phase, RecoveryPhase,
    STARTUP_FULL_LOSS_COUNT, State, Undo,
};
use crate::delivery::{DeliveryRate, LostSegment};
use crate::number::{float, whole};
use netlull_units::Instant;

/// Losses over a flight: RS.lost and RS.tx_in_flight of the draft.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlightLoss {
    pub lost: u64,
    pub tx_in_flight: u64,
    pub is_app_limited: bool,
}

impl FlightLoss {
    /// IsInflightTooHigh: more than 2 % of the flight is lost.
    fn is_too_high(&self) -> bool {
        float(self.lost) > float(self.tx_in_flight) * LOSS_THRESHOLD
    }
}

impl Bbr {
    /// IsInflightTooHigh (section 5.5.10.2); without SACK, any loss.
    pub(super) fn is_inflight_too_high(ack: &Delivery) -> bool {
        let sample = &ack.sample;
        let flight =
            FlightLoss { lost: sample.lost, tx_in_flight: sample.tx_in_flight, is_app_limited: sample.is_app_limited };
        flight.is_too_high() || (sample.lost > 0 && !ack.selective)
    }

    /// NoteLoss (section 5.5.10.2).
    fn note_loss(&mut self, rate: &DeliveryRate) {
        if !self.latest.loss_in_round {
            self.latest.round_delivered = rate.delivered();
            // The draft also saves the model here, in each round with a loss. Within a recovery that would replace the
            // model before it by one that its losses have changed: 5.5.11.1 speaks of the start of the recovery.
            self.save_cwnd();
        }
        self.latest.loss_in_round = true;
    }

    /// HandleLostPacket (section 5.5.10.2).
    pub(super) fn handle_lost_segment(&mut self, now: Instant, lost: &LostSegment, rate: &DeliveryRate) {
        self.note_loss(rate);
        if self.timed_out_at == Some(now) {
            // OnEnterRTO (section 5.6.4.4): one segment more than in flight, without the data just marked.
            self.cwnd = rate.inflight() + self.smss;
        }
        if lost.start != self.latest.lost_end || self.latest.ranges_lost == 0 {
            self.latest.ranges_lost = self.latest.ranges_lost.saturating_add(1);
        }
        self.latest.lost_end = lost.end;
        if !self.is_bw_probe_sample {
            return;
        }
        let flight =
            FlightLoss { lost: lost.lost, tx_in_flight: lost.tx_in_flight, is_app_limited: lost.is_app_limited };
        if flight.is_too_high() || !self.selective {
            let tx_in_flight = inflight_at_loss(&flight, lost.end - lost.start);
            self.handle_inflight_too_high(now, &FlightLoss { tx_in_flight, ..flight }, rate);
        }
    }

    /// Handles an ECN echo: it counts as one loss in this round and, during a probe, as a sign of too much data in
    /// flight.
    #[cold]
    pub(super) fn on_mark(&mut self, ack: &Delivery, rate: &DeliveryRate) {
        self.note_loss(rate);
        if self.is_bw_probe_sample {
            let tx_in_flight = ack.sample.tx_in_flight;
            let flight = FlightLoss { lost: 0, tx_in_flight, is_app_limited: ack.sample.is_app_limited };
            self.handle_inflight_too_high(ack.now, &flight, rate);
        }
    }

    /// HandleInflightTooHigh (section 5.5.10.2).
    fn handle_inflight_too_high(&mut self, now: Instant, flight: &FlightLoss, rate: &DeliveryRate) {
        self.last_probe.too_high = true;
        // Reacts once per probe.
        self.is_bw_probe_sample = false;
        if !flight.is_app_limited {
            let least = whole(float(self.target_inflight()) * BETA);
            self.inflight_longterm = flight.tx_in_flight.max(least);
        }
        if self.state == State::ProbeBw(Phase::Up) {
            self.undo.state = Some(self.state);
            self.start_probe_bw_down(now, rate);
        }
    }

    /// CheckStartupHighLoss (section 5.3.1.3), at the end of each round trip of recovery.
    pub(super) fn check_startup_high_loss(&mut self, ack: &Delivery) {
        if self.full_bw_reached {
            return;
        }
        let is_high = if ack.selective {
            self.latest.round_start
                && ack.sample.prior_delivered >= self.recovery_delivered
                && self.latest.ranges_lost >= STARTUP_FULL_LOSS_COUNT
                && Self::is_inflight_too_high(ack)
        } else {
            self.latest.ranges_lost > 0
        };
        if self.phase == RecoveryPhase::FastRecovery && is_high {
            self.undo.state = Some(State::Startup);
            self.full_bw_reached = true;
            // Case A.2 expects it; the text of the section does not mention it.
            self.full.now = true;
            // A safe volume: the known capacity of the path, or the delivery of the last round.
            self.inflight_longterm = self.bdp().max(self.latest.inflight);
        }
        if self.latest.round_start {
            self.latest.ranges_lost = 0;
        }
    }

    /// UpdateLatestDeliverySignals (section 5.5.10.3).
    pub(super) fn update_latest_delivery_signals(&mut self, ack: &Delivery, rate: &DeliveryRate) {
        let (latest, sample) = (&mut self.latest, &ack.sample);
        latest.bandwidth = latest.bandwidth.max(sample.delivery_rate);
        latest.inflight = latest.inflight.max(sample.delivered);
        latest.round_start = sample.prior_delivered >= latest.round_delivered;
        if latest.round_start {
            latest.round_delivered = rate.delivered();
        }
    }

    /// AdvanceLatestDeliverySignals (section 5.5.10.3).
    pub(super) fn advance_latest_delivery_signals(&mut self, ack: &Delivery) {
        if self.latest.round_start {
            self.latest.bandwidth = ack.sample.delivery_rate;
            self.latest.inflight = ack.sample.delivered;
        }
    }

    /// ResetCongestionSignals (section 5.5.10.3).
    pub(super) fn reset_congestion_signals(&mut self) {
        self.latest = Latest { loss_in_round: false, bandwidth: 0.0, inflight: 0, ..self.latest };
    }

    /// UpdateCongestionSignals (section 5.5.10.3).
    pub(super) fn update_congestion_signals(&mut self, ack: &Delivery, rate: &DeliveryRate) {
        self.update_max_bw(ack, rate);
        if self.latest.round_start {
            self.adapt_lower_bounds();
            self.latest.loss_in_round = false;
        }
    }

    /// AdaptLowerBoundsFromCongestion (section 5.5.10.3): once per round trip, except during a probe.
    fn adapt_lower_bounds(&mut self) {
        if self.state.is_probing() || !self.latest.loss_in_round {
            return;
        }
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = self.max_bw.get();
        }
        if self.inflight_shortterm == INFINITE {
            self.inflight_shortterm = self.cwnd;
        }
        self.bw_shortterm = self.latest.bandwidth.max(BETA * self.bw_shortterm);
        self.inflight_shortterm = self.latest.inflight.max(whole(BETA * float(self.inflight_shortterm)));
    }

    /// ResetShortTermModel (section 5.5.10.3).
    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = INFINITE;
    }

    /// SaveStateUponLoss (section 5.5.11.1), at the start of a recovery.
    pub(super) fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// HandleSpuriousLossDetection (section 5.5.11.2).
    pub(super) fn handle_spurious_loss_detection(&mut self) {
        self.restore_cwnd();
        self.latest.loss_in_round = false;
        self.full = FullBandwidth::default();
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        let is_probing_rtt = matches!(self.state, State::ProbeRtt { .. });
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if !is_probing_rtt {
                    self.state = State::Startup;
                }
            }
            Some(state @ State::ProbeBw(Phase::Up)) if self.state != state && !is_probing_rtt => {
                self.start_probe_bw_refill();
                // C.delivered is known at the next delivery only: the round of refilling begins there.
                self.next_round_delivered = INFINITE;
            }
            _ => {}
        }
    }
}

/// InflightAtLoss (section 5.5.10.2): the volume in flight at which losses crossed the threshold, within a segment of
/// `size` bytes.
pub(super) fn inflight_at_loss(flight: &FlightLoss, size: u64) -> u64 {
    let inflight_prev = float(flight.tx_in_flight.saturating_sub(size));
    let lost_prev = float(flight.lost.saturating_sub(size));
    let lost_prefix = (LOSS_THRESHOLD * inflight_prev - lost_prev) / (1.0 - LOSS_THRESHOLD);
    // Below `inflight_prev` if the losses before this segment already exceed the limit.
    whole((inflight_prev + lost_prefix).max(0.0))
}
