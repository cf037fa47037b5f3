//! A mechanism's parameters as users write them: the names and units of a scenario's `[link.controller]`.

use crate::error::{LiveError, Result};
use netlull_mechanism::link::LinkContext;
use netlull_mechanism::machines::{LinkKind, LinkMechanism};
use netlull_text::Error;
use netlull_units::{Bytes, Instant};
use serde_json::Value;

/// The names of the mechanisms, as in scenarios and on the command line.
pub(super) fn names() -> Vec<&'static str> {
    LinkMechanism::KINDS.iter().map(|kind| kind.name).collect()
}

/// Finds a mechanism's kind by its name; hyphens are accepted in place of underscores.
///
/// # Errors
/// If no mechanism has this name.
pub(super) fn kind(name: &str) -> Result<&'static LinkKind> {
    LinkMechanism::kind(&name.replace('-', "_"))
        .ok_or_else(|| LiveError::input(format!("mechanism is \"{name}\"; expected one of {}", names().join(", "))))
}

/// Builds a mechanism from its table of parameters. The defaults are those of scenarios, with one exception:
/// scenarios require `target`, whose default here is half of the buffer.
///
/// # Errors
/// If a name is unknown, or a value has no unit or is out of range.
pub fn mechanism(
    kind: &LinkKind,
    mut document: Value,
    buffer: Bytes,
    link: LinkContext,
) -> std::result::Result<LinkMechanism, Error> {
    if let Some(table) = document.as_object_mut() {
        table.remove("kind");
        if kind.fields.is_some_and(|fields| fields().contains(&"target")) {
            let half = || Value::String(Bytes::new(buffer.as_u64() / 2).to_string());
            table.entry("target").or_insert_with(half);
        }
    }
    let mechanism = (kind.read)(&document)?;
    mechanism.build(link, Instant::ZERO)?;
    Ok(mechanism)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
