//! Wireless stations: radios that sleep, the client's shaper, power-saving mode and bounded slowdown, in whole runs.

mod common;

use common::{floats, outcome, table, words};
use netlull_sim::run::{RunOutcome, StationSummary};
use serde_json::{Value, json};

/// A download of 1 MB over 60 ms: 100 Mb/s to the access point, 20 Mb/s over the air.
fn download(mechanism: &Value) -> Value {
    json!({
        "duration": "30 s",
        "nodes": ["server", "ap", "client"],
        "tcp": { "timestamps": true, "receive_buffer": "64 KiB", "window_scaling": false },
        "link": [
            { "from": "server", "to": "ap", "duplex": true, "rate": "100 Mb/s", "delay": "29.5 ms", "buffer": "unlimited" },
            { "from": "ap", "to": "client", "duplex": true, "rate": "20 Mb/s", "delay": "0 ms", "buffer": "unlimited" }
        ],
        "flow": [{ "kind": "tcp", "name": "download", "from": "server", "to": "client", "size": "4.5 MB" }],
        "station": [{ "nodes": ["client"], "mechanism": mechanism }],
        "probe": { "stations": true }
    })
}

fn station(outcome: &RunOutcome) -> &StationSummary {
    &outcome.summary.stations[0]
}

#[test]
fn look() {
    for mechanism in [
        Value::Null,
        json!({ "kind": "eager" }),
        json!({ "kind": "client_shaper" }),
        json!({ "kind": "psm", "access_point": { "poll": "all" } }),
        json!({ "kind": "psm" }),
        json!({ "kind": "bsd" }),
    ] {
        let outcome = outcome(download(&mechanism));
        let s = station(&outcome);
        println!("{} {}", mechanism, serde_json::to_string(s).unwrap());
        let air = table(&outcome, "air");
        println!("{}", words(air, "kind").len());
        if mechanism["kind"] == "client_shaper" {
            let (t, e, k, q) = (floats(air, "time_s"), floats(air, "end_s"), words(air, "kind"), floats(air, "seq"));
            for i in 0..k.len().min(300) { println!("{:.6} {:.6} {} {}", t[i], e[i], k[i], q[i]); }
        }
    }
}
