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

pub use crate::view::{Admission, QueueCount, QueueView};
