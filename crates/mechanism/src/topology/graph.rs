//! The undirected graph of a network: routers and the cables between them, and the betweenness of its links.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// An undirected graph without self-loops and double links. Nodes and links are numbered from 0 in the given
/// order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    links: Vec<(usize, usize)>,
    /// The pairs (neighbour, link) of each node.
    adjacent: Vec<Vec<(usize, usize)>>,
    /// The names of the nodes in messages; if empty, their numbers.
    names: Vec<String>,
}

/// The reason that a list of links is not a valid graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphError {
    /// The graph has no node.
    NoNodes,
    /// A link ends at an unknown node.
    UnknownNode {
        /// The link's index.
        link: usize,
        /// The node that the link names.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
    /// A link joins a node to itself.
    SelfLoop {
        /// The link's index.
        link: usize,
        /// The node.
        node: usize,
    },
    /// Two links join the same nodes, in either direction.
    Duplicate {
        /// The later link's index.
        link: usize,
        /// The earlier link's index.
        earlier: usize,
        /// Their lower and higher end.
        ends: (usize, usize),
    },
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoNodes => write!(f, "nodes is 0; expected at least one"),
            Self::UnknownNode { link, node, nodes } => {
                write!(f, "links[{link}] ends at node {node}; expected a node from 0 to {}", nodes - 1)
            }
            Self::SelfLoop { link, node } => {
                write!(f, "links[{link}] leads from node {node} to itself; expected two different nodes")
            }
            Self::Duplicate { link, earlier, ends: (low, high) } => {
                write!(
                    f,
                    "links[{link}] joins nodes {low} and {high} as links[{earlier}] does; expected each pair once"
                )
            }
        }
    }
}

impl std::error::Error for GraphError {}

impl Graph {
    /// Creates a graph of nodes 0 .. `nodes` - 1 and links between two of them.
    ///
    /// # Errors
    /// If there is no node, or if a link has an unknown end, is a self-loop or occurs twice.
    pub fn new(nodes: usize, links: Vec<(usize, usize)>) -> Result<Self, GraphError> {
        if nodes == 0 {
            return Err(GraphError::NoNodes);
        }
        let (mut adjacent, mut seen) = (vec![Vec::new(); nodes], BTreeMap::new());
        for (link, &(a, b)) in links.iter().enumerate() {
            if let Some(&node) = [a, b].iter().find(|&&node| node >= nodes) {
                return Err(GraphError::UnknownNode { link, node, nodes });
            }
            if a == b {
                return Err(GraphError::SelfLoop { link, node: a });
            }
            let ends = (a.min(b), a.max(b));
            if let Some(&earlier) = seen.get(&ends) {
                return Err(GraphError::Duplicate { link, earlier, ends });
            }
            seen.insert(ends, link);
            adjacent[a].push((b, link));
            adjacent[b].push((a, link));
        }
        Ok(Self { links, adjacent, names: Vec::new() })
    }

    /// The same graph with names of the nodes for messages. Extra names are ignored; nodes without a name keep
    /// their numbers.
    #[must_use]
    pub fn with_names(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.adjacent.len()
    }

    /// The links in the given order.
    #[must_use]
    pub fn links(&self) -> &[(usize, usize)] {
        &self.links
    }

    /// The neighbours of a node, and the links to them.
    #[must_use]
    pub fn adjacent(&self, node: usize) -> &[(usize, usize)] {
        &self.adjacent[node]
    }

    /// The (lower, higher) end of a link.
    #[must_use]
    pub fn ordered_ends(&self, link: usize) -> (usize, usize) {
        let (a, b) = self.links[link];
        (a.min(b), a.max(b))
    }

    /// The name of a node in messages.
    #[must_use]
    pub fn node_name(&self, node: usize) -> String {
        self.names.get(node).cloned().unwrap_or_else(|| node.to_string())
    }

    /// The name of a link in messages: its ends in the given order.
    #[must_use]
    pub fn link_name(&self, link: usize) -> String {
        let (a, b) = self.links[link];
        format!("{}-{}", self.node_name(a), self.node_name(b))
    }

    /// A node that `from` does not reach over the links for which `on` is true.
    #[must_use]
    pub fn unreached(&self, from: usize, on: impl Fn(usize) -> bool) -> Option<usize> {
        let (mut seen, mut waiting) = (vec![false; self.nodes()], vec![from]);
        seen[from] = true;
        while let Some(node) = waiting.pop() {
            for &(neighbour, link) in &self.adjacent[node] {
                if !seen[neighbour] && on(link) {
                    seen[neighbour] = true;
                    waiting.push(neighbour);
                }
            }
        }
        seen.iter().position(|&reached| !reached)
    }

