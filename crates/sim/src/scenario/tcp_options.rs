//! From TCP options of the document to TCP's configuration.

use super::document::{
    CwndUnitReading, EcnReading, GrowthReading, LossRecoveryReading, PartialAckTimerReading, SackCompressionReading,
    SackDetectionReading, ShrunkWindowReading, SsthreshReading, TcpDocument, TcpPreset, VegasFlavourReading,
    WindowReductionReading, WindowUpdateReading,
};
use super::error::ScenarioError;
use netlull_tcp::{
    Algorithm, Config, CwndUnit, DelayedAck, Ecn, Growth, InitialWindow, LossRecovery, PartialAckTimer, RttClock,
    SackCompression, SackDetection, ShrunkWindow, SsthreshFrom, VegasBounds, VegasFlavour, WindowReduction,
    WindowUpdate,
};
use netlull_units::{Bytes, Duration};

/// IPv4 and TCP headers without options; the segment size announced does not count options (RFC 6691).
const HEADERS: u64 = 40;
/// Segments of window in the preset `ns2`: ns-2's own default of 20 would be the only limit in every scenario.
const NS2_WINDOW: u32 = 10_000;

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
    let mss = mss(&options, mtu).map_err(|message| refused("mss", message))?;
    let mut config = match options.preset {
        None | Some(TcpPreset::Rfc) => Config { mss, ..Config::default() },
        Some(TcpPreset::Ns2) => Config { mss, ..Config::ns2() }.with_ns2_window(NS2_WINDOW),
        Some(TcpPreset::FreeBsd45) => Config { mss, ..Config::freebsd_4_5() },
        Some(TcpPreset::Linux6) => Config { mss, ..Config::linux_6() },
    };
    if let Some(name) = &options.congestion_control {
        let algorithm = Algorithm::by_name(name).ok_or_else(|| {
            let known: Vec<_> = Algorithm::catalogue().iter().map(|info| info.name).collect();
            refused("congestion_control", format!("\"{name}\" is unknown; expected one of {}", known.join(", ")))
        })?;
        config = match options.preset {
            None | Some(TcpPreset::Rfc | TcpPreset::FreeBsd45) => config.with_algorithm(algorithm),
            Some(TcpPreset::Ns2) => config.with_ns2_agent(algorithm),
            Some(TcpPreset::Linux6) => config.with_linux_6_algorithm(algorithm),
        };
    }
    apply(&mut config, &options);
    config.validate().map_err(|error| {
        let message = error.to_string();
        let message = message.strip_prefix(error.field()).map_or(message.as_str(), str::trim_start).to_owned();
        if error.field() == "mss" && options.mss.is_none() {
            let why = format!("is {} B, which leaves TCP segments of {mss} B; expected more", mtu.as_u64());
            return ScenarioError::new("mtu", format!("{why} ({message})"));
        }
        refused(option_of(error.field()), message)
    })?;
    Ok(config)
}

/// The document's name of an option where TCP's configuration has another.
fn option_of(field: &str) -> &str {
    match field {
        "delayed_ack timeout" => "delayed_ack_timeout",
        "rtt_clock granularity" | "rtt_clock tick" => "rto_granularity",
        other => other,
    }
}

