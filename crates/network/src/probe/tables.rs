//! The tables of a run: link, flow, window, drop, arrivals, request and gateway.

use netlull_mechanism::link::Estimates;
use netlull_units::{Duration, Instant};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// A name or a word in a table.
pub type Word = Cow<'static, str>;

/// A column. In text form, a missing value is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Floating-point numbers: times in seconds, and sizes in bytes that may be missing (NaN).
    Float(#[serde(deserialize_with = "nan_for_null")] Vec<f64>),
    /// Counts, bytes and rates.
    Count(Vec<u64>),
    /// Indices of links or flows in the summary.
    Index(Vec<u32>),
    /// Yes or no.
    Flag(Vec<bool>),
    /// Words from a small set.
    Text(Vec<Word>),
}

impl Column {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Count(values) => values.len(),
            Self::Index(values) => values.len(),
            Self::Flag(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Returns true if the column is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn nan_for_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

/// The values of `column` in the order of `rows`.
fn permuted<T: Clone>(column: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| column[row as usize].clone()).collect()
}

/// A table of named columns of equal length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The table's name.
    pub name: Word,
    /// The table's columns.
    pub columns: Vec<(Word, Column)>,
}

impl Table {
    /// Creates a table of these columns.
    #[must_use]
    pub fn new(name: &'static str, columns: Vec<(&'static str, Column)>) -> Self {
        let columns = columns.into_iter().map(|(name, column)| (Word::Borrowed(name), column)).collect();
        Self { name: Word::Borrowed(name), columns }
    }

    /// Sorts rows by time (the first column), then by link (the second column), then by their present order.
    /// Links that run ahead do not report in the order of time.
    #[allow(clippy::cast_possible_truncation)]
    #[must_use]
    pub fn in_time_order(self) -> Self {
        let [(_, Column::Float(times)), (_, Column::Index(owners)), ..] = &self.columns[..] else { return self };
        let key = |row: usize| (times[row], owners[row]);
        if (1..times.len()).all(|row| key(row - 1) <= key(row)) {
            return self;
        }
        let mut rows: Vec<u32> = (0..times.len() as u32).collect();
        rows.sort_by(|&a, &b| {
            let (a, b) = (key(a as usize), key(b as usize));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        let reorder = |(name, column): &(Word, Column)| {
            let column = match column {
                Column::Float(values) => Column::Float(permuted(values, &rows)),
                Column::Count(values) => Column::Count(permuted(values, &rows)),
                Column::Index(values) => Column::Index(permuted(values, &rows)),
                Column::Flag(values) => Column::Flag(permuted(values, &rows)),
                Column::Text(values) => Column::Text(permuted(values, &rows)),
            };
            (name.clone(), column)
        };
        Self { name: self.name.clone(), columns: self.columns.iter().map(reorder).collect() }
    }
}

/// The state of a link at the end of a bin.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkSample {
    /// Bytes offered since the start.
    pub arrived_bytes: u64,
    /// Bytes delivered since the start.
    pub delivered_bytes: u64,
    /// Packets dropped since the start.
    pub dropped_packets: u64,
    /// The present backlog in packets.
    pub queue_packets: u64,
    /// The present rate in bit/s.
    pub rate_bps: u64,
}

/// The state of a flow at the end of a bin.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowSample {
    /// Bytes on the wire that the sender has sent since the start.
    pub sent_bytes: u64,
    /// New bytes that have arrived at the receiver since the start. Bytes ahead of a gap count on arrival, so a bin is at most
    /// what the last link delivers.
    pub delivered_bytes: u64,
    /// The congestion window and the slow-start threshold, for TCP.
    pub windows: Option<(u64, u64)>,
}

#[derive(Debug, Default)]
struct LinkColumns {
    time: Vec<f64>,
    link: Vec<u32>,
    arrived: Vec<u64>,
    delivered: Vec<u64>,
    dropped: Vec<u64>,
    queue: Vec<u64>,
    rate: Vec<u64>,
}

#[derive(Debug, Default)]
struct FlowColumns {
    time: Vec<f64>,
    flow: Vec<u32>,
    sent: Vec<u64>,
    delivered: Vec<u64>,
    cwnd: Vec<f64>,
    ssthresh: Vec<f64>,
}

#[derive(Debug, Default)]
struct WindowColumns {
    time: Vec<f64>,
    flow: Vec<u32>,
    cwnd: Vec<u64>,
    ssthresh: Vec<f64>,
}

