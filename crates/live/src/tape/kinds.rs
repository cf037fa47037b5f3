//! The machines that can be recorded, and what they are made from.

use netlull_mechanism::link::{LinkContext, LinkEvent};
use netlull_mechanism::machines::{LinkMachine, LinkMechanism, StationMachine, StationMechanism};
use netlull_mechanism::radio::{AccessEvent, AccessPoint, AccessPointConfig};
use netlull_mechanism::rate::QueueView;
use netlull_mechanism::station::{StationContext, StationEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_units::Instant;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A machine that can be recorded and made again.
pub trait Taped: Machine<Event: Text, Action: Text> + Debug {
    /// Its configuration.
    type Config: Text;

    /// The name of its kind on tapes.
    fn kind(config: &Self::Config) -> &str;

    /// Makes it.
    ///
    /// # Errors
    /// If a value of `config` is out of range.
    fn build(config: &Self::Config, start: Instant) -> Result<Self, ConfigError>
    where
        Self: Sized;

    /// An event that stands in a tape's line before there was one.
    fn nothing() -> Self::Event;
}

/// What goes to text and back.
pub trait Text: Serialize + DeserializeOwned + Clone + PartialEq + Debug {}
impl<T: Serialize + DeserializeOwned + Clone + PartialEq + Debug> Text for T {}

/// A link's controller with the link that it is built for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSetup {
    /// The controller with its parameters.
    pub mechanism: LinkMechanism,
    /// The link.
    pub link: LinkContext,
}

impl Taped for LinkMachine {
    type Config = LinkSetup;

    fn kind(config: &LinkSetup) -> &str {
        config.mechanism.name()
    }

    fn build(config: &LinkSetup, start: Instant) -> Result<Self, ConfigError> {
        config.mechanism.build(config.link, start)
    }

    fn nothing() -> LinkEvent {
        LinkEvent::Timeout { queue: QueueView::EMPTY }
    }
}

/// A station's machine with the station that it is built for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationSetup {
    /// The machine with its parameters.
    pub mechanism: StationMechanism,
    /// The station.
    pub station: StationContext,
}

impl Taped for StationMachine {
    type Config = StationSetup;

    fn kind(config: &StationSetup) -> &str {
        config.mechanism.name()
    }

    fn build(config: &StationSetup, start: Instant) -> Result<Self, ConfigError> {
        config.mechanism.build(config.station, start)
    }

    fn nothing() -> StationEvent {
        StationEvent::Timeout
    }
}

impl Taped for AccessPoint {
    type Config = AccessPointConfig;

    fn kind(_: &AccessPointConfig) -> &str {
        "access_point"
    }

    fn build(config: &AccessPointConfig, start: Instant) -> Result<Self, ConfigError> {
        Self::new(config, start)
    }

    fn nothing() -> AccessEvent {
        AccessEvent::Timeout
    }
}
