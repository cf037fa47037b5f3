//! Applications that stop, or write at their own rate: the data carried by TCP, its times, and refused options.

use crate::common::{close, floats, flow, outcome, scenario, table, words};
use serde_json::{Value, json};

/// Flows over 10 Mb/s and 50 ms, with fast access links without delay.
fn dumbbell(duration: &str, flow: Value) -> Value {
    let access = |from: &str, to: &str| json!({ "from": from, "to": to, "duplex": true, "rate": "100 Mb/s", "buffer": "unlimited" });
    let middle = json!({ "from": "n1", "to": "n2", "duplex": true, "rate": "10 Mb/s", "delay": "25 ms" });
    let mut tcp = json!({ "kind": "tcp", "name": "t", "from": "s", "to": "d" });
    tcp.as_object_mut().expect("a table").extend(flow.as_object().expect("a table").clone());
    json!({
        "duration": duration,
        "nodes": ["s", "n1", "n2", "d"],
        "link": [access("s", "n1"), middle, access("n2", "d")],
        "flow": [tcp],
    })
}

#[test]
fn a_transfer_written_at_a_rate_ends_a_round_trip_behind_its_last_write() {
    // Ten writes of 1460 B, 11.68 ms apart at 1 Mb/s. The last has the FIN and comes at 9 x 11.68 = 105.12 ms, long
    // after the earlier data was sent. It takes 120 us + 1.2 ms + 120 us and 25 ms, and its acknowledgement of 40 B
    // takes 38.4 us and 25 ms.
    let options = json!({ "timestamps": false, "delayed_ack": false });
    let run = outcome(dumbbell("2 s", json!({ "size": "14600 B", "write_rate": "1 Mb/s", "tcp": options })));
    let expected = 0.105_12 + 2.0 * 0.000_12 + 0.0012 + 0.025 + 38.4e-6 + 0.025;
    close(flow(&run, "t").completion_time_s.expect("complete"), expected, 1e-9);
    assert_eq!(flow(&run, "t").delivered_bytes, 14_600);
}

#[test]
fn a_slow_application_is_carried_at_its_rate() {
    // 500 kb/s in writes of 1448 B, one per 23.168 ms. In 100 s there are 4317 writes (n x 23.168 ms <= 100 s), and
    // the last two may not have arrived.
    let run = outcome(dumbbell("100 s", json!({ "write_rate": "500 kb/s" })));
    let writes = flow(&run, "t").delivered_bytes / 1448;
    assert!((4315..=4317).contains(&writes), "{writes}");
    assert_eq!(flow(&run, "t").delivered_bytes % 1448, 0, "each write is a full segment");
}

#[test]
fn nothing_written_is_lost_where_tcp_is_slower() {
    // 20 Mb/s in writes of 1448 B, 579.2 us apart: 1727 writes before 1 s (1726 x 579.2 us = 0.99970 s). 10 Mb/s take
    // two seconds to carry them.
    let run = outcome(dumbbell("20 s", json!({ "write_rate": "20 Mb/s", "stop": "1 s" })));
    assert_eq!(flow(&run, "t").delivered_bytes, 1727 * 1448);
    assert!(flow(&run, "t").completion_time_s.expect("complete") > 1727.0 * 1448.0 * 8.0 / 10e6);
}

#[test]
fn an_endless_flow_that_stops_sends_no_new_data_and_closes() {
    let mut json = dumbbell("20 s", json!({ "stop": "5 s" }));
    json["probe"] = json!({ "segments": true });
    let run = outcome(json);
    let segments = table(&run, "segment");
    let (times, repeats) = (floats(segments, "time_s"), floats(segments, "retransmission"));
    let last = times.iter().zip(&repeats).filter(|(_, repeat)| **repeat == 0.0).map(|(time, _)| *time).next_back();
    let last = last.expect("data");
    assert!((4.9..5.0).contains(&last), "data until {last} s");
    let ends = floats(segments, "offset_bytes")
        .iter()
        .zip(floats(segments, "length_bytes"))
        .map(|(a, b)| a + b)
        .fold(0.0, f64::max);
    let found = flow(&run, "t");
    close(found.delivered_bytes as f64, ends, 0.0);
    // The backlog (at most 42 packets, 50 ms) and a round trip of 50 ms. A loss among the packets adds a round trip.
    let completion = found.completion_time_s.expect("complete");
    assert!((5.05..5.3).contains(&completion), "{completion}");
}

