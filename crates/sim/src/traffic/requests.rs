//! Poisson arrivals of requests with random sizes.

use super::RequestFlow;
use super::sizes::SizeLaw;
use netlull_network::random::Stream;
use netlull_units::{Duration, Instant};

/// The arrival times and sizes of requests. Arrivals and sizes have separate streams. A change of one does not affect
/// the other.
pub struct RequestSource {
    next: Instant,
    stop: Instant,
    /// The mean time between arrivals, in seconds.
    mean_gap: f64,
    law: SizeLaw,
    arrivals: Stream,
    sizes: Stream,
}

impl RequestSource {
    /// Creates the source of `flow`. The names of its random streams contain the flow's name.
    #[must_use]
    pub fn new(flow: &RequestFlow, seed: u64) -> Self {
        let stream = |what: &str| Stream::new(seed, &format!("{what}.{}", flow.path.name));
        let mut source = Self {
            next: flow.start,
            stop: flow.stop,
            mean_gap: flow.mean_gap(),
            law: flow.sizes.clone(),
            arrivals: stream("arrivals"),
            sizes: stream("sizes"),
        };
        source.next = source.after(flow.start);
        source
    }

    /// The arrival time of the next request; [`Instant::NEVER`] after the source has stopped.
    #[must_use]
    pub fn next(&self) -> Instant {
        if self.next < self.stop { self.next } else { Instant::NEVER }
    }

    /// Takes the request due at `now`, schedules the next and returns the size in bytes.
    pub fn take(&mut self, now: Instant) -> u64 {
        self.next = self.after(now);
        self.law.draw(&mut self.sizes)
    }

    /// The time after an exponential interval from `now`, at least a nanosecond.
    fn after(&mut self, now: Instant) -> Instant {
        let gap = self.mean_gap * self.arrivals.standard_exponential();
        now + Duration::from_secs_f64(gap).unwrap_or(Duration::MAX).max(Duration::from_nanos(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{FlowPath, Pareto};
    use netlull_units::BitRate;

    /// A flow of 2 Mb/s with 10 kB per request: 25 requests per second.
    fn flow(sizes: SizeLaw) -> RequestFlow {
        RequestFlow {
            path: FlowPath { name: "web".to_owned(), from: 0, to: 1 },
            offered: BitRate::from_mbps(2),
            sizes,
            start: Instant::from_nanos(5_000_000_000),
            stop: Instant::NEVER,
            most_open: 1,
            config: netlull_tcp::Config::default(),
        }
    }

    /// Arrivals before `until`, and their sizes.
    fn requests(flow: &RequestFlow, until: Instant) -> Vec<(Instant, u64)> {
        let mut source = RequestSource::new(flow, 4);
        let next = || (source.next() < until).then(|| (source.next(), source.take(source.next())));
        std::iter::from_fn(next).collect()
    }

    const AN_HOUR: Instant = Instant::from_nanos(3_605_000_000_000);

    #[test]
    fn requests_are_a_poisson_process_of_the_rate_offered() {
        let came = requests(&flow(SizeLaw::Fixed(10_000)), AN_HOUR);
        // 3600 s x 25/s = 90,000. The standard deviation of a Poisson count is its square root, 300.
        assert!((88_800..91_200).contains(&came.len()), "{}", came.len());
        assert!(came[0].0.as_secs_f64() > 5.0);
        let gaps: Vec<f64> = came.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_secs_f64()).collect();
        for share in [0.1, 0.5, 0.9, 0.99] {
            // P(gap > x) = exp(-25 x); standard error sqrt(p (1 - p) / 90,000).
            let x = -f64::ln(share) / 25.0;
            let longer = gaps.iter().filter(|gap| **gap > x).count() as f64 / gaps.len() as f64;
            assert!((longer - share).abs() < 4.0 * (share * (1.0 - share) / 9e4).sqrt(), "{share}: {longer}");
        }
        // Counts of successive seconds are independent: variance over mean 1, standard error sqrt(2 / 3600) = 0.024.
        let mut counts = vec![0.0_f64; 3600];
        came.iter().for_each(|(at, _)| counts[at.as_secs_f64() as usize - 5] += 1.0);
        let mean = counts.iter().sum::<f64>() / 3600.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 3599.0;
        assert!((variance / mean - 1.0).abs() < 0.1, "{}", variance / mean);
    }

    #[test]
    fn what_is_asked_for_is_what_is_offered() {
        // Exponential sizes: the sum over an hour is 3600 s x 250,000 B/s = 900 MB. The sum of a Poisson number N of
        // sizes has the standard deviation sqrt(N E X^2) = sqrt(90,000 x 2) x 10 kB = 4.24 MB.
        let came = requests(&flow(SizeLaw::Exponential { mean: 10_000.0 }), AN_HOUR);
        let asked = came.iter().map(|(_, size)| *size as f64).sum::<f64>();
        assert!((asked - 9e8).abs() < 4.0 * 4.24e6, "{asked}");
        // The bounded Pareto distribution: L = 2,981 B, H = 1 MB, E X^2 = 7.91e8 (as in sizes.rs), sqrt(90,000 x
        // 7.91e8).
        let came = requests(&flow(SizeLaw::Pareto(Pareto::with_mean(10_000.0, 1.35, Some(1e6)))), AN_HOUR);
        let asked = came.iter().map(|(_, size)| *size as f64).sum::<f64>();
        assert!((asked - 9e8).abs() < 4.0 * 8.44e6, "{asked}");
    }

    #[test]
    fn arrivals_and_sizes_do_not_depend_on_each_other() {
        let times = |sizes| requests(&flow(sizes), AN_HOUR).into_iter().map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(times(SizeLaw::Fixed(10_000)), times(SizeLaw::Exponential { mean: 10_000.0 }));
        let sizes = |offered| {
            let flow = RequestFlow { offered, ..flow(SizeLaw::Exponential { mean: 10_000.0 }) };
            requests(&flow, AN_HOUR).into_iter().map(|(_, size)| size).take(1000).collect::<Vec<_>>()
        };
        assert_eq!(sizes(BitRate::from_mbps(2)), sizes(BitRate::from_mbps(3)));
    }

    #[test]
    fn no_request_comes_once_the_source_has_stopped() {
        let stop = Instant::from_nanos(6_000_000_000);
        let stopped = RequestFlow { stop, ..flow(SizeLaw::Fixed(10_000)) };
        let came = requests(&stopped, Instant::NEVER);
        assert!(!came.is_empty() && came.iter().all(|(at, _)| *at < stop));
        assert_eq!(came, requests(&flow(SizeLaw::Fixed(10_000)), stop));
    }
}
