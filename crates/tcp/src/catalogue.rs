//! The options of a scenario's `tcp` as users see them, from the schema of [`TcpOptions`] and from the presets.

use crate::config::{Algorithm, Config, LossRecovery};
use crate::options::{TcpOptions, defaults};
use serde::Serialize;
use serde_json::Value;

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name used in scenarios.
    pub name: String,
    /// The value in one line.
    pub summary: String,
    /// Its specification; empty if it has none.
    pub source: String,
}

/// A TCP option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// The name used in scenarios.
    pub name: String,
    /// The option in one line.
    pub summary: String,
    /// Its specification; empty if it has none, or if its values have their own.
    pub source: String,
    /// Its named values; empty for numbers, quantities and switches.
    pub choices: Vec<Choice>,
    /// Its default: the value in the preset `rfc`, and in each preset that differs.
    pub default: String,
    /// Its value in each preset for an MTU of 1500 B: the preset's name and the value.
    pub defaults: Vec<(String, String)>,
}

/// All options, in the order of [`TcpOptions`].
#[must_use]
pub fn options() -> Vec<OptionInfo> {
    let schema = schemars::schema_for!(TcpOptions).to_value();
    let mut defaults = defaults();
    let fields = schema["properties"].as_object().into_iter().flatten();
    let option = |(name, field): (&String, &Value)| OptionInfo {
        name: name.clone(),
        summary: line(&field["description"]),
        source: line(&field["x-source"]),
        choices: choices(field, &schema["$defs"]),
        default: line(&field["x-default"]),
        defaults: defaults.remove(name.as_str()).unwrap_or_default(),
    };
    fields.map(option).collect()
}

/// The named values of an option, from the schema of its field.
fn choices(field: &Value, definitions: &Value) -> Vec<Choice> {
    let references = field["anyOf"].as_array().into_iter().flatten().filter_map(|one| one["$ref"].as_str());
    let values = references
        .filter_map(|reference| definitions[reference.rsplit('/').next()?]["oneOf"].as_array())
        .flatten()
        .filter(|value| value["const"].is_string());
    let choice = |value: &Value| Choice {
        name: line(&value["const"]),
        summary: line(&value["description"]),
        source: line(&value["x-source"]),
    };
    values.map(choice).collect()
}

/// A text of the schema, in one line.
fn line(text: &Value) -> String {
    text.as_str().unwrap_or_default().replace('\n', " ")
}

/// The name of an option's value in scenarios.
fn name(value: impl Serialize) -> String {
    serde_json::to_value(value).map(|value| line(&value)).unwrap_or_default()
}

impl Algorithm {
    /// The options that the algorithm sets ([`Config::with_algorithm`]), as name and value; those of the scoreboard
    /// only if it has one.
    #[must_use]
    pub fn defaults(&self) -> Vec<(&'static str, String)> {
        let config = Config::default().with_algorithm(self.clone());
        let mut defaults = vec![("loss_recovery", name(config.recovery.loss_recovery))];
        if config.recovery.loss_recovery == LossRecovery::Sack {
            defaults.push(("sack_detection", name(config.recovery.sack_detection)));
        }
        if matches!(config.recovery.loss_recovery, LossRecovery::Sack | LossRecovery::Rack) {
            defaults.push(("window_reduction", name(config.recovery.window_reduction)));
        }
        defaults.push(("ecn", name(config.ecn)));
        defaults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_algorithm_brings_is_a_value_of_an_option() {
        let options = options();
        for info in Algorithm::catalogue() {
            for (option, value) in info.algorithm.defaults() {
                let option = options.iter().find(|info| info.name == option).expect("an option of that name");
                assert!(option.choices.iter().any(|choice| choice.name == value), "{} = {value}", option.name);
            }
        }
    }

    #[test]
    fn every_choice_is_described_with_its_source() {
        for option in options() {
            assert!(!option.summary.is_empty() && option.choices.len() != 1, "{}", option.name);
            for choice in option.choices {
                let described = !choice.summary.is_empty() && (!choice.source.is_empty() || choice.name == "off");
                assert!(described, "{} = {}", option.name, choice.name);
            }
        }
    }

    #[test]
    fn defaults_are_those_of_the_presets() {
        let options = options();
        let default = |option: &str, preset: &str| {
            let option = options.iter().find(|info| info.name == option).unwrap();
            option.defaults.iter().find(|(name, _)| name == preset).map(|(_, value)| value.as_str())
        };
        assert_eq!(default("cwnd_unit", "rfc"), Some("bytes"));
        assert_eq!(default("cwnd_unit", "linux-6"), Some("segments"));
        assert_eq!(default("vegas_flavour", "ns2"), Some("ns2"));
        assert_eq!(default("shrunk_window", "freebsd-4.5"), Some("pull_back"));
        assert_eq!(default("preset", "rfc"), None);
        assert_eq!(default("min_rto", "linux-6"), Some("200 ms"));
        assert_eq!(default("vegas", "ns2"), Some("{ alpha = 1, beta = 3, gamma = 1 }"));
        assert_eq!(default("congestion_control", "linux-6"), Some("cubic"));
        assert_eq!(default("delayed_ack_timeout", "ns2"), Some("none"));
        assert_eq!(default("send_buffer", "rfc"), Some("no limit"));
        assert_eq!(default("initial_window", "rfc"), Some("as RFC 6928 says"));
    }

    #[test]
    fn every_option_has_a_default_in_every_preset() {
        let options = options();
        let preset = options.iter().find(|option| option.name == "preset").unwrap();
        assert_eq!(preset.default, "rfc");
        for option in &options {
            assert!(!option.default.is_empty(), "{}", option.name);
            let presets = if ["preset", "mss"].contains(&option.name.as_str()) { 0 } else { preset.choices.len() };
            assert_eq!(option.defaults.len(), presets, "{}", option.name);
            assert!(option.defaults.first().is_none_or(|(_, rfc)| option.default.starts_with(rfc)), "{}", option.name);
        }
    }

    #[test]
    fn algorithms_bring_what_they_are_known_with() {
        let defaults =
            |algorithm: Algorithm| algorithm.defaults().into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        assert_eq!(defaults(Algorithm::NewReno), ["new_reno", "off"]);
        assert_eq!(defaults(Algorithm::Bic), ["sack", "forward", "rate_halving", "off"]);
        assert_eq!(defaults(Algorithm::Dctcp), ["rack", "proportional", "dctcp"]);
    }
}
