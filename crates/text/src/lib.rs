//! The text of documents: TOML into values, repetition, changes along paths, and the place of a field.
//!
//! It is apart from `netlull-document` because modules for WebAssembly read no text.

mod path;
mod repeat;

pub use path::{Change, find, name_of};
pub use repeat::spell_out;

use netlull_document::{ConfigError, ReadError};
use path::{entry_name, step};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::fmt;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The most tables and lists in one another.
const DEEPEST: usize = 32;
/// The longest number in an error, in digits.
const LONGEST: usize = 40;
const NESTED: &str = "is nested too deeply; expected at most 32 tables and lists in one another";

/// A document as users write it, and where it is from, such as the name of its file.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The origin, for errors.
    pub origin: &'a str,
    /// The TOML text.
    pub text: &'a str,
}

/// A line and a column of a text; both begin at 1, and a column is a character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The text's origin.
    pub origin: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The subject of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The value of a field.
    Value,
    /// A path that leads nowhere.
    Path,
    /// A text or a file that cannot be read.
    Input,
}

/// An error in a document: its field, the reason, and the place in the text if it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Its subject.
    pub kind: Kind,
    /// The path of the field; empty for the document itself.
    pub field: String,
    /// The value and the expectation.
    pub message: String,
    /// The place.
    pub place: Option<Place>,
}

impl Error {
    /// The error of a field's value, without a place.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: Kind::Value, field: field.into(), message: message.into(), place: None }
    }

    /// The error of a text, of a file or of a value in it.
    pub fn input(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: Kind::Input, ..Self::new(field, message) }
    }

    /// The error of a path that leads nowhere.
    pub fn path(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: Kind::Path, ..Self::new(field, message) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}, column {}", self.origin, self.line, self.column)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.iter().map(|place| format!("{place}: "));
        let field = Some(&self.field).filter(|field| !field.is_empty()).map(|field| format!("{field}: "));
        let parts = place.chain(field).chain([self.message.clone()]);
        // Names and values of users may have line ends: an error is one line.
        parts.map(|part| printable(&part)).try_for_each(|part| f.write_str(&part))
    }
}

/// True for a character that moves a terminal's cursor or turns the direction of a line: a control character, or a mark
/// of the Unicode Bidirectional Algorithm (UAX 9, section 2).
#[must_use]
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text on one line, with its unprintable characters as escapes.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if is_unprintable(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

impl std::error::Error for Error {}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Self::new(error.path.join("."), error.message)
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let reason = error.reason();
        Self::new(error.field, reason)
    }
}

impl Text<'_> {
    /// The document, with the fields of a table in their order.
    ///
    /// # Errors
    /// If the text is not TOML, or a value is a date, is not finite or is nested too deeply. Names the place.
    pub fn parse(self) -> Result<Value, Error> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let told = if is_too_deep(&error) { NESTED.to_owned() } else { self.not_toml(at, error.message()) };
            Error { place: Some(self.at(at)), ..Error::input("", told) }
        })?;
        let converted = of_table(table.get_ref(), &Path::root("")).map(Value::Object);
        converted.map_err(|Wrong { at, error, .. }| Error { place: Some(self.at(at)), ..error })
    }

    /// True if a word without quotes stands where a value is expected.
    fn is_bare_text(self, at: usize, word: &str) -> bool {
        let before = self.text.get(..at).unwrap_or_default().trim_end();
        word.starts_with(char::is_alphabetic) && before.ends_with(['=', '[', ','])
    }

    /// The reason of an error at a byte of the text. The parser's own does not fit Python's `True`.
    fn not_toml(self, at: usize, reason: &str) -> String {
        let rest = self.text.get(at..).unwrap_or_default();
        let word = rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        match ["true", "false"].into_iter().find(|truth| truth.eq_ignore_ascii_case(word)) {
            Some(truth) => format!("is not TOML: {word}; expected {truth}"),
            None if self.is_bare_text(at, word) => format!("is not TOML: {word}; expected text in quotes, \"{word}\""),
            None => format!("is not TOML: {reason}"),
        }
    }

    /// The place of a field: of the longest part of its path that the text has. `None` if the text has none of it.
    #[must_use]
    pub fn place(self, field: &str) -> Option<Place> {
        self.place_by(field, entry_of)
    }

    /// The place of a field whose path has the numbers of entries as they are written, before [`spell_out`].
    #[must_use]
    pub fn place_as_written(self, field: &str) -> Option<Place> {
        self.place_by(field, |entries, path| {
            step(path, entries.iter().enumerate().map(|(index, entry)| (Cow::from(index.to_string()), entry)))
        })
    }

    fn place_by(
        self,
        field: &str,
        entry: impl for<'t, 'i> Fn(&'t DeArray<'i>, &str) -> Option<Found<'t, 'i>>,
    ) -> Option<Place> {
        let table = DeTable::parse(self.text).ok()?;
        let mut found = field_of(table.get_ref(), field)?;
        let mut rest = field;
        while let Some(after) = rest[found.1..].strip_prefix('.') {
            let inner = match found.0.get_ref() {
                DeValue::Table(table) => field_of(table, after),
                DeValue::Array(entries) => entry(entries, after),
                _ => None,
            };
            let Some(inner) = inner else { break };
            (found, rest) = (inner, after);
        }
        Some(self.at(found.0.span().start))
    }

    fn at(self, offset: usize) -> Place {
        let before = &self.text[..offset.min(self.text.len())];
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let (lines, column) = (before.matches('\n').count() + 1, before[line..].chars().count() + 1);
        Place { origin: self.origin.to_owned(), line: lines, column }
    }
}

