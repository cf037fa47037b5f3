//! What the host has of the stream, and whether something is missing, without a list of segments.

/// Whether a number lies behind another on a circle of 2^32: sequence numbers (RFC 9293 section 3.4) and timestamps (RFC 7323 section 5.2).
pub(super) fn is_after(one: u32, other: u32) -> bool {
    one != other && one.wrapping_sub(other) < 1 << 31
}

/// The later of two on that circle.
fn later(one: u32, other: u32) -> u32 {
    if is_after(one, other) { one } else { other }
}

/// What a segment brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Nothing that the host does not have.
    Old,
    /// The next byte that the host waits for, or, while something is missing, bytes that follow those seen or lie among them.
    New,
    /// Bytes beyond those seen: what lies between is missing, or will come out of order.
    Jump,
}

/// The host's place in the stream.
///
/// Where a hole ends the shaper does not know, but the host tells: it acknowledges at once what fills a hole (RFC 5681 section 4.2), and
/// its acknowledgement names the first byte that is missing now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    /// The first byte that the host does not have, as far as known.
    next: u32,
    /// The one behind the last byte seen.
    highest: u32,
}

impl Sequence {
    pub(super) fn new(next: u32) -> Self {
        Self { next, highest: next }
    }

    /// Whether something is missing before the last byte seen.
    pub(super) fn has_hole(&self) -> bool {
        is_after(self.highest, self.next)
    }

    pub(super) fn receive(&mut self, seq: u32, len: u32) -> Arrival {
        let end = seq.wrapping_add(len);
        if !is_after(end, self.next) {
            return Arrival::Old;
        }
        let arrival = if is_after(seq, self.highest) { Arrival::Jump } else { Arrival::New };
        self.highest = later(end, self.highest);
        if !is_after(seq, self.next) {
            self.next = end;
        }
        arrival
    }

    /// The host acknowledges all before this. A FIN counts for one, and may lie behind all data.
    pub(super) fn acknowledge(&mut self, number: u32) {
        self.next = later(number, self.next);
        self.highest = later(self.highest, self.next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_open_until_the_host_says_that_it_is_filled() {
        let mut sequence = Sequence::new(1000);
        assert_eq!(sequence.receive(1000, 100), Arrival::New);
        assert_eq!(sequence.receive(1200, 100), Arrival::Jump);
        assert_eq!(sequence.receive(1300, 100), Arrival::New);
        sequence.acknowledge(1100);
        assert!(sequence.has_hole());
        // The retransmission: what the host has is 1100..1200 and the 200 behind.
        assert_eq!(sequence.receive(1100, 100), Arrival::New);
        assert!(sequence.has_hole(), "the host has not said so yet");
        sequence.acknowledge(1400);
        assert!(!sequence.has_hole());
        assert_eq!(sequence.receive(1300, 100), Arrival::Old);
    }

    #[test]
    fn numbers_wrap() {
        let mut sequence = Sequence::new(u32::MAX - 49);
        assert_eq!(sequence.receive(u32::MAX - 49, 100), Arrival::New);
        assert_eq!(sequence.receive(50, 100), Arrival::New);
        assert_eq!(sequence.receive(u32::MAX - 49, 100), Arrival::Old);
        assert_eq!(sequence.receive(250, 100), Arrival::Jump);
        assert!(sequence.has_hole());
        assert!(is_after(3, u32::MAX - 5) && !is_after(u32::MAX - 5, 3) && !is_after(3, 3));
    }
}
