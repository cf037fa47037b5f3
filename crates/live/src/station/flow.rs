//! One connection of the host's as its packets show it, and the acknowledgements that can be sent in its name.

use super::reassembly::Received;
use netlull_mechanism::gateway::{SegmentKind, Timestamps};
use netlull_mechanism::station::{PacketView, TcpView};
use netlull_units::{Bytes, Duration, Instant};
use netlull_wire::{AckTemplate, Connection, Flags, TcpPacket, seq_le, seq_lt};

/// The shifts of windows (RFC 7323 section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scales {
    /// One side has sent its SYN, and this is what it offers.
    Offered { by: Side, shift: Option<u8> },
    /// Both have.
    Agreed { host: u8, peer: u8 },
}

/// Who has sent a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Host,
    Peer,
}

/// What a segment of the peer's brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brings {
    /// What the host will take, or has.
    Segment,
    /// The end of the peer's data, with all before it.
    End,
    /// The end of the connection.
    Reset,
    /// What the host will not take: it is older than what has come (PAWS, RFC 7323 section 5), or it is a reset out of place.
    Nothing,
}

/// An acknowledgement that the host has sent, or that was sent in its name.
#[derive(Clone, Copy, Debug)]
struct HostAck {
    number: u32,
    /// The end of the window: what lies from there on the host may have no room for.
    edge: u32,
}

/// How the host's clock of timestamps is read between two of its packets.
#[derive(Clone, Copy, Debug)]
struct StampClock {
    first: (u32, Instant),
    last: (u32, Instant),
    rate: StampRate,
    /// The latest that was put into an acknowledgement in its name.
    used: u32,
}

/// Whether the clock goes on by a tick a millisecond or faster. Linux's does; one that is slower must not be run ahead of: the host's next
/// segments would be older than ours, and the peer would drop them (PAWS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StampRate {
    Unknown,
    Milliseconds,
    Slower,
}

/// After so long the rate of a clock is judged: 2 ticks of it are lost to when packets are seen.
const JUDGED_AFTER: Duration = Duration::from_millis(20);

impl StampClock {
    fn new(value: u32, now: Instant) -> Self {
        Self { first: (value, now), last: (value, now), rate: StampRate::Unknown, used: value }
    }

    fn sees(&mut self, value: u32, now: Instant) {
        if seq_lt(value, self.used) && self.rate == StampRate::Milliseconds && seq_lt(self.last.0, self.used) {
            self.rate = StampRate::Slower;
        }
        if seq_lt(value, self.last.0) {
            return;
        }
        let span = now.saturating_since(self.first.1);
        if self.rate == StampRate::Unknown && span >= JUDGED_AFTER {
            let ticks = value.wrapping_sub(self.first.0);
            let keeps_up = u64::from(ticks) + 2 >= millis(span);
            self.rate = if keeps_up { StampRate::Milliseconds } else { StampRate::Slower };
        }
        self.last = (value, now);
    }

    /// What the host would put into a segment now, or a little less; it never goes back.
    fn reads(&mut self, now: Instant) -> u32 {
        let (value, at) = self.last;
        let since = if self.rate == StampRate::Milliseconds { millis(now.saturating_since(at)) } else { 0 };
        // A connection that is silent for 2^31 ms has no use for its timestamps (RFC 7323 section 5.5).
        let value = value.wrapping_add(u32::try_from(since).unwrap_or(0));
        if seq_lt(self.used, value) {
            self.used = value;
        }
        self.used
    }
}

fn millis(span: Duration) -> u64 {
    span.as_nanos() / 1_000_000
}

/// The host acknowledges at least every second full-sized segment (RFC 5681 section 4.2); what is in order beyond that it has not taken.
const DELAYED_SEGMENTS: u32 = 2;

/// The host's answer to a segment is out after so long; an acknowledgement later than that which does not cover it says that the host has
/// not taken it. (A host whose buffer is full drops segments that its window had room for.)
const ANSWERS_WITHIN: Duration = Duration::from_millis(2);

