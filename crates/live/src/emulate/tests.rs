//! The world in virtual time, without hosts: packets enter and leave at instants computed by hand.

use super::frame::{FIRST_PORT, Frame, address};
use super::ids::{ConnectionId, FlowId, LinkId, NodeId, StationId};
use super::sockets::Gauge;
use super::world::{Happened, Remains, World};
use crate::tape::replay;
use netlull_mechanism::gateway::{AwmConfig, FlowCountConfig, HeldQueue, WindowRule};
use netlull_mechanism::link;
use netlull_mechanism::radio::ShaperConfig;
use netlull_mechanism::rate::QueueLength;
use netlull_mechanism::station;
use netlull_network::arrival::ArrivalModel;
use netlull_network::loss::LossModel;
use netlull_network::noise::NoiseModel;
use netlull_network::outcome::ShaperOutcome;
use netlull_network::plan::{
    ControlPlan, FORMAT, FlowPlan, InService, LinkPlan, Plan, ProbePlan, StationPlan, TcpPlan, Traffic,
};
use netlull_network::probe::Column;
use netlull_network::queue::{Buffer, QueueModel};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use netlull_wire::{Connection, Endpoint, Flags, TcpOption, TcpSpec, build_tcp};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

mod custom;
mod routing;

/// The ends of the line, its first link, its flow and its station.
const A: NodeId = NodeId(0);
const B: NodeId = NodeId(2);
const LINK: LinkId = LinkId(0);
const FLOW: FlowId = FlowId(0);
const STATION: StationId = StationId(0);

const MS: fn(u64) -> Duration = Duration::from_millis;

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

fn link(name: &str, from: u32, to: u32) -> LinkPlan {
    LinkPlan {
        name: name.to_owned(),
        from,
        to,
        rate: BitRate::from_mbps(10),
        overhead: 0,
        delay: MS(20),
        buffer: Buffer::Packets(3),
        queue: QueueModel::DropTail,
        loss: None,
        arrival: None,
        control: None,
        steps: None,
        trace: None,
    }
}

fn tcp() -> TcpPlan {
    TcpPlan {
        congestion_control: "reno".to_owned(),
        mss: 1460,
        timestamps: true,
        window_scaling: true,
        sack: true,
        ecn: false,
        receive_buffer: Bytes::new(1 << 20),
        send_buffer: None,
        initial_window: 10,
        nagle: false,
        min_rto: MS(200),
    }
}

/// A - R - B and back, 10 Mb/s and 20 ms each, buffers of three packets; one flow from A to B.
fn plan() -> Plan {
    let traffic = Traffic::Tcp { start: Instant::ZERO, size: None, stop: None, writes: None, tcp: tcp() };
    let route = |hops: [Option<u32>; 3]| hops.to_vec();
    Plan {
        format: FORMAT,
        name: "line".to_owned(),
        duration: Duration::from_secs(1),
        marks: vec![Instant::ZERO, at(1_000_000)],
        seed: 7,
        mtu: 1500,
        nodes: ["A", "R", "B"].map(str::to_owned).to_vec(),
        links: vec![link("A-R", 0, 1), link("R-B", 1, 2), link("B-R", 2, 1), link("R-A", 1, 0)],
        routes: vec![route([None, Some(0), Some(0)]), route([Some(3), None, Some(1)]), route([Some(2), Some(2), None])],
        routing: None,
        flows: vec![FlowPlan { name: "f".to_owned(), from: 0, to: 2, traffic }],
        stations: Vec::new(),
        probe: ProbePlan { links: vec![0, 1, 2, 3], flows: vec![0], drops: true, ..ProbePlan::default() },
        differences: Vec::new(),
    }
}

fn world(plan: Plan) -> World {
    let gauges: Arc<[Gauge]> = plan.flows.iter().map(|_| Gauge::default()).collect();
    World::new(Arc::new(plan), gauges, None).unwrap()
}

