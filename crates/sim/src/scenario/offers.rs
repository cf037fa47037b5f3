//! The traffic that flows offer: rates and times.

use super::flow::TcpFlow;
use crate::traffic::{ArrivalPattern, DatagramFlow, FlowPath, RequestFlow};
use netlull_units::{BitRate, Duration, Instant};

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
