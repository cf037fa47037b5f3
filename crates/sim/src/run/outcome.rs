//! The result of a run.

use super::summary::Summary;
use crate::probe::Table;

/// The result of a finished run.
#[derive(Debug)]
pub struct RunOutcome {
    /// Totals and means.
    pub summary: Summary,
    /// The requested time series; always contains the table `rate`.
    pub tables: Vec<Table>,
}

/// The wanted parts of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The summary alone.
    Summary,
    /// The summary and the tables.
    All,
}
