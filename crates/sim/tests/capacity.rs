//! Links that follow a trace of delivery opportunities, through whole runs.

use crate::common::{flow, link, outcome, scenario};
use netlull_sim::emulation;
use netlull_sim::scenario::{File, Host, Source, load};
use netlull_text::Error;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Datagrams or a transfer over a link with a trace, and a reverse link.
fn network(capacity: &Value, fields: &Value, flow: Value) -> Value {
    let mut there = json!({ "from": "a", "to": "b", "rate": "100 Mb/s", "delay": "20 ms", "buffer": "unlimited", "capacity": capacity });
    there.as_object_mut().expect("a table").extend(fields.as_object().expect("a table").clone());
    let back = json!({ "from": "b", "to": "a", "rate": "100 Mb/s", "delay": "20 ms" });
    json!({ "duration": "2 s", "nodes": ["a", "b"], "link": [there, back], "flow": [flow] })
}

fn trace(opportunities: &[u64]) -> Value {
    json!({ "kind": "trace", "opportunities": opportunities })
}

fn datagrams(rate: &str, packet: &str) -> Value {
    json!({ "kind": "cbr", "name": "t", "from": "a", "to": "b", "rate": rate, "packet": packet })
}

fn transfer(size: &str) -> Value {
    json!({ "kind": "tcp", "name": "t", "from": "a", "to": "b", "size": size })
}

#[test]
fn a_saturated_trace_delivers_each_opportunity() {
    // Opportunities at 1, 3, 3 and 10 ms of each 10 ms: 800 in 2 s, and those up to 1.98 s arrive in time: 792. Packets of
    // 1500 B take one each, of 500 B (504 B) 2.98.
    let saturated = |packet: &str| {
        let run = outcome(network(&trace(&[1, 3, 3, 10]), &json!({}), datagrams("50 Mb/s", packet)));
        link(&run, "a-b").delivered_packets
    };
    assert_eq!(saturated("1500 B"), 792);
    assert_eq!(saturated("500 B"), 792 * 1504 / 504);
}

#[test]
fn a_buffer_holds_the_packets_that_no_opportunity_has_begun() {
    // Packets of 1500 B each 0.25 ms from 0 on, and an opportunity each ms from 1 ms on: 4 arrive before each. With a buffer
    // of 3 packets, the 4th of the first ms is dropped, and then all but one per ms.
    let run = outcome(network(&trace(&[1]), &json!({ "buffer": "3 packets" }), datagrams("48 Mb/s", "1500 B")));
    let link = link(&run, "a-b");
    // 2001 ms have 4 offers each but the last, 1 offer: 8001 in all, 1 + 2000 opportunities.
    assert_eq!((link.offered_packets, link.max_queue_packets), (8001, 3));
    assert_eq!(link.dropped_packets, 8001 - 2000 - 3);
    assert_eq!(link.delivered_packets, 1980);
}

#[test]
fn a_transfer_follows_a_trace_with_a_gap() {
    // 12 Mb/s, but nothing from 200 to 1000 ms: a timeout of 1 s (RFC 6298) is too long for it.
    let times: Vec<u64> = (1..=200).chain(1001..=2000).collect();
    let run = outcome(network(&trace(&times), &json!({}), transfer("1 MB")));
    let done = flow(&run, "t").completion_time_s.expect("completes");
    // 685 packets need 685 opportunities: 200 before the gap, so at least 485 ms after it.
    assert!((1.485..1.9).contains(&done), "{done}");
    assert_eq!(flow(&run, "t").delivered_bytes, 1_000_000);
}

#[test]
fn a_trace_that_cannot_be_is_refused() {
    let refusal = |capacity: Value, fields: Value| {
        let network = network(&capacity, &fields, datagrams("1 Mb/s", "1500 B"));
        scenario(&network).map(|_| ()).expect_err("must be refused").to_string()
    };
    let fine = || trace(&[1]);
    assert_eq!(
        refusal(json!({ "kind": "trace" }), json!({})),
        "link.a-b.capacity: has both or neither of `opportunities` and `file`; expected one of them"
    );
    assert!(
        refusal(trace(&[2, 1]), json!({})).starts_with("link.a-b.capacity.opportunities: has no time or a wrong one")
    );
    assert_eq!(
        refusal(fine(), json!({ "rate": "11 Mb/s" })),
        "link.a-b.capacity: has a mean rate of 12 Mb/s; expected at most the link's rate, 11 Mb/s"
    );
    assert_eq!(
        refusal(fine(), json!({ "queue": { "kind": "codel" } })),
        "link.a-b.queue.kind: is \"codel\", but the link follows a trace; expected \"drop_tail\" or \"red\""
    );
    assert!(refusal(fine(), json!({ "overhead": "20 B" })).starts_with("link.a-b.overhead: conflicts"));
}

