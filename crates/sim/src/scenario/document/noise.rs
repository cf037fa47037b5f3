//! Random extra delay of a link's packets.

use netlull_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Noise of round-trip times: each packet has an independent, gamma-distributed extra delay.
///
/// Packets stay in order (docs/models/link.md).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseDocument {
    /// Mean extra delay; 0 s turns the noise off.
    pub mean: Duration,
    /// Shape. The standard deviation is mean / sqrt(shape); 1 is exponential.
    #[schemars(range(min = 0.01, max = 1e6))]
    pub shape: f64,
}
