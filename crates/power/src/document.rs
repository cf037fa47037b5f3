//! The table of a power model: the one description of a device's watts, for scenarios, inventories and the catalogue.

use crate::device::{Device, DeviceModel, LineCard, PortSpeed, Supply, Transceiver};
use crate::{ConfigError, IdealModel, PowerModel, Scaling};
use netlull_document::check_ranges;
use netlull_units::{BitRate, Joules, SignedWatts, Watts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The power of links: a built-in model, or the watts of a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "docs/models/power.md"))]
pub struct PowerDocument {
    /// Name in results; default the model's name, with P_s if it is not zero.
    ///
    /// Entries of one name are one model: a link takes the entry that names it, else the one that names its sending
    /// node, else the one without `links` and `nodes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the model's", "x-source" = "-"))]
    pub name: Option<String>,
    /// Model from `netlull list power`, such as `fs`, `dvs` or `ncs-55a1-24h`. Other fields of the table replace its
    /// own. Without it, the table is a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = PowerModel::names(" | "), "x-source" = "of the model"))]
    #[schemars(extend("x-default" = "a device of the table's own fields"))]
    pub model: Option<String>,
    /// Nodes that are such a device. Links from a node are its ports, and share its box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "all", "x-source" = "-"))]
    pub nodes: Option<Vec<String>>,
    /// Links with this power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "all", "x-source" = "-"))]
    pub links: Option<Vec<String>>,
    /// P_s as a fraction of the maximum power; ideal models only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0, "x-default" = "0"))]
    #[schemars(extend("x-source" = "intertwining-2012 uses 0, .25, .5, .75; 0 is the upper bound on saving"))]
    pub static_fraction: Option<f64>,
    /// phi: the voltage scales down to u_max/phi; voltage-scaling models only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 1.0, "x-default" = "2", "x-source" = "intertwining-2012"))]
    pub phi: Option<f64>,
    /// P_max: power of a link at its maximum rate; ideal models only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 W", "x-default" = "1 W"))]
    #[schemars(extend("x-source" = "energies are then shares of full power"))]
    pub max_power: Option<Watts>,
    /// Speed of the link with `max_power`: P_max of other links follows their speed; ideal models only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-default" = "P_max is the same for every speed"))]
    #[schemars(extend("x-source" = "reading"))]
    pub max_power_at: Option<BitRate>,
    /// P_BASE: the powered box, with every port down and empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "0 W", "x-source" = "-"))]
    pub base: Option<Watts>,
    /// Ports that share the box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("x-default" = "1; with `nodes`, the links from the node", "x-source" = "-"))]
    pub ports: Option<u32>,
    /// Line cards, shared by ports that are slower than a card, and several for a port that is faster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "none", "x-source" = "-"))]
    pub line_card: Option<LineCardDocument>,
    /// Ports, one table for each speed and transceiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "a port of any speed without power", "x-source" = "-"))]
    pub port: Option<Vec<PortDocument>>,
    /// Power of a port of any speed without traffic, instead of `port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "0 W", "x-source" = "-"))]
    pub idle: Option<Watts>,
    /// Power of a port of any speed under full load, instead of `port`. In between, it is linear in the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`idle`", "x-source" = "-"))]
    pub busy: Option<Watts>,
    /// Power of a port asleep, without its transceiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "0 W", "x-source" = "-"))]
    pub asleep: Option<Watts>,
    /// True if a port asleep feeds its transceiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "true", "x-source" = "today's devices, by Fantastic Joules"))]
    pub transceiver_asleep: Option<bool>,
    /// Transceiver in every port, from `netlull list transceivers` or a port's table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of the port's table", "x-source" = "-"))]
    pub transceiver: Option<String>,
    /// Power supplies; without them the powers are those at the wall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "none", "x-source" = "-"))]
    pub supply: Option<SupplyDocument>,
    /// Power by the data sheet, for comparison; no model uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "-"))]
    pub data_sheet: Option<Watts>,
    /// Power measured at the wall in use, for comparison; no model uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "-"))]
    pub wall: Option<Watts>,
    /// Description in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "-"))]
    pub description: Option<String>,
    /// Sources of the numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "-"))]
    pub source: Option<String>,
}

