//! Links that lag: their steps are handled later than their time (`run::world::lagging`).

use super::{Backlog, Link, Transmitter};
use crate::engine::schedule::Schedule;
use crate::net::buffer::Buffer;
use crate::net::counters::LinkCounters;
use crate::net::packet::Packet;
use crate::net::transmitter::{Departure, LateStep, RateChange, TimeoutsNow, VariableTransmitter};
use netlull_mechanism::rate::QueueView;
use netlull_units::{Duration, Instant};

/// A link that lags, for its controller's events.
pub(crate) struct Lagging<'a> {
    variable: &'a mut VariableTransmitter,
    tally: &'a mut LinkCounters,
    buffer: Buffer,
    delay: u64,
}

impl Link {
    /// Lets a link with a controller lag.
    pub(crate) fn let_lag(&mut self) {
        if let Transmitter::Variable(variable) = &mut self.transmitter {
            variable.let_lag(Duration::from_nanos(self.delay));
        }
    }

    /// Returns true if the link lags.
    #[inline(always)]
    pub(crate) fn lags(&self) -> bool {
        self.variable().is_some_and(VariableTransmitter::lags)
    }

    /// The link, if it lags.
    #[inline(always)]
    pub(crate) fn lagging(&mut self) -> Option<Lagging<'_>> {
        match &mut self.transmitter {
            Transmitter::Variable(variable) if variable.lags() => {
                let tally = &mut self.backlog.get_or_insert_with(Backlog::first).tally;
                Some(Lagging { variable, tally, buffer: self.buffer, delay: self.delay })
            }
            Transmitter::Variable(_) | Transmitter::Fixed(_) => None,
        }
    }

    /// Sets the next timeout of the controller. Returns false if the timeout needs an event, because the link does not
    /// lag.
    #[inline(always)]
    pub(crate) fn set_timeout(&mut self, at: Instant) -> bool {
        match &mut self.transmitter {
            Transmitter::Variable(variable) => variable.set_timeout(at),
            Transmitter::Fixed(_) => false,
        }
    }
}

impl Lagging<'_> {
    /// The next step, if it is due at `now`.
    #[inline(always)]
    pub fn step(&self, now: Instant, timeouts: TimeoutsNow) -> Option<LateStep> {
        self.variable.late_step(now, timeouts)
    }

    /// Ends a transmission or a pause. `departed` gets the packet, if there is one, and the time of its arrival at the far
    /// end, in nanoseconds. Returns true if a packet has departed.
    #[inline(always)]
    pub fn depart(&mut self, now: Instant, departed: &mut Vec<(u64, Packet)>) -> bool {
        let arrives = now.as_nanos() + self.delay;
        if let Some(packet) = self.variable.turn_to_next(now, self.tally) {
            departed.push((arrives, packet));
            return true;
        }
        match self.variable.turn(now, self.tally) {
            Departure::Packet { packet } => {
                departed.push((arrives, packet));
                true
            }
            Departure::Resumed | Departure::None => false,
        }
    }

    /// Queues a packet after all earlier steps. Returns false if the buffer is full.
    #[inline(always)]
    pub fn queue(&mut self, now: Instant, packet: &Packet) -> bool {
        let accepted = self.variable.take(now, packet, self.buffer, self.tally);
        if !accepted {
            self.tally.dropped_packets += 1;
            self.tally.dropped_bytes += u64::from(packet.size);
        }
        accepted
    }

    /// The queue in the view of the controller.
    #[inline(always)]
    pub fn queue_view(&self) -> QueueView {
        self.variable.queue_view()
    }

    /// Changes the rate.
    pub fn change_rate(&mut self, now: Instant, change: RateChange) {
        self.variable.decide(now, change);
    }

    /// Sets the next timeout of the controller.
    #[inline(always)]
    pub fn set_timeout(&mut self, at: Instant) {
        self.variable.set_timeout(at);
    }

    /// Schedules the latest time for the next departure, unless an earlier event is set.
    #[inline(always)]
    pub fn expect_departure(&mut self, schedule: &mut Schedule) {
        self.variable.expect_departure(schedule);
    }

    /// Notes that the event has come.
    pub fn event_came(&mut self) {
        self.variable.event_came();
    }
}
