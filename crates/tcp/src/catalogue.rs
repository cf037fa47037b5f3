//! What congestion controls there are, for people.

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
                name: "compound",
                summary: "Reno's window and beside it one that grows while little is queued",
                source: "Tan, Song, Zhang, Sridharan 2006; ns-2.35 tcp_compound.c",
                algorithm: Self::Compound,
            },
            AlgorithmInfo {
                name: "cubic_2_6_22",
                summary: "a cubic function of the time since the last loss, at least as fast as Reno",
                source: "Rhee, Xu 2005; Linux 2.6.22 tcp_cubic.c",
                algorithm: Self::Cubic2622,
            },
        ]
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
        }
        assert_eq!(Algorithm::by_name("NewReno"), None);
        assert!(Algorithm::catalogue().windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
