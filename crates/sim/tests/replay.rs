//! Arrivals recorded at a link and replayed as datagrams.

use crate::common::{close, floats, flow, in_words, link, outcome, scenario, table};
use netlull_sim::run::{Monitor, RunError, RunOutcome, Stop, Unwatched, run};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Hosts a and b connected to the routers N1 and N2, requests from a to b, and practRA on N1-N2.
fn network() -> Value {
    let edge =
        |from: &str, to: &str| json!({ "from": from, "to": to, "duplex": true, "rate": "100 Mb/s", "delay": "5 ms" });
    let practra = json!({ "kind": "practra", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" },
                          "transition": "2 ms", "min_interval": "16 ms", "delay_bound": "40 ms" });
    json!({ "duration": "20 s", "seed": 3, "nodes": ["a", "N1", "N2", "b"], "link": [
                edge("a", "N1"),
                { "from": "N1", "to": "N2", "rate": "10 Mb/s", "delay": "15 ms", "controller": practra },
                { "from": "N2", "to": "N1", "rate": "10 Mb/s", "delay": "15 ms" },
                edge("N2", "b") ],
            "flow": [{ "kind": "requests", "name": "web", "from": "a", "to": "b", "offered": "5 Mb/s",
                       "size": { "kind": "campus", "mean": "15 kB" } }] })
}

fn with(mut json: Value, field: &str, value: Value) -> Value {
    json[field] = value;
    json
}

fn udp(json: Value) -> Value {
    with(json, "recording", json!({ "flows": ["web"], "link": "N1-N2", "without": ["link.N1-N2.controller"] }))
}

fn arrivals(outcome: &RunOutcome) -> Vec<(u64, u64)> {
    let rows = table(outcome, "arrivals");
    let [time, bytes] = ["time_ns", "bytes"].map(|column| floats(rows, column));
    time.into_iter().zip(bytes).map(|(time, bytes)| (time as u64, bytes as u64)).collect()
}

#[test]
fn a_probe_records_what_is_offered_to_its_links() {
    let mut json = with(network(), "probe", json!({ "arrivals": ["N1-N2", "N2-N1"], "interval": "1 s" }));
    let noise =
        json!({ "kind": "cbr", "name": "noise", "from": "N1", "to": "N2", "rate": "1 Mb/s", "packet": "1250 B" });
    json["flow"].as_array_mut().expect("flows").push(noise);
    json["link"][1].as_object_mut().expect("a table").remove("controller");
    let run = outcome(json.clone());
    let rows = table(&run, "arrivals");
    let [time, over, whose, bytes] = ["time_ns", "link", "flow", "bytes"].map(|column| floats(rows, column));
    assert!(time.windows(2).all(|pair| pair[0] <= pair[1]));
    for name in ["N1-N2", "N2-N1"] {
        let index = run.summary.links.iter().position(|link| link.name == name).expect("a link") as f64;
        let here = || (0..time.len()).filter(|&row| over[row] == index);
        assert_eq!(here().count() as u64, link(&run, name).offered_packets);
        assert_eq!(here().map(|row| bytes[row]).sum::<f64>() as u64, link(&run, name).offered_bytes);
    }
    // 1 Mb/s in packets of 1250 B: at 0, 10 ms, ..., 20 s; datagrams are flow 0.
    let noise: Vec<f64> = (0..time.len()).filter(|&row| whose[row] == 0.0).map(|row| time[row]).collect();
    assert_eq!(noise, (0..=2000).map(|n| f64::from(n) * 1e7).collect::<Vec<_>>());
    // Observation changes nothing, and flows can be selected.
    json["probe"] = json!({ "arrivals": ["N1-N2"], "flows": ["noise"] });
    let chosen = outcome(json);
    assert_eq!(arrivals(&chosen).len(), 2001);
    assert_eq!(chosen.summary.events, run.summary.events);
}

