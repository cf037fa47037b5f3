//! The power of a whole device by cause, for its ports and their loads over time.

use crate::ConfigError;
use crate::device::{Device, PortSpeed, Transceiver};
use netlull_units::{BitRate, Watts};
use serde::Deserialize;

/// The causes of a device's power, in the order of [`Watched::causes`].
pub const CAUSES: [&str; 8] =
    ["base", "line_card", "port", "transceiver_in", "transceiver_up", "per_bit", "per_packet", "supply_loss"];

/// A port of a device in use.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortUse {
    /// The speed of the link.
    pub speed: BitRate,
    /// The transceiver.
    #[serde(default)]
    pub transceiver: Plugged,
}

/// The transceiver in a port.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Plugged {
    /// That of the device's port at this speed.
    #[default]
    Described,
    /// A transceiver by its name: of the device, or of the catalogue.
    Named(String),
    /// A transceiver by its powers.
    Powers(TransceiverPowers),
}

/// The powers of a transceiver.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransceiverPowers {
    /// The power when plugged in.
    #[serde(rename = "in")]
    pub plugged: Watts,
    /// The additional power while the port is up.
    #[serde(default)]
    pub up: netlull_units::SignedWatts,
}

/// The state of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortState {
    /// Down, with its transceiver plugged in.
    Down,
    /// Up.
    Up,
    /// Asleep.
    Asleep,
}

impl PortState {
    /// The state of a number: 0 down, 1 up, 2 asleep.
    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        [Self::Down, Self::Up, Self::Asleep].get(usize::from(number)).copied()
    }
}

/// The states and loads of the ports of a device over time. Entry `port * times + time` of a list is that of a port and
/// an instant.
#[derive(Clone, Copy, Debug)]
pub struct Loads<'a> {
    /// The number of instants.
    pub times: usize,
    /// The states.
    pub states: &'a [PortState],
    /// Bits per second received.
    pub bits_in: &'a [f64],
    /// Bits per second sent.
    pub bits_out: &'a [f64],
    /// Packets per second received.
    pub packets_in: &'a [f64],
    /// Packets per second sent.
    pub packets_out: &'a [f64],
}

/// The power of a device over time, in watts.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    /// By cause, in the order of [`CAUSES`], at each instant: entry `cause * times + time`.
    pub causes: Vec<f64>,
    /// That of each port, its transceiver and its traffic, before the supplies: entry `port * times + time`.
    pub ports: Vec<f64>,
}

/// A port with its row of the device's table and its transceiver.
struct Chosen<'a> {
    row: &'a PortSpeed,
    speed: BitRate,
    plugged: f64,
    up: f64,
}

impl Device {
    /// The power of the device by cause, for these ports and loads.
    ///
    /// A link's speed decides on the row of a port: that of the same speed, else the slowest that is faster, else the
    /// fastest. A bit that the device forwards enters one port and leaves another: each of them is charged half, and so
    /// is a packet. Only ports that are up carry traffic. The cards are as many as the speeds of all ports need.
    ///
    /// # Errors
    /// Names an unknown transceiver, or a list of the wrong length.
    pub fn watts(&self, ports: &[PortUse], loads: Loads<'_>) -> Result<Watched, ConfigError> {
        let times = loads.times;
        let entries = ports.len() * times;
        let lists = [
            ("states", loads.states.len()),
            ("bits_in", loads.bits_in.len()),
            ("bits_out", loads.bits_out.len()),
            ("packets_in", loads.packets_in.len()),
            ("packets_out", loads.packets_out.len()),
        ];
        if let Some((name, length)) = lists.into_iter().find(|(_, length)| *length != entries) {
            return Err(ConfigError::new(
                name,
                format!("a list of {length} entries"),
                format!("{entries}: ports x times"),
            ));
        }
        let chosen: Vec<Chosen<'_>> = ports
            .iter()
            .enumerate()
            .map(|(index, port)| self.chosen(port).map_err(|error| error.within(&index.to_string())))
            .collect::<Result<_, _>>()?;
        let mut causes = vec![0.0; CAUSES.len() * times];
        let mut each = vec![0.0; entries];
        for time in 0..times {
            let mut sums = [0.0; CAUSES.len()];
            sums[0] = self.base.as_f64();
            let mut awake = 0_u128;
            for (index, port) in chosen.iter().enumerate() {
                let at = index * times + time;
                let mut add = |cause: usize, watts: f64| {
                    sums[cause] += watts;
                    each[at] += watts;
                };
                match loads.states[at] {
                    PortState::Down => add(3, port.plugged),
                    PortState::Asleep => {
                        add(2, self.asleep.as_f64());
                        add(3, if self.transceiver_asleep { port.plugged } else { 0.0 });
                    }
                    PortState::Up => {
                        awake += u128::from(port.speed.as_bps());
                        let bits = (loads.bits_in[at] + loads.bits_out[at]) / 2.0;
                        let packets = (loads.packets_in[at] + loads.packets_out[at]) / 2.0;
                        let load = port.row.busy.as_f64() * bits / port.speed.as_f64().max(1.0);
                        add(2, port.row.port.as_f64());
                        add(3, port.plugged);
                        add(4, port.up);
                        add(5, port.row.per_bit.as_f64() * bits + load);
                        add(6, port.row.per_packet.as_f64() * packets);
                    }
                }
            }
            sums[1] = self.cards_power(&chosen, awake);
            if let Some(supply) = &self.supply {
                sums[7] = supply.loss(sums.iter().sum());
            }
            for (cause, watts) in sums.into_iter().enumerate() {
                causes[cause * times + time] = watts;
            }
        }
        Ok(Watched { causes, ports: each })
    }

