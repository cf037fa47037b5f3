//! The least round-trip time (client-centered-2004 section III-A.2): from echoed timestamps (RFC 7323 section 3), or
//! from the handshake and the answers to open ACKs.

use super::config::RttFrom;
use super::sequence::is_after;
use crate::gateway::SegmentKind;
use crate::station::TcpView;
use netlull_units::{Duration, Instant};

/// The number of stored TSvals, for a window of twice as many packets with one acknowledgement per two packets.
const KEPT: usize = 512;

/// The latest TSvals sent, in order, each with the time of its last use.
///
/// A coarse clock sends one value several times. With the last time, a sample is too short rather than too long,
/// and the radio wakes too early rather than too late.
#[derive(Clone, Debug)]
struct Stamps {
    ring: [(u32, Instant); KEPT],
    oldest: usize,
    len: usize,
    /// The time of the first use of the latest value.
    first: Instant,
    /// The longest time between the first and last use of one value, a lower bound of the clock's tick.
    tick: Duration,
}

impl Stamps {
    fn new() -> Self {
        Self { ring: [(0, Instant::ZERO); KEPT], oldest: 0, len: 0, first: Instant::ZERO, tick: Duration::ZERO }
    }

    fn at(&self, index: usize) -> (u32, Instant) {
        self.ring[(self.oldest + index) % KEPT]
    }

    fn newest(&self) -> Option<u32> {
        (self.len > 0).then(|| self.at(self.len - 1).0)
    }

    fn record(&mut self, now: Instant, value: u32) {
        match self.newest() {
            Some(newest) if newest == value => {
                self.tick = self.tick.max(now.saturating_since(self.first));
                self.ring[(self.oldest + self.len - 1) % KEPT] = (value, now);
                return;
            }
            Some(newest) if !is_after(value, newest) => return,
            _ => self.first = now,
        }
        if self.len < KEPT {
            self.len += 1;
        } else {
            self.oldest = (self.oldest + 1) % KEPT;
        }
        self.ring[(self.oldest + self.len - 1) % KEPT] = (value, now);
    }

    /// The time at which this value was sent.
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

/// The number of answered open ACKs after which their samples alone give the least round-trip time. On a noisy
/// path the minimum of a few samples is too long, and the radio misses the first packets (reading).
const ENOUGH_ANSWERS: u32 = 8;

/// The state of the last open ACK with respect to samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opened {
    Never,
    /// The TSval of the open ACK.
    Unanswered(u32),
    Answered(u32),
}

/// The minimum of all samples.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    from: RttFrom,
    stamps: Stamps,
    opened: Opened,
    /// The minimum of all samples.
    least: Option<Duration>,
    /// The minimum of samples that answer open ACKs.
    least_answer: Option<Duration>,
    /// The number of answered open ACKs.
    answers: u32,
    /// The number that acknowledges the host's SYN, and the time of the SYN.
    shaking: Option<(u32, Instant)>,
}

/// The tick of the clock that stands in for timestamps, as a power of two: 65.5 us.
const TICK_BITS: u32 = 16;

/// The time of an instant on the clock that stands in for timestamps.
#[allow(clippy::cast_possible_truncation, reason = "the clock wraps, as timestamps do")]
fn ticks(at: Instant) -> u32 {
    (at.as_nanos() >> TICK_BITS) as u32
}

/// A sample without timestamps, in whole milliseconds: the resolution of the paper's timers (reading). The handshake's
/// segments and an open ACK differ in size, and a radio that wakes microseconds late misses a packet.
fn whole_millis(sample: Duration) -> Duration {
    Duration::from_millis(sample.as_nanos() / 1_000_000)
}

impl RoundTrip {
    pub(super) fn new(from: RttFrom) -> Self {
        let opened = Opened::Never;
        Self { from, stamps: Stamps::new(), opened, least: None, least_answer: None, answers: 0, shaking: None }
    }

    /// The time stamp of a segment that the host sends: its TSval, or the time without use of timestamps.
    pub(super) fn stamp(&self, now: Instant, segment: &TcpView) -> Option<u32> {
        if self.from.is_without_timestamps() {
            return Some(ticks(now));
        }
        segment.timestamps.map(|stamps| stamps.value)
    }

    /// The time stamp that received data echoes. Without use of timestamps, a least round-trip time ago: the sender
    /// has seen no later acknowledgement.
    pub(super) fn echo(&self, now: Instant, segment: &TcpView) -> Option<u32> {
        if self.from.is_without_timestamps() {
            let since = now.saturating_since(Instant::ZERO).saturating_sub(self.least?);
            return Some(ticks(Instant::ZERO + since));
        }
        segment.timestamps.map(|stamps| stamps.echo)
    }

    /// Records the host's SYN or SYN-ACK. The latest one counts if it is repeated, so the radio wakes too early rather
    /// than too late.
    pub(super) fn shakes(&mut self, now: Instant, segment: &TcpView) {
        if self.from.is_without_timestamps() && segment.kind != SegmentKind::Other {
            self.shaking = Some((segment.seq.wrapping_add(1), now));
        }
    }

