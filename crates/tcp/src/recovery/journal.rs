//! Fates of segments, for congestion controls with their own records.

use super::sent::Span;

/// The fates of segments since the last read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    /// Newly SACKed.
    pub sacked: Vec<Span>,
    /// Newly lost, segment by segment; a lost retransmission counts as well.
    pub lost: Vec<Span>,
}

/// A journal, if it has a reader.
pub(super) type Kept = Option<Box<Journal>>;

/// Records `span` as SACKed.
#[inline]
pub(super) fn note_sacked(journal: &mut Kept, span: Span) {
    if let Some(journal) = journal {
        journal.sacked.push(span);
    }
}

/// Records `span` as lost.
#[inline]
pub(super) fn note_lost(journal: &mut Kept, span: Span) {
    if let Some(journal) = journal {
        journal.lost.push(span);
    }
}
