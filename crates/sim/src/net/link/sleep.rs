//! A link's sleep.

use super::{Backlog, Link, Transmitter};
use crate::engine::schedule::Schedule;
use crate::net::flight::PacketStore;
use crate::net::packet::Packet;
use netlull_units::Instant;

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
        let Backlog { waiting, tally, cut_short_ns } = &mut **self.backlog.get_or_insert_with(Backlog::first);
        match &mut self.transmitter {
            Transmitter::Fixed(fixed) => {
                // Waiting times that end here were counted in full.
                let beyond = waiting.iter().map(|entry| entry.starts.saturating_sub(now.as_nanos()));
                *cut_short_ns += beyond.fold(0, u64::saturating_add);
                fixed.free_at = now.as_nanos();
                fixed.waiting_bytes = 0;
                fixed.serialiser.idle();
                waiting.clear();
            }
            Transmitter::Variable(variable) => variable.fall_asleep(now, stranded, tally, schedule),
        }
        schedule.set(self.delivery, Instant::NEVER);
        let lost = &stranded[first..];
        let (packets, bytes) = (lost.len() as u64, lost.iter().map(|packet| u64::from(packet.size)).sum::<u64>());
        match &mut self.transmitter {
            Transmitter::Fixed(_) => self.stored_bytes -= bytes,
            Transmitter::Variable(variable) => variable.forget_accepted(packets, bytes),
        }
        tally.stranded_packets += packets;
        tally.asleep_packets += packets;
        tally.asleep_bytes += bytes;
        let ingress = self.ingress.get_or_insert_default();
        ingress.closed = true;
        if let Some(noise) = &mut ingress.noise {
            noise.lose_all();
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
