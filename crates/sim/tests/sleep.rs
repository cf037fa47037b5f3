//! Links that sleep and wake, the routers' updates, and packets lost in between.

use crate::common::{close, floats, flow, link, outcome, scenario, table};
use netlull_mechanism::ConfigError;
use netlull_mechanism::topology::{Demand, Graph, SleepPlan, SleepPlanner, Traffic};
use netlull_sim::run::{RoutingSummary, RunOutcome};
use netlull_sim::scenario::{Scenario, read_document};
use netlull_units::BitRate;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// A square a - b - d and a - c - d of duplex links, 12 Mb/s and 10 ms each. The path by b has the lower cost.
/// Datagrams of 1500 B, 1 ms on a link, go from a to d every 4 ms from 0 on: 3 Mb/s.
fn square(sleep: &Value, routing: &Value) -> Value {
    let duplex = |from: &str, to: &str, cost: u32| json!({ "from": from, "to": to, "duplex": true, "rate": "12 Mb/s", "delay": "10 ms", "buffer": "100 packets", "cost": cost });
    json!({
        "duration": "2 s",
        "nodes": ["a", "b", "c", "d"],
        "link": [duplex("a", "b", 1), duplex("b", "d", 1), duplex("a", "c", 2), duplex("c", "d", 2)],
        "flow": [{ "kind": "cbr", "name": "f", "from": "a", "to": "d", "rate": "3 Mb/s", "packet": "1500 B" }],
        "routing": routing,
        "sleep": sleep,
    })
}

fn flooding(computation: &str) -> Value {
    json!({ "update": { "kind": "flooding", "processing": "1 ms", "computation": computation } })
}

fn routing(run: &RunOutcome) -> &RoutingSummary {
    run.summary.routing.as_ref().expect("routes that change")
}

#[test]
fn packets_on_a_link_that_falls_asleep_and_for_a_stale_next_hop_are_lost() {
    // b-d sleeps at 1 s. Datagram n leaves a at 4n ms, is complete at b at 4n + 11 and at d at 4n + 22. Datagrams
    // offered to b-d before 1 s and not yet at d: 4n + 11 < 1000 and 4n + 22 > 1000, so n = 245, 246, 247 are on it.
    // With 30 ms of computation, b has a new table at 1.030. a learns of the sleep at 1.010, and has a new table at
    // 1.040. From then on a sends by c. Datagrams sent by a before (4n < 1040, n <= 259) reach b from 4n + 11 >= 1000
    // on: n = 248 ... 259. By 1.030 b knows that b-d is asleep. It still has a path, back by a and c, 1 + 2 + 2. a
    // returns these datagrams to b before 1.040, and forwards them by c after it. n with 4n + 11 < 1030: 248 ... 254,
    // 7 packets, are lost at the stale next hop. The others, 255 ... 259, reach b from 1.031 on, and a again from
    // 1.042 on.
    let run = outcome(square(&json!([{ "at": "1 s", "links": ["b-d"] }]), &flooding("30 ms")));
    let asleep = link(&run, "b-d");
    assert_eq!((asleep.asleep_packets, routing(&run).asleep_packets), (3 + 7, 3 + 7));
    assert_eq!((flow(&run, "f").packets_dropped, routing(&run).unroutable_packets), (10, 0));
    assert_eq!(link(&run, "b-a").delivered_packets, 5);
    // a's update is the last except those of d and c: c learns from a at 1.021 and from d at 1.010: 1.040.
    close(routing(&run).convergence_s.expect("news"), 0.040, 1e-12);
    assert_eq!(routing(&run).table_changes, 4);
    assert_eq!((asleep.asleep_s, link(&run, "d-b").asleep_s, link(&run, "a-b").asleep_s), (1.0, 1.0, 0.0));
    // All datagrams arrive except the lost ones and those in flight at the end: 22 ms, the same by c: 500 - 10 - 5. In
    // flight: sent at 4n with 4n + 22 > 2000, n = 495 ... 499.
    assert_eq!(flow(&run, "f").delivered_bytes, (500 - 10 - 5) * 1500);
}

#[test]
fn routers_that_disagree_send_packets_round_until_their_hops_are_used_up() {
    // x - y - z - d, 1 ms and 10 us per packet each, and an expensive, slow path x - d. z-d sleeps at 1 s: z knows at
    // once, y at 1.001, x after y's 20 ms of processing at 1.022. A packet leaves x every ms.
    let duplex = |from: &str, to: &str, cost: u32, delay: &str| json!({ "from": from, "to": to, "duplex": true, "rate": "1 Gb/s", "delay": delay, "buffer": "1000 packets", "cost": cost });
    let json = |ttl: u8| {
        json!({
            "duration": "2 s",
            "nodes": ["x", "y", "z", "d"],
            "link": [
                duplex("x", "y", 1, "1 ms"), duplex("y", "z", 1, "1 ms"), duplex("z", "d", 1, "1 ms"), duplex("x", "d", 9, "50 ms"),
            ],
            "flow": [{ "kind": "cbr", "name": "f", "from": "x", "to": "d", "rate": "10 Mb/s", "packet": "1250 B" }],
            "routing": { "ttl": ttl, "update": { "kind": "flooding", "processing": "20 ms", "computation": "0 s" } },
            "sleep": [{ "at": "1 s", "links": ["z-d"] }],
        })
    };
    // With 5 hops a packet goes x-y-x-y-x-y and is lost at y. This holds if y knows when it arrives there, s + 1.01 >=
    // 1001 ms, and x does not when it returns for the last time, s + 4.04 < 1022: s = 1000 ... 1017, 18 packets. The
    // packets of 998 and 999 reach z and turn there: x-y-z-y-x-y. The packet of 997 is on z-d when it falls asleep.
    let run = outcome(json(5));
    let lost = routing(&run);
    assert_eq!((lost.expired_packets, lost.asleep_packets, lost.unroutable_packets), (20, 1, 0));
    close(lost.convergence_s.expect("news"), 0.022, 1e-12);
    // With enough hops they loop until x knows, and arrive.
    let patient = outcome(json(64));
    assert_eq!((routing(&patient).expired_packets, flow(&patient, "f").packets_dropped), (0, 1));
    assert!(link(&patient, "y-x").delivered_packets > link(&run, "y-x").delivered_packets);
}

