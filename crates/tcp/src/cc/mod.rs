//! Congestion control: how much may be in flight.
//!
//! Congestion control and loss recovery are separate and compose: recovery decides what to retransmit, when a loss is
//! declared and when it is repaired; a [`CongestionControl`] hears of that and of every acknowledgement, and decides
//! cwnd and ssthresh.

mod bbr;
mod bic;
mod compound;
mod cube_root;
mod cubic;
mod cubic_2_6_22;
mod dctcp;
mod delay;
mod hystart;
mod linux;
mod linux_6;
mod parameters;
mod reno;
mod reno_2_6_22;
mod vegas;

pub use bbr::Bbr;
pub use bic::Bic;
pub use compound::Compound;
pub use cubic::Cubic;
pub use cubic_2_6_22::Cubic2622;
pub use dctcp::Dctcp;
pub use linux_6::{Cubic6, Reno6};
pub use parameters::ParameterInfo;
pub use reno::Reno;
pub use reno_2_6_22::Reno2622;
pub use vegas::Vegas;

use crate::config::{Algorithm, Config, CwndUnit};
use crate::delivery::{DeliveryRate, LostSegment, RateSample};
use crate::recovery::RecoveryPhase;
use netlull_units::{BitRate, Duration, Instant};

/// The start of data transmission.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Now.
    pub now: Instant,
    /// SMSS: data in a full segment, in bytes.
    pub smss: u32,
    /// The initial window in bytes.
    pub initial_window: u64,
    /// The handshake's round trip, if it was measured.
    pub rtt: Option<Duration>,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Now.
    pub now: Instant,
    /// Bytes newly acknowledged: what SND.UNA advanced by.
    pub acked: u64,
    /// Bytes newly known to have arrived, by SND.UNA or by SACK; without SACK, the same as `acked`.
    pub delivered: u64,
    /// Stream offset up to which all is acknowledged now.
    pub una: u64,
    /// Stream offset up to which data has been sent: the end of the current round trip.
    pub nxt: u64,
    /// Bytes in flight before this acknowledgement (with SACK: RFC 6675's pipe).
    pub flight_before: u64,
    /// Bytes in flight after it.
    pub flight: u64,
    /// The round trip that this acknowledgement ends, as exactly as it is known; `None` if it may be that of a
    /// retransmission (Karn's algorithm) or is not measured.
    pub rtt: Option<Duration>,
    /// The smoothed round trip, this sample included; `None` before the first.
    pub srtt: Option<Duration>,
    /// True if it carries an ECN echo (RFC 3168; with DCTCP, RFC 8257, the echo of the very segments acknowledged).
    pub ece: bool,
    /// Where recovery stood when it came.
    pub phase: RecoveryPhase,
}

/// A loss, found by duplicate acknowledgements, by SACK or by a timer; or a congestion mark.
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

/// A transmission of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// When it was sent.
    pub at: Instant,
    /// Which of its transmissions it was: 1 is the first.
    pub count: u32,
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

/// What an acknowledgement says of the path, for algorithms that want [deliveries](CongestionControl::wants_deliveries).
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Now.
    pub now: Instant,
    /// The sample of the delivery rate.
    pub sample: RateSample,
    /// Bytes in flight after the acknowledgement.
    pub inflight: u64,
    /// True if the congestion window was fully used at some moment of the last round trip.
    pub is_cwnd_limited: bool,
    /// True if acknowledgements are selective, so that more than one loss in a round trip can be told.
    pub selective: bool,
    /// Where recovery stands after the acknowledgement.
    pub phase: RecoveryPhase,
}

/// An algorithm that sets the congestion window. Windows are in bytes.
pub trait CongestionControl {
    /// The congestion window, without what recovery adds to it for a while.
    fn cwnd(&self) -> u64;

    /// The slow-start threshold.
    fn ssthresh(&self) -> u64;

    /// Data transmission can begin.
    fn on_established(&mut self, start: &Start);

    /// New data was acknowledged (`acked` > 0), in any phase of recovery.
    fn on_ack(&mut self, ack: &Ack);

