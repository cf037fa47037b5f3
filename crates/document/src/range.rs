//! Ranges of parameters: read from the JSON Schema, in words for users, and checked.
//!
//! Numbers have the schema's keys `minimum`, `exclusiveMinimum`, `maximum` and `exclusiveMaximum`. JSON Schema has no
//! range of text, so quantities have the same keys with `x-` before them, such as `"x-exclusiveMinimum" = "0 s"`.

use crate::ConfigError;
use netlull_units::{BitRate, Bytes, Duration, Joules, Watts};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

/// A test of the order of a value and a bound.
type Holds = fn(Ordering) -> bool;

/// A bound of a schema: its key for numbers and for quantities, the words in tables and in errors, and the test.
struct Bound {
    key: &'static str,
    of_quantity: &'static str,
    unit: &'static str,
    expected: &'static str,
    holds: Holds,
}

#[rustfmt::skip]
const BOUNDS: [Bound; 4] = [
    Bound { key: "minimum", of_quantity: "x-minimum", unit: "from", expected: "at least", holds: Ordering::is_ge },
    Bound { key: "exclusiveMinimum", of_quantity: "x-exclusiveMinimum", unit: "above", expected: "more than", holds: Ordering::is_gt },
    Bound { key: "maximum", of_quantity: "x-maximum", unit: "at most", expected: "at most", holds: Ordering::is_le },
    Bound { key: "exclusiveMaximum", of_quantity: "x-exclusiveMaximum", unit: "below", expected: "less than", holds: Ordering::is_lt },
];

/// The range in a field's schema: its bounds with their values.
pub(crate) struct Range<'a>(Vec<(&'static Bound, &'a Value)>);

impl<'a> Range<'a> {
    /// The range of a number or quantity; `None` if its schema has none.
    pub(crate) fn of(field: &'a Value) -> Option<Self> {
        let value = |bound: &Bound| field.get(bound.key).or_else(|| field.get(bound.of_quantity));
        let bounds = BOUNDS.iter().filter_map(|bound| Some((bound, value(bound)?)));
        Some(Self(bounds.collect())).filter(|range| !range.0.is_empty())
    }

    /// The range as a unit, such as `above 0 s, at most 500 ms`.
    pub(crate) fn unit(&self) -> String {
        self.words(|bound| bound.unit, ", ")
    }

    /// The range as an expectation, such as `more than 0 s and at most 500 ms`.
    fn expected(&self) -> String {
        self.words(|bound| bound.expected, " and ")
    }

    fn words(&self, word: fn(&Bound) -> &'static str, and: &str) -> String {
        if let [(Bound { key: "minimum", .. }, min), (Bound { key: "maximum", .. }, max)] = self.0[..] {
            return format!("{} to {}", plain(min), plain(max));
        }
        let words = self.0.iter().map(|(bound, value)| format!("{} {}", word(bound), plain(value)));
        words.collect::<Vec<_>>().join(and)
    }

    /// True for a range of quantities, which are text.
    pub(crate) fn is_of_quantity(&self) -> bool {
        self.0.iter().any(|(_, value)| value.is_string())
    }

    fn contains(&self, value: &Value) -> bool {
        self.0.iter().all(|(bound, limit)| compare(value, limit).is_some_and(bound.holds))
    }
}

/// The order of two numbers, or of two quantities of the same dimension.
fn compare(value: &Value, bound: &Value) -> Option<Ordering> {
    if let (Some(value), Some(bound)) = (value.as_u64(), bound.as_u64()) {
        return Some(value.cmp(&bound));
    }
    if let (Some(value), Some(bound)) = (value.as_f64(), bound.as_f64()) {
        return value.partial_cmp(&bound);
    }
    let (value, bound) = (value.as_str()?, bound.as_str()?);
    of_dimension::<Duration>(value, bound)
        .or_else(|| of_dimension::<Bytes>(value, bound))
        .or_else(|| of_dimension::<BitRate>(value, bound))
        .or_else(|| of_dimension::<Watts>(value, bound))
        .or_else(|| of_dimension::<Joules>(value, bound))
}

fn of_dimension<T: FromStr + PartialOrd>(value: &str, bound: &str) -> Option<Ordering> {
    let (value, bound): (T, T) = (value.parse().ok()?, bound.parse().ok()?);
    value.partial_cmp(&bound)
}

/// A value as in a document, without quotes and without the fraction of a whole number.
fn plain(value: &Value) -> String {
    match (value.as_str(), value.as_u64(), value.as_f64()) {
        (Some(text), ..) => text.to_owned(),
        (_, Some(number), _) => number.to_string(),
        (.., Some(number)) if number.abs() < 1e16 => number.to_string(),
        (.., Some(number)) => format!("{number:e}"),
        // Serde's value of a number that is not finite.
        _ => "not finite".to_owned(),
    }
}

/// A schema and its definitions.
type Schema = Arc<(Value, Map<String, Value>)>;

/// Checks every parameter of a configuration against the range in its description.
///
/// An optional number with a range needs `skip_serializing_if = "Option::is_none"`: null stands for infinity and NaN.
///
/// # Errors
/// Names the first parameter that is out of range, its value and the range.
pub fn check_ranges<T: Serialize + JsonSchema + 'static>(config: &T) -> Result<(), ConfigError> {
    let schema = schema_of::<T>();
    let value = serde_json::to_value(config).unwrap_or_default();
    check(&value, &schema.0, &schema.1).map_err(|Beyond { mut path, value, expected }| {
        path.reverse();
        ConfigError::new(path.join("."), value, expected)
    })
}

