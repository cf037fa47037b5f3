//! The way of nearly every segment (V. Jacobson, "4BSD Header Prediction", ACM CCR 20(1), 1990): the next in order, in
//! either direction, while nothing is lost, held back, or about to change.
//!
//! What seldom changes is looked at once, when the general code ends ([`Endpoint::predict`]); what is left to compare for
//! each segment decides whether the short way may be taken. It does what the general code does, with everything left out
//! that is at rest, and leaves at rest what it found so.

use super::pacing::Paced;
use super::receiver::AckDue;
use super::sender::{Fin, UNTIMED};
use super::{Control, Endpoint, State, TimerKind};
use crate::cc::{Ack, CongestionControl};
use crate::recovery::{Acked, RecoveryPhase, Selective};
use crate::segment::{Flags, Segment};
use netlull_units::Instant;

/// What the general code has left at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prediction {
    /// The flags of the segment expected, without those that may come and go ([`OPTIONAL`]); [`Flags::NONE`], which no
    /// segment of an open connection has, if nothing is predicted.
    header: Flags,
    /// The flags of new data.
    data: Flags,
    /// Data is sent and acknowledged with nothing but congestion control to hear of it.
    sends: bool,
}

/// Flags that mean nothing to the receiver of unmarked data.
const OPTIONAL: Flags = Flags::PSH.with(Flags::ECT);

impl Prediction {
    pub const NOTHING: Self = Self { header: Flags::NONE, data: Flags::NONE, sends: false };
}

/// What comes of a short way.
pub(super) enum Polled {
    Segment(Segment),
    Nothing,
    /// The general code is to say.
    Unknown,
}

impl Endpoint {
    /// To be called when the general code has been through.
    pub(super) fn predict(&mut self) {
        self.prediction = self.prediction_now();
    }

    pub(super) fn prediction_now(&self) -> Prediction {
        #[cfg(test)]
        if self.general_only {
            return Prediction::NOTHING;
        }
        let open = matches!(self.state, State::Established | State::FinWait1) && self.control == Control::None;
        let sends = self.rare.recovery.is_plain() && self.selective.is_none() && self.paced.is_none();
        let at_rest = sends || self.sender_is_idle();
        let timer = matches!(self.timer.kind, TimerKind::Off | TimerKind::Retransmit);
        if !(open && at_rest && timer && self.rare.probes == 0 && self.rcv.is_plain() && self.rare.ecn.is_plain()) {
            return Prediction::NOTHING;
        }
        let timestamps = if self.timestamps.is_on() { Flags::HAS_TIMESTAMPS } else { Flags::NONE };
        let header = Flags::ACK | timestamps;
        Prediction { header, data: header | self.rare.ecn.data_flags(), sends }
    }

    /// True if nothing is in flight and no recovery remembers anything that data from the peer could touch.
    fn sender_is_idle(&self) -> bool {
        self.snd.una == self.snd.max
            && self.rare.recovery.is_open()
            && self.selective.as_deref().is_none_or(Selective::is_idle)
            && self.paced.as_deref().is_none_or(Paced::is_idle)
    }

    /// Takes the segment expected next. False if it is another, or something else is to be done: nothing has changed then.
    #[inline]
    pub(super) fn take_predicted(&mut self, now: Instant, segment: &Segment) -> bool {
        if segment.flags.without(OPTIONAL) != self.prediction.header || segment.seq != self.rcv.next_seq() {
            return false;
        }
        if self.timestamps.is_on() && self.timestamps.is_older(segment.ts_val) {
            return false;
        }
        if segment.len == 0 { self.take_predicted_ack(now, segment) } else { self.take_predicted_data(now, segment) }
    }

    /// RFC 7323 section 4.3, as in the general code: an older segment has been turned away.
    #[inline]
    fn remember_timestamp(&mut self, now: Instant, segment: &Segment) {
        if self.timestamps.is_on() && segment.seq.is_at_or_before(self.rcv.last_ack_sent) {
            self.timestamps.remember(now, segment.ts_val);
        }
    }

