//! Plug-ins that observe a link: their counts are those of the link's summary.

use crate::common::scenario;
use netlull_mechanism::ConfigError;
use netlull_mechanism::link;
use netlull_mechanism::observe::{Adapter, Amount, Decision, Observation, Plug, Subscriber, Subscription};
use netlull_sim::run::{RunOutcome, Unwatched, run};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The sums of all observations, and the last estimates.
#[derive(Clone, Debug, Default)]
struct Sums {
    arrived: Amount,
    departed: Amount,
    dropped: Amount,
    marked: Amount,
    last: Option<Observation>,
}

/// Sums up its observations, and halves the rate whenever the queue is short.
#[derive(Clone, Debug, Default)]
struct Summing(Arc<Mutex<Sums>>);

impl Subscriber for Summing {
    fn observe(&mut self, seen: &Observation) -> Result<Option<Decision>, ConfigError> {
        let mut sums = self.0.lock().unwrap();
        let Sums { arrived, departed, dropped, marked, last } = &mut *sums;
        for (sum, part) in
            [(arrived, seen.arrived), (departed, seen.departed), (dropped, seen.dropped), (marked, seen.marked)]
        {
            sum.packets += part.packets;
            sum.bytes += part.bytes;
        }
        *last = Some(*seen);
        let is_short = seen.queue.waiting < Bytes::new(6000);
        Ok(Some(Decision::Rate(BitRate::from_mbps(if is_short { 5 } else { 10 }))))
    }
}

#[derive(Debug)]
struct Factory {
    plug: Plug,
    summing: Summing,
}

impl link::Factory for Factory {
    fn name(&self) -> &'static str {
        "summing"
    }

    fn build(&self, link: link::Context, start: Instant) -> Result<Box<dyn link::Controller>, ConfigError> {
        Ok(Box::new(Adapter::new(self.plug.clone(), self.summing.clone(), link, start)?))
    }
}

fn observed(json: &Value, subscription: Subscription) -> (RunOutcome, Sums) {
    let summing = Summing::default();
    let plug = Plug { subscription, transition: Duration::from_micros(100), ..Plug::default() };
    let mut scenario = scenario(json).unwrap();
    scenario.set_controller("a-b", Arc::new(Factory { plug, summing: summing.clone() })).unwrap();
    let outcome = run(&scenario, &mut Unwatched, None).unwrap_or_else(|error| panic!("{error}"));
    let sums = summing.0.lock().unwrap().clone();
    (outcome, sums)
}

/// Five ECN flows over a short buffer, with a queue management.
fn crowded(queue: &Value) -> Value {
    json!({
        "duration": "5 s", "nodes": ["a", "b"], "tcp": { "ecn": "classic" },
        "link": [{
            "from": "a", "to": "b", "duplex": true, "rate": "10 Mb/s", "delay": "10 ms", "buffer": "30 packets", "queue": queue,
        }],
        "flow": [
            { "kind": "tcp", "name": "f", "from": "a", "to": "b", "count": 5 },
            { "kind": "poisson", "name": "g", "from": "a", "to": "b", "rate": "3 Mb/s", "packet": "700 B" },
        ],
    })
}

#[test]
fn counts_of_every_event_are_those_of_the_link() {
    let red = json!({ "kind": "red", "min_threshold": "5 packets", "max_threshold": "15 packets", "ecn": "always" });
    let tight_codel = json!({ "kind": "codel", "target": "2 ms", "interval": "20 ms" });
    for queue in [json!({ "kind": "drop_tail" }), red, tight_codel] {
        for verify in ["ledger", "replay"] {
            let mut json = crowded(&queue);
            json["verify"] = verify.into();
            let every_event = Subscription { every_event: true, ..Subscription::default() };
            let (outcome, sums) = observed(&json, every_event);
            let link = outcome.summary.links.get(0).unwrap();
            assert_eq!((sums.arrived.packets, sums.arrived.bytes.as_u64()), (link.offered_packets, link.offered_bytes));
            assert_eq!(sums.dropped.packets, link.dropped_packets, "{queue}");
            assert_eq!(sums.marked.packets, link.marked_packets, "{queue}");
            assert!(
                sums.dropped.packets > 10 && (queue["kind"] == "drop_tail" || sums.marked.packets > 10),
                "{queue}: {sums:?}"
            );
            let last = sums.last.unwrap();
            let content = last.queue.waiting + last.queue.in_service;
            assert_eq!(sums.arrived.bytes, sums.departed.bytes + sums.dropped.bytes + content, "{queue}");
            assert!(link.rate_changes > 10, "{queue}");
        }
    }
}

#[test]
fn segments_give_the_round_trip_and_the_number_of_flows() {
    let json = crowded(&json!({ "kind": "drop_tail" }));
    let ticks = Subscription { segments: true, ..Subscription::ticks(Duration::from_millis(10)) };
    let (outcome, sums) = observed(&json, ticks);
    let last = sums.last.unwrap();
    // Five flows; the two-way propagation delay is 20 ms, and 30 packets wait up to 72 ms at 5 Mb/s.
    assert!((last.flows.unwrap() - 5.0).abs() < 0.1, "{last:?}");
    let round_trip = last.round_trip.unwrap().as_secs_f64();
    assert!((0.025..0.095).contains(&round_trip), "{round_trip}");
    assert!(outcome.summary.links.get(0).unwrap().gateway.is_some());
    // The last tick is at the end of the run or just before it.
    assert!(last.now >= Instant::ZERO + Duration::from_millis(4990));
}
