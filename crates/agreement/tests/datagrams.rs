//! Compares the simulator and the emulation to the nanosecond under datagram flows. The tests cover everything outside the
//! hosts: links, queues, losses, noise, sleep, routers, mechanisms and radios. The emulation runs in virtual time. Its
//! events and counters pass through text, as between `netlull` and `netlulld`.

#![allow(clippy::panic, reason = "a test may panic")]

use netlull_network::outcome::Outcome;
use netlull_sim::emulation::{emulated, plan};
use netlull_sim::probe::{Column, Table};
use netlull_sim::run::{Unwatched, run};
use netlull_sim::scenario::{Scenario, read_document};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// The summary and tables of the simulation, and of the emulation.
fn both_worlds(json: &Value) -> [(Value, Vec<Table>); 2] {
    let document = read_document(&json.to_string()).unwrap_or_else(|error| panic!("{error}\n{json}"));
    let scenario = Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}\n{json}"));
    let simulated = run(&scenario, &mut Unwatched, None).unwrap_or_else(|error| panic!("{error}\n{json}"));
    let plan = serde_json::to_string(&plan(&scenario).expect("a plan")).expect("its text");
    let counted = netlull_live::emulate::without_hosts(serde_json::from_str(&plan).expect("a plan")).expect("it runs");
    let counted = serde_json::to_string(&counted).expect("its text");
    let counted: Outcome = serde_json::from_str(&counted).expect("an outcome");
    let emulated = emulated(&scenario, &counted).expect("an outcome of this scenario");
    [(&simulated.summary, simulated.tables), (&emulated.summary, emulated.tables)].map(|(summary, tables)| {
        let mut summary = serde_json::to_value(summary).expect("a summary");
        // The number of events and the checks belong to one world only.
        ["events", "verify", "checks"].into_iter().for_each(|own| summary[own] = Value::Null);
        (summary, tables)
    })
}

/// All differences between the two worlds.
fn what_differs(json: &Value) -> Vec<String> {
    let [(simulated, tables), (emulated, theirs)] = both_worlds(json);
    let mut differs = Vec::new();
    differences("", &simulated, &emulated, &mut differs);
    differs.extend(tables_that_differ(&tables, &theirs));
    differs
}

/// Collects the differences, by their path.
fn differences(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().for_each(|(key, value)| differences(&format!("{path}.{key}"), value, &b[key], found));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().for_each(|(n, (a, b))| differences(&format!("{path}[{n}]"), a, b, found));
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{path}: {ours} against {theirs}")),
    }
}

/// The differing tables, each with its first difference.
fn tables_that_differ(ours: &[Table], theirs: &[Table]) -> Vec<String> {
    let names = |tables: &[Table]| tables.iter().map(|table| table.name.clone()).collect::<Vec<_>>();
    if names(ours) != names(theirs) {
        return vec![format!("tables {:?} against {:?}", names(ours), names(theirs))];
    }
    let mut found = Vec::new();
    for (table, other) in ours.iter().zip(theirs) {
        let (ours, theirs) = (rows(table), rows(other));
        let place = (0..ours.len().max(theirs.len())).find(|&row| ours.get(row) != theirs.get(row));
        let shown = |row: usize| format!("row {row} {:?} against {:?}", ours.get(row), theirs.get(row));
        found.extend(place.map(|row| format!("table {}: {}", table.name, shown(row))));
    }
    found
}

/// The columns and rows of a table. Rows of one instant have no order in two tables, which are sorted. A waiting frame may
/// be reported before the frame on the air. A link that falls asleep drops packets in the order of their arrivals in the
/// simulation. In the emulation those come first that have left; noise may reorder the two.
fn rows(table: &Table) -> Vec<Vec<String>> {
    let columns: Vec<Vec<String>> = table.columns.iter().map(|(_, column)| words(column)).collect();
    let mut rows: Vec<Vec<String>> = (0..columns.first().map_or(0, Vec::len))
        .map(|row| columns.iter().map(|column| column[row].clone()).collect())
        .collect();
    if matches!(&*table.name, "air" | "drop") {
        rows.sort();
    }
    rows.insert(0, table.columns.iter().map(|(name, _)| name.to_string()).collect());
    rows
}

