//! The result of a run.

use super::summary::Summary;
use crate::probe::Table;

/// A finished run.
#[derive(Debug)]
pub struct RunOutcome {
    /// Totals and means.
    pub summary: Summary,
    /// Time series that were asked for; table `rate` always.
    pub tables: Vec<Table>,
}
