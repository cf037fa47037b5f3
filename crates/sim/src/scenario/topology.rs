//! The table `[topology]`: nodes, links and traffic of a scenario from the network in a file.
//!
//! ```text
//!   file, hub ─► read_in (by the host) ─► network ─► expand ─► nodes, link, flow, position
//! ```
//!
//! A scenario's own link between the same nodes changes the fields that it gives.

use super::document::QueueDocument;
use super::frame::FASTEST;
use super::host::Host;
use super::listed;
use super::network::{Line, Network, whole};
use super::quantity::BufferSize;
use super::traffic::{Sources, Traffic};
use netlull_document::{check_ranges, field_names, read};
use netlull_text::{Change, Error};
use netlull_units::{BitRate, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const FIELD: &str = "topology";
/// The fields that name the network.
const SOURCES: [&str; 3] = ["file", "hub", "network"];
/// The fields with the choices for reading a file.
const READING: [&str; 6] = ["format", "parallel", "pieces", "external", "modules", "unit"];

type Result<T> = std::result::Result<T, Error>;
type Table = Map<String, Value>;

/// A network from a file (docs/how-to/topology.md).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["file"] }, { "required": ["hub"] }, { "required": ["network"] }]))]
pub struct TopologyDocument {
    /// A file next to the scenario or in the current folder, or a shipped topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Instead of a file: a topology of the package topohub, such as sndlib/germany50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hub: Option<String>,
    /// Instead of a file: the content of its TOML.
    #[serde(default, skip_serializing)]
    pub network: Table,
    /// Rate of every link, instead of the file's capacities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minimum" = "1 b/s"))]
    pub rate: Option<BitRate>,
    /// Factor of the file's capacities and of `default_rate`.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub rate_scale: f64,
    /// Factor of the file's demands, without effect on traffic with a `load`.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub demand_scale: f64,
    /// Capacity of links without one in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minimum" = "1 b/s"))]
    pub default_rate: Option<BitRate>,
    /// Length of a cable as a multiple of the distance between its ends.
    #[serde(default = "one")]
    #[schemars(range(max = 1e6), extend("exclusiveMinimum" = 0.0))]
    pub route_factor: f64,
    /// Propagation delay of links without a known length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_delay: Option<Duration>,
    /// Routing cost of a link.
    #[serde(default)]
    pub cost: Cost,
    /// Buffer of every link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSize>,
    /// Queue discipline of every link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueDocument>,
    /// Datagrams between all pairs of nodes: a table, or a list such as one table per time of day.
    #[serde(default, skip_serializing)]
    pub traffic: Traffic,
    /// Format of the file; default by its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Treatment of several links between two nodes.
    #[serde(default)]
    pub parallel: Parallel,
    /// Part of a disconnected network to read.
    #[serde(default)]
    pub pieces: Pieces,
    /// Treatment of nodes of other networks in GraphML.
    #[serde(default)]
    pub external: External,
    /// Use of SNDlib's module capacities: if none is installed, always or never.
    #[serde(default)]
    pub modules: Modules,
    /// Unit of SNDlib's capacities if the file has none.
    #[serde(default = "megabits")]
    pub unit: String,
}

const fn one() -> f64 {
    1.0
}

fn megabits() -> String {
    "Mb/s".to_owned()
}

/// The routing cost of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// That of the file, or 1.
    #[default]
    Given,
    /// 1.
    Hops,
    /// Its length in kilometres.
    Distance,
    /// The largest capacity over its own.
    Capacity,
}

/// The format of a topology's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// SNDlib's native format.
    SndlibNative,
    /// SNDlib's XML.
    SndlibXml,
    /// GraphML, as in the Topology Zoo.
    Graphml,
    /// netlull's own format.
    Toml,
}

/// The treatment of several links between two nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Parallel {
    /// Is an error.
    #[default]
    Refuse,
    /// Makes one link of them.
    Merge,
    /// Takes links in opposite directions for one cable.
    Reverse,
}

/// The part of a disconnected network to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pieces {
    /// All of it, which is an error for a scenario.
    #[default]
    All,
    /// The largest piece.
    Largest,
}

/// The treatment of nodes of other networks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum External {
    /// Leaves them out.
    #[default]
    Drop,
    /// Keeps them.
    Keep,
}

/// The use of module capacities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Modules {
    /// Where no capacity is installed.
    #[default]
    Missing,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// Replaces the name of a network by its content, `topology.network`.
