//! Physical layers and devices with published times. Each row names its source.

use netlull_units::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A physical layer whose times are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Phy {
    /// T_s 200 us, T_w 30.5 us, each direction alone (reading: Reviriego et al. 2009, Christensen et al. 2010).
    #[serde(rename = "100base-tx")]
    Base100Tx,
    /// T_s 182 us, T_w 16.5 us, both directions at once (reading: Reviriego et al. 2009, Christensen et al. 2010).
    #[serde(rename = "1000base-t")]
    Base1000T,
    /// T_s 2.88 us, T_w 4.48 us, each direction alone (HystEEE at ab4f414).
    #[serde(rename = "10gbase-t")]
    Base10GT,
    /// 40 and 100 Gb/s, fast wake alone: T_s 0.18 us, T_w 0.34 us, power 0.7 (DualModeEeeSimulator).
    #[serde(rename = "802.3bj-fast")]
    Bj3Fast,
    /// 40 and 100 Gb/s, deep sleep alone: T_s 0.9 us, T_w 5.5 us (DualModeEeeSimulator).
    #[serde(rename = "802.3bj-deep")]
    Bj3Deep,
    /// 40 and 100 Gb/s, fast wake, and deep sleep after 3.5 us of it (DualModeEeeSimulator).
    #[serde(rename = "802.3bj-dual")]
    Bj3Dual,
}

/// The power in low-power idle as a share of the active power (Reviriego et al. 2009, Christensen et al. 2010).
pub(super) const SHARE: f64 = 0.1;
/// The same in fast wake (DualModeEeeSimulator).
pub(super) const FAST_SHARE: f64 = 0.7;

/// The published times of a physical layer.
pub(super) struct Times {
    pub sleep: Duration,
    pub wake: Duration,
    pub power: f64,
    pub coupled: bool,
    /// T_s and T_w of fast wake, and the time in it before deep sleep.
    pub fast: Option<[Duration; 3]>,
}

impl Phy {
    /// The rates of its links.
    #[must_use]
    pub const fn rates(self) -> &'static [BitRate] {
        match self {
            Self::Base100Tx => const { &[BitRate::from_mbps(100)] },
            Self::Base1000T => const { &[BitRate::from_mbps(1000)] },
            Self::Base10GT => const { &[BitRate::from_mbps(10_000)] },
            Self::Bj3Fast | Self::Bj3Deep | Self::Bj3Dual => {
                const { &[BitRate::from_mbps(40_000), BitRate::from_mbps(100_000)] }
            }
        }
    }

    pub(super) const fn times(self) -> Times {
        let (sleep, wake, power) = match self {
            Self::Base100Tx => (200_000, 30_500, SHARE),
            Self::Base1000T => (182_000, 16_500, SHARE),
            Self::Base10GT => (2_880, 4_480, SHARE),
            Self::Bj3Fast => (180, 340, FAST_SHARE),
            Self::Bj3Deep | Self::Bj3Dual => (900, 5_500, SHARE),
        };
        let fast = match self {
            Self::Bj3Dual => Some([Duration::from_nanos(180), Duration::from_nanos(340), Duration::from_nanos(3_500)]),
            _ => None,
        };
        let coupled = matches!(self, Self::Base1000T);
        Times { sleep: Duration::from_nanos(sleep), wake: Duration::from_nanos(wake), power, coupled, fast }
    }
}

/// A device whose timers are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LpiDevice {
    /// Raspberry Pi 3B+: a hysteresis of 600 us (raspberrypi/linux#2882; 50 us since raspberrypi/linux#7295).
    #[serde(rename = "raspberry-pi-3b+")]
    RaspberryPi3BPlus,
    /// Raspberry Pi 5: a hysteresis of 250 ms (raspberrypi/linux#7251).
    #[serde(rename = "raspberry-pi-5")]
    RaspberryPi5,
    /// MediaTek mt7621: a hysteresis of 30 us (openwrt/openwrt#17351).
    #[serde(rename = "mt7621")]
    Mt7621,
    /// Realtek RTL8372: a hysteresis of 5 us (reading: the timer in logicog/RTLPlayground#28).
    #[serde(rename = "rtl8372")]
    Rtl8372,
    /// Niveo NGSME48T4H: T_w 17 us at 1 Gb/s, else 30 us; holds 3000 bytes or 48 us (its manual). No hysteresis is
    /// published.
    #[serde(rename = "niveo-ngsme48t4h")]
    NiveoNgsme48T4H,
}

/// The published timers of a device.
#[derive(Default)]
pub(super) struct Timers {
    pub hysteresis: Option<Duration>,
    pub wake: Option<Duration>,
    pub held: Option<(Duration, Bytes)>,
}

impl LpiDevice {
    pub(super) fn timers(self, rate: BitRate) -> Timers {
        let hysteresis = |micros| Timers { hysteresis: Some(Duration::from_micros(micros)), ..Timers::default() };
        match self {
            Self::RaspberryPi3BPlus => hysteresis(600),
            Self::RaspberryPi5 => hysteresis(250_000),
            Self::Mt7621 => hysteresis(30),
            Self::Rtl8372 => hysteresis(5),
            Self::NiveoNgsme48T4H => Timers {
                hysteresis: None,
                wake: Some(Duration::from_micros(if rate == BitRate::from_mbps(1000) { 17 } else { 30 })),
                held: Some((Duration::from_micros(48), Bytes::new(3000))),
            },
        }
    }
}