/// Every entry of a column, exactly; NaN equals NaN.
fn words(column: &Column) -> Vec<String> {
    match column {
        Column::Float(values) => values.iter().map(f64::to_string).collect(),
        Column::Count(values) => values.iter().map(u64::to_string).collect(),
        Column::Index(values) => values.iter().map(u32::to_string).collect(),
        Column::Flag(values) => values.iter().map(bool::to_string).collect(),
        Column::Text(values) => values.iter().map(|value| format!("{value:?}")).collect(),
    }
}

fn extended(mut table: Value, with: &Value) -> Value {
    table.as_object_mut().expect("a table").extend(with.as_object().expect("a table").clone());
    table
}

/// Adds the fields that have a value.
fn with<const N: usize>(mut fields: Value, options: [(&str, Option<Value>); N]) -> Value {
    for (name, value) in options {
        if let Some(value) = value {
            fields[name] = value;
        }
    }
    fields
}

/// The extra properties of a link, besides rate, delay and buffer. Links with a varying rate cannot sleep.
fn special() -> impl Strategy<Value = (Value, bool)> {
    let noise = || {
        select(vec![
            json!({ "mean": "1 ms", "shape": 0.5 }),
            json!({ "mean": "40 ms", "shape": 2.0 }),
            json!({ "mean": "9 ms", "shape": 1.0, "reorder": true }),
        ])
    };
    let batches = || {
        let batches = vec![json!({ "period": "9999 us" }), json!({ "period": "31 ms", "start": "700 ms" })];
        prop_oneof![3 => Just(None), 1 => select(batches).prop_map(Some)]
    };
    let practra = json!({ "kind": "practra", "rates": { "from": "500 kb/s", "to": "3 Mb/s", "step": "500 kb/s" },
        "transition": "2 ms", "min_interval": "50 ms", "delay_bound": "10 ms" });
    let earth = json!({ "kind": "earth", "rates": { "from": "1 Mb/s", "to": "3 Mb/s", "step": "1 Mb/s" }, "threshold": "4 packets" });
    let lull = json!({ "kind": "lull", "rates": { "from": "500 kb/s", "to": "3 Mb/s", "step": "500 kb/s" }, "transition": "2 ms" });
    let suspending = extended(lull.clone(), &json!({ "in_service": "suspend", "lateness": "5 ms", "hold": "20 ms" }));
    let c_earth = json!({ "kind": "c_earth", "target": "5 packets", "min_rate": "500 kb/s", "pace": "event",
        "round_trip": { "kind": "fixed", "time": "100 ms" }, "queue": "waiting_and_in_service" });
    let g_router = json!({ "kind": "g_router", "target": "10 packets", "min_rate": "1 Mb/s",
        "flows": { "kind": "linear_counting", "interval": "100 ms" }, "round_trip": { "kind": "timestamps", "initial": "50 ms" } });
    let lpi = json!({ "kind": "lpi", "phy": "100base-tx", "hysteresis": "600 us" });
    let coalescing = json!({ "kind": "lpi", "sleep": "1 ms", "wake": "3 ms", "hysteresis": "2 ms", "coalesce_time": "20 ms",
        "coalesce_frames": 4, "coalesce_bytes": "4 kB", "quiet": "9 ms", "refresh": "1 ms" });
    let two_modes = json!({ "kind": "lpi", "phy": "802.3bj-dual", "hysteresis": "0 s", "deep_after": "5 ms" });
    let coupled = json!({ "kind": "lpi", "phy": "1000base-t", "hysteresis": "5 ms" });
    let red = select(vec![json!({ "kind": "red" }), json!({ "kind": "red", "ecn": "early", "weight": 0.1 })]);
    let codel =
        select(vec![json!({ "kind": "codel" }), json!({ "kind": "codel", "target": "1 ms", "interval": "10 ms" })]);
    let queue = prop_oneof![codel, red.clone()];
    let loss = select(vec![
        json!({ "kind": "bernoulli", "probability": 0.05 }),
        json!({ "kind": "gilbert_elliott", "to_bad": 0.02, "to_good": 0.3 }),
        json!({ "kind": "policer", "rate": "300 kb/s", "burst": "3 kB" }),
        json!({ "kind": "policer", "rate": "100 kb/s", "burst": "9 kB", "start": "1 s" }),
    ]);
    let steps =
        json!({ "kind": "steps", "steps": [{ "at": "1 s", "rate": "500 kb/s" }, { "at": "2 s", "rate": "900 kb/s" }] });
    let redraw = |interval: &str| json!({ "kind": "uniform_redraw", "min": "200 kb/s", "max": "900 kb/s", "mean_interval": interval });
    let trace = |times: Value| json!({ "rate": "8 Mb/s", "capacity": { "kind": "trace", "opportunities": times } });
    let traced =
        select(vec![trace(json!([3])), trace(json!([0, 0, 5, 9, 40])), trace(json!([1, 2, 2, 2, 400, 401, 1600]))]);
    let varying = select(vec![
        json!({ "controller": practra, "rate": "3 Mb/s" }),
        json!({ "controller": lull, "rate": "3 Mb/s" }),
        json!({ "controller": suspending, "rate": "3 Mb/s" }),
        json!({ "controller": earth, "rate": "3 Mb/s" }),
        json!({ "controller": c_earth, "rate": "3 Mb/s" }),
        json!({ "controller": g_router, "rate": "3 Mb/s" }),
        json!({ "controller": lpi, "rate": "3 Mb/s", "overhead": "20 B" }),
        json!({ "controller": lpi, "rate": "3 Mb/s", "queue": { "kind": "red" } }),
        json!({ "controller": coalescing, "rate": "3 Mb/s" }),
        json!({ "controller": two_modes, "rate": "3 Mb/s", "queue": { "kind": "codel" } }),
        json!({ "controller": coupled, "rate": "3 Mb/s" }),
        json!({ "controller": coupled, "rate": "3 Mb/s" }),
        json!({ "capacity": steps }),
        json!({ "capacity": redraw("500 ms") }),
        // Most likely no redraw within the run.
        json!({ "capacity": redraw("60 s") }),
    ]);
    let option = proptest::option::of::<BoxedStrategy<Value>>;
    let [queue, red, loss, noise] = [queue.boxed(), red.boxed(), loss.boxed(), noise().boxed()].map(option);
    prop_oneof![
        4 => Just((json!({}), true)),
        3 => (queue, loss.clone(), noise.clone(), batches()).prop_map(|(queue, loss, noise, batches)| {
            (with(json!({}), [("queue", queue), ("loss", loss), ("noise", noise), ("aggregation", batches)]), true)
        }),
        1 => (traced, red, loss, noise.clone(), batches()).prop_map(|(fields, queue, loss, noise, batches)| {
            (with(fields, [("queue", queue), ("loss", loss), ("noise", noise), ("aggregation", batches)]), false)
        }),
        1 => (varying, noise, batches()).prop_map(|(fields, noise, batches)| {
            (with(fields, [("noise", noise), ("aggregation", batches)]), false)
        }),
    ]
}

