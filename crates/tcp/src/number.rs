//! Conversions between number types that the language leaves to `as`, in one place and with meaningful names.
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

/// A number of bytes, segments or nanoseconds for arithmetic with fractions; exact below 2^53.
#[inline]
pub const fn float(number: u64) -> f64 {
    number as f64
}

/// The whole part; 0 for a negative number or NaN, and the largest number on overflow.
#[inline]
pub const fn whole(number: f64) -> u64 {
    number as u64
}

/// The number modulo 2^32, as in sequence numbers and timestamps.
#[inline]
pub const fn modulo_u32(number: u64) -> u32 {
    number as u32
}

/// The length of a segment, or of a part of one.
#[inline]
pub const fn length_u32(bytes: u64) -> u32 {
    debug_assert!(bytes <= u32::MAX as u64);
    bytes as u32
}

/// A length or a window in a field of 16 bits.
#[inline]
pub const fn field_u16(number: u64) -> u16 {
    debug_assert!(number <= u16::MAX as u64);
    number as u16
}

/// An index of a list.
#[inline]
pub const fn place(number: u64) -> usize {
    number as usize
}
