//! A one-way link: losses, queue, transmitter, propagation.
//!
//! A link of fixed rate knows when a packet will arrive the moment it is offered, so it costs the schedule one event
//! per packet, and only the head of its ring is pending. A link whose rate can change, or whose queue is managed when
//! packets leave it (CoDel), schedules its departures too.
//!
//! ```text
//!  offer ──► loss? ──► RED? ──► buffer full? ──► waiting ──► CoDel? ──► in service ──► propagating ──► deliver
//!              lost   dropped       dropped      └ queue ┘   dropped   └ transmitter ┘    └ flight ┘
//! ```

use super::buffer::Buffer;
use super::loss::Loss;
use super::packet::Packet;
use super::queue::Verdict;
use super::queue::codel::CoDelConfig;
use super::queue::red::{Arrival, Red};
use super::transmitter::{Departure, RateChange, VariableTransmitter};
use crate::engine::ring::Ring;
use crate::engine::schedule::{Schedule, Slot};
use netlull_mechanism::rate::QueueView;
use netlull_units::{BitRate, Duration, Instant, Serialiser};

/// What became of a packet offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It waits or is being sent.
    Accepted,
    /// The buffer was full.
    Dropped,
    /// Queue management dropped it.
    DroppedEarly,
    /// The link's loss model took it before the buffer.
    Lost,
}

/// A packet that is on the link, and when.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InFlight {
    /// Its first bit is sent.
    pub starts: u64,
    /// Its last bit reaches the other end.
    pub arrives: u64,
    /// The packet.
    pub packet: Packet,
}

/// What a link has seen since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets offered, and their bytes.
    pub offered_packets: u64,
    /// Bytes offered.
    pub offered_bytes: u64,
    /// Packets that found the buffer full or that queue management dropped.
    pub dropped_packets: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Those of them that queue management dropped.
    pub managed_drops: u64,
    /// Packets that queue management marked.
    pub marked_packets: u64,
    /// Packets that the loss model took.
    pub lost_packets: u64,
    /// Their bytes.
    pub lost_bytes: u64,
    /// Packets that reached the other end.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Sum over packets of the time each waited before its first bit was sent, in nanoseconds.
    pub waited_ns: u64,
    /// Packets that `waited_ns` sums over.
    pub served_packets: u64,
    /// Sum over packets that were dropped as they left the queue of the time each had waited, in nanoseconds.
    pub waited_in_vain_ns: u64,
    /// The most packets that ever waited at once.
    pub most_waiting: u64,
    /// The most bytes that ever waited at once.
    pub most_waiting_bytes: u64,
}

/// What a packet finds as it arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueFound {
    /// For how long nothing has been sent, in nanoseconds, if nothing is.
    pub idle_ns: Option<u64>,
    /// Packets that wait.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A transmitter of fixed rate, computed ahead.
struct FixedTransmitter {
    serialiser: Serialiser,
    /// When the last accepted packet's last bit is sent.
    free_at: u64,
    /// Number (in the ring) of the first packet whose service has not started.
    first_waiting: u64,
    /// Bytes ever accepted, and those of them whose service has started; the difference waits.
    accepted_bytes: u64,
    started_bytes: u64,
}

enum Transmitter {
    Fixed(FixedTransmitter),
    Variable(Box<VariableTransmitter>),
}

/// One direction of a cable.
pub struct Link {
    /// The node at its other end.
    pub to: u32,
    /// Number of its rate controller, if it has one.
    pub controller: Option<u32>,
    delay: u64,
    delivery: Slot,
    buffer: Buffer,
    flight: Ring<InFlight>,
    counters: LinkCounters,
    transmitter: Transmitter,
    entry: Option<Box<Entry>>,
}

/// What stands before the buffer of some links.
struct Entry {
    loss: Option<Loss>,
    red: Option<Red>,
}

/// What a link is built from.
pub struct LinkParts {
    /// The node at its other end.
    pub to: u32,
    /// Number of its rate controller, if it has one.
    pub controller: Option<u32>,
    /// Rate, or first rate.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Duration,
    /// Buffer.
    pub buffer: Buffer,
    /// Which packets it loses.
    pub loss: Option<Loss>,
    /// Management of its queue as packets arrive.
    pub red: Option<Red>,
    /// Management of its queue as packets leave; takes `departure`.
    pub codel: Option<CoDelConfig>,
    /// Slot of the arrival of the head at the other end.
    pub delivery: Slot,
    /// Slot of the departures, for a link that schedules them.
    pub departure: Option<Slot>,
}