/// A port of a device at one speed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "docs/models/power.md"))]
pub struct PortDocument {
    /// Speed of the port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-default" = "any", "x-source" = "-"))]
    pub speed: Option<BitRate>,
    /// P_PORT: power of the port while it is up, without its transceiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "0 W", "x-source" = "-"))]
    pub power: Option<Watts>,
    /// Power of the port under full load, without its transceiver, instead of `per_bit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`power`", "x-source" = "-"))]
    pub busy: Option<Watts>,
    /// Name of the transceiver with these powers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "none", "x-source" = "-"))]
    pub transceiver: Option<String>,
    /// P_TRX_IN: power of the transceiver when plugged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of the named transceiver, or 0 W", "x-source" = "-"))]
    pub transceiver_in: Option<Watts>,
    /// P_TRX_UP: additional power of the transceiver while the port is up. Measured values may be slightly negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of the named transceiver, or 0 W", "x-source" = "-"))]
    pub transceiver_up: Option<SignedWatts>,
    /// E_BIT: energy of a forwarded bit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "0 J", "x-source" = "-"))]
    pub per_bit: Option<Joules>,
    /// E_PKT: energy of a forwarded packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "0 J", "x-source" = "-"))]
    pub per_packet: Option<Joules>,
    /// Sources of the numbers, if not those of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "-"))]
    pub source: Option<String>,
}

/// Line cards.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineCardDocument {
    /// Power of a card.
    #[schemars(extend("x-source" = "-"))]
    pub power: Watts,
    /// Sum of the speeds of the ports on a card. A port that is faster has several cards, of which its rate decides the
    /// number that are on.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-source" = "-"))]
    pub capacity: BitRate,
    /// Power of a card whose ports all sleep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`power`", "x-source" = "-"))]
    pub asleep: Option<Watts>,
}

/// Power supplies. They share the load equally.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupplyDocument {
    /// Number of supplies.
    #[serde(default = "one")]
    #[schemars(range(min = 1), extend("x-source" = "-"))]
    pub count: u32,
    /// Efficiency of a supply by its output, in ascending order: such as `[["75 W", 0.88], ["600 W", 0.929]]`; or the
    /// name of a supply, `pfe600`.
    #[schemars(extend("x-unit" = "points | pfe600", "x-source" = "-"))]
    pub efficiency: EfficiencyDocument,
}

/// The efficiency of a supply: the name of a known one, or points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EfficiencyDocument {
    /// The name of a known supply.
    Name(String),
    /// Points of output and efficiency.
    Points(Vec<(Watts, f64)>),
}

const fn one() -> u32 {
    1
}

/// The efficiency of a Bel PFE600 at nine outputs in watts.
const PFE600: [(f64, f64); 9] = [
    (75.0, 0.880),
    (94.0, 0.902),
    (114.0, 0.917),
    (125.0, 0.925),
    (188.0, 0.937),
    (227.0, 0.940),
    (345.0, 0.9428),
    (451.0, 0.939),
    (600.0, 0.929),
];

impl PowerDocument {
    /// The table of a built-in model.
    #[must_use]
    pub fn named(model: &str) -> Self {
        Self { model: Some(model.to_owned()), ..Self::default() }
    }

    /// The model of this table.
    ///
    /// # Errors
    /// Names the field, its value and the expected values.
    pub fn model(&self) -> Result<PowerModel, ConfigError> {
        // The schema behind the ranges takes as long as a short run, and the name of a model has no range.
        if self.model.as_deref().is_none_or(|name| *self != Self::named(name)) {
            check_ranges(self)?;
        }
        self.unchecked_model()
    }

