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

/// The most names of the user's own that a message lists.
pub(crate) const MOST_NAMES: usize = 12;

/// Lists names: all, or the first `most` and the number of the others.
pub(crate) fn listed(most: usize, names: &[impl AsRef<str>]) -> String {
    let shown = if names.len() > most + 1 { most } else { names.len() };
    let text = names[..shown].iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if shown < names.len() { format!("{text} and {} more", names.len() - shown) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_of_names_are_cut() {
        assert_eq!(listed(2, &[""; 0]), "");
        assert_eq!(listed(2, &["a", "b", "c"]), "a, b, c");
        assert_eq!(listed(2, &["a", "b", "c", "d"]), "a, b and 2 more");
    }
}
