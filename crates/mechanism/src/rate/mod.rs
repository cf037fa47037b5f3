//! Controllers of a link's service rate, and their common types: events of a link and possible rates.

mod earth;
mod forecast;
mod lpi;
mod lull;
mod practra;
mod rate_set;

pub use crate::view::{Admission, HeadVerdict, QueueCount, QueueView};
pub use earth::{Earth, EarthConfig};
pub use lpi::{Lpi, LpiAlone, LpiConfig, LpiDevice, LpiThreshold, Naps, Phy};
pub use lull::{Lull, LullConfig};
pub use practra::{ArrivalCount, ForecastStart, PractRa, PractRaConfig, Reach};
pub use rate_set::{RateSet, RateSteps};

use netlull_units::{Bytes, from_text};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The length of a queue: `"50 packets"` or `"50 kB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLength {
    /// A number of packets of one MTU.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
}

impl QueueLength {
    /// The length in bytes for packets of `mtu` bytes.
    #[must_use]
    pub fn bytes(self, mtu: Bytes) -> Bytes {
        match self {
            Self::Packets(packets) => Bytes::new(packets.saturating_mul(mtu.as_u64())),
            Self::Bytes(bytes) => bytes,
        }
    }
}

const EXPECTED: &str = "packets or data, such as \"50 packets\" or \"50 kB\"";

impl FromStr for QueueLength {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.trim().strip_suffix("packets").or_else(|| text.trim().strip_suffix("packet"));
        let parsed = match number {
            Some(count) => count.trim().parse().ok().map(Self::Packets),
            None => text.parse().ok().map(Self::Bytes),
        };
        parsed.ok_or_else(|| format!("is {text}; expected {EXPECTED}"))
    }
}

impl fmt::Display for QueueLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(count) => write!(f, "{count} packets"),
            Self::Bytes(bytes) => write!(f, "{} B", bytes.as_u64()),
        }
    }
}

impl Serialize for QueueLength {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for QueueLength {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, EXPECTED)
    }
}

impl JsonSchema for QueueLength {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("QueueLength")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "The length of a queue: \"50 packets\" or \"50 kB\"." })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_and_write_as_people_do() {
        let mtu = Bytes::new(1000);
        for (text, bytes) in [("50 packets", 50_000), ("1 packet", 1000), ("64 kB", 64_000), ("10B", 10)] {
            let length: QueueLength = text.parse().unwrap();
            assert_eq!(length.bytes(mtu), Bytes::new(bytes));
            assert_eq!(length.to_string().parse(), Ok(length));
        }
        let refused = "BDP".parse::<QueueLength>().unwrap_err();
        assert_eq!(refused, "is BDP; expected packets or data, such as \"50 packets\" or \"50 kB\"");
        assert!("1.5 packets".parse::<QueueLength>().is_err());
    }
}
