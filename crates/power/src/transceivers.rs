//! The catalogue of transceivers.

use crate::Transceiver;
use netlull_units::Watts;
use std::sync::LazyLock;

const DATA_SHEETS: &str = "maker's maximum in the list of NetPowerBench (ETH Zurich), charged when plugged in";

/// Names and powers in watts. A data sheet gives one power, and measurements find most of it with the port down.
const SHIPPED: [(&str, f64); 22] = [
    ("sfp-1000t", 1.2),
    ("sfp-lx", 2.0),
    ("sfp-cwdm", 1.0),
    ("sfp+-dac", 0.25),
    ("sfp+-sr", 1.0),
    ("sfp+-lr", 1.3),
    ("sfp+-er", 1.5),
    ("sfp+-zr", 1.5),
    ("sfp+-10g-t", 3.0),
    ("qsfp+-lr4", 3.5),
    ("qsfp28-lr", 4.5),
    ("qsfp28-lr4", 4.0),
    ("qsfp28-sr4", 3.5),
    ("qsfp28-er4", 5.0),
    ("qsfp28-bidi", 4.5),
    ("qsfp-dd-fr4", 12.0),
    ("qsfp-dd-dr4", 12.0),
    ("qsfp-dd-er4l", 12.0),
    ("qsfp-dd-lr4", 10.5),
    ("qsfp-dd-zr+", 21.0),
    ("none", 0.0),
    ("qsfp28-dac", 0.224),
];

impl Transceiver {
    /// Returns the catalogue. `none` is an empty port.
    #[must_use]
    pub fn catalogue() -> &'static [Self] {
        static CATALOGUE: LazyLock<Vec<Transceiver>> = LazyLock::new(|| {
            SHIPPED
                .iter()
                .map(|&(name, watts)| Transceiver {
                    name: name.to_owned(),
                    plugged: Watts::new(watts),
                    up: Watts::new(if name == "qsfp28-dac" { 0.330 } else { 0.0 }),
                    source: match name {
                        "none" => "an empty port".to_owned(),
                        "qsfp28-dac" => "measured in an Arista 7280CR3K-32D4 (NetPowerBench, ETH Zurich)".to_owned(),
                        _ => DATA_SHEETS.to_owned(),
                    },
                })
                .collect()
        });
        &CATALOGUE
    }
}
