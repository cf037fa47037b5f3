//! Execution of a scenario: builds its world, advances time, measures and verifies.

mod agents;
mod application;
mod build;
mod capacity;
mod conduct;
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
mod lookahead;
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
mod summary;
mod world;

pub use emulated::{Emulated, check_format, emulated};
pub use energy::{EnergySummary, NetworkSummary};
pub use error::{MachineError, RunError};
pub use netlull_network::gateway_summary::GatewaySummary;
pub use outcome::RunOutcome;
pub(crate) use phases::edges;
pub use phases::{FlowPhase, LinkPhase, PhaseSummary};
pub(crate) use rerouting::routing_plan;
pub use rerouting::{NapSummary, RoutingSummary};
pub use stations::StationSummary;
pub use summary::{FlowSummary, LinkSummary, RecordingSummary, Residence, Summary};
pub use world::World;

use crate::probe::CaptureWriter;
use crate::scenario::Scenario;
use finish::finish;
use std::ops::ControlFlow;

/// Observes a run. A monitor cannot change the run, but it can end it early.
pub trait Monitor {
    /// Receives the simulated share of the run, 0 to 1, at intervals.
    fn progress(&mut self, share: f64) -> ControlFlow<()>;
}

/// A monitor that does nothing.
pub struct Unwatched;

impl Monitor for Unwatched {
    fn progress(&mut self, _: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Events between two calls of the monitor.
const EVENTS_PER_LOOK: u32 = 1 << 16;

/// Runs `scenario`. `capture` writes the packets of its links. If the scenario replays a recording, the first run
/// comes first.
///
/// # Errors
/// - [`RunError::Cancelled`]: the monitor ended the run.
/// - [`RunError::Violation`]: the verifier found a violated rule.
/// - [`RunError::TooManyOpen`]: a flow exceeded its number of open connections.
/// - [`RunError::Machine`]: a machine cannot be built or breaks its contract.
/// - [`RunError::Capture`]: packets could not be written.
pub fn run(
    scenario: &Scenario,
    monitor: &mut dyn Monitor,
    capture: Option<CaptureWriter>,
) -> Result<RunOutcome, RunError> {
    match &scenario.recording {
        Some(recording) => recording::run(scenario, recording, monitor, capture),
        None => run_once(scenario, monitor, capture),
    }
}

fn run_once(
    scenario: &Scenario,
    monitor: &mut dyn Monitor,
    capture: Option<CaptureWriter>,
) -> Result<RunOutcome, RunError> {
    let mut world = World::new(scenario, capture)?;
    pass(&mut world, scenario, monitor)?;
    finish(world, scenario)
}

/// Advances time to the end of the run.
fn pass(world: &mut World, scenario: &Scenario, monitor: &mut dyn Monitor) -> Result<(), RunError> {
    while world.advance(EVENTS_PER_LOOK) {
        if monitor.progress(world.now().as_secs_f64() / scenario.duration.as_secs_f64()).is_break() {
            return Err(RunError::Cancelled);
        }
    }
    if monitor.progress(1.0).is_break() {
        return Err(RunError::Cancelled);
    }
    Ok(())
}
