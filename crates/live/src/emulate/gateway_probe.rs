//! Table `gateway` of an emulation: what gateways estimate, and what is true as the packets at the hosts tell it.

use super::connections::Connections;
use super::controller::Controller;
use netlull_network::plan::Plan;
use netlull_network::probe::{GatewayTable, Seen, Sums, Table};
use netlull_units::Instant;

/// Fills the table.
#[derive(Debug)]
pub struct GatewayProbe {
    table: GatewayTable,
    watched: Vec<Watched>,
}

/// A gateway's link.
#[derive(Debug)]
struct Watched {
    link: u32,
    /// By flow: whether its data crosses the link.
    crosses: Vec<bool>,
    seen: Seen,
}

impl GatewayProbe {
    /// Of the gateways whose links are probed; nothing if there are none, or no bins.
    #[must_use]
    pub fn new(plan: &Plan) -> Option<Self> {
        plan.probe.interval?;
        let steers = |link: u32| {
            plan.links[link as usize].control.as_ref().is_some_and(|control| control.acknowledgements.is_some())
        };
        let mut links: Vec<u32> = plan.probe.links.iter().copied().filter(|&link| steers(link)).collect();
        links.sort_unstable();
        links.dedup();
        let flows = |link: u32| plan.flows.iter().map(|flow| crosses(plan, (flow.from, flow.to), link)).collect();
        let watched: Vec<Watched> =
            links.into_iter().map(|link| Watched { link, crosses: flows(link), seen: Seen::default() }).collect();
        (!watched.is_empty()).then(|| Self { table: GatewayTable::default(), watched })
    }

    /// Data of a connection is offered to a link.
    pub fn offered(&mut self, link: usize, connection: u32) {
        if let Some(watched) = self.watched.iter_mut().find(|watched| watched.link as usize == link) {
            watched.seen.saw(connection as usize, u64::from(connection));
        }
    }

    /// The end of a bin.
    pub fn sample(&mut self, now: Instant, controllers: &[Controller], connections: &mut Connections) {
        for Watched { link, crosses, seen } in &mut self.watched {
            let Some(controller) = controllers.iter().find(|controller| controller.link == *link) else { continue };
            let mut sums = Sums::default();
            connections.loads(crosses, &mut sums);
            if let Some(sample) = controller.sample(sums.truth(seen.take())) {
                self.table.push(now, *link, sample);
            }
        }
        connections.restart_times();
    }

    /// The table.
    #[must_use]
    pub fn into_table(self) -> Table {
        self.table.into_table()
    }
}

/// Whether the way from one node to another leads over a link. Routes of a plan have no loops.
fn crosses(plan: &Plan, (from, to): (u32, u32), link: u32) -> bool {
    let mut node = from;
    for _ in &plan.nodes {
        match plan.routes[node as usize].get(to as usize).copied().flatten() {
            Some(next) if next == link => return true,
            Some(next) => node = plan.links[next as usize].to,
            None => return false,
        }
    }
    false
}
