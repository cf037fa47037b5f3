//! Segments, which the network carries between two endpoints.

use crate::seq::SeqNr;
use std::fmt;
use std::ops::BitOr;

/// An IPv4 header without options, in bytes (RFC 791 section 3.1).
const IPV4_HEADER: u32 = 20;
/// A TCP header without options, in bytes (RFC 9293 section 3.1).
const TCP_HEADER: u32 = 20;

/// Length of the timestamps option in a segment, padded to a multiple of 4 bytes (RFC 7323 section 3.2 and appendix A).
pub(crate) const TIMESTAMPS_PADDED: u16 = 12;

/// Control bits, and the options present.
///
/// The low 8 bits are the flags byte of the TCP header. The bits above name the options present, of those that
/// [`Segment`] has fields for, and hold the ECN field of the IP header.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push: this segment ends the data that the application has written so far.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);
    /// The timestamps option is present (RFC 7323): [`Segment::ts_val`], [`Segment::ts_ecr`].
    pub const HAS_TIMESTAMPS: Self = Self(0x100);
    /// The maximum segment size option is present (RFC 9293 section 3.7.1): [`Segment::mss`].
    pub const HAS_MSS: Self = Self(0x200);
    /// The window scale option is present (RFC 7323): [`Segment::window_scale`].
    pub const HAS_WINDOW_SCALE: Self = Self(0x400);
    /// The SACK-permitted option is present (RFC 2018 section 2).
    pub const HAS_SACK_PERMITTED: Self = Self(0x800);
    /// The packet is ECN-capable: the IP header says ECT(0) (RFC 3168 section 5), unless [`Flags::CE`] is set too.
    pub const ECT: Self = Self(0x1000);
    /// The network has marked the packet: the IP header says CE.
    pub const CE: Self = Self(0x2000);

    const NAMES: [(Self, &'static str); 13] = [
        (Self::SYN, "SYN"),
        (Self::FIN, "FIN"),
        (Self::RST, "RST"),
        (Self::PSH, "PSH"),
        (Self::ACK, "ACK"),
        (Self::ECE, "ECE"),
        (Self::CWR, "CWR"),
        (Self::HAS_TIMESTAMPS, "timestamps"),
        (Self::HAS_MSS, "mss"),
        (Self::HAS_WINDOW_SCALE, "window scale"),
        (Self::HAS_SACK_PERMITTED, "SACK permitted"),
        (Self::ECT, "ECT"),
        (Self::CE, "CE"),
    ];

    /// All bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The flags byte of the TCP header.
    #[must_use]
    pub const fn header_byte(self) -> u8 {
        let [_, low] = self.0.to_be_bytes();
        low
    }

    /// True if every flag of `flags` is set.
    #[inline]
    #[must_use]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// True if at least one flag of `flags` is set.
    #[inline]
    #[must_use]
    pub const fn intersects(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    /// These flags without those of `flags`.
    #[inline]
    #[must_use]
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }

    /// These flags and those of `flags`.
    #[inline]
    #[must_use]
    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = f.debug_set();
        for (flag, name) in Self::NAMES {
            if self.contains(flag) {
                set.entry(&format_args!("{name}"));
            }
        }
        set.finish()
    }
}

/// The most SACK blocks in a segment, next to timestamps (RFC 2018 section 3).
pub const MOST_SACK_BLOCKS: usize = 3;

/// A block of a selective acknowledgement (RFC 2018 section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// The first sequence number of the block.
    pub left: SeqNr,
    /// The sequence number after its last byte.
    pub right: SeqNr,
}

/// A segment: the header's fields and the length of the data. The data has no content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte (of the SYN, if that is set).
    pub seq: SeqNr,
    /// The next sequence number expected, if [`Flags::ACK`] is set.
    pub ack: SeqNr,
    /// The sender's timestamp clock in its own ticks, if [`Flags::HAS_TIMESTAMPS`] is set.
    pub ts_val: u32,
    /// The timestamp echoed, if [`Flags::HAS_TIMESTAMPS`] and [`Flags::ACK`] are set.
    pub ts_ecr: u32,
    /// The window field as on the wire: in units of 2^scale bytes, in bytes if [`Flags::SYN`] is set.
    pub window: u16,
    /// Data in bytes.
    pub len: u16,
    /// Largest segment the sender can receive in bytes, if [`Flags::HAS_MSS`] is set.
    pub mss: u16,
    /// Control bits and options present.
    pub flags: Flags,
    /// The shift that the sender of this SYN applies to its windows, if [`Flags::HAS_WINDOW_SCALE`] is set.
    pub window_scale: u8,
    /// The number of SACK blocks.
    pub sack_count: u8,
    /// Hops left, from the IP header (RFC 791 section 3.1). A network with changing routes sets it and counts it
    /// down. In other networks it is 0 and unused.
    pub ttl: u16,
    /// The blocks; those beyond `sack_count` are unused.
    pub sack: [SackBlock; MOST_SACK_BLOCKS],
}

