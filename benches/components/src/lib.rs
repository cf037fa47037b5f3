//! The common part of the component benches: the number of operations, and their inputs.

pub mod ideal;
pub mod running;
pub mod tcp;

/// The number of operations per bench. The cost of one operation is the count divided by this number.
pub const OPERATIONS: usize = 10_000;

/// Pseudorandom numbers of sufficient quality for times (xorshift64, Marsaglia 2003).
pub struct Spread(u64);

impl Spread {
    /// Creates the generator in a fixed state.
    #[must_use]
    pub fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    /// The next number, at least 1 and at most `most`, a power of two.
    #[inline(always)]
    pub fn next(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 & (most - 1)) + 1
    }
}

impl Default for Spread {
    fn default() -> Self {
        Self::new()
    }
}
