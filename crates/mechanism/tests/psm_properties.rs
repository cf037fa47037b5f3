//! Properties of an access point and a dozing station for any arrivals, losses and transmissions.

use netlull_mechanism::Machine;
use netlull_mechanism::radio::{
    AccessAction, AccessEvent, AccessPoint, AccessPointConfig, Bsd, BsdConfig, Polling, Psm, PsmConfig, Requests,
};
use netlull_mechanism::station::{self, PacketView, PowerMode, StationAction, StationEvent};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use proptest::prelude::*;
use std::collections::VecDeque;

const PERIOD: Duration = Duration::from_millis(100);
const WAKE: Duration = Duration::from_millis(2);
/// A station with an air fast enough for any patience.
const STATION: station::Context =
    station::Context { air_rate: BitRate::from_mbps(1_000_000), wake: WAKE, mtu: Bytes::new(1500) };

fn access_point(poll: Polling, patience: Duration) -> AccessPointConfig {
    let (patience, poll_time) = (Some(patience), Duration::ZERO);
    AccessPointConfig { poll, patience, poll_time, ..AccessPointConfig::default() }
}
const PACKET: PacketView = PacketView { size: 1500, segment: None };

#[derive(Clone, Copy, Debug)]
enum Radio {
    Asleep,
    Waking { until: Instant },
    Awake,
}

/// The frames on the air to the station, in the order of arrival.
#[derive(Clone, Copy, Debug)]
struct Frame {
    at: Instant,
    number: u32,
    more: bool,
}

/// A link without a transport protocol: an access point, an air with the time `air` per packet and losses, and a
/// station.
struct Cell<M> {
    access: AccessPoint,
    station: M,
    radio: Radio,
    now: Instant,
    air: Duration,
    held: VecDeque<u32>,
    on_air: VecDeque<Frame>,
    next_number: u32,
    refused: u32,
    /// True for each arrival at the station that is lost, by number.
    loses: Vec<bool>,
    received: Vec<u32>,
    lost: u32,
    /// Packets that arrived while the radio slept.
    missed: u32,
    /// Packets on the air when the station announced that it dozes.
    overtaken: usize,
    asleep: Duration,
    actions: u64,
}

impl<M: Machine<Event = StationEvent, Action = StationAction>> Cell<M> {
    fn new(station: M, poll: Polling, air: Duration, loses: Vec<bool>) -> Self {
        let access = AccessPointConfig { poll, buffer: 40, ..AccessPointConfig::default() };
        Self {
            access: AccessPoint::new(&access, Instant::ZERO).unwrap(),
            station,
            radio: Radio::Awake,
            now: Instant::ZERO,
            air,
            held: VecDeque::new(),
            on_air: VecDeque::new(),
            next_number: 0,
            refused: 0,
            loses,
            received: Vec::new(),
            lost: 0,
            missed: 0,
            overtaken: 0,
            asleep: Duration::ZERO,
            actions: 0,
        }
    }

    /// Runs until `end`, exclusive. At the same instant packets precede the station's timeouts, and those precede
    /// the access point's.
    fn run(&mut self, end: Instant) {
        loop {
            let waking = if let Radio::Waking { until } = self.radio { until } else { Instant::NEVER };
            let frame = self.on_air.front().map_or(Instant::NEVER, |frame| frame.at);
            let station = self.station.next_timeout().unwrap_or(Instant::NEVER);
            let access = self.access.next_timeout().unwrap_or(Instant::NEVER);
            let next = waking.min(frame).min(station).min(access);
            if next >= end {
                return self.pass(end);
            }
            self.pass(next);
            if waking == next {
                self.radio = Radio::Awake;
            } else if frame == next {
                self.arrive();
            } else if station == next {
                self.tell_station(StationEvent::Timeout);
            } else {
                self.tell_access(AccessEvent::Timeout);
            }
        }
    }

    fn pass(&mut self, now: Instant) {
        if let Radio::Asleep = self.radio {
            self.asleep += now - self.now;
        }
        self.now = now;
    }

    fn hears(&self) -> bool {
        matches!(self.radio, Radio::Awake)
    }

    fn arrive(&mut self) {
        let frame = self.on_air.pop_front().unwrap();
        if self.loses.get(frame.number as usize) == Some(&true) {
            self.lost += 1;
        } else if self.hears() {
            self.received.push(frame.number);
            self.tell_station(StationEvent::Received { packet: PACKET, more: frame.more });
        } else {
            self.missed += 1;
        }
    }

