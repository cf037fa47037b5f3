//! The radio of a station: whether it hears, and when what it is given is on the air.

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

/// What a radio does next of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Stay,
    /// It sleeps once it has sent what it was given; since when it is to.
    Sleep(Instant),
}

/// ```text
///            wake            after the wake time
///   Asleep --------> Waking ---------------------> Awake
///      ^                                             |
///      +---------------------------------------------+
///              told to sleep, and has sent all
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asleep,
    Waking { until: Instant, then: Then },
    Awake { since: Instant, then: Then },
}

/// A radio that is modelled: its times go by what it is told, not by when somebody has found time to tell it.
#[derive(Debug)]
pub(super) struct Radio {
    state: State,
    meter: RadioMeter,
    wake: Duration,
    /// The air to it and from it.
    rates: [BitRate; 2],
    /// When the last frame that it was given is sent.
    sends_until: Instant,
    /// Packets that an access point has begun to send to it.
    under_way: u32,
    /// The latest instant of anything: time does not go back.
    now: Instant,
    /// Changes of its state that were not told yet, if they are to be told.
    changes: Option<Vec<(Instant, &'static str)>>,
}

impl Radio {
    pub(super) fn new(start: Instant, wake: Duration, rates: [BitRate; 2]) -> Self {
        Self {
            state: State::Awake { since: start, then: Then::Stay },
            meter: RadioMeter::new(start),
            wake,
            rates,
            sends_until: start,
            under_way: 0,
            now: start,
            changes: None,
        }
    }

    /// From now on it keeps what [`changes`](Self::changes) tells.
    pub(super) fn watch(&mut self) {
        self.changes.get_or_insert_default();
    }

    /// Into which states it has gone, and when, since the last time.
    pub(super) fn changes(&mut self) -> Vec<(Instant, &'static str)> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn changed(&mut self, at: Instant, state: &'static str) {
        self.changes.iter_mut().for_each(|changes| changes.push((at, state)));
    }

    /// Where its time has gone up to `now`.
    pub(super) fn times(&self, now: Instant) -> RadioTime {
        self.times_with(now, None)
    }

    /// The same with what has come so far of a packet that is on the air.
    pub(super) fn times_with(&self, now: Instant, coming: Option<Coming>) -> RadioTime {
        let mut ended = Self { changes: None, meter: self.meter.clone(), ..*self };
        ended.settle(now);
        if let Some(from) = ended.coming_since(now, coming) {
            ended.meter.received(from, ended.now);
        }
        ended.meter.times(ended.now)
    }

    /// Since when it has been hearing a packet that is on the air, if it has.
    fn coming_since(&self, now: Instant, coming: Option<Coming>) -> Option<Instant> {
        let Coming { arrives, size } = coming?;
        let from = self.began(arrives, size);
        (from < now && self.awake_since()? <= from).then_some(from)
    }

    pub(super) fn is_awake(&self) -> bool {
        matches!(self.state, State::Awake { .. })
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.state == State::Asleep
    }

    /// When it was last awake from, if it is.
    pub(super) fn awake_since(&self) -> Option<Instant> {
        match self.state {
            State::Awake { since, .. } => Some(since),
            State::Asleep | State::Waking { .. } => None,
        }
    }

