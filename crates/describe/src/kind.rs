//! JSON Schemas of tables with a `kind` field.

use schemars::Schema;
use serde_json::{Map, Value, json};

/// The schema of a table of one kind: the kind's parameters, then the fields of `options`, all of them optional.
#[must_use]
pub fn schema_of_kind(name: &str, parameters: Schema, options: &[Schema]) -> Value {
    let parameters = parameters.to_value();
    let mut properties = Map::new();
    properties.insert("kind".to_owned(), json!({ "type": "string", "const": name }));
    for part in std::iter::once(&parameters).chain(options.iter().map(Schema::as_value)) {
        let fields = part.get("properties").and_then(Value::as_object).cloned();
        properties.extend(fields.unwrap_or_default());
    }
    let given = parameters.get("required").and_then(Value::as_array).into_iter().flatten().cloned();
    let required: Vec<Value> = std::iter::once(Value::from("kind")).chain(given).collect();
    json!({
        "type": "object",
        "description": parameters["description"],
        "x-source": parameters["x-source"],
        "properties": properties,
        "additionalProperties": false,
        "required": required,
    })
}
