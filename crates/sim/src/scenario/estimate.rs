//! How long a run may be expected to take, before it runs.
#![allow(clippy::cast_precision_loss)]

use super::quantity::TransferSize;
use super::resolve::{ArrivalPattern, Capacity, DatagramFlow, FlowPath, LinkSpec, RequestFlow, Scenario, TcpFlow};
use crate::net::ids::LinkId;
use netlull_units::Instant;

/// An IPv4 header and a TCP header without options.
const HEADERS: f64 = 40.0;
/// Where datagrams fill a link, TCP still gets this share of it.
const LEAST_SHARE: f64 = 0.01;
/// Segments of a request beside full ones: SYN, FIN, and on average half a segment at the end.
const BESIDE_FULL: f64 = 2.5;

impl Scenario {
    /// Packet-hops that a run may be expected to take: a measure by which to start the longest runs of a sweep first.
    ///
    /// The endless or large TCP flows of a link share evenly what datagrams and requests across it leave, each segment
    /// is acknowledged, and nothing is lost. Slow start, windows and controllers are not in it: runs that have ended
    /// tell more than a better guess would.
    #[must_use]
    pub fn expected_hops(&self) -> f64 {
        let mut room: Vec<f64> = self.links.iter().map(mean_bps).collect();
        // A replay of what a run before records has fewer packet-hops than that run.
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

    /// What sends `offered` bits over these links leaves less room on each.
    fn take_room(&self, room: &mut [f64], path: &[LinkId], offered: f64) {
        for &link in path {
            let room = &mut room[link.index()];
            *room = (*room - offered / self.duration.as_secs_f64()).max(LEAST_SHARE * *room);
        }
    }

    /// Segments of all requests of a flow.
    fn request_segments(&self, flow: &RequestFlow) -> f64 {
        let requests = self.seconds_between(flow.start, flow.stop) / flow.mean_gap();
        requests * (flow.sizes.mean() / f64::from(flow.config.mss) + BESIDE_FULL)
    }

    /// Seconds of the run from `start` to `stop`.
    fn seconds_between(&self, start: Instant, stop: Instant) -> f64 {
        self.seconds_from(start) - self.seconds_from(stop)
    }

    /// Seconds of the run after `start`.
    fn seconds_from(&self, start: Instant) -> f64 {
        (Instant::ZERO + self.duration).saturating_since(start).as_secs_f64()
    }

    /// Bits that a source of datagrams sends in the run, on average.
    fn offered_bits(&self, flow: &DatagramFlow) -> f64 {
        let on = match &flow.pattern {
            ArrivalPattern::Replay(record) => return record.bytes() as f64 * 8.0,
            ArrivalPattern::Constant | ArrivalPattern::Poisson => 1.0,
            ArrivalPattern::Bursts { cycle, mean_on } => (mean_on.as_secs_f64() / cycle.as_secs_f64()).min(1.0),
        };
        flow.rate.as_f64() * on * self.seconds_between(flow.start, flow.stop)
    }

    /// Segments that a connection sends at `bps`, its whole transfer at most.
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
        // The scenario has checked that every flow gets there.
        self.routes.path(from, to, &self.edges).unwrap_or_default()
    }
}

/// The way of data, or that of its acknowledgements.
#[derive(Clone, Copy)]
enum Way {
    There,
    Back,
}

/// What a link carries on average, in bit/s.
fn mean_bps(link: &LinkSpec) -> f64 {
    match &link.capacity {
        None => link.rate.as_f64(),
        Some(Capacity::Redraws { min, max, .. }) => f64::midpoint(min.as_f64(), max.as_f64()),
        Some(Capacity::Steps(steps)) if steps.is_empty() => link.rate.as_f64(),
        Some(Capacity::Steps(steps)) => steps.iter().map(|(_, rate)| rate.as_f64()).sum::<f64>() / steps.len() as f64,
    }
}
