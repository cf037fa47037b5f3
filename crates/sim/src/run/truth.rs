//! What gateways estimate, as the simulator knows it: the flows that load a link and their round-trip times, looked at at the ends of
//! bins. None of it comes from an estimator, and nothing that runs sees any of it.

use super::control::{Controller, FlowKeys};
use super::parts::Controlled;
use super::world::World;
use crate::net::packet::{LinkId, Packet};
use crate::net::routing::NextHop;
use crate::probe::{GatewaySample, GatewayTable, GatewayTruth, Table};
use crate::scenario::Scenario;
use netlull_mechanism::gateway::FlowKey;
use netlull_tcp::Endpoint;
use netlull_units::Instant;

/// Fills the table `gateway`.
pub(super) struct GatewayProbe {
    table: GatewayTable,
    watched: Vec<Watched>,
}

/// A gateway's link and the flows whose data crosses it.
struct Watched {
    link: LinkId,
    /// TCP flows.
    flows: Vec<usize>,
    /// Flows of requests.
    pools: Vec<usize>,
    seen: Seen,
}

/// The connections that have offered data in the bin in progress.
#[derive(Default)]
struct Seen {
    bin: u64,
    count: u32,
    /// The bin in which a place was last seen, and the connection that was there.
    last: Vec<(u64, FlowKey)>,
}

impl Seen {
    /// A connection at a place has offered data. Connections at one place follow each other, so the last one is enough.
    fn saw(&mut self, place: usize, key: FlowKey) {
        if place >= self.last.len() {
            self.last.resize(place + 1, (0, 0));
        }
        let now = (self.bin + 1, key);
        self.count += u32::from(self.last[place] != now);
        self.last[place] = now;
    }

    /// How many there were; a new bin begins.
    fn take(&mut self) -> u32 {
        self.bin += 1;
        std::mem::take(&mut self.count)
    }
}

#[allow(clippy::cast_possible_truncation)]
impl GatewayProbe {
    /// A probe of the gateways whose links are probed; `None` if there are none, or no bins.
    pub fn new(scenario: &Scenario) -> Option<Self> {
        scenario.probe.interval?;
        let wanted = |link: usize| scenario.probe.links.as_ref().is_none_or(|links| links.contains(&link));
        let steers = |link: &usize| {
            let control = scenario.links[*link].control.as_ref();
            control.is_some_and(|control| control.acknowledgements.is_some())
        };
        let links = (0..scenario.links.len()).filter(|&link| wanted(link)).filter(steers);
        let watched: Vec<Watched> = links.map(|link| Watched::new(scenario, link)).collect();
        (!watched.is_empty()).then(|| Self { table: GatewayTable::default(), watched })
    }

    /// A packet is offered to a link that has a controller.
    pub fn offered(&mut self, link: LinkId, packet: &Packet, keys: &FlowKeys) {
        if packet.segment.len == 0 {
            return;
        }
        if let Some(watched) = self.watched.iter_mut().find(|watched| watched.link == link) {
            let place = packet.agent as usize / 2;
            watched.seen.saw(place, keys.of(place));
        }
    }

    /// The table.
    pub fn into_table(self) -> Table {
        self.table.into_table()
    }
}

#[allow(clippy::cast_possible_truncation)]
impl Watched {
    fn new(scenario: &Scenario, link: usize) -> Self {
        let crosses = |path: &crate::scenario::FlowPath| crosses(scenario, path.from, path.to, link);
        let tcp = scenario.tcp_flows.iter().enumerate().filter(|(_, flow)| crosses(&flow.path));
        let pools = scenario.request_flows.iter().enumerate().filter(|(_, flow)| crosses(&flow.path));
        Self {
            link: link as LinkId,
            flows: tcp.map(|(index, _)| index).collect(),
            pools: pools.map(|(index, _)| index).collect(),
            seen: Seen::default(),
        }
    }
}

