//! Shortest-path routing for each direction separately, because links are one-way. [`link_state`] computes when
//! routers learn of links that sleep.

pub mod link_state;

use super::ids::{LinkId, NodeId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A link as seen by routing.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Sending node.
    pub from: usize,
    /// Receiving node.
    pub to: usize,
    /// Routing cost.
    pub cost: u32,
}

/// A node's next hop for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// This link.
    Link(LinkId),
    /// This link, which runs ahead.
    Ahead(LinkId),
    /// This link, by a table that can change.
    Changeable(LinkId),
    /// None: the packet is at its destination.
    Here,
    /// None: there is no route.
    Unreachable,
}

/// The number of a link in a table, with bits for its use.
type Entry = u32;
/// The entry for a missing route.
const NO_WAY: Entry = Entry::MAX;
/// The bit for links that run ahead.
const AHEAD: Entry = 1 << 31;
/// The bit for links in a row that can change.
const CHANGEABLE: Entry = 1 << 30;

/// The route to a node.
#[derive(Clone, Copy, Debug)]
struct Destination {
    /// The column for the node, or for `before`.
    column: u32,
    /// If a single link leads to the node: the node at the start of that link. Otherwise the node itself.
    before: NodeId,
    /// The single link that leads to the node.
    last: Entry,
}

/// The next hop of every node to every destination of a flow.
///
/// A node with a single incoming link is reached through the node before it. The table has columns only for the other
/// nodes. Thus 10,000 hosts behind a router take a single column.
#[derive(Clone, Debug)]
pub struct Routes {
    destinations: Vec<Destination>,
    /// The destination of each column.
    targets: Vec<NodeId>,
    columns: usize,
    /// The entries in row-major order: `node * columns + column`.
    hops: Vec<Entry>,
}

impl Routes {
    /// Shortest paths from every node to each of `destinations` (node indices). Among equal paths, the path over the
    /// lowest-numbered link wins.
    #[must_use]
    pub fn shortest(nodes: usize, edges: &[Edge], destinations: &[usize]) -> Self {
        let into = into(nodes, edges);
        let mut column_of = vec![None::<u32>; nodes];
        let mut columns = 0..;
        let mut routes = Self::nowhere(nodes);
        for &destination in destinations {
            let (target, last) = match into[destination][..] {
                [only] if edges[only].from != destination => (edges[only].from, LinkId::new(only).number()),
                _ => (destination, NO_WAY),
            };
            let column = *column_of[target].get_or_insert_with(|| {
                routes.targets.push(NodeId::new(target));
                columns.next().unwrap_or_default()
            });
            routes.destinations[destination] = Destination { column, before: NodeId::new(target), last };
        }
        routes.make_rows(nodes);
        for (column, &target) in routes.targets.iter().enumerate() {
            let distance = distances(&into, edges, target.index());
            for (link, edge) in (0..).zip(edges) {
                let hop = &mut routes.hops[edge.from * routes.columns + column];
                let on_the_way = distance[edge.from].is_some()
                    && distance[edge.to].map(|rest| rest + u64::from(edge.cost)) == distance[edge.from];
                if *hop == NO_WAY && on_the_way {
                    *hop = link;
                }
            }
        }
        routes
    }

    /// The shortest paths with a column for every destination. [`set_row`](Self::set_row) can change any of them.
    #[must_use]
    pub fn changeable(nodes: usize, edges: &[Edge], destinations: &[usize]) -> Self {
        let mut routes = Self::nowhere(nodes);
        for (column, &destination) in (0..).zip(destinations) {
            let before = NodeId::new(destination);
            routes.destinations[destination] = Destination { column, before, last: NO_WAY };
            routes.targets.push(before);
        }
        routes.make_rows(nodes);
        let out = out_of(nodes, edges);
        (0..nodes).for_each(|node| routes.set_row(node, &first_hops(node, &out, edges, |_| true)));
        routes
    }

    /// Routes between `nodes` nodes without any path.
    fn nowhere(nodes: usize) -> Self {
        let nowhere = Destination { column: 0, before: NodeId::default(), last: NO_WAY };
        Self { destinations: vec![nowhere; nodes], targets: Vec::new(), columns: 0, hops: Vec::new() }
    }

