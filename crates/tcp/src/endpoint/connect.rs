//! Opening and closing: the states around ESTABLISHED, and templates for endpoints that open in a run.

use super::pacing::Paced;
use super::receiver::AckDue;
use super::sender::{Fin, UNTIMED};
use super::{Endpoint, PendingControl, State, TimerKind};
use crate::cc::{CongestionControl, Start};
use crate::config::{Config, HandshakeRtt, InitialWindow};
use crate::recovery::Selective;
use crate::segment::{Flags, Segment, TIMESTAMPS_PADDED};
use crate::seq::SeqNr;
use netlull_units::{Duration, Instant};

/// RFC 9293 section 3.7.1: without the option, assume 536 bytes (IPv4).
const DEFAULT_MSS: u16 = 536;
/// RFC 7323 section 2.3: a larger shift counts as 14.
const LARGEST_SHIFT: u8 = 14;

impl Endpoint {
    /// Handles a segment in a state before ESTABLISHED, or in CLOSED.
    #[cold]
    pub(super) fn handle_opening(&mut self, now: Instant, segment: &Segment) {
        match self.state {
            State::Listen => self.handle_in_listen(now, segment),
            State::SynSent => self.handle_in_syn_sent(now, segment),
            State::SynReceived => self.handle_in_syn_received(now, segment),
            _ => self.answer_with_reset(segment),
        }
    }