    /// Takes a sample from the peer's first acknowledgement of the handshake.
    pub(super) fn is_shaken(&mut self, now: Instant, segment: &TcpView) {
        if let Some((number, sent)) = self.shaking
            && segment.acknowledged == Some(number)
        {
            self.shaking = None;
            self.lower(whole_millis(now.saturating_since(sent)));
        }
    }

    /// Takes a sample from the first data after an open ACK that was sent once, `took` ago.
    pub(super) fn answered(&mut self, took: Duration) {
        if self.from == RttFrom::Answers {
            self.lower(whole_millis(took));
        }
    }

    fn lower(&mut self, sample: Duration) {
        self.least = Some(self.least.map_or(sample, |least| least.min(sample)));
    }

    /// The least round-trip time, once there is a sample.
    pub(super) fn least(&self) -> Option<Duration> {
        match self.from {
            RttFrom::OpenAck if self.answers >= ENOUGH_ANSWERS => self.least_answer,
            RttFrom::OpenAck | RttFrom::AnyEcho | RttFrom::Handshake | RttFrom::Answers => self.least,
        }
    }

    /// The upper bound of the least round-trip time: a sample is too short by up to one tick of the timestamp
    /// clock.
    pub(super) fn most(&self) -> Option<Duration> {
        self.least().map(|least| least + self.stamps.tick)
    }

    /// The latest TSval sent.
    pub(super) fn newest(&self) -> Option<u32> {
        self.stamps.newest()
    }

    /// Records a segment that the host sends with this TSval.
    pub(super) fn sent(&mut self, now: Instant, value: u32) {
        self.stamps.record(now, value);
    }

    /// Records the TSval of the open ACK that the next data answers.
    pub(super) fn opened(&mut self, value: u32) {
        self.opened = Opened::Unanswered(value);
    }

    /// Returns true if data answers the open ACK of `opened` by its time: it arrives at least half of the least
    /// round-trip time later (reading). Data that comes earlier is a straggler.
    pub(super) fn answers_in_time(&self, now: Instant, opened: Instant) -> bool {
        self.least.is_none_or(|least| now.saturating_since(opened) >= least / 2)
    }

    /// Returns true if data with this echo left after the open ACK arrived, or if that is unknown.
    pub(super) fn answers(&self, echo: Option<u32>) -> bool {
        match (echo, self.opened) {
            (Some(echo), Opened::Unanswered(opened) | Opened::Answered(opened)) => !is_after(opened, echo),
            (None, _) | (_, Opened::Never) => true,
        }
    }

    /// Takes a sample from data with this echo.
    pub(super) fn sample(&mut self, now: Instant, echo: u32) {
        if self.from.is_without_timestamps() {
            return;
        }
        let Some(sent) = self.stamps.find(echo) else { return };
        let sample = now.saturating_since(sent);
        self.lower(sample);
        if self.opened == Opened::Never || !self.answers(Some(echo)) {
            return;
        }
        self.least_answer = Some(self.least_answer.map_or(sample, |least| least.min(sample)));
        if let Opened::Unanswered(value) = self.opened {
            self.opened = Opened::Answered(value);
            self.answers = self.answers.saturating_add(1);
        }
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
    fn a_coarse_clock_leaves_the_least_uncertain_by_its_tick() {
        // Values of a clock with a tick of 10 ms: sent at 10 and 18 ms, and at 20 ms. The first counts as sent at
        // 18 ms.
        let mut rtt = RoundTrip::new(RttFrom::AnyEcho);
        rtt.sent(at(10), 1);
        rtt.sent(at(18), 1);
        rtt.sent(at(20), 2);
        assert_eq!(rtt.most(), None);
        rtt.sample(at(70), 1);
        assert_eq!((rtt.least(), rtt.most()), (ms(52), ms(60)));
        rtt.sent(at(30), 2);
        assert_eq!(rtt.most(), ms(62), "from 20 to 30 ms");
    }

    #[test]
    fn the_latest_values_are_found_though_the_clock_wraps() {
        // 1,000 values that begin 600 before the wrap: the last 512 are stored.
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
        // This answers the first of the two, apparently after 51 ms.
        rtt.sample(at(70), 1);
        assert_eq!(rtt.least(), ms(51), "until there is better");
        // Seven open ACKs, each answered after 60 ms, are too few. The eighth is answered after 58 ms, two more
        // after that.
        for n in 1..=7 {
            rtt.sent(at(100 * n), 10 * n as u32);
            rtt.opened(10 * n as u32);
            rtt.sample(at(100 * n + 1), 1);
            rtt.sample(at(100 * n + 60), 10 * n as u32);
            assert_eq!(rtt.least(), ms(51), "{n} answers");
        }
        rtt.sent(at(800), 80);
        rtt.opened(80);
        rtt.sample(at(858), 80);
        assert_eq!(rtt.least(), ms(58));
        rtt.sample(at(859), 80);
        assert_eq!(rtt.least(), ms(58));
        rtt.sample(at(860), 1);
        assert_eq!(rtt.least(), ms(58), "older than the open ACK");
        assert!(!rtt.answers(Some(70)) && rtt.answers(Some(80)) && rtt.answers(Some(81)) && rtt.answers(None));
    }
}
