//! The service of a link with a variable rate, one packet after another (docs/models/link.md).
//!
//! It determines the time of each packet's last bit, the effect of a rate change on the packet in service, and
//! the length of pauses. It knows only the sizes of packets; the backlog belongs to its owner. The lateness of
//! packets is measured next to it.
//!
//! ```text
//!          start                     turn: last bit sent, no backlog: rest
//!   Idle ────────► Sending ────────────────────────────────────────► Idle
//!     │ change,      │  ▲  │ turn: last bit sent, a pause is due
//!     │ pause        │  │  └──────────────► Paused ──► start of the next, or rest
//!     ▼              │  └───── Suspended ◄──┘ (reading `suspend` only)
//!   Paused           └ change
//! ```
//!
//! A capacity without a controller acts on the packet in service at once. At capacity zero that packet is halted, and an
//! idle line pauses until the capacity returns.

use crate::plan::InService;
use crate::ring::Ring;
use netlull_units::{BitRate, Duration, Instant, Serialiser};

/// A rate change requested by a controller.
#[derive(Clone, Copy, Debug)]
pub struct RateChange {
    /// The new rate. At zero, which only an idle line takes, the line stops until the next change.
    pub rate: BitRate,
    /// The time without transmission.
    pub pause: Duration,
    /// The treatment of the packet in service.
    pub in_service: InService,
}

/// A pause that follows the packet in service.
#[derive(Clone, Copy, Debug)]
enum PauseDue {
    No,
    For(Duration),
    Until(Instant),
}

impl PauseDue {
    /// The end of the pause if the packet's last bit were sent now.
    fn until(self, now: Instant) -> Instant {
        match self {
            Self::No => now,
            Self::For(span) => now + span,
            Self::Until(until) => until.max(now),
        }
    }

    fn span_at(self, now: Instant) -> Duration {
        self.until(now) - now
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    Idle,
    Sending {
        pause: PauseDue,
    },
    Paused,
    Suspended {
        left: Duration,
    },
    /// The controller has stopped the line until its next change.
    Stopped,
    /// The capacity is zero. `rest` is the rest of the packet in service, in bit nanoseconds.
    Halted {
        rest: u128,
    },
}

/// The result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A packet's last bit has been sent.
    Sent {
        /// The pause of a rate change that was decided earlier and starts now, if there is one.
        goes_over: Option<Duration>,
        /// The next step.
        then: Next,
    },
    /// A pause is over. The field is the next step.
    Resumed(Next),
    /// No event was due.
    Nothing,
}

/// The step after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The owner starts the next packet, or reports that it has none.
    Packet,
    /// The line waits for the end of a pause or sends the rest of a suspended packet.
    Wait,
}

/// A line that sends one packet after another.
#[derive(Clone, Debug)]
pub struct Service {
    serialiser: Serialiser,
    state: State,
    /// The end of the transmission or of the pause; `NEVER` for an idle line.
    until: Instant,
    /// The time of the last bit so far.
    free_at: Instant,
}

impl Service {
    /// Creates an idle line.
    #[must_use]
    pub fn new(rate: BitRate) -> Self {
        let serialiser = Serialiser::new(rate.max(BitRate::from_bps(1)));
        let state = if rate.is_zero() { State::Paused } else { State::Idle };
        Self { serialiser, state, until: Instant::NEVER, free_at: Instant::ZERO }
    }

    /// Sets the bytes on the wire that each packet has in addition to its size. To be called before the first packet.
    pub fn set_overhead(&mut self, overhead: u32) {
        self.serialiser = self.serialiser.clone().with_overhead(overhead);
    }

    /// The bytes on the wire that each packet has in addition to its size.
    #[must_use]
    pub fn overhead(&self) -> u32 {
        self.serialiser.overhead()
    }

    /// The rate for the next packet.
    #[inline]
    #[must_use]
    pub fn rate(&self) -> BitRate {
        if self.has_capacity() { self.serialiser.rate() } else { BitRate::default() }
    }

    /// Returns false at capacity zero. Other pauses end.
    #[inline]
    fn has_capacity(&self) -> bool {
        self.until != Instant::NEVER || matches!(self.state, State::Idle)
    }

