//! Machines that control a link: they choose its service rate, steer the windows of the TCPs that cross it, or both.
//!
//! ```text
//!   senders ──► [ queue ─► transmitter ] ──► receivers      data: arrivals and departures
//!           ◄──── awnd <- min(awnd, swnd) ◄────             acknowledgements, for controllers that read segments
//! ```
//!
//! [`crate::machines`] has the list of controllers.

use crate::view::{Admission, QueueView, SegmentView};
use crate::{ConfigError, Machine};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::sync::Arc;

/// An event on a controlled link. Every `queue` is the link's content *after* the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkEvent {
    /// A packet reached the link's buffer. If the transmitter was free, the packet is already in service in `queue`.
    Arrival {
        /// The packet's size in bytes.
        size: Bytes,
        /// Whether it found room.
        admission: Admission,
        /// The content with the packet, if accepted.
        queue: QueueView,
        /// The TCP segment in the packet; `None` for other packets and for controllers that read no segments.
        segment: Option<SegmentView>,
    },
    /// A packet has left the transmitter. If another waited and no pause holds it back, that one is already in
    /// service in `queue`.
    Departure {
        /// The content without the packet that left.
        queue: QueueView,
    },
    /// The instant asked for by `next_timeout` has come. It carries the content because a packet enters service
    /// without an event of its own when a pause ends.
    Timeout {
        /// The content now.
        queue: QueueView,
    },
    /// An acknowledgement comes back, before it goes on to the sender. Only controllers that read segments see it.
    Acknowledgement {
        /// The segment.
        segment: SegmentView,
        /// awnd, the window that it advertises, in bytes: its scale has been applied.
        window: Bytes,
    },
}

impl LinkEvent {
    /// The link's content after the event; `None` for an acknowledgement, which changes nothing on the link.
    #[inline]
    #[must_use]
    pub fn queue(&self) -> Option<QueueView> {
        match *self {
            Self::Arrival { queue, .. } | Self::Departure { queue } | Self::Timeout { queue } => Some(queue),
            Self::Acknowledgement { .. } => None,
        }
    }
}

/// A request of a controller to its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkAction {
    /// Serve at `rate` from now on and send nothing for `pause` while the hardware changes over.
    ///
    /// The link, not the controller, decides whether a packet in service finishes at its old rate and when the pause starts.
    SetRate {
        /// The new service rate in bit/s.
        rate: BitRate,
        /// How long nothing is sent.
        pause: Duration,
    },
    /// Write this window, in bytes, into the acknowledgement just shown; always less than the one it had. A driver that has to
    /// round to the connection's window scale rounds up, so that the floor of one MTU holds, but not above the old window.
    SetWindow(Bytes),
}

impl LinkAction {
    /// The rate and the pause that it asks for; `None` if it asks for a window.
    #[inline]
    #[must_use]
    pub fn new_rate(self) -> Option<(BitRate, Duration)> {
        match self {
            Self::SetRate { rate, pause } => Some((rate, pause)),
            Self::SetWindow(_) => None,
        }
    }
}

/// The link that a controller is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkContext {
    /// The link's rate; the highest that a controller may choose.
    pub rate: BitRate,
    /// The largest packet in bytes, IP header included.
    pub mtu: Bytes,
}

/// Estimates of a controller that steers windows or measures round trips, for summaries and probes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimates {
    /// swnd, the suggested window, and N; `None` without window steering.
    pub windows: Option<WindowEstimates>,
    /// RTT, the round-trip time; `None` without an estimate.
    pub round_trip: Option<Duration>,
}

/// Estimates of a controller that steers windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowEstimates {
    /// swnd in bytes.
    pub window: f64,
    /// Whether swnd is at its floor: with more flows nothing is controlled any more.
    pub is_at_floor: bool,
    /// N, the number of flows.
    pub flows: f64,
}

/// A machine that controls a link.
///
/// An event leads to one action at most.
pub trait LinkController: Machine<Event = LinkEvent, Action = LinkAction> + Debug + Send + Sync {
    /// The service rate in bit/s that it wants now.
    fn rate(&self) -> BitRate;

    /// The number of rate changes so far.
    fn changes(&self) -> u64;

    /// Whether it needs the segments of arrivals, and acknowledgements on their way back.
    fn reads_segments(&self) -> bool {
        false
    }

    /// Its estimates, if it makes any.
    fn estimates(&self) -> Estimates {
        Estimates::default()
    }
}

/// The parameters of a link controller: everything that documents, schema, catalogue and builders need to know.
pub trait LinkConfig: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// The machine that it makes.
    type Machine: LinkController;
    /// Whether the controller changes the link's rate.
    const CHANGES_RATE: bool = true;
    /// Whether the controller reads segments and acknowledgements.
    const READS_SEGMENTS: bool = false;

    /// Checks every value, and those that must fit the link.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value and what was expected.
    fn check(&self, link: LinkContext) -> Result<(), ConfigError>;

    /// The machine of a link whose run begins at `start`.
    ///
    /// # Errors
    /// As [`LinkConfig::check`].
    fn build(&self, link: LinkContext, start: Instant) -> Result<Self::Machine, ConfigError>;

    /// The lowest rate that the controller may choose, and the parameter's name; `None` if it leaves the rate alone.
    fn lowest_rate(&self) -> Option<(&'static str, BitRate)>;

    /// The rate at the start; `None` for the link's.
    fn initial_rate(&self) -> Option<BitRate>;
}

/// A maker of link controllers from outside this crate.
pub trait LinkFactory: Debug + Send + Sync {
    /// The controller's name, as results show it.
    fn name(&self) -> &str;

    /// The rate at the start; `None` for the link's.
    fn initial_rate(&self) -> Option<BitRate> {
        None
    }

    /// The machine of a link whose run begins at `start`.
    ///
    /// # Errors
    /// If the controller cannot work on this link.
    fn build(&self, link: LinkContext, start: Instant) -> Result<Box<dyn LinkController>, ConfigError>;
}

/// A controller from outside this crate, for one link. It lives in one process: plans and tapes cannot hold it.
#[derive(Clone, Debug)]
pub struct ForeignLink {
    factory: Arc<dyn LinkFactory>,
    reads_segments: bool,
}

impl ForeignLink {
    /// A controller that fits a link.
    ///
    /// # Errors
    /// If the controller cannot work on this link.
    pub fn new(factory: Arc<dyn LinkFactory>, link: LinkContext) -> Result<Self, ConfigError> {
        let reads_segments = factory.build(link, Instant::ZERO)?.reads_segments();
        Ok(Self { factory, reads_segments })
    }

    /// The maker of its machines.
    #[must_use]
    pub fn factory(&self) -> &dyn LinkFactory {
        &*self.factory
    }

    /// Whether its machines read segments and acknowledgements.
    #[must_use]
    pub fn reads_segments(&self) -> bool {
        self.reads_segments
    }
}

impl PartialEq for ForeignLink {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.factory, &other.factory)
    }
}

impl<M: LinkController + ?Sized> LinkController for Box<M> {
    fn rate(&self) -> BitRate {
        (**self).rate()
    }

    fn changes(&self) -> u64 {
        (**self).changes()
    }

    fn reads_segments(&self) -> bool {
        (**self).reads_segments()
    }

    #[inline]
    fn estimates(&self) -> Estimates {
        (**self).estimates()
    }
}
