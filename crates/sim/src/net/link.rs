//! A one-way link: losses, queue, transmitter, propagation.
//!
//! A link of fixed rate computes a packet's arrival as soon as the packet is offered. It needs at most one event per
//! packet, and only the head of its ring is pending. So does a link with low-power idle if only its first packet wakes it
//! (`dozing`). A link also schedules departures if its rate can change or if its queue is managed at departures (CoDel).
//!
//! A link that *runs ahead* needs no event. All its packets come from one other link, so their order is known before
//! they arrive. The world offers them to it as soon as their arrival is computed (`run::lookahead`). The time of such
//! a link is ahead of the run's time. Only its counters could reveal this.
//!
//! ```text
//!  offer ──► loss? ──► RED? ──► buffer full? ──► waiting ──► CoDel? ──► in service ──► propagating ──► deliver
//!              lost   dropped       dropped      └ queue ┘   dropped   └ transmitter ┘    └ flight ┘
//! ```
//!
//! Laws of arrivals add time to a packet's propagation: noise, scripted delays, delivery in batches. With some of them,
//! packets overtake others: the flight is in the order of arrivals.

mod counts;

use super::dozing::DozingTransmitter;
use super::fixed::{Air, Backlog, FixedTransmitter, Ingress};
use super::flight::{Flight, Packet, PacketStore};
use super::ids::{AgentId, ControllerId, LinkId, NodeId, StationId};
use super::routing::NextHop;
use super::transmitter::{RateChange, VariableTransmitter};
use netlull_mechanism::link::LowPowerTimes;
use netlull_mechanism::rate::{LpiAlone, QueueView};
use netlull_network::arrival::Arrivals;
use netlull_network::loss::Loss;
pub use netlull_network::queue::LinkCounters;
use netlull_network::queue::codel::CoDelConfig;
use netlull_network::queue::red::{Arrival, Red};
use netlull_network::queue::{Buffer, Verdict};
use netlull_network::schedule::{Schedule, Slot};
use netlull_network::trace::{Delivery, Position, Trace};
use netlull_network::transmitter::Departure;
use netlull_units::{BitRate, Bytes, Duration, Instant, Serialiser};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// The result of offering a packet to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The packet is in the queue or in service.
    Accepted,
    /// The buffer was full: the packet is dropped.
    Dropped,
    /// Queue management dropped the packet.
    DroppedEarly,
    /// The link's loss model dropped the packet in front of the buffer.
    Lost,
    /// The link is asleep.
    Asleep,
}

/// The next step for a packet that is offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// The packet arrives at the far end at this time, in nanoseconds. The caller must store it or pass it on.
    Arrives(u64),
    /// The same, but the packet may overtake packets that were sent before it. The caller must
    /// [store](Link::store_in_order) it.
    Overtakes(u64),
    /// The link stores the packet until its departure.
    Held,
    /// The link refused the packet.
    Refused(Admission),
}

enum Transmitter {
    Fixed(FixedTransmitter),
    Dozing(Box<DozingTransmitter>),
    Variable(Box<VariableTransmitter>),
}

impl Transmitter {
    /// A transmitter that computes departures at offers.
    #[inline]
    fn fixed(&self) -> Option<&FixedTransmitter> {
        match self {
            Self::Fixed(fixed) => Some(fixed),
            Self::Dozing(dozing) => Some(&dozing.fixed),
            Self::Variable(_) => None,
        }
    }
}

