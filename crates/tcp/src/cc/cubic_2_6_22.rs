//! Not built yet: Reno's window.

use super::{Ack, CongestionControl, Loss, Recovered, Reno, Start, TimeoutKind};
use crate::config::Config;
use netlull_units::Instant;

/// Not built yet.
#[derive(Clone, Debug)]
pub struct Cubic2622(Reno);

impl Cubic2622 {
    /// Not built yet.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self(Reno::new(config))
    }
}

impl CongestionControl for Cubic2622 {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.0.cwnd()
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.0.ssthresh()
    }

    fn on_established(&mut self, start: &Start) {
        self.0.on_established(start);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.0.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.0.on_loss(loss);
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        self.0.on_timeout(loss, kind);
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.0.on_recovered(recovered);
    }

    fn on_idle_restart(&mut self, now: Instant) {
        self.0.on_idle_restart(now);
    }
}