impl Link {
    /// An idle link.
    #[must_use]
    pub fn new(parts: LinkParts) -> Self {
        let transmitter = match parts.departure {
            None => Transmitter::Fixed(FixedTransmitter {
                serialiser: Serialiser::new(parts.rate),
                free_at: 0,
                first_waiting: 0,
                accepted_bytes: 0,
                started_bytes: 0,
            }),
            Some(slot) => Transmitter::Variable(Box::new(VariableTransmitter::new(parts.rate, slot, parts.codel))),
        };
        let (loss, red) = (parts.loss, parts.red);
        let entry = (loss.is_some() || red.is_some()).then(|| Box::new(Entry { loss, red }));
        Self {
            to: parts.to,
            controller: parts.controller,
            delay: parts.delay.as_nanos(),
            delivery: parts.delivery,
            buffer: parts.buffer,
            flight: Ring::new(),
            counters: LinkCounters::default(),
            transmitter,
            entry,
        }
    }

    /// Offers a packet to the link.
    #[inline(always)]
    pub fn offer(&mut self, now: Instant, mut packet: Packet, schedule: &mut Schedule) -> Admission {
        self.counters.offered_packets += 1;
        self.counters.offered_bytes += u64::from(packet.size);
        if self.entry.is_some()
            && let Some(refused) = self.enter(now, &mut packet)
        {
            return refused;
        }
        let accepted = match &mut self.transmitter {
            Transmitter::Fixed(fixed) => {
                let idle = self.flight.is_empty();
                let now = now.as_nanos();
                let accepted = fixed.offer(now, packet, self.delay, self.buffer, &mut self.flight, &mut self.counters);
                if idle {
                    self.schedule_head(schedule);
                }
                accepted
            }
            Transmitter::Variable(variable) => variable.offer(now, packet, self.buffer, &mut self.counters, schedule),
        };
        if !accepted {
            self.counters.dropped_packets += 1;
            self.counters.dropped_bytes += u64::from(packet.size);
            return Admission::Dropped;
        }
        Admission::Accepted
    }

    /// What stands before the buffer: a packet that it refuses, and as what; one that goes on may be marked.
    #[inline(never)]
    fn enter(&mut self, now: Instant, packet: &mut Packet) -> Option<Admission> {
        let mut entry = self.entry.take()?;
        let size = u64::from(packet.size);
        let lost = entry.loss.as_mut().is_some_and(|loss| loss.takes(packet.agent));
        let refused = if lost {
            self.counters.lost_packets += 1;
            self.counters.lost_bytes += size;
            Some(Admission::Lost)
        } else {
            entry.red.as_mut().and_then(|red| self.detect_early(now, packet, red))
        };
        self.entry = Some(entry);
        refused
    }

    /// Asks RED about a packet.
    fn detect_early(&mut self, now: Instant, packet: &mut Packet, red: &mut Red) -> Option<Admission> {
        let rate_bps = self.rate().as_bps();
        let queue = match &mut self.transmitter {
            Transmitter::Fixed(fixed) => fixed.queue_at(now.as_nanos(), &self.flight, self.counters.delivered_bytes),
            Transmitter::Variable(variable) => variable.queue_at(now),
        };
        let verdict = red.arrives(Arrival {
            idle_ns: queue.idle_ns,
            rate_bps,
            waiting_packets: queue.packets,
            waiting_bytes: queue.bytes,
            size: packet.size,
            can_be_marked: packet.can_be_marked(),
        });
        match verdict {
            Verdict::Drop => {
                self.counters.dropped_packets += 1;
                self.counters.dropped_bytes += u64::from(packet.size);
                self.counters.managed_drops += 1;
                return Some(Admission::DroppedEarly);
            }
            // A full buffer drops it all the same.
            Verdict::Mark if queue.idle_ns.is_some() || self.buffer.admits(queue.packets, queue.bytes, packet.size) => {
                self.counters.marked_packets += u64::from(packet.mark());
            }
            Verdict::Mark | Verdict::Pass => {}
        }
        None
    }

    /// The next packet that was dropped as it left the queue and that nobody has heard of yet.
    pub fn take_discarded(&mut self) -> Option<Packet> {
        match &mut self.transmitter {
            Transmitter::Fixed(_) => None,
            Transmitter::Variable(variable) => variable.take_discarded(),
        }
    }

    /// The packet at the head of the link, the next to arrive at the other end.
    #[inline(always)]
    #[must_use]
    pub fn head(&self) -> Option<&Packet> {
        self.flight.front().map(|head| &head.packet)
    }

    /// The head of the link, `size` bytes, has arrived at the other end and is taken off the link.
    #[inline(always)]
    pub fn deliver_head(&mut self, size: u32, schedule: &mut Schedule) {
        self.flight.skip();
        self.schedule_head(schedule);
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(size);
    }

    /// The departure event of a link that schedules its departures.
    pub fn depart(&mut self, now: Instant, schedule: &mut Schedule) -> Departure {
        let Transmitter::Variable(variable) = &mut self.transmitter else { return Departure::None };
        let departure = variable.advance(now, &mut self.counters, schedule);
        if let Departure::Packet { packet, starts } = departure {
            self.flight.push(InFlight { starts: starts.as_nanos(), arrives: now.as_nanos() + self.delay, packet });
            if self.flight.len() == 1 {
                self.schedule_head(schedule);
            }
        }
        departure
    }