#[test]
fn reroute_first_sleep_then_loses_nothing() {
    // 100 ms of drain: tables are new after 40 ms, and the last datagram by b is at d 22 ms later.
    let run = outcome(square(&json!([{ "at": "1 s", "links": ["b-d"], "drain": "100 ms" }]), &flooding("30 ms")));
    assert_eq!((flow(&run, "f").packets_dropped, routing(&run).asleep_packets), (0, 0));
    close(link(&run, "b-d").asleep_s, 0.9, 1e-12);
    // Datagrams in flight by c: the last 22 ms, as before.
    assert_eq!(flow(&run, "f").delivered_bytes, (500 - 5) * 1500);
}

#[test]
fn links_wake_and_are_used_again() {
    // Asleep from 0.5 to 1.3 s: the link starts to wake at 1.2 s, which takes 100 ms.
    let nap = json!([{ "at": "0.5 s", "links": ["b-d"], "wake": "1.2 s", "wake_time": "100 ms" }]);
    let run = outcome(square(&nap, &flooding("30 ms")));
    let slept = link(&run, "b-d");
    // The link is powered while it wakes.
    close(slept.asleep_s, 0.7, 1e-12);
    let by_c = link(&run, "a-c").offered_packets;
    // a's tables: at 0.540 without b-d. With b-d again 30 ms after the announcements of both ends; d's arrives by b or
    // c at 1.321. In between, 4n in [540, 1351): n = 135 ... 337, 203 datagrams by c, and those that return from b (5,
    // as above).
    assert_eq!(by_c, 208);
    assert_eq!(link(&run, "b-d").asleep_packets, 10);
    // Energy under FS, 1 W: awake for 1.3 s of 2 s.
    close(slept.energy.get("fs").expect("fs").total_j, 1.3, 1e-9);
    let rate = table(&run, "rate");
    assert_eq!(floats(rate, "time_s"), [0.0, 0.5, 1.3, 0.0, 0.5, 1.3]);
    assert_eq!(floats(rate, "rate_bps"), [12e6, 0.0, 12e6, 12e6, 0.0, 12e6]);
}

#[test]
fn a_link_that_wakes_after_the_end_of_the_run_is_no_part_of_it() {
    // Both ends must be heard after waking, so routers would learn of it later than of the sleep.
    let nap = |wake: Option<&str>| {
        let run = outcome(square(&json!([{ "at": "1 s", "links": ["b-d"], "wake": wake }]), &flooding("30 ms")));
        routing(&run).convergence_s.expect("news")
    };
    close(nap(None), 0.040, 1e-12);
    close(nap(Some("3 s")), 0.040, 1e-12);
    assert!(nap(Some("1.5 s")) > 0.041);
}

#[test]
fn a_link_that_falls_asleep_as_a_packet_arrives_has_carried_it() {
    // 1000 B at 7 Mb/s take 1,142,857.14 ns, and arrive at 1,142,857 ns: a seventh of a nanosecond early.
    let sent = |duration: &str, sleep: Value| {
        let json = json!({
            "duration": duration,
            "nodes": ["a", "b"],
            "link": [{ "from": "a", "to": "b", "rate": "7 Mb/s", "delay": "0 s", "buffer": "9 packets" }],
            "flow": [{ "kind": "cbr", "name": "f", "from": "a", "to": "b", "rate": "7 Mb/s", "packet": "1000 B" }],
            "sleep": sleep,
        });
        link(&outcome(json), "a-b").delivered_packets
    };
    assert_eq!(sent("1142857 ns", json!([])), 1);
    assert_eq!(sent("10 ms", json!([{ "at": "1142857 ns", "links": ["a-b"] }])), 1);
    assert_eq!(sent("10 ms", json!([{ "at": "1142856 ns", "links": ["a-b"] }])), 0);
}

#[test]
fn a_link_with_codel_loses_its_packet_in_service_each_time_it_falls_asleep() {
    // 1500 B every 1.5 ms take 1 ms from a to b: at 1.0004 s and 50 ms later, and so on, one is in service. The verifier
    // knows that these packets used the link and were not sent.
    let naps: Vec<Value> = (0..8)
        .map(|nap| json!({ "at": format!("{} us", 1_000_400 + 60_000 * nap), "wake": format!("{} us", 1_030_400 + 60_000 * nap), "links": ["a-b"] }))
        .collect();
    let mut json = square(&json!(naps), &flooding("0 ms"));
    json["link"][0]["queue"] = json!({ "kind": "codel" });
    json["flow"][0]["rate"] = json!("8 Mb/s");
    assert!(link(&outcome(json), "a-b").asleep_packets >= 8);
}

#[test]
fn a_link_that_falls_asleep_as_the_run_ends_loses_what_is_on_it() {
    // As above, at 2 s: 4n + 11 < 2000 and 4n + 22 > 2000: n = 495, 496, 497. The link has slept for zero time.
    let run = outcome(square(&json!([{ "at": "1.9 s", "drain": "100 ms", "links": ["b-d"] }]), &flooding("1 s")));
    let asleep = link(&run, "b-d");
    assert_eq!((asleep.asleep_packets, asleep.asleep_s, flow(&run, "f").packets_dropped), (3, 0.0, 3));
    assert_eq!(flow(&run, "f").delivered_bytes, 495 * 1500);
}

