//! TCP options of scenarios: each is optional, and overrides that of a preset.

use crate::cc::Choice;
use crate::config::{
    Config, ConfigError, CwndUnit, DelayedAck, Ecn, Growth, InitialWindow, LARGEST_BUFFER, LossRecovery,
    PartialAckTimer, RttClock, SMALLEST_MSS, SackCompression, SackDetection, ShrunkWindow, SsthreshFrom, Undo,
    VegasBounds, VegasFlavour, WindowReduction, WindowUpdate,
};
use crate::jiffies::JIFFY;
use crate::presets::Preset;
use netlull_document::check_ranges;
use netlull_units::{Bytes, Duration};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The word for an unset option: from the field's type, if the option has a field.
macro_rules! unset {
    ($config:ident, $type:ty) => {
        "none"
    };
    ($config:ident, $type:ty, $($field:ident).+) => {
        AsOption::<$type>::unset(&$config.$($field).+)
    };
}

/// Declares [`TcpOptions`], one option per line. `name: Type => field;` is an option that sets a field of [`Config`].
/// [`TcpOptions::config`] handles the others.
macro_rules! tcp_options {
    ($($(#[$attribute:meta])* $name:ident: $type:ty $(=> $($field:ident).+)?;)*) => {
        /// TCP options. Missing ones come from the scenario's `[tcp]`, then from the preset.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "TcpDocument", transform = add_defaults)]
        pub struct TcpOptions {
            $(
                $(#[$attribute])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $name: Option<$type>,
            )*
        }

        impl TcpOptions {
            /// These options, and `base` for the missing ones.
            #[must_use]
            pub fn over(&self, base: &Self) -> Self {
                Self { $($name: self.$name.clone().or_else(|| base.$name.clone()),)* }
            }

            /// The options that give `config`, without `preset` and `mss`.
            #[must_use]
            pub fn of(config: &Config) -> Self {
                let mut options = Self::default();
                $($(options.$name = config.$($field).+.as_option();)?)*
                options.name_the_rest(config);
                options
            }

            /// Each option with its value in `config`, as text; `preset` and `mss` have none there.
            fn words(config: &Config) -> Vec<(&'static str, String)> {
                let options = Self::of(config);
                vec![$(
                    (stringify!($name), word(&options.$name).unwrap_or_else(|| unset!(config, $type $(, $($field).+)?).to_owned()))
                ),*]
            }

            /// Sets the fields of options that have their own field.
            fn set_fields(&self, config: &mut Config) {
                $($(
                    if let Some(value) = self.$name {
                        config.$($field).+ = value.into();
                    }
                )?)*
            }
        }
    };
}

tcp_options! {
    /// Source of the options that are not given.
    #[schemars(extend("x-default" = Preset::default()))]
    preset: Preset;
    /// A name of `netlull list tcp`, such as `new_reno` or `cubic`. Each brings its usual loss recovery and ECN.
    #[schemars(extend("x-source" = "RFC 5681, RFC 6582"))]
    congestion_control: Choice;
    /// Detection and repair of losses; each congestion control brings its own.
    loss_recovery: LossRecovery => recovery.loss_recovery;
    /// Rule by which SACK blocks mean a loss; with `loss_recovery = "sack"`.
    #[schemars(extend("x-source" = "RFC 6675; ns-2's TCP/Linux"))]
    sack_detection: SackDetection => recovery.sack_detection;
    /// Reduction of the window in recovery; with `loss_recovery = "sack"` or `"rack"`.
    #[schemars(extend("x-source" = "RFC 6937; Linux 6 tcp_cwnd_reduction"))]
    window_reduction: WindowReduction => recovery.window_reduction;
    /// Detection and undo of needless recoveries; with `loss_recovery = "reno"`, `"new_reno"`, `"sack"` or `"rack"`.
    #[schemars(extend("x-source" = "RFC 3522, RFC 3708, RFC 4015, RFC 5682; Linux 6 tcp_undo_cwnd_reduction"))]
    undo: Undo => recovery.undo;
    /// Explicit congestion notification; `dctcp` brings its own.
    #[schemars(extend("x-source" = "RFC 3168, RFC 8257"))]
    ecn: Ecn => ecn;
    /// HyStart++ (RFC 9406), with `congestion_control = "cubic"`; with `cwnd_unit = "segments"` HyStart as in Linux 6.
    #[schemars(extend("x-source" = "RFC 9438 section 4.10, RFC 9406; Ha, Rhee 2011"))]
    hystart: bool => cwnd.hystart;
    /// Unit of the windows of RFC 5681 and of `cubic`; it also selects the rules of their growth.
    #[schemars(extend("x-source" = "RFC 5681, RFC 9438; Linux 6 tcp_cong.c, tcp_cubic.c"))]
    cwnd_unit: CwndUnit => cwnd.cwnd_unit;
    /// Bounds of Vegas.
    #[schemars(extend("x-unit" = "segments", "x-source" = "Brakmo, Peterson 1995"))]
    vegas: VegasBounds => cwnd.vegas;
    /// Flavour of Vegas.
    #[schemars(extend("x-source" = "Linux 2.6.22; ns-2.35"))]
    vegas_flavour: VegasFlavour => cwnd.vegas_flavour;
    /// Maximum segment size with options: with timestamps a segment has 12 B less of data.
    #[schemars(extend("x-minimum" = format!("{SMALLEST_MSS} B"), "x-source" = "RFC 6691", "x-default" = "the MTU less 40 B of headers"))]
    mss: Bytes;
    /// Initial window in segments.
    #[schemars(extend("x-unit" = "segments", "x-source" = "RFC 6928"))]
    #[schemars(range(min = 1, max = 10_000))]
    initial_window: u32 => cwnd.initial_window;
    /// Initial slow-start threshold.
    #[schemars(extend("x-exclusiveMinimum" = "0 B", "x-source" = "RFC 5681 section 3.1"))]
    initial_ssthresh: Bytes => cwnd.initial_ssthresh;
    /// Acknowledge every second segment instead of each (RFC 5681 section 4.2).
    #[schemars(extend("x-source" = "RFC 5681 section 4.2"))]
    delayed_ack: bool;
    /// Longest delay of an acknowledgement.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = "500 ms", "x-source" = "RFC 5681 section 4.2"))]
    delayed_ack_timeout: Duration;
    /// Number of acknowledgements of data, from the first on, without delay. The preset `linux-6` has 16, plus those
    /// during the growth of the kernel's window, which depends on `receive_buffer` and `mss`.
    #[schemars(extend("x-unit" = "acknowledgements", "x-source" = "Linux 6 tcp_incr_quickack, tcp_grow_window"))]
    quick_acks: u16 => acks.quick_acks;
    /// Compression of acknowledgements of segments ahead of a gap.
    #[schemars(extend("x-source" = "RFC 5681 section 4.2; Linux 6 __tcp_ack_snd_check"))]
    sack_compression: SackCompression => acks.sack_compression;
    /// RFC 7323 timestamps.
    #[schemars(extend("x-source" = "RFC 7323 section 3"))]
    timestamps: bool => timestamps;
    /// RFC 7323 window scaling.
    #[schemars(extend("x-source" = "RFC 7323 section 2"))]
    window_scaling: bool => flow_control.window_scaling;
    /// Send buffer, the limit of data in flight, rounded up to whole segments.
    #[schemars(extend("x-maximum" = LARGEST_BUFFER.to_string()))]
    send_buffer: Bytes => flow_control.send_buffer;
    /// Receive buffer, the largest window advertised.
    #[schemars(extend("x-maximum" = LARGEST_BUFFER.to_string(), "x-source" = "Linux tcp_rmem[2]"))]
    receive_buffer: Bytes => flow_control.receive_buffer;
    /// RFC 3042 limited transmit.
    #[schemars(extend("x-source" = "RFC 3042"))]
    limited_transmit: bool => recovery.limited_transmit;
    /// Partial acknowledgements that restart the timer (RFC 6582 section 4).
    #[schemars(extend("x-source" = "RFC 6582 section 4"))]
    partial_ack_timer: PartialAckTimer => recovery.partial_ack_timer;
    /// Retransmission timeout before the first sample.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-source" = "RFC 6298 section 2.1"))]
    initial_rto: Duration => timer.initial_rto;
    /// Smallest retransmission timeout.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-source" = "RFC 6298 section 2.4"))]
    min_rto: Duration => timer.min_rto;
    /// Largest retransmission timeout.
    #[schemars(extend("x-minimum" = "60 s", "x-source" = "RFC 6298 section 2.5"))]
    max_rto: Duration => timer.max_rto;
    /// Granularity G of the retransmission clock.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-source" = "RFC 6298 section 2"))]
    rto_granularity: Duration;
    /// Quantity that a loss halves.
    #[schemars(extend("x-source" = "RFC 5681 equation 4"))]
    ssthresh_from: SsthreshFrom => cwnd.ssthresh_from;
    /// Growth of an unused congestion window; window of RFC 5681 only.
    #[schemars(extend("x-source" = "RFC 5681; Linux tcp_is_cwnd_limited"))]
    growth: Growth => cwnd.growth;
    /// Treatment of data in flight when the peer's window closes over it.
    #[schemars(extend("x-source" = "RFC 9293 section 3.8.6; 4.4BSD"))]
    shrunk_window: ShrunkWindow => flow_control.shrunk_window;
    /// Windows accepted from acknowledgements that repeat their number.
    #[schemars(extend("x-source" = "RFC 9293 section 3.10.7.4"))]
    window_update: WindowUpdate => flow_control.window_update;
}

/// Adds the default of every option to the schema of [`TcpOptions`].
fn add_defaults(schema: &mut Schema) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (option, values) in defaults() {
        if let Some(Value::Object(field)) = properties.get_mut(option) {
            field.insert("x-default".to_owned(), brief(&values).into());
        }
    }
}

/// The value of each option in each preset for an MTU of 1500 B, by the names of option and preset. The options
/// `preset` and `mss` are missing, since they select the configuration.
pub(crate) fn defaults() -> BTreeMap<&'static str, Vec<(String, String)>> {
    let mut defaults = BTreeMap::<_, Vec<_>>::new();
    for preset in Preset::ALL {
        let name = word(&Some(preset)).unwrap_or_default();
        for (option, value) in TcpOptions::words(&preset.config(Config::default().mss)) {
            defaults.entry(option).or_default().push((name.clone(), value));
        }
    }
    defaults.retain(|option, _| !["preset", "mss"].contains(option));
    defaults
}

/// The first preset's value, and the values of presets that differ from it.
fn brief(values: &[(String, String)]) -> String {
    let Some(((_, first), others)) = values.split_first() else { return String::new() };
    let different = others.iter().filter(|(_, value)| value != first);
    different.fold(first.clone(), |brief, (preset, value)| format!("{brief}; {preset}: {value}"))
}

/// A value as written in scenarios, without quotes.
fn word<T: Serialize>(value: &Option<T>) -> Option<String> {
    match serde_json::to_value(value.as_ref()?).ok()? {
        Value::String(text) => Some(text),
        Value::Object(table) => {
            let entries: Vec<_> = table.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            Some(format!("{{ {} }}", entries.join(", ")))
        }
        other => Some(other.to_string()),
    }
}

/// A field of [`Config`] as an option.
trait AsOption<T> {
    /// The value of the option; `None` if no value matches.
    fn as_option(&self) -> Option<T>;

    /// A word for a field that no value of the option matches.
    fn unset(&self) -> &'static str {
        "no limit"
    }
}

