//! The tables recorded over time, in virtual time and in real time. A table is written only on request.

mod arrivals;
mod gateway_probe;
mod gateways;
mod requests;
mod stations;
mod tables;

pub use arrivals::{ArrivalRow, arrivals};
pub use gateway_probe::{Load, Seen, Sums, Timed};
pub use gateways::{GatewaySample, GatewayTable, GatewayTruth};
pub use requests::{RequestRow, RequestTable};
pub use stations::{AirRow, AirTime, CLOSED, StationProbe};
pub use tables::{Column, EventTables, FlowSample, LinkSample, Recorder, Table, Word, ssthresh};
