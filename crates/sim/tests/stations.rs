//! Wireless stations in whole runs: sleeping radios, the client's shaper, power-saving mode, bounded slowdown. Every
//! run is verified packet by packet, and again by its ledger alone.

use crate::common::{close, floats, flow, outcome, scenario, table, words};
use netlull_mechanism::ConfigError;
use netlull_mechanism::radio::{AccessPointConfig, PsmConfig};
use netlull_mechanism::station::{self, Parameters as _};
use netlull_sim::emulation::plan;
use netlull_sim::run::{RunOutcome, StationSummary, Unwatched, run};
use netlull_units::Instant;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

const WAVELAN: &str = "wavelan-dsss";

/// A download of 4.5 MB over a path of 59 ms, 100 Mb/s to the access point and 20 Mb/s over the wireless link.
fn download(mechanism: &Value) -> Value {
    json!({
        "duration": "30 s",
        "nodes": ["server", "ap", "client"],
        "tcp": { "timestamps": true, "receive_buffer": "64 KiB", "window_scaling": false },
        "link": [
            { "from": "server", "to": "ap", "duplex": true, "rate": "100 Mb/s", "delay": "29.5 ms", "buffer": "unlimited" },
            { "from": "ap", "to": "client", "duplex": true, "rate": "20 Mb/s", "delay": "0 ms", "buffer": "unlimited" }
        ],
        "flow": [{ "kind": "tcp", "name": "download", "from": "server", "to": "client", "size": "4.5 MB" }],
        "station": [{ "nodes": ["client"], "mechanism": mechanism }],
        "probe": { "stations": true }
    })
}

fn station(outcome: &RunOutcome) -> &StationSummary {
    &outcome.summary.stations[0]
}

fn seconds(outcome: &RunOutcome) -> f64 {
    station(outcome).download.as_ref().expect("the download is over").seconds
}

fn energy(outcome: &RunOutcome) -> f64 {
    *station(outcome).download.as_ref().expect("the download is over").energy_j.get(WAVELAN).expect("a radio")
}

#[test]
fn a_radio_that_is_always_awake_by_hand() {
    // A datagram of 2500 B = 20,000 bit takes 1 ms over the air, every 10 ms from 0 to 1 s: 100 of them. Receiving 0.1
    // s at 1.425 W and idle for 0.9 s at 1.319 W: 0.1425 + 1.1871 = 1.3296 J.
    let outcome = outcome(json!({
        "duration": "1 s", "mtu": "2500 B",
        "nodes": ["server", "ap", "client"],
        "link": [
            { "from": "server", "to": "ap", "duplex": true, "rate": "1 Gb/s" },
            { "from": "ap", "to": "client", "duplex": true, "rate": "20 Mb/s" }
        ],
        "flow": [{ "kind": "cbr", "name": "d", "from": "server", "to": "client", "rate": "2 Mb/s", "packet": "2500 B" }],
        "station": [{ "nodes": ["client"] }]
    }));
    let station = station(&outcome);
    assert_eq!((station.counts.received_packets, station.counts.missed_packets, station.radio.wakes), (100, 0, 0));
    close(station.radio.receiving_s, 0.1, 1e-6);
    close(station.energy.get(WAVELAN).expect("a radio").total_j, 1.3296, 1e-6);
    assert!(station.download.is_none(), "datagrams are no download");
}

