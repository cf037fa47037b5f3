//! The receiving half: arrived data, the window, and the times of acknowledgements.

use crate::config::{ApplicationRead, Config, DelayedAck, SackCompression};
use crate::number::{field_u16, length_u32};
use crate::segment::{MOST_SACK_BLOCKS, SackBlock, Segment};
use crate::seq::SeqNr;
use netlull_units::{Duration, Instant};

/// A window field in a SYN is never scaled (RFC 7323 section 2.2).
const LARGEST_UNSCALED: u64 = 65_535;
/// RFC 7323 section 2.3: a shift is at most 14.
const LARGEST_SHIFT: u8 = 14;
/// `TCP_FASTRETRANS_THRESH`: this number of acknowledgements ahead of one gap are not compressed.
const UNCOMPRESSED: u8 = 3;
/// `tcp_comp_sack_nr`: the most compressed acknowledgements.
const MOST_COMPRESSED: u8 = 44;
/// `tcp_comp_sack_delay_ns`, and the share of a round trip that bounds it.
const LONGEST_COMPRESSION: Duration = Duration::from_millis(1);
const COMPRESSED_PART: u64 = 20;
/// "No FIN yet": beyond every stream offset.
const NO_FIN: u64 = u64::MAX;

/// The time of the next acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckDue {
    /// No acknowledgement is due.
    No,
    /// At the end of the delay ([`Receiver::ack_deadline`]).
    Delayed,
    /// Now.
    Now,
}

/// The fate of a segment by its sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// In the window.
    Acceptable,
    /// The window is closed, but the segment is the next one: its acknowledgement counts, its data does not.
    OnlyControl,
    /// All of it was received before.
    Old,
    /// Beyond the window.
    Outside,
}

/// The result of a segment's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Next in order.
    InOrder,
    /// Ahead of a gap.
    OutOfOrder,
    /// Nothing new, or nothing that fits.
    NothingNew,
}

/// Data held ahead of a gap: stream offsets from `start` to `end`, excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub start: u64,
    pub end: u64,
}

/// The receiving half of an endpoint. Offsets count the peer's stream from its first byte; its FIN is one more.
///
/// The first cache line is for the receiver of data; the fields after it also go into the header of every segment
/// sent.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Receiver {
    /// The right edge of the window as advertised; never taken back.
    pub edge: u64,
    /// The offset up to which the application has read.
    pub read: u64,
    pub buffer: u64,
    /// Offset of the peer's FIN, if known.
    fin: u64,
    ack_delay: Duration,
    gaps: Box<Gaps>,
    /// Data received in order since the last acknowledgement, bytes.
    unacked: u32,
    /// The largest segment so far, which counts as full-sized.
    largest: u32,
    delays: bool,
    /// True if SACK blocks report gaps (RFC 2018).
    pub sacks: bool,
    application_read: ApplicationRead,
    /// Our window scale shift.
    pub shift: u8,
    /// RCV.NXT as a stream offset.
    pub nxt: u64,
    pub ack_deadline: Instant,
    /// Sequence number of stream offset 0.
    pub origin: SeqNr,
    /// Last.ACK.sent of RFC 7323 section 4.3.
    pub last_ack_sent: SeqNr,
    /// The window field of the last acknowledgement, and whether it is still valid: nothing has arrived or been read
    /// since.
    field: u16,
    field_holds: bool,
    pub ack_due: AckDue,
    /// Silly-window avoidance: the smallest move of the window's edge (RFC 9293 section 3.8.6.2.2), bytes.
    silly: u16,
    /// Number of acknowledgements still to send without delay.
    quick: u16,
}

/// State for gaps only.
#[derive(Clone, Debug)]
struct Gaps {
    /// Sorted, disjoint, not adjacent.
    held: Vec<Range>,
    /// The last arrivals ahead of a gap, the latest first: one offset in each of their ranges.
    latest: [u64; MOST_SACK_BLOCKS],
    /// Data that has arrived again, for the next acknowledgement (RFC 2883).
    repeated: Option<Range>,
    /// True if data that arrives again is reported.
    reports_repeats: bool,
    compression: Compression,
}

/// Delayed acknowledgements of segments ahead of a gap ([`SackCompression`]).
#[derive(Clone, Copy, Debug)]
struct Compression {
    /// The longest delay; zero for none.
    delay: Duration,
    rule: SackCompression,
    /// RCV.NXT at the start of the counts.
    begun_at: u64,
    /// Acknowledgements sent at once since then.
    sent: u8,
    /// Segments that the next acknowledgement waits for, or has waited for.
    waiting: u8,
}