#[test]
fn what_was_recorded_is_replayed_packet_by_packet() {
    let probe = json!({ "arrivals": ["N1-N2"] });
    let mut first = with(network(), "probe", probe.clone());
    first["link"][1].as_object_mut().expect("a table").remove("controller");
    let recorded = arrivals(&outcome(first));
    let second = outcome(with(udp(network()), "probe", probe));
    assert!(recorded.len() > 5000, "{}", recorded.len());
    assert_eq!(arrivals(&second), recorded);
    let told = second.summary.recording.as_ref().expect("a first run");
    assert_eq!((told.link.as_str(), told.flow.as_str(), told.packets), ("N1-N2", "replay", recorded.len() as u64));
    assert_eq!(told.bytes, recorded.iter().map(|(_, bytes)| bytes).sum::<u64>());
    // The second run has the controller, which the first omits, and no result of the first.
    assert!(link(&second, "N1-N2").rate_changes > 0);
    assert_eq!(second.summary.flows.len(), 1);
    let replay = flow(&second, "replay");
    assert_eq!((replay.kind, replay.from.as_str(), replay.to.as_str()), ("replay", "N1", "b"));
    assert_eq!((replay.packets_sent, replay.bytes_sent), (told.packets, told.bytes));
    assert_eq!(link(&second, "a-N1").offered_packets, 0);
    assert_eq!(link(&second, "N2-N1").offered_packets, 0, "nothing is answered");
}

#[test]
fn buffers_are_those_of_the_flows_that_are_replaced() {
    // 10 Mb/s x 50 ms in both directions = 62,500 B = 41.7 packets of 1500 B, also for datagrams that only cross 20
    // ms.
    let (tcp, udp) = (outcome(network()), outcome(udp(network())));
    assert_eq!(link(&tcp, "N1-N2").buffer, "42 packets");
    assert_eq!(link(&udp, "N1-N2").buffer, "42 packets");
}

#[test]
fn the_seed_is_that_of_the_run() {
    let packets = |seed: u64| {
        let run = outcome(with(udp(network()), "seed", seed.into()));
        run.summary.recording.expect("a first run").packets
    };
    assert_ne!(packets(1), packets(2));
    let run_with = |seed: u64| {
        let scenario = netlull_sim::scenario::Scenario { seed, ..scenario(&udp(network())).expect("valid") };
        in_words(&run(&scenario, &mut Unwatched, None).expect("runs"))
    };
    assert_eq!(run_with(1), in_words(&outcome(with(udp(network()), "seed", 1.into()))));
}

#[test]
fn a_replay_from_a_document_needs_no_first_run() {
    let arrivals = json!([[0, 100], [1_000_000, 1500], [1_000_000, 40], [30_000_000_000_u64, 1500]]);
    let flows = json!([{ "kind": "replay", "name": "trace", "from": "N1", "to": "b", "arrivals": arrivals }]);
    let run = outcome(with(network(), "flow", flows));
    let trace = flow(&run, "trace");
    assert_eq!((trace.packets_sent, trace.delivered_bytes), (3, 1640), "the last comes after the end");
    assert!(run.summary.recording.is_none());
}

/// Records the reported shares, and stops at one of them.
struct Shares(Vec<f64>, f64);

