//! The cost of a rate change in the energy meter.
#![allow(missing_docs)]

use gungraun::{library_benchmark, library_benchmark_group, main};
use netlull_components::OPERATIONS;
use netlull_power::EnergyMeter;
use netlull_units::{BitRate, Duration, Instant};

/// A meter that has recorded every rate from 1 to 10 Mb/s.
fn meter() -> EnergyMeter {
    let mut meter = EnergyMeter::new(Instant::ZERO, rate(0));
    change(&mut meter, 0, 20);
    meter
}

/// Up to 10 Mb/s and down again, step by step.
fn rate(change: usize) -> BitRate {
    BitRate::from_mbps(1 + (change % 18).min(18 - change % 18) as u64)
}

#[inline(never)]
fn change(meter: &mut EnergyMeter, from: usize, changes: usize) {
    for number in from..from + changes {
        let now = Instant::ZERO + Duration::from_millis(16 * (number as u64 + 1));
        meter.rate_changed(now, rate(number), Duration::from_millis(2));
    }
}

#[library_benchmark]
#[bench::of_ten_rates(setup = meter)]
fn rate_change(mut meter: EnergyMeter) -> EnergyMeter {
    change(&mut meter, 20, OPERATIONS);
    meter
}

library_benchmark_group!(name = power; benchmarks = rate_change);
main!(library_benchmark_groups = power);
