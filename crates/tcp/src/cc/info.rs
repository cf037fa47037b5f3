//! The entries of the catalogue of congestion controls and their main parameters, as users see them. Each algorithm's
//! file has its own entry, with the parameters from the constants of its computation.

use super::Controller;
use crate::config::{Algorithm, Config, Ecn, LossRecovery, SackDetection, WindowReduction};

/// A congestion control as users see it. Its own file declares it, and a line of `cc/mod.rs` registers it.
#[derive(Debug)]
pub struct AlgorithmInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// The algorithm in one line.
    pub summary: &'static str,
    /// Its specification.
    pub source: &'static str,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The usual loss recovery and ECN.
    pub known_with: KnownWith,
    /// The same for ns-2's own agent, if its loss recovery differs.
    pub ns2_agent: Option<KnownWith>,
    /// The name in Linux, if Linux has the algorithm.
    pub linux: Option<&'static str>,
    pub(crate) parameters: fn() -> Vec<ParameterInfo>,
    /// Builds the congestion control; `seed` is for random decisions.
    pub(crate) build: fn(config: &Config, seed: u32) -> Controller,
}

/// The options that a congestion control sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownWith {
    /// Detection and repair of losses.
    pub loss_recovery: LossRecovery,
    /// Rule by which SACK blocks mean a loss.
    pub sack_detection: SackDetection,
    /// Reduction of the window in recovery.
    pub window_reduction: WindowReduction,
    /// Explicit congestion notification.
    pub ecn: Ecn,
}

impl KnownWith {
    /// RACK-TLP (RFC 8985), as in current algorithms.
    pub const RACK: Self = Self::recovery(LossRecovery::Rack);
    /// RFC 6675.
    pub const SACK: Self = Self::recovery(LossRecovery::Sack);
    /// ns-2's TCP/Linux, for the algorithms of Linux 2.6.
    pub const LINUX_2_6: Self =
        Self { sack_detection: SackDetection::Forward, window_reduction: WindowReduction::RateHalving, ..Self::SACK };

    /// A loss recovery with the RFCs' options and no ECN.
    #[must_use]
    pub const fn recovery(loss_recovery: LossRecovery) -> Self {
        Self {
            loss_recovery,
            sack_detection: SackDetection::Rfc6675,
            window_reduction: WindowReduction::Proportional,
            ecn: Ecn::Off,
        }
    }

    /// Sets these options.
    pub(crate) fn apply(self, config: &mut Config) {
        let Self { loss_recovery, sack_detection, window_reduction, ecn } = self;
        (config.recovery.loss_recovery, config.recovery.sack_detection) = (loss_recovery, sack_detection);
        (config.recovery.window_reduction, config.ecn) = (window_reduction, ecn);
    }
}

impl Config {
    /// Sets an algorithm with its usual loss recovery and ECN
    /// ([`AlgorithmInfo::known_with`](crate::AlgorithmInfo::known_with)). A plug-in leaves both as they
    /// are.
    #[must_use]
    pub fn with_algorithm(mut self, algorithm: Algorithm) -> Self {
        if let Some(info) = algorithm.info() {
            info.known_with.apply(&mut self);
        }
        self.congestion_control = algorithm;
        self
    }

    /// Sets an algorithm as [`Self::with_algorithm`] does, but with the loss recovery of ns-2's agent if that differs
    /// ([`AlgorithmInfo::ns2_agent`](crate::AlgorithmInfo::ns2_agent)).
    #[must_use]
    pub fn with_ns2_agent(self, algorithm: Algorithm) -> Self {
        let agent = algorithm.info().and_then(|info| info.ns2_agent);
        let mut config = self.with_algorithm(algorithm);
        if let Some(agent) = agent {
            agent.apply(&mut config);
        }
        config
    }

    /// Sets an algorithm as Linux 6 runs it. For every algorithm, RACK-TLP finds losses (`tcp_recovery` 1), and
    /// [`WindowReduction::Linux6`] reduces the window.
    #[must_use]
    pub fn with_linux_6_algorithm(self, algorithm: Algorithm) -> Self {
        self.with_algorithm(algorithm).with(|c| {
            c.recovery.loss_recovery = LossRecovery::Rack;
            c.recovery.sack_detection = SackDetection::Rfc6675;
            c.recovery.window_reduction = WindowReduction::Linux6;
        })
    }
}

