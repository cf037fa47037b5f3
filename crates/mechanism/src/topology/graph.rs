//! The undirected graph of a network: routers and the cables between them.

use std::collections::BTreeMap;
use std::fmt;

/// An undirected graph without self-loops and double links. Nodes and links are numbered from 0 in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    links: Vec<(usize, usize)>,
    /// Of each node: (neighbour, link).
    adjacent: Vec<Vec<(usize, usize)>>,
    /// What messages call the nodes; empty: their numbers.
    names: Vec<String>,
}

/// Why links are no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphError {
    /// There is no node at all.
    NoNodes,
    /// A link ends at a node that there is not.
    UnknownNode {
        /// The link's index.
        link: usize,
        /// The node it names.
        node: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A link leads from a node to itself.
    SelfLoop {
        /// The link's index.
        link: usize,
        /// The node.
        node: usize,
    },
    /// Two links join the same nodes, in whatever direction.
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
    /// A graph of nodes 0 .. `nodes` - 1 and links between two of them.
    ///
    /// # Errors
    /// If there is no node, or a link ends nowhere, is a self-loop, or is there twice.
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

    /// The same graph, whose nodes messages call by name. Names beyond the nodes are left; nodes beyond the names keep their numbers.
    #[must_use]
    pub fn with_names(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.adjacent.len()
    }

    /// The links as they were given.
    #[must_use]
    pub fn links(&self) -> &[(usize, usize)] {
        &self.links
    }

    /// A node's neighbours, and the links to them.
    #[must_use]
    pub fn adjacent(&self, node: usize) -> &[(usize, usize)] {
        &self.adjacent[node]
    }

    /// (lower, higher) end of a link.
    #[must_use]
    pub fn ordered_ends(&self, link: usize) -> (usize, usize) {
        let (a, b) = self.links[link];
        (a.min(b), a.max(b))
    }

    /// What messages call a node.
    #[must_use]
    pub fn node_name(&self, node: usize) -> String {
        self.names.get(node).cloned().unwrap_or_else(|| node.to_string())
    }

    /// What messages call a link: its ends as they were given.
    #[must_use]
    pub fn link_name(&self, link: usize) -> String {
        let (a, b) = self.links[link];
        format!("{}-{}", self.node_name(a), self.node_name(b))
    }

    /// A node that `from` does not reach over the links of which `on` is true.
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

    /// Of each link, whether the graph falls apart without it (Tarjan, 1974: no way back from below it).
    #[must_use]
    pub fn bridges(&self) -> Vec<bool> {
        const NEW: usize = usize::MAX;
        let (mut number, mut low) = (vec![NEW; self.nodes()], vec![NEW; self.nodes()]);
        let (mut bridges, mut next) = (vec![false; self.links.len()], 0);
        for root in 0..self.nodes() {
            if number[root] != NEW {
                continue;
            }
            // (node, link it was reached by, how many of its neighbours have been looked at)
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
        // Two triangles joined by 2-3, and a tail 5-6; each link is held against looking.
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
}