#[test]
fn the_network_s_energy_is_that_of_its_links() {
    // FS: 8 links x 2 s x 1 W = 16 J. Two of them sleep for 1 s: 14 J. A measured port asleep keeps its share of the
    // box and its transceiver.
    let mut json = square(&json!([{ "at": "1 s", "links": ["d-b"] }]), &flooding("30 ms"));
    json["power"] = json!([{ "model": "fs" }, { "model": "nexus-9336-fx2" }, { "model": "ons-15600" }]);
    json["phase"] = json!([{ "name": "before", "to": "1 s" }, { "name": "after", "from": "1 s" }]);
    let run = outcome(json);
    let energy = |model: &str| run.summary.network.energy.get(model).expect("a model");
    close(energy("fs").total_j, 14.0, 1e-9);
    close(energy("fs").saving.expect("a model without traffic"), 2.0 / 16.0, 1e-12);
    close(energy("ons-15600").total_j, 14.0 * 2240.0, 1e-6);
    let nexus = energy("nexus-9336-fx2");
    close(nexus.asleep_j, 2.0 * (285.31 / 36.0 + 2.791), 1e-9);
    close(nexus.reference_j - nexus.total_j, 2.0 * (1.903 - 0.063), 1e-9);
    let phase = |name: &str| &run.summary.phase.get(name).expect("a phase").network.energy;
    // Mean powers: 14 J in 2 s, 8 links before, 6 after.
    for (found, watts) in [
        (energy("fs"), 7.0),
        (phase("before").get("fs").expect("fs"), 8.0),
        (phase("after").get("fs").expect("fs"), 6.0),
    ] {
        close(found.mean_w, watts, 1e-9);
    }
    // The links that slept: 1 J in 2 s.
    close(link(&run, "b-d").energy.get("fs").expect("fs").mean_w, 0.5, 1e-9);
    let after = run.summary.phase.get("after").expect("a phase");
    close(phase("after").get("fs").expect("fs").saving.expect("no traffic"), 0.25, 1e-12);
    // The reference of a network whose links slept would carry the detours of its traffic.
    assert_eq!((nexus.saving, phase("after").get("nexus-9336-fx2").expect("nexus").saving), (None, None));
    assert_eq!(phase("before").get("nexus-9336-fx2").expect("nexus").saving, Some(0.0));
    assert!(after.link.get("b-d").is_some_and(|link| link.asleep_s == 1.0 && link.utilisation == 0.0));
    close(phase("before").get("fs").expect("fs").saving.expect("no traffic"), 0.0, 1e-12);
}

#[test]
fn tcp_survives_a_network_that_sleeps_and_wakes_under_codel_red_and_requests() {
    let mut json = square(
        &json!([
            { "at": "3 s", "links": ["b-d", "c-d"], "spacing": "2 s", "wake": "4 s", "wake_time": "50 ms" },
            { "at": "9 s", "links": ["a-b"], "drain": "30 ms", "wake": "11 s" },
        ]),
        &flooding("20 ms"),
    );
    json["duration"] = "14 s".into();
    json["link"][1]["queue"] = json!({ "kind": "codel" });
    json["link"][0]["queue"] = json!({ "kind": "red", "ecn": "early" });
    json["link"][0]["noise"] = json!({ "mean": "3 ms", "shape": 2.0 });
    json["flow"] = json!([
        { "kind": "tcp", "name": "t", "from": "a", "to": "d", "tcp": { "ecn": "classic" } },
        { "kind": "requests", "name": "w", "from": "d", "to": "a", "offered": "1 Mb/s", "size": { "kind": "exponential", "mean": "20 kB" } },
        { "kind": "poisson", "name": "p", "from": "b", "to": "c", "rate": "500 kb/s", "packet": "300 B", "jitter": "10 ms" },
    ]);
    let run = outcome(json);
    assert!(routing(&run).asleep_packets > 0, "{:?}", routing(&run));
    assert_eq!(routing(&run).sleep.len(), 3);
    assert!(flow(&run, "t").goodput_bps > 4e6, "{}", flow(&run, "t").goodput_bps);
    assert!(flow(&run, "w").requests_completed.is_some_and(|done| done > 20));
}

#[test]
fn a_node_that_nothing_leads_to_is_unroutable() {
    // Both paths to d sleep from 1 s on. b and c know by their own tables, 30 ms later.
    let run = outcome(square(&json!([{ "at": "1 s", "links": ["b-d", "c-d"] }]), &flooding("30 ms")));
    let lost = routing(&run);
    // Of 501 datagrams (one is sent at the very end) those with 4n + 22 <= 1000 arrive: 245. 3 + 7 are lost on b-d, as
    // before. Datagrams that reach b from 1.031 on and those sent from 1.040 on have no route. b has none of its own.
    // a's route leads by c, and a learns of c-d at 1.010, in time for its new table.
    assert_eq!(flow(&run, "f").delivered_bytes, 245 * 1500);
    assert_eq!((lost.asleep_packets, lost.unroutable_packets), (10, 501 - 245 - 10));
    assert_eq!(flow(&run, "f").packets_dropped, 501 - 245);
}

#[test]
fn hops_are_counted_where_a_limit_is_given() {
    // Two hops to d: with a limit of two, packets cannot continue after the second hop; with a limit of one, not after
    // b.
    let counted = |ttl: u8| outcome(square(&json!([]), &json!({ "ttl": ttl })));
    assert_eq!(flow(&counted(2), "f").packets_dropped, 0);
    let short = counted(1);
    // All packets that reached b: 4n + 11 <= 2000, n <= 497.
    assert_eq!((routing(&short).expired_packets, flow(&short, "f").delivered_bytes), (498, 0));
    assert_eq!(routing(&short).convergence_s, None);
}

