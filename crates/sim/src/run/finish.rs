//! The end of a run: measurement and verification.

use super::error::{MachineError, RunError};
use super::outcome::{RunOutcome, Wanted};
use super::world::World;
use super::{ledger, summary};
use crate::scenario::Scenario;
use crate::scenario::document::Verify;
use crate::verify;
use netlull_tcp::{Endpoint, Fault};

/// The first fault of a custom congestion control, in the order of the flows.
fn broken_congestion_control(world: &World, scenario: &Scenario) -> Option<MachineError> {
    scenario.tcp_flows.iter().zip(world.hosts.endpoints.chunks(2)).find_map(|(flow, ends)| {
        let Fault { at, error } = ends.iter().find_map(Endpoint::congestion_control_fault)?.clone();
        let place = format!("flow.{}.tcp.congestion_control", flow.path.name);
        Some(MachineError { place, machine: flow.config.congestion_control.name().to_owned(), at, error })
    })
}

/// The results of a finished run, with or without its tables.
pub(super) fn finish(mut world: World, scenario: &Scenario, wanted: Wanted) -> Result<RunOutcome, RunError> {
    world.draw_all();
    if let Some(failure) = world.net.failure.take() {
        return Err(failure);
    }
    if let Some(error) = broken_congestion_control(&world, scenario) {
        return Err(RunError::Machine(Box::new(error)));
    }
    if let Some(error) = world.observers.capture_error.take() {
        return Err(RunError::Capture(error));
    }
    if let Some(capture) = world.observers.capture.take() {
        capture.finish().map_err(RunError::Capture)?;
    }
    let now = world.now();
    world.hosts.connections.iter_mut().for_each(|connection| connection.settle_cwnd(now));
    let replay = world.observers.replay.take();
    let census = world.census();
    let mut findings = replay.map(|replay| replay.into_findings(census.links())).unwrap_or_default();
    if scenario.verify != Verify::Off {
        findings.merge(verify::ledger::check(&ledger::ledger(&world, scenario, census.links())));
    }
    if !findings.violations().is_empty() {
        return Err(RunError::Violation {
            violations: findings.violations().to_vec(),
            custom: scenario.custom_parts(),
        });
    }
    let summary = summary::summarise(&world, scenario, census, findings.checks());
    if wanted == Wanted::Summary {
        return Ok(RunOutcome { summary, tables: Vec::new() });
    }
    let mut tables = vec![summary::rate_table(&world, scenario)];
    let [before, behind] = world.observers.into_tables();
    tables.extend(before);
    tables.extend(world.requests.into_table());
    tables.extend(behind);
    Ok(RunOutcome { summary, tables })
}
