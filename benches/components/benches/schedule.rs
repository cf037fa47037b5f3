//! The schedule: taking the next event and setting another.
#![allow(missing_docs)]

use gungraun::{library_benchmark, library_benchmark_group, main};
use netlull_components::OPERATIONS;
use netlull_components::running::Running;

#[library_benchmark(setup = Running::new)]
#[bench::pending_4(4)]
#[bench::pending_60(60)]
#[bench::pending_1000(1_000)]
#[bench::pending_10000(10_000)]
fn take_and_set(mut running: Running) -> Running {
    running.run(OPERATIONS);
    running
}

#[library_benchmark(setup = Running::new)]
#[bench::pending_60(60)]
#[bench::pending_1000(1_000)]
fn set_again(mut running: Running) -> Running {
    running.run_moving(OPERATIONS);
    running
}

// The cost of drawing the times, to be subtracted.
#[library_benchmark(setup = Running::new)]
#[bench::none(4)]
fn times_only(mut running: Running) -> Running {
    running.run_without(OPERATIONS);
    running
}

library_benchmark_group!(name = schedule; benchmarks = take_and_set, set_again, times_only);
main!(library_benchmark_groups = schedule);
