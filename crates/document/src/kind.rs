//! Tables with a `kind` field, which selects their parameters and options.

use crate::read::unknown_kind;
use crate::{Description, ReadError, describe, field_names, tagged};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserializer;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A kind of a table. Its parameters make a `T`; `P` are its properties for the program.
#[derive(Clone, Copy, Debug)]
pub struct Kind<T, P> {
    /// The kind's name in documents.
    pub name: &'static str,
    /// The properties.
    pub properties: P,
    /// The names of the parameters' fields, without the fields of nested tables. `None` for a kind that checks the names
    /// itself.
    pub fields: Option<fn() -> &'static [&'static str]>,
    /// The summary, source and parameters of the kind.
    pub describe: fn() -> Description,
    /// The JSON Schema of the table of parameters.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Reads the parameters from a table. An error names the field by its path, its value and the expectation.
    pub read: fn(&Value) -> Result<T, ReadError>,
}

impl<T, P> Kind<T, P> {
    /// Creates a kind with the parameters `C`.
    pub const fn new<C: DeserializeOwned + JsonSchema>(
        name: &'static str,
        properties: P,
        read: fn(&Value) -> Result<T, ReadError>,
    ) -> Self {
        let fields: fn() -> &'static [&'static str] = field_names::<C>;
        Self { name, properties, fields: Some(fields), describe: describe::<C>, schema: C::json_schema, read }
    }

    /// Creates a kind with fields besides those of `C`, whose names `read` checks.
    pub const fn open<C: JsonSchema>(
        name: &'static str,
        properties: P,
        read: fn(&Value) -> Result<T, ReadError>,
    ) -> Self {
        Self { name, properties, fields: None, describe: describe::<C>, schema: C::json_schema, read }
    }

    /// The schema of the kind's table with the fields of `options`.
    pub fn table(&self, generator: &mut SchemaGenerator, options: &[Schema]) -> Value {
        let parameters = (self.schema)(generator);
        match self.fields {
            Some(_) => schema_of_kind(self.name, parameters, options),
            None => schema_of_open_kind(self.name, parameters, options),
        }
    }
}

/// Finds the kind that a table names, and returns the table's other fields.
///
/// # Errors
/// If the value is not a table, or its `kind` is not the name of one of `kinds`.
pub fn kind_of_table<'de, T, P, D: Deserializer<'de>>(
    deserializer: D,
    kinds: &'static [Kind<T, P>],
) -> Result<(&'static Kind<T, P>, Value), D::Error> {
    let expected = kinds.iter().map(|kind| format!("\"{}\"", kind.name)).collect::<Vec<_>>().join(" ");
    let table = tagged(deserializer, &expected)?;
    let kind = kinds.iter().find(|kind| kind.name == table.kind);
    Ok((kind.ok_or_else(|| unknown_kind(&table.kind, &expected))?, table.fields))
}

