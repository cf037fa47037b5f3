//! The tables of stations: `radio`, `air` and `burst`.

use super::tables::{Column, Table, Word};
use netlull_mechanism::radio::Burst;
use netlull_mechanism::station::PacketView;
use netlull_units::{Bytes, Duration, Instant};

/// The time of a transmission on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AirTime {
    /// The first bit.
    pub from: Instant,
    /// The last bit.
    pub to: Instant,
}

/// A transmission on the air to or from a station.
#[derive(Clone, Copy, Debug)]
pub struct AirRow {
    /// The kind of the transmission.
    pub kind: &'static str,
    /// The time of its first bit on the air.
    pub from: Instant,
    /// The time of its last bit on the air.
    pub to: Instant,
    /// The first sequence number of a TCP segment; the acknowledged sequence number of a pure acknowledgement.
    pub seq: u32,
    /// The size in bytes.
    pub size: u32,
    /// The advertised window of an acknowledgement.
    pub window: Option<Bytes>,
}

impl AirRow {
    /// A packet in the view of its station.
    #[must_use]
    pub fn packet(kind: &'static str, time: AirTime, view: &PacketView) -> Self {
        let tcp = view.segment;
        let pure = tcp.is_some_and(|tcp| tcp.len == 0);
        let seq = tcp.map_or(0, |tcp| if pure { tcp.acknowledged.unwrap_or(tcp.seq) } else { tcp.seq });
        let window = tcp.filter(|_| pure).map(|tcp| if kind == CLOSED { Bytes::new(0) } else { tcp.window });
        let AirTime { from, to } = time;
        Self { kind, from, to, seq, size: view.size, window }
    }

    /// A frame that contains no packet.
    #[must_use]
    pub fn frame(kind: &'static str, AirTime { from, to }: AirTime, size: u32) -> Self {
        Self { kind, from, to, seq: 0, size, window: None }
    }
}

/// The name in table `air` of an acknowledgement whose window was set to 0.
pub const CLOSED: &str = "closed";

/// The recorder of the three tables.
#[derive(Debug, Default)]
pub struct StationProbe {
    end: Instant,
    radio_time: Vec<f64>,
    radio_station: Vec<u32>,
    radio_state: Vec<Word>,
    air_from: Vec<f64>,
    air_station: Vec<u32>,
    air_to: Vec<f64>,
    air_kind: Vec<Word>,
    air_seq: Vec<u64>,
    air_size: Vec<u64>,
    air_window: Vec<f64>,
    burst_station: Vec<u32>,
    burst_times: [Vec<f64>; 4],
    burst_counts: [Vec<u64>; 3],
    burst_estimates: [Vec<f64>; 3],
    burst_intact: Vec<bool>,
}

impl StationProbe {
    /// Creates a recorder for a run up to `end`.
    #[must_use]
    pub fn new(end: Instant) -> Self {
        Self { end, ..Self::default() }
    }

    /// Records a change of a radio's state.
    pub fn radio(&mut self, at: Instant, station: u32, state: &'static str) {
        self.radio_time.push(at.as_secs_f64());
        self.radio_station.push(station);
        self.radio_state.push(Word::Borrowed(state));
    }

    /// Records a transmission, unless it begins after the end of the run.
    #[allow(clippy::cast_precision_loss)]
    pub fn air(&mut self, station: u32, row: &AirRow) {
        if row.from > self.end {
            return;
        }
        self.air_from.push(row.from.as_secs_f64());
        self.air_station.push(station);
        self.air_to.push(row.to.as_secs_f64());
        self.air_kind.push(Word::Borrowed(row.kind));
        self.air_seq.push(u64::from(row.seq));
        self.air_size.push(u64::from(row.size));
        self.air_window.push(row.window.map_or(f64::NAN, |window| window.as_u64() as f64));
    }

    /// Records a burst seen by a shaper.
    pub fn burst(&mut self, station: u32, burst: &Burst) {
        self.burst_station.push(station);
        let times = [burst.opened, burst.first, burst.last, burst.ended];
        self.burst_times.iter_mut().zip(times).for_each(|(column, at)| column.push(at.as_secs_f64()));
        let counts = [u64::from(burst.packets), burst.bytes, u64::from(burst.expected)];
        self.burst_counts.iter_mut().zip(counts).for_each(|(column, count)| column.push(count));
        let estimates = [burst.interarrival, burst.deviation, burst.threshold];
        let estimates = estimates.map(Duration::as_secs_f64);
        self.burst_estimates.iter_mut().zip(estimates).for_each(|(column, span)| column.push(span));
        self.burst_intact.push(burst.intact);
    }

    /// Builds the tables.
    #[must_use]
    pub fn into_tables(self) -> [Table; 3] {
        use Column::{Count, Flag, Float, Index, Text};
        let radio = Table::new(
            "radio",
            vec![
                ("time_s", Float(self.radio_time)),
                ("station", Index(self.radio_station)),
                ("state", Text(self.radio_state)),
            ],
        );
        let air = Table::new(
            "air",
            vec![
                ("time_s", Float(self.air_from)),
                ("station", Index(self.air_station)),
                ("end_s", Float(self.air_to)),
                ("kind", Text(self.air_kind)),
                ("seq", Count(self.air_seq)),
                ("size_bytes", Count(self.air_size)),
                ("window_bytes", Float(self.air_window)),
            ],
        );
        let [opened, first, last, ended] = self.burst_times;
        let [packets, bytes, expected] = self.burst_counts;
        let [interarrival, deviation, threshold] = self.burst_estimates;
        let burst = Table::new(
            "burst",
            vec![
                ("time_s", Float(opened)),
                ("station", Index(self.burst_station)),
                ("first_s", Float(first)),
                ("last_s", Float(last)),
                ("ended_s", Float(ended)),
                ("packets", Count(packets)),
                ("bytes", Count(bytes)),
                ("expected_packets", Count(expected)),
                ("interarrival_s", Float(interarrival)),
                ("deviation_s", Float(deviation)),
                ("threshold_s", Float(threshold)),
                ("intact", Flag(self.burst_intact)),
            ],
        );
        [radio, air.in_time_order(), burst]
    }
}
