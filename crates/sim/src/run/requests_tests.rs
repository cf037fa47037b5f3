//! Places of pools, looked at event by event.

use super::pool::Progress;
use super::world::World;
use crate::scenario::{Scenario, read_document};
use netlull_tcp::State;
use serde_json::json;

/// Requests over a way of 300 ms back, whose forward link a burst of datagrams fills just when their data is sent: timers
/// expire, what was only late is sent again, and its answers are still on their way when both ends have closed.
fn late_duplicates() -> World {
    let burst = |name: &str, start: &str, stop: &str| json!({ "kind": "cbr", "name": name, "from": "a", "to": "b", "rate": "20 Mb/s", "start": start, "stop": stop });
    let document = json!({
        "duration": "20 s", "nodes": ["a", "b"], "verify": "replay",
        "link": [
            { "from": "a", "to": "b", "rate": "4 Mb/s", "delay": "1 ms", "buffer": "unlimited" },
            { "from": "b", "to": "a", "rate": "4 Mb/s", "delay": "300 ms", "buffer": "unlimited" },
        ],
        "flow": [
            { "kind": "requests", "name": "web", "from": "a", "to": "b", "offered": "160 kb/s", "most_open": 1000,
              "size": { "kind": "fixed", "size": "1000 B" }, "tcp": { "min_rto": "200 ms" } },
            burst("x", "2 s", "3 s"), burst("y", "9 s", "10 s"),
        ],
    });
    let document = read_document(&document.to_string()).expect("a document");
    World::new(&Scenario::from_document(&document).expect("a scenario"), None)
}

/// Packets on links for the two ends at a place.
fn on_links(world: &World, place: usize) -> usize {
    let first = world.requests.first_agent + 2 * place;
    let packets = world.links.iter().flat_map(|link| link.packets());
    packets.filter(|packet| (first..first + 2).contains(&(packet.agent as usize))).count()
}

#[test]
fn no_packet_meets_a_later_connection_at_its_place() {
    let mut world = late_duplicates();
    let (mut lingering, mut opened_beside_one, mut renewed) = (0_u64, 0_u64, 0_u64);
    let mut before = (0, 0);
    while world.advance(1) {
        let pool = &world.requests.pools[0];
        let mut lingers = false;
        for (index, place) in pool.places.iter().enumerate() {
            let found = on_links(&world, index);
            assert_eq!(place.on_way as usize, found, "place {index} at {}", world.now());
            assert!(place.state != Progress::Free || found == 0, "place {index} is free at {}", world.now());
            let closed = place.sender.state() == State::TimeWait && place.receiver.state() == State::Closed;
            lingers |= place.state != Progress::Free && closed;
        }
        lingering += u64::from(lingers);
        let now = (pool.opened().0, pool.places.len());
        opened_beside_one += u64::from(lingers && now.0 > before.0);
        renewed += u64::from(now.0 > before.0 && now.1 == before.1);
        before = now;
    }
    // The case is there: places that wait for a late packet while requests come, and others that are used again.
    assert!(lingering > 100 && opened_beside_one > 3 && renewed > 50, "{lingering} {opened_beside_one} {renewed}");
    assert_eq!(world.requests.pools[0].retired.incomplete, 0);
}

#[test]
fn time_wait_holds_no_place() {
    // 20 requests a second, none of which takes longer than a few seconds; TIME-WAIT would hold each for 60 s.
    let mut world = late_duplicates();
    while world.advance(1000) {}
    let pool = &world.requests.pools[0];
    let (opened, open) = pool.opened();
    assert!(opened > 300 && u64::from(open) < opened / 4, "{open} of {opened}");
    assert_eq!(pool.places.len(), pool.measured.most_open as usize, "places are made only when none is free");
}