/// Defines a struct that is one table in documents: the parameters of a kind, and options. The field after `if` is a
/// property of the kind; without it, the options do not apply.
///
/// ```text
/// table_of_kind! {
///     /// Its description, also in the schema.
///     pub struct Document {
///         /// The parameters, of one of `KINDS`.
///         pub parameters: Parameters = KINDS,
///         /// Options of some kinds, a field of type `Option<SomeOptions>`.
///         pub some: SomeOptions if takes_some,
///         /// Options of all kinds.
///         pub all: AllOptions,
///     }
/// }
/// ```
#[macro_export]
macro_rules! table_of_kind {
    (
        $(#[doc = $description:literal])+
        $visible:vis struct $type:ident {
            $(#[doc = $of_parameters:literal])*
            $of:vis $parameters:ident: $kind:ty = $kinds:expr,
            $($(#[doc = $of_part:literal])* $within:vis $part:ident: $options:ident $(if $property:ident)?),+ $(,)?
        }
    ) => {
        $(#[doc = $description])+
        #[derive(Clone, Debug, PartialEq, $crate::__serde::Serialize)]
        $visible struct $type {
            $(#[doc = $of_parameters])*
            #[serde(flatten)]
            $of $parameters: $kind,
            $(
                $(#[doc = $of_part])*
                #[serde(flatten)]
                $within $part: $crate::table_of_kind!(@type $options $(, $property)?),
            )+
        }

        impl<'de> $crate::__serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::__serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let (kind, fields) = $crate::kind_of_table(deserializer, $kinds)?;
                let mut fields = $crate::Fields::new(fields);
                $(let $part = $crate::table_of_kind!(@read $options, kind, fields, D $(, $property)?);)+
                let fields = fields.rest::<D::Error>(kind.fields.map(|names| names()))?;
                let $parameters = (kind.read)(&fields).map_err(|error| error.custom::<D::Error>())?;
                Ok(Self { $parameters, $($part),+ })
            }
        }

        impl $crate::__schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed(stringify!($type))
            }

            fn json_schema(generator: &mut $crate::__schemars::SchemaGenerator) -> $crate::__schemars::Schema {
                let mut tables = Vec::new();
                for kind in $kinds {
                    let mut options = Vec::new();
                    $(if true $(&& kind.properties.$property)? {
                        options.push(<$options as $crate::__schemars::JsonSchema>::json_schema(generator));
                    })+
                    tables.push(kind.table(generator, &options));
                }
                let description = [$($description),+].map(str::trim).join("\n");
                $crate::__schemars::json_schema!({ "description": description, "oneOf": tables })
            }
        }
    };
    (@type $options:ident) => {
        $options
    };
    (@type $options:ident, $property:ident) => {
        Option<$options>
    };
    (@read $options:ident, $kind:ident, $fields:ident, $d:ident) => {
        $fields.part::<$options, $d::Error>()?
    };
    (@read $options:ident, $kind:ident, $fields:ident, $d:ident, $property:ident) => {
        $kind.properties.$property.then(|| $fields.part::<$options, $d::Error>()).transpose()?
    };
}

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

/// The schema of a table of one kind that has more fields than its parameters.
#[must_use]
pub fn schema_of_open_kind(name: &str, parameters: Schema, options: &[Schema]) -> Value {
    let mut table = schema_of_kind(name, parameters, options);
    table["additionalProperties"] = Value::Bool(true);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Thresholds {
        low: u32,
    }

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Valve {
        thresholds: Thresholds,
    }

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Wall {
        height: u32,
    }

    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[serde(untagged)]
    enum Part {
        Valve(Valve),
        Wall(Wall),
    }

    #[derive(Clone, Copy)]
    struct Properties {
        opens: bool,
    }

    const KINDS: &[Kind<Part, Properties>] = &[
        Kind::new::<Valve>("valve", Properties { opens: true }, |fields| read(fields).map(Part::Valve)),
        Kind::new::<Wall>("wall", Properties { opens: false }, |fields| read(fields).map(Part::Wall)),
    ];

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Hinge {
        #[serde(default)]
        side: u32,
    }

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Paint {
        colour: String,
    }

    table_of_kind! {
        /// A part.
        struct Document {
            part: Part = KINDS,
            hinge: Hinge if opens,
            paint: Paint,
        }
    }

    fn why(value: &Value) -> String {
        read::<Document>(value).unwrap_err().to_string()
    }

    #[test]
    fn a_kind_may_have_a_nested_table() {
        let valve = json!({ "kind": "valve", "thresholds": { "low": 3 }, "colour": "red" });
        let part = Part::Valve(Valve { thresholds: Thresholds { low: 3 } });
        let paint = || Paint { colour: "red".to_owned() };
        let hinge = Some(Hinge { side: 0 });
        assert_eq!(read::<Document>(&valve).unwrap(), Document { part, hinge, paint: paint() });
        let wall = json!({ "kind": "wall", "height": 2, "colour": "red" });
        let part = Part::Wall(Wall { height: 2 });
        assert_eq!(read::<Document>(&wall).unwrap(), Document { part, hinge: None, paint: paint() });
    }

    #[test]
    fn errors_list_the_fields_of_the_kind_and_its_options() {
        let valve = |field: &str| why(&json!({ "kind": "valve", "colour": "red", field: 1 }));
        assert_eq!(valve("low"), "\"low\" is unknown; expected one of thresholds, side, colour");
        assert_eq!(valve("side"), "thresholds: is missing; expected a table");
        let wall = |field: &str| why(&json!({ "kind": "wall", "height": 2, "colour": "red", field: 1 }));
        assert_eq!(wall("side"), "\"side\" is unknown; expected one of height, colour");
        assert_eq!(why(&json!({ "kind": "wall", "height": 2 })), "colour: is missing; expected text");
        assert_eq!(why(&json!({ "kind": "door" })), "kind: \"door\" is unknown; expected one of valve, wall");
        let low = json!({ "kind": "valve", "colour": "red", "thresholds": {} });
        assert!(why(&low).starts_with("thresholds.low: is missing; expected a whole number"));
    }

    #[test]
    fn the_schema_lists_the_kinds_with_their_options() {
        let schema = schemars::schema_for!(Document).to_value();
        let fields = |kind: usize| {
            let properties = schema["oneOf"][kind]["properties"].as_object().unwrap();
            properties.keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(schema["description"], "A part.");
        assert_eq!(fields(0), ["kind", "thresholds", "side", "colour"]);
        assert_eq!(fields(1), ["kind", "height", "colour"]);
    }
}
