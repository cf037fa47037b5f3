//! Machines that control a link: they choose its service rate, steer the windows of the TCPs that cross it, or both.
//!
//! ```text
//!   senders ──► [ queue ─► transmitter ] ──► receivers      data: arrivals and departures
//!           ◄──── awnd <- min(awnd, swnd) ◄────             acknowledgements, for controllers that read segments
//! ```
//!
//! [`LinkMechanism`] is a controller's kind with its parameters, [`LinkMachine`] the running machine. Both come from the
//! list at the end of this file: a new controller is one file and one line there.

use crate::gateway::{AwmConfig, CEarthConfig, GRouterConfig, Gateway, SegmentView};
use crate::rate::{Admission, Earth, EarthConfig, PractRa, PractRaConfig, QueueView};
use crate::{ConfigError, Machine, MechanismInfo};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
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

    /// Whether it reads segments and acknowledgements.
    fn reads_segments(&self) -> bool {
        false
    }

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

/// A controller from outside this crate. It lives in one process: plans and tapes cannot hold it.
#[derive(Clone, Debug)]
pub struct ForeignLink(pub Arc<dyn LinkFactory>);

impl PartialEq for ForeignLink {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
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

/// A kind of controller, as documents name it.
#[derive(Clone, Copy, Debug)]
pub struct LinkKind {
    /// Its name.
    pub name: &'static str,
    /// Whether it changes the link's rate.
    pub changes_rate: bool,
    /// Whether it reads segments and acknowledgements.
    pub reads_segments: bool,
    /// Its parameters' names.
    pub fields: fn() -> Vec<String>,
    /// The JSON Schema of its parameters, a table.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Its description.
    pub info: fn() -> MechanismInfo,
    read: fn(&Value) -> Result<LinkMechanism, netlull_describe::ReadError>,
}

macro_rules! link_mechanisms {
    ($($name:literal => $variant:ident($config:ty) -> $machine:ty;)+) => {
        /// A link controller with its parameters, as a document gives them.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        pub enum LinkMechanism {
            $(#[doc = concat!("`", $name, "`.")] #[serde(rename = $name)] $variant($config),)+
            /// A controller from outside.
            #[serde(skip)]
            Foreign(ForeignLink),
        }

        /// A running link controller.
        #[derive(Debug)]
        pub enum LinkMachine {
            $(#[doc = concat!("`", $name, "`.")] $variant($machine),)+
            /// A controller from outside.
            Foreign(Box<dyn LinkController>),
        }

        netlull_describe::read_by_kind!(LinkMechanism: $($name => $variant($config)),+);

        impl LinkMechanism {
            /// Every kind, in the order of the documentation.
            pub const KINDS: &'static [LinkKind] = &[$(LinkKind {
                name: $name,
                changes_rate: <$config as LinkConfig>::CHANGES_RATE,
                reads_segments: <$config as LinkConfig>::READS_SEGMENTS,
                fields: || MechanismInfo::of::<$config>($name).parameters.into_iter().map(|each| each.name).collect(),
                schema: <$config>::json_schema,
                info: || MechanismInfo::of::<$config>($name),
                read: |fields| netlull_describe::read::<$config>(fields).map(LinkMechanism::$variant),
            }),+];

            /// The kind's name.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Foreign(foreign) => foreign.0.name(),
                }
            }

            /// Checks every value, and those that must fit the link.
            ///
            /// # Errors
            /// Names the first field that is out of range, its value and what was expected.
            pub fn check(&self, link: LinkContext) -> Result<(), ConfigError> {
                match self {
                    $(Self::$variant(config) => config.check(link),)+
                    Self::Foreign(foreign) => foreign.0.build(link, Instant::ZERO).map(|_| ()),
                }
            }

            /// The machine of a link whose run begins at `start`.
            ///
            /// # Errors
            /// As [`LinkMechanism::check`].
            pub fn build(&self, link: LinkContext, start: Instant) -> Result<LinkMachine, ConfigError> {
                Ok(match self {
                    $(Self::$variant(config) => LinkMachine::$variant(config.build(link, start)?.into()),)+
                    Self::Foreign(foreign) => LinkMachine::Foreign(foreign.0.build(link, start)?),
                })
            }

            /// Whether the controller reads segments and acknowledgements.
            #[must_use]
            pub fn reads_segments(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$config as LinkConfig>::READS_SEGMENTS,)+
                    Self::Foreign(foreign) => foreign.0.reads_segments(),
                }
            }

            /// The lowest rate that the controller may choose, and the parameter's name; `None` if it leaves the rate alone.
            #[must_use]
            pub fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
                match self {
                    $(Self::$variant(config) => config.lowest_rate(),)+
                    Self::Foreign(_) => None,
                }
            }

            /// The rate at the start; `None` for the link's.
            #[must_use]
            pub fn initial_rate(&self) -> Option<BitRate> {
                match self {
                    $(Self::$variant(config) => config.initial_rate(),)+
                    Self::Foreign(foreign) => foreign.0.initial_rate(),
                }
            }
        }

        impl Machine for LinkMachine {
            type Event = LinkEvent;
            type Action = LinkAction;

            #[inline(always)]
            fn handle(&mut self, now: Instant, event: LinkEvent) {
                match self {
                    $(Self::$variant(machine) => machine.handle(now, event),)+
                    Self::Foreign(machine) => machine.handle(now, event),
                }
            }

            #[inline(always)]
            fn poll_action(&mut self) -> Option<LinkAction> {
                match self {
                    $(Self::$variant(machine) => machine.poll_action(),)+
                    Self::Foreign(machine) => machine.poll_action(),
                }
            }

            #[inline(always)]
            fn next_timeout(&self) -> Option<Instant> {
                match self {
                    $(Self::$variant(machine) => machine.next_timeout(),)+
                    Self::Foreign(machine) => machine.next_timeout(),
                }
            }
        }

        impl LinkController for LinkMachine {
            fn rate(&self) -> BitRate {
                match self {
                    $(Self::$variant(machine) => machine.rate(),)+
                    Self::Foreign(machine) => machine.rate(),
                }
            }

            fn changes(&self) -> u64 {
                match self {
                    $(Self::$variant(machine) => machine.changes(),)+
                    Self::Foreign(machine) => machine.changes(),
                }
            }

            #[inline(always)]
            fn reads_segments(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$config as LinkConfig>::READS_SEGMENTS,)+
                    Self::Foreign(machine) => machine.reads_segments(),
                }
            }

            #[inline(always)]
            fn estimates(&self) -> Estimates {
                match self {
                    $(Self::$variant(machine) => machine.estimates(),)+
                    Self::Foreign(machine) => machine.estimates(),
                }
            }
        }
    };
}

impl LinkMechanism {
    /// The kind of that name.
    #[must_use]
    pub fn kind(name: &str) -> Option<&'static LinkKind> {
        Self::KINDS.iter().find(|kind| kind.name == name)
    }
}

impl LinkKind {
    /// Reads the parameters of a controller of this kind from a table.
    ///
    /// # Errors
    /// Names the field by its path, its value and the expectation.
    pub fn read(&self, fields: &Value) -> Result<LinkMechanism, netlull_describe::ReadError> {
        (self.read)(fields)
    }
}

link_mechanisms! {
    "practra" => PractRa(PractRaConfig) -> PractRa;
    "earth" => Earth(EarthConfig) -> Earth;
    "awm" => Awm(AwmConfig) -> Box<Gateway>;
    "c_earth" => CEarth(CEarthConfig) -> Box<Gateway>;
    "g_router" => GRouter(GRouterConfig) -> Box<Gateway>;
}
