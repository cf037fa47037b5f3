//! Link controllers in Python.

use super::views::{EventView, Seen};
use super::{Class, because, from_vocabulary, nonsense, refused, session, table};
use netlull_mechanism::ConfigError;
use netlull_mechanism::link::{self, LinkAction};
use netlull_mechanism::observe::{Adapter, Decision, Observation, Plug, Reason, Subscriber};
use netlull_sim::tape::PartHead;
use netlull_units::{BitRate, Bytes, Instant};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyString, PyTuple};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Reads a controller from its table in a document.
pub(super) fn load(fields: &Map<String, Value>) -> Result<Arc<dyn link::Factory>, ConfigError> {
    if session::plays() {
        return Taped::find(table(fields)).map(|taped| Arc::new(taped) as Arc<dyn link::Factory>);
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

impl link::Factory for Factory {
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

    fn build(&self, link: link::Context, start: Instant) -> Result<Box<dyn link::Controller>, ConfigError> {
        let (plug, methods) = Python::attach(|py| {
            let link::Context { rate, mtu, buffer, suspends } = link;
            let context = (rate.as_f64(), mtu.as_u64(), buffer.map(Bytes::as_u64), suspends);
            let started = self.class.start(py, context)?;
            let (plug, methods): (String, Methods) = started.extract().map_err(|error| refused(py, error, "start"))?;
            let plug =
                serde_json::from_str(&plug).map_err(|error| ConfigError::new("start", error, "a subscription"))?;
            Ok::<(Plug, Methods), ConfigError>((plug, methods))
        })?;
        let recorded = plug.clone();
        let [tick, threshold, event] = methods;
        let object = Object { tick, threshold, event, spare: None };
        match session::join(&self.class, object, |head| PartHead { plug: Some(recorded), ..head }) {
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
    /// The last observation, and the tuple with it, for the next call.
    spare: Option<(Py<Seen>, Py<PyTuple>)>,
}

impl Object {
    /// The arguments of a call: the last observation with new content, unless the plug-in has kept it.
    fn arguments<'py>(&mut self, py: Python<'py>, seen: &Observation) -> PyResult<Bound<'py, PyTuple>> {
        if let Some((view, arguments)) = &self.spare {
            // SAFETY: the pointer is valid while `view` lives, and this thread has the GIL.
            let references = unsafe { pyo3::ffi::Py_REFCNT(view.as_ptr()) };
            // One is in the tuple, one here.
            if references == 2
                && let Ok(mut view) = view.try_borrow_mut(py)
            {
                view.0 = *seen;
                return Ok(arguments.bind(py).clone());
            }
        }
        let view = Py::new(py, Seen(*seen))?;
        let arguments = PyTuple::new(py, [&view])?;
        self.spare = Some((view, arguments.clone().unbind()));
        Ok(arguments)
    }
}

impl Subscriber for Object {
    fn observe(&mut self, seen: &Observation) -> Result<Option<Decision>, ConfigError> {
        Python::attach(|py| {
            let (method, name) = match seen.reason {
                Reason::Tick => (&self.tick, "tick"),
                Reason::Threshold { .. } => (&self.threshold, "threshold"),
                Reason::Event(_) => (&self.event, "event"),
            };
            let Some(method) = method.as_ref().map(|method| method.bind(py).clone()) else { return Ok(None) };
            let answer = match seen.reason {
                Reason::Event(event) => method.call1((Seen(*seen), EventView(event))),
                Reason::Tick | Reason::Threshold { .. } => {
                    self.arguments(py, seen).and_then(|arguments| method.call1(arguments))
                }
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
    if let Ok(rate) = answer.cast_exact::<PyFloat>() {
        return bits_per_second(rate.value(), "rate").map(|rate| Some(Decision::Rate(rate)));
    }
    if !answer.is_instance_of::<PyBool>()
        && !answer.is_instance_of::<PyString>()
        && let Ok(rate) = answer.extract::<f64>()
    {
        return bits_per_second(rate, "rate").map(|rate| Some(Decision::Rate(rate)));
    }
    let expected = "a rate in b/s, an action or None";
    if answer.is_instance_of::<PyString>() {
        let rate = from_vocabulary(answer).map_err(|reason| nonsense(answer, method, &because(expected, &reason)))?;
        return Ok(Some(Decision::Rate(rate)));
    }
    let action = from_vocabulary::<LinkAction>(answer);
    let action = action.map_err(|reason| nonsense(answer, method, &because(expected, &reason)))?;
    Ok(Some(Decision::Action(action)))
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

impl link::Factory for Taped {
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

    fn build(&self, link: link::Context, start: Instant) -> Result<Box<dyn link::Controller>, ConfigError> {
        let (head, played) = session::play_next(&self.head.table).ok_or_else(|| not_on_tape(&self.head.table))?;
        let plug = head.plug.unwrap_or_else(|| self.plug.clone());
        Ok(Box::new(Adapter::new(plug, played, link, start)?))
    }
}
