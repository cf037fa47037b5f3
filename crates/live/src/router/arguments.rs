//! The command line of `netlulld router`, and a mechanism's parameters as users write them: the names and units of a
//! scenario's `[link.controller]`.

use super::file_access::absolute;
use crate::error::{LiveError, Result};
use crate::lock::DIRECTORY;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};
use netlull_mechanism::link;
use netlull_text::Error;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Accepts the device names of the kernel: 1 to 15 bytes without white space, "/" and ":"; not "." or "..".
fn device_name(text: &str) -> std::result::Result<String, String> {
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
    let names = mechanisms().into_iter();
    PossibleValuesParser::new(names.map(|name| PossibleValue::new(name.replace('_', "-")).alias(name)))
}

/// The names of the mechanisms, as in scenarios and on the command line. A router cannot stop its link.
pub(super) fn mechanisms() -> Vec<&'static str> {
    let works = |name: &&str| link::Config::kind(name).is_some_and(|kind| !kind.properties.stops);
    link::Config::readable().filter(works).collect()
}

/// Finds a mechanism's kind by its name; hyphens are accepted in place of underscores.
///
/// # Errors
/// If no mechanism has this name.
pub(super) fn mechanism_kind(name: &str) -> Result<&'static link::Kind> {
    let kind = name.replace('-', "_");
    let found = link::Config::kind(&kind);
    found.filter(|kind| !kind.properties.stops).ok_or_else(|| {
        let known = mechanisms();
        if found.is_some() {
            let message = "stops its link, but a router sends over a device that it cannot put to sleep";
            return LiveError::input(format!(
                "mechanism is \"{name}\", which {message}; expected one of {}",
                known.join(", ")
            ));
        }
        let hint = netlull_document::hint_of_old(&kind, &known).map(|hint| format!("; {hint}")).unwrap_or_default();
        LiveError::input(format!("mechanism is \"{name}\"{hint}; expected one of {}", known.join(", ")))
    })
}

