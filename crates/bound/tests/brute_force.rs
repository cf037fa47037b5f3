//! All schedules with changes on a coarse grid, on small random problems.

use crate::link::{Case, simulate};
use netlull_bound::{Discipline, Steps, clairvoyant};
use netlull_units::Duration;
use proptest::prelude::*;

/// The grid of requests, in us.
const GRID: u64 = 500;

/// The least energy of the schedules that keep the bound, in W us: every chain of requests on the grid.
fn best(case: &Case, late: f64) -> f64 {
    let mut least = f64::INFINITY;
    for first in 0..case.rates.len() {
        extend(case, late, first, &mut Vec::new(), first, &mut least);
    }
    least
}

/// Tries the requests so far, and each further one. At most four.
fn extend(case: &Case, late: f64, first: usize, requests: &mut Vec<(f64, usize)>, rate: usize, least: &mut f64) {
    let Some((energy, lateness)) = simulate(case, first, requests) else { return };
    if lateness <= late + 1e-6 {
        *least = least.min(energy);
    }
    if requests.len() == 4 {
        return;
    }
    let start = requests.last().map_or(0, |last| last.0 as u64 + case.pause.max(GRID));
    for at in (start.div_ceil(GRID) * GRID..case.end).step_by(GRID as usize) {
        for new in (0..case.rates.len()).filter(|&new| new != rate) {
            requests.push((at as f64, new));
            extend(case, late, first, requests, new, least);
            requests.pop();
        }
    }
}

fn cases() -> impl Strategy<Value = (Case, u64)> {
    let packets = prop::collection::vec((0..14_u64, 2..12_u64), 1..5);
    let slow = 1..6_u64;
    let discipline = prop_oneof![Just(Discipline::FinishThenPause), Just(Discipline::Suspend)];
    (packets, slow, 1..4_u64, 0..8_u64, discipline).prop_map(|(mut packets, slow, pause, late, discipline)| {
        packets.sort_unstable();
        let arrivals = packets.into_iter().map(|(at, kilobits)| (at * GRID, kilobits * 1_000)).collect();
        let case = Case { arrivals, rates: vec![slow, 10], pause: pause * GRID, end: 14_000, discipline };
        (case, late * GRID)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_schedule_on_the_grid_takes_less((case, late) in cases()) {
        let found = clairvoyant(&case.problem(), Duration::from_micros(late), Steps { step: 25e-6 });
        prop_assert!(found.least <= found.feasible + 1e-12);
        // The window's last packets may be unsent in the bound's problem, so it is compared with all of them sent.
        let best = best(&case, late as f64) * 1e-6;
        prop_assert!(found.least <= best + 1e-9, "{found:?} and {best}");
        // Roundings may cost some lateness, and 0.1 ms at 1 W for each of four changes.
        let looser = clairvoyant(&case.problem(), Duration::from_micros(late + 300), Steps { step: 25e-6 });
        prop_assert!(looser.feasible <= best + 4e-4, "{looser:?} and {best}");
    }
}
