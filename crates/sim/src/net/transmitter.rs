//! A transmitter that schedules its departures: its rate changes while packets wait and while one is being sent, or its
//! queue is managed as packets leave it. Queue and line are a [`Transmitter`], which the emulation has, too.

use super::buffer::Buffer;
use super::counters::LinkCounters;
use super::fixed::QueueFound;
use super::packet::Packet;
use super::queue::codel::CoDelConfig;
use crate::engine::schedule::{Schedule, Slot};
use netlull_mechanism::rate::QueueView;
use netlull_network::transmitter::{self, Queued, QueuedPacket, Transmitter};
use netlull_power::EnergyMeter;
use netlull_units::{BitRate, Duration, Instant};

pub use netlull_network::plan::InService;
pub use netlull_network::transmission::RateChange;

impl QueuedPacket for Packet {
    #[inline]
    fn size(&self) -> u32 {
        self.size
    }

    #[inline]
    fn can_be_marked(&self) -> bool {
        self.can_be_marked()
    }

    #[inline]
    fn mark(&mut self) -> bool {
        self.mark()
    }
}

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

/// Queue and transmitter of a link that schedules its departures.
pub struct VariableTransmitter {
    slot: Slot,
    line: Transmitter<Packet>,
    /// Packets taken, and their bytes.
    accepted: (u64, u64),
    sent_bytes: u64,
    largest_packet: u32,
    log: Vec<RateLogEntry>,
    effective: Vec<EffectiveRate>,
}

impl VariableTransmitter {
    /// An idle transmitter at `rate`.
    #[must_use]
    pub fn new(rate: BitRate, slot: Slot, codel: Option<CoDelConfig>) -> Self {
        Self {
            slot,
            line: Transmitter::new(rate, codel),
            accepted: (0, 0),
            sent_bytes: 0,
            largest_packet: 0,
            log: vec![RateLogEntry { at: Instant::ZERO, rate, pause: Duration::ZERO, sent_bytes: 0 }],
            effective: vec![EffectiveRate { at: Instant::ZERO, rate, pause: Duration::ZERO, sent_bytes: 0 }],
        }
    }

    /// The rate at which the next packet is sent.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.line.rate()
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
        self.line.meter()
    }

    /// Starts the meter anew: results are measured from here.
    pub fn restart_meter(&mut self, now: Instant) {
        self.line.restart_meter(now);
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
        self.line.waiting_packets()
    }

    /// How long the packets that wait at `now` have waited, summed, in nanoseconds.
    #[must_use]
    pub fn waiting_ns(&self, now: Instant) -> u64 {
        self.line.waiting_ns(now)
    }

    /// The packets that wait and the one that is being sent, in bytes.
    #[inline]
    #[must_use]
    pub fn queue_view(&self) -> QueueView {
        self.line.view()
    }

    /// Packets that are being sent or wait.
    pub fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        self.line.packets().copied()
    }

    /// The queue that a packet finds at `now`. A line that pauses is not idle.
    pub(super) fn queue_at(&self, now: Instant) -> QueueFound {
        QueueFound {
            idle_ns: self.line.idle_for(now).map(Duration::as_nanos),
            packets: self.line.waiting_packets(),
            bytes: self.line.waiting_bytes(),
        }
    }

    /// The next packet that CoDel has dropped and nobody has heard of yet.
    pub(super) fn take_discarded(&mut self) -> Option<Packet> {
        self.line.take_discarded()
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
        match self.line.queue(now, *packet, buffer, counters) {
            // The line was idle, and its slot empty.
            Queued::Sent(ends) => schedule.add(self.slot, ends),
            Queued::Waits => {}
            Queued::Full(_) => return false,
        }
        self.accepted.0 += 1;
        self.accepted.1 += u64::from(packet.size);
        true
    }

    /// Packets taken since the start, and their bytes.
    pub(super) fn accepted(&self) -> (u64, u64) {
        self.accepted
    }

    /// The event in the slot: a last bit was sent or a pause ended.
    pub(super) fn advance(&mut self, now: Instant, counters: &mut LinkCounters, schedule: &mut Schedule) -> Departure {
        let departure = match self.line.turn(now, counters) {
            transmitter::Departure::Packet { packet, goes_over } => {
                self.sent_bytes += u64::from(packet.size);
                if let Some(pause) = goes_over {
                    self.went_over(now, pause);
                }
                Departure::Packet { packet }
            }
            transmitter::Departure::Resumed => Departure::Resumed,
            transmitter::Departure::Nothing => return Departure::None,
        };
        // The event has been taken: the slot is empty.
        schedule.add(self.slot, self.line.next());
        departure
    }

    /// Goes over to another rate, at once or after the packet being sent, as the change says. Every change costs its
    /// pause: those that are decided while one packet is sent, or while a pause lasts, add up.
    pub(super) fn change_rate(&mut self, now: Instant, change: RateChange, schedule: &mut Schedule) {
        let RateChange { rate, pause, .. } = change;
        self.log.push(RateLogEntry { at: now, rate, pause, sent_bytes: self.sent_bytes });
        let before = self.line.next();
        if let Some(pause) = self.line.change_rate(now, change) {
            self.went_over(now, pause);
        }
        if self.line.next() != before {
            schedule.set(self.slot, self.line.next());
        }
    }

    /// The link falls asleep: the packet that is being sent and those that wait are lost, in this order. It must not pause: links whose rate
    /// varies do not sleep.
    pub(super) fn fall_asleep(
        &mut self,
        now: Instant,
        stranded: &mut Vec<Packet>,
        counters: &mut LinkCounters,
        schedule: &mut Schedule,
    ) {
        counters.waited_in_vain_ns += self.line.waiting_ns(now);
        stranded.extend(self.line.abandon(now));
        schedule.set(self.slot, Instant::NEVER);
    }

    /// Packets that wait or are being sent, to be changed.
    pub(super) fn for_each(&mut self, change: impl FnMut(&mut Packet)) {
        self.line.packets_mut().for_each(change);
    }

    /// So many packets, and their bytes, were taken in vain.
    pub(super) fn forget_accepted(&mut self, packets: u64, bytes: u64) {
        self.accepted.0 -= packets;
        self.accepted.1 -= bytes;
    }

    /// A pause that has been decided and has not begun: it waits for the packet being sent.
    #[must_use]
    pub fn pause_due(&self) -> Duration {
        self.line.pause_due()
    }

    fn went_over(&mut self, now: Instant, pause: Duration) {
        self.effective.push(EffectiveRate { at: now, rate: self.rate(), pause, sent_bytes: self.sent_bytes });
    }
}
