//! The queue of a link: its management, which drops or marks packets before the buffer is full, its limit and its
//! counters.

pub mod codel;
pub mod red;

use netlull_units::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The queue management of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueModel {
    /// Drops by the full buffer alone.
    #[default]
    DropTail,
    /// Random early detection, at the arrival of packets.
    Red(red::RedConfig),
    /// Controlled delay, at the departure of packets from the queue.
    CoDel(codel::CoDelConfig),
}

impl QueueModel {
    /// The kind's name in documents.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::DropTail => "drop_tail",
            Self::Red(_) => "red",
            Self::CoDel(_) => "codel",
        }
    }
}

/// A decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet passes unchanged.
    Pass,
    /// The packet continues with the mark "congestion experienced" (RFC 3168).
    Mark,
    /// The packet is dropped.
    Drop,
}

/// The limit of a link's backlog, without the packet in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Buffer {
    /// A number of packets, whatever their size.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

impl Buffer {
    /// The length in bytes for packets of `mtu` bytes; `None` without a limit.
    #[must_use]
    pub fn length(self, mtu: Bytes) -> Option<Bytes> {
        match self {
            Self::Packets(limit) => Some(Bytes::new(limit.saturating_mul(mtu.as_u64()))),
            Self::Bytes(limit) => Some(limit),
            Self::Unlimited => None,
        }
    }

    /// Returns true if a packet of `size` bytes fits into a backlog of `packets` packets with `bytes` bytes.
    #[inline]
    #[must_use]
    pub fn admits(self, packets: u64, bytes: u64, size: u32) -> bool {
        match self {
            Self::Packets(limit) => packets < limit,
            Self::Bytes(limit) => bytes + u64::from(size) <= limit.as_u64(),
            Self::Unlimited => true,
        }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(limit) => write!(f, "{limit} packets"),
            Self::Bytes(limit) => write!(f, "{} B", limit.as_u64()),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

/// The counters of a link since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkCounters {
    /// Offered packets.
    pub offered_packets: u64,
    /// Offered bytes.
    pub offered_bytes: u64,
    /// Packets dropped by the full buffer or by queue management.
    pub dropped_packets: u64,
    /// Bytes of the dropped packets.
    pub dropped_bytes: u64,
    /// Packets dropped by queue management alone.
    pub managed_drops: u64,
    /// Packets marked by queue management.
    pub marked_packets: u64,
    /// Packets lost by the loss model.
    pub lost_packets: u64,
    /// Bytes of the lost packets.
    pub lost_bytes: u64,
    /// Packets lost because the link slept, or fell asleep with the packets on it.
    pub asleep_packets: u64,
    /// Bytes of these packets.
    pub asleep_bytes: u64,
    /// Packets that were on the link as it fell asleep.
    pub stranded_packets: u64,
    /// Packets delivered to the other end.
    pub delivered_packets: u64,
    /// Bytes of the delivered packets.
    pub delivered_bytes: u64,
    /// The sum of the queueing delays of `served_packets`, in nanoseconds. Sums of times over packets have 128 bits: a
    /// long queue exceeds 64 within minutes.
    pub waited_ns: u128,
    /// The time integral of the backlog in packets, in packet nanoseconds. Updated when the counters are read.
    pub queued_ns: u128,
    /// The packets whose transmission has begun.
    pub served_packets: u64,
    /// The sum of the queueing delays of packets that left the queue without transmission, in nanoseconds: dropped at
    /// its head, or lost as the link fell asleep.
    pub waited_in_vain_ns: u128,
    /// Packets dropped at the queue's head.
    pub discarded_packets: u64,
    /// Bytes of these packets.
    pub discarded_bytes: u64,
    /// The largest backlog in packets.
    pub most_waiting: u64,
    /// The largest backlog in bytes.
    pub most_waiting_bytes: u64,
    /// The largest lateness of a packet in nanoseconds, for a controller that bounds it.
    #[serde(default)]
    pub largest_lateness_ns: u64,
    /// The time asleep in nanoseconds. Updated when the counters are read.
    pub asleep_ns: u64,
}

impl LinkCounters {
    /// The difference from earlier counters. The largest backlogs and the largest lateness stay those since the start.
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
            largest_lateness_ns: self.largest_lateness_ns,
            asleep_ns: self.asleep_ns - then.asleep_ns,
        }
    }
}
