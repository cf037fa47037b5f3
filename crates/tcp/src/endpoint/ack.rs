//! Segments in the synchronized states: acknowledgements, data, FIN (RFC 9293 section 3.10.7.4).

use super::receiver::{AckDue, Arrival, Placement};
use super::sender::{AckNumber, UNTIMED};
use super::{Endpoint, PendingControl, State, TimerKind};
use crate::cc::{Ack, CongestionControl, Loss, Recovered, TimeoutKind};
use crate::config::{DuplicateAck, FastRetransmitTimer, RttSampling, TimeoutFlight};
use crate::recovery::{Acked, Duplicate, ExitWindow, PartialAck, RecoveryPhase, Span};
use crate::rtt::Progress;
use crate::segment::{Flags, Segment};
use crate::seq::SeqNr;
use crate::timestamps::Paws;
use netlull_units::{Duration, Instant};

/// Flags that a pure acknowledgement does not have.
const CONTROL: Flags = Flags::SYN.with(Flags::FIN).with(Flags::RST);

/// The further processing of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Continue,
    Stop,
}

impl Endpoint {
    /// Handles a segment in ESTABLISHED or a later state.
    #[inline]
    pub(super) fn handle_synchronized(&mut self, now: Instant, segment: &Segment) {
        if self.timestamps.is_on() && self.timestamps.check(now, segment) == Paws::Refuse {
            self.refuse();
            return;
        }
        // RFC 7323 section 4.3: SEG.TSval >= TS.Recent (checked) and SEG.SEQ <= Last.ACK.sent. Only the first segment
        // after the last acknowledgement satisfies this, so the delay of an acknowledgement is part of the round
        // trip. This precedes the acceptability test (appendix D): the answer to a repeated segment echoes the
        // repetition.
        if self.timestamps.is_on()
            && segment.flags.contains(Flags::HAS_TIMESTAMPS)
            && segment.seq.is_at_or_before(self.rcv.last_ack_sent)
        {
            self.timestamps.remember(now, segment.ts_val);
        }
        // First: sequence numbers.
        let ahead = i64::from(segment.seq.distance_from(self.rcv.next_seq()));
        let placement = self.rcv.place(ahead, segment);
        if placement != Placement::Acceptable && self.handle_misplaced(now, segment, placement) == Then::Stop {
            return;
        }
        // Second to fifth: RST, SYN, ACK missing.
        if segment.flags.intersects(Flags::RST | Flags::SYN) || !segment.flags.contains(Flags::ACK) {
            self.handle_exceptional(ahead, segment);
            return;
        }
        if self.handle_ack(now, segment) == Then::Stop {
            return;
        }
        // Seventh and eighth: data and FIN.
        if segment.len > 0 && placement == Placement::Acceptable {
            self.note_marks(now, segment.flags);
            self.handle_data(now, ahead, segment.len);
        }
        if segment.flags.contains(Flags::FIN) {
            self.handle_fin(now, segment);
        }
    }

    /// Answers an unacceptable segment with an acknowledgement, unless it is a reset.
    #[cold]
    fn handle_misplaced(&mut self, now: Instant, segment: &Segment, placement: Placement) -> Then {
        if segment.flags.contains(Flags::RST) {
            return if placement == Placement::OnlyControl { Then::Continue } else { Then::Stop };
        }
        if placement == Placement::OnlyControl {
            // "Special allowance should be made to accept valid ACKs" when the window is closed.
            self.rcv.ack_due = AckDue::Now;
            return Then::Continue;
        }
        let ahead = i64::from(segment.seq.distance_from(self.rcv.next_seq()));
        if placement == Placement::Old
            && segment.len == 0
            && segment.flags == segment.flags.without(CONTROL)
            && ahead >= -2
        {
            // The peer has probed our window and does not know that we took the probe (a byte, perhaps with a FIN).
            // If we have probed its window too, and neither side took such an acknowledgement, both would answer each
            // other for ever.
            self.refuse();
            return Then::Continue;
        }
        if placement == Placement::Old && segment.len > 0 {
            self.counters.duplicate_segments += 1;
            self.rcv.note_repeated(ahead, segment.len);
        }
        self.refuse();
        if self.state == State::TimeWait && segment.flags.contains(Flags::FIN) {
            // The peer's FIN again: restarts the 2 MSL timeout.
            self.enter_time_wait(now);
        }
        Then::Stop
    }

