//! The kinds of machines that can be recorded, and their configurations.

use netlull_mechanism::link::{LinkContext, LinkController, LinkEvent};
use netlull_mechanism::machines::{LinkMachine, LinkMechanism, StationMachine, StationMechanism};
use netlull_mechanism::radio::{AccessEvent, AccessPoint, AccessPointConfig};
use netlull_mechanism::rate::QueueView;
use netlull_mechanism::station::{StationContext, StationController, StationEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_units::Instant;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A machine that can be recorded and rebuilt.
pub trait Taped: Machine<Event: Text, Action: Text> + Debug {
    /// The configuration.
    type Config: Text;

    /// The name of the machine's kind on tapes.
    fn kind(config: &Self::Config) -> &str;

    /// Builds the machine.
    ///
    /// # Errors
    /// If a value of `config` is out of range.
    fn build(config: &Self::Config, start: Instant) -> Result<Self, ConfigError>
    where
        Self: Sized;

    /// The reason why the machine works no more, if it has failed.
    fn fault(&self) -> Option<&ConfigError> {
        None
    }

    /// A placeholder event for a tape's line before the first event.
    fn nothing() -> Self::Event;
}

/// A value that can be converted to text and back.
pub trait Text: Serialize + DeserializeOwned + Clone + PartialEq + Debug {}
impl<T: Serialize + DeserializeOwned + Clone + PartialEq + Debug> Text for T {}

/// A link's controller with the parameters of its link.
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

    fn fault(&self) -> Option<&ConfigError> {
        LinkController::fault(self)
    }

    fn nothing() -> LinkEvent {
        LinkEvent::Timeout { queue: QueueView::EMPTY }
    }
}

/// A station's machine with the parameters of its station.
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

    fn fault(&self) -> Option<&ConfigError> {
        StationController::fault(self)
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