/// A window that is larger by no more than this part of what was offered before is not worth a packet of its own.
const LARGER_BY: u32 = 4;

/// What a segment that only acknowledges has.
const ONLY_ACK: Flags = Flags::from_byte(0x10);

/// A connection both of whose ends' numbers are known since its SYN was seen.
#[derive(Debug)]
pub(super) struct Flow {
    /// As the host's packets have it.
    pub(super) connection: Connection,
    pub(super) number: u32,
    scales: Scales,
    syn: (Side, u32),
    received: Option<Received>,
    /// The number behind the peer's FIN.
    end: Option<u32>,
    host_ack: Option<HostAck>,
    /// The last that was sent in its name.
    own_ack: Option<HostAck>,
    /// The latest acknowledgement that has gone out, the host's or one in its name.
    acknowledged: Option<u32>,
    sent_until: Option<u32>,
    template: Option<AckTemplate>,
    /// Its segments are signed, or of Multipath TCP: no acknowledgement can be sent in the host's name, so no window may be closed.
    is_inimitable: bool,
    clock: Option<StampClock>,
    /// TS.Recent (RFC 7323 section 4.3).
    recent: Option<u32>,
    /// The largest segment of the peer's, in bytes of data.
    largest: u32,
    taken_at: Instant,
    /// When anything was last seen of it.
    pub(super) active: Instant,
}

impl Flow {
    /// A connection whose first SYN, without ACK, is this one; `None` if it is no such segment.
    pub(super) fn opened_by(side: Side, tcp: &TcpPacket<'_>, number: u32, now: Instant) -> Option<Self> {
        let flags = tcp.flags();
        if !flags.syn || flags.ack || flags.rst {
            return None;
        }
        let connection = match side {
            Side::Host => tcp.connection(),
            Side::Peer => tcp.connection().reversed(),
        };
        Some(Self {
            connection,
            number,
            scales: Scales::Offered { by: side, shift: tcp.options().window_scale },
            syn: (side, tcp.seq()),
            received: None,
            end: None,
            host_ack: None,
            own_ack: None,
            acknowledged: None,
            sent_until: None,
            template: None,
            is_inimitable: false,
            clock: None,
            recent: None,
            largest: 0,
            taken_at: now,
            active: now,
        })
    }

    /// Whether this is the SYN that opened it, once more.
    pub(super) fn is_opened_by(&self, side: Side, tcp: &TcpPacket<'_>) -> bool {
        self.syn == (side, tcp.seq())
    }

    fn shift(&self, side: Side) -> Option<u8> {
        match (self.scales, side) {
            (Scales::Agreed { host, .. }, Side::Host) => Some(host),
            (Scales::Agreed { peer, .. }, Side::Peer) => Some(peer),
            (Scales::Offered { .. }, _) => None,
        }
    }

    /// The shift of the host's windows, once it is agreed.
    pub(super) fn host_shift(&self) -> Option<u8> {
        self.shift(Side::Host)
    }

    /// A segment as the machine reads it; without its TCP part while windows cannot be read.
    pub(super) fn view(&self, side: Side, tcp: &TcpPacket<'_>) -> PacketView {
        let kind = kind(tcp);
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        let shift = if kind == SegmentKind::Other { self.shift(side) } else { Some(0) };
        let segment = shift.filter(|_| !tcp.flags().rst && !self.is_inimitable).map(|shift| TcpView {
            connection: self.number,
            kind,
            fin: tcp.flags().fin,
            seq: tcp.seq(),
            len: tcp.payload_len(),
            acknowledged: tcp.ack(),
            window: Bytes::new(u64::from(tcp.window_field()) << shift),
            timestamps: tcp.options().timestamps.map(|(value, echo)| Timestamps { value, echo }),
        });
        PacketView { size: tcp.packet_len(), segment }
    }

