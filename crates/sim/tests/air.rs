//! Airs that links share: packets of all their links take turns. Every run is verified packet by packet.

use crate::common::{close, flow, link, outcome, scenario};
use netlull_sim::emulation::plan;
use serde_json::{Value, json};

/// Two clients behind an access point with 12 Mb/s of air each way, and datagrams of 1500 B: 1 ms of air.
fn cell(air: &Value, links: &Value, flows: &Value) -> Value {
    let mut cell = json!({
        "duration": "1 s",
        "nodes": ["server", "ap", "one", "two"],
        "link": [
            { "from": "server", "to": "ap", "duplex": true, "rate": "12 Gb/s", "buffer": "unlimited" },
            { "from": "ap", "to": "one", "duplex": true, "rate": "12 Mb/s", "buffer": "unlimited" },
            { "from": "ap", "to": "two", "duplex": true, "rate": "12 Mb/s", "buffer": "unlimited" }
        ],
        "air": air,
        "flow": flows
    });
    for place in [1, 2] {
        for (field, value) in links.as_object().expect("fields") {
            cell["link"][place][field] = value.clone();
        }
    }
    cell
}

fn shared(overhead: &str) -> Value {
    json!([{ "name": "cell", "overhead": overhead }])
}

fn datagrams(to: &str, rate: &str) -> Value {
    json!({ "kind": "cbr", "name": to, "from": "server", "to": to, "rate": rate, "packet": "1500 B" })
}

#[test]
fn packets_of_two_links_wait_for_each_other_by_hand() {
    // 3 Mb/s: a datagram to each client every 4 ms. The second reaches the access point 1 us after the first, the
    // wire's time for a packet, and waits for the rest of its 1.5 ms: 1.499 ms.
    let flows = json!([datagrams("one", "3 Mb/s"), datagrams("two", "3 Mb/s")]);
    let alone = outcome(cell(&json!([]), &json!({}), &flows));
    let together = outcome(cell(&shared("500 us"), &json!({ "air": "cell" }), &flows));
    close(link(&alone, "ap-two").mean_wait_s, 0.0, 1e-12);
    close(link(&together, "ap-one").mean_wait_s, 0.0, 1e-12);
    close(link(&together, "ap-two").mean_wait_s, 0.001_499, 1e-9);
}

#[test]
fn two_saturated_links_share_one_rate() {
    let delivered = |air: &Value, links: &Value| {
        let flows = json!([datagrams("one", "12 Mb/s"), datagrams("two", "12 Mb/s")]);
        let outcome = outcome(cell(air, links, &flows));
        ["ap-one", "ap-two"].map(|name| link(&outcome, name).delivered_packets)
    };
    let near = |found: [u64; 2], expected: u64| {
        assert!(found.iter().all(|&found| found.abs_diff(expected) <= 2), "found {found:?}, expected {expected}");
    };
    // In 1 s: 1000 packets each; 500 of both over one air; 1 s / 1.25 ms = 800, or 400 each, with the overhead.
    near(delivered(&json!([]), &json!({})), 1000);
    near(delivered(&shared("0 s"), &json!({ "air": "cell" })), 500);
    near(delivered(&shared("250 us"), &json!({ "air": "cell" })), 400);
}

#[test]
fn the_buffer_of_a_link_holds_packets_that_wait_for_the_air() {
    let flows = json!([datagrams("one", "12 Mb/s"), datagrams("two", "12 Mb/s")]);
    let outcome = outcome(cell(&shared("0 s"), &json!({ "air": "cell", "buffer": "5 packets" }), &flows));
    for name in ["ap-one", "ap-two"] {
        let link = link(&outcome, name);
        assert!(link.dropped_packets > 400, "{name} dropped {}", link.dropped_packets);
        assert_eq!(link.max_queue_packets, 5);
    }
}

