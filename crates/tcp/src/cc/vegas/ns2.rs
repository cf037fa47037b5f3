//! Vegas of ns-2.35 (`Agent/TCP/Vegas`).
//!
//! Sections are those of L. Brakmo, L. Peterson, TCP Vegas: end to end congestion avoidance on a global internet,
//! JSAC 13(8), 1995; names in backquotes are ns-2's. Windows are in segments and fractions of them, times in nanoseconds.
//!
//! Recovery finds and repairs losses. With the first duplicate acknowledgement, or the first two acknowledgements
//! after a retransmission, it retransmits a segment older than a fine-grained timeout (section 3.1). It reports:
//!
//! - [`CongestionControl::on_segment_lost`] for a retransmission after duplicate acknowledgements, or after expiry at
//!   one. The window falls by a quarter, by half if the segment had been retransmitted before, and to 2 if it was at
//!   most 3. It stays if it has fallen since the transmission of the segment. Recovery adds the inflation of duplicates
//!   until the next acknowledgement of new data.
//! - nothing if one of the two acknowledgements after a retransmission finds another expired segment: ns-2 keeps the
//!   window.
//! - [`CongestionControl::on_recovered`] at the acknowledgement of new data that ends the inflation, before
//!   [`CongestionControl::on_ack`]. The window of the recovery is kept: ns-2's window can stay inflated after three
//!   duplicates or fewer (`dupacks_ > numdupacks_` deflates). If it is at most the window after the loss, slow start is
//!   over for good.
//! - [`CongestionControl::on_timeout`]: a window of 2, and half of the old one as the threshold.

use crate::cc::{Ack, CongestionControl, Idle, Loss, Recovered, Spurious, Start, TimeoutKind, Transmission};
use crate::config::{Config, VegasBounds};
use crate::number::{float, whole};
use crate::recovery::RecoveryPhase;
use netlull_units::{Bytes, Duration, Instant};

/// `v_slowstart_`: the window after a timeout, and the smallest window at other times.
const LEAST_WINDOW: f64 = 2.0;
/// The divisor of the cut when slow start finds a queue; 7/8 of the window remain (section 3.3).
const SLOW_START_CUT: f64 = 8.0;
/// No window can be advertised beyond 2^30 bytes (RFC 7323 section 2.3).
const LARGEST_WINDOW: u64 = 1 << 30;

/// ns-2's Vegas.
#[derive(Clone, Debug)]
pub struct VegasNs2 {
    /// `cwnd_` without the inflation of duplicate acknowledgements.
    cwnd: f64,
    /// The same in whole bytes.
    bytes: u64,
    ssthresh: f64,
    /// `v_incr_`: the growth of the window per acknowledgement in this round trip.
    increment: f64,
    /// `v_inc_flag_`: slow start may grow in this round trip.
    may_grow: bool,
    /// `v_baseRTT_`; `None` before the first acknowledgement.
    base_rtt: Option<f64>,
    /// `v_sumRTT_` and `v_cntRTT_`: samples of this round trip.
    rtt_sum: u64,
    rtt_count: u32,
    /// `v_begseq_` as a stream offset, and `v_begtime_`.
    begin: u64,
    begin_time: Instant,
    /// `t_cwnd_changed_`: time of the last change of the window by a loss.
    reduced_at: Instant,
    /// `v_newcwnd_`: the window after the last loss.
    after_loss: f64,
    bounds: VegasBounds,
    smss: u64,
    initial_window: u64,
    /// True from the first acknowledgement of data on.
    opened: bool,
}

/// Bytes in segments, the last possibly short.
fn segments(bytes: u64, smss: u64) -> f64 {
    float(bytes.div_ceil(smss))
}

