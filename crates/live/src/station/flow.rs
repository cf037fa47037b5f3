//! The state of a connection, learnt from its packets, and acknowledgements on behalf of the host.

use super::reassembly::Received;
use netlull_mechanism::gateway::{SegmentKind, Timestamps};
use netlull_mechanism::station::{PacketView, TcpView};
use netlull_units::{Bytes, Duration, Instant};
use netlull_wire::{AckTemplate, Connection, Flags, TcpPacket, seq_le, seq_lt};

/// The window shifts (RFC 7323 section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scales {
    /// The offer in the first side's SYN.
    Offered { by: Side, shift: Option<u8> },
    /// The shifts after both SYNs.
    Agreed { host: u8, peer: u8 },
}

/// The sender of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Host,
    Peer,
}

/// The effect of a segment from the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brings {
    /// Data that the host will accept, or has already.
    Segment,
    /// The end of the peer's data, with all data before it.
    End,
    /// The end of the connection.
    Reset,
    /// None: the segment is older than received ones (PAWS, RFC 7323 section 5), or a reset out of sequence.
    Nothing,
}

/// An acknowledgement by the host, or on its behalf.
#[derive(Clone, Copy, Debug)]
struct HostAck {
    number: u32,
    /// The end of the window; the host may have no room for data from there on.
    edge: u32,
}

/// An estimate of the host's timestamp clock between its packets.
#[derive(Clone, Copy, Debug)]
struct StampClock {
    first: (u32, Instant),
    last: (u32, Instant),
    rate: StampRate,
    /// The latest value in an acknowledgement on the host's behalf.
    used: u32,
}

/// The rate of the clock: at least a tick per millisecond, as in Linux, or slower. A slow clock must not be overtaken:
/// the peer would drop the host's next segments as older than ours (PAWS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StampRate {
    Unknown,
    Milliseconds,
    Slower,
}

/// The observation time for judging a clock's rate: 2 ticks are allowed for the times of observation.
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

    /// The host's timestamp at an instant, or slightly less; it never decreases.
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

/// The host acknowledges at least every second full-sized segment (RFC 5681 section 4.2). In-order data beyond that was
/// not accepted.
const DELAYED_SEGMENTS: u32 = 2;

/// The time within which the host answers a segment. A later acknowledgement that does not cover the segment shows that
/// the host has not accepted it. (A host with a full buffer drops segments that fit its window.)
const ANSWERS_WITHIN: Duration = Duration::from_millis(2);

/// The divisor of the last window; a smaller increase does not justify a packet of its own.
const LARGER_BY: u32 = 4;

/// The flags of a pure acknowledgement.
const ONLY_ACK: Flags = Flags::from_byte(0x10);

/// A connection with known sequence numbers on both sides, because its SYN was seen.
#[derive(Debug)]
pub(super) struct Flow {
    /// The connection in the direction of the host's packets.
    pub(super) connection: Connection,
    pub(super) number: u32,
    scales: Scales,
    syn: (Side, u32),
    received: Option<Received>,
    /// The sequence number after the peer's FIN.
    end: Option<u32>,
    host_ack: Option<HostAck>,
    /// The last acknowledgement on the host's behalf.
    own_ack: Option<HostAck>,
    /// The highest number acknowledged, by the host or on its behalf.
    acknowledged: Option<u32>,
    sent_until: Option<u32>,
    template: Option<AckTemplate>,
    /// True if its segments are signed or belong to Multipath TCP: nobody can acknowledge on the host's behalf, so no
    /// window may be closed.
    is_inimitable: bool,
    clock: Option<StampClock>,
    /// TS.Recent (RFC 7323 section 4.3).
    recent: Option<u32>,
    /// The largest segment from the peer, in bytes of data.
    largest: u32,
    taken_at: Instant,
    /// The time of its latest packet.
    pub(super) active: Instant,
}

impl Flow {
    /// Creates a connection from its first SYN without ACK; `None` for any other segment.
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

    /// Returns true if a segment repeats the SYN that opened the connection.
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

    /// The shift of the host's windows, after the handshake.
    pub(super) fn host_shift(&self) -> Option<u8> {
        self.shift(Side::Host)
    }

    /// A segment as the machine sees it; without its TCP part while windows are not readable.
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
            // RFC 7323 section 2.2: both sides scale, or neither.
            let (host, peer) = match (shift, tcp.options().window_scale, side) {
                (Some(offered), Some(answered), Side::Peer) => (offered, answered),
                (Some(offered), Some(answered), Side::Host) => (answered, offered),
                _ => (0, 0),
            };
            self.scales = Scales::Agreed { host, peer };
        }
    }

    /// Processes a segment of the host, with its original window.
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

    /// Returns true if a host segment only repeats acknowledgements that were sent on its behalf since its last one.
    /// Reason: a host delays its acknowledgement of a burst's odd last segment (RFC 5681 section 4.2). A duplicate
    /// acknowledgement is excluded, because it reports a missing segment (RFC 5681 section 2), and so is one with
    /// selective blocks.
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
        // An overtaken acknowledgement, or that of a retransmission, contains nothing new.
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

    /// Processes a segment from the peer with a correct checksum, before the host receives it.
    pub(super) fn receives(&mut self, now: Instant, tcp: &TcpPacket<'_>) -> Brings {
        let flags = tcp.flags();
        if flags.rst {
            // RFC 5961 section 3.2; before the end of the handshake, any acknowledgement of the SYN.
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

    /// Records the data that the host accepts: as much as its window has room for.
    fn takes(&mut self, now: Instant, tcp: &TcpPacket<'_>, start: u32) -> Brings {
        let (Some(received), len) = (&mut self.received, tcp.payload_len()) else { return Brings::Segment };
        self.largest = self.largest.max(len);
        let mut end = start.wrapping_add(len);
        if tcp.flags().fin {
            end = end.wrapping_add(1);
            self.end = Some(end);
        }
        // A FIN needs no room. A host may accept a part of a segment that does not fit, or nothing.
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

    /// The number that may be acknowledged on the host's behalf: all in-order data. If that exceeds the amount that a
    /// host leaves unacknowledged, it is the host's own last number.
    fn acknowledgeable(&self) -> Option<u32> {
        let host = self.host_ack?.number;
        let next = self.received.as_ref()?.next();
        let ahead = next.wrapping_sub(host);
        let delayed = self.largest.saturating_mul(DELAYED_SEGMENTS).saturating_add(1);
        Some(if seq_lt(host, next) && ahead <= delayed { next } else { host })
    }

    /// Writes an acknowledgement of all data that the host has received. It offers the host's own window up to its end, at
    /// most `limit`, and not a byte more. `None` before the host's first acknowledgement, or if its segments cannot be imitated.
    pub(super) fn acknowledgement(&mut self, now: Instant, limit: Option<Bytes>) -> Option<(Vec<u8>, PacketView)> {
        let (template, shift, seq) = (self.template?, self.host_shift()?, self.sent_until?);
        let (number, edge) = (self.acknowledgeable()?, self.host_ack?.edge);
        let left = if seq_lt(number, edge) { edge.wrapping_sub(number) } else { 0 };
        let window = limit.and_then(|limit| u32::try_from(limit.as_u64()).ok()).map_or(left, |limit| limit.min(left));
        // Rounded down: never more than the host has offered.
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
