//! Radios that doze: what a wireless station and its access point do so that the station's network interface can sleep.
//!
//! ```text
//!   server ◄──── network ────► access point ◄──── air ────► radio ◄──► machine ◄──► host's TCP
//!                              [AccessPoint]               sleeps,     [Shaper], [Eager],
//!                              beacons, buffers            idles       [Psm], [Bsd]
//! ```
//!
//! A station's machine sees every packet that its radio has received and every packet that its host is about to send, and
//! says when the radio sleeps. It never sees the air: a packet that comes while the radio sleeps is lost to it.

mod access_point;
mod beacons;
mod bsd;
mod doze;
mod eager;
mod psm;
mod shaper;
mod spacing;

pub use access_point::{AccessAction, AccessEvent, AccessPoint, AccessPointConfig};
pub use bsd::{Bsd, BsdConfig, Requests};
pub use eager::{Eager, EagerConfig};
pub use psm::{Psm, PsmConfig};
pub use shaper::{Burst, Fallback, PacedFrom, PacedGuard, RepairAcks, RttFrom, Shaper, ShaperConfig, ShaperState};

use crate::gateway::{SegmentKind, Timestamps};
use netlull_units::Bytes;
use serde::{Deserialize, Serialize};

/// A packet as a station reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketView {
    /// Its size in bytes, IP header included.
    pub size: u32,
    /// What it carries; `None` if that is not TCP.
    pub segment: Option<TcpView>,
}

impl PacketView {
    /// Whether it is a segment that carries nothing but its acknowledgement.
    #[must_use]
    pub fn is_acknowledgement(&self) -> bool {
        self.segment.is_some_and(|tcp| tcp.len == 0 && !tcp.fin && tcp.kind == SegmentKind::Other)
    }
}

/// A TCP segment as one of its ends reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpView {
    /// Which connection of the station's: the driver numbers them.
    pub connection: u32,
    /// Its part in the handshake.
    pub kind: SegmentKind,
    /// Whether it has the FIN flag.
    pub fin: bool,
    /// The sequence number of its first byte.
    pub seq: u32,
    /// Its data in bytes.
    pub len: u32,
    /// The sequence number that it acknowledges, if it has the ACK flag.
    pub acknowledged: Option<u32>,
    /// The window that it advertises in bytes: its scale has been applied.
    pub window: Bytes,
    /// Its timestamps option (RFC 7323 section 3), if it has one.
    pub timestamps: Option<Timestamps>,
}

/// Whether a station hears what is sent to it, as its access point knows it (the power-management bit of IEEE 802.11 section 9.2.4.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PowerMode {
    /// Packets are sent at once.
    Awake,
    /// Packets are buffered until they are polled for.
    Dozing,
}

/// What an access point answers a poll by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Polling {
    /// Everything held at that moment, the last packet marked: the ideal PSM of client-centered-2004 section IV-C.
    #[default]
    All,
    /// One packet, whose More Data bit tells of more: the PS-Poll frame of IEEE 802.11 section 11.2.
    One,
}

/// What happens at a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StationEvent {
    /// The radio has received a packet, whole, and hands it to the host now.
    Received {
        /// What it is.
        packet: PacketView,
        /// The access point has more for the station (the More Data bit); false where none buffers.
        more: bool,
    },
    /// The host is about to send a packet. The radio wakes for it, if it sleeps; the machine may rewrite its window, or wake the radio
    /// itself.
    Sending {
        /// What it is.
        packet: PacketView,
    },
    /// The acknowledgement that [`StationAction::Acknowledge`] asked for has been handed to the radio. It is not shown as
    /// [`Sending`](Self::Sending).
    Acknowledged {
        /// What it is.
        packet: PacketView,
    },
    /// The radio has heard a beacon.
    Beacon {
        /// The access point has packets for the station.
        buffered: bool,
    },
    /// The instant asked for by `next_timeout` has come.
    Timeout,
}

/// What a station asks of its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StationAction {
    /// Let the radio sleep, once it has sent what has been handed to it.
    Sleep,
    /// Let the radio wake; it hears nothing before its wake time is over. Nothing, if it is awake.
    Wake,
    /// Write this window, in bytes, into the packet just shown as about to be sent; never more than it has.
    SetWindow(Bytes),
    /// Let the host's TCP acknowledge now all that it has received, whether it would or not (an eager acknowledgement), with the window
    /// that it has; answered by [`StationEvent::Acknowledged`]. Not answered where there is no such connection any more.
    Acknowledge {
        /// Which connection.
        connection: u32,
    },
    /// Ask the access point for what it has buffered (a PS-Poll frame).
    Poll,
    /// Tell the access point whether the station hears from now on (a null frame with the power-management bit).
    Announce(PowerMode),
}
