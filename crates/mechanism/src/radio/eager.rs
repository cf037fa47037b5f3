//! Eager acknowledgements without sleep: the paper's baseline (client-centered-2004 section III-B.4).
//! The shaper finds the ends of bursts in the same way: by the spacing of their packets (section III-A.1).

use crate::station::{self, PacketView, Serves, StationAction, StationEvent};
use crate::{ConfigError, Machine};
use netlull_document::check_ranges;
use netlull_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Eager acknowledgements without sleep: the 2004 paper's baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "client-centered-2004 section III-B.4, the paper's baseline"))]
pub struct EagerConfig {
    /// The shortest silence before data is acknowledged.
    #[serde(default = "default_least_wait")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-source" = "client-centered-2004 section III-A.1"))]
    pub least_wait: Duration,
    /// The longest silence before data is acknowledged. A longer gap does not count as a gap within a burst.
    #[serde(default = "default_longest_wait")]
    #[schemars(extend("x-source" = "reading: the delayed acknowledgement of Linux 2.4"))]
    pub longest_wait: Duration,
}

/// The default least wait: 3 ms, "the minimum reliable resolution for our timer" (client-centered-2004 section
/// III-A.1).
pub(super) const fn default_least_wait() -> Duration {
    Duration::from_millis(3)
}

/// The default longest wait: 40 ms, the delayed acknowledgement of Linux 2.4 (client-centered-2004 section
/// III-B.4).
pub(super) const fn default_longest_wait() -> Duration {
    Duration::from_millis(40)
}

impl Default for EagerConfig {
    fn default() -> Self {
        Self { least_wait: default_least_wait(), longest_wait: default_longest_wait() }
    }
}

impl station::Parameters for EagerConfig {
    type Machine = Eager;
    const SERVES: Serves = Serves::LastingConnections;

    fn build(&self, _: station::Context, start: Instant) -> Result<Eager, ConfigError> {
        Eager::new(self, start)
    }
}

/// Acknowledges data as soon as the sender falls silent.
///
/// The last odd packet of a window therefore does not wait for the host's delayed acknowledgement. The radio
/// stays awake, and windows are unchanged.
///
/// The silence is max(least wait, `I_A` + 4 `I_D`): the wait for one more packet of a burst. If several
/// connections receive data, the machine serves the connection with the latest data.
#[derive(Clone, Debug)]
pub struct Eager {
    config: EagerConfig,
    now: Instant,
    spacing: Spacing,
    owed: Owed,
    action: Option<StationAction>,
}

/// The pending acknowledgement.
///
/// ```text
///            data                  data: the wait starts again
///   Nothing ──────► Acknowledgement ──┐
///      ▲              │     ▲─────────┘
///      └──────────────┘ the host acknowledges, or the wait is over
/// ```
#[derive(Clone, Copy, Debug)]
enum Owed {
    Nothing { connection: Option<u32>, last: Instant },
    Acknowledgement { connection: u32, last: Instant },
}

impl Eager {
    /// Creates the machine before any data.
    ///
    /// # Errors
    /// If a wait is zero, or the least wait is longer than the longest.
    pub fn new(config: &EagerConfig, start: Instant) -> Result<Self, ConfigError> {
        check_ranges(config)?;
        if config.longest_wait < config.least_wait {
            return Err(ConfigError::new("longest_wait", config.longest_wait, "no less than least_wait"));
        }
        let owed = Owed::Nothing { connection: None, last: start };
        Ok(Self { config: *config, now: start, spacing: Spacing::default(), owed, action: None })
    }

    fn received(&mut self, now: Instant, packet: &PacketView) {
        let Some(segment) = packet.segment.filter(|segment| segment.len > 0) else { return };
        let (before, last) = match self.owed {
            Owed::Nothing { connection, last } => (connection, last),
            Owed::Acknowledgement { connection, last } => (Some(connection), last),
        };
        let gap = now.saturating_since(last);
        if before == Some(segment.connection) && gap <= self.config.longest_wait {
            self.spacing.add(gap);
        }
        self.owed = Owed::Acknowledgement { connection: segment.connection, last: now };
    }

    fn acknowledged(&mut self, packet: &PacketView) {
        if let Owed::Acknowledgement { connection, last } = self.owed
            && packet.segment.is_some_and(|sent| sent.connection == connection && sent.acknowledged.is_some())
        {
            self.owed = Owed::Nothing { connection: Some(connection), last };
        }
    }

    fn due(&self) -> Option<(u32, Instant)> {
        let Owed::Acknowledgement { connection, last } = self.owed else { return None };
        let wait = self.spacing.threshold(1, self.config.least_wait, self.config.longest_wait);
        Some((connection, last + wait))
    }

