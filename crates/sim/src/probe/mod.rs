//! Time series of a run: columns, written only for the requested probes. Recording never changes a run.

mod arrivals;
mod pcapng;
mod senders;

pub use arrivals::{ArrivalProbe, Naming};
pub use netlull_network::probe::{
    AirRow, AirTime, Column, EventTables, FlowSample, GatewaySample, GatewayTable, GatewayTruth, LinkSample, Recorder,
    RequestRow, RequestTable, StationProbe, Table, Word, ssthresh,
};
pub use pcapng::{CaptureError, CaptureWriter, Host};
pub use senders::{SenderProbe, SenderTables};