    /// RFC 9293 section 3.10.7.2.
    fn handle_in_listen(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.answer_with_reset(segment);
        } else if segment.flags.contains(Flags::SYN) {
            self.take_syn(now, segment);
            self.state = State::SynReceived;
            self.control = PendingControl::SynAck;
        }
    }

    /// RFC 9293 section 3.10.7.3.
    fn handle_in_syn_sent(&mut self, now: Instant, segment: &Segment) {
        let acks_syn = segment.flags.contains(Flags::ACK);
        // First: ISS < SEG.ACK =< SND.NXT, and only the SYN has been sent.
        if acks_syn && segment.ack != self.snd.origin {
            self.answer_with_reset(segment);
            return;
        }
        // Second: a reset is valid if it acknowledges the SYN.
        if segment.flags.contains(Flags::RST) {
            if acks_syn {
                self.reset();
            }
            return;
        }
        // Fourth.
        if segment.flags.contains(Flags::SYN) {
            self.take_syn(now, segment);
            if acks_syn {
                self.establish(now, segment, 0);
                self.rcv.ack_due = AckDue::Now;
            } else {
                // Simultaneous open.
                self.state = State::SynReceived;
                self.control = PendingControl::SynAck;
            }
        }
    }

    /// RFC 9293 section 3.10.7.4 in SYN-RECEIVED.
    fn handle_in_syn_received(&mut self, now: Instant, segment: &Segment) {
        let flags = segment.flags;
        let repeats_syn = flags.contains(Flags::SYN) && segment.seq.advanced_by(1) == self.rcv.origin;
        if repeats_syn && !flags.contains(Flags::ACK) {
            // The SYN again: our answer was lost. An unacceptable segment gets an acknowledgement, here that answer.
            self.rare.ecn.take_syn(flags);
            self.control = PendingControl::SynAck;
            return;
        }
        if flags.contains(Flags::RST) {
            if segment.seq == self.rcv.next_seq() {
                // A passive open returns to LISTEN, an active one is refused; here, both end.
                self.reset();
            }
            return;
        }
        if !flags.contains(Flags::ACK) {
            return;
        }
        // Fifth: SND.UNA < SEG.ACK =< SND.NXT, else a reset.
        if segment.ack != self.snd.origin {
            self.answer_with_reset(segment);
            return;
        }
        let shift = if repeats_syn { 0 } else { self.snd.shift };
        self.establish(now, segment, shift);
        if repeats_syn {
            // A simultaneous open ends with the peer's SYN+ACK.
            self.rcv.ack_due = AckDue::Now;
        } else {
            self.handle_synchronized(now, segment);
        }
    }

    /// Takes the peer's sequence number and options (RFC 9293 section 3.7.1, RFC 7323).
    fn take_syn(&mut self, now: Instant, syn: &Segment) {
        let has = |flag| syn.flags.contains(flag);
        self.rcv.begin(syn.seq.advanced_by(1));
        self.rare.ecn.take_syn(syn.flags);
        self.rare.peer_mss = if has(Flags::HAS_MSS) { syn.mss } else { DEFAULT_MSS };
        // RFC 7323 section 2.2: scaling needs the option in both SYNs.
        if self.rare.offers_scaling && has(Flags::HAS_WINDOW_SCALE) {
            self.snd.shift = syn.window_scale.min(LARGEST_SHIFT);
            self.rcv.shift = self.rcv.wanted_shift();
        } else {
            self.rare.offers_scaling = false;
        }
        // RFC 2018 section 2: so does SACK. Without it, loss recovery counts duplicates.
        self.rare.offers_sack &= has(Flags::HAS_SACK_PERMITTED);
        self.rcv.sacks = self.rare.offers_sack;
        if !self.rare.offers_sack {
            self.selective = None;
            self.rare.recovery.without_sack();
        }
        // RFC 7323 section 3.2: so do timestamps.
        self.rare.offers_timestamps &= has(Flags::HAS_TIMESTAMPS);
        if self.rare.offers_timestamps {
            self.timestamps.begin(now, syn.ts_val);
        }
        // RFC 6691 section 2: the MSS option does not count options, so the data sent must leave room for them.
        let options = if self.rare.offers_timestamps { TIMESTAMPS_PADDED } else { 0 };
        let smss = self.rare.mss.min(self.rare.peer_mss).saturating_sub(options).max(1);
        self.snd.set_segment_size(smss, self.rare.send_buffer);
        self.rcv.set_segment_size(self.snd.smss);
    }

    /// Completes the handshake: the SYN is acknowledged, by a segment whose window is scaled by `shift`.
    fn establish(&mut self, now: Instant, segment: &Segment, shift: u8) {
        self.state = if self.snd.fin == Fin::Queued { State::FinWait1 } else { State::Established };
        self.control = PendingControl::None;
        self.stop_timer();
        self.rare.established_at = now;
        self.times.last_sent = now;
        self.snd.set_window(segment, shift);
        self.rare.largest_window = self.rare.largest_window.max(self.snd.window);
        let rtt = self.sample_handshake(now, segment);
        rtt.iter().for_each(|&rtt| self.rcv.set_round_trip(rtt));
        // RFC 6298 section 5.7.
        if self.rare.handshake_timeouts > 0 {
            self.rtt.begin_after_lost_syn();
        }
        self.rare.recovery.begin(rtt);
        if let (Some(rtt), Some(selective)) = (rtt, self.selective.as_deref_mut())
            && let Some(rack) = selective.rack()
        {
            rack.note_round_trip(rtt);
        }
        let smss = self.smss();
        self.cc.on_established(&Start { now, smss, initial_window: self.initial_window_bytes(), rtt });
    }

    fn sample_handshake(&mut self, now: Instant, segment: &Segment) -> Option<Duration> {
        let timed = self.times.timed != UNTIMED;
        // With timestamps the first acknowledgement of data is always a sample.
        self.times.timed = if self.timestamps.is_on() { 0 } else { UNTIMED };
        let rtt = if timed {
            // RFC 6298 section 3, Karn's algorithm: only a SYN transmitted once.
            Some(now - self.times.timed_at)
        } else if self.timestamps.is_on() {
            self.timestamps.round_trip(now, segment.ts_ecr)
        } else {
            None
        };
        if let Some(rtt) = rtt
            && self.rare.handshake_rtt == HandshakeRtt::Sampled
        {
            self.rtt.sample(now, rtt, self.progress());
        }
        rtt
    }

    /// Handles the application's close: queued data that is not sent by now never will be, and a FIN follows the sent
    /// data.
    pub fn stop(&mut self) {
        self.snd.queued = self.snd.queued.min(self.snd.max);
        self.close();
        self.predict();
    }

    /// Ends an endless stream after the data sent by now, without a FIN; [`send`](Self::send) may go on. Returns the
    /// volume of the stream.
    pub fn hold(&mut self) -> u64 {
        self.snd.queued = self.snd.queued.min(self.snd.max);
        self.predict();
        self.snd.queued
    }

    pub(super) fn initial_window_bytes(&self) -> u64 {
        let smss = u64::from(self.snd.smss);
        // RFC 6928 section 2: one segment if the SYN or its answer was retransmitted more than once.
        if self.rare.handshake_timeouts > 1 {
            return smss;
        }
        match self.rare.initial_window {
            // RFC 6928 equation 1: min(10 MSS, max(2 MSS, 14600)).
            InitialWindow::Rfc6928 => (10 * smss).min((2 * smss).max(14_600)),
            InitialWindow::Segments(segments) => u64::from(segments) * smss,
        }
    }

    /// Handles the peer's FIN, arrived in order (RFC 9293 section 3.10.7.4, eighth).
    #[cold]
    pub(super) fn on_fin(&mut self, now: Instant) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            // Our own FIN is unacknowledged, or the state would be FIN-WAIT-2.
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }

    /// Handles the acknowledgement of our FIN (RFC 9293 section 3.10.7.4, fifth).
    #[cold]
    pub(super) fn on_fin_acked(&mut self, now: Instant) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now),
            State::LastAck => {
                self.state = State::Closed;
                self.stop_timer();
                self.rcv.ack_due = AckDue::No;
                self.rcv.ack_deadline = Instant::NEVER;
            }
            _ => {}
        }
    }

    pub(super) fn enter_time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.start_timer(now, TimerKind::TimeWait, self.rare.time_wait);
    }

    /// Ends the connection.
    #[cold]
    pub(super) fn reset(&mut self) {
        self.state = State::Closed;
        self.stop_timer();
        self.control = PendingControl::None;
        if let Some(selective) = &mut self.selective {
            selective.stop_timers();
        }
        self.set_wake();
        self.rcv.ack_due = AckDue::No;
        self.rcv.ack_deadline = Instant::NEVER;
    }

    /// RFC 9293 section 3.10.7.1: the reset for a segment without a connection.
    pub(super) fn answer_with_reset(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        self.control = if segment.flags.contains(Flags::ACK) {
            PendingControl::Reset { seq: segment.ack, ack: None }
        } else {
            let ack = segment.seq.advanced_by(u64::from(segment.sequence_len()));
            PendingControl::Reset { seq: SeqNr::new(0), ack: Some(ack) }
        };
    }

    /// The SYN, or the SYN+ACK.
    pub(super) fn syn(&mut self, now: Instant, flags: Flags) -> Segment {
        let mut syn = Segment {
            seq: self.snd.origin.advanced_by(u64::from(u32::MAX)),
            flags: flags | Flags::HAS_MSS,
            mss: self.rare.mss,
            // RFC 7323 section 2.2: the window field in a SYN is not scaled.
            window: u16::try_from(self.rcv.buffer).unwrap_or(u16::MAX),
            ..Segment::default()
        };
        if flags.contains(Flags::ACK) {
            syn.ack = self.rcv.next_seq();
            self.rcv.last_ack_sent = syn.ack;
            syn.ts_ecr = self.timestamps.recent();
            syn.flags = syn.flags | self.rare.ecn.syn_ack_flags();
        } else {
            syn.flags = syn.flags | self.rare.ecn.syn_flags(self.rare.syns_sent);
        }
        if self.rare.offers_scaling {
            syn.flags = syn.flags | Flags::HAS_WINDOW_SCALE;
            syn.window_scale = self.rcv.wanted_shift();
        }
        if self.rare.offers_sack {
            syn.flags = syn.flags | Flags::HAS_SACK_PERMITTED;
        }
        if self.rare.offers_timestamps {
            syn.flags = syn.flags | Flags::HAS_TIMESTAMPS;
            syn.ts_val = self.timestamps.now(now);
        }
        self.start_timer(now, TimerKind::Retransmit, self.rtt.rto());
        // Karn's algorithm: times only the first transmission.
        self.times.timed = if self.rare.syns_sent == 0 { 0 } else { UNTIMED };
        self.times.timed_at = now;
        self.rare.syns_sent = self.rare.syns_sent.saturating_add(1);
        syn
    }

    /// Retransmits the SYN, or the SYN+ACK, without an answer (RFC 6298 section 5.5).
    pub(super) fn on_handshake_timeout(&mut self) {
        self.counters.timeouts += 1;
        self.rare.handshake_timeouts = self.rare.handshake_timeouts.saturating_add(1);
        if self.state != State::SynSent || self.rare.handshake_timeouts > self.rare.linear_syn_timeouts {
            self.rtt.back_off();
        }
        self.stop_timer();
        self.control = if self.state == State::SynSent { PendingControl::Syn } else { PendingControl::SynAck };
    }
}