    /// The model of this table, whose values are in their ranges.
    pub(crate) fn unchecked_model(&self) -> Result<PowerModel, ConfigError> {
        let Some(name) = &self.model else { return self.own_device() };
        let Some(model) = PowerModel::by_name(name) else {
            let known = PowerModel::names(", ");
            return Err(ConfigError::new("model", format!("\"{name}\", which is unknown"), format!("one of {known}")));
        };
        match model {
            PowerModel::Ideal(ideal) => {
                if let Some(field) = self.device_field() {
                    let expected = format!("no field of a device next to the ideal model \"{name}\"");
                    return Err(ConfigError::new(field, "given", expected));
                }
                self.ideal(ideal).map(PowerModel::Ideal)
            }
            PowerModel::Device(model) if self.device_field().is_none() => {
                self.no_ideal_field(&format!("the device \"{name}\""))?;
                Ok(PowerModel::Device(model))
            }
            PowerModel::Device(_) => {
                self.no_ideal_field(&format!("the device \"{name}\""))?;
                let base = PowerModel::document(name).cloned().unwrap_or_default();
                self.clone().over(base).own_device()
            }
        }
    }

    /// The device of this table.
    ///
    /// # Errors
    /// Names the field, its value and the expected values. An ideal model is no device.
    pub fn device(&self) -> Result<Arc<Device>, ConfigError> {
        match self.model()? {
            PowerModel::Device(model) => Ok(Arc::clone(model.device())),
            PowerModel::Ideal(_) => {
                let name = self.model.clone().unwrap_or_default();
                Err(ConfigError::new("model", format!("\"{name}\", an ideal model"), "a device"))
            }
        }
    }

    /// This table with the fields of `base` that it does not give.
    fn over(self, base: Self) -> Self {
        // A port of any speed replaces the ports of the base, and the other way round.
        let own_port = self.port.is_some() || self.idle.is_some() || self.busy.is_some();
        Self {
            model: None,
            base: self.base.or(base.base),
            ports: self.ports.or(base.ports),
            line_card: self.line_card.or(base.line_card),
            port: if own_port { self.port } else { base.port },
            idle: if own_port { self.idle } else { base.idle },
            busy: if own_port { self.busy } else { base.busy },
            asleep: self.asleep.or(base.asleep),
            transceiver_asleep: self.transceiver_asleep.or(base.transceiver_asleep),
            transceiver: self.transceiver.or(base.transceiver),
            supply: self.supply.or(base.supply),
            data_sheet: self.data_sheet.or(base.data_sheet),
            wall: self.wall.or(base.wall),
            description: self.description.or(base.description),
            source: self.source.or(base.source),
            ..self
        }
    }

    /// The name of a given field that only devices have.
    fn device_field(&self) -> Option<&'static str> {
        let given = [
            ("base", self.base.is_some()),
            ("ports", self.ports.is_some()),
            ("line_card", self.line_card.is_some()),
            ("port", self.port.is_some()),
            ("idle", self.idle.is_some()),
            ("busy", self.busy.is_some()),
            ("asleep", self.asleep.is_some()),
            ("transceiver_asleep", self.transceiver_asleep.is_some()),
            ("transceiver", self.transceiver.is_some()),
            ("supply", self.supply.is_some()),
            ("data_sheet", self.data_sheet.is_some()),
            ("wall", self.wall.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(field, _)| field)
    }

