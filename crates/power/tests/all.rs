//! Tests of the power models through the public API. A single program holds every test of this folder, to link
//! only once.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod energy_properties;
mod radio_properties;
