//! The report of a station, with the names of the simulator's summary.

use super::flows::Entry;
use netlull_mechanism::radio::Fallback;
use netlull_mechanism::station::Shaping;
use netlull_network::outcome::{
    ByName, DownloadSummary, NamedRadio, RadioSeconds, RadioSummary, Snapshot, StationCounts,
};
use netlull_units::Duration;
use netlull_wire::Endpoint;
use serde::Serialize;
use std::net::IpAddr;

/// The report of a station since its start.
#[derive(Clone, Debug, Serialize)]
pub struct StationReport {
    /// The kind of its machine; `always_on` without one.
    pub mechanism: String,
    /// The wake time of its radio, in seconds.
    pub wake_time_s: f64,
    /// The duration of the report, in seconds.
    pub seconds: f64,
    /// The time in each state of the radio.
    #[serde(flatten)]
    pub radio: RadioSeconds,
    /// The counts of packets and frames.
    #[serde(flatten)]
    pub counts: StationCounts,
    /// The bytes of the packets that its radio received.
    pub received_bytes: u64,
    /// The packets sent by the host or on its behalf.
    pub sent_packets: u64,
    /// The acknowledgements sent on the host's behalf, open and eager ones.
    pub own_acks: u64,
    /// The host's acknowledgements with no further information, for which the radio was not woken.
    pub redundant_acks: u64,
    /// The connections forgotten to make room.
    pub forgotten_connections: u64,
    /// The packets of connections whose SYN was not seen.
    pub unknown_packets: u64,
    /// The open acknowledgements sent again. Null without a shaper.
    pub resent_opens: Option<u64>,
    /// The idle time before the first packets of bursts, in seconds: awake too early. Null without a shaper.
    pub early_s: Option<f64>,
    /// The idle time from the last packets of bursts until their detected end, in seconds. Null without a shaper.
    pub detection_s: Option<f64>,
    /// The state of the shaper of the largest download: initial, saving, recovery, standard or ended; null without a
    /// shaper.
    pub state: Option<&'static str>,
    /// The reason why that shaper leaves windows unchanged, or did at the end of the download: no_timestamps,
    /// bad_bursts, saturated, paced or slowdown. Null if it never did.
    pub fallback: Option<&'static str>,
    /// The RTT of that shaper, in seconds.
    pub round_trip_s: Option<f64>,
    /// The energy under each power model of the radio.
    pub energy: ByName<RadioSummary>,
    /// All downloads as one, from the first SYN until all started ones are delivered; null before.
    pub download: Option<DownloadSummary>,
    /// The downloads, limited to the latest thousand: connections with received data.
    pub downloads: Vec<DownloadReport>,
}

/// The download of a connection.
#[derive(Clone, Debug, Serialize)]
pub struct DownloadReport {
    /// The host's endpoint.
    pub host: String,
    /// The peer's endpoint.
    pub peer: String,
    /// The bytes of data received, duplicates included.
    pub bytes: u64,
    /// True after the peer's FIN or a reset.
    pub complete: bool,
    /// The time from its SYN to its end, or until now.
    #[serde(flatten)]
    pub span: DownloadSummary,
    /// The report of its shaper, if it has one.
    #[serde(flatten)]
    pub shaper: Option<ShaperReport>,
}

impl DownloadReport {
    /// Reports the download of a connection that is over or observed at `over`.
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

/// The report of a shaper, now or when its connection was forgotten.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ShaperReport {
    /// The state, as in [`StationReport::state`].
    pub state: &'static str,
    /// The fallback, as in [`StationReport::fallback`].
    pub fallback: Option<&'static str>,
    /// The RTT, as in [`StationReport::round_trip_s`].
    pub round_trip_s: Option<f64>,
    /// The bursts that it has ended.
    pub bursts: u64,
    /// The open acknowledgements sent again.
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
