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

impl LinkCounters {
    /// The counters less those of an earlier time. The most that ever waited stays the most since the start.
    #[must_use]
    pub fn since(&self, then: &Self) -> Self {
        Self {
            offered_packets: self.offered_packets - then.offered_packets,
            offered_bytes: self.offered_bytes - then.offered_bytes,
            dropped_packets: self.dropped_packets - then.dropped_packets,
            dropped_bytes: self.dropped_bytes - then.dropped_bytes,
            managed_drops: self.managed_drops - then.managed_drops,
            marked_packets: self.marked_packets - then.marked_packets,
            lost_packets: self.lost_packets - then.lost_packets,
            lost_bytes: self.lost_bytes - then.lost_bytes,
            asleep_packets: self.asleep_packets - then.asleep_packets,
            asleep_bytes: self.asleep_bytes - then.asleep_bytes,
            stranded_packets: self.stranded_packets - then.stranded_packets,
            delivered_packets: self.delivered_packets - then.delivered_packets,
            delivered_bytes: self.delivered_bytes - then.delivered_bytes,
            waited_ns: self.waited_ns - then.waited_ns,
            queued_ns: self.queued_ns - then.queued_ns,
            served_packets: self.served_packets - then.served_packets,
            waited_in_vain_ns: self.waited_in_vain_ns - then.waited_in_vain_ns,
            discarded_packets: self.discarded_packets - then.discarded_packets,
            discarded_bytes: self.discarded_bytes - then.discarded_bytes,
            most_waiting: self.most_waiting,
            most_waiting_bytes: self.most_waiting_bytes,
            asleep_ns: self.asleep_ns - then.asleep_ns,
        }
    }
}
