//! Link controllers in Python.

use super::views::{EventView, LinkView, Seen};
use super::{Class, from_vocabulary, nonsense, refused, session, table};
use netlull_mechanism::ConfigError;
use netlull_mechanism::link::{LinkAction, LinkContext, LinkController, LinkFactory};
use netlull_mechanism::observe::{Adapter, Decision, Observation, Plug, Reason, Subscriber};
use netlull_sim::tape::PartHead;
use netlull_units::{BitRate, Instant};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Reads a controller from its table in a document.
pub(super) fn load(fields: &Map<String, Value>) -> Result<Arc<dyn LinkFactory>, ConfigError> {
    if session::plays() {
        return Taped::find(table(fields)).map(|taped| Arc::new(taped) as Arc<dyn LinkFactory>);
    }
    let class = Class::find("controllers", fields)?;
    let rate: Option<f64> = class.attribute("initial_rate")?;
    let reads_segments = class.attribute("segments")?;
    let initial_rate = rate.map(|rate| bits_per_second(rate, "initial_rate")).transpose()?;
    Ok(Arc::new(Factory { class, initial_rate, reads_segments }))
}

/// Makes an object of a class for each link.
#[derive(Debug)]
struct Factory {
    class: Class,
    initial_rate: Option<BitRate>,
    reads_segments: bool,
}

impl LinkFactory for Factory {
    fn name(&self) -> &str {
        &self.class.name
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.initial_rate
    }

    fn reads_segments(&self) -> bool {
        self.reads_segments
    }

    fn table(&self) -> Option<Value> {
        Some(self.class.table.clone())
    }

    fn build(&self, link: LinkContext, start: Instant) -> Result<Box<dyn LinkController>, ConfigError> {
        let (plug, methods) = Python::attach(|py| {
            let started = self.class.start(py, LinkView::from(&link))?;
            let (plug, methods): (String, Methods) = started.extract().map_err(|error| refused(py, error, "start"))?;
            let plug = serde_json::from_str(&plug).map_err(|error| ConfigError::new("start", error, "a subscription"))?;
            Ok::<(Plug, Methods), ConfigError>((plug, methods))
        })?;
        let recorded = plug.clone();
        let [tick, threshold, event] = methods;
        match session::join(&self.class, Object { tick, threshold, event }, |head| PartHead {
            plug: Some(recorded),
            ..head
        }) {
            session::Part::Live(object) => Ok(Box::new(Adapter::new(plug, object, link, start)?)),
            session::Part::Recorded(object) => Ok(Box::new(Adapter::new(plug, object, link, start)?)),
        }
    }
}

/// The bound methods `tick`, `threshold` and `event` that the class defines.
type Methods = [Option<Py<PyAny>>; 3];

/// An object that controls a link.
#[derive(Debug)]
struct Object {
    tick: Option<Py<PyAny>>,
    threshold: Option<Py<PyAny>>,
    event: Option<Py<PyAny>>,
}

impl Subscriber for Object {
    fn observe(&mut self, seen: &Observation) -> Result<Option<Decision>, ConfigError> {
        let (method, name) = match seen.reason {
            Reason::Tick => (&self.tick, "tick"),
            Reason::Threshold { .. } => (&self.threshold, "threshold"),
            Reason::Event(_) => (&self.event, "event"),
        };
        let Some(method) = method else { return Ok(None) };
        Python::attach(|py| {
            let view = Seen(*seen);
            let answer = match seen.reason {
                Reason::Event(event) => method.bind(py).call1((view, EventView(event))),
                Reason::Tick | Reason::Threshold { .. } => method.bind(py).call1((view,)),
            };
            decision(&answer.map_err(|error| refused(py, error, name))?, name)
        })
    }
}

/// The decision in an answer: a rate in bit/s, as text, or an action; `None` for no change.
fn decision(answer: &Bound<'_, PyAny>, method: &str) -> Result<Option<Decision>, ConfigError> {
    if answer.is_none() {
        return Ok(None);
    }
    if !answer.is_instance_of::<PyBool>() && !answer.is_instance_of::<PyString>()
        && let Ok(rate) = answer.extract::<f64>()
    {
        return bits_per_second(rate, "rate").map(|rate| Some(Decision::Rate(rate)));
    }
    if let Some(rate) = from_vocabulary::<BitRate>(answer) {
        return Ok(Some(Decision::Rate(rate)));
    }
    if let Some(action) = from_vocabulary::<LinkAction>(answer) {
        return Ok(Some(Decision::Action(action)));
    }
    Err(nonsense(answer, method, "a rate in b/s, an action or None"))
}

/// A rate from a number in bit/s.
fn bits_per_second(rate: f64, field: &str) -> Result<BitRate, ConfigError> {
    let whole = rate.round();
    if !(0.0..1.8e19).contains(&whole) {
        return Err(ConfigError::new(field, format!("{rate} b/s"), "more than 0 b/s and at most the link's rate"));
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    Ok(BitRate::from_bps(whole as u64))
}

/// A controller whose answers are on a tape.
#[derive(Debug)]
struct Taped {
    head: PartHead,
    plug: Plug,
}

impl Taped {
    fn find(table: Value) -> Result<Self, ConfigError> {
        let head = session::on_tape(&table).ok_or_else(|| not_on_tape(&table))?;
        let plug = head.plug.clone().ok_or_else(|| not_on_tape(&table))?;
        Ok(Self { head, plug })
    }
}

/// The error of a plug-in without a recording.
pub(super) fn not_on_tape(table: &Value) -> ConfigError {
    ConfigError::new("class", &table["class"], "a class, a source and parameters that are on the tape")
}

impl LinkFactory for Taped {
    fn name(&self) -> &str {
        &self.head.name
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.plug.initial_rate
    }

    fn reads_segments(&self) -> bool {
        self.plug.subscription.segments
    }

    fn table(&self) -> Option<Value> {
        Some(self.head.table.clone())
    }

    fn build(&self, link: LinkContext, start: Instant) -> Result<Box<dyn LinkController>, ConfigError> {
        let (head, played) = session::play_next().ok_or_else(|| not_on_tape(&self.head.table))?;
        let plug = head.plug.unwrap_or_else(|| self.plug.clone());
        Ok(Box::new(Adapter::new(plug, played, link, start)?))
    }
}
