//! Queue management: what is dropped or marked although there is room. The limit of the queue is its [`Buffer`].
//!
//! [`Buffer`]: super::buffer::Buffer

pub mod codel;
pub mod red;
mod verdict;

use codel::CoDelConfig;
use red::RedConfig;
use serde::{Deserialize, Serialize};
pub use verdict::Verdict;

/// How a link's queue is managed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueModel {
    /// Only a full buffer drops.
    #[default]
    DropTail,
    /// Random early detection, as packets arrive.
    Red(RedConfig),
    /// Controlled delay, as packets leave the queue.
    CoDel(CoDelConfig),
}

impl QueueModel {
    /// The name by which a document calls it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::DropTail => "drop_tail",
            Self::Red(_) => "red",
            Self::CoDel(_) => "codel",
        }
    }
}
