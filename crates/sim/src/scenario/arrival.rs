//! Laws of arrivals at the far end of links: noise, late packets, batches.

use super::frame::{Result, refuse};
use super::loss::{Crossing, flow_of, numbers};
use netlull_network::arrival::{Aggregation, ArrivalModel, LatePackets};
use netlull_network::noise::NoiseModel;
use netlull_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Noise of round-trip times: each packet has an independent, gamma-distributed extra delay (docs/models/link.md).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseDocument {
    /// Mean extra delay; 0 s turns the noise off.
    pub mean: Duration,
    /// Shape. The standard deviation is mean / sqrt(shape); 1 is exponential.
    #[schemars(range(min = 0.01, max = 1e6))]
    pub shape: f64,
    /// Lets packets overtake others. Without it they stay in order: a packet with a small delay arrives together with its
    /// predecessor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("x-default" = "false"))]
    pub reorder: bool,
}

/// Packets of one flow that arrive later than they would. Others overtake them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LateDocument {
    /// Flow; with `count` above one, `NAME-1`, `NAME-2`, ...
    pub flow: String,
    /// Numbers of the packets, in ascending order.
    ///
    /// All packets of the flow that the link sends count, from 1. These include TCP's SYN, acknowledgements, FIN and
    /// retransmissions, but no lost or dropped packets.
    #[schemars(inner(range(min = 1)))]
    pub packets: Vec<u64>,
    /// Extra delay of each of these packets.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub by: Duration,
}

/// Delivery in batches, as by link layers that collect frames: cellular networks, Wi-Fi.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AggregationDocument {
    /// Time between two batches.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub period: Duration,
    /// Time of the first batch. Earlier packets arrive one by one.
    #[serde(default)]
    pub start: Duration,
}

/// The laws of a link without its late packets, which need the flows.
pub(super) fn without_late(
    noise: Option<NoiseDocument>,
    aggregation: Option<AggregationDocument>,
) -> Option<Box<ArrivalModel>> {
    let noise = noise.filter(|noise| !noise.mean.is_zero());
    let noise = noise.map(|NoiseDocument { mean, shape, reorder }| NoiseModel { mean, shape, reorder });
    let aggregation = aggregation.map(|AggregationDocument { period, start }| Aggregation { period, start });
    let model = ArrivalModel { noise, late: Vec::new(), aggregation };
    (!model.is_empty()).then(|| Box::new(model))
}

/// The late packets of a link.
pub(super) fn late(
    field: &str,
    documents: &[LateDocument],
    crossing: &Crossing<'_>,
    sleeps: bool,
) -> Result<Vec<LatePackets>> {
    if sleeps {
        return refuse(field, "conflicts with [[sleep]]; expected late packets only if no link sleeps");
    }
    let mut late: Vec<LatePackets> = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let field = format!("{field}.{index}");
        let flow = flow_of(&field, &document.flow, crossing)?;
        let numbered = numbers(&field, &document.packets)?.into_iter().map(|number| (number, document.by));
        match late.iter_mut().find(|known| known.flow == flow) {
            Some(known) => known.packets.extend(numbered),
            None => late.push(LatePackets { flow, packets: numbered.collect() }),
        }
        let packets = late.iter_mut().find(|known| known.flow == flow).map(|known| &mut known.packets);
        let Some(packets) = packets else { continue };
        packets.sort_unstable_by_key(|(number, _)| *number);
        if let Some(pair) = packets.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let message = format!("has {} again for \"{}\"; expected each number once", pair[0].0, document.flow);
            return refuse(format!("{field}.packets"), message);
        }
    }
    late.retain(|late| !late.packets.is_empty());
    Ok(late)
}
