//! Machines that control a link: its service rate, the windows of TCP connections across it, or both.
//!
//! ```text
//!   senders ──► [ queue ─► transmitter ] ──► receivers      data: arrivals and departures
//!           ◄──── awnd <- min(awnd, swnd) ◄────             acknowledgements, for controllers that read segments
//! ```
//!
//! `link/kinds.rs` has the list of controllers.

use crate::view::{Admission, HeadVerdict, QueueView, SegmentView};
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

/// An event on a controlled link. Every `queue` is the link's content *after* the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkEvent {
    /// A packet reached the link's buffer. With an idle transmitter, `queue` shows the packet in service.
    Arrival {
        /// The packet's size in bytes.
        size: Bytes,
        /// The decision of the buffer and of queue management.
        admission: Admission,
        /// The content with the packet, if accepted.
        queue: QueueView,
        /// The TCP segment in the packet; `None` for other packets and for controllers that read no segments.
        segment: Option<SegmentView>,
    },
    /// A packet has left the transmitter. If another packet is queued and no pause applies, `queue` shows that
    /// packet in service.
    Departure {
        /// The content without the packet that left.
        queue: QueueView,
    },
    /// Queue management marked or dropped a packet at the head of the queue (CoDel). The event precedes the departure
    /// at the same instant, if there is one. Both show the content after all decisions of that instant.
    Managed {
        /// The packet's size in bytes.
        size: Bytes,
        /// The decision.
        verdict: HeadVerdict,
        /// The content without the dropped packets.
        queue: QueueView,
    },
    /// The time of `next_timeout` has come. The event carries the content because a packet enters service without
    /// an event of its own when a pause ends.
    Timeout {
        /// The content now.
        queue: QueueView,
    },
    /// An acknowledgement on its way back to the sender. Only controllers that read segments see it.
    Acknowledgement {
        /// The segment.
        segment: SegmentView,
        /// The advertised window awnd in bytes, with the window scale applied.
        window: Bytes,
    },
}

impl LinkEvent {
    /// The link's content after the event; `None` for an acknowledgement, which does not change the link.
    #[inline]
    #[must_use]
    pub fn queue(&self) -> Option<QueueView> {
        match *self {
            Self::Arrival { queue, .. }
            | Self::Departure { queue }
            | Self::Managed { queue, .. }
            | Self::Timeout { queue } => Some(queue),
            Self::Acknowledgement { .. } => None,
        }
    }

    /// Returns true if a packet was in service before the event, and one is after it. An arrival then waits.
    #[inline]
    #[must_use]
    pub fn keeps_busy(&self) -> bool {
        match *self {
            Self::Arrival { queue, .. } => queue.waiting > Bytes::ZERO && queue.in_service > Bytes::ZERO,
            Self::Departure { queue } | Self::Managed { queue, .. } => queue.in_service > Bytes::ZERO,
            Self::Timeout { .. } | Self::Acknowledgement { .. } => false,
        }
    }
}

/// A request of a controller to its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkAction {
    /// Serve at `rate` from now on and send nothing for `pause` while the hardware switches.
    ///
    /// The link, not the controller, decides when the pause starts and at which rate a packet in service
    /// finishes.
    SetRate {
        /// The new service rate in bit/s.
        rate: BitRate,
        /// The time without transmission.
        pause: Duration,
    },
    /// Write this window, in bytes, into the acknowledgement just shown. It is always less than the advertised
    /// window. A driver that rounds to the connection's window scale rounds up, but not above the old window. The
    /// floor of one MTU therefore holds.
    SetWindow(Bytes),
}

impl LinkAction {
    /// The requested rate and pause; `None` for a window.
    #[inline]
    #[must_use]
    pub fn new_rate(self) -> Option<(BitRate, Duration)> {
        match self {
            Self::SetRate { rate, pause } => Some((rate, pause)),
            Self::SetWindow(_) => None,
        }
    }
}

/// The link of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "LinkContext")]
pub struct Context {
    /// The link's rate, the highest that a controller may choose.
    pub rate: BitRate,
    /// The largest packet in bytes, IP header included.
    pub mtu: Bytes,
    /// The length of the buffer in bytes, for packets of one MTU; `None` if it is unlimited or unknown.
    #[serde(default)]
    pub buffer: Option<Bytes>,
    /// True if a packet in service stops when the rate changes, and goes on at the new rate. Otherwise it finishes at
    /// the old rate.
    #[serde(default)]
    pub suspends: bool,
}

