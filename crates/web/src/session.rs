//! The call of the page: a [`Request`] as JSON in, an [`Answer`] out.

use netlull_sim::probe::{Column, Table, Word};
use netlull_sim::run::{Monitor, RunError, RunOutcome, run};
use netlull_sim::scenario::{Checked, File, Host, ScenarioError, Source, load, own_network};
use netlull_text::{Change, Text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A scenario to run.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// Its text in TOML.
    toml: Option<String>,
    /// Instead of a text: its values.
    scenario: Option<Value>,
    /// The networks that it may name, by the names of their files: texts in TOML.
    #[serde(default)]
    networks: BTreeMap<String, String>,
    /// The points of its time series, if it gives no interval for them.
    points: Option<u64>,
}

impl Request {
    /// Reads and checks the scenario.
    fn checked(&self) -> Result<Checked, ScenarioError> {
        let json = self.scenario.as_ref().map(Value::to_string).unwrap_or_default();
        let text = self.toml.as_ref().map(|text| Text { origin: "scenario", text });
        let source = text.map_or(Source::Json(&json), Source::Toml);
        let checked = load(source, &[], self)?;
        let (Some(points), None) = (self.points, checked.scenario.probe.interval) else { return Ok(checked) };
        // Recording never changes a run.
        let interval = checked.scenario.duration.as_nanos() / points;
        let interval =
            Change { path: "probe.interval".to_owned(), value: Some(format!("{} ns", interval.max(1)).into()) };
        load(source, &[vec![interval]], self)
    }
}

impl Host for Request {
    fn file(&self, name: &str, _: usize) -> Result<File, ScenarioError> {
        let command = "`netlull lab FILE` opens a scenario with the content of its files";
        Err(ScenarioError::input("", format!("{name}: the lab has no files; {command}")))
    }

    fn network(&self, table: &Map<String, Value>) -> Result<Value, ScenarioError> {
        let name = table.get("file").or_else(|| table.get("hub")).and_then(Value::as_str).unwrap_or_default();
        if let Some(text) = self.networks.get(name.trim_end_matches(".toml")).filter(|_| table.contains_key("file")) {
            return own_network(&File { name: name.to_owned(), content: text.clone().into_bytes() });
        }
        let known = self.networks.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let command = "`netlull topology FILE --to network.toml` converts a file to the table `network`";
        Err(ScenarioError::input("", format!("{name}: the lab has no files; expected one of {known}, or {command}")))
    }
}

/// The answer to a call: a head as JSON, and further parts of bytes that the head describes.
#[derive(Debug, Default)]
pub struct Answer {
    /// True if the call has failed. The head then has `kind` and `message`.
    pub failed: bool,
    parts: Vec<Part>,
}

/// Bytes of an answer.
#[derive(Debug)]
enum Part {
    Text(String),
    Floats(Vec<f64>),
    Indices(Vec<u32>),
    Flags(Vec<bool>),
}

impl Answer {
    /// The address of a part in memory and its length in bytes.
    #[must_use]
    pub fn part(&self, number: usize) -> Option<(*const u8, usize)> {
        Some(match self.parts.get(number)? {
            Part::Text(text) => (text.as_ptr(), text.len()),
            Part::Floats(values) => (values.as_ptr().cast(), size_of_val(&values[..])),
            Part::Indices(values) => (values.as_ptr().cast(), size_of_val(&values[..])),
            Part::Flags(values) => (values.as_ptr().cast(), size_of_val(&values[..])),
        })
    }

    /// The text of a part, if it is text.
    #[must_use]
    pub fn text(&self, number: usize) -> Option<&str> {
        match self.parts.get(number)? {
            Part::Text(text) => Some(text),
            _ => None,
        }
    }

    fn error(kind: &str, message: &impl ToString) -> Self {
        let head = json!({ "kind": kind, "message": message.to_string() });
        Self { failed: true, parts: vec![Part::Text(text(&head))] }
    }
}

impl From<ScenarioError> for Answer {
    fn from(error: ScenarioError) -> Self {
        Self::error("scenario", &error)
    }
}

impl From<RunError> for Answer {
    fn from(error: RunError) -> Self {
        let kind = match &error {
            RunError::Cancelled => "cancelled",
            RunError::Memory(_) => "memory",
            RunError::Violation { .. } => "violation",
            RunError::TooManyOpen { .. } | RunError::Machine(_) | RunError::Capture(_) => "scenario",
        };
        Self::error(kind, &error)
    }
}

/// A head as JSON. Its values are plain, so this cannot fail.
fn text(head: &impl Serialize) -> String {
    serde_json::to_string(head).unwrap_or_default()
}

/// Runs a scenario, a [`Request`] in JSON. Part 1 is the summary, to the byte that of the other builds of netlull. The head has `warnings` and
/// `tables`: for each table its name and columns, for each column its name, type and part.
///
/// Types: `float` (f64), `index` (u32), `flag` (a byte), `text` (a list in JSON). Counts are floats.
#[must_use]
pub fn simulate(request: &str, monitor: &mut dyn Monitor) -> Answer {
    let request: Result<Request, _> = serde_json::from_str(request);
    let request = request.map_err(|error| ScenarioError::new("scenario", error.to_string()));
    let scenario = match request.and_then(|request| request.checked()) {
        Ok(checked) => checked.scenario,
        Err(error) => return error.into(),
    };
    match run(&scenario, monitor, None) {
        Ok(outcome) => result(outcome, &scenario.warnings()),
        Err(error) => error.into(),
    }
}

