//! Optima worked by hand. Packets have 10 kbit: 1 ms at 10 Mb/s, 10 ms at 1 Mb/s.

use crate::link::Case;
use netlull_bound::{Bracket, Discipline, Steps, clairvoyant};
use netlull_units::Duration;

const BOTH: [Discipline; 2] = [Discipline::FinishThenPause, Discipline::Suspend];

/// The interval of the least energy, in W ms.
fn energy(case: &Case, late_us: u64, step_us: f64) -> Bracket {
    let steps = Steps { step: step_us * 1e-6 };
    let found = clairvoyant(&case.problem(), Duration::from_micros(late_us), steps);
    Bracket { least: found.least * 1e3, feasible: found.feasible * 1e3 }
}

fn case(arrivals: &[(u64, u64)], pause: u64, discipline: Discipline) -> Case {
    Case { arrivals: arrivals.to_vec(), rates: vec![1, 10], pause, end: 100_000, discipline }
}

#[track_caller]
fn assert_near(found: Bracket, expected: f64, tolerance: f64) {
    assert!(found.least <= expected + 1e-6, "{found:?} is not below {expected}");
    assert!(found.feasible >= expected - 1e-6, "{found:?} is not above {expected}");
    assert!(found.feasible - found.least <= tolerance, "{found:?} is wider than {tolerance}");
}

#[test]
fn an_idle_link_stays_at_the_lowest_rate() {
    // 100 ms at 0.1 W.
    for discipline in BOTH {
        assert_near(energy(&case(&[], 2_000, discipline), 0, 50.0), 10.0, 1e-6);
    }
}

#[test]
fn a_packet_that_may_be_late_needs_no_change() {
    // At 1 Mb/s it leaves after 10 ms instead of 1 ms: 9 ms late. 100 ms at 0.1 W.
    for discipline in BOTH {
        assert_near(energy(&case(&[(20_000, 10_000)], 2_000, discipline), 9_200, 50.0), 10.0, 1e-6);
    }
}

#[test]
fn a_punctual_packet_needs_two_changes() {
    // 10 Mb/s from 20 to 21 ms between two pauses of 2 ms at 1 W: 5 ms at 1 W and 95 ms at 0.1 W.
    for discipline in BOTH {
        assert_near(energy(&case(&[(20_000, 10_000)], 2_000, discipline), 0, 50.0), 14.5, 0.6);
    }
}

#[test]
fn a_change_in_mid_packet_is_open_to_suspend_alone() {
    // At most 6 ms late: 7 ms from the arrival to the departure.
    // Finish: no change before the end of the packet, so 1 ms at 10 Mb/s between two pauses: 14.5 W ms, as above.
    // Suspend: x ms at 1 Mb/s, a pause of 2 ms, and (10 - x)/10 ms at 10 Mb/s: x + 2 + 1 - x/10 = 7 gives x = 4.444
    // and 0.5556 ms at 10 Mb/s. Two pauses: 4.5556 ms at 1 W, the rest at 0.1 W: 10 + 0.9 x 4.5556 = 14.1 W ms.
    let packet = [(20_000, 10_000)];
    assert_near(energy(&case(&packet, 2_000, Discipline::FinishThenPause), 6_000, 50.0), 14.5, 0.2);
    assert_near(energy(&case(&packet, 2_000, Discipline::Suspend), 6_000, 50.0), 14.1, 0.3);
}

#[test]
fn a_gap_below_two_pauses_is_bridged() {
    // Two punctual packets, the second 3.9 ms after the first has left. Two changes between them take 4 ms and do not fit:
    // the link stays at 10 Mb/s for 1 + 3.9 + 1 ms between two pauses. 9.9 ms at 1 W: 10 + 0.9 x 9.9 = 18.91.
    let packets = [(20_000, 10_000), (24_900, 10_000)];
    for discipline in BOTH {
        assert_near(energy(&case(&packets, 2_000, discipline), 0, 50.0), 18.91, 0.6);
    }
}

