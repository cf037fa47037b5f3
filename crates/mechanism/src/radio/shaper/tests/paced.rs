//! Pacing senders.

use super::*;

/// A guard of two consecutive bursts that take more than a quarter of the 60 ms.
fn guarded(from: PacedFrom) -> ShaperConfig {
    ShaperConfig { paced_share: Some(0.25), paced_bursts: 2, paced_from: from, ..config() }
}

#[test]
fn a_paced_sender_is_left_alone_if_the_guard_says_so() {
    let guarded = guarded(PacedFrom::Bursts);
    let mut script = Script::saving(&guarded);
    // 17 packets take 16 ms, more than a quarter of 60 ms, and more than twice the 7.2 ms that 17 x 1052 B take at 20 Mb/s.
    script.flight_after(188, 17);
    assert_eq!(script.timeout(267), [ACKNOWLEDGE, Act::Sleep]);
    script.opened(267);
    script.flight_after(267, 17);
    assert_eq!(script.timeout(346), [ACKNOWLEDGE]);
    assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::Paced));
    // The data that slow start leaves in flight is always spread, and does not count.
    let mut script = Script::new(&guarded);
    script.flight(60, 17, 0);
    script.flight(121, 17, 61);
    script.flight(182, 17, 122);
    assert_eq!(script.timeout(201), [ACKNOWLEDGE, Act::Sleep]);
    script.opened(201);
    script.flight_after(201, 17);
    assert_eq!(script.timeout(280), [ACKNOWLEDGE, Act::Sleep]);
    // At 10 Mb/s they take 14.3 ms: they are not spread, because they cannot arrive faster.
    let slow = station::Context { air_rate: BitRate::from_mbps(10), ..STATION };
    let mut script = Script::saving_at(slow, &guarded);
    script.flight_after(188, 17);
    script.timeout(267);
    script.opened(267);
    script.flight_after(267, 17);
    assert_eq!(script.timeout(346), [ACKNOWLEDGE, Act::Sleep]);
}

/// The arrival of the first round, which is not paced.
#[derive(Clone, Copy)]
enum First {
    /// At once: the air is the slowest link.
    AtOnce,
    /// 1 ms apart, as in later rounds: another link is the slowest.
    Apart,
}

/// Rounds of slow start with these sizes, 1 ms apart, up to the packet that ends the last round.
fn slow_start(config: &ShaperConfig, rounds: &[u64]) -> Script {
    slow_start_after(First::AtOnce, config, rounds)
}

fn slow_start_after(first: First, config: &ShaperConfig, rounds: &[u64]) -> Script {
    self::rounds(first, Script::new(config), rounds)
}

fn rounds(first: First, mut script: Script, rounds: &[u64]) -> Script {
    let (mut from, mut echo) = (60, 0);
    let mut rounds = rounds.iter();
    if let (First::AtOnce, Some(&packets)) = (first, rounds.clone().next()) {
        rounds.next();
        for number in 0..packets {
            script.data(from, echo);
            if number % 2 == 1 {
                script.acknowledge(from);
            }
        }
        (from, echo) = (from + 61, from);
    }
    for &packets in rounds {
        assert_eq!(script.shaper.state(), ShaperState::Initial);
        script.flight(from, packets, echo);
        (from, echo) = (from + 61, from + 1);
    }
    assert_eq!(script.shaper.state(), ShaperState::Initial);
    script.data(from, echo);
    script
}

#[test]
fn a_sender_that_paces_in_slow_start_is_left_alone_before_a_window_is_closed() {
    // 17 and 26 packets, each round half as large again as the previous one, take 16 and 25 ms, and 7.2 and 10.9
    // ms on the air.
    let rounds = [11, 17, 26];
    let mut script = slow_start(&guarded(PacedFrom::SlowStart), &rounds);
    assert_eq!(script.shaper.state(), ShaperState::Standard(Fallback::Paced));
    assert_eq!((script.shaper.fallback(), script.shaper.bursts()), (Some(Fallback::Paced), 0));
    assert_eq!(script.acknowledge(243), []);
    script.data(244, 183);
    assert_eq!(script.timeout(247), [ACKNOWLEDGE], "eagerly");
    // One round is not two, and without the setting slow start is not checked.
    assert_eq!(slow_start(&guarded(PacedFrom::SlowStart), &rounds[..2]).shaper.state(), ShaperState::Initial);
    assert_eq!(slow_start(&guarded(PacedFrom::Bursts), &rounds).shaper.state(), ShaperState::Initial);
}

#[test]
fn rounds_that_come_as_fast_as_the_slowest_link_lets_them_are_not_spread() {
    let config = guarded(PacedFrom::SlowStart);
    assert_eq!(slow_start_after(First::Apart, &config, &[11, 17, 26]).shaper.state(), ShaperState::Initial);
    // Nor are bursts.
    let mut script = Script::saving(&config);
    for opened in [188, 267, 346] {
        script.flight_after(opened, 17);
        assert_eq!(script.timeout(opened + 79), [ACKNOWLEDGE, Act::Sleep]);
        script.opened(opened + 79);
    }
}

#[test]
fn the_last_round_of_slow_start_counts_if_one_that_has_grown_was_spread() {
    let config = guarded(PacedFrom::SlowStart);
    let paced = ShaperState::Standard(Fallback::Paced);
    assert_eq!(slow_start(&config, &[11, 17, 17]).shaper.state(), paced);
    // Slow writes of an application do not grow.
    assert_eq!(slow_start(&config, &[17, 17]).shaper.state(), ShaperState::Saving);
    // 12 packets take 11 ms, less than 15.
    assert_eq!(slow_start(&config, &[11, 17, 12]).shaper.state(), ShaperState::Saving);
}

#[test]
fn rounds_that_come_as_fast_as_the_air_lets_them_are_not_spread() {
    // At 16 Mb/s, twice the air time of 8.9 and 13.7 ms for 17 and 26 packets is more than 16 and 25 ms. At 18
    // Mb/s, twice the air time is 15.9 and 24.3 ms.
    for (mbps, state) in [(16, ShaperState::Initial), (18, ShaperState::Standard(Fallback::Paced))] {
        let script = Script::at(
            station::Context { air_rate: BitRate::from_mbps(mbps), ..STATION },
            &guarded(PacedFrom::SlowStart),
        );
        assert_eq!(rounds(First::AtOnce, script, &[11, 17, 26]).shaper.state(), state, "{mbps} Mb/s");
    }
}

#[test]
fn bursts_may_have_to_be_less_stretched_to_be_spread() {
    // 17 packets take 16 ms, and 10.2 ms on the air at 14 Mb/s: a factor of 1.57.
    for (stretch, state) in [(1.6, ShaperState::Saving), (1.5, ShaperState::Standard(Fallback::Paced))] {
        let air = station::Context { air_rate: BitRate::from_mbps(14), ..STATION };
        let guarded = ShaperConfig { paced_stretch: stretch, ..guarded(PacedFrom::Bursts) };
        let mut script = Script::saving_at(air, &guarded);
        for opened in [188, 267] {
            script.flight_after(opened, 17);
            script.timeout(opened + 79);
            script.opened(opened + 79);
        }
        assert_eq!(script.shaper.state(), state, "{stretch} times");
    }
}
