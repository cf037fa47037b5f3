//! The choices that [`Config`](super::Config) offers: one enum for each point in which TCPs differ.

use netlull_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Detection and repair of losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossRecovery {
    /// Three duplicate acknowledgements mean a loss; slow start retransmits everything.
    #[schemars(extend("x-source" = "Jacobson 1988"))]
    Tahoe,
    /// RFC 2581: fast recovery until the first acknowledgement of new data.
    #[schemars(extend("x-source" = "RFC 2581"))]
    Reno,
    /// RFC 6582: fast recovery until all data sent before it is acknowledged.
    #[schemars(extend("x-source" = "RFC 6582"))]
    #[default]
    NewReno,
    /// Vegas': early retransmission of segments older than a fine-grained timeout.
    // Vegas' (Brakmo and Peterson 1995 section 3.1, as in ns-2's `Agent/TCP/Vegas`): a segment is lost at any
    // duplicate acknowledgement if it is older than a fine-grained timeout, and at the third in any case. The first
    // acknowledgement of new data ends the inflation.
    #[schemars(extend("x-source" = "Brakmo, Peterson 1995; ns-2.35"))]
    Vegas,
    /// RFC 6675: selective acknowledgements.
    #[schemars(extend("x-source" = "RFC 2018, RFC 6675"))]
    Sack,
    /// RFC 8985: RACK-TLP.
    // Transmission times reveal losses, and a probe finds losses at the tail.
    #[schemars(extend("x-source" = "RFC 8985"))]
    Rack,
}

/// Rule by which SACK blocks mean a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SackDetection {
    /// Three blocks or more than two segments above it (RFC 6675).
    #[schemars(extend("x-source" = "RFC 6675"))]
    #[default]
    Rfc6675,
    /// More than three segments below the highest acknowledged one (forward acknowledgement, Linux 2.6).
    // The segment lies more than three segments below the highest acknowledged one. A retransmission is lost when
    // data sent after it is acknowledged (forward acknowledgement: Mathis and Mahdavi 1996, Linux 2.6, ns-2's
    // TCP/Linux).
    #[schemars(extend("x-source" = "Mathis, Mahdavi 1996; Linux 2.6"))]
    Forward,
    /// Every third duplicate acknowledgement, then all data below the highest acknowledged one (ns-2's Sack1).
    // The third duplicate acknowledgement with news begins recovery. Everything below the highest acknowledged
    // segment then counts as lost, and each acknowledgement as a segment that has left the network (Fall and Floyd
    // 1996 section 5, ns-2's `Agent/TCP/Sack1`). The window is reduced at once.
    #[schemars(extend("x-source" = "Fall, Floyd 1996; ns-2.35"))]
    Counting,
}

/// Reduction of the window in recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindowReduction {
    /// At once (RFC 6675).
    #[schemars(extend("x-source" = "RFC 6675 section 5"))]
    Immediate,
    /// In proportion to the delivered data (RFC 6937).
    #[schemars(extend("x-source" = "RFC 6937"))]
    #[default]
    Proportional,
    /// A segment for every two acknowledged (Linux 2.6).
    #[schemars(extend("x-source" = "Hoe 1995; Linux 2.6"))]
    RateHalving,
    /// In proportion to the delivered data, from cwnd and in whole segments (Linux 6).
    // RFC 6937 in the version of Linux 6 (`tcp_cwnd_reduction`). It counts from cwnd instead of the flight, in whole
    // segments, and sends at least one segment at the start. Below ssthresh, one segment more than delivered goes out
    // only for acknowledgements that advance SND.UNA and report no loss (RFC 9937's SafeACK). A lost retransmission
    // does not reduce the window again.
    #[schemars(extend("x-source" = "RFC 6937; Linux 6 tcp_cwnd_reduction"))]
    #[serde(rename = "linux_6")]
    Linux6,
}

