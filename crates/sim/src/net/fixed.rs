//! A transmitter of fixed rate, which computes a packet's departure when the packet is offered, and the parts in front
//! of it: losses, early drops, laws of arrivals and a shared air (docs/models/link.md).

use netlull_network::arrival::Arrivals;
use netlull_network::loss::Loss;
use netlull_network::queue::red::Red;
use netlull_network::queue::{Buffer, LinkCounters};
use netlull_network::ring::Ring;
use netlull_network::trace::{Position, Trace};
use netlull_units::{BitRate, Duration, Serialiser};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The queue of a link, and its counters of queues, drops and sleep.
#[derive(Default)]
pub(super) struct Backlog {
    /// The queue of a link of fixed rate.
    pub waiting: Ring<Waiting>,
    pub tally: LinkCounters,
    /// The packets that left the queue of a link of fixed rate without transmission, because the link fell asleep.
    pub cut_short: u64,
}

impl Backlog {
    /// Makes the backlog of a link that has had none. Out of line: the allocation would cost each packet instructions.
    #[cold]
    pub fn first() -> Box<Self> {
        Box::default()
    }
}

/// A packet in the queue of a transmitter of fixed rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    /// The time of its arrival, in nanoseconds.
    arrived: u64,
    /// The time at which its transmission starts, in nanoseconds.
    pub starts: u64,
    size: u32,
}

/// The packets in the queue of a transmitter of fixed rate at one time, and their waiting times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InQueue {
    pub packets: u64,
    /// The sum of the waiting times up to now.
    pub so_far_ns: u128,
    /// The sum of the whole waiting times.
    pub in_full_ns: u128,
}

impl InQueue {
    pub fn at(now: u64, waiting: &Ring<Waiting>) -> Self {
        let mut all = Self::default();
        for entry in waiting.iter().filter(|entry| entry.starts > now) {
            all.packets += 1;
            all.so_far_ns += u128::from(now.saturating_sub(entry.arrived));
            all.in_full_ns += u128::from(entry.starts - entry.arrived);
        }
        all
    }
}

/// The queue at the arrival of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueFound {
    /// The idle time of the transmitter in nanoseconds; `None` if it is busy.
    pub idle_ns: Option<u64>,
    /// Packets in the queue.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A transmitter of fixed rate, computed ahead.
pub(super) struct FixedTransmitter {
    pub serialiser: Serialiser,
    /// The departure time of the last accepted packet, in nanoseconds.
    pub free_at: u64,
    /// Bytes of the packets in `Backlog::waiting`. Some of them may have started since.
    pub waiting_bytes: u64,
}

// Forced inlines here, by `make counts`: without them and those of `requests`, `hosts`, `control` and `transmitter`
// practRA takes 3.8 % more instructions, web 2.4 %.
impl FixedTransmitter {
    /// Sends a packet at once on an idle line and returns its departure time.
    #[inline(always)]
    pub fn send(&mut self, now: u64, size: u32, backlog: &mut Option<Box<Backlog>>) -> u64 {
        if self.free_at < now {
            self.serialiser.idle();
        }
        if self.waiting_bytes > 0 {
            self.waiting_bytes = 0;
            if let Some(backlog) = backlog {
                backlog.waiting.clear();
            }
        }
        // A queue whose departure times overflow stays full.
        self.free_at = now.saturating_add(self.serialiser.next(size).as_nanos());
        self.free_at
    }

    /// Queues a packet until `free_at` if the buffer has room.
    #[inline(always)]
    pub fn waits(&mut self, now: u64, size: u32, buffer: Buffer, backlog: &mut Backlog) -> bool {
        let Backlog { waiting, tally, .. } = backlog;
        self.forget_started(now, waiting);
        if !buffer.admits(waiting.len(), self.waiting_bytes, size) {
            return false;
        }
        waiting.push(Waiting { arrived: now, starts: self.free_at, size });
        self.waiting_bytes += u64::from(size);
        tally.most_waiting = tally.most_waiting.max(waiting.len());
        tally.most_waiting_bytes = tally.most_waiting_bytes.max(self.waiting_bytes);
        // In full, before its end: readers subtract the waits that continue.
        tally.waited_ns += u128::from(self.free_at - now);
        true
    }

