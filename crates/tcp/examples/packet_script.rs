//! Runs packet scripts: `packet_script FILE...` prints one line for each; `packet_script -v FILE...` prints the
//! transcript too.
//!
//! Without files, the script comes from the standard input, and its transcript is printed. The exit code is 1 after a
//! failure.

#[path = "../tests/packet_script/mod.rs"]
mod packet_script;

use packet_script::Script;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let verbose = arguments.iter().any(|argument| argument == "-v");
    let files: Vec<&String> = arguments.iter().filter(|argument| *argument != "-v").collect();
    let mut report = String::new();
    let mut passed = true;
    if files.is_empty() {
        let mut text = String::new();
        match std::io::stdin().read_to_string(&mut text) {
            Ok(_) => passed = run("script", &text, true, &mut report),
            Err(why) => return complain(&why.to_string()),
        }
    }
    for file in files {
        let name = Path::new(file).file_stem().map_or_else(|| file.clone(), |stem| stem.to_string_lossy().into_owned());
        match std::fs::read_to_string(file) {
            Ok(text) => passed &= run(&name, &text, verbose, &mut report),
            Err(why) => return complain(&format!("{file}: {why}")),
        }
    }
    if std::io::stdout().write_all(report.as_bytes()).is_err() || !passed {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn complain(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::from(2)
}

/// Runs one script and adds its lines to the report; true if it passed.
fn run(name: &str, text: &str, verbose: bool, report: &mut String) -> bool {
    let script = match Script::parse(text) {
        Ok(script) => script,
        Err(why) => {
            *report += &format!("{name}: not a script: {why}\n");
            return false;
        }
    };
    let outcome = script.run();
    let verdict = if outcome.passed() { "pass" } else { "FAIL" };
    *report += &format!("{name}: {verdict}, {} checks; {}\n", outcome.checks, script.sections);
    if verbose {
        *report += &outcome.transcript.iter().map(|line| format!("  {line}\n")).collect::<String>();
    } else {
        *report += &outcome.differences.iter().map(|line| format!("  {line}\n")).collect::<String>();
    }
    outcome.passed()
}
