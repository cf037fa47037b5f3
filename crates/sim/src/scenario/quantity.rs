//! Sizes of buffers and transfers, which are more than a number with a unit.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use netlull_units::{Bytes, from_text};

/// The size of a link's buffer as written. The routes determine the meaning of BDP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BufferSize {
    /// A multiple of the bandwidth-delay product (BDP), in packets of the scenario's MTU.
    BandwidthDelay(f64),
    /// A number of packets of any size.
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
        trimmed.parse().map(Self::Bytes).map_err(|_| refuse("has another unit"))
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

/// The amount of data of a TCP flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TransferSize {
    /// Data until the run ends.
    #[default]
    Endless,
    /// This amount, then FIN.
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
                Ok(_) => Err(format!("\"{text}\" is an empty transfer; expected {TRANSFER_EXPECTED}")),
                Err(_) => Err(format!("\"{text}\" is not a transfer size; expected {TRANSFER_EXPECTED}")),
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
