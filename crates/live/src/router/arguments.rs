//! `netlulld router` as it is typed.

use super::document;
use super::file_access::absolute;
use super::state::DIRECTORY;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};
use netlull_units::{BitRate, Bytes, Duration};
use std::net::SocketAddr;
use std::path::PathBuf;

/// A name that the kernel lets a device have: 1 to 15 bytes that are neither white space nor "/" nor ":"; not "." nor "..".
fn device_name(text: &str) -> Result<String, String> {
    // As the kernel counts white space: with the no-break space of Latin-1.
    let may_have = |byte: u8| !matches!(byte, b'/' | b':' | b' ' | 9..=13 | 0xa0);
    if (1..=15).contains(&text.len()) && text != "." && text != ".." && text.bytes().all(may_have) {
        return Ok(text.to_owned());
    }
    Err("expected 1 to 15 bytes without white space, \"/\" and \":\"; neither \".\" nor \"..\"".to_owned())
}

/// A gateway: windows clamped, the rate of a link driven.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) task: Task,
}

#[derive(Debug, Subcommand)]
pub(super) enum Task {
    /// Drive a device until SIGINT or SIGTERM.
    Run(RunArguments),
    /// What the instance of a device does.
    Status(StatusArguments),
    /// Undo what an instance that is no more has left; nothing happens if it has left nothing.
    Restore(DeviceArguments),
    /// Write a systemd unit that runs with these options.
    Install(InstallArguments),
    /// Remove the systemd unit of a device.
    Uninstall(UninstallArguments),
    /// The watch over an instance, which starts it.
    #[command(hide = true)]
    Watch(DeviceArguments),
}

#[derive(Debug, Args)]
pub(super) struct DeviceArguments {
    /// The device that leads to the receivers.
    #[arg(long, value_name = "DEVICE", value_parser = device_name)]
    pub(super) dev: String,
    /// Where instances leave their state.
    #[arg(long, value_name = "DIRECTORY", default_value = DIRECTORY)]
    pub(super) state: PathBuf,
}

/// What an instance is told.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// The device that leads to the receivers: data leaves by it.
    #[arg(long, value_name = "DEVICE", value_parser = device_name)]
    pub(super) dev: String,
    /// The device by which acknowledgements come in; default the same.
    #[arg(long, value_name = "DEVICE", value_parser = device_name)]
    pub(super) ack_dev: Option<String>,
    /// The link's highest rate, such as "20 Mb/s", headers of the link layer included.
    #[arg(long)]
    pub(super) rate: BitRate,
    /// The size of its buffer, such as "150 kB".
    #[arg(long)]
    pub(super) buffer: Bytes,
    /// The mechanism; default the `kind` of the configuration.
    #[arg(long, value_parser = mechanism_names())]
    pub(super) mechanism: Option<String>,
    /// A TOML file with the mechanism's parameters, by the names of a scenario's [link.controller].
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// A parameter of the mechanism, over what the file says; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) set: Vec<String>,
    /// How often the queue is read and the mechanism acts.
    #[arg(long = "loop", value_name = "PERIOD", default_value = "5 ms")]
    pub(super) period: Duration,
    /// The power model by which energy is counted.
    #[arg(long, value_name = "MODEL", default_value = "fs")]
    pub(super) power: String,
    /// Record the mechanism's events, for `netlulld replay`.
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Serve metrics for Prometheus at this address of loopback.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(super) metrics: Option<SocketAddr>,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Speak JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// Where instances leave their state.
    #[arg(long, value_name = "DIRECTORY", default_value = DIRECTORY)]
    pub(super) state: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    #[command(flatten)]
    pub(super) device: DeviceArguments,
    /// Speak JSON.
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
    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl RunArguments {
    /// The options as they would be typed again; files by their absolute paths.
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

/// Accepts the names of the mechanisms, each with hyphens or as scenarios have it.
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
