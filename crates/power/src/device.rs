//! Routers and switches, scaled to the rates of a simulated link or with all their ports and loads.
//!
//! P = P_BASE + line cards + sum over ports (P_TRX_IN when plugged + P_PORT + P_TRX_UP when up) + E_BIT bit/s +
//! E_PKT pkt/s + the loss of the supplies (ETH "NetPowerBench"; Fantastic Joules, IMC'25).
//!
//! # The port of a link
//!
//! A link whose speed is one of the device's is a port of that speed, which may run at the slower ones. Any other link
//! is the *scaled device*: a link of 1 to 10 Mb/s is no 100G port, so the model keeps the utilisation, which determines
//! the rate-dependent power. With F the port's speed and M the link's maximum rate:
//! - the link's M represents F; a service rate r represents a demand of r F/M;
//! - the port runs at its slowest speed that meets that demand;
//! - every bit and every packet of the link represents F/M of them.

use crate::{ConfigError, Residency, Traffic, TransitionPower};
use netlull_units::{BitRate, Duration, Joules, Watts};
use std::sync::Arc;

/// A device: its box, cards, ports and supplies.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// The name.
    pub name: String,
    /// The source of the numbers.
    pub source: String,
    /// P_BASE: the powered box with every port down and empty, in watts.
    pub base: Watts,
    /// The number of ports that share the box.
    pub ports: u32,
    /// The line cards.
    pub line_card: Option<LineCard>,
    /// The ports by speed, ascending; several of one speed differ in their transceivers.
    pub speeds: Vec<PortSpeed>,
    /// A port asleep without its transceiver, in watts.
    pub asleep: Watts,
    /// True if a port asleep feeds its transceiver.
    pub transceiver_asleep: bool,
    /// The supplies; `None` if the powers are those at the wall.
    pub supply: Option<Supply>,
    /// The power by the data sheet.
    pub data_sheet: Option<Watts>,
    /// The power measured at the wall.
    pub wall: Option<Watts>,
}

/// The power of one port at one speed.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSpeed {
    /// The speed in bit/s; 0 for a port of any speed.
    pub speed: BitRate,
    /// P_PORT in watts, the power of the port.
    pub port: Watts,
    /// The power of full load above that of no load, in watts.
    pub busy: Watts,
    /// The name of the transceiver; empty if it has none.
    pub transceiver: String,
    /// P_TRX_IN in watts, the power of a plugged transceiver.
    pub transceiver_in: Watts,
    /// P_TRX_UP in watts, the power of a transceiver in use; a measured value, which may be slightly negative.
    pub transceiver_up: Watts,
    /// E_BIT in joules per bit.
    pub per_bit: Joules,
    /// E_PKT in joules per packet.
    pub per_packet: Joules,
}

/// A line card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineCard {
    /// The power in watts.
    pub power: Watts,
    /// The sum of the speeds of its ports, in bit/s.
    pub capacity: BitRate,
    /// The power of a card whose ports all sleep, in watts.
    pub asleep: Watts,
}

impl LineCard {
    /// The smallest number of cards for a speed.
    pub(crate) fn cards(&self, speed: u128) -> u128 {
        speed.div_ceil(u128::from(self.capacity.as_bps().max(1)))
    }

    /// The share of a card that a slower port has; `None` for a port that is as fast as a card or faster.
    fn share(&self, speed: BitRate) -> Option<f64> {
        (speed < self.capacity).then(|| speed.as_f64() / self.capacity.as_f64())
    }
}

/// Power supplies that share the load equally.
#[derive(Clone, Debug, PartialEq)]
pub struct Supply {
    /// The number of supplies.
    count: u32,
    /// The output of a supply in watts, ascending, and its efficiency there.
    points: Vec<(f64, f64)>,
}