#[derive(Debug, Default)]
struct DropColumns {
    time: Vec<f64>,
    link: Vec<u32>,
    flow: Vec<u32>,
}

/// The recorder of a run's tables.
#[derive(Debug)]
pub struct Recorder {
    interval: Option<Duration>,
    window: Option<WindowColumns>,
    drops: Option<DropColumns>,
    links: LinkColumns,
    flows: FlowColumns,
    link_before: Vec<LinkSample>,
    flow_before: Vec<FlowSample>,
}

/// A slow-start threshold as a column value: missing until the first loss sets one (RFC 5681: "arbitrarily
/// high").
#[allow(clippy::cast_precision_loss)]
#[must_use]
pub fn ssthresh(bytes: u64) -> f64 {
    if bytes == u64::MAX { f64::NAN } else { bytes as f64 }
}

/// The event tables to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTables {
    /// True if table `window` is recorded.
    pub window: bool,
    /// True if table `drop` is recorded.
    pub drops: bool,
}

impl Recorder {
    /// Creates a recorder for `links` links and `flows` flows, with bins of `interval`.
    #[must_use]
    pub fn new(interval: Option<Duration>, events: EventTables, links: usize, flows: usize) -> Self {
        Self {
            interval,
            window: events.window.then(WindowColumns::default),
            drops: events.drops.then(DropColumns::default),
            links: LinkColumns::default(),
            flows: FlowColumns::default(),
            link_before: vec![LinkSample::default(); links],
            flow_before: vec![FlowSample::default(); flows],
        }
    }

    /// The end of the bin after `now`.
    #[must_use]
    pub fn next_bin(&self, now: Instant) -> Instant {
        self.interval.map_or(Instant::NEVER, |interval| now + interval)
    }

    /// Returns true if congestion windows are recorded.
    #[must_use]
    pub fn records_windows(&self) -> bool {
        self.window.is_some()
    }

    /// Records the end of a link's bin.
    pub fn link(&mut self, now: Instant, link: u32, sample: LinkSample) {
        let before = std::mem::replace(&mut self.link_before[link as usize], sample);
        self.links.time.push(now.as_secs_f64());
        self.links.link.push(link);
        self.links.arrived.push(sample.arrived_bytes - before.arrived_bytes);
        self.links.delivered.push(sample.delivered_bytes - before.delivered_bytes);
        self.links.dropped.push(sample.dropped_packets - before.dropped_packets);
        self.links.queue.push(sample.queue_packets);
        self.links.rate.push(sample.rate_bps);
    }

    /// Records the end of a flow's bin.
    #[allow(clippy::cast_precision_loss)]
    pub fn flow(&mut self, now: Instant, flow: u32, sample: FlowSample) {
        let before = std::mem::replace(&mut self.flow_before[flow as usize], sample);
        let (cwnd, threshold) =
            sample.windows.map_or((f64::NAN, f64::NAN), |(cwnd, threshold)| (cwnd as f64, ssthresh(threshold)));
        self.flows.time.push(now.as_secs_f64());
        self.flows.flow.push(flow);
        self.flows.sent.push(sample.sent_bytes - before.sent_bytes);
        self.flows.delivered.push(sample.delivered_bytes - before.delivered_bytes);
        self.flows.cwnd.push(cwnd);
        self.flows.ssthresh.push(threshold);
    }

    /// Records a change of a congestion window.
    pub fn window(&mut self, now: Instant, flow: u32, cwnd: u64, threshold: u64) {
        if let Some(columns) = &mut self.window {
            columns.time.push(now.as_secs_f64());
            columns.flow.push(flow);
            columns.cwnd.push(cwnd);
            columns.ssthresh.push(ssthresh(threshold));
        }
    }

    /// Records a packet of a flow that a link dropped or lost.
    pub fn drop(&mut self, now: Instant, link: u32, flow: u32) {
        if let Some(columns) = &mut self.drops {
            columns.time.push(now.as_secs_f64());
            columns.link.push(link);
            columns.flow.push(flow);
        }
    }

