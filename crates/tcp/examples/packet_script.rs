//! Runs packet scripts: `packet_script FILE...` prints one line for each, and with `-v` its transcript too. `FILE:NAME`
//! runs only the script NAME of a file.
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
    for argument in files {
        let (file, wanted) = argument.split_once(':').unwrap_or((argument, ""));
        let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
        let mut scripts = match std::fs::read_to_string(file) {
            Ok(text) => packet_script::split(&stem, &text),
            Err(why) => return complain(&format!("{file}: {why}")),
        };
        scripts.retain(|(name, _)| wanted.is_empty() || *name == format!("{stem}-{wanted}"));
        if scripts.is_empty() {
            return complain(&format!("{argument}: there is no such script"));
        }
        for (name, text) in scripts {
            passed &= run(&name, &text, verbose, &mut report);
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
