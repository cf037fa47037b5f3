//! Quantities as text with units: `"10 Mb/s"`, `"40 ms"`, `"1.5 kB"`, in documents, plans and tapes, and their JSON
//! Schema.
//!
//! A quantity is written exactly, in the largest unit that keeps its number at 1 or more. Parsing it returns the same
//! quantity.

use crate::amount::{Bytes, Joules, SignedWatts, Watts};
use crate::rate::BitRate;
use crate::time::{Duration, Instant};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::fmt::Display;
use std::marker::PhantomData;
use std::str::FromStr;

/// The error for a text that is not the expected quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuantityError {
    text: String,
    why: String,
    expected: &'static str,
}

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" {}; expected {}", self.text, self.why, self.expected)
    }
}

impl std::error::Error for ParseQuantityError {}

/// A unit's name and its value in base units.
type Unit = (&'static str, u64);

const TIME: &[Unit] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const TIME_EXPECTED: &str = "a time with a unit (ns, us, ms, s, min, h), such as \"40 ms\"";
const DATA: &[Unit] = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const DATA_EXPECTED: &str = "an amount of data with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as \"1500 B\"";
const RATE: &[Unit] = &[
    ("b/s", 1),
    ("kb/s", 1_000),
    ("Mb/s", 1_000_000),
    ("Gb/s", 1_000_000_000),
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
];
const RATE_EXPECTED: &str = "a bit rate with a unit (b/s, kb/s, Mb/s, Gb/s), such as \"10 Mb/s\"";

/// Splits `"12.5 ms"` into the texts of the number and the unit. White space between them is optional.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_'))).unwrap_or(text.len());
    // An exponent belongs to the number only if digits follow it: "1e3 B".
    let end = match text[end..].strip_prefix(['e', 'E']) {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') => {
            let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |n| n + 1);
            end + 1 + digits
        }
        _ => end,
    };
    (&text[..end], text[end..].trim_start())
}

/// The number in base units, rounded to the nearest integer. Decimal fractions are exact: "0.1 s" is 10^8 ns.
fn parse_scaled(text: &str, units: &[Unit], expected: &'static str) -> Result<u64, ParseQuantityError> {
    let refuse = |why: String| ParseQuantityError { text: text.to_owned(), why, expected };
    let (number, unit) = split(text);
    if number.is_empty() {
        return Err(refuse("does not start with a number".to_owned()));
    }
    if unit.is_empty() {
        return Err(refuse("has no unit".to_owned()));
    }
    let Some(&(_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        let comma = unit.strip_prefix(',').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let why = if comma {
            "has a comma instead of a decimal point".to_owned()
        } else {
            format!("has the unit \"{unit}\"")
        };
        return Err(refuse(why));
    };
    let digits = number.replace('_', "");
    let value: f64 = digits.parse().map_err(|_| refuse(format!("has the number \"{number}\"")))?;
    if value < 0.0 {
        return Err(refuse("is negative".to_owned()));
    }
    // Values above 2^63 overflow the arithmetic on the packet path, and an f64 loses precision.
    exact(&digits, scale).filter(|&scaled| scaled < LARGEST).ok_or_else(|| refuse("is too large".to_owned()))
}

/// The upper limit of every parsed quantity, in base units.
const LARGEST: u64 = 9_200_000_000_000_000_000;

/// Multiplies a decimal number by `scale` in integer arithmetic and rounds half up; `None` on overflow.
fn exact(number: &str, scale: u64) -> Option<u64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // Digits after the thirtieth of a fraction contribute less than half a base unit.
    let fraction = &fraction[..fraction.len().min(30)];
    let digits = format!("{whole}{fraction}").trim_start_matches(['+', '-', '0']).to_owned();
    if digits.is_empty() {
        return Some(0);
    }
    let power = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let scaled = digits.parse::<u128>().ok()?.checked_mul(u128::from(scale))?;
    let ten = |power: i64| u32::try_from(power).ok().and_then(|power| 10_u128.checked_pow(power));
    let rounded = match power {
        0.. => scaled.checked_mul(ten(power)?)?,
        // Division by more than 10^38 gives zero.
        _ => ten(-power).map_or(0, |divisor| scaled / divisor + u128::from(scaled % divisor >= divisor.div_ceil(2))),
    };
    u64::try_from(rounded).ok()
}

impl FromStr for Duration {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_scaled(text, TIME, TIME_EXPECTED).map(Self::from_nanos)
    }
}

impl FromStr for Instant {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_scaled(text, TIME, TIME_EXPECTED).map(Self::from_nanos)
    }
}

impl FromStr for Bytes {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_scaled(text, DATA, DATA_EXPECTED).map(Self::new)
    }
}

impl FromStr for BitRate {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_scaled(text, RATE, RATE_EXPECTED).map(Self::from_bps)
    }
}

/// Parses a non-negative number with one of `units`, each paired with its factor.
fn parse_float(text: &str, units: &[(&str, f64)], expected: &'static str) -> Result<f64, ParseQuantityError> {
    let value = parse_signed(text, units, expected)?;
    if value < 0.0 {
        return Err(ParseQuantityError {
            text: text.to_owned(),
            why: "is negative or not finite".to_owned(),
            expected,
        });
    }
    Ok(value)
}

