//! ProbeBW: down, cruise, refill, up (draft-ietf-ccwg-bbr-06 section 5.3.3).

use super::{
    AckPhase, Bbr, Delivery, FullBandwidth, HEADROOM, INFINITE, PROBE_WAIT, PROBE_WAIT_SPREAD, Phase, RENO_ROUNDS,
    State,
};
use crate::delivery::DeliveryRate;
use crate::number::{float, whole};
use netlull_units::{Duration, Instant};

/// The decision about a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decided {
    Yes,
    No,
}

impl Bbr {
    /// StartProbeBW_DOWN (section 5.3.3.9).
    pub(super) fn start_probe_bw_down(&mut self, now: Instant, rate: &DeliveryRate) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = INFINITE;
        self.pick_probe_wait();
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round(rate);
        self.state = State::ProbeBw(Phase::Down);
    }

    /// StartProbeBW_REFILL (section 5.3.3.9); the caller starts a round.
    pub(super) fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0;
        self.last_probe.precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.state = State::ProbeBw(Phase::Refill);
    }

    fn start_probe_bw_up(&mut self, ack: &Delivery, rate: &DeliveryRate) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round(rate);
        self.full = FullBandwidth { baseline: ack.sample.delivery_rate, ..FullBandwidth::default() };
        self.state = State::ProbeBw(Phase::Up);
        self.raise_inflight_longterm_slope();
    }

    /// UpdateProbeBWCyclePhase (section 5.3.3.9).
    pub(super) fn update_probe_bw_cycle_phase(&mut self, ack: &Delivery, rate: &DeliveryRate) {
        if !self.full_bw_reached || self.adapt_long_term_model(ack, rate) == Decided::Yes {
            return;
        }
        let State::ProbeBw(phase) = self.state else {
            return;
        };
        match phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(ack.now) => {
                self.start_probe_bw_refill();
                self.start_round(rate);
            }
            Phase::Down if self.is_time_to_cruise(ack) => self.state = State::ProbeBw(Phase::Cruise),
            Phase::Down | Phase::Cruise => {}
            Phase::Refill if self.round_start => {
                // After a round of refilling, feedback on the probed volume begins.
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up(ack, rate);
            }
            Phase::Refill => {}
            Phase::Up if self.is_time_to_go_down(ack) => {
                self.last_probe.too_high = false;
                self.start_probe_bw_down(ack.now, rate);
            }
            Phase::Up => {}
        }
    }

    /// AdaptLongTermModel (section 5.3.3.9).
    fn adapt_long_term_model(&mut self, ack: &Delivery, rate: &DeliveryRate) -> Decided {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_probe_bw() {
                if !ack.sample.is_app_limited {
                    self.max_bw.advance();
                }
                // Precautionary probing: the volume that was too high in the last probe caused no harm in this one.
                if self.last_probe.precautionary && !self.last_probe.too_high {
                    self.start_probe_bw_refill();
                    self.start_round(rate);
                    return Decided::Yes;
                }
            }
        }
        if !Self::is_inflight_too_high(ack) && self.inflight_longterm != INFINITE {
            self.inflight_longterm = self.inflight_longterm.max(ack.sample.tx_in_flight);
            if self.state == State::ProbeBw(Phase::Up) {
                self.probe_inflight_longterm_upward(ack);
            }
        }
        Decided::No
    }

    pub(super) fn is_in_probe_bw(&self) -> bool {
        matches!(self.state, State::ProbeBw(_))
    }

    /// IsTimeToProbeBW (section 5.3.3.8.3): wall-clock time or, for coexistence with Reno, a round for each segment
    /// of the target (T_reno, section 5.3.3.8.2). The target is compared in bytes, since a part of a segment counts.
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let rounds = self.rounds_since_probe_up;
        now > self.cycle_stamp + self.bw_probe_wait
            || rounds >= RENO_ROUNDS
            || rounds * self.smss >= self.target_inflight()
    }

    /// PickProbeWait (section 5.3.3.8.3).
    fn pick_probe_wait(&mut self) {
        self.rounds_since_probe_up = self.random.below(2);
        self.bw_probe_wait = PROBE_WAIT + Duration::from_nanos(self.random.below(PROBE_WAIT_SPREAD));
    }

    /// TargetInflight (section 5.3.3.8.3).
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp().min(self.cwnd)
    }

    /// IsTimeToCruise (section 5.3.3.9).
    fn is_time_to_cruise(&self, ack: &Delivery) -> bool {
        ack.inflight <= self.inflight_with_headroom() && ack.inflight <= self.inflight(self.max_bw.get(), 1.0)
    }

    /// IsTimeToGoDown (section 5.3.3.9).
    fn is_time_to_go_down(&mut self, ack: &Delivery) -> bool {
        if self.last_probe.too_high && ack.inflight >= self.inflight_longterm {
            self.last_probe.precautionary = true;
            return true;
        }
        if ack.is_cwnd_limited && self.cwnd >= self.inflight_longterm {
            // The volume is the limit here, so a plateau has no information about the path.
            self.full = FullBandwidth { baseline: ack.sample.delivery_rate, ..FullBandwidth::default() };
            return false;
        }
        self.full.now
    }

    /// InflightWithHeadroom (section 5.3.3.9).
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        if self.inflight_longterm == INFINITE {
            return INFINITE;
        }
        let headroom = whole(HEADROOM * float(self.inflight_longterm)).max(self.smss);
        self.inflight_longterm.saturating_sub(headroom).max(self.min_pipe_cwnd())
    }

    /// RaiseInflightLongtermSlope (section 5.3.3.9): 1, 2, 4, ... segments per round.
    pub(super) fn raise_inflight_longterm_slope(&mut self) {
        let growth = 1_u64 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).max(self.smss);
    }

    /// ProbeInflightLongtermUpward (section 5.3.3.9).
    pub(super) fn probe_inflight_longterm_upward(&mut self, ack: &Delivery) {
        if !ack.is_cwnd_limited || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += ack.sample.newly_acked;
        let increments = self.bw_probe_up_acked / self.probe_up_acked_per_inc;
        self.bw_probe_up_acked -= increments * self.probe_up_acked_per_inc;
        self.inflight_longterm += increments * self.smss;
        if self.round_start {
            self.raise_inflight_longterm_slope();
        }
    }
}
