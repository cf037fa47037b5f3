//! Tests of the controller and the congestion control in the simulator, with the verifier on.

use netlull_example_own_controller::{FixedWindowFactory, SCENARIO, TwoRatesFactory, with_own};
use netlull_sim::scenario::{Scenario, read_document};
use std::sync::Arc;

#[test]
fn a_small_window_leaves_the_link_at_half_of_its_rate() {
    // The receiver acknowledges every second segment. Ten segments of 1460 B take 50 ms plus 4.8 ms, the time of two
    // segments at 5 Mb/s. 10 x 1460 x 8 / 54.8 ms = 2.13 Mb/s, minus the handshake.
    let summary = with_own(10).expect("runs").summary;
    let (flow, link) = (&summary.flows[0], summary.links.get(0).expect("a link"));
    assert!((2.05e6..2.15e6).contains(&flow.goodput_bps), "{}", flow.goodput_bps);
    assert!(link.mean_rate_bps < 5.2e6, "{}", link.mean_rate_bps);
}

#[test]
fn a_large_window_fills_the_queue_and_gets_the_full_rate() {
    // 5 Mb/s carry 31 kB in 50 ms. Of 60 segments (87.6 kB) the link queues the rest, more than 5 packets, so it runs
    // at 10 Mb/s.
    let summary = with_own(60).expect("runs").summary;
    let (flow, link) = (&summary.flows[0], summary.links.get(0).expect("a link"));
    assert!(flow.goodput_bps > 9e6, "{}", flow.goodput_bps);
    assert!(link.mean_rate_bps > 9.5e6 && link.rate_changes >= 2, "{} {}", link.mean_rate_bps, link.rate_changes);
}

#[test]
fn errors_name_the_field() {
    let mut scenario = Scenario::from_document(&read_document(SCENARIO).expect("reads")).expect("is valid");
    let factory = |queue_packets| Arc::new(TwoRatesFactory { queue_packets });
    let refused = scenario.set_controller("a-b", factory(0)).expect_err("nothing to wait for").to_string();
    assert_eq!(refused, "link.a-b.controller.queue_packets: is 0; expected at least 1 packet");
    let unknown = scenario.set_controller("a-c", factory(1)).expect_err("no such link").to_string();
    assert_eq!(unknown, "link.a-c.controller: is on an unknown link; expected the name of a link");
    let window = |segments| Arc::new(FixedWindowFactory { segments });
    let refused = scenario.set_congestion_control("download", window(0)).expect_err("no window").to_string();
    assert_eq!(refused, "flow.download.tcp.congestion_control.segments: is 0; expected at least 1 segment");
    let unknown = scenario.set_congestion_control("upload", window(1)).expect_err("no such flow").to_string();
    assert_eq!(unknown, "flow.upload.tcp.congestion_control: belongs to no TCP flow; expected the name of a TCP flow");
    scenario.set_controller("a-b", factory(1)).expect("fits");
    let emulated = netlull_sim::emulation::plan(&scenario).expect_err("lives in this process").to_string();
    assert!(
        emulated.starts_with("link.a-b.controller: is \"two_rates\", a custom controller of this program"),
        "{emulated}"
    );
}
