//! Queue management: drops and marks before the buffer is full. The limit of the queue is its [`Buffer`].
//!
//! [`Buffer`]: super::buffer::Buffer

pub mod codel;
pub mod red;
mod verdict;

use codel::CoDelConfig;
use red::RedConfig;
use serde::{Deserialize, Serialize};
pub use verdict::Verdict;

/// The queue management of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueModel {
    /// Drops by the full buffer alone.
    #[default]
    DropTail,
    /// Random early detection, at the arrival of packets.
    Red(RedConfig),
    /// Controlled delay, at the departure of packets from the queue.
    CoDel(CoDelConfig),
}

impl QueueModel {
    /// The kind's name in documents.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::DropTail => "drop_tail",
            Self::Red(_) => "red",
            Self::CoDel(_) => "codel",
        }
    }
}
