//! A link's counters up to a time, and its sleep.

use super::{Backlog, Link, LinkCounters, Transmitter};
use crate::net::fixed::InQueue;
use crate::net::flight::{Packet, PacketStore};
use netlull_network::schedule::Schedule;
use netlull_units::Instant;

impl Link {
    /// The counters from the start to `now`.
    #[must_use]
    pub fn counters(&self, now: Instant) -> LinkCounters {
        let (tally, in_queue) = (self.tally(), self.in_queue(now));
        let cut_short = self.backlog.as_ref().map_or(0, |backlog| backlog.cut_short);
        // A link that schedules its departures counts accepted packets. Other links count stored packets and packets
        // passed on.
        let (accepted_packets, accepted_bytes) = match &self.transmitter {
            Transmitter::Fixed(_) | Transmitter::Dozing(_) => {
                (self.taken_on_packets + self.flight.pushed(), self.taken_on_bytes + self.stored_bytes)
            }
            Transmitter::Variable(variable) => variable.accepted(),
        };
        LinkCounters {
            // CoDel drops packets that were accepted before.
            offered_packets: accepted_packets + tally.dropped_packets + tally.lost_packets + tally.asleep_packets
                - tally.discarded_packets,
            offered_bytes: accepted_bytes + tally.dropped_bytes + tally.lost_bytes + tally.asleep_bytes
                - tally.discarded_bytes,
            delivered_packets: self.taken_on_packets + self.flight.popped(),
            delivered_bytes: self.taken_on_bytes + self.arrived_bytes,
            served_packets: match &self.transmitter {
                Transmitter::Fixed(_) | Transmitter::Dozing(_) => {
                    accepted_packets + tally.stranded_packets - cut_short - in_queue.packets
                }
                Transmitter::Variable(_) => tally.served_packets,
            },
            waited_ns: tally.waited_ns - in_queue.in_full_ns,
            queued_ns: self.queued_ns(now),
            asleep_ns: tally.asleep_ns + self.asleep_since.map_or(0, |since| now.as_nanos() - since),
            ..tally
        }
    }

    /// The number of packets passed on before their arrival at the far end.
    pub(crate) fn taken_on(&self) -> u64 {
        self.taken_on_packets
    }

    /// The packets that queue management has marked so far.
    pub(crate) fn marked_packets(&self) -> u64 {
        self.backlog.as_ref().map_or(0, |backlog| backlog.tally.marked_packets)
    }

    fn tally(&self) -> LinkCounters {
        self.backlog.as_ref().map_or_else(LinkCounters::default, |backlog| backlog.tally)
    }

    pub(super) fn tally_mut(&mut self) -> &mut LinkCounters {
        &mut self.backlog.get_or_insert_with(Backlog::first).tally
    }

    /// The integral of the number of packets in the queue from the start to `now`, in packet nanoseconds.
    pub(crate) fn queued_ns(&self, now: Instant) -> u128 {
        let (tally, in_queue) = (self.tally(), self.in_queue(now));
        tally.waited_ns - in_queue.in_full_ns + tally.waited_in_vain_ns + in_queue.so_far_ns
    }

    /// The queue at `now`. A link that schedules its departures counts each wait at its end, so the waits that continue
    /// are in none of its sums.
    fn in_queue(&self, now: Instant) -> InQueue {
        match &self.transmitter {
            Transmitter::Fixed(_) | Transmitter::Dozing(_) => self
                .backlog
                .as_ref()
                .map_or_else(InQueue::default, |backlog| InQueue::at(now.as_nanos(), &backlog.waiting)),
            Transmitter::Variable(variable) => InQueue {
                packets: variable.line.waiting_packets(),
                so_far_ns: variable.line.waiting_ns(now),
                in_full_ns: 0,
            },
        }
    }
}

impl Link {
    /// Puts the link to sleep. All its packets are lost and added to `stranded`, in the order of arrival.
    pub fn fall_asleep(
        &mut self,
        now: Instant,
        schedule: &mut Schedule,
        store: &mut PacketStore,
        stranded: &mut Vec<Packet>,
    ) {
        let first = stranded.len();
        self.flight.clear(stranded, store);
        let Backlog { waiting, tally, cut_short } = &mut **self.backlog.get_or_insert_with(Backlog::first);
        match &mut self.transmitter {
            Transmitter::Fixed(fixed) => {
                let ended = InQueue::at(now.as_nanos(), waiting);
                *cut_short += ended.packets;
                tally.waited_ns -= ended.in_full_ns;
                tally.waited_in_vain_ns += ended.so_far_ns;
                fixed.free_at = now.as_nanos();
                fixed.waiting_bytes = 0;
                fixed.serialiser.idle();
                waiting.clear();
            }
            Transmitter::Variable(variable) => variable.fall_asleep(now, stranded, tally, schedule),
            // A link with a controller is refused by [[sleep]].
            Transmitter::Dozing(_) => {}
        }
        schedule.set(self.delivery, Instant::NEVER);
        let lost = &stranded[first..];
        let (packets, bytes) = (lost.len() as u64, lost.iter().map(|packet| u64::from(packet.size)).sum::<u64>());
        match &mut self.transmitter {
            Transmitter::Fixed(_) | Transmitter::Dozing(_) => self.stored_bytes -= bytes,
            Transmitter::Variable(variable) => variable.forget_accepted(packets, bytes),
        }
        tally.stranded_packets += packets;
        tally.asleep_packets += packets;
        tally.asleep_bytes += bytes;
        let ingress = self.ingress.get_or_insert_default();
        ingress.closed = true;
        if let Some(arrivals) = &mut ingress.arrivals {
            arrivals.lose_all();
        }
        self.asleep_since = Some(now.as_nanos());
    }

    /// Starts to wake the link. It needs power again, but carries nothing yet.
    pub fn begin_to_wake(&mut self, now: Instant) {
        if let Some(since) = self.asleep_since.take() {
            self.tally_mut().asleep_ns += now.as_nanos() - since;
        }
    }

    /// Ends the waking: the link carries packets again.
    pub fn awake(&mut self, now: Instant) {
        self.begin_to_wake(now);
        self.ingress = self.ingress.take().and_then(|ingress| ingress.open());
    }

    /// Returns true if the link takes no packets because it sleeps or is waking.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ingress.as_ref().is_some_and(|ingress| ingress.closed)
    }
}
