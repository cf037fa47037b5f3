//! Queue management in whole runs: RED and CoDel compared with arithmetic and with drop-tail, and with ECN.

use crate::common::{close, floats, flow, link, outcome, scenario, table};
use netlull_network::queue::Buffer;
use netlull_network::queue::codel::CoDelConfig;
use netlull_network::queue::red::{QueueUnit, Red, RedConfig, RedEcn, RedProbability, RedRules};
use netlull_network::random::Stream;
use netlull_network::schedule::{Schedule, Slot};
use netlull_sim::net::flight::{Packet, PacketStore};
use netlull_sim::net::ids::{AgentId, NodeId};
use netlull_sim::net::link::{Admission, Link, LinkParts};
use netlull_sim::run::{FlowSummary, RunOutcome};
use netlull_tcp::{Flags, Segment};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A link of 10 Mb/s, on which 1500 B take 1.2 ms.
fn one_link(duration: &str, fields: &Value, flows: &Value) -> Value {
    let mut wire = json!({ "from": "a", "to": "b", "rate": "10 Mb/s", "delay": "5 ms", "buffer": "unlimited" });
    for (key, value) in fields.as_object().expect("a table") {
        wire[key] = value.clone();
    }
    json!({ "duration": duration, "nodes": ["a", "b"], "link": [wire], "flow": flows, "probe": { "drops": true } })
}

fn source(kind: &str, rate: &str) -> Value {
    json!([{ "kind": kind, "name": "s", "from": "a", "to": "b", "rate": rate }])
}

/// `flows` TCP transfers over a bottleneck of 10 Mb/s with 50 ms of two-way propagation and a buffer of 4 BDP.
fn dumbbell(flows: u32, queue: &Value) -> Value {
    let access = json!({ "from": "a", "to": "n", "rate": "100 Mb/s", "duplex": true, "buffer": "unlimited" });
    let mut neck = json!({ "from": "n", "to": "b", "rate": "10 Mb/s", "delay": "25 ms", "buffer": "4 BDP" });
    if !queue.is_null() {
        neck["queue"] = queue.clone();
    }
    let back = json!({ "from": "b", "to": "n", "rate": "10 Mb/s", "delay": "25 ms", "buffer": "unlimited" });
    let flow = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "b", "count": flows, "jitter": "1 s" });
    json!({ "duration": "60 s", "warm_up": "10 s", "nodes": ["a", "n", "b"], "link": [access, neck, back],
            "flow": [flow] })
}

fn drop_times_ms(run: &RunOutcome) -> Vec<f64> {
    floats(table(run, "drop"), "time_s").iter().map(|seconds| seconds * 1e3).collect()
}

#[test]
fn codel_drops_when_the_control_law_says() {
    // 1500 B arrive every ms and take 1.2 ms. Packet n starts at 1.2 n ms after a wait of 0.2 n ms, which first
    // reaches 5 ms at n = 25, 30 ms. After an INTERVAL, at 130 ms, drops may begin: the first packet then leaves at
    // 1.2 x 109 = 130.8 ms. The next drops are due at 230.8, + 100 / sqrt(2) = 301.511, + 100 / sqrt(3) = 359.246, +
    // 100 / sqrt(4) = 409.246 ms. Packets leave at 130.8 + 1.2 k: 231.6, 302.4, 360.0, 410.4.
    let run = outcome(one_link("420 ms", &json!({ "queue": { "kind": "codel" } }), &source("cbr", "12 Mb/s")));
    let times = drop_times_ms(&run);
    assert_eq!(times.len(), 5, "{times:?}");
    for (found, expected) in times.iter().zip([130.8, 231.6, 302.4, 360.0, 410.4]) {
        close(*found, expected, 1e-6);
    }
    let link = link(&run, "a-b");
    assert_eq!((link.dropped_packets, link.managed_drops, link.marked_packets), (5, 5, 0));
    assert_eq!(flow(&run, "s").packets_dropped, 5);
}

