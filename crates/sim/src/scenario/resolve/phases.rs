//! Conversion of phases: parts of the run with separate measurements.

use super::{PhaseSpec, Result, check_name, refuse};
use crate::scenario::document::{Document, PhaseDocument};
use netlull_units::{Duration, Instant};

/// Every phase, within the measured time. Their names differ.
pub(super) fn phases(document: &Document) -> Result<Vec<PhaseSpec>> {
    let mut phases: Vec<PhaseSpec> = Vec::with_capacity(document.phase.len());
    for (index, written) in document.phase.iter().enumerate() {
        check_name(&format!("phase.{index}.name"), &written.name)?;
        if phases.iter().any(|other| other.name == written.name) {
            let message = format!("\"{}\" is named twice; expected different names", written.name);
            return refuse(format!("phase.{index}.name"), message);
        }
        phases.push(phase(document, written)?);
    }
    Ok(phases)
}

fn phase(document: &Document, written: &PhaseDocument) -> Result<PhaseSpec> {
    let (first, last) = (document.warm_up, document.duration);
    let from = written.from.unwrap_or(first);
    let to = written.to.unwrap_or(last);
    let refused = |field: &str, is: Duration, expected: String| {
        refuse(format!("phase.{}.{field}", written.name), format!("is {is}; expected {expected}"))
    };
    if from < first || from >= last {
        return refused(
            "from",
            from,
            format!("a time from the end of the warm-up ({first}) to before the end of the run ({last})"),
        );
    }
    if to <= from || to > last {
        return refused(
            "to",
            to,
            format!("a time after the phase begins ({from}), at most the end of the run ({last})"),
        );
    }
    Ok(PhaseSpec { name: written.name.clone(), from: Instant::ZERO + from, to: Instant::ZERO + to })
}
