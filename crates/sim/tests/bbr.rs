//! BBR on the dumb-bell: 10 Mb/s and 50 ms, a bandwidth-delay product of 62,500 B or 41.7 packets of 1500 B.

use crate::common::{floats, flow, link, outcome, table};
use netlull_sim::probe::{Column, Table};
use netlull_sim::run::RunOutcome;
use serde_json::{Value, json};

/// `flows` of BBR, started within a second and measured from 10 s to 60 s.
fn dumbbell(flows: u32, buffer: &str) -> RunOutcome {
    let access = |from: &str, to: &str| json!({ "from": from, "to": to, "duplex": true, "rate": "100 Mb/s", "buffer": "unlimited" });
    outcome(json!({
        "duration": "60 s",
        "warm_up": "10 s",
        "nodes": ["s", "n1", "n2", "d"],
        "link": [
            access("s", "n1"),
            { "from": "n1", "to": "n2", "duplex": true, "rate": "10 Mb/s", "delay": "25 ms", "buffer": buffer },
            access("n2", "d"),
        ],
        "flow": [{ "kind": "tcp", "name": "t", "from": "s", "to": "d", "count": flows, "jitter": "1 s",
                   "tcp": { "congestion_control": "bbr" } }],
    }))
}

fn jain(run: &RunOutcome) -> f64 {
    let rates = run.summary.flows.iter().map(|flow| flow.goodput_bps);
    let (sum, squares) = rates.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    sum * sum / (run.summary.flows.len() as f64 * squares)
}

#[test]
fn one_flow_fills_the_bottleneck_without_filling_its_buffer() {
    for buffer in ["0.25 BDP", "0.5 BDP", "1 BDP", "8 BDP"] {
        let run = dumbbell(1, buffer);
        let bottleneck = link(&run, "n1-n2");
        // BBR paces at 99 %. Every 5 s, ProbeRTT uses half the rate for about 250 ms: 0.99 * (1 - 0.125 / 5) = 0.965.
        assert!(bottleneck.utilisation > 0.95, "{buffer}: {}", bottleneck.utilisation);
        // Only probing causes queues: a round trip at 1.25 and some of 0.9 every 2 s.
        assert!(bottleneck.mean_queue_packets < 0.15 * 41.7, "{buffer}: {}", bottleneck.mean_queue_packets);
        assert!(bottleneck.drop_fraction < 0.01, "{buffer}: {}", bottleneck.drop_fraction);
        assert_eq!(flow(&run, "t").timeouts, 0, "{buffer}");
    }
}

#[test]
fn two_bandwidth_delay_products_are_the_window_when_no_loss_bounds_it() {
    let run = dumbbell(1, "8 BDP");
    assert_eq!(link(&run, "n1-n2").dropped_packets, 0);
    // Data is 1448 of 1500 B. The round-trip time without a queue exceeds 50 ms by the transmission of a packet and
    // its acknowledgement (1.5 ms). Gains are 2, 2.25 for a few round trips, and 0.5 in ProbeRTT; aggregation adds to
    // the window.
    let bdp = 62_500.0 * 51.5 / 50.0 * 1448.0 / 1500.0;
    let cwnd = flow(&run, "t").mean_cwnd_bytes.expect("tcp") / bdp;
    assert!((1.8..2.05).contains(&cwnd), "{cwnd} BDP");
}

#[test]
fn two_flows_share() {
    for buffer in ["0.25 BDP", "1 BDP", "2 BDP"] {
        let run = dumbbell(2, buffer);
        assert!(jain(&run) > 0.9, "{buffer}: {:?}", run.summary.flows);
        assert!(link(&run, "n1-n2").utilisation > 0.96, "{buffer}");
        // Each measures more than half of the rate while the other probes. Twice the BDP for each bounds the queue.
        assert!(link(&run, "n1-n2").max_queue_packets <= 3 * 42, "{buffer}");
    }
}

#[test]
fn a_shallow_buffer_loses_less_than_the_threshold() {
    // A tenth of a BDP, 5 packets. A probe may cause up to 2 % loss; the average is lower.
    for flows in [1, 2] {
        let run = dumbbell(flows, "0.1 BDP");
        assert!(link(&run, "n1-n2").drop_fraction < 0.02, "{}", link(&run, "n1-n2").drop_fraction);
        // 15 % below the limit found by a probe: (1 + 0.1) * 0.85 = 0.935 of a BDP while cruising alone.
        assert!(link(&run, "n1-n2").utilisation > 0.9, "{}", link(&run, "n1-n2").utilisation);
        assert!(jain(&run) > 0.9);
    }
}

