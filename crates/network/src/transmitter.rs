//! A queue and its line, for packets of any kind. The rate may change while packets are queued, and CoDel may
//! drop packets at the head.
//!
//! The caller keeps the time: it calls [`Transmitter::turn`] at [`Transmitter::next`].

use crate::queue::codel::{CoDel, CoDelConfig, Leaving};
use crate::queue::{Buffer, LinkCounters, Verdict};
use crate::ring::Ring;
use crate::transmission::{Lateness, Next, RateChange, Service, Turn};
use netlull_mechanism::rate::QueueView;
use netlull_power::EnergyMeter;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::collections::VecDeque;

/// A packet in the view of a queue. The default packet is a placeholder for no packet.
pub trait QueuedPacket: Default {
    /// The size on the wire in bytes, IP header included.
    fn size(&self) -> u32;

    /// Returns true if the network may mark the packet (RFC 3168 section 5).
    fn can_be_marked(&self) -> bool;

    /// Marks the packet "congestion experienced". Returns false if it was marked before.
    fn mark(&mut self) -> bool;

    /// Moves the packet out of its slot in a queue. A copyable packet may stay there as well.
    #[inline]
    fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

/// The fate of a packet at a transmitter.
#[derive(Debug)]
pub enum Queued<P> {
    /// The packet is in service until the instant of its last bit.
    Sent(Instant),
    /// The packet is queued.
    Waits,
    /// The buffer has no room for the packet.
    Full(P),
}

/// The result of a turn.
#[derive(Clone, Copy, Debug)]
pub enum Departure<P> {
    /// A packet's last bit has been sent.
    Packet {
        /// The packet.
        packet: P,
        /// The pause of a rate change that was decided earlier and starts now, if there is one.
        goes_over: Option<Duration>,
    },
    /// A pause is over.
    Resumed,
    /// No event was due.
    Nothing,
}

#[derive(Debug, Default)]
struct Waiting<P> {
    since: Instant,
    packet: P,
}

/// A queue and its line.
#[derive(Debug)]
pub struct Transmitter<P> {
    service: Service,
    /// The packet in service or suspended, if there is one.
    serving: P,
    queue: Ring<Waiting<P>>,
    waiting_bytes: u64,
    codel: Option<CoDel>,
    /// Packets that CoDel has dropped and the caller has not taken yet.
    discarded: VecDeque<P>,
    meter: EnergyMeter,
    /// The packets on a link at the highest rate, if lateness is measured.
    lateness: Option<Box<Lateness>>,
}

// Forced inlines here, by `make counts`: without them and those of drivers practRA takes 3.4 % more instructions.
impl<P: QueuedPacket> Transmitter<P> {
    /// Creates an idle transmitter.
    #[must_use]
    pub fn new(rate: BitRate, codel: Option<CoDelConfig>) -> Self {
        Self {
            service: Service::new(rate),
            serving: P::default(),
            queue: Ring::new(),
            waiting_bytes: 0,
            codel: codel.map(CoDel::new),
            discarded: VecDeque::new(),
            meter: EnergyMeter::new(Instant::ZERO, rate),
            lateness: None,
        }
    }

    /// Sets the bytes on the wire that each packet has in addition to its size. To be called before the first packet.
    pub fn set_overhead(&mut self, overhead: u32) {
        self.service.set_overhead(overhead);
    }

    /// Measures the lateness of packets against a link that is always at its highest rate. The counters get the
    /// largest.
    pub fn measure_lateness(&mut self, highest: BitRate) {
        self.lateness = Some(Box::new(Lateness::new(highest, self.service.overhead())));
    }

    /// The rate for the next packet.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.service.rate()
    }

