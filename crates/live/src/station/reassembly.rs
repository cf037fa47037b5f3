//! The bytes of a stream that a host has received: all up to a number, and pieces beyond it.

use netlull_wire::{seq_le, seq_lt};

/// The maximum number of tracked pieces. Data of further pieces is acknowledged only after the host has acknowledged
/// it.
const PIECES: usize = 64;

/// The received bytes of one direction, as sequence numbers (RFC 9293 section 3.4).
///
/// All of them lie within half the circle of `next`, because data beyond the window is never added.
#[derive(Clone, Debug)]
pub(super) struct Received {
    /// The first missing number.
    next: u32,
    /// The pieces beyond it, ascending and disjoint: the first number of each and the number after its last.
    pieces: Vec<(u32, u32)>,
}

impl Received {
    /// Starts with everything before `next` received.
    pub(super) fn new(next: u32) -> Self {
        Self { next, pieces: Vec::with_capacity(PIECES) }
    }

    /// The first missing number.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Adds the numbers from `start` to before `end`, which may be known.
    pub(super) fn add(&mut self, start: u32, end: u32) {
        if !seq_lt(start, end) || !seq_lt(self.next, end) {
            return;
        }
        if seq_le(start, self.next) {
            self.next = end;
            self.swallow();
        } else {
            self.keep(start, end);
        }
    }

    /// Adds everything before `number`, regardless of the packets seen.
    pub(super) fn at_least(&mut self, number: u32) {
        if seq_lt(self.next, number) {
            self.next = number;
            self.swallow();
        }
    }

    /// Removes everything from `number` on, regardless of the packets seen.
    pub(super) fn at_most(&mut self, number: u32) {
        if seq_lt(number, self.next) {
            self.next = number;
            self.pieces.clear();
        }
    }

    /// Removes the pieces that `next` has reached.
    fn swallow(&mut self) {
        let reached = self.pieces.iter().take_while(|(start, _)| seq_le(*start, self.next)).count();
        for (_, end) in self.pieces.drain(..reached) {
            if seq_lt(self.next, end) {
                self.next = end;
            }
        }
    }

    fn keep(&mut self, mut start: u32, mut end: u32) {
        let first = self.pieces.partition_point(|(_, other)| seq_lt(*other, start));
        let touched = self.pieces[first..].iter().take_while(|(other, _)| seq_le(*other, end)).count();
        for (other_start, other_end) in self.pieces.drain(first..first + touched) {
            start = if seq_lt(other_start, start) { other_start } else { start };
            end = if seq_lt(end, other_end) { other_end } else { end };
        }
        if self.pieces.len() < PIECES {
            self.pieces.insert(first, (start, end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn holes_are_filled_in_any_order() {
        let mut received = Received::new(100);
        received.add(300, 400);
        received.add(500, 600);
        assert_eq!(received.next(), 100);
        received.add(100, 300);
        assert_eq!(received.next(), 400);
        received.add(350, 500);
        assert_eq!((received.next(), received.pieces.len()), (600, 0));
    }

    #[test]
    fn the_host_knows_better() {
        let mut received = Received::new(100);
        received.add(100, 300);
        received.add(400, 500);
        received.at_most(200);
        assert_eq!(received.next(), 200, "it has dropped what came");
        received.at_least(450);
        received.add(450, 460);
        assert_eq!(received.next(), 460);
    }

    proptest! {
        /// Compared with a list of all bytes: never more than received, and everything received unless pieces were
        /// forgotten.
        #[test]
        fn next_is_the_first_byte_that_has_not_come(
            origin: u32,
            segments in proptest::collection::vec((0u32..2000, 0u32..80), 0..120),
        ) {
            let mut received = Received::new(origin);
            let mut bytes = vec![false; 2200];
            for (at, len) in segments {
                received.add(origin.wrapping_add(at), origin.wrapping_add(at + len));
                bytes[at as usize..(at + len) as usize].fill(true);
                let first = u32::try_from(bytes.iter().position(|came| !came).unwrap()).unwrap();
                prop_assert_eq!(received.next().wrapping_sub(origin), first);
                prop_assert!(received.pieces.len() <= PIECES);
            }
        }
    }
}
