//! The choices that [`Config`](super::Config) offers, one enum per question on which TCPs differ.

use netlull_units::Duration;

/// Which algorithm sets the congestion window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Slow start and congestion avoidance of RFC 5681, with the recovery of RFC 6582.
    #[default]
    NewReno,
}

/// How the receiving application takes what has arrived in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// At once.
    #[default]
    Immediate,
    /// When it calls [`Endpoint::read`](crate::Endpoint::read); what it has not read closes the window.
    OnDemand,
}

/// When the receiver acknowledges data that is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every segment at once (ns-2's `TCPSink`).
    Off,
    /// Every second full-sized segment, or `timeout` after the first unacknowledged one (RFC 5681 section 4.2).
    EverySecond {
        /// Longest delay; at most 500 ms (RFC 5681 section 4.2).
        timeout: Duration,
    },
}

/// How the retransmission timer measures time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttClock {
    /// Samples to the nanosecond (to a tick of the timestamp clock when they come from timestamps); the granularity
    /// G enters only as RFC 6298 has it: RTO = SRTT + max(G, 4 RTTVAR).
    Fine {
        /// G.
        granularity: Duration,
    },
    /// ns-2 and BSD: samples are whole ticks (at least one) counted from the tick in which the segment was sent;
    /// SRTT and RTTVAR are integers in 1/8 and 1/4 ticks, and the RTO is a whole number of ticks, at least two.
    /// Beyond a backoff of 8 the smoothed RTT is forgotten. Ticks begin at time zero (ns-2: at a random phase).
    Ticks {
        /// Length of a tick.
        tick: Duration,
    },
}

/// Which acknowledgements update the smoothed RTT when timestamps would allow each one to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttSampling {
    /// One per window of data, so that the gains 1/8 and 1/4 keep the memory that RFC 6298 means them to have
    /// (RFC 7323 section 4.2 asks for a similar memory; its appendix G scales the gains instead).
    #[default]
    OncePerWindow,
    /// Each acknowledgement of new data, with unscaled gains.
    EveryAck,
}

/// Whether the handshake's round trip is a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HandshakeRtt {
    /// It is (RFC 6298).
    #[default]
    Sampled,
    /// It is not: the first data segment meets the initial RTO, as in ns-2, which has no handshake.
    Ignored,
}

/// The congestion window at the start of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialWindow {
    /// min(10 SMSS, max(2 SMSS, 14600 bytes)) (RFC 6928 equation 1).
    #[default]
    Rfc6928,
    /// So many segments.
    Segments(u32),
}

/// By how much acknowledgements open the congestion window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Increase {
    /// RFC 5681 equations 2 and 3: min(N, SMSS) per acknowledgement in slow start, SMSS^2 / cwnd in congestion
    /// avoidance. Fractions of bytes are kept, so nothing has to be rounded up.
    #[default]
    PerAck,
    /// RFC 3465, appropriate byte counting.
    ByteCounting {
        /// L: at most so many segments per acknowledgement in slow start (RFC 3465 section 2.2: 1 or 2). In the slow
        /// start after a timeout it is 1 (section 2.3).
        limit: u32,
    },
}

/// Whether an unused congestion window grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// Each acknowledgement of new data opens the window (RFC 5681 names no condition; ns-2).
    #[default]
    Always,
    /// Only if the window was what limited the sender: less than a segment of it was free when the acknowledgement
    /// came, or in slow start less than half (Linux `tcp_is_cwnd_limited`; in the spirit of RFC 7661).
    WhenLimited,
}

/// What a loss halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SsthreshFrom {
    /// The data in flight, without what limited transmit added: max(FlightSize / 2, 2 SMSS) (RFC 5681 equation 4).
    #[default]
    Flight,
    /// min(cwnd, rwnd), as ns-2 does. Half of it becomes cwnd; rounded down to whole segments, and at least two, it
    /// becomes ssthresh.
    Window,
}

/// The slow-start threshold when a segment times out again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepeatedTimeout {
    /// It stays (RFC 5681 section 3.1).
    #[default]
    Hold,
    /// It is taken anew from what is left, as in ns-2.
    Recompute,
}

/// Which acknowledgements count as duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateAck {
    /// Those that also repeat the advertised window (RFC 5681 section 2, condition e).
    #[default]
    SameWindow,
    /// All that repeat the acknowledgement number without data, as in ns-2. Where something on the path rewrites
    /// windows, condition (e) hides losses.
    AnyWindow,
}

/// The congestion window when a full acknowledgement ends fast recovery (RFC 6582 section 3.2 step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FullAck {
    /// min(ssthresh, max(FlightSize, SMSS) + SMSS): option 1, no burst.
    #[default]
    FlightLimited,
    /// ssthresh: option 2.
    Ssthresh,
    /// ns-2 (`exit_recovery_fix_` 0): what the entry into recovery left, less what partial acknowledgements took
    /// beyond the inflation; then the acknowledgement opens the window as any other.
    Deflated,
}

/// Which partial acknowledgements restart the retransmission timer (RFC 6582 sections 3.2 and 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialAckTimer {
    /// The first of a recovery: many losses end in a timeout and slow start.
    #[default]
    Impatient,
    /// Each: one retransmission per round trip, however many losses.
    SlowButSteady,
}

/// What counts as in flight when the timer expires in fast recovery.
///
/// Each duplicate acknowledgement tells of a segment that has left the network, but none of them moves SND.UNA: in a long
/// recovery SND.NXT - SND.UNA grows to many times what the path holds. Halved, it becomes an ssthresh that lets the
/// next slow start overshoot as far again, which ends in the next timeout, and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeoutFlight {
    /// At most the congestion window without its inflation: what recovery aims to keep in flight.
    #[default]
    Deflated,
    /// SND.NXT - SND.UNA, the letter of RFC 5681's definition of FlightSize.
    Cumulative,
}

/// Whether a fast retransmission restarts the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastRetransmitTimer {
    /// It keeps running (RFC 6298 section 5 restarts it for acknowledgements of new data only).
    #[default]
    Keep,
    /// It starts anew, as in ns-2 and Linux.
    Restart,
}