    fn refuse(&mut self) {
        self.counters.refused_segments += 1;
        self.rcv.ack_due = AckDue::Now;
    }

    /// Handles RST, SYN, or a missing ACK in an acceptable segment.
    #[cold]
    fn handle_exceptional(&mut self, ahead: i64, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            // RFC 9293 (RFC 5961 section 3.2): exactly the next number resets, others in the window are challenged.
            if ahead == 0 {
                self.reset();
            } else {
                self.rcv.ack_due = AckDue::Now;
            }
        } else if segment.flags.contains(Flags::SYN) {
            // RFC 9293 (RFC 5961 section 4.2): a SYN in a synchronized state is challenged.
            self.rcv.ack_due = AckDue::Now;
        }
    }

    #[inline]
    fn handle_ack(&mut self, now: Instant, segment: &Segment) -> Then {
        // The flight before, in case the segment reports congestion.
        let echo = self.rare.ecn.hears(segment.flags).then(|| self.snd.flight().min(self.cc.cwnd().max(self.flight())));
        if echo.is_some() {
            // RFC 4015 section 3.1, `tcp_fastretrans_alert`: congestion is certain.
            self.rare.undo.confirm_congestion();
        }
        let (una, mut delivered) = (self.snd.una, 0);
        match self.snd.classify(segment.ack) {
            AckNumber::New(acked) if self.selective.is_some() => delivered = self.on_ack_selective(now, segment, acked),
            AckNumber::Same if self.selective.is_some() => delivered = self.on_ack_selective(now, segment, 0),
            AckNumber::New(acked) => self.on_new_ack(now, segment, acked),
            AckNumber::Same => self.on_same_ack(now, segment),
            // A duplicate of an older acknowledgement can be ignored, but not the segment's data.
            AckNumber::Old => {
                if segment.sack_count > 0 {
                    self.on_old_ack_selective(now, segment);
                }
                return Then::Continue;
            }
            AckNumber::Unsent => {
                self.refuse();
                return Then::Stop;
            }
        }
        if let Some(flight) = echo {
            self.heed_echo(now, flight, delivered, self.snd.una > una);
        }
        Then::Continue
    }

    /// SND.UNA < SEG.ACK =< SND.NXT.
    #[inline]
    fn on_new_ack(&mut self, now: Instant, segment: &Segment, acked: u64) {
        let flight_before = self.snd.flight();
        self.snd.advance(acked);
        let mut rtt = if self.rare.recovery.samples(self.snd.una) { self.measure_rtt(now, segment) } else { None };
        let needless = self.rare.undo.is_on() && self.is_needless(segment);
        // The window opens from its restored value.
        let phase = if needless { RecoveryPhase::FastRecovery } else { self.rare.recovery.phase() };
        // A duplicate is the delivery of a segment, which the advance covers again.
        let duplicates = u64::from(self.rare.recovery.counted_duplicates()) * u64::from(self.snd.smss);
        let delivered = acked.saturating_sub(duplicates).max(acked.min(u64::from(self.snd.smss)));
        let acked_by_recovery = self.rare.recovery.on_ack(now, self.snd.una, acked, u64::from(self.snd.smss));
        if let Some(fine) = self.rare.recovery.segment_rtt() {
            rtt = fine;
        }
        self.take_blocks(segment);
        self.update_window(segment);
        self.rare.probes = 0;
        // A window closed over data is probed until it opens (ShrunkWindow::PullBack).
        if self.timer_kind != TimerKind::Persist || self.snd.una == self.snd.max {
            self.restart_retransmission_timer(now, acked_by_recovery);
        }
        let (una, nxt) = (self.snd.una, self.snd.nxt);
        let flight = self.snd.flight();
        let srtt = self.rtt.srtt();
        let ece = self.rare.ecn.hears(segment.flags);
        let ack = Ack { now, acked, delivered, una, nxt, flight_before, flight, rtt, srtt, ece, phase };
        match acked_by_recovery {
            Acked::Ordinary => self.cc.on_ack(&ack),
            Acked::Partial(_) => {
                self.counters.partial_acks += 1;
                self.cc.on_ack(&ack);
            }
            Acked::Full { deficit } => self.on_full_ack(&ack, deficit),
        }
        if self.rare.undo.is_on() {
            self.follow_undo(now, acked, needless);
        }
        self.record_acked(now);
        if self.snd.fin_is_acked() {
            self.on_fin_acked(now);
        }
    }

    /// Takes the segment's window, unless the segment is older than the last one.
    #[inline]
    pub(super) fn update_window(&mut self, segment: &Segment) {
        if self.snd.update_window(segment) {
            self.rare.largest_window = self.rare.largest_window.max(self.snd.window);
        }
    }

    /// RFC 6298 sections 3 and 4, RFC 7323 section 4: the sample of this acknowledgement, if it has one.
    #[inline]
    pub(super) fn measure_rtt(&mut self, now: Instant, segment: &Segment) -> Option<Duration> {
        if self.timestamps.is_on() {
            let rtt = self.timestamps.round_trip(now, segment.ts_ecr)?;
            // The first acknowledgement of a window, or any that can end a back-off; there is none on the fast path.
            if self.snd.una >= self.times.timed || (!self.prediction.sends() && self.rtt.is_backed_off()) {
                self.rtt.sample(now, rtt, self.progress());
                self.times.timed = match self.rare.rtt_sampling {
                    RttSampling::OncePerWindow => self.snd.max,
                    RttSampling::EveryAck => 0,
                };
            }
            return Some(rtt);
        }
        if self.snd.una < self.times.timed {
            return None;
        }
        self.times.timed = UNTIMED;
        let rtt = now - self.times.timed_at;
        self.rtt.sample(now, rtt, self.progress());
        Some(rtt)
    }

    #[inline]
    pub(super) fn progress(&self) -> Progress {
        Progress { una: self.snd.una, max: self.snd.max }
    }

    #[inline]
    pub(super) fn restart_retransmission_timer(&mut self, now: Instant, acked: Acked) {
        if self.snd.una == self.snd.max {
            // RFC 6298 section 5.2: all acknowledged, turn the timer off.
            self.stop_timer();
        } else if acked != Acked::Partial(PartialAck::KeepsTimer) {
            // RFC 6298 section 5.3: new data acknowledged, restart the timer.
            self.start_timer(now, TimerKind::Retransmit, self.rtt.rto());
        }
    }

    /// RFC 6582 section 3.2 step 3: the acknowledgement that ends recovery sets cwnd, and does not open it further,
    /// except in ns-2.
    #[cold]
    fn on_full_ack(&mut self, ack: &Ack, deficit: u64) {
        if self.rare.recovery.exit_opens_window() {
            self.leave_recovery(ack.now, deficit);
            self.cc.on_ack(&Ack { phase: RecoveryPhase::Open, ..*ack });
        } else {
            self.cc.on_ack(ack);
            self.leave_recovery(ack.now, deficit);
        }
    }

    fn leave_recovery(&mut self, now: Instant, deficit: u64) {
        let flight = self.snd.flight();
        let exit = ExitWindow {
            cwnd: self.cc.cwnd(),
            ssthresh: self.cc.ssthresh(),
            flight,
            smss: u64::from(self.snd.smss),
            deficit,
        };
        let window = self.rare.recovery.exit_window(&exit);
        self.cc.on_recovered(&Recovered { now, flight, window });
    }

    /// Handles SEG.ACK = SND.UNA: a window update, an acknowledgement with data, or a duplicate.
    #[inline]
    fn on_same_ack(&mut self, now: Instant, segment: &Segment) {
        // RFC 5681 section 2: (a) data is outstanding, (b) no data, (c) no SYN or FIN, (d) the same number,
        // (e) the same window.
        let repeats_window = u32::from(segment.window) << self.snd.shift == self.snd.window;
        let duplicate = segment.len == 0
            && !segment.flags.contains(Flags::FIN)
            && self.snd.flight() > 0
            && (repeats_window || self.rare.duplicate_ack == DuplicateAck::AnyWindow);
        self.update_window(segment);
        if duplicate {
            self.tell_duplicate(now, segment);
            self.take_blocks(segment);
            self.on_duplicate_ack(now);
            self.record_duplicate(now);
        }
    }

    /// Reports a duplicate to congestion control.
    fn tell_duplicate(&mut self, now: Instant, segment: &Segment) {
        let flight = self.snd.flight();
        self.cc.on_duplicate_ack(&Ack {
            now,
            acked: 0,
            delivered: 0,
            una: self.snd.una,
            nxt: self.snd.nxt,
            flight_before: flight,
            flight,
            rtt: None,
            srtt: self.rtt.srtt(),
            ece: self.rare.ecn.hears(segment.flags),
            phase: self.rare.recovery.phase(),
        });
    }

    fn on_duplicate_ack(&mut self, now: Instant) {
        self.counters.duplicate_acks += 1;
        if self.rare.undo.tries_forward() {
            self.stop_forward();
        }
        let limited = self.rare.recovery.limited_transmit_flight();
        let smss = u64::from(self.snd.smss);
        let window = self.rare.recovery.window(self.cc.cwnd(), smss);
        let duplicate = self.rare.recovery.on_duplicate(now, self.snd.una, self.snd.max, smss);
        if matches!(duplicate, Duplicate::Noted) {
            return;
        }
        self.counters.fast_retransmits += 1;
        self.stop_timing();
        let loss = self.loss(now, limited);
        match duplicate {
            Duplicate::Noted => {}
            Duplicate::Lost => {
                let prior = self.prior(loss.flight);
                self.reduce_for_loss(&loss);
                if self.rare.recovery.can_undo() {
                    self.rare.undo.begin(self.snd.una, prior, false, 0);
                }
            }
            Duplicate::Restart => {
                self.restart_from_loss(now, limited);
                return;
            }
            Duplicate::Expired { sent, reduces } => {
                if reduces {
                    let window = window.min(u64::from(self.snd.window));
                    self.cc.on_segment_lost(&Loss { window, ..loss }, &sent);
                    self.rare.ecn.reduced(self.snd.max);
                    self.rare.recovery.reduced_to(self.cc.cwnd());
                }
                // ns-2 backs off the coarse timer as well.
                self.rtt.back_off();
            }
        }
        if self.rare.fast_retransmit_timer == FastRetransmitTimer::Restart {
            self.start_timer(now, TimerKind::Retransmit, self.rtt.rto());
        }
    }

    /// Tahoe: treats the loss as a timeout, without backing off the timer.
    fn restart_from_loss(&mut self, now: Instant, limited_transmit: u64) {
        let loss = self.loss(now, limited_transmit);
        self.cc.on_timeout(&loss, TimeoutKind::First);
        self.record_lost(now, Span { start: self.snd.una, end: self.snd.max });
        self.rare.ecn.reduced(self.snd.max);
        self.snd.nxt = self.snd.una;
        self.start_timer(now, TimerKind::Retransmit, self.rtt.rto());
    }

    /// Passes the SACK blocks to a recovery that counts.
    #[inline]
    fn take_blocks(&mut self, segment: &Segment) {
        if self.rare.recovery.reads_blocks() {
            let (una, most) = (self.snd.una, self.snd.max);
            let origin = self.snd.seq(una);
            let offset = |edge: SeqNr| una.saturating_add_signed(i64::from(edge.distance_from(origin)));
            let spans = segment
                .sack_blocks()
                .iter()
                .map(|block| Span { start: offset(block.left).max(una), end: offset(block.right) });
            self.rare.recovery.take_blocks(spans.filter(|span| span.start < span.end && span.end <= most));
        }
    }

    fn loss(&self, now: Instant, limited_transmit: u64) -> Loss {
        self.loss_of(now, self.snd.flight().saturating_sub(limited_transmit))
    }

    /// A loss with the given data in flight.
    pub(super) fn loss_of(&self, now: Instant, flight: u64) -> Loss {
        Loss { now, flight, window: self.cc.cwnd().min(u64::from(self.snd.window)), nxt: self.snd.nxt }
    }

    /// RFC 6298 sections 5.4 to 5.6.
    #[cold]
    pub(super) fn on_retransmission_timeout(&mut self, now: Instant) {
        if matches!(self.state, State::SynSent | State::SynReceived) {
            self.on_handshake_timeout();
            return;
        }
        self.counters.timeouts += 1;
        self.stop_timing();
        if self.selective.is_some() {
            self.on_timeout_selective(now);
        } else {
            self.on_timeout_go_back(now);
        }
        self.rare.ecn.reduced(self.snd.max);
        self.rtt.back_off();
        self.start_timer(now, TimerKind::Retransmit, self.rtt.rto());
    }

    fn on_timeout_go_back(&mut self, now: Instant) {
        let mut loss = self.loss(now, self.rare.recovery.limited_transmit_flight());
        if self.recovery_phase() == RecoveryPhase::FastRecovery && self.rare.timeout_flight == TimeoutFlight::Deflated {
            loss.flight = loss.flight.min(self.cc.cwnd());
        }
        let (prior, phase) = (self.prior(loss.flight), self.recovery_phase());
        let kind = self.rare.recovery.on_timeout(now, self.snd.una, self.snd.max);
        self.cc.on_timeout(&loss, kind);
        if self.rare.recovery.can_undo() {
            self.watch_timeout(phase, kind, prior, 0);
        }
        self.record_lost(now, Span { start: self.snd.una, end: self.snd.max });
        // All data sent is presumed lost; an acknowledgement skips the data that the receiver holds.
        self.snd.nxt = self.snd.una;
    }

    /// [`ShrunkWindow::PullBack`](crate::ShrunkWindow): the window has closed, perhaps over data in flight, which is
    /// retransmitted when it opens.
    pub(super) fn pull_back(&mut self, now: Instant) {
        let (una, max) = (self.snd.una, self.snd.max);
        // A FIN alone needs no window.
        let holds_data = una < max.min(self.snd.queued);
        if !holds_data || (self.snd.nxt == una && self.timer_kind == TimerKind::Persist) {
            return;
        }
        if self.rare.recovery.pull_back() == RecoveryPhase::FastRecovery {
            self.cc.on_recovered(&Recovered { now, flight: 0, window: self.cc.cwnd() });
        }
        self.stop_timing();
        self.record_lost(now, Span { start: una, end: max });
        self.snd.nxt = una;
        if self.timer_kind != TimerKind::Persist {
            self.start_timer(now, TimerKind::Persist, self.rtt.rto());
        }
    }

    /// RFC 9293 section 3.8.6.1: probes the closed window, at doubling intervals.
    #[cold]
    pub(super) fn on_persist_timeout(&mut self, now: Instant) {
        self.control = PendingControl::Probe;
        self.rare.probes = self.rare.probes.saturating_add(1);
        let interval = self.rtt.rto().saturating_mul(1 << self.rare.probes.min(16)).min(self.rtt.max_rto());
        self.start_timer(now, TimerKind::Persist, interval);
    }

    #[inline]
    pub(super) fn handle_data(&mut self, now: Instant, ahead: i64, len: u16) {
        // After the peer's FIN, or in TIME-WAIT, no more data can arrive.
        if !matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            return;
        }
        match self.rcv.receive(now, ahead, len) {
            Arrival::InOrder => {
                if self.rcv.take_fin() {
                    self.on_fin(now);
                }
            }
            Arrival::OutOfOrder => self.counters.out_of_order_segments += 1,
            Arrival::NothingNew => self.counters.duplicate_segments += 1,
        }
    }

    #[cold]
    fn handle_fin(&mut self, now: Instant, segment: &Segment) {
        if self.rcv.is_finished() {
            self.rcv.ack_due = AckDue::Now;
            return;
        }
        let end = segment.seq.advanced_by(u64::from(segment.len));
        let offset = i64::from(end.distance_from(self.rcv.next_seq()));
        // Data cut off at the window's edge removes the FIN: the peer retransmits it.
        if offset < 0 || self.rcv.nxt.saturating_add_signed(offset) > self.rcv.edge {
            return;
        }
        self.rcv.note_fin(self.rcv.nxt.saturating_add_signed(offset));
        self.rcv.ack_due = AckDue::Now;
        if self.rcv.take_fin() {
            self.on_fin(now);
        }
    }
}
