//! Fuzzes pairs of endpoints over lossy paths, with the model of `tests/support`.
//!
//! `fuzz_path FILE...` runs the inputs in those files, as AFL and similar tools do, and `--trace` prints their
//! events. `fuzz_path --seed S --count N` makes N inputs from the seed S and runs them. It reduces the first failing
//! input, prints it in hexadecimal with its scene, and writes it to `fuzz-S-N.bin` in the folder of `--out`. The exit
//! code is 1 after a failure.

#[path = "../tests/support/mod.rs"]
mod support;

use netlull_tcp::Counters;
use std::path::PathBuf;
use std::process::ExitCode;
use support::{HEAD, Scene, World, fuzz_input};

/// Checks an input with the model and returns the counters of both ends. A panic of the endpoint is a failure too.
fn judge(bytes: &[u8]) -> Result<[Counters; 2], String> {
    let scene = Scene::from_bytes(bytes);
    for config in &scene.configs {
        config.validate().map_err(|why| why.to_string())?;
    }
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut world = World::new(&scene);
        world.run().map(|()| world.counters())
    }));
    run.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!(
            "panic: {}",
            text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
        ))
    })
}

/// The smallest failing input found: it removes fates in ever smaller pieces, then sets bytes to zero.
fn shrink(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut piece = bytes.len().saturating_sub(HEAD) / 2;
    while piece > 0 {
        let mut at = HEAD;
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
    trace: bool,
}

fn options() -> Result<Options, String> {
    let mut options = Options { seed: 1, count: 10_000, out: PathBuf::from("."), files: Vec::new(), trace: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("`{text}` is not a number"));
        match argument.as_str() {
            "--seed" => options.seed = number(value()?)?,
            "--count" => options.count = number(value()?)?,
            "--trace" => options.trace = true,
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
    // A panic is a finding: it is reported once, with its input.
    std::panic::set_hook(Box::new(|_| {}));
    if options.files.is_empty() {
        return generate(&options);
    }
    let mut verdict = ExitCode::SUCCESS;
    for file in &options.files {
        match std::fs::read(file).map_err(|why| why.to_string()).and_then(|bytes| judge(&bytes)) {
            Ok(_) => println!("{}: pass", file.display()),
            Err(why) if options.trace => {
                verdict = ExitCode::FAILURE;
                print_trace(file);
                println!("{}: {why}", file.display());
            }
            Err(why) => {
                println!("{}: {why}", file.display());
                verdict = ExitCode::FAILURE;
            }
        }
    }
    verdict
}

fn print_trace(file: &PathBuf) {
    let Ok(bytes) = std::fs::read(file) else { return };
    let mut world = World::traced(&Scene::from_bytes(&bytes));
    let _ = world.run();
    for line in world.trace() {
        println!("{line}");
    }
}

fn generate(options: &Options) -> ExitCode {
    let (mut segments, mut recoveries, mut timeouts) = (0, 0, 0);
    for number in 0..options.count {
        let bytes = fuzz_input(options.seed, number);
        match judge(&bytes) {
            Ok(ends) => {
                segments += ends.iter().map(|end| end.data_segments_sent).sum::<u64>();
                recoveries += ends.iter().map(|end| end.fast_retransmits).sum::<u64>();
                timeouts += ends.iter().map(|end| end.timeouts).sum::<u64>();
            }
            Err(why) => {
                println!("input {number} of seed {}: {why}", options.seed);
                report(options, number, bytes);
                return ExitCode::FAILURE;
            }
        }
    }
    println!(
        "{} inputs of seed {}: pass ({segments} segments, {recoveries} fast recoveries, {timeouts} timeouts)",
        options.count, options.seed
    );
    ExitCode::SUCCESS
}

fn report(options: &Options, number: u64, bytes: Vec<u8>) {
    let small = shrink(bytes);
    if let Err(why) = judge(&small) {
        println!("at its smallest: {why}");
    }
    println!("{:?}", Scene::from_bytes(&small));
    println!("{}", small.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let file = options.out.join(format!("fuzz-{}-{number}.bin", options.seed));
    match std::fs::write(&file, &small) {
        Ok(()) => println!("written to {}", file.display()),
        Err(why) => println!("{}: {why}", file.display()),
    }
}
