//! The budget (rule 8): the lateness that rounds of connections really have, and the bounds on lateness that follow.
//!
//! A bound on each packet says little about the mean: most packets are not late at all. So Lull measures, and widens its
//! bounds until the mean round is late by the share that users accept.

use super::counterfactual::{larger, smaller};
use std::ops::RangeInclusive;

/// The mean round may be late by this share of the slowdown. Transfers at the 95th percentile pay more than the mean.
const MEAN: f64 = 0.7;
/// The shortest time between two changes of the bounds, in seconds, and the least number of rounds.
pub(super) const PERIOD: f64 = 1.0;
const ROUNDS: f64 = 16.0;
/// The factors of one change: a budget that is overdrawn is soon mended, an unspent one is spent with care.
const STEP: RangeInclusive<f64> = 0.5..=1.25;
/// The range of the bounds, over those that suffice if every packet is as late as its bound.
const SCALE: RangeInclusive<f64> = 0.2..=64.0;

/// The budget of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// The lateness of the mean round that is aimed at, as a share of its round-trip time.
    aim: f64,
    /// The factor of the bounds.
    scale: f64,
    /// The shares of the rounds since the last change, and their number.
    shares: f64,
    rounds: f64,
    /// The part of the shares that the links before this one have taken.
    upstream: f64,
    /// The end of the period, in seconds.
    ends: f64,
}

impl Budget {
    /// `start` is in seconds.
    pub(super) fn new(slowdown: f64, start: f64) -> Self {
        Self { aim: MEAN * slowdown, scale: 1.0, shares: 0.0, rounds: 0.0, upstream: 0.0, ends: start + PERIOD }
    }

    /// The factor of the bounds on lateness.
    #[inline]
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Takes the lateness of a round over its round-trip time: on this link, and on those before it.
    #[inline]
    pub(super) fn pay(&mut self, share: f64, upstream: f64) {
        self.shares += share + upstream;
        self.upstream += upstream;
        self.rounds += 1.0;
    }

    /// Takes back the growth of a period, down to 1: this link has dropped or marked a packet, and a link at r_n would not
    /// have. The repair of a loss takes TCP one round trip, or many if it waits for a timer; a mark shrinks its window.
    #[inline]
    pub(super) fn pay_signal(&mut self) {
        self.scale = larger(self.scale / *STEP.end(), smaller(self.scale, 1.0));
    }

    /// Changes the factor at the end of a period. Returns true at the end of one.
    #[inline]
    pub(super) fn is_over(&mut self, now: f64) -> bool {
        now >= self.ends && {
            self.renew(now);
            true
        }
    }

    /// The sum of the shares since the last change.
    #[cfg(test)]
    pub(super) fn paid(&self) -> f64 {
        self.shares
    }

    #[cold]
    fn renew(&mut self, now: f64) {
        self.ends = now + PERIOD;
        if self.rounds < ROUNDS {
            return;
        }
        let wanted = self.aim * self.rounds / larger(self.shares, f64::MIN_POSITIVE);
        let step = larger(smaller(wanted, *STEP.end()), *STEP.start());
        // Below 1 a steady stream finds no rate that suits it. So only the links before this one take the scale there.
        let least = larger(1.0 - self.upstream / (self.aim * self.rounds), *SCALE.start());
        self.scale = larger(smaller(self.scale * step, *SCALE.end()), least);
        (self.shares, self.rounds, self.upstream) = (0.0, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends a period of 16 rounds that are late by a share, at a time in seconds.
    fn period(budget: &mut Budget, ends: f64, share: f64) {
        (0..16).for_each(|_| budget.pay(share, 0.0));
        assert!(!budget.is_over(ends - 0.1));
        assert!(budget.is_over(ends));
    }

    /// The factor after so many periods without lateness, and then one with a share.
    fn after(periods: u32, share: f64) -> f64 {
        let mut budget = Budget::new(0.05, 3.0);
        (1..=periods).for_each(|number| period(&mut budget, 3.0 + f64::from(number), 0.0));
        period(&mut budget, 4.0 + f64::from(periods), share);
        budget.scale()
    }

    #[test]
    fn bounds_grow_by_a_quarter_and_shrink_by_half_at_most() {
        assert_eq!([0, 1].map(|periods| after(periods, 0.0)), [1.25, 1.5625]);
        assert_eq!([30, 40].map(|periods| after(periods, 0.0)), [64.0, 64.0]);
        assert_eq!([40, 1, 0].map(|periods| after(periods, 1.0)), [32.0, 1.0, 1.0]);
    }

    #[test]
    fn rounds_that_are_as_late_as_accepted_keep_the_bounds() {
        // 0.7 of 5 %; then a tenth more.
        assert!((after(4, 0.035) / 1.25_f64.powi(4) - 1.0).abs() < 1e-9);
        assert!((after(4, 0.0385) / 1.25_f64.powi(4) - 1.0 / 1.1).abs() < 1e-9);
    }

    #[test]
    fn a_drop_or_a_mark_takes_back_the_growth_of_a_period() {
        let mut budget = Budget::new(0.05, 0.0);
        (1..3).for_each(|end| period(&mut budget, f64::from(end), 0.0));
        let mut after_signal = || {
            budget.pay_signal();
            budget.scale()
        };
        assert_eq!([(); 3].map(|()| after_signal()), [1.25, 1.0, 1.0]);
        // Links before this one have taken 0.4 of the aim: tighter bounds stay.
        (0..16).for_each(|_| budget.pay(0.1, 0.014));
        assert!(budget.is_over(3.0));
        budget.pay_signal();
        assert!((budget.scale() - 0.6).abs() < 1e-9);
    }

    #[test]
    fn few_rounds_wait_for_more() {
        let mut budget = Budget::new(0.05, 0.0);
        (0..15).for_each(|_| budget.pay(0.0, 0.0));
        assert!(budget.is_over(1.0) && budget.scale() == 1.0);
        budget.pay(0.0, 0.0);
        assert!(!budget.is_over(1.5));
        assert!(budget.is_over(2.0) && budget.scale() == 1.25);
    }

    #[test]
    fn only_earlier_links_take_the_bounds_below_one() {
        // The aim is 3.5 %.
        let least = |upstream: f64| {
            let mut budget = Budget::new(0.05, 0.0);
            (1..5_u32).for_each(|number| {
                (0..16).for_each(|_| budget.pay(0.1, upstream));
                budget.is_over(f64::from(number));
            });
            (1e6 * budget.scale()).round() / 1e6
        };
        assert_eq!([0.0, 0.014, 0.035, 1.0].map(least), [1.0, 0.6, 0.2, 0.2]);
    }
}
