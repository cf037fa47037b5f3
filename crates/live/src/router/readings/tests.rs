//! Comparison of counter readings with the packets themselves.

use super::*;
use crate::router::segment::Coverage;
use netlull_mechanism::ConfigError;
use netlull_mechanism::gateway::{
    AwmConfig, GRouterConfig, HeldQueue, Pace, RateRule, RoundTripConfig, SegmentKind, SegmentView, Timestamps,
    WindowRule, spread,
};
use netlull_mechanism::link::{self, LinkAction, WindowEstimates};
use netlull_mechanism::rate::{EarthConfig, LullConfig, PractRaConfig, QueueLength, RateSet};
use std::sync::Arc;

const PERIOD: Duration = Duration::from_millis(5);
const PACKET: u64 = 1500;
const RATE: BitRate = BitRate::from_mbps(20);
const BUFFER: u64 = 150_000;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// An event of a packet; the recording adds the queue after it.
#[derive(Clone, Copy, Debug)]
enum PacketEvent {
    Arrival { flow: u64, number: u32, admission: Admission },
    Departure,
    Acknowledgement { flow: u64, number: u32, sent: u32 },
}

/// A queue of 20 Mb/s and 150 kB for `seconds`. 8 flows offer from a quarter to one and a half of the rate, redrawn
/// every 200 ms, in packets at random distances. A packet is acknowledged 20 ms after it has left. Each entry of the
/// list contains the instant, the event and the number of packets in the queue afterwards, including the packet in
/// service.
fn recording(seconds: u64) -> Vec<(Instant, PacketEvent, u64)> {
    let end = ms(1000 * seconds);
    let send = RATE.time_for(Bytes::new(PACKET));
    let mut list = Vec::new();
    let mut waiting = std::collections::VecDeque::new();
    let (mut draw, mut arrival, mut departure) = (0, ms(0), Instant::NEVER);
    let mut random = || {
        draw += 1;
        (spread(draw) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut numbers = [0_u32; 8];
    while arrival.min(departure) < end {
        if arrival <= departure {
            let slot = (arrival - Instant::ZERO).as_nanos() / 200_000_000;
            let load = 0.25 + 1.25 * (spread(slot + 77) >> 11) as f64 / (1_u64 << 53) as f64;
            let flow = (random() * 8.0) as usize;
            let room = (waiting.len() as u64 + 1) * PACKET <= BUFFER;
            let admission = if room { Admission::Accepted } else { Admission::Dropped };
            if room {
                numbers[flow] += PACKET as u32;
                waiting.push_back((flow as u64, numbers[flow], arrival));
                if waiting.len() == 1 {
                    departure = arrival + send;
                }
            }
            let event = PacketEvent::Arrival { flow: flow as u64, number: numbers[flow], admission };
            list.push((arrival, event, waiting.len() as u64));
            arrival += Duration::from_secs_f64(-random().max(1e-9).ln() * send.as_secs_f64() / load).unwrap();
        } else {
            let (flow, number, sent) = waiting.pop_front().unwrap();
            list.push((departure, PacketEvent::Departure, waiting.len() as u64));
            let sent = ((sent - Instant::ZERO).as_nanos() / 1_000_000) as u32;
            let at = departure + Duration::from_millis(20);
            list.push((at, PacketEvent::Acknowledgement { flow, number, sent }, 0));
            departure = if waiting.is_empty() { Instant::NEVER } else { departure + send };
        }
    }
    list.retain(|&(at, ..)| at < end);
    list.sort_by_key(|&(at, ..)| at);
    list
}

fn view(flow: u64, end: u32, acknowledged: u32, data: bool, value: u32, echo: u32) -> SegmentView {
    let timestamps = Some(Timestamps { value, echo });
    SegmentView { flow, kind: SegmentKind::Other, end, acknowledged, data, fin: false, timestamps }
}

/// A data segment's timestamps echo the value from 40 ms ago, the rest of its round trip.
fn data(at: Instant, flow: u64, number: u32) -> SegmentView {
    let now = ((at - Instant::ZERO).as_nanos() / 1_000_000) as u32;
    view(flow, number, 0, true, now, now.saturating_sub(40))
}

/// Drives a machine packet by packet; calls `at_end` at the end of every period.
fn by_packets<M: Machine>(
    machine: &mut M,
    list: &[(Instant, PacketEvent, u64)],
    tell: impl Fn(Instant, PacketEvent, QueueView) -> Option<M::Event>,
    timeout: impl Fn(QueueView) -> M::Event,
    mut at_end: impl FnMut(&M),
) {
    let mut queue = QueueView::EMPTY;
    let mut tick = Instant::ZERO + PERIOD;
    for &(at, event, packets) in list {
        while tick <= at {
            wake(machine, tick, queue, &timeout);
            at_end(machine);
            tick += PERIOD;
        }
        wake(machine, at, queue, &timeout);
        if !matches!(event, PacketEvent::Acknowledgement { .. }) {
            queue = split(packets * PACKET, PACKET);
        }
        if let Some(event) = tell(at, event, queue) {
            machine.handle(at, event);
            while machine.poll_action().is_some() {}
        }
    }
}

fn wake<M: Machine>(machine: &mut M, until: Instant, queue: QueueView, timeout: impl Fn(QueueView) -> M::Event) {
    let mut last = None;
    while let Some(due) = machine.next_timeout().filter(|&due| due <= until && Some(due) != last) {
        machine.handle(due, timeout(queue));
        while machine.poll_action().is_some() {}
        last = Some(due);
    }
}

/// Drives the same machine from the counters at the end of every period, and the segments seen.
fn by_readings(config: &LinkSetup, list: &[(Instant, PacketEvent, u64)], mut at_end: impl FnMut(&Readings)) {
    let mut machine = Readings::new(config, ms(0), Reading::default(), "test", None).unwrap();
    let (mut reading, mut seen) = (Reading::default(), Vec::new());
    let mut tick = Instant::ZERO + PERIOD;
    for &(at, event, packets) in list {
        while tick <= at {
            machine.period(tick, reading, &seen);
            at_end(&machine);
            seen.clear();
            tick += PERIOD;
        }
        let (direction, segment) = match event {
            PacketEvent::Departure => {
                reading.sent_bytes += PACKET;
                reading.sent_packets += 1;
                (reading.packets, reading.backlog) = (packets, packets * PACKET);
                continue;
            }
            // A dropped segment was seen before.
            PacketEvent::Arrival { flow, number, admission } => {
                reading.drops += u64::from(admission == Admission::Dropped);
                (reading.packets, reading.backlog) = (packets, packets * PACKET);
                (Direction::Forward, data(at, flow, number))
            }
            PacketEvent::Acknowledgement { flow, number, sent } => {
                let now = ((at - Instant::ZERO).as_nanos() / 1_000_000) as u32;
                (Direction::Backward, view(flow, 0, number, false, now, sent))
            }
        };
        let sighting = Sighting {
            nanos: at.as_nanos(),
            direction,
            coverage: Coverage::Whole,
            segment,
            window: Some(Bytes::new(65_535)),
        };
        seen.push((at, sighting));
    }
}

fn gateway_event(at: Instant, event: PacketEvent, queue: QueueView) -> Option<LinkEvent> {
    Some(match event {
        PacketEvent::Arrival { flow, number, admission } => {
            let segment = Some(data(at, flow, number));
            LinkEvent::Arrival { size: Bytes::new(PACKET), admission, queue, segment }
        }
        PacketEvent::Departure => LinkEvent::Departure { queue },
        PacketEvent::Acknowledgement { flow, number, sent } => {
            let now = ((at - Instant::ZERO).as_nanos() / 1_000_000) as u32;
            let segment = view(flow, 0, number, false, now, sent);
            LinkEvent::Acknowledgement { segment, window: Bytes::new(65_535) }
        }
    })
}

fn rate_event(_: Instant, event: PacketEvent, queue: QueueView) -> Option<LinkEvent> {
    match event {
        PacketEvent::Arrival { admission, .. } => {
            Some(LinkEvent::Arrival { size: Bytes::new(PACKET), admission, queue, segment: None })
        }
        PacketEvent::Departure => Some(LinkEvent::Departure { queue }),
        PacketEvent::Acknowledgement { .. } => None,
    }
}

fn setup(mechanism: link::Config) -> LinkSetup {
    LinkSetup { mechanism, link: link::Context::new(RATE, Bytes::new(1500)), naps: None }
}

fn machine(setup: &LinkSetup) -> link::Running {
    setup.mechanism.build(setup.link, ms(0)).unwrap()
}

/// AWM, with C-EARTH at a given pace or without it.
fn gateway(c_earth: Option<Pace>) -> LinkSetup {
    let held = HeldQueue::new(QueueLength::Bytes(Bytes::new(BUFFER / 2)));
    let windows = WindowRule { beta: BitRate::from_mbps(1), ..WindowRule::default() };
    setup(match c_earth {
        None => link::Config::Awm(AwmConfig { held, windows }),
        Some(pace) => {
            let round_trip = RoundTripConfig::timestamps(Duration::from_millis(100));
            let rate = RateRule { pace, ..RateRule::new(BitRate::from_mbps(1), round_trip) };
            link::Config::GRouter(GRouterConfig { held, windows, rate })
        }
    })
}

/// The state of a gateway at the end of every period, by packets and by readings: swnd in bytes, C in bit/s, N, RTT in
/// s.
fn both(c_earth: Option<Pace>) -> [Vec<[f64; 4]>; 2] {
    let (list, setup) = (recording(20), gateway(c_earth));
    let row = |Estimates { windows, round_trip }: Estimates, rate: BitRate| {
        let WindowEstimates { window, flows, .. } = windows.unwrap();
        [window, rate.as_f64(), flows, round_trip.map_or(0.0, Duration::as_secs_f64)]
    };
    let (mut packets, mut readings) = (Vec::new(), Vec::new());
    let timeout = |queue| LinkEvent::Timeout { queue };
    by_packets(&mut machine(&setup), &list, gateway_event, timeout, |gateway| {
        packets.push(row(gateway.estimates(), gateway.rate()));
    });
    by_readings(&setup, &list, |machine| readings.push(row(machine.estimates(), machine.rate())));
    assert!(packets.len() > 3900 && packets.len() == readings.len());
    [packets, readings]
}

/// The largest difference in a column, as a share of the mean by packets.
fn worst(of: &[Vec<[f64; 4]>; 2], column: usize) -> f64 {
    let mean = of[0].iter().map(|row| row[column]).sum::<f64>() / of[0].len() as f64;
    of[0].iter().zip(&of[1]).map(|(one, other)| (one[column] - other[column]).abs() / mean).fold(0.0, f64::max)
}

#[test]
fn awm_has_the_same_window_by_readings_as_by_packets() {
    let both = both(None);
    println!("AWM: swnd {:.4} N {:.4}", worst(&both, 0), worst(&both, 2));
    // The queue terms have equal sums while N is constant; in a period in which N changes, either N may divide them.
    assert!(worst(&both, 0) < 0.02, "swnd within 2 %: {}", worst(&both, 0));
    assert!(worst(&both, 2) < 1e-9, "N is the same: {}", worst(&both, 2));
    let moves =
        both[0].iter().map(|row| row[0]).fold(0.0, f64::max) - both[0].iter().map(|row| row[0]).fold(1e9, f64::min);
    assert!(moves > 5000.0, "the window does move: {moves} B");
}

/// The mean difference in a column, as a share of the mean by packets.
fn typical(of: &[Vec<[f64; 4]>; 2], column: usize) -> f64 {
    let mean = of[0].iter().map(|row| row[column]).sum::<f64>();
    of[0].iter().zip(&of[1]).map(|(one, other)| (one[column] - other[column]).abs()).sum::<f64>() / mean
}

#[test]
fn c_earth_has_much_the_same_rate_by_readings_as_by_packets() {
    // C is a sum of queue differences without feedback here: an error of the queue within a period persists in C until
    // C reaches a limit.
    for (pace, tolerance) in [(Pace::RoundTrip, 0.2), (Pace::Event, 0.1)] {
        let both = both(Some(pace));
        println!("C-EARTH, {pace:?}: RTT {:.4}, C {:.4} on average", worst(&both, 3), typical(&both, 1));
        assert!(worst(&both, 3) < 1e-9, "RTT is the same, for it comes from the segments: {}", worst(&both, 3));
        assert!(typical(&both, 1) < tolerance, "{pace:?}: {}", typical(&both, 1));
    }
}

#[test]
fn rate_controllers_choose_the_same_rates_by_readings_as_by_packets() {
    let list = recording(20);
    let rates = RateSet::from_range(BitRate::from_mbps(1), RATE, BitRate::from_mbps(1)).unwrap();
    let shares = [
        link::Config::PractRa(PractRaConfig::intertwining_2012(rates.clone())),
        link::Config::Earth(EarthConfig::new(rates.clone(), QueueLength::Bytes(Bytes::new(100_000)))),
        link::Config::Lull(LullConfig::new(rates, PERIOD)),
    ]
    .map(|mechanism| compare(&list, &setup(mechanism)));
    println!("practRA, EARTH, Lull (share apart, means apart, rates): {shares:?}");
    // EARTH steps down on the first empty queue that it sees; the queue may have been empty between two readings.
    for ((share, mean, moves), (most_share, most_mean)) in
        shares.into_iter().zip([(0.05, 0.03), (0.15, 0.1), (0.02, 0.01)])
    {
        assert!(moves > 3, "the rate does move: {moves} rates");
        assert!(mean < most_mean, "mean rates: {mean}");
        assert!(share < most_share, "share of the periods in which they are more than a step apart: {share}");
    }
}

/// The share of periods that end with rates more than one step of 1 Mb/s apart. Also the difference of the mean rates,
/// and the number of rates.
fn compare(list: &[(Instant, PacketEvent, u64)], setup: &LinkSetup) -> (f64, f64, usize) {
    let (mut packets, mut readings) = (Vec::new(), Vec::new());
    let timeout = |queue| LinkEvent::Timeout { queue };
    by_packets(&mut machine(setup), list, rate_event, timeout, |machine| packets.push(machine.rate().as_f64()));
    by_readings(setup, list, |machine| readings.push(machine.rate().as_f64()));
    let count = packets.len() as f64;
    let apart = packets.iter().zip(&readings).filter(|(one, other)| (*one - *other).abs() > 1e6 + 1.0).count() as f64;
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / count;
    let far = (mean(&packets) / mean(&readings) - 1.0).abs();
    packets.sort_by(f64::total_cmp);
    packets.dedup();
    (apart / count, far, packets.len())
}

#[test]
fn every_byte_is_in_one_event() {
    // 10 packets arrived and 4 left, 2 were dropped: 6 more wait; 16 events and the period's end.
    let mut machine = Readings::new(&gateway(None), ms(0), Reading::default(), "test", None).unwrap();
    let reading = Reading { sent_bytes: 6000, sent_packets: 4, drops: 2, backlog: 9000, packets: 6 };
    let list = machine.happenings(ms(5), reading);
    let (mut came, mut lost, mut left) = (0, 0, 0);
    for (at, happening) in &list {
        assert!(*at > ms(0) && *at < ms(5));
        match happening {
            Happening::Arrival { accepted, dropped } => (came, lost) = (came + accepted, lost + dropped),
            Happening::Departure { bytes } => left += bytes,
            Happening::Seen(_) => {}
        }
    }
    assert_eq!((list.len(), came, lost, left), (16, 15_000, 3000, 6000));
    // A million packets give 64 events in each direction.
    let many = Reading { sent_bytes: 1_500_000_000, sent_packets: 1_000_000, ..reading };
    assert_eq!(machine.happenings(ms(5), many).len(), 128);
    // A new queue counts from zero.
    machine.period(ms(5), many, &[]);
    assert_eq!(machine.happenings(ms(10), Reading::default()).len(), 0);
}

#[test]
fn a_window_is_never_below_its_floor_and_only_gateways_have_one() {
    let mut machine = Readings::new(&gateway(None), ms(0), Reading::default(), "test", None).unwrap();
    let full = Reading { backlog: 150_000_000, packets: 100_000, ..Reading::default() };
    assert_eq!(machine.period(ms(5), full, &[]).window, Some(Bytes::new(1500)));
    let rates = RateSet::from_list(&[BitRate::from_mbps(1), RATE]).unwrap();
    let threshold = QueueLength::Bytes(Bytes::new(1000));
    let earth = setup(link::Config::Earth(EarthConfig::new(rates, threshold)));
    let mut machine = Readings::new(&earth, ms(0), Reading::default(), "test", None).unwrap();
    let idle = machine.period(ms(5), Reading::default(), &[]);
    assert_eq!((idle.window, idle.rate), (None, Some((BitRate::from_mbps(1), Duration::ZERO))));
}

/// Requests a timeout every 2 ms, and counts those that come at the requested instants.
#[derive(Debug)]
struct Clock {
    due: Instant,
    punctual: u64,
}

impl Machine for Clock {
    type Event = LinkEvent;
    type Action = LinkAction;

    fn handle(&mut self, now: Instant, _: LinkEvent) {
        if now == self.due {
            self.punctual += 1;
            self.due += Duration::from_millis(2);
        }
    }

    fn poll_action(&mut self) -> Option<LinkAction> {
        None
    }

    fn next_timeout(&self) -> Option<Instant> {
        Some(self.due)
    }
}

impl link::Controller for Clock {
    fn rate(&self) -> BitRate {
        RATE
    }

    fn changes(&self) -> u64 {
        self.punctual
    }
}

#[derive(Debug)]
struct Clocks;

impl link::Factory for Clocks {
    fn name(&self) -> &'static str {
        "clock"
    }

    fn build(&self, _: link::Context, start: Instant) -> std::result::Result<Box<dyn link::Controller>, ConfigError> {
        Ok(Box::new(Clock { due: start + Duration::from_millis(2), punctual: 0 }))
    }
}

#[test]
fn timeouts_within_a_period_come_at_their_instants() {
    let link = link::Context::new(RATE, Bytes::new(PACKET));
    let mechanism = link::Config::PlugIn(link::PlugIn::new(Arc::new(Clocks), link).unwrap());
    let mut readings = Readings::new(&setup(mechanism), ms(0), Reading::default(), "test", None).unwrap();
    // An idle link: only timeouts reach the machine, at 2, 4, 6 and 8 ms, and each end of a period.
    for (end, punctual) in [(5, 2), (9, 4)] {
        readings.period(ms(end), Reading::default(), &[]);
        assert_eq!(readings.changes(), punctual);
    }
}
