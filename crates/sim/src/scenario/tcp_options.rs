//! From TCP options of the document to TCP's configuration.

use super::document::{PartialAckTimerReading, SsthreshReading, TcpDocument, TcpPreset};
use super::error::ScenarioError;
use netlull_tcp::{Config, PartialAckTimer, SsthreshFrom};
use netlull_units::Bytes;

/// IPv4 and TCP headers without options.
const HEADERS: u64 = 40;
/// The timestamps option with its padding (RFC 7323 appendix A).
const TIMESTAMPS: u64 = 12;

/// The configuration of one flow: its own options over the scenario's over the preset's.
pub(super) fn config(
    scenario: &TcpDocument,
    flow: &TcpDocument,
    field: &str,
    mtu: Bytes,
) -> Result<Config, ScenarioError> {
    let options = merge(scenario, flow);
    // An error names the table that holds the option: the flow's if it stands there, else the scenario's.
    let refused = |option: &str, message: String| {
        let own = serde_json::to_value(flow).is_ok_and(|table| table.get(option).is_some());
        let table = if own { format!("{field}.tcp") } else { "tcp".to_owned() };
        ScenarioError::new(format!("{table}.{option}"), message)
    };
    let mut config = match options.preset {
        None | Some(TcpPreset::Rfc) => Config::default(),
        Some(TcpPreset::Ns2) => Config::ns2(),
    };
    if let Some(name) = &options.congestion_control {
        config.congestion_control = netlull_tcp::by_name(name).ok_or_else(|| {
            let known: Vec<_> = netlull_tcp::catalogue().iter().map(|info| info.name).collect();
            refused("congestion_control", format!("\"{name}\" is unknown; expected one of {}", known.join(", ")))
        })?;
    }
    apply(&mut config, &options);
    config.mss = mss(&options, config.timestamps, mtu).map_err(|message| refused("mss", message))?;
    config.validate().map_err(|error| refused(error.field, format!("is {}; expected {}", error.value, error.expected)))?;
    Ok(config)
}

/// What the flow says, else what the scenario says.
fn merge(scenario: &TcpDocument, flow: &TcpDocument) -> TcpDocument {
    TcpDocument {
        preset: flow.preset.or(scenario.preset),
        congestion_control: flow.congestion_control.clone().or_else(|| scenario.congestion_control.clone()),
        mss: flow.mss.or(scenario.mss),
        initial_window: flow.initial_window.or(scenario.initial_window),
        delayed_ack: flow.delayed_ack.or(scenario.delayed_ack),
        delayed_ack_timeout: flow.delayed_ack_timeout.or(scenario.delayed_ack_timeout),
        timestamps: flow.timestamps.or(scenario.timestamps),
        window_scaling: flow.window_scaling.or(scenario.window_scaling),
        receive_buffer: flow.receive_buffer.or(scenario.receive_buffer),
        limited_transmit: flow.limited_transmit.or(scenario.limited_transmit),
        partial_ack_timer: flow.partial_ack_timer.or(scenario.partial_ack_timer),
        initial_rto: flow.initial_rto.or(scenario.initial_rto),
        min_rto: flow.min_rto.or(scenario.min_rto),
        max_rto: flow.max_rto.or(scenario.max_rto),
        rto_granularity: flow.rto_granularity.or(scenario.rto_granularity),
        ssthresh_from: flow.ssthresh_from.or(scenario.ssthresh_from),
    }
}

/// Overwrites what is given.
fn set<T>(field: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *field = value;
    }
}

fn apply(config: &mut Config, options: &TcpDocument) {
    set(&mut config.initial_window, options.initial_window);
    set(&mut config.delayed_ack, options.delayed_ack);
    set(&mut config.delayed_ack_timeout, options.delayed_ack_timeout.map(|time| time.0));
    set(&mut config.timestamps, options.timestamps);
    set(&mut config.window_scaling, options.window_scaling);
    set(&mut config.receive_buffer, options.receive_buffer.map(|size| size.0));
    set(&mut config.limited_transmit, options.limited_transmit);
    set(
        &mut config.partial_ack_timer,
        options.partial_ack_timer.map(|reading| match reading {
            PartialAckTimerReading::Impatient => PartialAckTimer::Impatient,
            PartialAckTimerReading::SlowButSteady => PartialAckTimer::SlowButSteady,
        }),
    );
    set(&mut config.initial_rto, options.initial_rto.map(|time| time.0));
    set(&mut config.min_rto, options.min_rto.map(|time| time.0));
    set(&mut config.max_rto, options.max_rto.map(|time| time.0));
    set(&mut config.rto_granularity, options.rto_granularity.map(|time| time.0));
    set(
        &mut config.ssthresh_from,
        options.ssthresh_from.map(|reading| match reading {
            SsthreshReading::Flight => SsthreshFrom::Flight,
            SsthreshReading::Window => SsthreshFrom::Window,
        }),
    );
}

/// The segment size, given or from the MTU, and whether it fits the MTU.
fn mss(options: &TcpDocument, timestamps: bool, mtu: Bytes) -> Result<u16, String> {
    let most = mtu.as_u64() - HEADERS - if timestamps { TIMESTAMPS } else { 0 };
    let mss = options.mss.map_or(most, |size| size.0.as_u64());
    match u16::try_from(mss) {
        Ok(mss) if mss > 0 && u64::from(mss) <= most => Ok(mss),
        _ => Err(format!("is {mss} B; expected 1 to {most} B, the MTU less the headers")),
    }
}