/// A link's fields without its ends, and whether it can sleep.
fn fields() -> impl Strategy<Value = (Value, bool)> {
    let rate = select(vec!["1 Mb/s", "2 Mb/s", "3 Mb/s", "8 Mb/s", "999983 b/s"]);
    let delay = select(vec!["0 s", "1 ns", "50 us", "1 ms", "10 ms", "13 ms", "30 ms"]);
    let buffer = select(vec!["1 packets", "5 packets", "40 packets", "20 kB", "3000 B"]);
    (rate, delay, buffer, 1..4_u32, special()).prop_map(|(rate, delay, buffer, cost, (special, can_sleep))| {
        let plain = json!({ "rate": rate, "delay": delay, "buffer": buffer, "cost": cost });
        (extended(plain, &special), can_sleep)
    })
}

/// A sleep: its start and end in milliseconds (`None`: to the end of the run), and its JSON.
fn nap() -> impl Strategy<Value = (u32, Option<u32>, Value)> {
    let at = prop_oneof![select(vec![0_u32, 100, 500, 1000, 1500, 2900, 2999]), 0..2900_u32];
    let lasts = proptest::option::weighted(0.75, select(vec![201_u32, 250, 500, 1000, 3000]));
    let (spacing, drain) = (select(vec![0_u32, 1, 100]), select(vec![0_u32, 20, 100, 200]));
    let holds = select(vec![None, None, Some("schedule"), Some("arrival")]);
    let wake_time = select(vec![0_u32, 1, 100, 1500]);
    (at, lasts, spacing, drain, wake_time, holds).prop_map(|(at, lasts, spacing, drain, wake_time, holds)| {
        let drain = if holds.is_some() { 0 } else { drain };
        let mut sleep =
            json!({ "at": format!("{at} ms"), "spacing": format!("{spacing} ms"), "drain": format!("{drain} ms") });
        let wake = lasts.map(|lasts| at + lasts);
        if let Some(wake) = wake {
            sleep["wake"] = format!("{wake} ms").into();
            sleep["wake_time"] = format!("{wake_time} ms").into();
        }
        if let Some(wake_on) = holds {
            (sleep["while_asleep"], sleep["wake_on"]) = ("hold".into(), wake_on.into());
        }
        (at, wake.map(|wake| wake + wake_time + spacing), sleep)
    })
}

