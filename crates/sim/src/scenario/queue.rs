//! Buffers and queue management of links.

use super::frame::{Result, refuse};
use super::quantity::BufferSize;
use netlull_network::queue::codel::CoDelConfig;
pub use netlull_network::queue::red::RedEcn;
pub use netlull_network::queue::red::RedProbability;
pub use netlull_network::queue::red::RedRules;
use netlull_network::queue::red::{QueueUnit, RedConfig};
use netlull_network::queue::{Buffer, QueueModel};
use netlull_units::Duration;
use netlull_units::{BitRate, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Queue management.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueDocument {
    /// Drops packets only if the buffer is full; the default.
    #[schemars(extend("x-source" = "-"))]
    DropTail(DropTailDocument),
    /// Random early detection: drops or marks arriving packets with a probability that grows with the average queue.
    #[schemars(extend("x-source" = "Floyd and Jacobson 1993; Floyd 2000 (gentle)"))]
    Red(RedDocument),
    /// Controlled delay: drops or marks departing packets while the queueing delay stays too long.
    ///
    /// A link of fixed rate then schedules its departures, with an extra event per packet.
    #[schemars(extend("x-source" = "RFC 8289"))]
    Codel(CodelDocument),
}

/// Drop-tail. It has no parameters; the link's `buffer` is its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropTailDocument {}

/// RED and its readings. Thresholds in packets or BDP count packets; thresholds in bytes count bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedDocument {
    /// min_th: no early drops while the average queue is below it.
    #[serde(default = "default_min_threshold")]
    #[schemars(extend("x-source" = "Floyd 1997; ns-2"))]
    pub min_threshold: BufferSize,
    /// max_th: average queue above which RED drops all packets, or gently more and more; default three times min_th.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "as min_threshold, not below it", "x-default" = "3 min_th", "x-source" = "Floyd 1997"))]
    pub max_threshold: Option<BufferSize>,
    /// max_p: drop probability at max_th.
    #[serde(default = "default_max_probability")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0, "x-source" = "Floyd 1997; the 1993 paper has 0.02"))]
    pub max_probability: f64,
    /// w_q: weight of the newest sample in the average.
    #[serde(default = "default_queue_weight")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0, "x-source" = "Floyd and Jacobson 1993 section 6"))]
    pub weight: f64,
    /// Raises the drop probability from max_p to 1 between max_th and twice max_th, instead of at once.
    #[serde(default = "default_true")]
    #[schemars(extend("x-source" = "Floyd 2000; ns-2"))]
    pub gentle: bool,
    /// Effect of the packet size on the drop probability.
    #[serde(default)]
    #[schemars(extend("x-source" = "RFC 7141 section 2.2; per_byte: the paper's byte mode, with the MTU as the largest packet"))]
    pub probability: RedProbability,
    /// Rules that exempt packets from early drops.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading; ns2: ns-2.35's red.cc"))]
    pub rules: RedRules,
    /// Typical packet size, the unit for idle time; default the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 B", "x-unit" = "data", "x-default" = "the MTU", "x-source" = "reading: the paper's typical transmission time; ns-2 has 500 B"))]
    pub mean_packet: Option<Bytes>,
    /// Marking of ECN-capable packets instead of drops. Other packets are dropped.
    #[serde(default)]
    #[schemars(extend("x-source" = "RFC 3168 section 7"))]
    pub ecn: RedEcn,
}

/// CoDel (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodelDocument {
    /// TARGET: acceptable standing queueing delay.
    #[serde(default = "default_target")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-source" = "RFC 8289 section 4.3"))]
    pub target: Duration,
    /// INTERVAL: time for which the queueing delay must exceed TARGET before the first drop.
    #[serde(default = "default_interval")]
    #[schemars(extend("x-unit" = "time above target", "x-source" = "RFC 8289 section 4.2"))]
    pub interval: Duration,
    /// Marks ECN-capable packets instead of dropping them.
    #[serde(default = "default_true")]
    #[schemars(extend("x-source" = "reading: RFC 8289 is silent; Linux's fq_codel marks"))]
    pub ecn: bool,
}

fn default_min_threshold() -> BufferSize {
    BufferSize::Packets(5)
}

fn default_max_probability() -> f64 {
    0.1
}

fn default_queue_weight() -> f64 {
    0.002
}

fn default_true() -> bool {
    true
}

fn default_target() -> Duration {
    Duration::from_millis(5)
}

