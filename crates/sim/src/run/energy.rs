//! Energy of links under every power model.

use crate::scenario::{LinkSpec, NamedPower, Scenario};
use netlull_network::outcome::ByName;
use netlull_power::{EnergyLedger, Residency, Traffic, TransitionPower, saving};
use serde::Serialize;

/// The sum over all links.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkSummary {
    /// Energy of all links under each power model.
    pub energy: ByName<EnergySummary>,
}

/// The energy of links under one model, in joules. An ideal model without a stated power has 1 W at its maximum rate.
#[derive(Clone, Debug, Serialize)]
pub struct EnergySummary {
    /// Static energy, independent of rate and traffic.
    pub static_j: f64,
    /// Energy that depends on the rate.
    pub rate_dependent_j: f64,
    /// Energy of bits and packets.
    pub traffic_j: f64,
    /// Rate-dependent energy during transitions.
    pub transitions_j: f64,
    /// Energy that remains while a link sleeps.
    pub asleep_j: f64,
    /// Total energy.
    pub total_j: f64,
    /// Energy for the same links and this run's traffic on them, always awake and at the maximum rates.
    pub reference_j: f64,
    /// 1 - total/reference.
    ///
    /// `None` for a network with sleeping links under a model that charges traffic: the reference would carry the
    /// detours. The run without sleep is the reference then.
    pub saving: Option<f64>,
}

pub(super) fn transition_power(spec: &LinkSpec) -> TransitionPower {
    spec.control.as_ref().map_or(TransitionPower::default(), |control| control.transition_power)
}

/// A link's actual energy under each model, and its energy without rate changes and sleep.
pub(super) fn ledgers(
    scenario: &Scenario,
    spec: &LinkSpec,
    residency: &Residency,
    traffic: Traffic,
) -> Vec<[EnergyLedger; 2]> {
    let reference = Residency::constant(spec.rate, residency.total());
    let under = |power: &NamedPower| {
        let model = power.model.with_transition_power(transition_power(spec));
        [residency, &reference].map(|residency| model.energy(residency, spec.rate, traffic))
    };
    scenario.power.iter().map(under).collect()
}

/// The energy for the summary. `detoured` is true if the traffic would have taken other links without sleep.
pub(super) fn energy(scenario: &Scenario, ledgers: &[[EnergyLedger; 2]], detoured: bool) -> ByName<EnergySummary> {
    let summary = |[energy, reference]: &[EnergyLedger; 2]| EnergySummary {
        static_j: energy.static_.as_f64(),
        rate_dependent_j: energy.rate_dependent.as_f64(),
        traffic_j: energy.traffic.as_f64(),
        transitions_j: energy.transitions.as_f64(),
        asleep_j: energy.asleep.as_f64(),
        total_j: energy.total().as_f64(),
        reference_j: reference.total().as_f64(),
        saving: (!detoured || energy.traffic.as_f64() == 0.0).then(|| saving(energy, reference)),
    };
    ByName(scenario.power.iter().zip(ledgers).map(|(power, pair)| (power.name.clone(), summary(pair))).collect())
}

#[allow(clippy::cast_precision_loss)]
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
