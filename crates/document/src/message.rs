//! Errors of a reader in the project's words: serde's wording does not reach users.

use crate::hint_of_old;

/// A message of serde as the value and the expectation, or as an unknown name and those most like it.
pub(crate) fn in_plain_words(message: String) -> String {
    let unknown = ["unknown field `", "unknown variant `"].iter().find_map(|start| message.strip_prefix(start));
    if let Some((name, known)) = unknown.and_then(|rest| rest.split_once("`, ")) {
        let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        return format!("\"{name}\" is unknown; {}", near(name, &known));
    }
    let found = ["invalid type: ", "invalid value: ", "invalid length "]
        .iter()
        .find_map(|start| Some((*start, message.strip_prefix(start)?.rsplit_once(", expected ")?)));
    let Some((start, (value, expected))) = found else { return message };
    let value = if start == "invalid length " { format!("{value} entries") } else { value_in(value).to_owned() };
    format!("is {value}; expected {}", type_in(expected))
}

/// A value as serde describes it, such as ``integer `5` ``.
fn value_in(described: &str) -> &str {
    match described {
        "map" | "struct" => return "a table",
        "sequence" | "tuple" => return "a list",
        "null" | "unit value" | "Option value" => return "nothing",
        _ => {}
    }
    let quoted = described.split_once('`').and_then(|(_, rest)| rest.strip_suffix('`'));
    quoted.or_else(|| described.strip_prefix("string ")).unwrap_or(described)
}

/// The type that serde expects, with Rust's names in words.
fn type_in(expected: &str) -> &str {
    match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        // Serde expects the second from an enum of names.
        "a string" | "string or map" => "text",
        "a sequence" => "a list",
        "a map" => "a table",
        name if name.starts_with("struct ") => "a table",
        words => words,
    }
}

/// The names that are most like a wrong one, as a question, or else the known names. An old word has its new name first.
#[must_use]
pub fn near(name: &str, known: &[&str]) -> String {
    if let Some(hint) = hint_of_old(name, known) {
        return format!("{hint}; expected one of {}", known.join(", "));
    }
    let mut alike: Vec<(usize, &str)> = known.iter().map(|other| (likeness(name, other), *other)).collect();
    alike.retain(|&(percent, _)| percent >= LIKE);
    alike.sort_by(|a, b| b.cmp(a));
    let alike: Vec<&str> = alike.iter().take(3).map(|&(_, other)| other).collect();
    match (alike.as_slice(), known) {
        ([], []) => "expected no fields".to_owned(),
        ([], [only]) => format!("expected {only}"),
        ([], _) => format!("expected one of {}", known.join(", ")),
        _ => format!("did you mean {}?", alike.join(" or ")),
    }
}

/// The least likeness of a name in a question, in percent.
const LIKE: usize = 60;

/// The share of the letters of two names that are in both in the same order, in percent.
fn likeness(a: &str, b: &str) -> usize {
    let mut longest = vec![0; b.chars().count() + 1];
    for letter in a.chars() {
        let mut before = 0;
        for (index, other) in b.chars().enumerate() {
            let with = if letter == other { before + 1 } else { 0 };
            before = longest[index + 1];
            longest[index + 1] = with.max(before).max(longest[index]);
        }
    }
    let letters = a.chars().count() + b.chars().count();
    longest.last().map_or(0, |common| 200 * common / letters.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;
    use serde::Deserialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Map, Value, json};
    use std::fmt::Debug;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only refused")]
    struct Shape {
        side: u32,
        sides: (u32, u32),
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        Red,
        Green,
    }

    fn why<T: DeserializeOwned + Debug>(value: &Value) -> String {
        read::<T>(value).unwrap_err().message
    }

    #[test]
    fn values_and_types_have_plain_words() {
        assert_eq!(why::<Shape>(&json!(true)), "is true; expected a table");
        assert_eq!(why::<Vec<u32>>(&json!("x")), "is \"x\"; expected a list");
        assert_eq!(why::<Map<String, Value>>(&json!(1.5)), "is 1.5; expected a table");
        assert_eq!(why::<f64>(&json!({})), "is a table; expected a number");
        assert_eq!(why::<u64>(&json!(-1)), "is -1; expected a whole number from 0");
        assert_eq!(
            why::<u32>(&json!(5_000_000_000_u64)),
            "is 5000000000; expected a whole number from 0 to 4294967295"
        );
        assert_eq!(why::<bool>(&json!([1])), "is a list; expected true or false");
        assert_eq!(why::<String>(&json!(null)), "is nothing; expected text");
        assert_eq!(why::<Colour>(&json!(1)), "is 1; expected text");
        let short = why::<Shape>(&json!({ "side": 1, "sides": [1] }));
        assert_eq!(short, "is 1 entries; expected a tuple of size 2");
    }

    #[test]
    fn a_wrong_name_is_compared_with_the_known_ones() {
        assert_eq!(why::<Colour>(&json!("greeen")), "\"greeen\" is unknown; did you mean green?");
        assert_eq!(why::<Colour>(&json!("blue")), "\"blue\" is unknown; expected one of red, green");
        assert_eq!(why::<Shape>(&json!({ "sid": 1 })), "is unknown; did you mean side or sides?");
        let known = ["name", "seed", "sleep", "station"];
        assert_eq!(near("speed", &known), "did you mean seed or sleep?");
        assert_eq!(near("nodes", &["x", "name"]), "expected one of x, name");
        assert_eq!(near("speed", &["x"]), "expected x");
    }
}
