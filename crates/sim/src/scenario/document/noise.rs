//! What packets of a link need on top of its delay.

use netlull_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Noise of round trips: each packet takes a gamma-distributed time longer, independently, and none overtakes the one before it
/// (docs/models/link.md).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseDocument {
    /// Mean of the times drawn; 0 s is no noise.
    pub mean: Duration,
    /// Shape, 0.01 to 1,000,000: the standard deviation is mean / sqrt(shape), and 1 is exponential.
    pub shape: f64,
}
