//! Flows of requests: arrivals, and laws of sizes in range.

use super::flows::{flow_path, in_range, start};
use super::{Nodes, RequestFlow, Result, refuse};
use crate::scenario::document::{Document, ParetoSizeDocument, RequestsDocument, SizeDocument};
use crate::scenario::tcp_options;
use crate::traffic::sizes::LARGEST;
use crate::traffic::{Pareto, SizeLaw};
use netlull_units::{Bytes, Instant};

/// Sizes are whole bytes: with a smaller mean, rounding would shift it by more than 10^-4.
const SMALLEST_MEAN: u64 = 100;
/// Connections of one flow that may be open at once.
const MOST_OPEN: u32 = 1_000_000;

pub(super) fn request_flow(document: &Document, nodes: &Nodes<'_>, flow: &RequestsDocument) -> Result<RequestFlow> {
    let path = flow_path(nodes, &flow.name, &flow.from, &flow.to)?;
    let field = format!("flow.{}", flow.name);
    let start = start(&field, flow.start.0, document)?;
    let stop = flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop.0);
    if stop <= start {
        let (start, stop) = (start - Instant::ZERO, stop - Instant::ZERO);
        return refuse(format!("{field}.stop"), format!("is {stop}; expected a time after the start, {start}"));
    }
    if !(1..=MOST_OPEN).contains(&flow.most_open) {
        return refuse(format!("{field}.most_open"), format!("is {}; expected 1 to {MOST_OPEN}", flow.most_open));
    }
    Ok(RequestFlow {
        path,
        offered: in_range(&format!("{field}.offered"), flow.offered.0)?,
        sizes: size_law(&format!("{field}.size"), &flow.size)?,
        start,
        stop,
        most_open: flow.most_open,
        config: tcp_options::config(&document.tcp, &flow.tcp, &field, document.mtu.0)?,
    })
}

#[allow(clippy::cast_precision_loss)]
fn size_law(field: &str, size: &SizeDocument) -> Result<SizeLaw> {
    match size {
        SizeDocument::Fixed(law) => Ok(SizeLaw::Fixed(amount(&format!("{field}.size"), law.size.0, 1)?)),
        SizeDocument::Exponential(law) => {
            let mean = amount(&format!("{field}.mean"), law.mean.0, SMALLEST_MEAN)? as f64;
            Ok(SizeLaw::Exponential { mean })
        }
        SizeDocument::Pareto(law) => pareto(field, law),
    }
}

#[allow(clippy::cast_precision_loss)]
fn pareto(field: &str, law: &ParetoSizeDocument) -> Result<SizeLaw> {
    let mean = amount(&format!("{field}.mean"), law.mean.0, SMALLEST_MEAN)?;
    if !(law.shape > 1.0 && law.shape.is_finite()) {
        let message = format!("is {}; expected more than 1, or there is no mean", law.shape);
        return refuse(format!("{field}.shape"), message);
    }
    let max = law.max.map(|max| amount(&format!("{field}.max"), max.0, 1)).transpose()?;
    if let Some(max) = max.filter(|max| *max <= mean) {
        return refuse(format!("{field}.max"), format!("is {max} B; expected more than the mean, {mean} B"));
    }
    Ok(SizeLaw::Pareto(Pareto::with_mean(mean as f64, law.shape, max.map(|max| max as f64))))
}

fn amount(field: &str, amount: Bytes, least: u64) -> Result<u64> {
    let bytes = amount.as_u64();
    if !(least..=LARGEST).contains(&bytes) {
        return refuse(field, format!("is {bytes} B; expected {least} to {LARGEST} B"));
    }
    Ok(bytes)
}
