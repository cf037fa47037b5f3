//! The energy of a link by cause.

use netlull_units::Joules;
use std::iter::Sum;
use std::ops::Add;

/// The traffic of a link during a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Sent bits.
    pub bits: u64,
    /// Sent packets.
    pub packets: u64,
}

/// A link's energy over a run, by cause. The parts do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyLedger {
    /// The static energy at any rate, transitions included.
    pub static_: Joules,
    /// The rate-dependent energy in service.
    pub rate_dependent: Joules,
    /// The energy of the bits and packets.
    pub traffic: Joules,
    /// The rate-dependent energy in transition.
    pub transitions: Joules,
    /// The energy while the link sleeps.
    pub asleep: Joules,
}

impl EnergyLedger {
    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> Joules {
        self.static_ + self.rate_dependent + self.traffic + self.transitions + self.asleep
    }
}

/// Adds links up to a network.
impl Add for EnergyLedger {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            static_: self.static_ + other.static_,
            rate_dependent: self.rate_dependent + other.rate_dependent,
            traffic: self.traffic + other.traffic,
            transitions: self.transitions + other.transitions,
            asleep: self.asleep + other.asleep,
        }
    }
}

impl Sum for EnergyLedger {
    fn sum<I: Iterator<Item = Self>>(links: I) -> Self {
        links.fold(Self::default(), Add::add)
    }
}

/// The energy saving ES = 1 - E/E_ref as a fraction; times 100 it is the papers' percentage. Zero if the
/// reference has no energy.
#[must_use]
pub fn saving(energy: &EnergyLedger, reference: &EnergyLedger) -> f64 {
    let (energy, reference) = (energy.total().as_f64(), reference.total().as_f64());
    if reference > 0.0 { 1.0 - energy / reference } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up() {
        let part = |n: f64| Joules::new(n);
        let link = EnergyLedger {
            static_: part(1.0),
            rate_dependent: part(2.0),
            traffic: part(4.0),
            transitions: part(8.0),
            asleep: part(16.0),
        };
        assert_eq!(link.total(), Joules::new(31.0));
        assert_eq!([link, link].into_iter().sum::<EnergyLedger>().total(), Joules::new(62.0));
    }

    #[test]
    fn saving_is_one_less_the_ratio() {
        let of = |joules| EnergyLedger { static_: Joules::new(joules), ..EnergyLedger::default() };
        assert!((saving(&of(3.0), &of(4.0)) - 0.25).abs() < 1e-15);
        assert!(
            (saving(&of(5.0), &of(4.0)) + 0.25).abs() < 1e-15,
            "more energy than the reference is a negative saving"
        );
        assert!(saving(&of(0.0), &of(0.0)).abs() < 1e-15);
    }
}
