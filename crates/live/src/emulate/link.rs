//! A one-way link.
//!
//! ```text
//!  queue ──► asleep? ──► loss? ──► RED? ──► buffer full? ──► waiting ──► CoDel? ──► being sent ──► depart ──► propagating, laws of arrivals ──► arrive
//! ```

use super::frame::Frame;
use super::ids::{Id, LinkId, NodeId};
use super::timetable::{Due, Timetable};
use super::traced::TracedLine;
use netlull_mechanism::rate::QueueView;
use netlull_network::arrival::{Arrivals, Extra};
use netlull_network::loss::Loss;
use netlull_network::outcome::ResidencyMark;
use netlull_network::plan::LinkPlan;
use netlull_network::queue::red::{Arrival, Red};
use netlull_network::queue::{Buffer, LinkCounters, QueueModel, Verdict};
use netlull_network::radio::Coming;
use netlull_network::random::Stream;
use netlull_network::transmission::RateChange;
use netlull_network::transmitter::{self, Departure, QueuedPacket, Transmitter};
use netlull_units::{BitRate, Duration, Instant};
use std::collections::VecDeque;

/// The result of offering a packet to a link.
#[derive(Debug)]
pub enum Queued {
    /// The link has accepted it, and its queue management has marked it if so.
    Taken { marked: bool },
    /// Its loss model or its sleep has lost it.
    Lost(Frame),
    /// A full buffer or its queue management has dropped it.
    Dropped(Frame),
}

/// The result of a departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departed {
    /// A packet has left.
    Packet,
    /// A pause has ended, or a packet has started on a trace.
    Nothing,
}

/// A one-way link.
#[derive(Debug)]
pub struct Link {
    /// The node at its far end.
    pub to: NodeId,
    /// The counters since the start; the integral of the queue ends at `settled`.
    pub counters: LinkCounters,
    settled: Instant,
    buffer: Buffer,
    /// The queue and the line. A link with a trace has them in `traced`; it does not sleep and is no station's.
    transmitter: Transmitter<Frame>,
    traced: Option<Box<TracedLine>>,
    /// The initial rate, and every change with the instant of its decision.
    rates: Vec<(Instant, BitRate)>,
    /// True for a link with low-power idle, whose controller keeps the times: `rates` would have an entry for each sleep.
    keeps_no_log: bool,
    /// The packets in propagation, in the order of their arrivals.
    flight: VecDeque<(Instant, Frame)>,
    /// The arrivals of those packets that a host at the far end receives.
    for_host: VecDeque<Instant>,
    delay: Duration,
    loss: Option<Loss>,
    red: Option<Red>,
    arrivals: Option<Arrivals>,
    /// The extra delays of packets that have not left.
    drawn: VecDeque<Extra>,
    sleep: Sleep,
    /// True if a packet's departure is known at its arrival. If so, its extra delays are drawn then.
    is_predictable: bool,
}

/// The sleep state of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleep {
    Awake,
    /// Asleep since an instant.
    Asleep(Instant),
    /// Powered, but not carrying packets yet.
    Waking,
}

impl Link {
    /// Creates an empty link; `seed` is that of the run.
    #[must_use]
    pub fn new(plan: &LinkPlan, seed: u64) -> Self {
        // The names of the streams equal the simulator's: the same packets are lost, and the noise is the same.
        let stream = |what: &str| Stream::new(seed, &format!("{what}.{}", plan.name));
        let (red, codel) = match plan.queue {
            QueueModel::DropTail => (None, None),
            QueueModel::Red(config) => (Some(Red::new(config, stream("queue"))), None),
            QueueModel::CoDel(config) => (None, Some(config)),
        };
        let mut transmitter = Transmitter::new(plan.rate, codel);
        transmitter.set_overhead(plan.overhead);
        if let Some(control) = plan.control.as_ref().filter(|control| control.bounds_lateness()) {
            transmitter.measure_lateness(control.link.rate);
        }
        Self {
            to: NodeId::numbered(plan.to),
            counters: LinkCounters::default(),
            settled: Instant::ZERO,
            buffer: plan.buffer,
            transmitter,
            traced: plan.trace.clone().map(|trace| Box::new(TracedLine::new(trace))),
            rates: vec![(Instant::ZERO, plan.rate)],
            keeps_no_log: plan.control.as_ref().is_some_and(|control| control.mechanism.stops()),
            flight: VecDeque::new(),
            for_host: VecDeque::new(),
            delay: plan.delay,
            loss: plan.loss.as_ref().map(|model| Loss::new(model, stream("loss"))),
            red,
            arrivals: plan.arrival.as_deref().map(|model| Arrivals::new(model, stream("noise"))),
            drawn: VecDeque::new(),
            sleep: Sleep::Awake,
            is_predictable: plan.is_predictable(),
        }
    }

