//! Gateways that control TCP's windows, and EARTH, in the simulator.

use crate::common::{floats, outcome, scenario, table};
use netlull_sim::run::{RunOutcome, Unwatched, run};
use serde_json::{Value, json};

/// `flows` uploads from s to d over N1-N2 (10 Mb/s, 98 ms, 100 packets of 1000 B). The reverse path takes 1 ms: BDP 10
/// Mb/s x 100 ms = 125 packets.
fn uploads(controller: &Value, flows: u32, tcp: &Value) -> Value {
    let mut json = json!({
        "duration": "60 s", "warm_up": "20 s", "mtu": "1000 B", "nodes": ["s", "N1", "N2", "d"],
        "link": [
            { "from": "s", "to": "N1", "duplex": true, "rate": "1 Gb/s", "delay": "500 us", "buffer": "unlimited" },
            { "from": "N1", "to": "N2", "rate": "10 Mb/s", "delay": "98 ms", "buffer": "100 packets" },
            { "from": "N2", "to": "N1", "rate": "10 Mb/s", "delay": "1 ms", "buffer": "unlimited" },
            { "from": "N2", "to": "d", "duplex": true, "rate": "1 Gb/s", "buffer": "unlimited" },
        ],
        "flow": [{ "kind": "tcp", "name": "t", "from": "s", "to": "d", "count": flows, "spacing": "50 ms" }],
        "tcp": tcp,
        "probe": { "interval": "100 ms", "links": ["N1-N2"] },
    });
    if !controller.is_null() {
        json["link"][1]["controller"] = controller.clone();
    }
    json
}

/// The summary's entry of N1-N2, and the summary.
fn bottleneck(json: &Value) -> (Value, Value) {
    let scenario = scenario(json).expect("a scenario");
    let found = run(&scenario, &mut Unwatched, None).expect("a run");
    let summary = serde_json::to_value(&found.summary).expect("a summary");
    let link = summary["links"].as_array().expect("a list").iter().find(|link| link["name"] == "N1-N2");
    (link.expect("the bottleneck").clone(), summary)
}

fn number(value: &Value, field: &str) -> f64 {
    value[field].as_f64().expect("a number")
}

fn awm(initial_window: &str) -> Value {
    json!({ "kind": "awm", "target": "50 packets", "initial_window": initial_window, "flows": { "kind": "fixed", "count": 20 } })
}

#[test]
fn awm_keeps_the_queue_at_its_target_without_losses() {
    let (without, _) = bottleneck(&uploads(&Value::Null, 20, &json!({})));
    assert!(number(&without, "dropped_packets") > 100.0, "TCP alone fills the buffer: {without}");
    // 20 windows of 9.4 kB fill the pipe and half of the buffer: (125 + 50) kB / 20 = 8.75 kB of data, with 0.04 kB of
    // headers per packet. AWM starts near there, at 12 kB.
    let (with, _) = bottleneck(&uploads(&awm("12 kB"), 20, &json!({})));
    assert_eq!(number(&with, "dropped_packets"), 0.0);
    assert!(number(&with, "utilisation") > 0.999, "{with}");
    let queue = number(&with, "mean_queue_packets");
    assert!((queue - 50.0).abs() < 5.0, "{queue}");
}

#[test]
fn a_window_larger_than_a_flow_uses_changes_nothing() {
    // A flow of at most 64 kB: AWM suggests more from the start, so every byte is the same as without it, except for
    // the link's kind.
    let quiet = json!({ "kind": "awm", "target": "99 packets", "initial_window": "1 GB", "flows": { "kind": "fixed", "count": 1 } });
    let tcp = json!({ "receive_buffer": "64 kB" });
    let (_, without) = bottleneck(&uploads(&Value::Null, 1, &tcp));
    let (_, with) = bottleneck(&uploads(&quiet, 1, &tcp));
    assert_eq!(without["flows"], with["flows"]);
}

