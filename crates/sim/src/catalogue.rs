//! Lists for users: mechanisms, queues and losses with their parameters, derived from the JSON Schema.

use netlull_document::{Description, kinds};
use serde_json::Value;

/// Every mechanism of scenarios, in alphabetical order: link controllers, machines of stations and sleep plans.
#[must_use]
pub fn mechanisms() -> Vec<(String, Description)> {
    of(&["ControllerDocument", "StationMechanism", "PlanDocument"])
}

/// The kinds of queue management, in alphabetical order.
#[must_use]
pub fn queues() -> Vec<(String, Description)> {
    of(&["QueueDocument"])
}

/// The kinds of loss before the queue, in alphabetical order.
#[must_use]
pub fn losses() -> Vec<(String, Description)> {
    of(&["LossDocument"])
}

/// The JSON Schema of the vocabulary of plug-ins: events and actions of links and stations, observations, and the events
/// of congestion controls.
#[must_use]
pub fn vocabulary() -> Value {
    let mut links = netlull_mechanism::observe::json_schema().to_value();
    let mut controls = netlull_tcp::cc::json_schema().to_value();
    for part in ["anyOf", "$defs"] {
        match (&mut links[part], controls[part].take()) {
            (Value::Array(all), Value::Array(more)) => all.extend(more),
            (Value::Object(all), Value::Object(more)) => all.extend(more),
            _ => {}
        }
    }
    links
}

/// The kinds of some definitions of the schema, in alphabetical order.
fn of(definitions: &[&str]) -> Vec<(String, Description)> {
    let schema = crate::scenario::json_schema();
    let mut all: Vec<_> = definitions.iter().flat_map(|definition| kinds(&schema, definition)).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    // A plug-in's kind is in several definitions.
    all.dedup_by(|one, other| one.0 == other.0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_document::Kind;
    use netlull_mechanism::topology::SleepAlgorithm;
    use netlull_mechanism::{link, station};
    use schemars::SchemaGenerator;

    /// Readers take the names from serde, and schemas from schemars.
    #[test]
    fn a_kinds_fields_are_those_of_its_schema() {
        fn compare<T, P>(kinds: &[Kind<T, P>]) {
            for kind in kinds {
                let schema = (kind.schema)(&mut SchemaGenerator::default()).to_value();
                let properties = schema["properties"].as_object().expect("a table");
                let Some(fields) = kind.fields else { continue };
                assert_eq!(fields(), properties.keys().map(String::as_str).collect::<Vec<_>>(), "{}", kind.name);
            }
        }
        compare(link::Config::KINDS);
        compare(SleepAlgorithm::KINDS);
    }

    #[test]
    fn the_vocabulary_has_links_stations_and_congestion_controls() {
        let vocabulary = vocabulary();
        let roots = vocabulary["anyOf"].as_array().map(Vec::len);
        assert_eq!((roots, &vocabulary["x-version"]), (Some(11), &1.into()));
        for name in ["LinkEvent", "Observation", "StationAction", "ControlEvent", "Rate"] {
            assert!(vocabulary["$defs"][name].is_object(), "{name}");
        }
    }

    #[test]
    fn every_parameter_says_its_unit_its_meaning_and_its_source() {
        let links = link::Config::KINDS.iter().map(|kind| kind.name);
        let plans = SleepAlgorithm::KINDS.iter().map(|kind| kind.name);
        let names = links.chain(station::Config::NAMES.iter().copied()).chain(plans);
        let kinds = names.collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!([mechanisms().len(), queues().len(), losses().len()], [kinds, 3, 4]);
        for (name, described) in mechanisms().into_iter().chain(queues()).chain(losses()) {
            assert!(!described.summary.is_empty() && !described.source.is_empty(), "{name}");
            for parameter in described.parameters {
                let texts = [&parameter.unit, &parameter.default, &parameter.meaning, &parameter.source];
                assert!(texts.iter().all(|text| !text.is_empty()), "{name}: {parameter:?}");
            }
        }
    }
}
