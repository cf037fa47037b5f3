//! Tests of the mechanisms through the public API. A single program holds every test of this folder, to link only
//! once.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "its numbers are small"
)]

mod common;
mod download;
mod gateway_properties;
mod lull_properties;
mod observe_properties;
mod practra_golden;
mod practra_properties;
mod psm_properties;
mod shaper_properties;
mod topology_properties;