#[test]
fn the_shaper_makes_bursts_and_misses_nothing_on_a_steady_path() {
    let (shaped, eager) =
        (outcome(download(&json!({ "kind": "client_shaper" }))), outcome(download(&json!({ "kind": "eager" }))));
    let client = station(&shaped);
    assert_eq!((client.counts.missed_packets, client.resent_opens), (0, Some(0)));
    assert!(
        client.counts.bursts > 50 && client.radio.wakes == client.counts.bursts - 1,
        "{} bursts, {} wakes",
        client.counts.bursts,
        client.radio.wakes
    );
    // From the open acknowledgement to the last bit of the first released segment: twice 29.5 ms; a segment of 1500 B
    // at 100 and at 20 Mb/s, 0.12 and 0.6 ms; and an acknowledgement of 52 B at 20 and at 100 Mb/s, 25 us.
    close(client.round_trip_s.expect("a sample"), 0.059_745, 1e-6);
    // A full window of 44 segments of 1500 B takes 26.4 ms over the air, and 3 ms of silence follow. A round takes
    // 59.1 + 26.4 + 3 ms, compared with about 59.8 ms.
    let slower = seconds(&shaped) / seconds(&eager);
    assert!((1.3..1.5).contains(&slower), "{slower}");
    // In a round of 88.5 ms it sleeps for 57.1 ms.
    let asleep = client.download.as_ref().expect("over").asleep_s / seconds(&shaped);
    close(asleep, 57.1 / 88.5, 0.06);
    assert!(energy(&shaped) < 0.75 * energy(&eager));
    assert_eq!(flow(&shaped, "download").packets_dropped, 0);
}

#[test]
fn acknowledgements_are_closed_until_the_burst_is_over_and_then_one_is_open() {
    let outcome = outcome(download(&json!({ "kind": "client_shaper" })));
    let (air, bursts) = (table(&outcome, "air"), table(&outcome, "burst"));
    let (times, kinds) = (floats(air, "time_s"), words(air, "kind"));
    let within = |from: f64, to: f64, kind: &str| {
        times.iter().zip(&kinds).filter(|(at, found)| (from..to).contains(*at) && **found == kind).count()
    };
    let (opened, ended, packets) = (floats(bursts, "time_s"), floats(bursts, "ended_s"), floats(bursts, "packets"));
    // Bursts in the middle of the download, each between successive open acknowledgements.
    for burst in 20..30 {
        let (from, to) = (opened[burst], ended[burst]);
        assert_eq!(within(from - 1e-9, to - 1e-9, "open"), 1);
        assert_eq!(within(from, to, "data") as f64, packets[burst]);
        // At most every second segment is acknowledged, never with an open window.
        assert!(within(from, to, "closed") as f64 >= (packets[burst] / 2.0).floor());
        assert_eq!(within(from, to, "ack"), 0);
        close(opened[burst + 1], ended[burst], 1e-9);
    }
    // The individual states alternate correctly, not only their sums.
    let states = words(table(&outcome, "radio"), "state");
    assert!(states.chunks_exact(3).all(|three| three == ["asleep", "waking", "awake"]), "{states:?}");
}

#[test]
fn withheld_acknowledgements_leave_one_for_each_burst() {
    let outcome = outcome(download(&json!({ "kind": "client_shaper", "burst_acks": "withheld" })));
    let kinds = words(table(&outcome, "air"), "kind");
    let first = kinds.iter().position(|kind| *kind == "open").expect("an open acknowledgement");
    let bursts = floats(table(&outcome, "burst"), "packets");
    assert!(bursts.len() > 50, "{}", bursts.len());
    // The FIN, which ends the last burst, is acknowledged by the host.
    let others = kinds[first..].iter().filter(|kind| ["ack", "closed", "eager"].contains(*kind)).count();
    assert!(others <= 2, "{others}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "open").count(), bursts.len() - 1);
    assert_eq!((station(&outcome).counts.closed_acks, station(&outcome).counts.missed_packets), (0, 0));
}

#[test]
fn an_open_acknowledgement_bounds_the_burst_by_its_window() {
    // 16 KiB are 11 segments of 1448 B; without the option a burst has 44.
    let outcome = outcome(download(&json!({ "kind": "client_shaper", "open_window": "16 KiB" })));
    let packets = floats(table(&outcome, "burst"), "packets");
    assert!(packets[3..].iter().all(|&packets| packets <= 11.0), "{packets:?}");
    assert!(packets.iter().filter(|&&packets| packets == 11.0).count() > 200);
    assert_eq!(station(&outcome).counts.missed_packets, 0);
}

#[test]
fn the_page_explains_every_kind_of_transmission() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/scenario.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let listed = page.lines().find(|line| line.starts_with("In `air`, `kind` is ")).expect("the kinds of `air`");
    let kinds: BTreeSet<String> = ["client_shaper", "eager", "psm", "bsd"]
        .into_iter()
        .flat_map(|machine| words(table(&outcome(download(&json!({ "kind": machine }))), "air"), "kind"))
        .map(Into::into)
        .collect();
    for kind in &kinds {
        assert!(listed.contains(&format!("`{kind}`")), "{kind} of {kinds:?} is not in: {listed}");
    }
    assert!(["eager", "open", "closed", "data", "beacon"].iter().all(|kind| kinds.contains(*kind)), "{kinds:?}");
}

