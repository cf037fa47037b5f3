//! What a station is made from.

use netlull_mechanism::radio::{
    BsdConfig, EagerConfig, PacedFrom, PacedGuard, PsmConfig, RepairAcks, RttFrom, ShaperConfig,
};
use netlull_network::station::NamedRadio;
use netlull_power::RadioPower;
use netlull_units::{BitRate, Duration};
use serde::{Deserialize, Serialize};

/// What lets a station's radio sleep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StationMechanism {
    /// Nothing.
    AlwaysOn,
    /// Nothing, but data is acknowledged eagerly: the paper's baseline.
    Eager(EagerConfig),
    /// A shaper for each connection.
    ClientShaper(ShaperConfig),
    /// Power-saving mode of IEEE 802.11, with an access point that buffers ([`Proxy`](super::Proxy)).
    Psm(PsmConfig),
    /// Bounded slowdown, with an access point that buffers.
    Bsd(BsdConfig),
}

impl StationMechanism {
    /// Its name: always_on, eager, client_shaper, psm or bsd.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::AlwaysOn => "always_on",
            Self::Eager(_) => "eager",
            Self::ClientShaper(_) => "client_shaper",
            Self::Psm(_) => "psm",
            Self::Bsd(_) => "bsd",
        }
    }

    /// The shaper with what real senders need beyond the paper: the round-trip time from answers to open ACKs, no closed ACKs while
    /// something is missing, the guard against senders that pace, a margin of 1 ms, the tick of Linux's timestamps, and a least silence of 5 ms,
    /// more than the tick of 4 ms (HZ=250) for which a sender, or what carries its packets, may be kept from running.
    ///
    /// The guard gives up after two bursts that take more than half of the round trip, and 1.5 times their time on the air. Linux's reno and
    /// cubic send what an open ACK allows at once, so that a burst takes its time on the slowest link; bbr's takes the whole round trip, and
    /// each one of them lets it believe in a slower path. One such burst may be an accident. Rounds of slow start count, so that bbr is known
    /// before a window is closed: after a window was closed for long bbr takes the pause for its path, and a download loses up to a second.
    #[must_use]
    pub const fn live_shaper(air_rate: BitRate, wake: Duration) -> Self {
        Self::ClientShaper(ShaperConfig {
            least_wait: Duration::from_millis(5),
            margin: Duration::from_millis(1),
            rtt_from: RttFrom::OpenAck,
            repair: RepairAcks::AsTheyAre,
            paced: Some(PacedGuard { share: 0.5, stretch: 1.5, bursts: 2, from: PacedFrom::SlowStart }),
            ..ShaperConfig::new(air_rate, wake)
        })
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
    /// What lets its radio sleep.
    pub mechanism: StationMechanism,
    /// How long the radio takes to wake; the mechanism's own figure should be the same.
    pub wake: Duration,
    /// The air to it and from it, in bit/s, above zero.
    pub rates: [BitRate; 2],
    /// What becomes of packets that come while the radio does not hear.
    pub asleep: Asleep,
    /// From a poll to the packet that it asks for; 0.5 ms in scenarios.
    pub poll_time: Duration,
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
    pub fn new(mechanism: StationMechanism, wake: Duration, rates: [BitRate; 2]) -> Self {
        let named = |power: &RadioPower| NamedRadio { name: power.name.to_owned(), power: *power };
        Self {
            mechanism,
            wake,
            rates,
            asleep: Asleep::default(),
            poll_time: Duration::from_micros(500),
            quiet: Duration::from_secs(1),
            connections: 1024,
            radios: RadioPower::catalogue().iter().map(named).collect(),
        }
    }
}
