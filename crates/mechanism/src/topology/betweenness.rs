//! Edge betweenness: the number of shortest paths across each link.

use super::Graph;
use std::collections::VecDeque;

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