impl<T: Clone> AsOption<T> for T {
    fn as_option(&self) -> Option<T> {
        Some(self.clone())
    }
}

impl<T: Clone> AsOption<T> for Option<T> {
    fn as_option(&self) -> Option<T> {
        self.clone()
    }
}

impl AsOption<u32> for InitialWindow {
    fn unset(&self) -> &'static str {
        "as RFC 6928 says"
    }

    fn as_option(&self) -> Option<u32> {
        match *self {
            Self::Rfc6928 => None,
            Self::Segments(segments) => Some(segments),
        }
    }
}

impl TcpOptions {
    /// The preset with these options, for segments of `mss` bytes.
    ///
    /// # Errors
    /// Names the first invalid option, its value and the expected value.
    pub fn config(&self, mss: u16) -> Result<Config, ConfigError> {
        check_ranges(self)?;
        let preset = self.preset.unwrap_or_default();
        let mut config = preset.config(mss);
        if let Some(choice) = &self.congestion_control {
            config = preset.with_algorithm(config, choice.algorithm()?);
        }
        self.set_fields(&mut config);
        config.acks.delayed_ack = self.delayed_ack(config.acks.delayed_ack);
        config.timer.rtt_clock = self.rtt_clock(config.timer.rtt_clock);
        if preset == Preset::Linux6 && self.quick_acks.is_none() {
            // They depend on the receive buffer and the segment size.
            config = config.with_linux_6_quick_acks();
        }
        // Options in range, in place of values of a preset.
        config.check_combinations()?;
        Ok(config)
    }

