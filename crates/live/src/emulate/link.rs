//! A one-way link.
//!
//! ```text
//!  offer ──► asleep? ──► loss? ──► RED? ──► buffer full? ──► waiting ──► CoDel? ──► being sent ──► propagating, noise ──► deliver
//! ```

use super::frame::Frame;
use super::transmitter::Transmitter;
use netlull_network::counters::LinkCounters;
use netlull_network::loss::Loss;
use netlull_network::noise::Noise;
use netlull_network::plan::LinkPlan;
use netlull_network::queue::red::{Arrival, Red};
use netlull_network::queue::{QueueModel, Verdict};
use netlull_network::random::Stream;
use netlull_units::{Duration, Instant};
use std::collections::VecDeque;

/// What became of a packet that was offered.
#[derive(Debug)]
pub enum Offered {
    /// The link has it.
    Taken,
    /// Its loss model took it, or it sleeps.
    Lost(Frame),
    /// Its buffer was full, or its queue management dropped it.
    Dropped(Frame),
}

/// A link.
#[derive(Debug)]
pub struct Link {
    /// The node at its end.
    pub to: u32,
    /// Since the start; the integral of the queue goes to the transmitter's last look.
    pub counters: LinkCounters,
    /// Queue and transmitter.
    pub transmitter: Transmitter,
    /// Packets on their way, and when they arrive.
    flight: VecDeque<(Instant, Frame)>,
    /// When those of them arrive that a host at the other end sees.
    for_host: VecDeque<Instant>,
    delay: Duration,
    loss: Option<Loss>,
    red: Option<Red>,
    noise: Option<Noise>,
    /// What packets have drawn of it that have not left.
    drawn: VecDeque<Duration>,
    sleep: Sleep,
    /// It is known, and counted, as a packet comes how long that waits, and drawn how late it will be.
    is_predictable: bool,
}

/// Whether a link sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleep {
    Awake,
    /// Since then.
    Asleep(Instant),
    /// It is powered, and carries nothing yet.
    Waking,
}

impl Link {
    /// An empty link; `seed` is the run's.
    #[must_use]
    pub fn new(plan: &LinkPlan, seed: u64) -> Self {
        // The names of streams are the simulator's: the same packets are lost, and as late.
        let stream = |what: &str| Stream::new(seed, &format!("{what}.{}", plan.name));
        let (red, codel) = match plan.queue {
            QueueModel::DropTail => (None, None),
            QueueModel::Red(config) => (Some(Red::new(config, stream("queue"))), None),
            QueueModel::CoDel(config) => (None, Some(config)),
        };
        Self {
            to: plan.to,
            counters: LinkCounters::default(),
            transmitter: Transmitter::new(plan.rate, plan.buffer, codel),
            flight: VecDeque::new(),
            for_host: VecDeque::new(),
            delay: plan.delay,
            loss: plan.loss.as_ref().map(|model| Loss::new(model, stream("loss"))),
            red,
            noise: plan.noise.map(|model| Noise::new(model, stream("noise"))),
            drawn: VecDeque::new(),
            sleep: Sleep::Awake,
            is_predictable: plan.is_predictable(),
        }
    }

    /// Takes a packet, or loses it.
    pub fn offer(&mut self, now: Instant, mut frame: Frame) -> Offered {
        let size = u64::from(frame.size);
        self.counters.offered_packets += 1;
        self.counters.offered_bytes += size;
        if self.sleep != Sleep::Awake {
            self.counters.asleep_packets += 1;
            self.counters.asleep_bytes += size;
            return Offered::Lost(frame);
        }
        let flow = frame.owner.map_or(u32::MAX, |owner| owner.flow);
        if self.loss.as_mut().is_some_and(|loss| loss.takes(flow)) {
            self.counters.lost_packets += 1;
            self.counters.lost_bytes += size;
            return Offered::Lost(frame);
        }
        if self.detect_early(now, &mut frame) == Verdict::Drop {
            self.counters.managed_drops += 1;
            return self.dropped(frame);
        }
        match self.transmitter.offer(now, frame, &mut self.counters) {
            Ok(()) => {
                if self.is_predictable {
                    self.drawn.extend(self.noise.as_mut().map(Noise::draw));
                }
                Offered::Taken
            }
            Err(frame) => self.dropped(frame),
        }
    }

    fn dropped(&mut self, frame: Frame) -> Offered {
        self.counters.dropped_packets += 1;
        self.counters.dropped_bytes += u64::from(frame.size);
        Offered::Dropped(frame)
    }

    /// Asks RED about a packet, and marks it.
    fn detect_early(&mut self, now: Instant, frame: &mut Frame) -> Verdict {
        let Some(red) = &mut self.red else { return Verdict::Pass };
        let (transmitter, idle) = (&self.transmitter, self.transmitter.idle_for(now));
        let verdict = red.arrives(Arrival {
            idle_ns: idle.map(Duration::as_nanos),
            rate_bps: transmitter.rate().as_bps(),
            waiting_packets: transmitter.waiting_packets(),
            waiting_bytes: transmitter.waiting_bytes(),
            size: frame.size,
            can_be_marked: frame.can_be_marked(),
        });
        // A full buffer drops it all the same.
        if verdict == Verdict::Mark && (idle.is_some() || transmitter.admits(frame.size)) {
            self.counters.marked_packets += u64::from(frame.mark());
        }
        verdict
    }

