//! Segments as the eBPF programs tell of them.

use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps};
use netlull_units::Bytes;

/// Which way a segment goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the link's queue.
    Forward,
    /// Back to the senders.
    Backward,
}

/// How much of its flow is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every segment, both ways: times between them mean something.
    Whole,
    /// One data segment now and then: it says that the flow is there, no more.
    Mark,
}

/// A segment that has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// When, in nanoseconds of CLOCK_MONOTONIC.
    pub nanos: u64,
    /// Which way it went.
    pub direction: Direction,
    /// How much is told of its flow.
    pub coverage: Coverage,
    /// What it carries.
    pub segment: SegmentView,
    /// The window that it advertises, where the connection's scale is known.
    pub window: Option<Bytes>,
}

/// The size in bytes of `struct told` in bpf/clamp.bpf.c.
const SIZE: usize = 40;

/// The bits of its last field.
mod what {
    pub(super) const BACKWARD: u32 = 1;
    pub(super) const DATA: u32 = 2;
    pub(super) const SYN: u32 = 4;
    pub(super) const ACK: u32 = 8;
    pub(super) const TIMESTAMPS: u32 = 16;
    pub(super) const WINDOW: u32 = 32;
    pub(super) const WHOLE: u32 = 64;
}

impl Sighting {
    /// Reads what a program has written; `None` if it is of another length, as only another version would write it.
    #[must_use]
    pub fn read(told: &[u8]) -> Option<Self> {
        let told: &[u8; SIZE] = told.try_into().ok()?;
        let word = |at: usize| u32::from_ne_bytes(told[at..].first_chunk().copied().unwrap_or_default());
        let long = |at: usize| u64::from_ne_bytes(told[at..].first_chunk().copied().unwrap_or_default());
        let bits = word(36);
        let has = |bit: u32| bits & bit != 0;
        let coverage = if has(what::WHOLE) { Coverage::Whole } else { Coverage::Mark };
        let stamps = Timestamps { value: word(24), echo: word(28) };
        Some(Self {
            nanos: long(0),
            direction: if has(what::BACKWARD) { Direction::Backward } else { Direction::Forward },
            coverage,
            segment: SegmentView {
                flow: long(8),
                kind: match (has(what::SYN), has(what::ACK)) {
                    (true, false) => SegmentKind::Syn,
                    (true, true) => SegmentKind::SynAck,
                    (false, _) => SegmentKind::Other,
                },
                end: word(16),
                acknowledged: word(20),
                data: has(what::DATA),
                // Without them nobody begins to measure a flow whose next segments will not be told of.
                timestamps: (has(what::TIMESTAMPS) && coverage == Coverage::Whole).then_some(stamps),
            },
            window: has(what::WINDOW).then(|| Bytes::new(u64::from(word(32)))),
        })
    }
}

/// So many segments may be told of in a period before fewer flows are followed whole.
const MANY: u64 = 2000;
/// The fewest flows of which all is told: one in 2^12.
const WIDEST: u64 = (1 << 12) - 1;

/// Which flows are told of whole: those whose key has no bit of the mask. Twice as few as soon as a period brings more than
/// 2,000 segments or the ring overflows, twice as many after 64 periods in a row that could have borne four times theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampling {
    mask: u64,
    calm: u32,
}

impl Sampling {
    /// The mask.
    #[must_use]
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// One flow in how many.
    #[must_use]
    pub fn one_in(&self) -> u64 {
        self.mask + 1
    }

    /// A period has brought `told` segments, and the ring had no room for `untold` more.
    pub fn after(&mut self, told: u64, untold: u64) {
        if told > MANY || untold > 0 {
            *self = Self { mask: (self.mask << 1 | 1).min(WIDEST), calm: 0 };
        } else if told > MANY / 4 {
            self.calm = 0;
        } else {
            self.calm += 1;
            if self.calm == 64 {
                *self = Self { mask: self.mask >> 1, calm: 0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(what: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(0x0102_0304_0506_0708_u64.to_ne_bytes());
        bytes.extend(0x1112_1314_1516_1718_u64.to_ne_bytes());
        for word in [21_u32, 22, 23, 24, 65_536, what] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn a_segment_is_read_as_it_was_written() {
        // An acknowledgement with timestamps, of a flow that is told of whole, its window known.
        let seen = Sighting::read(&told(1 | 8 | 16 | 32 | 64)).unwrap();
        assert_eq!((seen.nanos, seen.segment.flow), (0x0102_0304_0506_0708, 0x1112_1314_1516_1718));
        assert_eq!((seen.direction, seen.coverage), (Direction::Backward, Coverage::Whole));
        assert_eq!((seen.segment.kind, seen.segment.data), (SegmentKind::Other, false));
        assert_eq!((seen.segment.end, seen.segment.acknowledged), (21, 22));
        assert_eq!(seen.segment.timestamps, Some(Timestamps { value: 23, echo: 24 }));
        assert_eq!(seen.window, Some(Bytes::new(65_536)));
        assert_eq!(Sighting::read(&told(0)[1..]), None);
    }

    #[test]
    fn a_mark_has_no_timestamps_and_handshakes_have_their_kinds() {
        let mark = Sighting::read(&told(2 | 8 | 16)).unwrap();
        assert_eq!((mark.coverage, mark.segment.timestamps, mark.segment.data), (Coverage::Mark, None, true));
        assert_eq!(mark.window, None);
        assert_eq!(Sighting::read(&told(4)).unwrap().segment.kind, SegmentKind::Syn);
        assert_eq!(Sighting::read(&told(4 | 8)).unwrap().segment.kind, SegmentKind::SynAck);
    }

    #[test]
    fn fewer_flows_are_followed_under_load_and_all_again_when_it_is_over() {
        let mut sampling = Sampling::default();
        sampling.after(2000, 0);
        assert_eq!(sampling.one_in(), 1, "as many as may be");
        sampling.after(2001, 0);
        sampling.after(0, 1);
        assert_eq!(sampling.one_in(), 4);
        for _ in 0..63 {
            sampling.after(500, 0);
        }
        sampling.after(501, 0);
        for _ in 0..63 {
            sampling.after(500, 0);
        }
        assert_eq!(sampling.one_in(), 4, "no 64 calm periods in a row yet");
        sampling.after(0, 0);
        assert_eq!(sampling.one_in(), 2);
        for _ in 0..20 {
            sampling.after(9999, 0);
        }
        assert_eq!(sampling.one_in(), 4096);
    }
}
