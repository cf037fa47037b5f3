//! The verdict of queue management on a packet.

/// The treatment of a packet by queue management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Pass,
    /// The packet goes on with the mark "congestion experienced" (RFC 3168).
    Mark,
    /// The packet is dropped.
    Drop,
}
