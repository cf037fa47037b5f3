//! The times at which an endpoint acts: its timers and its pacing.
//!
//! Retransmission, persist and TIME-WAIT share one timer; loss recovery and pacing share another. Congestion controls
//! that pace set the times of transmissions, and get the information of deliveries about the path. Endpoints of other
//! congestion controls keep no state of pacing, and pay only for a test of an empty `Option`.

use super::receiver::AckDue;
use super::{Endpoint, State, TimerKind};
use crate::cc::{CongestionControl, Controller, Delivery};
use crate::delivery::{DeliveryRate, Sent};
use crate::recovery::{Selective, Span};
use netlull_units::{BitRate, Duration, Instant};

/// Unit of release times, 2^-14 ns: 2^16 bytes take less than 2^63 of them at 1 b/s.
const FRACTION_BITS: u32 = 14;

/// Spaces quanta of data (draft-ietf-ccwg-bbr-06 sections 5.6.2 and 5.6.3).
#[derive(Clone, Debug, Default)]
struct Pacer {
    /// C.next_send_time: the earliest start of the next quantum.
    next: Instant,
    /// The fraction of that time, in 2^-14 ns.
    fraction: u64,
    /// Bytes of the quantum that may still go out at `quantum_at`.
    quantum_left: u64,
    quantum_at: Instant,
}

impl Pacer {
    /// The earliest start of the next quantum, in whole nanoseconds.
    fn release(&self) -> Instant {
        Instant::from_nanos(self.next.as_nanos().saturating_add(u64::from(self.fraction > 0)))
    }

    /// True if `len` bytes may go out.
    fn lets_pass(&self, now: Instant, len: u64) -> bool {
        now >= self.release() || (now == self.quantum_at && len <= self.quantum_left)
    }

    /// Records a transmission of `len` bytes, fewer than 2^16.
    fn on_sent(&mut self, now: Instant, len: u64, rate: BitRate, quantum: u64) {
        let release = self.release();
        if now >= release {
            self.quantum_at = now;
            self.quantum_left = quantum;
        }
        if now > release {
            // Late, because nothing was ready or the window held it: unused time is lost.
            (self.next, self.fraction) = (now, 0);
        }
        self.quantum_left = self.quantum_left.saturating_sub(len);
        // Pacing delay = size / rate.
        let delay = ((len * 8 * 1_000_000_000) << FRACTION_BITS) / rate.as_bps().max(1) + self.fraction;
        self.next = Instant::from_nanos(self.next.as_nanos().saturating_add(delay >> FRACTION_BITS));
        self.fraction = delay & ((1 << FRACTION_BITS) - 1);
    }
}

/// State for a congestion control that wants deliveries.
#[derive(Clone, Debug)]
pub(super) struct Paced {
    /// The release time of held data.
    release: Instant,
    pacer: Pacer,
    rate: DeliveryRate,
    /// C.is_cwnd_limited until this number of bytes is delivered.
    cwnd_limited_until: u64,
}

impl Paced {
    /// State, if the congestion control asks for it.
    pub fn for_controller(cc: &Controller) -> Option<Box<Self>> {
        cc.wants_deliveries().then(|| {
            let (pacer, rate) = (Pacer::default(), DeliveryRate::new());
            Box::new(Self { release: Instant::NEVER, pacer, rate, cwnd_limited_until: 0 })
        })
    }

    /// The release time of held data.
    #[inline]
    pub fn release(&self) -> Instant {
        self.release
    }

    /// Releases held data at its time.
    pub fn pass_release(&mut self, now: Instant) {
        if now >= self.release {
            self.release = Instant::NEVER;
        }
    }

    /// True if no delivery is pending and the application is known to have no data.
    pub fn is_idle(&self) -> bool {
        self.rate.is_idle()
    }

    /// Returns to the initial state, in the same memory.
    pub fn renew(&mut self) {
        let mut rate = std::mem::take(&mut self.rate);
        rate.renew();
        *self = Self { release: Instant::NEVER, pacer: Pacer::default(), rate, cwnd_limited_until: 0 };
    }
}

