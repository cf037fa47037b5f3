//! Losses: by number and at random, through whole runs.

use crate::common::{close, flow, link, outcome, scenario};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Two nodes and a TCP transfer of 30 segments over 10 Mb/s. Each direction has its own losses.
fn transfer(there: &Value, back: &Value) -> Value {
    let wire = |from: &str, to: &str, loss: &Value| {
        let mut wire = json!({ "from": from, "to": to, "rate": "10 Mb/s", "delay": "5 ms", "buffer": "unlimited" });
        if !loss.is_null() {
            wire["loss"] = loss.clone();
        }
        wire
    };
    // 30 segments of 1460 B.
    let flow = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "b", "size": "43800 B" });
    json!({ "duration": "10 s", "nodes": ["a", "b"], "link": [wire("a", "b", there), wire("b", "a", back)],
            "flow": [flow] })
}

fn scripted(packets: &[u64]) -> Value {
    json!({ "kind": "scripted", "drops": [{ "flow": "t", "packets": packets }] })
}

#[test]
fn a_scripted_packet_is_lost_once_and_sent_again() {
    // Packet 1 is the SYN, so 12 is the eleventh segment of data, with others after it.
    let run = outcome(transfer(&scripted(&[12]), &Value::Null));
    assert_eq!(link(&run, "a-b").lost_packets, 1);
    assert_eq!(flow(&run, "t").packets_dropped, 1);
    assert_eq!((flow(&run, "t").fast_retransmits, flow(&run, "t").timeouts), (1, 0));
    assert_eq!(flow(&run, "t").delivered_bytes, 43_800);
    let whole = outcome(transfer(&Value::Null, &Value::Null));
    assert_eq!(flow(&whole, "t").packets_sent + 1, flow(&run, "t").packets_sent);
}

#[test]
fn the_first_packet_is_the_syn() {
    // The SYN is retransmitted after the initial timeout of 1 s (RFC 6298), so the transfer ends 1 s later.
    let run = outcome(transfer(&scripted(&[1]), &Value::Null));
    let whole = outcome(transfer(&Value::Null, &Value::Null));
    let seconds = |outcome| flow(outcome, "t").completion_time_s.expect("completes");
    assert!(seconds(&run) >= seconds(&whole) + 1.0, "{} {}", seconds(&run), seconds(&whole));
    assert_eq!((link(&run, "a-b").lost_packets, flow(&run, "t").packets_dropped), (1, 1));
}

#[test]
fn each_direction_has_its_own_script() {
    // On the reverse link, 1 is the SYN-ACK, and acknowledgements follow. The next acknowledgement covers a lost one.
    let run = outcome(transfer(&Value::Null, &scripted(&[5])));
    assert_eq!((link(&run, "a-b").lost_packets, link(&run, "b-a").lost_packets), (0, 1));
    assert_eq!((flow(&run, "t").retransmissions, flow(&run, "t").delivered_bytes), (0, 43_800));
}

#[test]
fn what_is_sent_again_counts_and_can_be_lost_again() {
    // 32 is the last segment of data, followed only by the FIN, so timeouts repair it. At least one of 33 and 34 is
    // the retransmission, which is lost again.
    let run = outcome(transfer(&scripted(&[32, 33, 34]), &Value::Null));
    assert_eq!(link(&run, "a-b").lost_packets, 3);
    assert!(flow(&run, "t").timeouts >= 2, "{}", flow(&run, "t").timeouts);
    assert_eq!(flow(&run, "t").delivered_bytes, 43_800);
}

fn datagrams(loss: &Value) -> Value {
    let wire = json!({ "from": "a", "to": "b", "rate": "10 Mb/s", "delay": "5 ms", "loss": loss });
    // 1500 B at 12 Mb/s: a packet every millisecond, the first at 0.
    let source = |name: &str| json!({ "kind": "cbr", "name": name, "from": "a", "to": "b", "rate": "3 Mb/s" });
    json!({ "duration": "100 s", "nodes": ["a", "b"], "link": [wire], "flow": [source("x"), source("y")] })
}

