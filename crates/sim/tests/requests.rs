//! Requests in whole runs: short-lived connections with random amounts of data.

use crate::common::{close, floats, flow, link, outcome, scenario, table};
use netlull_sim::run::{RunError, Unwatched, run};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Two nodes, 10 Mb/s and 5 ms in each direction, and requests from a to b.
fn web(duration: &str, fields: Value) -> Value {
    let mut requests = json!({ "kind": "requests", "name": "web", "from": "a", "to": "b", "offered": "4 Mb/s",
                               "size": { "kind": "exponential", "mean": "20 kB" } });
    for (key, value) in fields.as_object().expect("a table") {
        requests[key] = value.clone();
    }
    let wire = json!({ "from": "a", "to": "b", "duplex": true, "rate": "10 Mb/s", "delay": "5 ms",
                       "buffer": "unlimited" });
    json!({ "duration": duration, "nodes": ["a", "b"], "link": [wire], "flow": [requests],
            "probe": { "requests": true } })
}

/// The document with another value for a field of its only link.
fn on_link(mut json: Value, field: &str, value: Value) -> Value {
    json["link"][0][field] = value;
    json
}

#[test]
fn a_lone_request_takes_what_arithmetic_says() {
    // A request of 1000 B per minute, without other traffic. SYN (20 + 20 + 20 B of options, 48 us) and SYN+ACK: 2 x
    // 5.048 ms. Then the data, with the FIN and the acknowledgement of the SYN+ACK (1052 B, 841.6 us and 5 ms). Both
    // have closed, so the receiver's FIN follows at once with its acknowledgement (52 B, 41.6 us and 5 ms). 10.096 +
    // 5.8416 + 5.0416 = 20.9792 ms.
    let run = outcome(web("600 s", json!({ "offered": "133 b/s", "size": { "kind": "fixed", "size": "1000 B" } })));
    let completions = floats(table(&run, "request"), "completion_s");
    assert!(completions.len() >= 3, "{}", completions.len());
    completions.iter().for_each(|&seconds| close(seconds, 0.020_979_2, 1e-9));
    let web = flow(&run, "web");
    close(web.mean_completion_s.expect("some"), 0.020_979_2, 1e-9);
    close(web.max_completion_s.expect("some"), 0.020_979_2, 1e-9);
    assert_eq!(web.most_open, Some(1));
    // SYN, data with FIN, acknowledgement of the receiver's FIN.
    assert_eq!(web.packets_sent, 3 * completions.len() as u64);
    assert_eq!(web.delivered_bytes, 1000 * completions.len() as u64);
    assert_eq!(web.segment_bytes, Some(1448));
}

#[test]
fn the_network_carries_what_is_offered() {
    let run = outcome(web("400 s", json!({})));
    let web = flow(&run, "web");
    // 4 Mb/s / 160 kb = 25/s: 10,000 requests, standard deviation 100.
    let started = web.requests_started.expect("requests");
    assert!((9_600..10_400).contains(&started), "{started}");
    // 200 MB. The sum of a Poisson number of exponential sizes has the standard deviation sqrt(2 x 10,000) x 20 kB =
    // 2.83 MB: 56.6 kb/s.
    close(web.goodput_bps, 4e6, 4.0 * 56.6e3);
    // The number of incomplete requests is at most the number of open connections.
    assert!(started - web.requests_completed.expect("requests") <= u64::from(web.most_open.expect("requests")));
    assert_eq!((web.packets_dropped, web.timeouts), (0, 0));
}

