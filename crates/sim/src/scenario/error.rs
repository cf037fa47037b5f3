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

/// Lists a scenario's names for a message: all, or the first twelve and the number of the others.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let shown = &names[..names.len().min(12)];
    let text = shown.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len() - shown.len() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_of_names_are_cut() {
        assert_eq!(listed(&[""; 0]), "");
        assert_eq!(listed(&["a", "b", "c"]), "a, b, c");
        assert_eq!(listed(&["a"; 12]), ["a"; 12].join(", "));
        assert_eq!(listed(&["a"; 14]), format!("{} and 2 more", ["a"; 12].join(", ")));
    }
}
