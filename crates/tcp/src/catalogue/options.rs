//! The options of a scenario's `tcp` that are chosen by name, for people.

use crate::config::{Algorithm, Config, Ecn, LossRecovery, SackDetection, WindowReduction};

/// A value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name used in scenarios.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is specified.
    pub source: &'static str,
}

/// An option with named values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// What it chooses, in one line.
    pub summary: &'static str,
    /// Its values.
    pub choices: &'static [Choice],
}

const fn choice(name: &'static str, summary: &'static str, source: &'static str) -> Choice {
    Choice { name, summary, source }
}

const LOSS_RECOVERIES: &[Choice] = &[
    choice("tahoe", "three duplicate ACKs are a loss; all from there again in slow start", "Jacobson 1988"),
    choice("reno", "fast recovery until the first acknowledgement of new data", "RFC 2581"),
    choice("new_reno", "fast recovery until all sent before the loss is acknowledged", "RFC 6582"),
    choice("vegas", "early: a segment older than a fine-grained timeout is lost", "Brakmo, Peterson 1995; ns-2.35"),
    choice("sack", "a scoreboard of selective acknowledgements says what is lost", "RFC 2018, RFC 6675"),
    choice("rack", "times of transmissions say what is lost; a probe finds a lost tail", "RFC 8985"),
];

const SACK_DETECTIONS: &[Choice] = &[
    choice("rfc6675", "lost: three blocks, or more than two segments' bytes, acknowledged above it", "RFC 6675"),
    choice(
        "forward",
        "lost: more than three segments below the highest acknowledged",
        "Mathis, Mahdavi 1996; Linux 2.6",
    ),
    choice("counting", "every third duplicate begins recovery of all below the highest", "Fall, Floyd 1996; ns-2.35"),
];

const WINDOW_REDUCTIONS: &[Choice] = &[
    choice("immediate", "at once; nothing is sent until enough has left the network", "RFC 6675 section 5"),
    choice("proportional", "in proportion to what is delivered (PRR)", "RFC 6937"),
    choice("rate_halving", "a segment for every two acknowledged", "Hoe 1995; Linux 2.6"),
    choice(
        "linux_6",
        "in proportion, from cwnd, in whole segments, once per recovery",
        "RFC 6937; Linux 6 tcp_cwnd_reduction",
    ),
];

const CWND_UNITS: &[Choice] = &[
    choice("bytes", "fractions of segments count", "RFC 5681, RFC 9438"),
    choice(
        "segments",
        "whole segments and Linux's rules of growth; CUBIC with HyStart",
        "Linux 6 tcp_cong.c, tcp_cubic.c",
    ),
];

const SACK_COMPRESSIONS: &[Choice] = &[
    choice("off", "each is acknowledged", "RFC 5681 section 4.2"),
    choice("linux_6", "after three, one acknowledgement for all of up to 1 ms", "Linux 6 __tcp_ack_snd_check"),
];

const ECNS: &[Choice] = &[
    choice("off", "not offered", ""),
    choice("classic", "a mark is echoed until the sender has reduced", "RFC 3168"),
    choice("dctcp", "each acknowledgement echoes the marks of the segments it acknowledges", "RFC 8257 section 3.2"),
];

const PRESETS: &[Choice] = &[
    choice("rfc", "the RFCs' defaults", "RFC 5681, RFC 6298, RFC 6928, RFC 7323"),
    choice(
        "ns2",
        "ns-2.35's agents: every segment acknowledged, ticks of 10 ms, no timestamps, two segments at first",
        "ns-2.35",
    ),
    choice(
        "freebsd-4.5",
        "a server of 2002: buffers of 32 and 64 KiB, ticks of 10 ms, RTO 1 s or more, sent again what a window closes over",
        "FreeBSD 4.5; client-centered-2004 section IV",
    ),
    choice(
        "linux-6",
        "today's Linux: RACK-TLP with any window, CUBIC's or Reno's as the kernel computes them, RTO 200 ms beyond SRTT or more",
        "Linux 6.18; RFC 8985, RFC 6937",
    ),
];

const GROWTHS: &[Choice] = &[
    choice("always", "it does", "RFC 5681"),
    choice("when_limited", "only if it was what limited the sender", "RFC 7661; Linux tcp_is_cwnd_limited"),
];

const SHRUNK_WINDOWS: &[Choice] = &[
    choice("keep", "it stays in flight, and what is lost is sent again", "RFC 9293 section 3.8.6"),
    choice("pull_back", "all is sent again when the window opens, with cwnd as it is", "4.4BSD tcp_output"),
];

const WINDOW_UPDATES: &[Choice] = &[
    choice("any", "all", "RFC 9293 section 3.10.7.4"),
    choice("larger", "larger ones", "4.4BSD; Linux until 6.5"),
    choice("larger_or_zero", "larger ones and none at all", "Linux since 6.6"),
];

const SSTHRESHES: &[Choice] =
    &[choice("flight", "data in flight", "RFC 5681 equation 4"), choice("window", "min(cwnd, rwnd)", "ns-2.35")];

