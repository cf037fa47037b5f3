//! Stations in numbers: the energy of a radio and of its downloads, with the names used in summaries.

use crate::by_name::ByName;
use crate::outcome::DownloadOutcome;
use netlull_power::{RadioPower, RadioTime};
use netlull_units::Instant;
use serde::{Deserialize, Serialize};

/// A power model of a radio with a name.
#[derive(Clone, Debug)]
pub struct NamedRadio {
    /// The name in results.
    pub name: String,
    /// The power model.
    pub power: RadioPower,
}

/// The counts of a station, its radio and its access point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationCounts {
    /// Packets received by the radio.
    pub received_packets: u64,
    /// Packets that arrived while the radio did not hear.
    pub missed_packets: u64,
    /// Bytes of the missed packets on the wire.
    pub missed_bytes: u64,
    /// Packets held by the access point.
    pub held_packets: u64,
    /// Packets that the access point's full buffer dropped.
    pub refused_packets: u64,
    /// Beacons heard.
    pub beacons: u64,
    /// Polls sent.
    pub polls: u64,
    /// Acknowledgements with a window of 0.
    pub closed_acks: u64,
    /// Bursts whose end the shapers detected.
    pub bursts: u64,
}

impl StationCounts {
    /// The counts since `then`.
    #[must_use]
    pub fn since(&self, then: &Self) -> Self {
        Self {
            received_packets: self.received_packets - then.received_packets,
            missed_packets: self.missed_packets - then.missed_packets,
            missed_bytes: self.missed_bytes - then.missed_bytes,
            held_packets: self.held_packets - then.held_packets,
            refused_packets: self.refused_packets - then.refused_packets,
            beacons: self.beacons - then.beacons,
            polls: self.polls - then.polls,
            closed_acks: self.closed_acks - then.closed_acks,
            bursts: self.bursts - then.bursts,
        }
    }
}

/// The time of a radio in each state, in seconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RadioSeconds {
    /// The time asleep.
    pub asleep_s: f64,
    /// The time spent waking.
    pub waking_s: f64,
    /// The time awake without traffic for this radio.
    pub idle_s: f64,
    /// The time receiving but not transmitting.
    pub receiving_s: f64,
    /// The time transmitting.
    pub transmitting_s: f64,
    /// The number of wake-ups.
    pub wakes: u64,
}

impl From<&RadioTime> for RadioSeconds {
    fn from(times: &RadioTime) -> Self {
        Self {
            asleep_s: times.asleep.as_secs_f64(),
            waking_s: times.waking.as_secs_f64(),
            idle_s: times.idle.as_secs_f64(),
            receiving_s: times.receiving.as_secs_f64(),
            transmitting_s: times.transmitting.as_secs_f64(),
            wakes: times.wakes,
        }
    }
}

/// The energy of a radio in joules.
#[derive(Clone, Debug, Serialize)]
pub struct RadioSummary {
    /// The energy asleep.
    pub asleep_j: f64,
    /// The energy while waking.
    pub waking_j: f64,
    /// The energy while idle.
    pub idle_j: f64,
    /// The energy while receiving.
    pub receiving_j: f64,
    /// The energy while transmitting.
    pub transmitting_j: f64,
    /// The total energy.
    pub total_j: f64,
    /// The energy for the same traffic with a radio that never sleeps.
    pub awake_j: f64,
    /// The energy saving, 1 - total/awake.
    pub saving: f64,
}

impl RadioSummary {
    /// The energy of each radio model for these times.
    #[must_use]
    pub fn of(radios: &[NamedRadio], times: &RadioTime) -> ByName<Self> {
        by_radio(radios, |power| Self::under(power, times))
    }

    fn under(power: &RadioPower, times: &RadioTime) -> Self {
        let (energy, awake_j) = (power.energy(times), power.energy(&times.awake()).total().as_f64());
        let total_j = energy.total().as_f64();
        Self {
            asleep_j: energy.asleep.as_f64(),
            waking_j: energy.waking.as_f64(),
            idle_j: energy.idle.as_f64(),
            receiving_j: energy.receiving.as_f64(),
            transmitting_j: energy.transmitting.as_f64(),
            total_j,
            awake_j,
            saving: if awake_j > 0.0 { 1.0 - total_j / awake_j } else { 0.0 },
        }
    }
}

/// All downloads together, or one of them.
#[derive(Clone, Debug, Serialize)]
pub struct DownloadSummary {
    /// The time of the first opening.
    pub start_s: f64,
    /// The time from then until the delivery of all data and FINs.
    pub seconds: f64,
    /// Packets missed during the downloads.
    pub missed_packets: u64,
    /// The time asleep during the downloads.
    pub asleep_s: f64,
    /// The number of wake-ups during the downloads.
    pub wakes: u64,
    /// The energy of the downloads under each power model, in joules.
    pub energy_j: ByName<f64>,
    /// The energy-delay product under each power model, in joule seconds (client-centered-2004 section IV-A-b).
    pub energy_delay_js: ByName<f64>,
}

impl DownloadSummary {
    /// The summary of a download with these radio models.
    #[must_use]
    pub fn of(radios: &[NamedRadio], download: &DownloadOutcome) -> Self {
        let (times, seconds) = (&download.radio, download.over.saturating_since(download.begun).as_secs_f64());
        let joules = |power: &RadioPower| power.energy(times).total().as_f64();
        Self {
            start_s: download.begun.as_secs_f64(),
            seconds,
            missed_packets: download.missed_packets,
            asleep_s: times.asleep.as_secs_f64(),
            wakes: times.wakes,
            energy_j: by_radio(radios, joules),
            energy_delay_js: by_radio(radios, |power| joules(power) * seconds),
        }
    }
}

fn by_radio<T>(radios: &[NamedRadio], value: impl Fn(&RadioPower) -> T) -> ByName<T> {
    ByName(radios.iter().map(|radio| (radio.name.clone(), value(&radio.power))).collect())
}

/// The state of a measurement at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// The instant.
    pub at: Instant,
    /// The time of the radio in each state.
    pub times: RadioTime,
    /// Missed packets.
    pub missed_packets: u64,
}

impl Snapshot {
    /// The outcome of a download that began at `begun` and ends now.
    #[must_use]
    pub fn since(&self, begun: &Self) -> DownloadOutcome {
        DownloadOutcome {
            begun: begun.at,
            over: self.at,
            radio: self.times.since(&begun.times),
            missed_packets: self.missed_packets - begun.missed_packets,
        }
    }
}
