//! The list of link controllers. A new controller takes one file and one line at the
//! end of this file.

use super::{
    Context, Controller, Estimates, LinkAction, LinkEvent, LowPowerTimes, NeededQueue, PLUG_INS, Parameters, PlugIn,
};
use crate::gateway::{AwmConfig, AwmEarthConfig, CEarthConfig, GRouterConfig, Gateway};
use crate::rate::{Earth, EarthConfig, Lpi, LpiConfig, Lull, LullConfig, Naps, PractRa, PractRaConfig};
use crate::{ConfigError, Machine, machine_of_kinds};
use enum_dispatch::enum_dispatch;
use netlull_document::{ClassTable, ModuleTable, ReadError};
use netlull_units::{BitRate, Duration, Instant};
use serde::Serialize;
use serde_json::Value;

/// A kind of link controller.
pub type Kind = netlull_document::Kind<Config, Properties>;

/// The properties of a kind of link controller.
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    /// True if the controller changes the link's rate.
    pub changes_rate: bool,
    /// True if the controller reads segments and acknowledgements.
    pub reads_segments: bool,
    /// True if the controller stops its link and lets it hold packets, as a router on real packets cannot.
    pub stops: bool,
}

/// Defines [`Config`], [`Running`] and the kinds from the list at the end of this file. The attribute of `Running` comes
/// from there: enum_dispatch works only if it comes from the same place as the names (macro hygiene).
macro_rules! link_controllers {
    (
        [$($dispatch:tt)*]
        $($($name:literal => $variant:ident($config:ty)),+ -> $machine:ident($type:ty);)+
        $open:ident($boxed:ty) $($plug_in:literal => $table:ty;)+
    ) => {
        /// A link controller with its parameters, as a document gives them.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        pub enum Config {
            $($(#[doc = concat!("`", $name, "`.")] #[serde(rename = $name)] $variant($config),)+)+
            /// A controller defined outside this crate.
            #[serde(untagged)]
            PlugIn(PlugIn),
        }

        /// A running link controller.
        // No comments at the variants: enum_dispatch would take its names from their place.
        #[allow(missing_docs)]
        $($dispatch)*
        #[derive(Debug)]
        pub enum Running {
            $($machine($type),)+
            $open($boxed),
        }

        machine_of_kinds!(Running, LinkEvent, LinkAction: $($machine,)+ $open);

        netlull_document::read_by_kind!(
            Config: $($($name => $variant($config)),+),+; $($plug_in => Config::plug_in),+
        );

        impl Config {
            /// Every kind, in the order of the documentation.
            pub const KINDS: &'static [Kind] = &[$($(Kind::new::<$config>(
                $name,
                Properties {
                    changes_rate: <$config as Parameters>::CHANGES_RATE,
                    reads_segments: <$config as Parameters>::READS_SEGMENTS,
                    stops: <$config as Parameters>::STOPS,
                },
                |fields| netlull_document::read::<$config>(fields).map(Config::$variant),
            ),)+)+ $(Kind::open::<$table>(
                $plug_in,
                Properties { changes_rate: true, reads_segments: true, stops: false },
                |fields| Config::plug_in($plug_in, fields),
            )),+];

            /// The kind's name.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $($(Self::$variant(_) => $name,)+)+
                    Self::PlugIn(plug_in) => plug_in.factory().name(),
                }
            }

            /// Builds the machine of a link whose run begins at `start`, after checking every value by itself and
            /// against the link. A reader checks a document by building its machines.
            ///
            /// # Errors
            /// Names the first field that is out of range, its value and the expectation.
            pub fn build(&self, link: Context, start: Instant) -> Result<Running, ConfigError> {
                Ok(match self {
                    $($(Self::$variant(config) => Running::$machine(config.build(link, start)?.into()),)+)+
                    Self::PlugIn(plug_in) => Running::PlugIn(plug_in.build(link, start)?),
                })
            }

            /// Returns true if the controller reads segments and acknowledgements.
            #[must_use]
            pub fn reads_segments(&self) -> bool {
                match self {
                    $($(Self::$variant(_) => <$config as Parameters>::READS_SEGMENTS,)+)+
                    Self::PlugIn(plug_in) => plug_in.reads_segments(),
                }
            }

            /// Returns true if arrivals show their segments to the controller.
            #[must_use]
            pub fn sees_segments(&self) -> bool {
                match self {
                    $($(Self::$variant(_) => <$config as Parameters>::SEES_SEGMENTS,)+)+
                    Self::PlugIn(plug_in) => plug_in.reads_segments(),
                }
            }

            /// Returns true if the controller stops its link and lets it hold packets, as a router on real packets cannot.
            #[must_use]
            pub fn stops(&self) -> bool {
                match self {
                    $($(Self::$variant(_) => <$config as Parameters>::STOPS,)+)+
                    Self::PlugIn(_) => false,
                }
            }

            /// The longest time that a packet is late because of the controller; `None` without a guarantee.
            #[must_use]
            pub fn lateness_bound(&self, link: Context) -> Option<Duration> {
                match self {
                    $($(Self::$variant(config) => Parameters::lateness_bound(config, link),)+)+
                    Self::PlugIn(_) => None,
                }
            }

            /// The name and value of the parameter for the lowest rate; `None` if the controller does not change
            /// the rate.
            #[must_use]
            pub fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
                match self {
                    $($(Self::$variant(config) => config.lowest_rate(),)+)+
                    Self::PlugIn(_) => None,
                }
            }

            /// The rate at the start; `None` for the link's own rate.
            #[must_use]
            pub fn initial_rate(&self) -> Option<BitRate> {
                match self {
                    $($(Self::$variant(config) => config.initial_rate(),)+)+
                    Self::PlugIn(plug_in) => plug_in.initial_rate(),
                }
            }

            /// The queue that the link's buffer must hold; `None` if any buffer will do.
            #[must_use]
            pub fn needed_queue(&self, link: Context) -> Option<NeededQueue> {
                match self {
                    $($(Self::$variant(config) => config.needed_queue(link),)+)+
                    Self::PlugIn(_) => None,
                }
            }
        }
    };
}