    fn sees_syn(&mut self, side: Side, tcp: &TcpPacket<'_>) {
        if let Scales::Offered { by, shift } = self.scales
            && by != side
            && tcp.flags().syn
        {
            // RFC 7323 section 2.2: both, or none.
            let (host, peer) = match (shift, tcp.options().window_scale, side) {
                (Some(offered), Some(answered), Side::Peer) => (offered, answered),
                (Some(offered), Some(answered), Side::Host) => (answered, offered),
                _ => (0, 0),
            };
            self.scales = Scales::Agreed { host, peer };
        }
    }

    /// The host sends a segment, with its own window.
    pub(super) fn sent(&mut self, now: Instant, tcp: &TcpPacket<'_>) {
        self.active = now;
        self.sees_syn(Side::Host, tcp);
        let end = tcp.seq().wrapping_add(tcp.sequence_len());
        if self.sent_until.is_none_or(|until| seq_lt(until, end)) {
            self.sent_until = Some(end);
        }
        if let Some((value, _)) = tcp.options().timestamps {
            match &mut self.clock {
                Some(clock) => clock.sees(value, now),
                None => self.clock = Some(StampClock::new(value, now)),
            }
        }
        if let Some(number) = tcp.ack().filter(|_| !tcp.flags().rst) {
            self.acknowledges(now, number, tcp);
        }
    }

    /// Whether a segment of the host's does no more than acknowledge what has been acknowledged in its name since its last one: a host delays
    /// its acknowledgement of a burst's odd last segment (RFC 5681 section 4.2). One that repeats the host's own number says that a segment is
    /// missing (RFC 5681 section 2), and one with selective blocks which.
    pub(super) fn is_anticipated(&self, tcp: &TcpPacket<'_>) -> bool {
        let (Some(host), Some(own), Some(number), Some(shift)) =
            (self.host_ack, self.own_ack, tcp.ack(), self.host_shift())
        else {
            return false;
        };
        let only_acknowledges =
            tcp.flags() == ONLY_ACK && tcp.payload_len() == 0 && tcp.options().sack.iter().all(Option::is_none);
        let edge = number.wrapping_add(u32::from(tcp.window_field()) << shift);
        let larger = if seq_lt(own.edge, edge) { edge.wrapping_sub(own.edge) } else { 0 };
        only_acknowledges
            && seq_lt(host.number, number)
            && seq_le(number, own.number)
            && larger <= own.edge.wrapping_sub(own.number) / LARGER_BY
    }

    fn acknowledges(&mut self, now: Instant, number: u32, tcp: &TcpPacket<'_>) {
        // An acknowledgement that was overtaken, of a segment sent again, says nothing new.
        if self.host_ack.is_some_and(|last| seq_lt(number, last.number)) {
            return;
        }
        let shift = if tcp.flags().syn { Some(0) } else { self.host_shift() };
        if let Some(shift) = shift {
            let window = u32::from(tcp.window_field()) << shift;
            self.host_ack = Some(HostAck { number, edge: number.wrapping_add(window) });
        }
        if self.acknowledged.is_none_or(|last| seq_lt(last, number)) {
            self.acknowledged = Some(number);
        }
        match AckTemplate::from_packet(tcp) {
            Some(template) => self.template = Some(template),
            None => self.is_inimitable |= self.template.is_none() && !tcp.flags().syn,
        }
        if let Some(received) = &mut self.received {
            received.at_least(number);
            if now.saturating_since(self.taken_at) > ANSWERS_WITHIN {
                received.at_most(number);
            }
        }
    }

    /// The peer's segment, whose checksum is right, is about to reach the host.
    pub(super) fn receives(&mut self, now: Instant, tcp: &TcpPacket<'_>) -> Brings {
        let flags = tcp.flags();
        if flags.rst {
            // RFC 5961 section 3.2; before the handshake is over, whatever acknowledges the SYN.
            let in_place = self.received.as_ref().is_none_or(|received| received.next() == tcp.seq());
            return if in_place { Brings::Reset } else { Brings::Nothing };
        }
        self.active = now;
        self.sees_syn(Side::Peer, tcp);
        let stamp = tcp.options().timestamps.map(|(value, _)| value);
        let start = tcp.seq().wrapping_add(u32::from(flags.syn));
        if flags.syn && self.received.is_none() {
            self.received = Some(Received::new(start));
            self.recent = stamp;
        }
        if let (Some(recent), Some(value)) = (self.recent, stamp) {
            if seq_lt(value, recent) {
                return Brings::Nothing;
            }
            // RFC 7323 section 4.3 (2).
            if self.acknowledged.is_none_or(|last| seq_le(tcp.seq(), last)) {
                self.recent = stamp;
            }
        }
        self.takes(now, tcp, start)
    }

