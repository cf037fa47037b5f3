//! The lists of machines: link controllers and machines of stations.
//!
//! [`LinkMechanism`] and [`StationMechanism`] are a kind with its parameters, as documents give them.
//! [`LinkMachine`] and [`StationMachine`] are the running machines. A new machine takes one file and one line at
//! the end of this file.

use crate::foreign::{LINKS, STATIONS};
use crate::gateway::{AwmConfig, AwmEarthConfig, CEarthConfig, GRouterConfig, Gateway};
use crate::link::{
    Estimates, ForeignLink, LinkAction, LinkConfig, LinkContext, LinkController, LinkEvent, NeededQueue,
};
use crate::radio::{AccessPointConfig, Bsd, BsdConfig, Eager, EagerConfig, Psm, PsmConfig, Shaper, ShaperConfig};
use crate::rate::{Earth, EarthConfig, Lull, LullConfig, PractRa, PractRaConfig};
use crate::station::{
    ForeignStation, Serves, Shaping, StationAction, StationConfig, StationContext, StationController, StationEvent,
};
use crate::{ConfigError, Machine};
use netlull_document::{ClassTable, Kind, ModuleTable, ReadError};
use netlull_units::{BitRate, Duration, Instant};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// A kind of link controller.
pub type LinkKind = Kind<LinkMechanism, LinkProperties>;

/// The properties of a kind of link controller.
#[derive(Clone, Copy, Debug)]
pub struct LinkProperties {
    /// Whether the controller changes the link's rate.
    pub changes_rate: bool,
    /// Whether the controller reads segments and acknowledgements.
    pub reads_segments: bool,
}

/// Implements `Machine` for an enum of machines.
macro_rules! machine_of_kinds {
    ($machine:ident, $event:ty, $action:ty: $($variant:ident),+) => {
        impl Machine for $machine {
            type Event = $event;
            type Action = $action;

            #[inline]
            fn handle(&mut self, now: Instant, event: $event) {
                match self {
                    $(Self::$variant(machine) => machine.handle(now, event),)+
                    Self::Foreign(machine) => machine.handle(now, event),
                }
            }

            #[inline]
            fn poll_action(&mut self) -> Option<$action> {
                match self {
                    $(Self::$variant(machine) => machine.poll_action(),)+
                    Self::Foreign(machine) => machine.poll_action(),
                }
            }

            #[inline]
            fn next_timeout(&self) -> Option<Instant> {
                match self {
                    $(Self::$variant(machine) => machine.next_timeout(),)+
                    Self::Foreign(machine) => machine.next_timeout(),
                }
            }

            // One dispatch on the kind for all three calls.
            #[inline(always)]
            fn tell<E>(
                &mut self,
                now: Instant,
                event: $event,
                act: &mut impl FnMut($action) -> Result<(), E>,
            ) -> Result<Option<Instant>, E> {
                match self {
                    $(Self::$variant(machine) => machine.tell(now, event, act),)+
                    Self::Foreign(machine) => machine.tell(now, event, act),
                }
            }
        }
    };
}

