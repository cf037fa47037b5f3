//! Round-trip time and retransmission timeout (RFC 6298).

mod linux;

use crate::config::{RetransmissionTimer, RttClock};
use crate::jiffies::{self, JIFFY};
use linux::LinuxEstimate;
use netlull_units::{Duration, Instant};

/// RFC 6298 section 5.7: the RTO when data follows a handshake whose SYN timed out.
const RTO_AFTER_LOST_SYN: Duration = Duration::from_secs(3);
/// ns-2 resets the smoothed RTT from this number of doublings on (`rtt_backoff`: "backed off this far").
const TICKS_FORGET_AFTER: u8 = 4;

/// The estimate from the samples so far.
#[derive(Clone, Copy, Debug)]
enum Estimate {
    /// No sample yet.
    None,
    /// In nanoseconds with the fine clock; in 1/8 (SRTT) and 1/4 (RTTVAR) ticks with ticks.
    Smoothed { srtt: u64, rttvar: u64 },
    /// With jiffies.
    Linux(LinuxEstimate),
}

/// SND.UNA and SND.MAX at a sample, which mark round trips.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub una: u64,
    pub max: u64,
}

/// The smoothed RTT and the RTO. The RTO is the first field: segments need it most often.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct RttEstimator {
    /// The RTO, backed off and bounded.
    rto: Duration,
    /// The RTO before backoff, at least `min_rto`.
    base: Duration,
    estimate: Estimate,
    clock: RttClock,
    min_rto: Duration,
    max_rto: Duration,
    backoff: u8,
    max_backoff: u8,
    /// After a needless timeout: how a sample of new data widens the estimate.
    widening: Option<Box<Widening>>,
}

/// The estimate before a needless timeout, in nanoseconds (RFC 4015 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    /// SRTT_prev = SRTT + 2 G.
    srtt: u64,
    /// RTTVAR_prev.
    rttvar: u64,
}

/// A pending change of the estimate.
#[derive(Clone, Copy, Debug)]
struct Widening {
    before: Before,
    /// New data begins at this stream offset.
    from: u64,
}

impl RttEstimator {
    pub fn new(config: &RetransmissionTimer) -> Self {
        Self {
            // RFC 6298 section 2.1: until a sample has been made, the sender should set RTO to 1 s.
            rto: config.initial_rto,
            base: config.initial_rto,
            estimate: Estimate::None,
            clock: config.rtt_clock,
            min_rto: config.min_rto,
            max_rto: config.max_rto,
            backoff: 0,
            max_backoff: config.max_backoff,
            widening: None,
        }
    }

    /// The retransmission timeout of the timer.
    #[inline]
    pub fn rto(&self) -> Duration {
        self.rto
    }

