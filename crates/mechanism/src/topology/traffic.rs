//! The traffic of a network, for plans that respect the links' capacities.

use super::Graph;
use crate::ConfigError;
use netlull_units::BitRate;

/// The demands on a network, and the capacities and weights of its links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The capacity of each link in each direction, in bit/s.
    pub capacities: Vec<BitRate>,
    /// The routing cost of each link, at least 1.
    pub weights: Vec<u32>,
    /// The demands between nodes.
    pub demands: Vec<Demand>,
}

/// Traffic from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The sending node.
    pub from: usize,
    /// The receiving node.
    pub to: usize,
    /// The mean rate in bit/s.
    pub rate: BitRate,
}

impl Traffic {
    /// Checks every value against the graph.
    ///
    /// # Errors
    /// Names the first unusable value and the expectation.
    pub fn check(&self, graph: &Graph) -> Result<(), ConfigError> {
        self.check_links(graph)?;
        self.check_demands(graph)
    }

    fn check_links(&self, graph: &Graph) -> Result<(), ConfigError> {
        let links = graph.links().len();
        for (field, count) in [("capacities", self.capacities.len()), ("weights", self.weights.len())] {
            if count != links {
                let expected = format!("one for each of the {links} links");
                return Err(ConfigError::new(field, format!("a list of {count}"), expected));
            }
        }
        if let Some(link) = self.capacities.iter().position(|capacity| capacity.is_zero()) {
            let value = format!("{} for link {}", self.capacities[link], graph.link_name(link));
            return Err(ConfigError::new("capacities", value, "a rate above zero"));
        }
        if let Some(link) = self.weights.iter().position(|&weight| weight == 0) {
            return Err(ConfigError::new("weights", format!("0 for link {}", graph.link_name(link)), "1 or more"));
        }
        Ok(())
    }

    fn check_demands(&self, graph: &Graph) -> Result<(), ConfigError> {
        let mut total = 0_u64;
        for (index, demand) in self.demands.iter().enumerate() {
            if let Some(node) = [demand.from, demand.to].into_iter().find(|&node| node >= graph.nodes()) {
                let expected = format!("a node from 0 to {}", graph.nodes() - 1);
                return Err(ConfigError::new("demands", format!("node {node} in demand {index}"), expected));
            }
            if demand.from == demand.to {
                let value = format!("node {} to itself in demand {index}", graph.node_name(demand.from));
                return Err(ConfigError::new("demands", value, "two different nodes"));
            }
            total = total.checked_add(demand.rate.as_bps()).ok_or_else(|| {
                ConfigError::new("demands", "more than 2^64 bit/s in all", "rates that can be added up")
            })?;
        }
        Ok(())
    }
}
