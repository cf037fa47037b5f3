//! What a gateway did and estimated, in time means, for the summary.

use netlull_mechanism::gateway::Gateway;
use netlull_units::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// A gateway over the time measured. Means are over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatewaySummary {
    /// swnd, the window suggested; `None` of C-EARTH alone, as what else is of AWM.
    pub mean_window_bytes: Option<f64>,
    /// Share of the time in which swnd was at its floor: more flows than it can control.
    pub floor_share: Option<f64>,
    /// N, the estimate.
    pub mean_flows: Option<f64>,
    /// RTT, the estimate; `None` of AWM alone, which has none.
    pub mean_round_trip_s: Option<f64>,
    /// Acknowledgements that came by.
    pub acknowledgements: u64,
    /// Those of them whose window was made smaller.
    pub rewritten_acknowledgements: u64,
    /// swnd at the end of the run.
    pub final_window_bytes: Option<f64>,
    /// N at the end of the run.
    pub final_flows: Option<f64>,
    /// RTT at the end of the run.
    pub final_round_trip_s: Option<f64>,
    /// C at the end of the run, bit/s.
    pub final_rate_bps: u64,
}

/// Integrals over time since the measurement began, settled at the events of the link. An acknowledgement may move RTT between two of them;
/// that is too little to settle for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    began: Instant,
    /// Up to when the window's integrals go.
    settled: Instant,
    /// In byte nanoseconds.
    window: f64,
    /// In nanoseconds.
    at_floor: f64,
    estimates: Estimates,
    /// Acknowledgements that came by.
    pub acknowledgements: u64,
    /// Those of them whose window was made smaller.
    pub rewritten: u64,
}

/// N and RTT, which change far less often than swnd: their integrals are settled when they do.
#[derive(Clone, Copy, Debug, Default)]
struct Estimates {
    /// Since when they have been what they are.
    since: Instant,
    flows: f64,
    round_trip: Duration,
    /// In nanoseconds.
    flows_area: f64,
    /// In second nanoseconds.
    round_trip_area: f64,
}

impl Estimates {
    /// What they are now, they have been since `now`.
    #[inline]
    #[allow(clippy::float_cmp)] // Unchanged is what it was, to the bit.
    fn look(&mut self, now: Instant, gateway: &Gateway) {
        if self.flows != gateway.flows() || self.round_trip != gateway.round_trip() {
            self.settle(now);
            (self.flows, self.round_trip) = (gateway.flows(), gateway.round_trip());
        }
    }

    #[inline(never)]
    fn settle(&mut self, now: Instant) {
        let passed = nanoseconds(self.since, now);
        self.flows_area += self.flows * passed;
        self.round_trip_area += self.round_trip.as_secs_f64() * passed;
        self.since = now;
    }
}

/// From one instant to another. Fewer than 2^63, so that the cast takes the short way.
#[inline]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)]
fn nanoseconds(from: Instant, to: Instant) -> f64 {
    (to - from).as_nanos() as i64 as f64
}

impl Account {
    /// Measurement begins.
    pub fn restart(&mut self, now: Instant, gateway: &Gateway) {
        let estimates =
            Estimates { since: now, flows: gateway.flows(), round_trip: gateway.round_trip(), ..Estimates::default() };
        *self = Self { began: now, settled: now, estimates, ..Self::default() };
    }

    /// Something is about to happen on the link: adds the time in which nothing did.
    #[inline]
    pub fn settle(&mut self, now: Instant, gateway: &Gateway) {
        let passed = nanoseconds(self.settled, now);
        self.window += gateway.window() * passed;
        if gateway.is_at_floor() {
            self.at_floor += passed;
        }
        // What is new is so since the event before.
        self.estimates.look(self.settled, gateway);
        self.settled = now;
    }

