//! A one-way link: losses, queue, transmitter, propagation.
//!
//! A link of fixed rate knows when a packet will arrive the moment it is offered, so it costs the schedule one event
//! per packet at most, and only the head of its ring is pending. A link whose rate can change, or whose queue is managed
//! when packets leave it (CoDel), schedules its departures too.
//!
//! A link that *runs ahead* costs no event: all its packets come from one other link, so their order is known before
//! they arrive, and the world offers them to it as soon as their arrival is computed (`run::lookahead`). Its own time is then
//! ahead of the run's; nothing but its counters could tell.
//!
//! ```text
//!  offer ──► loss? ──► RED? ──► buffer full? ──► waiting ──► CoDel? ──► in service ──► propagating ──► deliver
//!              lost   dropped       dropped      └ queue ┘   dropped   └ transmitter ┘    └ flight ┘
//! ```
//!
//! Noise makes propagation longer, from packet to packet.

use super::buffer::Buffer;
pub use super::counters::LinkCounters;
use super::fixed::{FixedTransmitter, Waiting};
use super::flight::Flight;
use super::ids::{ControllerId, LinkId, NodeId, StationId};
use super::ingress::Ingress;
use super::loss::Loss;
use super::noise::Noise;
use super::packet::Packet;
use super::queue::Verdict;
use super::queue::codel::CoDelConfig;
use super::queue::red::{Arrival, Red};
use super::routing::NextHop;
use super::transmitter::{Departure, RateChange, VariableTransmitter};
use crate::engine::ring::Ring;
use crate::engine::schedule::{Schedule, Slot};
use netlull_mechanism::rate::QueueView;
use netlull_units::{BitRate, Duration, Instant, Serialiser};
use std::ops::{Index, IndexMut};

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
    /// The link is asleep.
    Asleep,
}

/// What an offer to a link led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// It will arrive at the other end then, in nanoseconds, and has to be stored until it does or is taken on.
    Arrives(u64),
    /// The link keeps it until it departs.
    Held,
    /// The link did not take it.
    Refused(Admission),
}

enum Transmitter {
    Fixed(FixedTransmitter),
    Variable(Box<VariableTransmitter>),
}

/// One direction of a cable.
///
/// The fields stand in the order in which packets need them: the first two cache lines are all that one meets that does
/// not wait and runs ahead.
#[repr(C, align(64))]
pub struct Link {
    transmitter: Transmitter,
    // The second line.
    delay: u64,
    ingress: Option<Box<Ingress>>,
    /// Packets that were followed beyond its other end before they arrived there, and their bytes.
    taken_on_packets: u64,
    taken_on_bytes: u64,
    /// The node at its other end.
    pub to: NodeId,
    delivery: Slot,
    /// Where all its packets go from there, if that is the same for all.
    pub(crate) leads_to: Option<NextHop>,
    /// Whether a gateway looks at what comes out of it.
    pub(crate) is_steered: bool,
    /// Whether anybody does: a gateway, or the radio of a station.
    pub(crate) is_attended: bool,
    /// From when there is something to do before the link is offered a packet, in nanoseconds: just after the next datagram is
    /// due of those that are drawn then, or always, where arrivals are recorded.
    pub(crate) looks_from: u64,
    // What is stored until it arrives. Beside what is stored or taken on, a link of fixed rate has nothing.
    stored_bytes: u64,
    arrived_bytes: u64,
    flight: Flight,
    /// Number of its rate controller, if it has one.
    pub controller: Option<ControllerId>,
    /// The station whose air it is, if it is one's.
    pub(crate) station: Option<StationId>,
    // What waits.
    buffer: Buffer,
    waiting: Ring<Waiting>,
    tally: LinkCounters,
    /// Since when it sleeps, in nanoseconds, if it does.
    asleep_since: Option<u64>,
    /// What is left of waits that ended as it fell asleep, in packet nanoseconds; a link of fixed rate counts each wait whole as it begins.
    cut_short_ns: u64,
}

