//! TCP over links: whole transfers, the dumb-bell, conservation on any scenario, captures.

use crate::common::{close, floats, flow, link, outcome, scenario, table};
use netlull_network::capture::Form;
use netlull_sim::probe::CaptureWriter;
use netlull_sim::run::{Monitor, RunError, Stop, Unwatched, run};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::ops::ControlFlow;

fn dumbbell(duration: &str, bottleneck: Value, flow: Value) -> Value {
    let mut middle =
        json!({ "from": "n1", "to": "n2", "duplex": true, "rate": "10 Mb/s", "delay": "25 ms", "buffer": "BDP" });
    for (key, value) in bottleneck.as_object().expect("a table") {
        middle[key] = value.clone();
    }
    let access = |from: &str, to: &str| json!({ "from": from, "to": to, "duplex": true, "rate": "100 Mb/s", "buffer": "unlimited" });
    json!({
        "duration": duration,
        "nodes": ["s", "n1", "n2", "d"],
        "link": [access("s", "n1"), middle, access("n2", "d")],
        "flow": [flow],
    })
}

fn tcp(fields: Value) -> Value {
    let mut flow = json!({ "kind": "tcp", "name": "t", "from": "s", "to": "d" });
    for (key, value) in fields.as_object().expect("a table") {
        flow[key] = value.clone();
    }
    flow
}

#[test]
fn a_buffer_in_bdp_is_rate_times_round_trip() {
    // 10 Mb/s x 50 ms = 62,500 B = 41.67 packets, rounded to 42.
    let run = outcome(dumbbell("1 s", json!({}), tcp(json!({}))));
    assert_eq!(link(&run, "n1-n2").buffer, "42 packets");
    // At 1 ms it is 0.83 packets: the floor of 5 holds.
    let run = outcome(dumbbell("1 s", json!({ "delay": "0.5 ms" }), tcp(json!({}))));
    assert_eq!(link(&run, "n1-n2").buffer, "5 packets");
    let run = outcome(dumbbell("1 s", json!({ "buffer": "0.4 BDP" }), tcp(json!({}))));
    assert_eq!(link(&run, "n1-n2").buffer, "17 packets");
}

#[test]
fn a_short_transfer_takes_the_time_that_arithmetic_gives() {
    // 14,600 B = ten segments of 1460 B, an initial window. Without queues: SYN 48 B and SYN-ACK 48 B (MSS and window
    // scale options), then ten segments of 1500 B back to back, then the last one's acknowledgement. One way at s
    // bytes: 2 s/100 Mb/s + s/10 Mb/s + 25 ms.  SYN: 3.84+3.84+38.4 us = 46.08 us + 25 ms, twice. The first data
    // segment reaches n1 120 us after it starts. There a segment leaves every 1.2 ms: the tenth has left after 120 us
    // + 12 ms. 25 ms later it is forwarded (120 us). Its ACK, 40 B: 3.2+32+3.2 us = 38.4 us + 25 ms.
    let flow_json = tcp(json!({ "size": "14600 B", "tcp": { "timestamps": false, "delayed_ack": false } }));
    let run = outcome(dumbbell("2 s", json!({}), flow_json));
    let expected = 2.0 * (0.025 + 46.08e-6) + 0.000_12 + 0.012 + 0.025 + 0.000_12 + 0.025 + 38.4e-6;
    close(flow(&run, "t").completion_time_s.expect("complete"), expected, 1e-9);
    assert_eq!(flow(&run, "t").delivered_bytes, 14_600);
    assert_eq!(flow(&run, "t").retransmissions, 0);
}