impl Segment {
    /// IPv4 header, TCP header and options padded to 4 bytes, in bytes.
    #[inline]
    #[must_use]
    pub const fn header_len(&self) -> u32 {
        let fixed = IPV4_HEADER + TCP_HEADER;
        // The common cases first: no option, or timestamps only.
        let options = self.flags.bits() & 0xf00;
        // RFC 2018 section 3: 2 + 8 n bytes, after two of padding.
        let sack = if self.sack_count == 0 { 0 } else { 4 + 8 * self.sack_count as u32 };
        if options == 0 {
            return fixed + sack;
        }
        if options == Flags::HAS_TIMESTAMPS.bits() {
            return fixed + TIMESTAMPS_PADDED as u32 + sack;
        }
        let mss: u32 = if self.flags.contains(Flags::HAS_MSS) { 4 } else { 0 };
        let scale = if self.flags.contains(Flags::HAS_WINDOW_SCALE) { 3 } else { 0 };
        let permitted = if self.flags.contains(Flags::HAS_SACK_PERMITTED) { 2 } else { 0 };
        let timestamps = if self.flags.contains(Flags::HAS_TIMESTAMPS) { 10 } else { 0 };
        fixed + (mss + scale + permitted + timestamps).next_multiple_of(4) + sack
    }

    /// The SACK blocks.
    #[inline]
    #[must_use]
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_count).min(MOST_SACK_BLOCKS)]
    }

    /// The IPv4 packet in bytes: headers and data.
    #[inline]
    #[must_use]
    pub const fn wire_len(&self) -> u32 {
        self.header_len() + self.len as u32
    }

    /// SEG.LEN of RFC 9293 section 3.3.1: the data, plus one each for SYN and FIN.
    #[inline]
    #[must_use]
    pub const fn sequence_len(&self) -> u32 {
        let controls = (self.flags.bits() & (Flags::SYN.bits() | Flags::FIN.bits())).count_ones();
        self.len as u32 + controls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_grow_with_their_options() {
        // 20 + 20; timestamps 10 -> 12; MSS 4 + scale 3 = 7 -> 8; all three 17 -> 20.
        let len = |flags: Flags| Segment { flags, ..Segment::default() }.header_len();
        assert_eq!(len(Flags::ACK), 40);
        assert_eq!(len(Flags::ACK | Flags::HAS_TIMESTAMPS), 52);
        assert_eq!(len(Flags::SYN | Flags::HAS_MSS), 44);
        assert_eq!(len(Flags::SYN | Flags::HAS_MSS | Flags::HAS_WINDOW_SCALE), 48);
        assert_eq!(len(Flags::SYN | Flags::HAS_MSS | Flags::HAS_WINDOW_SCALE | Flags::HAS_TIMESTAMPS), 60);
        assert_eq!(Segment { len: 1460, flags: Flags::ACK, ..Segment::default() }.wire_len(), 1500);
    }

    #[test]
    fn syn_and_fin_take_a_sequence_number_each() {
        let segment = Segment { len: 10, flags: Flags::SYN | Flags::FIN | Flags::ACK, ..Segment::default() };
        assert_eq!(segment.sequence_len(), 12);
    }

    #[test]
    fn a_segment_is_small() {
        assert!(size_of::<Segment>() <= 52);
    }

    #[test]
    fn flags_print_their_names() {
        assert_eq!(format!("{:?}", Flags::SYN | Flags::ACK | Flags::HAS_MSS), "{SYN, ACK, mss}");
        assert_eq!((Flags::SYN | Flags::ACK | Flags::HAS_MSS).header_byte(), 0x12);
    }
}
