//! The decisions of a run's plug-ins, recorded and played back. A run replays without the plug-ins' own code.
//!
//! A tape is text with a JSON value per line: [`Head`], then per plug-in its [`PartHead`] and, at the number of a call,
//! its answers. The head has a checksum of the other lines. Calls without an effect have no line. Numbers of calls take the place of times, because a replay
//! delivers the same events in the same order.

use netlull_mechanism::ConfigError;
use netlull_mechanism::observe::{
    Decision, Observation, Plug, StationAnswer, StationSubscriber, Subscriber, VOCABULARY,
};
use netlull_mechanism::station::StationEvent;
use netlull_tcp::cc::{Answer, ControlEvent, Listener, Variable};
use netlull_units::Instant;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The first line of a tape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// "plug-ins".
    pub netlull: String,
    /// The version of the format.
    pub format: u32,
    /// The version of the vocabulary.
    pub vocabulary: u32,
    /// The seed of the run.
    pub seed: u64,
    /// The scenario of the run.
    #[serde(flatten)]
    pub stamp: Stamp,
    /// The [`checksum`] of the other lines.
    pub checksum: String,
}

/// The scenario of a tape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stamp {
    /// The digest of its complete document.
    pub scenario: String,
    /// The plug-ins' tables and the defaults of their parameters, in the order of the document.
    pub plug_ins: Value,
}

const FORMAT: u32 = 2;
const FIRST_LINE: &str = "the first line of a tape of plug-ins";

/// The numbers of the first line, read before its other fields.
#[derive(Deserialize)]
struct Numbers {
    netlull: String,
    format: u32,
    vocabulary: u32,
}

/// The 64-bit FNV-1a hash of a text, in hexadecimal digits.
fn checksum(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

/// A plug-in of the run, in the order in which the run builds them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartHead {
    /// The name in results.
    pub name: String,
    /// The table in the scenario.
    pub table: Value,
    /// The subscription of a link's controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plug: Option<Plug>,
    /// The first timeout of a station's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Instant>,
    /// The parameters of the access point of a station's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_point: Option<Value>,
    /// True if a congestion control wants deliveries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deliveries: bool,
    /// True if the window of a congestion control also holds in recovery.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owns_window: bool,
    /// The links of a sleep plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<Vec<usize>>,
}

/// A line after the first.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Part { part: usize, head: Box<PartHead> },
    Answer { part: usize, call: u64, answer: Value },
}

#[derive(Clone, Debug, PartialEq)]
struct Part {
    head: PartHead,
    answers: VecDeque<(u64, Value)>,
}

/// The decisions of all plug-ins of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Tape {
    seed: u64,
    stamp: Stamp,
    parts: Vec<Part>,
}

impl Tape {
    /// An empty tape of a run with a seed.
    #[must_use]
    pub fn new(seed: u64, stamp: Stamp) -> Self {
        Self { seed, stamp, parts: Vec::new() }
    }

    /// The scenario of the run.
    #[must_use]
    pub fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// The seed of the run.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Reads a tape.
    ///
    /// # Errors
    /// Names the first line that is not one of a tape.
    pub fn read(text: &str) -> Result<Self, ConfigError> {
        let wrong = |number: usize, value: &dyn std::fmt::Display, expected: &str| {
            ConfigError::new(format!("line {}", number + 1), value, expected)
        };
        let mut lines = text.lines().enumerate();
        let Some((_, first)) = lines.next() else {
            return Err(wrong(0, &"missing", FIRST_LINE));
        };
        // The other fields depend on the format.
        let Numbers { netlull, format, vocabulary } =
            serde_json::from_str(first).map_err(|error| wrong(0, &error, FIRST_LINE))?;
        if (netlull.as_str(), format, vocabulary) != ("plug-ins", FORMAT, VOCABULARY) {
            let found = format!("a tape of {netlull}, format {format}, vocabulary {vocabulary}");
            let expected = format!("plug-ins, format {FORMAT}, vocabulary {VOCABULARY}");
            return Err(wrong(0, &found, &format!("{expected}: record the run again with this version")));
        }
        let head: Head = serde_json::from_str(first).map_err(|error| wrong(0, &error, FIRST_LINE))?;
        let found = checksum(text.split_once('\n').map_or("", |(_, rest)| rest));
        let mut tape = Self::new(head.seed, head.stamp);
        for (number, line) in lines {
            match serde_json::from_str(line) {
                Ok(Line::Part { part, head }) if part == tape.parts.len() => {
                    tape.parts.push(Part { head: *head, answers: VecDeque::new() });
                }
                Ok(Line::Answer { part, call, answer }) if part < tape.parts.len() => {
                    tape.parts[part].answers.push_back((call, answer));
                }
                Ok(_) => return Err(wrong(number, &"a plug-in out of order", "plug-ins in their order")),
                Err(error) => return Err(wrong(number, &error, "a plug-in or an answer")),
            }
        }
        if head.checksum != found {
            let value = format!("the checksum {}", head.checksum);
            return Err(wrong(0, &value, &format!("{found}; the tape has changed after its run")));
        }
        Ok(tape)
    }

