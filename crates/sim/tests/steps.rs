//! Environments: a run that stops for decisions equals a run whose controller decides at once.

use crate::common::{close, flow, in_words, link, scenario};
use netlull_mechanism::ConfigError;
use netlull_mechanism::link;
use netlull_mechanism::observe::{Adapter, Decision, Observation, Plug, Subscriber, Subscription};
use netlull_sim::run::steps::{Batch, Environment, LinkRate, RateControl, Row, environment as of_kind};
use netlull_sim::run::{FlowSummary, LinkSummary, RoutingSummary, RunOutcome, Unwatched, run};
use netlull_units::{BitRate, Duration, Instant};
use serde_json::{Value, json};
use std::sync::Arc;

/// Requests and bursts over a link of 10 Mb/s. Its ticks coincide with arrivals of datagrams: one is due every 1.25 ms.
fn traffic() -> Value {
    json!({
        "duration": "4 s", "nodes": ["server", "a", "b", "client"],
        "link": [
            { "from": "server", "to": "a", "duplex": true, "rate": "100 Mb/s", "delay": "1 ms", "buffer": "unlimited" },
            { "from": "a", "to": "b", "duplex": true, "rate": "10 Mb/s", "delay": "10 ms", "buffer": "30 packets" },
            { "from": "b", "to": "client", "duplex": true, "rate": "100 Mb/s", "delay": "1 ms", "buffer": "unlimited" },
        ],
        "flow": [
            { "kind": "requests", "name": "web", "from": "server", "to": "client", "offered": "3 Mb/s",
              "size": { "kind": "fixed", "size": "50 kB" } },
            { "kind": "cbr", "name": "steady", "from": "a", "to": "client", "rate": "1.6 Mb/s", "packet": "250 B" },
        ],
        "power": [{ "model": "fs" }],
    })
}

const INTERVAL: Duration = Duration::from_millis(10);
const TRANSITION: Duration = Duration::from_millis(2);
const RATES: [u64; 4] = [2, 4, 7, 10];

/// The number of the rate for a backlog: more rate for more bytes.
fn policy(waiting_bytes: f64) -> usize {
    [1.0, 3000.0, 9000.0].iter().filter(|&&bytes| waiting_bytes >= bytes).count()
}

#[derive(Debug)]
struct Decides;

impl Subscriber for Decides {
    fn observe(&mut self, seen: &Observation) -> Result<Option<Decision>, ConfigError> {
        // An environment has no decision at the end of the run.
        let is_over = seen.now == Instant::ZERO + Duration::from_secs(4);
        let rate = BitRate::from_mbps(RATES[policy(seen.queue.waiting.as_f64())]);
        Ok((!is_over).then_some(Decision::Rate(rate)))
    }
}

#[derive(Debug)]
struct Factory;

impl link::Factory for Factory {
    fn name(&self) -> &'static str {
        "policy"
    }

    fn build(&self, link: link::Context, start: Instant) -> Result<Box<dyn link::Controller>, ConfigError> {
        let plug = Plug { subscription: Subscription::ticks(INTERVAL), initial_rate: None, transition: TRANSITION };
        Ok(Box::new(Adapter::new(plug, Decides, link, start)?))
    }
}

fn config(link: &str) -> RateControl {
    let rates: Vec<String> = RATES.map(|rate| format!("{rate} Mb/s")).to_vec();
    let json = json!({
        "link": link, "rates": rates, "step": "10 ms", "transition": "2 ms", "backlog_scale": "100 ms",
        "weights": { "energy": 1.0, "delay": 1.0, "loss": 1.0, "delay_scale": "10 ms" },
    });
    serde_json::from_value(json).unwrap()
}

fn environment(json: &Value) -> LinkRate {
    LinkRate::new(&scenario(json).unwrap(), &config("a-b")).unwrap()
}

fn raw(environment: &dyn Environment, name: &str) -> f64 {
    let mut values = Vec::new();
    environment.raw(&mut values);
    values.iter().find(|(other, _)| *other == name).unwrap().1
}