pub(super) fn read_in(document: &mut Table, host: &dyn Host) -> Result<()> {
    let Some(given) = document.get_mut(FIELD) else { return Ok(()) };
    let Value::Object(table) = given else {
        return Err(Error::input(
            FIELD,
            format!("{given} is not a table; expected one such as {{ file = \"abilene.toml\" }}"),
        ));
    };
    let known = field_names::<TopologyDocument>();
    if let Some(unknown) = table.keys().find(|name| !known.contains(&name.as_str())) {
        let told = format!("is not a field of {FIELD}; expected one of {}", known.join(", "));
        return Err(Error::input(format!("{FIELD}.{unknown}"), told));
    }
    let sources: Vec<&str> = SOURCES.into_iter().filter(|&source| table.contains_key(source)).collect();
    let [source] = sources[..] else {
        let told =
            if sources.is_empty() { "names no network".to_owned() } else { format!("has {}", sources.join(" and ")) };
        return Err(Error::input(
            FIELD,
            format!("{told}; expected file = \"abilene.toml\" or hub = \"sndlib/germany50\""),
        ));
    };
    if source == "network" {
        return Ok(());
    }
    let place = format!("{FIELD}.{source}");
    if !table[source].is_string() {
        let told = format!("{} is not text; expected the name of a topology", table[source]);
        return Err(Error::input(place, told));
    }
    // A wrong choice is an error of its own field, not of the file.
    let choices = of_table(&Value::Object(table.clone()))?;
    if format!("1 {}", choices.unit).parse::<BitRate>().is_err() {
        let told = format!("\"{}\" is not a unit of rates; expected b/s, kb/s, Mb/s or Gb/s", choices.unit);
        return Err(Error::input(format!("{FIELD}.unit"), told));
    }
    let network = host.network(table).map_err(|error| Error { field: place, ..error })?;
    table.shift_remove(source);
    table.insert("network".to_owned(), network);
    Ok(())
}

/// The document with the nodes, links and traffic of its topology, which has been read in.
pub(super) fn expand(mut document: Table) -> Result<Table> {
    let Some(given) = document.shift_remove(FIELD) else { return Ok(document) };
    let mut table = of_table(&given)?;
    let network = Value::Object(std::mem::take(&mut table.network));
    let network = Network::read(&network, "topology.network", FIELD)?;
    network.check_connected(FIELD)?;
    let making = Making::new(&table, &network)?;
    let mut links: Vec<Table> = Vec::with_capacity(network.lines.len());
    for (line, &rate) in network.lines.iter().zip(&making.rates) {
        links.push(making.link(line, rate)?);
    }
    let sources = Sources { network: &network, rates: &making.rates, demand_scale: table.demand_scale };
    let flows = table.traffic.flows(&sources)?;
    join(&mut document, "link", |own| {
        let mut others = Vec::new();
        for entry in own {
            let text = |end: &str| entry.get(end).and_then(Value::as_str);
            let line = network.lines.iter().position(|line| {
                let (a, b) = line.ends;
                (text("from"), text("to")) == (Some(&network.nodes[a].name), Some(&network.nodes[b].name))
            });
            match (line, entry) {
                (Some(line), Value::Object(fields)) => links[line].extend(fields),
                (_, entry) => others.push(entry),
            }
        }
        links.into_iter().map(Value::Object).chain(others).collect()
    });
    if given.get("traffic").is_some() {
        join(&mut document, "flow", |own| own.into_iter().chain(flows).collect());
    }
    let names: Vec<&str> = network.nodes.iter().map(|node| &*node.name).collect();
    join(&mut document, "nodes", |own| {
        let others = own.into_iter().filter(|node| node.as_str().is_none_or(|name| !names.contains(&name)));
        names.iter().map(|&name| Value::from(name)).chain(others).collect()
    });
    let places: Table =
        network.nodes.iter().filter_map(|node| Some((node.name.clone(), json!(node.position?)))).collect();
    if !places.is_empty()
        && let Value::Object(own) = document.entry("position").or_insert_with(|| json!({}))
    {
        let given = std::mem::replace(own, places);
        own.extend(given);
    }
    Ok(document)
}

/// The table `[topology]`.
fn of_table(given: &Value) -> Result<TopologyDocument> {
    let table: TopologyDocument = read(given).map_err(|error| Error::input(field(&error.path), error.message))?;
    check_ranges(&table).map_err(|error| Error::input(format!("{FIELD}.{}", error.field), error.reason()))?;
    Ok(table)
}

/// Changes a list of the document. One that is no list stays: the schema refuses it.
fn join(document: &mut Table, field: &str, change: impl FnOnce(Vec<Value>) -> Vec<Value>) {
    if let Value::Array(list) = document.entry(field).or_insert_with(|| json!([])) {
        *list = change(std::mem::take(list));
    }
}

fn field(path: &[String]) -> String {
    [FIELD].into_iter().chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join(".")
}

/// Makes links of a network.
struct Making<'a> {
    table: &'a TopologyDocument,
    network: &'a Network,
    /// The rate of each line.
    rates: Vec<BitRate>,
    /// True if the rates are scaled capacities.
    is_scaled: bool,
}

