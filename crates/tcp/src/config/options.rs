//! The choices that [`Config`](super::Config) offers, one enum per question on which TCPs differ.

use netlull_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossRecovery {
    /// Three duplicate acknowledgements, then everything again in slow start.
    #[schemars(extend("x-source" = "Jacobson 1988"))]
    Tahoe,
    /// RFC 2581: fast recovery until the first acknowledgement of new data.
    #[schemars(extend("x-source" = "RFC 2581"))]
    Reno,
    /// RFC 6582: fast recovery until all is acknowledged that was sent before it.
    #[schemars(extend("x-source" = "RFC 6582"))]
    #[default]
    NewReno,
    /// Vegas': early retransmission of segments older than a fine-grained timeout.
    // Vegas' (Brakmo and Peterson 1995 section 3.1, as ns-2's `Agent/TCP/Vegas` has it): any duplicate acknowledgement
    // means a loss if the segment is older than a fine-grained timeout, so does the third; the first acknowledgement
    // of new data ends the inflation.
    #[schemars(extend("x-source" = "Brakmo, Peterson 1995; ns-2.35"))]
    Vegas,
    /// RFC 6675: selective acknowledgements.
    #[schemars(extend("x-source" = "RFC 2018, RFC 6675"))]
    Sack,
    /// RFC 8985: RACK-TLP.
    // The times of transmissions tell of losses, and a probe finds losses at the tail.
    #[schemars(extend("x-source" = "RFC 8985"))]
    Rack,
}

/// When SACK blocks mean a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SackDetection {
    /// Three blocks or more than two segments above it (RFC 6675).
    #[schemars(extend("x-source" = "RFC 6675"))]
    #[default]
    Rfc6675,
    /// More than three segments below the highest one acknowledged (forward acknowledgement, Linux 2.6).
    // It lies more than three segments below the highest one acknowledged; a retransmission is lost once what was
    // sent after it is acknowledged (forward acknowledgement: Mathis and Mahdavi 1996, Linux 2.6, ns-2's TCP/Linux).
    #[schemars(extend("x-source" = "Mathis, Mahdavi 1996; Linux 2.6"))]
    Forward,
    /// Every third duplicate acknowledgement, and then all below the highest one acknowledged (ns-2's Sack1).
    // The third duplicate acknowledgement with news begins recovery, in which everything below the highest one
    // acknowledged counts as lost, and each acknowledgement as a segment that has left the network (Fall and Floyd
    // 1996 section 5, ns-2's `Agent/TCP/Sack1`). The window comes down at once.
    #[schemars(extend("x-source" = "Fall, Floyd 1996; ns-2.35"))]
    Counting,
}

/// How the window comes down in recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindowReduction {
    /// At once (RFC 6675).
    #[schemars(extend("x-source" = "RFC 6675 section 5"))]
    Immediate,
    /// In proportion to what is delivered (RFC 6937).
    #[schemars(extend("x-source" = "RFC 6937"))]
    #[default]
    Proportional,
    /// A segment for every two acknowledged (Linux 2.6).
    #[schemars(extend("x-source" = "Hoe 1995; Linux 2.6"))]
    RateHalving,
    /// In proportion to what is delivered, from cwnd and in whole segments (Linux 6).
    // RFC 6937 as Linux 6 has it (`tcp_cwnd_reduction`): counted from cwnd instead of the flight, in whole segments, one segment at
    // least at the start; below ssthresh a segment beyond what is delivered goes out only for acknowledgements that advance SND.UNA
    // and tell of no loss (RFC 9937's SafeACK). A retransmission that is lost does not reduce again.
    #[schemars(extend("x-source" = "RFC 6937; Linux 6 tcp_cwnd_reduction"))]
    #[serde(rename = "linux_6")]
    Linux6,
}

/// What congestion windows are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CwndUnit {
    /// Bytes (RFC 5681, RFC 9438).
    #[schemars(extend("x-source" = "RFC 5681, RFC 9438"))]
    #[default]
    Bytes,
    /// Whole segments, with the arithmetic and the rules of growth of Linux 6.
    // Whole segments with the integers of Linux 6 (`tcp_cong.c`, `tcp_cubic.c`): slow start by all that is acknowledged, half of cwnd
    // after a loss, growth while the window was full within the last round trip; CUBIC with HyStart (Ha, Rhee 2011).
    #[schemars(extend("x-source" = "Linux 6 tcp_cong.c, tcp_cubic.c"))]
    Segments,
}

