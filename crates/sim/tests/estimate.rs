//! The expected work of runs: arithmetic on scenarios.
use crate::common::{close, outcome, scenario};
use serde_json::{Value, json};

fn hops(json: &Value) -> f64 {
    scenario(json).expect("a sound scenario").expected_hops()
}

/// a - b - c in both directions, 12 Mb/s on a-b and 24 Mb/s on b-c: 1,000 and 2,000 packets of 1,500 bytes per second.
fn line(duration: &str, flows: Value) -> Value {
    json!({ "duration": duration, "nodes": ["a", "b", "c"], "flow": flows, "link": [
        { "from": "a", "to": "b", "duplex": true, "rate": "12 Mb/s", "delay": "5 ms", "buffer": "100 packets" },
        { "from": "b", "to": "c", "duplex": true, "rate": "24 Mb/s", "delay": "5 ms", "buffer": "100 packets" },
    ] })
}

#[test]
fn a_flow_fills_the_narrowest_link_of_its_path() {
    // 1,000 segments per second for 10 s, each over two links, and acknowledgements over two reverse links.
    let tcp = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "c" });
    close(hops(&line("10 s", json!([tcp]))), 40_000.0, 1e-6);
    // Only the wide link: 2,000 segments per second in both directions, in the last 4 s of 10 s: 2,000 * 2 * 4.
    let tcp = json!({ "kind": "tcp", "name": "t", "from": "b", "to": "c", "start": "6 s" });
    close(hops(&line("10 s", json!([tcp]))), 16_000.0, 1e-6);
}

#[test]
fn flows_share_a_link_and_a_transfer_ends() {
    // Two flows at 500 segments per second on four hops each: the same as one flow at 1,000.
    let two = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "c", "count": 2 });
    close(hops(&line("10 s", json!([two]))), 40_000.0, 1e-6);
    // 146,000 bytes are 100 segments of 1,460 bytes. In 10 ms the link carries ten of them.
    let tcp = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "c", "size": "146 kB" });
    close(hops(&line("10 s", json!([tcp]))), 400.0, 1e-6);
    close(hops(&line("10 ms", json!([tcp]))), 40.0, 1e-6);
}

#[test]
fn datagrams_take_their_rate_from_tcp() {
    // 3 Mb/s in a third of the time: a mean of 1 Mb/s for 10 s is 833.3 packets of 1,500 B over two links. TCP gets 11
    // of 12 Mb/s: 916.7 segments per second on four hops for 10 s.
    let bursts = json!({ "kind": "bursts", "name": "b", "from": "a", "to": "c", "rate": "3 Mb/s",
                         "cycle": "300 ms", "mean_on": "100 ms" });
    let tcp = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "c" });
    close(hops(&line("10 s", json!([bursts]))), 2.0 * 10e6 / 12e3, 1e-6);
    close(hops(&line("10 s", json!([tcp, bursts]))), 4.0 * 110e6 / 12e3 + 2.0 * 10e6 / 12e3, 1e-6);
    // From 2 s to 5 s of 10 s at 1.2 Mb/s: 100 packets per second on one hop.
    let cbr = json!({ "kind": "cbr", "name": "c", "from": "b", "to": "c", "rate": "1.2 Mb/s", "start": "2 s", "stop": "5 s" });
    close(hops(&line("10 s", json!([cbr]))), 300.0, 1e-6);
    // More than the link's capacity: TCP keeps a hundredth of it.
    let flood = json!({ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "24 Mb/s" });
    let tcp = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "b" });
    close(hops(&line("10 s", json!([tcp, flood]))), 20_000.0 + 2.0 * 100.0, 1e-6);
}

