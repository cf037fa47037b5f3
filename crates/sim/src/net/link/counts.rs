//! A link's counters up to a time.

use super::{Backlog, Link, LinkCounters, Transmitter};
use netlull_units::Instant;

impl Link {
    /// The counters from the start to `now`.
    #[must_use]
    pub fn counters(&self, now: Instant) -> LinkCounters {
        let tally = self.tally();
        // A link that schedules its departures counts accepted packets. Other links count stored packets and packets
        // passed on.
        let (accepted_packets, accepted_bytes) = match &self.transmitter {
            Transmitter::Fixed(_) => {
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
                Transmitter::Fixed(_) => accepted_packets + tally.stranded_packets,
                Transmitter::Variable(_) => tally.served_packets,
            },
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
    pub(crate) fn queued_ns(&self, now: Instant) -> u64 {
        let Some(Backlog { waiting, tally, cut_short_ns }) = self.backlog.as_deref() else { return 0 };
        match &self.transmitter {
            // Each waiting time was counted in full at its start. Subtract the part after `now`.
            Transmitter::Fixed(_) => {
                let beyond = waiting.iter().map(|entry| entry.starts.saturating_sub(now.as_nanos()));
                tally.waited_ns.saturating_sub(beyond.fold(*cut_short_ns, u64::saturating_add))
            }
            // Each waiting time was counted at its end. Add the waiting times that continue.
            Transmitter::Variable(variable) => tally.waited_ns + tally.waited_in_vain_ns + variable.waiting_ns(now),
        }
    }
}
