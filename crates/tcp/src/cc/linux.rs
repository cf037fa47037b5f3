//! The window of Linux 2.6.22 in ns-2.35's TCP/Linux: whole segments, integers, milliseconds.
//!
//! [`Linux`] is an algorithm ([`Ops`]) and the window that the stack keeps for it. The stack decides whether an
//! acknowledgement may open the window, provides Reno's growth, and carries out reductions. Names in backquotes are
//! the kernel's.

use super::{Ack, CongestionControl, Idle, Loss, Recovered, Spurious, Start, TimeoutKind};
use crate::config::{Config, Increase, RepeatedTimeout, SsthreshFrom, WindowReduction};
use crate::recovery::RecoveryPhase;
use netlull_units::{Bytes, Instant};
use std::fmt;

/// `snd_cwnd_clamp`, an unsigned 16-bit number in 2.6.22, segments.
const LARGEST_WINDOW: u64 = 65_535;
/// "Infinitely large" `snd_ssthresh`, segments.
const NO_THRESHOLD: u64 = 0x7fff_ffff;
/// `tcp_max_burst`: segments allowed beyond the flight at the end of recovery.
const MAX_BURST: u64 = 3;

/// `tcp_congestion_ops`: the rules that an algorithm adds to the stack's.
pub trait Ops: Clone + fmt::Debug {
    /// The end of rate halving (`min_cwnd`).
    const FLOOR: Floor = Floor::HalfSsthresh;

    /// The algorithm before the handshake (`init`).
    fn new(config: &Config) -> Self;

    /// Handles an acknowledgement of new data (`pkts_acked`).
    #[inline]
    fn acked(&mut self, _window: &LinuxWindow, _ack: &Ack) {}

    /// Lets the window grow (`cong_avoid`).
    fn open(&mut self, window: &mut LinuxWindow, ack: &Ack);

    /// Handles an acknowledgement without new data.
    fn duplicate(&mut self, _ack: &Ack) {}

    /// The threshold after a loss (`ssthresh`).
    fn threshold(&mut self, window: &LinuxWindow) -> u64 {
        window.half()
    }

    /// Handles the start of fast recovery (`set_state(TCP_CA_Recovery)`).
    fn lost(&mut self, _loss: &Loss) {}

    /// Handles the start of the state after a timeout (`set_state(TCP_CA_Loss)`).
    fn timed_out(&mut self) {}

    /// Handles the end of the repair (`set_state(TCP_CA_Open)`).
    fn reopened(&mut self) {}

    /// Handles data after a pause (`CA_EVENT_CWND_RESTART`).
    fn restarted(&mut self, _window: &LinuxWindow) {}
}

/// An algorithm of Linux 2.6.22.
#[derive(Clone, Debug)]
pub struct Linux<A> {
    pub(super) window: LinuxWindow,
    pub(super) algorithm: A,
}

impl<A: Ops> Linux<A> {
    /// The algorithm with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self { window: LinuxWindow::new(config), algorithm: A::new(config) }
    }
}

impl<A: Ops> CongestionControl for Linux<A> {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.window.bytes()
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.window.ssthresh_bytes()
    }

    fn on_established(&mut self, start: &Start) {
        self.window.establish(start);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.window.note(ack);
        self.algorithm.acked(&self.window, ack);
        if self.window.may_raise(ack) {
            self.algorithm.open(&mut self.window, ack);
        }
        if self.window.finish(ack) == Finished::Reopened {
            self.algorithm.reopened();
        }
    }

    fn on_duplicate_ack(&mut self, ack: &Ack) {
        self.algorithm.duplicate(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        let ssthresh = self.algorithm.threshold(&self.window);
        self.window.enter_recovery(ssthresh, A::FLOOR);
        self.algorithm.lost(loss);
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        if self.window.takes_threshold(kind) {
            self.window.ssthresh = self.algorithm.threshold(&self.window);
        }
        self.window.enter_loss(loss);
        self.algorithm.timed_out();
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.window.recovered(recovered);
        self.algorithm.reopened();
    }

    fn on_spurious(&mut self, spurious: &Spurious) {
        self.window.restore(spurious);
    }

    fn on_idle_restart(&mut self, _idle: &Idle) {
        self.window.restart();
        self.algorithm.restarted(&self.window);
    }
}

