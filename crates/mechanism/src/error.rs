//! What is wrong with a mechanism's configuration.

use std::fmt;

/// A configuration value that a mechanism cannot work with: which field, what it is, what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The field's name, as in the configuration struct.
    pub field: &'static str,
    /// The offending value, with its unit.
    pub value: String,
    /// What would have been accepted.
    pub expected: String,
}

impl ConfigError {
    pub(crate) fn new(field: &'static str, value: impl fmt::Display, expected: impl Into<String>) -> Self {
        Self { field, value: value.to_string(), expected: expected.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; expected {}", self.field, self.value, self.expected)
    }
}

impl std::error::Error for ConfigError {}
