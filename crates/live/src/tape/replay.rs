//! A recording through the same machine again.

use super::{FORMAT, Header, Line, Taped};
use crate::error::{LiveError, Result, tell};
use netlull_mechanism::machines::{LinkMachine, LinkMechanism, StationMachine, StationMechanism};
use netlull_mechanism::radio::AccessPoint;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

/// What came of a replay.
#[derive(Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Which machine it was.
    pub kind: String,
    /// What it was called.
    pub name: String,
    /// How many events it was told.
    pub events: u64,
    /// How many actions it asked for.
    pub actions: u64,
    /// Where it first decided otherwise.
    pub difference: Option<Difference>,
}

/// A line of a tape that the machine would now write otherwise.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its number, from 1.
    pub line: u64,
    /// As recorded.
    pub recorded: String,
    /// As it is now.
    pub replayed: String,
}

/// Puts a recording through its machine again, and compares line by line, byte for byte.
///
/// # Errors
/// If the file cannot be read, is no tape, or has a line that is not of this tape's machine; a last line that is cut short, as a process
/// that was killed leaves it, is left out.
pub fn replay(file: &Path) -> Result<Replayed> {
    let open = std::fs::File::open(file).map_err(|error| LiveError::system(file.display(), error))?;
    let mut lines = BufReader::new(open).lines();
    let first = lines.next().transpose().map_err(|error| LiveError::system(file.display(), error))?.unwrap_or_default();
    let header: Header<serde_json::Value> = serde_json::from_str(&first)
        .map_err(|error| LiveError::new(format!("{}: is no tape: {error}", file.display())))?;
    if (header.netlull.as_str(), header.format) != ("tape", FORMAT) {
        let what = format!("{}, format {}", header.netlull, header.format);
        return Err(LiveError::new(format!("{}: is a {what}; expected a tape of format {FORMAT}", file.display())));
    }
    let of = match header.kind.as_str() {
        link if LinkMechanism::kind(link).is_some() => through::<LinkMachine>,
        station if StationMechanism::NAMES.contains(&station) => through::<StationMachine>,
        "access_point" => through::<AccessPoint>,
        other => {
            return Err(LiveError::new(format!("{}: \"{other}\" is no machine that can be replayed", file.display())));
        }
    };
    of(file, header, &mut lines)
}

type Lines = std::io::Lines<BufReader<std::fs::File>>;

fn through<M: Taped>(file: &Path, header: Header<serde_json::Value>, lines: &mut Lines) -> Result<Replayed> {
    let wrong = |line: u64, error: String| LiveError::new(format!("{}, line {line}: {error}", file.display()));
    let config: M::Config = serde_json::from_value(header.config).map_err(|error| wrong(1, error.to_string()))?;
    let mut machine = M::build(&config, header.start).map_err(|error| wrong(1, error.to_string()))?;
    let mut replayed = Replayed { kind: header.kind, name: header.name, events: 0, actions: 0, difference: None };
    let mut number = 1;
    let mut last = header.start;
    let mut lines = lines.peekable();
    while let Some(recorded) = lines.next() {
        number += 1;
        let recorded = recorded.map_err(|error| wrong(number, error.to_string()))?;
        let line: Line<M::Event, M::Action> = match serde_json::from_str(&recorded) {
            Ok(line) => line,
            Err(error) if error.is_eof() && lines.peek().is_none() => break,
            Err(error) => return Err(wrong(number, error.to_string())),
        };
        if line.at < last {
            return Err(wrong(number, format!("is at {}, before the line above it", line.at)));
        }
        last = line.at;
        machine.handle(line.at, line.event.clone());
        let actions: Vec<_> = std::iter::from_fn(|| machine.poll_action()).collect();
        replayed.events += 1;
        replayed.actions += actions.len() as u64;
        let now = Line { at: line.at, event: line.event, actions, next: machine.next_timeout() };
        let now = serde_json::to_string(&now).map_err(|error| wrong(number, error.to_string()))?;
        if now != recorded {
            replayed.difference = Some(Difference { line: number, recorded, replayed: now });
            break;
        }
    }
    Ok(replayed)
}

/// `netlulld replay`: says what came of it; fails where a decision differs.
///
/// # Errors
/// Those of [`replay`], and if nothing can be written.
pub fn replay_command(file: &Path) -> Result<ExitCode> {
    let Replayed { kind, name, events, actions, difference } = replay(file)?;
    match difference {
        None => {
            tell(format_args!("{name} ({kind}): {events} events, {actions} actions, all as recorded"))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Difference { line, recorded, replayed }) => {
            tell(format_args!("{name} ({kind}): line {line} differs after {events} events"))?;
            tell(format_args!("recorded: {recorded}\nreplayed: {replayed}"))?;
            Ok(ExitCode::FAILURE)
        }
    }
}
