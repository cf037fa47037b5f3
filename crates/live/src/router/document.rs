//! A mechanism's parameters as people write them: the names and units of a scenario's `[link.controller]`.

use super::driver::MechanismConfig;
use crate::error::{LiveError, Result};
use netlull_mechanism::gateway::{
    AwmConfig, CEarthConfig, FlowCountConfig, Gateway, GatewayConfig, Pace, RoundTripConfig,
};
use netlull_mechanism::rate::{
    ArrivalCount, EarthConfig, Evaluate, ForecastStart, PractRaConfig, QueueCount, RateSet, Reach,
};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt::Display;
use std::str::FromStr;
use toml::{Table, Value};

/// The mechanisms by the names that scenarios have for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Active Window Management: windows keep the queue at its target.
    Awm,
    /// AWM and C-EARTH.
    #[value(alias = "g_router")]
    GRouter,
    /// The rate follows the queue; windows pass as they are.
    #[value(alias = "c_earth")]
    CEarth,
    /// The rate follows a forecast of the arrivals, within a delay bound.
    Practra,
    /// The rate steps down when the queue empties, up when it is about to overflow.
    Earth,
}

/// The link that a mechanism works on.
#[derive(Clone, Copy, Debug)]
pub struct LinkFacts {
    /// Its highest rate in bit/s.
    pub rate: BitRate,
    /// The size of its buffer in bytes.
    pub buffer: Bytes,
    /// The largest IP packet in bytes that it takes.
    pub mtu: Bytes,
}

/// Makes a mechanism's parameters from what was written; what is missing has the defaults of scenarios, and a target half of the buffer.
///
/// # Errors
/// If a name is not known, a value has no unit or is out of range.
pub fn mechanism(kind: Kind, mut table: Table, link: LinkFacts) -> Result<MechanismConfig> {
    table.remove("kind");
    if matches!(kind, Kind::Awm | Kind::GRouter | Kind::CEarth) && !table.contains_key("target") {
        table.insert("target".to_owned(), Value::String(Bytes::new(link.buffer.as_u64() / 2).to_string()));
    }
    match kind {
        Kind::Awm => gateway(table, Steers::Windows, link),
        Kind::GRouter => gateway(table, Steers::Both, link),
        Kind::CEarth => gateway(table, Steers::Rate, link),
        Kind::Practra => read::<PractraDocument>(table)?.config(link),
        Kind::Earth => read::<EarthDocument>(table)?.config(link),
    }
}

/// Puts `NAME=VALUE` into a table, as `--set` gives it; a name may be of a table within, as in `round_trip.initial`.
///
/// # Errors
/// If there is no `=`, or a name on the way is not one of a table.
pub fn set(table: &mut Table, assignment: &str) -> Result<()> {
    let wrong = || LiveError::new(format!("--set {assignment}: expected NAME=VALUE, such as target=\"50 kB\""));
    let (path, text) = assignment.split_once('=').ok_or_else(wrong)?;
    let value = text.parse::<Value>().unwrap_or_else(|_| Value::String(text.to_owned()));
    let (names, last) = path.rsplit_once('.').unwrap_or(("", path));
    let mut place = table;
    for name in names.split('.').filter(|name| !name.is_empty()) {
        let inner = place.entry(name).or_insert_with(|| Value::Table(Table::new()));
        place = inner.as_table_mut().ok_or_else(wrong)?;
    }
    place.insert(last.trim().to_owned(), value);
    Ok(())
}

fn read<D: DeserializeOwned>(table: Table) -> Result<D> {
    Value::Table(table).try_into().map_err(|error: toml::de::Error| LiveError::new(error.message()))
}

fn refused(error: netlull_mechanism::ConfigError) -> LiveError {
    LiveError::new(error.to_string())
}

/// A quantity with its unit.
fn quantity<'de, T, D>(deserializer: D) -> std::result::Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

fn some_quantity<'de, T, D>(deserializer: D) -> std::result::Result<Option<T>, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    quantity(deserializer).map(Some)
}