impl Monitor for Shares {
    fn progress(&mut self, share: f64) -> ControlFlow<Stop> {
        self.0.push(share);
        if share >= self.1 { ControlFlow::Break(Stop::Cancelled) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn progress_and_cancelling_go_through_both_runs() {
    let long = scenario(&with(udp(network()), "duration", "60 s".into())).expect("valid");
    let mut whole = Shares(Vec::new(), 2.0);
    run(&long, &mut whole, None).expect("runs");
    assert!(whole.0.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", whole.0);
    assert!(whole.0.contains(&0.5) && whole.0.contains(&1.0));
    for at in [0.1, 0.5, 1.0] {
        let broken = run(&long, &mut Shares(Vec::new(), at), None);
        assert!(matches!(broken, Err(RunError::Cancelled)), "at {at}");
    }
}

#[test]
fn what_cannot_be_recorded_or_replayed_is_refused() {
    let refusal = |json: &Value| scenario(json).map(|_| ()).expect_err("must be refused").to_string();
    let recording = |field: &str, value: Value| {
        let mut json = udp(network());
        json["recording"][field] = value;
        refusal(&json)
    };
    let replay = |fields: Value| {
        let mut flow = json!({ "kind": "replay", "name": "r", "from": "N1", "to": "b" });
        flow.as_object_mut().expect("a table").extend(fields.as_object().expect("a table").clone());
        refusal(&with(network(), "flow", json!([flow])))
    };
    let cases = [
        (recording("link", "N1-b".into()), "recording.link: \"N1-b\" is unknown; expected one of a-N1, N1-a, N1-N2"),
        (recording("flows", json!(["web", "x"])), "recording.flows: \"x\" is not a flow; expected some of web"),
        (recording("flows", json!([])), "recording.flows: is empty; expected some of web"),
        (
            recording("without", json!(["link.N1-N3.controller"])),
            "recording.without: link.N1-N3.controller: \"N1-N3\" is not an entry of link",
        ),
        (recording("without", json!(["duration.x"])), "recording.without: duration.x: duration holds"),
        (recording("without", json!(["duration"])), "recording.without: leaves a scenario that cannot be run: "),
        (recording("without", json!([""])), "recording.without: \"\": expected keys separated by dots"),
        (recording("name", "a.b".into()), "flow.name: \"a.b\" is not a valid name"),
        (recording("to", "N1".into()), "flow.replay.to: \"N1\" is also the sending node"),
        (recording("scenario", json!({})), "recording.scenario: is unknown; expected one of link"),
        (replay(json!({})), "flow.r: has both or neither of `arrivals` and `file`"),
        (replay(json!({ "file": "x.csv" })), "flow.r.file: \"x.csv\" has not been read"),
        (replay(json!({ "arrivals": [[5, 1500], [4, 1500]] })), "flow.r.arrivals.1: is at 4 ns after 5 ns"),
        (
            replay(json!({ "arrivals": [[5, 1501]] })),
            "flow.r.arrivals.0: has 1501 B; expected 28 B of headers to the MTU",
        ),
        (replay(json!({ "arrivals": [[5, 27]] })), "flow.r.arrivals.0: has 27 B"),
        (replay(json!({ "arrivals": [[-5, 27]] })), "flow.r.arrivals.0.0: is -5; expected "),
        (refusal(&with(network(), "probe", json!({ "arrivals": ["x"] }))), "probe.arrivals: \"x\" is unknown"),
    ];
    for (message, start) in cases {
        assert!(message.starts_with(start), "{message:?} does not start with {start:?}");
    }
    let mut elsewhere = udp(network());
    elsewhere["flow"]
        .as_array_mut()
        .expect("flows")
        .push(json!({ "kind": "cbr", "name": "up", "from": "b", "to": "N2", "rate": "1 Mb/s" }));
    elsewhere["recording"]["flows"] = json!(["up"]);
    let message = refusal(&elsewhere);
    assert!(message.starts_with("recording.link: is \"N1-N2\", which none of these flows crosses"), "{message}");
}

#[test]
fn connections_that_are_counted_are_recorded_all() {
    let mut json = udp(network());
    json["flow"][0] = json!({ "kind": "tcp", "name": "web", "from": "a", "to": "b", "count": 3, "size": "100 kB" });
    let run = outcome(json);
    // 100 kB each in segments of 1448 B, a SYN and the acknowledgement with the FIN: at least 70 packets each.
    close(run.summary.recording.expect("a first run").packets as f64, 3.0 * 73.0, 3.0 * 4.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The same bytes with and without lookahead, for any other traffic (`outcome` compares).
    #[test]
    fn recording_and_replaying_run_ahead_without_a_trace(
        seed in 0_u64..1000, offered in 1_u32..9, noise in any::<bool>(), controlled in any::<bool>(), buffer in 3_u32..60,
        warm_up in 0_u32..3, bulk in any::<bool>(),
    ) {
        let mut json = with(udp(network()), "seed", seed.into());
        json["duration"] = "4 s".into();
        json["warm_up"] = format!("{warm_up} s").into();
        json["flow"][0]["offered"] = format!("{offered} Mb/s").into();
        json["link"][1]["buffer"] = format!("{buffer} packets").into();
        json["probe"] = json!({ "arrivals": ["N1-N2", "N2-b", "b-N2"], "interval": "300 ms", "drops": true });
        if !controlled {
            json["link"][1].as_object_mut().expect("a table").remove("controller");
        }
        let flows = json["flow"].as_array_mut().expect("flows");
        if noise {
            flows.push(json!({ "kind": "poisson", "name": "noise", "from": "N1", "to": "b", "rate": "1 Mb/s" }));
        }
        if bulk {
            flows.push(json!({ "kind": "tcp", "name": "bulk", "from": "a", "to": "b", "size": "400 kB" }));
        }
        let both = outcome(json.clone());
        let mut first = json;
        first.as_object_mut().expect("a table").remove("recording");
        first["link"][1].as_object_mut().expect("a table").remove("controller");
        first["probe"] = json!({ "arrivals": ["N1-N2"], "flows": ["web"] });
        let recorded = arrivals(&outcome(first));
        prop_assert_eq!(both.summary.recording.expect("a first run").packets, recorded.len() as u64);
    }
}