#[test]
fn a_run_that_stops_for_decisions_equals_one_whose_controller_decides() {
    for verify in ["ledger", "replay"] {
        let mut json = traffic();
        json["verify"] = verify.into();
        let mut built_in = scenario(&json).unwrap();
        built_in.set_controller("a-b", Arc::new(Factory)).unwrap();
        for seed in [1, 2] {
            built_in.seed = seed;
            let expected = run(&built_in, &mut Unwatched, None).unwrap();
            let mut environment = environment(&json);
            environment.reset(seed).unwrap();
            // The first decision acts before the first event, where the controller has no tick.
            let mut choice = 3;
            while !environment.is_over() {
                environment.step(&[choice]).unwrap();
                choice = i64::try_from(policy(raw(&environment, "backlog_bytes"))).unwrap();
            }
            let found = environment.finish().unwrap();
            assert_eq!(in_words(&found), in_words(&expected));
            assert!(link(&found, "a-b").rate_changes > 50);
        }
    }
}

#[test]
fn a_policy_of_one_rate_serves_as_a_link_of_that_rate() {
    let mut slow = traffic();
    slow["link"][1]["rate"] = "7 Mb/s".into();
    let slow = scenario(&slow).unwrap();
    let expected = run(&slow, &mut Unwatched, None).unwrap();
    let mut config = config("a-b");
    config.transition = Duration::ZERO;
    let mut environment = LinkRate::new(&scenario(&traffic()).unwrap(), &config).unwrap();
    environment.reset(slow.seed).unwrap();
    while !environment.is_over() {
        environment.step(&[2]).unwrap();
    }
    let found = environment.finish().unwrap();
    // Datagrams do not depend on the link back, which keeps 10 Mb/s in the environment.
    let sent = |outcome: &RunOutcome| (flow(outcome, "steady").packets_sent, flow(outcome, "web").requests_started);
    assert_eq!(sent(&found), sent(&expected));
    let served = link(&found, "a-b");
    assert_eq!((served.mean_rate_bps, served.rate_changes), (7e6, 1));
    assert_eq!(served.delivered_bytes, link(&expected, "a-b").delivered_bytes);
}

#[test]
fn the_energy_of_all_steps_is_the_energy_of_the_run() {
    let mut environment = environment(&traffic());
    for seed in [3, 4] {
        environment.reset(seed).unwrap();
        let (mut energy, mut always_on, mut waiting, mut number) = (0.0, 0.0, 0.0, 0);
        while !environment.is_over() {
            let reward = environment.step(&[(number / 3) % 4]).unwrap();
            let [energy_j, on_j, mean] =
                ["energy_j", "always_on_j", "mean_waiting_packets"].map(|name| raw(&environment, name));
            let drops = raw(&environment, "dropped_packets") / raw(&environment, "arrived_packets").max(1.0);
            // A packet of 1500 B takes 1.2 ms at 10 Mb/s, 0.12 of the delay scale.
            close(reward, -(energy_j / on_j + 0.12 * mean + drops), 1e-12);
            energy += energy_j;
            always_on += on_j;
            waiting += mean;
            number += 1;
        }
        assert_eq!(number, 400);
        let link = environment.finish().unwrap().summary.links.get(2).unwrap();
        let found = link.energy.0.iter().map(|(_, energy)| energy).next().unwrap();
        close(energy, found.total_j, 1e-9);
        close(always_on, found.reference_j, 1e-9);
        close(waiting / 400.0, link.mean_queue_packets, 1e-6);
    }
}

#[test]
fn a_batch_steps_like_its_environments_alone_and_starts_new_episodes() {
    let mut json = traffic();
    json["duration"] = "50 ms".into();
    let make = || environment(&json);
    let mut batch = Batch::new(vec![Box::new(make()), Box::new(make())]);
    let (mut rewards, mut over, mut observations, mut values) = ([0.0; 2], [false; 2], [0.0; 12], [0.0; 24]);
    batch.reset(0, 5).unwrap();
    batch.reset(1, 6).unwrap();
    let mut alone = [make(), make()];
    alone[0].reset(5).unwrap();
    alone[1].reset(6).unwrap();
    for step in 0..12 {
        let actions = [step % 4, 3 - step % 4];
        let mut row = Row { rewards: &mut rewards, over: &mut over, observations: &mut observations, raw: &mut values };
        batch.step(&actions, &[7, 8], &mut row).unwrap();
        for (number, each) in alone.iter_mut().enumerate() {
            // The sixth step and the twelfth start episodes.
            let reward = if step % 6 == 5 {
                each.reset(7 + number as u64).unwrap();
                0.0
            } else {
                each.step(&[actions[number]]).unwrap()
            };
            let (mut seen, mut found) = ([0.0; 6], Vec::new());
            each.observe(&mut seen);
            each.raw(&mut found);
            assert_eq!((rewards[number], over[number]), (reward, step % 6 == 4));
            assert_eq!(observations[6 * number..][..6], seen);
            let names = batch.raw_names();
            let column: Vec<_> = (0..12).map(|place| (names[place], values[2 * place + number])).collect();
            assert_eq!(column, found);
        }
    }
}