fn flow() -> impl Strategy<Value = (Index, Index, Value)> {
    let kind = prop_oneof![
        2 => select(vec![json!({ "kind": "cbr" }), json!({ "kind": "cbr", "packet": "300 B" }), json!({ "kind": "cbr", "packet": "125 B" })]),
        2 => select(vec![json!({ "kind": "poisson" }), json!({ "kind": "poisson", "packet": "1250 B" })]),
        1 => Just(json!({ "kind": "bursts", "cycle": "50 ms", "mean_on": "10 ms" })),
    ];
    // At least one packet per second, so a station can doze; some at or shortly before beacons.
    let rate = select(vec!["12 kb/s", "60 kb/s", "700 kb/s", "1 Mb/s", "1.3 Mb/s", "2.4 Mb/s"]);
    let start = select(vec!["0 s", "99 ms", "350 ms", "899 ms"]);
    (any::<Index>(), any::<Index>(), kind, rate, start).prop_map(|(from, to, mut flow, rate, start)| {
        flow["rate"] = rate.into();
        flow["start"] = start.into();
        (from, to, flow)
    })
}

fn routing() -> impl Strategy<Value = Value> {
    let update = select(vec![
        json!({ "kind": "simultaneous", "after": "0 s" }),
        json!({ "kind": "simultaneous", "after": "30 ms" }),
        json!({ "kind": "flooding", "processing": "0 s", "computation": "0 s" }),
        json!({ "kind": "flooding", "processing": "1 ms", "computation": "70 ms" }),
        json!({ "kind": "flooding", "processing": "20 ms", "computation": "1 s" }),
    ]);
    let ttl = proptest::option::of(select(vec![1_u32, 2, 3, 6, 64, 255]));
    (update, select(vec!["cost", "hops"]), ttl).prop_map(|(update, metric, ttl)| {
        let mut routing = json!({ "update": update, "metric": metric });
        if let Some(ttl) = ttl {
            routing["ttl"] = ttl.into();
        }
        routing
    })
}

