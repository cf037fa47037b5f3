//! Time means of a gateway's values and estimates, for the summary.

use netlull_mechanism::link::{self, Estimates};
use netlull_units::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// A gateway over the measured time. Means are over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatewaySummary {
    /// The suggested window swnd; `None` without AWM, as all other values of AWM.
    pub mean_window_bytes: Option<f64>,
    /// The share of the time with swnd at its floor, where the gateway cannot control more flows.
    pub floor_share: Option<f64>,
    /// The estimate N of the number of flows.
    pub mean_flows: Option<f64>,
    /// The estimate RTT of the round-trip time; `None` without C-EARTH.
    pub mean_round_trip_s: Option<f64>,
    /// Returning acknowledgements.
    pub acknowledgements: u64,
    /// Acknowledgements with a reduced window.
    pub rewritten_acknowledgements: u64,
    /// swnd at the end of the run.
    pub final_window_bytes: Option<f64>,
    /// N at the end of the run.
    pub final_flows: Option<f64>,
    /// RTT at the end of the run.
    pub final_round_trip_s: Option<f64>,
    /// C at the end of the run, in bit/s.
    pub final_rate_bps: u64,
}

/// Time integrals since the start of the measurement, updated at the events of the link. RTT may change at an
/// acknowledgement between two events; this error is negligible.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    began: Instant,
    /// The end of the window's integrals.
    settled: Instant,
    /// The integral of the window in byte nanoseconds.
    window: f64,
    /// The time at the floor in nanoseconds.
    at_floor: f64,
    slow: SlowEstimates,
    /// Returning acknowledgements.
    pub acknowledgements: u64,
    /// Acknowledgements with a reduced window.
    pub rewritten: u64,
}

/// N and RTT, which change far less often than swnd: their integrals are updated only at a change.
#[derive(Clone, Copy, Debug, Default)]
struct SlowEstimates {
    /// The time of the last change.
    since: Instant,
    flows: f64,
    round_trip: Duration,
    /// The integral of N in nanoseconds.
    flows_area: f64,
    /// The integral of RTT in second nanoseconds.
    round_trip_area: f64,
}

impl SlowEstimates {
    /// Takes the values that are valid from `now` on.
    #[inline]
    #[allow(clippy::float_cmp)] // Unchanged means bitwise equal.
    fn look(&mut self, now: Instant, estimates: &Estimates) {
        let flows = estimates.windows.map_or(0.0, |windows| windows.flows);
        let round_trip = estimates.round_trip.unwrap_or_default();
        if self.flows != flows || self.round_trip != round_trip {
            self.settle(now);
            (self.flows, self.round_trip) = (flows, round_trip);
        }
    }

    fn settle(&mut self, now: Instant) {
        let passed = nanoseconds(self.since, now);
        self.flows_area += self.flows * passed;
        self.round_trip_area += self.round_trip.as_secs_f64() * passed;
        self.since = now;
    }
}

/// The nanoseconds between two instants. They are below 2^63, where the cast of a signed integer is fast.
#[inline]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)]
fn nanoseconds(from: Instant, to: Instant) -> f64 {
    (to - from).as_nanos() as i64 as f64
}

impl Account {
    /// Starts the measurement. The next event takes the values of N and RTT that are valid since then.
    pub fn restart(&mut self, now: Instant) {
        *self = Self { began: now, settled: now, ..Self::default() };
    }

    /// Adds the time since the last event, before the link's next event.
    #[inline]
    pub fn settle(&mut self, now: Instant, controller: &impl link::Controller) {
        let passed = nanoseconds(self.settled, now);
        let estimates = controller.estimates();
        if let Some(windows) = estimates.windows {
            self.window += windows.window * passed;
            if windows.is_at_floor {
                self.at_floor += passed;
            }
        }
        // New values are valid since the previous event.
        self.slow.look(self.settled, &estimates);
        self.settled = now;
    }

