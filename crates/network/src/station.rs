//! Stations in numbers: the energy of a radio and of the downloads over it, under the names that summaries have.

use crate::by_name::ByName;
use crate::outcome::DownloadOutcome;
use netlull_power::{RadioPower, RadioTime};
use netlull_units::Instant;
use serde::{Deserialize, Serialize};

/// A power model of a radio under a name of its own.
#[derive(Clone, Debug)]
pub struct NamedRadio {
    /// Name in results.
    pub name: String,
    /// The model.
    pub power: RadioPower,
}

/// What a station, its radio and its access point counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationCounts {
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
    /// Bursts that its shapers judged over.
    pub bursts: u64,
}

impl StationCounts {
    /// What has come since `then`.
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

/// Where a radio's time has gone, in seconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RadioSeconds {
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

impl RadioSummary {
    /// Of each radio, if it spent its time so.
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

/// Downloads as a whole, or one of them.
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

impl DownloadSummary {
    /// With these radios.
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

/// What was so at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// When.
    pub at: Instant,
    /// Where the radio's time had gone.
    pub times: RadioTime,
    /// Packets missed.
    pub missed_packets: u64,
}

impl Snapshot {
    /// A download that began at `begun` and is over now.
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
