//! The trait of sleep plans: parameters that turn a graph into a [`SleepPlan`].
//!
//! [`super::algorithms`] has the list of plans.

use super::{Graph, SleepPlan, Traffic};
use crate::{ConfigError, foreign_table};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// The parameters of a sleep plan, the source of documents, schema, catalogue and builders.
pub trait SleepPlanConfig: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// Whether the plan reads capacities, weights and demands.
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
    /// Whether the planner reads capacities, weights and demands.
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

/// A planner defined outside this crate. Documents store its table, if it has one.
#[derive(Clone, Debug)]
pub struct ForeignPlanner(pub Arc<dyn SleepPlanner>);

impl PartialEq for ForeignPlanner {
    fn eq(&self, other: &Self) -> bool {
        foreign_table::same(&self.0, &other.0, |planner| planner.table())
    }
}

impl Serialize for ForeignPlanner {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        foreign_table::write(self.0.table(), "plan", serializer)
    }
}
