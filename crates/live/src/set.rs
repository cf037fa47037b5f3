//! Parameters of mechanisms on the command line: `--set NAME=VALUE`.

use crate::error::{LiveError, Result};
use toml::{Table, Value};

/// Inserts a `NAME=VALUE` of `--set` into a table. A name may refer to an inner table, as in `round_trip.initial`.
///
/// # Errors
/// If there is no `=`, or a name on the path does not refer to a table.
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
