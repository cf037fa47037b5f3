//! The configuration of a station.

use netlull_mechanism::radio::{AccessPointConfig, PacedFrom, RepairAcks, RttFrom, ShaperConfig};
use netlull_mechanism::station::{self, Serves};
use netlull_network::outcome::NamedRadio;
use netlull_power::RadioPower;
use netlull_units::{BitRate, Bytes, Duration};
use serde::{Deserialize, Serialize};

/// The shaper's parameters for real senders, beyond the paper's.
///
/// They measure the RTT from answers to open ACKs, send no closed ACKs while a packet is missing, and guard against
/// pacing senders. The margin is 1 ms, the tick of Linux's timestamps. The minimum silence is 5 ms: longer than the
/// tick of 4 ms (HZ=250) for which a sender or a forwarding process may be delayed.
///
/// The guard gives up after two bursts that take more than half of the RTT and 1.5 times their air time. Linux's reno
/// and cubic send a released burst at once, so it takes its time on the slowest link. A burst of bbr takes a whole RTT,
/// and each burst makes bbr assume a slower path. A single such burst may be an accident. Rounds of slow start count,
/// so that bbr is recognised before a window is closed. Otherwise bbr would attribute a long closed window to its path,
/// and a download would lose up to a second.
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

/// The fate of packets that arrive while the radio does not hear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asleep {
    /// Drops them, as a sleeping radio would.
    Drop,
    /// Counts them as missed, but delivers them to the host.
    #[default]
    Deliver,
}

/// The default of [`StationConfig::quiet`]: longer than typical round-trip times.
pub const QUIET: Duration = Duration::from_secs(1);

/// The configuration of a station.
#[derive(Clone, Debug)]
pub struct StationConfig {
    /// The machine that lets its radio sleep; `None` for a radio that is always on.
    pub mechanism: Option<station::Config>,
    /// The wake time of the radio.
    pub wake: Duration,
    /// The largest packet, IP header included.
    pub mtu: Bytes,
    /// The rates of the air to the station and from it; both above zero.
    pub rates: [BitRate; 2],
    /// The fate of packets that arrive while the radio does not hear.
    pub asleep: Asleep,
    /// The silence after which unshaped connections and packets let the radio sleep. With zero, they never keep it
    /// awake, as in the paper, which assumes a single download.
    pub quiet: Duration,
    /// The maximum number of tracked connections, at least 1; beyond it, the station forgets the longest silent one.
    pub connections: usize,
    /// The power models of the energy report.
    pub radios: Vec<NamedRadio>,
}

impl StationConfig {
    /// Creates a configuration with defaults for the other fields; energy is reported for all radios of the catalogue.
    #[must_use]
    pub fn new(mechanism: Option<station::Config>, wake: Duration, rates: [BitRate; 2]) -> Self {
        let named = |power: &RadioPower| NamedRadio { name: power.name.to_owned(), power: *power };
        Self {
            mechanism,
            wake,
            mtu: Bytes::new(1500),
            rates,
            asleep: Asleep::default(),
            quiet: QUIET,
            connections: 1024,
            radios: RadioPower::catalogue().iter().map(named).collect(),
        }
    }

    /// The station's parameters as its machine uses them.
    #[must_use]
    pub fn context(&self) -> station::Context {
        station::Context { air_rate: self.rates[0], wake: self.wake, mtu: self.mtu }
    }

    /// The kind of its mechanism in reports: `always_on` without one.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.mechanism.as_ref().map_or("always_on", station::Config::name)
    }

    /// The parameters of its access point, if the machine needs one that buffers.
    #[must_use]
    pub fn access_point(&self) -> Option<&AccessPointConfig> {
        self.mechanism.as_ref()?.access_point()
    }

    /// True if each connection has its own machine.
    #[must_use]
    pub(super) fn has_machines_of_connections(&self) -> bool {
        self.mechanism.as_ref().is_some_and(|mechanism| mechanism.serves() == Serves::OneDownload)
    }
}