    /// Allocates the rows once all columns are known.
    fn make_rows(&mut self, nodes: usize) {
        self.columns = self.targets.len();
        self.hops = vec![NO_WAY; nodes * self.columns];
    }

    /// Sets a node's next hops: the link to every node, by node.
    pub fn set_row(&mut self, node: usize, hops: &[Option<LinkId>]) {
        let row = &mut self.hops[node * self.columns..(node + 1) * self.columns];
        for (place, &target) in row.iter_mut().zip(&self.targets) {
            let hop = hops.get(target.index()).copied().flatten();
            *place = hop.map_or(NO_WAY, |link| link.number() | CHANGEABLE);
        }
    }

    /// The next hop of `node` for a packet to the node `destination`.
    #[inline]
    #[must_use]
    pub fn next_hop(&self, node: NodeId, destination: NodeId) -> NextHop {
        if node == destination {
            return NextHop::Here;
        }
        let Destination { column, before, last } = self.destinations[destination.index()];
        let entry = if node == before { last } else { self.hops[node.index() * self.columns + column as usize] };
        if entry < CHANGEABLE {
            NextHop::Link(LinkId::numbered(entry))
        } else if entry == NO_WAY {
            NextHop::Unreachable
        } else if entry >= AHEAD {
            NextHop::Ahead(LinkId::numbered(entry - AHEAD))
        } else {
            NextHop::Changeable(LinkId::numbered(entry - CHANGEABLE))
        }
    }

    /// Makes every link a [`NextHop::Changeable`].
    pub fn mark_changeable(&mut self) {
        self.hops.iter_mut().filter(|entry| **entry != NO_WAY).for_each(|entry| *entry = *entry & !AHEAD | CHANGEABLE);
    }

    /// Makes every link a [`NextHop::Link`].
    pub fn mark_fixed(&mut self) {
        self.hops.iter_mut().filter(|entry| **entry != NO_WAY).for_each(|entry| *entry &= !(AHEAD | CHANGEABLE));
    }

    /// Makes the selected links a [`NextHop::Ahead`].
    pub fn mark_ahead(&mut self, runs_ahead: impl Fn(LinkId) -> bool) {
        let lasts = self.destinations.iter_mut().map(|destination| &mut destination.last);
        for entry in self.hops.iter_mut().chain(lasts).filter(|entry| **entry < CHANGEABLE) {
            *entry |= AHEAD * Entry::from(runs_ahead(LinkId::numbered(*entry)));
        }
    }

    /// The links from `from` to a destination node; `None` without a route.
    #[must_use]
    pub fn path(&self, from: usize, to: usize, edges: &[Edge]) -> Option<Vec<LinkId>> {
        let (mut path, mut node) = (Vec::new(), from);
        // A shortest path visits no node twice.
        while path.len() <= self.destinations.len() {
            match self.next_hop(NodeId::new(node), NodeId::new(to)) {
                NextHop::Here => return Some(path),
                NextHop::Unreachable => return None,
                NextHop::Link(link) | NextHop::Ahead(link) | NextHop::Changeable(link) => {
                    path.push(link);
                    node = edges[link.index()].to;
                }
            }
        }
        None
    }
}

/// The outgoing links of each node.
pub(crate) fn out_of(nodes: usize, edges: &[Edge]) -> Vec<Vec<LinkId>> {
    let mut out = vec![Vec::new(); nodes];
    for (link, edge) in LinkId::all(edges.len()).zip(edges) {
        out[edge.from].push(link);
    }
    out
}

/// The first link of the shortest path from `source` to every node, over links for which `is_up` returns true.
///
/// Among equal paths, the lowest-numbered first link wins, as in [`Routes::shortest`]. `out` contains the outgoing
/// links of each node.
pub(crate) fn first_hops(
    source: usize,
    out: &[Vec<LinkId>],
    edges: &[Edge],
    is_up: impl Fn(LinkId) -> bool,
) -> Vec<Option<LinkId>> {
    let mut best: Vec<Option<(u64, LinkId)>> = vec![None; out.len()];
    let mut settled = vec![false; out.len()];
    let mut frontier = BinaryHeap::from([Reverse((0_u64, LinkId::default(), source))]);
    while let Some(Reverse((cost, first, node))) = frontier.pop() {
        if std::mem::replace(&mut settled[node], true) {
            continue;
        }
        for &link in out[node].iter().filter(|&&link| is_up(link)) {
            let edge = &edges[link.index()];
            let reached = (cost + u64::from(edge.cost), if node == source { link } else { first });
            if edge.to != source && best[edge.to].is_none_or(|known| reached < known) {
                best[edge.to] = Some(reached);
                frontier.push(Reverse((reached.0, reached.1, edge.to)));
            }
        }
    }
    best.into_iter().map(|reached| reached.map(|(_, first)| first)).collect()
}

