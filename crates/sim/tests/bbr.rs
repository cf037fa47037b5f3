//! BBR on the dumb-bell: 10 Mb/s and 50 ms, a bandwidth-delay product of 62,500 B or 41.7 packets of 1500 B.

use crate::common::{flow, link, outcome};
use netlull_sim::run::RunOutcome;
use serde_json::json;

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

#[test]
fn the_same_scenario_gives_the_same_run() {
    let bits = |run: RunOutcome| flow(&run, "t").mean_cwnd_bytes.map(f64::to_bits);
    assert_eq!(bits(dumbbell(1, "0.5 BDP")), bits(dumbbell(1, "0.5 BDP")));
}
