//! The sending half: sent data, and the data that may be sent.

use crate::config::{Config, WindowUpdate};
use crate::segment::Segment;
use crate::seq::SeqNr;
use netlull_units::Instant;
use std::num::NonZeroU16;

/// An endless stream. Finite data ends below: no connection lives long enough to send so much.
pub(super) const ENDLESS: u64 = 1 << 62;
/// "Nothing is being timed": beyond every stream offset.
pub(super) const UNTIMED: u64 = u64::MAX;

/// The application's side: open or closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fin {
    /// More data may follow.
    Open,
    /// A FIN follows the last byte queued.
    Queued,
}

/// An acknowledgement number compared with the data sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckNumber {
    /// The number of newly acknowledged bytes.
    New(u64),
    /// SND.UNA again.
    Same,
    /// A number before SND.UNA.
    Old,
    /// A number beyond the sent data.
    Unsent,
}

/// The next piece of the stream to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// No data is queued.
    Nothing,
    /// Data is queued, but windows or rules hold it.
    Held,
    /// The number of bytes of data (possibly none before a FIN).
    Send(u64),
}

/// Times of transmissions.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Times {
    /// An acknowledgement of this offset is a round-trip sample.
    pub timed: u64,
    pub timed_at: Instant,
    /// Time of the last transmission of data.
    pub last_sent: Instant,
}

impl Times {
    pub const NEVER: Self = Self { timed: UNTIMED, timed_at: Instant::ZERO, last_sent: Instant::ZERO };
}

/// The sending half of an endpoint. Offsets count the own stream from its first byte; the FIN is one more.
///
/// A cache line that every segment in either direction touches.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Sender {
    /// SND.UNA as a stream offset.
    pub una: u64,
    /// SND.NXT: the next offset to send; a timeout moves it back to `una` (go-back-N).
    pub nxt: u64,
    /// The highest offset ever sent, excluded; acknowledgements up to here are valid.
    pub max: u64,
    /// Offset after the last byte that the application has queued.
    pub queued: u64,
    /// The right edge of the peer's window, or of the send buffer, if that is lower. It may move back, even below
    /// `nxt`.
    pub edge: u64,
    /// Sequence number of stream offset 0.
    pub origin: SeqNr,
    /// SND.WND in bytes, as last advertised.
    pub window: u32,
    /// SND.WL1 and SND.WL2.
    window_seq: SeqNr,
    window_ack: SeqNr,
    /// Eff.snd.MSS: data in a full segment, bytes.
    pub smss: u16,
    /// Full segments in the send buffer, if it has a limit.
    most: Option<NonZeroU16>,
    /// The peer's window scale shift.
    pub shift: u8,
    pub fin: Fin,
    nagle: bool,
    window_update: WindowUpdate,
}

impl Sender {
    pub fn new(config: &Config, iss: SeqNr) -> Self {
        Self {
            una: 0,
            nxt: 0,
            max: 0,
            queued: 0,
            edge: 0,
            origin: iss.advanced_by(1),
            window: 0,
            window_seq: SeqNr::default(),
            window_ack: SeqNr::default(),
            smss: config.mss,
            most: None,
            shift: 0,
            fin: Fin::Open,
            nagle: config.nagle,
            window_update: config.flow_control.window_update,
        }
    }

    #[inline]
    pub fn seq(&self, offset: u64) -> SeqNr {
        self.origin.advanced_by(offset)
    }

    /// Data believed to be in the network.
    #[inline]
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// True if the FIN has been acknowledged.
    #[inline]
    pub fn fin_is_acked(&self) -> bool {
        self.una > self.queued
    }

    #[inline]
    pub fn classify(&self, ack: SeqNr) -> AckNumber {
        let distance = ack.distance_from(self.seq(self.una));
        match u64::try_from(distance) {
            Err(_) => AckNumber::Old,
            Ok(0) => AckNumber::Same,
            Ok(new) if new <= self.max - self.una => AckNumber::New(new),
            Ok(_) => AckNumber::Unsent,
        }
    }

