//! Why a run has no result.

use crate::probe::CaptureError;
use crate::verify::Violation;
use netlull_units::Instant;
use std::fmt;

/// Why a run has no result.
#[derive(Debug)]
pub enum RunError {
    /// It was asked to stop.
    Cancelled,
    /// The verifier found something impossible: a defect of the simulator, not of the scenario.
    Violation(Vec<Violation>),
    /// A request came when as many connections were open as a flow of requests may have.
    TooManyOpen {
        /// The flow.
        flow: String,
        /// How many may be open.
        most_open: u32,
        /// When.
        at: Instant,
    },
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
            Self::TooManyOpen { flow, most_open, at } => write!(
                f,
                "flow.{flow}.most_open: {most_open} connections are open at {at}, and another request has come; expected \
                 a larger limit, or less load (flow.{flow}.offered)"
            ),
            Self::Capture(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}