/// Parses a number with one of `units`, each paired with its factor.
fn parse_signed(text: &str, units: &[(&str, f64)], expected: &'static str) -> Result<f64, ParseQuantityError> {
    let refuse = |why: &str| ParseQuantityError { text: text.to_owned(), why: why.to_owned(), expected };
    let (number, unit) = split(text);
    let value: f64 = number.parse().map_err(|_| refuse("does not start with a number"))?;
    let factor = units.iter().find(|(name, _)| *name == unit).ok_or_else(|| refuse("has an unknown unit or none"))?.1;
    if !value.is_finite() {
        return Err(refuse("is negative or not finite"));
    }
    Ok(value * factor)
}

const POWER: &[(&str, f64)] = &[("uW", 1e-6), ("mW", 1e-3), ("W", 1.0), ("kW", 1e3)];

impl FromStr for Watts {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_float(text, POWER, "a power with a unit (uW, mW, W, kW), such as \"1319 mW\"").map(Self::new)
    }
}

impl FromStr for SignedWatts {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_signed(text, POWER, "a power with a sign and a unit (uW, mW, W, kW), such as \"-63 mW\"")
            .map(|watts| Self(Watts::new(watts)))
    }
}

impl FromStr for Joules {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let units = &[("pJ", 1e-12), ("nJ", 1e-9), ("uJ", 1e-6), ("mJ", 1e-3), ("J", 1.0), ("kJ", 1e3)];
        parse_float(text, units, "an energy with a unit (pJ, nJ, uJ, mJ, J, kJ), such as \"14 pJ\"").map(Self::new)
    }
}

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
    SignedWatts, "SignedPower", "a power with a sign and a unit (uW, mW, W, kW), such as \"-63 mW\"",
        r"^\s*[+-]?[0-9][0-9_.eE+-]*\s*[umk]?W\s*$";
    Joules, "Energy", "an energy with a unit (pJ, nJ, uJ, mJ, J, kJ), such as \"14 pJ\"",
        r"^\s*[0-9][0-9_.eE+-]*\s*[pnumk]?J\s*$";
}

impl JsonSchema for Instant {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Instant")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "description": "nanoseconds since the start of the run" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_as_people_write_them() {
        assert_eq!("40 ms".parse(), Ok(Duration::from_millis(40)));
        assert_eq!("40ms".parse(), Ok(Duration::from_millis(40)));
        assert_eq!(" 0.1 s ".parse(), Ok(Duration::from_millis(100)));
        assert_eq!("5e-3 s".parse(), Ok(Duration::from_millis(5)));
        assert_eq!("1.5e3 s".parse(), Ok(Duration::from_secs(1500)));
        assert_eq!("1e-99 s".parse(), Ok(Duration::ZERO));
        assert_eq!("0.4 ns".parse(), Ok(Duration::ZERO));
        assert_eq!("0.5 ns".parse(), Ok(Duration::from_nanos(1)));
        assert_eq!("10 Mb/s".parse(), Ok(BitRate::from_mbps(10)));
        assert_eq!("2.5 Gbit/s".parse(), Ok(BitRate::from_mbps(2500)));
        assert_eq!("1500 B".parse(), Ok(Bytes::new(1500)));
        assert_eq!("64 KiB".parse(), Ok(Bytes::new(65_536)));
        assert_eq!("1319 mW".parse(), Ok(Watts::new(1.319)));
        assert_eq!("-0.063 W".parse(), Ok(SignedWatts(Watts::new(-0.063))));
        assert!("-0.063 W".parse::<Watts>().is_err() && "-1 nJ".parse::<Joules>().is_err());
        assert_eq!("21.5 pJ".parse(), Ok(Joules::new(21.5e-12)));
        assert_eq!("58.3 nJ".parse(), Ok(Joules::new(58.3 * 1e-9)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |text: &str| text.parse::<BitRate>().unwrap_err().to_string();
        assert!(why("10 MB/s").contains("has the unit \"MB/s\""), "{}", why("10 MB/s"));
        assert!(why("10,5 Mb/s").contains("has a comma instead of a decimal point"), "{}", why("10,5 Mb/s"));
        assert!(why("10").contains("has no unit"));
        assert!(why("fast").contains("does not start with a number"));
        assert!(why("-3 Mb/s").contains("is negative"));
        assert!(why("1e30 Gb/s").contains("is too large"));
        assert!(why("1.2.3 Gb/s").contains("has the number"));
        assert!(why("10 MB/s").contains("such as \"10 Mb/s\""));
    }

    #[test]
    fn what_is_written_reads_back() {
        for nanos in [0, 1, 999, 1_000, 1_500, 2_000_001, 40_000_000, 86_400_000_000_000] {
            let span = Duration::from_nanos(nanos);
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
        for nanos in [9_007_199_254_740_993, 1_234_567_890_123_456_789] {
            // More digits than an f64 holds.
            let span = Duration::from_nanos(nanos);
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
        for bps in [1, 1_500, 10_000_000, 2_500_000_000] {
            let rate = BitRate::from_bps(bps);
            assert_eq!(rate.to_string().parse(), Ok(rate), "{rate}");
        }
    }
}
