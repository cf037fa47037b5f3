//! The arrival forecast: an exponentially weighted average of the arrival rate, sampled on a fixed grid.

use super::ForecastStart;
use netlull_units::{Bytes, Duration, Instant};

/// rf, the forecast of the arrival rate in bit/s (troubled-marriage-2016 section II).
///
/// Sample k covers the half-open interval [start + (k-1) T, start + k T). A packet that arrives on a boundary
/// counts in the interval that begins there, whatever the order of events at that instant. The grid never moves.
///
/// No call is required on any boundary. The forecast stores the number of empty samples since the last one with
/// arrivals, and is computed from this number. A link without events for an hour and a link with a call on every
/// boundary therefore have the same forecast, bit for bit.
#[derive(Clone, Debug)]
pub(super) struct Forecast {
    interval: Duration,
    weight: f64,
    /// The next boundary.
    boundary: Instant,
    arrived_bits: u64,
    /// rf after the last sample with arrivals, in bit/s.
    base: f64,
    /// The number of empty samples since then.
    empties: u64,
    /// The present rf in bit/s: `base` after `empties` empty samples.
    value: f64,
    history: History,
}

/// The samples so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum History {
    /// No sample yet. The first one becomes the forecast.
    Awaited,
    /// The forecast is valid.
    Known,
}

impl Forecast {
    pub(super) fn new(start: Instant, interval: Duration, weight: f64, first: ForecastStart) -> Self {
        let history = match first {
            ForecastStart::Zero => History::Known,
            ForecastStart::FirstSample => History::Awaited,
        };
        let boundary = start + interval;
        Self { interval, weight, boundary, arrived_bits: 0, base: 0.0, empties: 0, value: 0.0, history }
    }

    /// Takes every sample whose interval has ended by `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant) {
        if now >= self.boundary {
            self.pass_boundaries(now);
        }
    }

    /// Counts a packet in the current interval.
    #[inline]
    pub(super) fn arrived(&mut self, size: Bytes) {
        self.arrived_bits += size.as_bits();
    }

    /// rf in bit/s; zero before the first sample.
    #[inline]
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// Returns true if rf is valid.
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        self.history == History::Known
    }

    /// Returns true if the current interval has arrivals.
    #[inline]
    pub(super) fn has_arrivals(&self) -> bool {
        self.arrived_bits > 0
    }

    /// The time of the next sample.
    #[inline]
    pub(super) fn boundary(&self) -> Instant {
        self.boundary
    }

    #[cold]
    fn pass_boundaries(&mut self, now: Instant) {
        let missed = (now - self.boundary).as_nanos() / self.interval.as_nanos();
        self.take_sample();
        self.empties += missed;
        self.value = after_empty_samples(self.base, self.weight, self.empties);
        self.boundary += self.interval * missed + self.interval;
    }

    fn take_sample(&mut self) {
        let bits = std::mem::take(&mut self.arrived_bits);
        if self.history == History::Awaited {
            (self.base, self.history) = (sample(bits, self.interval), History::Known);
        } else if bits == 0 {
            self.empties += 1;
        } else {
            (self.base, self.empties) = (ewma(self.value, self.weight, sample(bits, self.interval)), 0);
        }
    }
}

/// The arrival rate of one interval in bit/s: its bits over its length.
#[allow(clippy::cast_precision_loss)]
fn sample(bits: u64, interval: Duration) -> f64 {
    bits as f64 * 1e9 / interval.as_nanos() as f64
}

/// rf <- (1-w) rf + w sample (troubled-marriage-2016 section II).
fn ewma(forecast: f64, weight: f64, sample: f64) -> f64 {
    (1.0 - weight) * forecast + weight * sample
}

/// rf after n empty samples: (1-w)^n rf, the average applied n times with sample = 0.
///
/// The power is computed by repeated squaring, because the rounding of `powi` may depend on the platform.
fn after_empty_samples(forecast: f64, weight: f64, n: u64) -> f64 {
    let (mut factor, mut square, mut left) = (1.0, 1.0 - weight, n);
    while left > 0 {
        if left & 1 == 1 {
            factor *= square;
        }
        square *= square;
        left >>= 1;
    }
    forecast * factor
}

