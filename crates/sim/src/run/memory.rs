//! The error of a run above its memory limit: it names the part of the run that holds most of the memory.

use super::error::{MemoryError, RunError};
use super::pool::Place;
use super::world::World;
use crate::net::flight::Packet;
use crate::net::transmitter::{EffectiveRate, RateLogEntry};
use crate::probe::Table;
use crate::scenario::Scenario;

/// A part of a run that grows, and an estimate of its memory.
struct Part {
    bytes: usize,
    field: String,
    content: String,
    expected: &'static str,
}

/// The error of a run above `limit` bytes.
#[cold]
pub(super) fn exceeded(world: World, scenario: &Scenario, limit: u64) -> RunError {
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
