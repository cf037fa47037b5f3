//! Results of stations.

use super::station::Station;
use crate::scenario::{Scenario, StationSpec};
use netlull_mechanism::radio::Fallback;
use netlull_network::outcome::{
    ByName, DownloadSummary, RadioSeconds, RadioSummary, ShaperOutcome, Snapshot, StationCounts, StationOutcome,
};
use netlull_units::{Duration, Instant};
use serde::Serialize;

/// A station in the measured time.
#[derive(Clone, Debug, Serialize)]
pub struct StationSummary {
    /// The station's node.
    pub name: String,
    /// Its access point's node.
    pub access_point: String,
    /// The kind of its machine; `always_on` without one.
    pub mechanism: String,
    /// Wake-up time of its radio.
    pub wake_time_s: f64,
    /// Time in each state of its radio.
    #[serde(flatten)]
    pub radio: RadioSeconds,
    /// Packets and frames.
    #[serde(flatten)]
    pub counts: StationCounts,
    /// Retransmitted open acknowledgements, since the start.
    pub resent_opens: Option<u64>,
    /// Idle time before the first packets of bursts, because the radio was awake too early. Null without a shaper.
    pub early_s: Option<f64>,
    /// Idle time before the first packets of bursts in recovery, when the radio does not sleep. Null without a
    /// shaper.
    pub recovery_s: Option<f64>,
    /// Idle time after the last packets of bursts, until their ends were detected. Null without a shaper.
    pub detection_s: Option<f64>,
    /// The shaper's state at the end of the run: initial, saving, recovery, standard or ended; null without a shaper.
    pub state: Option<&'static str>,
    /// Reason for which the shaper leaves windows unchanged, at the latest when the download ended.
    ///
    /// The value is no_timestamps, bad_bursts, saturated, paced or slowdown, or null if this never happened. A resumed
    /// shaper has null again.
    pub fallback: Option<&'static str>,
    /// The shaper's round-trip time at the end of the run.
    pub round_trip_s: Option<f64>,
    /// Energy under each power model of the radio.
    pub energy: ByName<RadioSummary>,
    /// Its downloads, from the first opening until all TCP flows to it are delivered.
    ///
    /// Null if they are incomplete or began before the measured time.
    pub download: Option<DownloadSummary>,
}

/// Simulated or emulated stations, measured from an instant on.
pub(in crate::run) fn summaries(
    outcomes: &[StationOutcome],
    scenario: &Scenario,
    measured: Instant,
) -> Vec<StationSummary> {
    let each = outcomes.iter().zip(&scenario.stations);
    each.map(|(outcome, spec)| station_summary(scenario, outcome, spec, measured)).collect()
}

/// The counts of a simulated station up to `now`.
pub(in crate::run) fn outcome(station: &Station, now: Snapshot) -> StationOutcome {
    let (counted, then) = (&station.counters, &station.base);
    let waits = counted.waits.since(&then.waits);
    let ends = station.downloads.begun.as_ref().zip(station.downloads.over.as_ref());
    StationOutcome {
        radio: now.times.since(&station.base_at.times),
        counts: counted.counts.since(&then.counts),
        shaper: station.shaping().map(|shaping| ShaperOutcome::of(&shaping, waits)),
        download: ends.map(|(begun, over)| over.since(begun)),
    }
}

fn station_summary(
    scenario: &Scenario,
    outcome: &StationOutcome,
    spec: &StationSpec,
    measured: Instant,
) -> StationSummary {
    let (times, shaper) = (&outcome.radio, outcome.shaper.as_ref());
    StationSummary {
        name: scenario.nodes[spec.node].clone(),
        access_point: scenario.nodes[spec.access].clone(),
        mechanism: spec.kind().to_owned(),
        wake_time_s: spec.context.wake.as_secs_f64(),
        radio: times.into(),
        counts: outcome.counts,
        resent_opens: shaper.map(|shaper| shaper.resent_opens),
        early_s: shaper.map(|shaper| shaper.early.as_secs_f64()),
        recovery_s: shaper.map(|shaper| shaper.recovery.as_secs_f64()),
        detection_s: shaper.map(|shaper| shaper.detection.as_secs_f64()),
        state: shaper.map(|shaper| shaper.state.name()),
        fallback: shaper.and_then(|shaper| shaper.fallback).map(Fallback::name),
        round_trip_s: shaper.and_then(|shaper| shaper.round_trip).map(Duration::as_secs_f64),
        energy: RadioSummary::of(&spec.radios, times),
        // Downloads that began before the measured time are omitted.
        download: outcome
            .download
            .as_ref()
            .filter(|download| download.begun >= measured)
            .map(|download| DownloadSummary::of(&spec.radios, download)),
    }
}
