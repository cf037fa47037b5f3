//! Reading a document so that an error names the field by the path that `--set` takes: `link.N1-N2.rate`.

use super::document::{
    AwmDocument, BernoulliDocument, BsdDocument, BurstsDocument, CEarthDocument, CampusSizeDocument, CapacityDocument,
    CbrDocument, ClientShaperDocument, CodelDocument, ControllerDocument, Document, DropTailDocument, EagerDocument,
    EarthDocument, EmpiricalSizeDocument, ExponentialSizeDocument, FixedFlowsDocument, FixedRoundTripDocument,
    FixedSizeDocument, FloodingDocument, FlowCountDocument, FlowDocument, GRouterDocument, GilbertElliottDocument,
    InitialRoundTripDocument, LinearCountingDocument, LoadAwareDocument, LognormalSizeDocument, LossDocument,
    ParetoSizeDocument, PlanDocument, PractraDocument, PrintedFlowsDocument, PrintedRoundTripDocument, PsmDocument,
    QueueDocument, RadioDocument, RadioPowersDocument, RateSteps, RatesDocument, RedDocument, ReplayDocument,
    RequestsDocument, RoundTripDocument, ScriptedDocument, SimultaneousDocument, SizeDocument,
    StationMechanismDocument, StepsDocument, TcpFlowDocument, ThresholdDocument, UniformRedrawDocument, UpdateDocument,
    WebSearchSizeDocument,
};
use super::error::ScenarioError;
use netlull_units::BitRate;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Separates an inner path from its message while an error travels up through serde.
const MARK: char = '\u{1}';

/// Reads a scenario document from JSON.
///
/// # Errors
/// Names the field, what it holds and what was expected.
pub fn read_document(json: &str) -> Result<Document, ScenarioError> {
    let value: Value =
        serde_json::from_str(json).map_err(|error| ScenarioError::new("scenario", format!("is not JSON: {error}")))?;
    if !value.is_object() {
        return Err(ScenarioError::new("scenario", "is not a table of fields"));
    }
    serde_path_to_error::deserialize(&value).map_err(|error| {
        let path = segments(error.path());
        let (inner, message) = unmark(&error.inner().to_string());
        let path = path.into_iter().chain(inner).collect::<Vec<_>>();
        ScenarioError::new(named_path(&value, &path), message)
    })
}

/// The path's keys and indices as text.
fn segments(path: &serde_path_to_error::Path) -> Vec<String> {
    use serde_path_to_error::Segment;
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

/// Takes apart what [`within`] put together, at any depth.
fn unmark(message: &str) -> (Vec<String>, String) {
    let mut parts: Vec<String> = message.split(MARK).map(str::to_owned).collect();
    let message = parts.pop().unwrap_or_default();
    (parts.into_iter().filter(|part| !part.is_empty()).collect(), message)
}

/// Replaces an index into `link` or `flow` by the entry's name, where it has one.
fn named_path(value: &Value, path: &[String]) -> String {
    let mut named = Vec::with_capacity(path.len());
    let mut here = Some(value);
    for key in path {
        let next = here.and_then(|value| match value {
            Value::Array(items) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
            other => other.get(key),
        });
        let name = match (here, next) {
            (Some(Value::Array(_)), Some(item)) => entry_name(item),
            _ => None,
        };
        named.push(name.unwrap_or_else(|| key.clone()));
        here = next;
    }
    if named.is_empty() { "scenario".to_owned() } else { named.join(".") }
}

/// The name by which paths call an entry of an array.
pub(super) fn entry_name(item: &Value) -> Option<String> {
    if let Some(name) = item.get("name").and_then(Value::as_str) {
        return Some(name.to_owned());
    }
    let (from, to) = (item.get("from")?.as_str()?, item.get("to")?.as_str()?);
    Some(format!("{from}-{to}"))
}

/// Reads a `T` from a value that serde has buffered, keeping the path of what is wrong inside it.
fn within<T: DeserializeOwned, E: serde::de::Error>(value: &Value) -> Result<T, E> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = segments(error.path()).join(&MARK.to_string());
        E::custom(format!("{path}{MARK}{}", error.inner()))
    })
}