    /// The transmitter has something to do: what it has sent is on its way. Gives what CoDel has dropped, and whether a packet left.
    pub fn turn(&mut self, now: Instant) -> (Vec<Frame>, Departed) {
        let turn = self.transmitter.turn(now, &mut self.counters);
        let Some(frame) = turn.sent else { return (turn.discarded, Departed::Nothing) };
        let without = now + self.delay;
        let arrives = self.noise.as_mut().map_or(without, |noise| {
            let drawn = self.drawn.pop_front().unwrap_or_else(|| noise.draw());
            Instant::from_nanos(noise.arrival_of(without.as_nanos(), drawn))
        });
        if self.is_for_host(&frame) {
            self.for_host.push_back(arrives);
        }
        self.flight.push_back((arrives, frame));
        (turn.discarded, Departed::Packet)
    }

    /// When the next packet arrives at the other end.
    #[must_use]
    pub fn next_arrival(&self) -> Instant {
        self.flight.front().map_or(Instant::NEVER, |(at, _)| *at)
    }

    /// The first of its packets, by when it arrives and its size; for links of fixed rate without noise, as those of stations are.
    #[must_use]
    pub fn head(&self) -> Option<(Instant, u32)> {
        let sent = self.flight.front().map(|(at, frame)| (*at, frame.size));
        sent.or_else(|| Some((self.transmitter.next() + self.delay, self.transmitter.serving()?.size)))
    }

    /// How long packets are on their way, noise apart.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// When the next packet arrives that a host at the other end sees.
    #[must_use]
    pub fn next_for_host(&self) -> Instant {
        self.for_host.front().copied().unwrap_or(Instant::NEVER)
    }

    fn is_for_host(&self, frame: &Frame) -> bool {
        frame.to == self.to && frame.for_hosts
    }

    /// The packet that arrives now.
    pub fn deliver(&mut self) -> Option<Frame> {
        let (_, frame) = self.flight.pop_front()?;
        if self.is_for_host(&frame) {
            self.for_host.pop_front();
        }
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(frame.size);
        Some(frame)
    }

    /// It falls asleep: every packet on it is lost and given back, the first to arrive first.
    pub fn fall_asleep(&mut self, now: Instant) -> Vec<Frame> {
        let mut stranded: Vec<Frame> = self.flight.drain(..).map(|(_, frame)| frame).collect();
        self.counters = self.with_waits_to_come(now);
        stranded.extend(self.transmitter.fall_asleep(now, &mut self.counters));
        self.for_host.clear();
        self.counters.stranded_packets += stranded.len() as u64;
        self.counters.asleep_packets += stranded.len() as u64;
        self.counters.asleep_bytes += stranded.iter().map(|frame| u64::from(frame.size)).sum::<u64>();
        if let Some(noise) = &mut self.noise {
            noise.lose_all();
        }
        self.drawn.clear();
        self.sleep = Sleep::Asleep(now);
        stranded
    }

    /// It begins to wake: it is powered again, and carries nothing yet.
    pub fn begin_to_wake(&mut self, now: Instant) {
        self.counters.asleep_ns = self.asleep_at(now);
        self.sleep = Sleep::Waking;
    }

    /// It carries packets again.
    pub fn awake(&mut self, now: Instant) {
        self.begin_to_wake(now);
        self.sleep = Sleep::Awake;
    }

    /// How long it has slept by `now`, in nanoseconds.
    fn asleep_at(&self, now: Instant) -> u64 {
        let lasting = match self.sleep {
            Sleep::Asleep(since) => now.saturating_since(since),
            Sleep::Awake | Sleep::Waking => Duration::ZERO,
        };
        self.counters.asleep_ns + lasting.as_nanos()
    }

    /// The counters at `now`.
    pub fn counters_at(&mut self, now: Instant) -> LinkCounters {
        self.transmitter.settle(now, &mut self.counters);
        LinkCounters { asleep_ns: self.asleep_at(now), ..self.with_waits_to_come(now) }
    }

    /// The counters, with waits that have not ended where they are counted as packets come.
    fn with_waits_to_come(&self, now: Instant) -> LinkCounters {
        if !self.is_predictable {
            return self.counters;
        }
        let (waits, packets) = self.transmitter.waits_to_come(now);
        LinkCounters {
            waited_ns: self.counters.waited_ns + waits,
            served_packets: self.counters.served_packets + packets,
            ..self.counters
        }
    }
}

/// Whether a packet left the transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departed {
    /// One did.
    Packet,
    /// A pause ended.
    Nothing,
}
