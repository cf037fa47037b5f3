//! Parts of a run with separate measurements.

use crate::common::{close, flow, in_words, link, outcome, scenario};
use netlull_sim::run::{LinkPhase, RunOutcome};
use serde_json::{Value, json};

/// TCP, web requests and datagrams over a practRA link. Two phases divide the measured time, and a third covers all of
/// it.
fn busy(phases: &Value) -> Value {
    let controller = json!({
        "kind": "practra", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" },
        "transition": "2 ms", "min_interval": "16 ms", "delay_bound": "40 ms",
    });
    json!({
        "duration": "12 s", "warm_up": "2 s", "seed": 7,
        "nodes": ["a", "N1", "N2", "b"],
        "link": [
            { "from": "a", "to": "N1", "duplex": true, "rate": "100 Mb/s", "delay": "1 ms", "buffer": "unlimited" },
            { "from": "N1", "to": "N2", "rate": "10 Mb/s", "delay": "20 ms", "buffer": "20 packets", "controller": controller },
            { "from": "N2", "to": "N1", "rate": "10 Mb/s", "delay": "20 ms", "buffer": "unlimited" },
            { "from": "N2", "to": "b", "duplex": true, "rate": "8 Mb/s", "delay": "1 ms", "buffer": "15 packets" },
        ],
        "flow": [
            { "kind": "tcp", "name": "t", "from": "a", "to": "b" },
            { "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "1 Mb/s", "packet": "500 B" },
            { "kind": "requests", "name": "w", "from": "a", "to": "b", "offered": "2 Mb/s", "size": { "kind": "exponential", "mean": "20 kB" } },
        ],
        "phase": phases,
    })
}

fn phase<'a>(run: &'a RunOutcome, phase: &str, link: &str) -> &'a LinkPhase {
    run.summary.phase.get(phase).and_then(|phase| phase.link.get(link)).expect("a phase and a link of that name")
}

#[test]
fn phases_that_make_up_the_run_add_up_to_it() {
    // At the boundary, packets wait and propagate, and the rate is changing.
    let run = outcome(busy(&json!([
        { "name": "all" }, { "name": "early", "to": "6.4321 s" }, { "name": "late", "from": "6.4321 s" },
    ])));
    for name in ["a-N1", "N1-N2", "N2-N1", "N2-b"] {
        let (whole, all) = (link(&run, name), phase(&run, "all", name));
        let (early, late) = (phase(&run, "early", name), phase(&run, "late", name));
        let counts =
            |part: &LinkPhase| [part.offered_packets, part.dropped_packets, part.delivered_bytes, part.rate_changes];
        let total = [whole.offered_packets, whole.dropped_packets, whole.delivered_bytes, whole.rate_changes];
        assert_eq!(counts(all), total, "{name}");
        let sum: Vec<u64> = counts(early).iter().zip(counts(late)).map(|(a, b)| a + b).collect();
        assert_eq!(sum, total, "{name}");
        // Means over 4.4321 s and 5.5679 s of the measured 10 s.
        let mean = |of: fn(&LinkPhase) -> f64| (of(early) * 4.4321 + of(late) * 5.5679) / 10.0;
        close(mean(|part| part.mean_rate_bps), whole.mean_rate_bps, 1e-3);
        close(mean(|part| part.mean_queue_packets), whole.mean_queue_packets, 1e-9);
        close(mean(|part| part.throughput_bps), whole.throughput_bps, 1e-3);
        close(all.utilisation, whole.utilisation, 1e-12);
        for model in ["fs", "dvs", "ncs-55a1-24h"] {
            let joules = |part: &LinkPhase| part.energy.get(model).map_or(f64::NAN, |energy| energy.total_j);
            let total = whole.energy.get(model).map_or(f64::NAN, |energy| energy.total_j);
            close(joules(early) + joules(late), total, 1e-9 * total);
        }
    }
    assert!(phase(&run, "early", "N1-N2").rate_changes > 0 && phase(&run, "late", "N1-N2").rate_changes > 0);
    for flow in &run.summary.flows {
        let delivered = |name: &str| {
            run.summary
                .phase
                .get(name)
                .and_then(|phase| phase.flow.get(&flow.name))
                .map_or(0, |flow| flow.delivered_bytes)
        };
        assert_eq!(delivered("early") + delivered("late"), flow.delivered_bytes, "{}", flow.name);
        assert!(delivered("early") > 0 && delivered("late") > 0, "{}", flow.name);
    }
    // Requests that arrived in the measured time arrived in one of the phases. Those of the whole have its statistics.
    let web = flow(&run, "w");
    let requests = |name: &str| {
        let found = run.summary.phase.get(name).and_then(|phase| phase.flow.get("w")).expect("a phase and its flow");
        found.requests.clone().expect("a flow of requests")
    };
    let (all, early, late) = (requests("all"), requests("early"), requests("late"));
    assert!(early.requests_started > 0 && late.requests_started > 0);
    assert_eq!(Some(early.requests_started + late.requests_started), web.requests_started);
    assert_eq!(Some(early.requests_completed + late.requests_completed), web.requests_completed);
    assert_eq!(
        (Some(all.requests_started), Some(all.requests_completed)),
        (web.requests_started, web.requests_completed)
    );
    let times = [all.times.mean_completion_s, all.times.p50_completion_s, all.times.p95_completion_s];
    assert_eq!(times, [web.mean_completion_s, web.p50_completion_s, web.p95_completion_s]);
    let goodput: f64 = run.summary.flows.iter().map(|flow| flow.goodput_bps).sum();
    close(run.summary.goodput_bps, goodput, 1e-3);
    close(run.summary.phase.get("all").map_or(0.0, |all| all.goodput_bps), goodput, 1e-3);
}

