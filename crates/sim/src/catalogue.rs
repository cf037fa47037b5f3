//! Lists for users: mechanisms with their parameters, queues and losses.

use netlull_describe::{Description, kinds};

/// Every mechanism of scenarios with its parameters, in alphabetical order.
///
/// The list contains link controllers, station mechanisms and sleep plans. It is derived from the JSON Schema.
#[must_use]
pub fn mechanisms() -> Vec<(String, Description)> {
    let schema = crate::scenario::json_schema();
    let documents = ["ControllerDocument", "StationMechanism", "PlanDocument"];
    let mut all: Vec<_> = documents.iter().flat_map(|document| kinds(&schema, document)).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

/// A kind of queue management or of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindInfo {
    /// The value of `kind` in scenarios.
    pub name: &'static str,
    /// The behaviour, in one line.
    pub summary: &'static str,
    /// The source of the description.
    pub source: &'static str,
}

/// The kinds of queue management, in alphabetical order.
#[must_use]
pub const fn queues() -> &'static [KindInfo] {
    &[
        KindInfo {
            name: "codel",
            summary: "drops or marks departing packets while the queueing delay stays too long",
            source: "RFC 8289",
        },
        KindInfo { name: "drop_tail", summary: "drops packets only if the buffer is full; the default", source: "" },
        KindInfo {
            name: "red",
            summary: "drops or marks arriving packets with a probability that grows with the average queue",
            source: "Floyd and Jacobson 1993; Floyd 2000 (gentle)",
        },
    ]
}

/// The kinds of loss before the queue, in alphabetical order.
#[must_use]
pub const fn losses() -> &'static [KindInfo] {
    &[
        KindInfo { name: "bernoulli", summary: "each packet with the same probability, independently", source: "" },
        KindInfo {
            name: "gilbert_elliott",
            summary: "in bursts: two states, each with its own probability of loss, one step per packet",
            source: "Gilbert 1960; Elliott 1963",
        },
        KindInfo { name: "scripted", summary: "by number: the n-th packets of a flow", source: "" },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_says_its_unit_its_meaning_and_its_source() {
        let mechanisms = mechanisms();
        assert_eq!(mechanisms.len(), 12);
        for (name, mechanism) in mechanisms {
            assert!(!mechanism.summary.is_empty() && !mechanism.source.is_empty(), "{name}");
            for parameter in mechanism.parameters {
                let texts = [&parameter.unit, &parameter.default, &parameter.meaning, &parameter.source];
                assert!(texts.iter().all(|text| !text.is_empty()), "{name}: {parameter:?}");
            }
        }
    }

    #[test]
    fn what_is_listed_is_what_a_scenario_takes() {
        let schema = crate::scenario::json_schema();
        let kinds = |document: &str| {
            let variants = schema["$defs"][document]["oneOf"].as_array().expect("kinds").iter();
            let mut kinds: Vec<_> =
                variants.filter_map(|kind| kind["properties"]["kind"]["const"].as_str().map(str::to_owned)).collect();
            kinds.sort_unstable();
            kinds
        };
        let names = |listed: &[KindInfo]| listed.iter().map(|kind| kind.name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names(queues()), kinds("QueueDocument"));
        assert_eq!(names(losses()), kinds("LossDocument"));
    }
}
