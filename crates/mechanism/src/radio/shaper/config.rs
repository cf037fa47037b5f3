//! What the shaper can be told.

use crate::ConfigError;
use netlull_units::{BitRate, Duration};
use serde::{Deserialize, Serialize};

/// Which echoed timestamps say how long a round trip takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RttFrom {
    /// Those of all data (section III-A.2: "the minimum RTT over all samples").
    AnyEcho,
    /// Beyond the paper: those of data that echoes an open ACK, or an acknowledgement after it. Only such data has gone the way that the
    /// sleep is timed by. Where a sender's clock of timestamps is coarse, many acknowledgements of a smooth stream share one value, and data
    /// that answers the first of them seems to have come too soon; the least of all samples keeps that for ever. Before the first open ACK
    /// all data counts; the first sample after it replaces what was known. That is one sample a burst: on a path with noise the first of
    /// them are too long, and the radio sleeps through packets until bursts in Recovery have shown shorter ones.
    OpenAck,
}

/// Which windows acknowledgements advertise while a packet is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairAcks {
    /// None, as while nothing is (the paper knows no exception).
    Closed,
    /// Beyond the paper: the host's own, so that the sender can go on with its repair.
    AsTheyAre,
}

/// Which packets say that a sender paces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PacedFrom {
    /// Those of the bursts that open ACKs have released.
    #[default]
    Bursts,
    /// Those of the rounds of slow start, and of bursts. A sender that does not pace answers each acknowledgement at once, so that a round of
    /// slow start comes as fast as the slowest link lets it. One that paces holds back what it might send: while it doubles what it sends a
    /// round, its packets come spread over more than half of the round trip. Then no window is ever closed.
    SlowStart,
}

/// Beyond the paper: gives up on a sender that paces, whose bursts are none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacedGuard {
    /// A burst is spread if it takes longer than this part of the least round-trip time, and longer than `stretch` times what its bytes take
    /// on the air; with [`PacedFrom::SlowStart`], on the slower of the air and the slowest link, as the fastest packets in a row show it.
    pub share: f64,
    /// Of bursts; for rounds of slow start it is [`PacedGuard::STRETCH`].
    #[serde(default = "PacedGuard::stretch")]
    pub stretch: f64,
    /// After so many spread bursts in a row windows are left alone; after so many spread rounds of slow start, too, if these count. The
    /// first of those has to have grown: what an application writes as slowly as that does not grow.
    pub bursts: u32,
    /// Whether rounds of slow start count.
    #[serde(default)]
    pub from: PacedFrom,
}

impl PacedGuard {
    /// Twice the time on the air.
    pub const STRETCH: f64 = 2.0;

    fn stretch() -> f64 {
        Self::STRETCH
    }
}

/// What the shaper needs to know, and the readings of its paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShaperConfig {
    /// The rate of the wireless link in bit/s, with which saturation is judged.
    pub air_rate: BitRate,
    /// What the radio takes from asleep to hearing.
    pub wake: Duration,
    /// The least silence that ends a burst. Default 3 ms (section III-A.1).
    pub least_wait: Duration,
    /// By how much earlier the radio wakes than the least round-trip time asks for. Default nothing: the paper names none, but sleeps "at the
    /// granularity of a millisecond" (section III-C; reading).
    pub margin: Duration,
    /// Slow start is over when a round has fewer packets than this times those of the round before. Default 1.5 (reading): with delayed
    /// acknowledgements a round of slow start is larger by half, while the paper's word is that the packets received "do not double".
    pub growth: f64,
    /// So many bursts in a row with a packet missing, and windows are left alone. Default 3 (section III-B.1).
    pub patience: u32,
    /// A burst of this part of air rate x least round-trip time saturates the wireless link. Default 0.9 (section III-B.2).
    pub saturation: f64,
    /// So many of those in a row, and windows are left alone. Default 3 (section III-B.2).
    pub saturated_bursts: u32,
    /// Whether data is acknowledged eagerly where windows are left alone too. Default true: the paper's baseline does so (section III-B.4).
    pub eager: bool,
    /// Default [`RttFrom::AnyEcho`] (section III-A.2).
    pub rtt_from: RttFrom,
    /// Default [`RepairAcks::Closed`] (section III-A).
    pub repair: RepairAcks,
    /// Default none: the paper's senders do not pace.
    pub paced: Option<PacedGuard>,
}

impl ShaperConfig {
    /// The paper's shaper on a wireless link of this rate, with a radio that takes so long to wake.
    #[must_use]
    pub const fn new(air_rate: BitRate, wake: Duration) -> Self {
        Self {
            air_rate,
            wake,
            least_wait: Duration::from_millis(3),
            margin: Duration::ZERO,
            growth: 1.5,
            patience: 3,
            saturation: 0.9,
            saturated_bursts: 3,
            eager: true,
            rtt_from: RttFrom::AnyEcho,
            repair: RepairAcks::Closed,
            paced: None,
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let some = |field, count: u32| {
            if count == 0 { Err(ConfigError::new(field, count, "1 or more")) } else { Ok(()) }
        };
        let positive = |field, part: f64| {
            if part.is_finite() && part > 0.0 { Ok(()) } else { Err(ConfigError::new(field, part, "more than 0")) }
        };
        if self.air_rate.is_zero() {
            return Err(ConfigError::new("air_rate", self.air_rate, "a rate above zero"));
        }
        if self.least_wait.is_zero() {
            return Err(ConfigError::new("least_wait", self.least_wait, "more than nothing"));
        }
        if !(1.0..=2.0).contains(&self.growth) {
            return Err(ConfigError::new("growth", self.growth, "1 to 2"));
        }
        some("patience", self.patience)?;
        positive("saturation", self.saturation)?;
        some("saturated_bursts", self.saturated_bursts)?;
        if let Some(PacedGuard { share, stretch, bursts, .. }) = self.paced {
            positive("paced_share", share)?;
            positive("paced_stretch", stretch)?;
            some("paced_bursts", bursts)?;
        }
        Ok(())
    }
}
