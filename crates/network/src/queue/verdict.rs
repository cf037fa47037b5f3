//! The decision of queue management about a packet.

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
