//! The trait of sleep plans, parameters that turn a graph into a [`SleepPlan`], and the traffic that plans may read.
//!
//! [`super::algorithms`] has the list of plans.

use super::{Graph, SleepPlan};
use crate::{ConfigError, plug_in};
use netlull_document::Loaders;
use netlull_units::BitRate;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// The parameters of a sleep plan, the source of documents, schema, catalogue and builders.
pub trait SleepPlanConfig: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// True if the plan reads capacities, weights and demands.
    const READS_TRAFFIC: bool = false;
    /// The quantity by which the plan orders the links.
    const RANK: Rank;

    /// Computes the links that sleep. The same graph and traffic give the same plan, bit for bit.
    ///
    /// `traffic` is empty for plans that do not read it.
    ///
    /// # Errors
    /// Names the first unusable value and the expectation.
    fn plan(&self, graph: &Graph, traffic: &Traffic) -> Result<SleepPlan, ConfigError>;
}

/// A quantity by which a plan orders the links, as shown in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// The name of the quantity.
    pub name: &'static str,
    /// The unit of the quantity; `None` if it has none.
    pub unit: Option<&'static str>,
}

/// A factory of sleep plans defined outside this crate.
///
/// Unlike the other factories it needs no name: a plan is made once, before the run, and no result names it.
pub trait SleepPlanner: Debug + Send + Sync {
    /// Returns true if the planner reads capacities, weights and demands.
    fn reads_traffic(&self) -> bool {
        false
    }

    /// The plan's table in documents, with its `kind`; `None` if it exists only in its process.
    fn table(&self) -> Option<Value> {
        None
    }

    /// Computes the links that sleep; see [`SleepPlanConfig::plan`].
    ///
    /// # Errors
    /// If the planner cannot use this graph or traffic.
    fn plan(&self, graph: &Graph, traffic: &Traffic) -> Result<SleepPlan, ConfigError>;
}

/// The kinds of sleep plans that other crates read.
pub static PLUG_INS: Loaders<Arc<dyn SleepPlanner>> = Loaders::new();

/// A planner defined outside this crate. Documents store its table, if it has one.
#[derive(Clone, Debug)]
pub struct PlugIn(pub Arc<dyn SleepPlanner>);

impl PartialEq for PlugIn {
    fn eq(&self, other: &Self) -> bool {
        plug_in::same(&self.0, &other.0, |planner| planner.table())
    }
}

impl Serialize for PlugIn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        plug_in::write(self.0.table(), "plan", serializer)
    }
}

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
