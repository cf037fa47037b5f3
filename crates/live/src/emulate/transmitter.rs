//! Queue and transmitter of a link: one packet after the other, in virtual time; the rate may change, for a pause.
//!
//! The meanings are those of the simulator's links (docs/models/link.md): a change of rate leaves the packet being sent at its old rate,
//! or stops it, and nothing is sent while the pause lasts.

use super::frame::Frame;
use netlull_mechanism::rate::QueueView;
use netlull_network::buffer::Buffer;
use netlull_network::counters::LinkCounters;
use netlull_network::outcome::ResidencyMark;
use netlull_network::queue::Verdict;
use netlull_network::queue::codel::{CoDel, CoDelConfig, Leaving};
use netlull_network::transmission::{Next, RateChange, Service, Turn};
use netlull_power::EnergyMeter;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Debug)]
struct Waiting {
    since: Instant,
    frame: Frame,
}

/// What has left with a turn.
#[derive(Debug, Default)]
pub struct Left {
    /// A packet whose last bit has been sent.
    pub sent: Option<Frame>,
    /// Packets that CoDel has dropped.
    pub discarded: Vec<Frame>,
}

/// Queue and transmitter.
#[derive(Debug)]
pub struct Transmitter {
    buffer: Buffer,
    service: Service,
    serving: Option<Frame>,
    queue: VecDeque<Waiting>,
    waiting_bytes: u64,
    codel: Option<CoDel>,
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
            service: Service::new(rate),
            serving: None,
            queue: VecDeque::new(),
            waiting_bytes: 0,
            codel: codel.map(CoDel::new),
            settled: Instant::ZERO,
            meter: EnergyMeter::new(Instant::ZERO, rate),
            changes: 0,
            rates: vec![(Instant::ZERO, rate)],
        }
    }

    /// The rate at which the next packet is sent.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.service.rate()
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

    /// The packet that is being sent.
    #[must_use]
    pub fn serving(&self) -> Option<&Frame> {
        self.serving.as_ref()
    }

    /// For how long nothing has been sent, if nothing is, and nothing holds it back.
    #[must_use]
    pub fn idle_for(&self, now: Instant) -> Option<Duration> {
        self.service.idle_for(now)
    }

    /// Whether the buffer has room for so many bytes.
    #[must_use]
    pub fn admits(&self, size: u32) -> bool {
        self.buffer.admits(self.waiting_packets(), self.waiting_bytes, size)
    }

    /// When the last packet that it was given will have been sent, at its present rate; now, if it has nothing.
    #[must_use]
    pub fn busy_until(&self, now: Instant) -> Instant {
        self.would_begin(now).last().unwrap_or(now)
    }

    /// When it would begin with each packet that waits, and when it would have sent the last.
    fn would_begin(&self, now: Instant) -> impl Iterator<Item = Instant> {
        self.service.would_begin(now, self.queue.iter().map(|waiting| waiting.frame.size))
    }

    /// When something happens next.
    #[must_use]
    pub fn next(&self) -> Instant {
        self.service.next()
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
        if self.service.is_idle() {
            if let Some(codel) = &mut self.codel {
                codel.empty();
            }
            counters.served_packets += 1;
            self.service.start_idle(now, frame.size);
            self.serving = Some(frame);
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

    /// What [`next`](Self::next) has announced happens.
    pub fn turn(&mut self, now: Instant, counters: &mut LinkCounters) -> Left {
        self.settle(now, counters);
        let mut left = Left::default();
        let then = match self.service.turn(now) {
            Turn::Sent { goes_over, then } => {
                left.sent = self.serving.take();
                if let Some(pause) = goes_over {
                    self.meter.rate_changed(now, self.rate(), pause);
                }
                then
            }
            Turn::Resumed(then) => then,
            Turn::Nothing => Next::Wait,
        };
        if then == Next::Packet {
            self.start_next(now, counters, &mut left.discarded);
        }
        left
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
            self.service.start(now, frame.size);
            self.serving = Some(frame);
            return;
        }
        if let Some(codel) = &mut self.codel {
            codel.empty();
        }
        self.service.rest();
    }

    /// How long the packets that wait will have waited if nothing comes between, summed, in nanoseconds, and how many they are.
    #[must_use]
    pub fn waits_to_come(&self, now: Instant) -> (u64, u64) {
        let waits = self.queue.iter().zip(self.would_begin(now));
        let sum = waits.map(|(waiting, begins)| begins.saturating_since(waiting.since).as_nanos()).sum();
        (sum, self.waiting_packets())
    }

    /// The link falls asleep: what is being sent and what waits is given back, in this order.
    pub fn fall_asleep(&mut self, now: Instant, counters: &mut LinkCounters) -> Vec<Frame> {
        self.settle(now, counters);
        if let Some(codel) = &mut self.codel {
            let waited = |waiting: &Waiting| now.saturating_since(waiting.since).as_nanos();
            counters.waited_in_vain_ns += self.queue.iter().map(waited).sum::<u64>();
            codel.empty();
        }
        self.waiting_bytes = 0;
        self.service.abort(now);
        self.serving.take().into_iter().chain(self.queue.drain(..).map(|waiting| waiting.frame)).collect()
    }

    /// Changes the rate.
    pub fn change_rate(&mut self, now: Instant, change: RateChange) {
        self.changes += 1;
        self.rates.push((now, change.rate));
        if let Some(pause) = self.service.change(now, change) {
            self.meter.rate_changed(now, change.rate, pause);
        }
    }
}