    /// What the host takes of a segment: what its window has room for.
    fn takes(&mut self, now: Instant, tcp: &TcpPacket<'_>, start: u32) -> Brings {
        let (Some(received), len) = (&mut self.received, tcp.payload_len()) else { return Brings::Segment };
        self.largest = self.largest.max(len);
        let mut end = start.wrapping_add(len);
        if tcp.flags().fin {
            end = end.wrapping_add(1);
            self.end = Some(end);
        }
        // A FIN needs no room. Of what does not fit as a whole a host may take a part, or nothing.
        let edge = self.host_ack.map_or(start, |ack| ack.edge);
        if len > 0 && !seq_le(start.wrapping_add(len), edge) {
            return Brings::Segment;
        }
        let before = received.next();
        received.add(start, end);
        if received.next() != before {
            self.taken_at = now;
        }
        if tcp.flags().fin && self.end.is_some_and(|end| seq_le(end, received.next())) {
            return Brings::End;
        }
        if self.end == Some(received.next()) && before != received.next() { Brings::End } else { Brings::Segment }
    }

    /// What may be acknowledged in the host's name: what has come in order, unless that is more than a host leaves unacknowledged; then what
    /// it has acknowledged itself.
    fn acknowledgeable(&self) -> Option<u32> {
        let host = self.host_ack?.number;
        let next = self.received.as_ref()?.next();
        let ahead = next.wrapping_sub(host);
        let delayed = self.largest.saturating_mul(DELAYED_SEGMENTS).saturating_add(1);
        Some(if seq_lt(host, next) && ahead <= delayed { next } else { host })
    }

    /// An acknowledgement of all that the host has received, with the window that it has itself offered: what that ends with, and not a byte
    /// more. `None` before the host has acknowledged anything, or if its segments cannot be imitated.
    pub(super) fn acknowledgement(&mut self, now: Instant) -> Option<(Vec<u8>, PacketView)> {
        let (template, shift, seq) = (self.template?, self.host_shift()?, self.sent_until?);
        let (number, edge) = (self.acknowledgeable()?, self.host_ack?.edge);
        let window = if seq_lt(number, edge) { edge.wrapping_sub(number) } else { 0 };
        // Rounded down: no more than the host has offered.
        let field = u16::try_from(window >> shift).unwrap_or(u16::MAX);
        let timestamps = self.clock.as_mut().zip(self.recent).map(|(clock, recent)| (clock.reads(now), recent));
        let mut bytes = vec![0; AckTemplate::MAX_LEN];
        let len = template.build(seq, number, field, timestamps, &mut bytes);
        bytes.truncate(len);
        self.own_ack = Some(HostAck { number, edge: number.wrapping_add(u32::from(field) << shift) });
        if self.acknowledged.is_none_or(|last| seq_lt(last, number)) {
            self.acknowledged = Some(number);
        }
        self.active = now;
        let segment = TcpView {
            connection: self.number,
            kind: SegmentKind::Other,
            fin: false,
            seq,
            len: 0,
            acknowledged: Some(number),
            window: Bytes::new(u64::from(field) << shift),
            timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
        };
        Some((bytes, PacketView { size: u32::try_from(len).unwrap_or(0), segment: Some(segment) }))
    }
}

fn kind(tcp: &TcpPacket<'_>) -> SegmentKind {
    match (tcp.flags().syn, tcp.flags().ack) {
        (true, false) => SegmentKind::Syn,
        (true, true) => SegmentKind::SynAck,
        (false, _) => SegmentKind::Other,
    }
}
