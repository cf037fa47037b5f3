//! Conversion of an emulation's counts to the summary of a simulated run.

use crate::common::{close, scenario};
use netlull_mechanism::radio::{Fallback, ShaperState};
use netlull_network::outcome::{
    DownloadOutcome, FlowMark, FlowOutcome, Lateness, LinkMark, NetworkMark, Outcome, RouterLosses, ShaperOutcome,
    StationCounts, StationOutcome, System,
};
use netlull_network::plan::{FORMAT, RouteChange, RoutingDeed};
use netlull_power::RadioTime;
use netlull_sim::emulation::{emulated, plan};
use netlull_sim::run::{Unwatched, run};
use netlull_sim::scenario::Scenario;
use netlull_units::{BitRate, Duration, Instant};
use serde_json::json;

const WAVELAN: &str = "wavelan-dsss";

fn dozer() -> Scenario {
    scenario(&json!({
        "duration": "5 s", "warm_up": "1 s",
        "nodes": ["server", "ap", "client"],
        "tcp": { "timestamps": true },
        "link": [
            { "from": "server", "to": "ap", "duplex": true, "rate": "100 Mb/s", "delay": "20 ms" },
            { "from": "ap", "to": "client", "duplex": true, "rate": "20 Mb/s" }
        ],
        "flow": [{ "kind": "tcp", "name": "download", "from": "server", "to": "client", "size": "4 MB", "start": "1 s" }],
        "station": [{ "nodes": ["client"], "mechanism": { "kind": "client_shaper" } }]
    }))
    .expect("a scenario")
}

/// Radio: 1 s asleep, 0.5 s waking, 1 s idle, 1 s receiving, 0.5 s transmitting.
fn radio() -> RadioTime {
    let (whole, half) = (Duration::from_secs(1), Duration::from_millis(500));
    RadioTime { asleep: whole, waking: half, idle: whole, receiving: whole, transmitting: half, wakes: 10 }
}

fn counted(scenario: &Scenario) -> Outcome {
    let at = |at: Instant| NetworkMark {
        at,
        links: scenario
            .links
            .iter()
            .map(|_| LinkMark { counters: Default::default(), residency: None, rate_changes: 0, low_power: None })
            .collect(),
        flows: vec![FlowMark::default()],
        routers: Default::default(),
    };
    let links = scenario.links.len();
    Outcome {
        format: FORMAT,
        packet_hops: 0,
        events: 0,
        marks: plan(scenario).expect("a plan").marks.into_iter().map(at).collect(),
        rates: vec![Vec::new(); links],
        gateways: vec![None; links],
        flows: vec![FlowOutcome::default()],
        stations: vec![StationOutcome {
            radio: radio(),
            counts: StationCounts { missed_packets: 3, ..StationCounts::default() },
            shaper: Some(ShaperOutcome {
                state: ShaperState::Standard(Fallback::Paced),
                fallback: Some(Fallback::Paced),
                round_trip: Some(Duration::from_millis(60)),
                resent_opens: 2,
                early: Duration::from_millis(7),
                recovery: Duration::from_millis(8),
                detection: Duration::from_millis(9),
            }),
            download: Some(DownloadOutcome {
                begun: Instant::from_nanos(1_000_000_000),
                over: Instant::from_nanos(3_000_000_000),
                radio: RadioTime {
                    waking: Duration::ZERO,
                    idle: Duration::from_millis(500),
                    transmitting: Duration::ZERO,
                    ..radio()
                },
                missed_packets: 1,
            }),
        }],
        tables: Vec::new(),
        lateness: Lateness::default(),
        system: System::default(),
        differences: Vec::new(),
    }
}

#[test]
fn a_stations_energy_is_made_from_the_times_of_its_radio() {
    let scenario = dozer();
    let summary = emulated(&scenario, &counted(&scenario)).expect("an outcome of this scenario").summary;
    let station = &summary.stations[0];
    assert_eq!(
        (station.name.as_str(), station.mechanism.as_str(), station.counts.missed_packets),
        ("client", "client_shaper", 3)
    );
    assert_eq!((station.state, station.fallback), (Some("standard"), Some("paced")));
    close(station.round_trip_s.expect("an RTT"), 0.06, 1e-12);
    assert_eq!(station.resent_opens, Some(2));
    assert_eq!((station.early_s, station.recovery_s, station.detection_s), (Some(0.007), Some(0.008), Some(0.009)));
    // Asleep 0.177 W x 1 s, idle 1.319 W x 1 s, receiving 1.425 W x 1 s, transmitting 1.675 W x 0.5 s; waking as in
    // the model.
    let energy = station.energy.get(WAVELAN).expect("a radio");
    close(energy.asleep_j, 0.177, 1e-9);
    close(energy.idle_j, 1.319, 1e-9);
    close(energy.receiving_j, 1.425, 1e-9);
    close(energy.transmitting_j, 0.8375, 1e-9);
    // Without sleep it would idle for 1 + 1 + 0.5 s: 2.5 x 1.319 + 1.425 + 0.8375.
    close(energy.awake_j, 5.56, 1e-9);
    close(energy.saving, 1.0 - energy.total_j / 5.56, 1e-9);
    // The download: 0.177 + 0.5 x 1.319 + 1.425 = 2.2615 J in 2 s, plus the energy of 10 wake-ups without a duration.
    let download = station.download.as_ref().expect("it is over");
    let joules = *download.energy_j.get(WAVELAN).expect("a radio");
    close(joules, 2.2615, 1e-9);
    close(*download.energy_delay_js.get(WAVELAN).expect("a radio"), 2.0 * joules, 1e-9);
    assert_eq!((download.start_s, download.seconds, download.missed_packets), (1.0, 2.0, 1));
}