    /// Changes the rate of a link whose rate can change; a link of fixed rate stays as it is.
    pub fn change_rate(&mut self, now: Instant, change: RateChange, schedule: &mut Schedule) {
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.change_rate(now, change, schedule);
        }
    }

    /// The energy meter of a link whose rate can change starts anew.
    pub fn restart_meter(&mut self, now: Instant) {
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.restart_meter(now);
        }
    }

    /// The state of a link that schedules its departures.
    #[must_use]
    pub fn variable(&self) -> Option<&VariableTransmitter> {
        match &self.transmitter {
            Transmitter::Fixed(_) => None,
            Transmitter::Variable(variable) => Some(variable),
        }
    }

    /// What the link has seen since the start.
    #[must_use]
    pub fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// The buffer.
    #[must_use]
    pub fn buffer(&self) -> Buffer {
        self.buffer
    }

    /// The rate at which the next packet would be sent.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        match &self.transmitter {
            Transmitter::Fixed(fixed) => fixed.serialiser.rate(),
            Transmitter::Variable(variable) => variable.rate(),
        }
    }

    /// Packets that wait at `now`.
    #[must_use]
    pub fn waiting_packets(&self, now: Instant) -> u64 {
        match &self.transmitter {
            Transmitter::Fixed(_) => self.flight.iter().filter(|entry| entry.starts > now.as_nanos()).count() as u64,
            Transmitter::Variable(variable) => variable.waiting_packets(),
        }
    }

    /// What waits and what is being sent, as a rate controller sees it; only links whose rate can change have one.
    #[must_use]
    pub fn queue_view(&self) -> QueueView {
        self.variable().map_or(QueueView::EMPTY, VariableTransmitter::queue_view)
    }

    /// Every packet on the link: waiting, being sent or propagating.
    pub fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        let held = self.variable().into_iter().flat_map(VariableTransmitter::packets);
        self.flight.iter().map(|entry| entry.packet).chain(held)
    }

    #[inline(always)]
    fn schedule_head(&self, schedule: &mut Schedule) {
        if let Some(head) = self.flight.front() {
            schedule.add(self.delivery, Instant::from_nanos(head.arrives));
        }
    }
}

impl FixedTransmitter {
    /// Takes a packet, if the buffer has room, and settles when it starts and arrives.
    #[inline(always)]
    fn offer(
        &mut self,
        now: u64,
        packet: Packet,
        delay: u64,
        buffer: Buffer,
        flight: &mut Ring<InFlight>,
        counters: &mut LinkCounters,
    ) -> bool {
        let starts = self.free_at.max(now);
        let size = u64::from(packet.size);
        if starts > now {
            self.forget_started(now, flight, counters.delivered_bytes);
            let waiting = flight.pushed() - self.first_waiting;
            if !buffer.admits(waiting, self.accepted_bytes - self.started_bytes, packet.size) {
                return false;
            }
            self.accepted_bytes += size;
            counters.most_waiting = counters.most_waiting.max(waiting + 1);
            counters.most_waiting_bytes = counters.most_waiting_bytes.max(self.accepted_bytes - self.started_bytes);
            counters.waited_ns += starts - now;
        } else {
            if self.free_at < now {
                self.serialiser.idle();
            }
            // It starts at once, so nothing waits before it.
            self.first_waiting = flight.pushed() + 1;
            self.accepted_bytes += size;
            self.started_bytes = self.accepted_bytes;
        }
        counters.served_packets += 1;
        self.free_at = starts + self.serialiser.next(packet.size).as_nanos();
        flight.push(InFlight { starts, arrives: self.free_at + delay, packet });
        true
    }

    /// The queue that a packet finds at `now`.
    fn queue_at(&mut self, now: u64, flight: &Ring<InFlight>, delivered_bytes: u64) -> QueueFound {
        if self.free_at <= now {
            return QueueFound { idle_ns: Some(now - self.free_at), packets: 0, bytes: 0 };
        }
        self.forget_started(now, flight, delivered_bytes);
        let packets = flight.pushed() - self.first_waiting;
        QueueFound { idle_ns: None, packets, bytes: self.accepted_bytes - self.started_bytes }
    }

    /// Packets whose service has started no longer wait; one that starts at `now` has started.
    #[inline]
    fn forget_started(&mut self, now: u64, flight: &Ring<InFlight>, delivered_bytes: u64) {
        // What was delivered had started long before.
        if self.first_waiting < flight.popped() {
            self.first_waiting = flight.popped();
            self.started_bytes = delivered_bytes;
        }
        while let Some(entry) = flight.get(self.first_waiting)
            && entry.starts <= now
        {
            self.started_bytes += u64::from(entry.packet.size);
            self.first_waiting += 1;
        }
    }
}
