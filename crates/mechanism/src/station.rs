//! Machines that control a station's radio: its sleep, the advertised windows and eager acknowledgements.
//!
//! ```text
//!   server ◄──── network ────► access point ◄──── air ────► radio ◄──► machine ◄──► host's TCP
//!                              beacons, buffers             sleeps
//! ```
//!
//! A machine sees every packet that its radio receives and every packet that its host is about to send. It never
//! sees the air: packets that arrive while the radio sleeps are lost. `station/kinds.rs` has the list of
//! machines, [`crate::radio`] the machines.

use crate::gateway::{SegmentKind, Timestamps};
use crate::radio::{AccessPointConfig, Burst, Fallback, ShaperState};
use crate::{ConfigError, Machine, plug_in};
use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;
use netlull_document::Loaders;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// A packet in the view of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketView {
    /// The packet's size in bytes, IP header included.
    pub size: u32,
    /// The packet's TCP segment; `None` for other protocols.
    pub segment: Option<TcpView>,
}

impl PacketView {
    /// Returns true if the packet is a segment that carries only an acknowledgement.
    #[must_use]
    pub fn is_acknowledgement(&self) -> bool {
        self.segment.is_some_and(|tcp| tcp.len == 0 && !tcp.fin && tcp.kind == SegmentKind::Other)
    }
}

/// A TCP segment in the view of one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TcpView {
    /// The connection's number, assigned by the driver.
    pub connection: u32,
    /// The segment's part in the handshake.
    pub kind: SegmentKind,
    /// True if the segment has the FIN flag.
    pub fin: bool,
    /// The sequence number of the first byte.
    pub seq: u32,
    /// The length of the data in bytes.
    pub len: u32,
    /// The acknowledged sequence number, if the segment has the ACK flag.
    pub acknowledged: Option<u32>,
    /// The advertised window in bytes, with the window scale applied.
    pub window: Bytes,
    /// The timestamps option (RFC 7323 section 3), if present.
    pub timestamps: Option<Timestamps>,
}

/// The power mode that a station announces to its access point (the power-management bit of IEEE 802.11 section 9.2.4.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PowerMode {
    /// The access point sends packets at once.
    Awake,
    /// The access point buffers packets until the station polls.
    Dozing,
}

/// An event at a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StationEvent {
    /// The radio has received a whole packet and hands it to the host now.
    Received {
        /// The packet.
        packet: PacketView,
        /// True if the access point has more packets for the station (the More Data bit). False without a
        /// buffering access point.
        more: bool,
    },
    /// The host is about to send a packet. A sleeping radio wakes to send it. The machine may rewrite the
    /// packet's window, or wake the radio itself.
    ///
    /// A download that opens gives this event too, with a packet of size 0 without a segment. It stands for the
    /// download's request, which the driver has not seen.
    Sending {
        /// The packet.
        packet: PacketView,
    },
    /// The radio has taken the acknowledgement that [`StationAction::Acknowledge`] requested. No
    /// [`Sending`](Self::Sending) event shows this packet.
    Acknowledged {
        /// The packet.
        packet: PacketView,
    },
    /// The radio has heard a beacon.
    Beacon {
        /// True if the access point has packets for the station.
        buffered: bool,
    },
    /// The time of `next_timeout` has come.
    Timeout,
}

/// A request of a station's machine to its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StationAction {
    /// Let the radio sleep after it has sent its frames.
    Sleep,
    /// Wake the radio, which hears nothing until its wake time has passed. No effect on an awake radio.
    Wake,
    /// Write this window, in bytes, into the packet just shown by [`StationEvent::Sending`]. It never exceeds the
    /// packet's window. Before [`Acknowledge`](Self::Acknowledge): the largest window of the requested acknowledgement.
    SetWindow(Bytes),
    /// Do not send the acknowledgement just shown by [`StationEvent::Sending`]. A later one covers it.
    Withhold,
    /// Let the host's TCP acknowledge all received data now (an eager acknowledgement), with its present window.
    /// The driver answers with [`StationEvent::Acknowledged`], unless the connection is not open.
    /// It answers each request, in the order of the requests.
    Acknowledge {
        /// The connection's number.
        connection: u32,
    },
    /// Ask the access point for buffered packets (a PS-Poll frame).
    Poll,
    /// Announce the power mode to the access point (a null frame with the power-management bit).
    Announce(PowerMode),
}

