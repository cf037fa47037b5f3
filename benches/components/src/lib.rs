//! What the component benches share: how many operations each counts, and what they run on.

pub mod ideal;
pub mod running;
pub mod tcp;

/// Operations in every bench: what it counts, divided by this, is the cost of one.
pub const OPERATIONS: usize = 10_000;

/// Numbers that are spread well enough for times (xorshift64, Marsaglia 2003).
pub struct Spread(u64);

impl Spread {
    /// The same numbers every time.
    #[must_use]
    pub fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    /// The next, at least 1 and at most `most`, a power of two.
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