/// Answer to a recovery that turns out to be needless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// The reduction stands.
    #[default]
    Off,
    /// Timestamps, D-SACKs and F-RTO reveal it, and the window returns.
    // Timestamps: RFC 3522. D-SACKs: RFC 3708. Timeouts: F-RTO, RFC 5682, and the response of RFC 4015. After a fast
    // retransmit the window and the threshold return.
    #[schemars(extend("x-source" = "RFC 3522, RFC 3708, RFC 4015, RFC 5682"))]
    Rfc,
    /// The same evidence, with the rules of Linux 6.
    // `tcp_try_undo_recovery`, `tcp_try_undo_partial`, `tcp_try_undo_dsack`, `tcp_process_loss`.
    #[schemars(extend("x-source" = "Linux 6 tcp_undo_cwnd_reduction"))]
    #[serde(rename = "linux_6")]
    Linux6,
}

/// Unit of congestion windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CwndUnit {
    /// Bytes (RFC 5681, RFC 9438).
    #[schemars(extend("x-source" = "RFC 5681, RFC 9438"))]
    #[default]
    Bytes,
    /// Whole segments, with the arithmetic and growth rules of Linux 6.
    // Whole segments with the integers of Linux 6 (`tcp_cong.c`, `tcp_cubic.c`). Slow start grows by all acknowledged
    // data, a loss halves cwnd, and the window grows only if it was full within the last round trip. CUBIC has
    // HyStart (Ha, Rhee 2011).
    #[schemars(extend("x-source" = "Linux 6 tcp_cong.c, tcp_cubic.c"))]
    Segments,
}

/// The clock of the timers of RACK-TLP: the reordering timer and the tail loss probe's timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RackClock {
    /// Nanoseconds (RFC 8985).
    #[default]
    Fine,
    /// Linux 6 with HZ = 250: a timer is 2 ms (`TCP_TIMEOUT_MIN_US`) longer, and expires at a step of the timer wheel.
    Jiffies,
}

/// Acknowledgements of segments ahead of a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SackCompression {
    /// At once, for each segment.
    #[schemars(extend("x-source" = "RFC 5681 section 4.2"))]
    #[default]
    Off,
    /// After three, one acknowledgement for all segments of up to 1 ms (Linux 6).
    // After three, one acknowledgement for all segments of 1 ms or of a twentieth of the handshake's round trip,
    // whichever is less. It covers at most 44 segments (`__tcp_ack_snd_check` of Linux 6).
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
    // The receiver echoes marks until the sender reports a reduction.
    #[schemars(extend("x-source" = "RFC 3168"))]
    Classic,
    /// RFC 8257: the echo counts marks.
    // Each acknowledgement echoes the marks of exactly the segments that it acknowledges.
    #[schemars(extend("x-source" = "RFC 8257 section 3.2"))]
    Dctcp,
}

/// Flavour of Vegas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VegasFlavour {
    /// Linux 2.6.22: slow start doubles in every round trip; a loss halves.
    #[schemars(extend("x-source" = "Linux 2.6.22 tcp_vegas.c"))]
    #[default]
    Linux,
    /// ns-2's `Agent/TCP/Vegas`: slow start doubles in every other round trip; a loss removes a quarter.
    #[schemars(extend("x-source" = "ns-2.35 tcp-vegas.cc"))]
    Ns2,
}

/// Bounds of Vegas, in segments queued in the network.
// Brakmo and Peterson 1995, section 3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VegasDocument")]
pub struct VegasBounds {
    /// The window grows below this number.
    #[schemars(range(min = 1, max = 10_000))]
    pub alpha: u32,
    /// The window shrinks above this number.
    #[schemars(range(min = 1, max = 10_000))]
    pub beta: u32,
    /// Slow start ends above this number.
    #[schemars(range(min = 1, max = 10_000))]
    pub gamma: u32,
}

impl VegasBounds {
    /// The bounds of Linux `tcp_vegas.c`.
    pub const LINUX: Self = Self { alpha: 2, beta: 4, gamma: 1 };
    /// The bounds of ns-2's `Agent/TCP/Vegas`.
    pub const NS2: Self = Self { alpha: 1, beta: 3, gamma: 1 };
}

