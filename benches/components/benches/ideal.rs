//! The ideal loop, in instructions; `cargo run --release --example ideal_hop` measures it in nanoseconds.
#![allow(missing_docs)]

use gungraun::{library_benchmark, library_benchmark_group, main};
use netlull_components::OPERATIONS;
use netlull_components::ideal::{Circle, Order};

#[library_benchmark(setup = Circle::new)]
#[bench::schedule_4(4, Order::Schedule)]
#[bench::schedule_60(60, Order::Schedule)]
#[bench::schedule_1000(1_000, Order::Schedule)]
#[bench::schedule_10000(10_000, Order::Schedule)]
#[bench::heap_4(4, Order::Heap)]
#[bench::heap_60(60, Order::Heap)]
#[bench::heap_1000(1_000, Order::Heap)]
#[bench::heap_10000(10_000, Order::Heap)]
fn hop(mut circle: Circle) -> Circle {
    circle.hop(OPERATIONS);
    circle
}

library_benchmark_group!(name = ideal; benchmarks = hop);
main!(library_benchmark_groups = ideal);
