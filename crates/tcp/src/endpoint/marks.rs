//! Congestion marks: echoes to the peer, and reactions to its echoes.

use super::receiver::AckDue;
use super::{Control, Endpoint};
use crate::cc::{CongestionControl, Loss};
use crate::config::Ecn;
use crate::segment::Flags;
use netlull_units::Instant;

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
            self.control = Control::EarlyAck;
        }
        self.rare.ecn.echoes = marked;
        self.rcv.ack_due = AckDue::Now;
    }

    /// Handles an acknowledgement that reports congestion, with `flight` bytes outstanding at its arrival. RFC 3168
    /// section 6.1.2: one reduction per window of data.
    #[cold]
    pub(super) fn heed_echo(&mut self, now: Instant, flight: u64) {
        if self.snd.una < self.rare.ecn.heeded_from {
            return;
        }
        self.counters.echo_reductions += 1;
        self.cc.on_congestion_echo(&self.loss_of(now, flight));
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