#[test]
fn the_summary_is_that_of_the_table() {
    let mut json = on_link(web("60 s", json!({ "offered": "8 Mb/s" })), "buffer", "20 packets".into());
    json["warm_up"] = "20 s".into();
    let run = outcome(json);
    let (web, rows) = (flow(&run, "web"), table(&run, "request"));
    let [start, size, completion] = ["start_s", "size_bytes", "completion_s"].map(|column| floats(rows, column));
    let measured = || (0..start.len()).filter(|&row| start[row] > 20.0);
    let mut times: Vec<f64> = measured().map(|row| completion[row]).filter(|time| !time.is_nan()).collect();
    times.sort_by(f64::total_cmp);
    assert!(times.len() > 1000 && web.packets_dropped > 100);
    let bytes = |rows: &mut dyn Iterator<Item = usize>| rows.map(|row| size[row]).sum::<f64>() as u64;
    assert_eq!(web.requests_started, Some(measured().count() as u64));
    assert_eq!(web.requests_completed, Some(times.len() as u64));
    assert_eq!(web.requested_bytes, Some(u128::from(bytes(&mut measured()))));
    assert_eq!(web.completed_bytes, Some(bytes(&mut measured().filter(|&row| !completion[row].is_nan()))));
    // The p-th percentile is the smallest time that p % do not exceed: the ceil(n p / 100)-th.
    let percentile = |p: usize| times[(times.len() * p).div_ceil(100) - 1];
    let some = |value: Option<f64>| value.expect("some are complete");
    close(some(web.p50_completion_s), percentile(50), 1e-9);
    close(some(web.p95_completion_s), percentile(95), 1e-9);
    close(some(web.p99_completion_s), percentile(99), 1e-9);
    close(some(web.max_completion_s), times[times.len() - 1], 1e-9);
    close(some(web.mean_completion_s), times.iter().sum::<f64>() / times.len() as f64, 1e-8);
    assert!(start.windows(2).any(|pair| pair[0] > pair[1]), "rows are in the order of completion");
}

#[test]
fn requests_that_came_before_the_measurement_do_not_count() {
    let run = |warm_up: &str| {
        let mut json = web("100 s", json!({ "stop": "50 s" }));
        json["warm_up"] = warm_up.into();
        outcome(json)
    };
    let (whole, half, none) = (run("0 s"), run("25 s"), run("60 s"));
    let started = |outcome| flow(outcome, "web").requests_started.expect("requests");
    let late = floats(table(&whole, "request"), "start_s").iter().filter(|&&start| start > 25.0).count();
    assert_eq!((started(&half), started(&none)), (late as u64, 0));
    assert_eq!((flow(&none, "web").p50_completion_s, flow(&none, "web").most_open), (None, Some(0)));
    assert_eq!(flow(&none, "web").requests_completed, Some(0));
    // All data was delivered long before the end.
    assert_eq!(flow(&whole, "web").requested_bytes, Some(u128::from(flow(&whole, "web").delivered_bytes)));
}

#[test]
fn too_many_open_connections_end_the_run_with_advice() {
    // 20 Mb/s offered to 10 Mb/s: the number of open connections grows without limit.
    let mut json = web("60 s", json!({ "offered": "20 Mb/s", "most_open": 50 }));
    json["verify"] = "replay".into();
    let error = run(&scenario(&json).expect("valid"), &mut Unwatched, None).expect_err("too many");
    assert!(matches!(error, RunError::TooManyOpen { most_open: 50, .. }), "{error:?}");
    let message = error.to_string();
    for part in ["flow.web.most_open: 50 connections are open at", "a larger limit", "flow.web.offered"] {
        assert!(message.contains(part), "{part:?} not in {message:?}");
    }
}

#[test]
fn the_limit_itself_is_allowed() {
    let most = flow(&outcome(web("60 s", json!({}))), "web").most_open.expect("requests");
    assert!(most > 3, "{most}");
    let at_limit = outcome(web("60 s", json!({ "most_open": most })));
    assert_eq!(flow(&at_limit, "web").most_open, Some(most));
    let below = scenario(&web("60 s", json!({ "most_open": most - 1 }))).expect("valid");
    assert!(run(&below, &mut Unwatched, None).is_err());
}

#[test]
fn the_same_seed_gives_the_same_run_and_observing_changes_nothing() {
    let run = |seed: u64, probe: Value| {
        let mut json = on_link(web("30 s", json!({ "offered": "8 Mb/s" })), "buffer", "20 packets".into());
        json["seed"] = seed.into();
        json["probe"] = probe;
        serde_json::to_string(&outcome(json).summary).expect("writes")
    };
    let all = json!({ "interval": "10 ms", "window": true, "drops": true, "segments": true, "events": true,
                      "requests": true });
    assert_eq!(run(1, json!({})), run(1, json!({})));
    assert_eq!(run(1, json!({})), run(1, all));
    assert_ne!(run(1, json!({})), run(2, json!({})));
}

