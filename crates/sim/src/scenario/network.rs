//! A network in netlull's own format: nodes with their positions, the cables between them, demands.

use super::listed;
use super::read::named_path;
use netlull_document::read;
use netlull_text::{Error, is_unprintable};
use netlull_units::{BitRate, Duration};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The Earth's mean radius in km (IUGG).
const EARTH_RADIUS_KM: f64 = 6371.0;
/// The speed of light in fibre, in km per ms: two thirds of that in vacuum.
const FIBRE_KM_PER_MS: f64 = 200.0;
/// The longest distance, in km: more than from the sun to Jupiter.
const LONGEST_KM: f64 = 1e9;
/// Characters forbidden in names: paths such as `link.A-B.rate` consist of names.
const FORBIDDEN: [char; 4] = ['.', '=', '\n', '"'];

type Result<T> = std::result::Result<T, Error>;

/// A network as users write it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkDocument {
    name: Option<String>,
    #[serde(rename = "description")]
    _description: Option<String>,
    nodes: Map<String, Value>,
    #[serde(default)]
    link: Vec<LineDocument>,
    #[serde(default)]
    demand: Vec<DemandDocument>,
}

/// A cable.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineDocument {
    from: String,
    to: String,
    #[serde(rename = "name")]
    _name: Option<String>,
    capacity: Option<BitRate>,
    distance: Option<String>,
    delay: Option<Duration>,
    #[serde(default = "one")]
    cost: u32,
}

/// Traffic from one node to another.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DemandDocument {
    from: String,
    to: String,
    rate: BitRate,
}

const fn one() -> u32 {
    1
}

/// Nodes and cables: at most one between two nodes, none from a node to itself.
#[derive(Debug)]
pub(super) struct Network {
    pub name: String,
    pub nodes: Vec<Node>,
    pub lines: Vec<Line>,
    /// The traffic between nodes, by their numbers.
    pub demands: Vec<(usize, usize, BitRate)>,
}

/// An end of cables.
#[derive(Debug)]
pub(super) struct Node {
    pub name: String,
    /// Longitude and latitude in degrees, east and north.
    pub position: Option<(f64, f64)>,
}

/// A cable between two nodes, used in both directions.
#[derive(Debug)]
pub(super) struct Line {
    /// The ends, by number.
    pub ends: (usize, usize),
    /// `A-B`, the scenario's name of the link.
    pub label: String,
    /// Capacity of each direction.
    pub capacity: Option<BitRate>,
    distance_km: Option<f64>,
    delay: Option<Duration>,
    /// The cost for routing.
    pub cost: u32,
}

impl Network {
    /// Reads a network at `place` in a scenario. `name` is its default name.
    ///
    /// # Errors
    /// Names the field, its value and the expected values.
    pub fn read(value: &Value, place: &str, name: &str) -> Result<Self> {
        let document: NetworkDocument = read(value)
            .map_err(|error| Error::input(format!("{place}.{}", named_path(value, &error.path)), error.message))?;
        let wrong = |field: &str, told: String| Error::input(format!("{place}.{field}"), told);
        if document.nodes.is_empty() {
            return Err(wrong("nodes", "has no nodes; expected a table such as Vienna = [16.37, 48.21]".to_owned()));
        }
        let mut nodes = Vec::with_capacity(document.nodes.len());
        for (name, position) in &document.nodes {
            let told = |told| wrong(&format!("nodes.{name}"), told);
            check_name(name).map_err(told)?;
            nodes.push(Node { name: name.clone(), position: place_of(position).map_err(told)? });
        }
        let index: BTreeMap<&str, usize> = nodes.iter().enumerate().map(|(at, node)| (&*node.name, at)).collect();
        let known = || index.keys().copied().collect::<Vec<_>>();
        let end = |name: &str| {
            let told = || format!("\"{name}\" is not a node; expected one of {}", listed(&known()));
            index.get(name).copied().ok_or_else(told)
        };
        let mut lines = Vec::with_capacity(document.link.len());
        let mut cables = BTreeSet::new();
        for given in document.link {
            let label = format!("{}-{}", given.from, given.to);
            let told = |told| wrong(&format!("link.{label}"), told);
            let line = line(given, label.clone(), end).map_err(told)?;
            if !cables.insert((line.ends.0.min(line.ends.1), line.ends.0.max(line.ends.1))) {
                let expected =
                    "one link between two nodes (several can be merged when they are read: parallel = \"merge\")";
                return Err(told(format!("is given twice; expected {expected}")));
            }
            lines.push(line);
        }
        let mut demands = Vec::with_capacity(document.demand.len());
        for DemandDocument { from, to, rate } in document.demand {
            let told = |told| wrong(&format!("demand.{from}-{to}"), told);
            demands.push((end(&from).map_err(told)?, end(&to).map_err(told)?, rate));
        }
        Ok(Self { name: document.name.unwrap_or_else(|| name.to_owned()), nodes, lines, demands })
    }