/// 50 Mb/s and 50 ms with two BDP of buffer; `more` are further fields of the bottleneck.
fn wide(duration: &str, interval: &str, more: &Value, flows: Value) -> RunOutcome {
    let access = |from: &str, to: &str| json!({ "from": from, "to": to, "duplex": true, "rate": "1 Gb/s", "buffer": "unlimited" });
    let back = json!({ "from": "n2", "to": "n1", "rate": "50 Mb/s", "delay": "25 ms", "buffer": "unlimited" });
    let mut there = json!({ "from": "n1", "to": "n2", "rate": "50 Mb/s", "delay": "25 ms", "buffer": "2 BDP" });
    for (name, value) in more.as_object().expect("fields") {
        there[name] = value.clone();
    }
    outcome(json!({
        "duration": duration,
        "nodes": ["s", "n1", "n2", "d"],
        "link": [access("s", "n1"), there, back, access("n2", "d")],
        "flow": flows,
        "probe": { "interval": interval, "window": true },
    }))
}

fn bbr(name: &str, start: &str, delayed_ack: bool) -> Value {
    json!({ "kind": "tcp", "name": name, "from": "s", "to": "d", "start": start,
            "tcp": { "congestion_control": "bbr", "delayed_ack": delayed_ack } })
}

/// The times between the starts of `ProbeRTT`, whose window is half a BDP. All other windows exceed a BDP.
fn between_probes(run: &RunOutcome) -> Vec<f64> {
    const BDP: f64 = 50e6 / 8.0 * 0.05;
    let windows = table(run, "window");
    let rows: Vec<(f64, f64)> = floats(windows, "time_s").into_iter().zip(floats(windows, "cwnd_bytes")).collect();
    let steady = rows.into_iter().filter(|row| row.0 > 3.0);
    let mut starts = Vec::new();
    let mut inside = false;
    for (time, cwnd) in steady {
        if cwnd < 0.75 * BDP && !inside {
            starts.push(time);
        }
        inside = cwnd < 0.75 * BDP;
    }
    starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn probe_rtt_is_due_five_seconds_after_the_last_lower_sample() {
    // Each segment acknowledged: no later sample is below that of ProbeRTT. 5 s, the fall of the flight within a round
    // trip, and 200 ms: 5.2 to 5.3 s.
    let every = between_probes(&wide("40 s", "20 ms", &json!({}), json!([bbr("one", "0 s", false)])));
    assert!(every.len() >= 6 && every.iter().all(|gap| (5.15..5.35).contains(gap)), "{every:?}");
    // With delayed acknowledgements a sample contains the transmission of one packet or of two, by the parity of the
    // segments. A change of parity gives a lower sample and puts ProbeRTT off (section 5.3.4.3: RS.rtt <
    // BBR.probe_rtt_min_delay). The next one can come at most 5 s after that.
    let second = between_probes(&wide("40 s", "20 ms", &json!({}), json!([bbr("one", "0 s", true)])));
    assert!(second.iter().all(|gap| (5.15..10.4).contains(gap)), "{second:?}");
    assert!(second.iter().any(|&gap| gap > 6.0), "{second:?}");
}

#[test]
fn a_halved_rate_leaves_a_queue_for_two_bandwidth_probes() {
    // max_bw covers the current cycle and the previous one (section 5.5.3), so two cycles must end after the change. A
    // cycle takes 2 to 3 s, REFILL, and UP of four round trips of 200 ms, now with the queue. ProbeRTT every 5.25 s
    // restarts it (section 5.3.4.4) and ends no slot, since its samples are application-limited. That allows one cycle
    // in each interval: at least one more interval, and two at most, with the drain in the next ProbeRTT.
    let halved = json!({ "capacity": { "kind": "steps", "steps": [{ "at": "20 s", "rate": "25 Mb/s" }] } });
    let run = wide("40 s", "100 ms", &halved, json!([bbr("one", "0 s", true)]));
    let links = table(&run, "link");
    let bottleneck = run.summary.links.iter().position(|link| link.name == "n1-n2").expect("a link") as f64;
    let [time, of, queue] = ["time_s", "link", "queue_packets"].map(|column| floats(links, column));
    let last = (0..time.len()).rfind(|&row| of[row] == bottleneck && time[row] < 35.0 && queue[row] > 200.0);
    let standing = time[last.expect("a queue")] - 20.0;
    assert!((5.25..2.0 * 5.25 + 1.0).contains(&standing), "{standing}");
    // The window of 2 BDP before the change is 417 packets, and a BDP after it 104.
    let most = queue.iter().zip(&of).filter(|(_, link)| **link == bottleneck).map(|(packets, _)| *packets);
    assert!((300.0..400.0).contains(&most.fold(0.0, f64::max)));
}

#[test]
fn a_late_flow_gains_its_share_probe_by_probe() {
    // With shares x and y = 1 - x, a probe at 1.25 of x measures 1.25 x / (1 + x / 4) (section 5.3.3.5), and so does the
    // other flow. Normalised, the distance x - 1/2 shrinks to 1 / (1 + x y / 2), about 8/9. From 0.4 to 0.05 it takes
    // ln(8) / ln(9/8) = 18 cycles of 2.5 to 5.25 s each: 44 to 93 s.
    let run = wide("120 s", "1 s", &json!({}), json!([bbr("one", "0 s", true), bbr("two", "500 ms", true)]));
    let flows = table(&run, "flow");
    let [time, of, bytes] = ["time_s", "flow", "delivered_bytes"].map(|column| floats(flows, column));
    let share = |from: f64, to: f64| {
        let sum = |flow: f64| -> f64 {
            let rows = (0..time.len()).filter(|&row| of[row] == flow && from < time[row] && time[row] <= to);
            rows.map(|row| bytes[row]).sum()
        };
        sum(0.0) / (sum(0.0) + sum(1.0))
    };
    assert!(share(0.0, 30.0) > 0.65, "{}", share(0.0, 30.0));
    // Later probes at random times keep it within a tenth of the half.
    assert!((0.4..0.6).contains(&share(93.0, 120.0)), "{}", share(93.0, 120.0));
}

/// A column of names, which an algorithm gives.
fn texts(table: &Table, column: &str) -> Vec<String> {
    match &table.columns.iter().find(|(name, _)| *name == column).expect("a column of that name").1 {
        Column::Text(words) => words.iter().map(ToString::to_string).collect(),
        _ => panic!("{column} is not text"),
    }
}

#[test]
fn the_variables_of_the_draft_are_recorded_when_they_change() {
    let mut json = json!({
        "duration": "3 s",
        "nodes": ["s", "d"],
        "link": [{ "from": "s", "to": "d", "duplex": true, "rate": "10 Mb/s", "delay": "20 ms", "buffer": "4 BDP" }],
        "flow": [{ "kind": "tcp", "name": "t", "from": "s", "to": "d", "tcp": { "congestion_control": "bbr" } }],
        "probe": { "variables": true },
    });
    let run = outcome(json.clone());
    let variables = table(&run, "variable");
    let [names, words] = ["variable", "word"].map(|column| texts(variables, column));
    let values = floats(variables, "value");
    let rows = || names.iter().zip(words.iter().zip(&values));
    let states: Vec<&str> =
        rows().filter(|(name, _)| *name == "BBR.state").map(|(_, (word, _))| word.as_str()).collect();
    // PROBE_DOWN begins and ends with the acknowledgement that ends DRAIN, since little is in flight then.
    assert_eq!(states[..3], ["STARTUP", "DRAIN", "PROBE_CRUISE"], "{states:?}");
    let bandwidth: Vec<f64> = rows().filter(|(name, _)| *name == "BBR.max_bw").map(|(_, (_, value))| *value).collect();
    // Only changes are recorded.
    assert!(bandwidth.windows(2).all(|pair| pair[0].to_bits() != pair[1].to_bits()));
    // 1448 of 1500 bytes at 10 Mb/s.
    let last = bandwidth.last().expect("a bandwidth") * 8.0;
    assert!((last / 1e6 - 10.0 * 1448.0 / 1500.0).abs() < 0.2, "{last}");
    // Without the probe, the run is the same.
    json["probe"] = json!({});
    assert_eq!(format!("{:?}", outcome(json).summary.flows), format!("{:?}", run.summary.flows));
}

#[test]
fn the_same_scenario_gives_the_same_run() {
    let bits = |run: RunOutcome| flow(&run, "t").mean_cwnd_bytes.map(f64::to_bits);
    assert_eq!(bits(dumbbell(1, "0.5 BDP")), bits(dumbbell(1, "0.5 BDP")));
}
