//! Decisions of a station on packets, and its own packets and frames.

use netlull_mechanism::station::PowerMode;
use netlull_units::Instant;

/// The decision on a packet received over the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The host receives it.
    Deliver,
    /// The radio did not hear it, and it is lost.
    Missed,
}

/// The state of a received packet's TCP checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Unknown; the station verifies it.
    Unknown,
    /// Verified by the device or the kernel.
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
    /// Sends it.
    Send,
    /// Holds it until the radio has woken. Packets leave in the order of their calls.
    HoldUntil(Instant),
    /// Drops it. The radio sleeps and the peer has already received its content on behalf of the host, or the machine
    /// withholds it for a later acknowledgement.
    Redundant,
}

/// A packet or frame of the station's own, and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The departure, or the instant at which a poll takes effect; not before the radio is awake.
    pub at: Instant,
    /// Its content.
    pub what: Sent,
}

/// A packet or frame of the station's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A whole IP packet: an acknowledgement on behalf of the host.
    Packet(Vec<u8>),
    /// A poll for packets that the access point has buffered.
    Poll,
    /// An announcement that the station hears from now on, or that it does not.
    Announce(PowerMode),
}
