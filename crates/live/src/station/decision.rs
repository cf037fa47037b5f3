//! Decisions of a station on packets, and its own packets and frames.

use netlull_mechanism::station::PowerMode;
use netlull_units::Instant;

/// The decision on a packet that has come over the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The host gets it.
    Deliver,
    /// The radio did not hear it, and it is lost.
    Missed,
}

/// The TCP checksum of a packet that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// It is unknown, and will be looked at.
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

/// The decision on a packet that the host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendVerdict {
    /// It goes.
    Send,
    /// The radio wakes for it; it goes then. Packets leave in the order in which they were given.
    HoldUntil(Instant),
    /// It is dropped: the radio sleeps, and the peer has had what it says in the host's name already.
    Redundant,
}

/// A packet or frame of the station's own, and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The instant at which it goes, or at which a poll takes effect; not before the radio is awake.
    pub at: Instant,
    /// Its content.
    pub what: Sent,
}

/// A packet or frame of the station's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A whole IP packet: an acknowledgement in the host's name.
    Packet(Vec<u8>),
    /// A poll for what the access point has buffered.
    Poll,
    /// An announcement that the station hears from now on, or that it does not.
    Announce(PowerMode),
}
