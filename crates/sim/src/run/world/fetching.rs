//! Fetching of the state that the events of a tick need.
//!
//! With thousands of connections, the state of an event has left the processor's caches. It is found step by step: the
//! link, its first packet, the packet's endpoint, the endpoint's own link. An event would wait for memory at each step.
//! All events of a tick are known at its start. Their links are read then, next their packets, and so on. The waits of
//! different events overlap, and reading changes nothing.

use super::World;
use crate::net::ids::{AgentId, LinkId, NodeId};
use crate::run::event_order::Owner;
use crate::scenario::Components;
use std::hint::black_box;

/// The number of links and endpoints from which their state exceeds a cache of 1 MB.
const MANY: usize = 2_000;
/// The most events to prepare: the state of more events would leave the fastest cache again.
const MOST: usize = 32;

/// The places of the state to fetch.
#[derive(Default)]
pub(in crate::run) struct Fetching {
    links: Vec<LinkId>,
    packets: Vec<(AgentId, NodeId)>,
}

impl Fetching {
    /// For a run with these components; `None` if they fit into the caches.
    pub fn new(components: &Components) -> Option<Box<Self>> {
        (components.links + components.endpoints >= MANY).then(Box::default)
    }
}

impl World {
    /// Fetches the state for the events of the present tick.
    #[inline(never)]
    pub(super) fn fetch(&mut self) {
        let Some(Fetching { links, packets }) = self.fetching.as_deref_mut() else { return };
        let (net, hosts) = (&self.net, &self.hosts);
        links.clear();
        packets.clear();
        let mut read = 0;
        for slot in net.schedule.tick().take(MOST) {
            if let Owner::Delivery(link) = net.order.owner(slot) {
                read ^= net.links[link].fetch();
                links.push(link);
            }
        }
        for &link in &*links {
            packets.extend(net.links[link].head().map(|packet| (packet.agent, packet.destination)));
        }
        for &(agent, destination) in &*packets {
            read ^= net.routes.fetch(destination);
            read ^= hosts.fetch(agent);
        }
        for &(agent, destination) in &*packets {
            let last = net.routes.last_link(destination);
            let out = hosts.agents.get(agent.index()).and_then(|agent| agent.out);
            for link in last.into_iter().chain(out) {
                read ^= net.links[link].fetch();
            }
        }
        black_box(read);
    }
}
