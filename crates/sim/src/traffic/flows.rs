//! Flows of traffic, as a checked scenario has them.

use super::{Record, SizeLaw};
use netlull_units::{BitRate, Duration, Instant};
use std::sync::Arc;

/// Where a flow goes.
#[derive(Clone, Debug)]
pub struct FlowPath {
    /// The flow's name.
    pub name: String,
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
}

/// When a datagram source sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrivalPattern {
    /// At a constant rate.
    Constant,
    /// A Poisson process.
    Poisson,
    /// Constant within bursts of exponential length, one per cycle.
    Bursts {
        /// From the start of a burst to the start of the next.
        cycle: Duration,
        /// Mean length.
        mean_on: Duration,
    },
    /// As recorded; with a [`Recording`], what is recorded by it.
    Replay(Arc<Record>),
}

/// An open-loop source of datagrams.
#[derive(Clone, Debug)]
pub struct DatagramFlow {
    /// Name and ends.
    pub path: FlowPath,
    /// When it sends.
    pub pattern: ArrivalPattern,
    /// Rate (constant, mean, or within a burst); of no meaning for a replay.
    pub rate: BitRate,
    /// Size of each packet on the wire, in bytes; for a replay the largest possible.
    pub size: u32,
    /// First packet, before jitter.
    pub start: Instant,
    /// The first packet is put off by a time drawn uniformly below this.
    pub jitter: Duration,
    /// Nothing is sent from here on.
    pub stop: Instant,
}

impl DatagramFlow {
    /// The kind as the document says it.
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

/// TCP connections that come and go.
#[derive(Clone, Debug)]
pub struct RequestFlow {
    /// Name and ends.
    pub path: FlowPath,
    /// Mean rate at which data is asked for.
    pub offered: BitRate,
    /// How much each asks for.
    pub sizes: SizeLaw,
    /// Requests come from here on.
    pub start: Instant,
    /// None comes from here on.
    pub stop: Instant,
    /// At most so many connections are open at once.
    pub most_open: u32,
    /// TCP options.
    pub config: netlull_tcp::Config,
}

impl RequestFlow {
    /// Mean time between two arrivals in seconds: mean size over the rate offered (arrivals at load x capacity / mean size).
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn mean_gap(&self) -> f64 {
        self.sizes.mean() * 8.0 / self.offered.as_bps() as f64
    }
}
