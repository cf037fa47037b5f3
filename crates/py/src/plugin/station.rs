//! Policies of stations in Python.

use super::link::not_on_tape;
use super::views::StationEventView;
use super::{Class, because, from_vocabulary, instant, nonsense, refused, session, table};
use netlull_mechanism::ConfigError;
use netlull_mechanism::observe::{StationAdapter, StationAnswer, StationSubscriber};
use netlull_mechanism::radio::AccessPointConfig;
use netlull_mechanism::station::{self, StationAction, StationEvent};
use netlull_sim::tape::PartHead;
use netlull_units::Instant;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Reads a policy from its table in a document.
pub(super) fn load(fields: &Map<String, Value>) -> Result<Arc<dyn station::Factory>, ConfigError> {
    if session::plays() {
        let table = table(fields);
        let head = session::on_tape(&table).ok_or_else(|| not_on_tape(&table))?;
        return Ok(Arc::new(Taped { access_point: access_point(head.access_point.clone())?, head }));
    }
    let class = Class::find("station_policies", fields)?;
    let access: Option<String> = class.attribute("access_point")?;
    let access = access.map(|json| serde_json::from_str(&json)).transpose();
    let access: Option<Value> = access.map_err(|error| ConfigError::new("access_point", error, "a table"))?;
    Ok(Arc::new(Factory { class, access_point: access_point(access.clone())?, access }))
}

fn access_point(table: Option<Value>) -> Result<Option<AccessPointConfig>, ConfigError> {
    let read = |table: &Value| netlull_document::read::<AccessPointConfig>(table);
    let refused = |error: netlull_document::ReadError| ConfigError {
        field: ["access_point".to_owned()].into_iter().chain(error.path).collect::<Vec<_>>().join("."),
        value: error.message,
        expected: "the parameters of an access point".to_owned(),
    };
    table.as_ref().map(read).transpose().map_err(refused)
}

/// Makes an object of a class for each station.
#[derive(Debug)]
struct Factory {
    class: Class,
    access: Option<Value>,
    access_point: Option<AccessPointConfig>,
}

impl station::Factory for Factory {
    fn name(&self) -> &str {
        &self.class.name
    }

    fn access_point(&self) -> Option<&AccessPointConfig> {
        self.access_point.as_ref()
    }

    fn table(&self) -> Option<Value> {
        Some(self.class.table.clone())
    }

    fn build(&self, station: station::Context, _start: Instant) -> Result<Box<dyn station::Policy>, ConfigError> {
        let (object, timeout) = Python::attach(|py| {
            let context = (station.air_rate.as_f64(), station.wake.as_secs_f64(), station.mtu.as_u64());
            let object = self.class.start(py, context)?;
            let event = object.getattr("event").map_err(|error| refused(py, error, "event"))?.unbind();
            let object = Object { object: object.unbind(), event };
            let timeout = object.timeout(py)?;
            Ok::<_, ConfigError>((object, timeout))
        })?;
        let head = |head| PartHead { timeout, access_point: self.access.clone(), ..head };
        Ok(match session::join(&self.class, object, head) {
            session::Part::Live(object) => Box::new(StationAdapter::new(object, timeout)),
            session::Part::Recorded(object) => Box::new(StationAdapter::new(object, timeout)),
        })
    }
}

/// An object that controls a station.
#[derive(Debug)]
struct Object {
    object: Py<PyAny>,
    event: Py<PyAny>,
}

impl Object {
    /// The attribute `timer`: the time of the next timeout, in seconds.
    fn timeout(&self, py: Python<'_>) -> Result<Option<Instant>, ConfigError> {
        let timer = self.object.bind(py).getattr("timer").map_err(|error| refused(py, error, "timer"))?;
        if timer.is_none() {
            return Ok(None);
        }
        let seconds = timer.extract::<f64>().ok().and_then(instant);
        seconds.map(Some).ok_or_else(|| nonsense(&timer, "timer", "seconds since the start of the run, or None"))
    }
}

impl StationSubscriber for Object {
    fn answer(&mut self, now: Instant, event: &StationEvent) -> Result<StationAnswer, ConfigError> {
        Python::attach(|py| {
            let view = StationEventView { now, event: *event };
            let answer = self.event.bind(py).call1((view,)).map_err(|error| refused(py, error, "event"))?;
            let actions = actions(&answer)?;
            Ok(StationAnswer { actions, timeout: self.timeout(py)? })
        })
    }
}

/// The actions in an answer: none, one, or a list of them.
fn actions(answer: &Bound<'_, PyAny>) -> Result<Vec<StationAction>, ConfigError> {
    if answer.is_none() {
        return Ok(Vec::new());
    }
    let one = |answer: &Bound<'_, PyAny>| {
        let expected = "an action such as \"sleep\" or \"wake\", a list of actions, or None";
        from_vocabulary::<StationAction>(answer)
            .map_err(|reason| nonsense(answer, "event", &because(expected, &reason)))
    };
    if let Ok(list) = answer.cast::<PyList>() {
        return list.iter().map(|each| one(&each)).collect();
    }
    if let Ok(tuple) = answer.cast::<PyTuple>() {
        return tuple.iter().map(|each| one(&each)).collect();
    }
    one(answer).map(|action| vec![action])
}

/// A policy whose answers are on a tape.
#[derive(Debug)]
struct Taped {
    head: PartHead,
    access_point: Option<AccessPointConfig>,
}

impl station::Factory for Taped {
    fn name(&self) -> &str {
        &self.head.name
    }

    fn access_point(&self) -> Option<&AccessPointConfig> {
        self.access_point.as_ref()
    }

    fn table(&self) -> Option<Value> {
        Some(self.head.table.clone())
    }

    fn build(&self, _station: station::Context, _start: Instant) -> Result<Box<dyn station::Policy>, ConfigError> {
        let (head, played) = session::play_next(&self.head.table).ok_or_else(|| not_on_tape(&self.head.table))?;
        Ok(Box::new(StationAdapter::new(played, head.timeout)))
    }
}
