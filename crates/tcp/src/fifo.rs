//! A queue in one piece of memory.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A queue whose items are one slice. A look at the first item costs less than in a `VecDeque`, whose items may wrap
/// around the end of its memory.
#[derive(Clone)]
pub(crate) struct Fifo<T> {
    /// The items, after those that are gone.
    items: Vec<T>,
    gone: usize,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self { items: Vec::new(), gone: 0 }
    }
}

impl<T: fmt::Debug> fmt::Debug for Fifo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T> Fifo<T> {
    /// Adds an item at the end.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.items.len() == self.items.capacity() {
            self.make_room();
        }
        self.items.push(item);
    }

    /// Closes the gap of the items that are gone, if they fill at least half of the memory. Each item moves once at
    /// most for each item gone.
    #[cold]
    fn make_room(&mut self) {
        if 2 * self.gone >= self.items.len() {
            self.items.drain(..self.gone);
            self.gone = 0;
        }
    }

    /// The first item.
    #[inline]
    pub fn first(&self) -> Option<&T> {
        self.items.get(self.gone)
    }

    /// Removes the first item, if there is one.
    #[inline]
    pub fn drop_first(&mut self) {
        self.gone += 1;
        if self.gone >= self.items.len() {
            self.clear();
        }
    }

    /// Removes all items, and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.items.clear();
        self.gone = 0;
    }
}

impl<T> Deref for Fifo<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.items.get(self.gone..).unwrap_or_default()
    }
}

impl<T> DerefMut for Fifo<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.items.get_mut(self.gone..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_holds_what_a_deque_holds(steps in prop::collection::vec(prop::option::weighted(0.6, any::<u8>()), 0..500)) {
            let (mut fifo, mut deque) = (Fifo::default(), VecDeque::new());
            for step in steps {
                match step {
                    Some(item) => {
                        fifo.push(item);
                        deque.push_back(item);
                    }
                    None => {
                        fifo.drop_first();
                        deque.pop_front();
                    }
                }
                prop_assert_eq!(&*fifo, &*deque.make_contiguous());
            }
        }
    }

    #[test]
    fn a_queue_of_constant_length_stops_growing() {
        let mut fifo = Fifo::default();
        (0..100).for_each(|item| fifo.push(item));
        for item in 100..100_000 {
            fifo.drop_first();
            fifo.push(item);
        }
        assert_eq!((fifo.len(), fifo.first()), (100, Some(&99_900)));
        assert!(fifo.items.capacity() <= 512, "{}", fifo.items.capacity());
    }
}
