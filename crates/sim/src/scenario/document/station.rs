//! Stations: nodes behind a wireless link, whose radios may sleep.

use netlull_units::{Duration, Watts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wireless stations. Each is a node with one link to, and one from, its access point; what comes while its radio sleeps is lost to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationDocument {
    /// A name of these stations for `--set` and sweeps: `station.NAME.mechanism`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The nodes; each is a station of its own.
    pub nodes: Vec<String>,
    /// Power models of the radio, under each of which energy is reported. The first says how long the radio takes to wake.
    #[serde(default = "default_radio")]
    pub radio: Vec<RadioDocument>,
    /// How long the radio takes to wake, instead of what the first model says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_time: Option<Duration>,
    /// What lets the radio sleep; default nothing: it is awake all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<StationMechanismDocument>,
}

/// Power in a radio's states: the name of a ready model, or numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RadioDocument {
    /// A ready model (`netlull list radios`).
    Name(String),
    /// Numbers.
    Powers(RadioPowersDocument),
}

/// Powers of a radio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioPowersDocument {
    /// Name in results.
    pub name: String,
    /// Asleep.
    pub asleep: Watts,
    /// Awake, with nothing on the air for it.
    pub idle: Watts,
    /// Receiving.
    pub receive: Watts,
    /// Transmitting.
    pub transmit: Watts,
    /// While it wakes; default as idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waking: Option<Watts>,
    /// How long it takes to wake.
    pub wake_time: Duration,
}

/// What lets a station's radio sleep, or only what its host does about acknowledgements.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StationMechanismDocument {
    /// The client's shaper (client-centered-2004; docs/models/client-shaper.md).
    #[schemars(extend("x-source" = "client-centered-2004 section III (Yan et al., 2004)"))]
    ClientShaper(ClientShaperDocument),
    /// Eager acknowledgements alone: the 2004 paper's baseline.
    #[schemars(extend("x-source" = "client-centered-2004 section III-B.4, the paper's baseline"))]
    Eager(EagerDocument),
    /// IEEE 802.11 power-saving mode, ideal or with a poll for each packet (docs/models/radio.md).
    #[schemars(extend("x-source" = "client-centered-2004 section IV-C; IEEE 802.11 section 11.2"))]
    Psm(PsmDocument),
    /// The bounded-slowdown protocol (docs/models/radio.md).
    #[schemars(extend("x-source" = "Krashinsky and Balakrishnan, MobiCom 2002; client-centered-2004 section II"))]
    Bsd(BsdDocument),
}

/// The client's shaper and its readings. The station has one TCP flow, which it receives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientShaperDocument {
    /// A burst is not judged over before so long a silence.
    #[serde(default = "default_least_wait")]
    #[schemars(extend("x-source" = "client-centered-2004 section III-A.1"))]
    pub least_wait: Duration,
    /// The radio wakes so much earlier than the least RTT asks for.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading; the paper sleeps at the granularity of a millisecond"))]
    pub margin: Duration,
    /// Slow start is over when a round brings fewer than so many times the packets of the round before; at least 1.
    #[serde(default = "default_growth")]
    #[schemars(extend("x-unit" = "1 to 2", "x-source" = "reading; the paper: the packets received do not double"))]
    pub growth: f64,
    /// So many bad bursts in a row end shaping.
    #[serde(default = "default_three")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unit" = "bursts", "x-source" = "client-centered-2004 section III-B.1"))]
    pub patience: u32,
    /// The share of air rate x RTT from which on a window counts as saturating, above 0; far above 1 none ever does.
    #[serde(default = "default_saturation")]
    #[schemars(extend("x-unit" = "above 0", "x-source" = "client-centered-2004 section III-B.2"))]
    pub saturation: f64,
    /// So many saturating bursts in a row end shaping.
    #[serde(default = "default_three")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unit" = "bursts", "x-source" = "client-centered-2004 section III-B.2"))]
    pub saturated_bursts: u32,
    /// Eager acknowledgements while it does not shape.
    #[serde(default = "default_true")]
    #[schemars(extend("x-source" = "client-centered-2004 section III-B.4"))]
    pub eager: bool,
    /// Which data tells the RTT.
    #[serde(default)]
    #[schemars(extend("x-source" = "client-centered-2004 section III-A.2; open_ack: own"))]
    pub rtt_from: RttFromReading,
    /// The acknowledgements while a packet is missing.
    #[serde(default)]
    #[schemars(extend("x-source" = "client-centered-2004 section III-A; as_they_are: own"))]
    pub repair: RepairReading,
    /// Guard against paced senders: a burst that takes longer than this share of the RTT is spread. Without it there is no guard, as in the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "above 0", "x-default" = "none: paced senders are not looked for", "x-source" = "own"))]
    pub paced_share: Option<f64>,
    /// And longer than so many times what its bytes take on the air; above 0.
    #[serde(default = "default_stretch", skip_serializing_if = "is_default_stretch")]
    #[schemars(extend("x-unit" = "above 0", "x-source" = "own"))]
    pub paced_stretch: f64,
    /// So many spread bursts in a row end shaping.
    #[serde(default = "default_three")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unit" = "bursts", "x-source" = "own"))]
    pub paced_bursts: u32,
    /// Which packets show that a sender paces.
    #[serde(default, skip_serializing_if = "PacedFromReading::is_default")]
    #[schemars(extend("x-source" = "own"))]
    pub paced_from: PacedFromReading,
}

