//! A TCP endpoint as a state machine: no clock, no input or output, no randomness, and nothing allocated for a
//! segment once the buffers for reordering have grown.
//!
//! ```text
//!    application                         driver (simulator, test)
//!   open send close read          handle_segment  handle_timeout  poll_transmit  next_timeout
//!        |                               |               |              ^             ^
//!   +----v-------------------------------v---------------v--------------+-------------+----+
//!   | Endpoint                                                                             |
//!   |   handshake and closing     sender: stream offsets, windows      receiver: gaps,     |
//!   |   (RFC 9293)                (RFC 9293 3.8)                       acknowledgements    |
//!   |                                   |                                                  |
//!   |   RTT and RTO (RFC 6298) <--- acknowledgements ---> recovery: what is lost (RFC 6582)|
//!   |   timestamps (RFC 7323)           |                          |                       |
//!   |                                   +----> congestion control: cwnd, ssthresh (cc)     |
//!   +--------------------------------------------------------------------------------------+
//! ```
//!
//! The endpoint knows no network: segments come and go as [`Segment`] values, and time comes in with each call.
//! Streams are counted in 64-bit offsets; only segments have 32-bit sequence numbers, so transfers may be of any
//! length. Data has no content, since nothing here depends on it.
//!
//! ```
//! use netlull_tcp::{Config, Data, Endpoint, SeqNr};
//! use netlull_units::Instant;
//!
//! let config = Config::default();
//! let (mut client, mut server) = (Endpoint::client(&config, SeqNr::new(0)), Endpoint::server(&config, SeqNr::new(0)));
//! let now = Instant::ZERO;
//! client.open(now);
//! client.send(Data::Bytes(10_000));
//! // A path without delay: hand segments over until both are silent.
//! loop {
//!     let mut silent = true;
//!     while let Some(segment) = client.poll_transmit(now) {
//!         silent = false;
//!         server.handle_segment(now, &segment);
//!     }
//!     while let Some(segment) = server.poll_transmit(now) {
//!         silent = false;
//!         client.handle_segment(now, &segment);
//!     }
//!     if silent {
//!         break;
//!     }
//! }
//! assert_eq!(server.bytes_delivered(), 10_000);
//! ```
#![forbid(unsafe_code)]
// `number` has the casts that lose something.
#![cfg_attr(
    not(test),
    warn(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::float_cmp)
)]

mod catalogue;
pub mod cc;
mod config;
mod counters;
pub mod delivery;
mod endpoint;
mod number;
mod options;
mod presets;
mod recovery;
mod rtt;
mod segment;
mod seq;
mod timestamps;

pub use catalogue::{AlgorithmInfo, Choice, KnownWith, OptionInfo, options};
pub use cc::ParameterInfo;
pub use config::{
    Acknowledgements, Algorithm, ApplicationRead, Config, ConfigError, CongestionWindow, CwndUnit, DelayedAck,
    DuplicateAck, Ecn, FastRetransmitTimer, FlowControl, FullAck, Growth, HandshakeRtt, Increase, InitialWindow,
    LossRecovery, PartialAckTimer, RackClock, Recovery, RepeatedTimeout, RetransmissionTimer, RttClock, RttSampling,
    SackCompression, SackDetection, ShrunkWindow, SsthreshFrom, TimeoutFlight, VegasBounds, VegasFlavour,
    WindowReduction, WindowUpdate,
};
pub use counters::Counters;
pub use endpoint::{Data, Endpoint, State, Template};
pub use options::TcpOptions;
pub use presets::Preset;
pub use recovery::RecoveryPhase;
pub use segment::{Flags, MOST_SACK_BLOCKS, SackBlock, Segment};
pub use seq::SeqNr;
