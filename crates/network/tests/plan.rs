//! The input of an emulation.

use netlull_network::plan::LinkPlan;
use netlull_network::queue::QueueModel;
use netlull_network::queue::codel::CoDelConfig;
use netlull_units::{BitRate, Duration, Instant};
use serde_json::json;

const CODEL: CoDelConfig = CoDelConfig {
    target: Duration::from_millis(5),
    interval: Duration::from_millis(100),
    largest_packet: 1500,
    ecn: false,
};

#[test]
fn a_departure_is_known_where_neither_the_rate_nor_the_queue_decides_later() {
    let text = json!({
        "name": "a-b", "from": 0, "to": 1, "rate": "10 Mb/s", "delay": "1 ms", "buffer": "unlimited", "queue": "drop_tail",
        "loss": null, "arrival": null, "control": null, "steps": null, "trace": null, "overhead": 0,
    });
    let plain: LinkPlan = serde_json::from_value(text).expect("a plan");
    let steps = Some(vec![(Instant::ZERO, BitRate::from_mbps(5))]);
    let stepped = LinkPlan { steps, ..plain.clone() };
    let delayed = LinkPlan { queue: QueueModel::CoDel(CODEL), ..plain.clone() };
    let both = LinkPlan { queue: delayed.queue, ..stepped.clone() };
    let shown = [plain, stepped, delayed, both].map(|link| (link.varies(), link.is_predictable()));
    assert_eq!(shown, [(false, true), (true, false), (false, false), (true, false)]);
}
