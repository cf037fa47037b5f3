//! The least energy of a schedule that knows all arrivals.

use crate::problem::{Discipline, Problem, Side};
use crate::{packets, slots};
use netlull_units::Duration;

/// The interval of the least energy, in joules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// No schedule takes less.
    pub least: f64,
    /// A schedule that keeps the bound on lateness takes this at most.
    pub feasible: f64,
}

/// The resolution of the computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// The step of lateness (`finish_then_pause`) or the longest slot (`suspend`), in seconds.
    pub step: f64,
}

impl Steps {
    /// The resolution for a pause and a bound on lateness. A smaller step narrows the bracket and takes longer.
    #[must_use]
    pub fn new(problem: &Problem, late: Duration) -> Self {
        let late = late.as_secs_f64();
        let packet = problem.items.iter().map(|item| item.bits).fold(0.0, f64::max) / problem.top();
        let finest = if problem.pause > 0.0 { problem.pause } else { packet.max(1e-6) };
        match problem.discipline {
            Discipline::FinishThenPause => Self { step: (finest / 20.0).clamp(late / 500.0, (late / 50.0).max(1e-6)) },
            Discipline::Suspend if problem.pause > 0.0 => Self { step: finest / slots_of_a_pause(finest, late) },
            Discipline::Suspend => Self { step: (finest / 8.0).max(late / 100.0) },
        }
    }
}

/// The slots of a pause: about 25 slots for the longest lateness, at least two and at most eight per pause.
fn slots_of_a_pause(pause: f64, late: f64) -> f64 {
    (pause * 25.0 / late.max(1e-9)).round().clamp(2.0, 8.0)
}

/// Bounds the energy of every schedule of a link that delays no packet by more than `late`.
///
/// A schedule chooses the rate at every time, with all arrivals known. It may start at any rate. Packets leave in
/// the order of their arrival. Lateness is the departure minus the departure from the link at its highest rate.
#[must_use]
pub fn clairvoyant(problem: &Problem, late: Duration, steps: Steps) -> Bracket {
    let late = late.as_secs_f64();
    let solve = |side| match problem.discipline {
        Discipline::FinishThenPause => packets::excess(problem, late, steps.step, side),
        Discipline::Suspend if problem.pause > 0.0 => slots::excess(problem, late, steps.step, side),
        Discipline::Suspend => slots::free_excess(problem, late, steps.step, side),
    };
    let always_on = problem.always_on();
    let joules = |excess: f64| problem.joules(excess.max(0.0)).min(always_on);
    Bracket { least: joules(solve(Side::Below)), feasible: joules(solve(Side::Above)) }
}