    /// Returns true if the line neither sends nor pauses.
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// Returns true while a packet is in service or suspended.
    #[inline]
    #[must_use]
    pub fn serves(&self) -> bool {
        matches!(self.state, State::Sending { .. } | State::Suspended { .. } | State::Halted { .. })
    }

    /// The time since the last bit, if the line is idle or stopped.
    #[must_use]
    pub fn quiet_for(&self, now: Instant) -> Option<Duration> {
        matches!(self.state, State::Idle | State::Stopped).then(|| now.saturating_since(self.free_at))
    }

    /// The length of the idle time, if the line is idle.
    #[must_use]
    pub fn idle_for(&self, now: Instant) -> Option<Duration> {
        self.is_idle().then(|| now.saturating_since(self.free_at))
    }

    /// The time of the next [`turn`](Self::turn).
    #[inline]
    #[must_use]
    pub fn next(&self) -> Instant {
        self.until
    }

    /// The predicted start of each queued packet at the present rate, and the end of the last.
    pub fn would_begin(&self, now: Instant, sizes: impl Iterator<Item = u32>) -> impl Iterator<Item = Instant> {
        let mut serialiser = self.serialiser.clone();
        let mut at = match self.state {
            State::Idle => now,
            State::Sending { .. } | State::Paused => self.until,
            State::Suspended { left } => self.until + left,
            State::Stopped | State::Halted { .. } => Instant::NEVER,
        };
        let begins_next = move |size| {
            at += serialiser.next(size);
            at
        };
        std::iter::once(at).chain(sizes.map(begins_next))
    }

    /// The length of a decided pause that follows the packet in service.
    #[must_use]
    pub fn pause_due(&self) -> Duration {
        match self.state {
            State::Sending { pause: PauseDue::For(span) } => span,
            _ => Duration::ZERO,
        }
    }

    /// Starts a packet on an idle line. Returns the time of its last bit.
    #[inline]
    pub fn start_idle(&mut self, now: Instant, size: u32) -> Instant {
        // At the instant of the last departure the line is still busy for the fractional remainder.
        if now > self.free_at {
            self.serialiser.idle();
        }
        self.start(now, size)
    }

    /// Starts the next packet. Returns the time of its last bit.
    #[inline]
    pub fn start(&mut self, now: Instant, size: u32) -> Instant {
        self.until = now + self.serialiser.next(size);
        self.state = State::Sending { pause: PauseDue::No };
        self.until
    }

    /// Ends a transmission that no pause follows. Returns false in any other state: nothing has changed then.
    #[inline]
    pub fn end_without_pause(&mut self, now: Instant) -> bool {
        let ends = matches!(self.state, State::Sending { pause: PauseDue::No });
        if ends {
            self.free_at = now;
        }
        ends
    }

    /// Makes the line idle.
    #[inline]
    pub fn rest(&mut self) {
        (self.state, self.until) = (State::Idle, Instant::NEVER);
    }

    /// Aborts the packet in service, and makes the line idle.
    pub fn abort(&mut self, now: Instant) {
        self.serialiser.idle();
        self.free_at = now;
        self.rest();
    }

    /// Handles the event that is due now.
    #[inline]
    pub fn turn(&mut self, now: Instant) -> Turn {
        match self.state {
            State::Sending { pause } => {
                self.free_at = now;
                let goes_over = match pause {
                    PauseDue::For(pause) => Some(pause),
                    PauseDue::No | PauseDue::Until(_) => None,
                };
                let until = pause.until(now);
                let then = if until > now {
                    (self.state, self.until) = (State::Paused, until);
                    Next::Wait
                } else {
                    Next::Packet
                };
                Turn::Sent { goes_over, then }
            }
            State::Suspended { left } => {
                (self.state, self.until) = (State::Sending { pause: PauseDue::No }, now + left);
                Turn::Resumed(Next::Wait)
            }
            State::Paused => {
                self.serialiser.idle();
                Turn::Resumed(Next::Packet)
            }
            State::Idle | State::Stopped | State::Halted { .. } => Turn::Nothing,
        }
    }

