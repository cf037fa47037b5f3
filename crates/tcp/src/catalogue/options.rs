//! The options of a scenario's `tcp` that are chosen by name, for people: from the schema of [`TcpOptions`].

use crate::config::{Algorithm, Config, LossRecovery};
use crate::options::TcpOptions;
use crate::presets::Preset;
use serde::Serialize;
use serde_json::Value;

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name used in scenarios.
    pub name: String,
    /// The value in one line.
    pub summary: String,
    /// Where it is specified; empty if nowhere.
    pub source: String,
}

/// An option with named values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// The name used in scenarios.
    pub name: String,
    /// The option in one line.
    pub summary: String,
    /// Its values.
    pub choices: Vec<Choice>,
    /// Its value in each preset: the preset's name and the value's.
    pub defaults: Vec<(String, String)>,
}

/// The options with named values, except `congestion_control`.
#[must_use]
pub fn options() -> Vec<OptionInfo> {
    let schema = schemars::schema_for!(TcpOptions).to_value();
    let fields = schema["properties"].as_object().into_iter().flatten();
    let mut options: Vec<_> = fields.filter_map(|(name, field)| option(name, field, &schema["$defs"])).collect();
    for (preset, values) in presets() {
        for option in &mut options {
            if let Some(value) = values[&option.name].as_str() {
                option.defaults.push((preset.clone(), value.to_owned()));
            }
        }
    }
    options
}

/// Each preset's name and its options, spelt out.
fn presets() -> impl Iterator<Item = (String, Value)> {
    const { &[Preset::Rfc, Preset::Ns2, Preset::FreeBsd45, Preset::Linux6] }.iter().filter_map(|preset| {
        let config = preset.config(Config::default().mss);
        Some((name(preset), serde_json::to_value(TcpOptions::of(&config)).ok()?))
    })
}

/// The option, if the schema of its field leads to one of named values.
fn option(name: &str, field: &Value, definitions: &Value) -> Option<OptionInfo> {
    let reference = field["anyOf"].as_array()?.iter().find_map(|one| one["$ref"].as_str())?;
    let values = definitions[reference.rsplit('/').next()?]["oneOf"].as_array()?;
    let choices = values.iter().map(|value| Choice {
        name: line(&value["const"]),
        summary: line(&value["description"]),
        source: line(&value["x-source"]),
    });
    Some(OptionInfo {
        name: name.to_owned(),
        summary: line(&field["description"]),
        choices: choices.collect(),
        defaults: Vec::new(),
    })
}

/// A text of the schema in one line.
fn line(text: &Value) -> String {
    text.as_str().unwrap_or_default().replace('\n', " ")
}

/// The name that scenarios have for a value of an option.
fn name(value: impl Serialize) -> String {
    serde_json::to_value(value).map(|value| line(&value)).unwrap_or_default()
}

impl Algorithm {
    /// The options that the algorithm brings with it ([`Config::with_algorithm`]), name and value; those of the
    /// scoreboard only where there is one.
    #[must_use]
    pub fn defaults(&self) -> Vec<(&'static str, String)> {
        let config = Config::default().with_algorithm(self.clone());
        let mut defaults = vec![("loss_recovery", name(config.loss_recovery))];
        if config.loss_recovery == LossRecovery::Sack {
            defaults.push(("sack_detection", name(config.sack_detection)));
        }
        if matches!(config.loss_recovery, LossRecovery::Sack | LossRecovery::Rack) {
            defaults.push(("window_reduction", name(config.window_reduction)));
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
        let options = options();
        assert_eq!(options.len(), 13);
        for option in options {
            assert!(!option.summary.is_empty() && option.choices.len() > 1, "{}", option.name);
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
