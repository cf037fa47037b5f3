//! Records of TCP senders: their data segments (table `segment`), their events (table `event`) and the variables of
//! their congestion controls (table `variable`).

use super::{Column, Table, Word, ssthresh};
use crate::net::ids::FlowId;
use netlull_tcp::cc::Variable;
use netlull_tcp::{Counters, Endpoint, Fault, RecoveryPhase, Segment};
use netlull_units::Instant;

/// The selected tables of senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderTables {
    /// Table `segment`.
    pub segments: bool,
    /// Table `event`.
    pub events: bool,
    /// Table `variable`.
    pub variables: bool,
}

#[derive(Default)]
struct SegmentColumns {
    time: Vec<f64>,
    flow: Vec<u32>,
    offset: Vec<u64>,
    length: Vec<u64>,
    retransmission: Vec<bool>,
    cwnd: Vec<u64>,
    control: Vec<u64>,
    flight: Vec<u64>,
}

#[derive(Default)]
struct EventColumns {
    time: Vec<f64>,
    flow: Vec<u32>,
    event: Vec<Word>,
    offset: Vec<u64>,
    cwnd: Vec<u64>,
    ssthresh: Vec<f64>,
}

#[derive(Default)]
struct VariableColumns {
    time: Vec<f64>,
    flow: Vec<u32>,
    variable: Vec<Word>,
    value: Vec<f64>,
    word: Vec<Word>,
}

impl VariableColumns {
    fn push(&mut self, now: Instant, flow: FlowId, variable: &Known) {
        self.time.push(now.as_secs_f64());
        self.flow.push(flow.number());
        self.variable.push(variable.name.clone());
        self.value.push(variable.value);
        self.word.push(variable.word.clone());
    }
}

/// A variable with its last value: a number, or a word and NaN.
#[derive(Clone, Debug)]
struct Known {
    name: Word,
    value: f64,
    word: Word,
}

impl Known {
    fn is(&self, value: Variable<'_>) -> bool {
        match value {
            Variable::Number(number) => self.value.to_bits() == number.to_bits(),
            Variable::Word(word) => self.word == word,
        }
    }

    fn new(name: &str, value: Variable<'_>) -> Self {
        let name = Word::Owned(name.to_owned());
        match value {
            Variable::Number(value) => Self { name, value, word: Word::Borrowed("") },
            Variable::Word(word) => Self { name, value: f64::NAN, word: Word::Owned(word.to_owned()) },
        }
    }
}

/// The last observed state of a sender.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// The offset after the last byte sent so far.
    sent_to: u64,
    /// The counter of each [event](EVENTS).
    counts: [u64; EVENTS.len()],
    phase: RecoveryPhase,
    /// The variables in the order of the sender.
    variables: Vec<Known>,
}

/// The events that a counter of the sender shows, in the order of the table.
const EVENTS: [&str; 6] = ["timeout", "fast_retransmit", "congestion_echo", "tail_probe", "idle_restart", "undo"];

/// The counters of [`EVENTS`]. They are few, because they are compared after each segment.
fn counts(sender: &Endpoint) -> [u64; EVENTS.len()] {
    let counters = sender.counters();
    let Counters { timeouts, fast_retransmits, echo_reductions, tail_probes, idle_restarts, .. } = *counters;
    let undone = counters.undone_fast_retransmits + counters.undone_timeouts;
    [timeouts, fast_retransmits, echo_reductions, tail_probes, idle_restarts, undone]
}

/// Observes the senders of a run.
#[derive(Default)]
pub struct SenderProbe {
    segments: Option<SegmentColumns>,
    events: Option<EventColumns>,
    variables: Option<VariableColumns>,
    fault: Option<(FlowId, Fault)>,
    /// The last state per TCP flow; `None` for flows without a probe.
    seen: Vec<Option<Seen>>,
}

impl SenderProbe {
    /// Creates a probe of the TCP flows for which `chosen` is true; `None` if no table is wanted.
    #[must_use]
    pub fn new(tables: SenderTables, chosen: &[bool]) -> Option<Self> {
        (tables.segments || tables.events || tables.variables).then(|| Self {
            segments: tables.segments.then(SegmentColumns::default),
            events: tables.events.then(EventColumns::default),
            variables: tables.variables.then(VariableColumns::default),
            fault: None,
            seen: chosen.iter().map(|chosen| chosen.then(Seen::default)).collect(),
        })
    }

