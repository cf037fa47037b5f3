//! Recordings of a machine's events and actions, and their replay through the same machine.
//!
//! A tape is text with a JSON value per line. The first line describes the machine:
//! `{"netlull":"tape","format":3,"kind":"practra","name":"N1-N2","start":0,"config":{...}}`. Every other line is an
//! event with the machine's actions and its next timeout: `{"at":1200,"event":{...},"actions":[...],"next":2000}`.
//! Times are nanoseconds.

mod kinds;
mod replay;
#[cfg(test)]
mod tests;
mod writer;

pub use kinds::{LinkSetup, StationSetup, Taped};
pub use replay::{Difference, Replayed, replay, replay_command};
pub use writer::TapeWriter;

use crate::error::say;
use netlull_mechanism::link::{Estimates, LinkController};
use netlull_mechanism::machines::LinkMachine;
use netlull_mechanism::{ConfigError, Machine};
use netlull_units::{BitRate, Instant};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The first line of a tape.
#[derive(Debug, Serialize, Deserialize)]
struct Header<C> {
    netlull: String,
    format: u32,
    kind: String,
    name: String,
    start: Instant,
    config: C,
}

/// Any other line of a tape.
#[derive(Debug, Serialize, Deserialize)]
struct Line<E, A> {
    at: Instant,
    event: E,
    actions: Vec<A>,
    next: Option<Instant>,
}

/// A machine with an optional recording; to its driver it is the machine.
#[derive(Debug)]
pub struct OnTape<M: Taped> {
    machine: M,
    /// True after a failure of the machine has been reported.
    failed: bool,
    recording: Option<Recording<M::Event, M::Action>>,
}

/// A recording in progress.
#[derive(Debug)]
struct Recording<E, A> {
    writer: TapeWriter,
    /// The latest event and its actions.
    line: Line<E, A>,
    /// Whether that line is still to be written.
    open: bool,
}

impl<M: Taped> OnTape<M> {
    /// Builds a machine without a recording.
    ///
    /// # Errors
    /// If a value of `config` is out of range.
    pub fn blank(config: &M::Config, start: Instant) -> Result<Self, ConfigError> {
        Ok(Self { machine: M::build(config, start)?, failed: false, recording: None })
    }

    /// Builds a machine that is recorded in a file of its own, which is overwritten.
    ///
    /// # Errors
    /// If a value of `config` is out of range, or the file cannot be written.
    pub fn recorded(config: &M::Config, start: Instant, name: &str, file: &Path) -> crate::error::Result<Self> {
        let machine = M::build(config, start).map_err(|error| crate::error::LiveError::system(name, error))?;
        let mut writer = TapeWriter::create(file)?;
        let (kind, name) = (M::kind(config).to_owned(), name.to_owned());
        writer.line(&Header { netlull: "tape".to_owned(), format: FORMAT, kind, name, start, config });
        let line = Line { at: start, event: M::nothing(), actions: Vec::with_capacity(4), next: None };
        Ok(Self { machine, failed: false, recording: Some(Recording { writer, line, open: false }) })
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// Writes the rest and ends the recording.
    ///
    /// # Errors
    /// If the file could not be written.
    pub fn finish(&mut self) -> crate::error::Result<()> {
        self.recording.take().map_or(Ok(()), |recording| recording.writer.finish())
    }
}

const FORMAT: u32 = 3;

/// Says that a machine is given up.
fn report(error: &ConfigError) {
    say(format_args!("a machine works no more, and traffic passes at full rate from now on: {error}"));
}

impl OnTape<LinkMachine> {
    /// Says that its driver has given it up, if it has not yet said so.
    pub fn given_up(&self, error: &ConfigError) {
        if !self.failed {
            report(error);
        }
    }
}

impl LinkController for OnTape<LinkMachine> {
    fn rate(&self) -> BitRate {
        self.machine.rate()
    }

    fn changes(&self) -> u64 {
        self.machine.changes()
    }

    fn reads_segments(&self) -> bool {
        self.machine.reads_segments()
    }

    fn estimates(&self) -> Estimates {
        self.machine.estimates()
    }

    fn fault(&self) -> Option<&ConfigError> {
        LinkController::fault(&self.machine)
    }
}

impl<M: Taped> Machine for OnTape<M> {
    type Event = M::Event;
    type Action = M::Action;

    fn handle(&mut self, now: Instant, event: M::Event) {
        if let Some(Recording { line, open, .. }) = &mut self.recording {
            *open = true;
            (line.at, line.event) = (now, event.clone());
            line.actions.clear();
        }
        self.machine.handle(now, event);
        if !self.failed
            && let Some(fault) = self.machine.fault()
        {
            self.failed = true;
            report(fault);
        }
    }

    fn poll_action(&mut self) -> Option<M::Action> {
        let action = self.machine.poll_action();
        if let Some(Recording { writer, line, open }) = &mut self.recording {
            match &action {
                Some(action) => line.actions.push(action.clone()),
                // By contract, a driver polls until there are no more actions, so the line is complete.
                None if *open => {
                    *open = false;
                    line.next = self.machine.next_timeout();
                    writer.line(line);
                }
                None => {}
            }
        }
        action
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.machine.next_timeout()
    }
}
