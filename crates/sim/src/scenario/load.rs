//! The front door: text and changes become a checked scenario.

use super::document::Document;
use super::host::{Family, Host, PlugIn};
use super::read::read_value;
use super::{Scenario, ScenarioError, files, topology};
use netlull_document::{field_names, near};
use netlull_text::{Change, Error, Text, find, name_of, spell_out};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A document as it comes to the door.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// TOML, as users write it.
    Toml(Text<'a>),
    /// JSON, as programs write it.
    Json(&'a str),
}

/// A scenario that has been checked, and its document.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The document as given, with the content of its files, as JSON.
    pub given: String,
    /// The document with every default.
    pub document: Document,
    /// The scenario.
    pub scenario: Scenario,
    /// Its plug-ins, in the order of the document.
    pub plug_ins: Vec<(Family, PlugIn)>,
}

/// Words in a JSON document that needs more than its reading: repetition, or something that the host gives.
const NAMES_MORE: [&str; 7] = ["\"topology\"", "\"file\"", "\"wasm\"", "\"python\"", "\"each\"", "\"entries\"", ".."];

/// Reads and checks a document, after several steps of changes.
///
/// The order: the text, its repetitions, the changes, the files, networks and modules that it names, its topology, its
/// plug-ins, its fields, its meaning.
///
/// # Errors
/// Names the field, its value and the expectation, and the place in the text.
pub fn load(source: Source<'_>, changes: &[Vec<Change>], host: &dyn Host) -> Result<Checked, Error> {
    let checked = attempt(source, changes, host);
    checked.map_err(|error| match source {
        Source::Toml(text) if error.place.is_none() => Error { place: place(text, changes, &error.field), ..error },
        _ => error,
    })
}

/// Reads and checks a document in JSON that needs no host and no repetition, as most programs write it. Values in
/// between would take ten times the memory of the text. `None` if it needs [`load`].
#[must_use]
pub fn load_directly(json: &str) -> Option<Checked> {
    let needs_more = NAMES_MORE.iter().any(|word| json.contains(word));
    let document: Document = if needs_more { None } else { serde_json::from_str(json).ok() }?;
    let scenario = Scenario::from_document(&document).ok()?;
    Some(Checked { given: json.to_owned(), document, scenario, plug_ins: Vec::new() })
}

fn attempt(source: Source<'_>, changes: &[Vec<Change>], host: &dyn Host) -> Result<Checked, Error> {
    let mut document = match source {
        Source::Toml(text) => {
            spell_out(text.parse()?).map_err(|error| Error { place: text.place_as_written(&error.field), ..error })?
        }
        Source::Json(text) => spell_out(parse_json(text)?)?,
    };
    let Value::Object(table) = &mut document else {
        return Err(Error::new("scenario", "is not a table of fields"));
    };
    for step in changes {
        apply(table, step, host)?;
    }
    files::read_in(table, host)?;
    topology::read_in(table, host)?;
    each_plug_in(table, &mut |place, family, part| locate(place, family, part, host))?;
    let given = serde_json::to_string(&document).map_err(|error| Error::new("scenario", error.to_string()))?;
    let Value::Object(table) = document else { unreachable!("it was a table before") };
    let known = known_fields(&table);
    let mut table = topology::expand(table)?;
    let plug_ins = complete(&mut table, host)?;
    let document: Document = read_value(&Value::Object(table)).map_err(|error| known.err().unwrap_or(error))?;
    let scenario = Scenario::from_document(&document)?;
    Ok(Checked { given, document, scenario, plug_ins })
}

fn parse_json(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|error| Error::new("scenario", format!("is not JSON: {error}")))
}

/// Applies a step of changes, those of the topology first: it has links that other paths may name.
fn apply(document: &mut Map<String, Value>, step: &[Change], host: &dyn Host) -> Result<(), Error> {
    let mut changes = Vec::with_capacity(step.len());
    for change in step {
        changes.extend(change.clone().spelled_out()?);
    }
    changes.sort_by_key(|change| topology::order_of(&change.path));
    for change in &changes {
        topology::prepare(document, change, host)?;
        let mut whole = Value::Object(std::mem::take(document));
        let applied = change.apply(&mut whole);
        if let Value::Object(table) = whole {
            *document = table;
        }
        applied.map_err(|error| reverse_of(document, change).unwrap_or(error))?;
    }
    Ok(())
}