#[test]
fn acknowledgements_that_close_nothing_are_eager_not_open() {
    let kinds = |json: Value| words(table(&outcome(json), "air"), "kind");
    let eager = kinds(download(&json!({ "kind": "eager" })));
    assert!(eager.contains(&"eager") && !eager.contains(&"open") && !eager.contains(&"closed"));
    // A shaper sends eager acknowledgements in slow start, and open ones from its first burst to its last.
    let shaped = kinds(download(&json!({ "kind": "client_shaper" })));
    let places = |kind: &str| (0..shaped.len()).filter(|&place| shaped[place] == kind).collect::<Vec<_>>();
    let (eager, closed, open) = (places("eager"), places("closed"), places("open"));
    assert!(!eager.is_empty() && eager.last() < closed.first() && closed.first() < open.first());
}

#[test]
fn power_saving_mode_has_round_trips_of_whole_beacon_periods() {
    let psm = |access_point: Value| {
        let mechanism = json!({ "kind": "psm", "access_point": access_point });
        let mut json = download(&mechanism);
        json["station"][0]["wake_time"] = "0 ms".into();
        outcome(json)
    };
    let ideal = psm(json!({ "beacon_time": "0 s" }));
    assert_eq!((station(&ideal).counts.missed_packets, station(&ideal).counts.refused_packets), (0, 0));
    // At most a window of 45 segments of 1448 B per beacon period: 4.5 MB take at least 69 periods.
    assert!((6.9..8.0).contains(&seconds(&ideal)), "{}", seconds(&ideal));
    // A poll per burst, or a poll per packet.
    let each = psm(json!({ "poll": "one" }));
    assert!(station(&ideal).counts.polls < 80);
    assert_eq!(station(&each).counts.polls, station(&each).counts.received_packets);
    assert!(energy(&each) > energy(&ideal));
}

#[test]
fn bounded_slowdown_does_not_sleep_during_a_download_with_short_round_trips() {
    // The flow's opening counts as a request.
    let outcome = outcome(download(&json!({ "kind": "bsd" })));
    let over = station(&outcome).download.as_ref().expect("over").clone();
    assert_eq!((over.wakes, over.missed_packets), (0, 0));
    assert!(over.asleep_s == 0.0 && station(&outcome).radio.asleep_s > 20.0);
}

/// Datagrams of 1500 B at a constant rate, in one direction, for a second of two, over a wireless link of 20 Mb/s.
fn datagrams(from: &str, to: &str, rate: &str, mechanism: &Value) -> Value {
    json!({
        "duration": "2 s",
        "nodes": ["server", "ap", "client"],
        "link": [
            { "from": "server", "to": "ap", "duplex": true, "rate": "1 Gb/s" },
            { "from": "ap", "to": "client", "rate": "20 Mb/s", "buffer": "unlimited" },
            { "from": "client", "to": "ap", "rate": "20 Mb/s", "buffer": "unlimited" }
        ],
        "flow": [{ "kind": "cbr", "name": "d", "from": from, "to": to, "rate": rate, "packet": "1500 B", "stop": "1 s" }],
        "station": [{ "nodes": ["client"], "mechanism": mechanism }]
    })
}