    /// Writes the tape: all plug-ins, each followed by its answers.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` cannot fail, nor can JSON of these types.
        let mut line = |value: Value| {
            let _ = writeln!(text, "{value}");
        };
        for (number, part) in self.parts.iter().enumerate() {
            line(
                serde_json::to_value(Line::Part { part: number, head: Box::new(part.head.clone()) })
                    .unwrap_or_default(),
            );
            for (call, answer) in &part.answers {
                let answer = Line::Answer { part: number, call: *call, answer: answer.clone() };
                line(serde_json::to_value(answer).unwrap_or_default());
            }
        }
        let head = Head {
            netlull: "plug-ins".to_owned(),
            format: FORMAT,
            vocabulary: VOCABULARY,
            seed: self.seed,
            stamp: self.stamp.clone(),
            checksum: checksum(&text),
        };
        format!("{}\n{text}", serde_json::to_value(head).unwrap_or_default())
    }

    /// Adds a plug-in; returns its number.
    pub fn add(&mut self, head: PartHead) -> usize {
        self.parts.push(Part { head, answers: VecDeque::new() });
        self.parts.len() - 1
    }

    /// A plug-in by its number.
    #[must_use]
    pub fn part(&self, number: usize) -> Option<&PartHead> {
        self.parts.get(number).map(|part| &part.head)
    }

    /// The plug-ins, in their order.
    pub fn heads(&self) -> impl Iterator<Item = &PartHead> {
        self.parts.iter().map(|part| &part.head)
    }

    /// Plays the answers of a plug-in.
    #[must_use]
    pub fn play(&self, number: usize) -> Played {
        let part = self.parts.get(number);
        Played {
            left: Arc::new(AtomicUsize::new(part.map_or(0, |part| part.answers.len()))),
            answers: part.map(|part| part.answers.clone()).unwrap_or_default(),
            calls: 0,
            wants_deliveries: part.is_some_and(|part| part.head.deliveries),
            owns_window: part.is_some_and(|part| part.head.owns_window),
        }
    }
}

/// A tape that a run's plug-ins share.
pub type SharedTape = Arc<Mutex<Tape>>;

/// A plug-in whose answers are recorded.
#[derive(Debug)]
pub struct Recorded<T> {
    plugin: T,
    tape: SharedTape,
    part: usize,
    calls: u64,
    /// The last answer on the tape.
    last: Option<Decision>,
}

impl<T> Recorded<T> {
    /// Records the plug-in with a number on the tape.
    pub fn new(plugin: T, tape: SharedTape, part: usize) -> Self {
        Self { plugin, tape, part, calls: 0, last: None }
    }

    fn record(&mut self, answer: &impl Serialize) {
        let mut tape = self.tape.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(part), Ok(answer)) = (tape.parts.get_mut(self.part), serde_json::to_value(answer)) {
            part.answers.push_back((self.calls, answer));
        }
    }
}

impl<S: Subscriber> Subscriber for Recorded<S> {
    fn observe(&mut self, seen: &Observation) -> Result<Option<Decision>, ConfigError> {
        self.calls += 1;
        let decision = self.plugin.observe(seen)?;
        // A rate that the plug-in has just requested is no change.
        let is_same = matches!(decision, Some(Decision::Rate(_))) && decision == self.last;
        if let Some(decision) = decision.filter(|_| !is_same) {
            self.last = Some(decision);
            self.record(&decision);
        }
        Ok(decision)
    }
}

impl<S: StationSubscriber> StationSubscriber for Recorded<S> {
    fn answer(&mut self, now: Instant, event: &StationEvent) -> Result<StationAnswer, ConfigError> {
        self.calls += 1;
        let answer = self.plugin.answer(now, event)?;
        if answer != StationAnswer::default() {
            self.record(&answer);
        }
        Ok(answer)
    }
}

impl<L: Listener> Listener for Recorded<L> {
    fn hear(&mut self, event: &ControlEvent) -> Result<Answer, ConfigError> {
        self.calls += 1;
        let answer = self.plugin.hear(event)?;
        if answer != Answer::default() {
            self.record(&answer);
        }
        Ok(answer)
    }

    fn wants_deliveries(&self) -> bool {
        self.plugin.wants_deliveries()
    }

    fn owns_window(&self) -> bool {
        self.plugin.owns_window()
    }

    fn variables(&self, each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        self.plugin.variables(each)
    }

    fn reseed(&mut self, seed: u32) {
        self.plugin.reseed(seed);
    }
}

/// The answers of a recorded plug-in.
#[derive(Clone, Debug)]
pub struct Played {
    answers: VecDeque<(u64, Value)>,
    /// The number of answers that wait for their call.
    left: Arc<AtomicUsize>,
    calls: u64,
    wants_deliveries: bool,
    owns_window: bool,
}

