//! The configuration of an endpoint.

mod error;
mod groups;
mod options;

pub use crate::cc::Algorithm;
pub use error::ConfigError;
pub(crate) use groups::LARGEST_BUFFER;
pub use groups::{Acknowledgements, CongestionWindow, FlowControl, Recovery, RetransmissionTimer};
pub use options::{
    ApplicationRead, CwndUnit, DelayedAck, DuplicateAck, Ecn, FastRetransmitTimer, FullAck, Growth, HandshakeRtt,
    Increase, InitialWindow, LossRecovery, PartialAckTimer, RackClock, RepeatedTimeout, RttClock, RttSampling,
    SackCompression, SackDetection, ShrunkWindow, SsthreshFrom, TimeoutFlight, Undo, VegasBounds, VegasFlavour,
    WindowReduction, WindowUpdate,
};

use crate::cc::{CongestionControlFactory, PlugIn};
use crate::segment::TIMESTAMPS_PADDED;
use error::expect;
use netlull_units::Duration;
use std::sync::Arc;

/// The longest tick of the timestamp clock (RFC 7323 section 5.4).
const SLOWEST_TIMESTAMP_CLOCK: Duration = Duration::from_secs(1);
/// The smallest segment, as in Linux (`TCP_MIN_SND_MSS`): room for options and some data.
pub(crate) const SMALLEST_MSS: u16 = 48;

/// All options of an endpoint.
///
/// The defaults follow the RFCs, [`Config::ns2`] follows ns-2.35, [`Config::freebsd_4_5`] a kernel of 2002, and
/// [`Config::linux_6`] a current one. Call [`Config::validate`] once; endpoints do not check again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Congestion control.
    pub congestion_control: Algorithm,
    /// Congestion window.
    pub cwnd: CongestionWindow,
    /// Detection and repair of losses.
    pub recovery: Recovery,
    /// Retransmission timer and its round-trip samples.
    pub timer: RetransmissionTimer,
    /// Acknowledgements of received data.
    pub acks: Acknowledgements,
    /// Buffers, and the windows that they advertise.
    pub flow_control: FlowControl,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// Largest segment in bytes, announced in the SYN and never exceeded. It includes options (RFC 6691), so with timestamps
    /// a full segment has 12 bytes less of data.
    pub mss: u16,
    /// Offer of timestamps (RFC 7323 section 3), and with them PAWS.
    pub timestamps: bool,
    /// Tick of the timestamp clock; RFC 7323 section 5.4 allows 1 ms to 1 s.
    pub timestamp_granularity: Duration,
    /// Nagle's algorithm: small segments wait while data is in flight (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// Duration of TIME-WAIT.
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
            // An MTU of 1500 bytes less 40 of headers.
            mss: 1460,
            timestamps: true,
            // As in Linux.
            timestamp_granularity: Duration::from_millis(1),
            nagle: false,
            // Linux `TCP_TIMEWAIT_LEN`; 2 MSL of RFC 9293 would be 4 min.
            time_wait: Duration::from_secs(60),
        }
    }
}

impl Config {
    /// Sets a congestion control of another crate. Loss recovery and ECN stay.
    #[must_use]
    pub fn with_congestion_control(self, factory: Arc<dyn CongestionControlFactory>) -> Self {
        Self { congestion_control: Algorithm::PlugIn(PlugIn(factory)), ..self }
    }

    /// The data in a full segment between two endpoints of this configuration, bytes (RFC 6691 section 2).
    #[must_use]
    pub fn full_segment(&self) -> u16 {
        let options = if self.timestamps { TIMESTAMPS_PADDED } else { 0 };
        self.mss.saturating_sub(options).max(1)
    }

    /// Returns this configuration with a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Checks the fields against each other, and those that are no option.
    pub(crate) fn check_combinations(&self) -> Result<(), ConfigError> {
        expect(self.mss >= SMALLEST_MSS, "mss", self.mss, "at least 48 bytes")?;
        self.flow_control.check(self.mss)?;
        let fits = self.flow_control.shrunk_window == ShrunkWindow::Keep || self.recovery.counts_duplicates();
        expect(fits, "shrunk_window", "pull_back", "keep, or loss_recovery tahoe, reno or new_reno")?;
        let granularity = self.timestamp_granularity;
        let fits = !granularity.is_zero() && granularity <= SLOWEST_TIMESTAMP_CLOCK;
        expect(fits, "timestamp_granularity", granularity, "more than 0 s and at most 1 s (RFC 7323 section 5.4)")?;
        self.timer.check()?;
        self.cwnd.check()?;
        self.recovery.check()?;
        match &self.congestion_control {
            Algorithm::PlugIn(factory) => factory.check(self),
            _ => Ok(()),
        }
    }
}
