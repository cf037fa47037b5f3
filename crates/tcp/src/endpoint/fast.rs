//! The fast path of nearly every segment (V. Jacobson, "4BSD Header Prediction", ACM CCR 20(1), 1990). It handles
//! acknowledgements of new data without losses, and data of a peer that has nothing in flight from here.
//!
//! The general code ends with a check of all conditions that seldom change ([`Endpoint::predict`]). The comparisons
//! left for each segment decide whether it takes the fast path. The fast path does the work of the general code
//! without the parts at rest, which stay at rest.

use super::pacing::Paced;
use super::receiver::{AckDue, Placement};
use super::sender::{Fin, UNTIMED};
use super::{Endpoint, PendingControl, State, TimerKind};
use crate::cc::{Ack, CongestionControl};
use crate::config::ShrunkWindow;
use crate::recovery::{Acked, RecoveryPhase, Selective, Span};
use crate::segment::{Flags, Segment};
use netlull_units::{Duration, Instant};

/// The prediction by the general code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prediction {
    /// The flags of the expected segment, without the optional ones ([`OPTIONAL`]). [`Flags::NONE`], which no segment
    /// of an open connection has, if nothing is predicted.
    pub header: Flags,
    /// True if new data is ECN-capable.
    pub ect: bool,
    pub sends: Sends,
    /// True if data may arrive: it changes no state of recovery.
    pub receives: bool,
    /// True if the receiver has gaps to report.
    pub gaps: bool,
}

/// The parts, other than congestion control, that need new data and its acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sends {
    /// The general code must decide.
    Unknown,
    /// None.
    Alone,
    /// The scoreboard, at rest.
    WithBoard,
    /// The scoreboard and the pacer.
    WithPacer,
}

/// Flags without a meaning for the receiver of unmarked data.
pub(super) const OPTIONAL: Flags = Flags::PSH.with(Flags::ECT);

impl Prediction {
    pub const NOTHING: Self =
        Self { header: Flags::NONE, ect: false, sends: Sends::Unknown, receives: false, gaps: false };

    /// The flags of new data.
    #[inline]
    pub fn data(self) -> Flags {
        if self.ect { self.header | Flags::ECT } else { self.header }
    }

    /// True if a poll that sends no data changes nothing. A pacer must know of the end of the data; with data that
    /// waits, `more` is true.
    #[inline]
    pub fn is_quiet(self, more: bool) -> bool {
        self.receives || self.sends == Sends::WithBoard || (self.sends == Sends::WithPacer && more)
    }

    /// True if recovery leaves the congestion window unchanged.
    #[inline]
    pub fn sends(self) -> bool {
        self.sends != Sends::Unknown
    }
}

#[cfg(test)]
impl Prediction {
    /// True if this prediction is valid next to `now`, the current one. It may predict less: data only, or nothing.
    pub fn holds(self, now: Self) -> bool {
        self == Self::NOTHING || self == now || (!self.receives && Self { receives: true, ..self } == now)
    }
}

/// The result of a fast path.
pub(super) enum Polled {
    Segment,
    Nothing,
    /// The general code must decide.
    Unknown,
}

// Forced inlines here, by `make counts`: without them single takes 2.1 % more instructions, twenty 1.3 %.
impl Endpoint {
    /// Predicts the next segment; called at the end of the general code.
    pub(super) fn predict(&mut self) {
        self.prediction = self.prediction_now();
        self.limit = self.limit_now();
    }

    pub(super) fn prediction_now(&self) -> Prediction {
        #[cfg(test)]
        if self.general_only {
            return Prediction::NOTHING;
        }
        let open = matches!(self.state, State::Established | State::FinWait1) && self.control == PendingControl::None;
        // Data that may be pulled back is checked after each segment.
        let open = open && self.rare.shrunk_window == ShrunkWindow::Keep;
        if !(open && self.rcv.reads_at_once() && self.rare.ecn.is_plain() && self.rare.probes == 0) {
            return Prediction::NOTHING;
        }
        let gaps = self.rcv.has_gaps();
        // Acknowledgements around gaps precede data: only an idle sender is predicted then.
        let sends = if gaps { Sends::Unknown } else { self.sends_now() };
        let receives = sends == Sends::Alone || self.sender_is_idle();
        if sends == Sends::Unknown && !receives {
            return Prediction::NOTHING;
        }
        let timestamps = if self.timestamps.is_on() { Flags::HAS_TIMESTAMPS } else { Flags::NONE };
        let header = Flags::ACK | timestamps;
        Prediction { header, ect: self.rare.ecn.enabled, sends, receives, gaps }
    }

