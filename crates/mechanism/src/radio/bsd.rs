//! Bounded slowdown (Krashinsky and Balakrishnan, Minimizing energy for wireless web access with bounded
//! slowdown, MobiCom 2002).

use super::AccessPointConfig;
use super::doze::{Actions, Doze, Rules};
use crate::gateway::SegmentKind;
use crate::station::{self, PacketView, PowerMode, StationAction, StationEvent};
use crate::{ConfigError, Machine};
use netlull_document::check_ranges;
use netlull_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The packets of the host that [`Bsd`] counts as requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Requests {
    /// Every packet, acknowledgements included.
    /// The link layer does not inspect packets (client-centered-2004 section II).
    #[default]
    EveryPacket,
    /// Packets that require an answer: data, SYNs and all packets other than TCP.
    DataOnly,
}

/// The bounded-slowdown protocol (docs/models/radio.md).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "Krashinsky and Balakrishnan, MobiCom 2002; client-centered-2004 section II"))]
pub struct BsdConfig {
    /// The parameters of the access point.
    #[serde(default)]
    pub access_point: AccessPointConfig,
    /// p: the largest relative increase of the RTT.
    #[serde(default = "default_slowdown")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "x-source" = "client-centered-2004 section II"))]
    pub slowdown: f64,
    /// The longest time from one heard beacon to the next.
    #[serde(default = "default_longest_listen")]
    #[schemars(extend("x-source" = "reading (the 2002 paper, from memory)"))]
    pub longest_listen: Duration,
    /// The packets that count as requests.
    #[serde(default)]
    #[schemars(extend("x-source" = "client-centered-2004 section II; data_only: reading"))]
    pub request: Requests,
}

const fn default_slowdown() -> f64 {
    0.5
}

const fn default_longest_listen() -> Duration {
    Duration::from_millis(900)
}

impl Default for BsdConfig {
    fn default() -> Self {
        Self {
            access_point: AccessPointConfig::default(),
            slowdown: default_slowdown(),
            longest_listen: default_longest_listen(),
            request: Requests::default(),
        }
    }
}

impl station::Parameters for BsdConfig {
    type Machine = Bsd;

    fn access_point(&self) -> Option<&AccessPointConfig> {
        Some(&self.access_point)
    }

    fn build(&self, station: station::Context, start: Instant) -> Result<Bsd, ConfigError> {
        Bsd::new(self, station, start)
    }
}

/// A station that sleeps only if this lengthens a round trip by no more than its share p.
///
/// ```text
///                  T after the last request: announces, sleeps
///   Awake{until}  --------------------------------------------->  Dozing(asleep <-> listening <-> waiting for a burst)
///                 <---------------------------------------------
///                       a request: wakes, announces
/// ```
///
/// The rule follows from: observed RTT <= (1 + p) RTT. An answer may reach the access point a time r after its
/// request, while the station sleeps. It then waits for the next beacon that the station hears. This wait must
/// not exceed p r.
///
/// - The first sleep: the next beacon is at most one beacon period B away, and r is at least the awake time T.
///   The condition B <= p T gives T = B / p: 200 ms at p = 0.5.
/// - Each later sleep: no answer had arrived by the beacon just heard, a time t after the request, so r > t. The
///   next beacon to hear is at most p t away: the last beacon within that time. This is at least the very next
///   beacon, since p t >= p T = B.
///
/// The time since the request thus grows by the factor 1 + p from one heard beacon to the next. The steps are
/// whole beacons, up to a longest listen interval. The station answers a beacon that announces packets with a
/// poll, as [`Psm`](super::Psm) does. The host answers the packets, and its answer may be a request. Before the
/// first request the station dozes with the longest interval.
#[derive(Clone, Debug)]
pub struct Bsd {
    rules: Rules,
    slowdown: f64,
    /// The awake time T after a request.
    awake_for: Duration,
    longest_listen: Duration,
    counts: Requests,
    /// The time of the last request.
    request: Option<Instant>,
    state: State,
    actions: Actions,
    now: Instant,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Starting { at: Instant },
    Awake { until: Instant },
    Dozing(Doze),
}

impl Bsd {
    /// Creates a station that begins to doze at `start`, without an earlier request.
    ///
    /// # Errors
    /// If a value of `config` is out of range, contradicts another or does not fit the station.
    pub fn new(config: &BsdConfig, station: station::Context, start: Instant) -> Result<Self, ConfigError> {
        check_ranges(config)?;
        let rules = Rules::new(&config.access_point, station)?;
        Ok(Self {
            rules,
            slowdown: config.slowdown,
            awake_for: awake_for(config)?,
            longest_listen: config.longest_listen,
            counts: config.request,
            request: None,
            state: State::Starting { at: start },
            actions: Actions::default(),
            now: start,
        })
    }

    /// The awake time after a request, T = B / p.
    #[must_use]
    pub fn awake_for(&self) -> Duration {
        self.awake_for
    }

