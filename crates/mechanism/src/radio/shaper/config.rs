//! The parameters of the client's shaper.

use crate::ConfigError;
use crate::radio::eager::default_least_wait;
use crate::station;
use netlull_document::check_ranges;
use netlull_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The observations that give a round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RttFrom {
    /// The timestamps echoed by all data, as in the paper (section III-A.2: "the minimum RTT over all samples").
    #[default]
    AnyEcho,
    /// The timestamps echoed by data that answers the last open acknowledgement or a later one.
    // Beyond the paper. Only such data has taken the path that determines the sleep. With a coarse timestamp
    // clock, many acknowledgements of a smooth stream share one value. Data that answers the first of them seems
    // to arrive too soon, and the minimum keeps that sample for ever. Before the first open ACK all data counts;
    // the first sample after it replaces the earlier ones. With one sample per burst, the first samples on a
    // noisy path are too long. The radio then sleeps through packets until bursts in Recovery have given shorter
    // samples.
    OpenAck,
    /// The handshake alone, without timestamps: from the host's SYN to the peer's acknowledgement of it.
    // One sample. On a noisy path it is too long for some bursts, and the radio misses their first packets.
    Handshake,
    /// The handshake and the first data after each open acknowledgement, without timestamps.
    // The paper leaves such an association of data with acknowledgements for future work (section III-A.2). After
    // closed acknowledgements only an open one releases data, so its first answer is a sample. Repeated open
    // acknowledgements are ambiguous and give none (as in Karn's rule, RFC 6298 section 3).
    Answers,
}

impl RttFrom {
    /// Returns true if the round-trip time needs no timestamps.
    pub(super) fn is_without_timestamps(self) -> bool {
        matches!(self, Self::Handshake | Self::Answers)
    }
}

/// The host's acknowledgements during a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BurstAcks {
    /// Sent with a window of zero, as in the paper (section III-A).
    #[default]
    Closed,
    /// Not sent: the open acknowledgement is the only one of the burst.
    // The sender's own window ends its burst then. It counts one acknowledgement for each burst, so its congestion
    // window grows once.
    Withheld,
}

/// The shaper's acknowledgements while a packet is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepairAcks {
    /// Closed, as all others: the paper names no exception.
    #[default]
    Closed,
    /// With the host's own windows: the sender can repair the loss at once.
    AsTheyAre,
}

/// The packets that reveal a pacing sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacedFrom {
    /// The packets of bursts released by open ACKs.
    #[default]
    Bursts,
    /// Also the packets of slow start's rounds. After enough spread rounds that grow, the shaper never closes a
    /// window.
    // A sender that does not pace answers each acknowledgement at once. A round of slow start then arrives as
    // fast as the slowest link allows. A pacing sender spreads its packets over more than half of the round trip
    // while it doubles them each round.
    SlowStart,
}

/// The stretch of slow start's rounds, and the default for bursts: twice the time on the air.
pub(super) const STRETCH: f64 = 2.0;

