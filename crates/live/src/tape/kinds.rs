//! The machines that can be recorded, and what they are made from.

use netlull_mechanism::link::{LinkContext, LinkEvent};
use netlull_mechanism::machines::{LinkMachine, LinkMechanism};
use netlull_mechanism::radio::{
    AccessEvent, AccessPoint, AccessPointConfig, Bsd, BsdConfig, Eager, EagerConfig, Psm, PsmConfig, Shaper,
    ShaperConfig, StationEvent,
};
use netlull_mechanism::rate::QueueView;
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

macro_rules! taped {
    ($($machine:ty, $kind:literal, $config:ty, $nothing:expr, $make:expr;)*) => {$(
        impl Taped for $machine {
            type Config = $config;

            fn kind(_: &$config) -> &str {
                $kind
            }

            fn build(config: &$config, start: Instant) -> Result<Self, ConfigError> {
                let make: fn(&$config, Instant) -> Result<Self, ConfigError> = $make;
                make(config, start)
            }

            fn nothing() -> Self::Event {
                $nothing
            }
        }
    )*};
}

taped! {
    Eager, "eager", EagerConfig, StationEvent::Timeout, |config, start| Self::new(config, start);
    Shaper, "client_shaper", ShaperConfig, StationEvent::Timeout, |config, start| Self::new(config, start);
    Psm, "psm", PsmConfig, StationEvent::Timeout, |config, start| Self::new(config, start);
    Bsd, "bsd", BsdConfig, StationEvent::Timeout, |config, start| Self::new(config, start);
    AccessPoint, "access_point", AccessPointConfig, AccessEvent::Timeout, |config, start| Self::new(config, start);
}
