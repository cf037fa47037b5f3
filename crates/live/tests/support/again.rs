//! Waiting for other processes, repeated runs for properties that depend on the hosts' scheduling, and skipped tests.

#![allow(dead_code)] // Each test uses a part of it.

use std::fmt::{Debug, Display};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Reports that the calling test cannot run here. `make test` names a file for these reports, and counts them at the end.
pub fn skip(why: impl Display) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    // The test harness hides `println!` of a test that passes.
    let _ = std::io::stderr().write_all(format!("skipped {name}: {why}\n").as_bytes());
    if let Some(reports) = std::env::var_os("NETLULL_SKIPPED") {
        append_line(Path::new(&reports), name);
    }
}

/// Appends a line to a file in one write, because several tests and processes append at once.
pub fn append_line(file: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).expect("a file");
    file.write_all(format!("{line}\n").as_bytes()).expect("room for a line");
}

/// Waits until a condition of another process or of the kernel holds: for two minutes, because processes wait for the
/// processors of a busy machine.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// Does the same for a value, and returns it.
#[track_caller]
pub fn wait_for<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    for _ in 0..6000 {
        if let Some(found) = find() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("not within two minutes: {what}");
}

/// Runs a test up to five times, until it succeeds, and returns its result. A busy machine may spoil a run, but hardly
/// five of them; a real defect fails in each. Assertions without timing are inside the run and fail at once.
#[track_caller]
pub fn in_one_of_five<T>(mut run: impl FnMut() -> Result<T, String>) -> T {
    in_one_that_counts(|| Some(run())).expect("all of them count")
}

/// Does the same with runs that may be too late to count (`None`). After the second late run it judges nothing and prints
/// so: such a machine may have spoilt the runs in time, too.
#[track_caller]
pub fn in_one_that_counts<T>(mut run: impl FnMut() -> Option<Result<T, String>>) -> Option<T> {
    let (mut failures, mut late) = (Vec::new(), 0);
    while late < 2 {
        match run() {
            Some(Ok(found)) => return Some(found),
            Some(Err(failure)) => {
                println!("not this time: {failure}");
                failures.push(failure);
                assert!(failures.len() < 5, "in none of five runs: {}", failures.join("\n"));
            }
            None => late += 1,
        }
    }
    skip("this machine is too busy");
    None
}

/// Passes if the condition holds; otherwise fails with the observation.
pub fn check(holds: bool, seen: impl Debug) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{seen:?}")) }
}