/// Takes `kind` out of a table.
fn split_kind<'de, D: Deserializer<'de>>(deserializer: D, expected: &str) -> Result<(String, Value), D::Error> {
    let mut value = Value::deserialize(deserializer)?;
    let Some(table) = value.as_object_mut() else {
        return Err(D::Error::custom(format!("expected a table with a field `kind`: {expected}")));
    };
    match table.remove("kind") {
        Some(Value::String(kind)) => Ok((kind, value)),
        Some(other) => Err(D::Error::custom(format!("kind{MARK}{other} is no text; expected one of {expected}"))),
        None => Err(D::Error::custom(format!("missing field `kind`; expected one of {expected}"))),
    }
}

fn unknown_kind<E: serde::de::Error>(kind: &str, expected: &str) -> E {
    E::custom(format!("kind{MARK}\"{kind}\" is unknown; expected one of {expected}"))
}

/// Implements `Deserialize` for an enum tagged by `kind`.
macro_rules! read_by_kind {
    ($type:ident: $($kind:literal => $variant:ident($document:ty)),+ $(,)?) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                const EXPECTED: &str = concat!($("\"", $kind, "\" "),+).trim_ascii_end();
                let (kind, value) = split_kind(deserializer, EXPECTED)?;
                match kind.as_str() {
                    $($kind => within::<$document, D::Error>(&value).map(Self::$variant),)+
                    other => Err(unknown_kind(other, EXPECTED)),
                }
            }
        }
    };
}

read_by_kind!(
    ControllerDocument:
    "practra" => Practra(PractraDocument),
    "earth" => Earth(EarthDocument),
    "awm" => Awm(AwmDocument),
    "c_earth" => CEarth(CEarthDocument),
    "g_router" => GRouter(GRouterDocument),
);
read_by_kind!(
    FlowCountDocument:
    "fixed" => Fixed(FixedFlowsDocument),
    "printed" => Printed(PrintedFlowsDocument),
    "linear_counting" => LinearCounting(LinearCountingDocument),
);
read_by_kind!(
    RoundTripDocument:
    "fixed" => Fixed(FixedRoundTripDocument),
    "printed" => Printed(PrintedRoundTripDocument),
    "handshake" => Handshake(InitialRoundTripDocument),
    "timestamps" => Timestamps(InitialRoundTripDocument),
);
read_by_kind!(
    CapacityDocument:
    "uniform_redraw" => UniformRedraw(UniformRedrawDocument),
    "steps" => Steps(StepsDocument),
);
read_by_kind!(
    QueueDocument:
    "drop_tail" => DropTail(DropTailDocument),
    "red" => Red(RedDocument),
    "codel" => Codel(CodelDocument),
);
read_by_kind!(
    UpdateDocument:
    "flooding" => Flooding(FloodingDocument),
    "simultaneous" => Simultaneous(SimultaneousDocument),
);
read_by_kind!(
    PlanDocument:
    "estop" => Estop(ThresholdDocument),
    "esacon" => Esacon(ThresholdDocument),
    "load_aware" => LoadAware(LoadAwareDocument),
);
read_by_kind!(
    LossDocument:
    "bernoulli" => Bernoulli(BernoulliDocument),
    "gilbert_elliott" => GilbertElliott(GilbertElliottDocument),
    "scripted" => Scripted(ScriptedDocument),
);
read_by_kind!(
    StationMechanismDocument:
    "client_shaper" => ClientShaper(ClientShaperDocument),
    "eager" => Eager(EagerDocument),
    "psm" => Psm(PsmDocument),
    "bsd" => Bsd(BsdDocument),
);
read_by_kind!(
    FlowDocument:
    "tcp" => Tcp(TcpFlowDocument),
    "cbr" => Cbr(CbrDocument),
    "poisson" => Poisson(CbrDocument),
    "bursts" => Bursts(BurstsDocument),
    "requests" => Requests(RequestsDocument),
    "replay" => Replay(ReplayDocument),
);
read_by_kind!(
    SizeDocument:
    "fixed" => Fixed(FixedSizeDocument),
    "exponential" => Exponential(ExponentialSizeDocument),
    "pareto" => Pareto(ParetoSizeDocument),
    "lognormal" => Lognormal(LognormalSizeDocument),
    "campus" => Campus(CampusSizeDocument),
    "empirical" => Empirical(EmpiricalSizeDocument),
    "web_search" => WebSearch(WebSearchSizeDocument),
);