impl Compression {
    fn new(rule: SackCompression) -> Self {
        Self { delay: Duration::ZERO, rule, begun_at: NO_FIN, sent: 0, waiting: 0 }
    }

    /// Handles a segment ahead of a gap, with `nxt` expected: true if its acknowledgement waits.
    fn holds_back(&mut self, nxt: u64) -> bool {
        if self.delay.is_zero() || self.waiting >= MOST_COMPRESSED {
            return false;
        }
        if self.begun_at != nxt {
            (self.begun_at, self.sent) = (nxt, 0);
        }
        if self.sent < UNCOMPRESSED {
            self.sent += 1;
            return false;
        }
        self.waiting += 1;
        true
    }
}

/// "No range": before every offset held.
const NOWHERE: u64 = u64::MAX;

impl Receiver {
    pub fn new(config: &Config) -> Self {
        let buffer = config.flow_control.receive_buffer.as_u64();
        let (delays, ack_delay) = match config.acks.delayed_ack {
            DelayedAck::Off => (false, Duration::ZERO),
            DelayedAck::EverySecond { timeout } => (true, timeout),
        };
        let gaps = Gaps {
            held: Vec::new(),
            latest: [NOWHERE; MOST_SACK_BLOCKS],
            repeated: None,
            reports_repeats: config.acks.duplicate_sack,
            compression: Compression::new(config.acks.sack_compression),
        };
        let mut new = Self {
            edge: buffer.min(LARGEST_UNSCALED),
            read: 0,
            buffer,
            fin: NO_FIN,
            ack_delay,
            gaps: Box::new(gaps),
            unacked: 0,
            largest: 0,
            delays,
            sacks: false,
            application_read: config.flow_control.application_read,
            shift: 0,
            nxt: 0,
            ack_deadline: Instant::NEVER,
            origin: SeqNr::default(),
            last_ack_sent: SeqNr::default(),
            field: 0,
            field_holds: false,
            ack_due: AckDue::No,
            silly: 0,
            quick: if delays { config.acks.quick_acks } else { 0 },
        };
        new.set_segment_size(config.mss);
        new
    }

    /// RFC 7323 section 2.3: the smallest shift that lets 16 bits express the buffer.
    pub fn wanted_shift(&self) -> u8 {
        (0..LARGEST_SHIFT).find(|shift| LARGEST_UNSCALED << shift >= self.buffer).unwrap_or(LARGEST_SHIFT)
    }

    /// Handles the peer's SYN: its sequence numbers start at `origin`.
    pub fn begin(&mut self, origin: SeqNr) {
        self.origin = origin;
        self.field_holds = false;
    }

    /// Sets the size of segments, Eff.snd.MSS.
    pub fn set_segment_size(&mut self, smss: u16) {
        self.silly = field_u16((self.buffer / 2).min(u64::from(smss)));
        self.field_holds = false;
    }

    /// Sets the handshake's round trip.
    pub fn set_round_trip(&mut self, rtt: Duration) {
        if self.gaps.compression.rule == SackCompression::Linux6 {
            self.gaps.compression.delay =
                Duration::from_nanos(rtt.as_nanos() / COMPRESSED_PART).min(LONGEST_COMPRESSION);
        }
    }

    /// The next sequence number expected.
    #[inline]
    pub fn next_seq(&self) -> SeqNr {
        self.origin.advanced_by(self.nxt)
    }

    /// RCV.WND.
    #[inline]
    pub fn window(&self) -> u64 {
        self.edge.saturating_sub(self.nxt)
    }

