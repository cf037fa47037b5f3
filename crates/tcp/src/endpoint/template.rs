//! Templates of endpoints, for drivers with many short connections.

use super::Endpoint;
use super::pacing::Paced;
use crate::cc::CongestionControl;
use crate::config::Config;
use crate::recovery::Selective;
use crate::seq::SeqNr;

/// An endpoint before its first segment, for copies. [`renew`](Self::renew) turns an endpoint with a finished
/// connection into a new one, in the same place and memory. It allocates nothing, except for Vegas' and ns-2 Sack1's
/// few records and a foreign congestion control.
#[derive(Clone, Debug)]
pub struct Template {
    /// The endpoint without the parts in separate memory, so copying it allocates nothing.
    bare: Endpoint,
    selective: Option<Box<Selective>>,
    paced: Option<Box<Paced>>,
}

impl Template {
    /// A template for sides that open the connection ([`Endpoint::client`]).
    #[must_use]
    pub fn client(config: &Config) -> Self {
        Self::of(Endpoint::client(config, SeqNr::new(0)))
    }

    /// A template for sides that wait for it ([`Endpoint::server`]).
    #[must_use]
    pub fn server(config: &Config) -> Self {
        Self::of(Endpoint::server(config, SeqNr::new(0)))
    }

    fn of(mut bare: Endpoint) -> Self {
        Self { selective: bare.selective.take(), paced: bare.paced.take(), bare }
    }

    /// A new endpoint; `iss` is its initial sequence number.
    #[must_use]
    pub fn make(&self, iss: SeqNr) -> Endpoint {
        let mut endpoint = self.bare.clone();
        endpoint.selective.clone_from(&self.selective);
        endpoint.paced.clone_from(&self.paced);
        endpoint.begin_at(iss);
        endpoint
    }

    /// Renews `endpoint`, which was made from this template.
    pub fn renew(&self, endpoint: &mut Endpoint, iss: SeqNr) {
        match (&mut endpoint.selective, &self.selective) {
            (Some(own), Some(fresh)) => own.renew(fresh),
            (own, fresh) => own.clone_from(fresh),
        }
        match (&mut endpoint.paced, &self.paced) {
            (Some(own), Some(_)) => own.renew(),
            (own, fresh) => own.clone_from(fresh),
        }
        endpoint.cc.renew(&self.bare.cc);
        endpoint.renew_rest(&self.bare);
        endpoint.begin_at(iss);
    }
}

impl Endpoint {
    /// Takes the state of `fresh`, in the existing memory. Congestion control and optional parts are handled
    /// elsewhere.
    fn renew_rest(&mut self, fresh: &Self) {
        let Self { established_at, time_wait, counters, timestamps, prediction, state, timer_kind, snd, .. } = fresh;
        (self.established_at, self.time_wait, self.counters) = (*established_at, *time_wait, *counters);
        self.timestamps.clone_from(timestamps);
        (self.prediction, self.state, self.timer_kind) = (*prediction, *state, *timer_kind);
        self.snd.clone_from(snd);
        let Self { times, rcv, limit, timer_at, wake_at, rtt, rare, control, .. } = fresh;
        self.rcv.renew(rcv);
        self.times.clone_from(times);
        (self.limit, self.timer_at, self.wake_at) = (*limit, *timer_at, *wake_at);
        self.rtt.clone_from(rtt);
        (*self.rare).clone_from(rare);
        self.control = *control;
        #[cfg(test)]
        {
            self.general_only = fresh.general_only;
        }
    }

    /// Sets the initial sequence number, and the state that depends on it.
    fn begin_at(&mut self, iss: SeqNr) {
        self.snd.origin = iss.advanced_by(1);
        self.cc.reseed(iss.as_u32());
    }
}
