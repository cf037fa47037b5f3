//! Every request of a run (table `request`).

use super::tables::{Column, Table};
use netlull_units::{Duration, Instant};

/// A request as a row tells of it.
#[derive(Clone, Copy, Debug)]
pub struct RequestRow {
    /// Index of its flow.
    pub flow: u32,
    /// When its SYN was sent.
    pub start: Instant,
    /// What it asked for, in bytes.
    pub size: u64,
    /// From the SYN to the last byte acknowledged; `None` if the run ended before.
    pub completion: Option<Duration>,
    /// Segments sent again by then.
    pub retransmissions: u64,
    /// Retransmission timeouts by then.
    pub timeouts: u64,
}

/// Collects table `request`.
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
    /// A request is complete, or the run is over.
    pub fn push(&mut self, row: &RequestRow) {
        self.start.push(row.start.as_secs_f64());
        self.flow.push(row.flow);
        self.size.push(row.size);
        self.completion.push(row.completion.map_or(f64::NAN, Duration::as_secs_f64));
        self.retransmissions.push(row.retransmissions);
        self.timeouts.push(row.timeouts);
    }

    /// The table.
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