/// The client's shaper (client-centered-2004; docs/models/client-shaper.md). It serves one TCP connection, which the station receives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "client-centered-2004 section III (Yan et al., 2004)"))]
pub struct ShaperConfig {
    /// The shortest silence that ends a burst.
    #[serde(default = "default_least_wait")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-source" = "client-centered-2004 section III-A.1"))]
    pub least_wait: Duration,
    /// The time by which the radio wakes earlier than the least RTT requires.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading; the paper sleeps at the granularity of a millisecond"))]
    pub margin: Duration,
    /// Slow start ends when a round has fewer packets than this factor times the previous round's.
    #[serde(default = "default_growth")]
    #[schemars(range(min = 1.0, max = 2.0))]
    #[schemars(extend("x-source" = "reading; the paper: the packets received do not double"))]
    pub growth: f64,
    /// The number of consecutive bursts with a missing packet that ends shaping.
    #[serde(default = "default_three")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unit" = "bursts", "x-source" = "client-centered-2004 section III-B.1"))]
    pub patience: u32,
    /// The share of air rate x RTT at which a burst saturates the air. No burst reaches a value far
    /// above 1.
    #[serde(default = "default_saturation")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "x-source" = "client-centered-2004 section III-B.2"))]
    pub saturation: f64,
    /// The number of consecutive saturating bursts that ends shaping.
    #[serde(default = "default_three")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unit" = "bursts", "x-source" = "client-centered-2004 section III-B.2"))]
    pub saturated_bursts: u32,
    /// Eager acknowledgements while the machine does not shape.
    #[serde(default = "default_true")]
    #[schemars(extend("x-source" = "client-centered-2004 section III-B.4"))]
    pub eager: bool,
    /// The data that gives the RTT.
    #[serde(default)]
    #[schemars(extend("x-source" = "client-centered-2004 section III-A.2; the others: own"))]
    pub rtt_from: RttFrom,
    /// The acknowledgements while a packet is missing.
    #[serde(default)]
    #[schemars(extend("x-source" = "client-centered-2004 section III-A; as_they_are: own"))]
    pub repair: RepairAcks,
    /// The acknowledgements during a burst.
    #[serde(default)]
    #[schemars(extend("x-source" = "client-centered-2004 section III-A; withheld: reading of section V-d"))]
    pub burst_acks: BurstAcks,
    /// The largest window that an open acknowledgement advertises; at least the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "none: the host's window", "x-source" = "client-centered-2004 section III-A: 64 KB"))]
    pub open_window: Option<Bytes>,
    /// A saturated shaper starts again after `saturated_bursts` rounds in a row below this share of air rate x RTT;
    /// at most `saturation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "x-default" = "none: it never starts again", "x-source" = "client-centered-2004 section V-f, future work"))]
    pub resume: Option<f64>,
    /// The predicted slowdown of the download, as a share, that ends shaping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "x-default" = "none: without bound", "x-source" = "client-centered-2004 sections IV-B and V-f, future work"))]
    pub most_slowdown: Option<f64>,
    /// Guard against pacing senders: a burst that takes longer than this share of the RTT is spread.
    /// The paper has no guard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "x-default" = "none: paced senders are not looked for", "x-source" = "own"))]
    pub paced_share: Option<f64>,
    /// A spread burst also takes longer than this factor times the air time of its bytes.
    #[serde(default = "default_stretch", skip_serializing_if = "is_default_stretch")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "x-source" = "own"))]
    pub paced_stretch: f64,
    /// The number of consecutive spread bursts that ends shaping.
    #[serde(default = "default_three")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unit" = "bursts", "x-source" = "own"))]
    pub paced_bursts: u32,
    /// The packets that reveal a pacing sender.
    #[serde(default, skip_serializing_if = "PacedFrom::is_default")]
    #[schemars(extend("x-source" = "own"))]
    pub paced_from: PacedFrom,
}

const fn default_growth() -> f64 {
    1.5
}

const fn default_three() -> u32 {
    3
}

const fn default_saturation() -> f64 {
    0.9
}

const fn default_true() -> bool {
    true
}

const fn default_stretch() -> f64 {
    STRETCH
}

fn is_default_stretch(stretch: &f64) -> bool {
    stretch.to_bits() == STRETCH.to_bits()
}

impl PacedFrom {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for ShaperConfig {
    /// The paper's shaper.
    fn default() -> Self {
        Self {
            least_wait: default_least_wait(),
            margin: Duration::ZERO,
            growth: default_growth(),
            patience: default_three(),
            saturation: default_saturation(),
            saturated_bursts: default_three(),
            eager: true,
            rtt_from: RttFrom::default(),
            repair: RepairAcks::default(),
            burst_acks: BurstAcks::default(),
            open_window: None,
            resume: None,
            most_slowdown: None,
            paced_share: None,
            paced_stretch: STRETCH,
            paced_bursts: default_three(),
            paced_from: PacedFrom::default(),
        }
    }
}

impl ShaperConfig {
    pub(super) fn check(&self, station: station::Context) -> Result<(), ConfigError> {
        check_ranges(self)?;
        // A smaller window makes the sender wait for its persist timer (RFC 9293 section 3.8.6.2.1).
        if let Some(window) = self.open_window.filter(|&window| window < station.mtu) {
            return Err(ConfigError::new("open_window", window, format!("at least the MTU of {}", station.mtu)));
        }
        if let Some(share) = self.resume.filter(|&share| share > self.saturation) {
            return Err(ConfigError::new("resume", share, format!("at most saturation, {}", self.saturation)));
        }
        // Without `paced_share` nothing uses the guard's other parameters.
        if self.paced_share.is_none() && self.paced_from != PacedFrom::default() {
            return Err(ConfigError::new("paced_from", "given without a guard", "paced_share as well"));
        }
        if self.paced_share.is_none() && !is_default_stretch(&self.paced_stretch) {
            return Err(ConfigError::new("paced_stretch", "given without a guard", "paced_share as well"));
        }
        Ok(())
    }
}
