//! Words that users wrote and that have another name now. An error on an old word names the new one.
//!
//! Python's copy and the table in the CHANGELOG are written by `make generate`.

use serde::Serialize;

/// A word with another name, or one that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rename {
    /// The kind of word, for readers of the table.
    pub place: &'static str,
    /// The old word.
    pub old: &'static str,
    /// The new word; `None` for a word that was removed.
    pub new: Option<&'static str>,
    /// The version that has the new word.
    pub since: &'static str,
    /// True if the old word still works.
    pub works: bool,
}

impl Rename {
    /// The hint in an error, such as `it is called "rate" since 0.2.0`.
    #[must_use]
    pub fn hint(&self) -> String {
        match self.new {
            Some(new) => format!("it is called \"{new}\" since {}", self.since),
            None => format!("it was removed in {}", self.since),
        }
    }
}

const MODULE: &str = "module of the Python package";
const KIND: &str = "`netlull plugin new --kind`";

/// A word with a new name.
const fn renamed(place: &'static str, old: &'static str, new: &'static str, since: &'static str) -> Rename {
    Rename { place, old, new: Some(new), since, works: false }
}

/// A word with a new name, which still works.
const fn moved(old: &'static str, new: &'static str, since: &'static str) -> Rename {
    Rename { place: MODULE, old, new: Some(new), since, works: true }
}

/// Every renamed or removed word.
pub const RENAMES: &[Rename] = &[
    renamed(KIND, "controller", "link-controller", "0.1.0"),
    renamed(KIND, "observer", "rate-controller", "0.1.0"),
    Rename { place: "`netlull plugin new --language`", old: "assemblyscript", new: None, since: "0.1.0", works: false },
    renamed("path in the repository", "scenarios/NAME.toml", "NAME", "0.1.0"),
    renamed("path in the repository", "papers/KEY", "KEY", "0.1.0"),
    moved("netlull.bundled", "netlull.library", "0.1.0"),
    moved("netlull.bundled.ready", "netlull.library.shipped", "0.1.0"),
    moved("netlull.paired", "netlull.compare", "0.1.0"),
    moved("netlull.result", "netlull.results.result", "0.1.0"),
    moved("netlull.sites", "netlull.library", "0.1.0"),
];

/// The hint of an unknown word where the words `known` are accepted; `None` if it is no old word there.
#[must_use]
pub fn hint_of_old(word: &str, known: &[&str]) -> Option<String> {
    hint_in(RENAMES, word, known)
}

fn hint_in(renames: &[Rename], word: &str, known: &[&str]) -> Option<String> {
    let fits = |rename: &&Rename| rename.old == word && rename.new.is_none_or(|new| known.contains(&new));
    renames.iter().find(fits).map(Rename::hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[Rename] = &[
        renamed("field", "speed", "rate", "0.2.0"),
        Rename { place: "kind", old: "cut", new: None, since: "0.3.0", works: false },
    ];

    #[test]
    fn an_old_word_gets_the_new_one_where_that_is_accepted() {
        assert_eq!(hint_in(OLD, "speed", &["rate"]).as_deref(), Some("it is called \"rate\" since 0.2.0"));
        assert_eq!(hint_in(OLD, "speed", &["delay"]), None);
        assert_eq!(hint_in(OLD, "cut", &["painted"]).as_deref(), Some("it was removed in 0.3.0"));
    }

    #[test]
    fn every_old_word_stands_once_in_its_place() {
        for (index, rename) in RENAMES.iter().enumerate() {
            assert!(RENAMES[..index].iter().all(|other| (other.place, other.old) != (rename.place, rename.old)));
            assert_ne!(Some(rename.old), rename.new);
        }
    }
}
