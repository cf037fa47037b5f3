//! The trait of congestion controls, and the events that an endpoint reports to them.

use crate::delivery::{DeliveryRate, LostSegment, RateSample};
use crate::recovery::RecoveryPhase;
use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;
use netlull_document::ConfigError;
use netlull_units::{BitRate, Duration, Instant};
use schemars::JsonSchema;
use serde::Serialize;

/// The start of data transmission.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Start {
    /// Now.
    pub now: Instant,
    /// SMSS: data in a full segment, in bytes.
    pub smss: u32,
    /// The initial window in bytes.
    pub initial_window: u64,
    /// The handshake's round trip, if measured.
    pub rtt: Option<Duration>,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Ack {
    /// Now.
    pub now: Instant,
    /// Bytes newly acknowledged: the advance of SND.UNA.
    pub acked: u64,
    /// Bytes newly reported as arrived, by SND.UNA or by SACK. Without SACK, each duplicate before it outside recovery
    /// has reported a segment.
    pub delivered: u64,
    /// Stream offset up to which everything is acknowledged.
    pub una: u64,
    /// Stream offset up to which data has been sent: the end of the current round trip.
    pub nxt: u64,
    /// Bytes in flight before this acknowledgement (with SACK: RFC 6675's pipe).
    pub flight_before: u64,
    /// Bytes in flight after this acknowledgement.
    pub flight: u64,
    /// The round trip that this acknowledgement ends, with the best known precision. `None` if it may belong to a
    /// retransmission (Karn's algorithm), or if there is no measurement.
    pub rtt: Option<Duration>,
    /// The smoothed round trip, including this sample; `None` before the first.
    pub srtt: Option<Duration>,
    /// True with an ECN echo (RFC 3168; with DCTCP, RFC 8257, the echo of exactly the acknowledged segments).
    pub ece: bool,
    /// The phase of recovery at its arrival.
    pub phase: RecoveryPhase,
}

/// A loss, detected by duplicate acknowledgements, SACK or a timer; or a congestion mark.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Loss {
    /// Now.
    pub now: Instant,
    /// Bytes in flight, without the segments of limited transmit.
    pub flight: u64,
    /// min(cwnd, rwnd) in bytes.
    pub window: u64,
    /// Stream offset up to which data has been sent.
    pub nxt: u64,
}

/// A transmission of a segment.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Transmission {
    /// Time of the transmission.
    pub at: Instant,
    /// Its number among the transmissions of the segment: 1 is the first.
    pub count: u32,
}

/// Earlier retransmissions of a timed-out segment by the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutKind {
    /// None.
    First,
    /// At least once.
    Repeated,
}

/// A pause of the sender, with nothing in flight.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Idle {
    /// Now, at its end.
    pub now: Instant,
    /// Time of the last transmission of data.
    pub last_sent: Instant,
    /// The retransmission timeout.
    pub rto: Duration,
}

/// The end of fast recovery.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Recovered {
    /// Now.
    pub now: Instant,
    /// Bytes in flight.
    pub flight: u64,
    /// The window that the rule of the recovery sets, in bytes.
    pub window: u64,
}

/// The proof that nothing was lost before the present or last recovery: its retransmissions were needless.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Spurious {
    /// Now.
    pub now: Instant,
    /// Bytes in flight.
    pub flight: u64,
    /// The congestion window that returns, in bytes: the one before the recovery. After a timeout without the rules of
    /// Linux it is that of RFC 4015: the flight and at most an initial window more.
    pub cwnd: u64,
    /// The slow-start threshold that returns, in bytes: the larger of the one before the recovery and the data in
    /// flight then.
    pub ssthresh: u64,
    /// True if the retransmission timer had begun the recovery.
    pub timed_out: bool,
}

/// The information of an acknowledgement about the path, for algorithms that want
/// [deliveries](CongestionControl::wants_deliveries).
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Delivery {
    /// Now.
    pub now: Instant,
    /// The sample of the delivery rate.
    pub sample: RateSample,
    /// Bytes in flight after the acknowledgement.
    pub inflight: u64,
    /// True if the congestion window was fully used at some moment of the last round trip.
    pub is_cwnd_limited: bool,
    /// True if acknowledgements are selective, which can report several losses in a round trip.
    pub selective: bool,
    /// The phase of recovery after the acknowledgement.
    pub phase: RecoveryPhase,
}

