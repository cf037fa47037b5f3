//! What a wireless interface draws in each of its states, and how long it was in each.

use crate::ConfigError;
use netlull_units::{Duration, Instant, Joules, Watts};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A wireless network interface: its power by state, and what waking costs.
///
/// A model of one's own is a ready one with other figures, [`checked`](Self::checked).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioPower {
    /// The name used in scenarios.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where its figures come from, and which of them are readings.
    pub source: &'static str,
    /// Asleep, in watts: it hears nothing.
    pub asleep: Watts,
    /// Awake with nothing on the air that concerns it, in watts.
    pub idle: Watts,
    /// Receiving, in watts.
    pub receive: Watts,
    /// Transmitting, in watts.
    pub transmit: Watts,
    /// While it wakes, in watts.
    pub waking: Watts,
    /// How long it takes to wake; it hears nothing before.
    pub wake: Duration,
}

/// How long a radio was in each state: the five add up to the time since the measurement started, to the nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadioTime {
    /// Asleep.
    pub asleep: Duration,
    /// Waking.
    pub waking: Duration,
    /// Awake, neither receiving nor transmitting.
    pub idle: Duration,
    /// Receiving and not transmitting.
    pub receiving: Duration,
    /// Transmitting.
    pub transmitting: Duration,
    /// How many times it has begun to wake.
    pub wakes: u64,
}

/// A radio's energy by state. The parts do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RadioEnergy {
    /// What it drew asleep.
    pub asleep: Joules,
    /// What waking cost.
    pub waking: Joules,
    /// What listening to nothing cost.
    pub idle: Joules,
    /// What receiving cost.
    pub receiving: Joules,
    /// What transmitting cost.
    pub transmitting: Joules,
}

impl RadioPower {
    /// The same, if all its powers are finite and not negative.
    ///
    /// # Errors
    /// A power that is negative, infinite or no number.
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

    /// The energy of a radio that spent its time so: power times time, summed over the states.
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
    /// All of it: the time since the measurement started.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.asleep + self.waking + self.idle + self.receiving + self.transmitting
    }

    /// What has come since `then`, an earlier state of the same meter.
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

    /// The same traffic with a radio that is awake all the time.
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
    /// All of it.
    #[must_use]
    pub fn total(&self) -> Joules {
        self.asleep + self.waking + self.idle + self.receiving + self.transmitting
    }
}

/// Measures how long a radio is in each state, in whole nanoseconds.
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
/// Calls come in the order of time, apart from what a transmission is reported ahead and a reception behind. Where both are at once, on
/// a simulated air with a channel each way, the time counts as transmitting. What is not awake neither transmits nor receives: a
/// transmission is cut where the radio falls asleep, and a reception counts from where it was awake.
#[derive(Clone, Debug)]
pub struct RadioMeter {
    state: RadioState,
    /// When that state began, or the measurement if that was later.
    since: Instant,
    /// The time in the states before this one.
    past: Past,
    /// What of the transmissions is not yet in `past`: ascending, apart, none beginning before the radio was awake once it is.
    transmissions: VecDeque<Interval>,
    /// When the last reception ended: the next begins no earlier.
    heard: Instant,
}

/// How many separate transmissions a meter remembers: those behind for a reception that overlaps them, those ahead because they have
/// not happened. Packets sent back to back are one, so that a whole queue ahead is one or two, and no packet is on the air for as long
/// as a hundred others.
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
    /// How long it lasts between `floor` and `until`.
    fn within(self, floor: Instant, until: Instant) -> Duration {
        self.to.min(until).saturating_since(self.from.max(floor))
    }
}

impl RadioMeter {
    /// A meter of a radio that is awake at `at`, when the measurement starts.
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

    /// The radio falls asleep; nothing, if it is. What it was to transmit later it does not.
    pub fn sleep(&mut self, at: Instant) {
        self.enter(at, RadioState::Asleep);
    }

    /// The radio begins to wake; nothing, unless it is asleep.
    pub fn wake(&mut self, at: Instant) {
        if self.state == RadioState::Asleep {
            self.enter(at, RadioState::Waking);
            self.past.wakes += 1;
        }
    }

    /// The radio is awake from here on; nothing, if it was. From asleep it is a wake that took no time.
    pub fn awake(&mut self, at: Instant) {
        self.wake(at);
        self.enter(at, RadioState::Awake);
    }

    /// The radio transmits from `from` to `to`: reported no later than it begins, in ascending order; it may lie ahead, beyond the
    /// waking of a radio that is not awake yet. Fewer than a hundred separate ones may lie ahead.
    pub fn transmits(&mut self, from: Instant, to: Instant) {
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
        if self.transmissions.len() > REMEMBERED {
            self.fold_first();
        }
    }