impl Played {
    /// The number of answers that wait for their call. It stays readable while a run owns this object.
    #[must_use]
    pub fn left(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.left)
    }

    /// The answer to the next call; `None` if it had no effect.
    fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ConfigError> {
        self.calls += 1;
        if self.answers.front().is_none_or(|(call, _)| *call != self.calls) {
            return Ok(None);
        }
        let Some((_, answer)) = self.answers.pop_front() else { return Ok(None) };
        self.left.fetch_min(self.answers.len(), Ordering::Relaxed);
        serde_json::from_value(answer).map(Some).map_err(|error| ConfigError::new("tape", error, "an answer"))
    }
}

impl Subscriber for Played {
    fn observe(&mut self, _seen: &Observation) -> Result<Option<Decision>, ConfigError> {
        self.next()
    }
}

impl StationSubscriber for Played {
    fn answer(&mut self, _now: Instant, _event: &StationEvent) -> Result<StationAnswer, ConfigError> {
        self.next().map(Option::unwrap_or_default)
    }
}

impl Listener for Played {
    fn hear(&mut self, _event: &ControlEvent) -> Result<Answer, ConfigError> {
        self.next().map(Option::unwrap_or_default)
    }

    fn wants_deliveries(&self) -> bool {
        self.wants_deliveries
    }

    fn owns_window(&self) -> bool {
        self.owns_window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_units::BitRate;
    use serde_json::json;

    /// Answers the numbers of Mb/s of a list, and nothing afterwards.
    #[derive(Debug)]
    struct Rates(Vec<Option<u64>>);

    impl Subscriber for Rates {
        fn observe(&mut self, _: &Observation) -> Result<Option<Decision>, ConfigError> {
            Ok(self.0.pop().flatten().map(|mbps| Decision::Rate(BitRate::from_mbps(mbps))))
        }
    }

    fn seen() -> Observation {
        let json = json!({
            "now": 0, "reason": "tick", "span": "1 ms", "rate": "1 Mb/s", "waiting_packets": 0, "utilisation": 0.0,
            "queue": { "waiting": "0 B", "in_service": "0 B" }, "round_trip": null, "flows": null,
            "arrived": { "packets": 0, "bytes": "0 B" }, "departed": { "packets": 0, "bytes": "0 B" },
            "dropped": { "packets": 0, "bytes": "0 B" }, "marked": { "packets": 0, "bytes": "0 B" },
        });
        serde_json::from_value(json).unwrap_or_else(|error| panic!("{error}"))
    }

    fn recorded() -> Tape {
        let tape = SharedTape::new(Mutex::new(Tape::new(7, Stamp::default())));
        let head = PartHead { name: "Mine".to_owned(), table: json!({ "kind": "python" }), ..PartHead::default() };
        let part = tape.lock().unwrap_or_else(PoisonError::into_inner).add(head);
        // The list is read from its end: 3, 3, nothing, 3, 5.
        let mut recorded =
            Recorded::new(Rates(vec![Some(5), Some(3), None, Some(3), Some(3)]), Arc::clone(&tape), part);
        for _ in 0..8 {
            recorded.observe(&seen()).unwrap_or_else(|error| panic!("{error}"));
        }
        drop(recorded);
        let tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
        tape.clone()
    }

    #[test]
    fn a_tape_has_the_changes_and_reads_back() {
        let tape = recorded();
        let text = tape.text();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert_eq!(text.lines().last(), Some(r#"{"part":0,"call":5,"answer":{"rate":"5 Mb/s"}}"#));
        assert_eq!(Tape::read(&text), Ok(tape.clone()));
        let mut played = tape.play(0);
        let rates: Vec<_> = (0..8).map(|_| played.observe(&seen()).unwrap_or_default()).collect();
        let rate = |mbps| Some(Decision::Rate(BitRate::from_mbps(mbps)));
        assert_eq!(rates, [rate(3), None, None, None, rate(5), None, None, None]);
        assert_eq!(played.left().load(Ordering::Relaxed), 0);
        let mut short = tape.play(0);
        (0..4).for_each(|_| drop(short.observe(&seen())));
        assert_eq!(short.left().load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_is_no_tape_is_refused_by_its_line() {
        let text = recorded().text();
        let wrong = |text: &str| Tape::read(text).map(|_| ()).map_err(|error| error.field);
        assert_eq!(wrong(""), Err("line 1".to_owned()));
        assert_eq!(wrong(&text.replacen("\"format\":2", "\"format\":9", 1)), Err("line 1".to_owned()));
        assert_eq!(wrong(&text.replacen("\"call\":5", "\"call\":6", 1)), Err("line 1".to_owned()));
        assert_eq!(wrong(&text.replacen("5 Mb/s", "6 Mb/s", 1)), Err("line 1".to_owned()));
        assert_eq!(wrong(&format!("{text}{{}}\n")), Err("line 5".to_owned()));
        assert_eq!(wrong(&format!("{text}{{\"part\":3,\"call\":1,\"answer\":null}}\n")), Err("line 5".to_owned()));
    }
}
