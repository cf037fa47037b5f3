//! The main parameters of each congestion control, for people. The numbers are those that the code computes with.

use super::{bbr, bic, compound, cubic, cubic_2_6_22, dctcp, hystart};
use crate::config::{Algorithm, Config, InitialWindow};

/// A number that an algorithm has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Its name in the source, or the scenario's option.
    pub name: &'static str,
    /// Its unit; empty for pure numbers.
    pub unit: &'static str,
    /// Its value, by default where it is an option.
    pub value: String,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// True if it is an option in scenarios.
    pub is_option: bool,
}

fn constant(
    name: &'static str,
    unit: &'static str,
    value: impl ToString,
    meaning: &'static str,
    source: &'static str,
) -> ParameterInfo {
    ParameterInfo { name, unit, value: value.to_string(), meaning, source, is_option: false }
}

fn option(name: &'static str, value: impl ToString, meaning: &'static str, source: &'static str) -> ParameterInfo {
    ParameterInfo { is_option: true, ..constant(name, "", value, meaning, source) }
}

impl Algorithm {
    /// The algorithm's main parameters; those of loss recovery and of the timer are apart.
    #[must_use]
    pub fn parameters(self) -> Vec<ParameterInfo> {
        match self {
            Self::Tahoe | Self::Reno | Self::NewReno | Self::Sack => reno(),
            Self::Reno2622 => reno().into_iter().filter(|parameter| parameter.name == "initial_window").collect(),
            Self::Bbr => bbr(),
            Self::Bic => bic(),
            Self::Compound => compound(),
            Self::Cubic => cubic(),
            Self::Cubic2622 => cubic_2_6_22(),
            Self::Dctcp => dctcp(),
            Self::Vegas => vegas(),
        }
    }
}

fn reno() -> Vec<ParameterInfo> {
    let initial = match Config::default().initial_window {
        InitialWindow::Rfc6928 => "10".to_owned(),
        InitialWindow::Segments(segments) => segments.to_string(),
    };
    vec![
        option("initial_window", initial, "segments at the start of a connection, at most 14600 bytes", "RFC 6928"),
        option("ssthresh_from", "flight", "what a loss halves: the data in flight, or the window", "RFC 5681 eq. 4"),
    ]
}

fn bbr() -> Vec<ParameterInfo> {
    let section = "draft-ietf-ccwg-bbr-06 section 2";
    vec![
        constant(
            "StartupPacingGain",
            "",
            bbr::STARTUP_PACING_GAIN,
            "rate over the bandwidth measured, in Startup",
            section,
        ),
        constant("DrainPacingGain", "", bbr::DRAIN_PACING_GAIN, "the same in Drain", section),
        constant("DefaultCwndGain", "", bbr::DEFAULT_CWND_GAIN, "cwnd over the bandwidth-delay product", section),
        constant("LossThresh", "", bbr::LOSS_THRESHOLD, "part of a round trip's data whose loss is too much", section),
        constant("Beta", "", bbr::BETA, "what a round trip with too much loss leaves of the bounds", section),
        constant(
            "Headroom",
            "",
            bbr::HEADROOM,
            "part of the highest safe inflight that cruising leaves to others",
            section,
        ),
        constant(
            "MinRTTFilterLen",
            "s",
            bbr::MIN_RTT_FILTER.as_secs_f64(),
            "age of a least round trip that counts",
            section,
        ),
        constant(
            "ProbeRTTInterval",
            "s",
            bbr::PROBE_RTT_INTERVAL.as_secs_f64(),
            "between looks for a lesser one",
            section,
        ),
    ]
}

/// beta of the Linux algorithms, with three digits.
fn linux_beta() -> String {
    #[allow(clippy::cast_precision_loss)]
    let part = bic::BETA as f64 / bic::BETA_SCALE as f64;
    format!("{part:.3}")
}

fn bic() -> Vec<ParameterInfo> {
    let source = "Linux 2.6.22 tcp_bic.c";
    vec![
        constant("beta", "", linux_beta(), "what a loss leaves of the window (819/1024)", source),
        constant("S_max", "segments", bic::MAX_INCREMENT, "growth per round trip at most", source),
        constant("B", "", bic::SEARCH_STEP, "a round trip goes one part in B of the way to W_max", source),
        constant("smooth_part", "", bic::SMOOTH_PART, "round trips that the last B segments before W_max take", source),
        constant("low_window", "segments", bic::LOW_WINDOW, "below it the window is Reno's", source),
    ]
}

