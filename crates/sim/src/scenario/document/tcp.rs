//! TCP options.

use netlull_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP options. What is left out comes from the scenario's `[tcp]`, then from the preset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpDocument {
    /// Where unnamed options come from; default `rfc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<TcpPreset>,
    /// A name of `netlull list tcp`, such as `new_reno` or `cubic`. Each comes with the loss recovery and the ECN that it
    /// is known with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// How losses are found and repaired; default the congestion control's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_recovery: Option<LossRecoveryReading>,
    /// When SACK blocks mean a loss; with `loss_recovery = "sack"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sack_detection: Option<SackDetectionReading>,
    /// How the window comes down in recovery; with `loss_recovery = "sack"` or `"rack"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_reduction: Option<WindowReductionReading>,
    /// Explicit congestion notification; default off, but for DCTCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnReading>,
    /// HyStart++ (RFC 9406), with `congestion_control = "cubic"`; with `cwnd_unit = "segments"` HyStart as in Linux 6. Default
    /// true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hystart: Option<bool>,
    /// What the windows of RFC 5681 and of `cubic` are counted in, and so whose rules they grow by; default bytes, with the preset
    /// `linux-6` segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwnd_unit: Option<CwndUnitReading>,
    /// Bounds of Vegas; default Linux's 2, 4 and 1, with the preset `ns2` 1, 3 and 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vegas: Option<VegasDocument>,
    /// Which Vegas; default Linux's, with the preset `ns2` that of ns-2's own agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vegas_flavour: Option<VegasFlavourReading>,
    /// Maximum segment size, options not counted (RFC 6691: with timestamps a segment carries 12 B less); default the
    /// MTU less 40 B of headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<Bytes>,
    /// Initial window in segments (RFC 6928: 10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Initial slow-start threshold (RFC 5681: "arbitrarily high"); with the preset `ns2` its `window_`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<Bytes>,
    /// Acknowledge every second segment instead of each (RFC 5681 section 4.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<bool>,
    /// Longest delay of an acknowledgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack_timeout: Option<Duration>,
    /// The first acknowledgements of data that are not delayed; default 0, with the preset `linux-6` 16 and those
    /// while the kernel's window grows, by `receive_buffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick_acks: Option<u16>,
    /// Whether acknowledgements of segments ahead of a gap wait for others; default off, with the preset `linux-6` as there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sack_compression: Option<SackCompressionReading>,
    /// RFC 7323 timestamps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// RFC 7323 window scaling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
    /// Send buffer, the most that may be in flight, rounded up to whole segments; default no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<Bytes>,
    /// Receive buffer, the largest window that is advertised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<Bytes>,
    /// RFC 3042 limited transmit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// When a partial acknowledgement restarts the timer (RFC 6582 section 4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_ack_timer: Option<PartialAckTimerReading>,
    /// Retransmission timeout before the first sample (RFC 6298: 1 s).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Duration>,
    /// Smallest retransmission timeout (RFC 6298: 1 s; Linux and ns-2: 200 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
    /// Largest retransmission timeout (at least 60 s).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<Duration>,
    /// Granularity G of the retransmission clock (ns-2: 10 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rto_granularity: Option<Duration>,
    /// What halving starts from after a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssthresh_from: Option<SsthreshReading>,
    /// Whether a congestion window grows that nothing fills; window of RFC 5681 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<GrowthReading>,
    /// What becomes of data in flight when the peer's window closes over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk_window: Option<ShrunkWindowReading>,
    /// Which windows are taken from acknowledgements that repeat their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_update: Option<WindowUpdateReading>,
}

/// A named set of TCP options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TcpPreset {
    /// The RFCs' defaults.
    Rfc,
    /// ns-2.35's defaults, for comparison with it and with the papers; but segments fit the MTU, and `window_` is
    /// 10,000 segments instead of 20.
    Ns2,
    /// FreeBSD 4.5 of 2002, with its buffers of 32 and 64 KiB, for comparison with client-centered-2004.
    #[serde(rename = "freebsd-4.5")]
    FreeBsd45,
    /// Linux 6 (6.18), for comparison with emulations.
    #[serde(rename = "linux-6")]
    Linux6,
}