    fn timeout(&mut self, now: Instant) {
        if let (Owed::Acknowledgement { last, .. }, Some((connection, at))) = (self.owed, self.due())
            && at <= now
        {
            self.owed = Owed::Nothing { connection: Some(connection), last };
            self.action = Some(StationAction::Acknowledge { connection });
        }
    }
}

impl Machine for Eager {
    type Event = StationEvent;
    type Action = StationAction;

    fn handle(&mut self, now: Instant, event: StationEvent) {
        self.now = now;
        match event {
            StationEvent::Received { packet, .. } => self.received(now, &packet),
            StationEvent::Sending { packet } | StationEvent::Acknowledged { packet } => self.acknowledged(&packet),
            StationEvent::Timeout => self.timeout(now),
            StationEvent::Beacon { .. } => {}
        }
    }

    fn poll_action(&mut self) -> Option<StationAction> {
        self.action.take()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.due().map(|(_, at)| at.max(self.now))
    }
}

impl station::Policy for Eager {}

/// Running averages of the time between two packets of one burst, `I_A`, and of its deviation, `I_D`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spacing {
    estimate: Option<Estimate>,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    interarrival: Duration,
    deviation: Duration,
}

impl Spacing {
    /// `I_A`; zero before the first sample.
    pub(super) fn interarrival(&self) -> Duration {
        self.estimate.map_or(Duration::ZERO, |estimate| estimate.interarrival)
    }

    /// `I_D`; zero before the first sample.
    pub(super) fn deviation(&self) -> Duration {
        self.estimate.map_or(Duration::ZERO, |estimate| estimate.deviation)
    }

    /// Adds a sample `S_A`: `I_A` <- 7/8 `I_A` + 1/8 `S_A` and `I_D` <- 3/4 `I_D` + 1/4 `S_D`.
    ///
    /// `S_D` is |`S_A` - `I_A`| with the previous `I_A`. The first sample gives `I_A` = `S_A` and `I_D` = `S_A` /
    /// 2. Both follow RFC 6298 section 2, the timeout to which the paper refers (reading).
    pub(super) fn add(&mut self, sample: Duration) {
        self.estimate = Some(match self.estimate {
            None => Estimate { interarrival: sample, deviation: sample / 2 },
            Some(Estimate { interarrival, deviation }) => {
                let strays = interarrival.saturating_sub(sample) + sample.saturating_sub(interarrival);
                Estimate {
                    interarrival: interarrival - interarrival / 8 + sample / 8,
                    deviation: deviation - deviation / 4 + strays / 4,
                }
            }
        });
    }

    /// Handles a missing packet: `I_D` doubles, and `I_A` grows "by that amount", the increase of `I_D`
    /// (reading). Neither grows beyond `most`, the upper bound of `T_d`: bursts of one packet give no samples
    /// that would lower them (reading).
    pub(super) fn missed(&mut self, most: Duration) {
        if let Some(Estimate { interarrival, deviation }) = &mut self.estimate {
            let raised = |value: Duration| (value + *deviation).min(most.max(value));
            (*interarrival, *deviation) = (raised(*interarrival), raised(*deviation));
        }
    }

