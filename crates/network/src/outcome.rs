//! What an emulation counted: the simulator's own summary is made from it, so that both have the same columns.

use crate::counters::LinkCounters;
use crate::gateway_summary::GatewaySummary;
use crate::probe::Table;
use crate::station::StationCounts;
use netlull_mechanism::radio::{Fallback, ShaperState};
use netlull_mechanism::station::Shaping;
use netlull_power::RadioTime;
use netlull_units::{BitRate, Duration, Instant};
use serde::{Deserialize, Serialize};

/// A run in counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// [`FORMAT`](crate::plan::FORMAT) of the plan.
    pub format: u32,
    /// Packets that crossed a link, each counted at each link, since the start.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Counters as they stood at the plan's marks.
    pub marks: Vec<NetworkMark>,
    /// By link: its rate at the start and every change, where it varies.
    pub rates: Vec<Vec<(Instant, BitRate)>>,
    /// By link: its gateway.
    pub gateways: Vec<Option<GatewaySummary>>,
    /// By flow.
    pub flows: Vec<FlowOutcome>,
    /// By station, over the time measured.
    pub stations: Vec<StationOutcome>,
    /// What was recorded.
    pub tables: Vec<Table>,
    /// How late the emulation was.
    pub lateness: Lateness,
    /// Where it ran.
    pub system: System,
    /// What the scenario asks for and this system does not do, a sentence each.
    pub differences: Vec<String>,
}

/// Counters at an instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkMark {
    /// When.
    pub at: Instant,
    /// By link.
    pub links: Vec<LinkMark>,
    /// By flow.
    pub flows: Vec<FlowMark>,
    /// Packets that routers lost.
    pub routers: RouterLosses,
}

/// Packets that routers have lost since the start, where links sleep or packets count their hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterLosses {
    /// Those for which a router knew no way.
    pub unroutable: u64,
    /// Those that had made as many hops as they may.
    pub expired: u64,
}

/// A link at an instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkMark {
    /// Since the start.
    pub counters: LinkCounters,
    /// Time at each rate since the first mark; `None` where the rate does not vary.
    pub residency: Option<ResidencyMark>,
    /// Changes of the rate since the start.
    pub rate_changes: u64,
}

/// Time at each rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResidencyMark {
    /// In service at a rate.
    pub in_service: Vec<(BitRate, Duration)>,
    /// Going over from a rate to another.
    pub in_transition: Vec<(BitRate, BitRate, Duration)>,
    /// Changes.
    pub changes: u64,
}

/// A flow at an instant, all since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowMark {
    /// Packets that its sender sent.
    pub sent_packets: u64,
    /// Their bytes, IP headers included.
    pub sent_bytes: u64,
    /// Those that queues dropped or links lost.
    pub dropped_packets: u64,
    /// Packets that arrived with a mark.
    pub marked_packets: u64,
    /// Bytes that its receiver has in order (datagrams: all that arrived, headers included).
    pub delivered_bytes: u64,
    /// Data segments that were sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts, where the kernel counts them.
    pub timeouts: u64,
    /// How often the sender went over to fast recovery, as far as it was seen in it.
    pub fast_retransmits: u64,
}

/// A flow as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowOutcome {
    /// When it opened.
    pub opened: Option<Instant>,
    /// When the last byte was acknowledged.
    pub completed: Option<Instant>,
    /// Data in a full segment.
    pub segment_bytes: Option<u32>,
    /// The congestion window averaged over time from the first mark on, in bytes.
    pub mean_cwnd_bytes: Option<f64>,
    /// Of requests: every one.
    pub requests: Vec<RequestOutcome>,
    /// The most that were open at once.
    pub most_open: u32,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestOutcome {
    /// When its SYN was sent.
    pub start: Instant,
    /// What it sent.
    pub size: u64,
    /// From the SYN to the last byte acknowledged; `None` if the run ended before.
    pub completion: Option<Duration>,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// A station from the first mark to the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationOutcome {
    /// What its radio did.
    pub radio: RadioTime,
    /// Packets and frames.
    pub counts: StationCounts,
    /// Its shaper, if it has one.
    pub shaper: Option<ShaperOutcome>,
    /// Its downloads; `None` until all TCP flows to it are delivered.
    pub download: Option<DownloadOutcome>,
}

/// A client's shaper when the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShaperOutcome {
    /// Its state.
    pub state: ShaperState,
    /// Why it leaves windows alone, or did when the download ended.
    pub fallback: Option<Fallback>,
    /// Its RTT.
    pub round_trip: Option<Duration>,
    /// Open acknowledgements sent again, since the start.
    pub resent_opens: u64,
    /// Idle before the first packets of bursts, since the first mark.
    pub early: Duration,
    /// Idle behind the last packets of bursts until they were judged over, since the first mark.
    pub detection: Duration,
}

impl ShaperOutcome {
    /// One that has not seen a download.
    #[must_use]
    pub const fn initial() -> Self {
        Self {
            state: ShaperState::Initial,
            fallback: None,
            round_trip: None,
            resent_opens: 0,
            early: Duration::ZERO,
            detection: Duration::ZERO,
        }
    }

    /// A shaper now, with the idle times that its station has counted.
    #[must_use]
    pub fn of(shaping: &Shaping, early: Duration, detection: Duration) -> Self {
        Self {
            state: shaping.state,
            fallback: shaping.fallback,
            round_trip: shaping.round_trip,
            resent_opens: shaping.resent_opens,
            early,
            detection,
        }
    }
}

/// The downloads of a station: from the first opening until all data and the end of it were delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DownloadOutcome {
    /// When the first opened.
    pub begun: Instant,
    /// When the last was delivered.
    pub over: Instant,
    /// What the radio did meanwhile.
    pub radio: RadioTime,
    /// Packets missed meanwhile.
    pub missed_packets: u64,
}

/// How late packets left the emulation, against virtual time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lateness {
    /// Packets.
    pub packets: u64,
    /// The median.
    pub p50: Duration,
    /// 99 of 100 were not later.
    pub p99: Duration,
    /// 999 of 1000 were not later.
    pub p999: Duration,
    /// The latest.
    pub max: Duration,
    /// What `p99` may be at most for the run to be trusted.
    pub limit: Duration,
}

/// Where a run was emulated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The kernel's release.
    pub kernel: String,
    /// How the emulation was scheduled: fifo or other.
    pub scheduling: String,
    /// How many processors there are.
    pub processors: u32,
    /// Whether they were kept from sleeping when they had nothing to do.
    pub kept_awake: bool,
    /// netlulld's version.
    pub version: String,
}
