//! Vegas (Brakmo and Peterson 1995), as Linux has it and as ns-2 has it.

mod linux;
mod ns2;

pub use linux::VegasLinux;
pub use ns2::VegasNs2;

use super::*;
use crate::config::{Config, VegasFlavour};
use enum_dispatch::enum_dispatch;

/// Vegas' congestion window, in the flavour that [`Config::vegas_flavour`] names.
#[enum_dispatch(CongestionControl)]
#[derive(Clone, Debug)]
pub enum Vegas {
    /// `tcp_vegas.c` of Linux 2.6.22.
    Linux(VegasLinux),
    /// ns-2.35's `Agent/TCP/Vegas`.
    Ns2(VegasNs2),
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