#[test]
fn a_transfer_of_any_size_is_long_or_refused() {
    // 10 Mb/s deliver at most 1.25 MB in a second.
    let sized = |size: String| dumbbell("1 s", json!({}), tcp(json!({ "size": size })));
    let run = outcome(sized(format!("{} B", 1_u64 << 50)));
    assert_eq!(flow(&run, "t").completion_time_s, None);
    assert!(flow(&run, "t").delivered_bytes <= 1_250_000);
    for size in [(1_u64 << 50) + 1, (1 << 62) - 1, 1 << 62] {
        let error = scenario(&sized(format!("{size} B"))).expect_err("too large").to_string();
        let message = format!("flow.t.size: is {size} B; expected at most 1125899906842624 B, or \"endless\"");
        assert!(error.contains(&message), "{error}");
    }
    // Beyond the range of amounts of data.
    for size in [1_u64 << 63, u64::MAX] {
        let error = scenario(&sized(format!("{size} B"))).expect_err("too large").to_string();
        assert!(error.contains(&format!("flow.t.size: \"{size} B\" is not a transfer size")), "{error}");
    }
}

#[test]
fn every_transfer_completes_and_is_delivered_once() {
    let run = outcome(dumbbell(
        "120 s",
        json!({ "buffer": "5 packets" }),
        tcp(json!({ "size": "1 MB", "count": 20, "spacing": "10 ms" })),
    ));
    assert_eq!(run.summary.flows.len(), 20);
    for flow in &run.summary.flows {
        assert_eq!(flow.delivered_bytes, 1_000_000, "{}", flow.name);
        assert!(flow.completion_time_s.is_some(), "{}", flow.name);
    }
    assert!(link(&run, "n1-n2").dropped_packets > 0, "or the test tests nothing");
}

#[test]
fn one_flow_fills_the_bottleneck_when_the_buffer_is_a_bdp() {
    // RFC 5681 halves the window to one BDP of buffer, which keeps the link busy. Payload is 1460 of 1500 bytes.
    let json = dumbbell("100 s", json!({}), tcp(json!({ "tcp": { "preset": "ns2" } })));
    let run = outcome(json);
    close(flow(&run, "t").goodput_bps / 1e6, 10.0 * 1460.0 / 1500.0, 0.15);
    assert!(flow(&run, "t").fast_retransmits > 10);
    assert!(flow(&run, "t").mean_cwnd_bytes.expect("tcp") > 62_500.0);
}

#[test]
fn one_flow_fills_the_bottleneck_with_any_options() {
    // No choice of acknowledgements, timers or preset may leave the flow in timeouts. With the literal FlightSize of
    // RFC 5681 at a timeout in recovery, delayed acknowledgements alone cost 40 % of this goodput.
    for options in [
        json!({}),
        json!({ "delayed_ack": false }),
        json!({ "min_rto": "200 ms" }),
        json!({ "delayed_ack": false, "min_rto": "200 ms" }),
        json!({ "timestamps": false }),
        json!({ "limited_transmit": false }),
        json!({ "partial_ack_timer": "slow_but_steady" }),
        json!({ "preset": "ns2", "ssthresh_from": "flight" }),
    ] {
        let run = outcome(dumbbell("100 s", json!({}), tcp(json!({ "tcp": options }))));
        let flow = flow(&run, "t");
        assert!(flow.goodput_bps > 9.2e6, "{options}: {} b/s, {} timeouts", flow.goodput_bps, flow.timeouts);
        assert!(flow.timeouts < 10, "{options}: {} timeouts", flow.timeouts);
    }
}

#[test]
fn a_server_of_2002_sends_a_send_buffer_per_round_trip() {
    // 32 KiB are 23 segments of 1448 B, rounded up. The round-trip time is 50 ms, plus 1.44 + 0.05 ms of
    // transmissions, and up to 1.2 ms for the second segment of a delayed acknowledgement: 23 x 11,584 b / 52 ms = 5.1
    // Mb/s.
    let run = outcome(dumbbell("100 s", json!({}), tcp(json!({ "tcp": { "preset": "freebsd-4.5" } }))));
    close(flow(&run, "t").goodput_bps / 1e6, 5.1, 0.2);
    // Twice the buffer gives twice the rate. The peer's 64 KiB are 45 segments.
    let twice = json!({ "preset": "freebsd-4.5", "send_buffer": "64 KiB" });
    let run = outcome(dumbbell("100 s", json!({}), tcp(json!({ "tcp": twice }))));
    assert!(flow(&run, "t").goodput_bps > 9e6, "{}", flow(&run, "t").goodput_bps);
}

