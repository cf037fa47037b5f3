//! The power of a link in a rate change.

use netlull_units::BitRate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The power during a transition; the papers are silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransitionPower {
    /// The higher of the two rates' powers: hardware in transition is not asleep.
    #[default]
    Higher,
    /// The new rate's power.
    New,
    /// The old rate's power.
    Old,
}

impl TransitionPower {
    pub(crate) fn of(self, old: BitRate, new: BitRate) -> BitRate {
        match self {
            Self::Old => old,
            Self::New => new,
            Self::Higher => old.max(new),
        }
    }
}
