//! Records of TCP senders: their data segments (table `segment`) and their events (table `event`).

use super::{Column, Table, Word, ssthresh};
use crate::net::ids::FlowId;
use netlull_tcp::{Counters, Endpoint, RecoveryPhase, Segment};
use netlull_units::Instant;

/// The selected tables of senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderTables {
    /// Table `segment`.
    pub segments: bool,
    /// Table `event`.
    pub events: bool,
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

/// The last observed state of a sender.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The offset after the last byte sent so far.
    sent_to: u64,
    /// The counter of each [event](EVENTS).
    counts: [u64; EVENTS.len()],
    phase: RecoveryPhase,
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
    /// The last state per TCP flow; `None` for flows without a probe.
    seen: Vec<Option<Seen>>,
}

impl SenderProbe {
    /// Creates a probe of the TCP flows for which `chosen` is true; `None` if no table is wanted.
    #[must_use]
    pub fn new(tables: SenderTables, chosen: &[bool]) -> Option<Self> {
        (tables.segments || tables.events).then(|| Self {
            segments: tables.segments.then(SegmentColumns::default),
            events: tables.events.then(EventColumns::default),
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
        segments.into_iter().chain(events).collect()
    }
}