    /// Handles the acknowledgement of `acked` more bytes.
    #[inline]
    pub fn advance(&mut self, acked: u64) {
        self.una += acked;
        self.nxt = self.nxt.max(self.una);
    }

    /// Sets the data in a full segment, known from the handshake, and with it the capacity of `send_buffer` bytes.
    pub fn set_segment_size(&mut self, smss: u16, send_buffer: Option<u64>) {
        self.smss = smss;
        self.most = send_buffer.and_then(|bytes| {
            let segments = bytes.div_ceil(u64::from(smss.max(1)));
            NonZeroU16::new(u16::try_from(segments).unwrap_or(u16::MAX))
        });
    }

    /// RFC 9293 section 3.10.7.4: takes the segment's window, unless the segment is older than the last one, or such
    /// windows are not accepted. True if the window changes.
    #[inline]
    pub fn update_window(&mut self, segment: &Segment) -> bool {
        let before = self.window;
        let newer = self.window_seq.is_before(segment.seq)
            || (self.window_seq == segment.seq
                && self.window_ack.is_at_or_before(segment.ack)
                && (self.window_ack != segment.ack || self.takes_again(segment)));
        if newer {
            self.set_window(segment, self.shift);
        }
        self.window != before
    }

    /// True if the window of a segment with the numbers of the last window is accepted.
    #[inline]
    fn takes_again(&self, segment: &Segment) -> bool {
        self.window_update.takes(u32::from(segment.window) << self.shift, self.window)
    }

    /// Takes the segment's window, scaled by `shift` (0 in a SYN: RFC 7323 section 2.2).
    #[inline]
    pub fn set_window(&mut self, segment: &Segment, shift: u8) {
        self.window = u32::from(segment.window) << shift;
        let window = u64::from(self.window);
        let usable = self.most.map_or(window, |most| window.min(u64::from(most.get()) * u64::from(self.smss)));
        self.edge = self.una + usable;
        self.window_seq = segment.seq;
        self.window_ack = segment.ack;
    }

    /// The next segment from `nxt`, with a congestion window of `window` bytes. `largest_window` is the largest that
    /// the peer has advertised (Max(SND.WND) of RFC 9293 section 3.8.6.2.1).
    #[inline]
    pub fn next(&self, window: u64, largest_window: u32) -> Next {
        let waiting = self.queued.saturating_sub(self.nxt);
        if waiting == 0 {
            let fin_waits = self.fin == Fin::Queued && self.nxt == self.queued;
            // A FIN needs no buffer at the other end; windows do not hold it (as BSD).
            return if fin_waits { Next::Send(0) } else { Next::Nothing };
        }
        let usable = self.edge.min(self.una.saturating_add(window)).saturating_sub(self.nxt);
        let smss = u64::from(self.smss);
        // RFC 9293 section 3.8.6.2.1 rule 1: a full segment fits, min(D, U) >= Eff.snd.MSS.
        if waiting.min(usable) >= smss {
            return Next::Send(smss);
        }
        self.next_short(waiting, usable, largest_window)
    }

    /// Less than a full segment: the sender's silly-window avoidance, and Nagle's algorithm.
    fn next_short(&self, waiting: u64, usable: u64, largest_window: u32) -> Next {
        let closing = self.fin == Fin::Queued;
        // Rules 2 and 3: all queued data fits (all data counts as pushed). With Nagle, only if nothing is in flight
        // (RFC 9293 section 3.7.4), or if no more follows.
        if waiting <= usable && (!self.nagle || self.una == self.nxt || closing) {
            return Next::Send(waiting);
        }
        // Rule 3's other half: at least half of the largest window, if the peer's window is small.
        let peer_usable = self.edge.saturating_sub(self.nxt);
        let fits = waiting.min(peer_usable);
        if fits > 0 && fits < u64::from(self.smss) && 2 * fits >= u64::from(largest_window) && fits <= usable {
            return Next::Send(fits);
        }
        Next::Held
    }
}
