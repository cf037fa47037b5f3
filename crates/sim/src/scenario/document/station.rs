//! Stations: nodes behind a wireless link, whose radios may sleep.

use netlull_mechanism::machines::StationMechanism;
use netlull_units::{Duration, Watts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wireless stations. Each is a node with one link to, and one from, its access point; what comes while its radio sleeps is lost to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationDocument {
    /// A name of these stations for `--set` and sweeps: `station.NAME.mechanism`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The nodes; each is a station of its own.
    pub nodes: Vec<String>,
    /// Power models of the radio, under each of which energy is reported. The first says how long the radio takes to wake.
    #[serde(default = "default_radio")]
    pub radio: Vec<RadioDocument>,
    /// How long the radio takes to wake, instead of what the first model says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_time: Option<Duration>,
    /// The machine that lets the radio sleep; default none: the radio is awake all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<StationMechanism>,
}

/// Power in a radio's states: the name of a ready model, or numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RadioDocument {
    /// A ready model (`netlull list radios`).
    Name(String),
    /// Numbers.
    Powers(RadioPowersDocument),
}

/// Powers of a radio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioPowersDocument {
    /// Name in results.
    pub name: String,
    /// Asleep.
    pub asleep: Watts,
    /// Awake, with nothing on the air for it.
    pub idle: Watts,
    /// Receiving.
    pub receive: Watts,
    /// Transmitting.
    pub transmit: Watts,
    /// While it wakes; default as idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waking: Option<Watts>,
    /// How long it takes to wake.
    pub wake_time: Duration,
}

fn default_radio() -> Vec<RadioDocument> {
    vec![RadioDocument::Name("wavelan-dsss".to_owned())]
}