fn default_interval() -> Duration {
    Duration::from_millis(100)
}

/// The basis of sizes in BDP, and the largest packet.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    /// Two-way propagation delay of the longest route across the link.
    pub two_way: Duration,
    /// Rate of the link.
    pub rate: BitRate,
    pub mtu: Bytes,
}

/// A buffer in BDP: rate x two-way propagation delay in packets of one MTU, rounded to the nearest.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn buffer(field: &str, size: BufferSize, floor: u64, measure: Measure) -> Result<Buffer> {
    let field = format!("{field}.buffer");
    match size {
        BufferSize::Unlimited => Ok(Buffer::Unlimited),
        BufferSize::Packets(0) => refuse(field, "holds 0 packets; expected at least 1"),
        BufferSize::Packets(packets) => Ok(Buffer::Packets(packets)),
        BufferSize::Bytes(bytes) if bytes < measure.mtu => refuse(
            field,
            format!("is {} B, less than one packet; expected at least {} B", bytes.as_u64(), measure.mtu.as_u64()),
        ),
        BufferSize::Bytes(bytes) => Ok(Buffer::Bytes(bytes)),
        BufferSize::BandwidthDelay(factor) => {
            let packets = bandwidth_delay(measure) * factor;
            Ok(Buffer::Packets((packets.round() as u64).max(floor)))
        }
    }
}

/// Rate x two-way propagation delay in packets of one MTU.
#[allow(clippy::cast_precision_loss)]
fn bandwidth_delay(measure: Measure) -> f64 {
    measure.rate.as_f64() * measure.two_way.as_secs_f64() / measure.mtu.as_bits() as f64
}

pub(super) fn queue(field: &str, document: Option<&QueueDocument>, measure: Measure) -> Result<QueueModel> {
    let field = format!("{field}.queue");
    match document {
        None | Some(QueueDocument::DropTail(_)) => Ok(QueueModel::DropTail),
        Some(QueueDocument::Red(red_document)) => red(&field, red_document, measure).map(QueueModel::Red),
        Some(QueueDocument::Codel(codel_document)) => codel(&field, *codel_document, measure).map(QueueModel::CoDel),
    }
}

fn red(field: &str, red: &RedDocument, measure: Measure) -> Result<RedConfig> {
    let (min, unit) = threshold(&format!("{field}.min_threshold"), red.min_threshold, measure)?;
    let max = match red.max_threshold {
        None => 3.0 * min,
        Some(size) => {
            let field = format!("{field}.max_threshold");
            let (max, of_max) = threshold(&field, size, measure)?;
            if of_max != unit || max < min {
                let message = format!("is {size}; expected min_threshold, {}, or more in its unit", red.min_threshold);
                return refuse(field, message);
            }
            max
        }
    };
    Ok(RedConfig {
        unit,
        min_threshold: min,
        max_threshold: max,
        max_probability: red.max_probability,
        weight: red.weight,
        gentle: red.gentle,
        probability: red.probability,
        rules: red.rules,
        mean_packet: red.mean_packet.unwrap_or(measure.mtu).as_u64(),
        largest_packet: measure.mtu.as_u64(),
        ecn: red.ecn,
    })
}

/// A threshold and its unit. A threshold in BDP can be a fraction of a packet.
#[allow(clippy::cast_precision_loss)]
fn threshold(field: &str, size: BufferSize, measure: Measure) -> Result<(f64, QueueUnit)> {
    let (value, unit) = match size {
        BufferSize::Packets(packets) => (packets as f64, QueueUnit::Packets),
        BufferSize::Bytes(bytes) => (bytes.as_u64() as f64, QueueUnit::Bytes),
        BufferSize::BandwidthDelay(factor) => (bandwidth_delay(measure) * factor, QueueUnit::Packets),
        BufferSize::Unlimited => (f64::INFINITY, QueueUnit::Packets),
    };
    if value > 0.0 && value.is_finite() {
        Ok((value, unit))
    } else {
        refuse(field, format!("is {size}; expected more than 0 packets, bytes or BDP"))
    }
}

fn codel(field: &str, document: CodelDocument, measure: Measure) -> Result<CoDelConfig> {
    let (target, interval) = (document.target, document.interval);
    if interval <= target {
        return refuse(format!("{field}.interval"), format!("is {interval}; expected more than target, {target}"));
    }
    Ok(CoDelConfig { target, interval, largest_packet: measure.mtu.as_u64(), ecn: document.ecn })
}