impl<'a> Making<'a> {
    fn new(table: &'a TopologyDocument, network: &'a Network) -> Result<Self> {
        let rate = |line: &Line| {
            if let Some(rate) = table.rate {
                return Ok(rate);
            }
            let Some(capacity) = line.capacity.or(table.default_rate) else {
                let expected = "expected topology.default_rate, or topology.rate for all links";
                return Err(Error::input(FIELD, format!("link {} has no capacity; {expected}", line.label)));
            };
            let scaled = capacity.as_f64() * table.rate_scale;
            let (beyond, expected) = if scaled < 1.0 {
                ("below 1 b/s".to_owned(), "larger")
            } else if scaled > FASTEST.as_f64() {
                (format!("above {FASTEST}"), "smaller")
            } else {
                return Ok(whole(scaled));
            };
            let told = format!("{} times the capacity of link {} is {beyond}", json!(table.rate_scale), line.label);
            Err(Error::input(format!("{FIELD}.rate_scale"), format!("{told}; expected a {expected} number")))
        };
        let rates = network.lines.iter().map(rate).collect::<Result<_>>()?;
        let is_scaled = table.rate.is_none() && (table.rate_scale - 1.0).abs() > 0.0;
        Ok(Self { table, network, rates, is_scaled })
    }

    fn link(&self, line: &Line, rate: BitRate) -> Result<Table> {
        let Self { table, network, .. } = self;
        let delay = network.delay(line, table.route_factor).or(table.default_delay).ok_or_else(|| {
            let told = format!("link {} has no length, and its ends have no positions", line.label);
            Error::input(FIELD, format!("{told}; expected topology.default_delay, such as \"1 ms\""))
        })?;
        let name = |node: usize| &network.nodes[node].name;
        let mut link = Table::new();
        let mut put = |field: &str, value: Value| link.insert(field.to_owned(), value);
        put("from", json!(name(line.ends.0)));
        put("to", json!(name(line.ends.1)));
        put("duplex", true.into());
        put("rate", json!(rate));
        // A scaled link stands for one of the given capacity, whose port it is charged.
        if let Some(capacity) = line.capacity.or(table.default_rate).filter(|_| self.is_scaled) {
            put("port_speed", json!(capacity));
        }
        put("delay", json!(delay));
        match self.cost(line, rate)? {
            1 => {}
            cost => drop(put("cost", cost.into())),
        }
        if let Some(buffer) = &table.buffer {
            put("buffer", json!(buffer));
        }
        if let Some(queue) = &table.queue {
            put("queue", json!(queue));
        }
        Ok(link)
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates, and the schema refuses it"
    )]
    fn cost(&self, line: &Line, rate: BitRate) -> Result<u64> {
        let cost = match self.table.cost {
            Cost::Given => return Ok(line.cost.into()),
            Cost::Hops => return Ok(1),
            Cost::Distance => self.network.length_km(line).ok_or_else(|| {
                let told = format!("link {} has no length; expected another cost than \"distance\"", line.label);
                Error::input(format!("{FIELD}.cost"), told)
            })?,
            Cost::Capacity => self.rates.iter().max().map_or(1.0, |fastest| fastest.as_f64() / rate.as_f64()),
        };
        Ok(cost.round_ties_even().max(1.0) as u64)
    }
}

/// The order of changes: the topology's source, its other options, everything else.
pub(super) fn order_of(path: &str) -> u8 {
    match path.split_once('.').unwrap_or((path, "")) {
        (FIELD, field) => u8::from(!SOURCES.contains(&field)),
        _ => 2,
    }
}

/// Prepares a change: another file replaces the network; a changed link of it gets its own entry.
pub(super) fn prepare(document: &mut Table, change: &Change, host: &dyn Host) -> Result<()> {
    let Some(Value::Object(table)) = document.get_mut(FIELD) else { return Ok(()) };
    match change.path.split_once('.').unwrap_or((&change.path, "")) {
        ("link", link) if !link.is_empty() => {
            read_in(document, host)?;
            claim(document, link)
        }
        (FIELD, field) if SOURCES.contains(&field) => {
            table.retain(|name, _| !SOURCES.contains(&name.as_str()));
            Ok(())
        }
        (FIELD, field) if READING.contains(&field) && table.contains_key("network") => {
            let told =
                format!("the topology has been read; expected it set with the file, or together with {FIELD}.file");
            Err(Error::path(&change.path, told))
        }
        _ => Ok(()),
    }
}

/// Adds an entry to the scenario for the topology's link at the start of a path.
fn claim(document: &mut Table, path: &str) -> Result<()> {
    let network = Network::read(&document[FIELD]["network"], "topology.network", FIELD)?;
    let Value::Array(own) = document.entry("link").or_insert_with(|| json!([])) else { return Ok(()) };
    let starts = |name: &str| path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let fitting = network.lines.iter().filter(|line| starts(&line.label));
    let Some(line) = fitting.max_by_key(|line| line.label.len()) else {
        let names: Vec<String> = own.iter().filter_map(netlull_text::name_of).collect();
        if names.iter().any(|name| starts(name)) || (0..own.len()).any(|index| starts(&index.to_string())) {
            return Ok(());
        }
        let known: Vec<&str> =
            network.lines.iter().map(|line| &*line.label).chain(names.iter().map(|n| &**n)).collect();
        let told = format!("leads to no link; expected one of {}", listed(&known));
        return Err(Error::path(format!("link.{path}"), told));
    };
    let (from, to) = (&network.nodes[line.ends.0].name, &network.nodes[line.ends.1].name);
    if !own.iter().any(|entry| entry["from"] == **from && entry["to"] == **to) {
        own.push(json!({ "from": from, "to": to }));
    }
    Ok(())
}
