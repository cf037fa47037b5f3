//! Quantities as text in documents, plans and tapes, and their JSON Schema.
//!
//! A quantity is written exactly, in the largest unit that keeps its number at 1 or more. Parsing it returns the same
//! quantity.

use crate::{BitRate, Bytes, Duration, Instant, Watts};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt::Display;
use std::marker::PhantomData;
use std::str::FromStr;

/// Deserialises text through `FromStr`. Other types are refused with the expectation.
struct TextVisitor<T> {
    expected: &'static str,
    _type: PhantomData<T>,
}

impl<T: FromStr<Err: Display>> de::Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Reads a `T` from text; an error names `expected`.
///
/// # Errors
/// If the value is not text, or the text is not a `T`.
pub fn from_text<'de, D, T>(deserializer: D, expected: &'static str) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    deserializer.deserialize_any(TextVisitor { expected, _type: PhantomData })
}

macro_rules! quantities {
    ($($quantity:ty, $name:literal, $description:literal, $pattern:literal;)*) => {$(
        impl Serialize for $quantity {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $quantity {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                from_text(deserializer, $description)
            }
        }

        impl JsonSchema for $quantity {
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "description": $description, "pattern": $pattern })
            }
        }
    )*};
}

quantities! {
    Duration, "Time", "a time with a unit (ns, us, ms, s, min, h), such as \"40 ms\"",
        r"^\s*[0-9][0-9_.eE+-]*\s*(ns|us|µs|ms|s|min|h)\s*$";
    Bytes, "Data", "an amount of data with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as \"1500 B\"",
        r"^\s*[0-9][0-9_.eE+-]*\s*(B|kB|MB|GB|KiB|MiB|GiB)\s*$";
    BitRate, "Rate", "a bit rate with a unit (b/s, kb/s, Mb/s, Gb/s), such as \"10 Mb/s\"",
        r"^\s*[0-9][0-9_.eE+-]*\s*[kMG]?(b|bit)/s\s*$";
    Watts, "Power", "a power with a unit (uW, mW, W, kW), such as \"1319 mW\"",
        r"^\s*[0-9][0-9_.eE+-]*\s*[umk]?W\s*$";
}

impl JsonSchema for Instant {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Instant")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "description": "nanoseconds since the start of the run" })
    }
}
