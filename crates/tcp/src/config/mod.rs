//! The configuration of an endpoint.

mod error;
mod groups;
mod options;

pub use crate::cc::Algorithm;
pub use error::ConfigError;
pub use groups::{Acknowledgements, CongestionWindow, FlowControl, Recovery, RetransmissionTimer};
pub use options::{
    ApplicationRead, CwndUnit, DelayedAck, DuplicateAck, Ecn, FastRetransmitTimer, FullAck, Growth, HandshakeRtt,
    Increase, InitialWindow, LossRecovery, PartialAckTimer, RackClock, RepeatedTimeout, RttClock, RttSampling,
    SackCompression, SackDetection, ShrunkWindow, SsthreshFrom, TimeoutFlight, VegasBounds, VegasFlavour,
    WindowReduction, WindowUpdate,
};

use crate::cc::{ControllerFactory, Foreign};
use crate::segment::TIMESTAMPS_PADDED;
use error::expect;
use netlull_units::Duration;
use std::sync::Arc;

/// The longest tick of the timestamp clock (RFC 7323 section 5.4).
const SLOWEST_TIMESTAMP_CLOCK: Duration = Duration::from_secs(1);
/// The smallest segment: as in Linux (`TCP_MIN_SND_MSS`), with room for options beside some data.
const SMALLEST_MSS: u16 = 48;

/// Everything that can be chosen about an endpoint.
///
/// The defaults follow the RFCs; [`Config::ns2`] follows ns-2.35, [`Config::freebsd_4_5`] a kernel of 2002, [`Config::linux_6`] today's. Call [`Config::validate`] once, then trust it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Congestion control. Default: NewReno.
    pub congestion_control: Algorithm,
    /// The congestion window.
    pub cwnd: CongestionWindow,
    /// Detection and repair of losses.
    pub recovery: Recovery,
    /// The retransmission timer and its round-trip samples.
    pub timer: RetransmissionTimer,
    /// Acknowledgements of received data.
    pub acks: Acknowledgements,
    /// Buffers and the windows that they advertise.
    pub flow_control: FlowControl,
    /// Explicit congestion notification. Default: off.
    pub ecn: Ecn,
    /// Largest segment in bytes, announced in the SYN and not exceeded in sending; as RFC 6691 has it, options come
    /// out of it, so with timestamps a full segment carries 12 bytes less. Default: 1460 (an MTU of 1500 less 40).
    pub mss: u16,
    /// Offer timestamps (RFC 7323 section 3), and with them PAWS. Default: true.
    pub timestamps: bool,
    /// Tick of the timestamp clock. Default: 1 ms (RFC 7323 section 5.4 allows 1 ms to 1 s; Linux).
    pub timestamp_granularity: Duration,
    /// Nagle's algorithm: hold small segments while data is in flight (RFC 9293 section 3.7.4). Default: false.
    pub nagle: bool,
    /// Time spent in TIME-WAIT. Default: 60 s (Linux `TCP_TIMEWAIT_LEN`; RFC 9293's 2 MSL would be 4 min).
    pub time_wait: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            congestion_control: Algorithm::NewReno,
            cwnd: CongestionWindow::default(),
            recovery: Recovery::default(),
            timer: RetransmissionTimer::default(),
            acks: Acknowledgements::default(),
            flow_control: FlowControl::default(),
            ecn: Ecn::Off,
            mss: 1460,
            timestamps: true,
            timestamp_granularity: Duration::from_millis(1),
            nagle: false,
            time_wait: Duration::from_secs(60),
        }
    }
}

impl Config {
    /// Chooses a congestion control of another crate. Loss recovery and ECN stay as they are.
    #[must_use]
    pub fn with_congestion_control(self, factory: Arc<dyn ControllerFactory>) -> Self {
        Self { congestion_control: Algorithm::Foreign(Foreign(factory)), ..self }
    }

    /// Data in a full segment between two endpoints of this configuration, bytes (RFC 6691 section 2).
    #[must_use]
    pub fn full_segment(&self) -> u16 {
        let options = if self.timestamps { TIMESTAMPS_PADDED } else { 0 };
        self.mss.saturating_sub(options).max(1)
    }

    /// This configuration with a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Checks every field.
    ///
    /// # Errors
    /// Names the first field that is wrong, its value and what was expected.
    pub fn validate(&self) -> Result<(), ConfigError> {
        expect(self.mss >= SMALLEST_MSS, "mss", self.mss, "at least 48 bytes")?;
        self.flow_control.validate(self.mss)?;
        let fits = self.flow_control.shrunk_window == ShrunkWindow::Keep || self.recovery.counts_duplicates();
        expect(fits, "shrunk_window", "pull_back", "keep, or loss_recovery tahoe, reno or new_reno")?;
        self.acks.validate()?;
        let granularity = self.timestamp_granularity;
        let fits = !granularity.is_zero() && granularity <= SLOWEST_TIMESTAMP_CLOCK;
        expect(fits, "timestamp_granularity", granularity, "more than 0 s and at most 1 s (RFC 7323 section 5.4)")?;
        self.timer.validate()?;
        self.cwnd.validate()?;
        self.recovery.validate()
    }
}
