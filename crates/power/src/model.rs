//! The enum of power models, and energy from a residency.

use crate::device::Device;
use crate::{DeviceModel, EnergyLedger, IdealModel, Residency, Traffic, TransitionPower};
use netlull_units::{BitRate, Duration, Joules, Watts};
use std::sync::Arc;

/// The dependence of a link's power on its rate and its traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum PowerModel {
    /// Ideal frequency or voltage scaling.
    Ideal(IdealModel),
    /// A port of a device.
    Device(DeviceModel),
}

impl PowerModel {
    /// The model of a link of `speed`: a device's port of that speed, where it has one; an ideal power that follows it.
    #[must_use]
    pub fn of_speed(&self, speed: BitRate) -> Self {
        match self {
            Self::Ideal(model) => Self::Ideal(model.of_speed(speed)),
            Self::Device(model) => Self::Device(model.clone().of_speed(speed)),
        }
    }

    /// The device; `None` for an ideal model.
    #[must_use]
    pub fn device(&self) -> Option<&Arc<Device>> {
        match self {
            Self::Ideal(_) => None,
            Self::Device(model) => Some(model.device()),
        }
    }

    /// The power in watts of a link that serves at `rate` without traffic; `max_rate` is its rate at u = 1.
    ///
    /// `rate` is at most `max_rate`, which is not zero.
    #[must_use]
    pub fn power(&self, rate: BitRate, max_rate: BitRate) -> Watts {
        self.static_power(max_rate) + self.rate_power(rate, max_rate)
    }

    /// The power in watts of a link in a transition between two rates, without traffic.
    ///
    /// The rates are at most `max_rate`, which is not zero.
    #[must_use]
    pub fn power_in_transition(&self, old: BitRate, new: BitRate, max_rate: BitRate) -> Watts {
        self.power(self.transition_power().of(old, new), max_rate)
    }

    /// The same model with another assumption about the power in transitions.
    #[must_use]
    pub fn with_transition_power(&self, reading: TransitionPower) -> Self {
        match self {
            Self::Ideal(model) => Self::Ideal(model.with_transition_power(reading)),
            Self::Device(model) => Self::Device(model.clone().with_transition_power(reading)),
        }
    }

    /// The energy of a run, E = integral of P dt.
    ///
    /// It is the sum over the rates and transitions of the residency, plus the energy of the traffic. The sum is exact,
    /// because the power is constant between rate changes.
    ///
    /// `max_rate` in bit/s is the link's rate at u = 1. It is not zero, and no rate of the residency is above it.
    #[must_use]
    pub fn energy(&self, residency: &Residency, max_rate: BitRate, traffic: Traffic) -> EnergyLedger {
        let spend = |rate: BitRate, time: Duration| self.rate_power(rate, max_rate) * time;
        let charged = self.transition_power();
        EnergyLedger {
            static_: self.static_power(max_rate) * residency.awake(),
            rate_dependent: residency.in_service().iter().map(|s| spend(s.rate, s.time)).sum(),
            transitions: residency.in_transition().iter().map(|t| spend(charged.of(t.old, t.new), t.time)).sum(),
            traffic: self.traffic_energy(residency, max_rate, traffic),
            asleep: self.sleep_power(max_rate) * residency.asleep(),
        }
    }

    /// The power of a sleeping link of `max_rate`, in watts.
    ///
    /// It is zero for ideal models. For a device it is the power that a port asleep still takes: its share of the box,
    /// its transceiver if that is fed, and its own line cards.
    #[must_use]
    pub fn sleep_power(&self, max_rate: BitRate) -> Watts {
        match self {
            Self::Ideal(_) => Watts::new(0.0),
            Self::Device(model) => model.sleep_power(max_rate),
        }
    }

    /// The static power at any rate, in watts.
    fn static_power(&self, max_rate: BitRate) -> Watts {
        match self {
            Self::Ideal(model) => model.static_power(),
            Self::Device(model) => model.static_power(max_rate),
        }
    }

    /// The rate-dependent power, in watts.
    fn rate_power(&self, rate: BitRate, max_rate: BitRate) -> Watts {
        debug_assert!(!max_rate.is_zero() && rate <= max_rate, "a rate of {rate} on a link of at most {max_rate}");
        match self {
            Self::Ideal(model) => model.rate_power(rate.as_f64() / max_rate.as_f64()),
            Self::Device(model) => model.rate_power(rate, max_rate),
        }
    }

    fn traffic_energy(&self, residency: &Residency, max_rate: BitRate, traffic: Traffic) -> Joules {
        match self {
            Self::Ideal(_) => Joules::ZERO,
            Self::Device(model) => model.traffic_energy(residency, max_rate, traffic),
        }
    }

    fn transition_power(&self) -> TransitionPower {
        match self {
            Self::Ideal(model) => model.transition_power(),
            Self::Device(model) => model.transition_power(),
        }
    }
}
