//! Requests: their arrivals, and the laws of their sizes.

use super::flows::{flow_path, start, stop_after, tcp_config};
use super::{Nodes, RequestFlow, Result, check, refuse};
use crate::scenario::ScenarioError;
use crate::scenario::document::{
    CampusSizeDocument, Document, EmpiricalSizeDocument, LognormalComponentDocument, LognormalSizeDocument,
    ParetoSizeDocument, RequestsDocument, SizeDocument, WebSearchSizeDocument,
};
use crate::traffic::sizes::{CAMPUS, LARGEST, WEB_SEARCH};
use crate::traffic::{Component, Empirical, Lognormal, Pareto, SizeLaw};
use netlull_units::Bytes;

/// The smallest mean. Sizes are whole bytes, and rounding shifts smaller means by more than 10^-4.
const SMALLEST_MEAN: u64 = 100;
/// The largest sigma. A wider lognormal distribution exceeds the range of numbers.
const LARGEST_SIGMA: f64 = 10.0;
/// The tolerance for a last share of 1 that is written with few digits.
const NEAR_ONE: f64 = 1e-9;

pub(super) fn request_flow(document: &Document, nodes: &Nodes<'_>, flow: &RequestsDocument) -> Result<RequestFlow> {
    let path = flow_path(nodes, &flow.name, &flow.from, &flow.to)?;
    let field = format!("flow.{}", flow.name);
    let start = start(&field, flow.start, document)?;
    let stop = stop_after(&field, flow.stop, start)?;
    check(&field, flow)?;
    Ok(RequestFlow {
        path,
        offered: flow.offered,
        sizes: size_law(&format!("{field}.size"), &flow.size)?,
        start,
        stop,
        most_open: flow.most_open,
        config: tcp_config(&document.tcp, &flow.tcp, &field, document.mtu)?,
    })
}

#[allow(clippy::cast_precision_loss)]
fn size_law(field: &str, size: &SizeDocument) -> Result<SizeLaw> {
    match size {
        SizeDocument::Fixed(law) => Ok(SizeLaw::Fixed(amount(&format!("{field}.size"), law.size, 1)?)),
        SizeDocument::Exponential(law) => {
            let mean = amount(&format!("{field}.mean"), law.mean, SMALLEST_MEAN)? as f64;
            Ok(SizeLaw::Exponential { mean })
        }
        SizeDocument::Pareto(law) => pareto(field, law),
        SizeDocument::Lognormal(law) => lognormal(field, law),
        SizeDocument::Campus(law) => campus(field, law),
        SizeDocument::Empirical(law) => empirical(field, law),
        SizeDocument::WebSearch(law) => web_search(field, law),
    }
}

#[allow(clippy::cast_precision_loss)]
fn pareto(field: &str, law: &ParetoSizeDocument) -> Result<SizeLaw> {
    let mean = amount(&format!("{field}.mean"), law.mean, SMALLEST_MEAN)?;
    if !(law.shape > 1.0 && law.shape.is_finite()) {
        let message = format!("is {}; expected more than 1 for a finite mean", law.shape);
        return refuse(format!("{field}.shape"), message);
    }
    let max = law.max.map(|max| amount(&format!("{field}.max"), max, 1)).transpose()?;
    if let Some(max) = max.filter(|max| *max <= mean) {
        return refuse(format!("{field}.max"), format!("is {max} B; expected more than the mean, {mean} B"));
    }
    Ok(SizeLaw::Pareto(Pareto::with_mean(mean as f64, law.shape, max.map(|max| max as f64))))
}

#[allow(clippy::cast_precision_loss)]
fn lognormal(field: &str, law: &LognormalSizeDocument) -> Result<SizeLaw> {
    if law.components.is_empty() {
        return refuse(
            format!("{field}.components"),
            "is empty; expected at least one table of weight, median and sigma",
        );
    }
    let read =
        |(index, law): (usize, &LognormalComponentDocument)| component(&format!("{field}.components.{index}"), law);
    let components = law.components.iter().enumerate().map(read).collect::<Result<Vec<_>>>()?;
    let min = law.min.map(|min| amount(&format!("{field}.min"), min, 1)).transpose()?;
    let max = law.max.map(|max| amount(&format!("{field}.max"), max, 1)).transpose()?.unwrap_or(LARGEST);
    if let Some(min) = min.filter(|min| *min >= max) {
        return refuse(format!("{field}.max"), format!("is {max} B; expected more than min, {min} B"));
    }
    let min = min.unwrap_or(0);
    let mixture = Lognormal::truncated(&components, min as f64, max as f64);
    let mixture = mixture.filter(|mixture| mixture.mean().is_finite() && mixture.mean() >= 1.0);
    mixture.map(SizeLaw::Lognormal).ok_or_else(|| {
        let message = format!("has almost no sizes between {min} B and {max} B; expected wider bounds");
        ScenarioError::new(field, message)
    })
}

