//! Custom machines that break their contract, and custom machines that use all of it.

use crate::common::{in_words, scenario};
use netlull_mechanism::link::{self, LinkAction, LinkEvent};
use netlull_mechanism::radio::AccessPointConfig;
use netlull_mechanism::station::{self, Serves, StationAction, StationEvent};
use netlull_mechanism::topology::{Graph, SleepPlan, SleepPlanner, Traffic};
use netlull_mechanism::{ConfigError, Machine};
use netlull_sim::run::{RunError, RunOutcome, Unwatched, run};
use netlull_sim::scenario::{Scenario, ScenarioError, read_document};
use netlull_tcp::Config;
use netlull_tcp::cc::{
    Ack, CongestionControl, CongestionControlFactory, Idle, Loss, PlugInControl, Recovered, Start, TimeoutKind,
};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The actions that a machine adds after an event, its n-th, and its new timer.
type Rule<E, A> = fn(now: Instant, event: &E, number: u64, actions: &mut VecDeque<A>, timer: &mut Option<Instant>);

/// A machine that follows a rule.
#[derive(Debug)]
struct Ruled<E: 'static, A: 'static> {
    rule: Rule<E, A>,
    /// Repeats its last action for ever.
    endless: bool,
    events: u64,
    actions: VecDeque<A>,
    timer: Option<Instant>,
    reads_segments: bool,
}

impl<E, A: Copy> Machine for Ruled<E, A> {
    type Event = E;
    type Action = A;

    fn handle(&mut self, now: Instant, event: E) {
        self.events += 1;
        (self.rule)(now, &event, self.events, &mut self.actions, &mut self.timer);
    }

    fn poll_action(&mut self) -> Option<A> {
        if self.endless { self.actions.front().copied() } else { self.actions.pop_front() }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.timer
    }
}

impl link::Controller for Ruled<LinkEvent, LinkAction> {
    fn rate(&self) -> BitRate {
        BitRate::from_mbps(10)
    }

    fn changes(&self) -> u64 {
        0
    }

    fn reads_segments(&self) -> bool {
        self.reads_segments
    }
}

impl station::Policy for Ruled<StationEvent, StationAction> {}

/// Builds link controllers.
#[derive(Debug)]
struct Link {
    rule: Rule<LinkEvent, LinkAction>,
    endless: bool,
    reads_segments: bool,
    initial_rate: Option<BitRate>,
    /// Machines that it may still build.
    left: AtomicUsize,
}

impl Link {
    fn new(rule: Rule<LinkEvent, LinkAction>) -> Self {
        Self { rule, endless: false, reads_segments: false, initial_rate: None, left: AtomicUsize::new(usize::MAX) }
    }
}

impl link::Factory for Link {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.initial_rate
    }

    fn build(&self, _: link::Context, _: Instant) -> Result<Box<dyn link::Controller>, ConfigError> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(ConfigError::new("plugin", "gone", "a plugin that is loaded"));
        }
        let Self { rule, endless, reads_segments, .. } = *self;
        let (actions, timer) = (VecDeque::new(), None);
        Ok(Box::new(Ruled { rule, endless, events: 0, actions, timer, reads_segments }))
    }
}

/// Builds station machines.
#[derive(Debug)]
struct Station {
    rule: Rule<StationEvent, StationAction>,
    endless: bool,
    serves: Serves,
    access_point: Option<AccessPointConfig>,
    left: AtomicUsize,
}

impl Station {
    fn new(rule: Rule<StationEvent, StationAction>) -> Self {
        let left = AtomicUsize::new(usize::MAX);
        Self { rule, endless: false, serves: Serves::Everything, access_point: None, left }
    }
}

impl station::Factory for Station {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn serves(&self) -> Serves {
        self.serves
    }

    fn access_point(&self) -> Option<&AccessPointConfig> {
        self.access_point.as_ref()
    }

    fn build(&self, _: station::Context, _: Instant) -> Result<Box<dyn station::Policy>, ConfigError> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(ConfigError::new("plugin", "gone", "a plugin that is loaded"));
        }
        let Self { rule, endless, .. } = *self;
        Ok(Box::new(Ruled { rule, endless, events: 0, actions: VecDeque::new(), timer: None, reads_segments: false }))
    }
}

/// A TCP flow over 10 Mb/s.
fn dumbbell() -> Value {
    json!({
        "duration": "3 s", "nodes": ["a", "b"],
        "link": [{ "from": "a", "to": "b", "duplex": true, "rate": "10 Mb/s", "delay": "25 ms", "buffer": "30 packets" }],
        "flow": [{ "kind": "tcp", "name": "f", "from": "a", "to": "b" }],
    })
}

