//! The tables of routers, and the packets that routers lose.

use super::ids::{ById, Id, LinkId, NodeId};
use netlull_network::outcome::RouterLosses;
use netlull_network::plan::{Plan, RouteChange};

/// The tables of all routers.
#[derive(Debug)]
pub(super) struct Routes {
    /// By node, then by destination: the link that leads there.
    tables: ById<NodeId, ById<NodeId, Option<LinkId>>>,
    /// The hops that a packet may make; `None` where packets do not count them.
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

    /// The link that leads from a node to another, if its router knows one.
    pub(super) fn next_hop(&self, node: NodeId, to: NodeId) -> Option<LinkId> {
        self.tables[node].get(to).copied().flatten()
    }

    /// A router has a new entry in its table.
    pub(super) fn install(&mut self, change: RouteChange) {
        let RouteChange { node, destination, link } = change;
        self.tables[NodeId::numbered(node)][NodeId::numbered(destination)] = link.map(LinkId::numbered);
    }

    /// True if a packet that has crossed so many links may cross no other (RFC 791 section 3.2).
    pub(super) fn is_spent(&self, hops: u8) -> bool {
        self.ttl.is_some_and(|ttl| hops >= ttl)
    }

    /// The counts of packets that routers lose; `None` where routes are fixed.
    pub(super) fn losses_mut(&mut self) -> Option<&mut RouterLosses> {
        self.ttl.map(|_| &mut self.losses)
    }

    /// The packets that routers have lost.
    pub(super) fn losses(&self) -> RouterLosses {
        self.losses
    }
}
