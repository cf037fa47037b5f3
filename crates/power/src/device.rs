//! Measured routers and switches, scaled to the rates of a simulated link, and links made of line cards.
//!
//! P = P_BASE + sum over ports (P_TRX_IN when plugged + P_PORT + P_TRX_UP when up) + E_BIT bit/s + E_PKT pkt/s
//! (ETH "NetPowerBench"; Fantastic Joules, IMC'25). All numbers are from these sources unless a comment names
//! another.
//!
//! # The scaled device
//!
//! A link of 1 to 10 Mb/s is no 100G port. The model therefore keeps the utilisation, which determines the
//! rate-dependent power. With F the port's fastest speed and M the link's maximum rate:
//! - the link's M represents F; a service rate r represents a demand of r F/M;
//! - the port runs at its slowest speed that meets that demand;
//! - every bit and every packet of the link represents F/M of them.

use crate::{ConfigError, Residency, Traffic, TransitionPower};
use netlull_units::{BitRate, Joules, Watts};

/// A measured device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// The name used in scenarios.
    pub name: &'static str,
    /// The source of the measurements.
    pub source: &'static str,
    /// P_BASE: the powered box with every port down and empty, in watts.
    pub base: Watts,
    /// The number of ports at the fastest speed; from the makers' data sheets, not from the measurements.
    pub ports: u32,
    /// P_TRX_IN: a plugged transceiver, at any speed, in watts.
    pub transceiver_in: Watts,
    /// The port's speeds, ascending.
    pub speeds: &'static [PortSpeed],
}

/// The power of one port at one speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortSpeed {
    /// The speed in bit/s.
    pub speed: BitRate,
    /// P_PORT in watts, the power of the port.
    pub port: Watts,
    /// P_TRX_UP in watts, the power of a transceiver in use; a measured value, which may be slightly negative.
    pub transceiver_up: Watts,
    /// E_BIT in joules per bit.
    pub per_bit: Joules,
    /// E_PKT in joules per packet.
    pub per_packet: Joules,
}

const FANTASTIC_JOULES: &str = "Fantastic Joules, IMC'25 (NetPowerBench, ETH Zurich)";

const fn speed(gbps: u64, port: f64, transceiver_up: f64, pj_per_bit: f64, nj_per_packet: f64) -> PortSpeed {
    PortSpeed {
        speed: BitRate::from_mbps(gbps * 1000),
        port: Watts::new(port),
        transceiver_up: Watts::new(transceiver_up),
        per_bit: Joules::new(pj_per_bit * 1e-12),
        per_packet: Joules::new(nj_per_packet * 1e-9),
    }
}

/// Cisco NCS-55A1-24H, the only device with several measured speeds and transceivers.
///
/// E_BIT and E_PKT are measured at 100G and assumed to hold at 50G and 25G.
pub const NCS_55A1_24H: Device = Device {
    name: "ncs-55a1-24h",
    source: FANTASTIC_JOULES,
    base: Watts::new(319.82),
    ports: 24,
    transceiver_in: Watts::new(0.019),
    speeds: &[
        speed(25, 0.102, 0.083, 21.5, 58.3),
        speed(50, 0.183, 0.164, 21.5, 58.3),
        speed(100, 0.316, 0.194, 21.5, 58.3),
    ],
};

/// Cisco 8201-32FH, measured at 100G only: a rate change does not change its power. Its 32 ports are 400G by data
/// sheet; 100G is the fastest measured speed, and represents the link's maximum.
pub const ROUTER_8201_32FH: Device = Device {
    name: "8201-32fh",
    source: FANTASTIC_JOULES,
    base: Watts::new(253.85),
    ports: 32,
    transceiver_in: Watts::new(0.351),
    speeds: &[speed(100, 0.935, 0.207, 3.2, 13.4)],
};

