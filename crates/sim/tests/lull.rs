//! Lull under TCP: it saves energy, keeps its bound on lateness, and costs users little.

use crate::common::{flow, link, outcome, scenario, table};
use netlull_sim::probe::Column;
use netlull_sim::run::{RunOutcome, Unwatched, run};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A link of 10 Mb/s between two nodes with a round-trip time of 50 ms; `controller` is null for none.
fn network(controller: &Value, flows: &Value) -> Value {
    let mut down = json!({ "from": "N1", "to": "N2", "rate": "10 Mb/s", "delay": "23 ms", "buffer": "42 packets" });
    if !controller.is_null() {
        down["controller"] = controller.clone();
    }
    json!({
        "name": "lull", "duration": "60 s", "warm_up": "5 s", "nodes": ["s", "N1", "N2", "c"],
        "link": [
            { "from": "s", "to": "N1", "duplex": true, "rate": "1 Gb/s", "delay": "1 ms", "buffer": "unlimited" },
            down,
            { "from": "N2", "to": "N1", "rate": "10 Mb/s", "delay": "23 ms", "buffer": "unlimited" },
            { "from": "N2", "to": "c", "duplex": true, "rate": "1 Gb/s", "delay": "1 ms", "buffer": "unlimited" },
        ],
        "flow": flows, "power": [{ "model": "fs" }], "probe": { "requests": true },
    })
}

fn lull() -> Value {
    json!({
        "kind": "lull", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" }, "transition": "2 ms",
    })
}

fn web(load: f64) -> Value {
    json!([{
        "kind": "requests", "name": "web", "from": "s", "to": "c", "offered": format!("{} Mb/s", load * 10.0),
        "size": { "kind": "fixed", "size": "30 kB" },
    }])
}

fn saving(run: &RunOutcome) -> f64 {
    link(run, "N1-N2").energy.get("fs").unwrap().saving.unwrap()
}

/// The completion times of all requests, in seconds and in ascending order.
fn completions(run: &RunOutcome) -> Vec<f64> {
    let request = table(run, "request");
    let Column::Float(times) = &request.columns.iter().find(|(name, _)| *name == "completion_s").unwrap().1 else {
        panic!("completion_s is not a number")
    };
    let mut times: Vec<f64> = times.iter().copied().filter(|time| time.is_finite()).collect();
    times.sort_by(f64::total_cmp);
    times
}

fn p95(times: &[f64]) -> f64 {
    times[times.len() * 95 / 100]
}

#[test]
fn web_requests_hardly_notice_and_the_link_saves_half_of_its_energy() {
    let (always_on, with) = (outcome(network(&Value::Null, &web(0.2))), outcome(network(&lull(), &web(0.2))));
    assert!(saving(&with) > 0.5, "{}", saving(&with));
    let (usual, slowed) = (completions(&always_on), completions(&with));
    assert!(usual.len() > 300 && usual.len().abs_diff(slowed.len()) < 5);
    let growth = p95(&slowed) / p95(&usual);
    assert!(growth < 1.05, "the 95th percentile grows {growth} times");
    // The forecast is the reason: without it, packets wait for a higher rate in each round.
    let blind = json!({ "forecast": false });
    let mut without = lull();
    without.as_object_mut().unwrap().extend(blind.as_object().unwrap().clone());
    let median = |times: &[f64]| times[times.len() / 2];
    let late = completions(&outcome(network(&without, &web(0.2))));
    assert!(median(&late) / median(&usual) > 1.04, "{}", median(&late) / median(&usual));
    assert!(median(&slowed) / median(&usual) < 1.03, "{}", median(&slowed) / median(&usual));
}

#[test]
fn completion_times_grow_by_no_more_than_users_accept_and_savings_grow_with_it() {
    let on_fast_link = |controller: &Value| {
        let mut document = network(controller, &web(2.0));
        (document["link"][1]["rate"], document["link"][1]["buffer"]) = ("100 Mb/s".into(), "420 packets".into());
        outcome(document)
    };
    let usual = completions(&on_fast_link(&Value::Null));
    let with = |slowdown: f64| {
        let rates = json!({ "from": "10 Mb/s", "to": "100 Mb/s", "step": "10 Mb/s" });
        let run = on_fast_link(&json!({ "kind": "lull", "rates": rates, "transition": "2 ms", "slowdown": slowdown }));
        let slowed = completions(&run);
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
        (saving(&run), mean(&slowed) / mean(&usual) - 1.0, p95(&slowed) / p95(&usual) - 1.0)
    };
    let (few, some) = (with(0.02), with(0.05));
    assert!(0.0 < few.1 && few.1 < 0.02 && few.2 < 0.04, "{few:?}");
    assert!(0.02 < some.1 && some.1 < 0.05 && some.2 < 0.08, "{some:?}");
    assert!(some.0 > few.0 + 0.05, "{few:?} {some:?}");
}