/// A station behind n0, and the links over the air.
fn station() -> impl Strategy<Value = (Value, Value)> {
    let access = |poll: &str| json!({ "poll": poll, "beacon_period": "50 ms" });
    let mechanism = select(vec![
        Value::Null,
        json!({ "kind": "eager" }),
        json!({ "kind": "psm" }),
        json!({ "kind": "psm", "listen_interval": 2, "access_point": access("one") }),
        json!({ "kind": "psm", "access_point": access("all") }),
        json!({ "kind": "psm", "access_point": { "beacon_period": "20 ms", "buffer": 1 } }),
        json!({ "kind": "bsd" }),
    ]);
    let buffer = select(vec!["2 packets", "20 packets", "unlimited"]);
    let loss = proptest::option::of(Just(json!({ "kind": "bernoulli", "probability": 0.1 })));
    // Whole nanoseconds for every packet: the emulated radio rounds each transmission, the link carries the remainder.
    let rates = (select(vec!["2 Mb/s", "10 Mb/s"]), select(vec!["2 Mb/s", "10 Mb/s"]));
    (mechanism, buffer, loss, rates).prop_map(|(mechanism, buffer, loss, (down, up))| {
        let link = |from: &str, to: &str, rate: &str| {
            // An emulated radio transmits packets that its full queue then drops (docs/models/emulation.md).
            let buffer = if from == "s" { "unlimited" } else { buffer };
            let mut link = json!({ "from": from, "to": to, "rate": rate, "buffer": buffer });
            if let Some(loss) = &loss {
                link["loss"] = loss.clone();
            }
            link
        };
        (json!({ "nodes": ["s"], "mechanism": mechanism }), json!([link("n0", "s", down), link("s", "n0", up)]))
    })
}

