//! Low-power idle of Energy Efficient Ethernet, through whole runs: published vectors, a closed form, an independent
//! recursion, and bad input.

use crate::common::{close, flow, link, outcome, scenario, table};
use netlull_sim::probe::Column;
use netlull_sim::run::{LinkSummary, RunOutcome, Unwatched, run};
use proptest::prelude::*;
use serde_json::{Value, json};

/// 10GBASE-T of HystEEE: T_w 4480 ns, T_s 2880 ns.
fn lpi(fields: &Value) -> Value {
    with(&json!({ "kind": "lpi", "phy": "10gbase-t", "hysteresis": "0 s" }), fields)
}

fn with(table: &Value, fields: &Value) -> Value {
    let mut table = table.clone();
    table.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    table
}

/// Single datagrams, as pairs of time in ns and bytes, over a controlled link of that rate.
fn datagrams(rate: &str, controller: &Value, arrivals: &[(u64, u32)]) -> Value {
    let one = |(number, &(at, bytes)): (usize, &(u64, u32))| {
        json!({ "kind": "cbr", "name": format!("{number}"), "from": "a", "to": "c", "rate": "1 kb/s",
                "packet": format!("{bytes} B"), "start": format!("{at} ns") })
    };
    json!({
        "duration": "10 ms", "nodes": ["a", "b", "c"], "power": [{ "model": "fs" }, { "model": "ncs-55a1-24h" }],
        "link": [
            { "from": "a", "to": "b", "rate": rate, "buffer": "unlimited", "controller": controller },
            { "from": "b", "to": "c", "rate": "100 Gb/s", "buffer": "unlimited" },
        ],
        "flow": arrivals.iter().enumerate().map(one).collect::<Vec<_>>(), "probe": { "arrivals": ["b-c"] },
    })
}

/// The times in ns at which packets reach the second link.
fn departures(run: &RunOutcome) -> Vec<u64> {
    let (_, column) = &table(run, "arrivals").columns[0];
    let Column::Count(times) = column else { panic!("times are whole nanoseconds") };
    times.clone()
}

#[test]
fn frames_leave_as_in_hysteee() {
    // migrax/HystEEE@ab4f414: hysteresis, coalescing delay, arrivals and departures in ns. Frames have 1000, 1001, 1002 B,
    // 0.8 ns a byte. The published departures are rounded to the nearest nanosecond.
    type Row = (u64, u64, &'static [u64], &'static [u64]);
    const ROWS: [Row; 8] = [
        (0, 0, &[100], &[5380]),
        (0, 500, &[100], &[5880]),
        (0, 0, &[100, 6000], &[5380, 13541]),
        (0, 500, &[100, 9000], &[5880, 14781]),
        (0, 5000, &[100, 13_010, 30_000], &[10_380, 23_291, 40_282]),
        (0, 500, &[100, 6000], &[5880, 14_041]),
        (0, 500, &[100, 8510], &[5880, 14_291]),
        (500, 0, &[100, 6000], &[5380, 14_041]),
    ];
    for (hysteresis, coalescing, arrivals, expected) in ROWS {
        // At a fifth of the rate and five times all times, every departure is a whole number of nanoseconds.
        for (rate, scale) in [("10 Gb/s", 1), ("2 Gb/s", 5)] {
            let ns = |time: u64| format!("{} ns", time * scale);
            let mut fields = json!({ "sleep": ns(2880), "wake": ns(4480), "hysteresis": ns(hysteresis) });
            if coalescing > 0 {
                fields["coalesce_time"] = ns(coalescing).into();
            }
            let frames: Vec<_> = arrivals.iter().zip(1000..).map(|(&at, bytes)| (at * scale, bytes)).collect();
            let found = departures(&outcome(datagrams(rate, &lpi(&fields), &frames)));
            let found: Vec<_> = if scale == 1 {
                // netlull rounds down: the fraction of 1001 and 1002 B is 0.8 and 0.6 ns.
                found.iter().enumerate().map(|(number, at)| at + u64::from(number > 0)).collect()
            } else {
                found.iter().map(|at| (at + scale / 2) / scale).collect()
            };
            assert_eq!(found, expected, "{hysteresis} {coalescing} {arrivals:?} at {rate}");
        }
    }
}

/// The rules of a link with low-power idle, frame by frame, at a nanosecond a byte.
#[derive(Clone, Debug)]
struct Rules {
    sleep: u64,
    wake: u64,
    hysteresis: u64,
    time: Option<u64>,
    frames: Option<usize>,
    bytes: Option<u64>,
}