    /// The time of the next [`turn`](Self::turn); `NEVER` for an idle line.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Instant {
        self.service.next()
    }

    /// The meter of the time at each rate.
    #[must_use]
    pub fn meter(&self) -> &EnergyMeter {
        &self.meter
    }

    /// Restarts the meter at the beginning of the measurement.
    pub fn restart_meter(&mut self, now: Instant) {
        self.meter.restart(now);
    }

    /// The backlog in packets.
    #[inline]
    #[must_use]
    pub fn waiting_packets(&self) -> u64 {
        self.queue.len()
    }

    /// The backlog in bytes.
    #[inline]
    #[must_use]
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// The sum of the queueing delays so far of the packets queued at `now`, in nanoseconds.
    #[must_use]
    pub fn waiting_ns(&self, now: Instant) -> u128 {
        self.queue.iter().map(|waiting| u128::from(now.saturating_since(waiting.since).as_nanos())).sum()
    }

    /// The predicted end of the last packet at the present rate; `now` for an idle line.
    #[must_use]
    pub fn busy_until(&self, now: Instant) -> Instant {
        self.would_begin(now).last().unwrap_or(now)
    }

    /// The predicted start of each queued packet, and the end of the last.
    fn would_begin(&self, now: Instant) -> impl Iterator<Item = Instant> {
        self.service.would_begin(now, self.queue.iter().map(|waiting| waiting.packet.size()))
    }

    /// The queue in the view of a controller.
    #[inline]
    #[must_use]
    pub fn view(&self) -> QueueView {
        let in_service = self.serving().map_or(0, |packet| u64::from(packet.size()));
        QueueView { waiting: Bytes::new(self.waiting_bytes), in_service: Bytes::new(in_service) }
    }

    /// The packet in service or suspended.
    #[inline]
    #[must_use]
    pub fn serving(&self) -> Option<&P> {
        self.service.serves().then_some(&self.serving)
    }

    /// The packet in service or suspended, then the queued packets.
    pub fn packets(&self) -> impl Iterator<Item = &P> {
        self.serving().into_iter().chain(self.queue.iter().map(|waiting| &waiting.packet))
    }

    /// Applies a change to all these packets.
    pub fn for_each(&mut self, mut change: impl FnMut(&mut P)) {
        if self.service.serves() {
            change(&mut self.serving);
        }
        self.queue.for_each(|waiting| change(&mut waiting.packet));
    }

    /// The length of the idle time, if the line is idle. A pausing line is not idle.
    #[must_use]
    pub fn idle_for(&self, now: Instant) -> Option<Duration> {
        self.service.idle_for(now)
    }

    /// The time since the last bit, if the line is idle, or stopped without a queue.
    #[must_use]
    pub fn quiet_for(&self, now: Instant) -> Option<Duration> {
        if self.queue.is_empty() { self.service.quiet_for(now) } else { None }
    }

    /// The length of a decided pause that follows the packet in service.
    #[must_use]
    pub fn pause_due(&self) -> Duration {
        self.service.pause_due()
    }

    /// Takes the next packet that CoDel has dropped.
    #[inline]
    pub fn take_discarded(&mut self) -> Option<P> {
        self.discarded.pop_front()
    }

    /// Takes a packet if the line is idle or the buffer has room.
    #[inline(always)]
    pub fn queue(&mut self, now: Instant, packet: P, buffer: Buffer, counters: &mut LinkCounters) -> Queued<P> {
        let size = packet.size();
        if self.service.is_idle() {
            // The packet is not queued, and no other is. CoDel has nothing to decide, but it must know of the
            // empty queue.
            if let Some(codel) = &mut self.codel {
                codel.empty();
            }
            counters.served_packets += 1;
            self.serving = packet;
            self.arrived(now, size);
            return Queued::Sent(self.service.start_idle(now, size));
        }
        if !buffer.admits(self.waiting_packets(), self.waiting_bytes, size) {
            return Queued::Full(packet);
        }
        let place = self.queue.push_place();
        (place.since, place.packet) = (now, packet);
        self.waiting_bytes += u64::from(size);
        self.arrived(now, size);
        counters.most_waiting = counters.most_waiting.max(self.waiting_packets());
        counters.most_waiting_bytes = counters.most_waiting_bytes.max(self.waiting_bytes);
        Queued::Waits
    }

    #[inline]
    fn arrived(&mut self, now: Instant, size: u32) {
        if let Some(lateness) = &mut self.lateness {
            lateness.arrived(now, size);
        }
    }

    /// Handles the event of [`next`](Self::next): a last bit was sent or a pause is over.
    #[inline]
    pub fn turn(&mut self, now: Instant, counters: &mut LinkCounters) -> Departure<P> {
        match self.service.turn(now) {
            Turn::Sent { goes_over, then } => {
                let packet = self.serving.take();
                self.measure_departure(now, counters);
                if let Some(pause) = goes_over {
                    self.meter.rate_changed(now, self.rate(), pause);
                }
                self.follow(then, now, counters);
                Departure::Packet { packet, goes_over }
            }
            Turn::Resumed(then) => {
                self.follow(then, now, counters);
                Departure::Resumed
            }
            Turn::Nothing => Departure::Nothing,
        }
    }

    /// Ends a transmission and starts the next packet, in the usual case: no pause follows, and CoDel drops nothing. The
    /// caller has read the packet [in service](Self::serving). Returns false in any other case: nothing has changed then.
    #[inline(always)]
    pub fn turn_to_next(&mut self, now: Instant, counters: &mut LinkCounters) -> bool {
        if self.codel.is_some() || !self.service.end_without_pause(now) {
            return false;
        }
        self.measure_departure(now, counters);
        let Some(first) = self.queue.front_mut() else {
            self.service.rest();
            return true;
        };
        let waited = now.saturating_since(first.since);
        self.serving = first.packet.take();
        self.queue.skip();
        let size = self.serving.size();
        self.waiting_bytes -= u64::from(size);
        counters.waited_ns += u128::from(waited.as_nanos());
        counters.served_packets += 1;
        self.service.start(now, size);
        true
    }

    /// Notes the lateness of the packet that departs.
    #[inline]
    fn measure_departure(&mut self, now: Instant, counters: &mut LinkCounters) {
        if let Some(lateness) = &mut self.lateness {
            let late = lateness.departed(now).as_nanos();
            counters.largest_lateness_ns = counters.largest_lateness_ns.max(late);
        }
    }

    #[inline(always)]
    fn follow(&mut self, then: Next, now: Instant, counters: &mut LinkCounters) {
        if then == Next::Packet {
            self.start_next(now, counters);
        }
    }

    /// Sends the next queued packet that CoDel does not drop.
    #[inline(always)]
    fn start_next(&mut self, now: Instant, counters: &mut LinkCounters) {
        while let Some(first) = self.queue.front_mut() {
            let waited = now.saturating_since(first.since);
            self.serving = first.packet.take();
            self.queue.skip();
            let size = self.serving.size();
            let packet = &mut self.serving;
            self.waiting_bytes -= u64::from(size);
            let leaving = Leaving { waited, behind: self.waiting_bytes, can_be_marked: packet.can_be_marked() };
            match self.codel.as_mut().map_or(Verdict::Pass, |codel| codel.leaves(now, leaving)) {
                Verdict::Drop => {
                    counters.dropped_packets += 1;
                    counters.dropped_bytes += u64::from(size);
                    counters.managed_drops += 1;
                    counters.discarded_packets += 1;
                    counters.discarded_bytes += u64::from(size);
                    counters.waited_in_vain_ns += u128::from(waited.as_nanos());
                    self.discarded.push_back(packet.take());
                    self.lateness.as_mut().map(|lateness| lateness.departed(now));
                    continue;
                }
                Verdict::Mark => counters.marked_packets += u64::from(packet.mark()),
                Verdict::Pass => {}
            }
            counters.waited_ns += u128::from(waited.as_nanos());
            counters.served_packets += 1;
            self.service.start(now, size);
            return;
        }
        if let Some(codel) = &mut self.codel {
            codel.empty();
        }
        self.service.rest();
    }

    /// Changes the rate, at once or after the packet in service, depending on the change. Returns the pause that
    /// begins now, if the change is immediate. Every change costs its pause: those during one packet or one pause
    /// add up.
    pub fn change_rate(&mut self, now: Instant, change: RateChange) -> Option<Duration> {
        let pause = self.service.change(now, change)?;
        self.meter.rate_changed(now, change.rate, pause);
        Some(pause)
    }

    /// Changes the capacity of a line without a controller. It applies at once, also to the packet in service.
    pub fn set_capacity(&mut self, now: Instant, rate: BitRate) {
        self.service.set_capacity(now, rate);
        self.meter.rate_changed(now, rate, Duration::ZERO);
    }

    /// Removes the packet in service and the queued packets, in this order.
    pub fn abandon(&mut self, now: Instant) -> Vec<P> {
        let mut abandoned = Vec::new();
        self.for_each(|packet| abandoned.push(packet.take()));
        self.queue.clear();
        if let Some(codel) = &mut self.codel {
            codel.empty();
        }
        self.waiting_bytes = 0;
        self.service.abort(now);
        abandoned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::InService;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// A packet of 1500 B with a number. From 100 on it can be marked.
    #[derive(Debug, Default)]
    struct Full(u32);

    impl QueuedPacket for Full {
        fn size(&self) -> u32 {
            1500
        }

        fn can_be_marked(&self) -> bool {
            self.0 >= 100
        }

        fn mark(&mut self) -> bool {
            true
        }
    }

    #[test]
    fn waiting_packets_are_seen_and_timed() {
        let mut transmitter = Transmitter::new(BitRate::from_mbps(10), None);
        let mut counters = LinkCounters::default();
        for (number, now) in (1..).zip([0, 100, 300]) {
            transmitter.queue(at(now), Full(number), Buffer::Unlimited, &mut counters);
        }
        // One in service, two waiting since 0.1 and 0.3 ms.
        assert_eq!((transmitter.packets().count(), transmitter.waiting_bytes()), (3, 3000));
        assert_eq!(transmitter.waiting_ns(at(400)), 300_000 + 100_000);
        assert_eq!(transmitter.busy_until(at(400)), at(3600));
        for number in 1..=3 {
            let departure = transmitter.turn(transmitter.next(), &mut counters);
            assert!(matches!(departure, Departure::Packet { packet: Full(n), .. } if n == number), "{departure:?}");
        }
    }

    #[test]
    fn packets_that_codel_drops_or_marks_are_counted() {
        // Nine packets at once, 1.2 ms each. The second leaves the queue after 1.2 ms, above TARGET, so CoDel acts
        // INTERVAL later, from 3.2 ms on: on packet 4 at 3.6 ms, and again from 5.6 ms on, at 6.0 ms. The third time
        // is 2 ms / sqrt(2) later, 7.01 ms. A packet with only one behind it is spared.
        let codel = CoDelConfig { target: MS(1), interval: MS(2), largest_packet: 1500, ecn: true };
        let run = |first: u32| {
            let mut counters = LinkCounters::default();
            let mut transmitter = Transmitter::new(BitRate::from_mbps(10), Some(codel));
            for number in 1..=9 {
                transmitter.queue(Instant::ZERO, Full(first + number), Buffer::Unlimited, &mut counters);
            }
            while transmitter.next() != Instant::NEVER {
                transmitter.turn(transmitter.next(), &mut counters);
            }
            let discarded: Vec<u32> =
                std::iter::from_fn(|| transmitter.take_discarded()).map(|packet| packet.0).collect();
            (counters, discarded)
        };
        let common = LinkCounters { most_waiting: 8, most_waiting_bytes: 12_000, ..LinkCounters::default() };
        // Dropped: 4 at 3.6 ms, 7 at 6.0 ms. The others wait for 0, 1.2, ... 7.2 ms.
        let dropped = LinkCounters {
            dropped_packets: 2,
            dropped_bytes: 3000,
            managed_drops: 2,
            discarded_packets: 2,
            discarded_bytes: 3000,
            waited_in_vain_ns: 9_600_000,
            served_packets: 7,
            waited_ns: 25_200_000,
            ..common
        };
        assert_eq!(run(0), (dropped, vec![4, 7]));
        // Marked: 4, 6 and, at 7.2 ms, 7.
        let marked = LinkCounters { marked_packets: 3, served_packets: 9, waited_ns: 43_200_000, ..common };
        assert_eq!(run(100), (marked, vec![]));
    }

    #[test]
    fn a_change_of_rate_costs_its_pause_as_its_reading_says() {
        let change = |in_service| RateChange { rate: BitRate::from_mbps(5), pause: MS(2), in_service };
        // 1500 B take 1.2 ms at 10 Mb/s, 2.4 ms at 5. The change is at 0.4 ms, with a packet in service and a
        // queued packet.
        for (in_service, first, second) in [
            // Sent at 1.2, pause to 3.2, the next until 5.6.
            (InService::FinishThenPause, 1200, 5600),
            // Sent at 1.2, pause to 2.4, the next until 4.8.
            (InService::FinishWhilePausing, 1200, 4800),
            // The rest, 0.8 ms at 10 Mb/s, takes 1.6 ms after the pause to 2.4: 4.0, the next until 6.4.
            (InService::Suspend, 4000, 6400),
        ] {
            let mut counters = LinkCounters::default();
            let mut transmitter = Transmitter::new(BitRate::from_mbps(10), None);
            for _ in 0..2 {
                transmitter.queue(Instant::ZERO, Full(0), Buffer::Unlimited, &mut counters);
            }
            transmitter.change_rate(at(400), change(in_service));
            let mut sent = Vec::new();
            while transmitter.next() != Instant::NEVER {
                let now = transmitter.next();
                if let Departure::Packet { .. } = transmitter.turn(now, &mut counters) {
                    sent.push(now);
                }
            }
            assert_eq!(sent, [at(first), at(second)], "{in_service:?}");
            // 2 ms of transition, all counted.
            let residency = transmitter.meter().finish(at(10_000));
            let transition: Duration = residency.in_transition().iter().map(|part| part.time).sum();
            assert_eq!(transition, MS(2), "{in_service:?}");
        }
    }

    #[test]
    fn packets_that_are_served_wait_or_find_no_room_are_counted() {
        let mut counters = LinkCounters::default();
        let mut transmitter = Transmitter::new(BitRate::from_mbps(10), None);
        for _ in 0..3 {
            transmitter.queue(Instant::ZERO, Full(0), Buffer::Packets(2), &mut counters);
        }
        assert!(matches!(
            transmitter.queue(at(100), Full(0), Buffer::Packets(2), &mut counters),
            Queued::Full(Full(0))
        ));
        assert_eq!((counters.served_packets, counters.most_waiting, counters.most_waiting_bytes), (1, 2, 3000));
        // They wait for 1.2 and 2.4 ms.
        transmitter.turn(at(1200), &mut counters);
        assert_eq!((counters.served_packets, counters.waited_ns), (2, 1_200_000));
        assert!(transmitter.turn_to_next(at(2400), &mut counters));
        assert_eq!((counters.served_packets, counters.waited_ns), (3, 3_600_000));
        assert_eq!((counters.most_waiting, counters.most_waiting_bytes), (2, 3000));
    }
}