fn connection() -> Connection {
    Connection { from: Endpoint::new(address(A).into(), 40_000), to: Endpoint::new(address(B).into(), FIRST_PORT) }
}

/// A segment from A to B with `len` bytes of data, 1500 B at most.
fn data(seq: u32, len: usize, flags: Flags) -> Vec<u8> {
    let spec = TcpSpec { seq, ack: 1, flags: Flags { ack: !flags.syn, ..flags }, ..TcpSpec::new(connection()) };
    let mut bytes = Vec::new();
    build_tcp(&spec, &vec![0; len], &mut bytes).unwrap();
    bytes
}

/// An acknowledgement from B to A.
fn ack(ack: u32, window: u16, syn: bool) -> Vec<u8> {
    let options = if syn { vec![TcpOption::WindowScale(7)] } else { Vec::new() };
    let flags = Flags { ack: true, syn, ..Flags::default() };
    let spec = TcpSpec { seq: 1, ack, window, flags, options, ..TcpSpec::new(connection().reversed()) };
    let mut bytes = Vec::new();
    build_tcp(&spec, &[], &mut bytes).unwrap();
    bytes
}

const SYN: Flags =
    Flags { syn: true, cwr: false, ece: false, urg: false, ack: false, psh: false, rst: false, fin: false };

/// The arrivals until the end of the run: instant, node and packet.
fn arrivals(world: &mut World) -> Vec<(Instant, NodeId, Frame)> {
    let mut all = Vec::new();
    loop {
        match world.step() {
            Happened::Inside => {}
            Happened::Over => return all,
            Happened::Delivered { host, at, frame } => all.push((at, host, frame)),
        }
    }
}

#[test]
fn packets_arrive_when_arithmetic_says_and_a_late_driver_changes_nothing() {
    // 1500 B at 10 Mb/s take 1.2 ms. Two packets over two links with 20 ms each: 2 x 1.2 + 40 = 42.4 ms, the second 1.2
    // ms later.
    let mut world = world(plan());
    for seq in [1, 1461] {
        world.send(at(100), A, &data(seq, 1460, Flags::default()));
    }
    let seen: Vec<_> = arrivals(&mut world).into_iter().map(|(at, host, _)| (at, host)).collect();
    assert_eq!(seen, [(at(42_500), B), (at(43_700), B)]);
}

proptest! {
    #[test]
    fn a_driver_that_wakes_when_it_is_told_to_is_never_late(
        delays in proptest::array::uniform2(0_u64..400),
        sent in proptest::collection::vec((0_u64..40_000, 1_u32..1461), 1..40),
        noisy in any::<bool>(),
    ) {
        let mut plan = plan();
        for link in &mut plan.links {
            link.delay = Duration::from_micros(delays[usize::from(link.to == 2)]);
            let noise = Some(NoiseModel { mean: MS(1), shape: 2.0, reorder: false });
            link.arrival = noisy.then(|| Box::new(ArrivalModel { noise, ..ArrivalModel::default() }));
        }
        // Datagrams between the packets do not affect hosts.
        let packets = (1..40).map(|number| (at(997 * number), 700)).collect();
        plan.flows.push(FlowPlan { name: "d".to_owned(), from: 0, to: 2, traffic: Traffic::Datagrams { packets } });
        let mut world = world(plan);
        let mut sent: Vec<_> = sent.into_iter().map(|(micros, len)| (at(micros), len)).collect();
        sent.sort_unstable();
        let (mut waiting, mut over) = (sent.into_iter().peekable(), false);
        while !over {
            // The driver wakes for the world or for a host.
            let woken = world.wakes().min(waiting.peek().map_or(Instant::NEVER, |&(at, _)| at));
            while !over && world.next() <= woken {
                match world.step() {
                    Happened::Inside => {}
                    Happened::Over => over = true,
                    Happened::Delivered { at, .. } => prop_assert_eq!(at, woken),
                }
            }
            while let Some((at, len)) = waiting.next_if(|&(at, _)| at <= woken) {
                world.send(at, A, &data(1, len as usize, Flags::default()));
            }
        }
    }
}

