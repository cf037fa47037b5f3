//! What `netlulld client` is told.

use crate::error::{LiveError, Result};
use crate::station::{Asleep, StationConfig, live_shaper};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use netlull_mechanism::machines::StationMechanism;
use netlull_network::station::NamedRadio;
use netlull_power::RadioPower;
use netlull_units::{BitRate, Duration};
use serde_json::json;
use std::path::PathBuf;

/// The client that dozes: this host's downloads shaped into bursts, and the radio that could sleep between them modelled.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Shape what comes through a device: until a signal, for a time, or while a command runs.
    Run(Box<Run>),
    /// Remove what a daemon that was killed has left.
    Restore(Device),
    /// Say whether a daemon runs on a device, and what it has done so far.
    Status(Device),
    /// The watch over a daemon, which starts it.
    #[command(hide = true)]
    Watch(Device),
}

#[derive(Clone, Debug, Args)]
pub(super) struct Device {
    /// The network device.
    #[arg(long)]
    pub(super) dev: String,
}

/// The name of a radio that is always on.
const ALWAYS_ON: &str = "always-on";
/// The name of the mechanism whose parameters this daemon sets for real senders.
const SHAPER: &str = "client-shaper";

/// The machine that lets the radio sleep; `None` for a radio that is always on. (clap takes a plain `Option` for an optional argument.)
type Mechanism = Option<StationMechanism>;

/// Reads the name of a mechanism; its parameters are the defaults, except the shaper's.
fn mechanism() -> impl TypedValueParser<Value = Mechanism> {
    let kinds = StationMechanism::NAMES.iter().map(|name| name.replace('_', "-"));
    let names: Vec<String> = kinds.chain([ALWAYS_ON.to_owned()]).collect();
    PossibleValuesParser::new(names).try_map(|name| match name.as_str() {
        ALWAYS_ON => Ok(None),
        SHAPER => Ok(Some(StationMechanism::ClientShaper(live_shaper()))),
        _ => serde_json::from_value(json!({ "kind": name.replace('-', "_") })).map(Some),
    })
}

#[derive(Clone, Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub(super) device: Device,
    /// The machine that lets the radio sleep. psm and bsd have an access point in this process, which buffers packets.
    #[arg(long, value_parser = mechanism(), default_value = SHAPER)]
    pub(super) mechanism: Mechanism,
    /// The power model of the radio; several may be given. [default: wavelan-dsss]
    #[arg(long)]
    pub(super) radio: Vec<String>,
    /// The rate of the air: the fastest at which packets come.
    #[arg(long, default_value = "11 Mb/s")]
    pub(super) air_rate: BitRate,
    /// How long the radio takes to wake. [default: that of the first radio]
    #[arg(long)]
    pub(super) wake: Option<Duration>,
    /// By how much earlier than the least round trip asks for the radio wakes.
    #[arg(long, default_value = "1 ms")]
    pub(super) margin: Duration,
    /// How long what is not shaped keeps the radio awake.
    #[arg(long, default_value = "1 s")]
    pub(super) quiet: Duration,
    /// How many packets wait for this process at most; what comes beyond that passes by.
    #[arg(long, default_value_t = 8192)]
    pub(super) queue: u32,
    /// Drop packets that come while the radio sleeps, as it would; otherwise they are counted only.
    #[arg(long)]
    pub(super) drop_asleep: bool,
    /// Record what machines are told and decide: a file for each connection that is shaped, or one for the radio and one for the access point.
    #[arg(long)]
    pub(super) record: Option<PathBuf>,
    /// Write the report to this file, as JSON.
    #[arg(long)]
    pub(super) report: Option<PathBuf>,
    /// End after so long.
    #[arg(long = "for")]
    pub(super) lasting: Option<Duration>,
    /// A command to run; the daemon ends with it, with its exit code.
    #[arg(last = true, conflicts_with = "lasting")]
    pub(super) run: Vec<String>,
}

impl Run {
    /// The station that is asked for.
    ///
    /// # Errors
    /// A radio that is not in the catalogue; values that contradict each other are found where the station is made.
    pub(super) fn station(&self) -> Result<StationConfig> {
        let names = if self.radio.is_empty() { vec!["wavelan-dsss".to_owned()] } else { self.radio.clone() };
        let radios: Vec<_> = names.into_iter().map(named).collect::<Result<_>>()?;
        let first = radios.first().map_or(Duration::ZERO, |radio| radio.power.wake);
        let wake = self.wake.unwrap_or(first);
        let mut mechanism = self.mechanism.clone();
        if let Some(StationMechanism::ClientShaper(shaper)) = &mut mechanism {
            shaper.margin = self.margin;
        }
        let asleep = if self.drop_asleep { Asleep::Drop } else { Asleep::Deliver };
        let station = StationConfig::new(mechanism, wake, [self.air_rate; 2]);
        Ok(StationConfig { asleep, quiet: self.quiet, radios, ..station })
    }
}

fn named(name: String) -> Result<NamedRadio> {
    let Some(power) = RadioPower::by_name(&name) else {
        let known: Vec<_> = RadioPower::catalogue().iter().map(|radio| radio.name).collect();
        return Err(LiveError::new(format!("--radio: \"{name}\" is not known; expected one of {}", known.join(", "))));
    };
    Ok(NamedRadio { name, power })
}
