//! Recordings of a machine's events and actions, and their replay through the same machine. [`Taped`] is a machine
//! that can be recorded.
//!
//! A tape is text with a JSON value per line. The first line describes the machine:
//! `{"netlull":"tape","format":3,"kind":"practra","name":"N1-N2","start":0,"config":{...}}`. Every other line is an
//! event with the machine's actions and its next timeout: `{"at":1200,"event":{...},"actions":[...],"next":2000}`.
//! Times are nanoseconds. A separate thread writes the file, so the main loop never waits for the disk.

mod replay;
#[cfg(test)]
mod tests;

pub use replay::{Difference, Replayed, replay, replay_command};

use crate::error::{LiveError, Result, say};
use netlull_mechanism::link::{self, Estimates, LinkEvent, LowPowerTimes};
use netlull_mechanism::radio::{AccessEvent, AccessPoint, AccessPointConfig};
use netlull_mechanism::rate::{Naps, QueueView};
use netlull_mechanism::station::{self, StationEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_units::{BitRate, Instant};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

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
    #[serde(flatten)]
    told: Told<E>,
    actions: Vec<A>,
    next: Option<Instant>,
}

/// The input of a machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Told<E> {
    /// An event.
    Event { event: E },
    /// On a link whose directions are coupled: if the other direction may stop.
    OtherDirection { other_direction_is_ready: bool },
}

/// A machine with an optional recording; to its driver it is the machine.
#[derive(Debug)]
pub struct OnTape<M: Taped> {
    machine: M,
    /// True if a failure of the machine is not to be reported: it has been, or its owner ends with it.
    quiet: bool,
    recording: Option<Recording<M::Event, M::Action>>,
}

/// A recording in progress.
#[derive(Debug)]
struct Recording<E, A> {
    writer: TapeWriter,
    /// The latest event and its actions.
    line: Line<E, A>,
    /// True if that line is still to be written.
    open: bool,
}

impl<M: Taped> OnTape<M> {
    /// Builds a machine without a recording.
    ///
    /// # Errors
    /// If a value of `config` is out of range.
    pub fn blank(config: &M::Config, start: Instant) -> std::result::Result<Self, ConfigError> {
        Ok(Self { machine: M::build(config, start)?, quiet: false, recording: None })
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
        let told = Told::Event { event: M::nothing() };
        let line = Line { at: start, told, actions: Vec::with_capacity(4), next: None };
        Ok(Self { machine, quiet: false, recording: Some(Recording { writer, line, open: false }) })
    }

