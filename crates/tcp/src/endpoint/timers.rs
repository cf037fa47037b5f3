//! The timers of an endpoint: retransmission, persist and TIME-WAIT share one; loss recovery and pacing share another.

use super::receiver::AckDue;
use super::{Endpoint, State, TimerKind};
use netlull_units::{Duration, Instant};

impl Endpoint {
    /// Handles the time of [`next_timeout`](Self::next_timeout). Does nothing before that time.
    pub fn handle_timeout(&mut self, now: Instant) {
        if now >= self.next_timeout() && !self.take_predicted_release(now) {
            self.take_timeout(now);
            self.predict();
        }
    }

    fn take_timeout(&mut self, now: Instant) {
        if now >= self.rcv.ack_deadline {
            self.rcv.ack_deadline = Instant::NEVER;
            self.rcv.ack_due = AckDue::Now;
        }
        if now >= self.wake_at {
            self.on_wake(now);
        }
        if now < self.timer_at {
            return;
        }
        match self.timer_kind {
            TimerKind::Off => {}
            TimerKind::Retransmit => self.on_retransmission_timeout(now),
            TimerKind::Persist => self.on_persist_timeout(now),
            TimerKind::TimeWait => {
                self.stop_timer();
                self.state = State::Closed;
            }
        }
    }

    /// The time of the next call of [`handle_timeout`](Self::handle_timeout); [`Instant::NEVER`] if no timer runs
    /// (half the size of an `Option`, and one comparison for the driver). It moves with nearly every segment, mostly
    /// later. A driver should keep one event, let it come too early, and ask again.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self) -> Instant {
        self.timer_at.min(self.rcv.ack_deadline).min(self.wake_at)
    }

    /// Handles the expiration of another timer.
    pub(super) fn on_wake(&mut self, now: Instant) {
        if let Some(paced) = &mut self.paced {
            paced.pass_release(now);
        }
        if now >= self.recovery_wake_at() {
            self.on_auxiliary_timeout(now);
        }
        self.set_wake();
    }

    /// Updates the timers of loss recovery and of pacing.
    #[inline]
    pub(super) fn set_wake(&mut self) {
        let release = self.paced.as_ref().map_or(Instant::NEVER, |paced| paced.release());
        self.wake_at = self.recovery_wake_at().min(release);
    }

    /// The next expiration of a timer of loss recovery.
    #[inline]
    pub(super) fn recovery_wake_at(&self) -> Instant {
        self.selective.as_ref().map_or(Instant::NEVER, |selective| selective.wake_at())
    }

    pub(super) fn start_timer(&mut self, now: Instant, kind: TimerKind, span: Duration) {
        (self.timer_at, self.timer_kind) = (now + span, kind);
    }

    pub(super) fn stop_timer(&mut self) {
        (self.timer_at, self.timer_kind) = (Instant::NEVER, TimerKind::Off);
    }
}