/// Cisco Nexus 9336-FX2 with 100G LR transceivers, measured at 100G only: a rate change does not change its
/// power.
pub const NEXUS_9336_FX2: Device = Device {
    name: "nexus-9336-fx2",
    source: FANTASTIC_JOULES,
    base: Watts::new(285.31),
    ports: 36,
    transceiver_in: Watts::new(2.791),
    speeds: &[speed(100, 1.903, -0.063, 9.0, 24.8)],
};

/// Wedge (Tofino): .011, .013 and .014 W per Gb/s at 100G, 25G and 10G are 11, 13 and 14 pJ/bit. Per-packet and
/// transceiver power are not given and assumed zero. The port count assumes a Wedge 100BF-32X, because the source
/// does not name the version.
pub const WEDGE_TOFINO: Device = Device {
    name: "wedge-tofino",
    source: "listed next to Fantastic Joules, IMC'25; primary source not checked",
    base: Watts::new(108.0),
    ports: 32,
    transceiver_in: Watts::new(0.0),
    speeds: &[speed(10, 0.31, 0.0, 14.0, 0.0), speed(25, 0.52, 0.0, 13.0, 0.0), speed(100, 1.57, 0.0, 11.0, 0.0)],
};

/// A port of a measured device, with its share of the base power, as a model of a simulated link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceModel {
    device: Device,
    loaded_ports: u32,
    transition_power: TransitionPower,
}

impl DeviceModel {
    /// Creates the model of a port whose device has this link's load on every port: its share is base / ports.
    #[must_use]
    pub const fn new(device: Device) -> Self {
        Self { device, loaded_ports: device.ports, transition_power: TransitionPower::Higher }
    }

    /// The same port in a device where `ports` ports have this load and the others are down and empty. Its share
    /// is base / `ports`. With 1, the link accounts for the whole device.
    ///
    /// # Errors
    /// If `ports` is zero or more than the device has.
    pub fn with_loaded_ports(self, ports: u32) -> Result<Self, ConfigError> {
        if ports == 0 || ports > self.device.ports {
            return Err(ConfigError::new("ports", ports, "at least 1 and at most the device's ports"));
        }
        Ok(Self { loaded_ports: ports, ..self })
    }

    /// The same model with another assumption about the power in transitions.
    #[must_use]
    pub const fn with_transition_power(self, transition_power: TransitionPower) -> Self {
        Self { transition_power, ..self }
    }

    /// The measured device.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// The number of ports that share the base power.
    #[must_use]
    pub const fn loaded_ports(&self) -> u32 {
        self.loaded_ports
    }

    /// The assumption about the power in transitions.
    #[must_use]
    pub const fn transition_power(&self) -> TransitionPower {
        self.transition_power
    }

    /// The port's speed for a service rate: the slowest of at least u times the fastest, with u = rate /
    /// `max_rate`.
    #[must_use]
    pub fn port_speed(&self, rate: BitRate, max_rate: BitRate) -> &'static PortSpeed {
        let speeds = self.device.speeds;
        let fastest = &speeds[speeds.len() - 1];
        let wide = |rate: BitRate| u128::from(rate.as_bps());
        // The condition speed / F >= rate / M without a division.
        let meets = |s: &&PortSpeed| wide(s.speed) * wide(max_rate) >= wide(rate) * wide(fastest.speed);
        speeds.iter().find(meets).unwrap_or(fastest)
    }

    /// The static power P_BASE / ports + P_TRX_IN, in watts.
    pub(crate) fn static_power(&self) -> Watts {
        Watts::new(self.device.base.as_f64() / f64::from(self.loaded_ports)) + self.device.transceiver_in
    }

    /// The power P_PORT + P_TRX_UP at the speed for `rate`, in watts.
    pub(crate) fn rate_power(&self, rate: BitRate, max_rate: BitRate) -> Watts {
        let speed = self.port_speed(rate, max_rate);
        speed.port + speed.transceiver_up
    }

    /// The energy of the traffic: E_BIT bits + E_PKT packets, both times F/M.
    ///
    /// The traffic is known for the run, not for each rate. It is divided among the speeds in proportion to their
    /// capacity, rate times time in service. This matters only if E_BIT depends on the speed.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn traffic_energy(&self, residency: &Residency, max_rate: BitRate, traffic: Traffic) -> Joules {
        let speeds = self.device.speeds;
        let scale = speeds[speeds.len() - 1].speed.as_f64() / max_rate.as_f64();
        let (bits, packets) = (traffic.bits as f64 * scale, traffic.packets as f64 * scale);
        let cost = |s: &PortSpeed| s.per_bit.as_f64() * bits + s.per_packet.as_f64() * packets;
        let (mut weighted, mut capacity) = (0.0, 0.0);
        for spent in residency.in_service() {
            let could_carry = spent.rate.as_f64() * spent.time.as_secs_f64();
            weighted += could_carry * cost(self.port_speed(spent.rate, max_rate));
            capacity += could_carry;
        }
        if capacity > 0.0 { Joules::new(weighted / capacity) } else { Joules::ZERO }
    }
}

