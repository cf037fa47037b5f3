//! `option NAME VALUE`: the endpoint's configuration.

use super::{parse_number, parse_seconds};
use netlull_tcp::{Algorithm, Config, DelayedAck, HandshakeRtt, Increase, InitialWindow, RttClock};
use netlull_units::Bytes;
use serde::de::DeserializeOwned;

/// The configuration at the start of a script.
#[path = "../support/plain.rs"]
mod plain;
pub use plain::plain as base;

/// The value of that name, as in scenarios and in the recipes of packet scripts.
pub fn named<T: DeserializeOwned>(value: &str) -> Result<T, String> {
    serde_json::from_value(value.into()).map_err(|error| error.to_string())
}

fn on_off(value: &str) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(format!("`{other}`: expected one of on, off")),
    }
}

/// Sets one field of `config`.
pub fn apply(config: &mut Config, name: &str, value: &str) -> Result<(), String> {
    if apply_choice(config, name, value)? || apply_switch(config, name, value)? || apply_quantity(config, name, value)?
    {
        return Ok(());
    }
    Err(format!("no option `{name}`"))
}

fn apply_quantity(config: &mut Config, name: &str, value: &str) -> Result<bool, String> {
    match name {
        "mss" => config.mss = parse_number(value)?,
        "receive_buffer" => config.flow_control.receive_buffer = Bytes::new(parse_number(value)?),
        "delayed_ack" if value == "off" => config.acks.delayed_ack = DelayedAck::Off,
        "delayed_ack" => config.acks.delayed_ack = DelayedAck::EverySecond { timeout: parse_seconds(value)? },
        "timestamp_granularity" => config.timestamp_granularity = parse_seconds(value)?,
        "initial_rto" => config.timer.initial_rto = parse_seconds(value)?,
        "min_rto" => config.timer.min_rto = parse_seconds(value)?,
        "max_rto" => config.timer.max_rto = parse_seconds(value)?,
        "rtt_granularity" => config.timer.rtt_clock = RttClock::Fine { granularity: parse_seconds(value)? },
        "initial_window" if value == "rfc6928" => config.cwnd.initial_window = InitialWindow::Rfc6928,
        "initial_window" => config.cwnd.initial_window = InitialWindow::Segments(parse_number(value)?),
        "initial_ssthresh" => config.cwnd.initial_ssthresh = Some(Bytes::new(parse_number(value)?)),
        "byte_counting" => config.cwnd.increase = Increase::ByteCounting { limit: parse_number(value)? },
        "duplicate_ack_threshold" => config.recovery.duplicate_ack_threshold = parse_number(value)?,
        "time_wait" => config.time_wait = parse_seconds(value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn apply_switch(config: &mut Config, name: &str, value: &str) -> Result<bool, String> {
    let field = match name {
        "window_scaling" => &mut config.flow_control.window_scaling,
        "timestamps" => &mut config.timestamps,
        "idle_restart" => &mut config.cwnd.idle_restart,
        "limited_transmit" => &mut config.recovery.limited_transmit,
        "nagle" => &mut config.nagle,
        "hystart" => &mut config.cwnd.hystart,
        _ => return Ok(false),
    };
    *field = on_off(value)?;
    Ok(true)
}

fn apply_choice(config: &mut Config, name: &str, value: &str) -> Result<bool, String> {
    match name {
        "congestion_control" => config.congestion_control = algorithm(value)?,
        "loss_recovery" => config.recovery.loss_recovery = named(value)?,
        "sack_detection" => config.recovery.sack_detection = named(value)?,
        "window_reduction" => config.recovery.window_reduction = named(value)?,
        "undo" => config.recovery.undo = named(value)?,
        "ecn" => config.ecn = named(value)?,
        "reading" => config.flow_control.application_read = named(value)?,
        "growth" => config.cwnd.growth = named(value)?,
        "handshake_rtt" => config.timer.handshake_rtt = named(value)?,
        "rtt_sampling" => config.timer.rtt_sampling = named(value)?,
        "full_ack" => config.recovery.full_ack = named(value)?,
        "partial_ack_timer" => config.recovery.partial_ack_timer = named(value)?,
        "fast_retransmit_timer" => config.recovery.fast_retransmit_timer = named(value)?,
        "duplicate_ack" => config.recovery.duplicate_ack = named(value)?,
        "ssthresh_from" => config.cwnd.ssthresh_from = named(value)?,
        "timeout_flight" => config.recovery.timeout_flight = named(value)?,
        "repeated_timeout" => config.cwnd.repeated_timeout = named(value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn algorithm(value: &str) -> Result<Algorithm, String> {
    Algorithm::by_name(value).ok_or_else(|| format!("no congestion control `{value}`"))
}
