//! Links: serialisation, queues, drops and rate changes, compared with arithmetic and queueing theory.

use crate::common::{close, floats, flow, link, outcome, scenario, table};
use netlull_sim::run::{Unwatched, measure, run};
use serde_json::{Value, json};

fn one_link(duration: &str, link: Value, flows: Value) -> Value {
    let mut wire = json!({ "from": "a", "to": "b", "rate": "10 Mb/s", "delay": "5 ms", "buffer": "unlimited" });
    for (key, value) in link.as_object().expect("a table") {
        wire[key] = value.clone();
    }
    json!({ "duration": duration, "nodes": ["a", "b"], "link": [wire], "flow": flows })
}

fn cbr(rate: &str) -> Value {
    json!({ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": rate })
}

#[test]
fn a_packet_arrives_when_arithmetic_says_to_the_nanosecond() {
    // 1500 B at 7 Mb/s take 12000/7 us = 1714285.714 ns; back to back the n-th ends at floor(n 12000/7 us). A source
    // at 100 Mb/s keeps the link busy. Deliveries follow 5 ms later. The replay verifier compares every packet; this
    // test compares the count. All packets n with floor(n * 1714285.714 ns) + 5 ms <= 1 s are n <= 580.4.
    let run = outcome(one_link("1 s", json!({ "rate": "7 Mb/s" }), json!([cbr("100 Mb/s")])));
    assert_eq!(link(&run, "a-b").delivered_packets, 580);
    // Offered: a packet every 120 us, the first at 0, the last at 1 s: 8334.
    assert_eq!(link(&run, "a-b").offered_packets, 8334);
}

#[test]
fn drop_tail_holds_its_limit_in_packets_and_in_bytes() {
    let burst = |buffer: &str| {
        // 12 packets of 1500 B arrive 12 us apart at a link that needs 1.2 ms for each.
        let flows = json!([{ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "1 Gb/s", "stop": "140 us" }]);
        let run = outcome(one_link("1 s", json!({ "buffer": buffer }), flows));
        (flow(&run, "c").packets_sent, link(&run, "a-b").delivered_packets, link(&run, "a-b").max_queue_packets)
    };
    // One packet is in service, the others are in the buffer.
    assert_eq!(burst("5 packets"), (12, 6, 5));
    assert_eq!(burst("7500 B"), (12, 6, 5));
    assert_eq!(burst("8999 B"), (12, 6, 5), "5.999 packets are five");
    assert_eq!(burst("unlimited"), (12, 12, 11));
}

#[test]
fn a_byte_buffer_is_empty_again_after_a_pause() {
    // Three bursts of 12 packets, 100 ms apart. Each finds the link idle, so six packets of each pass.
    let burst = |name: &str, start: u64| {
        json!({ "kind": "cbr", "name": name, "from": "a", "to": "b", "rate": "1 Gb/s",
                "start": format!("{start} ms"), "stop": format!("{} us", start * 1000 + 140) })
    };
    let flows = json!([burst("x", 0), burst("y", 100), burst("z", 200)]);
    let run = outcome(one_link("1 s", json!({ "buffer": "7500 B" }), flows));
    let dropped: Vec<u64> = run.summary.flows.iter().map(|flow| flow.packets_dropped).collect();
    assert_eq!(dropped, [6, 6, 6]);
}

#[test]
fn a_packet_that_leaves_makes_room_for_one_that_arrives_at_the_same_instant() {
    // Two sources of a packet per 1.2 ms into a link that sends a packet per 1.2 ms, with a buffer of one packet. At
    // each instant 1.2 n ms one departs and two arrive. The first is queued, the second is dropped (from the second
    // round on).
    let source =
        |name: &str| json!({ "kind": "cbr", "name": name, "from": "a", "to": "b", "rate": "10 Mb/s", "stop": "12 ms" });
    let run = outcome(one_link("1 s", json!({ "buffer": "1 packet" }), json!([source("x"), source("y")])));
    assert_eq!((flow(&run, "x").packets_dropped, flow(&run, "y").packets_dropped), (0, 9));
}

#[test]
fn poisson_arrivals_at_a_fixed_rate_wait_as_m_d_1_says() {
    // M/D/1: the mean wait is rho s / (2 (1 - rho)). At rho = 0.8 and s = 1.2 ms it is 2.4 ms, and the mean queue is
    // rho^2 / (2 (1 - rho)) = 1.6 packets.
    let flows = json!([{ "kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": "8 Mb/s" }]);
    let run = outcome(one_link("2000 s", json!({}), flows));
    // 1.3 million packets. The waits are correlated over about 1/(1-rho)^2 of them: a few percent.
    close(link(&run, "a-b").mean_wait_s, 2.4e-3, 0.1e-3);
    close(link(&run, "a-b").mean_queue_packets, 1.6, 0.08);
    close(link(&run, "a-b").utilisation, 0.8, 0.01);
}

#[test]
fn a_long_queue_and_its_waits_are_counted_in_full() {
    // A packet arrives every 12 us and leaves every 1.2 ms. After 70 s the queue grows by 82,500 packets/s: its mean is
    // 2,887,500. The n-th of the 58,333 packets sent (from 0) has waited 1.188 n ms: a mean of 34.65 s. The sum over all
    // packets of their waits until transmission, 1.9e19 ns, exceeds 64 bits.
    let mut json = one_link("70 s", json!({}), json!([cbr("1 Gb/s")]));
    json["verify"] = "ledger".into();
    let run = run(&scenario(&json).expect("a scenario"), &mut Unwatched, None).expect("a run");
    close(link(&run, "a-b").mean_queue_packets, 2_887_500.0, 1.0);
    close(link(&run, "a-b").mean_wait_s, 34.65, 0.001);
}

#[test]
fn all_kinds_of_links_have_one_mean_wait() {
    // 20 Mb/s into 10 Mb/s for 10 s: the n-th packet (from 0) arrives at 0.6 n ms and leaves the queue at 1.2 n ms. 8,334
    // are sent or in service at the end: a mean of 0.6 * 8333 / 2 ms = 2.4999 s. The mean queue is 1.0e6 / 1.2 * 0.5 * 10 / 2
    // / 1000 = 4166.7 packets.
    let kinds = [
        ("fixed", json!({})),
        (
            "a step to the same rate",
            json!({ "capacity": { "kind": "steps", "steps": [{ "at": "5 s", "rate": "10 Mb/s" }] } }),
        ),
        ("noise", json!({ "noise": { "mean": "1 ms", "shape": 2.0 } })),
        ("codel that never acts", json!({ "queue": { "kind": "codel", "target": "20 s", "interval": "40 s" } })),
    ];
    for (kind, fields) in kinds {
        let run = outcome(one_link("10 s", fields, json!([cbr("20 Mb/s")])));
        let link = link(&run, "a-b");
        assert!((link.mean_wait_s - 2.4999).abs() < 1e-6, "{kind}: {}", link.mean_wait_s);
        assert!((link.mean_queue_packets - 4166.7).abs() < 1.0, "{kind}: {}", link.mean_queue_packets);
    }
}

fn steps(steps: &[(u64, u64)]) -> Value {
    let step = |&(at_us, rate): &(u64, u64)| json!({ "at": format!("{at_us} us"), "rate": format!("{rate} b/s") });
    json!({ "kind": "steps", "steps": steps.iter().map(step).collect::<Vec<_>>() })
}

#[test]
fn a_dip_of_the_capacity_holds_packets_only_while_it_lasts() {
    // 10 Mb/s into 10 Mb/s, and 100 ms of almost or exactly nothing: 83 packets queue up, none is dropped. In 18 s less the
    // dip, 17.9 s / 1.2 ms = 14,916 packets are sent; those of the last 5 ms have not arrived: 14,912.
    for low in [0, 1, 1000] {
        let dip = steps(&[(1_000_300, low), (1_100_300, 10_000_000)]);
        for more in [json!({}), json!({ "noise": { "mean": "1 us", "shape": 2.0 } })] {
            let mut fields = json!({ "capacity": dip, "buffer": "100 packets" });
            fields.as_object_mut().expect("a table").extend(more.as_object().expect("a table").clone());
            let run = outcome(one_link("18 s", fields, json!([cbr("10 Mb/s")])));
            let link = link(&run, "a-b");
            assert_eq!((link.offered_packets, link.dropped_packets), (15_001, 0), "{low} b/s");
            assert!((14_911..=14_913).contains(&link.delivered_packets), "{low} b/s: {}", link.delivered_packets);
        }
    }
}

#[test]
fn a_trace_in_steps_of_a_millisecond_delivers_its_integral() {
    // 3000 steps between 0 and 10 Mb/s under overload: bits delivered = integral of the capacity, within one packet.
    let trace: Vec<(u64, u64)> = (0..3000).map(|at| (1000 * at, (at * 7919 % 11) * 1_000_000)).collect();
    let integral: u64 = trace.iter().map(|(_, rate)| rate / 1000).sum();
    let fields = json!({ "capacity": steps(&trace), "delay": "0 s" });
    let run = outcome(one_link("3 s", fields, json!([cbr("12 Mb/s")])));
    let delivered = 8 * link(&run, "a-b").delivered_bytes;
    assert!(delivered <= integral && integral - delivered <= 12_000, "{delivered} of {integral} bit");
}

#[test]
fn every_change_of_a_capacity_is_checked() {
    let checks = |changes: &[(u64, u64)]| {
        let fields = json!({ "capacity": steps(changes) });
        outcome(one_link("1 s", fields, json!([cbr("12 Mb/s")]))).summary.checks
    };
    // A change has two bounds at least: of the bits since the last change, and of all bits.
    let many: Vec<(u64, u64)> = (0..500).map(|at| (1000 * at, (1 + at % 2) * 5_000_000)).collect();
    assert!(checks(&many) >= checks(&many[..1]) + 2 * 499);
}

#[test]
fn a_change_may_be_at_the_rounded_end_of_a_packet() {
    // 12,000 bit at 7 Mb/s take 1,714,285.7 ns. The packet leaves at the whole nanosecond before, in which the rate changes.
    let step = |at: &str, rate: &str| json!({ "at": at, "rate": rate });
    let changes = [step("0 s", "0 b/s"), step("1 ms", "7 Mb/s"), step("2714285 ns", "8 Mb/s")];
    let fields = json!({ "capacity": { "kind": "steps", "steps": changes } });
    let run = outcome(one_link("100 ms", fields, json!([cbr("12 Mb/s")])));
    assert!(link(&run, "a-b").delivered_packets > 0);
}

#[test]
fn a_redrawn_link_under_overload_uses_its_whole_capacity() {
    let redraw = json!({ "kind": "uniform_redraw", "min": "0 b/s", "max": "10 Mb/s", "mean_interval": "1 ms" });
    let run = outcome(one_link("20 s", json!({ "capacity": redraw, "delay": "0 s" }), json!([cbr("12 Mb/s")])));
    let link = link(&run, "a-b");
    let carried = link.mean_rate_bps * 20.0;
    close(8.0 * link.delivered_bytes as f64, carried - 6000.0, 6000.0 + 1.0);
}

#[test]
fn a_capacity_goes_with_neither_a_controller_nor_an_air() {
    let refusal = |json: Value| scenario(&json).expect_err("refused").to_string();
    let mut fields = practra(&json!({}));
    fields["capacity"] = steps(&[(1000, 0)]);
    assert!(
        refusal(one_link("1 s", fields, json!([cbr("1 Mb/s")]))).contains("a-b.capacity: conflicts with a controller")
    );
    let mut json = one_link("1 s", json!({ "capacity": steps(&[(1000, 0)]), "air": "x" }), json!([cbr("1 Mb/s")]));
    json["air"] = json!([{ "name": "x" }]);
    assert!(refusal(json).contains("air"));
}

#[test]
fn random_loss_takes_its_share() {
    let lossy = json!({ "loss": { "kind": "bernoulli", "probability": 0.1 } });
    let run = outcome(one_link("120 s", lossy, json!([cbr("10 Mb/s")])));
    // 100,000 packets, standard deviation sqrt(100000 * 0.1 * 0.9) = 95.
    close(link(&run, "a-b").lost_packets as f64, 10_000.0, 400.0);
    close(flow(&run, "c").loss_fraction, 0.1, 0.004);
}

fn practra(fields: &Value) -> Value {
    let mut controller = json!({
        "kind": "practra", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" },
        "transition": "2 ms", "min_interval": "50 ms", "delay_bound": "40 ms",
    });
    for (key, value) in fields.as_object().expect("a table") {
        controller[key] = value.clone();
    }
    json!({ "controller": controller })
}

#[test]
fn an_idle_link_goes_down_to_its_lowest_rate_and_stays() {
    // A packet at the start. The first sample ends at 50 ms. From then on the rate falls by one step per mRCI: nine
    // changes.
    let flows = json!([{ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "10 Mb/s", "stop": "1 ms" }]);
    let run = outcome(one_link("10 s", practra(&json!({})), flows));
    let summary = link(&run, "a-b");
    assert_eq!(summary.rate_changes, 9);
    let last = summary.residency.first().expect("the lowest rate");
    assert_eq!(last.rate_bps, 1_000_000);
    // Ideal frequency scaling: the saving follows from the mean rate, with pauses at the higher rate.
    assert!(summary.energy.get("fs").expect("fs").saving > Some(0.85));
    assert!(summary.energy.get("dvs").expect("dvs").saving > summary.energy.get("fs").expect("fs").saving);
}

#[test]
fn a_loaded_link_follows_its_load_and_changes_at_most_once_per_interval() {
    let run = outcome(one_link("20 s", practra(&json!({})), json!([cbr("4.5 Mb/s")])));
    let rates = table(&run, "rate");
    let times = floats(rates, "time_s");
    assert!(times[1..].windows(2).all(|pair| pair[1] - pair[0] >= 0.05 - 1e-12), "{times:?}");
    // 4.5 Mb/s fit in 5 Mb/s, but not in 4.
    let settled = floats(rates, "rate_bps").last().copied().expect("a rate");
    close(settled, 5e6, 1.0);
    close(link(&run, "a-b").utilisation, 0.9, 0.02);
}

#[test]
fn packets_that_arrive_as_the_one_before_leaves_lose_no_fraction_of_a_nanosecond() {
    // 1500 B at 7 Mb/s take 1714285.714 ns. A source of exactly that rate offers each packet in the nanosecond of the
    // previous departure, or in the next. Without a carry across these instants the link would gain 0.7 ns per packet.
    let link_json = json!({ "rate": "7 Mb/s", "controller": { "kind": "practra", "rates": ["7 Mb/s"],
        "transition": "2 ms", "min_interval": "50 ms", "delay_bound": "40 ms" } });
    let run = outcome(one_link("100 s", link_json, json!([cbr("7 Mb/s")])));
    // 100 s less 5 ms of propagation hold 99.995 s / 1714285.714 ns = 58330.4 packets. The verifier checks the rest.
    assert_eq!(link(&run, "a-b").delivered_packets, 58_330);
}

#[test]
fn every_change_costs_its_pause_also_while_one_packet_is_sent() {
    // At 0.1 Mb/s a packet takes 120 ms, the time of five decisions at mRCI 10 ms. Each causes a pause of 2 ms.
    for reading in ["finish_then_pause", "finish_while_pausing", "suspend"] {
        let rates = json!(["0.1 Mb/s", "1 Mb/s", "2 Mb/s", "3 Mb/s", "4 Mb/s", "5 Mb/s"]);
        let mut link_json = practra(
            &json!({ "rates": rates, "initial_rate": "0.1 Mb/s", "min_interval": "10 ms", "in_service": reading }),
        );
        link_json["rate"] = "5 Mb/s".into();
        let run = outcome(one_link("2 s", link_json, json!([cbr("8 Mb/s")])));
        let summary = link(&run, "a-b");
        let paused: f64 = summary.residency.iter().map(|part| part.transition_seconds).sum();
        assert_eq!(summary.rate_changes, 5, "{reading}");
        close(paused, 5.0 * 0.002, 1e-12);
    }
}

#[test]
fn every_reading_of_the_packet_in_service_conserves_and_differs() {
    let mean_wait = |reading: &str| {
        let bursts = json!([{ "kind": "bursts", "name": "b", "from": "a", "to": "b", "rate": "10 Mb/s",
                              "cycle": "300 ms", "mean_on": "100 ms" }]);
        let run = outcome(one_link("60 s", practra(&json!({ "in_service": reading })), bursts));
        assert!(link(&run, "a-b").rate_changes > 100);
        link(&run, "a-b").mean_wait_s
    };
    let waits = ["finish_then_pause", "finish_while_pausing", "suspend"].map(mean_wait);
    assert!(waits[0] != waits[1] && waits[1] != waits[2] && waits[0] != waits[2], "{waits:?}");
}

#[test]
fn a_redrawn_capacity_has_its_mean_and_its_range() {
    let capacity = json!({ "capacity": { "kind": "uniform_redraw", "min": "1 Mb/s", "max": "10 Mb/s", "mean_interval": "50 ms" } });
    let run = outcome(one_link("500 s", capacity, json!([cbr("1 Mb/s")])));
    // 10,000 draws of mean 5.5 Mb/s, weighted by exponential times: standard error 2.6 sqrt(2/10000) = 0.037 Mb/s.
    close(link(&run, "a-b").mean_rate_bps, 5.5e6, 0.15e6);
    let rates = floats(table(&run, "rate"), "rate_bps");
    assert!(rates.iter().all(|rate| (1e6..=10e6).contains(rate)));
    close(rates.len() as f64, 10_000.0, 400.0);
}

#[test]
fn a_buffer_that_disables_a_controller_is_a_warning() {
    // The step from 9 to 10 Mb/s needs d times 9 Mb/s: 45 kB for 40 ms, 90 kB for 80 ms. The buffer holds 60 kB.
    let told = |buffer: &str, controller: Value| {
        let link = json!({ "buffer": buffer, "controller": controller, "duplex": true });
        scenario(&one_link("1 s", link, json!([cbr("1 Mb/s")]))).expect("a scenario").warnings()
    };
    let practra = |bound: &str| {
        json!({
            "kind": "practra", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" },
            "transition": "2 ms", "min_interval": "16 ms", "delay_bound": bound,
        })
    };
    assert_eq!(told("40 packets", practra("40 ms")), Vec::<String>::new());
    assert_eq!(told("unlimited", practra("80 ms")), Vec::<String>::new());
    assert_eq!(
        told("40 packets", practra("80 ms")),
        ["link.a-b.controller.delay_bound: needs a queue of 90 kB; expected at most the buffer, 60 kB, \
          otherwise the rate hardly reaches 10 Mb/s"]
    );
    let awm = |target: &str| json!({ "kind": "awm", "target": target, "beta": "1 Mb/s" });
    assert_eq!(told("60 kB", awm("40 packets")), Vec::<String>::new());
    assert_eq!(
        told("60 kB", awm("41 packets")),
        ["link.a-b.controller.target: needs a queue of 61.5 kB; expected at most the buffer, 60 kB, \
          otherwise the suggested window grows without bound and limits no sender"]
    );
    let earth = |kind: &str, threshold: &str| {
        let mut table = awm("10 packets");
        table["kind"] = json!(kind);
        table["rates"] = json!({ "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" });
        table["threshold"] = json!(threshold);
        if kind == "earth" {
            for field in ["target", "beta"] {
                table.as_object_mut().unwrap().remove(field);
            }
        }
        table
    };
    for kind in ["earth", "awm_earth"] {
        assert_eq!(told("60 kB", earth(kind, "40 packets")), Vec::<String>::new());
        assert_eq!(
            told("60 kB", earth(kind, "41 packets")),
            ["link.a-b.controller.threshold: needs a queue of 61.5 kB; expected at most the buffer, 60 kB, \
              otherwise the rate never rises"]
        );
    }
    // 0.95 of the target: 40 packets of 42.1.
    let c_earth = |target: &str| {
        let round_trip = json!({ "kind": "timestamps", "initial": "50 ms" });
        json!({ "kind": "c_earth", "target": target, "min_rate": "1 Mb/s", "round_trip": round_trip })
    };
    assert_eq!(told("60 kB", c_earth("42 packets")), Vec::<String>::new());
    assert_eq!(
        told("60 kB", c_earth("43 packets")),
        ["link.a-b.controller.target: needs a queue of 61.3 kB; expected at most the buffer, 60 kB, \
          otherwise the rate stays too low"]
    );
}

#[test]
fn a_capacity_in_steps_follows_them() {
    // 10 Mb/s for 2 s, 5 for 3 s, 10 again for 5 s: (20 + 15 + 50) Mb in 10 s.
    let steps = json!([{ "at": "2 s", "rate": "5 Mb/s" }, { "at": "5 s", "rate": "10 Mb/s" }]);
    let run =
        outcome(one_link("10 s", json!({ "capacity": { "kind": "steps", "steps": steps } }), json!([cbr("1 Mb/s")])));
    close(link(&run, "a-b").mean_rate_bps, 8.5e6, 1.0);
    let rates = table(&run, "rate");
    assert_eq!(floats(rates, "time_s"), [0.0, 2.0, 5.0]);
    assert_eq!(floats(rates, "rate_bps"), [10e6, 5e6, 10e6]);
}

#[test]
fn a_capacity_may_begin_with_a_step() {
    // 4 Mb/s for 2 s, then 8 for 8 s: 72 Mb in 10 s. The start is no change.
    let steps = json!([{ "at": "0 s", "rate": "4 Mb/s" }, { "at": "2 s", "rate": "8 Mb/s" }]);
    let run =
        outcome(one_link("10 s", json!({ "capacity": { "kind": "steps", "steps": steps } }), json!([cbr("1 Mb/s")])));
    close(link(&run, "a-b").mean_rate_bps, 7.2e6, 1.0);
    assert_eq!((link(&run, "a-b").rate_changes, link(&run, "a-b").rate_bps), (1, 10_000_000));
    let rates = table(&run, "rate");
    assert_eq!((floats(rates, "time_s"), floats(rates, "rate_bps")), (vec![0.0, 2.0], vec![4e6, 8e6]));
}

#[test]
fn steps_must_go_forward_and_stay_below_the_links_rate() {
    let why = |steps: Value| {
        let link = json!({ "capacity": { "kind": "steps", "steps": steps } });
        scenario(&one_link("1 s", link, json!([cbr("1 Mb/s")]))).expect_err("bad").to_string()
    };
    let expected = "link.a-b.capacity.steps.1.at: is 2 s; expected a time after the step before it";
    let steps = json!([{ "at": "2 s", "rate": "5 Mb/s" }, { "at": "2 s", "rate": "1 Mb/s" }]);
    assert_eq!(why(steps), expected);
    assert!(why(json!([{ "at": "2 s", "rate": "11 Mb/s" }])).contains("steps.0.rate: is 11 Mb/s; expected"));
    assert!(why(json!([])).contains("capacity.steps: is empty"));
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_does_not() {
    let flows = json!([{ "kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": "8 Mb/s" }]);
    let run = |seed: u64| {
        let mut json = one_link("5 s", practra(&json!({})), flows.clone());
        json["seed"] = seed.into();
        let run = outcome(json);
        (serde_json::to_string(&run.summary).expect("writes"), run.tables)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).0, run(2).0);
}

#[test]
fn observing_never_changes_a_run() {
    let flows = json!([{ "kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": "8 Mb/s" }]);
    let run = |probe: Value| {
        let mut json = one_link("5 s", practra(&json!({})), flows.clone());
        json["probe"] = probe;
        serde_json::to_string(&outcome(json).summary).expect("writes")
    };
    assert_eq!(run(json!({})), run(json!({ "interval": "1 ms", "window": true, "drops": true, "variables": true })));
}

#[test]
fn a_run_without_tables_has_the_same_summary() {
    let flows = json!([{ "kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": "8 Mb/s" }]);
    let scenario = scenario(&one_link("5 s", practra(&json!({})), flows)).expect("reads");
    let alone = measure(&scenario, &mut Unwatched).expect("runs");
    let whole = run(&scenario, &mut Unwatched, None).expect("runs");
    assert_eq!(serde_json::to_string(&alone).expect("writes"), serde_json::to_string(&whole.summary).expect("writes"));
    assert!(whole.summary.links.get(0).unwrap().rate_changes > 0);
}

#[test]
fn results_are_measured_after_the_warm_up() {
    let flows = json!([{ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "5 Mb/s", "start": "5 s" }]);
    let mut json = one_link("10 s", json!({}), flows);
    json["warm_up"] = "6 s".into();
    let run = outcome(json);
    close(run.summary.measured_s, 4.0, 1e-9);
    close(flow(&run, "c").goodput_bps, 5e6, 5e3);
}

#[test]
fn bins_add_up_to_the_whole() {
    let flows = json!([{ "kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": "12 Mb/s" }]);
    let mut json = one_link("3 s", json!({ "buffer": "10 packets" }), flows);
    json["probe"] = json!({ "interval": "100 ms", "drops": true });
    let run = outcome(json);
    let bins = table(&run, "link");
    assert_eq!(floats(bins, "time_s").len(), 30);
    let sum = |column: &str| floats(bins, column).iter().sum::<f64>();
    close(sum("arrived_bytes"), link(&run, "a-b").offered_bytes as f64, 0.0);
    close(sum("delivered_bytes"), link(&run, "a-b").delivered_bytes as f64, 0.0);
    close(sum("dropped_packets"), link(&run, "a-b").dropped_packets as f64, 0.0);
    assert_eq!(floats(table(&run, "drop"), "time_s").len() as u64, link(&run, "a-b").dropped_packets);
}

fn refusal(json: &Value) -> String {
    scenario(json).map(|_| ()).expect_err("must be refused").to_string()
}

#[test]
fn what_cannot_be_is_refused_with_field_value_and_expectation() {
    let link_with = |fields: Value| refusal(&one_link("1 s", fields, json!([cbr("1 Mb/s")])));
    assert_eq!(
        link_with(json!({ "rate": "0 Mb/s" })),
        "link.a-b.rate: is 0 b/s; expected more than 0 b/s and at most 1000000 Gb/s"
    );
    assert!(link_with(json!({ "rate": "-1 Mb/s" })).contains("is negative"));
    assert!(link_with(json!({ "to": "c" })).starts_with("link.a-c.to: \"c\" is not a node; expected one of a, b"));
    assert!(link_with(json!({ "buffer": "100 B" })).contains("less than one packet; expected at least 1500 B"));
    assert!(link_with(json!({ "buffer": "0 packets" })).contains("expected at least 1"));
    assert!(
        link_with(json!({ "loss": { "kind": "bernoulli", "probability": 1.0 } })).contains("loss.probability: is 1;")
    );
    let mrci = link_with(practra(&json!({ "min_interval": "2 ms" })));
    assert_eq!(mrci, "link.a-b.controller.min_interval: is 2 ms; expected more than transition (2 ms)");
    assert!(link_with(practra(&json!({ "rates": [] }))).starts_with("link.a-b.controller.rates: "));
    assert!(link_with(practra(&json!({ "rates": ["2 Mb/s", "1 Mb/s"] }))).starts_with("link.a-b.controller.rates"));
    assert!(
        link_with(practra(&json!({ "rates": ["1 Mb/s", "2 Mb/s"] }))).contains("expected the link's rate, 10 Mb/s")
    );
    assert!(link_with(practra(&json!({ "forecast_weight": 0.0 }))).contains("forecast_weight: is 0;"));
    let frame = |duration: &str| refusal(&one_link(duration, json!({}), json!([])));
    assert!(frame("0 s").starts_with("duration: is 0 s; expected more than 0 s"));
    let flow_with = |flow: Value| refusal(&one_link("1 s", json!({}), json!([flow])));
    assert!(
        flow_with(json!({ "kind": "cbr", "name": "c", "from": "b", "to": "a", "rate": "1 Mb/s" }))
            .contains("flow.c.to: its data cannot get there")
    );
    assert!(
        flow_with(json!({ "kind": "tcp", "name": "t", "from": "a", "to": "b" }))
            .contains("the acknowledgements of its data cannot get there")
    );
    assert!(
        flow_with(json!({ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "1 Mb/s", "start": "2 s" }))
            .contains("flow.c.start: is 2 s")
    );
    assert!(
        flow_with(json!({ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "1 Mb/s", "packet": "10 B" }))
            .contains("flow.c.packet: is 10 B")
    );
    let mut twice = one_link("1 s", json!({}), json!([cbr("1 Mb/s"), cbr("2 Mb/s")]));
    assert!(refusal(&twice).contains("flow: \"c\" is named twice"));
    twice["flow"] = json!([]);
    twice["seed"] = (u64::MAX).into();
    assert!(refusal(&twice).starts_with("seed: is 18446744073709551615; expected 0 to"));
    twice["seed"] = 1.into();
    twice["power"] = json!([{ "model": "warp" }]);
    assert!(refusal(&twice).contains("power.0.model: \"warp\" is unknown; expected one of"));
    twice["power"] = json!([{ "model": "fs", "name": "x" }, { "model": "dvs", "name": "x" }]);
    assert!(refusal(&twice).starts_with("power.1.name: \"x\" is named twice"));
    let mut written = one_link("1 s", json!({}), json!([]));
    written["link"][0]["duplex"] = true.into();
    let back = json!({ "from": "b", "to": "a", "rate": "1 Mb/s" });
    written["link"].as_array_mut().expect("links").push(back);
    let message = "link.a-b.duplex: makes the link \"b-a\", which is also written; expected only one of them";
    assert_eq!(refusal(&written), message);
    written["link"].as_array_mut().expect("links").rotate_left(1);
    assert_eq!(refusal(&written), message);
    twice["power"] = json!([{ "model": "fs", "name": "a.b" }]);
    assert!(refusal(&twice).starts_with("power.0.name: \"a.b\" is not a valid name"));
    twice["power"] = json!([{ "model": "fs", "static_fraction": 1.5 }]);
    assert!(refusal(&twice).contains("static_fraction"), "{}", refusal(&twice));
}
