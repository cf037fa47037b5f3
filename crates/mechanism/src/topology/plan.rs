//! The trait of sleep plans: parameters from which, with a graph, a [`SleepPlan`] follows.
//!
//! [`super::algorithms`] has their list.

use super::{Graph, SleepPlan, Traffic};
use crate::ConfigError;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::sync::Arc;

/// The parameters of a sleep plan: everything that documents, schema, catalogue and builders need to know.
pub trait SleepPlanConfig: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// Whether the plan reads capacities, weights and demands.
    const READS_TRAFFIC: bool = false;
    /// The quantity by which the plan orders the links.
    const RANK: Rank;

    /// The links that sleep. The same graph and traffic give the same plan, to the bit.
    ///
    /// `traffic` is empty for plans that do not read it.
    ///
    /// # Errors
    /// Names the first value that cannot be used, and the expectation.
    fn plan(&self, graph: &Graph, traffic: &Traffic) -> Result<SleepPlan, ConfigError>;
}

/// A quantity by which a plan orders the links, as tables show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Its name.
    pub name: &'static str,
    /// Its unit; `None` if it has none.
    pub unit: Option<&'static str>,
}

/// A maker of sleep plans from outside this crate.
pub trait SleepPlanner: Debug + Send + Sync {
    /// Whether it reads capacities, weights and demands.
    fn reads_traffic(&self) -> bool {
        false
    }

    /// The links that sleep; see [`SleepPlanConfig::plan`].
    ///
    /// # Errors
    /// If the planner cannot work on this graph or traffic.
    fn plan(&self, graph: &Graph, traffic: &Traffic) -> Result<SleepPlan, ConfigError>;
}

/// A maker of sleep plans from outside this crate. It lives in one process: documents cannot be written with it.
#[derive(Clone, Debug)]
pub struct ForeignPlanner(pub Arc<dyn SleepPlanner>);

impl PartialEq for ForeignPlanner {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
