//! The least round-trip time, from the timestamps that data echoes (client-centered-2004 section III-A.2; RFC 7323 section 3).

use super::config::RttFrom;
use super::sequence::is_after;
use netlull_units::{Duration, Instant};

/// How many of the latest TSvals are known. A window of twice as many packets can be acknowledged one packet in two.
const KEPT: usize = 512;

/// The latest TSvals sent, in order, each with the last instant at which it was.
///
/// The last, because a value of a coarse clock is sent more than once: then a sample is too short rather than too long, and the radio
/// wakes too soon rather than too late.
#[derive(Clone, Debug)]
struct Stamps {
    ring: [(u32, Instant); KEPT],
    oldest: usize,
    len: usize,
}

impl Stamps {
    fn new() -> Self {
        Self { ring: [(0, Instant::ZERO); KEPT], oldest: 0, len: 0 }
    }

    fn at(&self, index: usize) -> (u32, Instant) {
        self.ring[(self.oldest + index) % KEPT]
    }

    fn newest(&self) -> Option<u32> {
        (self.len > 0).then(|| self.at(self.len - 1).0)
    }

    fn record(&mut self, now: Instant, value: u32) {
        let place = match self.newest() {
            Some(newest) if newest == value => self.len - 1,
            Some(newest) if !is_after(value, newest) => return,
            _ if self.len < KEPT => {
                self.len += 1;
                self.len - 1
            }
            _ => {
                self.oldest = (self.oldest + 1) % KEPT;
                KEPT - 1
            }
        };
        self.ring[(self.oldest + place) % KEPT] = (value, now);
    }

    /// When this value was sent.
    fn find(&self, value: u32) -> Option<Instant> {
        let (oldest, _) = self.at(0);
        let target = value.wrapping_sub(oldest);
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.at(middle).0.wrapping_sub(oldest) < target {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < self.len && self.at(low).0 == value).then(|| self.at(low).1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Least {
    Unknown,
    /// Of any data, where only answers to open ACKs count and there is none yet.
    Provisional(Duration),
    Known(Duration),
}

/// The minimum of all samples.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    from: RttFrom,
    stamps: Stamps,
    least: Least,
    /// The TSval of the last open ACK.
    opened: Option<u32>,
}

impl RoundTrip {
    pub(super) fn new(from: RttFrom) -> Self {
        Self { from, stamps: Stamps::new(), least: Least::Unknown, opened: None }
    }

    /// The least round-trip time, once there is a sample.
    pub(super) fn least(&self) -> Option<Duration> {
        match self.least {
            Least::Unknown => None,
            Least::Provisional(time) | Least::Known(time) => Some(time),
        }
    }

    /// The latest TSval sent.
    pub(super) fn newest(&self) -> Option<u32> {
        self.stamps.newest()
    }

    /// The host sends a segment with this TSval.
    pub(super) fn sent(&mut self, now: Instant, value: u32) {
        self.stamps.record(now, value);
    }

    /// The open ACK that data will answer now has this TSval.
    pub(super) fn opened(&mut self, value: u32) {
        self.opened = Some(value);
    }

    /// Whether data that echoes this was sent after the open ACK had come; true where nothing tells.
    pub(super) fn answers(&self, echo: Option<u32>) -> bool {
        !matches!((echo, self.opened), (Some(echo), Some(opened)) if is_after(opened, echo))
    }

    /// Data that echoes this has come.
    pub(super) fn sample(&mut self, now: Instant, echo: u32) {
        let Some(sent) = self.stamps.find(echo) else { return };
        let sample = now.saturating_since(sent);
        let least = self.least().map_or(sample, |least| least.min(sample));
        self.least = match (self.from, self.opened, self.least) {
            (RttFrom::AnyEcho, ..) => Least::Known(least),
            (RttFrom::OpenAck, None, _) => Least::Provisional(least),
            (RttFrom::OpenAck, Some(opened), _) if is_after(opened, echo) => return,
            (RttFrom::OpenAck, Some(_), Least::Known(_)) => Least::Known(least),
            (RttFrom::OpenAck, Some(_), _) => Least::Known(sample),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn ms(millis: u64) -> Option<Duration> {
        Some(Duration::from_millis(millis))
    }

    #[test]
    fn the_least_of_all_samples_stays() {
        let mut rtt = RoundTrip::new(RttFrom::AnyEcho);
        rtt.sample(at(5), 7);
        assert_eq!(rtt.least(), None, "nobody sent a 7");
        rtt.sent(at(10), 100);
        rtt.sent(at(20), 110);
        rtt.sample(at(75), 100);
        rtt.sample(at(80), 110);
        rtt.sample(at(90), 110);
        assert_eq!(rtt.least(), ms(60));
    }

    #[test]
    fn a_value_sent_twice_counts_from_the_second_time() {
        let mut rtt = RoundTrip::new(RttFrom::AnyEcho);
        rtt.sent(at(10), 1);
        rtt.sent(at(14), 1);
        rtt.sample(at(70), 1);
        assert_eq!(rtt.least(), ms(56));
    }

    #[test]
    fn the_latest_values_are_found_though_the_clock_wraps() {
        // 1,000 values from 600 before the wrap on: the last 512 are known.
        let mut rtt = RoundTrip::new(RttFrom::AnyEcho);
        let value = |n: u64| u32::MAX.wrapping_sub(600).wrapping_add(n as u32);
        for n in 0..1000 {
            rtt.sent(at(n), value(n));
        }
        rtt.sample(at(2000), value(487));
        assert_eq!(rtt.least(), None);
        for n in 488..1000 {
            assert_eq!(rtt.stamps.find(value(n)), Some(at(n)));
        }
    }

    #[test]
    fn with_open_acks_only_their_answers_count() {
        let mut rtt = RoundTrip::new(RttFrom::OpenAck);
        rtt.sent(at(10), 1);
        rtt.sent(at(19), 1);
        // Answers the first of the two, as if after 51 ms.
        rtt.sample(at(70), 1);
        assert_eq!(rtt.least(), ms(51), "until there is better");
        rtt.sent(at(100), 10);
        rtt.opened(10);
        rtt.sample(at(101), 1);
        assert_eq!(rtt.least(), ms(51), "older than the open ACK");
        rtt.sample(at(160), 10);
        assert_eq!(rtt.least(), ms(60), "the first answer");
        rtt.sent(at(200), 20);
        rtt.opened(20);
        rtt.sample(at(258), 20);
        assert_eq!(rtt.least(), ms(58));
        assert!(!rtt.answers(Some(10)) && rtt.answers(Some(20)) && rtt.answers(Some(21)) && rtt.answers(None));
    }
}
