//! Stations in numbers.

use super::parts::{Dozer, Snapshot, Station};
use crate::run::summary::ByName;
use crate::run::world::World;
use crate::scenario::{NamedRadio, Scenario, StationSpec};
use netlull_mechanism::radio::{Fallback, ShaperState};
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
fn between(then: &RadioTime, now: &RadioTime) -> RadioTime {
    RadioTime {
        asleep: now.asleep.saturating_sub(then.asleep),
        waking: now.waking.saturating_sub(then.waking),
        idle: now.idle.saturating_sub(then.idle),
        receiving: now.receiving.saturating_sub(then.receiving),
        transmitting: now.transmitting.saturating_sub(then.transmitting),
        wakes: now.wakes - then.wakes,
    }
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

fn download(station: &Station, spec: &StationSpec, measured: Instant) -> Option<DownloadSummary> {
    let (begun, over): (&Snapshot, &Snapshot) =
        station.downloads.begun.as_ref().zip(station.downloads.over.as_ref())?;
    if begun.at < measured {
        return None;
    }
    let (times, seconds) = (between(&begun.times, &over.times), (over.at - begun.at).as_secs_f64());
    let joules = |radio: &NamedRadio| radio.power.energy(&times).total().as_f64();
    Some(DownloadSummary {
        start_s: begun.at.as_secs_f64(),
        seconds,
        missed_packets: over.missed_packets - begun.missed_packets,
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
    let each = world.stations.iter().zip(&scenario.stations);
    each.map(|(station, spec)| station_summary(world, scenario, station, spec)).collect()
}

fn station_summary(world: &World, scenario: &Scenario, station: &Station, spec: &StationSpec) -> StationSummary {
    let times = between(&station.base_at.times, &station.meter.times(world.now));
    let (now, then) = (&station.counters, &station.base);
    let shaper = match &station.machine {
        Dozer::Shaper(shaper) => Some(shaper),
        _ => None,
    };
    let spent = |now: Duration, then: Duration| shaper.is_some().then(|| now.saturating_sub(then).as_secs_f64());
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
        received_packets: now.received_packets - then.received_packets,
        missed_packets: now.missed_packets - then.missed_packets,
        missed_bytes: now.missed_bytes - then.missed_bytes,
        held_packets: now.held_packets - then.held_packets,
        refused_packets: now.refused_packets - then.refused_packets,
        beacons: now.beacons - then.beacons,
        polls: now.polls - then.polls,
        closed_acks: now.closed_acks - then.closed_acks,
        bursts: now.bursts - then.bursts,
        resent_opens: shaper.map(|shaper| shaper.resent_opens()),
        early_s: spent(now.early, then.early),
        detection_s: spent(now.detection, then.detection),
        state: shaper.map(|shaper| state_name(shaper.state())),
        fallback: shaper.and_then(|shaper| shaper.fallback()).map(fallback_name),
        round_trip_s: shaper.and_then(|shaper| shaper.rtt()).map(Duration::as_secs_f64),
        energy: ByName(spec.radios.iter().map(|radio| (radio.name.clone(), radio_energy(radio, &times))).collect()),
        download: download(station, spec, world.baseline.at),
    }
}
