//! The power-saving mode of IEEE 802.11: asleep except for beacons (section 11.2; client-centered-2004 section
//! IV-C).

use super::AccessPointConfig;
use super::doze::{Actions, Doze, Rules};
use crate::station::{self, PowerMode, StationAction, StationEvent};
use crate::{ConfigError, Machine};
use netlull_document::check_ranges;
use netlull_units::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// IEEE 802.11 power-saving mode, ideal or with a poll for each packet (docs/models/radio.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "client-centered-2004 section IV-C; IEEE 802.11 section 11.2"))]
pub struct PsmConfig {
    /// The parameters of the access point.
    #[serde(default)]
    pub access_point: AccessPointConfig,
    /// The station listens to every n-th beacon, counted from the first.
    #[serde(default = "default_listen_interval")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unit" = "beacons", "x-source" = "client-centered-2004"))]
    pub listen_interval: u32,
}

const fn default_listen_interval() -> u32 {
    1
}

impl Default for PsmConfig {
    fn default() -> Self {
        Self { access_point: AccessPointConfig::default(), listen_interval: default_listen_interval() }
    }
}

impl station::Parameters for PsmConfig {
    type Machine = Psm;

    fn access_point(&self) -> Option<&AccessPointConfig> {
        Some(&self.access_point)
    }

    fn build(&self, station: station::Context, start: Instant) -> Result<Psm, ConfigError> {
        Psm::new(self, station, start)
    }
}

/// A station in power-saving mode: it sleeps, wakes for beacons, and polls for announced packets.
///
/// ```text
///   Starting{at}  -- announces that it dozes, sleeps -->  Dozing(asleep <-> listening <-> waiting for a burst)
/// ```
///
/// It never announces the awake mode: the radio wakes to send the host's packets and sleeps again.
///
/// A wake-up requested while the radio prepares to sleep keeps it awake: the driver carries out the later of
/// [`StationAction::Sleep`] and [`StationAction::Wake`].
#[derive(Clone, Debug)]
pub struct Psm {
    rules: Rules,
    listen_interval: u32,
    state: State,
    actions: Actions,
    now: Instant,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Starting { at: Instant },
    Dozing(Doze),
}

impl Psm {
    /// Creates a station that begins to doze at `start`.
    ///
    /// # Errors
    /// If a value of `config` is out of range, contradicts another or does not fit the station.
    pub fn new(config: &PsmConfig, station: station::Context, start: Instant) -> Result<Self, ConfigError> {
        check_ranges(config)?;
        let rules = Rules::new(&config.access_point, station)?;
        Ok(Self {
            rules,
            listen_interval: config.listen_interval,
            state: State::Starting { at: start },
            actions: Actions::default(),
            now: start,
        })
    }
}

impl Machine for Psm {
    type Event = StationEvent;
    type Action = StationAction;

    fn handle(&mut self, now: Instant, event: StationEvent) {
        self.now = now;
        let next = self.rules.beacons.every_after(self.listen_interval, now);
        let doze = match self.state {
            State::Starting { .. } => {
                self.actions.push(StationAction::Announce(PowerMode::Dozing));
                self.rules.sleep(now, next, &mut self.actions)
            }
            State::Dozing(doze) => doze,
        };
        self.state = State::Dozing(self.rules.step(doze, now, event, next, &mut self.actions));
    }

    fn poll_action(&mut self) -> Option<StationAction> {
        self.actions.take()
    }

    fn next_timeout(&self) -> Option<Instant> {
        let due = match self.state {
            State::Starting { at } => Some(at),
            State::Dozing(doze) => self.rules.timeout(doze),
        };
        due.map(|due| due.max(self.now))
    }
}

impl station::Policy for Psm {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::Polling;
    use crate::station::PacketView;
    use StationAction::{Announce, Poll, Sleep, Wake};
    use StationEvent::{Beacon, Received, Sending, Timeout};
    use netlull_units::{BitRate, Bytes, Duration};

