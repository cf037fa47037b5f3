//! Every packet that is offered to a link (table `arrivals`).

use super::tables::{Column, Table};

/// A packet that was offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalRow {
    /// When, in nanoseconds.
    pub time: u64,
    /// Index of the link.
    pub link: u32,
    /// Index of its flow.
    pub flow: u32,
    /// Its size in bytes.
    pub size: u32,
}

/// Rows as the table `arrivals`, in the order of time, then of links; packets at one instant stay in the order in which they came.
#[must_use]
pub fn arrivals(mut rows: Vec<ArrivalRow>) -> Table {
    rows.sort_by_key(|row| (row.time, row.link));
    let columns = vec![
        ("time_ns", Column::Count(rows.iter().map(|row| row.time).collect())),
        ("link", Column::Index(rows.iter().map(|row| row.link).collect())),
        ("flow", Column::Index(rows.iter().map(|row| row.flow).collect())),
        ("bytes", Column::Count(rows.iter().map(|row| u64::from(row.size)).collect())),
    ];
    Table::new("arrivals", columns)
}
