//! Recorded arrivals of packets.

/// The arrival times and sizes of packets: 12 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since the start, in ascending order.
    times: Vec<u64>,
    /// Bytes on the wire.
    sizes: Vec<u32>,
}

impl Record {
    /// Records a packet of `size` bytes at `time` nanoseconds, not earlier than the last.
    pub fn push(&mut self, time: u64, size: u32) {
        debug_assert!(self.times.last().is_none_or(|last| *last <= time), "recorded out of order");
        self.times.push(time);
        self.sizes.push(size);
    }

    /// The number of packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns true if the record is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The total size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sizes.iter().map(|size| u64::from(*size)).sum()
    }

    /// The time and size of the n-th packet.
    #[inline]
    #[must_use]
    pub fn get(&self, n: usize) -> Option<(u64, u32)> {
        Some((*self.times.get(n)?, *self.sizes.get(n)?))
    }

    /// The times and sizes of all packets.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        self.times.iter().copied().zip(self.sizes.iter().copied())
    }
}
