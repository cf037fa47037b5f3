//! Totals and means of links.

use super::phases::{EnergySummary, LinkPhase, Whole};
use crate::scenario::Scenario;
use netlull_mechanism::link::LowPowerTimes;
use netlull_network::gateway_summary::GatewaySummary;
use netlull_network::outcome::ByName;
use netlull_power::Residency;
use netlull_units::Duration;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The links of a run, in the order of the scenario.
///
/// A link's summary is computed when it is read, because the counters take a fifth of its memory. Copies share the
/// counters.
#[derive(Clone, Debug)]
pub struct LinkSummaries {
    scenario: Scenario,
    whole: Arc<Whole>,
    /// The results of gateways, by link.
    gateways: BTreeMap<usize, GatewaySummary>,
    /// The indices of the links.
    range: Range<usize>,
    has_residencies: bool,
}

impl LinkSummaries {
    pub(super) fn new(scenario: &Scenario, whole: Whole, gateways: BTreeMap<usize, GatewaySummary>) -> Self {
        let range = 0..scenario.links.len();
        Self { scenario: scenario.clone(), whole: Arc::new(whole), gateways, range, has_residencies: true }
    }

    /// The number of links.
    #[must_use]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Returns true if there are no links.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// A link by its number; `None` after the last.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<LinkSummary> {
        self.range.clone().nth(number).map(|index| self.link(index))
    }

    /// Every link.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = LinkSummary> + '_ {
        self.range.clone().map(|index| self.link(index))
    }

    /// The links with these numbers. Numbers after the last are left out.
    #[must_use]
    pub fn part(&self, numbers: Range<usize>) -> Self {
        let place = |number: usize| self.range.start + number.min(self.len());
        Self { range: place(numbers.start)..place(numbers.end), ..self.clone() }
    }

    /// Leaves out the times at each rate.
    pub fn leave_out_residencies(&mut self) {
        self.has_residencies = false;
    }

    fn link(&self, index: usize) -> LinkSummary {
        let (scenario, span) = (&self.scenario, self.whole.span());
        let all: LinkPhase = span.link(scenario, index);
        let (spec, counters) = (&scenario.links[index], span.counted(index));
        LinkSummary {
            name: spec.name.clone(),
            from: scenario.nodes[spec.from].clone(),
            to: scenario.nodes[spec.to].clone(),
            rate_bps: spec.rate.as_bps(),
            delay_s: spec.delay.as_secs_f64(),
            buffer: spec.buffer.to_string(),
            queue: spec.queue.kind(),
            offered_packets: all.offered_packets,
            offered_bytes: all.offered_bytes,
            dropped_packets: all.dropped_packets,
            managed_drops: counters.managed_drops,
            marked_packets: counters.marked_packets,
            lost_packets: all.lost_packets,
            asleep_packets: all.asleep_packets,
            asleep_s: all.asleep_s,
            delivered_packets: all.delivered_packets,
            delivered_bytes: all.delivered_bytes,
            drop_fraction: all.drop_fraction,
            throughput_bps: all.throughput_bps,
            utilisation: all.utilisation,
            mean_rate_bps: all.mean_rate_bps,
            rate_changes: all.rate_changes,
            mean_queue_packets: all.mean_queue_packets,
            max_queue_packets: counters.most_waiting,
            mean_wait_s: mean_wait(counters.waited_ns, counters.served_packets),
            largest_lateness_s: spec
                .lateness_bound()
                .map(|_| Duration::from_nanos(counters.largest_lateness_ns).as_secs_f64()),
            residency: if self.has_residencies { residences(&span.residency(scenario, index)) } else { Vec::new() },
            low_power: span.low_power(index).map(|times| LowPowerSummary::new(&times)),
            gateway: self.gateways.get(&index).copied(),
            energy: all.energy,
        }
    }
}

