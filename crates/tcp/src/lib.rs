//! A TCP endpoint as a state machine. It has no clock, no input or output and no randomness, and allocates nothing
//! for a segment once the reordering buffers have grown.
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
//! The endpoint does not know the network: segments enter and leave as [`Segment`] values, and each call passes the
//! time. Stream offsets have 64 bits; only segments have 32-bit sequence numbers, so transfers may have any length.
//! Data has no content, since no rule depends on it.
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
// `number` has the casts that can lose information.
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
mod fifo;
mod jiffies;
mod number;
mod options;
mod presets;
mod recovery;
mod rtt;
mod segment;
mod seq;
mod timestamps;

pub use catalogue::{Choice, OptionInfo, options};
pub use cc::{AlgorithmInfo, Fault, KnownWith, ParameterInfo};
pub use config::{
    Acknowledgements, Algorithm, ApplicationRead, Config, ConfigError, CongestionWindow, CwndUnit, DelayedAck,
    DuplicateAck, Ecn, FastRetransmitTimer, FlowControl, FullAck, Growth, HandshakeRtt, Increase, InitialWindow,
    LossRecovery, PartialAckTimer, RackClock, Recovery, RepeatedTimeout, RetransmissionTimer, RttClock, RttSampling,
    SackCompression, SackDetection, ShrunkWindow, SsthreshFrom, TimeoutFlight, Undo, VegasBounds, VegasFlavour,
    WindowReduction, WindowUpdate,
};
pub use counters::Counters;
pub use endpoint::{Data, Endpoint, State, Template};
pub use options::TcpOptions;
pub use presets::Preset;
pub use recovery::RecoveryPhase;
pub use segment::{Flags, MOST_SACK_BLOCKS, SackBlock, Segment};
pub use seq::SeqNr;