#[test]
fn impossible_environments_and_actions_are_refused() {
    let refused = |json: &Value, change: fn(&mut RateControl)| {
        let mut config = config("a-b");
        change(&mut config);
        LinkRate::new(&scenario(json).unwrap(), &config).err().unwrap().to_string()
    };
    let json = traffic();
    for (change, field) in [
        ((|config| config.link = "b-x".to_owned()) as fn(&mut RateControl), "link.b-x.controller"),
        (|config| config.rates.clear(), "rates"),
        (|config| config.rates[1] = BitRate::from_mbps(11), "rates.1"),
        (|config| config.rates[0] = BitRate::from_mbps(0), "rates.0"),
        (|config| config.step = Duration::from_millis(3), "step"),
        (|config| config.power = Some("none".to_owned()), "power"),
        (|config| config.weights.delay = -1.0, "delay_weight"),
        (|config| config.weights.energy = f64::NAN, "energy_weight"),
        (|config| config.weights.delay_scale = Duration::ZERO, "delay_scale"),
        (|config| config.backlog_scale = Duration::ZERO, "backlog_scale"),
    ] {
        let message = refused(&json, change);
        assert!(message.starts_with(&format!("{field}:")), "{message}");
    }
    let mut environment = environment(&json);
    assert!(environment.step(&[0]).unwrap_err().to_string().contains("a reset before the next step"));
    environment.reset(1).unwrap();
    for action in [&[4][..], &[-1], &[]] {
        let message = environment.step(action).unwrap_err().to_string();
        assert!(message.contains("a whole number from 0 to 3"), "{message}");
    }
    assert!(environment.finish().unwrap_err().to_string().contains("an episode that is over"));
    environment.step(&[0]).unwrap();
}

/// A client behind an access point that loads pages.
fn client() -> Value {
    json!({
        "duration": "10 s", "nodes": ["server", "access-point", "client"],
        "link": [
            { "from": "server", "to": "access-point", "duplex": true, "rate": "100 Mb/s", "delay": "20 ms", "buffer": "unlimited" },
            { "from": "access-point", "to": "client", "duplex": true, "rate": "20 Mb/s", "delay": "0 ms", "buffer": "unlimited" },
        ],
        "flow": [{ "kind": "requests", "name": "web", "from": "server", "to": "client", "offered": "500 kb/s",
                   "size": { "kind": "fixed", "size": "30 kB" } }],
        "station": [{ "name": "phone", "nodes": ["client"], "radio": ["wavelan-dsss"] }],
    })
}

fn weights(loss: f64) -> Value {
    json!({ "energy": 1.0, "delay": 1.0, "loss": loss, "delay_scale": "100 ms" })
}

fn doze(json: &Value) -> Box<dyn Environment> {
    let options = json!({ "station": "client", "step": "20 ms", "weights": weights(1.0), "silence_scale": "1 s" });
    of_kind(&scenario(json).unwrap(), "client_doze", &options.to_string()).unwrap()
}

/// The sums of raw values over an episode, and its result. `decide` gets the number of the step.
fn summed<const N: usize>(
    environment: &mut dyn Environment,
    seed: u64,
    names: [&str; N],
    decide: impl Fn(u64) -> Vec<i64>,
) -> ([f64; N], RunOutcome) {
    environment.reset(seed).unwrap();
    let (mut sums, mut step) = ([0.0; N], 0);
    while !environment.is_over() {
        environment.step(&decide(step)).unwrap();
        step += 1;
        for (sum, name) in sums.iter_mut().zip(names) {
            *sum += raw(environment, name);
        }
    }
    assert_eq!(step, environment.steps());
    (sums, environment.finish().unwrap())
}

