//! The radio of a station: its states, and the times at which it transmits and receives. Its owner requests the
//! changes.
//!
//! ```text
//!            wake            awake, after the wake time
//!   Asleep --------> Waking ---------------------------> Awake
//!      ^                                                   |
//!      +---------------------------------------------------+
//!              sleep: requested, and all frames are sent
//! ```

use netlull_power::{RadioMeter, RadioTime};
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// A packet on the air to a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coming {
    /// The time of the last bit.
    pub arrives: Instant,
    /// The packet's size in bytes.
    pub size: u32,
}

/// The time on the air of a frame that a link sends too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The time of the first bit, if the link shares its air; otherwise the radio's own queue decides.
    pub from: Option<Instant>,
    /// The time of the last bit.
    pub to: Instant,
}

/// The intention of a radio that does not sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Intention {
    /// It stays awake.
    Stay,
    /// It sleeps after its last frame, but not before this instant.
    Sleep(Instant),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asleep,
    Waking { until: Instant, then: Intention },
    Awake { since: Instant, then: Intention },
}

/// A radio with its state and its meter.
#[derive(Clone, Debug)]
pub struct Radio {
    state: State,
    meter: RadioMeter,
    wake: Duration,
    /// The rates of the air to the radio and from it.
    rates: [BitRate; 2],
    /// The end of the last queued frame.
    sends_until: Instant,
}

impl Radio {
    /// Creates a radio that is awake.
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

    /// Returns true if the radio is awake.
    #[must_use]
    pub fn is_awake(&self) -> bool {
        matches!(self.state, State::Awake { .. })
    }

    /// Returns true if the radio sleeps.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.state == State::Asleep
    }

    /// The time of the last wake-up, if the radio is awake.
    #[must_use]
    pub fn awake_since(&self) -> Option<Instant> {
        match self.state {
            State::Awake { since, .. } => Some(since),
            State::Asleep | State::Waking { .. } => None,
        }
    }

    /// The end of the wake time, while the radio wakes.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Instant> {
        match self.state {
            State::Waking { until, .. } => Some(until),
            State::Asleep | State::Awake { .. } => None,
        }
    }

    /// The time of the next sleep, if the radio is awake and sleep is intended.
    #[must_use]
    pub fn sleeps_at(&self) -> Option<Instant> {
        match self.state {
            State::Awake { then: Intention::Sleep(asked), .. } => Some(self.sends_until.max(asked)),
            State::Awake { then: Intention::Stay, .. } | State::Asleep | State::Waking { .. } => None,
        }
    }

    /// Begins to wake, or stays awake. Returns true if the radio slept.
    pub fn wake(&mut self, now: Instant) -> bool {
        let slept = self.is_asleep();
        if slept {
            self.meter.wake(now);
            self.state = State::Waking { until: now + self.wake, then: Intention::Stay };
        }
        self.stay();
        slept
    }

    /// Becomes awake after the wake time.
    pub fn awake(&mut self, now: Instant) {
        let State::Waking { then, .. } = self.state else { return };
        self.meter.awake(now);
        self.state = State::Awake { since: now, then };
        self.sends_until = self.sends_until.max(now);
    }

    /// Falls asleep.
    pub fn sleep(&mut self, now: Instant) {
        self.meter.sleep(now);
        self.state = State::Asleep;
    }

    /// Cancels an intended sleep.
    pub fn stay(&mut self) {
        self.intend(Intention::Stay);
    }

    /// Sleeps as soon as all frames are sent.
    pub fn wants_sleep(&mut self, now: Instant) {
        self.intend(Intention::Sleep(now));
    }

    /// Postpones an intended sleep until `now` or later.
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

    /// The air time of `size` bytes to the radio, rounded down to a nanosecond.
    fn time_down(&self, size: u32) -> Duration {
        self.rates[0].time_for(Bytes::new(u64::from(size)))
    }

    /// Transmits `size` bytes after all queued frames and not before `now`, at the times of the link that carries them,
    /// if any. Returns the start and the end.
    pub fn transmits(&mut self, now: Instant, size: u32, link: Option<Carried>) -> (Instant, Instant) {
        let earliest = link.and_then(|link| link.from).unwrap_or(now);
        let from = self.sends_until.max(self.wakes_at().unwrap_or(earliest));
        let until = link.map_or(from, |link| link.to);
        let to = (from + self.rates[1].time_for(Bytes::new(u64::from(size)))).max(until);
        self.sends_until = to;
        self.meter.transmits(now, from, to);
        (from, to)
    }

    /// The time of the first bit on the air of `size` bytes whose last bit is at `ends`.
    #[must_use]
    pub fn began(&self, ends: Instant, size: u32) -> Instant {
        Instant::ZERO + (ends - Instant::ZERO).saturating_sub(self.time_down(size))
    }

    /// Returns true if the radio has been awake since `from`.
    #[must_use]
    pub fn hears_from(&self, from: Instant) -> bool {
        self.awake_since().is_some_and(|since| since <= from)
    }

    /// Handles a transmission on the air from `from` to `now`. Returns true if the radio heard it, awake from the
    /// first bit on.
    ///
    /// `coming` is another packet on the air. The meter requires consecutive receptions: the arrived part of the
    /// packet is reported now, the rest at its end.
    pub fn hears(&mut self, from: Instant, now: Instant, coming: Option<Coming>) -> bool {
        let is_heard = self.hears_from(from);
        if is_heard {
            let since = self.coming_since(now, coming).map_or(from, |since| since.min(from));
            self.meter.received(since, now);
        }
        is_heard
    }

    /// The time since which the radio has been hearing the packet on the air, if it has.
    fn coming_since(&self, now: Instant, coming: Option<Coming>) -> Option<Instant> {
        let Coming { arrives, size } = coming?;
        let from = self.began(arrives, size);
        (from < now && self.hears_from(from)).then_some(from)
    }

    /// The time in each state up to `now`, including the arrived part of a packet on the air.
    #[must_use]
    pub fn times(&self, now: Instant, coming: Option<Coming>) -> RadioTime {
        let mut meter = self.meter.clone();
        if let Some(from) = self.coming_since(now, coming) {
            meter.received(from, now);
        }
        meter.times(now)
    }
}