#[test]
fn codel_that_never_drops_is_drop_tail_to_the_nanosecond() {
    let numbers = |queue: Value| {
        // The source stops early, because a link that computes ahead counts packets queued at the end differently.
        let mut flows = source("poisson", "9 Mb/s");
        flows[0]["stop"] = "19 s".into();
        let run = outcome(one_link("20 s", &json!({ "queue": queue, "buffer": "20 packets" }), &flows));
        let link = link(&run, "a-b");
        let link = (
            link.delivered_packets,
            link.dropped_packets,
            link.managed_drops,
            link.max_queue_packets,
            link.mean_wait_s,
        );
        (link, serde_json::to_string(flow(&run, "s")).expect("writes"), drop_times_ms(&run))
    };
    let patient = json!({ "kind": "codel", "target": "10 s", "interval": "30 s" });
    let tail = numbers(json!({ "kind": "drop_tail" }));
    assert!(tail.0.1 > 0, "the buffer of 20 packets overflows at times");
    assert_eq!(numbers(patient), tail);
}

#[test]
fn red_with_weight_one_and_one_threshold_is_a_drop_tail_of_that_size() {
    // A packet that finds K packets in the queue is dropped, by RED and by a buffer of K.
    let drops = |fields: Value| {
        let run = outcome(one_link("20 s", &fields, &source("poisson", "9 Mb/s")));
        (drop_times_ms(&run), link(&run, "a-b").managed_drops, serde_json::to_string(flow(&run, "s")).expect("writes"))
    };
    let step = |size: &str| json!({ "kind": "red", "min_threshold": size, "max_threshold": size, "weight": 1.0, "gentle": false });
    let tail = drops(json!({ "buffer": "12 packets" }));
    let red = drops(json!({ "queue": step("12 packets") }));
    assert!(!tail.0.is_empty());
    assert_eq!((&red.0, &red.2), (&tail.0, &tail.2));
    assert_eq!((red.1, tail.1), (red.0.len() as u64, 0));
    // 12 packets of 1500 B are 18 kB.
    assert_eq!(drops(json!({ "queue": step("18 kB") })), red);
}

#[test]
fn red_and_codel_keep_the_queue_of_tcp_short() {
    let run = |queue: Value| outcome(dumbbell(5, &queue));
    let tail = run(Value::Null);
    let red = run(json!({ "kind": "red", "min_threshold": "10 packets" }));
    let codel = run(json!({ "kind": "codel" }));
    let queue = |run: &RunOutcome| link(run, "n-b").mean_queue_packets;
    // 4 BDP are 4 x 41.7 = 167 packets, which drop-tail fills. RED keeps its average below max_th = 30.
    assert!(queue(&tail) > 80.0, "{}", queue(&tail));
    assert!(queue(&red) > 5.0 && queue(&red) < 30.0, "{}", queue(&red));
    assert!(queue(&codel) < queue(&tail) / 4.0, "{}", queue(&codel));
    for (managed, name) in [(&red, "red"), (&codel, "codel")] {
        let link = link(managed, "n-b");
        assert_eq!(link.queue, name);
        assert!(link.managed_drops > 0 && link.managed_drops == link.dropped_packets, "{name}");
        assert!(link.utilisation > 0.85, "{name}: {}", link.utilisation);
    }
}

#[test]
fn marks_take_the_place_of_drops_and_reach_tcp() {
    for queue in [json!({ "kind": "red", "min_threshold": "10 packets", "ecn": "always" }), json!({ "kind": "codel" })]
    {
        let with = |ecn: &str| {
            let mut json = dumbbell(5, &queue);
            json["tcp"] = json!({ "ecn": ecn });
            json["warm_up"] = "0 s".into();
            outcome(json)
        };
        let (marking, dropping) = (with("classic"), with("off"));
        let total = |run: &RunOutcome, of: &dyn Fn(&FlowSummary) -> u64| run.summary.flows.iter().map(of).sum::<u64>();
        let arrived = total(&marking, &|flow| flow.packets_marked);
        let made = link(&marking, "n-b").marked_packets;
        // All marked packets except those in flight at the end: 25 ms at 10 Mb/s hold 21 packets, and one is in
        // service. With RED, others may be in the queue.
        assert!(made > 0 && arrived <= made && made - arrived <= 22 + 167, "{queue}: {made} {arrived}");
        assert_eq!((link(&dropping, "n-b").marked_packets, total(&dropping, &|flow| flow.packets_marked)), (0, 0));
        // Only SYNs and acknowledgements are not ECN-capable. Slow start may overflow the buffer.
        let sent_again = |run: &RunOutcome| total(run, &|flow| flow.retransmissions);
        assert!(sent_again(&marking) < sent_again(&dropping) / 2, "{queue}: {}", sent_again(&marking));
        let (held, held_dropping) = (&link(&marking, "n-b"), &link(&dropping, "n-b"));
        assert!(held.mean_queue_packets < 2.0 * held_dropping.mean_queue_packets + 10.0, "{}", held.mean_queue_packets);
    }
}

