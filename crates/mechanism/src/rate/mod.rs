//! Controllers of a link's service rate, and what they share: the events a link reports, the rates it can run at.

mod earth;
mod forecast;
mod practra;
mod rate_set;

pub use earth::{Earth, EarthConfig};
pub use practra::{ArrivalCount, Evaluate, ForecastStart, PractRa, PractRaConfig, QueueCount, Reach};
pub use rate_set::RateSet;

use netlull_units::{BitRate, Bytes, Duration};
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

/// What happens on a controlled link. Every `queue` is the link's content *after* the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateEvent {
    /// A packet reached the link's buffer. If the transmitter was free, the packet is already in service in `queue`.
    Arrival {
        /// The packet's size in bytes.
        size: Bytes,
        /// Whether it found room.
        admission: Admission,
        /// The content with the packet, if accepted.
        queue: QueueView,
    },
    /// A packet has left the transmitter. If another waited and no pause holds it back, that one is already in
    /// service in `queue`.
    Departure {
        /// The content without the packet that left.
        queue: QueueView,
    },
    /// The instant asked for by `next_timeout` has come. It carries the content because a packet enters service
    /// without an event of its own when a pause ends.
    Timeout {
        /// The content now.
        queue: QueueView,
    },
}

/// What a rate controller asks of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateAction {
    /// Serve at `rate` from now on and send nothing for `pause` while the hardware changes over.
    ///
    /// Whether a packet already in service finishes at its old rate, and whether the pause then starts after it, is
    /// the link's reading, not the controller's.
    SetRate {
        /// The new service rate in bit/s.
        rate: BitRate,
        /// How long nothing is sent.
        pause: Duration,
    },
}
