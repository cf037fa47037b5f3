//! The interface as constants for C and Rust, and as tables for readers. All come from the records.

use crate::abi::{Answer, Begin, Kind, MOST_ACTIONS, MOST_VARIABLES, VERSION, VariableWords, place};
use crate::record::{Record, Shape, Variant};
use netlull_mechanism::link::{self, Estimates, LinkAction, LinkEvent};
use netlull_mechanism::observe::{Decision, Observation};
use netlull_mechanism::station::{self, StationAction, StationEvent};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A language of bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// Rust without netlull's crates.
    Rust,
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The name, in capitals.
    pub name: String,
    /// The value.
    pub value: u64,
    /// The unit of the word at a place, or empty.
    pub unit: &'static str,
}

/// A record, and its place in the mailbox.
struct Placed {
    /// The first part of the names of its constants.
    prefix: &'static str,
    /// The title for readers.
    title: &'static str,
    at: usize,
    shape: Shape,
}

/// All records of the interface.
fn records() -> Vec<Placed> {
    fn placed<T: Record>(prefix: &'static str, title: &'static str, at: usize) -> Placed {
        Placed { prefix, title, at, shape: T::shape() }
    }
    let items = place::ANSWER + Answer::WORDS;
    #[cfg_attr(not(feature = "tcp"), expect(unused_mut, reason = "the feature adds records"))]
    let mut records = vec![
        placed::<Answer>("ANSWER", "Answer of a link controller or of a station's machine", place::ANSWER),
        placed::<Begin<link::Context>>("LINK", "Link, at the creation", place::CONTEXT),
        placed::<LinkEvent>("LINK", "Event of a link", place::EVENT),
        placed::<LinkAction>("LINK", "First action of a link controller", items),
        placed::<Estimates>("LINK", "Estimates of a link controller that reads segments", place::ESTIMATES),
        placed::<Observation>("SEEN", "Observation of a link", place::EVENT),
        placed::<Decision>("DECISION", "Decision of a rate controller", items),
        placed::<Begin<station::Context>>("STATION", "Station, at the creation", place::CONTEXT),
        placed::<StationEvent>("STATION", "Event of a station", place::EVENT),
        placed::<StationAction>("STATION", "First action of a station's machine", items),
    ];
    #[cfg(feature = "tcp")]
    {
        use crate::control::{ControlAnswer, ControlContext, Deliveries};
        use netlull_tcp::cc::ControlEvent;
        records.extend([
            placed::<Begin<ControlContext>>("CONTROL", "Connection, at the creation", place::CONTEXT),
            placed::<ControlEvent>("CONTROL", "Event of a congestion control", place::EVENT),
            placed::<Deliveries>("DELIVERIES", "Deliveries of a connection", place::DELIVERIES),
            placed::<ControlAnswer>("CONTROL", "Answer of a congestion control", place::ANSWER),
            placed::<VariableWords>("VARIABLE", "Variable of a congestion control, in the list", 0),
        ]);
    }
    records
}

/// The constants of the interface.
#[must_use]
pub fn constants() -> Vec<Constant> {
    let number = |name: &str, value: u64| Constant { name: name.to_owned(), value, unit: "" };
    let mut all = vec![
        number("VERSION", VERSION),
        number("TEXT", place::TEXT as u64),
        number("NOW", place::NOW as u64),
        number("EVENT", place::EVENT as u64),
        number("ACTIONS", (place::ANSWER + Answer::WORDS) as u64),
        number("MOST_ACTIONS", MOST_ACTIONS as u64),
        number("LINK_ACTION_WORDS", LinkAction::WORDS as u64),
        number("STATION_ACTION_WORDS", StationAction::WORDS as u64),
        number("VARIABLE_WORDS", VariableWords::WORDS as u64),
        number("MOST_VARIABLES", MOST_VARIABLES as u64),
        number("PARAMETERS", place::PARAMETERS as u64),
        number("MAILBOX_WORDS", place::LENGTH as u64),
    ];
    let mut tags = Vec::new();
    for Placed { prefix, at, shape, .. } in records() {
        list(&mut Flat { places: &mut all, tags: &mut tags }, prefix, at as u64, &shape);
    }
    all.extend(tags);
    let mut names = BTreeSet::new();
    all.retain(|constant| names.insert(constant.name.clone()));
    all
}

/// The constants of places and of tags so far.
struct Flat<'a> {
    places: &'a mut Vec<Constant>,
    tags: &'a mut Vec<Constant>,
}