    /// The same for an owner that ends with a failure of the machine.
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { quiet: true, ..self }
    }

    /// The reason why the machine works no more, if it has failed.
    #[must_use]
    pub fn failure(&self) -> Option<&ConfigError> {
        self.machine.fault()
    }

    /// Begins a line of the recording, if there is one.
    fn begin_line(&mut self, now: Instant, told: Told<M::Event>) {
        if let Some(Recording { line, open, .. }) = &mut self.recording {
            *open = true;
            (line.at, line.told) = (now, told);
            line.actions.clear();
        }
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

impl OnTape<link::Running> {
    /// Says that its driver has given it up, if it has not yet said so.
    pub fn given_up(&self, error: &ConfigError) {
        if !self.quiet {
            report(error);
        }
    }
}

impl link::Controller for OnTape<link::Running> {
    fn rate(&self) -> BitRate {
        self.machine.rate()
    }

    fn changes(&self) -> u64 {
        self.machine.changes()
    }

    fn reads_segments(&self) -> bool {
        self.machine.reads_segments()
    }

    fn stops(&self) -> bool {
        self.machine.stops()
    }

    fn hears_busy(&self) -> bool {
        self.machine.hears_busy()
    }

    fn is_ready_to_stop(&self) -> bool {
        self.machine.is_ready_to_stop()
    }

    fn on_other_direction(&mut self, now: Instant, is_ready: bool) {
        self.begin_line(now, Told::OtherDirection { other_direction_is_ready: is_ready });
        self.machine.on_other_direction(now, is_ready);
    }

    fn low_power(&self, now: Instant) -> Option<LowPowerTimes> {
        self.machine.low_power(now)
    }

    fn estimates(&self) -> Estimates {
        self.machine.estimates()
    }

    fn fault(&self) -> Option<&ConfigError> {
        link::Controller::fault(&self.machine)
    }
}

impl<M: Taped> Machine for OnTape<M> {
    type Event = M::Event;
    type Action = M::Action;

    fn handle(&mut self, now: Instant, event: M::Event) {
        if self.recording.is_some() {
            self.begin_line(now, Told::Event { event: event.clone() });
        }
        self.machine.handle(now, event);
        if !self.quiet
            && let Some(fault) = self.machine.fault()
        {
            self.quiet = true;
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

/// A machine that can be recorded and rebuilt.
pub trait Taped: Machine<Event: Text, Action: Text> + Debug {
    /// The configuration.
    type Config: Text;

    /// The name of the machine's kind on tapes.
    fn kind(config: &Self::Config) -> &str;

    /// Builds the machine.
    ///
    /// # Errors
    /// If a value of `config` is out of range.
    fn build(config: &Self::Config, start: Instant) -> std::result::Result<Self, ConfigError>
    where
        Self: Sized;

    /// The reason why the machine works no more, if it has failed.
    fn fault(&self) -> Option<&ConfigError> {
        None
    }

    /// A placeholder event for a tape's line before the first event.
    fn nothing() -> Self::Event;

    /// Tells the machine if the other direction of a coupled link may stop.
    fn tell_of_other_direction(&mut self, _now: Instant, _is_ready: bool) {}
}

/// A value that can be converted to text and back.
pub trait Text: Serialize + DeserializeOwned + Clone + PartialEq + Debug {}
impl<T: Serialize + DeserializeOwned + Clone + PartialEq + Debug> Text for T {}

/// A link's controller with the parameters of its link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSetup {
    /// The controller with its parameters.
    pub mechanism: link::Config,
    /// The link.
    pub link: link::Context,
    /// The times at which the link sleeps, if they are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naps: Option<Naps>,
}

impl Taped for link::Running {
    type Config = LinkSetup;

    fn kind(config: &LinkSetup) -> &str {
        config.mechanism.name()
    }

    fn build(config: &LinkSetup, start: Instant) -> std::result::Result<Self, ConfigError> {
        config.mechanism.build_with(config.link, start, config.naps.as_ref())
    }

    fn fault(&self) -> Option<&ConfigError> {
        link::Controller::fault(self)
    }

    fn nothing() -> LinkEvent {
        LinkEvent::Timeout { queue: QueueView::EMPTY }
    }

    fn tell_of_other_direction(&mut self, now: Instant, is_ready: bool) {
        link::Controller::on_other_direction(self, now, is_ready);
    }
}

/// A station's machine with the parameters of its station.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationSetup {
    /// The machine with its parameters.
    pub mechanism: station::Config,
    /// The station.
    pub station: station::Context,
}

impl Taped for station::Running {
    type Config = StationSetup;

    fn kind(config: &StationSetup) -> &str {
        config.mechanism.name()
    }

    fn build(config: &StationSetup, start: Instant) -> std::result::Result<Self, ConfigError> {
        config.mechanism.build(config.station, start)
    }

    fn fault(&self) -> Option<&ConfigError> {
        station::Policy::fault(self)
    }

    fn nothing() -> StationEvent {
        StationEvent::Timeout
    }
}

impl Taped for AccessPoint {
    type Config = AccessPointConfig;

    fn kind(_: &AccessPointConfig) -> &str {
        "access_point"
    }

    fn build(config: &AccessPointConfig, start: Instant) -> std::result::Result<Self, ConfigError> {
        Self::new(config, start)
    }

    fn nothing() -> AccessEvent {
        AccessEvent::Timeout
    }
}

/// The number of bytes per write to the disk.
const BLOCK: usize = 256 * 1024;

/// Writes JSON lines or bytes in a separate thread.
#[derive(Debug)]
pub struct TapeWriter {
    path: PathBuf,
    block: Vec<u8>,
    writing: Writing,
}

/// The state of the thread. It starts with the first block: a daemon confines itself before, and its threads with it.
#[derive(Debug)]
enum Writing {
    NotYet(Option<File>),
    Since { blocks: Sender<Vec<u8>>, thread: JoinHandle<std::io::Result<()>> },
    Failed(std::io::Error),
}

impl TapeWriter {
    /// Creates an empty file; an existing one is overwritten.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let cannot = |error| LiveError::system(format!("recording {}", path.display()), error);
        let file = File::create(path).map_err(cannot)?;
        let block = Vec::with_capacity(BLOCK + 1024);
        Ok(Self { path: path.to_owned(), block, writing: Writing::NotYet(Some(file)) })
    }

    /// Adds a line.
    pub fn line(&mut self, value: &impl Serialize) {
        // The recorded values have no maps with non-text keys, the only values that JSON refuses.
        let _ = serde_json::to_writer(&mut self.block, value);
        self.block.push(b'\n');
        if self.block.len() >= BLOCK {
            self.hand_over();
        }
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        if self.block.len() >= BLOCK {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(BLOCK + 1024));
        if let Writing::NotYet(file) = &mut self.writing
            && let Some(file) = file.take()
        {
            self.writing = Writing::start(file);
        }
        if let Writing::Since { blocks, .. } = &self.writing {
            // A stopped thread has an error, which `finish` reports.
            let _ = blocks.send(block);
        }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// If anything could not be written.
    pub fn finish(mut self) -> Result<()> {
        self.hand_over();
        let written = match self.writing {
            Writing::NotYet(_) => Ok(()),
            Writing::Failed(error) => Err(error),
            Writing::Since { blocks, thread } => {
                drop(blocks);
                thread.join().unwrap_or_else(|_| Err(std::io::Error::other("the writing thread has failed")))
            }
        };
        written.map_err(|error| LiveError::system(format!("recording {}", self.path.display()), error))
    }
}

impl Writing {
    fn start(file: File) -> Self {
        let (blocks, waiting) = channel();
        let thread = std::thread::Builder::new().name("netlull-tape".to_owned()).spawn(move || write(file, &waiting));
        thread.map_or_else(Self::Failed, |thread| Self::Since { blocks, thread })
    }
}

impl Write for TapeWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes(bytes);
        Ok(bytes.len())
    }

    /// Does nothing: the thread writes each block on arrival.
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn write(mut file: File, blocks: &Receiver<Vec<u8>>) -> std::io::Result<()> {
    for block in blocks {
        file.write_all(&block)?;
    }
    file.flush()
}
