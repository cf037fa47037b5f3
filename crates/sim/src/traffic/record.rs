//! Arrivals that were recorded, packet by packet.

/// When packets came, and how large they were: 12 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// In nanoseconds since the start; they do not decrease.
    times: Vec<u64>,
    /// In bytes on the wire.
    sizes: Vec<u32>,
}

impl Record {
    /// A packet of `size` bytes comes at `time` nanoseconds, not before the last one.
    pub fn push(&mut self, time: u64, size: u32) {
        debug_assert!(self.times.last().is_none_or(|last| *last <= time), "recorded out of order");
        self.times.push(time);
        self.sizes.push(size);
    }

    /// Number of packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Their bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sizes.iter().map(|size| u64::from(*size)).sum()
    }

    /// Time and size of the n-th packet.
    #[inline]
    #[must_use]
    pub fn get(&self, n: usize) -> Option<(u64, u32)> {
        Some((*self.times.get(n)?, *self.sizes.get(n)?))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        self.times.iter().copied().zip(self.sizes.iter().copied())
    }
}