/// Fields of a duplex link that its reverse link does not have.
const ONE_WAY: [&str; 6] = ["aggregation", "capacity", "controller", "late", "loss", "noise"];

/// The error of a path to the reverse direction of a duplex link.
fn reverse_of(document: &Map<String, Value>, change: &Change) -> Option<Error> {
    let path = change.path.strip_prefix("link.")?;
    let text = |link: &Value, end: &str| link.get(end).and_then(Value::as_str).map(str::to_owned);
    document.get("link")?.as_array()?.iter().filter(|link| link.get("duplex") == Some(&true.into())).find_map(|link| {
        let back = format!("{}-{}", text(link, "to")?, text(link, "from")?);
        let rest = path.strip_prefix(&back).filter(|rest| rest.is_empty() || rest.starts_with('.'))?;
        let (name, field) = (name_of(link)?, rest.trim_start_matches('.').split('.').next().unwrap_or_default());
        let apart = format!("remove duplex from {name} and write {back} as a link of its own");
        let told = if ONE_WAY.contains(&field) {
            format!("{apart}: {field} is for one direction")
        } else {
            format!("set it at {name}, for both directions, or {apart}")
        };
        let told = format!("\"{back}\" is the reverse direction of the duplex link {name}; expected: {told}");
        Some(Error::path(&change.path, told))
    })
}

impl Checked {
    /// The document with every default, as JSON.
    ///
    /// # Errors
    /// Never for a document that has been checked.
    pub fn canonical(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.document)
    }
}

/// Handles a part of a document: its path, its family and its value, which it may change or take.
type Visit<'v> = dyn FnMut(&str, Family, &mut Option<Value>) -> Result<(), Error> + 'v;

/// The parts of a document that can be plug-ins: the list, the table in an entry, the field and the family.
const PLUG_INS: [(&str, Option<&str>, &str, Family); 4] = [
    ("link", None, "controller", Family::Controllers),
    ("flow", Some("tcp"), "congestion_control", Family::CongestionControls),
    ("station", None, "mechanism", Family::StationPolicies),
    ("sleep", None, "plan", Family::SleepPlans),
];

/// Visits the parts of a document that can be plug-ins.
fn each_plug_in(document: &mut Map<String, Value>, visit: &mut Visit<'_>) -> Result<(), Error> {
    if let Some(tcp) = document.get_mut("tcp") {
        visit_field(tcp, "congestion_control", Family::CongestionControls, || "tcp".to_owned(), visit)?;
    }
    for (list, inner, field, family) in PLUG_INS {
        for (index, entry) in document.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
            let name = name_of(entry);
            let place = || {
                let name = name.unwrap_or_else(|| index.to_string());
                [list, &name].into_iter().chain(inner).collect::<Vec<_>>().join(".")
            };
            let table = match inner {
                Some(inner) => entry.get_mut(inner),
                None => Some(entry),
            };
            table.map_or(Ok(()), |table| visit_field(table, field, family, place, visit))?;
        }
    }
    Ok(())
}

fn visit_field(
    table: &mut Value,
    field: &str,
    family: Family,
    place: impl FnOnce() -> String,
    visit: &mut Visit<'_>,
) -> Result<(), Error> {
    let Some((table, part)) = table.as_object_mut().and_then(|table| {
        let part = table.get_mut(field)?.take();
        Some((table, part))
    }) else {
        return Ok(());
    };
    let mut part = Some(part);
    visit(&format!("{}.{field}", place()), family, &mut part)?;
    match part {
        Some(part) => drop(table.insert(field.to_owned(), part)),
        None => drop(table.shift_remove(field)),
    }
    Ok(())
}