/// Adds the words of a value with its name.
fn list(flat: &mut Flat<'_>, name: &str, at: u64, shape: &Shape) {
    match shape {
        Shape::Word(unit) => flat.places.push(Constant { name: name.to_owned(), value: at, unit }),
        Shape::Option(value) => {
            flat.places.push(Constant { name: format!("{name}_GIVEN"), value: at, unit: "0 or 1" });
            list(flat, name, at + 1, value);
        }
        Shape::Struct(fields) => in_order(flat, name, at, fields),
        Shape::Enum(of, variants) => {
            let of_enum = capitals(of);
            // The prefix of a record is no name for its tag.
            let tag = if name.contains('_') { name.to_owned() } else { of_enum.clone() };
            flat.places.push(Constant { name: tag, value: at, unit: "tag" });
            for Variant { tag, name: variant, fields } in variants {
                let named = format!("{of_enum}_{}", capitals(variant));
                flat.tags.push(Constant { name: named, value: *tag, unit: "" });
                in_order(flat, &format!("{name}_{}", capitals(variant)), at + 1, fields);
            }
        }
    }
}

fn in_order(flat: &mut Flat<'_>, name: &str, mut at: u64, fields: &[(&str, Shape)]) {
    let alone = fields.len() == 1;
    for (field, shape) in fields {
        let part = match shape {
            // The only part of a variant has the variant's name.
            Shape::Struct(_) if alone => name.to_owned(),
            Shape::Struct(_) if *field == "context" => name.to_owned(),
            _ => format!("{name}_{}", capitals(field)),
        };
        list(flat, &part, at, shape);
        at += shape.words() as u64;
    }
}

/// A name such as `SetRate` or `in_service` in capitals with underscores.
fn capitals(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_uppercase());
    }
    out
}

/// The constants in a language, followed by the functions that every module needs.
#[must_use]
pub fn bindings(language: Language) -> String {
    let (comment, body) = match language {
        Language::C => ("//", include_str!("bindings/netlull.h")),
        Language::Rust => ("//!", include_str!("bindings/netlull.rs")),
    };
    let mut lines = String::new();
    for Constant { name, value, unit } in constants() {
        let note = if unit.is_empty() { String::new() } else { format!(" // {unit}") };
        let _ = match language {
            Language::C => writeln!(lines, "#define {name} {value}{note}"),
            Language::Rust => writeln!(lines, "pub const {name}: usize = {value};{note}"),
        };
    }
    let head = format!(
        "{comment} The interface of netlull's modules, version {VERSION}. `netlull plugin new` writes this file."
    );
    let head = format!(
        "{head}\n{comment} A place is the number of a 64-bit word in the mailbox; a comment has the word's unit.\n"
    );
    format!("{head}{}", body.replace("@CONSTANTS@", lines.trim_end()))
}

/// The tables of the interface for readers, in Markdown.
#[must_use]
pub fn tables() -> String {
    let mut text = String::new();
    let kinds: Vec<_> = Kind::ALL.iter().map(|kind| format!("`{}`", kind.name())).collect();
    let _ = writeln!(text, "Version {VERSION}. Kinds: {}.\n", kinds.join(", "));
    for Placed { prefix, title, at, shape } in records() {
        let _ = writeln!(text, "### {title}\n\n| constant | word | value |\n|---|---|---|");
        let (mut places, mut tags) = (Vec::new(), Vec::new());
        list(&mut Flat { places: &mut places, tags: &mut tags }, prefix, at as u64, &shape);
        for Constant { name, value, unit } in places {
            let _ = writeln!(text, "| `{name}` | {value} | {unit} |");
        }
        if !tags.is_empty() {
            let _ = writeln!(text, "\n| tag | number |\n|---|---|");
        }
        for Constant { name, value, .. } in tags {
            let _ = writeln!(text, "| `{name}` | {value} |");
        }
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_place() {
        let mut seen = std::collections::BTreeMap::new();
        let mut flat_places = Vec::new();
        let mut tags = Vec::new();
        for Placed { prefix, at, shape, .. } in records() {
            list(&mut Flat { places: &mut flat_places, tags: &mut tags }, prefix, at as u64, &shape);
        }
        for Constant { name, value, .. } in flat_places.iter().chain(&tags) {
            assert_eq!(*seen.entry(name.clone()).or_insert(*value), *value, "{name}");
        }
    }

    #[test]
    fn fields_have_the_places_of_their_records() {
        let place = |name: &str| {
            let constant = constants().into_iter().find(|constant| constant.name == name);
            constant.map(|constant| constant.value)
        };
        // EVENT is 8: the tag, then size, admission, waiting, in service, segment.
        assert_eq!(place("LINK_EVENT"), Some(8));
        assert_eq!(place("LINK_ARRIVAL_SIZE"), Some(9));
        assert_eq!(place("LINK_ARRIVAL_QUEUE_IN_SERVICE"), Some(12));
        assert_eq!(place("LINK_DEPARTURE_WAITING"), Some(9));
        assert_eq!(place("LINK_EVENT_DEPARTURE"), Some(1));
        assert_eq!(place("ANSWER_ACTIONS"), Some(64));
        assert_eq!(place("LINK_SET_RATE_RATE"), Some(68));
    }
}
