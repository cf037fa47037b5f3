//! Drop-tail buffers.

use netlull_units::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;

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

    /// Whether a packet of `size` bytes fits into a backlog of `packets` packets with `bytes` bytes.
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