impl Supply {
    /// Creates `count` supplies with this efficiency by output.
    ///
    /// # Errors
    /// If there is no supply or no point, the outputs do not ascend, or an efficiency is not above 0 and at most 1.
    pub fn new(count: u32, points: Vec<(f64, f64)>) -> Result<Self, ConfigError> {
        let of = |index: usize| format!("supply.efficiency.{index}");
        if count == 0 {
            return Err(ConfigError::new("supply.count", count, "at least 1"));
        }
        if points.is_empty() {
            return Err(ConfigError::new("supply.efficiency", "empty", "at least one point"));
        }
        for (index, &(output, efficiency)) in points.iter().enumerate() {
            if !(efficiency > 0.0 && efficiency <= 1.0) {
                return Err(ConfigError::new(of(index), efficiency, "an efficiency above 0 and at most 1"));
            }
            if index > 0 && output <= points[index - 1].0 {
                return Err(ConfigError::new(
                    of(index),
                    Watts::new(output),
                    "an output above that of the point before it",
                ));
            }
        }
        Ok(Self { count, points })
    }

    /// The number of supplies.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The efficiency of a supply at an output in watts: linear between the points.
    ///
    /// Below the first point the line through the first two goes on, as supplies of routers often run there; above the
    /// last the efficiency stays. It is at least a hundredth and at most 1.
    #[must_use]
    pub fn efficiency(&self, output: f64) -> f64 {
        let points = self.points.as_slice();
        let after = points.partition_point(|&(at, _)| at < output);
        if let Some(&(at, efficiency)) = points.get(after)
            && (at - output).abs() < f64::EPSILON
        {
            return efficiency;
        }
        match (points, after) {
            ([(_, only)], _) => *only,
            (all, after) if after == all.len() => all[after - 1].1,
            (all, after) => {
                let upper = after.max(1);
                let ((x0, y0), (x1, y1)) = (all[upper - 1], all[upper]);
                (y0 + (y1 - y0) * (output - x0) / (x1 - x0)).clamp(0.01, 1.0)
            }
        }
    }

    /// The loss of all supplies in watts, for a load of the device in watts.
    #[must_use]
    pub fn loss(&self, load: f64) -> f64 {
        let load = load.max(0.0);
        load / self.efficiency(load / f64::from(self.count)) - load
    }
}

impl Device {
    /// The port for a link of `speed`: that of this speed, else the slowest that is faster, else the fastest.
    ///
    /// Of several ports of that speed it is the one with the transceiver, else the first.
    #[must_use]
    pub fn port_for(&self, speed: BitRate, transceiver: Option<&str>) -> &PortSpeed {
        let last = self.speeds.len() - 1;
        let chosen =
            self.speeds.iter().find(|port| port.speed >= speed).map_or(self.speeds[last].speed, |port| port.speed);
        let mut rows = self.speeds.iter().filter(|port| port.speed == chosen);
        let named = transceiver.and_then(|name| rows.clone().find(|port| port.transceiver == name));
        named.or_else(|| rows.next()).unwrap_or(&self.speeds[last])
    }

    /// Puts the transceiver `name` into every port: that of a port's own table, else a known one.
    pub(crate) fn plug_in<'a>(
        &mut self,
        name: &str,
        known: impl FnOnce(&str) -> Result<&'a Transceiver, ConfigError>,
    ) -> Result<(), ConfigError> {
        if self.speeds.iter().any(|port| port.transceiver == name) {
            // The first port of a speed is the port of a link.
            self.speeds.sort_by_key(|port| (port.speed, port.transceiver != name));
            return Ok(());
        }
        let transceiver = known(name)?;
        for port in &mut self.speeds {
            port.transceiver = name.to_owned();
            port.transceiver_in = transceiver.plugged;
            port.transceiver_up = transceiver.up;
        }
        Ok(())
    }
}

/// A port of a device, with its share of the box, as a model of a simulated link.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceModel {
    device: Arc<Device>,
    loaded_ports: u32,
    /// The port of a link whose speed is one of the device's.
    own_speed: Option<BitRate>,
    transition_power: TransitionPower,
}

