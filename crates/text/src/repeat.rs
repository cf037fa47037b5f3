//! Entries of lists that are written once for many.
//!
//! ```toml
//! nodes = ["server", "h{1..25}"]
//!
//! [[link]]
//! each = { i = "1..25" }
//! delay = "1 ms"
//! entries = [
//!     { from = "h{i}", to = "server", rate = "1 Mb/s" },
//!     { from = "server", to = "h{i}", rate = "20 Mb/s" },
//! ]
//! ```
//!
//! `each` repeats an entry for every value of a name, and for all combinations of several names, the first name
//! outermost. `entries` are several entries with the other fields in common. `{{` and `}}` are braces.

use crate::{Change, Error};
use serde_json::Value;
use std::borrow::Cow;

/// The field with the names and values of a repetition.
const EACH: &str = "each";
/// The field with entries that have the other fields in common.
const ENTRIES: &str = "entries";
/// The most entries that repetition may write.
const MOST: usize = 200_000;
/// The most bytes of text that it may write: a few kilobytes could make gigabytes.
const MOST_BYTES: usize = 128 << 20;
/// The most changes of a path with ranges.
const MOST_CHANGES: usize = 1000;
/// The most digits of a number in a range.
const MOST_DIGITS: usize = 9;

type Result<T> = std::result::Result<T, Error>;
/// The names of the tables around a value, and their values. The innermost is last.
type Scope<'s> = Vec<(&'s str, Cow<'s, Value>)>;

/// Writes out every entry of a document.
///
/// # Errors
/// Names the field, its value and the expectation.
pub fn spell_out(document: Value) -> Result<Value> {
    spelled(document, "", &Scope::new(), &mut Left { entries: MOST, bytes: MOST_BYTES })
}

/// The entries and the bytes that may still be written.
struct Left {
    entries: usize,
    bytes: usize,
}

impl Left {
    fn take(&mut self, entries: usize, bytes: usize) -> std::result::Result<(), String> {
        let left = self.entries.checked_sub(entries).zip(self.bytes.checked_sub(bytes));
        (self.entries, self.bytes) = left.ok_or_else(|| {
            format!("makes too many entries; expected at most {MOST} with {} MiB in all", MOST_BYTES >> 20)
        })?;
        Ok(())
    }
}

/// The bytes of a value, about as many as in memory.
fn bytes_of(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(entries) => entries.iter().map(bytes_of).sum(),
        Value::Object(table) => table.iter().map(|(key, value)| key.len() + bytes_of(value)).sum(),
        _ => 0,
    };
    size_of::<Value>() + inner
}

impl Change {
    /// The changes of a path with ranges: `link.h{1..3}-s.rate` changes three links.
    ///
    /// # Errors
    /// If a range is invalid.
    pub fn spelled_out(self) -> Result<Vec<Self>> {
        let mut left = Left { entries: MOST_CHANGES, bytes: MOST_BYTES };
        let paths = ranges(&self.path, &mut left);
        let told = |_| format!("is more than one path with ranges may be; expected at most {MOST_CHANGES} changes");
        let paths = paths.map_err(|error| if error.contains("too many") { told(error) } else { error });
        Ok(match paths.map_err(|told| Error::path(&self.path, told))? {
            None => vec![self],
            Some(paths) => paths.into_iter().map(|path| Self { path, value: self.value.clone() }).collect(),
        })
    }
}

fn spelled(value: Value, path: &str, scope: &Scope<'_>, left: &mut Left) -> Result<Value> {
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Array(entries) => {
            let mut whole = Vec::with_capacity(entries.len());
            for (index, entry) in entries.into_iter().enumerate() {
                repeated(entry, &inner(&index.to_string()), scope, left, &mut whole)?;
            }
            Ok(Value::Array(whole))
        }
        Value::Object(table) => {
            let fields = table.into_iter().map(|(key, value)| {
                let value = spelled(value, &inner(&key), scope, left)?;
                Ok((key, value))
            });
            fields.collect::<Result<_>>().map(Value::Object)
        }
        Value::String(text) if !scope.is_empty() => filled(&text, scope).map_err(|told| Error::new(path, told)),
        other => Ok(other),
    }
}

