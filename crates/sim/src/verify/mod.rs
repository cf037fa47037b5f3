//! Independent checks that a run obeys the rules of its model.
//!
//! [`ledger`] checks the sums after a run, with [`link`] and [`station`]. Every offered packet and byte was delivered,
//! dropped, lost or is still in the network. No link sent more than its rates allow, and no queue exceeded its buffer.
//! TCP delivered the sent data exactly once, and energy is the integral of power. [`replay`] follows every packet
//! through a second model of every link during the run.

pub mod ledger;
pub mod link;
pub mod replay;
pub mod station;

use std::fmt;

/// A violated rule: a defect of the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The link, node, flow or agent.
    pub subject: String,
    /// The violated rule, with the numbers.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.detail)
    }
}

/// Counts checks and collects violations.
#[derive(Debug, Default)]
pub struct Findings {
    checks: u64,
    violations: Vec<Violation>,
}

/// The maximum number of stored violations: the first are sufficient.
const MOST_VIOLATIONS: usize = 20;

impl Findings {
    /// Counts a check. If it fails, `detail` describes the violation.
    pub fn check(&mut self, holds: bool, subject: &str, detail: impl FnOnce() -> String) {
        self.checks += 1;
        if !holds && self.violations.len() < MOST_VIOLATIONS {
            self.violations.push(Violation { subject: subject.to_owned(), detail: detail() });
        }
    }

    /// Adds the findings of another verifier.
    pub fn merge(&mut self, other: Self) {
        self.checks += other.checks;
        self.violations.extend(other.violations);
    }

    /// The number of checks.
    #[must_use]
    pub fn checks(&self) -> u64 {
        self.checks
    }

    /// The violations.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }
}
