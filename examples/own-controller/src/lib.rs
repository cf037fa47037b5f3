//! A custom link controller and a custom congestion control, without changes to netlull.
//!
//! [`TwoRates`] runs a link at half of its rate while the queue is short. [`FixedWindow`] keeps a window of constant
//! size. `cargo run -p netlull-example-own-controller` uses both in a scenario and prints the result.

mod two_rates;
mod window;

pub use two_rates::{TwoRates, TwoRatesFactory};
pub use window::{FixedWindow, FixedWindowFactory};

use netlull_sim::run::{RunOutcome, Unwatched, run};
use netlull_sim::scenario::{Scenario, read_document};
use std::error::Error;
use std::sync::Arc;

/// A dumb-bell of 10 Mb/s with a round-trip time of 50 ms, and one flow of 10 s.
pub const SCENARIO: &str = r#"{
    "name": "own-controller", "duration": "10 s", "verify": "replay", "nodes": ["a", "b"],
    "link": [{ "from": "a", "to": "b", "duplex": true, "rate": "10 Mb/s", "delay": "25 ms", "buffer": "100 packets" }],
    "flow": [{ "kind": "tcp", "name": "download", "from": "a", "to": "b" }]
}"#;

/// Runs the scenario with the controller on the link from a to b and a window of `segments`.
///
/// # Errors
/// If the scenario or the controller is invalid, or if the verifier finds a violated rule.
pub fn with_own(segments: u64) -> Result<RunOutcome, Box<dyn Error>> {
    let mut scenario = Scenario::from_document(&read_document(SCENARIO)?)?;
    scenario.set_controller("a-b", Arc::new(TwoRatesFactory { queue_packets: 5 }))?;
    scenario.set_congestion_control("download", Arc::new(FixedWindowFactory { segments }))?;
    Ok(run(&scenario, &mut Unwatched, None)?)
}
