//! The variables of the draft, by its names (draft-ietf-ccwg-bbr-06 sections 2.4 to 2.16), for observers. Volumes are in
//! bytes, rates in bytes per second, times in seconds.

use super::super::Variable;
use super::{AckPhase, Bbr, INFINITE, Phase, State};
use crate::number::float;
use netlull_units::{Duration, Instant};

/// A bound in bytes; infinite for none.
fn bound(bytes: u64) -> f64 {
    if bytes == INFINITE { f64::INFINITY } else { float(bytes) }
}

fn seconds(time: Option<Duration>) -> f64 {
    time.map_or(f64::INFINITY, Duration::as_secs_f64)
}

const fn flag(value: bool) -> f64 {
    if value { 1.0 } else { 0.0 }
}

impl State {
    /// The name in the draft (section 5.1.1).
    const fn name(self) -> &'static str {
        match self {
            Self::Startup => "STARTUP",
            Self::Drain { .. } => "DRAIN",
            Self::ProbeBw(Phase::Down) => "PROBE_DOWN",
            Self::ProbeBw(Phase::Cruise) => "PROBE_CRUISE",
            Self::ProbeBw(Phase::Refill) => "PROBE_REFILL",
            Self::ProbeBw(Phase::Up) => "PROBE_UP",
            Self::ProbeRtt { .. } => "PROBE_RTT",
        }
    }
}

impl AckPhase {
    /// The name in the draft (section 2.14).
    const fn name(self) -> &'static str {
        match self {
            Self::Init => "ACKS_INIT",
            Self::Refilling => "ACKS_REFILLING",
            Self::ProbeStarting => "ACKS_PROBE_STARTING",
            Self::ProbeFeedback => "ACKS_PROBE_FEEDBACK",
            Self::ProbeStopping => "ACKS_PROBE_STOPPING",
        }
    }
}

impl Bbr {
    /// Reports all variables.
    #[cold]
    pub(super) fn each_variable(&self, each: &mut dyn FnMut(&str, Variable<'_>)) {
        use Variable::{Number, Word};
        let (drain_start, rtt_done) = match self.state {
            State::Drain { start_round } => (float(start_round), f64::INFINITY),
            State::ProbeRtt { until, .. } => (f64::INFINITY, until.map_or(f64::INFINITY, Instant::as_secs_f64)),
            _ => (f64::INFINITY, f64::INFINITY),
        };
        each("BBR.state", Word(self.state.name()));
        each("BBR.ack_phase", Word(self.ack_phase.name()));
        each("BBR.undo_state", Word(self.undo.state.map_or("None", State::name)));
        for (name, value) in [
            ("BBR.pacing_gain", self.state.pacing_gain()),
            ("BBR.cwnd_gain", self.state.cwnd_gain()),
            ("BBR.round_count", float(self.round_count)),
            ("BBR.max_bw", self.max_bw.get()),
            ("BBR.bw_shortterm", self.bw_shortterm),
            ("BBR.bw", self.bw),
            ("BBR.min_rtt", seconds(self.min_rtt)),
            ("BBR.probe_rtt_min_delay", seconds(self.probe_rtt_min_delay)),
            ("BBR.probe_rtt_min_stamp", self.probe_rtt_min_stamp.as_secs_f64()),
            ("BBR.probe_rtt_expired", flag(self.probe_rtt_expired)),
            ("BBR.probe_rtt_done_stamp", rtt_done),
            ("BBR.inflight_longterm", bound(self.inflight_longterm)),
            ("BBR.inflight_shortterm", bound(self.inflight_shortterm)),
            ("BBR.bdp", float(self.bdp())),
            ("BBR.extra_acked", float(self.extra_acked)),
            ("BBR.full_bw", self.full.baseline),
            ("BBR.full_bw_count", f64::from(self.full.rounds)),
            ("BBR.full_bw_now", flag(self.full.now)),
            ("BBR.full_bw_reached", flag(self.full_bw_reached)),
            ("BBR.drain_start_round", drain_start),
            ("BBR.bw_probe_wait", self.bw_probe_wait.as_secs_f64()),
            ("BBR.cycle_stamp", self.cycle_stamp.as_secs_f64()),
            ("BBR.bw_probe_up_rounds", f64::from(self.bw_probe_up_rounds)),
            ("BBR.idle_restart", flag(self.idle_restart)),
            ("BBR.prior_cwnd", float(self.prior_cwnd)),
            ("BBR.undo_bw_shortterm", self.undo.bw_shortterm),
            ("BBR.undo_inflight_shortterm", bound(self.undo.inflight_shortterm)),
            ("BBR.undo_inflight_longterm", bound(self.undo.inflight_longterm)),
            ("BBRInflight(1.0)", float(self.inflight(self.max_bw.get(), 1.0))),
            ("BBRInflightWithHeadroom()", bound(self.inflight_with_headroom())),
        ] {
            each(name, Number(value));
        }
    }
}
