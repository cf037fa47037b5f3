//! Fuzzes the parsers with the rules of `tests/support` and compares them with etherparse.
//!
//! `fuzz_wire FILE...` judges the inputs in the files, as AFL and similar fuzzers call it. `fuzz_wire --seed S --count
//! N` makes N inputs from the seed S and judges them. The first failing input is shrunk, printed in hexadecimal and
//! written to `wire-S-N.bin` in the folder of `--out`. The exit code is 1 if an input fails.

mod fuzzing;
#[path = "../tests/support/mod.rs"]
mod support;

use fuzzing::{Target, fuzz};
use std::process::ExitCode;
use support::{Kind, fuzz_input, judge_input};

/// The number of packets of each kind.
#[derive(Default)]
struct Packets([u64; 4]);

impl Target for Packets {
    type Passed = Kind;
    const NAME: &str = "wire";
    const COUNT: u64 = 100_000;
    const HEAD: usize = 0;

    fn input(seed: u64, number: u64) -> Vec<u8> {
        fuzz_input(seed, number)
    }

    fn judge(bytes: &[u8]) -> Result<Kind, String> {
        judge_input(bytes)
    }

    fn add(&mut self, kind: &Kind) {
        self.0[*kind as usize] += 1;
    }

    fn sums(&self) -> String {
        let [segments, others, fragments, malformed] = self.0;
        format!("{segments} segments, {others} other packets, {fragments} fragments, {malformed} malformed")
    }
}

fn main() -> ExitCode {
    fuzz::<Packets>()
}