    /// A line's length in km: as given, else the great circle between its ends; `None` without their positions.
    pub fn length_km(&self, line: &Line) -> Option<f64> {
        let position = |node: usize| self.nodes[node].position;
        line.distance_km.or_else(|| Some(great_circle_km(position(line.ends.0)?, position(line.ends.1)?)))
    }

    /// A line's propagation delay: as given, else that of its length times `route_factor` in fibre.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    pub fn delay(&self, line: &Line, route_factor: f64) -> Option<Duration> {
        line.delay.or_else(|| {
            let ns = self.length_km(line)? * route_factor / FIBRE_KM_PER_MS * 1e6;
            Some(Duration::from_nanos(ns.round_ties_even() as u64))
        })
    }

    /// The hops from a node to every node; `None` for those that it does not reach.
    pub fn hops(&self, start: usize) -> Vec<Option<u32>> {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for line in &self.lines {
            neighbours[line.ends.0].push(line.ends.1);
            neighbours[line.ends.1].push(line.ends.0);
        }
        let mut found = vec![None; self.nodes.len()];
        found[start] = Some(0);
        let (mut here, mut hops) = (vec![start], 0);
        while !here.is_empty() {
            hops += 1;
            let next = here.iter().flat_map(|&node| &neighbours[node]);
            here = next.copied().filter(|&node| found[node].is_none() && found[node].replace(hops).is_none()).collect();
        }
        found
    }

    /// Refuses a network in several pieces.
    ///
    /// # Errors
    /// Names the sizes of the pieces and a node that is cut off from the largest.
    pub fn check_connected(&self, place: &str) -> Result<()> {
        let mut pieces: Vec<Vec<usize>> = Vec::new();
        let mut is_seen = vec![false; self.nodes.len()];
        for start in 0..self.nodes.len() {
            if !is_seen[start] {
                let hops = self.hops(start);
                let piece: Vec<usize> = (0..hops.len()).filter(|&node| hops[node].is_some()).collect();
                piece.iter().for_each(|&node| is_seen[node] = true);
                pieces.push(piece);
            }
        }
        if pieces.len() == 1 {
            return Ok(());
        }
        // The first of the largest stays the first.
        pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
        let sizes: Vec<String> = pieces.iter().take(3).map(|piece| piece.len().to_string()).collect();
        let more = if pieces.len() > 3 { ", ..." } else { "" };
        let cut_off = (0..self.nodes.len()).find(|node| !pieces[0].contains(node)).unwrap_or_default();
        let told = format!(
            "{} is in {} pieces, of {}{more} nodes: no links lead to \"{}\"; expected a connected network, or the option \
             pieces = \"largest\" (--pieces largest)",
            self.name,
            pieces.len(),
            sizes.join(" and "),
            self.nodes[cut_off].name
        );
        Err(Error::input(place, told))
    }
}

fn line(
    given: LineDocument,
    label: String,
    end: impl Fn(&str) -> std::result::Result<usize, String>,
) -> std::result::Result<Line, String> {
    let LineDocument { from, to, capacity, distance, delay, cost, .. } = given;
    if from == to {
        return Err(format!("leads from \"{from}\" back to itself; expected two different nodes"));
    }
    if capacity.is_some_and(|rate| rate < BitRate::from_bps(1)) {
        return Err("capacity is below 1 b/s; expected a rate such as \"10 Gb/s\"".to_owned());
    }
    if cost == 0 {
        return Err(format!("cost 0 is out of range; expected 1 to {}", u32::MAX));
    }
    let distance_km = distance.map(|text| kilometres(&text)).transpose()?;
    Ok(Line { ends: (end(&from)?, end(&to)?), label, capacity, distance_km, delay, cost })
}

fn kilometres(text: &str) -> std::result::Result<f64, String> {
    let number = text.trim().strip_suffix("km").and_then(|number| number.trim().parse::<f64>().ok());
    let told = || format!("\"{text}\" is not a distance; expected one such as \"132.4 km\", at most 1e9 km");
    number.filter(|km| (0.0..=LONGEST_KM).contains(km)).ok_or_else(told)
}

fn check_name(name: &str) -> std::result::Result<(), String> {
    let is_valid =
        !name.is_empty() && name == name.trim() && !name.contains(FORBIDDEN) && !name.contains(is_unprintable);
    if is_valid {
        return Ok(());
    }
    Err("is not a valid name of a node; expected text without '.', '=', quotes, control characters and marks of direction".to_owned())
}