    /// The means up to `now`.
    #[must_use]
    pub fn summarise(&self, now: Instant, controller: &impl link::Controller) -> GatewaySummary {
        let mut whole = *self;
        whole.settle(now, controller);
        whole.slow.settle(now);
        let measured = nanoseconds(self.began, now).max(1.0);
        let Estimates { windows, round_trip } = controller.estimates();
        GatewaySummary {
            mean_window_bytes: windows.map(|_| whole.window / measured),
            floor_share: windows.map(|_| whole.at_floor / measured),
            mean_flows: windows.map(|_| whole.slow.flows_area / measured),
            mean_round_trip_s: round_trip.map(|_| whole.slow.round_trip_area / measured),
            acknowledgements: self.acknowledgements,
            rewritten_acknowledgements: self.rewritten,
            final_window_bytes: windows.map(|windows| windows.window),
            final_flows: windows.map(|windows| windows.flows),
            final_round_trip_s: round_trip.map(Duration::as_secs_f64),
            final_rate_bps: controller.rate().as_bps(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_mechanism::Machine;
    use netlull_mechanism::gateway::{
        AwmConfig, FlowCountConfig, GRouterConfig, HeldQueue, RateRule, RoundTripConfig, WindowRule,
    };
    use netlull_mechanism::link::{self, LinkEvent, Parameters as _};
    use netlull_mechanism::rate::{Admission, QueueLength, QueueView};
    use netlull_units::{BitRate, Bytes};

    #[test]
    fn windows_count_for_as_long_as_they_are_suggested() {
        // N = 1, swnd_0 = 9000 B, floor 1000 B, T = 10 kB, beta = 8 b/s = 1 B/s, negligible. 4000 B arrive at 1
        // s: 5000 B (4999.0 minus DT). 8000 B at 3 s: 1000 B, the floor, up to 4 s. Mean from 0.5 s on: (0.5 x
        // 9000 + 2 x 5000 + 1 x 1000) / 3.5 = 4428.6 B.
        let link = link::Context::new(BitRate::from_mbps(10), Bytes::new(1000));
        let held = HeldQueue::new(QueueLength::Bytes(Bytes::new(10_000)));
        let windows = WindowRule {
            initial_window: Bytes::new(9000),
            beta: BitRate::from_bps(8),
            flows: FlowCountConfig::fixed(1.0),
            ..WindowRule::default()
        };
        let rate = RateRule::new(link.rate, RoundTripConfig::fixed(Duration::from_millis(200)));
        let config = GRouterConfig { held, windows: windows.clone(), rate };
        let mut gateway = config.build(link, Instant::ZERO).expect("a gateway");
        let mut account = Account::default();
        let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
        account.settle(at(500), &gateway);
        account.restart(at(500));
        for (millis, waiting) in [(1000, 4000), (3000, 9000)] {
            account.settle(at(millis), &gateway);
            let queue = QueueView { waiting: Bytes::new(waiting), in_service: Bytes::ZERO };
            let (size, admission) = (Bytes::new(1000), Admission::Accepted);
            gateway.handle(at(millis), LinkEvent::Arrival { size, admission, queue, segment: None });
        }
        let summary = account.summarise(at(4000), &gateway);
        assert!((summary.mean_window_bytes.unwrap_or(f64::NAN) - 15_500.0 / 3.5).abs() < 2.0, "{summary:?}");
        assert!((summary.floor_share.unwrap_or(f64::NAN) - 1.0 / 3.5).abs() < 1e-12, "{summary:?}");
        assert!((summary.mean_flows.unwrap_or(f64::NAN) - 1.0).abs() < 1e-12);
        assert!(summary.mean_round_trip_s.is_some_and(|mean| (mean - 0.2).abs() < 1e-12));
        assert_eq!(summary.final_rate_bps, 10_000_000);
        // AWM without C-EARTH has no RTT.
        let awm_alone = AwmConfig { held, windows }.build(link, Instant::ZERO).expect("a gateway");
        let summary = account.summarise(at(4000), &awm_alone);
        assert_eq!((summary.mean_round_trip_s, summary.final_round_trip_s), (None, None));
    }
}
