//! A transmitter that schedules its departures.
//!
//! Links need it if their rate changes during transmissions, or if queue management acts on departing packets. The
//! queue and the line are a [`Transmitter`], which the emulation uses too.

use super::fixed::QueueFound;
use super::flight::Packet;
use netlull_network::queue::codel::CoDelConfig;
use netlull_network::queue::{Buffer, LinkCounters};
use netlull_network::schedule::{Schedule, Slot};
use netlull_network::transmitter::{Departure, Queued, QueuedPacket, Transmitter};
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

    #[inline]
    fn take(&mut self) -> Self {
        *self
    }
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
    /// The idle time by then.
    pub idle: IdleTime,
}

/// The time in which a line neither sends nor pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleTime {
    /// The sum in nanoseconds.
    pub ns: u64,
    /// The number of idle periods.
    pub periods: u64,
}

/// The queue and transmitter of a link that schedules its departures.
pub struct VariableTransmitter {
    slot: Slot,
    /// The slot follows the next event of the line, so only this file turns the line or changes its rate.
    pub(crate) line: Transmitter<Packet>,
    /// Accepted packets, and their bytes.
    accepted: (u64, u64),
    sent_bytes: u64,
    largest_packet: u32,
    /// The idle periods that have ended.
    idle: IdleTime,
    log: Vec<RateLogEntry>,
    effective: Vec<EffectiveRate>,
    /// True for a link with low-power idle, whose controller keeps the times: a log would have entries for each sleep.
    keeps_no_log: bool,
}

// Forced inlines here, by `make counts`: without them and those of `requests`, `hosts`, `control` and `fixed`
// practRA takes 3.8 % more instructions, web 2.4 %.
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
            idle: IdleTime::default(),
            log: vec![RateLogEntry { at: Instant::ZERO, rate, pause: Duration::ZERO, sent_bytes: 0 }],
            effective: vec![EffectiveRate {
                at: Instant::ZERO,
                rate,
                pause: Duration::ZERO,
                sent_bytes: 0,
                idle: IdleTime::default(),
            }],
            keeps_no_log: false,
        }
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

    /// Logs no changes of the rate.
    pub(super) fn keep_no_log(&mut self) {
        self.keeps_no_log = true;
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

    /// The queue that a packet finds at `now`. A paused line is not idle, but one in low-power idle is.
    pub(super) fn queue_at(&self, now: Instant) -> QueueFound {
        QueueFound {
            idle_ns: self.line.quiet_for(now).map(Duration::as_nanos),
            packets: self.line.waiting_packets(),
            bytes: self.line.waiting_bytes(),
        }
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
        let idle_for = self.line.idle_for(now);
        self.largest_packet = self.largest_packet.max(packet.size);
        if let Queued::Full(_) = self.line.queue(now, *packet, buffer, counters) {
            return false;
        }
        self.accepted.0 += 1;
        self.accepted.1 += u64::from(packet.size);
        if let Some(idle_for) = idle_for {
            self.idle.ns += idle_for.as_nanos();
            self.idle.periods += 1;
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
    pub(super) fn advance(
        &mut self,
        now: Instant,
        counters: &mut LinkCounters,
        schedule: &mut Schedule,
    ) -> Departure<Packet> {
        let departure = self.line.turn(now, counters);
        match departure {
            Departure::Packet { packet, goes_over } => {
                self.sent_bytes += u64::from(packet.size);
                if let Some(pause) = goes_over {
                    self.went_over(now, pause);
                }
            }
            Departure::Resumed => {}
            Departure::Nothing => return departure,
        }
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
        if self.keeps_no_log {
            self.line.change_rate(now, change);
        } else {
            self.log.push(RateLogEntry { at: now, rate, pause, sent_bytes: self.sent_bytes });
            if let Some(pause) = self.line.change_rate(now, change) {
                self.went_over(now, pause);
            }
        }
        if self.line.next() != before {
            schedule.set(self.slot, self.line.next());
        }
    }

    /// Changes the capacity of a link without a controller, which may be zero. It applies at once, also to the packet in
    /// service.
    pub(super) fn set_capacity(&mut self, now: Instant, rate: BitRate, schedule: &mut Schedule) {
        let (before, idle) = (self.line.next(), self.idle_time(now));
        self.log.push(RateLogEntry { at: now, rate, pause: Duration::ZERO, sent_bytes: self.sent_bytes });
        self.line.set_capacity(now, rate);
        if rate.is_zero() {
            self.idle = idle;
        }
        self.went_over(now, Duration::ZERO);
        if self.line.next() != before {
            schedule.set(self.slot, self.line.next());
        }
    }

    /// The idle time up to `now`.
    pub(crate) fn idle_time(&self, now: Instant) -> IdleTime {
        let ongoing = self.line.idle_for(now);
        IdleTime {
            ns: self.idle.ns + ongoing.map_or(0, Duration::as_nanos),
            periods: self.idle.periods + u64::from(ongoing.is_some()),
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
        self.idle = self.idle_time(now);
        stranded.extend(self.line.abandon(now));
        schedule.set(self.slot, Instant::NEVER);
    }

    /// Removes packets and their bytes from the accepted counts.
    pub(super) fn forget_accepted(&mut self, packets: u64, bytes: u64) {
        self.accepted.0 -= packets;
        self.accepted.1 -= bytes;
    }

    fn went_over(&mut self, now: Instant, pause: Duration) {
        let (rate, sent_bytes, idle) = (self.line.rate(), self.sent_bytes, self.idle_time(now));
        self.effective.push(EffectiveRate { at: now, rate, pause, sent_bytes, idle });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_periods_and_their_time_are_counted() {
        // At 10 Mb/s a packet of 1250 B takes 1 ms. The line is idle from 0 to 2 ms, 3 to 5 ms and from 6 ms on, but not at
        // 0 b/s from 7 to 9 ms.
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let packet = Packet { size: 1250, ..Packet::default() };
        let (mut counters, mut schedule) = (LinkCounters::default(), Schedule::new(1));
        let mut line = VariableTransmitter::new(BitRate::from_mbps(10), Slot::new(0), None);
        let mut found = Vec::new();
        for millis in 0..12 {
            while schedule.take_until(at(millis)).is_some() {
                line.advance(at(millis), &mut counters, &mut schedule);
            }
            match millis {
                2 | 5 => assert!(line.offer(at(millis), &packet, Buffer::Unlimited, &mut counters, &mut schedule)),
                7 => line.set_capacity(at(millis), BitRate::default(), &mut schedule),
                9 => line.set_capacity(at(millis), BitRate::from_mbps(20), &mut schedule),
                _ => {}
            }
            let IdleTime { ns, periods } = line.idle_time(at(millis));
            found.push((ns / 1_000_000, periods));
        }
        let (first, second) = ([(0, 1), (1, 1), (2, 1)], [(2, 2), (3, 2), (4, 2)]);
        assert_eq!(found, [first, second, [(4, 3), (5, 3), (5, 3)], [(5, 3), (6, 4), (7, 4)]].concat());
    }
}
