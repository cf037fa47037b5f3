//! The radio of a station whose driver may be late: every change happens at the instant at which it was due.

use netlull_network::radio::{Coming, Radio};
use netlull_power::RadioTime;
use netlull_units::{BitRate, Duration, Instant};

/// A radio that catches up with its driver.
#[derive(Debug)]
pub(super) struct PunctualRadio {
    radio: Radio,
    /// Packets that an access point has begun to send to it.
    under_way: u32,
    /// The latest instant of anything: time does not go back.
    now: Instant,
    /// Changes of its state that nobody has taken yet, if they are recorded.
    changes: Option<Vec<(Instant, &'static str)>>,
}

impl PunctualRadio {
    pub(super) fn new(start: Instant, wake: Duration, rates: [BitRate; 2]) -> Self {
        Self { radio: Radio::new(start, wake, rates), under_way: 0, now: start, changes: None }
    }

    /// Records from now on what [`changes`](Self::changes) gives.
    pub(super) fn watch(&mut self) {
        self.changes.get_or_insert_default();
    }

    /// Takes the states into which it has gone since the last time, and when.
    pub(super) fn changes(&mut self) -> Vec<(Instant, &'static str)> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn changed(&mut self, at: Instant, state: &'static str) {
        self.changes.iter_mut().for_each(|changes| changes.push((at, state)));
    }

    /// The time in each state up to `now`, with the part that has come of a packet that is on the air.
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

    /// The instant since which it has been awake, if it is.
    pub(super) fn awake_since(&self) -> Option<Instant> {
        self.radio.awake_since()
    }

    /// The instant at which it will be awake, while it wakes.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        self.radio.wakes_at()
    }

    /// The instant at which it changes of itself.
    pub(super) fn next(&self) -> Option<Instant> {
        self.radio.wakes_at().or_else(|| self.radio.sleeps_at().filter(|_| self.under_way == 0))
    }

    /// Lets everything happen that is due by `now`, each at its instant; at `now` itself it does not yet fall asleep, for that comes last.
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

    /// It wakes, or stays awake.
    pub(super) fn wake(&mut self, at: Instant) {
        self.settle(at);
        let at = self.at(at);
        if self.radio.wake(at) {
            self.changed(at, "waking");
            self.settle(at);
        }
    }

    /// It does not fall asleep of itself.
    pub(super) fn stay(&mut self) {
        self.radio.stay();
    }

    /// It sleeps as soon as it has sent everything.
    pub(super) fn sleep(&mut self, at: Instant) {
        let at = self.at(at);
        self.radio.wants_sleep(at);
    }

    /// It transmits `size` bytes, behind everything that it transmits already, and wakes for them if it sleeps: when it begins and when it ends.
    pub(super) fn transmits(&mut self, now: Instant, size: u32) -> (Instant, Instant) {
        self.settle(now);
        if self.is_asleep() {
            self.wake(now);
        }
        let now = self.at(now);
        self.radio.transmits(now, size, None)
    }

    /// The instant at which the first bit of `size` bytes is on the air whose last bit is at `ends`.
    pub(super) fn began(&self, ends: Instant, size: u32) -> Instant {
        self.radio.began(ends, size)
    }

    /// Something was on the air from `from` to `now`; true if it heard it, awake from the first bit on. `coming` is a packet that is on the
    /// air as well.
    pub(super) fn hears(&mut self, from: Instant, now: Instant, coming: Option<Coming>) -> bool {
        self.settle(now);
        self.radio.hears(from, self.now, coming)
    }

    /// An access point has begun to send it a packet; it is not to fall asleep before that has come.
    pub(super) fn expects(&mut self) {
        self.under_way = self.under_way.saturating_add(1);
    }

    /// A packet has come, heard or not; a change that waited for it may happen from now on.
    pub(super) fn has_come(&mut self, now: Instant) {
        self.under_way = self.under_way.saturating_sub(1);
        self.radio.postpones_sleep(now);
    }
}