fn compound() -> Vec<ParameterInfo> {
    let source = "ns-2.35 tcp_compound.c";
    vec![
        constant("alpha", "", format!("1/{}", 1 << compound::ALPHA_SHIFT), "dwnd grows by alpha win^(3/4)", source),
        constant("gamma", "segments", compound::GAMMA, "more of them queued are early congestion", source),
        constant("zeta", "", compound::ZETA, "how many of the segments queued dwnd gives back", source),
    ]
}

fn cubic() -> Vec<ParameterInfo> {
    vec![
        option("hystart", Config::default().hystart, "HyStart++: leaves slow start when round trips grow", "RFC 9406"),
        constant("C", "segments/s^3", cubic::C, "steepness of the cubic function", "RFC 9438 section 5"),
        constant("beta_cubic", "", cubic::BETA, "what a loss leaves of the window", "RFC 9438 section 4.6"),
        constant(
            "fast_convergence",
            "",
            format!("{:.2}", cubic::FAST_CONVERGENCE),
            "W_max after a loss below the last W_max, over the window",
            "RFC 9438 section 4.7",
        ),
        constant(
            "MIN_RTT_THRESH",
            "ms",
            hystart::LEAST_THRESHOLD.as_secs_f64() * 1e3,
            "least growth of round trips that counts",
            "RFC 9406 section 4.3",
        ),
        constant(
            "MAX_RTT_THRESH",
            "ms",
            hystart::LARGEST_THRESHOLD.as_secs_f64() * 1e3,
            "growth that always counts",
            "RFC 9406 section 4.3",
        ),
    ]
}

fn cubic_2_6_22() -> Vec<ParameterInfo> {
    let source = "Linux 2.6.22 tcp_cubic.c";
    #[allow(clippy::cast_precision_loss)]
    let c = cubic_2_6_22::CUBIC_SCALE as f64 / 1024.0;
    vec![
        constant("C", "segments/s^3", format!("{c:.3}"), "steepness of the cubic function", source),
        constant("beta", "", linux_beta(), "what a loss leaves of the window (819/1024)", source),
        constant("S_max", "segments", cubic_2_6_22::MAX_INCREMENT, "growth per 100 ms at most", source),
    ]
}

fn dctcp() -> Vec<ParameterInfo> {
    vec![constant(
        "g",
        "",
        dctcp::G,
        "weight of the last window in the estimate of marked bytes",
        "RFC 8257 section 4.2",
    )]
}

fn vegas() -> Vec<ParameterInfo> {
    let bounds = Config::default().vegas;
    let all = format!("{{ alpha = {}, beta = {}, gamma = {} }}", bounds.alpha, bounds.beta, bounds.gamma);
    let meaning = "segments queued: below alpha the window grows, above beta it shrinks, above gamma slow start ends";
    vec![option("vegas", all, meaning, "Linux 2.6.22 tcp_vegas.c; preset ns2: 1, 3, 1")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_tells_of_its_parameters_once_each() {
        for info in Algorithm::catalogue() {
            let parameters = info.algorithm.parameters();
            assert!(!parameters.is_empty(), "{}", info.name);
            for (index, parameter) in parameters.iter().enumerate() {
                assert!(parameters[..index].iter().all(|other| other.name != parameter.name), "{}", parameter.name);
                assert!(!parameter.value.is_empty() && !parameter.source.is_empty(), "{}", parameter.name);
            }
        }
    }

    #[test]
    fn values_are_those_of_the_sources() {
        let value = |algorithm: Algorithm, name: &str| {
            algorithm.parameters().into_iter().find(|p| p.name == name).map(|p| p.value)
        };
        // RFC 9438 sections 5, 4.6 and 4.7: 0.4, 0.7, (1 + 0.7)/2.
        assert_eq!(value(Algorithm::Cubic, "C").as_deref(), Some("0.4"));
        assert_eq!(value(Algorithm::Cubic, "beta_cubic").as_deref(), Some("0.7"));
        assert_eq!(value(Algorithm::Cubic, "fast_convergence").as_deref(), Some("0.85"));
        // RFC 9406 section 4.3.
        assert_eq!(value(Algorithm::Cubic, "MIN_RTT_THRESH").as_deref(), Some("4"));
        // 819/1024 = 0.7998; 410/1024 = 0.4004.
        assert_eq!(value(Algorithm::Bic, "beta").as_deref(), Some("0.800"));
        assert_eq!(value(Algorithm::Cubic2622, "C").as_deref(), Some("0.400"));
        assert_eq!(value(Algorithm::Compound, "alpha").as_deref(), Some("1/8"));
        assert_eq!(value(Algorithm::Vegas, "vegas").as_deref(), Some("{ alpha = 2, beta = 4, gamma = 1 }"));
    }
}