/// Two downloads to a station.
fn downloads() -> Value {
    json!({
        "duration": "1 s", "nodes": ["server", "ap", "sta"],
        "link": [
            { "from": "server", "to": "ap", "duplex": true, "rate": "100 Mb/s", "delay": "10 ms" },
            { "from": "ap", "to": "sta", "duplex": true, "rate": "11 Mb/s", "buffer": "100 packets" },
        ],
        "station": [{ "name": "phone", "nodes": ["sta"] }],
        "flow": [
            { "kind": "tcp", "name": "f", "from": "server", "to": "sta" },
            { "kind": "tcp", "name": "g", "from": "server", "to": "sta", "start": "0.5 s" },
        ],
    })
}

fn controlled(json: &Value, link: Link) -> Result<Scenario, ScenarioError> {
    let mut scenario = scenario(json)?;
    scenario.set_controller("a-b", Arc::new(link))?;
    Ok(scenario)
}

fn stationed(station: Station) -> Result<Scenario, ScenarioError> {
    let mut scenario = scenario(&downloads())?;
    scenario.set_station_machine("sta", Arc::new(station))?;
    Ok(scenario)
}

/// Runs with the default verifier.
fn end(scenario: Result<Scenario, ScenarioError>) -> Result<RunOutcome, RunError> {
    run(&scenario.unwrap_or_else(|error| panic!("{error}")), &mut Unwatched, None)
}

