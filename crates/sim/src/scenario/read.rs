//! A reader of documents. Its errors name the field by the path of `--set`: `link.N1-N2.rate`.

use super::ScenarioError;
use super::document::{
    BernoulliDocument, BurstsDocument, CampusSizeDocument, CapacityDocument, CbrDocument, CodelDocument, Document,
    DropTailDocument, EmpiricalSizeDocument, ExponentialSizeDocument, FixedSizeDocument, FloodingDocument,
    FlowDocument, GilbertElliottDocument, LognormalSizeDocument, LossDocument, ParetoSizeDocument, PolicerDocument,
    QueueDocument, RadioDocument, RadioPowersDocument, RedDocument, ReplayDocument, RequestsDocument, ScriptedDocument,
    SimultaneousDocument, SizeDocument, StepsDocument, TcpFlowDocument, TraceDocument, UniformRedrawDocument,
    UpdateDocument, WebSearchSizeDocument,
};
use netlull_document::{read, read_by_kind, within};
use netlull_text::name_of;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a scenario document from JSON.
///
/// A valid document is read directly. Only an error needs the tree of values, which takes ten times the memory.
///
/// # Errors
/// Names the field, its value and the expectation.
pub fn read_document(json: &str) -> Result<Document, ScenarioError> {
    if json.trim_start().starts_with('{')
        && let Ok(document) = serde_json::from_str(json)
    {
        return Ok(document);
    }
    let value: Value =
        serde_json::from_str(json).map_err(|error| ScenarioError::new("scenario", format!("is not JSON: {error}")))?;
    if !value.is_object() {
        return Err(ScenarioError::new("scenario", "is not a table of fields"));
    }
    read_value(&value)
}

/// Reads a `T` from a table; an error names the field by its path.
pub(super) fn read_value<T: DeserializeOwned>(value: &Value) -> Result<T, ScenarioError> {
    read(value).map_err(|error| ScenarioError::new(named_path(value, &error.path), error.message))
}

/// Replaces an index into `link` or `flow` by the entry's name, if it has one.
pub(super) fn named_path(value: &Value, path: &[String]) -> String {
    let mut named = Vec::with_capacity(path.len());
    let mut here = Some(value);
    for key in path {
        let next = here.and_then(|value| match value {
            Value::Array(items) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
            other => other.get(key),
        });
        let name = match (here, next) {
            (Some(Value::Array(_)), Some(item)) => name_of(item),
            _ => None,
        };
        named.push(name.unwrap_or_else(|| key.clone()));
        here = next;
    }
    if named.is_empty() { "scenario".to_owned() } else { named.join(".") }
}

read_by_kind!(
    CapacityDocument:
    "uniform_redraw" => UniformRedraw(UniformRedrawDocument),
    "steps" => Steps(StepsDocument),
    "trace" => Trace(TraceDocument),
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
    LossDocument:
    "bernoulli" => Bernoulli(BernoulliDocument),
    "gilbert_elliott" => GilbertElliott(GilbertElliottDocument),
    "scripted" => Scripted(ScriptedDocument),
    "policer" => Policer(PolicerDocument),
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

impl<'de> Deserialize<'de> for RadioDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(name) => Ok(Self::Name(name)),
            value @ Value::Object(_) => within::<RadioPowersDocument, D::Error>(&value).map(Self::Powers),
            other => Err(D::Error::custom(format!(
                "{other} is not a radio; expected a name or {{ name, asleep, idle, receive, transmit, wake_time }}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_mechanism::link;

    fn why(json: &str) -> String {
        read_document(json).unwrap_err().to_string()
    }

    const HEAD: &str = r#""duration": "1 s", "nodes": ["a", "b"]"#;

    #[test]
    fn errors_name_the_field_by_the_path_that_set_takes() {
        let link = |fields: &str| format!(r#"{{ {HEAD}, "link": [{{ "from": "a", "to": "b", {fields} }}] }}"#);
        assert!(why(&link(r#""rate": "10 MB/s""#)).starts_with("link.a-b.rate: \"10 MB/s\" has the unit \"MB/s\""));
        assert!(why(&link(r#""rate": 10"#)).starts_with("link.a-b.rate: is 10; expected a bit rate"));
        assert!(why(&link(r#""rate": "1 Mb/s", "pace": 1"#)).contains("link.a-b.pace: is unknown; expected one of"));
        let practra = r#""rate": "1 Mb/s", "controller": { "kind": "practra", "rates": { "from": "x" } }"#;
        assert!(
            why(&link(practra)).starts_with("link.a-b.controller.rates.from: \"x\" does not start"),
            "{}",
            why(&link(practra))
        );
        let kind = r#""rate": "1 Mb/s", "controller": { "kind": "magic" }"#;
        let kinds = link::Config::KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>();
        let expected = format!("\"magic\" is unknown; expected one of {}", kinds.join(", "));
        assert_eq!(why(&link(kind)), format!("link.a-b.controller.kind: {expected}"));
        let practra =
            r#""rate": "1 Mb/s", "controller": { "kind": "practra", "rates": ["1 Mb/s"], "transition": "0 s" }"#;
        assert_eq!(
            why(&link(practra)),
            "link.a-b.controller.min_interval: is missing; expected a time with a unit (ns, us, ms, s, min, h), such as \"40 ms\""
        );
    }

    #[test]
    fn what_is_no_document_is_refused() {
        assert!(why("[]").contains("is not a table"));
        assert!(why("{").contains("is not JSON"));
        assert!(why("{}").contains("duration: is missing; expected a time"));
        assert!(
            why(&format!(r#"{{ {HEAD}, "flow": [{{ "name": "f" }}] }}"#))
                .contains("flow.f.kind: is missing; expected one of \"tcp\"")
        );
        assert!(why(r#"{ "duration": "1 s", "nodes": [], "seed": -1 }"#).starts_with("seed: is -1; expected "));
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