#[test]
fn a_run_of_hours_warns_whatever_its_traffic() {
    let warned = |flow: Value| {
        let warnings = scenario(&line("10 s", json!([flow]))).expect("a sound scenario").warnings();
        warnings.into_iter().find(|warning| warning.starts_with("duration: "))
    };
    let datagrams = |kind: &str, rate: &str| {
        let mut flow = json!({ "kind": kind, "name": "c", "from": "a", "to": "c", "rate": rate });
        if kind == "bursts" {
            (flow["cycle"], flow["mean_on"]) = ("300 ms".into(), "300 ms".into());
        }
        warned(flow)
    };
    for kind in ["cbr", "poisson", "bursts"] {
        // 10 Pb are 8.3e11 packets of 1,500 bytes, on two hops each.
        let told = datagrams(kind, "1e15 b/s").unwrap_or_default();
        assert!(told.contains("10 s with this traffic takes about 1.7e12 packet-hops and 46 hours"), "{kind}: {told}");
        assert_eq!(datagrams(kind, "1 Gb/s"), None);
    }
    assert_eq!(warned(json!({ "kind": "tcp", "name": "t", "from": "a", "to": "c" })), None);
}

#[test]
fn requests_count_with_their_set_up() {
    // 1.168 Mb/s of payload are 100 requests of 1,460 B per second for 10 s. Each has a full segment and 2.5 others,
    // on four hops each.
    let web = json!({ "kind": "requests", "name": "w", "from": "a", "to": "c", "offered": "1.168 Mb/s",
                      "size": { "kind": "fixed", "size": "1460 B" } });
    close(hops(&line("10 s", json!([web]))), 1000.0 * 3.5 * 4.0, 1e-6);
}

#[test]
fn a_varying_capacity_counts_with_its_mean() {
    let mut json = line("10 s", json!([{ "kind": "tcp", "name": "t", "from": "a", "to": "b" }]));
    json["link"][0]["duplex"] = false.into();
    json["link"].as_array_mut().expect("links").push(json!({ "from": "b", "to": "a", "rate": "12 Mb/s" }));
    json["link"][0]["capacity"] =
        json!({ "kind": "uniform_redraw", "min": "2 Mb/s", "max": "10 Mb/s", "mean_interval": "1 s" });
    // 6 Mb/s: 500 segments per second on two hops each.
    close(hops(&json), 10_000.0, 1e-6);
}

#[test]
fn what_is_expected_is_near_what_happens() {
    // A flow that fills the link, with every segment acknowledged: within a fifth, because of slow start and losses.
    let tcp = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "c", "tcp": { "delayed_ack": false } });
    let json = line("60 s", json!([tcp]));
    let expected = hops(&json);
    let found = outcome(json).summary.packet_hops as f64;
    close(found, expected, 0.2 * expected);
}

#[test]
fn memory_is_expected_from_backlogs_and_tables() {
    let memory = |json: &Value| scenario(json).expect("a sound scenario").expected_memory();
    let flood = json!({ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "24 Mb/s" });
    let mut json = line("10 s", json!([flood]));
    let bounded = memory(&json);
    json["link"][0]["buffer"] = "unlimited".into();
    // Half of 20,000 packets wait, in a ring for 16,384. A buffer of 100 packets needs one for 128.
    let backlog = memory(&json);
    close(backlog / bounded, 128.0, 1e-6);
    json["probe"] = json!({ "interval": "1 ms" });
    // 10,000 bins of four links and a flow, in rows of seven columns.
    close(memory(&json) - backlog, 10_000.0 * 5.0 * 56.0, 1e-6);
}

#[test]
fn redraws_of_a_capacity_are_work() {
    let mut json = line("1000 s", json!([{ "kind": "tcp", "name": "t", "from": "a", "to": "c" }]));
    let mut told = |interval: &str| {
        json["link"][0]["capacity"] =
            json!({ "kind": "uniform_redraw", "min": "1 Mb/s", "max": "12 Mb/s", "mean_interval": interval });
        let warnings = scenario(&json).expect("a sound scenario").warnings();
        warnings.into_iter().find(|warning| warning.starts_with("duration: "))
    };
    // 10^12 redraws of the link there (the one back has a fixed rate), and at most 4,000 packet-hops a second.
    let warning = told("1 ns").unwrap_or_default();
    assert!(warning.contains("about 1.0e12 packet-hops and redraws and 28 hours"), "{warning}");
    assert_eq!(told("1 ms"), None);
}
