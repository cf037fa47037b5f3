//! Links and endpoints that run ahead of the run's time: whatever the network, nothing shows it.

mod common;

use common::{in_words, scenario};
use netlull_sim::run::{Unwatched, run};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A chain of routers R0 - R1 - ... with two hosts at each end, `links` being those between routers.
fn chain(links: &[Value], hosts: Value) -> Value {
    let routers = links.len() + 1;
    let mut nodes: Vec<String> = (0..routers).map(|n| format!("R{n}")).collect();
    let mut all = Vec::new();
    for (n, fields) in links.iter().enumerate() {
        let mut link = json!({ "from": format!("R{n}"), "to": format!("R{}", n + 1), "rate": "10 Mb/s" });
        link.as_object_mut().expect("a table").extend(fields.as_object().expect("a table").clone());
        // The way back is plain: a controller or a loss belongs to one direction.
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

fn router_link() -> impl Strategy<Value = Value> {
    let buffer =
        prop_oneof![Just("2 packets"), Just("12 packets"), Just("6 kB"), Just("60 packets"), Just("unlimited")];
    let special = prop_oneof![
        4 => Just(json!({})),
        1 => Just(json!({ "controller": practra() })),
        1 => Just(json!({ "loss": { "kind": "bernoulli", "probability": 0.02 } })),
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

fn flow() -> impl Strategy<Value = Value> {
    let ends = (prop_oneof![Just("a"), Just("b")], prop_oneof![Just("y"), Just("z")], any::<bool>());
    let kind = prop_oneof![
        3 => Just(json!({ "kind": "tcp" })),
        2 => Just(json!({ "kind": "tcp", "count": 3, "size": "300 kB", "jitter": "1 s" })),
        1 => Just(json!({ "kind": "tcp", "tcp": { "congestion_control": "bbr" } })),
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

    /// The same summary, byte for byte, whether every packet is watched (nothing runs ahead), none is, or counters are
    /// read every few milliseconds and everything is recorded.
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
        let everything = json!({ "interval": format!("{bin_us} us"), "window": true, "drops": true, "segments": true, "events": true, "requests": true });
        prop_assert_eq!(&watched, &summary("ledger", everything.clone()));
        let counters = json!({ "interval": format!("{bin_us} us") });
        prop_assert_eq!(&watched, &summary("ledger", counters));
    }

    /// Tables are the same, too, watched or not.
    #[test]
    fn tables_are_the_same(links in proptest::collection::vec(router_link(), 1..4), flows in proptest::collection::vec(flow(), 1..5), bin_us in 500_u32..300_000) {
        let mut json = chain(&links, json!({ "rate": "100 Mb/s", "buffer": "unlimited" }));
        for (number, mut flow) in flows.into_iter().enumerate() {
            flow["name"] = format!("f{number}").into();
            json["flow"].as_array_mut().expect("a list").push(flow);
        }
        json["probe"] = json!({ "interval": format!("{bin_us} us"), "window": true, "drops": true, "segments": true, "events": true, "requests": true });
        common::outcome(json);
    }
}