impl Algorithm {
    /// The name in scenarios and results.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::PlugIn(factory) => factory.name(),
            known => known.info().map_or("", |info| info.name),
        }
    }

    /// The algorithm's main parameters, without those of loss recovery and of the timer.
    #[must_use]
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        self.info().map_or_else(Vec::new, |info| (info.parameters)())
    }

    /// The path of an algorithm's page in the repository.
    #[must_use]
    pub fn page(name: &str) -> String {
        format!("docs/models/tcp/{}.md", name.replace('_', "-"))
    }

    /// The congestion control of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::catalogue().iter().find(|info| info.name == name).map(|info| info.algorithm.clone())
    }
}

/// A parameter of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Its name in the source, or the scenario's option.
    pub name: &'static str,
    /// Its unit; empty for pure numbers.
    pub unit: &'static str,
    /// Its value; for an option, the default.
    pub value: String,
    /// Its meaning in one line.
    pub meaning: &'static str,
    /// Its source.
    pub source: &'static str,
    /// True if it is an option in scenarios.
    pub is_option: bool,
}

/// A constant of the algorithm.
pub(super) fn constant(
    name: &'static str,
    unit: &'static str,
    value: impl ToString,
    meaning: &'static str,
    source: &'static str,
) -> ParameterInfo {
    ParameterInfo { name, unit, value: value.to_string(), meaning, source, is_option: false }
}

/// An option of scenarios, with its default.
pub(super) fn option(
    name: &'static str,
    value: impl ToString,
    meaning: &'static str,
    source: &'static str,
) -> ParameterInfo {
    ParameterInfo { is_option: true, ..constant(name, "", value, meaning, source) }
}

#[cfg(test)]
mod tests {
    use crate::config::Algorithm;

    #[test]
    fn names_find_their_algorithms_and_nothing_else_does() {
        for info in Algorithm::catalogue() {
            assert_eq!(Algorithm::by_name(info.name).as_ref(), Some(&info.algorithm));
            assert_eq!(info.algorithm.name(), info.name);
        }
        assert_eq!(Algorithm::by_name("NewReno"), None);
        assert!(Algorithm::catalogue().windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn every_algorithm_tells_of_its_parameters_once_each() {
        for info in Algorithm::catalogue() {
            let parameters = info.algorithm.parameters();
            assert!(!parameters.is_empty(), "{}", info.name);
            for (index, parameter) in parameters.iter().enumerate() {
                assert!(parameters[..index].iter().all(|other| other.name != parameter.name), "{}", parameter.name);
                assert!(!parameter.value.is_empty() && !parameter.source.is_empty(), "{}", parameter.name);
            }
        }
    }

    #[test]
    fn values_are_those_of_the_sources() {
        let value = |algorithm: Algorithm, name: &str| {
            algorithm.parameters().into_iter().find(|p| p.name == name).map(|p| p.value)
        };
        // RFC 9438 sections 5, 4.6 and 4.7: 0.4, 0.7, (1 + 0.7)/2.
        assert_eq!(value(Algorithm::Cubic, "C").as_deref(), Some("0.4"));
        assert_eq!(value(Algorithm::Cubic, "beta_cubic").as_deref(), Some("0.7"));
        assert_eq!(value(Algorithm::Cubic, "fast_convergence").as_deref(), Some("0.85"));
        // RFC 9406 section 4.3.
        assert_eq!(value(Algorithm::Cubic, "MIN_RTT_THRESH").as_deref(), Some("4"));
        // 819/1024 = 0.7998; 410/1024 = 0.4004.
        assert_eq!(value(Algorithm::Bic, "beta").as_deref(), Some("0.800"));
        assert_eq!(value(Algorithm::Cubic2622, "C").as_deref(), Some("0.400"));
        assert_eq!(value(Algorithm::Compound, "alpha").as_deref(), Some("1/8"));
        assert_eq!(value(Algorithm::Vegas, "vegas").as_deref(), Some("{ alpha = 2, beta = 4, gamma = 1 }"));
    }
}
