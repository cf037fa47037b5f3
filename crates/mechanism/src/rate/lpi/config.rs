//! The parameters of low-power idle: a physical layer and a device give defaults, each field overrides them.

use super::phy::{FAST_SHARE, LpiDevice, Phy, SHARE, Timers};
use crate::ConfigError;
use crate::link;
use netlull_document::check_ranges;
use netlull_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Low-power idle of Energy Efficient Ethernet. The link sleeps when it is idle, and holds packets until it is awake.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "IEEE 802.3az and 802.3bj; docs/models/eee.md"))]
pub struct LpiConfig {
    /// Physical layer whose times apply where no field says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "none", "x-source" = "docs/models/eee.md"))]
    pub phy: Option<Phy>,
    /// Device whose timers apply where no field says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "none", "x-source" = "docs/models/eee.md"))]
    pub device: Option<LpiDevice>,
    /// T_s: the time to go to sleep. Packets that arrive then wait for its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-maximum" = "180 s", "x-default" = "that of phy", "x-source" = "IEEE 802.3az"))]
    pub sleep: Option<Duration>,
    /// T_w: the time to wake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-maximum" = "180 s", "x-default" = "that of phy or device", "x-source" = "IEEE 802.3az"))]
    pub wake: Option<Duration>,
    /// The idle time before the link goes to sleep (Linux: `tx-timer`); less than the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of device; required without one", "x-source" = "the device"))]
    pub hysteresis: Option<Duration>,
    /// The longest time that the first held packet waits before the link wakes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of device, or none", "x-source" = "Christensen et al. 2010"))]
    pub coalesce_time: Option<Duration>,
    /// The number of held packets that wakes the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("x-default" = "none", "x-source" = "Christensen et al. 2010"))]
    pub coalesce_frames: Option<u64>,
    /// The held data that wakes the link. Without any of the three thresholds, the first packet wakes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 B", "x-default" = "that of device, or none", "x-source" = "device"))]
    pub coalesce_bytes: Option<Bytes>,
    /// The target of the mean wait. For each sleep the link sets the threshold that `adapts` names; at least half of T_w.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-maximum" = "180 s", "x-default" = "none", "x-source" = "DualModeEeeSimulator"))]
    pub target_delay: Option<Duration>,
    /// The threshold that `target_delay` sets; leave its field out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "time", "x-source" = "DualModeEeeSimulator"))]
    pub adapts: Option<LpiThreshold>,
    /// The power asleep as a share of the active power. Transitions take the full power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-default" = "that of phy, or 0.1", "x-source" = "Reviriego et al. 2009"))]
    pub power: Option<f64>,
    /// The time asleep between two refreshes, which take the full power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-default" = "no refreshes", "x-source" = "IEEE 802.3az"))]
    pub quiet: Option<Duration>,
    /// The length of a refresh; required with `quiet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-default" = "none", "x-source" = "IEEE 802.3az"))]
    pub refresh: Option<Duration>,
    /// T_s of fast wake, which then precedes sleep; part of `sleep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of phy, or no fast wake", "x-source" = "DualModeEeeSimulator"))]
    pub fast_sleep: Option<Duration>,
    /// T_w of fast wake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of phy", "x-source" = "DualModeEeeSimulator"))]
    pub fast_wake: Option<Duration>,
    /// The power in fast wake as a share of the active power; default 0.7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-default" = "0.7", "x-source" = "DualModeEeeSimulator"))]
    pub fast_power: Option<f64>,
    /// The time in fast wake before sleep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of phy", "x-source" = "DualModeEeeSimulator"))]
    pub deep_after: Option<Duration>,
    /// True if both directions sleep and wake together. The reverse link then needs the same times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "that of phy, or false", "x-source" = "IEEE 802.3az"))]
    pub coupled: Option<bool>,
}

/// A threshold that follows the traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LpiThreshold {
    /// `coalesce_time`.
    #[default]
    Time,
    /// `coalesce_frames`.
    Frames,
}

/// The target of adaptive coalescing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub delay: Duration,
    pub adapts: LpiThreshold,
}

/// A mode of low power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Fast,
    Deep,
}

/// The thresholds that wake a link with held packets. Without any, the first packet wakes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Coalescing {
    pub time: Option<Duration>,
    pub frames: Option<u64>,
    pub bytes: Option<Bytes>,
}

/// The times of fast wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fast {
    sleep: Duration,
    wake: Duration,
    deep_after: Duration,
}

