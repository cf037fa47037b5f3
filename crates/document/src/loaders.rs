//! Kinds of a table that another crate reads.

use crate::{ConfigError, hint_of_old};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{PoisonError, RwLock};

/// Makes a `T` from a table in a document, without its `kind`.
pub type Load<T> = fn(&Map<String, Value>) -> Result<T, ConfigError>;

/// The kinds that other crates read in this process.
///
/// A crate that makes a `T` from tables of a kind adds itself once, before any document is read. Documents, plans and
/// tapes then read the kind alike.
#[derive(Debug)]
pub struct Loaders<T: 'static>(RwLock<Vec<(&'static str, Load<T>)>>);

impl<T> Loaders<T> {
    /// No kinds.
    #[must_use]
    pub const fn new() -> Self {
        Self(RwLock::new(Vec::new()))
    }

    /// Adds a kind, or replaces it.
    pub fn add(&self, kind: &'static str, load: Load<T>) {
        let mut kinds = self.0.write().unwrap_or_else(PoisonError::into_inner);
        kinds.retain(|(known, _)| *known != kind);
        kinds.push((kind, load));
    }

    /// Returns true if this program reads the kind.
    pub fn reads(&self, kind: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).iter().any(|(known, _)| *known == kind)
    }

    /// Makes a `T` from the other fields of a table of a kind.
    ///
    /// # Errors
    /// If this program does not read the kind, or its reader refuses the table.
    pub fn load(&self, kind: &str, fields: &Value) -> Result<T, ConfigError> {
        let kinds = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match kinds.iter().find(|(known, _)| *known == kind).copied() {
            Some((_, load)) => {
                drop(kinds);
                load(fields.as_object().unwrap_or(&Map::new()))
            }
            None => {
                let known: Vec<&str> = kinds.iter().map(|(known, _)| *known).collect();
                let hint = hint_of_old(kind, &known).map(|hint| format!("; {hint}")).unwrap_or_default();
                Err(ConfigError::new("kind", format!("\"{kind}\"{hint}"), "a kind that this program reads"))
            }
        }
    }
}

impl<T> Default for Loaders<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A part from a WebAssembly module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-source" = "docs/how-to/wasm.md"))]
pub struct ModuleTable {
    /// The file of the module, relative to the scenario's file.
    #[schemars(extend("x-unit" = "file", "x-source" = "-"))]
    pub module: String,
    /// The SHA-256 of the module, in hexadecimal digits. A module with another digest is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "hexadecimal", "x-default" = "that of the file", "x-source" = "-"))]
    pub digest: Option<String>,
    /// The parameters that the module declares.
    #[serde(flatten)]
    #[schemars(skip)]
    pub parameters: Map<String, Value>,
}

/// A part from a Python class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-source" = "docs/how-to/own-controller.md"))]
pub struct ClassTable {
    /// The class, as MODULE:CLASS. The module is next to the scenario's file or on Python's path.
    #[schemars(extend("x-unit" = "MODULE:CLASS", "x-source" = "-"))]
    pub class: String,
    /// The SHA-256 of the class's source, in hexadecimal digits. A class with another source is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "hexadecimal", "x-default" = "that of the class", "x-source" = "-"))]
    pub source: Option<String>,
    /// The parameters that the class declares.
    #[serde(flatten)]
    #[schemars(skip)]
    pub parameters: Map<String, Value>,
}