/// A value that cannot be read, and its offset.
struct Wrong {
    at: usize,
    error: Error,
    /// True for a date: without quotes, an option means a text.
    is_date: bool,
}

/// The path of a value: its parent's, and its key.
struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    key: Cow<'p, str>,
    depth: usize,
}

impl<'p> Path<'p> {
    fn root(key: &'p str) -> Self {
        Self { parent: None, key: Cow::from(key), depth: 0 }
    }

    fn inner(&'p self, key: impl Into<Cow<'p, str>>) -> Self {
        Self { parent: Some(self), key: key.into(), depth: self.depth + 1 }
    }

    fn text(&self) -> String {
        let parent = self.parent.map(Self::text).unwrap_or_default();
        if parent.is_empty() { self.key.to_string() } else { format!("{parent}.{}", self.key) }
    }

    fn wrong(&self, at: usize, message: impl Into<String>) -> Wrong {
        Wrong { at, error: Error::input(self.text(), message), is_date: false }
    }
}

/// True for an error of the parser, which has a limit of its own.
fn is_too_deep(error: &toml::de::Error) -> bool {
    error.message().contains("recurs")
}

/// The value of an option: TOML, or else the text itself.
pub(crate) fn value(text: &str, path: &str) -> Result<Value, Error> {
    let as_text = || Ok(Value::String(text.to_owned()));
    if text.contains('\n') {
        return as_text();
    }
    let parsed = match DeValue::parse(text) {
        Ok(parsed) => parsed,
        Err(error) if is_too_deep(&error) => return Err(Error::input(path, NESTED)),
        Err(_) => return as_text(),
    };
    match of_value(&parsed, &Path::root(path)) {
        Err(wrong) if wrong.is_date => as_text(),
        converted => converted.map_err(|wrong| wrong.error),
    }
}

fn of_table(table: &DeTable<'_>, path: &Path<'_>) -> Result<Map<String, Value>, Wrong> {
    let field = |(key, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let key = key.get_ref();
        Ok((key.to_string(), of_value(value, &path.inner(key.as_ref()))?))
    };
    table.iter().map(field).collect()
}

fn of_value(value: &Spanned<DeValue<'_>>, path: &Path<'_>) -> Result<Value, Wrong> {
    let at = value.span().start;
    let is_nested = matches!(value.get_ref(), DeValue::Array(_) | DeValue::Table(_));
    if is_nested && path.depth > DEEPEST {
        return Err(path.wrong(at, NESTED));
    }
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Integer(number) => {
            let whole = i64::from_str_radix(number.as_str(), number.radix()).map(Number::from);
            let whole = whole.or_else(|_| u64::from_str_radix(number.as_str(), number.radix()).map(Number::from));
            let wrong = |_| {
                let digits = number.as_str();
                let shown = if digits.len() > LONGEST { &format!("{}...", &digits[..LONGEST]) } else { digits };
                path.wrong(at, format!("{shown}; expected a whole number of 64 bits"))
            };
            Value::Number(whole.map_err(wrong)?)
        }
        DeValue::Float(number) => {
            let number: f64 = number.as_str().parse().unwrap_or(f64::NAN);
            let shown = if number.is_nan() { "nan".to_owned() } else { number.to_string() };
            let finite = Number::from_f64(number);
            Value::Number(finite.ok_or_else(|| path.wrong(at, format!("{shown}; expected a finite number")))?)
        }
        DeValue::Datetime(date) => {
            let expected = "expected text, a number, true or false, a list or a table";
            return Err(Wrong { is_date: true, ..path.wrong(at, format!("{date} is a date; {expected}")) });
        }
        DeValue::Array(entries) => {
            let entry = |(index, entry): (usize, &Spanned<DeValue<'_>>)| {
                of_value(entry, &path.inner(written_name(entry).unwrap_or_else(|| index.to_string())))
            };
            Value::Array(entries.iter().enumerate().map(entry).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Object(of_table(table, path)?),
    })
}

