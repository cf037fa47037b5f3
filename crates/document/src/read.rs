//! A reader of documents whose errors name the field by its path.

use crate::ConfigError;
use crate::message::{in_plain_words, near};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::{Map, Value};
use std::fmt;

/// Separates an inner path from its message while serde passes an error to the outer values.
const MARK: char = '\u{1}';

/// An error in a document: the path of the field, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Keys and indices from the outermost table to the field. Empty for the document itself.
    pub path: Vec<String>,
    /// The value and the expectation.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.path.join("."), self.message)
    }
}

impl std::error::Error for ReadError {}

impl From<ConfigError> for ReadError {
    fn from(error: ConfigError) -> Self {
        Self { path: error.field.split('.').map(str::to_owned).collect(), message: error.reason() }
    }
}

impl From<ReadError> for ConfigError {
    fn from(error: ReadError) -> Self {
        Self::from_text(error.path.join("."), &error.message)
    }
}

impl ReadError {
    /// Converts the error to a serde error that keeps its path for [`read()`].
    pub fn custom<E: serde::de::Error>(&self) -> E {
        let path: String = self.path.iter().map(|key| format!("{key}{MARK}")).collect();
        E::custom(format!("{path}{}", self.message))
    }
}

/// Reads a `T` from a value.
///
/// # Errors
/// Names the field by its path, its value and the expected values.
pub fn read<T: DeserializeOwned>(value: &Value) -> Result<T, ReadError> {
    attempt(value).map_err(|mut error| {
        let missing = error.message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
        if let Some(field) = missing.map(str::to_owned) {
            error.path.push(field);
            let expected = expectation::<T>(value.clone(), &error.path).unwrap_or_default();
            error.message = format!("is missing{expected}");
        }
        error
    })
}

fn attempt<T: DeserializeOwned>(value: &Value) -> Result<T, ReadError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let (inner, message) = unmark(&error.inner().to_string());
        let path: Vec<String> = segments(error.path()).into_iter().chain(inner).collect();
        let message = in_plain_words(message);
        // The path of an unknown field may end in its name.
        let known_by_path = path.last().and_then(|last| message.strip_prefix(&format!("\"{last}\" is unknown; ")));
        let message = known_by_path.map(|rest| format!("is unknown; {rest}")).unwrap_or(message);
        ReadError { path, message }
    })
}

/// The expectation of a missing field. Serde's error does not contain it, so it is taken from the error for `null`.
fn expectation<T: DeserializeOwned>(mut value: Value, path: &[String]) -> Option<String> {
    let (field, table) = path.split_last()?;
    let table = table.iter().try_fold(&mut value, |inner, key| match inner {
        Value::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
        other => other.get_mut(key),
    })?;
    table.as_object_mut()?.insert(field.clone(), Value::Null);
    let error = attempt::<T>(&value).err().filter(|error| error.path == path)?;
    let (_, expected) = error.message.split_once("expected ")?;
    Some(format!("; expected {expected}"))
}

/// Reads a `T` from a value that serde has buffered, and keeps the path of an inner error for [`read()`].
///
/// # Errors
/// The same as [`read()`].
pub fn within<T: DeserializeOwned, E: serde::de::Error>(value: &Value) -> Result<T, E> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = segments(error.path()).join(&MARK.to_string());
        E::custom(format!("{path}{MARK}{}", error.inner()))
    })
}

