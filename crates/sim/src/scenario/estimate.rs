//! The size of a run before it starts: its components, the load of its links, its work, its memory; warnings.
#![allow(clippy::cast_precision_loss)]

use super::offers::offers;
use super::quantity::TransferSize;
use super::{ArrivalPattern, Capacity, DatagramFlow, FlowPath, LinkSpec, Offer, RequestFlow, Scenario, TcpFlow};
use crate::net::flight::Packet;
use crate::net::ids::LinkId;
use crate::traffic::SizeLaw;
use netlull_network::queue::Buffer;
use netlull_network::schedule::Schedule;
use netlull_units::{Bytes, Duration, Instant};

/// An IPv4 header and a TCP header without options.
const HEADERS: f64 = 40.0;
/// The minimum share of TCP on a link that datagrams fill.
const LEAST_SHARE: f64 = 0.01;
/// Segments of a request in addition to full ones: SYN, FIN, and on average half a segment at the end.
const BESIDE_FULL: f64 = 2.5;
/// The memory of a packet on a link, in bytes, with its time.
const PACKET: f64 = (size_of::<Packet>() + size_of::<u64>()) as f64;
/// The memory of a table's row, in bytes: seven columns.
const ROW: f64 = 7.0 * 8.0;

/// The typical time of a packet-hop in ns (docs/performance.md).
const HOP_NS: f64 = 100.0;
/// The packet-hops of an hour.
const HOPS_PER_HOUR: f64 = 3600.0 * 1e9 / HOP_NS;

/// The number of components of each kind in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Components {
    /// Links that schedule their departures.
    pub departures: usize,
    /// Links.
    pub links: usize,
    /// Links with a rate controller.
    pub controllers: usize,
    /// Links with a varying capacity.
    pub redraws: usize,
    /// Stations.
    pub stations: usize,
    /// TCP endpoints of flows.
    pub endpoints: usize,
    /// The ends of all request connections that may be open at once.
    pub request_ends: usize,
    /// Flows.
    pub flows: usize,
}

/// Components that exist once per run: changes of routes, settlement of dropped packets, the start of the measurement,
/// the boundaries of phases, probe bins, and beats.
const SINGLE: usize = 6;

impl Components {
    /// The number of slots in the schedule.
    #[must_use]
    pub fn slots(&self) -> usize {
        let Self { departures, links, controllers, redraws, stations, endpoints, request_ends, flows } = *self;
        departures + links + controllers + redraws + stations + endpoints + request_ends + flows + SINGLE
    }
}

impl Scenario {
    /// The components of a run of this scenario.
    #[must_use]
    pub fn components(&self) -> Components {
        let count = |has: &dyn Fn(&LinkSpec) -> bool| self.links.iter().filter(|link| has(link)).count();
        Components {
            departures: count(&LinkSpec::schedules_departures),
            links: self.links.len(),
            controllers: count(&LinkSpec::is_controlled),
            redraws: count(&|link| link.capacity.is_some() && link.trace().is_none()),
            stations: self.stations.len(),
            endpoints: 2 * self.tcp_flows.len(),
            request_ends: 2 * self.most_open(),
            flows: self.flow_paths().count(),
        }
    }

    /// The longest run that the schedule can hold with this number of components.
    pub(super) fn longest_run(&self) -> Duration {
        Schedule::longest_run(self.components().slots())
    }