#[test]
fn links_in_series_share_the_accepted_slowdown() {
    // Five links of 10 Mb/s, a round trip of 30 ms.
    let names = ["N0", "N1", "N2", "N3", "N4", "N5"];
    let run = |controller: &Value, timestamps: bool| {
        let link = |ends: &[&str], rate: &str, delay: &str, buffer: &str| json!({ "from": ends[0], "to": ends[1], "rate": rate, "delay": delay, "buffer": buffer });
        let mut links: Vec<_> = names.windows(2).map(|ends| link(ends, "10 Mb/s", "2.9 ms", "100 packets")).collect();
        if !controller.is_null() {
            links.iter_mut().for_each(|link| link["controller"] = controller.clone());
        }
        for (ends, delay) in [(["s", "N0"], "0.1 ms"), (["N5", "c"], "0.1 ms"), (["c", "s"], "14.8 ms")] {
            links.push(link(&ends, "1 Gb/s", delay, "unlimited"));
        }
        let mut document = network(&Value::Null, &web(0.4));
        document["nodes"] = json!(["s", "N0", "N1", "N2", "N3", "N4", "N5", "c"]);
        document["link"] = links.into();
        document["tcp"] = json!({ "timestamps": timestamps });
        let run = outcome(document);
        let times = completions(&run);
        (times.iter().sum::<f64>() / times.len() as f64, run)
    };
    let ((usual, _), (with, saving)) = (run(&Value::Null, true), run(&lull(), true));
    let saved = names.windows(2).map(|ends| link(&saving, &ends.join("-")).energy.get("fs").unwrap().saving.unwrap());
    assert!(saved.clone().all(|saved| saved > 0.3), "{:?}", saved.collect::<Vec<_>>());
    assert!(with / usual < 1.13, "{}", with / usual);
    // Without timestamps no link sees what the links before it have taken.
    let (blind, _) = run(&lull(), false);
    assert!(blind / usual > with / usual + 0.03, "{} {}", blind / usual, with / usual);
}

#[test]
fn a_bulk_transfer_keeps_its_goodput() {
    let flows = json!([{ "kind": "tcp", "name": "bulk", "from": "s", "to": "c" }]);
    let goodput = |controller: &Value| flow(&outcome(network(controller, &flows)), "bulk").goodput_bps;
    let (usual, with) = (goodput(&Value::Null), goodput(&lull()));
    assert!(with > 0.99 * usual, "{with} of {usual} b/s");
}

#[test]
fn a_slow_writer_keeps_its_goodput_at_less_than_half_of_the_energy() {
    let flows = json!([{ "kind": "tcp", "name": "writer", "from": "s", "to": "c", "write_rate": "3 Mb/s" }]);
    // On a round trip of 20 ms the forecasts leave no lulls. The link then stays at 5 Mb/s.
    for (delay, least) in [("23 ms", 0.59), ("8 ms", 0.49)] {
        let mut document = network(&lull(), &flows);
        for link in 1..3 {
            document["link"][link]["delay"] = delay.into();
        }
        let with = outcome(document);
        assert!(flow(&with, "writer").goodput_bps > 2.99e6);
        assert!(saving(&with) > least, "{delay}: {}", saving(&with));
    }
}

#[test]
fn an_idle_link_rests_at_its_lowest_rate() {
    let flows = json!([{ "kind": "tcp", "name": "short", "from": "s", "to": "c", "size": "20 kB" }]);
    let with = outcome(network(&lull(), &flows));
    let lowest = &link(&with, "N1-N2").residency[0];
    assert_eq!((lowest.rate_bps, lowest.seconds), (1_000_000, 55.0));
    assert_eq!(link(&with, "N1-N2").rate_changes, 0, "in the measured time");
}