#[test]
fn managed_queues_hold_their_limit_in_packets_and_in_bytes() {
    for queue in [json!({ "kind": "red", "weight": 0.0001 }), json!({ "kind": "codel", "interval": "10 s" })] {
        for (buffer, most) in [("5 packets", 5), ("7500 B", 5), ("8999 B", 5)] {
            // 12 packets 12 us apart: one is in service, five are in the queue.
            let flows =
                json!([{ "kind": "cbr", "name": "s", "from": "a", "to": "b", "rate": "1 Gb/s", "stop": "140 us" }]);
            let run = outcome(one_link("1 s", &json!({ "queue": queue, "buffer": buffer }), &flows));
            let link = link(&run, "a-b");
            assert_eq!((link.max_queue_packets, link.delivered_packets, link.managed_drops), (most, 6, 0));
        }
    }
}

#[test]
fn managed_queues_work_under_rates_that_vary() {
    let capacity = json!({ "kind": "uniform_redraw", "min": "1 Mb/s", "max": "10 Mb/s", "mean_interval": "50 ms" });
    let controller = json!({ "kind": "practra", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" },
        "transition": "2 ms", "min_interval": "50 ms", "delay_bound": "40 ms" });
    for (field, value) in [("capacity", capacity), ("controller", controller)] {
        for queue in [json!({ "kind": "red" }), json!({ "kind": "codel" })] {
            let flows = json!([{ "kind": "bursts", "name": "s", "from": "a", "to": "b", "rate": "20 Mb/s",
                                 "cycle": "400 ms", "mean_on": "100 ms" }]);
            // The verifiers check every packet.
            let run = outcome(one_link("30 s", &json!({ field: value, "queue": queue }), &flows));
            assert!(link(&run, "a-b").managed_drops > 0, "{field} {queue}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_observing_changes_nothing() {
    for queue in [json!({ "kind": "red" }), json!({ "kind": "codel" })] {
        let written = |seed: u64, probe: Value| {
            let mut json = dumbbell(3, &queue);
            json["duration"] = "15 s".into();
            json["seed"] = seed.into();
            json["probe"] = probe;
            serde_json::to_string(&outcome(json).summary).expect("writes")
        };
        let everything = json!({ "interval": "10 ms", "window": true, "drops": true });
        assert_eq!(written(1, json!({})), written(1, everything));
        assert_ne!(written(1, json!({})), written(2, json!({})));
    }
}

#[test]
fn only_links_whose_rate_varies_are_in_the_table_of_rates() {
    let run = outcome(one_link("1 s", &json!({ "queue": { "kind": "codel" } }), &source("cbr", "1 Mb/s")));
    assert!(floats(table(&run, "rate"), "time_s").is_empty());
}

/// A link of 12 Mb/s, 1 ms per packet of 1500 B, without delay.
fn bare_link(red: Option<RedConfig>, codel: Option<CoDelConfig>) -> (Link, Schedule) {
    let parts = LinkParts {
        to: NodeId::new(1),
        controller: None,
        rate: BitRate::from_mbps(12),
        overhead: 0,
        delay: Duration::ZERO,
        buffer: Buffer::Bytes(Bytes::new(1_000_000)),
        loss: None,
        arrivals: None,
        air: None,
        trace: None,
        red: red.map(|config| Red::new(config, Stream::new(1, "queue.test"))),
        departure: codel.map(|_| Slot::new(0)),
        codel,
        delivery: Slot::new(1),
    };
    (Link::new(parts), Schedule::new(2))
}

fn packet(flags: Flags) -> Packet {
    Packet { segment: Segment { flags, ..Segment::default() }, agent: AgentId::new(1), size: 1500, ..Packet::default() }
}

#[test]
fn red_marks_what_can_be_marked_and_drops_the_rest() {
    let step = RedConfig {
        unit: QueueUnit::Packets,
        min_threshold: 2.0,
        max_threshold: 2.0,
        max_probability: 0.1,
        weight: 1.0,
        gentle: false,
        probability: RedProbability::PerPacket,
        rules: RedRules::Paper,
        mean_packet: 1500,
        largest_packet: 1500,
        ecn: RedEcn::Always,
    };
    let (mut link, mut schedule) = bare_link(Some(step), None);
    // All at once: one is in service, two are in the queue. From the fourth on, two or more are in the queue before a
    // packet.
    let ect = Flags::ECT;
    let offered = [ect, ect, ect, ect, Flags::NONE, ect | Flags::CE, ect];
    let mut store = PacketStore::new();
    let fates = offered.map(|flags| link.offer(Instant::ZERO, packet(flags), &mut schedule, &mut store));
    let (taken, early) = (Admission::Accepted, Admission::DroppedEarly);
    assert_eq!(fates, [taken, taken, taken, taken, early, taken, taken]);
    let marks: Vec<bool> = link.packets(&store).map(|packet| packet.is_marked()).collect();
    assert_eq!(marks, [false, false, false, true, true, true]);
    // The sixth arrived with its mark.
    assert_eq!((link.counters(Instant::ZERO).marked_packets, link.counters(Instant::ZERO).managed_drops), (2, 1));
}

#[test]
fn codel_marks_arrive_at_the_other_end() {
    let config = CoDelConfig {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        largest_packet: 1500,
        ecn: true,
    };
    let ((mut link, mut schedule), mut store) = (bare_link(None, Some(config)), PacketStore::new());
    for _ in 0..320 {
        link.offer(Instant::ZERO, packet(Flags::ECT), &mut schedule, &mut store);
    }
    // Packet n (from 0) leaves the queue at n ms after a wait of n ms: above 5 ms from 5 ms on, so marks come at 105,
    // 205, then 275.7 -> 276. Each arrives 1 ms after its departure. The last two packets have at most 1500 B behind
    // them.
    let mut marked_at = Vec::new();
    while let Some((now, slot)) = schedule.take_until(Instant::from_nanos(1_000_000_000)) {
        if slot == Slot::new(0) {
            link.depart(now, &mut schedule, &mut store);
        } else {
            let packet = *link.head(&store).expect("a packet arrives");
            link.deliver_head(packet.size, &mut schedule, &mut store);
            if packet.is_marked() {
                marked_at.push(now.as_nanos() / 1_000_000);
            }
        }
    }
    assert_eq!(marked_at, [106, 206, 277]);
    let counters = link.counters(Instant::from_nanos(1_000_000_000));
    assert_eq!((counters.marked_packets, counters.dropped_packets, counters.delivered_packets), (3, 0, 320));
}

#[test]
fn queues_that_cannot_be_are_refused_with_field_value_and_expectation() {
    let refusal = |queue: Value| {
        let json = one_link("1 s", &json!({ "queue": queue }), &source("cbr", "1 Mb/s"));
        scenario(&json).map(|_| ()).expect_err("must be refused").to_string()
    };
    let red = |field: &str, value: Value| {
        let mut queue = json!({ "kind": "red" });
        queue[field] = value;
        refusal(queue)
    };
    assert_eq!(
        red("max_threshold", "4 packets".into()),
        "link.a-b.queue.max_threshold: is 4 packets; expected min_threshold, 5 packets, or more in its unit"
    );
    assert!(red("max_threshold", "90 kB".into()).starts_with("link.a-b.queue.max_threshold: is 90000 B;"));
    assert!(red("min_threshold", "0 packets".into()).starts_with("link.a-b.queue.min_threshold: is 0 packets;"));
    assert!(red("min_threshold", "unlimited".into()).starts_with("link.a-b.queue.min_threshold: is unlimited;"));
    assert_eq!(red("weight", 0.0.into()), "link.a-b.queue.weight: is 0; expected more than 0 and at most 1");
    assert!(red("max_probability", 1.5.into()).starts_with("link.a-b.queue.max_probability: is 1.5;"));
    assert!(red("mean_packet", "0 B".into()).starts_with("link.a-b.queue.mean_packet: is 0 B;"));
    assert!(red("ecn", "maybe".into()).starts_with("link.a-b.queue.ecn: \"maybe\" is unknown; expected one of "));
    let codel =
        |target: &str, interval: &str| refusal(json!({ "kind": "codel", "target": target, "interval": interval }));
    assert_eq!(codel("0 s", "1 s"), "link.a-b.queue.target: is 0 s; expected more than 0 s");
    assert_eq!(codel("5 ms", "5 ms"), "link.a-b.queue.interval: is 5 ms; expected more than target, 5 ms");
    assert!(refusal(json!({ "kind": "fq" })).starts_with("link.a-b.queue.kind: \"fq\" is unknown; expected one of"));
    assert!(refusal(json!({ "kind": "drop_tail", "limit": 3 })).contains("link.a-b.queue.limit: is unknown; "));
}

/// A queue with parameters at and near their limits.
fn any_queue() -> impl Strategy<Value = Value> {
    let red = (1..20_u64, 0..30_u64, 0.001..=1.0_f64, 0.01..=1.0_f64, any::<bool>(), any::<bool>(), any::<bool>());
    let red = red.prop_map(|(min, more, weight, max_p, gentle, bytes, per_byte)| {
        let size = |packets: u64| if bytes { format!("{} B", 1000 * packets) } else { format!("{packets} packets") };
        json!({ "kind": "red", "min_threshold": size(min), "max_threshold": size(min + more), "weight": weight,
                "max_probability": max_p, "gentle": gentle, "rules": if min % 2 == 0 { "paper" } else { "ns2" },
                "probability": if per_byte { "per_byte" } else { "per_packet" } })
    });
    let codel = (1..20_u64, 1..60_u64).prop_map(|(target, more)| {
        json!({ "kind": "codel", "target": format!("{target} ms"), "interval": format!("{} ms", target + more) })
    });
    prop_oneof![Just(json!({ "kind": "drop_tail" })), red, codel]
}

fn any_loss() -> impl Strategy<Value = Value> {
    let chain = (0.01..=1.0_f64, 0.01..=1.0_f64, 0.0..=1.0_f64, 0.0..0.1_f64);
    prop_oneof![
        Just(Value::Null),
        (0.0..0.2_f64).prop_map(|p| json!({ "kind": "bernoulli", "probability": p })),
        chain.prop_map(|(to_bad, to_good, loss_bad, loss_good)| {
            json!({ "kind": "gilbert_elliott", "to_bad": to_bad, "to_good": to_good, "loss_bad": loss_bad,
                    "loss_good": loss_good })
        }),
        prop::collection::btree_set(1..200_u64, 0..20)
            .prop_map(|packets| json!({ "kind": "scripted", "drops": [{ "flow": "t", "packets": packets }] })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The verifiers find no violation in any combination. Sizes differ, so packets and bytes do too.
    #[test]
    fn whatever_the_queue_and_the_losses_every_packet_is_accounted_for(
        queue in any_queue(),
        loss in any_loss(),
        buffer in prop_oneof!["[1-9]{1} packets", "[2-9]{1} kB", Just("unlimited".to_owned())],
        varies in any::<bool>(),
        seed in 0..1_000_000_u64,
    ) {
        let capacity = json!({ "kind": "uniform_redraw", "min": "1 Mb/s", "max": "10 Mb/s", "mean_interval": "20 ms" });
        let mut wire = json!({ "buffer": buffer, "queue": queue });
        for (field, value, there) in [("loss", loss, true), ("capacity", capacity, varies)] {
            if there && !value.is_null() {
                wire[field] = value;
            }
        }
        let flows = json!([
            { "kind": "tcp", "name": "t", "from": "a", "to": "b" },
            { "kind": "poisson", "name": "small", "from": "a", "to": "b", "rate": "2 Mb/s", "packet": "100 B" },
            { "kind": "bursts", "name": "large", "from": "a", "to": "b", "rate": "30 Mb/s", "cycle": "300 ms",
              "mean_on": "50 ms" },
        ]);
        let mut json = one_link("2 s", &wire, &flows);
        json["seed"] = seed.into();
        json["link"].as_array_mut().expect("links").push(json!({ "from": "b", "to": "a", "rate": "10 Mb/s" }));
        let run = outcome(json);
        let link = link(&run, "a-b");
        prop_assert!(link.managed_drops <= link.dropped_packets);
        let dropped: u64 = run.summary.flows.iter().map(|flow| flow.packets_dropped).sum();
        prop_assert_eq!(dropped, link.dropped_packets + link.lost_packets);
        prop_assert_eq!(floats(table(&run, "drop"), "time_s").len() as u64, dropped);
    }
}