    /// The expected number of packet-hops of a run. A sweep uses it to start the longest runs first.
    ///
    /// The estimate assumes that endless or large TCP flows share evenly the capacity left by datagrams and requests.
    /// Each segment is acknowledged, and nothing is lost. Slow start, windows and controllers are ignored, because the
    /// times of finished runs predict better than a refined estimate.
    #[must_use]
    pub fn expected_hops(&self) -> f64 {
        let mut room: Vec<f64> = self.links.iter().map(mean_bps).collect();
        // A replay has fewer packet-hops than the run that records it.
        let mut hops = self.recording.as_ref().map_or(0.0, |recording| 1.5 * recording.first.expected_hops());
        for flow in &self.datagram_flows {
            let (path, offered) = (self.path_of(&flow.path, Way::There), self.offered_bits(flow));
            let packets = match &flow.pattern {
                ArrivalPattern::Replay(record) => record.len() as f64,
                _ => offered / f64::from(8 * flow.size),
            };
            hops += packets * path.len() as f64;
            self.take_room(&mut room, &path, offered);
        }
        for flow in &self.request_flows {
            let (path, segments) = (self.path_of(&flow.path, Way::There), self.request_segments(flow));
            hops += segments * (path.len() + self.path_of(&flow.path, Way::Back).len()) as f64;
            let offered = flow.offered.as_f64() * self.seconds_between(flow.start, flow.stop);
            self.take_room(&mut room, &path, offered);
        }
        let paths: Vec<_> = self.tcp_flows.iter().map(|flow| self.path_of(&flow.path, Way::There)).collect();
        let mut sharing = vec![0_u32; self.links.len()];
        for link in paths.iter().flatten() {
            sharing[link.index()] += 1;
        }
        for (flow, path) in self.tcp_flows.iter().zip(&paths) {
            let share = |link: &LinkId| room[link.index()] / f64::from(sharing[link.index()]);
            let segments = self.segments(flow, path.iter().map(share).fold(f64::INFINITY, f64::min));
            hops += segments * (path.len() + self.path_of(&flow.path, Way::Back).len()) as f64;
        }
        hops
    }

    /// The expected memory of a run, in bytes: the backlogs that datagrams leave at links, and the tables of the probes.
    ///
    /// The estimate assumes that each link carries its mean capacity, and that datagrams share no link with TCP or
    /// requests. A table of events counts only if it has a row per packet.
    #[must_use]
    pub fn expected_memory(&self) -> f64 {
        let duration_s = self.duration.as_secs_f64();
        let mut offered = vec![(0.0, 0.0); self.links.len()];
        for flow in &self.datagram_flows {
            let mut bits = self.offered_bits(flow);
            for link in self.path_of(&flow.path, Way::There) {
                let (packets, total) = &mut offered[link.index()];
                *packets += bits / f64::from(8 * flow.size);
                *total += bits;
                bits = bits.min(mean_bps(&self.links[link.index()]) * duration_s);
            }
        }
        let backlog = |(link, &(packets, bits)): (&LinkSpec, &(f64, f64))| {
            let queued = packets * (1.0 - mean_bps(link) * duration_s / bits).max(0.0);
            let queued = match link.buffer {
                Buffer::Packets(most) => queued.min(most as f64),
                Buffer::Bytes(most) => queued.min(most.as_u64() as f64 * 8.0 * packets / bits),
                Buffer::Unlimited => queued,
            };
            // A ring holds a power of two, and its old half while it grows.
            if packets > 0.0 { 1.5 * queued.max(1.0).log2().ceil().exp2() * PACKET } else { 0.0 }
        };
        let backlogs: f64 = self.links.iter().zip(&offered).map(backlog).sum();
        let first = self.recording.as_ref().map_or(0.0, |recording| recording.first.expected_memory());
        first.max(backlogs + self.expected_tables(&offered))
    }

    /// The expected memory of the probes' tables, in bytes. `offered` has each link's datagrams, in packets and bits.
    fn expected_tables(&self, offered: &[(f64, f64)]) -> f64 {
        let probe = &self.probe;
        let chosen = |some: &Option<Vec<usize>>, all: usize| some.as_ref().map_or(all, Vec::len) as f64;
        let bins = probe.interval.map_or(0.0, |interval| self.duration.as_secs_f64() / interval.as_secs_f64());
        let series = chosen(&probe.links, self.links.len()) + chosen(&probe.flows, self.flow_paths().count());
        let arrivals: f64 = probe.arrivals.iter().flatten().map(|&link| offered[link].0).sum();
        let segments = if probe.segments { self.expected_hops() / 2.0 } else { 0.0 };
        // A segment or an acknowledgement changes a handful of variables.
        let variables = if probe.variables { self.expected_hops() * 2.0 } else { 0.0 };
        ROW * (bins * series + arrivals + segments + variables)
    }

