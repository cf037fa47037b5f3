//! The plan of an instance: its options and its device, checked before any change.

use super::arguments::{self, RunArguments};
use super::clamp::Clamp;
use super::file_access::FileAccess;
use super::metrics;
use super::qdisc::{self, Bucket, Device, Former};
use super::state::{Place, lock};
use crate::error::{LiveError, Result, say, tell};
use crate::input;
use crate::netlink::Socket;
use crate::tape::LinkSetup;
use netlull_mechanism::link;
use netlull_power::PowerModel;
use netlull_text::{Change, Error, Text};
use netlull_units::{Bytes, Duration};
use serde_json::{Value, json};
use std::path::Path;

/// The checked plan of an instance.
pub(super) struct Plan {
    pub(super) device: Device,
    pub(super) back: Device,
    pub(super) bucket: Bucket,
    pub(super) former: Former,
    pub(super) mechanism: LinkSetup,
    pub(super) power: PowerModel,
}

/// The parameters of a mechanism, and the file that they come from.
struct Config {
    kind: &'static link::Kind,
    document: Value,
    file: Option<(String, String)>,
    /// The paths of `--set`, whose values are not the file's.
    set: Vec<String>,
}

impl Config {
    /// The text of an error, with its place in the file.
    fn named(&self, error: Error) -> LiveError {
        let text = self.file.as_ref().map(|(origin, text)| Text { origin, text });
        let is_set = self.set.iter().any(|path| error.field.starts_with(path.as_str()));
        let place = if is_set { None } else { text.and_then(|text| text.place(&error.field)) };
        LiveError::input(Error { place, ..error })
    }
}

/// The mechanism, named by an option or by the file, and its parameters.
fn read_config(arguments: &RunArguments, access: FileAccess<'_>) -> Result<Config> {
    let (mut document, mut file, mut set) = (json!({}), None, Vec::new());
    if let Some(path) = &arguments.config {
        let path = access.readable(path)?;
        let (origin, text) = (path.display().to_string(), input::read(&path)?);
        document = Text { origin: &origin, text: &text }.parse().map_err(LiveError::input)?;
        file = Some((origin, text));
    }
    for setting in &arguments.set {
        let change = Change::parse(setting).map_err(LiveError::input)?;
        change.apply(&mut document).map_err(LiveError::input)?;
        set.push(change.path);
    }
    let written = document.get("kind").map(|kind| match kind.as_str() {
        Some(name) => arguments::mechanism_kind(name),
        None => {
            Err(LiveError::input(format!("kind is {kind}; expected one of {}", arguments::mechanisms().join(", "))))
        }
    });
    let written = written.transpose()?;
    let named = arguments.mechanism.as_deref().map(arguments::mechanism_kind).transpose()?;
    let kind = match (named, written) {
        (Some(named), Some(written)) if named.name != written.name => {
            let (named, written) = (named.name, written.name);
            return Err(LiveError::input(format!("mechanism is {named}; expected {written}, as in the configuration")));
        }
        (Some(kind), _) | (None, Some(kind)) => kind,
        (None, None) => {
            return Err(LiveError::input("mechanism is not given; expected --mechanism, or kind in --config"));
        }
    };
    Ok(Config { kind, document, file, set })
}

/// The checked options.
struct Options {
    bucket: Bucket,
    mechanism: LinkSetup,
    power: PowerModel,
}

impl Options {
    /// Checks all options for a device. Nothing is changed, and only the configuration is opened.
    fn check(arguments: &RunArguments, device: &Device, access: FileAccess<'_>) -> Result<Self> {
        let (shortest, longest) = (Duration::from_millis(1), Duration::from_millis(100));
        if arguments.period < shortest || arguments.period > longest {
            return Err(LiveError::input(format!("loop is {}; expected {shortest} to {longest}", arguments.period)));
        }
        let bucket = Bucket::new(arguments.rate, arguments.buffer, device.mtu, device.link_header)?;
        let config = read_config(arguments, access)?;
        let mtu = Bytes::new(u64::from(device.mtu));
        let link = link::Context { buffer: Some(arguments.buffer), ..link::Context::new(arguments.rate, mtu) };
        let read = arguments::mechanism(config.kind, config.document.clone(), arguments.buffer, link);
        let mechanism = read.map_err(|error| config.named(error))?;
        // The machines check the other rates: none exceeds the link's, and an initial rate is among those they choose.
        if let Some((field, rate)) = mechanism.lowest_rate() {
            qdisc::check_rate(field, rate)?;
        }
        let mechanism = LinkSetup { mechanism, link, naps: None };
        let power = PowerModel::by_name(&arguments.power).ok_or_else(|| {
            let names = PowerModel::names(", ");
            LiveError::input(format!("power is \"{}\"; expected one of {names}", arguments.power))
        })?;
        let power = power.of_speed(arguments.rate);
        if let Some(address) = arguments.metrics {
            metrics::check(address)?;
        }
        if let Some(file) = &arguments.record {
            access.check_record(file)?;
        }
        access.check_state(&arguments.state)?;
        Ok(Self { bucket, mechanism, power })
    }
}

