//! Stations in numbers.

use super::parts::{Dozer, Station};
use crate::run::summary::ByName;
use crate::run::world::World;
use crate::scenario::{NamedRadio, Scenario, StationSpec};
use netlull_mechanism::radio::{Fallback, ShaperState};
use netlull_network::outcome::{DownloadOutcome, RadioMark, ShaperOutcome, StationOutcome};
use netlull_power::RadioTime;
use netlull_units::{Duration, Instant};
use serde::Serialize;

/// A station over the time measured.
#[derive(Clone, Debug, Serialize)]
pub struct StationSummary {
    /// Its node.
    pub name: String,
    /// Its access point's node.
    pub access_point: String,
    /// What lets its radio sleep: always_on, eager, client_shaper, psm or bsd.
    pub mechanism: &'static str,
    /// How long its radio takes to wake.
    pub wake_time_s: f64,
    /// Asleep.
    pub asleep_s: f64,
    /// Waking.
    pub waking_s: f64,
    /// Awake with nothing on the air for it.
    pub idle_s: f64,
    /// Receiving and not transmitting.
    pub receiving_s: f64,
    /// Transmitting.
    pub transmitting_s: f64,
    /// How often it woke.
    pub wakes: u64,
    /// Packets that its radio received.
    pub received_packets: u64,
    /// Packets that came while its radio did not hear.
    pub missed_packets: u64,
    /// Their bytes on the wire.
    pub missed_bytes: u64,
    /// Packets that its access point held for it.
    pub held_packets: u64,
    /// Packets for which its access point had no room.
    pub refused_packets: u64,
    /// Beacons that it heard.
    pub beacons: u64,
    /// Polls that it sent.
    pub polls: u64,
    /// Acknowledgements with a window of 0.
    pub closed_acks: u64,
    /// Bursts that its shaper judged over.
    pub bursts: u64,
    /// Open acknowledgements sent again, since the start.
    pub resent_opens: Option<u64>,
    /// Idle before the first packets of bursts: awake too early. Null without a shaper.
    pub early_s: Option<f64>,
    /// Idle behind the last packets of bursts, until they were judged over. Null without a shaper.
    pub detection_s: Option<f64>,
    /// The shaper's state at the end of the run: initial, saving, recovery, standard or ended; null without a shaper.
    pub state: Option<&'static str>,
    /// Why it leaves windows alone, or did when the download ended: no_timestamps, bad_bursts, saturated or paced; null if it never came to that.
    pub fallback: Option<&'static str>,
    /// The shaper's RTT at the end of the run.
    pub round_trip_s: Option<f64>,
    /// Energy under each power model of the radio.
    pub energy: ByName<RadioSummary>,
    /// Its downloads, from the first opening until all TCP flows to it are delivered; null if that has not come, or had begun before the
    /// measurement.
    pub download: Option<DownloadSummary>,
}

/// Energy of a radio in joules.
#[derive(Clone, Debug, Serialize)]
pub struct RadioSummary {
    /// Asleep.
    pub asleep_j: f64,
    /// Waking.
    pub waking_j: f64,
    /// Idle.
    pub idle_j: f64,
    /// Receiving.
    pub receiving_j: f64,
    /// Transmitting.
    pub transmitting_j: f64,
    /// All of it.
    pub total_j: f64,
    /// The same traffic with a radio that is awake all the time.
    pub awake_j: f64,
    /// 1 - total/awake.
    pub saving: f64,
}

/// Downloads as a whole.
#[derive(Clone, Debug, Serialize)]
pub struct DownloadSummary {
    /// When the first opened.
    pub start_s: f64,
    /// From then until all data and the end of it were delivered.
    pub seconds: f64,
    /// Packets missed meanwhile.
    pub missed_packets: u64,
    /// Asleep meanwhile.
    pub asleep_s: f64,
    /// How often the radio woke meanwhile.
    pub wakes: u64,
    /// Energy meanwhile under each power model, joules.
    pub energy_j: ByName<f64>,
    /// Energy times delay under each power model, joule seconds (client-centered-2004 section IV-A-b).
    pub energy_delay_js: ByName<f64>,
}

/// What lies between two sums of times.
fn between(then: &RadioTime, now: &RadioTime) -> RadioMark {
    RadioMark {
        asleep: now.asleep.saturating_sub(then.asleep),
        waking: now.waking.saturating_sub(then.waking),
        idle: now.idle.saturating_sub(then.idle),
        receiving: now.receiving.saturating_sub(then.receiving),
        transmitting: now.transmitting.saturating_sub(then.transmitting),
        wakes: now.wakes - then.wakes,
    }
}

fn radio_time(mark: &RadioMark) -> RadioTime {
    let RadioMark { asleep, waking, idle, receiving, transmitting, wakes } = *mark;
    RadioTime { asleep, waking, idle, receiving, transmitting, wakes }
}

fn radio_energy(radio: &NamedRadio, times: &RadioTime) -> RadioSummary {
    let awake = RadioTime {
        asleep: Duration::ZERO,
        waking: Duration::ZERO,
        idle: times.idle + times.asleep + times.waking,
        wakes: 0,
        ..*times
    };
    let (energy, reference) = (radio.power.energy(times), radio.power.energy(&awake).total().as_f64());
    let total = energy.total().as_f64();
    RadioSummary {
        asleep_j: energy.asleep.as_f64(),
        waking_j: energy.waking.as_f64(),
        idle_j: energy.idle.as_f64(),
        receiving_j: energy.receiving.as_f64(),
        transmitting_j: energy.transmitting.as_f64(),
        total_j: total,
        awake_j: reference,
        saving: if reference > 0.0 { 1.0 - total / reference } else { 0.0 },
    }
}

