//! Paths into documents, such as `link.N1-N2.controller.min_interval`, and changes along them.
//!
//! The keys are separated by dots. An entry of an array goes by its name (a link without one: FROM-TO; a power model:
//! its model) or by its index. Names may contain dots: the longest key at the start of a path is taken.

use crate::Error;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The most names in an error.
const MOST_NAMED: usize = 12;

/// A change of a document: the new value at a path, or its removal.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The path.
    pub path: String,
    /// The value; `None` removes it.
    pub value: Option<Value>,
}

impl Change {
    /// Reads `PATH=VALUE`, as options give it. A value that is not TOML is a text.
    ///
    /// # Errors
    /// If there is no `=` or no path, or the value is nested too deeply or not finite.
    pub fn parse(setting: &str) -> Result<Self, Error> {
        let wrong =
            || Error::input("", format!("--set {setting}: expected PATH=VALUE, such as link.N1-N2.rate=\"10 Mb/s\""));
        let (path, text) = setting.split_once('=').ok_or_else(wrong)?;
        let (path, text) = (path.trim(), text.trim());
        if path.is_empty() {
            return Err(wrong());
        }
        Ok(Self { path: path.to_owned(), value: Some(crate::value(text, path)?) })
    }

    /// Changes a document. Missing tables on the way are made; a removal needs none.
    ///
    /// # Errors
    /// If the path leads to no entry of an array, or through a value without fields. The document is then unchanged.
    pub fn apply(&self, document: &mut Value) -> Result<(), Error> {
        let (mut node, mut rest) = (document, self.path.as_str());
        loop {
            let found = match node {
                Value::Object(table) => step(rest, table.keys().map(|key| (Cow::from(key.as_str()), None))),
                Value::Array(entries) => step(rest, keys_of_entries(entries)),
                _ => None,
            };
            let Some((entry, length)) = found else { return self.create(node, rest) };
            let (name, after) = (&rest[..length], rest[length..].strip_prefix('.'));
            let Some(after) = after else {
                self.replace(node, entry, name);
                return Ok(());
            };
            node = match entry {
                Some(index) => &mut node[index],
                None => &mut node[name],
            };
            rest = after;
        }
    }

    /// Sets or removes an existing value: an entry of an array, or the field of a name.
    fn replace(&self, node: &mut Value, entry: Option<usize>, name: &str) {
        match (node, entry, &self.value) {
            (Value::Array(entries), Some(index), Some(value)) => value.clone_into(&mut entries[index]),
            (Value::Array(entries), Some(index), None) => drop(entries.remove(index)),
            (Value::Object(table), _, Some(value)) => drop(table.insert(name.to_owned(), value.clone())),
            (Value::Object(table), _, None) => drop(table.shift_remove(name)),
            _ => {}
        }
    }

    /// Sets a value that does not exist; the rest of its path is of new tables.
    fn create(&self, node: &mut Value, rest: &str) -> Result<(), Error> {
        let Value::Object(table) = node else { return Err(self.refused(node, rest)) };
        if rest.split('.').any(str::is_empty) {
            let expected = "expected keys separated by dots, such as link.N1-N2.rate";
            return Err(Error::path("", format!("\"{}\": {expected}", self.path)));
        }
        let Some(value) = &self.value else { return Ok(()) };
        let (first, inner) = rest.split_once('.').map_or((rest, None), |(first, inner)| (first, Some(inner)));
        let value = inner.map_or_else(|| value.clone(), |inner| nested(inner, value));
        table.insert(first.to_owned(), value);
        Ok(())
    }

    /// The error of a path that leads nowhere at `node`.
    fn refused(&self, node: &Value, rest: &str) -> Error {
        let place = self.path[..self.path.len() - rest.len()].trim_end_matches('.');
        let place = if place.is_empty() { "the document" } else { place };
        let why = match node {
            Value::Array(entries) => {
                let wanted = rest.split('.').next().unwrap_or_default();
                let names: Vec<String> = entries.iter().filter_map(name_of).collect();
                let known = match (entries.len(), names.is_empty()) {
                    (0, _) => "it has no entries".to_owned(),
                    (count, true) => format!("expected one of 0 to {}", count - 1),
                    _ => format!("expected one of {}", some(&names)),
                };
                format!("\"{wanted}\" is not an entry of {place}; {known}")
            }
            other => format!("{place} holds {other}, which has no fields"),
        };
        Error::path(&self.path, why)
    }
}

/// The value at the end of a path, or the last one on the way: `Err` if an entry of a list is missing there.
///
/// # Errors
/// If the path leads to an entry that a list does not have.
pub fn find<'v>(document: &'v Value, path: &str) -> Result<&'v Value, &'v Value> {
    let (mut node, mut rest) = (document, path);
    loop {
        let found = match node {
            Value::Object(table) => step(rest, table.iter().map(|(key, value)| (Cow::from(key.as_str()), value))),
            Value::Array(entries) => {
                step(rest, keys_of_entries(entries)).map(|(entry, length)| (&entries[entry.unwrap_or(0)], length))
            }
            _ => None,
        };
        let Some((inner, length)) = found else { return if node.is_array() { Err(node) } else { Ok(node) } };
        match rest[length..].strip_prefix('.') {
            Some(after) => (node, rest) = (inner, after),
            None => return Ok(inner),
        }
    }
}

/// The longest key at the start of a path, what it leads to, and its length. Of equal keys the last one is taken.
pub(crate) fn step<'k, K>(path: &str, keys: impl Iterator<Item = (Cow<'k, str>, K)>) -> Option<(K, usize)> {
    let starts = |key: &str| path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let found = keys.filter(|(key, _)| starts(key)).map(|(text, key)| (key, text.len()));
    found.max_by_key(|&(_, length)| length)
}

/// The keys of an array: indices, then names.
fn keys_of_entries(entries: &[Value]) -> impl Iterator<Item = (Cow<'_, str>, Option<usize>)> {
    let indices = (0..entries.len()).map(|index| (Cow::from(index.to_string()), Some(index)));
    let named = entries.iter().enumerate();
    let names = named.filter_map(|(index, entry)| Some((Cow::from(name_of(entry)?), Some(index))));
    indices.chain(names)
}

/// The name of an entry of an array in paths. `text` returns its field of a name, if that is a text.
pub(crate) fn entry_name<'t>(text: impl Fn(&str) -> Option<&'t str>) -> Option<String> {
    let ends = || Some(format!("{}-{}", text("from")?, text("to")?));
    text("name").map(str::to_owned).or_else(ends).or_else(|| text("model").map(str::to_owned))
}

/// The name of an entry of an array in paths.
#[must_use]
pub fn name_of(entry: &Value) -> Option<String> {
    entry_name(|field| entry.get(field)?.as_str())
}

/// A value within new tables.
fn nested(path: &str, value: &Value) -> Value {
    path.rsplit('.').fold(value.clone(), |inner, key| Value::Object(Map::from_iter([(key.to_owned(), inner)])))
}

/// Names for an error; of many the first ones, and the number of the others.
fn some(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let listed = names[..names.len() - more].join(", ");
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}
