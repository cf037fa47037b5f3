//! Static shortest-path routing, each direction by itself: links are one-way.

use super::packet::LinkId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One link as routing sees it.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
    /// Cost of crossing it.
    pub cost: u32,
}

/// Where a node sends a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// Over this link.
    Link(LinkId),
    /// Nowhere: it has arrived.
    Here,
    /// There is no way.
    Unreachable,
}

/// The next hop of every node towards every destination that a flow has.
#[derive(Clone, Debug)]
pub struct Routes {
    destinations: Vec<usize>,
    nodes: usize,
    /// Row-major: `node * destinations + column`.
    hops: Vec<NextHop>,
}

impl Routes {
    /// Shortest paths from every node to each of `destinations` (node indices). Among equal paths the one over the
    /// lowest-numbered link wins.
    #[must_use]
    pub fn shortest(nodes: usize, edges: &[Edge], destinations: &[usize]) -> Self {
        let columns = destinations.len();
        let mut hops = vec![NextHop::Unreachable; nodes * columns];
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        for (index, edge) in edges.iter().enumerate() {
            into[edge.to].push(index);
        }
        for (column, &destination) in destinations.iter().enumerate() {
            let distance = distances(&into, edges, destination);
            for (node, hop) in (0..nodes).map(|node| (node, node * columns + column)) {
                hops[hop] = if node == destination { NextHop::Here } else { first_hop(node, edges, &distance) };
            }
        }
        Self { destinations: destinations.to_vec(), nodes, hops }
    }

    /// Where `node` sends a packet for the destination in this column.
    #[inline]
    #[must_use]
    pub fn next_hop(&self, node: u32, column: u32) -> NextHop {
        self.hops[node as usize * self.destinations.len() + column as usize]
    }

    /// The column of a destination node.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn column(&self, node: usize) -> Option<u32> {
        self.destinations.iter().position(|&destination| destination == node).map(|column| column as u32)
    }

    /// The links from `from` to a destination node, `None` if there is no way.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn path(&self, from: usize, to: usize, edges: &[Edge]) -> Option<Vec<LinkId>> {
        let column = self.column(to)?;
        let (mut path, mut node) = (Vec::new(), from);
        // A shortest path visits no node twice.
        while path.len() <= self.nodes {
            match self.next_hop(node as u32, column) {
                NextHop::Here => return Some(path),
                NextHop::Unreachable => return None,
                NextHop::Link(link) => {
                    path.push(link);
                    node = edges[link as usize].to;
                }
            }
        }
        None
    }
}

/// Dijkstra backwards from the destination: the cost from each node.
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

/// The lowest-numbered link out of `node` that lies on a shortest path.
#[allow(clippy::cast_possible_truncation)]
fn first_hop(node: usize, edges: &[Edge], distance: &[Option<u64>]) -> NextHop {
    edges
        .iter()
        .position(|edge| {
            edge.from == node
                && distance[node].is_some()
                && distance[edge.to].map(|rest| rest + u64::from(edge.cost)) == distance[node]
        })
        .map_or(NextHop::Unreachable, |link| NextHop::Link(link as LinkId))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(pairs: &[(usize, usize, u32)]) -> Vec<Edge> {
        pairs.iter().map(|&(from, to, cost)| Edge { from, to, cost }).collect()
    }

    #[test]
    fn each_direction_takes_its_own_shortest_path() {
        // 0 -> 1 -> 2 is cheaper than 0 -> 2 there; back only 2 -> 0 exists.
        let edges = edges(&[(0, 1, 1), (1, 2, 1), (0, 2, 3), (2, 0, 9)]);
        let routes = Routes::shortest(3, &edges, &[2, 0]);
        assert_eq!(routes.path(0, 2, &edges), Some(vec![0, 1]));
        assert_eq!(routes.path(2, 0, &edges), Some(vec![3]));
        assert_eq!(routes.path(1, 0, &edges), Some(vec![1, 3]));
    }

    #[test]
    fn equal_paths_go_over_the_lowest_numbered_link() {
        let edges = edges(&[(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1)]);
        assert_eq!(Routes::shortest(4, &edges, &[3]).path(0, 3, &edges), Some(vec![0, 2]));
    }

    #[test]
    fn no_way_is_said_not_invented() {
        let edges = edges(&[(0, 1, 1)]);
        let routes = Routes::shortest(3, &edges, &[0, 2]);
        assert_eq!(routes.path(1, 0, &edges), None);
        assert_eq!(routes.path(0, 2, &edges), None);
        assert_eq!(routes.next_hop(2, 1), NextHop::Here);
    }
}
