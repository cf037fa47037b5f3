//! Scenarios: the document that users write, and the checked scenario that runs; the options of a run; the schema.
//!
//! A topic is one file: the fields that users write, their check, and the part that runs. No import goes in a circle:
//!
//! ```text
//!   frame ◄─ loss, arrival, queue, link, requests, flow, sleep, station, report ◄─ document ◄─ checked ◄─ recording, plug_ins, load
//! ```

mod access;
mod arrival;
mod checked;
pub mod document;
mod estimate;
mod files;
mod flow;
mod frame;
mod host;
mod link;
mod load;
mod loss;
mod network;
mod offers;
mod paths;
mod plug_ins;
mod quantity;
mod queue;
mod read;
mod recording;
mod report;
mod requests;
mod sleep;
mod station;
mod topology;
mod traffic;

pub use crate::traffic::{ArrivalPattern, DatagramFlow, FlowPath, RequestFlow};
pub use checked::{Recording, Scenario};
pub use estimate::Components;
pub use flow::{TcpFlow, WriteStep, Writes};
pub use frame::ScenarioError;
pub(crate) use frame::listed;
pub use host::{Family, File, Folder, Host, LARGEST_NETWORK, Module, PlugIn, own_network};
pub use link::{AirSpec, Capacity, ControlSpec, LinkSpec};
pub use load::{Checked, Source, load, load_directly, spelled_out};
pub use offers::Offer;
pub use quantity::{BufferSize, TransferSize};
pub use read::read_document;
pub use report::{NamedPower, PhaseSpec, ProbeSpec};
pub use sleep::{Nap, RoutingSpec, SleepSpec};
pub use station::StationSpec;

use document::{Document, ProbeDocument, Verify};
use frame::check_seed;
use read::read_value;
use report::probe;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The options of a run. `None` keeps the scenario's own value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOptions {
    /// The seed of every random stream.
    pub seed: Option<u64>,
    /// The time series to record.
    pub probe: Option<ProbeDocument>,
    /// The verifier.
    pub verify: Option<Verify>,
}

impl RunOptions {
    /// Reads options; `probe` is a table in JSON.
    ///
    /// # Errors
    /// Names the field, its value and the expectation, as [`read_document`] does.
    pub fn read(seed: Option<u64>, probe: Option<&str>, verify: Option<&str>) -> Result<Self, ScenarioError> {
        let mut fields = Map::new();
        if let Some(probe) = probe {
            let table = serde_json::from_str(probe);
            let table = table.map_err(|error| ScenarioError::new("probe", format!("is not JSON: {error}")))?;
            fields.insert("probe".to_owned(), table);
        }
        if let Some(verify) = verify {
            fields.insert("verify".to_owned(), verify.into());
        }
        Ok(Self { seed, ..read_value(&Value::Object(fields))? })
    }

    /// Returns a document in JSON with every default filled in. These options replace its fields.
    ///
    /// # Errors
    /// If the text is not such a document.
    pub fn set_in(&self, document: &str) -> serde_json::Result<String> {
        let mut fields: Map<String, Value> = serde_json::from_str(document)?;
        let Self { seed, probe, verify } = self;
        let options = [
            ("seed", seed.map(serde_json::to_value)),
            ("probe", probe.as_ref().map(serde_json::to_value)),
            ("verify", verify.map(serde_json::to_value)),
        ];
        for (name, value) in options {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value?);
            }
        }
        serde_json::to_string(&fields)
    }

    /// Returns these options, with those of `earlier` where these keep the scenario's own value.
    #[must_use]
    pub fn after(&self, earlier: &Self) -> Self {
        let Self { seed, probe, verify } = self.clone();
        Self {
            seed: seed.or(earlier.seed),
            probe: probe.or_else(|| earlier.probe.clone()),
            verify: verify.or(earlier.verify),
        }
    }
}

impl Scenario {
    /// Checks a document and resolves every name in it.
    ///
    /// # Errors
    /// Names the first invalid field, its value and the expectation.
    pub fn from_document(document: &Document) -> Result<Self, ScenarioError> {
        let document = access::with_senders(document)?;
        match &document.recording {
            Some(recording) => recording::two_runs(&document, recording),
            None => Self::resolve(&document, &[]),
        }
    }

    /// Returns the scenario with these options in place of its own. The rest is not checked again.
    ///
    /// # Errors
    /// Names the option, its value and the expectation.
    pub fn with_options(&self, options: &RunOptions) -> Result<Self, ScenarioError> {
        let mut changed = self.clone();
        if let Some(seed) = options.seed {
            check_seed(seed)?;
            changed.seed = seed;
        }
        if let Some(wanted) = &options.probe {
            changed.probe = probe(wanted, self.duration, &self.links, self.flow_paths())?;
        }
        changed.verify = options.verify.unwrap_or(self.verify);
        Ok(changed)
    }
}

/// The JSON Schema of a scenario document, for editors.
#[must_use]
pub fn json_schema() -> Value {
    let mut generator = schemars::SchemaGenerator::default();
    let topology = generator.subschema_for::<topology::TopologyDocument>();
    let mut schema = generator.into_root_schema_for::<Document>();
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
fn with_repetition(schema: &mut Value) {
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
