//! The conduct of a machine: its name in errors, and the limit of its actions.

use super::error::{MachineError, RunError};
use netlull_mechanism::ConfigError;
use netlull_units::Instant;

/// The maximum number of a machine's actions and timeouts at one instant. A machine above it would never let time
/// pass.
const MOST_AT_ONCE: u32 = 100_000;

/// A machine's name, and its actions and timeouts at the latest instant.
#[derive(Clone, Debug)]
pub(super) struct Conduct {
    place: String,
    machine: String,
    at: Instant,
    count: u32,
}

impl Conduct {
    /// The conduct of a new machine. `place` is its place in the scenario, such as `link.N1-N2.controller`.
    pub fn new(place: String, machine: &str) -> Self {
        Self { place, machine: machine.to_owned(), at: Instant::ZERO, count: 0 }
    }

    /// Counts an action or a timeout.
    ///
    /// # Errors
    /// If there are too many at this instant.
    pub fn count(&mut self, now: Instant) -> Result<(), RunError> {
        if self.at != now {
            (self.at, self.count) = (now, 0);
        }
        self.count += 1;
        if self.count > MOST_AT_ONCE {
            let expected = format!("at most {MOST_AT_ONCE} actions and timeouts at one instant");
            return Err(self.error(now, ConfigError::new("actions", self.count, expected)));
        }
        Ok(())
    }

    /// The error that ends the run.
    pub fn error(&self, at: Instant, error: ConfigError) -> RunError {
        let Self { place, machine, .. } = self.clone();
        RunError::Machine(Box::new(MachineError { place, machine, at, error }))
    }
}