impl Context {
    /// A link with an unlimited buffer whose packets finish at their old rate.
    #[must_use]
    pub const fn new(rate: BitRate, mtu: Bytes) -> Self {
        Self { rate, mtu, buffer: None, suspends: false }
    }

    /// Checks a rate that a controller requests.
    ///
    /// # Errors
    /// Names `field` if the rate is zero or above the link's rate.
    pub fn check_rate(&self, field: &str, rate: BitRate) -> Result<(), ConfigError> {
        if rate.is_zero() || rate > self.rate {
            let expected = format!("more than 0 b/s and at most the link's rate, {}", self.rate);
            return Err(ConfigError::new(field, rate, expected));
        }
        Ok(())
    }
}

/// Estimates of a controller that sets windows or measures round trips, for summaries and probes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimates {
    /// The suggested window swnd and the number of flows N; `None` if the controller does not set windows.
    pub windows: Option<WindowEstimates>,
    /// RTT, the round-trip time; `None` without an estimate.
    pub round_trip: Option<Duration>,
}

/// Estimates of a controller that sets windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowEstimates {
    /// The suggested window swnd in bytes.
    pub window: f64,
    /// True if swnd is at its floor, where more flows cannot be controlled.
    pub is_at_floor: bool,
    /// N, the number of flows.
    pub flows: f64,
}

/// The queue that a controller must see before it acts. A smaller buffer disables a part of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededQueue {
    /// The parameter that asks for the queue.
    pub field: &'static str,
    /// The length of the queue.
    pub queue: Bytes,
    /// The consequence of a smaller buffer, as the end of a sentence.
    pub otherwise: String,
}

/// A machine that controls a link.
///
/// The driver performs all actions for an event, in their order. Only an acknowledgement may lead to a window. A
/// simulation ends with an error if a rate is zero or above the link's rate.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Controller: Machine<Event = LinkEvent, Action = LinkAction> + Debug + Send + Sync {
    /// The requested service rate in bit/s.
    fn rate(&self) -> BitRate;

    /// The number of rate changes so far.
    fn changes(&self) -> u64;

    /// Returns true if the controller needs the segments of arrivals and the returning acknowledgements.
    fn reads_segments(&self) -> bool {
        false
    }

    /// Returns true if the controller may stop its link: it then asks for rate 0, and the link holds packets until it asks
    /// for another rate.
    #[inline]
    fn stops(&self) -> bool {
        false
    }

    /// Returns true if the controller gets events that [keep the link busy](LinkEvent::keeps_busy).
    #[inline]
    fn hears_busy(&self) -> bool {
        true
    }

    /// Returns true if the link may stop as far as this direction is concerned.
    fn is_ready_to_stop(&self) -> bool {
        false
    }

    /// Tells the controller of a coupled link if the other direction may stop. It may answer with actions.
    fn on_other_direction(&mut self, _now: Instant, _is_ready: bool) {}

    /// The times in each state up to `now`, for a controller that stops its link.
    fn low_power(&self, _now: Instant) -> Option<LowPowerTimes> {
        None
    }

    /// The controller's estimates, if it makes any.
    fn estimates(&self) -> Estimates {
        Estimates::default()
    }

    /// The reason why the controller works no more, if it has failed. A simulation ends with this error. On real
    /// packets the link stays at its full rate, and windows stay as they are.
    #[inline]
    fn fault(&self) -> Option<&ConfigError> {
        None
    }
}

