//! `snd_cwnd` and related fields.

use super::super::{Ack, Idle, Loss, Recovered, Spurious, Start, TimeoutKind};
use crate::config::Config;
use crate::recovery::RecoveryPhase;
use netlull_units::Bytes;

/// `TCP_INFINITE_SSTHRESH`, segments.
const NO_THRESHOLD: u64 = 0x7fff_ffff;
/// Windows are at most 2^30 bytes (RFC 7323 section 2.3), so cwnd needs no more.
const LARGEST_BYTES: u64 = 1 << 30;

/// The window in segments, and its use (`tcp_cwnd_validate`).
#[derive(Clone, Debug)]
pub struct Window {
    /// `snd_cwnd`.
    pub cwnd: u64,
    /// `snd_ssthresh`.
    pub ssthresh: u64,
    /// `snd_cwnd_cnt`: segments acknowledged since the last growth.
    pub count: u64,
    smss: u64,
    clamp: u64,
    initial_window: u64,
    /// `is_cwnd_limited`: the window was full at some moment since `usage_begin`.
    limited: bool,
    /// `max_packets_out`: the largest flight since then.
    most_out: u64,
    /// `cwnd_usage_seq`: a stream offset whose acknowledgement resets the two.
    usage_end: u64,
    /// Stream offset up to which everything is acknowledged.
    una: u64,
    /// `high_seq` of the current recovery or timeout.
    recover: Option<u64>,
    /// Segments delivered by the last acknowledgement of a recovery.
    pending: u64,
}

impl Window {
    /// The window before the handshake.
    pub fn new(config: &Config) -> Self {
        let smss = u64::from(config.mss);
        Self {
            cwnd: 1,
            ssthresh: config.cwnd.initial_ssthresh.map_or(NO_THRESHOLD, |bytes: Bytes| (bytes.as_u64() / smss).max(1)),
            count: 0,
            smss,
            clamp: LARGEST_BYTES / smss,
            initial_window: 1,
            limited: false,
            most_out: 0,
            usage_end: 0,
            una: 0,
            recover: None,
            pending: 0,
        }
    }

    /// Handles the start of data transmission.
    pub fn establish(&mut self, start: &Start) {
        let smss = u64::from(start.smss).max(1);
        // Converts the threshold: it counted segments of the largest size.
        if self.ssthresh != NO_THRESHOLD {
            self.ssthresh = (self.ssthresh * self.smss / smss).max(1);
        }
        self.smss = smss;
        self.clamp = LARGEST_BYTES / smss;
        self.initial_window = (start.initial_window / smss).max(1);
        self.cwnd = self.initial_window;
    }

