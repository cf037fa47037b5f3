//! Late packets, noise with reordering and delivery in batches, through whole runs.

use crate::common::{close, flow, link, outcome, scenario};
use netlull_sim::run::RunOutcome;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Two nodes and a TCP transfer of 100 segments over 12 Mb/s: 1 ms per packet, and a round trip of 40 ms. The forward and
/// the reverse link have these fields.
fn transfer(there: &Value, back: &Value) -> Value {
    let wire = |from: &str, to: &str, fields: &Value| {
        let mut wire = json!({ "from": from, "to": to, "rate": "12 Mb/s", "delay": "20 ms", "buffer": "unlimited" });
        wire.as_object_mut().expect("a table").extend(fields.as_object().expect("a table").clone());
        wire
    };
    let flow = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "b", "size": "146 kB" });
    json!({ "duration": "20 s", "nodes": ["a", "b"], "link": [wire("a", "b", there), wire("b", "a", back)], "flow": [flow] })
}

fn late(packets: &[u64], by: &str) -> Value {
    json!({ "late": [{ "flow": "t", "packets": packets, "by": by }] })
}

/// A link that schedules its departures.
fn scheduled(mut fields: Value) -> Value {
    fields["queue"] = json!({ "kind": "codel", "target": "1 s", "interval": "2 s" });
    fields
}

fn seconds(outcome: &RunOutcome) -> f64 {
    flow(outcome, "t").completion_time_s.expect("completes")
}

fn repairs(outcome: &RunOutcome) -> (u64, u64, u64) {
    let flow = flow(outcome, "t");
    (flow.fast_retransmits, flow.timeouts, flow.retransmissions)
}

#[test]
fn a_packet_that_is_overtaken_by_three_is_sent_again() {
    // In the second round, segments come in pairs, a millisecond apart. Packet 20 is overtaken by one, three or six.
    let runs = |by: &str| {
        let there = late(&[20], by);
        [outcome(transfer(&there, &json!({}))), outcome(transfer(&scheduled(there.clone()), &json!({})))]
    };
    for run in runs("1.5 ms") {
        assert_eq!(repairs(&run), (0, 0, 0));
    }
    for run in runs("30 ms") {
        // NewReno takes the acknowledgement of the late segment for a partial one, and sends more again.
        let (fast_retransmits, timeouts, retransmissions) = repairs(&run);
        assert_eq!((fast_retransmits, timeouts), (1, 0));
        assert!(retransmissions >= 1);
        assert_eq!(flow(&run, "t").delivered_bytes, 146_000);
        // Nothing is lost: the receiver gets the segment twice.
        assert_eq!((link(&run, "a-b").lost_packets, link(&run, "a-b").dropped_packets), (0, 0));
        assert_eq!(flow(&run, "t").packets_dropped, 0);
    }
}

#[test]
fn a_late_window_makes_a_timeout() {
    // Packets 2 to 11 are the initial window. They are 1.5 s late, and the timeout is 1 s (RFC 6298).
    let window: Vec<u64> = (2..=11).collect();
    let run = outcome(transfer(&late(&window, "1.5 s"), &json!({})));
    assert_eq!((flow(&run, "t").timeouts, flow(&run, "t").delivered_bytes), (1, 146_000));
    assert!(flow(&run, "t").retransmissions > 0);
    assert_eq!((link(&run, "a-b").lost_packets, link(&run, "a-b").dropped_packets), (0, 0));
}

#[test]
fn a_late_acknowledgement_is_overtaken_and_harmless() {
    let plain = outcome(transfer(&json!({}), &json!({})));
    let run = outcome(transfer(&json!({}), &late(&[5], "100 ms")));
    assert_eq!(repairs(&run), (0, 0, 0));
    close(seconds(&run), seconds(&plain), 0.01);
}

#[test]
fn each_late_packet_has_its_delay() {
    // Datagrams of 1500 B each 10 ms: number n is sent from 10 (n - 1) ms on, and arrives 21 ms later.
    let datagrams = |late: Value| {
        let mut json = transfer(&late, &json!({}));
        json["flow"] = json!([{ "kind": "cbr", "name": "t", "from": "a", "to": "b", "rate": "1200 kb/s" }]);
        // At 100 ms, numbers 1 to 8 have arrived, and 9 to 11 are on the way: 79, 89 and 99 ms after the first.
        json["duration"] = "100 ms".into();
        outcome(json)
    };
    let delivered = |late: Value| link(&datagrams(late), "a-b").delivered_packets;
    assert_eq!(delivered(json!({})), 8);
    // Number 3 would arrive at 41 ms, number 1 at 21 ms.
    let entry = |packets: &[u64], by: &str| json!({ "flow": "t", "packets": packets, "by": by });
    assert_eq!(delivered(json!({ "late": [entry(&[3], "58.999 ms")] })), 8);
    assert_eq!(delivered(json!({ "late": [entry(&[3], "59.001 ms")] })), 7);
    let two = json!([entry(&[3, 4], "59.001 ms"), entry(&[1], "78 ms")]);
    assert_eq!(delivered(json!({ "late": two })), 6);
}

#[test]
fn noise_that_reorders_makes_duplicate_acknowledgements() {
    let noise = |reorder: bool| json!({ "noise": { "mean": "5 ms", "shape": 1.0, "reorder": reorder } });
    for with in [|fields| fields, scheduled] {
        assert_eq!(repairs(&outcome(transfer(&with(noise(false)), &json!({})))), (0, 0, 0));
        let run = outcome(transfer(&with(noise(true)), &json!({})));
        assert!(flow(&run, "t").retransmissions > 0);
        assert_eq!((flow(&run, "t").delivered_bytes, flow(&run, "t").packets_dropped), (146_000, 0));
    }
    let lone = |reorder: bool| {
        let mut json = transfer(&noise(reorder), &json!({}));
        json["flow"] = json!([{ "kind": "cbr", "name": "t", "from": "a", "to": "b", "rate": "12 kb/s" }]);
        link(&outcome(json), "a-b").delivered_packets
    };
    // One packet per second: no other to overtake.
    assert_eq!(lone(false), lone(true));
}