/// Completes the table of a WebAssembly module with its place and its digest. A digest that is given stays, and is
/// compared when the module is read.
fn locate(place: &str, family: Family, part: &mut Option<Value>, host: &dyn Host) -> Result<(), Error> {
    let Some(Value::Object(table)) = part else { return Ok(()) };
    let Some(name) =
        table.get("module").and_then(Value::as_str).filter(|_| table.get("kind").is_some_and(|kind| kind == "wasm"))
    else {
        return Ok(());
    };
    // A host that leaves modules out does not need their files.
    if matches!(host.plug_in(family, table), Ok(PlugIn::LeftOut)) {
        return Ok(());
    }
    let module = host.module(name).map_err(|error| within(place, error))?;
    table.insert("module".to_owned(), module.file.into());
    table.entry("digest").or_insert_with(|| module.digest.into());
    Ok(())
}

/// Completes the tables of plug-ins, and returns them.
fn complete(document: &mut Map<String, Value>, host: &dyn Host) -> Result<Vec<(Family, PlugIn)>, Error> {
    let mut plug_ins = Vec::new();
    // Thousands of links may have the same kind of the core.
    let mut built_in: BTreeSet<(Family, String)> = BTreeSet::new();
    each_plug_in(document, &mut |place, family, part| {
        let table = match part {
            Some(Value::String(kind)) => Map::from_iter([("kind".to_owned(), kind.as_str().into())]),
            Some(Value::Object(table)) => table.clone(),
            _ => return Ok(()),
        };
        let Some(kind) = table.get("kind").and_then(Value::as_str).map(str::to_owned) else { return Ok(()) };
        let kind = (family, kind);
        if built_in.contains(&kind) {
            return Ok(());
        }
        let plug_in = host.plug_in(family, &table).map_err(|error| within(place, error))?;
        match &plug_in {
            PlugIn::BuiltIn => {
                built_in.insert(kind);
                return Ok(());
            }
            PlugIn::Table(whole) => *part = Some(whole.clone()),
            PlugIn::LeftOut => *part = None,
        }
        plug_ins.push((family, plug_in));
        Ok(())
    })?;
    Ok(plug_ins)
}

fn within(place: &str, error: Error) -> Error {
    let field = if error.field.is_empty() { place.to_owned() } else { format!("{place}.{}", error.field) };
    Error { field, ..error }
}

/// Refuses a field that no scenario has.
fn known_fields(document: &Map<String, Value>) -> Result<(), ScenarioError> {
    let known: Vec<&str> = field_names::<Document>().iter().copied().chain(["topology"]).collect();
    match document.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) if name == "scenario" => {
            Err(Error::new("scenario", "is a field of sweeps; expected a scenario, or `netlull sweep`"))
        }
        Some(name) => {
            let shown = if name.is_empty() { "\"\"" } else { name };
            Err(Error::new(shown, format!("is unknown; {}", near(name, &known))))
        }
    }
}

/// A document as given, with the links of its topology, as JSON. It needs no file but those of plug-ins.
///
/// # Errors
/// Never for the document of a [`Checked`].
pub fn spelled_out(given: &str) -> Result<String, Error> {
    let Value::Object(table) = parse_json(given)? else { return Ok(given.to_owned()) };
    let table = topology::expand(table)?;
    serde_json::to_string(&table).map_err(|error| Error::new("scenario", error.to_string()))
}

/// The place of a field in the text. A field that a change or the topology has made, or changed, is in no text.
fn place(text: Text<'_>, changes: &[Vec<Change>], field: &str) -> Option<netlull_text::Place> {
    let before = spell_out(text.parse().ok()?).ok()?;
    let mut after = before.clone();
    for change in changes.iter().flatten() {
        for change in change.clone().spelled_out().ok()? {
            // A link of the topology is not there.
            let _ = change.apply(&mut after);
        }
    }
    let (written, used) = (find(&before, field).ok()?, find(&after, field).ok()?);
    if field.is_empty() || written != used { None } else { text.place(field) }
}
