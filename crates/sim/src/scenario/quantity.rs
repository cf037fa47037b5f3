//! Quantities inside a scenario: text with a unit, parsed once, written back exactly.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt::Display;
use std::marker::PhantomData;
use std::str::FromStr;

use netlull_units::{BitRate, Bytes, Duration, Watts};

/// A quantity with a unit, `"10 Mb/s"` in the document and `T` in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Quantity<T>(pub T);

/// What the JSON Schema says of a quantity: its name, an example and the pattern of its text.
pub trait Described {
    /// The schema's name, such as `Time`.
    const NAME: &'static str;
    /// What an editor shows.
    const DESCRIPTION: &'static str;
    /// Accepted text.
    const PATTERN: &'static str;
}

impl Described for Duration {
    const NAME: &'static str = "Time";
    const DESCRIPTION: &'static str = "a time with a unit (ns, us, ms, s, min, h), such as \"40 ms\"";
    const PATTERN: &'static str = r"^\s*[0-9][0-9_.eE+-]*\s*(ns|us|µs|ms|s|min|h)\s*$";
}

impl Described for Bytes {
    const NAME: &'static str = "Data";
    const DESCRIPTION: &'static str =
        "an amount of data with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as \"1500 B\"";
    const PATTERN: &'static str = r"^\s*[0-9][0-9_.eE+-]*\s*(B|kB|MB|GB|KiB|MiB|GiB)\s*$";
}

impl Described for BitRate {
    const NAME: &'static str = "Rate";
    const DESCRIPTION: &'static str = "a bit rate with a unit (b/s, kb/s, Mb/s, Gb/s), such as \"10 Mb/s\"";
    const PATTERN: &'static str = r"^\s*[0-9][0-9_.eE+-]*\s*[kMG]?(b|bit)/s\s*$";
}

impl Described for Watts {
    const NAME: &'static str = "Power";
    const DESCRIPTION: &'static str = "a power with a unit (uW, mW, W, kW), such as \"1319 mW\"";
    const PATTERN: &'static str = r"^\s*[0-9][0-9_.eE+-]*\s*[umk]?W\s*$";
}

impl<T: Display> Serialize for Quantity<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Deserialises a text through `FromStr`; anything but a text is refused with what was expected.
struct TextVisitor<T> {
    expected: &'static str,
    _type: PhantomData<T>,
}

impl<T> de::Visitor<'_> for TextVisitor<T>
where
    T: FromStr,
    T::Err: Display,
{
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Reads a `T` from a text; `expected` is what an error says was wanted.
pub(crate) fn from_text<'de, D, T>(deserializer: D, expected: &'static str) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: Display,
{
    deserializer.deserialize_any(TextVisitor { expected, _type: PhantomData })
}

impl<'de, T> Deserialize<'de> for Quantity<T>
where
    T: FromStr + Described,
    T::Err: Display,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, T::DESCRIPTION).map(Self)
    }
}

impl<T: Described> JsonSchema for Quantity<T> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed(T::NAME)
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": T::DESCRIPTION, "pattern": T::PATTERN })
    }
}

/// How much a link's buffer holds, as written: resolved against the routes once they are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BufferSize {
    /// A multiple of the bandwidth-delay product, in packets of the scenario's MTU.
    BandwidthDelay(f64),
    /// Whole packets, whatever their size.
    Packets(u64),
    /// Bytes.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

const BUFFER_EXPECTED: &str = "a buffer size: \"BDP\", \"0.5 BDP\", \"42 packets\", \"64 kB\" or \"unlimited\"";

impl FromStr for BufferSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = |why: &str| format!("\"{text}\" {why}; expected {BUFFER_EXPECTED}");
        let trimmed = text.trim();
        if trimmed == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Some(number) = trimmed.strip_suffix("BDP") {
            let factor = match number.trim() {
                "" => 1.0,
                number => number.parse::<f64>().map_err(|_| refuse("has no number before BDP"))?,
            };
            if !(factor > 0.0 && factor.is_finite()) {
                return Err(refuse("is not a positive multiple"));
            }
            return Ok(Self::BandwidthDelay(factor));
        }
        if let Some(number) = trimmed.strip_suffix("packets").or_else(|| trimmed.strip_suffix("packet")) {
            let count = number.trim().parse().map_err(|_| refuse("has no whole number of packets"))?;
            return Ok(Self::Packets(count));
        }
        trimmed.parse().map(Self::Bytes).map_err(|_| refuse("is no buffer size"))
    }
}

impl Display for BufferSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BandwidthDelay(factor) => write!(f, "{factor} BDP"),
            Self::Packets(count) => write!(f, "{count} packets"),
            Self::Bytes(bytes) => write!(f, "{} B", bytes.as_u64()),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

impl Serialize for BufferSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BufferSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, BUFFER_EXPECTED)
    }
}

impl JsonSchema for BufferSize {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("BufferSize")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A buffer size: \"BDP\", \"0.5 BDP\", \"42 packets\", \"64 kB\" or \"unlimited\".",
        })
    }
}

/// How much a TCP flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TransferSize {
    /// Until the run ends.
    #[default]
    Endless,
    /// This much, then FIN.
    Bytes(Bytes),
}

const TRANSFER_EXPECTED: &str = "\"endless\" or an amount of data with a unit, such as \"5 MB\"";

impl FromStr for TransferSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "endless" => Ok(Self::Endless),
            other => match other.parse::<Bytes>() {
                Ok(bytes) if bytes > Bytes::ZERO => Ok(Self::Bytes(bytes)),
                Ok(_) => Err(format!("\"{text}\" is nothing to send; expected {TRANSFER_EXPECTED}")),
                Err(_) => Err(format!("\"{text}\" is no transfer size; expected {TRANSFER_EXPECTED}")),
            },
        }
    }
}

impl Display for TransferSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Endless => f.write_str("endless"),
            Self::Bytes(bytes) => write!(f, "{} B", bytes.as_u64()),
        }
    }
}

impl Serialize for TransferSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TransferSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, TRANSFER_EXPECTED)
    }
}

impl JsonSchema for TransferSize {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("TransferSize")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "\"endless\" or an amount of data, such as \"5 MB\"." })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_read_and_write_as_people_do() {
        for (text, size) in [
            ("BDP", BufferSize::BandwidthDelay(1.0)),
            ("0.4 BDP", BufferSize::BandwidthDelay(0.4)),
            ("42 packets", BufferSize::Packets(42)),
            ("1 packet", BufferSize::Packets(1)),
            ("64 kB", BufferSize::Bytes(Bytes::new(64_000))),
            ("unlimited", BufferSize::Unlimited),
        ] {
            assert_eq!(text.parse(), Ok(size));
            assert_eq!(size.to_string().parse(), Ok(size));
        }
        for text in ["0 BDP", "-1 BDP", "x BDP", "1.5 packets", "64", "lots"] {
            assert!(text.parse::<BufferSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn transfers_are_endless_or_an_amount() {
        assert_eq!("endless".parse(), Ok(TransferSize::Endless));
        assert_eq!("5 MB".parse(), Ok(TransferSize::Bytes(Bytes::new(5_000_000))));
        assert!("0 B".parse::<TransferSize>().is_err());
        assert!("5".parse::<TransferSize>().is_err());
    }
}