#[test]
fn the_metric_decides_the_way() {
    let mut json = square(&json!([]), &json!({ "metric": "cost" }));
    json["link"][0]["cost"] = 5.into();
    assert_eq!(link(&outcome(json.clone()), "a-b").offered_packets, 0);
    json["routing"] = json!({ "metric": "hops" });
    assert_eq!(link(&outcome(json), "a-b").offered_packets, 501);
}

/// A cable a - b of 12 Mb/s without delay, and these sleeps. Datagrams of 1500 B, 1 ms on the link, go from a to b every
/// 4 ms from 0 on, 3 Mb/s, unless `flow` says otherwise.
fn cable(duration: &str, sleep: &Value, flows: &Value) -> Value {
    json!({
        "duration": duration, "nodes": ["a", "b"], "sleep": sleep, "flow": flows,
        "link": [{ "from": "a", "to": "b", "duplex": true, "rate": "12 Mb/s", "buffer": "200 packets" }],
    })
}

fn every_4_ms() -> Value {
    json!([{ "kind": "cbr", "name": "f", "from": "a", "to": "b", "rate": "3 Mb/s", "packet": "1500 B" }])
}

#[test]
fn a_link_that_holds_packets_sends_them_when_it_is_awake() {
    // The link is idle at 1 s, when it falls asleep, and awake at 1.6 s. The datagrams of 1.000, 1.004 ... 1.596 s wait: 150.
    // The first of them is 600 ms late. The backlog is gone at 1.6 s + 150 x 1 ms / (1 - 1/4) = 1.8 s. The last datagram, of
    // 1.996 s, is on the link until 1.997 s.
    let nap = json!({ "at": "1 s", "wake": "1.5 s", "wake_time": "100 ms", "links": ["a-b"], "while_asleep": "hold" });
    let run = outcome(cable("2 s", &json!([nap]), &every_4_ms()));
    let found = link(&run, "a-b");
    assert_eq!((found.dropped_packets, found.asleep_packets, found.max_queue_packets), (0, 0, 150));
    assert_eq!((found.largest_lateness_s, found.delivered_packets), (Some(0.6), 500));
    for direction in ["a-b", "b-a"] {
        let low = link(&run, direction).low_power.unwrap();
        let times = [low.asleep_s, low.waking_s, low.awake_s, low.entering_s];
        assert_eq!((times, low.sleeps), ([0.5, 0.1, 1.4, 0.0], 1));
        assert_eq!(link(&run, direction).asleep_s, 0.5);
    }
    // Routers hear nothing, so packets count no hops.
    assert!(run.summary.routing.is_none());
    // A buffer of 100 packets drops the other 50. It does not wake the link.
    let mut small = cable("2 s", &json!([nap]), &every_4_ms());
    small["link"][0]["buffer"] = "100 packets".into();
    let run = outcome(small);
    let found = link(&run, "a-b");
    assert_eq!((found.dropped_packets, found.low_power.unwrap().asleep_s), (50, 0.5));
}

#[test]
fn a_link_that_holds_packets_sleeps_when_its_queue_is_empty() {
    // 6 datagrams at 0.999 s: the queue is empty at 1.005 s. Without `wake` the link sleeps to the end.
    let six: Vec<_> = (0..6)
        .map(|number| {
            json!({ "kind": "cbr", "name": format!("{number}"), "from": "a", "to": "b", "rate": "1 Mb/s",
        "packet": "1500 B", "start": "999 ms", "stop": "999.5 ms" })
        })
        .collect();
    let nap = json!({ "at": "1 s", "links": ["a-b"], "while_asleep": "hold" });
    let low = link(&outcome(cable("2 s", &json!([nap]), &json!(six))), "a-b").low_power.unwrap();
    assert_eq!((low.awake_s, low.asleep_s, low.sleeps), (1.005, 0.995, 1));
    // A link with more traffic than it carries never sleeps.
    let mut busy = every_4_ms();
    busy[0]["rate"] = "13 Mb/s".into();
    let nap = json!({ "at": "1 s", "wake": "1.5 s", "links": ["a-b"], "while_asleep": "hold" });
    let low = link(&outcome(cable("2 s", &json!([nap]), &busy)), "a-b").low_power.unwrap();
    assert_eq!((low.awake_s, low.sleeps), (2.0, 0));
}

#[test]
fn the_first_packet_wakes_a_link_in_its_wake_time() {
    let once = |at: &str| json!([{ "kind": "cbr", "name": "f", "from": "a", "to": "b", "rate": "1 kb/s", "packet": "1500 B", "start": at }]);
    let nap = |wake_time: &str| json!({ "at": "10 s", "wake_time": wake_time, "links": ["a-b"], "while_asleep": "hold", "wake_on": "arrival" });
    // A coherent optic of 180 s: the datagram of 100 s begins to wake both directions, and leaves at 280.001 s. The link
    // stays awake.
    let run = outcome(cable("400 s", &json!([nap("180 s")]), &once("100 s")));
    assert_eq!(link(&run, "a-b").largest_lateness_s, Some(180.0));
    for direction in ["a-b", "b-a"] {
        let low = link(&run, direction).low_power.unwrap();
        assert_eq!((low.asleep_s, low.waking_s, low.awake_s, low.sleeps), (90.0, 180.0, 130.0, 1));
    }
    // Fast wake of 0.34 us.
    let run = outcome(cable("400 s", &json!([nap("340 ns")]), &once("100 s")));
    let low = link(&run, "a-b").low_power.unwrap();
    assert_eq!((low.waking_s, link(&run, "a-b").largest_lateness_s), (340e-9, Some(340e-9)));
    // `wake` comes before the first datagram: the link wakes at 50 s. By another entry it sleeps from 200 s. Datagrams follow
    // every 12 s, and that of 208 s wakes it.
    let mut naps = [nap("2 s"), nap("2 s")];
    (naps[0]["wake"], naps[1]["wake"]) = ("50 s".into(), "300 s".into());
    naps[1]["at"] = "200 s".into();
    let low = link(&outcome(cable("400 s", &json!(naps), &once("100 s"))), "a-b").low_power.unwrap();
    assert_eq!((low.asleep_s, low.waking_s, low.sleeps), (40.0 + 8.0, 4.0, 2));
}