impl DeviceModel {
    /// Creates the model of a port whose device has this link's load on every port: its share is base / ports.
    #[must_use]
    pub fn new(device: Arc<Device>) -> Self {
        let loaded_ports = device.ports;
        Self { device, loaded_ports, own_speed: None, transition_power: TransitionPower::Higher }
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
        Ok(self.shared_by(ports))
    }

    /// The same port in a box that `ports` ports share, which may be more than the device's description counts.
    #[must_use]
    pub fn shared_by(self, ports: u32) -> Self {
        Self { loaded_ports: ports.max(1), ..self }
    }

    /// The port of a link of this speed: that of the device's ports with the same speed, else the fastest, scaled.
    #[must_use]
    pub fn of_speed(self, speed: BitRate) -> Self {
        let own_speed = self.device.speeds.iter().map(|port| port.speed).find(|own| *own == speed && !own.is_zero());
        Self { own_speed, ..self }
    }

    /// The same model with another assumption about the power in transitions.
    #[must_use]
    pub fn with_transition_power(self, transition_power: TransitionPower) -> Self {
        Self { transition_power, ..self }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
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

    /// F: the speed of the port; that of the link, `max_rate`, for a port of any speed.
    fn full_speed(&self, max_rate: BitRate) -> BitRate {
        let fastest = self.device.speeds[self.device.speeds.len() - 1].speed;
        let full = self.own_speed.unwrap_or(fastest);
        if full.is_zero() { max_rate } else { full }
    }

    /// The port's speed for a service rate: the slowest of at least u times F, with u = rate / `max_rate`.
    #[must_use]
    pub fn port_speed(&self, rate: BitRate, max_rate: BitRate) -> &PortSpeed {
        let wide = |rate: BitRate| u128::from(rate.as_bps());
        let full = self.full_speed(max_rate);
        // The condition speed / F >= rate / M without a division.
        let meets = |s: &&PortSpeed| s.speed.is_zero() || wide(s.speed) * wide(max_rate) >= wide(rate) * wide(full);
        self.device.speeds.iter().find(meets).unwrap_or_else(|| self.device.port_for(full, None))
    }

    /// The loss of the supplies for one of `ports` ports, in watts, if every port takes `power`.
    fn loss(&self, power: Watts) -> Watts {
        let Some(supply) = &self.device.supply else { return Watts::default() };
        let ports = f64::from(self.loaded_ports);
        Watts::new(supply.loss(power.as_f64() * ports) / ports)
    }

    /// The power of `watts` on top of `under` at the wall.
    fn on_top_of(&self, under: Watts, watts: Watts) -> Watts {
        if self.device.supply.is_none() {
            return watts;
        }
        Watts::new(watts.as_f64() + self.loss(under + watts).as_f64() - self.loss(under).as_f64())
    }

    /// The share of the box and of a line card, in watts, before the supplies.
    fn share(&self, max_rate: BitRate) -> Watts {
        let base = Watts::new(self.device.base.as_f64() / f64::from(self.loaded_ports));
        match self.device.line_card.and_then(|card| Some((card, card.share(self.full_speed(max_rate))?))) {
            // A shared card stays on: its other ports may be awake.
            Some((card, share)) => base + Watts::new(card.power.as_f64() * share),
            None => base,
        }
    }

    /// The power of the line cards that only this link has, before the supplies, if `on` is the speed in use.
    fn own_cards(&self, rate: BitRate, max_rate: BitRate) -> Option<(f64, f64)> {
        let full = self.full_speed(max_rate);
        let card = self.device.line_card.filter(|card| card.share(full).is_none())?;
        let all = card.cards(full.as_bps().into());
        // The condition on / all >= rate / max_rate without a division; at most all of them.
        let on = (u128::from(rate.as_bps()) * all).div_ceil(u128::from(max_rate.as_bps().max(1))).min(all);
        #[allow(clippy::cast_precision_loss, reason = "cards are few")]
        Some((on as f64, (all - on) as f64))
    }

    /// The number of line cards of a link that are on, for a service rate; `None` if it shares its card.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cards are few")]
    pub fn cards_on(&self, rate: BitRate, max_rate: BitRate) -> Option<u32> {
        self.own_cards(rate, max_rate).map(|(on, _)| on as u32)
    }

    fn static_before_supply(&self, max_rate: BitRate) -> Watts {
        self.share(max_rate) + self.device.port_for(self.full_speed(max_rate), None).transceiver_in
    }

    fn rate_before_supply(&self, rate: BitRate, max_rate: BitRate) -> Watts {
        let speed = self.port_speed(rate, max_rate);
        let port = speed.port + speed.transceiver_up;
        match (self.device.line_card, self.own_cards(rate, max_rate)) {
            (Some(card), Some((on, off))) => {
                // A card without load sleeps, if cards sleep.
                port + Watts::new(on * card.power.as_f64() + off * card.asleep.as_f64())
            }
            _ => port,
        }
    }

    /// The static power P_BASE / ports + P_TRX_IN, in watts.
    pub(crate) fn static_power(&self, max_rate: BitRate) -> Watts {
        self.on_top_of(Watts::default(), self.static_before_supply(max_rate))
    }

    /// The power P_PORT + P_TRX_UP at the speed for `rate`, and that of the line cards of the link alone, in watts.
    pub(crate) fn rate_power(&self, rate: BitRate, max_rate: BitRate) -> Watts {
        let power = self.rate_before_supply(rate, max_rate);
        if self.device.supply.is_none() {
            return power;
        }
        self.on_top_of(self.static_before_supply(max_rate), power)
    }

    /// The power asleep, in watts.
    pub(crate) fn sleep_power(&self, max_rate: BitRate) -> Watts {
        let share = self.share(max_rate);
        let awake = self.device.port_for(self.full_speed(max_rate), None);
        let port = if self.device.transceiver_asleep { share + awake.transceiver_in } else { share };
        let port = if self.device.asleep == Watts::default() { port } else { port + self.device.asleep };
        let power = match (self.device.line_card, self.own_cards(BitRate::default(), max_rate)) {
            (Some(card), Some((_, all))) => port + Watts::new(all * card.asleep.as_f64()),
            _ => port,
        };
        self.on_top_of(Watts::default(), power)
    }

    /// The energy of the traffic: E_BIT bits + E_PKT packets, both times F/M, and that of busy ports.
    ///
    /// The traffic is known for the run, not for each rate. It is divided among the speeds in proportion to their
    /// capacity, rate times time in service. This matters only if E_BIT depends on the speed.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn traffic_energy(&self, residency: &Residency, max_rate: BitRate, traffic: Traffic) -> Joules {
        let full = self.full_speed(max_rate);
        let scale = full.as_f64() / max_rate.as_f64();
        let (bits, packets) = (traffic.bits as f64 * scale, traffic.packets as f64 * scale);
        let cost = |s: &PortSpeed| {
            let cost = s.per_bit.as_f64() * bits + s.per_packet.as_f64() * packets;
            if s.busy == Watts::default() { cost } else { cost + s.busy.as_f64() * bits / full.as_f64() }
        };
        let (mut weighted, mut capacity, mut power) = (0.0, 0.0, 0.0);
        for spent in residency.in_service() {
            let could_carry = spent.rate.as_f64() * spent.time.as_secs_f64();
            weighted += could_carry * cost(self.port_speed(spent.rate, max_rate));
            capacity += could_carry;
            if self.device.supply.is_some() {
                power += (self.rate_before_supply(spent.rate, max_rate) * spent.time).as_f64();
            }
        }
        if capacity <= 0.0 {
            return Joules::ZERO;
        }
        let energy = weighted / capacity;
        let time: Duration = residency.in_service().iter().map(|spent| spent.time).sum();
        if self.device.supply.is_none() || time.is_zero() {
            return Joules::new(energy);
        }
        // The supplies' loss at the mean power, with the traffic and without.
        let seconds = time.as_secs_f64();
        let under = self.static_before_supply(max_rate) + Watts::new(power / seconds);
        self.on_top_of(under, Watts::new(energy / seconds)) * time
    }
}