impl VegasNs2 {
    /// Vegas with the options of `config`, before the handshake.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let smss = u64::from(config.mss);
        Self {
            cwnd: 1.0,
            bytes: smss,
            ssthresh: config
                .cwnd
                .initial_ssthresh
                .map_or(f64::INFINITY, |ssthresh: Bytes| float(ssthresh.as_u64() / smss)),
            increment: 0.0,
            may_grow: true,
            base_rtt: None,
            rtt_sum: 0,
            rtt_count: 0,
            begin: 0,
            begin_time: Instant::ZERO,
            reduced_at: Instant::ZERO,
            after_loss: 0.0,
            bounds: config.cwnd.vegas,
            smss,
            initial_window: smss,
            opened: false,
        }
    }

    #[inline]
    fn set_cwnd(&mut self, segments: f64) {
        self.cwnd = segments;
        // A fraction of a segment must not be rounded up to a whole one.
        let fraction = whole(segments.fract() * float(self.smss)).min(self.smss - 1);
        let bytes = whole(segments) * self.smss + fraction;
        if bytes > LARGEST_WINDOW {
            self.cwnd = float(LARGEST_WINDOW / self.smss);
            self.bytes = LARGEST_WINDOW / self.smss * self.smss;
        } else {
            self.bytes = bytes;
        }
    }

    /// The number of segments between those sent and acknowledged, plus one: `t_seqno_ - last_ack_`.
    #[inline]
    fn in_transit(&self, ack: &Ack) -> f64 {
        segments(ack.nxt - ack.una, self.smss) + 1.0
    }

    /// ns-2's SYN is segment 0. Its acknowledgement begins the first round trip of data, in a round trip of slow
    /// start without growth. `delay_growth_`: that is a round trip of one segment.
    fn begin_first_round(&mut self, now: Instant, rtt: Duration) {
        self.begin_time = now;
        self.base_rtt = Some(nanos(rtt));
        self.may_grow = false;
        self.set_cwnd(1.0);
    }

    /// Handles the first acknowledgement of data.
    #[cold]
    fn open(&mut self, ack: &Ack) {
        self.opened = true;
        if self.base_rtt.is_none() {
            // The handshake has no measurement.
            let rtt = ack.rtt.unwrap_or_else(|| ack.now.saturating_since(self.begin_time));
            self.begin_first_round(before(ack.now, rtt), rtt);
        }
        self.set_cwnd(self.initial_window());
    }

    fn initial_window(&self) -> f64 {
        float((self.initial_window / self.smss).max(1))
    }

    /// Sections 3.2 and 3.3, once per round trip: the last round trip decides the growth in the next.
    #[cold]
    fn end_round(&mut self, ack: &Ack) {
        let rtt = if self.rtt_count > 0 {
            mean(self.rtt_sum, self.rtt_count)
        } else {
            nanos(ack.now.saturating_since(self.begin_time))
        };
        self.rtt_sum = 0;
        self.rtt_count = 0;
        let sent = segments(ack.nxt.saturating_sub(self.begin), self.smss);
        if rtt > 0.0 {
            let base = self.base_rtt.filter(|&base| rtt >= base && sent > 1.0).unwrap_or(rtt);
            self.base_rtt = Some(base);
            let actual = sent / rtt;
            let expected = self.in_transit(ack) / base;
            // Diff, in whole segments: half rounds up, negative numbers towards zero.
            let queued = ((expected - actual) * base + 0.5).trunc();
            if self.cwnd < self.ssthresh {
                self.slow_start(queued);
            } else {
                self.avoid_congestion(queued);
            }
        }
        self.begin = ack.nxt;
        self.begin_time = ack.now;
    }

    /// Section 3.3: growth in every other round trip, until more than gamma segments are queued.
    fn slow_start(&mut self, queued: f64) {
        self.may_grow = !self.may_grow;
        self.increment = 0.0;
        if !self.may_grow {
            return;
        }
        if queued > f64::from(self.bounds.gamma) {
            self.ssthresh = LEAST_WINDOW;
            self.set_cwnd((self.cwnd - self.cwnd / SLOW_START_CUT).max(LEAST_WINDOW));
        } else {
            self.increment = 1.0;
        }
    }

    /// Section 3.2: the target is between alpha and beta segments queued.
    fn avoid_congestion(&mut self, queued: f64) {
        self.increment = 0.0;
        if queued > f64::from(self.bounds.beta) {
            self.set_cwnd((self.cwnd - 1.0).max(LEAST_WINDOW));
        } else if queued < f64::from(self.bounds.alpha) {
            self.increment = 1.0 / self.cwnd;
        }
    }

    /// Opens the window for this acknowledgement, if it is (nearly) full.
    #[inline]
    fn grow(&mut self, ack: &Ack) {
        if self.increment >= 1.0 && self.cwnd >= self.ssthresh {
            self.increment = 0.0;
        }
        if self.increment > 0.0 && self.cwnd - self.in_transit(ack) <= 2.0 {
            self.set_cwnd(self.cwnd + self.increment);
        }
    }

    /// The round trip of a segment without retransmissions.
    #[inline]
    fn sample(&mut self, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        self.rtt_sum += rtt.as_nanos();
        self.rtt_count += 1;
        if !rtt.is_zero() {
            self.base_rtt = Some(self.base_rtt.map_or(nanos(rtt), |base| base.min(nanos(rtt))));
        }
    }
}