#[test]
fn what_a_link_that_holds_packets_cannot_do_is_named() {
    let refused = |changes: Value| {
        let mut nap = json!({ "at": "1 s", "wake": "1.5 s", "links": ["a-b"], "while_asleep": "hold" });
        nap.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let others = json!({ "at": "1.7 s", "wake": "1.8 s", "links": ["a-b"], "while_asleep": "hold" });
        scenario(&cable("2 s", &json!([nap, others]), &every_4_ms())).unwrap_err().to_string()
    };
    let drain = refused(json!({ "drain": "20 ms" }));
    assert!(drain.starts_with("sleep.0.drain: is 20 ms; expected 0 s for links that hold packets"), "{drain}");
    let arrival = refused(json!({ "while_asleep": "refuse", "wake_on": "arrival" }));
    assert!(arrival.starts_with("sleep.0.wake_on: is \"arrival\", but packets go around"), "{arrival}");
    let long = refused(json!({ "wake_time": "181 s" }));
    assert!(long.starts_with("sleep.0.wake_time: is 181 s; expected at most 180 s"), "{long}");
    let both = refused(json!({ "while_asleep": "refuse" }));
    assert!(both.starts_with("sleep.1.while_asleep: differs from that of another entry with \"a-b\""), "{both}");
    for (field, value) in [("wake_time", "1 ms"), ("wake_on", "arrival")] {
        let differs = refused(json!({ field: value }));
        assert!(differs.starts_with(&format!("sleep.1.{field}: differs from that of another entry")), "{differs}");
    }
    let overlap = refused(json!({ "wake": "1.7 s" }));
    assert!(overlap.contains("puts \"a-b\" to sleep, which sleeps from 1.0"), "{overlap}");
}

#[test]
fn a_plan_may_choose_links_that_hold_packets() {
    // Of the square, a plan leaves a tree awake: one link sleeps, and no packet is lost.
    let nap = json!({ "at": "1 s", "wake": "1.5 s", "wake_time": "10 ms", "while_asleep": "hold", "plan": { "kind": "load_aware", "bound": 0.9 } });
    let run = outcome(square(&json!([nap]), &json!({})));
    let slept: Vec<_> = run.summary.links.iter().filter_map(|link| Some((link.name, link.low_power?.sleeps))).collect();
    assert_eq!(slept.iter().map(|(_, sleeps)| *sleeps).collect::<Vec<_>>(), [1, 1], "{slept:?}");
    assert_eq!(flow(&run, "f").packets_dropped, 0);
}

#[test]
fn what_cannot_sleep_is_named() {
    let why = |sleep: Value, change: &dyn Fn(&mut Value)| {
        let mut json = square(&sleep, &flooding("30 ms"));
        change(&mut json);
        scenario(&json).expect_err("refused").to_string()
    };
    let nothing = |_: &mut Value| {};
    let has = |expected: &str, found: String| assert!(found.contains(expected), "{expected:?} not in {found:?}");
    has(
        "sleep.0.links.0: \"x\" is not a link; expected one of a-b, b-d, a-c, c-d",
        why(json!([{ "at": "1 s", "links": ["x"] }]), &nothing),
    );
    has(
        "sleep.0.at: is 2 s; expected a time before the run ends at 2 s",
        why(json!([{ "at": "2 s", "links": ["a-b"] }]), &nothing),
    );
    has("sleep.0: has both or neither of `links` and `plan`", why(json!([{ "at": "1 s" }]), &nothing));
    has(
        "sleep.0.wake: is 1 s; expected a time after",
        why(json!([{ "at": "1 s", "links": ["a-b"], "wake": "1 s" }]), &nothing),
    );
    let twice = json!([{ "at": "1 s", "links": ["a-b"], "wake": "1.5 s" }, { "at": "1.2 s", "links": ["b-a"] }]);
    has(
        "sleep.1.links.0: puts \"a-b\" to sleep, which sleeps from 1.000000000 s to 1.500000000 s",
        why(twice, &nothing),
    );
    let controlled =
        |json: &mut Value| json["link"][0]["controller"] = json!({ "kind": "awm", "target": "10 packets" });
    has(
        "sleep.0.links.0: \"a-b\" has a controller; expected a link of fixed rate",
        why(json!([{ "at": "1 s", "links": ["a-b"] }]), &controlled),
    );
    for ttl in [0, 256, 300] {
        let said = why(json!([]), &|json| json["routing"]["ttl"] = ttl.into());
        has(&format!("routing.ttl: is {ttl}; expected 1 to 255 hops"), said);
    }
    has("sleep.0.links: is empty", why(json!([{ "at": "1 s", "links": [] }]), &nothing));
    has(
        "routing.update.kind: \"magic\" is unknown",
        why(json!([]), &|json| json["routing"]["update"]["kind"] = "magic".into()),
    );
    has("position.z: \"z\" is not a node", why(json!([]), &|json| json["position"] = json!({ "z": [0.0, 0.0] })));
    has(
        "position.a: is 200, 0; expected degrees",
        why(json!([]), &|json| json["position"] = json!({ "a": [200.0, 0.0] })),
    );
}

