//! The report of a station.

use super::flows::Entry;
use super::{DownloadReport, LiveStation, StationReport};
use netlull_network::outcome::{DownloadSummary, RadioSummary};
use netlull_units::Instant;

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
            early_s: shapes.then(|| counters.early.as_secs_f64()),
            detection_s: shapes.then(|| counters.detection.as_secs_f64()),
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