    /// Accepts a packet, or loses it.
    pub fn queue(&mut self, now: Instant, mut frame: Frame) -> Queued {
        let size = u64::from(frame.size);
        self.counters.offered_packets += 1;
        self.counters.offered_bytes += size;
        if self.sleep != Sleep::Awake {
            self.counters.asleep_packets += 1;
            self.counters.asleep_bytes += size;
            return Queued::Lost(frame);
        }
        let flow = flow_of(&frame);
        if self.loss.as_mut().is_some_and(|loss| loss.takes(now, flow, frame.size)) {
            self.counters.lost_packets += 1;
            self.counters.lost_bytes += size;
            return Queued::Lost(frame);
        }
        let marked = self.counters.marked_packets;
        if self.detect_early(now, &mut frame) == Verdict::Drop {
            self.counters.managed_drops += 1;
            return self.drop(frame);
        }
        let marked = self.counters.marked_packets > marked;
        self.settle(now);
        let counters = &mut self.counters;
        let full = match &mut self.traced {
            Some(traced) => traced.queue(now, frame, self.buffer, counters),
            None => match self.transmitter.queue(now, frame, self.buffer, counters) {
                transmitter::Queued::Full(frame) => Some(frame),
                transmitter::Queued::Sent(_) | transmitter::Queued::Waits => None,
            },
        };
        if let Some(frame) = full {
            return self.drop(frame);
        }
        if self.is_predictable {
            self.drawn.extend(self.arrivals.as_mut().map(|laws| laws.draw(flow)));
        }
        Queued::Taken { marked }
    }

    fn drop(&mut self, frame: Frame) -> Queued {
        self.counters.dropped_packets += 1;
        self.counters.dropped_bytes += u64::from(frame.size);
        Queued::Dropped(frame)
    }

    /// Applies RED to a packet, which may mark it.
    fn detect_early(&mut self, now: Instant, frame: &mut Frame) -> Verdict {
        let Some(mut red) = self.red.take() else { return Verdict::Pass };
        let (waiting_packets, waiting_bytes) = self.waiting();
        let idle = match &self.traced {
            Some(traced) => traced.quiet_for(now),
            None => self.transmitter.quiet_for(now),
        };
        let verdict = red.arrives(Arrival {
            idle_ns: idle.map(Duration::as_nanos),
            rate_bps: self.transmitter.rate().as_bps(),
            waiting_packets,
            waiting_bytes,
            size: frame.size,
            can_be_marked: frame.can_be_marked(),
        });
        self.red = Some(red);
        // A full buffer drops the packet in any case.
        let has_room = || self.buffer.admits(waiting_packets, waiting_bytes, frame.size);
        if verdict == Verdict::Mark && (idle.is_some() || has_room()) {
            self.counters.marked_packets += u64::from(frame.mark());
        }
        verdict
    }

    /// Adds the time since the last call to the integral of the queue.
    fn settle(&mut self, now: Instant) {
        let since = now.saturating_since(self.settled).as_nanos();
        self.counters.queued_ns += u128::from(self.waiting_packets()) * u128::from(since);
        self.settled = self.settled.max(now);
    }

