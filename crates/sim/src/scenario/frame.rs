//! The frame of a scenario, which every topic needs: times, MTU, nodes, TCP's options; checks of names and ranges.

use crate::traffic::FlowPath;
use netlull_document::check_ranges;
use netlull_mechanism::ConfigError;
use netlull_tcp::{Config, TcpOptions};
use netlull_text::is_unprintable;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

pub use netlull_text::Error as ScenarioError;

/// The fastest rate. Higher rates overflow the serialiser's arithmetic.
pub(super) const FASTEST: BitRate = BitRate::from_mbps(1_000_000_000);
/// IPv4 and TCP headers without options. The announced segment size does not count options (RFC 6691).
const HEADERS: u64 = 40;

pub(super) type Result<T, E = ScenarioError> = std::result::Result<T, E>;
pub(super) type Nodes<'a> = BTreeMap<&'a str, usize>;

/// The fields of a document that concern every topic.
pub(super) struct Frame<'a> {
    pub duration: Duration,
    pub warm_up: Duration,
    /// Largest packet, IP header included.
    pub mtu: Bytes,
    /// Names of the nodes, in the order of the document.
    pub names: &'a [String],
    /// The number of each node.
    pub nodes: Nodes<'a>,
    /// TCP options of all flows.
    pub tcp: &'a TcpOptions,
    /// True if links sleep that refuse packets, so routes change.
    pub sleeps: bool,
}

pub(super) fn refuse<T>(field: impl Into<String>, message: impl Into<String>) -> Result<T> {
    Err(ScenarioError::new(field, message))
}

/// Lists a scenario's names for a message: all, or the first twelve and the number of the others.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let shown = &names[..names.len().min(12)];
    let text = shown.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len() - shown.len() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// Checks the ranges in the description of a part of the document.
pub(super) fn check<T: Serialize + JsonSchema + 'static>(field: &str, part: &T) -> Result<()> {
    check_ranges(part).map_err(|error| refused(field, &error))
}

/// Converts a mechanism's error to one with the field's path.
pub(super) fn refused(field: &str, error: &ConfigError) -> ScenarioError {
    ScenarioError::new(format!("{field}.{}", error.field), error.reason())
}

/// Checks that a seed fits in TOML's signed integers.
pub(super) fn check_seed(seed: u64) -> Result<()> {
    if i64::try_from(seed).is_err() {
        return refuse("seed", format!("is {seed}; expected 0 to {}", i64::MAX));
    }
    Ok(())
}

/// Node names and their indices.
pub(super) fn node_index(names: &[String]) -> Result<Nodes<'_>> {
    let mut index = BTreeMap::new();
    for (number, name) in names.iter().enumerate() {
        check_name("nodes", name)?;
        if index.insert(name.as_str(), number).is_some() {
            return refuse("nodes", format!("\"{name}\" is named twice; expected different names"));
        }
    }
    if index.len() < 2 {
        return refuse("nodes", format!("has {} names; expected at least two", index.len()));
    }
    Ok(index)
}

/// Checks that a name can be part of a path such as `link.N1-N2.rate`.
pub(super) fn check_name(field: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.contains(['.', '=', '\n', '"']) {
        return refuse(field, format!("\"{name}\" is not a valid name; expected text without '.', '=' and quotes"));
    }
    check_printable(field, name)
}

/// Refuses a name that would change a terminal.
pub(super) fn check_printable(field: &str, name: &str) -> Result<()> {
    if name.contains(is_unprintable) {
        let told =
            format!("\"{name}\" is not a valid name; expected text without control characters and marks of direction");
        return refuse(field, told);
    }
    Ok(())
}

pub(super) fn node(nodes: &Nodes<'_>, field: &str, name: &str) -> Result<usize> {
    nodes.get(name).copied().ok_or_else(|| {
        let known: Vec<_> = nodes.keys().copied().collect();
        ScenarioError::new(field, format!("\"{name}\" is not a node; expected one of {}", listed(&known)))
    })
}

pub(super) fn two_nodes(nodes: &Nodes<'_>, field: &str, from: &str, to: &str) -> Result<(usize, usize)> {
    let ends = (node(nodes, &format!("{field}.from"), from)?, node(nodes, &format!("{field}.to"), to)?);
    if ends.0 == ends.1 {
        return refuse(format!("{field}.to"), format!("\"{to}\" is also the sending node; expected another node"));
    }
    Ok(ends)
}

pub(super) fn flow_path(nodes: &Nodes<'_>, name: &str, from: &str, to: &str) -> Result<FlowPath> {
    check_name("flow.name", name)?;
    let (from, to) = two_nodes(nodes, &format!("flow.{name}"), from, to)?;
    Ok(FlowPath { name: name.to_owned(), from, to })
}

/// Checks that a start is within the run.
pub(super) fn start(field: &str, start: Duration, frame: &Frame<'_>) -> Result<Instant> {
    if start >= frame.duration {
        let message = format!("is {start}; expected a time before the run ends at {}", frame.duration);
        return refuse(format!("{field}.start"), message);
    }
    Ok(Instant::ZERO + start)
}

/// The stop time of datagrams or requests; [`Instant::NEVER`] if none is given.
pub(super) fn stop_after(field: &str, stop: Option<Duration>, start: Instant) -> Result<Instant> {
    let stop = stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
    if stop <= start {
        let (stop, start) = (stop - Instant::ZERO, start - Instant::ZERO);
        return refuse(format!("{field}.stop"), format!("is {stop}; expected a time after the start, {start}"));
    }
    Ok(stop)
}

/// The configuration of a flow. Its own options come first, then the scenario's, then the preset's.
pub(super) fn tcp_config(frame: &Frame<'_>, flow: &TcpOptions, field: &str) -> Result<Config> {
    let (options, mtu) = (flow.over(frame.tcp), frame.mtu);
    // An error names the table with the option: the flow's, if it is set there, otherwise the scenario's.
    let refused = |option: &str, message: &str| {
        let own = serde_json::to_value(flow).is_ok_and(|table| table.get(option).is_some());
        let table = if own { format!("{field}.tcp") } else { "tcp".to_owned() };
        ScenarioError::new(format!("{table}.{option}"), message)
    };
    let mss = mss(&options, mtu).map_err(|message| refused("mss", &message))?;
    options.config(mss).map_err(|error| {
        if error.field() == "mss" && options.mss.is_none() {
            let why = format!("is {} B, which leaves TCP segments of {mss} B; expected more", mtu.as_u64());
            return ScenarioError::new("mtu", format!("{why} ({})", error.message()));
        }
        refused(error.field(), error.message())
    })
}

/// The given segment size, or the size from the MTU. An error if it exceeds the MTU.
fn mss(options: &TcpOptions, mtu: Bytes) -> std::result::Result<u16, String> {
    let most = mtu.as_u64() - HEADERS;
    let mss = options.mss.map_or(most, |size| size.as_u64());
    match u16::try_from(mss) {
        Ok(mss) if mss > 0 && u64::from(mss) <= most => Ok(mss),
        _ => Err(format!("is {mss} B; expected 1 to {most} B, the MTU less {HEADERS} B of headers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_of_names_are_cut() {
        assert_eq!(listed(&[""; 0]), "");
        assert_eq!(listed(&["a", "b", "c"]), "a, b, c");
        assert_eq!(listed(&["a"; 12]), ["a"; 12].join(", "));
        assert_eq!(listed(&["a"; 14]), format!("{} and 2 more", ["a"; 12].join(", ")));
    }
}
