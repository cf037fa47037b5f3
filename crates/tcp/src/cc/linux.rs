//! The window of Linux 2.6.22 as ns-2.35's TCP/Linux drives it: whole segments, integers, milliseconds.
//!
//! Bic, Cubic2622, Compound and Vegas share it: what they have in common is how a window in segments is kept, when an
//! acknowledgement may open it, Reno's growth to fall back to, and what a loss does beside the algorithm's own rule.
//! Names in backquotes are the kernel's.

use super::{Ack, Loss, Recovered, Start, TimeoutKind};
use crate::config::{Config, Increase, RepeatedTimeout, SsthreshFrom, WindowReduction};
use crate::recovery::RecoveryPhase;
use netlull_units::{Bytes, Instant};

/// `snd_cwnd_clamp`, an unsigned 16-bit number in 2.6.22, segments.
const LARGEST_WINDOW: u64 = 65_535;
/// "Infinitely large" `snd_ssthresh`, segments.
const NO_THRESHOLD: u64 = 0x7fff_ffff;
/// `tcp_max_burst`: segments that may be sent beyond the flight when recovery ends.
const MAX_BURST: u64 = 3;

/// `icsk_ca_state`, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaState {
    /// Nothing is being repaired.
    Open,
    /// Fast recovery (or, after an ECN echo, the way down to the smaller window).
    Recovery,
    /// After a timeout, until everything sent before it is acknowledged.
    Loss {
        /// Stream offset behind the last byte sent before the timeout (`high_seq`).
        high_seq: u64,
    },
}

/// What [`LinuxWindow::finish`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finished {
    /// The state is what it was.
    No,
    /// The state became [`CaState::Open`]: the algorithm's `set_state(TCP_CA_Open)` is due.
    Reopened,
}

/// What a loss makes of the window beside `ssthresh` (`min_cwnd`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Floor {
    /// Rate halving ends at `snd_ssthresh`: algorithms without `min_cwnd`.
    Ssthresh,
    /// Rate halving may go on to half of it (`tcp_reno_min_cwnd`).
    HalfSsthresh,
}

/// `snd_cwnd` and what belongs to it, in segments.
#[derive(Clone, Debug)]
pub(super) struct LinuxWindow {
    /// `snd_cwnd`.
    pub cwnd: u64,
    /// `snd_ssthresh`.
    pub ssthresh: u64,
    /// `snd_cwnd_cnt`: acknowledgements counted towards the next segment.
    pub count: u64,
    /// `snd_cwnd_clamp`.
    pub clamp: u64,
    /// `mss_cache`, bytes.
    pub smss: u64,
    /// `tp->bytes_acked` (appropriate byte counting).
    bytes_acked: u64,
    /// `sysctl_tcp_abc`: 0, 1 or 2.
    abc: u32,
    pub state: CaState,
    initial_window: u64,
    repeated_timeout: RepeatedTimeout,
    window_reduction: WindowReduction,
}

impl LinuxWindow {
    pub fn new(config: &Config) -> Self {
        let smss = u64::from(config.mss);
        let clamp = match config.ssthresh_from {
            SsthreshFrom::Flight => LARGEST_WINDOW,
            // ns-2: `snd_cwnd_clamp` is `window_`, which is the receiver's window as well.
            SsthreshFrom::Window => (config.receive_buffer.as_u64() / smss).max(1),
        };
        Self {
            cwnd: 1,
            ssthresh: config.initial_ssthresh.map_or(NO_THRESHOLD, |bytes: Bytes| (bytes.as_u64() / smss).max(1)),
            count: 0,
            clamp,
            smss,
            bytes_acked: 0,
            abc: match config.increase {
                Increase::PerAck => 0,
                Increase::ByteCounting { limit } => limit.min(2),
            },
            state: CaState::Open,
            initial_window: 1,
            repeated_timeout: config.repeated_timeout,
            window_reduction: config.window_reduction,
        }
    }

    pub fn establish(&mut self, start: &Start) {
        let smss = u64::from(start.smss).max(1);
        // A threshold given in bytes was counted in segments of the largest size.
        if self.ssthresh != NO_THRESHOLD {
            self.ssthresh = (self.ssthresh * self.smss / smss).max(1);
        }
        self.smss = smss;
        self.initial_window = (start.initial_window / smss).max(1);
        self.cwnd = self.initial_window;
        self.count = 0;
    }