#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + MS(millis)
    }

    fn forecast(weight: f64) -> Forecast {
        Forecast::new(Instant::ZERO, MS(16), weight, ForecastStart::Zero)
    }

    #[test]
    fn the_average_by_hand() {
        // T = 16 ms, w = 0.25. 2 x 1500 B = 24000 bit in 16 ms = 1.5 Mb/s.
        let mut rf = forecast(0.25);
        rf.arrived(Bytes::new(3000));
        rf.advance(at(15));
        assert_eq!(rf.value(), 0.0, "the interval has not ended");
        rf.advance(at(16));
        assert_eq!(rf.value(), 0.375e6, "0.75 * 0 + 0.25 * 1.5 Mb/s");
        // The same load again: 0.75 * 0.375 + 0.25 * 1.5 = 0.65625 Mb/s.
        rf.arrived(Bytes::new(3000));
        rf.advance(at(32));
        assert_eq!(rf.value(), 0.656_25e6);
        // An empty interval: 0.75 * 0.65625 = 0.4921875 Mb/s.
        rf.advance(at(48));
        assert_eq!(rf.value(), 0.492_187_5e6);
    }

    #[test]
    fn a_weight_of_one_is_the_last_sample() {
        let mut rf = forecast(1.0);
        rf.arrived(Bytes::new(3000));
        rf.advance(at(16));
        assert_eq!(rf.value(), 1.5e6);
        rf.advance(at(32));
        assert_eq!(rf.value(), 0.0);
    }

    #[test]
    fn an_arrival_on_a_boundary_belongs_to_the_interval_that_begins_there() {
        let mut rf = forecast(1.0);
        rf.advance(at(16));
        rf.arrived(Bytes::new(3000));
        rf.advance(at(31));
        assert_eq!(rf.value(), 0.0);
        rf.advance(at(32));
        assert_eq!(rf.value(), 1.5e6);
    }

    #[test]
    fn missed_samples_count_as_if_they_had_been_taken_one_by_one() {
        let mut ticked = forecast(0.25);
        ticked.arrived(Bytes::new(123_457));
        let mut left_alone = ticked.clone();
        for n in 1..=1000 {
            ticked.advance(at(16 * n));
        }
        left_alone.advance(at(16 * 1000 + 7));
        assert_eq!(left_alone.value().to_bits(), ticked.value().to_bits());
        // The grid has not moved: the next boundary is a multiple of 16 ms.
        assert_eq!(left_alone.boundary(), at(16 * 1001));
        assert_eq!(ticked.boundary(), at(16 * 1001));
    }

    #[test]
    fn empty_samples_follow_the_equation_step_by_step() {
        let mut step_by_step = 7.3e6;
        for n in 0..60 {
            let at_once = after_empty_samples(7.3e6, 0.125, n);
            assert!((at_once / step_by_step - 1.0).abs() < 1e-13, "n = {n}");
            step_by_step = ewma(step_by_step, 0.125, 0.0);
        }
        assert_eq!(after_empty_samples(7.3e6, 0.125, u64::MAX), 0.0);
    }

    #[test]
    fn the_first_sample_can_be_the_first_forecast() {
        let mut rf = Forecast::new(Instant::ZERO, MS(16), 0.25, ForecastStart::FirstSample);
        assert!(!rf.is_known());
        rf.arrived(Bytes::new(3000));
        rf.advance(at(16));
        assert!(rf.is_known());
        assert_eq!(rf.value(), 1.5e6, "not a quarter of it");
        // 100 ms is past the boundaries at 32, 48, 64, 80 and 96 ms: five empty samples.
        rf.advance(at(100));
        assert!((rf.value() - 1.5e6 * 0.75_f64.powi(5)).abs() < 1e-6);
    }
}
