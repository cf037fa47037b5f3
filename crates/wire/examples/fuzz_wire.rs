//! Fuzzes the parsers with the rules of `tests/support` and compares them with etherparse.
//!
//! `fuzz_wire FILE...` judges the inputs in the files, as AFL and similar fuzzers call it. `fuzz_wire --seed S --count
//! N` makes N inputs from the seed S and judges them. The first failing input is shrunk, printed in hexadecimal and
//! written to `wire-S-N.bin` in the folder of `--out`. The exit code is 1 if an input fails.

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::PathBuf;
use std::process::ExitCode;
use support::{Kind, fuzz_input, judge_input};

/// Judges an input; a panic is a failure, too.
fn judge(bytes: &[u8]) -> Result<Kind, String> {
    std::panic::catch_unwind(|| judge_input(bytes)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!(
            "panic: {}",
            text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
        ))
    })
}

/// Shrinks a failing input: removes ever smaller pieces, then lowers bytes. The result still fails.
fn shrink(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut piece = bytes.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < bytes.len() {
            let mut shorter = bytes.clone();
            shorter.drain(at..(at + piece).min(bytes.len()));
            if judge(&shorter).is_err() {
                bytes = shorter;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    for index in 0..bytes.len() {
        for value in [0, bytes[index] & 1, bytes[index] / 2] {
            let mut simpler = bytes.clone();
            simpler[index] = value;
            if value < bytes[index] && judge(&simpler).is_err() {
                bytes = simpler;
                break;
            }
        }
    }
    bytes
}

struct Options {
    seed: u64,
    count: u64,
    out: PathBuf,
    files: Vec<PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options { seed: 1, count: 100_000, out: PathBuf::from("."), files: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("`{text}` is not a number"));
        match argument.as_str() {
            "--seed" => options.seed = number(value()?)?,
            "--count" => options.count = number(value()?)?,
            "--out" => options.out = PathBuf::from(value()?),
            _ => options.files.push(PathBuf::from(&argument)),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    // A panic is a finding: the program reports it once, with its input.
    std::panic::set_hook(Box::new(|_| {}));
    if options.files.is_empty() {
        return generate(&options);
    }
    let mut verdict = ExitCode::SUCCESS;
    for file in &options.files {
        match std::fs::read(file).map_err(|why| why.to_string()).and_then(|bytes| judge(&bytes)) {
            Ok(kind) => println!("{}: pass ({kind:?})", file.display()),
            Err(why) => {
                println!("{}: {why}", file.display());
                verdict = ExitCode::FAILURE;
            }
        }
    }
    verdict
}

fn generate(options: &Options) -> ExitCode {
    let mut kinds = [0u64; 4];
    for number in 0..options.count {
        let bytes = fuzz_input(options.seed, number);
        match judge(&bytes) {
            Ok(kind) => kinds[kind as usize] += 1,
            Err(why) => {
                println!("input {number} of seed {}: {why}", options.seed);
                report(options, number, bytes);
                return ExitCode::FAILURE;
            }
        }
    }
    let [segments, others, fragments, malformed] = kinds;
    println!(
        "{} inputs of seed {}: pass ({segments} segments, {others} other packets, {fragments} fragments, {malformed} malformed)",
        options.count, options.seed
    );
    ExitCode::SUCCESS
}

fn report(options: &Options, number: u64, bytes: Vec<u8>) {
    let small = shrink(bytes);
    if let Err(why) = judge(&small) {
        println!("at its smallest: {why}");
    }
    println!("{}", small.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let file = options.out.join(format!("wire-{}-{number}.bin", options.seed));
    match std::fs::write(&file, &small) {
        Ok(()) => println!("written to {}", file.display()),
        Err(why) => println!("{}: {why}", file.display()),
    }
}
