//! Shortest paths to every destination and the resulting loads, updated as links go to sleep.

use super::{Graph, Traffic};
use netlull_units::BitRate;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const FAR: u64 = u64::MAX;
/// The missing next hop of the destination itself.
const NONE: u32 = u32::MAX;

/// The routes and loads of all traffic.
#[derive(Clone, Debug)]
pub(super) struct Routing<'a> {
    graph: &'a Graph,
    weights: &'a [u32],
    trees: Vec<Tree>,
    /// The load of each direction in bit/s (link i: 2 i as given, 2 i + 1 reverse).
    loads: Vec<u64>,
}

/// The paths of all nodes to one destination.
#[derive(Clone, Debug)]
struct Tree {
    destination: usize,
    /// The demand of each node for the destination, in bit/s.
    demand: Vec<u64>,
    /// The cost of each node's path.
    distance: Vec<u64>,
    /// The outgoing direction of a link on each node's path.
    next: Vec<u32>,
}

/// The values before a link was removed.
pub(super) struct Before {
    loads: Vec<u64>,
    /// (tree, node, distance, next) of the nodes whose path used the link.
    nodes: Vec<(usize, usize, u64, u32)>,
}

impl<'a> Routing<'a> {
    /// Routes all demands on their shortest paths. The values have been checked, and the graph is connected.
    pub(super) fn new(graph: &'a Graph, traffic: &'a Traffic) -> Self {
        let (nodes, links) = (graph.nodes(), graph.links().len());
        let mut tree_of = vec![None; nodes];
        let mut trees: Vec<Tree> = Vec::new();
        for demand in &traffic.demands {
            let tree = *tree_of[demand.to].get_or_insert(trees.len());
            if tree == trees.len() {
                trees.push(Tree::empty(demand.to, nodes));
            }
            trees[tree].demand[demand.from] += demand.rate.as_bps();
        }
        let mut routing = Self { graph, weights: &traffic.weights, trees, loads: vec![0; 2 * links] };
        for index in 0..routing.trees.len() {
            let everyone: Vec<usize> = (0..nodes).collect();
            routing.find_ways(index, &everyone, |_| true);
            routing.carry(index, &everyone, Change::Add);
        }
        routing
    }

    /// The load of a link's busier direction in bit/s.
    pub(super) fn load(&self, link: usize) -> u64 {
        self.loads[2 * link].max(self.loads[2 * link + 1])
    }

    /// The load of each direction in bit/s.
    pub(super) fn into_loads(self) -> Vec<u64> {
        self.loads
    }

    /// The first link whose load exceeds its limit in bit/s.
    pub(super) fn overloaded(&self, limits: &[u64]) -> Option<usize> {
        (0..limits.len()).find(|&link| self.load(link) > limits[link])
    }

    /// Reroutes all traffic around a link, over the links that are `on`. The graph must be connected without the link.
    pub(super) fn remove(&mut self, link: usize, on: impl Fn(usize) -> bool) -> Before {
        let mut before = Before { loads: self.loads.clone(), nodes: Vec::new() };
        for index in 0..self.trees.len() {
            let affected = self.behind(index, link);
            if affected.is_empty() {
                continue;
            }
            self.carry(index, &affected, Change::Remove);
            let tree = &self.trees[index];
            before.nodes.extend(affected.iter().map(|&node| (index, node, tree.distance[node], tree.next[node])));
            self.find_ways(index, &affected, |other| other != link && on(other));
            self.carry(index, &affected, Change::Add);
        }
        before
    }

    /// Restores the values before the last [`Self::remove`].
    pub(super) fn restore(&mut self, before: Before) {
        self.loads = before.loads;
        for (tree, node, distance, next) in before.nodes {
            (self.trees[tree].distance[node], self.trees[tree].next[node]) = (distance, next);
        }
    }

