//! Every request of a run (table `request`).

use super::tables::{Column, Table};
use netlull_units::{Duration, Instant};

/// A row of table `request`.
#[derive(Clone, Copy, Debug)]
pub struct RequestRow {
    /// The index of the request's flow.
    pub flow: u32,
    /// The time of the SYN.
    pub start: Instant,
    /// The requested size in bytes.
    pub size: u64,
    /// The time from the SYN to the acknowledgement of the last byte; `None` if the run ended before.
    pub completion: Option<Duration>,
    /// Retransmitted segments until then.
    pub retransmissions: u64,
    /// Retransmission timeouts until then.
    pub timeouts: u64,
}

/// The recorder of table `request`.
#[derive(Default)]
pub struct RequestTable {
    start: Vec<f64>,
    flow: Vec<u32>,
    size: Vec<u64>,
    completion: Vec<f64>,
    retransmissions: Vec<u64>,
    timeouts: Vec<u64>,
}

impl RequestTable {
    /// Appends a completed request, or a request that is open at the end of the run.
    pub fn push(&mut self, row: &RequestRow) {
        self.start.push(row.start.as_secs_f64());
        self.flow.push(row.flow);
        self.size.push(row.size);
        self.completion.push(row.completion.map_or(f64::NAN, Duration::as_secs_f64));
        self.retransmissions.push(row.retransmissions);
        self.timeouts.push(row.timeouts);
    }

    /// Builds the table.
    #[must_use]
    pub fn into_table(self) -> Table {
        use Column::{Count, Float, Index};
        Table::new(
            "request",
            vec![
                ("start_s", Float(self.start)),
                ("flow", Index(self.flow)),
                ("size_bytes", Count(self.size)),
                ("completion_s", Float(self.completion)),
                ("retransmissions", Count(self.retransmissions)),
                ("timeouts", Count(self.timeouts)),
            ],
        )
    }
}