/// The checked times of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timing {
    sleep: Duration,
    wake: Duration,
    fast: Option<Fast>,
    /// The time between two refreshes, and the length of one.
    refresh: Option<(Duration, Duration)>,
    pub hysteresis: Duration,
    pub coalescing: Coalescing,
    pub target: Option<Target>,
}

impl Timing {
    pub fn first_mode(&self) -> Mode {
        if self.fast.is_some() { Mode::Fast } else { Mode::Deep }
    }

    /// The transition from the active state.
    pub fn entry(&self, mode: Mode) -> Duration {
        self.fast.filter(|_| mode == Mode::Fast).map_or(self.sleep, |fast| fast.sleep)
    }

    /// The transition from fast wake to deep sleep: T_s without its part that leads to fast wake.
    pub fn deepening(&self) -> Duration {
        self.fast.map_or(Duration::ZERO, |fast| self.sleep.saturating_sub(fast.sleep))
    }

    pub fn deepens_after(&self) -> Option<Duration> {
        self.fast.map(|fast| fast.deep_after)
    }

    pub fn wake(&self, mode: Mode) -> Duration {
        self.fast.filter(|_| mode == Mode::Fast).map_or(self.wake, |fast| fast.wake)
    }

    /// The part of a sleep of `low` nanoseconds that refreshes take.
    pub fn refresh_in(&self, low: u64) -> u64 {
        let Some((quiet, refresh)) = self.refresh else { return 0 };
        let (quiet, refresh) = (quiet.as_nanos(), refresh.as_nanos());
        let cycle = quiet + refresh;
        low / cycle * refresh + (low % cycle).saturating_sub(quiet)
    }

    /// The link is empty when it goes to sleep, so no packet is later than the first held one: it waits for the transition
    /// or for the coalescing, then for the waking. A nanosecond is added, because departures are rounded down.
    pub fn lateness_bound(&self) -> Option<Duration> {
        let Coalescing { time, frames, bytes } = self.coalescing;
        let wake = self.wake.max(self.fast.map_or(Duration::ZERO, |fast| fast.wake));
        let held = match self.target {
            // At most 2 D by (4), T_w included.
            Some(Target { delay, adapts: LpiThreshold::Time }) => (delay + delay).saturating_sub(wake),
            Some(Target { adapts: LpiThreshold::Frames, .. }) => time?,
            None if frames.is_some() || bytes.is_some() => time?,
            None => time.unwrap_or_default(),
        };
        Some(self.sleep.max(held) + wake + Duration::from_nanos(1))
    }
}

impl LpiConfig {
    /// The parameters of a link with given times of sleep, which holds packets meanwhile and takes the power of a sleeping
    /// link.
    #[must_use]
    pub fn napping(wake: Duration, coupled: bool) -> Self {
        let zero = Some(Duration::ZERO);
        Self {
            sleep: zero,
            wake: Some(wake),
            hysteresis: zero,
            power: Some(0.0),
            coupled: Some(coupled),
            ..Self::default()
        }
    }

    /// The power asleep and in fast wake, as shares of the active power.
    #[must_use]
    pub fn shares(&self) -> (f64, f64) {
        let phy = self.phy.map_or(SHARE, |phy| phy.times().power);
        (self.power.unwrap_or(phy), self.fast_power.unwrap_or(FAST_SHARE))
    }

    /// Returns true if both directions sleep and wake together.
    #[must_use]
    pub fn is_coupled(&self) -> bool {
        self.coupled.unwrap_or_else(|| self.phy.is_some_and(|phy| phy.times().coupled))
    }

    /// The first time that differs from that of the other direction: its field, and both values.
    ///
    /// # Errors
    /// If one of them is impossible by itself.
    pub fn differs_from(
        &self,
        other: &Self,
        link: link::Context,
    ) -> Result<Option<(&'static str, Duration, Duration)>, ConfigError> {
        let (own, other) = (self.timing(link)?, other.timing(link)?);
        let fast = |timing: Timing| {
            timing.fast.map_or([Duration::ZERO; 3], |Fast { sleep, wake, deep_after }| [sleep, wake, deep_after])
        };
        let ([own_sleep, own_wake, own_after], [sleep, wake, after]) = (fast(own), fast(other));
        let pairs = [
            ("sleep", own.sleep, other.sleep),
            ("wake", own.wake, other.wake),
            ("fast_sleep", own_sleep, sleep),
            ("fast_wake", own_wake, wake),
            ("deep_after", own_after, after),
        ];
        Ok(pairs.into_iter().find(|(_, own, other)| own != other))
    }