/// What congestion windows are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CwndUnitReading {
    /// Bytes (RFC 5681, RFC 9438).
    Bytes,
    /// Whole segments, with the arithmetic and the rules of growth of Linux 6.
    Segments,
}

/// Acknowledgements of segments ahead of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SackCompressionReading {
    /// Each is acknowledged at once.
    #[serde(rename = "off")]
    Off,
    /// After three, one acknowledgement for those of up to 1 ms (Linux 6).
    #[serde(rename = "linux_6")]
    Linux6,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossRecoveryReading {
    /// Three duplicate acknowledgements, then everything again in slow start.
    Tahoe,
    /// RFC 2581: fast recovery until the first acknowledgement of new data.
    Reno,
    /// RFC 6582: fast recovery until all is acknowledged that was sent before it.
    NewReno,
    /// Vegas': early retransmission of segments older than a fine-grained timeout.
    Vegas,
    /// RFC 6675: selective acknowledgements.
    Sack,
    /// RFC 8985: RACK-TLP.
    Rack,
}

/// When SACK blocks mean a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SackDetectionReading {
    /// Three blocks or more than two segments above it (RFC 6675).
    Rfc6675,
    /// More than three segments below the highest one acknowledged (forward acknowledgement, Linux 2.6).
    Forward,
    /// Every third duplicate acknowledgement, and then all below the highest one acknowledged (ns-2's Sack1).
    Counting,
}

/// How the window comes down in recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindowReductionReading {
    /// At once (RFC 6675).
    Immediate,
    /// In proportion to what is delivered (RFC 6937).
    Proportional,
    /// A segment for every two acknowledged (Linux 2.6).
    RateHalving,
    /// In proportion to what is delivered, from cwnd and in whole segments (Linux 6).
    #[serde(rename = "linux_6")]
    Linux6,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EcnReading {
    /// Not offered.
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 8257: the echo counts marks.
    Dctcp,
}

/// Bounds of Vegas, in segments queued in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VegasDocument {
    /// Fewer: the window grows.
    pub alpha: u32,
    /// More: it shrinks.
    pub beta: u32,
    /// More in slow start: it ends.
    pub gamma: u32,
}

/// Which Vegas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VegasFlavourReading {
    /// Linux 2.6.22: slow start doubles in every round trip; a loss halves.
    Linux,
    /// ns-2's `Agent/TCP/Vegas`: slow start doubles in every other round trip; a loss takes a quarter.
    Ns2,
}

/// NewReno's two timer variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialAckTimerReading {
    /// Restart on the first partial acknowledgement only.
    Impatient,
    /// Restart on each.
    SlowButSteady,
}

/// What ssthresh is half of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SsthreshReading {
    /// Data in flight (RFC 5681 equation 4).
    Flight,
    /// min(cwnd, rwnd), as ns-2 does.
    Window,
}

/// Whether a congestion window grows that nothing fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrowthReading {
    /// It does (RFC 5681, BSD, ns-2).
    Always,
    /// Only if it was what limited the sender.
    WhenLimited,
}

/// What becomes of data in flight when the peer's window closes over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShrunkWindowReading {
    /// It stays in flight (RFC 9293 section 3.8.6).
    Keep,
    /// All of it is sent again when the window opens, and nothing reduces the congestion window (4.4BSD); without SACK.
    PullBack,
}

/// Which windows are taken from acknowledgements that repeat their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindowUpdateReading {
    /// All (RFC 9293).
    Any,
    /// Larger ones (BSD, Linux until 6.5).
    Larger,
    /// Larger ones and none at all (Linux since 6.6).
    LargerOrZero,
}
