//! Adaptive coalescing: for each sleep, the threshold with which the mean wait is near a target.
//!
//! The rule is that of DualModeEeeSimulator at 239cb66 (modes `fast_time_dyn`, `deep_time_dyn`, `fast_dyn`, `deep_dyn`),
//! by the first author of arXiv 1901.03215. It inverts the mean wait for Poisson arrivals in docs/models/eee.md.

use super::config::{Coalescing, LpiThreshold, Target};
use netlull_units::{BitRate, Bytes, Duration, Instant};

const NANOS_PER_SECOND: f64 = 1e9;

/// The tuner of one link: it measures a cycle, from one sleep to the next.
#[derive(Clone, Debug)]
pub(super) struct Tuner {
    target: Target,
    rate: BitRate,
    /// The start of the cycle, and its arrivals.
    from: Instant,
    frames: u64,
    bytes: Bytes,
    /// The arrival rate lambda of the last cycle per nanosecond; zero before the first one.
    arrivals: f64,
    /// D: the mean wait in nanoseconds that sleep may add.
    added: f64,
}

impl Tuner {
    pub fn new(target: Target, rate: BitRate, from: Instant) -> Self {
        let added = target.delay.as_nanos() as f64;
        Self { target, rate, from, frames: 0, bytes: Bytes::ZERO, arrivals: 0.0, added }
    }

    /// Counts an accepted packet.
    pub fn count(&mut self, size: Bytes) {
        self.frames += 1;
        self.bytes += size;
    }

    /// Ends a cycle, as the link goes to sleep. A cycle without a packet goes on.
    pub fn end_cycle(&mut self, now: Instant) {
        if self.frames == 0 || now <= self.from {
            return;
        }
        let cycle = now.saturating_since(self.from).as_nanos() as f64;
        self.arrivals = self.frames as f64 / cycle; // (1)
        let load = self.bytes.as_u64() as f64 * 8.0 * NANOS_PER_SECOND / (self.rate.as_bps() as f64 * cycle); // (2)
        // (3) A load of 1 leaves no time.
        let queueing = load * load / (2.0 * self.arrivals * (1.0 - load).max(0.0));
        self.added = (self.target.delay.as_nanos() as f64 - queueing).max(0.0);
        (self.from, self.frames, self.bytes) = (now, 0, Bytes::ZERO);
    }

    /// `other` with the threshold of a sleep that ends with a waking of `wake`.
    pub fn tuned(&self, other: Coalescing, wake: Duration) -> Coalescing {
        let (arrivals, added, wake) = (self.arrivals, self.added, wake.as_nanos() as f64);
        match self.target.adapts {
            LpiThreshold::Time => {
                let y = arrivals * added;
                let time = added + added * y / (1.0 + (1.0 + y * y).sqrt()) - wake; // (4)
                Coalescing { time: Some(Duration::from_nanos(time.max(0.0).round() as u64)), ..other }
            }
            LpiThreshold::Frames => {
                let frames = (1.0 + 2.0 * arrivals * (added - wake / 2.0)).max(1.0); // (5)
                Coalescing { frames: Some(frames as u64), ..other }
            }
        }
    }
}