impl Endpoint {
    /// True if pacing holds `len` bytes now; sets the timer to their release.
    #[inline]
    pub(super) fn is_held(&mut self, now: Instant, len: u64) -> bool {
        let Some(paced) = &mut self.paced else {
            return false;
        };
        if paced.pacer.lets_pass(now, len) {
            return false;
        }
        paced.release = paced.pacer.release();
        self.set_wake();
        true
    }

    /// Handles a segment before its transmission.
    #[inline]
    pub(super) fn record_sent(&mut self, now: Instant, span: Span) {
        if self.paced.is_some() {
            self.pace(now, span);
        }
    }

    fn pace(&mut self, now: Instant, Span { start, end }: Span) {
        let (inflight, cwnd, smss) = (self.inflight(), self.cwnd(), u64::from(self.snd.smss));
        let Some(paced) = &mut self.paced else { return };
        if inflight == 0 {
            self.cc.on_restart(now, &paced.rate);
        }
        if let Some(rate) = self.cc.pacing_rate() {
            paced.pacer.on_sent(now, end - start, rate, self.cc.send_quantum());
        }
        paced.rate.on_sent(&Sent { now, start, end, inflight });
        let inflight = inflight + (end - start);
        if inflight + smss > cwnd {
            paced.cwnd_limited_until = paced.rate.delivered() + inflight;
        }
    }

    /// Finishes the handling of an acknowledgement.
    #[inline]
    pub(super) fn record_acked(&mut self, now: Instant) {
        if self.paced.is_some() {
            self.deliver(now);
        }
    }

    fn deliver(&mut self, now: Instant) {
        let Some(paced) = &mut self.paced else { return };
        paced.rate.on_acked(now, self.snd.una);
        if let Some(journal) = self.selective.as_deref_mut().and_then(Selective::journal) {
            journal.sacked.drain(..).for_each(|Span { start, end }| paced.rate.on_sacked(now, start, end));
        }
        self.record_losses(now);
        let (inflight, selective) = (self.inflight(), self.selective.is_some());
        let phase = self.recovery_phase();
        let Some(paced) = &mut self.paced else { return };
        if let Some(sample) = paced.rate.sample(now) {
            let is_cwnd_limited = paced.rate.delivered() <= paced.cwnd_limited_until;
            let delivery = Delivery { now, sample, inflight, is_cwnd_limited, selective, phase };
            self.cc.on_delivery(&delivery, &mut paced.rate);
        }
    }

    /// Handles a duplicate acknowledgement, without SACK.
    #[inline]
    pub(super) fn record_duplicate(&mut self, now: Instant) {
        if let Some(paced) = &mut self.paced {
            paced.rate.on_duplicate(now);
            self.deliver(now);
        }
    }

    /// Handles new losses marked by the scoreboard.
    pub(super) fn record_losses(&mut self, now: Instant) {
        let Some(journal) = self.selective.as_deref_mut().and_then(Selective::journal) else { return };
        if journal.lost.is_empty() {
            return;
        }
        let mut lost = std::mem::take(&mut journal.lost);
        lost.drain(..).for_each(|span| self.record_lost(now, span));
        if let Some(journal) = self.selective.as_deref_mut().and_then(Selective::journal) {
            // The memory is reused.
            journal.lost = lost;
        }
    }

    /// Marks the data of `span` in flight as lost.
    pub(super) fn record_lost(&mut self, now: Instant, span: Span) {
        let Some(paced) = &mut self.paced else { return };
        let mut next = span.start;
        while let Some(lost) = paced.rate.mark_lost(next, span.end) {
            self.cc.on_marked_lost(now, &lost, &paced.rate);
            next = lost.end;
        }
    }

    /// Handles the end of the queued data (draft-ietf-ccwg-bbr-06 section 4.1.2.4).
    #[inline]
    pub(super) fn record_nothing_to_send(&mut self) {
        // With nothing in flight, a single mark is enough.
        let idle = self.snd.una == self.snd.max;
        if self.paced.as_ref().is_some_and(|paced| !(idle && paced.rate.is_app_limited())) {
            self.limit_by_application();
        }
    }