/// What a link is built from.
pub struct LinkParts {
    /// The node at its other end.
    pub to: NodeId,
    /// Number of its rate controller, if it has one.
    pub controller: Option<ControllerId>,
    /// Rate, or first rate.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Duration,
    /// Buffer.
    pub buffer: Buffer,
    /// Which packets it loses.
    pub loss: Option<Loss>,
    /// What its packets need on top of its delay.
    pub noise: Option<Noise>,
    /// Management of its queue as packets arrive.
    pub red: Option<Red>,
    /// Management of its queue as packets leave; takes `departure`.
    pub codel: Option<CoDelConfig>,
    /// Slot of the arrival of the head at the other end.
    pub delivery: Slot,
    /// Slot of the departures, for a link that schedules them.
    pub departure: Option<Slot>,
}

impl Index<LinkId> for Vec<Link> {
    type Output = Link;

    #[inline(always)]
    fn index(&self, link: LinkId) -> &Link {
        &self[link.index()]
    }
}

impl IndexMut<LinkId> for Vec<Link> {
    #[inline(always)]
    fn index_mut(&mut self, link: LinkId) -> &mut Link {
        &mut self[link.index()]
    }
}

impl Link {
    /// An idle link.
    #[must_use]
    pub fn new(parts: LinkParts) -> Self {
        let transmitter = match parts.departure {
            None => Transmitter::Fixed(FixedTransmitter {
                serialiser: Serialiser::new(parts.rate),
                free_at: 0,
                waiting_bytes: 0,
            }),
            Some(slot) => Transmitter::Variable(Box::new(VariableTransmitter::new(parts.rate, slot, parts.codel))),
        };
        let ingress = Ingress { loss: parts.loss, red: parts.red, noise: parts.noise, closed: false }.open();
        Self {
            transmitter,
            delay: parts.delay.as_nanos(),
            ingress,
            taken_on_packets: 0,
            taken_on_bytes: 0,
            to: parts.to,
            delivery: parts.delivery,
            leads_to: None,
            is_steered: false,
            is_attended: false,
            looks_from: u64::MAX,
            stored_bytes: 0,
            arrived_bytes: 0,
            flight: Flight::default(),
            controller: parts.controller,
            station: None,
            buffer: parts.buffer,
            waiting: Ring::new(),
            tally: LinkCounters::default(),
            asleep_since: None,
            cut_short_ns: 0,
        }
    }

    /// Offers a packet to the link, which keeps it if it takes it.
    #[inline]
    pub fn offer(&mut self, now: Instant, mut packet: Packet, schedule: &mut Schedule) -> Admission {
        match self.queue(now, &mut packet, schedule) {
            Offered::Arrives(at) => self.store(at, &packet, schedule),
            Offered::Held => {}
            Offered::Refused(admission) => return admission,
        }
        Admission::Accepted
    }

    /// Decides about a packet. One of which the link says when it arrives must then be [`stored`](Self::store) or be
    /// [`taken on`](Self::take_on).
    #[inline(always)]
    pub(crate) fn queue(&mut self, now: Instant, packet: &mut Packet, schedule: &mut Schedule) -> Offered {
        if self.ingress.is_some() {
            return self.queue_past_ingress(now, packet, schedule);
        }
        self.queue_plain(now, packet, schedule)
    }

    /// Decides about a packet past what stands before the buffer; noise makes it late.
    #[inline(never)]
    fn queue_past_ingress(&mut self, now: Instant, packet: &mut Packet, schedule: &mut Schedule) -> Offered {
        if let Some(refused) = self.enter(now, packet) {
            return Offered::Refused(refused);
        }
        match self.queue_plain(now, packet, schedule) {
            Offered::Arrives(at) => Offered::Arrives(self.disturbed(at)),
            offered => offered,
        }
    }