    /// The means up to `now`.
    #[allow(clippy::cast_precision_loss)]
    #[must_use]
    pub fn summarise(&self, now: Instant, gateway: &Gateway) -> GatewaySummary {
        let mut whole = *self;
        whole.settle(now, gateway);
        whole.estimates.settle(now);
        let measured = (now - self.began).as_nanos().max(1) as f64;
        let steering = |value: f64| gateway.steers().then_some(value);
        let round_trip = |seconds: f64| gateway.needs_round_trip().then_some(seconds);
        GatewaySummary {
            mean_window_bytes: steering(whole.window / measured),
            floor_share: steering(whole.at_floor / measured),
            mean_flows: steering(whole.estimates.flows_area / measured),
            mean_round_trip_s: round_trip(whole.estimates.round_trip_area / measured),
            acknowledgements: self.acknowledgements,
            rewritten_acknowledgements: self.rewritten,
            final_window_bytes: steering(gateway.window()),
            final_flows: steering(gateway.flows()),
            final_round_trip_s: round_trip(gateway.round_trip().as_secs_f64()),
            final_rate_bps: gateway.rate().as_bps(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlull_mechanism::gateway::{
        AwmConfig, CEarthConfig, FlowCountConfig, GatewayConfig, GatewayEvent, RoundTripConfig,
    };
    use netlull_mechanism::rate::{QueueCount, QueueView};
    use netlull_mechanism::{Machine, rate};
    use netlull_units::{BitRate, Bytes};

    #[test]
    fn windows_count_for_as_long_as_they_are_suggested() {
        // N = 1, swnd_0 = 9000 B, floor 1000 B, T = 10 kB, beta = 8 b/s = 1 B/s, negligible. 4000 B come at 1 s: 5000 B (4999.0: less DT).
        // 8000 B at 3 s: 1000 B, the floor, up to 4 s. Mean from 0.5 s on: (0.5 x 9000 + 2 x 5000 + 1 x 1000) / 3.5 = 4428.6 B.
        let awm = AwmConfig {
            floor: Bytes::new(1000),
            initial_window: Bytes::new(9000),
            beta: BitRate::from_bps(8),
            ..AwmConfig::new(Bytes::new(10_000))
        };
        let rate = BitRate::from_mbps(10);
        let config = GatewayConfig {
            awm,
            c_earth: Some(CEarthConfig::new(rate, rate)),
            flows: FlowCountConfig::Fixed(1.0),
            round_trip: RoundTripConfig::Fixed(Duration::from_millis(200)),
            queue: QueueCount::Waiting,
            steers: true,
            link_rate: rate,
        };
        let mut gateway = Gateway::new(&config, Instant::ZERO).expect("a gateway");
        let mut account = Account::default();
        let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
        account.settle(at(500), &gateway);
        account.restart(at(500), &gateway);
        for (millis, waiting) in [(1000, 4000), (3000, 9000)] {
            account.settle(at(millis), &gateway);
            let queue = QueueView { waiting: Bytes::new(waiting), in_service: Bytes::ZERO };
            gateway.handle(
                at(millis),
                GatewayEvent::Arrival { admission: rate::Admission::Accepted, queue, segment: None },
            );
        }
        let summary = account.summarise(at(4000), &gateway);
        assert!((summary.mean_window_bytes.unwrap_or(f64::NAN) - 15_500.0 / 3.5).abs() < 2.0, "{summary:?}");
        assert!((summary.floor_share.unwrap_or(f64::NAN) - 1.0 / 3.5).abs() < 1e-12, "{summary:?}");
        assert!((summary.mean_flows.unwrap_or(f64::NAN) - 1.0).abs() < 1e-12);
        assert!(summary.mean_round_trip_s.is_some_and(|mean| (mean - 0.2).abs() < 1e-12));
        assert_eq!(summary.final_rate_bps, 10_000_000);
        // AWM alone has no RTT.
        let awm_alone = Gateway::new(&GatewayConfig { c_earth: None, ..config }, Instant::ZERO).expect("a gateway");
        let summary = account.summarise(at(4000), &awm_alone);
        assert_eq!((summary.mean_round_trip_s, summary.final_round_trip_s), (None, None));
    }
}
