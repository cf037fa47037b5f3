//! Time series of a run: columns, written only for the requested probes. Recording never changes a run.

mod pcapng;
mod senders;

pub use netlull_network::probe::{
    AirRow, AirTime, Column, EventTables, FlowSample, GatewaySample, GatewayTable, GatewayTruth, LinkSample, Recorder,
    RequestRow, RequestTable, StationProbe, Table, Word, ssthresh,
};
pub use pcapng::{CaptureError, CaptureWriter, Host};
pub use senders::{SenderProbe, SenderTables};

use crate::net::ids::{FlowId, LinkId};
use crate::traffic::Record;
use netlull_network::probe::{ArrivalRow, arrivals};

/// Records the packets offered to some links.
pub struct ArrivalProbe {
    /// The record of each link; `None` for links without a record.
    logs: Vec<Option<Log>>,
    /// For every flow, true if its packets are recorded.
    flows: Vec<bool>,
    /// The recording of flow names.
    names: Naming,
}

/// The recording of a packet's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Does not record the flow: for a replay.
    Nameless,
    /// Records the flow: for a table.
    Flows,
}

#[derive(Default)]
struct Log {
    record: Record,
    flows: Vec<u32>,
}

impl ArrivalProbe {
    /// Creates a probe of the links in `recorded`, out of `links` links, for the chosen flows.
    #[must_use]
    pub fn new(links: usize, recorded: &[usize], flows: Vec<bool>, names: Naming) -> Self {
        let log = |link: usize| recorded.contains(&link).then(Log::default);
        Self { logs: (0..links).map(log).collect(), flows, names }
    }

    /// Returns true if packets offered to this link are recorded.
    #[must_use]
    pub fn records(&self, link: LinkId) -> bool {
        self.logs[link.index()].is_some()
    }

    /// Records a packet of a flow that is offered to a link at `time` nanoseconds.
    pub fn offered(&mut self, time: u64, link: LinkId, flow: FlowId, size: u32) {
        let Some(log) = &mut self.logs[link.index()] else { return };
        if self.flows[flow.index()] {
            log.record.push(time, size);
            if self.names == Naming::Flows {
                log.flows.push(flow.number());
            }
        }
    }

    /// The record of this link.
    #[must_use]
    pub fn into_record(mut self, link: LinkId) -> Record {
        self.logs[link.index()].take().map(|log| log.record).unwrap_or_default()
    }

    /// The table, sorted by time, then by link.
    #[must_use]
    pub fn into_table(self) -> Table {
        let mut rows: Vec<ArrivalRow> = Vec::new();
        for (link, log) in (0..).zip(self.logs) {
            let Some(Log { record, flows }) = log else { continue };
            rows.extend(record.iter().zip(flows).map(|((time, size), flow)| ArrivalRow { time, link, flow, size }));
        }
        arrivals(rows)
    }
}