#[test]
fn demand_falls_connection_by_connection() {
    let run = outcome(dumbbell("20 s", json!({ "count": 4, "stop": "4 s", "stop_spacing": "3 s" })));
    for (number, found) in run.summary.flows.iter().enumerate() {
        let stop = 4.0 + 3.0 * number as f64;
        let completion = found.completion_time_s.expect("complete");
        assert!((stop..stop + 1.5).contains(&completion), "{}: {completion}", found.name);
    }
}

#[test]
fn a_stop_cuts_a_transfer_that_is_not_sent_yet_and_leaves_one_that_is() {
    let run = outcome(dumbbell("10 s", json!({ "size": "100 MB", "stop": "2 s" })));
    let cut = flow(&run, "t");
    // 2 s at 10 Mb/s are 2.5 MB.
    assert!((1_000_000..2_600_000).contains(&cut.delivered_bytes), "{}", cut.delivered_bytes);
    assert!(cut.completion_time_s.is_some());
    let whole = |stop: Value| outcome(dumbbell("10 s", stop)).summary.flows[0].clone();
    let (stopped, plain) = (whole(json!({ "size": "20 kB", "stop": "2 s" })), whole(json!({ "size": "20 kB" })));
    assert_eq!((stopped.delivered_bytes, stopped.completion_time_s), (20_000, plain.completion_time_s));
    assert_eq!(stopped.packets_sent, plain.packets_sent);
}

#[test]
fn a_pause_between_writes_ends_in_a_restart() {
    // A write of 200 kB every 4 s, longer than RTO (1 s): 138 segments, more than ten. RFC 5681 section 4.1 resets the
    // window to ten segments before each but the first. Four writes: at 0, 4, 8 and 12 s.
    let mut json = dumbbell("15 s", json!({ "write_rate": "400 kb/s", "write_size": "200 kB" }));
    json["probe"] = json!({ "events": true });
    let run = outcome(json);
    let events = words(table(&run, "event"), "event");
    assert_eq!(events.iter().filter(|event| **event == "idle_restart").count(), 3);
    assert_eq!(flow(&run, "t").delivered_bytes, 800_000);
}

#[test]
fn what_cannot_be_is_refused_where_it_stands() {
    let why = |fields: Value| scenario(&dumbbell("10 s", fields)).expect_err("bad").to_string();
    let expect = |fields: Value, message: &str| assert_eq!(why(fields), message);
    expect(
        json!({ "start": "2 s", "stop": "2 s" }),
        "flow.t.stop: is 2 s; expected a time after its start and jitter, 2 s",
    );
    expect(
        json!({ "start": "1 s", "spacing": "2 s", "jitter": "500 ms", "count": 3, "stop": "4 s", "stop_spacing": "100 ms" }),
        "flow.t.stop: is 4.2 s for connection 3; expected a time after its start and jitter, 5.5 s",
    );
    expect(
        json!({ "stop_spacing": "1 s" }),
        "flow.t.stop_spacing: is 1 s without a `stop`; expected also `stop`, the stop time of the first connection",
    );
    expect(
        json!({ "write_rate": "0 b/s" }),
        "flow.t.write_rate: is 0 b/s; expected more than 0 b/s and at most 1000000 Gb/s",
    );
    expect(
        json!({ "write_size": "1 kB" }),
        "flow.t.write_size: is 1 kB without a `write_rate`; expected also `write_rate`",
    );
    expect(
        json!({ "write_rate": "1 Mb/s", "write_size": "0 B" }),
        "flow.t.write_size: is 0 B; expected 1 B to 1000000000 B",
    );
}
