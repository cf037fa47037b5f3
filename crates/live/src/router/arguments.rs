//! The command line of `netlulld router`.

use super::document;
use super::file_access::absolute;
use crate::lock::DIRECTORY;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};
use netlull_units::{BitRate, Bytes, Duration};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Accepts the device names of the kernel: 1 to 15 bytes without white space, "/" and ":"; not "." or "..".
fn device_name(text: &str) -> Result<String, String> {
    // The kernel's white space includes the no-break space of Latin-1.
    let may_have = |byte: u8| !matches!(byte, b'/' | b':' | b' ' | 9..=13 | 0xa0);
    if (1..=15).contains(&text.len()) && text != "." && text != ".." && text.bytes().all(may_have) {
        return Ok(text.to_owned());
    }
    Err("expected 1 to 15 bytes without white space, \"/\" and \":\"; neither \".\" nor \"..\"".to_owned())
}

/// A gateway that clamps windows and controls the rate of a link.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) task: Task,
}

#[derive(Debug, Subcommand)]
pub(super) enum Task {
    /// Controls a device until SIGINT or SIGTERM.
    Run(RunArguments),
    /// Shows the state of a device's instance.
    Status(StatusArguments),
    /// Undoes the changes that a dead instance has left; does nothing if there are none.
    Restore(DeviceArguments),
    /// Writes a systemd unit that runs with these options.
    Install(InstallArguments),
    /// Removes the systemd unit of a device.
    Uninstall(UninstallArguments),
    /// The watch process of an instance, started by the instance.
    #[command(hide = true)]
    Watch(DeviceArguments),
}

#[derive(Debug, Args)]
pub(super) struct DeviceArguments {
    /// The device that leads to the receivers.
    #[arg(long, value_name = "DEVICE", value_parser = device_name)]
    pub(super) dev: String,
    /// The directory of the instances' state.
    #[arg(long, value_name = "DIRECTORY", default_value = DIRECTORY)]
    pub(super) state: PathBuf,
}

/// The options of an instance.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// The device that leads to the receivers: data leaves through it.
    #[arg(long, value_name = "DEVICE", value_parser = device_name)]
    pub(super) dev: String,
    /// The device through which acknowledgements arrive; by default the same.
    #[arg(long, value_name = "DEVICE", value_parser = device_name)]
    pub(super) ack_dev: Option<String>,
    /// The link's highest rate, such as "20 Mb/s", headers of the link layer included.
    #[arg(long)]
    pub(super) rate: BitRate,
    /// The size of the link's buffer, such as "150 kB".
    #[arg(long)]
    pub(super) buffer: Bytes,
    /// The mechanism; by default the `kind` of the configuration.
    #[arg(long, value_parser = mechanism_names())]
    pub(super) mechanism: Option<String>,
    /// A TOML file with the mechanism's parameters, named as in a scenario's [link.controller].
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// A parameter of the mechanism; overrides the file. May be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) set: Vec<String>,
    /// The period of the loop that reads the queue and runs the mechanism.
    #[arg(long = "loop", value_name = "PERIOD", default_value = "5 ms")]
    pub(super) period: Duration,
    /// The power model for the energy figures.
    #[arg(long, value_name = "MODEL", default_value = "fs")]
    pub(super) power: String,
    /// Records the mechanism's events, for `netlulld replay`.
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Serves metrics for Prometheus at this loopback address.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(super) metrics: Option<SocketAddr>,
    /// Prints the planned changes without making them.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Prints JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// The directory of the instances' state.
    #[arg(long, value_name = "DIRECTORY", default_value = DIRECTORY)]
    pub(super) state: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    #[command(flatten)]
    pub(super) device: DeviceArguments,
    /// Prints JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct InstallArguments {
    #[command(flatten)]
    pub(super) run: RunArguments,
    /// The system's root directory.
    #[arg(long, value_name = "DIRECTORY", default_value = "/")]
    pub(super) root: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct UninstallArguments {
    #[command(flatten)]
    pub(super) device: DeviceArguments,
    /// The system's root directory.
    #[arg(long, value_name = "DIRECTORY", default_value = "/")]
    pub(super) root: PathBuf,
    /// Prints the planned changes without making them.
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl RunArguments {
    /// The options as command-line words, with absolute file paths.
    pub(super) fn words(&self) -> Vec<String> {
        let absolute = |path: &PathBuf| absolute(path).display().to_string();
        let mut words = Vec::new();
        let mut add = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        add("dev", self.dev.clone());
        if let Some(device) = &self.ack_dev {
            add("ack-dev", device.clone());
        }
        add("rate", self.rate.to_string());
        add("buffer", self.buffer.to_string());
        if let Some(name) = &self.mechanism {
            add("mechanism", name.clone());
        }
        if let Some(file) = &self.config {
            add("config", absolute(file));
        }
        for assignment in &self.set {
            add("set", assignment.clone());
        }
        add("loop", self.period.to_string());
        add("power", self.power.clone());
        if let Some(file) = &self.record {
            add("record", absolute(file));
        }
        if let Some(address) = &self.metrics {
            add("metrics", address.to_string());
        }
        add("state", absolute(&self.state));
        if self.json {
            words.push("--json".to_owned());
        }
        words
    }
}

/// Accepts the names of the mechanisms, with hyphens or with the underscores of scenarios.
fn mechanism_names() -> PossibleValuesParser {
    let names = document::names().into_iter();
    PossibleValuesParser::new(names.map(|name| PossibleValue::new(name.replace('_', "-")).alias(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_devices_name_is_one_that_the_kernel_takes() {
        for name in ["eth0", "a", "wg-home.7", "...", "fifteen_bytes_x", "%n$HOME"] {
            assert_eq!(device_name(name).as_deref(), Ok(name));
        }
        for name in ["", ".", "..", "sixteen_bytes_xx", "a/b", "a:b", "a b", "a\tb", "a\nb", "\u{e0}"] {
            assert!(device_name(name).is_err(), "{name}");
        }
    }
}
