//! Power models from outside. One program holds every test of this folder: each of its own would be linked with everything again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod energy_properties;
mod radio_properties;