/// Whether the way from one node to another leads over a link. Checked scenarios have a way for every flow.
#[allow(clippy::cast_possible_truncation)]
fn crosses(scenario: &Scenario, from: usize, to: usize, link: usize) -> bool {
    let mut node = from;
    while let NextHop::Link(next) | NextHop::Ahead(next) = scenario.routes.next_hop(node as u32, to as u32) {
        if next as usize == link {
            return true;
        }
        node = scenario.links[next as usize].to;
    }
    false
}

/// Sums over the senders that have data under way.
#[derive(Default)]
struct Sums {
    active: u32,
    /// Those of them that have measured a round trip.
    measured: f64,
    /// Of their smoothed round-trip times, seconds.
    round_trips: f64,
    /// Of their data under way, bytes.
    bytes: f64,
    /// Of that over their round-trip times, bytes per second.
    rates: f64,
}

impl Sums {
    /// A sender whose data crosses the link.
    #[allow(clippy::cast_precision_loss)]
    fn add(&mut self, sender: &Endpoint) {
        let under_way = sender.snd_nxt() - sender.snd_una();
        if under_way == 0 {
            return;
        }
        self.active += 1;
        let Some(srtt) = sender.srtt() else { return };
        // A clock in ticks can say nothing at all.
        let seconds = srtt.as_secs_f64().max(1e-9);
        self.measured += 1.0;
        self.round_trips += seconds;
        self.bytes += under_way as f64;
        self.rates += under_way as f64 / seconds;
    }

    /// Without a sender that has measured a round trip both round-trip times are missing (NaN).
    fn truth(&self, seen: u32) -> GatewayTruth {
        GatewayTruth {
            active: self.active,
            seen,
            round_trip: self.bytes / self.rates,
            mean_flow_round_trip: self.round_trips / self.measured,
        }
    }
}

impl World {
    /// What gateways suggest and estimate at the end of a bin, and what is true.
    pub(super) fn sample_gateways(&mut self, now: Instant) {
        let Some(GatewayProbe { table, watched }) = self.observers.gateways.as_deref_mut() else { return };
        for Watched { link, flows, pools, seen } in watched {
            let controlled = self.controllers.iter().find(|controlled| controlled.link == *link);
            let Some(Controlled { machine: Controller::Gateway(steering), .. }) = controlled else { continue };
            let mut sums = Sums::default();
            flows.iter().for_each(|&flow| sums.add(&self.endpoints[2 * flow]));
            for &pool in &*pools {
                self.requests.pools[pool].open_places().for_each(|(_, place)| sums.add(&place.sender));
            }
            let gateway = &steering.machine;
            let sample = GatewaySample {
                window: gateway.window(),
                flows: gateway.flows(),
                round_trip: gateway.round_trip_seconds(),
                truth: sums.truth(seen.take()),
            };
            table.push(now, *link, sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_seen_once_a_bin_also_where_they_follow_each_other() {
        let mut seen = Seen::default();
        // Places 0 and 5; at 5 one connection follows another: three connections.
        for (place, key) in [(0, 77), (5, 88), (5, 88), (0, 77), (5, 99), (5, 99)] {
            seen.saw(place, key);
        }
        assert_eq!(seen.take(), 3);
        seen.saw(5, 99);
        assert_eq!((seen.take(), seen.take()), (1, 0));
    }

    #[test]
    fn without_anybody_there_is_no_round_trip() {
        let truth = Sums::default().truth(0);
        assert!(truth.active == 0 && truth.round_trip.is_nan() && truth.mean_flow_round_trip.is_nan());
    }

    #[test]
    fn segments_weigh_round_trips_by_littles_law() {
        // 10 kB under way with 100 ms and 10 kB with 300 ms: 20 kB / (100 + 33.3) kB/s = 150 ms, the mean over segments: the fast flow sends
        // three for one of the slow. The mean over flows is 200 ms.
        let sums = Sums { active: 2, measured: 2.0, round_trips: 0.4, bytes: 20e3, rates: 10e3 / 0.1 + 10e3 / 0.3 };
        let truth = sums.truth(2);
        assert!((truth.round_trip - 0.15).abs() < 1e-12 && (truth.mean_flow_round_trip - 0.2).abs() < 1e-12);
    }
}
