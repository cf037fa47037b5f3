//! The traffic of `[topology]`: datagrams between all pairs of nodes, by a gravity model or by the demands of a file.

use super::network::{Network, whole};
use netlull_document::{check_ranges, within};
use netlull_text::Error;
use netlull_units::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

const FIELD: &str = "topology.traffic";

type Result<T> = std::result::Result<T, Error>;

/// Two nodes, by number.
type Ends = (usize, usize);

/// The tables of traffic, and their paths: one table, or a list of them.
#[derive(Clone, Debug, Default)]
pub struct Traffic(Vec<(String, TrafficDocument)>);

impl<'de> Deserialize<'de> for Traffic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let path = FIELD.to_owned();
        match Value::deserialize(deserializer)? {
            table @ Value::Object(_) => Ok(Self(vec![(path, within(&table)?)])),
            list @ Value::Array(_) => {
                let tables: Vec<TrafficDocument> = within(&list)?;
                Ok(Self(tables.into_iter().enumerate().map(|(at, table)| (format!("{path}.{at}"), table)).collect()))
            }
            other => Err(D::Error::custom(format!(
                "{other} is not a table; expected one such as {{ kind = \"gravity\", load = 0.2 }}"
            ))),
        }
    }
}

impl JsonSchema for Traffic {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TopologyTraffic".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let table = generator.subschema_for::<TrafficDocument>();
        schemars::json_schema!({ "anyOf": [table, { "type": "array", "items": table }] })
    }
}

/// Traffic between all pairs of nodes (docs/how-to/topology.md).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TopologyTrafficDocument")]
pub struct TrafficDocument {
    /// Gravity model by the capacities at the nodes, or the demands of the file.
    pub kind: TrafficKind,
    /// First part of the flows' names, such as `traffic-A-B`.
    #[serde(default = "traffic")]
    pub name: String,
    /// Mean load of the links, both directions, on shortest paths by hops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub load: Option<f64>,
    /// Size of each packet on the wire.
    #[serde(default = "kilobyte")]
    #[schemars(extend("x-minimum" = "1 B"))]
    pub packet: Bytes,
    /// Arrival process.
    #[serde(default)]
    pub process: Process,
    /// Start time; default 0 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
    /// Stop time; default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

fn traffic() -> String {
    "traffic".to_owned()
}

const fn kilobyte() -> Bytes {
    Bytes::new(1000)
}

/// The model of the rates between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrafficKind {
    /// The product of the capacities at the two nodes.
    Gravity,
    /// The demands of the file.
    Demands,
}

/// The arrival process of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// Poisson.
    #[default]
    Poisson,
    /// Constant bit rate.
    Cbr,
}

/// The network that makes the traffic, with its rates.
pub(super) struct Sources<'a> {
    pub network: &'a Network,
    /// The rate of each line.
    pub rates: &'a [BitRate],
    pub demand_scale: f64,
}

impl Traffic {
    /// The flows of all tables.
    ///
    /// # Errors
    /// Names the field, its value and the expectation.
    pub(super) fn flows(&self, sources: &Sources<'_>) -> Result<Vec<Value>> {
        let mut flows = Vec::new();
        for (index, (path, traffic)) in self.0.iter().enumerate() {
            check_ranges(traffic).map_err(|error| Error::input(format!("{path}.{}", error.field), error.reason()))?;
            if self.0[..index].iter().any(|(_, other)| other.name == traffic.name) {
                let told = format!("\"{}\" is given twice; expected a different name for each table", traffic.name);
                return Err(Error::input(format!("{path}.name"), told));
            }
            flows.extend(sources.flows(traffic, path)?);
        }
        Ok(flows)
    }
}

impl Sources<'_> {
    /// Flows of datagrams, `NAME-A-B`. A pair with less than 1 b/s has none.
    fn flows(&self, traffic: &TrafficDocument, path: &str) -> Result<Vec<Value>> {
        let wrong = |field: &str, told: String| Err(Error::input(format!("{path}.{field}"), told));
        if let (start, Some(stop)) = (traffic.start.unwrap_or_default(), traffic.stop)
            && stop <= start
        {
            return wrong("stop", format!("is {stop}; expected a time after the start, {start}"));
        }
        let rates = match traffic.kind {
            TrafficKind::Gravity if traffic.load.is_none() => {
                return wrong("load", "is missing; expected the mean load of the links, such as 0.2".to_owned());
            }
            TrafficKind::Gravity => self.gravity(),
            TrafficKind::Demands => self.demanded(),
        };
        if rates.iter().all(|&(_, rate)| rate == 0.0) && traffic.kind == TrafficKind::Demands {
            return wrong("kind", format!("{} has no demands; expected \"gravity\"", self.network.name));
        }
        let scale = match traffic.load {
            None => self.demand_scale,
            Some(load) => {
                let capacity: f64 = self.rates.iter().map(|rate| rate.as_f64()).sum();
                load * 2.0 * capacity / self.carried(&rates)
            }
        };
        if !rates.iter().any(|&(_, rate)| rate * scale >= 1.0) {
            let field = if traffic.load.is_some() { "load" } else { "kind" };
            return wrong(field, "leaves less than 1 b/s to every pair of nodes; expected more traffic".to_owned());
        }
        let flow = |&((from, to), rate): &(Ends, f64)| {
            let (from, to) = (&self.network.nodes[from].name, &self.network.nodes[to].name);
            let mut flow = json!({
                "kind": traffic.process, "name": format!("{}-{from}-{to}", traffic.name), "from": from, "to": to,
                "rate": whole(rate * scale), "packet": traffic.packet,
            });
            for (field, time) in [("start", traffic.start), ("stop", traffic.stop)] {
                if let Some(time) = time {
                    flow[field] = json!(time);
                }
            }
            flow
        };
        Ok(rates.iter().filter(|&&(_, rate)| rate * scale >= 1.0).map(flow).collect())
    }

    /// Rates in b/s of every pair, by the product of the capacities at its nodes.
    fn gravity(&self) -> Vec<(Ends, f64)> {
        let mut weights = vec![0.0; self.network.nodes.len()];
        for (line, rate) in self.network.lines.iter().zip(self.rates) {
            weights[line.ends.0] += rate.as_f64();
            weights[line.ends.1] += rate.as_f64();
        }
        let total: f64 = weights.iter().sum();
        let pairs = (0..weights.len()).flat_map(|a| (0..weights.len()).map(move |b| (a, b)));
        pairs.filter(|(a, b)| a != b).map(|(a, b)| ((a, b), weights[a] * weights[b] / total)).collect()
    }

    /// Rates in b/s of the file's demands, those of the same pair added up.
    fn demanded(&self) -> Vec<(Ends, f64)> {
        let mut rates: Vec<(Ends, f64)> = Vec::new();
        let mut places = std::collections::BTreeMap::new();
        for &(from, to, rate) in &self.network.demands {
            let place = *places.entry((from, to)).or_insert_with(|| {
                rates.push(((from, to), 0.0));
                rates.len() - 1
            });
            rates[place].1 += rate.as_f64();
        }
        rates
    }

    /// The total traffic of all links, in b/s: every rate counts once per hop of its path.
    fn carried(&self, rates: &[(Ends, f64)]) -> f64 {
        let hops: Vec<_> = (0..self.network.nodes.len()).map(|start| self.network.hops(start)).collect();
        rates.iter().map(|&((from, to), rate)| rate * hops[from][to].map_or(f64::INFINITY, f64::from)).sum()
    }
}