#[test]
fn a_plan_counts_the_flows_that_may_send_while_the_links_sleep() {
    // 5 of 12 Mb/s go from a to c. Next to the 3 Mb/s by b they exceed the bound of .5: c-d sleeps instead of a-c.
    let planned = |sleep: Value, flow: Value| {
        let mut json = square(&json!([sleep]), &flooding("30 ms"));
        json["flow"].as_array_mut().expect("flows").push(flow);
        let run = outcome(json);
        routing(&run).sleep.iter().map(|nap| nap.link.clone()).collect::<Vec<_>>()
    };
    let plan = json!({ "kind": "load_aware", "bound": 0.5 });
    let tcp = |more: Value| {
        let mut flow = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "c" });
        flow.as_object_mut().expect("a table").extend(more.as_object().expect("a table").clone());
        flow
    };
    let sleep = json!({ "at": "1 s", "plan": plan });
    assert_eq!(planned(sleep.clone(), tcp(json!({}))), ["a-c"]);
    assert_eq!(planned(sleep.clone(), tcp(json!({ "write_rate": "5 Mb/s" }))), ["c-d"]);
    assert_eq!(planned(sleep, tcp(json!({ "write_rate": "5 Mb/s", "stop": "0.9 s" }))), ["a-c"]);
    let cbr = json!({ "kind": "cbr", "name": "t", "from": "a", "to": "c", "rate": "5 Mb/s", "start": "1.5 s" });
    assert_eq!(planned(json!({ "at": "1 s", "wake": "1.4 s", "plan": plan }), cbr.clone()), ["a-c"]);
    assert_eq!(planned(json!({ "at": "1 s", "wake": "1.6 s", "plan": plan }), cbr.clone()), ["c-d"]);
    // The link sleeps until it is awake again; a single link can be spared, so `spacing` changes nothing.
    assert_eq!(
        planned(json!({ "at": "1 s", "wake": "1.4 s", "wake_time": "200 ms", "plan": plan }), cbr.clone()),
        ["c-d"]
    );
    assert_eq!(planned(json!({ "at": "1 s", "wake": "1.4 s", "spacing": "200 ms", "plan": plan }), cbr), ["a-c"]);
}

#[test]
fn a_plan_counts_the_flows_until_the_last_link_is_awake() {
    // Two triangles a-b-c and a-d-e: two links can be spared, the second wakes 1 s after the first.
    let link = |(from, to): (&str, &str)| json!({ "from": from, "to": to, "duplex": true, "rate": "10 Mb/s", "delay": "1 ms" });
    let ends = [("a", "b"), ("b", "c"), ("a", "c"), ("a", "d"), ("d", "e"), ("a", "e")];
    let planned = |wake: &str| {
        let flow = |to: &str, rate: &str, start: &str| json!({ "kind": "cbr", "name": to, "from": "a", "to": to, "rate": rate, "start": start });
        let document = json!({
            "name": "late", "duration": "4 s", "nodes": ["a", "b", "c", "d", "e"],
            "link": ends.map(link),
            "flow": [flow("b", "1 Mb/s", "0 s"), flow("c", "7 Mb/s", "2.5 s")],
            "sleep": [{
                "at": "1 s", "wake": wake, "spacing": "1 s", "plan": { "kind": "load_aware", "bound": 0.8 },
            }],
        });
        routing(&outcome(document)).sleep.iter().map(|nap| nap.link.clone()).collect::<Vec<_>>()
    };
    // The second link sleeps until 2.4 or 2.6 s. Only the latter plan knows the 7 Mb/s from a to c.
    assert_eq!(planned("1.4 s"), ["a-c", "a-d"]);
    assert_eq!(planned("1.6 s"), ["a-d", "b-c"]);
}

#[test]
fn a_plan_sees_the_links_that_sleep_already() {
    // A ring a-b-c-d with the chord a-c. Once a-b sleeps, only the ring a-c-d survives a failure of its links.
    let link = |(from, to): (&str, &str)| json!({ "from": from, "to": to, "duplex": true, "rate": "10 Mb/s", "delay": "1 ms" });
    let ends = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")];
    let planned = |entries: Value| {
        let document = json!({
            "name": "twice", "duration": "4 s", "nodes": ["a", "b", "c", "d"], "link": ends.map(link),
            "flow": [{ "kind": "cbr", "name": "f", "from": "a", "to": "b", "rate": "1 Mb/s" }],
            "sleep": entries,
        });
        routing(&outcome(document)).sleep.iter().map(|nap| nap.link.clone()).collect::<Vec<_>>()
    };
    let plan = json!({ "at": "2 s", "plan": { "kind": "load_aware", "bound": 0.9, "failure_bound": 0.9 } });
    let first = json!({ "at": "1 s", "links": ["a-b"] });
    assert_eq!(planned(json!([plan])), ["a-c"]);
    assert_eq!(planned(json!([first, plan])), ["a-b"]);
    assert_eq!(planned(json!([plan, first])), ["a-b"], "the order is that of time");
    let short = json!({ "at": "1 s", "wake": "1.5 s", "links": ["a-b"] });
    assert_eq!(planned(json!([short, plan])), ["a-b", "a-c"], "it is awake again");
}

#[test]
fn plans_without_rates_warn() {
    let warnings = |flow: Value, plan: Value| {
        let mut json = square(&json!([{ "at": "1 s", "plan": plan }]), &flooding("30 ms"));
        json["flow"] = json!([flow]);
        scenario(&json).expect("a scenario").warnings()
    };
    let plan = json!({ "kind": "load_aware", "bound": 0.5 });
    let tcp = json!({ "kind": "tcp", "name": "t", "from": "a", "to": "c" });
    let said = "sleep.0.plan: every link counts as idle: the rate of TCP is unknown; expected write_rate";
    assert!(warnings(tcp.clone(), plan.clone())[0].starts_with(said), "{:?}", warnings(tcp.clone(), plan));
    assert!(warnings(tcp.clone(), json!({ "kind": "load_aware", "bound": 0.5, "tcp_rate": "1 Mb/s" })).is_empty());
    assert!(warnings(tcp, json!({ "kind": "estop", "threshold": 0.5 })).is_empty());
    let early = json!({ "kind": "cbr", "name": "t", "from": "a", "to": "c", "rate": "1 Mb/s", "stop": "500 ms" });
    let said = "sleep.0.plan: every link counts as idle: no flow sends while the links sleep";
    assert!(warnings(early, json!({ "kind": "load_aware", "bound": 0.5 }))[0].starts_with(said));
}