#[test]
fn many_flows_share_without_one_starving() {
    let json = dumbbell("100 s", json!({}), tcp(json!({ "count": 8, "jitter": "1 s", "tcp": { "preset": "ns2" } })));
    let run = outcome(json);
    let rates: Vec<f64> = run.summary.flows.iter().map(|flow| flow.goodput_bps).collect();
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let jain = sum * sum / (8.0 * squares);
    assert!(jain > 0.9, "Jain's index {jain} of {rates:?}");
    assert!(sum > 9.3e6, "{sum}");
}

#[test]
fn the_window_table_follows_slow_start() {
    let mut json = dumbbell(
        "1 s",
        json!({}),
        tcp(json!({ "size": "100 kB", "tcp": { "delayed_ack": false, "initial_window": 2 } })),
    );
    json["probe"] = json!({ "window": true });
    let run = outcome(json);
    let cwnd = crate::common::floats(table(&run, "window"), "cwnd_bytes");
    // 1460 less 12 bytes of timestamps. In slow start each acknowledgement adds a segment.
    let starts: Vec<f64> = cwnd.iter().skip_while(|c| **c < 2.0 * 1448.0).copied().take(4).collect();
    assert_eq!(starts, [2.0, 3.0, 4.0, 5.0].map(|n| n * 1448.0));
}

/// Stops a run at its first report.
struct Impatient;

impl Monitor for Impatient {
    fn progress(&mut self, _: f64) -> ControlFlow<Stop> {
        ControlFlow::Break(Stop::Cancelled)
    }
}

#[test]
fn a_run_can_be_cancelled() {
    let scenario = scenario(&dumbbell("1000 s", json!({}), tcp(json!({})))).expect("valid");
    assert!(matches!(run(&scenario, &mut Impatient, None), Err(RunError::Cancelled)));
}

