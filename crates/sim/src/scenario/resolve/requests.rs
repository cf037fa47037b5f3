//! Conversion of request flows in the document.

use super::flows::{flow_path, in_range, start};
use super::size_laws::size_law;
use super::{Nodes, RequestFlow, Result, refuse};
use crate::scenario::document::{Document, RequestsDocument};
use crate::scenario::tcp_options;
use netlull_units::Instant;

/// The maximum of `most_open` of a flow.
const MOST_OPEN: u32 = 1_000_000;

pub(super) fn request_flow(document: &Document, nodes: &Nodes<'_>, flow: &RequestsDocument) -> Result<RequestFlow> {
    let path = flow_path(nodes, &flow.name, &flow.from, &flow.to)?;
    let field = format!("flow.{}", flow.name);
    let start = start(&field, flow.start, document)?;
    let stop = flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
    if stop <= start {
        let (start, stop) = (start - Instant::ZERO, stop - Instant::ZERO);
        return refuse(format!("{field}.stop"), format!("is {stop}; expected a time after the start, {start}"));
    }
    if !(1..=MOST_OPEN).contains(&flow.most_open) {
        return refuse(format!("{field}.most_open"), format!("is {}; expected 1 to {MOST_OPEN}", flow.most_open));
    }
    Ok(RequestFlow {
        path,
        offered: in_range(&format!("{field}.offered"), flow.offered)?,
        sizes: size_law(&format!("{field}.size"), &flow.size)?,
        start,
        stop,
        most_open: flow.most_open,
        config: tcp_options::config(&document.tcp, &flow.tcp, &field, document.mtu)?,
    })
}