    /// The beacon to hear if the station falls asleep now: the last beacon within p times the time since the
    /// request.
    fn next_beacon(&self, now: Instant) -> Instant {
        let since = self.request.map_or(Duration::MAX, |request| now.saturating_since(request));
        let bound = Duration::from_secs_f64(self.slowdown * since.as_secs_f64()).unwrap_or(Duration::MAX);
        self.rules.beacons.last_until(now + bound.min(self.longest_listen), now)
    }

    fn is_request(&self, packet: &PacketView) -> bool {
        match (self.counts, packet.segment) {
            (Requests::EveryPacket, _) | (Requests::DataOnly, None) => true,
            (Requests::DataOnly, Some(segment)) => segment.len > 0 || segment.kind != SegmentKind::Other,
        }
    }

    /// Handles a request of the host: the station is awake for the answer.
    fn requested(&mut self, now: Instant) {
        if !matches!(self.state, State::Awake { .. }) {
            self.actions.push(StationAction::Wake);
            self.actions.push(StationAction::Announce(PowerMode::Awake));
        }
        self.request = Some(now);
        self.state = State::Awake { until: now + self.awake_for };
    }

    fn doze(&mut self, now: Instant) -> Doze {
        self.actions.push(StationAction::Announce(PowerMode::Dozing));
        self.rules.sleep(now, self.next_beacon(now), &mut self.actions)
    }

    /// Steps while awake. If a beacon announces buffered packets, the access point missed the announcement of the
    /// awake mode.
    fn step_awake(&mut self, now: Instant, until: Instant, event: StationEvent) -> State {
        match event {
            StationEvent::Timeout if until <= now => return State::Dozing(self.doze(now)),
            StationEvent::Beacon { buffered: true } => self.actions.push(StationAction::Announce(PowerMode::Awake)),
            _ => {}
        }
        State::Awake { until }
    }

    fn step_dozing(&mut self, now: Instant, doze: Doze, event: StationEvent) -> State {
        let next = self.next_beacon(now);
        State::Dozing(self.rules.step(doze, now, event, next, &mut self.actions))
    }
}

/// The awake time T = B / p.
fn awake_for(config: &BsdConfig) -> Result<Duration, ConfigError> {
    let time = config.access_point.beacon_period.as_secs_f64() / config.slowdown;
    let expected = "a number above 0 that is not too small";
    Duration::from_secs_f64(time).ok_or_else(|| ConfigError::new("slowdown", config.slowdown, expected))
}

impl Machine for Bsd {
    type Event = StationEvent;
    type Action = StationAction;

    fn handle(&mut self, now: Instant, event: StationEvent) {
        self.now = now;
        if let StationEvent::Sending { packet } | StationEvent::Acknowledged { packet } = event
            && self.is_request(&packet)
        {
            return self.requested(now);
        }
        self.state = match self.state {
            State::Starting { .. } => {
                let doze = self.doze(now);
                self.step_dozing(now, doze, event)
            }
            State::Awake { until } => self.step_awake(now, until, event),
            State::Dozing(doze) => self.step_dozing(now, doze, event),
        };
    }

    fn poll_action(&mut self) -> Option<StationAction> {
        self.actions.take()
    }

    fn next_timeout(&self) -> Option<Instant> {
        let due = match self.state {
            State::Starting { at } => Some(at),
            State::Awake { until } => Some(until),
            State::Dozing(doze) => self.rules.timeout(doze),
        };
        due.map(|due| due.max(self.now))
    }
}

impl station::Policy for Bsd {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::station::TcpView;
    use StationAction::{Announce, Poll, Sleep, Wake};
    use StationEvent::{Beacon, Received, Sending, Timeout};
    use netlull_units::{BitRate, Bytes};

    const STATION: station::Context =
        station::Context { air_rate: BitRate::from_mbps(11), wake: Duration::from_millis(2), mtu: Bytes::new(1500) };
    const PACKET: PacketView = PacketView { size: 1500, segment: None };
    const LAST: StationEvent = Received { packet: PACKET, more: false };
    const SENDING: StationEvent = Sending { packet: PACKET };
    const SOME: StationEvent = Beacon { buffered: true };
    const NONE: StationEvent = Beacon { buffered: false };
    const RISES: [StationAction; 2] = [Wake, Announce(PowerMode::Awake)];
    const DOZES: [StationAction; 2] = [Announce(PowerMode::Dozing), Sleep];

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn segment(len: u32) -> StationEvent {
        let segment = TcpView {
            connection: 0,
            kind: SegmentKind::Other,
            fin: false,
            seq: 1,
            len,
            acknowledged: Some(1),
            window: Bytes::new(65_535),
            timestamps: None,
        };
        Sending { packet: PacketView { size: 52 + len, segment: Some(segment) } }
    }

    fn dozing(config: BsdConfig) -> Bsd {
        let mut bsd = Bsd::new(&config, STATION, at(0)).unwrap();
        script(&mut bsd, &[(0, Timeout, &DOZES)]);
        bsd
    }

    fn script(bsd: &mut Bsd, lines: &[(u64, StationEvent, &[StationAction])]) {
        for (millis, event, expected) in lines {
            bsd.handle(at(*millis), *event);
            let actions: Vec<_> = std::iter::from_fn(|| bsd.poll_action()).collect();
            assert_eq!(actions, *expected, "{event:?} at {millis} ms");
            assert!(bsd.next_timeout().is_none_or(|due| due >= at(*millis)), "a timeout in the past");
        }
    }