#[test]
fn each_way_over_the_air_has_its_own_rate() {
    // 10 Mb/s for 1 s at 20 Mb/s: half a second of transmission, independent of the 1 Mb/s to the station.
    let mut json = datagrams("client", "server", "10 Mb/s", &Value::Null);
    json["link"][1]["rate"] = "1 Mb/s".into();
    close(station(&outcome(json)).radio.transmitting_s, 0.5, 1e-3);
}

#[test]
fn what_the_stations_own_queue_drops_is_not_transmitted_and_what_the_air_loses_is() {
    // 40 Mb/s into 20 Mb/s with a queue of 10 packets: the link is busy for the second, and for 6 ms longer with 10
    // packets of 0.6 ms.
    let mut json = datagrams("client", "server", "40 Mb/s", &Value::Null);
    json["link"][2]["buffer"] = "10 packets".into();
    close(station(&outcome(json)).radio.transmitting_s, 1.006, 2e-3);
    // A tenth of 10 Mb/s is lost: the transmission time is still half a second.
    let mut json = datagrams("client", "server", "10 Mb/s", &Value::Null);
    json["link"][2]["loss"] = json!({ "kind": "bernoulli", "probability": 0.1 });
    close(station(&outcome(json)).radio.transmitting_s, 0.5, 1e-3);
}

#[test]
fn a_station_that_dozes_off_hears_what_its_access_point_had_begun_to_send() {
    // A request every half second, and 18 of 20 Mb/s to the station. Its queue is rarely empty when it falls asleep.
    let mut json = datagrams("server", "client", "18 Mb/s", &json!({ "kind": "bsd" }));
    let request =
        json!({ "kind": "cbr", "name": "r", "from": "client", "to": "server", "rate": "1600 b/s", "packet": "100 B" });
    json["flow"].as_array_mut().expect("flows").push(request);
    let outcome = outcome(json);
    assert_eq!(station(&outcome).counts.missed_packets, 0);
    assert!(station(&outcome).counts.held_packets > 0 && station(&outcome).radio.asleep_s > 0.1);
}

#[test]
fn an_access_point_does_not_overflow_the_queue_of_the_air() {
    // 10 Mb/s carry 83 packets per beacon period. The queue of the wireless link would hold 20 of them.
    let mut json = datagrams("server", "client", "10 Mb/s", &json!({ "kind": "psm" }));
    json["link"][1]["buffer"] = "20 packets".into();
    let outcome = outcome(json);
    assert_eq!(
        (station(&outcome).counts.missed_packets, crate::common::link(&outcome, "ap-client").dropped_packets),
        (0, 0)
    );
    assert_eq!(station(&outcome).counts.received_packets, flow(&outcome, "d").packets_sent);
}

#[test]
fn polls_wait_behind_what_the_station_sends_and_none_is_forgotten() {
    // The station offers 24 Mb/s to a link of 20 Mb/s: at t its queue is 0.2 t long, and the answer to a poll of that
    // time comes from 1.2 t on. From 0.5 s on the next beacon comes before that. The poll of 0.8 s has its effect at
    // 0.96 s: all packets of the 2 Mb/s, 166.7 per second, that had arrived by then.
    let mut json = datagrams("client", "server", "24 Mb/s", &json!({ "kind": "psm" }));
    json["duration"] = "1 s".into();
    let down = json!({ "kind": "cbr", "name": "down", "from": "server", "to": "client", "rate": "2 Mb/s", "packet": "1500 B" });
    json["flow"].as_array_mut().expect("flows").push(down);
    let received = station(&outcome(json)).counts.received_packets;
    assert!((155..=166).contains(&received), "{received}");
}