#[test]
fn a_driver_does_much_at_once_of_what_no_host_sees() {
    let mut plan = plan();
    plan.links.iter_mut().for_each(|link| link.rate = BitRate::from_mbps(1000));
    // A datagram every 10 us for 10 ms: it is sent, leaves A, is at R 20 ms later, leaves R and is at B.
    let packets = (0..1000).map(|number| (at(10 * number), 100)).collect();
    plan.flows.push(FlowPlan { name: "d".to_owned(), from: 0, to: 2, traffic: Traffic::Datagrams { packets } });
    let mut world = world(plan);
    let (mut wakings, mut steps) = (0, 0);
    'run: loop {
        let woken = world.wakes();
        wakings += 1;
        while world.next() <= woken {
            steps += 1;
            if matches!(world.step(), Happened::Over) {
                break 'run;
            }
        }
    }
    assert!(steps >= 5000, "{steps}");
    // For 30 ms an event is always due, processed a tenth of a millisecond at a time.
    assert!(wakings <= 30 * 11, "{wakings}");
}

#[test]
fn a_full_buffer_drops_and_every_packet_is_counted_once() {
    // A packet is in service and three wait: of six at once, two are dropped.
    let mut world = world(plan());
    for number in 0..6 {
        world.send(Instant::ZERO, A, &data(1 + 1460 * number, 1460, Flags::default()));
    }
    assert_eq!(arrivals(&mut world).len(), 4);
    let Remains { links, connections, marks, .. } = world.remains();
    let counters = links[LINK].counters;
    assert_eq!((counters.offered_packets, counters.dropped_packets, counters.delivered_packets), (6, 2, 4));
    assert_eq!((connections.flow(FLOW).sent_packets, connections.flow(FLOW).dropped_packets), (6, 2));
    // Waits of 1.2, 2.4 and 3.6 ms: the integral of the queue is their sum, and all four were served.
    assert_eq!((counters.waited_ns, counters.queued_ns, counters.served_packets), (7_200_000, 7_200_000, 4));
    assert_eq!((marks.len(), marks[1].links[0].counters.most_waiting), (2, 3));
}

#[test]
fn losses_are_those_of_the_links_stream() {
    let lost = |seed: u64| {
        let mut plan = plan();
        (plan.seed, plan.links[0].loss) = (seed, Some(LossModel::Bernoulli(0.3)));
        let mut world = world(plan);
        for number in 0..100_u32 {
            world.send(at(2000 * u64::from(number)), A, &data(1 + 1460 * number, 1460, Flags::default()));
            while world.next() < at(2000 * u64::from(number + 1)) {
                world.step();
            }
        }
        let _ = arrivals(&mut world);
        world.remains().links[LINK].counters.lost_packets
    };
    assert_eq!((lost(1), lost(2)), (lost(1), lost(2)));
    // 100 x 0.3, within four standard deviations of 4.6.
    assert!((12..=48).contains(&lost(1)), "{}", lost(1));
}

#[test]
fn what_is_sent_again_and_what_has_arrived_is_read_from_the_packets() {
    let mut world = world(plan());
    let mut send = |at_us: u64, host: NodeId, bytes: &[u8]| world.send(at(at_us), host, bytes);
    // SYN 0; data 1..1001; again; 1001..1501 with FIN 1501; acknowledged in two steps, the last with the FIN.
    send(0, A, &data(0, 0, SYN));
    send(10, B, &ack(1, 60_000, true));
    send(20, A, &data(1, 1000, Flags::default()));
    send(30, A, &data(1, 1000, Flags::default()));
    send(40, A, &data(1001, 500, Flags { fin: true, ..Flags::default() }));
    send(5000, B, &ack(1001, 500, false));
    send(6000, B, &ack(1502, 500, false));
    let last = arrivals(&mut world).iter().rfind(|(_, host, _)| *host == A).unwrap().0;
    let connections = world.remains().connections;
    let (flow, known) = (connections.flow(FLOW), connections.get(ConnectionId(0)).unwrap());
    assert_eq!((flow.sent_packets, flow.retransmissions, flow.delivered_bytes), (4, 1, 1500));
    assert_eq!((known.opened, known.largest), (Instant::ZERO, 1000));
    assert_eq!(known.completed, Some(last));
}