    /// Subtracts `offered` bits from the remaining capacity of these links.
    fn take_room(&self, room: &mut [f64], path: &[LinkId], offered: f64) {
        for &link in path {
            let room = &mut room[link.index()];
            *room = (*room - offered / self.duration.as_secs_f64()).max(LEAST_SHARE * *room);
        }
    }

    /// The number of segments of all requests of a flow.
    fn request_segments(&self, flow: &RequestFlow) -> f64 {
        let requests = self.seconds_between(flow.start, flow.stop) / flow.mean_gap();
        requests * (flow.sizes.mean() / f64::from(flow.config.mss) + BESIDE_FULL)
    }

    /// The simulated seconds from `start` to `stop`.
    fn seconds_between(&self, start: Instant, stop: Instant) -> f64 {
        self.seconds_from(start) - self.seconds_from(stop)
    }

    /// The simulated seconds after `start`.
    fn seconds_from(&self, start: Instant) -> f64 {
        (Instant::ZERO + self.duration).saturating_since(start).as_secs_f64()
    }

    /// The mean number of bits that a source of datagrams sends in the run.
    fn offered_bits(&self, flow: &DatagramFlow) -> f64 {
        let on = match &flow.pattern {
            ArrivalPattern::Replay(record) => return record.bytes() as f64 * 8.0,
            ArrivalPattern::Constant | ArrivalPattern::Poisson => 1.0,
            ArrivalPattern::Bursts { cycle, mean_on } => (mean_on.as_secs_f64() / cycle.as_secs_f64()).min(1.0),
        };
        flow.rate.as_f64() * on * self.seconds_between(flow.start, flow.stop)
    }

    /// The number of segments of a connection at `bps`, limited by its transfer size.
    fn segments(&self, flow: &TcpFlow, bps: f64) -> f64 {
        let mss = f64::from(flow.config.mss);
        let written = flow.writes.map_or(f64::INFINITY, |writes| writes.rate.as_f64() * (1.0 + HEADERS / mss));
        let sent = bps.min(written) * self.seconds_between(flow.start, flow.stop) / (8.0 * (mss + HEADERS));
        match flow.size {
            TransferSize::Endless => sent,
            TransferSize::Bytes(bytes) => sent.min((bytes.as_u64() as f64 / mss).ceil()),
        }
    }

    fn path_of(&self, flow: &FlowPath, way: Way) -> Vec<LinkId> {
        let (from, to) = match way {
            Way::There => (flow.from, flow.to),
            Way::Back => (flow.to, flow.from),
        };
        // The scenario has checked that every flow has a route.
        self.routes.path(from, to, &self.edges).unwrap_or_default()
    }
}

impl Scenario {
    /// The traffic that the flows offer, in the order of flow numbers.
    pub fn offers(&self) -> impl Iterator<Item = Offer<'_>> {
        offers(&self.tcp_flows, &self.datagram_flows, &self.request_flows, self.duration)
    }

    /// For every link, the offered load of requests, data without headers, in bit/s.
    #[must_use]
    pub fn offered_bps(&self) -> Vec<f64> {
        let mut offered = vec![0.0; self.links.len()];
        for flow in &self.request_flows {
            let FlowPath { from, to, .. } = flow.path;
            // The scenario has checked that every flow has a route.
            for link in self.routes.path(from, to, &self.edges).unwrap_or_default() {
                offered[link.index()] += flow.offered.as_f64();
            }
        }
        offered
    }

    /// Warnings about unusual values. Each is a sentence that starts with the field.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let too_much = |(link, offered): (&LinkSpec, f64)| {
            let load = offered / link.rate.as_f64();
            let told = format!(
                "link.{}: requests offer {:.3} Mb/s of data to {}, a load of {load:.3}; expected less than 1, \
                 otherwise open connections grow without limit",
                link.name,
                offered / 1e6,
                link.rate
            );
            (load >= 1.0).then_some(told)
        };
        // A replay offers the load of the first run.
        let before = self.recording.iter().flat_map(|recording| recording.first.warnings());
        let too_small = self.links.iter().filter_map(|link| too_small_a_buffer(link, self.mtu));
        let other = self.links.iter().filter_map(times_of_other_links);
        let narrow = self.request_flows.iter().filter_map(too_rare_a_size);
        let loads = self.links.iter().zip(self.offered_bps()).filter_map(too_much);
        let blind = self.sleep.warnings.iter().cloned();
        blind.chain(loads).chain(too_small).chain(other).chain(narrow).chain(self.too_long()).chain(before).collect()
    }

    /// A warning if the run takes an hour or more. A replay has the work of its first run.
    fn too_long(&self) -> Option<String> {
        let redraws: f64 = self
            .links
            .iter()
            .filter_map(|link| match &link.capacity {
                Some(Capacity::Redraws { mean_interval, .. }) => {
                    Some(self.duration.as_secs_f64() / mean_interval.as_secs_f64())
                }
                _ => None,
            })
            .sum();
        let steps = self.expected_hops() + redraws;
        let what = if redraws > 0.0 { "packet-hops and redraws" } else { "packet-hops" };
        (steps >= HOPS_PER_HOUR).then(|| {
            format!(
                "duration: {} with this traffic takes about {steps:.1e} {what} and {:.0} hours at {HOP_NS} ns each; \
                 expected less traffic or a shorter run",
                self.duration,
                steps / HOPS_PER_HOUR
            )
        })
    }
}

