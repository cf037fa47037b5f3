//! A second, independent model of every link that follows every packet during the run.
//!
//! It knows only the rules of a link:
//!
//! - Packets leave in the order of their arrivals, and drop-tail acts at the buffer's limit.
//! - Early drops and marks occur only with queue management: for RED not before the queue has reached min_th, for
//!   CoDel not before TARGET.
//! - Unless losses are random, only scripted losses occur, or those of a policer.
//! - Packets overtake others only by scripted delays, or by noise that may reorder them. Batches have their times.
//! - No bit is early.
//!
//! For a link of fixed rate, times are computed exactly from the start of each busy period. They must agree to the
//! nanosecond. A link that schedules its departures must not exceed its highest rate. Only a link with noise may
//! deliver packets later. The order of departures has no effect on that of overtaken packets.

use super::Findings;
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, FlowId, LinkId, NodeId};
use crate::net::link::{Admission, LinkCounters};
use netlull_network::arrival::ArrivalModel;
use netlull_network::loss::{LossModel, Policer};
use netlull_network::queue::red::{QueueUnit, RedEcn};
use netlull_network::queue::{Buffer, QueueModel};
use netlull_network::trace::Trace;
use netlull_units::{BitRate, Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The properties of a link for the model.
#[derive(Clone, Debug)]
pub struct ReplayLink {
    /// Name, for messages.
    pub name: String,
    /// The rate, or the maximum rate.
    pub rate: BitRate,
    /// The bytes on the wire that each packet has in addition to its size.
    pub overhead: u32,
    /// Propagation delay.
    pub delay: Duration,
    /// Buffer.
    pub buffer: Buffer,
    /// The queue management.
    pub queue: QueueModel,
    /// True if departures are scheduled instead of computed ahead.
    pub scheduled: bool,
    /// The loss model.
    pub loss: Option<LossModel>,
    /// The laws of arrivals.
    pub arrival: ArrivalModel,
    /// The index of the air that it shares with other links.
    pub air: Option<usize>,
    /// The trace of delivery opportunities that it follows.
    pub trace: Option<Arc<Trace>>,
}

impl ReplayLink {
    /// The bits of a packet on the wire.
    fn bits(&self, size: u32) -> u128 {
        (u128::from(size) + u128::from(self.overhead)) * 8
    }

    /// Returns true if only bounds of arrivals are known.
    fn is_loose(&self) -> bool {
        self.arrival.noise.is_some() || (self.scheduled && !self.arrival.is_empty())
    }

    /// The arrival of a packet that leaves the transmitter at `departs` and is late by `late`, without noise.
    fn arrives(&self, departs: u64, late: u64) -> u64 {
        let alone = departs.saturating_add(self.delay.as_nanos()).saturating_add(late);
        let Some(batches) = &self.arrival.aggregation else { return alone };
        let (first, period) = (batches.start.as_nanos(), batches.period.as_nanos());
        if alone <= first {
            alone
        } else {
            first.saturating_add((alone - first).div_ceil(period).saturating_mul(period))
        }
    }

    /// Returns true if a packet may arrive at `now`: from the first batch on, there are only batches.
    fn delivers_at(&self, now: u64) -> bool {
        self.arrival.aggregation.is_none_or(|batches| {
            now.checked_sub(batches.start.as_nanos())
                .is_none_or(|since| since.is_multiple_of(batches.period.as_nanos()))
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Shadow {
    agent: AgentId,
    segment: netlull_tcp::Segment,
    size: u32,
    offered: u64,
    starts: u64,
    departs: u64,
    /// Its number among the sent packets of its flow, on a link with late packets.
    number: u64,
}

impl Shadow {
    fn packet(&self) -> Packet {
        Packet { segment: self.segment, agent: self.agent, size: self.size, destination: NodeId::default() }
    }

    /// Returns true if `packet` is this packet, with a mark if it was `marked` here.
    fn is(&self, packet: &Packet, marked: bool) -> bool {
        let mut own = self.packet();
        if marked {
            own.mark();
        }
        (own.agent, own.segment, own.size) == (packet.agent, packet.segment, packet.size)
    }
}

/// The queueing delays on a link, in nanoseconds. For a link that schedules its departures they are bounds, because the
/// start of a transmission after a pause is unknown.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    /// Packets whose transmission has certainly begun.
    begun: u64,
    /// The sum of their delays, at least.
    least: u128,
    /// The sum of the delays of all packets, at most.
    most: u128,
    /// The integral of the queue.
    queued: u128,
}

struct Line {
    link: ReplayLink,
    held: VecDeque<Shadow>,
    /// The number of packets at the end of `held` that are in the queue, and their bytes.
    waiting: (usize, u64),
    busy_from: u64,
    busy_bits: u128,
    last_departure: u64,
    /// The largest queue at an arrival, in packets and in bytes.
    most: (usize, u64),
    waits: Waits,
    /// Packets marked here and delivered.
    marked: u64,
    /// Packets of each flow offered so far, for scripted losses.
    offered: BTreeMap<FlowId, u64>,
    /// Packets of each flow sent or accepted so far, for late packets.
    numbered: BTreeMap<FlowId, u64>,
    /// On a link of fixed rate where packets overtake others: those that have left the transmitter.
    flying: Vec<Shadow>,
    /// On a link with a trace: the index of the next opportunity, and the start of its round in nanoseconds.
    opportunity: (usize, u64),
    /// There, the packets of `held` that are delivered whole, and the bytes that the next one lacks, if it has begun.
    served: (usize, u64),
    /// The missing tokens of a policer's bucket, in bit nanoseconds, and their time.
    debt: (u128, u64),
    /// True if the link sleeps or is waking.
    asleep: bool,
    /// Packets lost when the link fell asleep.
    stranded: u64,
}

/// An air that links share: at any time it carries one packet at most.
#[derive(Clone, Copy)]
struct SharedAir {
    overhead: u64,
    /// The end of the last transmission.
    free: u64,
}

/// The model of a run.
pub struct Replay {
    lines: Vec<Line>,
    airs: Vec<SharedAir>,
    findings: Findings,
}

impl Replay {
    /// Creates a model with idle links. `overheads` has the time per packet of each shared air.
    #[must_use]
    pub fn new(links: Vec<ReplayLink>, overheads: Vec<Duration>) -> Self {
        let line = |link| Line {
            link,
            held: VecDeque::new(),
            waiting: (0, 0),
            busy_from: 0,
            busy_bits: 0,
            last_departure: 0,
            most: (0, 0),
            waits: Waits::default(),
            marked: 0,
            offered: BTreeMap::new(),
            numbered: BTreeMap::new(),
            flying: Vec::new(),
            opportunity: (0, 0),
            served: (0, 0),
            debt: (0, 0),
            asleep: false,
            stranded: 0,
        };
        let air = |overhead: Duration| SharedAir { overhead: overhead.as_nanos(), free: 0 };
        Self {
            lines: links.into_iter().map(line).collect(),
            airs: overheads.into_iter().map(air).collect(),
            findings: Findings::default(),
        }
    }

    /// Checks a link's decision on an offered packet.
    pub fn offered(&mut self, now: Instant, link: LinkId, packet: &Packet, admission: Admission) {
        let line = &mut self.lines[link.index()];
        let air = line.link.air.and_then(|air| self.airs.get_mut(air));
        let asleep = admission == Admission::Asleep;
        self.findings.check(line.asleep == asleep, &line.link.name, || {
            format!("{admission:?} a packet at {now}, but is {}", if line.asleep { "asleep" } else { "awake" })
        });
        if asleep {
            return;
        }
        let lost = admission == Admission::Lost;
        self.findings.check(
            line.may_lose(now.as_nanos(), packet).is_none_or(|loses| loses == lost),
            &line.link.name,
            || {
                format!(
                    "{admission:?} a packet of flow {} at {now}, but its losses say otherwise",
                    packet.agent.flow().number()
                )
            },
        );
        if lost {
            return;
        }
        line.serve(now.as_nanos());
        let holds = if line.link.scheduled {
            admission != Admission::DroppedEarly || matches!(line.link.queue, QueueModel::Red(_))
        } else {
            let admits = line.admits(now.as_nanos(), packet.size, air.as_deref());
            match admission {
                Admission::DroppedEarly => line.may_drop_early(),
                decided => admits == (decided == Admission::Accepted),
            }
        };
        self.findings.check(holds, &line.link.name, || {
            format!("{admission:?} a packet of {} B at {now}, but its queue disagrees", packet.size)
        });
        if admission == Admission::Accepted {
            line.accept(now.as_nanos(), packet, air);
        }
    }

    /// Checks a packet that has reached the far end of a link.
    pub fn delivered(&mut self, now: Instant, link: LinkId, packet: &Packet) {
        let line = &mut self.lines[link.index()];
        line.serve(now.as_nanos().saturating_sub(line.link.delay.as_nanos()));
        let Some(head) = line.take(now.as_nanos(), packet) else {
            self.findings.check(false, &line.link.name, || format!("delivered at {now} a packet that it never held"));
            return;
        };
        let marked = packet.is_marked() && !head.packet().is_marked();
        self.findings.check(!marked || line.may_mark(&head.packet()), &line.link.name, || {
            format!("marked {:?}, but it may not", head.segment)
        });
        line.marked += u64::from(marked);
        let same = head.is(packet, marked);
        self.findings.check(same, &line.link.name, || {
            format!("delivered {:?} at {now}, but {:?} was first in line", packet.segment, head.segment)
        });
        let departed = now.as_nanos().saturating_sub(line.link.delay.as_nanos());
        if let Err(problem) = line.is_in_time(&head, now.as_nanos(), departed) {
            self.findings.check(false, &line.link.name, || problem);
        }
        line.leaves(&head, departed);
        // Departures never wait for late packets.
        if line.link.scheduled {
            line.last_departure = departed;
        } else if !line.link.arrival.reorders() {
            line.last_departure = head.departs;
        }
    }

    /// Checks a packet dropped at its departure from the queue, behind `propagating` packets.
    pub fn discarded(&mut self, now: Instant, link: LinkId, packet: &Packet, propagating: u64) {
        let line = &mut self.lines[link.index()];
        let first = usize::try_from(propagating).ok().and_then(|sent| line.held.remove(sent));
        let Some(shadow) = first.filter(|shadow| shadow.is(packet, false)) else {
            self.findings.check(false, &line.link.name, || {
                format!("dropped {:?} at {now}, which was not first in line", packet.segment)
            });
            return;
        };
        // On these links, a shadow's time is the time of its offer.
        let waited = Duration::from_nanos(now.as_nanos() - shadow.starts);
        if let Some(count) = line.numbered.get_mut(&shadow.agent.flow()) {
            *count -= 1;
            let sent = usize::try_from(propagating).unwrap_or(usize::MAX);
            let later = line.held.iter_mut().skip(sent).filter(|later| later.agent.flow() == shadow.agent.flow());
            later.for_each(|later| later.number -= 1);
        }
        let may = matches!(line.link.queue, QueueModel::CoDel(config) if waited >= config.target);
        self.findings.check(may, &line.link.name, || {
            format!("dropped {:?} at {now}, which had waited only {waited}", packet.segment)
        });
    }

    /// Records that a link has fallen asleep and lost its packets.
    pub fn fell_asleep(&mut self, now: Instant, link: LinkId) {
        let line = &mut self.lines[link.index()];
        line.stay(now.as_nanos());
        line.stranded += (line.held.len() + line.flying.len()) as u64;
        line.held.clear();
        line.flying.clear();
        line.waiting = (0, 0);
        line.asleep = true;
    }

    /// Records that a link carries packets again.
    pub fn woke(&mut self, link: LinkId) {
        self.lines[link.index()].asleep = false;
    }

    /// Compares the queueing delays up to the end of the run with the links' own sums.
    pub fn check_waits(&mut self, end: Instant, counters: &[LinkCounters]) {
        for (line, counters) in self.lines.iter_mut().zip(counters) {
            line.serve(end.as_nanos());
            line.stay(end.as_nanos());
            line.waited_as_counted(&mut self.findings, counters);
        }
    }

    /// The findings. Marks are compared with the links' own counts.
    #[must_use]
    pub fn into_findings(mut self, counters: &[LinkCounters]) -> Findings {
        for (line, counters) in self.lines.iter().zip(counters) {
            let (marked, held) = (line.marked, (line.held.len() + line.flying.len()) as u64 + line.stranded);
            let holds = (marked..=marked + held).contains(&counters.marked_packets);
            self.findings.check(holds, &line.link.name, || {
                format!(
                    "{marked} of its marks arrived, {held} packets are held or stranded, but it made {}",
                    counters.marked_packets
                )
            });
        }
        self.findings
    }
}

impl Line {
    /// Removes the packet that arrives at `now`. Without overtaking it is the first.
    ///
    /// Of equal packets it is the one that may arrive first: if the packets can be matched with the arrivals at all, they
    /// can so.
    fn take(&mut self, now: u64, packet: &Packet) -> Option<Shadow> {
        if !self.link.arrival.reorders() {
            return self.pop_first();
        }
        if !self.link.scheduled {
            let left = now.saturating_sub(self.link.delay.as_nanos());
            while self.held.front().is_some_and(|first| first.departs <= left) {
                let first = self.pop_first()?;
                self.last_departure = first.departs;
                self.flying.push(first);
            }
        }
        let due = |shadow: &Shadow| self.link.arrives(shadow.departs, self.late(shadow));
        let equal = |shadow: &Shadow| shadow.is(packet, false) || (packet.is_marked() && shadow.is(packet, true));
        let first = |shadows: &mut dyn Iterator<Item = (usize, &Shadow)>| {
            shadows.filter(|(_, shadow)| equal(shadow)).min_by_key(|(_, shadow)| due(shadow)).map(|(place, _)| place)
        };
        if self.link.scheduled {
            let place = first(&mut self.held.iter().enumerate()).unwrap_or_default();
            self.held.remove(place)
        } else {
            let place = first(&mut self.flying.iter().enumerate()).unwrap_or_default();
            (place < self.flying.len()).then(|| self.flying.remove(place))
        }
    }

    /// Performs the opportunities of a trace up to `now`, each with the packets that wait then.
    fn serve(&mut self, now: u64) {
        let Some(trace) = &self.link.trace else { return };
        let times = trace.millis();
        loop {
            let (index, round) = self.opportunity;
            let time = round + times[index] * 1_000_000;
            if time > now {
                return;
            }
            self.opportunity = if index + 1 < times.len() { (index + 1, round) } else { (0, time) };
            let mut opportunity = 1504;
            while opportunity > 0
                && let Some(shadow) = self.held.get_mut(self.served.0)
            {
                if self.served.1 == 0 {
                    (shadow.starts, self.served.1) = (time, u64::from(shadow.size) + 4);
                }
                let taken = self.served.1.min(opportunity);
                opportunity -= taken;
                self.served.1 -= taken;
                if self.served.1 == 0 {
                    (shadow.departs, self.served.0) = (time, self.served.0 + 1);
                }
            }
        }
    }

    fn pop_first(&mut self) -> Option<Shadow> {
        let first = self.held.pop_front()?;
        self.served.0 = self.served.0.saturating_sub(1);
        if self.waiting.0 > self.held.len() {
            self.waiting = (self.held.len(), self.waiting.1 - u64::from(first.size));
        }
        Some(first)
    }

    /// The scripted delay of a packet in nanoseconds.
    fn late(&self, shadow: &Shadow) -> u64 {
        let flow = shadow.agent.flow().number();
        let scripts = self.link.arrival.late.iter().filter(|late| late.flow == flow);
        let found = scripts.flat_map(|late| &late.packets).find(|(number, _)| *number == shadow.number);
        found.map_or(0, |(_, by)| by.as_nanos())
    }

    /// Adds the queueing delay of a packet that is delivered.
    fn leaves(&mut self, head: &Shadow, departed: u64) {
        let (least, most) = if self.link.scheduled {
            let sent = self.link.bits(head.size) * 1_000_000_000 / u128::from(self.link.rate.as_bps());
            let inside = u128::from(departed.saturating_sub(head.offered));
            // Departures are rounded down.
            (self.last_departure.saturating_sub(head.offered).into(), (inside + 1).saturating_sub(sent))
        } else {
            let waited = u128::from(head.starts - head.offered);
            (waited, waited)
        };
        self.waits.begun += 1;
        self.waits.least += least;
        self.waits.most += most;
        self.waits.queued += least;
    }

    /// Adds the queueing delays of the packets on the link up to `now`.
    fn stay(&mut self, now: u64) {
        for shadow in self.held.iter().chain(&self.flying) {
            let so_far = u128::from(now.min(shadow.starts).saturating_sub(shadow.offered));
            if self.link.scheduled {
                self.waits.most += u128::from(now.saturating_sub(shadow.offered));
            } else {
                self.waits.queued += so_far;
                if shadow.starts <= now {
                    self.waits.begun += 1;
                    self.waits.least += so_far;
                    self.waits.most += so_far;
                }
            }
        }
    }

    /// Compares the queueing delays with the link's own sums. Late packets hide the departures of a link that schedules
    /// them.
    fn waited_as_counted(&self, findings: &mut Findings, counters: &LinkCounters) {
        let LinkCounters { waited_ns, queued_ns, served_packets, .. } = *counters;
        let Waits { begun, least, most, queued } = self.waits;
        if self.link.scheduled && self.link.is_loose() {
            return;
        }
        let holds = (least..=most).contains(&waited_ns)
            && if self.link.scheduled {
                begun <= served_packets && queued <= queued_ns
            } else {
                (begun, queued) == (served_packets, queued_ns)
            };
        findings.check(holds, &self.link.name, || {
            format!(
                "{served_packets} packets waited {waited_ns} ns, and its queue has {queued_ns} packet ns; expected {begun} \
                 packets, {least} to {most} ns and {queued} packet ns"
            )
        });
    }

    /// Returns true if the link loses the next packet; `None` if losses are random.
    fn may_lose(&mut self, now: u64, packet: &Packet) -> Option<bool> {
        let flow = packet.agent.flow();
        match &self.link.loss {
            None => Some(false),
            Some(LossModel::Bernoulli(_) | LossModel::GilbertElliott(_)) => None,
            Some(LossModel::Scripted(drops)) => {
                let number = self.offered.entry(flow).or_insert(0);
                *number += 1;
                Some(drops.iter().any(|script| script.flow == flow.number() && script.packets.contains(number)))
            }
            // The leaky bucket as a meter: the complement of the token bucket.
            Some(LossModel::Policer(Policer { rate, burst, start })) => {
                if now < start.as_nanos() {
                    return Some(false);
                }
                let (debt, since) = self.debt;
                let paid = u128::from(now - since.max(start.as_nanos())) * u128::from(rate.as_bps());
                let [burst, size] = [burst.as_u64(), packet.size.into()].map(|bytes| u128::from(bytes) * 8_000_000_000);
                let wanted = debt.saturating_sub(paid) + size;
                let loses = wanted > burst;
                self.debt = (if loses { wanted - size } else { wanted }, now);
                Some(loses)
            }
        }
    }

    /// Checks that a packet was sent neither too early nor too late. `departed` is its departure as it seems without laws
    /// of arrivals.
    fn is_in_time(&self, head: &Shadow, now: u64, departed: u64) -> Result<(), String> {
        if !self.link.delivers_at(now) {
            return Err(format!("delivered a packet at {now} ns, which is not the time of a batch"));
        }
        let (late, loose) = (self.late(head), self.link.is_loose());
        if !self.link.scheduled {
            let arrives = self.link.arrives(head.departs, late);
            let holds = if loose { now >= arrives } else { now == arrives };
            return if holds {
                Ok(())
            } else {
                let exact = arrives.saturating_sub(self.link.delay.as_nanos());
                Err(format!("sent a packet's last bit at {departed} ns, but exact arithmetic says {exact} ns"))
            };
        }
        // Departures are rounded down to a nanosecond, so two may be too close by one. Late packets may arrive
        // together.
        let begins = if loose { head.starts.saturating_add(late) } else { self.last_departure.max(head.starts) };
        let least = self.link.bits(head.size) * 1_000_000_000 / u128::from(self.link.rate.as_bps());
        let gap = u128::from(departed.saturating_sub(begins));
        if gap + 1 >= least {
            Ok(())
        } else {
            Err(format!("sent {} B within {gap} ns, faster than {}", head.size, self.link.rate))
        }
    }

    /// Returns true if RED may drop: an average does not exceed its largest sample.
    #[allow(clippy::cast_precision_loss)]
    fn may_drop_early(&self) -> bool {
        let QueueModel::Red(config) = &self.link.queue else { return false };
        let most = match config.unit {
            QueueUnit::Packets => self.most.0 as f64,
            QueueUnit::Bytes => self.most.1 as f64,
        };
        most >= config.min_threshold
    }

    /// Returns true if the link may mark a packet.
    fn may_mark(&self, packet: &Packet) -> bool {
        let marks = match &self.link.queue {
            QueueModel::DropTail => false,
            QueueModel::Red(config) => config.ecn != RedEcn::Off,
            QueueModel::CoDel(config) => config.ecn,
        };
        marks && packet.can_be_marked()
    }

    /// Decides whether drop-tail accepts a packet, with this model's own count and comparison.
    fn admits(&mut self, now: u64, size: u32, air: Option<&SharedAir>) -> bool {
        while self.waiting.0 > 0 {
            let first = self.held[self.held.len() - self.waiting.0];
            if first.starts > now {
                break;
            }
            self.waiting = (self.waiting.0 - 1, self.waiting.1 - u64::from(first.size));
        }
        self.most = (self.most.0.max(self.waiting.0), self.most.1.max(self.waiting.1));
        let idle = match air {
            // With a trace, a packet waits for an opportunity even if it is the only one.
            _ if self.link.trace.is_some() => false,
            Some(air) => air.free <= now,
            None => self.held.back().is_none_or(|last| last.departs <= now),
        };
        idle || match self.link.buffer {
            Buffer::Packets(limit) => (self.waiting.0 as u64) < limit,
            Buffer::Bytes(limit) => self.waiting.1 + u64::from(size) <= limit.as_u64(),
            Buffer::Unlimited => true,
        }
    }

    fn accept(&mut self, now: u64, packet: &Packet, air: Option<&mut SharedAir>) {
        let (starts, departs) = match air {
            Some(air) => air.carry(now, packet.size, self.link.rate),
            None => self.times(now, packet.size),
        };
        let number = if self.link.arrival.late.is_empty() {
            0
        } else {
            let count = self.numbered.entry(packet.agent.flow()).or_insert(0);
            *count += 1;
            *count
        };
        if starts > now {
            self.waiting = (self.waiting.0 + 1, self.waiting.1 + u64::from(packet.size));
        }
        self.held.push_back(Shadow {
            agent: packet.agent,
            segment: packet.segment,
            size: packet.size,
            offered: now,
            starts,
            departs,
            number,
        });
    }

    /// The start and the end of the next transmission, from the start of the busy period. For a link that schedules
    /// its departures, both are `now`.
    fn times(&mut self, now: u64, size: u32) -> (u64, u64) {
        if self.link.scheduled {
            return (now, now);
        }
        if self.link.trace.is_some() {
            // Until an opportunity comes.
            return (u64::MAX, u64::MAX);
        }
        let last = self.held.back().map_or(self.last_departure, |shadow| shadow.departs);
        if now > last {
            (self.busy_from, self.busy_bits) = (now, 0);
        }
        self.busy_bits += self.link.bits(size);
        let busy = self.busy_bits * 1_000_000_000 / u128::from(self.link.rate.as_bps());
        (now.max(last), self.busy_from + u64::try_from(busy).unwrap_or(u64::MAX))
    }
}

impl SharedAir {
    /// The start and the end of the next transmission, at the rate of its link.
    fn carry(&mut self, now: u64, size: u32, rate: BitRate) -> (u64, u64) {
        let starts = now.max(self.free);
        let (bits, rate) = (u128::from(size) * 8_000_000_000, u128::from(rate.as_bps()));
        let whole = bits / rate + u128::from(!bits.is_multiple_of(rate));
        self.free = starts + self.overhead + u64::try_from(whole).unwrap_or(u64::MAX);
        (starts, self.free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_network::arrival::{Aggregation, LatePackets};
    use netlull_network::loss::ScriptedDrops;
    use netlull_network::noise::NoiseModel;
    use netlull_network::queue::codel::CoDelConfig;
    use netlull_network::queue::red::{RedConfig, RedProbability, RedRules};
    use netlull_tcp::{Flags, Segment, SeqNr};
    use netlull_units::Bytes;

    /// A link of 12 Mb/s: 1500 B take 1 ms.
    fn replay(queue: QueueModel, loss: Option<LossModel>) -> Replay {
        Replay::new(
            vec![ReplayLink {
                name: "a-b".to_owned(),
                rate: BitRate::from_mbps(12),
                overhead: 0,
                delay: Duration::ZERO,
                buffer: Buffer::Packets(2),
                scheduled: matches!(queue, QueueModel::CoDel(_)),
                queue,
                loss,
                arrival: ArrivalModel::default(),
                air: None,
                trace: None,
            }],
            Vec::new(),
        )
    }

    fn noisy(queue: QueueModel) -> Replay {
        let mut replay = replay(queue, None);
        let noise = Some(NoiseModel { mean: Duration::from_millis(1), shape: 1.0, reorder: false });
        replay.lines[0].link.arrival = ArrivalModel { noise, ..ArrivalModel::default() };
        replay
    }

    fn red(min_threshold: f64) -> QueueModel {
        QueueModel::Red(RedConfig {
            unit: QueueUnit::Packets,
            min_threshold,
            max_threshold: 3.0 * min_threshold,
            max_probability: 0.1,
            weight: 0.002,
            gentle: true,
            probability: RedProbability::PerPacket,
            rules: RedRules::Paper,
            mean_packet: 1500,
            largest_packet: 1500,
            ecn: RedEcn::Early,
        })
    }

    fn codel() -> QueueModel {
        let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
        QueueModel::CoDel(CoDelConfig { target, interval, largest_packet: 1500, ecn: false })
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn packet(flags: Flags) -> Packet {
        Packet {
            segment: Segment { flags, ..Segment::default() },
            agent: AgentId::new(1),
            size: 1500,
            ..Packet::default()
        }
    }

    /// The only link.
    const LINK: LinkId = LinkId::numbered(0);

    /// The findings if `admissions` are offered at once and `then` happens.
    fn found(mut replay: Replay, admissions: &[Admission], then: impl Fn(&mut Replay)) -> String {
        for &admission in admissions {
            replay.offered(Instant::ZERO, LINK, &packet(Flags::ECT), admission);
        }
        then(&mut replay);
        let findings = replay.into_findings(&[LinkCounters::default()]);
        findings.violations().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_a_link_promises_passes() {
        let script = LossModel::Scripted(vec![ScriptedDrops { flow: 0, packets: vec![2] }]);
        let (taken, lost) = (Admission::Accepted, Admission::Lost);
        assert_eq!(found(replay(QueueModel::DropTail, Some(script)), &[taken, lost, taken], |_| {}), "");
        let dropped = [taken, taken, taken, Admission::Dropped];
        assert_eq!(found(replay(QueueModel::DropTail, None), &dropped, |_| {}), "");
        let early = [taken, taken, taken, Admission::DroppedEarly];
        assert_eq!(found(replay(red(2.0), None), &early, |_| {}), "");
        let discard = |replay: &mut Replay| replay.discarded(at(5), LINK, &packet(Flags::ECT), 1);
        assert_eq!(found(replay(codel(), None), &[taken, taken], discard), "");
        // The same packet twice: one is sent and arrives, the other is discarded.
        let twin = |replay: &mut Replay| {
            discard(replay);
            replay.delivered(at(9), LINK, &packet(Flags::ECT));
        };
        assert_eq!(found(replay(codel(), None), &[taken, taken], twin), "");
    }

    #[test]
    fn waits_that_a_link_counts_wrongly_are_found() {
        // Three packets at once, 1 ms each. At 1.5 ms the second is in service and has waited 1 ms; the third waits.
        let found = |queue: QueueModel, served_packets: u64, waited_us: u128, queued_us: u128| {
            let mut replay = replay(queue, None);
            for _ in 0..3 {
                replay.offered(Instant::ZERO, LINK, &packet(Flags::ECT), Admission::Accepted);
            }
            replay.delivered(at(1), LINK, &packet(Flags::ECT));
            let (waited_ns, queued_ns) = (1000 * waited_us, 1000 * queued_us);
            let counters = [LinkCounters { served_packets, waited_ns, queued_ns, ..LinkCounters::default() }];
            replay.check_waits(Instant::ZERO + Duration::from_micros(1500), &counters);
            replay.into_findings(&counters).violations().len()
        };
        assert_eq!(found(QueueModel::DropTail, 2, 1000, 2500), 0);
        assert_eq!(found(QueueModel::DropTail, 3, 3000, 2500), 1);
        assert_eq!(found(QueueModel::DropTail, 2, 999, 2500), 1);
        assert_eq!(found(QueueModel::DropTail, 2, 1000, 0), 1);
        assert_eq!(found(codel(), 2, 1000, 2500), 0);
        // At most 1.5 ms each for the two packets on the link, and 1 ns of rounding.
        assert_eq!(found(codel(), 2, 3001, 3001), 1);
        assert_eq!(found(codel(), 0, 0, 0), 1);
    }

    #[test]
    fn only_a_link_with_noise_is_late_and_none_is_early() {
        let twice = [Admission::Accepted; 2];
        let arrivals = |first, second| {
            move |replay: &mut Replay| {
                replay.delivered(at(first), LINK, &packet(Flags::ECT));
                replay.delivered(at(second), LINK, &packet(Flags::ECT));
            }
        };
        // Packets sent at 1 and 2 ms.
        assert_eq!(found(replay(QueueModel::DropTail, None), &twice, arrivals(1, 2)), "");
        assert_eq!(found(noisy(QueueModel::DropTail), &twice, arrivals(1, 2)), "");
        assert_eq!(found(noisy(QueueModel::DropTail), &twice, arrivals(7, 7)), "");
        assert_eq!(found(noisy(codel()), &twice, arrivals(7, 7)), "");
        let (late, early) = ("at 3000000 ns, but exact arithmetic says 2000000 ns", "at 1000000 ns, but exact");
        assert!(found(replay(QueueModel::DropTail, None), &twice, arrivals(1, 3)).contains(late));
        assert!(found(noisy(QueueModel::DropTail), &twice, arrivals(1, 1)).contains(early));
        assert!(found(noisy(codel()), &twice, arrivals(0, 2)).contains("within 0 ns, faster than"));
        assert!(found(replay(codel(), None), &twice, arrivals(7, 7)).contains("within 0 ns, faster than"));
    }

    #[test]
    fn a_policer_that_takes_too_much_or_too_little_is_found() {
        // 12 Mb/s and 3000 B: two packets of 1500 B at once, and one each ms.
        let policer = Policer { rate: BitRate::from_mbps(12), burst: Bytes::new(3000), start: Duration::ZERO };
        let found = |at_once: &[Admission], later: Admission| {
            found(replay(QueueModel::DropTail, Some(LossModel::Policer(policer))), at_once, |replay| {
                replay.offered(at(1), LINK, &packet(Flags::ECT), later);
            })
        };
        let (taken, lost) = (Admission::Accepted, Admission::Lost);
        assert_eq!(found(&[taken, taken, lost], taken), "");
        for wrong in [found(&[taken, lost], taken), found(&[taken; 3], taken), found(&[taken, taken], lost)] {
            assert!(wrong.contains("its losses say otherwise"), "{wrong}");
        }
    }

    /// Three packets at once, sent at 1, 2 and 3 ms, on a link with these laws. They differ in their sequence numbers, and
    /// arrive in the order and at the times of `arrivals`.
    fn found_with(arrival: &ArrivalModel, queue: QueueModel, arrivals: &[(u32, u64)]) -> String {
        let mut replay = replay(queue, None);
        replay.lines[0].link.arrival = arrival.clone();
        let numbered = |number: u32| {
            let segment = Segment { seq: SeqNr::new(number), flags: Flags::ECT, ..Segment::default() };
            Packet { segment, ..packet(Flags::ECT) }
        };
        for number in 1..=3 {
            replay.offered(Instant::ZERO, LINK, &numbered(number), Admission::Accepted);
        }
        for &(number, millis) in arrivals {
            replay.delivered(at(millis), LINK, &numbered(number));
        }
        let findings = replay.into_findings(&[LinkCounters::default()]);
        findings.violations().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn only_late_packets_are_overtaken_and_each_by_its_delay() {
        let late = vec![LatePackets { flow: 0, packets: vec![(1, Duration::from_millis(4))] }];
        let late = ArrivalModel { late, ..ArrivalModel::default() };
        let has = |text: &str, found: String| assert!(found.contains(text), "{text:?} not in {found:?}");
        assert_eq!(found_with(&late, QueueModel::DropTail, &[(2, 2), (3, 3), (1, 5)]), "");
        assert_eq!(found_with(&late, codel(), &[(2, 2), (3, 3), (1, 5)]), "");
        let exact = "at 1000000 ns, but exact arithmetic says 5000000 ns";
        has(exact, found_with(&late, QueueModel::DropTail, &[(1, 1), (2, 2), (3, 3)]));
        has(
            exact.replace("1000000", "6000000").as_str(),
            found_with(&late, QueueModel::DropTail, &[(2, 2), (3, 3), (1, 6)]),
        );
        has("faster than", found_with(&late, codel(), &[(1, 1), (2, 2), (3, 3)]));
        has("was first in line", found_with(&ArrivalModel::default(), QueueModel::DropTail, &[(2, 2)]));
        let noise = |reorder| {
            let noise = Some(NoiseModel { mean: Duration::from_millis(1), shape: 1.0, reorder });
            ArrivalModel { noise, ..ArrivalModel::default() }
        };
        assert_eq!(found_with(&noise(true), QueueModel::DropTail, &[(3, 3), (1, 4), (2, 4)]), "");
        has("was first in line", found_with(&noise(false), QueueModel::DropTail, &[(2, 3)]));
        has("was first in line", found_with(&noise(true), QueueModel::DropTail, &[(2, 2), (3, 2)]));
    }

    #[test]
    fn a_batch_that_comes_at_another_time_is_found() {
        let aggregation = Some(Aggregation { period: Duration::from_millis(2), start: Duration::ZERO });
        let batches = ArrivalModel { aggregation, ..ArrivalModel::default() };
        assert_eq!(found_with(&batches, QueueModel::DropTail, &[(1, 2), (2, 2), (3, 4)]), "");
        assert_eq!(found_with(&batches, codel(), &[(1, 2), (2, 2), (3, 4)]), "");
        for queue in [QueueModel::DropTail, codel()] {
            let found = found_with(&batches, queue, &[(1, 1)]);
            assert!(found.contains("at 1000000 ns, which is not the time of a batch"), "{found}");
        }
        let found = found_with(&batches, QueueModel::DropTail, &[(1, 4)]);
        assert!(found.contains("exact arithmetic says 2000000 ns"), "{found}");
        assert!(found_with(&batches, codel(), &[(1, 0)]).contains("faster than"));
    }

    #[test]
    fn a_packet_that_another_opportunity_delivers_is_found() {
        // Opportunities at 1, 4, 4, 5, 8, 8 ms ... Packets of 1500 B take one each. The buffer has 3.
        let found = |admitted: &[Admission], arrivals: &[u64]| {
            let mut replay = replay(QueueModel::DropTail, None);
            replay.lines[0].link.trace = Trace::new(vec![1, 4, 4]).map(Arc::new);
            replay.lines[0].link.buffer = Buffer::Packets(3);
            found(replay, admitted, |replay| {
                arrivals.iter().for_each(|&millis| replay.delivered(at(millis), LINK, &packet(Flags::ECT)));
            })
        };
        let (taken, dropped) = (Admission::Accepted, Admission::Dropped);
        assert_eq!(found(&[taken, taken, taken, dropped], &[1, 4, 4]), "");
        assert!(found(&[taken; 4], &[]).contains("its queue disagrees"));
        assert!(found(&[taken, taken, dropped], &[]).contains("its queue disagrees"));
        let late = found(&[taken, taken], &[1, 5]);
        assert!(late.contains("at 5000000 ns, but exact arithmetic says 4000000 ns"), "{late}");
        assert!(found(&[taken, taken], &[1, 3]).contains("but exact arithmetic says"));
    }

    /// Two links with one air. A packet takes 1 ms and the overhead.
    fn on_one_air(overhead: Duration, buffer: u64) -> Replay {
        let line = |name: &str| {
            let link = replay(QueueModel::DropTail, None).lines.remove(0).link;
            ReplayLink { name: name.to_owned(), air: Some(0), buffer: Buffer::Packets(buffer), ..link }
        };
        Replay::new(vec![line("a-b"), line("a-c")], vec![overhead])
    }

    #[test]
    fn an_air_with_two_transmissions_at_once_is_found() {
        // One packet is offered to each link at 0, the second one with this decision. They arrive at these times.
        let found = |overhead: u64, buffer: u64, second: Admission, arrivals: [u64; 2]| {
            let mut replay = on_one_air(Duration::from_micros(overhead), buffer);
            let links = [LinkId::numbered(0), LinkId::numbered(1)];
            replay.offered(Instant::ZERO, links[0], &packet(Flags::ECT), Admission::Accepted);
            replay.offered(Instant::ZERO, links[1], &packet(Flags::ECT), second);
            for (link, micros) in links.into_iter().zip(arrivals) {
                let now = Instant::ZERO + Duration::from_micros(micros);
                if link == links[0] || second == Admission::Accepted {
                    replay.delivered(now, link, &packet(Flags::ECT));
                }
            }
            let findings = replay.into_findings(&[LinkCounters::default(), LinkCounters::default()]);
            findings.violations().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        let (taken, dropped) = (Admission::Accepted, Admission::Dropped);
        assert_eq!(found(0, 2, taken, [1000, 2000]), "");
        assert_eq!(found(500, 2, taken, [1500, 3000]), "");
        assert_eq!(found(0, 0, dropped, [1000, 0]), "");
        let has = |text: &str, found: String| assert!(found.contains(text), "{text:?} not in {found:?}");
        // At the same time, as over two airs; without the overhead; in the other order.
        has("a-c: sent a packet's last bit at 1000000 ns, but exact", found(0, 2, taken, [1000, 1000]));
        has("a-c: sent a packet's last bit at 2500000 ns, but exact", found(500, 2, taken, [1500, 2500]));
        has("a-b: sent a packet's last bit at 2000000 ns, but exact", found(0, 2, taken, [2000, 1000]));
        // A packet that waits for the other link's needs room in its own buffer.
        has(
            "a-c: Accepted a packet of 1500 B at 0.000000000 s, but its queue disagrees",
            found(0, 0, taken, [1000, 2000]),
        );
        has(
            "a-c: Dropped a packet of 1500 B at 0.000000000 s, but its queue disagrees",
            found(0, 2, dropped, [1000, 0]),
        );
    }

    #[test]
    fn every_rule_of_losses_and_queues_finds_its_violation() {
        let (taken, early) = (Admission::Accepted, Admission::DroppedEarly);
        let has = |text: &str, found: String| assert!(found.contains(text), "{text:?} not in {found:?}");
        has("its losses say otherwise", found(replay(QueueModel::DropTail, None), &[Admission::Lost], |_| {}));
        let script = || Some(LossModel::Scripted(vec![ScriptedDrops { flow: 0, packets: vec![1] }]));
        has("its losses say otherwise", found(replay(QueueModel::DropTail, script()), &[taken], |_| {}));
        has("its queue disagrees", found(replay(QueueModel::DropTail, None), &[early], |_| {}));
        has("its queue disagrees", found(replay(QueueModel::DropTail, None), &[taken; 4], |_| {}));
        // At most two packets have waited, so an average of three is impossible.
        has("its queue disagrees", found(replay(red(3.0), None), &[taken, taken, taken, early], |_| {}));
        has("its queue disagrees", found(replay(codel(), None), &[early], |_| {}));
        let soon = |replay: &mut Replay| replay.discarded(at(4), LINK, &packet(Flags::ECT), 1);
        has("which had waited only 4 ms", found(replay(codel(), None), &[taken, taken], soon));
        let unknown = |replay: &mut Replay| replay.discarded(at(9), LINK, &packet(Flags::SYN), 0);
        has("which was not first in line", found(replay(codel(), None), &[taken], unknown));
        let marked = |replay: &mut Replay| replay.delivered(at(1), LINK, &packet(Flags::ECT | Flags::CE));
        has("but it may not", found(replay(QueueModel::DropTail, None), &[taken], marked));
        has("but it may not", found(replay(codel(), None), &[taken], marked));
        // If the link may mark, its count must agree.
        has(
            "1 of its marks arrived, 0 packets are held or stranded, but it made 0",
            found(replay(red(1.0), None), &[taken], marked),
        );
    }
}
