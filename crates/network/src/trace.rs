//! A link that follows a trace of delivery opportunities, as Mahimahi's mm-link does (R. Netravali et al., Mahimahi:
//! Accurate Record-and-Replay for HTTP, USENIX ATC 2015, section 4; `LinkQueue::rationalize` in
//! `src/frontend/link_queue.cc`).
//!
//! At an opportunity the link delivers bytes of the packets that wait then, in order. Several small packets share one
//! opportunity, and a packet that is larger than the rest of one takes bytes of the next. What no waiting packet takes
//! is lost. After its last time the trace begins again.

use netlull_units::BitRate;
use serde::{Deserialize, Serialize};

/// The bytes of an opportunity: the payload of a tun device (`PACKET_SIZE`).
pub const OPPORTUNITY: u32 = 1504;
/// The bytes of each packet in addition to its size: the header of a tun device. A packet of 1500 B takes a whole
/// opportunity.
pub const HEADER: u32 = 4;

/// The nanoseconds of a trace's unit of time.
const MILLISECOND: u64 = 1_000_000;

/// The times of the opportunities. In plans, a list of milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<u64>", try_from = "Vec<u64>")]
pub struct Trace {
    /// Milliseconds, ascending; several opportunities may have the same time.
    millis: Vec<u64>,
    /// The time after which the trace begins again, in nanoseconds: its last time.
    period: u64,
}

impl Trace {
    /// The latest time: one that leaves room for any run.
    pub const LATEST_MS: u64 = 1_000_000_000_000;

    /// A trace with these times in milliseconds; `None` if they are none, descend, exceed [`Self::LATEST_MS`] or are all
    /// zero.
    #[must_use]
    pub fn new(millis: Vec<u64>) -> Option<Self> {
        let last = *millis.last()?;
        let is_sound = millis.is_sorted() && (1..=Self::LATEST_MS).contains(&last);
        is_sound.then_some(Self { millis, period: last * MILLISECOND })
    }

    /// The times in milliseconds.
    #[must_use]
    pub fn millis(&self) -> &[u64] {
        &self.millis
    }

    /// The rate of packets of 1500 B that take every opportunity, rounded down.
    #[must_use]
    pub fn mean_rate(&self) -> BitRate {
        let bits = self.millis.len() as u128 * u128::from(OPPORTUNITY - HEADER) * 8 * 1_000_000_000;
        BitRate::from_bps(u64::try_from(bits / u128::from(self.period)).unwrap_or(u64::MAX))
    }

    /// The time of the n-th opportunity, from 0, in nanoseconds.
    #[must_use]
    pub fn time(&self, number: u64) -> u64 {
        let all = self.millis.len() as u64;
        let within = usize::try_from(number % all).unwrap_or_default();
        (number / all).saturating_mul(self.period).saturating_add(self.millis[within] * MILLISECOND)
    }

    /// The number of the opportunities up to `now`, in nanoseconds.
    #[must_use]
    pub fn count(&self, now: u64) -> u64 {
        let (rounds, rest) = (now / self.period, now % self.period);
        let within = self.millis.partition_point(|millis| millis * MILLISECOND <= rest) as u64;
        rounds.saturating_mul(self.millis.len() as u64).saturating_add(within)
    }
}

impl From<Trace> for Vec<u64> {
    fn from(trace: Trace) -> Self {
        trace.millis
    }
}

impl TryFrom<Vec<u64>> for Trace {
    type Error = String;

    fn try_from(millis: Vec<u64>) -> Result<Self, String> {
        let expected = format!("expected ascending times in milliseconds, the last from 1 to {}", Self::LATEST_MS);
        Self::new(millis).ok_or(expected)
    }
}

/// The position of a link in its trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Position {
    /// The number of the next opportunity.
    next: u64,
    /// The time of the last used opportunity, in nanoseconds, and its bytes that are left.
    at: u64,
    left: u32,
}

/// The times of a packet on a link with a trace, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The opportunity that takes its first byte; the packet waits until then.
    pub starts: u64,
    /// The opportunity that takes its last byte.
    pub departs: u64,
}

