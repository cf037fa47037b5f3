//! Table `gateway`: what gateways suggest and estimate, and what is true, at the ends of bins.

use super::{Column, Table};
use netlull_mechanism::link::Estimates;
use netlull_units::Instant;

/// A gateway at one instant.
#[derive(Clone, Copy, Debug)]
pub struct GatewaySample {
    /// swnd in bytes.
    pub window: f64,
    /// N.
    pub flows: f64,
    /// RTT in seconds; NaN of AWM alone, which has none.
    pub round_trip: f64,
    /// What no estimator sees.
    pub truth: GatewayTruth,
}

impl GatewaySample {
    /// The estimates of a gateway, next to the truth.
    #[must_use]
    pub fn of(estimates: Estimates, truth: GatewayTruth) -> Self {
        let (window, flows) = estimates.windows.map_or((f64::NAN, f64::NAN), |each| (each.window, each.flows));
        let round_trip = estimates.round_trip.map_or(f64::NAN, netlull_units::Duration::as_secs_f64);
        Self { window, flows, round_trip, truth }
    }
}

/// What N and RTT are estimates of. Only connections whose data crosses the link count.
#[derive(Clone, Copy, Debug)]
pub struct GatewayTruth {
    /// Connections with data sent and not yet acknowledged, now.
    pub active: u32,
    /// Connections that offered a segment with data to the link in the bin.
    pub seen: u32,
    /// The mean, over the segments acknowledged in the bin, of the times from a segment's sending to its acknowledgement's arrival at the
    /// sender, in seconds. Segments about a loss do not count. NaN if there are none.
    pub round_trip: f64,
    /// The mean over flows of that mean, in seconds. NaN if there are none. Of requests the simulator counts those that follow each other at one
    /// place in a bin as one flow, an emulation each by itself.
    pub mean_flow_round_trip: f64,
}

/// Samples, column by column.
#[derive(Clone, Debug, Default)]
pub struct GatewayTable {
    time: Vec<f64>,
    link: Vec<u32>,
    samples: Vec<GatewaySample>,
}

impl GatewayTable {
    /// Appends a sample of the gateway of a link.
    pub fn push(&mut self, now: Instant, link: u32, sample: GatewaySample) {
        self.time.push(now.as_secs_f64());
        self.link.push(link);
        self.samples.push(sample);
    }

    /// Columns `time_s`, `link`, `window_bytes`, `flows`, `round_trip_s`, and the truth: `active_flows`, `seen_flows`,
    /// `true_round_trip_s`, `true_flow_round_trip_s`.
    #[must_use]
    pub fn into_table(self) -> Table {
        let samples = &self.samples;
        let float = |pick: fn(&GatewaySample) -> f64| Column::Float(samples.iter().map(pick).collect());
        let count = |pick: fn(&GatewaySample) -> u32| {
            Column::Count(samples.iter().map(|sample| u64::from(pick(sample))).collect())
        };
        let columns = vec![
            ("time_s", Column::Float(self.time)),
            ("link", Column::Index(self.link)),
            ("window_bytes", float(|sample| sample.window)),
            ("flows", float(|sample| sample.flows)),
            ("round_trip_s", float(|sample| sample.round_trip)),
            ("active_flows", count(|sample| sample.truth.active)),
            ("seen_flows", count(|sample| sample.truth.seen)),
            ("true_round_trip_s", float(|sample| sample.truth.round_trip)),
            ("true_flow_round_trip_s", float(|sample| sample.truth.mean_flow_round_trip)),
        ];
        Table::new("gateway", columns)
    }
}
