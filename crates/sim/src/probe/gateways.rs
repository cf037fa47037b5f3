//! Table `gateway`: what gateways suggest and estimate, at the ends of bins.

use super::{Column, Table};
use netlull_units::{Duration, Instant};

/// A gateway at one instant.
#[derive(Clone, Copy, Debug)]
pub struct GatewaySample {
    /// swnd in bytes.
    pub window: f64,
    /// N.
    pub flows: f64,
    /// RTT.
    pub round_trip: Duration,
}

/// Samples, column by column.
#[derive(Clone, Debug, Default)]
pub struct GatewayTable {
    time: Vec<f64>,
    link: Vec<u32>,
    window: Vec<f64>,
    flows: Vec<f64>,
    round_trip: Vec<f64>,
}

impl GatewayTable {
    /// Appends a sample of the gateway of a link.
    pub fn push(&mut self, now: Instant, link: u32, sample: GatewaySample) {
        self.time.push(now.as_secs_f64());
        self.link.push(link);
        self.window.push(sample.window);
        self.flows.push(sample.flows);
        self.round_trip.push(sample.round_trip.as_secs_f64());
    }

    /// Columns `time_s`, `link`, `window_bytes`, `flows`, `round_trip_s`.
    #[must_use]
    pub fn into_table(self) -> Table {
        let columns = vec![
            ("time_s", Column::Float(self.time)),
            ("link", Column::Index(self.link)),
            ("window_bytes", Column::Float(self.window)),
            ("flows", Column::Float(self.flows)),
            ("round_trip_s", Column::Float(self.round_trip)),
        ];
        Table { name: "gateway", columns }
    }
}
