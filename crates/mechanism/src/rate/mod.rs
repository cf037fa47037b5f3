//! Controllers of a link's service rate, and their common types: events of a link and possible rates.

mod earth;
mod forecast;
mod lull;
mod practra;
mod queue_length;
mod rate_set;

pub use earth::{Earth, EarthConfig};
pub use lull::{Lull, LullConfig};
pub use practra::{ArrivalCount, ForecastStart, PractRa, PractRaConfig, Reach};
pub use queue_length::QueueLength;
pub use rate_set::{RateSet, RateSteps};

pub use crate::view::{Admission, HeadVerdict, QueueCount, QueueView};