    /// True once the peer's FIN has arrived in order.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.nxt > self.fin
    }

    /// Bytes of data that arrived in order and are unread by the application.
    pub fn unread(&self) -> u64 {
        self.nxt.min(self.fin) - self.read
    }

    /// Bytes of data that have arrived, in order or ahead of a gap.
    pub fn received(&self) -> u64 {
        let held: u64 = self.gaps.held.iter().map(|range| range.end - range.start).sum();
        self.nxt.min(self.fin) + held
    }

    /// The acceptability test of RFC 9293 section 3.10.7.4, for a segment `ahead` of RCV.NXT (negative: behind).
    #[inline]
    pub fn place(&self, ahead: i64, segment: &Segment) -> Placement {
        let len = i64::from(segment.sequence_len());
        let window = self.window().cast_signed();
        // In order, the most common case: data that fits, or none.
        if ahead == 0 && len <= window {
            return Placement::Acceptable;
        }
        if ahead == 0 && window == 0 {
            return Placement::OnlyControl;
        }
        if len == 0 {
            // An acknowledgement may start just after a full window: all of that may be in transit (BSD, Linux).
            return match ahead {
                ..0 => Placement::Old,
                _ if ahead <= window => Placement::Acceptable,
                _ => Placement::Outside,
            };
        }
        match ahead {
            _ if ahead + len <= 0 => Placement::Old,
            _ if ahead < window => Placement::Acceptable,
            _ => Placement::Outside,
        }
    }

    /// Receives the data of an acceptable segment, `ahead` of RCV.NXT.
    #[inline]
    pub fn receive(&mut self, now: Instant, ahead: i64, len: u16) -> Arrival {
        let len = u64::from(len);
        if ahead == 0 && self.gaps.held.is_empty() && len <= self.window() {
            self.receive_in_order(now, len);
            return Arrival::InOrder;
        }
        let pending = self.ack_due;
        let arrival = self.receive_around_gaps(ahead, len);
        if arrival == Arrival::OutOfOrder && self.sacks {
            self.compress(now, pending);
        }
        arrival
    }

    /// Receives the next data, which fits, without a gap before or after it.
    #[inline]
    pub fn receive_in_order(&mut self, now: Instant, len: u64) {
        self.nxt += len;
        self.field_holds = false;
        self.consume();
        self.schedule_ack(now, len);
    }

    /// Does the work of [`Self::receive_in_order`] while [`Self::reads_at_once`], without gaps.
    #[inline]
    pub fn receive_plain(&mut self, now: Instant, len: u64) {
        self.nxt += len;
        self.field_holds = false;
        self.read = self.nxt;
        self.schedule_ack(now, len);
    }

    /// True if all data that arrives in order is read, and no FIN has arrived.
    pub fn reads_at_once(&self) -> bool {
        self.application_read == ApplicationRead::Immediate && self.fin == NO_FIN
    }

    /// True if data is held ahead of a gap, or if repeated data is to be reported.
    #[inline]
    pub fn has_gaps(&self) -> bool {
        !self.gaps.held.is_empty() || self.gaps.repeated.is_some()
    }

    #[cold]
    fn receive_around_gaps(&mut self, ahead: i64, len: u64) -> Arrival {
        // RFC 5681 section 4.2: out of order, or filling a gap: acknowledge immediately.
        self.ack_due = AckDue::Now;
        self.field_holds = false;
        let start = self.nxt.saturating_add_signed(ahead);
        let end = (self.nxt.saturating_add_signed(ahead + len.cast_signed())).min(self.edge);
        if self.sacks {
            self.note_repeated_part(Range { start, end });
        }
        let start = start.max(self.nxt);
        if end <= start {
            return Arrival::NothingNew;
        }
        if start > self.nxt {
            let new = Range { start, end };
            let arrival = self.hold(new);
            if self.sacks {
                self.note_latest(new);
            }
            return arrival;
        }
        self.nxt = end;
        let reached = self.gaps.held.iter().take_while(|range| range.start <= self.nxt).count();
        if let Some(last) = reached.checked_sub(1) {
            self.nxt = self.nxt.max(self.gaps.held[last].end);
            self.gaps.held.drain(..reached);
        }
        self.consume();
        Arrival::InOrder
    }

    /// Handles a segment ahead of a gap; `pending` was due before.
    #[cold]
    fn compress(&mut self, now: Instant, pending: AckDue) {
        if pending != AckDue::Now && self.quick == 0 && self.gaps.compression.holds_back(self.nxt) {
            self.ack_due = AckDue::Delayed;
            self.ack_deadline = self.ack_deadline.min(now + self.gaps.compression.delay);
        }
    }

    /// Stores data ahead of a gap; ranges that touch become one.
    fn hold(&mut self, new: Range) -> Arrival {
        let first = self.gaps.held.partition_point(|range| range.end < new.start);
        let behind = self.gaps.held.partition_point(|range| range.start <= new.end);
        if first == behind {
            self.gaps.held.insert(first, new);
            return Arrival::OutOfOrder;
        }
        let merged = Range {
            start: new.start.min(self.gaps.held[first].start),
            end: new.end.max(self.gaps.held[behind - 1].end),
        };
        if merged == self.gaps.held[first] {
            return Arrival::NothingNew;
        }
        self.gaps.held[first] = merged;
        self.gaps.held.drain(first + 1..behind);
        Arrival::OutOfOrder
    }

    fn note_latest(&mut self, new: Range) {
        // Offsets in the range that the new one has joined would name it twice.
        let Some(range) = self.range_around(new.start) else { return };
        let mut kept = [NOWHERE; MOST_SACK_BLOCKS];
        kept[0] = new.start;
        let others = self.gaps.latest.iter().filter(|&&offset| !(range.start..range.end).contains(&offset));
        for (place, &offset) in kept[1..].iter_mut().zip(others) {
            *place = offset;
        }
        self.gaps.latest = kept;
    }

    fn range_around(&self, offset: u64) -> Option<Range> {
        let index = self.gaps.held.partition_point(|range| range.end <= offset);
        self.gaps.held.get(index).copied().filter(|range| range.start <= offset)
    }

    /// Takes the state of `fresh`, which holds nothing, in the same memory.
    pub fn renew(&mut self, fresh: &Self) {
        let Self {
            edge, read, buffer, fin, ack_delay, gaps, unacked, largest, delays, sacks, application_read, ..
        } = fresh;
        (self.edge, self.read, self.buffer, self.fin, self.ack_delay) = (*edge, *read, *buffer, *fin, *ack_delay);
        (self.unacked, self.largest, self.delays, self.sacks) = (*unacked, *largest, *delays, *sacks);
        let Self { shift, nxt, ack_deadline, origin, last_ack_sent, field, field_holds, ack_due, silly, quick, .. } =
            fresh;
        (self.application_read, self.shift, self.nxt, self.ack_deadline) =
            (*application_read, *shift, *nxt, *ack_deadline);
        (self.origin, self.last_ack_sent, self.field) = (*origin, *last_ack_sent, *field);
        (self.field_holds, self.ack_due, self.silly, self.quick) = (*field_holds, *ack_due, *silly, *quick);
        self.gaps.held.clear();
        let Gaps { held: _, latest, repeated, reports_repeats, compression } = **gaps;
        self.gaps.compression = compression;
        (self.gaps.latest, self.gaps.repeated, self.gaps.reports_repeats) = (latest, repeated, reports_repeats);
    }

    /// Handles a segment before RCV.NXT: `ahead` is negative.
    pub fn note_repeated(&mut self, ahead: i64, len: u16) {
        if self.sacks && self.gaps.reports_repeats && len > 0 {
            let start = self.nxt.saturating_add_signed(ahead);
            self.gaps.repeated = Some(Range { start, end: (start + u64::from(len)).min(self.nxt) });
        }
    }

    /// Reports the first part of the segment that has arrived before (RFC 2883 section 4.2).
    fn note_repeated_part(&mut self, new: Range) {
        if !self.gaps.reports_repeats {
            return;
        }
        if new.start < self.nxt {
            self.gaps.repeated = Some(Range { start: new.start, end: new.end.min(self.nxt) });
            return;
        }
        let first = self.gaps.held.partition_point(|range| range.end <= new.start);
        let overlap = self.gaps.held.get(first).filter(|range| range.start < new.end);
        self.gaps.repeated =
            overlap.map(|range| Range { start: range.start.max(new.start), end: range.end.min(new.end) });
    }

    /// True if a pending acknowledgement has SACK blocks.
    #[inline]
    pub fn reports_gaps(&self) -> bool {
        self.sacks && self.ack_due == AckDue::Now && self.has_gaps()
    }

    /// Adds SACK blocks: repeated data (RFC 2883 section 4), then the range that grew last, then the others in the
    /// order of their growth (RFC 2018 section 4).
    #[inline]
    pub fn with_sack_blocks(&mut self, segment: Segment) -> Segment {
        if self.sacks && self.has_gaps() { self.add_blocks(segment) } else { segment }
    }

    #[cold]
    fn add_blocks(&mut self, mut segment: Segment) -> Segment {
        let repeated = self.gaps.repeated.take();
        self.gaps.compression.waiting = 0;
        self.quick = self.quick.saturating_sub(1);
        let latest = self.gaps.latest.iter().filter_map(|&offset| self.range_around(offset));
        for (place, range) in segment.sack.iter_mut().zip(repeated.into_iter().chain(latest)) {
            let seq = |offset: u64| self.origin.advanced_by(offset);
            // A FIN that arrived with the end of the range also has a sequence number: without it, the sender would
            // take the last segment as lost.
            let end = range.end + u64::from(range.end == self.fin);
            *place = SackBlock { left: seq(range.start), right: seq(end) };
            segment.sack_count += 1;
        }
        segment
    }

    /// Records the peer's FIN, at `ahead` of RCV.NXT before the segment's data.
    pub fn note_fin(&mut self, offset: u64) {
        self.fin = offset;
        self.field_holds = false;
    }

    /// Takes the FIN if everything before it has arrived.
    pub fn take_fin(&mut self) -> bool {
        let arrived = self.nxt == self.fin;
        if arrived {
            self.field_holds = false;
            self.nxt += 1;
            self.edge = self.edge.max(self.nxt);
            self.ack_due = AckDue::Now;
        }
        arrived
    }

    #[inline]
    fn consume(&mut self) {
        if self.application_read == ApplicationRead::Immediate {
            self.read = self.nxt.min(self.fin);
        }
    }

    /// RFC 5681 section 4.2: at least every second full-sized segment, and within the delay.
    #[inline]
    fn schedule_ack(&mut self, now: Instant, len: u64) {
        let len = length_u32(len);
        self.unacked = self.unacked.saturating_add(len);
        self.largest = self.largest.max(len);
        if !self.delays || self.quick > 0 || self.unacked >= 2 * self.largest {
            self.ack_due = AckDue::Now;
        } else if self.ack_due == AckDue::No {
            self.ack_due = AckDue::Delayed;
            self.ack_deadline = now + self.ack_delay;
        }
    }

    /// Handles a transmission of an acknowledgement: returns its window field (RFC 9293 section 3.8.6.2.2, RFC 7323
    /// section 2.3).
    #[inline]
    pub fn acknowledge(&mut self) -> u16 {
        self.ack_due = AckDue::No;
        self.ack_deadline = Instant::NEVER;
        if !self.field_holds {
            self.advertise();
        }
        self.field
    }

    /// Does the work of [`Self::acknowledge`] while [`Self::reads_at_once`], without gaps: the edge is the
    /// buffer's size ahead.
    #[inline]
    pub fn acknowledge_plain(&mut self) -> u16 {
        let field = (self.buffer >> self.shift).min(LARGEST_UNSCALED);
        let advertised = self.nxt + (field << self.shift);
        if self.nxt + self.buffer < self.edge + u64::from(self.silly) || advertised < self.edge {
            return self.acknowledge();
        }
        self.ack_due = AckDue::No;
        self.ack_deadline = Instant::NEVER;
        self.quick = self.quick.saturating_sub(u16::from(self.unacked > 0));
        self.unacked = 0;
        self.last_ack_sent = self.next_seq();
        self.edge = advertised;
        let field = field_u16(field);
        self.field = field;
        self.field_holds = true;
        field
    }

    /// Computes the window field.
    fn advertise(&mut self) {
        let silly = u64::from(self.silly);
        self.quick = self.quick.saturating_sub(u16::from(self.unacked > 0));
        self.unacked = 0;
        self.last_ack_sent = self.next_seq();
        // The FIN takes a sequence number, but no room.
        let room = self.read + self.buffer + u64::from(self.is_finished());
        // Silly-window avoidance: the edge moves only by min(half the buffer, Eff.snd.MSS) or more.
        let edge = if room >= self.edge + silly { room } else { self.edge };
        let window = edge.saturating_sub(self.nxt);
        let mut field = (window >> self.shift).min(LARGEST_UNSCALED);
        // Rounding down would move the edge back by less than a unit: it rounds up if there is room. If there is
        // none, the advertised window still holds (RFC 7323 section 2.4).
        let mut advertised = self.nxt + (field << self.shift);
        if advertised < self.edge {
            let unit = 1 << self.shift;
            if advertised + unit <= room && field < LARGEST_UNSCALED {
                field += 1;
                advertised += unit;
            }
            advertised = advertised.max(self.edge);
        }
        self.edge = advertised;
        let field = field_u16(field);
        self.field = field;
        self.field_holds = true;
    }

    /// Reads up to `max` bytes. The second value is true if the larger window deserves its own acknowledgement: from
    /// nothing or little by a segment, else by two (as BSD), or by half the buffer.
    pub fn read(&mut self, max: u64, mss: u64) -> (u64, bool) {
        let taken = self.unread().min(max);
        self.read += taken;
        self.field_holds = false;
        let opens = (self.read + self.buffer).saturating_sub(self.edge);
        let worthwhile = if self.window() < mss { mss } else { 2 * mss };
        (taken, taken > 0 && !self.is_finished() && opens >= worthwhile.min(self.buffer / 2))
    }

    #[cfg(test)]
    pub fn held(&self) -> &[Range] {
        &self.gaps.held
    }
}
