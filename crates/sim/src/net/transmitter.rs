//! A transmitter that schedules its departures: its rate changes while packets wait and while one is being sent, or its
//! queue is managed as packets leave it. How one packet follows the other is [`Service`]'s, which the emulation has, too.

use super::buffer::Buffer;
use super::counters::LinkCounters;
use super::fixed::QueueFound;
use super::packet::Packet;
use super::queue::Verdict;
use super::queue::codel::{CoDel, CoDelConfig, Leaving};
use crate::engine::ring::Ring;
use crate::engine::schedule::{Schedule, Slot};
use netlull_mechanism::rate::QueueView;
use netlull_network::transmission::{Next, Service, Turn};
use netlull_power::EnergyMeter;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::collections::VecDeque;

pub use netlull_network::plan::InService;
pub use netlull_network::transmission::RateChange;

/// What a departure event brought.
#[derive(Clone, Copy, Debug)]
pub enum Departure {
    /// A packet's last bit has been sent.
    Packet {
        /// The packet.
        packet: Packet,
    },
    /// A pause ended.
    Resumed,
    /// Nothing.
    None,
}

/// An entry of the rate log: for probes, and for the verifier, which sums it up by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLogEntry {
    /// When the change was decided.
    pub at: Instant,
    /// The new rate.
    pub rate: BitRate,
    /// The pause that it costs.
    pub pause: Duration,
    /// Bytes whose last bit had been sent by then.
    pub sent_bytes: u64,
}

/// When the transmitter really went over to a rate: after the packet in service, with its pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveRate {
    /// When.
    pub at: Instant,
    /// The new rate.
    pub rate: BitRate,
    /// The pause that begins here, with what was left of one before.
    pub pause: Duration,
    /// Bytes whose last bit had been sent by then.
    pub sent_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    since: Instant,
    packet: Packet,
}

/// Queue and transmitter of a link that schedules its departures.
pub struct VariableTransmitter {
    slot: Slot,
    service: Service,
    /// The packet that is being sent or suspended.
    serving: Packet,
    queue: Ring<Waiting>,
    waiting_bytes: u64,
    /// Packets taken, and their bytes.
    accepted: (u64, u64),
    codel: Option<CoDel>,
    /// Packets that CoDel has dropped and nobody has heard of yet.
    discarded: VecDeque<Packet>,
    sent_bytes: u64,
    largest_packet: u32,
    log: Vec<RateLogEntry>,
    effective: Vec<EffectiveRate>,
    meter: EnergyMeter,
}

impl VariableTransmitter {
    /// An idle transmitter at `rate`.
    #[must_use]
    pub fn new(rate: BitRate, slot: Slot, codel: Option<CoDelConfig>) -> Self {
        Self {
            slot,
            service: Service::new(rate),
            serving: Packet::default(),
            queue: Ring::new(),
            waiting_bytes: 0,
            accepted: (0, 0),
            codel: codel.map(CoDel::new),
            discarded: VecDeque::new(),
            sent_bytes: 0,
            largest_packet: 0,
            log: vec![RateLogEntry { at: Instant::ZERO, rate, pause: Duration::ZERO, sent_bytes: 0 }],
            effective: vec![EffectiveRate { at: Instant::ZERO, rate, pause: Duration::ZERO, sent_bytes: 0 }],
            meter: EnergyMeter::new(Instant::ZERO, rate),
        }
    }