    /// The window in bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.cwnd * self.smss
    }

    /// The slow-start threshold in bytes.
    #[inline]
    pub fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh * self.smss
    }

    /// `tcp_in_slow_start`.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Handles an acknowledgement and returns the segments by which the window may grow. It is `None` during repair,
    /// with an ECN echo, or without newly acknowledged data (`tcp_may_raise_cwnd`).
    #[inline]
    pub fn take(&mut self, ack: &Ack) -> Option<u64> {
        self.validate(ack);
        self.una = ack.una;
        let segments = ack.delivered.div_ceil(self.smss);
        if ack.phase == RecoveryPhase::FastRecovery {
            self.pending = if ack.ece { 0 } else { segments };
            return None;
        }
        if self.recover.is_some_and(|recover| ack.una >= recover) {
            self.recover = None;
        }
        (segments > 0 && !ack.ece).then_some(segments)
    }

    /// `tcp_cwnd_validate`, which the kernel calls after sending the data that the previous acknowledgement allowed.
    #[inline]
    fn validate(&mut self, ack: &Ack) {
        let out = ack.flight_before.div_ceil(self.smss);
        let full = out >= self.cwnd;
        if full || ack.una - ack.acked >= self.usage_end || (!self.limited && out > self.most_out) {
            self.limited = full;
            self.most_out = out;
            self.usage_end = ack.nxt;
        }
    }

    /// `tcp_is_cwnd_limited`: the window was full within the last round trip, or in slow start half of it was.
    #[inline]
    pub fn is_limited(&self) -> bool {
        self.limited || (self.in_slow_start() && self.cwnd < 2 * self.most_out)
    }

    /// `tcp_slow_start`: one segment for each acknowledged, up to the threshold; returns the remaining number.
    #[inline]
    pub fn slow_start(&mut self, segments: u64) -> u64 {
        if !self.in_slow_start() {
            return segments;
        }
        let cwnd = (self.cwnd + segments).min(self.ssthresh);
        let left = segments - (cwnd - self.cwnd);
        self.cwnd = cwnd.min(self.clamp);
        left
    }

    /// `tcp_cong_avoid_ai`: a segment for `every` acknowledged.
    #[inline]
    pub fn avoid(&mut self, every: u64, segments: u64) {
        if self.count >= every {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += segments;
        if self.count >= every {
            let grown = self.count / every;
            self.count -= grown * every;
            self.cwnd += grown;
        }
        self.cwnd = self.cwnd.min(self.clamp);
    }

    /// `tcp_init_cwnd_reduction`: fast recovery begins.
    pub fn enter_recovery(&mut self, loss: &Loss, ssthresh: u64) {
        self.ssthresh = ssthresh;
        // The window of recovery is separate from this one.
        self.cwnd = ssthresh;
        self.count = 0;
        self.pending = 0;
        self.recover = Some(loss.nxt);
    }

    /// `tcp_end_cwnd_reduction`. Returns the segments of the acknowledgement that ended it, by which the window
    /// opens.
    pub fn leave_recovery(&mut self, recovered: &Recovered) -> u64 {
        self.cwnd = (recovered.window / self.smss).max(1);
        self.recover = None;
        std::mem::take(&mut self.pending)
    }

    /// `tcp_undo_cwnd_reduction`, with `tcp_reno_undo_cwnd`, which CUBIC uses as well.
    pub fn restore(&mut self, spurious: &Spurious) {
        self.cwnd = self.cwnd.max(spurious.cwnd / self.smss);
        self.ssthresh = self.ssthresh.max(spurious.ssthresh / self.smss);
        self.recover = None;
    }

    /// Handles an acknowledgement that does not open the window.
    pub fn repeat(&mut self, ack: &Ack) {
        self.validate(ack);
        self.pending = 0;
    }

    /// `tcp_enter_loss`: a timeout computes a new threshold unless an earlier reduction is not over.
    pub fn takes_threshold(&self, kind: TimeoutKind) -> bool {
        kind == TimeoutKind::First && self.recover.is_none_or(|recover| self.una >= recover)
    }

    /// `tcp_enter_loss`: a window of one segment, and the new threshold, if any.
    pub fn enter_loss(&mut self, loss: &Loss, ssthresh: Option<u64>) {
        self.ssthresh = ssthresh.unwrap_or(self.ssthresh);
        self.cwnd = 1;
        self.count = 0;
        self.recover = Some(loss.nxt);
    }

    /// `tcp_cwnd_restart`: the threshold keeps three quarters of the window (`tcp_current_ssthresh`), and each RTO of
    /// the pause halves it, down to the initial window.
    pub fn restart(&mut self, idle: &Idle) {
        self.ssthresh = self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2));
        let least = self.initial_window.min(self.cwnd);
        let mut left = idle.now - idle.last_sent;
        while left > idle.rto && self.cwnd > least {
            left = left - idle.rto;
            self.cwnd >>= 1;
        }
        self.cwnd = self.cwnd.max(least);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use netlull_units::{Duration, Instant};

    pub const SMSS: u64 = 1448;

    pub fn start(segments: u64) -> Start {
        Start { now: Instant::ZERO, smss: 1448, initial_window: segments * SMSS, rtt: None }
    }

    /// The first acknowledgement, of a number of segments, of a flight that fills a window of `cwnd`.
    pub fn ack(segments: u64, cwnd: u64) -> Ack {
        Ack {
            now: Instant::ZERO,
            acked: segments * SMSS,
            delivered: segments * SMSS,
            una: segments * SMSS,
            nxt: cwnd * SMSS,
            flight_before: cwnd * SMSS,
            flight: (cwnd - segments.min(cwnd)) * SMSS,
            rtt: Some(Duration::from_millis(40)),
            srtt: None,
            ece: false,
            phase: RecoveryPhase::Open,
        }
    }

    /// A pause from the start, in milliseconds, with this RTO.
    pub fn idle(millis: u64, rto: u64) -> Idle {
        let now = Instant::ZERO + Duration::from_millis(millis);
        Idle { now, last_sent: Instant::ZERO, rto: Duration::from_millis(rto) }
    }

    pub fn loss(flight: u64) -> Loss {
        Loss { now: Instant::ZERO, flight: flight * SMSS, window: flight * SMSS, nxt: 40 * SMSS }
    }

    fn window(segments: u64) -> Window {
        let mut window = Window::new(&Config::linux_6());
        window.establish(&start(segments));
        window
    }

    #[test]
    fn a_full_window_is_remembered_for_the_data_then_in_flight() {
        let mut window = window(10);
        window.ssthresh = 10;
        // Full at first: the window is the limit until all ten are acknowledged.
        window.take(&ack(1, 10));
        assert!(window.is_limited());
        let later = |una, nxt, out| Ack { una: una * SMSS, nxt: nxt * SMSS, flight_before: out * SMSS, ..ack(1, 10) };
        window.take(&later(2, 10, 4));
        assert!(window.is_limited());
        // The previous acknowledgement covered the tenth.
        window.take(&later(11, 14, 4));
        assert!(!window.is_limited());
    }

    #[test]
    fn in_slow_start_half_a_window_will_do() {
        // 6 of 10 in flight: 10 < 12; 5 of 10: not.
        for (out, limited) in [(6, true), (5, false)] {
            let mut window = window(10);
            window.take(&Ack { flight_before: out * SMSS, ..ack(1, 10) });
            assert_eq!(window.is_limited(), limited);
        }
    }

    #[test]
    fn growth_by_counting_carries_the_rest_over() {
        // 25 of every 10: two segments, 5 left.
        let mut window = window(10);
        window.avoid(10, 25);
        assert_eq!((window.cwnd, window.count), (12, 5));
        // With a smaller number of segments per increment, the count exceeds it: one segment, and a restart from
        // zero.
        window.avoid(4, 1);
        assert_eq!((window.cwnd, window.count), (13, 1));
    }

    #[test]
    fn a_pause_is_remembered_in_the_threshold() {
        let mut window = window(10);
        (window.cwnd, window.ssthresh) = (41, 20);
        window.restart(&idle(60, 2));
        // 20 + 10.
        assert_eq!((window.cwnd, window.ssthresh), (10, 30));
    }

    #[test]
    fn each_timeout_of_a_pause_halves_the_window() {
        for (timeouts, cwnd) in [(1, 41), (2, 20), (3, 10), (9, 10)] {
            let mut window = window(10);
            window.cwnd = 41;
            // One nanosecond more than this number of timeouts, less one.
            let mut pause = idle(10 * timeouts, 10);
            pause.last_sent = Instant::ZERO + Duration::from_nanos(1);
            window.restart(&pause);
            assert_eq!(window.cwnd, cwnd, "{timeouts}");
        }
    }
}
