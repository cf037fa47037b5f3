//! Fuzzes pairs of endpoints over lossy paths, with the model of `tests/support`.
//!
//! `fuzz_path FILE...` runs the inputs in those files, as AFL and similar tools do, and `--trace` prints their
//! events. `fuzz_path --seed S --count N` makes N inputs from the seed S and runs them. It reduces the first failing
//! input, prints it in hexadecimal with its scene, and writes it to `fuzz-S-N.bin` in the folder of `--out`. The exit
//! code is 1 after a failure.

#[path = "../../wire/examples/fuzzing/mod.rs"]
mod fuzzing;
#[path = "../tests/support/mod.rs"]
mod support;

use fuzzing::{Target, fuzz};
use netlull_tcp::Counters;
use std::process::ExitCode;
use support::{HEAD, Scene, World, fuzz_input};

/// Sums over the senders of all inputs.
#[derive(Default)]
struct Senders {
    segments: u64,
    recoveries: u64,
    timeouts: u64,
    undone: u64,
}

impl Target for Senders {
    type Passed = [Counters; 2];
    const NAME: &str = "fuzz";
    const COUNT: u64 = 10_000;
    const HEAD: usize = HEAD;

    fn input(seed: u64, number: u64) -> Vec<u8> {
        fuzz_input(seed, number)
    }

    /// Checks an input with the model and returns the counters of both ends.
    fn judge(bytes: &[u8]) -> Result<[Counters; 2], String> {
        let scene = Scene::from_bytes(bytes);
        for config in &scene.configs {
            config.validate().map_err(|why| why.to_string())?;
        }
        let mut world = World::new(&scene);
        world.run().map(|()| world.counters())
    }

    fn add(&mut self, ends: &[Counters; 2]) {
        self.segments += ends.iter().map(|end| end.data_segments_sent).sum::<u64>();
        self.recoveries += ends.iter().map(|end| end.fast_retransmits).sum::<u64>();
        self.timeouts += ends.iter().map(|end| end.timeouts).sum::<u64>();
        self.undone += ends.iter().map(|end| end.undone_fast_retransmits + end.undone_timeouts).sum::<u64>();
    }

    fn sums(&self) -> String {
        let Self { segments, recoveries, timeouts, undone } = self;
        format!("{segments} segments, {recoveries} fast recoveries, {timeouts} timeouts, {undone} undone")
    }

    fn print(bytes: &[u8]) {
        println!("{:?}", Scene::from_bytes(bytes));
    }

    fn trace(bytes: &[u8]) {
        let mut world = World::traced(&Scene::from_bytes(bytes));
        let _ = world.run();
        for line in world.trace() {
            println!("{line}");
        }
    }
}

fn main() -> ExitCode {
    fuzz::<Senders>()
}