fn nanos(span: Duration) -> f64 {
    float(span.as_nanos())
}

fn before(now: Instant, span: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_sub(span.as_nanos()))
}

fn mean(sum: u64, count: u32) -> f64 {
    float(sum) / f64::from(count)
}

impl CongestionControl for VegasNs2 {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.bytes
    }

    fn ssthresh(&self) -> u64 {
        // Saturates at infinity.
        whole(self.ssthresh).saturating_mul(self.smss)
    }

    fn on_established(&mut self, start: &Start) {
        let smss = u64::from(start.smss).max(1);
        self.ssthresh = (self.ssthresh * float(self.smss) / float(smss)).floor();
        self.smss = smss;
        self.initial_window = start.initial_window;
        self.begin_time = start.now;
        self.set_cwnd(1.0);
        if let Some(rtt) = start.rtt {
            self.begin_first_round(start.now, rtt);
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        // Outside Vegas' own recovery, the recovery sets the window.
        if ack.phase == RecoveryPhase::FastRecovery {
            return;
        }
        if !self.opened {
            self.open(ack);
        }
        if ack.una > self.begin {
            self.end_round(ack);
        }
        self.grow(ack);
        self.sample(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reduced_at = Instant::ZERO;
        self.on_segment_lost(loss, &Transmission { at: loss.now, count: 1 });
    }

    fn on_segment_lost(&mut self, loss: &Loss, sent: &Transmission) {
        // The window has been reduced since the transmission: that covers this loss.
        if self.reduced_at >= sent.at {
            return;
        }
        let window = loss.window / self.smss;
        // Section 3.1.
        let window = match window {
            0..=3 => 2,
            _ if sent.count > 1 => window / 2,
            _ => window - window / 4,
        };
        self.set_cwnd(float(window));
        self.after_loss = self.cwnd;
        self.reduced_at = loss.now;
    }

    fn on_timeout(&mut self, loss: &Loss, _kind: TimeoutKind) {
        self.ssthresh = float(loss.window / 2 / self.smss).max(LEAST_WINDOW);
        self.set_cwnd(LEAST_WINDOW);
        self.after_loss = 0.0;
        self.reduced_at = loss.now;
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        let window = float(recovered.window) / float(self.smss);
        if window <= self.after_loss {
            self.ssthresh = LEAST_WINDOW;
        }
        self.set_cwnd(window);
    }

    fn on_spurious(&mut self, spurious: &Spurious) {
        let smss = float(self.smss);
        self.ssthresh = self.ssthresh.max(float(spurious.ssthresh) / smss);
        self.after_loss = 0.0;
        if spurious.cwnd > self.bytes {
            self.set_cwnd(float(spurious.cwnd) / smss);
        }
    }

    fn on_idle_restart(&mut self, _idle: &Idle) {
        if self.cwnd > self.initial_window() {
            self.set_cwnd(self.initial_window());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::linux::tests::{SMSS, ack, config, loss, start};

    /// The state after a handshake of 100 ms.
    fn established(ssthresh: u64) -> VegasNs2 {
        let mut cc = VegasNs2::new(&config(1000, ssthresh));
        cc.on_established(&Start { rtt: Some(Duration::from_millis(100)), ..start(2) });
        cc
    }

    /// The state in the middle of a transfer with a window of `cwnd`.
    fn open(cwnd: f64, ssthresh: u64) -> VegasNs2 {
        let mut cc = established(ssthresh);
        cc.opened = true;
        cc.set_cwnd(cwnd);
        cc
    }

    /// The acknowledgement that ends a round trip of `cwnd` segments, all in transit, and `rtt` milliseconds.
    fn end(cc: &mut VegasNs2, cwnd: u64, rtt: u64) {
        cc.rtt_sum = Duration::from_millis(rtt).as_nanos();
        cc.rtt_count = 1;
        cc.begin = 0;
        cc.end_round(&ack(1000, 1, cwnd));
    }

    #[test]
    fn begins_with_one_segment_and_grows_in_every_other_round_trip() {
        let mut cc = established(1000);
        assert_eq!(cc.cwnd(), SMSS);
        // The first acknowledgement: the initial window of 2, and the first round trip that grows.
        cc.on_ack(&ack(100, 1, 1));
        assert_eq!(cc.cwnd(), 3 * SMSS);
        // Segments 2 to 4 are sent now: the next round trip does not grow.
        cc.begin = SMSS;
        for una in [2, 3, 4] {
            cc.on_ack(&ack(200, una, 3));
            assert_eq!(cc.cwnd(), 3 * SMSS);
        }
    }

    #[test]
    fn one_to_three_segments_stay_queued() {
        // 40 in transit: Diff = 40 (1 - 100 / rtt). 101 ms: 0.4, rounds to 0 < 1. 102 ms: 0.8, 1. 109 ms: 3.3, 3.
        // 110 ms: 3.6, 4 > 3. One less at once, or 1/40 more per acknowledgement.
        for (rtt, expected, increment) in
            [(101, 40.0, 1.0 / 40.0), (102, 40.0, 0.0), (109, 40.0, 0.0), (110, 39.0, 0.0)]
        {
            let mut cc = open(40.0, 2);
            end(&mut cc, 40, rtt);
            assert_eq!((cc.cwnd, cc.increment), (expected, increment), "{rtt}");
        }
    }

    #[test]
    fn slow_start_ends_with_an_eighth_less() {
        // 40 in transit at 105 ms of 100: 1.9 queued, 2 > 1. 40 - 5.
        let mut cc = open(40.0, 100);
        end(&mut cc, 40, 105);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (35 * SMSS, 2 * SMSS));
        // 103 ms: 1.2, rounds to 1; a segment per acknowledgement.
        let mut cc = open(40.0, 100);
        end(&mut cc, 40, 103);
        assert_eq!((cc.cwnd(), cc.ssthresh(), cc.increment > 0.9), (40 * SMSS, 100 * SMSS, true));
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        // 40 segments, and 38 or 37 in flight with what is acknowledged: 40 - 38 <= 2, 40 - 37 > 2.
        for (flight, expected) in [(38, 40_250), (37, 40_000)] {
            let mut cc = open(40.0, 2);
            cc.increment = 0.25;
            cc.grow(&ack(1000, 1, flight));
            assert_eq!(cc.cwnd(), expected);
        }
    }

    #[test]
    fn a_loss_takes_a_quarter_and_a_second_one_half() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let lost = |now, window| Loss { now: at(now), ..loss(window, 100) };
        let mut cc = open(40.7, 2);
        cc.on_segment_lost(&lost(1000, 40), &Transmission { at: at(900), count: 1 });
        assert_eq!(cc.cwnd(), 30 * SMSS);
        // Sent before the reduction: the same loss. Sent after it, and a retransmission: half.
        cc.on_segment_lost(&lost(1050, 30), &Transmission { at: at(950), count: 1 });
        assert_eq!(cc.cwnd(), 30 * SMSS);
        cc.on_segment_lost(&lost(1200, 30), &Transmission { at: at(1001), count: 2 });
        assert_eq!(cc.cwnd(), 15 * SMSS);
        // 5 - 5 / 4 = 4; 3 and less leave 2.
        for (window, expected) in [(5, 4), (4, 3), (3, 2)] {
            cc.on_loss(&lost(2000, window));
            assert_eq!(cc.cwnd(), expected * SMSS);
        }
    }

    #[test]
    fn deflating_ends_slow_start_for_good() {
        let now = Instant::from_nanos(1_000_000_000);
        let recovered = |window| Recovered { now, flight: 0, window };
        let mut cc = open(40.0, 100);
        cc.on_loss(&Loss { now, ..loss(40, 100) });
        // Three duplicates or fewer: ns-2 stays inflated.
        cc.on_recovered(&recovered(33 * SMSS));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (33 * SMSS, 100 * SMSS));
        cc.on_recovered(&recovered(30 * SMSS));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (30 * SMSS, 2 * SMSS));
    }

    #[test]
    fn a_timeout_leaves_two_segments() {
        let mut cc = open(41.0, 100);
        cc.on_timeout(&loss(41, 100), TimeoutKind::First);
        assert_eq!((cc.cwnd(), cc.ssthresh()), (2 * SMSS, 20 * SMSS));
    }

    #[test]
    fn a_fraction_of_a_segment_is_no_segment() {
        let mut cc = open(19.999_999_999_999_996, 2);
        assert_eq!(cc.cwnd(), 19_999);
        cc.set_cwnd(20.0);
        assert_eq!(cc.cwnd(), 20_000);
    }
}
