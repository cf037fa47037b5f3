//! What depends on when real hosts get a processor is asked of one run of a few.

use std::fmt::Debug;

/// Runs it up to five times, until it holds. A machine that keeps hosts from running spoils a run, hardly five of them; what is broken fails in
/// each.
#[track_caller]
pub fn in_one_of_five(mut run: impl FnMut() -> Result<(), String>) {
    let mut failures = Vec::new();
    while failures.len() < 5 {
        match run() {
            Ok(()) => return,
            Err(failure) => {
                println!("not this time: {failure}");
                failures.push(failure);
            }
        }
    }
    panic!("in none of five runs: {}", failures.join("\n"));
}

/// Whether it holds, or what was seen instead.
pub fn check(holds: bool, seen: impl Debug) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{seen:?}")) }
}
