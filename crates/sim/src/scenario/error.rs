//! Errors of a scenario.

use std::fmt;

/// An error in a scenario: the field, by the path of `--set`, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    field: String,
    message: String,
}

impl ScenarioError {
    /// Creates an error. `field` is a path (`link.N1-N2.rate`); `message` gives the value and the expectation.
    #[must_use]
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }

    /// The path of the field.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The value and the expectation.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl std::error::Error for ScenarioError {}