    /// Records a segment from a flow's sender.
    pub fn sent(&mut self, now: Instant, flow: FlowId, segment: &Segment, sender: &Endpoint) {
        let (Some(columns), Some(Some(seen))) = (&mut self.segments, self.seen.get_mut(flow.index())) else { return };
        if segment.len == 0 {
            return;
        }
        let (offset, length) = (sender.offset_of(segment), u64::from(segment.len));
        columns.time.push(now.as_secs_f64());
        columns.flow.push(flow.number());
        columns.offset.push(offset);
        columns.length.push(length);
        columns.retransmission.push(offset < seen.sent_to);
        columns.cwnd.push(sender.cwnd());
        columns.control.push(sender.controlled_cwnd());
        columns.flight.push(sender.flight());
        seen.sent_to = seen.sent_to.max(offset + length);
    }

    /// Records the state of a flow's sender after a segment or a timer.
    pub fn turned(&mut self, now: Instant, flow: FlowId, sender: &Endpoint) {
        self.read(now, flow, sender);
        let (Some(columns), Some(Some(seen))) = (&mut self.events, self.seen.get_mut(flow.index())) else { return };
        let (counts, phase) = (counts(sender), sender.recovery_phase());
        if counts == seen.counts && phase == seen.phase {
            return;
        }
        let happened = counts.iter().zip(&seen.counts).map(|(after, before)| after > before).zip(EVENTS);
        let recovered = phase == RecoveryPhase::Open && seen.phase != RecoveryPhase::Open;
        for (_, event) in happened.chain([(recovered, "recovered")]).filter(|(happened, _)| *happened) {
            columns.time.push(now.as_secs_f64());
            columns.flow.push(flow.number());
            columns.event.push(Word::Borrowed(event));
            columns.offset.push(sender.snd_una());
            columns.cwnd.push(sender.cwnd());
            columns.ssthresh.push(ssthresh(sender.ssthresh()));
        }
        (seen.counts, seen.phase) = (counts, phase);
    }

    /// Records the changed variables of a flow's sender.
    fn read(&mut self, now: Instant, flow: FlowId, sender: &Endpoint) {
        let (Some(columns), Some(Some(seen))) = (&mut self.variables, self.seen.get_mut(flow.index())) else { return };
        let known = &mut seen.variables;
        let mut place = 0;
        let reported = sender.variables(&mut |name, value| {
            match known.get_mut(place) {
                Some(last) if last.name == name => {
                    if !last.is(value) {
                        *last = Known::new(name, value);
                        columns.push(now, flow, last);
                    }
                }
                // The first call, or another set of variables.
                _ => {
                    known.truncate(place);
                    known.push(Known::new(name, value));
                    columns.push(now, flow, &known[place]);
                }
            }
            place += 1;
        });
        if let Err(error) = reported {
            (self.fault, self.variables) = (Some((flow, Fault { at: now, error })), None);
        }
    }

    /// The report of variables that failed, which was the last, and its flow.
    #[must_use]
    pub fn fault(&self) -> Option<&(FlowId, Fault)> {
        self.fault.as_ref()
    }

    /// The requested tables.
    #[must_use]
    pub fn into_tables(self) -> Vec<Table> {
        use Column::{Count, Flag, Float, Index, Text};
        let segments = self.segments.map(|segments| {
            Table::new(
                "segment",
                vec![
                    ("time_s", Float(segments.time)),
                    ("flow", Index(segments.flow)),
                    ("offset_bytes", Count(segments.offset)),
                    ("length_bytes", Count(segments.length)),
                    ("retransmission", Flag(segments.retransmission)),
                    ("cwnd_bytes", Count(segments.cwnd)),
                    ("control_cwnd_bytes", Count(segments.control)),
                    ("flight_bytes", Count(segments.flight)),
                ],
            )
        });
        let events = self.events.map(|events| {
            Table::new(
                "event",
                vec![
                    ("time_s", Float(events.time)),
                    ("flow", Index(events.flow)),
                    ("event", Text(events.event)),
                    ("offset_bytes", Count(events.offset)),
                    ("cwnd_bytes", Count(events.cwnd)),
                    ("ssthresh_bytes", Float(events.ssthresh)),
                ],
            )
        });
        let variables = self.variables.map(|variables| {
            Table::new(
                "variable",
                vec![
                    ("time_s", Float(variables.time)),
                    ("flow", Index(variables.flow)),
                    ("variable", Text(variables.variable)),
                    ("value", Float(variables.value)),
                    ("word", Text(variables.word)),
                ],
            )
        });
        segments.into_iter().chain(events).chain(variables).collect()
    }
}