/// Plans an instance that starts now.
///
/// # Errors
/// If an option is invalid, a device does not exist, or its queue could not be restored later.
pub(super) fn plan(arguments: &RunArguments, socket: &mut Socket) -> Result<Plan> {
    let device = Device::find(socket, &arguments.dev)?;
    let back = match &arguments.ack_dev {
        Some(name) => Device::find(socket, name)?,
        None => device.clone(),
    };
    let Options { bucket, mechanism, power } = Options::check(arguments, &device, FileAccess::Here)?;
    let former = qdisc::former(socket, &device)?;
    Ok(Plan { device, back, bucket, former, mechanism, power })
}

/// Checks the options of a unit's instance. A missing device, as at boot, is no error.
///
/// # Errors
/// The errors of [`plan`], or a file that the unit may not read or write.
pub(super) fn check_for_unit(arguments: &RunArguments, root: &Path) -> Result<()> {
    let mut socket = Socket::open()?;
    let mut look = |name: &str| -> Result<Option<Device>> {
        // The devices of another system differ from those of this one.
        let found = if root == Path::new("/") { Device::look(&mut socket, name)? } else { None };
        if found.is_none() {
            say(format_args!("{name} does not exist here; options are checked as for Ethernet with an MTU of 1500 B"));
        }
        Ok(found)
    };
    let device = look(&arguments.dev)?;
    if let Some(name) = &arguments.ack_dev {
        look(name)?;
    }
    let there = device.as_ref().cloned().unwrap_or_else(|| Device::ethernet(&arguments.dev));
    Options::check(arguments, &there, FileAccess::Unit { root })?;
    if let Some(device) = device {
        qdisc::former(&mut socket, &device)?;
    }
    Ok(())
}

/// Returns true if the mechanism needs the eBPF programs.
pub(super) fn needs_programs(setup: &LinkSetup) -> bool {
    setup.mechanism.reads_segments()
}

/// Prints the planned changes.
///
/// # Errors
/// If the kernel rejects the programs.
pub(super) fn tell_plan(arguments: &RunArguments, plan: &Plan) -> Result<()> {
    if needs_programs(&plan.mechanism) {
        Clamp::check(&plan.device, &plan.back)?;
    }
    let Plan { device, back, bucket, former, .. } = plan;
    let mechanism = plan.mechanism.mechanism.name();
    let holder = lock(device.index, &device.name)?.holder()?;
    if arguments.json {
        return tell(json!({
            "dry_run": true,
            "device": device.name,
            "driven": holder.is_some(),
            "driven_by": holder.and_then(|holder| holder.pid),
            "ack_device": back.name,
            "former_qdisc": former.kind,
            "rate": bucket.rate.to_string(),
            "burst_bytes": bucket.burst,
            "limit_bytes": bucket.limit,
            "mechanism": mechanism,
            "programs": needs_programs(&plan.mechanism),
            "loop": arguments.period.to_string(),
            "state": arguments.state,
            "metrics": arguments.metrics,
        }));
    }
    let (name, rate, limit, burst) = (&device.name, bucket.rate, bucket.limit, bucket.burst);
    let (former, period) = (&former.kind, arguments.period);
    if let Some(holder) = holder {
        tell(format_args!("{name}: {holder} controls the device; a second instance would be refused"))?;
    }
    tell(format_args!(
        "{name}: would replace the root qdisc {former} by tbf 6e6c: {rate}, limit {limit} B, burst {burst} B"
    ))?;
    if needs_programs(&plan.mechanism) {
        tell(format_args!("{name}: would attach the eBPF program forward to the egress; the kernel accepts it"))?;
        tell(format_args!(
            "{}: would attach the eBPF program backward to the ingress; the kernel accepts it",
            back.name
        ))?;
    }
    tell(format_args!("{name}: would run {mechanism} every {period}, with a watch process"))?;
    tell(format_args!("{name}: would write {}", Place::new(&arguments.state, name)?.saved().display()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_the_file_has_a_place_and_one_of_an_option_has_none() {
        let file = Some(("g.toml".to_owned(), "beta = \"1 Mb/s\"\ntarget = \"0 B\"".to_owned()));
        let kind = arguments::mechanism_kind("awm").unwrap();
        let mut config = Config { kind, document: json!({}), file, set: Vec::new() };
        let wrong = || Error::new("target", "is 0 B");
        assert_eq!(config.named(wrong()).to_string(), "g.toml, line 2, column 10: target: is 0 B");
        config.set.push("target".to_owned());
        assert_eq!(config.named(wrong()).to_string(), "target: is 0 B");
    }
}
