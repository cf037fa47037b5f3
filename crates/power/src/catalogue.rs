//! The catalogue of power models, by name.

use crate::{
    BelowFloor, Device, DeviceModel, IdealModel, LineCards, NCS_55A1_24H, NEXUS_9336_FX2, PowerModel, ROUTER_8201_32FH,
    Scaling, WEDGE_TOFINO,
};

/// A power model with its name, summary and source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerModelInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// The summary in one line.
    pub summary: &'static str,
    /// The source of the model.
    pub source: &'static str,
    /// The model with its defaults: P_s = 0 of 1 W for the ideal models, every port loaded for the devices.
    pub model: PowerModel,
}

const PAPERS: &str = "troubled-marriage-2016 section II, intertwining-2012";
const READING: &str = "troubled-marriage-2016, intertwining-2012; below half the rate a reading";

const fn dvs(below_floor: BelowFloor) -> PowerModel {
    PowerModel::Ideal(IdealModel::PLAIN.with_scaling(Scaling::Voltage { phi: 2.0, below_floor }))
}

const fn device(device: Device, summary: &'static str) -> PowerModelInfo {
    let model = PowerModel::Device(DeviceModel::new(device));
    PowerModelInfo { name: device.name, summary, source: device.source, model }
}

const SHIPPED: &[PowerModelInfo] = &[
    PowerModelInfo {
        name: "fs",
        summary: "ideal frequency scaling: power linear in the rate",
        source: PAPERS,
        model: PowerModel::Ideal(IdealModel::PLAIN),
    },
    PowerModelInfo {
        name: "dvs",
        summary: "ideal voltage scaling: cubic down to half the rate, linear below",
        source: READING,
        model: dvs(BelowFloor::FrequencyStillScales),
    },
    PowerModelInfo {
        name: "dvs-clamped",
        summary: "ideal voltage scaling: cubic down to half the rate, constant below",
        source: READING,
        model: dvs(BelowFloor::Clamps),
    },
    PowerModelInfo {
        name: "ons-15600",
        summary: "16 line cards of a Cisco ONS 15600, 140 W each: as many on as the rate needs, none asleep",
        source: "greened-network-2012 section III, of a data sheet",
        model: PowerModel::LineCards(LineCards::ONS_15600),
    },
    device(NCS_55A1_24H, "a port of a Cisco NCS-55A1-24H at 25G, 50G or 100G, with its share of the box"),
    device(ROUTER_8201_32FH, "a port of a Cisco 8201-32FH, measured at 100G only, with its share of the box"),
    device(NEXUS_9336_FX2, "a port of a Cisco Nexus 9336-FX2, 100G LR only, with its share of the box"),
    device(WEDGE_TOFINO, "a port of a Wedge (Tofino) at 10G, 25G or 100G, with its share of the box"),
];

impl PowerModel {
    /// Returns the catalogue: the ideal models, then the measured devices.
    #[must_use]
    pub const fn catalogue() -> &'static [PowerModelInfo] {
        SHIPPED
    }

    /// Returns the names of the catalogue, with `separator` between them.
    #[must_use]
    pub fn names(separator: &str) -> String {
        SHIPPED.iter().map(|info| info.name).collect::<Vec<_>>().join(separator)
    }

    /// Returns the model of that name, `None` if there is none.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        SHIPPED.iter().find(|info| info.name == name).map(|info| info.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_is_unique() {
        let names: Vec<_> = PowerModel::catalogue().iter().map(|info| info.name).collect();
        assert_eq!(
            names,
            ["fs", "dvs", "dvs-clamped", "ons-15600", "ncs-55a1-24h", "8201-32fh", "nexus-9336-fx2", "wedge-tofino"]
        );
        for info in PowerModel::catalogue() {
            assert_eq!(PowerModel::by_name(info.name), Some(info.model), "{}", info.name);
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
