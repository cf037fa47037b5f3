//! Segments reported by the eBPF programs.

use netlull_mechanism::gateway::{SegmentKind, SegmentView, Timestamps};
use netlull_units::Bytes;

/// The direction of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the link's queue.
    Forward,
    /// Back to the senders.
    Backward,
}

/// The part of a flow's segments that is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every segment in both directions: the times between them are meaningful.
    Whole,
    /// Occasional data segments, which only show that the flow exists.
    Mark,
}

/// A segment that has passed the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The time, in nanoseconds of CLOCK_MONOTONIC.
    pub nanos: u64,
    /// The direction.
    pub direction: Direction,
    /// The reported part of its flow.
    pub coverage: Coverage,
    /// The content of the segment.
    pub segment: SegmentView,
    /// The advertised window; `None` if the connection's scale is unknown.
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
    /// Parses the record of a program; `None` if its length differs, which means another version.
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
                // The kernel program does not report it.
                fin: false,
                // Without timestamps, no estimator starts to measure a flow whose next segments will not be reported.
                timestamps: (has(what::TIMESTAMPS) && coverage == Coverage::Whole).then_some(stamps),
            },
            window: has(what::WINDOW).then(|| Bytes::new(u64::from(word(32)))),
        })
    }
}

/// The number of segments per period above which fewer flows are reported completely.
const MANY: u64 = 2000;
/// The mask of the sparsest sampling: one flow in 2^12.
const WIDEST: u64 = (1 << 12) - 1;

/// The sampling of flows. A flow is reported completely if its key has no bit of the mask. The sampled share is halved
/// when a period brings more than 2,000 segments or the ring overflows. It is doubled after 64 successive periods with
/// at most 500 segments each.
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

    /// The number of flows per completely reported flow.
    #[must_use]
    pub fn one_in(&self) -> u64 {
        self.mask + 1
    }

    /// Adapts to a period with `told` reported segments and `untold` segments lost to a full ring.
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
        // An acknowledgement with timestamps, of a completely reported flow with a known window.
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
