//! What links count.

use serde::{Deserialize, Serialize};

/// What a link has seen since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkCounters {
    /// Packets offered, and their bytes.
    pub offered_packets: u64,
    /// Bytes offered.
    pub offered_bytes: u64,
    /// Packets that found the buffer full or that queue management dropped.
    pub dropped_packets: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Those of them that queue management dropped.
    pub managed_drops: u64,
    /// Packets that queue management marked.
    pub marked_packets: u64,
    /// Packets that the loss model took.
    pub lost_packets: u64,
    /// Their bytes.
    pub lost_bytes: u64,
    /// Packets that were lost because the link slept, or fell asleep with them on it.
    pub asleep_packets: u64,
    /// Their bytes.
    pub asleep_bytes: u64,
    /// Those that it fell asleep with.
    pub stranded_packets: u64,
    /// Packets that reached the other end.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Sum over packets of the time each waited before its first bit was sent, or would have been where the link fell asleep, in nanoseconds.
    pub waited_ns: u64,
    /// The integral of the number of waiting packets, in packet nanoseconds. Filled in as the counters are read.
    pub queued_ns: u64,
    /// Packets that `waited_ns` sums over.
    pub served_packets: u64,
    /// Sum over packets that were dropped as they left the queue of the time each had waited, in nanoseconds.
    pub waited_in_vain_ns: u64,
    /// Packets that were dropped as they left the queue.
    pub discarded_packets: u64,
    /// Their bytes.
    pub discarded_bytes: u64,
    /// The most packets that ever waited at once.
    pub most_waiting: u64,
    /// The most bytes that ever waited at once.
    pub most_waiting_bytes: u64,
    /// How long it slept, in nanoseconds. Filled in as the counters are read.
    pub asleep_ns: u64,
}
