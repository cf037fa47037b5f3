//! Segments that the endpoint sends.

use super::fast::{Polled, Prediction};
use super::receiver::AckDue;
use super::sender::{Fin, Next, UNTIMED};
use super::{Endpoint, PendingControl, TimerKind};
use crate::cc::{CongestionControl, Idle};
use crate::config::ShrunkWindow;
use crate::number::{field_u16, length_u32};
use crate::recovery::Span;
use crate::segment::{Flags, Segment};
use netlull_units::Instant;

impl Endpoint {
    /// The next segment to send, if there is one. Drain it after every call that may have changed something.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_transmit_into(now, &mut segment).then_some(segment)
    }

    /// Does the work of [`poll_transmit`](Self::poll_transmit), but writes the segment to its final place; false if
    /// there is none. The previous content of `segment` does not matter.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        match self.poll_predicted(now, segment) {
            Polled::Segment => true,
            Polled::Nothing => false,
            Polled::Unknown => self.poll_general(now, segment),
        }
    }

    fn poll_general(&mut self, now: Instant, segment: &mut Segment) -> bool {
        let next = self.transmit(now);
        if self.prediction != Prediction::NOTHING {
            self.predict();
        }
        if let Some(next) = next {
            *segment = next;
        }
        next.is_some()
    }

    fn transmit(&mut self, now: Instant) -> Option<Segment> {
        if self.control != PendingControl::None {
            return self.transmit_control(now);
        }
        if self.rcv.reports_gaps() {
            // The blocks go out alone: with data there is no room for them.
            return Some(self.transmit_ack(now));
        }
        if self.sends_data()
            && let Some(segment) = self.transmit_data(now)
        {
            return Some(segment);
        }
        if self.rcv.ack_due == AckDue::Now {
            return Some(self.transmit_ack(now));
        }
        None
    }

    #[cold]
    fn transmit_control(&mut self, now: Instant) -> Option<Segment> {
        match std::mem::replace(&mut self.control, PendingControl::None) {
            PendingControl::None => None,
            PendingControl::EarlyAck => self.rare.early_ack.take().map(|ack| *ack),
            PendingControl::Syn => Some(self.syn(now, Flags::SYN)),
            PendingControl::SynAck => Some(self.syn(now, Flags::SYN | Flags::ACK)),
            PendingControl::Reset { seq, ack: None } => Some(Segment { seq, flags: Flags::RST, ..Segment::default() }),
            PendingControl::Reset { seq, ack: Some(ack) } => {
                Some(Segment { seq, ack, flags: Flags::RST | Flags::ACK, ..Segment::default() })
            }
            PendingControl::Probe => self.transmit_probe(now).or_else(|| self.transmit(now)),
            PendingControl::TailProbe => self.transmit_tail_probe(now).or_else(|| self.transmit(now)),
        }
    }

    /// RFC 9293 section 3.8.6.1: at least one octet of new data. If the window has room for less than a full segment,
    /// all data that fits goes out: the override of silly-window avoidance (section 3.8.6.2.1 rule 4).
    fn transmit_probe(&mut self, now: Instant) -> Option<Segment> {
        let waiting = self.snd.queued.saturating_sub(self.snd.nxt);
        if waiting == 0 || !self.sends_data() {
            return None;
        }
        let room = self.snd.edge.saturating_sub(self.snd.nxt);
        if room == 0 {
            self.counters.zero_window_probes += 1;
            let offset = self.snd.nxt;
            // The byte of an earlier probe, or the data that a window has closed over.
            self.counters.retransmitted_bytes += u64::from(offset < self.snd.max);
            let probe = self.data_segment(now, offset, 1);
            // It does not count as in flight: the receiver will hardly keep it.
            self.snd.max = self.snd.max.max(offset + u64::from(probe.sequence_len()));
            return Some(probe);
        }
        self.restart_after_idle(now);
        let len = waiting.min(room).min(u64::from(self.snd.smss));
        Some(self.transmit_next(now, len))
    }

    #[inline]
    fn transmit_data(&mut self, now: Instant) -> Option<Segment> {
        if self.selective.is_some() {
            return self.transmit_selective(now);
        }
        if self.rare.shrunk_window == ShrunkWindow::PullBack && self.snd.window == 0 {
            self.pull_back(now);
        }
        if self.rare.recovery.retransmission_is_due() {
            if self.is_held(now, u64::from(self.snd.smss)) {
                return None;
            }
            return self.retransmit(now);
        }
        self.restart_after_idle(now);
        let window = self.rare.recovery.window(self.cc.cwnd(), u64::from(self.snd.smss));
        if let Some(hole) = self.rare.recovery.next_hole(self.snd.una) {
            return self.fill_hole(now, hole, window);
        }
        match self.snd.next(window, self.rare.largest_window) {
            Next::Send(len) if self.is_held(now, len) => None,
            Next::Send(len) => Some(self.transmit_next(now, len)),
            _ if self.cannot_send_forward() => self.transmit_data(now),
            Next::Nothing => {
                self.record_nothing_to_send();
                None
            }
            Next::Held => {
                if self.timer_kind == TimerKind::Off {
                    // No data is in flight whose acknowledgement would open the window.
                    self.start_timer(now, TimerKind::Persist, self.rtt.rto());
                }
                None
            }
        }
    }

    /// True if no data is in flight. The byte that probes a closed window does not count, except in 4.4BSD, which
    /// compares SND.UNA with SND.MAX.
    #[inline]
    fn path_is_empty(&self) -> bool {
        self.snd.una == self.snd.nxt
            && (self.snd.una == self.snd.max
                || (self.timer_kind == TimerKind::Persist && self.rare.shrunk_window == ShrunkWindow::Keep))
    }

    /// RFC 5681 section 4.1: data that the peer's window admits ends a pause.
    #[inline]
    pub(super) fn restart_after_idle(&mut self, now: Instant) {
        if self.path_is_empty() {
            self.restart_after_pause(now);
        }
    }

    fn restart_after_pause(&mut self, now: Instant) {
        let admitted = self.snd.queued.min(self.snd.edge);
        let pause = now.saturating_since(self.times.last_sent.max(self.rare.restarted_at));
        if self.rare.idle_restart && pause > self.rtt.rto() && admitted > self.snd.nxt {
            self.rare.restarted_at = now;
            let before = self.cc.cwnd();
            self.cc.on_idle_restart(&self.idle(now));
            self.counters.idle_restarts += u64::from(self.cc.cwnd() < before);
        }
    }

    fn idle(&self, now: Instant) -> Idle {
        Idle { now, last_sent: self.times.last_sent, rto: self.rtt.rto() }
    }

    /// A segment of `len` bytes from SND.NXT, with the FIN if they are the last.
    #[inline]
    pub(super) fn transmit_next(&mut self, now: Instant, len: u64) -> Segment {
        let offset = self.snd.nxt;
        let is_new = offset >= self.snd.max;
        if self.path_is_empty() {
            self.cc.on_flight(&self.idle(now));
        }
        if self.rare.recovery.is_counting() && offset + len > self.snd.una.saturating_add(self.cc.cwnd()) {
            self.rare.recovery.limited_transmit_sent(length_u32(len));
        }
        if is_new {
            if self.times.timed == UNTIMED && !self.timestamps.is_on() {
                // RFC 6298 section 3: one measurement at a time.
                self.times.timed = offset + len.max(1);
                self.times.timed_at = now;
            }
        } else {
            self.count_retransmission(now, offset, len);
        }
        let mut segment = self.data_segment(now, offset, len);
        if is_new {
            segment = self.rare.ecn.on_new_data(segment);
        }
        let end = offset + u64::from(segment.sequence_len());
        self.record_sent(now, Span { start: offset, end });
        self.rare.recovery.note_sent(now, Span { start: offset, end });
        self.sent(now, end);
        if self.selective.is_some() {
            self.note_sent(now, offset, segment.sequence_len());
        }
        segment
    }

    /// Retransmits the first unacknowledged segment, regardless of the windows.
    #[cold]
    fn retransmit(&mut self, now: Instant) -> Option<Segment> {
        self.rare.recovery.retransmitted();
        let offset = self.snd.una;
        if offset == self.snd.max {
            return self.transmit_data(now);
        }
        let sent_before = self.snd.max.min(self.snd.queued) - offset.min(self.snd.queued);
        let len = sent_before.min(u64::from(self.snd.smss));
        Some(self.repeat(now, offset, len))
    }

    /// Retransmits the first segment of a hole, if the window allows.
    fn fill_hole(&mut self, now: Instant, hole: Span, window: u64) -> Option<Segment> {
        let len = (hole.end - hole.start).min(u64::from(self.snd.smss));
        if self.snd.una + window < self.snd.nxt + len || self.is_held(now, len) {
            return None;
        }
        let span = Span { start: hole.start, end: hole.start + len };
        self.rare.recovery.hole_filled(span);
        Some(self.repeat(now, span.start, len))
    }

    /// Retransmits `len` bytes from `offset`.
    fn repeat(&mut self, now: Instant, offset: u64, len: u64) -> Segment {
        self.count_retransmission(now, offset, len);
        let segment = self.data_segment(now, offset, len);
        let span = Span { start: offset, end: offset + u64::from(segment.sequence_len()) };
        self.record_lost(now, span);
        self.record_sent(now, span);
        self.rare.recovery.note_sent(now, span);
        self.sent(now, span.end);
        segment
    }

    pub(super) fn count_retransmission(&mut self, now: Instant, offset: u64, len: u64) {
        self.note_repeat(now, offset, len);
        self.counters.retransmitted_segments += 1;
        self.counters.retransmitted_bytes += len.min(self.snd.max - offset);
        // RFC 6298 section 3, Karn's algorithm: the acknowledgement of timed data may belong to the retransmission.
        if !self.timestamps.is_on() && !self.rtt.times_across_repeats() {
            self.times.timed = UNTIMED;
        }
    }

    /// Handles a declared loss or an expired timer.
    pub(super) fn stop_timing(&mut self) {
        if !self.timestamps.is_on() {
            self.times.timed = UNTIMED;
        }
    }

    /// Records a transmission that ends at `end`.
    #[inline]
    pub(super) fn sent(&mut self, now: Instant, end: u64) {
        self.snd.nxt = self.snd.nxt.max(end);
        self.snd.max = self.snd.max.max(end);
        self.times.last_sent = now;
        // RFC 6298 section 5.1: a segment with data starts the timer if it is not running.
        if self.timer_kind != TimerKind::Retransmit {
            self.start_timer(now, TimerKind::Retransmit, self.rtt.rto());
        }
    }

    /// A segment with `len` bytes from `offset`; the FIN goes with the last byte.
    #[inline]
    pub(super) fn data_segment(&mut self, now: Instant, offset: u64, len: u64) -> Segment {
        let mut flags = Flags::ACK;
        let end = offset + len;
        if end == self.snd.queued {
            if len > 0 {
                flags = flags | Flags::PSH;
            }
            if self.snd.fin == Fin::Queued {
                flags = flags | Flags::FIN;
            }
        }
        if len > 0 {
            self.counters.data_segments_sent += 1;
            self.counters.bytes_sent += len;
        }
        Segment { seq: self.snd.seq(offset), len: field_u16(len), ..self.header(now, flags) }
    }

    /// Acknowledges all arrived data now, even if no acknowledgement is due (an eager acknowledgement).
    /// [`poll_transmit`](Self::poll_transmit) then has a segment for it, unless the connection is not open.
    pub fn acknowledge(&mut self) {
        if self.sends_data() {
            self.rcv.ack_deadline = Instant::NEVER;
            self.rcv.ack_due = AckDue::Now;
            self.predict();
        }
    }

    #[inline]
    pub(super) fn transmit_ack(&mut self, now: Instant) -> Segment {
        self.counters.acks_sent += 1;
        // A timeout that moves back must not make the acknowledgement look old; a probe of a closed window must not
        // make it look new. A probe is a byte, perhaps with a FIN; more is data that a window has closed over.
        let probed = self.timer_kind == TimerKind::Persist && self.snd.max - self.snd.nxt <= 2;
        let offset = if probed { self.snd.nxt } else { self.snd.max };
        let ack = Segment { seq: self.snd.seq(offset), ..self.header(now, Flags::ACK) };
        self.rcv.with_sack_blocks(ack)
    }

    /// The header of every segment after the SYN. It acknowledges everything received.
    #[inline]
    fn header(&mut self, now: Instant, flags: Flags) -> Segment {
        let ack = self.rcv.next_seq();
        let window = self.rcv.acknowledge();
        let mut segment = Segment { ack, window, flags: flags | self.rare.ecn.echo(), ..Segment::default() };
        if self.timestamps.is_on() {
            segment.flags = segment.flags | Flags::HAS_TIMESTAMPS;
            segment.ts_val = self.timestamps.now(now);
            segment.ts_ecr = self.timestamps.recent();
        }
        segment
    }
}
