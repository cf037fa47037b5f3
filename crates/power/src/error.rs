//! What is wrong with a power model's parameters.

use std::fmt;

/// A parameter that a power model cannot work with: which field, what it is, what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// The field's name, as in the model.
    pub field: &'static str,
    /// The offending value, with its unit.
    pub value: String,
    /// What would have been accepted.
    pub expected: &'static str,
}

impl ModelError {
    pub(crate) fn new(field: &'static str, value: impl fmt::Display, expected: &'static str) -> Self {
        Self { field, value: value.to_string(), expected }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; expected {}", self.field, self.value, self.expected)
    }
}

impl std::error::Error for ModelError {}