#[test]
fn windows_are_never_below_the_floor_whatever_the_scale() {
    // A window scale of 7 (8 MB / 64 kB = 128): 1000 B are 8 units of 128 B, 1024 B. With a target of one packet, only
    // the minimum window is left.
    for buffer in ["64 kB", "8 MB"] {
        let tight = json!({ "kind": "awm", "target": "1 packets", "beta": "100 Mb/s", "initial_window": "1 kB", "flows": { "kind": "fixed", "count": 20 } });
        let mut json = uploads(&tight, 40, &json!({ "receive_buffer": buffer }));
        json["duration"] = "30 s".into();
        let (link, summary) = bottleneck(&json);
        // 40 flows with a segment each per round trip of 100 ms: 40 x 8 kb / 0.1 s = 3.2 Mb/s. No flow starves.
        assert!(number(&link, "throughput_bps") > 2.5e6, "{link}");
        for flow in summary["flows"].as_array().expect("a list") {
            assert!(number(flow, "goodput_bps") > 2e4, "{flow}");
        }
    }
}

#[test]
fn the_g_router_brings_its_rate_down_to_a_bottleneck_further_on() {
    // C-EARTH lowers the rate by at most |dq| / RTT per round trip, so from 10 to 5 Mb/s it takes tens of seconds.
    let g_router = json!({ "kind": "g_router", "target": "20 packets", "min_rate": "1 Mb/s", "beta": "1 Mb/s", "queue": "waiting_and_in_service",
        "pace": "event", "round_trip": { "kind": "fixed", "time": "100 ms" } });
    let mut json = uploads(&g_router, 20, &json!({}));
    json["link"][3]["rate"] = "5 Mb/s".into();
    json["link"][3]["buffer"] = "50 packets".into();
    let (link, _) = bottleneck(&json);
    let rate = number(&link, "mean_rate_bps");
    assert!((4e6..7e6).contains(&rate), "{rate}");
    assert!(number(&link, "rate_changes") > 10.0);
}

/// The rate and the queue of a G-Router in front of 20 Mb/s with T = 75 kB while one flow without delay sends 3 MB, and
/// the flow's completion time.
fn without_delay(more: &Value, start: &str) -> (f64, f64, f64) {
    let mut controller = json!({ "kind": "g_router", "target": "75 kB", "min_rate": "1 Mb/s", "pace": "event",
        "round_trip": { "kind": "timestamps", "initial": "100 ms" } });
    controller.as_object_mut().expect("a table").extend(more.as_object().expect("a table").clone());
    let json = json!({
        "duration": "40 s", "nodes": ["s", "N1", "N2"],
        "link": [
            { "from": "s", "to": "N1", "duplex": true, "rate": "1 Gb/s", "buffer": "unlimited" },
            { "from": "N1", "to": "N2", "rate": "20 Mb/s", "buffer": "150 kB", "controller": controller },
            { "from": "N2", "to": "N1", "rate": "1 Gb/s", "buffer": "unlimited" },
        ],
        "flow": [{ "kind": "tcp", "name": "t", "from": "s", "to": "N2", "size": "3 MB", "start": start }],
        "tcp": { "preset": "linux-6", "congestion_control": "cubic" },
        "phase": [{ "name": "sending", "from": "2 s", "to": "5 s" }],
    });
    let (_, summary) = bottleneck(&json);
    let link = &summary["phase"]["sending"]["link"]["N1-N2"];
    let flow = &summary["flows"][0];
    (number(link, "mean_rate_bps"), number(link, "mean_queue_packets"), number(flow, "completion_time_s"))
}

#[test]
fn a_first_window_below_twice_the_target_leaves_the_rate_at_its_lowest() {
    // DQ telescopes: without delay, and while beta is slow, swnd = swnd_0 - q. All of one window waits: q = swnd. So the
    // queue settles at swnd_0 / 2 = 32.8 kB, 21.8 packets of 1500 B, far below gamma T = 71 kB. C-EARTH then only slows
    // down. 3 MB at 1 Mb/s take 24 s and more.
    let (rate, queue, time) = without_delay(&json!({}), "1 s");
    assert_eq!(rate, 1e6);
    assert!((queue - 21.8).abs() < 1.5, "{queue}");
    assert!((24.0..26.0).contains(&time), "{time}");
    // With a first window of more than 2 T the queue passes its target, and the rate comes back.
    for start in ["0 s", "1 s"] {
        let (_, _, time) = without_delay(&json!({ "initial_window": "200 kB" }), start);
        assert!(time < 10.0, "{time}");
    }
    // With q = 0 beta opens the window by 125 kB in a second. So it helps only after a second without traffic.
    let [at_once, later] = ["0 s", "1 s"].map(|start| without_delay(&json!({ "beta": "1 Mb/s" }), start).2);
    assert!(at_once > 20.0 && later < 10.0, "{at_once} {later}");
}

