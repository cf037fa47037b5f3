//! What a run returns.

use super::summary::Summary;
use crate::probe::{CaptureError, Table};
use crate::verify::Violation;
use std::fmt;

/// A finished run.
#[derive(Debug)]
pub struct RunOutcome {
    /// Totals and means.
    pub summary: Summary,
    /// Time series that were asked for; table `rate` always.
    pub tables: Vec<Table>,
}

/// Why a run has no result.
#[derive(Debug)]
pub enum RunError {
    /// It was asked to stop.
    Cancelled,
    /// The verifier found something impossible: a defect of the simulator, not of the scenario.
    Violation(Vec<Violation>),
    /// The captured packets could not be written.
    Capture(CaptureError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("the run was cancelled"),
            Self::Violation(violations) => {
                write!(f, "the run is not conserving; this is a defect of netlull, not of the scenario")?;
                violations.iter().try_for_each(|violation| write!(f, "\n  {violation}"))
            }
            Self::Capture(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}
