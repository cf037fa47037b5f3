//! A mechanism's parameters as people write them: the names and units of a scenario's `[link.controller]`.

use crate::error::{LiveError, Result};
use netlull_mechanism::link::LinkContext;
use netlull_mechanism::machines::{LinkKind, LinkMechanism};
use netlull_units::Bytes;
use toml::{Table, Value};

/// The names of the mechanisms, as scenarios and the command line have them.
pub(super) fn names() -> Vec<&'static str> {
    LinkMechanism::KINDS.iter().map(|kind| kind.name).collect()
}

/// The kind of that name, which the command line may also write with hyphens.
///
/// # Errors
/// If there is none.
pub(super) fn kind(name: &str) -> Result<&'static LinkKind> {
    LinkMechanism::kind(&name.replace('-', "_"))
        .ok_or_else(|| LiveError::new(format!("mechanism is \"{name}\"; expected one of {}", names().join(", "))))
}

/// Makes a mechanism from its table of parameters. The defaults are those of scenarios; a target is half of the buffer.
///
/// # Errors
/// If a name is not known, a value has no unit or is out of range.
pub fn mechanism(kind: &LinkKind, mut table: Table, buffer: Bytes, link: LinkContext) -> Result<LinkMechanism> {
    table.remove("kind");
    if (kind.fields)().iter().any(|field| field == "target") && !table.contains_key("target") {
        table.insert("target".to_owned(), Value::String(Bytes::new(buffer.as_u64() / 2).to_string()));
    }
    let fields = serde_json::to_value(table).map_err(|error| LiveError::new(error.to_string()))?;
    let mechanism = kind.read(&fields).map_err(|error| LiveError::new(error.to_string()))?;
    mechanism.check(link).map_err(|error| LiveError::new(error.to_string()))?;
    Ok(mechanism)
}

/// Puts `NAME=VALUE` into a table, as `--set` gives it; a name may be of a table within, as in `round_trip.initial`.
///
/// # Errors
/// If there is no `=`, or a name on the way is not one of a table.
pub fn set(table: &mut Table, assignment: &str) -> Result<()> {
    let wrong = || LiveError::new(format!("--set {assignment}: expected NAME=VALUE, such as target=\"50 kB\""));
    let (path, text) = assignment.split_once('=').ok_or_else(wrong)?;
    let value = text.parse::<Value>().unwrap_or_else(|_| Value::String(text.to_owned()));
    let (names, last) = path.rsplit_once('.').unwrap_or(("", path));
    let mut place = table;
    for name in names.split('.').filter(|name| !name.is_empty()) {
        let inner = place.entry(name).or_insert_with(|| Value::Table(Table::new()));
        place = inner.as_table_mut().ok_or_else(wrong)?;
    }
    place.insert(last.trim().to_owned(), value);
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