    fn no_ideal_field(&self, device: &str) -> Result<(), ConfigError> {
        let given = [
            ("static_fraction", self.static_fraction.is_some()),
            ("phi", self.phi.is_some()),
            ("max_power", self.max_power.is_some()),
            ("max_power_at", self.max_power_at.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((field, _)) => {
                Err(ConfigError::new(field, "given", format!("no field of an ideal model next to {device}")))
            }
            None => Ok(()),
        }
    }

    fn ideal(&self, model: IdealModel) -> Result<IdealModel, ConfigError> {
        let scaling = match (model.scaling(), self.phi) {
            (scaling, None) => scaling,
            (Scaling::Frequency, Some(_)) => {
                return Err(ConfigError::new("phi", "given for frequency scaling", "no phi"));
            }
            (Scaling::Voltage { below_floor, .. }, Some(phi)) => Scaling::Voltage { phi, below_floor },
        };
        let mut ideal = IdealModel::new(self.static_fraction.unwrap_or(model.static_fraction()), scaling)?;
        if let Some(power) = self.max_power {
            ideal = ideal.with_max_power(power)?;
        }
        Ok(match self.max_power_at {
            Some(speed) => ideal.with_max_power_at(speed),
            None => ideal,
        })
    }

    fn own_device(&self) -> Result<PowerModel, ConfigError> {
        self.no_ideal_field("a device")?;
        if self.device_field().is_none() {
            let expected = "a model from netlull list power, or the watts of a device, such as base = \"30 W\"";
            return Err(ConfigError::new("model", "missing", expected));
        }
        let transceivers = Transceiver::catalogue();
        let of_name = |field: String, name: &str| {
            transceivers.iter().find(|each| each.name == name).ok_or_else(|| unknown_transceiver(field, name))
        };
        let speeds = match (&self.port, self.idle.or(self.busy)) {
            (Some(_), Some(_)) => {
                let field = if self.idle.is_some() { "idle" } else { "busy" };
                return Err(ConfigError::new(field, "given", "either port, or idle and busy of a port of any speed"));
            }
            (Some(ports), None) if ports.is_empty() => {
                return Err(ConfigError::new("port", "empty", "at least one port"));
            }
            (Some(ports), None) => {
                let rows: Result<Vec<_>, _> = ports
                    .iter()
                    .enumerate()
                    .map(|(index, port)| port.row(&of_name).map_err(|error| error.within(&format!("port.{index}"))))
                    .collect();
                rows?
            }
            (None, _) => {
                let idle = self.idle.unwrap_or_default();
                let port = PortDocument { power: Some(idle), busy: self.busy, ..PortDocument::default() };
                vec![port.row(&of_name)?]
            }
        };
        let any = speeds.iter().filter(|port| port.speed.is_zero()).count();
        if any > 0 && speeds.len() > any {
            return Err(ConfigError::new(
                "port",
                "a mixture of ports with and without a speed",
                "a speed for each port",
            ));
        }
        let mut device = Device {
            name: self.name.clone().unwrap_or_default(),
            source: self.source.clone().unwrap_or_default(),
            base: self.base.unwrap_or_default(),
            ports: self.ports.unwrap_or(1),
            line_card: self.line_card.map(|card| LineCard {
                power: card.power,
                capacity: card.capacity,
                asleep: card.asleep.unwrap_or(card.power),
            }),
            speeds,
            asleep: self.asleep.unwrap_or_default(),
            transceiver_asleep: self.transceiver_asleep.unwrap_or(true),
            supply: self.supply.as_ref().map(SupplyDocument::supply).transpose()?,
            data_sheet: self.data_sheet,
            wall: self.wall,
        };
        device.speeds.sort_by_key(|port| port.speed);
        if let Some(name) = &self.transceiver {
            device.plug_in(name, |name| of_name("transceiver".to_owned(), name))?;
        }
        Ok(PowerModel::Device(DeviceModel::new(Arc::new(device))))
    }
}

pub(crate) fn unknown_transceiver(field: String, name: &str) -> ConfigError {
    let known: Vec<_> = Transceiver::catalogue().iter().map(|each| each.name.as_str()).collect();
    let expected = format!("one of {}, or that of a port of the device", known.join(", "));
    ConfigError::new(field, format!("\"{name}\""), expected)
}

impl PortDocument {
    fn row<'a>(
        &self,
        of_name: &impl Fn(String, &str) -> Result<&'a Transceiver, ConfigError>,
    ) -> Result<PortSpeed, ConfigError> {
        let named = match &self.transceiver {
            // A port may name a transceiver that only this device has, if it gives the powers.
            Some(name) if self.transceiver_in.is_none() => Some(of_name("transceiver".to_owned(), name)?),
            _ => None,
        };
        let port = self.power.unwrap_or_default();
        let busy = self.busy.unwrap_or(port);
        if busy < port {
            return Err(ConfigError::new("busy", busy, format!("at least the power without traffic, {port}")));
        }
        if self.busy.is_some() && self.per_bit.is_some() {
            return Err(ConfigError::new("busy", "given next to per_bit", "only one of them"));
        }
        Ok(PortSpeed {
            speed: self.speed.unwrap_or_default(),
            port,
            busy: Watts::new(busy.as_f64() - port.as_f64()),
            transceiver: self.transceiver.clone().unwrap_or_default(),
            transceiver_in: self.transceiver_in.or(named.map(|each| each.plugged)).unwrap_or_default(),
            transceiver_up: self.transceiver_up.map(|up| up.0).or(named.map(|each| each.up)).unwrap_or_default(),
            per_bit: self.per_bit.unwrap_or_default(),
            per_packet: self.per_packet.unwrap_or_default(),
        })
    }
}

