//! Bit rates and transmission times.

use crate::amount::Bytes;
use crate::nearest_f64;
use crate::time::Duration;
use std::fmt;

/// A bit rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl BitRate {
    /// A rate of `bps` bits per second.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// A rate of `mbps` megabits (10^6 bits) per second.
    #[must_use]
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }

    /// The rate in bits per second.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The rate in bits per second.
    #[inline]
    #[must_use]
    pub fn as_f64(self) -> f64 {
        nearest_f64(self.0)
    }

    /// Returns true for a rate of zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The whole bytes transmitted in `span` (rounded down), at most `u64::MAX`.
    #[must_use]
    pub fn bytes_in(self, span: Duration) -> Bytes {
        let bits = u128::from(self.0) * u128::from(span.as_nanos()) / u128::from(NANOS_PER_SECOND);
        Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }

    /// The transmission time of `amount`, rounded down to a nanosecond, at most [`Duration::MAX`]. For back-to-back packets use [`Serialiser`].
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub fn time_for(self, amount: Bytes) -> Duration {
        let nanos = u128::from(amount.as_u64()) * 8 * u128::from(NANOS_PER_SECOND) / u128::from(self.0);
        u64::try_from(nanos).map_or(Duration::MAX, Duration::from_nanos)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::time::write_scaled(
            f,
            self.0,
            &[("Gb/s", 1_000_000_000), ("Mb/s", 1_000_000), ("kb/s", 1_000), ("b/s", 1)],
        )
    }
}

/// Transmission times of back-to-back packets, exact to the nanosecond over any number of packets.
///
/// A packet of L bytes takes 8 L 10^9 / r nanoseconds, which is seldom an integer. The serialiser returns whole
/// nanoseconds and carries the remainder (in units of 1/r ns) to the next packet of the same busy period. Thus n
/// packets end exactly at floor(8 n L 10^9 / r). L includes the overhead of a packet, if there is one.
#[derive(Clone, Debug)]
pub struct Serialiser {
    rate: BitRate,
    carry: u64,
    cached_size: u32,
    overhead: u32,
    cached_nanos: u64,
    cached_rest: u64,
}

impl Serialiser {
    /// Creates a serialiser at `rate`, which must not be zero.
    #[must_use]
    pub fn new(rate: BitRate) -> Self {
        assert!(!rate.is_zero(), "a serialiser needs a rate above zero");
        Self { rate, carry: 0, cached_size: 0, overhead: 0, cached_nanos: 0, cached_rest: 0 }
    }

    /// The same serialiser for packets with `overhead` more bytes on the wire than their sizes.
    #[must_use]
    pub fn with_overhead(self, overhead: u32) -> Self {
        Self { overhead, ..Self::new(self.rate) }
    }

    /// The bytes on the wire that each packet has in addition to its size.
    #[must_use]
    pub const fn overhead(&self) -> u32 {
        self.overhead
    }

    /// The rate.
    #[must_use]
    pub const fn rate(&self) -> BitRate {
        self.rate
    }

    /// Changes the rate. The remainder (less than a nanosecond) is kept.
    #[allow(clippy::cast_possible_truncation)]
    pub fn set_rate(&mut self, rate: BitRate) {
        assert!(!rate.is_zero(), "a serialiser needs a rate above zero");
        let carry = u128::from(self.carry) * u128::from(rate.0) / u128::from(self.rate.0);
        *self = Self { carry: carry as u64, ..Self::new(rate).with_overhead(self.overhead) };
    }

    /// The rest of a packet that would end `left` and the carried remainder from now, in bit nanoseconds.
    #[must_use]
    pub fn rest(&self, left: Duration) -> u128 {
        u128::from(left.as_nanos()) * u128::from(self.rate.0) + u128::from(self.carry)
    }

    /// Changes the rate and returns the time of `rest` bit nanoseconds at the new rate. The remainder is carried, so that
    /// no bit is lost or sent twice.
    #[allow(clippy::cast_possible_truncation)]
    pub fn go_on(&mut self, rate: BitRate, rest: u128) -> Duration {
        let carry = (rest % u128::from(rate.0)) as u64;
        *self = Self { carry, ..Self::new(rate).with_overhead(self.overhead) };
        Duration::from_nanos(u64::try_from(rest / u128::from(rate.0)).unwrap_or(u64::MAX))
    }