    /// The power of the line cards, if ports with this sum of speeds are awake.
    #[allow(clippy::cast_precision_loss, reason = "cards are few")]
    fn cards_power(&self, ports: &[Chosen<'_>], awake: u128) -> f64 {
        let Some(card) = &self.line_card else { return 0.0 };
        let all = card.cards(ports.iter().map(|port| u128::from(port.speed.as_bps())).sum());
        let on = card.cards(awake);
        on as f64 * card.power.as_f64() + (all - on) as f64 * card.asleep.as_f64()
    }

    fn chosen(&self, port: &PortUse) -> Result<Chosen<'_>, ConfigError> {
        let name = match &port.transceiver {
            Plugged::Named(name) => Some(name.as_str()),
            _ => None,
        };
        let row = self.port_for(port.speed, name);
        let (plugged, up) = match (&port.transceiver, name) {
            (Plugged::Powers(powers), _) => (powers.plugged, powers.up.0),
            (_, Some(name)) if row.transceiver != name => {
                let Some(known) = Transceiver::catalogue().iter().find(|each| each.name == name) else {
                    return Err(crate::document::unknown_transceiver("transceiver".to_owned(), name));
                };
                (known.plugged, known.up)
            }
            _ => (row.transceiver_in, row.transceiver_up),
        };
        Ok(Chosen { row, speed: port.speed, plugged: plugged.as_f64(), up: up.as_f64() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PowerDocument;
    use serde_json::{Value, json};

    fn device(table: Value) -> std::sync::Arc<Device> {
        netlull_document::read::<PowerDocument>(&table).expect("a table").device().expect("a device")
    }

    fn port(value: Value) -> PortUse {
        serde_json::from_value(value).expect("a port")
    }

    /// The causes at one instant: ports with a state, and bits and packets per second in each direction.
    fn causes(device: &Device, ports: &[(PortUse, PortState, f64, f64)]) -> Vec<f64> {
        let of = |pick: fn(&(PortUse, PortState, f64, f64)) -> f64| ports.iter().map(pick).collect::<Vec<_>>();
        let (bits, packets) = (of(|port| port.2), of(|port| port.3));
        let uses: Vec<_> = ports.iter().map(|port| port.0.clone()).collect();
        let states: Vec<_> = ports.iter().map(|port| port.1).collect();
        let loads = Loads {
            times: 1,
            states: &states,
            bits_in: &bits,
            bits_out: &bits,
            packets_in: &packets,
            packets_out: &packets,
        };
        device.watts(&uses, loads).expect("watts").causes
    }

    fn near(found: &[f64], expected: [f64; 8]) {
        for (cause, (found, expected)) in CAUSES.iter().zip(found.iter().zip(expected)) {
            assert!((found - expected).abs() < 1e-9, "{cause}: {found} W, expected {expected} W");
        }
    }

    #[test]
    fn a_measured_device_by_hand() {
        // NCS-55A1-24H: a 100G port at 40 Gb/s and 5 Mpps, a 25G port down, a 10G port (on 25G) asleep.
        // 21.5 pJ x 40e9 = 0.86 W; 58.3 nJ x 5e6 = 0.2915 W; transceivers 3 x 0.019 W.
        let ncs = device(json!({ "model": "ncs-55a1-24h" }));
        let found = causes(
            &ncs,
            &[
                (port(json!({ "speed": "100 Gb/s" })), PortState::Up, 40e9, 5e6),
                (port(json!({ "speed": "25 Gb/s" })), PortState::Down, 0.0, 0.0),
                (port(json!({ "speed": "10 Gb/s" })), PortState::Asleep, 0.0, 0.0),
            ],
        );
        near(&found, [319.82, 0.0, 0.316, 0.057, 0.194, 0.86, 0.2915, 0.0]);
    }

    #[test]
    fn own_transceivers_cards_and_supplies_by_hand() {
        // Two cards of 100G for 130G of ports; 20 W for a card asleep. Awake: one port of 100G, so one card.
        // DC: 50 + 60 + 20 + (1 + 0.5) + (4 + 2) + 0.1 + 2 x 0.25 = 138.1 W; each of two supplies gives 69.05 W.
        // Below 75 W: 0.88 + (69.05 - 75) x (0.902 - 0.88)/19 = 0.873110526.. ; loss 138.1/0.873110526 - 138.1.
        let own = device(json!({
            "base": "50 W",
            "line_card": { "power": "60 W", "capacity": "100 Gb/s", "asleep": "20 W" },
            "port": [
                { "speed": "10 Gb/s", "power": "0.5 W", "transceiver": "sfp+-sr" },
                { "speed": "100 Gb/s", "power": "1 W", "per_bit": "10 pJ" },
            ],
            "asleep": "0.5 W",
            "transceiver_asleep": true,
            "supply": { "count": 2, "efficiency": "pfe600" },
        }));
        let found = causes(
            &own,
            &[
                (port(json!({ "speed": "100 Gb/s", "transceiver": "qsfp28-lr4" })), PortState::Up, 10e9, 1e6),
                (port(json!({ "speed": "10 Gb/s" })), PortState::Asleep, 0.0, 0.0),
                (
                    port(json!({ "speed": "10 Gb/s", "transceiver": { "in": "1 W", "up": "-0.5 W" } })),
                    PortState::Down,
                    0.0,
                    0.0,
                ),
                (port(json!({ "speed": "10 Gb/s", "transceiver": "none" })), PortState::Down, 0.0, 0.0),
            ],
        );
        let dc = 50.0 + 80.0 + 1.5 + 6.0 + 0.1;
        let loss = dc / (0.88 + (dc / 2.0 - 75.0) * 0.022 / 19.0) - dc;
        near(&found, [50.0, 80.0, 1.5, 6.0, 0.0, 0.1, 0.0, loss]);
    }

    #[test]
    fn the_supply_is_exact_at_its_points() {
        let supply = |count| {
            let table = json!({ "base": "1 W", "supply": { "count": count, "efficiency": "pfe600" } });
            device(table).supply.clone().expect("a supply")
        };
        let points = [
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
        for (output, efficiency) in points {
            for count in [1, 2] {
                let load = output * f64::from(count);
                assert!((supply(count).loss(load) - (load / efficiency - load)).abs() < 1e-12, "{output} W");
            }
        }
        // Halfway between 188 and 227 W: 0.9385. Above the last point its efficiency stays; none is above 1.
        assert!((supply(1).efficiency(207.5) - 0.9385).abs() < 1e-12);
        assert!((supply(1).efficiency(900.0) - 0.929).abs() < 1e-12);
        assert!(supply(1).loss(0.0).abs() < 1e-12);
    }

    #[test]
    fn the_ports_have_the_power_that_causes_add_up() {
        let ncs = device(json!({ "model": "ncs-55a1-24h" }));
        let uses = [port(json!({ "speed": "100 Gb/s" })), port(json!({ "speed": "25 Gb/s" }))];
        let states = [PortState::Up, PortState::Asleep, PortState::Up, PortState::Up];
        let bits = [1e9, 0.0, 2e9, 3e9];
        let packets = [1e5, 0.0, 2e5, 3e5];
        let loads = Loads {
            times: 2,
            states: &states,
            bits_in: &bits,
            bits_out: &bits,
            packets_in: &packets,
            packets_out: &packets,
        };
        let Watched { causes, ports } = ncs.watts(&uses, loads).expect("watts");
        for time in 0..2 {
            let by_cause: f64 = (0..8).map(|cause| causes[cause * 2 + time]).sum();
            assert!((by_cause - 319.82 - ports[time] - ports[2 + time]).abs() < 1e-9);
        }
        let short = Loads { states: &states[..3], ..loads };
        let why = ncs.watts(&uses, short).unwrap_err().to_string();
        assert_eq!(why, "states is a list of 3 entries; expected 4: ports x times");
        let odd = [port(json!({ "speed": "1 Gb/s", "transceiver": "gold" })), uses[1].clone()];
        assert!(
            ncs.watts(&odd, loads).unwrap_err().to_string().starts_with("0.transceiver is \"gold\"; expected one of")
        );
    }
}