#[test]
fn a_gap_above_two_pauses_pays() {
    // The second packet comes 4.5 ms after the first has left: 0.5 ms at 0.1 W between two pauses. 10.5 - 0.5 = 10 ms at
    // 1 W: 10 + 0.9 x 10 = 19.0, where a bridge would take 10 + 0.9 x 10.5 = 19.45.
    let packets = [(20_000, 10_000), (25_500, 10_000)];
    for discipline in BOTH {
        assert_near(energy(&case(&packets, 2_000, discipline), 0, 25.0), 19.0, 0.6);
    }
}

#[test]
fn a_burst_is_served_in_one_go() {
    // Ten packets at once, at most 2 ms late. 10 Mb/s from 20 to 30 ms takes 14 ms at 1 W with the pauses: 22.6.
    // Lateness lets suspend serve its first and last bits at 1 Mb/s. At the start: x ms at 1 Mb/s, then a pause: the first
    // packet is late by x + 2 - x/10 > 2, so x = 0. At the end: the last packet leaves 1.2 ms... a pause of 2 ms before its
    // last bits makes it late by 2 ms and more, so none. Both change before the burst and after it.
    let burst: Vec<_> = (0..10).map(|_| (20_000, 10_000)).collect();
    for discipline in BOTH {
        assert_near(energy(&case(&burst, 2_000, discipline), 1_900, 50.0), 22.6, 0.6);
    }
}

#[test]
fn free_changes_leave_the_bits_alone() {
    // delta = 0, punctual: 1 ms at 1 W, 99 ms at 0.1 W.
    for discipline in BOTH {
        assert_near(energy(&case(&[(20_000, 10_000)], 0, discipline), 0, 10.0), 10.9, 0.1);
    }
    // At most 4.5 ms late under suspend: 5.5 ms for the packet. y ms at 10 Mb/s: 10 y + (5.5 - y) = 10, y = 0.5.
    assert_near(energy(&case(&[(20_000, 10_000)], 0, Discipline::Suspend), 4_500, 20.0), 10.45, 0.15);
}

#[test]
fn waiting_for_the_second_packet_saves_the_time_between() {
    // Two packets; the second arrives 1 ms after the first has left. Punctual: 1 + 1 + 1 ms and two pauses at 1 W: 7 ms, 16.3.
    // With 1 ms of lateness the first waits until 21 ms, the end of the pause, and both leave by 23 ms: 6 ms at 1 W: 15.4.
    let packets = [(20_000, 10_000), (22_000, 10_000)];
    for discipline in BOTH {
        assert_near(energy(&case(&packets, 2_000, discipline), 0, 50.0), 16.3, 0.6);
    }
    assert_near(energy(&case(&packets, 2_000, Discipline::FinishThenPause), 1_000, 50.0), 15.4, 0.2);
}

#[test]
fn more_lateness_and_shorter_pauses_never_cost_energy() {
    let packets: Vec<_> = (0..30).map(|n: u64| (n * 3_000 + n * n * 37 % 2_000, 4_000 + n * 997 % 8_000)).collect();
    for discipline in BOTH {
        let at =
            |pause, late| energy(&Case { rates: vec![1, 4, 7, 10], ..case(&packets, pause, discipline) }, late, 50.0);
        for pair in [500, 1_000, 2_000, 4_000, 8_000].windows(2) {
            assert!(at(1_000, pair[1]).least <= at(1_000, pair[0]).feasible + 1e-9);
            assert!(at(1_000, pair[1]).feasible <= at(1_000, pair[0]).feasible + 0.5);
        }
        for pair in [4_000, 2_000, 1_000, 500].windows(2) {
            assert!(at(pair[1], 4_000).least <= at(pair[0], 4_000).feasible + 1e-9);
            assert!(at(pair[1], 4_000).feasible <= at(pair[0], 4_000).feasible + 0.5);
        }
    }
}
