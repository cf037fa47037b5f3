//! Noise of links, through whole runs.

use crate::common::{close, flow, in_words, link, outcome, scenario};
use netlull_sim::run::RunOutcome;
use serde_json::{Value, json};

fn network(noise: &Value, fields: &Value, flow: Value) -> Value {
    let mut there = json!({ "from": "a", "to": "b", "rate": "12 Mb/s", "delay": "20 ms", "buffer": "unlimited" });
    there.as_object_mut().expect("a table").extend(fields.as_object().expect("a table").clone());
    if !noise.is_null() {
        there["noise"] = noise.clone();
    }
    let back = json!({ "from": "b", "to": "a", "rate": "12 Mb/s", "delay": "20 ms" });
    json!({ "duration": "60 s", "nodes": ["a", "b"], "link": [there, back], "flow": [flow] })
}

fn transfer() -> Value {
    json!({ "kind": "tcp", "name": "t", "from": "a", "to": "b", "size": "2 MB" })
}

fn codel() -> Value {
    json!({ "queue": { "kind": "codel", "target": "1 s", "interval": "2 s" } })
}

fn seconds(outcome: &RunOutcome) -> f64 {
    flow(outcome, "t").completion_time_s.expect("completes")
}

#[test]
fn a_transfer_completes_whole_whatever_the_rate_of_the_link() {
    // With a fixed rate, and with scheduled departures.
    let noise = json!({ "mean": "5 ms", "shape": 2.0 });
    for fields in [json!({}), codel()] {
        let (plain, noisy) =
            (outcome(network(&Value::Null, &fields, transfer())), outcome(network(&noise, &fields, transfer())));
        // Packets stay in order, so TCP detects no losses.
        assert_eq!(flow(&noisy, "t").retransmissions, 0);
        assert_eq!(flow(&noisy, "t").delivered_bytes, 2_000_000);
        assert_eq!(link(&noisy, "a-b").offered_packets, link(&noisy, "a-b").delivered_packets);
        // SYN, two rounds of slow start until the link is full (40 packets of 1 ms in 40 ms, from 10), and the last
        // packet. Each is delayed by a draw, 5 ms on average.
        assert!(seconds(&noisy) > seconds(&plain) + 0.015, "{} {}", seconds(&noisy), seconds(&plain));
    }
}

#[test]
fn a_lone_packet_is_late_by_the_mean() {
    // Datagrams of 1500 B, one per second, which never wait for each other. Each is on the link for 1 ms + 20 ms + 5
    // ms.
    let datagrams = json!({ "kind": "cbr", "name": "t", "from": "a", "to": "b", "rate": "12 kb/s" });
    for fields in [json!({}), codel()] {
        let mut json = network(&json!({ "mean": "5 s", "shape": 50.0 }), &fields, datagrams.clone());
        // Sent at 0, 1, ... 2000 s: at the end, on average, those of the last 5.021 s have not arrived.
        json["duration"] = "2000 s".into();
        let run = outcome(json);
        let on_the_way = link(&run, "a-b").offered_packets - link(&run, "a-b").delivered_packets;
        assert_eq!(link(&run, "a-b").offered_packets, 2001);
        // A mean of 5.02; a draw is 5 s with a standard deviation of 0.7 s.
        close(on_the_way as f64, 5.0, 2.0);
    }
}

#[test]
fn a_mean_of_nothing_is_no_noise_and_each_seed_has_its_own() {
    let run = |noise: Value, seed: u32| {
        let mut json = network(&noise, &json!({}), transfer());
        json["seed"] = seed.into();
        in_words(&outcome(json))
    };
    assert_eq!(run(json!({ "mean": "0 s", "shape": 2.0 }), 1), run(Value::Null, 1));
    let noise = json!({ "mean": "5 ms", "shape": 2.0 });
    assert_eq!(run(noise.clone(), 1), run(noise.clone(), 1));
    assert_ne!(run(noise.clone(), 1), run(noise, 2));
}

#[test]
fn noise_of_one_direction_is_not_that_of_the_other() {
    let noise = json!({ "mean": "500 ms", "shape": 100.0 });
    let mut both = network(&noise, &json!({}), transfer());
    both["link"] = json!([both["link"][0].clone()]);
    both["link"][0]["duplex"] = true.into();
    both["flow"][0]["size"] = "1 kB".into();
    // SYN and data draw 0.5 s each, with a standard deviation of 0.05 s. SYN-ACK and acknowledgement draw nothing.
    close(seconds(&outcome(both)), 2.0 * 0.5 + 2.0 * 0.04, 0.25);
}

#[test]
fn noise_that_cannot_be_is_refused() {
    let refusal = |noise: Value| {
        scenario(&network(&noise, &json!({}), transfer())).map(|_| ()).expect_err("must be refused").to_string()
    };
    assert_eq!(
        refusal(json!({ "mean": "5 ms", "shape": 0.0 })),
        "link.a-b.noise.shape: is 0; expected 0.01 to 1000000"
    );
    assert!(refusal(json!({ "mean": "5 ms", "shape": -2.0 })).contains("is -2; expected"));
    assert!(refusal(json!({ "mean": "5 ms" })).contains("shape: is missing; expected"));
    assert!(refusal(json!({ "mean": "-5 ms", "shape": 1.0 })).starts_with("link.a-b.noise.mean: "));
}
