//! The senders of flows with `access`: a node per connection, and a link that makes the connection's round trip.

use super::document::Document;
use super::flow::{AccessDocument, FlowDocument, RoundTripDocument, RoundTrips, TcpFlowDocument};
use super::frame::{Nodes, Result, check, flow_path, node_index, refuse};
use super::link::{self, LinkDocument, Wire};
use super::quantity::BufferSize;
use super::sleep::PathMetric;
use crate::net::routing::{Edge, Routes};
use crate::traffic::FlowPath;
use netlull_units::Duration;
use std::borrow::Cow;

/// The maximum number of connections with senders of their own in a flow: routing takes the square of the nodes.
const MOST_SENDERS: u32 = 1000;

/// The document with the nodes and links of all senders. The flows themselves stay as they are.
pub(super) fn with_senders(document: &Document) -> Result<Cow<'_, Document>> {
    if !document.flow.iter().any(|flow| has_access(flow).is_some()) {
        return Ok(Cow::Borrowed(document));
    }
    let nodes = node_index(&document.nodes)?;
    let wires = link::wire_up(&document.link, document.routing.metric == PathMetric::Hops, &nodes)?;
    let mut whole = document.clone();
    for (flow, access) in document.flow.iter().filter_map(has_access) {
        let field = format!("flow.{}", flow.name);
        check(&field, flow)?;
        if flow.count > MOST_SENDERS {
            let message = format!("is {} with `access`; expected at most {MOST_SENDERS}", flow.count);
            return refuse(format!("{field}.count"), message);
        }
        let base = two_way(&nodes, &wires, flow, &field)?;
        let field = format!("{field}.access.round_trip");
        for (number, round_trip) in (0..).zip(round_trips(&access.round_trip, flow.count, &field)?) {
            if round_trip < base {
                let place =
                    if let RoundTrips::Each(_) = access.round_trip { number.to_string() } else { "from".into() };
                let expected = format!("expected at least the round trip from \"{}\", {base}", flow.from);
                return refuse(format!("{field}.{place}"), format!("is {round_trip}; {expected}"));
            }
            let name = flow.connection(number);
            whole.link.push(access_link(access, &name, &flow.from, (round_trip - base) / 2));
            whole.nodes.push(name);
        }
    }
    Ok(Cow::Owned(whole))
}

fn has_access(flow: &FlowDocument) -> Option<(&TcpFlowDocument, &AccessDocument)> {
    let FlowDocument::Tcp(flow) = flow else { return None };
    Some((flow, flow.access.as_ref()?))
}

/// The round trip of every connection. Evenly spaced ones begin with `from` and end with `to`.
#[allow(clippy::cast_possible_truncation)]
fn round_trips(given: &RoundTrips, count: u32, field: &str) -> Result<Vec<Duration>> {
    match given {
        RoundTrips::Each(list) if list.len() != count as usize => {
            refuse(field, format!("is a list of {}; expected {count}, one for each connection", list.len()))
        }
        RoundTrips::Each(list) => Ok(list.clone()),
        RoundTrips::Spaced(RoundTripDocument { from, to }) if to < from => {
            refuse(format!("{field}.to"), format!("is {to}; expected at least {from}"))
        }
        RoundTrips::Spaced(RoundTripDocument { from, to }) => {
            let last = u128::from(count.saturating_sub(1).max(1));
            let above = |number: u32| u128::from((*to - *from).as_nanos()) * u128::from(number) / last;
            Ok((0..count).map(|number| *from + Duration::from_nanos(above(number) as u64)).collect())
        }
    }
}

fn access_link(access: &AccessDocument, sender: &str, to: &str, delay: Duration) -> LinkDocument {
    LinkDocument {
        name: None,
        from: sender.to_owned(),
        to: to.to_owned(),
        duplex: true,
        rate: access.rate,
        port_speed: None,
        overhead: None,
        delay,
        buffer: BufferSize::Unlimited,
        buffer_floor: 1,
        queue: None,
        cost: 1,
        controller: None,
        capacity: None,
        loss: None,
        noise: None,
        late: Vec::new(),
        aggregation: None,
        air: None,
    }
}

/// The two-way propagation delay between the ends of a flow, without its senders.
fn two_way(nodes: &Nodes<'_>, wires: &[Wire<'_>], flow: &TcpFlowDocument, field: &str) -> Result<Duration> {
    let FlowPath { from, to, .. } = flow_path(nodes, &flow.name, &flow.from, &flow.to)?;
    let edges: Vec<Edge> = wires.iter().map(|wire| wire.edge).collect();
    let routes = Routes::shortest(nodes.len(), &edges, &[from, to]);
    let delay = |from, to| {
        let path = routes.path(from, to, &edges)?;
        Some(path.iter().map(|link| wires[link.index()].document.delay).sum::<Duration>())
    };
    match (delay(from, to), delay(to, from)) {
        (Some(there), Some(back)) => Ok(there + back),
        _ => refuse(
            format!("{field}.to"),
            format!("no links lead from \"{}\" to \"{}\" and back; expected a route each way", flow.from, flow.to),
        ),
    }
}
