//! Measures the CPU time per packet-hop of the ideal loop, the minimum of several turns.
#![allow(clippy::disallowed_methods)] // It measures time.
//!
//! Run it with `cargo run --release --example ideal_hop`.

use netlull_components::ideal::{Circle, Order};
use std::time::Instant;

const HOPS: usize = 2_000_000;
const TURNS: usize = 9;

fn main() {
    println!("pending   schedule     heap   ns per packet-hop, least of {TURNS} turns of {HOPS} hops");
    for links in [4, 60, 1_000, 10_000] {
        let [scheduled, heaped] = [Order::Schedule, Order::Heap].map(|order| {
            let mut circle = Circle::new(links, order);
            let turn = |_| {
                let began = Instant::now();
                circle.hop(HOPS);
                began.elapsed().as_nanos() as f64 / HOPS as f64
            };
            (0..TURNS).map(turn).fold(f64::INFINITY, f64::min)
        });
        println!("{links:>7} {scheduled:>10.1} {heaped:>8.1}");
    }
}