#[test]
fn a_capture_is_written_whole_or_not_at_all() {
    let folder = std::env::temp_dir().join(format!("netlull-capture-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("t.pcapng");
    let scenario = scenario(&dumbbell("1 s", json!({}), tcp(json!({ "size": "20 kB" })))).expect("valid");
    let links = ["n1-n2".to_owned(), "n2-n1".to_owned()];
    let capture = || CaptureWriter::of(&scenario, &links, &path, Form::Ng).expect("can write");
    assert!(run(&scenario, &mut Impatient, Some(capture())).is_err());
    assert_eq!(std::fs::read_dir(&folder).expect("readable").count(), 0, "nothing is left of a cancelled capture");
    let outcome = run(&scenario, &mut Unwatched, Some(capture())).expect("runs");
    let bytes = std::fs::read(&path).expect("the capture");
    // A block per packet and interface, each starting with its type: 6 is an enhanced packet.
    let mut at = 0;
    let mut packets = 0;
    while at < bytes.len() {
        let word = |offset: usize| u32::from_le_bytes(bytes[at + offset..at + offset + 4].try_into().expect("four"));
        packets += u64::from(word(0) == 6);
        at += word(4) as usize;
    }
    let delivered = |name: &str| link(&outcome, name).delivered_packets;
    assert_eq!(packets, delivered("n1-n2") + delivered("n2-n1"));
    std::fs::remove_dir_all(&folder).expect("removable");
}

#[test]
fn a_capture_of_an_unknown_link_is_refused() {
    let scenario = scenario(&dumbbell("1 s", json!({}), tcp(json!({})))).expect("valid");
    let refused = CaptureWriter::of(&scenario, &["n9".to_owned()], std::path::Path::new("never.pcapng"), Form::Ng);
    let message = refused.map(|_| ()).expect_err("no such link").to_string();
    assert!(message.contains("\"n9\" is unknown; expected one of s-n1, n1-s, n1-n2"), "{message}");
}

#[test]
fn bad_tcp_options_are_refused_where_they_stand() {
    let why = |options: Value| {
        scenario(&dumbbell("1 s", json!({}), tcp(json!({ "tcp": options })))).expect_err("bad").to_string()
    };
    assert!(
        why(json!({ "congestion_control": "magic" }))
            .starts_with("flow.t.tcp.congestion_control: \"magic\" is unknown; expected one of ")
    );
    assert!(why(json!({ "mss": "3 kB" })).starts_with("flow.t.tcp.mss: is 3000 B; expected 1 to 1460 B"));
    assert!(why(json!({ "mss": "20 B" })).starts_with("flow.t.tcp.mss: is 20 B; expected at least 48 B"));
    assert!(
        why(json!({ "delayed_ack_timeout": "1 s" })).starts_with("flow.t.tcp.delayed_ack_timeout: is 1 s; expected")
    );
    assert_eq!(
        why(json!({ "preset": "freebsd-4.5", "loss_recovery": "sack" })),
        "tcp.shrunk_window: is pull_back; expected keep, or loss_recovery tahoe, reno or new_reno"
    );
    assert!(why(json!({ "send_buffer": "1 kB" })).starts_with("flow.t.tcp.send_buffer: is 1 kB; expected"));
    let mut small = dumbbell("1 s", json!({}), tcp(json!({})));
    small["mtu"] = "68 B".into();
    assert!(
        scenario(&small).expect_err("bad").to_string().starts_with("mtu: is 68 B, which leaves TCP segments of 28 B")
    );
    let mut global = dumbbell("1 s", json!({}), tcp(json!({})));
    global["tcp"] = json!({ "max_rto": "1 s" });
    assert!(scenario(&global).expect_err("bad").to_string().starts_with("tcp.max_rto: is 1 s; expected at least 60 s"));
}

fn practra(interval: u64, bound: u64) -> Value {
    json!({ "kind": "practra", "rates": { "from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s" },
            "transition": "2 ms", "min_interval": format!("{interval} ms"), "delay_bound": format!("{bound} ms") })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60), failure_persistence: None, ..ProptestConfig::default() })]

    /// For any scenario, the verifiers find no violation, and finite transfers are delivered exactly.
    #[test]
    fn any_scenario_conserves(
        seed in 0_u64..1000,
        buffer in prop_oneof![Just("1 packet"), Just("5 packets"), Just("20 kB"), Just("BDP"), Just("unlimited")],
        delay_us in 0_u64..100_000,
        loss in prop_oneof![Just(0.0), Just(0.01), Just(0.1)],
        kind in 0_u8..3,
        in_service in prop_oneof![Just("finish_then_pause"), Just("finish_while_pausing"), Just("suspend")],
        interval in prop_oneof![Just(3_u64), Just(16), Just(100)],
        delayed_ack in any::<bool>(),
        timestamps in any::<bool>(),
        preset in prop_oneof![Just("rfc"), Just("ns2")],
        flows in 1_u32..5,
        warm_up_ms in prop_oneof![Just(0_u64), Just(1500)],
    ) {
        let mut middle = json!({ "buffer": buffer, "delay": format!("{delay_us} us"), "loss": { "kind": "bernoulli", "probability": loss } });
        match kind {
            0 => middle["controller"] = practra(interval, 20),
            1 => middle["capacity"] = json!({ "kind": "uniform_redraw", "min": "1 Mb/s", "max": "10 Mb/s", "mean_interval": "5 ms" }),
            _ => {}
        }
        if kind == 0 {
            middle["controller"]["in_service"] = in_service.into();
        }
        let options = json!({ "preset": preset, "delayed_ack": delayed_ack, "timestamps": timestamps });
        let transfers = tcp(json!({ "count": flows, "jitter": "1 s", "size": "200 kB", "tcp": options }));
        let mut json = dumbbell("5 s", middle, transfers);
        let bursts = json!({ "kind": "bursts", "name": "b", "from": "s", "to": "d", "rate": "10 Mb/s", "cycle": "1 s", "mean_on": "100 ms" });
        json["flow"].as_array_mut().expect("a list").push(bursts);
        json["seed"] = seed.into();
        json["warm_up"] = format!("{warm_up_ms} ms").into();
        json["probe"] = json!({ "interval": "100 ms" });
        let run = outcome(json);
        // The bins of a flow over the whole run, whose end is that of a bin: all its bytes, at no time faster than the link.
        let rows = table(&run, "flow");
        let [time, of, bytes] = ["time_s", "flow", "delivered_bytes"].map(|column| floats(rows, column));
        for (place, flow) in run.summary.flows.iter().enumerate().filter(|(_, flow)| flow.kind == "tcp") {
            prop_assert!(flow.delivered_bytes <= 200_000);
            prop_assert!(flow.completion_time_s.is_none() || warm_up_ms > 0 || flow.delivered_bytes == 200_000);
            let sum: f64 = (0..of.len()).filter(|&row| of[row] as usize == place).map(|row| bytes[row]).sum();
            prop_assert!(flow.completion_time_s.is_none() || sum == 200_000.0, "{}: {sum}", flow.name);
            prop_assert!((flow.delivered_bytes as f64..=200_000.0).contains(&sum), "{}: {sum}", flow.name);
        }
        for end in 1..=50 {
            let sum: f64 = (0..of.len()).filter(|&row| (10.0 * time[row]).round() as i32 == end).map(|row| bytes[row]).sum();
            // 10 Mb/s for 100 ms, and the packet that was under way at the start of the bin.
            prop_assert!(sum <= 125_000.0 + 1500.0, "{sum} bytes in the bin before {end}");
        }
    }
}

