//! Open-loop sources of a checked scenario's flows: datagrams, and the arrivals of requests. TCP's transfers are in
//! `netlull_tcp`, and the run connects both.

mod datagrams;
mod requests;
pub(crate) mod sizes;

pub use datagrams::{DatagramSource, Record};
pub use requests::RequestSource;
pub use sizes::{Component, Empirical, Lognormal, Pareto, SizeLaw};

use netlull_units::{BitRate, Duration, Instant};
use std::sync::Arc;

/// The ends of a flow.
#[derive(Clone, Debug)]
pub struct FlowPath {
    /// Name.
    pub name: String,
    /// Sending node.
    pub from: usize,
    /// Receiving node.
    pub to: usize,
}

/// The send times of a source of datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrivalPattern {
    /// A constant rate.
    Constant,
    /// A Poisson process.
    Poisson,
    /// A constant rate within bursts of exponential length, one burst per cycle.
    Bursts {
        /// The time between the starts of two bursts.
        cycle: Duration,
        /// The mean length of a burst.
        mean_on: Duration,
    },
    /// A recording. With a [`Recording`](crate::scenario::Recording), the first run makes it.
    Replay(Arc<Record>),
}

/// An open-loop source of datagrams.
#[derive(Clone, Debug)]
pub struct DatagramFlow {
    /// Name and ends.
    pub path: FlowPath,
    /// The pattern of send times.
    pub pattern: ArrivalPattern,
    /// The rate (constant, mean, or within a burst). Not used for a replay.
    pub rate: BitRate,
    /// The size of each packet on the wire, in bytes. For a replay, the largest possible size.
    pub size: u32,
    /// Time of the first packet, before jitter.
    pub start: Instant,
    /// Upper limit of the random delay of the first packet, drawn uniformly.
    pub jitter: Duration,
    /// Time from which no packet is sent.
    pub stop: Instant,
}

impl DatagramFlow {
    /// The value of `kind` in the document.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.pattern {
            ArrivalPattern::Constant => "cbr",
            ArrivalPattern::Poisson => "poisson",
            ArrivalPattern::Bursts { .. } => "bursts",
            ArrivalPattern::Replay(_) => "replay",
        }
    }
}

/// Short-lived TCP connections.
#[derive(Clone, Debug)]
pub struct RequestFlow {
    /// Name and ends.
    pub path: FlowPath,
    /// The mean offered data rate.
    pub offered: BitRate,
    /// The distribution of the data per request.
    pub sizes: SizeLaw,
    /// Time of the first possible arrival.
    pub start: Instant,
    /// Time from which no requests arrive.
    pub stop: Instant,
    /// The maximum number of open connections.
    pub most_open: u32,
    /// TCP options.
    pub config: netlull_tcp::Config,
}

impl RequestFlow {
    /// The mean time between two arrivals in seconds: mean size / offered rate (arrival rate = load x capacity / mean
    /// size).
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn mean_gap(&self) -> f64 {
        self.sizes.mean() * 8.0 / self.offered.as_bps() as f64
    }
}
