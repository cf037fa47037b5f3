//! A transmitter of fixed rate. It computes a packet's departure when the packet is offered.

use super::queue::{Buffer, LinkCounters};
use crate::engine::ring::Ring;
use netlull_units::Serialiser;

/// The queue of a link, and its counters of queues, drops and sleep.
#[derive(Default)]
pub(super) struct Backlog {
    /// The queue of a link of fixed rate.
    pub waiting: Ring<Waiting>,
    pub tally: LinkCounters,
    /// The rest of the waiting times that ended early when the link fell asleep, in packet nanoseconds. A link of
    /// fixed rate counts each waiting time in full at its start.
    pub cut_short_ns: u64,
}

impl Backlog {
    /// Makes the backlog of a link that has had none. Out of line: the allocation would cost each packet instructions.
    #[cold]
    #[inline(never)]
    pub fn first() -> Box<Self> {
        Box::default()
    }
}

/// A packet in the queue of a transmitter of fixed rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    /// The time at which its transmission starts, in nanoseconds.
    pub starts: u64,
    size: u32,
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
        waiting.push(Waiting { starts: self.free_at, size });
        self.waiting_bytes += u64::from(size);
        tally.most_waiting = tally.most_waiting.max(waiting.len());
        tally.most_waiting_bytes = tally.most_waiting_bytes.max(self.waiting_bytes);
        tally.waited_ns = tally.waited_ns.saturating_add(self.free_at - now);
        true
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