    /// Starts an idle period: the next packet starts at a whole nanosecond.
    #[inline]
    pub fn idle(&mut self) {
        self.carry = 0;
    }

    /// The transmission time of the next packet of the busy period, `size` bytes long.
    #[inline]
    pub fn next(&mut self, size: u32) -> Duration {
        if size != self.cached_size {
            self.cache(size);
        }
        self.carry += self.cached_rest;
        let mut nanos = self.cached_nanos;
        if self.carry >= self.rate.0 {
            self.carry -= self.rate.0;
            nanos += 1;
        }
        Duration::from_nanos(nanos)
    }

    fn cache(&mut self, size: u32) {
        let bit_nanos = (u64::from(size) + u64::from(self.overhead)) * 8 * NANOS_PER_SECOND;
        self.cached_size = size;
        self.cached_nanos = bit_nanos / self.rate.0;
        self.cached_rest = bit_nanos % self.rate.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_takes_its_bits_over_the_rate() {
        // 1500 B = 12000 bit at 10 Mb/s = 1.2 ms.
        assert_eq!(Serialiser::new(BitRate::from_mbps(10)).next(1500), Duration::from_micros(1200));
        assert_eq!(BitRate::from_mbps(10).time_for(Bytes::new(1500)), Duration::from_micros(1200));
        assert_eq!(BitRate::from_mbps(10).time_for(Bytes::new(u64::MAX)), Duration::MAX);
        assert_eq!(BitRate::from_bps(u64::MAX).time_for(Bytes::new(u64::MAX)), Duration::from_secs(8));
        assert_eq!(BitRate::from_bps(u64::MAX).bytes_in(Duration::MAX), Bytes::new(u64::MAX));
    }

    #[test]
    fn the_remainder_is_carried_not_lost() {
        // 1 B at 3 b/s = 8/3 s: three of them end at exactly 8 s, not at 3 * floor(8/3 s).
        let mut serialiser = Serialiser::new(BitRate::from_bps(3));
        let total: Duration = (0..3).map(|_| serialiser.next(1)).sum();
        assert_eq!(total, Duration::from_secs(8));
    }

    #[test]
    fn many_packets_of_mixed_sizes_end_where_exact_arithmetic_says() {
        let rate = BitRate::from_bps(7_000_003);
        let mut serialiser = Serialiser::new(rate);
        let (mut ends, mut bits) = (0_u64, 0_u128);
        for n in 0..10_000_u32 {
            let size = if n % 3 == 0 { 40 } else { 1500 };
            ends += serialiser.next(size).as_nanos();
            bits += u128::from(size) * 8;
            assert_eq!(u128::from(ends), bits * 1_000_000_000 / 7_000_003);
        }
    }

    #[test]
    fn idling_drops_the_remainder() {
        let mut serialiser = Serialiser::new(BitRate::from_bps(3));
        let first = serialiser.next(1);
        serialiser.idle();
        assert_eq!(serialiser.next(1), first);
    }

    #[test]
    fn an_overhead_takes_its_time_at_every_rate() {
        // 980 B + 20 B at 8 kb/s = 1 s, at 4 kb/s 2 s.
        let mut serialiser = Serialiser::new(BitRate::from_bps(8_000)).with_overhead(20);
        assert_eq!(serialiser.next(980), Duration::from_secs(1));
        serialiser.set_rate(BitRate::from_bps(4_000));
        assert_eq!((serialiser.next(980), serialiser.overhead()), (Duration::from_secs(2), 20));
    }

    #[test]
    fn bytes_in_a_span_round_down() {
        assert_eq!(BitRate::from_mbps(10).bytes_in(Duration::from_millis(50)), Bytes::new(62_500));
        assert_eq!(BitRate::from_bps(15).bytes_in(Duration::from_secs(1)), Bytes::new(1));
    }
}
