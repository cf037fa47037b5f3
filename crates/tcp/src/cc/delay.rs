//! Measurements of Linux's Vegas and Compound: round trips in microseconds, and the data sent in the last.

use super::Ack;
use netlull_units::Duration;

/// "No sample yet", microseconds.
const NO_SAMPLE: u64 = 0x7fff_ffff;
/// Fewer samples in a round trip may all be of delayed acknowledgements.
const FEWEST_SAMPLES: u32 = 3;

/// A round trip that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// Segments sent in it (`old_wnd`).
    pub sent: u64,
    /// The window at its start, segments (`old_snd_cwnd`).
    pub cwnd: u64,
    /// The shortest round trip in it and of all, if there were at least three samples.
    pub delays: Option<Delays>,
}

/// Round-trip times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delays {
    /// The shortest of all (`baseRTT`).
    pub base: u64,
    /// The shortest of the last round trip (`minRTT`).
    pub recent: u64,
}

impl Round {
    /// Twice the window that would have kept no queue: actual rate x base RTT; and twice the segments queued, Diff
    /// (Brakmo and Peterson 1995 section 3.2).
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
    /// Stream offsets sent between which the round trip is being measured.
    begin_una: u64,
    begin_nxt: u64,
    begin_cwnd: u64,
    /// False while a loss is being repaired: round trips tell nothing then.
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

    /// `tcp_vegas_init`: forgets the path.
    pub fn start(&mut self, nxt: u64) {
        self.base = NO_SAMPLE;
        self.enable(nxt);
    }

    /// `vegas_enable`: the first round trip ends when `nxt` is acknowledged. As in the kernel, what the round trip before the
    /// loss began with stays, so that the first one after it counts all that was sent meanwhile.
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

    /// A round trip in microseconds; one is added, so that none is zero.
    #[inline]
    pub fn sample(&mut self, microseconds: u64) {
        let rtt = microseconds + 1;
        self.base = self.base.min(rtt);
        self.recent = self.recent.min(rtt);
        self.samples += 1;
    }

    /// If `ack` is beyond what was sent when the round trip began: that round trip. The next one begins.
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
