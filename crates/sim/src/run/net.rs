//! The network state of a run: links, routes, the schedule and the time.

use super::error::RunError;
use super::event_order::EventOrder;
use crate::net::flight::{Packet, PacketStore};
use crate::net::ids::{ControllerId, LinkId};
use crate::net::link::Link;
use crate::net::routing::Routes;
use crate::net::transmitter::RateChange;
use netlull_network::schedule::{Schedule, Slot};
use netlull_units::{Duration, Instant};

/// Links, routes, the schedule and the time. All other parts of a run access the network through it.
pub(super) struct Net {
    pub now: Instant,
    pub end: Instant,
    /// Events handled so far.
    pub events: u64,
    pub schedule: Schedule,
    pub order: EventOrder,
    pub routes: Routes,
    pub links: Vec<Link>,
    /// The packets on links until their arrival.
    pub store: PacketStore,
    /// Links that schedule their departures, in the order of their departure slots.
    pub scheduled_links: Vec<LinkId>,
    /// The time between two beats, at which datagrams are drawn.
    pub beat: Duration,
    /// A nanosecond after the horizon; 0 if nothing runs ahead. Packets that arrive at this time or later wait until
    /// it moves on.
    pub horizon: u64,
    /// The first error that ends the run.
    pub failure: Option<RunError>,
}

impl Net {
    /// Ends the run with an error.
    #[cold]
    pub fn fail(&mut self, error: RunError) {
        self.failure.get_or_insert(error);
        self.end = Instant::ZERO;
    }

    /// Sets the event of a slot if its time differs.
    #[inline]
    pub fn set_event(&mut self, slot: Slot, at: Instant) {
        if self.schedule.at(slot) != at {
            self.schedule.set(slot, at);
        }
    }

    /// Sets the event of the next timeout of a controller.
    #[inline(always)]
    pub fn set_timeout(&mut self, controller: ControllerId, at: Instant) {
        let slot = self.order.controller(controller);
        if self.schedule.at(slot) != at {
            self.schedule.set(slot, at.max(self.now));
        }
    }

    /// Changes the rate of a link.
    #[inline]
    pub fn change_rate(&mut self, link: LinkId, change: RateChange) {
        self.links[link].change_rate(self.now, change, &mut self.schedule);
    }

    /// Every packet on a link, with the link.
    pub fn packets(&self) -> impl Iterator<Item = (LinkId, Packet)> + '_ {
        let links = LinkId::all(self.links.len()).zip(&self.links);
        links.flat_map(|(id, link)| link.packets(&self.store).map(move |packet| (id, packet)))
    }
}
