//! Standard output with a closed pipe or a full device.
#![allow(missing_docs, clippy::unwrap_used)] // A test may fail.
#![cfg(target_os = "linux")]

use netlull_live::tape::{LinkSetup, OnTape};
use netlull_mechanism::Machine;
use netlull_mechanism::link::{self, LinkEvent};
use netlull_mechanism::rate::{EarthConfig, QueueLength, QueueView, RateSet};
use netlull_units::{BitRate, Bytes, Instant};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// `netlulld` with a given standard output.
fn run(words: &str, out: impl Into<Stdio>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_netlulld"));
    command.args(words.split_whitespace()).env("RUST_BACKTRACE", "1").stdout(out);
    command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap()
}

/// A pipe whose reader is gone.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// Commands that change nothing and write to standard output.
fn commands() -> Vec<String> {
    let install = "install --dev nl-none --rate 20Mb/s --buffer 150kB --mechanism awm --dry-run --root /nowhere";
    let mut commands: Vec<_> =
        [install, "uninstall --dev nl-none --dry-run"].map(|words| format!("router {words}")).to_vec();
    for words in ["doctor", "doctor --json", "--help", "--version"] {
        commands.push(words.to_owned());
    }
    // Without root it does not know, and writes to standard error only.
    if nix::unistd::geteuid().is_root() {
        commands.push("client status --dev nl-none".to_owned());
    }
    for words in ["router status --dev nl-none", "router status --dev nl-none --json"] {
        commands.push(format!("{words} --state /nowhere"));
    }
    commands
}

/// A recording without events, and a recording with another machine's event.
fn tapes(directory: &Path) -> [PathBuf; 2] {
    std::fs::create_dir_all(directory).unwrap();
    let (same, other) = (directory.join("same.tape"), directory.join("other.tape"));
    let rates = RateSet::from_list(&[BitRate::from_mbps(1), BitRate::from_mbps(20)]).unwrap();
    for path in [&same, &other] {
        let earth = EarthConfig::new(rates.clone(), QueueLength::Bytes(Bytes::new(90_000)));
        let link = link::Context::new(rates.highest(), Bytes::new(1500));
        let config = LinkSetup { mechanism: link::Config::Earth(earth), link, naps: None };
        let mut machine = OnTape::<link::Running>::recorded(&config, Instant::ZERO, "N1-N2", path).unwrap();
        machine.handle(Instant::ZERO, LinkEvent::Departure { queue: QueueView::EMPTY });
        while machine.poll_action().is_some() {}
        machine.finish().unwrap();
    }
    let text = std::fs::read_to_string(&other).unwrap();
    assert!(text.contains("\"next\":null"), "{text}");
    std::fs::write(&other, text.replace("\"next\":null", "\"next\":7")).unwrap();
    [same, other]
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let directory = std::env::temp_dir().join(format!("netlull-output-{}", std::process::id()));
    let mut all = commands();
    all.extend(tapes(&directory).iter().map(|tape| format!("replay {}", tape.display())));
    all.push(format!("router restore --dev nl-none --state {}", directory.display()));
    for words in all {
        let (read, unread) = (run(&words, Stdio::piped()), run(&words, closed()));
        assert!(!read.stdout.is_empty(), "{words}");
        assert_eq!(unread.status.code(), read.status.code(), "{words}");
        assert_eq!(String::from_utf8_lossy(&unread.stderr), String::from_utf8_lossy(&read.stderr), "{words}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_full_disk_is_an_error() {
    for words in ["doctor", "router uninstall --dev nl-none --dry-run"] {
        let done = run(words, File::options().write(true).open("/dev/full").unwrap());
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && said.contains("standard output: No space left on device"), "{words}: {said}");
        assert!(!said.contains("panicked"), "{words}: {said}");
    }
}