    /// SRTT; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        match (self.estimate, self.clock) {
            (Estimate::None, _) => None,
            (Estimate::Smoothed { srtt, .. }, RttClock::Ticks { tick }) => {
                Some(Duration::from_nanos(srtt * tick.as_nanos() / 8))
            }
            (Estimate::Smoothed { srtt, .. }, _) => Some(Duration::from_nanos(srtt)),
            (Estimate::Linux(linux), _) => Some(linux.srtt()),
        }
    }

    /// The expiration of a timer that is set now for `span`.
    #[inline]
    pub fn expiry(&self, now: Instant, span: Duration) -> Instant {
        match self.clock {
            RttClock::Fine { .. } | RttClock::Ticks { .. } => now + span,
            RttClock::Jiffies => jiffies::expiry(now, span),
        }
    }

    /// The longest RTO.
    pub fn max_rto(&self) -> Duration {
        self.max_rto
    }

    /// True if the timing of a segment continues while others are retransmitted, as in ns-2: only a loss and a
    /// timeout end it.
    #[inline]
    pub fn times_across_repeats(&self) -> bool {
        matches!(self.clock, RttClock::Ticks { .. })
    }

    /// True if the times of segments give samples, and timestamps only without them (`tcp_ack_update_rtt`).
    #[inline]
    pub fn times_segments(&self) -> bool {
        matches!(self.clock, RttClock::Jiffies)
    }

    /// True while the RTO is backed off.
    #[inline]
    pub fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// Adds the sample `rtt` of a round trip that ended at `now`. It ends the back-off (RFC 6298 section 5, last
    /// paragraph).
    #[inline]
    pub fn sample(&mut self, now: Instant, rtt: Duration, at: Progress) {
        self.backoff = 0;
        let unbounded = match self.clock {
            RttClock::Fine { granularity } if self.widening.is_some() => {
                self.sample_wide(rtt.as_nanos(), granularity.as_nanos(), at)
            }
            RttClock::Fine { granularity } => self.sample_fine(rtt.as_nanos(), granularity.as_nanos()),
            RttClock::Ticks { tick } => self.sample_ticks(now, rtt, tick.as_nanos()),
            RttClock::Jiffies => self.sample_linux(rtt, at).as_nanos(),
        };
        // RFC 6298 section 2.4: whenever RTO is computed, if it is less than 1 s, it should be rounded up to 1 s.
        self.base = Duration::from_nanos(unbounded).max(self.min_rto);
        self.bound();
    }

    /// RFC 6298 sections 2.2 and 2.3, in nanoseconds; returns the RTO.
    fn sample_fine(&mut self, r: u64, g: u64) -> u64 {
        let (srtt, rttvar) = match self.estimate {
            // SRTT <- R, RTTVAR <- R/2.
            Estimate::None | Estimate::Linux(_) => (r, r / 2),
            // RTTVAR <- (1 - 1/4) RTTVAR + 1/4 |SRTT - R'|, then SRTT <- (1 - 1/8) SRTT + 1/8 R'.
            Estimate::Smoothed { srtt, rttvar } => ((7 * srtt + r) / 8, (3 * rttvar + srtt.abs_diff(r)) / 4),
        };
        self.estimate = Estimate::Smoothed { srtt, rttvar };
        // RTO <- SRTT + max(G, K RTTVAR), K = 4.
        srtt + g.max(4 * rttvar)
    }

    /// RFC 4015 section 3.1: the first sample of new data after a needless timeout counts in full; returns the RTO.
    #[cold]
    fn sample_wide(&mut self, r: u64, g: u64, at: Progress) -> u64 {
        let Some(Widening { before, .. }) = self.widening.take_if(|pending| at.una > pending.from).map(|wide| *wide)
        else {
            return self.sample_fine(r, g);
        };
        // SRTT <- max(SRTT_prev, sample), RTTVAR <- max(RTTVAR_prev, sample / 2).
        let (srtt, rttvar) = (before.srtt.max(r), before.rttvar.max(r / 2));
        self.estimate = Estimate::Smoothed { srtt, rttvar };
        srtt + g.max(4 * rttvar)
    }

    /// The estimate before a timeout; `None` without a sample, and with the clocks of other systems.
    pub fn before_timeout(&self) -> Option<Before> {
        match (self.estimate, self.clock) {
            (Estimate::Smoothed { srtt, rttvar }, RttClock::Fine { granularity }) => {
                Some(Before { srtt: srtt + 2 * granularity.as_nanos(), rttvar })
            }
            _ => None,
        }
    }

    /// Handles a needless timeout: the first sample of data sent from an offset on widens the estimate.
    pub fn widen(&mut self, before: Option<Before>, from: u64) {
        self.widening = before.map(|before| Box::new(Widening { before, from }));
    }

    /// Returns the RTO in whole jiffies.
    fn sample_linux(&mut self, rtt: Duration, at: Progress) -> Duration {
        let estimate = match self.estimate {
            Estimate::Linux(before) => before.add(rtt, self.min_rto, at),
            Estimate::None | Estimate::Smoothed { .. } => LinuxEstimate::first(rtt, self.min_rto, at),
        };
        self.estimate = Estimate::Linux(estimate);
        JIFFY.saturating_mul(estimate.rto().as_nanos().div_ceil(JIFFY.as_nanos()))
    }

    /// ns-2's `rtt_update`, in ticks of `tick` nanoseconds; returns the RTO in nanoseconds.
    #[cold]
    fn sample_ticks(&mut self, now: Instant, rtt: Duration, tick: u64) -> u64 {
        let sent = now.saturating_since(Instant::ZERO).saturating_sub(rtt).as_nanos();
        let ticks = (now.as_nanos() / tick - sent / tick).max(1);
        let (srtt, rttvar) = match self.estimate {
            Estimate::None | Estimate::Linux(_) => (ticks * 8, ticks * 2),
            Estimate::Smoothed { srtt, rttvar } => {
                let error = ticks.abs_diff(srtt / 8);
                let smoothed = if ticks >= srtt / 8 { srtt + error } else { srtt - error };
                (smoothed.max(1), (rttvar + error - rttvar / 4).max(1))
            }
        };
        self.estimate = Estimate::Smoothed { srtt, rttvar };
        // (4 * 4 rttvar * 2 + 8 srtt) / 8 ticks: SRTT + 4 RTTVAR, rounded down to a tick.
        (8 * rttvar + srtt) / 8 * tick
    }

    /// Reports an expiration of the timer. RFC 6298 section 5.5: RTO <- 2 RTO.
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(self.max_backoff);
        if matches!(self.clock, RttClock::Ticks { .. }) && self.backoff >= TICKS_FORGET_AFTER {
            self.estimate = Estimate::None;
        }
        self.bound();
    }

    /// Reports the start of data transmission after a SYN timed out. RFC 6298 section 5.7: the RTO must then be at
    /// least 3 s. In Linux a sample replaces it (`tcp_init_metrics`).
    pub fn begin_after_lost_syn(&mut self) {
        self.backoff = 0;
        if !matches!((self.clock, self.estimate), (RttClock::Jiffies, Estimate::Linux(_))) {
            self.base = self.base.max(RTO_AFTER_LOST_SYN);
        }
        self.bound();
    }

    fn bound(&mut self) {
        let least = match self.clock {
            RttClock::Fine { .. } | RttClock::Jiffies => Duration::ZERO,
            RttClock::Ticks { tick } => tick * 2,
        };
        self.rto = self.base.saturating_mul(1 << self.backoff).min(self.max_rto).max(least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    const START: Progress = Progress { una: 0, max: 0 };

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn fine(min_rto: Duration, granularity: Duration) -> RttEstimator {
        let rtt_clock = RttClock::Fine { granularity };
        RttEstimator::new(&RetransmissionTimer { min_rto, rtt_clock, ..RetransmissionTimer::default() })
    }

    #[test]
    fn rfc_6298_by_hand() {
        let mut rtt = fine(ms(1), ms(1));
        assert_eq!((rtt.srtt(), rtt.rto()), (None, Duration::from_secs(1)));
        // R = 100: SRTT = 100, RTTVAR = 50, RTO = 100 + 4 * 50 = 300.
        rtt.sample(Instant::ZERO, ms(100), START);
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(ms(100)), ms(300)));
        // R' = 180: RTTVAR = 3/4 50 + 1/4 |100 - 180| = 57.5, SRTT = 7/8 100 + 1/8 180 = 110, RTO = 110 + 230 = 340.
        rtt.sample(Instant::ZERO, ms(180), START);
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(ms(110)), ms(340)));
    }

    #[test]
    fn after_a_needless_timeout_a_sample_of_new_data_counts_in_full() {
        let mut rtt = fine(ms(1), ms(1));
        rtt.sample(Instant::ZERO, ms(100), START);
        let before = rtt.before_timeout();
        rtt.back_off();
        rtt.widen(before, 5000);
        // Old data, as RFC 6298 says: SRTT = 7/8 100 + 1/8 300 = 125, RTTVAR = 3/4 50 + 1/4 200 = 87.5.
        rtt.sample(Instant::ZERO, ms(300), Progress { una: 5000, max: 9000 });
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(ms(125)), ms(475)));
        // RFC 4015 section 3.1: SRTT = max(100 + 2, 200), RTTVAR = max(50, 100), RTO = 200 + 400.
        rtt.sample(Instant::ZERO, ms(200), Progress { una: 5001, max: 9000 });
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(ms(200)), ms(600)));
        // Once only: SRTT = 200, RTTVAR = 75.
        rtt.sample(Instant::ZERO, ms(200), Progress { una: 6000, max: 9000 });
        assert_eq!(rtt.rto(), ms(500));
    }

    #[test]
    fn granularity_bounds_the_variance_term_and_the_minimum_the_rto() {
        // R = 8 twice: SRTT = 8, RTTVAR = 4, then 3; with G = 20: RTO = 8 + max(20, 12) = 28.
        let mut rtt = fine(ms(1), ms(20));
        rtt.sample(Instant::ZERO, ms(8), START);
        rtt.sample(Instant::ZERO, ms(8), START);
        assert_eq!(rtt.rto(), ms(28));
        let mut rtt = fine(ms(200), ms(1));
        rtt.sample(Instant::ZERO, ms(8), START);
        assert_eq!(rtt.rto(), ms(200));
    }

    #[test]
    fn the_rto_doubles_up_to_its_maximum_and_a_sample_ends_that() {
        // 1, 2, 4, ... 32, then 60 s.
        let mut rtt = fine(Duration::from_secs(1), ms(1));
        let rtos: Vec<u64> = (0..8)
            .map(|_| {
                let rto = rtt.rto().as_nanos() / 1_000_000_000;
                rtt.back_off();
                rto
            })
            .collect();
        assert_eq!(rtos, [1, 2, 4, 8, 16, 32, 60, 60]);
        rtt.sample(Instant::ZERO, ms(500), START);
        // 500 + 4 * 250 = 1500.
        assert_eq!(rtt.rto(), ms(1500));
    }

    #[test]
    fn three_seconds_after_a_lost_syn() {
        let mut rtt = fine(Duration::from_secs(1), ms(1));
        rtt.back_off();
        rtt.begin_after_lost_syn();
        assert_eq!(rtt.rto(), Duration::from_secs(3));
    }

    #[test]
    fn ns2_counts_in_ticks() {
        let mut rtt = RttEstimator::new(&Config::ns2().timer);
        assert_eq!(rtt.rto(), Duration::from_secs(3));
        // Sent at 98 ms (tick 9), acknowledged at 201 ms (tick 20): 11 ticks. SRTT = 88/8, RTTVAR = 22/4 ticks;
        // RTO = (8 * 22 + 88) / 8 = 33 ticks.
        rtt.sample(Instant::ZERO + ms(201), ms(103), START);
        assert_eq!((rtt.srtt(), rtt.rto()), (Some(ms(110)), ms(330)));
        // 300 -> 403 ms: 10 ticks; error 1: SRTT = 87/8, RTTVAR = 22 + 1 - 5 = 18; RTO = (144 + 87) / 8 = 28 ticks.
        rtt.sample(Instant::ZERO + ms(403), ms(103), START);
        assert_eq!(rtt.rto(), ms(280));
        // 9 more of 10 ticks leave RTTVAR small; the minimum of 200 ms applies before backing off: 200, 400, ...
        for n in 0..30 {
            rtt.sample(Instant::ZERO + ms(1000 + n * 200 + 103), ms(103), START);
        }
        assert_eq!(rtt.rto(), ms(200));
        // From the fourth doubling on SRTT is reset. 200 ms * 2^8 = 51.2 s; the next is cut to 60 s (`maxrto_`).
        for _ in 0..8 {
            rtt.back_off();
        }
        assert_eq!((rtt.srtt(), rtt.rto()), (None, ms(51_200)));
        rtt.back_off();
        assert_eq!(rtt.rto(), Duration::from_secs(60));
    }

    #[test]
    fn an_rtt_below_a_tick_counts_as_one() {
        // One tick: SRTT = 8/8, RTTVAR = 2/4; RTO = (16 + 8) / 8 = 3 ticks = 30 ms, but at least 200 ms.
        let mut rtt = RttEstimator::new(&RetransmissionTimer { min_rto: ms(1), ..Config::ns2().timer });
        rtt.sample(Instant::ZERO + ms(1), Duration::from_micros(10), START);
        assert_eq!(rtt.rto(), ms(30));
    }
}
