//! Measurements for Linux's Vegas and Compound: round trips in microseconds, and the data sent in the last one.

use super::Ack;
use netlull_units::Duration;

/// "No sample yet", microseconds.
const NO_SAMPLE: u64 = 0x7fff_ffff;
/// The number of samples in a round trip below which all may belong to delayed acknowledgements.
const FEWEST_SAMPLES: u32 = 3;

/// A finished round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// Segments sent in it (`old_wnd`).
    pub sent: u64,
    /// The window at its start, segments (`old_snd_cwnd`).
    pub cwnd: u64,
    /// The shortest round trip in it and overall, if it has at least three samples.
    pub delays: Option<Delays>,
}

/// Round-trip times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delays {
    /// The shortest round trip overall (`baseRTT`).
    pub base: u64,
    /// The shortest of the last round trip (`minRTT`).
    pub recent: u64,
}

impl Round {
    /// Two numbers, each doubled: the window that would have kept the queue empty (actual rate x base RTT), and the
    /// segments queued, Diff (Brakmo and Peterson 1995 section 3.2).
    pub fn expected_and_queued(&self, delays: Delays) -> (u64, u64) {
        let target = ((self.sent * delays.base) << 1) / delays.recent;
        (target, (self.sent << 1).saturating_sub(target))
    }
}

/// `struct vegas` of Linux 2.6.22.
#[derive(Clone, Debug)]
pub(super) struct DelayMeter {
    base: u64,
    recent: u64,
    samples: u32,
    /// The stream offsets sent at the borders of the current round trip.
    begin_una: u64,
    begin_nxt: u64,
    begin_cwnd: u64,
    /// False during the repair of a loss: round trips are meaningless then.
    enabled: bool,
}

impl DelayMeter {
    pub const fn new() -> Self {
        Self {
            base: NO_SAMPLE,
            recent: NO_SAMPLE,
            samples: 0,
            begin_una: 0,
            begin_nxt: 0,
            begin_cwnd: 0,
            enabled: false,
        }
    }

    /// `tcp_vegas_init`: erases the knowledge about the path.
    pub fn start(&mut self, nxt: u64) {
        self.base = NO_SAMPLE;
        self.enable(nxt);
    }

    /// `vegas_enable`: the first round trip ends at the acknowledgement of `nxt`. As in the kernel, the start values
    /// of the round trip before the loss stay. The first round trip after it then includes all data sent meanwhile.
    pub fn enable(&mut self, nxt: u64) {
        self.enabled = true;
        self.begin_nxt = nxt;
        self.clear();
    }

    /// `vegas_disable`.
    pub fn disable(&mut self) {
        self.enabled = false;
    }

    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Adds a round trip in microseconds, plus one: no sample is zero.
    #[inline]
    pub fn sample(&mut self, microseconds: u64) {
        let rtt = microseconds + 1;
        self.base = self.base.min(rtt);
        self.recent = self.recent.min(rtt);
        self.samples += 1;
    }

    /// Returns the round trip that ends if `ack` is beyond the data sent at its start. The next round trip begins.
    #[inline]
    pub fn end_round(&mut self, ack: &Ack, cwnd: u64, smss: u64) -> Option<Round> {
        if ack.una <= self.begin_nxt {
            return None;
        }
        let sent = self.begin_nxt.saturating_sub(self.begin_una) / smss;
        let delays = Delays { base: self.base, recent: self.recent };
        let delays = (self.samples >= FEWEST_SAMPLES).then_some(delays);
        let round = Round { sent, cwnd: self.begin_cwnd, delays };
        self.begin_una = self.begin_nxt;
        self.begin_nxt = ack.nxt;
        self.begin_cwnd = cwnd;
        self.clear();
        Some(round)
    }

    fn clear(&mut self) {
        self.samples = 0;
        self.recent = NO_SAMPLE;
    }
}

/// Whole microseconds, rounded down (`ktime_to_us`).
#[inline]
pub(super) fn microseconds(rtt: Duration) -> u64 {
    rtt.as_nanos() / 1000
}

/// Whole microseconds, rounded to the nearest.
#[inline]
pub(super) fn nearest_microseconds(rtt: Duration) -> u64 {
    (rtt.as_nanos() + 500) / 1000
}
