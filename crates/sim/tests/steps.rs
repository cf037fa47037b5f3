//! Environments: a run that stops for decisions equals a run whose controller decides at once.

use crate::common::{close, flow, in_words, link, scenario};
use netlull_mechanism::ConfigError;
use netlull_mechanism::link::{LinkContext, LinkController, LinkFactory};
use netlull_mechanism::observe::{Adapter, Decision, Observation, Plug, Subscriber, Subscription};
use netlull_sim::run::steps::{Batch, Environment, LinkRate, RateControl, Row};
use netlull_sim::run::{RunOutcome, Unwatched, run};
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

impl LinkFactory for Factory {
    fn name(&self) -> &'static str {
        "policy"
    }

    fn build(&self, link: LinkContext, start: Instant) -> Result<Box<dyn LinkController>, ConfigError> {
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

fn raw(environment: &impl Environment, name: &str) -> f64 {
    let names = environment.raw_names();
    let mut values = vec![0.0; names.len()];
    environment.raw(&mut values);
    values[names.iter().position(|other| other == name).unwrap()]
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
        let link = &environment.finish().unwrap().summary.links[2];
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
    let (mut rewards, mut over, mut observations, mut values) =
        ([0.0; 2], [false; 2], [0.0; 12], [0.0; 24]);
    batch.reset(0, 5).unwrap();
    batch.reset(1, 6).unwrap();
    let mut alone = [make(), make()];
    alone[0].reset(5).unwrap();
    alone[1].reset(6).unwrap();
    for step in 0..12 {
        let actions = [step % 4, 3 - step % 4];
        let mut row =
            Row { rewards: &mut rewards, over: &mut over, observations: &mut observations, raw: &mut values };
        batch.step(&actions, &[7, 8], &mut row).unwrap();
        for (number, each) in alone.iter_mut().enumerate() {
            // The sixth step and the twelfth start episodes.
            let reward = if step % 6 == 5 {
                each.reset(7 + number as u64).unwrap();
                0.0
            } else {
                each.step(&[actions[number]]).unwrap()
            };
            let (mut seen, mut found) = ([0.0; 6], [0.0; 12]);
            each.observe(&mut seen);
            each.raw(&mut found);
            assert_eq!((rewards[number], over[number]), (reward, step % 6 == 4));
            assert_eq!(observations[6 * number..][..6], seen);
            let column: Vec<f64> = (0..12).map(|place| values[2 * place + number]).collect();
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
