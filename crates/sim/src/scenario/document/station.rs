//! Stations: nodes behind a wireless link, with radios that may sleep.

use netlull_mechanism::machines::StationMechanism;
use netlull_power::RadioPower;
use netlull_units::{Duration, Watts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wireless stations. Each is a node with a link to its access point and a link from it.
///
/// Packets that arrive while the radio sleeps are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationDocument {
    /// Name of these stations for `--set` and sweeps: `station.NAME.mechanism`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Nodes. Each is a separate station.
    pub nodes: Vec<String>,
    /// Power models for the radio's reported energy. The first also gives the wake-up time.
    #[serde(default = "default_radio")]
    pub radio: Vec<RadioDocument>,
    /// Wake-up time of the radio; default the wake-up time of the first model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_time: Option<Duration>,
    /// Machine that lets the radio sleep; default none, with the radio always awake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<StationMechanism>,
}

/// The power of each radio state: the name of a built-in model, or numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RadioDocument {
    /// Built-in model (`netlull list radios`).
    Name(String),
    /// Power of each state.
    Powers(RadioPowersDocument),
}

/// The power of each radio state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "docs/models/radio.md"))]
pub struct RadioPowersDocument {
    /// Name in results.
    #[schemars(extend("x-source" = "-"))]
    pub name: String,
    /// Power while asleep.
    #[schemars(extend("x-source" = "-"))]
    pub asleep: Watts,
    /// Power while awake without a transmission to or from the station.
    #[schemars(extend("x-source" = "-"))]
    pub idle: Watts,
    /// Power while receiving.
    #[schemars(extend("x-source" = "-"))]
    pub receive: Watts,
    /// Power while transmitting.
    #[schemars(extend("x-source" = "-"))]
    pub transmit: Watts,
    /// Power while waking up; default the idle power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`idle`", "x-source" = "reading"))]
    pub waking: Option<Watts>,
    /// Wake-up time.
    #[schemars(extend("x-source" = "-"))]
    pub wake_time: Duration,
}

fn default_radio() -> Vec<RadioDocument> {
    vec![RadioDocument::Name(RadioPower::DEFAULT.to_owned())]
}
