//! The results of a station: its report, with the names of the simulator's summary, its part of an emulation's outcome,
//! and its records for the tables `air` and `burst`.

use super::LiveStation;
use super::flows::Entry;
use netlull_mechanism::radio::{Burst, Fallback};
use netlull_mechanism::station::{PacketView, Shaping};
use netlull_network::outcome::{
    ByName, DownloadSummary, NamedRadio, RadioSeconds, RadioSummary, ShaperOutcome, Snapshot, StationCounts,
    StationOutcome,
};
use netlull_network::probe::{AirRow, AirTime, StationProbe};
use netlull_network::radio::Coming;
use netlull_units::{Duration, Instant};
use netlull_wire::Endpoint;
use serde::Serialize;
use std::collections::VecDeque;
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
    /// The idle time before the first packets of bursts in recovery, in seconds. Null without a shaper.
    pub recovery_s: Option<f64>,
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

impl LiveStation {
    /// Reports the station's activity since its start.
    #[must_use]
    pub fn summary(&self, now: Instant) -> StationReport {
        let (times, counters) = (self.radio.times(now, None), &self.counters);
        let shapes = self.config.has_machines_of_connections();
        let known = self.flows.entries().filter(|entry| entry.bytes > 0);
        let all_over = known.clone().all(|entry| entry.over.is_some());
        let download = |entry: &Entry| {
            let over = entry.over.unwrap_or_else(|| self.snapshot(now));
            DownloadReport::of(entry, &self.config.radios, &over)
        };
        let downloads: Vec<_> = self.past.iter().cloned().chain(known.map(download)).collect();
        let largest = downloads.iter().max_by_key(|download| download.bytes).and_then(|download| download.shaper);
        let resent: u64 = self.flows.entries().filter_map(Entry::shaping).map(|shaping| shaping.resent_opens).sum();
        StationReport {
            mechanism: self.config.kind().to_owned(),
            wake_time_s: self.config.wake.as_secs_f64(),
            seconds: now.saturating_since(self.start).as_secs_f64(),
            radio: (&times).into(),
            counts: counters.counts,
            received_bytes: counters.received_bytes,
            sent_packets: counters.sent_packets,
            own_acks: counters.own_acks,
            redundant_acks: counters.redundant_acks,
            forgotten_connections: self.flows.forgotten,
            unknown_packets: counters.unknown_packets,
            resent_opens: shapes.then_some(counters.resent_opens + resent),
            early_s: shapes.then(|| counters.waits.early.as_secs_f64()),
            recovery_s: shapes.then(|| counters.waits.recovery.as_secs_f64()),
            detection_s: shapes.then(|| counters.waits.detection.as_secs_f64()),
            state: largest.map(|shaper| shaper.state),
            fallback: largest.and_then(|shaper| shaper.fallback),
            round_trip_s: largest.and_then(|shaper| shaper.round_trip_s),
            energy: RadioSummary::of(&self.config.radios, &times),
            download: self
                .begun
                .as_ref()
                .zip(self.over.as_ref())
                .filter(|_| all_over)
                .map(|(begun, over)| DownloadSummary::of(&self.config.radios, &over.since(begun))),
            downloads,
        }
    }
}

impl LiveStation {
    /// Starts the records for [`tell_probe`](Self::tell_probe).
    pub fn watch(&mut self) {
        self.records.begin();
        self.radio.watch();
    }

    /// Reports all events since the last call to a probe, under the number of this station.
    pub fn tell_probe(&mut self, station: u32, probe: &mut StationProbe) {
        for (at, state) in self.radio.changes() {
            probe.radio(at, station, state);
        }
        self.records.tell(station, probe);
    }

    /// Starts the outcome's counts here. Of a packet on the air, `coming`, the part received so far does not count.
    pub fn restart(&mut self, now: Instant, coming: Option<Coming>) {
        let times = self.radio.times(now, coming);
        self.base = (Snapshot { times, ..self.snapshot(now) }, self.counters);
    }

    /// The counts since the last restart; `coming` as there. The driver adds the packets that its access point held.
    #[must_use]
    pub fn outcome(&self, now: Instant, coming: Option<Coming>) -> StationOutcome {
        let (counters, (since, base)) = (&self.counters, &self.base);
        let known = || self.flows.entries().filter(|entry| entry.bytes > 0);
        let all_over = known().all(|entry| entry.over.is_some());
        let waits = counters.waits.since(&base.waits);
        let largest = known().max_by_key(|entry| entry.bytes);
        StationOutcome {
            radio: self.radio.times(now, coming).since(&since.times),
            counts: counters.counts.since(&base.counts),
            shaper: self.config.has_machines_of_connections().then(|| {
                largest
                    .and_then(Entry::shaping)
                    .map_or_else(ShaperOutcome::initial, |shaping| ShaperOutcome::of(&shaping, waits))
            }),
            download: self.begun.zip(self.over).filter(|_| all_over).map(|(begun, over)| over.since(&begun)),
        }
    }
}

/// An action of a station, or an observation.
#[derive(Clone, Copy, Debug)]
enum Record {
    /// A transmission to it or from it.
    Air(AirRow),
    /// The end of a burst, as judged by a shaper.
    Burst(Burst),
}

/// The records, kept only if somebody reads them.
#[derive(Debug, Default)]
pub(super) struct Records(Option<VecDeque<Record>>);

impl Records {
    /// Starts to keep records.
    pub(super) fn begin(&mut self) {
        self.0.get_or_insert_default();
    }

    /// True if records are kept.
    pub(super) fn is_watched(&self) -> bool {
        self.0.is_some()
    }

    /// Records a packet on the air.
    pub(super) fn packet(&mut self, kind: &'static str, time: AirTime, view: impl FnOnce() -> PacketView) {
        self.keep(|| Record::Air(AirRow::packet(kind, time, &view())));
    }

    /// Records a frame other than a packet on the air.
    pub(super) fn frame(&mut self, kind: &'static str, time: AirTime, size: u32) {
        self.keep(|| Record::Air(AirRow::frame(kind, time, size)));
    }

    /// Records a burst that a shaper has ended.
    pub(super) fn burst(&mut self, burst: Burst) {
        self.keep(|| Record::Burst(burst));
    }

    fn keep(&mut self, record: impl FnOnce() -> Record) {
        if let Some(records) = &mut self.0 {
            records.push_back(record());
        }
    }

    /// Passes all records to a probe, under the number of their station.
    pub(super) fn tell(&mut self, station: u32, probe: &mut StationProbe) {
        for record in self.0.iter_mut().flat_map(|records| records.drain(..)) {
            match record {
                Record::Air(row) => probe.air(station, &row),
                Record::Burst(burst) => probe.burst(station, &burst),
            }
        }
    }
}
