//! The arguments of `netlulld client`.

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

/// The dozing client: shapes this host's downloads into bursts and models a radio that sleeps between them.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Shapes the downloads through a device: until a signal, for a duration, or while a command runs.
    Run(Box<Run>),
    /// Removes the rules that a killed daemon has left.
    Restore(Device),
    /// Shows whether a daemon runs on a device, and its report so far.
    Status(Device),
    /// The watch process of a daemon, started by the daemon.
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
/// The mechanism with different default parameters for real senders.
const SHAPER: &str = "client-shaper";

/// The machine that lets the radio sleep; `None` for a radio that is always on. (clap reads a plain `Option` as
/// optional.)
type Mechanism = Option<StationMechanism>;

/// Parses the name of a mechanism; its parameters are the defaults, except the shaper's.
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
    /// The mechanism that lets the radio sleep. psm and bsd use an access point in this process, which buffers packets.
    #[arg(long, value_parser = mechanism(), default_value = SHAPER)]
    pub(super) mechanism: Mechanism,
    /// The power model of the radio; may be repeated. [default: wavelan-dsss]
    #[arg(long)]
    pub(super) radio: Vec<String>,
    /// The rate of the air: the highest rate at which packets arrive.
    #[arg(long, default_value = "11 Mb/s")]
    pub(super) air_rate: BitRate,
    /// The wake time of the radio. [default: that of the first radio]
    #[arg(long)]
    pub(super) wake: Option<Duration>,
    /// The margin by which the radio wakes earlier than the minimum round-trip time requires.
    #[arg(long, default_value = "1 ms")]
    pub(super) margin: Duration,
    /// The time for which unshaped packets keep the radio awake.
    #[arg(long, default_value = "1 s")]
    pub(super) quiet: Duration,
    /// The maximum number of packets queued for this process; further packets bypass it.
    #[arg(long, default_value_t = 8192)]
    pub(super) queue: u32,
    /// Drops packets that arrive while the radio sleeps, as a real radio would; by default they are only counted.
    #[arg(long)]
    pub(super) drop_asleep: bool,
    /// Records the events and actions of machines: a file for each shaped connection, or one for the radio and one for
    /// the access point.
    #[arg(long)]
    pub(super) record: Option<PathBuf>,
    /// Writes the report to this file, as JSON.
    #[arg(long)]
    pub(super) report: Option<PathBuf>,
    /// Ends after this duration.
    #[arg(long = "for")]
    pub(super) lasting: Option<Duration>,
    /// A command to run; the daemon ends with it and returns its exit code.
    #[arg(last = true, conflicts_with = "lasting")]
    pub(super) run: Vec<String>,
}

impl Run {
    /// Builds the station's configuration.
    ///
    /// # Errors
    /// If a radio is not in the catalogue. Contradictory values are detected when the station is created.
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
