//! The arguments of `netlulld client`.

use crate::error::{LiveError, Result};
use crate::station::{Asleep, QUIET, StationConfig, live_shaper};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use netlull_mechanism::radio::ShaperConfig;
use netlull_mechanism::station;
use netlull_network::outcome::NamedRadio;
use netlull_power::RadioPower;
use netlull_text::Change;
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
    /// Downloads each URL with eager acknowledgements and with the shaper in turn, and compares energy x delay.
    Compare(Compare),
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

#[derive(Clone, Debug, Args)]
pub(super) struct Compare {
    #[command(flatten)]
    pub(super) device: Device,
    /// The rate of the air: the highest rate at which packets arrive.
    #[arg(long, default_value = "11 Mb/s")]
    pub(super) air_rate: BitRate,
    /// The power model of the radio.
    #[arg(long, default_value = RadioPower::DEFAULT)]
    pub(super) radio: String,
    /// The downloads of a URL with each mechanism.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) times: u32,
    /// The URLs, for curl.
    #[arg(required = true, value_name = "URL")]
    pub(super) urls: Vec<String>,
}

/// The name of a radio that is always on.
const ALWAYS_ON: &str = "always-on";
/// The mechanism with different default parameters for real senders.
const SHAPER: &str = "client-shaper";

/// Accepts the names of the mechanisms.
fn mechanism_names() -> PossibleValuesParser {
    let kinds = station::Config::readable().map(|name| name.replace('_', "-"));
    PossibleValuesParser::new(kinds.chain([ALWAYS_ON.to_owned()]))
}

#[derive(Clone, Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub(super) device: Device,
    /// The mechanism that lets the radio sleep. psm and bsd use an access point in this process, which buffers packets.
    #[arg(long, value_parser = mechanism_names(), default_value = SHAPER)]
    pub(super) mechanism: String,
    /// A parameter of the mechanism, named as in a scenario's [station.mechanism]. May be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) set: Vec<String>,
    /// The power model of the radio; may be repeated.
    #[arg(long, default_value = RadioPower::DEFAULT)]
    pub(super) radio: Vec<String>,
    /// The rate of the air: the highest rate at which packets arrive.
    #[arg(long, default_value = "11 Mb/s")]
    pub(super) air_rate: BitRate,
    /// The wake time of the radio. [default: that of the first radio]
    #[arg(long)]
    pub(super) wake: Option<Duration>,
    /// The shaper's margin: the radio wakes earlier by this time than the minimum round-trip time requires.
    #[arg(long, default_value_t = live_shaper().margin)]
    pub(super) margin: Duration,
    /// The time for which unshaped packets keep the radio awake.
    #[arg(long, default_value_t = QUIET)]
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
    /// If a radio is not in the catalogue, or the mechanism does not have the parameters of `--set`. Contradictory
    /// values are detected when the station is created.
    pub(super) fn station(&self) -> Result<StationConfig> {
        let radios: Vec<_> = self.radio.iter().cloned().map(named).collect::<Result<_>>()?;
        let first = radios.first().map_or(Duration::ZERO, |radio| radio.power.wake);
        let wake = self.wake.unwrap_or(first);
        let asleep = if self.drop_asleep { Asleep::Drop } else { Asleep::Deliver };
        let station = StationConfig::new(self.mechanism()?, wake, [self.air_rate; 2]);
        Ok(StationConfig { asleep, quiet: self.quiet, radios, ..station })
    }

    /// The machine that lets the radio sleep; `None` for a radio that is always on.
    fn mechanism(&self) -> Result<Option<station::Config>> {
        let mut document = match (self.mechanism.as_str(), self.set.first()) {
            (ALWAYS_ON, None) => return Ok(None),
            (ALWAYS_ON, Some(set)) => {
                return Err(LiveError::input(format!("--set {set}: expected none: {ALWAYS_ON} has no parameters")));
            }
            (SHAPER, _) => {
                let shaper = ShaperConfig { margin: self.margin, ..live_shaper() };
                serde_json::to_value(station::Config::ClientShaper(shaper)).map_err(LiveError::input)?
            }
            (name, _) => json!({ "kind": name.replace('-', "_") }),
        };
        for setting in &self.set {
            Change::parse(setting).and_then(|change| change.apply(&mut document)).map_err(LiveError::input)?;
        }
        netlull_document::read(&document).map(Some).map_err(LiveError::input)
    }
}

fn named(name: String) -> Result<NamedRadio> {
    let Some(power) = RadioPower::by_name(&name) else {
        let known: Vec<_> = RadioPower::catalogue().iter().map(|radio| radio.name).collect();
        return Err(LiveError::input(format!(
            "--radio: \"{name}\" is not known; expected one of {}",
            known.join(", ")
        )));
    };
    Ok(NamedRadio { name, power })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use clap::Parser;
    use netlull_mechanism::radio::PsmConfig;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn mechanism(options: &[&str]) -> Result<Option<station::Config>> {
        let words = ["netlulld", "run", "--dev", "eth0"].iter().chain(options);
        let Command::Run(run) = Line::try_parse_from(words).unwrap().arguments.command else { panic!("runs") };
        run.station().map(|station| station.mechanism)
    }

    #[test]
    fn parameters_go_over_the_defaults() {
        let psm = PsmConfig { listen_interval: 3, ..PsmConfig::default() };
        let set = ["--mechanism", "psm", "--set", "listen_interval=3"];
        assert_eq!(mechanism(&set).unwrap(), Some(station::Config::Psm(psm)));
        let shaper = |shaper| Some(station::Config::ClientShaper(shaper));
        assert_eq!(mechanism(&[]).unwrap(), shaper(live_shaper()));
        let growth = ShaperConfig { growth: 2.0, margin: Duration::from_millis(3), ..live_shaper() };
        assert_eq!(mechanism(&["--set", "growth=2.0", "--margin", "3 ms"]).unwrap(), shaper(growth));
        assert_eq!(mechanism(&["--mechanism", "always-on"]).unwrap(), None);
    }

    #[test]
    fn wrong_parameters_are_named() {
        let why = |options: &[&str]| mechanism(options).unwrap_err().to_string();
        let period = ["--mechanism", "psm", "--set", "access_point.beacon_period=1 km"];
        assert!(why(&period).starts_with("access_point.beacon_period: \"1 km\" has the unit"), "{}", why(&period));
        assert!(why(&["--set", "grow=2"]).starts_with("grow: is unknown; did you mean "));
        let always_on = ["--mechanism", "always-on", "--set", "growth=2"];
        assert_eq!(why(&always_on), "--set growth=2: expected none: always-on has no parameters");
    }
}
