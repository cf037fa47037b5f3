//! What a run records over time: columns, written only for the probes asked for. Recording never changes a run.

mod pcapng;
mod senders;
mod tables;

pub use pcapng::{CaptureError, CaptureWriter, Host};
pub use senders::{SenderProbe, SenderTables};
pub use tables::{Column, EventTables, FlowSample, LinkSample, Recorder, Table};
