//! The table `gateway` of an emulation: the estimates of gateways, and the true values from the hosts' packets.

use super::connections::Connections;
use super::controls::Controls;
use super::ids::{ById, ConnectionId, FlowId, Id, LinkId};
use netlull_network::plan::{FlowPlan, Plan};
use netlull_network::probe::{GatewaySample, GatewayTable, Seen, Sums, Table};
use netlull_units::Instant;

/// The recorder of the table.
#[derive(Debug)]
pub struct GatewayProbe {
    table: GatewayTable,
    watched: Vec<Watched>,
}

/// The link of a gateway.
#[derive(Debug)]
struct Watched {
    link: LinkId,
    /// Whether a flow's data crosses the link, by flow.
    crosses: ById<FlowId, bool>,
    seen: Seen,
}

impl GatewayProbe {
    /// Creates a recorder for the probed links with gateways; `None` without such links or bins.
    #[must_use]
    pub fn new(plan: &Plan) -> Option<Self> {
        plan.probe.interval?;
        let steers = |link: u32| {
            plan.links[link as usize].control.as_ref().is_some_and(|control| control.acknowledgements.is_some())
        };
        let mut links: Vec<u32> = plan.probe.links.iter().copied().filter(|&link| steers(link)).collect();
        links.sort_unstable();
        links.dedup();
        let watch = |link: u32| {
            let crosses = plan.flows.iter().map(|flow| crosses(plan, flow, link)).collect();
            Watched { link: LinkId::numbered(link), crosses, seen: Seen::default() }
        };
        let watched: Vec<Watched> = links.into_iter().map(watch).collect();
        (!watched.is_empty()).then(|| Self { table: GatewayTable::default(), watched })
    }

    /// Notes data of a connection offered to a link.
    pub fn offered(&mut self, link: LinkId, connection: ConnectionId) {
        if let Some(watched) = self.watched.iter_mut().find(|watched| watched.link == link) {
            watched.seen.saw(connection.index(), u64::from(connection.number()));
        }
    }

    /// Records a bin.
    pub fn sample(&mut self, now: Instant, controls: &Controls, connections: &mut Connections) {
        for Watched { link, crosses, seen } in &mut self.watched {
            let Some(estimates) = controls.estimates(*link) else { continue };
            let mut sums = Sums::default();
            connections.loads(crosses, &mut sums);
            let sample = GatewaySample::of(estimates, sums.truth(seen.take()));
            self.table.push(now, link.number(), sample);
        }
        connections.restart_times();
    }

    /// The table.
    #[must_use]
    pub fn into_table(self) -> Table {
        self.table.into_table()
    }
}

/// Whether a flow's route uses a link. Routes of a plan have no loops.
fn crosses(plan: &Plan, flow: &FlowPlan, link: u32) -> bool {
    let mut node = flow.from;
    for _ in &plan.nodes {
        match plan.routes[node as usize].get(flow.to as usize).copied().flatten() {
            Some(next) if next == link => return true,
            Some(next) => node = plan.links[next as usize].to,
            None => return false,
        }
    }
    false
}