/// An end of a link with `cards` cards of equal rate. The service rate determines the number of cards that are
/// on.
///
/// The paper that counts cards (greened-network-2012 section III) gives a link of 40 Gb/s 16 cards. Each has
/// 2.5 Gb/s and 140 W, and they are at one end of the link only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineCards {
    cards: u32,
    card_power: Watts,
    transition_power: TransitionPower,
}

impl LineCards {
    /// Cisco ONS 15600: 140 W for each card of 2.5 Gb/s, 16 cards for 40 Gb/s (greened-network-2012 section III).
    pub(crate) const ONS_15600: Self =
        Self { cards: 16, card_power: Watts::new(140.0), transition_power: TransitionPower::Higher };

    /// Creates a model of `cards` cards with `card_power` each.
    ///
    /// # Errors
    /// If there is no card, or its power is not a finite number above zero.
    pub fn new(cards: u32, card_power: Watts) -> Result<Self, ConfigError> {
        if cards == 0 {
            return Err(ConfigError::new("cards", cards, "at least 1"));
        }
        if !(card_power.as_f64() > 0.0 && card_power.as_f64().is_finite()) {
            return Err(ConfigError::new("card_power", card_power, "a finite power above 0 W"));
        }
        Ok(Self { cards, card_power, transition_power: TransitionPower::Higher })
    }

    /// The same model with another assumption about the power in transitions.
    #[must_use]
    pub const fn with_transition_power(self, transition_power: TransitionPower) -> Self {
        Self { transition_power, ..self }
    }

    /// The assumption about the power in transitions.
    #[must_use]
    pub const fn transition_power(&self) -> TransitionPower {
        self.transition_power
    }

    /// The number of cards.
    #[must_use]
    pub const fn cards(&self) -> u32 {
        self.cards
    }

    /// The power of each card, in watts.
    #[must_use]
    pub const fn card_power(&self) -> Watts {
        self.card_power
    }

