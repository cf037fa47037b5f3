//! The parameters of a configuration, as people see them, from its JSON Schema.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// A configuration struct as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its first sentence.
    pub summary: String,
    /// Where it is described.
    pub source: String,
    /// Its parameters, in the order of its fields.
    pub parameters: Vec<Parameter>,
}

/// One parameter of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The field's name in documents.
    pub name: String,
    /// The unit or the choices.
    pub unit: String,
    /// The default as a document would have it.
    pub default: String,
    /// Its meaning, with the paper's symbol.
    pub meaning: String,
    /// The paper, RFC or assumption that gives the default.
    pub source: String,
}

/// The description of a configuration struct.
#[must_use]
pub fn description<T: JsonSchema>() -> Description {
    let mut generator = SchemaGenerator::default();
    let schema = T::json_schema(&mut generator).to_value();
    let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let summary = text("description").split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let definitions = generator.take_definitions(true);
    Description { summary, source: text("x-source"), parameters: listed(&schema, &definitions) }
}

/// The parameters of a configuration struct.
#[must_use]
pub fn parameters<T: JsonSchema>() -> Vec<Parameter> {
    description::<T>().parameters
}

fn listed(schema: &Value, definitions: &Map<String, Value>) -> Vec<Parameter> {
    let required = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|each| each == name))
    };
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    fields
        .map(|(name, field)| {
            let text = |key: &str| field.get(key).and_then(Value::as_str).map(str::to_owned);
            let default = || match field.get("default") {
                _ if required(name) => "must be given".to_owned(),
                Some(Value::Null) | None => "none".to_owned(),
                Some(Value::String(text)) => text.clone(),
                Some(Value::Object(table)) => {
                    table.get("kind").unwrap_or(&Value::Null).as_str().unwrap_or("").to_owned()
                }
                Some(other) => other.to_string(),
            };
            Parameter {
                name: name.clone(),
                unit: text("x-unit").unwrap_or_else(|| unit(field, definitions)),
                default: text("x-default").unwrap_or_else(default),
                meaning: text("description").unwrap_or_default().replace('\n', " "),
                source: text("x-source").unwrap_or_default(),
            }
        })
        .collect()
}

/// The unit or the choices that a field's type tells.
fn unit(field: &Value, definitions: &Map<String, Value>) -> String {
    if let Some(reference) = field.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        return match name {
            "Time" => "time".to_owned(),
            "Data" => "data".to_owned(),
            "Rate" => "bit rate".to_owned(),
            "Power" => "power".to_owned(),
            other => definitions.get(other).map_or_else(|| other.to_owned(), |schema| unit(schema, definitions)),
        };
    }
    if let Some(choices) = field.get("oneOf").or_else(|| field.get("anyOf")).and_then(Value::as_array) {
        let choices: Vec<String> = choices.iter().map(|choice| unit(choice, definitions)).collect();
        return choices.into_iter().filter(|choice| choice != "null").collect::<Vec<_>>().join(" | ");
    }
    if let Some(kind) = field.pointer("/properties/kind/const").or_else(|| field.get("const")) {
        return kind.as_str().map_or_else(|| kind.to_string(), str::to_owned);
    }
    if let Some(names) = field.get("enum").and_then(Value::as_array) {
        return names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ");
    }
    match field.get("type") {
        Some(Value::String(kind)) if kind == "boolean" => "true | false".to_owned(),
        Some(Value::String(kind)) if kind == "string" => "text".to_owned(),
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            let known = kinds.iter().filter_map(Value::as_str).filter(|&kind| kind != "null");
            known.collect::<Vec<_>>().join(" | ")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far.
    #[derive(Clone, Copy, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Reach {
        /// One step.
        #[default]
        NextOne,
        /// Any.
        Any,
    }

    /// Walks in steps.
    ///
    /// More about it.
    #[derive(serde::Deserialize, JsonSchema)]
    #[schemars(extend("x-source" = "a book"))]
    #[allow(dead_code)]
    struct Walk {
        /// The length of a step.
        #[schemars(extend("x-source" = "section 1", "x-unit" = "feet"))]
        step: f64,
        /// How far it goes.
        #[serde(default)]
        #[schemars(extend("x-source" = "reading"))]
        reach: Reach,
        /// Its start.
        #[schemars(extend("x-source" = "-", "x-default" = "here"))]
        from: Option<u32>,
    }

    #[test]
    fn a_struct_lists_its_parameters() {
        let walk = description::<Walk>();
        assert_eq!((walk.summary.as_str(), walk.source.as_str()), ("Walks in steps.", "a book"));
        let row = |n: usize| {
            let Parameter { name, unit, default, meaning, source } = &walk.parameters[n];
            [name, unit, default, meaning, source].map(String::as_str).join("; ")
        };
        assert_eq!(row(0), "step; feet; must be given; The length of a step.; section 1");
        assert_eq!(row(1), "reach; next_one | any; next_one; How far it goes.; reading");
        assert_eq!(row(2), "from; integer; here; Its start.; -");
    }
}
