//! The power of a wireless interface in each of its states, the time in each, and the catalogue of interfaces.

use crate::ConfigError;
use netlull_units::{Duration, Instant, Joules, Watts};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A wireless network interface: its power by state, and its wake time.
///
/// To build another model, change the values of a model in the catalogue and call [`checked`](Self::checked).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioPower {
    /// The name used in scenarios.
    pub name: &'static str,
    /// The summary in one line.
    pub summary: &'static str,
    /// The source of the values, with a note on readings.
    pub source: &'static str,
    /// The power asleep, in watts: the radio hears nothing.
    pub asleep: Watts,
    /// The power awake without traffic for this radio, in watts.
    pub idle: Watts,
    /// The power while receiving, in watts.
    pub receive: Watts,
    /// The power while transmitting, in watts.
    pub transmit: Watts,
    /// The power while waking, in watts.
    pub waking: Watts,
    /// The wake time; the radio hears nothing until it has passed.
    pub wake: Duration,
}

/// The time of a radio in each state. The five times add up to the measured time, to the nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadioTime {
    /// The time asleep.
    pub asleep: Duration,
    /// The time spent waking.
    pub waking: Duration,
    /// The time awake, neither receiving nor transmitting.
    pub idle: Duration,
    /// The time receiving but not transmitting.
    pub receiving: Duration,
    /// The time transmitting.
    pub transmitting: Duration,
    /// The number of wake-ups, counted at their start.
    pub wakes: u64,
}

/// A radio's energy by state. The parts do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RadioEnergy {
    /// The energy asleep.
    pub asleep: Joules,
    /// The energy while waking.
    pub waking: Joules,
    /// The energy while idle.
    pub idle: Joules,
    /// The energy while receiving.
    pub receiving: Joules,
    /// The energy while transmitting.
    pub transmitting: Joules,
}

impl RadioPower {
    /// Returns the model if all its powers are finite and not negative.
    ///
    /// # Errors
    /// If a power is negative, infinite or not a number.
    pub fn checked(self) -> Result<Self, ConfigError> {
        let powers = [
            ("asleep", self.asleep),
            ("idle", self.idle),
            ("receive", self.receive),
            ("transmit", self.transmit),
            ("waking", self.waking),
        ];
        for (field, power) in powers {
            if !(power.as_f64().is_finite() && power.as_f64() >= 0.0) {
                return Err(ConfigError::new(field, power, "a finite power of at least 0 W"));
            }
        }
        Ok(self)
    }

    /// The energy of these times: power times time, summed over the states.
    #[must_use]
    pub fn energy(&self, time: &RadioTime) -> RadioEnergy {
        RadioEnergy {
            asleep: self.asleep * time.asleep,
            waking: self.waking * time.waking,
            idle: self.idle * time.idle,
            receiving: self.receive * time.receiving,
            transmitting: self.transmit * time.transmitting,
        }
    }
}

impl RadioTime {
    /// The total time since the measurement started.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.asleep + self.waking + self.idle + self.receiving + self.transmitting
    }

    /// The time since `then`, an earlier reading of the same meter.
    #[must_use]
    pub fn since(&self, then: &Self) -> Self {
        Self {
            asleep: self.asleep.saturating_sub(then.asleep),
            waking: self.waking.saturating_sub(then.waking),
            idle: self.idle.saturating_sub(then.idle),
            receiving: self.receiving.saturating_sub(then.receiving),
            transmitting: self.transmitting.saturating_sub(then.transmitting),
            wakes: self.wakes.saturating_sub(then.wakes),
        }
    }

    /// The times of the same traffic with a radio that never sleeps.
    #[must_use]
    pub fn awake(&self) -> Self {
        Self {
            asleep: Duration::ZERO,
            waking: Duration::ZERO,
            idle: self.idle + self.asleep + self.waking,
            wakes: 0,
            ..*self
        }
    }
}

impl RadioEnergy {
    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> Joules {
        self.asleep + self.waking + self.idle + self.receiving + self.transmitting
    }
}

