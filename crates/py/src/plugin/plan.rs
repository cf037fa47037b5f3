//! Sleep plans in Python.

use super::link::not_on_tape;
use super::{Class, refused, session, table};
use netlull_mechanism::ConfigError;
use netlull_mechanism::topology::{Graph, SleepPlan, SleepPlanner, Traffic};
use netlull_sim::tape::PartHead;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Reads a plan from its table in a document.
pub(super) fn load(fields: &Map<String, Value>) -> Result<Arc<dyn SleepPlanner>, ConfigError> {
    if session::plays() {
        return Ok(Arc::new(Taped(table(fields))));
    }
    Ok(Arc::new(Planner(Class::find("sleep_plans", fields)?)))
}

/// Lets an object of a class choose the links.
#[derive(Debug)]
struct Planner(Class);

impl SleepPlanner for Planner {
    fn reads_traffic(&self) -> bool {
        true
    }

    fn table(&self) -> Option<Value> {
        Some(self.0.table.clone())
    }

    fn plan(&self, graph: &Graph, traffic: &Traffic) -> Result<SleepPlan, ConfigError> {
        let names: Vec<_> = (0..graph.nodes()).map(|node| graph.node_name(node).to_string()).collect();
        let capacities: Vec<_> = traffic.capacities.iter().map(|rate| rate.as_f64()).collect();
        let demands: Vec<_> =
            traffic.demands.iter().map(|demand| (demand.from, demand.to, demand.rate.as_f64())).collect();
        let network = (names, graph.links().to_vec(), capacities, traffic.weights.clone(), demands);
        let off: Vec<usize> = Python::attach(|py| {
            let off = self.0.begin(py, network, "plan")?;
            off.extract().map_err(|error| refused(py, error, "plan"))
        })?;
        let (name, table) = (self.0.name.clone(), self.0.table.clone());
        session::planned(PartHead { name, table, off: Some(off.clone()), ..PartHead::default() });
        Ok(plan(off))
    }
}

/// A plan without a measure of connectivity.
fn plan(off: Vec<usize>) -> SleepPlan {
    SleepPlan { initial_connectivity: 0.0, off, steps: Vec::new() }
}

/// A plan on a tape.
#[derive(Debug)]
struct Taped(Value);

impl SleepPlanner for Taped {
    fn reads_traffic(&self) -> bool {
        true
    }

    fn table(&self) -> Option<Value> {
        Some(self.0.clone())
    }

    fn plan(&self, _graph: &Graph, _traffic: &Traffic) -> Result<SleepPlan, ConfigError> {
        let head = session::next_plan().filter(|head| head.table == self.0).ok_or_else(|| not_on_tape(&self.0))?;
        Ok(plan(head.off.unwrap_or_default()))
    }
}