/// An endpoint before its first segment, for copies. [`renew`](Self::renew) turns an endpoint with a finished
/// connection into a new one, in the same place and memory. It allocates nothing, except for Vegas' and ns-2 Sack1's
/// few records and a congestion control of a plug-in.
#[derive(Clone, Debug)]
pub struct Template {
    /// The endpoint without the parts in separate memory, so copying it allocates nothing.
    bare: Endpoint,
    selective: Option<Box<Selective>>,
    paced: Option<Box<Paced>>,
}

impl Template {
    /// A template for sides that open the connection ([`Endpoint::client`]).
    #[must_use]
    pub fn client(config: &Config) -> Self {
        Self::of(Endpoint::client(config, SeqNr::new(0)))
    }

    /// A template for sides that wait for it ([`Endpoint::server`]).
    #[must_use]
    pub fn server(config: &Config) -> Self {
        Self::of(Endpoint::server(config, SeqNr::new(0)))
    }

    fn of(mut bare: Endpoint) -> Self {
        Self { selective: bare.selective.take(), paced: bare.paced.take(), bare }
    }

    /// A new endpoint; `iss` is its initial sequence number.
    #[must_use]
    pub fn make(&self, iss: SeqNr) -> Endpoint {
        let mut endpoint = self.bare.clone();
        endpoint.selective.clone_from(&self.selective);
        endpoint.paced.clone_from(&self.paced);
        endpoint.begin_at(iss);
        endpoint
    }