    /// When it will be awake, while it wakes.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        match self.state {
            State::Waking { until, .. } => Some(until),
            State::Asleep | State::Awake { .. } => None,
        }
    }

    /// When it changes of itself.
    pub(super) fn next(&self) -> Option<Instant> {
        match self.state {
            State::Waking { until, .. } => Some(until),
            State::Awake { then: Then::Sleep(asked), .. } if self.under_way == 0 => Some(self.sends_until.max(asked)),
            State::Asleep | State::Awake { .. } => None,
        }
    }

    /// All that is due by `now` happens, each at its instant; at `now` itself it does not yet fall asleep, for that comes last.
    pub(super) fn settle(&mut self, now: Instant) {
        while let Some(due) = self.next().filter(|&due| due < now || (due == now && !self.is_awake())) {
            self.change(due);
        }
        self.at(now);
    }

    /// The same, and `now` is over.
    pub(super) fn settle_all(&mut self, now: Instant) {
        while let Some(due) = self.next().filter(|&due| due <= now) {
            self.change(due);
        }
        self.at(now);
    }

    fn change(&mut self, due: Instant) {
        let at = self.at(due);
        self.state = match self.state {
            State::Waking { then, .. } => {
                self.meter.awake(at);
                self.changed(at, "awake");
                self.sends_until = self.sends_until.max(at);
                State::Awake { since: at, then }
            }
            State::Awake { .. } | State::Asleep => {
                self.meter.sleep(at);
                self.changed(at, "asleep");
                State::Asleep
            }
        };
    }

    fn at(&mut self, instant: Instant) -> Instant {
        self.now = self.now.max(instant);
        self.now
    }

    /// It wakes, or stays awake.
    pub(super) fn wake(&mut self, at: Instant) {
        self.settle(at);
        let at = self.at(at);
        match &mut self.state {
            State::Asleep => {
                self.meter.wake(at);
                self.changed(at, "waking");
                self.state = State::Waking { until: at + self.wake, then: Then::Stay };
                self.settle(at);
            }
            State::Waking { then, .. } | State::Awake { then, .. } => *then = Then::Stay,
        }
    }

    /// It does not fall asleep of itself.
    pub(super) fn stay(&mut self) {
        if let State::Waking { then, .. } | State::Awake { then, .. } = &mut self.state {
            *then = Then::Stay;
        }
    }

    /// It sleeps when it has sent what it was given.
    pub(super) fn sleep(&mut self, at: Instant) {
        let at = self.at(at);
        if let State::Waking { then, .. } | State::Awake { then, .. } = &mut self.state {
            *then = Then::Sleep(at);
        }
    }

    /// It transmits `size` bytes, behind what it transmits already, and wakes for them if it sleeps: when it begins and when it ends.
    pub(super) fn transmits(&mut self, now: Instant, size: u32) -> (Instant, Instant) {
        self.settle(now);
        if self.is_asleep() {
            self.wake(now);
        }
        let awake = match self.state {
            State::Waking { until, .. } => until,
            State::Awake { .. } | State::Asleep => self.at(now),
        };
        let from = self.sends_until.max(awake);
        let to = from + self.rates[1].time_for(Bytes::new(u64::from(size)));
        self.sends_until = to;
        self.meter.transmits(from, to);
        (from, to)
    }

    /// When something of `size` bytes that is there at `now` has begun to be on the air.
    pub(super) fn began(&self, now: Instant, size: u32) -> Instant {
        let took = self.rates[0].time_for(Bytes::new(u64::from(size)));
        Instant::ZERO + (now - Instant::ZERO).saturating_sub(took)
    }

    /// Something was on the air from `from` to `now`: whether it heard it, which it did if it was awake from the first bit on.
    pub(super) fn hears(&mut self, from: Instant, now: Instant) -> bool {
        self.settle(now);
        let heard = self.awake_since().is_some_and(|since| since <= from);
        if heard {
            self.meter.received(from, self.now);
        }
        heard
    }

    /// The same of something beside which a packet is coming. Receptions are told to the meter one after the other: what has come so far of
    /// the packet is told now, the rest when it has.
    pub(super) fn hears_beside(&mut self, from: Instant, now: Instant, coming: Option<Coming>) -> bool {
        self.settle(now);
        let first = self.coming_since(now, coming).map_or(from, |since| since.min(from));
        let heard = self.awake_since().is_some_and(|since| since <= from);
        if heard {
            self.meter.received(first, self.now);
        }
        heard
    }

    /// An access point has begun to send it a packet; it is not to fall asleep before that has come.
    pub(super) fn expects(&mut self) {
        self.under_way = self.under_way.saturating_add(1);
    }

    /// A packet has come, heard or not; what waited for it may happen from now on.
    pub(super) fn has_come(&mut self, now: Instant) {
        self.under_way = self.under_way.saturating_sub(1);
        if let State::Awake { then: Then::Sleep(asked), .. } = &mut self.state {
            *asked = now.max(*asked);
        }
    }
}