#[test]
fn traffic_stays_the_same_when_the_network_changes() {
    let came = |rate: &str, extra: Value| {
        let mut json = on_link(web("20 s", json!({})), "rate", rate.into());
        json["flow"].as_array_mut().expect("flows").extend(extra.as_array().expect("flows").clone());
        let run = outcome(json);
        let rows = table(&run, "request");
        let mut came: Vec<_> = floats(rows, "start_s").into_iter().zip(floats(rows, "size_bytes")).collect();
        came.sort_by(|a, b| a.0.total_cmp(&b.0));
        came
    };
    let fast = came("100 Mb/s", json!([]));
    assert!(fast.len() > 300);
    assert_eq!(fast, came("6 Mb/s", json!([])));
    let noise = json!([{ "kind": "poisson", "name": "noise", "from": "b", "to": "a", "rate": "1 Mb/s" }]);
    assert_eq!(fast, came("6 Mb/s", noise), "another flow leaves the streams alone");
}

#[test]
fn flows_of_all_kinds_go_together() {
    let mut json = web("20 s", json!({ "offered": "2 Mb/s" }));
    let flows = json["flow"].as_array_mut().expect("flows");
    flows.insert(0, json!({ "kind": "cbr", "name": "c", "from": "b", "to": "a", "rate": "1 Mb/s" }));
    flows.push(json!({ "kind": "tcp", "name": "t", "from": "a", "to": "b", "size": "5 MB" }));
    flows.push(
        json!({ "kind": "requests", "name": "up", "from": "b", "to": "a", "offered": "500 kb/s", "most_open": 300,
                       "size": { "kind": "pareto", "mean": "10 kB", "shape": 1.5, "max": "1 MB" } }),
    );
    json["probe"]["interval"] = "1 s".into();
    json["probe"]["flows"] = json!(["up", "t"]);
    let run = outcome(json);
    let names: Vec<&str> = run.summary.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["t", "c", "web", "up"], "TCP, datagrams, requests");
    let kinds: Vec<&str> = run.summary.flows.iter().map(|flow| flow.kind).collect();
    assert_eq!(kinds, ["tcp", "cbr", "requests", "requests"]);
    assert_eq!(flow(&run, "t").delivered_bytes, 5_000_000);
    let requests = table(&run, "request");
    assert!(floats(requests, "flow").iter().all(|&flow| flow == 3.0), "only the flows chosen");
    assert_eq!(Some(floats(requests, "flow").len() as u64), flow(&run, "up").requests_started);
    // The bins of a flow add up to its deliveries by the last bin, which ends with the run.
    let bins = table(&run, "flow");
    let delivered: f64 = floats(bins, "flow")
        .iter()
        .zip(floats(bins, "delivered_bytes"))
        .filter(|(flow, _)| **flow == 3.0)
        .map(|bin| bin.1)
        .sum();
    close(delivered, flow(&run, "up").delivered_bytes as f64, 0.0);
}

#[test]
fn drops_are_counted_where_they_belong() {
    let mut json = on_link(web("30 s", json!({ "offered": "8 Mb/s" })), "buffer", "10 packets".into());
    json["probe"]["drops"] = true.into();
    let run = outcome(json);
    let drops = table(&run, "drop");
    assert!(flow(&run, "web").packets_dropped > 50);
    assert_eq!(
        floats(drops, "flow").len() as u64,
        link(&run, "a-b").dropped_packets + link(&run, "b-a").dropped_packets
    );
    assert!(floats(drops, "flow").iter().all(|&flow| flow == 0.0));
    let forward = floats(drops, "link").iter().filter(|&&link| link == 0.0).count() as u64;
    assert_eq!(forward, flow(&run, "web").packets_dropped);
}

fn refusal(fields: Value) -> String {
    scenario(&web("10 s", fields)).map(|_| ()).expect_err("must be refused").to_string()
}