#[test]
fn awm_with_earth_loses_nothing_and_constricts_greedy_flows() {
    // AWM holds the queue below EARTH's threshold of 80 packets, so the rate does not return to 10 Mb/s: the "QoS
    // constriction" of g-router section 2, against which C-EARTH has a target below AWM's.
    let with_earth = json!({ "kind": "awm_earth", "target": "50 packets", "initial_window": "12 kB", "flows": { "kind": "fixed", "count": 20 },
        "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" }, "threshold": "80 packets" });
    let mut json = uploads(&with_earth, 20, &json!({}));
    let (busy, _) = bottleneck(&json);
    assert_eq!((number(&busy, "dropped_packets"), number(&busy, "rate_changes")), (0.0, 0.0));
    assert_eq!(number(&busy, "mean_rate_bps"), 7e6);
    assert!((50.0..80.0).contains(&number(&busy, "mean_queue_packets")), "{busy}");
    assert!(number(&busy["gateway"], "rewritten_acknowledgements") > 1000.0, "{busy}");
    json["flow"][0]["start"] = "49.999 s".into();
    json["duration"] = "50 s".into();
    let (idle, _) = bottleneck(&json);
    assert_eq!((number(&idle, "mean_rate_bps"), number(&idle, "rate_changes")), (1e6, 0.0), "after the warm-up");
}