#[test]
fn a_step_of_the_capacity_is_seen_in_its_phase_alone() {
    // 1 Mb/s until 4 s, then 250 kb/s, with 400 kb/s of datagrams: 50,000 B per second arrive, 31,250 B are carried
    // from 4 s on.
    let run = outcome(json!({
        "duration": "8 s",
        "nodes": ["a", "b"],
        "link": [{
            "from": "a", "to": "b", "rate": "1 Mb/s", "delay": "1 ms", "buffer": "10 packets",
            "capacity": { "kind": "steps", "steps": [{ "at": "4 s", "rate": "250 kb/s" }] },
        }],
        "flow": [{ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "400 kb/s", "packet": "500 B" }],
        "phase": [{ "name": "wide", "to": "4 s" }, { "name": "narrow", "from": "5 s", "to": "8 s" }],
    }));
    let (wide, narrow) = (phase(&run, "wide", "a-b"), phase(&run, "narrow", "a-b"));
    assert_eq!((wide.mean_rate_bps, narrow.mean_rate_bps), (1e6, 250e3));
    assert_eq!((wide.dropped_packets, wide.mean_queue_packets), (0, 0.0));
    // A packet arrives every 10 ms and departs every 16 ms. A queue of 10 is full after 27 arrivals (270 ms).
    assert_eq!(narrow.offered_packets, 300);
    close(narrow.throughput_bps, 250e3, 250e3 / 187.0);
    close(narrow.utilisation, 1.0, 0.006);
    assert!(narrow.mean_queue_packets > 9.0 && narrow.mean_queue_packets <= 10.0, "{}", narrow.mean_queue_packets);
    assert!(run.summary.phase.get("wide").is_some_and(|wide| wide.from_s == 0.0 && wide.to_s == 4.0));
}

