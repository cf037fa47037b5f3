//! Fates of segments, for congestion controls that keep records of their own.

use super::board::Span;

/// The fates of segments since the last look.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    /// Newly SACKed.
    pub sacked: Vec<Span>,
    /// Newly lost, segment by segment; a retransmission that is lost counts as well.
    pub lost: Vec<Span>,
}

/// A journal, if somebody reads it.
pub(super) type Kept = Option<Box<Journal>>;

/// `span` is SACKed.
#[inline]
pub(super) fn note_sacked(journal: &mut Kept, span: Span) {
    if let Some(journal) = journal {
        journal.sacked.push(span);
    }
}

/// `span` is lost.
#[inline]
pub(super) fn note_lost(journal: &mut Kept, span: Span) {
    if let Some(journal) = journal {
        journal.lost.push(span);
    }
}
