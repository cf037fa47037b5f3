//! The traffic that flows offer, and warnings about links that cannot carry or hold it.

use super::{ArrivalPattern, DatagramFlow, FlowPath, LinkSpec, RequestFlow, Scenario, TcpFlow};
use netlull_network::queue::Buffer;
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// The traffic that a flow offers.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// Name and ends of the flow.
    pub path: &'a FlowPath,
    /// The mean rate while the flow is active; `None` for TCP that always has data to send.
    pub rate: Option<BitRate>,
    /// Start time.
    pub start: Instant,
    /// Stop time.
    pub stop: Instant,
}

impl Offer<'_> {
    /// Returns true if the flow may send between the two times.
    #[must_use]
    pub fn is_active(&self, from: Instant, to: Instant) -> bool {
        self.start < to && self.stop > from
    }
}

/// The offers of flows, in the order of flow numbers: TCP, datagrams, requests.
pub(super) fn offers<'a>(
    tcp: &'a [TcpFlow],
    datagrams: &'a [DatagramFlow],
    requests: &'a [RequestFlow],
    duration: Duration,
) -> impl Iterator<Item = Offer<'a>> {
    let of_tcp = |flow: &'a TcpFlow| Offer {
        path: &flow.path,
        rate: flow.writes.map(|writes| writes.rate),
        start: flow.start,
        stop: flow.stop,
    };
    let of_datagrams = move |flow: &'a DatagramFlow| Offer {
        path: &flow.path,
        rate: Some(mean_rate(flow, duration)),
        start: flow.start,
        stop: flow.stop,
    };
    let of_requests = |flow: &'a RequestFlow| Offer {
        path: &flow.path,
        rate: Some(flow.offered),
        start: flow.start,
        stop: flow.stop,
    };
    tcp.iter().map(of_tcp).chain(datagrams.iter().map(of_datagrams)).chain(requests.iter().map(of_requests))
}

/// The mean offered rate of a source of datagrams.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn mean_rate(flow: &DatagramFlow, duration: Duration) -> BitRate {
    match &flow.pattern {
        ArrivalPattern::Constant | ArrivalPattern::Poisson => flow.rate,
        ArrivalPattern::Bursts { cycle, mean_on } => {
            // Bursts have exponential lengths and end when the next begins: mean on-time m (1 - exp(-c/m)).
            let (cycle, on) = (cycle.as_secs_f64(), mean_on.as_secs_f64());
            BitRate::from_bps((flow.rate.as_f64() * on * -(-cycle / on).exp_m1() / cycle) as u64)
        }
        ArrivalPattern::Replay(record) => {
            BitRate::from_bps((record.bytes() as f64 * 8.0 / duration.as_secs_f64()) as u64)
        }
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
        self.links.iter().zip(self.offered_bps()).filter_map(too_much).chain(too_small).chain(before).collect()
    }
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

fn kilobytes(size: Bytes) -> String {
    format!("{} kB", (size.as_f64() / 100.0).round() / 10.0)
}