#[test]
fn earth_walks_down_when_nobody_sends_and_up_when_its_queue_grows() {
    let earth = json!({ "kind": "earth", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" }, "threshold": "80 packets" });
    let mut json = uploads(&earth, 5, &json!({}));
    let (busy, _) = bottleneck(&json);
    assert!(number(&busy, "mean_rate_bps") > 6e6, "{busy}");
    // No packets before the last millisecond: nine steps of 100 ms, then 1 Mb/s.
    json["flow"][0]["start"] = "49.999 s".into();
    json["duration"] = "50 s".into();
    let (idle, _) = bottleneck(&json);
    assert_eq!((number(&idle, "mean_rate_bps"), number(&idle, "rate_changes")), (1e6, 0.0), "after the warm-up");
}

#[test]
fn a_gateway_serves_requests_and_stands_beside_others_watched_or_not() {
    let mut json = uploads(&awm("8 kB"), 3, &json!({ "timestamps": true }));
    json["duration"] = "25 s".into();
    json["link"][2]["controller"] =
        json!({ "kind": "awm", "target": "10 packets", "floor": "1 kB", "initial_window": "5 kB" });
    json["link"][2]["buffer"] = "20 packets".into();
    for (name, from, to) in [("web", "s", "d"), ("back", "d", "s")] {
        let flow = json!({ "kind": "requests", "name": name, "from": from, "to": to, "offered": "2 Mb/s",
            "size": { "kind": "exponential", "mean": "20 kB" } });
        json["flow"].as_array_mut().expect("a list").push(flow);
    }
    outcome(json);
}

#[test]
fn gateways_that_cannot_be_are_refused_with_field_value_and_expectation() {
    let refusal = |controller: Value| {
        scenario(&uploads(&controller, 1, &json!({}))).map(|_| ()).expect_err("must be refused").to_string()
    };
    let with = |fields: Value| {
        let mut controller = json!({ "kind": "g_router", "target": "50 packets", "min_rate": "1 Mb/s",
            "round_trip": { "kind": "fixed", "time": "100 ms" } });
        controller.as_object_mut().expect("a table").extend(fields.as_object().expect("a table").clone());
        refusal(controller)
    };
    let at = "link.N1-N2.controller.";
    for (found, expected) in [
        (with(json!({ "target": "0 packets" })), "target: is 0 B; expected a length above zero"),
        (with(json!({ "target": "unlimited" })), "target: is unlimited; expected packets or data"),
        (with(json!({ "gamma": 1.5 })), "gamma: is 1.5; expected more than 0 and less than 1"),
        (with(json!({ "min_rate": "20 Mb/s" })), "min_rate: is 20 Mb/s; expected at most the highest rate (10 Mb/s)"),
        (
            with(json!({ "round_trip": { "kind": "fixed", "time": "0 s" } })),
            "round_trip.time: is 0 s; expected more than 0 s",
        ),
        (with(json!({ "round_trip": { "kind": "handshake", "initial": "0 s" } })), "round_trip.initial: is 0 s"),
        (with(json!({ "flows": { "kind": "fixed", "count": 0.5 } })), "flows.count: is 0.5; expected 1 to 1000000000"),
        (
            with(json!({ "flows": { "kind": "printed", "initial": -3 } })),
            "flows.initial: is -3; expected 1 to 1000000000",
        ),
        (with(json!({ "flows": { "kind": "linear_counting", "interval": "0 s" } })), "flows.interval: is 0 s"),
        (with(json!({ "granularity": "50 Mb/s" })), "granularity: is 50 Mb/s; expected at most the distance between"),
        (with(json!({ "floor": "2 GB", "initial_window": "3 GB" })), "floor: is 2 GB; expected 1 B to 1073725440 B"),
        (with(json!({ "round_trip": { "kind": "guess" } })), "round_trip.kind: \"guess\" is unknown"),
        (
            with(json!({ "flows": { "kind": "linear_counting", "bits": 100 } })),
            "flows.bits: is 100; expected a power of two",
        ),
        (with(json!({ "acknowledgements": "N2-d" })), "acknowledgements: \"N2-d\" does not end where this link begins"),
        (with(json!({ "acknowledgements": "magic" })), "acknowledgements: \"magic\" is not a link"),
    ] {
        assert!(found.starts_with(at) && found.contains(expected), "{found:?} has not {expected:?}");
    }
}

fn gateway(found: &RunOutcome, column: &str) -> Vec<f64> {
    floats(table(found, "gateway"), column)
}

/// `per_second` requests of a segment each, from s to d, without other traffic. N is counted over 10 s.
fn requests(per_second: u32) -> Value {
    let counting = json!({ "kind": "linear_counting", "interval": "10 s" });
    let mut json = uploads(&json!({ "kind": "awm", "target": "50 packets", "flows": counting }), 1, &json!({}));
    json["flow"] = json!([{ "kind": "requests", "name": "web", "from": "s", "to": "d",
        "offered": format!("{} kb/s", 4 * per_second), "size": { "kind": "fixed", "size": "500 B" } }]);
    json["probe"] = json!({ "interval": "10 s", "links": ["N1-N2"], "requests": true });
    json
}

#[test]
fn connections_that_follow_each_other_at_one_place_are_different_flows() {
    // 20 per second, each of at most half a second: about ten slots for the 200 connections of each interval.
    let found = outcome(requests(20));
    let open = found.summary.flows[0].most_open.expect("a number");
    assert!(open < 40, "{open}");
    let seen = gateway(&found, "seen_flows");
    let counted = gateway(&found, "flows");
    // At the end of a bin the estimate belongs to the previous interval. The standard error of 200 flows in 4096 bits
    // is sqrt(4096 (e^t - t - 1)) with t = 200/4096 (Whang et al. 1990): 2.2. The limit is four standard errors plus
    // the flows at the borders, because bins end with the intervals.
    for (seen, counted) in seen.iter().zip(&counted[1..]) {
        assert!(*seen > 100.0 && (seen - counted).abs() < 4.0 * 2.2 + 2.0, "{seen} {counted}");
    }
}

#[test]
fn the_true_round_trip_is_that_of_the_path() {
    let mut json = requests(1);
    // 540 B from s: 4.32 us at 1 Gb/s, 432 us at 10 Mb/s, 4.32 us at 1 Gb/s. 40 B in reverse: 0.32 us, 32 us, 0.32 us.
    // 100 ms of propagation: 100.47328 ms. A segment that meets another waits for 432 us, which is rare.
    json["tcp"] = json!({ "delayed_ack": false });
    let found = outcome(json);
    let truth = gateway(&found, "true_round_trip_s");
    for seconds in truth {
        assert!((0.100_473_28..0.100_6).contains(&seconds), "{seconds}");
    }
}

#[test]
fn what_is_true_is_not_seen_by_what_runs() {
    let controller = json!({ "kind": "g_router", "target": "50 packets", "min_rate": "1 Mb/s",
        "round_trip": { "kind": "timestamps", "initial": "200 ms" } });
    let mut json = uploads(&controller, 5, &json!({ "timestamps": true }));
    json["duration"] = "25 s".into();
    let web = json!({ "kind": "requests", "name": "web", "from": "s", "to": "d", "offered": "1 Mb/s",
        "size": { "kind": "exponential", "mean": "20 kB" } });
    json["flow"].as_array_mut().expect("a list").push(web);
    let (_, watched) = bottleneck(&json);
    json.as_object_mut().expect("a table").remove("probe");
    assert_eq!(bottleneck(&json).1, watched);
}

#[test]
fn the_summary_says_what_a_gateway_did() {
    let (link, summary) = bottleneck(&uploads(&awm("12 kB"), 20, &json!({})));
    let gateway = &link["gateway"];
    assert!((number(gateway, "mean_flows") - 20.0).abs() < 1e-9, "given: {gateway}");
    assert_eq!(number(gateway, "floor_share"), 0.0);
    assert_eq!(number(gateway, "final_rate_bps"), 10e6);
    // Data in flight: 10 Mb/s x 100 ms and a queue of 50 packets are 175 packets of 960 B, 8.4 kB for each of 20
    // flows. Up to a segment more, because senders round down to segments, and another for delayed acknowledgements.
    let window = number(gateway, "mean_window_bytes");
    assert!((8.4e3..8.4e3 + 2.0 * 960.0).contains(&window), "{window}");
    // 1250 packets per second for 40 s, with an acknowledgement for each or every second one. All have windows below
    // the receivers' 64 kB and more.
    let (seen, rewritten) = (number(gateway, "acknowledgements"), number(gateway, "rewritten_acknowledgements"));
    assert!((24_000.0..52_000.0).contains(&seen) && seen == rewritten, "{gateway}");
    let others = summary["links"].as_array().expect("a list").iter().filter(|link| link["name"] != "N1-N2");
    assert!(others.into_iter().all(|link| link["gateway"].is_null()));
}

#[test]
fn c_earth_alone_follows_the_queue_and_leaves_windows_as_they_are() {
    // 4 Mb/s of datagrams on 10 Mb/s: C falls with every arrival and departure until it equals the arrival rate. If
    // the packet in service did not count, the queue would stay empty, and C would not change.
    let controller = json!({
        "kind": "c_earth", "target": "50 packets", "min_rate": "1 Mb/s", "pace": "event", "round_trip": { "kind": "fixed", "time": "1 s" },
        "queue": "waiting_and_in_service",
    });
    let mut json = uploads(&controller, 1, &json!({}));
    json["flow"] =
        json!([{ "kind": "cbr", "name": "c", "from": "s", "to": "d", "rate": "4 Mb/s", "packet": "1000 B" }]);
    let (link, _) = bottleneck(&json);
    assert!((number(&link, "mean_rate_bps") - 4e6).abs() < 0.1e6, "{link}");
    assert_eq!(number(&link, "dropped_packets"), 0.0);
    // With TCP flows it sees acknowledgements, but does not change them. AWM's numbers are absent.
    let (link, _) = bottleneck(&uploads(&controller, 20, &json!({})));
    let gateway = &link["gateway"];
    assert!(
        number(gateway, "acknowledgements") > 1000.0 && number(gateway, "rewritten_acknowledgements") == 0.0,
        "{gateway}"
    );
    for field in ["mean_window_bytes", "floor_share", "mean_flows", "final_window_bytes", "final_flows"] {
        assert!(gateway[field].is_null(), "{field}: {gateway}");
    }
    assert_eq!(number(gateway, "mean_round_trip_s"), 1.0);
    // Equation (7) belongs to AWM's window.
    let mut printed = controller;
    printed["round_trip"] = json!({ "kind": "printed" });
    let refused = scenario(&uploads(&printed, 1, &json!({}))).expect_err("must be refused").to_string();
    assert!(
        refused.starts_with(
            "link.N1-N2.controller.round_trip.kind: is \"printed\"; expected fixed, handshake or timestamps"
        ),
        "{refused}"
    );
}
