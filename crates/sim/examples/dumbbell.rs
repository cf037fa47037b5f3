//! Runs a scenario (JSON on standard input) and prints CPU nanoseconds per packet-hop, for profiling.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use netlull_sim::run::{Unwatched, run};
use netlull_sim::scenario::{Scenario, read_document};
use std::io::Read;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut json = String::new();
    std::io::stdin().read_to_string(&mut json)?;
    let scenario = Scenario::from_document(&read_document(&json)?)?;
    let start = std::time::Instant::now();
    let outcome = run(&scenario, &mut Unwatched, None)?;
    let nanos = start.elapsed().as_nanos() as f64;
    println!("{}", serde_json::to_string_pretty(&outcome.summary)?);
    let hops = outcome.summary.packet_hops;
    println!("{hops} packet-hops, {} events, {:.1} ns per packet-hop", outcome.summary.events, nanos / hops as f64);
    Ok(())
}
