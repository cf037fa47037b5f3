//! Endpoints made many times over, for drivers whose connections come and go.

use super::Endpoint;
use super::pacing::Paced;
use crate::cc::{Bbr, Controller, Reno};
use crate::config::Config;
use crate::recovery::Selective;
use crate::seq::SeqNr;

/// An endpoint before its first segment, to be copied. [`renew`](Self::renew) makes an endpoint whose connection is over
/// a new one in its place and in its memory: nothing is allocated (but for Vegas' and ns-2 Sack1's few records).
#[derive(Clone, Debug)]
pub struct Template {
    /// Without what lies in memory of its own, so that a copy of it allocates nothing.
    bare: Endpoint,
    selective: Option<Box<Selective>>,
    paced: Option<Box<Paced>>,
    bbr: Option<Box<Bbr>>,
}

impl Template {
    /// Of sides that open the connection ([`Endpoint::client`]).
    #[must_use]
    pub fn client(config: &Config) -> Self {
        Self::of(Endpoint::client(config, SeqNr::new(0)), config)
    }

    /// Of sides that wait for it ([`Endpoint::server`]).
    #[must_use]
    pub fn server(config: &Config) -> Self {
        Self::of(Endpoint::server(config, SeqNr::new(0)), config)
    }

    fn of(mut bare: Endpoint, config: &Config) -> Self {
        let bbr = match &bare.cc {
            Controller::Bbr(bbr) => Some(bbr.clone()),
            _ => None,
        };
        if bbr.is_some() {
            // Anything that lies in no memory of its own: it is replaced in every copy.
            bare.cc = Controller::Reno(Reno::new(config));
        }
        Self { selective: bare.selective.take(), paced: bare.paced.take(), bare, bbr }
    }

    /// A new endpoint; `iss` is its initial sequence number.
    #[must_use]
    pub fn make(&self, iss: SeqNr) -> Endpoint {
        let mut endpoint = self.bare.clone();
        endpoint.selective.clone_from(&self.selective);
        endpoint.paced.clone_from(&self.paced);
        if let Some(bbr) = &self.bbr {
            endpoint.cc = Controller::Bbr(bbr.clone());
        }
        endpoint.begin_at(iss);
        endpoint
    }

    /// Makes `endpoint`, which came from this template, a new one.
    pub fn renew(&self, endpoint: &mut Endpoint, iss: SeqNr) {
        let held = endpoint.rcv.take_held();
        let (selective, paced) = (endpoint.selective.take(), endpoint.paced.take());
        let cc = self.bbr.as_ref().map(|_| std::mem::replace(&mut endpoint.cc, self.bare.cc.clone()));
        endpoint.clone_from(&self.bare);
        endpoint.rcv.reuse_held(held);
        endpoint.selective = match (selective, &self.selective) {
            (Some(mut own), Some(fresh)) => {
                own.renew(fresh);
                Some(own)
            }
            (_, fresh) => fresh.clone(),
        };
        endpoint.paced = match (paced, &self.paced) {
            (Some(mut own), Some(_)) => {
                own.renew();
                Some(own)
            }
            (_, fresh) => fresh.clone(),
        };
        if let (Some(Controller::Bbr(mut own)), Some(fresh)) = (cc, &self.bbr) {
            *own = Bbr::clone(fresh);
            endpoint.cc = Controller::Bbr(own);
        }
        endpoint.begin_at(iss);
    }
}

impl Endpoint {
    /// Sets the initial sequence number, and what follows from it.
    fn begin_at(&mut self, iss: SeqNr) {
        self.snd.origin = iss.advanced_by(1);
        self.cc.reseed(iss.as_u32());
    }
}