#[test]
fn what_cannot_be_is_refused_with_field_value_and_expectation() {
    let pareto = |fields: &str| {
        let size: Value = serde_json::from_str(&format!(r#"{{ "kind": "pareto", {fields} }}"#)).expect("JSON");
        refusal(json!({ "size": size }))
    };
    let size = |fields: &str| {
        let size: Value = serde_json::from_str(&format!("{{ {fields} }}")).expect("JSON");
        refusal(json!({ "size": size }))
    };
    let lognormal = |component: &str, bounds: &str| {
        size(&format!(r#""kind": "lognormal", "components": [{{ {component} }}]{bounds}"#))
    };
    let cdf = |points: &str| size(&format!(r#""kind": "empirical", "cdf": {points}"#));
    let one = r#""weight": 1, "median": "1 kB", "sigma": 1"#;
    let cases = [
        (refusal(json!({ "offered": "0 b/s" })), "flow.web.offered: is 0 b/s; expected more than 0 b/s"),
        (refusal(json!({ "most_open": 0 })), "flow.web.most_open: is 0; expected 1 to 1000000"),
        (refusal(json!({ "most_open": 1_000_001 })), "flow.web.most_open: is 1000001; expected 1 to 1000000"),
        (
            refusal(json!({ "start": "4 s", "stop": "4 s" })),
            "flow.web.stop: is 4 s; expected a time after the start, 4 s",
        ),
        (refusal(json!({ "start": "10 s" })), "flow.web.start: is 10 s; expected a time before the run ends at 10 s"),
        (refusal(json!({ "to": "c" })), "flow.web.to: \"c\" is not a node"),
        (refusal(json!({ "size": "20 kB" })), "flow.web.size: expected a table with a field `kind`"),
        (
            refusal(json!({ "size": { "kind": "zipf" } })),
            "flow.web.size.kind: \"zipf\" is unknown; expected one of fixed, ",
        ),
        (refusal(json!({ "size": { "kind": "fixed", "size": "0 B" } })), "flow.web.size.size: is 0 B; expected 1 to"),
        (
            refusal(json!({ "size": { "kind": "exponential", "mean": "99 B" } })),
            "flow.web.size.mean: is 99 B; expected 100 to",
        ),
        (
            refusal(json!({ "size": { "kind": "exponential", "mean": "1 kB", "max": "2 kB" } })),
            "flow.web.size.max: is unknown; expected mean",
        ),
        (pareto(r#""mean": "1 kB", "shape": 1.0"#), "flow.web.size.shape: is 1; expected more than 1"),
        (pareto(r#""mean": "1 kB", "shape": -2.0"#), "flow.web.size.shape: is -2; expected more than 1"),
        (
            pareto(r#""mean": "1 kB", "shape": 1.5, "max": "1 kB""#),
            "flow.web.size.max: is 1000 B; expected more than the mean, 1000 B",
        ),
        (pareto(r#""mean": "1 kB""#), "flow.web.size.shape: is missing; expected a number"),
        (size(r#""kind": "campus", "mean": "99 B""#), "flow.web.size.mean: is 99 B; expected 100 to"),
        (
            size(r#""kind": "campus", "mean": "1 GB""#),
            "flow.web.size.mean: is 1000000000 B; expected 100 B to 282582 B",
        ),
        (size(r#""kind": "web_search", "mean": "1 B""#), "flow.web.size.mean: is 1 B; expected 100"),
        (size(r#""kind": "lognormal", "components": []"#), "flow.web.size.components: is empty"),
        (
            lognormal(r#""weight": 0, "median": "1 kB", "sigma": 1"#, ""),
            "flow.web.size.components.0.weight: is 0; expected",
        ),
        (
            lognormal(r#""weight": 1, "median": "1 kB", "sigma": 11"#, ""),
            "flow.web.size.components.0.sigma: is 11; expected",
        ),
        (
            lognormal(r#""weight": 1, "median": "0 B", "sigma": 1"#, ""),
            "flow.web.size.components.0.median: is 0 B; expected",
        ),
        (
            lognormal(one, r#", "min": "2 kB", "max": "1 kB""#),
            "flow.web.size.max: is 1000 B; expected more than min, 2000 B",
        ),
        (lognormal(one, r#", "min": "2 GB""#), "flow.web.size: has almost no sizes between 2000000000 B and"),
        (size(r#""kind": "empirical""#), "flow.web.size: has both or neither of `cdf` and `file`"),
        (size(r#""kind": "empirical", "file": "s.csv""#), "flow.web.size.file: \"s.csv\" has not been read"),
        (cdf("[]"), "flow.web.size.cdf: is empty"),
        (cdf("[[1000, 0.5], [2000, 0.9]]"), "flow.web.size.cdf: rises to 0.9; expected 1 at the last point, or 100"),
        (cdf("[[1000, 0.5], [900, 1]]"), "flow.web.size.cdf.1: is 900 B, 1 after 1000 B, 0.5; expected"),
        (cdf("[[1000, 0.5], [2000, 0.4], [3000, 1]]"), "flow.web.size.cdf.1: is 2000 B, 0.4 after"),
        (cdf("[[0, 0.5], [2000, 1]]"), "flow.web.size.cdf.0: is 0 B; expected 1 to"),
        (cdf("[[1000, -0.5], [2000, 1]]"), "flow.web.size.cdf.0: has the share -0.5; expected 0 to 1"),
        (cdf("[[-1, 0.5], [2000, 1]]"), "flow.web.size.cdf.0.0: is -1; expected "),
        (cdf("[[1000, \"x\"], [2000, 1]]"), "flow.web.size.cdf.0.1: is \"x\"; expected "),
        (refusal(json!({ "tcp": { "mss": "9 kB" } })), "flow.web.tcp.mss: is 9000 B"),
    ];
    for (message, start) in cases {
        assert!(message.starts_with(start), "{message:?} does not start with {start:?}");
    }
    let scripted = json!({ "kind": "scripted", "drops": [{ "flow": "web", "packets": [1] }] });
    let message = scenario(&on_link(web("10 s", json!({})), "loss", scripted)).expect_err("refused").to_string();
    assert!(message.starts_with("link.a-b.loss.drops.0.flow: \"web\" does not cross the link"), "{message}");
}

#[test]
fn every_law_offers_what_was_asked_for() {
    let laws = [
        json!({ "kind": "campus", "mean": "15 kB" }),
        json!({ "kind": "web_search", "mean": "15 kB" }),
        json!({ "kind": "empirical", "cdf": [[10_000, 0.5], [30_000, 1.0]] }),
        json!({ "kind": "lognormal", "components": [{ "weight": 2, "median": "2 kB", "sigma": 1 },
                { "weight": 1, "median": "30 kB", "sigma": 0.5 }], "max": "1 MB" }),
    ];
    let came = laws.map(|size| {
        let run = outcome(web("100 s", json!({ "size": size })));
        let requested = flow(&run, "web").requested_bytes.expect("requests") as f64;
        // 4 Mb/s x 100 s = 50 MB. Web search has the largest spread, E X^2 / (E X)^2 = 8: 3,333 requests of 15 kB have
        // the standard deviation sqrt(8 x 3,333) x 15 kB = 2.4 MB.
        close(requested, 50e6, 4.0 * 2.4e6);
        floats(table(&run, "request"), "start_s").len()
    });
    // Arrivals at 4 Mb/s over the mean: the same number for the first two, which have the same mean.
    assert_eq!(came[0], came[1]);
}

#[test]
fn more_than_a_link_carries_is_warned_of() {
    let warnings = |offered: &str| scenario(&web("10 s", json!({ "offered": offered }))).expect("valid").warnings();
    assert!(warnings("9.9 Mb/s").is_empty());
    let warned = warnings("12 Mb/s");
    assert_eq!(warned.len(), 1, "data goes one way");
    assert!(
        warned[0]
            .starts_with("link.a-b: requests offer 12.000 Mb/s of data to 10 Mb/s, a load of 1.200; expected less"),
        "{warned:?}"
    );
}

/// A link whose rate practRA scales.
fn practra() -> Value {
    json!({ "kind": "practra", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" }, "transition": "2 ms",
            "min_interval": "16 ms", "delay_bound": "40 ms" })
}

#[test]
fn nothing_is_lost_track_of_with_losses_and_a_link_that_sleeps() {
    // Packets are lost at random in both directions, dropped by a short buffer and by CoDel, and delayed by pauses.
    // The verifiers check every packet, every slot and every byte of every connection.
    for (queue, seed) in [(json!({ "kind": "drop_tail" }), 3), (json!({ "kind": "codel" }), 4)] {
        let mut json = web("120 s", json!({ "size": { "kind": "pareto", "mean": "20 kB", "shape": 1.35 } }));
        json["seed"] = seed.into();
        let back = json!({ "from": "b", "to": "a", "rate": "10 Mb/s", "delay": "5 ms",
                           "loss": { "kind": "bernoulli", "probability": 0.03 } });
        json["link"][0]["duplex"] = false.into();
        json["link"].as_array_mut().expect("links").push(back);
        let json = on_link(json, "queue", queue);
        let json = on_link(json, "loss", json!({ "kind": "bernoulli", "probability": 0.03 }));
        let run = outcome(on_link(on_link(json, "buffer", "20 packets".into()), "controller", practra()));
        let web = flow(&run, "web");
        assert!(link(&run, "a-b").rate_changes > 100 && link(&run, "a-b").lost_packets > 500);
        assert!(web.requests_completed > Some(2000) && web.timeouts > 100, "{web:?}");
    }
}

fn any_scenario() -> impl Strategy<Value = Value> {
    let size = prop_oneof![
        (1_u64..50_000).prop_map(|size| json!({ "kind": "fixed", "size": format!("{size} B") })),
        (100_u64..50_000).prop_map(|mean| json!({ "kind": "exponential", "mean": format!("{mean} B") })),
        (100_u64..50_000, 1.05..3.0_f64, proptest::option::of(2_u64..100)).prop_map(|(mean, shape, times)| {
            let mut size = json!({ "kind": "pareto", "mean": format!("{mean} B"), "shape": shape });
            if let Some(times) = times {
                size["max"] = format!("{} B", mean * times).into();
            }
            size
        }),
    ];
    let tcp = proptest::sample::select(vec!["new_reno", "sack", "cubic", "bbr", "vegas", "compound", "dctcp"]);
    let link = (1_u64..20, 1_u64..700, 2_u64..50, prop_oneof![Just(0.0), 0.0..0.2_f64], any::<bool>());
    (size, tcp, link, 10_u64..3_000, 1_u64..40, any::<u32>()).prop_map(
        |(size, tcp, (mbps, delay, buffer, loss, scaled), kbps, most_open, seed)| {
            let mut json = web(
                "20 s",
                json!({ "size": size, "offered": format!("{kbps} kb/s"), "most_open": most_open, "stop": "15 s",
                        "tcp": { "congestion_control": tcp, "delayed_ack": seed % 2 == 0 } }),
            );
            json["seed"] = seed.into();
            json["warm_up"] = format!("{} s", seed % 5).into();
            let way = |from: &str, to: &str, rate: u64, delay: u64, loss: f64| {
                json!({ "from": from, "to": to, "rate": format!("{rate} Mb/s"), "delay": format!("{delay} ms"),
                        "buffer": format!("{buffer} packets"), "loss": { "kind": "bernoulli", "probability": loss } })
            };
            // a - r - s - b, with the bottleneck in the middle.
            let mut links = [way("r", "s", mbps, delay, loss), way("s", "r", 10, 7, loss)];
            if scaled {
                links[0]["rate"] = "10 Mb/s".into();
                links[0]["controller"] = practra();
            }
            let mut sides = [way("a", "r", 100, 1, 0.0), way("s", "b", 30, 3, 0.0)];
            sides.iter_mut().for_each(|side| side["duplex"] = true.into());
            json["nodes"] = json!(["a", "r", "s", "b"]);
            json["link"] = links.into_iter().chain(sides).collect();
            json
        },
    )
}

/// The results of a run without the verifier's count: the summary and the table of requests, or the error.
fn told(mut json: Value, verify: &str) -> Result<(Value, Vec<Vec<u64>>), String> {
    json["verify"] = verify.into();
    let outcome = run(&scenario(&json).expect("valid"), &mut Unwatched, None).map_err(|error| error.to_string())?;
    let mut summary = serde_json::to_value(&outcome.summary).expect("writes");
    summary.as_object_mut().expect("a table").retain(|key, _| key != "verify" && key != "checks");
    let rows = table(&outcome, "request");
    let columns = rows.columns.iter().map(|(name, _)| floats(rows, name).iter().map(|x| x.to_bits()).collect());
    Ok((summary, columns.collect()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    /// For any scenario, the verifiers find no violation, or the run ends with too many open connections. Following
    /// every packet changes nothing.
    #[test]
    fn any_small_scenario_adds_up(json in any_scenario()) {
        let replayed = told(json.clone(), "replay");
        prop_assert_eq!(&told(json.clone(), "ledger"), &replayed);
        let (summary, _) = match replayed {
            Ok(told) => told,
            Err(message) => {
                prop_assert!(message.starts_with("flow.web.most_open"), "{}", message);
                return Ok(());
            }
        };
        let web = &summary["flows"][0];
        let number = |field: &str| web[field].as_f64().unwrap_or(0.0);
        prop_assert!(number("requests_completed") <= number("requests_started"));
        prop_assert!(number("completed_bytes") <= number("requested_bytes"));
        prop_assert!(number("most_open") <= json["flow"][0]["most_open"].as_f64().expect("set"));
        let times = ["p50", "p95", "p99", "max"].map(|name| number(&format!("{name}_completion_s")));
        prop_assert!(times.is_sorted() && number("mean_completion_s") <= times[3], "{:?}", times);
    }
}
