//! Errors for invalid configuration values.

use std::fmt;

/// An invalid configuration value: the field, the value and the expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The field's path within the configuration, such as `flows.count`.
    pub field: String,
    /// The invalid value, with its unit.
    pub value: String,
    /// The accepted values.
    pub expected: String,
}

impl ConfigError {
    /// Creates the error of a field.
    pub fn new(field: impl Into<String>, value: impl fmt::Display, expected: impl Into<String>) -> Self {
        Self { field: field.into(), value: value.to_string(), expected: expected.into() }
    }

    /// Creates the error of a field from a text such as "is 0; expected at least 1".
    pub fn from_text(field: impl Into<String>, text: &str) -> Self {
        let (value, expected) = match (text.split_once("; expected "), text.split_once("; ")) {
            (Some((value, expected)), _) => (value, expected.to_owned()),
            (None, Some((value, hint))) => (value, format!("another value: {hint}")),
            (None, None) => (text, "another value".to_owned()),
        };
        Self::new(field, value.strip_prefix("is ").unwrap_or(value), expected)
    }

    /// The same error, for a configuration that contains this one as `field`.
    #[must_use]
    pub fn within(self, field: &str) -> Self {
        Self { field: format!("{field}.{}", self.field), ..self }
    }

    /// The error without the field's name: value and expectation.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("is {}; expected {}", self.value, self.expected)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.reason())
    }
}

impl std::error::Error for ConfigError {}