#[test]
fn a_plan_has_the_trace_and_the_rate_of_the_link() {
    let fine = network(&trace(&[0, 2, 2, 5]), &json!({ "rate": "20 Mb/s" }), datagrams("1 Mb/s", "1500 B"));
    let plan = emulation::plan(&scenario(&fine).expect("a scenario")).expect("a plan");
    let links: Vec<Value> = plan.links.iter().map(|link| serde_json::to_value(link).expect("its text")).collect();
    let link = links.iter().find(|link| link["name"] == "a-b").expect("the link");
    assert_eq!(
        (&link["trace"], &link["steps"], &link["rate"]),
        (&json!([0, 2, 2, 5]), &Value::Null, &json!("20 Mb/s"))
    );
    let mut changed = link.clone();
    changed["trace"] = json!([2, 1]);
    let error = serde_json::from_value::<netlull_network::plan::LinkPlan>(changed).expect_err("must be refused");
    assert!(error.to_string().contains("expected ascending times in milliseconds"), "{error}");
}

/// A host with one file, `up`.
struct OneFile(&'static str);

impl Host for OneFile {
    fn file(&self, name: &str, _: usize) -> Result<File, Error> {
        Ok(File { name: name.to_owned(), content: self.0.into() })
    }

    fn network(&self, _: &Map<String, Value>) -> Result<Value, Error> {
        unreachable!("there is no network")
    }
}

#[test]
fn a_file_is_read_as_mm_link_reads_it() {
    let read = |content: &'static str| {
        let json = network(&json!({ "kind": "trace", "file": "up" }), &json!({}), datagrams("1 Mb/s", "1500 B"));
        load(Source::Json(&json.to_string()), &[], &OneFile(content))
    };
    for fine in ["1\n3\n3\n10\n", "1\r\n3\r\n3\r\n10"] {
        let checked = read(fine).map_err(|error| error.to_string()).expect("a scenario");
        assert_eq!(checked.scenario.links[0].trace().expect("a trace").millis(), [1, 3, 3, 10]);
        // The document holds the content.
        assert!(checked.canonical().expect("JSON").contains("\"opportunities\":[1,3,3,10]"));
    }
    let refusal = |content: &'static str| read(content).map(|_| ()).expect_err("must be refused").to_string();
    let whole = "expected whole milliseconds, at most 1000000000000";
    assert_eq!(refusal("1\n\n3\n"), format!("link.a-b.capacity.file: up, line 2: \"\" is not a time; {whole}"));
    assert_eq!(refusal("1\n2.5\n"), format!("link.a-b.capacity.file: up, line 2: \"2.5\" is not a time; {whole}"));
    assert_eq!(refusal("-1\n"), format!("link.a-b.capacity.file: up, line 1: \"-1\" is not a time; {whole}"));
    assert_eq!(
        refusal("1\n5\n4\n"),
        "link.a-b.capacity.file: up, line 3: 4 comes after 5; expected times that do not decrease"
    );
    for nothing in ["", "0\n0\n"] {
        let expected = "up: has no time above 0; expected times in milliseconds, one per line, as in a file of mm-link";
        assert_eq!(refusal(nothing), format!("link.a-b.capacity.file: {expected}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the trace, the buffer and the packets, the replay has the same drops and times.
    #[test]
    fn a_link_follows_any_trace(
        mut times in proptest::collection::vec(0_u64..60, 1..30),
        buffer in prop_oneof![Just("1 packets"), Just("3 kB"), Just("20 packets"), Just("unlimited")],
        law in prop_oneof![
            3 => Just(json!({})),
            1 => Just(json!({ "queue": { "kind": "red", "min_threshold": "2 packets", "max_threshold": "8 packets" } })),
            1 => Just(json!({ "noise": { "mean": "3 ms", "shape": 1.0, "reorder": true } })),
            1 => Just(json!({ "aggregation": { "period": "7 ms" }, "loss": { "kind": "bernoulli", "probability": 0.02 } })),
        ],
        packet in 40_u64..1500,
    ) {
        times.sort_unstable();
        times.push(times.last().copied().unwrap_or(0).max(10));
        let mut fields = law;
        fields["buffer"] = buffer.into();
        let mut json = network(&trace(&times), &fields, transfer("300 kB"));
        let more = json!({ "kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": "2 Mb/s", "packet": format!("{packet} B") });
        json["flow"].as_array_mut().expect("a list").push(more);
        outcome(json);
    }
}