#[test]
fn batches_come_at_the_multiples_of_their_period() {
    // The SYN is sent at 0 and arrives at 20.027 ms (40 B), in a batch at 100 ms. The SYN-ACK arrives at 120.027 ms.
    // Ten segments, 1 ms each, arrive in one batch at 200 ms. Ten acknowledgements of pairs come back 20 ms later; twenty
    // segments in one batch at 300 ms, then forty. The last 30 of the 100 start at 320 ms + 40 ms, and arrive at 400 ms.
    for with in [|fields| fields, scheduled] {
        let aggregation = json!({ "aggregation": { "period": "100 ms" } });
        let run = outcome(transfer(&with(aggregation), &json!({})));
        assert_eq!(repairs(&run), (0, 0, 0));
        let seconds = seconds(&run);
        close(seconds % 0.1, 0.02, 0.001);
        let plain = self::seconds(&outcome(transfer(&json!({}), &json!({}))));
        assert!(seconds > plain + 0.2, "{seconds} {plain}");
    }
    // Acknowledgements in batches: the transfer takes longer, and nothing is repaired.
    let run = outcome(transfer(&json!({}), &json!({ "aggregation": { "period": "50 ms" } })));
    assert_eq!(repairs(&run), (0, 0, 0));
    // After the end of the transfer, batches have no effect.
    let late = json!({ "aggregation": { "period": "100 ms", "start": "10 s" } });
    let plain = outcome(transfer(&json!({}), &json!({})));
    assert_eq!(seconds(&outcome(transfer(&late, &json!({})))), seconds(&plain));
}

#[test]
fn laws_that_cannot_be_are_refused() {
    let refusal =
        |there: Value| scenario(&transfer(&there, &json!({}))).map(|_| ()).expect_err("must be refused").to_string();
    assert_eq!(
        refusal(json!({ "aggregation": { "period": "0 s" } })),
        "link.a-b.aggregation.period: is 0 s; expected more than 0 s"
    );
    assert_eq!(refusal(late(&[1], "0 s")), "link.a-b.late.0.by: is 0 s; expected more than 0 s");
    assert_eq!(refusal(late(&[0], "1 s")), "link.a-b.late.0.packets.0: is 0; expected at least 1");
    assert_eq!(
        refusal(late(&[3, 2], "1 s")),
        "link.a-b.late.0.packets: has 2 after 3; expected ascending numbers from 1"
    );
    assert_eq!(
        refusal(json!({ "late": [{ "flow": "x", "packets": [1], "by": "1 s" }] })),
        "link.a-b.late.0.flow: \"x\" does not cross the link; expected one of \"t\""
    );
    let twice = json!([{ "flow": "t", "packets": [1, 4], "by": "1 s" }, { "flow": "t", "packets": [4], "by": "2 s" }]);
    assert_eq!(
        refusal(json!({ "late": twice })),
        "link.a-b.late.1.packets: has 4 again for \"t\"; expected each number once"
    );
}

fn laws() -> impl Strategy<Value = Value> {
    let late = proptest::collection::btree_set(1_u64..150, 0..20);
    let noise = prop_oneof![Just(None), (0.1_f64..4.0, any::<bool>()).prop_map(Some)];
    let batches = proptest::option::of((1_u64..40_000_000, 0_u64..500));
    (late, 1_u64..200_000, noise, batches, any::<bool>()).prop_map(|(packets, by, noise, batches, scheduled)| {
        let mut fields = json!({});
        if !packets.is_empty() {
            fields["late"] = json!([{ "flow": "t", "packets": packets, "by": format!("{by} us") }]);
        }
        if let Some((shape, reorder)) = noise {
            fields["noise"] = json!({ "mean": "2 ms", "shape": shape, "reorder": reorder });
        }
        if let Some((period, start)) = batches {
            fields["aggregation"] = json!({ "period": format!("{period} ns"), "start": format!("{start} ms") });
        }
        if scheduled { self::scheduled(fields) } else { fields }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the laws of both directions, the replay agrees with the links, running ahead changes nothing, and the
    /// transfer completes with nothing lost.
    #[test]
    fn packets_arrive_by_their_laws(there in laws(), back in laws(), beyond in laws(), seed in 0_u32..1000) {
        let mut json = transfer(&there, &back);
        // The packets go on over a link that may run ahead where its feeder keeps the order.
        json["nodes"] = json!(["a", "b", "c"]);
        json["flow"][0]["to"] = "c".into();
        json["seed"] = seed.into();
        json["duration"] = "100 s".into();
        let wire = json!({ "from": "b", "to": "c", "rate": "9 Mb/s", "delay": "3 ms", "buffer": "unlimited" });
        let mut wires = [wire.clone(), wire];
        wires[0].as_object_mut().expect("a table").extend(beyond.as_object().expect("a table").clone());
        wires[1]["from"] = "c".into();
        wires[1]["to"] = "b".into();
        json["link"].as_array_mut().expect("a list").extend(wires);
        let run = outcome(json);
        prop_assert_eq!(flow(&run, "t").delivered_bytes, 146_000);
        for name in ["a-b", "b-a", "b-c", "c-b"] {
            let link = link(&run, name);
            prop_assert_eq!((link.lost_packets, link.dropped_packets), (0, 0));
            prop_assert_eq!(link.offered_packets, link.delivered_packets);
        }
    }
}
