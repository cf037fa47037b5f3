//! Vegas (Brakmo and Peterson 1995), as Linux has it and as ns-2 has it.

mod linux;
mod ns2;

pub use linux::VegasLinux;
pub use ns2::VegasNs2;

use super::{Ack, CongestionControl, Loss, Recovered, Start, TimeoutKind, Transmission};
use crate::config::{Config, VegasFlavour};
use netlull_units::Instant;

/// Vegas' congestion window, in the flavour that [`Config::vegas_flavour`] names.
#[derive(Clone, Debug)]
pub enum Vegas {
    /// `tcp_vegas.c` of Linux 2.6.22.
    Linux(VegasLinux),
    /// ns-2.35's `Agent/TCP/Vegas`.
    Ns2(VegasNs2),
}

/// Calls the flavour inside.
macro_rules! dispatch {
    ($vegas:expr, $inner:ident => $call:expr) => {
        match $vegas {
            Vegas::Linux($inner) => $call,
            Vegas::Ns2($inner) => $call,
        }
    };
}

impl Vegas {
    /// Vegas with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        match config.vegas_flavour {
            VegasFlavour::Linux => Self::Linux(VegasLinux::new(config)),
            VegasFlavour::Ns2 => Self::Ns2(VegasNs2::new(config)),
        }
    }
}

impl CongestionControl for Vegas {
    #[inline]
    fn cwnd(&self) -> u64 {
        dispatch!(self, vegas => vegas.cwnd())
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        dispatch!(self, vegas => vegas.ssthresh())
    }

    fn on_established(&mut self, start: &Start) {
        dispatch!(self, vegas => vegas.on_established(start));
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        dispatch!(self, vegas => vegas.on_ack(ack));
    }

    fn on_loss(&mut self, loss: &Loss) {
        dispatch!(self, vegas => vegas.on_loss(loss));
    }

    fn on_segment_lost(&mut self, loss: &Loss, sent: &Transmission) {
        dispatch!(self, vegas => vegas.on_segment_lost(loss, sent));
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        dispatch!(self, vegas => vegas.on_timeout(loss, kind));
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        dispatch!(self, vegas => vegas.on_recovered(recovered));
    }

    fn on_idle_restart(&mut self, now: Instant) {
        dispatch!(self, vegas => vegas.on_idle_restart(now));
    }
}