/// Downloads of 1 MB to both clients, with a mechanism at their stations.
fn downloads(mechanism: &Value) -> Value {
    let download = |to: &str| json!({ "kind": "tcp", "name": to, "from": "server", "to": to, "size": "1 MB" });
    let flows = json!([download("one"), download("two")]);
    let mut cell = cell(&shared("200 us"), &json!({ "air": "cell" }), &flows);
    cell["duration"] = "60 s".into();
    cell["link"][0]["delay"] = "29.5 ms".into();
    cell["tcp"] = json!({ "timestamps": true, "receive_buffer": "16 KiB", "window_scaling": false });
    cell["station"] = json!([{ "name": "phone", "nodes": ["one", "two"], "mechanism": mechanism }]);
    cell
}

#[test]
fn shaped_clients_on_one_air_complete_and_sleep() {
    let outcome = outcome(downloads(&json!({ "kind": "client_shaper" })));
    for name in ["one", "two"] {
        assert!(flow(&outcome, name).completion_time_s.is_some(), "{name} is not complete");
    }
    for station in &outcome.summary.stations {
        assert!(station.radio.wakes > 10, "{} wakes", station.radio.wakes);
    }
}

#[test]
fn hundreds_of_queued_acknowledgements_cost_no_reception() {
    // The first window of 300 packets reaches the access point at once and takes 300 ms of air. Each packet is
    // acknowledged, and each acknowledgement waits for the end of the window. The other client's datagrams separate the
    // acknowledgements.
    let flows = json!([
        { "kind": "tcp", "name": "one", "from": "server", "to": "one", "size": "450 kB" },
        datagrams("two", "6 Mb/s")
    ]);
    let mut cell = cell(&shared("0 s"), &json!({ "air": "cell" }), &flows);
    cell["tcp"] = json!({ "initial_window": 400, "delayed_ack": false, "receive_buffer": "1 MB" });
    cell["station"] = json!([{ "name": "phone", "nodes": ["one"], "mechanism": { "kind": "eager" } }]);
    let outcome = outcome(cell);
    let (station, down) = (&outcome.summary.stations[0], link(&outcome, "ap-one"));
    assert!(link(&outcome, "one-ap").max_queue_packets >= 200, "{}", link(&outcome, "one-ap").max_queue_packets);
    assert_eq!(station.counts.missed_packets, 0);
    // Transmissions and receptions never overlap on one air.
    close(station.radio.receiving_s, down.delivered_bytes as f64 * 8.0 / 12e6, 1e-6);
}

#[test]
fn an_air_that_cannot_be_is_refused() {
    let refusal = |json: Value| scenario(&json).map(|_| ()).expect_err("must be refused").to_string();
    let flows = json!([datagrams("one", "1 Mb/s")]);
    let with = |air: &Value, links: &Value| refusal(cell(air, links, &flows));
    assert_eq!(
        with(&json!([]), &json!({ "air": "cell" })),
        "link.ap-one.air: \"cell\" is unknown; expected an entry [[air]]"
    );
    assert_eq!(with(&shared("0 s"), &json!({ "air": "sell" })), "link.ap-one.air: \"sell\" is unknown; expected cell");
    assert_eq!(with(&shared("2 s"), &json!({})), "air.cell.overhead: is 2 s; expected at most 1 s");
    let twice = json!([{ "name": "cell" }, { "name": "cell" }]);
    assert_eq!(with(&twice, &json!({})), "air.cell.name: is given twice; expected different names");
    let codel = json!({ "air": "cell", "queue": { "kind": "codel" } });
    assert!(with(&shared("0 s"), &codel).starts_with("link.ap-one.air: conflicts with a controller, a varying"));
    let mut sleeping = cell(&shared("0 s"), &json!({ "air": "cell" }), &flows);
    sleeping["sleep"] = json!([{ "links": ["ap-two"], "at": "100 ms" }]);
    assert!(refusal(sleeping).starts_with("link.ap-one.air: conflicts with [[sleep]]"));
    let psm = refusal(downloads(&json!({ "kind": "psm" })));
    assert!(psm.starts_with("station.phone.mechanism.kind: is psm, whose beacons and polls do not contend"), "{psm}");
    let emulated = plan(&scenario(&downloads(&json!({ "kind": "eager" }))).expect("a scenario"));
    let message = emulated.map(|_| ()).expect_err("must be refused").to_string();
    assert!(message.starts_with("link.ap-one.air: names a shared air, which only the simulator has"), "{message}");
}
