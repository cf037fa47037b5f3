//! The trait of congestion controls, and the events that an endpoint reports to them.

use crate::delivery::{DeliveryRate, LostSegment, RateSample};
use crate::recovery::RecoveryPhase;
use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;
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

/// The news of an acknowledgement about the path, for algorithms that want [deliveries](CongestionControl::wants_deliveries).
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
#[auto_impl(Box)]
#[enum_dispatch]
pub trait CongestionControl {
    /// The congestion window, without what recovery adds to it for a while.
    fn cwnd(&self) -> u64;

    /// The slow-start threshold.
    fn ssthresh(&self) -> u64;

    /// Before the first event: the seed of the algorithm's random decisions.
    fn reseed(&mut self, _seed: u32) {}

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
