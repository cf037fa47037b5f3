//! Comparison of sequence numbers modulo 2^32 (RFC 9293, section 3.4).

/// Whether `a` precedes `b`. The result is correct while the two are less than 2^31 apart, which windows of at most
/// 2^30 bytes guarantee (RFC 7323, section 2.3). Of two numbers exactly 2^31 apart, neither precedes the other.
#[must_use]
pub const fn seq_lt(a: u32, b: u32) -> bool {
    let ahead = b.wrapping_sub(a);
    ahead != 0 && ahead < 1 << 31
}

/// True if `a` precedes or equals `b`.
#[must_use]
pub const fn seq_le(a: u32, b: u32) -> bool {
    a == b || seq_lt(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_wrap_around() {
        assert!(seq_lt(0xffff_ffff, 0) && seq_lt(0xffff_ff00, 0x100) && !seq_lt(0, 0xffff_ffff));
        assert!(!seq_lt(7, 7) && seq_le(7, 7));
        assert!(!seq_lt(0, 1 << 31) && !seq_lt(1 << 31, 0));
    }

    proptest! {
        #[test]
        fn what_is_ahead_by_less_than_half_the_circle_is_after(a: u32, ahead in 1u32..(1 << 31)) {
            let b = a.wrapping_add(ahead);
            prop_assert!(seq_lt(a, b) && seq_le(a, b));
            prop_assert!(!seq_lt(b, a) && !seq_le(b, a));
        }
    }
}