    /// Queues a packet until `starts` if the buffer has room, for a line that an air, a trace or low-power idle keeps busy.
    // One copy for all: with one for each, `Ring::push` is not inlined on other links, and TCP takes 1.2 % more instructions.
    #[inline(never)]
    pub fn waits_until(
        &mut self,
        starts: u64,
        now: u64,
        size: u32,
        buffer: Buffer,
        backlog: &mut Option<Box<Backlog>>,
    ) -> bool {
        let before = std::mem::replace(&mut self.free_at, starts);
        let waits = self.waits(now, size, buffer, backlog.get_or_insert_with(Backlog::first));
        if !waits {
            self.free_at = before;
        }
        waits
    }

    /// The queue that a packet finds at `now`.
    pub fn queue_at(&mut self, now: u64, backlog: &mut Option<Box<Backlog>>) -> QueueFound {
        if self.free_at <= now {
            return QueueFound { idle_ns: Some(now - self.free_at), packets: 0, bytes: 0 };
        }
        let waiting = &mut backlog.get_or_insert_with(Backlog::first).waiting;
        self.forget_started(now, waiting);
        QueueFound { idle_ns: None, packets: waiting.len(), bytes: self.waiting_bytes }
    }

    /// Removes packets from the queue if their transmission starts at `now` or earlier.
    #[inline]
    fn forget_started(&mut self, now: u64, waiting: &mut Ring<Waiting>) {
        while let Some(entry) = waiting.front()
            && entry.starts <= now
        {
            self.waiting_bytes -= u64::from(entry.size);
            waiting.skip();
        }
    }
}

/// A shared air, as one of its links sees it: links whose transmissions never overlap. Clones share the same air.
///
/// Packets are sent in the order of their offers, over all links of the air. Each also takes the overhead of its
/// access to the air. The order is known at the offer, so a packet's times are computed then.
#[derive(Clone, Debug)]
pub struct Air {
    /// The end of the last transmission so far, in nanoseconds.
    // One run uses it, in one thread. An atomic number makes links that share it movable between threads.
    free_at: Arc<AtomicU64>,
    overhead: u64,
}

/// The nanosecond bits of a byte.
const BIT_NANOS: u128 = 8 * 1_000_000_000;

impl Air {
    /// Creates an idle air. `overhead` is the time for the access of each packet.
    #[must_use]
    pub fn new(overhead: Duration) -> Self {
        Self { free_at: Arc::default(), overhead: overhead.as_nanos() }
    }

    /// The end of the last transmission so far, in nanoseconds.
    pub(super) fn free_at(&self) -> u64 {
        self.free_at.load(Ordering::Relaxed)
    }

    /// Sends a packet from `starts` on. Returns the time of its last bit, in nanoseconds.
    ///
    /// A transmission ends at a whole nanosecond, rounded up. So no link exceeds its rate.
    pub(super) fn send(&self, starts: u64, size: u32, rate: BitRate) -> u64 {
        let time = (u128::from(size) * BIT_NANOS).div_ceil(u128::from(rate.as_bps()));
        let time = u64::try_from(time).unwrap_or(u64::MAX);
        let ends = starts.saturating_add(self.overhead).saturating_add(time);
        self.free_at.store(ends, Ordering::Relaxed);
        ends
    }
}

/// Losses, early drops and sleep in front of the buffer, a shared air or a trace, and laws of arrivals.
#[derive(Default)]
pub(super) struct Ingress {
    pub loss: Option<Loss>,
    pub red: Option<Red>,
    pub arrivals: Option<Arrivals>,
    /// The air that the link shares with others.
    pub air: Option<Air>,
    /// The trace of delivery opportunities, and the position in it.
    pub trace: Option<(Arc<Trace>, Position)>,
    /// True if RED has marked the last packet.
    pub marked: bool,
    /// True if the link sleeps or is waking: it takes no packets.
    pub closed: bool,
}

impl Ingress {
    /// The ingress of an awake link; `None` if the link does not need it.
    pub fn open(self) -> Option<Box<Self>> {
        let medium = self.air.is_some() || self.trace.is_some();
        let needed = self.loss.is_some() || self.red.is_some() || self.arrivals.is_some() || medium;
        needed.then(|| Box::new(Self { closed: false, ..self }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_two_links_take_turns_and_round_up() {
        let air = Air::new(Duration::from_micros(100));
        let other = air.clone();
        // 1500 B = 12,000 bit at 12 Mb/s: 1 ms, after 0.1 ms.
        assert_eq!(air.send(0, 1500, BitRate::from_mbps(12)), 1_100_000);
        assert_eq!(other.free_at(), 1_100_000);
        // 1 B at 3 Mb/s: 2666.7 ns.
        assert_eq!(other.send(1_100_000, 1, BitRate::from_mbps(3)), 1_202_667);
        assert_eq!(air.free_at(), 1_202_667);
    }
}