macro_rules! link_mechanisms {
    (
        $($($name:literal => $variant:ident($config:ty)),+ -> $machine:ident($type:ty);)+
        foreign $($foreign:literal => $table:ty;)+
    ) => {
        /// A link controller with its parameters, as a document gives them.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        pub enum LinkMechanism {
            $($(#[doc = concat!("`", $name, "`.")] #[serde(rename = $name)] $variant($config),)+)+
            /// A controller defined outside this crate.
            #[serde(untagged)]
            Foreign(ForeignLink),
        }

        /// A running link controller.
        #[derive(Debug)]
        pub enum LinkMachine {
            $(#[doc = concat!("The machine of", $(" `", $name, "`",)+ ".")] $machine($type),)+
            /// A controller defined outside this crate.
            Foreign(Box<dyn LinkController>),
        }

        netlull_document::read_by_kind!(
            LinkMechanism: $($($name => $variant($config)),+),+; $($foreign => LinkMechanism::foreign),+
        );

        impl LinkMechanism {
            /// Every kind, in the order of the documentation.
            pub const KINDS: &'static [LinkKind] = &[$($(LinkKind::new::<$config>(
                $name,
                LinkProperties {
                    changes_rate: <$config as LinkConfig>::CHANGES_RATE,
                    reads_segments: <$config as LinkConfig>::READS_SEGMENTS,
                },
                |fields| netlull_document::read::<$config>(fields).map(LinkMechanism::$variant),
            ),)+)+ $(LinkKind::open::<$table>(
                $foreign,
                LinkProperties { changes_rate: true, reads_segments: true },
                |fields| LinkMechanism::foreign($foreign, fields),
            )),+];

            /// The kind's name.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $($(Self::$variant(_) => $name,)+)+
                    Self::Foreign(foreign) => foreign.factory().name(),
                }
            }

            /// Builds the machine of a link whose run begins at `start`, after checking every value by itself and
            /// against the link. A reader checks a document by building its machines.
            ///
            /// # Errors
            /// Names the first field that is out of range, its value and the expectation.
            pub fn build(&self, link: LinkContext, start: Instant) -> Result<LinkMachine, ConfigError> {
                Ok(match self {
                    $($(Self::$variant(config) => LinkMachine::$machine(config.build(link, start)?.into()),)+)+
                    Self::Foreign(foreign) => LinkMachine::Foreign(foreign.build(link, start)?),
                })
            }

            /// Whether the controller reads segments and acknowledgements.
            #[must_use]
            pub fn reads_segments(&self) -> bool {
                match self {
                    $($(Self::$variant(_) => <$config as LinkConfig>::READS_SEGMENTS,)+)+
                    Self::Foreign(foreign) => foreign.reads_segments(),
                }
            }

            /// Whether arrivals show their segments to the controller.
            #[must_use]
            pub fn sees_segments(&self) -> bool {
                match self {
                    $($(Self::$variant(_) => <$config as LinkConfig>::SEES_SEGMENTS,)+)+
                    Self::Foreign(foreign) => foreign.reads_segments(),
                }
            }

            /// The longest time that a packet is late because of the controller; `None` without a guarantee.
            #[must_use]
            pub fn lateness_bound(&self, link: LinkContext) -> Option<Duration> {
                match self {
                    $($(Self::$variant(config) => LinkConfig::lateness_bound(config, link),)+)+
                    Self::Foreign(_) => None,
                }
            }

            /// The name and value of the parameter for the lowest rate; `None` if the controller does not change
            /// the rate.
            #[must_use]
            pub fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
                match self {
                    $($(Self::$variant(config) => config.lowest_rate(),)+)+
                    Self::Foreign(_) => None,
                }
            }

            /// The rate at the start; `None` for the link's own rate.
            #[must_use]
            pub fn initial_rate(&self) -> Option<BitRate> {
                match self {
                    $($(Self::$variant(config) => config.initial_rate(),)+)+
                    Self::Foreign(foreign) => foreign.initial_rate(),
                }
            }

            /// The queue that the link's buffer must hold; `None` if any buffer will do.
            #[must_use]
            pub fn needed_queue(&self, link: LinkContext) -> Option<NeededQueue> {
                match self {
                    $($(Self::$variant(config) => config.needed_queue(link),)+)+
                    Self::Foreign(_) => None,
                }
            }
        }

        machine_of_kinds!(LinkMachine, LinkEvent, LinkAction: $($machine),+);

        impl LinkController for LinkMachine {
            fn rate(&self) -> BitRate {
                match self {
                    $(Self::$machine(machine) => machine.rate(),)+
                    Self::Foreign(machine) => machine.rate(),
                }
            }

            fn changes(&self) -> u64 {
                match self {
                    $(Self::$machine(machine) => machine.changes(),)+
                    Self::Foreign(machine) => machine.changes(),
                }
            }

            #[inline(always)]
            fn reads_segments(&self) -> bool {
                match self {
                    $(Self::$machine(machine) => machine.reads_segments(),)+
                    Self::Foreign(machine) => machine.reads_segments(),
                }
            }

            #[inline]
            fn estimates(&self) -> Estimates {
                match self {
                    $(Self::$machine(machine) => machine.estimates(),)+
                    Self::Foreign(machine) => machine.estimates(),
                }
            }

            #[inline]
            fn fault(&self) -> Option<&ConfigError> {
                if let Self::Foreign(machine) = self { machine.fault() } else { None }
            }
        }
    };
}