#[test]
fn a_plan_of_a_recorded_scenario_counts_the_recorded_flows() {
    let link =
        |from: &str, to: &str| json!({ "from": from, "to": to, "duplex": true, "rate": "10 Mb/s", "delay": "5 ms" });
    let slept = |recording: &Value| {
        let mut document = json!({
            "name": "recorded", "duration": "3 s", "nodes": ["a", "b", "c"],
            "link": [link("a", "b"), link("b", "c"), link("a", "c")],
            "flow": [{ "kind": "cbr", "name": "data", "from": "a", "to": "b", "rate": "2 Mb/s" }],
            "sleep": [{ "at": "1 s", "plan": { "kind": "load_aware", "bound": 0.9 } }],
        });
        if !recording.is_null() {
            document["recording"] = recording.clone();
        }
        routing(&outcome(document)).sleep.iter().map(|nap| nap.link.clone()).collect::<Vec<_>>()
    };
    let without = slept(&Value::Null);
    assert!(!without.contains(&"a-b".to_owned()), "{without:?}");
    assert_eq!(slept(&json!({ "flows": ["data"], "link": "a-b" })), without);
}

#[test]
fn plans_choose_the_links() {
    // A ring of four: betweenness is the same for all links, so ESTOP tries a-b first. A path of four has lambda_2 = 2
    // - sqrt 2 = .586, the ring has 2: the ratio is .293. No other link may sleep.
    let planned = |plan: Value| {
        let run = outcome(square(&json!([{ "at": "1 s", "plan": plan }]), &flooding("30 ms")));
        routing(&run).sleep.iter().map(|nap| nap.link.clone()).collect::<Vec<_>>()
    };
    assert_eq!(planned(json!({ "kind": "estop", "threshold": 0.29 })), ["a-b"]);
    assert_eq!(planned(json!({ "kind": "estop", "threshold": 0.30 })), Vec::<String>::new());
    assert_eq!(planned(json!({ "kind": "esacon", "threshold": 0.29 })), ["a-b"]);
    // 3 of 12 Mb/s go by b. The other two links are idle, and one of them sleeps first.
    assert_eq!(planned(json!({ "kind": "load_aware", "bound": 0.5 })), ["a-c"]);
    // Without c the network is a line, which needs every link.
    assert_eq!(planned(json!({ "kind": "load_aware", "bound": 0.5, "nodes": ["a", "b", "d"] })), Vec::<String>::new());
    let why = |plan: Value| {
        let json = square(&json!([{ "at": "1 s", "plan": plan }]), &flooding("30 ms"));
        scenario(&json).expect_err("refused").to_string()
    };
    let has = |expected: &str, found: String| assert!(found.contains(expected), "{expected:?} not in {found:?}");
    has("sleep.0.plan.threshold: is 1.5; expected", why(json!({ "kind": "estop", "threshold": 1.5 })));
    has("sleep.0.plan.bound: is 0; expected", why(json!({ "kind": "load_aware", "bound": 0.0 })));
    has(
        "sleep.0.plan.nodes.1: \"x\" is not a node",
        why(json!({ "kind": "estop", "threshold": 0.5, "nodes": ["a", "x"] })),
    );
    has(
        "sleep.0.plan: no duplex links lead from \"a\" to \"d\"",
        why(json!({ "kind": "estop", "threshold": 0.5, "nodes": ["a", "d"] })),
    );
    has(
        "sleep.0.plan.nodes: is an empty list; expected at least one node",
        why(json!({ "kind": "estop", "threshold": 0.5, "nodes": [] })),
    );
    has("sleep.0.plan.threshold: is missing; expected a number", why(json!({ "kind": "estop", "nodes": ["a", "b"] })));
    has("sleep.0.plan.kind: \"guess\" is unknown", why(json!({ "kind": "guess" })));
    has(
        "sleep.0.plan: \"tcp_rate\" is unknown; expected one of threshold, nodes",
        why(json!({ "kind": "estop", "threshold": 0.5, "tcp_rate": "1 Mb/s" })),
    );
    has("sleep.0.plan.tcp_rate: is 7; expected ", why(json!({ "kind": "load_aware", "bound": 0.5, "tcp_rate": 7 })));
}