    /// The transitions to sleep, from fast wake to sleep, from sleep, and from fast wake. The first one leads to fast wake
    /// if the link has that.
    ///
    /// # Errors
    /// Names the first field that is missing or out of range.
    pub fn transitions(&self, link: link::Context) -> Result<[Duration; 4], ConfigError> {
        let timing = self.timing(link)?;
        let first = timing.entry(timing.first_mode());
        Ok([first, timing.deepening(), timing.wake(Mode::Deep), timing.wake(Mode::Fast)])
    }

    /// The hysteresis on this link.
    ///
    /// # Errors
    /// Names the first field that is missing or out of range.
    pub fn hysteresis(&self, link: link::Context) -> Result<Duration, ConfigError> {
        Ok(self.timing(link)?.hysteresis)
    }

    /// Checks every value, and fills in those of the physical layer and of the device.
    pub(super) fn timing(&self, link: link::Context) -> Result<Timing, ConfigError> {
        check_ranges(self)?;
        let phy = self.phy.map(Phy::times);
        let timers = self.device.map_or_else(Timers::default, |device| device.timers(link.rate));
        let missing = |field, expected| ConfigError::new(field, "missing", expected);
        let sleep = self.sleep.or(phy.as_ref().map(|phy| phy.sleep));
        let wake = self.wake.or(timers.wake).or(phy.as_ref().map(|phy| phy.wake));
        let sleep = sleep.ok_or_else(|| missing("sleep", "a time, or a phy"))?;
        let wake = wake.ok_or_else(|| missing("wake", "a time, or a phy"))?;
        let expected = "a time, or a device with a published one: devices differ by a factor of 50,000";
        let hysteresis = self.hysteresis.or(timers.hysteresis).ok_or_else(|| missing("hysteresis", expected))?;
        let coalescing =
            Coalescing { time: self.coalesce_time, frames: self.coalesce_frames, bytes: self.coalesce_bytes };
        let target = self.target()?;
        let held = timers.held.filter(|_| coalescing == Coalescing::default() && target.is_none());
        let held = held.map(|(time, bytes)| Coalescing { time: Some(time), frames: None, bytes: Some(bytes) });
        let refresh = match (self.quiet, self.refresh) {
            (None, None) => None,
            (Some(quiet), Some(refresh)) => Some((quiet, refresh)),
            (Some(_), None) => return Err(missing("refresh", "a time: quiet is given")),
            (None, Some(_)) => return Err(missing("quiet", "a time: refresh is given")),
        };
        let published = phy.and_then(|phy| phy.fast);
        let given = [self.fast_sleep, self.fast_wake, self.deep_after];
        let pick = |place: usize| given[place].or(published.map(|fast| fast[place]));
        let fast = match [pick(0), pick(1), pick(2)] {
            [None, None, None] => None,
            [Some(sleep), Some(wake), Some(deep_after)] => Some(Fast { sleep, wake, deep_after }),
            [None, ..] => return Err(missing("fast_sleep", "a time: another field of fast wake is given")),
            [_, None, _] => return Err(missing("fast_wake", "a time: another field of fast wake is given")),
            [.., None] => return Err(missing("deep_after", "a time: another field of fast wake is given")),
        };
        if let Some(fast) = fast.filter(|fast| fast.sleep > sleep) {
            return Err(ConfigError::new("fast_sleep", fast.sleep, format!("at most sleep ({sleep})")));
        }
        let least = fast.map_or(wake, |fast| fast.wake.min(wake));
        if let Some(target) = target.filter(|target| target.delay + target.delay < least) {
            return Err(ConfigError::new("target_delay", target.delay, format!("at least half of wake ({least})")));
        }
        Ok(Timing { sleep, wake, fast, refresh, hysteresis, coalescing: held.unwrap_or(coalescing), target })
    }

    fn target(&self) -> Result<Option<Target>, ConfigError> {
        let Some(delay) = self.target_delay else {
            let expected = "a time: adapts is given";
            return self.adapts.map_or(Ok(None), |_| Err(ConfigError::new("target_delay", "missing", expected)));
        };
        let adapts = self.adapts.unwrap_or_default();
        let expected = "no value: target_delay sets it";
        match (adapts, self.coalesce_time, self.coalesce_frames) {
            (LpiThreshold::Time, Some(time), _) => Err(ConfigError::new("coalesce_time", time, expected)),
            (LpiThreshold::Frames, _, Some(frames)) => Err(ConfigError::new("coalesce_frames", frames, expected)),
            _ => Ok(Some(Target { delay, adapts })),
        }
    }
}