/// The keys and indices of a path as text.
fn segments(path: &serde_path_to_error::Path) -> Vec<String> {
    use serde_path_to_error::Segment;
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

/// Splits a message of [`within`] at any depth.
fn unmark(message: &str) -> (Vec<String>, String) {
    let mut parts: Vec<String> = message.split(MARK).map(str::to_owned).collect();
    let message = parts.pop().unwrap_or_default();
    (parts.into_iter().filter(|part| !part.is_empty()).collect(), message)
}

/// A table with a field `kind`, split into the kind and the rest.
#[derive(Debug)]
pub struct Tagged {
    /// The kind.
    pub kind: String,
    /// The other fields.
    pub fields: Value,
}

/// Takes `kind` out of a table; `expected` lists the kinds in errors.
///
/// # Errors
/// If the value is not a table, or its `kind` is not text.
pub fn tagged<'de, D: Deserializer<'de>>(deserializer: D, expected: &str) -> Result<Tagged, D::Error> {
    let mut fields = Value::deserialize(deserializer)?;
    let Some(table) = fields.as_object_mut() else {
        return Err(D::Error::custom(format!("expected a table with a field `kind`: {expected}")));
    };
    match table.remove("kind") {
        Some(Value::String(kind)) => Ok(Tagged { kind, fields }),
        Some(other) => Err(D::Error::custom(format!("kind{MARK}{other} is not text; expected one of {expected}"))),
        None => Err(D::Error::custom(format!("kind{MARK}is missing; expected one of {expected}"))),
    }
}

/// Creates the error of an inner value. `error` names the field, or nothing for the value itself.
pub fn refused<E: serde::de::Error>(error: &ConfigError) -> E {
    let path = error.field.replace('.', &MARK.to_string());
    E::custom(format!("{path}{MARK}{}", error.reason()))
}

/// Creates the error of an unknown kind.
pub fn unknown_kind<E: serde::de::Error>(kind: &str, expected: &str) -> E {
    let known: Vec<&str> = expected.split('"').skip(1).step_by(2).collect();
    E::custom(format!("kind{MARK}\"{kind}\" is unknown; {}", near(kind, &known)))
}

/// Implements `Deserialize` for an enum selected by the field `kind`. Each kind has a variant and a struct. After a
/// semicolon, a kind has a function of its name and its fields instead.
#[macro_export]
macro_rules! read_by_kind {
    ($type:ident: $($kind:literal => $variant:ident($document:ty)),+ $(; $($plug_in:literal => $read:path),+)? $(,)?) => {
        impl<'de> $crate::__serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::__serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                const EXPECTED: &str = concat!($("\"", $kind, "\" "),+ $($(, "\"", $plug_in, "\" ")+)?).trim_ascii_end();
                let $crate::Tagged { kind, fields } = $crate::tagged(deserializer, EXPECTED)?;
                match kind.as_str() {
                    $($kind => $crate::within::<$document, D::Error>(&fields).map(Self::$variant),)+
                    $($($plug_in => $read($plug_in, &fields).map_err(|error| error.custom::<D::Error>()),)+)?
                    other => Err($crate::unknown_kind(other, EXPECTED)),
                }
            }
        }
    };
}

/// Implements `Deserialize` for a struct whose fields share one table. `serde(flatten)` would lose the path of an
/// error and accept unknown fields.
#[macro_export]
macro_rules! read_parts {
    ($type:ident { $($part:ident),+ $(,)? }) => {
        impl<'de> $crate::__serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::__serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                static NAMES: std::sync::OnceLock<Vec<&'static str>> = std::sync::OnceLock::new();
                let names =
                    NAMES.get_or_init(|| [$($crate::names_of_part(|parts: &Self| &parts.$part)),+].concat());
                let mut fields = $crate::Fields::of::<D>(deserializer, names)?;
                let parts = Self { $($part: fields.part::<_, D::Error>()?),+ };
                fields.finish()?;
                Ok(parts)
            }
        }
    };
}

/// A table whose fields belong to several structs.
#[derive(Debug)]
pub struct Fields {
    left: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Fields {
    /// Takes the fields of a table; `names` are the fields of all its structs, for [`field_names`].
    ///
    /// # Errors
    /// If the value is not a table.
    pub fn of<'de, D: Deserializer<'de>>(deserializer: D, names: &'static [&'static str]) -> Result<Self, D::Error> {
        Ok(Self { left: deserializer.deserialize_struct("", names, Table)?, known: Vec::new() })
    }

    /// Takes the fields of a table that is already read. Any other value has none.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self { left: if let Value::Object(table) = value { table } else { Map::new() }, known: Vec::new() }
    }

    /// Takes the remaining fields if their names are in `names`; `None` accepts all.
    ///
    /// # Errors
    /// Names an unknown field and lists the known ones.
    pub fn rest<E: serde::de::Error>(self, names: Option<&[&str]>) -> Result<Value, E> {
        let Some(names) = names else { return Ok(Value::Object(self.left)) };
        if let Some(unknown) = self.left.keys().find(|name| !names.contains(&name.as_str())) {
            return Err(unknown_field(unknown, names.iter().copied().chain(self.known)));
        }
        Ok(Value::Object(self.left))
    }

    /// Reads the struct `T` from its fields, and removes them from the table.
    ///
    /// # Errors
    /// The same as [`read()`].
    pub fn part<T: DeserializeOwned, E: serde::de::Error>(&mut self) -> Result<T, E> {
        let names = field_names::<T>();
        self.known.extend(names);
        let part = names.iter().filter_map(|&name| self.left.shift_remove_entry(name)).collect();
        within(&Value::Object(part))
    }

    /// Refuses a field that no struct has taken.
    ///
    /// # Errors
    /// Names the field and the known ones.
    pub fn finish<E: serde::de::Error>(self) -> Result<(), E> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => Err(unknown_field(name, self.known.iter().copied())),
        }
    }
}