/// The downloads of a station, unless they had begun before the measurement.
fn download(download: &DownloadOutcome, spec: &StationSpec, measured: Instant) -> Option<DownloadSummary> {
    if download.begun < measured {
        return None;
    }
    let (times, seconds) = (radio_time(&download.radio), (download.over - download.begun).as_secs_f64());
    let joules = |radio: &NamedRadio| radio.power.energy(&times).total().as_f64();
    Some(DownloadSummary {
        start_s: download.begun.as_secs_f64(),
        seconds,
        missed_packets: download.missed_packets,
        asleep_s: times.asleep.as_secs_f64(),
        wakes: times.wakes,
        energy_j: ByName(spec.radios.iter().map(|radio| (radio.name.clone(), joules(radio))).collect()),
        energy_delay_js: ByName(
            spec.radios.iter().map(|radio| (radio.name.clone(), joules(radio) * seconds)).collect(),
        ),
    })
}

fn state_name(state: ShaperState) -> &'static str {
    match state {
        ShaperState::Initial => "initial",
        ShaperState::Saving => "saving",
        ShaperState::Recovery => "recovery",
        ShaperState::Standard(_) => "standard",
        ShaperState::Ended => "ended",
    }
}

fn fallback_name(why: Fallback) -> &'static str {
    match why {
        Fallback::NoTimestamps => "no_timestamps",
        Fallback::BadBursts => "bad_bursts",
        Fallback::Saturated => "saturated",
        Fallback::Paced => "paced",
    }
}

/// All stations of a run that is over.
pub(in crate::run) fn stations(world: &World, scenario: &Scenario) -> Vec<StationSummary> {
    let outcomes: Vec<StationOutcome> = world.stations.iter().map(|station| outcome(world, station)).collect();
    summaries(&outcomes, scenario, world.baseline.at)
}

/// Stations that were simulated or emulated, measured from an instant on.
pub(in crate::run) fn summaries(
    outcomes: &[StationOutcome],
    scenario: &Scenario,
    measured: Instant,
) -> Vec<StationSummary> {
    let each = outcomes.iter().zip(&scenario.stations);
    each.map(|(outcome, spec)| station_summary(scenario, outcome, spec, measured)).collect()
}

/// What a simulated station counted.
fn outcome(world: &World, station: &Station) -> StationOutcome {
    let (now, then) = (&station.counters, &station.base);
    let shaper = match &station.machine {
        Dozer::Shaper(shaper) => Some(ShaperOutcome {
            state: shaper.state(),
            fallback: shaper.fallback(),
            round_trip: shaper.rtt(),
            resent_opens: shaper.resent_opens(),
            early: now.early.saturating_sub(then.early),
            detection: now.detection.saturating_sub(then.detection),
        }),
        _ => None,
    };
    let ends = station.downloads.begun.as_ref().zip(station.downloads.over.as_ref());
    StationOutcome {
        radio: between(&station.base_at.times, &station.meter.times(world.now)),
        received_packets: now.received_packets - then.received_packets,
        missed_packets: now.missed_packets - then.missed_packets,
        missed_bytes: now.missed_bytes - then.missed_bytes,
        held_packets: now.held_packets - then.held_packets,
        refused_packets: now.refused_packets - then.refused_packets,
        beacons: now.beacons - then.beacons,
        polls: now.polls - then.polls,
        closed_acks: now.closed_acks - then.closed_acks,
        bursts: now.bursts - then.bursts,
        shaper,
        download: ends.map(|(begun, over)| DownloadOutcome {
            begun: begun.at,
            over: over.at,
            radio: between(&begun.times, &over.times),
            missed_packets: over.missed_packets - begun.missed_packets,
        }),
    }
}

fn station_summary(
    scenario: &Scenario,
    outcome: &StationOutcome,
    spec: &StationSpec,
    measured: Instant,
) -> StationSummary {
    let (times, shaper) = (radio_time(&outcome.radio), outcome.shaper.as_ref());
    StationSummary {
        name: scenario.nodes[spec.node].clone(),
        access_point: scenario.nodes[spec.access].clone(),
        mechanism: spec.mechanism.kind(),
        wake_time_s: spec.wake.as_secs_f64(),
        asleep_s: times.asleep.as_secs_f64(),
        waking_s: times.waking.as_secs_f64(),
        idle_s: times.idle.as_secs_f64(),
        receiving_s: times.receiving.as_secs_f64(),
        transmitting_s: times.transmitting.as_secs_f64(),
        wakes: times.wakes,
        received_packets: outcome.received_packets,
        missed_packets: outcome.missed_packets,
        missed_bytes: outcome.missed_bytes,
        held_packets: outcome.held_packets,
        refused_packets: outcome.refused_packets,
        beacons: outcome.beacons,
        polls: outcome.polls,
        closed_acks: outcome.closed_acks,
        bursts: outcome.bursts,
        resent_opens: shaper.map(|shaper| shaper.resent_opens),
        early_s: shaper.map(|shaper| shaper.early.as_secs_f64()),
        detection_s: shaper.map(|shaper| shaper.detection.as_secs_f64()),
        state: shaper.map(|shaper| state_name(shaper.state)),
        fallback: shaper.and_then(|shaper| shaper.fallback).map(fallback_name),
        round_trip_s: shaper.and_then(|shaper| shaper.round_trip).map(Duration::as_secs_f64),
        energy: ByName(spec.radios.iter().map(|radio| (radio.name.clone(), radio_energy(radio, &times))).collect()),
        download: outcome.download.as_ref().and_then(|over| download(over, spec, measured)),
    }
}