impl Rules {
    /// The departures, and the time asleep up to `end` in ns. Frames that never wake the link never leave.
    fn departures(&self, arrivals: &[(u64, u32)], end: u64) -> (Vec<u64>, u64) {
        let (mut left, mut asleep_from, mut asleep) = (Vec::new(), 0, 0);
        while left.len() < arrivals.len() {
            let held = &arrivals[left.len()..];
            let mut sum = 0;
            let by_bytes = self.bytes.and_then(|most| {
                held.iter().find(|(_, bytes)| {
                    sum += u64::from(*bytes);
                    sum >= most
                })
            });
            let by_frames = self.frames.and_then(|frames| held.get(frames - 1));
            let first = held[0].0;
            let at_once = self.time.is_none() && self.frames.is_none() && self.bytes.is_none();
            let by_time = if at_once { Some(first) } else { self.time.map(|time| first + time) };
            let Some(trigger) = by_bytes.map(|a| a.0).into_iter().chain(by_frames.map(|a| a.0)).chain(by_time).min()
            else {
                break;
            };
            let wakes = trigger.max(asleep_from);
            asleep += wakes - asleep_from;
            let mut free = wakes + self.wake;
            // A frame at the very end of the hysteresis is too late.
            while let Some(&(at, bytes)) = arrivals.get(left.len())
                && (at < free + self.hysteresis || free == wakes + self.wake)
            {
                free = free.max(at) + u64::from(bytes);
                left.push(free);
            }
            asleep_from = free + self.hysteresis + self.sleep;
        }
        (left, asleep + end.saturating_sub(asleep_from))
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    let times = (0..3000_u64, 0..5000_u64, prop_oneof![Just(0), 1..4000_u64]);
    let thresholds = (prop::option::of(0..9000_u64), prop::option::of(1..5_usize), prop::option::of(100..5000_u64));
    let thresholds = prop_oneof![Just((None, None, None)), thresholds];
    (times, thresholds).prop_map(|((sleep, wake, hysteresis), (time, frames, bytes))| Rules {
        sleep,
        wake,
        hysteresis,
        time,
        frames,
        bytes,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_frame_leaves_when_the_rules_say(
        rules in rules(),
        gaps in prop::collection::vec((1..12_000_u64, 100..1500_u32), 1..12),
    ) {
        let mut at = 0;
        let arrivals: Vec<_> = gaps.iter().map(|&(gap, bytes)| { at += gap; (at, bytes) }).collect();
        let Rules { sleep, wake, hysteresis, time, frames, bytes } = rules.clone();
        let ns = |time: u64| format!("{time} ns");
        let controller = lpi(&json!({
            "sleep": ns(sleep), "wake": ns(wake), "hysteresis": ns(hysteresis), "coalesce_time": time.map(ns),
            "coalesce_frames": frames, "coalesce_bytes": bytes.map(|bytes| format!("{bytes} B")),
        }));
        let run = outcome(datagrams("8 Gb/s", &controller, &arrivals));
        let (expected, asleep) = rules.departures(&arrivals, 10_000_000);
        prop_assert_eq!(departures(&run), expected);
        let found = link(&run, "a-b");
        prop_assert_eq!(found.low_power.unwrap().asleep_s, std::time::Duration::from_nanos(asleep).as_secs_f64());
    }
}

/// Three nodes with TCP in both directions and datagrams, whose links have these controllers.
fn mixed(controllers: &[Value], buffer: &str, seed: u32) -> Value {
    let mut network = chain(2, "100 Mb/s", controllers);
    for link in network["link"].as_array_mut().unwrap() {
        link["buffer"] = buffer.into();
        link["overhead"] = "38 B".into();
    }
    network["link"][2]["loss"] = json!({ "kind": "bernoulli", "probability": 0.01 });
    network["flow"] = json!([
        { "kind": "tcp", "name": "there", "from": "n0", "to": "n2", "size": "300 kB" },
        { "kind": "tcp", "name": "back", "from": "n2", "to": "n0", "start": "13 ms" },
        { "kind": "poisson", "name": "first", "from": "n0", "to": "n2", "rate": "9 Mb/s", "packet": "700 B" },
        { "kind": "cbr", "name": "second", "from": "n1", "to": "n2", "rate": "4 Mb/s", "packet": "500 B" },
    ]);
    network["phase"] = json!([{ "name": "late", "from": "70 ms", "to": "110 ms" }]);
    network["probe"] = json!({ "interval": "7 ms", "links": ["n0-n1", "n1-n2"] });
    with(&network, &json!({ "duration": "150 ms", "warm_up": "20 ms", "seed": seed }))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A threshold of one frame changes no rule, but such a link has events and a controller in the run.
    #[test]
    fn links_without_events_are_those_of_the_machine(
        (sleep, wake, hysteresis) in (0..300_000_u64, 0..90_000_u64, prop_oneof![Just(0), 1..400_000_u64]),
        fast in prop::option::of((0..100_000_u64, 0..30_000_u64, 0..200_000_u64)),
        buffer in prop_oneof![Just("unlimited"), Just("4 packets"), Just("1 packet"), Just("6 kB")],
        seed in 1..1000_u32,
    ) {
        let ns = |time: u64| format!("{time} ns");
        let mut alone = json!({ "kind": "lpi", "sleep": ns(sleep), "wake": ns(wake), "hysteresis": ns(hysteresis),
                                "quiet": "20 us", "refresh": "2 us" });
        if let Some((entry, wake, deep_after)) = fast {
            alone["fast_sleep"] = ns(entry.min(sleep)).into();
            alone["fast_wake"] = ns(wake).into();
            alone["deep_after"] = ns(deep_after).into();
        }
        let [found, expected] = with_and_without_events(alone, buffer, seed);
        prop_assert_eq!(found.0, expected.0);
        prop_assert_eq!(found.1, expected.1);
    }
}

/// The summaries and tables of a controller alone and as a machine, without the numbers of events and checks.
fn with_and_without_events(alone: Value, buffer: &str, seed: u32) -> [(Value, String); 2] {
    let machine = with(&alone, &json!({ "coalesce_frames": 1, "coalesce_time": "0 s" }));
    [alone, machine].map(|controller| {
        let run = outcome(mixed(&[controller], buffer, seed));
        let mut summary = serde_json::to_value(&run.summary).unwrap();
        summary["events"] = Value::Null;
        summary["checks"] = Value::Null;
        (summary, format!("{:?}", run.tables))
    })
}

#[test]
fn departures_after_the_end_are_not_late() {
    let alone = json!({ "kind": "lpi", "sleep": "246708 ns", "wake": "34702 ns", "hysteresis": "0 s", "quiet": "20 us",
                        "refresh": "2 us", "fast_sleep": "47726 ns", "fast_wake": "24820 ns", "deep_after": "127381 ns" });
    let [found, expected] = with_and_without_events(alone, "6 kB", 527);
    assert_eq!(found.0["links"][2]["largest_lateness_s"], 0.000229305);
    assert_eq!(found.0, expected.0);
}

/// A chain of `hops` links in each direction, each with the same controller; null for none.
fn chain(hops: usize, rate: &str, controllers: &[Value]) -> Value {
    let nodes: Vec<String> = (0..=hops).map(|number| format!("n{number}")).collect();
    let mut links = Vec::new();
    for (pair, controller) in nodes.windows(2).zip(controllers.iter().cycle()) {
        for (from, to) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
            let mut link = json!({ "from": from, "to": to, "rate": rate, "delay": "1 ms", "buffer": "unlimited" });
            if !controller.is_null() {
                link["controller"] = controller.clone();
            }
            links.push(link);
        }
    }
    json!({ "duration": "1 s", "nodes": nodes, "link": links })
}

/// Datagrams that leave n0 at `times` and cross the chain: their times in ns until the last link has them.
fn one_way(mut network: Value, times: &[&str]) -> Vec<u64> {
    let hops = network["nodes"].as_array().unwrap().len() - 1;
    let probe = |start: &&str| {
        json!({ "kind": "cbr", "name": start, "from": "n0", "to": "end", "rate": "1 kb/s", "packet": "1000 B",
                "start": start })
    };
    network["flow"] = times.iter().map(probe).collect();
    network["nodes"].as_array_mut().unwrap().push("end".into());
    let last = format!("n{hops}");
    let end = json!({ "from": last, "to": "end", "rate": "100 Gb/s" });
    network["link"].as_array_mut().unwrap().push(end);
    network["probe"] = json!({ "arrivals": [format!("{last}-end")] });
    departures(&outcome(network))
}

#[test]
fn a_ping_pays_two_wake_times_a_hop() {
    for (phy, rate, wake) in
        [("100base-tx", "100 Mb/s", 30_500), ("1000base-t", "1 Gb/s", 16_500), ("10gbase-t", "10 Gb/s", 4480)]
    {
        for hops in [1, 3] {
            // SYN and SYN-ACK, a segment and its acknowledgement: two round trips, between which all links sleep.
            let time = |controller: Value| {
                let mut network = chain(hops, rate, &[controller]);
                network["flow"] = json!([{
                    "kind": "tcp", "name": "t", "from": "n0", "to": format!("n{hops}"), "size": "100 B", "start": "1 ms",
                    "tcp": { "delayed_ack": false },
                }]);
                (flow(&outcome(network), "t").completion_time_s.unwrap() * 1e9).round()
            };
            let with = time(json!({ "kind": "lpi", "phy": phy, "hysteresis": "0 s" }));
            let added = with - time(Value::Null);
            close(added, f64::from(2 * 2 * hops as u32 * wake), 0.0);
        }
    }
}

#[test]
fn a_hysteresis_above_the_idle_time_costs_nothing_and_coalescing_its_delay() {
    let pings = ["100 ms", "200 ms", "300 ms"];
    let plain = one_way(chain(3, "10 Gb/s", &[Value::Null]), &pings);
    let added = |controllers: &[Value]| {
        let found = one_way(chain(3, "10 Gb/s", controllers), &pings);
        found.iter().zip(&plain).map(|(with, without)| with - without).collect::<Vec<_>>()
    };
    // The first packet finds sleeping links.
    assert_eq!(added(&[lpi(&json!({ "hysteresis": "150 ms" }))]), [3 * 4480, 0, 0]);
    assert_eq!(added(&[lpi(&json!({}))]), [3 * 4480; 3]);
    let coalesces = lpi(&json!({ "coalesce_time": "48 us" }));
    assert_eq!(added(&[coalesces, lpi(&json!({})), lpi(&json!({}))]), [48_000 + 3 * 4480; 3]);
}

#[test]
fn a_flow_limited_by_its_window_lets_the_link_sleep_between_bursts() {
    // 10 segments of 1500 B each round trip of 100 us: 1 - (W S + T_s + T_w) / (R + T_w) = 0.815.
    let mut network = chain(1, "10 Gb/s", &[lpi(&json!({}))]);
    network["link"][1].as_object_mut().unwrap().remove("controller");
    network["link"][0]["delay"] = "50 us".into();
    // The first segment takes 1.2 us, its acknowledgement of 40 B 0.03 us.
    network["link"][1]["delay"] = "48.768 us".into();
    network["duration"] = "200 ms".into();
    network["warm_up"] = "5 ms".into();
    network["flow"] = json!([{
        "kind": "tcp", "name": "t", "from": "n0", "to": "n1",
        "tcp": { "delayed_ack": false, "receive_buffer": "14600 B", "initial_window": 10, "timestamps": false,
                 "window_scaling": false },
    }]);
    let run = outcome(network);
    let low = link(&run, "n0-n1").low_power.unwrap();
    close(low.low_share, 0.815, 0.005);
    // A burst each 104.48 us, which sleeps once.
    close(low.sleeps as f64, 195e3 / 104.48, 3.0);
    close(flow(&run, "t").goodput_bps, 14_600.0 * 8.0 / 104.48e-6, 5e6);
}

/// A cell of the closed form: T_s, T_w and the time of a frame in s, the load, and the frames that wake the link.
#[derive(Clone, Copy, Debug)]
struct Cell {
    sleep: f64,
    wake: f64,
    frame: f64,
    load: f64,
    frames: u32,
}

/// The Poisson distribution from 0 up to a negligible tail.
fn poisson(mean: f64) -> Vec<f64> {
    let last = (mean + 12.0 * mean.sqrt() + 40.0) as usize;
    let mut terms = vec![(-mean).exp()];
    for k in 1..=last {
        terms.push(terms[k - 1] * mean / k as f64);
    }
    terms
}

impl Cell {
    /// The share of time asleep and the mean wait in s, for Poisson arrivals: K ~ Poisson(lambda T_s), a busy period
    /// starts with Q = max(N, K) + Poisson(lambda T_w) frames.
    fn closed_form(self) -> (f64, f64) {
        let (lambda, n) = (self.load / self.frame, f64::from(self.frames));
        let arrived = poisson(lambda * self.sleep);
        let sum = |term: &dyn Fn(f64) -> f64| arrived.iter().enumerate().map(|(k, p)| p * term(k as f64)).sum::<f64>();
        let off = sum(&|k| (n - k).max(0.0)) / lambda;
        let share = (1.0 - self.load) * off / (off + self.sleep + self.wake);
        let late = lambda * self.wake;
        // E[Q] and E[Q(Q-1)] of a sum of M = max(N, K) and a Poisson number with mean `late`.
        let (m, mm) = (sum(&|k| k.max(n)), sum(&|k| k.max(n) * (k.max(n) - 1.0)));
        let (q, qq) = (m + late, mm + 2.0 * m * late + late * late);
        (share, self.load * self.frame / (2.0 * (1.0 - self.load)) + qq / (2.0 * lambda * q))
    }
}

#[test]
fn the_closed_form_has_its_published_values() {
    for (sleep, wake, frame, load, frames, share, wait) in [
        (182e-6, 16.5e-6, 12e-6, 0.05, 1, 0.3435, 69.64e-6),
        (182e-6, 16.5e-6, 12e-6, 0.05, 10, 0.8720, 1089e-6),
        (182e-6, 16.5e-6, 12e-6, 0.3, 1, 0.0015, 101.6e-6),
        (182e-6, 16.5e-6, 12e-6, 0.3, 10, 0.3667, 191.9e-6),
        (2.88e-6, 4.48e-6, 1.2e-6, 0.05, 1, 0.7059, 4.306e-6),
        (2.88e-6, 4.48e-6, 1.2e-6, 0.05, 10, 0.9214, 110.5e-6),
        (2.88e-6, 4.48e-6, 1.2e-6, 0.3, 1, 0.1464, 4.105e-6),
        (2.88e-6, 4.48e-6, 1.2e-6, 0.3, 10, 0.5842, 20.70e-6),
        (0.9e-6, 5.5e-6, 0.3e-6, 0.05, 1, 0.4242, 4.235e-6),
        (0.9e-6, 5.5e-6, 0.3e-6, 0.05, 10, 0.8572, 30.01e-6),
        (0.9e-6, 5.5e-6, 0.3e-6, 0.3, 1, 0.0418, 3.402e-6),
        (0.9e-6, 5.5e-6, 0.3e-6, 0.3, 10, 0.4110, 7.492e-6),
    ] {
        let (found, late) = Cell { sleep, wake, frame, load, frames }.closed_form();
        close(found, share, 6e-5);
        close(late, wait, wait * 1e-3);
    }
}

/// The link of a cell after `packets` frames on average. The reverse link has the same controller and no traffic.
fn poisson_link(controller: &Value, cell: Cell, rate: f64, packets: f64, seed: u32) -> LinkSummary {
    let duration = packets * cell.frame / cell.load;
    let (rate_of_flow, rate) = (format!("{} b/s", (rate * cell.load).round()), format!("{rate} b/s"));
    let base = json!({ "rate": rate, "buffer": "unlimited", "controller": controller });
    let one = |from: &str, to: &str| with(&base, &json!({ "from": from, "to": to }));
    let json = json!({
        "duration": format!("{} ns", (duration * 1e9).round()), "seed": seed, "verify": "ledger", "nodes": ["a", "b"],
        "warm_up": format!("{} ns", (duration * 2e7).round()),
        "link": [one("a", "b"), one("b", "a")],
        "flow": [{ "kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": rate_of_flow, "packet": "1500 B" }],
    });
    link(&run(&scenario(&json).unwrap(), &mut Unwatched, None).unwrap(), "a-b")
}

#[test]
fn sleep_and_waits_follow_the_closed_form() {
    const SEEDS: u32 = 8;
    let mut judged = 0;
    for (phy, rate, sleep, wake) in [
        ("100base-tx", 100e6, 200e-6, 30.5e-6),
        ("1000base-t", 1e9, 182e-6, 16.5e-6),
        ("10gbase-t", 10e9, 2.88e-6, 4.48e-6),
        ("802.3bj-deep", 40e9, 0.9e-6, 5.5e-6),
    ] {
        for (load, frames) in [(0.05, 1), (0.05, 10), (0.3, 1), (0.3, 10), (0.6, 10)] {
            let cell = Cell { sleep, wake, frame: 12_000.0 / rate, load, frames };
            let (share, wait) = cell.closed_form();
            let mut controller = json!({ "kind": "lpi", "phy": phy, "hysteresis": "0 s" });
            if frames > 1 {
                controller["coalesce_frames"] = frames.into();
            }
            let runs: Vec<_> = (1..=SEEDS).map(|seed| poisson_link(&controller, cell, rate, 20_000.0, seed)).collect();
            // Cells with fewer than 1,000 sleeps are not judged.
            if runs.iter().map(|run| run.low_power.unwrap().sleeps).sum::<u64>() < 1000 {
                continue;
            }
            judged += 1;
            let judge = |what: &str, expected: f64, least: f64, value: &dyn Fn(&LinkSummary) -> f64| {
                let values: Vec<f64> = runs.iter().map(value).collect();
                let mean = values.iter().sum::<f64>() / f64::from(SEEDS);
                let spread = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
                let error = (spread / f64::from(SEEDS * (SEEDS - 1))).sqrt();
                let allowed = least.max(4.0 * error);
                assert!((mean - expected).abs() <= allowed, "{phy} {cell:?}: {what} {mean}, not {expected}");
            };
            judge("off share", share, 0.002, &|run| run.low_power.unwrap().low_share);
            judge("mean wait", wait, wait * 0.01, &|run| run.mean_wait_s);
        }
    }
    assert!(judged >= 18, "only {judged} cells slept 1,000 times");
}

#[test]
fn a_threshold_follows_the_traffic() {
    // A nanosecond a byte. The first frame waits for the target of 1 us: it leaves at 1000 + 1000 + 100.
    // The cycle of 2100 ns had one frame: lambda = 1/2100, rho = 1/21, D = 1000 - 2.5 = 997.5 ns, y = lambda D = 0.475.
    // V + T_w = 997.5 + 997.5 y / (1 + sqrt(1 + y^2)) = 1222.4 ns: the second frame leaves at 5000 + 1222 + 100.
    let controller = lpi(&json!({ "sleep": "100 ns", "wake": "40 ns", "target_delay": "1 us" }));
    let found = departures(&outcome(datagrams("8 Gb/s", &controller, &[(1000, 100), (5000, 100)])));
    assert_eq!(found, [2100, 6322]);
    // By frames, the second sleep waits for floor(1 + 2 (997.5 - 20) / 2100) = 1 frame. At 3000, 3001 and 3002 ns come
    // three frames: the next cycle is of 1242 ns, of which 300 are busy. lambda = 1/414, rho = 300/1242, D = 984.1,
    // and N = floor(1 + 2 (984.1 - 20) / 414) = 5.
    let by_frames = with(&controller, &json!({ "adapts": "frames" }));
    let mut arrivals = vec![(1958, 100), (3000, 100), (3001, 100), (3002, 100)];
    arrivals.extend([6000, 6001, 6002, 6003, 9000].map(|at| (at, 100)));
    let found = departures(&outcome(datagrams("8 Gb/s", &by_frames, &arrivals)));
    assert_eq!(found[..4], [1958 + 140, 3140, 3240, 3340]);
    assert_eq!(found[4..], [9140, 9240, 9340, 9440, 9540]);
}

/// The mean wait over `target` of 10GBASE-T, over eight seeds, and its standard error.
fn wait_over(target: f64, load: f64, fields: &Value) -> (f64, f64) {
    let cell = Cell { sleep: 2.88e-6, wake: 4.48e-6, frame: 1.2e-6, load, frames: 1 };
    let waits = (1..=8).map(|seed| poisson_link(&lpi(fields), cell, 10e9, 20_000.0, seed).mean_wait_s / target);
    let waits: Vec<f64> = waits.collect();
    let mean = waits.iter().sum::<f64>() / 8.0;
    (mean, (waits.iter().map(|wait| (wait - mean).powi(2)).sum::<f64>() / 56.0).sqrt())
}

#[test]
fn the_timer_of_the_equation_has_the_target_as_its_mean_wait() {
    // (4) of docs/models/eee.md with the true arrival rate, in the form of DualModeEeeSimulator.
    for (target, load) in [(10e-6_f64, 0.05_f64), (10e-6, 0.5), (50e-6, 0.05), (50e-6, 0.3), (50e-6, 0.7)] {
        let (lambda, rest): (f64, f64) = (load / 1.2e-6, 1.0 - load);
        let after = target - (1.0 + rest * rest) / (2.0 * lambda * rest);
        let time = after + (1.0 + (1.0 + lambda * after).powi(2)).sqrt() / lambda - 4.48e-6;
        let fields = json!({ "coalesce_time": format!("{} ns", (time * 1e9).round()) });
        let (mean, error) = wait_over(target, load, &fields);
        close(mean, 1.0, (4.0 * error).max(0.01));
    }
}

#[test]
fn adaptive_coalescing_keeps_the_mean_wait_near_its_target() {
    // By frames a cycle of few packets gives a poor estimate, and so does a target of less than twice the wait without
    // sleep, 5.4 us at a load of 0.9.
    let cells: [(_, _, &[f64]); 4] = [
        ("time", 10e-6, &[0.05, 0.1, 0.3, 0.5, 0.7]),
        ("time", 20e-6, &[0.05, 0.1, 0.3, 0.5, 0.7, 0.9]),
        ("time", 50e-6, &[0.05, 0.1, 0.3, 0.5, 0.7, 0.9]),
        ("frames", 20e-6, &[0.3, 0.5, 0.7, 0.9]),
    ];
    for (adapts, target, loads) in cells {
        for &load in loads {
            let fields = json!({ "target_delay": format!("{} ns", target * 1e9), "adapts": adapts });
            let (mean, error) = wait_over(target, load, &fields);
            let allowed = (4.0 * error).max(0.05);
            assert!((mean - 1.0).abs() <= allowed, "{adapts} {target} {load}: {mean}, allowed {allowed}");
        }
    }
}

/// A source of 1500 B each 24 us at 10 Gb/s, over a chain with these controllers, after 10 cycles of 240 us: its links in
/// 100 cycles.
fn after_source(controllers: &[Value]) -> Vec<LinkSummary> {
    let mut network = chain(controllers.len(), "10 Gb/s", controllers);
    network["warm_up"] = "2400 us".into();
    network["duration"] = "26400 us".into();
    network["power"] = json!([{ "model": "fs" }]);
    let last = format!("n{}", controllers.len());
    network["flow"] = json!([{ "kind": "cbr", "name": "s", "from": "n0", "to": last, "rate": "500 Mb/s",
                               "packet": "1500 B" }]);
    let run = outcome(network);
    (0..controllers.len()).map(|hop| link(&run, &format!("n{hop}-n{}", hop + 1)).clone()).collect()
}

#[test]
fn later_hops_sleep_longer_behind_a_source_that_coalesces() {
    // The nanoseconds asleep of 100 cycles.
    let asleep = |links: &[LinkSummary]| -> Vec<u64> {
        links.iter().map(|link| (link.low_power.unwrap().asleep_s * 1e9).round() as u64).collect()
    };
    let hop = lpi(&json!({ "hysteresis": "30 us" }));
    // Without coalescing, a packet each 24 us never lets a hysteresis of 30 us end.
    let plain = after_source(&[Value::Null, hop.clone(), hop.clone()]);
    assert_eq!(asleep(&plain[1..]), [0, 0]);
    // The source holds for 220 us: bursts of 10 packets, one each 240 us, which take 12 us. A hop wakes for 4.48 us, sends,
    // waits for 30 us, and goes to sleep in 2.88 us.
    let holds = json!({ "kind": "lpi", "sleep": "0 s", "wake": "0 s", "hysteresis": "0 s", "power": 1,
                        "coalesce_time": "220 us" });
    let found = after_source(&[holds, hop.clone(), hop.clone()]);
    let later = 100 * (240_000 - 4480 - 12_000 - 30_000 - 2880);
    assert_eq!(asleep(&found[1..]), [later, later]);
    // Packet k of a burst comes 24 k later and leaves 1.2 k later: its wait is 220 - 22.8 k us.
    close(found[0].mean_wait_s, (220.0 - 22.8 * 4.5) * 1e-6, 1e-12);
    // This link only holds: it saves nothing.
    close(found[0].energy.get("fs").unwrap().saving.unwrap(), 0.0, 0.0);
    // A link that coalesces by itself sleeps as well.
    let found = after_source(&[lpi(&json!({ "coalesce_time": "220 us" })), hop.clone(), hop]);
    let first = 100 * (240_000 - 4480 - 12_000 - 2880);
    assert_eq!(asleep(&found), [first, later, later]);
}

#[test]
fn coupled_directions_sleep_and_wake_together() {
    // At 8 Gb/s a byte takes a nanosecond. Both directions sleep. A frame of 1000 B at 10 us wakes both: they are awake
    // for T_w = 4480 and until 15480 ns, and asleep again from 18360 ns on. The reverse frame at 15400 ns finds an awake
    // link and leaves at 16400; so both sleep 2880 ns later.
    let run = |coupled: bool| {
        let controller = lpi(&json!({ "coupled": coupled }));
        let mut json = datagrams("8 Gb/s", &controller, &[(10_000, 1000)]);
        json["link"].as_array_mut().unwrap().push(json!({
            "from": "b", "to": "a", "rate": "8 Gb/s", "buffer": "unlimited", "controller": controller,
        }));
        json["flow"].as_array_mut().unwrap().push(json!({
            "kind": "cbr", "name": "back", "from": "b", "to": "a", "rate": "1 kb/s", "packet": "1000 B",
            "start": "15400 ns",
        }));
        json["probe"] = json!({});
        let run = outcome(json);
        ["a-b", "b-a"].map(|name| link(&run, name).low_power.unwrap())
    };
    let ns = |seconds: f64| (seconds * 1e9).round() as u64;
    for low in run(true) {
        assert_eq!((low.sleeps, ns(low.waking_s), ns(low.awake_s), ns(low.entering_s)), (1, 4480, 1920, 2880));
    }
    // Alone, each wakes for its own frame.
    for low in run(false) {
        assert_eq!((low.sleeps, ns(low.waking_s), ns(low.awake_s), ns(low.entering_s)), (1, 4480, 1000, 2880));
    }
}

#[test]
fn states_and_energy_add_up_to_the_nanosecond() {
    // A frame at 1 ms of 10: asleep for 1 ms; waking 4480 ns; 1000 ns of frame, and 500 ns of hysteresis; to sleep 2880 ns.
    let controller = lpi(&json!({ "hysteresis": "500 ns", "power": 0.2 }));
    let run = outcome(datagrams("8 Gb/s", &controller, &[(1_000_000, 1000)]));
    let found = link(&run, "a-b");
    let low = found.low_power.unwrap();
    let asleep = 10_000_000 - 4480 - 1500 - 2880;
    assert_eq!(low.asleep_s, std::time::Duration::from_nanos(asleep).as_secs_f64());
    assert_eq!((low.waking_s, low.awake_s, low.entering_s), (4.48e-6, 1.5e-6, 2.88e-6));
    // The ideal model has 1 W at the full rate: E/E_on = 1 - (1 - phi) off.
    let energy = found.energy.get("fs").unwrap();
    let share = asleep as f64 / 1e7;
    close(energy.total_j, 0.01 * (1.0 - 0.8 * share), 1e-15);
    close(energy.saving.unwrap(), 0.8 * share, 1e-12);
    // Refreshes take the full power: 9 us quiet, 1 us refresh.
    let controller = with(&controller, &json!({ "quiet": "9 us", "refresh": "1 us" }));
    let low = link(&outcome(datagrams("8 Gb/s", &controller, &[(1_000_000, 1000)])), "a-b").low_power.unwrap();
    // 100 whole cycles before the frame; then 8,991,140 ns are 899 cycles and 1,140 ns.
    assert_eq!((low.refresh_s * 1e9).round(), 999_000.0);
    assert_eq!(((low.asleep_s + low.refresh_s) * 1e9).round(), asleep as f64);
}

#[test]
fn two_modes_deepen_after_their_timer() {
    // 802.3bj: fast wake after 180 ns; after 3500 ns of it deep sleep, 720 ns later.
    let phy = json!({ "kind": "lpi", "phy": "802.3bj-dual", "hysteresis": "0 s" });
    let left = |second: u64| departures(&outcome(datagrams("8 Gb/s", &phy, &[(10_000, 100), (second, 100)])));
    // The first frame finds deep sleep: 10000 + 5500 + 100. The line enters fast wake until 15780.
    assert_eq!(left(17_000), [15_600, 17_000 + 340 + 100]);
    // From 19280 to 20000 the line goes to deep sleep.
    assert_eq!(left(19_279), [15_600, 19_279 + 340 + 100]);
    assert_eq!(left(19_281), [15_600, 20_000 + 5500 + 100]);
    assert_eq!(left(30_000), [15_600, 30_000 + 5500 + 100]);
    let low = link(&outcome(datagrams("8 Gb/s", &phy, &[(10_000, 100)])), "a-b").low_power.unwrap();
    assert_eq!(((low.fast_s * 1e9).round(), (low.entering_s * 1e9).round()), (3500.0, 900.0));
}

#[test]
fn layer_2_bytes_take_their_time() {
    // 1000 B and 38 B of preamble, header, FCS and gap at a nanosecond a byte; the second frame waits for the first.
    let asleep = |controller: Value| {
        let mut json = datagrams("8 Gb/s", &controller, &[(1000, 1000), (1000, 500)]);
        if controller.is_null() {
            json["link"][0].as_object_mut().unwrap().remove("controller");
        }
        json["link"][0]["overhead"] = "38 B".into();
        let run = outcome(json);
        // Counters have the packets' sizes.
        assert_eq!(link(&run, "a-b").delivered_bytes, 1500);
        departures(&run)
    };
    assert_eq!(asleep(Value::Null), [1000 + 1038, 1000 + 1038 + 538]);
    assert_eq!(asleep(lpi(&json!({}))), [1000 + 4480 + 1038, 1000 + 4480 + 1038 + 538]);
    let mut json =
        datagrams("8 Gb/s", &json!({ "kind": "lull", "rates": ["1 Gb/s", "8 Gb/s"], "transition": "1 us" }), &[]);
    json["flow"] = json!([{ "kind": "cbr", "name": "f", "from": "a", "to": "c", "rate": "1 Mb/s" }]);
    json["link"][0]["overhead"] = "38 B".into();
    let error = scenario(&json).unwrap_err().to_string();
    assert!(error.contains("link.a-b.overhead: conflicts with a rate that varies"), "{error}");
}

#[test]
fn a_full_buffer_wakes_the_link() {
    let mut json =
        datagrams("8 Gb/s", &lpi(&json!({ "coalesce_frames": 5 })), &[(1000, 100), (2000, 100), (3000, 100)]);
    json["link"][0]["buffer"] = "2 packets".into();
    let run = outcome(json);
    // The third frame is dropped at 3000 ns.
    assert_eq!(departures(&run), [3000 + 4480 + 100, 3000 + 4480 + 200]);
    assert_eq!(link(&run, "a-b").dropped_packets, 1);
}

#[test]
fn bad_input_names_its_field() {
    let refused = |controller: Value| {
        let json = datagrams("10 Gb/s", &controller, &[(100, 1000)]);
        scenario(&json).err().unwrap_or_else(|| panic!("{controller} was accepted")).to_string()
    };
    for (fields, expected) in [
        (json!({ "wake": "-1 us" }), "wake"),
        (json!({ "sleep": "-5 ns" }), "sleep"),
        (json!({ "hysteresis": "-1 us" }), "hysteresis"),
        (json!({ "wake": "181 s" }), "wake: is 181 s; expected at most 180 s"),
        (json!({ "hysteresis": "10 ms" }), "hysteresis: is 10 ms; expected less than the duration, 10 ms"),
        (json!({ "coalesce_frames": 0 }), "coalesce_frames"),
        (json!({ "coalesce_bytes": "0 B" }), "coalesce_bytes"),
        (json!({ "target_delay": "2239 ns" }), "target_delay: is 2.239 us; expected at least half of wake (4.48 us)"),
        (json!({ "adapts": "time" }), "target_delay: is missing; expected a time: adapts is given"),
        (json!({ "target_delay": "9 us", "coalesce_time": "9 us" }), "coalesce_time: is 9 us; expected no value"),
        (
            json!({ "target_delay": "9 us", "adapts": "frames", "coalesce_frames": 2 }),
            "coalesce_frames: is 2; expected no value",
        ),
        (json!({ "target_delay": "9 us", "adapts": "bytes" }), "adapts"),
        (json!({ "power": 1.5 }), "power"),
        (json!({ "quiet": "20 ms" }), "refresh"),
        (json!({ "fast_wake": "340 ns" }), "fast_sleep"),
        (json!({ "fast_sleep": "3 us", "fast_wake": "1 us", "deep_after": "1 us" }), "fast_sleep"),
        (json!({ "phy": "10gbase-sr" }), "phy"),
        (json!({ "coupled": true }), "coupled: is true, but the reverse link has no coupled controller"),
    ] {
        let error = refused(lpi(&fields));
        assert!(error.contains(&format!("link.a-b.controller.{expected}")), "{fields}: {error}");
    }
    let error = refused(json!({ "kind": "lpi", "phy": "10gbase-t" }));
    assert!(error.contains("link.a-b.controller.hysteresis"), "{error}");
    let error = refused(json!({ "kind": "lpi", "hysteresis": "1 us", "sleep": "1 us" }));
    assert!(error.contains("link.a-b.controller.wake"), "{error}");
    let mut json = datagrams("1 Gb/s", &json!({ "kind": "lpi", "phy": "1000base-t", "hysteresis": "0 s" }), &[]);
    json["flow"] = json!([{ "kind": "cbr", "name": "f", "from": "a", "to": "c", "rate": "1 Mb/s" }]);
    json["link"].as_array_mut().unwrap().push(json!({
        "from": "b", "to": "a", "rate": "1 Gb/s",
        "controller": { "kind": "lpi", "phy": "100base-tx", "hysteresis": "0 s", "coupled": true },
    }));
    let error = scenario(&json).unwrap_err().to_string();
    assert!(error.contains("link.a-b.controller.sleep: is 182 us, but 200 us on the reverse link \"b-a\""), "{error}");
}

#[test]
fn a_physical_layer_of_another_rate_is_a_warning() {
    let warned = |rate: &str, phy: &str| {
        let controller = json!({ "kind": "lpi", "phy": phy, "hysteresis": "0 s", "coupled": false });
        scenario(&datagrams(rate, &controller, &[(100, 1000)])).unwrap().warnings()
    };
    let expected = "link.a-b.controller.phy: has the times of links of 100 Mb/s; expected a link of that rate, but it \
                    has 10 Gb/s";
    assert_eq!(warned("10 Gb/s", "100base-tx"), [expected]);
    let expected = "links of 40 Gb/s or 100 Gb/s; expected a link of that rate, but it has 10 Gb/s";
    assert!(warned("10 Gb/s", "802.3bj-dual")[0].contains(expected));
    let right = [
        ("100 Mb/s", "100base-tx"),
        ("1 Gb/s", "1000base-t"),
        ("10 Gb/s", "10gbase-t"),
        ("40 Gb/s", "802.3bj-fast"),
        ("100 Gb/s", "802.3bj-deep"),
    ];
    for (rate, phy) in right {
        assert!(warned(rate, phy).is_empty(), "{phy} at {rate}");
    }
}

#[test]
fn devices_have_their_own_timers_and_no_other_is_assumed() {
    let first = |fields: Value| {
        let controller = with(&json!({ "kind": "lpi", "phy": "1000base-t", "coupled": false }), &fields);
        let run = outcome(datagrams("1 Gb/s", &controller, &[(100, 1000), (100_000, 1000)]));
        (departures(&run)[0], (link(&run, "a-b").low_power.unwrap().awake_s * 1e9).round())
    };
    // A frame takes 8 us. Each of the two is followed by 5 us of hysteresis. 600 us span the second frame at 100 us: the
    // link is awake from 16.6 us to 708 us.
    assert_eq!(first(json!({ "device": "rtl8372" })), (100 + 16_500 + 8000, 26_000.0));
    assert_eq!(first(json!({ "device": "raspberry-pi-3b+" })).1, 708_000.0 - 16_600.0);
    // Held for 48 us, then T_w = 17 us. The time asleep covers the rest.
    assert_eq!(first(json!({ "device": "niveo-ngsme48t4h", "hysteresis": "1 us" })).0, 100 + 48_000 + 17_000 + 8000);
}