/// The length of a queue: `"50 kB"`, or `"50 packets"` of one MTU.
#[derive(Clone, Copy, Debug)]
enum Length {
    Bytes(Bytes),
    Packets(u64),
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if let Some(count) = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet")) {
            let wrong = || D::Error::custom(format!("\"{text}\": expected a whole number of packets"));
            return count.trim().parse().map(Self::Packets).map_err(|_| wrong());
        }
        text.parse().map(Self::Bytes).map_err(D::Error::custom)
    }
}

impl Length {
    fn at(self, mtu: Bytes) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Packets(packets) => Bytes::new(packets.saturating_mul(mtu.as_u64())),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum QueueReading {
    #[default]
    Waiting,
    WaitingAndInService,
}

impl From<QueueReading> for QueueCount {
    fn from(reading: QueueReading) -> Self {
        match reading {
            QueueReading::Waiting => Self::Waiting,
            QueueReading::WaitingAndInService => Self::WaitingAndInService,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a list of rates, or { from, to, step }")]
enum RatesDocument {
    List(Vec<RateText>),
    Steps(StepsDocument),
}

#[derive(Debug, Deserialize)]
struct RateText(#[serde(deserialize_with = "quantity")] BitRate);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepsDocument {
    #[serde(deserialize_with = "quantity")]
    from: BitRate,
    #[serde(deserialize_with = "quantity")]
    to: BitRate,
    #[serde(deserialize_with = "quantity")]
    step: BitRate,
}

impl RatesDocument {
    fn set(&self, link: LinkFacts) -> Result<RateSet> {
        let set = match self {
            Self::List(list) => RateSet::from_list(&list.iter().map(|rate| rate.0).collect::<Vec<_>>()),
            Self::Steps(steps) => RateSet::from_range(steps.from, steps.to, steps.step),
        }
        .map_err(refused)?;
        if set.highest() == link.rate {
            return Ok(set);
        }
        let (highest, rate) = (set.highest(), link.rate);
        Err(LiveError::new(format!("rates end at {highest}; expected the link's rate, {rate}, as the highest")))
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum FlowsDocument {
    Fixed {
        count: f64,
    },
    Printed {
        initial: f64,
    },
    LinearCounting {
        #[serde(default = "one_second", deserialize_with = "quantity")]
        interval: Duration,
        #[serde(default = "bits")]
        bits: usize,
    },
}

impl Default for FlowsDocument {
    fn default() -> Self {
        Self::LinearCounting { interval: one_second(), bits: bits() }
    }
}

impl FlowsDocument {
    fn config(&self) -> FlowCountConfig {
        match *self {
            Self::Fixed { count } => FlowCountConfig::Fixed(count),
            Self::Printed { initial } => FlowCountConfig::Printed(initial),
            Self::LinearCounting { interval, bits } => FlowCountConfig::LinearCounting { interval, bits },
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum RoundTripDocument {
    Fixed {
        #[serde(deserialize_with = "quantity")]
        time: Duration,
    },
    Printed {},
    Handshake {
        #[serde(deserialize_with = "quantity")]
        initial: Duration,
    },
    Timestamps {
        #[serde(deserialize_with = "quantity")]
        initial: Duration,
    },
}

impl RoundTripDocument {
    fn config(&self) -> RoundTripConfig {
        match *self {
            Self::Fixed { time } => RoundTripConfig::Fixed(time),
            Self::Printed {} => RoundTripConfig::Printed,
            Self::Handshake { initial } => RoundTripConfig::Handshake { initial },
            Self::Timestamps { initial } => RoundTripConfig::Timestamps { initial },
        }
    }
}

/// What every gateway has.
#[derive(Debug, Deserialize)]
struct QueueDocument {
    target: Length,
    #[serde(default)]
    queue: QueueReading,
}

/// What one has that lowers windows.
#[derive(Debug, Deserialize)]
struct WindowsDocument {
    #[serde(default, deserialize_with = "some_quantity")]
    beta: Option<BitRate>,
    #[serde(default, deserialize_with = "some_quantity")]
    floor: Option<Bytes>,
    #[serde(default, deserialize_with = "some_quantity")]
    initial_window: Option<Bytes>,
    #[serde(default)]
    flows: FlowsDocument,
}

/// What one has that drives the rate.
#[derive(Debug, Deserialize)]
struct RateDocument {
    round_trip: RoundTripDocument,
    #[serde(deserialize_with = "quantity")]
    min_rate: BitRate,
    #[serde(default, deserialize_with = "some_quantity")]
    initial_rate: Option<BitRate>,
    gamma: Option<f64>,
    #[serde(default)]
    pace: PaceReading,
    #[serde(default, deserialize_with = "some_quantity")]
    granularity: Option<BitRate>,
    #[serde(default, deserialize_with = "some_quantity")]
    transition: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PaceReading {
    #[default]
    RoundTrip,
    Event,
}

impl From<PaceReading> for Pace {
    fn from(reading: PaceReading) -> Self {
        match reading {
            PaceReading::RoundTrip => Self::RoundTrip,
            PaceReading::Event => Self::Event,
        }
    }
}

impl WindowsDocument {
    fn awm(&self, plain: AwmConfig, mtu: Bytes) -> AwmConfig {
        AwmConfig {
            beta: self.beta.unwrap_or(plain.beta),
            floor: self.floor.unwrap_or(mtu),
            initial_window: self.initial_window.unwrap_or(plain.initial_window),
            ..plain
        }
    }
}

impl RateDocument {
    fn c_earth(&self, plain: CEarthConfig) -> CEarthConfig {
        CEarthConfig {
            initial: self.initial_rate,
            gamma: self.gamma.unwrap_or(plain.gamma),
            pace: self.pace.into(),
            granularity: self.granularity.unwrap_or(plain.granularity),
            transition: self.transition.unwrap_or(plain.transition),
            ..plain
        }
    }
}

/// Which of a gateway's parts there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steers {
    Windows,
    Rate,
    Both,
}

/// A gateway's parameters, of which each part takes those that are its own.
fn gateway(table: Table, steers: Steers, link: LinkFacts) -> Result<MechanismConfig> {
    let mut fields = Fields { left: table, known: Vec::new() };
    let common: QueueDocument = fields.part()?;
    let windows: Option<WindowsDocument> = (steers != Steers::Rate).then(|| fields.part()).transpose()?;
    let rate: Option<RateDocument> = (steers != Steers::Windows).then(|| fields.part()).transpose()?;
    fields.finish()?;
    if let (None, Some(RateDocument { round_trip: RoundTripDocument::Printed {}, .. })) = (&windows, &rate) {
        return Err(LiveError::new(
            "round_trip.kind is \"printed\"; expected fixed, handshake or timestamps: equation (7) is of AWM's window",
        ));
    }
    let target = common.target.at(link.mtu);
    let config = GatewayConfig {
        steers: windows.is_some(),
        // What a gateway does not have, nobody asks it for.
        flows: windows.as_ref().map_or(FlowCountConfig::Fixed(1.0), |windows| windows.flows.config()),
        round_trip: rate.as_ref().map_or(RoundTripConfig::Fixed(one_second()), |rate| rate.round_trip.config()),
        awm: match windows {
            None => AwmConfig::new(target),
            Some(windows) => windows.awm(AwmConfig::new(target), link.mtu),
        },
        c_earth: rate.map(|rate| rate.c_earth(CEarthConfig::new(rate.min_rate, link.rate))),
        queue: common.queue.into(),
        link_rate: link.rate,
    };
    Gateway::new(&config, Instant::ZERO).map_err(refused)?;
    Ok(MechanismConfig::Gateway(Box::new(config)))
}

/// A table that several parts read: serde's `flatten` would let names pass that nobody knows.
struct Fields {
    left: Table,
    known: Vec<&'static str>,
}

impl Fields {
    /// Takes the fields of a part.
    fn part<D: DeserializeOwned>(&mut self) -> Result<D> {
        D::deserialize(self).map_err(|error| LiveError::new(error.message()))
    }

    /// Whether everything is taken.
    fn finish(self) -> Result<()> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => {
                Err(LiveError::new(format!("unknown field `{name}`, expected one of {}", self.known.join(", "))))
            }
        }
    }
}

impl<'de> Deserializer<'de> for &mut Fields {
    type Error = toml::de::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> std::result::Result<V::Value, Self::Error> {
        self.known.extend(fields);
        let part: Table = fields.iter().filter_map(|&field| self.left.remove_entry(field)).collect();
        Value::Table(part).deserialize_struct(name, fields, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> std::result::Result<V::Value, Self::Error> {
        Err(Self::Error::custom("a part of a table is a struct"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PractraDocument {
    rates: RatesDocument,
    #[serde(default, deserialize_with = "some_quantity")]
    transition: Option<Duration>,
    #[serde(default, deserialize_with = "some_quantity")]
    min_interval: Option<Duration>,
    #[serde(default, deserialize_with = "some_quantity")]
    delay_bound: Option<Duration>,
    forecast_weight: Option<f64>,
    #[serde(default, deserialize_with = "some_quantity")]
    forecast_interval: Option<Duration>,
    #[serde(default)]
    forecast_start: ForecastStartReading,
    #[serde(default, deserialize_with = "some_quantity")]
    tick: Option<Duration>,
    #[serde(default)]
    queue: QueueReading,
    #[serde(default)]
    arrivals: ArrivalsReading,
    #[serde(default)]
    steps: ReachReading,
    #[serde(default, deserialize_with = "some_quantity")]
    initial_rate: Option<BitRate>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ForecastStartReading {
    #[default]
    FirstSample,
    Zero,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ArrivalsReading {
    #[default]
    Offered,
    Accepted,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReachReading {
    #[default]
    Adjacent,
    Any,
}

impl PractraDocument {
    fn config(self, link: LinkFacts) -> Result<MechanismConfig> {
        let plain = PractRaConfig::new(self.rates.set(link)?);
        let config = PractRaConfig {
            transition: self.transition.unwrap_or(plain.transition),
            min_interval: self.min_interval.unwrap_or(plain.min_interval),
            delay_bound: self.delay_bound.unwrap_or(plain.delay_bound),
            forecast_weight: self.forecast_weight.unwrap_or(plain.forecast_weight),
            forecast_interval: self.forecast_interval,
            forecast_start: match self.forecast_start {
                ForecastStartReading::FirstSample => ForecastStart::FirstSample,
                ForecastStartReading::Zero => ForecastStart::Zero,
            },
            evaluate: self.tick.map_or(Evaluate::EveryEvent, Evaluate::Tick),
            queue: self.queue.into(),
            arrivals: match self.arrivals {
                ArrivalsReading::Offered => ArrivalCount::Offered,
                ArrivalsReading::Accepted => ArrivalCount::Accepted,
            },
            steps: match self.steps {
                ReachReading::Adjacent => Reach::Adjacent,
                ReachReading::Any => Reach::Any,
            },
            initial_rate: self.initial_rate,
            rates: plain.rates,
        };
        config.validate().map_err(refused)?;
        Ok(MechanismConfig::PractRa(config))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EarthDocument {
    rates: RatesDocument,
    threshold: Length,
    #[serde(default, deserialize_with = "some_quantity")]
    min_interval: Option<Duration>,
    #[serde(default, deserialize_with = "quantity")]
    transition: Duration,
    #[serde(default)]
    queue: QueueReading,
    #[serde(default, deserialize_with = "some_quantity")]
    initial_rate: Option<BitRate>,
}

impl EarthDocument {
    fn config(self, link: LinkFacts) -> Result<MechanismConfig> {
        let plain = EarthConfig::new(self.rates.set(link)?, self.threshold.at(link.mtu));
        let config = EarthConfig {
            min_interval: self.min_interval.unwrap_or(plain.min_interval),
            transition: self.transition,
            queue: self.queue.into(),
            initial_rate: self.initial_rate,
            ..plain
        };
        config.validate().map_err(refused)?;
        Ok(MechanismConfig::Earth(config))
    }
}

fn one_second() -> Duration {
    Duration::from_secs(1)
}

fn bits() -> usize {
    4096
}

#[cfg(test)]
mod tests;