#[test]
fn a_client_that_stays_awake_receives_like_one_without_a_machine() {
    let names = ["energy_j", "always_on_j", "received_packets", "missed_packets", "held_s"];
    let mut environment = doze(&client());
    for verify in ["ledger", "replay"] {
        let mut json = client();
        json["verify"] = verify.into();
        let mut built_in = scenario(&json).unwrap();
        built_in.seed = 4;
        let expected = run(&built_in, &mut Unwatched, None).unwrap();
        let ([energy, always_on, received, missed, held], found) = summed(&mut *environment, 4, names, |_| vec![1]);
        // The null frame that announces the awake mode delays the first packet of the host, if at all.
        assert_eq!(flow(&found, "web").delivered_bytes, flow(&expected, "web").delivered_bytes);
        assert_eq!((received, missed, held), (expected.summary.stations[0].counts.received_packets as f64, 0.0, 0.0));
        close(energy, always_on, 1e-9);
        let radio = found.summary.stations[0].energy.0.iter().map(|(_, energy)| energy).next().unwrap();
        close(energy, radio.total_j, 1e-9);
    }
}

#[test]
fn a_client_that_dozes_saves_energy_and_delays_packets_that_the_access_point_holds() {
    let names = ["energy_j", "always_on_j", "held_s", "missed_packets"];
    let mut environment = doze(&client());
    // Awake in one of five steps.
    let ([energy, always_on, held, missed], found) =
        summed(&mut *environment, 4, names, |step| vec![i64::from(step % 5 == 0)]);
    let station = &found.summary.stations[0];
    let radio = station.energy.0.iter().map(|(_, energy)| energy).next().unwrap();
    close(energy, radio.total_j, 1e-9);
    assert!(energy < 0.6 * always_on && held > 1.0, "{energy} {always_on} {held}");
    assert_eq!(missed, station.counts.missed_packets as f64);
    let always = summed(&mut *environment, 4, names, |_| vec![1]).1;
    let completion = |outcome: &RunOutcome| flow(outcome, "web").mean_completion_s.unwrap();
    assert!(completion(&found) > completion(&always));
    // The same seed and actions give the same bytes.
    let again = summed(&mut *environment, 4, names, |step| vec![i64::from(step % 5 == 0)]).1;
    assert_eq!(in_words(&found), in_words(&again));
}

/// A square of links of which each may sleep, with traffic across it.
fn square() -> Value {
    let link = |from, to| json!({ "from": from, "to": to, "duplex": true, "rate": "10 Mb/s", "delay": "5 ms", "buffer": "50 packets" });
    json!({
        "duration": "8 s", "nodes": ["a", "b", "c", "d"],
        "link": [link("a", "b"), link("b", "c"), link("c", "d"), link("d", "a")],
        "routing": { "update": { "kind": "flooding", "processing": "1 ms", "computation": "10 ms" } },
        "flow": [
            { "kind": "tcp", "name": "download", "from": "a", "to": "b" },
            { "kind": "poisson", "name": "other", "from": "d", "to": "b", "rate": "2 Mb/s" },
        ],
        "power": [{ "model": "fs" }],
    })
}

/// The square with sleep: a-b for 2 s, and d-a afterwards.
fn sleeping(verify: &str) -> Value {
    let mut json = square();
    json["verify"] = verify.into();
    json["sleep"] = json!([
        { "at": "2 s", "links": ["a-b"], "wake": "4 s", "drain": "100 ms", "wake_time": "50 ms" },
        { "at": "5 s", "links": ["d-a"], "drain": "100 ms" },
        { "at": "7.5 s", "links": ["b-c", "c-d"] },
    ]);
    json
}

fn sleep(json: &Value) -> Box<dyn Environment> {
    let options = json!({ "step": "1 s", "notice": "100 ms", "wake_time": "50 ms", "weights": weights(10.0) });
    of_kind(&scenario(json).unwrap(), "links_sleep", &options.to_string()).unwrap()
}

