//! A station in numbers, under the names that the simulator's summary has.

use super::flows::Entry;
use netlull_mechanism::radio::Fallback;
use netlull_mechanism::station::Shaping;
use netlull_network::by_name::ByName;
use netlull_network::station::{DownloadSummary, NamedRadio, RadioSeconds, RadioSummary, Snapshot, StationCounts};
use netlull_units::Duration;
use netlull_wire::Endpoint;
use serde::Serialize;
use std::net::IpAddr;

/// A station since its start.
#[derive(Clone, Debug, Serialize)]
pub struct StationReport {
    /// The kind of its machine; `always_on` without one.
    pub mechanism: String,
    /// How long its radio takes to wake.
    pub wake_time_s: f64,
    /// How long all of it took.
    pub seconds: f64,
    /// Where its radio's time went.
    #[serde(flatten)]
    pub radio: RadioSeconds,
    /// Packets and frames.
    #[serde(flatten)]
    pub counts: StationCounts,
    /// Bytes of the packets that its radio received.
    pub received_bytes: u64,
    /// Packets that the host sent, or that were sent in its name.
    pub sent_packets: u64,
    /// Acknowledgements sent in the host's name, open ones and eager ones.
    pub own_acks: u64,
    /// Acknowledgements of the host's that said nothing beyond those, and for which the radio was not woken.
    pub redundant_acks: u64,
    /// Connections that were forgotten to make room.
    pub forgotten_connections: u64,
    /// Packets of connections whose SYN was not seen.
    pub unknown_packets: u64,
    /// Open acknowledgements sent again. Null without a shaper.
    pub resent_opens: Option<u64>,
    /// Idle before the first packets of bursts: awake too early. Null without a shaper.
    pub early_s: Option<f64>,
    /// Idle behind the last packets of bursts, until they were judged over. Null without a shaper.
    pub detection_s: Option<f64>,
    /// The state of the shaper of the largest download: initial, saving, recovery, standard or ended; null without a shaper.
    pub state: Option<&'static str>,
    /// Why it leaves windows alone, or did when the download ended: no_timestamps, bad_bursts, saturated or paced; null if it never came to that.
    pub fallback: Option<&'static str>,
    /// Its RTT.
    pub round_trip_s: Option<f64>,
    /// Energy under each power model of the radio.
    pub energy: ByName<RadioSummary>,
    /// Its downloads as one, from the first SYN until all that have begun are delivered; null before.
    pub download: Option<DownloadSummary>,
    /// Each of its downloads, the latest thousand: connections that brought data.
    pub downloads: Vec<DownloadReport>,
}

/// The download of one connection.
#[derive(Clone, Debug, Serialize)]
pub struct DownloadReport {
    /// The host's end.
    pub host: String,
    /// The other.
    pub peer: String,
    /// The bytes of its data that came, those that came twice included.
    pub bytes: u64,
    /// Whether it has come to its end, the peer's FIN or a reset.
    pub complete: bool,
    /// From its SYN to its end, or until now.
    #[serde(flatten)]
    pub span: DownloadSummary,
    /// What its shaper was about, if it has one.
    #[serde(flatten)]
    pub shaper: Option<ShaperReport>,
}

impl DownloadReport {
    /// The download of a connection, which is over, or goes on, at `over`.
    pub(super) fn of(entry: &Entry, radios: &[NamedRadio], over: &Snapshot) -> Self {
        let end = |end: Endpoint| match end.address {
            IpAddr::V4(address) => format!("{address}:{}", end.port),
            IpAddr::V6(address) => format!("[{address}]:{}", end.port),
        };
        Self {
            host: end(entry.flow.connection.from),
            peer: end(entry.flow.connection.to),
            bytes: entry.bytes,
            complete: entry.over.is_some(),
            span: DownloadSummary::of(radios, &over.since(&entry.begun)),
            shaper: entry.shaping().map(|shaping| ShaperReport::of(&shaping)),
        }
    }
}

/// A shaper, now or when its connection was forgotten.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ShaperReport {
    /// As [`StationReport::state`].
    pub state: &'static str,
    /// As [`StationReport::fallback`].
    pub fallback: Option<&'static str>,
    /// As [`StationReport::round_trip_s`].
    pub round_trip_s: Option<f64>,
    /// Bursts judged over.
    pub bursts: u64,
    /// Open acknowledgements sent again.
    pub resent_opens: u64,
}

impl ShaperReport {
    fn of(shaping: &Shaping) -> Self {
        Self {
            state: shaping.state.name(),
            fallback: shaping.fallback.map(Fallback::name),
            round_trip_s: shaping.round_trip.map(Duration::as_secs_f64),
            bursts: shaping.bursts,
            resent_opens: shaping.resent_opens,
        }
    }
}