    /// Runs the transmitter at its [next instant](Self::next_departure): a transmitted packet starts to propagate.
    pub fn depart(&mut self, now: Instant) -> Departed {
        self.settle(now);
        let left = match &mut self.traced {
            Some(traced) => traced.turn(now, &mut self.counters),
            None => match self.transmitter.turn(now, &mut self.counters) {
                Departure::Packet { packet, .. } => Some(packet),
                Departure::Resumed | Departure::Nothing => None,
            },
        };
        let Some(packet) = left else { return Departed::Nothing };
        let without = now + self.delay;
        let arrives = self.arrivals.as_mut().map_or(without, |laws| {
            let drawn = self.drawn.pop_front().unwrap_or_else(|| laws.draw(flow_of(&packet)));
            Instant::from_nanos(laws.arrival_of(without.as_nanos(), drawn))
        });
        // Behind all packets that arrive no later.
        if self.is_for_host(&packet) {
            let place = after(&self.for_host, |at| *at > arrives);
            self.for_host.insert(place, arrives);
        }
        let place = after(&self.flight, |(at, _)| *at > arrives);
        self.flight.insert(place, (arrives, packet));
        Departed::Packet
    }

    /// Takes the packets that CoDel has dropped.
    pub fn take_discarded(&mut self) -> Vec<Frame> {
        std::iter::from_fn(|| self.transmitter.take_discarded()).collect()
    }

    /// The instant of the transmitter's next event; `NEVER` if it is idle.
    #[must_use]
    pub fn next_departure(&self) -> Instant {
        self.traced.as_ref().map_or_else(|| self.transmitter.next(), |traced| traced.next())
    }

    /// The view of the queue for a controller.
    #[must_use]
    pub fn view(&self) -> QueueView {
        self.transmitter.view()
    }

    /// The number of waiting packets.
    #[must_use]
    pub fn waiting_packets(&self) -> u64 {
        self.waiting().0
    }

    /// The waiting packets and their bytes.
    fn waiting(&self) -> (u64, u64) {
        match &self.traced {
            Some(traced) => traced.waiting(),
            None => (self.transmitter.waiting_packets(), self.transmitter.waiting_bytes()),
        }
    }

    /// The end of the last packet's transmission at the current rate; `now` for an idle link.
    #[must_use]
    pub fn busy_until(&self, now: Instant) -> Instant {
        self.transmitter.busy_until(now)
    }

    /// Changes the rate.
    pub fn change_rate(&mut self, now: Instant, change: RateChange) {
        if !self.keeps_no_log {
            self.rates.push((now, change.rate));
        }
        self.transmitter.change_rate(now, change);
    }

    /// Changes the capacity of a link without a controller, which may be zero. It applies at once.
    pub fn set_capacity(&mut self, now: Instant, rate: BitRate) {
        self.rates.push((now, rate));
        self.transmitter.set_capacity(now, rate);
    }