/// A value out of its range. The path begins at the value.
struct Beyond {
    path: Vec<String>,
    value: String,
    expected: String,
}

impl Beyond {
    fn within(mut self, name: &str) -> Self {
        self.path.push(name.to_owned());
        self
    }
}

/// The schema of a type. It is made once.
fn schema_of<T: JsonSchema + 'static>() -> Schema {
    static MADE: Mutex<BTreeMap<TypeId, Schema>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        let mut generator = SchemaGenerator::default();
        let schema = T::json_schema(&mut generator).to_value();
        Arc::new((schema, generator.take_definitions(true)))
    };
    Arc::clone(made.entry(TypeId::of::<T>()).or_insert_with(make))
}

fn check(value: &Value, schema: &Value, definitions: &Map<String, Value>) -> Result<(), Beyond> {
    // Null is a quantity that is not given, or a number that is not finite.
    if let Some(range) = Range::of(schema).filter(|range| !(value.is_null() && range.is_of_quantity()))
        && !range.contains(value)
    {
        return Err(Beyond { path: Vec::new(), value: plain(value), expected: range.expected() });
    }
    let reference = schema.get("$ref").and_then(Value::as_str).and_then(|name| name.rsplit('/').next());
    if let Some(referred) = reference.and_then(|name| definitions.get(name)) {
        check(value, referred, definitions)?;
    }
    for choice in ["anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten() {
        let kind = choice.pointer("/properties/kind/const");
        if kind.is_none() || kind == value.get("kind") {
            check(value, choice, definitions)?;
        }
    }
    if let (Some(table), Some(fields)) = (value.as_object(), schema.get("properties")) {
        for (name, inner) in table {
            let Some(field) = fields.get(name) else { continue };
            check(inner, field, definitions).map_err(|beyond| beyond.within(name))?;
        }
    }
    if let (Some(list), Some(items)) = (value.as_array(), schema.get("items")) {
        for (index, item) in list.iter().enumerate() {
            check(item, items, definitions).map_err(|beyond| beyond.within(&index.to_string()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Serialize, JsonSchema)]
    struct Valve {
        /// A share.
        #[schemars(range(min = 0.0, max = 1.0))]
        share: f64,
        /// A gain.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        #[serde(skip_serializing_if = "Option::is_none")]
        gain: Option<f64>,
        /// A count.
        #[schemars(range(min = 1))]
        count: u32,
        /// A wait.
        #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = Duration::from_millis(500).to_string()))]
        wait: Duration,
        /// A limit.
        #[schemars(extend("x-minimum" = "48 B"))]
        limit: Option<Bytes>,
        /// Nested tables.
        inner: Vec<Inner>,
    }

    #[derive(Clone, Serialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Inner {
        #[serde(rename = "fast")]
        Fast(Fast),
        #[serde(rename = "slow")]
        Slow(Slow),
    }

    #[derive(Clone, Serialize, JsonSchema)]
    struct Fast {
        #[schemars(extend("x-minimum" = "1 Mb/s"))]
        rate: BitRate,
    }

    #[derive(Clone, Serialize, JsonSchema)]
    struct Slow {
        #[schemars(extend("x-maximum" = "1 kb/s"))]
        rate: BitRate,
    }

    fn valve() -> Valve {
        let inner = vec![
            Inner::Slow(Slow { rate: BitRate::from_bps(1000) }),
            Inner::Fast(Fast { rate: BitRate::from_mbps(1) }),
        ];
        Valve { share: 1.0, gain: Some(0.1), count: 1, wait: Duration::from_millis(500), limit: None, inner }
    }

    fn why(change: impl FnOnce(&mut Valve)) -> String {
        let mut valve = valve();
        change(&mut valve);
        check_ranges(&valve).unwrap_err().to_string()
    }

    #[test]
    fn values_at_the_bounds_are_accepted() {
        assert_eq!(check_ranges(&valve()), Ok(()));
        let other =
            Valve { share: 0.0, gain: None, wait: Duration::from_nanos(1), limit: Some(Bytes::new(48)), ..valve() };
        assert_eq!(check_ranges(&other), Ok(()));
    }

    #[test]
    fn values_beyond_the_bounds_are_refused_by_their_path() {
        assert_eq!(why(|v| v.share = 1.5), "share is 1.5; expected 0 to 1");
        assert_eq!(why(|v| v.share = f64::NAN), "share is not finite; expected 0 to 1");
        assert_eq!(why(|v| v.gain = Some(0.0)), "gain is 0; expected more than 0");
        assert_eq!(why(|v| v.gain = Some(f64::INFINITY)), "gain is not finite; expected more than 0");
        assert_eq!(why(|v| v.count = 0), "count is 0; expected at least 1");
        assert_eq!(why(|v| v.wait = Duration::ZERO), "wait is 0 s; expected more than 0 s and at most 500 ms");
        assert!(why(|v| v.wait = Duration::from_millis(501)).starts_with("wait is 501 ms; "));
        assert_eq!(why(|v| v.limit = Some(Bytes::new(47))), "limit is 47 B; expected at least 48 B");
    }

    #[test]
    fn a_nested_table_has_the_ranges_of_its_kind() {
        let slow = Inner::Slow(Slow { rate: BitRate::from_mbps(1) });
        assert_eq!(why(|v| v.inner = vec![slow]), "inner.0.rate is 1 Mb/s; expected at most 1 kb/s");
        let fast = |v: &mut Valve| v.inner[1] = Inner::Fast(Fast { rate: BitRate::from_bps(1000) });
        assert_eq!(why(fast), "inner.1.rate is 1 kb/s; expected at least 1 Mb/s");
    }
}