    /// The rate at which the next packet is sent.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.service.rate()
    }

    /// The initial rate and every change since, as decided.
    #[must_use]
    pub fn log(&self) -> &[RateLogEntry] {
        &self.log
    }

    /// The same as the transmitter carried them out.
    #[must_use]
    pub fn effective(&self) -> &[EffectiveRate] {
        &self.effective
    }

    /// Time spent at each rate.
    #[must_use]
    pub fn meter(&self) -> &EnergyMeter {
        &self.meter
    }

    /// Starts the meter anew: results are measured from here.
    pub fn restart_meter(&mut self, now: Instant) {
        self.meter.restart(now);
    }

    /// Bytes whose last bit has been sent.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// The largest packet seen, in bytes.
    #[must_use]
    pub fn largest_packet(&self) -> u32 {
        self.largest_packet
    }

    /// Packets that wait.
    #[must_use]
    pub fn waiting_packets(&self) -> u64 {
        self.queue.len()
    }

    /// How long the packets that wait at `now` have waited, summed, in nanoseconds.
    #[must_use]
    pub fn waiting_ns(&self, now: Instant) -> u64 {
        self.queue.iter().map(|waiting| (now - waiting.since).as_nanos()).sum()
    }

    /// What waits and what is being sent.
    #[inline]
    #[must_use]
    pub fn queue_view(&self) -> QueueView {
        let in_service = self.in_service().map_or(0, |packet| u64::from(packet.size));
        QueueView { waiting: Bytes::new(self.waiting_bytes), in_service: Bytes::new(in_service) }
    }

    /// The packet that is being sent or suspended.
    #[inline]
    fn in_service(&self) -> Option<&Packet> {
        self.service.serves().then_some(&self.serving)
    }

    /// Packets that wait or are being sent.
    pub fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        self.in_service().into_iter().copied().chain(self.queue.iter().map(|waiting| waiting.packet))
    }

    /// The queue that a packet finds at `now`. A line that pauses is not idle.
    pub(super) fn queue_at(&self, now: Instant) -> QueueFound {
        QueueFound {
            idle_ns: self.service.idle_for(now).map(Duration::as_nanos),
            packets: self.queue.len(),
            bytes: self.waiting_bytes,
        }
    }

    /// The next packet that CoDel has dropped and nobody has heard of yet.
    pub(super) fn take_discarded(&mut self) -> Option<Packet> {
        self.discarded.pop_front()
    }

    /// Takes a packet, if it can be sent at once or the buffer has room.
    #[inline]
    pub(super) fn offer(
        &mut self,
        now: Instant,
        packet: &Packet,
        buffer: Buffer,
        counters: &mut LinkCounters,
        schedule: &mut Schedule,
    ) -> bool {
        self.largest_packet = self.largest_packet.max(packet.size);
        if self.service.is_idle() {
            // It does not wait, and nothing does: CoDel has nothing to decide, but learns of it.
            if let Some(codel) = &mut self.codel {
                codel.empty();
            }
            counters.served_packets += 1;
            self.accept(packet.size);
            self.serving = *packet;
            // It had nothing to wait for.
            schedule.add(self.slot, self.service.start_idle(now, packet.size));
            return true;
        }
        if !buffer.admits(self.queue.len(), self.waiting_bytes, packet.size) {
            return false;
        }
        self.accept(packet.size);
        let place = self.queue.push_place();
        (place.since, place.packet) = (now, *packet);
        self.waiting_bytes += u64::from(packet.size);
        counters.most_waiting = counters.most_waiting.max(self.queue.len());
        counters.most_waiting_bytes = counters.most_waiting_bytes.max(self.waiting_bytes);
        true
    }

    fn accept(&mut self, size: u32) {
        self.accepted.0 += 1;
        self.accepted.1 += u64::from(size);
    }

    /// Packets taken since the start, and their bytes.
    pub(super) fn accepted(&self) -> (u64, u64) {
        self.accepted
    }

    /// The event in the slot: a last bit was sent or a pause ended.
    pub(super) fn advance(&mut self, now: Instant, counters: &mut LinkCounters, schedule: &mut Schedule) -> Departure {
        match self.service.turn(now) {
            Turn::Sent { goes_over, then } => {
                let packet = self.serving;
                self.sent_bytes += u64::from(packet.size);
                if let Some(pause) = goes_over {
                    self.go_over(now, pause);
                }
                self.follow(then, now, counters, schedule);
                Departure::Packet { packet }
            }
            Turn::Resumed(then) => {
                self.follow(then, now, counters, schedule);
                Departure::Resumed
            }
            Turn::Nothing => Departure::None,
        }
    }

    #[inline(always)]
    fn follow(&mut self, then: Next, now: Instant, counters: &mut LinkCounters, schedule: &mut Schedule) {
        match then {
            Next::Packet => self.start_next(now, counters, schedule),
            Next::Wait => schedule.set(self.slot, self.service.next()),
        }
    }

    /// Goes over to another rate, at once or after the packet being sent, as the change says. Every change costs its
    /// pause: those that are decided while one packet is sent, or while a pause lasts, add up.
    pub(super) fn change_rate(&mut self, now: Instant, change: RateChange, schedule: &mut Schedule) {
        let RateChange { rate, pause, .. } = change;
        self.log.push(RateLogEntry { at: now, rate, pause, sent_bytes: self.sent_bytes });
        let before = self.service.next();
        if let Some(pause) = self.service.change(now, change) {
            self.go_over(now, pause);
        }
        if self.service.next() != before {
            schedule.set(self.slot, self.service.next());
        }
    }

    /// The link falls asleep: what is being sent and what waits is lost, in this order. It must not pause: links whose rate varies do
    /// not sleep.
    pub(super) fn fall_asleep(
        &mut self,
        now: Instant,
        stranded: &mut Vec<Packet>,
        counters: &mut LinkCounters,
        schedule: &mut Schedule,
    ) {
        counters.waited_in_vain_ns += self.waiting_ns(now);
        stranded.extend(self.packets());
        self.queue.clear();
        self.waiting_bytes = 0;
        if let Some(codel) = &mut self.codel {
            codel.empty();
        }
        self.service.abort(now);
        schedule.set(self.slot, Instant::NEVER);
    }

    /// Packets that wait or are being sent, to be changed.
    pub(super) fn for_each(&mut self, mut change: impl FnMut(&mut Packet)) {
        if self.in_service().is_some() {
            change(&mut self.serving);
        }
        self.queue.for_each(|waiting| change(&mut waiting.packet));
    }

    /// So many packets, and their bytes, were taken in vain.
    pub(super) fn forget_accepted(&mut self, packets: u64, bytes: u64) {
        self.accepted.0 -= packets;
        self.accepted.1 -= bytes;
    }

    /// A pause that has been decided and has not begun: it waits for the packet being sent.
    #[must_use]
    pub fn pause_due(&self) -> Duration {
        self.service.pause_due()
    }

    fn go_over(&mut self, now: Instant, pause: Duration) {
        let rate = self.rate();
        self.effective.push(EffectiveRate { at: now, rate, pause, sent_bytes: self.sent_bytes });
        self.meter.rate_changed(now, rate, pause);
    }

    /// The slot's event has come: sends what waits.
    #[inline(always)]
    fn start_next(&mut self, now: Instant, counters: &mut LinkCounters, schedule: &mut Schedule) {
        while let Some(first) = self.queue.front() {
            let waited = now - first.since;
            self.serving = first.packet;
            self.queue.skip();
            let packet = &mut self.serving;
            self.waiting_bytes -= u64::from(packet.size);
            let leaving = Leaving { waited, behind: self.waiting_bytes, can_be_marked: packet.can_be_marked() };
            match self.codel.as_mut().map_or(Verdict::Pass, |codel| codel.leaves(now, leaving)) {
                Verdict::Drop => {
                    counters.dropped_packets += 1;
                    counters.dropped_bytes += u64::from(packet.size);
                    counters.managed_drops += 1;
                    counters.discarded_packets += 1;
                    counters.discarded_bytes += u64::from(packet.size);
                    counters.waited_in_vain_ns += waited.as_nanos();
                    self.discarded.push_back(*packet);
                    continue;
                }
                Verdict::Mark => counters.marked_packets += u64::from(packet.mark()),
                Verdict::Pass => {}
            }
            counters.waited_ns += waited.as_nanos();
            counters.served_packets += 1;
            let ends = self.service.start(now, self.serving.size);
            schedule.add(self.slot, ends);
            return;
        }
        if let Some(codel) = &mut self.codel {
            codel.empty();
        }
        self.service.rest();
    }
}