    /// The rate of the next packet.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.transmitter.rate()
    }

    /// The initial rate, and every change with the instant of its decision.
    #[must_use]
    pub fn rates(&self) -> &[(Instant, BitRate)] {
        &self.rates
    }

    /// The number of rate changes since the start.
    #[must_use]
    pub fn rate_changes(&self) -> u64 {
        self.rates.len() as u64 - 1
    }

    /// Starts the measurement.
    pub fn restart_meter(&mut self, now: Instant) {
        self.transmitter.restart_meter(now);
    }

    /// The time at each rate since the start of the measurement.
    #[must_use]
    pub fn residency(&self, now: Instant) -> ResidencyMark {
        let residency = self.transmitter.meter().finish(now);
        ResidencyMark {
            in_service: residency.in_service().iter().map(|part| (part.rate, part.time)).collect(),
            in_transition: residency.in_transition().iter().map(|part| (part.old, part.new, part.time)).collect(),
            changes: residency.changes(),
        }
    }

    /// The instant of the next arrival at the far end.
    #[must_use]
    pub fn next_arrival(&self) -> Instant {
        self.flight.front().map_or(Instant::NEVER, |(at, _)| *at)
    }

    /// The first packet on the link. Valid for links of a fixed rate without laws of arrivals, such as those of stations.
    #[must_use]
    pub fn head(&self) -> Option<Coming> {
        let propagating = self.flight.front().map(|(arrives, frame)| Coming { arrives: *arrives, size: frame.size });
        propagating.or_else(|| {
            let size = self.transmitter.serving()?.size;
            Some(Coming { arrives: self.transmitter.next() + self.delay, size })
        })
    }

    /// The next arrival of a packet that a host at the far end receives.
    #[must_use]
    pub fn next_for_host(&self) -> Instant {
        self.for_host.front().copied().unwrap_or(Instant::NEVER)
    }

    /// Sets the link's times of the timetable.
    pub(super) fn arm(&self, link: LinkId, timetable: &mut Timetable) {
        timetable.set(Due::Departure(link), self.next_departure());
        timetable.set(Due::Arrival(link), self.next_arrival());
        timetable.set_outward_link(link, self.next_for_host());
    }

    fn is_for_host(&self, frame: &Frame) -> bool {
        frame.to == self.to && frame.for_hosts
    }

    /// Takes the packet that arrives now.
    pub fn arrive(&mut self) -> Option<Frame> {
        let (_, frame) = self.flight.pop_front()?;
        if self.is_for_host(&frame) {
            self.for_host.pop_front();
        }
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(frame.size);
        Some(frame)
    }

    /// Puts the link to sleep: all packets on it are lost and returned, in the order of their arrivals.
    pub fn fall_asleep(&mut self, now: Instant) -> Vec<Frame> {
        self.settle(now);
        self.counters.waited_in_vain_ns += self.transmitter.waiting_ns(now);
        let mut stranded: Vec<Frame> = self.flight.drain(..).map(|(_, frame)| frame).collect();
        stranded.extend(self.transmitter.abandon(now));
        self.for_host.clear();
        self.counters.stranded_packets += stranded.len() as u64;
        self.counters.asleep_packets += stranded.len() as u64;
        self.counters.asleep_bytes += stranded.iter().map(|frame| u64::from(frame.size)).sum::<u64>();
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.lose_all();
        }
        self.drawn.clear();
        self.sleep = Sleep::Asleep(now);
        stranded
    }

    /// Starts to wake the link: it is powered but does not carry packets yet.
    pub fn begin_to_wake(&mut self, now: Instant) {
        self.counters.asleep_ns = self.asleep_at(now);
        self.sleep = Sleep::Waking;
    }

    /// Ends the sleep: the link carries packets again.
    pub fn awake(&mut self, now: Instant) {
        self.begin_to_wake(now);
        self.sleep = Sleep::Awake;
    }

    /// The total time asleep until `now`, in nanoseconds.
    fn asleep_at(&self, now: Instant) -> u64 {
        let lasting = match self.sleep {
            Sleep::Asleep(since) => now.saturating_since(since),
            Sleep::Awake | Sleep::Waking => Duration::ZERO,
        };
        self.counters.asleep_ns + lasting.as_nanos()
    }

    /// The counters at `now`.
    pub fn counters_at(&mut self, now: Instant) -> LinkCounters {
        self.settle(now);
        LinkCounters { asleep_ns: self.asleep_at(now), ..self.counters }
    }
}

/// The index of a packet's flow; that of no flow for a packet of none.
fn flow_of(frame: &Frame) -> u32 {
    frame.owner.map_or(u32::MAX, |owner| owner.flow.number())
}

/// The place behind the last item that is not `later`: near the end, unless packets overtake many others.
fn after<T>(items: &VecDeque<T>, later: impl Fn(&T) -> bool) -> usize {
    items.iter().rposition(|item| !later(item)).map_or(0, |place| place + 1)
}
