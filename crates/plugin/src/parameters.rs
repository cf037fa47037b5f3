//! The parameters of a module: declared ones become words, others are JSON.

use netlull_document::ConfigError;
use netlull_guest::description::{Declared, Description, Settings, Type};
use netlull_mechanism::observe::Subscription;
use netlull_units::{BitRate, Bytes, Duration};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The parameters of a module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Parameters {
    /// A word for each declared parameter.
    Words(Vec<u64>),
    /// Parameters that the module reads itself.
    Json(Value),
}

impl Parameters {
    /// Reads the parameters of a table.
    pub fn read(description: &Description, given: &Map<String, Value>) -> Result<Self, ConfigError> {
        if description.schema.is_some() {
            return Ok(Self::Json(Value::Object(given.clone())));
        }
        let declared = &description.parameters;
        if let Some(unknown) = given.keys().find(|name| !declared.iter().any(|known| known.name == **name)) {
            let names: Vec<_> = declared.iter().map(|known| known.name.as_str()).collect();
            let expected =
                if names.is_empty() { "no parameters".into() } else { format!("one of {}", names.join(", ")) };
            return Err(ConfigError::new(unknown, "no parameter of the module", expected));
        }
        declared.iter().map(|declared| word(declared, given)).collect::<Result<_, _>>().map(Self::Words)
    }
}

/// The settings that follow from declared parameters: `tick` and `transition` of a rate controller.
pub(crate) fn settings(description: &Description, words: &[u64]) -> Settings {
    let duration = |name: &str| {
        let mut declared = description.parameters.iter().zip(words);
        let found = declared.find(|(declared, _)| declared.name == name && declared.of == Type::Duration);
        found.map(|(_, nanos)| Duration::from_nanos(*nanos))
    };
    let subscription = description
        .subscription
        .clone()
        .map(|subscription| Subscription { tick: duration("tick").or(subscription.tick), ..subscription });
    Settings { subscription, transition: duration("transition").unwrap_or_default(), ..Settings::default() }
}

/// The word of a parameter, within its range.
fn word(declared: &Declared, given: &Map<String, Value>) -> Result<u64, ConfigError> {
    let Declared { name, of, default, minimum, maximum, .. } = declared;
    let expected = || {
        let range = match (minimum, maximum) {
            (Some(minimum), Some(maximum)) => format!(" from {minimum} to {maximum}"),
            (Some(minimum), None) => format!(" of at least {minimum}"),
            (None, Some(maximum)) => format!(" of at most {maximum}"),
            (None, None) => String::new(),
        };
        format!("{}{range}", noun(*of))
    };
    let Some(value) = given.get(name).or(default.as_ref()) else {
        return Err(ConfigError::new(name, "missing", expected()));
    };
    let refused = || ConfigError::new(name, value, expected());
    let (word, size) = converted(*of, value).ok_or_else(refused)?;
    let bound = |bound: &Option<Value>| bound.as_ref().and_then(|bound| converted(*of, bound)).map(|(_, size)| size);
    if bound(minimum).is_some_and(|least| size < least) || bound(maximum).is_some_and(|most| size > most) {
        return Err(refused());
    }
    Ok(word)
}

/// Refuses a default or a limit of another type than the parameter's, and a default beyond the limits.
pub(crate) fn check(declared: &Declared) -> Result<(), (String, String)> {
    let Declared { name, of, default, minimum, maximum, .. } = declared;
    let refuse = |what: &str, value: &Value, expected: String| {
        Err((format!("whose parameter \"{name}\" has the {what} {value}"), expected))
    };
    for (what, value) in [("default", default), ("minimum", minimum), ("maximum", maximum)] {
        if let Some(value) = value.as_ref().filter(|value| converted(*of, value).is_none()) {
            return refuse(what, value, noun(*of).to_owned());
        }
    }
    match default {
        Some(value) => {
            word(declared, &Map::new()).map(|_| ()).or_else(|error| refuse("default", value, error.expected))
        }
        None => Ok(()),
    }
}

/// The name of a type for users.
pub(crate) fn noun(of: Type) -> &'static str {
    match of {
        Type::Number => "a number",
        Type::Integer => "a whole number",
        Type::Boolean => "true or false",
        Type::Duration => "a duration with its unit",
        Type::Rate => "a bit rate with its unit",
        Type::Bytes => "an amount of data with its unit",
    }
}

/// The word of a value, and its size for comparisons; `None` if the value is of another type.
#[allow(clippy::cast_precision_loss)]
fn converted(of: Type, value: &Value) -> Option<(u64, f64)> {
    fn quantity<T: DeserializeOwned>(value: &Value) -> Option<T> {
        value.is_string().then(|| serde_json::from_value(value.clone()).ok()).flatten()
    }
    let word = match of {
        Type::Number => {
            let number = value.as_f64().filter(|number| number.is_finite())?;
            return Some((number.to_bits(), number));
        }
        Type::Integer => value.as_u64()?,
        Type::Boolean => u64::from(value.as_bool()?),
        Type::Duration => quantity::<Duration>(value)?.as_nanos(),
        Type::Rate => quantity::<BitRate>(value)?.as_bps(),
        Type::Bytes => quantity::<Bytes>(value)?.as_u64(),
    };
    Some((word, word as f64))
}
