//! A capacity without a controller, compared with a fluid server: an integral of the capacity that knows no packets.

use netlull_network::queue::{Buffer, LinkCounters};
use netlull_network::transmitter::{Departure, QueuedPacket, Transmitter};
use netlull_units::{BitRate, Instant};
use proptest::prelude::*;

#[derive(Debug, Default)]
struct Sized(u32);

impl QueuedPacket for Sized {
    fn size(&self) -> u32 {
        self.0
    }

    fn can_be_marked(&self) -> bool {
        false
    }

    fn mark(&mut self) -> bool {
        false
    }
}

const BIT: u128 = 1_000_000_000;

/// The integral of a capacity in bit nanoseconds. `steps` are times in nanoseconds, from 0 on, and rates in bit/s.
fn integral(steps: &[(u64, u64)], from: u64, to: u64) -> u128 {
    let ends = steps.iter().skip(1).map(|step| step.0).chain([u64::MAX]);
    let parts = steps
        .iter()
        .zip(ends)
        .map(|(&(at, rate), end)| u128::from(end.min(to).saturating_sub(at.max(from))) * u128::from(rate));
    parts.sum()
}

/// The departures of packets (arrival in nanoseconds, size) from a line with this capacity, up to `end`.
fn departures(steps: &[(u64, u64)], packets: &[(u64, u32)], end: u64) -> Vec<u64> {
    let mut counters = LinkCounters::default();
    let mut line = Transmitter::new(BitRate::from_bps(steps[0].1), None);
    let (mut steps, mut packets) = (steps[1..].iter().peekable(), packets.iter().peekable());
    let mut sent = Vec::new();
    loop {
        let step = steps.peek().map_or(u64::MAX, |step| step.0);
        let packet = packets.peek().map_or(u64::MAX, |packet| packet.0);
        let turn = line.next().as_nanos();
        let now = step.min(packet).min(turn);
        if now > end {
            return sent;
        }
        let at = Instant::from_nanos(now);
        if turn == now {
            if let Departure::Packet { .. } = line.turn(at, &mut counters) {
                sent.push(now);
            }
        } else if step == now {
            line.set_capacity(at, BitRate::from_bps(steps.next().expect("a step").1));
        } else {
            line.queue(at, Sized(packets.next().expect("a packet").1), Buffer::Unlimited, &mut counters);
        }
    }
}

const MS: u64 = 1_000_000;

#[test]
fn a_change_applies_to_the_packet_in_service() {
    // 1500 B take 1.2 ms at 10 Mb/s. After 0.3 ms, 9000 bit are left.
    let sent = |steps: &[(u64, u64)]| departures(steps, &[(0, 1500), (0, 1500)], 1000 * MS);
    let dip = 3 * MS / 10;
    // At 5 Mb/s the rest takes 1.8 ms, the next packet 2.4 ms.
    assert_eq!(sent(&[(0, 10_000_000), (dip, 5_000_000)]), [21 * MS / 10, 45 * MS / 10]);
    // At 1 b/s for 100 ms nothing is sent: 0.1 bit. At 0 b/s exactly nothing.
    assert_eq!(sent(&[(0, 10_000_000), (dip, 1), (dip + 100 * MS, 10_000_000)]), [101_199_990, 102_399_990]);
    assert_eq!(sent(&[(0, 10_000_000), (dip, 0), (dip + 100 * MS, 10_000_000)]), [101_200_000, 102_400_000]);
    // From the start, and for good.
    assert_eq!(sent(&[(0, 0), (5 * MS, 10_000_000)]), [62 * MS / 10, 74 * MS / 10]);
    assert_eq!(sent(&[(0, 0)]), [0; 0]);
}

#[test]
fn a_line_says_its_capacity_and_if_it_is_idle() {
    let mut counters = LinkCounters::default();
    let mut line = Transmitter::<Sized>::new(BitRate::from_mbps(10), None);
    let mut states = vec![(line.rate(), line.idle_for(Instant::from_nanos(9)).is_some())];
    for (at, rate) in [(1, 0), (2, 5_000_000)] {
        line.set_capacity(Instant::from_nanos(at), BitRate::from_bps(rate));
        states.push((line.rate(), line.idle_for(Instant::from_nanos(9)).is_some()));
        while line.next() == Instant::from_nanos(at) {
            line.turn(Instant::from_nanos(at), &mut counters);
        }
    }
    line.queue(Instant::from_nanos(3), Sized(1500), Buffer::Unlimited, &mut counters);
    states.push((line.rate(), line.idle_for(Instant::from_nanos(9)).is_some()));
    line.set_capacity(Instant::from_nanos(4), BitRate::default());
    states.push((line.rate(), line.idle_for(Instant::from_nanos(9)).is_some()));
    let mbps = BitRate::from_mbps;
    assert_eq!(states, [(mbps(10), true), (mbps(0), false), (mbps(5), false), (mbps(5), false), (mbps(0), false)]);
}

proptest! {
    #[test]
    fn a_backlogged_line_serves_the_integral_of_its_capacity(
        steps in proptest::collection::vec((1_u64..3_000_000, prop_oneof![
            2 => Just(0_u64), 1 => 1_u64..100, 3 => 1_u64..20_000_000, 1 => 1_u64..10_000_000_000
        ]), 1..60),
        packets in proptest::collection::vec((0_u64..3_000_000, 40_u32..9000), 1..60),
    ) {
        let mut at = 0;
        let steps: Vec<(u64, u64)> = steps.iter().enumerate().map(|(place, &(gap, rate))| {
            at += if place == 0 { 0 } else { gap };
            (at, rate)
        }).collect();
        at = 0;
        let packets: Vec<(u64, u32)> = packets.iter().map(|&(gap, size)| { at += gap; (at, size) }).collect();
        let end = 400 * MS;
        let sent = departures(&steps, &packets, end);
        let fastest = steps.iter().map(|step| u128::from(step.1)).max().unwrap_or(0);
        // A packet ends at the nanosecond in which the integral since the start of the busy period reaches its last bit.
        // At the start of a busy period less than a nanosecond may be lost.
        let (mut begins, mut work, mut before) = (0, 0_u128, 0);
        for (number, &(arrives, size)) in packets.iter().enumerate() {
            if number > 0 && sent.get(number - 1).is_some_and(|&left| arrives > left) || number == 0 {
                (begins, work) = (arrives, 0);
            }
            work += u128::from(size) * 8 * BIT;
            let Some(&left) = sent.get(number) else {
                prop_assert!(integral(&steps, begins, end) < work + 2 * fastest, "{number} is not sent in time");
                break;
            };
            prop_assert!(left >= before);
            before = left;
            prop_assert!(integral(&steps, begins, left + 1) + fastest >= work, "{number} is early: {left}");
            prop_assert!(integral(&steps, begins, left.saturating_sub(1)) <= work + fastest, "{number} is late: {left}");
        }
    }
}