impl Position {
    /// Delivers the next packet, which arrives at `now` with `size` bytes. An opportunity at `now` is too early for it.
    pub fn deliver(&mut self, trace: &Trace, now: u64, size: u32) -> Delivery {
        if self.at <= now {
            // No packet waited for the rest.
            self.left = 0;
            self.next = self.next.max(trace.count(now));
        }
        let mut rest = u64::from(size) + u64::from(HEADER);
        let mut starts = None;
        loop {
            if self.left == 0 {
                (self.at, self.left) = (trace.time(self.next), OPPORTUNITY);
                self.next = self.next.saturating_add(1);
            }
            starts = starts.or(Some(self.at));
            let taken = rest.min(self.left.into());
            rest -= taken;
            self.left -= u32::try_from(taken).unwrap_or_default();
            if rest == 0 {
                return Delivery { starts: starts.unwrap_or(self.at), departs: self.at };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn ms(millis: u64) -> u64 {
        millis * MILLISECOND
    }

    /// Delivers packets of these times in ms and sizes; returns the times of their first and last bytes in ms.
    fn delivered(trace: &Trace, packets: &[(u64, u32)]) -> Vec<(u64, u64)> {
        let mut position = Position::default();
        let mut deliver = |&(at, size): &(u64, u32)| {
            let Delivery { starts, departs } = position.deliver(trace, ms(at), size);
            (starts / MILLISECOND, departs / MILLISECOND)
        };
        packets.iter().map(&mut deliver).collect()
    }

    #[test]
    fn bytes_are_accounted_per_opportunity() {
        // Opportunities of 1504 B at 2, 2, 5, 7 ms and again from 7 ms on: 9, 9, 12, 14, 16, 16 ...
        let trace = Trace::new(vec![2, 2, 5, 7]).unwrap();
        let times: Vec<u64> = (0..10).map(|number| trace.time(number) / MILLISECOND).collect();
        assert_eq!(times, [2, 2, 5, 7, 9, 9, 12, 14, 16, 16]);
        assert_eq!([0, 1, 2, 6, 7, 8, 9, 14].map(|at| trace.count(ms(at))), [0, 0, 2, 3, 4, 4, 6, 8]);
        // 1000 B take 1004 B: the first takes the first opportunity, the second 500 B of it and 504 B of the next at the
        // same time. Of the 1000 B that are left, 40 B (44 B) take some, and 1500 B (1504 B) 956 B at 2 ms and 548 B at 5
        // ms. A packet of 952 B takes exactly the other 956 B there.
        let first = [(0, 1000), (0, 1000), (1, 40), (1, 1500), (1, 952)];
        assert_eq!(delivered(&trace, &first), [(2, 2), (2, 2), (2, 2), (2, 5), (5, 5)]);
        // 4000 B take 4004 B: 1504 B at 2, 2 and 996 B at 5 ms. The next packet waits at 5 ms already.
        assert_eq!(delivered(&trace, &[(0, 4000), (3, 504), (3, 1)]), [(2, 5), (5, 5), (7, 7)]);
    }

    #[test]
    fn what_no_packet_takes_is_lost() {
        let trace = Trace::new(vec![2, 2, 5, 7]).unwrap();
        // At 2 ms a packet comes too late for the opportunities there, and for what the first one left.
        assert_eq!(delivered(&trace, &[(0, 100), (2, 100), (6, 1500)]), [(2, 2), (5, 5), (7, 7)]);
        // Rounds pass without a packet.
        assert_eq!(delivered(&trace, &[(700, 1500), (705, 1500)]), [(702, 702), (707, 707)]);
    }

    #[test]
    fn a_constant_trace_is_a_link_of_constant_rate() {
        // Every 1 ms: 12 Mb/s. Of packets of 1500 B that come together at k ms, the n-th leaves n ms later; of
        // packets of 750 B (754 B) the n-th leaves after ceil(754 n / 1504) ms.
        let trace = Trace::new(vec![1]).unwrap();
        assert_eq!(trace.mean_rate(), BitRate::from_mbps(12));
        let whole: Vec<u64> = delivered(&trace, &[(3, 1500); 50]).into_iter().map(|(_, departs)| departs).collect();
        assert!(whole.into_iter().eq(4..54));
        let half: Vec<u64> = delivered(&trace, &[(3, 750); 50]).into_iter().map(|(_, departs)| departs).collect();
        assert!(half.into_iter().eq((1..=50_u64).map(|n| 3 + (754 * n).div_ceil(1504))));
    }

    #[test]
    fn traces_without_time_or_order_are_none() {
        for wrong in [vec![], vec![0], vec![0, 0], vec![3, 2], vec![Trace::LATEST_MS + 1]] {
            assert_eq!(Trace::new(wrong), None);
        }
        assert_eq!(Trace::new(vec![0, 0, 4]).unwrap().mean_rate(), BitRate::from_mbps(9));
    }

    proptest! {
        /// The queue of mm-link, opportunity by opportunity.
        #[test]
        fn deliveries_are_those_of_a_queue_that_each_opportunity_serves(
            mut millis in proptest::collection::vec(0_u64..30, 1..20),
            packets in proptest::collection::vec((0_u64..12_000_000, 1_u32..4000), 1..60),
        ) {
            millis.sort_unstable();
            millis.push(millis.last().copied().unwrap_or(0).max(1));
            let trace = Trace::new(millis.clone()).unwrap();
            let (mut now, mut position, mut found) = (0, Position::default(), Vec::new());
            let mut arrivals = VecDeque::new();
            for (number, (gap, size)) in packets.into_iter().enumerate() {
                now += gap;
                found.push(position.deliver(&trace, now, size));
                arrivals.push_back((now, number, u64::from(size) + 4));
            }
            let (mut queue, mut expected) = (VecDeque::new(), vec![Delivery { starts: 0, departs: 0 }; found.len()]);
            let mut round = 0;
            while !(arrivals.is_empty() && queue.is_empty()) {
                for &time in &millis {
                    let time = ms(round + time);
                    while let Some(&(at, number, bytes)) = arrivals.front() && at < time {
                        arrivals.pop_front();
                        queue.push_back((number, bytes, false));
                    }
                    let mut left = 1504;
                    while left > 0 && let Some((number, bytes, begun)) = queue.front_mut() {
                        if !*begun {
                            expected[*number].starts = time;
                            *begun = true;
                        }
                        let taken = left.min(*bytes);
                        left -= taken;
                        *bytes -= taken;
                        if *bytes == 0 {
                            expected[*number].departs = time;
                            queue.pop_front();
                        }
                    }
                }
                round += millis.last().copied().unwrap_or(0);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
