//! Doors for a run that stops and waits for decisions (`run/steps`).

use super::World;
use crate::net::ids::{ControllerId, StationId};
use crate::run::error::RunError;
use crate::run::rerouting::SleepTimes;
use netlull_mechanism::station::StationEvent;
use netlull_units::Instant;

impl World {
    /// Handles the next event if it is due at `limit` or earlier. Returns false if there is none.
    pub(in crate::run) fn advance_once(&mut self, limit: Instant) -> bool {
        let Some((at, slot)) = self.net.schedule.take_until(limit.min(self.net.end)) else { return false };
        self.handle(at, slot);
        true
    }

    /// Handles all events up to `limit`.
    pub(in crate::run) fn advance_to(&mut self, limit: Instant) {
        while self.advance_once(limit) {}
    }

    /// Gives a controller a timeout at the present instant, so that it can act. It is not an event of the run.
    pub(in crate::run) fn prompt(&mut self, controller: ControllerId) {
        self.controllers.time_out(controller, &mut self.net);
    }

    /// Gives a station's machine a timeout at the present instant, so that it can act. It is not an event of the run.
    pub(in crate::run) fn prompt_station(&mut self, station: StationId) {
        self.tell_station(station, StationEvent::Timeout);
    }

    /// Lets a run with sleeping links stop at these instants. Call it before the first event.
    pub(in crate::run) fn stop_at(&mut self, instants: impl Iterator<Item = Instant>) {
        if let Some(rerouting) = &mut self.rerouting {
            rerouting.stop_at(instants);
        }
    }

    /// Whether the run waits for a decision on sleeping links.
    pub(in crate::run) fn is_halted(&self) -> bool {
        self.rerouting.as_ref().is_some_and(|rerouting| rerouting.is_halted())
    }

    /// Puts cables to sleep and wakes others: `awake` has an entry for each. Then the run can go on.
    pub(in crate::run) fn decide_sleep(&mut self, awake: &[bool], times: SleepTimes) {
        let now = self.net.now;
        self.unsettle();
        if let Some(rerouting) = &mut self.rerouting {
            rerouting.go_on();
            rerouting.decide(now, awake, times);
        }
        self.take_steps();
    }

    /// Takes the error that has ended the run.
    pub(in crate::run) fn take_failure(&mut self) -> Option<RunError> {
        self.net.failure.take()
    }
}
