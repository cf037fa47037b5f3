//! Execution of a scenario: builds its world, advances time, measures and verifies.

mod agents;
mod application;
mod build;
mod capacity;
mod control;
mod emulated;
mod energy;
mod error;
mod event_order;
mod finish;
mod flow_keys;
mod gateway_probe;
mod hosts;
mod ledger;
mod link_summary;
mod lookahead;
mod memory;
mod net;
mod observers;
mod outcome;
mod phases;
mod pool;
mod recording;
mod requests;
#[cfg(test)]
mod requests_tests;
mod rerouting;
mod stations;
pub mod steps;
mod summary;
mod world;

pub use emulated::{Emulated, check_format, emulated};
pub use energy::{EnergySummary, NetworkSummary};
pub use error::{MachineError, MemoryError, RunError};
pub use link_summary::{LinkSummaries, LinkSummary, Residence};
pub use netlull_network::gateway_summary::GatewaySummary;
pub use outcome::RunOutcome;
pub(crate) use phases::edges;
pub use phases::{FlowPhase, LinkPhase, PhaseSummary};
pub(crate) use rerouting::routing_plan;
pub use rerouting::{NapSummary, RoutingSummary};
pub use stations::StationSummary;
pub use summary::{FlowSummary, RecordingSummary, Summary};
pub use world::World;

use crate::probe::CaptureWriter;
use crate::scenario::Scenario;
use finish::finish;
use outcome::Wanted;
use std::ops::ControlFlow;

/// The reason for the early end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The run's result is no longer wanted.
    Cancelled,
    /// The run has exceeded its memory limit, given in bytes.
    Memory(u64),
}

/// Observes a run. A monitor cannot change the run, but it can end it early.
pub trait Monitor {
    /// Receives the simulated share of the run, 0 to 1, at intervals.
    fn progress(&mut self, share: f64) -> ControlFlow<Stop>;
}

/// A monitor that does nothing.
pub struct Unwatched;

impl Monitor for Unwatched {
    fn progress(&mut self, _: f64) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

/// Events between two calls of the monitor.
const EVENTS_PER_LOOK: u32 = 1 << 16;

/// Runs `scenario`. `capture` writes the packets of its links. If the scenario replays a recording, the first run
/// comes first.
///
/// # Errors
/// - [`RunError::Cancelled`] and [`RunError::Memory`]: the monitor ended the run.
/// - [`RunError::Violation`]: the verifier found a violated rule.
/// - [`RunError::TooManyOpen`]: a flow exceeded its number of open connections.
/// - [`RunError::Machine`]: a machine cannot be built or breaks its contract.
/// - [`RunError::Capture`]: packets could not be written.
pub fn run(
    scenario: &Scenario,
    monitor: &mut dyn Monitor,
    capture: Option<CaptureWriter>,
) -> Result<RunOutcome, RunError> {
    execute(scenario, monitor, capture, Wanted::All)
}

/// Runs `scenario` as [`run`] does, and returns the summary alone. A run that changes rates often is faster this way.
///
/// # Errors
/// Those of [`run`].
pub fn measure(scenario: &Scenario, monitor: &mut dyn Monitor) -> Result<Summary, RunError> {
    execute(scenario, monitor, None, Wanted::Summary).map(|outcome| outcome.summary)
}

fn execute(
    scenario: &Scenario,
    monitor: &mut dyn Monitor,
    capture: Option<CaptureWriter>,
    wanted: Wanted,
) -> Result<RunOutcome, RunError> {
    match &scenario.recording {
        Some(recording) => recording::run(scenario, recording, monitor, capture, wanted),
        None => run_once(scenario, monitor, capture, wanted),
    }
}

fn run_once(
    scenario: &Scenario,
    monitor: &mut dyn Monitor,
    capture: Option<CaptureWriter>,
    wanted: Wanted,
) -> Result<RunOutcome, RunError> {
    finish(pass(World::new(scenario, capture)?, scenario, monitor)?, scenario, wanted)
}

/// Advances time to the end of the run.
fn pass(mut world: World, scenario: &Scenario, monitor: &mut dyn Monitor) -> Result<World, RunError> {
    loop {
        let goes_on = world.advance(EVENTS_PER_LOOK);
        let share = if goes_on { world.now().as_secs_f64() / scenario.duration.as_secs_f64() } else { 1.0 };
        match monitor.progress(share) {
            ControlFlow::Break(Stop::Cancelled) => return Err(RunError::Cancelled),
            ControlFlow::Break(Stop::Memory(limit)) => return Err(memory::exceeded(world, scenario, limit)),
            ControlFlow::Continue(()) if goes_on => {}
            ControlFlow::Continue(()) => return Ok(world),
        }
    }
}