/// The error that a broken contract gives.
fn broken(scenario: Result<Scenario, ScenarioError>) -> String {
    match end(scenario).map(|_| ()) {
        Err(RunError::Machine(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn refused(scenario: Result<Scenario, ScenarioError>) -> String {
    scenario.map(|_| ()).expect_err("a refusal").to_string()
}

fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{message}");
    }
}

const RATES: &str = "expected more than 0 b/s and at most the link's rate, 10 Mb/s";

#[test]
fn impossible_rates_are_refused() {
    let at_start = |rate| Link { initial_rate: Some(rate), ..Link::new(|_, _, _, _, _| {}) };
    for rate in [BitRate::from_mbps(100), BitRate::from_bps(0)] {
        let message = refused(controlled(&dumbbell(), at_start(rate)));
        says(&message, &["link.a-b.controller.initial_rate: is ", &rate.to_string(), RATES]);
    }
    let set = |rule| broken(controlled(&dumbbell(), Link::new(rule)));
    let above = set(|_, _, number, actions, _| {
        if number == 50 {
            actions.push_back(LinkAction::SetRate { rate: BitRate::from_mbps(100), pause: Duration::ZERO });
        }
    });
    says(&above, &["link.a-b.controller.rate: is 100 Mb/s", RATES, "machine \"toy\""]);
    let zero = set(|_, _, _, actions, _| {
        actions.push_back(LinkAction::SetRate { rate: BitRate::from_bps(0), pause: Duration::ZERO });
    });
    says(&zero, &["link.a-b.controller.rate: is 0 b/s", RATES]);
    let for_ever = set(|_, _, _, actions, _| {
        let pause = Duration::from_nanos(u64::MAX);
        actions.push_back(LinkAction::SetRate { rate: BitRate::from_mbps(5), pause });
    });
    says(&for_ever, &["link.a-b.controller.pause: is ", "expected at most "]);
}

#[test]
fn a_factory_that_fails_later_ends_the_run() {
    let once = || AtomicUsize::new(1);
    let controller = broken(controlled(&dumbbell(), Link { left: once(), ..Link::new(|_, _, _, _, _| {}) }));
    says(&controller, &["link.a-b.controller.plugin: is gone; expected a plugin that is loaded", "\"toy\""]);
    let machine = broken(stationed(Station { left: once(), ..Station::new(|_, _, _, _, _| {}) }));
    says(&machine, &["station.sta.mechanism.plugin: is gone", "\"toy\""]);
}

#[test]
fn a_controller_may_answer_an_acknowledgement_with_anything() {
    // Its timer is 1 ms after an acknowledgement, and it then changes the rate; the second acknowledgement changes it
    // at once, with a window.
    let link = Link {
        reads_segments: true,
        ..Link::new(|now, event, _, actions, timer| match event {
            LinkEvent::Acknowledgement { .. } if now < Instant::ZERO + Duration::from_secs(1) => {
                *timer = Some(now + Duration::from_millis(1));
            }
            LinkEvent::Acknowledgement { .. } => {
                *timer = None;
                actions.push_back(LinkAction::SetWindow(Bytes::new(6000)));
                actions.push_back(LinkAction::SetRate { rate: BitRate::from_mbps(2), pause: Duration::ZERO });
            }
            LinkEvent::Timeout { .. } => {
                *timer = None;
                actions.push_back(LinkAction::SetRate { rate: BitRate::from_mbps(8), pause: Duration::ZERO });
            }
            LinkEvent::Arrival { .. } | LinkEvent::Departure { .. } | LinkEvent::Managed { .. } => {}
        })
    };
    let outcome = end(controlled(&dumbbell(), link)).unwrap_or_else(|error| panic!("{error}"));
    let rate = outcome.tables.iter().find(|table| table.name == "rate").expect("a table of rates");
    let rates = crate::common::floats(rate, "rate_bps");
    assert!(rates.contains(&8e6) && rates.contains(&2e6), "{rates:?}");
    let link = serde_json::to_value(outcome.summary.links.get(0)).expect("a summary");
    assert!(link["gateway"]["rewritten_acknowledgements"].as_u64().is_some_and(|count| count > 10), "{link}");
}

#[test]
fn a_window_without_an_acknowledgement_is_an_error() {
    let link = Link::new(|_, _, _, actions, _| actions.push_back(LinkAction::SetWindow(Bytes::new(1500))));
    says(&broken(controlled(&dumbbell(), link)), &["link.a-b.controller.window: is 1500 B; expected "]);
}

const AT_ONCE: &str = "expected at most 100000 actions and timeouts at one instant (machine \"toy\"";

#[test]
fn machines_that_never_let_time_pass_end_the_run() {
    let past: fn() -> Link = || Link::new(|_, _, _, _, timer| *timer = Some(Instant::ZERO));
    says(&broken(controlled(&dumbbell(), past())), &["link.a-b.controller.actions: is 100001; ", AT_ONCE]);
    let endless = Link {
        endless: true,
        ..Link::new(|_, _, _, actions, _| {
            actions.push_back(LinkAction::SetRate { rate: BitRate::from_mbps(5), pause: Duration::ZERO });
        })
    };
    says(&broken(controlled(&dumbbell(), endless)), &[AT_ONCE]);

    let station = |rule| broken(stationed(Station::new(rule)));
    let past = station(|_, _, _, _, timer| *timer = Some(Instant::ZERO));
    says(&past, &["station.sta.mechanism.actions: is 100001; ", AT_ONCE]);
    let acknowledges = station(|_, event, _, actions, _| {
        if let StationEvent::Received { packet, .. } | StationEvent::Acknowledged { packet } = event
            && let Some(tcp) = packet.segment
        {
            actions.push_back(StationAction::Acknowledge { connection: tcp.connection });
        }
    });
    says(&acknowledges, &[AT_ONCE]);
    let endless =
        Station { endless: true, ..Station::new(|_, _, _, actions, _| actions.push_back(StationAction::Wake)) };
    says(&broken(stationed(endless)), &[AT_ONCE]);
}

#[test]
fn all_actions_for_an_event_are_performed_in_their_order() {
    // Of two rates at one instant the later holds, and the earlier adds its pause.
    let twice = Link::new(|_, _, number, actions, _| {
        if number == 50 {
            for (rate, pause) in [(1, 10), (9, 0)] {
                let (rate, pause) = (BitRate::from_mbps(rate), Duration::from_millis(pause));
                actions.push_back(LinkAction::SetRate { rate, pause });
            }
        }
    });
    let outcome = end(controlled(&dumbbell(), twice)).unwrap_or_else(|error| panic!("{error}"));
    let table = outcome.tables.iter().find(|table| table.name == "rate").expect("a table of rates");
    assert_eq!(crate::common::floats(table, "rate_bps"), [10e6, 1e6, 9e6]);
    let times = crate::common::floats(table, "time_s");
    assert_eq!(times[1].to_bits(), times[2].to_bits(), "at one instant");
}

/// A congestion control with a fixed window.
#[derive(Clone, Debug)]
struct Fixed(u64);

impl CongestionControl for Fixed {
    fn cwnd(&self) -> u64 {
        self.0
    }

    fn ssthresh(&self) -> u64 {
        self.0
    }

    fn on_established(&mut self, _: &Start) {}
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss, _: TimeoutKind) {}
    fn on_recovered(&mut self, _: &Recovered) {}
    fn on_idle_restart(&mut self, _: &Idle) {}
}

impl CongestionControlFactory for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn build(&self, _: &Config, _: u32) -> Box<dyn PlugInControl> {
        Box::new(self.clone())
    }
}