    fn sends_now(&self) -> Sends {
        let timer = if self.snd.una == self.snd.max { TimerKind::Off } else { TimerKind::Retransmit };
        let is_plain = self.snd.nxt == self.snd.max
            && self.timer_kind == timer
            && self.rare.recovery.is_plain()
            && !self.rtt.is_backed_off();
        match (&self.selective, &self.paced) {
            (None, None) if is_plain => Sends::Alone,
            (Some(selective), None) if is_plain && selective.is_plain() => Sends::WithBoard,
            (Some(selective), Some(_)) if is_plain && selective.is_plain() => Sends::WithPacer,
            _ => Sends::Unknown,
        }
    }

    /// True if nothing is in flight and data from the peer changes no state of recovery.
    fn sender_is_idle(&self) -> bool {
        self.snd.una == self.snd.max
            && matches!(self.timer_kind, TimerKind::Off | TimerKind::Retransmit)
            && self.rare.recovery.is_open()
            && self.selective.as_deref().is_none_or(Selective::is_idle)
            && self.paced.as_deref().is_none_or(Paced::is_idle)
    }

    /// [`Endpoint::limit`].
    #[inline]
    pub(super) fn limit_now(&self) -> u64 {
        let snd = &self.snd;
        // New data with nothing in flight ends an idle time.
        if self.prediction.sends == Sends::Unknown || snd.una == snd.max {
            return 0;
        }
        let window = self.cc.cwnd().max(u64::from(snd.smss));
        // The last byte may carry a FIN.
        snd.edge.min(snd.una.saturating_add(window)).min(snd.queued.saturating_sub(1))
    }

    /// Takes the expected segment. Returns false for another segment, or if more work is due: nothing has changed
    /// then.
    #[inline(always)]
    pub(super) fn take_predicted(&mut self, now: Instant, segment: &Segment) -> bool {
        let header = self.prediction.header;
        if segment.flags.without(OPTIONAL) != header {
            return false;
        }
        if header.contains(Flags::HAS_TIMESTAMPS) && self.timestamps.is_older(segment.ts_val) {
            return false;
        }
        if segment.seq != self.rcv.next_seq() {
            return self.take_predicted_data_around_gaps(now, segment);
        }
        if segment.len == 0 { self.take_predicted_ack(now, segment) } else { self.take_predicted_data(now, segment) }
    }

    /// RFC 7323 section 4.3, as in the general code: an older segment is already rejected.
    #[inline]
    fn remember_timestamp(&mut self, now: Instant, segment: &Segment) {
        if self.timestamps.is_on() && segment.seq.is_at_or_before(self.rcv.last_ack_sent) {
            self.timestamps.remember(now, segment.ts_val);
        }
    }

    /// SND.UNA < SEG.ACK =< SND.NXT, but not of our FIN; as [`Self::on_new_ack`] with recovery at rest.
    #[inline(always)]
    fn take_predicted_ack(&mut self, now: Instant, segment: &Segment) -> bool {
        let Ok(acked @ 1..) = u64::try_from(segment.ack.distance_from(self.snd.seq(self.snd.una))) else {
            return false;
        };
        let una = self.snd.una + acked;
        if self.prediction.sends == Sends::Unknown || una > self.snd.max || una > self.snd.queued {
            return false;
        }
        if self.prediction.sends != Sends::Alone {
            return segment.sack_count == 0 && self.take_predicted_ack_selective(now, segment, acked);
        }
        self.remember_timestamp(now, segment);
        self.snd.una = una;
        let untimed = !self.timestamps.is_on() && una < self.times.timed;
        let rtt = if untimed { None } else { self.measure_rtt(now, segment) };
        self.update_window(segment);
        self.restart_retransmission_timer(now, Acked::Ordinary);
        if !self.cc.opens_by(acked, self.snd.flight() + acked) {
            self.tell_acked(now, acked, rtt);
        }
        self.limit = self.limit_now();
        true
    }