    /// The nodes whose path to the tree's destination uses a link. The paths of all others stay the same: neither
    /// their distances nor their shortest-path links change.
    fn behind(&self, index: usize, link: usize) -> Vec<usize> {
        let (tree, (a, b)) = (&self.trees[index], self.graph.links()[link]);
        let mut nodes = Vec::new();
        if tree.next[a] == direction(2 * link) {
            nodes.push(a);
        } else if tree.next[b] == direction(2 * link + 1) {
            nodes.push(b);
        }
        let mut looked = 0;
        while let Some(&node) = nodes.get(looked) {
            looked += 1;
            let adjacent = self.graph.adjacent(node).iter();
            nodes.extend(
                adjacent.filter(|&&(from, link)| tree.next[from] == self.leaving(from, link)).map(|&(from, _)| from),
            );
        }
        nodes
    }

    /// The direction of a link in which `node` sends.
    fn leaving(&self, node: usize, link: usize) -> u32 {
        direction(2 * link + usize::from(self.graph.links()[link].0 != node))
    }

    /// The node at the end of a direction.
    fn end(&self, direction: u32) -> usize {
        let (a, b) = self.graph.links()[direction as usize / 2];
        if direction.is_multiple_of(2) { b } else { a }
    }

    /// Runs Dijkstra's algorithm for the given nodes, over the links that are `on`, from the distances of all
    /// others (Ramalingam and Reps, 1996).
    fn find_ways(&mut self, index: usize, nodes: &[usize], on: impl Fn(usize) -> bool) {
        let mut tree = std::mem::replace(&mut self.trees[index], Tree::empty(0, 0));
        let cost = |link: usize| u64::from(self.weights[link]);
        nodes.iter().for_each(|&node| tree.distance[node] = FAR);
        let mut frontier = BinaryHeap::new();
        for &node in nodes {
            let settled = self.graph.adjacent(node).iter().filter(|&&(to, link)| on(link) && tree.distance[to] != FAR);
            let least = settled.map(|&(to, link)| tree.distance[to] + cost(link)).min();
            let least = if node == tree.destination { Some(0) } else { least };
            frontier.extend(least.map(|distance| Reverse((distance, node))));
        }
        while let Some(Reverse((distance, node))) = frontier.pop() {
            if tree.distance[node] != FAR {
                continue;
            }
            tree.distance[node] = distance;
            let unsettled =
                self.graph.adjacent(node).iter().filter(|&&(to, link)| on(link) && tree.distance[to] == FAR);
            frontier.extend(unsettled.map(|&(to, link)| Reverse((distance + cost(link), to))));
        }
        for &node in nodes {
            let adjacent = self.graph.adjacent(node).iter();
            let reached = |node: usize| tree.distance[node] != FAR;
            let shortest = adjacent.filter(|&&(to, link)| {
                on(link) && reached(to) && tree.distance[to] + cost(link) == tree.distance[node]
            });
            let next = shortest.map(|&(_, link)| self.leaving(node, link)).min();
            tree.next[node] = if node == tree.destination { NONE } else { next.unwrap_or(NONE) };
        }
        self.trees[index] = tree;
    }

    /// Adds or removes the demands of the given nodes along their paths to the tree's destination.
    fn carry(&mut self, index: usize, nodes: &[usize], change: Change) {
        let tree = &self.trees[index];
        for &from in nodes {
            let (rate, mut node) = (tree.demand[from], from);
            while rate > 0 && tree.next[node] != NONE {
                let load = &mut self.loads[tree.next[node] as usize];
                match change {
                    Change::Add => *load += rate,
                    Change::Remove => *load -= rate,
                }
                node = self.end(tree.next[node]);
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Add,
    Remove,
}

impl Tree {
    fn empty(destination: usize, nodes: usize) -> Self {
        Self { destination, demand: vec![0; nodes], distance: vec![FAR; nodes], next: vec![NONE; nodes] }
    }
}

/// Directions have 32-bit numbers, as links do in the simulator. A graph without double links has fewer.
#[allow(clippy::cast_possible_truncation)]
fn direction(number: usize) -> u32 {
    number as u32
}

/// bound x capacity of each link in whole bits per second. The margin keeps rounding from refusing a load exactly at
/// the bound.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn limits(capacities: &[BitRate], bound: f64) -> Vec<u64> {
    capacities.iter().map(|capacity| (bound * capacity.as_f64() * (1.0 + 1e-12)) as u64).collect()
}
