//! Vegas' early retransmission: a duplicate acknowledgement means a loss if the requested segment is older than a
//! fine-grained timeout (Brakmo and Peterson 1995, section 3.1), as in ns-2.35's `Agent/TCP/Vegas`.

use crate::cc::Transmission;
use crate::number::float;
use netlull_units::{Duration, Instant};
use std::collections::VecDeque;

/// Acknowledgements after a retransmission that check whether the next segment has expired too.
const SUSPICIOUS_ACKS: u8 = 2;

/// A transmitted, unacknowledged segment.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    last: Transmission,
}

/// The transmission times of segments in flight, and the timeout from their round trips.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlyRetransmit {
    /// In order, from SND.UNA on.
    sent: VecDeque<Sent>,
    /// 8 times the smoothed round trip, in ns; `None` before the first.
    srtt: Option<f64>,
    /// 4 times its mean deviation, in ns.
    deviation: f64,
    /// The timeout in ns.
    timeout: f64,
    /// The number of further acknowledgements of new data that check for expired segments.
    suspicious: u8,
    /// Time of the last reduction of the window.
    reduced_at: Instant,
    /// The round trip of the last acknowledged segment, if it was transmitted once.
    pub rtt: Option<Duration>,
}

impl EarlyRetransmit {
    /// Sets the handshake's round trip.
    pub fn begin(&mut self, rtt: Duration) {
        let rtt = nanos(rtt);
        self.srtt = Some(8.0 * rtt);
        self.deviation = rtt;
        self.timeout = (2.0 * rtt + rtt) / 2.0;
    }

    /// Records a transmission of a segment from `start`, new or again.
    #[inline]
    pub fn sent(&mut self, now: Instant, start: u64, end: u64) {
        if self.sent.back().is_none_or(|last| last.end <= start) {
            self.sent.push_back(Sent { end, last: Transmission { at: now, count: 1 } });
            return;
        }
        // After a timeout, a segment with new borders counts as the one that it begins in.
        let index = self.sent.partition_point(|sent| sent.end <= start);
        if let Some(sent) = self.sent.get_mut(index) {
            sent.last = Transmission { at: now, count: sent.last.count + 1 };
        }
    }

    /// Handles the acknowledgement of everything before `una`: a round trip, if its last segment was transmitted
    /// once.
    #[inline]
    pub fn acknowledge(&mut self, now: Instant, una: u64) {
        let mut last = None;
        while let Some(sent) = self.sent.front()
            && sent.end <= una
        {
            last = Some(sent.last);
            self.sent.pop_front();
        }
        self.rtt = last.filter(|last| last.count == 1).map(|last| now - last.at);
        if let Some(rtt) = self.rtt
            && !rtt.is_zero()
        {
            self.sample(rtt);
        }
    }

    /// Adds a sample: the timeout becomes 17/16 of SRTT + 2 mean deviations.
    fn sample(&mut self, rtt: Duration) {
        if self.srtt.is_none() {
            self.begin(rtt);
        }
        let srtt = self.srtt.unwrap_or(0.0);
        let error = nanos(rtt) - srtt / 8.0;
        let srtt = srtt + error;
        self.deviation += error.abs() - self.deviation / 4.0;
        let timeout = f64::midpoint(srtt / 4.0, self.deviation);
        self.timeout = timeout + timeout / 16.0;
        self.srtt = Some(srtt);
    }

    /// True if the first unacknowledged segment is older than the timeout.
    pub fn has_expired(&self, now: Instant) -> bool {
        self.sent.front().is_some_and(|first| nanos(now.saturating_since(first.last.at)) >= self.timeout)
    }

    /// Checks, at one of the acknowledgements of new data after a retransmission, whether the next segment has
    /// expired.
    pub fn is_suspicious(&mut self, now: Instant) -> bool {
        if self.suspicious == 0 {
            return false;
        }
        self.suspicious -= 1;
        let expired = self.has_expired(now);
        if !expired {
            self.suspicious = 0;
        }
        expired
    }

    /// Takes the first unacknowledged segment as lost. Returns its last transmission, and whether the window must be
    /// reduced: only if it has not been since that transmission.
    pub fn lose(&mut self, now: Instant) -> (Transmission, bool) {
        let last = self.sent.front().map_or(Transmission { at: now, count: 1 }, |first| first.last);
        self.suspicious = SUSPICIOUS_ACKS;
        self.timeout += if last.count > 1 { self.timeout } else { self.timeout / 8.0 };
        let reduces = self.reduced_at < last.at;
        if reduces {
            self.reduced_at = now;
        }
        (last, reduces)
    }

    /// Handles the retransmission timer.
    pub fn on_timeout(&mut self, now: Instant) {
        self.reduced_at = now;
    }
}

fn nanos(span: Duration) -> f64 {
    float(span.as_nanos())
}
