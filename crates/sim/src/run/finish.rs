//! The end of a run: measurement and verification, or the error of a run above its memory limit, which names the part
//! of the run that holds most of the memory.

use super::error::{MachineError, MemoryError, RunError};
use super::pool::Place;
use super::summary::Summary;
use super::world::World;
use super::{ledger, summary};
use crate::net::flight::Packet;
use crate::net::transmitter::{EffectiveRate, RateLogEntry};
use crate::probe::Table;
use crate::scenario::Scenario;
use crate::scenario::document::Verify;
use crate::verify;
use netlull_tcp::{Endpoint, Fault};

/// The result of a finished run.
#[derive(Debug)]
pub struct RunOutcome {
    /// Totals and means.
    pub summary: Summary,
    /// The requested time series; always contains the table `rate`.
    pub tables: Vec<Table>,
}

/// The wanted parts of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The summary alone.
    Summary,
    /// The summary and the tables.
    All,
}

/// The first fault of a custom congestion control, in the order of the flows, or of a report of its variables.
fn broken_congestion_control(world: &World, scenario: &Scenario) -> Option<MachineError> {
    let ends = world.hosts.endpoints.chunks(2).take(scenario.tcp_flows.len());
    let faults = ends.map(|ends| ends.iter().find_map(Endpoint::congestion_control_fault));
    let in_event = faults.enumerate().find_map(|(flow, fault)| Some((flow, fault?)));
    let in_report = || world.observers.senders.as_ref()?.fault().map(|(flow, fault)| (flow.index(), fault));
    let (flow, Fault { at, error }) = in_event.or_else(in_report)?;
    let flow = scenario.tcp_flows.get(flow)?;
    let place = format!("flow.{}.tcp.congestion_control", flow.path.name);
    Some(MachineError {
        place,
        machine: flow.config.congestion_control.name().to_owned(),
        at: *at,
        error: error.clone(),
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
    let mut findings = replay.map_or_else(verify::Findings::default, |mut replay| {
        replay.check_waits(now, census.links());
        replay.into_findings(census.links())
    });
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

/// A part of a run that grows, and an estimate of its memory.
struct Part {
    bytes: usize,
    field: String,
    content: String,
    expected: &'static str,
}

/// The error of a run above `limit` bytes.
#[cold]
pub(super) fn memory_exceeded(world: World, scenario: &Scenario, limit: u64) -> RunError {
    let at = world.now();
    let parts = links(&world, scenario).chain(connections(&world)).max_by_key(|part| part.bytes);
    let largest = parts.into_iter().chain(tables(world)).max_by_key(|part| part.bytes);
    let Part { field, content, expected, .. } = largest.unwrap_or_else(|| Part {
        bytes: 0,
        field: format!("nodes: {}", scenario.nodes.len()),
        content: "an empty network".to_owned(),
        expected: "a smaller scenario",
    });
    RunError::Memory(MemoryError { field, content, expected, limit, at })
}

/// The packets of each link, and the log of its rates.
fn links<'a>(world: &'a World, scenario: &'a Scenario) -> impl Iterator<Item = Part> + 'a {
    scenario.links.iter().zip(&world.net.links).flat_map(|(spec, link)| {
        let (packets, changes) =
            (link.packets(&world.net.store).count(), link.variable().map_or(0, |variable| variable.log().len()));
        let backlog = Part {
            bytes: packets * (size_of::<Packet>() + size_of::<u64>()),
            field: format!("link.{}.buffer: {}", spec.name, spec.buffer),
            content: format!("{packets} packets on the link"),
            expected: "a smaller buffer, or less traffic",
        };
        let log = Part {
            bytes: changes * (size_of::<RateLogEntry>() + size_of::<EffectiveRate>()),
            field: format!("link.{}: rate", spec.name),
            content: format!("{changes} rates in the log of the link"),
            expected: "fewer changes of the rate",
        };
        [backlog, log]
    })
}

/// The connections of each request flow.
fn connections(world: &World) -> impl Iterator<Item = Part> {
    world.requests.pools.iter().map(|pool| Part {
        bytes: pool.places.len() * size_of::<Place>(),
        field: format!("flow.{}.most_open: {}", pool.name, pool.slots()),
        content: format!("{} connections", pool.places.len()),
        expected: "a lower number of connections, or less load",
    })
}

/// The tables of the probes.
fn tables(world: World) -> impl Iterator<Item = Part> {
    let part = |table: &Table| {
        let rows = table.columns.first().map_or(0, |(_, column)| column.len());
        Part {
            bytes: rows * table.columns.len() * size_of::<u64>(),
            field: format!("probe: table \"{}\"", table.name),
            content: format!("{rows} rows of {} columns", table.columns.len()),
            expected: "a longer probe.interval, or fewer recorded links, flows or events",
        }
    };
    let [first, last] = world.observers.into_tables();
    first.into_iter().chain(world.requests.into_table()).chain(last).map(move |table| part(&table))
}
