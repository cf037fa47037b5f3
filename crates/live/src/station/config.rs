//! What a station is made from.

use netlull_mechanism::machines::StationMechanism;
use netlull_mechanism::radio::{AccessPointConfig, PacedFrom, RepairAcks, RttFrom, ShaperConfig};
use netlull_mechanism::station::{Serves, StationContext};
use netlull_network::station::NamedRadio;
use netlull_power::RadioPower;
use netlull_units::{BitRate, Bytes, Duration};
use serde::{Deserialize, Serialize};

/// The shaper for real senders, beyond the paper's: the RTT from answers to open ACKs, no closed ACKs while a packet is missing, the guard
/// against senders that pace, and a margin of 1 ms, the tick of Linux's timestamps. The least silence is 5 ms: more than the tick
/// of 4 ms (HZ=250) for which a sender, or a forwarding process, may be kept from running.
///
/// The guard gives up after two bursts that take more than half of the RTT, and 1.5 times their time on the air. Linux's reno and
/// cubic send a released burst at once, so that it takes its time on the slowest link. bbr's burst takes a whole RTT, and each
/// one makes it believe in a slower path. One such burst may be an accident. Rounds of slow start count, so that bbr is recognised
/// before a window is closed: bbr takes a long closed window for its path, and a download loses up to a second.
#[must_use]
pub fn live_shaper() -> ShaperConfig {
    ShaperConfig {
        least_wait: Duration::from_millis(5),
        margin: Duration::from_millis(1),
        rtt_from: RttFrom::OpenAck,
        repair: RepairAcks::AsTheyAre,
        paced_share: Some(0.5),
        paced_stretch: 1.5,
        paced_bursts: 2,
        paced_from: PacedFrom::SlowStart,
        ..ShaperConfig::default()
    }
}

/// What becomes of packets that come while the radio does not hear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asleep {
    /// They are lost, as to a radio that sleeps.
    Drop,
    /// They are counted as missed, and reach the host all the same.
    #[default]
    Deliver,
}

/// A station.
#[derive(Clone, Debug)]
pub struct StationConfig {
    /// The machine that lets its radio sleep; `None` for a radio that is always on.
    pub mechanism: Option<StationMechanism>,
    /// The radio's wake time.
    pub wake: Duration,
    /// The largest packet in bytes, IP header included.
    pub mtu: Bytes,
    /// The air to it and from it, in bit/s, above zero.
    pub rates: [BitRate; 2],
    /// What becomes of packets that come while the radio does not hear.
    pub asleep: Asleep,
    /// What is not shaped, or not yet, keeps the radio awake until nothing has come of it or been sent for so long. With nothing, it never does,
    /// as in the paper, which knows one download. Default 1 s: longer than round trips are.
    pub quiet: Duration,
    /// How many connections are known at once, at least 1; beyond that the one that has been quiet for longest is forgotten.
    pub connections: usize,
    /// The powers that energy is reported under.
    pub radios: Vec<NamedRadio>,
}

impl StationConfig {
    /// A station with these, and the defaults of the rest; energy under all radios of the catalogue.
    #[must_use]
    pub fn new(mechanism: Option<StationMechanism>, wake: Duration, rates: [BitRate; 2]) -> Self {
        let named = |power: &RadioPower| NamedRadio { name: power.name.to_owned(), power: *power };
        Self {
            mechanism,
            wake,
            mtu: Bytes::new(1500),
            rates,
            asleep: Asleep::default(),
            quiet: Duration::from_secs(1),
            connections: 1024,
            radios: RadioPower::catalogue().iter().map(named).collect(),
        }
    }

    /// The station as its machine knows it.
    #[must_use]
    pub fn context(&self) -> StationContext {
        StationContext { air_rate: self.rates[0], wake: self.wake, mtu: self.mtu }
    }

    /// The kind of its mechanism as reports have it: `always_on` without one.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.mechanism.as_ref().map_or("always_on", StationMechanism::name)
    }

    /// The parameters of its access point, if the machine needs one that buffers.
    #[must_use]
    pub fn access_point(&self) -> Option<&AccessPointConfig> {
        self.mechanism.as_ref()?.access_point()
    }

    /// Whether each connection has a machine of its own.
    #[must_use]
    pub(super) fn has_machines_of_connections(&self) -> bool {
        self.mechanism.as_ref().is_some_and(|mechanism| mechanism.serves() == Serves::OneDownload)
    }
}