    /// An acknowledgement came that does not advance SND.UNA: a duplicate, possibly with news in its SACK blocks or an
    /// ECN echo.
    fn on_duplicate_ack(&mut self, _ack: &Ack) {}

    /// A loss was found by duplicate acknowledgements, SACK or RACK: fast recovery begins. The window that this leaves
    /// is what recovery leads to; how quickly is recovery's business.
    fn on_loss(&mut self, loss: &Loss);

    /// As [`Self::on_loss`], from a recovery that knows the last transmission of the segment that was lost (Vegas').
    fn on_segment_lost(&mut self, loss: &Loss, _sent: &Transmission) {
        self.on_loss(loss);
    }

    /// An ECN echo asks for a reduction, once per window of data (RFC 3168 section 6.1.2): as a loss, unless the
    /// algorithm knows better.
    fn on_congestion_echo(&mut self, loss: &Loss) {
        self.on_loss(loss);
    }

    /// The retransmission timer expired (or recovery acts as if it had, as Tahoe's does).
    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind);

    /// Fast recovery is over.
    fn on_recovered(&mut self, recovered: &Recovered);

    /// Data follows a pause of more than an RTO.
    fn on_idle_restart(&mut self, now: Instant);

    /// True if the endpoint is to keep records of what is delivered and what is lost, for the four methods below and
    /// for [`pacing_rate`](Self::pacing_rate).
    fn wants_deliveries(&self) -> bool {
        false
    }

    /// Something was delivered; last of what is called for an acknowledgement.
    fn on_delivery(&mut self, _delivery: &Delivery, _rate: &mut DeliveryRate) {}

    /// A segment was marked lost, or its retransmission was; as often as that happens.
    fn on_marked_lost(&mut self, _now: Instant, _lost: &LostSegment, _rate: &DeliveryRate) {}

    /// Data is about to go out with nothing in flight.
    fn on_restart(&mut self, _now: Instant, _rate: &DeliveryRate) {}

    /// How fast data may go out; `None` as fast as the window lets it.
    #[inline]
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }

    /// With a pacing rate: the data that goes out at once.
    #[inline]
    fn send_quantum(&self) -> u64 {
        0
    }

    /// True if [`cwnd`](Self::cwnd) is meant for recovery too, so that nothing else is to bring it down there.
    #[inline]
    fn owns_window(&self) -> bool {
        false
    }
}

/// The algorithm of one endpoint: a closed set, so that the compiler sees through each call.
#[derive(Clone, Debug)]
pub(crate) enum Controller {
    Reno(Reno),
    Reno2622(Box<Reno2622>),
    Reno6(Box<Reno6>),
    Bbr(Box<Bbr>),
    Bic(Box<Bic>),
    Compound(Box<Compound>),
    Cubic(Box<Cubic>),
    Cubic2622(Box<Cubic2622>),
    Cubic6(Box<Cubic6>),
    Dctcp(Box<Dctcp>),
    Vegas(Box<Vegas>),
}

/// Calls the algorithm inside.
macro_rules! dispatch {
    ($controller:expr, $inner:ident => $call:expr) => {
        match $controller {
            Controller::Reno($inner) => $call,
            Controller::Reno2622($inner) => $call,
            Controller::Reno6($inner) => $call,
            Controller::Bbr($inner) => $call,
            Controller::Bic($inner) => $call,
            Controller::Compound($inner) => $call,
            Controller::Cubic($inner) => $call,
            Controller::Cubic2622($inner) => $call,
            Controller::Cubic6($inner) => $call,
            Controller::Dctcp($inner) => $call,
            Controller::Vegas($inner) => $call,
        }
    };
}

