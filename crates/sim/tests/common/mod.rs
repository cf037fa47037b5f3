//! Functions shared by the tests: from JSON to an outcome.
use netlull_sim::probe::{Column, Table};
use netlull_sim::run::{FlowSummary, LinkSummary, RunOutcome, Unwatched, run};
use netlull_sim::scenario::{Scenario, ScenarioError, read_document};
use serde_json::Value;
use std::borrow::Cow;

/// Reads and checks a scenario.
pub fn scenario(json: &Value) -> Result<Scenario, ScenarioError> {
    Scenario::from_document(&read_document(&json.to_string())?)
}

/// Runs a scenario with the replay verifier; a violated rule fails the test. Then runs it again without, with
/// lookahead: the results must be the same.
pub fn outcome(mut json: Value) -> RunOutcome {
    let mut run_with = |verify: &str| {
        json["verify"] = verify.into();
        let scenario = scenario(&json).unwrap_or_else(|error| panic!("{error}"));
        run(&scenario, &mut Unwatched, None).unwrap_or_else(|error| panic!("{error}"))
    };
    let (watched, ahead) = (run_with("replay"), run_with("ledger"));
    assert_eq!(in_words(&watched), in_words(&ahead), "running ahead changes the run");
    watched
}

/// The whole outcome except the verifier's fields.
pub fn in_words(outcome: &RunOutcome) -> (String, String) {
    let mut summary = serde_json::to_value(&outcome.summary).expect("a summary");
    summary["verify"] = Value::Null;
    summary["checks"] = Value::Null;
    (summary.to_string(), format!("{:?}", outcome.tables))
}

pub fn link(outcome: &RunOutcome, name: &str) -> LinkSummary {
    outcome.summary.links.iter().find(|link| link.name == name).expect("a link of that name")
}

pub fn flow<'a>(outcome: &'a RunOutcome, name: &str) -> &'a FlowSummary {
    outcome.summary.flows.iter().find(|flow| flow.name == name).expect("a flow of that name")
}

pub fn table<'a>(outcome: &'a RunOutcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).expect("a table of that name")
}

pub fn floats(table: &Table, column: &str) -> Vec<f64> {
    match &table.columns.iter().find(|(name, _)| *name == column).expect("a column of that name").1 {
        Column::Float(values) => values.clone(),
        Column::Count(values) => values.iter().map(|value| *value as f64).collect(),
        Column::Index(values) => values.iter().map(|value| f64::from(*value)).collect(),
        Column::Flag(values) => values.iter().map(|value| f64::from(u8::from(*value))).collect(),
        Column::Text(_) => panic!("{column} is text"),
    }
}

pub fn words(table: &Table, column: &str) -> Vec<&'static str> {
    match &table.columns.iter().find(|(name, _)| *name == column).expect("a column of that name").1 {
        Column::Text(words) => words
            .iter()
            .map(|word| match word {
                Cow::Borrowed(word) => *word,
                Cow::Owned(word) => panic!("{column}: {word} is not a word of the simulator's own"),
            })
            .collect(),
        _ => panic!("{column} is not text"),
    }
}

pub fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected} within {tolerance}");
}
