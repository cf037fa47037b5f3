//! The list of machines of stations. A new machine takes one file and one line at
//! the end of this file.

use super::{Context, PLUG_INS, Parameters, PlugIn, Policy, Serves, Shaping, StationAction, StationEvent};
use crate::radio::{AccessPointConfig, Bsd, BsdConfig, Eager, EagerConfig, Psm, PsmConfig, Shaper, ShaperConfig};
use crate::{ConfigError, Machine, machine_of_kinds};
use enum_dispatch::enum_dispatch;
use netlull_document::{ClassTable, ModuleTable, ReadError};
use netlull_units::Instant;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// Defines [`Config`] and [`Running`] from the list at the end of this file, as `link/kinds.rs` does.
macro_rules! station_machines {
    (
        [$($dispatch:tt)*]
        $($name:literal => $variant:ident($config:ty) -> $machine:ty;)+
        $open:ident($boxed:ty) $($plug_in:literal => $table:ty;)+
    ) => {
        /// A machine that lets a station's radio sleep, or acknowledges eagerly, with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        pub enum Config {
            $(#[doc = concat!("`", $name, "`.")] #[serde(rename = $name)] $variant($config),)+
            /// A machine defined outside this crate.
            #[serde(untagged)]
            PlugIn(PlugIn),
        }

        /// A running machine of a station.
        #[allow(missing_docs)]
        $($dispatch)*
        #[derive(Debug)]
        pub enum Running {
            $($variant($machine),)+
            $open($boxed),
        }

        machine_of_kinds!(Running, StationEvent, StationAction: $($variant,)+ $open);

        netlull_document::read_by_kind!(
            Config: $($name => $variant($config)),+; $($plug_in => Config::plug_in),+
        );

        impl JsonSchema for Config {
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed("StationMechanism")
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let kinds = [
                    $(netlull_document::schema_of_kind($name, <$config>::json_schema(generator), &[]),)+
                    $(netlull_document::schema_of_open_kind($plug_in, <$table>::json_schema(generator), &[]),)+
                ];
                json_schema!({
                    "description": "A machine that lets a station's radio sleep, or acknowledges eagerly.",
                    "oneOf": kinds,
                })
            }
        }

        impl Config {
            /// The names of all kinds, in the order of the documentation.
            pub const NAMES: &'static [&'static str] = &[$($name,)+ $($plug_in),+];

            /// The names of the kinds that this program reads.
            pub fn readable() -> impl Iterator<Item = &'static str> {
                [$($name),+].into_iter().chain([$($plug_in),+].into_iter().filter(|kind| PLUG_INS.reads(kind)))
            }

            /// The kind's name.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::PlugIn(plug_in) => plug_in.0.name(),
                }
            }

            /// The traffic that one machine can serve.
            #[must_use]
            pub fn serves(&self) -> Serves {
                match self {
                    $(Self::$variant(_) => <$config as Parameters>::SERVES,)+
                    Self::PlugIn(plug_in) => plug_in.0.serves(),
                }
            }

            /// The access point's parameters, if the machine requires a buffering access point.
            #[must_use]
            pub fn access_point(&self) -> Option<&AccessPointConfig> {
                match self {
                    $(Self::$variant(config) => config.access_point(),)+
                    Self::PlugIn(plug_in) => plug_in.0.access_point(),
                }
            }

            /// Builds the machine of a station whose run begins at `start`.
            ///
            /// # Errors
            /// Names the first field that is out of range or does not fit the station, its value and the
            /// expectation.
            pub fn build(&self, station: Context, start: Instant) -> Result<Running, ConfigError> {
                Ok(match self {
                    $(Self::$variant(config) => Running::$variant(config.build(station, start)?),)+
                    Self::PlugIn(plug_in) => Running::PlugIn(plug_in.0.build(station, start)?),
                })
            }
        }
    };
}

impl Config {
    /// A machine of a kind that another crate reads.
    fn plug_in(kind: &str, fields: &Value) -> Result<Self, ReadError> {
        Ok(Self::PlugIn(PlugIn(PLUG_INS.load(kind, fields)?)))
    }
}

station_machines! {
    [#[enum_dispatch(Policy)]]
    "client_shaper" => ClientShaper(ShaperConfig) -> Box<Shaper>;
    "eager" => Eager(EagerConfig) -> Eager;
    "psm" => Psm(PsmConfig) -> Psm;
    "bsd" => Bsd(BsdConfig) -> Bsd;
    PlugIn(Box<dyn Policy>)
    "wasm" => ModuleTable;
    "python" => ClassTable;
}