/// A direction of a cable.
///
/// The fields are in the order of their use. A packet that does not wait and runs ahead touches only the first two
/// cache lines.
#[repr(C, align(64))]
pub struct Link {
    transmitter: Transmitter,
    // The second cache line.
    delay: u64,
    ingress: Option<Box<Ingress>>,
    /// Packets passed on before their arrival at the far end, and their bytes.
    taken_on_packets: u64,
    taken_on_bytes: u64,
    /// The node at the far end.
    pub to: NodeId,
    delivery: Slot,
    /// The next hop of all packets, if it is the same for all.
    pub(crate) leads_to: Option<NextHop>,
    /// True if a gateway inspects the packets at the far end.
    pub(crate) is_steered: bool,
    /// True if a gateway or a station's radio inspects the packets at the far end.
    pub(crate) is_attended: bool,
    /// The time from which an offered packet needs extra work first, in nanoseconds.
    ///
    /// It is zero for recorded arrivals and for a station's link. Otherwise it is just after the time of the next
    /// drawn datagram.
    pub(crate) looks_from: u64,
    // The packets stored until their arrival. A link of fixed rate counts only packets that are stored or passed on.
    stored_bytes: u64,
    arrived_bytes: u64,
    flight: Flight,
    /// The id of its rate controller, if it has one.
    pub controller: Option<ControllerId>,
    /// The station, for the link of a station.
    pub(crate) station: Option<StationId>,
    // The queue.
    buffer: Buffer,
    /// Boxed, because most links of a large network never have a queue, a drop or a sleep.
    backlog: Option<Box<Backlog>>,
    /// The start of its sleep, in nanoseconds, if it sleeps.
    asleep_since: Option<u64>,
}

/// The parts of a new link.
pub struct LinkParts {
    /// The node at the far end.
    pub to: NodeId,
    /// The id of its rate controller, if it has one.
    pub controller: Option<ControllerId>,
    /// The rate, or the initial rate.
    pub rate: BitRate,
    /// The bytes on the wire that each packet has in addition to its size.
    pub overhead: u32,
    /// The propagation delay.
    pub delay: Duration,
    /// The buffer.
    pub buffer: Buffer,
    /// The loss model.
    pub loss: Option<Loss>,
    /// The laws of arrivals.
    pub arrivals: Option<Arrivals>,
    /// The air that it shares with other links; only for a link of fixed rate.
    pub air: Option<Air>,
    /// The trace of delivery opportunities; only for a link without an air that computes its departures.
    pub trace: Option<Arc<Trace>>,
    /// The management of its queue at arrivals.
    pub red: Option<Red>,
    /// The management of its queue at departures; requires `departure`.
    pub codel: Option<CoDelConfig>,
    /// The slot of the arrival of the first packet.
    pub delivery: Slot,
    /// The slot of the departures, for a link that schedules them.
    pub departure: Option<Slot>,
}

impl Index<LinkId> for Vec<Link> {
    type Output = Link;

    #[inline]
    fn index(&self, link: LinkId) -> &Link {
        &self[link.index()]
    }
}

impl IndexMut<LinkId> for Vec<Link> {
    #[inline]
    fn index_mut(&mut self, link: LinkId) -> &mut Link {
        &mut self[link.index()]
    }
}