#[allow(clippy::cast_precision_loss)]
fn component(field: &str, law: &LognormalComponentDocument) -> Result<Component> {
    if !(law.weight > 0.0 && law.weight.is_finite()) {
        return refuse(format!("{field}.weight"), format!("is {}; expected more than 0", law.weight));
    }
    if !(law.sigma > 0.0 && law.sigma <= LARGEST_SIGMA) {
        let message = format!("is {}; expected more than 0 and at most {LARGEST_SIGMA}", law.sigma);
        return refuse(format!("{field}.sigma"), message);
    }
    let median = amount(&format!("{field}.median"), law.median, 1)? as f64;
    Ok(Component { weight: law.weight, median, sigma: law.sigma })
}

#[allow(clippy::cast_precision_loss)]
fn campus(field: &str, law: &CampusSizeDocument) -> Result<SizeLaw> {
    let (field, most) = (format!("{field}.mean"), LARGEST as f64);
    let mean = amount(&field, law.mean, SMALLEST_MEAN)?;
    Lognormal::with_mean(&CAMPUS, mean as f64, most).map(SizeLaw::Lognormal).ok_or_else(|| {
        let whole = Lognormal::truncated(&CAMPUS, 0.0, most).map_or(0.0, |law| law.mean());
        let message = format!("is {mean} B; expected {SMALLEST_MEAN} B to {whole:.0} B, the mean of the whole mixture");
        ScenarioError::new(field, message)
    })
}

fn empirical(field: &str, law: &EmpiricalSizeDocument) -> Result<SizeLaw> {
    let points = match (&law.cdf, &law.file) {
        (Some(points), None) => points,
        (None, Some(file)) => {
            let message = format!("\"{file}\" has not been read; expected its points as `cdf` by now");
            return refuse(format!("{field}.file"), message);
        }
        _ => return refuse(field, "has both or neither of `cdf` and `file`; expected one of them"),
    };
    check_points(&format!("{field}.cdf"), points)?;
    Ok(SizeLaw::Empirical(Empirical::new(points, 1.0)))
}

fn check_points(field: &str, points: &[(u64, f64)]) -> Result<()> {
    let Some((_, last)) = points.last() else {
        return refuse(field, "is empty; expected points such as [10000, 0.15], the last with a share of 1");
    };
    let mut before = (1, 0.0);
    for (index, &(size, share)) in points.iter().enumerate() {
        amount(&format!("{field}.{index}"), Bytes::new(size), 1)?;
        if !(0.0..=1.0 + NEAR_ONE).contains(&share) {
            return refuse(format!("{field}.{index}"), format!("has the share {share}; expected 0 to 1"));
        }
        if size < before.0 || share < before.1 {
            let (size_before, share_before) = before;
            let message = format!(
                "is {size} B, {share} after {size_before} B, {share_before}; expected sizes and shares that do not decrease"
            );
            return refuse(format!("{field}.{index}"), message);
        }
        before = (size, share);
    }
    if *last < 1.0 - NEAR_ONE {
        return refuse(field, format!("rises to {last}; expected 1 at the last point"));
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss)]
fn web_search(field: &str, law: &WebSearchSizeDocument) -> Result<SizeLaw> {
    let own = Empirical::new(&WEB_SEARCH, 1.0);
    let Some(mean) = law.mean else { return Ok(SizeLaw::Empirical(own)) };
    let mean = amount(&format!("{field}.mean"), mean, SMALLEST_MEAN)? as f64;
    Ok(SizeLaw::Empirical(Empirical::new(&WEB_SEARCH, mean / own.mean())))
}

fn amount(field: &str, amount: Bytes, least: u64) -> Result<u64> {
    let bytes = amount.as_u64();
    if !(least..=LARGEST).contains(&bytes) {
        return refuse(field, format!("is {bytes} B; expected {least} to {LARGEST} B"));
    }
    Ok(bytes)
}
