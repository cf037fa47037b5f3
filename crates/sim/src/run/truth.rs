//! What gateways estimate, as the simulator knows it: the flows that load a link, and their round-trip times as their senders see them.
//! None of it comes from an estimator, and nothing that runs sees any of it.

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
use std::collections::VecDeque;

/// Fills the table `gateway`.
pub(super) struct GatewayProbe {
    table: GatewayTable,
    watched: Vec<Watched>,
    /// By half the number of a connection's agents.
    timed: Vec<Timed>,
}

/// The round trips of the connections at one place.
#[derive(Default)]
struct Timed {
    key: FlowKey,
    /// Up to where data has been sent at least once.
    highest: u64,
    /// Segments on their way: the offset behind each, and when it was sent.
    under_way: VecDeque<(u64, Instant)>,
    /// In the bin in progress: of round trips, in nanoseconds, and how many.
    sum: u64,
    count: u32,
}

impl Timed {
    /// A segment with data is sent.
    fn sent(&mut self, now: Instant, key: FlowKey, next: u64) {
        if self.key != key {
            (self.key, self.highest) = (key, 0);
            self.under_way.clear();
        }
        if next > self.highest {
            self.highest = next;
            self.under_way.push_back((next, now));
        } else {
            // Sent again: what is acknowledged from here on waited for a loss to be found.
            self.under_way.clear();
        }
    }

    /// Everything below an offset has been acknowledged.
    fn acknowledged(&mut self, now: Instant, offset: u64) {
        while let Some(&(end, sent)) = self.under_way.front()
            && end <= offset
        {
            self.under_way.pop_front();
            self.sum += (now - sent).as_nanos();
            self.count += 1;
        }
    }
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
        (!watched.is_empty()).then(|| Self { table: GatewayTable::default(), watched, timed: Vec::new() })
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

    /// A connection sends a segment.
    pub fn sent(&mut self, now: Instant, connection: usize, key: FlowKey, sender: &Endpoint) {
        if connection >= self.timed.len() {
            self.timed.resize_with(connection + 1, Timed::default);
        }
        self.timed[connection].sent(now, key, sender.snd_nxt());
    }

    /// A sender has heard of its peer.
    pub fn turned(&mut self, now: Instant, connection: usize, sender: &Endpoint) {
        if let Some(timed) = self.timed.get_mut(connection) {
            timed.acknowledged(now, sender.snd_una());
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

/// Sums over the connections of a link, at the end of a bin.
#[derive(Default)]
struct Sums {
    active: u32,
    /// Round trips that ended in the bin, in seconds, and how many.
    seconds: f64,
    segments: f64,
    /// The mean round trips of the flows, in seconds, and how many flows had any.
    means: f64,
    flows: f64,
}

impl Sums {
    #[allow(clippy::cast_precision_loss)]
    fn add(&mut self, sender: &Endpoint, timed: Option<&Timed>) {
        self.active += u32::from(sender.snd_nxt() > sender.snd_una());
        let Some(timed) = timed.filter(|timed| timed.count > 0) else { return };
        let (seconds, segments) = (timed.sum as f64 * 1e-9, f64::from(timed.count));
        self.seconds += seconds;
        self.segments += segments;
        self.means += seconds / segments;
        self.flows += 1.0;
    }

    /// Without a round trip that ended both means are missing (NaN).
    fn truth(&self, seen: u32) -> GatewayTruth {
        GatewayTruth {
            active: self.active,
            seen,
            round_trip: self.seconds / self.segments,
            mean_flow_round_trip: self.means / self.flows,
        }
    }
}

impl World {
    /// What gateways suggest and estimate at the end of a bin, and what is true.
    pub(super) fn sample_gateways(&mut self, now: Instant) {
        let Some(GatewayProbe { table, watched, timed }) = self.observers.gateways.as_deref_mut() else { return };
        let first_place = self.requests.first_agent / 2;
        for Watched { link, flows, pools, seen } in watched {
            let controlled = self.controllers.iter().find(|controlled| controlled.link == *link);
            let Some(Controlled { machine: Controller::Gateway(steering), .. }) = controlled else { continue };
            let mut sums = Sums::default();
            flows.iter().for_each(|&flow| sums.add(&self.endpoints[2 * flow], timed.get(flow)));
            for pool in pools.iter().map(|&pool| &self.requests.pools[pool]) {
                for (index, place) in pool.places.iter().enumerate() {
                    sums.add(&place.sender, timed.get(first_place + pool.first_place + index));
                }
            }
            let gateway = &steering.machine;
            let sample = GatewaySample {
                window: if gateway.steers() { gateway.window() } else { f64::NAN },
                flows: if gateway.steers() { gateway.flows() } else { f64::NAN },
                round_trip: if gateway.needs_round_trip() { gateway.round_trip().as_secs_f64() } else { f64::NAN },
                truth: sums.truth(seen.take()),
            };
            table.push(now, *link, sample);
        }
        timed.iter_mut().for_each(|timed| (timed.sum, timed.count) = (0, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_units::Duration;

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
    fn every_segment_is_timed_but_those_about_a_loss() {
        let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
        let mut timed = Timed::default();
        timed.sent(at(0), 5, 1000);
        timed.sent(at(10), 5, 2000);
        // One acknowledgement for both: 100 and 90 ms.
        timed.acknowledged(at(100), 2000);
        assert_eq!((timed.sum, timed.count), (190_000_000, 2));
        timed.sent(at(100), 5, 3000);
        timed.sent(at(110), 5, 4000);
        timed.sent(at(300), 5, 4000);
        timed.acknowledged(at(400), 4000);
        assert_eq!(timed.count, 2, "the second was sent again");
        // Another connection at the same place begins from nothing.
        timed.sent(at(500), 6, 1000);
        timed.acknowledged(at(550), 1000);
        assert_eq!((timed.sum, timed.count), (240_000_000, 3));
    }

    #[test]
    fn segments_and_flows_weigh_differently() {
        // Three segments of 100 ms and one of 300 ms: 150 ms; two flows of 100 and 300 ms: 200 ms.
        let sums = Sums { active: 2, seconds: 0.6, segments: 4.0, means: 0.4, flows: 2.0 };
        let truth = sums.truth(2);
        assert!((truth.round_trip - 0.15).abs() < 1e-12 && (truth.mean_flow_round_trip - 0.2).abs() < 1e-12);
    }
}