/// The parameters of a link controller, the source of documents, schema, catalogue and builders.
pub trait Parameters: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// The machine with these parameters.
    type Machine: Controller;
    /// True if the controller changes the link's rate.
    const CHANGES_RATE: bool = true;
    /// True if the controller reads segments and acknowledgements.
    const READS_SEGMENTS: bool = false;
    /// True if the controller stops its link and lets it hold packets, as a router on real packets cannot.
    const STOPS: bool = false;
    /// True if arrivals show their segments. A controller that reads no acknowledgements may ask for them alone.
    const SEES_SEGMENTS: bool = Self::READS_SEGMENTS;

    /// Builds the machine of a link whose run begins at `start`, after checking every value by itself and against the
    /// link.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value and the expectation.
    fn build(&self, link: Context, start: Instant) -> Result<Self::Machine, ConfigError>;

    /// The name and value of the parameter for the lowest rate; `None` if the controller does not change the
    /// rate.
    fn lowest_rate(&self) -> Option<(&'static str, BitRate)>;

    /// The rate at the start; `None` for the link's own rate.
    fn initial_rate(&self) -> Option<BitRate>;

    /// The longest time that a packet leaves the link later than it would leave a link that is always at its highest
    /// rate; `None` if the controller guarantees none. The verifier checks it in every run.
    fn lateness_bound(&self, _link: Context) -> Option<Duration> {
        None
    }

    /// The queue that the link's buffer must hold; `None` if any buffer will do.
    fn needed_queue(&self, _link: Context) -> Option<NeededQueue> {
        None
    }
}

/// A factory of link controllers defined outside this crate.
pub trait Factory: Debug + Send + Sync {
    /// The controller's name in results.
    fn name(&self) -> &str;

    /// The rate at the start; `None` for the link's own rate.
    fn initial_rate(&self) -> Option<BitRate> {
        None
    }

    /// Returns true if machines from a document read segments and acknowledgements.
    fn reads_segments(&self) -> bool {
        false
    }

    /// The controller's table in documents, plans and tapes, with its `kind`; `None` if it exists only in its process.
    fn table(&self) -> Option<Value> {
        None
    }

    /// Builds the machine of a link whose run begins at `start`.
    ///
    /// # Errors
    /// If the controller cannot control this link.
    fn build(&self, link: Context, start: Instant) -> Result<Box<dyn Controller>, ConfigError>;
}

/// The kinds of link controllers that other crates read.
pub static PLUG_INS: Loaders<Arc<dyn Factory>> = Loaders::new();

/// A controller defined outside this crate. Documents, plans and tapes store its table, if it has one.
#[derive(Clone, Debug)]
pub struct PlugIn {
    factory: Arc<dyn Factory>,
    initial_rate: Option<BitRate>,
    reads_segments: bool,
}

impl PlugIn {
    /// A controller that fits a link.
    ///
    /// # Errors
    /// If the controller cannot work on this link, or its initial rate is impossible there.
    pub fn new(factory: Arc<dyn Factory>, link: Context) -> Result<Self, ConfigError> {
        let mut plug_in = Self::unchecked(factory, false);
        plug_in.reads_segments = plug_in.build(link, Instant::ZERO)?.reads_segments();
        Ok(plug_in)
    }

    /// A controller of a document, which [`Config::build`](Config::build) compares with
    /// its link later.
    #[must_use]
    pub fn unchecked(factory: Arc<dyn Factory>, reads_segments: bool) -> Self {
        let initial_rate = factory.initial_rate();
        Self { factory, initial_rate, reads_segments }
    }

    /// Builds the machine of a link whose run begins at `start`.
    pub(crate) fn build(&self, link: Context, start: Instant) -> Result<Box<dyn Controller>, ConfigError> {
        self.initial_rate.map_or(Ok(()), |rate| link.check_rate("initial_rate", rate))?;
        self.factory.build(link, start)
    }

    /// The maker of its machines.
    #[must_use]
    pub fn factory(&self) -> &dyn Factory {
        &*self.factory
    }

    /// The rate at the start; `None` for the link's own rate.
    #[must_use]
    pub fn initial_rate(&self) -> Option<BitRate> {
        self.initial_rate
    }

    /// Returns true if its machines read segments and acknowledgements.
    #[must_use]
    pub fn reads_segments(&self) -> bool {
        self.reads_segments
    }
}

impl PartialEq for PlugIn {
    fn eq(&self, other: &Self) -> bool {
        plug_in::same(&self.factory, &other.factory, |factory| factory.table())
    }
}

impl Serialize for PlugIn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        plug_in::write(self.factory.table(), self.factory.name(), serializer)
    }
}

// After the trait `Controller`: enum_dispatch reads a trait before its enum, so that both kinds of `Running` can have one
// name.
mod kinds;
mod low_power;

pub use kinds::{Config, Kind, Properties, Running};
pub use low_power::LowPowerTimes;
