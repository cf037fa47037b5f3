//! The counts of an emulation, from which the simulator computes its usual summary with the same columns. Both use
//! the same summaries of stations and their downloads.

use crate::gateway_summary::GatewaySummary;
use crate::probe::Table;
use crate::queue::LinkCounters;
use netlull_mechanism::link::LowPowerTimes;
use netlull_mechanism::radio::{Burst, Fallback, ShaperState};
use netlull_mechanism::station::Shaping;
use netlull_power::{RadioPower, RadioTime};
use netlull_units::{BitRate, Duration, Instant};
use serde::{Deserialize, Serialize, Serializer};

/// The counts of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The [`FORMAT`](crate::plan::FORMAT) of the plan.
    pub format: u32,
    /// Packet-hops since the start: packets times crossed links.
    pub packet_hops: u64,
    /// The number of handled events.
    pub events: u64,
    /// The counters at the plan's marks.
    pub marks: Vec<NetworkMark>,
    /// The initial rate and every change of each link with a variable rate.
    pub rates: Vec<Vec<(Instant, BitRate)>>,
    /// The gateway of each link.
    pub gateways: Vec<Option<GatewaySummary>>,
    /// The outcome of each flow.
    pub flows: Vec<FlowOutcome>,
    /// The outcome of each station, over the measured time.
    pub stations: Vec<StationOutcome>,
    /// The recorded tables.
    pub tables: Vec<Table>,
    /// The lateness of the emulation.
    pub lateness: Lateness,
    /// The system of the emulation.
    pub system: System,
    /// Features of the scenario that this system lacks, one sentence each.
    pub differences: Vec<String>,
}

/// The counters at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkMark {
    /// The instant.
    pub at: Instant,
    /// The counters of each link.
    pub links: Vec<LinkMark>,
    /// The counters of each flow.
    pub flows: Vec<FlowMark>,
    /// The packets lost by routers.
    pub routers: RouterLosses,
}

/// Packets lost by routers since the start, in scenarios with sleeping links or hop limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterLosses {
    /// Packets without a route.
    pub unroutable: u64,
    /// Packets that reached their hop limit.
    pub expired: u64,
}

/// A link at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkMark {
    /// The counters since the start.
    pub counters: LinkCounters,
    /// The time at each rate since the first mark; `None` for a constant rate.
    pub residency: Option<ResidencyMark>,
    /// Rate changes since the start, without those of low-power idle.
    pub rate_changes: u64,
    /// The time in each state of low-power idle since the start; `None` for a link without it.
    pub low_power: Option<LowPowerTimes>,
}

/// The time of a link at each rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResidencyMark {
    /// The time in service at each rate.
    pub in_service: Vec<(BitRate, Duration)>,
    /// The time in transition from one rate to another.
    pub in_transition: Vec<(BitRate, BitRate, Duration)>,
    /// The number of changes.
    pub changes: u64,
}

/// A flow at one instant, with counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowMark {
    /// Sent packets.
    pub sent_packets: u64,
    /// Sent bytes, IP headers included.
    pub sent_bytes: u64,
    /// Packets dropped by queues or lost by links.
    pub dropped_packets: u64,
    /// Packets that arrived with a mark.
    pub marked_packets: u64,
    /// Bytes that the receiver has in order (for datagrams, all arrived bytes, headers included).
    pub delivered_bytes: u64,
    /// Retransmitted data segments.
    pub retransmissions: u64,
    /// Retransmission timeouts, if the kernel counts them.
    pub timeouts: u64,
    /// Observed transitions of the sender to fast recovery.
    pub fast_retransmits: u64,
}

/// The outcome of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowOutcome {
    /// The time at which the flow opened.
    pub opened: Option<Instant>,
    /// The time at which the last byte was acknowledged.
    pub completed: Option<Instant>,
    /// The data of a full segment, in bytes.
    pub segment_bytes: Option<u32>,
    /// The time mean of the congestion window from the first mark on, in bytes.
    pub mean_cwnd_bytes: Option<f64>,
    /// Every request, for flows of requests.
    pub requests: Vec<RequestOutcome>,
    /// The largest number of simultaneously open connections.
    pub most_open: u32,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestOutcome {
    /// The time of the SYN.
    pub start: Instant,
    /// The size of the sent data in bytes.
    pub size: u64,
    /// The time from the SYN to the acknowledgement of the last byte; `None` if the run ended before.
    pub completion: Option<Duration>,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// A station from the first mark to the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationOutcome {
    /// The time of the radio in each state.
    pub radio: RadioTime,
    /// The counts of packets and frames.
    pub counts: StationCounts,
    /// The shaper, if the station has one.
    pub shaper: Option<ShaperOutcome>,
    /// The downloads; `None` until all TCP flows to the station are delivered.
    pub download: Option<DownloadOutcome>,
}

