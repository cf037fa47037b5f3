//! Explicit congestion notification (RFC 3168), with the echo of DCTCP (RFC 8257): its state, echoes to the peer, and
//! reactions to its echoes.

use super::receiver::AckDue;
use super::{Endpoint, PendingControl};
use crate::cc::{CongestionControl, Loss};
use crate::config::Ecn;
use crate::segment::{Flags, Segment};
use netlull_units::Instant;

/// The state of congestion notification, in both directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnState {
    pub mode: Ecn,
    /// True if both ends have agreed.
    pub enabled: bool,
    /// True if every acknowledgement carries ECE: until CWR arrives (RFC 3168 section 6.1.3), or as DCTCP.CE (RFC
    /// 8257 section 3.2).
    pub echoes: bool,
    /// True if the next new data carries CWR.
    cwr_due: bool,
    /// Echoes count once data from this stream offset on, sent after the last reduction, is acknowledged.
    pub heeded_from: u64,
    /// Losses count from this stream offset on: for earlier data, an echo has reduced the window.
    pub losses_from: u64,
}

impl EcnState {
    pub fn new(mode: Ecn) -> Self {
        Self { mode, enabled: false, echoes: false, cwr_due: false, heeded_from: 0, losses_from: 0 }
    }

    /// RFC 3168 section 6.1.1: the flags of our SYN, sent `sent_before` times before. Section 6.1.1.1: a SYN without
    /// an answer is retransmitted without ECN, which is then off.
    pub fn syn_flags(&mut self, sent_before: u8) -> Flags {
        if self.mode != Ecn::Off && sent_before == 0 {
            return Flags::ECE | Flags::CWR;
        }
        self.mode = Ecn::Off;
        Flags::NONE
    }

    /// The flags of our SYN+ACK: ECE alone.
    pub fn syn_ack_flags(&self) -> Flags {
        if self.enabled { Flags::ECE } else { Flags::NONE }
    }

    /// Handles the peer's SYN or SYN+ACK. The last SYN counts, if the peer repeats it without ECN.
    pub fn take_syn(&mut self, flags: Flags) {
        let agrees = if flags.contains(Flags::ACK) {
            flags.contains(Flags::ECE) && !flags.contains(Flags::CWR)
        } else {
            flags.contains(Flags::ECE | Flags::CWR)
        };
        self.enabled = self.mode != Ecn::Off && agrees;
    }

    /// True if an acknowledgement with these flags reports congestion.
    #[inline]
    pub fn hears(&self, flags: Flags) -> bool {
        self.enabled && flags.contains(Flags::ECE)
    }

    /// True if nothing needs an echo or an answer: unmarked data changes nothing.
    pub fn is_plain(&self) -> bool {
        // A reduction sets CWR even if the peer does not use ECN.
        !(self.echoes || self.enabled && self.cwr_due)
    }

    /// The flags of acknowledgements.
    #[inline]
    pub fn echo(&self) -> Flags {
        if self.echoes { Flags::ECE } else { Flags::NONE }
    }

    /// RFC 3168 section 6.1.2: new data is sent as ECN-capable, and the first after a reduction reports it.
    /// Retransmissions, pure acknowledgements and window probes are not (sections 6.1.4 to 6.1.6).
    #[inline]
    pub fn on_new_data(&mut self, segment: Segment) -> Segment {
        if !self.enabled || segment.len == 0 {
            return segment;
        }
        let cwr = if std::mem::take(&mut self.cwr_due) { Flags::CWR } else { Flags::NONE };
        Segment { flags: segment.flags | Flags::ECT | cwr, ..segment }
    }

    /// Handles the undo of a reduction: the peer hears of none.
    pub fn withdraw(&mut self) {
        self.cwr_due = false;
    }

    /// Records a reduction of the window, with data sent up to `max`.
    pub fn reduced(&mut self, max: u64) {
        self.cwr_due = true;
        self.heeded_from = max + 1;
    }
}

impl Endpoint {
    /// Handles data in the window that has arrived with `flags`.
    #[inline]
    pub(super) fn note_marks(&mut self, now: Instant, flags: Flags) {
        if !self.rare.ecn.enabled {
            return;
        }
        let marked = flags.contains(Flags::CE);
        self.counters.marks_received += u64::from(marked);
        if self.rare.ecn.mode == Ecn::Dctcp {
            if self.rare.ecn.echoes != marked {
                self.change_echo(now, marked);
            }
            return;
        }
        // RFC 3168 section 6.1.3: CWR ends the echo, unless this segment is marked itself.
        self.rare.ecn.echoes = marked || (self.rare.ecn.echoes && !flags.contains(Flags::CWR));
    }

    /// RFC 8257 section 3.2: at the beginning or end of marks, an acknowledgement reports the change at once. Data
    /// with a delayed acknowledgement is acknowledged before, with its own echo (figure 1 there).
    #[cold]
    fn change_echo(&mut self, now: Instant, marked: bool) {
        if self.rcv.ack_due == AckDue::Delayed {
            self.rare.early_ack = Some(Box::new(self.transmit_ack(now)));
            self.control = PendingControl::EarlyAck;
        }
        self.rare.ecn.echoes = marked;
        self.rcv.ack_due = AckDue::Now;
    }

    /// Handles an acknowledgement that reports congestion, with `flight` bytes outstanding at its arrival, of which it
    /// delivered some; `advances`: SND.UNA has advanced. RFC 3168 section 6.1.2: one reduction per window of data.
    #[cold]
    pub(super) fn heed_echo(&mut self, now: Instant, flight: u64, delivered: u64, advances: bool) {
        if self.snd.una < self.rare.ecn.heeded_from {
            return;
        }
        self.counters.echo_reductions += 1;
        let before = self.cc.cwnd();
        self.cc.on_congestion_echo(&self.loss_of(now, flight));
        if let Some(selective) = &mut self.selective
            && selective.reduce(self.snd.max, before, advances)
        {
            self.rare.undo.forget();
            selective.proceed(delivered, self.cc.ssthresh(), u64::from(self.snd.smss));
        }
        self.rare.ecn.losses_from = self.snd.max;
        self.rare.ecn.reduced(self.snd.max);
    }

    /// Handles a loss. RFC 3168 section 6.1.2: drops and marks of one window of data reduce the window once. The loss
    /// of data sent after the reduction counts again.
    pub(super) fn reduce_for_loss(&mut self, loss: &Loss) {
        if self.snd.una >= self.rare.ecn.losses_from {
            self.cc.on_loss(loss);
        }
        self.rare.ecn.reduced(self.snd.max);
    }
}
