//! Flows whose connections have senders of their own: round trips, buffers in BDP, and refused values.

use crate::common::{close, flow, outcome, scenario};
use netlull_network::queue::Buffer;
use serde_json::{Value, json};

/// Five transfers of one byte, 10 s apart, whose round trips are 10 to 90 ms. The path behind their access links takes
/// 8 ms both ways, 5 ms of them with the data.
fn five() -> Value {
    let way = |from: &str, to: &str, delay: &str| json!({ "from": from, "to": to, "rate": "100 Gb/s", "delay": delay, "buffer": "1 BDP" });
    json!({
        "duration": "60 s",
        "nodes": ["n1", "n2"],
        "link": [way("n1", "n2", "5 ms"), way("n2", "n1", "3 ms")],
        "flow": [{
            "kind": "tcp", "name": "t", "from": "n1", "to": "n2", "count": 5, "spacing": "10 s", "size": "1 B",
            "access": { "rate": "100 Gb/s", "round_trip": { "from": "10 ms", "to": "90 ms" } },
        }],
    })
}

#[test]
fn each_connection_has_its_round_trip() {
    // A round trip for SYN and SYN-ACK, and one for the byte and its acknowledgement. Transmissions take less than 1 us.
    let run = outcome(five());
    for (number, milliseconds) in (1..).zip([10.0, 30.0, 50.0, 70.0, 90.0]) {
        let time = flow(&run, &format!("t-{number}")).completion_time_s.expect("complete");
        close(time, 2.0 * milliseconds / 1e3, 1e-6);
    }
}

#[test]
fn a_list_has_one_round_trip_for_each_connection() {
    let listed = [20.0, 120.0, 60.0, 8.0, 20.0];
    let mut json = five();
    json["flow"][0]["access"]["round_trip"] = json!(["20 ms", "120 ms", "60 ms", "8 ms", "20 ms"]);
    let run = outcome(json);
    for (number, milliseconds) in (1..).zip(listed) {
        let time = flow(&run, &format!("t-{number}")).completion_time_s.expect("complete");
        close(time, 2.0 * milliseconds / 1e3, 1e-6);
    }
}

#[test]
fn one_connection_has_the_first_round_trip() {
    let mut json = five();
    json["flow"][0]["count"] = json!(1);
    close(flow(&outcome(json), "t").completion_time_s.expect("complete"), 0.020, 1e-6);
}

#[test]
fn senders_are_nodes_and_their_links_count_for_buffers() {
    let scenario = scenario(&five()).expect("valid");
    assert_eq!(*scenario.nodes, ["n1", "n2", "t-1", "t-2", "t-3", "t-4", "t-5"]);
    let link = |name: &str| scenario.links.iter().find(|link| link.name == name).expect("a link");
    // 90 ms at 100 Gb/s are 1.125 GB, 750,000 packets of 1500 B.
    assert!(matches!(link("n1-n2").buffer, Buffer::Packets(750_000)), "{:?}", link("n1-n2").buffer);
    // (90 - 8) / 2 = 41 ms each way.
    assert_eq!(link("t-5-n1").delay.to_string(), "41 ms");
    assert_eq!(link("n1-t-5").delay.to_string(), "41 ms");
}

#[test]
fn impossible_round_trips_are_refused() {
    let refused = |change: fn(&mut Value)| {
        let mut json = five();
        change(&mut json);
        scenario(&json).expect_err("refused").to_string()
    };
    let with = |access: Value| {
        let mut json = five();
        json["flow"][0]["access"] = access;
        scenario(&json).expect_err("refused").to_string()
    };
    assert_eq!(
        with(json!({ "rate": "1 Gb/s", "round_trip": { "from": "7 ms", "to": "9 ms" } })),
        "flow.t.access.round_trip.from: is 7 ms; expected at least the round trip from \"n1\", 8 ms"
    );
    assert_eq!(
        with(json!({ "rate": "1 Gb/s", "round_trip": { "from": "9 ms", "to": "8 ms" } })),
        "flow.t.access.round_trip.to: is 8 ms; expected at least 9 ms"
    );
    let list = |trips: Value| with(json!({ "rate": "1 Gb/s", "round_trip": trips }));
    let field = "flow.t.access.round_trip";
    assert_eq!(
        list(json!(["9 ms", "9 ms", "7 ms", "9 ms", "9 ms"])),
        format!("{field}.2: is 7 ms; expected at least the round trip from \"n1\", 8 ms")
    );
    assert_eq!(list(json!(["9 ms"])), format!("{field}: is a list of 1; expected 5, one for each connection"));
    assert!(list(json!(["9 ms", 9])).starts_with(&format!("{field}.1: is 9; expected a time")));
    assert!(list(json!("9 ms")).starts_with(&format!("{field}: is \"9 ms\"; expected a table")));
    let zero = with(json!({ "rate": "0 b/s", "round_trip": { "from": "9 ms", "to": "9 ms" } }));
    assert!(zero.starts_with("flow.t.access.rate: "), "{zero}");
    assert_eq!(
        refused(|json| json["flow"][0]["count"] = json!(1001)),
        "flow.t.count: is 1001 with `access`; expected at most 1000"
    );
    assert_eq!(
        refused(|json| json["link"] = json!([json["link"][0]])),
        "flow.t.to: no links lead from \"n1\" to \"n2\" and back; expected a route each way"
    );
    assert_eq!(
        refused(|json| json["nodes"] = json!(["n1", "n2", "t-3"])),
        "nodes: \"t-3\" is named twice; expected different names"
    );
}

#[test]
fn a_recording_without_the_count_names_the_missing_sender() {
    // With the count, the names of the connections change, but not those of the senders.
    let mut json = five();
    json["recording"] = json!({ "link": "n1-n2", "flows": ["t"], "without": ["flow.t.count"] });
    let message = scenario(&json).expect_err("refused").to_string();
    assert!(message.contains("\"t\" is not a node"), "{message}");
}
