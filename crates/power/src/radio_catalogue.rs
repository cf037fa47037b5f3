//! Ready wireless interfaces by name.

use crate::RadioPower;
use netlull_units::{Duration, Watts};

const READY: &[RadioPower] = &[RadioPower {
    name: "wavelan-dsss",
    summary: "a 2.4 GHz WaveLAN DSSS card, as in the paper",
    source: "client-centered-2004 section IV-A-b, of Stemm et al. 1996 and Havinga 2000; waking is 2 ms of idle there",
    asleep: Watts::new(0.177),
    idle: Watts::new(1.319),
    receive: Watts::new(1.425),
    transmit: Watts::new(1.675),
    waking: Watts::new(1.319),
    wake: Duration::from_millis(2),
}];

impl RadioPower {
    /// All ready interfaces: the paper's, then the ones measured since.
    #[must_use]
    pub const fn catalogue() -> &'static [Self] {
        READY
    }

    /// The ready interface of that name, `None` if there is none.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        READY.iter().find(|radio| radio.name == name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_once_and_every_figure_is_sound() {
        for radio in RadioPower::catalogue() {
            assert_eq!(RadioPower::by_name(radio.name), Some(*radio));
            assert_eq!(RadioPower::catalogue().iter().filter(|other| other.name == radio.name).count(), 1);
            assert_eq!(radio.checked(), Ok(*radio));
            assert!(radio.asleep < radio.idle && radio.idle <= radio.receive, "{}", radio.name);
        }
        assert_eq!(RadioPower::by_name("wavelan"), None);
    }
}
