//! Packet scripts: text with the events of one endpoint, their times, and the required answers.
//!
//! `validation/rfc/README.md` describes the language. [`Script::parse`] reads a script, and [`Script::run`] returns
//! the transcript and the differences from the expectations. No expectation comes from the endpoint's output.

mod options;
mod parse;
mod path;
mod pattern;
mod quantity;
mod run;

#[cfg(test)]
use netlull_tcp::WindowReduction;
use netlull_tcp::{Config, Data, Preset};
use netlull_units::{Duration, Instant};
use path::PathModel;
use pattern::Pattern;
use quantity::Expectation;

/// The side of the handshake under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

/// Statement of a line.
#[derive(Clone, Debug)]
enum Action {
    /// Sends a SYN.
    Open,
    /// A handshake of this duration.
    Connect(Duration),
    Send(Data),
    Close,
    Read(u64),
    /// Segments of the peer.
    In(Vec<Pattern>),
    /// Segments expected, in the time from the step's to this one.
    Out(Instant, Vec<Pattern>),
    /// Any number of segments.
    OutAny,
    /// From here on the peer acknowledges each segment of data after this time, or none.
    Acks(Option<Duration>),
    Expect(Vec<Expectation>),
    /// The mean window is taken from here on (on a modelled path).
    Measure,
}

/// A line with a time.
#[derive(Clone, Debug)]
struct ScriptStep {
    line: usize,
    at: Instant,
    action: Action,
}

/// A script.
#[derive(Clone, Debug)]
pub struct Script {
    /// The first comment.
    pub title: String,
    /// The sections of RFCs that comments name, in order of appearance, each once: "RFC 5681 3.1, 3.2; RFC 6298 5".
    pub sections: String,
    config: Config,
    preset: Option<Preset>,
    side: Side,
    iss: u32,
    irs: u32,
    path: Option<PathModel>,
    steps: Vec<ScriptStep>,
}

/// The scripts in a file by name. `script NAME` begins each, called FILE-NAME; a file without that line is one script.
pub fn split(file: &str, text: &str) -> Vec<(String, String)> {
    let mut scripts = vec![(file.to_owned(), String::new())];
    for (number, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("script ") {
            // The empty lines keep the numbers of the file's lines.
            scripts.push((format!("{file}-{}", name.trim()), "\n".repeat(number + 1)));
        } else if let Some((_, script)) = scripts.last_mut() {
            script.push_str(line);
            script.push('\n');
        }
    }
    scripts.retain(|(_, script)| !script.trim().is_empty());
    scripts
}

impl Script {
    /// The reduction of the window, which only a preset brings.
    #[cfg(test)]
    pub fn window_reduction(&self) -> WindowReduction {
        self.config.recovery.window_reduction
    }
}

/// Result of a script.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The events, one per line.
    pub transcript: Vec<String>,
    /// The differences from the script, one per line.
    pub differences: Vec<String>,
    /// Segments and quantities compared.
    pub checks: usize,
}

impl Outcome {
    /// True if everything was as expected.
    pub fn passed(&self) -> bool {
        self.differences.is_empty()
    }

    fn note(&mut self, at: Instant, what: &str) {
        self.transcript.push(format!("{} {what}", seconds(at)));
    }

    fn differs(&mut self, line: usize, why: &str) {
        let difference = format!("line {line}: {why}");
        self.transcript.push(format!("    {difference}"));
        self.differences.push(difference);
    }
}

/// A time in seconds, with its decimals, but at least three.
fn seconds(at: Instant) -> String {
    let nanos = at.as_nanos();
    let decimals = format!("{:09}", nanos % 1_000_000_000);
    let short = decimals.trim_end_matches('0');
    let width = short.len().max(3);
    format!("{}.{}", nanos / 1_000_000_000, &decimals[..width])
}

/// A duration in seconds such as `1`, `0.25`, exact to the nanosecond.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time in seconds");
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 9 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let nanos: u64 = format!("{decimals:0<9}").parse().map_err(|_| wrong())?;
    Ok(Duration::from_nanos(whole * 1_000_000_000 + nanos))
}

fn parse_number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number that fits here"))
}
