//! The command line of programs that fuzz: they judge files, or make inputs from a seed and shrink the first that fails.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A target of fuzzing, and the sums over its inputs.
pub trait Target: Default {
    /// The result of an input that passes.
    type Passed;
    /// The start of the names of files with failing inputs.
    const NAME: &'static str;
    /// The default number of inputs.
    const COUNT: u64;
    /// The number of bytes at the start that shrinking keeps.
    const HEAD: usize;

    /// Makes an input from a seed.
    fn input(seed: u64, number: u64) -> Vec<u8>;

    /// Judges an input.
    fn judge(bytes: &[u8]) -> Result<Self::Passed, String>;

    /// Adds an input that passed.
    fn add(&mut self, passed: &Self::Passed);

    /// Returns the sums.
    fn sums(&self) -> String;

    /// Prints an input in words.
    fn print(_bytes: &[u8]) {}

    /// Prints the events of an input (`--trace`).
    fn trace(_bytes: &[u8]) {}
}

/// Judges an input; a panic is a failure, too.
fn judge<T: Target>(bytes: &[u8]) -> Result<T::Passed, String> {
    let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| T::judge(bytes)));
    judged.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// Shrinks a failing input: removes ever smaller pieces, then lowers bytes. The result still fails.
fn shrink<T: Target>(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut piece = bytes.len().saturating_sub(T::HEAD) / 2;
    while piece > 0 {
        let mut at = T::HEAD;
        while at < bytes.len() {
            let mut shorter = bytes.clone();
            shorter.drain(at..(at + piece).min(bytes.len()));
            if judge::<T>(&shorter).is_err() {
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
            if value < bytes[index] && judge::<T>(&simpler).is_err() {
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

fn options(count: u64) -> Result<Options, String> {
    let mut options = Options { seed: 1, count, out: PathBuf::from("."), files: Vec::new(), trace: false };
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

/// Fuzzes as the command line says.
pub fn fuzz<T: Target>() -> ExitCode {
    let options = match options(T::COUNT) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    // A panic is a finding: the program reports it once, with its input.
    std::panic::set_hook(Box::new(|_| {}));
    if options.files.is_empty() {
        return generate::<T>(&options);
    }
    let mut verdict = ExitCode::SUCCESS;
    for file in &options.files {
        if let Err(why) = judge_file::<T>(file, options.trace) {
            println!("{}: {why}", file.display());
            verdict = ExitCode::FAILURE;
        }
    }
    verdict
}

fn judge_file<T: Target>(file: &Path, trace: bool) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|why| why.to_string())?;
    let passed = judge::<T>(&bytes).inspect_err(|_| {
        if trace {
            T::trace(&bytes);
        }
    })?;
    let mut only = T::default();
    only.add(&passed);
    println!("{}: pass ({})", file.display(), only.sums());
    Ok(())
}

fn generate<T: Target>(options: &Options) -> ExitCode {
    let mut all = T::default();
    for number in 0..options.count {
        let bytes = T::input(options.seed, number);
        match judge::<T>(&bytes) {
            Ok(passed) => all.add(&passed),
            Err(why) => {
                println!("input {number} of seed {}: {why}", options.seed);
                report::<T>(options, number, bytes);
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{} inputs of seed {}: pass ({})", options.count, options.seed, all.sums());
    ExitCode::SUCCESS
}

fn report<T: Target>(options: &Options, number: u64, bytes: Vec<u8>) {
    let small = shrink::<T>(bytes);
    if let Err(why) = judge::<T>(&small) {
        println!("at its smallest: {why}");
    }
    T::print(&small);
    println!("{}", small.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let file = options.out.join(format!("{}-{}-{number}.bin", T::NAME, options.seed));
    match std::fs::write(&file, &small) {
        Ok(()) => println!("written to {}", file.display()),
        Err(why) => println!("{}: {why}", file.display()),
    }
}
