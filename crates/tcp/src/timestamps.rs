//! The timestamps option: the sender's clock and the receiver's memory (RFC 7323).

use crate::number::modulo_u32;
use crate::segment::{Flags, Segment};
use netlull_units::{Duration, Instant};

/// The use of timestamps on the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Negotiated {
    Off,
    On,
}

/// The order of a timestamp and TS.Recent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paws {
    Accept,
    Refuse,
}

/// An endpoint's timestamp clock, and the value that it echoes.
#[derive(Clone, Debug)]
pub(crate) struct Timestamps {
    /// The end of the current tick and the nanoseconds of a tick: most segments need no division.
    tick_end: u64,
    granularity: u32,
    /// TS.Recent and the time of its update.
    recent: u32,
    value: u32,
    recent_at: Instant,
    pub negotiated: Negotiated,
}

impl Timestamps {
    pub fn new(granularity: Duration) -> Self {
        Self {
            tick_end: granularity.as_nanos(),
            // At most a second (`Config::validate`).
            granularity: u32::try_from(granularity.as_nanos()).unwrap_or(u32::MAX),
            recent: 0,
            value: 0,
            recent_at: Instant::ZERO,
            negotiated: Negotiated::Off,
        }
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.negotiated == Negotiated::On
    }

    /// TSval: the time in ticks, modulo 2^32.
    #[inline]
    pub fn now(&mut self, now: Instant) -> u32 {
        let now = now.as_nanos();
        if now >= self.tick_end {
            self.advance(now);
        }
        self.value
    }

    fn advance(&mut self, now: u64) {
        let granularity = u64::from(self.granularity);
        if now - self.tick_end < granularity {
            // The next tick: no division.
            self.tick_end += granularity;
            self.value = self.value.wrapping_add(1);
            return;
        }
        let tick = now / granularity;
        self.tick_end = (tick + 1) * granularity;
        self.value = modulo_u32(tick);
    }

    /// The timestamp that an acknowledgement echoes, if the connection uses timestamps.
    #[inline]
    pub fn echo(&self, segment: &Segment) -> Option<u32> {
        (self.is_on() && segment.flags.contains(Flags::HAS_TIMESTAMPS)).then_some(segment.ts_ecr)
    }

    /// TSval of a segment sent at that time.
    pub fn at(&self, time: Instant) -> u32 {
        modulo_u32(time.as_nanos() / u64::from(self.granularity))
    }

    /// TSecr: TS.Recent.
    #[inline]
    pub fn recent(&self) -> u32 {
        self.recent
    }

    /// RFC 7323 section 4.1: the round trip that an echo ends, a whole number of ticks; `None` for an echo from the
    /// future.
    #[inline]
    pub fn round_trip(&mut self, now: Instant, echo: u32) -> Option<Duration> {
        let ticks = self.now(now).wrapping_sub(echo).cast_signed();
        u64::try_from(ticks).ok().map(|ticks| Duration::from_nanos(ticks * u64::from(self.granularity)))
    }

    /// The first timestamp of the peer, from its SYN.
    pub fn begin(&mut self, now: Instant, value: u32) {
        self.negotiated = Negotiated::On;
        self.recent = value;
        self.recent_at = now;
    }

    /// RFC 7323 section 5.3, R1: a segment older than TS.Recent is not acceptable; nor is one without the option
    /// (section 3.2). RSTs are exempt.
    #[inline]
    pub fn check(&self, now: Instant, segment: &Segment) -> Paws {
        if segment.flags.contains(Flags::RST) {
            return Paws::Accept;
        }
        if !segment.flags.contains(Flags::HAS_TIMESTAMPS) {
            return Paws::Refuse;
        }
        if self.is_older(segment.ts_val) && !self.recent_is_stale(now) {
            return Paws::Refuse;
        }
        Paws::Accept
    }

    /// True for a timestamp before TS.Recent.
    #[inline]
    pub fn is_older(&self, value: u32) -> bool {
        value.wrapping_sub(self.recent).cast_signed() < 0
    }

    /// RFC 7323 section 5.5: TS.Recent is invalid after half a turn of the clock (24 days of ticks of 1 ms).
    #[cold]
    fn recent_is_stale(&self, now: Instant) -> bool {
        now.saturating_since(self.recent_at)
            >= Duration::from_nanos(u64::from(self.granularity)).saturating_mul(1 << 31)
    }

    /// RFC 7323 section 4.3 (2): stores the timestamp of a segment that starts at or before Last.ACK.sent.
    #[inline]
    pub fn remember(&mut self, now: Instant, value: u32) {
        self.recent = value;
        self.recent_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn stamped(ts_val: u32) -> Segment {
        Segment { flags: Flags::ACK | Flags::HAS_TIMESTAMPS, ts_val, ..Segment::default() }
    }

    #[test]
    fn the_clock_counts_ticks_also_when_time_jumps() {
        let mut clock = Timestamps::new(Duration::from_millis(1));
        let times = [0, 999_999, 1_000_000, 1_500_000, 2_000_000, 7_000_001];
        assert_eq!(times.map(|nanos| clock.now(Instant::from_nanos(nanos))), [0, 0, 1, 1, 2, 7]);
    }

    #[test]
    fn a_round_trip_is_the_difference_of_ticks_also_across_a_wrap() {
        let mut clock = Timestamps::new(Duration::from_millis(1));
        assert_eq!(clock.round_trip(at_ms(140), 100), Some(Duration::from_millis(40)));
        assert_eq!(clock.round_trip(at_ms(140), 141), None);
        // 2^32 + 10 ms is tick 10; an echo of 2^32 - 5 is 15 ms old.
        assert_eq!(clock.round_trip(at_ms((1 << 32) + 10), u32::MAX - 4), Some(Duration::from_millis(15)));
    }

    #[test]
    fn paws_refuses_older_timestamps_for_24_days() {
        let mut clock = Timestamps::new(Duration::from_millis(1));
        clock.begin(at_ms(1000), 5000);
        assert_eq!(clock.check(at_ms(1001), &stamped(5000)), Paws::Accept);
        assert_eq!(clock.check(at_ms(1001), &stamped(4999)), Paws::Refuse);
        assert_eq!(clock.check(at_ms(1001), &Segment { flags: Flags::ACK, ..Segment::default() }), Paws::Refuse);
        let reset = Segment { flags: Flags::RST, ..Segment::default() };
        assert_eq!(clock.check(at_ms(1001), &reset), Paws::Accept);
        // 2^31 ms later TS.Recent is no longer valid.
        assert_eq!(clock.check(at_ms(1000 + (1 << 31)), &stamped(4999)), Paws::Accept);
    }
}
