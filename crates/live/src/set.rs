//! Parameters of mechanisms: `--set NAME=VALUE` on the command line, and tables of files.

use crate::error::{LiveError, Result};
use toml::{Table, Value};

/// Inserts a `NAME=VALUE` of `--set` into a table. A name may refer to an inner table, as in `round_trip.initial`.
///
/// # Errors
/// If there is no `=`, or a name on the path does not refer to a table.
pub fn set(table: &mut Table, assignment: &str) -> Result<()> {
    let wrong = || LiveError::input(format!("--set {assignment}: expected NAME=VALUE, such as target=\"50 kB\""));
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

/// Converts a table for the readers of mechanisms.
///
/// # Errors
/// If a number is not finite: TOML has `nan` and `inf`, the readers have not.
pub fn fields(table: Table) -> Result<serde_json::Value> {
    table.iter().try_for_each(|(name, value)| check_finite(name, value))?;
    serde_json::to_value(table).map_err(LiveError::input)
}

fn check_finite(path: &str, value: &Value) -> Result<()> {
    match value {
        Value::Float(number) if !number.is_finite() => {
            Err(LiveError::input(format!("{path}: {number}; expected a finite number")))
        }
        Value::Table(table) => {
            table.iter().try_for_each(|(name, value)| check_finite(&format!("{path}.{name}"), value))
        }
        Value::Array(values) => {
            values.iter().enumerate().try_for_each(|(index, value)| check_finite(&format!("{path}[{index}]"), value))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_finite_is_named() {
        for (assignment, why) in [
            ("beta=nan", "beta: NaN; expected a finite number"),
            ("round_trip.initial=-inf", "round_trip.initial: -inf; expected a finite number"),
            ("rates=[1.0, inf]", "rates[1]: inf; expected a finite number"),
        ] {
            let mut table = Table::new();
            set(&mut table, assignment).unwrap();
            assert_eq!(fields(table).unwrap_err().to_string(), why);
        }
    }
}
