//! Conversion of buffers and queue management in the document.

use super::{Result, refuse};
use crate::scenario::document::{CodelDocument, LinkDocument, QueueDocument, RedDocument};
use crate::scenario::quantity::BufferSize;
use netlull_network::queue::codel::CoDelConfig;
use netlull_network::queue::red::{QueueUnit, RedConfig};
use netlull_network::queue::{Buffer, QueueModel};
use netlull_units::{Bytes, Duration};

/// The basis of sizes in BDP, and the largest packet.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    /// Two-way propagation delay of the longest route across the link.
    pub two_way: Duration,
    pub mtu: Bytes,
}

/// A buffer in BDP: rate x two-way propagation delay in packets of one MTU, rounded to the nearest.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn buffer(field: &str, document: &LinkDocument, measure: Measure) -> Result<Buffer> {
    let field = format!("{field}.buffer");
    match document.buffer {
        BufferSize::Unlimited => Ok(Buffer::Unlimited),
        BufferSize::Packets(0) => refuse(field, "holds 0 packets; expected at least 1"),
        BufferSize::Packets(packets) => Ok(Buffer::Packets(packets)),
        BufferSize::Bytes(bytes) if bytes < measure.mtu => refuse(
            field,
            format!("is {} B, less than one packet; expected at least {} B", bytes.as_u64(), measure.mtu.as_u64()),
        ),
        BufferSize::Bytes(bytes) => Ok(Buffer::Bytes(bytes)),
        BufferSize::BandwidthDelay(factor) => {
            let packets = bandwidth_delay(document, measure) * factor;
            Ok(Buffer::Packets((packets.round() as u64).max(document.buffer_floor)))
        }
    }
}

/// Rate x two-way propagation delay in packets of one MTU.
#[allow(clippy::cast_precision_loss)]
fn bandwidth_delay(document: &LinkDocument, measure: Measure) -> f64 {
    document.rate.as_f64() * measure.two_way.as_secs_f64() / measure.mtu.as_bits() as f64
}

pub(super) fn queue(field: &str, document: &LinkDocument, measure: Measure) -> Result<QueueModel> {
    let field = format!("{field}.queue");
    match &document.queue {
        None | Some(QueueDocument::DropTail(_)) => Ok(QueueModel::DropTail),
        Some(QueueDocument::Red(red_document)) => red(&field, document, red_document, measure).map(QueueModel::Red),
        Some(QueueDocument::Codel(codel_document)) => codel(&field, *codel_document, measure).map(QueueModel::CoDel),
    }
}

fn red(field: &str, link: &LinkDocument, red: &RedDocument, measure: Measure) -> Result<RedConfig> {
    let (min, unit) = threshold(&format!("{field}.min_threshold"), link, red.min_threshold, measure)?;
    let max = match red.max_threshold {
        None => 3.0 * min,
        Some(size) => {
            let field = format!("{field}.max_threshold");
            let (max, of_max) = threshold(&field, link, size, measure)?;
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
fn threshold(field: &str, link: &LinkDocument, size: BufferSize, measure: Measure) -> Result<(f64, QueueUnit)> {
    let (value, unit) = match size {
        BufferSize::Packets(packets) => (packets as f64, QueueUnit::Packets),
        BufferSize::Bytes(bytes) => (bytes.as_u64() as f64, QueueUnit::Bytes),
        BufferSize::BandwidthDelay(factor) => (bandwidth_delay(link, measure) * factor, QueueUnit::Packets),
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