    /// Does the work of [`Self::on_ack_selective`] with recovery at rest.
    #[inline(never)]
    fn take_predicted_ack_selective(&mut self, now: Instant, segment: &Segment, acked: u64) -> bool {
        let Some(selective) = self.selective.as_deref_mut() else { return false };
        self.snd.una += acked;
        let delivery = selective.on_plain_ack(now, self.snd.una);
        let rtt = delivery.timed.map(|sent_at| now - sent_at);
        debug_assert_eq!(selective.board.outstanding(), self.snd.flight());
        self.remember_timestamp(now, segment);
        self.sample_delivery(now, segment, acked, delivery.first_sent);
        self.update_window(segment);
        self.restart_retransmission_timer(now, Acked::Ordinary);
        if !self.cc.opens_by(acked, self.snd.flight() + acked) {
            self.cc.on_ack(&self.plain_ack(now, acked, rtt));
        }
        self.arm_probe(now);
        self.record_acked(now);
        self.limit = self.limit_now();
        true
    }

    /// Handles the release of paced data, which changes no prediction. Returns false if another timer has expired.
    pub(super) fn take_predicted_release(&mut self, now: Instant) -> bool {
        let others = self.timer_at.min(self.rcv.ack_deadline).min(self.recovery_wake_at());
        if self.prediction.sends != Sends::WithPacer || now >= others {
            return false;
        }
        self.on_wake(now);
        true
    }

    /// Reports `acked` new bytes to congestion control.
    #[inline(never)]
    fn tell_acked(&mut self, now: Instant, acked: u64, rtt: Option<Duration>) {
        self.cc.on_ack(&self.plain_ack(now, acked, rtt));
    }

    /// The acknowledgement of `acked` new bytes with recovery at rest.
    #[inline]
    fn plain_ack(&self, now: Instant, acked: u64, rtt: Option<Duration>) -> Ack {
        let flight = self.snd.flight();
        Ack {
            now,
            acked,
            delivered: acked,
            una: self.snd.una,
            nxt: self.snd.nxt,
            flight_before: flight + acked,
            flight,
            rtt,
            srtt: self.rtt.srtt(),
            ece: false,
            phase: RecoveryPhase::Open,
        }
    }

    /// Takes data in order that fits, with an acknowledgement of nothing new.
    #[inline(always)]
    fn take_predicted_data(&mut self, now: Instant, segment: &Segment) -> bool {
        if self.prediction.gaps {
            return self.take_predicted_data_around_gaps(now, segment);
        }
        let len = u64::from(segment.len);
        if !self.prediction.receives || segment.ack != self.snd.seq(self.snd.una) || len > self.rcv.window() {
            return false;
        }
        self.remember_timestamp(now, segment);
        self.update_window(segment);
        self.rcv.receive_plain(now, len);
        // The limit of an idle sender is 0, and so is that of a first flight under a closed window.
        if self.snd.una != self.snd.max {
            self.limit = self.limit_now();
        }
        true
    }

    /// Takes data ahead of a gap or into one, with an acknowledgement of nothing new.
    #[inline(never)]
    fn take_predicted_data_around_gaps(&mut self, now: Instant, segment: &Segment) -> bool {
        let ahead = i64::from(segment.seq.distance_from(self.rcv.next_seq()));
        let acceptable = segment.len > 0 && self.rcv.place(ahead, segment) == Placement::Acceptable;
        if !self.prediction.receives || segment.ack != self.snd.seq(self.snd.una) || !acceptable {
            return false;
        }
        self.remember_timestamp(now, segment);
        self.update_window(segment);
        self.handle_data(now, ahead, segment.len);
        self.limit = self.limit_now();
        self.follow_gaps();
        true
    }