/// Creates the error of an unknown field, in serde's words.
fn unknown_field<'a, E: serde::de::Error>(name: &str, known: impl Iterator<Item = &'a str>) -> E {
    let known: Vec<String> = known.map(|name| format!("`{name}`")).collect();
    E::custom(format!("unknown field `{name}`, expected one of {}", known.join(", ")))
}

/// The visitor of a table.
struct Table;

impl<'de> Visitor<'de> for Table {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        Map::deserialize(MapAccessDeserializer::new(fields))
    }
}

/// The field names of a struct in documents. Nested tables count as one field.
#[must_use]
pub fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names = Names(&[]);
    // The visitor never gets a value, so the result is always an error.
    let _ = T::deserialize(&mut names);
    names.0
}

/// The field names of a part of a struct.
#[doc(hidden)]
#[must_use]
pub fn names_of_part<T, P: DeserializeOwned>(_: fn(&T) -> &P) -> &'static [&'static str] {
    field_names::<P>()
}

/// A deserialiser that records a struct's field names and then fails.
struct Names(&'static [&'static str]);

impl<'de> Deserializer<'de> for &mut Names {
    type Error = serde::de::value::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        self.0 = fields;
        Err(Self::Error::custom("names are known"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("no struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Shape {
        side: u32,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Paint {
        colour: String,
    }

    #[derive(Debug, PartialEq)]
    struct Painted {
        shape: Shape,
        paint: Paint,
    }

    read_parts!(Painted { shape, paint });

    #[derive(Debug, PartialEq)]
    enum Thing {
        Painted(Painted),
        Bare(Shape),
    }

    read_by_kind!(Thing: "painted" => Painted(Painted), "bare" => Bare(Shape));

    fn why(value: &Value) -> String {
        read::<Vec<Thing>>(value).unwrap_err().to_string()
    }

    #[test]
    fn parts_of_one_table_are_read_each_by_its_struct() {
        let value = json!([{ "kind": "painted", "colour": "red", "side": 3 }, { "kind": "bare", "side": 4 }]);
        let painted = Painted { shape: Shape { side: 3 }, paint: Paint { colour: "red".to_owned() } };
        assert_eq!(read::<Vec<Thing>>(&value).unwrap(), [Thing::Painted(painted), Thing::Bare(Shape { side: 4 })]);
        assert_eq!(field_names::<Paint>(), ["colour"]);
    }

    #[test]
    fn errors_name_the_field_by_its_path() {
        let painted = |field: &str, value: Value| {
            let mut thing = json!({ "kind": "painted", "colour": "red", "side": 3 });
            thing[field] = value;
            why(&json!([thing]))
        };
        assert!(painted("side", json!("x")).starts_with("0.side: is \"x\"; expected a whole"));
        assert_eq!(painted("size", json!(1)), "0: \"size\" is unknown; did you mean side?");
        assert_eq!(painted("kind", json!("cut")), "0.kind: \"cut\" is unknown; expected one of painted, bare");
        assert_eq!(painted("kind", json!(1)), "0.kind: 1 is not text; expected one of \"painted\" \"bare\"");
        assert_eq!(why(&json!([{ "side": 1 }])), "0.kind: is missing; expected one of \"painted\" \"bare\"");
        let side = "0.side: is missing; expected a whole number from 0 to 4294967295";
        assert_eq!(why(&json!([{ "kind": "bare" }])), side);
        assert_eq!(why(&json!([{ "kind": "painted", "colour": "red" }])), side);
        assert_eq!(why(&json!([{ "kind": "painted", "side": 3 }])), "0.colour: is missing; expected text");
        assert!(why(&json!([7])).starts_with("0: expected a table with a field `kind`"));
    }

    #[test]
    fn parts_name_their_fields() {
        assert_eq!(field_names::<Painted>(), ["side", "colour"]);
    }
}
