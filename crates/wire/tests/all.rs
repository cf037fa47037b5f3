//! Tests of whole packets. A single program holds every test of this folder, because each further program would be
//! linked with everything again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod headers;
mod packets;
mod support;
