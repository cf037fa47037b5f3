//! Loss recovery: the detection, retransmission and repair of losses.
//!
//! Recovery counts duplicate acknowledgements, keeps the data to retransmit, and temporarily changes the congestion
//! window while data is missing. [`cc`](crate::cc) decides cwnd and ssthresh.

mod board;
#[cfg(test)]
mod board_model;
mod duplicates;
mod early;
mod rack;
mod selective;
mod sent;
mod undo;

pub(crate) use duplicates::{Acked, Duplicate, DuplicateRecovery, ExitWindow, PartialAck};
pub(crate) use rack::{Probe, ProbeVerdict};
pub(crate) use selective::{Proof, Repair, Selective, Situation};
pub(crate) use sent::{Delivery, Resent, Span};
pub(crate) use undo::{Prior, Undo};

use schemars::JsonSchema;
use serde::Serialize;

/// The phase of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryPhase {
    /// No repair.
    #[default]
    Open,
    /// Duplicate acknowledgements reported a loss, and some data sent by then is unacknowledged.
    FastRecovery,
    /// The retransmission timer expired, and some data sent by then is unacknowledged.
    Loss,
}

/// The fates of segments since the last read, for congestion controls with their own records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    /// Newly SACKed.
    pub sacked: Vec<Span>,
    /// Newly lost, segment by segment; a lost retransmission counts as well.
    pub lost: Vec<Span>,
}

/// A journal, if it has a reader.
type Kept = Option<Box<Journal>>;

/// Records `span` as SACKed.
#[inline]
fn note_sacked(journal: &mut Kept, span: Span) {
    if let Some(journal) = journal {
        journal.sacked.push(span);
    }
}

/// Records `span` as lost.
#[inline]
fn note_lost(journal: &mut Kept, span: Span) {
    if let Some(journal) = journal {
        journal.lost.push(span);
    }
}

/// Holes between SACK blocks in a recovery that counts (Fall and Floyd 1996, section 5; ns-2.35's `Agent/TCP/Sack1`):
/// missing data between SND.UNA and the highest arrived byte.
///
/// It has the data that has arrived ahead of SND.UNA, and the progress of retransmissions into the holes.
#[derive(Clone, Debug, Default)]
struct Holes {
    /// Sorted, disjoint, not adjacent.
    arrived: Vec<Span>,
    /// Holes below this offset have been retransmitted.
    filled: u64,
}

impl Holes {
    /// Adds a block. Returns true if it brings news.
    pub fn add(&mut self, block: Span) -> bool {
        let first = self.arrived.partition_point(|span| span.end < block.start);
        let behind = self.arrived.partition_point(|span| span.start <= block.end);
        let known = &self.arrived[first..behind];
        if known.iter().any(|span| span.start <= block.start && block.end <= span.end) {
            return false;
        }
        let start = known.first().map_or(block.start, |span| span.start.min(block.start));
        let end = known.last().map_or(block.end, |span| span.end.max(block.end));
        self.arrived.splice(first..behind, [Span { start, end }]);
        true
    }

    /// Handles the acknowledgement of everything before `una`.
    pub fn acknowledge(&mut self, una: u64) {
        self.arrived.retain(|span| span.end > una);
        self.filled = self.filled.max(una);
    }

    /// Records the retransmission of the data before `end`.
    pub fn fill(&mut self, end: u64) {
        self.filled = self.filled.max(end);
    }

    /// The first hole above `una` without a retransmission and with arrived data above.
    pub fn next(&self, una: u64) -> Option<Span> {
        let mut start = self.filled.max(una);
        for span in &self.arrived {
            if start < span.start {
                return Some(Span { start, end: span.start });
            }
            start = start.max(span.end);
        }
        None
    }

    /// Erases everything.
    pub fn clear(&mut self) {
        self.arrived.clear();
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    #[test]
    fn holes_are_filled_in_order_and_once() {
        let mut holes = Holes::default();
        assert_eq!(holes.next(0), None);
        assert!(holes.add(span(2, 3)));
        assert!(holes.add(span(5, 6)));
        assert!(!holes.add(span(2, 3)));
        // 0 to 2 and 3 to 5 are missing; nothing is known above 6.
        assert_eq!(holes.next(0), Some(span(0, 2)));
        holes.fill(1);
        assert_eq!(holes.next(0), Some(span(1, 2)));
        holes.fill(2);
        assert_eq!(holes.next(0), Some(span(3, 5)));
        // 3 to 5 arrives: one block from 2 to 6.
        assert!(holes.add(span(3, 5)));
        assert_eq!((holes.next(0), holes.arrived.len()), (None, 1));
        assert!(holes.add(span(8, 9)));
        assert_eq!(holes.next(0), Some(span(6, 8)));
        holes.acknowledge(7);
        assert_eq!(holes.next(7), Some(span(7, 8)));
        holes.clear();
        assert_eq!(holes.next(7), None);
    }
}
