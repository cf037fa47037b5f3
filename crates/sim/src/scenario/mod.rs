//! Scenarios: the document that users write, and the checked scenario that runs.

mod components;
pub mod document;
mod error;
mod estimate;
mod foreign;
mod options;
mod quantity;
mod read;
mod resolve;
mod tcp_options;

pub use components::Components;
pub use error::ScenarioError;
pub(crate) use error::listed;
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
    let mut schema = schemars::schema_for!(document::Document);
    schema.insert("title".to_owned(), "netlull scenario".into());
    schema.to_value()
}
