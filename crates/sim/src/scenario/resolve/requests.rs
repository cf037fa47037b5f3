//! Conversion of request flows in the document.

use super::control::check;
use super::flows::{flow_path, start, stop_after};
use super::size_laws::size_law;
use super::{Nodes, RequestFlow, Result};
use crate::scenario::document::{Document, RequestsDocument};
use crate::scenario::tcp_options;

pub(super) fn request_flow(document: &Document, nodes: &Nodes<'_>, flow: &RequestsDocument) -> Result<RequestFlow> {
    let path = flow_path(nodes, &flow.name, &flow.from, &flow.to)?;
    let field = format!("flow.{}", flow.name);
    let start = start(&field, flow.start, document)?;
    let stop = stop_after(&field, flow.stop, start)?;
    check(&field, flow)?;
    Ok(RequestFlow {
        path,
        offered: flow.offered,
        sizes: size_law(&format!("{field}.size"), &flow.size)?,
        start,
        stop,
        most_open: flow.most_open,
        config: tcp_options::config(&document.tcp, &flow.tcp, &field, document.mtu)?,
    })
}