    /// Changes the rate, at once or after the packet in service, depending on `in_service`. Returns the pause
    /// that begins now, if the change is immediate. Every change costs its pause: those during one packet or one
    /// pause add up.
    pub fn change(&mut self, now: Instant, change: RateChange) -> Option<Duration> {
        let old = self.rate();
        let RateChange { rate, pause, in_service } = change;
        if rate.is_zero() {
            debug_assert!(matches!(self.state, State::Idle | State::Stopped), "only an idle line stops");
            (self.state, self.until) = (State::Stopped, Instant::NEVER);
            return Some(pause);
        }
        self.serialiser.set_rate(rate);
        match (self.state, in_service) {
            (State::Sending { pause: due }, InService::FinishThenPause) if !(pause + due.span_at(now)).is_zero() => {
                self.state = State::Sending { pause: PauseDue::For(due.span_at(now) + pause) };
                None
            }
            (State::Sending { pause: due }, InService::FinishWhilePausing) => {
                let until = due.until(now) + pause;
                self.state = State::Sending { pause: PauseDue::Until(until) };
                Some(until - now)
            }
            (State::Sending { .. }, InService::Suspend) => {
                self.state = State::Suspended { left: rescale(self.until - now, old, rate) };
                self.until = now + pause;
                Some(pause)
            }
            (State::Sending { .. } | State::Idle, _) if pause.is_zero() => Some(pause),
            (State::Sending { .. } | State::Idle, _) => {
                (self.state, self.until) = (State::Paused, now + pause);
                Some(pause)
            }
            (State::Stopped, _) => {
                (self.state, self.until) = (State::Paused, now + pause);
                Some(pause)
            }
            (State::Paused, _) => {
                self.until += pause;
                Some(self.until - now)
            }
            (State::Suspended { left }, _) => {
                self.state = State::Suspended { left: rescale(left, old, rate) };
                self.until += pause;
                Some(self.until - now)
            }
            (State::Halted { .. }, _) => None,
        }
    }

    /// Changes the capacity, which may be zero, at once: the rest of the packet in service goes at the new rate. Only for
    /// a line without a controller, which never pauses or suspends a packet for another reason.
    pub fn set_capacity(&mut self, now: Instant, rate: BitRate) {
        let rest = match self.state {
            State::Sending { .. } => self.serialiser.rest(self.until - now),
            State::Halted { rest } => rest,
            State::Idle | State::Stopped | State::Paused | State::Suspended { .. } => 0,
        };
        let serves = self.serves();
        if rate.is_zero() {
            self.state = if serves { State::Halted { rest } } else { State::Paused };
            self.until = Instant::NEVER;
            return;
        }
        let takes = self.serialiser.go_on(rate, rest);
        if serves {
            self.state = State::Sending { pause: PauseDue::No };
            self.until = now + takes;
        } else if matches!(self.state, State::Paused) {
            // The next turn starts a queued packet.
            (self.until, self.free_at) = (now, now);
        }
    }
}

/// The rest of a packet at the old rate as time at the new rate, rounded up to send no bit too early.
#[allow(clippy::cast_possible_truncation)]
fn rescale(left: Duration, old: BitRate, new: BitRate) -> Duration {
    let scaled = (u128::from(left.as_nanos()) * u128::from(old.as_bps())).div_ceil(u128::from(new.as_bps()));
    Duration::from_nanos(scaled as u64)
}

/// The lateness of packets: their departure, minus their departure from a link that is always at its highest rate.
///
/// Both links accept the same packets. The measurement knows neither the controller nor its rates, so it can judge a
/// controller's guarantee.
#[derive(Debug)]
pub(crate) struct Lateness {
    reference: Serialiser,
    /// The time at which a link at the highest rate has sent everything.
    free_at: Instant,
    /// The departures of the queued packets from that link.
    due: Ring<Instant>,
}

impl Lateness {
    /// Starts the measurement of an idle link of the given highest rate, whose packets have this overhead.
    pub(crate) fn new(highest: BitRate, overhead: u32) -> Self {
        let reference = Serialiser::new(highest).with_overhead(overhead);
        Self { reference, free_at: Instant::ZERO, due: Ring::new() }
    }

    /// Records the arrival of an accepted packet of `size` bytes.
    #[inline]
    pub(crate) fn arrived(&mut self, now: Instant, size: u32) {
        if now > self.free_at {
            self.reference.idle();
        }
        self.free_at = self.free_at.max(now) + self.reference.next(size);
        self.due.push(self.free_at);
    }

