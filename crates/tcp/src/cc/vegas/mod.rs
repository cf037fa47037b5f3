//! Vegas (Brakmo and Peterson 1995), in the versions of Linux and of ns-2.

mod linux;
mod ns2;

pub use linux::VegasLinux;
pub use ns2::VegasNs2;

use super::info::{KnownWith, ParameterInfo, option};
use super::*;
use crate::config::{Config, LossRecovery, VegasFlavour};
use enum_dispatch::enum_dispatch;

/// The algorithm's entry of the catalogue.
pub(super) static INFO: AlgorithmInfo = AlgorithmInfo {
    name: "vegas",
    summary: "keeps a few segments queued, by the growth of round trips",
    source: "Brakmo, Peterson 1995; Linux 2.6.22 tcp_vegas.c, ns-2.35 tcp-vegas.cc",
    algorithm: Algorithm::Vegas,
    known_with: KnownWith::LINUX_2_6,
    ns2_agent: Some(KnownWith { loss_recovery: LossRecovery::Vegas, ..KnownWith::LINUX_2_6 }),
    linux: Some("vegas"),
    parameters,
    build: |config, _| Box::new(Vegas::new(config)).into(),
};

fn parameters() -> Vec<ParameterInfo> {
    let bounds = Config::default().cwnd.vegas;
    let all = format!("{{ alpha = {}, beta = {}, gamma = {} }}", bounds.alpha, bounds.beta, bounds.gamma);
    let meaning = "segments queued: below alpha the window grows, above beta it shrinks, above gamma slow start ends";
    vec![option("vegas", all, meaning, "Linux 2.6.22 tcp_vegas.c; preset ns2: 1, 3, 1")]
}

/// Vegas' congestion window, in the flavour that [`CongestionWindow::vegas_flavour`](crate::CongestionWindow::vegas_flavour) names.
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
        match config.cwnd.vegas_flavour {
            VegasFlavour::Linux => Self::Linux(VegasLinux::new(config)),
            VegasFlavour::Ns2 => Self::Ns2(VegasNs2::new(config)),
        }
    }
}