    /// `T_d`(P) = (W - P) `I_A` + 4 `I_D`, where `outstanding` is W - P. It is at most `most`, and at least
    /// `least` even if that is larger. Without a sample, `most`.
    pub(super) fn threshold(&self, outstanding: u32, least: Duration, most: Duration) -> Duration {
        let Some(Estimate { interarrival, deviation }) = self.estimate else { return most.max(least) };
        let wait = interarrival.saturating_mul(u64::from(outstanding)) + deviation.saturating_mul(4);
        wait.min(most).max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::SegmentKind;
    use crate::station::TcpView;
    use netlull_units::Bytes;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    fn packet(connection: u32, len: u32) -> PacketView {
        let segment = TcpView {
            connection,
            kind: SegmentKind::Other,
            fin: false,
            seq: 1,
            len,
            acknowledged: Some(1),
            window: Bytes::new(65_535),
            timestamps: None,
        };
        PacketView { size: len + 40, segment: Some(segment) }
    }

    fn eager() -> Eager {
        Eager::new(&EagerConfig::default(), Instant::ZERO).unwrap()
    }

    fn receive(eager: &mut Eager, micros: u64, connection: u32) {
        eager.handle(at(micros), StationEvent::Received { packet: packet(connection, 1000), more: false });
        assert_eq!(eager.poll_action(), None);
    }

    fn send(eager: &mut Eager, micros: u64, connection: u32) {
        eager.handle(at(micros), StationEvent::Sending { packet: packet(connection, 0) });
        assert_eq!(eager.poll_action(), None, "windows pass");
    }

    #[test]
    fn the_odd_packet_is_acknowledged_when_the_sender_falls_silent() {
        let mut eager = eager();
        receive(&mut eager, 50_000, 3);
        assert_eq!(eager.next_timeout(), Some(at(90_000)), "nothing is known of gaps: 40 ms");
        receive(&mut eager, 52_000, 3);
        // I_A = 2 ms, I_D = 1 ms: 6 ms.
        assert_eq!(eager.next_timeout(), Some(at(58_000)));
        send(&mut eager, 52_000, 3);
        assert_eq!(eager.next_timeout(), None, "the host has done so");
        // I_D = 0.75 ms: 5 ms.
        receive(&mut eager, 54_000, 3);
        eager.handle(at(58_999), StationEvent::Timeout);
        assert_eq!(eager.poll_action(), None, "too soon");
        eager.handle(at(59_000), StationEvent::Timeout);
        assert_eq!(eager.poll_action(), Some(StationAction::Acknowledge { connection: 3 }));
        assert_eq!((eager.poll_action(), eager.next_timeout()), (None, None));
        eager.handle(at(59_000), StationEvent::Acknowledged { packet: packet(3, 0) });
        // A pause of one second is no gap: 5 ms as before.
        receive(&mut eager, 1_059_000, 3);
        assert_eq!(eager.next_timeout(), Some(at(1_064_000)));
    }

    #[test]
    fn no_wait_is_shorter_than_the_least() {
        let mut eager = eager();
        receive(&mut eager, 100, 3);
        receive(&mut eager, 200, 3);
        assert_eq!(eager.next_timeout(), Some(at(3200)));
    }

    #[test]
    fn the_connection_whose_data_came_last_is_served() {
        let mut eager = eager();
        receive(&mut eager, 100, 3);
        receive(&mut eager, 200, 4);
        send(&mut eager, 300, 3);
        assert_eq!(eager.next_timeout(), Some(at(40_200)), "the gap was between two connections");
        eager.handle(at(40_200), StationEvent::Timeout);
        assert_eq!(eager.poll_action(), Some(StationAction::Acknowledge { connection: 4 }));
    }

    #[test]
    fn wrong_values_are_named() {
        let field = |least_wait, longest_wait| {
            Eager::new(&EagerConfig { least_wait, longest_wait }, Instant::ZERO).unwrap_err().field
        };
        assert_eq!(field(Duration::ZERO, Duration::from_millis(40)), "least_wait");
        assert_eq!(field(Duration::from_millis(41), Duration::from_millis(40)), "longest_wait");
    }

    const fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn the_averages_by_hand() {
        let mut spacing = Spacing::default();
        spacing.add(us(800));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(800), us(400)));
        // S_D = |1600 - 800| = 800; I_D = 3/4 400 + 1/4 800 = 500; I_A = 7/8 800 + 1/8 1600 = 900.
        spacing.add(us(1600));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(900), us(500)));
        // S_D = |100 - 900| = 800; I_D = 375 + 200 = 575; I_A = 787.5 + 12.5 = 800.
        spacing.add(us(100));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(800), us(575)));
    }

    #[test]
    fn the_threshold_shrinks_with_every_packet_and_keeps_its_bounds() {
        let mut spacing = Spacing::default();
        assert_eq!(spacing.threshold(9, us(3000), us(30_000)), us(30_000), "nothing is known yet");
        spacing.add(us(1000));
        // I_A = 1 ms, I_D = 0.5 ms: 9 x 1 + 2 = 11 ms, 4 x 1 + 2 = 6 ms. For P >= W it is 2 ms, less than the
        // least wait.
        assert_eq!(spacing.threshold(9, us(3000), us(30_000)), us(11_000));
        assert_eq!(spacing.threshold(4, us(3000), us(30_000)), us(6000));
        assert_eq!(spacing.threshold(0, us(3000), us(30_000)), us(3000));
        assert_eq!(spacing.threshold(90, us(3000), us(30_000)), us(30_000));
        assert_eq!(spacing.threshold(90, us(3000), us(1000)), us(3000), "the timer can do no less");
        assert_eq!(spacing.threshold(u32::MAX, us(3000), Duration::MAX), us(u64::from(u32::MAX) * 1000 + 2000));
    }

    #[test]
    fn a_missing_packet_makes_it_wait_longer() {
        let mut spacing = Spacing::default();
        spacing.missed(us(2800));
        assert_eq!(spacing.interarrival(), Duration::ZERO);
        spacing.add(us(1000));
        // I_D from 0.5 to 1 ms, 0.5 ms more: I_A from 1 to 1.5 ms. Again: 2 ms and 2.5 ms.
        spacing.missed(us(2800));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(1500), us(1000)));
        spacing.missed(us(2800));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(2500), us(2000)));
        // 4.5 and 4 ms would exceed 2.8 ms.
        spacing.missed(us(2800));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(2800), us(2800)));
        spacing.missed(us(1000));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(2800), us(2800)), "it only grows");
    }
}
