//! A transmitter that schedules its departures.
//!
//! Links need it if their rate changes during transmissions, or if queue management acts on departing packets. The
//! queue and the line are a [`Transmitter`], which the emulation uses too.

use super::fixed::QueueFound;
use super::flight::Packet;
use netlull_mechanism::rate::QueueView;
use netlull_network::queue::codel::CoDelConfig;
use netlull_network::queue::{Buffer, LinkCounters};
use netlull_network::schedule::{Schedule, Slot};
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

    #[inline(always)]
    fn take(&mut self) -> Self {
        *self
    }
}

/// The result of a departure event.
#[derive(Clone, Copy, Debug)]
pub enum Departure {
    /// The transmission of a packet has ended.
    Packet {
        /// The packet.
        packet: Packet,
    },
    /// A pause has ended.
    Resumed,
    /// No result.
    None,
}

/// An entry of the rate log, for probes and for the verifier's own sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLogEntry {
    /// The time of the decision.
    pub at: Instant,
    /// The new rate.
    pub rate: BitRate,
    /// The pause for the change.
    pub pause: Duration,
    /// Bytes fully transmitted by then.
    pub sent_bytes: u64,
}

/// The time at which the transmitter switches to a rate: after the packet in service, with the pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveRate {
    /// The time of the switch.
    pub at: Instant,
    /// The new rate.
    pub rate: BitRate,
    /// The pause that begins here, including the rest of an earlier pause.
    pub pause: Duration,
    /// Bytes fully transmitted by then.
    pub sent_bytes: u64,
}

/// The queue and transmitter of a link that schedules its departures.
pub struct VariableTransmitter {
    slot: Slot,
    line: Transmitter<Packet>,
    /// Accepted packets, and their bytes.
    accepted: (u64, u64),
    sent_bytes: u64,
    largest_packet: u32,
    log: Vec<RateLogEntry>,
    effective: Vec<EffectiveRate>,
}

impl VariableTransmitter {
    /// Creates an idle transmitter at `rate`.
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

    /// Measures the lateness of packets against a link that is always at its highest rate.
    pub(super) fn measure_lateness(&mut self, highest: BitRate) {
        self.line.measure_lateness(highest);
    }

    /// The rate of the next transmission.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.line.rate()
    }

    /// The initial rate and every decided change.
    #[must_use]
    pub fn log(&self) -> &[RateLogEntry] {
        &self.log
    }

    /// The initial rate and every change, with the times of the actual switches.
    #[must_use]
    pub fn effective(&self) -> &[EffectiveRate] {
        &self.effective
    }

    /// Time spent at each rate.
    #[must_use]
    pub fn meter(&self) -> &EnergyMeter {
        self.line.meter()
    }

    /// Restarts the meter at the start of the measured time.
    pub fn restart_meter(&mut self, now: Instant) {
        self.line.restart_meter(now);
    }

    /// Bytes fully transmitted.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// The size of the largest packet so far, in bytes.
    #[must_use]
    pub fn largest_packet(&self) -> u32 {
        self.largest_packet
    }

    /// Packets in the queue.
    #[must_use]
    pub fn waiting_packets(&self) -> u64 {
        self.line.waiting_packets()
    }

    /// The sum of the waiting times so far of the packets in the queue at `now`, in nanoseconds.
    #[must_use]
    pub fn waiting_ns(&self, now: Instant) -> u64 {
        self.line.waiting_ns(now)
    }

    /// The backlog in bytes, including the packet in service.
    #[inline]
    #[must_use]
    pub fn queue_view(&self) -> QueueView {
        self.line.view()
    }

    /// Packets in service or in the queue.
    pub fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        self.line.packets().copied()
    }

    /// The queue that a packet finds at `now`. A paused line is not idle.
    pub(super) fn queue_at(&self, now: Instant) -> QueueFound {
        QueueFound {
            idle_ns: self.line.idle_for(now).map(Duration::as_nanos),
            packets: self.line.waiting_packets(),
            bytes: self.line.waiting_bytes(),
        }
    }

    /// The next packet that CoDel has dropped and that is not yet reported.
    pub(super) fn take_discarded(&mut self) -> Option<Packet> {
        self.line.take_discarded()
    }

    /// Accepts a packet if the line is idle or the buffer has room.
    #[inline]
    pub(super) fn offer(
        &mut self,
        now: Instant,
        packet: &Packet,
        buffer: Buffer,
        counters: &mut LinkCounters,
        schedule: &mut Schedule,
    ) -> bool {
        let is_idle = self.line.next() == Instant::NEVER;
        self.largest_packet = self.largest_packet.max(packet.size);
        if let Queued::Full(_) = self.line.queue(now, *packet, buffer, counters) {
            return false;
        }
        self.accepted.0 += 1;
        self.accepted.1 += u64::from(packet.size);
        if is_idle {
            // The line was idle, so its slot is empty.
            schedule.add(self.slot, self.line.next());
        }
        true
    }

    /// Packets accepted since the start, and their bytes.
    pub(super) fn accepted(&self) -> (u64, u64) {
        self.accepted
    }

    /// Handles the event in the slot: the end of a transmission or of a pause.
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
        // The event has been removed, so the slot is empty.
        schedule.add(self.slot, self.line.next());
        departure
    }

    /// Handles the event in the slot as [`Self::advance`] does, in the usual case. Returns the packet; `None` in any other
    /// case.
    #[inline(always)]
    pub(super) fn advance_to_next(
        &mut self,
        now: Instant,
        counters: &mut LinkCounters,
        schedule: &mut Schedule,
    ) -> Option<Packet> {
        let packet = *self.line.serving()?;
        if !self.line.turn_to_next(now, counters) {
            return None;
        }
        self.sent_bytes += u64::from(packet.size);
        schedule.add(self.slot, self.line.next());
        Some(packet)
    }

    /// Switches to another rate, at once or after the packet in service, depending on the change.
    ///
    /// Every change adds its pause, even during a transmission or another pause.
    pub(super) fn change_rate(&mut self, now: Instant, change: RateChange, schedule: &mut Schedule) {
        let RateChange { rate, pause, .. } = change;
        let before = self.line.next();
        self.log.push(RateLogEntry { at: now, rate, pause, sent_bytes: self.sent_bytes });
        if let Some(pause) = self.line.change_rate(now, change) {
            self.went_over(now, pause);
        }
        if self.line.next() != before {
            schedule.set(self.slot, self.line.next());
        }
    }

    /// Puts the link to sleep. The packet in service and then those in the queue are lost.
    ///
    /// The link must not be paused. Links with a varying rate do not sleep.
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

    /// Changes the packets in the queue or in service.
    pub(super) fn for_each(&mut self, change: impl FnMut(&mut Packet)) {
        self.line.for_each(change);
    }

    /// Removes packets and their bytes from the accepted counts.
    pub(super) fn forget_accepted(&mut self, packets: u64, bytes: u64) {
        self.accepted.0 -= packets;
        self.accepted.1 -= bytes;
    }

    /// A decided pause that waits for the end of the packet in service.
    #[must_use]
    pub fn pause_due(&self) -> Duration {
        self.line.pause_due()
    }

    fn went_over(&mut self, now: Instant, pause: Duration) {
        self.effective.push(EffectiveRate { at: now, rate: self.rate(), pause, sent_bytes: self.sent_bytes });
    }
}