/// AWM on link 1 with a given number of flows and an initial window of 20,000 B; link 2 carries the acknowledgements.
fn gateway(flows: f64) -> Option<ControlPlan> {
    let windows = WindowRule {
        initial_window: Bytes::new(20_000),
        flows: FlowCountConfig::fixed(flows),
        ..WindowRule::default()
    };
    Some(ControlPlan {
        mechanism: link::Config::Awm(AwmConfig { held: HeldQueue::new(QueueLength::Bytes(Bytes::new(4000))), windows }),
        link: link::Context::new(BitRate::from_mbps(10), Bytes::new(1500)),
        acknowledgements: Some(2),
        coupled_with: None,
        naps: None,
        in_service: InService::default(),
    })
}

#[test]
fn a_gateway_clamps_windows_whose_scale_it_has_seen_and_no_others() {
    let fields = |with_syns: bool| -> Vec<u16> {
        let mut plan = plan();
        plan.links[1].control = gateway(1.0);
        let mut world = world(plan);
        if with_syns {
            let mut syn = Vec::new();
            let options = vec![TcpOption::WindowScale(7)];
            build_tcp(&TcpSpec { flags: SYN, options, ..TcpSpec::new(connection()) }, &[], &mut syn).unwrap();
            world.send(Instant::ZERO, A, &syn);
            world.send(at(10), B, &ack(1, 60_000, true));
        }
        world.send(at(20), B, &ack(1, 500, false));
        world.send(at(30), B, &ack(1, 5, false));
        let all = arrivals(&mut world);
        let to_a = all.iter().filter(|(_, host, _)| *host == A);
        to_a.map(|(_, _, frame)| {
            assert!(netlull_wire::verify_checksums(&frame.bytes).unwrap().tcp);
            frame.tcp().unwrap().window_field()
        })
        .collect()
    };
    // swnd starts at 20,000 B and grows slightly while the queue is below its target. 500 x 128 = 64,000 B become swnd
    // in units of 128 B, rounded up; 640 B stay. A SYN's window is unscaled: its 60,000 B become swnd, too.
    let seen = fields(true);
    assert_eq!(seen.len(), 3);
    assert!((20_000..20_200).contains(&seen[0]), "{seen:?}");
    assert!((157..=158).contains(&seen[1]), "{seen:?}");
    assert_eq!(seen[2], 5);
    assert_eq!(fields(false), [500, 5]);
}

