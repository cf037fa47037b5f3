//! The tables of plug-ins: parts that other crates define, in documents, plans and tapes.
//!
//! A crate with a reader of a kind adds it to the `PLUG_INS` of links, stations or sleep plans. `kind = "wasm"` is such
//! a kind (`crates/plugin`), and so is `kind = "python"` (`crates/py`). This crate has no runtime for them.

use serde::{Serialize, Serializer};
use serde_json::Value;
use std::sync::Arc;

/// Writes the table of a plug-in.
///
/// # Errors
/// If the part has no table.
pub(crate) fn write<S: Serializer>(table: Option<Value>, name: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(table) = table else {
        return Err(serde::ser::Error::custom(format!("\"{name}\" exists only in this program; it has no table")));
    };
    table.serialize(serializer)
}

/// Returns true if two factories are one, or have the same table.
pub(crate) fn same<F: ?Sized>(one: &Arc<F>, other: &Arc<F>, table: impl Fn(&F) -> Option<Value>) -> bool {
    Arc::ptr_eq(one, other) || table(one).is_some_and(|table_of_one| table(other) == Some(table_of_one))
}
