//! Errors of a scenario.

pub use netlull_text::Error as ScenarioError;

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