    /// Marks each link that is a bridge, without which the graph is not connected (Tarjan, 1974: no path back from
    /// below it).
    #[must_use]
    pub fn bridges(&self) -> Vec<bool> {
        const NEW: usize = usize::MAX;
        let (mut number, mut low) = (vec![NEW; self.nodes()], vec![NEW; self.nodes()]);
        let (mut bridges, mut next) = (vec![false; self.links.len()], 0);
        for root in 0..self.nodes() {
            if number[root] != NEW {
                continue;
            }
            // (node, link that reached it, number of visited neighbours)
            let mut path = vec![(root, NEW, 0)];
            (number[root], low[root], next) = (next, next, next + 1);
            while let Some(&mut (node, by, ref mut looked)) = path.last_mut() {
                if let Some(&(neighbour, link)) = self.adjacent[node].get(*looked) {
                    *looked += 1;
                    if number[neighbour] == NEW {
                        (number[neighbour], low[neighbour], next) = (next, next, next + 1);
                        path.push((neighbour, link, 0));
                    } else if link != by {
                        low[node] = low[node].min(number[neighbour]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(above, _, _)) = path.last() {
                    low[above] = low[above].min(low[node]);
                    bridges[by] = low[node] > number[above];
                }
            }
        }
        bridges
    }
}

/// The edge betweenness of each link.
///
/// It is the sum, over all unordered pairs of nodes, of the share of their shortest paths (by hops) across the link.
/// The algorithm is Brandes, A faster algorithm for betweenness centrality, 2001, with dependencies summed on links:
/// O(nodes x links).
#[must_use]
pub fn edge_betweenness(graph: &Graph) -> Vec<f64> {
    let mut betweenness = vec![0.0; graph.links().len()];
    let mut search = Search::new(graph.nodes());
    for source in 0..graph.nodes() {
        search.from(graph, source);
        search.add_dependencies(graph, &mut betweenness);
    }
    // Every pair was counted from both of its ends.
    betweenness.iter_mut().for_each(|sum| *sum /= 2.0);
    betweenness
}

/// A breadth-first search that counts shortest paths.
struct Search {
    /// The reached nodes in the order of the search.
    reached: Vec<usize>,
    waiting: VecDeque<usize>,
    /// The distance from the source in hops.
    distance: Vec<usize>,
    /// sigma: the number of shortest paths to each node.
    paths: Vec<f64>,
    /// delta: the dependency of the paths on each node.
    dependency: Vec<f64>,
}

const FAR: usize = usize::MAX;

impl Search {
    fn new(nodes: usize) -> Self {
        Self {
            reached: Vec::with_capacity(nodes),
            waiting: VecDeque::with_capacity(nodes),
            distance: vec![FAR; nodes],
            paths: vec![0.0; nodes],
            dependency: vec![0.0; nodes],
        }
    }

    fn from(&mut self, graph: &Graph, source: usize) {
        self.reached.clear();
        self.distance.fill(FAR);
        self.paths.fill(0.0);
        (self.distance[source], self.paths[source]) = (0, 1.0);
        self.waiting.push_back(source);
        while let Some(node) = self.waiting.pop_front() {
            self.reached.push(node);
            for &(neighbour, _) in graph.adjacent(node) {
                if self.distance[neighbour] == FAR {
                    self.distance[neighbour] = self.distance[node] + 1;
                    self.waiting.push_back(neighbour);
                }
                if self.distance[neighbour] == self.distance[node] + 1 {
                    self.paths[neighbour] += self.paths[node];
                }
            }
        }
    }

    /// delta(v) = sum over the nodes w after v of sigma(v) / sigma(w) (1 + delta(w)); each term belongs to the
    /// link v-w.
    fn add_dependencies(&mut self, graph: &Graph, betweenness: &mut [f64]) {
        self.dependency.fill(0.0);
        for &node in self.reached.iter().rev() {
            for &(before, link) in graph.adjacent(node) {
                if self.distance[before] != FAR && self.distance[before] + 1 == self.distance[node] {
                    let part = self.paths[before] / self.paths[node] * (1.0 + self.dependency[node]);
                    self.dependency[before] += part;
                    betweenness[link] += part;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_simple_graph_is_refused_by_name() {
        let said = |nodes, links: &[(usize, usize)]| Graph::new(nodes, links.to_vec()).unwrap_err().to_string();
        assert_eq!(said(0, &[]), "nodes is 0; expected at least one");
        assert_eq!(said(2, &[(0, 1), (1, 2)]), "links[1] ends at node 2; expected a node from 0 to 1");
        assert_eq!(said(2, &[(1, 1)]), "links[0] leads from node 1 to itself; expected two different nodes");
        let twice = said(3, &[(0, 1), (1, 2), (1, 0)]);
        assert_eq!(twice, "links[2] joins nodes 0 and 1 as links[0] does; expected each pair once");
    }

    #[test]
    fn bridges_are_the_links_without_which_it_falls_apart() {
        // Two triangles joined by 2-3, and a tail 5-6. The result for each link is compared with a search.
        let links = vec![(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6)];
        let graph = Graph::new(7, links).unwrap();
        let looked: Vec<bool> = (0..8).map(|link| graph.unreached(0, |other| other != link).is_some()).collect();
        assert_eq!(graph.bridges(), looked);
        assert_eq!(looked.iter().filter(|&&bridge| bridge).count(), 2);
    }

    #[test]
    fn links_are_called_by_the_names_of_their_ends() {
        let graph = Graph::new(2, vec![(1, 0)]).unwrap();
        assert_eq!(graph.link_name(0), "1-0");
        assert_eq!(graph.with_names(vec!["Rome".into(), "Pisa".into()]).link_name(0), "Pisa-Rome");
    }

    #[test]
    fn a_path_of_four_nodes_by_hand() {
        // 0-1-2-3: each outer link is on the paths of 3 pairs (1 x 3), the middle one on those of 2 x 2 = 4.
        let graph = Graph::new(4, vec![(0, 1), (1, 2), (2, 3)]).unwrap();
        assert_eq!(edge_betweenness(&graph), [3.0, 4.0, 3.0]);
    }

    #[test]
    fn equal_paths_share() {
        // A ring of four: each link carries its own pair and half of each of the two pairs across: 1 + 2 x 1/2 =
        // 2.
        let graph = Graph::new(4, vec![(0, 1), (1, 2), (2, 3), (3, 0)]).unwrap();
        assert_eq!(edge_betweenness(&graph), [2.0; 4]);
    }

    #[test]
    fn parts_that_do_not_meet_count_by_themselves() {
        let graph = Graph::new(4, vec![(0, 1), (2, 3)]).unwrap();
        assert_eq!(edge_betweenness(&graph), [1.0, 1.0]);
    }
}