/// A pluggable transceiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Transceiver {
    /// The name.
    pub name: String,
    /// P_TRX_IN in watts.
    pub plugged: Watts,
    /// P_TRX_UP in watts.
    pub up: Watts,
    /// The source of the numbers.
    pub source: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PowerDocument, PowerModel, Residency, Traffic};
    use netlull_units::Duration;

    const M: fn(u64) -> BitRate = BitRate::from_mbps;

    fn model(name: &str) -> DeviceModel {
        DeviceModel::new(PowerDocument::named(name).device().expect("a device"))
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn every_device_is_well_formed() {
        for device in PowerModel::catalogue().iter().filter_map(|info| info.model.device()) {
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
        let ncs = model("ncs-55a1-24h");
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
        let ncs = PowerModel::Device(model("ncs-55a1-24h"));
        assert!(near(ncs.power(M(10), M(10)).as_f64(), 319.82 / 24.0 + 0.019 + 0.510));
        assert!(near(ncs.power(M(1), M(10)).as_f64(), 319.82 / 24.0 + 0.019 + 0.185));
        // A single loaded port: 319.82 + .019 + .510 = 320.349 W. From 100G to 25G saves .325 W: a tenth of a
        // percent.
        let alone = PowerModel::Device(model("ncs-55a1-24h").with_loaded_ports(1).unwrap());
        assert!(near(alone.power(M(10), M(10)).as_f64(), 320.349));
    }

    #[test]
    fn a_port_that_sleeps_feeds_its_transceiver() {
        // Nexus: 285.31/36 + 2.791 = 10.7163 W asleep, and 1.903 - .063 = 1.840 W more awake: sleep saves a
        // seventh.
        let nexus = PowerModel::Device(model("nexus-9336-fx2"));
        let asleep = 285.31 / 36.0 + 2.791;
        assert!(near(nexus.sleep_power(M(10)).as_f64(), asleep));
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
        let ncs = PowerModel::Device(model("ncs-55a1-24h"));
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
        let wedge = PowerModel::Device(model("wedge-tofino"));
        let traffic = Traffic { bits: 100_000_000, packets: 0 };
        let energy = wedge.energy(&meter.finish(at(20)), M(100), traffic);
        assert!(near(energy.traffic.as_f64(), 12_400.0 / 1100.0 * 1e-12 * 1e11));
        assert!(near(energy.rate_dependent.as_f64(), 10.0 * 0.31 + 10.0 * 1.57));
    }

    #[test]
    fn one_measured_speed_saves_nothing() {
        for device in ["8201-32fh", "nexus-9336-fx2"] {
            let model = PowerModel::Device(model(device));
            assert_eq!(model.power(M(1), M(10)), model.power(M(10), M(10)));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |ports| model("ncs-55a1-24h").with_loaded_ports(ports).unwrap_err().to_string();
        assert_eq!(why(0), "ports is 0; expected at least 1 and at most the device's ports");
        assert!(why(25).starts_with("ports is 25"));
    }

    #[test]
    fn as_many_cards_are_on_as_the_rate_needs() {
        // 40 Mb/s represent 16 cards of 2.5 Mb/s each: 2.5 need 1, a bit more 2, 20 need 8, 40 all 16.
        let on = |bps| model("ons-15600").cards_on(BitRate::from_bps(bps), BitRate::from_mbps(40));
        assert_eq!([2_500_000, 2_500_001, 20_000_000, 40_000_000].map(on), [1, 2, 8, 16].map(Some));
    }

    #[test]
    fn the_energy_of_a_link_by_hand() {
        // 16 x 140 W = 2240 W. Awake for 30 of 60 s: 67,200 J; asleep the cards are off.
        let cards = PowerModel::Device(model("ons-15600"));
        let rate = BitRate::from_mbps(40);
        let slept = Residency::constant(rate, Duration::from_secs(60)).with_sleep(Duration::from_secs(30));
        let energy = cards.energy(&slept, rate, Traffic { bits: 1_000_000, packets: 100 });
        assert!((energy.total().as_f64() - 67_200.0).abs() < 1e-9);
        assert!(energy.asleep.as_f64().abs() < 1e-12);
    }

    #[test]
    fn a_link_of_a_known_speed_is_that_port() {
        // Wedge: a 25 Gb/s link is the 25G port, which may run at 10G; a 40 Gb/s link is the scaled 100G port.
        let wedge = PowerModel::Device(model("wedge-tofino"));
        let of = |gbps: u64, used: u64| {
            let (speed, used) = (M(gbps * 1000), M(used * 1000));
            wedge.of_speed(speed).power(used, speed).as_f64() - 108.0 / 32.0
        };
        assert!(near(of(25, 25), 0.52) && near(of(25, 10), 0.31) && near(of(25, 11), 0.52));
        assert!(near(of(40, 40), 1.57) && near(of(40, 10), 0.52) && near(of(40, 4), 0.31));
        // A thousandth of the rate has the same power, and a bit stands for a thousand: 13 pJ x 1000 x 10^9 bit.
        let small = wedge.of_speed(M(25_000));
        assert!(near(small.power(M(25), M(25)).as_f64() - 108.0 / 32.0, 0.52));
        let traffic = Traffic { bits: 1_000_000_000, packets: 0 };
        let energy = small.energy(&Residency::constant(M(25), Duration::from_secs(60)), M(25), traffic);
        assert!(near(energy.traffic.as_f64(), 13.0));
    }

    #[test]
    fn a_port_shares_a_card_that_stays_on() {
        // 350 W for 480 Gb/s: a 10 Gb/s port has 350/48 W, awake and asleep; 2 ports share the box of 20 W.
        let table = serde_json::json!({
            "base": "20 W", "ports": 2, "line_card": { "power": "350 W", "capacity": "480 Gb/s", "asleep": "9 W" },
            "port": [{ "speed": "10 Gb/s", "power": "1 W", "transceiver_in": "0.5 W" }],
            "asleep": "0.25 W", "transceiver_asleep": false,
        });
        let table: PowerDocument = netlull_document::read(&table).expect("a table");
        let own = table.model().expect("a model");
        assert!(near(own.power(M(10), M(10)).as_f64(), 10.0 + 350.0 / 48.0 + 1.5));
        assert!(near(own.sleep_power(M(10)).as_f64(), 10.0 + 350.0 / 48.0 + 0.25));
    }

    #[test]
    fn supplies_take_their_part_of_every_state() {
        // 100 W of box for 10 ports that all do the same; 2 W awake, and 4 W of traffic. One supply of 0.8 below 100 W,
        // 0.9 at 180 W: asleep 100/0.8, awake 120/(0.8 + 20/80 x 0.1), with traffic 160/(0.8 + 60/80 x 0.1), for each
        // port a tenth.
        let table = serde_json::json!({
            "base": "100 W", "ports": 10, "idle": "2 W", "busy": "6 W",
            "supply": { "efficiency": [["100 W", 0.8], ["180 W", 0.9]] },
        });
        let table: PowerDocument = netlull_document::read(&table).expect("a table");
        let own = table.model().expect("a model");
        assert!(near(own.sleep_power(M(10)).as_f64(), 10.0 / 0.8));
        assert!(near(own.power(M(10), M(10)).as_f64(), 12.0 / 0.825));
        let second = Residency::constant(M(10), Duration::from_secs(1));
        let energy = own.energy(&second, M(10), Traffic { bits: 10_000_000, packets: 0 });
        assert!(near(energy.total().as_f64(), 16.0 / 0.875));
        // Half of the time asleep, half of it full: 5 Mbit in half a second.
        let slept = second.with_sleep(Duration::from_millis(500));
        let energy = own.energy(&slept, M(10), Traffic { bits: 5_000_000, packets: 0 });
        assert!(near(energy.total().as_f64(), 0.5 * 10.0 / 0.8 + 0.5 * 16.0 / 0.875));
    }
}