impl Controller {
    /// `seed` is for algorithms that decide at random.
    pub fn new(config: &Config, seed: u32) -> Self {
        match config.congestion_control {
            // They differ in loss recovery only.
            Algorithm::Tahoe | Algorithm::Reno | Algorithm::NewReno | Algorithm::Sack => match config.cwnd_unit {
                CwndUnit::Bytes => Self::Reno(Reno::new(config)),
                CwndUnit::Segments => Self::Reno6(Box::new(Reno6::new(config))),
            },
            Algorithm::Bbr => Self::Bbr(Box::new(Bbr::new(config, seed))),
            Algorithm::Bic => Self::Bic(Box::new(Bic::new(config))),
            Algorithm::Compound => Self::Compound(Box::new(Compound::new(config))),
            Algorithm::Cubic => match config.cwnd_unit {
                CwndUnit::Bytes => Self::Cubic(Box::new(Cubic::new(config))),
                CwndUnit::Segments => Self::Cubic6(Box::new(Cubic6::new(config))),
            },
            Algorithm::Cubic2622 => Self::Cubic2622(Box::new(Cubic2622::new(config))),
            Algorithm::Dctcp => Self::Dctcp(Box::new(Dctcp::new(config))),
            Algorithm::Reno2622 => Self::Reno2622(Box::new(Reno2622::new(config))),
            Algorithm::Vegas => Self::Vegas(Box::new(Vegas::new(config))),
        }
    }

    /// Before the first event: another seed than that of [`Self::new`].
    pub fn reseed(&mut self, seed: u32) {
        if let Self::Bbr(bbr) = self {
            bbr.reseed(seed);
        }
    }
}

impl Controller {
    #[inline(never)]
    fn cwnd_elsewhere(&self) -> u64 {
        dispatch!(self, cc => cc.cwnd())
    }

    /// As [`CongestionControl::on_ack`] with no loss being repaired and no echo, for the algorithm that needs nothing else
    /// of the acknowledgement; false for the others.
    #[inline(always)]
    pub fn opens_by(&mut self, acked: u64, flight_before: u64) -> bool {
        let Self::Reno(reno) = self else { return false };
        reno.open(acked, flight_before, RecoveryPhase::Open);
        true
    }
}

impl CongestionControl for Controller {
    #[inline(always)]
    fn cwnd(&self) -> u64 {
        if let Self::Reno(reno) = self { reno.cwnd() } else { self.cwnd_elsewhere() }
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        dispatch!(self, cc => cc.ssthresh())
    }

    fn on_established(&mut self, start: &Start) {
        dispatch!(self, cc => cc.on_established(start));
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        dispatch!(self, cc => cc.on_ack(ack));
    }

    fn on_duplicate_ack(&mut self, ack: &Ack) {
        dispatch!(self, cc => cc.on_duplicate_ack(ack));
    }

    fn on_loss(&mut self, loss: &Loss) {
        dispatch!(self, cc => cc.on_loss(loss));
    }

    fn on_segment_lost(&mut self, loss: &Loss, sent: &Transmission) {
        dispatch!(self, cc => cc.on_segment_lost(loss, sent));
    }

    fn on_congestion_echo(&mut self, loss: &Loss) {
        dispatch!(self, cc => cc.on_congestion_echo(loss));
    }

    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind) {
        dispatch!(self, cc => cc.on_timeout(loss, kind));
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        dispatch!(self, cc => cc.on_recovered(recovered));
    }

    fn on_idle_restart(&mut self, now: Instant) {
        dispatch!(self, cc => cc.on_idle_restart(now));
    }

    fn wants_deliveries(&self) -> bool {
        dispatch!(self, cc => cc.wants_deliveries())
    }

    fn on_delivery(&mut self, delivery: &Delivery, rate: &mut DeliveryRate) {
        dispatch!(self, cc => cc.on_delivery(delivery, rate));
    }

    fn on_marked_lost(&mut self, now: Instant, lost: &LostSegment, rate: &DeliveryRate) {
        dispatch!(self, cc => cc.on_marked_lost(now, lost, rate));
    }

    fn on_restart(&mut self, now: Instant, rate: &DeliveryRate) {
        dispatch!(self, cc => cc.on_restart(now, rate));
    }

    #[inline]
    fn pacing_rate(&self) -> Option<BitRate> {
        dispatch!(self, cc => cc.pacing_rate())
    }

    #[inline]
    fn send_quantum(&self) -> u64 {
        dispatch!(self, cc => cc.send_quantum())
    }

    #[inline]
    fn owns_window(&self) -> bool {
        dispatch!(self, cc => cc.owns_window())
    }
}