/// A congestion control that answers with no window or no pacing rate from a time on.
#[derive(Clone, Debug)]
struct Stopping {
    at: Instant,
    now: Instant,
    paces: bool,
}

impl CongestionControl for Stopping {
    fn cwnd(&self) -> u64 {
        if self.now >= self.at && !self.paces { 0 } else { 30_000 }
    }

    fn ssthresh(&self) -> u64 {
        30_000
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.paces.then(|| if self.now >= self.at { BitRate::from_bps(0) } else { BitRate::from_mbps(5) })
    }

    fn wants_deliveries(&self) -> bool {
        self.paces
    }

    fn on_established(&mut self, _: &Start) {}
    fn on_ack(&mut self, ack: &Ack) {
        self.now = ack.now;
    }
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Loss, _: TimeoutKind) {}
    fn on_recovered(&mut self, _: &Recovered) {}
    fn on_idle_restart(&mut self, _: &Idle) {}
}

impl CongestionControlFactory for Stopping {
    fn name(&self) -> &'static str {
        "stopping"
    }

    fn build(&self, _: &Config, _: u32) -> Box<dyn PlugInControl> {
        Box::new(self.clone())
    }
}

#[test]
fn a_congestion_control_that_stops_its_connection_ends_the_run() {
    let fault = |seconds, paces| {
        let mut scenario = scenario(&dumbbell()).expect("a scenario");
        let control = Stopping { at: Instant::ZERO + Duration::from_secs(seconds), now: Instant::ZERO, paces };
        scenario.set_congestion_control("f", Arc::new(control)).expect("a flow");
        run(&scenario, &mut Unwatched, None).map(|_| ())
    };
    let why = |paces| fault(1, paces).expect_err("a run that stops").to_string();
    says(
        &why(false),
        &["flow.f.tcp.congestion_control.cwnd: is 0 B; expected more than 0 B (machine \"stopping\", at 1"],
    );
    says(&why(true), &["flow.f.tcp.congestion_control.pacing_rate: is 0 b/s; expected more than 0 b/s"]);
    for paces in [false, true] {
        fault(1_000_000, paces).expect("it never stops");
    }
}

#[test]
fn the_largest_windows_change_nothing() {
    let link = |rule| Link { reads_segments: true, ..Link::new(rule) };
    let largest = link(|_, event, _, actions, _| {
        if let LinkEvent::Acknowledgement { .. } = event {
            actions.push_back(LinkAction::SetWindow(Bytes::new(u64::MAX)));
        }
    });
    let (with, without) =
        (end(controlled(&dumbbell(), largest)), end(controlled(&dumbbell(), link(|_, _, _, _, _| {}))));
    assert_eq!(in_words(&with.expect("a run")), in_words(&without.expect("a run")));

    // A window above the receiver's, with and without losses.
    for recovery in ["new_reno", "vegas", "sack"] {
        let ends = [u64::MAX, 1 << 40].map(|window| {
            let mut json = dumbbell();
            json["tcp"] = json!({ "loss_recovery": recovery });
            let mut scenario = scenario(&json).expect("a scenario");
            scenario.set_congestion_control("f", Arc::new(Fixed(window))).expect("a flow");
            run(&scenario, &mut Unwatched, None).expect("a run").summary.flows[0].delivered_bytes
        });
        assert_eq!(ends[0], ends[1], "{recovery}");
        assert!(ends[0] > 100_000, "{ends:?}");
    }
}

#[test]
fn an_acknowledgement_of_an_unknown_connection_is_an_error() {
    let station = |rule| broken(stationed(Station::new(rule)));
    let far =
        station(|_, _, _, actions, _| actions.push_back(StationAction::Acknowledge { connection: 4_000_000_000 }));
    says(&far, &["station.sta.mechanism.connection: is 4000000000; expected the number of a connection"]);
    let near = station(|_, _, _, actions, _| actions.push_back(StationAction::Acknowledge { connection: 2 }));
    says(&near, &["station.sta.mechanism.connection: is 2; expected "]);
}

