//! The tables of parts that other crates define.

use serde::{Serialize, Serializer};
use serde_json::Value;
use std::sync::Arc;

/// Writes the table of a foreign part.
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
