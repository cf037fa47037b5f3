//! Links and endpoints that run ahead of the run's time: they have no effect on results, for any network.

use crate::common::{in_words, scenario};
use netlull_sim::run::{Unwatched, run};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A chain of routers R0 - R1 - ... with two hosts at each end. `links` are the links between routers.
fn chain(links: &[Value], hosts: Value) -> Value {
    let routers = links.len() + 1;
    let mut nodes: Vec<String> = (0..routers).map(|n| format!("R{n}")).collect();
    let mut all = Vec::new();
    for (n, fields) in links.iter().enumerate() {
        let mut link = json!({ "from": format!("R{n}"), "to": format!("R{}", n + 1), "rate": "10 Mb/s" });
        link.as_object_mut().expect("a table").extend(fields.as_object().expect("a table").clone());
        // The reverse link is plain: a controller or a loss belongs to one direction.
        let back = json!({ "from": link["to"], "to": link["from"], "rate": "10 Mb/s", "delay": fields["delay"], "buffer": fields["buffer"] });
        all.extend([link, back]);
    }
    for (host, router) in [("a", 0), ("b", 0), ("y", routers - 1), ("z", routers - 1)] {
        nodes.push(host.to_owned());
        let mut link = json!({ "from": host, "to": format!("R{router}"), "duplex": true });
        link.as_object_mut().expect("a table").extend(hosts.as_object().expect("a table").clone());
        all.push(link);
    }
    json!({ "duration": "4 s", "nodes": nodes, "link": all, "flow": [] })
}

fn practra() -> Value {
    json!({ "kind": "practra", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" },
            "transition": "2 ms", "min_interval": "50 ms", "delay_bound": "10 ms" })
}

fn awm() -> Value {
    json!({ "kind": "awm", "target": "20 packets", "initial_window": "20 kB" })
}

fn g_router() -> Value {
    json!({ "kind": "g_router", "target": "10 packets", "min_rate": "1 Mb/s", "flows": { "kind": "linear_counting", "interval": "100 ms" },
            "round_trip": { "kind": "timestamps", "initial": "50 ms" } })
}

fn earth() -> Value {
    json!({ "kind": "earth", "rates": { "from": "2 Mb/s", "to": "10 Mb/s", "step": "2 Mb/s" }, "threshold": "8 packets" })
}

