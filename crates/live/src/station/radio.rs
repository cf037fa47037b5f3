//! The radio of a station with a possibly late driver: every change happens at the instant at which it was due.

use netlull_network::radio::{Coming, Radio};
use netlull_power::RadioTime;
use netlull_units::{BitRate, Duration, Instant};

/// A radio that catches up with its driver.
#[derive(Debug)]
pub(super) struct PunctualRadio {
    radio: Radio,
    /// The number of packets that an access point has begun to send to it.
    under_way: u32,
    /// The latest instant of any call: time does not decrease.
    now: Instant,
    /// The recorded changes of state since the last call of `changes`, if watched.
    changes: Option<Vec<(Instant, &'static str)>>,
}

impl PunctualRadio {
    pub(super) fn new(start: Instant, wake: Duration, rates: [BitRate; 2]) -> Self {
        Self { radio: Radio::new(start, wake, rates), under_way: 0, now: start, changes: None }
    }

    /// Starts the records for [`changes`](Self::changes).
    pub(super) fn watch(&mut self) {
        self.changes.get_or_insert_default();
    }

    /// Takes the changes of state since the last call.
    pub(super) fn changes(&mut self) -> Vec<(Instant, &'static str)> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn changed(&mut self, at: Instant, state: &'static str) {
        self.changes.iter_mut().for_each(|changes| changes.push((at, state)));
    }

    /// The time in each state up to `now`, including the received part of a packet on the air.
    pub(super) fn times(&self, now: Instant, coming: Option<Coming>) -> RadioTime {
        let mut ended = Self { radio: self.radio.clone(), changes: None, ..*self };
        ended.settle(now);
        ended.radio.times(ended.now, coming)
    }

    pub(super) fn is_awake(&self) -> bool {
        self.radio.is_awake()
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.radio.is_asleep()
    }

    /// The start of the current awake period; `None` unless awake.
    pub(super) fn awake_since(&self) -> Option<Instant> {
        self.radio.awake_since()
    }

    /// The instant at which a waking radio will be awake.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        self.radio.wakes_at()
    }

    /// The instant of the next change of its own.
    pub(super) fn next(&self) -> Option<Instant> {
        self.radio.wakes_at().or_else(|| self.radio.sleeps_at().filter(|_| self.under_way == 0))
    }

    /// Processes all changes due by `now`, each at its instant. At `now` itself it does not fall asleep yet: that comes
    /// last.
    pub(super) fn settle(&mut self, now: Instant) {
        while let Some(due) = self.next().filter(|&due| due < now || (due == now && !self.is_awake())) {
            self.change(due);
        }
        self.at(now);
    }

    /// Does the same, and also falls asleep at `now` if due.
    pub(super) fn settle_all(&mut self, now: Instant) {
        while let Some(due) = self.next().filter(|&due| due <= now) {
            self.change(due);
        }
        self.at(now);
    }

    fn change(&mut self, due: Instant) {
        let at = self.at(due);
        if self.is_awake() {
            self.radio.sleep(at);
            self.changed(at, "asleep");
        } else {
            self.radio.awake(at);
            self.changed(at, "awake");
        }
    }

    fn at(&mut self, instant: Instant) -> Instant {
        self.now = self.now.max(instant);
        self.now
    }

    /// Wakes the radio, or keeps it awake.
    pub(super) fn wake(&mut self, at: Instant) {
        self.settle(at);
        let at = self.at(at);
        if self.radio.wake(at) {
            self.changed(at, "waking");
            self.settle(at);
        }
    }

    /// Cancels a pending sleep.
    pub(super) fn stay(&mut self) {
        self.radio.stay();
    }

    /// Falls asleep as soon as it has sent everything.
    pub(super) fn sleep(&mut self, at: Instant) {
        let at = self.at(at);
        self.radio.wants_sleep(at);
    }

    /// Transmits `size` bytes after all earlier ones, and wakes for them if it sleeps. Returns the start and the end.
    pub(super) fn transmits(&mut self, now: Instant, size: u32) -> (Instant, Instant) {
        self.settle(now);
        if self.is_asleep() {
            self.wake(now);
        }
        let now = self.at(now);
        self.radio.transmits(now, size, None)
    }

    /// The instant of the first bit of `size` bytes whose last bit is at `ends`.
    pub(super) fn began(&self, ends: Instant, size: u32) -> Instant {
        self.radio.began(ends, size)
    }

    /// Returns true if it heard a transmission from `from` to `now`, awake from the first bit on. `coming` is a packet
    /// that is also on the air.
    pub(super) fn hears(&mut self, from: Instant, now: Instant, coming: Option<Coming>) -> bool {
        self.settle(now);
        self.radio.hears(from, self.now, coming)
    }

    /// Announces a packet from an access point; the radio does not fall asleep before it arrives.
    pub(super) fn expects(&mut self) {
        self.under_way = self.under_way.saturating_add(1);
    }

    /// Notes the arrival of a packet, heard or not; a postponed change may happen from now on.
    pub(super) fn has_come(&mut self, now: Instant) {
        self.under_way = self.under_way.saturating_sub(1);
        self.radio.postpones_sleep(now);
    }
}
