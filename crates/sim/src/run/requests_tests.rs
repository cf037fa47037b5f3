//! Tests of pool slots, event by event.

use super::pool::{Place, Progress};
use super::world::World;
use crate::scenario::{Scenario, read_document};
use netlull_tcp::State;
use netlull_units::Instant;
use serde_json::json;

/// Requests over a route with a 300 ms reverse link. A burst of datagrams fills the forward link just when the
/// requests' data is sent. Timers expire, late data is retransmitted, and its answers are still in the network when
/// both ends have closed. Some are then dropped 300 ms after they were sent, at the end of the route, where datagrams
/// leave little room. The links run ahead unless packets are `watched`.
fn late_duplicates(watched: bool) -> World {
    let burst = |name: &str, start: &str, stop: &str| json!({ "kind": "cbr", "name": name, "from": "a", "to": "b", "rate": "20 Mb/s", "start": start, "stop": stop });
    let document = json!({
        "duration": "20 s", "nodes": ["a", "b", "s"], "verify": if watched { "replay" } else { "ledger" },
        "link": [
            { "from": "a", "to": "b", "rate": "4 Mb/s", "delay": "1 ms", "buffer": "unlimited" },
            { "from": "b", "to": "s", "rate": "4 Mb/s", "delay": "300 ms", "buffer": "unlimited" },
            { "from": "s", "to": "a", "rate": "1 Mb/s", "buffer": "3 packets" },
        ],
        "flow": [
            { "kind": "requests", "name": "web", "from": "a", "to": "b", "offered": "160 kb/s", "most_open": 1000,
              "size": { "kind": "fixed", "size": "1000 B" }, "tcp": { "min_rto": "200 ms" } },
            { "kind": "poisson", "name": "back", "from": "b", "to": "a", "rate": "1 Mb/s" },
            burst("x", "2 s", "3 s"), burst("y", "9 s", "10 s"),
        ],
    });
    let document = read_document(&document.to_string()).expect("a document");
    World::new(&Scenario::from_document(&document).expect("a scenario"), None).expect("a world")
}

/// Returns true if both ends of a connection have closed.
fn have_closed(place: &Place) -> bool {
    place.sender.state() == State::TimeWait && place.receiver.state() == State::Closed
}

/// Packets on links for the two ends in a slot.
fn on_links(world: &World, place: usize) -> usize {
    let connection = world.requests.first_connection.index() + place;
    let packets = world.net.links.iter().flat_map(|link| link.packets(&world.net.store));
    packets.filter(|packet| packet.agent.flow().index() == connection).count()
}

#[test]
fn no_packet_meets_a_later_connection_at_its_place() {
    let mut world = late_duplicates(true);
    let (mut lingering, mut opened_beside_one, mut renewed) = (0_u64, 0_u64, 0_u64);
    let mut before = (0, 0);
    while world.advance(1) {
        let pool = &world.requests.pools[0];
        let unsettled = world.net.schedule.at(world.net.order.settlement()) == world.now();
        let mut lingers = false;
        for (index, place) in pool.places.iter().enumerate() {
            let found = on_links(&world, index);
            // A drop is reported at the same instant, but after this event.
            assert!(unsettled || place.on_way as usize == found, "place {index} at {}", world.now());
            assert!(place.state != Progress::Free || found == 0, "place {index} is free at {}", world.now());
            lingers |= place.state != Progress::Free && have_closed(place);
        }
        lingering += u64::from(lingers);
        let now = (pool.opened().0, pool.places.len());
        opened_beside_one += u64::from(lingers && now.0 > before.0);
        renewed += u64::from(now.0 > before.0 && now.1 == before.1);
        before = now;
    }
    // The test covers slots that wait for a late packet while requests arrive, and slots that are reused.
    assert!(lingering > 100 && opened_beside_one > 3 && renewed > 50, "{lingering} {opened_beside_one} {renewed}");
    assert_eq!(world.requests.pools[0].retired.incomplete, 0);
}

#[test]
fn time_wait_holds_no_place() {
    // 20 requests per second, none of which takes longer than a few seconds. TIME-WAIT would hold each for 60 s.
    let mut world = late_duplicates(false);
    while world.advance(1000) {}
    let pool = &world.requests.pools[0];
    let (opened, open) = pool.opened();
    assert!(opened > 300 && u64::from(open) < opened / 4, "{open} of {opened}");
    assert_eq!(pool.places.len(), pool.measured.most_open as usize, "places are made only when none is free");
}

#[test]
fn a_place_is_free_at_the_same_time_whether_links_run_ahead_or_not() {
    // The arrival of each request, and its slot.
    let places = |watched| {
        let mut world = late_duplicates(watched);
        let (mut taken, mut dropped_later) = (Vec::new(), 0_u32);
        while world.advance(1) {
            let pool = &world.requests.pools[0];
            if pool.opened().0 > taken.len() as u64 {
                let newest =
                    pool.open_places().filter(|(_, place)| place.opened == world.now()).map(|(index, _)| index);
                taken.push((world.now(), newest.collect::<Vec<_>>()));
                let drop_computed = world.net.schedule.at(world.net.order.settlement()) != Instant::NEVER;
                dropped_later += u32::from(drop_computed && pool.open_places().any(|(_, place)| have_closed(place)));
            }
        }
        (taken, dropped_later)
    };
    let (watched, ahead) = (places(true), places(false));
    assert_eq!(watched.0, ahead.0);
    // The test covers requests that arrive between the computation of a drop and its time.
    assert!(watched.1 == 0 && ahead.1 > 3, "{} {}", watched.1, ahead.1);
}
