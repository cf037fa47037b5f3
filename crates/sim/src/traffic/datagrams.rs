//! Sources of datagrams: constant, Poisson, bursty, and replayed from recorded arrivals.

use super::{ArrivalPattern, DatagramFlow};
use netlull_network::random::Stream;
use netlull_units::{Duration, Instant, Serialiser};
use std::sync::Arc;

/// An open-loop source: it sends regardless of arrivals.
pub struct DatagramSource {
    size: u32,
    stop: Instant,
    next: Instant,
    spacing: Serialiser,
    pattern: Pattern,
}

enum Pattern {
    Constant,
    Poisson { mean: Duration, stream: Stream },
    Bursts(Bursts),
    Replay(Replay),
}

/// Recorded packets.
struct Replay {
    record: Arc<Record>,
    /// The number of the next packet.
    next: usize,
}

/// A burst per cycle. It starts with the cycle, has an exponential length and ends at the latest with the cycle.
struct Bursts {
    cycle: Duration,
    mean_on: Duration,
    stream: Stream,
    /// The start of the next cycle.
    next_cycle: Instant,
    /// The end of the burst. A packet is sent at each multiple of the spacing before it.
    ends: Instant,
}

impl DatagramSource {
    /// Creates the source of `flow`. The name of its random stream contains the flow's name.
    #[must_use]
    pub fn new(flow: &DatagramFlow, seed: u64) -> Self {
        let stream = || Stream::new(seed, &format!("flow.{}", flow.path.name));
        let spacing = Serialiser::new(flow.rate);
        let mut source =
            Self { size: flow.size, stop: flow.stop, next: flow.start, spacing, pattern: Pattern::Constant };
        source.pattern = match &flow.pattern {
            ArrivalPattern::Constant => Pattern::Constant,
            ArrivalPattern::Poisson => {
                let mean = source.spacing.next(flow.size);
                source.spacing.idle();
                Pattern::Poisson { mean, stream: stream() }
            }
            &ArrivalPattern::Bursts { cycle, mean_on } => {
                Pattern::Bursts(Bursts { cycle, mean_on, stream: stream(), next_cycle: flow.start, ends: flow.start })
            }
            ArrivalPattern::Replay(record) => Pattern::Replay(Replay { record: Arc::clone(record), next: 0 }),
        };
        if !flow.jitter.is_zero() {
            let mut stream = Stream::new(seed, &format!("start.{}", flow.path.name));
            source.next += Duration::from_nanos(stream.between(0, flow.jitter.as_nanos()));
        }
        if let Pattern::Poisson { mean, stream } = &mut source.pattern {
            source.next += stream.exponential(*mean);
        }
        source.replay();
        source
    }

    /// Schedules the next recorded packet of a replay.
    fn replay(&mut self) {
        if let Pattern::Replay(replay) = &self.pattern {
            let next = replay.record.get(replay.next).map(|(time, size)| (Instant::from_nanos(time), size));
            (self.next, self.size) = next.unwrap_or((Instant::NEVER, self.size));
        }
    }

    /// The size of the next packet on the wire, in bytes.
    #[must_use]
    #[inline]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The time of the next packet; [`Instant::NEVER`] after the source has stopped.
    #[must_use]
    #[inline]
    pub fn next(&self) -> Instant {
        if self.next < self.stop { self.next } else { Instant::NEVER }
    }

    /// Records that the packet due at `now` is sent, and schedules the next.
    #[inline]
    pub fn sent(&mut self, now: Instant) {
        self.next = match &mut self.pattern {
            Pattern::Constant => now + self.spacing.next(self.size),
            Pattern::Poisson { mean, stream } => now + stream.exponential(*mean),
            Pattern::Bursts(bursts) => {
                if now == bursts.next_cycle {
                    bursts.begin(now);
                    self.spacing.idle();
                }
                bursts.after(now + self.spacing.next(self.size))
            }
            Pattern::Replay(replay) => {
                replay.next += 1;
                return self.replay();
            }
        };
    }
}

impl Bursts {
    fn begin(&mut self, now: Instant) {
        self.next_cycle = now + self.cycle;
        self.ends = (now + self.stream.exponential(self.mean_on)).min(self.next_cycle);
    }

    /// The time of the next packet: `next`, or the start of the next burst.
    fn after(&self, next: Instant) -> Instant {
        if next < self.ends { next } else { self.next_cycle }
    }
}

/// The arrival times and sizes of packets: 12 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since the start, in ascending order.
    times: Vec<u64>,
    /// Bytes on the wire.
    sizes: Vec<u32>,
}