    /// Renews `endpoint`, which was made from this template.
    pub fn renew(&self, endpoint: &mut Endpoint, iss: SeqNr) {
        match (&mut endpoint.selective, &self.selective) {
            (Some(own), Some(fresh)) => own.renew(fresh),
            (own, fresh) => own.clone_from(fresh),
        }
        match (&mut endpoint.paced, &self.paced) {
            (Some(own), Some(_)) => own.renew(),
            (own, fresh) => own.clone_from(fresh),
        }
        endpoint.cc.renew(&self.bare.cc);
        endpoint.renew_rest(&self.bare);
        endpoint.begin_at(iss);
    }
}

impl Endpoint {
    /// Takes the state of `fresh`, in the existing memory. Congestion control and optional parts are handled
    /// elsewhere.
    fn renew_rest(&mut self, fresh: &Self) {
        let Self { counters, timestamps, prediction, state, timer_kind, snd, .. } = fresh;
        self.counters = *counters;
        self.timestamps.clone_from(timestamps);
        (self.prediction, self.state, self.timer_kind) = (*prediction, *state, *timer_kind);
        self.snd.clone_from(snd);
        let Self { times, rcv, limit, timer_at, wake_at, rtt, rare, control, .. } = fresh;
        self.rcv.renew(rcv);
        self.times.clone_from(times);
        (self.limit, self.timer_at, self.wake_at) = (*limit, *timer_at, *wake_at);
        self.rtt.clone_from(rtt);
        (*self.rare).clone_from(rare);
        self.control = *control;
        #[cfg(test)]
        {
            self.general_only = fresh.general_only;
        }
    }

    /// Sets the initial sequence number, and the state that depends on it.
    fn begin_at(&mut self, iss: SeqNr) {
        self.snd.origin = iss.advanced_by(1);
        self.cc.reseed(iss.as_u32());
    }
}
