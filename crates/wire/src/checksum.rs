//! The Internet checksum (RFC 1071) and its incremental update (RFC 1624).

use std::net::IpAddr;

/// A sum of 16-bit words before folding; it has room for 2^32 words of any value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum(u64);

impl Sum {
    /// Adds bytes as big-endian words. An odd last byte is the high byte of its word (RFC 1071, section 1). The bytes
    /// added before must be a whole number of words.
    pub(crate) fn add(self, bytes: &[u8]) -> Self {
        // The sum of pairs of words is congruent modulo 2^16 - 1, because 2^16 is congruent to 1 (RFC 1071, section 2
        // (C)).
        let mut sum = self.0;
        let (quads, rest) = bytes.as_chunks::<4>();
        for quad in quads {
            sum += u64::from(u32::from_be_bytes(*quad));
        }
        let mut last = [0; 4];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        Self(sum + u64::from(u32::from_be_bytes(last)))
    }

    /// Adds one word.
    pub(crate) const fn add_word(self, word: u16) -> Self {
        Self(self.0 + word as u64)
    }

    /// The pseudo-header of RFC 9293, section 3.1 and RFC 8200, section 8.1. The two layouts differ only in words that
    /// are zero.
    pub(crate) fn pseudo_header(source: IpAddr, destination: IpAddr, protocol: u8, length: usize) -> Self {
        let of = |sum: Self, address| match address {
            IpAddr::V4(address) => sum.add(&address.octets()),
            IpAddr::V6(address) => sum.add(&address.octets()),
        };
        let Self(sum) = of(of(Self::default(), source), destination);
        // A slice has at most 2^63 B, a packet at most 2^17 B.
        Self(sum + u64::from(protocol) + (length as u64 & 0xffff_ffff))
    }

    /// The ones' complement sum in 16 bits; zero only if all words are zero.
    pub(crate) const fn folded(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }
}

/// The ones' complement sum of the bytes as 16-bit words (RFC 1071, section 1). A zero follows an odd last byte. The
/// sum over bytes that contain their own correct checksum is 0xffff.
#[must_use]
pub fn ones_complement_sum(bytes: &[u8]) -> u16 {
    Sum::default().add(bytes).folded()
}

/// The checksum of bytes whose checksum field is zero (RFC 1071, section 1).
#[must_use]
pub fn internet_checksum(bytes: &[u8]) -> u16 {
    !ones_complement_sum(bytes)
}

/// The TCP checksum of a segment whose checksum field is zero. It includes the pseudo-header of RFC 9293, section 3.1
/// (IPv4) or RFC 8200, section 8.1 (IPv6). UDP sends a result of zero as 0xffff; that is left to the caller.
#[must_use]
pub fn transport_checksum(source: IpAddr, destination: IpAddr, protocol: u8, segment: &[u8]) -> u16 {
    !Sum::pseudo_header(source, destination, protocol, segment.len()).add(segment).folded()
}

/// The checksum after a change of one covered word: HC' = ~(~HC + ~m + m') (RFC 1624, equation 3). A wrong checksum
/// stays wrong by the same amount.
#[must_use]
pub const fn updated_checksum(checksum: u16, old: u16, new: u16) -> u16 {
    if old == new {
        // Equation 3 would change 0xffff into 0x0000, which means the same.
        return checksum;
    }
    !Sum(0).add_word(!checksum).add_word(!old).add_word(new).folded()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_rfc_1071() {
        // Section 3: 0001 + f203 + f4f5 + f6f7 = 2ddf0, folded ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(ones_complement_sum(&bytes), 0xddf2);
        assert_eq!(internet_checksum(&bytes), !0xddf2);
    }

    #[test]
    fn the_example_of_rfc_1624() {
        // Section 4: HC = dd2f, m = 5555, m' = 3285: 22d0 + aaaa + 3285 = ffff, so HC' = 0000 and not ffff.
        assert_eq!(updated_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
        // Back again: ffff + cd7a + 5555 = 222ce, folded 22d0 (22ce + 2), so HC' = dd2f.
        assert_eq!(updated_checksum(0x0000, 0x3285, 0x5555), 0xdd2f);
    }

    #[test]
    fn an_odd_byte_is_the_high_one() {
        assert_eq!(ones_complement_sum(&[0x12]), 0x1200);
        assert_eq!(ones_complement_sum(&[0x12, 0x34, 0x56]), 0x6834);
        assert_eq!(ones_complement_sum(&[]), 0);
    }

    #[test]
    fn an_unchanged_word_leaves_the_checksum_alone() {
        for checksum in 0..=u16::MAX {
            assert_eq!(updated_checksum(checksum, 0x1234, 0x1234), checksum);
        }
    }

    #[test]
    fn every_window_gives_what_the_whole_sum_gives() {
        // The sum takes every value, including 0x0000 and 0xffff, while the window takes all of its values.
        for rest in [0x0001u16, 0x8000, 0xfffe, 0xffff] {
            let full = |window: u16| !Sum(0).add_word(rest).add_word(window).folded();
            for window in 0..=u16::MAX {
                for old in [0x0000, 0x0001, 0x7fff, 0xfffe, 0xffff] {
                    assert_eq!(
                        updated_checksum(full(old), old, window),
                        full(window),
                        "{rest:#x} {old:#x} {window:#x}"
                    );
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_sum_is_that_of_words_one_by_one(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut sum = 0u32;
            for pair in bytes.chunks(2) {
                sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
                if sum > 0xffff {
                    sum = (sum & 0xffff) + 1;
                }
            }
            prop_assert_eq!(u32::from(ones_complement_sum(&bytes)), sum);
        }

        #[test]
        fn what_holds_its_checksum_sums_to_all_ones(mut bytes in proptest::collection::vec(any::<u8>(), 2..200)) {
            bytes[0] = 0;
            bytes[1] = 0;
            let checksum = internet_checksum(&bytes);
            bytes[..2].copy_from_slice(&checksum.to_be_bytes());
            prop_assert_eq!(ones_complement_sum(&bytes), 0xffff);
        }
    }
}