impl Config {
    /// Builds the machine as [`build`](Self::build) does. Low-power idle sleeps at the times of `naps`, if there are any.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value and the expectation.
    pub fn build_with(&self, link: Context, start: Instant, naps: Option<&Naps>) -> Result<Running, ConfigError> {
        let mut machine = self.build(link, start)?;
        if let (Self::Lpi(config), Running::Lpi(lpi), Some(naps)) = (self, &mut machine, naps) {
            lpi.follow(naps.clone(), config.is_coupled());
        }
        Ok(machine)
    }

    /// The longest lateness as [`lateness_bound`](Self::lateness_bound) gives it, on a link that sleeps at the times of
    /// `naps`, if there are any.
    #[must_use]
    pub fn lateness_bound_with(&self, link: Context, naps: Option<&Naps>) -> Option<Duration> {
        let bound = self.lateness_bound(link);
        naps.map_or(bound, |naps| naps.lateness_bound(bound?))
    }

    /// A controller of a kind that another crate reads.
    fn plug_in(kind: &str, fields: &Value) -> Result<Self, ReadError> {
        let factory = PLUG_INS.load(kind, fields)?;
        let reads_segments = factory.reads_segments();
        Ok(Self::PlugIn(PlugIn::unchecked(factory, reads_segments)))
    }

    /// The names of the kinds that this program reads.
    pub fn readable() -> impl Iterator<Item = &'static str> {
        let read = Self::KINDS.iter().filter(|kind| kind.fields.is_some() || PLUG_INS.reads(kind.name));
        read.map(|kind| kind.name)
    }

    /// Returns the kind of that name.
    #[must_use]
    pub fn kind(name: &str) -> Option<&'static Kind> {
        Self::KINDS.iter().find(|kind| kind.name == name)
    }
}

link_controllers! {
    [#[enum_dispatch(Controller)]]
    "practra" => PractRa(PractRaConfig) -> PractRa(PractRa);
    "lull" => Lull(LullConfig) -> Lull(Box<Lull>);
    "earth" => Earth(EarthConfig) -> Earth(Earth);
    "lpi" => Lpi(LpiConfig) -> Lpi(Lpi);
    "awm" => Awm(AwmConfig),
    "awm_earth" => AwmEarth(AwmEarthConfig),
    "c_earth" => CEarth(CEarthConfig),
    "g_router" => GRouter(GRouterConfig) -> Gateway(Box<Gateway>);
    PlugIn(Box<dyn Controller>)
    "wasm" => ModuleTable;
    "python" => ClassTable;
}