/// `icsk_ca_state`, with the distinctions needed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// No repair.
    Open,
    /// Fast recovery, or the reduction of the window after an ECN echo.
    Recovery,
    /// After a timeout, until all data sent before it is acknowledged.
    Loss {
        /// Stream offset after the last byte sent before the timeout (`high_seq`).
        high_seq: u64,
    },
}

/// The result of [`LinuxWindow::finish`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// The state is unchanged.
    No,
    /// The state became [`CaState::Open`]: the algorithm's `set_state(TCP_CA_Open)` is due.
    Reopened,
}

/// The end of rate halving after a loss (`min_cwnd`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floor {
    /// Rate halving ends at `snd_ssthresh`: algorithms without `min_cwnd`.
    Ssthresh,
    /// Rate halving may continue to half of it (`tcp_reno_min_cwnd`).
    HalfSsthresh,
}

/// `snd_cwnd` and related fields, in segments.
#[derive(Clone, Debug)]
pub struct LinuxWindow {
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
    /// `icsk_ca_state`.
    pub state: CaState,
    initial_window: u64,
    repeated_timeout: RepeatedTimeout,
    window_reduction: WindowReduction,
}

impl LinuxWindow {
    /// The window before the handshake.
    pub fn new(config: &Config) -> Self {
        let smss = u64::from(config.mss);
        let clamp = match config.cwnd.ssthresh_from {
            SsthreshFrom::Flight => LARGEST_WINDOW,
            // In ns-2, `snd_cwnd_clamp` is `window_`, which is also the receiver's window.
            SsthreshFrom::Window => (config.flow_control.receive_buffer.as_u64() / smss).max(1),
        };
        Self {
            cwnd: 1,
            ssthresh: config.cwnd.initial_ssthresh.map_or(NO_THRESHOLD, |bytes: Bytes| (bytes.as_u64() / smss).max(1)),
            count: 0,
            clamp,
            smss,
            bytes_acked: 0,
            abc: match (config.cwnd.increase, config.cwnd.ssthresh_from) {
                (Increase::ByteCounting { limit }, _) => u32::from(limit.min(2)),
                // The value is 0 in Linux 2.6.22 and 1 in ns-2.35.
                (Increase::PerAck, SsthreshFrom::Flight) => 0,
                (Increase::PerAck, SsthreshFrom::Window) => 1,
            },
            state: CaState::Open,
            initial_window: 1,
            repeated_timeout: config.cwnd.repeated_timeout,
            window_reduction: config.recovery.window_reduction,
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
        self.initial_window = (start.initial_window / smss).max(1);
        self.cwnd = self.initial_window;
        self.count = 0;
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

    /// `tcp_time_stamp`: jiffies of 1 ms (HZ = 1000) since the start of the simulation, rounded down.
    #[inline]
    pub fn jiffies(now: Instant) -> u64 {
        now.as_nanos() / 1_000_000
    }

    /// The segments of an acknowledgement; a short segment counts as one.
    #[inline]
    pub fn segments(&self, bytes: u64) -> u64 {
        // An acknowledgement of one segment needs no division.
        if bytes <= self.smss { u64::from(bytes > 0) } else { bytes.div_ceil(self.smss) }
    }

    /// Counts every acknowledgement of new data.
    #[inline]
    pub fn note(&mut self, ack: &Ack) {
        self.bytes_acked += ack.acked;
    }

    /// `tcp_may_raise_cwnd`: true outside recovery and without an ECN echo.
    #[inline]
    pub fn may_raise(&self, ack: &Ack) -> bool {
        ack.phase != RecoveryPhase::FastRecovery && (!ack.ece || self.cwnd < self.ssthresh)
    }

    /// `tcp_is_cwnd_limited`, without segmentation offload: true if the flight before the acknowledgement filled the
    /// window.
    #[inline]
    pub fn is_limited(&self, ack: &Ack) -> bool {
        // Segments in flight, the last possibly short, are at least cwnd.
        ack.flight_before > (self.cwnd - 1) * self.smss
    }

    /// True at or below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd <= self.ssthresh
    }

    /// `tcp_slow_start`: one segment per acknowledgement; with `sysctl_tcp_abc` = 2, two for a delayed one.
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
            // At the clamp the count must continue.
            self.increment();
        }
    }

    /// Adds a segment, up to the clamp.
    #[inline]
    pub fn increment(&mut self) {
        if self.cwnd < self.clamp {
            self.cwnd += 1;
        }
    }

    /// Adds a segment after `every` acknowledgements plus one (congestion avoidance by counting).
    #[inline]
    pub fn avoid(&mut self, every: u64) {
        if self.count >= every {
            self.increment();
            self.count = 0;
        } else {
            self.count += 1;
        }
    }

    /// `cong_avoid` of BIC and CUBIC: slow start, then a segment for every so many acknowledgements. `count` gives their
    /// number for a window at a time in milliseconds.
    #[inline]
    pub fn grow(&mut self, ack: &Ack, count: impl FnOnce(u64, u64) -> u64) {
        if !self.is_limited(ack) {
            return;
        }
        if self.in_slow_start() {
            self.slow_start();
        } else {
            self.avoid(count(self.cwnd, Self::jiffies(ack.now)));
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

    /// Begins fast recovery, with the threshold of the algorithm.
    pub fn enter_recovery(&mut self, ssthresh: u64, floor: Floor) {
        self.ssthresh = ssthresh;
        self.count = 0;
        self.bytes_acked = 0;
        self.cwnd = match (floor, self.window_reduction) {
            (Floor::HalfSsthresh, WindowReduction::RateHalving) => (ssthresh / 2).max(1),
            // Without rate halving, a floor below the target has no use.
            _ => ssthresh,
        };
        self.state = CaState::Recovery;
    }

    /// True if a timeout must compute a new threshold.
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

    /// Ends [`CaState::Loss`] if due, after all other work for an acknowledgement.
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

    /// Restores the window before a needless reduction. ns-2's TCP/Linux has no such rule.
    pub fn restore(&mut self, spurious: &Spurious) {
        self.cwnd = self.cwnd.max(spurious.cwnd / self.smss).min(self.clamp);
        self.ssthresh = self.ssthresh.max(spurious.ssthresh / self.smss);
        self.state = CaState::Open;
    }

    /// ns-2's TCP/Linux, `tcp_fastretrans_alert` step E: raises a window below the threshold to it. Then
    /// `tcp_moderate_cwnd` prevents a burst of more than three segments.
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use netlull_units::Duration;

    pub const SMSS: u64 = 1000;

    /// ns-2's settings with a window and a threshold in segments.
    pub fn config(window: u32, ssthresh: u64) -> Config {
        Config::ns2().with_ns2_window(window).with(|c| {
            c.cwnd.initial_ssthresh = Some(Bytes::new(ssthresh * SMSS));
            c.recovery.window_reduction = WindowReduction::RateHalving;
        })
    }

    pub fn start(segments: u64) -> Start {
        Start { now: Instant::ZERO, smss: 1000, initial_window: segments * SMSS, rtt: None }
    }

    /// An acknowledgement of one segment of a full window, at `now` milliseconds.
    pub fn ack(now: u64, una: u64, cwnd: u64) -> Ack {
        Ack {
            now: Instant::from_nanos(now * 1_000_000),
            acked: SMSS,
            delivered: SMSS,
            una: una * SMSS,
            nxt: (una - 1 + cwnd) * SMSS,
            flight_before: cwnd * SMSS,
            flight: (cwnd - 1) * SMSS,
            rtt: Some(Duration::from_millis(100)),
            srtt: None,
            ece: false,
            phase: RecoveryPhase::Open,
        }
    }

    pub fn loss(flight: u64, nxt: u64) -> Loss {
        Loss { now: Instant::ZERO, flight: flight * SMSS, window: flight * SMSS, nxt: nxt * SMSS }
    }

    /// No byte counting, except on request.
    fn window(cwnd: u64, config: &Config) -> LinuxWindow {
        let mut window = LinuxWindow::new(config);
        window.establish(&start(cwnd));
        if config.cwnd.increase == Increase::PerAck {
            window.abc = 0;
        }
        window
    }

    #[test]
    fn slow_start_adds_a_segment_per_acknowledgement_up_to_the_clamp() {
        // cwnd <= ssthresh is slow start in Linux: at 4 with ssthresh 4 still; at 5 no more.
        let mut reno = window(3, &config(100, 4));
        for expected in [4, 5, 5] {
            reno.reno(&ack(0, 10, reno.cwnd));
            assert_eq!(reno.cwnd, expected);
        }
        let mut clamped = window(9, &config(10, 100));
        for expected in [10, 10] {
            clamped.slow_start();
            assert_eq!(clamped.cwnd, expected);
        }
    }

    #[test]
    fn congestion_avoidance_counts_one_acknowledgement_more_than_the_window() {
        // 2.6.22 counts from 0 to cwnd. The acknowledgement after that adds a segment: cwnd + 1 of them.
        let mut reno = window(4, &config(100, 2));
        let grown = (1..).take_while(|_| {
            reno.reno(&ack(0, 10, 4));
            reno.cwnd == 4
        });
        assert_eq!(grown.count(), 4);
        assert_eq!((reno.cwnd, reno.count), (5, 0));
    }

    #[test]
    fn byte_counting_adds_a_segment_per_window_of_bytes() {
        let bytes = config(100, 2).with(|c| c.cwnd.increase = Increase::ByteCounting { limit: 2 });
        let mut reno = window(4, &bytes);
        // Two segments each: 2, 4 -> 5; then 2, 4, 6 -> 1 left of 6, 6.
        for expected in [4, 5, 5, 5, 6] {
            let delayed = Ack { acked: 2 * SMSS, ..ack(0, 10, reno.cwnd) };
            reno.note(&delayed);
            reno.reno(&delayed);
            assert_eq!(reno.cwnd, expected);
        }
        // L = 2: a delayed acknowledgement counts two windows, 12; 6 make a segment, and 6 of the next 7 remain.
        reno.ssthresh = 50;
        reno.note(&Ack { acked: 2 * SMSS, ..ack(0, 10, 6) });
        reno.slow_start();
        assert_eq!((reno.cwnd, reno.count), (7, 6));
    }

    #[test]
    fn only_a_full_window_grows() {
        let mut reno = window(4, &config(100, 100));
        // Three segments in flight and a byte: the fourth segment is a short one.
        for (flight_before, expected) in [(3000, 4), (3001, 5)] {
            reno.reno(&Ack { flight_before, ..ack(0, 10, 4) });
            assert_eq!(reno.cwnd, expected);
        }
    }

    #[test]
    fn recovery_leads_to_half_of_the_threshold_and_ends_without_a_burst() {
        let mut reno = window(40, &config(100, 100));
        reno.enter_recovery(reno.half(), Floor::HalfSsthresh);
        assert_eq!((reno.cwnd, reno.ssthresh), (10, 20));
        assert!(!reno.may_raise(&Ack { phase: RecoveryPhase::FastRecovery, ..ack(0, 10, 10) }));
        // min(20, 8 in flight + 3); with 30 in flight 20.
        let ended = |flight| Recovered { now: Instant::ZERO, flight: flight * SMSS, window: 0 };
        let mut other = reno.clone();
        reno.recovered(&ended(8));
        other.recovered(&ended(30));
        assert_eq!((reno.cwnd, other.cwnd), (11, 20));
    }

    #[test]
    fn without_rate_halving_recovery_leads_to_the_threshold() {
        let proportional = config(100, 100).with(|c| c.recovery.window_reduction = WindowReduction::Proportional);
        let mut reno = window(40, &proportional);
        reno.enter_recovery(reno.half(), Floor::HalfSsthresh);
        assert_eq!((reno.cwnd, reno.ssthresh), (20, 20));
    }

    #[test]
    fn a_timeout_ends_when_all_sent_before_it_is_acknowledged() {
        let mut reno = window(40, &config(100, 100));
        reno.ssthresh = reno.half();
        reno.enter_loss(&loss(40, 60));
        assert_eq!((reno.cwnd, reno.ssthresh), (1, 20));
        assert_eq!(reno.finish(&ack(0, 59, 5)), Finished::No);
        // At the end ns-2's TCP/Linux raises cwnd to ssthresh, here to 4 in flight and 3.
        assert_eq!(reno.finish(&ack(0, 60, 5)), Finished::Reopened);
        assert_eq!((reno.cwnd, reno.state), (7, CaState::Open));
    }

    #[test]
    fn an_echo_holds_a_window_at_or_above_its_threshold() {
        let reno = window(10, &config(100, 10));
        let echo = Ack { ece: true, ..ack(0, 10, 10) };
        assert!(!reno.may_raise(&echo));
        assert!(window(9, &config(100, 10)).may_raise(&echo));
    }
}
