//! What becomes of packets at a station, and what it sends itself.

use netlull_mechanism::radio::PowerMode;
use netlull_units::Instant;

/// What becomes of a packet that has come over the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The host gets it.
    Deliver,
    /// The radio did not hear it, and it is lost.
    Missed,
}

/// What is known of the TCP checksum of a packet that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Nothing: it is looked at.
    Unknown,
    /// It is right, as the device or the kernel has found.
    Verified,
}

/// A beacon on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacon {
    /// The instant of its first bit.
    pub from: Instant,
    /// The instant of its last bit.
    pub until: Instant,
    /// Its traffic indication for the station: packets are held.
    pub buffered: bool,
}

/// What becomes of a packet that the host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendVerdict {
    /// It goes.
    Send,
    /// The radio wakes for it; it goes then. Packets leave in the order in which they were given.
    HoldUntil(Instant),
    /// It is dropped: the radio sleeps, and the peer has had what it says in the host's name already.
    Redundant,
}

/// What a station sends beside its host's packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// When it goes, or, of a poll, when it takes effect; not before the radio is awake.
    pub at: Instant,
    /// What it is.
    pub what: Sent,
}

/// What a station sends beside its host's packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A whole IP packet: an acknowledgement in the host's name.
    Packet(Vec<u8>),
    /// A poll for what the access point has buffered.
    Poll,
    /// Whether the station hears from now on.
    Announce(PowerMode),
}