/// Measures the time of a radio in each state, in whole nanoseconds.
///
/// ```text
///             sleep                  wake                awake
///   awake ------------->  asleep  --------->  waking  ---------->  awake
///     |                      ^                  |
///     | transmits, received  +------------------+
///     v                             sleep
///   transmitting before receiving before idle
/// ```
///
/// Calls follow the order of time, except that a transmission is reported in advance and a reception afterwards.
/// A simulated air with a channel in each direction allows both at once, and such time counts as transmitting. A
/// radio that is not awake neither transmits nor receives. Sleep cuts a transmission, and a reception counts from
/// the wake-up on.
#[derive(Clone, Debug)]
pub struct RadioMeter {
    state: RadioState,
    /// The start of the state, or of the measurement if that is later.
    since: Instant,
    /// The time in earlier states.
    past: Past,
    /// The transmissions not yet in `past`: ascending and separate. While the radio is awake, none begins before
    /// its wake-up.
    transmissions: VecDeque<Interval>,
    /// The end of the last reception, before which the next cannot begin.
    heard: Instant,
}

/// The number of past transmissions that a meter stores, because a later reception may overlap them: no packet is on
/// the air for as long as a hundred others. It stores all future ones. Back-to-back packets form a single
/// transmission, but packets of other stations may separate them on a shared air.
const REMEMBERED: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RadioState {
    Asleep,
    Waking,
    Awake,
}

#[derive(Clone, Copy, Debug, Default)]
struct Past {
    asleep: Duration,
    waking: Duration,
    awake: Duration,
    receiving: Duration,
    transmitting: Duration,
    wakes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    from: Instant,
    to: Instant,
}

impl Interval {
    /// The length of the interval between `floor` and `until`.
    fn within(self, floor: Instant, until: Instant) -> Duration {
        self.to.min(until).saturating_since(self.from.max(floor))
    }
}

impl RadioMeter {
    /// Creates a meter of a radio that is awake at `at`, the start of the measurement.
    #[must_use]
    pub fn new(at: Instant) -> Self {
        Self {
            state: RadioState::Awake,
            since: at,
            past: Past::default(),
            transmissions: VecDeque::with_capacity(REMEMBERED + 1),
            heard: at,
        }
    }

    /// Records that the radio falls asleep. No effect on a sleeping radio. Future transmissions are dropped.
    pub fn sleep(&mut self, at: Instant) {
        self.enter(at, RadioState::Asleep);
    }

    /// Records that the radio begins to wake. No effect unless it is asleep.
    pub fn wake(&mut self, at: Instant) {
        if self.state == RadioState::Asleep {
            self.enter(at, RadioState::Waking);
            self.past.wakes += 1;
        }
    }

    /// Records that the radio is awake. No effect on an awake radio. From sleep it is a wake-up without wake
    /// time.
    pub fn awake(&mut self, at: Instant) {
        self.wake(at);
        self.enter(at, RadioState::Awake);
    }

    /// Records at `now` a transmission from `from` to `to`.
    ///
    /// Transmissions are reported in ascending order, no later than their start. They may lie in the future,
    /// after the wake-up of a radio that is not awake yet.
    pub fn transmits(&mut self, now: Instant, from: Instant, to: Instant) {
        let from = from.max(self.since).max(self.heard);
        let next = match self.transmissions.back_mut() {
            Some(last) if from <= last.to => {
                last.to = last.to.max(to);
                return;
            }
            _ => Interval { from, to },
        };
        if next.from < next.to {
            self.transmissions.push_back(next);
        }
        let is_past = |sent: &Interval| sent.to <= now;
        if self.transmissions.len() > REMEMBERED && self.transmissions.front().is_some_and(is_past) {
            self.fold_first();
        }
    }

    /// Records a reception from `from` to `to`.
    ///
    /// Receptions are reported at their end, in ascending order. The part before the last wake-up does not count.
    pub fn received(&mut self, from: Instant, to: Instant) {
        if self.state != RadioState::Awake {
            return;
        }
        let heard = Interval { from: from.max(self.since).max(self.heard), to };
        let begun = self.transmissions.iter().take_while(|sent| sent.from < heard.to);
        let duplex: Duration = begun.map(|sent| sent.within(heard.from, heard.to)).sum();
        let alone = heard.within(heard.from, heard.to).saturating_sub(duplex);
        self.past.receiving += alone;
        self.heard = self.heard.max(to);
        while self.transmissions.front().is_some_and(|first| first.to <= self.heard) {
            self.fold_first();
        }
    }

