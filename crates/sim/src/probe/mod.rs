//! What a run records over time: columns, written only for the probes asked for. Recording never changes a run.

mod arrivals;
mod gateways;
mod pcapng;
mod requests;
mod senders;
mod stations;
mod tables;

pub use arrivals::{ArrivalProbe, Naming};
pub use gateways::{GatewaySample, GatewayTable, GatewayTruth};
pub use pcapng::{CaptureError, CaptureWriter, Host};
pub use requests::{RequestRow, RequestTable};
pub use senders::{SenderProbe, SenderTables};
pub use stations::{AirRow, StationProbe};
pub use tables::{Column, EventTables, FlowSample, LinkSample, Recorder, Table};
