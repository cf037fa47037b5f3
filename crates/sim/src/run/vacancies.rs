//! Which places of a pool are free: the first of them is found, and one is freed, in a step per factor of 64.

/// A set of numbers below a limit, as bits; a bit of a higher level says that a word of the level below has any.
pub(super) struct Vacancies {
    /// The lowest level first; the highest has one word.
    levels: Vec<Vec<u64>>,
}

const WORD: usize = u64::BITS as usize;

impl Vacancies {
    /// An empty set of numbers below `limit`.
    pub fn new(limit: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = limit;
        while levels.is_empty() || words > 1 {
            words = words.div_ceil(WORD).max(1);
            levels.push(vec![0; words]);
        }
        Self { levels }
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, number: usize) {
        let mut number = number;
        for level in &mut self.levels {
            let word = &mut level[number / WORD];
            let was_empty = *word == 0;
            *word |= 1 << (number % WORD);
            if !was_empty {
                return;
            }
            number /= WORD;
        }
    }

    /// Takes the least number out.
    #[inline]
    pub fn take_first(&mut self) -> Option<usize> {
        let mut number = 0;
        for level in self.levels.iter().rev() {
            let word = level[number];
            if word == 0 {
                return None;
            }
            number = number * WORD + word.trailing_zeros() as usize;
        }
        let mut emptied = number;
        for level in &mut self.levels {
            let word = &mut level[emptied / WORD];
            *word &= !(1 << (emptied % WORD));
            if *word != 0 {
                break;
            }
            emptied /= WORD;
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_least_number_comes_first(
            limit in prop_oneof![Just(1_usize), Just(64), Just(65), 1_usize..20_000],
            steps in proptest::collection::vec(proptest::option::of(0_usize..20_000), 0..400),
        ) {
            let (mut set, mut model) = (Vacancies::new(limit), BTreeSet::new());
            for step in steps {
                match step {
                    Some(number) => {
                        set.insert(number % limit);
                        model.insert(number % limit);
                    }
                    None => prop_assert_eq!(set.take_first(), model.pop_first()),
                }
            }
            prop_assert_eq!(std::iter::from_fn(|| set.take_first()).collect::<Vec<_>>(), model.into_iter().collect::<Vec<_>>());
        }
    }
}