/// Writes out an entry of a list.
fn repeated(entry: Value, path: &str, scope: &Scope<'_>, left: &mut Left, whole: &mut Vec<Value>) -> Result<()> {
    match entry {
        Value::Object(mut table) if table.contains_key(EACH) => {
            let each = table.shift_remove(EACH).unwrap_or_default();
            let wrong = |told: String| Error::new(format!("{path}.{EACH}"), told);
            for row in rows(&each).map_err(wrong)? {
                let mut scope = scope.clone();
                scope.extend(row);
                repeated(Value::Object(table.clone()), path, &scope, left, whole)?;
            }
            Ok(())
        }
        Value::Object(mut table) if table.contains_key(ENTRIES) => {
            let entries = table.shift_remove(ENTRIES).unwrap_or_default();
            let path = format!("{path}.{ENTRIES}");
            let Value::Array(entries) = entries else {
                return Err(Error::new(path, format!("is {entries}; expected a list of tables")));
            };
            for (index, entry) in entries.into_iter().enumerate() {
                let path = format!("{path}.{index}");
                let Value::Object(own) = entry else {
                    return Err(Error::new(path, format!("is {entry}; expected a table")));
                };
                let mut entry = table.clone();
                entry.extend(own);
                let entry = Value::Object(entry);
                left.take(0, bytes_of(&entry)).map_err(|told| Error::new(&path, told))?;
                repeated(entry, &path, scope, left, whole)?;
            }
            Ok(())
        }
        Value::String(text) => {
            let texts = ranges(&text, left).map_err(|told| Error::new(path, told))?;
            for text in texts.unwrap_or_else(|| vec![text]) {
                whole.push(spelled(Value::String(text), path, scope, left)?);
            }
            Ok(())
        }
        other => {
            if !scope.is_empty() && other.is_object() {
                left.take(1, bytes_of(&other)).map_err(|told| Error::new(path, told))?;
            }
            whole.push(spelled(other, path, scope, left)?);
            Ok(())
        }
    }
}

/// The values of the names in each repetition.
fn rows<'e>(each: &'e Value) -> std::result::Result<Vec<Scope<'e>>, String> {
    let Some(names) = each.as_object().filter(|names| !names.is_empty()) else {
        return Err(format!("is {each}; expected a table such as {{ i = \"1..25\" }}"));
    };
    let mut rows: Vec<Scope<'e>> = vec![Vec::new()];
    for (name, values) in names {
        let values = values_of(check_name(name)?, values)?;
        if rows.len().saturating_mul(values.len()) > MOST {
            return Err(format!("makes too many entries; expected at most {MOST}"));
        }
        let mut longer = Vec::with_capacity(rows.len() * values.len());
        for row in &rows {
            longer.extend(values.iter().map(|value| {
                let mut row = row.clone();
                row.push((name, value.clone()));
                row
            }));
        }
        rows = longer;
    }
    Ok(rows)
}

/// The values of a name: a range, or a list.
fn values_of<'e>(name: &str, values: &'e Value) -> std::result::Result<Vec<Cow<'e, Value>>, String> {
    match values {
        Value::Array(values) if !values.iter().any(|value| value.is_array() || value.is_object()) => {
            Ok(values.iter().map(Cow::Borrowed).collect())
        }
        Value::String(range) if range.contains("..") => {
            Ok(numbers(range)?.into_iter().map(|text| Cow::Owned(Value::String(text))).collect())
        }
        other => Err(format!("{name} is {other}; expected a range such as \"1..25\", or a list of texts or numbers")),
    }
}

fn check_name(name: &str) -> std::result::Result<&str, String> {
    let is_valid = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_valid = is_valid && !name.starts_with(|c: char| c.is_ascii_digit());
    is_valid.then_some(name).ok_or_else(|| format!("has the name \"{name}\"; expected letters, digits and _"))
}

/// The numbers of a range such as `1..25`, or `01..25` with two digits each.
fn numbers(range: &str) -> std::result::Result<Vec<String>, String> {
    let shown = || range.chars().take(40).collect::<String>();
    let wrong =
        || format!("has the range \"{}\"; expected two whole numbers in rising order, such as \"1..25\"", shown());
    let (first, last) = range.split_once("..").ok_or_else(wrong)?;
    let is_number = |text: &str| text.len() <= MOST_DIGITS && text.bytes().all(|c| c.is_ascii_digit());
    let number = |text: &str| is_number(text).then(|| text.parse::<u32>().ok()).flatten();
    let (from, to) = number(first).zip(number(last)).filter(|(from, to)| from <= to).ok_or_else(wrong)?;
    if (to - from) as usize >= MOST {
        return Err(format!("makes too many entries; expected at most {MOST}"));
    }
    let width = if first.starts_with('0') { first.len() } else { 0 };
    Ok((from..=to).map(|number| format!("{number:0width$}")).collect())
}

