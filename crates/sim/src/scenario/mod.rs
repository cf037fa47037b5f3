//! Scenarios: the document that users write, and the checked scenario that runs.

mod components;
pub mod document;
mod error;
mod estimate;
mod files;
mod foreign;
mod host;
mod load;
mod network;
mod options;
mod quantity;
mod read;
mod resolve;
mod tcp_options;
mod topology;

pub use components::Components;
pub use error::ScenarioError;
pub(crate) use error::listed;
pub use host::{Family, File, Folder, Host, LARGEST_NETWORK, Module, PlugIn, own_network};
pub use load::{Checked, Source, load, load_directly, spelled_out};
pub use options::RunOptions;
pub use quantity::{BufferSize, TransferSize};
pub use read::read_document;
pub use resolve::{
    AirSpec, ArrivalPattern, Capacity, Control, DatagramFlow, FlowPath, LinkSpec, NamedPower, Nap, Offer, PhaseSpec,
    ProbeSpec, Recording, RequestFlow, RoutingSpec, Scenario, SleepSpec, StationSpec, TcpFlow, Writes,
};

/// The JSON Schema of a scenario document, for editors.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let mut generator = schemars::SchemaGenerator::default();
    let topology = generator.subschema_for::<topology::TopologyDocument>();
    let mut schema = generator.into_root_schema_for::<document::Document>();
    schema.insert("title".to_owned(), "netlull scenario".into());
    // The topology is expanded before a document is read, and then gives nodes as well.
    schema.insert("anyOf".to_owned(), serde_json::json!([{ "required": ["nodes"] }, { "required": ["topology"] }]));
    let mut schema = schema.to_value();
    let mut reference = topology.to_value();
    reference["description"] = "Nodes and links from a file, in addition to those given here.".into();
    schema["properties"]["topology"] = reference;
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|field| field != "nodes");
    }
    with_repetition(&mut schema);
    schema
}

/// Adds a second form of the entries of lists: one that is written once for many.
fn with_repetition(schema: &mut serde_json::Value) {
    use serde_json::json;
    for (_, list) in schema["properties"].as_object_mut().into_iter().flatten() {
        if let Some(entry) = list.get("items").filter(|items| items.get("$ref").is_some()).cloned() {
            list["items"] = json!({ "anyOf": [entry, { "$ref": "#/$defs/Repeated" }] });
        }
    }
    schema["$defs"]["Repeated"] = json!({
        "type": "object",
        "description": "An entry that is written once for many (docs/how-to/scenario.md): `each` repeats it for the values of \
            names, `entries` have its other fields in common.",
        "allOf": [{ "anyOf": [{ "required": ["each"] }, { "required": ["entries"] }] }],
    });
}