    /// The window in bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.cwnd * self.smss
    }

    #[inline]
    pub fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh * self.smss
    }

    /// `tcp_time_stamp`: jiffies of 1 ms (HZ = 1000) since the start of the simulation, rounded down.
    #[inline]
    pub fn jiffies(now: Instant) -> u64 {
        now.as_nanos() / 1_000_000
    }

    /// Segments that an acknowledgement acknowledged; a short one counts as one.
    #[inline]
    pub fn segments(&self, bytes: u64) -> u64 {
        // One segment per acknowledgement needs no division.
        if bytes <= self.smss { u64::from(bytes > 0) } else { bytes.div_ceil(self.smss) }
    }

    /// What the endpoint tells with every acknowledgement of new data, whatever becomes of it.
    #[inline]
    pub fn note(&mut self, ack: &Ack) {
        self.bytes_acked += ack.acked;
    }

    /// `tcp_may_raise_cwnd`: neither in recovery nor asked by an ECN echo to slow down.
    #[inline]
    pub fn may_raise(&self, ack: &Ack) -> bool {
        ack.phase != RecoveryPhase::FastRecovery && (!ack.ece || self.cwnd < self.ssthresh)
    }

    /// `tcp_is_cwnd_limited`, without segmentation offload: the flight before the acknowledgement filled the window.
    #[inline]
    pub fn is_limited(&self, ack: &Ack) -> bool {
        // Segments in flight, the last possibly short, are at least cwnd.
        ack.flight_before > (self.cwnd - 1) * self.smss
    }

    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd <= self.ssthresh
    }

    /// `tcp_slow_start`: a segment per acknowledgement, with `sysctl_tcp_abc` = 2 two for a delayed one.
    #[inline]
    pub fn slow_start(&mut self) {
        if self.abc > 0 && self.bytes_acked < self.smss {
            return;
        }
        let doubled = self.abc > 1 && self.bytes_acked >= 2 * self.smss;
        self.bytes_acked = 0;
        self.count += if doubled { 2 * self.cwnd } else { self.cwnd };
        while self.count >= self.cwnd {
            self.count -= self.cwnd;
            // At the clamp the count must not stand still.
            self.increment();
        }
    }

    /// A segment more, up to the clamp.
    #[inline]
    pub fn increment(&mut self) {
        if self.cwnd < self.clamp {
            self.cwnd += 1;
        }
    }

    /// Congestion avoidance by counting: a segment after `every` acknowledgements and one more.
    #[inline]
    pub fn avoid(&mut self, every: u64) {
        if self.count >= every {
            self.increment();
            self.count = 0;
        } else {
            self.count += 1;
        }
    }

    /// `tcp_reno_cong_avoid`.
    #[inline]
    pub fn reno(&mut self, ack: &Ack) {
        if !self.is_limited(ack) {
            return;
        }
        if self.in_slow_start() {
            self.slow_start();
        } else if self.abc == 0 {
            self.avoid(self.cwnd);
        } else if self.bytes_acked >= self.bytes() {
            // RFC 3465 section 2.1.
            self.bytes_acked -= self.bytes();
            self.increment();
        }
    }

    /// `tcp_reno_ssthresh`: half of the window, at least 2.
    pub fn half(&self) -> u64 {
        (self.cwnd / 2).max(2)
    }

    /// Fast recovery begins, with the threshold that the algorithm chose.
    pub fn enter_recovery(&mut self, ssthresh: u64, floor: Floor) {
        self.ssthresh = ssthresh;
        self.count = 0;
        self.bytes_acked = 0;
        self.cwnd = match (floor, self.window_reduction) {
            (Floor::HalfSsthresh, WindowReduction::RateHalving) => (ssthresh / 2).max(1),
            // What is not rate halving has no use for a floor below what it leads to.
            _ => ssthresh,
        };
        self.state = CaState::Recovery;
    }

    /// True if a timeout is to set the threshold anew.
    pub fn takes_threshold(&self, kind: TimeoutKind) -> bool {
        kind == TimeoutKind::First || self.repeated_timeout == RepeatedTimeout::Recompute
    }

    /// `tcp_enter_loss`, after the threshold was set: a window of one segment.
    pub fn enter_loss(&mut self, loss: &Loss) {
        self.cwnd = 1;
        self.count = 0;
        self.bytes_acked = 0;
        self.state = CaState::Loss { high_seq: loss.nxt };
    }

    /// After everything else that an acknowledgement does: the end of [`CaState::Loss`].
    #[inline]
    pub fn finish(&mut self, ack: &Ack) -> Finished {
        match self.state {
            CaState::Loss { high_seq } if ack.una >= high_seq => {
                self.reopen(ack.flight);
                Finished::Reopened
            }
            _ => Finished::No,
        }
    }

    /// The end of fast recovery.
    pub fn recovered(&mut self, recovered: &Recovered) {
        self.reopen(recovered.flight);
    }

    /// ns-2's TCP/Linux, `tcp_fastretrans_alert` step E: a window below the threshold is raised to it, and then
    /// `tcp_moderate_cwnd`: no burst of more than three segments.
    #[cold]
    fn reopen(&mut self, flight: u64) {
        if self.cwnd < self.ssthresh {
            self.cwnd = self.ssthresh.min(flight.div_ceil(self.smss) + MAX_BURST);
        }
        self.state = CaState::Open;
    }

    /// RFC 5681 section 4.1: RW = min(IW, cwnd).
    pub fn restart(&mut self) {
        self.cwnd = self.cwnd.min(self.initial_window);
        self.count = 0;
    }
}
