//! Sleeping links, and routers with changing tables.

use super::*;
use netlull_network::outcome::RouterLosses;
use netlull_network::plan::{RouteChange, RoutingDeed, RoutingPlan, RoutingStep};

/// The line A - R - B with the given routing steps.
fn changing(ttl: u8, deeds: &[(u64, RoutingDeed)]) -> World {
    let steps = deeds.iter().map(|(micros, deed)| RoutingStep { at: at(*micros), deed: deed.clone() });
    world(Plan { routing: Some(RoutingPlan { ttl, steps: steps.collect() }), ..plan() })
}

/// Three full packets from A at 0.1 ms.
fn three_packets(world: &mut World) {
    for seq in [1, 1461, 2921] {
        world.send(at(100), A, &data(seq, 1460, Flags::default()));
    }
}

/// Another packet from A, after all earlier events.
fn packet_at(world: &mut World, micros: u64, seq: u32) {
    while world.next() < at(micros) {
        assert!(matches!(world.step(), Happened::Inside), "nothing has arrived by then");
    }
    world.send(at(micros), A, &data(seq, 1460, Flags::default()));
}

/// The arrivals of packets, and the last snapshot.
fn run(mut world: World) -> (Vec<Instant>, netlull_network::outcome::NetworkMark) {
    let seen = arrivals(&mut world).into_iter().map(|(at, ..)| at).collect();
    (seen, world.remains().marks.pop().unwrap())
}

#[test]
fn a_link_that_falls_asleep_loses_what_is_on_it_and_then_what_is_offered() {
    // They leave R from 21.3, 22.5 and 23.7 ms on, 1.2 ms each. At 23 ms the first propagates and the second is in
    // service; both are lost. The third arrives at 23.7 ms and is lost, too: nothing passes until 30 ms, though the
    // link is powered from 25 ms on.
    let deeds = [
        (23_000, RoutingDeed::Sleep(vec![1])),
        (25_000, RoutingDeed::Stir(vec![1])),
        (30_000, RoutingDeed::Wake(vec![1])),
    ];
    let mut world = changing(64, &deeds);
    three_packets(&mut world);
    packet_at(&mut world, 9_000, 4381);
    let (seen, mark) = run(world);
    // The last packet is at R at 30.2 ms.
    assert_eq!(seen, [at(51_400)]);
    let counters = &mark.links[1].counters;
    assert_eq!((counters.offered_packets, counters.delivered_packets), (4, 1));
    assert_eq!((counters.asleep_packets, counters.asleep_bytes, counters.stranded_packets), (3, 4500, 2));
    assert_eq!(counters.asleep_ns, 2_000_000);
    assert_eq!((mark.flows[0].dropped_packets, mark.routers), (3, RouterLosses::default()));
}

#[test]
fn waits_that_a_sleep_ends_count_in_the_queue_alone() {
    // A sends three at 0.1 ms, and its link sleeps at 0.7 ms. One is in service until 1.3 ms; two have waited 0.6 ms
    // each.
    let mut world = changing(64, &[(700, RoutingDeed::Sleep(vec![0]))]);
    three_packets(&mut world);
    let (seen, mark) = run(world);
    assert!(seen.is_empty());
    let counters = &mark.links[0].counters;
    assert_eq!((counters.waited_ns, counters.served_packets, counters.queued_ns), (0, 1, 1_200_000));
    assert_eq!((counters.asleep_packets, counters.stranded_packets), (3, 3));
    assert_eq!(counters.asleep_ns, 999_300_000);
}

#[test]
fn packets_follow_tables_as_they_change_and_are_lost_where_there_is_no_way() {
    let away = |link| RouteChange { node: 1, destination: 2, link };
    let deeds = [
        (22_000, RoutingDeed::Install(vec![away(None)])),
        (23_000, RoutingDeed::Install(vec![away(Some(1)), RouteChange { node: 0, destination: 2, link: None }])),
    ];
    let mut world = changing(64, &deeds);
    three_packets(&mut world);
    packet_at(&mut world, 24_000, 4381);
    let (seen, mark) = run(world);
    // The first was at R at 21.3 ms. The second, at 22.5 ms, had no route, the third at 23.7 ms had one, the fourth had
    // none at A.
    assert_eq!(seen, [at(42_500), at(44_900)]);
    assert_eq!(mark.routers, RouterLosses { unroutable: 2, expired: 0 });
    assert_eq!(mark.flows[0].dropped_packets, 2);
}

#[test]
fn packets_that_go_round_use_up_their_hops() {
    // R returns packets for B to A: with five hops a packet crosses A-R, R-A, A-R, R-A and A-R, and is lost at R.
    let mut world =
        changing(5, &[(0, RoutingDeed::Install(vec![RouteChange { node: 1, destination: 2, link: Some(3) }]))]);
    world.send(at(100), A, &data(1, 1460, Flags::default()));
    let (seen, mark) = run(world);
    assert!(seen.is_empty());
    let crossed: Vec<u64> = mark.links.iter().map(|link| link.counters.delivered_packets).collect();
    assert_eq!(crossed, [3, 0, 0, 2]);
    assert_eq!(mark.routers, RouterLosses { unroutable: 0, expired: 1 });
    // A limit equal to the length of the route suffices.
    let mut enough = changing(2, &[]);
    enough.send(at(100), A, &data(1, 1460, Flags::default()));
    assert_eq!(run(enough).0, [at(42_500)]);
}

#[test]
fn what_is_due_at_one_instant_comes_in_the_simulators_order() {
    // The first is at R at 21.3 ms, when R loses its route and the next link falls asleep: the packet precedes both.
    let gone = RoutingDeed::Install(vec![RouteChange { node: 1, destination: 2, link: None }]);
    let mut world = changing(64, &[(21_300, RoutingDeed::Sleep(vec![1])), (21_300, gone)]);
    three_packets(&mut world);
    let (seen, mark) = run(world);
    assert!(seen.is_empty());
    assert_eq!(mark.links[1].counters.stranded_packets, 1);
    assert_eq!(mark.routers.unroutable, 2);
}