fn result(RunOutcome { summary, tables }: RunOutcome, warnings: &[String]) -> Answer {
    // The head comes last: it names the parts.
    let mut parts = vec![Part::Text(String::new()), Part::Text(text(&summary))];
    let tables: Vec<_> = tables.into_iter().map(|table| described(table, &mut parts)).collect();
    parts[0] = Part::Text(text(&json!({ "warnings": warnings, "tables": tables })));
    Answer { failed: false, parts }
}

/// Moves the columns of a table to the parts, and describes them.
fn described(table: Table, parts: &mut Vec<Part>) -> serde_json::Value {
    let mut columns = Vec::new();
    for (name, column) in table.columns {
        let (kind, part) = match column {
            Column::Float(values) => ("float", Part::Floats(values)),
            Column::Count(values) => ("float", Part::Floats(values.into_iter().map(float).collect())),
            Column::Index(values) => ("index", Part::Indices(values)),
            Column::Flag(values) => ("flag", Part::Flags(values)),
            Column::Text(values) => ("text", Part::Text(text(&values.iter().map(Word::as_ref).collect::<Vec<_>>()))),
        };
        columns.push(json!({ "name": name, "type": kind, "part": parts.len() }));
        parts.push(part);
    }
    json!({ "name": table.name, "columns": columns })
}

/// A count as a float. Counts of a run in a page are below 2^53.
#[allow(clippy::cast_precision_loss)]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_sim::run::{Stop, Unwatched};
    use std::ops::ControlFlow;

    const SCENARIO: &str = r#"{ "scenario": {
        "duration": "2 s", "nodes": ["a", "b"],
        "link": [{ "from": "a", "to": "b", "duplex": true, "rate": "10 Mb/s", "delay": "5 ms" }],
        "flow": [{ "kind": "tcp", "name": "one", "from": "a", "to": "b" }],
        "probe": { "interval": "500 ms" }
    } }"#;

    fn head(answer: &Answer) -> Value {
        serde_json::from_str(answer.text(0).expect("a head")).expect("JSON")
    }

    #[test]
    fn a_run_has_its_summary_and_its_tables() {
        let answer = simulate(SCENARIO, &mut Unwatched);
        let request: Request = serde_json::from_str(SCENARIO).expect("valid");
        let outcome = run(&request.checked().expect("valid").scenario, &mut Unwatched, None).expect("a result");
        assert!(!answer.failed);
        assert_eq!(answer.text(1), Some(&*serde_json::to_string(&outcome.summary).expect("JSON")));
        let head = head(&answer);
        let flow = head["tables"].as_array().expect("tables").iter().find(|table| table["name"] == "flow");
        let time = &flow.expect("a table of flows")["columns"][0];
        assert_eq!((&time["name"], &time["type"]), (&"time_s".into(), &"float".into()));
        let part = usize::try_from(time["part"].as_u64().expect("a number")).expect("small");
        let Some(Part::Floats(times)) = answer.parts.get(part) else { panic!("no column") };
        assert_eq!(times[..], [0.5, 1.0, 1.5, 2.0]);
        assert_eq!(answer.part(part).map(|(_, length)| length), Some(32));
    }

    #[test]
    fn errors_name_the_field() {
        let answer = simulate(r#"{"scenario": {"duration": "-1 s"}}"#, &mut Unwatched);
        let head = head(&answer);
        assert_eq!((answer.failed, &head["kind"]), (true, &"scenario".into()));
        assert!(
            head["message"].as_str().is_some_and(|text| text.starts_with("duration: ") && text.contains("-1 s")),
            "{head}"
        );
    }

    #[test]
    fn a_text_may_name_a_network_of_the_page() {
        let network =
            "[nodes]\na = []\nb = []\n[[link]]\nfrom = \"a\"\nto = \"b\"\ncapacity = \"1 Mb/s\"\ndelay = \"1 ms\"\n";
        let toml = |file: &str| {
            let flow = "[[flow]]\nkind = \"cbr\"\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nrate = \"100 kb/s\"";
            let toml = format!("duration = \"1 s\"\ntopology.file = \"{file}\"\n{flow}\n");
            json!({ "toml": toml, "networks": { "two": network }, "points": 10 }).to_string()
        };
        let answer = simulate(&toml("two.toml"), &mut Unwatched);
        assert!(!answer.failed, "{:?}", answer.text(0));
        let other = simulate(&toml("other.xml"), &mut Unwatched);
        let told = head(&other)["message"].to_string();
        assert!(told.contains("scenario, line 2, column 17: topology.file: other.xml: the lab has no files"), "{told}");
        assert!(told.contains("expected one of two, or `netlull topology FILE --to network.toml`"), "{told}");
    }

    #[test]
    fn a_monitor_ends_a_run() {
        struct Impatient;
        impl Monitor for Impatient {
            fn progress(&mut self, _: f64) -> ControlFlow<Stop> {
                ControlFlow::Break(Stop::Cancelled)
            }
        }
        let answer = simulate(SCENARIO, &mut Impatient);
        assert_eq!((answer.failed, &head(&answer)["kind"]), (true, &"cancelled".into()));
    }
}