impl Serialize for LinkSummaries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// A link in the measured time.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSummary {
    /// Name.
    pub name: String,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Rate, or maximum rate, bit/s.
    pub rate_bps: u64,
    /// Propagation delay.
    pub delay_s: f64,
    /// Limit of the queue, with its unit.
    pub buffer: String,
    /// Queue management: drop_tail, red or codel.
    pub queue: &'static str,
    /// Packets offered.
    pub offered_packets: u64,
    /// Bytes offered.
    pub offered_bytes: u64,
    /// Packets dropped because of a full buffer or by queue management.
    pub dropped_packets: u64,
    /// Packets dropped by queue management: by CoDel, or by RED, also above its thresholds.
    pub managed_drops: u64,
    /// Packets that queue management marked (ECN).
    pub marked_packets: u64,
    /// Packets dropped by the link's loss model.
    pub lost_packets: u64,
    /// Packets lost because the link slept or fell asleep.
    pub asleep_packets: u64,
    /// Time asleep.
    pub asleep_s: f64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Dropped / offered packets.
    pub drop_fraction: f64,
    /// Delivered bits per second.
    pub throughput_bps: f64,
    /// Delivered bits / capacity at the mean rate; 0 for a link that always slept.
    ///
    /// It exceeds 1 if packets finish at a higher, earlier rate, or if packets were sent before the measured time.
    pub utilisation: f64,
    /// Mean service rate over time. A transition counts at its new rate, sleep as 0.
    pub mean_rate_bps: f64,
    /// Changes of the rate.
    pub rate_changes: u64,
    /// Mean number of packets in the queue.
    pub mean_queue_packets: f64,
    /// Maximum number of packets in the queue, since the start.
    pub max_queue_packets: u64,
    /// Mean waiting time of the packets whose transmission began in the measured time.
    ///
    /// Packets still in the queue at the end are left out. So are those that left the queue without transmission: CoDel
    /// dropped them, or the link fell asleep. `mean_queue_packets` counts them all.
    pub mean_wait_s: f64,
    /// The largest lateness since the start: the departure of a packet minus its departure at the highest rate. Null
    /// for a controller that guarantees no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_lateness_s: Option<f64>,
    /// Time at each rate; empty for a capacity with more than `MOST_RATES` rates.
    pub residency: Vec<Residence>,
    /// Low-power idle in the measured time; absent without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_power: Option<LowPowerSummary>,
    /// The gateway that controls TCP windows here; null without a gateway.
    pub gateway: Option<GatewaySummary>,
    /// Energy under each power model.
    pub energy: ByName<EnergySummary>,
}

/// The times of a link with low-power idle in its states.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LowPowerSummary {
    /// Time active: sending, or idle before sleep.
    pub awake_s: f64,
    /// Time in transitions to low power.
    pub entering_s: f64,
    /// Time in fast wake.
    pub fast_s: f64,
    /// Time asleep, without refreshes.
    pub asleep_s: f64,
    /// Time in refreshes.
    pub refresh_s: f64,
    /// Time waking.
    pub waking_s: f64,
    /// Number of times the link went to low power.
    pub sleeps: u64,
    /// Time in low power / measured time.
    pub low_share: f64,
}

impl LowPowerSummary {
    #[allow(clippy::cast_precision_loss)]
    fn new(times: &LowPowerTimes) -> Self {
        let seconds = |nanos| Duration::from_nanos(nanos).as_secs_f64();
        let total = times.total_ns();
        Self {
            awake_s: seconds(times.awake_ns),
            entering_s: seconds(times.entering_ns),
            fast_s: seconds(times.fast_ns),
            asleep_s: seconds(times.asleep_ns),
            refresh_s: seconds(times.refresh_ns),
            waking_s: seconds(times.waking_ns),
            sleeps: times.sleeps,
            low_share: if total == 0 { 0.0 } else { times.low_ns() as f64 / total as f64 },
        }
    }
}

/// The mean of the waits of `packets`, in seconds.
#[allow(clippy::cast_precision_loss)]
fn mean_wait(waited_ns: u128, packets: u64) -> f64 {
    if packets == 0 { 0.0 } else { waited_ns as f64 / (packets as f64 * 1e9) }
}

/// The maximum number of rates in a list. A longer list has no use.
pub const MOST_RATES: usize = 256;

/// The time at a rate.
#[derive(Clone, Debug, Serialize)]
pub struct Residence {
    /// Rate, bit/s.
    pub rate_bps: u64,
    /// Time in service.
    pub seconds: f64,
    /// Time in transitions to this rate.
    pub transition_seconds: f64,
}

fn residences(residency: &Residency) -> Vec<Residence> {
    if residency.in_service().len() > MOST_RATES {
        return Vec::new();
    }
    let mut residences: Vec<Residence> = residency
        .in_service()
        .iter()
        .map(|part| Residence {
            rate_bps: part.rate.as_bps(),
            seconds: part.time.as_secs_f64(),
            transition_seconds: 0.0,
        })
        .collect();
    for part in residency.in_transition() {
        match residences.binary_search_by_key(&part.new.as_bps(), |residence| residence.rate_bps) {
            Ok(at) => residences[at].transition_seconds += part.time.as_secs_f64(),
            Err(at) => residences.insert(
                at,
                Residence { rate_bps: part.new.as_bps(), seconds: 0.0, transition_seconds: part.time.as_secs_f64() },
            ),
        }
    }
    residences
}