    /// The time in each state from the start of the measurement to `now`, which must not precede any earlier
    /// call.
    ///
    /// A running transmission counts up to `now`. A running reception counts as idle until it is reported.
    #[must_use]
    pub fn times(&self, now: Instant) -> RadioTime {
        let mut ended = self.clone();
        ended.settle(now);
        let Past { asleep, waking, awake, receiving, transmitting, wakes } = ended.past;
        let idle = awake.saturating_sub(receiving).saturating_sub(transmitting);
        RadioTime { asleep, waking, idle, receiving, transmitting, wakes }
    }

    /// Starts the measurement again at `now` in the present state. The rest of a running transmission or
    /// reception counts.
    pub fn restart(&mut self, now: Instant) {
        self.past = Past::default();
        self.since = now;
        self.keep_from(now);
    }

    /// Changes the state of the radio.
    fn enter(&mut self, at: Instant, next: RadioState) {
        if self.state == next {
            return;
        }
        self.settle(at);
        match next {
            RadioState::Asleep => self.transmissions.clear(),
            RadioState::Waking => {}
            RadioState::Awake => self.keep_from(at),
        }
        self.state = next;
    }

    /// Adds the time in this state up to `now`. Transmissions count up to `now`, and their rest is kept.
    fn settle(&mut self, now: Instant) {
        let spent = now.saturating_since(self.since);
        match self.state {
            RadioState::Asleep => self.past.asleep += spent,
            RadioState::Waking => self.past.waking += spent,
            RadioState::Awake => {
                self.past.awake += spent;
                let sent = self.transmissions.iter().map(|sent| sent.within(Instant::ZERO, now));
                self.past.transmitting += sent.sum();
                self.keep_from(now);
            }
        }
        self.since = now.max(self.since);
    }

    /// Drops all transmissions before `at`.
    fn keep_from(&mut self, at: Instant) {
        self.transmissions.retain_mut(|sent| {
            sent.from = sent.from.max(at);
            sent.from < sent.to
        });
    }

    /// Adds the whole first transmission: no reception reported later overlaps it.
    fn fold_first(&mut self) {
        if let Some(first) = self.transmissions.pop_front() {
            self.past.transmitting += first.within(Instant::ZERO, Instant::NEVER);
            self.heard = self.heard.max(first.to);
        }
    }
}