/// The time when the receiving application takes data that has arrived in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationRead {
    /// At once.
    #[default]
    Immediate,
    /// At each call of [`Endpoint::read`](crate::Endpoint::read); unread data closes the window.
    OnDemand,
}

/// Treatment of data in flight when the peer's window closes over it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShrunkWindow {
    /// The data stays in flight (RFC 9293 section 3.8.6).
    #[schemars(extend("x-source" = "RFC 9293 section 3.8.6"))]
    #[default]
    Keep,
    /// All data is retransmitted when the window opens; the congestion window stays (4.4BSD); without SACK.
    // 4.4BSD (`tcp_output`): the retransmission timer stops, SND.NXT returns to SND.UNA, and probes test the closed
    // window. Until it opens, duplicate acknowledgements do not count. Then everything from SND.UNA on is
    // retransmitted, and the congestion window is not reduced. This works only with recovery by duplicate
    // acknowledgements. BSD keeps the inflation that fast recovery added to the congestion window; this model removes
    // it.
    #[schemars(extend("x-source" = "4.4BSD tcp_output"))]
    PullBack,
}

/// Windows accepted from acknowledgements that repeat their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindowUpdate {
    /// All windows (RFC 9293).
    #[schemars(extend("x-source" = "RFC 9293 section 3.10.7.4"))]
    #[default]
    Any,
    /// Larger windows (BSD, Linux until 6.5).
    #[schemars(extend("x-source" = "4.4BSD; Linux until 6.5"))]
    Larger,
    /// Larger windows, and a window of zero (Linux since 6.6).
    #[schemars(extend("x-source" = "Linux since 6.6"))]
    LargerOrZero,
}

impl WindowUpdate {
    /// True if a window of `new` bytes replaces a window of `old` bytes.
    #[inline]
    pub(crate) fn takes(self, new: u32, old: u32) -> bool {
        match self {
            Self::Any => true,
            Self::Larger => new > old,
            Self::LargerOrZero => new > old || new == 0,
        }
    }
}

/// Delay of acknowledgements of data in order.
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

/// Time measurement of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttClock {
    /// Samples in nanoseconds, or in ticks of the timestamp clock if they come from timestamps. The granularity G
    /// enters only as in RFC 6298: RTO = SRTT + max(G, 4 RTTVAR).
    Fine {
        /// G.
        granularity: Duration,
    },
    /// ns-2 and BSD: samples are whole ticks, at least one, counted from the tick of transmission. SRTT and RTTVAR
    /// are integers in 1/8 and 1/4 ticks. The RTO is a whole number of ticks, at least two. Beyond a backoff of 8 the
    /// smoothed RTT is reset. Ticks begin at time zero (ns-2: at a random phase).
    Ticks {
        /// Length of a tick.
        tick: Duration,
    },
    /// Linux 6 with HZ = 250: the estimate of `tcp_rtt_estimator`, with `min_rto` for `tcp_rto_min`. The RTO is in whole jiffies, and timers expire
    /// at the steps of the timer wheel. Jiffies begin at time zero (Linux: at a random phase).
    Jiffies,
}

/// The acknowledgements that update the smoothed RTT if timestamps allow a sample for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RttSampling {
    /// A sample for each window of data. The gains 1/8 and 1/4 then keep the memory that RFC 6298 intends (RFC 7323
    /// section 4.2 asks for a similar memory; its appendix G scales the gains instead).
    #[default]
    OncePerWindow,
    /// Each acknowledgement of new data, with unscaled gains.
    EveryAck,
}

/// Use of the handshake's round trip as a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandshakeRtt {
    /// Used (RFC 6298).
    #[default]
    Sampled,
    /// Ignored: the first data segment has the initial RTO, as in ns-2, which has no handshake.
    Ignored,
}