/// The clock of the timers of RACK-TLP, those of reordering and of the tail's probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RackClock {
    /// To the nanosecond (RFC 8985).
    #[default]
    Fine,
    /// Linux 6 with HZ = 250: 2 ms (`TCP_TIMEOUT_MIN_US`) and what is left of a jiffy later.
    Jiffies,
}

/// Acknowledgements of segments ahead of a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SackCompression {
    /// Each is acknowledged at once.
    #[schemars(extend("x-source" = "RFC 5681 section 4.2"))]
    #[default]
    Off,
    /// After three, one acknowledgement for those of up to 1 ms (Linux 6).
    // After three, one for all segments of 1 ms or of a twentieth of the handshake's round trip, whichever is less, and 44 at most
    // (`__tcp_ack_snd_check` of Linux 6).
    #[schemars(extend("x-source" = "Linux 6 __tcp_ack_snd_check"))]
    #[serde(rename = "linux_6")]
    Linux6,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ecn {
    /// Not offered.
    #[default]
    Off,
    /// RFC 3168.
    // Marks are echoed until the sender says that it has reduced.
    #[schemars(extend("x-source" = "RFC 3168"))]
    Classic,
    /// RFC 8257: the echo counts marks.
    // Each acknowledgement echoes the marks of the segments it acknowledges.
    #[schemars(extend("x-source" = "RFC 8257 section 3.2"))]
    Dctcp,
}

/// Which Vegas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VegasFlavour {
    /// Linux 2.6.22: slow start doubles in every round trip; a loss halves.
    #[schemars(extend("x-source" = "Linux 2.6.22 tcp_vegas.c"))]
    #[default]
    Linux,
    /// ns-2's `Agent/TCP/Vegas`: slow start doubles in every other round trip; a loss takes a quarter.
    #[schemars(extend("x-source" = "ns-2.35 tcp-vegas.cc"))]
    Ns2,
}

/// Bounds of Vegas, in segments queued in the network.
// Brakmo and Peterson 1995, section 3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VegasDocument")]
pub struct VegasBounds {
    /// Fewer: the window grows.
    pub alpha: u32,
    /// More: it shrinks.
    pub beta: u32,
    /// More in slow start: it ends.
    pub gamma: u32,
}

impl VegasBounds {
    /// Linux `tcp_vegas.c`.
    pub const LINUX: Self = Self { alpha: 2, beta: 4, gamma: 1 };
    /// ns-2's `Agent/TCP/Vegas`.
    pub const NS2: Self = Self { alpha: 1, beta: 3, gamma: 1 };
}

/// When the receiving application takes data that has arrived in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationRead {
    /// At once.
    #[default]
    Immediate,
    /// When it calls [`Endpoint::read`](crate::Endpoint::read); unread data closes the window.
    OnDemand,
}

/// What becomes of data in flight when the peer's window closes over it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShrunkWindow {
    /// It stays in flight (RFC 9293 section 3.8.6).
    #[schemars(extend("x-source" = "RFC 9293 section 3.8.6"))]
    #[default]
    Keep,
    /// All of it is sent again when the window opens, and nothing reduces the congestion window (4.4BSD); without SACK.
    // 4.4BSD (`tcp_output`): the retransmission timer stops, SND.NXT goes back to SND.UNA, and the closed window is probed. Until it
    // opens no duplicate acknowledgement counts; then all is sent again from SND.UNA on, and nothing has reduced the
    // congestion window. With recovery by duplicate acknowledgements only. Where BSD goes on with what fast recovery had added to
    // the congestion window, it is taken off here.
    #[schemars(extend("x-source" = "4.4BSD tcp_output"))]
    PullBack,
}

/// Which windows are taken from acknowledgements that repeat their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindowUpdate {
    /// All (RFC 9293).
    #[schemars(extend("x-source" = "RFC 9293 section 3.10.7.4"))]
    #[default]
    Any,
    /// Larger ones (BSD, Linux until 6.5).
    #[schemars(extend("x-source" = "4.4BSD; Linux until 6.5"))]
    Larger,
    /// Larger ones and none at all (Linux since 6.6).
    #[schemars(extend("x-source" = "Linux since 6.6"))]
    LargerOrZero,
}