/// The incoming links of each node.
fn into(nodes: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut into = vec![Vec::new(); nodes];
    for (index, edge) in edges.iter().enumerate() {
        into[edge.to].push(index);
    }
    into
}

/// Dijkstra's algorithm backwards from the destination: the cost from each node.
fn distances(into: &[Vec<usize>], edges: &[Edge], destination: usize) -> Vec<Option<u64>> {
    let mut distance = vec![None; into.len()];
    let mut frontier = BinaryHeap::from([Reverse((0_u64, destination))]);
    while let Some(Reverse((cost, node))) = frontier.pop() {
        if distance[node].is_some() {
            continue;
        }
        distance[node] = Some(cost);
        for edge in into[node].iter().map(|&index| edges[index]) {
            if distance[edge.from].is_none() {
                frontier.push(Reverse((cost + u64::from(edge.cost), edge.from)));
            }
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(numbers: &[u32]) -> Vec<LinkId> {
        numbers.iter().copied().map(LinkId::numbered).collect()
    }

    fn edges(pairs: &[(usize, usize, u32)]) -> Vec<Edge> {
        pairs.iter().map(|&(from, to, cost)| Edge { from, to, cost }).collect()
    }

    #[test]
    fn each_direction_takes_its_own_shortest_path() {
        // Forwards, 0 -> 1 -> 2 is cheaper than 0 -> 2; backwards there is only 2 -> 0.
        let edges = edges(&[(0, 1, 1), (1, 2, 1), (0, 2, 3), (2, 0, 9)]);
        let routes = Routes::shortest(3, &edges, &[2, 0]);
        assert_eq!(routes.path(0, 2, &edges), Some(links(&[0, 1])));
        assert_eq!(routes.path(2, 0, &edges), Some(links(&[3])));
        assert_eq!(routes.path(1, 0, &edges), Some(links(&[1, 3])));
    }

    #[test]
    fn equal_paths_go_over_the_lowest_numbered_link() {
        let edges = edges(&[(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1)]);
        assert_eq!(Routes::shortest(4, &edges, &[3]).path(0, 3, &edges), Some(links(&[0, 2])));
    }

    #[test]
    fn rows_that_can_change_begin_as_the_shortest_paths() {
        // A ring of six with a chord, in both directions. It has equal paths, and every pair must get the same next
        // hop.
        let pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (1, 4)];
        let both: Vec<_> = pairs.iter().flat_map(|&(a, b)| [(a, b, 1), (b, a, 1)]).collect();
        let edges = edges(&both);
        let all: Vec<usize> = (0..6).collect();
        let (fixed, mut changing) = (Routes::shortest(6, &edges, &all), Routes::changeable(6, &edges, &all));
        for (from, to) in (0..6).flat_map(|from: usize| (0..6).map(move |to| (from, to))) {
            let (fixed, changing) = (fixed.path(from, to, &edges), changing.path(from, to, &edges));
            assert_eq!(fixed, changing, "{from} to {to}");
        }
        // Without 0 -> 1 (link 0), node 0 reaches 1 by 5, 4 and the chord. The other nodes keep their routes.
        let row = first_hops(0, &out_of(6, &edges), &edges, |link| link.index() != 0);
        changing.set_row(0, &row);
        assert_eq!(changing.path(0, 1, &edges), Some(links(&[11, 9, 13])));
        assert_eq!(changing.path(5, 1, &edges), fixed.path(5, 1, &edges));
    }

    #[test]
    fn no_way_is_said_not_invented() {
        let edges = edges(&[(0, 1, 1)]);
        let routes = Routes::shortest(3, &edges, &[0, 2]);
        assert_eq!(routes.path(1, 0, &edges), None);
        assert_eq!(routes.path(0, 2, &edges), None);
        assert_eq!(routes.next_hop(NodeId::new(2), NodeId::new(2)), NextHop::Here);
    }
}