/// Builds a mechanism from its table of parameters. The defaults are those of scenarios, with one exception:
/// scenarios require `target`, whose default here is half of the buffer.
///
/// # Errors
/// If a name is unknown, or a value has no unit or is out of range.
pub fn mechanism(
    kind: &link::Kind,
    mut document: Value,
    buffer: Bytes,
    link: link::Context,
) -> std::result::Result<link::Config, Error> {
    if let Some(table) = document.as_object_mut() {
        table.remove("kind");
        if kind.fields.is_some_and(|fields| fields().contains(&"target")) {
            let half = || Value::String(Bytes::new(buffer.as_u64() / 2).to_string());
            table.entry("target").or_insert_with(half);
        }
    }
    let mechanism = (kind.read)(&document)?;
    mechanism.build(link, Instant::ZERO)?;
    Ok(mechanism)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use clap::builder::TypedValueParser;
    use netlull_text::{Change, Text};
    use netlull_units::BitRate;
    use serde_json::json;

    #[test]
    fn a_devices_name_is_one_that_the_kernel_takes() {
        for name in ["eth0", "a", "wg-home.7", "...", "fifteen_bytes_x", "%n$HOME"] {
            assert_eq!(device_name(name).as_deref(), Ok(name));
        }
        for name in ["", ".", "..", "sixteen_bytes_xx", "a/b", "a:b", "a b", "a\tb", "a\nb", "\u{e0}"] {
            assert!(device_name(name).is_err(), "{name}");
        }
    }

    const BUFFER: Bytes = Bytes::new(150_000);
    const LINK: link::Context = link::Context::new(BitRate::from_mbps(20), Bytes::new(1500));

    fn written(name: &str, text: &str) -> std::result::Result<Value, Error> {
        let document = Text { origin: "g.toml", text }.parse().unwrap();
        let mechanism = mechanism(mechanism_kind(name).unwrap(), document, BUFFER, LINK)?;
        Ok(serde_json::to_value(mechanism).unwrap())
    }

    #[test]
    fn only_mechanisms_that_this_program_reads_are_offered() {
        netlull_plugin::register();
        let names: Vec<String> =
            mechanism_names().possible_values().unwrap().map(|one| one.get_name().into()).collect();
        assert!(names.contains(&"practra".into()) && names.contains(&"wasm".into()), "{names:?}");
        assert!(!names.contains(&"python".into()), "{names:?}");
        // A router cannot stop its link.
        assert!(!names.contains(&"lpi".into()), "{names:?}");
        let refused = mechanism_kind("lpi").unwrap_err().to_string();
        assert!(refused.contains("cannot put to sleep; expected one of practra"), "{refused}");
    }

    #[test]
    fn awm_needs_nothing_but_its_link() {
        let awm = written("awm", "").unwrap();
        assert_eq!((&awm["kind"], &awm["target"], &awm["beta"]), (&json!("awm"), &json!("75000 B"), &json!("10 kb/s")));
    }

    #[test]
    fn a_scenarios_controller_is_understood() {
        let text = r#"
            kind = "g_router"
            target = "50 packets"
            min_rate = "1 Mb/s"
            beta = "1 Mb/s"
            round_trip = { kind = "timestamps", initial = "200 ms" }
        "#;
        let g_router = written("g-router", text).unwrap();
        assert_eq!(g_router["target"], json!("50 packets"));
        assert_eq!(g_router["round_trip"], json!({ "kind": "timestamps", "initial": "200 ms" }));
        let rates = r#"rates = { from = "1 Mb/s", to = "20 Mb/s", step = "1 Mb/s" }"#;
        let practra = format!("{rates}\ntransition = \"2 ms\"\nmin_interval = \"16 ms\"\ndelay_bound = \"40 ms\"");
        assert_eq!(written("practra", &practra).unwrap()["forecast_weight"], json!(0.25));
        assert_eq!(
            written("earth", &format!("{rates}\nthreshold = \"90 kB\"")).unwrap()["min_interval"],
            json!("100 ms")
        );
    }

    #[test]
    fn lull_needs_its_rates_and_its_transition() {
        let rates = r#"rates = { from = "1 Mb/s", to = "20 Mb/s", step = "1 Mb/s" }"#;
        let lull = written("lull", &format!("{rates}\ntransition = \"5 ms\"")).unwrap();
        assert_eq!((&lull["kind"], &lull["slowdown"], &lull["headroom"]), (&json!("lull"), &json!(0.05), &json!(0.1)));
        assert_eq!(lull["transition"], json!("5 ms"));
        let why = |text: &str| written("lull", text).unwrap_err().to_string();
        assert!(why(rates).starts_with("transition: is missing; expected a time"));
        assert!(
            why("rates = [\"1 Mb/s\", \"10 Mb/s\"]\ntransition = \"5 ms\"").starts_with("rates: is a set that ends at")
        );
        assert!(why(&format!("{rates}\ntransition = \"5 ms\"\nslowdown = 2.0")).starts_with("slowdown: is 2"));
    }

    #[test]
    fn settings_go_over_the_file() {
        let mut table = json!({ "target": "10 kB" });
        for assignment in ["target=60 kB", "beta=\"2 Mb/s\"", "flows.kind=fixed", "flows.count=4"] {
            Change::parse(assignment).unwrap().apply(&mut table).unwrap();
        }
        let awm =
            serde_json::to_value(mechanism(mechanism_kind("awm").unwrap(), table, BUFFER, LINK).unwrap()).unwrap();
        assert_eq!((&awm["target"], &awm["beta"]), (&json!("60000 B"), &json!("2 Mb/s")));
        assert_eq!(awm["flows"], json!({ "kind": "fixed", "count": 4.0 }));
        assert!(Change::parse("target").is_err());
    }

    #[test]
    fn errors_name_the_field() {
        let why = |name, text: &str| written(name, text).unwrap_err().to_string();
        assert!(why("awm", "tarket = \"1 kB\"").contains("tarket"));
        let both = why("g_router", "min_rat = \"1 Mb/s\"\nmin_rate = \"1 Mb/s\"\nround_trip = { kind = \"printed\" }");
        assert_eq!(both, "\"min_rat\" is unknown; did you mean min_rate or initial_rate?");
        assert!(why("awm", "min_rate = \"1 Mb/s\"").starts_with("\"min_rate\" is unknown; "), "that is C-EARTH's");
        assert!(why("awm", "target = \"1 kilo\"").contains("1 kilo"));
        assert!(why("c_earth", "min_rate = \"1 Mb/s\"").contains("round_trip"));
        assert!(why("awm", "target = \"0 B\"").starts_with("target: is 0 B"));
        let times = "transition = \"2 ms\"\nmin_interval = \"16 ms\"\ndelay_bound = \"40 ms\"";
        let low = why("practra", &format!("rates = [\"1 Mb/s\", \"10 Mb/s\"]\n{times}"));
        assert_eq!(low, "rates: is a set that ends at 10 Mb/s; expected the link's rate, 20 Mb/s, as the highest");
        // As in scenarios, practRA's times are mandatory.
        assert!(why("practra", "rates = [\"20 Mb/s\"]").starts_with("transition: is missing; expected a time"));
        let unknown = mechanism_kind("magic").unwrap_err().to_string();
        assert_eq!(unknown, format!("mechanism is \"magic\"; expected one of {}", mechanisms().join(", ")));
    }
}
