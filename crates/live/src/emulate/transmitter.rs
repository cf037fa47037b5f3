//! Queue and transmitter of a link: one packet after the other, in virtual time; the rate may change, for a pause.
//!
//! The meanings are those of the simulator's links (docs/models/link.md): a change of rate leaves the packet being sent at its old rate,
//! or stops it, and nothing is sent while the pause lasts.

use super::frame::Frame;
use netlull_mechanism::rate::QueueView;
use netlull_network::buffer::Buffer;
use netlull_network::counters::LinkCounters;
use netlull_network::outcome::ResidencyMark;
use netlull_network::plan::InService;
use netlull_network::queue::Verdict;
use netlull_network::queue::codel::{CoDel, CoDelConfig, Leaving};
use netlull_power::EnergyMeter;
use netlull_units::{BitRate, Bytes, Duration, Instant, Serialiser};
use std::collections::VecDeque;

/// A change of rate.
#[derive(Clone, Copy, Debug)]
pub struct RateChange {
    /// The new rate, above zero.
    pub rate: BitRate,
    /// Nothing is sent for this long.
    pub pause: Duration,
    /// What happens to the packet being sent.
    pub in_service: InService,
}

/// A pause that waits for the packet being sent.
#[derive(Clone, Copy, Debug)]
enum PauseDue {
    No,
    For(Duration),
    Until(Instant),
}

/// ```text
///          offer                     last bit sent, nothing waits
///   Idle ────────► Sending ────────────────────────────────────────► Idle
///     │ change,      │  ▲  │ last bit sent, a pause is due
///     │ pause        │  │  └──────────────► Paused ──► Sending the next, or Idle
///     ▼              │  └───── Suspended ◄──┘ (reading `suspend` only)
///   Paused           └ change
/// ```
#[derive(Clone, Copy, Debug)]
enum State {
    Idle,
    Sending { ends: Instant, pause: PauseDue },
    Paused { until: Instant },
    Suspended { left: Duration, until: Instant },
}

/// A packet that waits.
#[derive(Debug)]
struct Waiting {
    since: Instant,
    frame: Frame,
}

/// What came of a turn.
#[derive(Debug, Default)]
pub struct Turn {
    /// A packet whose last bit has been sent.
    pub sent: Option<Frame>,
    /// Packets that CoDel has dropped.
    pub discarded: Vec<Frame>,
}

/// Queue and transmitter.
#[derive(Debug)]
pub struct Transmitter {
    buffer: Buffer,
    serialiser: Serialiser,
    state: State,
    serving: Option<Frame>,
    queue: VecDeque<Waiting>,
    waiting_bytes: u64,
    codel: Option<CoDel>,
    free_at: Instant,
    /// Up to when `queued_ns` goes.
    settled: Instant,
    meter: EnergyMeter,
    changes: u64,
    rates: Vec<(Instant, BitRate)>,
}

impl Transmitter {
    /// An idle one.
    #[must_use]
    pub fn new(rate: BitRate, buffer: Buffer, codel: Option<CoDelConfig>) -> Self {
        Self {
            buffer,
            serialiser: Serialiser::new(rate),
            state: State::Idle,
            serving: None,
            queue: VecDeque::new(),
            waiting_bytes: 0,
            codel: codel.map(CoDel::new),
            free_at: Instant::ZERO,
            settled: Instant::ZERO,
            meter: EnergyMeter::new(Instant::ZERO, rate),
            changes: 0,
            rates: vec![(Instant::ZERO, rate)],
        }
    }