#[test]
fn acknowledgements_alone_bring_the_rate_that_they_need() {
    // 60 Mb/s of data bring 2,500 acknowledgements of 40 B per second: 0.8 Mb/s, more than the lowest rate.
    let flows = json!([{ "kind": "tcp", "name": "bulk", "from": "s", "to": "c" }]);
    let mut document = network(&Value::Null, &flows);
    document["link"][1]["rate"] = "60 Mb/s".into();
    document["link"][1]["buffer"] = "250 packets".into();
    let usual = flow(&outcome(document.clone()), "bulk").goodput_bps;
    document["link"][2]["buffer"] = "100 packets".into();
    document["link"][2]["controller"] =
        json!({ "kind": "lull", "rates": ["200 kb/s", "10 Mb/s"], "transition": "2 ms" });
    let with = flow(&outcome(document), "bulk").goodput_bps;
    assert!(with > 0.97 * usual, "{with} of {usual} b/s");
}

fn traffic() -> impl Strategy<Value = Value> {
    prop::collection::vec(
        prop_oneof![
            (1_u64..400, 0_u64..5000).prop_map(|(size, start)| json!({
                "kind": "tcp", "from": "s", "to": "c", "size": format!("{size} kB"), "start": format!("{start} ms")
            })),
            (1_u64..12_000).prop_map(|rate| json!({
                "kind": "poisson", "from": "s", "to": "c", "rate": format!("{rate} kb/s")
            })),
            (1_u64..30, 50_u64..2000).prop_map(|(rate, cycle)| json!({
                "kind": "bursts", "from": "s", "to": "c", "rate": format!("{rate} Mb/s"),
                "cycle": format!("{cycle} ms"), "mean_on": format!("{} ms", cycle / 3)
            })),
            (500_u64..40_000).prop_map(|offered| json!({
                "kind": "requests", "from": "s", "to": "c", "offered": format!("{offered} kb/s"),
                "size": { "kind": "exponential", "mean": "20 kB" }
            })),
        ],
        1..4,
    )
    .prop_map(|flows| {
        let named = |(number, mut flow): (usize, Value)| {
            flow["name"] = format!("f{number}").into();
            flow
        };
        flows.into_iter().enumerate().map(named).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    /// The verifier compares the largest lateness with Lull's bound; a violation is an error of the run.
    #[test]
    fn no_packet_is_later_than_the_bound(
        flows in traffic(),
        rates in prop::sample::subsequence((1_u64..40).collect::<Vec<_>>(), 0..8),
        transition in 0_u64..6000,
        slowdown in 1_u64..100,
        scale in prop::sample::select(vec![1_u64, 10]),
        delay in prop::sample::select(vec!["6 ms", "23 ms"]),
        hold in prop::option::of(0_u64..100),
        power in prop::option::of(prop::sample::select(vec!["dvs-clamped", "ncs-55a1-24h", "wedge-tofino", "8201-32fh"])),
        buffer in 1_u64..80,
        fast in prop::bool::weighted(0.3),
        in_service in prop::sample::select(vec!["finish_then_pause", "finish_while_pausing", "suspend"]),
    ) {
        let mut rates: Vec<u64> = rates.into_iter().map(|quarter| quarter * 250 * scale).collect();
        rates.push(10_000 * scale);
        let mut controller = json!({
            "kind": "lull", "rates": rates.iter().map(|rate| format!("{rate} kb/s")).collect::<Vec<_>>(),
            "transition": format!("{transition} us"), "slowdown": slowdown as f64 / 100.0, "in_service": in_service,
        });
        if let Some(hold) = hold {
            controller["hold"] = format!("{hold} ms").into();
        }
        if let Some(power) = power {
            controller["power"] = power.into();
        }
        let mut document = network(&controller, &flows);
        document["duration"] = "12 s".into();
        document["link"][1]["buffer"] = format!("{} packets", buffer * scale).into();
        for link in 1..3 {
            document["link"][link]["rate"] = format!("{} Mb/s", 10 * scale).into();
            document["link"][link]["delay"] = delay.into();
        }
        // The acknowledgements come back over a link under Lull too, which may be the slower one.
        document["link"][2]["controller"] = controller.clone();
        document["link"][0]["rate"] = format!("{} Mb/s", 100 * scale).into();
        if fast {
            document["link"][1].as_object_mut().unwrap().remove("controller");
            document["link"][1]["rate"] = format!("{} Mb/s", 60 * scale).into();
        }
        document["verify"] = "replay".into();
        let checked = scenario(&document).unwrap();
        let result = run(&checked, &mut Unwatched, None);
        prop_assert!(result.is_ok(), "{}\n{document}", result.err().map(|error| error.to_string()).unwrap_or_default());
    }
}