    fn tell_station(&mut self, event: StationEvent) {
        self.station.handle(self.now, event);
        while let Some(action) = self.station.poll_action() {
            self.count();
            match action {
                StationAction::Sleep => self.radio = Radio::Asleep,
                StationAction::Wake => self.wake(),
                StationAction::Poll => {
                    assert!(self.hears(), "a poll of a radio that would not hear the answer");
                    self.tell_access(AccessEvent::Polled);
                }
                StationAction::Announce(mode) => {
                    self.overtaken += if mode == PowerMode::Dozing { self.on_air.len() } else { 0 };
                    self.tell_access(AccessEvent::Announced(mode));
                }
                StationAction::SetWindow(_) | StationAction::Withhold | StationAction::Acknowledge { .. } => {
                    panic!("{action:?}")
                }
            }
        }
        assert!(self.station.next_timeout().is_none_or(|due| due >= self.now), "a timeout in the past");
    }

    /// Sends a packet of the host, which wakes the radio at once here: the driver determines the time it takes.
    fn send(&mut self) {
        let woken = matches!(self.radio, Radio::Asleep);
        self.radio = Radio::Awake;
        self.tell_station(StationEvent::Sending { packet: PACKET });
        if woken && self.access.station() == PowerMode::Dozing {
            assert!(!self.hears(), "sent, and not asleep again");
        }
    }

    fn wake(&mut self) {
        if let Radio::Asleep = self.radio {
            self.radio = Radio::Waking { until: self.now + WAKE };
        }
    }

    fn tell_access(&mut self, event: AccessEvent) {
        self.access.handle(self.now, event);
        let mut answers = 0;
        while let Some(action) = self.access.poll_action() {
            self.count();
            answers += 1;
            match action {
                AccessAction::Forward => self.put_on_air(self.next_number, false),
                AccessAction::Hold => self.held.push_back(self.next_number),
                AccessAction::Refuse => self.refused += 1,
                AccessAction::Release { packets, more } => self.release(packets, more),
                AccessAction::Beacon { buffered } => {
                    assert_eq!(buffered, !self.held.is_empty());
                    if self.hears() {
                        self.tell_station(StationEvent::Beacon { buffered });
                    }
                }
            }
        }
        if event == AccessEvent::Arrival {
            assert_eq!(answers, 1, "each arrival has one answer");
            self.next_number += 1;
        }
        assert_eq!(self.access.held() as usize, self.held.len());
        assert!(self.access.next_timeout().is_some_and(|due| due >= self.now), "beacons go on");
    }

    fn release(&mut self, packets: u32, more: bool) {
        for left in (0..packets).rev() {
            let number = self.held.pop_front().expect("more released than held");
            self.put_on_air(number, left > 0 || more);
        }
        assert_eq!(more, !self.held.is_empty());
    }

    fn put_on_air(&mut self, number: u32, more: bool) {
        let free = self.on_air.back().map_or(self.now, |frame| frame.at);
        self.on_air.push_back(Frame { at: free.max(self.now) + self.air, number, more });
    }

    /// Checks that no instant requests endless actions.
    fn count(&mut self) {
        self.actions += 1;
        assert!(self.actions < 100_000, "it never comes to rest");
    }
}

/// An event from outside.
#[derive(Clone, Copy, Debug)]
enum Outside {
    Packets(u32),
    HostSends,
}

fn outside() -> impl Strategy<Value = Vec<(Duration, Outside)>> {
    let gap = prop_oneof![Just(0_u64), 1_u64..3_000_000, 1_u64..300_000_000].prop_map(Duration::from_nanos);
    let what = prop_oneof![4 => (1_u32..12).prop_map(Outside::Packets), 1 => Just(Outside::HostSends)];
    prop::collection::vec((gap, what), 0..60)
}

fn polling() -> impl Strategy<Value = Polling> {
    prop_oneof![Just(Polling::All), Just(Polling::One)]
}

/// Times on the air from 100 to 3 Mb/s, including bursts that last beyond a beacon.
fn air() -> impl Strategy<Value = Duration> {
    (120_u64..4_000).prop_map(Duration::from_micros)
}

/// A patience that outlasts the longest run of losses, which does not end a running burst.
fn patience(air: Duration, loses: &[bool]) -> Duration {
    let longest = loses.split(|lost| !lost).map(<[bool]>::len).max().unwrap_or(0);
    air * (longest as u64 + 2)
}

fn losses() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(prop::bool::weighted(0.2), 0..400)
}

fn play<M: Machine<Event = StationEvent, Action = StationAction>>(cell: &mut Cell<M>, outside: &[(Duration, Outside)]) {
    // The station starts first.
    cell.tell_station(StationEvent::Timeout);
    for (gap, what) in outside {
        cell.run(cell.now + *gap);
        match what {
            Outside::Packets(packets) => (0..*packets).for_each(|_| cell.tell_access(AccessEvent::Arrival)),
            Outside::HostSends => cell.send(),
        }
    }
}