    /// The smallest number of cards that carries a service rate of `rate` on a link of `max_rate`.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn cards_on(&self, rate: BitRate, max_rate: BitRate) -> u32 {
        // The condition cards_on / cards >= rate / max_rate without a division; at most `cards`.
        let wanted = u128::from(rate.as_bps()) * u128::from(self.cards);
        wanted.div_ceil(u128::from(max_rate.as_bps().max(1))).min(u128::from(self.cards)) as u32
    }

    /// The power of the cards that are on, in watts.
    pub(crate) fn rate_power(&self, rate: BitRate, max_rate: BitRate) -> Watts {
        Watts::new(f64::from(self.cards_on(rate, max_rate)) * self.card_power.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PowerModel, Residency, Traffic};
    use netlull_units::Duration;

    const M: fn(u64) -> BitRate = BitRate::from_mbps;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn every_device_is_well_formed() {
        for device in [NCS_55A1_24H, ROUTER_8201_32FH, NEXUS_9336_FX2, WEDGE_TOFINO] {
            assert!(device.speeds.windows(2).all(|pair| pair[0].speed < pair[1].speed), "{}", device.name);
            // `TransitionPower::Higher` assumes that a higher rate takes a higher power.
            let power = |s: &PortSpeed| s.port.as_f64() + s.transceiver_up.as_f64();
            assert!(device.speeds.windows(2).all(|pair| power(&pair[0]) < power(&pair[1])), "{}", device.name);
            assert!(device.ports > 0 && !device.speeds.is_empty());
        }
    }

    #[test]
    fn the_slowest_speed_that_meets_the_demand() {
        // M = 10 Mb/s represents 100G: 1 and 2 Mb/s are 10G and 20G, met by 25G; 3, 4, 5 by 50G; 6 and more by
        // 100G.
        let ncs = DeviceModel::new(NCS_55A1_24H);
        let speed = |mbps| ncs.port_speed(M(mbps), M(10)).speed.as_bps() / 1_000_000_000;
        assert_eq!((1..=10).map(speed).collect::<Vec<_>>(), [25, 25, 50, 50, 50, 100, 100, 100, 100, 100]);
        // The boundary: 2.5 of 10 is exactly 25 of 100.
        assert_eq!(ncs.port_speed(BitRate::from_bps(2_500_000), M(10)).speed, M(25_000));
        assert_eq!(ncs.port_speed(BitRate::from_bps(2_500_001), M(10)).speed, M(50_000));
    }

    #[test]
    fn the_power_of_a_port_by_hand() {
        // NCS, 24 loaded ports: 319.82/24 + .019 = 13.344833.. W static; at 100G .316 + .194 = .510 W more, at
        // 25G .185 W.
        let ncs = PowerModel::Device(DeviceModel::new(NCS_55A1_24H));
        assert!(near(ncs.power(M(10), M(10)).as_f64(), 319.82 / 24.0 + 0.019 + 0.510));
        assert!(near(ncs.power(M(1), M(10)).as_f64(), 319.82 / 24.0 + 0.019 + 0.185));
        // A single loaded port: 319.82 + .019 + .510 = 320.349 W. From 100G to 25G saves .325 W: a tenth of a
        // percent.
        let alone = PowerModel::Device(DeviceModel::new(NCS_55A1_24H).with_loaded_ports(1).unwrap());
        assert!(near(alone.power(M(10), M(10)).as_f64(), 320.349));
    }

    #[test]
    fn a_port_that_sleeps_feeds_its_transceiver() {
        // Nexus: 285.31/36 + 2.791 = 10.7163 W asleep, and 1.903 - .063 = 1.840 W more awake: sleep saves a
        // seventh.
        let nexus = PowerModel::Device(DeviceModel::new(NEXUS_9336_FX2));
        let asleep = 285.31 / 36.0 + 2.791;
        assert!(near(nexus.sleep_power().as_f64(), asleep));
        assert!(near(nexus.power(M(10), M(10)).as_f64(), asleep + 1.840));
        // 10 s, 4 s of them asleep: 6 s of both parts, 4 s of the first.
        let slept = Residency::constant(M(10), Duration::from_secs(10)).with_sleep(Duration::from_secs(4));
        let energy = nexus.energy(&slept, M(10), Traffic::default());
        assert!(near(energy.static_.as_f64(), 6.0 * asleep));
        assert!(near(energy.rate_dependent.as_f64(), 6.0 * 1.840));
        assert!(near(energy.asleep.as_f64(), 4.0 * asleep));
    }

    #[test]
    fn the_energy_of_traffic_by_hand() {
        // 10 s at 10 Mb/s, full: 10^8 bit in 8333 packets of 1500 B. Scaled by 100G/10M = 10^4: 10^12 bit,
        // 8.333e7 packets. 21.5 pJ * 10^12 = 21.5 J; 58.3 nJ * 8.333e7 = 4.858139 J.
        let ncs = PowerModel::Device(DeviceModel::new(NCS_55A1_24H));
        let traffic = Traffic { bits: 100_000_000, packets: 8333 };
        let ten = Duration::from_secs(10);
        let energy = ncs.energy(&Residency::constant(M(10), ten), M(10), traffic);
        assert!(near(energy.traffic.as_f64(), 21.5 + 4.858_139));
        assert!(near(energy.rate_dependent.as_f64(), 5.10));
        assert!(near(energy.static_.as_f64(), (319.82 / 24.0 + 0.019) * 10.0));
        // The same as a full 100G port: 21.5 pJ/bit at 100 Gb/s is 2.15 W, for 10 s.
        assert!(near(21.5, 2.15 * 10.0));
    }

    #[test]
    fn where_bits_cost_more_at_low_speed_the_mean_is_weighted_by_capacity() {
        // Wedge, M = 100 Mb/s: 10 Mb/s runs at 10G (14 pJ), 100 Mb/s at 100G (11 pJ). 10 s each: 100 and 1000 Mbit of
        // capacity, so (100 * 14 + 1000 * 11)/1100 pJ/bit. 10^8 bit scaled by 1000 = 10^11 bit.
        let mut meter = crate::EnergyMeter::new(netlull_units::Instant::ZERO, M(10));
        let at = |secs| netlull_units::Instant::ZERO + Duration::from_secs(secs);
        meter.rate_changed(at(10), M(100), Duration::ZERO);
        let wedge = PowerModel::Device(DeviceModel::new(WEDGE_TOFINO));
        let traffic = Traffic { bits: 100_000_000, packets: 0 };
        let energy = wedge.energy(&meter.finish(at(20)), M(100), traffic);
        assert!(near(energy.traffic.as_f64(), 12_400.0 / 1100.0 * 1e-12 * 1e11));
        assert!(near(energy.rate_dependent.as_f64(), 10.0 * 0.31 + 10.0 * 1.57));
    }

    #[test]
    fn one_measured_speed_saves_nothing() {
        for device in [ROUTER_8201_32FH, NEXUS_9336_FX2] {
            let model = PowerModel::Device(DeviceModel::new(device));
            assert_eq!(model.power(M(1), M(10)), model.power(M(10), M(10)));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |ports| DeviceModel::new(NCS_55A1_24H).with_loaded_ports(ports).unwrap_err().to_string();
        assert_eq!(why(0), "ports is 0; expected at least 1 and at most the device's ports");
        assert!(why(25).starts_with("ports is 25"));
    }

    #[test]
    fn as_many_cards_are_on_as_the_rate_needs() {
        // 40 Mb/s represent 16 cards of 2.5 Mb/s each: 2.5 need 1, a bit more 2, 20 need 8, 40 all 16.
        let on = |bps| LineCards::ONS_15600.cards_on(BitRate::from_bps(bps), BitRate::from_mbps(40));
        assert_eq!([2_500_000, 2_500_001, 20_000_000, 40_000_000].map(on), [1, 2, 8, 16]);
    }

    #[test]
    fn the_energy_of_a_link_by_hand() {
        // 16 x 140 W = 2240 W. Awake for 30 of 60 s: 67,200 J; asleep the cards are off.
        let cards = PowerModel::LineCards(LineCards::ONS_15600);
        let rate = BitRate::from_mbps(40);
        let slept = Residency::constant(rate, Duration::from_secs(60)).with_sleep(Duration::from_secs(30));
        let energy = cards.energy(&slept, rate, Traffic { bits: 1_000_000, packets: 100 });
        assert!((energy.total().as_f64() - 67_200.0).abs() < 1e-9);
        assert!(energy.asleep.as_f64().abs() < 1e-12);
    }

    #[test]
    fn what_is_wrong_with_line_cards_is_named() {
        let why = |cards, watts| LineCards::new(cards, Watts::new(watts)).unwrap_err().to_string();
        assert_eq!(why(0, 1.0), "cards is 0; expected at least 1");
        assert!(why(1, 0.0).starts_with("card_power is 0 W"));
    }
}