    /// `delayed_ack` is the switch, `delayed_ack_timeout` the time. The time alone also switches delayed
    /// acknowledgements on.
    fn delayed_ack(&self, preset: DelayedAck) -> DelayedAck {
        let timeout = self.delayed_ack_timeout;
        match (self.delayed_ack, timeout, preset) {
            (Some(false), ..) => DelayedAck::Off,
            (_, Some(timeout), _) => DelayedAck::EverySecond { timeout },
            (Some(true), None, DelayedAck::Off) => Config::default().acks.delayed_ack,
            (_, None, preset) => preset,
        }
    }

    /// Sets the options without a field.
    fn name_the_rest(&mut self, config: &Config) {
        self.congestion_control = Some(config.congestion_control.name().into());
        self.delayed_ack = Some(config.acks.delayed_ack != DelayedAck::Off);
        self.delayed_ack_timeout = match config.acks.delayed_ack {
            DelayedAck::Off => None,
            DelayedAck::EverySecond { timeout } => Some(timeout),
        };
        self.rto_granularity = Some(match config.timer.rtt_clock {
            RttClock::Fine { granularity } => granularity,
            RttClock::Ticks { tick } => tick,
            RttClock::Jiffies => JIFFY,
        });
    }

    fn rtt_clock(&self, preset: RttClock) -> RttClock {
        match (preset, self.rto_granularity) {
            (clock, None) => clock,
            (RttClock::Fine { .. }, Some(granularity)) => RttClock::Fine { granularity },
            (RttClock::Ticks { .. }, Some(tick)) => RttClock::Ticks { tick },
            (RttClock::Jiffies, Some(JIFFY)) => RttClock::Jiffies,
            // Any other granularity selects RFC 6298's timer.
            (RttClock::Jiffies, Some(granularity)) => RttClock::Fine { granularity },
        }
    }
}