fn lull() -> Value {
    json!({ "kind": "lull", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" }, "transition": "2 ms" })
}

/// practRA that looks at its rules every 10 ms, and stops the packet in service or not.
fn practra_on_a_grid(in_service: &str) -> Value {
    let mut controller = practra();
    controller["tick"] = "10 ms".into();
    controller["in_service"] = in_service.into();
    controller
}

/// C-EARTH at every event.
fn c_earth() -> Value {
    json!({ "kind": "c_earth", "target": "10 packets", "min_rate": "1 Mb/s", "pace": "event", "transition": "1 ms",
            "round_trip": { "kind": "handshake", "initial": "50 ms" } })
}

fn controller() -> impl Strategy<Value = Value> {
    let in_service = prop_oneof![Just("finish_then_pause"), Just("finish_while_pausing"), Just("suspend")];
    prop_oneof![
        Just(practra()),
        in_service.prop_map(practra_on_a_grid),
        Just(lull()),
        Just(awm()),
        Just(g_router()),
        Just(c_earth()),
        Just(earth())
    ]
}

/// A policer, batches and reordering, with a queue that computes departures or schedules them.
fn path_law() -> impl Strategy<Value = Value> {
    let law = prop_oneof![
        Just(json!({ "loss": { "kind": "policer", "rate": "4 Mb/s", "burst": "6 kB" } })),
        Just(json!({ "loss": { "kind": "policer", "rate": "2 Mb/s", "burst": "30 kB", "start": "200 ms" } })),
        Just(json!({ "aggregation": { "period": "10 ms" } })),
        Just(json!({ "aggregation": { "period": "3 ms", "start": "150 ms" } })),
        Just(json!({ "noise": { "mean": "3 ms", "shape": 1.5, "reorder": true } })),
        Just(
            json!({ "noise": { "mean": "1 ms", "shape": 0.5, "reorder": true }, "aggregation": { "period": "5 ms" } })
        ),
    ];
    let queue = prop_oneof![3 => Just(json!({})), 1 => Just(json!({ "queue": { "kind": "codel" } }))];
    (law, queue).prop_map(|(mut law, queue)| {
        law.as_object_mut().expect("a table").extend(queue.as_object().expect("a table").clone());
        law
    })
}

fn router_link() -> impl Strategy<Value = Value> {
    let buffer =
        prop_oneof![Just("2 packets"), Just("12 packets"), Just("6 kB"), Just("60 packets"), Just("unlimited")];
    let special = prop_oneof![
        4 => Just(json!({})),
        2 => controller().prop_map(|controller| json!({ "controller": controller })),
        1 => Just(json!({ "loss": { "kind": "bernoulli", "probability": 0.02 } })),
        1 => Just(json!({ "noise": { "mean": "3 ms", "shape": 1.5 } })),
        1 => Just(json!({ "noise": { "mean": "2 ms", "shape": 0.5 }, "controller": practra() })),
        3 => path_law(),
        1 => Just(json!({ "queue": { "kind": "red" } })),
        1 => Just(json!({ "queue": { "kind": "codel" } })),
        1 => Just(json!({ "rate": "5 Mb/s" })),
    ];
    (0_u32..30, buffer, special).prop_map(|(delay, buffer, special)| {
        let mut link = json!({ "delay": format!("{delay} ms"), "buffer": buffer });
        link.as_object_mut().expect("a table").extend(special.as_object().expect("a table").clone());
        link
    })
}

/// TCP flows whose application stops or writes at its own rate. Some of its times coincide with packets and timers.
fn application() -> impl Strategy<Value = Value> {
    let fields = prop_oneof![
        Just(json!({ "stop": "200 ms" })),
        Just(json!({ "count": 2, "stop": "310 ms", "stop_spacing": "100 ms", "size": "2 MB" })),
        Just(json!({ "write_rate": "8 Mb/s", "write_size": "1 kB" })),
        Just(json!({ "write_rate": "30 Mb/s", "stop": "250 ms" })),
        Just(
            json!({ "write_rate": "1 Mb/s", "write_size": "300 B", "size": "40 kB", "tcp": { "congestion_control": "cubic" } })
        ),
        Just(json!({ "write_rate": "2 Mb/s", "write_size": "100 kB", "tcp": { "congestion_control": "bbr" } })),
    ];
    fields.prop_map(|mut fields| {
        fields["kind"] = "tcp".into();
        fields
    })
}

fn flow() -> impl Strategy<Value = Value> {
    let ends = (prop_oneof![Just("a"), Just("b")], prop_oneof![Just("y"), Just("z")], any::<bool>());
    let kind = prop_oneof![
        3 => Just(json!({ "kind": "tcp" })),
        2 => Just(json!({ "kind": "tcp", "count": 3, "size": "300 kB", "jitter": "1 s" })),
        1 => Just(json!({ "kind": "tcp", "tcp": { "congestion_control": "bbr" } })),
        3 => application(),
        1 => Just(json!({ "kind": "cbr", "rate": "2 Mb/s" })),
        1 => Just(json!({ "kind": "poisson", "rate": "3 Mb/s", "packet": "400 B" })),
        2 => Just(json!({ "kind": "requests", "offered": "3 Mb/s", "size": { "kind": "pareto", "mean": "20 kB", "shape": 1.35, "max": "1 MB" } })),
    ];
    (ends, kind).prop_map(|((from, to, back), mut flow)| {
        let (from, to) = if back { (to, from) } else { (from, to) };
        flow["from"] = from.into();
        flow["to"] = to.into();
        flow
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(48), failure_persistence: None, ..ProptestConfig::default() })]

    /// The summary is the same, byte for byte, in three cases: every packet is watched (nothing runs ahead), no packet
    /// is watched, or everything is recorded and counters are read every few milliseconds.
    #[test]
    fn nothing_shows_it(
        links in proptest::collection::vec(router_link(), 1..4),
        flows in proptest::collection::vec(flow(), 1..5),
        host_rate in prop_oneof![Just("100 Mb/s"), Just("8 Mb/s")],
        delayed_ack in any::<bool>(),
        preset in prop_oneof![Just("rfc"), Just("ns2")],
        warm_up_ms in prop_oneof![Just(0_u32), Just(1234)],
        bin_us in 500_u32..300_000,
        seed in 0_u32..1000,
    ) {
        let mut json = chain(&links, json!({ "rate": host_rate, "delay": "1 ms", "buffer": "unlimited" }));
        json["tcp"] = json!({ "preset": preset, "delayed_ack": delayed_ack });
        json["warm_up"] = format!("{warm_up_ms} ms").into();
        json["seed"] = seed.into();
        for (number, mut flow) in flows.into_iter().enumerate() {
            flow["name"] = format!("f{number}").into();
            json["flow"].as_array_mut().expect("a list").push(flow);
        }
        let summary = |verify: &str, probe: Value| {
            let mut json = json.clone();
            json["verify"] = verify.into();
            json["probe"] = probe;
            let scenario = scenario(&json).expect("a scenario");
            in_words(&run(&scenario, &mut Unwatched, None).expect("a run")).0
        };
        let watched = summary("replay", json!({}));
        prop_assert_eq!(&watched, &summary("ledger", json!({})));
        let everything = json!({ "interval": format!("{bin_us} us"), "window": true, "drops": true, "segments": true, "events": true, "variables": true, "requests": true });
        prop_assert_eq!(&watched, &summary("ledger", everything.clone()));
        let counters = json!({ "interval": format!("{bin_us} us") });
        prop_assert_eq!(&watched, &summary("ledger", counters));
    }

    /// Tables are the same with and without watched packets.
    #[test]
    fn tables_are_the_same(links in proptest::collection::vec(router_link(), 1..4), flows in proptest::collection::vec(flow(), 1..5), bin_us in 500_u32..300_000) {
        let mut json = chain(&links, json!({ "rate": "100 Mb/s", "buffer": "unlimited" }));
        for (number, mut flow) in flows.into_iter().enumerate() {
            flow["name"] = format!("f{number}").into();
            json["flow"].as_array_mut().expect("a list").push(flow);
        }
        json["probe"] = json!({ "interval": format!("{bin_us} us"), "window": true, "drops": true, "segments": true, "events": true, "variables": true, "requests": true });
        crate::common::outcome(json);
    }
}

/// Routers and hosts, each connected to an earlier one, and some extra links. The links are in random order, so their
/// numbers carry no information.
fn any_network() -> impl Strategy<Value = Value> {
    let delay = || prop_oneof![2 => Just("0 ms"), 2 => Just("1 ms"), 1 => Just("3 ms"), 1 => Just("120 us")];
    let rate = || prop_oneof![3 => Just("10 Mb/s"), 1 => Just("8 Mb/s"), 1 => Just("100 Mb/s")];
    let buffer = || prop_oneof![Just("1 packets"), Just("5 packets"), Just("6 kB"), Just("unlimited")];
    let special = || {
        prop_oneof![
            8 => Just(json!({})),
            2 => controller().prop_map(|controller| json!({ "controller": controller, "rate": "10 Mb/s" })),
            1 => Just(json!({ "loss": { "kind": "bernoulli", "probability": 0.02 } })),
            2 => path_law(),
            1 => Just(json!({ "queue": { "kind": "codel" } })),
        ]
    };
    let edge = (any::<prop::sample::Index>(), rate(), delay(), buffer(), special(), any::<bool>());
    let edges = proptest::collection::vec(edge, 1..7);
    let more = proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..3);
    (edges, more).prop_flat_map(|(edges, more)| {
        let nodes = edges.len() + 1;
        let link = |from: usize, to: usize| json!({ "from": format!("n{from}"), "to": format!("n{to}") });
        let mut links = Vec::new();
        for (n, (parent, rate, delay, buffer, special, up)) in edges.iter().enumerate() {
            let (there, back) = (parent.index(n + 1), n + 1);
            let (there, back) = if *up { (back, there) } else { (there, back) };
            let plain = json!({ "rate": rate, "delay": delay, "buffer": buffer });
            for (from, to, special) in [(there, back, special), (back, there, &json!({}))] {
                let mut link = link(from, to);
                for fields in [&plain, special] {
                    link.as_object_mut().expect("a table").extend(fields.as_object().expect("a table").clone());
                }
                links.push(link);
            }
        }
        for (from, to) in more {
            let (from, to) = (from.index(nodes), to.index(nodes));
            let known = links.iter().any(|link| link["from"] == format!("n{from}") && link["to"] == format!("n{to}"));
            if from != to && !known {
                let mut link = link(from, to);
                link["rate"] = "10 Mb/s".into();
                links.push(link);
            }
        }
        let names: Vec<String> = (0..nodes).map(|n| format!("n{n}")).collect();
        Just(links)
            .prop_shuffle()
            .prop_map(move |links| json!({ "duration": "500 ms", "nodes": names, "link": links, "flow": [] }))
    })
}