#[test]
fn what_gateways_estimate_stands_beside_what_the_packets_tell() {
    let mut plan = plan();
    plan.links[1].control = gateway(3.0);
    plan.probe.interval = Some(MS(100));
    let mut world = world(plan);
    world.send(at(0), A, &data(0, 0, SYN));
    // Two segments, acknowledged at A after 100 and 95 ms; then an unacknowledged one.
    world.send(at(5_000), A, &data(1, 1000, Flags::default()));
    world.send(at(10_000), A, &data(1001, 1000, Flags::default()));
    // Two links in the reverse direction: 32 us and 20 ms each.
    let answered = at(105_000 - 2 * (32 + 20_000));
    while world.next() < answered {
        world.step();
    }
    world.send(answered, B, &ack(2001, 500, false));
    while world.next() < at(250_000) {
        world.step();
    }
    world.send(at(250_000), A, &data(2001, 1000, Flags::default()));
    let _ = arrivals(&mut world);
    let tables = world.remains().tables;
    let table = tables.iter().find(|table| table.name == "gateway").unwrap();
    let column = |name: &str| table.columns.iter().find(|(known, _)| known == name).unwrap().1.clone();
    let (Column::Count(active), Column::Count(seen)) = (column("active_flows"), column("seen_flows")) else { panic!() };
    // Bins end at 0.1 to 0.9 s, and at 1 s if that is before the end.
    assert_eq!(active[..9], [1, 0, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(seen[..9], [1, 0, 1, 0, 0, 0, 0, 0, 0]);
    let (Column::Float(trips), Column::Float(flows)) = (column("true_round_trip_s"), column("flows")) else { panic!() };
    assert!((trips[1] - 0.0975).abs() < 1e-4, "{trips:?}");
    assert!(trips[0].is_nan() && trips[2].is_nan());
    assert!(flows.iter().all(|flows| (flows - 3.0).abs() < f64::EPSILON), "as it was told, whatever is true");
}

fn shaped_station() -> StationPlan {
    let context = station::Context { air_rate: BitRate::from_mbps(10), wake: MS(2), mtu: Bytes::new(1500) };
    let mechanism = Some(station::Config::ClientShaper(ShaperConfig::default()));
    StationPlan { node: 2, access: 1, down: 1, up: 2, context, mechanism }
}

#[test]
fn stations_are_measured_from_the_end_of_the_warm_up_and_a_download_from_its_senders_syn() {
    let mut plan = plan();
    plan.stations.push(shaped_station());
    plan.marks = vec![at(150_000), at(1_000_000)];
    plan.probe.stations = true;
    let mut world = world(plan);
    // The SYN is sent at 10 ms and arrives some 40 ms later; one packet before the end of the warm-up, two after it.
    world.send(at(10_000), A, &data(0, 0, SYN));
    while world.next() < at(60_000) {
        world.step();
    }
    world.send(at(60_000), B, &ack(1, 60_000, true));
    for (micros, seq) in [(100_000, 1), (200_000, 1001), (300_000, 2001)] {
        while world.next() < at(micros) {
            world.step();
        }
        world.send(at(micros), A, &data(seq, 1000, Flags { fin: seq == 2001, ..Flags::default() }));
    }
    let _ = arrivals(&mut world);
    let mut remains = world.remains();
    let ends = remains.at;
    let outcome = remains.stations[STATION].outcome(ends, None).unwrap();
    assert_eq!(outcome.counts.received_packets, 2);
    assert_eq!(outcome.radio.total(), ends - at(150_000));
    let download = outcome.download.expect("it is over");
    assert_eq!(download.begun, at(10_000));
    let arrived = at(300_000 + 2 * 20_000 + 2 * 832);
    assert_eq!(download.over, arrived);
    let air = remains.tables.iter().find(|table| table.name == "air").unwrap();
    assert!(air.columns.iter().all(|(_, column)| column.len() >= 4), "SYN and three packets, all of the run");
}

#[test]
fn a_shaper_without_data_is_there_all_the_same() {
    let mut plan = plan();
    plan.stations.push(shaped_station());
    let mut world = world(plan);
    let _ = arrivals(&mut world);
    let mut remains = world.remains();
    let ends = remains.at;
    let outcome = remains.stations[STATION].outcome(ends, None).unwrap();
    assert_eq!((outcome.shaper, outcome.download), (Some(ShaperOutcome::initial()), None));
}

#[test]
fn what_a_link_has_lost_is_dropped_in_its_table_and_unseen_by_its_gateway() {
    let mut plan = plan();
    plan.links[1].control = gateway(1.0);
    plan.links[1].loss = Some(LossModel::Bernoulli(1.0));
    plan.probe.interval = Some(MS(100));
    plan.probe.links = vec![1, 1];
    let mut world = world(plan);
    world.send(at(0), A, &data(0, 0, SYN));
    world.send(at(1000), A, &data(1, 1000, Flags::default()));
    let _ = arrivals(&mut world);
    let tables = world.remains().tables;
    let column = |table: &str, name: &str| {
        let table = tables.iter().find(|known| known.name == table).unwrap();
        table.columns.iter().find(|(known, _)| known == name).unwrap().1.clone()
    };
    let Column::Count(dropped) = column("link", "dropped_packets") else { panic!() };
    assert_eq!(dropped[0], 2);
    let Column::Count(seen) = column("gateway", "seen_flows") else { panic!() };
    assert!(seen.len() <= 10 && seen.iter().all(|&seen| seen == 0), "{seen:?}");
}

proptest! {
    #[test]
    fn nothing_is_lost_but_what_is_counted_and_no_bytes_make_it_panic(
        sends in proptest::collection::vec((0_u64..3000, 0_u32..3, 0_usize..1460, any::<u8>(), any::<(u8, u8)>()), 1..120)
    ) {
        let mut world = world(plan());
        let (mut now, mut arrived, entered) = (0, 0_u64, sends.len() as u64);
        for (gap, host, len, flags, (place, flip)) in sends {
            now += gap;
            while world.next() <= at(now) {
                arrived += u64::from(matches!(world.step(), Happened::Delivered { .. }));
            }
            let mut bytes = data(flip.into(), len, Flags::from_byte(flags));
            // Half of the packets have a changed byte.
            if place % 2 == 0 {
                let index = usize::from(place) % bytes.len();
                bytes[index] ^= flip;
            }
            world.send(at(now), NodeId(host), &bytes);
        }
        arrived += arrivals(&mut world).len() as u64;
        let remains = world.remains();
        for link in remains.links.iter() {
            let counters = link.counters;
            let inside = counters.offered_packets - counters.dropped_packets - counters.delivered_packets;
            prop_assert_eq!(inside, 0, "all has left after a second");
        }
        // Each packet has arrived, was dropped, or had no destination here.
        let dropped: u64 = remains.links.iter().map(|link| link.counters.dropped_packets).sum();
        prop_assert_eq!(entered, arrived + dropped + remains.foreign);
    }
}

#[test]
fn the_tape_of_a_coupled_link_has_what_the_other_direction_says() {
    // Datagrams from A wake both directions of A - R; R - A has none, and hears of every sleep and wake-up.
    let mut plan = plan();
    let mechanism = json!({ "kind": "lpi", "phy": "1000base-t", "hysteresis": "5 ms" });
    for (place, other) in [(0, 3), (3, 0)] {
        plan.links[place].control = Some(ControlPlan {
            mechanism: serde_json::from_value(mechanism.clone()).unwrap(),
            link: link::Context::new(BitRate::from_mbps(10), Bytes::new(1500)),
            acknowledgements: None,
            coupled_with: Some(other),
            naps: None,
            in_service: InService::default(),
        });
    }
    let packets = [100_000, 300_000, 301_000].map(|micros| (at(micros), 1500)).to_vec();
    plan.flows[0].traffic = Traffic::Datagrams { packets };
    let folder = std::env::temp_dir().join(format!("netlull-coupled-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let gauges: Arc<[Gauge]> = plan.flows.iter().map(|_| Gauge::default()).collect();
    let mut world = World::new(Arc::new(plan), gauges, Some(&folder)).unwrap();
    arrivals(&mut world);
    world.finish().unwrap();
    let remains = world.remains();
    for (name, link, least) in [("A-R", LinkId(0), 4), ("R-A", LinkId(3), 4)] {
        let file = folder.join(format!("{name}.tape"));
        let replayed = replay(&file).unwrap();
        assert_eq!((replayed.difference, replayed.actions), (None, least));
        let told = std::fs::read_to_string(&file).unwrap().matches("other_direction_is_ready").count();
        assert!(told >= 2, "{name} heard of the other direction {told} times");
        // Asleep at first; awake for two bursts.
        let low = remains.controls.low_power(remains.at, link).unwrap();
        assert_eq!((low.sleeps, low.wakes, low.total_ns()), (2, 2, 1_000_000_000), "{name}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