    /// The rate at which the next packet is sent.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.serialiser.rate()
    }

    /// The rate at the start, and every change as it was decided.
    #[must_use]
    pub fn rates(&self) -> &[(Instant, BitRate)] {
        &self.rates
    }

    /// How often the rate has changed.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Packets that wait.
    #[must_use]
    pub fn waiting_packets(&self) -> u64 {
        self.queue.len() as u64
    }

    /// Their bytes.
    #[must_use]
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// What a controller sees.
    #[must_use]
    pub fn view(&self) -> QueueView {
        let in_service = self.serving.as_ref().map_or(0, |frame| u64::from(frame.size));
        QueueView { waiting: Bytes::new(self.waiting_bytes), in_service: Bytes::new(in_service) }
    }

    /// For how long nothing has been sent, if nothing is, and nothing holds it back.
    #[must_use]
    pub fn idle_for(&self, now: Instant) -> Option<Duration> {
        matches!(self.state, State::Idle).then(|| now.saturating_since(self.free_at))
    }

    /// Whether the buffer has room for so many bytes.
    #[must_use]
    pub fn admits(&self, size: u32) -> bool {
        self.buffer.admits(self.waiting_packets(), self.waiting_bytes, size)
    }

    /// When the last packet that it was given will have been sent, at its present rate; now, if it has nothing.
    #[must_use]
    pub fn busy_until(&self, now: Instant) -> Instant {
        let mut serialiser = self.serialiser.clone();
        let first = match self.state {
            State::Idle => return now,
            State::Sending { ends, .. } => ends,
            State::Paused { until } => until,
            State::Suspended { left, until } => until + left,
        };
        self.queue.iter().fold(first, |at, waiting| at + serialiser.next(waiting.frame.size))
    }

    /// When something happens next.
    #[must_use]
    pub fn next(&self) -> Instant {
        match self.state {
            State::Idle => Instant::NEVER,
            State::Sending { ends, .. } => ends,
            State::Paused { until } | State::Suspended { until, .. } => until,
        }
    }

    /// Adds the time since the last look to the integral of the queue.
    pub fn settle(&mut self, now: Instant, counters: &mut LinkCounters) {
        counters.queued_ns += self.waiting_packets() * now.saturating_since(self.settled).as_nanos();
        self.settled = self.settled.max(now);
    }

    /// The time at each rate since the meter was started.
    #[must_use]
    pub fn residency(&self, now: Instant) -> ResidencyMark {
        let residency = self.meter.finish(now);
        ResidencyMark {
            in_service: residency.in_service().iter().map(|part| (part.rate, part.time)).collect(),
            in_transition: residency.in_transition().iter().map(|part| (part.old, part.new, part.time)).collect(),
            changes: residency.changes(),
        }
    }

    /// Measurement begins.
    pub fn restart_meter(&mut self, now: Instant) {
        self.meter.restart(now);
    }

    /// Takes a packet, or gives it back: the buffer is full.
    ///
    /// # Errors
    /// The packet, if there is no room.
    pub fn offer(&mut self, now: Instant, frame: Frame, counters: &mut LinkCounters) -> Result<(), Frame> {
        self.settle(now, counters);
        if matches!(self.state, State::Idle) {
            // At the instant of the last departure the line is still busy for the fraction that is carried.
            if now > self.free_at {
                self.serialiser.idle();
            }
            if let Some(codel) = &mut self.codel {
                codel.empty();
            }
            counters.served_packets += 1;
            self.start(now, frame);
            return Ok(());
        }
        if !self.admits(frame.size) {
            return Err(frame);
        }
        self.waiting_bytes += u64::from(frame.size);
        self.queue.push_back(Waiting { since: now, frame });
        counters.most_waiting = counters.most_waiting.max(self.waiting_packets());
        counters.most_waiting_bytes = counters.most_waiting_bytes.max(self.waiting_bytes);
        Ok(())
    }

    fn start(&mut self, now: Instant, frame: Frame) {
        let ends = now + self.serialiser.next(frame.size);
        self.serving = Some(frame);
        self.state = State::Sending { ends, pause: PauseDue::No };
    }

    /// What [`next`](Self::next) has announced happens.
    pub fn turn(&mut self, now: Instant, counters: &mut LinkCounters) -> Turn {
        self.settle(now, counters);
        let mut turn = Turn::default();
        match self.state {
            State::Idle => {}
            State::Sending { pause, .. } => {
                turn.sent = self.serving.take();
                self.free_at = now;
                let until = match pause {
                    PauseDue::No => now,
                    PauseDue::Until(until) => until,
                    PauseDue::For(pause) => {
                        self.meter.rate_changed(now, self.rate(), pause);
                        now + pause
                    }
                };
                if until > now {
                    self.state = State::Paused { until };
                } else {
                    self.start_next(now, counters, &mut turn.discarded);
                }
            }
            State::Suspended { left, .. } => {
                self.state = State::Sending { ends: now + left, pause: PauseDue::No };
            }
            State::Paused { .. } => {
                self.serialiser.idle();
                self.start_next(now, counters, &mut turn.discarded);
            }
        }
        turn
    }

    fn start_next(&mut self, now: Instant, counters: &mut LinkCounters, discarded: &mut Vec<Frame>) {
        while let Some(Waiting { since, mut frame }) = self.queue.pop_front() {
            let (waited, size) = (now.saturating_since(since), u64::from(frame.size));
            self.waiting_bytes -= size;
            let behind = self.waiting_bytes;
            let judge =
                |codel: &mut CoDel| codel.leaves(now, Leaving { waited, behind, can_be_marked: frame.can_be_marked() });
            match self.codel.as_mut().map_or(Verdict::Pass, judge) {
                Verdict::Drop => {
                    counters.dropped_packets += 1;
                    counters.dropped_bytes += size;
                    counters.managed_drops += 1;
                    counters.discarded_packets += 1;
                    counters.discarded_bytes += size;
                    counters.waited_in_vain_ns += waited.as_nanos();
                    discarded.push(frame);
                    continue;
                }
                Verdict::Mark => counters.marked_packets += u64::from(frame.mark()),
                Verdict::Pass => {}
            }
            counters.waited_ns += waited.as_nanos();
            counters.served_packets += 1;
            self.start(now, frame);
            return;
        }
        if let Some(codel) = &mut self.codel {
            codel.empty();
        }
        self.state = State::Idle;
    }

    /// Changes the rate.
    pub fn change_rate(&mut self, now: Instant, change: RateChange) {
        let RateChange { rate, pause, in_service } = change;
        let old = self.rate();
        self.serialiser.set_rate(rate);
        self.changes += 1;
        self.rates.push((now, rate));
        let due = |pause: Duration| if pause.is_zero() { PauseDue::No } else { PauseDue::For(pause) };
        match self.state {
            State::Idle => {
                self.meter.rate_changed(now, rate, pause);
                if !pause.is_zero() {
                    self.state = State::Paused { until: now + pause };
                }
            }
            State::Sending { ends, pause: before } => match in_service {
                InService::FinishThenPause => {
                    // Pauses of changes that come while one packet is sent are all served, one after the other.
                    let owed = match before {
                        PauseDue::For(span) => span,
                        PauseDue::Until(until) => until.saturating_since(now),
                        PauseDue::No => Duration::ZERO,
                    };
                    if pause.is_zero() && owed.is_zero() {
                        self.meter.rate_changed(now, rate, Duration::ZERO);
                    }
                    self.state = State::Sending { ends, pause: due(owed + pause) };
                }
                InService::FinishWhilePausing => {
                    let from = match before {
                        PauseDue::Until(until) => until.max(now),
                        PauseDue::No | PauseDue::For(_) => now,
                    };
                    let until = from + pause;
                    self.meter.rate_changed(now, rate, until - now);
                    self.state = State::Sending { ends, pause: PauseDue::Until(until) };
                }
                InService::Suspend => {
                    let left = rescale(ends.saturating_since(now), old, rate);
                    self.meter.rate_changed(now, rate, pause);
                    self.state = if pause.is_zero() {
                        State::Sending { ends: now + left, pause: PauseDue::No }
                    } else {
                        State::Suspended { left, until: now + pause }
                    };
                }
            },
            State::Paused { until } => {
                let until = until + pause;
                self.meter.rate_changed(now, rate, until - now);
                self.state = State::Paused { until };
            }
            State::Suspended { left, until } => {
                let until = until + pause;
                self.meter.rate_changed(now, rate, until - now);
                self.state = State::Suspended { left: rescale(left, old, rate), until };
            }
        }
    }
}

/// What is left of a packet at the old rate, in time at the new one, rounded up so that no bit is sent too early.
#[allow(clippy::cast_possible_truncation)]
fn rescale(left: Duration, old: BitRate, new: BitRate) -> Duration {
    let scaled = (u128::from(left.as_nanos()) * u128::from(old.as_bps())).div_ceil(u128::from(new.as_bps()));
    Duration::from_nanos(scaled as u64)
}