fn any_flow() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        3 => Just(json!({ "kind": "tcp" })),
        3 => application(),
        3 => prop_oneof![Just("6 Mb/s"), Just("7 Mb/s"), Just("1 Mb/s")].prop_map(|rate| json!({ "kind": "cbr", "rate": rate })),
        1 => Just(json!({ "kind": "poisson", "rate": "3 Mb/s", "packet": "400 B" })),
        1 => Just(json!({ "kind": "bursts", "rate": "8 Mb/s", "cycle": "50 ms", "mean_on": "10 ms" })),
        1 => Just(json!({ "kind": "requests", "offered": "2 Mb/s", "size": { "kind": "fixed", "size": "6 kB" } })),
    ];
    (any::<prop::sample::Index>(), any::<prop::sample::Index>(), kind).prop_map(|(from, to, mut flow)| {
        flow["ends"] = json!([from.index(1 << 16), to.index(1 << 16)]);
        flow
    })
}

/// The network with flows between two nodes each.
fn with_flows(mut json: Value, flows: Vec<Value>) -> Value {
    let nodes = json["nodes"].as_array().expect("a list").len() as u64;
    for (number, mut flow) in flows.into_iter().enumerate() {
        let ends = flow.as_object_mut().expect("a table").remove("ends").expect("ends");
        let end = |n: usize| ends[n].as_u64().expect("a number") % nodes;
        let to = if end(0) == end(1) { (end(1) + 1) % nodes } else { end(1) };
        flow["from"] = format!("n{}", end(0)).into();
        flow["to"] = format!("n{to}").into();
        flow["name"] = format!("f{number}").into();
        json["flow"].as_array_mut().expect("a list").push(flow);
    }
    json
}