    /// The radio has received from `from` to `to`: reported when that is over, in ascending order. The part of it before the radio was
    /// last awake does not count.
    pub fn received(&mut self, from: Instant, to: Instant) {
        if self.state != RadioState::Awake {
            return;
        }
        let heard = Interval { from: from.max(self.since).max(self.heard), to };
        let duplex: Duration = self.transmissions.iter().map(|sent| sent.within(heard.from, heard.to)).sum();
        let alone = heard.within(heard.from, heard.to).saturating_sub(duplex);
        self.past.receiving += alone;
        self.heard = self.heard.max(to);
        while self.transmissions.front().is_some_and(|first| first.to <= self.heard) {
            self.fold_first();
        }
    }

    /// Where the time since the start of the measurement went, up to `now`, which is no earlier than any call before. A transmission
    /// still running is counted up to `now`; a reception still running is idle until it is reported.
    #[must_use]
    pub fn times(&self, now: Instant) -> RadioTime {
        let mut ended = self.clone();
        ended.settle(now);
        let Past { asleep, waking, awake, receiving, transmitting, wakes } = ended.past;
        let idle = awake.saturating_sub(receiving).saturating_sub(transmitting);
        RadioTime { asleep, waking, idle, receiving, transmitting, wakes }
    }

    /// Starts the measurement anew at `now`, in the state that the radio is in; of what is on the air the rest counts.
    pub fn restart(&mut self, now: Instant) {
        self.past = Past::default();
        self.since = now;
        self.keep_from(now);
    }

    /// Takes the radio to another state.
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

    /// Books the time in this state up to `now`. Transmissions are booked up to `now`, and what is left of them stays.
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

    /// Forgets all transmission before `at`.
    fn keep_from(&mut self, at: Instant) {
        self.transmissions.retain_mut(|sent| {
            sent.from = sent.from.max(at);
            sent.from < sent.to
        });
    }

    /// Books the first transmission, whole: no reception reported later overlaps it.
    fn fold_first(&mut self) {
        if let Some(first) = self.transmissions.pop_front() {
            self.past.transmitting += first.within(Instant::ZERO, Instant::NEVER);
            self.heard = self.heard.max(first.to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + MS(millis)
    }

    fn near(energy: Joules, joules: f64) -> bool {
        (energy.as_f64() - joules).abs() < 1e-12
    }

    #[test]
    fn a_burst_and_a_nap_cost_what_the_paper_says() {
        // Awake to 20 ms: 10 ms of it receiving, 1 ms transmitting, 9 idle; asleep to 78 ms; 2 ms to wake; idle to 100 ms.
        let wavelan = RadioPower::by_name("wavelan-dsss").unwrap();
        let mut meter = RadioMeter::new(at(0));
        meter.received(at(5), at(15));
        meter.transmits(at(15), at(16));
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
        meter.transmits(at(10), at(14));
        meter.transmits(at(16), at(20));
        meter.received(at(12), at(18));
        let times = meter.times(at(30));
        assert_eq!((times.transmitting, times.receiving, times.idle), (MS(8), MS(2), MS(20)));
        assert_eq!(meter.times(at(18)).transmitting, MS(6), "what is ahead has not been sent yet");
    }

    #[test]
    fn a_transmission_is_cut_by_sleep_and_waits_for_the_radio_to_wake() {
        // 10..20 cut at 15; reported while waking for 28..32, but the radio is awake from 30 on.
        let mut meter = RadioMeter::new(at(0));
        meter.transmits(at(10), at(20));
        meter.sleep(at(15));
        meter.wake(at(28));
        meter.transmits(at(28), at(32));
        assert_eq!(meter.times(at(29)).transmitting, MS(5));
        meter.awake(at(30));
        assert_eq!(meter.times(at(40)).transmitting, MS(5 + 2));
        assert_eq!(meter.times(at(40)).total(), MS(40));
    }

    #[test]
    fn a_restart_keeps_the_state_and_the_rest_of_what_is_on_the_air() {
        let mut meter = RadioMeter::new(at(0));
        meter.transmits(at(8), at(12));
        meter.restart(at(10));
        meter.received(at(9), at(14));
        // Of 10..20: transmitting 10..12, receiving 12..14.
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
            meter.transmits(at(10 * i), at(10 * i + 1));
        }
        assert!(meter.transmissions.len() <= REMEMBERED);
        assert_eq!(meter.times(at(10_000_000)).transmitting, MS(1_000_000));
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
}
