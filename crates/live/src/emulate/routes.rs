//! The routing tables, and the packets lost by routers.

use super::ids::{ById, Id, LinkId, NodeId};
use netlull_network::outcome::RouterLosses;
use netlull_network::plan::{Plan, RouteChange};

/// The routing tables of all routers.
#[derive(Debug)]
pub(super) struct Routes {
    /// The outgoing link, by node and destination.
    tables: ById<NodeId, ById<NodeId, Option<LinkId>>>,
    /// The hop limit; `None` if packets do not count hops.
    ttl: Option<u8>,
    losses: RouterLosses,
}

impl Routes {
    pub(super) fn new(plan: &Plan) -> Self {
        let table = |row: &Vec<Option<u32>>| row.iter().map(|link| link.map(LinkId::numbered)).collect();
        Self {
            tables: plan.routes.iter().map(table).collect(),
            ttl: plan.routing.as_ref().map(|routing| routing.ttl),
            losses: RouterLosses::default(),
        }
    }

    /// The next link from a node towards another, if its router has a route.
    pub(super) fn next_hop(&self, node: NodeId, to: NodeId) -> Option<LinkId> {
        self.tables[node].get(to).copied().flatten()
    }

    /// Changes an entry of a routing table.
    pub(super) fn install(&mut self, change: RouteChange) {
        let RouteChange { node, destination, link } = change;
        self.tables[NodeId::numbered(node)][NodeId::numbered(destination)] = link.map(LinkId::numbered);
    }

    /// Whether a packet has reached the hop limit (RFC 791 section 3.2).
    pub(super) fn is_spent(&self, hops: u8) -> bool {
        self.ttl.is_some_and(|ttl| hops >= ttl)
    }

    /// The counts of packets lost by routers; `None` with fixed routes.
    pub(super) fn losses_mut(&mut self) -> Option<&mut RouterLosses> {
        self.ttl.map(|_| &mut self.losses)
    }

    /// The counts of packets lost by routers.
    pub(super) fn losses(&self) -> RouterLosses {
        self.losses
    }
}
