//! Controllers of a link's service rate, and what they share: the events a link reports, the rates it can run at.

mod earth;
mod forecast;
mod practra;
mod queue_length;
mod rate_set;

pub use earth::{Earth, EarthConfig};
pub use practra::{ArrivalCount, ForecastStart, PractRa, PractRaConfig, Reach};
pub use queue_length::QueueLength;
pub use rate_set::{RateSet, RateSteps};

use netlull_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a link holds, as its controller sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueView {
    /// Bytes that wait in the buffer, without the packet being sent.
    pub waiting: Bytes,
    /// The whole size in bytes of the packet being sent, zero if none is.
    pub in_service: Bytes,
}

impl QueueView {
    /// Nothing waits and nothing is being sent.
    pub const EMPTY: Self = Self { waiting: Bytes::ZERO, in_service: Bytes::ZERO };
}

/// Whether an arriving packet found room in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// It waits or is being sent.
    Accepted,
    /// The buffer was full: it is gone.
    Dropped,
}

/// What q counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueCount {
    /// Packets that wait: ns-2's queue does not hold the packet being sent.
    #[default]
    Waiting,
    /// Packets that wait and the one being sent.
    WaitingAndInService,
}

impl QueueCount {
    /// The queue in bytes.
    #[inline]
    #[must_use]
    pub fn of(self, queue: QueueView) -> Bytes {
        match self {
            Self::Waiting => queue.waiting,
            Self::WaitingAndInService => queue.waiting + queue.in_service,
        }
    }
}
