//! Watts of one's own for links and nodes, and the port that a link is charged.

use crate::common::{link, outcome, scenario};
use netlull_sim::run::RunOutcome;
use serde_json::{Value, json};

/// Two nodes with a link of 1 Gb/s in both directions, and 400 Mb/s from a to b for 10 s.
fn pair(power: &Value) -> Value {
    json!({
        "duration": "10 s",
        "nodes": ["a", "b"],
        "link": [{ "from": "a", "to": "b", "duplex": true, "rate": "1 Gb/s", "delay": "1 ms" }],
        "flow": [{ "kind": "cbr", "name": "load", "from": "a", "to": "b", "rate": "400 Mb/s" }],
        "power": power,
    })
}

fn joules(run: &RunOutcome, name: &str, model: &str) -> f64 {
    link(run, name).energy.get(model).expect("the model").total_j
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} J; expected {expected} J");
}

fn refused(document: &Value) -> String {
    scenario(document).map(|_| ()).expect_err("a wrong table").to_string()
}

#[test]
fn idle_and_busy_watts_are_linear_in_the_load() {
    // 10 s x (0.2 + 0.5 x 0.4) W = 4 J, less the packets that have not arrived after 10 s: 1 ms of 400 Mb/s, and those
    // of the last millisecond. The other direction idles: 2 J.
    let run = outcome(pair(&json!([{ "name": "own", "idle": "0.2 W", "busy": "0.7 W" }])));
    let bits = link(&run, "a-b").delivered_bytes as f64 * 8.0;
    near(joules(&run, "a-b", "own"), 2.0 + 0.5 * bits / 1e9);
    assert!((joules(&run, "a-b", "own") - 4.0).abs() < 5e-4, "{}", joules(&run, "a-b", "own"));
    near(joules(&run, "b-a", "own"), 2.0);
}

#[test]
fn nodes_and_links_have_their_own_devices() {
    // a is a box of 100 W with one link; b-a has the power of its entry instead of that of b; b is another box.
    let table = json!([
        { "name": "as built", "nodes": ["a"], "base": "100 W", "ports": 48, "port": [{ "speed": "1 Gb/s", "power": "1 W" }] },
        { "name": "as built", "nodes": ["b"], "base": "50 W", "idle": "2 W" },
        { "name": "as built", "links": ["b-a"], "idle": "7 W" },
        { "model": "fs", "max_power": "5 W", "max_power_at": "10 Gb/s" },
    ]);
    let run = outcome(pair(&table));
    near(joules(&run, "a-b", "as built"), 1010.0);
    near(joules(&run, "b-a", "as built"), 70.0);
    near(run.summary.network.energy.get("as built").expect("it").total_j, 1080.0);
    // 5 W at 10 Gb/s are 0.5 W at 1 Gb/s.
    near(joules(&run, "b-a", "fs"), 5.0);
    // Without the link's own, b is a box of 50 W. Links without an entry have no power.
    let run = outcome(pair(&json!([table[1], { "model": "fs" }])));
    near(joules(&run, "b-a", "as built"), 520.0);
    near(joules(&run, "a-b", "as built"), 0.0);
}

#[test]
fn a_link_is_charged_the_port_of_its_speed() {
    // Wedge, 108/32 W of box. 10 Gb/s: the 10G port, 0.31 W. 1 Gb/s is no speed of it: the scaled 100G port, 1.57 W.
    let model = json!([{ "model": "wedge-tofino" }]);
    let idle = |change: &Value| {
        let mut json = pair(&model);
        json["link"][0].as_object_mut().expect("a table").extend(change.as_object().expect("a table").clone());
        joules(&outcome(json), "b-a", "wedge-tofino") / 10.0 - 108.0 / 32.0
    };
    near(idle(&json!({})), 1.57);
    near(idle(&json!({ "rate": "10 Gb/s" })), 0.31);
    near(idle(&json!({ "port_speed": "10 Gb/s" })), 0.31);
    near(idle(&json!({ "port_speed": "25 Gb/s" })), 0.52);
}

#[test]
fn wrong_tables_name_their_fields() {
    let begins = |power: Value, text: &str| {
        let told = refused(&pair(&power));
        assert!(told.starts_with(text), "{told}");
    };
    begins(json!([{ "idle": "1 W" }]), "power.0.name: is missing");
    begins(json!([{ "name": "x" }]), "power.0.model: is missing; expected a model");
    begins(json!([{ "name": "x", "nodes": ["z"], "idle": "1 W" }]), "power.0.nodes: \"z\" is not a node");
    begins(json!([{ "name": "x", "links": ["z"], "idle": "1 W" }]), "power.0.links: \"z\" is unknown; expected one of");
    let part = |field: &str, name: &str| json!({ "name": "x", "idle": "1 W", field: [name] });
    begins(json!([part("nodes", "a"), part("nodes", "a")]), "power.1.nodes: \"a\" is given twice");
    begins(json!([part("links", "a-b"), part("links", "a-b")]), "power.1.links: \"a-b\" is given twice");
    begins(
        json!([{ "name": "x", "idle": "1 W" }, { "name": "x", "idle": "2 W" }]),
        "power.1.name: \"x\" is named twice",
    );
    begins(json!([{ "model": "fs", "idle": "1 W" }]), "power.0.idle: is given; expected no field of a device");
    begins(json!([{ "name": "x", "port": [{ "speed": "0 b/s" }] }]), "power.0.port.0.speed: is 0 b/s");
    begins(
        json!([{ "name": "x", "base": "1 W", "supply": { "efficiency": "best" } }]),
        "power.0.supply.efficiency: is \"best\"; expected pfe600",
    );
}