    const STATION: station::Context =
        station::Context { air_rate: BitRate::from_mbps(11), wake: Duration::from_millis(2), mtu: Bytes::new(1500) };
    const PACKET: PacketView = PacketView { size: 1500, segment: None };
    const MORE: StationEvent = Received { packet: PACKET, more: true };
    const LAST: StationEvent = Received { packet: PACKET, more: false };
    const SENDING: StationEvent = Sending { packet: PACKET };
    const SOME: StationEvent = Beacon { buffered: true };
    const NONE: StationEvent = Beacon { buffered: false };

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A station at 0 ms with beacons at 100, 200 ... ms, which has begun to doze.
    fn dozing(config: PsmConfig) -> Psm {
        let mut psm = Psm::new(&config, STATION, at(0)).unwrap();
        assert_eq!(psm.next_timeout(), Some(at(0)));
        script(&mut psm, &[(0, Timeout, &[Announce(PowerMode::Dozing), Sleep])]);
        psm
    }

    /// Delivers each event and compares the requested actions.
    fn script(psm: &mut Psm, lines: &[(u64, StationEvent, &[StationAction])]) {
        for (millis, event, expected) in lines {
            psm.handle(at(*millis), *event);
            let actions: Vec<_> = std::iter::from_fn(|| psm.poll_action()).collect();
            assert_eq!(actions, *expected, "{event:?} at {millis} ms");
            assert!(psm.next_timeout().is_none_or(|due| due >= at(*millis)), "a timeout in the past");
        }
    }

    #[test]
    fn it_wakes_for_each_beacon_and_sleeps_on_if_there_is_nothing() {
        let mut psm = dozing(PsmConfig::default());
        // The wake-up for the beacon at 100 ms takes 2 ms.
        assert_eq!(psm.next_timeout(), Some(at(98)));
        script(&mut psm, &[(98, Timeout, &[Wake]), (100, NONE, &[Sleep])]);
        assert_eq!(psm.next_timeout(), Some(at(198)));
    }

    #[test]
    fn it_listens_to_each_third_beacon_if_told_so() {
        let mut psm = dozing(PsmConfig { listen_interval: 3, ..PsmConfig::default() });
        script(&mut psm, &[(98, Timeout, &[Wake]), (100, NONE, &[Sleep])]);
        assert_eq!(psm.next_timeout(), Some(at(398)), "the first, the fourth ...");
    }

    #[test]
    fn one_poll_brings_a_burst_and_its_last_packet_sleep() {
        let mut psm = dozing(PsmConfig::default());
        script(
            &mut psm,
            &[(98, Timeout, &[Wake]), (100, SOME, &[Poll]), (101, MORE, &[]), (102, MORE, &[]), (103, LAST, &[])],
        );
        // The host's immediate packets precede the sleep: the timeout is due at once, but follows them.
        assert_eq!(psm.next_timeout(), Some(at(103)));
        script(&mut psm, &[(103, SENDING, &[]), (103, Timeout, &[Sleep])]);
        assert_eq!(psm.next_timeout(), Some(at(198)));
    }

    #[test]
    fn in_802_11_each_packet_is_polled_for() {
        let mut psm = dozing(PsmConfig {
            access_point: AccessPointConfig { poll: Polling::One, ..Default::default() },
            ..PsmConfig::default()
        });
        script(&mut psm, &[(98, Timeout, &[Wake]), (100, SOME, &[Poll]), (101, MORE, &[Poll]), (102, LAST, &[])]);
        script(&mut psm, &[(102, Timeout, &[Sleep])]);
    }

    #[test]
    fn what_the_host_sends_while_it_sleeps_wakes_it_no_longer_than_that() {
        let mut psm = dozing(PsmConfig::default());
        script(&mut psm, &[(40, SENDING, &[Sleep]), (50, LAST, &[])]);
        assert_eq!(psm.next_timeout(), Some(at(98)));
        script(&mut psm, &[(98, Timeout, &[Wake]), (99, SENDING, &[])]);
    }