impl Config {
    /// Checks every field.
    ///
    /// # Errors
    /// Names the first invalid field, its value and the expected value.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_ranges(&TcpOptions::of(self))?;
        self.check_combinations()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: &str) -> TcpOptions {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn options_left_out_come_from_below_and_from_the_preset() {
        let scenario = options(r#"{ "preset": "ns2", "initial_window": 4, "min_rto": "300 ms" }"#);
        let flow = options(r#"{ "initial_window": 3, "send_buffer": "32 KiB" }"#);
        let config = flow.over(&scenario).config(1000).unwrap();
        let ns2 = Config::ns2().with_ns2_window(10_000);
        let expected = ns2.with(|c| {
            c.cwnd.initial_window = 3.into();
            c.timer.min_rto = Duration::from_millis(300);
            c.flow_control.send_buffer = Some(Bytes::new(32 << 10));
        });
        assert_eq!(config, expected);
    }

    #[test]
    fn every_option_with_a_field_sets_it() {
        // Values that differ from those of the preset `rfc`.
        let set = options(
            r#"{ "loss_recovery": "reno", "sack_detection": "forward", "window_reduction": "immediate", "undo": "rfc",
                 "ecn": "classic", "hystart": false, "cwnd_unit": "segments", "vegas": { "alpha": 5, "beta": 6, "gamma": 7 },
                 "vegas_flavour": "ns2", "initial_window": 9, "initial_ssthresh": "9 kB", "quick_acks": 8,
                 "sack_compression": "linux_6", "timestamps": false, "window_scaling": false, "send_buffer": "90 kB",
                 "receive_buffer": "91 kB", "limited_transmit": false, "partial_ack_timer": "slow_but_steady",
                 "initial_rto": "2 s", "min_rto": "3 s", "max_rto": "70 s", "rto_granularity": "4 ms",
                 "ssthresh_from": "window", "growth": "when_limited", "shrunk_window": "pull_back",
                 "window_update": "larger", "delayed_ack_timeout": "5 ms" }"#,
        );
        let given = serde_json::to_value(&set).unwrap();
        let expected = Config::default().with(|c| {
            c.recovery.loss_recovery = LossRecovery::Reno;
            c.recovery.sack_detection = SackDetection::Forward;
            c.recovery.window_reduction = WindowReduction::Immediate;
            c.recovery.undo = Undo::Rfc;
            c.ecn = Ecn::Classic;
            c.cwnd.hystart = false;
            c.cwnd.cwnd_unit = CwndUnit::Segments;
            c.cwnd.vegas = VegasBounds { alpha: 5, beta: 6, gamma: 7 };
            c.cwnd.vegas_flavour = VegasFlavour::Ns2;
            c.cwnd.initial_window = 9.into();
            c.cwnd.initial_ssthresh = Some(Bytes::new(9000));
            c.acks.quick_acks = 8;
            c.acks.sack_compression = SackCompression::Linux6;
            c.timestamps = false;
            c.flow_control.window_scaling = false;
            c.flow_control.send_buffer = Some(Bytes::new(90_000));
            c.flow_control.receive_buffer = Bytes::new(91_000);
            c.recovery.limited_transmit = false;
            c.recovery.partial_ack_timer = PartialAckTimer::SlowButSteady;
            c.timer.initial_rto = Duration::from_secs(2);
            c.timer.min_rto = Duration::from_secs(3);
            c.timer.max_rto = Duration::from_secs(70);
            c.timer.rtt_clock = RttClock::Fine { granularity: Duration::from_millis(4) };
            c.cwnd.ssthresh_from = SsthreshFrom::Window;
            c.cwnd.growth = Growth::WhenLimited;
            c.flow_control.shrunk_window = ShrunkWindow::PullBack;
            c.flow_control.window_update = WindowUpdate::Larger;
            c.acks.delayed_ack = DelayedAck::EverySecond { timeout: Duration::from_millis(5) };
        });
        assert_eq!(set.config(1460).unwrap(), expected);
        // Every option but the four below is above.
        let schema = schemars::schema_for!(TcpOptions).to_value();
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        let others: Vec<_> = names.iter().filter(|name| given.get(name).is_none()).collect();
        assert_eq!(others, ["preset", "congestion_control", "mss", "delayed_ack"]);
    }

    #[test]
    fn a_preset_spelt_out_is_the_same() {
        for preset in Preset::ALL {
            let config = preset.config(1460);
            let spelt_out = TcpOptions { preset: Some(preset), ..TcpOptions::of(&config) };
            assert_eq!(spelt_out.config(1460).unwrap(), config);
        }
    }

    #[test]
    fn acknowledgements_are_delayed_by_a_switch_or_a_time() {
        let timeout = |json: &str| match options(json).config(1000).unwrap().acks.delayed_ack {
            DelayedAck::Off => 0,
            DelayedAck::EverySecond { timeout } => timeout.as_nanos() / 1_000_000,
        };
        assert_eq!(timeout(r#"{ "preset": "ns2" }"#), 0);
        assert_eq!(timeout(r#"{ "preset": "ns2", "delayed_ack": true }"#), 200);
        assert_eq!(timeout(r#"{ "preset": "ns2", "delayed_ack_timeout": "70 ms" }"#), 70);
        assert_eq!(timeout(r#"{ "delayed_ack": false, "delayed_ack_timeout": "70 ms" }"#), 0);
        assert_eq!(timeout(r#"{ "preset": "freebsd-4.5", "delayed_ack": true }"#), 100);
    }

    #[test]
    fn an_algorithm_comes_as_the_presets_system_has_it() {
        let recovery = |json: &str| {
            let config = options(json).config(1000).unwrap();
            (config.recovery.loss_recovery, config.recovery.sack_detection)
        };
        use {LossRecovery as L, SackDetection as S};
        assert_eq!(recovery(r#"{ "congestion_control": "vegas" }"#), (L::Sack, S::Forward));
        assert_eq!(recovery(r#"{ "preset": "ns2", "congestion_control": "vegas" }"#), (L::Vegas, S::Forward));
        assert_eq!(recovery(r#"{ "preset": "ns2", "congestion_control": "sack" }"#), (L::Sack, S::Counting));
        assert_eq!(recovery(r#"{ "preset": "linux-6", "congestion_control": "vegas" }"#), (L::Rack, S::Rfc6675));
        let unknown = options(r#"{ "congestion_control": "westwood" }"#).config(1000).unwrap_err();
        assert_eq!(unknown.field(), "congestion_control");
        assert!(unknown.message().starts_with("\"westwood\" is unknown; expected one of bbr, bic, "), "{unknown}");
    }

    #[test]
    fn quick_acknowledgements_of_linux_depend_on_the_receive_buffer() {
        let quick = |json: &str| options(json).config(1460).unwrap().acks.quick_acks;
        assert_eq!(quick(r#"{ "preset": "linux-6", "receive_buffer": "64 KiB" }"#), 16);
        assert!(quick(r#"{ "preset": "linux-6", "receive_buffer": "2 MiB" }"#) > 16);
        assert_eq!(quick(r#"{ "preset": "linux-6", "receive_buffer": "2 MiB", "quick_acks": 3 }"#), 3);
    }
}
