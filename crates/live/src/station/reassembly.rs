//! The bytes of a stream that a host has: all up to a number, and pieces beyond it.

use netlull_wire::{seq_le, seq_lt};

/// The most pieces beyond a hole that are remembered. Data of other pieces is acknowledged when the host has acknowledged it itself.
const PIECES: usize = 64;

/// The bytes of one direction that have come, as sequence numbers (RFC 9293 section 3.4).
///
/// All of it lies within half the circle of `next`, since what a window has no room for is never put in.
#[derive(Clone, Debug)]
pub(super) struct Received {
    /// The first number that has not come.
    next: u32,
    /// Beyond it, ascending and apart: the first number of each piece and the one behind its last.
    pieces: Vec<(u32, u32)>,
}

impl Received {
    /// Everything before `next` has come.
    pub(super) fn new(next: u32) -> Self {
        Self { next, pieces: Vec::with_capacity(PIECES) }
    }

    /// The first number that has not come.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Numbers from `start` to before `end` have come, once more or for the first time.
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

    /// The host has all before `number`, whatever was seen.
    pub(super) fn at_least(&mut self, number: u32) {
        if seq_lt(self.next, number) {
            self.next = number;
            self.swallow();
        }
    }

    /// The host has nothing from `number` on, whatever was seen.
    pub(super) fn at_most(&mut self, number: u32) {
        if seq_lt(number, self.next) {
            self.next = number;
            self.pieces.clear();
        }
    }

    /// Pieces that `next` has reached are no pieces any more.
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
        /// Against a list of all bytes: never more than has come, and all that has come unless pieces were forgotten.
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