    #[test]
    fn the_beacon_decides_if_the_last_packet_is_lost() {
        // Of a burst at 100 ms, the packet at 102 ms is the last to arrive.
        let burst: [(u64, StationEvent, &[StationAction]); 3] =
            [(98, Timeout, &[Wake]), (100, SOME, &[Poll]), (102, MORE, &[])];
        let mut psm = dozing(PsmConfig::default());
        script(&mut psm, &burst);
        assert_eq!(psm.next_timeout(), None, "it waits for the burst or for a beacon");
        script(&mut psm, &[(200, NONE, &[Sleep])]);
        let mut psm = dozing(PsmConfig::default());
        script(&mut psm, &burst);
        script(&mut psm, &[(200, SOME, &[Poll]), (201, LAST, &[]), (201, Timeout, &[Sleep])]);
    }

    #[test]
    fn a_burst_that_runs_over_a_beacon_is_neither_cut_nor_polled_for_twice() {
        // The packet of 195 ms is less than 20 ms old, so the burst may still run. No more packets are held: its
        // last packet is the end.
        let start: [(u64, StationEvent, &[StationAction]); 3] =
            [(98, Timeout, &[Wake]), (100, SOME, &[Poll]), (195, MORE, &[])];
        let mut psm = dozing(PsmConfig::default());
        script(&mut psm, &start);
        script(&mut psm, &[(200, NONE, &[]), (205, MORE, &[]), (210, LAST, &[]), (210, Timeout, &[Sleep])]);
        // More packets have arrived since: the station polls for them after the first burst.
        let mut psm = dozing(PsmConfig::default());
        script(&mut psm, &start);
        script(&mut psm, &[(200, SOME, &[]), (205, LAST, &[Poll]), (206, LAST, &[]), (206, Timeout, &[Sleep])]);
        // The burst's last packet is then lost, so the next beacon decides.
        let mut psm = dozing(PsmConfig::default());
        script(&mut psm, &start);
        script(&mut psm, &[(200, NONE, &[]), (300, NONE, &[Sleep])]);
    }

    #[test]
    fn a_beacon_that_is_not_heard_is_waited_for() {
        let mut psm = dozing(PsmConfig::default());
        script(&mut psm, &[(98, Timeout, &[Wake])]);
        assert_eq!(psm.next_timeout(), None);
        script(&mut psm, &[(200, NONE, &[Sleep])]);
    }

    #[test]
    fn it_does_not_sleep_for_less_than_it_takes_to_wake() {
        // At 199 ms the beacon at 200 ms is too near for a radio with a wake time of 2 ms.
        let mut psm = dozing(PsmConfig::default());
        script(&mut psm, &[(98, Timeout, &[Wake]), (100, SOME, &[Poll]), (199, LAST, &[]), (199, Timeout, &[])]);
        script(&mut psm, &[(200, NONE, &[Sleep])]);
    }

    #[test]
    fn timeouts_that_come_late_or_unasked_do_no_harm() {
        let mut psm = dozing(PsmConfig::default());
        script(&mut psm, &[(50, Timeout, &[]), (150, SENDING, &[Sleep])]);
        assert_eq!(psm.next_timeout(), Some(at(150)), "overdue is due now");
        script(&mut psm, &[(160, Timeout, &[Wake]), (160, Timeout, &[]), (200, NONE, &[Sleep])]);
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let error = |config: PsmConfig| Psm::new(&config, STATION, at(0)).unwrap_err().field;
        let beyond = |access_point| error(PsmConfig { access_point, ..PsmConfig::default() });
        let (access, period) = (AccessPointConfig::default(), Duration::from_millis(100));
        assert_eq!(error(PsmConfig { listen_interval: 0, ..PsmConfig::default() }), "listen_interval");
        assert_eq!(beyond(AccessPointConfig { beacon_period: Duration::ZERO, ..access }), "access_point.beacon_period");
        assert_eq!(beyond(AccessPointConfig { beacon_time: Some(period), ..access }), "access_point.beacon_time");
        // 1500 B at 11 Mb/s take 1.091 ms after a poll of 0.5 ms.
        let patience = |micros| Some(Duration::from_micros(micros));
        assert_eq!(beyond(AccessPointConfig { patience: patience(1590), ..access }), "access_point.patience");
        assert_eq!(beyond(AccessPointConfig { patience: patience(100_000), ..access }), "access_point.beacon_period");
        let slow = station::Context { wake: period, ..STATION };
        assert_eq!(Psm::new(&PsmConfig::default(), slow, at(0)).unwrap_err().field, "wake_time");
    }
}