fn written_name(entry: &Spanned<DeValue<'_>>) -> Option<String> {
    entry_name(|field| entry.get_ref().get(field)?.get_ref().as_str())
}

/// A value on the way along a path, and the length of its key.
type Found<'t, 'i> = (&'t Spanned<DeValue<'i>>, usize);

fn field_of<'t, 'i>(table: &'t DeTable<'i>, path: &str) -> Option<Found<'t, 'i>> {
    step(path, table.iter().map(|(key, value)| (Cow::from(key.get_ref().as_ref()), value)))
}

fn entry_of<'t, 'i>(entries: &'t DeArray<'i>, path: &str) -> Option<Found<'t, 'i>> {
    let indices = entries.iter().enumerate().map(|(index, entry)| (Cow::from(index.to_string()), entry));
    let names = entries.iter().filter_map(|entry| Some((Cow::from(written_name(entry)?), entry)));
    let is_repeated =
        |entry: &Spanned<DeValue<'_>>| ["each", "entries"].iter().any(|key| entry.get_ref().get(*key).is_some());
    if !entries.iter().any(is_repeated) {
        return step(path, indices.chain(names));
    }
    let unchanged = indices.take_while(|(_, entry)| !is_repeated(entry));
    if let Some(found) = step(path, unchanged) {
        return Some(found);
    }
    // One entry of the text may be many of the document, and those after it have other numbers.
    let mut written: Vec<(String, [&'t Spanned<DeValue<'i>>; 2])> = Vec::new();
    for entry in entries {
        let inner = entry.get_ref().get("entries").and_then(|inner| inner.get_ref().as_array());
        let inner: Vec<_> = inner.map_or_else(|| vec![entry], |inner| inner.iter().collect());
        written.extend(inner.into_iter().filter_map(|own| {
            let field = |field: &str| own.get_ref().get(field).or_else(|| entry.get_ref().get(field));
            Some((entry_name(|name| field(name)?.get_ref().as_str())?, [own, entry]))
        }));
    }
    let exact = written.iter().filter(|(name, _)| !name.contains('{')).map(|(name, tables)| (Cow::from(name), tables));
    let (tables, length) = step(path, exact).or_else(|| {
        // Names may contain dots; the rest of the path begins at a field.
        written.iter().find_map(|(name, tables)| {
            let is_field = |at: usize| tables.iter().any(|table| has_field(table, &path[at + 1..]));
            let mut ends = path.match_indices('.').map(|(at, _)| at).filter(|&at| is_field(at)).chain([path.len()]);
            let end = ends.find(|&end| name.contains('{') && is_made_from(&path[..end], name))?;
            Some((tables, end))
        })
    })?;
    let after = path[length..].trim_start_matches('.');
    Some((tables.iter().find(|table| has_field(table, after)).unwrap_or(&tables[0]), length))
}

/// True if a text may be that of a template such as `h{i}-s`.
fn is_made_from(text: &str, template: &str) -> bool {
    let Some((head, rest)) = template.split_once('{') else { return text == template };
    let (Some(text), Some((_, rest))) = (text.strip_prefix(head), rest.split_once('}')) else { return false };
    (0..=text.len()).filter(|&at| text.is_char_boundary(at)).any(|at| is_made_from(&text[at..], rest))
}

fn has_field(table: &Spanned<DeValue<'_>>, path: &str) -> bool {
    table.get_ref().as_table().is_some_and(|table| field_of(table, path).is_some())
}