#[test]
fn a_beacon_beside_a_packet_hides_nothing_of_it() {
    // 30 Mb/s into 20 Mb/s: back-to-back packets of 0.6 ms, and ten beacons per second at the same time. All of them
    // are received.
    let mut json = datagrams("server", "client", "30 Mb/s", &json!({ "kind": "psm" }));
    json["duration"] = "1 s".into();
    let outcome = outcome(json);
    let (s, packets) = (station(&outcome), station(&outcome).counts.received_packets as f64);
    assert!(s.counts.beacons >= 9 && packets > 1000.0, "{} beacons, {packets} packets", s.counts.beacons);
    // The last packet may not have arrived, and a beacon may come without a simultaneous packet.
    assert!(s.radio.receiving_s >= packets * 6e-4 - 1e-9, "{} s for {packets} packets", s.radio.receiving_s);
}

#[test]
fn states_add_up_to_the_time_measured_though_it_begins_within_a_packet() {
    // Packets of 1500 B at 20 Mb/s take 600 us each, back to back: 0.3001 s is within a packet.
    let mut json = datagrams("server", "client", "30 Mb/s", &Value::Null);
    json["warm_up"] = "0.3001 s".into();
    let outcome = outcome(json);
    let s = station(&outcome);
    close(
        s.radio.asleep_s + s.radio.waking_s + s.radio.idle_s + s.radio.receiving_s + s.radio.transmitting_s,
        1.6999,
        1e-9,
    );
    // 2500 packets of 0.6 ms each are 1.5 s. 0.3001 s of them, minus the delay of the first packet, were earlier.
    close(s.radio.receiving_s, 1.2, 1e-3);
}

#[test]
fn what_a_lost_open_acknowledgement_costs_is_counted_as_waiting() {
    // A fifth of the client's packets is lost, including open acknowledgements.
    let mut json = download(&json!({ "kind": "client_shaper" }));
    json["link"][1]["duplex"] = false.into();
    json["link"].as_array_mut().expect("links").push(json!({
        "from": "client", "to": "ap", "rate": "20 Mb/s", "buffer": "unlimited",
        "loss": { "kind": "bernoulli", "probability": 0.2 }
    }));
    let outcome = outcome(json);
    let resent = station(&outcome).resent_opens.expect("a shaper");
    assert!(resent > 3, "{resent}");
    // For each lost one the radio waits awake for more than a round-trip time of 60 ms.
    let early = station(&outcome).early_s.expect("a shaper");
    assert!(early > 0.05 * resent as f64, "{early} s, {resent} sent again");
}

#[test]
fn a_round_trip_in_recovery_is_not_counted_as_early() {
    let lossy = |probability: f64| {
        let mut json = download(&json!({ "kind": "client_shaper", "patience": 1_000_000 }));
        json["link"][0]["duplex"] = false.into();
        json["link"][0]["loss"] = json!({ "kind": "bernoulli", "probability": probability });
        let back =
            json!({ "from": "ap", "to": "server", "rate": "100 Mb/s", "delay": "29.5 ms", "buffer": "unlimited" });
        json["link"].as_array_mut().expect("links").push(back);
        let outcome = outcome(json);
        let bursts = table(&outcome, "burst");
        let broken = floats(bursts, "intact").iter().filter(|intact| **intact == 0.0).count();
        (broken, station(&outcome).early_s.expect("a shaper"), station(&outcome).recovery_s.expect("a shaper"))
    };
    let (bursts, _, recovery) = lossy(0.0);
    assert_eq!((bursts, recovery), (0, 0.0));
    // After a burst with a missing packet the radio waits awake for a round trip of 59 ms.
    let (bursts, early, recovery) = lossy(0.01);
    assert!(bursts > 5 && recovery > 0.05 * bursts as f64, "{recovery} s in {bursts} bursts");
    assert!(early < 0.5 * recovery, "{early} s early, {recovery} s in recovery");
}