#[test]
fn transfers_belong_to_the_phase_in_which_they_start() {
    // 8 Mb/s: a byte takes 1 us. SYN and SYN+ACK have 60 B: 2 x 10.060 ms. The data of S bytes has a header of 52 B: 10.052
    // ms + S us. Its acknowledgement has 52 B: 10.052 ms. On an idle link a transfer takes 40.224 ms + S us.
    let tcp = |name: &str, size: &str, start: &str| json!({ "kind": "tcp", "name": name, "from": "a", "to": "b", "size": size, "start": start });
    // 50 B to 1000 B. The last starts 20 ms before the evening and ends in it.
    let mut flows: Vec<Value> =
        (1..=19).map(|n| tcp(&format!("n{n}"), &format!("{} B", 50 * n), &format!("{} ms", 400 * n))).collect();
    flows.push(tcp("over", "1000 B", "9.98 s"));
    // Four of 1448 B, the first at the very start of the evening; and one that the end of the run cuts off.
    flows.extend((0..4).map(|n| tcp(&format!("e{n}"), "1448 B", &format!("{} ms", 10_000 + 500 * n))));
    flows.push(tcp("late", "1448 B", "19.97 s"));
    // An endless flow is no transfer.
    flows.push(tcp("endless", "endless", "19.99 s"));
    let run = outcome(json!({
        "duration": "20 s",
        "nodes": ["a", "b"],
        "link": [{ "from": "a", "to": "b", "duplex": true, "rate": "8 Mb/s", "delay": "10 ms" }],
        "flow": flows,
        "phase": [
            { "name": "night", "to": "10 s" }, { "name": "evening", "from": "10 s" },
            { "name": "quiet", "from": "12 s", "to": "19 s" },
        ],
    }));
    let transfers = |name: &str| run.summary.phase.get(name).expect("a phase").transfers.clone();
    let is = |found: Option<f64>, ms: f64| close(found.expect("completed transfers"), ms / 1e3, 1e-9);
    let night = transfers("night");
    assert_eq!((night.started, night.completed, night.unfinished), (20, 20, 0));
    assert!(night.unfinished_flows.is_empty());
    // Half of 20 are 10, 95 % are 19, 99 % are 19.8, so 20. The mean of the sizes is 525 B.
    is(night.times.p50_completion_s, 40.224 + 0.5);
    is(night.times.p95_completion_s, 40.224 + 0.95);
    is(night.times.p99_completion_s, 40.224 + 1.0);
    is(night.times.max_completion_s, 40.224 + 1.0);
    is(night.times.mean_completion_s, 40.224 + 0.525);
    let evening = transfers("evening");
    assert_eq!((evening.started, evening.completed, evening.unfinished), (5, 4, 1));
    assert_eq!(evening.unfinished_flows, ["late"]);
    is(evening.times.p50_completion_s, 40.224 + 1.448);
    is(evening.times.max_completion_s, 40.224 + 1.448);
    let quiet = transfers("quiet");
    assert_eq!((quiet.started, quiet.times.p99_completion_s), (0, None));
    let written = serde_json::to_value(&run.summary).expect("JSON");
    assert_eq!(written["phase"]["evening"]["transfers"]["unfinished"], 1);
    assert!(written["phase"]["night"]["transfers"]["p95_completion_s"].is_f64());
    assert!(written["phase"]["night"]["flow"]["n1"].get("requests_started").is_none());
}

#[test]
fn looking_changes_nothing() {
    let mut plain = outcome(busy(&json!([])));
    let looked = outcome(busy(
        &json!([{ "name": "x", "from": "3 s", "to": "3.5 s" }, { "name": "y", "from": "2 s", "to": "5 s" }]),
    ));
    assert!(!in_words(&plain).0.contains("\"phase\""));
    plain.summary.phase = looked.summary.phase.clone();
    assert_eq!(in_words(&plain), in_words(&looked));
}

#[test]
fn wrong_phases_are_named() {
    let refused = |phases: Value| scenario(&busy(&phases)).expect_err("must be refused").to_string();
    let of = |from: &str, to: &str| json!([{ "name": "p", "from": from, "to": to }]);
    assert!(
        refused(of("1 s", "5 s"))
            .starts_with("phase.p.from: is 1 s; expected a time from the end of the warm-up (2 s)")
    );
    assert!(refused(of("12 s", "12 s")).starts_with("phase.p.from: is 12 s"));
    assert!(refused(of("5 s", "5 s")).starts_with("phase.p.to: is 5 s; expected a time after the phase begins (5 s)"));
    assert!(refused(of("5 s", "13 s")).starts_with("phase.p.to: is 13 s"));
    assert!(refused(json!([{ "name": "p" }, { "name": "p" }])).starts_with("phase.1.name: \"p\" is named twice"));
    assert!(refused(json!([{ "name": "a.b" }])).starts_with("phase.0.name: \"a.b\" is not a valid name"));
}