#[test]
fn flows_are_counted_apart() {
    let drops = json!([{ "flow": "x", "packets": [1, 2, 3] }, { "flow": "y", "packets": [10] }]);
    let run = outcome(datagrams(&json!({ "kind": "scripted", "drops": drops })));
    assert_eq!((flow(&run, "x").packets_dropped, flow(&run, "y").packets_dropped), (3, 1));
    assert_eq!((link(&run, "a-b").lost_packets, link(&run, "a-b").dropped_packets), (4, 0));
}

#[test]
fn gilbert_elliott_takes_its_share_and_the_same_seed_takes_the_same() {
    let chain = json!({ "kind": "gilbert_elliott", "to_bad": 0.02, "to_good": 0.25 });
    let run = outcome(datagrams(&chain));
    // pi_B = 0.02 / 0.27; standard error sqrt(0.0741 x 0.926 x 6.4 / 50,000) = 0.003.
    let link = link(&run, "a-b");
    close(link.lost_packets as f64 / link.offered_packets as f64, 0.074_07, 0.01);
    let written = |json: Value| serde_json::to_string(&outcome(json).summary).expect("writes");
    assert_eq!(written(datagrams(&chain)), written(datagrams(&chain)));
    let mut other = datagrams(&chain);
    other["seed"] = 2.into();
    assert_ne!(written(datagrams(&chain)), written(other));
}

#[test]
fn losses_that_cannot_be_are_refused_with_field_value_and_expectation() {
    let refusal =
        |loss: Value| scenario(&transfer(&loss, &Value::Null)).map(|_| ()).expect_err("must be refused").to_string();
    let drops = |drops: Value| refusal(json!({ "kind": "scripted", "drops": drops }));
    assert_eq!(
        drops(json!([{ "flow": "u", "packets": [1] }])),
        "link.a-b.loss.drops.0.flow: \"u\" does not cross the link; expected one of t"
    );
    assert_eq!(
        drops(json!([{ "flow": "t", "packets": [3, 3] }])),
        "link.a-b.loss.drops.0.packets: has 3 after 3; expected ascending numbers from 1"
    );
    let zeroth = drops(json!([{ "flow": "t", "packets": [0] }]));
    assert_eq!(zeroth, "link.a-b.loss.drops.0.packets.0: is 0; expected at least 1");
    let twice = json!([{ "flow": "t", "packets": [1] }, { "flow": "t", "packets": [2] }]);
    assert!(drops(twice).starts_with("link.a-b.loss.drops.1.flow: \"t\" is named twice"));
    assert!(drops(json!([{ "flow": "t", "packets": [-1] }])).starts_with("link.a-b.loss.drops.0.packets.0: "));
    assert!(drops(json!([{ "flow": "t" }])).contains("packets: is missing; expected a list"));
    let chain = |field: &str, value: f64| {
        let mut chain = json!({ "kind": "gilbert_elliott", "to_bad": 0.1, "to_good": 0.1 });
        chain[field] = value.into();
        refusal(chain)
    };
    assert_eq!(chain("to_bad", 0.0), "link.a-b.loss.to_bad: is 0; expected more than 0 and at most 1");
    assert!(chain("to_good", 1.5).starts_with("link.a-b.loss.to_good: is 1.5;"));
    assert!(chain("loss_bad", -0.5).starts_with("link.a-b.loss.loss_bad: is -0.5;"));
    assert!(chain("loss_good", 1.0).starts_with("link.a-b.loss.loss_good: is 1;"));
    assert!(refusal(json!({ "kind": "fate" })).starts_with("link.a-b.loss.kind: \"fate\" is unknown; expected one of"));
}

