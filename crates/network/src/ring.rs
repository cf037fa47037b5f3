//! A growing ring whose items have absolute numbers, without allocation once it has its final size.

/// A first-in, first-out queue whose items keep their absolute number.
#[derive(Debug)]
pub struct Ring<T> {
    items: Vec<T>,
    mask: usize,
    popped: usize,
    pushed: usize,
}

impl<T: Default> Ring<T> {
    /// Creates an empty ring.
    #[must_use]
    pub fn new() -> Self {
        Self { items: Vec::new(), mask: 0, popped: 0, pushed: 0 }
    }

    /// The number of items in the ring.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u64 {
        (self.pushed - self.popped) as u64
    }

    /// Returns true if the ring is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pushed == self.popped
    }

    /// The number of items ever pushed, which is the number of the next item.
    #[inline]
    #[must_use]
    pub fn pushed(&self) -> usize {
        self.pushed
    }

    /// The number of items ever removed, which is the number of the head.
    #[inline]
    #[must_use]
    pub fn popped(&self) -> usize {
        self.popped
    }

    /// Appends an item.
    #[inline]
    pub fn push(&mut self, item: T) {
        *self.push_place() = item;
    }

    /// Appends an item and returns its slot for writing. An item built elsewhere would be copied once more, and a
    /// copy right after the writes of its parts stalls the processor.
    #[inline]
    pub fn push_place(&mut self) -> &mut T {
        if self.pushed - self.popped == self.items.len() {
            self.grow();
        }
        let at = self.place(self.pushed);
        self.pushed += 1;
        &mut self.items[at]
    }

    /// Removes the oldest item. The ring must not be empty.
    #[inline]
    pub fn skip(&mut self) {
        debug_assert!(!self.is_empty(), "nothing to skip");
        self.popped += 1;
    }

    /// Removes all items.
    #[inline]
    pub fn clear(&mut self) {
        self.popped = self.pushed;
    }

    /// Removes all items and resets their numbers, as if they had never been pushed.
    pub fn forget(&mut self) {
        self.pushed = self.popped;
    }

    /// The oldest item, to be taken before it is [skipped](Self::skip).
    #[inline]
    #[must_use]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        if self.is_empty() {
            return None;
        }
        let place = self.place(self.popped);
        Some(&mut self.items[place])
    }

    /// The oldest item.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        (!self.is_empty()).then(|| &self.items[self.place(self.popped)])
    }

    /// The item with this number, if it is still in the ring.
    #[inline]
    #[must_use]
    pub fn get(&self, number: usize) -> Option<&T> {
        (self.popped..self.pushed).contains(&number).then(|| &self.items[self.place(number)])
    }

    /// Every item, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (self.popped..self.pushed).map(|number| &self.items[self.place(number)])
    }

    /// Applies a change to every item, oldest first.
    pub fn for_each(&mut self, mut change: impl FnMut(&mut T)) {
        for number in self.popped..self.pushed {
            let place = self.place(number);
            change(&mut self.items[place]);
        }
    }

    #[inline]
    fn place(&self, number: usize) -> usize {
        number & self.mask
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.items.len() * 2).max(4);
        let mask = size - 1;
        let mut items: Vec<T> = std::iter::repeat_with(T::default).take(size).collect();
        for number in self.popped..self.pushed {
            let place = self.place(number);
            items[number & mask] = std::mem::take(&mut self.items[place]);
        }
        self.items = items;
        self.mask = mask;
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Removes and returns the oldest item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let item = self.items[self.place(self.popped)];
        self.popped += 1;
        Some(item)
    }
}

impl<T: Default> Default for Ring<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_as_a_queue_at_any_size(pushes in proptest::collection::vec(any::<bool>(), 0..400)) {
            let (mut ring, mut model, mut next) = (Ring::new(), VecDeque::new(), 0_u32);
            for push in pushes {
                if next == 150 {
                    ring.clear();
                    model.clear();
                }
                if next == 200 {
                    ring.forget();
                    model.clear();
                }
                if push {
                    ring.push(next);
                    model.push_back(next);
                    next += 1;
                } else {
                    prop_assert_eq!(ring.pop(), model.pop_front());
                }
                prop_assert_eq!(ring.len(), model.len() as u64);
                prop_assert_eq!(ring.front(), model.front());
                prop_assert!(ring.iter().eq(model.iter()));
                prop_assert_eq!(ring.get(ring.popped()), model.front());
                prop_assert_eq!(ring.get(ring.pushed()), None);
            }
        }
    }
}
