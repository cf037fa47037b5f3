//! The radio of a station: awake or asleep, and the instants at which it transmits and receives. Its owner says when it changes.
//!
//! ```text
//!            wake            awake, after the wake time
//!   Asleep --------> Waking ---------------------------> Awake
//!      ^                                                   |
//!      +---------------------------------------------------+
//!              sleep: it is to, and has sent all
//! ```

use netlull_power::{RadioMeter, RadioTime};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// A packet that is on the air to a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coming {
    /// The instant of its last bit.
    pub arrives: Instant,
    /// Its size in bytes.
    pub size: u32,
}

/// The intention of a radio that does not sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Intention {
    /// It stays awake.
    Stay,
    /// It sleeps once it has sent everything, not before this instant.
    Sleep(Instant),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asleep,
    Waking { until: Instant, then: Intention },
    Awake { since: Instant, then: Intention },
}

/// A radio.
#[derive(Clone, Debug)]
pub struct Radio {
    state: State,
    meter: RadioMeter,
    wake: Duration,
    /// The air to it and from it.
    rates: [BitRate; 2],
    /// The instant at which the last frame that it was given is sent.
    sends_until: Instant,
}

impl Radio {
    /// A radio that is awake.
    #[must_use]
    pub fn new(start: Instant, wake: Duration, rates: [BitRate; 2]) -> Self {
        Self {
            state: State::Awake { since: start, then: Intention::Stay },
            meter: RadioMeter::new(start),
            wake,
            rates,
            sends_until: start,
        }
    }

    /// True if it is awake.
    #[must_use]
    pub fn is_awake(&self) -> bool {
        matches!(self.state, State::Awake { .. })
    }

    /// True if it sleeps.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.state == State::Asleep
    }

    /// The instant since which it has been awake, if it is.
    #[must_use]
    pub fn awake_since(&self) -> Option<Instant> {
        match self.state {
            State::Awake { since, .. } => Some(since),
            State::Asleep | State::Waking { .. } => None,
        }
    }

    /// The instant at which it will be awake, while it wakes.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Instant> {
        match self.state {
            State::Waking { until, .. } => Some(until),
            State::Asleep | State::Awake { .. } => None,
        }
    }

    /// The instant at which it falls asleep, if it is awake and is to.
    #[must_use]
    pub fn sleeps_at(&self) -> Option<Instant> {
        match self.state {
            State::Awake { then: Intention::Sleep(asked), .. } => Some(self.sends_until.max(asked)),
            State::Awake { then: Intention::Stay, .. } | State::Asleep | State::Waking { .. } => None,
        }
    }

    /// It begins to wake, or stays awake; true if it slept.
    pub fn wake(&mut self, now: Instant) -> bool {
        let slept = self.is_asleep();
        if slept {
            self.meter.wake(now);
            self.state = State::Waking { until: now + self.wake, then: Intention::Stay };
        }
        self.stay();
        slept
    }

    /// It is awake, after its wake time.
    pub fn awake(&mut self, now: Instant) {
        let State::Waking { then, .. } = self.state else { return };
        self.meter.awake(now);
        self.state = State::Awake { since: now, then };
        self.sends_until = self.sends_until.max(now);
    }

    /// It falls asleep.
    pub fn sleep(&mut self, now: Instant) {
        self.meter.sleep(now);
        self.state = State::Asleep;
    }

    /// It does not fall asleep of itself.
    pub fn stay(&mut self) {
        self.intend(Intention::Stay);
    }

    /// It sleeps as soon as it has sent everything.
    pub fn wants_sleep(&mut self, now: Instant) {
        self.intend(Intention::Sleep(now));
    }

    /// It sleeps, if it is to, not before `now`.
    pub fn postpones_sleep(&mut self, now: Instant) {
        if let State::Awake { then: Intention::Sleep(asked), .. } = &mut self.state {
            *asked = now.max(*asked);
        }
    }

    fn intend(&mut self, intention: Intention) {
        if let State::Waking { then, .. } | State::Awake { then, .. } = &mut self.state {
            *then = intention;
        }
    }

    /// The time that `size` bytes are on the air to it, rounded down to a nanosecond.
    fn time_down(&self, size: u32) -> Duration {
        self.rates[0].time_for(Bytes::new(u64::from(size)))
    }

    /// It transmits `size` bytes, behind everything that it transmits already and not before `now`: from when to when. A link that sends them
    /// as well has done so at `until`.
    pub fn transmits(&mut self, now: Instant, size: u32, until: Option<Instant>) -> (Instant, Instant) {
        let from = self.sends_until.max(self.wakes_at().unwrap_or(now));
        let to = (from + self.rates[1].time_for(Bytes::new(u64::from(size)))).max(until.unwrap_or(from));
        self.sends_until = to;
        self.meter.transmits(from, to);
        (from, to)
    }

    /// The instant at which the first bit of `size` bytes is on the air whose last bit is at `ends`.
    #[must_use]
    pub fn began(&self, ends: Instant, size: u32) -> Instant {
        Instant::ZERO + (ends - Instant::ZERO).saturating_sub(self.time_down(size))
    }

    /// True if it has been awake since `from`.
    #[must_use]
    pub fn hears_from(&self, from: Instant) -> bool {
        self.awake_since().is_some_and(|since| since <= from)
    }

    /// Something was on the air from `from` to `now`; true if it heard it, awake from the first bit on. `coming` is a packet that is on the
    /// air as well. The meter hears of receptions one after the other: the part of the packet that has come is told now, the rest when it has.
    pub fn hears(&mut self, from: Instant, now: Instant, coming: Option<Coming>) -> bool {
        let is_heard = self.hears_from(from);
        if is_heard {
            let since = self.coming_since(now, coming).map_or(from, |since| since.min(from));
            self.meter.received(since, now);
        }
        is_heard
    }

    /// The instant since which it has been hearing a packet that is on the air, if it has.
    fn coming_since(&self, now: Instant, coming: Option<Coming>) -> Option<Instant> {
        let Coming { arrives, size } = coming?;
        let from = self.began(arrives, size);
        (from < now && self.hears_from(from)).then_some(from)
    }

    /// The time in each state up to `now`, with the part that has come of a packet that is on the air.
    #[must_use]
    pub fn times(&self, now: Instant, coming: Option<Coming>) -> RadioTime {
        let mut meter = self.meter.clone();
        if let Some(from) = self.coming_since(now, coming) {
            meter.received(from, now);
        }
        meter.times(now)
    }
}