    /// The wake times until `end` if every beacon announces no packets.
    fn wakes(bsd: &mut Bsd, end: Instant) -> Vec<u64> {
        let mut wakes = Vec::new();
        while let Some(due) = bsd.next_timeout().filter(|due| *due < end) {
            bsd.handle(due, Timeout);
            assert_eq!((bsd.poll_action(), bsd.poll_action()), (Some(Wake), None));
            wakes.push(due.as_nanos() / 1_000_000);
            bsd.handle(due + Duration::from_millis(2), NONE);
            assert_eq!((bsd.poll_action(), bsd.poll_action()), (Some(Sleep), None));
        }
        wakes
    }

    #[test]
    fn it_stays_awake_for_t_and_then_listens_ever_more_rarely() {
        // p = 0.5, B = 100 ms: T = 200 ms. The request is at 1000 ms, the sleep at 1200 ms. Then the station
        // sleeps at most half of the time since the request: 1200 + 100 = 1300; 1300 + 150: 1400; 1400 + 200 =
        // 1600; 1600 + 300 = 1900; 1900 + 450: 2300; 2300 + 650: 2900; 2900 + 950, but at most 900 ms: 3800;
        // 4700.
        let mut bsd = dozing(BsdConfig::default());
        assert_eq!(bsd.awake_for(), Duration::from_millis(200));
        script(&mut bsd, &[(1000, SENDING, &RISES)]);
        assert_eq!(bsd.next_timeout(), Some(at(1200)));
        script(&mut bsd, &[(1050, LAST, &[]), (1100, NONE, &[]), (1200, Timeout, &DOZES)]);
        let expected = [1298, 1398, 1598, 1898, 2298, 2898, 3798, 4698];
        assert_eq!(wakes(&mut bsd, at(5000)), expected);
    }

    #[test]
    fn the_bound_holds_whenever_the_answer_comes() {
        // An answer that arrives r after the request during sleep waits for the next heard beacon: at most p r.
        for p in [0.2, 0.5, 1.0] {
            let no_limit = Duration::from_secs(1000);
            let mut bsd = dozing(BsdConfig { slowdown: p, longest_listen: no_limit, ..BsdConfig::default() });
            let request = at(1033);
            bsd.handle(request, SENDING);
            while bsd.poll_action().is_some() {}
            let asleep = request + bsd.awake_for();
            bsd.handle(asleep, Timeout);
            while bsd.poll_action().is_some() {}
            let mut from = asleep;
            for wake in wakes(&mut bsd, at(60_000)) {
                let heard = at(wake + 2);
                let (slept, since) = ((heard - from).as_secs_f64(), (from - request).as_secs_f64());
                assert!(slept <= p * since + 1e-9, "{slept} s asleep, {since} s after the request");
                from = heard;
            }
            assert!(from > at(30_000), "it went on");
        }
    }

    #[test]
    fn every_acknowledgement_is_a_request_unless_told_otherwise() {
        let mut bsd = dozing(BsdConfig::default());
        script(&mut bsd, &[(1000, segment(0), &RISES), (1150, segment(0), &[])]);
        assert_eq!(bsd.next_timeout(), Some(at(1350)), "the last one counts");
        let mut bsd = dozing(BsdConfig { request: Requests::DataOnly, ..BsdConfig::default() });
        script(&mut bsd, &[(1000, segment(0), &[Sleep]), (1010, segment(100), &RISES), (1100, segment(0), &[])]);
        assert_eq!(bsd.next_timeout(), Some(at(1210)));
    }

    #[test]
    fn what_is_buffered_is_polled_for_and_answering_it_is_a_request() {
        let mut bsd = dozing(BsdConfig::default());
        // No request yet: the longest interval, 0.9 s.
        script(&mut bsd, &[(898, Timeout, &[Wake]), (900, SOME, &[Poll]), (901, LAST, &[])]);
        // The host answers before the sleep, which does not happen.
        script(&mut bsd, &[(901, SENDING, &RISES), (901, Timeout, &[]), (1101, Timeout, &DOZES)]);
    }

    #[test]
    fn an_access_point_that_buffers_for_it_while_it_is_awake_is_told_again() {
        let mut bsd = dozing(BsdConfig::default());
        script(&mut bsd, &[(1000, SENDING, &RISES), (1100, SOME, &[Announce(PowerMode::Awake)])]);
        assert_eq!(bsd.next_timeout(), Some(at(1200)));
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let error = |config| Bsd::new(&config, STATION, at(0)).unwrap_err().field;
        for slowdown in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
            assert_eq!(error(BsdConfig { slowdown, ..BsdConfig::default() }), "slowdown", "{slowdown}");
        }
        let slow = station::Context { wake: Duration::from_secs(1), ..STATION };
        assert_eq!(Bsd::new(&BsdConfig::default(), slow, at(0)).unwrap_err().field, "wake_time");
    }
}
