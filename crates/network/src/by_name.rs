//! A list of entries by name.

use serde::{Serialize, Serializer};

/// Entries by name in a fixed order; a map when serialised.
#[derive(Clone, Debug)]
pub struct ByName<T>(pub Vec<(String, T)>);

impl<T> ByName<T> {
    /// Returns the entry of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, entry)| entry)
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, entry)| (name, entry)))
    }
}