impl Record {
    /// Records a packet of `size` bytes at `time` nanoseconds, not earlier than the last.
    pub fn push(&mut self, time: u64, size: u32) {
        debug_assert!(self.times.last().is_none_or(|last| *last <= time), "recorded out of order");
        self.times.push(time);
        self.sizes.push(size);
    }

    /// The number of packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns true if the record is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The total size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sizes.iter().map(|size| u64::from(*size)).sum()
    }

    /// The time and size of the n-th packet.
    #[inline]
    #[must_use]
    pub fn get(&self, n: usize) -> Option<(u64, u32)> {
        Some((*self.times.get(n)?, *self.sizes.get(n)?))
    }

    /// The times and sizes of all packets.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        self.times.iter().copied().zip(self.sizes.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::FlowPath;
    use netlull_units::BitRate;

    fn flow(pattern: ArrivalPattern) -> DatagramFlow {
        DatagramFlow {
            path: FlowPath { name: "f".to_owned(), from: 0, to: 1 },
            pattern,
            rate: BitRate::from_mbps(10),
            size: 1500,
            start: Instant::from_nanos(5),
            jitter: Duration::ZERO,
            stop: Instant::NEVER,
        }
    }

    fn times(source: &mut DatagramSource, until: Instant) -> Vec<Instant> {
        let mut times = vec![];
        while source.next() < until {
            let now = source.next();
            times.push(now);
            source.sent(now);
        }
        times
    }

    const SECOND: Instant = Instant::from_nanos(1_000_000_000);

    #[test]
    fn a_constant_source_sends_every_packet_time() {
        // 1500 B at 10 Mb/s: a packet every 1.2 ms, so ceil((1 s - 5 ns) / 1.2 ms) = 834 in the first second.
        let mut source = DatagramSource::new(&flow(ArrivalPattern::Constant), 1);
        let sent = times(&mut source, SECOND);
        assert_eq!(sent.len(), 834);
        assert!(sent.windows(2).all(|pair| pair[1] - pair[0] == Duration::from_micros(1200)));
    }

    #[test]
    fn a_poisson_source_keeps_its_mean_rate_and_varies() {
        let mut source = DatagramSource::new(&flow(ArrivalPattern::Poisson), 3);
        let sent = times(&mut source, Instant::from_nanos(120_000_000_000));
        // Expected: 100,000 packets. The standard deviation of a Poisson count is its square root, 316.
        assert!((99_000..101_000).contains(&sent.len()), "{}", sent.len());
        let gaps: Vec<f64> = sent.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
        let longer = gaps.iter().filter(|gap| **gap > 0.0012).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1.0_f64).exp()).abs() < 0.01, "P(gap > mean) = 1/e, not {longer}");
    }

    #[test]
    fn bursts_start_with_each_cycle_and_have_their_mean_length() {
        let pattern = ArrivalPattern::Bursts { cycle: Duration::from_secs(1), mean_on: Duration::from_millis(100) };
        let mut source = DatagramSource::new(&flow(pattern), 1);
        let sent = times(&mut source, Instant::from_nanos(2_000_000_000_000));
        let firsts = sent.iter().filter(|at| (at.as_nanos() - 5) % 1_000_000_000 == 0).count();
        assert_eq!(firsts, 2000, "one burst a cycle");
        // A burst of length X holds ceil(X / 1.2 ms) packets: 100/1.2 + 1/2 = 83.8 on average, minus the cut at 1 s
        // (5e-5 of them); standard error 83.3/sqrt(2000) = 1.9.
        let mean = sent.len() as f64 / 2000.0;
        assert!((mean - 83.8).abs() < 6.0, "{mean}");
    }

    #[test]
    fn a_replay_sends_what_was_recorded() {
        let mut record = Record::default();
        let packets = [(0, 60), (7, 1500), (7, 40), (1_000_000, 1500)];
        packets.iter().for_each(|&(time, size)| record.push(time, size));
        assert_eq!((record.len(), record.bytes()), (4, 3100));
        let mut source = DatagramSource::new(&flow(ArrivalPattern::Replay(Arc::new(record))), 1);
        let sent: Vec<(u64, u32)> = std::iter::from_fn(|| {
            let (now, size) = (source.next(), source.size());
            (now != Instant::NEVER).then(|| source.sent(now))?;
            Some((now.as_nanos(), size))
        })
        .collect();
        assert_eq!(sent, packets);
    }

    #[test]
    fn a_stopped_source_stays_silent() {
        let stopped = DatagramFlow { stop: Instant::from_nanos(2_000_000), ..flow(ArrivalPattern::Constant) };
        let mut source = DatagramSource::new(&stopped, 1);
        assert_eq!(times(&mut source, Instant::NEVER).len(), 2, "at 5 ns and 1.200005 ms");
    }
}
