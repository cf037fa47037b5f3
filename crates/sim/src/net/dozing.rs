//! A transmitter with low-power idle whose departures follow from its arrivals: the first packet wakes it, and its
//! direction sleeps alone. It computes a packet's departure when the packet is offered, as one of fixed rate does.

use super::fixed::{Backlog, FixedTransmitter};
use super::ids::AgentId;
use netlull_mechanism::rate::LpiAlone;
use netlull_network::queue::Buffer;
use netlull_units::{Instant, Serialiser};

/// A transmitter of fixed rate that sleeps between packets.
pub(super) struct DozingTransmitter {
    pub fixed: FixedTransmitter,
    pub low_power: LpiAlone,
    /// The same packets on a line that never sleeps, and the time at which it has sent them.
    awake: (Serialiser, u64),
    /// The end of the run. Later departures do not count.
    end: u64,
    /// The receivers of the datagrams that begin at the link's node.
    local: Vec<AgentId>,
}

impl DozingTransmitter {
    /// A line that has sent nothing.
    pub fn new(fixed: FixedTransmitter, low_power: LpiAlone, local: Vec<AgentId>, end: Instant) -> Self {
        let awake = (fixed.serialiser.clone(), 0);
        Self { fixed, low_power, awake, end: end.as_nanos(), local }
    }

    /// True if the packet comes from a source of its node. At the instant of a timeout it comes last, since sources have
    /// the later slots.
    pub fn is_local(&self, receiver: AgentId) -> bool {
        self.local.contains(&receiver)
    }

    /// Sends a packet or queues it, if the buffer has room. Returns its departure time.
    pub fn offer(
        &mut self,
        now: u64,
        size: u32,
        is_local: bool,
        buffer: Buffer,
        backlog: &mut Option<Box<Backlog>>,
    ) -> Option<u64> {
        let Self { fixed, low_power, awake: (reference, reference_free), end, .. } = self;
        let before = fixed.free_at;
        let ready = low_power.arrives(Instant::from_nanos(now), Instant::from_nanos(before), is_local).as_nanos();
        if ready.max(before) <= now {
            fixed.send(now, size, backlog);
        } else {
            if !fixed.waits_until(ready.max(before), now, size, buffer, backlog) {
                return None;
            }
            // A line that wakes starts at a whole nanosecond.
            if ready > before {
                fixed.serialiser.idle();
            }
            fixed.free_at = fixed.free_at.saturating_add(fixed.serialiser.next(size).as_nanos());
        }
        if *reference_free < now {
            reference.idle();
        }
        *reference_free = now.max(*reference_free).saturating_add(reference.next(size).as_nanos());
        if fixed.free_at <= *end {
            let tally = &mut backlog.get_or_insert_with(Backlog::first).tally;
            tally.largest_lateness_ns = tally.largest_lateness_ns.max(fixed.free_at.saturating_sub(*reference_free));
        }
        Some(fixed.free_at)
    }
}
