//! Every packet offered to a link (table `arrivals`).

use super::tables::{Column, Table};

/// A packet offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalRow {
    /// The time in nanoseconds.
    pub time: u64,
    /// The index of the link.
    pub link: u32,
    /// The index of the packet's flow.
    pub flow: u32,
    /// The packet's size in bytes.
    pub size: u32,
}

/// Builds the table `arrivals`, ordered by time and then link. Simultaneous packets at a link keep their order of
/// arrival.
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
