//! Congestion marks: echoes to the peer, and the answer to echoes from the peer.

use super::receiver::AckDue;
use super::{Control, Endpoint};
use crate::cc::{CongestionControl, Loss};
use crate::config::Ecn;
use crate::segment::Flags;
use netlull_units::Instant;

impl Endpoint {
    /// Data in the window has arrived with `flags` around it.
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

    /// RFC 8257 section 3.2: when the marks begin or end, an acknowledgement says so at once; what waits for its own is
    /// acknowledged before, with the echo that it is due (figure 1 there).
    #[cold]
    fn change_echo(&mut self, now: Instant, marked: bool) {
        if self.rcv.ack_due == AckDue::Delayed {
            self.rare.early_ack = Some(Box::new(self.transmit_ack(now)));
            self.control = Control::EarlyAck;
        }
        self.rare.ecn.echoes = marked;
        self.rcv.ack_due = AckDue::Now;
    }

    /// An acknowledgement told of congestion, with `flight` bytes outstanding when it came. RFC 3168 section 6.1.2: one
    /// reduction per window of data.
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

    /// A loss was found. RFC 3168 section 6.1.2: the window is reduced only once for the drops and marks of one window of
    /// data; the loss of what was sent after the reduction is news.
    pub(super) fn reduce_for_loss(&mut self, loss: &Loss) {
        if self.snd.una >= self.rare.ecn.losses_from {
            self.cc.on_loss(loss);
        }
        self.rare.ecn.reduced(self.snd.max);
    }
}
