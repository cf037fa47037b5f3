//! What is wrong with a scenario, and where.

use std::fmt;

/// A scenario that cannot be run: the field by the path that `--set` takes, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    field: String,
    message: String,
}

impl ScenarioError {
    /// `field` as a path (`link.N1-N2.rate`); `message` says what it holds and what was expected.
    #[must_use]
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }

    /// The path of the field.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong with it.
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