/// A client's shaper at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShaperOutcome {
    /// The shaper's state.
    pub state: ShaperState,
    /// The reason for unchanged windows, at present or at the end of the download.
    pub fallback: Option<Fallback>,
    /// The shaper's RTT.
    pub round_trip: Option<Duration>,
    /// Repeated open acknowledgements since the start.
    pub resent_opens: u64,
    /// The idle time before the first packets of bursts, since the first mark.
    pub early: Duration,
    /// The same in recovery; zero in the outcome of a netlulld that did not count it apart.
    #[serde(default)]
    pub recovery: Duration,
    /// The idle time between the last packets of bursts and the detection of their end, since the first mark.
    pub detection: Duration,
}

/// The idle times of a radio around the bursts of a shaper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The time before the first packets of bursts, from the wake-up of the radio or the request for the burst.
    pub early: Duration,
    /// The same in recovery, in which the radio does not sleep.
    pub recovery: Duration,
    /// The time between the last packets of bursts and the detection of their end.
    pub detection: Duration,
}

impl Waits {
    /// Counts a completed burst. `awake_since` is the end of the radio's last wake-up, `None` if the radio is asleep.
    pub fn count(&mut self, burst: &Burst, awake_since: Option<Instant>) {
        self.detection += burst.ended.saturating_since(burst.last);
        let before = awake_since.map(|since| burst.first.saturating_since(since.max(burst.opened)));
        let waits = if burst.state == ShaperState::Recovery { &mut self.recovery } else { &mut self.early };
        *waits += before.unwrap_or_default();
    }

    /// The times since `base`.
    #[must_use]
    pub fn since(&self, base: &Self) -> Self {
        Self {
            early: self.early.saturating_sub(base.early),
            recovery: self.recovery.saturating_sub(base.recovery),
            detection: self.detection.saturating_sub(base.detection),
        }
    }
}

impl ShaperOutcome {
    /// The outcome of a shaper before any download.
    #[must_use]
    pub const fn initial() -> Self {
        Self {
            state: ShaperState::Initial,
            fallback: None,
            round_trip: None,
            resent_opens: 0,
            early: Duration::ZERO,
            recovery: Duration::ZERO,
            detection: Duration::ZERO,
        }
    }

    /// The present outcome of a shaper, with the idle times counted by its station.
    #[must_use]
    pub fn of(shaping: &Shaping, waits: Waits) -> Self {
        Self {
            state: shaping.state,
            fallback: shaping.fallback,
            round_trip: shaping.round_trip,
            resent_opens: shaping.resent_opens,
            early: waits.early,
            recovery: waits.recovery,
            detection: waits.detection,
        }
    }
}

/// The downloads of a station, from the first opening until the delivery of all data and FINs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DownloadOutcome {
    /// The time of the first opening.
    pub begun: Instant,
    /// The time of the last delivery.
    pub over: Instant,
    /// The time of the radio in each state during the downloads.
    pub radio: RadioTime,
    /// Packets missed during the downloads.
    pub missed_packets: u64,
}

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
    /// The mean power, total energy / time; 0 without any time.
    pub mean_w: f64,
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
        let seconds = times.total().as_secs_f64();
        Self {
            asleep_j: energy.asleep.as_f64(),
            waking_j: energy.waking.as_f64(),
            idle_j: energy.idle.as_f64(),
            receiving_j: energy.receiving.as_f64(),
            transmitting_j: energy.transmitting.as_f64(),
            total_j,
            mean_w: if seconds > 0.0 { total_j / seconds } else { 0.0 },
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

/// The lateness of packets that left the emulation, relative to virtual time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lateness {
    /// The number of packets.
    pub packets: u64,
    /// The median lateness.
    pub p50: Duration,
    /// The 99 % quantile of the lateness.
    pub p99: Duration,
    /// The 99.9 % quantile of the lateness.
    pub p999: Duration,
    /// The largest lateness.
    pub max: Duration,
    /// The limit of `p99` for a valid run.
    pub limit: Duration,
}

/// The system of an emulation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The release of the kernel.
    pub kernel: String,
    /// The scheduling policy of the emulation: fifo or other.
    pub scheduling: String,
    /// The number of processors.
    pub processors: u32,
    /// True if idle processors were kept from sleeping.
    pub kept_awake: bool,
    /// The version of netlulld.
    pub version: String,
}

/// Entries by name in a fixed order; a map when serialised.
#[derive(Clone, Debug)]
pub struct ByName<T>(pub Vec<(String, T)>);

impl<T> ByName<T> {
    /// Returns the entry of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, entry)| entry)
    }

    /// Returns true if the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, entry)| (name, entry)))
    }
}
