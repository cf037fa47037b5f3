//! Ideal rate scaling: power as a function of the clock's utilisation alone.

use crate::{ConfigError, TransitionPower};
use netlull_units::{BitRate, Watts};

/// The power P(u) = P_s + (1 - P_s) g(u), normalised to P(1) = 1, times the power at full rate (intertwining-2012
/// section 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IdealModel {
    static_fraction: f64,
    scaling: Scaling,
    max_power: Watts,
    /// The speed of a link with this power at full rate; `None` if all links have it.
    max_power_at: Option<BitRate>,
    transition_power: TransitionPower,
}

/// The scaling of the rate-dependent power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scaling {
    /// FS: the clock scales, g(u) = u.
    Frequency,
    /// DVS: clock and voltage scale together, g(u) = u^3, down to u = 1/phi, where the voltage is at its floor.
    Voltage {
        /// phi > 1: the voltage's range, u_max over the u at its floor.
        phi: f64,
        /// The behaviour below the floor.
        below_floor: BelowFloor,
    },
}

/// Power below u = 1/phi, where the papers are silent (intertwining-2012 section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BelowFloor {
    /// Reading A: the voltage stays at its floor and the clock still scales, g = u/phi^2.
    #[default]
    FrequencyStillScales,
    /// Reading B: the power stays at its floor, g = 1/phi^3.
    Clamps,
}

impl IdealModel {
    /// Frequency scaling without static power, 1 W at full rate.
    pub(crate) const PLAIN: Self = Self {
        static_fraction: 0.0,
        scaling: Scaling::Frequency,
        max_power: Watts::new(1.0),
        max_power_at: None,
        transition_power: TransitionPower::Higher,
    };

    /// Replaces the scaling without a check, for the catalogue, whose phi is valid.
    pub(crate) const fn with_scaling(self, scaling: Scaling) -> Self {
        Self { scaling, ..self }
    }

    /// Creates a model with P_s = `static_fraction` of the power at full rate.
    ///
    /// The power at full rate is 1 W by default, and energies are then fractions of full power times seconds.
    ///
    /// # Errors
    /// If `static_fraction` is outside [0, 1) or phi is not a finite number above 1.
    pub fn new(static_fraction: f64, scaling: Scaling) -> Result<Self, ConfigError> {
        if let Scaling::Voltage { phi, .. } = scaling
            && !(phi > 1.0 && phi.is_finite())
        {
            return Err(ConfigError::new("phi", phi, "a finite number above 1"));
        }
        Self::PLAIN.with_scaling(scaling).with_static_fraction(static_fraction)
    }

    /// The same model with another P_s, a fraction of the power at full rate.
    ///
    /// # Errors
    /// If the fraction is outside [0, 1).
    pub fn with_static_fraction(self, static_fraction: f64) -> Result<Self, ConfigError> {
        if !(0.0..1.0).contains(&static_fraction) {
            return Err(ConfigError::new("static_fraction", static_fraction, "a number from 0 to below 1"));
        }
        Ok(Self { static_fraction, ..self })
    }

    /// The same model with another power at full rate, in watts.
    ///
    /// # Errors
    /// If the power is not a finite number above zero.
    pub fn with_max_power(self, max_power: Watts) -> Result<Self, ConfigError> {
        if !(max_power.as_f64() > 0.0 && max_power.as_f64().is_finite()) {
            return Err(ConfigError::new("max_power", max_power, "a finite power above 0 W"));
        }
        Ok(Self { max_power, ..self })
    }

    /// The same model with a power at full rate that is that of a link of `speed`: that of others follows their speed.
    #[must_use]
    pub fn with_max_power_at(self, speed: BitRate) -> Self {
        Self { max_power_at: Some(speed), ..self }
    }

    /// The model of a link of `speed`.
    #[must_use]
    pub fn of_speed(self, speed: BitRate) -> Self {
        let Some(at) = self.max_power_at else { return self };
        let max_power = Watts::new(self.max_power.as_f64() * (speed.as_f64() / at.as_f64()));
        Self { max_power, max_power_at: Some(speed), ..self }
    }

    /// The same model with another assumption about the power in transitions.
    #[must_use]
    pub fn with_transition_power(self, transition_power: TransitionPower) -> Self {
        Self { transition_power, ..self }
    }

    /// The static power P_s as a fraction of the power at full rate.
    #[must_use]
    pub fn static_fraction(&self) -> f64 {
        self.static_fraction
    }

    /// The scaling of the rate-dependent power.
    #[must_use]
    pub fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// The power at full rate, in watts.
    #[must_use]
    pub fn max_power(&self) -> Watts {
        self.max_power
    }

    /// The assumption about the power in transitions.
    #[must_use]
    pub fn transition_power(&self) -> TransitionPower {
        self.transition_power
    }

    /// The static power P_s, in watts.
    pub(crate) fn static_power(&self) -> Watts {
        Watts::new(self.static_fraction * self.max_power.as_f64())
    }

    /// The rate-dependent power (1 - P_s) g(u), in watts.
    pub(crate) fn rate_power(&self, utilisation: f64) -> Watts {
        Watts::new((1.0 - self.static_fraction) * self.scaling.g(utilisation) * self.max_power.as_f64())
    }
}

