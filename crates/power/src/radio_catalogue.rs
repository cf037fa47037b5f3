//! The catalogue of wireless interfaces, by name.

use crate::RadioPower;
use netlull_units::{Duration, Watts};

/// The catalogue. If the source gives a current, the power is the current times 3.3 V.
const READY: &[RadioPower] = &[
    RadioPower {
        name: "wavelan-dsss",
        summary: "a 2.4 GHz WaveLAN DSSS card, as in the paper",
        source: "client-centered-2004 section IV-A-b, of Stemm et al. 1996 and Havinga 2000; waking is 2 ms of idle there",
        asleep: Watts::new(0.177),
        idle: Watts::new(1.319),
        receive: Watts::new(1.425),
        transmit: Watts::new(1.675),
        waking: Watts::new(1.319),
        wake: Duration::from_millis(2),
    },
    RadioPower {
        name: "intel-5300",
        summary: "a laptop's 802.11n card with one antenna in use",
        source: "measured: Halperin et al., Demystifying 802.11n power consumption, HotPower 2010, as quoted by ns-3's \
                 WifiRadioEnergyModel (transmitting at 0 dBm); waking is a reading, 2 ms of idle",
        asleep: Watts::new(0.10),
        idle: Watts::new(0.82),
        receive: Watts::new(0.94),
        transmit: Watts::new(1.14),
        waking: Watts::new(0.82),
        wake: Duration::from_millis(2),
    },
    // 180 mA, 97.5 mA (95 to 100), 20 mA.
    RadioPower {
        name: "esp32",
        summary: "an embedded 802.11n interface whose processor runs on at 80 MHz while the radio sleeps (modem sleep)",
        source: "vendor's measurements: Espressif, ESP32 Series Datasheet v5.3, tables 5-4 (802.11n MCS7 at 14 dBm) and 4-2, which \
                 has listening with receiving; waking is a reading, 2 ms of idle",
        asleep: Watts::new(0.066),
        idle: Watts::new(0.32175),
        receive: Watts::new(0.32175),
        transmit: Watts::new(0.594),
        waking: Watts::new(0.32175),
        wake: Duration::from_millis(2),
    },
    // 267 mA, 84 mA, 0.19 mA.
    RadioPower {
        name: "esp32-c3",
        summary: "an embedded 802.11n interface that sleeps with its processor (automatic light sleep)",
        source: "vendor's measurements: Espressif, ESP8685-WROOM-03 Datasheet v1.5 (the chip is an ESP32-C3), table 6-4 (802.11n HT20 MCS7 \
                 at 17 dBm); asleep and waking fitted to the means per DTIM of the ESP-IDF v5.4 Programming Guide; listening \
                 as receiving is a reading",
        asleep: Watts::new(0.000_627),
        idle: Watts::new(0.2772),
        receive: Watts::new(0.2772),
        transmit: Watts::new(0.8811),
        waking: Watts::new(0.2772),
        wake: Duration::from_millis(1),
    },
];

impl RadioPower {
    /// The name of the default interface: the paper's.
    pub const DEFAULT: &str = READY[0].name;

    /// Returns the catalogue: the paper's interface, then more recently measured ones.
    #[must_use]
    pub const fn catalogue() -> &'static [Self] {
        READY
    }

    /// Returns the interface of that name, `None` if there is none.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        READY.iter().find(|radio| radio.name == name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RadioTime;

    #[test]
    fn every_name_is_found_once_and_every_figure_is_sound() {
        for radio in RadioPower::catalogue() {
            assert_eq!(RadioPower::by_name(radio.name), Some(*radio));
            assert_eq!(RadioPower::catalogue().iter().filter(|other| other.name == radio.name).count(), 1);
            assert_eq!(radio.checked(), Ok(*radio));
            assert!(
                radio.asleep < radio.idle && radio.idle <= radio.receive && radio.receive < radio.transmit,
                "{}",
                radio.name
            );
        }
        assert_eq!(RadioPower::by_name("wavelan"), None);
    }

    #[test]
    fn a_station_that_hears_beacons_alone_draws_what_the_vendor_measured() {
        // ESP-IDF Programming Guide v5.4, ESP32-C3, automatic light sleep, means over 1, 3 and 10 beacon periods
        // of 102.4 ms: 1.4, 0.62, 0.31 mA at 3.3 V. The wake time is 1 ms, a beacon takes 0.5 ms.
        let radio = RadioPower::by_name("esp32-c3").unwrap();
        for (beacons, milliamperes) in [(1_u64, 1.4), (3, 0.62), (10, 0.31)] {
            let (waking, receiving) = (Duration::from_millis(1), Duration::from_micros(500));
            let period = Duration::from_micros(102_400) * beacons;
            let asleep = period - waking - receiving;
            let time = RadioTime { asleep, waking, receiving, wakes: 1, ..RadioTime::default() };
            let mean = radio.energy(&time).total().as_f64() / period.as_secs_f64() / 3.3 * 1000.0;
            assert!((mean / milliamperes - 1.0).abs() < 0.06, "{mean} mA over {beacons}");
        }
    }
}