macro_rules! station_mechanisms {
    ($($name:literal => $variant:ident($config:ty) -> $machine:ty;)+ foreign $($foreign:literal => $table:ty;)+) => {
        /// A machine that lets a station's radio sleep, or acknowledges eagerly, with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        pub enum StationMechanism {
            $(#[doc = concat!("`", $name, "`.")] #[serde(rename = $name)] $variant($config),)+
            /// A machine defined outside this crate.
            #[serde(untagged)]
            Foreign(ForeignStation),
        }

        /// A running machine of a station.
        #[derive(Debug)]
        pub enum StationMachine {
            $(#[doc = concat!("`", $name, "`.")] $variant($machine),)+
            /// A machine defined outside this crate.
            Foreign(Box<dyn StationController>),
        }

        netlull_document::read_by_kind!(
            StationMechanism: $($name => $variant($config)),+; $($foreign => StationMechanism::foreign),+
        );

        impl JsonSchema for StationMechanism {
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed("StationMechanism")
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let kinds = [
                    $(netlull_document::schema_of_kind($name, <$config>::json_schema(generator), &[]),)+
                    $(netlull_document::schema_of_open_kind($foreign, <$table>::json_schema(generator), &[]),)+
                ];
                json_schema!({
                    "description": "A machine that lets a station's radio sleep, or acknowledges eagerly.",
                    "oneOf": kinds,
                })
            }
        }

        impl StationMechanism {
            /// The names of all kinds, in the order of the documentation.
            pub const NAMES: &'static [&'static str] = &[$($name,)+ $($foreign),+];

            /// The kind's name.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Foreign(foreign) => foreign.0.name(),
                }
            }

            /// The traffic that one machine can serve.
            #[must_use]
            pub fn serves(&self) -> Serves {
                match self {
                    $(Self::$variant(_) => <$config as StationConfig>::SERVES,)+
                    Self::Foreign(foreign) => foreign.0.serves(),
                }
            }

            /// The access point's parameters, if the machine requires a buffering access point.
            #[must_use]
            pub fn access_point(&self) -> Option<&AccessPointConfig> {
                match self {
                    $(Self::$variant(config) => config.access_point(),)+
                    Self::Foreign(foreign) => foreign.0.access_point(),
                }
            }

            /// Builds the machine of a station whose run begins at `start`.
            ///
            /// # Errors
            /// Names the first field that is out of range or does not fit the station, its value and the
            /// expectation.
            pub fn build(&self, station: StationContext, start: Instant) -> Result<StationMachine, ConfigError> {
                Ok(match self {
                    $(Self::$variant(config) => StationMachine::$variant(config.build(station, start)?),)+
                    Self::Foreign(foreign) => StationMachine::Foreign(foreign.0.build(station, start)?),
                })
            }
        }

        machine_of_kinds!(StationMachine, StationEvent, StationAction: $($variant),+);

        impl StationController for StationMachine {
            fn shaping(&self) -> Option<Shaping> {
                match self {
                    $(Self::$variant(machine) => machine.shaping(),)+
                    Self::Foreign(machine) => machine.shaping(),
                }
            }

            #[inline]
            fn fault(&self) -> Option<&ConfigError> {
                if let Self::Foreign(machine) = self { machine.fault() } else { None }
            }
        }
    };
}

impl StationMechanism {
    /// A machine of a kind that another crate reads.
    fn foreign(kind: &str, fields: &Value) -> Result<Self, ReadError> {
        Ok(Self::Foreign(ForeignStation(STATIONS.load(kind, fields)?)))
    }
}

impl LinkMechanism {
    /// A controller of a kind that another crate reads.
    fn foreign(kind: &str, fields: &Value) -> Result<Self, ReadError> {
        let factory = LINKS.load(kind, fields)?;
        let reads_segments = factory.reads_segments();
        Ok(Self::Foreign(ForeignLink::unchecked(factory, reads_segments)))
    }

    /// Returns the kind of that name.
    #[must_use]
    pub fn kind(name: &str) -> Option<&'static LinkKind> {
        Self::KINDS.iter().find(|kind| kind.name == name)
    }
}

link_mechanisms! {
    "practra" => PractRa(PractRaConfig) -> PractRa(PractRa);
    "lull" => Lull(LullConfig) -> Lull(Box<Lull>);
    "earth" => Earth(EarthConfig) -> Earth(Earth);
    "awm" => Awm(AwmConfig),
    "awm_earth" => AwmEarth(AwmEarthConfig),
    "c_earth" => CEarth(CEarthConfig),
    "g_router" => GRouter(GRouterConfig) -> Gateway(Box<Gateway>);
    foreign
    "wasm" => ModuleTable;
    "python" => ClassTable;
}

station_mechanisms! {
    "client_shaper" => ClientShaper(ShaperConfig) -> Box<Shaper>;
    "eager" => Eager(EagerConfig) -> Eager;
    "psm" => Psm(PsmConfig) -> Psm;
    "bsd" => Bsd(BsdConfig) -> Bsd;
    foreign
    "wasm" => ModuleTable;
    "python" => ClassTable;
}
