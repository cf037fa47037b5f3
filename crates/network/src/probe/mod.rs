//! The tables recorded over time, in virtual time and in real time. A table is written only on request.

mod gateway_probe;
mod stations;
mod tables;

pub use gateway_probe::{Load, Seen, Sums, Timed};
pub use stations::{AirRow, AirTime, CLOSED, StationProbe};
pub use tables::{
    ArrivalRow, Column, EventTables, FlowSample, GatewaySample, GatewayTable, GatewayTruth, LinkSample, Recorder,
    RequestRow, RequestTable, Table, Word, arrivals, ssthresh,
};