/// Datagrams of 1500 B at `rate` over a link of 10 Mb/s with a policer, for 10 s.
fn policed(rate: &str, policer: &Value, fields: &Value) -> Value {
    let mut link =
        json!({ "from": "a", "to": "b", "rate": "10 Mb/s", "delay": "5 ms", "buffer": "unlimited", "loss": policer });
    link.as_object_mut().expect("a table").extend(fields.as_object().expect("a table").clone());
    let flow = json!({ "kind": "cbr", "name": "t", "from": "a", "to": "b", "rate": rate });
    json!({ "duration": "10 s", "nodes": ["a", "b"], "link": [link], "flow": [flow] })
}

#[test]
fn a_policer_passes_its_burst_and_its_rate() {
    // A datagram per 2 ms, from 0 to 10 s: 5001. Tokens for one come each 6 ms: 1 + 10,000 / 6 = 1667.67 from 0 on. The
    // bucket of 10 datagrams is full at first and empties by 2/3 of a datagram per 2 ms, so 9 more pass.
    let policer = json!({ "kind": "policer", "rate": "2 Mb/s", "burst": "15 kB" });
    for fields in [json!({}), json!({ "queue": { "kind": "codel" } })] {
        let run = outcome(policed("6 Mb/s", &policer, &fields));
        let link = link(&run, "a-b");
        assert_eq!((link.offered_packets, link.lost_packets, link.dropped_packets), (5001, 5001 - 1676, 0));
    }
    // At its rate it loses nothing, and before its start neither.
    assert_eq!(link(&outcome(policed("2 Mb/s", &policer, &json!({}))), "a-b").lost_packets, 0);
    let late = json!({ "kind": "policer", "rate": "2 Mb/s", "burst": "15 kB", "start": "9 s" });
    let run = outcome(policed("6 Mb/s", &late, &json!({})));
    // From 9 s on 501 datagrams, and 1 + 1000 / 6 + 9 = 176.67 pass.
    assert_eq!(link(&run, "a-b").lost_packets, 501 - 176);
}

#[test]
fn a_transfer_through_a_policer_gets_at_most_its_rate() {
    let policer = json!({ "kind": "policer", "rate": "2 Mb/s", "burst": "15 kB" });
    let mut json = transfer(&policer, &Value::Null);
    json["flow"][0]["size"] = "1 MB".into();
    let run = outcome(json);
    let seconds = flow(&run, "t").completion_time_s.expect("completes");
    // 685 segments of up to 1500 B take 1,027 kB: the tokens of (1,027 - 15) kB / 250 kB/s.
    assert!(seconds > 4.04, "{seconds}");
    assert!(link(&run, "a-b").lost_packets > 0);
}

#[test]
fn a_policer_without_a_rate_or_a_burst_is_refused() {
    let refusal = |policer: Value| {
        scenario(&policed("1 Mb/s", &policer, &json!({}))).map(|_| ()).expect_err("must be refused").to_string()
    };
    let zero = refusal(json!({ "kind": "policer", "rate": "0 b/s", "burst": "15 kB" }));
    assert_eq!(zero, "link.a-b.loss.rate: is 0 b/s; expected more than 0 b/s");
    let zero = refusal(json!({ "kind": "policer", "rate": "1 Mb/s", "burst": "0 B" }));
    assert_eq!(zero, "link.a-b.loss.burst: is 0 B; expected more than 0 B");
    assert!(refusal(json!({ "kind": "policer", "rate": "1 Mb/s" })).contains("link.a-b.loss.burst: is missing"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever arrives, the replay and the ledger agree with the link.
    #[test]
    fn a_policer_is_exact_for_any_traffic(
        rate in 1_u64..20_000_000,
        burst in 1_u64..100_000,
        start in 0_u64..2_000,
        seed in 0_u32..1000,
    ) {
        let policer = json!({ "kind": "policer", "rate": format!("{rate} b/s"), "burst": format!("{burst} B"), "start": format!("{start} ms") });
        let mut json = transfer(&policer, &Value::Null);
        json["duration"] = "3 s".into();
        json["seed"] = seed.into();
        json["flow"][0]["size"] = "500 kB".into();
        let more = json!({ "kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": "3 Mb/s", "packet": "400 B" });
        json["flow"].as_array_mut().expect("a list").push(more);
        outcome(json);
    }
}