/// Which data tells the shaper the RTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RttFromReading {
    /// All that echoes a timestamp, as in the paper.
    #[default]
    AnyEcho,
    /// Only what echoes the last open acknowledgement, or what was sent after it.
    OpenAck,
}

/// Which packets show the shaper that a sender paces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacedFromReading {
    /// Those of bursts.
    #[default]
    Bursts,
    /// Those of the rounds of slow start, too: so many of them in a row that are spread while they grow, and no window is ever closed.
    SlowStart,
}

impl PacedFromReading {
    /// Whether it can be left out.
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The shaper's acknowledgements while a packet is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepairReading {
    /// Closed as all others, as in the paper.
    #[default]
    Closed,
    /// With the windows that they have: the sender can repair the loss at once.
    AsTheyAre,
}

/// Eager acknowledgements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EagerDocument {
    /// Data is not acknowledged before so long a silence, unless TCP does.
    #[serde(default = "default_least_wait")]
    #[schemars(extend("x-source" = "client-centered-2004 section III-A.1"))]
    pub least_wait: Duration,
    /// After so long a silence it is.
    #[serde(default = "default_longest_wait")]
    #[schemars(extend("x-source" = "reading: the delayed acknowledgement of Linux 2.4"))]
    pub longest_wait: Duration,
}

/// IEEE 802.11 power-saving mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PsmDocument {
    /// What the access point does.
    #[serde(default)]
    pub access_point: AccessPointDocument,
    /// The station listens to each so-many-th beacon.
    #[serde(default = "default_one")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unit" = "beacons", "x-source" = "client-centered-2004"))]
    pub listen_interval: u32,
}

/// The bounded-slowdown protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BsdDocument {
    /// What the access point does.
    #[serde(default)]
    pub access_point: AccessPointDocument,
    /// p: the RTT grows by at most this share.
    #[serde(default = "default_slowdown")]
    #[schemars(extend("x-unit" = "a number above 0", "x-source" = "client-centered-2004 section II"))]
    pub slowdown: f64,
    /// The station listens at least so often.
    #[serde(default = "default_longest_listen")]
    #[schemars(extend("x-source" = "reading (the 2002 paper, from memory)"))]
    pub longest_listen: Duration,
    /// What counts as a request.
    #[serde(default)]
    #[schemars(extend("x-source" = "client-centered-2004 section II; data_only: reading"))]
    pub request: RequestReading,
}

/// What the access point of a station does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessPointDocument {
    /// From beacon to beacon.
    #[serde(default = "default_beacon_period")]
    #[schemars(extend("x-source" = "client-centered-2004 section IV-C"))]
    pub beacon_period: Duration,
    /// The first beacon; default one period after the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "100 ms", "x-source" = "reading"))]
    pub first_beacon: Option<Duration>,
    /// How long a beacon is on the air; default 1 ms, at most a tenth of the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "1 ms", "x-source" = "reading; 0 in client-centered-2004"))]
    pub beacon_time: Option<Duration>,
    /// From a poll to the packet that it asks for.
    #[serde(default = "default_poll_time")]
    #[schemars(extend("x-source" = "client-centered-2004 section IV-C: less than 1 ms"))]
    pub poll_time: Duration,
    /// What a poll asks for.
    #[serde(default)]
    #[schemars(extend("x-source" = "client-centered-2004 section IV-C"))]
    pub poll: PollReading,
    /// A beacon does not end the wait for the next packet of a burst before so long after a poll or the packet before; default 20 ms, at most
    /// half a period, and at least what a packet of one MTU takes behind a poll.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "20 ms", "x-source" = "reading"))]
    pub patience: Option<Duration>,
    /// Packets that the access point buffers for the station.
    #[serde(default = "default_held")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unit" = "packets", "x-source" = "reading"))]
    pub buffer: u32,
}

impl Default for AccessPointDocument {
    fn default() -> Self {
        Self {
            beacon_period: default_beacon_period(),
            first_beacon: None,
            beacon_time: None,
            poll_time: default_poll_time(),
            poll: PollReading::default(),
            patience: None,
            buffer: default_held(),
        }
    }
}

/// What a poll asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PollReading {
    /// All that are buffered: the 2004 paper's ideal.
    #[default]
    All,
    /// One packet, as in IEEE 802.11.
    One,
}

/// What counts as a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestReading {
    /// Every packet that the host sends, acknowledgements too (client-centered-2004 section II).
    #[default]
    EveryPacket,
    /// Packets with data, and those that open a connection.
    DataOnly,
}

fn default_radio() -> Vec<RadioDocument> {
    vec![RadioDocument::Name("wavelan-dsss".to_owned())]
}

fn default_least_wait() -> Duration {
    Duration::from_millis(3)
}

fn default_longest_wait() -> Duration {
    Duration::from_millis(40)
}

fn default_growth() -> f64 {
    1.5
}

fn default_three() -> u32 {
    3
}

fn default_one() -> u32 {
    1
}

fn default_held() -> u32 {
    1000
}

fn default_saturation() -> f64 {
    0.9
}

fn default_stretch() -> f64 {
    netlull_mechanism::radio::PacedGuard::STRETCH
}

#[allow(clippy::float_cmp, reason = "what was not written is exactly the default")]
fn is_default_stretch(stretch: &f64) -> bool {
    *stretch == default_stretch()
}

fn default_true() -> bool {
    true
}

fn default_slowdown() -> f64 {
    0.5
}

fn default_longest_listen() -> Duration {
    Duration::from_millis(900)
}

fn default_beacon_period() -> Duration {
    Duration::from_millis(100)
}

fn default_poll_time() -> Duration {
    Duration::from_micros(500)
}