#[test]
fn both_ends_close_and_fall_silent() {
    // 10,000 B are seven segments of 1448 B. The sender sends its SYN, the seven segments and the ACK of the
    // receiver's FIN: nine packets, then nothing for the rest of the minute. The first segment acknowledges the
    // SYN-ACK, the last has the FIN.
    let flow_json = tcp(json!({ "size": "10 kB", "tcp": { "delayed_ack": false } }));
    let run = outcome(dumbbell("60 s", json!({}), flow_json));
    assert_eq!(flow(&run, "t").packets_sent, 9);
    assert_eq!(flow(&run, "t").retransmissions + flow(&run, "t").timeouts, 0);
}

/// Ends a run above a memory limit of 7 MB after half of its time.
struct Frugal;

impl Monitor for Frugal {
    fn progress(&mut self, share: f64) -> ControlFlow<Stop> {
        if share >= 0.5 { ControlFlow::Break(Stop::Memory(7_000_000)) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_run_above_its_memory_limit_names_the_longest_queue() {
    let flood = json!({ "kind": "cbr", "name": "flood", "from": "a", "to": "b", "rate": "12 Mb/s" });
    let json = json!({ "duration": "10 s", "nodes": ["a", "b"], "flow": [flood],
        "link": [{ "from": "a", "to": "b", "rate": "1 kb/s", "buffer": "unlimited" }] });
    let outcome = run(&scenario(&json).expect("valid"), &mut Frugal, None).map(drop);
    let error = outcome.expect_err("an error").to_string();
    // 1,000 packets per second, and the first takes 12 s.
    assert!(error.starts_with("link.a-b.buffer: unlimited; after 5.0"), "{error}");
    assert!(error.contains("memory limit of 7 MB, with 50"), "{error}");
    assert!(error.contains(" packets on the link; expected a smaller buffer"), "{error}");
}
