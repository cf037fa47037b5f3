//! Links that lag behind the run's time.
//!
//! A link with a controller cannot run ahead, because its next rate is not known. But nobody sees a departure before the
//! packet arrives at the far end. So the departure needs no event. It is handled later, with its true time.
//! A link that lags *catches up* with the run, in the order of its departures and timeouts:
//!
//! - before it gets another packet,
//! - before counters are read,
//! - when the first departed packet arrives at the far end, at the latest. Only this needs an event, which is set once
//!   for many packets.
//!
//! Each part of the network sees the same calls in the same order as without lag (ADR 5).

use super::World;
use crate::net::ids::LinkId;
use crate::net::packet::Packet;
use crate::net::transmitter::TimeoutsNow;
use crate::run::control::Late;

impl World {
    /// Handles the steps of a link that lags up to now, then offers it a packet, if there is one.
    #[inline]
    fn catch_up(&mut self, link: LinkId, timeouts: TimeoutsNow, packet: Option<&Packet>) -> Late {
        let Some(controller) = self.net.links[link].controller else { return Late::Done };
        let mut departed = std::mem::take(&mut self.departed);
        let late = self.controllers.catch_up(controller, timeouts, packet, &mut self.net, &mut departed);
        for (arrives, packet) in &departed {
            self.arrive(link, *arrives, packet);
        }
        departed.clear();
        self.departed = departed;
        late
    }

    /// Passes a packet to a link that lags.
    #[inline(never)]
    pub(super) fn queue_after_catching_up(&mut self, link: LinkId, packet: &Packet) {
        if self.catch_up(link, self.net.timeouts_now(), Some(packet)) == Late::Dropped {
            self.drop(self.net.now, Some(link), packet);
        }
    }

    /// Handles the event of a link that lags: its first packet may be at the far end. The event itself does not count.
    #[inline(never)]
    pub(super) fn depart_at_the_latest(&mut self, link: LinkId) {
        self.net.events -= 1;
        if let Some(mut lagging) = self.net.links[link].lagging() {
            lagging.event_came();
        }
        self.catch_up(link, TimeoutsNow::Later, None);
    }

    /// Draws the datagrams that are due by now and lets all links catch up, before counters are read.
    pub(in crate::run) fn catch_up_all(&mut self) {
        self.draw_before(self.net.now.as_nanos().saturating_add(1));
        for place in 0..self.net.scheduled_links.len() {
            self.catch_up(self.net.scheduled_links[place], TimeoutsNow::Due, None);
        }
    }
}