/// Longitude and latitude in degrees; `None` for an empty list.
fn place_of(value: &Value) -> std::result::Result<Option<(f64, f64)>, String> {
    let numbers: Option<Vec<f64>> = value.as_array().and_then(|list| list.iter().map(Value::as_f64).collect());
    match numbers.as_deref() {
        Some([]) => Ok(None),
        Some(&[longitude, latitude]) if longitude.abs() <= 180.0 && latitude.abs() <= 90.0 => {
            Ok(Some((longitude, latitude)))
        }
        Some([_, _]) => Err(format!("{value} is out of range; expected [longitude, latitude] in degrees")),
        _ => Err(format!("{value} is not a place; expected [longitude, latitude] in degrees, or [] if unknown")),
    }
}

/// The nearest rate in whole b/s.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
pub(super) fn whole(rate: f64) -> BitRate {
    BitRate::from_bps(rate.round_ties_even() as u64)
}

/// The great-circle distance in km, by the haversine formula. Positions are (longitude, latitude) in degrees.
///
/// The functions are those of the crate `libm`, for equal networks on every machine.
fn great_circle_km(a: (f64, f64), b: (f64, f64)) -> f64 {
    let (east_a, north_a) = (a.0.to_radians(), a.1.to_radians());
    let (east_b, north_b) = (b.0.to_radians(), b.1.to_radians());
    let square = |x: f64| x * x;
    let half_chord = square(libm::sin((north_b - north_a) / 2.0))
        + libm::cos(north_a) * libm::cos(north_b) * square(libm::sin((east_b - east_a) / 2.0));
    2.0 * EARTH_RADIUS_KM * libm::asin(half_chord.sqrt().min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn network(value: &Value) -> Result<Network> {
        Network::read(value, "topology.network", "net")
    }

    fn why(value: &Value) -> String {
        network(value).unwrap_err().to_string()
    }

    #[test]
    fn a_cable_without_a_length_is_as_long_as_the_great_circle() {
        // Vienna to Prague: 251 km by https://www.gcmap.com; light in fibre takes 1.25 ms.
        let made = network(&json!({
            "nodes": { "Vienna": [16.37, 48.21], "Prague": [14.42, 50.08] },
            "link": [{ "from": "Vienna", "to": "Prague" }],
        }))
        .expect("valid");
        let length = made.length_km(&made.lines[0]).expect("positions");
        assert!((length - 251.5).abs() < 1.0, "{length}");
        let delay = made.delay(&made.lines[0], 1.0).expect("positions").as_secs_f64();
        assert!((delay - length / 200e3).abs() < 1e-9);
        assert!((made.delay(&made.lines[0], 2.0).expect("positions").as_secs_f64() - 2.0 * delay).abs() < 2e-9);
    }

    #[test]
    fn hops_are_counted_over_cables() {
        let link = |a: &str, b: &str| json!({ "from": a, "to": b });
        let made = network(&json!({
            "nodes": { "a": [], "b": [], "c": [], "d": [] },
            "link": [link("a", "b"), link("b", "c")],
        }))
        .expect("valid");
        assert_eq!(made.hops(0), [Some(0), Some(1), Some(2), None]);
        let told = made.check_connected("topology").unwrap_err().to_string();
        assert!(told.contains("2 pieces, of 3 and 1 nodes: no links lead to \"d\""), "{told}");
    }

    #[test]
    fn errors_name_the_field() {
        let one = |link: Value| why(&json!({ "nodes": { "a": [], "b": [] }, "link": [link] }));
        assert!(why(&json!({ "nodes": {} })).starts_with("topology.network.nodes: has no nodes"));
        assert!(why(&json!({ "nodes": { "a.b": [] } })).starts_with("topology.network.nodes.a.b: is not a valid name"));
        assert!(why(&json!({ "nodes": { "a": [1] } })).contains("nodes.a: [1] is not a place"));
        assert!(why(&json!({ "nodes": { "a": [300, 0] } })).contains("is out of range"));
        assert!(one(json!({ "from": "a", "to": "a" })).contains("link.a-a: leads from \"a\" back to itself"));
        assert!(one(json!({ "from": "a", "to": "x" })).contains("link.a-x: \"x\" is not a node; expected one of a, b"));
        assert!(one(json!({ "from": "a", "to": "b", "distance": "5 m" })).contains("\"5 m\" is not a distance"));
        assert!(one(json!({ "from": "a", "to": "b", "capacity": "5 MB/s" })).contains("link.a-b.capacity: \"5 MB/s\""));
    }
}