#[test]
fn every_acknowledgement_is_reported() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let station = Station::new(|_, event, number, actions, _| match event {
        // The first data segment opens the connection at this end, which has nothing to acknowledge before.
        StationEvent::Received { packet, .. } if number > 10 => {
            if let Some(tcp) = packet.segment.filter(|tcp| tcp.len > 0) {
                actions.extend([StationAction::Acknowledge { connection: tcp.connection }; 2]);
                ASKED.fetch_add(2, Ordering::SeqCst);
            }
        }
        StationEvent::Acknowledged { .. } => {
            SEEN.fetch_add(1, Ordering::SeqCst);
        }
        _ => {}
    });
    end(stationed(station)).unwrap_or_else(|error| panic!("{error}"));
    assert!(ASKED.load(Ordering::SeqCst) > 100);
    assert_eq!(SEEN.load(Ordering::SeqCst), ASKED.load(Ordering::SeqCst));
}

#[test]
fn custom_machines_meet_the_checks_of_documents() {
    let mut asleep = dumbbell();
    asleep["nodes"] = json!(["a", "b", "c"]);
    for (from, to) in [("b", "c"), ("c", "a")] {
        let link = json!({ "from": from, "to": to, "duplex": true, "rate": "10 Mb/s", "delay": "5 ms" });
        asleep["link"].as_array_mut().expect("links").push(link);
    }
    asleep["sleep"] = json!([{ "at": "1 s", "links": ["a-b"] }]);
    let message = refused(controlled(&asleep, Link::new(|_, _, _, _, _| {})));
    says(&message, &["link.a-b.controller: is on a link that sleeps; expected "]);

    let station = || Station::new(|_, _, _, _, _| {});
    let message = refused(stationed(Station { serves: Serves::OneDownload, ..station() }));
    says(&message, &["station.sta.mechanism: \"sta\" has 2 TCP flows", "expected one TCP flow"]);
    let access_point = Some(AccessPointConfig { beacon_period: Duration::ZERO, ..AccessPointConfig::default() });
    let message = refused(stationed(Station { access_point, ..station() }));
    says(&message, &["station.sta.mechanism.access_point.beacon_period: is 0", "expected "]);
}

#[test]
fn a_recording_has_the_custom_parts_unless_it_leaves_them_out() {
    let recorded = |without: &[&str]| {
        let mut json = dumbbell();
        json["recording"] = json!({ "name": "again", "flows": ["f"], "link": "a-b", "without": without });
        let mut scenario = scenario(&json).expect("a scenario");
        scenario.set_congestion_control("f", Arc::new(Fixed(30_000))).expect("a flow of the first run");
        scenario.set_controller("a-b", Arc::new(Link::new(|_, _, _, _, _| {}))).expect("a link");
        scenario
    };
    let first = |scenario: &Scenario| scenario.recording.as_ref().expect("a first run").first.custom_parts();
    let both = recorded(&[]);
    assert_eq!(both.custom_parts(), ["link.a-b.controller"]);
    assert_eq!(first(&both), ["link.a-b.controller", "flow.f.tcp.congestion_control"]);
    assert_eq!(first(&recorded(&["link.a-b.controller"])), ["flow.f.tcp.congestion_control"]);
    run(&both, &mut Unwatched, None).expect("two runs");

    let mut json = downloads();
    json["recording"] =
        json!({ "name": "again", "flows": ["f"], "link": "server-ap", "without": ["station.phone.mechanism"] });
    let mut without = scenario(&json).expect("a scenario");
    without.set_station_machine("sta", Arc::new(Station::new(|_, _, _, _, _| {}))).expect("a station");
    assert_eq!((without.custom_parts(), first(&without)), (vec!["station.sta.mechanism".to_owned()], Vec::new()));
}

/// A plan without sleeping links.
#[derive(Debug)]
struct Awake;

impl SleepPlanner for Awake {
    fn plan(&self, _: &Graph, _: &Traffic) -> Result<SleepPlan, ConfigError> {
        Ok(SleepPlan { initial_connectivity: 1.0, off: Vec::new(), steps: Vec::new() })
    }
}

#[test]
fn a_recording_works_with_a_custom_plan() {
    let planned = |without: Value| {
        let mut json = dumbbell();
        json["recording"] = json!({ "name": "again", "flows": ["f"], "link": "a-b", "without": without });
        json["sleep"] = json!([{ "at": "1 s", "links": ["a-b"] }]);
        let mut document = read_document(&json.to_string()).expect("a document");
        document.set_sleep_plan(0, Arc::new(Awake)).expect("an entry");
        Scenario::from_document(&document)
    };
    end(planned(json!([]))).map(|_| ()).expect("two runs");
    says(&refused(planned(json!(["link.a-b.delay"]))), &["recording.without: ", "expected an empty list"]);
}
