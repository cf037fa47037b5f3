//! `option NAME VALUE`: the endpoint's configuration.

use super::{parse_number, parse_seconds};
use netlull_tcp::{
    Algorithm, Config, DelayedAck, DuplicateAck, Ecn, FastRetransmitTimer, FullAck, Growth, HandshakeRtt, Increase,
    InitialWindow, LossRecovery, PartialAckTimer, Reading, RepeatedTimeout, RttClock, RttSampling, SackDetection,
    SsthreshFrom, TimeoutFlight, WindowReduction,
};
use netlull_units::Bytes;

/// What a script starts from: the defaults, which follow the RFCs, with segments of 1000 bytes without options, each
/// acknowledged at once, and a handshake that takes no time and is no round-trip sample.
pub fn base() -> Config {
    Config {
        mss: 1000,
        timestamps: false,
        window_scaling: false,
        delayed_ack: DelayedAck::Off,
        handshake_rtt: HandshakeRtt::Ignored,
        initial_window: InitialWindow::Segments(10),
        ..Config::default()
    }
}

/// The entry of `choices` with that name.
fn choose<T: Copy>(value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let names: Vec<&str> = choices.iter().map(|choice| choice.0).collect();
    let found = choices.iter().find(|choice| choice.0 == value).map(|choice| choice.1);
    found.ok_or_else(|| format!("`{value}`: expected one of {}", names.join(", ")))
}

fn on_off(value: &str) -> Result<bool, String> {
    choose(value, &[("on", true), ("off", false)])
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
        "receive_buffer" => config.receive_buffer = Bytes::new(parse_number(value)?),
        "delayed_ack" if value == "off" => config.delayed_ack = DelayedAck::Off,
        "delayed_ack" => config.delayed_ack = DelayedAck::EverySecond { timeout: parse_seconds(value)? },
        "timestamp_granularity" => config.timestamp_granularity = parse_seconds(value)?,
        "initial_rto" => config.initial_rto = parse_seconds(value)?,
        "min_rto" => config.min_rto = parse_seconds(value)?,
        "max_rto" => config.max_rto = parse_seconds(value)?,
        "rtt_granularity" => config.rtt_clock = RttClock::Fine { granularity: parse_seconds(value)? },
        "initial_window" if value == "rfc6928" => config.initial_window = InitialWindow::Rfc6928,
        "initial_window" => config.initial_window = InitialWindow::Segments(parse_number(value)?),
        "initial_ssthresh" => config.initial_ssthresh = Some(Bytes::new(parse_number(value)?)),
        "byte_counting" => config.increase = Increase::ByteCounting { limit: parse_number(value)? },
        "duplicate_ack_threshold" => config.duplicate_ack_threshold = parse_number(value)?,
        "time_wait" => config.time_wait = parse_seconds(value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn apply_switch(config: &mut Config, name: &str, value: &str) -> Result<bool, String> {
    let field = match name {
        "window_scaling" => &mut config.window_scaling,
        "timestamps" => &mut config.timestamps,
        "idle_restart" => &mut config.idle_restart,
        "limited_transmit" => &mut config.limited_transmit,
        "nagle" => &mut config.nagle,
        "hystart" => &mut config.hystart,
        _ => return Ok(false),
    };
    *field = on_off(value)?;
    Ok(true)
}

fn apply_choice(config: &mut Config, name: &str, value: &str) -> Result<bool, String> {
    match name {
        "congestion_control" => config.congestion_control = algorithm(value)?,
        "loss_recovery" => config.loss_recovery = loss_recovery(value)?,
        "sack_detection" => {
            let choices = [("rfc6675", SackDetection::Rfc6675), ("forward", SackDetection::Forward)];
            config.sack_detection = choose(value, &choices)?;
        }
        "window_reduction" => {
            use WindowReduction as W;
            let choices =
                [("immediate", W::Immediate), ("proportional", W::Proportional), ("rate_halving", W::RateHalving)];
            config.window_reduction = choose(value, &choices)?;
        }
        "ecn" => config.ecn = choose(value, &[("off", Ecn::Off), ("classic", Ecn::Classic), ("dctcp", Ecn::Dctcp)])?,
        "reading" => {
            config.reading = choose(value, &[("immediate", Reading::Immediate), ("on_demand", Reading::OnDemand)])?;
        }
        "growth" => {
            config.growth = choose(value, &[("always", Growth::Always), ("when_limited", Growth::WhenLimited)])?;
        }
        "handshake_rtt" => {
            let choices = [("sampled", HandshakeRtt::Sampled), ("ignored", HandshakeRtt::Ignored)];
            config.handshake_rtt = choose(value, &choices)?;
        }
        "rtt_sampling" => {
            let choices = [("once_per_window", RttSampling::OncePerWindow), ("every_ack", RttSampling::EveryAck)];
            config.rtt_sampling = choose(value, &choices)?;
        }
        _ => return apply_recovery_choice(config, name, value),
    }
    Ok(true)
}

fn apply_recovery_choice(config: &mut Config, name: &str, value: &str) -> Result<bool, String> {
    match name {
        "full_ack" => {
            use FullAck as F;
            let choices = [("flight_limited", F::FlightLimited), ("ssthresh", F::Ssthresh), ("deflated", F::Deflated)];
            config.full_ack = choose(value, &choices)?;
        }
        "partial_ack_timer" => {
            use PartialAckTimer as P;
            config.partial_ack_timer =
                choose(value, &[("impatient", P::Impatient), ("slow_but_steady", P::SlowButSteady)])?;
        }
        "fast_retransmit_timer" => {
            use FastRetransmitTimer as T;
            config.fast_retransmit_timer = choose(value, &[("keep", T::Keep), ("restart", T::Restart)])?;
        }
        "duplicate_ack" => {
            use DuplicateAck as D;
            config.duplicate_ack = choose(value, &[("same_window", D::SameWindow), ("any_window", D::AnyWindow)])?;
        }
        "ssthresh_from" => {
            config.ssthresh_from =
                choose(value, &[("flight", SsthreshFrom::Flight), ("window", SsthreshFrom::Window)])?;
        }
        "timeout_flight" => {
            use TimeoutFlight as T;
            config.timeout_flight = choose(value, &[("deflated", T::Deflated), ("cumulative", T::Cumulative)])?;
        }
        "repeated_timeout" => {
            use RepeatedTimeout as R;
            config.repeated_timeout = choose(value, &[("hold", R::Hold), ("recompute", R::Recompute)])?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn loss_recovery(value: &str) -> Result<LossRecovery, String> {
    use LossRecovery as L;
    let choices =
        [("tahoe", L::Tahoe), ("reno", L::Reno), ("new_reno", L::NewReno), ("sack", L::Sack), ("rack", L::Rack)];
    choose(value, &choices)
}

fn algorithm(value: &str) -> Result<Algorithm, String> {
    Algorithm::by_name(value).ok_or_else(|| format!("no congestion control `{value}`"))
}
