//! Congestion controls in Python.

use super::link::not_on_tape;
use super::views::{AckView, DeliveryView, IdleView, LossView, LostView, RecoveredView, SpuriousView, StartView};
use super::{Class, nonsense, refused, session, table};
use netlull_mechanism::ConfigError;
use netlull_sim::tape::{PartHead, Played, Recorded};
use netlull_tcp::Config;
use netlull_tcp::cc::{
    Answer, CongestionControlFactory, ControlEvent, Heard, Listener, PlugInControl, TimeoutKind, Variable,
};
use netlull_units::BitRate;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Reads a congestion control from its table in a document.
pub(super) fn load(fields: &Map<String, Value>) -> Result<Arc<dyn CongestionControlFactory>, ConfigError> {
    if session::plays() {
        let table = table(fields);
        // Without an event, a class has no part on the tape.
        let name = table["class"].as_str().and_then(|class| class.rsplit([':', '.']).next()).unwrap_or_default();
        let unborn = PartHead { name: name.to_owned(), table: table.clone(), ..PartHead::default() };
        return Ok(Arc::new(Taped(session::on_tape(&table).unwrap_or(unborn))));
    }
    let class = Class::find("congestion_controls", fields)?;
    let wants_deliveries = class.attribute("deliveries")?;
    let owns_window = class.attribute("owns_window")?;
    Ok(Arc::new(Factory { class: Arc::new(class), wants_deliveries, owns_window }))
}

/// Makes an object of a class for each endpoint.
#[derive(Debug)]
struct Factory {
    class: Arc<Class>,
    wants_deliveries: bool,
    owns_window: bool,
}

impl CongestionControlFactory for Factory {
    fn name(&self) -> &str {
        &self.class.name
    }

    fn build(&self, config: &Config, _seed: u32) -> Box<dyn PlugInControl> {
        let (class, mss) = (Arc::clone(&self.class), config.mss.into());
        let Self { wants_deliveries, owns_window, .. } = *self;
        let endpoint = Endpoint { class, mss, wants_deliveries, owns_window, state: State::Unborn };
        Box::new(Heard::new(endpoint, config))
    }
}

/// The congestion control of an endpoint. Its object is made at the first event: most receivers never have one.
#[derive(Debug)]
struct Endpoint {
    class: Arc<Class>,
    mss: u32,
    wants_deliveries: bool,
    owns_window: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    Unborn,
    Live(Object),
    Recorded(Recorded<Object>),
}

impl Clone for Endpoint {
    /// Copies an endpoint before its first event. The copy of a later state is an endpoint before its first event, too:
    /// the state of an object cannot be copied.
    fn clone(&self) -> Self {
        Self { class: Arc::clone(&self.class), state: State::Unborn, ..*self }
    }
}

impl Endpoint {
    fn give_birth(&mut self) -> Result<(), ConfigError> {
        let object = Python::attach(|py| Object::new(py, &self.class, self.mss))?;
        let (deliveries, owns_window) = (self.wants_deliveries, self.owns_window);
        self.state = match session::join(&self.class, object, |head| PartHead { deliveries, owns_window, ..head }) {
            session::Part::Live(object) => State::Live(object),
            session::Part::Recorded(object) => State::Recorded(object),
        };
        Ok(())
    }
}

impl Listener for Endpoint {
    fn hear(&mut self, event: &ControlEvent) -> Result<Answer, ConfigError> {
        if matches!(self.state, State::Unborn) {
            self.give_birth()?;
        }
        match &mut self.state {
            State::Unborn => Ok(Answer::default()),
            State::Live(object) => object.hear(event),
            State::Recorded(object) => object.hear(event),
        }
    }

    fn wants_deliveries(&self) -> bool {
        self.wants_deliveries
    }

    fn owns_window(&self) -> bool {
        self.owns_window
    }

    fn variables(&self, each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        match &self.state {
            State::Unborn => Ok(()),
            State::Live(object) => object.variables(each),
            State::Recorded(object) => object.variables(each),
        }
    }
}

/// The object of an endpoint, and its last window.
#[derive(Debug)]
struct Object {
    object: Py<PyAny>,
    /// The bound methods that the class defines, by name.
    methods: Py<PyDict>,
    deliveries: bool,
    cwnd: u64,
    ssthresh: u64,
    pacing_rate: Option<BitRate>,
}

impl Object {
    fn new(py: Python<'_>, class: &Class, mss: u32) -> Result<Self, ConfigError> {
        let object = class.start(py, (mss,))?;
        let methods = object.call_method0("_methods").and_then(|methods| Ok(methods.cast_into::<PyDict>()?.unbind()));
        let methods = methods.map_err(|error| refused(py, error, "class"))?;
        let (object, deliveries) = (object.unbind(), class.attribute("deliveries")?);
        Ok(Self { object, methods, deliveries, cwnd: 0, ssthresh: u64::MAX, pacing_rate: None })
    }