/// A network: nodes on a ring, some links across it, and the events on them.
fn network() -> impl Strategy<Value = Value> {
    let links = vec(fields(), 2..8);
    let across = vec((any::<Index>(), any::<Index>()), 0..3);
    let naps = vec((nap(), vec(any::<Index>(), 1..4)), 0..4);
    let times = (select(vec!["0 s", "500 ms", "1 s"]), any::<bool>(), select(vec!["37 ms", "100 ms", "1 s"]));
    let station = proptest::option::weighted(0.3, (station(), flow(), flow()));
    (links, across, naps, vec(flow(), 1..6), routing(), times, 0..1000_u32, station).prop_map(
        |(fields, across, naps, flows, routing, (warm_up, phase, interval), seed, station)| {
            let nodes = fields.len();
            let name = |node: usize| format!("n{node}");
            let mut ends: Vec<(usize, usize)> = (0..nodes).map(|n| (n, (n + 1) % nodes)).take(if nodes > 2 { nodes } else { 1 }).collect();
            for (from, to) in across {
                let (from, to) = (from.index(nodes), to.index(nodes));
                if from != to && !ends.contains(&(from, to)) && !ends.contains(&(to, from)) {
                    ends.push((from, to));
                }
            }
            let (mut links, mut sleepers) = (Vec::new(), Vec::new());
            for (&(from, to), (fields, can_sleep)) in ends.iter().zip(fields.iter().cycle()) {
                let both = json!({ "from": name(from), "to": name(to), "duplex": *can_sleep });
                links.push(extended(fields.clone(), &both));
                if *can_sleep {
                    sleepers.push(format!("{}-{}", name(from), name(to)));
                } else {
                    // A controller belongs to one direction.
                    let mut back = json!({ "from": name(to), "to": name(from), "rate": "2 Mb/s", "delay": "3 ms", "buffer": "9 packets" });
                    if fields["controller"]["phy"] == "1000base-t" {
                        back["controller"] = fields["controller"].clone();
                    }
                    links.push(back);
                }
            }
            let mut json = json!({
                "duration": "3 s", "warm_up": warm_up, "seed": seed,
                "nodes": (0..nodes).map(name).collect::<Vec<_>>(),
                "link": links, "routing": routing, "power": [{ "model": "fs" }, { "model": "ncs-55a1-24h" }],
                "probe": { "interval": interval, "drops": true },
            });
            if phase {
                json["phase"] = json!([{ "name": "early", "from": warm_up, "to": "1.5 s" }, { "name": "late", "from": "2 s" }]);
            }
            json["flow"] = flows.into_iter().enumerate().map(|(number, (from, to, flow))| {
                let (from, to) = (from.index(nodes), to.index(nodes));
                let to = if from == to { (to + 1) % nodes } else { to };
                extended(flow, &json!({ "name": format!("f{number}"), "from": name(from), "to": name(to) }))
            }).collect::<Vec<_>>().into();
            // Each link falls asleep once, so no two sleeps overlap.
            let mut awake = sleepers;
            let mut sleep = Vec::new();
            for ((_, _, nap), chosen) in naps {
                let mut links = Vec::new();
                for index in chosen {
                    if !awake.is_empty() {
                        links.push(awake.remove(index.index(awake.len())));
                    }
                }
                if !links.is_empty() {
                    sleep.push(extended(nap, &json!({ "links": links })));
                }
            }
            if let Some(((station, air), (from, _, down), (_, to, up))) = station {
                json["nodes"].as_array_mut().expect("a list").push("s".into());
                json["link"].as_array_mut().expect("a list").extend(air.as_array().expect("a list").iter().cloned());
                let own = [
                    extended(down, &json!({ "name": "down", "from": name(from.index(nodes)), "to": "s" })),
                    extended(up, &json!({ "name": "up", "from": "s", "to": name(to.index(nodes)) })),
                ];
                json["flow"].as_array_mut().expect("a list").extend(own);
                json["station"] = json!([station]);
                json["probe"]["stations"] = true.into();
                // With stations, links do not sleep and packets do not count hops.
                sleep.clear();
                json["routing"].as_object_mut().expect("a table").remove("ttl");
            }
            if sleep.iter().all(|nap| nap["while_asleep"] == "hold") {
                // Without routing updates, packets do not count hops.
                json["routing"].as_object_mut().expect("a table").remove("update");
            }
            if !sleep.is_empty() {
                json["sleep"] = sleep.into();
            }
            json
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn datagrams_meet_with_the_same_in_any_network(json in network()) {
        let differs = what_differs(&json);
        prop_assert!(differs.is_empty(), "simulated against emulated:\n{}\n{json}", differs.join("\n"));
    }
}

/// A station alone on its channel, with a packet of 1500 B per second in each direction, from the given instants on.
fn alone(mechanism: &Value, down: &str, up: &str, rate: &str) -> Value {
    let link = |from: &str, to: &str| json!({ "from": from, "to": to, "rate": rate, "buffer": "unlimited" });
    let flow = |name: &str, from: &str, to: &str, start: &str| json!({ "kind": "cbr", "name": name, "from": from, "to": to, "rate": "12 kb/s", "start": start });
    json!({
        "duration": "2 s", "nodes": ["n", "s"], "link": [link("n", "s"), link("s", "n")], "probe": { "stations": true },
        "station": [{ "nodes": ["s"], "mechanism": mechanism }], "flow": [flow("down", "n", "s", down), flow("up", "s", "n", up)],
    })
}

#[test]
fn a_radio_that_is_awake_with_a_beacon_sends_what_has_waited_first() {
    // BSD polls at 0.9 s for a packet from 0.35 s; its host sends 1 ms earlier, and the radio wakes in 2 ms.
    let json = alone(&json!({ "kind": "bsd" }), "350 ms", "899 ms", "10 Mb/s");
    assert_eq!(what_differs(&json), Vec::<String>::new());
}

#[test]
fn a_radio_that_is_to_sleep_sleeps_when_the_packet_that_it_waited_for_was_missed() {
    let mut json = alone(
        &json!({ "kind": "psm", "access_point": { "beacon_period": "20 ms", "buffer": 1 } }),
        "0 s",
        "0 s",
        "1 Mb/s",
    );
    json["link"][1]["rate"] = "2 Mb/s".into();
    json["flow"][0]["rate"] = "700 kb/s".into();
    (json["flow"][1]["kind"], json["flow"][1]["rate"]) = ("poisson".into(), "1.3 Mb/s".into());
    for seed in 0..20 {
        json["seed"] = seed.into();
        assert_eq!(what_differs(&json), Vec::<String>::new(), "seed {seed}");
    }
}

#[test]
fn a_poll_comes_after_the_packets_of_its_instant() {
    let mechanism = json!({ "kind": "psm", "access_point": { "beacon_period": "50 ms", "poll": "one", "buffer": 8 } });
    let mut json = alone(&mechanism, "0 s", "900 ms", "2 Mb/s");
    json["nodes"] = json!(["m", "n", "s"]);
    // Beacons of 1 ms; from then on a poll reaches the access point each 1.7 ms, the sixth one 10 ms after the beacon.
    let batches = json!({ "from": "m", "to": "n", "rate": "3 Mb/s", "aggregation": { "period": "10 ms" } });
    json["link"].as_array_mut().expect("a list").push(batches);
    json["flow"][0] = extended(json["flow"][0].clone(), &json!({ "from": "m", "rate": "2.4 Mb/s", "packet": "300 B" }));
    assert_eq!(what_differs(&json), Vec::<String>::new());
}

/// The departures in nanoseconds from a link that holds packets, in the simulation and in the emulation: datagrams of
/// 1250 B at these microseconds, 100 us each at 100 Mb/s. The rest of the link and of the scenario are given.
fn departures(link: &Value, rest: &Value, sent: &[u64]) -> [(Vec<u64>, Value); 2] {
    let plain = |from: &str, to: &str| json!({ "from": from, "to": to, "rate": "100 Mb/s", "buffer": "unlimited" });
    let flow = |(place, at): (usize, &u64)| {
        json!({ "kind": "cbr", "name": format!("f{place}"), "from": "a", "to": "c", "rate": "1 Mb/s", "packet": "1250 B",
            "start": format!("{at} us"), "stop": format!("{} us", at + 1) })
    };
    let json = json!({
        "duration": "1 s", "nodes": ["a", "b", "c"], "link": [extended(plain("a", "b"), link), plain("b", "c")],
        "flow": sent.iter().enumerate().map(flow).collect::<Vec<_>>(), "probe": { "arrivals": ["b-c"] },
    });
    let json = extended(json, rest);
    assert_eq!(what_differs(&json), Vec::<String>::new());
    both_worlds(&json).map(|(summary, tables)| {
        let table = tables.iter().find(|table| table.name == "arrivals").expect("a table");
        let Some((_, Column::Count(times))) = table.columns.first() else { panic!("{table:?}") };
        (times.clone(), summary["links"][0]["low_power"].clone())
    })
}

#[test]
fn low_power_idle_holds_packets_to_the_nanosecond() {
    let controlled = |controller: Value| json!({ "controller": controller });
    // 100BASE-TX: T_s = 200 us, T_w = 30.5 us. The first packet leaves at 130.5 us. From 730.5 us the link goes to sleep. The
    // packet at 1 ms finds it asleep, that at 2.8 ms in T_s, which ends at 2930.5 us.
    let timers = json!({ "kind": "lpi", "phy": "100base-tx", "hysteresis": "600 us" });
    for (left, low) in departures(&controlled(timers), &json!({}), &[0, 1000, 2000, 2800]) {
        assert_eq!(left, [130_500, 1_130_500, 2_130_500, 3_061_000]);
        assert_eq!((&low["sleeps"], &low["waking_s"], &low["entering_s"]), (&json!(4), &json!(122e-6), &json!(800e-6)));
    }
    // A hysteresis of 250 ms spans the second packet. T_w is 5 ms.
    let timers = json!({ "kind": "lpi", "sleep": "1 ms", "wake": "5 ms", "hysteresis": "250 ms" });
    for (left, low) in departures(&controlled(timers), &json!({}), &[0, 100_000, 500_000]) {
        assert_eq!(left, [5_100_000, 100_100_000, 505_100_000]);
        // Awake from 5 to 350.1 ms and from 505 to 755.1 ms.
        assert_eq!((&low["awake_s"], &low["sleeps"]), (&json!(0.5952), &json!(2)));
    }
}

#[test]
fn a_link_that_sleeps_at_given_times_holds_packets_to_the_nanosecond() {
    let sleep = |wake_on: &str| json!({ "sleep": [{ "at": "100 ms", "wake": "300 ms", "wake_time": "340 ns", "links": ["a-b"], "while_asleep": "hold", "wake_on": wake_on }] });
    for (left, low) in departures(&json!({}), &sleep("schedule"), &[0, 150_000, 400_000]) {
        assert_eq!((left, &low["asleep_s"]), (vec![100_000, 300_100_340, 400_100_000], &json!(0.2)));
    }
    for (left, low) in departures(&json!({}), &sleep("arrival"), &[0, 150_000, 400_000]) {
        assert_eq!((left, &low["asleep_s"]), (vec![100_000, 150_100_340, 400_100_000], &json!(0.05)));
    }
}
