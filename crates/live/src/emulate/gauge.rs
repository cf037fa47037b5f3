//! The state of a flow in its host's TCP (TCP_INFO), written by one thread and read by another.

use std::sync::atomic::{AtomicU64, Ordering};

/// The latest sample; values of one read may stem from neighbouring samples.
#[derive(Debug, Default)]
pub struct Gauge {
    cwnd_bytes: AtomicU64,
    ssthresh_bytes: AtomicU64,
    timeouts: AtomicU64,
    fast_retransmits: AtomicU64,
}

impl Gauge {
    /// Stores a sample: windows in bytes, an unset threshold as `u64::MAX`.
    pub fn set(&self, cwnd: u64, ssthresh: u64) {
        self.cwnd_bytes.store(cwnd, Ordering::Relaxed);
        self.ssthresh_bytes.store(ssthresh, Ordering::Relaxed);
    }

    /// Adds timeouts and fast retransmits.
    pub fn add(&self, timeouts: u64, fast_retransmits: u64) {
        self.timeouts.fetch_add(timeouts, Ordering::Relaxed);
        self.fast_retransmits.fetch_add(fast_retransmits, Ordering::Relaxed);
    }

    /// The congestion window and the threshold in bytes; `None` before the first sample.
    #[must_use]
    pub fn windows(&self) -> Option<(u64, u64)> {
        let cwnd = self.cwnd_bytes.load(Ordering::Relaxed);
        (cwnd > 0).then(|| (cwnd, self.ssthresh_bytes.load(Ordering::Relaxed)))
    }

    /// The numbers of timeouts and observed fast retransmits.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.timeouts.load(Ordering::Relaxed), self.fast_retransmits.load(Ordering::Relaxed))
    }
}