/// The value of a variable of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variable<'a> {
    /// A number; infinite for a bound that does not hold.
    Number(f64),
    /// A state's name.
    Word(&'a str),
}

/// An algorithm that sets the congestion window. Windows are in bytes.
#[auto_impl(Box)]
#[enum_dispatch]
pub trait CongestionControl {
    /// The congestion window, without the temporary inflation of recovery.
    fn cwnd(&self) -> u64;

    /// The slow-start threshold.
    fn ssthresh(&self) -> u64;

    /// Sets the seed of random decisions, before the first event.
    fn reseed(&mut self, _seed: u32) {}

    /// Handles the start of data transmission.
    fn on_established(&mut self, start: &Start);

    /// Handles an acknowledgement of new data (`acked` > 0), in any phase of recovery.
    fn on_ack(&mut self, ack: &Ack);

    /// Handles an acknowledgement that does not advance SND.UNA: a duplicate, possibly with new SACK blocks or an ECN
    /// echo.
    fn on_duplicate_ack(&mut self, _ack: &Ack) {}

    /// Handles a loss detected by duplicate acknowledgements, SACK or RACK: fast recovery begins. The window set here
    /// is the target of recovery, which decides the pace of the reduction.
    fn on_loss(&mut self, loss: &Loss);

    /// Handles a loss as [`Self::on_loss`] does, from a recovery that knows the last transmission of the lost segment
    /// (Vegas').
    fn on_segment_lost(&mut self, loss: &Loss, _sent: &Transmission) {
        self.on_loss(loss);
    }

    /// Handles an ECN echo that asks for a reduction, once per window of data (RFC 3168 section 6.1.2). By default it
    /// counts as a loss.
    fn on_congestion_echo(&mut self, loss: &Loss) {
        self.on_loss(loss);
    }

    /// Handles an expiration of the retransmission timer, or the equivalent decision of a recovery such as Tahoe's.
    fn on_timeout(&mut self, loss: &Loss, kind: TimeoutKind);

    /// Handles the end of fast recovery.
    fn on_recovered(&mut self, recovered: &Recovered);

    /// Handles the proof that a recovery was needless. It may come after the end of the recovery. If it ends the
    /// recovery, [`Self::on_recovered`] follows with the window of this answer. By default the reduction stands.
    fn on_spurious(&mut self, _spurious: &Spurious) {}

    /// Handles data after a pause of more than an RTO.
    fn on_idle_restart(&mut self, idle: &Idle);

    /// Handles the transmission of new data with nothing in flight, after a pause of any length.
    fn on_flight(&mut self, _idle: &Idle) {}

    /// True if the endpoint must record deliveries and losses, for the four methods below and for
    /// [`pacing_rate`](Self::pacing_rate).
    fn wants_deliveries(&self) -> bool {
        false
    }

    /// Handles a delivery, as the last call for an acknowledgement.
    fn on_delivery(&mut self, _delivery: &Delivery, _rate: &mut DeliveryRate) {}

    /// Handles each mark of a segment or of its retransmission as lost.
    fn on_marked_lost(&mut self, _now: Instant, _lost: &LostSegment, _rate: &DeliveryRate) {}

    /// Handles a transmission with nothing in flight.
    fn on_restart(&mut self, _now: Instant, _rate: &DeliveryRate) {}

    /// The pacing rate; `None` if only the window limits transmission.
    #[inline]
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }

    /// The data that may go out at once, with a pacing rate.
    #[inline]
    fn send_quantum(&self) -> u64 {
        0
    }

    /// The reason why the algorithm works no more, if it has failed. It ends the run.
    fn failure(&self) -> Option<&ConfigError> {
        None
    }

    /// Reports the variables of the algorithm to an observer, with the names and units of its specification. The order
    /// is the same in each call.
    ///
    /// # Errors
    /// If the report fails. It ends the run.
    fn variables(&self, _each: &mut dyn FnMut(&str, Variable<'_>)) -> Result<(), ConfigError> {
        Ok(())
    }

    /// True if [`cwnd`](Self::cwnd) also holds in recovery, which then must not reduce the window itself.
    #[inline]
    fn owns_window(&self) -> bool {
        false
    }
}