#[test]
fn what_is_refused_says_why() {
    let why = |change: &dyn Fn(&mut Value)| {
        let mut json = download(&json!({ "kind": "client_shaper" }));
        change(&mut json);
        scenario(&json).expect_err("refused").to_string()
    };
    assert!(
        why(&|json| json["station"][0]["nodes"] = json!(["nobody"]))
            .starts_with("station.0.nodes: \"nobody\" is not a node")
    );
    assert!(why(&|json| json["station"][0]["nodes"] = json!([])).contains("expected at least one node"));
    assert!(why(&|json| json["station"][0]["nodes"] = json!(["client", "client"])).contains("named twice"));
    assert!(
        why(&|json| json["station"][0]["nodes"] = json!(["ap"]))
            .contains("\"ap\" has 2 links to it; expected exactly one")
    );
    assert!(
        why(&|json| json["station"][0]["radio"] = json!(["wifi"])).contains("station.0.radio.0: \"wifi\" is unknown")
    );
    assert!(
        why(&|json| json["station"][0]["mechanism"]["growth"] = json!(0.5))
            .contains("station.0.mechanism.growth: is 0.5")
    );
    assert!(why(&|json| json["station"][0]["mechanism"]["kind"] = json!("nap")).contains("\"nap\" is unknown"));
    assert!(why(&|json| json["flow"][0]["count"] = json!(2)).contains("2 TCP flows"));
    assert!(
        why(&|json| json["link"][1]["queue"] = json!({ "kind": "codel" }))
            .contains("expected a wireless link of fixed rate")
    );
    let negative = json!([{ "name": "x", "asleep": "0 W", "idle": "-1 W", "receive": "1 W", "transmit": "1 W", "wake_time": "1 ms" }]);
    let why_negative = why(&|json| json["station"][0]["radio"] = negative.clone());
    assert!(why_negative.starts_with("station.0.radio.x.idle: \"-1 W\" is negative"), "{why_negative}");
    let psm = |access_point: Value| {
        why(&|json| json["station"][0]["mechanism"] = json!({ "kind": "psm", "access_point": access_point }))
    };
    assert!(psm(json!({ "beacon_period": "0 s" })).contains("station.0.mechanism.access_point.beacon_period: is 0 s"));
    assert!(psm(json!({ "patience": "1 ms" })).contains("access_point.patience: is 1 ms; expected at least 1.1 ms"));
    assert!(
        psm(json!({ "beacon_period": "1 ms" }))
            .contains("access_point.beacon_period: is 1 ms; expected more than 1.1 ms")
    );
    let slow = json!({ "kind": "psm" });
    assert!(
        why(&|json| {
            json["station"][0]["mechanism"] = slow.clone();
            json["station"][0]["wake_time"] = "1 s".into();
        })
        .contains("station.0.wake_time: is 1 s")
    );
    let noise = json!({ "mean": "1 ms", "shape": 2.0 });
    assert!(
        why(&|json| json["link"][1]["noise"] = noise.clone())
            .contains("expected noise only on other links of the path")
    );
    assert!(
        why(&|json| {
            json["station"][0]["name"] = "phone".into();
            json["station"] = json!([json["station"][0], json["station"][0]]);
        })
        .contains("station.phone.name: is given twice")
    );
    assert!(
        why(&|json| json["station"][0]["name"] = "phone\u{1b}[2J".into())
            .contains("expected text without control characters")
    );
    let two = json!({
        "duration": "1 s", "nodes": ["a", "b"], "link": [{ "from": "a", "to": "b", "duplex": true, "rate": "1 Mb/s" }],
        "station": [{ "nodes": ["a", "b"] }]
    });
    assert!(scenario(&two).expect_err("refused").to_string().contains("whose access point is \"b\", a station"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A download completes with any losses and delays. The verifier checks that the radio's states add up to the run,
    /// and follows every packet.
    #[test]
    fn a_download_completes_whatever_is_lost(
        seed in 0_u64..1 << 40,
        loss in 0.0_f64..0.08,
        back in 0.0_f64..0.08,
        delay in 1_u64..80,
        noise in 0_u64..20,
        kind in 0_usize..7,
        preset in 0_usize..3,
    ) {
        let mechanism = [
            json!({ "kind": "client_shaper" }),
            json!({ "kind": "client_shaper", "repair": "as_they_are", "rtt_from": "open_ack", "paced_share": 0.5 }),
            json!({ "kind": "client_shaper", "burst_acks": "withheld", "resume": 0.5, "open_window": "16 KiB" }),
            json!({ "kind": "client_shaper", "rtt_from": "answers", "most_slowdown": 0.3, "resume": 0.9 }),
            json!({ "kind": "psm" }),
            json!({ "kind": "psm", "access_point": { "poll": "one" } }),
            json!({ "kind": "bsd" }),
        ][kind].clone();
        let mut json = download(&mechanism);
        json["seed"] = seed.into();
        json["duration"] = "900 s".into();
        json["flow"][0]["size"] = "300 kB".into();
        json["tcp"]["congestion_control"] = ["new_reno", "cubic", "bbr"][preset].into();
        json["link"][0]["delay"] = format!("{delay} ms").into();
        json["link"][0]["loss"] = json!({ "kind": "bernoulli", "probability": loss });
        if noise > 0 {
            json["link"][0]["noise"] = json!({ "mean": format!("{noise} ms"), "shape": 2.0 });
        }
        let mut uplink = json["link"][1].clone();
        uplink["from"] = "client".into();
        uplink["to"] = "ap".into();
        uplink["duplex"] = false.into();
        uplink["loss"] = json!({ "kind": "bernoulli", "probability": back });
        json["link"][1]["duplex"] = false.into();
        json["link"].as_array_mut().expect("links").push(uplink);
        let outcome = outcome(json);
        prop_assert!(station(&outcome).download.is_some(), "not over: {}", serde_json::to_string(station(&outcome)).expect("json"));
        prop_assert_eq!(outcome.summary.flows[0].delivered_bytes, 300_000);
    }
}

/// netlull's own PSM, as a custom machine.
#[derive(Debug)]
struct Borrowed(PsmConfig);

impl station::Factory for Borrowed {
    fn name(&self) -> &'static str {
        "borrowed"
    }

    fn access_point(&self) -> Option<&AccessPointConfig> {
        self.0.access_point()
    }

    fn build(&self, station: station::Context, start: Instant) -> Result<Box<dyn station::Policy>, ConfigError> {
        Ok(Box::new(self.0.build(station, start)?))
    }
}

#[test]
fn a_machine_from_outside_does_as_the_same_machine_from_inside() {
    let own = outcome(download(&json!({ "kind": "psm" })));
    let mut borrowed = scenario(&download(&json!({ "kind": "eager" }))).expect("a scenario");
    borrowed.set_station_machine("client", Arc::new(Borrowed(PsmConfig::default()))).expect("fits");
    let told = run(&borrowed, &mut Unwatched, None).expect("every rule holds");
    assert_eq!(station(&told).mechanism, "borrowed");
    assert_eq!(station(&told).counts, station(&own).counts);
    assert_eq!(energy(&told).to_bits(), energy(&own).to_bits());

    let refused = plan(&borrowed).expect_err("of this program alone").to_string();
    assert!(refused.starts_with("station.client.mechanism: is \"borrowed\""), "{refused}");
    let deaf = PsmConfig { listen_interval: 0, ..PsmConfig::default() };
    let refused = borrowed.set_station_machine("client", Arc::new(Borrowed(deaf))).expect_err("no beacon").to_string();
    assert_eq!(refused, "station.client.mechanism.listen_interval: is 0; expected at least 1");
    let unknown = borrowed.set_station_machine("ap", Arc::new(Borrowed(PsmConfig::default()))).expect_err("no station");
    assert!(unknown.to_string().contains("expected the name of a station's node"), "{unknown}");
}
