//! The catalogue of power models, by name.

use crate::{BelowFloor, IdealModel, PowerDocument, PowerModel, Scaling};
use std::sync::LazyLock;

/// A power model with its name, summary and source.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerModelInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// The summary in one line.
    pub summary: String,
    /// The source of the model.
    pub source: String,
    /// The model with its defaults: P_s = 0 of 1 W for the ideal models, every port loaded for the devices.
    pub model: PowerModel,
}

const PAPERS: &str = "troubled-marriage-2016 section II, intertwining-2012";
const READING: &str = "troubled-marriage-2016, intertwining-2012; below half the rate a reading";

const fn dvs(below_floor: BelowFloor) -> IdealModel {
    IdealModel::PLAIN.with_scaling(Scaling::Voltage { phi: 2.0, below_floor })
}

const IDEAL: [(&str, &str, &str, IdealModel); 3] = [
    ("fs", "ideal frequency scaling: power linear in the rate", PAPERS, IdealModel::PLAIN),
    (
        "dvs",
        "ideal voltage scaling: cubic down to half the rate, linear below",
        READING,
        dvs(BelowFloor::FrequencyStillScales),
    ),
    (
        "dvs-clamped",
        "ideal voltage scaling: cubic down to half the rate, constant below",
        READING,
        dvs(BelowFloor::Clamps),
    ),
];

/// A device of the catalogue. Its table is read when it is first used.
struct Shipped {
    name: &'static str,
    document: LazyLock<(PowerDocument, PowerModel)>,
}

macro_rules! devices {
    ($count:literal: $($name:literal),* $(,)?) => {
        static DEVICES: [Shipped; $count] = [$(Shipped {
            name: $name,
            document: LazyLock::new(|| read(include_str!(concat!("devices/", $name, ".json")))),
        }),*];
    };
}

// To add a device: its table in devices/NAME.json, and its name here.
devices![7:
    "ons-15600",
    "ncs-55a1-24h",
    "8201-32fh",
    "nexus-9336-fx2",
    "wedge-tofino",
    "7280cr3k-32d4",
    "n540x-8z16g",
];

/// The table of a shipped device and its model.
fn read(text: &str) -> (PowerDocument, PowerModel) {
    let read = serde_json::from_str::<PowerDocument>(text).map_err(|error| error.to_string());
    let made = read.and_then(|table| Ok((table.unchecked_model().map_err(|error| error.to_string())?, table)));
    match made {
        Ok((model, table)) => (table, model),
        // A test reads all of them.
        Err(error) => unreachable!("a shipped device: {error}"),
    }
}

impl PowerModel {
    /// Returns the catalogue: the ideal models, then the devices.
    #[must_use]
    pub fn catalogue() -> &'static [PowerModelInfo] {
        static CATALOGUE: LazyLock<Vec<PowerModelInfo>> = LazyLock::new(|| {
            let ideal = IDEAL.iter().map(|&(name, summary, source, model)| PowerModelInfo {
                name,
                summary: summary.to_owned(),
                source: source.to_owned(),
                model: PowerModel::Ideal(model),
            });
            let device = |shipped: &Shipped| {
                let (table, model) = &*shipped.document;
                PowerModelInfo {
                    name: shipped.name,
                    summary: table.description.clone().unwrap_or_default(),
                    source: table.source.clone().unwrap_or_default(),
                    model: model.clone(),
                }
            };
            ideal.chain(DEVICES.iter().map(device)).collect()
        });
        &CATALOGUE
    }

    /// Returns the names of the catalogue, with `separator` between them.
    #[must_use]
    pub fn names(separator: &str) -> String {
        let names = IDEAL.iter().map(|ideal| ideal.0).chain(DEVICES.iter().map(|device| device.name));
        names.collect::<Vec<_>>().join(separator)
    }

    /// Returns the model of that name, `None` if there is none.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let ideal = IDEAL.iter().find(|ideal| ideal.0 == name).map(|ideal| Self::Ideal(ideal.3));
        ideal.or_else(|| DEVICES.iter().find(|device| device.name == name).map(|device| device.document.1.clone()))
    }

    /// Returns the table of the device of that name, `None` if there is none.
    #[must_use]
    pub fn document(name: &str) -> Option<&'static PowerDocument> {
        DEVICES.iter().find(|device| device.name == name).map(|device| &device.document.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_is_unique() {
        let names: Vec<_> = PowerModel::catalogue().iter().map(|info| info.name).collect();
        assert_eq!(names.join(" "), PowerModel::names(" "));
        for info in PowerModel::catalogue() {
            assert_eq!(PowerModel::by_name(info.name).as_ref(), Some(&info.model), "{}", info.name);
            assert_eq!(names.iter().filter(|name| **name == info.name).count(), 1, "{}", info.name);
            assert!(!info.summary.is_empty() && !info.source.is_empty(), "{}", info.name);
            // With the ranges, which `read` leaves out.
            if let Some(table) = PowerModel::document(info.name) {
                assert_eq!(table.model().as_ref(), Ok(&info.model), "{}", info.name);
            }
        }
        assert_eq!(PowerModel::by_name("FS"), None);
    }

    #[test]
    fn what_a_user_could_build_is_what_is_ready() {
        let built = |scaling| PowerModel::Ideal(IdealModel::new(0.0, scaling).unwrap());
        assert_eq!(PowerModel::by_name("fs"), Some(built(Scaling::Frequency)));
        let below_floor = BelowFloor::Clamps;
        assert_eq!(PowerModel::by_name("dvs-clamped"), Some(built(Scaling::Voltage { phi: 2.0, below_floor })));
    }
}
