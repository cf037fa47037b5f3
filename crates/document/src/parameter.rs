//! The parameters of a configuration for users, read from its JSON Schema.

use crate::range::Range;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// The description of a configuration struct for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The first paragraph of its doc comment.
    pub summary: String,
    /// The source: a paper, an RFC or a page.
    pub source: String,
    /// The parameters, in the order of the fields.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The field's name in documents.
    pub name: String,
    /// The unit, or the possible values.
    pub unit: String,
    /// The default as written in a document.
    pub default: String,
    /// The meaning, with the paper's symbol.
    pub meaning: String,
    /// The source of the default: a paper, an RFC or an assumption.
    pub source: String,
}

impl Parameter {
    /// Returns true if a document must set the parameter.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.default == REQUIRED
    }
}

/// The text shown as the default of a required parameter.
const REQUIRED: &str = "must be given";

/// Describes a configuration struct for users.
#[must_use]
pub fn describe<T: JsonSchema>() -> Description {
    let mut generator = SchemaGenerator::default();
    let schema = T::json_schema(&mut generator).to_value();
    description(&schema, &generator.take_definitions(true))
}

/// The kinds of a table with a `kind` field, in the order of the schema.
///
/// `definition` is the table's name in `schema`.
#[must_use]
pub fn kinds(schema: &Value, definition: &str) -> Vec<(String, Description)> {
    let empty = Map::new();
    let definitions = schema.get("$defs").and_then(Value::as_object).unwrap_or(&empty);
    let kinds = definitions.get(definition).and_then(|table| table.get("oneOf")).and_then(Value::as_array);
    let described = |table: &Value| {
        let kind = table.pointer("/properties/kind/const")?.as_str()?.to_owned();
        Some((kind, description(table, definitions)))
    };
    kinds.into_iter().flatten().filter_map(described).collect()
}

fn description(table: &Value, definitions: &Map<String, Value>) -> Description {
    let text = |key: &str| table.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let summary = words(text("description").split("\n\n").next().unwrap_or_default());
    let mut parameters = listed(table, definitions);
    parameters.extend(referred(table, definitions).map(|inner| listed(inner, definitions)).unwrap_or_default());
    Description { summary, source: text("x-source"), parameters }
}

/// A text on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The definition that a schema refers to.
fn referred<'a>(schema: &Value, definitions: &'a Map<String, Value>) -> Option<&'a Value> {
    definitions.get(schema.get("$ref")?.as_str()?.rsplit('/').next()?)
}

fn listed(schema: &Value, definitions: &Map<String, Value>) -> Vec<Parameter> {
    let required = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|each| each == name))
    };
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let of_field = |(name, field): (&String, &Value)| match referred(field, definitions) {
        // A nested table, whose fields have their own names.
        Some(inner) if inner.get("properties").is_some() => {
            let inner = listed(inner, definitions).into_iter();
            inner.map(|each| Parameter { name: format!("{name}.{}", each.name), ..each }).collect()
        }
        _ => vec![parameter(name, field, required(name), definitions)],
    };
    fields.filter(|(name, _)| *name != "kind").flat_map(of_field).collect()
}

fn parameter(name: &str, field: &Value, is_required: bool, definitions: &Map<String, Value>) -> Parameter {
    let text = |key: &str| field.get(key).and_then(Value::as_str).map(str::to_owned);
    let default = || match field.get("default") {
        _ if is_required => REQUIRED.to_owned(),
        Some(Value::Null) | None => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(table)) => table.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Some(other) => other.to_string(),
    };
    Parameter {
        name: name.to_owned(),
        unit: text("x-unit").unwrap_or_else(|| unit_and_range(field, definitions)),
        default: text("x-default").unwrap_or_else(default),
        meaning: words(&text("description").unwrap_or_default()),
        source: text("x-source").unwrap_or_default(),
    }
}

/// The unit of a field, and the range of a quantity, such as `time above 0 s`.
fn unit_and_range(field: &Value, definitions: &Map<String, Value>) -> String {
    let unit = unit(field, definitions);
    match Range::of(field).filter(Range::is_of_quantity) {
        Some(range) => format!("{unit} {}", range.unit()),
        None => unit,
    }
}

