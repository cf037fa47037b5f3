//! Gateways that steer TCP: they see a link's queue, the segments that enter it and the acknowledgements that come back.
//!
//! ```text
//!   senders ──► [ queue ─► transmitter ] ──► receivers      the way of the data: arrivals and departures
//!           ◄── awnd <- min(awnd, swnd) ◄──                 the way back: acknowledgements
//! ```
//!
//! [`Awm`] computes the window that is suggested, [`CEarth`] the rate of the link, [`FlowCount`] and [`RoundTrip`] what
//! both need to know of the traffic, each without a state per flow; [`Gateway`] puts them together (g-router section 2).

mod awm;
mod c_earth;
mod config;
mod flow_count;
mod machine;
mod round_trip;

pub use awm::Awm;
pub use c_earth::CEarth;
pub use config::{AwmConfig, CEarthConfig, GRouterConfig, HeldQueue, Pace, RateRule, WindowRule};
pub use flow_count::{CountedFlows, FixedFlows, FlowCount, FlowCountConfig, LinearCounting, PrintedFlows};
pub use machine::Gateway;
pub use round_trip::{FixedRoundTrip, MeasuredRoundTrip, PrintedRoundTrip, RoundTrip, RoundTripConfig};

pub use crate::view::{FlowKey, SegmentKind, SegmentView, Timestamps, spread};
