use super::*;
use netlull_text::{Change, Text};
use netlull_units::BitRate;
use serde_json::json;

const BUFFER: Bytes = Bytes::new(150_000);
const LINK: LinkContext = LinkContext::new(BitRate::from_mbps(20), Bytes::new(1500));

fn written(name: &str, text: &str) -> std::result::Result<Value, Error> {
    let document = Text { origin: "g.toml", text }.parse().unwrap();
    let mechanism = mechanism(kind(name).unwrap(), document, BUFFER, LINK)?;
    Ok(serde_json::to_value(mechanism).unwrap())
}

#[test]
fn awm_needs_nothing_but_its_link() {
    let awm = written("awm", "").unwrap();
    assert_eq!((&awm["kind"], &awm["target"], &awm["beta"]), (&json!("awm"), &json!("75000 B"), &json!("10 kb/s")));
}

#[test]
fn a_scenarios_controller_is_understood() {
    let text = r#"
        kind = "g_router"
        target = "50 packets"
        min_rate = "1 Mb/s"
        beta = "1 Mb/s"
        round_trip = { kind = "timestamps", initial = "200 ms" }
    "#;
    let g_router = written("g-router", text).unwrap();
    assert_eq!(g_router["target"], json!("50 packets"));
    assert_eq!(g_router["round_trip"], json!({ "kind": "timestamps", "initial": "200 ms" }));
    let rates = r#"rates = { from = "1 Mb/s", to = "20 Mb/s", step = "1 Mb/s" }"#;
    let practra = format!("{rates}\ntransition = \"2 ms\"\nmin_interval = \"16 ms\"\ndelay_bound = \"40 ms\"");
    assert_eq!(written("practra", &practra).unwrap()["forecast_weight"], json!(0.25));
    assert_eq!(written("earth", &format!("{rates}\nthreshold = \"90 kB\"")).unwrap()["min_interval"], json!("100 ms"));
}

#[test]
fn lull_needs_its_rates_and_its_transition() {
    let rates = r#"rates = { from = "1 Mb/s", to = "20 Mb/s", step = "1 Mb/s" }"#;
    let lull = written("lull", &format!("{rates}\ntransition = \"5 ms\"")).unwrap();
    assert_eq!((&lull["kind"], &lull["slowdown"], &lull["headroom"]), (&json!("lull"), &json!(0.05), &json!(0.1)));
    assert_eq!(lull["transition"], json!("5 ms"));
    let why = |text: &str| written("lull", text).unwrap_err().to_string();
    assert!(why(rates).starts_with("transition: is missing; expected a time"));
    assert!(
        why("rates = [\"1 Mb/s\", \"10 Mb/s\"]\ntransition = \"5 ms\"").starts_with("rates: is a set that ends at")
    );
    assert!(why(&format!("{rates}\ntransition = \"5 ms\"\nslowdown = 2.0")).starts_with("slowdown: is 2"));
}

#[test]
fn settings_go_over_the_file() {
    let mut table = json!({ "target": "10 kB" });
    for assignment in ["target=60 kB", "beta=\"2 Mb/s\"", "flows.kind=fixed", "flows.count=4"] {
        Change::parse(assignment).unwrap().apply(&mut table).unwrap();
    }
    let awm = serde_json::to_value(mechanism(kind("awm").unwrap(), table, BUFFER, LINK).unwrap()).unwrap();
    assert_eq!((&awm["target"], &awm["beta"]), (&json!("60000 B"), &json!("2 Mb/s")));
    assert_eq!(awm["flows"], json!({ "kind": "fixed", "count": 4.0 }));
    assert!(Change::parse("target").is_err());
}

#[test]
fn errors_name_the_field() {
    let why = |name, text: &str| written(name, text).unwrap_err().to_string();
    assert!(why("awm", "tarket = \"1 kB\"").contains("tarket"));
    let both = why("g_router", "min_rat = \"1 Mb/s\"\nmin_rate = \"1 Mb/s\"\nround_trip = { kind = \"printed\" }");
    assert!(both.starts_with("unknown field `min_rat`, expected one of `target`, `queue`, `beta`, "), "{both}");
    assert!(both.contains("`min_rate`"));
    assert!(why("awm", "min_rate = \"1 Mb/s\"").starts_with("unknown field `min_rate`"), "that is C-EARTH's");
    assert!(why("awm", "target = \"1 kilo\"").contains("1 kilo"));
    assert!(why("c_earth", "min_rate = \"1 Mb/s\"").contains("round_trip"));
    assert!(why("awm", "target = \"0 B\"").starts_with("target: is 0 B"));
    let times = "transition = \"2 ms\"\nmin_interval = \"16 ms\"\ndelay_bound = \"40 ms\"";
    let low = why("practra", &format!("rates = [\"1 Mb/s\", \"10 Mb/s\"]\n{times}"));
    assert_eq!(low, "rates: is a set that ends at 10 Mb/s; expected the link's rate, 20 Mb/s, as the highest");
    // As in scenarios, practRA's times are mandatory.
    assert!(why("practra", "rates = [\"20 Mb/s\"]").starts_with("transition: is missing; expected a time"));
    let unknown = kind("magic").unwrap_err().to_string();
    assert_eq!(unknown, format!("mechanism is \"magic\"; expected one of {}", names().join(", ")));
}