impl SupplyDocument {
    fn supply(&self) -> Result<Supply, ConfigError> {
        let points = match &self.efficiency {
            EfficiencyDocument::Name(name) if name == "pfe600" => PFE600.to_vec(),
            EfficiencyDocument::Name(name) => {
                let expected = "pfe600, or points such as [[\"75 W\", 0.88], [\"600 W\", 0.929]]";
                return Err(ConfigError::new("supply.efficiency", format!("\"{name}\""), expected));
            }
            EfficiencyDocument::Points(points) => {
                points.iter().map(|&(power, share)| (power.as_f64(), share)).collect()
            }
        };
        Supply::new(self.count, points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Residency, Traffic};
    use netlull_units::Duration;
    use serde_json::json;

    fn read(value: serde_json::Value) -> PowerDocument {
        netlull_document::read(&value).expect("a table")
    }

    fn why(value: serde_json::Value) -> String {
        read(value).model().expect_err("a wrong table").to_string()
    }

    #[test]
    fn a_port_between_idle_and_busy_is_linear_in_its_load() {
        // 10 s at 1 Gb/s with 400 Mb/s: 10 x (0.2 + 0.5 x 0.4) = 4 J.
        let model = read(json!({ "name": "own", "idle": "0.2 W", "busy": "0.7 W" })).model().expect("a device");
        let (rate, time) = (BitRate::from_mbps(1000), Duration::from_secs(10));
        let traffic = Traffic { bits: 4_000_000_000, packets: 0 };
        let energy = model.energy(&Residency::constant(rate, time), rate, traffic);
        assert!((energy.total().as_f64() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_table_that_names_a_model_replaces_some_of_its_fields() {
        let model = read(json!({ "model": "8201-32fh", "ports": 8, "transceiver_asleep": false }));
        let device = model.device().expect("a device");
        assert_eq!((device.base, device.ports, device.transceiver_asleep), (Watts::new(253.85), 8, false));
        assert_eq!(device.speeds, PowerDocument::named("8201-32fh").device().expect("a device").speeds);
    }

    #[test]
    fn errors_name_the_field() {
        let begins = |value, text: &str| {
            let told = why(value);
            assert!(told.starts_with(text), "{told}");
        };
        begins(json!({ "name": "own" }), "model is missing; expected a model");
        begins(json!({ "model": "fs", "base": "1 W" }), "base is given; expected no field of a device");
        begins(json!({ "base": "1 W", "phi": 2.0 }), "phi is given; expected no field of an ideal model");
        begins(json!({ "base": "1 W", "port": [] }), "port is empty");
        begins(json!({ "idle": "1 W", "busy": "0.5 W" }), "busy is 0.5 W; expected at least");
        begins(json!({ "idle": "1 W", "port": [{ "speed": "1 Gb/s" }] }), "idle is given; expected either port");
        begins(json!({ "port": [{ "speed": "1 Gb/s" }, {}] }), "port is a mixture");
        begins(json!({ "port": [{ "speed": "1 Gb/s", "transceiver": "sfp" }] }), "port.0.transceiver is \"sfp\"");
        let supply = |efficiency| json!({ "base": "1 W", "supply": { "count": 2, "efficiency": efficiency } });
        begins(supply(json!("best")), "supply.efficiency is \"best\"");
        begins(supply(json!([])), "supply.efficiency is empty");
        begins(supply(json!([["75 W", 1.2]])), "supply.efficiency.0 is 1.2");
        begins(supply(json!([["75 W", 0.9], ["75 W", 0.91]])), "supply.efficiency.1 is 75 W");
    }
}
