//! Links that sleep, and how routers learn of it.

use super::PlanDocument;
use netlull_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How packets find their way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutingDocument {
    /// The length of a path, of which routing takes the shortest.
    #[serde(default)]
    pub metric: PathMetric,
    /// Hops that a packet may make. Without it 64 where links sleep, and no limit elsewhere: routes that never change have no loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 255))]
    pub ttl: Option<u32>,
    /// How routers learn of links that sleep and wake.
    #[serde(default)]
    pub update: UpdateDocument,
}

/// The length of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathMetric {
    /// The sum of the links' costs.
    #[default]
    Cost,
    /// The number of links, whatever their costs.
    Hops,
}

/// How the news of a link spreads.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum UpdateDocument {
    /// Both ends of the link announce it; announcements travel link by link, over those that are up.
    Flooding(FloodingDocument),
    /// Every router has its new table at the same time.
    Simultaneous(SimultaneousDocument),
}

impl Default for UpdateDocument {
    fn default() -> Self {
        Self::Flooding(FloodingDocument::default())
    }
}

/// Link-state flooding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FloodingDocument {
    /// What every router on the way adds to the propagation of the links.
    #[serde(default = "default_processing")]
    pub processing: Duration,
    /// From the first news to a router's new table; what it hears meanwhile is in it.
    #[serde(default = "default_computation")]
    pub computation: Duration,
}

impl Default for FloodingDocument {
    fn default() -> Self {
        Self { processing: default_processing(), computation: default_computation() }
    }
}

/// All routers at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimultaneousDocument {
    /// From the announcement to the new tables.
    pub after: Duration,
}

/// Links that sleep, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepDocument {
    /// When it is decided and announced that the (first) link sleeps.
    pub at: Duration,
    /// The links, in the order in which they fall asleep. A duplex link sleeps in both directions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// Or the plan that chooses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanDocument>,
    /// Each further link so much later.
    #[serde(default)]
    pub spacing: Duration,
    /// A link carries packets on for so long after it has been announced that it sleeps: routes change first.
    #[serde(default)]
    pub drain: Duration,
    /// When the (first) link is woken; default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<Duration>,
    /// From then until it carries packets and is announced.
    #[serde(default)]
    pub wake_time: Duration,
}

fn default_processing() -> Duration {
    Duration::from_millis(1)
}

fn default_computation() -> Duration {
    Duration::from_millis(10)
}
