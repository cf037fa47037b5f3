//! The replay of a recording through the same machine.

use super::{FORMAT, Header, Line, Taped, Told};
use crate::error::{LiveError, Result, exit, tell};
use crate::input;
use netlull_mechanism::radio::AccessPoint;
use netlull_mechanism::{link, station};
use serde::Deserialize;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::ExitCode;

/// The result of a replay.
#[derive(Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The kind of the machine.
    pub kind: String,
    /// The name of the machine.
    pub name: String,
    /// The number of events.
    pub events: u64,
    /// The number of actions.
    pub actions: u64,
    /// The first difference, if any.
    pub difference: Option<Difference>,
}

/// A line of a tape that the machine would now write differently.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line's number, from 1.
    pub line: u64,
    /// The recorded line.
    pub recorded: String,
    /// The line from the replay.
    pub replayed: String,
}

/// The numbers of the first line, read before its other fields.
#[derive(Deserialize)]
struct Numbers {
    netlull: String,
    format: u32,
}

/// Replays a recording through its machine, and compares line by line, byte for byte.
///
/// # Errors
/// If the file cannot be read, is not a tape, or has a line that does not fit this tape's machine. A truncated last
/// line, as left by a killed process, is ignored.
pub fn replay(file: &Path) -> Result<Replayed> {
    let open = input::open(file)?;
    let mut lines = Lines(BufReader::new(open));
    let first = lines.next().transpose().map_err(|error| LiveError::system(file.display(), error))?.unwrap_or_default();
    let no_tape = |error| LiveError::input(format!("{}: is not a tape: {error}", file.display()));
    // The other fields depend on the format.
    let Numbers { netlull, format } = serde_json::from_str(&first).map_err(no_tape)?;
    if (netlull.as_str(), format) != ("tape", FORMAT) {
        let what = format!("{}: is a {netlull}, format {format}", file.display());
        let expected = format!("expected a tape, format {FORMAT}: record it again with this netlulld");
        return Err(LiveError::input(format!("{what}; {expected}")));
    }
    let header: Header<serde_json::Value> = serde_json::from_str(&first).map_err(no_tape)?;
    // The module names its machine.
    let has = |field: &str| header.config.get(field).is_some();
    let from_module = header.config.pointer("/mechanism/kind").is_some_and(|kind| kind == "wasm");
    let of = match header.kind.as_str() {
        _ if from_module && has("link") => through::<link::Running>,
        _ if from_module && has("station") => through::<station::Running>,
        link if link::Config::kind(link).is_some() => through::<link::Running>,
        station if station::Config::NAMES.contains(&station) => through::<station::Running>,
        "access_point" => through::<AccessPoint>,
        other => {
            return Err(LiveError::input(format!(
                "{}: \"{other}\" is not a machine that can be replayed",
                file.display()
            )));
        }
    };
    of(file, header, &mut lines)
}

/// The lines of a tape, without their ends.
struct Lines(BufReader<File>);

impl Lines {
    /// The longest line in bytes. One with the largest module is shorter.
    const LONGEST: u64 = 16 << 20;
}

impl Iterator for Lines {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = String::new();
        match self.0.by_ref().take(Self::LONGEST).read_line(&mut line) {
            Ok(0) => None,
            Ok(length) if length as u64 == Self::LONGEST => {
                Some(Err(io::Error::other(format!("is longer than {} MiB", Self::LONGEST >> 20))))
            }
            Ok(_) => {
                line.truncate(line.trim_end().len());
                Some(Ok(line))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

fn through<M: Taped>(file: &Path, header: Header<serde_json::Value>, lines: &mut Lines) -> Result<Replayed> {
    let wrong = |line: u64, error: String| LiveError::input(format!("{}, line {line}: {error}", file.display()));
    let config: M::Config = netlull_document::read(&header.config).map_err(|error| wrong(1, error.to_string()))?;
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
            return Err(wrong(number, format!("is at {}, earlier than the previous line", line.at)));
        }
        last = line.at;
        let mut actions = Vec::new();
        let next = match line.told.clone() {
            Told::Event { event } => {
                let Ok(next) = machine.tell(line.at, event, &mut |action| {
                    actions.push(action);
                    Ok::<_, Infallible>(())
                });
                next
            }
            Told::OtherDirection { other_direction_is_ready } => {
                machine.tell_of_other_direction(line.at, other_direction_is_ready);
                actions.extend(std::iter::from_fn(|| machine.poll_action()));
                machine.next_timeout()
            }
        };
        replayed.events += 1;
        replayed.actions += actions.len() as u64;
        let now = Line { at: line.at, told: line.told, actions, next };
        let now = serde_json::to_string(&now).map_err(|error| wrong(number, error.to_string()))?;
        if now != recorded {
            replayed.difference = Some(Difference { line: number, recorded, replayed: now });
            break;
        }
    }
    Ok(replayed)
}

/// Runs `netlulld replay`: prints the result; the exit code is [`NO`](exit::NO) if a decision differs.
///
/// # Errors
/// The errors of [`replay`], or if standard output cannot be written.
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
            Ok(ExitCode::from(exit::NO))
        }
    }
}