#[test]
fn plans_are_written_in_one_order_of_fields() {
    // Stores use the text of a scenario as its key.
    let written = |plan: Value| {
        let json = square(&json!([{ "at": "1 s", "plan": plan }]), &flooding("30 ms"));
        let document = read_document(&json.to_string()).expect("valid");
        serde_json::to_string(&document.sleep[0].plan).expect("writes")
    };
    assert_eq!(written(json!({ "threshold": 1, "kind": "estop" })), r#"{"kind":"estop","threshold":1.0}"#);
    assert_eq!(
        written(json!({ "nodes": ["a", "b"], "threshold": 0.5, "kind": "esacon" })),
        r#"{"kind":"esacon","threshold":0.5,"nodes":["a","b"]}"#
    );
    assert_eq!(
        written(json!({ "kind": "load_aware", "bound": 0.5 })),
        r#"{"kind":"load_aware","bound":0.5,"threshold":0.0,"tcp_rate":"0 b/s"}"#
    );
    assert_eq!(
        written(json!({ "nodes": ["a"], "tcp_rate": "1 Mb/s", "threshold": 0.25, "bound": 1, "kind": "load_aware" })),
        r#"{"kind":"load_aware","bound":1.0,"threshold":0.25,"tcp_rate":"1 Mb/s","nodes":["a"]}"#
    );
}

/// Puts the given links to sleep, regardless of their load, and expects demands of 3 Mb/s between the first and the
/// last node.
#[derive(Debug)]
struct Chosen(Vec<usize>);

impl SleepPlanner for Chosen {
    fn reads_traffic(&self) -> bool {
        true
    }

    fn plan(&self, graph: &Graph, traffic: &Traffic) -> Result<SleepPlan, ConfigError> {
        let demand = Demand { from: 0, to: graph.nodes() - 1, rate: BitRate::from_mbps(3) };
        if traffic.demands != [demand] {
            return Err(ConfigError::new("demands", format!("{:?}", traffic.demands), "3 Mb/s"));
        }
        Ok(SleepPlan { initial_connectivity: 2.0, off: self.0.clone(), steps: Vec::new() })
    }
}

#[test]
fn a_plan_from_outside_chooses_the_links() {
    let json = square(&json!([{ "at": "1 s", "links": ["b-d"] }]), &flooding("30 ms"));
    let planned = |entry, off: &[usize]| {
        let mut document = read_document(&json.to_string()).expect("valid");
        document.set_sleep_plan(entry, Arc::new(Chosen(off.to_vec()))).map_err(|error| error.to_string())?;
        let scenario = Scenario::from_document(&document).map_err(|error| error.to_string())?;
        Ok(scenario.sleep.cables.into_iter().map(|cable| cable.name).collect::<Vec<_>>())
    };
    assert_eq!(planned(0, &[2, 0]), Ok(vec!["a-c".to_owned(), "a-b".to_owned()]));
    let refused = |entry, off: &[usize]| -> String { planned(entry, off).expect_err("refused") };
    assert_eq!(refused(1, &[0]), "sleep.1: does not exist; expected a number below 1");
    assert_eq!(refused(0, &[4]), "sleep.0.plan: puts link 4 to sleep; expected a number below 4");
}

/// A ring with chords, flows of all kinds, links that sleep, drain and wake, and updates with random delays.
fn random_network(choices: &[u32]) -> Value {
    let mut next = choices.iter().copied().cycle();
    let mut pick = |most: u32| next.next().unwrap_or_default() % most;
    let nodes = 5 + pick(4);
    let name = |node: u32| format!("n{node}");
    let mut ends: Vec<(u32, u32)> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
    for _ in 0..2 {
        let (a, b) = (pick(nodes), pick(nodes));
        if a != b && !ends.contains(&(a, b)) && !ends.contains(&(b, a)) {
            ends.push((a, b));
        }
    }
    let queue = |kind: u32| match kind {
        0 => json!({ "kind": "codel" }),
        1 => json!({ "kind": "red" }),
        _ => json!({ "kind": "drop_tail" }),
    };
    let links: Vec<Value> = ends
        .iter()
        .map(|&(a, b)| {
            json!({
                "from": name(a), "to": name(b), "duplex": true, "cost": 1 + pick(3), "rate": format!("{} Mb/s", 1 + pick(8)),
                "delay": format!("{} ms", pick(20)), "buffer": format!("{} packets", 2 + pick(30)), "queue": queue(pick(8)),
            })
        })
        .collect();
    let mut flows = Vec::new();
    for flow in 0..4 + pick(4) {
        let (from, to) = (pick(nodes), pick(nodes - 1));
        let to = if to >= from { to + 1 } else { to };
        let (kind, rate) =
            (["tcp", "cbr", "poisson", "requests"][pick(4) as usize], format!("{} kb/s", 200 + pick(900)));
        let mut json = json!({ "kind": kind, "name": format!("f{flow}"), "from": name(from), "to": name(to) });
        match kind {
            "tcp" => json["start"] = format!("{} ms", pick(2000)).into(),
            "requests" => {
                json["offered"] = rate.into();
                json["size"] = json!({ "kind": "exponential", "mean": "20 kB" });
            }
            _ => json["rate"] = rate.into(),
        }
        flows.push(json);
    }
    let mut sleep = Vec::new();
    for (at, &(a, b)) in ends.iter().enumerate().take(1 + pick(3) as usize) {
        let at = 300 + 700 * at as u32 + pick(900);
        let mut nap = json!({ "at": format!("{at} ms"), "links": [format!("{}-{}", name(a), name(b))], "drain": format!("{} ms", 40 * pick(3)) });
        if pick(3) > 0 {
            nap["wake"] = format!("{} ms", at + 200 + pick(2000)).into();
            nap["wake_time"] = format!("{} ms", pick(50)).into();
        }
        sleep.push(nap);
    }
    let update = match pick(3) {
        0 => json!({ "kind": "simultaneous", "after": format!("{} ms", pick(100)) }),
        _ => {
            json!({ "kind": "flooding", "processing": format!("{} ms", pick(40)), "computation": format!("{} ms", pick(60)) })
        }
    };
    json!({
        "duration": "5 s", "seed": pick(1000), "nodes": (0..nodes).map(name).collect::<Vec<_>>(), "link": links, "flow": flows, "sleep": sleep,
        "routing": { "ttl": 6 + pick(20), "update": update },
        "phase": [{ "name": "late", "from": format!("{} ms", 500 + pick(3000)) }],
        "probe": { "interval": format!("{} ms", 50 + pick(900)), "drops": pick(2) == 0, "window": pick(3) == 0 },
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(48), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whether_packets_are_watched_changes_nothing_where_links_sleep(choices in proptest::collection::vec(0_u32..100_000, 90)) {
        let run = outcome(random_network(&choices));
        assert!(run.summary.checks > 0);
    }
}