    /// Builds the requested tables.
    #[must_use]
    pub fn into_tables(self) -> Vec<Table> {
        use Column::{Count, Float, Index};
        let mut tables = Vec::new();
        if self.interval.is_some() {
            let (links, flows) = (self.links, self.flows);
            tables.push(Table::new(
                "link",
                vec![
                    ("time_s", Float(links.time)),
                    ("link", Index(links.link)),
                    ("arrived_bytes", Count(links.arrived)),
                    ("delivered_bytes", Count(links.delivered)),
                    ("dropped_packets", Count(links.dropped)),
                    ("queue_packets", Count(links.queue)),
                    ("rate_bps", Count(links.rate)),
                ],
            ));
            tables.push(Table::new(
                "flow",
                vec![
                    ("time_s", Float(flows.time)),
                    ("flow", Index(flows.flow)),
                    ("sent_bytes", Count(flows.sent)),
                    ("delivered_bytes", Count(flows.delivered)),
                    ("cwnd_bytes", Float(flows.cwnd)),
                    ("ssthresh_bytes", Float(flows.ssthresh)),
                ],
            ));
        }
        if let Some(windows) = self.window {
            tables.push(Table::new(
                "window",
                vec![
                    ("time_s", Float(windows.time)),
                    ("flow", Index(windows.flow)),
                    ("cwnd_bytes", Count(windows.cwnd)),
                    ("ssthresh_bytes", Float(windows.ssthresh)),
                ],
            ));
        }
        if let Some(drops) = self.drops {
            let columns = vec![("time_s", Float(drops.time)), ("link", Index(drops.link)), ("flow", Index(drops.flow))];
            tables.push(Table::new("drop", columns).in_time_order());
        }
        tables
    }
}

/// A packet offered to a link, for table `arrivals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalRow {
    /// The time in nanoseconds.
    pub time: u64,
    /// The index of the link.
    pub link: u32,
    /// The index of the packet's flow.
    pub flow: u32,
    /// The packet's size in bytes.
    pub size: u32,
}

/// Builds the table `arrivals`, ordered by time and then link. Simultaneous packets at a link keep their order of
/// arrival.
#[must_use]
pub fn arrivals(mut rows: Vec<ArrivalRow>) -> Table {
    rows.sort_by_key(|row| (row.time, row.link));
    let columns = vec![
        ("time_ns", Column::Count(rows.iter().map(|row| row.time).collect())),
        ("link", Column::Index(rows.iter().map(|row| row.link).collect())),
        ("flow", Column::Index(rows.iter().map(|row| row.flow).collect())),
        ("bytes", Column::Count(rows.iter().map(|row| u64::from(row.size)).collect())),
    ];
    Table::new("arrivals", columns)
}

/// A row of table `request`.
#[derive(Clone, Copy, Debug)]
pub struct RequestRow {
    /// The index of the request's flow.
    pub flow: u32,
    /// The time of the SYN.
    pub start: Instant,
    /// The requested size in bytes.
    pub size: u64,
    /// The time from the SYN to the acknowledgement of the last byte; `None` if the run ended before.
    pub completion: Option<Duration>,
    /// Retransmitted segments until then.
    pub retransmissions: u64,
    /// Retransmission timeouts until then.
    pub timeouts: u64,
}

/// The recorder of table `request`.
#[derive(Default)]
pub struct RequestTable {
    start: Vec<f64>,
    flow: Vec<u32>,
    size: Vec<u64>,
    completion: Vec<f64>,
    retransmissions: Vec<u64>,
    timeouts: Vec<u64>,
}

impl RequestTable {
    /// Appends a completed request, or a request that is open at the end of the run.
    pub fn push(&mut self, row: &RequestRow) {
        self.start.push(row.start.as_secs_f64());
        self.flow.push(row.flow);
        self.size.push(row.size);
        self.completion.push(row.completion.map_or(f64::NAN, Duration::as_secs_f64));
        self.retransmissions.push(row.retransmissions);
        self.timeouts.push(row.timeouts);
    }

    /// Builds the table.
    #[must_use]
    pub fn into_table(self) -> Table {
        use Column::{Count, Float, Index};
        Table::new(
            "request",
            vec![
                ("start_s", Float(self.start)),
                ("flow", Index(self.flow)),
                ("size_bytes", Count(self.size)),
                ("completion_s", Float(self.completion)),
                ("retransmissions", Count(self.retransmissions)),
                ("timeouts", Count(self.timeouts)),
            ],
        )
    }
}

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

/// The recorder of table `gateway`: the suggestions and estimates of gateways and the true values, at the ends of bins.
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
