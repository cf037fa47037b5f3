//! Routes of the flows, and the longest round-trip time of each link.

use super::flow::Flows;
use super::frame::{Nodes, Result, ScenarioError};
use super::link::Wire;
use crate::net::ids::LinkId;
use crate::net::routing::{Edge, Routes};
use crate::traffic::FlowPath;
use netlull_units::Duration;

pub(super) fn routes(nodes: &Nodes<'_>, wires: &[Wire<'_>], flows: &Flows) -> Routes {
    let ends = |(path, answered): (&FlowPath, bool)| [Some(path.to), answered.then_some(path.from)];
    let mut destinations: Vec<usize> = flows.ways().flat_map(ends).flatten().collect();
    destinations.sort_unstable();
    destinations.dedup();
    Routes::shortest(nodes.len(), &wires.iter().map(|wire| wire.edge).collect::<Vec<_>>(), &destinations)
}

/// For every link, the two-way propagation delay of the longest route of any flow across it.
///
/// For a link without flows, it is twice the link's own delay. Refuses a flow without a route to its destination, or
/// without a route for TCP's acknowledgements.
pub(super) fn two_way_delays(
    names: &[String],
    wires: &[Wire<'_>],
    routes: &Routes,
    flows: &Flows,
) -> Result<Vec<Duration>> {
    let edges: Vec<Edge> = wires.iter().map(|wire| wire.edge).collect();
    let path = |flow: &FlowPath, from: usize, to: usize, whose: &str| {
        routes.path(from, to, &edges).ok_or_else(|| {
            let message =
                format!("{whose} cannot get there: no links lead from \"{}\" to \"{}\"", names[from], names[to]);
            ScenarioError::new(format!("flow.{}.to", flow.name), message)
        })
    };
    let delay = |path: &[LinkId]| path.iter().map(|&link| wires[link.index()].document.delay).sum::<Duration>();
    let mut longest = vec![Duration::ZERO; wires.len()];
    let mut across = |path: &[LinkId], two_way: Duration| {
        for &link in path {
            longest[link.index()] = longest[link.index()].max(two_way);
        }
    };
    for (flow, answered) in flows.ways() {
        let there = path(flow, flow.from, flow.to, "its data")?;
        if !answered {
            across(&there, delay(&there) * 2);
            continue;
        }
        let back = path(flow, flow.to, flow.from, "the acknowledgements of its data")?;
        let two_way = delay(&there) + delay(&back);
        across(&there, two_way);
        across(&back, two_way);
    }
    let own = |(longest, wire): (Duration, &Wire<'_>)| longest.max(wire.document.delay * 2);
    Ok(longest.into_iter().zip(wires).map(own).collect())
}

/// For every link, the TCP and datagram flows that cross it in either direction: index (TCP flows first) and name.
///
/// A request's packet identifies its connection, not its flow. Hence losses by number do not apply to request flows.
pub(super) fn crossing<'a>(wires: &[Wire<'_>], routes: &Routes, flows: &'a Flows) -> Vec<Vec<(u32, &'a str)>> {
    let edges: Vec<Edge> = wires.iter().map(|wire| wire.edge).collect();
    let mut crossing: Vec<Vec<(u32, &str)>> = vec![Vec::new(); wires.len()];
    let numbered = flows.tcp.len() + flows.datagrams.len();
    for (flow, (path, answered)) in (0..).zip(flows.ways()).take(numbered) {
        let there = routes.path(path.from, path.to, &edges).unwrap_or_default();
        let back = if answered { routes.path(path.to, path.from, &edges).unwrap_or_default() } else { Vec::new() };
        for link in there.into_iter().chain(back) {
            let flows = &mut crossing[link.index()];
            if flows.last().is_none_or(|(last, _)| *last != flow) {
                flows.push((flow, path.name.as_str()));
            }
        }
    }
    crossing
}