#[test]
fn links_that_sleep_by_decision_sleep_like_planned_ones() {
    let names = ["energy_j", "always_on_j", "lost_packets", "sent_packets"];
    for verify in ["ledger", "replay"] {
        let mut json = sleeping(verify);
        let mut environment = sleep(&json);
        // Of the cables a-b, d-a, b-c, c-d: the decision at 2 s is that of step 2.
        let decide = |step| vec![i64::from(!(2..4).contains(&step)), i64::from(step < 5), 1, 1];
        let ([energy, always_on, lost, sent], found) = summed(&mut *environment, 9, names, decide);
        json["sleep"].as_array_mut().unwrap().pop();
        let mut planned = scenario(&json).unwrap();
        planned.seed = 9;
        let expected = run(&planned, &mut Unwatched, None).unwrap();
        for (found, expected) in found.summary.links.iter().zip(expected.summary.links.iter()) {
            let counts = |link: &LinkSummary| (link.delivered_packets, link.asleep_packets, link.dropped_packets);
            assert_eq!(counts(&found), counts(&expected), "{}", found.name);
            close(found.asleep_s, expected.asleep_s, 1e-12);
            close(found.mean_queue_packets, expected.mean_queue_packets, 1e-9);
        }
        for (found, expected) in found.summary.flows.iter().zip(&expected.summary.flows) {
            assert_eq!(
                (found.delivered_bytes, found.packets_dropped),
                (expected.delivered_bytes, expected.packets_dropped)
            );
        }
        let (routing, plan) = (found.summary.routing.unwrap(), expected.summary.routing.unwrap());
        assert_eq!(routing.table_changes, plan.table_changes);
        let asleep = |routing: &RoutingSummary| {
            routing.sleep.iter().map(|nap| (nap.link.clone(), nap.asleep_s, nap.awake_s)).collect::<Vec<_>>()
        };
        assert_eq!(asleep(&routing), asleep(&plan));
        let total = found.summary.network.energy.0.iter().map(|(_, energy)| energy).next().unwrap();
        close(energy, total.total_j, 1e-6);
        close(always_on, total.reference_j, 1e-6);
        let sum = |pick: fn(&FlowSummary) -> u64| found.summary.flows.iter().map(pick).sum::<u64>() as f64;
        assert!(lost >= sum(|flow| flow.packets_dropped) && sent >= sum(|flow| flow.packets_sent));
        assert!(energy < always_on);
    }
}

#[test]
fn links_that_stay_awake_carry_all_traffic_and_separated_nodes_lose_theirs() {
    let names = ["lost_packets", "received_packets"];
    let json = sleeping("replay");
    let mut environment = sleep(&json);
    let ([lost, received], found) = summed(&mut *environment, 2, names, |_| vec![1; 4]);
    let mut planned = scenario(&square()).unwrap();
    planned.seed = 2;
    let expected = run(&planned, &mut Unwatched, None).unwrap();
    let delivered = |outcome: &RunOutcome| {
        outcome.summary.flows.iter().map(|flow| (flow.delivered_bytes, flow.packets_dropped)).collect::<Vec<_>>()
    };
    assert_eq!(delivered(&found), delivered(&expected));
    assert!(received > 1000.0 && lost < 0.1 * received);
    let ([lost, received], found) = summed(&mut *environment, 2, names, |_| vec![0; 4]);
    assert!(received < 10.0 && lost > 100.0, "{received} {lost}");
    assert!(found.summary.routing.unwrap().unroutable_packets > 100);
}

#[test]
fn impossible_doze_and_sleep_are_refused() {
    let refused = |json: &Value, kind: &str, options: Value| {
        of_kind(&scenario(json).unwrap(), kind, &options.to_string()).err().unwrap().to_string()
    };
    let doze = json!({ "station": "client", "step": "20 ms", "weights": weights(1.0), "silence_scale": "1 s" });
    let rest = json!({ "step": "1 s", "notice": "100 ms", "wake_time": "50 ms", "weights": weights(1.0) });
    let with = |table: &Value, field: &str, value: &str| {
        let mut table = table.clone();
        table[field] = value.into();
        table
    };
    let asleep = sleeping("off");
    for (message, start) in [
        (refused(&client(), "client_doze", with(&doze, "station", "server")), "station.server.mechanism:"),
        (refused(&client(), "client_doze", with(&doze, "radio", "loud")), "radio:"),
        (refused(&client(), "client_doze", with(&doze, "step", "3 ms")), "step:"),
        (refused(&client(), "client_doze", with(&doze, "step", "0 s")), "station.client"),
        (refused(&client(), "client_doze", with(&doze, "silence_scale", "0 s")), "silence_scale:"),
        (refused(&asleep, "links_sleep", with(&rest, "notice", "1 s")), "notice:"),
        (refused(&asleep, "links_sleep", with(&rest, "wake_time", "2 s")), "wake_time:"),
        (refused(&asleep, "links_sleep", with(&rest, "power", "none")), "power:"),
        (refused(&asleep, "links_sleep", with(&rest, "weights", "none")), "weights:"),
        (refused(&square(), "links_sleep", rest.clone()), "sleep:"),
        (refused(&square(), "else", rest), "kind:"),
    ] {
        assert!(message.starts_with(start), "{message}");
    }
}