#[test]
fn a_download_that_began_before_the_measurement_is_none() {
    let scenario = dozer();
    let mut outcome = counted(&scenario);
    outcome.stations[0].download.as_mut().expect("one").begun = Instant::from_nanos(999_999_999);
    assert!(emulated(&scenario, &outcome).expect("fits").summary.stations[0].download.is_none());
}

#[test]
fn more_arrivals_than_a_plan_can_list_are_refused() {
    let flows = [
        json!({ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "1e15 b/s" }),
        json!({ "kind": "requests", "name": "c", "from": "a", "to": "b", "offered": "1e12 b/s",
                "size": { "kind": "fixed", "size": "1 B" } }),
    ];
    for flow in flows {
        let network = json!({ "duration": "10 s", "nodes": ["a", "b"], "flow": [flow],
            "link": [{ "from": "a", "to": "b", "duplex": true, "rate": "10 Mb/s" }] });
        let message = plan(&scenario(&network).expect("a scenario")).expect_err("must be refused").to_string();
        assert_eq!(message, "flow.c: has more than 10000000 arrivals; expected at most that in an emulation");
    }
}

#[test]
fn an_outcome_with_other_stations_is_refused() {
    let scenario = dozer();
    let mut outcome = counted(&scenario);
    outcome.stations.clear();
    let error = emulated(&scenario, &outcome).expect_err("a station is missing").to_string();
    assert!(error.contains("of another scenario"), "{error}");
}

