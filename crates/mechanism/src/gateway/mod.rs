//! Gateways that control TCP from a link's queue, the segments that enter it and the returning acknowledgements.
//!
//! ```text
//!   senders ──► [ queue ─► transmitter ] ──► receivers      forward direction: arrivals and departures
//!           ◄── awnd <- min(awnd, swnd) ◄──                 reverse direction: acknowledgements
//! ```
//!
//! [`Awm`] computes the suggested window and [`CEarth`] the rate of the link. [`FlowCount`] and [`RoundTrip`]
//! estimate the traffic for both, without per-flow state. [`Gateway`] combines them (g-router section 2), or AWM with
//! EARTH ([`crate::rate::Earth`]).

mod awm;
mod c_earth;
mod config;
mod flow_count;
mod machine;
mod round_trip;

pub use awm::Awm;
pub use c_earth::CEarth;
pub use config::{
    AwmConfig, AwmEarthConfig, CEarthConfig, GRouterConfig, HeldQueue, Pace, QueueTarget, RateRule, WindowRule,
};
pub use flow_count::{CountedFlows, FixedFlows, FlowCount, FlowCountConfig, LinearCounting, PrintedFlows};
pub use machine::Gateway;
pub use round_trip::{FixedRoundTrip, MeasuredRoundTrip, PrintedRoundTrip, RoundTrip, RoundTripConfig};

pub use crate::view::{FlowKey, SegmentKind, SegmentView, Timestamps, spread, window_field};
