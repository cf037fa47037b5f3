//! Sequence numbers of segments.

use crate::number::modulo_u32;
use std::fmt;

/// A sequence number: 32 bits that wrap.
///
/// RFC 9293 section 3.4: all arithmetic on sequence numbers is modulo 2^32, and so is comparison. A number comes
/// before another if fewer than 2^31 steps forward reach it. That order is not transitive, so there is no `Ord`.
/// Numbers compared must lie within 2^31 of each other, which windows of at most 2^30 bytes ensure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNr(u32);

impl SeqNr {
    /// The sequence number with these bits.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        Self(bits)
    }

    /// The number's bits.
    #[must_use]
    pub const fn as_u32(self) -> u32 {
        self.0
    }

    /// The number after `steps` more (modulo 2^32).
    #[inline]
    #[must_use]
    pub const fn advanced_by(self, steps: u64) -> Self {
        Self(self.0.wrapping_add(modulo_u32(steps)))
    }

    /// Steps from `earlier` to this number; negative if this number is the earlier.
    #[inline]
    #[must_use]
    pub const fn distance_from(self, earlier: Self) -> i32 {
        self.0.wrapping_sub(earlier.0).cast_signed()
    }

    /// True if this number comes before `other`.
    #[inline]
    #[must_use]
    pub const fn is_before(self, other: Self) -> bool {
        self.distance_from(other) < 0
    }

    /// True if this number is `other` or comes before it.
    #[inline]
    #[must_use]
    pub const fn is_at_or_before(self, other: Self) -> bool {
        self.distance_from(other) <= 0
    }
}

impl fmt::Display for SeqNr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_modulo_two_to_the_32() {
        // 2^32 - 1 comes just before 0, and 0 comes 11 steps before 11 - 2^32 + 2^32.
        let (last, first) = (SeqNr::new(u32::MAX), SeqNr::new(0));
        assert!(last.is_before(first) && !first.is_before(last));
        assert!(first.is_at_or_before(first) && !first.is_before(first));
        assert_eq!(first.distance_from(last), 1);
        assert_eq!(last.advanced_by(12), SeqNr::new(11));
        assert_eq!(SeqNr::new(11).distance_from(last), 12);
        assert_eq!(last.distance_from(SeqNr::new(11)), -12);
    }

    #[test]
    fn advancing_by_more_than_a_wrap_keeps_the_low_bits() {
        assert_eq!(SeqNr::new(5).advanced_by((7 << 32) + 3), SeqNr::new(8));
    }
}
