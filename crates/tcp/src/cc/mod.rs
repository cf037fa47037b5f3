//! Congestion control: how much may be in flight.
//!
//! Congestion control and loss recovery are separate and compose: recovery decides what to retransmit, when a loss is
//! declared and when it is repaired; a [`CongestionControl`] hears of that and of every acknowledgement, and decides
//! cwnd and ssthresh.

mod new_reno;

pub use new_reno::NewReno;

use crate::config::{Algorithm, Config};
use crate::recovery::RecoveryPhase;
use netlull_units::{Duration, Instant};

/// The start of data transmission.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Now.
    pub now: Instant,
    /// SMSS: data in a full segment, in bytes.
    pub smss: u32,
    /// The initial window in bytes.
    pub initial_window: u64,
}

/// An acknowledgement of new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Now.
    pub now: Instant,
    /// Bytes newly acknowledged.
    pub acked: u64,
    /// Stream offset up to which all is acknowledged now.
    pub una: u64,
    /// Stream offset up to which data has been sent: the end of the current round trip.
    pub nxt: u64,
    /// Bytes in flight before this acknowledgement.
    pub flight_before: u64,
    /// The round trip that this acknowledgement ends, if it is known (Karn's rule, timestamps).
    pub rtt: Option<Duration>,
    /// Where recovery stood when it came.
    pub phase: RecoveryPhase,
}

/// A loss, found by duplicate acknowledgements or by the timer.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Now.
    pub now: Instant,
    /// Bytes in flight, without what limited transmit added.
    pub flight: u64,
    /// min(cwnd, rwnd) in bytes.
    pub window: u64,
    /// Stream offset up to which data has been sent.
    pub nxt: u64,
}

/// How often the segment that timed out has been sent by the timer before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// Never.
    First,
    /// At least once.
    Repeated,
}

/// The end of fast recovery.
#[derive(Clone, Copy, Debug)]
pub struct Recovered {
    /// Now.
    pub now: Instant,
    /// Bytes in flight.
    pub flight: u64,
    /// The window that the recovery's rule leads to, in bytes.
    pub window: u64,
}

/// An algorithm that sets the congestion window. Windows are in bytes.
pub trait CongestionControl {
    /// The congestion window, without what recovery adds to it for a while.
    fn cwnd(&self) -> u64;

    /// The slow-start threshold.
    fn ssthresh(&self) -> u64;

    /// Data transmission can begin.
    fn on_established(&mut self, start: &Start);

    /// New data was acknowledged, in any phase of recovery.
    fn on_ack(&mut self, ack: &Ack);

    /// A loss was found by duplicate acknowledgements: fast recovery begins.
    fn on_loss(&mut self, loss: &Loss);

    /// The retransmission timer expired.
    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind);

    /// Fast recovery is over.
    fn on_recovered(&mut self, recovered: &Recovered);

    /// Data follows a pause of more than an RTO.
    fn on_idle_restart(&mut self, now: Instant);
}

/// The algorithm of one endpoint: a closed set, so that the compiler sees through each call.
#[derive(Clone, Debug)]
pub(crate) enum Controller {
    NewReno(NewReno),
}

impl Controller {
    pub fn new(config: &Config) -> Self {
        match config.congestion_control {
            Algorithm::NewReno => Self::NewReno(NewReno::new(config)),
        }
    }
}

impl CongestionControl for Controller {
    #[inline]
    fn cwnd(&self) -> u64 {
        match self {
            Self::NewReno(new_reno) => new_reno.cwnd(),
        }
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        match self {
            Self::NewReno(new_reno) => new_reno.ssthresh(),
        }
    }

    fn on_established(&mut self, start: &Start) {
        match self {
            Self::NewReno(new_reno) => new_reno.on_established(start),
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        match self {
            Self::NewReno(new_reno) => new_reno.on_ack(ack),
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        match self {
            Self::NewReno(new_reno) => new_reno.on_loss(loss),
        }
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        match self {
            Self::NewReno(new_reno) => new_reno.on_timeout(loss, kind),
        }
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        match self {
            Self::NewReno(new_reno) => new_reno.on_recovered(recovered),
        }
    }

    fn on_idle_restart(&mut self, now: Instant) {
        match self {
            Self::NewReno(new_reno) => new_reno.on_idle_restart(now),
        }
    }
}