impl Scaling {
    /// g(u), the rate-dependent power as a fraction of its maximum, for u as a fraction of u_max (intertwining-2012 section 2).
    #[must_use]
    pub fn g(self, u: f64) -> f64 {
        match self {
            Self::Frequency => u,
            Self::Voltage { phi, .. } if u * phi >= 1.0 => u * u * u,
            Self::Voltage { phi, below_floor: BelowFloor::FrequencyStillScales } => u / (phi * phi),
            Self::Voltage { phi, below_floor: BelowFloor::Clamps } => 1.0 / (phi * phi * phi),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DVS: Scaling = Scaling::Voltage { phi: 2.0, below_floor: BelowFloor::FrequencyStillScales };
    const CLAMPED: Scaling = Scaling::Voltage { phi: 2.0, below_floor: BelowFloor::Clamps };

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn both_parts_scale_with_the_power_at_full_rate() {
        // P_s = 0.25 of 8 W is 2 W, and FS takes half of the other 6 W at u = 0.5.
        let model = IdealModel::new(0.25, Scaling::Frequency).unwrap().with_max_power(Watts::new(8.0)).unwrap();
        assert!(near(model.max_power().as_f64(), 8.0));
        assert!(near(model.static_power().as_f64(), 2.0));
        assert!(near(model.rate_power(0.5).as_f64(), 3.0));
    }

    #[test]
    fn a_power_that_follows_the_speed() {
        // 5 W for 10 Gb/s: 0.5 W for 1 Gb/s, 50 W for 100 Gb/s, whatever link was asked for before.
        let model = IdealModel::PLAIN.with_max_power(Watts::new(5.0)).unwrap();
        let model = model.with_max_power_at(BitRate::from_mbps(10_000));
        let at = |mbps| model.of_speed(BitRate::from_mbps(mbps)).max_power().as_f64();
        assert!(near(at(10_000), 5.0) && near(at(1_000), 0.5) && near(at(100_000), 50.0));
        assert!(near(
            model.of_speed(BitRate::from_mbps(7)).of_speed(BitRate::from_mbps(1_000)).max_power().as_f64(),
            0.5
        ));
        assert!(near(IdealModel::PLAIN.of_speed(BitRate::from_mbps(7)).max_power().as_f64(), 1.0));
    }

    #[test]
    fn the_reference_check_by_hand() {
        // At u = .5 FS saves .5 (1-P_s), and DVS 1 - .5^3 = .875 of (1-P_s). At u = .8 they save .2 and 1 - .512
        // = .488.
        for p_s in [0.0, 0.25, 0.5, 0.75] {
            let saved = |scaling, u| {
                let model = IdealModel::new(p_s, scaling).unwrap();
                1.0 - model.static_power().as_f64() - model.rate_power(u).as_f64()
            };
            assert!(near(saved(Scaling::Frequency, 0.5), 0.5 * (1.0 - p_s)));
            assert!(near(saved(Scaling::Frequency, 0.8), 0.2 * (1.0 - p_s)));
            for dvs in [DVS, CLAMPED] {
                assert!(near(saved(dvs, 0.5), 0.875 * (1.0 - p_s)));
                assert!(near(saved(dvs, 0.8), 0.488 * (1.0 - p_s)));
                assert!(near(saved(dvs, 1.0), 0.0));
            }
        }
    }

    #[test]
    fn below_the_voltage_floor_the_two_readings_part() {
        // phi = 2, u = .1: A gives .1/4 = .025, B stays at 1/8 = .125.
        assert!(near(DVS.g(0.1), 0.025));
        assert!(near(CLAMPED.g(0.1), 0.125));
        assert!(near(DVS.g(0.0), 0.0));
    }

    #[test]
    fn above_the_voltage_floor_the_power_is_cubic_all_the_way() {
        // phi = 2: above u = .5, .6^3 = .216 in both readings. With phi = 1.25 the floor is at u = .8.
        assert!(near(DVS.g(0.6), 0.216));
        assert!(near(CLAMPED.g(0.6), 0.216));
        let high_floor = Scaling::Voltage { phi: 1.25, below_floor: BelowFloor::FrequencyStillScales };
        assert!(near(high_floor.g(0.9), 0.729));
        assert!(near(high_floor.g(0.6), 0.6 / 1.5625));
    }

    #[test]
    fn both_readings_are_continuous_at_the_floor() {
        for phi in [1.5, 2.0, 3.0] {
            for below_floor in [BelowFloor::FrequencyStillScales, BelowFloor::Clamps] {
                let scaling = Scaling::Voltage { phi, below_floor };
                let (under, over) = (scaling.g(1.0 / phi - 1e-9), scaling.g(1.0 / phi + 1e-9));
                assert!((under - over).abs() < 1e-8, "phi {phi}, {below_floor:?}: {under} and {over}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |p_s, scaling| IdealModel::new(p_s, scaling).unwrap_err().to_string();
        assert_eq!(why(1.0, Scaling::Frequency), "static_fraction is 1; expected a number from 0 to below 1");
        assert!(why(-0.1, Scaling::Frequency).starts_with("static_fraction is -0.1"));
        assert!(why(f64::NAN, Scaling::Frequency).starts_with("static_fraction is NaN"));
        let voltage = |phi| Scaling::Voltage { phi, below_floor: BelowFloor::Clamps };
        assert_eq!(why(0.0, voltage(1.0)), "phi is 1; expected a finite number above 1");
        assert!(why(0.0, voltage(f64::INFINITY)).starts_with("phi is inf"));
        let model = IdealModel::new(0.0, Scaling::Frequency).unwrap();
        let why = model.with_max_power(Watts::new(0.0)).unwrap_err().to_string();
        assert_eq!(why, "max_power is 0 W; expected a finite power above 0 W");
    }
}
