//! Errors of a run.

use crate::probe::CaptureError;
use crate::verify::Violation;
use netlull_mechanism::ConfigError;
use netlull_units::Instant;
use std::fmt;

/// The reason for a run without a result.
#[derive(Debug)]
pub enum RunError {
    /// The monitor cancelled the run.
    Cancelled,
    /// The verifier found a violated rule: a defect of the simulator or of a custom part, not of the scenario.
    Violation {
        /// The violated rules.
        violations: Vec<Violation>,
        /// The scenario's custom machines and congestion controls, by their places.
        custom: Vec<String>,
    },
    /// A request arrived while a flow had its maximum number of open connections.
    TooManyOpen {
        /// The flow.
        flow: String,
        /// The maximum number of open connections.
        most_open: u32,
        /// The time of the arrival.
        at: Instant,
    },
    /// A machine cannot be built, or has broken its contract.
    Machine(Box<MachineError>),
    /// The run has exceeded its memory limit.
    Memory(MemoryError),
    /// The captured packets could not be written.
    Capture(CaptureError),
}

/// The error of a controller, of a station's machine or of a custom congestion control.
#[derive(Clone, Debug)]
pub struct MachineError {
    /// The machine's place in the scenario, such as `link.N1-N2.controller`.
    pub place: String,
    /// The machine's name.
    pub machine: String,
    /// The time of the error.
    pub at: Instant,
    /// The value, and the expectation.
    pub error: ConfigError,
}

/// A machine's name in errors.
#[derive(Clone, Debug)]
pub(super) struct MachineName {
    place: String,
    machine: String,
}

impl MachineName {
    /// `place` is the machine's place in the scenario, such as `link.N1-N2.controller`.
    pub fn new(place: String, machine: &str) -> Self {
        Self { place, machine: machine.to_owned() }
    }

    /// The error that ends the run.
    #[cold]
    pub fn error(&self, at: Instant, error: ConfigError) -> RunError {
        let Self { place, machine } = self.clone();
        RunError::Machine(Box::new(MachineError { place, machine, at, error }))
    }
}

/// The error of a run above its memory limit.
#[derive(Clone, Debug)]
pub struct MemoryError {
    /// The field of the scenario that bounds most of the memory, with its value, such as
    /// `link.N1-N2.buffer: unlimited`.
    pub field: String,
    /// The largest part of the memory, such as `4000000 packets`.
    pub content: String,
    /// The advice, such as `a smaller buffer`.
    pub expected: &'static str,
    /// The limit, in bytes.
    pub limit: u64,
    /// The simulated time.
    pub at: Instant,
}

impl fmt::Display for MemoryError {
    #[allow(clippy::cast_precision_loss)]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, content, expected, limit, at } = self;
        let limit = if *limit < 1_000_000 { format!("{limit} B") } else { format!("{:.0} MB", *limit as f64 / 1e6) };
        write!(
            f,
            "{field}; after {:.3} s the run exceeds its memory limit of {limit}, with {content}; expected {expected}, \
             or a higher memory limit",
            at.as_secs_f64()
        )
    }
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, machine, at, error } = self;
        write!(f, "{place}.{}: {} (machine \"{machine}\", at {at})", error.field, error.reason())
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("the run was cancelled"),
            Self::Violation { violations, custom } => {
                f.write_str("the run violates conservation; ")?;
                match &custom[..] {
                    [] => f.write_str("this is a defect of netlull, not of the scenario")?,
                    custom => write!(f, "check the custom parts first: {}", custom.join(", "))?,
                }
                violations.iter().try_for_each(|violation| write!(f, "\n  {violation}"))
            }
            Self::TooManyOpen { flow, most_open, at } => write!(
                f,
                "flow.{flow}.most_open: {most_open} connections are open at {at}, and another request has arrived; expected \
                 a larger limit, or less load (flow.{flow}.offered)"
            ),
            Self::Machine(error) => error.fmt(f),
            Self::Memory(error) => error.fmt(f),
            Self::Capture(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_names_the_custom_parts() {
        let message = |custom: &[&str]| {
            let custom = custom.iter().map(ToString::to_string).collect();
            RunError::Violation { violations: Vec::new(), custom }.to_string()
        };
        assert!(message(&[]).ends_with("a defect of netlull, not of the scenario"));
        let custom = message(&["link.a-b.controller", "flow.f.tcp.congestion_control"]);
        assert!(custom.ends_with("first: link.a-b.controller, flow.f.tcp.congestion_control"), "{custom}");
        assert!(!custom.contains("netlull"), "{custom}");
    }
}
