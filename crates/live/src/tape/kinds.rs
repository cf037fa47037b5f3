//! The machines that can be recorded, and what they are made from.

use netlull_mechanism::gateway::{Gateway, GatewayConfig, GatewayEvent};
use netlull_mechanism::radio::{
    AccessEvent, AccessPoint, AccessPointConfig, Bsd, BsdConfig, Eager, EagerConfig, Psm, PsmConfig, Shaper,
    ShaperConfig, StationEvent,
};
use netlull_mechanism::rate::{Earth, EarthConfig, PractRa, PractRaConfig, QueueView, RateEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_units::Instant;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A machine that can be recorded and made again.
pub trait Taped: Machine<Event: Text, Action: Text> + Debug {
    /// What tapes call it.
    const KIND: &'static str;
    /// What it is made from.
    type Config: Text;

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

macro_rules! taped {
    ($($machine:ty, $kind:literal, $config:ty, $nothing:expr, $make:expr;)*) => {$(
        impl Taped for $machine {
            const KIND: &'static str = $kind;
            type Config = $config;

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
    PractRa, "practra", PractRaConfig, RateEvent::Timeout { queue: QueueView::EMPTY }, |config, start| Self::new(config, start);
    Earth, "earth", EarthConfig, RateEvent::Timeout { queue: QueueView::EMPTY }, |config, start| Self::new(config.clone(), start);
    Gateway, "gateway", GatewayConfig, GatewayEvent::Timeout { queue: QueueView::EMPTY }, |config, start| Self::new(config, start);
    Eager, "eager", EagerConfig, StationEvent::Timeout, |config, start| Self::new(config, start);
    Shaper, "client_shaper", ShaperConfig, StationEvent::Timeout, |config, start| Self::new(config, start);
    Psm, "psm", PsmConfig, StationEvent::Timeout, |config, start| Self::new(config, start);
    Bsd, "bsd", BsdConfig, StationEvent::Timeout, |config, start| Self::new(config, start);
    AccessPoint, "access_point", AccessPointConfig, AccessEvent::Timeout, |config, start| Self::new(config, start);
}
