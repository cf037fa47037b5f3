//! The list of sleep plans: [`SleepAlgorithm`] is a plan's kind with its parameters.
//!
//! A new plan takes one file and one line at the end of this file.

use super::{
    EsaconConfig, EstopConfig, Graph, LoadAwareConfig, PLUG_INS, PlugIn, Rank, SleepPlan, SleepPlanConfig, Traffic,
};
use crate::ConfigError;
use netlull_document::{ClassTable, Kind, ReadError};
use serde::Serialize;
use serde_json::Value;

/// A kind of sleep plan.
pub type SleepKind = Kind<SleepAlgorithm, SleepProperties>;

/// The properties of a kind of sleep plan.
#[derive(Clone, Copy, Debug)]
pub struct SleepProperties {
    /// True if the plan reads capacities, weights and demands.
    pub reads_traffic: bool,
    /// The quantity by which the plan orders the links.
    pub rank: Rank,
}

macro_rules! sleep_plans {
    ($($name:literal => $variant:ident($config:ty);)+ plug_ins $($plug_in:literal => $table:ty;)+) => {
        /// A sleep plan's kind with its parameters, as a document gives them.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        pub enum SleepAlgorithm {
            $(#[doc = concat!("`", $name, "`.")] #[serde(rename = $name)] $variant($config),)+
            /// A plan defined outside this crate.
            #[serde(untagged)]
            PlugIn(PlugIn),
        }

        netlull_document::read_by_kind!(
            SleepAlgorithm: $($name => $variant($config)),+; $($plug_in => SleepAlgorithm::plug_in),+
        );

        impl SleepAlgorithm {
            /// Every kind, in the order of the documentation.
            pub const KINDS: &'static [SleepKind] = &[$(SleepKind::new::<$config>(
                $name,
                SleepProperties {
                    reads_traffic: <$config as SleepPlanConfig>::READS_TRAFFIC,
                    rank: <$config as SleepPlanConfig>::RANK,
                },
                |fields| netlull_document::read::<$config>(fields).map(SleepAlgorithm::$variant),
            ),)+ $(SleepKind::open::<$table>(
                $plug_in,
                SleepProperties { reads_traffic: true, rank: Rank { name: "order", unit: None } },
                |fields| SleepAlgorithm::plug_in($plug_in, fields),
            )),+];

            /// Returns true if the plan reads capacities, weights and demands.
            #[must_use]
            pub fn reads_traffic(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$config as SleepPlanConfig>::READS_TRAFFIC,)+
                    Self::PlugIn(planner) => planner.0.reads_traffic(),
                }
            }

            /// Computes the links that sleep.
            ///
            /// # Errors
            /// Names the first unusable value and the expectation.
            pub fn plan(&self, graph: &Graph, traffic: &Traffic) -> Result<SleepPlan, ConfigError> {
                match self {
                    $(Self::$variant(config) => config.plan(graph, traffic),)+
                    Self::PlugIn(planner) => planner.0.plan(graph, traffic),
                }
            }
        }
    };
}

impl SleepAlgorithm {
    /// A plan of a kind that another crate reads.
    fn plug_in(kind: &str, fields: &Value) -> Result<Self, ReadError> {
        Ok(Self::PlugIn(PlugIn(PLUG_INS.load(kind, fields)?)))
    }
}

sleep_plans! {
    "estop" => Estop(EstopConfig);
    "esacon" => Esacon(EsaconConfig);
    "load_aware" => LoadAware(LoadAwareConfig);
    plug_ins
    "python" => ClassTable;
}