/// The unit or the possible values derived from a field's type.
fn unit(field: &Value, definitions: &Map<String, Value>) -> String {
    if let Some(reference) = field.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        return match name {
            "Time" => "time".to_owned(),
            "Data" => "data".to_owned(),
            "Rate" => "bit rate".to_owned(),
            "Power" => "power".to_owned(),
            "SignedPower" => "power with a sign".to_owned(),
            "Energy" => "energy".to_owned(),
            other => definitions.get(other).map_or_else(|| other.to_owned(), |schema| unit(schema, definitions)),
        };
    }
    if let Some(choices) = field.get("oneOf").or_else(|| field.get("anyOf")).and_then(Value::as_array) {
        let choices: Vec<String> = choices.iter().map(|choice| unit(choice, definitions)).collect();
        // The type null has no word.
        return choices.into_iter().filter(|choice| !choice.is_empty()).collect::<Vec<_>>().join(" | ");
    }
    if let Some(kind) = field.pointer("/properties/kind/const").or_else(|| field.get("const")) {
        return kind.as_str().map_or_else(|| kind.to_string(), str::to_owned);
    }
    if let Some(names) = field.get("enum").and_then(Value::as_array) {
        return names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ");
    }
    let types = match field.get("type") {
        Some(Value::Array(types)) => types.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let word = |kind: &str| match kind {
        "boolean" => "true | false".to_owned(),
        "string" => "text".to_owned(),
        "number" => Range::of(field).map_or_else(|| kind.to_owned(), |range| range.unit()),
        other => other.to_owned(),
    };
    let known = types.iter().filter_map(Value::as_str).filter(|&kind| kind != "null");
    known.map(word).collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_units::Duration;

    /// How far.
    #[derive(Clone, Copy, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Reach {
        /// A single step.
        #[default]
        NextOne,
        /// Any.
        Any,
    }

    /// Walks in steps.
    #[derive(serde::Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Walk {
        /// The length of a step.
        #[schemars(extend("x-source" = "section 1", "x-unit" = "feet"))]
        step: f64,
        /// How far it goes.
        #[serde(default)]
        #[schemars(extend("x-source" = "reading"))]
        reach: Reach,
        /// The places between which it leads.
        ends: Ends,
    }

    /// The ends of a walk.
    #[derive(serde::Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Ends {
        /// Its start.
        #[schemars(extend("x-source" = "-", "x-default" = "here"))]
        from: Option<u32>,
    }

    /// A way to move.
    #[derive(JsonSchema)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Move {
        /// On foot.
        #[schemars(extend("x-source" = "a book"))]
        Walk(Walk),
        /// Not at all.
        Rest(Ends),
    }

    fn row(Parameter { name, unit, default, meaning, source }: &Parameter) -> String {
        format!("{name}; {unit}; {default}; {meaning}; {source}")
    }

    #[test]
    fn a_struct_lists_its_parameters() {
        let Description { summary, parameters, .. } = describe::<Walk>();
        assert_eq!(summary, "Walks in steps.");
        assert_eq!(parameters.iter().map(Parameter::is_required).collect::<Vec<_>>(), [true, false, false]);
        let rows: Vec<_> = parameters.iter().map(row).collect();
        assert_eq!(
            rows,
            [
                "step; feet; must be given; The length of a step.; section 1",
                "reach; next_one | any; next_one; How far it goes.; reading",
                "ends.from; integer; here; Its start.; -",
            ]
        );
    }

    #[test]
    fn ranges_are_units() {
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Ranges {
            #[schemars(range(min = 0.0, max = 1.5))]
            closed: f64,
            #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
            half: f64,
            #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
            other_half: f64,
            #[schemars(extend("exclusiveMinimum" = 0.0))]
            optional: Option<f64>,
            #[schemars(range(min = 1), extend("x-unit" = "steps"))]
            named: u32,
            #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = "500 ms"))]
            wait: Option<Duration>,
        }
        let units: Vec<_> = describe::<Ranges>().parameters.into_iter().map(|each| each.unit).collect();
        assert_eq!(
            units,
            ["0 to 1.5", "above 0, at most 1", "from 0, below 1", "above 0", "steps", "time above 0 s, at most 500 ms"]
        );
    }

    #[test]
    fn a_table_lists_its_kinds() {
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Document {
            how: Move,
        }
        let schema = schemars::schema_for!(Document).to_value();
        let kinds = kinds(&schema, "Move");
        let names: Vec<_> = kinds.iter().map(|(name, walk)| (name.as_str(), walk.summary.as_str())).collect();
        assert_eq!(names, [("walk", "On foot."), ("rest", "Not at all.")]);
        assert_eq!((kinds[0].1.source.as_str(), kinds[0].1.parameters.len()), ("a book", 3));
        assert_eq!(row(&kinds[1].1.parameters[0]), "from; integer; here; Its start.; -");
    }
}