/// The share of equal sizes from which on a warning appears.
const NEARLY_ALL: f64 = 0.99;

/// A warning if nearly all sizes are the smallest one, and the others must make the mean.
fn too_rare_a_size(flow: &RequestFlow) -> Option<String> {
    let SizeLaw::Pareto(law) = &flow.sizes else { return None };
    let ((smallest, share), mean) = (law.smallest(), flow.sizes.mean());
    (share >= NEARLY_ALL && smallest < 0.5 * mean).then(|| {
        format!(
            "flow.{}.size.shape: makes {:.4} % of the sizes {smallest} B, the smallest, so almost no run has the mean of {mean:.0} B; \
             expected a shape further above 1",
            flow.path.name,
            share * 100.0
        )
    })
}

/// A warning if the controller never sees the queue that it needs.
fn too_small_a_buffer(link: &LinkSpec, mtu: u32) -> Option<String> {
    let control = link.control.as_ref()?;
    let needed = control.mechanism.needed_queue(control.link)?;
    let held = match link.buffer {
        Buffer::Packets(packets) => Bytes::new(packets.saturating_mul(u64::from(mtu))),
        Buffer::Bytes(bytes) => bytes,
        Buffer::Unlimited => return None,
    };
    (held < needed.queue).then(|| {
        format!(
            "link.{}.controller.{}: needs a queue of {}; expected at most the buffer, {}, otherwise {}",
            link.name,
            needed.field,
            kilobytes(needed.queue),
            kilobytes(held),
            needed.otherwise
        )
    })
}

/// A warning if low-power idle has the times of a physical layer for other rates.
fn times_of_other_links(link: &LinkSpec) -> Option<String> {
    let rates = link.low_power()?.phy?.rates();
    (!rates.contains(&link.rate)).then(|| {
        let rates: Vec<String> = rates.iter().map(ToString::to_string).collect();
        format!(
            "link.{}.controller.phy: has the times of links of {}; expected a link of that rate, but it has {}",
            link.name,
            rates.join(" or "),
            link.rate
        )
    })
}

fn kilobytes(size: Bytes) -> String {
    format!("{} kB", (size.as_f64() / 100.0).round() / 10.0)
}

/// The direction of data, or of its acknowledgements.
#[derive(Clone, Copy)]
enum Way {
    There,
    Back,
}

/// The mean capacity of a link, in bit/s.
fn mean_bps(link: &LinkSpec) -> f64 {
    match &link.capacity {
        None => link.rate.as_f64(),
        Some(Capacity::Trace(trace)) => trace.mean_rate().as_f64(),
        Some(Capacity::Redraws { min, max, .. }) => f64::midpoint(min.as_f64(), max.as_f64()),
        Some(Capacity::Steps(steps)) if steps.is_empty() => link.rate.as_f64(),
        Some(Capacity::Steps(steps)) => steps.iter().map(|(_, rate)| rate.as_f64()).sum::<f64>() / steps.len() as f64,
    }
}