    /// Records the departure of the first queued packet, and returns its lateness.
    #[inline]
    pub(crate) fn departed(&mut self, now: Instant) -> Duration {
        self.due.pop().map_or(Duration::ZERO, |due| now.saturating_since(due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATE: BitRate = BitRate::from_mbps(10);
    /// The time of 1500 B at 10 Mb/s.
    const TIME: Duration = Duration::from_micros(1200);

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// The departure of the packet in service and the earliest start of the next, for changes that keep the rate.
    fn sent_and_ready(in_service: InService, changes: &[(u64, u64)]) -> (Instant, Instant) {
        let mut service = Service::new(RATE);
        service.start_idle(at(0), 1500);
        let mut sent = None;
        let mut changes = changes.iter().peekable();
        loop {
            let due = service.next();
            if let Some(&&(when, pause)) = changes.peek()
                && at(when) < due
            {
                changes.next();
                service.change(at(when), RateChange { rate: RATE, pause: Duration::from_micros(pause), in_service });
                continue;
            }
            match service.turn(due) {
                Turn::Sent { then, .. } => {
                    sent = Some(due);
                    if then == Next::Packet {
                        return (due, due);
                    }
                }
                Turn::Resumed(Next::Packet) => return (sent.expect("it was sent before"), due),
                Turn::Resumed(Next::Wait) => {}
                Turn::Nothing => panic!("nothing was due"),
            }
        }
    }

    proptest! {
        #[test]
        fn every_change_costs_its_pause(
            gaps in proptest::collection::vec((1_u64..300, 1_u64..400), 0..4)
        ) {
            // All changes come while the packet is sent: at most 4 x 300 us, before 1200.
            let mut when = 0;
            let changes: Vec<(u64, u64)> = gaps.iter().map(|&(gap, pause)| { when += gap; (when, pause) }).collect();
            prop_assume!(when < 1200);
            let pauses = Duration::from_micros(changes.iter().map(|change| change.1).sum());
            let ends = at(0) + TIME;
            prop_assert_eq!(sent_and_ready(InService::FinishThenPause, &changes), (ends, ends + pauses));
            prop_assert_eq!(sent_and_ready(InService::Suspend, &changes), (ends + pauses, ends + pauses));
            // Consecutive pauses, each from its change on, while the packet is sent.
            let until = changes.iter().fold(at(0), |until, &(when, pause)| until.max(at(when)) + Duration::from_micros(pause));
            prop_assert_eq!(sent_and_ready(InService::FinishWhilePausing, &changes), (ends, until.max(ends)));
        }
    }

    #[test]
    fn what_is_suspended_goes_on_at_the_new_rate() {
        let mut service = Service::new(RATE);
        service.start_idle(at(0), 1500);
        // After 0.4 of 1.2 ms: the rest takes twice as long, after a pause of 1 ms and another of 1 ms.
        let change = |mbps| RateChange {
            rate: BitRate::from_mbps(mbps),
            pause: Duration::from_millis(1),
            in_service: InService::Suspend,
        };
        assert_eq!(service.change(at(400), change(5)), Some(Duration::from_millis(1)));
        assert_eq!((service.next(), service.turn(at(1400))), (at(1400), Turn::Resumed(Next::Wait)));
        assert_eq!(service.next(), at(1400 + 1600));
        assert_eq!(service.change(at(2200), change(10)), Some(Duration::from_millis(1)));
        service.turn(at(3200));
        assert_eq!(service.next(), at(3200 + 400));
    }

    #[test]
    fn lateness_is_the_distance_to_a_link_at_the_highest_rate() {
        // 1500 B at 10 Mb/s take 1.2 ms: due at 1.2 and 2.4 ms, and after a pause at 11.2 ms.
        let at = |micros: u64| Instant::ZERO + Duration::from_micros(micros);
        let mut lateness = Lateness::new(BitRate::from_mbps(10), 0);
        lateness.arrived(at(0), 1500);
        lateness.arrived(at(0), 1500);
        assert_eq!(lateness.departed(at(1200)), Duration::ZERO);
        assert_eq!(lateness.departed(at(7000)), Duration::from_micros(4600));
        lateness.arrived(at(10_000), 1500);
        assert_eq!(lateness.departed(at(12_000)), Duration::from_micros(800));
    }
}