/// Properties at the end of a run.
fn check<M: Machine<Event = StationEvent, Action = StationAction>>(cell: &Cell<M>) -> Result<(), TestCaseError> {
    prop_assert!(cell.held.is_empty() && cell.on_air.is_empty(), "{} held for ever", cell.held.len());
    prop_assert!(cell.received.windows(2).all(|pair| pair[0] < pair[1]), "out of order");
    let came = u32::try_from(cell.received.len()).unwrap();
    prop_assert_eq!(came + cell.lost + cell.missed + cell.refused, cell.next_number);
    Ok(())
}

proptest! {
    /// With PSM no packet arrives at a sleeping radio, and every held packet arrives in order. The station ends
    /// at rest: awake only for beacons.
    #[test]
    fn psm_misses_nothing(
        outside in outside(), poll in polling(), air in air(), loses in losses(), listen_interval in 1_u32..4,
    ) {
        let patience = patience(air, &loses);
        prop_assume!(patience < PERIOD);
        let config = PsmConfig { access_point: access_point(poll, patience), listen_interval };
        let mut cell = Cell::new(Psm::new(&config, STATION, Instant::ZERO).unwrap(), poll, air, loses);
        play(&mut cell, &outside);
        cell.run(cell.now + Duration::from_secs(20));
        check(&cell)?;
        prop_assert_eq!(cell.missed, 0);
        // At rest: in each listen interval it is awake only for the wake time before the beacon.
        let interval = PERIOD * u64::from(listen_interval);
        let before = cell.asleep;
        cell.run(cell.now + interval * 10);
        prop_assert_eq!(cell.asleep - before, (interval - WAKE) * 10);
    }

    /// With BSD nothing is missed, except packets on the air when the station announced that it dozes. These are
    /// the packets at the announcement and those polled for while they arrive, because they do not announce the
    /// rest.
    #[test]
    fn bsd_comes_to_rest(
        outside in outside(), poll in polling(), air in air(), loses in losses(), slowdown in 0.1_f64..2.0,
    ) {
        let patience = patience(air, &loses);
        prop_assume!(patience < PERIOD);
        let config = BsdConfig { access_point: access_point(poll, patience), slowdown, ..BsdConfig::default() };
        let mut cell = Cell::new(Bsd::new(&config, STATION, Instant::ZERO).unwrap(), poll, air, loses);
        play(&mut cell, &outside);
        cell.run(cell.now + Duration::from_secs(60));
        check(&cell)?;
        prop_assert!(cell.missed == 0 || cell.overtaken > 0, "{} missed", cell.missed);
        // At rest: one beacon in 900 ms.
        let before = cell.asleep;
        cell.run(cell.now + Duration::from_millis(9000));
        prop_assert_eq!(cell.asleep - before, (Duration::from_millis(900) - WAKE) * 10);
    }

    /// Any events at any time cause no panic, no timeout in the past and no endless actions.
    #[test]
    fn nothing_breaks_a_station(events in prop::collection::vec((0_u64..200_000_000, 0_u8..6), 0..200), bsd in any::<bool>()) {
        let access_point = AccessPointConfig { poll: Polling::One, ..AccessPointConfig::default() };
        let config = PsmConfig { access_point, ..PsmConfig::default() };
        let mut psm = Psm::new(&config, STATION, Instant::ZERO).unwrap();
        let config = BsdConfig { request: Requests::DataOnly, ..BsdConfig::default() };
        let mut other = Bsd::new(&config, STATION, Instant::ZERO).unwrap();
        let mut now = Instant::ZERO;
        for (gap, kind) in events {
            now += Duration::from_nanos(gap);
            let event = match kind {
                0 => StationEvent::Received { packet: PACKET, more: true },
                1 => StationEvent::Received { packet: PACKET, more: false },
                2 => StationEvent::Sending { packet: PACKET },
                3 => StationEvent::Acknowledged { packet: PACKET },
                4 => StationEvent::Beacon { buffered: gap % 2 == 0 },
                _ => StationEvent::Timeout,
            };
            let due = if bsd { step(&mut other, now, event) } else { step(&mut psm, now, event) };
            prop_assert!(due.is_none_or(|due| due >= now));
        }
    }
}

/// Delivers an event, drains the few actions, and returns the next timeout. A delivered timeout is not requested
/// again.
fn step<M: Machine<Event = StationEvent, Action = StationAction>>(
    machine: &mut M,
    now: Instant,
    event: StationEvent,
) -> Option<Instant> {
    machine.handle(now, event);
    assert!(std::iter::from_fn(|| machine.poll_action()).count() <= 4);
    let due = machine.next_timeout()?;
    if due == now {
        machine.handle(now, StationEvent::Timeout);
        assert!(std::iter::from_fn(|| machine.poll_action()).count() <= 4);
        assert_ne!(machine.next_timeout(), Some(now), "the same instant again");
    }
    machine.next_timeout()
}