/// The catalogue. If the source gives a current, the power is the current times 3.3 V.
const SHIPPED: &[RadioPower] = &[
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
    pub const DEFAULT: &str = SHIPPED[0].name;

    /// Returns the catalogue: the paper's interface, then more recently measured ones.
    #[must_use]
    pub const fn catalogue() -> &'static [Self] {
        SHIPPED
    }

    /// Returns the interface of that name, `None` if there is none.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        SHIPPED.iter().find(|radio| radio.name == name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RadioTime;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + MS(millis)
    }

    fn near(energy: Joules, joules: f64) -> bool {
        (energy.as_f64() - joules).abs() < 1e-12
    }

    #[test]
    fn a_burst_and_a_nap_cost_what_the_paper_says() {
        // Awake to 20 ms: 10 ms receiving, 1 ms transmitting, 9 ms idle. Asleep to 78 ms; 2 ms to wake; idle to
        // 100 ms.
        let wavelan = RadioPower::by_name("wavelan-dsss").unwrap();
        let mut meter = RadioMeter::new(at(0));
        meter.received(at(5), at(15));
        meter.transmits(at(15), at(15), at(16));
        meter.sleep(at(20));
        meter.wake(at(78));
        meter.awake(at(80));
        let times = meter.times(at(100));
        let expected = RadioTime {
            asleep: MS(58),
            waking: MS(2),
            idle: MS(9 + 20),
            receiving: MS(10),
            transmitting: MS(1),
            wakes: 1,
        };
        assert_eq!(times, expected);
        let energy = wavelan.energy(&times);
        // 58 x .177 = 10.266 mJ; 2 x 1.319 = 2.638; 29 x 1.319 = 38.251; 10 x 1.425 = 14.25; 1 x 1.675.
        assert!(near(energy.asleep, 0.010_266) && near(energy.waking, 0.002_638) && near(energy.idle, 0.038_251));
        assert!(near(energy.receiving, 0.014_25) && near(energy.transmitting, 0.001_675));
        assert!(near(energy.total(), 0.067_08));
    }

    #[test]
    fn what_is_received_while_transmitting_counts_as_transmitting() {
        // Transmitting 10..14 and 16..20, receiving 12..18: 2 ms (14..16) of reception alone.
        let mut meter = RadioMeter::new(at(0));
        meter.transmits(at(0), at(10), at(14));
        meter.transmits(at(0), at(16), at(20));
        meter.received(at(12), at(18));
        let times = meter.times(at(30));
        assert_eq!((times.transmitting, times.receiving, times.idle), (MS(8), MS(2), MS(20)));
        assert_eq!(meter.times(at(18)).transmitting, MS(6), "what is ahead has not been sent yet");
    }

    #[test]
    fn a_transmission_is_cut_by_sleep_and_waits_for_the_radio_to_wake() {
        // 10..20 is cut at 15. The transmission at 28..32 is reported while waking, and the radio is awake from
        // 30 on.
        let mut meter = RadioMeter::new(at(0));
        meter.transmits(at(0), at(10), at(20));
        meter.sleep(at(15));
        meter.wake(at(28));
        meter.transmits(at(28), at(28), at(32));
        assert_eq!(meter.times(at(29)).transmitting, MS(5));
        meter.awake(at(30));
        assert_eq!(meter.times(at(40)).transmitting, MS(5 + 2));
        assert_eq!(meter.times(at(40)).total(), MS(40));
    }

    #[test]
    fn a_restart_keeps_the_state_and_the_rest_of_what_is_on_the_air() {
        let mut meter = RadioMeter::new(at(0));
        meter.transmits(at(8), at(8), at(12));
        meter.restart(at(10));
        meter.received(at(9), at(14));
        // From 10..20: transmitting 10..12, receiving 12..14.
        let times = meter.times(at(20));
        assert_eq!((times.transmitting, times.receiving, times.idle), (MS(2), MS(2), MS(6)));
        meter.sleep(at(20));
        meter.wake(at(30));
        meter.restart(at(31));
        meter.awake(at(32));
        let times = meter.times(at(32));
        assert_eq!((times.waking, times.total(), times.wakes), (MS(1), MS(1), 0), "it began to wake before");
    }

    #[test]
    fn a_million_transmissions_take_no_more_room() {
        let mut meter = RadioMeter::new(at(0));
        for i in 0..1_000_000 {
            meter.transmits(at(10 * i), at(10 * i), at(10 * i + 1));
        }
        assert!(meter.transmissions.len() <= REMEMBERED);
        assert_eq!(meter.times(at(10_000_000)).transmitting, MS(1_000_000));
    }

    #[test]
    fn receptions_between_a_thousand_future_transmissions_count() {
        // At 0: a transmission of 1 ms every 10 ms from 100 ms on. Before each one, a reception of 2 ms.
        let mut meter = RadioMeter::new(at(0));
        (0..1000).for_each(|i| meter.transmits(at(0), at(100 + 10 * i), at(101 + 10 * i)));
        (0..1000).for_each(|i| meter.received(at(95 + 10 * i), at(97 + 10 * i)));
        let times = meter.times(at(11_000));
        assert_eq!((times.transmitting, times.receiving), (MS(1000), MS(2000)));
        // The radio is switched off at 605 ms: 51 transmissions have ended.
        let mut meter = RadioMeter::new(at(0));
        (0..1000).for_each(|i| meter.transmits(at(0), at(100 + 10 * i), at(101 + 10 * i)));
        meter.sleep(at(605));
        assert_eq!(meter.times(at(11_000)).transmitting, MS(51));
    }

    #[test]
    fn calls_that_change_nothing_count_nothing() {
        let mut meter = RadioMeter::new(at(0));
        meter.wake(at(1));
        meter.awake(at(1));
        meter.sleep(at(2));
        meter.sleep(at(3));
        meter.received(at(2), at(3));
        meter.awake(at(4));
        let times = meter.times(at(5));
        assert_eq!((times.asleep, times.idle, times.receiving, times.wakes), (MS(2), MS(3), MS(0), 1));
    }

    #[test]
    fn a_power_that_is_none_is_refused_by_name() {
        let wavelan = RadioPower::by_name("wavelan-dsss").unwrap();
        assert_eq!(wavelan.checked(), Ok(wavelan));
        let refused = RadioPower { idle: Watts::new(-1.0), ..wavelan }.checked().unwrap_err();
        assert_eq!(refused.to_string(), "idle is -1 W; expected a finite power of at least 0 W");
        assert_eq!(RadioPower { waking: Watts::new(f64::NAN), ..wavelan }.checked().unwrap_err().field, "waking");
    }

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