/// The summary if every packet is watched, if none is, and if counters are read every `bin_us`.
fn three_ways(json: &Value, bin_us: u32) -> [String; 3] {
    let summary = |verify: &str, probe: Value| {
        let mut json = json.clone();
        json["verify"] = verify.into();
        json["probe"] = probe;
        let scenario = scenario(&json).expect("a scenario");
        in_words(&run(&scenario, &mut Unwatched, None).expect("a run")).0
    };
    [
        summary("replay", json!({})),
        summary("ledger", json!({})),
        summary("ledger", json!({ "interval": format!("{bin_us} us") })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(96), failure_persistence: None, ..ProptestConfig::default() })]

    /// Random networks, shared hosts and links in both directions, sources inside the network, simultaneous packets.
    #[test]
    fn nothing_shows_it_in_any_network(
        network in any_network(),
        flows in proptest::collection::vec(any_flow(), 1..7),
        bin_us in 300_u32..100_000,
    ) {
        let [watched, alone, read] = three_ways(&with_flows(network, flows), bin_us);
        prop_assert_eq!(&watched, &alone);
        prop_assert_eq!(&watched, &read);
    }
}

fn same_three_ways(json: &Value) {
    let [watched, alone, read] = three_ways(json, 1370);
    assert_eq!(watched, alone);
    assert_eq!(watched, read);
}

fn simple(nodes: &[&str], links: &[(&str, &str, Value)], flows: &[(&str, &str, &str, &str)]) -> Value {
    let link = |(from, to, fields): &(&str, &str, Value)| {
        let mut link = json!({ "from": from, "to": to, "rate": "10 Mb/s", "delay": "1 ms", "buffer": "5 packets" });
        link.as_object_mut().expect("a table").extend(fields.as_object().expect("a table").clone());
        link
    };
    let flow = |(name, from, to, rate): &(&str, &str, &str, &str)| json!({ "kind": "cbr", "name": name, "from": from, "to": to, "rate": rate });
    json!({ "duration": "2 s", "nodes": nodes, "link": links.iter().map(link).collect::<Vec<_>>(), "flow": flows.iter().map(flow).collect::<Vec<_>>() })
}

#[test]
fn datagrams_that_pass_where_others_begin_meet_them_in_order() {
    // B-A has a lower number than C-B, over which x arrives there.
    let both = |from, to| [(from, to, json!({})), (to, from, json!({}))];
    let links = [both("A", "B"), both("B", "C")].concat();
    same_three_ways(&simple(&["A", "B", "C"], &links, &[("x", "C", "A", "7 Mb/s"), ("y", "B", "A", "6 Mb/s")]));
}

#[test]
fn sources_of_one_host_keep_the_order_of_their_flows() {
    // Every other packet of both arrives at the same instant. The path of y has a link that needs events, the path of
    // x has none.
    let lossy = json!({ "loss": { "kind": "bernoulli", "probability": 0.01 } });
    let links =
        [("h", "R", json!({ "delay": "0 ms", "buffer": "1 packets" })), ("R", "S", json!({})), ("R", "Z", lossy)];
    same_three_ways(&simple(&["h", "R", "S", "Z"], &links, &[("x", "h", "S", "6 Mb/s"), ("y", "h", "Z", "6 Mb/s")]));
}

#[test]
fn a_hop_that_takes_no_time_changes_no_order() {
    let links =
        [("A", "B", json!({ "rate": "1000000 Gb/s", "delay": "0 ms" })), ("B", "C", json!({ "buffer": "2 packets" }))];
    same_three_ways(&simple(&["A", "B", "C"], &links, &[("y", "B", "C", "6 Mb/s"), ("x", "A", "C", "6 Mb/s")]));
}

#[test]
fn many_sources_on_one_link_are_as_many_alone() {
    let names: Vec<String> = (0..40).map(|n| format!("s{n}")).collect();
    let flows: Vec<_> = names.iter().map(|name| (name.as_str(), "A", "C", "300 kb/s")).collect();
    let links = [("A", "B", json!({})), ("B", "C", json!({ "rate": "9 Mb/s" }))];
    same_three_ways(&simple(&["A", "B", "C"], &links, &flows));
}