    /// Calls the method of an event.
    fn call(&self, py: Python<'_>, event: &ControlEvent) -> PyResult<()> {
        let methods = self.methods.bind(py);
        let method = |name: &str| methods.get_item(name).ok().flatten();
        let Some(own) = method(event.method()) else {
            // As the trait does: a loss by default.
            return match (event, method("on_loss")) {
                (ControlEvent::OnSegmentLost { loss, .. } | ControlEvent::OnCongestionEcho(loss), Some(on_loss)) => {
                    on_loss.call1((LossView::from(loss),)).map(|_| ())
                }
                _ => Ok(()),
            };
        };
        match event {
            ControlEvent::OnEstablished(start) => own.call1((StartView::from(start),)),
            ControlEvent::OnAck(ack) | ControlEvent::OnDuplicateAck(ack) => own.call1((AckView::from(ack),)),
            ControlEvent::OnLoss(loss) | ControlEvent::OnCongestionEcho(loss) => own.call1((LossView::from(loss),)),
            ControlEvent::OnSegmentLost { loss, sent } => {
                own.call1((LossView::from(loss), sent.at.as_secs_f64(), sent.count))
            }
            ControlEvent::OnTimeout { loss, kind } => own.call1((LossView::from(loss), *kind == TimeoutKind::Repeated)),
            ControlEvent::OnRecovered(recovered) => own.call1((RecoveredView::from(recovered),)),
            ControlEvent::OnSpurious(spurious) => own.call1((SpuriousView::from(spurious),)),
            ControlEvent::OnIdleRestart(idle) | ControlEvent::OnFlight(idle) => own.call1((IdleView::from(idle),)),
            ControlEvent::OnDelivery(delivery) => own.call1((DeliveryView::from(delivery),)),
            ControlEvent::OnMarkedLost { now, lost } => own.call1((now.as_secs_f64(), LostView::from(lost))),
            ControlEvent::OnRestart { now } => own.call1((now.as_secs_f64(),)),
        }
        .map(|_| ())
    }

    /// Passes on the dict that the method `variables` returns: numbers and words by name.
    fn pass_variables(&self, py: Python<'_>, each: &mut dyn FnMut(&str, Variable<'_>)) -> PyResult<()> {
        let Some(method) = self.methods.bind(py).get_item("variables")? else { return Ok(()) };
        for (name, value) in method.call0()?.cast_into::<PyDict>()? {
            let name = name.extract::<String>()?;
            if name.starts_with("C.") {
                let message =
                    format!("{name:?} is a variable of the stack; expected a name that does not begin with C.");
                return Err(PyValueError::new_err(message));
            }
            match value.cast::<PyString>() {
                Ok(word) => each(&name, Variable::Word(word.to_str()?)),
                Err(_) => each(&name, Variable::Number(value.extract()?)),
            }
        }
        Ok(())
    }

    /// The changes of the object's attributes.
    fn answer(&mut self, py: Python<'_>) -> Result<Answer, ConfigError> {
        let object = self.object.bind(py);
        let get = |name: &str| object.getattr(name).map_err(|error| refused(py, error, name));
        let cwnd = bytes(&get("cwnd")?, "cwnd")?;
        let ssthresh = bytes(&get("ssthresh")?, "ssthresh")?;
        let pacing = get("pacing_rate")?;
        let pacing_rate = if pacing.is_none() { None } else { Some(BitRate::from_bps(bytes(&pacing, "pacing_rate")?)) };
        if pacing_rate.is_some() && !self.deliveries {
            return Err(nonsense(&pacing, "pacing_rate", "None, or the class attribute `deliveries = True`"));
        }
        if pacing_rate.is_none() && self.pacing_rate.is_some() {
            return Err(nonsense(&pacing, "pacing_rate", "a rate in b/s, since an earlier event has set one"));
        }
        let answer = Answer {
            cwnd: (cwnd != self.cwnd).then_some(cwnd),
            ssthresh: (ssthresh != self.ssthresh).then_some(ssthresh),
            pacing_rate: pacing_rate.filter(|_| pacing_rate != self.pacing_rate),
        };
        (self.cwnd, self.ssthresh, self.pacing_rate) = (cwnd, ssthresh, pacing_rate);
        Ok(answer)
    }
}

/// A number of bytes, or of bits per second. Fractions are cut off; infinity is the largest number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is positive, and saturates")]
fn bytes(value: &Bound<'_, PyAny>, name: &str) -> Result<u64, ConfigError> {
    let number = value.extract::<f64>().ok().filter(|number| *number >= 1.0 && !value.is_instance_of::<PyBool>());
    number.map(|number| number as u64).ok_or_else(|| nonsense(value, name, "a number of 1 or more"))
}

impl Listener for Object {
    fn hear(&mut self, event: &ControlEvent) -> Result<Answer, ConfigError> {
        Python::attach(|py| {
            if let ControlEvent::OnEstablished(start) = event {
                self.cwnd = start.initial_window;
                let set = |name, value: u64| self.object.bind(py).setattr(name, value);
                let set = set("cwnd", start.initial_window).and_then(|()| set("smss", start.smss.into()));
                set.map_err(|error| refused(py, error, "cwnd"))?;
            }
            self.call(py, event).map_err(|error| refused(py, error, event.method()))?;
            self.answer(py)
        })
    }

    fn variables(&self, each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        Python::attach(|py| self.pass_variables(py, each).map_err(|error| refused(py, error, "variables")))
    }
}

/// A congestion control whose answers are on a tape.
#[derive(Debug)]
struct Taped(PartHead);

impl CongestionControlFactory for Taped {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn build(&self, config: &Config, _seed: u32) -> Box<dyn PlugInControl> {
        let PartHead { table, deliveries, owns_window, .. } = self.0.clone();
        let player = Player { table, deliveries, owns_window, played: None };
        Box::new(Heard::new(player, config))
    }
}

/// Plays the answers of an endpoint, which it finds at the first event.
#[derive(Clone, Debug)]
struct Player {
    table: Value,
    deliveries: bool,
    owns_window: bool,
    played: Option<Played>,
}

impl Listener for Player {
    fn hear(&mut self, event: &ControlEvent) -> Result<Answer, ConfigError> {
        if self.played.is_none() {
            self.played = session::play_next(&self.table).map(|(_, played)| played);
        }
        self.played.as_mut().ok_or_else(|| not_on_tape(&self.table))?.hear(event)
    }

    fn wants_deliveries(&self) -> bool {
        self.deliveries
    }

    fn owns_window(&self) -> bool {
        self.owns_window
    }
}
