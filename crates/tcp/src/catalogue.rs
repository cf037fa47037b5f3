//! What congestion controls there are, for people.

mod options;

pub use options::{Choice, OptionInfo, options};

use crate::config::Algorithm;

/// A congestion control as a user meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlgorithmInfo {
    /// The name used in scenarios.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is specified.
    pub source: &'static str,
    /// The algorithm.
    pub algorithm: Algorithm,
}

impl Algorithm {
    /// All congestion controls, in alphabetical order.
    #[must_use]
    pub const fn catalogue() -> &'static [AlgorithmInfo] {
        &[
            AlgorithmInfo {
                name: "bbr",
                summary: "BBRv3: paces at the bandwidth it measures, with about two bandwidth-delay products at most in flight",
                source: "draft-ietf-ccwg-bbr-06",
                algorithm: Self::Bbr,
            },
            AlgorithmInfo {
                name: "bic",
                summary: "binary search for the window of the last loss, then slow and faster probing beyond it",
                source: "Xu, Harfoush, Rhee 2004; Linux 2.6.22 tcp_bic.c",
                algorithm: Self::Bic,
            },
            AlgorithmInfo {
                name: "compound",
                summary: "Reno's window and beside it one that grows while little is queued",
                source: "Tan, Song, Zhang, Sridharan 2006; ns-2.35 tcp_compound.c",
                algorithm: Self::Compound,
            },
            AlgorithmInfo {
                name: "cubic",
                summary: "a window that is a cubic function of the time since the last loss; HyStart++ on or off",
                source: "RFC 9438, RFC 9406",
                algorithm: Self::Cubic,
            },
            AlgorithmInfo {
                name: "cubic_2_6_22",
                summary: "a cubic function of the time since the last loss, at least as fast as Reno",
                source: "Rhee, Xu 2005; Linux 2.6.22 tcp_cubic.c",
                algorithm: Self::Cubic2622,
            },
            AlgorithmInfo {
                name: "dctcp",
                summary: "the same window, reduced in proportion to the part of the bytes that ECN has marked",
                source: "RFC 8257, RFC 3168",
                algorithm: Self::Dctcp,
            },
            AlgorithmInfo {
                name: "new_reno",
                summary: "slow start, congestion avoidance and fast recovery with partial acknowledgements, without SACK",
                source: "RFC 5681, RFC 6582, RFC 3042",
                algorithm: Self::NewReno,
            },
            AlgorithmInfo {
                name: "reno",
                summary: "the same window; the first acknowledgement of new data ends fast recovery",
                source: "RFC 2581, RFC 3042",
                algorithm: Self::Reno,
            },
            AlgorithmInfo {
                name: "reno_2_6_22",
                summary: "Reno of Linux 2.6.22: the same window in whole segments",
                source: "Linux 2.6.22 tcp_cong.c, RFC 5681",
                algorithm: Self::Reno2622,
            },
            AlgorithmInfo {
                name: "sack",
                summary: "the same window; selective acknowledgements say what is lost",
                source: "RFC 5681, RFC 2018, RFC 6675, RFC 6937",
                algorithm: Self::Sack,
            },
            AlgorithmInfo {
                name: "tahoe",
                summary: "the same window; a loss ends in slow start from one segment",
                source: "Jacobson 1988, RFC 3042",
                algorithm: Self::Tahoe,
            },
            AlgorithmInfo {
                name: "vegas",
                summary: "keeps a few segments queued, by the growth of round trips",
                source: "Brakmo, Peterson 1995; Linux 2.6.22 tcp_vegas.c, ns-2.35 tcp-vegas.cc",
                algorithm: Self::Vegas,
            },
        ]
    }

    /// The name used in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::Reno2622 => "reno_2_6_22",
            Self::NewReno => "new_reno",
            Self::Sack => "sack",
            Self::Bbr => "bbr",
            Self::Bic => "bic",
            Self::Compound => "compound",
            Self::Cubic => "cubic",
            Self::Cubic2622 => "cubic_2_6_22",
            Self::Dctcp => "dctcp",
            Self::Vegas => "vegas",
        }
    }

    /// The page about an algorithm of the catalogue, in the repository.
    #[must_use]
    pub fn page(name: &str) -> String {
        format!("docs/models/tcp/{}.md", name.replace('_', "-"))
    }

    /// The congestion control of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::catalogue().iter().find(|info| info.name == name).map(|info| info.algorithm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_algorithms_and_nothing_else_does() {
        for info in Algorithm::catalogue() {
            assert_eq!(Algorithm::by_name(info.name), Some(info.algorithm));
            assert_eq!(info.algorithm.name(), info.name);
        }
        assert_eq!(Algorithm::by_name("NewReno"), None);
        assert!(Algorithm::catalogue().windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