    #[inline(always)]
    fn queue_plain(&mut self, now: Instant, packet: &mut Packet, schedule: &mut Schedule) -> Offered {
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            if variable.offer(now, packet, self.buffer, &mut self.tally, schedule) {
                return Offered::Held;
            }
            return self.refuse(packet.size);
        }
        self.queue_ahead(now.as_nanos(), packet.size)
    }

    /// The same for a link of fixed rate without losses, management or noise, whatever the time of the run.
    #[inline(always)]
    pub(crate) fn queue_ahead(&mut self, now: u64, size: u32) -> Offered {
        let Transmitter::Fixed(fixed) = &mut self.transmitter else { return Offered::Held };
        if fixed.free_at <= now {
            return Offered::Arrives(fixed.send(now, size, &mut self.waiting).saturating_add(self.delay));
        }
        if fixed.waits(now, size, self.buffer, &mut self.waiting, &mut self.tally) {
            fixed.free_at = fixed.free_at.saturating_add(fixed.serialiser.next(size).as_nanos());
            return Offered::Arrives(fixed.free_at.saturating_add(self.delay));
        }
        self.refuse(size)
    }

    /// When a packet arrives that without noise would arrive at `without`, in nanoseconds.
    fn disturbed(&mut self, without: u64) -> u64 {
        let noise = self.ingress.as_mut().and_then(|ingress| ingress.noise.as_mut());
        noise.map_or(without, |noise| noise.arrival(without))
    }

    /// The buffer is full.
    #[cold]
    fn refuse(&mut self, size: u32) -> Offered {
        self.tally.dropped_packets += 1;
        self.tally.dropped_bytes += u64::from(size);
        Offered::Refused(Admission::Dropped)
    }

    /// Keeps a packet until it arrives.
    #[inline(always)]
    pub(crate) fn store(&mut self, arrives: u64, packet: &Packet, schedule: &mut Schedule) {
        let idle = self.flight.is_empty();
        self.stored_bytes += u64::from(packet.size);
        self.flight.push(arrives, packet);
        if idle {
            schedule.add(self.delivery, Instant::from_nanos(arrives));
        }
    }

    /// A packet of `size` bytes that the link has taken is followed beyond its other end at once.
    #[inline(always)]
    pub(crate) fn take_on(&mut self, size: u32) {
        self.taken_on_packets += 1;
        self.taken_on_bytes += u64::from(size);
    }

    /// Packets that were followed beyond its other end before they arrived there.
    pub(crate) fn taken_on(&self) -> u64 {
        self.taken_on_packets
    }

    /// Takes those packets off the link that arrive by `until` and that `goes` says yes to, in order, with their arrivals, as if they had never been stored.
    pub(crate) fn withdraw(
        &mut self,
        until: u64,
        goes: impl Fn(&Packet) -> bool,
        into: &mut Vec<(u64, Packet)>,
        schedule: &mut Schedule,
    ) {
        let (before, first) = (self.flight.next_arrival(), into.len());
        if before.is_none_or(|arrives| arrives > until) {
            return;
        }
        self.flight.withdraw(until, goes, into);
        self.stored_bytes -= into[first..].iter().map(|(_, packet)| u64::from(packet.size)).sum::<u64>();
        let head = self.flight.next_arrival();
        if head != before {
            schedule.set(self.delivery, head.map_or(Instant::NEVER, Instant::from_nanos));
        }
    }

    /// What stands before the buffer: a packet that it refuses, and as what; one that goes on may be marked.
    #[inline(never)]
    fn enter(&mut self, now: Instant, packet: &mut Packet) -> Option<Admission> {
        let mut ingress = self.ingress.take()?;
        let size = u64::from(packet.size);
        if ingress.closed {
            self.ingress = Some(ingress);
            self.tally.asleep_packets += 1;
            self.tally.asleep_bytes += size;
            return Some(Admission::Asleep);
        }
        let lost = ingress.loss.as_mut().is_some_and(|loss| loss.takes(packet.agent.flow().number()));
        let refused = if lost {
            self.tally.lost_packets += 1;
            self.tally.lost_bytes += size;
            Some(Admission::Lost)
        } else {
            ingress.red.as_mut().and_then(|red| self.detect_early(now, packet, red))
        };
        self.ingress = Some(ingress);
        refused
    }

    /// Asks RED about a packet.
    fn detect_early(&mut self, now: Instant, packet: &mut Packet, red: &mut Red) -> Option<Admission> {
        let rate_bps = self.rate().as_bps();
        let queue = match &mut self.transmitter {
            Transmitter::Fixed(fixed) => fixed.queue_at(now.as_nanos(), &mut self.waiting),
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
                self.tally.dropped_packets += 1;
                self.tally.dropped_bytes += u64::from(packet.size);
                self.tally.managed_drops += 1;
                return Some(Admission::DroppedEarly);
            }
            // A full buffer drops it all the same.
            Verdict::Mark if queue.idle_ns.is_some() || self.buffer.admits(queue.packets, queue.bytes, packet.size) => {
                self.tally.marked_packets += u64::from(packet.mark());
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
        self.flight.front()
    }

    /// The head of the link, `size` bytes, has arrived at the other end and is taken off the link.
    #[inline(always)]
    pub fn deliver_head(&mut self, size: u32, schedule: &mut Schedule) {
        self.flight.skip();
        self.schedule_head(schedule);
        self.arrived_bytes += u64::from(size);
    }

    /// The departure event of a link that schedules its departures; a packet that departs is stored until it arrives.
    pub fn depart(&mut self, now: Instant, schedule: &mut Schedule) -> Departure {
        let departure = self.advance(now, schedule);
        if let Departure::Packet { packet } = departure {
            let arrives = self.arrival(now);
            self.store(arrives, &packet, schedule);
        }
        departure
    }

    /// The same, but the packet must be [`stored`](Self::store) or [`taken on`](Self::take_on).
    pub(crate) fn advance(&mut self, now: Instant, schedule: &mut Schedule) -> Departure {
        match &mut self.transmitter {
            Transmitter::Fixed(_) => Departure::None,
            Transmitter::Variable(variable) => variable.advance(now, &mut self.tally, schedule),
        }
    }

    /// When the packet arrives whose last bit is sent at `now`, in nanoseconds; asked once for each.
    #[inline]
    pub(crate) fn arrival(&mut self, now: Instant) -> u64 {
        self.disturbed(now.as_nanos() + self.delay)
    }

    /// Changes the rate of a link whose rate can change; a link of fixed rate stays as it is.
    pub fn change_rate(&mut self, now: Instant, change: RateChange, schedule: &mut Schedule) {
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.change_rate(now, change, schedule);
        }
    }

    /// The link falls asleep: every packet on it is lost, and handed over in `stranded`, the first to arrive first.
    pub fn fall_asleep(&mut self, now: Instant, schedule: &mut Schedule, stranded: &mut Vec<Packet>) {
        let first = stranded.len();
        self.flight.clear(stranded);
        match &mut self.transmitter {
            Transmitter::Fixed(fixed) => {
                // Waits that end here were counted to their ends.
                let beyond = self.waiting.iter().map(|entry| entry.starts.saturating_sub(now.as_nanos()));
                self.cut_short_ns += beyond.fold(0, u64::saturating_add);
                fixed.free_at = now.as_nanos();
                fixed.waiting_bytes = 0;
                fixed.serialiser.idle();
                self.waiting.clear();
            }
            Transmitter::Variable(variable) => variable.fall_asleep(now, stranded, &mut self.tally, schedule),
        }
        schedule.set(self.delivery, Instant::NEVER);
        let lost = &stranded[first..];
        let (packets, bytes) = (lost.len() as u64, lost.iter().map(|packet| u64::from(packet.size)).sum::<u64>());
        match &mut self.transmitter {
            Transmitter::Fixed(_) => self.stored_bytes -= bytes,
            Transmitter::Variable(variable) => variable.forget_accepted(packets, bytes),
        }
        self.tally.stranded_packets += packets;
        self.tally.asleep_packets += packets;
        self.tally.asleep_bytes += bytes;
        let ingress = self.ingress.get_or_insert_default();
        ingress.closed = true;
        if let Some(noise) = &mut ingress.noise {
            noise.lose_all();
        }
        self.asleep_since = Some(now.as_nanos());
    }

    /// It begins to wake: it is powered again, and carries nothing yet.
    pub fn begin_to_wake(&mut self, now: Instant) {
        if let Some(since) = self.asleep_since.take() {
            self.tally.asleep_ns += now.as_nanos() - since;
        }
    }

    /// It is awake and carries packets again.
    pub fn awake(&mut self, now: Instant) {
        self.begin_to_wake(now);
        self.ingress = self.ingress.take().and_then(|ingress| ingress.open());
    }

    /// Whether it takes no packets because it sleeps, or is waking.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ingress.as_ref().is_some_and(|ingress| ingress.closed)
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

    /// What the link has seen from the start to `now`.
    #[must_use]
    pub fn counters(&self, now: Instant) -> LinkCounters {
        let tally = &self.tally;
        // A link that schedules its departures has counted what it took; of the others it is what they stored or took on.
        let (accepted_packets, accepted_bytes) = match &self.transmitter {
            Transmitter::Fixed(_) => {
                (self.taken_on_packets + self.flight.pushed(), self.taken_on_bytes + self.stored_bytes)
            }
            Transmitter::Variable(variable) => variable.accepted(),
        };
        LinkCounters {
            // What CoDel drops as it leaves the queue was accepted before.
            offered_packets: accepted_packets + tally.dropped_packets + tally.lost_packets + tally.asleep_packets
                - tally.discarded_packets,
            offered_bytes: accepted_bytes + tally.dropped_bytes + tally.lost_bytes + tally.asleep_bytes
                - tally.discarded_bytes,
            delivered_packets: self.taken_on_packets + self.flight.popped(),
            delivered_bytes: self.taken_on_bytes + self.arrived_bytes,
            served_packets: match &self.transmitter {
                Transmitter::Fixed(_) => accepted_packets + tally.stranded_packets,
                Transmitter::Variable(_) => tally.served_packets,
            },
            queued_ns: self.queued_ns(now),
            asleep_ns: tally.asleep_ns + self.asleep_since.map_or(0, |since| now.as_nanos() - since),
            ..self.tally
        }
    }

    /// The integral of the number of waiting packets from the start to `now`, packet nanoseconds.
    fn queued_ns(&self, now: Instant) -> u64 {
        let (tally, now_ns) = (&self.tally, now.as_nanos());
        match &self.transmitter {
            // Each wait was counted whole as it began: what lies beyond `now` is taken off.
            Transmitter::Fixed(_) => {
                let beyond = self.waiting.iter().map(|entry| entry.starts.saturating_sub(now_ns));
                tally.waited_ns.saturating_sub(beyond.fold(self.cut_short_ns, u64::saturating_add))
            }
            // Each wait was counted as it ended: those that go on are added.
            Transmitter::Variable(variable) => tally.waited_ns + tally.waited_in_vain_ns + variable.waiting_ns(now),
        }
    }

    /// Whether its packets, which all come from one link, may be offered ahead of time: nothing but what was offered
    /// decides what becomes of them.
    pub(crate) fn can_run_ahead(&self) -> bool {
        matches!(self.transmitter, Transmitter::Fixed(_)) && self.ingress.is_none() && self.station.is_none()
    }

    /// When the packet at its head arrives at the other end, and its size in bytes.
    pub(crate) fn head_arrives(&self) -> Option<(Instant, u32)> {
        let arrives = self.flight.next_arrival()?;
        Some((Instant::from_nanos(arrives), self.flight.front()?.size))
    }

    /// When a link of fixed rate has sent all that it has taken.
    pub(crate) fn free_at(&self) -> Instant {
        match &self.transmitter {
            Transmitter::Fixed(fixed) => Instant::from_nanos(fixed.free_at),
            Transmitter::Variable(_) => Instant::ZERO,
        }
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
            Transmitter::Fixed(_) => self.waiting.iter().filter(|entry| entry.starts > now.as_nanos()).count() as u64,
            Transmitter::Variable(variable) => variable.waiting_packets(),
        }
    }

    /// What waits and what is being sent, as a rate controller sees it; only links whose rate can change have one.
    #[must_use]
    pub fn queue_view(&self) -> QueueView {
        self.variable().map_or(QueueView::EMPTY, VariableTransmitter::queue_view)
    }

    /// How many packets have been sent and have not arrived.
    #[must_use]
    pub fn propagating(&self) -> u64 {
        self.flight.pushed() - self.flight.popped()
    }

    /// Every packet on the link: waiting, being sent or propagating.
    pub fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        let held = self.variable().into_iter().flat_map(VariableTransmitter::packets);
        self.flight.iter().map(|(_, packet)| *packet).chain(held)
    }

    /// Every packet on the link, to be changed.
    pub(crate) fn for_each(&mut self, mut change: impl FnMut(&mut Packet)) {
        self.flight.for_each(&mut change);
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.for_each(change);
        }
    }

    #[inline(always)]
    fn schedule_head(&self, schedule: &mut Schedule) {
        if let Some(arrives) = self.flight.next_arrival() {
            schedule.add(self.delivery, Instant::from_nanos(arrives));
        }
    }
}