/// What the flow says, else what the scenario says.
fn merge(scenario: &TcpDocument, flow: &TcpDocument) -> TcpDocument {
    TcpDocument {
        preset: flow.preset.or(scenario.preset),
        congestion_control: flow.congestion_control.clone().or_else(|| scenario.congestion_control.clone()),
        loss_recovery: flow.loss_recovery.or(scenario.loss_recovery),
        sack_detection: flow.sack_detection.or(scenario.sack_detection),
        window_reduction: flow.window_reduction.or(scenario.window_reduction),
        ecn: flow.ecn.or(scenario.ecn),
        hystart: flow.hystart.or(scenario.hystart),
        cwnd_unit: flow.cwnd_unit.or(scenario.cwnd_unit),
        vegas: flow.vegas.or(scenario.vegas),
        vegas_flavour: flow.vegas_flavour.or(scenario.vegas_flavour),
        mss: flow.mss.or(scenario.mss),
        initial_window: flow.initial_window.or(scenario.initial_window),
        initial_ssthresh: flow.initial_ssthresh.or(scenario.initial_ssthresh),
        delayed_ack: flow.delayed_ack.or(scenario.delayed_ack),
        delayed_ack_timeout: flow.delayed_ack_timeout.or(scenario.delayed_ack_timeout),
        quick_acks: flow.quick_acks.or(scenario.quick_acks),
        sack_compression: flow.sack_compression.or(scenario.sack_compression),
        timestamps: flow.timestamps.or(scenario.timestamps),
        window_scaling: flow.window_scaling.or(scenario.window_scaling),
        send_buffer: flow.send_buffer.or(scenario.send_buffer),
        receive_buffer: flow.receive_buffer.or(scenario.receive_buffer),
        limited_transmit: flow.limited_transmit.or(scenario.limited_transmit),
        partial_ack_timer: flow.partial_ack_timer.or(scenario.partial_ack_timer),
        initial_rto: flow.initial_rto.or(scenario.initial_rto),
        min_rto: flow.min_rto.or(scenario.min_rto),
        max_rto: flow.max_rto.or(scenario.max_rto),
        rto_granularity: flow.rto_granularity.or(scenario.rto_granularity),
        ssthresh_from: flow.ssthresh_from.or(scenario.ssthresh_from),
        growth: flow.growth.or(scenario.growth),
        shrunk_window: flow.shrunk_window.or(scenario.shrunk_window),
        window_update: flow.window_update.or(scenario.window_update),
    }
}

/// Overwrites what is given.
fn set<T>(field: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *field = value;
    }
}

fn apply(config: &mut Config, options: &TcpDocument) {
    apply_recovery(config, options);
    apply_windows(config, options);
    set(&mut config.initial_window, options.initial_window.map(InitialWindow::Segments));
    if let Some(size) = options.initial_ssthresh {
        config.initial_ssthresh = Some(size);
    }
    set(&mut config.timestamps, options.timestamps);
    set(&mut config.window_scaling, options.window_scaling);
    set(&mut config.limited_transmit, options.limited_transmit);
    set(
        &mut config.partial_ack_timer,
        options.partial_ack_timer.map(|reading| match reading {
            PartialAckTimerReading::Impatient => PartialAckTimer::Impatient,
            PartialAckTimerReading::SlowButSteady => PartialAckTimer::SlowButSteady,
        }),
    );
    set(&mut config.initial_rto, options.initial_rto);
    set(&mut config.min_rto, options.min_rto);
    set(&mut config.max_rto, options.max_rto);
    config.delayed_ack = delayed_ack(config.delayed_ack, options);
    if options.preset == Some(TcpPreset::Linux6) {
        *config = std::mem::take(config).with_linux_6_quick_acks();
    }
    set(&mut config.quick_acks, options.quick_acks);
    set(
        &mut config.sack_compression,
        options.sack_compression.map(|reading| match reading {
            SackCompressionReading::Off => SackCompression::Off,
            SackCompressionReading::Linux6 => SackCompression::Linux6,
        }),
    );
    config.rtt_clock = match (config.rtt_clock, options.rto_granularity) {
        (clock, None) => clock,
        (RttClock::Fine { .. }, Some(time)) => RttClock::Fine { granularity: time },
        (RttClock::Ticks { .. }, Some(time)) => RttClock::Ticks { tick: time },
    };
}

/// Both windows, and the buffers behind them.
fn apply_windows(config: &mut Config, options: &TcpDocument) {
    set(
        &mut config.ssthresh_from,
        options.ssthresh_from.map(|reading| match reading {
            SsthreshReading::Flight => SsthreshFrom::Flight,
            SsthreshReading::Window => SsthreshFrom::Window,
        }),
    );
    set(
        &mut config.growth,
        options.growth.map(|reading| match reading {
            GrowthReading::Always => Growth::Always,
            GrowthReading::WhenLimited => Growth::WhenLimited,
        }),
    );
    if let Some(size) = options.send_buffer {
        config.send_buffer = Some(size);
    }
    set(&mut config.receive_buffer, options.receive_buffer);
    set(
        &mut config.shrunk_window,
        options.shrunk_window.map(|reading| match reading {
            ShrunkWindowReading::Keep => ShrunkWindow::Keep,
            ShrunkWindowReading::PullBack => ShrunkWindow::PullBack,
        }),
    );
    set(
        &mut config.window_update,
        options.window_update.map(|reading| match reading {
            WindowUpdateReading::Any => WindowUpdate::Any,
            WindowUpdateReading::Larger => WindowUpdate::Larger,
            WindowUpdateReading::LargerOrZero => WindowUpdate::LargerOrZero,
        }),
    );
}