    fn limit_by_application(&mut self) {
        let (inflight, cwnd) = (self.inflight(), self.cwnd());
        if let Some(paced) = &mut self.paced
            && inflight < cwnd
        {
            paced.rate.mark_app_limited(inflight);
        }
    }

    /// C.inflight: RFC 6675's pipe; without SACK, the sent and unacknowledged data, less the deliveries of duplicate
    /// acknowledgements.
    fn inflight(&self) -> u64 {
        if let Some(selective) = &self.selective {
            return selective.board.pipe();
        }
        let departed = self.cwnd().saturating_sub(self.cc.cwnd());
        self.snd.flight().saturating_sub(departed)
    }
}

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
        (self.timer_at, self.timer_kind) = (self.rtt.expiry(now, span), kind);
    }

    pub(super) fn stop_timer(&mut self) {
        (self.timer_at, self.timer_kind) = (Instant::NEVER, TimerKind::Off);
    }
}

#[cfg(test)]
impl Endpoint {
    /// For tests of congestion controls.
    pub(crate) fn controller(&self) -> &Controller {
        &self.cc
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_units::Duration;

    /// Sends `count` segments of 1460 bytes as soon as the pacer allows; returns the times in ns.
    fn send(pacer: &mut Pacer, from: Instant, bps: u64, quantum: u64, count: usize) -> Vec<u64> {
        let mut now = from;
        let mut times = Vec::new();
        for _ in 0..count {
            if !pacer.lets_pass(now, 1460) {
                now = pacer.release();
            }
            pacer.on_sent(now, 1460, BitRate::from_bps(bps), quantum);
            times.push(now.as_nanos());
        }
        times
    }

    #[test]
    fn quanta_go_out_at_once_and_are_spaced() {
        // 1460 B at 11.68 Mb/s take 1 ms; a quantum of two, 2 ms.
        let times = send(&mut Pacer::default(), Instant::ZERO, 11_680_000, 2920, 6);
        assert_eq!(times, [0, 0, 2_000_000, 2_000_000, 4_000_000, 4_000_000]);
        // A quantum of 4000 B releases whole segments only.
        let times = send(&mut Pacer::default(), Instant::ZERO, 11_680_000, 4000, 4);
        assert_eq!(times, [0, 0, 2_000_000, 2_000_000]);
    }

    #[test]
    fn the_rate_is_exact_over_many_segments() {
        // 1460 B at 7 Mb/s: 1,668,571.43 ns. The millionth leaves 999,999 of them after the first:
        // 999,999 * 11,680 / 7e6 s = 1668.569760 s. Rounding down by less than 2^-14 ns each: 61 us at most... times
        // 10^6 segments that is 61 ns; rounded up to whole ns once.
        let times = send(&mut Pacer::default(), Instant::ZERO, 7_000_000, 1460, 1_000_000);
        let exact = 999_999_u64 * 11_680 * 1_000_000_000 / 7_000_000;
        let last = times[999_999];
        assert!(exact - last <= 61, "{last} against {exact}");
        // No segment alone is early.
        for (number, &time) in (0_u64..).zip(&times).step_by(997) {
            let exact = number * 11_680_000_000_000 / 7_000_000;
            assert!(time <= exact + 1 && exact - time.min(exact) <= 61, "{number}");
        }
    }

    #[test]
    fn what_was_not_used_is_lost() {
        let mut pacer = Pacer::default();
        send(&mut pacer, Instant::ZERO, 11_680_000, 1460, 1);
        // 10 ms late: one goes out, the next a whole ms later.
        let late = Instant::ZERO + Duration::from_millis(11);
        assert_eq!(send(&mut pacer, late, 11_680_000, 1460, 2), [11_000_000, 12_000_000]);
        // Half of a quantum is not kept either.
        let mut pacer = Pacer::default();
        send(&mut pacer, Instant::ZERO, 11_680_000, 2920, 1);
        assert!(pacer.lets_pass(Instant::ZERO, 1460));
        assert!(!pacer.lets_pass(Instant::ZERO + Duration::from_micros(1), 1460));
        assert!(pacer.lets_pass(Instant::ZERO + Duration::from_millis(1), 1460));
    }
}