// Forced inlines here, by `make counts`: without them single takes 10 % more instructions.
impl Link {
    /// Creates an idle link.
    #[must_use]
    pub fn new(parts: LinkParts) -> Self {
        let transmitter = match parts.departure {
            None => Transmitter::Fixed(FixedTransmitter {
                serialiser: Serialiser::new(parts.rate).with_overhead(parts.overhead),
                free_at: 0,
                waiting_bytes: 0,
            }),
            Some(slot) => {
                let mut variable = VariableTransmitter::new(parts.rate, slot, parts.codel);
                variable.line.set_overhead(parts.overhead);
                Transmitter::Variable(Box::new(variable))
            }
        };
        let LinkParts { loss, red, arrivals, air, trace, .. } = parts;
        let trace = trace.map(|trace| (trace, Position::default()));
        let ingress = Ingress { loss, red, arrivals, air, trace, marked: false, closed: false }.open();
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
            backlog: None,
            asleep_since: None,
        }
    }

    /// Offers a packet to the link and stores it if it is accepted.
    #[inline]
    pub fn offer(
        &mut self,
        now: Instant,
        mut packet: Packet,
        schedule: &mut Schedule,
        store: &mut PacketStore,
    ) -> Admission {
        match self.queue(now, &mut packet, schedule) {
            Offered::Arrives(at) => self.store(at, &packet, schedule, store),
            Offered::Overtakes(at) => self.store_in_order(at, &packet, schedule, store),
            Offered::Held => {}
            Offered::Refused(admission) => return admission,
        }
        Admission::Accepted
    }

    /// Decides on a packet. If the result contains an arrival time, the caller must [store](Self::store) the packet or
    /// [pass it on](Self::take_on).
    #[inline(always)]
    pub(crate) fn queue(&mut self, now: Instant, packet: &mut Packet, schedule: &mut Schedule) -> Offered {
        if self.ingress.is_some() {
            return self.queue_past_ingress(now, packet, schedule);
        }
        self.queue_plain(now, packet, schedule)
    }

    /// Decides on a packet at the ingress and at the buffer, and applies the laws of arrivals.
    fn queue_past_ingress(&mut self, now: Instant, packet: &mut Packet, schedule: &mut Schedule) -> Offered {
        if let Some(refused) = self.enter(now, packet) {
            return Offered::Refused(refused);
        }
        let medium = self.queue_on_air(now.as_nanos(), packet.size);
        let offered = match medium.or_else(|| self.queue_on_trace(now.as_nanos(), packet.size)) {
            Some(offered) => offered,
            None => self.queue_plain(now, packet, schedule),
        };
        match offered {
            Offered::Arrives(at) => self.arrival_of(at, packet),
            offered => offered,
        }
    }

    /// Decides on a packet of a link that shares its air; `None` for other links.
    ///
    /// The packet waits in the buffer while any link of the air transmits.
    fn queue_on_air(&mut self, now: u64, size: u32) -> Option<Offered> {
        let Transmitter::Fixed(fixed) = &mut self.transmitter else { return None };
        let air = self.ingress.as_ref()?.air.as_ref()?;
        let starts = air.free_at().max(now);
        if starts > now {
            if !fixed.waits_until(starts, now, size, self.buffer, &mut self.backlog) {
                return Some(self.refuse(size));
            }
        } else {
            fixed.send(now, size, &mut self.backlog);
        }
        fixed.free_at = air.send(starts, size, fixed.serialiser.rate());
        Some(Offered::Arrives(fixed.free_at.saturating_add(self.delay)))
    }

    /// Decides on a packet of a link that follows a trace; `None` for other links.
    ///
    /// The packet waits in the buffer until an opportunity takes its first byte.
    fn queue_on_trace(&mut self, now: u64, size: u32) -> Option<Offered> {
        let Transmitter::Fixed(fixed) = &mut self.transmitter else { return None };
        let (trace, position) = self.ingress.as_mut()?.trace.as_mut()?;
        let mut after = *position;
        let Delivery { starts, departs } = after.deliver(trace, now, size);
        if !fixed.waits_until(starts, now, size, self.buffer, &mut self.backlog) {
            return Some(self.refuse(size));
        }
        (*position, fixed.free_at) = (after, departs);
        Some(Offered::Arrives(departs.saturating_add(self.delay)))
    }

    #[inline(always)]
    fn queue_plain(&mut self, now: Instant, packet: &mut Packet, schedule: &mut Schedule) -> Offered {
        match &mut self.transmitter {
            Transmitter::Fixed(_) => self.queue_ahead(now.as_nanos(), packet.size),
            Transmitter::Dozing(dozing) => {
                let is_local = dozing.is_local(packet.agent);
                self.queue_dozing(now.as_nanos(), packet.size, is_local)
            }
            Transmitter::Variable(variable) => {
                let backlog = self.backlog.get_or_insert_with(Backlog::first);
                if variable.offer(now, packet, self.buffer, &mut backlog.tally, schedule) {
                    return Offered::Held;
                }
                self.refuse(packet.size)
            }
        }
    }

    /// Decides on a packet at any time, for a link of fixed rate without losses, management or laws of arrivals.
    #[inline(always)]
    pub(crate) fn queue_ahead(&mut self, now: u64, size: u32) -> Offered {
        let Transmitter::Fixed(fixed) = &mut self.transmitter else { return self.queue_dozing(now, size, false) };
        if fixed.free_at <= now {
            return Offered::Arrives(fixed.send(now, size, &mut self.backlog).saturating_add(self.delay));
        }
        if fixed.waits(now, size, self.buffer, self.backlog.get_or_insert_with(Backlog::first)) {
            fixed.free_at = fixed.free_at.saturating_add(fixed.serialiser.next(size).as_nanos());
            return Offered::Arrives(fixed.free_at.saturating_add(self.delay));
        }
        self.refuse(size)
    }

    /// Applies the laws of arrivals to a packet that arrives at `without` otherwise, in nanoseconds.
    fn arrival_of(&mut self, without: u64, packet: &Packet) -> Offered {
        let Some(laws) = self.ingress.as_mut().and_then(|ingress| ingress.arrivals.as_mut()) else {
            return Offered::Arrives(without);
        };
        let at = laws.arrival(without, packet.agent.flow().number());
        if laws.reorders() { Offered::Overtakes(at) } else { Offered::Arrives(at) }
    }

    /// Decides on a packet of a link with low-power idle. `is_local` is true for a datagram of its node.
    fn queue_dozing(&mut self, now: u64, size: u32, is_local: bool) -> Offered {
        let Transmitter::Dozing(dozing) = &mut self.transmitter else { return Offered::Held };
        match dozing.offer(now, size, is_local, self.buffer, &mut self.backlog) {
            Some(departs) => Offered::Arrives(departs.saturating_add(self.delay)),
            None => self.refuse(size),
        }
    }

    /// Refuses a packet because of a full buffer.
    #[cold]
    fn refuse(&mut self, size: u32) -> Offered {
        let tally = self.tally_mut();
        tally.dropped_packets += 1;
        tally.dropped_bytes += u64::from(size);
        Offered::Refused(Admission::Dropped)
    }

    /// Stores a packet until its arrival.
    #[inline(always)]
    pub(crate) fn store(&mut self, arrives: u64, packet: &Packet, schedule: &mut Schedule, store: &mut PacketStore) {
        let idle = self.flight.is_empty();
        self.stored_bytes += u64::from(packet.size);
        self.flight.push(arrives, packet, store);
        if idle {
            schedule.add(self.delivery, Instant::from_nanos(arrives));
        }
    }

    /// Stores a packet until its arrival, among packets that arrive earlier or later.
    #[cold]
    pub(crate) fn store_in_order(
        &mut self,
        arrives: u64,
        packet: &Packet,
        schedule: &mut Schedule,
        store: &mut PacketStore,
    ) {
        let before = self.flight.next_arrival(store);
        self.stored_bytes += u64::from(packet.size);
        self.flight.insert(arrives, packet, store);
        if before.is_none_or(|before| arrives < before) {
            schedule.set(self.delivery, Instant::from_nanos(arrives));
        }
    }

    /// Counts an accepted packet of `size` bytes that the caller passes on at once.
    #[inline]
    pub(crate) fn take_on(&mut self, size: u32) {
        self.taken_on_packets += 1;
        self.taken_on_bytes += u64::from(size);
    }

    /// Removes the packets that arrive by `until` and for which `goes` returns true. They then count as never stored.
    ///
    /// The packets are returned in order, with their arrival times.
    pub(crate) fn withdraw(
        &mut self,
        until: u64,
        goes: impl Fn(&Packet) -> bool,
        into: &mut Vec<(u64, Packet)>,
        schedule: &mut Schedule,
        store: &mut PacketStore,
    ) {
        let (before, first) = (self.flight.next_arrival(store), into.len());
        if before.is_none_or(|arrives| arrives > until) {
            return;
        }
        self.flight.withdraw(until, goes, into, store);
        self.stored_bytes -= into[first..].iter().map(|(_, packet)| u64::from(packet.size)).sum::<u64>();
        let head = self.flight.next_arrival(store);
        if head != before {
            schedule.set(self.delivery, head.map_or(Instant::NEVER, Instant::from_nanos));
        }
    }

    /// Checks a packet at the ingress. Returns the reason for a refusal; an accepted packet may get a mark.
    fn enter(&mut self, now: Instant, packet: &mut Packet) -> Option<Admission> {
        let mut ingress = self.ingress.take()?;
        let size = u64::from(packet.size);
        if ingress.closed {
            self.ingress = Some(ingress);
            let tally = self.tally_mut();
            tally.asleep_packets += 1;
            tally.asleep_bytes += size;
            return Some(Admission::Asleep);
        }
        let lost = ingress.loss.as_mut().is_some_and(|loss| loss.takes(now, packet.agent.flow().number(), packet.size));
        let marked = self.marked_packets();
        let refused = if lost {
            let tally = self.tally_mut();
            tally.lost_packets += 1;
            tally.lost_bytes += size;
            Some(Admission::Lost)
        } else {
            ingress.red.as_mut().and_then(|red| self.detect_early(now, packet, red))
        };
        ingress.marked = self.marked_packets() > marked;
        self.ingress = Some(ingress);
        refused
    }

    /// Applies RED to a packet.
    fn detect_early(&mut self, now: Instant, packet: &mut Packet, red: &mut Red) -> Option<Admission> {
        let rate_bps = self.rate(now).as_bps();
        let queue = match &mut self.transmitter {
            Transmitter::Fixed(fixed) => fixed.queue_at(now.as_nanos(), &mut self.backlog),
            Transmitter::Dozing(dozing) => dozing.fixed.queue_at(now.as_nanos(), &mut self.backlog),
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
                let tally = self.tally_mut();
                tally.dropped_packets += 1;
                tally.dropped_bytes += u64::from(packet.size);
                tally.managed_drops += 1;
                return Some(Admission::DroppedEarly);
            }
            // A full buffer drops the packet anyway.
            Verdict::Mark if queue.idle_ns.is_some() || self.buffer.admits(queue.packets, queue.bytes, packet.size) => {
                self.tally_mut().marked_packets += u64::from(packet.mark());
            }
            Verdict::Mark | Verdict::Pass => {}
        }
        None
    }

    /// Returns true if queue management has marked the packet that the link has just accepted.
    #[inline]
    pub(crate) fn has_marked(&self) -> bool {
        self.ingress.as_ref().is_some_and(|ingress| ingress.marked)
    }

    /// The next packet that was dropped at its departure and that is not yet reported.
    pub fn take_discarded(&mut self) -> Option<Packet> {
        match &mut self.transmitter {
            Transmitter::Variable(variable) => variable.line.take_discarded(),
            Transmitter::Fixed(_) | Transmitter::Dozing(_) => None,
        }
    }

    /// The next packet to arrive at the far end.
    #[inline]
    #[must_use]
    pub fn head<'a>(&self, store: &'a PacketStore) -> Option<&'a Packet> {
        self.flight.front(store)
    }

    /// Removes the first packet, of `size` bytes, when it arrives at the far end.
    #[inline(always)]
    pub fn deliver_head(&mut self, size: u32, schedule: &mut Schedule, store: &mut PacketStore) {
        self.flight.skip(store);
        self.schedule_head(schedule, store);
        self.arrived_bytes += u64::from(size);
    }

    /// Handles a departure event. A departing packet is stored until its arrival.
    pub fn depart(&mut self, now: Instant, schedule: &mut Schedule, store: &mut PacketStore) -> Departure<Packet> {
        let departure = self.advance(now, schedule);
        if let Departure::Packet { packet, .. } = departure {
            match self.arrival(now, &packet) {
                Offered::Overtakes(at) => self.store_in_order(at, &packet, schedule, store),
                Offered::Arrives(at) => self.store(at, &packet, schedule, store),
                Offered::Held | Offered::Refused(_) => {}
            }
        }
        departure
    }

    /// Handles a departure event in the usual case: a packet departs, no pause follows, and CoDel is not at work. Returns
    /// `None` in any other case: nothing has changed then.
    ///
    /// The caller must [store](Self::store) the packet or [pass it on](Self::take_on).
    #[inline(always)]
    pub(crate) fn advance_to_next(&mut self, now: Instant, schedule: &mut Schedule) -> Option<Packet> {
        match &mut self.transmitter {
            Transmitter::Fixed(_) | Transmitter::Dozing(_) => None,
            Transmitter::Variable(variable) => {
                variable.advance_to_next(now, &mut self.backlog.get_or_insert_with(Backlog::first).tally, schedule)
            }
        }
    }

    /// Handles a departure event. The caller must [store](Self::store) the packet or [pass it on](Self::take_on).
    pub(crate) fn advance(&mut self, now: Instant, schedule: &mut Schedule) -> Departure<Packet> {
        match &mut self.transmitter {
            Transmitter::Fixed(_) | Transmitter::Dozing(_) => Departure::Nothing,
            Transmitter::Variable(variable) => {
                variable.advance(now, &mut self.backlog.get_or_insert_with(Backlog::first).tally, schedule)
            }
        }
    }

    /// The arrival time of a packet whose transmission ends at `now`: `Arrives` or `Overtakes`. To be called once per
    /// packet.
    #[inline]
    pub(crate) fn arrival(&mut self, now: Instant, packet: &Packet) -> Offered {
        let without = now.as_nanos() + self.delay;
        if self.ingress.is_none() { Offered::Arrives(without) } else { self.arrival_of(without, packet) }
    }

    /// Returns true if packets may overtake others on the link.
    pub(crate) fn reorders(&self) -> bool {
        let laws = self.ingress.as_ref().and_then(|ingress| ingress.arrivals.as_ref());
        laws.is_some_and(Arrivals::reorders)
    }

    /// Changes the rate of a link with a variable rate. A link of fixed rate ignores it.
    pub fn change_rate(&mut self, now: Instant, change: RateChange, schedule: &mut Schedule) {
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.change_rate(now, change, schedule);
        }
    }

    /// Changes the capacity of a link without a controller, which may be zero. It applies at once.
    pub fn set_capacity(&mut self, now: Instant, rate: BitRate, schedule: &mut Schedule) {
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.set_capacity(now, rate, schedule);
        }
    }

    /// Measures the lateness of packets against a link that is always at its highest rate.
    pub fn measure_lateness(&mut self, highest: BitRate) {
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.line.measure_lateness(highest);
        }
    }

    /// Logs no changes of the rate.
    pub(crate) fn keep_no_log(&mut self) {
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.keep_no_log();
        }
    }

    /// Restarts the energy meter of a link with a variable rate.
    pub fn restart_meter(&mut self, now: Instant) {
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.line.restart_meter(now);
        }
    }

    /// The state of a link that schedules its departures.
    #[inline]
    #[must_use]
    pub fn variable(&self) -> Option<&VariableTransmitter> {
        match &self.transmitter {
            Transmitter::Fixed(_) | Transmitter::Dozing(_) => None,
            Transmitter::Variable(variable) => Some(variable),
        }
    }

    /// Gives an idle link of fixed rate low-power idle. `local` has the receivers of datagrams that begin at its node.
    /// `end` is that of the run.
    pub(crate) fn doze(&mut self, low_power: LpiAlone, local: Vec<AgentId>, end: Instant) {
        if let Transmitter::Fixed(FixedTransmitter { serialiser, .. }) = &self.transmitter {
            let fixed = FixedTransmitter { serialiser: serialiser.clone(), free_at: 0, waiting_bytes: 0 };
            self.transmitter = Transmitter::Dozing(Box::new(DozingTransmitter::new(fixed, low_power, local, end)));
        }
    }

    /// The times of its low-power idle up to `now`, and true if it is in low power, unless a controller has them.
    pub(crate) fn low_power(&self, now: Instant) -> Option<(LowPowerTimes, bool)> {
        match &self.transmitter {
            Transmitter::Dozing(dozing) => Some(dozing.low_power.up_to(now, Instant::from_nanos(dozing.fixed.free_at))),
            Transmitter::Fixed(_) | Transmitter::Variable(_) => None,
        }
    }

    /// Returns true if packets from a single other link may be offered ahead of time.
    ///
    /// The fate of such packets depends only on the packets offered before.
    pub(crate) fn can_run_ahead(&self) -> bool {
        self.transmitter.fixed().is_some() && self.ingress.is_none() && self.station.is_none()
    }

    /// The arrival time and the size in bytes of the first packet.
    pub(crate) fn head_arrives(&self, store: &PacketStore) -> Option<(Instant, u32)> {
        let arrives = self.flight.next_arrival(store)?;
        Some((Instant::from_nanos(arrives), self.flight.front(store)?.size))
    }

    /// The time at which a link of fixed rate has sent all accepted packets.
    pub(crate) fn free_at(&self) -> Instant {
        self.transmitter.fixed().map_or(Instant::ZERO, |fixed| Instant::from_nanos(fixed.free_at))
    }

    /// The time of the first bit of a packet whose last bit is sent at `ends`, if the link shares its air.
    pub(crate) fn air_begins(&self, ends: Instant, size: u32) -> Option<Instant> {
        self.ingress.as_ref()?.air.as_ref()?;
        let time = self.rate(ends).time_for(Bytes::new(u64::from(size)));
        Some(Instant::ZERO + (ends - Instant::ZERO).saturating_sub(time))
    }

    /// The buffer of the link.
    #[must_use]
    pub fn buffer(&self) -> Buffer {
        self.buffer
    }

    /// The rate of the next transmission; 0 in low power.
    #[must_use]
    pub fn rate(&self, now: Instant) -> BitRate {
        match &self.transmitter {
            Transmitter::Fixed(fixed) => fixed.serialiser.rate(),
            Transmitter::Dozing(_) if self.low_power(now).is_some_and(|(_, is_low)| is_low) => BitRate::default(),
            Transmitter::Dozing(dozing) => dozing.fixed.serialiser.rate(),
            Transmitter::Variable(variable) => variable.line.rate(),
        }
    }

    /// Packets in the queue at `now`.
    #[must_use]
    pub fn waiting_packets(&self, now: Instant) -> u64 {
        match &self.transmitter {
            Transmitter::Fixed(_) | Transmitter::Dozing(_) => {
                let waiting = self.backlog.iter().flat_map(|backlog| backlog.waiting.iter());
                waiting.filter(|entry| entry.starts > now.as_nanos()).count() as u64
            }
            Transmitter::Variable(variable) => variable.line.waiting_packets(),
        }
    }

    /// The backlog and the packet in service for a rate controller. Only links with a variable rate have a controller.
    #[must_use]
    pub fn queue_view(&self) -> QueueView {
        self.variable().map_or(QueueView::EMPTY, |variable| variable.line.view())
    }

    /// The number of propagating packets.
    #[must_use]
    pub fn propagating(&self) -> u64 {
        self.flight.pushed() - self.flight.popped()
    }

    /// Every packet on the link: in the queue, in service or propagating.
    pub fn packets<'a>(&'a self, store: &'a PacketStore) -> impl Iterator<Item = Packet> + 'a {
        let held = self.variable().into_iter().flat_map(|variable| variable.line.packets().copied());
        self.flight.iter(store).map(|(_, packet)| *packet).chain(held)
    }

    /// Changes every packet on the link.
    pub(crate) fn for_each(&mut self, mut change: impl FnMut(&mut Packet), store: &mut PacketStore) {
        self.flight.for_each(&mut change, store);
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.line.for_each(change);
        }
    }

    #[inline]
    fn schedule_head(&self, schedule: &mut Schedule, store: &PacketStore) {
        if let Some(arrives) = self.flight.next_arrival(store) {
            schedule.add(self.delivery, Instant::from_nanos(arrives));
        }
    }
}