#[test]
fn stations_of_an_outcome_survive_as_text() {
    let outcome = counted(&dozer());
    let text = serde_json::to_string(&outcome).expect("JSON");
    assert!(text.contains(r#""state":{"standard":"paced"}"#), "{text}");
    assert_eq!(serde_json::from_str::<Outcome>(&text).expect("an outcome"), outcome);
}

#[test]
fn what_is_true_of_many_flows_is_said_once() {
    let differences = |count: u32, algorithm: &str| {
        let scenario = scenario(&json!({
            "duration": "5 s", "nodes": ["a", "b"],
            "link": [{ "from": "a", "to": "b", "duplex": true, "rate": "10 Mb/s" }],
            "tcp": { "preset": "linux-6", "congestion_control": algorithm },
            "flow": [{ "kind": "tcp", "name": "f", "from": "a", "to": "b", "count": count }]
        }))
        .expect("a scenario");
        plan(&scenario).expect("a plan").differences
    };
    let small = scenario(&json!({
        "duration": "5 s", "mtu": "1040 B", "nodes": ["a", "b"],
        "link": [{ "from": "a", "to": "b", "duplex": true, "rate": "10 Mb/s" }],
        "tcp": { "preset": "linux-6" },
        "flow": [{ "kind": "tcp", "name": "f", "from": "a", "to": "b" }]
    }));
    let unlike = plan(&small.expect("a scenario")).expect("a plan").differences;
    assert!(unlike.is_empty(), "the preset is itself with segments of any size: {unlike:?}");
    let version = "the kernel's bbr is version 1, the simulator's version 3";
    assert_eq!(differences(1, "bbr"), [format!("flow f: {version}")]);
    assert_eq!(differences(4, "bbr"), [format!("flows f-1, f-2, f-3, f-4: {version}")]);
    let first: Vec<_> = (1..=12).map(|number| format!("f-{number}")).collect();
    assert_eq!(differences(20, "bbr"), [format!("flows {} and 8 more: {version}", first.join(", "))]);
    assert!(differences(20, "cubic").is_empty());
}

/// A ring of four. Its link a-b sleeps from 1 to 2 s. With 10 ms per link, 1 ms per router and 10 ms per table, all
/// routers know within 1.1 s.
fn ring() -> serde_json::Value {
    let link =
        |from: &str, to: &str| json!({ "from": from, "to": to, "duplex": true, "rate": "10 Mb/s", "delay": "10 ms" });
    json!({
        "duration": "4 s", "warm_up": "500 ms",
        "nodes": ["a", "b", "c", "d"],
        "link": [link("a", "b"), link("b", "c"), link("c", "d"), link("d", "a")],
        "sleep": [{ "at": "1 s", "links": ["a-b"], "wake": "2 s", "wake_time": "100 ms" }],
        "flow": [{ "kind": "cbr", "name": "f", "from": "a", "to": "b", "rate": "1 Mb/s" }]
    })
}

#[test]
fn a_step_at_the_start_is_the_first_rate_of_a_plan() {
    let steps = json!([{ "at": "0 s", "rate": "4 Mb/s" }, { "at": "2 s", "rate": "8 Mb/s" }]);
    let scenario = scenario(&json!({
        "duration": "5 s",
        "nodes": ["a", "b"],
        "link": [{ "from": "a", "to": "b", "rate": "10 Mb/s", "capacity": { "kind": "steps", "steps": steps } }],
        "flow": [{ "kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "1 Mb/s" }]
    }))
    .expect("a scenario");
    let plan = plan(&scenario).expect("a plan");
    let two_seconds = Instant::ZERO + Duration::from_secs(2);
    assert_eq!(plan.links[0].rate, BitRate::from_mbps(4));
    assert_eq!(plan.links[0].steps, Some(vec![(two_seconds, BitRate::from_mbps(8))]));
}

#[test]
fn a_plan_tells_when_links_sleep_and_how_tables_change() {
    let scenario = scenario(&ring()).expect("a scenario");
    let plan = plan(&scenario).expect("links that sleep can be emulated");
    let routing = plan.routing.expect("packets count their hops");
    assert_eq!(routing.ttl, 64);
    let at = |seconds: f64| Instant::ZERO + Duration::from_secs_f64(seconds).expect("a time");
    let deeds: Vec<_> = routing.steps.iter().filter(|step| !matches!(step.deed, RoutingDeed::Install(_))).collect();
    let expected = [
        (at(1.0), RoutingDeed::Sleep(vec![0, 1])),
        (at(2.0), RoutingDeed::Stir(vec![0, 1])),
        (at(2.1), RoutingDeed::Wake(vec![0, 1])),
    ];
    assert!(
        deeds.iter().map(|step| (step.at, &step.deed)).eq(expected.iter().map(|(at, deed)| (*at, deed))),
        "{deeds:?}"
    );
    // Routes between the hosts a and b: a and b change theirs, c and d only if their routes crossed the cable.
    let changes = |from: f64, to: f64| {
        let between = routing.steps.iter().filter(move |step| at(from) <= step.at && step.at < at(to));
        between.flat_map(|step| match &step.deed {
            RoutingDeed::Install(changes) => changes.clone(),
            _ => Vec::new(),
        })
    };
    let change = |node, destination, link| RouteChange { node, destination, link: Some(link) };
    // Links: a-b 0, b-a 1, b-c 2, c-b 3, c-d 4, d-c 5, d-a 6, a-d 7. There are two paths of two links from c to a. The
    // path over b has the lower link number. The same holds from d to b for the path over c.
    let mut fell: Vec<_> = changes(1.0, 2.0).collect();
    fell.sort_by_key(|change| (change.node, change.destination));
    assert_eq!(fell, [change(0, 1, 7), change(1, 0, 2), change(2, 0, 4)]);
    let mut rose: Vec<_> = changes(2.1, 4.0).collect();
    rose.sort_by_key(|change| (change.node, change.destination));
    assert_eq!(rose, [change(0, 1, 0), change(1, 0, 1), change(2, 0, 3)]);
}

#[test]
fn the_sleep_of_an_emulation_is_summarised_as_that_of_a_simulation() {
    let scenario = scenario(&ring()).expect("a scenario");
    let mut counted = Outcome { stations: Vec::new(), ..counted(&scenario) };
    let last = counted.marks.len() - 1;
    counted.marks[0].routers = RouterLosses { unroutable: 1, expired: 10 };
    counted.marks[last].routers = RouterLosses { unroutable: 5, expired: 12 };
    counted.marks[last].links[0].counters.asleep_packets = 7;
    counted.marks[last].links[0].counters.asleep_ns = 1_000_000_000;
    let found = emulated(&scenario, &counted).expect("an outcome of this scenario").summary;
    let simulated = run(&scenario, &mut Unwatched, None).expect("it runs").summary;
    let (found_routing, routing) = (found.routing.expect("links sleep"), simulated.routing.expect("links sleep"));
    assert_eq!(
        (found_routing.unroutable_packets, found_routing.expired_packets, found_routing.asleep_packets),
        (4, 2, 7)
    );
    assert_eq!(
        (found_routing.table_changes, found_routing.convergence_s),
        (routing.table_changes, routing.convergence_s)
    );
    assert_eq!(json!(found_routing.sleep), json!(routing.sleep));
    let [found, simulated] = [found.links, simulated.links].map(|links| links.get(0).unwrap());
    assert_eq!(found.asleep_s, simulated.asleep_s);
    // 2.5 s awake and 1 s asleep; the energy of traffic is tested elsewhere.
    for model in ["fs", "ncs-55a1-24h"] {
        let parts = |link: &netlull_sim::run::LinkSummary| {
            link.energy.get(model).map(|energy| (energy.rate_dependent_j, energy.asleep_j))
        };
        assert_eq!(parts(&found), parts(&simulated), "{model}");
    }
}