/// The congestion window at the start of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialWindow {
    /// min(10 SMSS, max(2 SMSS, 14600 bytes)) (RFC 6928 equation 1).
    #[default]
    Rfc6928,
    /// A number of segments.
    Segments(u32),
}

impl From<u32> for InitialWindow {
    fn from(segments: u32) -> Self {
        Self::Segments(segments)
    }
}

/// Growth of the congestion window per acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Increase {
    /// RFC 5681 equations 2 and 3: min(N, SMSS) per acknowledgement in slow start, SMSS^2 / cwnd in congestion
    /// avoidance. Fractions of bytes are kept, so no rounding is needed.
    #[default]
    PerAck,
    /// RFC 3465, appropriate byte counting.
    ByteCounting {
        /// L: the most segments per acknowledgement in slow start (RFC 3465 section 2.2: 1 or 2). In the slow start
        /// after a timeout it is 1 (section 2.3).
        limit: u16,
    },
}

/// Growth of an unused congestion window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// It grows (RFC 5681, BSD, ns-2).
    #[schemars(extend("x-source" = "RFC 5681"))]
    #[default]
    Always,
    /// It grows only if it limited the sender.
    // The window limited the sender if less than a segment of it was free when the acknowledgement arrived, in slow
    // start less than half (Linux `tcp_is_cwnd_limited`; similar to RFC 7661).
    #[schemars(extend("x-source" = "RFC 7661; Linux tcp_is_cwnd_limited"))]
    WhenLimited,
}

/// Quantity that a loss halves to get ssthresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Ssthresh")]
pub enum SsthreshFrom {
    /// Data in flight (RFC 5681 equation 4).
    // The data in flight without the segments of limited transmit: max(FlightSize / 2, 2 SMSS) (RFC 5681 equation 4).
    #[schemars(extend("x-source" = "RFC 5681 equation 4"))]
    #[default]
    Flight,
    /// min(cwnd, rwnd), as in ns-2.
    // Half of min(cwnd, rwnd) becomes cwnd. The same number, rounded down to whole segments and at least two, becomes
    // ssthresh.
    #[schemars(extend("x-source" = "ns-2.35"))]
    Window,
}

/// The slow-start threshold at a repeated timeout of the same segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatedTimeout {
    /// It stays the same (RFC 5681 section 3.1).
    #[default]
    Hold,
    /// It is computed again from the current window, as in ns-2.
    Recompute,
}

/// The acknowledgements that count as duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DuplicateAck {
    /// Acknowledgements that also repeat the advertised window (RFC 5681 section 2, condition e).
    #[default]
    SameWindow,
    /// All without data that repeat the acknowledgement number, as in ns-2. If a device on the path rewrites windows,
    /// condition (e) hides losses.
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
    /// ns-2 (`exit_recovery_fix_` 0): the window set at the entry into recovery, less the reductions of partial
    /// acknowledgements beyond the inflation. The acknowledgement then opens the window as usual.
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
    /// Restart on each partial acknowledgement.
    // Each: one retransmission per round trip, for any number of losses.
    #[schemars(extend("x-source" = "RFC 6582 section 4"))]
    SlowButSteady,
}

/// The flight that counts when the timer expires in fast recovery.
///
/// Each duplicate acknowledgement reports a segment that has left the network, but SND.UNA stays. In a long recovery,
/// SND.NXT - SND.UNA grows to many times the capacity of the path. Half of that as ssthresh lets the next slow start
/// overshoot again, which ends in the next timeout, and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutFlight {
    /// At most the congestion window without its inflation: the flight that recovery aims at.
    #[default]
    Deflated,
    /// SND.NXT - SND.UNA, RFC 5681's definition of FlightSize to the letter.
    Cumulative,
}

/// The retransmission timer at a fast retransmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FastRetransmitTimer {
    /// It continues (RFC 6298 section 5 restarts it for acknowledgements of new data only).
    #[default]
    Keep,
    /// It restarts, as in ns-2 and Linux.
    Restart,
}
