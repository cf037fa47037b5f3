//! Is what the run did possible? Checked apart from the code that did it.
//!
//! [`ledger`] checks, when a run has ended, that its counts add up: every packet and byte offered was delivered,
//! dropped, lost or is still there; no link sent more than its rates allow; no queue outgrew its buffer; TCP delivered
//! what was sent, once; energy is the integral of power. [`replay`] follows every packet through a second model of
//! every link while the run goes on.

pub mod ledger;
pub mod replay;
pub mod station;

use std::fmt;

/// Something that cannot be: a defect of the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The link, node, flow or agent.
    pub subject: String,
    /// The rule it breaks, with the numbers.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.detail)
    }
}

/// Collects checks and what they found.
#[derive(Debug, Default)]
pub struct Findings {
    checks: u64,
    violations: Vec<Violation>,
}

/// No more than this many violations are kept: the first ones tell.
const MOST_VIOLATIONS: usize = 20;

impl Findings {
    /// Counts one check; `detail` says what is wrong if it does not hold.
    pub fn check(&mut self, holds: bool, subject: &str, detail: impl FnOnce() -> String) {
        self.checks += 1;
        if !holds && self.violations.len() < MOST_VIOLATIONS {
            self.violations.push(Violation { subject: subject.to_owned(), detail: detail() });
        }
    }

    /// Adds what another verifier found.
    pub fn merge(&mut self, other: Self) {
        self.checks += other.checks;
        self.violations.extend(other.violations);
    }

    /// How many checks were made.
    #[must_use]
    pub fn checks(&self) -> u64 {
        self.checks
    }

    /// What they found.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }
}