impl<'de> Deserialize<'de> for RatesDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            value @ Value::Object(_) => within::<RateSteps, D::Error>(&value).map(Self::Steps),
            value @ Value::Array(_) => within::<Vec<BitRate>, D::Error>(&value).map(Self::List),
            other => Err(D::Error::custom(format!(
                "{other} is no set of rates; expected a list of rates or {{ from, to, step }}"
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for RadioDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(name) => Ok(Self::Name(name)),
            value @ Value::Object(_) => within::<RadioPowersDocument, D::Error>(&value).map(Self::Powers),
            other => Err(D::Error::custom(format!(
                "{other} is no radio; expected a name or {{ name, asleep, idle, receive, transmit, wake_time }}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(json: &str) -> String {
        read_document(json).unwrap_err().to_string()
    }

    const HEAD: &str = r#""duration": "1 s", "nodes": ["a", "b"]"#;

    #[test]
    fn errors_name_the_field_by_the_path_that_set_takes() {
        let link = |fields: &str| format!(r#"{{ {HEAD}, "link": [{{ "from": "a", "to": "b", {fields} }}] }}"#);
        assert!(why(&link(r#""rate": "10 MB/s""#)).starts_with("link.a-b.rate: \"10 MB/s\" has the unit \"MB/s\""));
        assert!(
            why(&link(r#""rate": 10"#)).starts_with("link.a-b.rate: invalid type: integer `10`, expected a bit rate")
        );
        assert!(why(&link(r#""rate": "1 Mb/s", "speed": 1"#)).contains("unknown field `speed`, expected one of"));
        let practra = r#""rate": "1 Mb/s", "controller": { "kind": "practra", "rates": { "from": "x" } }"#;
        assert!(
            why(&link(practra)).starts_with("link.a-b.controller.rates.from: \"x\" does not start"),
            "{}",
            why(&link(practra))
        );
        let kind = r#""rate": "1 Mb/s", "controller": { "kind": "magic" }"#;
        assert_eq!(
            why(&link(kind)),
            "link.a-b.controller.kind: \"magic\" is unknown; expected one of \"practra\" \"earth\" \"awm\" \"c_earth\" \"g_router\""
        );
    }

    #[test]
    fn what_is_no_document_is_refused() {
        assert!(why("[]").contains("is not a table"));
        assert!(why("{").contains("is not JSON"));
        assert!(why("{}").contains("missing field `duration`"));
        assert!(why(&format!(r#"{{ {HEAD}, "flow": [{{ "name": "f" }}] }}"#)).contains("flow.f: missing field `kind`"));
        assert!(
            why(r#"{ "duration": "1 s", "nodes": [], "seed": -1 }"#).starts_with("seed: invalid value: integer `-1`")
        );
    }

    #[test]
    fn a_document_written_out_reads_back() {
        let json = format!(
            r#"{{ {HEAD}, "link": [{{ "from": "a", "to": "b", "duplex": true, "rate": "10 Mb/s", "delay": "5 ms" }}],
                 "flow": [{{ "kind": "tcp", "name": "t", "from": "a", "to": "b", "size": "5 MB" }}] }}"#
        );
        let document = read_document(&json).expect("valid");
        let written = serde_json::to_string(&document).expect("writes");
        assert_eq!(read_document(&written).expect("reads back"), document);
    }
}