/// The texts of a text with ranges, `h{1..25}`; `None` if it has none.
fn ranges(text: &str, left: &mut Left) -> std::result::Result<Option<Vec<String>>, String> {
    let mut from = 0;
    while let Some(start) = text[from..].find('{').map(|at| from + at) {
        if text[start..].starts_with("{{") {
            from = start + 2;
            continue;
        }
        let Some(end) = text[start..].find('}').map(|at| start + at) else { return Ok(None) };
        let inner = &text[start + 1..end];
        if inner.contains("..") {
            let mut whole = Vec::new();
            for number in numbers(inner)? {
                let one = format!("{}{number}{}", &text[..start], &text[end + 1..]);
                match ranges(&one, left)? {
                    None => {
                        left.take(1, one.len())?;
                        whole.push(one);
                    }
                    Some(more) => whole.extend(more),
                }
            }
            return Ok(Some(whole));
        }
        from = end + 1;
    }
    Ok(None)
}

/// A text with its names replaced by their values. A text that is a name alone takes its value with its type.
fn filled(text: &str, scope: &Scope<'_>) -> std::result::Result<Value, String> {
    let value_of = |name: &str| {
        let found = scope.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value);
        found.ok_or_else(|| {
            let known: Vec<String> = scope.iter().map(|(name, _)| format!("{{{name}}}")).collect();
            format!("\"{text}\" has {{{name}}}; expected {}, or {{{{ for a brace", known.join(" or "))
        })
    };
    let alone =
        text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).filter(|name| !name.contains(['{', '}']));
    if let Some(name) = alone {
        return value_of(name).map(|value| value.as_ref().clone());
    }
    let (mut whole, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        whole.push_str(&rest[..at]);
        let brace = &rest[at..];
        rest = if brace.starts_with("{{") || brace.starts_with("}}") {
            whole.push_str(&brace[..1]);
            &brace[2..]
        } else if let Some((name, after)) = brace[1..].split_once('}').filter(|_| brace.starts_with('{')) {
            match value_of(name)?.as_ref() {
                Value::String(text) => whole.push_str(text),
                other => whole.push_str(&other.to_string()),
            }
            after
        } else {
            return Err(format!("\"{text}\" has a brace without the other; expected {{{{ or }}}} for a brace"));
        };
    }
    whole.push_str(rest);
    Ok(Value::String(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn why(document: Value) -> String {
        spell_out(document).unwrap_err().to_string()
    }

    #[test]
    fn ranges_in_lists_make_many_names() {
        let nodes = spell_out(json!({ "nodes": ["s", "h{1..3}", "c{08..10}-{1..2}", "{{x"] })).unwrap();
        let made = ["s", "h1", "h2", "h3", "c08-1", "c08-2", "c09-1", "c09-2", "c10-1", "c10-2", "{{x"];
        assert_eq!(nodes, json!({ "nodes": made }));
    }

    #[test]
    fn an_entry_is_made_for_each_combination() {
        let link = json!({ "each": { "a": "1..2", "b": ["x", "y"] }, "from": "{a}", "to": "{b}{a}", "note": "{{}}" });
        let Value::Object(made) = spell_out(json!({ "link": [link, { "from": "{a}" }] })).unwrap() else { panic!() };
        let ends: Vec<_> = made["link"].as_array().unwrap().iter().map(|link| (&link["from"], &link["to"])).collect();
        assert_eq!(json!(ends[..4]), json!([["1", "x1"], ["1", "y1"], ["2", "x2"], ["2", "y2"]]));
        assert_eq!((&made["link"][0]["note"], &made["link"][4]["from"]), (&json!("{}"), &json!("{a}")));
    }

    #[test]
    fn entries_have_fields_in_common() {
        let ways = json!([{ "from": "h{i}", "rate": 1 }, { "to": "h{i}", "rate": "{r}" }]);
        let link = json!({ "each": { "i": "1..2", "r": [20] }, "from": "s", "to": "s", "entries": ways });
        let made = |from: &str, to: &str, rate: u32| json!({ "from": from, "to": to, "rate": rate });
        let links = [made("h1", "s", 1), made("s", "h1", 20), made("h2", "s", 1), made("s", "h2", 20)];
        assert_eq!(spell_out(json!({ "link": [link] })).unwrap(), json!({ "link": links }));
        let inner = json!({ "entries": [{ "each": { "i": "1..2" }, "to": "{i}" }, { "to": "c" }], "from": "a" });
        let made = spell_out(json!({ "link": [inner] })).unwrap();
        assert_eq!(
            made["link"],
            json!([{ "from": "a", "to": "1" }, { "from": "a", "to": "2" }, { "from": "a", "to": "c" }])
        );
    }

    #[test]
    fn inner_lists_know_the_outer_names() {
        let flow = json!({ "each": { "i": "1..2" }, "names": ["n{i}", "m{1..2}"], "in": [{ "each": { "j": "3..3" }, "x": "{i}{j}" }] });
        let made = spell_out(json!({ "flow": [flow] })).unwrap();
        assert_eq!(made["flow"][1], json!({ "names": ["n2", "m1", "m2"], "in": [{ "x": "23" }] }));
    }

    #[test]
    fn a_path_with_a_range_is_many_changes() {
        let change = Change { path: "link.h{1..2}-s.rate".to_owned(), value: Some(json!(1)) };
        let paths: Vec<_> = change.spelled_out().unwrap().into_iter().map(|change| change.path).collect();
        assert_eq!(paths, ["link.h1-s.rate", "link.h2-s.rate"]);
    }

    #[test]
    fn what_is_written_is_bounded() {
        let many = |last: u32| json!({ "link": [{ "each": { "i": format!("1..{last}") }, "entries": [{}, {}] }] });
        let made = spell_out(many(100_000)).unwrap();
        assert_eq!(made["link"].as_array().unwrap().len(), 200_000);
        assert!(why(many(100_001)).contains("makes too many entries; expected at most 200000 with 128 MiB in all"));
        let long = "x".repeat(100_000);
        assert!(why(json!({ "nodes": [format!("{long}{{1..20000}}")] })).contains("makes too many entries"));
        let list = vec![1; 100_000];
        assert!(why(json!({ "link": [{ "each": { "i": "1..1000" }, "x": list }] })).contains("makes too many entries"));
        let change = Change { path: "zzz.h{1..100000}".to_owned(), value: None };
        assert!(change.spelled_out().unwrap_err().to_string().contains("expected at most 1000 changes"));
    }

    #[test]
    fn errors_name_the_field() {
        let one = |each: Value| why(json!({ "link": [{ "each": each, "to": "{i}" }] }));
        assert!(one(json!({ "i": "3..1" })).starts_with("link.0.each: has the range \"3..1\"; expected two whole"));
        assert!(one(json!({ "i": "1..x" })).contains("has the range"));
        assert!(one(json!({ "i": 3 })).contains("i is 3; expected a range such as"));
        assert!(one(json!({ "1": "1..2" })).contains("has the name \"1\""));
        assert!(one(json!({ "j": "1..2" })).starts_with("link.0.to: \"{i}\" has {i}; expected {j}, or {{ for a brace"));
        assert!(one(json!("1..2")).starts_with("link.0.each: is \"1..2\"; expected a table"));
        assert!(one(json!({ "i": [{ "a": 1 }] })).contains("or a list of texts or numbers"));
        assert!(
            why(json!({ "link": [{ "entries": 1 }] })).starts_with("link.0.entries: is 1; expected a list of tables")
        );
        assert!(why(json!({ "link": [{ "entries": [1] }] })).starts_with("link.0.entries.0: is 1; expected a table"));
        assert!(one(json!({ "i": "1..300000" })).contains("makes too many entries"));
        assert!(one(json!({ "i": format!("{}..10", "0".repeat(70_000)) })).contains("has the range \"0000"));
        assert!(one(json!({ "i": "1..1000", "j": "1..1000" })).contains("makes too many entries"));
        assert!(why(json!({ "nodes": ["h{5..1}"] })).starts_with("nodes.0: has the range"));
        assert!(
            why(json!({ "link": [{ "each": { "i": "1..1" }, "to": "a}" }] })).contains("a brace without the other")
        );
    }
}
