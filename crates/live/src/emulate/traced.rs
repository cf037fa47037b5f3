//! The queue and the line of a link that follows a trace of delivery opportunities.

use super::frame::Frame;
use netlull_network::queue::{Buffer, LinkCounters};
use netlull_network::trace::{Delivery, Position, Trace};
use netlull_units::{Duration, Instant};
use std::collections::VecDeque;

/// The queue and the line. A packet waits in the buffer until an opportunity takes its first byte.
#[derive(Debug)]
pub struct TracedLine {
    trace: Trace,
    position: Position,
    /// The packets that an opportunity has begun to take, with the instants of their last bytes.
    leaving: VecDeque<(Instant, Frame)>,
    waiting: VecDeque<Waiting>,
    waiting_bytes: u64,
    /// The departure of the last accepted packet.
    free_at: Instant,
}

/// A packet in the buffer.
#[derive(Debug)]
struct Waiting {
    since: Instant,
    starts: Instant,
    departs: Instant,
    frame: Frame,
}

impl TracedLine {
    pub fn new(trace: Trace) -> Self {
        let (leaving, waiting) = Default::default();
        Self { trace, position: Position::default(), leaving, waiting, waiting_bytes: 0, free_at: Instant::ZERO }
    }

    /// The waiting packets and their bytes.
    pub fn waiting(&self) -> (u64, u64) {
        (self.waiting.len() as u64, self.waiting_bytes)
    }

    /// The time since the last departure; `None` until the last accepted packet has left.
    pub fn quiet_for(&self, now: Instant) -> Option<Duration> {
        (self.free_at <= now).then(|| now - self.free_at)
    }

    /// Queues a packet; returns it if the buffer has no room.
    pub fn queue(&mut self, now: Instant, frame: Frame, buffer: Buffer, counters: &mut LinkCounters) -> Option<Frame> {
        if !buffer.admits(self.waiting.len() as u64, self.waiting_bytes, frame.size) {
            return Some(frame);
        }
        let Delivery { starts, departs } = self.position.deliver(&self.trace, now.as_nanos(), frame.size);
        let [starts, departs] = [starts, departs].map(Instant::from_nanos);
        self.free_at = departs;
        self.waiting_bytes += u64::from(frame.size);
        self.waiting.push_back(Waiting { since: now, starts, departs, frame });
        counters.most_waiting = counters.most_waiting.max(self.waiting.len() as u64);
        counters.most_waiting_bytes = counters.most_waiting_bytes.max(self.waiting_bytes);
        None
    }

    /// The instant of the next [turn](Self::turn); `NEVER` for an empty line.
    pub fn next(&self) -> Instant {
        let starts = self.waiting.front().map_or(Instant::NEVER, |packet| packet.starts);
        self.leaving.front().map_or(starts, |(departs, _)| starts.min(*departs))
    }

    /// Starts the packets whose first opportunity is due. Returns a packet whose last byte has left.
    pub fn turn(&mut self, now: Instant, counters: &mut LinkCounters) -> Option<Frame> {
        while self.waiting.front().is_some_and(|packet| packet.starts <= now) {
            let Waiting { since, starts, departs, frame } = self.waiting.pop_front()?;
            self.waiting_bytes -= u64::from(frame.size);
            counters.served_packets += 1;
            counters.waited_ns += u128::from(starts.saturating_since(since).as_nanos());
            self.leaving.push_back((departs, frame));
        }
        let (departs, _) = self.leaving.front()?;
        if *departs <= now { self.leaving.pop_front().map(|(_, frame)| frame) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids::{Id, NodeId};
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn a_packet_waits_for_the_opportunity_of_its_first_byte_and_leaves_with_its_last() {
        // Opportunities of 1504 B at 2, 2, 5 and 7 ms; a packet takes 4 B more than its size. The buffer has room for 4 packets.
        let mut line = TracedLine::new(Trace::new(vec![2, 2, 5, 7]).unwrap());
        let mut counters = LinkCounters::default();
        let offer = |line: &mut TracedLine, size: u32, counters: &mut LinkCounters| {
            let frame = Frame { bytes: vec![], size, to: NodeId::new(0), owner: None, for_hosts: false, hops: 0 };
            line.queue(ms(1), frame, Buffer::Packets(4), counters).is_none()
        };
        assert_eq!(line.quiet_for(ms(1)), Some(Duration::from_millis(1)));
        // 1004 B of the first; 500 B of it and 504 B of the second; 1000 B of the second and 504 B of that at 5 ms; 956 B there.
        let taken = [1000, 1000, 1500, 952, 40].map(|size| offer(&mut line, size, &mut counters));
        assert_eq!(taken, [true, true, true, true, false]);
        assert_eq!((line.waiting(), line.next(), line.quiet_for(ms(4))), ((4, 4452), ms(2), None));
        let mut left = Vec::new();
        while line.next() < Instant::NEVER {
            let now = line.next();
            left.extend(line.turn(now, &mut counters).map(|frame| (now, frame.size, line.waiting().0)));
        }
        assert_eq!(left, [(ms(2), 1000, 1), (ms(2), 1000, 1), (ms(5), 1500, 0), (ms(5), 952, 0)]);
        assert_eq!((counters.served_packets, counters.most_waiting, counters.most_waiting_bytes), (4, 4, 4452));
        // Three wait from 1 to 2 ms, the last to 5 ms.
        assert_eq!((counters.waited_ns, line.quiet_for(ms(6))), (7_000_000, Some(Duration::from_millis(1))));
    }
}
