//! Table `gateway`: the suggestions and estimates of gateways and the true values, at the ends of bins.

use super::{Column, Table};
use netlull_mechanism::link::Estimates;
use netlull_units::Instant;

/// A gateway at one instant.
#[derive(Clone, Copy, Debug)]
pub struct GatewaySample {
    /// The suggested window swnd in bytes.
    pub window: f64,
    /// The estimate of N.
    pub flows: f64,
    /// The estimate of RTT in seconds; NaN without C-EARTH.
    pub round_trip: f64,
    /// The true values, which no estimator sees.
    pub truth: GatewayTruth,
}

impl GatewaySample {
    /// Combines the estimates of a gateway with the true values.
    #[must_use]
    pub fn of(estimates: Estimates, truth: GatewayTruth) -> Self {
        let (window, flows) = estimates.windows.map_or((f64::NAN, f64::NAN), |each| (each.window, each.flows));
        let round_trip = estimates.round_trip.map_or(f64::NAN, netlull_units::Duration::as_secs_f64);
        Self { window, flows, round_trip, truth }
    }
}

/// The true values of N and RTT. Only connections whose data crosses the link count.
#[derive(Clone, Copy, Debug)]
pub struct GatewayTruth {
    /// The number of connections with unacknowledged data at this instant.
    pub active: u32,
    /// The number of connections that offered a data segment to the link in the bin.
    pub seen: u32,
    /// The mean round-trip time, in seconds, over the segments acknowledged in the bin. It lasts from the sending
    /// of a segment to the arrival of its acknowledgement at the sender. Segments affected by a loss do not count. NaN
    /// if there are none.
    pub round_trip: f64,
    /// The mean of the flows' mean round-trip times, in seconds. NaN if there are none. For consecutive requests
    /// at one slot in a bin, the simulator counts a single flow, an emulation one flow each.
    pub mean_flow_round_trip: f64,
}

/// The samples in columns.
#[derive(Clone, Debug, Default)]
pub struct GatewayTable {
    time: Vec<f64>,
    link: Vec<u32>,
    samples: Vec<GatewaySample>,
}

impl GatewayTable {
    /// Appends a sample of a link's gateway.
    pub fn push(&mut self, now: Instant, link: u32, sample: GatewaySample) {
        self.time.push(now.as_secs_f64());
        self.link.push(link);
        self.samples.push(sample);
    }

    /// Builds the table with columns `time_s`, `link`, `window_bytes`, `flows`, `round_trip_s`, and the true
    /// values: `active_flows`, `seen_flows`, `true_round_trip_s`, `true_flow_round_trip_s`.
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
