//! A station in numbers, under the names that the simulator's summary has.

use super::config::NamedRadio;
use netlull_mechanism::radio::{Fallback, Shaper, ShaperState};
use netlull_power::RadioTime;
use netlull_units::{Duration, Instant};
use serde::{Serialize, Serializer};

/// Values under names, in the order of the names' configuration.
#[derive(Clone, Debug)]
pub struct ByName<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A station since its start.
#[derive(Clone, Debug, Serialize)]
pub struct StationReport {
    /// What lets its radio sleep: always_on, eager, client_shaper, psm or bsd.
    pub mechanism: &'static str,
    /// How long its radio takes to wake.
    pub wake_time_s: f64,
    /// How long all of it took.
    pub seconds: f64,
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
    /// Their bytes.
    pub received_bytes: u64,
    /// Packets that came while its radio did not hear.
    pub missed_packets: u64,
    /// Their bytes.
    pub missed_bytes: u64,
    /// Packets that the host sent, or that were sent in its name.
    pub sent_packets: u64,
    /// Packets that its access point held.
    pub held_packets: u64,
    /// Packets that its access point had no room for.
    pub refused_packets: u64,
    /// Beacons that it heard.
    pub beacons: u64,
    /// Polls that it sent.
    pub polls: u64,
    /// Acknowledgements with a window of 0.
    pub closed_acks: u64,
    /// Acknowledgements sent in the host's name, open ones and eager ones.
    pub own_acks: u64,
    /// Acknowledgements of the host's that said nothing beyond those, and for which the radio was not woken.
    pub redundant_acks: u64,
    /// Connections that were forgotten to make room.
    pub forgotten_connections: u64,
    /// Packets of connections whose SYN was not seen.
    pub unknown_packets: u64,
    /// Bursts that its shapers judged over.
    pub bursts: u64,
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
    pub energy: ByName<RadioReport>,
    /// Its downloads as one, from the first SYN until all that have begun are delivered; null before.
    pub download: Option<SpanReport>,
    /// Each of its downloads, the latest thousand: connections that brought data.
    pub downloads: Vec<DownloadReport>,
}

/// Energy of a radio in joules.
#[derive(Clone, Debug, Serialize)]
pub struct RadioReport {
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

/// A time, and what the radio did meanwhile.
#[derive(Clone, Debug, Serialize)]
pub struct SpanReport {
    /// When it began.
    pub start_s: f64,
    /// How long it took.
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
    pub span: SpanReport,
    /// What its shaper was about, if it has one.
    #[serde(flatten)]
    pub shaper: Option<ShaperReport>,
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
    pub(super) fn of(shaper: &Shaper) -> Self {
        Self {
            state: state_name(shaper.state()),
            fallback: shaper.fallback().map(fallback_name),
            round_trip_s: shaper.rtt().map(Duration::as_secs_f64),
            bursts: shaper.bursts(),
            resent_opens: shaper.resent_opens(),
        }
    }
}

/// What was so at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapshot {
    pub(super) at: Instant,
    pub(super) times: RadioTime,
    pub(super) missed_packets: u64,
}

/// What lies between two sums of times.
pub(super) fn between(then: &RadioTime, now: &RadioTime) -> RadioTime {
    RadioTime {
        asleep: now.asleep.saturating_sub(then.asleep),
        waking: now.waking.saturating_sub(then.waking),
        idle: now.idle.saturating_sub(then.idle),
        receiving: now.receiving.saturating_sub(then.receiving),
        transmitting: now.transmitting.saturating_sub(then.transmitting),
        wakes: now.wakes.saturating_sub(then.wakes),
    }
}

pub(super) fn span(radios: &[NamedRadio], begun: &Snapshot, over: &Snapshot) -> SpanReport {
    let (times, seconds) = (between(&begun.times, &over.times), over.at.saturating_since(begun.at).as_secs_f64());
    let joules = |radio: &NamedRadio| radio.power.energy(&times).total().as_f64();
    SpanReport {
        start_s: begun.at.as_secs_f64(),
        seconds,
        missed_packets: over.missed_packets - begun.missed_packets,
        asleep_s: times.asleep.as_secs_f64(),
        wakes: times.wakes,
        energy_j: ByName(radios.iter().map(|radio| (radio.name.clone(), joules(radio))).collect()),
        energy_delay_js: ByName(radios.iter().map(|radio| (radio.name.clone(), joules(radio) * seconds)).collect()),
    }
}

pub(super) fn radio_energy(radio: &NamedRadio, times: &RadioTime) -> RadioReport {
    let awake = RadioTime {
        asleep: Duration::ZERO,
        waking: Duration::ZERO,
        idle: times.idle + times.asleep + times.waking,
        wakes: 0,
        ..*times
    };
    let (energy, reference) = (radio.power.energy(times), radio.power.energy(&awake).total().as_f64());
    let total = energy.total().as_f64();
    RadioReport {
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