    /// SND.UNA < SEG.ACK =< SND.NXT, but not of our FIN; as [`Self::on_new_ack`] with recovery at rest.
    #[inline]
    fn take_predicted_ack(&mut self, now: Instant, segment: &Segment) -> bool {
        let Ok(acked @ 1..) = u64::try_from(segment.ack.distance_from(self.snd.seq(self.snd.una))) else {
            return false;
        };
        let una = self.snd.una + acked;
        if !self.prediction.sends || una > self.snd.max || una > self.snd.queued {
            return false;
        }
        self.remember_timestamp(now, segment);
        let flight_before = self.snd.flight();
        self.snd.advance(acked);
        let rtt = self.measure_rtt(now, segment);
        self.update_window(segment);
        self.restart_retransmission_timer(now, Acked::Ordinary);
        let (nxt, flight) = (self.snd.nxt, self.snd.flight());
        let srtt = self.rtt.srtt();
        let phase = RecoveryPhase::Open;
        let ack = Ack { now, acked, delivered: acked, una, nxt, flight_before, flight, rtt, srtt, ece: false, phase };
        self.cc.on_ack(&ack);
        true
    }

    /// Data in order that fits, with an acknowledgement that says nothing new.
    #[inline]
    fn take_predicted_data(&mut self, now: Instant, segment: &Segment) -> bool {
        let len = u64::from(segment.len);
        if segment.ack != self.snd.seq(self.snd.una) || len > self.rcv.window() {
            return false;
        }
        self.remember_timestamp(now, segment);
        self.update_window(segment);
        self.rcv.receive_in_order(now, len);
        true
    }

    /// The next segment to send, if the short way leads to it.
    #[inline]
    pub(super) fn poll_predicted(&mut self, now: Instant) -> Polled {
        if self.prediction.header == Flags::NONE {
            return Polled::Unknown;
        }
        let snd = &self.snd;
        if snd.una == snd.max || !self.prediction.sends {
            // A FIN may be due; anything else that waits ends an idle time.
            if snd.una != snd.max || snd.queued != snd.nxt || snd.fin == Fin::Queued {
                return Polled::Unknown;
            }
            return self.poll_predicted_ack(now);
        }
        if snd.nxt > snd.queued || (snd.nxt == snd.queued && snd.fin == Fin::Open) {
            return self.poll_predicted_ack(now);
        }
        let smss = u64::from(snd.smss);
        let end = snd.nxt + smss;
        // The last byte may take a FIN with it.
        if end >= snd.queued || snd.nxt != snd.max {
            return Polled::Unknown;
        }
        // As `Sender::next`: a full segment fits.
        if end <= snd.edge.min(snd.una + self.cc.cwnd().max(smss)) {
            return Polled::Segment(self.transmit_predicted(now, end));
        }
        // Held, and not because the peer's window has room for a part of it.
        let part = end > snd.edge && snd.nxt < snd.edge;
        if part || self.timer.kind != TimerKind::Retransmit { Polled::Unknown } else { self.poll_predicted_ack(now) }
    }

    #[inline]
    fn poll_predicted_ack(&mut self, now: Instant) -> Polled {
        if self.rcv.ack_due != AckDue::Now {
            return Polled::Nothing;
        }
        self.counters.acks_sent += 1;
        let seq = self.snd.seq(self.snd.max);
        let header = self.prediction.header;
        Polled::Segment(Segment { seq, ..self.predicted_header(now, header) })
    }

    /// A full segment of new data, and not the last.
    #[inline]
    fn transmit_predicted(&mut self, now: Instant, end: u64) -> Segment {
        let (seq, len) = (self.snd.seq(self.snd.nxt), self.snd.smss);
        if self.times.timed == UNTIMED && !self.timestamps.is_on() {
            // RFC 6298 section 3, as in the general code.
            self.times.timed = end;
            self.times.timed_at = now;
        }
        self.counters.data_segments_sent += 1;
        self.counters.bytes_sent += u64::from(len);
        let segment = Segment { seq, len, ..self.predicted_header(now, self.prediction.data) };
        self.snd.nxt = end;
        self.snd.max = end;
        self.times.last_sent = now;
        if self.timer.kind != TimerKind::Retransmit {
            self.start_timer(now, TimerKind::Retransmit, self.rtt.rto());
        }
        segment
    }

    #[inline]
    fn predicted_header(&mut self, now: Instant, flags: Flags) -> Segment {
        let ack = self.rcv.next_seq();
        let window = self.rcv.acknowledge(self.silly());
        let mut segment = Segment { ack, window, flags, ..Segment::default() };
        if self.timestamps.is_on() {
            segment.ts_val = self.timestamps.now(now);
            segment.ts_ecr = self.timestamps.recent();
        }
        segment
    }
}
