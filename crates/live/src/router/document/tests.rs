use super::*;

const LINK: LinkFacts = LinkFacts { rate: BitRate::from_mbps(20), buffer: Bytes::new(150_000), mtu: Bytes::new(1500) };

fn written(kind: Kind, text: &str) -> Result<MechanismConfig> {
    mechanism(kind, text.parse().unwrap(), LINK)
}

#[test]
fn awm_needs_nothing_but_its_link() {
    let Ok(MechanismConfig::Gateway(config)) = written(Kind::Awm, "") else { panic!() };
    assert_eq!(config.awm, AwmConfig::new(Bytes::new(75_000)));
    assert_eq!((config.steers, config.link_rate), (true, LINK.rate));
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
    let Ok(MechanismConfig::Gateway(config)) = written(Kind::GRouter, text) else { panic!() };
    assert_eq!(config.awm.target, Bytes::new(75_000));
    assert_eq!(config.round_trip, RoundTripConfig::Timestamps { initial: Duration::from_millis(200) });
    assert_eq!(config.c_earth.as_ref().map(|c_earth| c_earth.max), Some(LINK.rate));
    let rates = r#"rates = { from = "1 Mb/s", to = "20 Mb/s", step = "1 Mb/s" }"#;
    let Ok(MechanismConfig::PractRa(practra)) = written(Kind::Practra, rates) else { panic!() };
    assert_eq!(practra.rates.as_slice().len(), 20);
    let earth = format!("{rates}\nthreshold = \"90 kB\"");
    assert!(matches!(written(Kind::Earth, &earth), Ok(MechanismConfig::Earth(_))));
}

#[test]
fn every_parameter_of_the_g_router_comes_where_it_belongs() {
    let text = r#"
        target = "60 kB"
        queue = "waiting_and_in_service"
        beta = "2 Mb/s"
        floor = "500 B"
        initial_window = "10 kB"
        flows = { kind = "fixed", count = 4.0 }
        round_trip = { kind = "handshake", initial = "80 ms" }
        min_rate = "1 Mb/s"
        initial_rate = "5 Mb/s"
        gamma = 0.5
        pace = "event"
        granularity = "10 kb/s"
        transition = "3 ms"
    "#;
    let Ok(MechanismConfig::Gateway(config)) = written(Kind::GRouter, text) else { panic!() };
    let c_earth = CEarthConfig {
        min: BitRate::from_mbps(1),
        max: BitRate::from_mbps(20),
        initial: Some(BitRate::from_mbps(5)),
        gamma: 0.5,
        pace: Pace::Event,
        granularity: BitRate::from_bps(10_000),
        transition: Duration::from_millis(3),
    };
    let awm = AwmConfig {
        target: Bytes::new(60_000),
        beta: BitRate::from_mbps(2),
        floor: Bytes::new(500),
        initial_window: Bytes::new(10_000),
    };
    let expected = GatewayConfig {
        awm: awm.clone(),
        steers: true,
        c_earth: Some(c_earth.clone()),
        flows: FlowCountConfig::Fixed(4.0),
        round_trip: RoundTripConfig::Handshake { initial: Duration::from_millis(80) },
        queue: QueueCount::WaitingAndInService,
        link_rate: LINK.rate,
    };
    assert_eq!(*config, expected);
    // Its halves alone.
    let without = |names: &[&str]| {
        text.lines()
            .filter(|line| !names.iter().any(|name| line.trim().starts_with(name)))
            .fold(String::new(), |all, line| all + line + "\n")
    };
    let windows = without(&["round_trip", "min_rate", "initial_rate", "gamma", "pace", "granularity", "transition"]);
    let Ok(MechanismConfig::Gateway(config)) = written(Kind::Awm, &windows) else { panic!() };
    assert_eq!((config.awm, config.c_earth, config.steers), (awm, None, true));
    let rate = without(&["beta", "floor", "initial_window", "flows"]);
    let Ok(MechanismConfig::Gateway(config)) = written(Kind::CEarth, &rate) else { panic!() };
    assert_eq!((config.c_earth, config.steers, config.queue), (Some(c_earth), false, QueueCount::WaitingAndInService));
}

#[test]
fn settings_go_over_what_is_written() {
    let mut table: Table = "target = \"10 kB\"".parse().unwrap();
    for assignment in ["target=60 kB", "beta=\"2 Mb/s\"", "flows.kind=fixed", "flows.count=4"] {
        set(&mut table, assignment).unwrap();
    }
    let Ok(MechanismConfig::Gateway(config)) = mechanism(Kind::Awm, table, LINK) else { panic!() };
    assert_eq!((config.awm.target, config.awm.beta), (Bytes::new(60_000), BitRate::from_mbps(2)));
    assert_eq!(config.flows, FlowCountConfig::Fixed(4.0));
    assert!(set(&mut Table::new(), "target").is_err());
}

#[test]
fn what_is_wrong_is_named() {
    let why = |kind, text: &str| written(kind, text).unwrap_err().to_string();
    assert!(why(Kind::Awm, "tarket = \"1 kB\"").contains("tarket"));
    let both = why(Kind::GRouter, "min_rat = \"1 Mb/s\"\nmin_rate = \"1 Mb/s\"\nround_trip = { kind = \"printed\" }");
    assert!(
        both.starts_with("unknown field `min_rat`, expected one of target, queue, beta, ") && both.contains("min_rate")
    );
    assert!(why(Kind::Awm, "min_rate = \"1 Mb/s\"").starts_with("unknown field `min_rate`"), "that is C-EARTH's");
    assert!(why(Kind::Awm, "target = \"1 kilo\"").contains("1 kilo"));
    assert!(why(Kind::CEarth, "min_rate = \"1 Mb/s\"").contains("round_trip"));
    assert!(why(Kind::Awm, "target = \"0 B\"").starts_with("target is 0 B"));
    let low = why(Kind::Practra, "rates = [\"1 Mb/s\", \"10 Mb/s\"]");
    assert_eq!(low, "rates end at 10 Mb/s; expected the link's rate, 20 Mb/s, as the highest");
}
