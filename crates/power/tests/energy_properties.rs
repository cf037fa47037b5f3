//! Properties of the meter and the models, compared with a brute-force integral that shares none of their code.

use netlull_power::{
    BelowFloor, EnergyMeter, IdealModel, PowerModel, Residency, Scaling, Traffic, TransitionPower, saving,
};
use netlull_units::{BitRate, Duration, Instant};
use proptest::prelude::*;

const MAX: BitRate = BitRate::from_mbps(10);

/// A change to `mbps` with a pause of `pause` ns, `after` ns after the previous change.
#[derive(Clone, Debug)]
struct Change {
    after: u64,
    mbps: u64,
    pause: u64,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = (0_u64..30, 1_u64..=10, 0_u64..12).prop_map(|(after, mbps, pause)| Change { after, mbps, pause });
    prop::collection::vec(change, 0..25)
}

fn scaling() -> impl Strategy<Value = Scaling> {
    let below_floor = prop_oneof![Just(BelowFloor::FrequencyStillScales), Just(BelowFloor::Clamps)];
    prop_oneof![
        Just(Scaling::Frequency),
        (1.01_f64..5.0, below_floor).prop_map(|(phi, below_floor)| Scaling::Voltage { phi, below_floor }),
    ]
}

fn transition_power() -> impl Strategy<Value = TransitionPower> {
    prop_oneof![Just(TransitionPower::Old), Just(TransitionPower::New), Just(TransitionPower::Higher)]
}

fn metered(changes: &[Change], tail: u64) -> (Residency, u64) {
    let mut meter = EnergyMeter::new(Instant::ZERO, MAX);
    let mut now = 0;
    for change in changes {
        now += change.after;
        let pause = Duration::from_nanos(change.pause);
        meter.rate_changed(Instant::from_nanos(now), BitRate::from_mbps(change.mbps), pause);
    }
    (meter.finish(Instant::from_nanos(now + tail)), now + tail)
}

/// The rate (Mb/s) charged in the nanosecond that begins at `t`, from the list of changes.
fn charged_at(t: u64, changes: &[Change], reading: TransitionPower) -> u64 {
    let (mut at, mut old, mut new, mut pause_end) = (0, 10, 10, 0);
    for change in changes {
        at += change.after;
        if at > t {
            break;
        }
        (old, new, pause_end) = (new, change.mbps, at + change.pause);
    }
    match reading {
        _ if t >= pause_end => new,
        TransitionPower::Old => old,
        TransitionPower::New => new,
        TransitionPower::Higher => old.max(new),
    }
}

proptest! {
    #[test]
    fn energy_is_the_integral_of_power(
        changes in changes(), tail in 0_u64..40, scaling in scaling(), p_s in 0.0_f64..0.99, reading in transition_power(),
    ) {
        let (residency, end) = metered(&changes, tail);
        let model = PowerModel::Ideal(IdealModel::new(p_s, scaling).unwrap().with_transition_power(reading));
        let energy = model.energy(&residency, MAX, Traffic::default()).total().as_f64();
        let brute: f64 = (0..end)
            .map(|t| model.power(BitRate::from_mbps(charged_at(t, &changes, reading)), MAX).as_f64() * 1e-9)
            .sum();
        prop_assert!((energy - brute).abs() <= 1e-12 * brute.max(1e-9), "{energy} J, brute force {brute} J");
    }

    #[test]
    fn no_time_is_lost(changes in changes(), tail in 0_u64..40) {
        let (residency, end) = metered(&changes, tail);
        prop_assert_eq!(residency.total(), Duration::from_nanos(end));
        prop_assert_eq!(residency.changes(), changes.len() as u64);
    }

    #[test]
    fn the_mean_rate_is_the_mean_over_every_nanosecond(changes in changes(), tail in 1_u64..40) {
        let (residency, end) = metered(&changes, tail);
        let mbps: u64 = (0..end).map(|t| charged_at(t, &changes, TransitionPower::New)).sum();
        let brute = mbps as f64 * 1e6 / end as f64;
        prop_assert!((residency.mean_rate() - brute).abs() < 1e-3);
    }

    #[test]
    fn scaling_down_saves_between_nothing_and_all(
        changes in changes(), tail in 1_u64..40, scaling in scaling(), p_s in 0.0_f64..0.99, reading in transition_power(),
    ) {
        let (residency, _) = metered(&changes, tail);
        let model = PowerModel::Ideal(IdealModel::new(p_s, scaling).unwrap().with_transition_power(reading));
        let reference = model.energy(&Residency::constant(MAX, residency.total()), MAX, Traffic::default());
        let saved = saving(&model.energy(&residency, MAX, Traffic::default()), &reference);
        // The sum over rates may round by a few parts in 10^16 if nothing is saved.
        prop_assert!((-1e-12..=1.0).contains(&saved), "{saved}");
        prop_assert!(saved <= 1.0 - p_s + 1e-12, "static power cannot be saved");
    }
}