fn apply_recovery(config: &mut Config, options: &TcpDocument) {
    set(
        &mut config.loss_recovery,
        options.loss_recovery.map(|reading| match reading {
            LossRecoveryReading::Tahoe => LossRecovery::Tahoe,
            LossRecoveryReading::Reno => LossRecovery::Reno,
            LossRecoveryReading::NewReno => LossRecovery::NewReno,
            LossRecoveryReading::Vegas => LossRecovery::Vegas,
            LossRecoveryReading::Sack => LossRecovery::Sack,
            LossRecoveryReading::Rack => LossRecovery::Rack,
        }),
    );
    set(
        &mut config.sack_detection,
        options.sack_detection.map(|reading| match reading {
            SackDetectionReading::Rfc6675 => SackDetection::Rfc6675,
            SackDetectionReading::Forward => SackDetection::Forward,
            SackDetectionReading::Counting => SackDetection::Counting,
        }),
    );
    set(
        &mut config.window_reduction,
        options.window_reduction.map(|reading| match reading {
            WindowReductionReading::Immediate => WindowReduction::Immediate,
            WindowReductionReading::Proportional => WindowReduction::Proportional,
            WindowReductionReading::RateHalving => WindowReduction::RateHalving,
            WindowReductionReading::Linux6 => WindowReduction::Linux6,
        }),
    );
    set(
        &mut config.ecn,
        options.ecn.map(|reading| match reading {
            EcnReading::Off => Ecn::Off,
            EcnReading::Classic => Ecn::Classic,
            EcnReading::Dctcp => Ecn::Dctcp,
        }),
    );
    set(&mut config.hystart, options.hystart);
    set(
        &mut config.cwnd_unit,
        options.cwnd_unit.map(|reading| match reading {
            CwndUnitReading::Bytes => CwndUnit::Bytes,
            CwndUnitReading::Segments => CwndUnit::Segments,
        }),
    );
    let bounds = options.vegas.map(|given| VegasBounds { alpha: given.alpha, beta: given.beta, gamma: given.gamma });
    set(&mut config.vegas, bounds);
    set(
        &mut config.vegas_flavour,
        options.vegas_flavour.map(|reading| match reading {
            VegasFlavourReading::Linux => VegasFlavour::Linux,
            VegasFlavourReading::Ns2 => VegasFlavour::Ns2,
        }),
    );
}

/// `delayed_ack` switches, `delayed_ack_timeout` sets the time; alone, the time switches on as well.
fn delayed_ack(preset: DelayedAck, options: &TcpDocument) -> DelayedAck {
    let timeout = options.delayed_ack_timeout;
    let every_second = |timeout: Option<Duration>| match (timeout, preset) {
        (Some(timeout), _) | (None, DelayedAck::EverySecond { timeout }) => DelayedAck::EverySecond { timeout },
        (None, DelayedAck::Off) => Config::default().delayed_ack,
    };
    match options.delayed_ack {
        Some(false) => DelayedAck::Off,
        Some(true) => every_second(timeout),
        None if timeout.is_some() => every_second(timeout),
        None => preset,
    }
}

/// The segment size, given or from the MTU, and whether it fits the MTU.
fn mss(options: &TcpDocument, mtu: Bytes) -> Result<u16, String> {
    let most = mtu.as_u64() - HEADERS;
    let mss = options.mss.map_or(most, |size| size.as_u64());
    match u16::try_from(mss) {
        Ok(mss) if mss > 0 && u64::from(mss) <= most => Ok(mss),
        _ => Err(format!("is {mss} B; expected 1 to {most} B, the MTU less {HEADERS} B of headers")),
    }
}
