//! The state of explicit congestion notification (RFC 3168), with the echo of DCTCP (RFC 8257).

use crate::config::Ecn;
use crate::segment::{Flags, Segment};

/// The state of congestion notification, in both directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnState {
    pub mode: Ecn,
    /// Both ends have agreed.
    pub enabled: bool,
    /// ECE goes out with every acknowledgement: until CWR comes (RFC 3168 section 6.1.3), or DCTCP.CE (RFC 8257 section 3.2).
    pub echoes: bool,
    /// The next new data carries CWR.
    cwr_due: bool,
    /// Echoes count once data from this stream offset on is acknowledged: it was sent after the last reduction.
    pub heeded_from: u64,
    /// Losses count from this stream offset on: for those before, an echo has reduced the window.
    pub losses_from: u64,
}

impl EcnState {
    pub fn new(mode: Ecn) -> Self {
        Self { mode, enabled: false, echoes: false, cwr_due: false, heeded_from: 0, losses_from: 0 }
    }

    /// RFC 3168 section 6.1.1, for our SYN, `sent_before` times. Section 6.1.1.1: one that got no answer is sent again
    /// without; then ECN is off.
    pub fn syn_flags(&mut self, sent_before: u8) -> Flags {
        if self.mode != Ecn::Off && sent_before == 0 {
            return Flags::ECE | Flags::CWR;
        }
        self.mode = Ecn::Off;
        Flags::NONE
    }

    /// For our SYN+ACK: ECE alone.
    pub fn syn_ack_flags(&self) -> Flags {
        if self.enabled { Flags::ECE } else { Flags::NONE }
    }

    /// The peer's SYN or SYN+ACK. If it sends a SYN again without ECN, that is what counts.
    pub fn take_syn(&mut self, flags: Flags) {
        let agrees = if flags.contains(Flags::ACK) {
            flags.contains(Flags::ECE) && !flags.contains(Flags::CWR)
        } else {
            flags.contains(Flags::ECE | Flags::CWR)
        };
        self.enabled = self.mode != Ecn::Off && agrees;
    }

    /// True if an acknowledgement with these flags tells of congestion.
    #[inline]
    pub fn hears(&self, flags: Flags) -> bool {
        self.enabled && flags.contains(Flags::ECE)
    }

    /// True if nothing is to be echoed or answered: unmarked data changes nothing.
    pub fn is_plain(&self) -> bool {
        // A reduction asks for CWR whether there is somebody to read it or not.
        !(self.echoes || self.enabled && self.cwr_due)
    }

    /// The flags of new data while [`Self::is_plain`].
    pub fn data_flags(&self) -> Flags {
        if self.enabled { Flags::ECT } else { Flags::NONE }
    }

    /// The flags of acknowledgements.
    #[inline]
    pub fn echo(&self) -> Flags {
        if self.echoes { Flags::ECE } else { Flags::NONE }
    }

    /// RFC 3168 section 6.1.2: new data is sent as ECN-capable, and the first after a reduction says so. Retransmissions,
    /// acknowledgements alone and window probes are not (sections 6.1.4 to 6.1.6).
    #[inline]
    pub fn on_new_data(&mut self, segment: Segment) -> Segment {
        if !self.enabled || segment.len == 0 {
            return segment;
        }
        let cwr = if std::mem::take(&mut self.cwr_due) { Flags::CWR } else { Flags::NONE };
        Segment { flags: segment.flags | Flags::ECT | cwr, ..segment }
    }

    /// The window has been reduced, with data sent up to `max`.
    pub fn reduced(&mut self, max: u64) {
        self.cwr_due = true;
        self.heeded_from = max + 1;
    }
}
