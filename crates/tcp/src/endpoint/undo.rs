//! Needless recoveries: the records for their detection, and the return of the window.

use super::Endpoint;
use crate::cc::{CongestionControl, Recovered, Spurious, TimeoutKind};
use crate::number::length_u32;
use crate::recovery::{Prior, RecoveryPhase, Span};
use crate::segment::Segment;
use netlull_units::Instant;

impl Endpoint {
    /// The window and the threshold before a reduction with `flight` bytes in flight, if they may return.
    pub(super) fn prior(&self, flight: u64) -> Option<Prior> {
        if !self.rare.undo.is_on() || self.snd.una < self.rare.ecn.losses_from {
            return None;
        }
        let (cwnd, smss) = (self.cc.cwnd(), u64::from(self.snd.smss));
        let segments = cwnd / smss;
        // `tcp_current_ssthresh`; RFC 4015 section 3.1: pipe_prev.
        let used = if self.rare.undo.is_linux() { ((segments >> 1) + (segments >> 2)) * smss } else { flight };
        Some(Prior { cwnd, ssthresh: self.cc.ssthresh().max(used) })
    }

    /// Records a retransmission of `len` bytes.
    #[inline]
    pub(super) fn note_repeat(&mut self, now: Instant, start: u64, len: u64) {
        if self.rare.undo.is_on() {
            let stamp = if self.timestamps.is_on() { self.timestamps.now(now) } else { 0 };
            let segments = len.div_ceil(u64::from(self.snd.smss)).max(1);
            self.rare.undo.retransmitted(Span { start, end: start + len }, stamp, length_u32(segments));
        }
    }

    /// True if new data is queued and fits the peer's window.
    pub(super) fn may_send_new_data(&self) -> bool {
        self.snd.queued > self.snd.max && self.snd.edge > self.snd.max
    }

    /// Handles an expiration of the retransmission timer in `phase`; `in_flight`: retransmissions that may still
    /// arrive, in segments (`tcp_enter_loss`).
    pub(super) fn watch_timeout(
        &mut self,
        phase: RecoveryPhase,
        kind: TimeoutKind,
        prior: Option<Prior>,
        in_flight: u32,
    ) {
        let repeated = kind == TimeoutKind::Repeated;
        let undo = &mut self.rare.undo;
        match phase {
            RecoveryPhase::Loss if repeated => undo.time_out(),
            RecoveryPhase::FastRecovery if undo.is_linux() => undo.time_out(),
            // The loss that began fast recovery may be real.
            RecoveryPhase::FastRecovery => undo.forget(),
            RecoveryPhase::Open | RecoveryPhase::Loss => {
                undo.begin(self.snd.una, prior, true, in_flight);
                self.rare.rtt_before_timeout = self.rtt.before_timeout();
            }
        }
        // RFC 5682 section 2.1 step 1: not while an earlier loss is repaired.
        if phase == RecoveryPhase::Open || (phase == RecoveryPhase::Loss && repeated) {
            undo.try_forward();
        } else {
            undo.stop_forward();
        }
    }

    /// True if an acknowledgement of new data proves a recovery by duplicates or a timeout needless, which then is over.
    #[cold]
    pub(super) fn is_needless(&mut self, segment: &Segment) -> bool {
        let phase = self.rare.recovery.phase();
        if phase == RecoveryPhase::Open {
            return false;
        }
        let echo = self.timestamps.echo(segment);
        let undo = &mut self.rare.undo;
        // RFC 5682 section 2.1 step 3.b: after new data, data that was not retransmitted is acknowledged.
        let forward = undo.waits_for_new_data();
        if undo.evidence(echo).is_none() && !forward {
            return false;
        }
        undo.conclude(true);
        self.rare.recovery.abort();
        // RFC 4015 section 3.1 step 8: data sent before is not sent again.
        self.snd.nxt = self.snd.max;
        true
    }

    /// Handles the rest of an acknowledgement of `acked` new bytes: the window of a needless recovery returns, or F-RTO
    /// takes its next step.
    pub(super) fn follow_undo(&mut self, now: Instant, acked: u64, needless: bool) {
        let flight = self.snd.flight();
        if needless {
            self.restore(now, acked, flight);
            self.cc.on_recovered(&Recovered { now, flight, window: self.cc.cwnd() });
        } else if self.rare.undo.tries_forward() {
            self.step_forward();
        }
    }

    /// RFC 5682 section 2.1 step 2: the retransmission is acknowledged.
    #[cold]
    fn step_forward(&mut self) {
        let recovery = &mut self.rare.recovery;
        if recovery.phase() != RecoveryPhase::Loss || self.snd.una >= recovery.recovery_point() {
            self.rare.undo.stop_forward();
        } else if self.may_send_new_data() {
            // Step 2.b: two new segments.
            self.rare.undo.send_forward();
            self.snd.nxt = self.snd.max;
            let target = self.snd.flight() + 2 * u64::from(self.snd.smss);
            self.rare.recovery.admit(target, self.cc.cwnd());
        } else {
            self.rare.undo.stop_forward();
        }
    }

    /// True if F-RTO ends because no new data can go out (RFC 5682 section 2.1 step 2.b).
    pub(super) fn cannot_send_forward(&mut self) -> bool {
        let cannot = self.rare.undo.waits_for_new_data() && self.snd.max == self.rare.recovery.recovery_point();
        if cannot {
            self.stop_forward();
        }
        cannot
    }

    /// RFC 5682 section 2.1 steps 2.a and 3.a: a duplicate means that the loss is real. Data sent before is sent again.
    #[cold]
    pub(super) fn stop_forward(&mut self) {
        let sent = self.rare.undo.waits_for_new_data();
        self.rare.undo.stop_forward();
        if sent {
            self.snd.nxt = self.snd.una;
            self.rare.recovery.admit(self.cc.cwnd(), self.cc.cwnd());
        }
    }

    /// Restores the window if the last acknowledgement has proved a recovery needless: `acked` bytes are newly
    /// acknowledged, and `flight` are in flight. True if it has.
    #[inline]
    pub(super) fn restore(&mut self, now: Instant, acked: u64, flight: u64) -> bool {
        let restores = self.rare.undo.has_needless();
        if restores {
            self.restore_window(now, acked, flight);
        }
        restores
    }

    #[cold]
    fn restore_window(&mut self, now: Instant, acked: u64, flight: u64) {
        let Some(needless) = self.rare.undo.take_needless() else { return };
        if needless.timed_out {
            self.counters.undone_timeouts += 1;
        } else {
            self.counters.undone_fast_retransmits += 1;
        }
        let Some(Prior { cwnd, ssthresh }) = needless.prior else { return };
        let answers_timeout = needless.timed_out && !self.rare.undo.is_linux();
        // RFC 4015 section 3.1: no burst, but slow start up to the flight before.
        let cwnd = if answers_timeout { flight + acked.min(self.initial_window_bytes()) } else { cwnd };
        if ssthresh > self.cc.ssthresh() {
            self.rare.ecn.withdraw();
        }
        self.cc.on_spurious(&Spurious { now, flight, cwnd, ssthresh, timed_out: needless.timed_out });
        if answers_timeout {
            self.rtt.widen(self.rare.rtt_before_timeout, self.snd.max);
        }
    }
}