/// The station of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[serde(rename = "StationContext")]
pub struct Context {
    /// The bit rate of the air to the station.
    pub air_rate: BitRate,
    /// The radio's wake time, from sleep until it hears.
    pub wake: Duration,
    /// The largest packet in bytes, IP header included.
    pub mtu: Bytes,
}

/// The traffic that one machine can serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// All of a station's traffic.
    Everything,
    /// All of a station's connections, which must be long-lived: no flows of requests.
    LastingConnections,
    /// A single connection that downloads to the station. A driver with several connections builds a machine for each.
    OneDownload,
}

/// The state of a machine that shapes a download into bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaping {
    /// The state of the machine.
    pub state: ShaperState,
    /// The reason why it leaves windows alone, or left them alone when the download ended.
    pub fallback: Option<Fallback>,
    /// The least round-trip time, once there is a sample.
    pub round_trip: Option<Duration>,
    /// The number of bursts that have ended.
    pub bursts: u64,
    /// The burst that ended last.
    pub last_burst: Option<Burst>,
    /// Open acknowledgements sent again.
    pub resent_opens: u64,
    /// True if the acknowledgement that it requests now is open. Eager acknowledgements are not.
    pub opens: bool,
}

/// A machine that controls a station's radio.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Policy: Machine<Event = StationEvent, Action = StationAction> + Debug + Send + Sync {
    /// The state of shaping, if the machine shapes a download. Drivers report it.
    fn shaping(&self) -> Option<Shaping> {
        None
    }

    /// The reason why the machine works no more, if it has failed. A simulation ends with this error. On real packets
    /// the radio stays awake, and windows stay as they are.
    #[inline]
    fn fault(&self) -> Option<&ConfigError> {
        None
    }
}

/// The parameters of a station's machine, the source of documents, schema, catalogue and builders.
pub trait Parameters: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// The machine with these parameters.
    type Machine: Policy;
    /// The traffic that one machine can serve.
    const SERVES: Serves = Serves::Everything;

    /// The access point's parameters, if the machine requires a buffering access point.
    fn access_point(&self) -> Option<&AccessPointConfig> {
        None
    }

    /// Builds the machine of a station whose run begins at `start`.
    ///
    /// # Errors
    /// Names the first field that is out of range or does not fit the station, its value and the expectation.
    fn build(&self, station: Context, start: Instant) -> Result<Self::Machine, ConfigError>;
}

/// A factory of station machines defined outside this crate.
pub trait Factory: Debug + Send + Sync {
    /// The machine's name in results.
    fn name(&self) -> &str;

    /// The traffic that one machine can serve.
    fn serves(&self) -> Serves {
        Serves::Everything
    }

    /// The access point's parameters, if the machine requires a buffering access point.
    fn access_point(&self) -> Option<&AccessPointConfig> {
        None
    }

    /// The machine's table in documents, plans and tapes, with its `kind`; `None` if it exists only in its process.
    fn table(&self) -> Option<Value> {
        None
    }

    /// Builds the machine of a station whose run begins at `start`.
    ///
    /// # Errors
    /// If the machine cannot control this station.
    fn build(&self, station: Context, start: Instant) -> Result<Box<dyn Policy>, ConfigError>;
}

/// The kinds of station machines that other crates read.
pub static PLUG_INS: Loaders<Arc<dyn Factory>> = Loaders::new();

/// A machine defined outside this crate. Documents, plans and tapes store its table, if it has one.
#[derive(Clone, Debug)]
pub struct PlugIn(pub Arc<dyn Factory>);

impl PartialEq for PlugIn {
    fn eq(&self, other: &Self) -> bool {
        plug_in::same(&self.0, &other.0, |factory| factory.table())
    }
}

impl Serialize for PlugIn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        plug_in::write(self.0.table(), self.0.name(), serializer)
    }
}

// After the trait `Policy`, as in `link.rs`.
mod kinds;

pub use kinds::{Config, Running};