impl WindowUpdate {
    /// True if a window of `new` bytes replaces one of `old`.
    #[inline]
    pub(crate) fn takes(self, new: u32, old: u32) -> bool {
        match self {
            Self::Any => true,
            Self::Larger => new > old,
            Self::LargerOrZero => new > old || new == 0,
        }
    }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RttSampling {
    /// A sample per window of data, so that the gains 1/8 and 1/4 keep the memory that RFC 6298 means them to have
    /// (RFC 7323 section 4.2 asks for a similar memory; its appendix G scales the gains instead).
    #[default]
    OncePerWindow,
    /// Each acknowledgement of new data, with unscaled gains.
    EveryAck,
}

/// The handshake's round trip as a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

impl From<u32> for InitialWindow {
    fn from(segments: u32) -> Self {
        Self::Segments(segments)
    }
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
        limit: u16,
    },
}

/// Whether a congestion window grows that nothing fills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// It does (RFC 5681, BSD, ns-2).
    #[schemars(extend("x-source" = "RFC 5681"))]
    #[default]
    Always,
    /// Only if it was what limited the sender.
    // Only if the window was what limited the sender: less than a segment of it was free when the acknowledgement
    // came, or in slow start less than half (Linux `tcp_is_cwnd_limited`; in the spirit of RFC 7661).
    #[schemars(extend("x-source" = "RFC 7661; Linux tcp_is_cwnd_limited"))]
    WhenLimited,
}

/// What ssthresh is half of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Ssthresh")]
pub enum SsthreshFrom {
    /// Data in flight (RFC 5681 equation 4).
    // The data in flight, without what limited transmit added: max(FlightSize / 2, 2 SMSS) (RFC 5681 equation 4).
    #[schemars(extend("x-source" = "RFC 5681 equation 4"))]
    #[default]
    Flight,
    /// min(cwnd, rwnd), as ns-2 does.
    // min(cwnd, rwnd), as ns-2 does. Half of it becomes cwnd; rounded down to whole segments, and at least two, it
    // becomes ssthresh.
    #[schemars(extend("x-source" = "ns-2.35"))]
    Window,
}

/// The slow-start threshold when a segment times out again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatedTimeout {
    /// It stays (RFC 5681 section 3.1).
    #[default]
    Hold,
    /// It is taken anew from what is left, as in ns-2.
    Recompute,
}

/// Which acknowledgements count as duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DuplicateAck {
    /// Acknowledgements that also repeat the advertised window (RFC 5681 section 2, condition e).
    #[default]
    SameWindow,
    /// All that repeat the acknowledgement number without data, as in ns-2. Where something on the path rewrites
    /// windows, condition (e) hides losses.
    AnyWindow,
}

/// The congestion window when a full acknowledgement ends fast recovery (RFC 6582 section 3.2 step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// NewReno's two timer variants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialAckTimer {
    /// Restart on the first partial acknowledgement only.
    // The first of a recovery: many losses end in a timeout and slow start.
    #[schemars(extend("x-source" = "RFC 6582 section 3.2"))]
    #[default]
    Impatient,
    /// Restart on each.
    // Each: one retransmission per round trip, however many losses.
    #[schemars(extend("x-source" = "RFC 6582 section 4"))]
    SlowButSteady,
}

/// Data in flight when the timer expires in fast recovery.
///
/// Each duplicate acknowledgement tells of a segment that has left the network, but none of them moves SND.UNA: in a long
/// recovery SND.NXT - SND.UNA grows to many times what the path holds. Halved, it becomes an ssthresh that lets the
/// next slow start overshoot as far again, which ends in the next timeout, and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutFlight {
    /// At most the congestion window without its inflation: what recovery aims to keep in flight.
    #[default]
    Deflated,
    /// SND.NXT - SND.UNA, the letter of RFC 5681's definition of FlightSize.
    Cumulative,
}

/// The retransmission timer at a fast retransmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FastRetransmitTimer {
    /// It keeps running (RFC 6298 section 5 restarts it for acknowledgements of new data only).
    #[default]
    Keep,
    /// It starts anew, as in ns-2 and Linux.
    Restart,
}