    /// Predicts anew after the first gap and after the last.
    #[inline]
    fn follow_gaps(&mut self) {
        if self.prediction.gaps != self.rcv.has_gaps() {
            self.predict();
        }
    }

    /// The next segment to send, if the fast path has one.
    #[inline(always)]
    pub(super) fn poll_predicted(&mut self, now: Instant, segment: &mut Segment) -> Polled {
        let end = self.snd.nxt + u64::from(self.snd.smss);
        if end <= self.limit {
            if self.prediction.sends != Sends::Alone {
                return self.poll_predicted_selective(now, end, segment);
            }
            self.transmit_predicted(now, end, segment);
            return Polled::Segment;
        }
        if !(self.prediction.is_quiet(end < self.snd.queued) && self.sends_nothing(end)) {
            return Polled::Unknown;
        }
        if self.rcv.ack_due != AckDue::Now {
            return Polled::Nothing;
        }
        if self.prediction.gaps {
            *segment = self.transmit_ack(now);
            self.follow_gaps();
            return Polled::Segment;
        }
        self.counters.acks_sent += 1;
        let window = self.rcv.acknowledge_plain();
        let seq = self.snd.seq(self.snd.max);
        *segment = Segment { seq, window, ..self.predicted_header(now, self.prediction.header) };
        Polled::Segment
    }

    /// True if the general code would send neither data nor a FIN, with a full segment ending at `end`, beyond the
    /// limit.
    #[inline]
    fn sends_nothing(&self, end: u64) -> bool {
        let snd = &self.snd;
        if snd.una == snd.max {
            // The held data would end an idle time.
            return snd.queued == snd.nxt && snd.fin == Fin::Open;
        }
        if end < snd.queued {
            // A window holds it. The peer's may have room for a part of a segment, but not for half of its largest
            // (RFC 9293 section 3.8.6.2.1 rule 3).
            return end <= snd.edge
                || snd.nxt >= snd.edge
                || 2 * (snd.edge - snd.nxt) < u64::from(self.rare.largest_window);
        }
        snd.nxt > snd.queued || (snd.nxt == snd.queued && snd.fin == Fin::Open)
    }

    /// Does the work of [`Self::poll_predicted`] for data that not only congestion control must know of.
    #[inline(never)]
    fn poll_predicted_selective(&mut self, now: Instant, end: u64, segment: &mut Segment) -> Polled {
        let (start, len) = (self.snd.nxt, self.snd.smss);
        if self.is_held(now, u64::from(len)) {
            return if self.rcv.ack_due == AckDue::Now { Polled::Unknown } else { Polled::Nothing };
        }
        self.record_sent(now, Span { start, end });
        self.transmit_predicted(now, end, segment);
        self.note_sent(now, start, u32::from(len));
        Polled::Segment
    }

    /// A full segment of new data that is not the last.
    #[inline(always)]
    fn transmit_predicted(&mut self, now: Instant, end: u64, segment: &mut Segment) {
        let (seq, len) = (self.snd.seq(self.snd.nxt), self.snd.smss);
        if self.times.timed == UNTIMED && !self.timestamps.is_on() {
            // RFC 6298 section 3, as in the general code.
            self.times.timed = end;
            self.times.timed_at = now;
        }
        self.counters.data_segments_sent += 1;
        self.counters.bytes_sent += u64::from(len);
        let window = self.rcv.acknowledge();
        *segment = Segment { seq, len, window, ..self.predicted_header(now, self.prediction.data()) };
        self.snd.nxt = end;
        self.snd.max = end;
        self.times.last_sent = now;
    }

    #[inline]
    fn predicted_header(&mut self, now: Instant, flags: Flags) -> Segment {
        let ack = self.rcv.next_seq();
        let (ts_val, ts_ecr) =
            if self.timestamps.is_on() { (self.timestamps.now(now), self.timestamps.recent()) } else { (0, 0) };
        Segment { ack, flags, ts_val, ts_ecr, ..Segment::default() }
    }
}
