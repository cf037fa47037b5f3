//! Windowed maxima (draft-ietf-ccwg-bbr-06 sections 5.5.3 and 5.5.9), and pseudo-random numbers.

use crate::number::place;

/// BBR.ExtraAckedFilterLen: the rounds covered by the maximum of aggregation.
pub(super) const EXTRA_ACKED_ROUNDS: usize = 10;

/// BBR.max_bw_filter: the maximum of the current and of the previous ProbeBW cycle (BBR.MaxBwFilterLen = 2).
#[derive(Clone, Debug, Default)]
pub(super) struct MaxBandwidth {
    /// BBR.max_bw, which changes with samples alone: the end of a cycle takes effect at the next sample.
    most: f64,
    previous: f64,
    current: f64,
}

impl MaxBandwidth {
    /// The maximum in bytes per second.
    #[inline]
    pub fn get(&self) -> f64 {
        self.most
    }

    /// UpdateWindowedMaxFilter.
    #[inline]
    pub fn update(&mut self, rate: f64) {
        self.current = self.current.max(rate);
        self.most = self.current.max(self.previous);
    }

    /// AdvanceMaxBwFilter: a new cycle begins (in the draft, time needs a single bit). A cycle without a sample keeps
    /// the maximum, as in Linux: the maximum of no samples would be zero bandwidth.
    pub fn advance(&mut self) {
        if self.current > 0.0 {
            self.previous = self.current;
            self.current = 0.0;
        }
    }
}

/// BBR.extra_acked_filter: the maximum of the last rounds, including the current one.
#[derive(Clone, Debug, Default)]
pub(super) struct MaxOverRounds {
    /// The maximum of each round, at its number modulo the length.
    rounds: [u64; EXTRA_ACKED_ROUNDS],
    round: u64,
    /// The number of rounds counted last, and their maximum.
    len: usize,
    most: u64,
}

impl MaxOverRounds {
    /// Adds a sample in round `round`; returns the maximum over the last `len` rounds, 1 to [`EXTRA_ACKED_ROUNDS`].
    #[inline]
    pub fn update(&mut self, round: u64, value: u64, len: usize) -> u64 {
        if round != self.round || len != self.len {
            self.advance(round, len);
        }
        if value > self.most {
            self.most = value;
        }
        let current = &mut self.rounds[slot(round)];
        *current = (*current).max(value);
        self.most
    }

    fn advance(&mut self, round: u64, len: usize) {
        while self.round < round {
            self.round = (self.round + 1).max(round.saturating_sub(EXTRA_ACKED_ROUNDS as u64));
            self.rounds[slot(self.round)] = 0;
        }
        self.len = len;
        // Earlier rounds are forgotten: a longer window fills with the rounds to come.
        for ago in len as u64..EXTRA_ACKED_ROUNDS as u64 {
            if let Some(old) = round.checked_sub(ago) {
                self.rounds[slot(old)] = 0;
            }
        }
        self.most = self.rounds.iter().copied().max().unwrap_or(0);
    }
}

fn slot(round: u64) -> usize {
    place(round % EXTRA_ACKED_ROUNDS as u64)
}

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers for the same seed, on every platform.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u32) -> Self {
        Self(u64::from(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `bound` - 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        u64::try_from((u128::from(self.next()) * u128::from(bound)) >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bandwidth_of_two_cycles_counts() {
        let mut filter = MaxBandwidth::default();
        filter.update(5.0);
        filter.update(3.0);
        filter.advance();
        filter.update(2.0);
        assert!((filter.get() - 5.0).abs() < 1e-12);
        filter.advance();
        assert!((filter.get() - 5.0).abs() < 1e-12, "no sample since");
        filter.update(1.0);
        assert!((filter.get() - 2.0).abs() < 1e-12, "5 is two cycles old");
        filter.advance();
        filter.advance();
        filter.update(0.5);
        assert!((filter.get() - 1.0).abs() < 1e-12, "cycles without a sample forget nothing");
    }

    #[test]
    fn the_aggregation_of_ten_rounds_counts() {
        let mut filter = MaxOverRounds::default();
        assert_eq!(filter.update(0, 7, 10), 7);
        assert_eq!(filter.update(0, 4, 10), 7);
        // Rounds 0 to 9 are ten.
        assert_eq!(filter.update(9, 1, 10), 7);
        assert_eq!(filter.update(10, 0, 10), 1);
        assert_eq!(filter.update(10, 0, 1), 0, "this round only");
        assert_eq!(filter.update(10, 0, 10), 0, "a short window remembers no earlier round");
        // Rounds without a measurement count too.
        assert_eq!(filter.update(1_000_000, 3, 10), 3);
        assert_eq!(filter.update(1_000_009, 0, 10), 3);
        assert_eq!(filter.update(1_000_010, 0, 10), 0);
    }

    #[test]
    fn random_numbers_are_those_of_split_mix_and_in_their_range() {
        // The first outputs of the reference implementation for seed 1234567.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        let mut counts = [0; 2];
        for _ in 0..1000 {
            counts[usize::from(random.below(2) == 1)] += 1;
        }
        // Fair: 500, standard deviation sqrt(1000)/2 = 16; five of them.
        assert!((420..=580).contains(&counts[0]), "{counts:?}");
    }
}