const PARTIAL_ACK_TIMERS: &[Choice] = &[
    choice("impatient", "restarted by the first partial acknowledgement only", "RFC 6582 section 3.2"),
    choice("slow_but_steady", "restarted by each", "RFC 6582 section 4"),
];

const VEGAS_FLAVOURS: &[Choice] = &[
    choice("linux", "slow start doubles in every round trip; a loss halves", "Linux 2.6.22 tcp_vegas.c"),
    choice("ns2", "slow start doubles in every other round trip; a loss takes a quarter", "ns-2.35 tcp-vegas.cc"),
];

/// The options with named values, beside `congestion_control`.
#[must_use]
pub const fn options() -> &'static [OptionInfo] {
    &[
        OptionInfo { name: "preset", summary: "a set of options; others override it", choices: PRESETS },
        OptionInfo { name: "loss_recovery", summary: "how losses are found and repaired", choices: LOSS_RECOVERIES },
        OptionInfo {
            name: "sack_detection",
            summary: "when selective acknowledgements mean a loss (loss_recovery sack)",
            choices: SACK_DETECTIONS,
        },
        OptionInfo {
            name: "window_reduction",
            summary: "how the window comes down in recovery (loss_recovery sack, rack)",
            choices: WINDOW_REDUCTIONS,
        },
        OptionInfo {
            name: "cwnd_unit",
            summary: "what the windows of RFC 5681 and of cubic are counted in",
            choices: CWND_UNITS,
        },
        OptionInfo {
            name: "sack_compression",
            summary: "acknowledgements of segments ahead of a gap",
            choices: SACK_COMPRESSIONS,
        },
        OptionInfo { name: "ecn", summary: "explicit congestion notification", choices: ECNS },
        OptionInfo { name: "ssthresh_from", summary: "what a loss halves", choices: SSTHRESHES },
        OptionInfo {
            name: "partial_ack_timer",
            summary: "the timer in recovery (loss_recovery new_reno)",
            choices: PARTIAL_ACK_TIMERS,
        },
        OptionInfo {
            name: "vegas_flavour",
            summary: "which Vegas (congestion_control vegas)",
            choices: VEGAS_FLAVOURS,
        },
        OptionInfo {
            name: "growth",
            summary: "whether a window grows that nothing fills (window of RFC 5681)",
            choices: GROWTHS,
        },
        OptionInfo {
            name: "shrunk_window",
            summary: "data in flight when the peer's window closes (loss_recovery tahoe, reno, new_reno for pull_back)",
            choices: SHRUNK_WINDOWS,
        },
        OptionInfo {
            name: "window_update",
            summary: "windows taken from acknowledgements that repeat their number",
            choices: WINDOW_UPDATES,
        },
    ]
}

impl LossRecovery {
    /// The name used in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::NewReno => "new_reno",
            Self::Sack => "sack",
            Self::Vegas => "vegas",
            Self::Rack => "rack",
        }
    }
}

impl SackDetection {
    /// The name used in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rfc6675 => "rfc6675",
            Self::Forward => "forward",
            Self::Counting => "counting",
        }
    }
}

impl WindowReduction {
    /// The name used in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::Proportional => "proportional",
            Self::RateHalving => "rate_halving",
            Self::Linux6 => "linux_6",
        }
    }
}

impl Ecn {
    /// The name used in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Classic => "classic",
            Self::Dctcp => "dctcp",
        }
    }
}

impl Algorithm {
    /// The options that the algorithm brings with it ([`Config::with_algorithm`]), name and value; those of the
    /// scoreboard only where there is one.
    #[must_use]
    pub fn defaults(&self) -> Vec<(&'static str, &'static str)> {
        let config = Config::default().with_algorithm(self.clone());
        let mut defaults = vec![("loss_recovery", config.loss_recovery.name())];
        if config.loss_recovery == LossRecovery::Sack {
            defaults.push(("sack_detection", config.sack_detection.name()));
        }
        if matches!(config.loss_recovery, LossRecovery::Sack | LossRecovery::Rack) {
            defaults.push(("window_reduction", config.window_reduction.name()));
        }
        defaults.push(("ecn", config.ecn.name()));
        defaults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_algorithm_brings_is_a_value_of_an_option() {
        for info in Algorithm::catalogue() {
            for (option, value) in info.algorithm.defaults() {
                let option = options().iter().find(|info| info.name == option).expect("an option of that name");
                assert!(option.choices.iter().any(|choice| choice.name == value), "{} = {value}", option.name);
            }
        }
    }

    #[test]
    fn algorithms_bring_what_they_are_known_with() {
        assert_eq!(Algorithm::NewReno.defaults(), [("loss_recovery", "new_reno"), ("ecn", "off")]);
        assert_eq!(
            Algorithm::Bic.defaults(),
            [
                ("loss_recovery", "sack"),
                ("sack_detection", "forward"),
                ("window_reduction", "rate_halving"),
                ("ecn", "off")
            ]
        );
        assert_eq!(
            Algorithm::Dctcp.defaults(),
            [("loss_recovery", "rack"), ("window_reduction", "proportional"), ("ecn", "dctcp")]
        );
    }
}
