//! The times until which levels are forbidden. A lower level is never forbidden for a shorter time than a higher one.

/// Forbidden levels. Times are in seconds.
#[derive(Clone, Debug)]
pub(super) struct Forbidden {
    /// Entry n forbids levels 0 to n until its time. So a level is forbidden until the latest time from its entry on.
    up_to: Box<[f64]>,
}

impl Forbidden {
    pub(super) fn new(levels: usize) -> Self {
        Self { up_to: vec![f64::NEG_INFINITY; levels].into() }
    }

    /// Forbids all levels below `level` until a time.
    #[inline]
    pub(super) fn below(&mut self, level: usize, until: f64) {
        if let Some(highest) = level.checked_sub(1) {
            self.up_to[highest] = self.up_to[highest].max(until);
        }
    }

    /// The lowest level that is not forbidden at `now`. The highest level is never forbidden.
    pub(super) fn lowest_allowed(&self, now: f64) -> usize {
        self.up_to.iter().rposition(|&until| until > now).map_or(0, |highest| highest + 1)
    }

    /// The first time after `now` at which a level below `level` is allowed again; infinity if all are allowed.
    pub(super) fn next_end(&self, now: f64, level: usize) -> f64 {
        let mut earliest = f64::INFINITY;
        let mut until = f64::NEG_INFINITY;
        for (place, &end) in self.up_to.iter().enumerate().rev() {
            until = until.max(end);
            if place < level && until > now {
                earliest = earliest.min(until);
            }
        }
        earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A plain list with a time for each level.
        #[test]
        fn agrees_with_a_time_for_each_level(
            steps in proptest::collection::vec((0_usize..5, 0_u32..40, 0_u32..20), 1..30)
        ) {
            let (mut forbidden, mut plain) = (Forbidden::new(5), [f64::NEG_INFINITY; 5]);
            for (level, until, now) in steps {
                let (until, now) = (f64::from(until), f64::from(now));
                forbidden.below(level, until);
                plain[..level].iter_mut().for_each(|end| *end = end.max(until));
                let lowest = plain.iter().position(|&end| end <= now).expect("the highest level");
                prop_assert_eq!(forbidden.lowest_allowed(now), lowest);
                for level in 0..5 {
                    let held = plain[..level].iter().filter(|&&end| end > now);
                    prop_assert_eq!(forbidden.next_end(now, level), held.fold(f64::INFINITY, |first, &end| first.min(end)));
                }
            }
        }
    }
}
